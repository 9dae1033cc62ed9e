"""Writing: results as lines of JSON, as a table that is made of them, or shown to a person."""

import json
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
from structured.extraction.output.writing import Output, Written
from structured.jobs.table import RowsOf, write_table
from structured.results.evidence import MATCH_WORDS
from structured.results.result import Result


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


def write(run: Callable[[Output], Written], output: Path | None, form: Format, rows: RowsOf | None) -> Written:
    """Write what a run gives, as soon as it is there: to a file of JSON lines, or to standard output.

    CSV and Parquet are tables that are made in the end; the lines of a table in a file are beside it.
    """
    if form == Format.JSONL:
        return run(sys.stdout.buffer if output is None else output)
    rows = rows or "documents"
    if output is not None:
        lines = output.with_suffix(".jsonl")
        written = run(lines)
        write_table(lines, output, rows=rows)
        return written
    with TemporaryDirectory() as folder:
        lines = Path(folder, "results.jsonl")
        written = run(lines)
        table = write_table(lines, Path(folder, "table.csv"), rows=rows)
        sys.stdout.buffer.write(table.read_bytes())
    return written


def files_of(output: Path | None) -> Iterable[Path]:
    """Return the files that results are written to, which are no documents."""
    return [] if output is None else [output, output.with_suffix(".jsonl")]


def show_result(result: Result[Any], *, evidence: bool) -> None:
    """Show the result of a document to a person: its value, or each value with its evidence."""
    show(_evidence_table(result) if evidence else JSON(json.dumps(result.to_dict()["value"])))


def _evidence_table(result: Result[Any]) -> RenderableType:
    """Return the values of a result with the evidence for each, as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for heading in ("field", "value", "confidence", "support"):
        table.add_column(heading, overflow="fold")
    for row in result.rows():
        confidence = "" if row["confidence"] is None else f"{row['confidence']:.0%}"
        support = MATCH_WORDS[row["match"]] + ("" if row["quote"] is None else f": “{row['quote']}”")
        table.add_row(Text(row["path"]), Text(_plain(row["value"])), confidence, Text(support))
    for path in result.missing:
        table.add_row(Text(path), Text("missing", style="dim"), "", "")
    return table


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value).decode()
