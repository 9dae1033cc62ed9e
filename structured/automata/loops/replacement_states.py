"""States that replace others in walks: the same tokens may follow, and many states have the same replacement.

A replacement has no counters that a token cannot exhaust, or no text of an outer item.
"""

from structured.automata import opcodes as op
from structured.automata.loops.distinct_items import item_frame, item_with_prefix, with_any_text
from structured.automata.loops.frames import frame, operation_of
from structured.automata.loops.machine import Machine, grow_scratch
from structured.automata.loops.state_table import add_element, begin_elements, check_state
from structured.automata.loops.states import state_of_elements
from structured.automata.loops.string_parts import MAX_HEIGHT, frame_at, lone_item
from structured.automata.loops.string_runs import NONE
from structured.automata.opcodes import FAR, UNLIMITED
from structured.machine_code.notation import Ints, entry, loop


@loop
def is_in_item(machine: Machine, state: int) -> bool:
    """Tell whether a state reads an item that must differ, and no text may end in it."""
    in_item = False
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if leaf == op.FINISHED:
            return False
        in_item = in_item or operation_of(machine, leaf) == op.ITEM
    return in_item


@loop
def put_on_stack(machine: Machine, leaf: int, stack: int) -> int:
    """Return the frames of a leaf with `stack` in place of FINISHED; NONE if a union is among them, or for no text."""
    height, current = 0, leaf
    while current != op.FINISHED:
        if operation_of(machine, current) == op.UNION:
            return NONE
        if height == len(machine.scratch):
            grow_scratch(machine, height)
        machine.scratch[height] = current
        height += 1
        current = machine.frames[current].tail
    while height > 0 and stack >= 0:
        height -= 1
        top = machine.scratch[height]
        node, first, second = machine.frames[top].node, machine.frames[top].first, machine.frames[top].second
        if machine.nodes[node].operation == op.ITEM:
            stack = item_frame(machine, node, first, second, stack)
        else:
            stack = frame(machine, node, first, second, stack)
    return stack


@entry
def find_inner_item(machine: Machine, state: int) -> int:
    """Return the state of an inner item with a placeholder, ANY_TEXT, as the outer item.

    In `[["a","b`, the outer item is `["a","b`, the inner one `"b`. A state in no inner item is returned unchanged.
    """
    check_state(machine.states, state)
    leaf = lone_item(machine, state)
    if leaf < 0 or not is_in_item(machine, machine.frames[leaf].first):
        return state
    item_state = machine.frames[leaf].first
    stack = with_any_text(machine, machine.frames[leaf].node, machine.frames[leaf].tail)
    start = machine.states.rows[item_state].first_element
    end = start + machine.states.rows[item_state].element_count
    for element in range(start, end):  # makes all frames first, since that begins new rounds
        if put_on_stack(machine, machine.states.elements[element], stack) == NONE:
            return state
    begin_elements(machine.states)
    for element in range(start, end):
        add_element(machine.states, put_on_stack(machine, machine.states.elements[element], stack))
    return state_of_elements(machine)


@entry
def find_written_suffix(machine: Machine, state: int, last: int, suffix: Ints) -> int:
    """Write what the next written item has after the text of a state's item, with which it begins, to `suffix`.

    `"abc"` after `"ab` → `[2, 'c', '"']`: the number of bytes and, as far as there is room, the bytes. The next item is
    one under the frame `last`; with FINISHED, it is the first. Returns its frame, FINISHED if there is none.
    """
    check_state(machine.states, state)
    leaf = machine.states.elements[machine.states.rows[state].first_element]
    text = machine.frames[leaf].second
    item = item_with_prefix(machine, text, machine.frames[leaf if last == op.FINISHED else last].tail)
    if item != op.FINISHED:
        item_text, size = machine.frames[item].first, machine.frames[text].second
        suffix[0] = machine.frames[item_text].second - size
        while machine.frames[item_text].second > size:
            position = machine.frames[item_text].second - size
            if position < len(suffix):
                suffix[position] = machine.frames[item_text].first
            item_text = machine.frames[item_text].tail
    return item


@loop
def max_characters_needed(machine: Machine, node: int) -> int:
    """Return the most characters that a state of an automaton over characters needs to its end."""
    start, max_characters = machine.nodes[node].a, 0
    for row in range(start, start + 6 * machine.nodes[node].b, 6):
        if machine.operands[row + 3] < FAR:
            max_characters = max(max_characters, machine.operands[row + 3])
    return max_characters


@loop
def second_without_count(machine: Machine, current: int, length: int) -> int:
    """Return `second` of a frame, or UNLIMITED if it is a counter that `length` bytes cannot exhaust."""
    node, second = machine.frames[current].node, machine.frames[current].second
    if machine.nodes[node].operation == op.REPEAT:
        item = max(machine.nodes[machine.nodes[node].a].shortest, 1)
        return UNLIMITED if second > length // item + 1 else second
    if machine.nodes[node].operation == op.SCAN and second > length:
        return UNLIMITED if second - length > max_characters_needed(machine, node) else second
    return second


@loop
def without_counts(machine: Machine, leaf: int, length: int) -> int:
    """Return a frame without counters that `length` bytes cannot exhaust; NONE if its stack is too high."""
    height, top = 0, leaf
    while top != op.FINISHED:
        height, top = height + 1, machine.frames[top].tail
        if height > MAX_HEIGHT:
            return NONE
    for depth in range(height - 1, -1, -1):
        current = frame_at(machine, leaf, depth)
        node, first = machine.frames[current].node, machine.frames[current].first
        top = frame(machine, node, first, second_without_count(machine, current, length), top)
    return top


@entry
def find_without_counters(machine: Machine, state: int, length: int) -> int:
    """Return a state without counters after which the same texts of at most `length` bytes may follow.

    A state with high stacks is returned unchanged.
    """
    check_state(machine.states, state)
    begin_elements(machine.states)
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        top = without_counts(machine, machine.states.elements[element], length)
        if top == NONE:
            return state
        add_element(machine.states, top)
    return state_of_elements(machine)
