"""Time and places of aligning values with documents, beside LangExtract: `python -m benchmarks.alignment`.

A document is a list of orders; each name and number is its own, towns and goods return, one town in ten is written in
capitals, and the answer has one item in ten with a wrong letter. Each value has one right place. The answer has the
orders as they stand in the document, or in another order. Printed are seconds (the best of several runs) and the share
of values that are found in the right place, by `align` and, if it is installed, by the aligner of LangExtract.
"""

import argparse
import random
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import NamedTuple

from structured.output_types.paths import leaves
from structured.output_types.stated_dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import Span, stated_numbers
from structured.results.alignment import Value, align

TOWNS = ("Bergen", "Berlin", "Porto", "Leeds", "Bern")
GOODS = ("oak shelf", "desk lamp", "rye bread", "piano stool", "garden chair")
NAMES = ("Ann", "Bob", "Cyd", "Dora", "Emil", "Fay", "Gus", "Hanna", "Ivo", "Jane")
FILLER = "We thank you for your order and hope to see you again; please keep this letter with your papers. "

SIZES = ((10_000, 25, True), (200_000, 125, False))
"""Characters, orders, and whether LangExtract is measured, too; it takes minutes for long documents."""


class Sample(NamedTuple):
    """A document, the values of an answer about it, and where each of them stands."""

    document: str
    values: list[Value]
    spans: list[Span]


def sample(characters: int, records: int, *, in_order: bool) -> Sample:
    """Return a document of about so many characters about so many orders, in the order of the answer or in another."""
    draw = random.Random(1)
    document, written_orders = "", []
    for number in range(records):
        order = {
            "customer": f"{draw.choice(NAMES)} No{number}son",
            "town": draw.choice(TOWNS),
            "item": draw.choice(GOODS),
            "number": f"R-{10_000 + number}",
        }
        spans: list[Span] = []
        for name, value in order.items():
            written = value.upper() if name == "town" and draw.random() < 0.1 else value
            document += f"{name.capitalize()}: "
            spans.append((len(document), len(document) + len(written)))
            document += f"{written}. "
        if draw.random() < 0.1:
            order["item"] = order["item"].replace("r", "v")
        written_orders.append((order, spans))
        document += FILLER * max(0, ((number + 1) * characters // records - len(document)) // len(FILLER)) + "\n"
    if not in_order:
        draw.shuffle(written_orders)
    values = [Value(*leaf) for leaf in leaves([order for order, _ in written_orders])]
    return Sample(document, values, [span for _, spans in written_orders for span in spans])


def found_by_align(one: Sample) -> list[Span | None]:
    """Return where `align` finds the values."""
    return [evidence.span for evidence in align(one.document, one.values)]


def found_by_langextract(one: Sample) -> list[Span | None]:
    """Return where the aligner of LangExtract finds the values."""
    values = [
        import_module("langextract.core.data").Extraction(str(leaf.steps[-1]), str(leaf.value)) for leaf in one.values
    ]
    aligner = import_module("langextract.resolver").WordAligner()
    [aligned] = aligner.align_extractions([values], one.document, token_offset=0, char_offset=0)
    intervals = [extraction.char_interval for extraction in aligned]
    return [(interval.start_pos, interval.end_pos) if interval else None for interval in intervals]


def measured(aligner: Callable[[Sample], list[Span | None]], one: Sample, runs: int) -> tuple[float, float]:
    """Return the seconds of the best run, and the share of values that are found where they stand."""
    seconds = []
    found: list[Span | None] = []
    for _ in range(runs):
        for read in (stated_numbers, stated_dates, stated_times, stated_datetimes):
            read.cache_clear()
        start = time.perf_counter()
        found = aligner(one)
        seconds.append(time.perf_counter() - start)
    return min(seconds), sum(span == right for span, right in zip(found, one.spans, strict=True)) / len(one.spans)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="runs, of which the best counts")
    runs = parser.parse_args().runs
    print("| document | values | orders | aligner | seconds | right places |\n|---|---|---|---|---|---|")
    for (characters, records, has_peer), in_order in product(SIZES, (True, False)):
        one = sample(characters, records, in_order=in_order)
        aligners: dict[str, Callable[[Sample], list[Span | None]]] = {"structured": found_by_align}
        if has_peer and is_installed():
            aligners["LangExtract"] = found_by_langextract
        for name, aligner in aligners.items():
            seconds, right = measured(aligner, one, runs)
            size = f"{len(one.document):,} characters | {len(one.values)} | {'in order' if in_order else 'in another'}"
            print(f"| {size} | {name} | {seconds:.4f} | {right:.1%} |")
    if not is_installed():
        print("\nLangExtract is not installed: `pip install langextract` measures it, too.")


def is_installed() -> bool:
    """Tell whether LangExtract can be imported."""
    return find_spec("langextract") is not None


if __name__ == "__main__":
    main()
