"""Curves: the ways of arrows over the page, as cubic Bézier curves."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, sin

Point = tuple[float, float]
"""Pixels to the right, and downwards."""

SAMPLES = 24
"""Points of one piece of a curve at which it is looked for others."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Pieces of a curve that follow each other: a point, and for each piece two control points and its end."""

    points: tuple[Point, ...]

    @property
    def direction(self) -> Point:
        """The unit vector in which it ends."""
        end = self.points[-1]
        before = next((one for one in self.points[::-1] if hypot(end[0] - one[0], end[1] - one[1]) > 0.01), end)
        angle = atan2(end[1] - before[1], end[0] - before[0])
        return cos(angle), sin(angle)

    def at(self, place: float) -> tuple[Point, Point]:
        """Return a point of the curve, from 0 to 1, and the unit vector of its direction there."""
        pieces = len(self.points) // 3
        piece = min(int(place * pieces), pieces - 1)
        part = place * pieces - piece
        first, second, third, last = self.points[3 * piece : 3 * piece + 4]
        rest = 1 - part
        x, y = (
            rest**3 * first[i]
            + 3 * rest * rest * part * second[i]
            + 3 * rest * part * part * third[i]
            + part**3 * last[i]
            for i in (0, 1)
        )
        along = [
            rest * rest * (second[i] - first[i])
            + 2 * rest * part * (third[i] - second[i])
            + part * part * (last[i] - third[i])
            for i in (0, 1)
        ]
        length = hypot(*along) or 1.0
        return (x, y), (along[0] / length, along[1] / length)

    def samples(self) -> Iterator[Point]:
        """Yield points of all pieces."""
        count = SAMPLES * (len(self.points) // 3)
        for number in range(count + 1):
            yield self.at(number / count)[0]


def line(*points: Point) -> tuple[Point, ...]:
    """Return the pieces of straight lines from point to point."""
    found = [points[0]]
    for before, after in itertools.pairwise(points):
        found += [before, after, after]
    return tuple(found)


def rounded(points: Sequence[Point], radius: float) -> Curve:
    """Return a way along straight lines with its corners rounded."""
    found = [points[0]]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        into = _towards(corner, before, radius)
        out = _towards(corner, after, radius)
        found += line(found[-1], into)[1:]
        found += [_towards(into, corner, 0.6, is_part=True), _towards(out, corner, 0.6, is_part=True), out]
    found += line(found[-1], points[-1])[1:]
    return Curve(tuple(found))


def _towards(start: Point, end: Point, length: float, *, is_part: bool = False) -> Point:
    """Return the point so far from one point on the way to another: half of it at most, or that part of the way."""
    whole = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    part = length if is_part else min(length / whole, 0.5)
    return start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])
