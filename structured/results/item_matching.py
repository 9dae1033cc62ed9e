"""The matching of the items of two lists: by their keys or, without any, so that most values are the same.

The matching does not depend on the order of either list, nor on which of them comes first: items are matched in the
order of what they say.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from structured.output_types.paths import Steps


def best_assignment(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum of weights, in the order of the rows.

    Parameters:
        weights: Rows × columns, none below 0. A pair of weight 0 is left out.

    >>> best_assignment(np.array([[2.0, 3.0], [0.0, 2.0]]))
    [(0, 0), (1, 1)]
    """
    rows, columns = weights.shape
    if rows > columns:
        return sorted((row, column) for column, row in best_assignment(weights.T))
    prices = np.zeros(rows), np.zeros(columns)  # with which no pair costs less than nothing, and those chosen nothing
    row_of, column_of = np.full(columns, -1), np.full(rows, -1)
    for row in range(rows):
        _add(row, -weights, prices, row_of, column_of)
    return [(row, int(column)) for row, column in enumerate(column_of) if weights[row, column] > 0]


def _add(
    row: int,
    costs: NDArray[np.float64],
    prices: tuple[NDArray[np.float64], NDArray[np.float64]],
    row_of: NDArray[np.int_],
    column_of: NDArray[np.int_],
) -> None:
    """Assign one more row, and others anew if that makes the sum of the costs less."""
    of_rows, of_columns = prices
    distances = np.full(len(row_of), np.inf)
    came_from = np.full(len(row_of), -1)
    reached = np.zeros(len(row_of), bool)
    last, distance = row, 0.0
    while True:
        onwards = distance + costs[last] - of_rows[last] - of_columns
        nearer = ~reached & (onwards < distances)
        distances[nearer], came_from[nearer] = onwards[nearer], last
        column = int(np.argmin(np.where(reached, np.inf, distances)))
        distance = float(distances[column])
        if row_of[column] < 0:
            break
        reached[column] = True
        last = int(row_of[column])
    of_rows[row] += distance
    of_rows[row_of[reached]] += distance - distances[reached]
    of_columns[reached] -= distance - distances[reached]
    while True:
        last = int(came_from[column])
        row_of[column] = last
        column_of[last], column = column, int(column_of[last])
        if last == row:
            return


@dataclass(frozen=True)
class Item:
    """An item of a list.

    Attributes:
        values: Its values outside of lists, each by its place in the item, as a text that equal values share.
        lists: The items of the lists in it, by their places.
        key: The values of its key fields; empty if it states none of them.
        is_keyed: Whether items are matched by key fields.
    """

    values: frozenset[tuple[Steps, str]]
    lists: Mapping[Steps, "list[Item]"]
    key: tuple[str, ...] = ()
    is_keyed: bool = False

    @cached_property
    def text(self) -> str:
        """Its values as one text, in a fixed order."""
        lists = sorted((repr(steps), sorted(item.text for item in inside)) for steps, inside in self.lists.items())
        return repr((self.key, sorted(self.values, key=repr), lists))


def match_items(expected: Sequence[Item], given: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the positions of items that are matched. Those with no value in common are not, unless by a key."""
    ordered = [sorted(range(len(items)), key=lambda at, items=items: items[at].text) for items in (expected, given)]  # type: ignore[misc]
    ours, theirs = ([items[at] for at in order] for items, order in zip((expected, given), ordered, strict=True))
    if [item.text for item in ours] > [item.text for item in theirs]:
        return [(ordered[0][at], ordered[1][other]) for other, at in _matched(theirs, ours)]
    return [(ordered[0][at], ordered[1][other]) for at, other in _matched(ours, theirs)]


def _matched(ours: Sequence[Item], theirs: Sequence[Item]) -> list[tuple[int, int]]:
    groups: dict[tuple[str, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, items in enumerate((ours, theirs)):
        for at, item in enumerate(items):
            if item.key or not item.is_keyed:
                groups[item.key][side].append(at)
    pairs: list[tuple[int, int]] = []
    for left, right in groups.values():
        for at, other in _best([ours[at] for at in left], [theirs[at] for at in right]):
            pairs.append((left[at], right[other]))
    return pairs


def _best(ours: Sequence[Item], theirs: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the matching with most values in common.

    Items that say the same, and hold no lists, are matched first: for a and b that are the same, a–b and x–y have at
    least as much in common as a–y and x–b.
    """
    waiting: dict[str, list[int]] = defaultdict(list)
    for at in reversed(range(len(theirs))):
        if theirs[at].values and not theirs[at].lists:
            waiting[theirs[at].text].append(at)
    same = [(at, waiting[item.text].pop()) for at, item in enumerate(ours) if waiting.get(item.text)]
    left = [at for at in range(len(ours)) if at not in {matched for matched, _ in same}]
    right = [at for at in range(len(theirs)) if at not in {other for _, other in same}]
    if not left or not right:
        return same
    weights = _in_common([ours[at] for at in left], [theirs[at] for at in right])
    return [*same, *((left[at], right[other]) for at, other in best_assignment(weights))]


def _in_common(ours: Sequence[Item], theirs: Sequence[Item]) -> NDArray[np.float64]:
    """Return how many values each of our items has in common with each of theirs."""
    weights = np.zeros((len(ours), len(theirs)))
    having: dict[tuple[Steps, str], list[int]] = defaultdict(list)
    for other, item in enumerate(theirs):
        for value in item.values:
            having[value].append(other)
    for at, item in enumerate(ours):
        for value in item.values & having.keys():
            weights[at, having[value]] += 1
        for steps in item.lists:
            for other, their_item in enumerate(theirs):
                weights[at, other] += _shared(item.lists[steps], their_item.lists.get(steps, ()))
    return weights


def _shared(ours: Sequence[Item], theirs: Sequence[Item]) -> int:
    """Return how many values two lists have in common."""
    matched = match_items(ours, theirs)
    return sum(_values_shared(ours[at], theirs[other]) for at, other in matched)


def _values_shared(item: Item, other: Item) -> int:
    inside = sum(_shared(items, other.lists.get(steps, ())) for steps, items in item.lists.items())
    return len(item.values & other.values) + inside
