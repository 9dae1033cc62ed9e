"""The machine of a regular automaton: all its arrays as one named tuple, and how they begin and grow.

A loop that cannot go on returns a *code*, a number below UNKNOWN that says which array is full or which state is
needed: `MORE_FRAMES`, `NEEDS_STATE`. All rows written before stay valid: the caller enlarges the array or makes the
state, and calls the loop again. Docstrings say "or a code" for this.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.jit import Bytes, Flags, Ints, Rows, Words, compiled_entry, compiled_loop
from structured.automata.opcodes import FINISHED, FRAMES_USED, LEAF_COUNT, LEAVES_USED, OPERATION, QUOTATION
from structured.vocabulary.trie import Trie

DONE = 0
"""The result of a loop that has finished and returns nothing else."""

MORE_FRAMES, MORE_LEAVES, MORE_STATES, MORE_ELEMENTS, MORE_SCRATCH, MORE_ARCS = range(-3, -9, -1)
TOO_MANY_LEAVES, NEEDS_STATE = -9, -10
"""The codes of loops that cannot go on: an array is full, a byte leads to too many frames, or a state is needed, which
is in `registers[REQUESTED_STATE]`."""

FULL_ARRAYS = {
    MORE_FRAMES: ("frames",),
    MORE_LEAVES: ("leaves",),
    MORE_STATES: ("states", "distances", "table"),
    MORE_ELEMENTS: ("elements",),
    MORE_SCRATCH: ("scratch",),
    MORE_ARCS: ("arcs",),
}
"""The arrays that are full, for each code."""

INITIAL_TABLE_ROWS, GROWN_TABLE_ROWS = 1 << 8, 1 << 11
"""The rows of a new table, 256 KB, and those that it has when these are full, 2 MB. When it grows again, it gets room
for the most rows allowed: the operating system gives so much memory only when a row is written, and copying more rows
would take noticeable time."""


class Machine(NamedTuple):
    """The program of an automaton, and its frames and states so far.

    A frame is a row of `frames` (columns: see `NODE` in `opcodes.py`), and its leaves are a slice of `leaves`. A state
    is a row of `states` (columns: see `FIRST_ELEMENT` in `states.py`), of `distances` in bytes, and of the transition
    `table`, which has shape (states, 256) and the entries state, DEAD or UNKNOWN. Its frames are a slice of `elements`,
    and its arcs a slice of `arcs`, rows of `low byte, high byte, frame after`. `frame_slots` and `state_slots` are hash
    tables of row numbers, -1 where free. `registers` has the entries that `opcodes.py` names from `FRAMES_USED` on.
    `scratch` is the stack of the loop that runs: frames that it has yet to handle.
    """

    nodes: Rows
    operands: Ints
    text: Bytes
    frames: Rows
    frame_slots: Ints
    leaves: Ints
    states: Rows
    distances: Ints
    state_slots: Ints
    elements: Ints
    table: Rows
    registers: Ints
    scratch: Ints
    arcs: Rows
    max_states: int
    """The most states."""
    has_quotations: bool
    """Whether some node is a quotation."""


class TrieArrays(NamedTuple):
    """The arrays of a `Trie`."""

    byte: Bytes
    first: Ints
    token_start: Ints
    token_ids: Ints


def new_machine(
    nodes: NDArray[np.int32], operands: NDArray[np.int32], text: NDArray[np.uint8], max_states: int
) -> Machine:
    """Return the machine of a program without any states."""
    machine = Machine(
        nodes,
        operands,
        text,
        frames=zeros(4096, 8),
        frame_slots=unfilled(8192),
        leaves=zeros(4096),
        states=zeros(INITIAL_TABLE_ROWS, 4),
        distances=zeros(INITIAL_TABLE_ROWS),
        state_slots=unfilled(2 * INITIAL_TABLE_ROWS),
        elements=zeros(8192),
        table=np.empty((INITIAL_TABLE_ROWS, 256), dtype=np.int32),
        registers=zeros(10),
        scratch=zeros(256),
        arcs=zeros(4096, 3),
        max_states=max_states,
        has_quotations=bool((nodes[:, OPERATION] == QUOTATION).any()),
    )
    machine.registers[[FRAMES_USED, LEAVES_USED]] = machine.frames[FINISHED, LEAF_COUNT] = 1  # FINISHED is its own leaf
    return machine


def grow(machine: Machine, code: int) -> Machine:
    """Return a machine whose full arrays are twice as long; a hash table that grows must be filled again."""
    larger: dict[str, Any] = {}
    for name in FULL_ARRAYS[code]:
        array = getattr(machine, name)
        rows = GROWN_TABLE_ROWS if len(machine.states) < GROWN_TABLE_ROWS else machine.max_states
        length = 2 * len(array) if name != "table" else rows
        if length > len(array):
            larger[name] = np.empty((length, *array.shape[1:]), dtype=np.int32)
            larger[name][: len(array)] = array
    if code == MORE_FRAMES:
        larger["frame_slots"] = unfilled(2 * len(machine.frame_slots))
    elif code == MORE_STATES:
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
the end of its children; `state_walks.py` has more columns."""

LEVEL, MAX_DISTANCE = range(2)
"""The progress of a walk: the level at which it stopped, and the most bytes to the end after an allowed token."""


def start_walk(
    trie: Trie, states: int | NDArray[np.int32], nodes: int | NDArray[np.int32] = 0
) -> tuple[TrieArrays, NDArray[np.int32], NDArray[np.int32]]:
    """Return the arrays of a trie, and the path and progress of walks: one below each node, from the state beside it.

    The nodes are the first levels of the path; the walk below the last node comes first.
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
    automaton: Expandable, trie: Trie, state: int, mask: NDArray[np.uint32], targets: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Set the bits of the tokens that lead to a target, or to any state for None; return which states are reached.

    `targets` and the result have an entry for each state.
    """
    arrays, path, progress = start_walk(trie, state)
    reached = np.zeros(0, dtype=np.bool_)
    while True:
        table = automaton.table
        reached = np.pad(reached, (0, len(table) - len(reached)))
        is_target = np.ones_like(reached) if targets is None else np.pad(targets, (0, len(table) - len(targets)))
        if walk(arrays, table, is_target, reached, path, mask, progress):
            return reached
        automaton.expand(int(path[progress[LEVEL], STATE]))


@compiled_loop
def allow_tokens(trie: TrieArrays, node: int, mask: Words) -> None:
    """Set the bits of the tokens that end at a node."""
    for position in range(trie.token_start[node], trie.token_start[node + 1]):
        token_id = trie.token_ids[position]
        mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)


@compiled_entry
def walk(
    trie: TrieArrays, table: Rows, is_target: Flags, reached: Flags, path: Rows, mask: Words, progress: Ints
) -> bool:
    """Walk a trie along a transition table, skipping dead subtrees, and tell whether the walk is finished.

    Mark the states after all live tokens in `reached`, and set the bits of the tokens that lead to a state that
    `is_target`; both arrays have an entry for each row of the table. At a transition that the table does not know, the
    walk stops, so that the caller can expand the state of the level and call again.
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
            path[level, NEXT], progress[LEVEL] = node, level
            return False
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            reached[target] = True
            if is_target[target]:
                allow_tokens(trie, child, mask)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE], path[level, END] = state, end
    return True
