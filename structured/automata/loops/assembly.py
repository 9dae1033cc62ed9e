"""The assembly of a program: rows of nodes with their operands, appended while a pattern is walked.

The nodes that most patterns consist of are added here; for the others, `makers` has functions of Python.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from structured.automata import opcodes as op
from structured.automata.opcodes import FAR, NODE_COLUMNS, UNKNOWN_ROW, UNLIMITED
from structured.machine_code.growing_arrays import viewed
from structured.machine_code.notation import Bytes, Ints, Rows, compiled_class, loop, rare_loop

SPARE_NODES, SPARE_OPERANDS = 128, 1024
"""The room of a new assembly beside what it begins with."""


@compiled_class
class Assembly:
    """The arrays of a program while it is assembled; see `opcodes.py`. The first row is that of UNION.

    `operations` has the operations of the patterns that are added here, by their types, and `makers` the functions
    that add the others. `rows` has the row of each pattern by its identity, `byte_sets` and `sets` those of sequences
    of bytes and of sets of characters, and `starts` the start of each array by its identity. `references` are pairs of
    an operand and the reference whose target it becomes.
    """

    operations: dict[type, int]
    makers: dict[type, Callable[[Any, Any], int]]
    rows: dict[int, int]
    byte_sets: dict[Any, int]
    sets: dict[Any, int]
    starts: dict[int, int]
    references: list[Any]
    text: bytearray
    node_array: Any
    operand_array: Any
    nodes: Rows
    node_count: int
    operands: Ints
    operand_count: int

    def __init__(
        self,
        operations: dict[type, int],
        makers: dict[type, Callable[[Any, Any], int]],
        node_room: int,
        operand_room: int,
    ) -> None:
        self.operations = operations
        self.makers = makers
        self.rows, self.byte_sets, self.sets, self.starts = {}, {}, {}, {}
        self.references = []
        self.text = bytearray()
        self.node_array = np.zeros((node_room, NODE_COLUMNS), dtype=np.int32)
        self.operand_array = np.zeros(operand_room, dtype=np.int32)
        self.nodes = viewed(self.node_array)
        self.operands = viewed(self.operand_array)
        self.node_count = self.operand_count = 0
        append_node(self, op.UNION, 0, 0, 0, 0)

    def copy(self) -> "Assembly":
        """Return an assembly that begins with the rows of this one."""
        node_room, operand_room = self.node_count + SPARE_NODES, self.operand_count + SPARE_OPERANDS
        other = Assembly(self.operations, self.makers, node_room, operand_room)
        other.rows, other.byte_sets = self.rows.copy(), self.byte_sets.copy()
        other.sets, other.starts = self.sets.copy(), self.starts.copy()
        other.text = self.text.copy()
        other.node_array[: self.node_count] = self.node_array[: self.node_count]
        other.operand_array[: self.operand_count] = self.operand_array[: self.operand_count]
        other.node_count, other.operand_count = self.node_count, self.operand_count
        return other

    def row(self, pattern: Any) -> int:
        """Return the row of a pattern, which comes after those of its parts; the same pattern gets the same row."""
        return add_pattern(self, pattern)

    def follow_references(self) -> None:
        """Add the target of each reference."""
        for operand, reference in self.references:  # the list grows meanwhile
            target = add_pattern(self, reference.target)
            self.operands[operand] = target
        self.references.clear()

    def add(self, operation: int, a: int, b: int, c: int, shortest: int) -> int:
        """Return the row of a new node."""
        return append_node(self, operation, a, b, c, shortest)

    def set_any_unescaped(self, row: int) -> None:
        """Note that each unescaped character is a match of a node."""
        self.nodes[row, op.ANY_UNESCAPED_CHARACTER] = 1

    def append(self, numbers: Any) -> int:
        """Append some operands; return where they start."""
        start = self.operand_count
        for number in numbers:
            append_operand(self, number)
        return start

    def append_array(self, numbers: Any) -> int:
        """Append an array of operands; return where they start."""
        start, count = self.operand_count, len(numbers)
        reserve_operands(self, start + count)
        self.operand_array[start : start + count] = numbers
        self.operand_count = start + count
        return start

    def append_text(self, encoded: Any) -> int:
        """Append bytes to the text; return where they start."""
        start = len(self.text)
        self.text += encoded
        return start

    def append_words(self, encoded: Any) -> int:
        """Append sorted words to the text, and their numbers to the operands; return where these start."""
        start, place = self.operand_count, len(self.text)
        for word in encoded:
            append_operand(self, place)
            place += len(word)
        append_operand(self, place)
        self.text += b"".join(encoded)
        append_shared_bytes(self, self.text, start, len(encoded))
        return start


@loop
def append_node(assembly: Assembly, operation: int, a: int, b: int, c: int, shortest: int) -> int:
    """Return the row of a new node."""
    row = assembly.node_count
    if row == len(assembly.nodes):
        reserve_nodes(assembly, row + 1)
    assembly.nodes[row, op.OPERATION] = operation
    assembly.nodes[row, op.A] = a
    assembly.nodes[row, op.B] = b
    assembly.nodes[row, op.C] = c
    assembly.nodes[row, op.SHORTEST] = shortest
    assembly.nodes[row, op.ANY_UNESCAPED_CHARACTER] = 0
    assembly.node_count = row + 1
    return row


@loop
def append_operand(assembly: Assembly, operand: int) -> None:
    """Append an operand."""
    place = assembly.operand_count
    if place == len(assembly.operands):
        reserve_operands(assembly, place + 1)
    assembly.operands[place] = operand
    assembly.operand_count = place + 1


@rare_loop
def reserve_nodes(assembly: Assembly, count: int) -> None:
    """Make room for so many nodes, and for twice as many as before."""
    if count > len(assembly.nodes):
        array = np.zeros((max(count, 2 * len(assembly.nodes)), NODE_COLUMNS), dtype=np.int32)
        array[: assembly.node_count] = assembly.node_array[: assembly.node_count]
        assembly.node_array = array
        assembly.nodes = viewed(array)


@rare_loop
def reserve_operands(assembly: Assembly, count: int) -> None:
    """Make room for so many operands, and for twice as many as before."""
    if count > len(assembly.operands):
        array = np.zeros(max(count, 2 * len(assembly.operands)), dtype=np.int32)
        array[: assembly.operand_count] = assembly.operand_array[: assembly.operand_count]
        assembly.operand_array = array
        assembly.operands = viewed(array)


@loop
def append_shared_bytes(assembly: Assembly, text: Bytes, start: int, count: int) -> None:
    """Append for each word the number of bytes that it shares with the word before; their places begin at `start`.

    `title`, `total` → `0, 1`
    """
    append_operand(assembly, 0)
    for word in range(start + 1, start + count):
        before, first = assembly.operands[word - 1], assembly.operands[word]
        shared, most = 0, min(first - before, assembly.operands[word + 1] - first)
        while shared < most and text[before + shared] == text[first + shared]:
            shared += 1
        append_operand(assembly, shared)


@rare_loop
def add_pattern(assembly: Assembly, pattern: Any) -> int:
    """Return the row of a pattern; parts that have none yet are added before it."""
    pending = [pattern]
    while pending:
        current = pending[len(pending) - 1]
        if id(current) not in assembly.rows:
            row = row_of_parts(assembly, current, pending)
            if row == UNKNOWN_ROW:
                continue
            assembly.rows[id(current)] = row
        pending.pop()
    return assembly.rows[id(pattern)]


@rare_loop
def row_of_parts(assembly: Assembly, pattern: Any, pending: Any) -> int:
    """Return the row of a new pattern; UNKNOWN_ROW if it has parts without a row, which are pushed to `pending`."""
    operation = assembly.operations.get(type(pattern))
    if operation == op.SEQUENCE:
        return sequence_row(assembly, pattern.parts, pending)
    if operation == op.TEXT:
        return text_row(assembly, pattern.text.encode())
    if operation == op.CHOICE:
        return choice_row(assembly, pattern.options, pending)
    if operation == op.REPEAT:
        return repeat_row(assembly, pattern, pending)
    if operation == op.MEMBERS:
        return members_row(assembly, pattern, pending)
    if operation == op.REFERENCE:
        assembly.references.append((assembly.operand_count, pattern))
        append_operand(assembly, -1)
        return append_node(assembly, op.CHOICE, assembly.operand_count - 1, 1, 0, FAR)
    return assembly.makers[type(pattern)](assembly, pattern)


@rare_loop
def push_unknown(assembly: Assembly, parts: Any, pending: Any) -> bool:
    """Push the parts that have no row, so that the first is added first; tell whether there are any."""
    unknown = [part for part in parts if id(part) not in assembly.rows]
    pending += unknown[::-1]
    return len(unknown) > 0


@rare_loop
def text_row(assembly: Assembly, encoded: Any) -> int:
    """Return the row of a text."""
    start, size = len(assembly.text), len(encoded)
    assembly.text += encoded
    return append_node(assembly, op.TEXT, start, size, 0, size)


@rare_loop
def sequence_row(assembly: Assembly, parts: Any, pending: Any) -> int:
    """Return the row of parts in order, or UNKNOWN_ROW."""
    if push_unknown(assembly, parts, pending):
        return UNKNOWN_ROW
    start = assembly.operand_count
    for part in parts:
        append_operand(assembly, assembly.rows[id(part)])
        append_operand(assembly, 0)
    return append_node(assembly, op.SEQUENCE, start, len(parts), 0, FAR)


@rare_loop
def choice_row(assembly: Assembly, options: Any, pending: Any) -> int:
    """Return the row of a choice, or UNKNOWN_ROW."""
    if push_unknown(assembly, options, pending):
        return UNKNOWN_ROW
    start = assembly.operand_count
    for option in options:
        append_operand(assembly, assembly.rows[id(option)])
    return append_node(assembly, op.CHOICE, start, len(options), 0, FAR)


@rare_loop
def repeat_row(assembly: Assembly, pattern: Any, pending: Any) -> int:
    """Return the row of a repetition, or UNKNOWN_ROW."""
    if push_unknown(assembly, (pattern.item,), pending):
        return UNKNOWN_ROW
    most = UNLIMITED if pattern.maximum is None else min(pattern.maximum, FAR)
    return append_node(assembly, op.REPEAT, assembly.rows[id(pattern.item)], min(pattern.minimum, FAR), most, FAR)


@rare_loop
def members_row(assembly: Assembly, pattern: Any, pending: Any) -> int:
    """Return the row of the members of an object, or UNKNOWN_ROW."""
    parts = [member for member, _ in pattern.members]
    parts.append(pattern.separator)
    if pattern.other_member is not None:
        parts.append(pattern.other_member)
    if push_unknown(assembly, parts, pending):
        return UNKNOWN_ROW
    start = assembly.operand_count
    for member, is_required in pattern.members:
        append_operand(assembly, assembly.rows[id(member)])
        append_operand(assembly, 1 if is_required else 0)
        append_operand(assembly, 0)
        append_operand(assembly, 0)
    more = assembly.operand_count
    append_operand(assembly, assembly.rows[id(pattern.separator)])
    append_operand(assembly, -1 if pattern.other_member is None else assembly.rows[id(pattern.other_member)])
    append_operand(assembly, 0)
    append_operand(assembly, 0)
    operation = op.MEMBERS if pattern.in_order else op.PERMUTATION
    return append_node(assembly, operation, start, len(pattern.members), more, FAR)
