"""The machine of a regular automaton: all its arrays as one named tuple, and how they begin and grow.

A loop that cannot go on returns a *code* below UNKNOWN, which says which array is full or which state is needed. All
rows written before stay valid: the caller enlarges the array or makes the state, and calls the loop again. Docstrings
say "or a code" for this.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.jit import Bytes, Flags, Ints, Rows, Words, compiled_entry, compiled_loop
from structured.automata.opcodes import OPERATION, QUOTATION
from structured.vocabulary.trie import Trie

DONE = 0
"""The result of a loop that has finished and returns nothing else."""

MORE_FRAMES, MORE_LEAVES, MORE_STATES, MORE_MEMBERS, MORE_STACK, MORE_ARCS, TOO_MANY_WAYS, NEEDS_STATE = range(
    -3, -11, -1
)
"""The codes of loops that cannot go on: an array is full, a byte leads to too many frames, or a state is needed, which
is in `sizes[WANTED]`."""

GROWING = {
    MORE_FRAMES: ("frames",),
    MORE_LEAVES: ("leaves",),
    MORE_STATES: ("states", "distances", "table"),
    MORE_MEMBERS: ("members",),
    MORE_STACK: ("stack",),
    MORE_ARCS: ("arcs",),
}
"""The arrays that are full, for each code."""

FIRST_ROWS, SECOND_ROWS = 1 << 8, 1 << 11
"""The first rows of a table, 256 KB, and those that it has when these are full, 2 MB. When it grows again, it gets room
for the most rows allowed: the operating system gives so much memory only when a row is written, and copying more rows
would take noticeable time."""


class Machine(NamedTuple):
    """The program of an automaton, and its frames and states so far; `frames.py` and `states.py` name the columns."""

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
    """The most states."""
    quotes: bool
    """Whether some node is a quotation."""


class TrieArrays(NamedTuple):
    """The arrays of a `Trie`."""

    byte: Bytes
    first: Ints
    token_start: Ints
    token_ids: Ints


def new_machine(nodes: NDArray[np.int32], operands: NDArray[np.int32], text: NDArray[np.uint8], most: int) -> Machine:
    """Return the machine of a program without any states; it may have at most `most`."""
    return Machine(
        nodes,
        operands,
        text,
        frames=zeros(4096, 8),
        frame_slots=unfilled(8192),
        leaves=zeros(4096),
        states=zeros(FIRST_ROWS, 4),
        distances=zeros(FIRST_ROWS),
        state_slots=unfilled(2 * FIRST_ROWS),
        members=zeros(8192),
        table=np.empty((FIRST_ROWS, 256), dtype=np.int32),
        sizes=zeros(10),
        stack=zeros(256),
        arcs=zeros(4096, 3),
        most=most,
        quotes=bool((nodes[:, OPERATION] == QUOTATION).any()),
    )


def grown(machine: Machine, lack: int) -> Machine:
    """Return a machine whose full arrays are twice as long; a hash table that grows must be filled again."""
    larger: dict[str, Any] = {}
    for name in GROWING[lack]:
        array = getattr(machine, name)
        rows = SECOND_ROWS if len(machine.states) < SECOND_ROWS else machine.most
        length = 2 * len(array) if name != "table" else rows
        if length > len(array):
            larger[name] = np.empty((length, *array.shape[1:]), dtype=np.int32)
            larger[name][: len(array)] = array
    if lack == MORE_FRAMES:
        larger["frame_slots"] = unfilled(2 * len(machine.frame_slots))
    elif lack == MORE_STATES:
        larger["state_slots"] = unfilled(2 * len(machine.state_slots))
    return machine._replace(**larger)


def zeros(*shape: int) -> NDArray[np.int32]:
    """Return an array of zeros."""
    return np.zeros(shape, dtype=np.int32)


def unfilled(*shape: int, value: int = -1) -> NDArray[np.int32]:
    """Return an array whose entries are not known yet."""
    return np.full(shape, value, dtype=np.int32)


STATE, NEXT, END = range(3)
"""The columns of the path of a walk, with a row for each level of the trie: the state, the next child of the node, and
the end of its children; `state_walks.py` has further ones."""

LEVEL, FARTHEST = range(2)
"""The progress of a walk: the level at which it stopped, and the greatest distance of a state after a token."""


def walk_from(
    trie: Trie, states: int | NDArray[np.int32], nodes: int | NDArray[np.int32] = 0
) -> tuple[TrieArrays, NDArray[np.int32], NDArray[np.int32]]:
    """Return the arrays of a trie, and the path and progress of a walk below some nodes, each from a state.

    The nodes are levels of the path; the walk goes on with the next when it is done with what is above it.
    """
    count, levels = (1, 0) if isinstance(nodes, int) else (len(nodes), slice(len(nodes)))
    path, progress = np.empty((trie.height + count, 10), dtype=np.int32), np.zeros(2, dtype=np.int32)
    path[levels, STATE], path[levels, NEXT], path[levels, END] = states, trie.first[nodes], trie.first[nodes + 1]
    progress[LEVEL] = count - 1
    return TrieArrays(trie.byte, trie.first, trie.token_start, trie.token_ids), path, progress


class Expandable(Protocol):
    """An automaton whose rows are filled when they are needed; see `Automaton`."""

    @property
    def table(self) -> NDArray[np.int32]: ...  # noqa: D102

    def expand(self, state: int) -> None: ...  # noqa: D102


def walk_states(
    automaton: Expandable, trie: Trie, state: int, mask: NDArray[np.uint32], wanted: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Set the bits of the tokens that lead to a wanted state, or to any for None; return which states are reached."""
    arrays, path, progress = walk_from(trie, state)
    reached = np.zeros(0, dtype=np.bool_)
    while True:
        table = automaton.table
        reached = np.pad(reached, (0, len(table) - len(reached)))
        marked = np.ones_like(reached) if wanted is None else np.pad(wanted, (0, len(table) - len(wanted)))
        if walk(arrays, table, marked, reached, path, mask, progress):
            return reached
        automaton.expand(int(path[progress[LEVEL], STATE]))


@compiled_loop
def allow_tokens(trie: TrieArrays, node: int, mask: Words) -> None:
    """Set the bits of the tokens that end at a node."""
    for position in range(trie.token_start[node], trie.token_start[node + 1]):
        token_id = trie.token_ids[position]
        mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)


@compiled_entry
def walk(trie: TrieArrays, table: Rows, wanted: Flags, reached: Flags, path: Rows, mask: Words, progress: Ints) -> bool:
    """Walk a trie, skipping dead subtrees, and tell whether the walk is finished.

    Mark the states after all live tokens in `reached`, and set the bits of the tokens that lead to a `wanted` state;
    both arrays have an entry for each row of the table. At a transition that the table does not know, the walk stops,
    so that the caller can expand the state of the level and call again.
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
                allow_tokens(trie, child, mask)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    return True
