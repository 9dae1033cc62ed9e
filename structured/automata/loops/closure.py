"""The closure of a frame: it is unfolded, without reading a byte, until every frame reads a byte or is finished."""

from structured.automata.loops.distinct_items import unfold_distinct, unfold_item
from structured.automata.loops.frames import (
    BEGUN,
    CHOOSING,
    COUNT,
    FINISHED,
    FIRST,
    LEAVES,
    LEAVES_USED,
    LENGTH,
    MARK,
    NODE,
    ROUND,
    SECOND,
    TAIL,
    character_place,
    frame,
    frame_slot,
    is_word,
    push,
    word_length,
)
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import DONE, MORE_LEAVES, MORE_STACK, Machine
from structured.automata.opcodes import (
    CHOICE,
    DISTINCT,
    FAR,
    ITEM,
    MEMBERS,
    OPERATION,
    PERMUTATION,
    QUOTATION,
    REPEAT,
    SCAN,
    SHORTEST,
    UNION,
    UNLIKE,
    UNLIMITED,
    WORDS,
    A,
    B,
    C,
)


@compiled_loop
def unfold_repeat(machine: Machine, depth: int, current: int) -> int:
    """Put the successors of a repetition on the stack: its item once more and, if it may end, the frame below.

    `x{0,5}` → `x x{0,4}`, ``; `x{3,5}` → `x x{2,4}`. Returns their number.
    """
    node, tail = int(machine.frames[current, NODE]), int(machine.frames[current, TAIL])
    required, allowed = int(machine.frames[current, FIRST]), int(machine.frames[current, SECOND])
    rest = tail
    if allowed != 1:
        fewer = UNLIMITED if allowed == UNLIMITED else allowed - 1
        rest = frame(machine, node, max(required - 1, 0), fewer, tail)
    again = push(machine, int(machine.nodes[node, A]), rest)
    if required > 0:
        machine.stack[depth] = again
        return 1
    machine.stack[depth] = tail
    machine.stack[depth + 1] = again
    return 2


@compiled_loop
def unfold_members(machine: Machine, depth: int, current: int) -> int:
    """Put the successors of members on the stack: the next member, and the rest without it; return their number."""
    node, tail = int(machine.frames[current, NODE]), int(machine.frames[current, TAIL])
    position, written = int(machine.frames[current, FIRST]), int(machine.frames[current, SECOND])
    start, count, more = int(machine.nodes[node, A]), int(machine.nodes[node, B]), int(machine.nodes[node, C])
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
    node, first, tail = (
        int(machine.frames[current, NODE]),
        int(machine.frames[current, FIRST]),
        int(machine.frames[current, TAIL]),
    )
    operation, start, count = machine.nodes[node, OPERATION], int(machine.nodes[node, A]), int(machine.nodes[node, B])
    if current == FINISHED or operation < WORDS:
        return 0
    if operation == ITEM:
        count = int(machine.frames[tail, SECOND])
    if depth + 2 + (count if operation in (CHOICE, PERMUTATION, ITEM) else 0) > len(machine.stack):
        return MORE_STACK
    if operation == ITEM:
        return unfold_item(machine, depth, current)
    if operation == DISTINCT:
        return unfold_distinct(machine, depth, current)
    if operation == UNLIKE:
        second = int(machine.frames[current, SECOND])
        machine.stack[depth] = tail
        between = character_place(machine, node, first, second) == machine.operands[machine.nodes[node, C]]
        return 1 if between and not is_word(machine, node, first, second) else 0
    if operation == SCAN:
        machine.stack[depth] = tail
        return int(machine.operands[start + 6 * first + 2])
    if operation == QUOTATION:
        machine.stack[depth] = machine.frames[tail, TAIL]
        return 1 if machine.frames[current, LENGTH] == machine.frames[tail, LENGTH] else 0
    if operation == WORDS:
        machine.stack[depth] = tail
        return 1 if word_length(machine, start, first) == machine.frames[current, SECOND] else 0
    if operation == REPEAT:
        return unfold_repeat(machine, depth, current)
    if operation == MEMBERS:
        return unfold_members(machine, depth, current)
    if operation == PERMUTATION:
        return unfold_permutation(machine, depth, current)
    if operation == UNION:
        machine.stack[depth], machine.stack[depth + 1] = first, tail
        return 2
    if operation == CHOICE:
        for position in range(count):
            option = int(machine.operands[start + count - 1 - position])
            machine.stack[depth + position] = push(machine, option, tail)
        return count
    rest, end = tail, int(machine.frames[current, SECOND])
    if first + 1 < (end or count):
        rest = frame(machine, node, first + 1, end, tail)
    machine.stack[depth] = push(machine, int(machine.operands[start + 2 * first]), rest)
    return 1


@compiled_loop
def is_covered(machine: Machine, current: int, now: int) -> bool:
    """Tell whether an empty item led to a repetition from the same repetition with one more item allowed.

    All texts that match from here then match from there.
    """
    node, required, allowed = (
        machine.frames[current, NODE],
        machine.frames[current, FIRST],
        machine.frames[current, SECOND],
    )
    if current == FINISHED or machine.nodes[node, OPERATION] != REPEAT or required > 0 or allowed == UNLIMITED:
        return False
    before = machine.frame_slots[frame_slot(machine, node, 0, allowed + 1, machine.frames[current, TAIL])]
    return bool(before >= 0 and machine.frames[before, MARK] == now)


@compiled_loop
def close(machine: Machine, top: int) -> int:
    """Find the leaves of a frame: the frames reached without a byte that read a byte next, or are finished."""
    if machine.frames[top, LEAVES] >= 0:
        return DONE
    machine.sizes[ROUND] += 1
    now = int(machine.sizes[ROUND])
    start = end = int(machine.sizes[LEAVES_USED])
    machine.stack[0] = top
    depth = 1
    machine.frames[top, MARK] = now
    while depth > 0:
        depth -= 1
        current = int(machine.stack[depth])
        if current == FINISHED or machine.nodes[machine.frames[current, NODE], OPERATION] <= ITEM:
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
            if machine.frames[successor, MARK] != now:
                machine.frames[successor, MARK] = now
                machine.stack[depth] = successor
                depth += 1
    machine.frames[top, LEAVES] = start
    machine.frames[top, COUNT] = end - start
    machine.sizes[LEAVES_USED] = end
    return DONE


@compiled_loop
def place_member(machine: Machine, depth: int, current: int) -> int:
    """Return the stack of written members with the member of a frame added in its place, or a code.

    `3 | 5 2 0 …` → `5 3 2 0 …`; the numbers above the place wait on the stack of the loop.
    """
    node, member, below = (
        int(machine.frames[current, NODE]),
        int(machine.frames[current, FIRST]),
        int(machine.frames[current, TAIL]),
    )
    above = depth
    while machine.frames[below, FIRST] > member:
        machine.stack[above] = machine.frames[below, FIRST]
        above += 1
        below = int(machine.frames[below, TAIL])
    below = frame(machine, node, member, 1, below)
    while above > depth:
        above -= 1
        below = frame(machine, node, int(machine.stack[above]), 1, below)
    return below


@compiled_loop
def unfold_choosing(machine: Machine, depth: int, node: int, written: int) -> int:
    """Put each member that may come next, and one with another name, on the stack; return their number."""
    start, rest = int(machine.nodes[node, A]), int(machine.operands[machine.nodes[node, C] + 1])
    ways = 0
    if rest >= 0:
        machine.stack[depth] = push(machine, rest, written)
        ways = 1
    frame_left = written
    for member in range(int(machine.nodes[node, B]) - 1, -1, -1):
        if machine.frames[frame_left, FIRST] == member:
            frame_left = int(machine.frames[frame_left, TAIL])
            continue
        after = frame(machine, node, member, 0, written)
        machine.stack[depth + ways] = push(machine, int(machine.operands[start + 3 * member]), after)
        ways += 1
    return ways


@compiled_loop
def unfold_written(machine: Machine, depth: int, written: int) -> int:
    """Put the successors of written members on the stack; return their number.

    These are a separator with one more member and, if no required member is missing, the frame after all members.
    """
    node = int(machine.frames[written, NODE])
    start, more = int(machine.nodes[node, A]), int(machine.nodes[node, C])
    shortest = FAR if machine.operands[more + 1] < 0 else int(machine.nodes[machine.operands[more + 1], SHORTEST])
    is_missing = False
    frame_left = written
    for member in range(int(machine.nodes[node, B]) - 1, -1, -1):
        if machine.frames[frame_left, FIRST] == member:
            frame_left = int(machine.frames[frame_left, TAIL])
        else:
            is_missing = is_missing or machine.operands[start + 3 * member + 1] == 1
            shortest = min(shortest, int(machine.nodes[machine.operands[start + 3 * member], SHORTEST]))
    ways = 0
    if not is_missing:
        machine.stack[depth] = machine.frames[frame_left, TAIL]
        ways = 1
    if shortest < FAR:
        separator = int(machine.operands[more])
        added = -int(machine.nodes[separator, SHORTEST]) if is_missing else shortest
        rest = frame(machine, node, CHOOSING, added, written)
        if rest >= 0:
            rest = push(machine, separator, rest)
        machine.stack[depth + ways] = rest
        ways += 1
    return ways


@compiled_loop
def unfold_permutation(machine: Machine, depth: int, current: int) -> int:
    """Put the successors of members in any order on the stack; return their number."""
    node, first, second = (
        int(machine.frames[current, NODE]),
        int(machine.frames[current, FIRST]),
        int(machine.frames[current, SECOND]),
    )
    if first == CHOOSING:
        below = int(machine.frames[current, TAIL])
        return unfold_choosing(machine, depth, node, below)
    if second:
        return unfold_written(machine, depth, current)
    if first != BEGUN:
        machine.stack[depth] = place_member(machine, depth, current)
        return 1
    begun = frame(machine, node, BEGUN, 1, int(machine.frames[current, TAIL]))
    if begun < 0:
        machine.stack[depth] = begun
        return 1
    return unfold_choosing(machine, depth, node, begun)
