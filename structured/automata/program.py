"""Programs: patterns as flat arrays that compiled loops can read.

A node of the pattern becomes a row of `nodes`; a shared node is one row. A set of characters becomes arcs over bytes.
Nothing is unrolled or determinised, so the program is as large as the pattern.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import opcodes as op
from structured.automata.loops.shortest_lengths import common_prefixes, measure
from structured.automata.opcodes import FAR, UNLIMITED
from structured.automata.quotations import Quotations
from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex import (
    Alternation,
    AutomatonPattern,
    CharSet,
    Concat,
    Distinct,
    Iteration,
    Literal,
    ObjectMembers,
    Pattern,
    Quotation,
    Reference,
    Unlike,
    Words,
    excerpt,
)
from structured.regex.character_sets import PLAIN_ESCAPES, UNESCAPED_RANGES, ByteRange, Range, byte_sequences
from structured.regex.json_strings import spelled_ranges


@dataclass(frozen=True, slots=True)
class Program:
    """A pattern as arrays: `nodes` of shape (nodes, 6), `operands` (int32) and `text` (bytes) flat."""

    nodes: NDArray[np.int32]
    operands: NDArray[np.int32]
    text: NDArray[np.uint8]
    root: int


def assemble(pattern: Pattern, foundation: "Foundation | None" = None) -> Program:
    """Return the program of a pattern, which begins with the rows of its foundation.

    Raises PatternError if a part of the pattern matches no text shorter than `FAR` bytes.
    """
    foundation = foundation or Foundation()
    assembly = foundation.begun()
    root = assembly.node(pattern)
    assembly.follow_references()
    nodes, operands, has_text = assembly.measured(foundation.rows)
    if not has_text:
        raise PatternError(
            f"A part of the pattern matches no text, or none shorter than {FAR:,} bytes",
            pattern=excerpt(pattern),
            remedy="Make a part that contains itself optional, and repeat less.",
        )
    for start in nodes[nodes[:, op.OPERATION] == op.ITEM, op.A].tolist():
        if nodes[operands[start + op.UNIQUE_ITEM], op.SHORTEST] == 0:
            raise PatternError(
                "An item that must differ from others may be empty",
                pattern=excerpt(pattern),
                remedy="Require at least one character of each item.",
            )
    return Program(nodes, operands, np.frombuffer(bytes(assembly.text), dtype=np.uint8), root)


class Foundation:
    """Patterns that many programs share, assembled once; each of these programs begins with them."""

    def __init__(self, patterns: Iterable[Pattern] = ()) -> None:
        self._patterns = tuple(patterns)  # kept alive, since nodes are found by their id
        self._assembly = _Assembly()
        for pattern in self._patterns:
            self._assembly.node(pattern)
        self._assembly.follow_references()
        self.rows = len(self._assembly.nodes) // op.COLUMNS
        """How many rows of `Program.nodes` it takes."""
        self._assembly.measured(0)

    def begun(self) -> "_Assembly":
        """Return a new assembly that begins with the patterns."""
        parts = [getattr(self._assembly, name) for name in _Assembly.__slots__]
        copies: list[Any] = [part[:] if isinstance(part, array) else part.copy() for part in parts]
        return _Assembly(*copies)


def _single_bytes(text: str) -> tuple[ByteRange, ...]:
    return tuple((byte, byte) for byte in text.encode())


_CHARACTER = (*byte_sequences(UNESCAPED_RANGES), *(_single_bytes(escape) for escape in PLAIN_ESCAPES))
"""A character inside a JSON string in its only spelling, as ranges of bytes."""

MIN_CROWDED = 6
"""Up to this many texts never take every character at some place."""

_SPELLED = re.compile(r"\\u....|\\.|.", re.DOTALL)


def _is_crowded(texts: list[list[bytes]]) -> bool:
    """Tell whether texts continue some common beginning with almost all characters of a kind (limits: `_room`)."""
    after: dict[bytes, list[list[bytes]]] = {}
    for characters in texts:
        if characters:
            after.setdefault(characters[0], []).append(characters[1:])
    kinds = Counter(character[:-1] for character in after)
    if any(count > _room(kind) for kind, count in kinds.items()):
        return True
    return any(len(rest) > MIN_CROWDED and _is_crowded(rest) for rest in after.values())


def _room(beginning: bytes) -> int:
    """Return how many characters with the same bytes but the last may be used: slightly fewer than there are."""
    if beginning.startswith(b"\\u"):
        return 10
    return 90 if not beginning else 6 if beginning == b"\\" else 30


def _endless(scan: AutomatonPattern) -> set[int]:
    """Return the states that any number of plain characters may follow."""
    endless = {state for state, arcs in enumerate(scan.arcs) if _covers_plain((low, high) for low, high, _ in arcs)}
    if len(endless) == len(scan.arcs):
        return endless
    before: dict[int, list[int]] = {}
    for state in endless:
        for target in {target for _, _, target in scan.arcs[state]}:
            before.setdefault(target, []).append(state)
    lost = [state for target, sources in before.items() if target not in endless for state in sources]
    while lost:
        state = lost.pop()
        if state in endless:
            endless.remove(state)
            lost += before.get(state, ())
    return endless


def _covers_plain(ranges: Iterable[Range]) -> bool:
    """Tell whether some ranges in order have all plain characters."""
    reached = UNESCAPED_RANGES[0][0]
    for low, high in ranges:
        if low > reached and any(start < low and reached <= end for start, end in UNESCAPED_RANGES):
            return False
        reached = max(reached, high + 1)
    return reached > UNESCAPED_RANGES[-1][1]


@dataclass(slots=True)
class _Assembly:
    """The arrays of a program while it is assembled."""

    nodes: "array[int]" = field(default_factory=lambda: array("i", (op.UNION, 0, 0, 0, 0, 0)))
    operands: "array[int]" = field(default_factory=lambda: array("i"))
    text: bytearray = field(default_factory=bytearray)
    _places: dict[int, int] = field(default_factory=dict)
    _arcs: dict[tuple[tuple[ByteRange, ...], ...], int] = field(default_factory=dict)
    _characters: dict[tuple[Range, ...], int] = field(default_factory=dict)
    _arrays: dict[int, int] = field(default_factory=dict)
    _references: list[tuple[int, Reference]] = field(default_factory=list)

    def node(self, pattern: Pattern) -> int:
        """Return the row of a node; the same node gets the same row."""
        place = self._places.get(id(pattern))
        if place is None:
            place = self._places[id(pattern)] = _NEW_NODE[type(pattern)](self, pattern)
        return place

    def follow_references(self) -> None:
        """Fill in the target of each reference."""
        for operand, reference in self._references:  # the list grows meanwhile
            self.operands[operand] = self.node(reference.target)
        self._references.clear()

    def measured(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.int32], bool]:
        """Return nodes and operands with the lengths from row `first` on, and whether each node matches a text."""
        nodes = np.frombuffer(self.nodes, dtype=np.int32).reshape(-1, op.COLUMNS)
        operands = np.frombuffer(self.operands, dtype=np.int32)
        return nodes, operands, measure(nodes, operands, first)

    def literal(self, pattern: Literal) -> int:
        """Return the row of a text."""
        encoded = pattern.text.encode()
        start, size = len(self.text), len(encoded)
        self.text += encoded
        return self._row(op.TEXT, start, size, shortest=size)

    def words(self, pattern: Words) -> int:
        """Return the row of a choice of words."""
        start, shortest = self._lay_out(pattern.texts)
        return self._row(op.WORDS, start, len(pattern.texts), shortest=shortest)

    def unlike(self, pattern: Unlike) -> int:
        """Return the row of any string except some words."""
        character = self._byte_set(_CHARACTER, covers_plain=True)
        free = self._row(op.REPEAT, character, 0, UNLIMITED)
        texts = pattern.texts
        if not texts:
            return free
        if len(texts) > MIN_CROWDED and _is_crowded([list(map(str.encode, _SPELLED.findall(text))) for text in texts]):
            raise PatternError(
                f"The {len(texts):,} excluded texts use nearly every character at some place",
                pattern=excerpt(pattern),
                remedy="Exclude fewer texts, or forbid all other keys.",
            )
        start, _ = self._lay_out(texts)
        return self._row(op.UNLIKE, start, len(texts), self._append((character, free)), shortest=int("" in texts))

    def scan(self, pattern: AutomatonPattern) -> int:
        """Return the row of an automaton over characters."""
        rows: list[int] = []
        endless = _endless(pattern)
        for state, arcs in enumerate(pattern.arcs):
            targets: dict[int, list[Range]] = {}
            for low, high, target in arcs:
                targets.setdefault(target, []).append((low, high))
            sets = [number for target, ranges in targets.items() for number in (self._character(tuple(ranges)), target)]
            rows += (self._append(sets), len(targets), int(state in pattern.accepting), FAR, FAR, int(state in endless))
        start = self._append(rows)
        most = UNLIMITED if pattern.most is None else pattern.most
        return self._row(op.SCAN, start, len(pattern.arcs), most)

    def quotation(self, pattern: Quotation) -> int:
        """Return the row of the quotations of a document."""
        quotations = pattern.texts
        assert isinstance(quotations, Quotations)
        document = quotations.document
        numbers = [
            self._lay_out_document(document.text),
            self._lay_out_array(quotations.suffixes),
            len(quotations.suffixes),
            self._lay_out_array(document.counts),
            self._lay_out_array(document.borders),
            self._lay_out_array(quotations.nearest),
            len(document.text) + 1,
            self._lay_out_array(quotations.kinds) if len(quotations.kinds) else -1,
            self._lay_out_array(quotations.moves),
            quotations.kind_count,
            quotations.fewest,
            quotations.most,
        ]
        return self._row(op.QUOTATION, self._append(numbers), 0, shortest=quotations.shortest)

    def _lay_out_document(self, text: NDArray[np.uint8]) -> int:
        place = self._arrays.get(id(text))
        if place is None:
            place = self._arrays[id(text)] = len(self.text)
            self.text += text.tobytes()
        return place

    def _lay_out_array(self, numbers: NDArray[np.int32]) -> int:
        place = self._arrays.get(id(numbers))
        if place is None:
            place = self._arrays[id(numbers)] = len(self.operands)
            self.operands.frombytes(numbers.tobytes())
        return place

    def _character(self, ranges: tuple[Range, ...]) -> int:
        row = self._characters.get(ranges)
        if row is None:
            plain, spelled = spelled_ranges(ranges)
            sequences = (*byte_sequences(plain), *(_single_bytes(escape) for escape in spelled))
            row = self._characters[ranges] = self._byte_set(sequences)
        return row

    def char_set(self, pattern: CharSet) -> int:
        """Return the row of a set of characters, of which JSON escapes control characters."""
        covers_plain = pattern.ranges[0][0] >= 0x20 and _covers_plain(pattern.ranges)
        return self._byte_set(byte_sequences(pattern.ranges), covers_plain=covers_plain)

    def concat(self, pattern: Concat) -> int:
        """Return the row of parts in order."""
        place_of = self._places.get
        parts = [place_of(id(part)) or self.node(part) for part in pattern.parts]
        return self._row(op.SEQUENCE, self._append([number for row in parts for number in (row, 0)]), len(parts))

    def alternation(self, pattern: Alternation) -> int:
        """Return the row of a choice."""
        return self._row(
            op.CHOICE, self._append([self.node(option) for option in pattern.options]), len(pattern.options)
        )

    def repeat(self, pattern: Iteration) -> int:
        """Return the row of a repetition."""
        most = UNLIMITED if pattern.maximum is None else pattern.maximum
        return self._row(op.REPEAT, self.node(pattern.item), pattern.minimum, most)

    def members(self, pattern: ObjectMembers) -> int:
        """Return the row of the members of an object."""
        rows = [n for member, required in pattern.members for n in (self.node(member), int(required), 0, 0)]
        more = (
            self.node(pattern.separator),
            -1 if pattern.other_member is None else self.node(pattern.other_member),
            0,
            0,
        )
        operation = op.MEMBERS if pattern.in_order else op.PERMUTATION
        return self._row(operation, self._append(rows), len(pattern.members), self._append(more))

    def distinct(self, pattern: Distinct) -> int:
        """Return the row of items that must all differ."""
        most = UNLIMITED if pattern.most is None else pattern.most
        numbers = [
            self.node(pattern.item),
            self.node(pattern.separator),
            pattern.least,
            most,
            int(pattern.is_inexhaustible),
        ]
        start = self._append([*numbers, *(pattern.lengths or [FAR]), *[FAR] * (pattern.least + 1)])
        return self._row(op.DISTINCT, start, self._row(op.ITEM, start, 0))

    def reference(self, pattern: Reference) -> int:
        """Return the row of a reference, which `follow_references` completes."""
        start = self._append((-1,))
        self._references.append((start, pattern))
        return self._row(op.CHOICE, start, 1)

    def _byte_set(self, sequences: tuple[tuple[ByteRange, ...], ...], *, covers_plain: bool = False) -> int:
        """Return the row of some sequences of byte ranges; the rests after a first range are a node of their own.

        First ranges are equal or disjoint.
        """
        row = self._arcs.get(sequences)
        if row is None:
            after: dict[ByteRange, list[tuple[ByteRange, ...]]] = {}
            for first, *rest in sequences:
                after.setdefault(first, []).append(tuple(rest))
            arcs = [
                number
                for (low, high), rests in after.items()
                for number in (low, high, self._byte_set(tuple(rests)) if rests != [()] else -1)
            ]
            shortest = min(map(len, sequences))
            row = self._row(op.ARCS, self._append(arcs), len(after), shortest=shortest, is_open=covers_plain)
            self._arcs[sequences] = row
        return row

    def _lay_out(self, texts: tuple[str, ...]) -> tuple[int, int]:
        """Append words to the arrays; return where they start, and the bytes of the shortest."""
        encoded = sorted(map(str.encode, texts))
        lengths = np.array([0, *map(len, encoded)], dtype=np.int32)
        starts, text = np.cumsum(lengths, dtype=np.int32), b"".join(encoded)
        shared = np.zeros(len(encoded), dtype=np.int32)
        common_prefixes(starts, np.frombuffer(text, dtype=np.uint8), shared)
        place = self._append([*(len(self.text) + starts).tolist(), *shared.tolist()])
        self.text += text
        return place, int(lengths[1:].min())

    def _append(self, operands: Sequence[int]) -> int:
        start = len(self.operands)
        self.operands.extend(operands)
        return start

    def _row(self, operation: int, *a_b_c: int, shortest: int = FAR, is_open: bool = False) -> int:
        a, b, c = a_b_c if len(a_b_c) == 3 else (*a_b_c, 0)
        self.nodes.extend((operation, a, b, c, shortest, is_open))
        return len(self.nodes) // op.COLUMNS - 1


_NEW_NODE: dict[type, Callable[[_Assembly, Any], int]] = {
    Literal: _Assembly.literal,
    Words: _Assembly.words,
    Unlike: _Assembly.unlike,
    AutomatonPattern: _Assembly.scan,
    Quotation: _Assembly.quotation,
    CharSet: _Assembly.char_set,
    Concat: deep(_Assembly.concat),
    Alternation: deep(_Assembly.alternation),
    Iteration: deep(_Assembly.repeat),
    ObjectMembers: deep(_Assembly.members),
    Distinct: deep(_Assembly.distinct),
    Reference: _Assembly.reference,
}
