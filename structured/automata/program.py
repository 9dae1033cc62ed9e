"""Programs: patterns as flat arrays that compiled loops can read.

A node of the pattern becomes a row of `nodes`; a shared node is one row. A set of characters becomes arcs over bytes.
Nothing is unrolled or determinised, so the program is as large as the pattern. `a{2,5}` → the rows `ARCS …`, for `a`,
and `REPEAT, row of a, 2, 5`. `opcodes.py` has the operations and the columns.
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
from structured.automata.loops.shortest_lengths import ProgramArrays, common_prefixes, measure
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
    assembly = foundation.new_assembly()
    root = assembly.node(pattern)
    assembly.follow_references()
    nodes, operands, has_text = assembly.measure_nodes(foundation.node_count)
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
        self.node_count = len(self._assembly.nodes) // op.NODE_COLUMNS
        """The number of rows of `Program.nodes` that it takes."""
        self._assembly.measure_nodes(0)

    def new_assembly(self) -> "_Assembly":
        """Return a new assembly that begins with the patterns."""
        parts = [getattr(self._assembly, name) for name in _Assembly.__slots__]
        copies: list[Any] = [part[:] if isinstance(part, array) else part.copy() for part in parts]
        return _Assembly(*copies)


def _single_bytes(text: str) -> tuple[ByteRange, ...]:
    return tuple((byte, byte) for byte in text.encode())


_STRING_CHARACTER = (*byte_sequences(UNESCAPED_RANGES), *(_single_bytes(escape) for escape in PLAIN_ESCAPES))
"""A character inside a JSON string in its only spelling, as ranges of bytes."""

MAX_UNCROWDED = 6
"""The most excluded texts that are not checked by `_use_most_characters`: so few cannot use them all."""

_SPELLED_CHARACTER = re.compile(r"\\u....|\\.|.", re.DOTALL)


def _spelled_characters(text: str) -> list[bytes]:
    r"""Return the characters of a text as JSON spells them: `a\n` → `a`, `\n`."""
    return [character.encode() for character in _SPELLED_CHARACTER.findall(text)]


def _use_most_characters(texts: list[list[bytes]]) -> bool:
    """Tell whether texts go on after some beginning with nearly all characters that differ in the last byte only."""
    tails: dict[bytes, list[list[bytes]]] = {}
    for characters in texts:
        if characters:
            tails.setdefault(characters[0], []).append(characters[1:])
    uses = Counter(character[:-1] for character in tails)
    if any(count > _max_uses(first_bytes) for first_bytes, count in uses.items()):
        return True
    return any(len(texts) > MAX_UNCROWDED and _use_most_characters(texts) for texts in tails.values())


def _max_uses(first_bytes: bytes) -> int:
    """Return how many characters with the same bytes but the last may be used: slightly fewer than there are."""
    if first_bytes.startswith(b"\\u"):
        return 10
    return 90 if not first_bytes else 6 if first_bytes == b"\\" else 30


def _states_before_unescaped_text(scan: AutomatonPattern) -> set[int]:
    """Return the states that any number of unescaped characters may follow."""
    states = {state for state, arcs in enumerate(scan.arcs) if _has_all_unescaped((low, high) for low, high, _ in arcs)}
    if len(states) == len(scan.arcs):
        return states
    predecessors: dict[int, list[int]] = {}
    for state in states:
        for target in {target for _, _, target in scan.arcs[state]}:
            predecessors.setdefault(target, []).append(state)
    excluded = [state for target, sources in predecessors.items() if target not in states for state in sources]
    while excluded:
        state = excluded.pop()
        if state in states:
            states.remove(state)
            excluded += predecessors.get(state, ())
    return states


def _has_all_unescaped(ranges: Iterable[Range]) -> bool:
    """Tell whether some sorted ranges have all unescaped characters."""
    next_character = UNESCAPED_RANGES[0][0]
    for low, high in ranges:
        if low > next_character and any(start < low and next_character <= end for start, end in UNESCAPED_RANGES):
            return False
        next_character = max(next_character, high + 1)
    return next_character > UNESCAPED_RANGES[-1][1]


@dataclass(slots=True)
class _Assembly:
    """The arrays of a program while it is assembled."""

    nodes: "array[int]" = field(default_factory=lambda: array("i", (op.UNION, 0, 0, 0, 0, 0)))
    operands: "array[int]" = field(default_factory=lambda: array("i"))
    text: bytearray = field(default_factory=bytearray)
    _nodes_of_patterns: dict[int, int] = field(default_factory=dict)
    _byte_sets: dict[tuple[tuple[ByteRange, ...], ...], int] = field(default_factory=dict)
    _character_sets: dict[tuple[Range, ...], int] = field(default_factory=dict)
    _array_starts: dict[int, int] = field(default_factory=dict)
    _references: list[tuple[int, Reference]] = field(default_factory=list)

    def node(self, pattern: Pattern) -> int:
        """Return the row of a node; the same node gets the same row."""
        row = self._nodes_of_patterns.get(id(pattern))
        if row is None:
            row = self._nodes_of_patterns[id(pattern)] = _ADD_NODE[type(pattern)](self, pattern)
        return row

    def follow_references(self) -> None:
        """Fill in the target of each reference."""
        for operand, reference in self._references:  # the list grows meanwhile
            self.operands[operand] = self.node(reference.target)
        self._references.clear()

    def measure_nodes(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.int32], bool]:
        """Compute the lengths of the rows from `first` on; return nodes, operands, and whether each matches a text."""
        nodes = np.frombuffer(self.nodes, dtype=np.int32).reshape(-1, op.NODE_COLUMNS)
        operands = np.frombuffer(self.operands, dtype=np.int32)
        return nodes, operands, measure(ProgramArrays(nodes, operands), first)

    def literal(self, pattern: Literal) -> int:
        """Return the row of a text."""
        encoded = pattern.text.encode()
        start, size = len(self.text), len(encoded)
        self.text += encoded
        return self._add_node(op.TEXT, start, size, shortest=size)

    def words(self, pattern: Words) -> int:
        """Return the row of a choice of words."""
        start, shortest = self._append_words(pattern.texts)
        return self._add_node(op.WORDS, start, len(pattern.texts), shortest=shortest)

    def unlike(self, pattern: Unlike) -> int:
        """Return the row of any string except some words."""
        character = self._byte_set(_STRING_CHARACTER, any_unescaped=True)
        any_string = self._add_node(op.REPEAT, character, 0, UNLIMITED)
        texts = pattern.texts
        if not texts:
            return any_string
        if len(texts) > MAX_UNCROWDED and _use_most_characters(list(map(_spelled_characters, texts))):
            raise PatternError(
                f"The {len(texts):,} excluded texts use nearly every character at some place",
                pattern=excerpt(pattern),
                remedy="Exclude fewer texts, or forbid all other keys.",
            )
        start, _ = self._append_words(texts)
        more = self._append((character, any_string))
        return self._add_node(op.UNLIKE, start, len(texts), more, shortest=int("" in texts))

    def scan(self, pattern: AutomatonPattern) -> int:
        """Return the row of an automaton over characters."""
        rows: list[int] = []
        before_unescaped = _states_before_unescaped_text(pattern)
        for state, arcs in enumerate(pattern.arcs):
            targets: dict[int, list[Range]] = {}
            for low, high, target in arcs:
                targets.setdefault(target, []).append((low, high))
            sets = [n for target, ranges in targets.items() for n in (self._character_node(tuple(ranges)), target)]
            may_end, is_before_unescaped = int(state in pattern.accepting), int(state in before_unescaped)
            rows += (self._append(sets), len(targets), may_end, FAR, FAR, is_before_unescaped)
        start = self._append(rows)
        most = UNLIMITED if pattern.most is None else pattern.most
        return self._add_node(op.SCAN, start, len(pattern.arcs), most)

    def quotation(self, pattern: Quotation) -> int:
        """Return the row of the quotations of a document."""
        quotations = pattern.texts
        assert isinstance(quotations, Quotations)
        document = quotations.document
        numbers = [
            self._append_document(document.text),
            self._append_array(quotations.suffixes),
            len(quotations.suffixes),
            self._append_array(document.character_of_byte),
            self._append_array(document.character_starts),
            self._append_array(quotations.end_distances),
            len(document.text) + 1,
            self._append_array(quotations.classes) if len(quotations.classes) else -1,
            self._append_array(quotations.transitions),
            quotations.class_count,
            quotations.min_characters,
            quotations.max_characters,
        ]
        return self._add_node(op.QUOTATION, self._append(numbers), 0, shortest=quotations.shortest)

    def _append_document(self, text: NDArray[np.uint8]) -> int:
        start = self._array_starts.get(id(text))
        if start is None:
            start = self._array_starts[id(text)] = len(self.text)
            self.text += text.tobytes()
        return start

    def _append_array(self, numbers: NDArray[np.int32]) -> int:
        start = self._array_starts.get(id(numbers))
        if start is None:
            start = self._array_starts[id(numbers)] = len(self.operands)
            self.operands.frombytes(numbers.tobytes())
        return start

    def _character_node(self, ranges: tuple[Range, ...]) -> int:
        row = self._character_sets.get(ranges)
        if row is None:
            plain, spelled = spelled_ranges(ranges)
            sequences = (*byte_sequences(plain), *(_single_bytes(escape) for escape in spelled))
            row = self._character_sets[ranges] = self._byte_set(sequences)
        return row

    def char_set(self, pattern: CharSet) -> int:
        """Return the row of a set of characters, of which JSON escapes control characters."""
        any_unescaped = pattern.ranges[0][0] >= 0x20 and _has_all_unescaped(pattern.ranges)
        return self._byte_set(byte_sequences(pattern.ranges), any_unescaped=any_unescaped)

    def concat(self, pattern: Concat) -> int:
        """Return the row of parts in order."""
        known_node = self._nodes_of_patterns.get
        parts = [known_node(id(part)) or self.node(part) for part in pattern.parts]
        return self._add_node(op.SEQUENCE, self._append([number for row in parts for number in (row, 0)]), len(parts))

    def alternation(self, pattern: Alternation) -> int:
        """Return the row of a choice."""
        options = [self.node(option) for option in pattern.options]
        return self._add_node(op.CHOICE, self._append(options), len(options))

    def repeat(self, pattern: Iteration) -> int:
        """Return the row of a repetition."""
        most = UNLIMITED if pattern.maximum is None else pattern.maximum
        return self._add_node(op.REPEAT, self.node(pattern.item), pattern.minimum, most)

    def members(self, pattern: ObjectMembers) -> int:
        """Return the row of the members of an object."""
        rows = [n for member, required in pattern.members for n in (self.node(member), int(required), 0, 0)]
        separator = self.node(pattern.separator)
        more = (separator, -1 if pattern.other_member is None else self.node(pattern.other_member), 0, 0)
        operation = op.MEMBERS if pattern.in_order else op.PERMUTATION
        return self._add_node(operation, self._append(rows), len(pattern.members), self._append(more))

    def distinct(self, pattern: Distinct) -> int:
        """Return the row of items that must all differ."""
        most = UNLIMITED if pattern.most is None else pattern.most
        item, separator = self.node(pattern.item), self.node(pattern.separator)
        numbers = (item, separator, pattern.least, most, int(pattern.is_inexhaustible))
        start = self._append([*numbers, *(pattern.lengths or [FAR]), *[FAR] * (pattern.least + 1)])
        return self._add_node(op.DISTINCT, start, self._add_node(op.ITEM, start, 0))

    def reference(self, pattern: Reference) -> int:
        """Return the row of a reference, which `follow_references` completes."""
        start = self._append((-1,))
        self._references.append((start, pattern))
        return self._add_node(op.CHOICE, start, 1)

    def _byte_set(self, sequences: tuple[tuple[ByteRange, ...], ...], *, any_unescaped: bool = False) -> int:
        """Return the row of some sequences of byte ranges; the sequences after a first range are a node of their own.

        First ranges are equal or disjoint. The UTF-8 of `à-ÿ` is `c3 a0-bf` → an arc `c3` to the node of `a0-bf`.
        """
        row = self._byte_sets.get(sequences)
        if row is None:
            tails: dict[ByteRange, list[tuple[ByteRange, ...]]] = {}
            for first, *tail in sequences:
                tails.setdefault(first, []).append(tuple(tail))
            arcs: list[int] = []
            for (low, high), after in tails.items():
                arcs += (low, high, self._byte_set(tuple(after)) if after != [()] else -1)
            start, shortest = self._append(arcs), min(map(len, sequences))
            row = self._add_node(op.ARCS, start, len(tails), shortest=shortest, any_unescaped=any_unescaped)
            self._byte_sets[sequences] = row
        return row

    def _append_words(self, texts: tuple[str, ...]) -> tuple[int, int]:
        """Append words to the arrays; return where they start, and the bytes of the shortest."""
        encoded = sorted(map(str.encode, texts))
        lengths = np.array([0, *map(len, encoded)], dtype=np.int32)
        starts, text = np.cumsum(lengths, dtype=np.int32), b"".join(encoded)
        shared = np.zeros(len(encoded), dtype=np.int32)
        common_prefixes(starts, np.frombuffer(text, dtype=np.uint8), shared)
        start = self._append([*(len(self.text) + starts).tolist(), *shared.tolist()])
        self.text += text
        return start, int(lengths[1:].min())

    def _append(self, operands: Sequence[int]) -> int:
        start = len(self.operands)
        self.operands.extend(operands)
        return start

    def _add_node(self, operation: int, *a_b_c: int, shortest: int = FAR, any_unescaped: bool = False) -> int:
        a, b, c = a_b_c if len(a_b_c) == 3 else (*a_b_c, 0)
        self.nodes.extend((operation, a, b, c, shortest, any_unescaped))
        return len(self.nodes) // op.NODE_COLUMNS - 1


_ADD_NODE: dict[type, Callable[[_Assembly, Any], int]] = {
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
