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
from structured.automata.loops.jit import clock
from structured.automata.opcodes import FAR
from structured.errors import VocabularyError
from structured.index.trie_walks import Walks
from structured.vocabulary import Vocabulary, bytes_text

MAX_SHOWN = 40
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
    """Return the error that says that no text of an automaton can be written, calling them by a name."""
    text = shortest_text(automaton, automaton.start, vocabulary.absent_bytes)
    absent = vocabulary.absent_bytes.intersection(text)
    shown = repr(text[:MAX_SHOWN].decode(errors="replace")) + " …" * (len(text) > MAX_SHOWN)
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
    """What all searches of one index may cost together. Past any of these, nothing more is searched."""

    states: int = 4096
    """From which all tokens are tried."""
    rows: int = 1 << 15
    """Of the automaton's table, which also has limits of its own."""
    seconds: float = 2.0


SEARCH_LIMITS = SearchLimits()

MAX_TOKENS = FAR - 1
"""As many tokens as a text may have; what takes `FAR` cannot be written."""

MAX_SPELLED = 200_000
"""Bytes of a shortest text that is spelled; no automaton has the states that a longer one passes through."""


class Completions:
    """How many tokens complete the text from each state, end token not counted.

    `fewest(state)` always has a way to go: some token leads to a state that has one less. This holds past the limits
    as well, where a number may be too high but never too low. It is `FAR` where no tokens complete the text.
    """

    def __init__(self, walks: Walks, *, limits: SearchLimits = SEARCH_LIMITS) -> None:
        self.walks = walks
        self.limits = limits
        self.seconds = 0.0
        self._has_byte_tokens = walks.vocabulary.has_byte_tokens
        self._began = 0.0
        self._spelled: dict[int, int] = {}
        self._found: dict[int, int] = {}
        self._least: dict[int, int] = {}
        self._targets: dict[int, list[int]] = {}

    def fits(self, state: int, tokens: int) -> bool:
        """Tell whether some completion takes at most so many tokens."""
        if self._has_byte_tokens and self.walks.automaton.distances[state] <= tokens:  # even if every byte took a token
            return True
        if self._at_least(state) <= tokens < self._at_most(state):
            self._search(state, tokens)
        return self._at_most(state) <= tokens

    def fewest(self, state: int) -> int:
        """Return how many tokens the shortest completion takes."""
        if self._at_least(state) < self._at_most(state):
            self._search(state, self._at_most(state) - 1)
        return self._at_most(state)

    def enough(self, state: int) -> int:
        """Return a number of tokens that is enough, without a search; with one, fewer may be."""
        return int(self.walks.automaton.distances[state]) if self._has_byte_tokens else self._at_most(state)

    def shortest_text(self, state: int) -> bytes:
        """Return the text of fewest bytes that completes a state; of several, the first in byte order."""
        from structured.index.mask_loops import shortest_text

        if self.walks.automaton.distances[state] > MAX_SPELLED:
            return b""
        return self.walks.follow(shortest_text, state)[0].tobytes()

    def _at_most(self, state: int) -> int:
        """Return a number of tokens that is enough."""
        spelled = self._spelled.get(state)
        if spelled is None:
            spelled = self._spell(state)
        return min(spelled, self._found.get(state, spelled))

    def _at_least(self, state: int) -> int:
        """Return a number of tokens that is needed."""
        return max(self._least.get(state, 0), int(self.walks.automaton.distances[state] > 0))

    def _spell(self, state: int) -> int:
        """Return the fewest tokens for the text of fewest bytes; of several, the first in byte order.

        Of one that is too long, that is as many as it has bytes, if each is a token.
        """
        from structured.index.mask_loops import fewest_tokens, shortest_text

        distance = int(self.walks.automaton.distances[state])
        if distance > MAX_SPELLED:
            return distance if self._has_byte_tokens else FAR
        trie = self.walks.vocabulary.trie
        text, path = self.walks.follow(shortest_text, state)
        counts = np.array([self._spelled.get(place, -1) for place in path.tolist()], dtype=np.int32)
        fewest_tokens(trie.byte, trie.first, trie.token_start, text, counts)
        self._spelled.update(zip(path.tolist(), counts.tolist(), strict=True))
        return self._spelled[state]

    def _search(self, start: int, tokens: int) -> None:
        """Find the fewest tokens from a state if they are at most so many, or that they are more.

        Past the limits it may find neither. What is learned about the states on the way is kept.
        """
        self._began = clock()
        if self._is_exhausted() or self.walks.automaton.distances[start] > MAX_SPELLED:
            return
        depths, beyond = self._explore(start, tokens)
        found = self._backward(depths)
        for state, depth in depths.items():
            least = FAR if beyond == FAR else beyond - depth
            if state in found:
                self._found[state] = min(found[state], self._found.get(state, found[state]))
                least = min(least, found[state])
            self._least[state] = max(least, self._at_least(state))
        self.seconds += clock() - self._began

    def _explore(self, start: int, tokens: int) -> tuple[dict[int, int], int]:
        """Go from a state to all that may lie on a way to the end in at most so many tokens.

        Returns how many tokens away each state was met, and the least length of a way out of all these states.
        """
        depths = {start: 0}
        order = [start]
        best, beyond = tokens + 1, FAR
        for state in order:  # which grows on the way
            depth = depths[state]
            known = self._known(state)
            if known is not None:
                best = min(best, depth + known)
                continue
            if not self._has_byte_tokens:  # anything that can be written is good news
                best = min(best, depth + self._at_most(state))
            needed = depth + self._at_least(state)
            targets = None if needed >= best else self._after_a_token(state)
            if targets is None:
                beyond = min(beyond, needed)
                continue
            for target in targets:
                if target not in depths:
                    depths[target] = depth + 1
                    order.append(target)
        return depths, beyond

    def _backward(self, depths: dict[int, int]) -> dict[int, int]:
        """Return the fewest tokens from each state by ways that keep to the states explored; none if there is none."""
        before = defaultdict[int, list[int]](list)
        waiting: list[tuple[int, int]] = []
        for state in depths:
            known = self._known(state)
            if known is not None:
                waiting.append((known, state))
                continue
            if not self._has_byte_tokens and self._at_most(state) < FAR:
                waiting.append((self._at_most(state), state))
            for target in self._targets.get(state, ()):
                if target in depths:
                    before[target].append(state)
        fewest: dict[int, int] = {}
        heapq.heapify(waiting)
        while waiting:
            tokens, state = heapq.heappop(waiting)
            if state not in fewest:
                fewest[state] = tokens
                for previous in before[state]:
                    heapq.heappush(waiting, (tokens + 1, previous))
        return fewest

    def _known(self, state: int) -> int | None:
        """Return the fewest tokens if they are known without a search."""
        if self.walks.automaton.distances[state] == 0:
            return 0
        found = self._found.get(state)
        return found if found is not None and found == self._least.get(state) else None

    def _after_a_token(self, state: int) -> list[int] | None:
        """Return the states that one token leads to; None past the limits, or where they are too many."""
        targets = self._targets.get(state)
        if targets is None and not self._is_exhausted() and not self.walks.is_in_unique_item(state):
            targets = self._targets[state] = self.walks.targets(state)
        return targets

    def _is_exhausted(self) -> bool:
        return (
            len(self._targets) >= self.limits.states
            or len(self.walks.automaton.table) > self.limits.rows
            or self.seconds + clock() - self._began > self.limits.seconds
        )
