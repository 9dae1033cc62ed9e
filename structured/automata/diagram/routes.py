"""The ways of the arrows of a diagram: on to a column behind, round above a state, or back along the edge.

Arrows that go back have lanes below all states, or above them, that they pass: short ones near, long ones far.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, hypot, pi, sin

from structured.automata.diagram.curves import Curve, Point, rounded
from structured.automata.diagram.layout import LOOP, RADIUS, Edge, Layout, end_of

TIP = 1.5
"""Between the tip of an arrow and the circle."""

FLATNESS = 0.72
"""How much of the angle between two states an arrow has where it leaves and arrives."""

SIDES = (1, -1)

BEND = 0.36
"""How far the control points of a curve are from its ends, as a part of its length."""

LANE = 13.0
"""Between two lanes, labels aside; between the states and the first one, twice that."""

ROUND = 26.0
"""The radius of the corners of a way back."""

LEAN = 0.4
"""The angle by which a way back leaves and arrives beside the lowest or the highest point of a circle."""

BLOCKED = 60.0
"""What a state in the way costs, in pixels of detour."""

GUTTER = 15.0
"""How far beside a column an arrow goes past its states."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an edge; `label` is the middle of its labels where that is settled by the way."""

    edge: Edge
    curve: Curve
    label: Point | None = None


def routes(layout: Layout) -> list[Route]:
    """Return the ways of all edges."""
    found: list[Route] = []
    back: list[Edge] = []
    for edge in layout.edges:
        if edge.source == edge.target:
            found.append(_loop(edge, layout.places[edge.source]))
        elif edge in layout.bends:
            found.append(Route(edge, _onward(layout, edge)))
        else:
            back.append(edge)
    lanes = _Lanes(layout)
    back.sort(key=lambda edge: layout.places[edge.source][0] - layout.places[end_of(edge)][0])
    return found + [lanes.route(edge) for edge in back]


def _on_circle(middle: Point, angle: float, radius: float = RADIUS) -> Point:
    return middle[0] + radius * cos(angle), middle[1] + radius * sin(angle)


def _onward(layout: Layout, edge: Edge) -> Curve:
    """Return the curve to a column behind; an open one ends short of what stands for other states."""
    start, last = layout.places[edge.source], layout.places[end_of(edge)]
    if edge.target is None:
        last = last[0] + RADIUS / 2, last[1]
    stops = [start, *layout.bends[edge], last]
    leaves = FLATNESS * _angle(stops[0], stops[1])
    arrives = FLATNESS * _angle(stops[-2], stops[-1])
    stops[0] = _on_circle(start, leaves)
    stops[-1] = _on_circle(last, arrives + pi, RADIUS + TIP)
    angles = [leaves, *[0.0] * (len(stops) - 2), arrives]
    points = [stops[0]]
    for (before, angle), (after, angle_after) in pairwise(zip(stops, angles, strict=True)):
        bend = BEND * hypot(after[0] - before[0], after[1] - before[1])
        points += [_on_circle(before, angle, bend), _on_circle(after, angle_after + pi, bend), after]
    return Curve(tuple(points))


def _angle(start: Point, end: Point) -> float:
    return atan2(end[1] - start[1], end[0] - start[0])


def _loop(edge: Edge, middle: Point) -> Route:
    """Return the way round above a state."""
    leaves, arrives = -pi / 2 - 0.5, -pi / 2 + 0.5
    first, last = _on_circle(middle, leaves), _on_circle(middle, arrives, RADIUS + TIP)
    top = middle[1] - RADIUS - 1.28 * LOOP
    curve = Curve((first, (middle[0] - 24, top), (middle[0] + 24, top), last))
    return Route(edge, curve, (middle[0], middle[1] - RADIUS - LOOP - edge.height / 2))


@dataclass(frozen=True, slots=True)
class _Way:
    """A way back that may be taken: what it costs, and the stretch of its lane, as far as it is full then."""

    cost: float
    route: Route
    stretch: tuple[float, float, float]


class _Lanes:
    """The lanes that are taken, below the states (side 1) and above them (side -1).

    Heights are counted outwards. `stretches` are full from the states on: their left and right ends, and a height.
    """

    def __init__(self, layout: Layout) -> None:
        self.places = layout.places
        self.depths = layout.depths
        self.columns: dict[int, list[float]] = {}
        for node, (_, y) in self.places.items():
            self.columns.setdefault(self.depths[node], []).append(y)
        self.loops = {edge.source: LOOP + edge.height for edge in layout.edges if edge.source == edge.target}
        self.stretches = {
            side: [
                (x - RADIUS, x + RADIUS, side * y + RADIUS + LANE + (self.loops.get(node, 0.0) if side < 0 else 0.0))
                for node, (x, y) in self.places.items()
            ]
            for side in SIDES
        }
        for x, y in (bend for bends in layout.bends.values() for bend in bends):
            for side in SIDES:
                self.stretches[side].append((x, x, side * y + LANE))

    def route(self, edge: Edge) -> Route:
        """Return the way back on the side that costs less, and take its lane."""
        side, way = min(((side, self._way(edge, side)) for side in SIDES), key=lambda found: found[1].cost)
        self.stretches[side].append(way.stretch)
        return way.route

    def _way(self, edge: Edge, side: int) -> _Way:
        start, out = self._end(edge.source, side, to_right=False)
        last, into = self._end(end_of(edge), side, to_right=True)
        middle = (out[-1][0] + into[-1][0]) / 2
        left = min(self.places[end_of(edge)][0], middle - edge.width / 2) - RADIUS / 2
        right = max(self.places[edge.source][0], middle + edge.width / 2) + RADIUS / 2
        height = LANE + max(full for low, high, full in self.stretches[side] if low <= right and left <= high)
        height += edge.height if side > 0 else 0.0
        lane = side * height
        points = [start, *out, (out[-1][0], lane), (into[-1][0], lane), *into[::-1], last]
        cost = 2 * height - side * (start[1] + last[1]) + BLOCKED * (len(out) + len(into) - 2)
        route = Route(edge, rounded(points, ROUND), (middle, lane - edge.height / 2 - 2))
        return _Way(cost, route, (left, right, height + (edge.height if side < 0 else 0.0)))

    def _end(self, node: int, side: int, *, to_right: bool) -> tuple[Point, list[Point]]:
        """Return where an arrow leaves or meets a circle, and the points from there to where it has its way free."""
        x, y = self.places[node]
        out = 1 if to_right else -1
        radius = RADIUS + (TIP if to_right else 0.0)
        if not self._is_blocked(node, side):
            first = x + out * radius * sin(LEAN), y + side * radius * cos(LEAN)
            return first, [first]
        first = x + out * radius * cos(2 * LEAN), y + side * radius * sin(2 * LEAN)
        gutter = x + out * (RADIUS + GUTTER)
        return first, [(gutter, first[1] + side * 4), (gutter, first[1] + side * RADIUS)]

    def _is_blocked(self, node: int, side: int) -> bool:
        """Tell whether something stands between a state and the lanes of a side."""
        height = side * self.places[node][1]
        has_loop = side < 0 and node in self.loops
        return has_loop or any(side * other > height for other in self.columns[self.depths[node]])
