"""Steps by characters of an automaton over bytes: the bytes of one character are taken at once."""

import itertools
from collections.abc import Iterator

import numpy as np

from structured.automata.protocol import DEAD, UNKNOWN, WHOLE, Automaton
from structured.regex.character_sets import Range

Step = tuple[int, int, int]
"""The first and the last of some numbers, and the state that they lead to."""

_LEADS = ((0xC0, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF7, 3))
"""The first bytes of characters of UTF-8 (RFC 3629, section 3), and how many bytes follow them."""


class CharacterSteps:
    """Where the characters lead from the states of an automaton."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._tails: dict[tuple[int, int], list[Step]] = {}

    def after(self, state: int) -> dict[int, tuple[Range, ...]]:
        """Return the states that follow a state, in the order of their first characters, with the characters."""
        found: dict[int, list[Range]] = {}
        for low, high, target in self._steps(state):
            found.setdefault(target, []).append((low, high))
        return {target: tuple(ranges) for target, ranges in found.items()}

    def _steps(self, state: int) -> list[Step]:
        steps = [*self._runs(state, 0x00, 0x7F)]
        for first, last, count in _LEADS:
            for low, high, target in self._runs(state, first, last):
                tail = self._tail(target, count)
                for lead in range(low, high + 1):
                    _append(steps, tail, lead - first << 6 * count)
        return steps

    def _tail(self, state: int, count: int) -> list[Step]:
        """Return where the last bytes of characters lead, by the numbers that they add to those of the first."""
        known = self._tails.get((state, count))
        if known is not None:
            return known
        steps: list[Step] = []
        for low, high, target in self._runs(state, 0x80, 0xBF):
            if count == 1:
                _append(steps, [(low - 0x80, high - 0x80, target)], 0)
                continue
            for byte in range(low, high + 1):
                _append(steps, self._tail(target, count - 1), byte - 0x80 << 6 * (count - 1))
        self._tails[state, count] = steps
        return steps

    def _runs(self, state: int, first: int, last: int) -> Iterator[Step]:
        """Yield runs of bytes that lead to the same state."""
        if self.automaton.table[state, WHOLE] == UNKNOWN:
            self.automaton.expand(state)
        row = self.automaton.table[state, first : last + 1]
        starts = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(row)]
        for start, end in itertools.pairwise(starts):
            if row[start] > DEAD:
                yield first + start, first + end - 1, int(row[start])


def _append(steps: list[Step], more: list[Step], offset: int) -> None:
    """Put steps behind others; those that touch and lead to the same state become one."""
    for low, high, target in more:
        if steps and steps[-1][1] + 1 == low + offset and steps[-1][2] == target:
            steps[-1] = (steps[-1][0], high + offset, target)
        else:
            steps.append((low + offset, high + offset, target))


def shortest_text(automaton: Automaton, state: int) -> bytes:
    """Return the first of the shortest texts that lead from a state to acceptance."""
    text = bytearray()
    while not automaton.accepts(state):
        if automaton.table[state, WHOLE] == UNKNOWN:
            automaton.expand(state)
        row = automaton.table[state]
        live = np.flatnonzero(row > DEAD)
        byte = int(live[np.argmin(automaton.distances[row[live]])])
        text.append(byte)
        state = int(row[byte])
    return bytes(text)
