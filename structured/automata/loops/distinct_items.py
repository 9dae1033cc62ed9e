"""Items that must all differ (`uniqueItems`): the written items are on the stack, above the frame after the array.

The fields of their frames, `node, FIRST, SECOND, tail`, after `["b","a","c` with no other items before:

    DISTINCT, -1, 0, frame after the array              the start of the array
    DISTINCT, text `"a"`, 1, frame above this line      a written item, and the number of items up to it
    DISTINCT, text `"b"`, 2, frame above this line      the greatest text is on top: one set of items is one stack
    ITEM, state of any item, text `"c`, frame above     the item that is being read

The state of any item is one of the same machine that has read `"c` of the pattern of the items, with nothing after the
item. So the states of items are made once for all sets of written items.

A text is a stack of frames too, `ITEM, its last byte, its number of bytes, the text before that byte`, on FINISHED, the
empty text. Equal texts are one number.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.frames import arguments_of, distinct_length, find_frame, frame_fields, intern_frame, push
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import MORE_SCRATCH, NEEDS_STATE, Machine
from structured.automata.opcodes import FAR, UNLIMITED

ITEM_START, ANY_TEXT = -1, -2
"""Values of `FIRST` in two more kinds of frames of ITEM. ITEM_START, on FINISHED, has the state before any item in
`KEPT_STATE`. ANY_TEXT, on FINISHED, is a placeholder for any text that is not written; on written items, it has in
`KEPT_STATE` the state after these and such a text."""

KEPT_STATE = op.FIRST_LEAF
"""The column for the state of a frame of ITEM_START or ANY_TEXT, -1 until it is made."""

MEASURED_ROUND, WRITTEN_ROUND, PREFIX_ROUND = op.FIRST_LEAF, op.LEAF_COUNT, op.LAST_ROUND
"""The columns for rounds of a text: the last in which `item_length` was computed after it, the last in which it was
marked as written, and the last in which it was marked as a prefix of a written item."""


@compiled_loop
def request_state(machine: Machine, state: int, byte: int) -> int:
    """Request the successor of a state on a byte, or its whole row for -1, and return the code for that."""
    machine.registers[op.REQUESTED_STATE], machine.registers[op.REQUESTED_BYTE] = state, byte
    return NEEDS_STATE


@compiled_loop
def first_state(machine: Machine, item: int) -> int:
    """Return the state before any item, or a code."""
    start = intern_frame(machine, item, ITEM_START, 0, op.FINISHED)
    state = start if start < 0 else int(machine.frames[start, KEPT_STATE])
    return request_state(machine, -1 - item, -1) if state == -1 else state


@compiled_loop
def text_with(machine: Machine, item: int, text: int, byte: int) -> int:
    """Return a text with one more byte, or a code."""
    return intern_frame(machine, item, byte, int(machine.frames[text, op.SECOND]) + 1, text)


@compiled_loop
def known_text(machine: Machine, item: int, text: int, byte: int) -> int:
    """Return a text with one more byte; DEAD if that text has not been made, so that no written item begins with it."""
    return find_frame(machine, item, byte, int(machine.frames[text, op.SECOND]) + 1, text)


@compiled_loop
def prefix_of(machine: Machine, text: int, count: int) -> int:
    """Return the text of the first `count` bytes of a text."""
    while machine.frames[text, op.SECOND] > count:
        text = int(machine.frames[text, op.TAIL])
    return text


@compiled_loop
def mark_written(machine: Machine, written: int) -> int:
    """Mark the written items with a new round in `WRITTEN_ROUND`, and all their prefixes in `PREFIX_ROUND`.

    Returns the round. The marks stay until the items of another stack are marked.
    """
    if machine.registers[op.MARKED_ITEMS] == written:
        return int(machine.registers[op.MARKING_ROUND])
    machine.registers[op.ROUND] += 1
    this_round = int(machine.registers[op.ROUND])
    machine.registers[op.MARKED_ITEMS], machine.registers[op.MARKING_ROUND] = written, this_round
    while machine.frames[written, op.FIRST] >= 0:
        text = int(machine.frames[written, op.FIRST])
        machine.frames[text, WRITTEN_ROUND] = this_round
        while text != op.FINISHED and machine.frames[text, PREFIX_ROUND] != this_round:
            machine.frames[text, PREFIX_ROUND] = this_round
            text = int(machine.frames[text, op.TAIL])
        written = int(machine.frames[written, op.TAIL])
    return this_round


@compiled_loop
def is_written(machine: Machine, text: int, written: int) -> bool:
    """Tell whether a text is that of a written item."""
    this_round = mark_written(machine, written)
    return bool(text != op.FINISHED and machine.frames[text, WRITTEN_ROUND] == this_round)


@compiled_loop
def item_with_prefix(machine: Machine, text: int, written: int) -> int:
    """Return the uppermost frame of a written item that begins with a text, FINISHED if there is none."""
    while machine.frames[written, op.FIRST] >= 0:
        if prefix_of(machine, int(machine.frames[written, op.FIRST]), int(machine.frames[text, op.SECOND])) == text:
            return written
        written = int(machine.frames[written, op.TAIL])
    return op.FINISHED


@compiled_loop
def item_length(machine: Machine, item: int, state: int, text: int, written: int, best: int) -> int:
    """Return the bytes to the nearest end of an item that ends at once or differs from all others at the next byte.

    `["ab","a` → 1: the item `"a"` differs from `"ab"` at the next byte. Returns `best` if that is not greater. The row
    of the state must be known.
    """
    this_round = mark_written(machine, written)
    if machine.distances[state] == 0 and not is_written(machine, text, written):
        return 0
    for byte in range(ROW_COMPLETE):
        successor = int(machine.table[state, byte])
        if successor != DEAD and 1 + machine.distances[successor] < best:
            longer = known_text(machine, item, text, byte)
            if longer < 0 or machine.frames[longer, PREFIX_ROUND] != this_round:
                best = 1 + int(machine.distances[successor])
                if best == machine.distances[state]:
                    break
    return best


@compiled_loop
def length_along(machine: Machine, item: int, state: int, text: int, other: int, written: int, best: int) -> int:
    """Return the bytes to the nearest end of an item that goes on as `other`, the text of a written one, then differs.

    `best` if that is not greater; or a code. What follows the text itself, and texts already passed in this round, is
    not considered again.
    """
    size = int(machine.frames[text, op.SECOND])
    for read in range(int(machine.frames[other, op.SECOND]) - size + 1):
        if read > 0:
            text = prefix_of(machine, other, size + read)
            state = int(machine.table[state, machine.frames[text, op.FIRST]])
        if read + machine.distances[state] >= best:
            break
        if machine.table[state, ROW_COMPLETE] == UNKNOWN:
            return request_state(machine, state, -1)
        if read > 0 and machine.frames[text, MEASURED_ROUND] != machine.registers[op.ROUND]:
            best = read + item_length(machine, item, state, text, written, best - read)
            machine.frames[text, MEASURED_ROUND] = machine.registers[op.ROUND]
    return best


@compiled_loop
def unique_item_length(machine: Machine, item: int, state: int, text: int, written: int) -> int:
    """Return the bytes to the nearest end at which an item differs from all written ones; FAR if none; or a code.

    `[1,1` → 1, since `1` is written and `10` is not. Only written items that begin with the text of the item can make
    that more than the distance of `state`, the state of any item.
    """
    this_round = mark_written(machine, written)
    if text == op.FINISHED:
        if machine.frames[written, op.FIRST] < 0:
            return int(machine.distances[state])
    elif machine.frames[text, PREFIX_ROUND] != this_round:
        return int(machine.distances[state])
    if machine.table[state, ROW_COMPLETE] == UNKNOWN:
        return request_state(machine, state, -1)
    best = item_length(machine, item, state, text, written, FAR)
    other = op.FINISHED if best == machine.distances[state] else item_with_prefix(machine, text, written)
    machine.registers[op.ROUND] += 1
    while other != op.FINISHED and best > machine.distances[state]:
        best = length_along(machine, item, state, text, int(machine.frames[other, op.FIRST]), written, best)
        if best < 0:
            return best
        other = item_with_prefix(machine, text, int(machine.frames[other, op.TAIL]))
    return best


@compiled_loop
def length_after_item(machine: Machine, item: int, written: int) -> int:
    """Return the bytes of the shortest completion after the item that is being read, written items aside."""
    _, _, count, _ = frame_fields(machine, written)
    return distinct_length(machine, item, count + 1) + int(machine.frames[written, op.DISTANCE])


@compiled_loop
def item_frame(machine: Machine, item: int, state: int, text: int, written: int) -> int:
    """Return the frame of an item that is read; DEAD if it can only become a written item; or a code."""
    if text < 0 or written < 0:
        return min(text, written)
    current = find_frame(machine, item, state, text, written)
    if current < 0:
        length = unique_item_length(machine, item, state, text, written)
        if length < 0:
            return length
        current = intern_frame(machine, item, state, text, written)
        if current < 0:
            return current
        machine.frames[current, op.DISTANCE] = min(length + length_after_item(machine, item, written), FAR)
    return current if machine.frames[current, op.DISTANCE] < FAR else DEAD


@compiled_loop
def item_after(machine: Machine, leaf: int, byte: int) -> int:
    """Return the frame of an item after one more byte, DEAD, or a code."""
    item, state, text, written = frame_fields(machine, leaf)
    successor = int(machine.table[state, byte])
    if successor < 0:
        return DEAD if successor == DEAD else request_state(machine, state, byte)
    return item_frame(machine, item, successor, text_with(machine, item, text, byte), written)


@compiled_loop
def insert_written(machine: Machine, depth: int, number: int, written: int) -> int:
    """Return the sorted stack of written items or members with one more, told by its number; or a code.

    3 into `5 2` → `5 3 2`. The greater numbers are kept in `scratch[depth:]` meanwhile.
    """
    node, end, current = int(machine.frames[written, op.NODE]), depth, written
    while machine.frames[current, op.FIRST] > number:
        machine.scratch[end] = machine.frames[current, op.FIRST]
        end += 1
        current = int(machine.frames[current, op.TAIL])
    count = int(machine.frames[current, op.SECOND]) + 1
    current = intern_frame(machine, node, number, count, current)
    while end > depth:
        end -= 1
        count += 1
        current = intern_frame(machine, node, int(machine.scratch[end]), count, current)
    return current


@compiled_loop
def with_any_text(machine: Machine, item: int, written: int) -> int:
    """Return the stack of written items with one more, a placeholder for any text; or a code."""
    if machine.frames[written, op.SECOND] > len(machine.scratch):
        return MORE_SCRATCH
    any_text = intern_frame(machine, item, ANY_TEXT, 0, op.FINISHED)
    return any_text if any_text < 0 else insert_written(machine, 0, any_text, written)


@compiled_loop
def unfold_item(machine: Machine, depth: int, leaf: int) -> int:
    """Write the frame after an item to `scratch[depth]` if the item may end here; return the number of frames."""
    _, state, text, written = frame_fields(machine, leaf)
    if machine.distances[state] > 0 or is_written(machine, text, written):
        return 0
    machine.scratch[depth] = insert_written(machine, depth, text, written)
    return 1


@compiled_loop
def unfold_distinct(machine: Machine, depth: int, written: int) -> int:
    """Write the frame after the array, and that of one more item, to `scratch[depth:]`; return how many there are."""
    node, _, count, _ = frame_fields(machine, written)
    start, item, _ = arguments_of(machine, node)
    max_items, successor_count = int(machine.operands[start + op.MAX_ITEMS]), 0
    if count >= machine.operands[start + op.MIN_ITEMS]:
        array_start = written
        while machine.frames[array_start, op.FIRST] >= 0:
            array_start = int(machine.frames[array_start, op.TAIL])
        machine.scratch[depth] = machine.frames[array_start, op.TAIL]
        successor_count = 1
    if max_items == UNLIMITED or count < max_items:
        state = first_state(machine, item)
        another = state if state < 0 else item_frame(machine, item, state, op.FINISHED, written)
        if count > 0:
            another = push(machine, int(machine.operands[start + op.SEPARATOR]), another)
        if another != DEAD:
            machine.scratch[depth + successor_count] = another
            successor_count += 1
    return successor_count
