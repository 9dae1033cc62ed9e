"""A pattern enters; the same pattern as a few flat arrays leaves, which compiled loops can read.

A node of the pattern becomes a row of `nodes`; nodes that are shared in the tree are one row. A set of characters
becomes arcs over bytes. Nothing is unrolled and nothing determinised: the program is as large as the pattern.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from structured.automata.utf8 import ByteRange, byte_sequences
from structured.errors import PatternError
from structured.pattern import (
    Alternation,
    CharSet,
    Concat,
    Literal,
    Members,
    Pattern,
    Reference,
    Repeat,
    Unlike,
    Words,
)
from structured.pattern.nodes import PLAIN_ESCAPES, UNESCAPED_RANGES

TEXT, ARCS, WORDS, UNLIKE, SEQUENCE, CHOICE, REPEAT, MEMBERS = range(8)
"""What a node reads: fixed bytes, one byte of some ranges, one of many words, a string that is none of some words, its
parts in order, one of its options, its item again, some of its members. The first four read a byte themselves."""

OPERATION, A, B, C, SHORTEST = range(5)
"""The columns of `Program.nodes`. `SHORTEST` is the number of bytes in the shortest match; `A`, `B` and `C` are

TEXT: where its bytes start in `text`, how many there are.
ARCS: where its arcs start in `operands`, how many there are; each is `low, high, node that goes on or -1`.
WORDS: where its words start in `operands`, how many there are. They are sorted; each is told by where it starts in
    `text`, where the last one ends follows, and then for each how many bytes it has in common with the one before.
UNLIKE: where its words start in `operands`, how many there are, as in WORDS; where in `operands` the node of one
    character and that of any number of them stand.
SEQUENCE: where its parts start in `operands`, how many there are; each is `node, bytes of the shortest rest from here`.
CHOICE: where its options start in `operands`, how many there are; each is a node.
REPEAT: the node of its item, the least and the greatest count, the latter UNLIMITED if there is none.
MEMBERS: where its members start in `operands`, how many there are; each is `node, 1 if it is required, bytes of the
    shortest rest from here if nothing was written before, the same if something was`. Where in `operands` follow the
    node of the separator, that of the rest or -1, and the bytes of the shortest rest after the members if nothing was
    written.
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
    """Return the program of a pattern. Raises PatternError if a part of it matches no text shorter than `FAR` bytes."""
    assembly = _Assembly()
    root = assembly.node(pattern)
    assembly.follow_references()
    assembly.measure()
    if any(node[SHORTEST] == FAR for node in assembly.nodes):
        raise PatternError(
            "A part of the pattern matches no text, or none of a sensible length",
            pattern=str(pattern),
            remedy="Let what contains itself be left out, and repeat less.",
        )
    return Program(
        np.array(assembly.nodes, dtype=np.int32),
        np.array(assembly.operands, dtype=np.int32),
        np.frombuffer(bytes(assembly.text), dtype=np.uint8),
        root,
    )


_CHARACTER = (
    *map(tuple, byte_sequences(UNESCAPED_RANGES)),
    *(tuple((byte, byte) for byte in escape.encode()) for escape in PLAIN_ESCAPES),
)
"""A character inside a JSON string in its one spelling, as ranges of bytes."""

_SPELLED = re.compile(r"\\u....|\\.|.", re.DOTALL)


def _is_crowded(texts: list[list[bytes]]) -> bool:
    """Tell whether, after some common beginning, so many different characters follow that few or no others are left.

    Fewer than six never are all of one kind; `_room` says how many there are of each.
    """
    after: dict[bytes, list[list[bytes]]] = {}
    for characters in texts:
        if characters:
            after.setdefault(characters[0], []).append(characters[1:])
    kinds = Counter(character[:-1] for character in after)
    if any(count > _room(kind) for kind, count in kinds.items()):
        return True
    return any(len(rest) > 6 and _is_crowded(rest) for rest in after.values())


def _room(beginning: bytes) -> int:
    """Return how many characters that share all bytes but the last may be taken: some fewer than there are."""
    if beginning.startswith(b"\\u"):
        return 10
    return 90 if not beginning else 6 if beginning == b"\\" else 30


@dataclass(slots=True)
class _Assembly:
    """The arrays while they grow."""

    nodes: list[list[int]] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    text: bytearray = field(default_factory=bytearray)
    _places: dict[int, int] = field(default_factory=dict)
    _arcs: dict[tuple[tuple[ByteRange, ...], ...], int] = field(default_factory=dict)
    _references: list[tuple[int, Reference]] = field(default_factory=list)

    def node(self, pattern: Pattern) -> int:
        """Return the row of a node, which is the same every time."""
        place = self._places.get(id(pattern))
        if place is None:
            place = self._places[id(pattern)] = self._new_node(pattern)
        return place

    def follow_references(self) -> None:
        """Fill in where each reference leads."""
        for operand, reference in self._references:  # which grows on the way
            self.operands[operand] = self.node(reference.target)

    def measure(self) -> None:
        """Fill in the lengths.

        Nodes stand after those below them, so that one round is enough unless a reference leads back.
        """
        changed = True
        while changed:
            changed = False
            for node in self.nodes:
                shortest = self._shortest(node)
                changed |= shortest != node[SHORTEST] and bool(self._references)
                node[SHORTEST] = shortest
        for node in self.nodes:
            if node[OPERATION] == REPEAT and self.nodes[node[A]][SHORTEST] == 0:
                node[B] = 0  # where the item may be empty, a count from 0 on matches the same

    def _shortest(self, node: list[int]) -> int:
        """Return the bytes of the shortest match of a node, given those of the nodes below it."""
        operation, start, count = node[OPERATION], node[A], node[B]
        if operation == SEQUENCE:
            rest = 0
            for operand in reversed(range(start, start + 2 * count, 2)):
                rest = min(rest + self.nodes[self.operands[operand]][SHORTEST], FAR)
                self.operands[operand + 1] = rest
            return rest
        if operation == CHOICE:
            return min(self.nodes[option][SHORTEST] for option in self._slice(node))
        if operation == REPEAT:
            return min(count * self.nodes[start][SHORTEST], FAR)
        if operation == MEMBERS:
            return self._shortest_members(node)
        return node[SHORTEST]

    def _shortest_members(self, node: list[int]) -> int:
        start, more = node[A], node[C]
        separator, rest = (self.nodes[row][SHORTEST] if row >= 0 else FAR for row in self.operands[more : more + 2])
        self.operands[more + 2] = first = rest
        later = 0  # the bytes if something was written before; `first` if nothing was
        for operand in reversed(range(start, start + 4 * node[B], 4)):
            member = min(self.nodes[self.operands[operand]][SHORTEST] + later, FAR)
            if self.operands[operand + 1]:
                first, later = member, min(separator + member, FAR)
            else:
                first = min(first, member)
            self.operands[operand + 2 : operand + 4] = first, later
        return first

    def _slice(self, node: list[int]) -> list[int]:
        return self.operands[node[A] : node[A] + node[B]]

    def _new_node(self, pattern: Pattern) -> int:
        match pattern:
            case Literal(text):
                encoded = text.encode()
                self.text += encoded
                return self._row(TEXT, len(self.text) - len(encoded), len(encoded), shortest=len(encoded))
            case Words(texts):
                start, shortest = self._words(texts)
                return self._row(WORDS, start, len(texts), shortest=shortest)
            case Unlike(texts):
                return self._unlike(texts)
            case CharSet(ranges):
                return self._byte_set(tuple(byte_sequences(ranges)))
            case Concat(parts):
                pairs = [number for part in parts for number in (self.node(part), 0)]
                return self._row(SEQUENCE, self._append(pairs), len(parts))
            case Alternation(options):
                return self._row(CHOICE, self._append([self.node(option) for option in options]), len(options))
            case Repeat(item, minimum, maximum):
                return self._row(REPEAT, self.node(item), minimum, UNLIMITED if maximum is None else maximum)
            case Members(members, separator, rest):
                rows = [number for member, required in members for number in (self.node(member), int(required), 0, 0)]
                more = [self.node(separator), -1 if rest is None else self.node(rest), 0]
                return self._row(MEMBERS, self._append(rows), len(members), self._append(more))
            case Reference():
                start = self._append([-1])
                self._references.append((start, pattern))
                return self._row(CHOICE, start, 1)

    def _byte_set(self, sequences: tuple[tuple[ByteRange, ...], ...]) -> int:
        """Return the node of some sequences of byte ranges; what follows a first byte is a node of its own."""
        known = self._arcs.get(sequences)
        if known is None:
            after: dict[
                ByteRange, list[tuple[ByteRange, ...]]
            ] = {}  # no two first ranges overlap unless they are equal
            for first, *rest in sequences:
                after.setdefault(first, []).append(tuple(rest))
            arcs = [
                number
                for (low, high), rests in after.items()
                for number in (low, high, self._byte_set(tuple(rests)) if rests != [()] else -1)
            ]
            known = self._row(ARCS, self._append(arcs), len(after), shortest=min(map(len, sequences)))
            self._arcs[sequences] = known
        return known

    def _words(self, texts: tuple[str, ...]) -> tuple[int, int]:
        """Lay out some words; return where they start, and the bytes of the shortest."""
        from structured.automata.frames import common_prefixes

        encoded = sorted(text.encode() for text in texts)
        lengths = np.array([0, *map(len, encoded)], dtype=np.int32)
        starts = len(self.text) + np.cumsum(lengths, dtype=np.int32)
        self.text += b"".join(encoded)
        shared = common_prefixes(starts, np.frombuffer(bytes(self.text), dtype=np.uint8))
        return self._append([*starts.tolist(), *shared.tolist()]), int(lengths[1:].min())

    def _unlike(self, texts: tuple[str, ...]) -> int:
        character = self._byte_set(_CHARACTER)
        self.nodes.append([REPEAT, character, 0, UNLIMITED, FAR])
        free = len(self.nodes) - 1
        if not texts:
            return free
        if _is_crowded([[match.encode() for match in _SPELLED.findall(text)] for text in texts]):
            raise PatternError(
                "So many texts are excluded that they take every character in some place",
                pattern=str(Unlike(texts)),
                remedy="Exclude fewer, or forbid all other keys.",
            )
        start, _ = self._words(texts)
        return self._row(UNLIKE, start, len(texts), self._append([character, free]), shortest=int("" in texts))

    def _append(self, operands: list[int]) -> int:
        start = len(self.operands)
        self.operands += operands
        return start

    def _row(self, operation: int, a: int, b: int, c: int = 0, *, shortest: int = FAR) -> int:
        self.nodes.append([operation, a, b, c, shortest])
        return len(self.nodes) - 1
