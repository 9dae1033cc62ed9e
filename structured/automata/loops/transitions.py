"""What a frame that reads a byte goes on with after it: arcs, each from a range of bytes to a frame."""

from structured.automata.loops.frames import FIRST, NODE, SECOND, TAIL, frame, push
from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_loop
from structured.automata.loops.word_lists import character_place, is_word, next_word
from structured.automata.opcodes import ARCS, OPERATION, SCAN, UNLIKE, UNLIMITED, WORDS, A, B, C


@compiled_loop
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


@compiled_loop
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


@compiled_loop
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


@compiled_loop
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
