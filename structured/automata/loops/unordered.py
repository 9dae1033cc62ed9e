"""Members in any order: which of them have been written lies on the stack itself.

A frame `BEGUN` says that members are being read; `SECOND` tells whether one has been written. On it lie frames of the
members that have been, the greatest on top, so that one set of them is one stack, whatever their order was. A member
that is being read lies beneath what it reads as a frame of its own, with 0 in `SECOND`, and takes its place in the
stack when it has been read. Where a member must follow, a frame `CHOOSING` lies on top, with the bytes that it adds to
the shortest completion in `SECOND`.
"""

from structured.automata.loops.frames import BEGUN, CHOOSING, FIRST, NODE, SECOND, TAIL, frame, push
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import Machine
from structured.automata.opcodes import FAR, SHORTEST, A, B, C


@compiled_loop
def place_member(machine: Machine, depth: int, current: int) -> int:
    """Return the stack of the members written once the one of a frame is among them; as `frame`.

    `3 | 5 2 0 …` → `5 3 2 0 …`; the numbers above its place wait on the stack of the loop.
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
    """Put on the stack each member that may come next, and one by another name; return how many frames that are."""
    start, rest = int(machine.nodes[node, A]), int(machine.operands[machine.nodes[node, C] + 1])
    ways = 0
    if rest >= 0:
        machine.stack[depth] = push(machine, rest, written)
        ways = 1
    known = written
    for member in range(int(machine.nodes[node, B]) - 1, -1, -1):
        if machine.frames[known, FIRST] == member:
            known = int(machine.frames[known, TAIL])
            continue
        after = frame(machine, node, member, 0, written)
        machine.stack[depth + ways] = push(machine, int(machine.operands[start + 3 * member]), after)
        ways += 1
    return ways


@compiled_loop
def unfold_written(machine: Machine, depth: int, written: int) -> int:
    """Put on the stack what follows some members: a separator and one more or, if none is missing, what is after them.

    Returns how many frames that are.
    """
    node = int(machine.frames[written, NODE])
    start, more = int(machine.nodes[node, A]), int(machine.nodes[node, C])
    shortest = FAR if machine.operands[more + 1] < 0 else int(machine.nodes[machine.operands[more + 1], SHORTEST])
    is_missing = False
    known = written
    for member in range(int(machine.nodes[node, B]) - 1, -1, -1):
        if machine.frames[known, FIRST] == member:
            known = int(machine.frames[known, TAIL])
        else:
            is_missing = is_missing or machine.operands[start + 3 * member + 1] == 1
            shortest = min(shortest, int(machine.nodes[machine.operands[start + 3 * member], SHORTEST]))
    ways = 0
    if not is_missing:
        machine.stack[depth] = machine.frames[known, TAIL]
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
    """Put on the stack what members in any order go on with; return how many frames that are."""
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
