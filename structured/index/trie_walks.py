"""Walks of an automaton along the trie of a vocabulary: what one token may do after a state.

Each answer is one walk over the trie along the automaton, which makes the states that are reached for the first time.
Inside a JSON string, whatever unescaped characters are read, only their number counts: the tokens of so many of them
are one mask, found once for the vocabulary, and only the other tokens are walked. A token is *unescaped* if a JSON
string contains all its characters without an escape: ` the`, but not `",`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from structured.automata import (
    DEAD,
    UNKNOWN,
    Automaton,
    RegularAutomaton,
    StringParts,
    StringRun,
    state_after,
)
from structured.automata.opcodes import FAR
from structured.automata.table_states import walk_states
from structured.index.mask_loops import BytePath, state_after_any
from structured.index.masks import empty_mask
from structured.machine_code.loop_errors import StateNeeded
from structured.vocabulary import UNESCAPED_SEQUENCES, Vocabulary
from structured.vocabulary.trie import Trie

_Numbers = NDArray[np.int32]

_MaskAndDistance = tuple[NDArray[np.uint32], int]
"""The tokens that may follow a state, and the most bytes that the shortest completion after one of them has."""

MAX_CACHED_MASKS = 1024
"""States of one kind whose masks are kept at a time, 16 MB for Llama 3's vocabulary."""


_Walk = Callable[[int], _MaskAndDistance]
"""A function from a state to its mask and distance."""

_Loop = Callable[[_Numbers, _Numbers, NDArray[np.bool_], BytePath], bool]


def _cached(masks: dict[int, _MaskAndDistance], state: int, walk: _Walk) -> _MaskAndDistance:
    """Return the entry of a state; a new one from `walk` if there is none."""
    entry = masks.get(state)
    if entry is None:
        if len(masks) >= MAX_CACHED_MASKS:
            masks.clear()
        entry = masks[state] = walk(state)
    return entry


def _union(*entries: _MaskAndDistance) -> _MaskAndDistance:
    """Return the tokens of some masks together, and the greatest distance of all."""
    return np.bitwise_or.reduce([mask for mask, _ in entries]), max(distance for _, distance in entries)


class TrieWalks:
    """The walks over one vocabulary along one automaton."""

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary) -> None:
        self.automaton = automaton
        self.vocabulary = vocabulary
        self._state_after_unescaped: dict[int, int] = {}
        self._other_masks: dict[int, _MaskAndDistance] = {}
        self._masks_without_quote: dict[int, _MaskAndDistance] = {}
        self._broad_masks: dict[int, _MaskAndDistance] = {}
        self._counted_masks: dict[int, dict[int, _MaskAndDistance]] = {}

    def mask(self, state: int) -> _MaskAndDistance:
        """Return the tokens that may follow, end tokens aside, and the greatest distance after them."""
        return self._mask_by_items(state, FAR, self._mask_in_one_item)

    def _mask_in_one_item(self, state: int) -> _MaskAndDistance:
        """Return the mask of a state that is in at most one item that must differ from others."""
        vocabulary = self.vocabulary
        run: StringRun | StringParts | None = None
        if isinstance(self.automaton, RegularAutomaton):
            other_bytes = vocabulary.string_tries.max_bytes_before_quote
            run = self.automaton.string_run(state, longest=vocabulary.longest_unescaped, other_bytes=other_bytes)
        if run is None:
            return self._walk_trie(vocabulary.trie, state)
        if isinstance(run, StringParts):
            return self._mask_of_parts(state, run)
        if run.equivalent_state == state:
            others, distance = self._mask_of_others(run)
        else:
            others, distance = _cached(self._other_masks, run.equivalent_state, lambda _: self._mask_of_others(run))
        distances = self.automaton.distances
        difference = int(distances[state]) - int(distances[run.equivalent_state])  # in bytes, and so after every token
        return vocabulary.unescaped_mask(run.max_characters) | others, max(run.max_distance, distance + difference)

    def _mask_of_others(self, run: StringRun) -> _MaskAndDistance:
        """Return the mask of a string run, unescaped tokens aside.

        A token without a quote cannot leave the string, so it is walked from the state with nothing after the string,
        which many states share. If unescaped characters keep the state, other tokens are walked from their first quote.
        """
        state, tries = run.equivalent_state, self.vocabulary.string_tries
        if not run.is_ended_by_quote_only:
            return self._walk_trie(self.vocabulary.trie_without_unescaped, state)
        walk_without_quote = partial(self._walk_trie, tries.without_quote)
        if run.state_in_string == DEAD:
            return _union(walk_without_quote(state), self._walk_trie(tries.with_quote, state))
        inside, distance = _cached(self._masks_without_quote, run.state_in_string, walk_without_quote)
        distance += run.max_distance - int(self.automaton.distances[run.state_in_string])
        with_quote = tries.from_quote if run.is_equivalent_state_fixed else tries.with_quote
        return _union(self._walk_trie(with_quote, state), (inside, distance))

    def _mask_of_parts(self, state: int, parts: StringParts) -> _MaskAndDistance:
        """Return the mask of a state with parts. The broad part is walked once, and the others take little."""
        tries = self.vocabulary.string_tries
        mask, distance = _cached(self._broad_masks, parts.broad_state, self._mask_by_length)
        if parts.narrow_state != DEAD:
            mask, distance = _union((mask, distance), self._walk_trie(self.vocabulary.trie, parts.narrow_state))
        entries = [(mask, distance + parts.extra_distance), self._walk_trie(tries.with_quote, state)]
        if parts.narrow_state == DEAD:
            entries.append(self._walk_trie(tries.without_quote, state))
        return _union(*entries)

    def _mask_by_length(self, state: int) -> _MaskAndDistance:
        """Return the mask of a state; most of it is known if the state differs from others in counts alone."""
        automaton, tries = self.automaton, self.vocabulary.tries_by_length
        assert isinstance(automaton, RegularAutomaton), "others have no parts"
        if automaton.without_counters(state, tries[0][0]) == state:
            return self._walk_trie(self.vocabulary.trie, state)
        parts = []
        for length, trie in tries:
            masks = self._counted_masks.setdefault(length, {})
            parts.append(_cached(masks, automaton.without_counters(state, length), partial(self._walk_trie, trie)))
        return _union(*parts)

    def _walk_trie(self, trie: Trie, state: int) -> _MaskAndDistance:
        """Return the tokens of a trie that may follow a state, and the greatest distance after them."""
        mask = empty_mask(self.vocabulary.size)
        return mask, self.automaton.walk(trie, state, mask)

    def mask_to(self, state: int, is_target: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Return the tokens that lead from a state to a target; `is_target` has a flag for each state."""
        mask = empty_mask(self.vocabulary.size)
        for length, successor in self._walk_states(state, is_target, mask)[1]:
            if is_target[successor]:
                mask |= self.vocabulary.unescaped_mask(length) & ~self.vocabulary.unescaped_mask(length - 1)
        return mask

    def successors(self, state: int) -> list[int]:
        """Return the states that one token may lead to, each once."""
        no_mask = np.zeros(0, dtype=np.uint32)
        is_reached, after_unescaped = self._walk_states(state, np.zeros(0, dtype=np.bool_), no_mask)
        is_reached[[successor for _, successor in after_unescaped]] = True
        states: list[int] = np.flatnonzero(is_reached).tolist()
        return states

    def _walk_states(
        self, state: int, is_target: NDArray[np.bool_], mask: NDArray[np.uint32]
    ) -> tuple[NDArray[np.bool_], list[tuple[int, int]]]:
        """Set the bits of the tokens that lead to a target, but for the unescaped ones inside a string.

        Returns a flag for each state, whether some of these tokens lead there; and of the unescaped tokens the lengths
        in characters, each with the state after it.
        """
        run = self._states_after_unescaped(state)
        trie = self.vocabulary.trie if run is None else self.vocabulary.trie_without_unescaped
        is_reached = walk_states(self.automaton, trie, state, mask, is_target)
        longest, states = run or (0, [])
        lengths = [length for length in self.vocabulary.distinct_unescaped_lengths if length <= longest]
        return is_reached, [(length, states[min(length, len(states)) - 1]) for length in lengths]

    def follow(self, loop: _Loop, state: int) -> tuple[NDArray[np.uint8], _Numbers]:
        """Return the bytes that a loop writes from a state on, and the states before and after each."""
        automaton, is_byte_present = self.automaton, self.vocabulary.is_byte_present
        path = BytePath(state, int(automaton.distances[state]))
        while not loop(automaton.table, automaton.distances, is_byte_present, path):
            self._fill_row(path.last_state())
        return path.written()

    def is_in_unique_item(self, state: int) -> bool:
        """Tell whether a state is in an item that must differ, where nearly each token leads to a state of its own."""
        return isinstance(self.automaton, RegularAutomaton) and self.automaton.is_in_unique_item(state)

    def mask_up_to_distance(self, state: int, max_distance: int) -> NDArray[np.uint32]:
        """Return the tokens after which at most so many bytes complete the text."""
        automaton = self.automaton
        assert isinstance(automaton, RegularAutomaton)

        def walk(single_item_state: int) -> _MaskAndDistance:
            mask = empty_mask(self.vocabulary.size)
            return mask, automaton.walk(self.vocabulary.trie, single_item_state, mask, distance_limit=max_distance)

        return self._mask_by_items(state, max_distance, walk)[0]

    def _mask_by_items(self, state: int, max_distance: int, mask_in_one_item: _Walk) -> _MaskAndDistance:
        """Return the mask of a state, put together from those of states that are in one item each.

        These masks are changed in place. Tokens are allowed after which at most `max_distance` bytes are needed.
        """
        automaton = self.automaton
        if not isinstance(automaton, RegularAutomaton):
            return mask_in_one_item(state)
        inner = automaton.state_of_inner_item(state)
        if inner != state:
            mask, distance = self._mask_by_items(inner, max_distance, mask_in_one_item)
            return mask, max(distance, self._correct_mask(automaton, mask, state, inner, max_distance))
        readings = automaton.split_by_item(state)
        if len(readings) == 1:
            return mask_in_one_item(state)
        return _union(*(self._mask_by_items(reading, max_distance, mask_in_one_item) for reading in readings))

    def _correct_mask(
        self, automaton: RegularAutomaton, mask: NDArray[np.uint32], state: int, inner: int, max_distance: int
    ) -> int:
        """Set again the bits of the tokens that the inner state may get wrong; return the greatest distance after them.

        Each of these tokens is followed from the state itself, byte by byte.
        """
        greatest = 0
        for token_id in self._tokens_of_outer_item(automaton, state, inner):
            word, bit = token_id >> 5, np.uint32(1 << (token_id & 31))
            successor = state_after(automaton, self.vocabulary.tokens[token_id] or b"", state)
            mask[word] &= ~bit
            if successor != DEAD and automaton.distances[successor] <= max_distance:
                mask[word] |= bit
                greatest = max(greatest, int(automaton.distances[successor]))
        return greatest

    def _tokens_of_outer_item(self, automaton: RegularAutomaton, state: int, inner: int) -> set[int]:
        """Return the tokens that may repeat an outer item written before, and those that may begin the next one.

        Inside a string that may hold brackets, only tokens with a quote begin the next item.
        """
        vocabulary = self.vocabulary
        suffixes = automaton.written_suffixes(state, vocabulary.trie.height)
        token_ids = {token_id for suffix in suffixes for token_id in vocabulary.trie.tokens_along(suffix)}
        is_in_string = automaton.step(automaton.step(inner, ord("}")), ord("{")) != DEAD
        return token_ids.union(vocabulary.next_item_tokens_with_quote if is_in_string else vocabulary.next_item_tokens)

    def _fill_row(self, state: int) -> None:
        """Fill the row of a state; in an item that must differ, only the next entry that matters."""
        if not self.is_in_unique_item(state):
            self.automaton.expand(state)
            return
        is_unknown = (self.automaton.table[state] == UNKNOWN) & self.vocabulary.is_byte_present
        self.automaton.step(state, int(is_unknown.argmax()))

    def _states_after_unescaped(self, state: int) -> tuple[int, list[int]] | None:
        """Return how many unescaped characters may follow, up to the longest token of them, and the states after each.

        The last of the states leads to itself if there are fewer. None if what may follow depends on which characters
        they are.
        """
        states: list[int] = []
        while len(states) < self.vocabulary.longest_unescaped:
            successor = self._state_after_any(state)
            if successor == DEAD:
                break
            if successor < DEAD:
                return None
            states.append(successor)
            if successor == state:
                return self.vocabulary.longest_unescaped, states
            state = successor
        return len(states), states

    def _state_after_any(self, state: int) -> int:
        """Return the state after one unescaped character, whichever it is; DEAD for none, less if it depends."""
        while state not in self._state_after_unescaped:
            try:
                successor = state_after_any(UNESCAPED_SEQUENCES, self.automaton.table, state)
                self._state_after_unescaped[state] = successor
            except StateNeeded as needed:
                self.automaton.expand(needed.args[0])
        return self._state_after_unescaped[state]
