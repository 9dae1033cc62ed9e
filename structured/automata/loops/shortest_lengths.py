"""The lengths in a program, in bytes: of the beginnings that words share, and of the shortest match of each node."""

from structured.automata import opcodes as op
from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_entry, compiled_loop
from structured.automata.opcodes import FAR, UNLIMITED


@compiled_entry
def common_prefixes(starts: Ints, text: Bytes, shared: Ints) -> None:
    """Fill `shared` with the bytes that each word has in common with the one before; `starts` has the end of the last.

    `title`, `total` → `0, 1`
    """
    for word in range(1, len(shared)):
        index_before, index, end = starts[word - 1], starts[word], starts[word + 1]
        while index_before < starts[word] and index < end and text[index_before] == text[index]:
            index_before += 1
            index += 1
        shared[word] = index - starts[word]


@compiled_loop
def shortest_members(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of the shortest members of an object, and fill in those from each member on."""
    start, more = int(nodes[node, op.A]), int(nodes[node, op.C])
    separator = int(nodes[operands[more], op.SHORTEST])
    first = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], op.SHORTEST])
    later = 0  # the bytes if a member was written before; `first` if none was
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
    """Return the bytes of the shortest members of an object in any order, and fill in those of the required members."""
    start, more = int(nodes[node, op.A]), int(nodes[node, op.C])
    separator = int(nodes[operands[more], op.SHORTEST])
    shortest_member = FAR if operands[more + 1] < 0 else int(nodes[operands[more + 1], op.SHORTEST])
    required = 0
    for operand in range(start, start + 4 * int(nodes[node, op.B]), 4):
        member = int(nodes[operands[operand], op.SHORTEST])
        shortest_member = min(shortest_member, member)
        if operands[operand + 1]:
            operands[operand + 2] = min(member + separator, FAR)
            required = min(required + int(operands[operand + 2]), FAR)
    operands[more + 2] = required
    operands[more + 3] = required - separator if 0 < required < FAR else max(required, shortest_member)
    return int(operands[more + 3])


@compiled_loop
def shortest_scan(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of a text of the fewest characters of an automaton, and fill in those from each state on.

    Of the texts of the fewest characters, it has the fewest bytes. Characters come first, since they are limited.
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
                target_row = start + 6 * int(operands[pair + 1])
                characters = min(int(operands[target_row + 3]) + 1, FAR)
                size = min(int(operands[target_row + 4]) + int(nodes[operands[pair], op.SHORTEST]), FAR)
                if characters < fewest or (characters == fewest and size < shortest):
                    fewest, shortest = characters, size
            if fewest != operands[row + 3] or shortest != operands[row + 4]:
                operands[row + 3], operands[row + 4] = fewest, shortest
                changed = True
    max_characters = nodes[node, op.C]
    return FAR if max_characters != UNLIMITED and operands[start + 3] > max_characters else int(operands[start + 4])


@compiled_loop
def shortest_distinct(nodes: Rows, operands: Ints, node: int) -> int:
    """Return the bytes of the shortest items that all differ, and fill in those still needed after so many items."""
    start = int(nodes[node, op.A])
    min_items, lengths = int(operands[start + op.MIN_ITEMS]), start + op.ITEM_LENGTHS
    separator = int(nodes[operands[start + op.SEPARATOR], op.SHORTEST]) if min_items > 1 else 0
    operands[lengths] = nodes[operands[start + op.UNIQUE_ITEM], op.SHORTEST]
    needed = lengths + min_items
    operands[needed + min_items] = 0
    for count in range(min_items - 1, -1, -1):
        item = int(operands[lengths + count]) + (separator if count else 0)
        operands[needed + count] = min(int(operands[needed + count + 1]) + item, FAR)
    return int(operands[needed])


@compiled_loop
def shortest_match(nodes: Rows, operands: Ints, node: int) -> int:  # noqa: C901  one case for each operation
    """Return the bytes of the shortest match of a node, from those of its parts."""
    operation, start, count = nodes[node, op.OPERATION], int(nodes[node, op.A]), int(nodes[node, op.B])
    if operation == op.SEQUENCE:
        length = 0
        for position in range(count - 1, -1, -1):
            operand = start + 2 * position
            length = min(length + int(nodes[operands[operand], op.SHORTEST]), FAR)
            operands[operand + 1] = length
        return length
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
def matches_any_unescaped_character(nodes: Rows, operands: Ints, node: int) -> bool:
    """Tell whether every unescaped character is a match of a node; of a repetition, whether it is one of its item."""
    operation, start = nodes[node, op.OPERATION], int(nodes[node, op.A])
    if operation == op.REPEAT:
        return bool(nodes[start, op.ANY_UNESCAPED_CHARACTER] and nodes[start, op.OPERATION] != op.REPEAT)
    if operation == op.CHOICE:
        for operand in range(start, start + nodes[node, op.B]):
            option = operands[operand]
            if nodes[option, op.ANY_UNESCAPED_CHARACTER] and nodes[option, op.OPERATION] != op.REPEAT:
                return True
        return False
    return bool(nodes[node, op.ANY_UNESCAPED_CHARACTER])


@compiled_entry
def measure(nodes: Rows, operands: Ints, first: int) -> bool:
    """Fill in the lengths of the nodes from `first` on; tell whether each has a match.

    Nodes come after their parts, so that one pass is enough unless a reference leads back.
    """
    changed = True
    while changed:
        changed = False
        for node in range(first, len(nodes)):
            shortest = shortest_match(nodes, operands, node)
            changed = changed or shortest != nodes[node, op.SHORTEST]
            nodes[node, op.SHORTEST] = shortest
            nodes[node, op.ANY_UNESCAPED_CHARACTER] = matches_any_unescaped_character(nodes, operands, node)
    for node in range(first, len(nodes)):
        if nodes[node, op.SHORTEST] == FAR:
            return False
        if nodes[node, op.OPERATION] == op.REPEAT and nodes[nodes[node, op.A], op.SHORTEST] == 0:
            nodes[node, op.B] = 0  # where the item may be empty, a count from 0 on matches the same
    return True
