"""The subset construction: compiled loops and plain Python find the same sets of stacks."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured.automata.dfa import PatternLanguage, subsets
from structured.automata.dfa.subsets import NO_ROOM, Leaves, Subsets, Successors, find_successors
from structured.regex import concat, literal, optional, words

CLASSES, STACKS, BLOCKS = 5, 6, 4
FREE = 1

blocks = st.lists(st.lists(st.booleans(), min_size=CLASSES, max_size=CLASSES), min_size=BLOCKS, max_size=BLOCKS)
leaves_of_stacks = st.lists(
    st.lists(st.tuples(st.integers(0, BLOCKS - 1), st.integers(0, STACKS - 1)), max_size=5),
    min_size=STACKS,
    max_size=STACKS,
)
sets = st.sets(st.integers(0, STACKS - 1), min_size=1)


def ints(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def laid_out(held: list[list[bool]], read: list[list[tuple[int, int]]]) -> Leaves:
    bounds = np.cumsum([0, *map(len, read)]).tolist()
    pairs = [pair for one in read for pair in one]
    holds = np.array(held, dtype=np.bool_).ravel()
    return Leaves(
        ints(bounds[:-1]),
        ints(bounds[1:]),
        ints([block for block, _ in pairs]),
        ints([after for _, after in pairs]),
        holds,
    )


def room(leaves: Leaves, size: int) -> Successors:
    chains, order, links = ints([-1] * STACKS), ints([0] * STACKS), ints([0] * len(leaves.blocks))
    bounds, pieces = ints([0] * (CLASSES + 1)), ints([0] * 2 * CLASSES)
    seen = np.zeros(BLOCKS, dtype=np.bool_)
    return Successors(ints([0] * CLASSES), bounds, ints([0] * size), pieces, seen, chains, links, order)


Find = Callable[..., int]

PLAIN: Find = find_successors.py_func  # type: ignore[attr-defined]


def found_by(find: Find, stacks: set[int], leaves: Leaves, size: int = CLASSES * STACKS) -> tuple[int, list[list[int]]]:
    found = room(leaves, size)
    steps = find(ints(sorted(stacks)), leaves, found, FREE)
    assert (found.chains == -1).all()
    if steps == NO_ROOM:
        return NO_ROOM, []
    return int(steps), [
        found.stacks[found.bounds[group] : found.bounds[group + 1]].tolist() for group in found.groups.tolist()
    ]


@given(blocks, leaves_of_stacks, sets)
def test_each_class_leads_to_the_stacks_behind_the_blocks_that_hold_it(
    held: list[list[bool]], read: list[list[tuple[int, int]]], stacks: set[int]
) -> None:
    _, found = found_by(find_successors, stacks, laid_out(held, read))
    for number, successor in enumerate(found):
        after = {after for stack in stacks for block, after in read[stack] if held[block][number]}
        assert successor == ([FREE] if FREE in after else sorted(after))


@given(blocks, leaves_of_stacks, sets, st.integers(0, CLASSES * STACKS))
def test_plain_python_finds_the_same_in_as_many_steps(
    held: list[list[bool]], read: list[list[tuple[int, int]]], stacks: set[int], size: int
) -> None:
    leaves = laid_out(held, read)
    with_room = found_by(PLAIN, stacks, leaves)
    assert with_room == found_by(find_successors, stacks, leaves)
    assert found_by(PLAIN, stacks, leaves, size) in (with_room, (NO_ROOM, []))


def test_threads_that_share_a_language_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may be interrupted between what it notes of a stack and what it makes of it."""
    add = Subsets.add

    def add_slowly(self: Subsets, *of_stack: Any) -> None:
        time.sleep(0.001)
        add(self, *of_stack)

    monkeypatch.setattr(Subsets, "add", add_slowly)
    monkeypatch.setattr(subsets, "find_successors", PLAIN)  # which looks at the bounds of its arrays
    part = optional(words(["a", "ab", "bc", "cab"]))
    pattern = concat(*[piece for letter in "xyxzxyxz" for piece in (part, part, literal(letter))])
    texts = ["abxyxzxyxz", "bccabxayxzxyxz", "xyxzxyx", "ababxyaaxzxyxz", "ababxyaaaxzxyxz"]
    language = PatternLanguage(pattern)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [language.contains(text) for text in texts], range(8)))
    assert found == [[True, True, False, True, False]] * 8
