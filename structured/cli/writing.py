"""Writing: what becomes of results: lines of JSON, parts of Parquet, the table that is made of them, or a view."""

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from pydantic_core import to_json
from rich.console import RenderableType
from rich.json import JSON
from rich.table import Table
from rich.text import Text

from structured.cli.console import show
from structured.extraction.output.batch import BatchSummary, Output
from structured.jobs.table import RowsOf, write_table
from structured.output_types.evidence import MATCH_WORDS
from structured.output_types.extraction import Extraction


class Format(StrEnum):
    """What results are written as."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


def format_of(output: Path | None, asked: Format | None) -> Format:
    """Return what results are written as: what was asked for, or what the name of the file says.

    Raises `typer.BadParameter` for another name, and for a format that does not fit it.
    """
    ending = "jsonl" if output is None else output.suffix.lower().removeprefix(".")
    if asked is None and ending not in {*Format}:
        named = ", ".join(f".{one}" for one in Format)
        raise typer.BadParameter(f"The name {output} ends in none of {named}. Name another, or pass --format.")
    if asked in {Format.CSV, Format.PARQUET} and (output is None or ending != asked):
        if asked == Format.CSV and output is None:
            return asked
        raise typer.BadParameter(f"A table has a file that is called by its format: --output out.{asked}.")
    return asked or Format(ending)


def write(
    run: Callable[[Output], BatchSummary], output: Path | None, form: Format, rows: RowsOf | None
) -> BatchSummary:
    """Write what a run gives, as soon as it is there: to a file, to parts of Parquet, or to standard output.

    CSV is a table that is made in the end, and so is Parquet of which the rows are named. The lines of a table in a
    file are beside it.
    """
    if form == Format.JSONL or (form == Format.PARQUET and rows is None):
        return run(sys.stdout.buffer if output is None else output)
    rows = rows or "documents"
    if output is not None:
        summary = run(output.with_suffix(".jsonl"))
        write_table(summary.path, output, rows=rows)
        return summary
    with TemporaryDirectory() as folder:
        summary = run(Path(folder, "results.jsonl"))
        table = write_table(summary.path, Path(folder, "table.csv"), rows=rows)
        sys.stdout.buffer.write(table.read_bytes())
    return summary


def files_of(output: Path | None) -> Iterable[Path]:
    """Return the files and folders that results are written to, which are no documents."""
    return [] if output is None else [output, output.with_suffix(".jsonl")]


def show_value(value: Any) -> None:
    """Show what a document gave to a person."""
    show(_shown_extraction(value) if isinstance(value, Extraction) else JSON(to_json(value, by_alias=True).decode()))


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
