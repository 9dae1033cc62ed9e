"""String runs: how many unescaped characters may follow a state inside a string, whichever they are.

A character is unescaped if a JSON string writes it without an escape, and a token if all its characters are: after
`{"a":"` any unescaped character may follow. String runs save an index nearly all of its work. The unescaped tokens of
up to a number of characters are known for a vocabulary; and the other tokens that may follow are the same at every
number of characters left that no token exhausts.
"""

from structured.automata import opcodes as op
from structured.automata.loops.closure import close
from structured.automata.loops.frames import character_node, frame, push
from structured.automata.loops.machine import Machine, find_frame
from structured.automata.loops.states import is_state_of, state_of
from structured.automata.opcodes import UNLIMITED
from structured.machine_code.notation import Ints, loop

RUN_CHARACTERS, RUN_DISTANCE, EQUIVALENT_STATE, ENDED_BY_QUOTE_ONLY, QUOTELESS_STATE, EQUIVALENT_STATE_FIXED = range(6)
"""The entries of the `results` of `find_string_run`, which are the fields of `StringRun`; NONE for DEAD."""

QUOTE, BACKSLASH = 0x22, 0x5C

NONE = -1
"""The result if there is no such frame, or no string run."""


@loop
def reads_unescaped_text(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads any number of unescaped characters."""
    node, first, second = machine.frames[leaf].node, machine.frames[leaf].first, machine.frames[leaf].second
    operation = machine.nodes[node].operation
    if operation == op.UNLIKE:
        return character_node(machine, node, first, second) == machine.operands[machine.nodes[node].c]
    if operation == op.SCAN:
        return second == UNLIMITED and machine.operands[machine.nodes[node].a + 6 * first + 5] != 0
    if operation != op.ARCS or not machine.nodes[node].any_unescaped_character:
        return False
    repetition = machine.frames[machine.frames[leaf].tail].node
    return machine.nodes[repetition].operation == op.REPEAT and machine.nodes[repetition].any_unescaped_character != 0


@loop
def unescaped_text_leaf(machine: Machine, state: int) -> int:
    """Return a frame of a state that reads any number of unescaped characters; NONE if there is none."""
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        if reads_unescaped_text(machine, machine.states.elements[element]):
            return machine.states.elements[element]
    return NONE


@loop
def distance_after_unescaped(machine: Machine, node: int) -> int:
    """Return the most bytes that an automaton needs to its end in a state that any unescaped characters may follow."""
    start, max_distance = machine.nodes[node].a, 0
    for row in range(start, start + 6 * machine.nodes[node].b, 6):
        if machine.operands[row + 5]:
            max_distance = max(max_distance, machine.operands[row + 4])
    return max_distance


@loop
def repetition_before(machine: Machine, state: int, after_item: int) -> int:
    """Return the frame of the repetition that is the frame `after_item` after one item, if a state is that of it alone.

    `x{0,5}` for `x{0,4}`. NONE if the state is another.
    """
    node, required = machine.frames[after_item].node, machine.frames[after_item].first
    allowed, tail = machine.frames[after_item].second, machine.frames[after_item].tail
    allowed_before = UNLIMITED if allowed == UNLIMITED else allowed + 1
    repetition = find_frame(machine, node, required + 1, allowed_before, tail)
    if repetition >= 0 and is_state_of(machine, state, repetition):
        return repetition
    repetition = find_frame(machine, node, 0, allowed_before, tail)
    if required == 0 and repetition >= 0 and is_state_of(machine, state, repetition):
        return repetition
    return NONE


@loop
def is_ended_by_quote_only(machine: Machine, top: int) -> bool:
    """Tell whether nothing but a quote can be read from a frame whose leaves are known."""
    first = machine.frames[top].first_leaf
    for place in range(first, first + machine.frames[top].leaf_count):
        leaf = machine.leaves[place]
        node = machine.frames[leaf].node
        if machine.nodes[node].operation != op.TEXT:
            return False
        if machine.text[machine.nodes[node].a + machine.frames[leaf].first] != QUOTE:
            return False
    return True


@loop
def reads_unescaped_character(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame may read an unescaped character next; frames of words and strings always may."""
    node = machine.frames[leaf].node
    start = machine.nodes[node].a
    if machine.nodes[node].operation == op.TEXT:
        byte = machine.text[start + machine.frames[leaf].first]
        return byte >= 0x20 and byte not in (QUOTE, BACKSLASH)
    if machine.nodes[node].operation != op.ARCS:
        return True
    for arc in range(start, start + 3 * machine.nodes[node].b, 3):
        low, high = machine.operands[arc], machine.operands[arc + 1]
        if high >= 0x20 and not (low == high and low in (QUOTE, BACKSLASH)):
            return True
    return False


@loop
def is_only_unescaped_reader(machine: Machine, state: int, leaf: int) -> bool:
    """Tell whether no other frame of a state may read an unescaped character next."""
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        other = machine.states.elements[element]
        if other != leaf and reads_unescaped_character(machine, other):
            return False
    return True


@loop
def first_quote(machine: Machine, node: int, read: int) -> int:
    """Return the index of the first quote in a node of TEXT after the bytes read, NONE if there is none."""
    if machine.nodes[node].operation == op.TEXT:
        start = machine.nodes[node].a
        for index in range(read, machine.nodes[node].b):
            if machine.text[start + index] == QUOTE:
                return index
    return NONE


@loop
def is_text_in_string(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a text with a quote and only unescaped characters before it: `name":` of `"name":`."""
    node, first = machine.frames[leaf].node, machine.frames[leaf].first
    start, quote = machine.nodes[node].a, first_quote(machine, node, first)
    for index in range(first, quote):
        byte = machine.text[start + index]
        if byte == BACKSLASH or byte < 0x20:
            return False
    return quote >= 0


@loop
def find_any_string(machine: Machine, state: int, results: Ints) -> None:
    """Write the state of any string to `results`, if a state reads words or any other string.

    Up to the next quote, both states read the same.
    """
    any_characters = NONE
    first = machine.states.rows[state].first_element
    for element in range(first, first + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        node, tail = machine.frames[leaf].node, machine.frames[leaf].tail
        if machine.nodes[node].operation == op.UNLIKE:
            close(machine, tail)
            if not is_ended_by_quote_only(machine, tail):
                return
            results[RUN_DISTANCE] = max(results[RUN_DISTANCE], machine.frames[tail].distance + 1)
            any_characters = machine.operands[machine.nodes[node].c + 1]
        elif not is_text_in_string(machine, leaf):
            return
    state_in_string = state_of(machine, push(machine, any_characters, op.FINISHED))
    results[ENDED_BY_QUOTE_ONLY], results[QUOTELESS_STATE] = 1, state_in_string


@loop
def find_unlimited(machine: Machine, repetition: int, other_bytes: int, is_only_reader: bool, results: Ints) -> None:
    """Write the state of a repetition without its limit to `results`, for other tokens.

    `x{3,90}` → `x{3,}`. If nothing else reads unescaped characters (`is_only_reader`), they do not change that state,
    and the state of the repetition with nothing after it is written too, for tokens without a quote.
    """
    node, tail = machine.frames[repetition].node, machine.frames[repetition].tail
    required = min(machine.frames[repetition].first, other_bytes + 1)
    results[EQUIVALENT_STATE] = state_of(machine, frame(machine, node, required, UNLIMITED, tail))
    if required == 0 and is_only_reader:
        results[QUOTELESS_STATE] = state_of(machine, frame(machine, node, 0, UNLIMITED, op.FINISHED))
        results[EQUIVALENT_STATE_FIXED] = 1


@loop
def find_string_run(machine: Machine, state: int, longest: int, other_bytes: int, results: Ints) -> bool:
    """Write the string run of a state to `results`, and tell whether the state has one.

    It has none if what may follow depends on which unescaped characters are read. `longest` is the number of
    characters of the longest unescaped token, `other_bytes` the most bytes of any other token before its first quote.
    """
    leaf = unescaped_text_leaf(machine, state)
    if leaf < 0:
        return False
    results[RUN_CHARACTERS], results[RUN_DISTANCE] = longest, machine.frames[leaf].distance + 1
    results[EQUIVALENT_STATE], results[QUOTELESS_STATE] = state, NONE
    results[ENDED_BY_QUOTE_ONLY] = results[EQUIVALENT_STATE_FIXED] = 0
    node, after_item = machine.frames[leaf].node, machine.frames[leaf].tail
    if machine.nodes[node].operation == op.SCAN:
        results[RUN_DISTANCE] = machine.frames[after_item].distance + distance_after_unescaped(machine, node)
        return True
    if machine.nodes[node].operation == op.UNLIKE:
        find_any_string(machine, state, results)
        return True
    allowed, tail = machine.frames[after_item].second, machine.frames[after_item].tail
    repetition = repetition_before(machine, state, after_item)
    close(machine, tail)
    if repetition == NONE or not is_ended_by_quote_only(machine, tail):
        return allowed == UNLIMITED or allowed >= longest
    results[ENDED_BY_QUOTE_ONLY] = 1
    if allowed != UNLIMITED:
        results[RUN_CHARACTERS] = min(allowed + 1, longest)
    if allowed == UNLIMITED or allowed >= other_bytes:
        find_unlimited(machine, repetition, other_bytes, is_only_unescaped_reader(machine, state, leaf), results)
    return True
