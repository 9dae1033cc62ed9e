"""Walks of an automaton along the trie of a vocabulary: what one token may do after a state.

Each answer is one walk over the trie along the automaton, which makes the states that are reached for the first time.
Inside a string, whatever characters are read, only their number counts: the tokens of so many characters are one mask,
found once for the vocabulary, and only the others are walked. Only what depends on characters is remembered here.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from structured.automata import (
    DEAD,
    ROW_COMPLETE,
    UNKNOWN,
    Automaton,
    RegularAutomaton,
    StringParts,
    StringRun,
    state_after,
)
from structured.automata.loops.machine import walk_states
from structured.automata.opcodes import FAR
from structured.index.masks import empty_mask
from structured.vocabulary import PLAIN_SEQUENCES, Vocabulary
from structured.vocabulary.trie import Trie

_Numbers = NDArray[np.int32]

_Walked = tuple[NDArray[np.uint32], int]
"""The tokens that may follow a state, and a distance that no state after one exceeds."""

MAX_KEPT = 1024
"""States of one kind whose tokens are remembered, 16 MB for Llama 3's vocabulary."""


def _kept(known: dict[int, _Walked], state: int, walked: Callable[[], _Walked]) -> _Walked:
    """Return what is known of a state; what is walked for it if nothing is, which is then remembered."""
    found = known.get(state)
    if found is None:
        if len(known) >= MAX_KEPT:
            known.clear()
        found = known[state] = walked()
    return found


class Walks:
    """The walks over one vocabulary along one automaton."""

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary) -> None:
        self.automaton = automaton
        self.vocabulary = vocabulary
        self._after_plain: dict[int, int] = {}
        self._special: dict[int, _Walked] = {}
        self._inside: dict[int, _Walked] = {}
        self._broad: dict[int, _Walked] = {}
        self._by_length: dict[int, dict[int, _Walked]] = {}

    def mask(self, state: int) -> _Walked:
        """Return the tokens that may follow, end tokens aside, and a distance that no state after one exceeds."""
        return self._by_items(state, FAR, self._mask_in_one_item)

    def _mask_in_one_item(self, state: int) -> _Walked:
        """Return the same of a state that is in at most one item that must differ from others."""
        vocabulary = self.vocabulary
        longest = vocabulary.string_tries.longest
        run: StringRun | StringParts | None = None
        if isinstance(self.automaton, RegularAutomaton):
            run = self.automaton.string_run(state, longest=vocabulary.longest_plain, other_bytes=longest)
        if run is None:
            return self._walked(vocabulary.trie, state)
        if isinstance(run, StringParts):
            return self._mask_of_parts(state, run)
        if run.nonplain_state == state:
            special, farthest = self._special_tokens(run)
        else:
            special, farthest = _kept(self._special, run.nonplain_state, lambda: self._special_tokens(run))
        distances = self.automaton.distances
        nearer = int(distances[state]) - int(distances[run.nonplain_state])  # what that has to read less is a constant
        return vocabulary.plain(run.max_characters) | special, max(run.max_distance, farthest + nearer)

    def _special_tokens(self, run: StringRun) -> _Walked:
        """Return the same of the `nonplain_state` of a string run, plain tokens aside.

        Of what comes after the string, tokens without a quote read nothing; and where plain characters do not change
        it, what comes before the first quote of a token does not matter.
        """
        representative, tries = run.nonplain_state, self.vocabulary.string_tries
        if not run.is_ended_by_quote_only:
            return self._walked(self.vocabulary.nonplain_trie, representative)
        if run.quoteless_state == DEAD:
            inside, farthest_inside = self._walked(tries.inside, representative)
            mask, farthest = self._walked(tries.quoted, representative)
            return mask | inside, max(farthest, farthest_inside)
        state = run.quoteless_state
        inside, farthest_inside = _kept(self._inside, state, lambda: self._walked(tries.inside, state))
        mask, farthest = self._walked(tries.ending if run.is_nonplain_state_fixed else tries.quoted, representative)
        beyond = run.max_distance - int(self.automaton.distances[state])
        return mask | inside, max(farthest, farthest_inside + beyond)

    def _mask_of_parts(self, state: int, parts: StringParts) -> _Walked:
        """Return the same where a state has parts. The broad part is walked once, and the others take little."""
        vocabulary = self.vocabulary
        broad, inside = _kept(self._broad, parts.broad_state, lambda: self._walked_by_length(parts.broad_state))
        mask, farthest = self._walked(vocabulary.string_tries.quoted, state)
        mask |= broad
        if parts.narrow_state == DEAD:
            narrow, farthest_narrow = self._walked(vocabulary.string_tries.inside, state)
            return mask | narrow, max(farthest, farthest_narrow, inside + parts.extra_distance)
        narrow, farthest_narrow = self._walked(vocabulary.trie, parts.narrow_state)
        return mask | narrow, max(farthest, max(inside, farthest_narrow) + parts.extra_distance)

    def _walked_by_length(self, state: int) -> _Walked:
        """Return the tokens that may follow a state; most are known if it differs from others in counts alone."""
        automaton, tries = self.automaton, self.vocabulary.tries_by_length
        assert isinstance(automaton, RegularAutomaton), "others have no parts"
        if automaton.without_counters(state, tries[0][0]) == state:
            return self._walked(self.vocabulary.trie, state)
        mask, farthest = empty_mask(self.vocabulary.size), 0
        for length, trie in tries:
            known = self._by_length.setdefault(length, {})
            without_counters = automaton.without_counters(state, length)
            some, far = _kept(known, without_counters, lambda: self._walked(trie, without_counters))  # noqa: B023  called at once
            mask |= some
            farthest = max(farthest, far)
        return mask, farthest

    def _walked(self, trie: Trie, state: int) -> _Walked:
        """Return the tokens of a trie that may follow, and a distance that no state after one exceeds."""
        mask = empty_mask(self.vocabulary.size)
        return mask, self.automaton.walk(trie, state, mask)

    def mask_to(self, state: int, wanted: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Return those of them that lead to a wanted state, told by its number in `wanted`."""
        mask = empty_mask(self.vocabulary.size)
        for count, successor in self._walk(state, wanted, mask)[1]:
            if wanted[successor]:
                mask |= self.vocabulary.plain(count) & ~self.vocabulary.plain(count - 1)
        return mask

    def targets(self, state: int) -> list[int]:
        """Return the states that one token may lead to, each once."""
        nothing = np.zeros(0, dtype=np.uint32)
        reached, after_plain = self._walk(state, np.zeros(0, dtype=np.bool_), nothing)
        reached[[successor for _, successor in after_plain]] = True
        found: list[int] = np.flatnonzero(reached).tolist()
        return found

    def _walk(
        self, state: int, wanted: NDArray[np.bool_], mask: NDArray[np.uint32]
    ) -> tuple[NDArray[np.bool_], list[tuple[int, int]]]:
        """Set the bits of the tokens that lead to a wanted state, but for the plain ones inside a string.

        Returns the states that some of them lead to, as booleans, and of the plain ones the numbers of characters with
        the states after them.
        """
        run = self._plain_states(state)
        trie = self.vocabulary.trie if run is None else self.vocabulary.nonplain_trie
        reached = walk_states(self.automaton, trie, state, mask, wanted)
        most, after = run or (0, [])
        counts = [count for count in self.vocabulary.plain_counts if count <= most]
        return reached, [(count, after[min(count, len(after)) - 1]) for count in counts]

    def follow(
        self,
        loop: Callable[[_Numbers, _Numbers, NDArray[np.bool_], _Numbers, NDArray[np.uint8], int], int],
        state: int,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return the bytes that a compiled loop writes from a state on, and the states along them, one more."""
        automaton, present = self.automaton, self.vocabulary.present
        text = np.empty(automaton.distances[state], dtype=np.uint8)
        path = np.full(len(text) + 1, state, dtype=np.int32)
        length = loop(automaton.table, automaton.distances, present, path, text, 0)
        while length < 0:
            self._learn_more(int(path[-1 - length]))
            length = loop(automaton.table, automaton.distances, present, path, text, -1 - length)
        return text[:length], path[: length + 1]

    def is_in_unique_item(self, state: int) -> bool:
        """Tell whether a state is in an item that must differ: nearly each token leads to a state of its own."""
        return isinstance(self.automaton, RegularAutomaton) and self.automaton.is_in_unique_item(state)

    def mask_within(self, state: int, most: int) -> NDArray[np.uint32]:
        """Return the tokens after which at most so many bytes are needed, of a state in an item that must differ."""
        automaton = self.automaton
        assert isinstance(automaton, RegularAutomaton)

        def walked(part: int) -> _Walked:
            mask = empty_mask(self.vocabulary.size)
            return mask, automaton.walk(self.vocabulary.trie, part, mask, distance_limit=most)

        return self._by_items(state, most, walked)[0]

    def _by_items(self, state: int, most: int, mask_in_one_item: Callable[[int], _Walked]) -> _Walked:
        """Return the tokens that may follow a state, put together from states that are in one item each.

        The masks of these are changed in place. Tokens are allowed after which at most `most` bytes are needed.
        """
        automaton = self.automaton
        if not isinstance(automaton, RegularAutomaton):
            return mask_in_one_item(state)
        inner = automaton.state_of_inner_item(state)
        if inner != state:
            mask, farthest = self._by_items(inner, most, mask_in_one_item)
            return mask, max(farthest, self._correct(automaton, mask, state, inner, most))
        parts = automaton.split_by_item(state)
        if len(parts) == 1:
            return mask_in_one_item(state)
        walked = [self._by_items(part, most, mask_in_one_item) for part in parts]
        return np.bitwise_or.reduce([mask for mask, _ in walked]), max(farthest for _, farthest in walked)

    def _correct(self, automaton: RegularAutomaton, mask: NDArray[np.uint32], state: int, inner: int, most: int) -> int:
        """Set again the bits of the tokens that the inner state may get wrong; return the greatest distance after them.

        Each of these tokens is followed from the state itself, byte by byte.
        """
        farthest = 0
        for token_id in self._told_by_outer(automaton, state, inner):
            word, bit = token_id >> 5, np.uint32(1 << (token_id & 31))
            successor = state_after(automaton, self.vocabulary.tokens[token_id] or b"", state)
            mask[word] &= ~bit
            if successor != DEAD and automaton.distances[successor] <= most:
                mask[word] |= bit
                farthest = max(farthest, int(automaton.distances[successor]))
        return farthest

    def _told_by_outer(self, automaton: RegularAutomaton, state: int, inner: int) -> set[int]:
        """Return the tokens that may repeat an outer item written before, and those that may begin the next one.

        Inside a string that may hold brackets, only tokens with a quote begin the next item.
        """
        vocabulary = self.vocabulary
        found: set[int] = set()
        for rest in automaton.written_suffixes(state, vocabulary.trie.height):
            found.update(vocabulary.trie.along(rest))
        is_in_string = automaton.step(automaton.step(inner, ord("}")), ord("{")) != DEAD
        found.update(vocabulary.quoted_next_item_tokens if is_in_string else vocabulary.next_item_tokens)
        return found

    def _learn_more(self, state: int) -> None:
        """Fill the row of a state; of one in an item that must differ only the next entry that matters."""
        if not self.is_in_unique_item(state):
            self.automaton.expand(state)
            return
        unknown = (self.automaton.table[state] == UNKNOWN) & self.vocabulary.present
        self.automaton.step(state, int(unknown.argmax()))

    def _plain_states(self, state: int) -> tuple[int, list[int]] | None:
        """Return how many plain characters may follow, up to the longest plain token, and the states that they lead to.

        The last of the states leads to itself if there are fewer. None if what may follow depends on which characters
        they are.
        """
        reached: list[int] = []
        while len(reached) < self.vocabulary.longest_plain:
            successor = self._after_any(state)
            if successor == DEAD:
                break
            if successor < DEAD:
                return None
            reached.append(successor)
            if successor == state:
                return self.vocabulary.longest_plain, reached
            state = successor
        return len(reached), reached

    def _after_any(self, state: int) -> int:
        """Return the state after one plain character, whichever it is, DEAD if there is none; less if it depends."""
        from structured.index.mask_loops import UNEXPANDED, after_any

        if state not in self._after_plain:
            if self.automaton.table[state, ROW_COMPLETE] == UNKNOWN:
                self.automaton.expand(state)
            while (successor := after_any(PLAIN_SEQUENCES, self.automaton.table, state)) <= UNEXPANDED:
                self.automaton.expand(UNEXPANDED - successor)
            self._after_plain[state] = successor
        return self._after_plain[state]
