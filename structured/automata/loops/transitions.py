"""The transitions of a frame that reads a byte: arcs, each from a range of bytes to a frame."""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE
from structured.automata.loops.frames import (
    character_place,
    contents,
    frame,
    is_word,
    next_word,
    numbers,
    operation_of,
    push,
)
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import MORE_ARCS, MORE_MEMBERS, Machine
from structured.automata.loops.quoting import byte_at, first_rank, length_of_one, rule_after
from structured.automata.opcodes import FAR, UNLIMITED


@compiled_loop
def add_arc(machine: Machine, count: int, low: int, high: int, target: int) -> int:
    """Append an arc to the first `count` of `arcs`; return their number, or a code."""
    if count == len(machine.arcs):
        return MORE_ARCS
    machine.arcs[count, 0], machine.arcs[count, 1], machine.arcs[count, 2] = low, high, target
    return count + 1


@compiled_loop
def gather_words(machine: Machine, leaf: int, count: int) -> int:
    """Append one arc for each next byte of a word; as `gather_arcs`.

    In WORDS, the last byte of a word that no other word continues leads to the frame below; in UNLIKE, it does not.
    """
    node, word, read, tail = contents(machine, leaf)
    words, total, _ = numbers(machine, node)
    if is_word(machine, node, word, read):
        word = next_word(machine, words, total, word, read)
    while word < total:
        last = machine.nodes[node, op.OPERATION] == op.WORDS and is_word(machine, node, word, read + 1)
        several = word + 1 < total and machine.operands[words + total + 2 + word] > read
        target = tail
        if several or not last:
            target = frame(machine, node, word, read + 1, tail)
        byte = int(machine.text[machine.operands[words + word] + read])
        count = target if target < 0 else add_arc(machine, count, byte, byte, target)
        if count < 0:
            return count
        word = next_word(machine, words, total, word, read)
    return count


@compiled_loop
def gather_set(machine: Machine, node: int, tail: int, first_known: int, count: int) -> int:
    """Append the arcs of a set of bytes, less the single bytes of the arcs from `first_known` on; as `gather_arcs`.

    `a-z` less `c` → `a-b`, `d-z`
    """
    known = count
    start = int(machine.nodes[node, op.A])
    for arc in range(start, start + 3 * int(machine.nodes[node, op.B]), 3):
        target = tail
        if machine.operands[arc + 2] >= 0:
            target = push(machine, int(machine.operands[arc + 2]), tail)
        if target < 0:
            return target
        low = int(machine.operands[arc])
        for other in range(first_known, known + 1):
            end = int(machine.operands[arc + 1])
            high = min(end, int(machine.arcs[other, 0]) - 1) if other < known else end
            if low <= high:
                count = add_arc(machine, count, low, high, target)
                if count < 0:
                    return count
            if other < known:
                low = max(low, int(machine.arcs[other, 0]) + 1)
    return count


@compiled_loop
def gather_scan(machine: Machine, leaf: int, count: int) -> int:
    """Append the arcs of an automaton over characters, but for those after which too many would be needed."""
    node, state, left, tail = contents(machine, leaf)
    start = int(machine.nodes[node, op.A])
    after = UNLIMITED if left == UNLIMITED else left - 1
    row = start + 6 * state
    for pair in range(machine.operands[row], machine.operands[row] + 2 * machine.operands[row + 1], 2):
        target = int(machine.operands[pair + 1])
        if left != UNLIMITED and machine.operands[start + 6 * target + 3] > after:
            continue
        rest = frame(machine, node, target, after, tail)
        if rest < 0:
            return rest
        count = gather_set(machine, int(machine.operands[pair]), rest, count, count)
        if count < 0:
            return count
    return count


@compiled_loop
def gather_quotation(machine: Machine, leaf: int, count: int) -> int:
    """Append one arc for each next byte of a quotation that can still end; as `gather_arcs`."""
    node, first, end, below = contents(machine, leaf)
    _, lower, rule, tail = contents(machine, below)
    quotation, depth = int(machine.nodes[node, op.A]), -1 - lower
    while first < end:
        byte = byte_at(machine, quotation, first, depth)
        after = first_rank(machine, quotation, first, end, depth, byte + 1)
        state = rule_after(machine, quotation, first, depth, rule)
        is_live = byte != op.BARRIER and state != DEAD
        if is_live and length_of_one(machine, quotation, first, after, depth + 1, state) < FAR:
            target = frame(machine, node, first, after, frame(machine, node, -2 - depth, state, tail))
            count = target if target < 0 else add_arc(machine, count, byte, byte, target)
            if count < 0:
                return count
        first = after
    return count


@compiled_loop
def gather_arcs(machine: Machine, leaf: int, count: int) -> int:
    """Append the arcs of a leaf, `low, high, frame after`, to the first `count` of `arcs`; return their number.

    Each byte of an item that must differ leads to a frame of its own, which is made when needed: until then the item
    has one arc for all bytes, to the negated leaf itself.
    """
    node, first, second, tail = contents(machine, leaf)
    start, size, more = numbers(machine, node)
    operation = machine.nodes[node, op.OPERATION]
    if operation == op.ARCS:
        return gather_set(machine, node, tail, count, count)
    if operation == op.WORDS:
        return gather_words(machine, leaf, count)
    if operation == op.SCAN:
        return gather_scan(machine, leaf, count)
    if operation == op.QUOTATION:
        return gather_quotation(machine, leaf, count)
    if operation == op.UNLIKE:  # on along the words, or off them and free
        along = gather_words(machine, leaf, count)
        free = push(machine, int(machine.operands[more + 1]), tail)
        if along < 0 or free < 0:
            return min(along, free)
        place = character_place(machine, node, first, second)
        return gather_set(machine, place, free, count, along)
    if operation == op.ITEM:
        return add_arc(machine, count, 0, ROW_COMPLETE - 1, -leaf)
    target = tail
    if first + 1 < size:
        target = frame(machine, node, first + 1, 0, tail)
    byte = int(machine.text[start + first])
    return target if target < 0 else add_arc(machine, count, byte, byte, target)


CROWDED = 16
"""Up to this many frames of a state are not joined."""

MAX_COMMON = 16
"""The most frames above the union that are compared."""


@compiled_loop
def is_same_top(machine: Machine, one: int, other: int) -> bool:
    """Tell whether two frames differ only in what is below them."""
    return contents(machine, one)[:3] == contents(machine, other)[:3]


@compiled_loop
def add_frame(machine: Machine, start: int, count: int, new: int) -> int:
    """Insert a frame into the ordered frames marked in this round; return their number."""
    if machine.frames[new, op.MARK] == machine.sizes[op.ROUND]:
        return count
    machine.frames[new, op.MARK] = machine.sizes[op.ROUND]
    if start + count == len(machine.members):
        return MORE_MEMBERS
    place = start + count
    while place > start and machine.members[place - 1] > new:
        machine.members[place] = machine.members[place - 1]
        place -= 1
    machine.members[place] = new
    return count + 1


@compiled_loop
def gather_below(machine: Machine, first: int, end: int, free: int) -> int:
    """Write the frames below some members at a free place of `members`, in order, and unions frame by frame.

    Returns their number, or a code.
    """
    machine.sizes[op.ROUND] += 1
    count = 0
    for position in range(first, end):
        below = int(machine.frames[machine.members[position], op.TAIL])
        while below != op.FINISHED and machine.frames[below, op.NODE] == op.UNION_NODE:
            count = add_frame(machine, free, count, int(machine.frames[below, op.FIRST]))
            below = int(machine.frames[below, op.TAIL])
            if count < 0:
                return count
        count = add_frame(machine, free, count, below)
        if count < 0:
            return count
    return count


@compiled_loop
def have_same_top(machine: Machine, start: int, end: int) -> bool:
    """Tell whether some members are repetitions or sequences that differ only in what is below them."""
    first = int(machine.members[start])
    if operation_of(machine, first) not in (op.REPEAT, op.SEQUENCE):
        return False
    for other in machine.members[start + 1 : end]:
        if other == op.FINISHED or not is_same_top(machine, first, other):
            return False
    return True


@compiled_loop
def joined(machine: Machine, start: int, end: int, free: int) -> int:
    """Return the frame that joins members with the same top, on the union of what is below, or a code.

    `a b c`, `a b d` → `a b (c | d)`
    """
    machine.stack[0] = machine.members[start]
    above = 1
    count = gather_below(machine, start, end, free)
    while count > 1 and above < MAX_COMMON and have_same_top(machine, free, free + count):
        machine.stack[above] = machine.members[free]
        above += 1
        behind = free + count
        count = gather_below(machine, free, behind, behind)
        for position in range(count):
            machine.members[free + position] = machine.members[behind + position]
    if count < 0:
        return count
    below = int(machine.members[free + count - 1])
    for position in range(free + count - 2, free - 1, -1):
        below = frame(machine, op.UNION_NODE, int(machine.members[position]), 0, below)
    while above > 0:
        above -= 1
        node, first, second, _ = contents(machine, int(machine.stack[above]))
        below = frame(machine, node, first, second, below)
    return below


@compiled_loop
def join_members(machine: Machine, start: int, count: int) -> int:
    """Join the members with the same top, and mark the frames that are left; return their number, or a code."""
    end, group, left = start + count, start, start
    while group < end:
        leaf, after = int(machine.members[group]), group + 1
        if leaf != op.FINISHED and operation_of(machine, leaf) not in (op.QUOTATION, op.ITEM):
            for position in range(group + 1, end):
                other = int(machine.members[position])
                if other != op.FINISHED and is_same_top(machine, leaf, other):
                    machine.members[position] = machine.members[after]
                    machine.members[after] = other
                    after += 1
        if after > group + 1:
            leaf = joined(machine, group, after, end)
            if leaf < 0:
                return leaf
        machine.members[left] = leaf
        left += 1
        group = after
    machine.sizes[op.ROUND] += 1
    for position in range(start, left):
        machine.frames[machine.members[position], op.MARK] = machine.sizes[op.ROUND]
    return left - start
