"""What the regular automaton still has to read, as frames: interned, closed, and followed over bytes.

A loop that lacks room says which array is full, and leaves behind nothing but facts that stay true; the caller grows it
and calls again.
"""

from structured.automata.machine_code import Bytes, Ints, Rows, machine_code
from structured.automata.program import (
    ARCS,
    CHOICE,
    FAR,
    MEMBERS,
    OPERATION,
    REPEAT,
    SCAN,
    SEQUENCE,
    SHORTEST,
    TEXT,
    UNLIKE,
    UNLIMITED,
    WORDS,
    A,
    B,
    C,
)

NODE, FIRST, SECOND, TAIL, LENGTH, LEAVES, COUNT, MARK = range(8)
"""The columns of a frame: the node on top, how far it is read, the frame below; the bytes of the shortest completion;
where its leaves lie in `leaves` (-1: not known yet) and how many there are; the last round in which it was met."""

FRAMES_USED, LEAVES_USED, STATES_USED, MEMBERS_USED, ARCS_USED, ROUND = range(6)
"""What is counted in `sizes`."""

DONE, MORE_FRAMES, MORE_LEAVES, MORE_STATES, MORE_MEMBERS, MORE_STACK, MORE_ARCS, TOO_MANY_WAYS = range(8)
"""What a loop answers: that it is done, which array is full, or that it gives up."""

FINISHED = 0
"""The frame under all others: nothing is left to read."""


@machine_code
def mixed(code: int, value: int) -> int:
    """Return a hash code into which one more value is mixed."""
    code = ((code ^ value) * 0x9E3779B1) & 0x7FFFFFFF
    return code ^ (code >> 15)


@machine_code
def frame_hash(node: int, first: int, second: int, tail: int) -> int:
    """Return the hash code of a frame."""
    return mixed(mixed(mixed(mixed(0, int(node)), int(first)), int(second)), int(tail))


@machine_code
def frame_slot(frames: Rows, slots: Ints, node: int, first: int, second: int, tail: int) -> int:
    """Return where the frame with these contents stands in the hash table, or where it would stand."""
    mask = len(slots) - 1
    slot = frame_hash(node, first, second, tail) & mask
    while slots[slot] >= 0:
        known = slots[slot]
        if (
            frames[known, NODE] == node
            and frames[known, FIRST] == first
            and frames[known, SECOND] == second
            and frames[known, TAIL] == tail
        ):
            break
        slot = (slot + 1) & mask
    return slot


@machine_code
def word_length(operands: Ints, words: int, word: int) -> int:
    """Return the bytes of a word."""
    return int(operands[words + word + 1]) - int(operands[words + word])


@machine_code
def shortest_word(operands: Ints, words: int, count: int, word: int, read: int) -> int:
    """Return the bytes left of the shortest of the words that begin as `word` does up to `read` bytes."""
    shortest = word_length(operands, words, word)
    for other in range(word + 1, count):
        if operands[words + count + 1 + other] < read:
            break
        shortest = min(shortest, word_length(operands, words, other))
    return shortest - read


@machine_code
def character_place(nodes: Rows, operands: Ints, text: Bytes, node: int, word: int, read: int) -> int:
    """Return the node of what is left of a character, after `read` bytes of a word: that of a whole one in between."""
    whole = int(operands[nodes[node, C]])
    place = whole
    start = int(operands[nodes[node, A] + word])
    for position in range(start, start + read):
        first, count = int(nodes[place, A]), int(nodes[place, B])
        for arc in range(first, first + 3 * count, 3):
            if operands[arc] <= text[position] <= operands[arc + 1]:
                place = int(operands[arc + 2])
                break
        if place < 0:
            place = whole
    return place


@machine_code
def is_word(nodes: Rows, operands: Ints, node: int, word: int, read: int) -> bool:
    """Tell whether the first word that begins with what was read is no longer than that."""
    return word_length(operands, int(nodes[node, A]), word) == read


@machine_code
def unlike_length(nodes: Rows, operands: Ints, text: Bytes, node: int, word: int, read: int) -> int:
    """Return the bytes that end the character begun, or one more character where a word has been read.

    No more are needed, since never are all the characters that would do taken by words (`assemble` sees to that).
    """
    place = character_place(nodes, operands, text, node, word, read)
    if place != operands[nodes[node, C]]:
        return int(nodes[place, SHORTEST])
    return 1 if is_word(nodes, operands, node, word, read) else 0


@machine_code
def members_length(nodes: Rows, operands: Ints, node: int, position: int, written: int) -> int:
    """Return the bytes of the shortest rest from a member on, given whether one has been written before."""
    if position < nodes[node, B]:
        return int(operands[nodes[node, A] + 4 * position + 2 + written])
    return 0 if written else int(operands[nodes[node, C] + 2])


@machine_code
def own_length(nodes: Rows, operands: Ints, text: Bytes, node: int, first: int, second: int) -> int:
    """Return the bytes of the shortest rest of a node that has been read so far."""
    operation = nodes[node, OPERATION]
    if operation == TEXT:
        return int(nodes[node, SHORTEST]) - first
    if operation == WORDS:
        return shortest_word(operands, nodes[node, A], nodes[node, B], first, second)
    if operation == UNLIKE:
        return unlike_length(nodes, operands, text, node, first, second)
    if operation == SCAN:
        return int(operands[nodes[node, A] + 6 * first + 4])
    if operation == SEQUENCE:
        return int(operands[nodes[node, A] + 2 * first + 1])
    if operation == MEMBERS:
        return members_length(nodes, operands, node, first, second)
    if operation == REPEAT:
        return min(int(first) * int(nodes[nodes[node, A], SHORTEST]), FAR)
    return int(nodes[node, SHORTEST])


@machine_code
def frame(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    node: int,
    first: int,
    second: int,
    tail: int,
) -> int:
    """Return the frame with these contents, new or known; -1 for want of room. `slots` is the hash table of frames."""
    if tail < 0:
        return -1
    slot = frame_slot(frames, slots, node, first, second, tail)
    if slots[slot] >= 0:
        return int(slots[slot])
    new = int(sizes[FRAMES_USED])
    if new == len(frames):
        return -1
    length = own_length(nodes, operands, text, node, first, second)
    frames[new, NODE] = node
    frames[new, FIRST] = first
    frames[new, SECOND] = second
    frames[new, TAIL] = tail
    frames[new, LENGTH] = min(length + frames[tail, LENGTH], FAR)
    frames[new, LEAVES] = -1
    frames[new, MARK] = 0
    slots[slot] = new
    sizes[FRAMES_USED] = new + 1
    return new


@machine_code
def push(nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`; -1 for want of room."""
    if nodes[node, OPERATION] == REPEAT:
        return frame(nodes, operands, text, frames, slots, sizes, node, nodes[node, B], nodes[node, C], tail)
    if nodes[node, OPERATION] == TEXT and nodes[node, B] == 0:
        return tail
    if nodes[node, OPERATION] == SCAN:
        return frame(nodes, operands, text, frames, slots, sizes, node, 0, nodes[node, C], tail)
    return frame(nodes, operands, text, frames, slots, sizes, node, 0, 0, tail)


@machine_code
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


@machine_code
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


@machine_code
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
    if depth + max(2, count if operation == CHOICE else 0) > len(stack):
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


@machine_code
def is_covered(nodes: Rows, frames: Rows, slots: Ints, current: int, now: int) -> bool:
    """Tell whether a repetition was reached by an item without a byte, from the same with one more allowed.

    Whatever matches from here then matches from there.
    """
    node, required, allowed = frames[current, NODE], frames[current, FIRST], frames[current, SECOND]
    if current == FINISHED or nodes[node, OPERATION] != REPEAT or required > 0 or allowed == UNLIMITED:
        return False
    before = slots[frame_slot(frames, slots, node, 0, allowed + 1, frames[current, TAIL])]
    return bool(before >= 0 and frames[before, MARK] == now)


@machine_code
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


@machine_code
def next_word(operands: Ints, words: int, total: int, word: int, read: int) -> int:
    """Return the next word that begins with the same `read` bytes and goes on differently; `total` if none does."""
    shared = words + total + 1
    after = word + 1
    while after < total and operands[shared + after] > read:
        after += 1
    return total if after < total and operands[shared + after] < read else after


@machine_code
def gather_words(
    nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, arcs: Rows, leaf: int, count: int
) -> int:
    """Append one arc for each byte that some word goes on with; as `gather_arcs`.

    A word alone that ends with the byte leads to what follows; not where words are what must not be read.
    """
    node, word = int(frames[leaf, NODE]), int(frames[leaf, FIRST])
    read, tail = int(frames[leaf, SECOND]), int(frames[leaf, TAIL])
    words, total = int(nodes[node, A]), int(nodes[node, B])
    if is_word(nodes, operands, node, word, read):
        word = next_word(operands, words, total, word, read)
    while word < total:
        if count == len(arcs):
            return -1
        last = nodes[node, OPERATION] == WORDS and is_word(nodes, operands, node, word, read + 1)
        several = word + 1 < total and operands[words + total + 2 + word] > read
        target = tail
        if several or not last:
            target = frame(nodes, operands, text, frames, slots, sizes, node, word, read + 1, tail)
        if target < 0:
            return -2
        arcs[count, 0] = arcs[count, 1] = text[operands[words + word] + read]
        arcs[count, 2] = target
        count += 1
        word = next_word(operands, words, total, word, read)
    return count


@machine_code
def gather_set(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    arcs: Rows,
    node: int,
    tail: int,
    first_known: int,
    count: int,
) -> int:
    """Append the arcs of a set of bytes, less the single bytes of the arcs from `first_known` on; as `gather_arcs`.

    `a-z` less `c` → `a-b`, `d-z`
    """
    known = count
    start = int(nodes[node, A])
    for arc in range(start, start + 3 * int(nodes[node, B]), 3):
        target = tail
        if operands[arc + 2] >= 0:
            target = push(nodes, operands, text, frames, slots, sizes, int(operands[arc + 2]), tail)
        if target < 0:
            return -2
        low = int(operands[arc])
        for other in range(first_known, known + 1):
            end = int(operands[arc + 1])
            high = min(end, int(arcs[other, 0]) - 1) if other < known else end
            if low <= high:
                if count == len(arcs):
                    return -1
                arcs[count, 0] = low
                arcs[count, 1] = high
                arcs[count, 2] = target
                count += 1
            if other < known:
                low = max(low, int(arcs[other, 0]) + 1)
    return count


@machine_code
def gather_scan(
    nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, arcs: Rows, leaf: int, count: int
) -> int:
    """Append the arcs of an automaton over characters, but for those after which too many would be needed."""
    node, state = int(frames[leaf, NODE]), int(frames[leaf, FIRST])
    left, tail, start = int(frames[leaf, SECOND]), int(frames[leaf, TAIL]), int(nodes[node, A])
    after = UNLIMITED if left == UNLIMITED else left - 1
    row = start + 6 * state
    for pair in range(operands[row], operands[row] + 2 * operands[row + 1], 2):
        target = int(operands[pair + 1])
        if left != UNLIMITED and operands[start + 6 * target + 3] > after:
            continue
        rest = frame(nodes, operands, text, frames, slots, sizes, node, target, after, tail)
        if rest < 0:
            return -2
        count = gather_set(
            nodes, operands, text, frames, slots, sizes, arcs, int(operands[pair]), rest, count, count
        )  # fmt: skip
        if count < 0:
            return count
    return count


@machine_code
def gather_arcs(
    nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, arcs: Rows, leaf: int, count: int
) -> int:
    """Append the arcs of a leaf, `low, high, frame after`, to the first `count` in `arcs`; return how many there are.

    -1 if `arcs` is full, -2 if `frames` is.
    """
    node, tail = int(frames[leaf, NODE]), int(frames[leaf, TAIL])
    first, operation = int(nodes[node, A]), nodes[node, OPERATION]
    if operation == ARCS:
        return gather_set(nodes, operands, text, frames, slots, sizes, arcs, node, tail, count, count)
    if operation == WORDS:
        return gather_words(nodes, operands, text, frames, slots, sizes, arcs, leaf, count)
    if operation == SCAN:
        return gather_scan(nodes, operands, text, frames, slots, sizes, arcs, leaf, count)
    if operation == UNLIKE:  # on along the words, or off them and free
        along = gather_words(nodes, operands, text, frames, slots, sizes, arcs, leaf, count)
        free = push(nodes, operands, text, frames, slots, sizes, int(operands[nodes[node, C] + 1]), tail)
        if along < 0 or free < 0:
            return along if along < 0 else -2
        place = character_place(nodes, operands, text, node, int(frames[leaf, FIRST]), int(frames[leaf, SECOND]))
        return gather_set(nodes, operands, text, frames, slots, sizes, arcs, place, free, count, along)
    if count == len(arcs):
        return -1
    read = int(frames[leaf, FIRST])
    target = tail
    if read + 1 < nodes[node, B]:
        target = frame(nodes, operands, text, frames, slots, sizes, node, read + 1, 0, tail)
    if target < 0:
        return -2
    arcs[count, 0] = arcs[count, 1] = text[first + read]
    arcs[count, 2] = target
    return count + 1


@machine_code
def rehash_frames(frames: Rows, slots: Ints, sizes: Ints) -> None:
    """Fill an empty hash table with the frames in use."""
    mask = len(slots) - 1
    for known in range(1, sizes[FRAMES_USED]):
        slot = frame_hash(frames[known, NODE], frames[known, FIRST], frames[known, SECOND], frames[known, TAIL]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = known
