"""The machine of a regular automaton: all its arrays as one named tuple, and how they begin and grow.

A loop that lacks room answers with a code below UNKNOWN that says which array is full, and leaves behind nothing but
facts that stay true; the caller replaces the array by a larger one and calls again.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.jit import Bytes, Ints, Rows
from structured.automata.opcodes import OPERATION, QUOTATION

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
