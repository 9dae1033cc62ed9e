"""States that replace others in walks: the same tokens may follow, and many states have the same replacement.

A replacement has no counters that a token cannot exhaust, or no text of an outer item.
"""

from structured.automata import opcodes as op
from structured.automata.loops.distinct_items import item_frame, item_with_prefix, with_any_text
from structured.automata.loops.frames import frame_fields, intern_frame, operation_of
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_SCRATCH, Machine
from structured.automata.loops.states import add_element, elements_of, intern_state
from structured.automata.loops.string_parts import MAX_HEIGHT, frame_at, lone_item
from structured.automata.loops.string_runs import NONE
from structured.automata.opcodes import FAR, UNLIMITED


@compiled_loop
def is_in_item(machine: Machine, state: int) -> bool:
    """Tell whether a state reads an item that must differ, and no text may end in it."""
    in_item = False
    for leaf in elements_of(machine, state):
        if leaf == op.FINISHED:
            return False
        in_item = in_item or operation_of(machine, leaf) == op.ITEM
    return in_item


@compiled_loop
def put_on_stack(machine: Machine, leaf: int, stack: int) -> int:
    """Return the frames of a leaf with `stack` in place of FINISHED; NONE if a union is among them; or a code."""
    height, current = 0, leaf
    while current != op.FINISHED:
        if operation_of(machine, current) == op.UNION:
            return NONE
        if height == len(machine.scratch):
            return MORE_SCRATCH
        machine.scratch[height] = current
        height += 1
        current = int(machine.frames[current, op.TAIL])
    while height > 0 and stack >= 0:
        height -= 1
        node, first, second, _ = frame_fields(machine, int(machine.scratch[height]))
        if machine.nodes[node, op.OPERATION] == op.ITEM:
            stack = item_frame(machine, node, first, second, stack)
        else:
            stack = intern_frame(machine, node, first, second, stack)
    return stack


@compiled_entry
def find_inner_item(machine: Machine, state: int) -> int:
    """Return the state of an inner item with a placeholder, ANY_TEXT, as the outer item, or a code.

    In `[["a","b`, the outer item is `["a","b`, the inner one `"b`. A state in no inner item is returned unchanged.
    """
    leaf = lone_item(machine, state)
    if leaf < 0 or not is_in_item(machine, int(machine.frames[leaf, op.FIRST])):
        return state
    item, item_state, _, written = frame_fields(machine, leaf)
    stack = with_any_text(machine, item, written)
    for inner_leaf in elements_of(machine, item_state):  # makes all frames first, since that begins new rounds
        top = stack if stack < 0 else put_on_stack(machine, int(inner_leaf), stack)
        if top < 0:
            return state if top == NONE else top
    machine.registers[op.ROUND] += 1
    count = 0
    for inner_leaf in elements_of(machine, item_state):
        count = add_element(machine, count, put_on_stack(machine, int(inner_leaf), stack))
    return intern_state(machine, count)


@compiled_entry
def find_written_suffix(machine: Machine, state: int, last: int, suffix: Ints) -> int:
    """Write what the next written item has after the text of a state's item, with which it begins, to `suffix`.

    `"abc"` after `"ab` → `[2, 'c', '"']`: the number of bytes and, as far as there is room, the bytes. The next item is
    one under the frame `last`; with FINISHED, it is the first. Returns its frame, FINISHED if there is none.
    """
    leaf = int(elements_of(machine, state)[0])
    text = int(machine.frames[leaf, op.SECOND])
    written = int(machine.frames[leaf if last == op.FINISHED else last, op.TAIL])
    item = item_with_prefix(machine, text, written)
    if item != op.FINISHED:
        item_text, size = int(machine.frames[item, op.FIRST]), int(machine.frames[text, op.SECOND])
        suffix[0] = machine.frames[item_text, op.SECOND] - size
        while machine.frames[item_text, op.SECOND] > size:
            position = int(machine.frames[item_text, op.SECOND]) - size
            if position < len(suffix):
                suffix[position] = machine.frames[item_text, op.FIRST]
            item_text = int(machine.frames[item_text, op.TAIL])
    return item


@compiled_loop
def max_characters_needed(machine: Machine, node: int) -> int:
    """Return the most characters that a state of an automaton over characters needs to its end."""
    start, max_characters = int(machine.nodes[node, op.A]), 0
    for row in range(start, start + 6 * int(machine.nodes[node, op.B]), 6):
        if machine.operands[row + 3] < FAR:
            max_characters = max(max_characters, int(machine.operands[row + 3]))
    return max_characters


@compiled_loop
def second_without_count(machine: Machine, current: int, length: int) -> int:
    """Return `SECOND` of a frame, or UNLIMITED if it is a counter that `length` bytes cannot exhaust."""
    node, _, second, _ = frame_fields(machine, current)
    if machine.nodes[node, op.OPERATION] == op.REPEAT:
        item = max(int(machine.nodes[machine.nodes[node, op.A], op.SHORTEST]), 1)
        return UNLIMITED if second > length // item + 1 else second
    if machine.nodes[node, op.OPERATION] == op.SCAN and second > length:
        return UNLIMITED if second - length > max_characters_needed(machine, node) else second
    return second


@compiled_loop
def without_counts(machine: Machine, leaf: int, length: int) -> int:
    """Return a frame without counters that `length` bytes cannot exhaust; NONE if its stack is too high; or a code."""
    height, top = 0, leaf
    while top != op.FINISHED:
        height, top = height + 1, int(machine.frames[top, op.TAIL])
        if height > MAX_HEIGHT:
            return NONE
    for depth in range(height - 1, -1, -1):
        current = frame_at(machine, leaf, depth)
        node, first = int(machine.frames[current, op.NODE]), int(machine.frames[current, op.FIRST])
        top = intern_frame(machine, node, first, second_without_count(machine, current, length), top)
    return top


@compiled_entry
def find_without_counters(machine: Machine, state: int, length: int) -> int:
    """Return a state without counters after which the same texts of at most `length` bytes may follow, or a code.

    A state with high stacks is returned unchanged.
    """
    machine.registers[op.ROUND] += 1
    count = 0
    for leaf in elements_of(machine, state):
        top = without_counts(machine, int(leaf), length)
        if top == NONE:
            return state
        count = add_element(machine, count, top)
    return intern_state(machine, count)
