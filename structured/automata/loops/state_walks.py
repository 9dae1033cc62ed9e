"""Walks of a trie along the regular automaton, whose states they make.

Inside a quotation, and inside an item that must differ, nearly each byte would make a state that no text reaches again.
There, a walk keeps the progress in its path and makes no states.
"""

import numpy as np

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.distinct_items import (
    ANY_TEXT,
    KEPT_STATE,
    is_written,
    item_frame,
    known_text,
    length_after_item,
    request_state,
    text_with,
    unique_item_length,
    with_any_text,
)
from structured.automata.loops.frames import frame_fields, intern_frame, operation_of
from structured.automata.loops.notation import loop
from structured.automata.loops.machine import DONE, END, LEVEL, MAX_DISTANCE, NEXT, STATE, Machine, TrieArrays
from structured.automata.loops.quoting import byte_at, can_end, first_rank, length_of_first, rule_after
from structured.automata.loops.states import add_element, compare_leaves, elements_of, intern_state, state_of, step
from structured.automata.opcodes import FAR

FIRST_RANK, END_RANK, DEPTH, RULE, CURSOR, OUTER_STATE, UPPER_BOUND = range(3, 10)
"""More columns of a level inside a quotation, where `STATE` is `-frame` of the quotation: the interval of the suffix
array, the depth, the state of the rule; the first rank not passed by the children so far; the state after the
quotation; and an upper bound of the bytes to the end. See `quoting.py`."""

ITEM_STATE, ITEM_TEXT, END_LEVEL = FIRST_RANK, END_RANK, DEPTH
"""The columns of a level inside an item that must differ, or after it, where `STATE` is `-frame` of the item. Inside:
the state of any item, and the text read of this one, DEAD if no written item begins with it. After it: `-1 - s` for the
state `s` after the item, and the level at which the item ended. See `distinct_items.py`."""


@loop
def enter_quotation(machine: Machine, state: int, path: Rows, level: int) -> int:
    """Write the progress of a state in a quotation to `path[level]`; return DONE, or a code.

    Returns DEAD if the state is not that of a single quotation. That level and those of longer tokens then have no
    states, because few places of a document are reached again.
    """
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) == op.QUOTATION:
            code = compare_leaves(machine, state, leaf)
            if code != DONE:
                return code
            _, first, end, lower_frame = frame_fields(machine, leaf)
            _, lower, rule, tail = frame_fields(machine, lower_frame)
            outer_state = state_of(machine, tail)
            if outer_state < 0:
                return outer_state
            machine.levels[level].state, machine.levels[level].outer_state = -leaf, outer_state
            machine.levels[level].first_rank, machine.levels[level].end_rank, machine.levels[level].cursor = first, end, first
            machine.levels[level].depth, machine.levels[level].rule = -1 - lower, rule
            return DONE
    return DEAD


@loop
def read_quoted(machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte inside a quotation: a state, DEAD, or a code.

    UNKNOWN if it is inside the quotation too: its progress is then in `path[level + 1]`. The bytes of one level have to
    come in order.
    """
    leaf = -machine.levels[level].state
    node, tail = machine.frames[leaf].node, machine.frames[machine.frames[leaf].tail].tail
    quotation, end = machine.nodes[node].a, machine.levels[level].end_rank
    depth, rule = machine.levels[level].depth, machine.levels[level].rule
    first = first_rank(machine, quotation, machine.levels[level].cursor, end, depth, byte)
    machine.levels[level].cursor = first
    successor = DEAD
    if first < end and byte_at(machine, quotation, first, depth) == byte:
        last = first_rank(machine, quotation, first, end, depth, byte + 1)
        next_rule = rule_after(machine, quotation, first, depth, rule)
        if next_rule != DEAD:
            length = length_of_first(machine, quotation, first, last, depth + 1, next_rule)
            if length < FAR:
                successor = UNKNOWN
                machine.levels[level + 1].first_rank, machine.levels[level + 1].end_rank, machine.levels[level + 1].cursor = first, last, first
                machine.levels[level + 1].depth, machine.levels[level + 1].rule = depth + 1, next_rule
                machine.levels[level + 1].outer_state = machine.levels[level].outer_state
                machine.levels[level + 1].upper_bound = min(length + machine.frames[tail].distance, FAR)
    outer_successor = step(machine, machine.levels[level].outer_state, byte)
    if outer_successor == DEAD:
        return successor
    if outer_successor < DEAD:
        return outer_successor
    if not can_end(machine, quotation, machine.levels[level].first_rank, end, depth, rule):
        return successor
    if successor == DEAD:
        return outer_successor
    lower_frame = frame(machine, node, -1 - depth, rule, tail)
    state = state_of(machine, frame(machine, node, machine.levels[level].first_rank, end, lower_frame))
    return state if state < 0 else step(machine, state, byte)


@loop
def enter_item(machine: Machine, state: int, path: Rows, level: int) -> int:
    """Write the progress of a state in an item that must differ to `path[level]`; as `enter_quotation`.

    Each text of the item would be a state of its own, so nearly each token would make states.
    """
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) == op.ITEM:
            code = compare_leaves(machine, state, leaf)
            if code == DONE:
                machine.levels[level].state, machine.levels[level].item_state = -leaf, machine.frames[leaf].first
                machine.levels[level].item_text = machine.frames[leaf].second
            return code
    return DEAD


@loop
def other_frames(machine: Machine, state: int) -> int:
    """Return the state of those frames of a state that read no item that must differ; DEAD for none, or a code."""
    machine.states.round += 1
    count = 0
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) != op.ITEM:
            count = add_element(machine, count, leaf)
    return intern_state(machine, count)


@entry
def split(machine: Machine, state: int, part_states: Ints) -> int:
    """Write the states into which a state is split to `part_states`, one for each item that must differ.

    Another one has all other frames. Returns their number, 0 if the state need not be split or has more items than
    there is room for; or a code.
    """
    count = 0
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) == op.ITEM:
            part = state_of(machine, leaf)
            if part < 0 or part == state or count == len(part_states) - 1:
                return min(part, 0)
            part_states[count] = part
            count += 1
    if count == 0:
        return 0
    part_states[count] = other_frames(machine, state)
    return part_states[count] if part_states[count] < DEAD else count + part_states[count] != DEAD


@loop
def read_in_item(machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Write the progress in an item after one more byte to `path[level + 1]`; return UNKNOWN, or DEAD, or a code."""
    state, text = machine.levels[level].item_state, machine.levels[level].item_text
    item, _, _, written = frame_fields(machine, -machine.levels[level].state)
    successor = machine.states.table[state, byte]
    if successor < 0:
        return DEAD if successor == DEAD else request_state(machine, state, -1)
    text = known_text(machine, item, text, byte) if text >= 0 else DEAD
    length = machine.states.distances[successor]
    if text >= 0:
        length = unique_item_length(machine, item, successor, text, written)
    if length < 0 or length >= FAR:
        return length if length < 0 else DEAD
    machine.levels[level + 1].item_state, machine.levels[level + 1].item_text = successor, text
    machine.levels[level + 1].upper_bound = min(length + length_after_item(machine, item, written), FAR)
    return UNKNOWN


@loop
def state_after_any(machine: Machine, leaf: int) -> int:
    """Return the state after any item that differs from the written ones, or a code."""
    item, _, _, written = frame_fields(machine, leaf)
    current = frame(machine, item, ANY_TEXT, 0, written)
    if current < 0 or machine.frames[current].kept_state >= 0:
        return current if current < 0 else machine.frames[current].kept_state
    state = state_of(machine, with_any_text(machine, item, written))
    machine.frames[current].kept_state = max(state, DEAD)
    return state


@loop
def first_level(path: Rows, level: int) -> int:
    """Return the level at which the walk entered the item that `level` is in, or after."""
    while level > 0 and machine.levels[level - 1].state == machine.levels[level].state:
        level -= 1
    return level


@loop
def follow_exactly(trie: TrieArrays, machine: Machine, path: Rows, level: int, end_level: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, made for its text; DEAD, or a code."""
    leaf, first = -machine.levels[level].state, first_level(path, level)
    item, _, text, written = frame_fields(machine, leaf)
    for item_level in range(first, end_level):
        text = text_with(machine, item, text, trie.byte[machine.levels[item_level].next - 1])
        if text < 0:
            return text
    top = item_frame(machine, item, machine.levels[end_level].item_state, text, written)
    state = state_of(machine, top)
    for later_level in range(end_level, level):
        if state >= 0:
            state = step(machine, state, trie.byte[machine.levels[later_level].next - 1])
    return state if state < 0 else step(machine, state, byte)


@loop
def next_item(machine: Machine, current: int) -> int:
    """Return the uppermost frame of a stack that reads an item that must differ or joins stacks; FINISHED for none."""
    while current != op.FINISHED and operation_of(machine, current) not in (op.ITEM, op.UNION):
        current = machine.frames[current].tail
    return current


@loop
def is_right_after_item(machine: Machine, path: Rows, level: int, end_level: int, state: int) -> bool:
    """Tell whether a state after any item has the right distance and successors after the item just read.

    It has until the next item begins, if the shortest next item is not the one just read, as when it is shorter.
    """
    first = first_level(path, level)
    size = machine.frames[machine.frames[-machine.levels[level].state].second].second + end_level - first
    for leaf in elements_of(machine, state):
        current = next_item(machine, leaf)
        if current != op.FINISHED:
            if operation_of(machine, current) == op.UNION:
                return False
            item, _, text, written = frame_fields(machine, current)
            shortest = machine.frames[current].distance - length_after_item(machine, item, written)
            if text != op.FINISHED or size <= shortest:
                return False
    return True


@loop
def read_after_item(trie: TrieArrays, machine: Machine, path: Rows, level: int, end_level: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, as `read_item`."""
    state = -1 - machine.levels[level].item_state
    if end_level == level:
        state = state_after_any(machine, -machine.levels[level].state)
    successor = state if state < 0 else step(machine, state, byte)
    if successor < 0:
        return successor
    item = machine.frames[-machine.levels[level].state].node
    is_inexhaustible = machine.operands[machine.nodes[item].a + op.IS_INEXHAUSTIBLE]
    if not is_inexhaustible or not is_right_after_item(machine, path, level, end_level, successor):
        return follow_exactly(trie, machine, path, level, end_level, byte)
    machine.levels[level + 1].item_state, machine.levels[level + 1].end_level = -1 - successor, end_level
    machine.levels[level + 1].upper_bound = machine.states.distances[successor]
    return UNKNOWN


@loop
def read_item(trie: TrieArrays, machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte inside an item that must differ, or after it: a state, DEAD, or a code.

    UNKNOWN if it is inside or after the item too: its progress is then in `path[level + 1]`.
    """
    state, text = machine.levels[level].item_state, machine.levels[level].item_text
    if state < 0:
        return read_after_item(trie, machine, path, level, machine.levels[level].end_level, byte)
    successor = read_in_item(machine, path, level, byte)
    written = machine.frames[-machine.levels[level].state].tail
    if successor < UNKNOWN or machine.states.distances[state] > 0 or (text >= 0 and is_written(machine, text, written)):
        return successor
    if successor == UNKNOWN:
        state_after = state_after_any(machine, -machine.levels[level].state)
        outer_successor = state_after if state_after < 0 else step(machine, state_after, byte)
        if outer_successor == DEAD:  # as after a digit, where a number goes on or ends
            return successor
        return outer_successor if outer_successor < UNKNOWN else follow_exactly(trie, machine, path, level, level, byte)
    return read_after_item(trie, machine, path, level, level, byte)


@loop
def read_new(trie: TrieArrays, machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte that the table does not have, as `read_quoted` and `read_item`."""
    if machine.levels[level].state >= 0:
        entered = enter_quotation(machine, machine.levels[level].state, path, level) if machine.has_quotations else DEAD
        if entered == DEAD:
            entered = enter_item(machine, machine.levels[level].state, path, level)
        if entered < DEAD:
            return entered
        if entered == DEAD:
            return step(machine, machine.levels[level].state, byte)
    if operation_of(machine, -machine.levels[level].state) == op.ITEM:
        return read_item(trie, machine, path, level, byte)
    return read_quoted(machine, path, level, byte)


@entry
def walk(trie: TrieArrays, machine: Machine, distance_limit: int, path: Rows, mask: Words, progress: Ints) -> int:
    """Walk a trie as `machine.walk` does, making the states that are missing on the way; return DONE or a code.

    Set the bits of the tokens after which at most `distance_limit` bytes are needed. No states are made inside
    quotations and items that must differ; see `enter_quotation` and `enter_item`.
    """
    max_distance = progress[MAX_DISTANCE]
    level = progress[LEVEL]
    state, node, end = machine.levels[level].state, machine.levels[level].next, machine.levels[level].end
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = machine.levels[level].state, machine.levels[level].next, machine.levels[level].end
            continue
        target = UNKNOWN if state < 0 else machine.states.table[state, trie.byte[node]]
        if target == UNKNOWN:
            target = read_new(trie, machine, path, level, trie.byte[node])
            state = machine.levels[level].state
            if target < UNKNOWN:
                machine.levels[level].next, progress[LEVEL], progress[MAX_DISTANCE] = node, level, max_distance
                return target
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            distance = machine.states.distances[target] if target >= 0 else machine.levels[level + 1].upper_bound
            max_distance = max(max_distance, distance)
            token_end = trie.token_start[child + 1] if distance <= distance_limit else 0
            for position in range(trie.token_start[child], token_end):  # `allow_tokens`, without a call for each node
                token_id = trie.token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            machine.levels[level].next = node
            level += 1
            state = target if target >= 0 else state
            node, end = trie.first[child], trie.first[child + 1]
            machine.levels[level].state, machine.levels[level].end = state, end
    progress[MAX_DISTANCE] = max_distance
    return DONE
