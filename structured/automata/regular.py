"""A pattern enters; a deterministic automaton over bytes leaves, built state by state as it is walked.

A *continuation* is what is still to be read: a stack of frames, each a node of the pattern with the place reached in
it, interned so that equal stacks are one number. Reading a byte replaces the top frame; a state of the automaton is a
set of continuations. Nothing is built before it is walked: `a{0,100000}` costs one state for each repetition really
read, since a counter lies in the frame and not in copies of the node. These are the partial derivatives of Antimirov
("Partial derivatives of regular expressions and finite automaton constructions", 1996), with the concatenations kept as
a stack. A Thompson construction was rejected because it has to be built whole before the first step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structured.automata.protocol import DEAD, UNKNOWN
from structured.automata.utf8 import ByteRange, byte_sequences
from structured.errors import PatternError
from structured.pattern import Alternation, CharSet, Concat, Literal, Pattern, Repeat

MAX_STATES = 200_000
"""States that one automaton may reach; a row of the table takes 1 KiB."""

_FINISHED = 0
_UNLIMITED = -1


@dataclass(frozen=True, slots=True)
class _Trailing:
    """The bytes of a character after its first."""

    sequence: tuple[ByteRange, ...]


_Node = Pattern | _Trailing
_Arc = tuple[int, int]
"""A set of bytes, bit `b` for byte `b`, and the continuation after one of them."""


class RegularAutomaton:
    """The lazy deterministic automaton of a pattern; follows the `Automaton` protocol."""

    def __init__(self, pattern: Pattern, *, max_states: int = MAX_STATES) -> None:
        self.pattern = pattern
        self.max_states = max_states
        self.table: NDArray[np.int32] = np.full((64, 256), UNKNOWN, dtype=np.int32)
        self._measure = _Measure()
        # One entry for each continuation; number 0 is the empty stack. A frame is its node and two counters:
        # Literal: bytes read; Concat: parts read; Repeat: repetitions still required, and still allowed.
        self._frames: list[tuple[_Node, int, int, int]] = [(Literal(""), 0, 0, _FINISHED)]
        self._lengths: list[int] = [0]
        self._arcs: list[tuple[_Arc, ...] | None] = [()]
        self._continuations: dict[tuple[int, int, int, int], int] = {}
        self._trailing: dict[tuple[ByteRange, ...], _Trailing] = {}
        # One entry for each state.
        self._members: list[frozenset[int]] = []
        self._distances: list[int] = []
        self._states: dict[frozenset[int], int] = {}
        self.start = self._state(frozenset({self._push_node(pattern, _FINISHED)}))

    def __repr__(self) -> str:
        return f"RegularAutomaton({str(self.pattern)!r}, states={len(self._members)})"

    def __str__(self) -> str:
        """Return the part of the automaton that has been walked, one state a line."""
        lines = []
        for state in range(len(self._members)):
            row = self.table[state]
            arcs = "not expanded" if row[0] == UNKNOWN else _row_text(row)
            lines.append(f"{state:>5} {'accepts' if self.accepts(state) else '       '}  {arcs}")
        return "\n".join(lines)

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far match the whole pattern."""
        return self._distances[state] == 0

    def distance(self, state: int) -> int:
        """Return the number of bytes in the shortest completion."""
        return self._distances[state]

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD."""
        if state == DEAD:
            return DEAD
        if self.table[state, byte] == UNKNOWN:
            self.expand(state)
        return int(self.table[state, byte])

    def expand(self, state: int) -> None:
        """Fill the row of a state: partition the bytes by the arcs that they are on, one successor for each part."""
        targets: dict[int, set[int]] = {}
        for continuation in self._members[state]:
            for byte_set, target in self._continuation_arcs(continuation):
                targets.setdefault(byte_set, set()).add(target)
        row = np.full(256, DEAD, dtype=np.int32)
        for byte_set, members in _partition(targets):
            row[_bytes_of(byte_set)] = self._state(frozenset(members))
        self.table[state] = row

    def _state(self, members: frozenset[int]) -> int:
        state = self._states.get(members)
        if state is None:
            state = len(self._members)
            if state >= self.max_states:
                raise PatternError(
                    f"The automaton needs more than {self.max_states:,} states",
                    pattern=str(self.pattern),
                    remedy="Nest fewer bounded repetitions, or make alternatives start differently.",
                )
            if state == len(self.table):
                self.table = np.concatenate([self.table, np.full_like(self.table, UNKNOWN)])
            self._states[members] = state
            self._members.append(members)
            self._distances.append(min(self._lengths[member] for member in members))
        return state

    def _push(self, node: _Node, tail: int, first: int = 0, second: int = 0) -> int:
        """Return the continuation that reads `node`, from the place that the counters tell, and then `tail`."""
        if isinstance(node, Literal) and not node.text:
            return tail
        key = (id(node), first, second, tail)
        continuation = self._continuations.get(key)
        if continuation is None:
            continuation = len(self._frames)
            self._continuations[key] = continuation
            self._frames.append((node, first, second, tail))
            self._lengths.append(self._measure.remaining(node, first) + self._lengths[tail])
            self._arcs.append(None)
        return continuation

    def _push_repeat(self, node: Repeat, required: int, allowed: int, tail: int) -> int:
        return tail if allowed == 0 else self._push(node, tail, required, allowed)

    def _continuation_arcs(self, continuation: int) -> tuple[_Arc, ...]:
        """Return the bytes that a continuation may start with, and what remains after each."""
        known = self._arcs[continuation]
        if known is None:
            arcs: list[_Arc] = []
            seen = {continuation}
            open_ends = [continuation]
            while open_ends:
                for successor in self._unfold(open_ends.pop(), arcs):
                    if successor not in seen:
                        seen.add(successor)
                        open_ends.append(successor)
            known = self._arcs[continuation] = tuple(arcs)
        return known

    def _unfold(self, continuation: int, arcs: list[_Arc]) -> list[int]:
        """Open the top frame: append the arcs that read a byte, return the continuations reached without one."""
        node, first, second, tail = self._frames[continuation]
        match node:
            case Literal():
                if continuation != _FINISHED:
                    text = self._measure.encoded(node)
                    rest = tail if first + 1 == len(text) else self._push(node, tail, first + 1)
                    arcs.append((1 << text[first], rest))
                return []
            case CharSet():
                arcs.extend(self._sequence_arc(sequence, tail) for sequence in self._measure.sequences(node))
                return []
            case _Trailing():
                arcs.append(self._sequence_arc(node.sequence, tail))
                return []
            case Concat():
                rest = tail if first + 1 == len(node.parts) else self._push(node, tail, first + 1)
                return [self._push_node(node.parts[first], rest)]
            case Alternation():
                return [self._push_node(option, tail) for option in node.options]
            case Repeat():
                fewer = _UNLIMITED if second == _UNLIMITED else second - 1
                again = self._push_node(node.item, self._push_repeat(node, max(first - 1, 0), fewer, tail))
                return [again] if first > 0 else [again, tail]

    def _push_node(self, node: Pattern, tail: int) -> int:
        if isinstance(node, Repeat):
            maximum = _UNLIMITED if node.maximum is None else node.maximum
            return self._push_repeat(node, node.minimum, maximum, tail)
        return self._push(node, tail)

    def _sequence_arc(self, sequence: tuple[ByteRange, ...], tail: int) -> _Arc:
        low, high = sequence[0]
        byte_set = (1 << high + 1) - (1 << low)
        if len(sequence) == 1:
            return byte_set, tail
        trailing = self._trailing.setdefault(sequence[1:], _Trailing(sequence[1:]))
        return byte_set, self._push(trailing, tail)


class _Measure:
    """Facts about nodes, each found once: encodings, byte sequences, and the bytes of the shortest match."""

    def __init__(self) -> None:
        self._encoded: dict[int, bytes] = {}
        self._sequences: dict[int, list[tuple[ByteRange, ...]]] = {}
        self._suffixes: dict[int, list[int]] = {}
        self._shortest: dict[int, int] = {}

    def encoded(self, node: Literal) -> bytes:
        known = self._encoded.get(id(node))
        if known is None:
            known = self._encoded[id(node)] = node.text.encode()
        return known

    def sequences(self, node: CharSet) -> list[tuple[ByteRange, ...]]:
        known = self._sequences.get(id(node))
        if known is None:
            known = self._sequences[id(node)] = byte_sequences(node.ranges)
        return known

    def remaining(self, node: _Node, first: int) -> int:
        """Return the bytes of the shortest match of a frame."""
        match node:
            case Literal():
                return len(self.encoded(node)) - first
            case Concat():
                return self._suffix_lengths(node)[first]
            case Repeat():
                return first * self.shortest(node.item)
            case _Trailing():
                return len(node.sequence)
            case _:
                return self.shortest(node)

    def shortest(self, node: Pattern) -> int:
        """Return the bytes of the shortest match of a node."""
        known = self._shortest.get(id(node))
        if known is None:
            match node:
                case Literal():
                    known = len(self.encoded(node))
                case CharSet():
                    known = min(map(len, self.sequences(node)))
                case Concat():
                    known = self._suffix_lengths(node)[0]
                case Alternation():
                    known = min(map(self.shortest, node.options))
                case Repeat():
                    known = node.minimum * self.shortest(node.item)
            self._shortest[id(node)] = known
        return known

    def _suffix_lengths(self, node: Concat) -> list[int]:
        known = self._suffixes.get(id(node))
        if known is None:
            known = [0]
            for part in reversed(node.parts):
                known.append(known[-1] + self.shortest(part))
            known.reverse()
            self._suffixes[id(node)] = known
        return known


def _partition(targets: dict[int, set[int]]) -> list[tuple[int, set[int]]]:
    """Cut overlapping byte sets into disjoint ones, each with the targets of every set that covers it."""
    parts: list[tuple[int, set[int]]] = []
    for byte_set, members in targets.items():
        refined: list[tuple[int, set[int]]] = []
        uncovered = byte_set
        for part, part_members in parts:
            common = part & byte_set
            if common:
                refined.append((common, part_members | members))
                uncovered &= ~common
            if part & ~common:
                refined.append((part & ~common, part_members))
        if uncovered:
            refined.append((uncovered, members))
        parts = refined
    return parts


def _bytes_of(byte_set: int) -> NDArray[np.bool_]:
    """Return a byte set as a boolean array, shape (256,)."""
    bits = np.frombuffer(byte_set.to_bytes(32, "little"), dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little").astype(np.bool_)


def _row_text(row: NDArray[np.int32]) -> str:
    """Return the live arcs of a row as `'a'-'z'→3  '0'→4`."""
    pieces = []
    byte = 0
    while byte < 256:
        end = byte
        while end < 255 and row[end + 1] == row[byte]:
            end += 1
        if row[byte] != DEAD:
            label = _byte_text(byte) if byte == end else f"{_byte_text(byte)}-{_byte_text(end)}"
            pieces.append(f"{label}→{row[byte]}")
        byte = end + 1
    return "  ".join(pieces)


def _byte_text(byte: int) -> str:
    return repr(chr(byte)) if 0x20 < byte < 0x7F else f"{byte:02x}"
