"""The lengths of a program: of its words, of the shortest match of each of its nodes."""

from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_entry, compiled_loop
from structured.automata.opcodes import (
    CHOICE,
    DISTINCT,
    FAR,
    ITEM,
    ITEM_LENGTHS,
    LEAST,
    MEMBERS,
    OPEN,
    OPERATION,
    PERMUTATION,
    REPEAT,
    SCAN,
    SEPARATOR,
    SEQUENCE,
    SHORTEST,
    UNIQUE_ITEM,
    UNLIMITED,
    A,
    B,
    C,
)


@compiled_entry
def common_prefixes(starts: Ints, text: Bytes, shared: Ints) -> None:
    """Fill in for each word how many bytes it has in common with the one before; `starts` has the end of the last."""
    for word in range(1, len(shared)):
        before, here, end = starts[word - 1], starts[word], starts[word + 1]
        while before < starts[word] and here < end and text[before] == text[here]:
            before += 1
            here += 1
        shared[word] = here - starts[word]


@compiled_loop
def shortest_members(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of the shortest members of a node, after filling in those from each of them on."""
    start, more = int(nodes[node, A]), int(nodes[node, C])
    separator = int(nodes[operands[more], SHORTEST])
    first = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], SHORTEST])
    later = 0  # the bytes if something was written before; `first` if nothing was
    operands[more + 2] = first
    for position in range(nodes[node, B] - 1, -1, -1):
        operand = start + 4 * position
        member = min(int(nodes[operands[operand], SHORTEST]) + later, FAR)
        if operands[operand + 1]:
            first = member
            later = min(separator + member, FAR)
        else:
            first = min(first, member)
        operands[operand + 2] = first
        operands[operand + 3] = later
    return first


@compiled_loop
def shortest_permutation(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of the shortest members of a node in any order, after filling in what the required ones take."""
    start, more = int(nodes[node, A]), int(nodes[node, C])
    separator = int(nodes[operands[more], SHORTEST])
    any_one = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], SHORTEST])
    required = 0
    for operand in range(start, start + 3 * int(nodes[node, B]), 3):
        member = int(nodes[operands[operand], SHORTEST])
        any_one = min(any_one, member)
        if operands[operand + 1]:
            operands[operand + 2] = min(member + separator, FAR)
            required = min(required + int(operands[operand + 2]), FAR)
    operands[more + 2] = required
    operands[more + 3] = required - separator if 0 < required < FAR else max(required, any_one)
    return int(operands[more + 3])


@compiled_loop
def shortest_scan(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of a shortest text of an automaton, after filling in those from each of its states on.

    Texts of the fewest characters are meant, since these are what is limited; of those, the ones of the fewest bytes.
    """
    start, count = int(nodes[node, A]), int(nodes[node, B])
    changed = True
    while changed:
        changed = False
        for state in range(count - 1, -1, -1):
            row = start + 6 * state
            fewest, shortest = int(operands[row + 3]), int(operands[row + 4])
            if operands[row + 2]:
                fewest = shortest = 0
            for pair in range(operands[row], operands[row] + 2 * operands[row + 1], 2):
                after = start + 6 * int(operands[pair + 1])
                characters = min(int(operands[after + 3]) + 1, FAR)
                size = min(int(operands[after + 4]) + int(nodes[operands[pair], SHORTEST]), FAR)
                if characters < fewest or (characters == fewest and size < shortest):
                    fewest, shortest = characters, size
            if fewest != operands[row + 3] or shortest != operands[row + 4]:
                operands[row + 3], operands[row + 4] = fewest, shortest
                changed = True
    most = nodes[node, C]
    return FAR if most != UNLIMITED and operands[start + 3] > most else int(operands[start + 4])


@compiled_loop
def shortest_distinct(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of the shortest items of a node that all differ, after filling in what so many still need."""
    start = int(nodes[node, A])
    least, lengths = int(operands[start + LEAST]), start + ITEM_LENGTHS
    separator = int(nodes[operands[start + SEPARATOR], SHORTEST]) if least > 1 else 0
    operands[lengths] = nodes[operands[start + UNIQUE_ITEM], SHORTEST]
    needed = lengths + least
    operands[needed + least] = 0
    for count in range(least - 1, -1, -1):
        rest = separator if count else 0
        operands[needed + count] = min(int(operands[needed + count + 1]) + int(operands[lengths + count]) + rest, FAR)
    return int(operands[needed])


@compiled_loop
def shortest_match(nodes: Rows, operands: Ints, node: int) -> int:  # noqa: C901  one case for each operation
    """Return the bytes of the shortest match of a node, given those of the nodes below it."""
    operation, start, count = nodes[node, OPERATION], int(nodes[node, A]), int(nodes[node, B])
    if operation == SEQUENCE:
        rest = 0
        for position in range(count - 1, -1, -1):
            operand = start + 2 * position
            rest = min(rest + int(nodes[operands[operand], SHORTEST]), FAR)
            operands[operand + 1] = rest
        return rest
    if operation == CHOICE:
        shortest = FAR
        for operand in range(start, start + count):
            shortest = min(shortest, int(nodes[operands[operand], SHORTEST]))
        return shortest
    if operation == REPEAT:
        return min(count * int(nodes[start, SHORTEST]), FAR)
    if operation == MEMBERS:
        return shortest_members(nodes, operands, node)
    if operation == PERMUTATION:
        return shortest_permutation(nodes, operands, node)
    if operation == SCAN:
        return shortest_scan(nodes, operands, node)
    if operation == ITEM:
        return int(nodes[operands[start + UNIQUE_ITEM], SHORTEST])
    if operation == DISTINCT:
        return shortest_distinct(nodes, operands, node)
    return int(nodes[node, SHORTEST])


@compiled_loop
def is_open(nodes: Rows, operands: Ints, node: int) -> bool:
    """Tell whether every plain character is a match of a node; of a repetition, whether it is one of its item."""
    operation, start = nodes[node, OPERATION], int(nodes[node, A])
    if operation == REPEAT:
        return bool(nodes[start, OPEN] and nodes[start, OPERATION] != REPEAT)
    if operation == CHOICE:
        for operand in range(start, start + nodes[node, B]):
            option = operands[operand]
            if nodes[option, OPEN] and nodes[option, OPERATION] != REPEAT:
                return True
        return False
    return bool(nodes[node, OPEN])


@compiled_entry
def measure(nodes: Rows, operands: Ints, first: int) -> bool:
    """Fill in the lengths of the nodes from `first` on; tell whether each has a match.

    Nodes come after those below them, so that one round is enough unless a reference leads back.
    """
    changed = True
    while changed:
        changed = False
        for node in range(first, len(nodes)):
            shortest = shortest_match(nodes, operands, node)
            changed = changed or shortest != nodes[node, SHORTEST]
            nodes[node, SHORTEST] = shortest
            nodes[node, OPEN] = is_open(nodes, operands, node)
    for node in range(first, len(nodes)):
        if nodes[node, SHORTEST] == FAR:
            return False
        if nodes[node, OPERATION] == REPEAT and nodes[nodes[node, A], SHORTEST] == 0:
            nodes[node, B] = 0  # where the item may be empty, a count from 0 on matches the same
    return True
