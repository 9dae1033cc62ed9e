"""What a frame goes on with before the next byte: it is unfolded until every frame reads a byte, or is finished."""

from structured.automata.loops.frames import (
    COUNT,
    DONE,
    FINISHED,
    FIRST,
    LEAVES,
    LEAVES_USED,
    MARK,
    MORE_FRAMES,
    MORE_LEAVES,
    MORE_STACK,
    NODE,
    ROUND,
    SECOND,
    TAIL,
    frame,
    frame_slot,
    push,
)
from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_loop
from structured.automata.loops.unordered import unfold_permutation
from structured.automata.loops.word_lists import character_place, is_word, word_length
from structured.automata.opcodes import (
    CHOICE,
    MEMBERS,
    OPERATION,
    PERMUTATION,
    REPEAT,
    SCAN,
    UNLIKE,
    UNLIMITED,
    WORDS,
    A,
    B,
    C,
)


@compiled_loop
def unfold_repeat(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    stack: Ints,
    depth: int,
    current: int,
) -> int:
    """Put on the stack what a repetition goes on with: its item once more and, if that may be, what follows it.

    `x{0,5}` → `x x{0,4}`, ``; `x{3,5}` → `x x{2,4}`. Returns how many frames that are.
    """
    node, tail = int(frames[current, NODE]), int(frames[current, TAIL])
    required, allowed = int(frames[current, FIRST]), int(frames[current, SECOND])
    rest = tail
    if allowed != 1:
        fewer = UNLIMITED if allowed == UNLIMITED else allowed - 1
        rest = frame(nodes, operands, text, frames, slots, sizes, node, max(required - 1, 0), fewer, tail)
    again = push(nodes, operands, text, frames, slots, sizes, int(nodes[node, A]), rest)
    if required > 0:
        stack[depth] = again
        return 1
    stack[depth] = tail
    stack[depth + 1] = again
    return 2


@compiled_loop
def unfold_members(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    stack: Ints,
    depth: int,
    current: int,
) -> int:
    """Put on the stack what members go on with: the next one, and what follows if it is left out."""
    node, tail = int(frames[current, NODE]), int(frames[current, TAIL])
    position, written = int(frames[current, FIRST]), int(frames[current, SECOND])
    start, count, more = int(nodes[node, A]), int(nodes[node, B]), int(nodes[node, C])
    ways = 0
    if position == count:
        if written:
            stack[depth] = tail
            ways = 1
        member, after = int(operands[more + 1]), count
    else:
        if not operands[start + 4 * position + 1]:
            stack[depth] = frame(nodes, operands, text, frames, slots, sizes, node, position + 1, written, tail)
            ways = 1
        member, after = int(operands[start + 4 * position]), position + 1
    if member < 0:
        return ways
    rest = frame(nodes, operands, text, frames, slots, sizes, node, after, 1, tail)
    if rest >= 0:
        rest = push(nodes, operands, text, frames, slots, sizes, member, rest)
    if written and rest >= 0:
        rest = push(nodes, operands, text, frames, slots, sizes, int(operands[more]), rest)
    stack[depth + ways] = rest
    return ways + 1


@compiled_loop
def unfold(  # noqa: C901  one case for each operation
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    stack: Ints,
    depth: int,
    current: int,
) -> int:
    """Put on the stack the frames that a frame goes on with without a byte; return how many they are.

    A frame for which there is no room is -1 on the stack. Returns -1 if the stack is too short.
    """
    node, first, tail = int(frames[current, NODE]), int(frames[current, FIRST]), int(frames[current, TAIL])
    operation, start, count = nodes[node, OPERATION], int(nodes[node, A]), int(nodes[node, B])
    if current == FINISHED or operation < WORDS:
        return 0
    if depth + 2 + (count if operation in (CHOICE, PERMUTATION) else 0) > len(stack):
        return -1
    if operation == UNLIKE:
        second = int(frames[current, SECOND])
        stack[depth] = tail
        between = character_place(nodes, operands, text, node, first, second) == operands[nodes[node, C]]
        return 1 if between and not is_word(nodes, operands, node, first, second) else 0
    if operation == SCAN:
        stack[depth] = tail
        return int(operands[start + 6 * first + 2])
    if operation == WORDS:
        stack[depth] = tail
        return 1 if word_length(operands, start, first) == frames[current, SECOND] else 0
    if operation == REPEAT:
        return unfold_repeat(nodes, operands, text, frames, slots, sizes, stack, depth, current)
    if operation == MEMBERS:
        return unfold_members(nodes, operands, text, frames, slots, sizes, stack, depth, current)
    if operation == PERMUTATION:
        return unfold_permutation(nodes, operands, text, frames, slots, sizes, stack, depth, current)
    if operation == CHOICE:
        for position in range(count):
            option = int(operands[start + count - 1 - position])
            stack[depth + position] = push(nodes, operands, text, frames, slots, sizes, option, tail)
        return count
    rest = tail
    if first + 1 < count:
        rest = frame(nodes, operands, text, frames, slots, sizes, node, first + 1, 0, tail)
    stack[depth] = push(nodes, operands, text, frames, slots, sizes, int(operands[start + 2 * first]), rest)
    return 1


@compiled_loop
def is_covered(nodes: Rows, frames: Rows, slots: Ints, current: int, now: int) -> bool:
    """Tell whether a repetition was reached by an item without a byte, from the same with one more allowed.

    Whatever matches from here then matches from there.
    """
    node, required, allowed = frames[current, NODE], frames[current, FIRST], frames[current, SECOND]
    if current == FINISHED or nodes[node, OPERATION] != REPEAT or required > 0 or allowed == UNLIMITED:
        return False
    before = slots[frame_slot(frames, slots, node, 0, allowed + 1, frames[current, TAIL])]
    return bool(before >= 0 and frames[before, MARK] == now)


@compiled_loop
def close(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    leaves: Ints,
    sizes: Ints,
    stack: Ints,
    top: int,
) -> int:
    """Find the leaves of a frame: the frames reached from it without a byte that read one next, or are finished."""
    if frames[top, LEAVES] >= 0:
        return DONE
    sizes[ROUND] += 1
    now = int(sizes[ROUND])
    start = end = int(sizes[LEAVES_USED])
    stack[0] = top
    depth = 1
    frames[top, MARK] = now
    while depth > 0:
        depth -= 1
        current = int(stack[depth])
        if current == FINISHED or nodes[frames[current, NODE], OPERATION] <= SCAN:
            if end == len(leaves):
                return MORE_LEAVES
            leaves[end] = current
            end += 1
        if is_covered(nodes, frames, slots, current, now):
            continue
        count = unfold(nodes, operands, text, frames, slots, sizes, stack, depth, current)
        if count < 0:
            return MORE_STACK
        for position in range(depth, depth + count):
            successor = int(stack[position])
            if successor < 0:
                return MORE_FRAMES
            if frames[successor, MARK] != now:
                frames[successor, MARK] = now
                stack[depth] = successor
                depth += 1
    frames[top, LEAVES] = start
    frames[top, COUNT] = end - start
    sizes[LEAVES_USED] = end
    return DONE
