"""The frames of the regular automaton, and the bytes that each adds to the shortest completion.

A frame is a node of the program, the progress in it, and the frame under it, its tail. So a frame is a whole stack:
what is left to read of a text. Frames are interned, so that equal stacks are one number.
"""

from structured.automata import opcodes as op
from structured.automata.loops.jit import Ints, Rows, compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_FRAMES, Machine
from structured.automata.loops.quoting import quotation_length
from structured.automata.opcodes import FAR


@compiled_loop
def word_length(machine: Machine, start: int, word: int) -> int:
    """Return the bytes of a word; `start` is that of the words in `operands`."""
    return int(machine.operands[start + word + 1]) - int(machine.operands[start + word])


@compiled_loop
def shortest_word_suffix(machine: Machine, start: int, count: int, word: int, read: int) -> int:
    """Return the bytes left of the shortest word, from `word` on, that has the first `read` bytes of `word`."""
    shortest = word_length(machine, start, word)
    for other in range(word + 1, count):
        if machine.operands[start + count + 1 + other] < read:
            break
        shortest = min(shortest, word_length(machine, start, other))
    return shortest - read


@compiled_loop
def next_word(machine: Machine, start: int, word_count: int, word: int, read: int) -> int:
    """Return the next word with the same `read` first bytes and another next byte; `word_count` if there is none."""
    shared = start + word_count + 1
    candidate = word + 1
    while candidate < word_count and machine.operands[shared + candidate] > read:
        candidate += 1
    return word_count if candidate < word_count and machine.operands[shared + candidate] < read else candidate


@compiled_loop
def is_whole_word(machine: Machine, node: int, word: int, read: int) -> bool:
    """Tell whether the first `read` bytes of a word are all of it."""
    return word_length(machine, int(machine.nodes[node, op.A]), word) == read


@compiled_loop
def character_node(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the node that reads on after `read` bytes of a word: the other bytes of a character that has begun.

    Between characters, it is the node of a whole character.
    """
    whole_character = int(machine.operands[machine.nodes[node, op.C]])
    current = whole_character
    start = int(machine.operands[machine.nodes[node, op.A] + word])
    for position in range(start, start + read):
        first, count = int(machine.nodes[current, op.A]), int(machine.nodes[current, op.B])
        for arc in range(first, first + 3 * count, 3):
            if machine.operands[arc] <= machine.text[position] <= machine.operands[arc + 1]:
                current = int(machine.operands[arc + 2])
                break
        if current < 0:
            current = whole_character
    return current


@compiled_loop
def unlike_length(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the bytes of the shortest text that makes the first `read` bytes of a word a string unlike all words.

    That is the end of a character that has begun, or one more character after a whole word. One character suffices,
    because `assemble` ensures that no beginning of a word goes on with every character.
    """
    character = character_node(machine, node, word, read)
    if character != machine.operands[machine.nodes[node, op.C]]:
        return int(machine.nodes[character, op.SHORTEST])
    return 1 if is_whole_word(machine, node, word, read) else 0


@compiled_loop
def mix(code: int, value: int) -> int:
    """Return a hash code with one more value mixed in."""
    code = ((code ^ value) * 0x9E3779B1) & 0x7FFFFFFF
    return code ^ (code >> 15)


@compiled_loop
def row_slot(rows: Rows, slots: Ints, first: int, second: int, third: int, fourth: int) -> int:
    """Return the slot of the row that begins with four numbers in a hash table, or the free slot for it."""
    mask = len(slots) - 1
    slot = mix(mix(mix(mix(0, int(first)), int(second)), int(third)), int(fourth)) & mask
    while slots[slot] >= 0:
        row = slots[slot]
        if rows[row, 0] == first and rows[row, 1] == second and rows[row, 2] == third and rows[row, 3] == fourth:
            break
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def intern_row(
    rows: Rows, slots: Ints, registers: Ints, used: int, code: int, first: int, second: int, third: int, fourth: int
) -> int:
    """Return the row that begins with four numbers, which is added if it is new; `code` if there is no room for it.

    `registers[used]` is the number of rows in use.
    """
    slot = row_slot(rows, slots, first, second, third, fourth)
    if slots[slot] >= 0:
        return int(slots[slot])
    new = int(registers[used])
    if new == len(rows):
        return code
    rows[new, 0], rows[new, 1], rows[new, 2], rows[new, 3] = first, second, third, fourth
    slots[slot] = new
    registers[used] = new + 1
    return new


@compiled_entry
def rehash_rows(rows: Rows, slots: Ints, used: int) -> None:
    """Fill an empty hash table with the rows in use."""
    for row in range(used):
        slots[row_slot(rows, slots, rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3])] = row


@compiled_loop
def frame_fields(machine: Machine, current: int) -> tuple[int, int, int, int]:
    """Return `NODE`, `FIRST`, `SECOND` and `TAIL` of a frame."""
    node, first = int(machine.frames[current, op.NODE]), int(machine.frames[current, op.FIRST])
    return node, first, int(machine.frames[current, op.SECOND]), int(machine.frames[current, op.TAIL])


@compiled_loop
def arguments_of(machine: Machine, node: int) -> tuple[int, int, int]:
    """Return `A`, `B` and `C` of a node."""
    return int(machine.nodes[node, op.A]), int(machine.nodes[node, op.B]), int(machine.nodes[node, op.C])


@compiled_loop
def operation_of(machine: Machine, current: int) -> int:
    """Return the operation of a frame; FINISHED has that of a union."""
    return int(machine.nodes[machine.frames[current, op.NODE], op.OPERATION])


@compiled_loop
def leaves_of(machine: Machine, current: int) -> Ints:
    """Return the leaves of a frame, which are known."""
    start = machine.frames[current, op.FIRST_LEAF]
    return machine.leaves[start : start + machine.frames[current, op.LEAF_COUNT]]


@compiled_loop
def find_frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these fields, -1 if it has not been made."""
    return int(machine.frame_slots[row_slot(machine.frames, machine.frame_slots, node, first, second, tail)])


@compiled_loop
def permutation_length(machine: Machine, node: int, first: int, second: int) -> int:
    """Return the bytes that a frame of members in any order adds to the distance of the frame under it.

    The frame before an object adds the bytes of all required members; that of a written member subtracts its own.
    """
    more = int(machine.nodes[node, op.C])
    if first == op.NEXT_MEMBER:
        return second
    if first == op.OBJECT_START:
        return int(machine.operands[more + 2]) if second else int(machine.operands[more + 3])
    return -int(machine.operands[machine.nodes[node, op.A] + 4 * first + 2])


@compiled_loop
def bytes_after_items(machine: Machine, start: int, count: int) -> int:
    """Return the bytes still needed after `count` items that must differ; `start` is that of their numbers."""
    min_items = int(machine.operands[start + op.MIN_ITEMS])
    return int(machine.operands[start + op.ITEM_LENGTHS + min_items + min(count, min_items)])


@compiled_loop
def distinct_length(machine: Machine, node: int, count: int) -> int:
    """Return the bytes that a frame of items that must differ adds to the distance of the frame under it.

    The frame before an array adds the bytes of all required items; that of a written item subtracts its own.
    """
    start = int(machine.nodes[node, op.A])
    needed = bytes_after_items(machine, start, count)
    return needed if count == 0 else needed - bytes_after_items(machine, start, count - 1)


@compiled_loop
def added_length(machine: Machine, node: int, first: int, second: int, tail: int) -> int:  # noqa: C901, PLR0912  as `unfold`
    """Return the bytes that a frame adds to the distance of the frame under it; negative where it counts down."""
    operation = machine.nodes[node, op.OPERATION]
    start, count, more = arguments_of(machine, node)
    if operation == op.TEXT:
        return int(machine.nodes[node, op.SHORTEST]) - first
    if operation == op.WORDS:
        return shortest_word_suffix(machine, start, count, first, second)
    if operation == op.UNLIKE:
        return unlike_length(machine, node, first, second)
    if operation == op.SCAN:
        return int(machine.operands[start + 6 * first + 4])
    if operation == op.QUOTATION and first < 0:  # the lower of its two frames
        return 0
    if operation == op.QUOTATION and machine.frames[tail, op.FIRST] < -1:
        depth, state = -1 - int(machine.frames[tail, op.FIRST]), int(machine.frames[tail, op.SECOND])
        return quotation_length(machine, start, first, second, depth, state)
    if operation == op.SEQUENCE:
        length = int(machine.operands[start + 2 * first + 1])
        return length - int(machine.operands[start + 2 * second + 1]) if second else length
    if operation == op.MEMBERS and first < count:
        return int(machine.operands[start + 4 * first + 2 + second])
    if operation == op.MEMBERS:
        return 0 if second else int(machine.operands[more + 2])
    if operation == op.PERMUTATION:
        return permutation_length(machine, node, first, second)
    if operation == op.DISTINCT:
        return distinct_length(machine, node, second)
    if operation == op.ITEM:  # `item_frame` sets the length of an item
        return 0
    if operation == op.REPEAT:
        return min(int(first) * int(machine.nodes[start, op.SHORTEST]), FAR)
    if operation == op.UNION:
        return min(int(machine.frames[first, op.DISTANCE]) - int(machine.frames[tail, op.DISTANCE]), 0)
    return int(machine.nodes[node, op.SHORTEST])


@compiled_loop
def intern_frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these fields, made if it is new, or a code; a code in place of the tail is passed on."""
    if tail < 0:
        return tail
    frames, new = machine.frames, int(machine.registers[op.FRAMES_USED])
    used = op.FRAMES_USED
    current = intern_row(frames, machine.frame_slots, machine.registers, used, MORE_FRAMES, node, first, second, tail)
    if current == new:
        length = added_length(machine, node, first, second, tail)
        frames[new, op.DISTANCE] = min(length + frames[tail, op.DISTANCE], FAR)
        frames[new, op.FIRST_LEAF] = -1
        frames[new, op.LEAF_COUNT] = frames[new, op.LAST_ROUND] = 0
    return current


@compiled_loop
def push(machine: Machine, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`, or a code.

    For a sequence, that is the frame of its first part, on a frame of the others.
    """
    while machine.nodes[node, op.OPERATION] == op.SEQUENCE:
        if machine.nodes[node, op.B] > 1:
            tail = intern_frame(machine, node, 1, 0, tail)
        node = int(machine.operands[machine.nodes[node, op.A]])
    if machine.nodes[node, op.OPERATION] == op.REPEAT:
        return intern_frame(machine, node, machine.nodes[node, op.B], machine.nodes[node, op.C], tail)
    if machine.nodes[node, op.OPERATION] == op.TEXT and machine.nodes[node, op.B] == 0:
        return tail
    if machine.nodes[node, op.OPERATION] == op.SCAN:
        return intern_frame(machine, node, 0, machine.nodes[node, op.C], tail)
    if machine.nodes[node, op.OPERATION] == op.PERMUTATION:
        return intern_frame(machine, node, op.OBJECT_START, 0, tail)
    if machine.nodes[node, op.OPERATION] == op.DISTINCT:
        return intern_frame(machine, node, -1, 0, tail)
    if machine.nodes[node, op.OPERATION] == op.QUOTATION:
        count = int(machine.operands[machine.nodes[node, op.A] + op.SUFFIX_COUNT])
        return intern_frame(machine, node, 0, count, intern_frame(machine, node, -1, 0, tail))
    return intern_frame(machine, node, 0, 0, tail)
