"""The subset construction of patterns without assertions: states that are sets of stacks, numbered as they are met.

Compiled loops compute the successors of a set (Rabin & Scott, "Finite automata and their decision problems", 1959).
Python computes once what each stack reads, and passes it to `add`.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.automata.dfa.alphabet import Alphabet
from structured.automata.loops.jit import Flags, Ints, compiled_entry, compiled_loop

NO_ROOM = -1
"""What `find_successors` returns where the sets do not fit into their room."""

_ROOM = 64
"""Entries of an array at first."""


class Leaves(NamedTuple):
    """What stacks read next: blocks of characters, and the stacks behind them. Those of one stack lie side by side.

    `holds` tells for each block, and in it for each class of characters, whether that is in the block.
    """

    first: Ints
    past: Ints
    blocks: Ints
    after: Ints
    holds: Flags


class Successors(NamedTuple):
    """What a set of stacks leads to: the `groups` of classes that lead to the same, and the sets of stacks of these.

    Of a group, they are in order between two `bounds`. The rest is room: `pieces` are what groups are cut into, and
    `seen` the blocks that did; `chains` are, for each stack, the last leaf that leads to it, and `links` for each leaf
    the one before; `order` are the stacks that are led to.
    """

    groups: Ints
    bounds: Ints
    stacks: Ints
    pieces: Ints
    seen: Flags
    chains: Ints
    links: Ints
    order: Ints


@compiled_loop
def chain_leaves(stacks: Ints, leaves: Leaves, found: Successors) -> int:
    """Chain the leaves of some stacks by what they lead to, each once; return how many stacks those are, in order."""
    low, high = len(found.chains), -1
    for stack in stacks:
        for leaf in range(leaves.first[stack], leaves.past[stack]):
            after = leaves.after[leaf]
            other = found.chains[after]
            while other >= 0 and leaves.blocks[other] != leaves.blocks[leaf]:
                other = found.links[other]
            if other < 0:
                found.links[leaf] = found.chains[after]
                found.chains[after] = leaf
                low, high = min(low, after), max(high, after)
    count = 0
    for after in range(low, high + 1):
        if found.chains[after] >= 0:
            found.order[count] = after
            count += 1
    return count


@compiled_loop
def number_groups(found: Successors, groups: int) -> int:
    """Number the groups in the order of their first classes; return how many there are."""
    found.pieces[:groups] = -1
    used = 0
    for number in range(len(found.groups)):
        group = found.groups[number]
        if found.pieces[group] < 0:
            found.pieces[group] = used
            used += 1
        found.groups[number] = found.pieces[group]
    return used


@compiled_loop
def cut_groups(leaves: Leaves, found: Successors, block: int, groups: int) -> int:
    """Cut each group into the classes in a block and the others; return how many groups there are."""
    size = len(found.groups)
    found.pieces[:groups] = -1
    pieces = groups
    for number in range(size):
        if leaves.holds[block * size + number]:
            group = found.groups[number]
            if found.pieces[group] < 0:
                found.pieces[group] = pieces
                pieces += 1
            found.groups[number] = found.pieces[group]
    return number_groups(found, pieces)


@compiled_loop
def group_classes(leaves: Leaves, found: Successors, count: int) -> None:
    """Group the classes of characters by the blocks of the chained leaves that they are in."""
    found.groups[:] = 0
    found.seen[:] = False
    groups = 1
    for place in range(count):
        leaf = found.chains[found.order[place]]
        while leaf >= 0:
            block = leaves.blocks[leaf]
            if not found.seen[block]:
                found.seen[block] = True
                groups = cut_groups(leaves, found, block, groups)
            leaf = found.links[leaf]


@compiled_entry
def find_successors(stacks: Ints, leaves: Leaves, found: Successors, free: int) -> int:
    """Find what some stacks lead to; return the steps that it took, or `NO_ROOM`.

    A set with the stack `free`, from which any text may follow, is that stack alone.
    """
    count = chain_leaves(stacks, leaves, found)
    group_classes(leaves, found, count)
    size = len(found.groups)
    steps = size + len(stacks)
    for stack in stacks:
        steps += leaves.past[stack] - leaves.first[stack]
    groups = used = 0
    for number in range(size):
        if found.groups[number] < groups:
            continue
        groups += 1
        steps += 1
        start = used
        is_free = False
        for place in range(count):
            is_led_to = False
            leaf = found.chains[found.order[place]]
            while leaf >= 0:
                if leaves.holds[leaves.blocks[leaf] * size + number]:
                    steps += 1
                    is_led_to = True
                leaf = found.links[leaf]
            if is_led_to and used < len(found.stacks):
                found.stacks[used] = found.order[place]
                is_free = is_free or found.order[place] == free
            used += is_led_to
        if is_free:
            used = start + 1
            found.stacks[start] = free
        found.bounds[groups] = used
    for place in range(count):
        found.chains[found.order[place]] = -1
    return steps if used <= len(found.stacks) else NO_ROOM


class Subsets:
    """Sets of stacks, as states with numbers; of each stack, `add` has to say what it reads before it is followed."""

    def __init__(self, alphabet: Alphabet, free: int) -> None:
        self._alphabet = alphabet
        self._free = free
        self._numbers: dict[bytes, int] = {}
        self._sets: list[NDArray[np.int32]] = []
        self._blocks: dict[int, int] = {}
        self._used = 0
        size = len(alphabet)
        holds = np.zeros(_ROOM * size, dtype=np.bool_)
        self._leaves = Leaves(_room(_ROOM), _room(_ROOM), _room(_ROOM), _room(_ROOM), holds)
        seen, chained = np.empty(_ROOM, dtype=np.bool_), map(_room, (0, 0, 0))
        self._found = Successors(_room(size), _room(size + 1), _room(_ROOM), _room(2 * size), seen, *chained)
        self._found.bounds[0] = 0

    def number_of(self, stacks: Iterable[int]) -> int:
        """Return the number of a set of stacks."""
        known = sorted(stacks)
        return self._number(np.array([self._free] if self._free in known else known, dtype=np.int32))

    def _number(self, stacks: NDArray[np.int32]) -> int:
        key = stacks.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._sets)
            self._sets.append(stacks)
        return number

    def stacks(self, number: int) -> list[int]:
        """Return the stacks of a set, in order."""
        found: list[int] = self._sets[number].tolist()
        return found

    def is_free(self, number: int) -> bool:
        """Tell whether any text may follow a set."""
        return bool(self._sets[number][0] == self._free)

    def add(self, stack: int, leaves: Sequence[tuple[int, int]]) -> None:
        """Take what a stack reads: the blocks of characters, and the stack behind each."""
        past = self._used + len(leaves)
        blocks = [self._block(block) for block, _ in leaves]
        after = [after for _, after in leaves]
        stacks = max([stack, *after]) + 1
        known = self._leaves
        known = self._leaves = Leaves(
            _grown(known.first, stacks),
            _grown(known.past, stacks),
            _grown(known.blocks, past),
            _grown(known.after, past),
            known.holds,
        )
        known.first[stack], known.past[stack] = self._used, past
        known.blocks[self._used : past], known.after[self._used : past] = blocks, after
        self._used = past

    def row(self, number: int) -> tuple[list[int | None], int]:
        """Return the set that each class of characters leads to, and the steps that it took to find them."""
        self._fit()
        steps = find_successors(self._sets[number], self._leaves, self._found, self._free)
        while steps == NO_ROOM:
            self._found = self._found._replace(stacks=_room(4 * len(self._found.stacks)))
            steps = find_successors(self._sets[number], self._leaves, self._found, self._free)
        groups = self._found.groups.tolist()
        bounds = self._found.bounds[: max(groups) + 2].tolist()
        successors = [
            self._number(self._found.stacks[start:end].copy()) if start < end else None
            for start, end in pairwise(bounds)
        ]
        return [successors[group] for group in groups], int(steps)

    def _block(self, block: int) -> int:
        """Return the number of a block of classes."""
        number = self._blocks.get(block)
        if number is None:
            number = self._blocks[block] = len(self._blocks)
            size = len(self._alphabet)
            self._leaves = self._leaves._replace(holds=_grown(self._leaves.holds, (number + 1) * size))
            self._leaves.holds[[number * size + place for place in self._alphabet.members(block)]] = True
        return number

    def _fit(self) -> None:
        """Make room for what the stacks lead to."""
        stacks, leaves, blocks = len(self._leaves.first), len(self._leaves.blocks), len(self._blocks)
        found = self._found
        if len(found.chains) < stacks or len(found.links) < leaves or len(found.seen) < blocks:
            chains, seen = np.full(stacks, -1, dtype=np.int32), np.empty(2 * blocks, dtype=np.bool_)
            self._found = found._replace(chains=chains, order=_room(stacks), links=_room(leaves), seen=seen)


def _room(size: int) -> NDArray[np.int32]:
    return np.empty(size, dtype=np.int32)


_Array = TypeVar("_Array", NDArray[np.int32], NDArray[np.bool_])


def _grown(array: _Array, size: int) -> _Array:
    """Return an array with room for so many entries, the same if it has it."""
    if size <= len(array):
        return array
    grown = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
