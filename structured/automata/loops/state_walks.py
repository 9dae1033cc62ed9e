"""Walks of a vocabulary through the states of the regular automaton, which are made meanwhile.

Inside a quotation, and inside an item that must differ, nearly each byte would make a state that no text reaches again.
There, a walk stores places on its path and makes no states.
"""

import numpy as np

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.closure import close
from structured.automata.loops.distinct_items import (
    SOME_OTHER,
    inserted,
    is_written,
    item_frame,
    known_text,
    length_unlike,
    rest_after,
    text_with,
    wanting,
)
from structured.automata.loops.frames import contents, frame, operation_of
from structured.automata.loops.jit import Ints, Rows, Words, compiled_entry, compiled_loop
from structured.automata.loops.machine import (
    DONE,
    END,
    FARTHEST,
    LEVEL,
    MORE_STACK,
    NEXT,
    STATE,
    Machine,
    TrieArrays,
)
from structured.automata.loops.quoting import byte_at, can_end, first_rank, length_of_one, rule_after
from structured.automata.loops.states import add_member, consists_of, follow, intern_state, members_of, state_of
from structured.automata.opcodes import FAR

FIRST_RANK, END_RANK, DEPTH, RULE, CURSOR, AFTER, NEAR = range(3, 10)
"""Further columns of a level inside a quotation, where `STATE` is the negated frame of the quotation: the interval of
the suffix array, the depth, the state of the rule; the first rank not passed by the children so far; the state after
the quotation; and an upper bound of the distance. See `quoting.py`."""

ITEM_STATE, ITEM_TEXT, ENDED = FIRST_RANK, END_RANK, DEPTH
"""The columns of a level inside an item that must differ, or after it: inside, the state of any item, and the text read
of this one, DEAD if no written item begins with it; after it, `-1 - s` for the state `s` after the item, and the level
at which the item ended. See `distinct_items.py`."""


@compiled_loop
def enter_quotation(machine: Machine, state: int, path: Rows, level: int) -> int:
    """Store the place of a state in a quotation on the path; DEAD if it is not a single quotation; or a code.

    `path[level]` and the levels below then have places and no states, because few places of a document are reached
    again.
    """
    for leaf in members_of(machine, state):
        if operation_of(machine, leaf) == op.QUOTATION:
            lack = close(machine, int(leaf))
            if lack != DONE:
                return lack
            _, first, end, below = contents(machine, leaf)
            _, lower, rule, tail = contents(machine, below)
            after = state_of(machine, tail)
            if after < 0 or not consists_of(machine, state, leaf):
                return min(after, DEAD)
            path[level, STATE] = -leaf
            path[level, FIRST_RANK] = path[level, CURSOR] = first
            path[level, END_RANK] = end
            path[level, DEPTH] = -1 - lower
            path[level, RULE] = rule
            path[level, AFTER] = after
            return DONE
    return DEAD


@compiled_loop
def read_quoted(machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return what a byte leads to from a place in a quotation: a state, DEAD, or a code.

    UNKNOWN if it leads to another place, which is noted on the next level. The bytes of one level come in order.
    """
    leaf = -int(path[level, STATE])
    node, tail = int(machine.frames[leaf, op.NODE]), int(machine.frames[machine.frames[leaf, op.TAIL], op.TAIL])
    quotation, end = int(machine.nodes[node, op.A]), int(path[level, END_RANK])
    depth, rule = int(path[level, DEPTH]), int(path[level, RULE])
    first = first_rank(machine, quotation, int(path[level, CURSOR]), end, depth, byte)
    path[level, CURSOR] = first
    inside = DEAD
    if first < end and byte_at(machine, quotation, first, depth) == byte:
        last = first_rank(machine, quotation, first, end, depth, byte + 1)
        next_rule = rule_after(machine, quotation, first, depth, rule)
        if next_rule != DEAD:
            length = length_of_one(machine, quotation, first, last, depth + 1, next_rule)
            if length < FAR:
                inside = UNKNOWN
                path[level + 1, FIRST_RANK] = path[level + 1, CURSOR] = first
                path[level + 1, END_RANK] = last
                path[level + 1, DEPTH] = depth + 1
                path[level + 1, RULE] = next_rule
                path[level + 1, AFTER] = path[level, AFTER]
                path[level + 1, NEAR] = min(length + int(machine.frames[tail, op.LENGTH]), FAR)
    beyond = follow(machine, int(path[level, AFTER]), byte)
    if beyond == DEAD:
        return inside
    if beyond < DEAD:
        return beyond
    if not can_end(machine, quotation, int(path[level, FIRST_RANK]), end, depth, rule):
        return inside
    if inside == DEAD:
        return beyond
    here = frame(machine, node, int(path[level, FIRST_RANK]), end, frame(machine, node, -1 - depth, rule, tail))
    state = state_of(machine, here)
    return state if state < 0 else follow(machine, state, byte)


@compiled_loop
def enter_item(machine: Machine, state: int, path: Rows, level: int) -> int:
    """Store the place of a state in an item that must differ on the path, as `enter_quotation`.

    Each text of the item is a state of its own, so nearly each token would make states.
    """
    for leaf in members_of(machine, state):
        if operation_of(machine, leaf) == op.ITEM:
            lack = close(machine, int(leaf))
            if lack != DONE or not consists_of(machine, state, leaf):
                return min(lack, DEAD)
            path[level, STATE] = -leaf
            path[level, ITEM_STATE] = machine.frames[leaf, op.FIRST]
            path[level, ITEM_TEXT] = machine.frames[leaf, op.SECOND]
            return DONE
    return DEAD


@compiled_loop
def other_frames(machine: Machine, state: int) -> int:
    """Return the state of the frames of a state that read no such item, DEAD if there are none, or a code."""
    machine.sizes[op.ROUND] += 1
    count = 0
    for leaf in members_of(machine, state):
        if operation_of(machine, leaf) != op.ITEM:
            count = add_member(machine, count, leaf)
            if count < 0:
                return count
    return intern_state(machine, count) if count else DEAD


@compiled_entry
def split(machine: Machine, state: int, found: Ints) -> int:
    """Write the states into which a state is split, one for each item that must differ.

    Returns how many there are, 0 if the state is none that has to be split, or of too many, or a code.
    """
    parts = 0
    for leaf in members_of(machine, state):
        if operation_of(machine, leaf) == op.ITEM:
            part = state_of(machine, int(leaf))
            if part < 0 or part == state or parts == len(found) - 1:
                return min(part, 0)
            found[parts] = part
            parts += 1
    if parts == 0:
        return 0
    found[parts] = other_frames(machine, state)
    return min(int(found[parts]), 0) if found[parts] < DEAD else parts + int(found[parts] != DEAD)


@compiled_loop
def read_inside(machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return UNKNOWN if a byte may follow in an item, whose place is then on the next level; DEAD, or a code."""
    state, text = int(path[level, ITEM_STATE]), int(path[level, ITEM_TEXT])
    item, _, _, written = contents(machine, -path[level, STATE])
    after = int(machine.table[state, byte])
    if after < 0:
        return DEAD if after == DEAD else wanting(machine, state, -1)
    text = known_text(machine, item, text, byte) if text >= 0 else DEAD
    length = int(machine.distances[after])
    if text >= 0:
        length = length_unlike(machine, item, after, text, written)
    if length < 0 or length >= FAR:
        return length if length < 0 else DEAD
    path[level + 1, ITEM_STATE] = after
    path[level + 1, ITEM_TEXT] = text
    path[level + 1, NEAR] = min(length + rest_after(machine, item, written), FAR)
    return UNKNOWN


@compiled_loop
def state_behind(machine: Machine, leaf: int) -> int:
    """Return the state after any item that differs from the written ones, or a code."""
    item, _, _, written = contents(machine, leaf)
    kept = frame(machine, item, SOME_OTHER, 0, written)
    if kept < 0 or machine.frames[kept, op.LEAVES] >= 0:
        return kept if kept < 0 else int(machine.frames[kept, op.LEAVES])
    if machine.frames[written, op.SECOND] > len(machine.stack):
        return MORE_STACK
    other = frame(machine, item, SOME_OTHER, 0, op.FINISHED)
    behind = other if other < 0 else state_of(machine, inserted(machine, 0, other, written))
    machine.frames[kept, op.LEAVES] = max(behind, DEAD)
    return behind


@compiled_loop
def first_level(path: Rows, level: int) -> int:
    """Return the level at which the walk entered the item in which, or after which, `level` is."""
    while level > 0 and path[level - 1, STATE] == path[level, STATE]:
        level -= 1
    return level


@compiled_loop
def follow_exactly(trie: TrieArrays, machine: Machine, path: Rows, level: int, ended: int, byte: int) -> int:
    """Return the state by a byte after the item that ended at a level, DEAD if there is none, or a code."""
    leaf, first = -int(path[level, STATE]), first_level(path, level)
    item, _, text, written = contents(machine, leaf)
    for place in range(first, ended):
        text = text_with(machine, item, text, int(trie.byte[path[place, NEXT] - 1]))
        if text < 0:
            return text
    top = item_frame(machine, item, int(path[ended, ITEM_STATE]), text, written)
    state = state_of(machine, top)
    for place in range(ended, level):
        if state >= 0:
            state = follow(machine, state, int(trie.byte[path[place, NEXT] - 1]))
    return state if state < 0 else follow(machine, state, byte)


@compiled_loop
def next_item(machine: Machine, current: int) -> int:
    """Return the next frame on a stack that reads an item that must differ, or joins stacks.

    FINISHED if there is none.
    """
    while current != op.FINISHED and operation_of(machine, current) not in (op.ITEM, op.UNION):
        current = int(machine.frames[current, op.TAIL])
    return current


@compiled_loop
def is_same_behind(machine: Machine, path: Rows, level: int, ended: int, state: int) -> bool:
    """Tell whether a state after any item is also right after the item just read.

    It is until the next item begins. Before that, the shortest next item must not be the item just read, which is
    certain if it is shorter.
    """
    first = first_level(path, level)
    size = int(machine.frames[machine.frames[-path[level, STATE], op.SECOND], op.SECOND]) + ended - first
    for member in members_of(machine, state):
        below = next_item(machine, int(member))
        if below != op.FINISHED:
            if operation_of(machine, below) == op.UNION:
                return False
            item, _, text, written = contents(machine, below)
            shortest = machine.frames[below, op.LENGTH] - rest_after(machine, item, written)
            if text != op.FINISHED or size <= shortest:
                return False
    return True


@compiled_loop
def read_behind(trie: TrieArrays, machine: Machine, path: Rows, level: int, ended: int, byte: int) -> int:
    """Return the successor by a byte after the item that ended at a level, as `read_item`."""
    behind = -1 - int(path[level, ITEM_STATE]) if ended < level else state_behind(machine, -int(path[level, STATE]))
    after = behind if behind < 0 else follow(machine, behind, byte)
    if after < 0:
        return after
    item = int(machine.frames[-path[level, STATE], op.NODE])
    are_many = machine.operands[machine.nodes[item, op.A] + op.ARE_MANY]
    if not are_many or not is_same_behind(machine, path, level, ended, after):
        return follow_exactly(trie, machine, path, level, ended, byte)
    path[level + 1, ITEM_STATE] = -1 - after
    path[level + 1, ENDED] = ended
    path[level + 1, NEAR] = machine.distances[after]
    return UNKNOWN


@compiled_loop
def read_item(trie: TrieArrays, machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte of a place in an item that must differ, or after it.

    A state, DEAD, or a code; UNKNOWN if it leads to another place, which is noted on the next level.
    """
    state, text = int(path[level, ITEM_STATE]), int(path[level, ITEM_TEXT])
    if state < 0:
        return read_behind(trie, machine, path, level, int(path[level, ENDED]), byte)
    inside = read_inside(machine, path, level, byte)
    written = int(machine.frames[-path[level, STATE], op.TAIL])
    if inside < UNKNOWN or machine.distances[state] > 0 or (text >= 0 and is_written(machine, text, written)):
        return inside
    if inside == UNKNOWN:
        behind = state_behind(machine, -int(path[level, STATE]))
        after = behind if behind < 0 else follow(machine, behind, byte)
        if after == DEAD:  # as after a digit, where a number goes on or ends
            return inside
        return after if after < UNKNOWN else follow_exactly(trie, machine, path, level, level, byte)
    return read_behind(trie, machine, path, level, level, byte)


@compiled_loop
def read_new(trie: TrieArrays, machine: Machine, path: Rows, level: int, byte: int) -> int:
    """Return the successor by a byte that the table does not know, as `read_quoted`."""
    if path[level, STATE] >= 0:
        entered = enter_quotation(machine, int(path[level, STATE]), path, level) if machine.quotes else DEAD
        if entered == DEAD:
            entered = enter_item(machine, int(path[level, STATE]), path, level)
        if entered < DEAD:
            return entered
        if entered == DEAD:
            return follow(machine, int(path[level, STATE]), byte)
    if operation_of(machine, -path[level, STATE]) == op.ITEM:
        return read_item(trie, machine, path, level, byte)
    return read_quoted(machine, path, level, byte)


@compiled_entry
def walk(trie: TrieArrays, machine: Machine, within: int, path: Rows, mask: Words, progress: Ints) -> int:
    """Walk a trie as `table.walk` does, making the states that are missing on the way; return DONE or a code.

    Set the bits of the tokens after which at most `within` bytes are needed. No states are made inside quotations and
    items that must differ; see `enter_quotation` and `enter_item`.
    """
    farthest = int(progress[FARTHEST])
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
                path[level, NEXT] = node
                progress[LEVEL] = level
                progress[FARTHEST] = farthest
                return target
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            distance = int(machine.distances[target]) if target >= 0 else int(path[level + 1, NEAR])
            farthest = max(farthest, distance)
            for position in range(trie.token_start[child], trie.token_start[child + 1] if distance <= within else 0):
                token_id = trie.token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state = target if target >= 0 else state
            node, end = int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    progress[FARTHEST] = farthest
    return DONE
