"""The tables of MaskBench: outcomes, times with and without the slowest 1 % of schemas, and which those are by name."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0)
SLOWEST_SHARE = 100
"""One schema in so many is left out of the second row of a table, one at least: the slowest."""
NAMED = 10
"""Schemas that are named as the slowest of an engine."""
MOST_FIRST_MASK, MOST_MASK = 0.15, 0.02
"""Seconds above which schemas are counted as slow: by their first mask, and by their longest mask."""
DRAWN = 600
"""Schemas of a random draw: what a smaller run would have measured."""

Record = dict[str, Any]
"""What a worker tells of a schema."""

OURS, BASELINE = "structured", "llguidance"


def cost_of_first_mask(record: Record) -> float:
    """Return the seconds from the schema to its first mask."""
    return float(record["first_mask"])


def cost_of_first_pass(record: Record) -> float:
    """Return the seconds of all masks and steps when the texts are read for the first time."""
    return float(sum(record["passes"][0]))


def cost_of_second_pass(record: Record) -> float:
    """Return the same when they are read again."""
    return float(sum(record["passes"][1]))


def longest_mask(record: Record) -> float:
    """Return the seconds of the slowest mask with its step."""
    return float(max(record["passes"][0], default=0.0))


Cost = Callable[[Record], float]
TIMES: tuple[tuple[str, str, float, Cost], ...] = (
    ("Time to first mask, ms", "first_mask", 1e3, cost_of_first_mask),
    ("Mask and advance, first pass, µs", "cold", 1e6, cost_of_first_pass),
    ("Mask and advance, second pass, µs", "warm", 1e6, cost_of_second_pass),
)
"""The title of a table, the field of `Summary` and its unit, and what a schema costs in it."""


@dataclass(slots=True)
class Summary:
    """What an engine did on some schemas."""

    first_mask: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Summary":
        """Collect the times of the schemas that were supported."""
        summary = cls()
        for record in records:
            if "first_mask" in record:
                summary.first_mask.append(record["first_mask"])
                summary.cold += record["passes"][0]
                summary.warm += record["passes"][1]
        return summary


def report(names: Sequence[str], runs: dict[str, list[Record]], *, draws: int = 0) -> str:
    """Return the tables as Markdown. The records of every engine are in the order of the names.

    With `draws`, the times are compared on so many random draws of the schemas as well.
    """
    parts = [outcomes(runs)]
    for title, attribute, unit, cost in TIMES:
        rows: dict[str, list[float]] = {}
        for engine, records in runs.items():
            supported = [record for record in records if "first_mask" in record]
            rows[engine] = getattr(Summary.of(supported), attribute)
            rows[f"{engine}, without the slowest 1 %"] = getattr(Summary.of(without(supported, cost)), attribute)
        parts.append(f"### {title}\n\n{quantiles(rows, unit)}")
    if OURS in runs:
        peers = [peer for peer in runs if peer != OURS]
        parts += [ratios(runs, peer) for peer in peers]
        parts += [ratios_of_draws(runs, peer, draws) for peer in peers if draws]
    parts += [slowest(names, engine, records) for engine, records in runs.items()]
    return "\n\n".join(parts)


def without(records: Sequence[Record], *costs: Cost) -> list[Record]:
    """Return the records without the 1 % of them that cost most, by each of some costs."""
    left_out = {place for cost in costs for place in most_costly([cost(record) for record in records])}
    return [record for place, record in enumerate(records) if place not in left_out]


def most_costly(costs: Sequence[float]) -> list[int]:
    """Return the places of the slowest 1 % of some costs, of one at least unless it is the only one."""
    count = min(-(-len(costs) // SLOWEST_SHARE), len(costs) - 1)
    return sorted(range(len(costs)), key=costs.__getitem__, reverse=True)[: max(count, 0)]


def outcomes(runs: dict[str, list[Record]]) -> str:
    """Return how many schemas each engine passes, refuses and gets wrong."""
    head = "| engine | schemas | pass | refused | accepted invalid | rejected valid | timeouts | crashes | peak, MB |"
    rows = []
    for engine, records in runs.items():
        supported = [record for record in records if "first_mask" in record]
        counts = [
            sum(not record["accepted_invalid"] and not record["rejected_valid"] for record in supported),
            sum("refused" in record for record in records),
            sum(record["accepted_invalid"] > 0 for record in supported),
            sum(record["rejected_valid"] > 0 for record in supported),
            sum("timeout" in record for record in records),
            sum("crash" in record for record in records),
            max((record.get("peak", 0) for record in records), default=0) // 1_000_000,
        ]
        rows.append(f"| {engine} | {len(records)} | {' | '.join(map(str, counts))} |")
    return "\n".join([head, "|---" * 9 + "|", *rows])


def quantiles(rows: dict[str, list[float]], unit: float) -> str:
    """Return the quantiles of some times, one engine a row."""
    names = [f"p{100 * q:g}" if q < 1 else "max" for q in QUANTILES]
    lines = [f"| engine | {' | '.join(names)} | average |", "|---" * (len(names) + 2) + "|"]
    for engine, times in rows.items():
        if times:
            shown = [f"{quantile(times, q) * unit:.3g}" for q in QUANTILES] + [f"{sum(times) / len(times) * unit:.3g}"]
            lines.append(f"| {engine} | {' | '.join(shown)} |")
    return "\n".join(lines)


def quantile(times: Sequence[float], q: float) -> float:
    """Return the least time that is not exceeded by a share `q` of all."""
    ordered = sorted(times)
    return ordered[min(int(q * len(ordered)), len(ordered) - 1)]


def ratios(runs: dict[str, list[Record]], peer: str) -> str:
    """Return our times as multiples of a peer's, on the schemas that both support.

    The second row of each time leaves out what is among the slowest 1 % of either.
    """
    both = supported_by_both(runs, peer)
    lines = [f"### {OURS} / {peer}, on the {len(both)} schemas that both support", "", "| | p50 | p99 | average |"]
    lines.append("|---|---|---|---|")
    for title, (_, attribute, _, cost) in zip(("first mask", "first pass", "second pass"), TIMES, strict=True):
        usual = without(both, *(partial(_cost_of, engine, cost) for engine in (OURS, peer)))
        for name, pairs in ((title, both), (f"{title}, without the slowest 1 %", usual)):
            mine, other = (getattr(Summary.of(pair[engine] for pair in pairs), attribute) for engine in (OURS, peer))
            if mine and other:
                lines.append(f"| {name} | {' | '.join(f'{share:.3g} ×' for share in shares(mine, other))} |")
    return "\n".join(lines)


def supported_by_both(runs: dict[str, list[Record]], peer: str) -> list[dict[str, Record]]:
    """Return our record and a peer's of each schema that both support."""
    return [
        {OURS: ours, peer: theirs}
        for ours, theirs in zip(runs[OURS], runs[peer], strict=True)
        if "first_mask" in ours and "first_mask" in theirs
    ]


def ratios_of_draws(runs: dict[str, list[Record]], peer: str, draws: int) -> str:
    """Return our times as multiples of a peer's on random draws of the schemas, whose seeds are 1, 2 and so on."""
    lines = [f"### {OURS} / {peer}, on draws of {DRAWN}", ""]
    lines.append("| seed | both support | first mask, p50 | p99 | average | first pass, p50 | p99 | average |")
    lines.append("|---" * 8 + "|")
    for seed in range(1, draws + 1):
        count = len(runs[OURS])
        drawn = random.Random(seed).sample(range(count), min(DRAWN, count))
        both = supported_by_both({engine: [runs[engine][place] for place in drawn] for engine in (OURS, peer)}, peer)
        row = [f"{seed}", f"{len(both)}"]
        for _, attribute, _, _ in TIMES[:2]:
            times = [getattr(Summary.of(pair[engine] for pair in both), attribute) for engine in (OURS, peer)]
            row += [f"{share:.3g} ×" for share in shares(*times)] if all(times) else ["", "", ""]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _cost_of(engine: str, cost: Cost, pair: Record) -> float:
    return cost(pair[engine])


def shares(mine: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return some times as multiples of others: at p50, at p99 and on average."""
    quotients = [quantile(mine, q) / quantile(other, q) for q in (0.5, 0.99)]
    return [*quotients, (sum(mine) / len(mine)) / (sum(other) / len(other))]


def slowest(names: Sequence[str], engine: str, records: Sequence[Record]) -> str:
    """Return the schemas with the slowest first masks of an engine, and those with the slowest masks after it."""
    supported = [(name, record) for name, record in zip(names, records, strict=True) if "first_mask" in record]
    failed = [name for name, record in zip(names, records, strict=True) if record.keys() & {"timeout", "crash"}]
    parts = [f"### {engine}: the slowest schemas"]
    if failed:
        parts.append(f"Without an answer: {', '.join(failed)}.")
    late = sum(cost_of_first_mask(record) > MOST_FIRST_MASK for _, record in supported)
    long = sum(longest_mask(record) > MOST_MASK for _, record in supported)
    parts.append(
        f"Of {len(supported):,} schemas, {late} have a first mask of more than {MOST_FIRST_MASK * 1e3:.0f} ms, "
        f"and {long} a mask of more than {MOST_MASK * 1e3:.0f} ms."
    )
    for title, cost in (("by first mask", cost_of_first_mask), ("by their longest mask", longest_mask)):
        ranked = sorted(supported, key=lambda pair: cost(pair[1]), reverse=True)[:NAMED]
        lines = [f"| {title} | first mask, ms | longest mask, ms | all masks, ms |", "|---|---|---|---|"]
        for name, record in ranked:
            times = [1e3 * each(record) for each in (cost_of_first_mask, longest_mask, cost_of_first_pass)]
            lines.append(f"| {name.removesuffix('.json')} | {' | '.join(f'{time:.3g}' for time in times)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
