"""The parts of a state before the next quote, which do not depend on the stack below it.

Property names begin alike in many objects, and after each written property. Only the stacks below the quote that ends
the name differ, and tokens without a quote do not read these. So the stacks are cut off at the next quote, which gives
the same state everywhere: an index walks most of the vocabulary from that state, once.
"""

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.distinct_items import beginning, length_unlike, next_begun, wanting
from structured.automata.loops.frames import (
    FINISHED,
    FIRST,
    LENGTH,
    MARK,
    MEMBERS_USED,
    NODE,
    ROUND,
    SECOND,
    TAIL,
    frame,
)
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import DONE, MORE_MEMBERS, Machine
from structured.automata.loops.states import MEMBER_COUNT, MEMBERS, intern_state
from structured.automata.loops.string_runs import BACKSLASH, NONE, QUOTE, find_string_run
from structured.automata.opcodes import FAR, ITEM, OPERATION, REPEAT, SCAN, SEQUENCE, TEXT, UNLIKE, WORDS, A, B

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
    return leaf == FINISHED or machine.nodes[machine.frames[leaf, NODE], OPERATION] in (TEXT, WORDS)


@compiled_loop
def first_quote(machine: Machine, node: int, read: int) -> int:
    """Return the place of the first quote in a text after the read bytes, NONE if there is none."""
    if machine.nodes[node, OPERATION] == TEXT:
        start = int(machine.nodes[node, A])
        for place in range(read, int(machine.nodes[node, B])):
            if machine.text[start + place] == QUOTE:
                return place
    return NONE


@compiled_loop
def parts_before_quote(machine: Machine, current: int) -> int:
    """Return the end of the parts of a sequence that can be read without a quote; NONE if all can."""
    node = int(machine.frames[current, NODE])
    if machine.nodes[node, OPERATION] == SEQUENCE:
        for place in range(int(machine.frames[current, FIRST]), int(machine.nodes[node, B])):
            quote = first_quote(machine, int(machine.operands[machine.nodes[node, A] + 2 * place]), 0)
            if quote >= 0:
                return place if quote == 0 else place + 1
    return NONE


@compiled_loop
def shortened(machine: Machine, current: int, end: int) -> int:
    """Return the frame of a sequence that ends with some part, on nothing else, or a code."""
    node, first = int(machine.frames[current, NODE]), int(machine.frames[current, FIRST])
    if first == end:
        return FINISHED
    return frame(machine, node, first, end if end < machine.nodes[node, B] else 0, FINISHED)


@compiled_loop
def frame_at(machine: Machine, leaf: int, depth: int) -> int:
    """Return the frame that lies so many below another."""
    for _ in range(depth):
        leaf = int(machine.frames[leaf, TAIL])
    return leaf


@compiled_loop
def height_of(machine: Machine, leaf: int) -> int:
    """Return the number of frames above FINISHED; NONE if it exceeds `MAX_ABOVE`."""
    height = 0
    while leaf != FINISHED:
        leaf = int(machine.frames[leaf, TAIL])
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
    if leaf == FINISHED:
        return otherwise
    above, top = 1, NONE
    if first_quote(machine, int(machine.frames[leaf, NODE]), int(machine.frames[leaf, FIRST])) >= 0:
        top = FINISHED
    current = int(machine.frames[leaf, TAIL])
    while top == NONE:
        operation = machine.nodes[machine.frames[current, NODE], OPERATION]
        if current == FINISHED or above == MAX_ABOVE or operation not in (REPEAT, SCAN, SEQUENCE, UNLIKE):
            return otherwise
        end = parts_before_quote(machine, current)
        if end >= 0:
            top = shortened(machine, current, end)
        else:
            current = int(machine.frames[current, TAIL])
            above += 1
    for height in range(above - 1, -1, -1):
        source = frame_at(machine, leaf, height)
        node, first, second = (
            machine.frames[source, NODE],
            machine.frames[source, FIRST],
            machine.frames[source, SECOND],
        )
        top = frame(machine, int(node), int(first), int(second), top)
    return top


@compiled_loop
def part(machine: Machine, state: int, narrow: bool) -> int:
    """Return the state of the narrow frames of a state, or of all others, cut off at the next quote.

    NONE if there are none, or a code. The cut frames have to exist already.
    """
    start, free = int(machine.states[state, MEMBERS]), int(machine.sizes[MEMBERS_USED])
    machine.sizes[ROUND] += 1
    now, count = machine.sizes[ROUND], 0
    for position in range(start, start + machine.states[state, MEMBER_COUNT]):
        leaf = int(machine.members[position])
        if is_narrow(machine, leaf) != narrow or leaf == FINISHED:
            continue
        cut = cut_off(machine, leaf)
        if machine.frames[cut, MARK] != now:
            machine.frames[cut, MARK] = now
            if free + count == len(machine.members):
                return MORE_MEMBERS
            machine.members[free + count] = cut
            count += 1
    return intern_state(machine, count) if count else NONE


@compiled_loop
def find_plain_parts(machine: Machine, state: int, found: Ints) -> int:
    """Find the parts of a state, as `find_string_parts`, that is in no item that must differ."""
    start = int(machine.states[state, MEMBERS])
    end = start + int(machine.states[state, MEMBER_COUNT])
    is_broad = False
    for position in range(start, end):
        is_broad = is_broad or not is_narrow(machine, int(machine.members[position]))
    if not is_broad:
        return NONE
    found[BEYOND] = 0
    for position in range(start, end):
        leaf = int(machine.members[position])
        cut = cut_off(machine, leaf)
        if cut < 0:
            return cut
        found[BEYOND] = max(found[BEYOND], machine.frames[leaf, LENGTH] - machine.frames[cut, LENGTH])
    found[BROAD] = part(machine, state, narrow=False)
    if found[BROAD] < NONE:
        return int(found[BROAD])
    found[NARROW] = part(machine, state, narrow=True)
    return int(found[NARROW]) if found[NARROW] < NONE else DONE


@compiled_loop
def lone_item(machine: Machine, state: int) -> int:
    """Return the only frame of a state if it reads an item that must differ, else NONE."""
    leaf = int(machine.members[machine.states[state, MEMBERS]])
    is_lone = machine.states[state, MEMBER_COUNT] == 1 and leaf != FINISHED
    return leaf if is_lone and machine.nodes[machine.frames[leaf, NODE], OPERATION] == ITEM else NONE


@compiled_loop
def is_ended_by_quote(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a quote or a backslash next, or a frame after which a quote follows at once."""
    node, first = int(machine.frames[leaf, NODE]), int(machine.frames[leaf, FIRST])
    start = int(machine.nodes[node, A])
    if machine.nodes[node, OPERATION] == TEXT:
        return bool(machine.text[start + first] in (QUOTE, BACKSLASH))
    if machine.nodes[node, OPERATION] == WORDS:
        read = int(machine.frames[leaf, SECOND])
        for word in range(int(machine.nodes[node, B])):
            if machine.text[machine.operands[start + word]] != BACKSLASH or read > 0:
                return False
        return True
    current = int(machine.frames[leaf, TAIL])
    while current != FINISHED:
        node = int(machine.frames[current, NODE])
        if machine.nodes[node, OPERATION] == SEQUENCE:
            for place in range(int(machine.frames[current, FIRST]), int(machine.nodes[node, B])):
                quote = first_quote(machine, int(machine.operands[machine.nodes[node, A] + 2 * place]), 0)
                if quote >= 0:
                    return quote == 0
        current = int(machine.frames[current, TAIL])
    return False


@compiled_loop
def are_ended_by_quotes(machine: Machine, state: int) -> bool:
    """Tell whether every frame of a state is ended by a quote, as `is_ended_by_quote` tells."""
    start = int(machine.states[state, MEMBERS])
    for position in range(start, start + machine.states[state, MEMBER_COUNT]):
        leaf = int(machine.members[position])
        if leaf == FINISHED or not is_ended_by_quote(machine, leaf):
            return False
    return True


@compiled_loop
def is_escaped(machine: Machine, text: int) -> bool:
    """Tell whether the last byte of a text is escaped, by an odd number of backslashes before it."""
    escaped, before = False, int(machine.frames[text, TAIL])
    while before != FINISHED and machine.frames[before, FIRST] == BACKSLASH:
        escaped = not escaped
        before = int(machine.frames[before, TAIL])
    return escaped


@compiled_loop
def detour(machine: Machine, leaf: int) -> int:
    """Return the most bytes by which written items may lengthen the shortest rest of an item that must differ.

    Only texts up to the quote that ends the string are considered. NONE if one of them can only become a written item;
    what is lacking.
    """
    item, text, written = (
        int(machine.frames[leaf, NODE]),
        int(machine.frames[leaf, SECOND]),
        int(machine.frames[leaf, TAIL]),
    )
    farther, begun = 0, next_begun(machine, text, written)
    while begun != FINISHED:
        word, state = int(machine.frames[begun, FIRST]), int(machine.frames[leaf, FIRST])
        for count in range(int(machine.frames[text, SECOND]) + 1, int(machine.frames[word, SECOND]) + 1):
            here = beginning(machine, word, count)
            byte = int(machine.frames[here, FIRST])
            if byte == QUOTE and not is_escaped(machine, here):
                break
            if machine.table[state, byte] == UNKNOWN:
                return wanting(machine, state)
            state = int(machine.table[state, byte])
            length = length_unlike(machine, item, state, here, written)
            if length < 0 or length >= FAR:
                return length if length < 0 else NONE
            farther = max(farther, length - int(machine.distances[state]))
        begun = next_begun(machine, text, int(machine.frames[begun, TAIL]))
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
    any_item, text, written = (
        int(machine.frames[leaf, FIRST]),
        int(machine.frames[leaf, SECOND]),
        int(machine.frames[leaf, TAIL]),
    )
    farther, is_begun = 0, next_begun(machine, text, written) != FINISHED
    if is_begun:
        farther = detour(machine, leaf) if are_ended_by_quotes(machine, any_item) else NONE
    answer = farther if farther < 0 else find_plain_parts(machine, any_item, found)
    if answer == DONE:
        found[NARROW] = NONE if is_begun else found[NARROW]
        found[BEYOND] += farther + machine.frames[leaf, LENGTH] - machine.distances[any_item]
    return answer


@compiled_entry
def find_string(machine: Machine, state: int, longest: int, special: int, found: Ints) -> int:
    """Write down the string run of a state or, if it has none, its parts; say which, NONE if neither, what is full."""
    answer = find_string_run(machine, state, longest, special, found)
    if answer != NONE:
        return RUN if answer == DONE else answer
    answer = find_string_parts(machine, state, found)
    return PARTS if answer == DONE else answer
