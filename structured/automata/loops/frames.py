"""The frames of the regular automaton, interned, so that equal stacks are one number; and progress within words."""

from structured.automata import opcodes as op
from structured.automata.loops.jit import Ints, Rows, compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_FRAMES, Machine
from structured.automata.loops.quoting import quotation_length
from structured.automata.opcodes import FAR


@compiled_loop
def word_length(machine: Machine, words: int, word: int) -> int:
    """Return the bytes of a word."""
    return int(machine.operands[words + word + 1]) - int(machine.operands[words + word])


@compiled_loop
def shortest_word(machine: Machine, words: int, count: int, word: int, read: int) -> int:
    """Return the bytes left of the shortest word that has the first `read` bytes of `word`."""
    shortest = word_length(machine, words, word)
    for other in range(word + 1, count):
        if machine.operands[words + count + 1 + other] < read:
            break
        shortest = min(shortest, word_length(machine, words, other))
    return shortest - read


@compiled_loop
def next_word(machine: Machine, words: int, total: int, word: int, read: int) -> int:
    """Return the next word with the same `read` first bytes and another next byte; `total` if there is none."""
    shared = words + total + 1
    after = word + 1
    while after < total and machine.operands[shared + after] > read:
        after += 1
    return total if after < total and machine.operands[shared + after] < read else after


@compiled_loop
def is_word(machine: Machine, node: int, word: int, read: int) -> bool:
    """Tell whether the bytes read are a whole word."""
    return word_length(machine, int(machine.nodes[node, op.A]), word) == read


@compiled_loop
def character_place(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the node of the rest of a character after `read` bytes of a word; between characters, of a whole one."""
    whole = int(machine.operands[machine.nodes[node, op.C]])
    place = whole
    start = int(machine.operands[machine.nodes[node, op.A] + word])
    for position in range(start, start + read):
        first, count = int(machine.nodes[place, op.A]), int(machine.nodes[place, op.B])
        for arc in range(first, first + 3 * count, 3):
            if machine.operands[arc] <= machine.text[position] <= machine.operands[arc + 1]:
                place = int(machine.operands[arc + 2])
                break
        if place < 0:
            place = whole
    return place


@compiled_loop
def unlike_length(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the bytes that complete the character begun, or 1 for one more character after a whole word.

    These suffice, because `assemble` ensures that words never use all characters at a place.
    """
    place = character_place(machine, node, word, read)
    if place != machine.operands[machine.nodes[node, op.C]]:
        return int(machine.nodes[place, op.SHORTEST])
    return 1 if is_word(machine, node, word, read) else 0


@compiled_loop
def mixed(code: int, value: int) -> int:
    """Return a hash code with one more value mixed in."""
    code = ((code ^ value) * 0x9E3779B1) & 0x7FFFFFFF
    return code ^ (code >> 15)


@compiled_loop
def row_slot(rows: Rows, slots: Ints, first: int, second: int, third: int, fourth: int) -> int:
    """Return the slot of the row that begins with four numbers in a hash table, or the free slot for it."""
    mask = len(slots) - 1
    slot = mixed(mixed(mixed(mixed(0, int(first)), int(second)), int(third)), int(fourth)) & mask
    while slots[slot] >= 0:
        row = slots[slot]
        if rows[row, 0] == first and rows[row, 1] == second and rows[row, 2] == third and rows[row, 3] == fourth:
            break
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def interned(
    rows: Rows, slots: Ints, sizes: Ints, used: int, lack: int, first: int, second: int, third: int, fourth: int
) -> int:
    """Return the row that begins with four numbers, which is added if it is new; the code `lack` if it has no room.

    `sizes[used]` are the rows in use.
    """
    slot = row_slot(rows, slots, first, second, third, fourth)
    if slots[slot] >= 0:
        return int(slots[slot])
    new = int(sizes[used])
    if new == len(rows):
        return lack
    rows[new, 0], rows[new, 1], rows[new, 2], rows[new, 3] = first, second, third, fourth
    slots[slot] = new
    sizes[used] = new + 1
    return new


@compiled_entry
def rehash_rows(rows: Rows, slots: Ints, used: int) -> None:
    """Fill an empty hash table with the rows in use."""
    for row in range(used):
        slots[row_slot(rows, slots, rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3])] = row


@compiled_loop
def contents(machine: Machine, current: int) -> tuple[int, int, int, int]:
    """Return `NODE`, `FIRST`, `SECOND` and `TAIL` of a frame."""
    node, first = int(machine.frames[current, op.NODE]), int(machine.frames[current, op.FIRST])
    return node, first, int(machine.frames[current, op.SECOND]), int(machine.frames[current, op.TAIL])


@compiled_loop
def numbers(machine: Machine, node: int) -> tuple[int, int, int]:
    """Return `A`, `B` and `C` of a node."""
    return int(machine.nodes[node, op.A]), int(machine.nodes[node, op.B]), int(machine.nodes[node, op.C])


@compiled_loop
def operation_of(machine: Machine, current: int) -> int:
    """Return the operation of a frame; FINISHED has that of a union."""
    return int(machine.nodes[machine.frames[current, op.NODE], op.OPERATION])


@compiled_loop
def leaves_of(machine: Machine, current: int) -> Ints:
    """Return the leaves of a frame, which are known."""
    start = machine.frames[current, op.LEAVES]
    return machine.leaves[start : start + machine.frames[current, op.COUNT]]


@compiled_loop
def known_frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these contents, -1 if it has not been made."""
    return int(machine.frame_slots[row_slot(machine.frames, machine.frame_slots, node, first, second, tail)])


@compiled_loop
def members_length(machine: Machine, node: int, position: int, written: int) -> int:
    """Return the bytes of the shortest rest from a member on, given whether a member was written before."""
    if position < machine.nodes[node, op.B]:
        return int(machine.operands[machine.nodes[node, op.A] + 4 * position + 2 + written])
    return 0 if written else int(machine.operands[machine.nodes[node, op.C] + 2])


@compiled_loop
def permutation_length(machine: Machine, node: int, first: int, second: int) -> int:
    """Return the bytes that a frame of members in any order adds to the shortest completion of the frame below it.

    A written member subtracts its own bytes from those still needed.
    """
    more = int(machine.nodes[node, op.C])
    if first == op.CHOOSING:
        return second
    if first == op.BEGUN:
        return int(machine.operands[more + 2]) if second else int(machine.operands[more + 3])
    return -int(machine.operands[machine.nodes[node, op.A] + 4 * first + 2])


@compiled_loop
def quoted_length(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the bytes that a frame of a quotation adds to the shortest completion of the frame below it."""
    if first < 0:  # the lower of its two frames
        return 0
    depth, state = -1 - int(machine.frames[tail, op.FIRST]), int(machine.frames[tail, op.SECOND])
    if depth == 0:
        return int(machine.nodes[node, op.SHORTEST])
    return quotation_length(machine, int(machine.nodes[node, op.A]), first, second, depth, state)


@compiled_loop
def needed_after(machine: Machine, start: int, count: int) -> int:
    """Return the bytes still needed after `count` items that must differ, whose numbers begin at `start`."""
    least = int(machine.operands[start + op.LEAST])
    return int(machine.operands[start + op.ITEM_LENGTHS + least + min(count, least)])


@compiled_loop
def distinct_length(machine: Machine, node: int, count: int) -> int:
    """Return the bytes that a frame of items that must differ adds to the shortest completion of the frame below it.

    A written item subtracts its own bytes from those still needed.
    """
    start = int(machine.nodes[node, op.A])
    needed = needed_after(machine, start, count)
    return needed if count == 0 else needed - needed_after(machine, start, count - 1)


@compiled_loop
def own_length(machine: Machine, node: int, first: int, second: int, tail: int) -> int:  # noqa: C901  as `unfold`
    """Return the bytes of the shortest rest of a partly read node."""
    operation = machine.nodes[node, op.OPERATION]
    if operation == op.TEXT:
        return int(machine.nodes[node, op.SHORTEST]) - first
    if operation == op.WORDS:
        return shortest_word(machine, machine.nodes[node, op.A], machine.nodes[node, op.B], first, second)
    if operation == op.UNLIKE:
        return unlike_length(machine, node, first, second)
    if operation == op.SCAN:
        return int(machine.operands[machine.nodes[node, op.A] + 6 * first + 4])
    if operation == op.QUOTATION:
        return quoted_length(machine, node, first, second, tail)
    if operation == op.SEQUENCE:
        rest = int(machine.operands[machine.nodes[node, op.A] + 2 * first + 1])
        return rest - int(machine.operands[machine.nodes[node, op.A] + 2 * second + 1]) if second else rest
    if operation == op.MEMBERS:
        return members_length(machine, node, first, second)
    if operation == op.PERMUTATION:
        return permutation_length(machine, node, first, second)
    if operation == op.DISTINCT:
        return distinct_length(machine, node, second)
    if operation == op.ITEM:  # `item_frame` sets the length of an item
        return 0
    if operation == op.REPEAT:
        return min(int(first) * int(machine.nodes[machine.nodes[node, op.A], op.SHORTEST]), FAR)
    if operation == op.UNION:
        return min(int(machine.frames[first, op.LENGTH]) - int(machine.frames[tail, op.LENGTH]), 0)
    return int(machine.nodes[node, op.SHORTEST])


@compiled_loop
def frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these contents, or a code; a code in place of the tail is passed on."""
    if tail < 0:
        return tail
    frames, new = machine.frames, int(machine.sizes[op.FRAMES_USED])
    found = interned(frames, machine.frame_slots, machine.sizes, op.FRAMES_USED, MORE_FRAMES, node, first, second, tail)
    if found == new:
        length = own_length(machine, node, first, second, tail)
        frames[new, op.LENGTH] = min(length + frames[tail, op.LENGTH], FAR)
        frames[new, op.LEAVES] = -1
        frames[new, op.COUNT] = frames[new, op.MARK] = 0
    return found


@compiled_loop
def push(machine: Machine, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`, or a code.

    For a sequence, that is the frame of its first part, on a frame of the others.
    """
    while machine.nodes[node, op.OPERATION] == op.SEQUENCE:
        if machine.nodes[node, op.B] > 1:
            tail = frame(machine, node, 1, 0, tail)
        node = int(machine.operands[machine.nodes[node, op.A]])
    if machine.nodes[node, op.OPERATION] == op.REPEAT:
        return frame(machine, node, machine.nodes[node, op.B], machine.nodes[node, op.C], tail)
    if machine.nodes[node, op.OPERATION] == op.TEXT and machine.nodes[node, op.B] == 0:
        return tail
    if machine.nodes[node, op.OPERATION] == op.SCAN:
        return frame(machine, node, 0, machine.nodes[node, op.C], tail)
    if machine.nodes[node, op.OPERATION] == op.PERMUTATION:
        return frame(machine, node, op.BEGUN, 0, tail)
    if machine.nodes[node, op.OPERATION] == op.DISTINCT:
        return frame(machine, node, -1, 0, tail)
    if machine.nodes[node, op.OPERATION] == op.QUOTATION:
        count = int(machine.operands[machine.nodes[node, op.A] + op.SUFFIX_COUNT])
        return frame(machine, node, 0, count, frame(machine, node, -1, 0, tail))
    return frame(machine, node, 0, 0, tail)
