"""The places of labels: beside their arrows, where they cover no circle, no other label and as few arrows as can be."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.diagram.curves import Point
from structured.automata.diagram.layout import RADIUS, Edge
from structured.automata.diagram.routes import Route

PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.2, 0.8)
"""Where along an arrow its label may stand, the best first."""

DISTANCES = (3.0, 9.0)
"""Between an arrow and its label."""


SPACE = 3.0
"""Around a label."""

CELL = 3.0
"""The side of the squares in which points of arrows are counted."""

_Cell = tuple[int, int]


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float


def label_box(edge: Edge, middle: Point) -> Box:
    """Return the rectangle of the labels of an edge."""
    x, y = middle
    return Box(x - edge.width / 2, y - edge.height / 2, x + edge.width / 2, y + edge.height / 2)


def place_labels(routes: Sequence[Route], circles: Sequence[Point]) -> list[Point]:
    """Return the middle of the labels of each edge; those that the way settles are where it says."""
    boxes = [Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in circles]
    boxes += [label_box(route.edge, route.label) for route in routes if route.label is not None]
    taken = np.zeros((len(boxes) + len(routes), 4))
    taken[: len(boxes)] = boxes
    inked = Counter(_cell(*point) for route in routes for point in route.curve.samples())
    places: list[Point] = []
    for number, route in enumerate(routes, start=len(boxes)):
        place = route.label
        if place is None:
            others = taken[:number]
            _, place = min(
                (cost + _cost(label_box(route.edge, middle), others, inked), middle)
                for cost, middle in _candidates(route)
            )
            taken[number] = label_box(route.edge, place)
        places.append(place)
    return places


def _candidates(route: Route) -> list[tuple[float, Point]]:
    """Return places beside an arrow, above it first, each with what it costs to be there."""
    found: list[tuple[float, Point]] = []
    edge = route.edge
    for rank, place in enumerate(PLACES):
        (x, y), (dx, dy) = route.curve.at(place)
        for distance in DISTANCES:
            for side in (-1.0, 1.0):
                nx, ny = -side * dy, side * dx
                shift = abs(nx) * edge.width / 2 + abs(ny) * edge.height / 2 + distance
                cost = rank + (1.5 if ny > 0 else 0.0) + (1.0 if distance > DISTANCES[0] else 0.0)
                found.append((cost, (x + nx * shift, y + ny * shift)))
    return found


def _cost(box: Box, taken: NDArray[np.float64], inked: Mapping[_Cell, int]) -> float:
    """Return what a place costs for what is there already."""
    (left, top), (right, bottom) = _cell(box.left, box.top), _cell(box.right, box.bottom)
    ink = sum(inked.get((x, y), 0) for x in range(left + 1, right) for y in range(top + 1, bottom))
    widths = np.minimum(taken[:, 2], box.right + SPACE) - np.maximum(taken[:, 0], box.left - SPACE)
    heights = np.minimum(taken[:, 3], box.bottom + SPACE) - np.maximum(taken[:, 1], box.top - SPACE)
    covered = float((widths.clip(0) * heights.clip(0)).sum())
    return covered + (40.0 if covered else 0.0) + 3.0 * ink


def _cell(x: float, y: float) -> _Cell:
    """Return the square of the page in which a point is."""
    return floor(x / CELL), floor(y / CELL)
