"""`structured report`: the review page, from records of results."""

import json
from pathlib import Path
from typing import Annotated

import typer

from structured.cli.exits import say
from structured.cli.extraction import FIELDS_HELP, read_type
from structured.cli.records import read_records, to_extraction
from structured.errors.values import counted
from structured.jobs.report.report import report


def write_report(  # noqa: PLR0913  the options of the command
    results: Annotated[
        list[Path],
        typer.Argument(exists=True, dir_okay=False, help="Files that `structured extract --evidence` has written."),
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("review.html"),
    title: Annotated[str, typer.Option(help="The heading of the page.")] = "Review",
    below: Annotated[
        float | None, typer.Option(min=0, max=1, help="Only documents with a value less sure than this.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="The type: it tells what can be corrected to what.")
    ] = None,
    fields: Annotated[str | None, typer.Option("--fields", "-f", metavar="FIELDS", help=FIELDS_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the path and the counts as JSON.")] = False,
) -> None:
    """Write a page on which a person reviews extractions.

    Documents that failed are left out.
    """
    output_type = None if target is None and fields is None else read_type(target, fields)
    try:
        found = [to_extraction(record, output_type) for path in results for record in read_records(path)]
        extractions = [one for one in found if one is not None and (below is None or one.confidence < below)]
        page = report(extractions, output, title=title)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    failed = found.count(None)
    if as_json:
        typer.echo(json.dumps({"path": str(page), "documents": len(extractions), "failed": failed}))
        return
    left_out = f"{counted(failed, 'document')} failed, and {'is' if failed == 1 else 'are'} left out." if failed else ""
    say(f"{counted(len(extractions), 'document')} to review. {left_out}".strip())
    typer.echo(page)
