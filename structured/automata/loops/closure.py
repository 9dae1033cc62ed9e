"""The closure of a frame: its leaves, the frames reached without reading a byte that read one next or are finished.

To *unfold* a frame is to replace it by its successors without a byte: `(a|b) c` → `a c`, `b c`.
"""

from structured.automata import opcodes as op
from structured.automata.loops.distinct_items import insert_written, unfold_distinct, unfold_item
from structured.automata.loops.frames import (
    arguments_of,
    find_frame,
    frame_fields,
    intern_frame,
    operation_of,
    push,
    unlike_length,
    word_length,
)
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import DONE, MORE_LEAVES, MORE_SCRATCH, Machine
from structured.automata.opcodes import FAR, UNLIMITED


@compiled_loop
def unfold_repeat(machine: Machine, depth: int, current: int) -> int:
    """Write the successors of a repetition to `scratch[depth:]`: its item once more and, if it may end, its tail.

    `x{0,5}` → `x x{0,4}`, ``; `x{3,5}` → `x x{2,4}`. Returns their number.
    """
    node, required, allowed, tail = frame_fields(machine, current)
    after_item = tail
    if allowed != 1:
        fewer = UNLIMITED if allowed == UNLIMITED else allowed - 1
        after_item = intern_frame(machine, node, max(required - 1, 0), fewer, tail)
    one_more = push(machine, int(machine.nodes[node, op.A]), after_item)
    if required > 0:
        machine.scratch[depth] = one_more
        return 1
    machine.scratch[depth], machine.scratch[depth + 1] = tail, one_more
    return 2


@compiled_loop
def unfold_members(machine: Machine, depth: int, current: int) -> int:
    """Write the successors of members in order to `scratch[depth:]`; return their number.

    These are the next member, all members after it if it is optional, and after the last one the tail.
    """
    node, position, is_written, tail = frame_fields(machine, current)
    start, count, more = arguments_of(machine, node)
    is_after_all, next_position, end = position == count, min(position + 1, count), depth
    may_skip = bool(is_written) if is_after_all else not machine.operands[start + 4 * position + 1]
    if may_skip:
        machine.scratch[end] = tail if is_after_all else intern_frame(machine, node, next_position, is_written, tail)
        end += 1
    member = int(machine.operands[more + 1 if is_after_all else start + 4 * position])
    if member >= 0:
        successor = push(machine, member, intern_frame(machine, node, next_position, 1, tail))
        machine.scratch[end] = push(machine, int(machine.operands[more]), successor) if is_written else successor
        end += 1
    return end - depth


@compiled_loop
def unfold(machine: Machine, depth: int, current: int) -> int:  # noqa: C901, PLR0912  one case for each operation
    """Write the successors of a frame without a byte to `scratch[depth:]`; return their number.

    A code is written in place of a frame that cannot be made; MORE_SCRATCH is returned if `scratch` itself is full.
    """
    if current == op.FINISHED:
        return 0
    node, first, second, tail = frame_fields(machine, current)
    operation = machine.nodes[node, op.OPERATION]
    start, count, _ = arguments_of(machine, node)
    if operation < op.WORDS:
        return 0
    if operation == op.ITEM:
        count = int(machine.frames[tail, op.SECOND])
    if depth + 2 + (count if operation in (op.CHOICE, op.PERMUTATION, op.ITEM) else 0) > len(machine.scratch):
        return MORE_SCRATCH
    if operation == op.ITEM:
        return unfold_item(machine, depth, current)
    if operation == op.DISTINCT:
        return unfold_distinct(machine, depth, current)
    machine.scratch[depth] = tail
    if operation == op.UNLIKE:
        return 1 if unlike_length(machine, node, first, second) == 0 else 0
    if operation == op.SCAN:
        return int(machine.operands[start + 6 * first + 2])
    if operation == op.QUOTATION:
        machine.scratch[depth] = machine.frames[tail, op.TAIL]
        return 1 if machine.frames[current, op.DISTANCE] == machine.frames[tail, op.DISTANCE] else 0
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
            option = int(machine.operands[start + count - 1 - position])
            machine.scratch[depth + position] = push(machine, option, tail)
        return count
    after_part = tail
    if first + 1 < (second or count):
        after_part = intern_frame(machine, node, first + 1, second, tail)
    machine.scratch[depth] = push(machine, int(machine.operands[start + 2 * first]), after_part)
    return 1


@compiled_loop
def is_covered(machine: Machine, current: int, this_round: int) -> bool:
    """Tell whether an empty item led to a repetition from itself with one more item allowed: to `x{0,4}` from `x{0,5}`.

    The frame met before then matches all texts that this one matches.
    """
    node, required, allowed, tail = frame_fields(machine, current)
    if machine.nodes[node, op.OPERATION] != op.REPEAT or required > 0 or allowed == UNLIMITED:
        return False
    larger = find_frame(machine, node, 0, allowed + 1, tail)
    return bool(larger >= 0 and machine.frames[larger, op.LAST_ROUND] == this_round)


@compiled_loop
def close(machine: Machine, top: int) -> int:
    """Find the leaves of a frame and note them in its row; return DONE or a code."""
    if machine.frames[top, op.FIRST_LEAF] >= 0:
        return DONE
    machine.registers[op.ROUND] += 1
    this_round = int(machine.registers[op.ROUND])
    start = end = int(machine.registers[op.LEAVES_USED])
    machine.scratch[0] = top
    depth = 1
    machine.frames[top, op.LAST_ROUND] = this_round
    while depth > 0:
        depth -= 1
        current = int(machine.scratch[depth])
        if current == op.FINISHED or operation_of(machine, current) <= op.ITEM:
            if end == len(machine.leaves):
                return MORE_LEAVES
            machine.leaves[end] = current
            end += 1
        if is_covered(machine, current, this_round):
            continue
        count = unfold(machine, depth, current)
        if count < 0:
            return count
        for position in range(depth, depth + count):
            successor = int(machine.scratch[position])
            if successor < 0:
                return successor
            if machine.frames[successor, op.LAST_ROUND] != this_round:
                machine.frames[successor, op.LAST_ROUND] = this_round
                machine.scratch[depth] = successor
                depth += 1
    machine.frames[top, op.FIRST_LEAF] = start
    machine.frames[top, op.LEAF_COUNT] = end - start
    machine.registers[op.LEAVES_USED] = end
    return DONE


@compiled_loop
def unfold_next_member(machine: Machine, depth: int, node: int, written: int) -> int:
    """Write the frame of each member that may come next to `scratch[depth:]`; return their number.

    `written` is the top frame of the written members, which are not written again. A member with another name than the
    listed ones may also come next.
    """
    start, count, more = arguments_of(machine, node)
    other_member, end = int(machine.operands[more + 1]), depth
    if other_member >= 0:
        machine.scratch[end] = push(machine, other_member, written)
        end += 1
    written_left = written
    for member in range(count - 1, -1, -1):
        if machine.frames[written_left, op.FIRST] == member:
            written_left = int(machine.frames[written_left, op.TAIL])
            continue
        after_member = intern_frame(machine, node, member, 0, written)
        machine.scratch[end] = push(machine, int(machine.operands[start + 4 * member]), after_member)
        end += 1
    return end - depth


@compiled_loop
def unfold_written(machine: Machine, depth: int, written: int) -> int:
    """Write the successors of written members to `scratch[depth:]`; return their number.

    These are a separator with one more member and, if no required member is missing, the frame after the object.
    """
    node = int(machine.frames[written, op.NODE])
    start, count, more = arguments_of(machine, node)
    shortest = FAR if machine.operands[more + 1] < 0 else int(machine.nodes[machine.operands[more + 1], op.SHORTEST])
    is_missing = False
    written_left = written
    for member in range(count - 1, -1, -1):
        if machine.frames[written_left, op.FIRST] == member:
            written_left = int(machine.frames[written_left, op.TAIL])
        else:
            is_missing = is_missing or machine.operands[start + 4 * member + 1] == 1
            shortest = min(shortest, int(machine.nodes[machine.operands[start + 4 * member], op.SHORTEST]))
    successor_count = 0
    if not is_missing:
        machine.scratch[depth] = machine.frames[written_left, op.TAIL]
        successor_count = 1
    if shortest < FAR:
        separator = int(machine.operands[more])
        added = -int(machine.nodes[separator, op.SHORTEST]) if is_missing else shortest
        before_member = intern_frame(machine, node, op.NEXT_MEMBER, added, written)
        machine.scratch[depth + successor_count] = push(machine, separator, before_member)
        successor_count += 1
    return successor_count


@compiled_loop
def unfold_permutation(machine: Machine, depth: int, current: int) -> int:
    """Write the successors of members in any order to `scratch[depth:]`; return their number."""
    node, first, second, tail = frame_fields(machine, current)
    if first == op.NEXT_MEMBER:
        return unfold_next_member(machine, depth, node, tail)
    if second:
        return unfold_written(machine, depth, current)
    if first != op.OBJECT_START:
        machine.scratch[depth] = insert_written(machine, depth, first, tail)
        return 1
    written = intern_frame(machine, node, op.OBJECT_START, 1, tail)
    if written < 0:
        machine.scratch[depth] = written
        return 1
    return unfold_next_member(machine, depth, node, written)
