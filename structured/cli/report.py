"""`structured report`: the review page, from records of results."""

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structured.cli.asked import FIELDS_HELP, read_type
from structured.cli.exits import say
from structured.errors.values import counted
from structured.extraction.output.reading import read_results
from structured.jobs.report.report import report

if TYPE_CHECKING:
    from structured.results.result import Result


def write_report(  # noqa: PLR0913  the options of the command
    results: Annotated[
        list[Path],
        typer.Argument(exists=True, help="The files of JSON lines that `structured extract` has written."),
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
    """Write a page on which a person reviews results.

    Documents that failed are on it with their errors.
    """
    output_type = Any if target is None and fields is None else read_type(target, fields)
    listed: list[Result[Any]] = []
    failed = 0
    for result in chain.from_iterable(read_results(path, output_type) for path in results):
        if result.error is not None:
            failed += 1
            listed.append(result)
        elif below is None or result.confidence < below:
            listed.append(result)
    page = report(listed, output, title=title)
    if as_json:
        typer.echo(json.dumps({"path": str(page), "documents": len(listed) - failed, "failed": failed}))
        return
    errors = f"{counted(failed, 'document')} failed; the page shows why." if failed else ""
    say(f"{counted(len(listed) - failed, 'document')} to review. {errors}".strip())
    typer.echo(page)
