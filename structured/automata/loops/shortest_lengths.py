"""The lengths in a program: the bytes of the shortest match of each node."""

from structured.automata import opcodes as op
from structured.automata.loops.assembly import Assembly
from structured.automata.opcodes import FAR, UNLIMITED
from structured.machine_code.notation import entry, loop


@loop
def shortest_members(program: Assembly, node: int) -> int:
    """Return the bytes of the shortest members of an object, and fill in those from each member on."""
    start, more = program.nodes[node, op.A], program.nodes[node, op.C]
    separator = program.nodes[program.operands[more], op.SHORTEST]
    first = FAR if program.operands[more + 1] < 0 else program.nodes[program.operands[more + 1], op.SHORTEST]
    later = 0  # the bytes if a member was written before; `first` if none was
    program.operands[more + 2] = first
    for position in range(program.nodes[node, op.B] - 1, -1, -1):
        operand = start + 4 * position
        member = min(program.nodes[program.operands[operand], op.SHORTEST] + later, FAR)
        if program.operands[operand + 1]:
            first = member
            later = min(separator + member, FAR)
        else:
            first = min(first, member)
        program.operands[operand + 2] = first
        program.operands[operand + 3] = later
    return first


@loop
def shortest_permutation(program: Assembly, node: int) -> int:
    """Return the bytes of the shortest members of an object in any order, and fill in those of the required members."""
    start, more = program.nodes[node, op.A], program.nodes[node, op.C]
    separator = program.nodes[program.operands[more], op.SHORTEST]
    shortest_member = FAR if program.operands[more + 1] < 0 else program.nodes[program.operands[more + 1], op.SHORTEST]
    required = 0
    for operand in range(start, start + 4 * program.nodes[node, op.B], 4):
        member = program.nodes[program.operands[operand], op.SHORTEST]
        shortest_member = min(shortest_member, member)
        if program.operands[operand + 1]:
            program.operands[operand + 2] = min(member + separator, FAR)
            required = min(required + program.operands[operand + 2], FAR)
    program.operands[more + 2] = required
    program.operands[more + 3] = required - separator if 0 < required < FAR else max(required, shortest_member)
    return program.operands[more + 3]


@loop
def shortest_scan(program: Assembly, node: int) -> int:
    """Return the bytes of a text of the fewest characters of an automaton, and fill in those from each state on.

    Of the texts of the fewest characters, it has the fewest bytes. Characters come first, since they are limited.
    """
    start, count = program.nodes[node, op.A], program.nodes[node, op.B]
    changed = True
    while changed:
        changed = False
        for state in range(count - 1, -1, -1):
            row = start + 6 * state
            fewest, shortest = program.operands[row + 3], program.operands[row + 4]
            if program.operands[row + 2]:
                fewest = shortest = 0
            for pair in range(program.operands[row], program.operands[row] + 2 * program.operands[row + 1], 2):
                target_row = start + 6 * program.operands[pair + 1]
                characters = min(program.operands[target_row + 3] + 1, FAR)
                size = min(program.operands[target_row + 4] + program.nodes[program.operands[pair], op.SHORTEST], FAR)
                if characters < fewest or (characters == fewest and size < shortest):
                    fewest, shortest = characters, size
            if fewest != program.operands[row + 3] or shortest != program.operands[row + 4]:
                program.operands[row + 3], program.operands[row + 4] = fewest, shortest
                changed = True
    max_characters = program.nodes[node, op.C]
    return (
        FAR
        if max_characters != UNLIMITED and program.operands[start + 3] > max_characters
        else program.operands[start + 4]
    )


@loop
def shortest_distinct(program: Assembly, node: int) -> int:
    """Return the bytes of the shortest items that all differ, and fill in those still needed after so many items."""
    start = program.nodes[node, op.A]
    min_items, lengths = program.operands[start + op.MIN_ITEMS], start + op.ITEM_LENGTHS
    separator = program.nodes[program.operands[start + op.SEPARATOR], op.SHORTEST] if min_items > 1 else 0
    program.operands[lengths] = program.nodes[program.operands[start + op.UNIQUE_ITEM], op.SHORTEST]
    needed = lengths + min_items
    program.operands[needed + min_items] = 0
    for count in range(min_items - 1, -1, -1):
        item = program.operands[lengths + count] + (separator if count else 0)
        program.operands[needed + count] = min(program.operands[needed + count + 1] + item, FAR)
    return program.operands[needed]


@loop
def shortest_match(program: Assembly, node: int) -> int:  # noqa: C901  one case for each operation
    """Return the bytes of the shortest match of a node, from those of its parts."""
    operation, start, count = program.nodes[node, op.OPERATION], program.nodes[node, op.A], program.nodes[node, op.B]
    if operation == op.SEQUENCE:
        length = 0
        for position in range(count - 1, -1, -1):
            operand = start + 2 * position
            length = min(length + program.nodes[program.operands[operand], op.SHORTEST], FAR)
            program.operands[operand + 1] = length
        return length
    if operation == op.CHOICE:
        shortest = FAR
        for operand in range(start, start + count):
            shortest = min(shortest, program.nodes[program.operands[operand], op.SHORTEST])
        return shortest
    if operation == op.REPEAT:
        return min(count * program.nodes[start, op.SHORTEST], FAR)
    if operation == op.MEMBERS:
        return shortest_members(program, node)
    if operation == op.PERMUTATION:
        return shortest_permutation(program, node)
    if operation == op.SCAN:
        return shortest_scan(program, node)
    if operation == op.ITEM:
        return program.nodes[program.operands[start + op.UNIQUE_ITEM], op.SHORTEST]
    if operation == op.DISTINCT:
        return shortest_distinct(program, node)
    return program.nodes[node, op.SHORTEST]


@loop
def matches_any_unescaped_character(program: Assembly, node: int) -> bool:
    """Tell whether every unescaped character is a match of a node; of a repetition, whether it is one of its item."""
    operation, start = program.nodes[node, op.OPERATION], program.nodes[node, op.A]
    if operation == op.REPEAT:
        return program.nodes[start, op.ANY_UNESCAPED_CHARACTER] == 1 and program.nodes[start, op.OPERATION] != op.REPEAT
    if operation == op.CHOICE:
        for operand in range(start, start + program.nodes[node, op.B]):
            option = program.operands[operand]
            if program.nodes[option, op.ANY_UNESCAPED_CHARACTER] and program.nodes[option, op.OPERATION] != op.REPEAT:
                return True
        return False
    return program.nodes[node, op.ANY_UNESCAPED_CHARACTER] == 1


@entry
def measure(program: Assembly, first: int) -> bool:
    """Fill in the lengths of the nodes from `first` on; tell whether each has a match.

    Nodes come after their parts, so that one pass is enough unless a reference leads back.
    """
    changed = True
    while changed:
        changed = False
        for node in range(first, program.node_count):
            shortest = shortest_match(program, node)
            changed = changed or shortest != program.nodes[node, op.SHORTEST]
            program.nodes[node, op.SHORTEST] = shortest
            program.nodes[node, op.ANY_UNESCAPED_CHARACTER] = matches_any_unescaped_character(program, node)
    for node in range(first, program.node_count):
        if program.nodes[node, op.SHORTEST] == FAR:
            return False
        if (
            program.nodes[node, op.OPERATION] == op.REPEAT
            and program.nodes[program.nodes[node, op.A], op.SHORTEST] == 0
        ):
            program.nodes[node, op.B] = 0  # where the item may be empty, a count from 0 on matches the same
    return True
