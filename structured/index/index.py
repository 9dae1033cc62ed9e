"""The index of an automaton over a vocabulary: for each state the tokens that may follow, as a bit mask.

This is the index of Willard & Louf ("Efficient Guided Generation for Large Language Models", 2023, section 3),
made lazily: a state's mask is one walk of the vocabulary's trie along the automaton when the state is first reached,
and a look-up ever after. Which state follows a token is not stored for every pair, as it is in the paper: stepping over
the token's few bytes costs less than keeping 128,256 numbers for each state.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, Automaton, state_after
from structured.automata.opcodes import FAR
from structured.index.forced_tokens import ForcedTokens
from structured.index.masks import NO_ROW, Mask, MaskTable, allows, mask_of
from structured.index.shortest_completion import MAX_TOKENS, Completions, spelled_automaton, unwritable
from structured.index.trie_walks import TrieWalks
from structured.vocabulary import Vocabulary

MAX_TRANSIENT_MASKS = 256
"""Masks without a row in the table that are kept at a time; the same state and budget often come again soon."""

_Numbers = NDArray[np.int32]

MAX_STEPS = 1 << 18
"""Steps kept at a time, some 40 MB; most texts take the same ones."""


class Index:
    """Masks, steps and shortest completions of the states of one automaton over one vocabulary.

    `table` holds the masks; by default the index has one of its own. Texts that the vocabulary cannot spell are left
    out of `automaton`. Raises VocabularyError if there are no others; `name` is what it calls the texts.
    """

    def __init__(
        self,
        automaton: Automaton,
        vocabulary: Vocabulary,
        *,
        table: MaskTable | None = None,
        name: str = "The answer",
    ) -> None:
        self.automaton = spelled_automaton(automaton, vocabulary, name)
        self.vocabulary = vocabulary
        self.table = MaskTable(vocabulary.size) if table is None else table
        self._masks: dict[int, Mask] = {}
        self._transient_masks: dict[tuple[int, int | None], Mask] = {}
        self._canonical_masks: dict[int, Mask] = {}
        self._sufficient_tokens: dict[int, int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._is_final: dict[int, bool] = {}
        self._walks = TrieWalks(self.automaton, vocabulary)
        self.forced = ForcedTokens(self._walks)
        self._closing_tokens: dict[int, tuple[int, ...]] = {}
        self._completions = Completions(self._walks)
        if not vocabulary.has_byte_tokens and not self.fits(self.automaton.start, MAX_TOKENS):
            raise unwritable(self.automaton, vocabulary, name)

    def __repr__(self) -> str:
        return f"Index({self.automaton!r}, {self.vocabulary!r}, states={len(self._sufficient_tokens)})"

    def mask(self, state: int) -> Mask:
        """Return the tokens that may follow a state; the end tokens are among them where the text may end.

        It is a row of `table`, unless that is full.
        """
        mask = self._masks.get(state)
        return self._new_mask(state) if mask is None else mask

    def mask_for_budget(self, state: int, max_tokens: int) -> Mask:
        """Return the tokens that may follow a state when at most `max_tokens` are left, the next one among them.

        A token is allowed only if the shortest completion after it still fits. Where that takes nothing away, the
        result is the mask of the state itself.
        """
        mask = self.mask(state)
        if self._sufficient_tokens[state] < max_tokens:  # enough after any allowed token
            return mask
        budget_mask = self._transient_masks.get((state, max_tokens))
        if budget_mask is None:
            new = self._new_budget_mask(state, max_tokens)
            budget_mask = self._keep_transient(state, max_tokens, mask if np.array_equal(new, mask) else new)
        return budget_mask

    def canonical_mask(self, state: int) -> Mask:
        """Return the mask of a state without the tokens that the tokenizer would not write where bytes are forced.

        After `{"name":`, where ` "` must follow, the bare space is left out if ` "` is a token. No text is lost by it,
        but spellings that the model has hardly ever seen.
        """
        mask = self._canonical_masks.get(state)
        return self._new_canonical_mask(state) if mask is None else mask

    def canonical_mask_for_budget(self, state: int, max_tokens: int) -> Mask:
        """Return the canonical mask of a state when at most `max_tokens` are left; see `mask_for_budget`.

        Where the canonical spelling takes too many tokens, all others are allowed.
        """
        canonical = self._canonical_masks.get(state)
        if canonical is not None and state in self._masks and self._sufficient_tokens[state] < max_tokens:
            return canonical
        budget_mask, canonical = self.mask_for_budget(state, max_tokens), self.canonical_mask(state)
        mask = self.mask(state)
        if budget_mask is mask or canonical is mask:
            return canonical if budget_mask is mask else budget_mask
        run = self.forced.run_tokens(state)
        if not run or not allows(budget_mask, run[0]):
            return budget_mask
        both = budget_mask & canonical
        both.flags.writeable = False
        return both

    def step(self, state: int, token_id: int) -> int:
        """Return the state after a token, or DEAD; end tokens lead nowhere."""
        successor = self._steps.get((state, token_id))
        if successor is None:
            token = self.vocabulary.tokens[token_id]
            successor = state_after(self.automaton, token, state) if token else DEAD
            if len(self._steps) >= MAX_STEPS:
                self._steps = {}
            self._steps[state, token_id] = successor
        return successor

    def is_final(self, state: int) -> bool:
        """Tell whether the text must end here."""
        is_final = self._is_final.get(state)
        if is_final is None:
            is_final = self.automaton.accepts(state)
            if is_final:
                self.automaton.expand(state)
                is_final = bool((self.automaton.table[state][self.vocabulary.is_byte_present] == DEAD).all())
            self._is_final[state] = is_final
        return is_final

    def forced_tokens(self, state: int) -> tuple[int, ...]:
        """Return the tokens that must follow a state, as the tokenizer spells them; see `forced_tokens.py`.

        The last tokens of the forced run are left out where a longer token might take their place.
        """
        return self.forced.tokens(state)

    def forced_bytes(self, state: int) -> bytes:
        """Return the bytes that must follow a state."""
        return self.forced.run(state)[0]

    def shortest_first_tokens(self, state: int) -> tuple[int, ...]:
        """Return the tokens that may come first in the shortest text from a state to the end."""
        return self.vocabulary.trie.prefix_tokens(self._completions.shortest_text(state))

    def narrowed_mask(self, state: int, token_ids: Iterable[int]) -> Mask:
        """Return the mask of some tokens and, where the text may end in a state, of the end tokens."""
        return self._with_end_tokens(state, mask_of(token_ids, self.vocabulary.size).view(np.uint32))

    def is_free_text(self, state: int) -> bool:
        """Tell whether every unescaped character of JSON strings may follow a state."""
        unescaped = self.vocabulary.unescaped_mask(1).view(np.int32)
        return bool((self.mask(state) & unescaped == unescaped).all())

    def closing_tokens(self, state: int) -> tuple[int, ...]:
        """Return the tokens of the first byte of the shortest completion, and of all that is forced after it.

        In a string, these are the quote and what comes between it and the next value: `", "age": `.
        """
        token_ids = self._closing_tokens.get(state)
        if token_ids is None:
            text = self._completions.shortest_text(state)[:1]
            run = self.forced.run(self.automaton.step(state, text[0]))[0] if text else b""
            token_ids = self._closing_tokens[state] = self.forced.spelling(text + run) if text else ()
        return token_ids

    def shortest_completion(self, state: int) -> int:
        """Return how many tokens the shortest completion takes, end token not counted.

        Some token leads to a state with one less; hence a text that is bounded by this number always ends in time. It
        is exact unless finding it would cost more than `SEARCH_LIMITS`: then it may be too high.
        """
        return self._completions.fewest(state)

    def fits(self, state: int, max_tokens: int) -> bool:
        """Tell whether a shortest completion takes at most so many tokens; mostly known without finding its length."""
        return self._completions.fits(state, max_tokens)

    @property
    def is_exhausted(self) -> bool:
        """Whether its automaton has used up so much of its limits that new texts are better written with another."""
        return self.automaton.is_exhausted

    @property
    def memory(self) -> int:
        """The bytes that it holds, roughly: those of its automaton and of its steps, without the table."""
        return getattr(self.automaton, "nbytes", self.automaton.table.nbytes) + 150 * len(self._steps)  # as measured

    @property
    def states_known(self) -> int:
        """The number of states whose masks are kept."""
        return len(self._masks)

    @property
    def fingerprint(self) -> bytes | None:
        """What the cache keeps the masks under, beside the vocabulary; None if it cannot.

        Masks that depend on what a search finds in time are not kept: elsewhere it may find more, or less.
        """
        return self.automaton.fingerprint if self.vocabulary.has_byte_tokens else None

    def known_masks(self) -> tuple[_Numbers, _Numbers, _Numbers]:
        """Return the states whose masks are known, the rows of these in `table`, and tokens that suffice after them.

        Each of shape (states,): for a state, so many tokens complete the text after any token that its mask allows.
        """
        masks = list(self._masks.items())  # at once, as other threads may add to them
        rows = [(state, self.table.row_of(mask), self._sufficient_tokens[state]) for state, mask in masks]
        states, mask_rows, sufficient_tokens = np.array(rows, dtype=np.int32).reshape(-1, 3).T
        return states, mask_rows, sufficient_tokens

    def learn(self, states: _Numbers, masks: _Numbers, mask_numbers: _Numbers, sufficient_tokens: _Numbers) -> None:
        """Take masks that are known already: that of `states[i]` is `masks[mask_numbers[i]]`; see `known_masks`.

        That they are right is taken on trust: `Guide.advance` notices a token that cannot follow.
        """
        interned = [self.table.intern(mask) for mask in masks]
        masks_of_states = [interned[number] for number in mask_numbers.tolist()]
        for state, mask, tokens in zip(states.tolist(), masks_of_states, sufficient_tokens.tolist(), strict=True):
            if self.table.row_of(mask) != NO_ROW:
                self._sufficient_tokens[state] = tokens
                self._masks[state] = mask

    def _new_budget_mask(self, state: int, max_tokens: int) -> Mask:
        """Return the mask of the tokens after which a text can end in time."""
        if self._walks.is_in_unique_item(state):
            return self._new_budget_mask_by_bytes(state, max_tokens)
        fitting = [successor for successor in self._walks.successors(state) if self.fits(successor, max_tokens - 1)]
        is_fitting = np.zeros(len(self.automaton.table), dtype=np.bool_)
        is_fitting[fitting] = True
        return self._with_end_tokens(state, self._walks.mask_to(state, is_fitting))

    def _new_budget_mask_by_bytes(self, state: int, max_tokens: int) -> Mask:
        """Return the mask of a budget where the states after all tokens are too many to be looked at, one by one.

        A token is allowed if the bytes needed after it are at most the tokens left, one byte a token, or if the
        shortest text begins with it and fits.
        """
        mask = self._walks.mask_up_to_distance(state, max_tokens - 1)
        for token_id in self.shortest_first_tokens(state):
            if self.fits(self.step(state, token_id), max_tokens - 1):
                mask[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        return self._with_end_tokens(state, mask)

    def _new_mask(self, state: int) -> Mask:
        """Return the mask of a new state; note how many tokens suffice after any. Raises ValueError for DEAD."""
        if state == DEAD:
            raise ValueError("The state is DEAD, which `step` returns after a token that the mask does not allow.")
        transient = self._transient_masks.get((state, None))
        if transient is not None:
            return transient
        if self.vocabulary.has_byte_tokens:
            mask, self._sufficient_tokens[state] = self._walks.mask(state)
            new = self._with_end_tokens(state, mask)
        else:
            new = self._new_budget_mask(state, FAR)
            sufficient = map(self._completions.sufficient, self._walks.successors(state))
            self._sufficient_tokens[state] = max((tokens for tokens in sufficient if tokens < FAR), default=0)
        interned = self.table.intern(new)
        if interned is new:
            return self._keep_transient(state, None, new)
        self._masks[state] = interned
        return interned

    def _new_canonical_mask(self, state: int) -> Mask:
        mask = self.mask(state)
        prefixes = self.vocabulary.trie.prefix_tokens(self.forced_bytes(state))
        first = self.forced.run_tokens(state)[:1]
        if len(prefixes) > 1 and first and allows(mask, first[0]):
            others = mask_of(set(prefixes) - {first[0]}, self.vocabulary.size)
            mask = self.table.intern(self._with_end_tokens(state, (mask & ~others).view(np.uint32)))
        if self.table.row_of(mask) != NO_ROW:
            self._canonical_masks[state] = mask
        return mask

    def _keep_transient(self, state: int, max_tokens: int | None, mask: Mask) -> Mask:
        if len(self._transient_masks) >= MAX_TRANSIENT_MASKS:
            self._transient_masks = {}
        self._transient_masks[state, max_tokens] = mask
        return mask

    def _with_end_tokens(self, state: int, mask: NDArray[np.uint32]) -> Mask:
        """Return a mask with the end tokens added where the state accepts, read-only."""
        if self.automaton.accepts(state):
            for token_id in self.vocabulary.end_token_ids:
                mask[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        mask.flags.writeable = False
        return mask.view(np.int32)
