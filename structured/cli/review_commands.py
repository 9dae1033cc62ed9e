"""`structured report`, `eval` and `tune`: the review page, figures beside the gold, and options chosen by it."""

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic_core import to_jsonable_python

from structured.cli.console import say, show
from structured.cli.model_commands import MODEL_HELP
from structured.cli.type_arguments import FIELDS_HELP, read_type
from structured.errors.values import counted
from structured.extraction.extractor import Extractor
from structured.extraction.result_files import read_results
from structured.jobs.evaluate import evaluate
from structured.jobs.evaluation import Evaluation
from structured.jobs.review_page import report
from structured.jobs.tuning import tune

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
        str | None, typer.Option("--type", metavar="TYPE", help="The type, by which values can be corrected.")
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


def evaluate_gold(  # noqa: PLR0913  the options of the command
    gold: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Right answers, as the review page exports them.")
    ],
    target: Annotated[str | None, typer.Argument(metavar="TYPE", help="The type; leave it out with --fields.")] = None,
    *,
    fields: Annotated[str | None, typer.Option("--fields", "-f", metavar="FIELDS", help=FIELDS_HELP)] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    results: Annotated[
        Path | None,
        typer.Option(exists=True, help="Results to compare that are there already; no model is run."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The page to write.")] = None,
    review: Annotated[Path | None, typer.Option(help="The review page that the page links to.")] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The output of --json of an earlier run, to compare with."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare answers with those of a gold file.

    Its documents are extracted from, or results that are there are taken.
    """
    if target is None and fields is None:
        raise typer.BadParameter("There is no type. Write module:Type, file.py:Type or schema.json, or pass --fields.")
    if results is not None and model is not None:
        raise typer.BadParameter("--results are there already, and --model would make others. Leave one of them out.")
    output_type = read_type(target, fields)
    try:
        before = None if baseline is None else Evaluation.from_json(baseline.read_text(encoding="utf-8"))
        if results is None:
            extractor = Extractor[Any](output_type) if model is None else Extractor[Any](output_type, model=model)
            evaluation = evaluate(extractor, gold)
        else:
            evaluation = evaluate(read_results(results, output_type), gold, output_type=output_type)
        if output is not None:
            evaluation.to_html(output, review=review)
        difference = None if before is None else evaluation.compare(before)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if output is not None:
        say(f"The page is {output}.")
    if as_json:
        typer.echo(evaluation.to_json())
    else:
        show(evaluation if difference is None else difference)


def tune_options(  # noqa: PLR0913  the options of the command
    gold: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Right answers, as the review page exports them.")
    ],
    *,
    target: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="The type; or pass --fields.")] = None,
    fields: Annotated[str | None, typer.Option("--fields", "-f", metavar="FIELDS", help=FIELDS_HELP)] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    documents: Annotated[int, typer.Option(help="The most answers that the model is asked for in all.")] = 200,
    instructions: Annotated[
        list[str] | None, typer.Option(help="Instructions to try in place of the library's; once for each.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which documents choose, and which are examples.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--out", "--output", "-o", help="The file for the chosen options, as JSON.")
    ] = None,
) -> None:
    """Choose instructions, examples and other options by right answers.

    A part of the documents chooses the best candidate, and the others confirm it; else the plain options are kept.
    """
    output_type = read_type(target, fields)
    try:
        tuning = tune(output_type, gold, model=model, documents=documents, instructions=instructions or None, seed=seed)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except KeyboardInterrupt as error:
        say(" ".join(getattr(error, "__notes__", ())))
        raise
    if output is not None:
        options = to_jsonable_python(dict(tuning.options), by_alias=True)
        output.write_text(json.dumps(options, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        say(f"The options are in {output}.")
    show(tuning)
