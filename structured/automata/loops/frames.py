"""The frames of the regular automaton, and the bytes that each adds to the shortest completion."""

from structured.automata import opcodes as op
from structured.automata.loops.machine import Machine, find_frame, new_frame
from structured.automata.loops.quoting import quotation_length
from structured.automata.opcodes import FAR
from structured.machine_code.notation import loop


@loop
def word_length(machine: Machine, start: int, word: int) -> int:
    """Return the bytes of a word; `start` is that of the words in `operands`."""
    return machine.operands[start + word + 1] - machine.operands[start + word]


@loop
def shortest_word_suffix(machine: Machine, start: int, count: int, word: int, read: int) -> int:
    """Return the bytes left of the shortest word, from `word` on, that has the first `read` bytes of `word`."""
    shortest = word_length(machine, start, word)
    for other in range(word + 1, count):
        if machine.operands[start + count + 1 + other] < read:
            break
        shortest = min(shortest, word_length(machine, start, other))
    return shortest - read


@loop
def next_word(machine: Machine, start: int, word_count: int, word: int, read: int) -> int:
    """Return the next word with the same `read` first bytes and another next byte; `word_count` if there is none."""
    shared = start + word_count + 1
    candidate = word + 1
    while candidate < word_count and machine.operands[shared + candidate] > read:
        candidate += 1
    return word_count if candidate < word_count and machine.operands[shared + candidate] < read else candidate


@loop
def is_whole_word(machine: Machine, node: int, word: int, read: int) -> bool:
    """Tell whether the first `read` bytes of a word are all of it."""
    return word_length(machine, machine.nodes[node].a, word) == read


@loop
def character_node(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the node that reads on after `read` bytes of a word: the other bytes of a character that has begun.

    Between characters, it is the node of a whole character.
    """
    whole_character = machine.operands[machine.nodes[node].c]
    current = whole_character
    start = machine.operands[machine.nodes[node].a + word]
    for position in range(start, start + read):
        first, count = machine.nodes[current].a, machine.nodes[current].b
        for arc in range(first, first + 3 * count, 3):
            if machine.operands[arc] <= machine.text[position] <= machine.operands[arc + 1]:
                current = machine.operands[arc + 2]
                break
        if current < 0:
            current = whole_character
    return current


@loop
def unlike_length(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the bytes of the shortest text that makes the first `read` bytes of a word a string unlike all words.

    That is the end of a character that has begun, or one more character after a whole word. One character suffices,
    because `assemble` ensures that no beginning of a word goes on with every character.
    """
    character = character_node(machine, node, word, read)
    if character != machine.operands[machine.nodes[node].c]:
        return machine.nodes[character].shortest
    return 1 if is_whole_word(machine, node, word, read) else 0


@loop
def operation_of(machine: Machine, current: int) -> int:
    """Return the operation of a frame; FINISHED has that of a union."""
    return machine.nodes[machine.frames[current].node].operation


@loop
def permutation_length(machine: Machine, node: int, first: int, second: int) -> int:
    """Return the bytes that a frame of members in any order adds to the distance of the frame under it.

    The frame before an object adds the bytes of all required members; that of a written member subtracts its own.
    """
    more = machine.nodes[node].c
    if first == op.NEXT_MEMBER:
        return second
    if first == op.OBJECT_START:
        return machine.operands[more + 2] if second else machine.operands[more + 3]
    return -machine.operands[machine.nodes[node].a + 4 * first + 2]


@loop
def bytes_after_items(machine: Machine, start: int, count: int) -> int:
    """Return the bytes still needed after `count` items that must differ; `start` is that of their numbers."""
    min_items = machine.operands[start + op.MIN_ITEMS]
    return machine.operands[start + op.ITEM_LENGTHS + min_items + min(count, min_items)]


@loop
def distinct_length(machine: Machine, node: int, count: int) -> int:
    """Return the bytes that a frame of items that must differ adds to the distance of the frame under it.

    The frame before an array adds the bytes of all required items; that of a written item subtracts its own.
    """
    start = machine.nodes[node].a
    needed = bytes_after_items(machine, start, count)
    return needed if count == 0 else needed - bytes_after_items(machine, start, count - 1)


@loop
def added_length(machine: Machine, node: int, first: int, second: int, tail: int) -> int:  # noqa: C901, PLR0912  as `unfold`
    """Return the bytes that a frame adds to the distance of the frame under it; negative where it counts down."""
    operation = machine.nodes[node].operation
    start, count, more = machine.nodes[node].a, machine.nodes[node].b, machine.nodes[node].c
    if operation == op.TEXT:
        return machine.nodes[node].shortest - first
    if operation == op.WORDS:
        return shortest_word_suffix(machine, start, count, first, second)
    if operation == op.UNLIKE:
        return unlike_length(machine, node, first, second)
    if operation == op.SCAN:
        return machine.operands[start + 6 * first + 4]
    if operation == op.QUOTATION and first < 0:  # the lower of its two frames
        return 0
    if operation == op.QUOTATION and machine.frames[tail].first < -1:
        depth, state = -1 - machine.frames[tail].first, machine.frames[tail].second
        return quotation_length(machine, start, first, second, depth, state)
    if operation == op.SEQUENCE:
        length = machine.operands[start + 2 * first + 1]
        return length - machine.operands[start + 2 * second + 1] if second else length
    if operation == op.MEMBERS and first < count:
        return machine.operands[start + 4 * first + 2 + second]
    if operation == op.MEMBERS:
        return 0 if second else machine.operands[more + 2]
    if operation == op.PERMUTATION:
        return permutation_length(machine, node, first, second)
    if operation == op.DISTINCT:
        return distinct_length(machine, node, second)
    if operation == op.ITEM:  # `item_frame` sets the length of an item
        return 0
    if operation == op.REPEAT:
        return min(first * machine.nodes[start].shortest, FAR)
    if operation == op.UNION:
        return min(machine.frames[first].distance - machine.frames[tail].distance, 0)
    return machine.nodes[node].shortest


@loop
def frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these fields, made if it is new."""
    current = find_frame(machine, node, first, second, tail)
    if current < 0:
        length = added_length(machine, node, first, second, tail) + machine.frames[tail].distance
        return new_frame(machine, node, first, second, tail, min(length, FAR))
    return current


@loop
def push(machine: Machine, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`.

    For a sequence, that is the frame of its first part, on a frame of the others.
    """
    while machine.nodes[node].operation == op.SEQUENCE:
        if machine.nodes[node].b > 1:
            tail = frame(machine, node, 1, 0, tail)
        node = machine.operands[machine.nodes[node].a]
    operation = machine.nodes[node].operation
    if operation == op.REPEAT:
        return frame(machine, node, machine.nodes[node].b, machine.nodes[node].c, tail)
    if operation == op.TEXT and machine.nodes[node].b == 0:
        return tail
    if operation == op.SCAN:
        return frame(machine, node, 0, machine.nodes[node].c, tail)
    if operation == op.PERMUTATION:
        return frame(machine, node, op.OBJECT_START, 0, tail)
    if operation == op.DISTINCT:
        return frame(machine, node, -1, 0, tail)
    if operation == op.QUOTATION:
        count = machine.operands[machine.nodes[node].a + op.SUFFIX_COUNT]
        return frame(machine, node, 0, count, frame(machine, node, -1, 0, tail))
    return frame(machine, node, 0, 0, tail)
