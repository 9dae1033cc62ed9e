"""String parts: two states that read what a state reads before the next quote, and nothing after it.

Property names begin alike in many objects, and after each written property. Only the stacks below the quote that ends
the name differ, and tokens without a quote do not read these. So the stacks are cut off at the next quote:
`[a-z]* ":" value } …` → `[a-z]*`. That gives the same states everywhere, and an index walks most of the vocabulary from
them once.

A frame is *narrow* if it reads one of some listed texts: `title":`. It is *broad* otherwise: `[a-z]*`.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.distinct_items import item_with_prefix, prefix_of, unique_item_length
from structured.automata.loops.frames import frame, operation_of
from structured.automata.loops.machine import Machine, request_state
from structured.automata.loops.state_table import add_element, begin_elements, check_state
from structured.automata.loops.states import state_of_elements
from structured.automata.loops.string_runs import BACKSLASH, NONE, QUOTE, find_string_run, first_quote
from structured.automata.opcodes import FAR
from structured.machine_code.notation import Ints, entry, loop

BROAD_STATE, NARROW_STATE, EXTRA_DISTANCE = range(3)
"""The entries of the `results` of `find_string_parts`, which are the fields of `StringParts`; NONE for DEAD."""

RUN, PARTS = 1, 2
"""The answers of `find_string`: its `results` are a string run, or string parts."""

MAX_HEIGHT = 16
"""The most frames above the next quote."""


@loop
def is_narrow(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads one of some listed texts."""
    return leaf == op.FINISHED or operation_of(machine, leaf) in (op.TEXT, op.WORDS)


@loop
def part_with_quote(machine: Machine, current: int) -> int:
    """Return the first part of a frame's sequence that has a quote; NONE if there is none."""
    node = machine.frames[current].node
    if machine.nodes[node].operation == op.SEQUENCE:
        for part in range(machine.frames[current].first, machine.nodes[node].b):
            if quote_in_part(machine, node, part) >= 0:
                return part
    return NONE


@loop
def quote_in_part(machine: Machine, node: int, part: int) -> int:
    """Return the index of the first quote in a part of a sequence; NONE if there is none."""
    return first_quote(machine, machine.operands[machine.nodes[node].a + 2 * part], 0)


@loop
def sequence_before(machine: Machine, current: int, end: int) -> int:
    """Return the frame of a sequence that ends before the part `end`, with nothing after it."""
    node, first = machine.frames[current].node, machine.frames[current].first
    if first == end:
        return op.FINISHED
    return frame(machine, node, first, end if end < machine.nodes[node].b else 0, op.FINISHED)


@loop
def frame_at(machine: Machine, leaf: int, depth: int) -> int:
    """Return the frame that lies `depth` frames below another."""
    for _ in range(depth):
        leaf = machine.frames[leaf].tail
    return leaf


@loop
def cut_off(machine: Machine, leaf: int) -> int:
    """Return the stack of a frame, cut off where only a quote can be read next.

    If no quote is near, a narrow frame is returned unchanged, and NONE for a broad one.
    """
    otherwise = leaf if is_narrow(machine, leaf) else NONE
    if leaf == op.FINISHED:
        return otherwise
    heights, top = 1, NONE
    if first_quote(machine, machine.frames[leaf].node, machine.frames[leaf].first) >= 0:
        top = op.FINISHED
    current = machine.frames[leaf].tail
    while top == NONE:
        if heights == MAX_HEIGHT or operation_of(machine, current) not in (op.REPEAT, op.SCAN, op.SEQUENCE, op.UNLIKE):
            return otherwise
        part = part_with_quote(machine, current)
        if part >= 0:
            is_first = quote_in_part(machine, machine.frames[current].node, part) == 0
            top = sequence_before(machine, current, part if is_first else part + 1)
        else:
            current = machine.frames[current].tail
            heights += 1
    for height in range(heights - 1, -1, -1):
        current = frame_at(machine, leaf, height)
        node, first, second = (
            machine.frames[current].node,
            machine.frames[current].first,
            machine.frames[current].second,
        )
        top = frame(machine, node, first, second, top)
    return top


@loop
def part_state(machine: Machine, state: int, narrow: bool) -> int:
    """Return the state of the narrow frames of a state, or of the broad ones, cut off at the next quote.

    NONE if there are none, or if one is not near a quote.
    """
    begin_elements(machine.states)
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if is_narrow(machine, leaf) == narrow and leaf != op.FINISHED:
            top = cut_off(machine, leaf)
            if top == NONE:
                return NONE
            add_element(machine.states, top)
    return state_of_elements(machine)


@loop
def find_parts_outside_items(machine: Machine, state: int, results: Ints) -> bool:
    """Find the parts of a state that is in no item that must differ; as `find_string_parts`."""
    results[BROAD_STATE] = part_state(machine, state, False)
    results[NARROW_STATE] = NONE if results[BROAD_STATE] == NONE else part_state(machine, state, True)
    results[EXTRA_DISTANCE] = 0
    if results[BROAD_STATE] == NONE:
        return False
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        extra = machine.frames[leaf].distance - machine.frames[cut_off(machine, leaf)].distance
        results[EXTRA_DISTANCE] = max(results[EXTRA_DISTANCE], extra)
    return True


@loop
def lone_item(machine: Machine, state: int) -> int:
    """Return the only frame of a state if it reads an item that must differ, else NONE."""
    leaf = machine.states.elements[machine.states.rows[state].first_element]
    return leaf if machine.states.rows[state].element_count == 1 and operation_of(machine, leaf) == op.ITEM else NONE


@loop
def is_ended_by_quote(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a quote or a backslash next, or the last before a quote that has to follow it."""
    node, current = machine.frames[leaf].node, machine.frames[leaf].tail
    start = machine.nodes[node].a
    if machine.nodes[node].operation == op.TEXT:
        return machine.text[start + machine.frames[leaf].first] in (QUOTE, BACKSLASH)
    if machine.nodes[node].operation == op.WORDS:
        if machine.frames[leaf].second > 0:
            return False
        escaped = 0
        for word in range(machine.nodes[node].b):
            escaped += machine.text[machine.operands[start + word]] == BACKSLASH
        return escaped == machine.nodes[node].b
    while current != op.FINISHED:
        part = part_with_quote(machine, current)
        if part != NONE:
            return quote_in_part(machine, machine.frames[current].node, part) == 0
        current = machine.frames[current].tail
    return False


@loop
def are_ended_by_quotes(machine: Machine, state: int) -> bool:
    """Tell whether all frames of a state are ended by quotes; see `is_ended_by_quote`."""
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if leaf == op.FINISHED or not is_ended_by_quote(machine, leaf):
            return False
    return True


@loop
def is_escaped(machine: Machine, text: int) -> bool:
    """Tell whether the last byte of a text is escaped, by an odd number of backslashes before it."""
    backslashes, previous = 0, machine.frames[text].tail
    while previous != op.FINISHED and machine.frames[previous].first == BACKSLASH:
        backslashes += 1
        previous = machine.frames[previous].tail
    return backslashes % 2 == 1


@loop
def extra_length(machine: Machine, leaf: int) -> int:
    """Return the most bytes by which written items put the end of an item that must differ farther away.

    Only the texts from its own to the quote that ends the string are considered. NONE if one of them can only become a
    written item.
    """
    item, first_state = machine.frames[leaf].node, machine.frames[leaf].first
    text, written = machine.frames[leaf].second, machine.frames[leaf].tail
    extra, other = 0, item_with_prefix(machine, text, written)
    while other != op.FINISHED:
        other_text, state = machine.frames[other].first, first_state
        for count in range(machine.frames[text].second + 1, machine.frames[other_text].second + 1):
            prefix = prefix_of(machine, other_text, count)
            byte = machine.frames[prefix].first
            if byte == QUOTE and not is_escaped(machine, prefix):
                break
            if machine.states.table[state, byte] == UNKNOWN:
                return request_state(machine, state, -1)
            state = machine.states.table[state, byte]
            length = unique_item_length(machine, item, state, prefix, written)
            if length >= FAR:
                return NONE
            extra = max(extra, length - machine.states.distances[state])
        other = item_with_prefix(machine, text, machine.frames[other].tail)
    return extra


@loop
def find_string_parts(machine: Machine, state: int, results: Ints) -> bool:
    """Write the parts of a state before the next quote to `results`, and tell whether it has any.

    It has parts if some frame is broad, and each broad frame is near a quote. In an item that must differ from others,
    the parts are those of any item. But if a written item begins with the same text, only the broad part is used, and
    what the other frames read has to begin with a quote or a backslash.
    """
    leaf = lone_item(machine, state)
    if leaf < 0:
        return find_parts_outside_items(machine, state, results)
    any_item, text, written = machine.frames[leaf].first, machine.frames[leaf].second, machine.frames[leaf].tail
    extra, may_repeat = 0, item_with_prefix(machine, text, written) != op.FINISHED
    if may_repeat:
        extra = extra_length(machine, leaf) if are_ended_by_quotes(machine, any_item) else NONE
    if extra == NONE or not find_parts_outside_items(machine, any_item, results):
        return False
    results[NARROW_STATE] = NONE if may_repeat else results[NARROW_STATE]
    results[EXTRA_DISTANCE] += extra + machine.frames[leaf].distance - machine.states.distances[any_item]
    return True


@entry
def find_string(machine: Machine, state: int, longest: int, other_bytes: int, results: Ints) -> int:
    """Write the string run of a state, or else its parts, to `results`; return RUN, PARTS, or NONE for neither."""
    check_state(machine.states, state)
    if find_string_run(machine, state, longest, other_bytes, results):
        return RUN
    return PARTS if find_string_parts(machine, state, results) else NONE
