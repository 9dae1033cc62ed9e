"""Programs: patterns as flat arrays that compiled loops can read.

A node of the pattern becomes a row of `nodes`; a shared node is one row. A set of characters becomes arcs over bytes.
Nothing is unrolled or determinised, so the program is as large as the pattern. `a{2,5}` → the rows `ARCS …`, for `a`,
and `REPEAT, row of a, 2, 5`. `opcodes.py` has the operations and the columns.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import opcodes as op
from structured.automata.loops.assembly import SPARE_NODES, SPARE_OPERANDS, Assembly
from structured.automata.loops.shortest_lengths import measure
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
    root = assembly.row(pattern)
    assembly.follow_references()
    if not measure(assembly, foundation.node_count):
        raise PatternError(
            f"A part of the pattern matches no text, or none shorter than {FAR:,} bytes",
            pattern=excerpt(pattern),
            remedy="Make a part that contains itself optional, and repeat less.",
        )
    nodes, operands = assembly.node_array[: assembly.node_count], assembly.operand_array[: assembly.operand_count]
    new_nodes = nodes[foundation.node_count :]
    for start in new_nodes[new_nodes[:, op.OPERATION] == op.ITEM, op.A].tolist():
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
        self._patterns = tuple(patterns)  # kept alive, since rows are found by the identity of their pattern
        self._assembly = Assembly(_OPERATIONS, _MAKERS, SPARE_NODES, SPARE_OPERANDS)
        for pattern in self._patterns:
            self._assembly.row(pattern)
        self._assembly.follow_references()
        self.node_count = int(self._assembly.node_count)
        """The number of rows of `Program.nodes` that it takes."""
        measure(self._assembly, 0)

    def new_assembly(self) -> Assembly:
        """Return a new assembly that begins with the patterns."""
        return self._assembly.copy()


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


def _words(assembly: Assembly, pattern: Words) -> int:
    """Return the row of a choice of words."""
    start, shortest = _append_words(assembly, pattern.texts)
    return assembly.add(op.WORDS, start, len(pattern.texts), 0, shortest)


def _append_words(assembly: Assembly, texts: Sequence[str]) -> tuple[int, int]:
    """Append words; return where their numbers start, and the bytes of the shortest."""
    encoded = sorted(map(str.encode, texts))
    return assembly.append_words(encoded), min(map(len, encoded))


def _unlike(assembly: Assembly, pattern: Unlike) -> int:
    """Return the row of any string except some words."""
    character = _byte_set(assembly, _STRING_CHARACTER, any_unescaped=True)
    any_string = assembly.add(op.REPEAT, character, 0, UNLIMITED, FAR)
    texts = pattern.texts
    if not texts:
        return any_string
    if len(texts) > MAX_UNCROWDED and _use_most_characters(list(map(_spelled_characters, texts))):
        raise PatternError(
            f"The {len(texts):,} excluded texts use nearly every character at some place",
            pattern=excerpt(pattern),
            remedy="Exclude fewer texts, or forbid all other keys.",
        )
    start, _ = _append_words(assembly, texts)
    more = assembly.append((character, any_string))
    return assembly.add(op.UNLIKE, start, len(texts), more, int("" in texts))


def _scan(assembly: Assembly, pattern: AutomatonPattern) -> int:
    """Return the row of an automaton over characters."""
    rows: list[int] = []
    before_unescaped = _states_before_unescaped_text(pattern)
    for state, arcs in enumerate(pattern.arcs):
        targets: dict[int, list[Range]] = {}
        for low, high, target in arcs:
            targets.setdefault(target, []).append((low, high))
        sets = [n for target, ranges in targets.items() for n in (_character_row(assembly, tuple(ranges)), target)]
        may_end, is_before_unescaped = int(state in pattern.accepting), int(state in before_unescaped)
        rows += (assembly.append(sets), len(targets), may_end, FAR, FAR, is_before_unescaped)
    start = assembly.append(rows)
    most = UNLIMITED if pattern.most is None else pattern.most
    return assembly.add(op.SCAN, start, len(pattern.arcs), most, FAR)


def _quotation(assembly: Assembly, pattern: Quotation) -> int:
    """Return the row of the quotations of a document."""
    quotations = pattern.texts
    assert isinstance(quotations, Quotations)
    document = quotations.document
    numbers = [
        _append_document(assembly, document.text),
        _append_array(assembly, quotations.suffixes),
        len(quotations.suffixes),
        _append_array(assembly, document.character_of_byte),
        _append_array(assembly, document.character_starts),
        _append_array(assembly, quotations.end_distances),
        len(document.text) + 1,
        _append_array(assembly, quotations.classes) if len(quotations.classes) else -1,
        _append_array(assembly, quotations.transitions),
        quotations.class_count,
        quotations.min_characters,
        quotations.max_characters,
    ]
    return assembly.add(op.QUOTATION, assembly.append(numbers), 0, 0, quotations.shortest)


def _append_document(assembly: Assembly, text: NDArray[np.uint8]) -> int:
    if id(text) not in assembly.starts:
        assembly.starts[id(text)] = assembly.append_text(text.tobytes())
    return assembly.starts[id(text)]


def _append_array(assembly: Assembly, numbers: NDArray[np.int32]) -> int:
    if id(numbers) not in assembly.starts:
        assembly.starts[id(numbers)] = assembly.append_array(numbers)
    return assembly.starts[id(numbers)]


def _character_row(assembly: Assembly, ranges: tuple[Range, ...]) -> int:
    row = assembly.sets.get(ranges)
    if row is None:
        plain, spelled = spelled_ranges(ranges)
        sequences = (*byte_sequences(plain), *(_single_bytes(escape) for escape in spelled))
        row = assembly.sets[ranges] = _byte_set(assembly, sequences)
    return row


def _char_set(assembly: Assembly, pattern: CharSet) -> int:
    """Return the row of a set of characters, of which JSON escapes control characters."""
    any_unescaped = pattern.ranges[0][0] >= 0x20 and _has_all_unescaped(pattern.ranges)
    return _byte_set(assembly, byte_sequences(pattern.ranges), any_unescaped=any_unescaped)


@deep
def _distinct(assembly: Assembly, pattern: Distinct) -> int:
    """Return the row of items that must all differ."""
    most = UNLIMITED if pattern.most is None else pattern.most
    item, separator = assembly.row(pattern.item), assembly.row(pattern.separator)
    numbers = (item, separator, pattern.least, most, int(pattern.is_inexhaustible))
    start = assembly.append([*numbers, *(pattern.lengths or [FAR]), *[FAR] * (pattern.least + 1)])
    return assembly.add(op.DISTINCT, start, assembly.add(op.ITEM, start, 0, 0, FAR), 0, FAR)


def _byte_set(assembly: Assembly, sequences: tuple[tuple[ByteRange, ...], ...], *, any_unescaped: bool = False) -> int:
    """Return the row of some sequences of byte ranges; the sequences after a first range are a node of their own.

    First ranges are equal or disjoint. The UTF-8 of `à-ÿ` is `c3 a0-bf` → an arc `c3` to the node of `a0-bf`.
    """
    row = assembly.byte_sets.get(sequences)
    if row is None:
        tails: dict[ByteRange, list[tuple[ByteRange, ...]]] = {}
        for first, *tail in sequences:
            tails.setdefault(first, []).append(tuple(tail))
        arcs: list[int] = []
        for (low, high), after in tails.items():
            arcs += (low, high, _byte_set(assembly, tuple(after)) if after != [()] else -1)
        row = assembly.add(op.ARCS, assembly.append(arcs), len(tails), 0, min(map(len, sequences)))
        if any_unescaped:
            assembly.set_any_unescaped(row)
        assembly.byte_sets[sequences] = row
    return row


_OPERATIONS = {
    Literal: op.TEXT,
    Concat: op.SEQUENCE,
    Alternation: op.CHOICE,
    Iteration: op.REPEAT,
    ObjectMembers: op.MEMBERS,
    Reference: op.REFERENCE,
}
_MAKERS: dict[type, Callable[[Assembly, Any], int]] = {
    Words: _words,
    Unlike: _unlike,
    AutomatonPattern: _scan,
    Quotation: _quotation,
    CharSet: _char_set,
    Distinct: _distinct,
}
