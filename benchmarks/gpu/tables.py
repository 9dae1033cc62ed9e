"""Tables of the results, as Markdown for `docs/performance.md`."""

from collections.abc import Iterable

from benchmarks.gpu.results import FAILED, SKIPPED, Result, Row

TITLES = {
    "tests": "Tests marked `gpu`",
    "texts": "Greedy texts",
    "masks": "Masks and sampling on the device, Llama 3's vocabulary",
    "passes": "Forward passes",
    "throughput": "Throughput",
    "peers": "Against unguided generation and other engines",
}

NOTES = {
    "texts": "Texts of random weights in bfloat16 may differ where two tokens are as good as equal.",
    "masks": "Milliseconds for a whole batch, the device waited for; *equal* to the tokens that the host samples.",
    "passes": "Of one pass, over texts of some 150 tokens.",
    "throughput": "*Outside the pass* and *guiding* are from a second run, in which the device is waited for after "
    "each pass.",
    "peers": "The same prompts, types and greedy draws; unguided generation writes as many tokens as this library.",
}


def report(results: Iterable[Result]) -> str:
    """Return the tables of some results, those of each machine under a heading that names it."""
    by_machine: dict[str, list[Result]] = {}
    for result in results:
        by_machine.setdefault(result.machine, []).append(result)
    sections = []
    for machine, found in by_machine.items():
        sections.append(f"### {machine}")
        if any(result.small for result in found):
            sections.append("CPU, small shapes: only shows that the command works.")
        sections += [section(result) for result in found]
    return "\n\n".join(sections)


def section(result: Result) -> str:
    """Return the table of one part, and under it what was skipped or has failed."""
    rows = [row for row in result.rows if FAILED not in row and SKIPPED not in row]
    parts = [f"#### {TITLES[result.part]}"]
    if result.part in NOTES:
        parts.append(NOTES[result.part])
    if rows:
        parts.append(table(rows))
    reasons = [f"- {key.capitalize()}: {row[key]}" for row in result.rows for key in (SKIPPED, FAILED) if key in row]
    if reasons:
        parts.append("\n".join(reasons))
    return "\n\n".join(parts)


def table(rows: list[Row]) -> str:
    """Return rows as a table of all their columns, in the order in which these first occur."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(cell(row.get(column)) for column in columns)} |" for row in rows]
    return "\n".join(lines)


def cell(value: object) -> str:
    """Return what stands in a cell; numbers that are not whole, with three digits.

    `0.01234` → `0.0123`, `12345.6` → `12346`, `None` → ``
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value).replace("|", "\\|")
