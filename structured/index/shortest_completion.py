"""Shortest completions: the fewest tokens that complete a text from each state, and texts that no tokens spell.

Most questions are answered without a search. The shortest text, spelled in as few tokens as can be, is certain to be
enough; only where a budget is less than that does it matter whether some longer text takes fewer tokens. Then the
states ahead are searched breadth first, a whole token at a time.

Where a vocabulary lacks tokens of single bytes, the shortest text may be one that no tokens spell. Then the same search
looks for any other; a state from which none is found is dead. Texts with a byte that is in no token are taken out of
the automaton first, so that its states are those of the texts that can be written.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import shortest_text
from structured.automata.opcodes import FAR
from structured.automata.thread_clock import thread_seconds
from structured.errors import VocabularyError
from structured.index.mask_loops import fewest_tokens, follow_shortest
from structured.index.trie_walks import TrieWalks
from structured.machine_code.notation import SLOWDOWN
from structured.vocabulary import Vocabulary, bytes_text

MAX_SHOWN_BYTES = 40
"""Bytes of a text that is shown in a message."""


def spelled_automaton(automaton: Automaton, vocabulary: Vocabulary, name: str) -> Automaton:
    """Return the automaton of those texts whose bytes are all in tokens. Raises VocabularyError if there are none."""
    if not vocabulary.has_byte_tokens and isinstance(automaton, RegularAutomaton) and automaton.has_unique_items:
        raise VocabularyError(
            f"{name} cannot be written with this tokenizer: items must differ ('uniqueItems'), and not each of their "
            "bytes is a token. Allow items that are the same, or use a tokenizer that spells every text: one with a "
            "byte-level alphabet or with byte fallback."
        )
    if not vocabulary.absent_bytes:
        return automaton
    spelled = automaton.without_bytes(vocabulary.absent_bytes)
    if spelled is None:
        raise unwritable(automaton, vocabulary, name)
    return spelled


def unwritable(automaton: Automaton, vocabulary: Vocabulary, name: str) -> VocabularyError:
    """Return the error that says that no text of an automaton can be written; `name` is what it calls the texts."""
    text = shortest_text(automaton, automaton.start, vocabulary.absent_bytes)
    absent = vocabulary.absent_bytes.intersection(text)
    shown = repr(text[:MAX_SHOWN_BYTES].decode(errors="replace")) + " …" * (len(text) > MAX_SHOWN_BYTES)
    if absent:
        lack = f"each of its texts needs bytes that are in no token. The shortest, {shown}, needs {bytes_text(absent)}"
    else:
        lack = f"no tokens were found that spell any of its texts. The shortest is {shown}"
    return VocabularyError(
        f"{name} cannot be written with this tokenizer: {lack}. Allow texts without them, or use a tokenizer that "
        "spells every text: one with a byte-level alphabet or with byte fallback."
    )


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The most that all searches of one index may cost together. Past any of these, nothing more is searched."""

    states: int = 4096
    """States from which all tokens are tried."""
    table_rows: int = 1 << 15
    """Rows of the automaton's table, which also has limits of its own."""
    seconds: float = 2.0


SEARCH_LIMITS = SearchLimits()

MAX_TOKENS = FAR - 1
"""As many tokens as a text may have; what takes `FAR` cannot be written."""

MAX_SPELLED_BYTES = 200_000
"""Bytes of a shortest text that is spelled; no automaton has the states that a longer one passes through."""


class Completions:
    """How many tokens complete the text from each state, end token not counted.

    `fewest(state)` always has a way to go: some token leads to a state that has one less. This holds past the limits
    as well, where a number may be too high but never too low. It is `FAR` where no tokens complete the text.
    """

    def __init__(self, walks: TrieWalks, *, limits: SearchLimits = SEARCH_LIMITS) -> None:
        self.walks = walks
        self.limits = limits
        self.seconds = 0.0
        self._has_byte_tokens = walks.vocabulary.has_byte_tokens
        self._search_began = 0.0
        self._spelled_counts: dict[int, int] = {}
        self._upper_bounds: dict[int, int] = {}
        self._lower_bounds: dict[int, int] = {}
        self._successors: dict[int, list[int]] = {}

    def fits(self, state: int, tokens: int) -> bool:
        """Tell whether some completion takes at most so many tokens."""
        if self._has_byte_tokens and self.walks.automaton.distances[state] <= tokens:  # even if every byte took a token
            return True
        if self._lower_bound(state) <= tokens < self._upper_bound(state):
            self._search(state, tokens)
        return self._upper_bound(state) <= tokens

    def fewest(self, state: int) -> int:
        """Return the tokens of the shortest completion."""
        if self._lower_bound(state) < self._upper_bound(state):
            self._search(state, self._upper_bound(state) - 1)
        return self._upper_bound(state)

    def sufficient(self, state: int) -> int:
        """Return a number of tokens that suffices, without a search, which might find a lower one."""
        return int(self.walks.automaton.distances[state]) if self._has_byte_tokens else self._upper_bound(state)

    def shortest_text(self, state: int) -> bytes:
        """Return the text of fewest bytes that completes a state; of several, the first in byte order."""
        if self.walks.automaton.distances[state] > MAX_SPELLED_BYTES:
            return b""
        return self.walks.follow(follow_shortest, state)[0].tobytes()

    def _upper_bound(self, state: int) -> int:
        """Return a number of tokens that suffices."""
        count = self._spelled_counts.get(state)
        if count is None:
            count = self._spelled_count(state)
        return min(count, self._upper_bounds.get(state, count))

    def _lower_bound(self, state: int) -> int:
        """Return a number of tokens below which no completion is."""
        return max(self._lower_bounds.get(state, 0), int(self.walks.automaton.distances[state] > 0))

    def _spelled_count(self, state: int) -> int:
        """Return the fewest tokens for the text of fewest bytes; of several, the first in byte order.

        Of one that is too long, that is as many as it has bytes, if each is a token.
        """
        distance = int(self.walks.automaton.distances[state])
        if distance > MAX_SPELLED_BYTES:
            return distance if self._has_byte_tokens else FAR
        text, path = self.walks.follow(follow_shortest, state)
        counts = np.array([self._spelled_counts.get(place, -1) for place in path.tolist()], dtype=np.int32)
        fewest_tokens(self.walks.vocabulary.trie.arrays, text, counts)
        self._spelled_counts.update(zip(path.tolist(), counts.tolist(), strict=True))
        return self._spelled_counts[state]

    def _search(self, start: int, tokens: int) -> None:
        """Find the fewest tokens from a state if they are at most so many, or that they are more.

        Past the limits it may find neither. What is learned about the states on the way is kept.
        """
        self._search_began = thread_seconds()
        if self._is_exhausted() or self.walks.automaton.distances[start] > MAX_SPELLED_BYTES:
            return
        depths, fewest_outside = self._explore(start, tokens)
        fewest_inside = self._fewest_backward(depths)
        for state, depth in depths.items():
            lower_bound = FAR if fewest_outside == FAR else fewest_outside - depth
            if state in fewest_inside:
                fewest = fewest_inside[state]
                self._upper_bounds[state] = min(fewest, self._upper_bounds.get(state, fewest))
                lower_bound = min(lower_bound, fewest)
            self._lower_bounds[state] = max(lower_bound, self._lower_bound(state))
        self.seconds += self._seconds_of_search()

    def _explore(self, start: int, tokens: int) -> tuple[dict[int, int], int]:
        """Go from a state to all that may lie on a way to the end in at most so many tokens.

        Returns how many tokens away each state was met, and the fewest tokens of a completion that leaves these states.
        """
        depths = {start: 0}
        order = [start]
        best, fewest_outside = tokens + 1, FAR
        for state in order:  # which grows on the way
            depth = depths[state]
            exact = self._exact(state)
            if exact is not None:
                best = min(best, depth + exact)
                continue
            if not self._has_byte_tokens:  # anything that can be written is good news
                best = min(best, depth + self._upper_bound(state))
            needed = depth + self._lower_bound(state)
            successors = None if needed >= best else self._token_successors(state)
            if successors is None:
                fewest_outside = min(fewest_outside, needed)
                continue
            for successor in successors:
                if successor not in depths:
                    depths[successor] = depth + 1
                    order.append(successor)
        return depths, fewest_outside

    def _fewest_backward(self, depths: dict[int, int]) -> dict[int, int]:
        """Return the fewest tokens from each explored state by ways through such states; none where there is no way."""
        predecessors = defaultdict[int, list[int]](list)
        queue: list[tuple[int, int]] = []
        for state in depths:
            exact = self._exact(state)
            if exact is not None:
                queue.append((exact, state))
                continue
            if not self._has_byte_tokens and self._upper_bound(state) < FAR:
                queue.append((self._upper_bound(state), state))
            for successor in self._successors.get(state, ()):
                if successor in depths:
                    predecessors[successor].append(state)
        fewest: dict[int, int] = {}
        heapq.heapify(queue)
        while queue:
            tokens, state = heapq.heappop(queue)
            if state not in fewest:
                fewest[state] = tokens
                for predecessor in predecessors[state]:
                    heapq.heappush(queue, (tokens + 1, predecessor))
        return fewest

    def _exact(self, state: int) -> int | None:
        """Return the tokens of the shortest completion if they are known without a search."""
        if self.walks.automaton.distances[state] == 0:
            return 0
        bound = self._upper_bounds.get(state)
        return bound if bound is not None and bound == self._lower_bounds.get(state) else None

    def _token_successors(self, state: int) -> list[int] | None:
        """Return the states that one token leads to; None past the limits, or where they are too many."""
        successors = self._successors.get(state)
        if successors is None and not self._is_exhausted() and not self.walks.is_in_unique_item(state):
            successors = self._successors[state] = self.walks.successors(state)
        return successors

    def _is_exhausted(self) -> bool:
        return (
            len(self._successors) >= self.limits.states
            or len(self.walks.automaton.table) > self.limits.table_rows
            or self.seconds + self._seconds_of_search() > self.limits.seconds
        )

    def _seconds_of_search(self) -> float:
        """Return the time of the search so far, about as long as it takes machine code."""
        return (thread_seconds() - self._search_began) / SLOWDOWN
