"""Writing: where results go, each as soon as it is there, and what is completed at the end, come what may."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import typer
from pydantic_core import to_json
from rich.console import RenderableType
from rich.json import JSON
from rich.table import Table
from rich.text import Text

from structured.cli.console import show
from structured.cli.records import Record, RecordFile, read_records, record_of, to_line
from structured.cli.tables import write_csv
from structured.extraction.documents.document import DocumentLike
from structured.extraction.outcomes import BatchResult
from structured.output_types.evidence import MATCH_WORDS
from structured.output_types.extraction import Extraction


class Format(StrEnum):
    """What results are written as."""

    JSONL = "jsonl"
    CSV = "csv"


class Destination(NamedTuple):
    """What takes results, and the documents of which it has none yet."""

    remaining: Callable[[Iterable[DocumentLike]], Iterable[DocumentLike]]
    take: Callable[[BatchResult[Any]], None]


def format_of(output: Path | None, asked: Format | None) -> Format:
    """Return what results are written as: what was asked for, or what the name of the file says.

    Raises `typer.BadParameter` for another name, and for one of JSON lines for a table.
    """
    ending = "jsonl" if output is None else output.suffix.lower().removeprefix(".")
    if asked is None and ending not in {*Format}:
        raise typer.BadParameter(f"The name {output} does not end in .jsonl or .csv. Name another, or pass --format.")
    if asked == Format.CSV and output is not None and ending == Format.JSONL:
        raise typer.BadParameter(f"The records of a table are written to {output}. Call the table otherwise: out.csv.")
    return asked or Format(ending)


@contextmanager
def destination(output: Path | None, form: Format, *, fresh: bool, is_shown: bool) -> Iterator[Destination]:
    """Yield where results go: to a file, as lines or a table to standard output, or in sight of a person.

    A table is written at the end, also at an end that comes too early. The records of one in a file are beside it.
    """
    if output is not None:
        path = output.with_suffix(".jsonl") if form == Format.CSV else output
        with RecordFile(path, fresh=fresh) as file:
            try:
                yield Destination(file.remaining, lambda result: file.append(record_of(result)))
            finally:
                if form == Format.CSV:
                    with output.open("w", encoding="utf-8", newline="") as table:
                        write_csv(lambda: read_records(path), table)
    elif form == Format.CSV:
        records: list[Record] = []
        try:
            yield Destination(lambda documents: documents, lambda result: records.append(record_of(result)))
        finally:
            write_csv(lambda: records, sys.stdout)
    else:
        yield Destination(lambda documents: documents, _show if is_shown else _print)


def _print(result: BatchResult[Any]) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    typer.echo(to_line(record_of(result), ascii_only=not encoding.lower().startswith("utf")))


def _show(result: BatchResult[Any]) -> None:
    """Show a value to a person; an error is told elsewhere."""
    if isinstance(result.value, Extraction):
        show(_shown_extraction(result.value))
    elif result.error is None:
        show(JSON(to_json(result.value, by_alias=True).decode()))


def _shown_extraction(extraction: Extraction[Any]) -> RenderableType:
    """Return the values of an extraction with the evidence for each, as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for heading in ("field", "value", "confidence", "support"):
        table.add_column(heading, overflow="fold")
    for row in extraction.rows():
        confidence = "" if row["confidence"] is None else f"{row['confidence']:.0%}"
        support = MATCH_WORDS[row["match"]] + ("" if row["quote"] is None else f": “{row['quote']}”")
        table.add_row(Text(row["path"]), Text(_plain(row["value"])), confidence, Text(support))
    for path in extraction.missing:
        table.add_row(Text(path), Text("missing", style="dim"), "", "")
    return table


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value).decode()
