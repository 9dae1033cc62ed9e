"""Members in any order: which of them have been written lies on the stack itself.

A frame `BEGUN` says that members are being read; `SECOND` tells whether one has been written. On it lie frames of the
members that have been, the greatest on top, so that one set of them is one stack, whatever their order was. A member
that is being read lies beneath what it reads as a frame of its own, with 0 in `SECOND`, and takes its place in the
stack when it has been read. Where a member must follow, a frame `CHOOSING` lies on top, with the bytes that it adds to
the shortest completion in `SECOND`.
"""

from structured.automata.loops.frames import BEGUN, CHOOSING, FIRST, NODE, SECOND, TAIL, frame, push
from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_loop
from structured.automata.opcodes import FAR, SHORTEST, A, B, C


@compiled_loop
def place_member(
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
    """Return the stack of the members written once the one of a frame is among them; -1 for want of room.

    `3 | 5 2 0 …` → `5 3 2 0 …`; the numbers above its place wait on the stack of the loop.
    """
    node, member, below = int(frames[current, NODE]), int(frames[current, FIRST]), int(frames[current, TAIL])
    above = depth
    while frames[below, FIRST] > member:
        stack[above] = frames[below, FIRST]
        above += 1
        below = int(frames[below, TAIL])
    below = frame(nodes, operands, text, frames, slots, sizes, node, member, 1, below)
    while above > depth:
        above -= 1
        below = frame(nodes, operands, text, frames, slots, sizes, node, int(stack[above]), 1, below)
    return below


@compiled_loop
def unfold_choosing(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    stack: Ints,
    depth: int,
    node: int,
    written: int,
) -> int:
    """Put on the stack each member that may come next, and one by another name; return how many frames that are."""
    start, rest = int(nodes[node, A]), int(operands[nodes[node, C] + 1])
    ways = 0
    if rest >= 0:
        stack[depth] = push(nodes, operands, text, frames, slots, sizes, rest, written)
        ways = 1
    known = written
    for member in range(int(nodes[node, B]) - 1, -1, -1):
        if frames[known, FIRST] == member:
            known = int(frames[known, TAIL])
            continue
        after = frame(nodes, operands, text, frames, slots, sizes, node, member, 0, written)
        stack[depth + ways] = push(
            nodes, operands, text, frames, slots, sizes, int(operands[start + 3 * member]), after
        )
        ways += 1
    return ways


@compiled_loop
def unfold_written(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    stack: Ints,
    depth: int,
    written: int,
) -> int:
    """Put on the stack what follows some members: a separator and one more or, if none is missing, what is after them.

    Returns how many frames that are.
    """
    node = int(frames[written, NODE])
    start, more = int(nodes[node, A]), int(nodes[node, C])
    shortest = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], SHORTEST])
    is_missing = False
    known = written
    for member in range(int(nodes[node, B]) - 1, -1, -1):
        if frames[known, FIRST] == member:
            known = int(frames[known, TAIL])
        else:
            is_missing = is_missing or operands[start + 3 * member + 1] == 1
            shortest = min(shortest, int(nodes[operands[start + 3 * member], SHORTEST]))
    ways = 0
    if not is_missing:
        stack[depth] = frames[known, TAIL]
        ways = 1
    if shortest < FAR:
        separator = int(operands[more])
        added = -int(nodes[separator, SHORTEST]) if is_missing else shortest
        rest = frame(nodes, operands, text, frames, slots, sizes, node, CHOOSING, added, written)
        if rest >= 0:
            rest = push(nodes, operands, text, frames, slots, sizes, separator, rest)
        stack[depth + ways] = rest
        ways += 1
    return ways


@compiled_loop
def unfold_permutation(
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
    """Put on the stack what members in any order go on with; return how many frames that are."""
    node, first, second = int(frames[current, NODE]), int(frames[current, FIRST]), int(frames[current, SECOND])
    if first == CHOOSING:
        below = int(frames[current, TAIL])
        return unfold_choosing(nodes, operands, text, frames, slots, sizes, stack, depth, node, below)
    if second:
        return unfold_written(nodes, operands, text, frames, slots, sizes, stack, depth, current)
    if first != BEGUN:
        stack[depth] = place_member(nodes, operands, text, frames, slots, sizes, stack, depth, current)
        return 1
    begun = frame(nodes, operands, text, frames, slots, sizes, node, BEGUN, 1, int(frames[current, TAIL]))
    if begun < 0:
        stack[depth] = -1
        return 1
    return unfold_choosing(nodes, operands, text, frames, slots, sizes, stack, depth, node, begun)
