"""The closure of a frame: its leaves, the frames reached without reading a byte that read one next or are finished.

To *unfold* a frame is to replace it by its successors without a byte: `(a|b) c` → `a c`, `b c`.
"""

from structured.automata import opcodes as op
from structured.automata.loops.distinct_items import insert_written, unfold_distinct, unfold_item
from structured.automata.loops.frames import frame, operation_of, push, unlike_length, word_length
from structured.automata.loops.machine import Machine, find_frame, grow_scratch
from structured.automata.opcodes import FAR, UNLIMITED
from structured.machine_code.notation import loop


@loop
def unfold_repeat(machine: Machine, depth: int, current: int) -> int:
    """Write the successors of a repetition to `scratch[depth:]`: its item once more and, if it may end, its tail.

    `x{0,5}` → `x x{0,4}`, ``; `x{3,5}` → `x x{2,4}`. Returns their number.
    """
    node, required = machine.frames[current].node, machine.frames[current].first
    allowed, tail = machine.frames[current].second, machine.frames[current].tail
    after_item = tail
    if allowed != 1:
        fewer = UNLIMITED if allowed == UNLIMITED else allowed - 1
        after_item = frame(machine, node, max(required - 1, 0), fewer, tail)
    one_more = push(machine, machine.nodes[node].a, after_item)
    if required > 0:
        machine.scratch[depth] = one_more
        return 1
    machine.scratch[depth], machine.scratch[depth + 1] = tail, one_more
    return 2


@loop
def unfold_members(machine: Machine, depth: int, current: int) -> int:
    """Write the successors of members in order to `scratch[depth:]`; return their number.

    These are the next member, all members after it if it is optional, and after the last one the tail.
    """
    node, position = machine.frames[current].node, machine.frames[current].first
    is_written, tail = machine.frames[current].second, machine.frames[current].tail
    start, count, more = machine.nodes[node].a, machine.nodes[node].b, machine.nodes[node].c
    is_after_all, next_position, end = position == count, min(position + 1, count), depth
    may_skip = is_written if is_after_all else not machine.operands[start + 4 * position + 1]
    if may_skip:
        machine.scratch[end] = tail if is_after_all else frame(machine, node, next_position, is_written, tail)
        end += 1
    member = machine.operands[more + 1 if is_after_all else start + 4 * position]
    if member >= 0:
        successor = push(machine, member, frame(machine, node, next_position, 1, tail))
        machine.scratch[end] = push(machine, machine.operands[more], successor) if is_written else successor
        end += 1
    return end - depth


@loop
def unfold(machine: Machine, depth: int, current: int) -> int:  # noqa: C901, PLR0912  one case for each operation
    """Write the successors of a frame without a byte to `scratch[depth:]`; return their number."""
    if current == op.FINISHED:
        return 0
    node, first = machine.frames[current].node, machine.frames[current].first
    second, tail = machine.frames[current].second, machine.frames[current].tail
    operation, start, count = machine.nodes[node].operation, machine.nodes[node].a, machine.nodes[node].b
    if operation < op.WORDS:
        return 0
    if operation == op.ITEM:
        count = machine.frames[tail].second
    needed = depth + 2 + (count if operation in (op.CHOICE, op.PERMUTATION, op.ITEM) else 0)
    if needed > len(machine.scratch):
        grow_scratch(machine, needed)
    if operation == op.ITEM:
        return unfold_item(machine, depth, current)
    if operation == op.DISTINCT:
        return unfold_distinct(machine, depth, current)
    machine.scratch[depth] = tail
    if operation == op.UNLIKE:
        return 1 if unlike_length(machine, node, first, second) == 0 else 0
    if operation == op.SCAN:
        return machine.operands[start + 6 * first + 2]
    if operation == op.QUOTATION:
        machine.scratch[depth] = machine.frames[tail].tail
        return 1 if machine.frames[current].distance == machine.frames[tail].distance else 0
    if operation == op.WORDS:
        return 1 if word_length(machine, start, first) == second else 0
    if operation == op.REPEAT:
        return unfold_repeat(machine, depth, current)
    if operation == op.MEMBERS:
        return unfold_members(machine, depth, current)
    if operation == op.PERMUTATION:
        return unfold_permutation(machine, depth, current)
    if operation == op.UNION:
        machine.scratch[depth], machine.scratch[depth + 1] = first, tail
        return 2
    if operation == op.CHOICE:
        for position in range(count):
            option = machine.operands[start + count - 1 - position]
            machine.scratch[depth + position] = push(machine, option, tail)
        return count
    after_part = tail
    if first + 1 < (second or count):
        after_part = frame(machine, node, first + 1, second, tail)
    machine.scratch[depth] = push(machine, machine.operands[start + 2 * first], after_part)
    return 1


@loop
def is_covered(machine: Machine, current: int, this_round: int) -> bool:
    """Tell whether an empty item led to a repetition from itself with one more item allowed: to `x{0,4}` from `x{0,5}`.

    The frame met before, in `this_round`, then matches all texts that this one matches.
    """
    node, allowed = machine.frames[current].node, machine.frames[current].second
    if machine.nodes[node].operation != op.REPEAT or machine.frames[current].first > 0 or allowed == UNLIMITED:
        return False
    larger = find_frame(machine, node, 0, allowed + 1, machine.frames[current].tail)
    return larger >= 0 and machine.states.rounds[larger] == this_round


@loop
def close(machine: Machine, top: int) -> None:
    """Find the leaves of a frame and note them in its row, unless that has been done."""
    if machine.frames[top].first_leaf >= 0:
        return
    machine.states.round += 1
    this_round = machine.states.round
    del machine.leaves[machine.leaves_used :]  # after an error
    machine.scratch[0] = top
    depth = 1
    machine.states.rounds[top] = this_round
    while depth > 0:
        depth -= 1
        current = machine.scratch[depth]
        if current == op.FINISHED or operation_of(machine, current) <= op.ITEM:
            machine.leaves.append(current)
        if is_covered(machine, current, this_round):
            continue
        count = unfold(machine, depth, current)
        for position in range(depth, depth + count):
            successor = machine.scratch[position]
            if machine.states.rounds[successor] != this_round:
                machine.states.rounds[successor] = this_round
                machine.scratch[depth] = successor
                depth += 1
    machine.frames[top].first_leaf = machine.leaves_used
    machine.frames[top].leaf_count = len(machine.leaves) - machine.leaves_used
    machine.leaves_used = len(machine.leaves)


@loop
def unfold_next_member(machine: Machine, depth: int, node: int, written: int) -> int:
    """Write the frame of each member that may come next to `scratch[depth:]`; return their number.

    `written` is the top frame of the written members, which are not written again. A member with another name than the
    listed ones may also come next.
    """
    start, end = machine.nodes[node].a, depth
    other_member = machine.operands[machine.nodes[node].c + 1]
    if other_member >= 0:
        machine.scratch[end] = push(machine, other_member, written)
        end += 1
    written_left = written
    for member in range(machine.nodes[node].b - 1, -1, -1):
        if machine.frames[written_left].first == member:
            written_left = machine.frames[written_left].tail
            continue
        after_member = frame(machine, node, member, 0, written)
        machine.scratch[end] = push(machine, machine.operands[start + 4 * member], after_member)
        end += 1
    return end - depth


@loop
def unfold_written(machine: Machine, depth: int, written: int) -> int:
    """Write the successors of written members to `scratch[depth:]`; return their number.

    These are a separator with one more member and, if no required member is missing, the frame after the object.
    """
    node = machine.frames[written].node
    start, more = machine.nodes[node].a, machine.nodes[node].c
    other_member = machine.operands[more + 1]
    shortest = FAR if other_member < 0 else machine.nodes[other_member].shortest
    is_missing = 0
    written_left = written
    for member in range(machine.nodes[node].b - 1, -1, -1):
        if machine.frames[written_left].first == member:
            written_left = machine.frames[written_left].tail
        else:
            is_missing |= machine.operands[start + 4 * member + 1]
            shortest = min(shortest, machine.nodes[machine.operands[start + 4 * member]].shortest)
    successor_count = 0
    if not is_missing:
        machine.scratch[depth] = machine.frames[written_left].tail
        successor_count = 1
    if shortest < FAR:
        separator = machine.operands[more]
        added = -machine.nodes[separator].shortest if is_missing else shortest
        before_member = frame(machine, node, op.NEXT_MEMBER, added, written)
        machine.scratch[depth + successor_count] = push(machine, separator, before_member)
        successor_count += 1
    return successor_count


@loop
def unfold_permutation(machine: Machine, depth: int, current: int) -> int:
    """Write the successors of members in any order to `scratch[depth:]`; return their number."""
    node, first, tail = machine.frames[current].node, machine.frames[current].first, machine.frames[current].tail
    if first == op.NEXT_MEMBER:
        return unfold_next_member(machine, depth, node, tail)
    if machine.frames[current].second:
        return unfold_written(machine, depth, current)
    if first != op.OBJECT_START:
        machine.scratch[depth] = insert_written(machine, depth, first, tail)
        return 1
    return unfold_next_member(machine, depth, node, frame(machine, node, op.OBJECT_START, 1, tail))
