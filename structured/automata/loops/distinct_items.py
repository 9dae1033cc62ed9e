"""Items that must all differ (`uniqueItems`): the written items are on the stack, above the frame after the array.

The fields of their frames, `node, first, second, tail`, after `["b","a","c` with no other items before:

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
from structured.automata.loops.frames import distinct_length, frame, push
from structured.automata.loops.machine import Machine, find_frame, grow_scratch, request_state
from structured.automata.opcodes import FAR, UNLIMITED
from structured.machine_code.notation import loop

ITEM_START, ANY_TEXT = -1, -2
"""Values of `first` in two more kinds of frames of ITEM. ITEM_START, on FINISHED, has the state before any item in
`kept_state`. ANY_TEXT, on FINISHED, is a placeholder for any text that is not written; on written items, it has in
`kept_state` the state after these and such a text. The frame of a text has in `measured_round` the last round in which
`item_length` was computed after it, and in `written_round` the last in which it was marked as written; in the rounds of
frames is the last in which it was marked as a prefix of a written item."""


@loop
def first_state(machine: Machine, item: int) -> int:
    """Return the state before any item."""
    start = frame(machine, item, ITEM_START, 0, op.FINISHED)
    state = machine.frames[start].kept_state
    return request_state(machine, -1 - item, -1) if state == -1 else state


@loop
def text_with(machine: Machine, item: int, text: int, byte: int) -> int:
    """Return a text with one more byte."""
    return frame(machine, item, byte, machine.frames[text].second + 1, text)


@loop
def known_text(machine: Machine, item: int, text: int, byte: int) -> int:
    """Return a text with one more byte; DEAD if that text has not been made, so that no written item begins with it."""
    return find_frame(machine, item, byte, machine.frames[text].second + 1, text)


@loop
def prefix_of(machine: Machine, text: int, count: int) -> int:
    """Return the text of the first `count` bytes of a text."""
    while machine.frames[text].second > count:
        text = machine.frames[text].tail
    return text


@loop
def mark_written(machine: Machine, written: int) -> int:
    """Mark the written items with a new round in `written_round`, and all their prefixes with it in the rounds.

    Returns the round. The marks stay until the items of another stack are marked.
    """
    if machine.marked_items == written:
        return machine.marking_round
    machine.states.round += 1
    this_round = machine.states.round
    machine.marked_items, machine.marking_round = written, this_round
    while machine.frames[written].first >= 0:
        text = machine.frames[written].first
        machine.frames[text].written_round = this_round
        while text != op.FINISHED and machine.states.rounds[text] != this_round:
            machine.states.rounds[text] = this_round
            text = machine.frames[text].tail
        written = machine.frames[written].tail
    return this_round


@loop
def is_written(machine: Machine, text: int, written: int) -> bool:
    """Tell whether a text is that of a written item."""
    this_round = mark_written(machine, written)
    return text != op.FINISHED and machine.frames[text].written_round == this_round


@loop
def item_with_prefix(machine: Machine, text: int, written: int) -> int:
    """Return the uppermost frame of a written item that begins with a text, FINISHED if there is none."""
    while machine.frames[written].first >= 0:
        if prefix_of(machine, machine.frames[written].first, machine.frames[text].second) == text:
            return written
        written = machine.frames[written].tail
    return op.FINISHED


@loop
def item_length(machine: Machine, item: int, state: int, text: int, written: int, best: int) -> int:
    """Return the bytes to the nearest end of an item that ends at once or differs from all others at the next byte.

    `["ab","a` → 1: the item `"a"` differs from `"ab"` at the next byte. Returns `best` if that is not greater. The row
    of the state must be known.
    """
    this_round = mark_written(machine, written)
    distance = machine.states.distances[state]
    if distance == 0 and not is_written(machine, text, written):
        return 0
    for byte in range(ROW_COMPLETE):
        successor = machine.states.table[state, byte]
        if successor != DEAD and 1 + machine.states.distances[successor] < best:
            longer = known_text(machine, item, text, byte)
            if longer < 0 or machine.states.rounds[longer] != this_round:
                best = 1 + machine.states.distances[successor]
                if best == distance:
                    break
    return best


@loop
def length_along(machine: Machine, item: int, state: int, text: int, other: int, written: int, best: int) -> int:
    """Return the bytes to the nearest end of an item that goes on as `other`, the text of a written one, then differs.

    `best` if that is not greater. What follows the text itself, and texts already passed in this round, is not
    considered again.
    """
    size = machine.frames[text].second
    for read in range(machine.frames[other].second - size + 1):
        if read > 0:
            text = prefix_of(machine, other, size + read)
            state = machine.states.table[state, machine.frames[text].first]
        if read + machine.states.distances[state] >= best:
            break
        if machine.states.table[state, ROW_COMPLETE] == UNKNOWN:
            return request_state(machine, state, -1)
        if read > 0 and machine.frames[text].measured_round != machine.states.round:
            best = read + item_length(machine, item, state, text, written, best - read)
            machine.frames[text].measured_round = machine.states.round
    return best


@loop
def unique_item_length(machine: Machine, item: int, state: int, text: int, written: int) -> int:
    """Return the bytes to the nearest end at which an item differs from all written ones; FAR if there is none.

    `[1,1` → 1, since `1` is written and `10` is not. Only written items that begin with the text of the item can make
    that more than the distance of `state`, the state of any item.
    """
    this_round = mark_written(machine, written)
    distance = machine.states.distances[state]
    if text == op.FINISHED:
        if machine.frames[written].first < 0:
            return distance
    elif machine.states.rounds[text] != this_round:
        return distance
    if machine.states.table[state, ROW_COMPLETE] == UNKNOWN:
        return request_state(machine, state, -1)
    best = item_length(machine, item, state, text, written, FAR)
    other = op.FINISHED if best == distance else item_with_prefix(machine, text, written)
    machine.states.round += 1
    while other != op.FINISHED and best > distance:
        best = length_along(machine, item, state, text, machine.frames[other].first, written, best)
        other = item_with_prefix(machine, text, machine.frames[other].tail)
    return best


@loop
def length_after_item(machine: Machine, item: int, written: int) -> int:
    """Return the bytes of the shortest completion after the item that is being read, written items aside."""
    return distinct_length(machine, item, machine.frames[written].second + 1) + machine.frames[written].distance


@loop
def item_frame(machine: Machine, item: int, state: int, text: int, written: int) -> int:
    """Return the frame of an item that is read; DEAD if it can only become a written item."""
    current = find_frame(machine, item, state, text, written)
    if current < 0:
        length = unique_item_length(machine, item, state, text, written) + length_after_item(machine, item, written)
        current = frame(machine, item, state, text, written)
        machine.frames[current].distance = min(length, FAR)
    return current if machine.frames[current].distance < FAR else DEAD


@loop
def item_after(machine: Machine, leaf: int, byte: int) -> int:
    """Return the frame of an item after one more byte, or DEAD."""
    item, text = machine.frames[leaf].node, machine.frames[leaf].second
    successor = machine.states.table[machine.frames[leaf].first, byte]
    if successor == UNKNOWN:
        return request_state(machine, machine.frames[leaf].first, byte)
    if successor == DEAD:
        return DEAD
    return item_frame(machine, item, successor, text_with(machine, item, text, byte), machine.frames[leaf].tail)


@loop
def insert_written(machine: Machine, depth: int, number: int, written: int) -> int:
    """Return the sorted stack of written items or members with one more, told by its number.

    3 into `5 2` → `5 3 2`. The greater numbers are kept in `scratch[depth:]` meanwhile.
    """
    node, end, current = machine.frames[written].node, depth, written
    while machine.frames[current].first > number:
        machine.scratch[end] = machine.frames[current].first
        end += 1
        current = machine.frames[current].tail
    count = machine.frames[current].second + 1
    current = frame(machine, node, number, count, current)
    while end > depth:
        end -= 1
        count += 1
        current = frame(machine, node, machine.scratch[end], count, current)
    return current


@loop
def with_any_text(machine: Machine, item: int, written: int) -> int:
    """Return the stack of written items with one more, a placeholder for any text."""
    if machine.frames[written].second > len(machine.scratch):
        grow_scratch(machine, machine.frames[written].second)
    return insert_written(machine, 0, frame(machine, item, ANY_TEXT, 0, op.FINISHED), written)


@loop
def unfold_item(machine: Machine, depth: int, leaf: int) -> int:
    """Write the frame after an item to `scratch[depth]` if the item may end here; return the number of frames."""
    text, written = machine.frames[leaf].second, machine.frames[leaf].tail
    if machine.states.distances[machine.frames[leaf].first] > 0 or is_written(machine, text, written):
        return 0
    machine.scratch[depth] = insert_written(machine, depth, text, written)
    return 1


@loop
def unfold_distinct(machine: Machine, depth: int, written: int) -> int:
    """Write the frame after the array, and that of one more item, to `scratch[depth:]`; return how many there are."""
    node, count = machine.frames[written].node, machine.frames[written].second
    start, item = machine.nodes[node].a, machine.nodes[node].b
    max_items, successor_count = machine.operands[start + op.MAX_ITEMS], 0
    if count >= machine.operands[start + op.MIN_ITEMS]:
        array_start = written
        while machine.frames[array_start].first >= 0:
            array_start = machine.frames[array_start].tail
        machine.scratch[depth] = machine.frames[array_start].tail
        successor_count = 1
    if max_items == UNLIMITED or count < max_items:
        another = item_frame(machine, item, first_state(machine, item), op.FINISHED, written)
        if another != DEAD and count > 0:
            another = push(machine, machine.operands[start + op.SEPARATOR], another)
        if another != DEAD:
            machine.scratch[depth + successor_count] = another
            successor_count += 1
    return successor_count
