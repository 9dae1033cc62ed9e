"""The layout of a diagram: where the states stand.

States are in columns, by the longest way to them from the start that goes round no circle, so that all arrows go to a
column behind but those that close a circle (Sugiyama, Tagawa and Toda, "Methods for visual understanding of
hierarchical system structures", 1981). An arrow that passes columns has a bend in each. In a column, states and bends
stand in the order of the mean places of their neighbours, which keeps arrows from crossing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise
from statistics import fmean, median

from structured.automata.diagram.labels import shortened
from structured.automata.diagram.states import State

RADIUS = 21.0
"""Of a circle, in pixels, as are all lengths here."""

CHARACTER, LINE = 7.85, 16.0
"""The width of a character of a label, and the height of one of its lines."""

MIN_GAP, MIN_ROW = 62.0, 74.0
"""Between the circles of two columns, and between the middles of two of a column."""

BEND_ROW = 24.0
"""Between two arrows that pass a column."""

LOOP = 30.0
"""How far a loop goes above its circle."""

MAX_LABEL = 30
"""Characters of a label."""

MAX_LINES = 4
"""Labels of one edge; of more, the first ones are shown."""

SWEEPS = 24
"""Times that columns are put in order, and moved."""

MORE = "…"


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow of a drawing, or several between the same states: their labels, one a line.

    `target` is None where it leads to a state that is not shown.
    """

    source: int
    target: int | None
    labels: tuple[str, ...]

    @property
    def width(self) -> float:
        """That of the labels."""
        return CHARACTER * max(map(len, self.labels))

    @property
    def height(self) -> float:
        """That of the labels."""
        return LINE * len(self.labels)


@dataclass(frozen=True, slots=True)
class Layout:
    """The middle of each state, and the column in which it is; the edges, and where those bend that pass columns.

    A state that leads to some that are not shown has a place for those beside the others, under the number `~state`.
    """

    edges: tuple[Edge, ...]
    depths: Mapping[int, int]
    places: Mapping[int, tuple[float, float]]
    bends: Mapping[Edge, tuple[tuple[float, float], ...]]


def lay_out(states: Sequence[State]) -> Layout:
    """Return the layout of a diagram."""
    edges = tuple(edge for state in states for edge in _edges(state))
    depths = _depths(edges)
    chains, all_depths = _chains(edges, depths, len(states))
    columns: list[list[int]] = [[] for _ in range(max(depths.values()) + 1)]
    for node in _as_met(chains, all_depths):
        columns[all_depths[node]].append(node)
    neighbours: dict[int, list[int]] = {node: [] for node in all_depths}
    for before, after in (pair for chain in chains.values() for pair in pairwise(chain)):
        neighbours[before].append(after)
        neighbours[after].append(before)
    _put_in_order(columns, neighbours)
    heights = _heights(columns, neighbours, _rows(edges, depths, all_depths))
    lefts = _lefts(columns, depths, edges)
    places = {node: (lefts[depth], heights[node]) for node, depth in all_depths.items()}
    bends = {edge: tuple(places[node] for node in chain[1:-1]) for edge, chain in chains.items()}
    return Layout(edges, depths, {node: places[node] for node in depths}, bends)


def end_of(edge: Edge) -> int:
    """Return the node that an edge leads to."""
    return ~edge.source if edge.target is None else edge.target


def _edges(state: State) -> list[Edge]:
    labels: dict[int | None, list[str]] = {}
    for arrow in state.arrows:
        labels.setdefault(arrow.target, []).append(shortened(arrow.label, MAX_LABEL))
    return [
        Edge(state.number, target, (*inner[:MAX_LINES], MORE) if len(inner) > MAX_LINES + 1 else tuple(inner))
        for target, inner in labels.items()
    ]


def _depths(edges: Sequence[Edge]) -> dict[int, int]:
    """Return the column of each node: the longest way to it along the edges that do not go back.

    Those that do lead to a state that comes before, and from which there is a way again.
    """
    reached = _reached(edges)
    before: dict[int, list[int]] = {node: [] for node in reached}
    for edge in edges:
        end = end_of(edge)
        if end not in range(edge.source + 1) or not reached[end] >> edge.source & 1:
            before[end].append(edge.source)
    depths: dict[int, int] = {}
    for node in TopologicalSorter(before).static_order():
        depths[node] = max([depths[one] + 1 for one in before[node]], default=0)
    return depths


def _reached(edges: Sequence[Edge]) -> dict[int, int]:
    """Return for each node the states that are reached from it, one bit for each."""
    found = {node: 1 << node if node >= 0 else 0 for edge in edges for node in (edge.source, end_of(edge))} or {0: 1}
    is_new = True
    while is_new:
        is_new = False
        for edge in reversed(edges):
            more = found[edge.source] | found[end_of(edge)]
            is_new = is_new or more != found[edge.source]
            found[edge.source] = more
    return found


def _chains(
    edges: Sequence[Edge], depths: Mapping[int, int], count: int
) -> tuple[dict[Edge, list[int]], dict[int, int]]:
    """Return the nodes along each edge that goes on, with a new one for each column passed, and the column of all."""
    all_depths = dict(depths)
    chains: dict[Edge, list[int]] = {}
    for edge in edges:
        first, last = depths[edge.source], depths[end_of(edge)]
        if first < last:
            bends = range(count, count + last - first - 1)
            count += len(bends)
            all_depths |= zip(bends, range(first + 1, last), strict=True)
            chains[edge] = [edge.source, *bends, end_of(edge)]
    return chains, all_depths


def _as_met(chains: Mapping[Edge, Sequence[int]], depths: Mapping[int, int]) -> Iterable[int]:
    """Return the nodes in the order of the edges that lead to them."""
    return dict.fromkeys([0, *(node for chain in chains.values() for node in chain), *depths])


def _put_in_order(columns: list[list[int]], neighbours: Mapping[int, Sequence[int]]) -> None:
    """Order each column by the mean places of the neighbours in the column before, or behind, in turns."""
    for sweep in range(SWEEPS):
        for before, column in pairwise(columns if sweep % 2 == 0 else columns[::-1]):
            places = {node: place / max(len(before) - 1, 1) for place, node in enumerate(before)}
            own = {node: place / max(len(column) - 1, 1) for place, node in enumerate(column)}
            means = {
                node: fmean([places[one] for one in neighbours[node] if one in places] or [own[node]]) for node in own
            }
            column.sort(key=means.__getitem__)


def _rows(edges: Sequence[Edge], depths: Mapping[int, int], all_depths: Mapping[int, int]) -> dict[int, float]:
    """Return how much room each node needs above its middle, half of it also below."""
    rows = {node: MIN_ROW / 2 if node in depths else BEND_ROW / 2 for node in all_depths}
    for edge in edges:
        rows[end_of(edge)] = max(rows[end_of(edge)], (MIN_ROW - LINE + edge.height) / 2)
        if edge.source == edge.target:
            rows[edge.source] += LOOP + edge.height
    return rows


def _heights(
    columns: Sequence[Sequence[int]], neighbours: Mapping[int, Sequence[int]], rows: Mapping[int, float]
) -> dict[int, float]:
    """Return the height at which each node stands: near the median of its neighbours, and away from the next one."""
    heights: dict[int, float] = {}
    for column in columns:
        heights |= _apart(column, dict.fromkeys(column, 0.0), rows)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            wanted = {node: median([heights[one] for one in neighbours[node]] or [heights[node]]) for node in column}
            heights |= _apart(column, wanted, rows)
    return heights


def _apart(column: Sequence[int], wanted: Mapping[int, float], rows: Mapping[int, float]) -> dict[int, float]:
    """Return the heights of the nodes of a column that are nearest to the wanted ones, and far enough apart.

    Nodes that want to stand too near to each other become a block, which stands at their mean.
    """
    offsets = {column[0]: 0.0}
    for above, node in pairwise(column):
        offsets[node] = offsets[above] + min(rows[above], MIN_ROW / 2) + rows[node]
    blocks: list[list[float]] = []
    for node in column:
        blocks.append([wanted[node] - offsets[node]])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    shifts = [fmean(block) for block in blocks for _ in block]
    return {node: offsets[node] + shift for node, shift in zip(column, shifts, strict=True)}


def _lefts(columns: Sequence[Sequence[int]], depths: Mapping[int, int], edges: Sequence[Edge]) -> list[float]:
    """Return where each column stands: the labels of arrows to the next one have room before it."""
    gaps = [MIN_GAP] * len(columns)
    for edge in edges:
        depth = depths[edge.source]
        if depths[end_of(edge)] > depth:
            gaps[depth] = max(gaps[depth], edge.width + 38)
    return list(accumulate([2 * RADIUS + gap for gap in gaps[:-1]], initial=0.0))
