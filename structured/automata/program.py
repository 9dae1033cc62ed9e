"""A pattern enters; the same pattern as a few flat arrays leaves, which compiled loops can read.

A node of the pattern becomes a row of `nodes`; nodes that are shared in the tree are one row. A set of characters
becomes arcs over bytes. Nothing is unrolled and nothing determinised: the program is as large as the pattern.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from structured.automata.utf8 import ByteRange, byte_sequences
from structured.pattern import Alternation, CharSet, Concat, Literal, Pattern, Repeat

TEXT, ARCS, SEQUENCE, CHOICE, REPEAT = range(5)
"""What a node reads: fixed bytes, one byte of some ranges, its parts in order, one of its options, its item again."""

OPERATION, A, B, C, SHORTEST = range(5)
"""The columns of `Program.nodes`. `SHORTEST` is the number of bytes in the shortest match; `A`, `B` and `C` are

TEXT: where its bytes start in `text`, how many there are.
ARCS: where its arcs start in `operands`, how many there are; each is `low, high, node that goes on or -1`.
SEQUENCE: where its parts start in `operands`, how many there are; each is `node, bytes of the shortest rest from here`.
CHOICE: where its options start in `operands`, how many there are; each is a node.
REPEAT: the node of its item, the least and the greatest count, the latter UNLIMITED if there is none.
"""

UNLIMITED = -1
FAR = 1 << 30
"""Lengths are counted up to here."""


@dataclass(frozen=True, slots=True)
class Program:
    """A pattern as arrays: `nodes` of shape (nodes, 5), `operands` (int32) and `text` (bytes) flat."""

    nodes: NDArray[np.int32]
    operands: NDArray[np.int32]
    text: NDArray[np.uint8]
    root: int


def assemble(pattern: Pattern) -> Program:
    """Return the program of a pattern."""
    assembly = _Assembly()
    root = assembly.node(pattern)
    return Program(
        np.array(assembly.nodes, dtype=np.int32),
        np.array(assembly.operands, dtype=np.int32),
        np.frombuffer(bytes(assembly.text), dtype=np.uint8),
        root,
    )


@dataclass(slots=True)
class _Assembly:
    """The arrays while they grow."""

    nodes: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    text: bytearray = field(default_factory=bytearray)
    _places: dict[int, int] = field(default_factory=dict)
    _arcs: dict[tuple[tuple[ByteRange, ...], ...], int] = field(default_factory=dict)

    def node(self, pattern: Pattern) -> int:
        """Return the row of a node, which is the same every time."""
        place = self._places.get(id(pattern))
        if place is None:
            place = self._places[id(pattern)] = self._new_node(pattern)
        return place

    def _new_node(self, pattern: Pattern) -> int:
        match pattern:
            case Literal(text):
                encoded = text.encode()
                self.text += encoded
                return self._row(TEXT, len(self.text) - len(encoded), len(encoded), 0, len(encoded))
            case CharSet(ranges):
                return self._byte_set(tuple(byte_sequences(ranges)))
            case Concat(parts):
                places = [self.node(part) for part in parts]
                rest, rests = 0, []
                for place in reversed(places):
                    rest = min(rest + self.nodes[place][SHORTEST], FAR)
                    rests.append(rest)
                start = len(self.operands)
                for place, length in zip(places, reversed(rests), strict=True):
                    self.operands += (place, length)
                return self._row(SEQUENCE, start, len(places), 0, rest)
            case Alternation(options):
                places = [self.node(option) for option in options]
                start = len(self.operands)
                self.operands += places
                shortest = min(self.nodes[place][SHORTEST] for place in places)
                return self._row(CHOICE, start, len(places), 0, shortest)
            case Repeat(item, minimum, maximum):
                place = self.node(item)
                once = self.nodes[place][SHORTEST]
                least = minimum if once else 0  # where the item may be empty, a count from 0 on matches the same
                most = UNLIMITED if maximum is None else maximum
                return self._row(REPEAT, place, least, most, min(minimum * once, FAR))

    def _byte_set(self, sequences: tuple[tuple[ByteRange, ...], ...]) -> int:
        """Return the node of some sequences of byte ranges; what follows a first byte is a node of its own."""
        known = self._arcs.get(sequences)
        if known is None:
            arcs: list[int] = []
            for (low, high), *rest in sequences:
                arcs += (low, high, self._byte_set((tuple(rest),)) if rest else -1)
            start = len(self.operands)
            self.operands += arcs
            known = self._row(ARCS, start, len(sequences), 0, min(map(len, sequences)))
            self._arcs[sequences] = known
        return known

    def _row(self, operation: int, a: int, b: int, c: int, shortest: int) -> int:
        self.nodes.append((operation, a, b, c, shortest))
        return len(self.nodes) - 1
