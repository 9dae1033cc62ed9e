"""String runs: how many unescaped characters may follow a state inside a string, whichever they are.

A character is unescaped if a JSON string writes it without an escape, and a token if all its characters are: after
`{"a":"` any unescaped character may follow. String runs save an index nearly all of its work. The unescaped tokens of
up to a number of characters are known for a vocabulary; and the other tokens that may follow are the same at every
number of characters left that no token exhausts.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD
from structured.automata.loops.closure import close
from structured.automata.loops.frames import character_node, find_frame, frame_fields, intern_frame, leaves_of, push
from structured.automata.loops.notation import loop
from structured.automata.loops.machine import DONE, Machine
from structured.automata.loops.states import compare_leaves, elements_of, state_of
from structured.automata.opcodes import UNLIMITED

MAX_CHARACTERS, MAX_DISTANCE, EQUIVALENT_STATE, ENDED_BY_QUOTE_ONLY, QUOTELESS_STATE, EQUIVALENT_STATE_FIXED = range(6)
"""The entries of the `results` of `find_string_run`, which are the fields of `StringRun`; NONE for DEAD."""

QUOTE, BACKSLASH = 0x22, 0x5C

NONE = -1
"""The result if there is no such frame, or no string run."""


@loop
def unescaped_text_leaf(machine: Machine, state: int) -> int:
    """Return a frame of a state that reads any number of unescaped characters; NONE if there is none."""
    for element in elements_of(machine, state):
        leaf = element
        node, first, second, tail = frame_fields(machine, leaf)
        operation = machine.nodes[node].operation
        if operation == op.UNLIKE:
            if character_node(machine, node, first, second) == machine.operands[machine.nodes[node].c]:
                return leaf
        elif operation == op.SCAN:
            if second == UNLIMITED and machine.operands[machine.nodes[node].a + 6 * first + 5]:
                return leaf
        elif operation == op.ARCS and machine.nodes[node].any_unescaped_character:
            repetition = machine.nodes[machine.frames[tail].node]
            if repetition[op.OPERATION] == op.REPEAT and repetition[op.ANY_UNESCAPED_CHARACTER]:
                return leaf
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

    `x{0,5}` for `x{0,4}`. NONE if the state is another, or a code.
    """
    node, required, allowed, tail = frame_fields(machine, after_item)
    allowed_before = UNLIMITED if allowed == UNLIMITED else allowed + 1
    for candidate in (required + 1, 0):
        if candidate > 0 or required == 0:
            repetition = find_frame(machine, node, candidate, allowed_before, tail)
            code = compare_leaves(machine, state, repetition) if repetition >= 0 else DEAD
            if code != DEAD:
                return repetition if code == DONE else code
    return NONE


@loop
def is_ended_by_quote_only(machine: Machine, top: int) -> bool:
    """Tell whether nothing but a quote can be read from a frame whose leaves are known."""
    for leaf in leaves_of(machine, top):
        node, first, _, _ = frame_fields(machine, leaf)
        if machine.nodes[node].operation != op.TEXT or machine.text[machine.nodes[node].a + first] != QUOTE:
            return False
    return True


@loop
def reads_unescaped_character(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame may read an unescaped character next; frames of words and strings always may."""
    node = machine.frames[leaf].node
    if machine.nodes[node].operation == op.TEXT:
        byte = machine.text[machine.nodes[node].a + machine.frames[leaf].first]
        return byte >= 0x20 and byte not in (QUOTE, BACKSLASH)
    if machine.nodes[node].operation != op.ARCS:
        return True
    start = machine.nodes[node].a
    for arc in range(start, start + 3 * machine.nodes[node].b, 3):
        low, high = machine.operands[arc], machine.operands[arc + 1]
        if high >= 0x20 and not (low == high and low in (QUOTE, BACKSLASH)):
            return True
    return False


@loop
def is_only_unescaped_reader(machine: Machine, state: int, leaf: int) -> bool:
    """Tell whether no other frame of a state may read an unescaped character next."""
    is_only = True
    for other in elements_of(machine, state):
        is_only = is_only and (other == leaf or not reads_unescaped_character(machine, other))
    return is_only


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
    node, first, _, _ = frame_fields(machine, leaf)
    start, quote = machine.nodes[node].a, first_quote(machine, node, first)
    for index in range(first, quote):
        byte = machine.text[start + index]
        if byte == BACKSLASH or byte < 0x20:
            return False
    return quote >= 0


@loop
def find_any_string(machine: Machine, state: int, results: Ints) -> int:
    """Write the state of any string to `results`, if a state reads words or any other string; return DONE or a code.

    Up to the next quote, both states read the same.
    """
    any_characters = NONE
    for leaf in elements_of(machine, state):
        node, _, _, tail = frame_fields(machine, leaf)
        if machine.nodes[node].operation == op.UNLIKE:
            code = close(machine, tail)
            if code != DONE:
                return code
            if not is_ended_by_quote_only(machine, tail):
                return DONE
            results[MAX_DISTANCE] = max(results[MAX_DISTANCE], machine.frames[tail].distance + 1)
            any_characters = machine.operands[machine.nodes[node].c + 1]
        elif not is_text_in_string(machine, leaf):
            return DONE
    state_in_string = state_of(machine, push(machine, any_characters, op.FINISHED))
    if state_in_string < 0:
        return state_in_string
    results[ENDED_BY_QUOTE_ONLY], results[QUOTELESS_STATE] = 1, state_in_string
    return DONE


@loop
def find_unlimited(machine: Machine, repetition: int, other_bytes: int, is_only_reader: bool, results: Ints) -> int:
    """Write the state of a repetition without its limit to `results`, for other tokens; return DONE or a code.

    `x{3,90}` → `x{3,}`. If nothing else reads unescaped characters (`is_only_reader`), they do not change that state,
    and the state of the repetition with nothing after it is written too, for tokens without a quote.
    """
    node, first, _, tail = frame_fields(machine, repetition)
    required = min(first, other_bytes + 1)
    equivalent_state = state_of(machine, frame(machine, node, required, UNLIMITED, tail))
    if equivalent_state < 0:
        return equivalent_state
    results[EQUIVALENT_STATE] = equivalent_state
    if required == 0 and is_only_reader:
        state_in_string = state_of(machine, frame(machine, node, 0, UNLIMITED, op.FINISHED))
        if state_in_string < 0:
            return state_in_string
        results[QUOTELESS_STATE], results[EQUIVALENT_STATE_FIXED] = state_in_string, 1
    return DONE


@loop
def find_string_run(machine: Machine, state: int, longest: int, other_bytes: int, results: Ints) -> int:
    """Write the string run of a state to `results`; return DONE, or NONE if the state has none, or a code.

    It has none if what may follow depends on which unescaped characters are read. `longest` is the number of
    characters of the longest unescaped token, `other_bytes` the most bytes of any other token before its first quote.
    """
    leaf = unescaped_text_leaf(machine, state)
    if leaf < 0:
        return NONE
    results[MAX_CHARACTERS], results[MAX_DISTANCE] = longest, machine.frames[leaf].distance + 1
    results[EQUIVALENT_STATE], results[QUOTELESS_STATE] = state, NONE
    results[ENDED_BY_QUOTE_ONLY] = results[EQUIVALENT_STATE_FIXED] = 0
    node, _, _, after_item = frame_fields(machine, leaf)
    if machine.nodes[node].operation == op.SCAN:
        results[MAX_DISTANCE] = machine.frames[after_item].distance + distance_after_unescaped(machine, node)
        return DONE
    if machine.nodes[node].operation == op.UNLIKE:
        return find_any_string(machine, state, results)
    _, _, allowed, tail = frame_fields(machine, after_item)
    repetition = repetition_before(machine, state, after_item)
    if repetition < NONE:
        return repetition
    code = close(machine, tail)
    if code != DONE:
        return code
    if repetition == NONE or not is_ended_by_quote_only(machine, tail):
        return DONE if allowed == UNLIMITED or allowed >= longest else NONE
    results[ENDED_BY_QUOTE_ONLY] = 1
    if allowed != UNLIMITED:
        results[MAX_CHARACTERS] = min(allowed + 1, longest)
    if allowed == UNLIMITED or allowed >= other_bytes:
        return find_unlimited(machine, repetition, other_bytes, is_only_unescaped_reader(machine, state, leaf), results)
    return DONE
