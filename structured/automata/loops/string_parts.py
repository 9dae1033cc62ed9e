"""What a state reads before the next quote: that does not depend on what comes after it.

Names of properties begin alike in many objects, and after each property that was written. The stacks differ below the
quote that ends the name; what the tokens without a quote may do there does not. So the stacks are cut off at the next
quote, and the state of what is left is the same everywhere: an index walks most of the vocabulary from there, once.
"""

from structured.automata.loops.closure import close
from structured.automata.loops.frames import FINISHED, FIRST, LENGTH, MARK, NODE, ROUND, SECOND, TAIL, frame
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import DONE, MORE_MEMBERS, Machine
from structured.automata.loops.states import MEMBER_COUNT, MEMBERS, MEMBERS_USED, intern_state
from structured.automata.loops.string_runs import NONE, ends_with_quote
from structured.automata.opcodes import MEMBERS as SOME_MEMBERS
from structured.automata.opcodes import OPERATION, PERMUTATION, QUOTATION, TEXT, WORDS, A, B

BROAD, NARROW, BEYOND = range(3)
"""What `find_string_parts` writes down: the state of what reads many texts before the next quote, and the state of what
reads a few, NONE if nothing does; the most bytes that a shortest rest has behind that."""

QUOTE = 0x22

MAX_ABOVE = 16
"""Frames above the next quote."""


@compiled_loop
def is_narrow(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads one of some texts that are written down."""
    return leaf == FINISHED or machine.nodes[machine.frames[leaf, NODE], OPERATION] in (TEXT, WORDS)


@compiled_loop
def has_quote(machine: Machine, leaf: int) -> bool:
    """Tell whether a frame reads a text with a quote in its rest."""
    node = int(machine.frames[leaf, NODE])
    if machine.nodes[node, OPERATION] != TEXT:
        return False
    start = int(machine.nodes[node, A])
    for place in range(start + machine.frames[leaf, FIRST], start + machine.nodes[node, B]):
        if machine.text[place] == QUOTE:
            return True
    return False


@compiled_loop
def frames_above_quote(machine: Machine, leaf: int) -> int:
    """Return how many frames are on top of what begins with a quote, and with nothing else; what is full.

    NONE if no such is near; 0 if the leaf is narrow as well, so that nothing need be cut off.
    """
    otherwise = 0 if is_narrow(machine, leaf) else NONE
    if leaf == FINISHED or machine.nodes[machine.frames[leaf, NODE], OPERATION] == QUOTATION:
        return otherwise
    if has_quote(machine, leaf):
        return 1
    current = int(machine.frames[leaf, TAIL])
    for count in range(1, MAX_ABOVE):
        operation = machine.nodes[machine.frames[current, NODE], OPERATION]
        if current == FINISHED or operation in (SOME_MEMBERS, PERMUTATION):
            return otherwise
        lack = close(machine, current)
        if lack != DONE:
            return lack
        if ends_with_quote(machine, current):
            return count
        current = int(machine.frames[current, TAIL])
    return otherwise


@compiled_loop
def below(machine: Machine, leaf: int, count: int) -> int:
    """Return the frame below so many."""
    for _ in range(count):
        leaf = int(machine.frames[leaf, TAIL])
    return leaf


@compiled_loop
def cut_off(machine: Machine, leaf: int, count: int) -> int:
    """Return a frame with no more frames below it than make so many, and with all if that is 0; what is full."""
    top = FINISHED if count else leaf
    for height in range(count - 1, -1, -1):
        source = below(machine, leaf, height)
        top = frame(
            machine,
            int(machine.frames[source, NODE]),
            int(machine.frames[source, FIRST]),
            int(machine.frames[source, SECOND]),
            top,
        )
    return top


@compiled_loop
def part(machine: Machine, state: int, narrow: bool) -> int:
    """Return the state of the narrow frames of a state, or of the others, each cut off at the next quote.

    NONE if there are none; what is full. It is known how many frames are on top of each quote.
    """
    start, free = int(machine.states[state, MEMBERS]), int(machine.sizes[MEMBERS_USED])
    end = start + int(machine.states[state, MEMBER_COUNT])
    for position in range(start, end):  # so that all are there before any is marked
        leaf = int(machine.members[position])
        if is_narrow(machine, leaf) == narrow and leaf != FINISHED:
            cut = cut_off(machine, leaf, frames_above_quote(machine, leaf))
            if cut < 0:
                return cut
    machine.sizes[ROUND] += 1
    now, count = machine.sizes[ROUND], 0
    for position in range(start, end):
        leaf = int(machine.members[position])
        if is_narrow(machine, leaf) != narrow or leaf == FINISHED:
            continue
        cut = cut_off(machine, leaf, frames_above_quote(machine, leaf))
        if machine.frames[cut, MARK] != now:
            machine.frames[cut, MARK] = now
            if free + count == len(machine.members):
                return MORE_MEMBERS
            machine.members[free + count] = cut
            count += 1
    return intern_state(machine, count) if count else NONE


@compiled_entry
def find_string_parts(machine: Machine, state: int, found: Ints) -> int:
    """Write down the parts of a state before the next quote; say what is full, or NONE if it is not worth it.

    It is where something is read that is not narrow, and all is near a quote.
    """
    start = int(machine.states[state, MEMBERS])
    found[BEYOND] = 0
    is_broad = False
    end = start + int(machine.states[state, MEMBER_COUNT])
    for position in range(start, end):
        is_broad = is_broad or not is_narrow(machine, int(machine.members[position]))
    if not is_broad:
        return NONE
    for position in range(start, end):
        leaf = int(machine.members[position])
        count = frames_above_quote(machine, leaf)
        if count < 0:
            return count
        if count > 0:
            found[BEYOND] = max(found[BEYOND], machine.frames[below(machine, leaf, count), LENGTH])
    found[BROAD] = part(machine, state, narrow=False)
    if found[BROAD] < NONE:
        return int(found[BROAD])
    found[NARROW] = part(machine, state, narrow=True)
    return int(found[NARROW]) if found[NARROW] < NONE else DONE
