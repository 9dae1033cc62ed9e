"""The table of a campaign, in Markdown; its seconds are those of the processor."""

from collections import Counter
from collections.abc import Mapping

from benchmarks.fuzz.campaign import Sum

COLUMNS = (
    *("family", "cases", "answers", "answers/s", "texts read", "invalid", "dead ends", "raw errors", "hangs"),
    *("over 1 GB", "unexplained refusals", "most memory, MB", "slowest case, s"),
)


def table(sums: Mapping[str, Sum]) -> str:
    """Return the table, and beneath it what was refused and by which restrictions texts are not written."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(_cells(family, found))} |" for family, found in sums.items()]
    for title, counts in (
        ("Refused", {family: found.refusals for family, found in sums.items()}),
        (
            "Valid texts that are not written, by the restriction",
            {family: found.explained for family, found in sums.items()},
        ),
    ):
        told = [f"- {family}: {_counted(counter)}" for family, counter in counts.items() if counter]
        lines += ["", f"{title}:", "", *told] if told else []
    return "\n".join(lines)


def _cells(family: str, found: Sum) -> tuple[str, ...]:
    seconds, case = found.slowest
    numbers = [found.cases, found.answers, round(found.answers / found.seconds) if found.seconds else 0, found.texts]
    numbers += [found.kinds[kind] for kind in ("invalid", "dead end", "raw error", "hang", "memory")]
    numbers += [found.kinds["unexplained refusal"], found.memory >> 20]
    return (family, *(f"{number:,}" for number in numbers), f"{seconds:.1f} ({case})")


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counter.most_common())
