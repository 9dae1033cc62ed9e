"""Which word of a sorted choice is being read, and which character of it, for choices and for strings unlike them."""

from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import Machine
from structured.automata.opcodes import SHORTEST, A, B, C


@compiled_loop
def word_length(machine: Machine, words: int, word: int) -> int:
    """Return the bytes of a word."""
    return int(machine.operands[words + word + 1]) - int(machine.operands[words + word])


@compiled_loop
def shortest_word(machine: Machine, words: int, count: int, word: int, read: int) -> int:
    """Return the bytes left of the shortest of the words that begin as `word` does up to `read` bytes."""
    shortest = word_length(machine, words, word)
    for other in range(word + 1, count):
        if machine.operands[words + count + 1 + other] < read:
            break
        shortest = min(shortest, word_length(machine, words, other))
    return shortest - read


@compiled_loop
def next_word(machine: Machine, words: int, total: int, word: int, read: int) -> int:
    """Return the next word that begins with the same `read` bytes and goes on differently; `total` if none does."""
    shared = words + total + 1
    after = word + 1
    while after < total and machine.operands[shared + after] > read:
        after += 1
    return total if after < total and machine.operands[shared + after] < read else after


@compiled_loop
def is_word(machine: Machine, node: int, word: int, read: int) -> bool:
    """Tell whether the first word that begins with what was read is no longer than that."""
    return word_length(machine, int(machine.nodes[node, A]), word) == read


@compiled_loop
def character_place(machine: Machine, node: int, word: int, read: int) -> int:
    """Return the node of what is left of a character, after `read` bytes of a word: that of a whole one in between."""
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
    """Return the bytes that end the character begun, or one more character where a word has been read.

    No more are needed, since never are all the characters that would do taken by words (`assemble` sees to that).
    """
    place = character_place(machine, node, word, read)
    if place != machine.operands[machine.nodes[node, C]]:
        return int(machine.nodes[place, SHORTEST])
    return 1 if is_word(machine, node, word, read) else 0
