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
from structured.automata.loops.jit import Ints, Rows, Words, compiled_entry, compiled_loop
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


@compiled_loop
def enter_quotation(machine: Machine, state: int, path: Rows, level: int) -> int:
    """Write the progress of a state in a quotation to `path[level]`; return DONE, or a code.

    Returns DEAD if the state is not that of a single quotation. That level and those of longer tokens then have no
    states, because few places of a document are reached again.
    """
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) == op.QUOTATION:
            code = compare_leaves(machine, state, int(leaf))
            if code != DONE:
                return code
            _, first, end, lower_frame = frame_fields(machine, leaf)
            _, lower, rule, tail = frame_fields(machine, lower_frame)
            outer_state = state_of(machine, tail)
            if outer_state < 0:
                return outer_state
            path[level, STATE], path[level, OUTER_STATE] = -leaf, outer_state
            path[level, FIRST_RANK], path[level, END_RANK], path[level, CURSOR] = first, end, first
            path[level, DEPTH], path[level, RULE] = -1 - lower, rule
            return DONE
    return DEAD


@compiled_loop
def read_quoted(machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte inside a quotation: a state, DEAD, or a code.

    UNKNOWN if it is inside the quotation too: its progress is then in `path[level + 1]`. The bytes of one level have to
    come in order.
    """
    leaf = -int(path[level, STATE])
    node, tail = int(machine.frames[leaf, op.NODE]), int(machine.frames[machine.frames[leaf, op.TAIL], op.TAIL])
    quotation, end = int(machine.nodes[node, op.A]), int(path[level, END_RANK])
    depth, rule = int(path[level, DEPTH]), int(path[level, RULE])
    first = first_rank(machine, quotation, int(path[level, CURSOR]), end, depth, byte)
    path[level, CURSOR] = first
    successor = DEAD
    if first < end and byte_at(machine, quotation, first, depth) == byte:
        last = first_rank(machine, quotation, first, end, depth, byte + 1)
        next_rule = rule_after(machine, quotation, first, depth, rule)
        if next_rule != DEAD:
            length = length_of_first(machine, quotation, first, last, depth + 1, next_rule)
            if length < FAR:
                successor = UNKNOWN
                path[level + 1, FIRST_RANK], path[level + 1, END_RANK], path[level + 1, CURSOR] = first, last, first
                path[level + 1, DEPTH], path[level + 1, RULE] = depth + 1, next_rule
                path[level + 1, OUTER_STATE] = path[level, OUTER_STATE]
                path[level + 1, UPPER_BOUND] = min(length + int(machine.frames[tail, op.DISTANCE]), FAR)
    outer_successor = step(machine, int(path[level, OUTER_STATE]), byte)
    if outer_successor == DEAD:
        return successor
    if outer_successor < DEAD:
        return outer_successor
    if not can_end(machine, quotation, int(path[level, FIRST_RANK]), end, depth, rule):
        return successor
    if successor == DEAD:
        return outer_successor
    lower_frame = intern_frame(machine, node, -1 - depth, rule, tail)
    state = state_of(machine, intern_frame(machine, node, int(path[level, FIRST_RANK]), end, lower_frame))
    return state if state < 0 else step(machine, state, byte)


@compiled_loop
def enter_item(machine: Machine, state: int, path: Rows, level: int) -> int:
    """Write the progress of a state in an item that must differ to `path[level]`; as `enter_quotation`.

    Each text of the item would be a state of its own, so nearly each token would make states.
    """
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) == op.ITEM:
            code = compare_leaves(machine, state, int(leaf))
            if code == DONE:
                path[level, STATE], path[level, ITEM_STATE] = -leaf, machine.frames[leaf, op.FIRST]
                path[level, ITEM_TEXT] = machine.frames[leaf, op.SECOND]
            return code
    return DEAD


@compiled_loop
def other_frames(machine: Machine, state: int) -> int:
    """Return the state of those frames of a state that read no item that must differ; DEAD for none, or a code."""
    machine.registers[op.ROUND] += 1
    count = 0
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) != op.ITEM:
            count = add_element(machine, count, leaf)
    return intern_state(machine, count)


@compiled_entry
def split(machine: Machine, state: int, part_states: Ints) -> int:
    """Write the states into which a state is split to `part_states`, one for each item that must differ.

    Another one has all other frames. Returns their number, 0 if the state need not be split or has more items than
    there is room for; or a code.
    """
    count = 0
    for leaf in elements_of(machine, state):
        if operation_of(machine, leaf) == op.ITEM:
            part = state_of(machine, int(leaf))
            if part < 0 or part == state or count == len(part_states) - 1:
                return min(part, 0)
            part_states[count] = part
            count += 1
    if count == 0:
        return 0
    part_states[count] = other_frames(machine, state)
    return int(part_states[count]) if part_states[count] < DEAD else count + int(part_states[count] != DEAD)


@compiled_loop
def read_in_item(machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Write the progress in an item after one more byte to `path[level + 1]`; return UNKNOWN, or DEAD, or a code."""
    state, text = int(path[level, ITEM_STATE]), int(path[level, ITEM_TEXT])
    item, _, _, written = frame_fields(machine, -path[level, STATE])
    successor = int(machine.table[state, byte])
    if successor < 0:
        return DEAD if successor == DEAD else request_state(machine, state, -1)
    text = known_text(machine, item, text, byte) if text >= 0 else DEAD
    length = int(machine.distances[successor])
    if text >= 0:
        length = unique_item_length(machine, item, successor, text, written)
    if length < 0 or length >= FAR:
        return length if length < 0 else DEAD
    path[level + 1, ITEM_STATE], path[level + 1, ITEM_TEXT] = successor, text
    path[level + 1, UPPER_BOUND] = min(length + length_after_item(machine, item, written), FAR)
    return UNKNOWN


@compiled_loop
def state_after_any(machine: Machine, leaf: int) -> int:
    """Return the state after any item that differs from the written ones, or a code."""
    item, _, _, written = frame_fields(machine, leaf)
    current = intern_frame(machine, item, ANY_TEXT, 0, written)
    if current < 0 or machine.frames[current, KEPT_STATE] >= 0:
        return current if current < 0 else int(machine.frames[current, KEPT_STATE])
    state = state_of(machine, with_any_text(machine, item, written))
    machine.frames[current, KEPT_STATE] = max(state, DEAD)
    return state


@compiled_loop
def first_level(path: Rows, level: int) -> int:
    """Return the level at which the walk entered the item that `level` is in, or after."""
    while level > 0 and path[level - 1, STATE] == path[level, STATE]:
        level -= 1
    return level


@compiled_loop
def follow_exactly(trie: TrieArrays, machine: Machine, path: Rows, level: int, end_level: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, made for its text; DEAD, or a code."""
    leaf, first = -int(path[level, STATE]), first_level(path, level)
    item, _, text, written = frame_fields(machine, leaf)
    for item_level in range(first, end_level):
        text = text_with(machine, item, text, int(trie.byte[path[item_level, NEXT] - 1]))
        if text < 0:
            return text
    top = item_frame(machine, item, int(path[end_level, ITEM_STATE]), text, written)
    state = state_of(machine, top)
    for later_level in range(end_level, level):
        if state >= 0:
            state = step(machine, state, int(trie.byte[path[later_level, NEXT] - 1]))
    return state if state < 0 else step(machine, state, byte)


@compiled_loop
def next_item(machine: Machine, current: int) -> int:
    """Return the uppermost frame of a stack that reads an item that must differ or joins stacks; FINISHED for none."""
    while current != op.FINISHED and operation_of(machine, current) not in (op.ITEM, op.UNION):
        current = int(machine.frames[current, op.TAIL])
    return current


@compiled_loop
def is_right_after_item(machine: Machine, path: Rows, level: int, end_level: int, state: int) -> bool:
    """Tell whether a state after any item has the right distance and successors after the item just read.

    It has until the next item begins, if the shortest next item is not the one just read, as when it is shorter.
    """
    first = first_level(path, level)
    size = int(machine.frames[machine.frames[-path[level, STATE], op.SECOND], op.SECOND]) + end_level - first
    for leaf in elements_of(machine, state):
        current = next_item(machine, int(leaf))
        if current != op.FINISHED:
            if operation_of(machine, current) == op.UNION:
                return False
            item, _, text, written = frame_fields(machine, current)
            shortest = machine.frames[current, op.DISTANCE] - length_after_item(machine, item, written)
            if text != op.FINISHED or size <= shortest:
                return False
    return True


@compiled_loop
def read_after_item(trie: TrieArrays, machine: Machine, path: Rows, level: int, end_level: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, as `read_item`."""
    state = -1 - int(path[level, ITEM_STATE])
    if end_level == level:
        state = state_after_any(machine, -int(path[level, STATE]))
    successor = state if state < 0 else step(machine, state, byte)
    if successor < 0:
        return successor
    item = int(machine.frames[-path[level, STATE], op.NODE])
    is_inexhaustible = machine.operands[machine.nodes[item, op.A] + op.IS_INEXHAUSTIBLE]
    if not is_inexhaustible or not is_right_after_item(machine, path, level, end_level, successor):
        return follow_exactly(trie, machine, path, level, end_level, byte)
    path[level + 1, ITEM_STATE], path[level + 1, END_LEVEL] = -1 - successor, end_level
    path[level + 1, UPPER_BOUND] = machine.distances[successor]
    return UNKNOWN


@compiled_loop
def read_item(trie: TrieArrays, machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte inside an item that must differ, or after it: a state, DEAD, or a code.

    UNKNOWN if it is inside or after the item too: its progress is then in `path[level + 1]`.
    """
    state, text = int(path[level, ITEM_STATE]), int(path[level, ITEM_TEXT])
    if state < 0:
        return read_after_item(trie, machine, path, level, int(path[level, END_LEVEL]), byte)
    successor = read_in_item(machine, path, level, byte)
    written = int(machine.frames[-path[level, STATE], op.TAIL])
    if successor < UNKNOWN or machine.distances[state] > 0 or (text >= 0 and is_written(machine, text, written)):
        return successor
    if successor == UNKNOWN:
        state_after = state_after_any(machine, -int(path[level, STATE]))
        outer_successor = state_after if state_after < 0 else step(machine, state_after, byte)
        if outer_successor == DEAD:  # as after a digit, where a number goes on or ends
            return successor
        return outer_successor if outer_successor < UNKNOWN else follow_exactly(trie, machine, path, level, level, byte)
    return read_after_item(trie, machine, path, level, level, byte)


@compiled_loop
def read_new(trie: TrieArrays, machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte that the table does not have, as `read_quoted` and `read_item`."""
    if path[level, STATE] >= 0:
        entered = enter_quotation(machine, int(path[level, STATE]), path, level) if machine.has_quotations else DEAD
        if entered == DEAD:
            entered = enter_item(machine, int(path[level, STATE]), path, level)
        if entered < DEAD:
            return entered
        if entered == DEAD:
            return step(machine, int(path[level, STATE]), byte)
    if operation_of(machine, -path[level, STATE]) == op.ITEM:
        return read_item(trie, machine, path, level, byte)
    return read_quoted(machine, path, level, byte)


@compiled_entry
def walk(trie: TrieArrays, machine: Machine, distance_limit: int, path: Rows, mask: Words, progress: Ints) -> int:
    """Walk a trie as `machine.walk` does, making the states that are missing on the way; return DONE or a code.

    Set the bits of the tokens after which at most `distance_limit` bytes are needed. No states are made inside
    quotations and items that must differ; see `enter_quotation` and `enter_item`.
    """
    max_distance = int(progress[MAX_DISTANCE])
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        target = UNKNOWN if state < 0 else int(machine.table[state, trie.byte[node]])
        if target == UNKNOWN:
            target = read_new(trie, machine, path, level, int(trie.byte[node]))
            state = int(path[level, STATE])
            if target < UNKNOWN:
                path[level, NEXT], progress[LEVEL], progress[MAX_DISTANCE] = node, level, max_distance
                return target
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            distance = int(machine.distances[target]) if target >= 0 else int(path[level + 1, UPPER_BOUND])
            max_distance = max(max_distance, distance)
            token_end = trie.token_start[child + 1] if distance <= distance_limit else 0
            for position in range(trie.token_start[child], token_end):  # `allow_tokens`, without a call for each node
                token_id = trie.token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state = target if target >= 0 else state
            node, end = int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE], path[level, END] = state, end
    progress[MAX_DISTANCE] = max_distance
    return DONE
