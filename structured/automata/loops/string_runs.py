"""String runs: how many plain characters may follow a state inside a string, whichever they are.

They save an index nearly all of its work: the plain tokens of up to a number of characters are known for a vocabulary,
and other tokens are allowed alike at every count that does not run out within one of them.
"""

from structured.automata import opcodes as op
from structured.automata.loops.closure import close
from structured.automata.loops.frames import character_place, contents, frame, known_frame, leaves_of, numbers, push
from structured.automata.loops.jit import Ints, compiled_loop
from structured.automata.loops.machine import DONE, Machine
from structured.automata.loops.states import consists_of, members_of, state_of
from structured.automata.opcodes import UNLIMITED

LENGTH_LEFT, FARTHEST, REPRESENTATIVE, QUOTED, INSIDE, STEADY = range(6)
"""What `find_string_run` writes down, as `StringRun` has it: how many plain characters may follow; the greatest
distance after some of them; a state from which the same other tokens may follow; 1 if nothing but a quote ends the
string; the state of such a string with nothing after it, NONE if it is not known; 1 if no plain character changes the
representative."""

QUOTE, BACKSLASH = 0x22, 0x5C

NONE = -1
"""The result if there is no such frame, or no string run."""


@compiled_loop
def open_leaf(machine: Machine, state: int) -> int:
    """Return a frame of a state that reads any number of plain characters; NONE if there is none."""
    for member in members_of(machine, state):
        leaf = int(member)
        node, first, second, rest = contents(machine, leaf)
        operation = machine.nodes[node, op.OPERATION]
        if operation == op.UNLIKE:
            if character_place(machine, node, first, second) == machine.operands[machine.nodes[node, op.C]]:
                return leaf
        elif operation == op.SCAN:
            if second == UNLIMITED and machine.operands[machine.nodes[node, op.A] + 6 * first + 5]:
                return leaf
        elif operation == op.ARCS and machine.nodes[node, op.OPEN]:
            again = machine.nodes[machine.frames[rest, op.NODE]]
            if again[op.OPERATION] == op.REPEAT and again[op.OPEN]:
                return leaf
    return NONE


@compiled_loop
def farthest_endless(machine: Machine, node: int) -> int:
    """Return the greatest distance of an automaton from its end after any plain characters."""
    start, farthest = int(machine.nodes[node, op.A]), 0
    for row in range(start, start + 6 * int(machine.nodes[node, op.B]), 6):
        if machine.operands[row + 5]:
            farthest = max(farthest, int(machine.operands[row + 4]))
    return farthest


@compiled_loop
def repetition(machine: Machine, state: int, rest: int) -> int:
    """Return the frame of a repetition that is `rest` after one item, if a state consists of it alone.

    NONE if it does not, or a code.
    """
    node, required, allowed, tail = contents(machine, rest)
    before = UNLIMITED if allowed == UNLIMITED else allowed + 1
    for candidate in (required + 1, 0):
        if candidate > 0 or required == 0:
            found = known_frame(machine, node, candidate, before, tail)
            if found >= 0:
                lack = close(machine, found)
                if lack != DONE:
                    return lack
                if consists_of(machine, state, found):
                    return found
    return NONE


@compiled_loop
def ends_with_quote(machine: Machine, top: int) -> bool:
    """Tell whether nothing but a quote can be read from a frame whose leaves are known."""
    for leaf in leaves_of(machine, top):
        node, first, _, _ = contents(machine, leaf)
        if machine.nodes[node, op.OPERATION] != op.TEXT or machine.text[machine.nodes[node, op.A] + first] != QUOTE:
            return False
    return True


@compiled_loop
def reads_plain(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads plain characters next, other than those of words."""
    node = int(machine.frames[leaf, op.NODE])
    if machine.nodes[node, op.OPERATION] == op.TEXT:
        byte = machine.text[machine.nodes[node, op.A] + machine.frames[leaf, op.FIRST]]
        return byte >= 0x20 and byte not in (QUOTE, BACKSLASH)
    if machine.nodes[node, op.OPERATION] != op.ARCS:
        return True
    start = int(machine.nodes[node, op.A])
    for arc in range(start, start + 3 * int(machine.nodes[node, op.B]), 3):
        low, high = machine.operands[arc], machine.operands[arc + 1]
        if high >= 0x20 and not (low == high and low in (QUOTE, BACKSLASH)):
            return True
    return False


@compiled_loop
def reads_alone(machine: Machine, state: int, leaf: int) -> bool:
    """Tell whether a frame is the only one of a state that reads plain characters."""
    is_alone = True
    for other in members_of(machine, state):
        is_alone = is_alone and (other == leaf or not reads_plain(machine, other))
    return is_alone


@compiled_loop
def is_text_in_string(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a text that comes to a quote, and no escape before it."""
    node, first, _, _ = contents(machine, leaf)
    start, size, _ = numbers(machine, node)
    if machine.nodes[node, op.OPERATION] != op.TEXT:
        return False
    for place in range(start + first, start + size):
        byte = machine.text[place]
        if byte == QUOTE:
            return True
        if byte == BACKSLASH or byte < 0x20:
            return False
    return False


@compiled_loop
def find_any_string(machine: Machine, state: int, found: Ints) -> int:
    """Where a state reads certain words or any other string, write down the state of a string that may be any.

    Up to the next quote, both states read the same. Say what is full.
    """
    inside = NONE
    for leaf in members_of(machine, state):
        node, _, _, tail = contents(machine, leaf)
        if machine.nodes[node, op.OPERATION] == op.UNLIKE:
            lack = close(machine, tail)
            if lack != DONE:
                return lack
            if not ends_with_quote(machine, tail):
                return DONE
            found[FARTHEST] = max(found[FARTHEST], machine.frames[tail, op.LENGTH] + 1)
            inside = int(machine.operands[machine.nodes[node, op.C] + 1])
        elif not is_text_in_string(machine, leaf):
            return DONE
    free = state_of(machine, push(machine, inside, op.FINISHED))
    if free < 0:
        return free
    found[QUOTED], found[INSIDE] = 1, free
    return DONE


@compiled_loop
def find_representative(machine: Machine, whole: int, other_bytes: int, is_alone: bool, found: Ints) -> int:
    """Write down the state of a repetition without a limit, the representative, and the same with nothing after it.

    The latter only if no plain character changes the representative: nothing else reads one (`is_alone`). Say what is
    full.
    """
    node, first, _, tail = contents(machine, whole)
    required = min(first, other_bytes + 1)
    representative = state_of(machine, frame(machine, node, required, UNLIMITED, tail))
    if representative < 0:
        return representative
    found[REPRESENTATIVE] = representative
    if required == 0 and is_alone:
        inside = state_of(machine, frame(machine, node, 0, UNLIMITED, op.FINISHED))
        if inside < 0:
            return inside
        found[INSIDE], found[STEADY] = inside, 1
    return DONE


@compiled_loop
def find_string_run(machine: Machine, state: int, longest: int, other_bytes: int, found: Ints) -> int:
    """Write down the string run of a state; say what is full, or NONE if what may follow depends on the characters.

    `longest` is the number of characters of the longest plain token, `other_bytes` the most bytes of any other before
    its first quote.
    """
    leaf = open_leaf(machine, state)
    if leaf < 0:
        return NONE
    found[LENGTH_LEFT] = longest
    found[FARTHEST] = machine.frames[leaf, op.LENGTH] + 1
    found[REPRESENTATIVE] = state
    found[QUOTED] = found[STEADY] = 0
    found[INSIDE] = NONE
    node, _, _, rest = contents(machine, leaf)
    if machine.nodes[node, op.OPERATION] == op.SCAN:
        found[FARTHEST] = machine.frames[rest, op.LENGTH] + farthest_endless(machine, node)
        return DONE
    if machine.nodes[node, op.OPERATION] == op.UNLIKE:
        return find_any_string(machine, state, found)
    _, _, allowed, tail = contents(machine, rest)
    whole = repetition(machine, state, rest)
    if whole < NONE:
        return whole
    lack = close(machine, tail)
    if lack != DONE:
        return lack
    if whole == NONE or not ends_with_quote(machine, tail):
        return DONE if allowed == UNLIMITED or allowed >= longest else NONE
    found[QUOTED] = 1
    if allowed != UNLIMITED:
        found[LENGTH_LEFT] = min(allowed + 1, longest)
    if allowed == UNLIMITED or allowed >= other_bytes:
        return find_representative(machine, whole, other_bytes, reads_alone(machine, state, leaf), found)
    return DONE
