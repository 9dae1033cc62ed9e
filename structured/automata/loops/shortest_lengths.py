"""The lengths of a program: of its words, of the shortest match of each of its nodes."""

from structured.automata import opcodes as op
from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_entry, compiled_loop
from structured.automata.opcodes import FAR, UNLIMITED


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
    start, more = int(nodes[node, op.A]), int(nodes[node, op.C])
    separator = int(nodes[operands[more], op.SHORTEST])
    first = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], op.SHORTEST])
    later = 0  # the bytes if something was written before; `first` if nothing was
    operands[more + 2] = first
    for position in range(nodes[node, op.B] - 1, -1, -1):
        operand = start + 4 * position
        member = min(int(nodes[operands[operand], op.SHORTEST]) + later, FAR)
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
    start, more = int(nodes[node, op.A]), int(nodes[node, op.C])
    separator = int(nodes[operands[more], op.SHORTEST])
    any_one = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], op.SHORTEST])
    required = 0
    for operand in range(start, start + 4 * int(nodes[node, op.B]), 4):
        member = int(nodes[operands[operand], op.SHORTEST])
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
    start, count = int(nodes[node, op.A]), int(nodes[node, op.B])
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
                size = min(int(operands[after + 4]) + int(nodes[operands[pair], op.SHORTEST]), FAR)
                if characters < fewest or (characters == fewest and size < shortest):
                    fewest, shortest = characters, size
            if fewest != operands[row + 3] or shortest != operands[row + 4]:
                operands[row + 3], operands[row + 4] = fewest, shortest
                changed = True
    most = nodes[node, op.C]
    return FAR if most != UNLIMITED and operands[start + 3] > most else int(operands[start + 4])


@compiled_loop
def shortest_distinct(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of the shortest items of a node that all differ, after filling in what so many still need."""
    start = int(nodes[node, op.A])
    least, lengths = int(operands[start + op.LEAST]), start + op.ITEM_LENGTHS
    separator = int(nodes[operands[start + op.SEPARATOR], op.SHORTEST]) if least > 1 else 0
    operands[lengths] = nodes[operands[start + op.UNIQUE_ITEM], op.SHORTEST]
    needed = lengths + least
    operands[needed + least] = 0
    for count in range(least - 1, -1, -1):
        rest = separator if count else 0
        operands[needed + count] = min(int(operands[needed + count + 1]) + int(operands[lengths + count]) + rest, FAR)
    return int(operands[needed])


@compiled_loop
def shortest_match(nodes: Rows, operands: Ints, node: int) -> int:  # noqa: C901  one case for each operation
    """Return the bytes of the shortest match of a node, given those of the nodes below it."""
    operation, start, count = nodes[node, op.OPERATION], int(nodes[node, op.A]), int(nodes[node, op.B])
    if operation == op.SEQUENCE:
        rest = 0
        for position in range(count - 1, -1, -1):
            operand = start + 2 * position
            rest = min(rest + int(nodes[operands[operand], op.SHORTEST]), FAR)
            operands[operand + 1] = rest
        return rest
    if operation == op.CHOICE:
        shortest = FAR
        for operand in range(start, start + count):
            shortest = min(shortest, int(nodes[operands[operand], op.SHORTEST]))
        return shortest
    if operation == op.REPEAT:
        return min(count * int(nodes[start, op.SHORTEST]), FAR)
    if operation == op.MEMBERS:
        return shortest_members(nodes, operands, node)
    if operation == op.PERMUTATION:
        return shortest_permutation(nodes, operands, node)
    if operation == op.SCAN:
        return shortest_scan(nodes, operands, node)
    if operation == op.ITEM:
        return int(nodes[operands[start + op.UNIQUE_ITEM], op.SHORTEST])
    if operation == op.DISTINCT:
        return shortest_distinct(nodes, operands, node)
    return int(nodes[node, op.SHORTEST])


@compiled_loop
def is_open(nodes: Rows, operands: Ints, node: int) -> bool:
    """Tell whether every plain character is a match of a node; of a repetition, whether it is one of its item."""
    operation, start = nodes[node, op.OPERATION], int(nodes[node, op.A])
    if operation == op.REPEAT:
        return bool(nodes[start, op.OPEN] and nodes[start, op.OPERATION] != op.REPEAT)
    if operation == op.CHOICE:
        for operand in range(start, start + nodes[node, op.B]):
            option = operands[operand]
            if nodes[option, op.OPEN] and nodes[option, op.OPERATION] != op.REPEAT:
                return True
        return False
    return bool(nodes[node, op.OPEN])


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
            changed = changed or shortest != nodes[node, op.SHORTEST]
            nodes[node, op.SHORTEST] = shortest
            nodes[node, op.OPEN] = is_open(nodes, operands, node)
    for node in range(first, len(nodes)):
        if nodes[node, op.SHORTEST] == FAR:
            return False
        if nodes[node, op.OPERATION] == op.REPEAT and nodes[nodes[node, op.A], op.SHORTEST] == 0:
            nodes[node, op.B] = 0  # where the item may be empty, a count from 0 on matches the same
    return True
