"""String parts: two states that read what a state reads before the next quote, and nothing after it.

Property names begin alike in many objects, and after each written property. Only the stacks below the quote that ends
the name differ, and tokens without a quote do not read these. So the stacks are cut off at the next quote:
`[a-z]* ":" value } …` → `[a-z]*`. That gives the same states everywhere, and an index walks most of the vocabulary from
them once.

A frame is *narrow* if it reads one of some listed texts: `title":`. It is *broad* otherwise: `[a-z]*`.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.distinct_items import item_with_prefix, prefix_of, request_state, unique_item_length
from structured.automata.loops.frames import arguments_of, frame_fields, intern_frame, operation_of
from structured.automata.loops.notation import loop
from structured.automata.loops.machine import DONE, Machine
from structured.automata.loops.states import add_element, elements_of, intern_state
from structured.automata.loops.string_runs import BACKSLASH, NONE, QUOTE, find_string_run, first_quote
from structured.automata.opcodes import FAR

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
def quote_in_sequence(machine: Machine, current: int) -> tuple[int, int]:
    """Return the first part with a quote of a frame's sequence, and the index of the quote in it; NONE for none."""
    node, first, _, _ = frame_fields(machine, current)
    start, count, _ = arguments_of(machine, node)
    if machine.nodes[node].operation == op.SEQUENCE:
        for part in range(first, count):
            quote = first_quote(machine, machine.operands[start + 2 * part], 0)
            if quote >= 0:
                return part, quote
    return NONE, NONE


@loop
def sequence_before(machine: Machine, current: int, end: int) -> int:
    """Return the frame of a sequence that ends before the part `end`, with nothing after it, or a code."""
    node, first, _, _ = frame_fields(machine, current)
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
    """Return the stack of a frame, cut off where only a quote can be read next, or a code.

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
        operation = operation_of(machine, current)
        if heights == MAX_HEIGHT or operation not in (op.REPEAT, op.SCAN, op.SEQUENCE, op.UNLIKE):
            return otherwise
        part, quote = quote_in_sequence(machine, current)
        if part >= 0:
            top = sequence_before(machine, current, part if quote == 0 else part + 1)
        else:
            current = machine.frames[current].tail
            heights += 1
    for height in range(heights - 1, -1, -1):
        node, first, second, _ = frame_fields(machine, frame_at(machine, leaf, height))
        top = frame(machine, node, first, second, top)
    return top


@loop
def part_state(machine: Machine, state: int, narrow: bool) -> int:
    """Return the state of the narrow frames of a state, or of the broad ones, cut off at the next quote; or a code.

    NONE if there are none, or if one is not near a quote.
    """
    machine.states.round += 1
    count = 0
    for leaf in elements_of(machine, state):
        if is_narrow(machine, leaf) == narrow and leaf != op.FINISHED:
            count = add_element(machine, count, cut_off(machine, leaf))
    return intern_state(machine, count)


@loop
def find_parts_outside_items(machine: Machine, state: int, results: Ints) -> int:
    """Find the parts of a state that is in no item that must differ; as `find_string_parts`."""
    broad_state = part_state(machine, state, narrow=False)
    narrow_state = broad_state if broad_state < 0 else part_state(machine, state, narrow=True)
    if broad_state == NONE or narrow_state < NONE:
        return narrow_state
    results[BROAD_STATE], results[NARROW_STATE], results[EXTRA_DISTANCE] = broad_state, narrow_state, 0
    for leaf in elements_of(machine, state):  # `part_state` has cut all of them off, so there are no codes
        extra = machine.frames[leaf].distance - machine.frames[cut_off(machine, leaf)].distance
        results[EXTRA_DISTANCE] = max(results[EXTRA_DISTANCE], extra)
    return DONE


@loop
def lone_item(machine: Machine, state: int) -> int:
    """Return the only frame of a state if it reads an item that must differ, else NONE."""
    elements = elements_of(machine, state)
    return elements[0] if len(elements) == 1 and operation_of(machine, elements[0]) == op.ITEM else NONE


@loop
def is_ended_by_quote(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a quote or a backslash next, or the last before a quote that has to follow it."""
    node, first, read, current = frame_fields(machine, leaf)
    start, count, _ = arguments_of(machine, node)
    if machine.nodes[node].operation == op.TEXT:
        return machine.text[start + first] in (QUOTE, BACKSLASH)
    if machine.nodes[node].operation == op.WORDS:
        is_escape = read == 0
        for word in range(count):
            is_escape = is_escape and machine.text[machine.operands[start + word]] == BACKSLASH
        return is_escape
    quote = NONE
    while quote == NONE and current != op.FINISHED:
        _, quote = quote_in_sequence(machine, current)
        current = machine.frames[current].tail
    return quote == 0


@loop
def are_ended_by_quotes(machine: Machine, state: int) -> bool:
    """Tell whether all frames of a state are ended by quotes; see `is_ended_by_quote`."""
    are_ended = True
    for leaf in elements_of(machine, state):
        are_ended = are_ended and leaf != op.FINISHED and is_ended_by_quote(machine, leaf)
    return are_ended


@loop
def is_escaped(machine: Machine, text: int) -> bool:
    """Tell whether the last byte of a text is escaped, by an odd number of backslashes before it."""
    escaped, previous = False, machine.frames[text].tail
    while previous != op.FINISHED and machine.frames[previous].first == BACKSLASH:
        escaped = not escaped
        previous = machine.frames[previous].tail
    return escaped


@loop
def extra_length(machine: Machine, leaf: int) -> int:
    """Return the most bytes by which written items put the end of an item that must differ farther away.

    Only the texts from its own to the quote that ends the string are considered. NONE if one of them can only become a
    written item; or a code.
    """
    item, first_state, text, written = frame_fields(machine, leaf)
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
            if length < 0 or length >= FAR:
                return length if length < 0 else NONE
            extra = max(extra, length - machine.states.distances[state])
        other = item_with_prefix(machine, text, machine.frames[other].tail)
    return extra


@loop
def find_string_parts(machine: Machine, state: int, results: Ints) -> int:
    """Write the parts of a state before the next quote to `results`; return DONE, or NONE if it has none, or a code.

    It has parts if some frame is broad, and each broad frame is near a quote. In an item that must differ from others,
    the parts are those of any item. But if a written item begins with the same text, only the broad part is used, and
    what the other frames read has to begin with a quote or a backslash.
    """
    leaf = lone_item(machine, state)
    if leaf < 0:
        return find_parts_outside_items(machine, state, results)
    _, any_item, text, written = frame_fields(machine, leaf)
    extra, may_repeat = 0, item_with_prefix(machine, text, written) != op.FINISHED
    if may_repeat:
        extra = extra_length(machine, leaf) if are_ended_by_quotes(machine, any_item) else NONE
    answer = extra if extra < 0 else find_parts_outside_items(machine, any_item, results)
    if answer == DONE:
        results[NARROW_STATE] = NONE if may_repeat else results[NARROW_STATE]
        results[EXTRA_DISTANCE] += extra + machine.frames[leaf].distance - machine.states.distances[any_item]
    return answer


@entry
def find_string(machine: Machine, state: int, longest: int, other_bytes: int, results: Ints) -> int:
    """Write the string run of a state, or else its parts, to `results`; return RUN, PARTS, NONE for none, or a code."""
    answer = find_string_run(machine, state, longest, other_bytes, results)
    if answer != NONE:
        return RUN if answer == DONE else answer
    answer = find_string_parts(machine, state, results)
    return PARTS if answer == DONE else answer
