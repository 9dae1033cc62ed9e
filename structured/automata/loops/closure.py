"""The closure of a frame: it is unfolded, without reading a byte, until every frame reads a byte or is finished."""

from structured.automata import opcodes as op
from structured.automata.loops.distinct_items import inserted, unfold_distinct, unfold_item
from structured.automata.loops.frames import (
    character_place,
    contents,
    frame,
    is_word,
    known_frame,
    numbers,
    operation_of,
    push,
    word_length,
)
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import DONE, MORE_LEAVES, MORE_STACK, Machine
from structured.automata.opcodes import FAR, UNLIMITED


@compiled_loop
def unfold_repeat(machine: Machine, depth: int, current: int) -> int:
    """Put the successors of a repetition on the stack: its item once more and, if it may end, the frame below.

    `x{0,5}` → `x x{0,4}`, ``; `x{3,5}` → `x x{2,4}`. Returns their number.
    """
    node, required, allowed, tail = contents(machine, current)
    rest = tail
    if allowed != 1:
        fewer = UNLIMITED if allowed == UNLIMITED else allowed - 1
        rest = frame(machine, node, max(required - 1, 0), fewer, tail)
    again = push(machine, int(machine.nodes[node, op.A]), rest)
    if required > 0:
        machine.stack[depth] = again
        return 1
    machine.stack[depth] = tail
    machine.stack[depth + 1] = again
    return 2


@compiled_loop
def unfold_members(machine: Machine, depth: int, current: int) -> int:
    """Put the successors of members on the stack: the next member, and the rest without it; return their number."""
    node, position, written, tail = contents(machine, current)
    start, count, more = numbers(machine, node)
    ways = 0
    if position == count:
        if written:
            machine.stack[depth] = tail
            ways = 1
        member, after = int(machine.operands[more + 1]), count
    else:
        if not machine.operands[start + 4 * position + 1]:
            machine.stack[depth] = frame(machine, node, position + 1, written, tail)
            ways = 1
        member, after = int(machine.operands[start + 4 * position]), position + 1
    if member < 0:
        return ways
    rest = frame(machine, node, after, 1, tail)
    if rest >= 0:
        rest = push(machine, member, rest)
    if written and rest >= 0:
        rest = push(machine, int(machine.operands[more]), rest)
    machine.stack[depth + ways] = rest
    return ways + 1


@compiled_loop
def unfold(machine: Machine, depth: int, current: int) -> int:  # noqa: C901, PLR0912  one case for each operation
    """Put the successors of a frame without a byte on the stack; return their number.

    A code is put on the stack in place of a frame; MORE_STACK is returned if the stack itself is full.
    """
    if current == op.FINISHED:
        return 0
    node, first, second, tail = contents(machine, current)
    operation = machine.nodes[node, op.OPERATION]
    start, count, more = numbers(machine, node)
    if operation < op.WORDS:
        return 0
    if operation == op.ITEM:
        count = int(machine.frames[tail, op.SECOND])
    if depth + 2 + (count if operation in (op.CHOICE, op.PERMUTATION, op.ITEM) else 0) > len(machine.stack):
        return MORE_STACK
    if operation == op.ITEM:
        return unfold_item(machine, depth, current)
    if operation == op.DISTINCT:
        return unfold_distinct(machine, depth, current)
    if operation == op.UNLIKE:
        machine.stack[depth] = tail
        between = character_place(machine, node, first, second) == machine.operands[more]
        return 1 if between and not is_word(machine, node, first, second) else 0
    if operation == op.SCAN:
        machine.stack[depth] = tail
        return int(machine.operands[start + 6 * first + 2])
    if operation == op.QUOTATION:
        machine.stack[depth] = machine.frames[tail, op.TAIL]
        return 1 if machine.frames[current, op.LENGTH] == machine.frames[tail, op.LENGTH] else 0
    if operation == op.WORDS:
        machine.stack[depth] = tail
        return 1 if word_length(machine, start, first) == second else 0
    if operation == op.REPEAT:
        return unfold_repeat(machine, depth, current)
    if operation == op.MEMBERS:
        return unfold_members(machine, depth, current)
    if operation == op.PERMUTATION:
        return unfold_permutation(machine, depth, current)
    if operation == op.UNION:
        machine.stack[depth], machine.stack[depth + 1] = first, tail
        return 2
    if operation == op.CHOICE:
        for position in range(count):
            option = int(machine.operands[start + count - 1 - position])
            machine.stack[depth + position] = push(machine, option, tail)
        return count
    rest = tail
    if first + 1 < (second or count):
        rest = frame(machine, node, first + 1, second, tail)
    machine.stack[depth] = push(machine, int(machine.operands[start + 2 * first]), rest)
    return 1


@compiled_loop
def is_covered(machine: Machine, current: int, now: int) -> bool:
    """Tell whether an empty item led to a repetition from the same repetition with one more item allowed.

    All texts that match from here then match from there.
    """
    node, required, allowed, tail = contents(machine, current)
    if machine.nodes[node, op.OPERATION] != op.REPEAT or required > 0 or allowed == UNLIMITED:
        return False
    before = known_frame(machine, node, 0, allowed + 1, tail)
    return bool(before >= 0 and machine.frames[before, op.MARK] == now)


@compiled_loop
def close(machine: Machine, top: int) -> int:
    """Find the leaves of a frame: the frames reached without a byte that read a byte next, or are finished."""
    if machine.frames[top, op.LEAVES] >= 0:
        return DONE
    machine.sizes[op.ROUND] += 1
    now = int(machine.sizes[op.ROUND])
    start = end = int(machine.sizes[op.LEAVES_USED])
    machine.stack[0] = top
    depth = 1
    machine.frames[top, op.MARK] = now
    while depth > 0:
        depth -= 1
        current = int(machine.stack[depth])
        if current == op.FINISHED or operation_of(machine, current) <= op.ITEM:
            if end == len(machine.leaves):
                return MORE_LEAVES
            machine.leaves[end] = current
            end += 1
        if is_covered(machine, current, now):
            continue
        count = unfold(machine, depth, current)
        if count < 0:
            return count
        for position in range(depth, depth + count):
            successor = int(machine.stack[position])
            if successor < 0:
                return successor
            if machine.frames[successor, op.MARK] != now:
                machine.frames[successor, op.MARK] = now
                machine.stack[depth] = successor
                depth += 1
    machine.frames[top, op.LEAVES] = start
    machine.frames[top, op.COUNT] = end - start
    machine.sizes[op.LEAVES_USED] = end
    return DONE


@compiled_loop
def unfold_choosing(machine: Machine, depth: int, node: int, written: int) -> int:
    """Put each member that may come next, and one with another name, on the stack; return their number."""
    start, count, more = numbers(machine, node)
    rest, ways = int(machine.operands[more + 1]), 0
    if rest >= 0:
        machine.stack[depth] = push(machine, rest, written)
        ways = 1
    frame_left = written
    for member in range(count - 1, -1, -1):
        if machine.frames[frame_left, op.FIRST] == member:
            frame_left = int(machine.frames[frame_left, op.TAIL])
            continue
        after = frame(machine, node, member, 0, written)
        machine.stack[depth + ways] = push(machine, int(machine.operands[start + 4 * member]), after)
        ways += 1
    return ways


@compiled_loop
def unfold_written(machine: Machine, depth: int, written: int) -> int:
    """Put the successors of written members on the stack; return their number.

    These are a separator with one more member and, if no required member is missing, the frame after all members.
    """
    node = int(machine.frames[written, op.NODE])
    start, count, more = numbers(machine, node)
    shortest = FAR if machine.operands[more + 1] < 0 else int(machine.nodes[machine.operands[more + 1], op.SHORTEST])
    is_missing = False
    frame_left = written
    for member in range(count - 1, -1, -1):
        if machine.frames[frame_left, op.FIRST] == member:
            frame_left = int(machine.frames[frame_left, op.TAIL])
        else:
            is_missing = is_missing or machine.operands[start + 4 * member + 1] == 1
            shortest = min(shortest, int(machine.nodes[machine.operands[start + 4 * member], op.SHORTEST]))
    ways = 0
    if not is_missing:
        machine.stack[depth] = machine.frames[frame_left, op.TAIL]
        ways = 1
    if shortest < FAR:
        separator = int(machine.operands[more])
        added = -int(machine.nodes[separator, op.SHORTEST]) if is_missing else shortest
        rest = frame(machine, node, op.CHOOSING, added, written)
        if rest >= 0:
            rest = push(machine, separator, rest)
        machine.stack[depth + ways] = rest
        ways += 1
    return ways


@compiled_loop
def unfold_permutation(machine: Machine, depth: int, current: int) -> int:
    """Put the successors of members in any order on the stack; return their number."""
    node, first, second, tail = contents(machine, current)
    if first == op.CHOOSING:
        return unfold_choosing(machine, depth, node, tail)
    if second:
        return unfold_written(machine, depth, current)
    if first != op.BEGUN:
        machine.stack[depth] = inserted(machine, depth, first, tail)
        return 1
    begun = frame(machine, node, op.BEGUN, 1, tail)
    if begun < 0:
        machine.stack[depth] = begun
        return 1
    return unfold_choosing(machine, depth, node, begun)
