"""The frames of the regular automaton, interned, so that equal stacks are one number; and progress within words."""

from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import MORE_FRAMES, Machine
from structured.automata.loops.quoting import quotation_length
from structured.automata.opcodes import (
    DISTINCT,
    FAR,
    ITEM,
    ITEM_LENGTHS,
    LEAST,
    MEMBERS,
    OPERATION,
    PERMUTATION,
    QUOTATION,
    REPEAT,
    SCAN,
    SEQUENCE,
    SHORTEST,
    SUFFIX_COUNT,
    TEXT,
    UNION,
    UNLIKE,
    WORDS,
    A,
    B,
    C,
)


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
    return word_length(machine, int(machine.nodes[node, A]), word) == read


@compiled_loop
def character_place(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the node of the rest of a character after `read` bytes of a word; between characters, of a whole one."""
    whole = int(machine.operands[machine.nodes[node, C]])
    place = whole
    start = int(machine.operands[machine.nodes[node, A] + word])
    for position in range(start, start + read):
        first, count = int(machine.nodes[place, A]), int(machine.nodes[place, B])
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
    if place != machine.operands[machine.nodes[node, C]]:
        return int(machine.nodes[place, SHORTEST])
    return 1 if is_word(machine, node, word, read) else 0


NODE, FIRST, SECOND, TAIL, LENGTH, LEAVES, COUNT, MARK = range(8)
"""The columns of a frame: its node; the place reached in it, as two numbers; the frame below; the bytes of the shortest
completion; the start of its leaves in `leaves` (-1 if not known) and their number; the last round that met it. In the
frame of a sequence, `SECOND` is the part before which it is cut off, 0 for none."""

FRAMES_USED, LEAVES_USED, STATES_USED, MEMBERS_USED, ARCS_USED, ROUND = range(6)
WANTED, MARKED, MARKED_WITH, BYTE_WANTED = range(6, 10)
"""The entries of `sizes`: used rows of arrays; the state that is needed, or `-1 - i` for the state before an item `i`;
the frame of the items marked as written, and their mark; the byte of the needed state's row, -1 for all."""

BEGUN, CHOOSING = -1, -2
"""Values of FIRST in a frame of members in any order that are not a member; see `closure.py`."""

FINISHED = 0
"""The frame under all others: nothing is left to read."""


@compiled_loop
def mixed(code: int, value: int) -> int:
    """Return a hash code with one more value mixed in."""
    code = ((code ^ value) * 0x9E3779B1) & 0x7FFFFFFF
    return code ^ (code >> 15)


@compiled_loop
def frame_hash(node: int, first: int, second: int, tail: int) -> int:
    """Return the hash code of a frame."""
    return mixed(mixed(mixed(mixed(0, int(node)), int(first)), int(second)), int(tail))


@compiled_loop
def frame_slot(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the slot of the frame with these contents in the hash table, or the free slot for it."""
    mask = len(machine.frame_slots) - 1
    slot = frame_hash(node, first, second, tail) & mask
    while machine.frame_slots[slot] >= 0:
        same = machine.frame_slots[slot]
        if (
            machine.frames[same, NODE] == node
            and machine.frames[same, FIRST] == first
            and machine.frames[same, SECOND] == second
            and machine.frames[same, TAIL] == tail
        ):
            break
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def members_length(machine: Machine, node: int, position: int, written: int) -> int:
    """Return the bytes of the shortest rest from a member on, given whether a member was written before."""
    if position < machine.nodes[node, B]:
        return int(machine.operands[machine.nodes[node, A] + 4 * position + 2 + written])
    return 0 if written else int(machine.operands[machine.nodes[node, C] + 2])


@compiled_loop
def permutation_length(machine: Machine, node: int, first: int, second: int) -> int:
    """Return the bytes that a frame of members in any order adds to the shortest completion of the frame below it.

    A written member subtracts its own bytes from those still needed.
    """
    more = int(machine.nodes[node, C])
    if first == CHOOSING:
        return second
    if first == BEGUN:
        return int(machine.operands[more + 2]) if second else int(machine.operands[more + 3])
    return -int(machine.operands[machine.nodes[node, A] + 3 * first + 2])


@compiled_loop
def quoted_length(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the bytes that a frame of a quotation adds to the shortest completion of the frame below it."""
    if first < 0:  # the lower of its two frames
        return 0
    depth, state = -1 - int(machine.frames[tail, FIRST]), int(machine.frames[tail, SECOND])
    if depth == 0:
        return int(machine.nodes[node, SHORTEST])
    return quotation_length(machine, int(machine.nodes[node, A]), first, second, depth, state)


@compiled_loop
def needed_after(machine: Machine, start: int, count: int) -> int:
    """Return the bytes still needed after `count` items that must differ, whose numbers begin at `start`."""
    least = int(machine.operands[start + LEAST])
    return int(machine.operands[start + ITEM_LENGTHS + least + min(count, least)])


@compiled_loop
def distinct_length(machine: Machine, node: int, count: int) -> int:
    """Return the bytes that a frame of items that must differ adds to the shortest completion of the frame below it.

    A written item subtracts its own bytes from those still needed.
    """
    start = int(machine.nodes[node, A])
    needed = needed_after(machine, start, count)
    return needed if count == 0 else needed - needed_after(machine, start, count - 1)


@compiled_loop
def own_length(machine: Machine, node: int, first: int, second: int, tail: int) -> int:  # noqa: C901  as `unfold`
    """Return the bytes of the shortest rest of a partly read node."""
    operation = machine.nodes[node, OPERATION]
    if operation == TEXT:
        return int(machine.nodes[node, SHORTEST]) - first
    if operation == WORDS:
        return shortest_word(machine, machine.nodes[node, A], machine.nodes[node, B], first, second)
    if operation == UNLIKE:
        return unlike_length(machine, node, first, second)
    if operation == SCAN:
        return int(machine.operands[machine.nodes[node, A] + 6 * first + 4])
    if operation == QUOTATION:
        return quoted_length(machine, node, first, second, tail)
    if operation == SEQUENCE:
        rest = int(machine.operands[machine.nodes[node, A] + 2 * first + 1])
        return rest - int(machine.operands[machine.nodes[node, A] + 2 * second + 1]) if second else rest
    if operation == MEMBERS:
        return members_length(machine, node, first, second)
    if operation == PERMUTATION:
        return permutation_length(machine, node, first, second)
    if operation == DISTINCT:
        return distinct_length(machine, node, second)
    if operation == ITEM:  # `item_frame` sets the length of an item
        return 0
    if operation == REPEAT:
        return min(int(first) * int(machine.nodes[machine.nodes[node, A], SHORTEST]), FAR)
    if operation == UNION:
        return min(int(machine.frames[first, LENGTH]) - int(machine.frames[tail, LENGTH]), 0)
    return int(machine.nodes[node, SHORTEST])


@compiled_loop
def frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these contents, or a code; a code in place of the tail is passed on."""
    if tail < 0:
        return tail
    slot = frame_slot(machine, node, first, second, tail)
    if machine.frame_slots[slot] >= 0:
        return int(machine.frame_slots[slot])
    new = int(machine.sizes[FRAMES_USED])
    if new == len(machine.frames):
        return MORE_FRAMES
    length = own_length(machine, node, first, second, tail)
    machine.frames[new, NODE] = node
    machine.frames[new, FIRST] = first
    machine.frames[new, SECOND] = second
    machine.frames[new, TAIL] = tail
    machine.frames[new, LENGTH] = min(length + machine.frames[tail, LENGTH], FAR)
    machine.frames[new, LEAVES] = -1
    machine.frames[new, COUNT] = machine.frames[new, MARK] = 0
    machine.frame_slots[slot] = new
    machine.sizes[FRAMES_USED] = new + 1
    return new


@compiled_loop
def push(machine: Machine, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`, or a code.

    For a sequence, that is the frame of its first part, on a frame of the others.
    """
    while machine.nodes[node, OPERATION] == SEQUENCE:
        if machine.nodes[node, B] > 1:
            tail = frame(machine, node, 1, 0, tail)
        node = int(machine.operands[machine.nodes[node, A]])
    if machine.nodes[node, OPERATION] == REPEAT:
        return frame(machine, node, machine.nodes[node, B], machine.nodes[node, C], tail)
    if machine.nodes[node, OPERATION] == TEXT and machine.nodes[node, B] == 0:
        return tail
    if machine.nodes[node, OPERATION] == SCAN:
        return frame(machine, node, 0, machine.nodes[node, C], tail)
    if machine.nodes[node, OPERATION] == PERMUTATION:
        return frame(machine, node, BEGUN, 0, tail)
    if machine.nodes[node, OPERATION] == DISTINCT:
        return frame(machine, node, -1, 0, tail)
    if machine.nodes[node, OPERATION] == QUOTATION:
        count = int(machine.operands[machine.nodes[node, A] + SUFFIX_COUNT])
        return frame(machine, node, 0, count, frame(machine, node, -1, 0, tail))
    return frame(machine, node, 0, 0, tail)


@compiled_loop
def rehash_frames(machine: Machine) -> None:
    """Fill the empty hash table of frames with those in use."""
    mask = len(machine.frame_slots) - 1
    for current in range(1, machine.sizes[FRAMES_USED]):
        slot = (
            frame_hash(
                machine.frames[current, NODE],
                machine.frames[current, FIRST],
                machine.frames[current, SECOND],
                machine.frames[current, TAIL],
            )
            & mask
        )
        while machine.frame_slots[slot] >= 0:
            slot = (slot + 1) & mask
        machine.frame_slots[slot] = current
