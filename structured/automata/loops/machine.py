"""The machine of a regular automaton: all its arrays as one named tuple, and how they begin and grow.

A loop that lacks room answers with a code below UNKNOWN that says which array is full, and leaves behind nothing but
facts that stay true; the caller replaces the array by a larger one and calls again.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.jit import Bytes, Flags, Ints, Rows, Words, compiled_entry
from structured.automata.opcodes import OPERATION, QUOTATION
from structured.vocabulary.trie import Trie

DONE = 0
"""The answer of a loop that has nothing else to tell."""

MORE_FRAMES, MORE_LEAVES, MORE_STATES, MORE_MEMBERS, MORE_STACK, MORE_ARCS, TOO_MANY_WAYS, NEEDS_STATE = range(
    -3, -11, -1
)
"""What every loop answers that cannot go on: which array is full, that it gives up, or that another state has to be
made or have its row filled first; which one it has noted."""

GROWING = {
    MORE_FRAMES: ("frames",),
    MORE_LEAVES: ("leaves",),
    MORE_STATES: ("states", "distances", "table"),
    MORE_MEMBERS: ("members",),
    MORE_STACK: ("stack",),
    MORE_ARCS: ("arcs",),
}
"""The arrays that each of these answers asks for more of."""


FIRST_ROWS = 1 << 11
"""Rows that a table begins with, 2 MB. When it grows, they are copied, and it gets room for all rows that there may be:
the operating system gives memory when a row is first written to, and to copy more rows would be felt."""


class Machine(NamedTuple):
    """The program of an automaton, and what has been walked so far; `frames` and `states` say what the columns mean."""

    nodes: Rows
    operands: Ints
    text: Bytes
    frames: Rows
    frame_slots: Ints
    leaves: Ints
    states: Rows
    distances: Ints
    state_slots: Ints
    members: Ints
    table: Rows
    sizes: Ints
    stack: Ints
    arcs: Rows
    most: int
    """The states that there may be."""
    quotes: bool
    """Whether some node is a quotation."""


class TrieArrays(NamedTuple):
    """The arrays of a `Trie`."""

    byte: Bytes
    first: Ints
    token_start: Ints
    token_ids: Ints


def new_machine(nodes: NDArray[np.int32], operands: NDArray[np.int32], text: NDArray[np.uint8], most: int) -> Machine:
    """Return the machine of a program, with at most so many states, that has walked nothing."""
    return Machine(
        nodes,
        operands,
        text,
        frames=_zeros(4096, 8),
        frame_slots=_unfilled(8192),
        leaves=_zeros(4096),
        states=_zeros(FIRST_ROWS, 4),
        distances=_zeros(FIRST_ROWS),
        state_slots=_unfilled(2 * FIRST_ROWS),
        members=_zeros(8192),
        # A row is filled when its state is made; until then the operating system need not even give it memory.
        table=np.empty((FIRST_ROWS, 256), dtype=np.int32),
        sizes=_zeros(10),
        stack=_zeros(256),
        arcs=_zeros(4096, 3),
        most=most,
        quotes=bool((nodes[:, OPERATION] == QUOTATION).any()),
    )


def grown(machine: Machine, lack: int) -> Machine:
    """Return a machine in which what is full is twice as long; a hash table that grows has to be filled again."""
    larger: dict[str, Any] = {}
    for name in GROWING[lack]:
        array = getattr(machine, name)
        length = 2 * len(array) if name != "table" else machine.most
        if length > len(array):
            larger[name] = np.empty((length, *array.shape[1:]), dtype=np.int32)
            larger[name][: len(array)] = array
    if lack == MORE_FRAMES:
        larger["frame_slots"] = _unfilled(2 * len(machine.frame_slots))
    elif lack == MORE_STATES:
        larger["state_slots"] = _unfilled(2 * len(machine.state_slots))
    return machine._replace(**larger)


def _zeros(*shape: int) -> NDArray[np.int32]:
    return np.zeros(shape, dtype=np.int32)


def _unfilled(*shape: int) -> NDArray[np.int32]:
    return np.full(shape, -1, dtype=np.int32)


STATE, NEXT, END = range(3)
"""The columns of the path of a walk, one row for each level: the state there, the child of the node there
that comes next, and the end of its children."""

FIRST_RANK, END_RANK, DEPTH, RULE, CURSOR, AFTER, NEAR = range(3, 10)
"""Further columns of a level inside a quotation, where `STATE` is a frame of it, negated: the interval of the
suffix array, the depth and the state of the rule; the first rank that has not been passed by the children so far; the
state of what follows the quotation; and a distance that the one of the level does not exceed. See `quoting.py`."""

ITEM_STATE, ITEM_TEXT, ENDED = FIRST_RANK, END_RANK, DEPTH
"""The same of a level inside an item that must differ from others, or behind it: the state of the automaton of
any item, and what is read of this one, DEAD if no item that is written begins so; behind it `-1 - s` for the state `s`
that follows, and the level at which the item ended. See `distinct_items.py`."""

LEVEL, FARTHEST = range(2)
"""What a walk writes down: the level that it stopped at, and the greatest distance of a state that a token led to."""


def walk_from(trie: Trie, state: int) -> tuple[TrieArrays, NDArray[np.int32], NDArray[np.int32]]:
    """Return the arrays of a trie, and the path and the progress of a walk that begins at its root, from a state."""
    path = np.empty((trie.height + 1, 10), dtype=np.int32)
    path[0, STATE], path[0, NEXT], path[0, END] = state, trie.first[0], trie.first[1]
    return TrieArrays(trie.byte, trie.first, trie.token_start, trie.token_ids), path, np.zeros(2, dtype=np.int32)


@compiled_entry
def walk(trie: TrieArrays, table: Rows, wanted: Flags, reached: Flags, path: Rows, mask: Words, progress: Ints) -> bool:
    """Walk a trie, skipping dead subtrees; tell whether the end was reached.

    The states after all live tokens are marked in `reached`; the bits of those tokens that lead to a `wanted` state are
    set. Both have a place for each row. The walk stops at a child whose transition the table does not know, so that the
    caller can expand the state of the level and call again.
    """
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        target = int(table[state, trie.byte[node]])
        if target == UNKNOWN:
            path[level, NEXT] = node
            progress[LEVEL] = level
            return False
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            reached[target] = True
            if wanted[target]:
                for position in range(trie.token_start[child], trie.token_start[child + 1]):
                    token_id = trie.token_ids[position]
                    mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    return True
