"""Items that must all differ (`uniqueItems`): the written items are on the stack, above the frame after the array.

A frame of DISTINCT with -1 in `FIRST` marks the array. On it is a frame for each written item, with its text in `FIRST`
and the number of items in `SECOND`. The greatest text is on top, so that one set of items is one stack. While an
item is read, a frame of ITEM is on top, with the state of any item in `FIRST` and the text read in `SECOND`. That
state belongs to the same machine, with nothing below it, so that the states of items are made once for all sets.

A text is a stack of frames of ITEM too: its last byte in `FIRST`, its number of bytes in `SECOND`. Equal texts are one
number.
"""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.frames import contents, distinct_length, frame, known_frame, numbers, push
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import NEEDS_STATE, Machine
from structured.automata.opcodes import FAR, UNLIMITED

ITEM_START, SOME_OTHER = -1, -2
"""Values of FIRST in two more kinds of frames of ITEM. ITEM_START, on FINISHED, has the state before any item in
`LEAVES`. SOME_OTHER, on FINISHED, is a placeholder for any unwritten text; on written items, it has the state after
them and such a text in `LEAVES`."""


@compiled_loop
def wanting(machine: Machine, state: int, byte: int) -> int:
    """Request an entry of the row of a state, or the whole row for -1, and return the code for that."""
    machine.sizes[op.WANTED], machine.sizes[op.BYTE_WANTED] = state, byte
    return NEEDS_STATE


@compiled_loop
def first_state(machine: Machine, item: int) -> int:
    """Return the state before any item, or a code."""
    kept = frame(machine, item, ITEM_START, 0, op.FINISHED)
    state = kept if kept < 0 else int(machine.frames[kept, op.LEAVES])
    return wanting(machine, -1 - item, -1) if state == -1 else state


@compiled_loop
def text_with(machine: Machine, item: int, text: int, byte: int) -> int:
    """Return a text with one more byte, or a code."""
    return frame(machine, item, byte, int(machine.frames[text, op.SECOND]) + 1, text)


@compiled_loop
def known_text(machine: Machine, item: int, text: int, byte: int) -> int:
    """Return a text with one more byte; DEAD if there is no such text, so that no item begins with it."""
    return known_frame(machine, item, byte, int(machine.frames[text, op.SECOND]) + 1, text)


@compiled_loop
def beginning(machine: Machine, text: int, count: int) -> int:
    """Return the first bytes of a text."""
    while machine.frames[text, op.SECOND] > count:
        text = int(machine.frames[text, op.TAIL])
    return text


@compiled_loop
def mark_written(machine: Machine, written: int) -> int:
    """Mark the written items in `COUNT` and all their beginnings in `MARK`; return the mark.

    The marks stay until the items of another stack are marked.
    """
    if machine.sizes[op.MARKED] == written:
        return int(machine.sizes[op.MARKED_WITH])
    machine.sizes[op.ROUND] += 1
    now = int(machine.sizes[op.ROUND])
    machine.sizes[op.MARKED], machine.sizes[op.MARKED_WITH] = written, now
    while machine.frames[written, op.FIRST] >= 0:
        text = int(machine.frames[written, op.FIRST])
        machine.frames[text, op.COUNT] = now
        while text != op.FINISHED and machine.frames[text, op.MARK] != now:
            machine.frames[text, op.MARK] = now
            text = int(machine.frames[text, op.TAIL])
        written = int(machine.frames[written, op.TAIL])
    return now


@compiled_loop
def is_written(machine: Machine, text: int, written: int) -> bool:
    """Tell whether an item has been written."""
    now = mark_written(machine, written)
    return bool(text != op.FINISHED and machine.frames[text, op.COUNT] == now)


@compiled_loop
def next_begun(machine: Machine, text: int, written: int) -> int:
    """Return the uppermost frame of a written item that begins with a text, FINISHED if there is none."""
    while machine.frames[written, op.FIRST] >= 0:
        if beginning(machine, int(machine.frames[written, op.FIRST]), int(machine.frames[text, op.SECOND])) == text:
            return written
        written = int(machine.frames[written, op.TAIL])
    return op.FINISHED


@compiled_loop
def length_here(machine: Machine, item: int, state: int, text: int, written: int, best: int) -> int:
    """Return the bytes of the shortest rest of an item that ends here or leaves all written items at the next byte.

    `best` if no such rest is shorter. The row of the state must be known.
    """
    now = mark_written(machine, written)
    if machine.distances[state] == 0 and not is_written(machine, text, written):
        return 0
    for byte in range(ROW_COMPLETE):
        after = int(machine.table[state, byte])
        if after != DEAD and 1 + machine.distances[after] < best:
            longer = known_text(machine, item, text, byte)
            if longer < 0 or machine.frames[longer, op.MARK] != now:
                best = 1 + int(machine.distances[after])
                if best == machine.distances[state]:
                    break
    return best


@compiled_loop
def length_along(machine: Machine, item: int, state: int, text: int, word: int, written: int, best: int) -> int:
    """Return the bytes of the shortest rest that follows a written item and then leaves it, or a code.

    `best` if no such rest is shorter. The present place, and places passed in this round, are skipped.
    """
    begun = int(machine.frames[text, op.SECOND])
    for read in range(int(machine.frames[word, op.SECOND]) - begun + 1):
        if read > 0:
            text = beginning(machine, word, begun + read)
            state = int(machine.table[state, machine.frames[text, op.FIRST]])
        if read + machine.distances[state] >= best:
            break
        if machine.table[state, ROW_COMPLETE] == UNKNOWN:
            return wanting(machine, state, -1)
        if read > 0 and machine.frames[text, op.LEAVES] != machine.sizes[op.ROUND]:
            best = read + length_here(machine, item, state, text, written, best - read)
            machine.frames[text, op.LEAVES] = machine.sizes[op.ROUND]
    return best


@compiled_loop
def length_unlike(machine: Machine, item: int, state: int, text: int, written: int) -> int:
    """Return the bytes of the shortest rest with which an item differs from all written ones; FAR if none; or a code.

    Only written items that begin with the same text can make that rest longer than the shortest rest of any item.
    """
    now = mark_written(machine, written)
    if text == op.FINISHED:
        if machine.frames[written, op.FIRST] < 0:
            return int(machine.distances[state])
    elif machine.frames[text, op.MARK] != now:
        return int(machine.distances[state])
    if machine.table[state, ROW_COMPLETE] == UNKNOWN:
        return wanting(machine, state, -1)
    best = length_here(machine, item, state, text, written, FAR)
    begun = op.FINISHED if best == machine.distances[state] else next_begun(machine, text, written)
    machine.sizes[op.ROUND] += 1
    while begun != op.FINISHED and best > machine.distances[state]:
        best = length_along(machine, item, state, text, int(machine.frames[begun, op.FIRST]), written, best)
        if best < 0:
            return best
        begun = next_begun(machine, text, int(machine.frames[begun, op.TAIL]))
    return best


@compiled_loop
def rest_after(machine: Machine, item: int, written: int) -> int:
    """Return the bytes of the shortest completion after the item that is being read."""
    _, _, count, _ = contents(machine, written)
    return distinct_length(machine, item, count + 1) + int(machine.frames[written, op.LENGTH])


@compiled_loop
def item_frame(machine: Machine, item: int, state: int, text: int, written: int) -> int:
    """Return the frame of an item that is read; DEAD if it can only become a written item; or a code."""
    if text < 0 or written < 0:
        return min(text, written)
    known = known_frame(machine, item, state, text, written)
    if known < 0:
        length = length_unlike(machine, item, state, text, written)
        if length < 0:
            return length
        known = frame(machine, item, state, text, written)
        if known < 0:
            return known
        machine.frames[known, op.LENGTH] = min(length + rest_after(machine, item, written), FAR)
    return known if machine.frames[known, op.LENGTH] < FAR else DEAD


@compiled_loop
def item_after(machine: Machine, leaf: int, byte: int) -> int:
    """Return the frame of an item after one more byte, DEAD, or a code."""
    item, state, text, written = contents(machine, leaf)
    after = int(machine.table[state, byte])
    if after < 0:
        return DEAD if after == DEAD else wanting(machine, state, byte)
    return item_frame(machine, item, after, text_with(machine, item, text, byte), written)


@compiled_loop
def inserted(machine: Machine, depth: int, number: int, written: int) -> int:
    """Return the stack of written items or members with one more, told by its number, in its place; or a code.

    `3 | 5 2 …` → `5 3 2 …`; the numbers above the place wait on the stack of the loop, from a depth on.
    """
    node, above, below = int(machine.frames[written, op.NODE]), depth, written
    while machine.frames[below, op.FIRST] > number:
        machine.stack[above] = machine.frames[below, op.FIRST]
        above += 1
        below = int(machine.frames[below, op.TAIL])
    count = int(machine.frames[below, op.SECOND]) + 1
    below = frame(machine, node, number, count, below)
    while above > depth:
        above -= 1
        count += 1
        below = frame(machine, node, int(machine.stack[above]), count, below)
    return below


@compiled_loop
def unfold_item(machine: Machine, depth: int, leaf: int) -> int:
    """Put the frame after an item on the stack if the item may end here; return the number of frames."""
    _, state, text, written = contents(machine, leaf)
    if machine.distances[state] > 0 or is_written(machine, text, written):
        return 0
    machine.stack[depth] = inserted(machine, depth, text, written)
    return 1


@compiled_loop
def unfold_distinct(machine: Machine, depth: int, written: int) -> int:
    """Put the frame after all items, and one more item, on the stack; return the number of frames."""
    node, _, count, _ = contents(machine, written)
    start, item, _ = numbers(machine, node)
    most, ways = int(machine.operands[start + op.MOST_ITEMS]), 0
    if count >= machine.operands[start + op.LEAST]:
        below = written
        while machine.frames[below, op.FIRST] >= 0:
            below = int(machine.frames[below, op.TAIL])
        machine.stack[depth] = machine.frames[below, op.TAIL]
        ways = 1
    if most == UNLIMITED or count < most:
        state = first_state(machine, item)
        another = state if state < 0 else item_frame(machine, item, state, op.FINISHED, written)
        if another >= 0 and count > 0:
            another = push(machine, int(machine.operands[start + op.SEPARATOR]), another)
        if another != DEAD:
            machine.stack[depth + ways] = another
            ways += 1
    return ways
