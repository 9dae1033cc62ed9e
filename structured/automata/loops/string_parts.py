"""The parts of a state before the next quote, which do not depend on the stack below it.

Property names begin alike in many objects, and after each written property. Only the stacks below the quote that ends
the name differ, and tokens without a quote do not read these. So the stacks are cut off at the next quote, which gives
the same state everywhere: an index walks most of the vocabulary from that state, once.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.distinct_items import beginning, length_unlike, next_begun, wanting
from structured.automata.loops.frames import contents, frame, numbers, operation_of
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import DONE, Machine
from structured.automata.loops.states import add_member, intern_state, members_of
from structured.automata.loops.string_runs import BACKSLASH, NONE, QUOTE, find_string_run
from structured.automata.opcodes import FAR

BROAD, NARROW, BEYOND = range(3)
"""What `find_string_parts` writes down: the state of what reads many texts before the next quote, and the state of what
reads a few, NONE if nothing does; the most bytes that a shortest rest has behind that."""

RUN, PARTS = 1, 2
"""What `find_string` answers: it has written down what `string_runs.py` finds, or the parts."""

MAX_ABOVE = 16
"""The most frames above the next quote."""


@compiled_loop
def is_narrow(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads one of some listed texts."""
    return leaf == op.FINISHED or operation_of(machine, leaf) in (op.TEXT, op.WORDS)


@compiled_loop
def first_quote(machine: Machine, node: int, read: int) -> int:
    """Return the place of the first quote in a text after the read bytes, NONE if there is none."""
    if machine.nodes[node, op.OPERATION] == op.TEXT:
        start = int(machine.nodes[node, op.A])
        for place in range(read, int(machine.nodes[node, op.B])):
            if machine.text[start + place] == QUOTE:
                return place
    return NONE


@compiled_loop
def parts_before_quote(machine: Machine, current: int) -> int:
    """Return the end of the parts of a sequence that can be read without a quote; NONE if all can."""
    node, first, _, _ = contents(machine, current)
    start, count, _ = numbers(machine, node)
    if machine.nodes[node, op.OPERATION] == op.SEQUENCE:
        for place in range(first, count):
            quote = first_quote(machine, int(machine.operands[start + 2 * place]), 0)
            if quote >= 0:
                return place if quote == 0 else place + 1
    return NONE


@compiled_loop
def shortened(machine: Machine, current: int, end: int) -> int:
    """Return the frame of a sequence that ends with some part, on nothing else, or a code."""
    node, first, _, _ = contents(machine, current)
    if first == end:
        return op.FINISHED
    return frame(machine, node, first, end if end < machine.nodes[node, op.B] else 0, op.FINISHED)


@compiled_loop
def frame_at(machine: Machine, leaf: int, depth: int) -> int:
    """Return the frame that lies so many below another."""
    for _ in range(depth):
        leaf = int(machine.frames[leaf, op.TAIL])
    return leaf


@compiled_loop
def height_of(machine: Machine, leaf: int) -> int:
    """Return the number of frames above FINISHED; NONE if it exceeds `MAX_ABOVE`."""
    height = 0
    while leaf != op.FINISHED:
        leaf = int(machine.frames[leaf, op.TAIL])
        height += 1
        if height > MAX_ABOVE:
            return NONE
    return height


@compiled_loop
def cut_off(machine: Machine, leaf: int) -> int:
    """Return the stack of a frame, cut off where only a quote can be read next, or a code.

    If no quote is near, a narrow frame is returned as it is, and NONE for any other.
    """
    otherwise = leaf if is_narrow(machine, leaf) else NONE
    if leaf == op.FINISHED:
        return otherwise
    above, top = 1, NONE
    if first_quote(machine, int(machine.frames[leaf, op.NODE]), int(machine.frames[leaf, op.FIRST])) >= 0:
        top = op.FINISHED
    current = int(machine.frames[leaf, op.TAIL])
    while top == NONE:
        if above == MAX_ABOVE or operation_of(machine, current) not in (op.REPEAT, op.SCAN, op.SEQUENCE, op.UNLIKE):
            return otherwise
        end = parts_before_quote(machine, current)
        if end >= 0:
            top = shortened(machine, current, end)
        else:
            current = int(machine.frames[current, op.TAIL])
            above += 1
    for height in range(above - 1, -1, -1):
        node, first, second, _ = contents(machine, frame_at(machine, leaf, height))
        top = frame(machine, node, first, second, top)
    return top


@compiled_loop
def part(machine: Machine, state: int, narrow: bool) -> int:
    """Return the state of the narrow frames of a state, or of all others, cut off at the next quote.

    NONE if there are none, or a code. The cut frames have to exist already.
    """
    machine.sizes[op.ROUND] += 1
    count = 0
    for leaf in members_of(machine, state):
        if is_narrow(machine, leaf) == narrow and leaf != op.FINISHED:
            count = add_member(machine, count, cut_off(machine, int(leaf)))
            if count < 0:
                return count
    return intern_state(machine, count) if count else NONE


@compiled_loop
def find_plain_parts(machine: Machine, state: int, found: Ints) -> int:
    """Find the parts of a state, as `find_string_parts`, that is in no item that must differ."""
    is_broad = False
    for leaf in members_of(machine, state):
        is_broad = is_broad or not is_narrow(machine, leaf)
    if not is_broad:
        return NONE
    found[BEYOND] = 0
    for leaf in members_of(machine, state):
        cut = cut_off(machine, int(leaf))
        if cut < 0:
            return cut
        found[BEYOND] = max(found[BEYOND], machine.frames[leaf, op.LENGTH] - machine.frames[cut, op.LENGTH])
    found[BROAD] = part(machine, state, narrow=False)
    if found[BROAD] < NONE:
        return int(found[BROAD])
    found[NARROW] = part(machine, state, narrow=True)
    return int(found[NARROW]) if found[NARROW] < NONE else DONE


@compiled_loop
def lone_item(machine: Machine, state: int) -> int:
    """Return the only frame of a state if it reads an item that must differ, else NONE."""
    members = members_of(machine, state)
    return int(members[0]) if len(members) == 1 and operation_of(machine, members[0]) == op.ITEM else NONE


@compiled_loop
def is_ended_by_quote(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a quote or a backslash next, or a frame after which a quote follows at once."""
    node, first, read, current = contents(machine, leaf)
    start, count, _ = numbers(machine, node)
    if machine.nodes[node, op.OPERATION] == op.TEXT:
        return bool(machine.text[start + first] in (QUOTE, BACKSLASH))
    if machine.nodes[node, op.OPERATION] == op.WORDS:
        is_escape = read == 0
        for word in range(count):
            is_escape = is_escape and machine.text[machine.operands[start + word]] == BACKSLASH
        return is_escape
    while current != op.FINISHED:
        node, place, _, current = contents(machine, current)
        start, count, _ = numbers(machine, node)
        while machine.nodes[node, op.OPERATION] == op.SEQUENCE and place < count:
            quote = first_quote(machine, int(machine.operands[start + 2 * place]), 0)
            if quote >= 0:
                return quote == 0
            place += 1
    return False


@compiled_loop
def are_ended_by_quotes(machine: Machine, state: int) -> bool:
    """Tell whether every frame of a state is ended by a quote, as `is_ended_by_quote` tells."""
    are_ended = True
    for leaf in members_of(machine, state):
        are_ended = are_ended and leaf != op.FINISHED and is_ended_by_quote(machine, leaf)
    return are_ended


@compiled_loop
def is_escaped(machine: Machine, text: int) -> bool:
    """Tell whether the last byte of a text is escaped, by an odd number of backslashes before it."""
    escaped, before = False, int(machine.frames[text, op.TAIL])
    while before != op.FINISHED and machine.frames[before, op.FIRST] == BACKSLASH:
        escaped = not escaped
        before = int(machine.frames[before, op.TAIL])
    return escaped


@compiled_loop
def detour(machine: Machine, leaf: int) -> int:
    """Return the most bytes by which written items may lengthen the shortest rest of an item that must differ.

    Only texts up to the quote that ends the string are considered. NONE if one of them can only become a written item;
    what is lacking.
    """
    item, read, text, written = contents(machine, leaf)
    farther, begun = 0, next_begun(machine, text, written)
    while begun != op.FINISHED:
        word, state = int(machine.frames[begun, op.FIRST]), read
        for count in range(int(machine.frames[text, op.SECOND]) + 1, int(machine.frames[word, op.SECOND]) + 1):
            here = beginning(machine, word, count)
            byte = int(machine.frames[here, op.FIRST])
            if byte == QUOTE and not is_escaped(machine, here):
                break
            if machine.table[state, byte] == UNKNOWN:
                return wanting(machine, state, -1)
            state = int(machine.table[state, byte])
            length = length_unlike(machine, item, state, here, written)
            if length < 0 or length >= FAR:
                return length if length < 0 else NONE
            farther = max(farther, length - int(machine.distances[state]))
        begun = next_begun(machine, text, int(machine.frames[begun, op.TAIL]))
    return farther


@compiled_loop
def find_string_parts(machine: Machine, state: int, found: Ints) -> int:
    """Write down the parts of a state before the next quote; say what is full, or NONE if it is not worth it.

    It is worth it if some frame is not narrow, and every such frame is near a quote. In an item that must differ from
    others, the parts are those of any item. But if a written item begins with the same text, only the broad part is
    used, and all else has to begin with a quote or a backslash.
    """
    leaf = lone_item(machine, state)
    if leaf < 0:
        return find_plain_parts(machine, state, found)
    _, any_item, text, written = contents(machine, leaf)
    farther, is_begun = 0, next_begun(machine, text, written) != op.FINISHED
    if is_begun:
        farther = detour(machine, leaf) if are_ended_by_quotes(machine, any_item) else NONE
    answer = farther if farther < 0 else find_plain_parts(machine, any_item, found)
    if answer == DONE:
        found[NARROW] = NONE if is_begun else found[NARROW]
        found[BEYOND] += farther + machine.frames[leaf, op.LENGTH] - machine.distances[any_item]
    return answer


@compiled_entry
def find_string(machine: Machine, state: int, longest: int, other_bytes: int, found: Ints) -> int:
    """Write down the string run of a state or, if it has none, its parts; say which, NONE if neither, what is full."""
    answer = find_string_run(machine, state, longest, other_bytes, found)
    if answer != NONE:
        return RUN if answer == DONE else answer
    answer = find_string_parts(machine, state, found)
    return PARTS if answer == DONE else answer
