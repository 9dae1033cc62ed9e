"""The transitions of a frame that reads a byte: arcs, each from a range of bytes to a frame.

Where one byte leads to many frames, those with equal tops are joined: `a b c`, `a b d` → `a b (c | d)`.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE
from structured.automata.loops.frames import character_node, frame, is_whole_word, next_word, operation_of, push
from structured.automata.loops.machine import Arc, Machine
from structured.automata.loops.quoting import byte_at, first_rank, length_of_first, rule_after
from structured.automata.opcodes import FAR, UNLIMITED
from structured.machine_code.notation import loop


@loop
def gather_words(machine: Machine, leaf: int) -> None:
    """Append one arc for each next byte of a word; as `gather_arcs`.

    In WORDS, the last byte of a word that no other word continues leads to the tail; in UNLIKE, it does not.
    """
    node, word = machine.frames[leaf].node, machine.frames[leaf].first
    read, tail = machine.frames[leaf].second, machine.frames[leaf].tail
    start, word_count = machine.nodes[node].a, machine.nodes[node].b
    if is_whole_word(machine, node, word, read):
        word = next_word(machine, start, word_count, word, read)
    while word < word_count:
        is_last_byte = machine.nodes[node].operation == op.WORDS and is_whole_word(machine, node, word, read + 1)
        is_continued = word + 1 < word_count and machine.operands[start + word_count + 2 + word] > read
        target = tail
        if is_continued or not is_last_byte:
            target = frame(machine, node, word, read + 1, tail)
        byte = machine.text[machine.operands[start + word] + read]
        machine.arcs.append(Arc(byte, byte, target))
        word = next_word(machine, start, word_count, word, read)


@loop
def gather_set(machine: Machine, node: int, tail: int, first_excluded: int) -> None:
    """Append the arcs of a set of bytes, less the single bytes of the arcs from `first_excluded` on; as `gather_arcs`.

    `a-z` less `c` → `a-b`, `d-z`
    """
    excluded_end = len(machine.arcs)
    start = machine.nodes[node].a
    for arc in range(start, start + 3 * machine.nodes[node].b, 3):
        target = tail
        if machine.operands[arc + 2] >= 0:
            target = push(machine, machine.operands[arc + 2], tail)
        low, end = machine.operands[arc], machine.operands[arc + 1]
        for other in range(first_excluded, excluded_end):
            high = min(end, machine.arcs[other].low - 1)
            if low <= high:
                machine.arcs.append(Arc(low, high, target))
            low = max(low, machine.arcs[other].low + 1)
        if low <= end:
            machine.arcs.append(Arc(low, end, target))


@loop
def gather_scan(machine: Machine, leaf: int) -> None:
    """Append the arcs of an automaton over characters; skip those that need more characters than are left."""
    node, characters_left = machine.frames[leaf].node, machine.frames[leaf].second
    start = machine.nodes[node].a
    characters_after = UNLIMITED if characters_left == UNLIMITED else characters_left - 1
    row = start + 6 * machine.frames[leaf].first
    for pair in range(machine.operands[row], machine.operands[row] + 2 * machine.operands[row + 1], 2):
        target = machine.operands[pair + 1]
        if characters_left != UNLIMITED and machine.operands[start + 6 * target + 3] > characters_after:
            continue
        successor = frame(machine, node, target, characters_after, machine.frames[leaf].tail)
        gather_set(machine, machine.operands[pair], successor, len(machine.arcs))


@loop
def gather_quotation(machine: Machine, leaf: int) -> None:
    """Append one arc for each next byte of a quotation that can still end; as `gather_arcs`."""
    node, first, end = machine.frames[leaf].node, machine.frames[leaf].first, machine.frames[leaf].second
    lower_frame = machine.frames[leaf].tail
    rule, tail = machine.frames[lower_frame].second, machine.frames[lower_frame].tail
    quotation, depth = machine.nodes[node].a, -1 - machine.frames[lower_frame].first
    while first < end:
        byte = byte_at(machine, quotation, first, depth)
        next_rank = first_rank(machine, quotation, first, end, depth, byte + 1)
        state = rule_after(machine, quotation, first, depth, rule)
        is_live = byte != op.BARRIER and state != DEAD
        if is_live and length_of_first(machine, quotation, first, next_rank, depth + 1, state) < FAR:
            target = frame(machine, node, first, next_rank, frame(machine, node, -2 - depth, state, tail))
            machine.arcs.append(Arc(byte, byte, target))
        first = next_rank


@loop
def gather_arcs(machine: Machine, leaf: int) -> None:
    """Append the arcs of a leaf.

    Each byte of an item that must differ leads to a frame of its own, which is made when needed: the item has one arc
    for all bytes, to `-leaf`, from which `arc_target` makes the frame.
    """
    node, first, tail = machine.frames[leaf].node, machine.frames[leaf].first, machine.frames[leaf].tail
    operation = machine.nodes[node].operation
    if operation == op.ARCS:
        gather_set(machine, node, tail, len(machine.arcs))
    elif operation == op.WORDS:
        gather_words(machine, leaf)
    elif operation == op.SCAN:
        gather_scan(machine, leaf)
    elif operation == op.QUOTATION:
        gather_quotation(machine, leaf)
    elif operation == op.UNLIKE:  # the next byte of a word, or another byte and then any characters
        words_start = len(machine.arcs)
        gather_words(machine, leaf)
        any_characters = push(machine, machine.operands[machine.nodes[node].c + 1], tail)
        character = character_node(machine, node, first, machine.frames[leaf].second)
        gather_set(machine, character, any_characters, words_start)
    elif operation == op.ITEM:
        machine.arcs.append(Arc(0, ROW_COMPLETE - 1, -leaf))
    else:
        target = frame(machine, node, first + 1, 0, tail) if first + 1 < machine.nodes[node].b else tail
        byte = machine.text[machine.nodes[node].a + first]
        machine.arcs.append(Arc(byte, byte, target))


MAX_UNJOINED = 16
"""The most frames of a state that are not joined."""

MAX_COMMON = 16
"""The most equal frames at the top of stacks that are joined."""


@loop
def is_same_top(machine: Machine, one: int, other: int) -> bool:
    """Tell whether two frames differ in their tails only."""
    return (
        machine.frames[one].node == machine.frames[other].node
        and machine.frames[one].first == machine.frames[other].first
        and machine.frames[one].second == machine.frames[other].second
    )


@loop
def insert_frame(machine: Machine, start: int, new: int) -> None:
    """Insert a frame into the sorted elements from `start` on, unless it was met in this round."""
    if machine.states.rounds[new] == machine.states.round:
        return
    machine.states.rounds[new] = machine.states.round
    index = len(machine.states.elements)
    machine.states.elements.append(new)
    while index > start and machine.states.elements[index - 1] > new:
        machine.states.elements[index] = machine.states.elements[index - 1]
        index -= 1
    machine.states.elements[index] = new


@loop
def gather_tails(machine: Machine, first: int, end: int) -> None:
    """Append the tails of the frames `elements[first:end]` to the elements, sorted, each once.

    A union gives the frames that it joins: `x (c | d)`, `x e` → `c`, `d`, `e`.
    """
    machine.states.round += 1
    start = len(machine.states.elements)
    for position in range(first, end):
        tail = machine.frames[machine.states.elements[position]].tail
        while tail != op.FINISHED and machine.frames[tail].node == op.UNION_NODE:
            insert_frame(machine, start, machine.frames[tail].first)
            tail = machine.frames[tail].tail
        insert_frame(machine, start, tail)


@loop
def have_same_top(machine: Machine, start: int, end: int) -> bool:
    """Tell whether the frames `elements[start:end]` are repetitions or sequences that differ in their tails only."""
    first = machine.states.elements[start]
    if operation_of(machine, first) not in (op.REPEAT, op.SEQUENCE):
        return False
    for position in range(start + 1, end):
        other = machine.states.elements[position]
        if other == op.FINISHED or not is_same_top(machine, first, other):
            return False
    return True


@loop
def join_group(machine: Machine, start: int, end: int) -> int:
    """Return one frame for the frames `elements[start:end]`, which differ in their tails only.

    `a b c`, `a b d` → `a b (c | d)`
    """
    machine.scratch[0] = machine.states.elements[start]
    height, tails = 1, len(machine.states.elements)
    gather_tails(machine, start, end)
    tails_end = len(machine.states.elements)
    while tails_end - tails > 1 and height < MAX_COMMON and have_same_top(machine, tails, tails_end):
        machine.scratch[height] = machine.states.elements[tails]
        height += 1
        gather_tails(machine, tails, tails_end)
        for position in range(len(machine.states.elements) - tails_end):
            machine.states.elements[tails + position] = machine.states.elements[tails_end + position]
        tails_end = tails + len(machine.states.elements) - tails_end
        del machine.states.elements[tails_end:]
    current = machine.states.elements[tails_end - 1]
    for position in range(tails_end - 2, tails - 1, -1):
        current = frame(machine, op.UNION_NODE, machine.states.elements[position], 0, current)
    del machine.states.elements[tails:]
    while height > 0:
        height -= 1
        top = machine.scratch[height]
        node, first, second = machine.frames[top].node, machine.frames[top].first, machine.frames[top].second
        current = frame(machine, node, first, second, current)
    return current


@loop
def join_frames(machine: Machine, start: int) -> None:
    """Join the frames of the elements from `start` on that differ in their tails only; mark those that are left."""
    end, group, joined_end = len(machine.states.elements), start, start
    while group < end:
        leaf, group_end = machine.states.elements[group], group + 1
        if leaf != op.FINISHED and operation_of(machine, leaf) not in (op.QUOTATION, op.ITEM):
            for position in range(group + 1, end):
                other = machine.states.elements[position]
                if other != op.FINISHED and is_same_top(machine, leaf, other):
                    machine.states.elements[position] = machine.states.elements[group_end]
                    machine.states.elements[group_end] = other
                    group_end += 1
        if group_end > group + 1:
            leaf = join_group(machine, group, group_end)
        machine.states.elements[joined_end] = leaf
        joined_end += 1
        group = group_end
    del machine.states.elements[joined_end:]
    machine.states.round += 1
    for position in range(start, joined_end):
        machine.states.rounds[machine.states.elements[position]] = machine.states.round
