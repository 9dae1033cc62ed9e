"""What the machine of a grammar may forget: stacks, places and configurations that no state consists of.

Most are met once, while a mask is made: they are where a token would lead that is not taken. What the states consist of
is kept, and numbered anew.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from structured.automata.loops.grammar_machine import GrammarMachine

_Numbers = NDArray[np.int32]


def collected(machine: "GrammarMachine") -> "GrammarMachine":
    """Return a machine with what its states consist of. Numbers of configurations from before are of no use after."""
    from structured.automata.loops import grammar_machine as kinds
    from structured.automata.loops.configurations import PLACE
    from structured.automata.loops.stacks import BELOW, STACK

    sizes = machine.sizes.copy()
    members = machine.members[: sizes[kinds.MEMBERS_USED]]
    configurations = np.unique(members)
    places = np.unique(machine.configurations[configurations, PLACE])
    stacks = _with_below(machine.places[places, STACK], machine.stacks[: sizes[kinds.STACKS_USED], BELOW])
    kept = {
        "stacks": _renumbered(machine.stacks[stacks], BELOW, stacks),
        "places": _renumbered(machine.places[places], STACK, stacks),
        "configurations": _renumbered(machine.configurations[configurations], PLACE, places),
    }
    sizes[[kinds.STACKS_USED, kinds.PLACES_USED, kinds.CONFIGURATIONS_USED]] = list(map(len, kept.values()))
    larger: dict[str, Any] = {name: _roomy(rows) for name, rows in kept.items()}
    larger |= {
        name: np.full(2 * len(larger[of]), -1, dtype=np.int32)
        for name, of in (
            ("stack_slots", "stacks"),
            ("place_slots", "places"),
            ("configuration_slots", "configurations"),
        )
    }
    members = machine.members.copy()
    members[: sizes[kinds.MEMBERS_USED]] = np.searchsorted(configurations, members[: sizes[kinds.MEMBERS_USED]])
    return machine._replace(**larger, members=members, heap=machine.heap[:256].copy(), sizes=sizes)


def _with_below(stacks: _Numbers, below: _Numbers) -> _Numbers:
    """Return some stacks and all that are below them, in order."""
    is_kept = np.zeros(len(below), dtype=np.bool_)
    new: _Numbers = np.unique(stacks)
    while len(new):
        is_kept[new] = True
        under = below[new]
        under = under[under >= 0]
        new = np.unique(under[~is_kept[under]])
    return np.flatnonzero(is_kept).astype(np.int32)


def _renumbered(rows: _Numbers, column: int, kept: _Numbers) -> _Numbers:
    """Return rows that name by their places in `kept` what they named by number; -1 stays."""
    named = rows[:, column]
    rows[:, column] = np.where(named < 0, named, np.searchsorted(kept, named))
    return rows


def _roomy(rows: _Numbers) -> _Numbers:
    """Return rows with as much room behind them, of a power of two."""
    room = 1 << max(8, int(2 * len(rows)).bit_length())
    return np.concatenate([rows, np.full((room - len(rows), rows.shape[1]), -2, dtype=np.int32)])
