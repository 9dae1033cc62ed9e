"""Walks of a trie along the regular automaton, whose states they make.

Inside a quotation, and inside an item that must differ, nearly each byte would make a state that no text reaches again.
There, a walk keeps the progress in its levels and makes no states; see `Level`.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.distinct_items import (
    ANY_TEXT,
    is_written,
    item_frame,
    known_text,
    length_after_item,
    text_with,
    unique_item_length,
    with_any_text,
)
from structured.automata.loops.frames import frame, operation_of
from structured.automata.loops.machine import Machine, grow_levels, request_state
from structured.automata.loops.quoting import byte_at, can_end, first_rank, length_of_first, rule_after
from structured.automata.loops.state_table import add_element, begin_elements, check_state
from structured.automata.loops.states import is_state_of, state_of, state_of_elements, step
from structured.automata.opcodes import FAR
from structured.machine_code.notation import Ints, Words, entry, loop, walk_entry
from structured.vocabulary.trie import TrieArrays, check_mask


@loop
def enter_quotation(machine: Machine, state: int, level: int) -> bool:
    """Write the progress of a state in a quotation to a level; False if the state is not that of a single quotation.

    That level and those of longer tokens then have no states, because few places of a document are reached again.
    """
    start = machine.states.rows[state].first_element
    for element in range(start, start + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if operation_of(machine, leaf) == op.QUOTATION:
            if not is_state_of(machine, state, leaf):
                return False
            lower_frame, first = machine.frames[leaf].tail, machine.frames[leaf].first
            outer_state = state_of(machine, machine.frames[lower_frame].tail)
            machine.levels[level].state, machine.levels[level].outer_state = -leaf, outer_state
            machine.levels[level].first_rank, machine.levels[level].cursor = first, first
            machine.levels[level].end_rank = machine.frames[leaf].second
            machine.levels[level].depth = -1 - machine.frames[lower_frame].first
            machine.levels[level].rule = machine.frames[lower_frame].second
            return True
    return False


@loop
def read_quoted(machine: Machine, level: int, byte: int) -> int:
    """Return the successor by a byte inside a quotation: a state, or DEAD.

    UNKNOWN if it is inside the quotation too: its progress is then in the next level. The bytes of one level have to
    come in order.
    """
    leaf = -machine.levels[level].state
    node, tail = machine.frames[leaf].node, machine.frames[machine.frames[leaf].tail].tail
    quotation, start, end = machine.nodes[node].a, machine.levels[level].first_rank, machine.levels[level].end_rank
    depth, rule = machine.levels[level].depth, machine.levels[level].rule
    first = first_rank(machine, quotation, machine.levels[level].cursor, end, depth, byte)
    machine.levels[level].cursor = first
    successor = DEAD
    if first < end and byte_at(machine, quotation, first, depth) == byte:
        last = first_rank(machine, quotation, first, end, depth, byte + 1)
        next_rule = rule_after(machine, quotation, first, depth, rule)
        length = FAR
        if next_rule != DEAD:
            length = length_of_first(machine, quotation, first, last, depth + 1, next_rule)
        if length < FAR:
            successor = UNKNOWN
            machine.levels[level + 1].first_rank, machine.levels[level + 1].end_rank = first, last
            machine.levels[level + 1].cursor, machine.levels[level + 1].rule = first, next_rule
            machine.levels[level + 1].depth = depth + 1
            machine.levels[level + 1].outer_state = machine.levels[level].outer_state
            machine.levels[level + 1].upper_bound = min(length + machine.frames[tail].distance, FAR)
    outer_successor = step(machine, machine.levels[level].outer_state, byte)
    if outer_successor == DEAD or not can_end(machine, quotation, start, end, depth, rule):
        return successor
    if successor == DEAD:
        return outer_successor
    lower_frame = frame(machine, node, -1 - depth, rule, tail)
    return step(machine, state_of(machine, frame(machine, node, start, end, lower_frame)), byte)


@loop
def enter_item(machine: Machine, state: int, level: int) -> bool:
    """Write the progress of a state in an item that must differ to a level; as `enter_quotation`.

    Each text of the item would be a state of its own, so nearly each token would make states.
    """
    start = machine.states.rows[state].first_element
    for element in range(start, start + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if operation_of(machine, leaf) == op.ITEM:
            if not is_state_of(machine, state, leaf):
                return False
            machine.levels[level].state, machine.levels[level].item_state = -leaf, machine.frames[leaf].first
            machine.levels[level].item_text = machine.frames[leaf].second
            return True
    return False


@loop
def other_frames(machine: Machine, state: int) -> int:
    """Return the state of those frames of a state that read no item that must differ; DEAD for none."""
    begin_elements(machine.states)
    start = machine.states.rows[state].first_element
    for element in range(start, start + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if operation_of(machine, leaf) != op.ITEM:
            add_element(machine.states, leaf)
    return state_of_elements(machine)


@entry
def split_by_items(machine: Machine, state: int, part_states: Ints) -> int:
    """Write the states into which a state is split to `part_states`, one for each item that must differ.

    Another one has all other frames. Returns their number, 0 if the state need not be split or has more items than
    there is room for.
    """
    check_state(machine.states, state)
    count = 0
    start = machine.states.rows[state].first_element
    for element in range(start, start + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if operation_of(machine, leaf) == op.ITEM:
            part = state_of(machine, leaf)
            if part == state or count == len(part_states) - 1:
                return 0
            part_states[count] = part
            count += 1
    if count > 0:
        part_states[count] = other_frames(machine, state)
        count += part_states[count] != DEAD
    return count


@loop
def read_in_item(machine: Machine, level: int, byte: int) -> int:
    """Write the progress in an item after one more byte to the next level; return UNKNOWN, or DEAD."""
    state, text = machine.levels[level].item_state, machine.levels[level].item_text
    leaf = -machine.levels[level].state
    item, written = machine.frames[leaf].node, machine.frames[leaf].tail
    successor = machine.states.table[state, byte]
    if successor == UNKNOWN:
        return request_state(machine, state, -1)
    if successor == DEAD:
        return DEAD
    text = known_text(machine, item, text, byte) if text >= 0 else DEAD
    length = machine.states.distances[successor]
    if text >= 0:
        length = unique_item_length(machine, item, successor, text, written)
    if length >= FAR:
        return DEAD
    machine.levels[level + 1].item_state, machine.levels[level + 1].item_text = successor, text
    machine.levels[level + 1].upper_bound = min(length + length_after_item(machine, item, written), FAR)
    return UNKNOWN


@loop
def state_after_any_item(machine: Machine, leaf: int) -> int:
    """Return the state after any item that differs from the written ones."""
    item, written = machine.frames[leaf].node, machine.frames[leaf].tail
    current = frame(machine, item, ANY_TEXT, 0, written)
    if machine.frames[current].kept_state < 0:
        state = state_of(machine, with_any_text(machine, item, written))
        machine.frames[current].kept_state = state
    return machine.frames[current].kept_state


@loop
def first_level(machine: Machine, level: int) -> int:
    """Return the level at which the walk entered the item that `level` is in, or after."""
    while level > 0 and machine.levels[level - 1].state == machine.levels[level].state:
        level -= 1
    return level


@loop
def follow_exactly(machine: Machine, trie: TrieArrays, level: int, end_level: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, made for its text, or DEAD."""
    leaf, first = -machine.levels[level].state, first_level(machine, level)
    item, text, written = machine.frames[leaf].node, machine.frames[leaf].second, machine.frames[leaf].tail
    for item_level in range(first, end_level):
        text = text_with(machine, item, text, trie.byte[machine.levels[item_level].next - 1])
    state = state_of(machine, item_frame(machine, item, machine.levels[end_level].item_state, text, written))
    for later_level in range(end_level, level):
        if state != DEAD:
            state = step(machine, state, trie.byte[machine.levels[later_level].next - 1])
    return DEAD if state == DEAD else step(machine, state, byte)


@loop
def next_item(machine: Machine, current: int) -> int:
    """Return the uppermost frame of a stack that reads an item that must differ or joins stacks; FINISHED for none."""
    while current != op.FINISHED and operation_of(machine, current) not in (op.ITEM, op.UNION):
        current = machine.frames[current].tail
    return current


@loop
def is_right_after_item(machine: Machine, level: int, end_level: int, state: int) -> bool:
    """Tell whether a state after any item has the right distance and successors after the item just read.

    It has until the next item begins, if the shortest next item is not the one just read, as when it is shorter.
    """
    first = first_level(machine, level)
    size = machine.frames[machine.frames[-machine.levels[level].state].second].second + end_level - first
    start = machine.states.rows[state].first_element
    for element in range(start, start + machine.states.rows[state].element_count):
        current = next_item(machine, machine.states.elements[element])
        if current != op.FINISHED:
            if operation_of(machine, current) == op.UNION:
                return False
            item, written = machine.frames[current].node, machine.frames[current].tail
            shortest = machine.frames[current].distance - length_after_item(machine, item, written)
            if machine.frames[current].second != op.FINISHED or size <= shortest:
                return False
    return True


@loop
def read_after_item(machine: Machine, trie: TrieArrays, level: int, end_level: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, as `read_item`."""
    state = -1 - machine.levels[level].item_state
    if end_level == level:
        state = state_after_any_item(machine, -machine.levels[level].state)
    successor = DEAD if state == DEAD else step(machine, state, byte)
    if successor == DEAD:
        return DEAD
    item = machine.frames[-machine.levels[level].state].node
    is_inexhaustible = machine.operands[machine.nodes[item].a + op.IS_INEXHAUSTIBLE]
    if not is_inexhaustible or not is_right_after_item(machine, level, end_level, successor):
        return follow_exactly(machine, trie, level, end_level, byte)
    machine.levels[level + 1].item_state, machine.levels[level + 1].end_level = -1 - successor, end_level
    machine.levels[level + 1].upper_bound = machine.states.distances[successor]
    return UNKNOWN


@loop
def read_item(machine: Machine, trie: TrieArrays, level: int, byte: int) -> int:
    """Return the successor by a byte inside an item that must differ, or after it: a state, or DEAD.

    UNKNOWN if it is inside or after the item too: its progress is then in the next level.
    """
    state, text = machine.levels[level].item_state, machine.levels[level].item_text
    if state < 0:
        return read_after_item(machine, trie, level, machine.levels[level].end_level, byte)
    successor = read_in_item(machine, level, byte)
    leaf = -machine.levels[level].state
    if machine.states.distances[state] > 0 or (text >= 0 and is_written(machine, text, machine.frames[leaf].tail)):
        return successor
    if successor == DEAD:
        return read_after_item(machine, trie, level, level, byte)
    state_after = state_after_any_item(machine, leaf)
    if (
        state_after == DEAD or step(machine, state_after, byte) == DEAD
    ):  # as after a digit, where a number goes on or ends
        return UNKNOWN
    return follow_exactly(machine, trie, level, level, byte)


@loop
def read_new(machine: Machine, trie: TrieArrays, level: int, byte: int) -> int:
    """Return the successor by a byte that the table does not have, as `read_quoted` and `read_item`."""
    state = machine.levels[level].state
    is_entered = state < 0 or (machine.has_quotations and enter_quotation(machine, state, level))
    if not is_entered and not enter_item(machine, state, level):
        return step(machine, state, byte)
    if operation_of(machine, -machine.levels[level].state) == op.ITEM:
        return read_item(machine, trie, level, byte)
    return read_quoted(machine, level, byte)


@entry
def start_walk(machine: Machine, trie: TrieArrays, state: int) -> None:
    """Put the machine at the beginning of the walk of a trie from a state."""
    check_state(machine.states, state)
    if trie.height + 2 > len(machine.levels):
        grow_levels(machine, trie.height + 2)
    machine.level = machine.max_distance = 0
    machine.levels[0].state, machine.levels[0].next, machine.levels[0].end = state, trie.first[0], trie.first[1]


@walk_entry
def walk(machine: Machine, trie: TrieArrays, distance_limit: int, mask: Words) -> int:
    """Walk a trie as `table_walks.walk` does, making the states that are missing on the way.

    Sets the bits of the tokens after which at most `distance_limit` bytes are needed, and returns an upper bound of the
    bytes needed after any token. No states are made inside quotations and items that must differ. The walk goes on
    where the machine stands: `start_walk` comes first, and the same call again after StateNeeded.
    """
    check_mask(trie, len(mask))
    level = machine.level
    state, node, end = machine.levels[level].state, machine.levels[level].next, machine.levels[level].end
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = machine.levels[level].state, machine.levels[level].next, machine.levels[level].end
            continue
        target = UNKNOWN if state < 0 else machine.states.table[state, trie.byte[node]]
        if target == UNKNOWN:
            machine.levels[level].next, machine.level = node, level
            target = read_new(machine, trie, level, trie.byte[node])
            state = machine.levels[level].state
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            distance = machine.states.distances[target] if target >= 0 else machine.levels[level + 1].upper_bound
            machine.max_distance = max(machine.max_distance, distance)
            token_end = trie.token_start[child + 1] if distance <= distance_limit else 0
            for position in range(trie.token_start[child], token_end):
                token_id = trie.token_ids[position]
                mask[token_id >> 5] |= 1 << (token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            machine.levels[level].next = node
            level += 1
            state = target if target >= 0 else state
            node, end = trie.first[child], trie.first[child + 1]
            machine.levels[level].state, machine.levels[level].end = state, end
    return machine.max_distance
