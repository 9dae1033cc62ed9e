"""A diagram as SVG, written by hand: circles, arrows and labels in the colour of the text around them.

Inside a page that is its `currentColor`. Alone, as a file or an image, the picture is dark on light pages and light on
dark ones.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain

from structured.automata.diagram.curves import Curve, Point
from structured.automata.diagram.label_places import label_box, place_labels
from structured.automata.diagram.layout import LINE, MORE, RADIUS, Layout, lay_out
from structured.automata.diagram.routes import Route, routes
from structured.automata.diagram.states import State
from structured.errors.values import printable

MARGIN = 14.0

ENTRY = 34.0
"""The length of the arrow that leads to the start."""

_STYLE = (
    "svg:root{color:#1f2328;color-scheme:light dark}@media(prefers-color-scheme:dark){svg:root{color:#e6edf3}}"
    ".automaton text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "fill:currentColor;text-anchor:middle;white-space:pre}"
    ".automaton .state text{font-size:14px}"
    ".automaton path,.automaton circle{fill:none;stroke:currentColor;stroke-width:1.4}"
    ".automaton .arrow path{opacity:.62}"
    ".automaton .arrow .tip{fill:currentColor;stroke:none;opacity:.8}"
    ".automaton .open path{stroke-dasharray:4 4}.automaton .more{opacity:.7}"
)


def svg(states: Sequence[State], name: str) -> str:
    """Return the picture of a diagram, as a text of SVG 1.1 that also stands inside HTML."""
    layout = lay_out(states)
    found = routes(layout)
    labels = place_labels(found, list(layout.places.values()))
    boxes = [label_box(route.edge, place) for route, place in zip(found, labels, strict=True)]
    points = [*chain.from_iterable(route.curve.samples() for route in found)]
    points += [(box.left, box.top) for box in boxes] + [(box.right, box.bottom) for box in boxes]
    for x, y in layout.places.values():
        points += [(x - RADIUS, y - RADIUS), (x + RADIUS, y + RADIUS)]
    start = layout.places[0]
    points.append((start[0] - RADIUS - ENTRY, start[1]))
    left, top = (min(point[axis] for point in points) - MARGIN for axis in (0, 1))
    width, height = (max(point[axis] for point in points) + MARGIN - low for axis, low in ((0, left), (1, top)))
    return "\n".join((
        (f'<svg xmlns="http://www.w3.org/2000/svg" class="automaton" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">'),
        f"<title>{escape(printable(name))}</title>",
        f"<style>{_STYLE}</style>",
        *_arrows(found, labels),
        _entry(start),
        *_circles(states, layout),
        "</svg>",
        "",
    ))  # fmt: skip


def _arrows(found: Sequence[Route], labels: Sequence[Point]) -> Iterator[str]:
    for route, (x, y) in zip(found, labels, strict=True):
        edge = route.edge
        kind = "arrow open" if edge.target is None else "arrow"
        first = y - edge.height / 2 + 0.74 * LINE
        lines = "".join(
            f'<text x="{x:.1f}" y="{first + number * LINE:.1f}">{escape(label)}</text>'
            for number, label in enumerate(edge.labels)
        )
        yield f'<g class="{kind}">{_path(route.curve)}{lines}</g>'


def _path(curve: Curve) -> str:
    """Return a curve with its tip."""
    start, *others = [f"{x:.1f} {y:.1f}" for x, y in curve.points]
    (x, y), (dx, dy) = curve.points[-1], curve.direction
    wings = [(x - 9 * dx - side * 3.6 * dy, y - 9 * dy + side * 3.6 * dx) for side in (-1, 1)]
    tip = " ".join(f"L{wx:.1f} {wy:.1f}" for wx, wy in wings)
    return f'<path d="M{start}C{" ".join(others)}"/><path class="tip" d="M{x:.1f} {y:.1f}{tip}Z"/>'


def _entry(start: Point) -> str:
    """Return the arrow that leads to the start."""
    x, y = start[0] - RADIUS - 1.5, start[1]
    return f'<g class="arrow">{_path(Curve(((x - ENTRY, y), (x - ENTRY, y), (x, y), (x, y))))}</g>'


def _circles(states: Sequence[State], layout: Layout) -> Iterator[str]:
    for state in states:
        x, y = layout.places[state.number]
        inner = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS - 4:.1f}"/>' if state.is_accepting else ""
        completion = "the text may end" if state.is_accepting else f"shortest completion {printable(state.completion)}"
        yield (
            f'<g class="state"><title>{state.number}: {escape(completion)}</title>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:.1f}"/>{inner}'
            f'<text x="{x:.1f}" y="{y + 4.8:.1f}">{state.number}</text></g>'
        )
    for node, (x, y) in layout.places.items():
        if node < 0:
            yield f'<text class="more" x="{x:.1f}" y="{y + 4:.1f}">{MORE}</text>'
