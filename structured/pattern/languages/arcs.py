"""Ranges of characters, each with the state that it leads to; those of one state are in order and do not overlap."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

Arc = tuple[int, int, Any]
"""The first and the last character of a range, and the state that they lead to."""


def overlay(layers: Sequence[Sequence[Arc]]) -> list[tuple[int, int, tuple[Any, ...]]]:
    """Return the ranges of several lists of arcs cut so that none overlap, with the state in each, None for nowhere.

    `[[(1, 5, "a")], [(3, 9, "b")]]` → `[(1, 2, ("a", None)), (3, 5, ("a", "b")), (6, 9, (None, "b"))]`
    """
    cuts = sorted({cut for arcs in layers for low, high, _ in arcs for cut in (low, high + 1)})
    places = [0] * len(layers)
    pieces = []
    for low, end in pairwise(cuts):
        states: list[Any] = []
        for layer, arcs in enumerate(layers):
            while places[layer] < len(arcs) and arcs[places[layer]][1] < low:
                places[layer] += 1
            place = places[layer]
            inside = place < len(arcs) and arcs[place][0] <= low
            states.append(arcs[place][2] if inside else None)
        if any(state is not None for state in states):
            pieces.append((low, end - 1, tuple(states)))
    return pieces


def joined(arcs: Iterable[Arc]) -> list[Arc]:
    """Return the arcs with neighbouring ranges that lead to the same state made one."""
    found: list[Arc] = []
    for low, high, state in arcs:
        if found and found[-1][2] == state and found[-1][1] + 1 == low:
            found[-1] = (found[-1][0], high, state)
        else:
            found.append((low, high, state))
    return found
