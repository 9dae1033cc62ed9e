"""The command `structured`, with `serve` and the commands over the jobs: `suggest`, `report`, `eval` and `tune`."""

import json
import os
import shlex
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console

from structured.cli.console import Commands, say, show
from structured.cli.demo_command import demo
from structured.cli.document_paths import named_documents
from structured.cli.extract_command import extract_documents
from structured.cli.inspect_command import inspect_target
from structured.cli.model_commands import MODEL_HELP, cache_app, fetch_model, list_models
from structured.cli.type_arguments import FIELDS_HELP, load_target, read_type
from structured.errors import ModelError
from structured.errors.values import counted
from structured.extraction.documents.plain_text import read_text
from structured.extraction.extractor import Extractor
from structured.extraction.result_files import read_results
from structured.integrations.mcp_server import serve_mcp
from structured.jobs.evaluate import evaluate
from structured.jobs.evaluation import Evaluation
from structured.jobs.gold import read_gold
from structured.jobs.review_page import report
from structured.jobs.suggestion import suggest
from structured.jobs.tuning import tune
from structured.models import LanguageModel, load_model
from structured.models.server_api import is_address
from structured.output_types.html import write_page
from structured.output_types.resolve import resolve_type


def suggest_type(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input.")],
    *,
    model: Annotated[
        str, typer.Option("--model", "-m", envvar="STRUCTURED_MODEL", help="As for extract, and not the packaged one.")
    ],
    wish: Annotated[str, typer.Option(help='What the type is for: "who pays what by when".')] = "",
    documents: Annotated[int, typer.Option(min=1, help="The most documents that are read.")] = 10,
    column: Annotated[str | None, typer.Option(help="As for extract: the column of the texts in tables.")] = None,
) -> None:
    """Suggest a type for some documents, as a class and as --fields.

    The model proposes fields for each document, and is then asked for all of them in each. The type is a start to edit.
    """
    if not model.strip() or model.startswith("packaged"):
        raise typer.BadParameter("The packaged model cannot suggest a type. Name one of 1,000 million parameters.")
    sample = list(islice(named_documents(paths, column, None), documents))
    with Console(stderr=True).status("Asking the model …"):
        suggestion = suggest(sample, wish, model=model)
    say(f"A start to edit: {suggestion.model} has read {counted(suggestion.documents, 'document')}.")
    typer.echo(f"# A start to edit, suggested by {suggestion.model}. The same as an option:")
    typer.echo(f"# --fields {shlex.quote(suggestion.to_fields())}\n\n{suggestion.to_python()}", nl=False)


def write_report(  # noqa: PLR0913  the options of the command
    results: Annotated[
        list[Path], typer.Argument(exists=True, help="The files of JSON lines that `structured extract` has written.")
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
    all_results = chain.from_iterable(read_results(path, output_type) for path in results)
    shown_results = [one for one in all_results if one.error is not None or below is None or one.confidence < below]
    failed = sum(one.error is not None for one in shown_results)
    try:
        page = report(shown_results, output, title=title)
    except ValueError as error:
        raise typer.BadParameter(f"{error} Pass files that `structured extract -o` has written.") from error
    if as_json:
        typer.echo(json.dumps({"path": str(page), "documents": len(shown_results) - failed, "failed": failed}))
        return
    errors = f"{counted(failed, 'document')} failed; the page shows why." if failed else ""
    say(f"{counted(len(shown_results) - failed, 'document')} to review. {errors}".strip())
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
        Path | None, typer.Option(exists=True, help="Results to compare that are there already; no model is run.")
    ] = None,
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
        golds = list(read_gold(gold, resolve_type(output_type)))  # before a model is loaded
        before = None if baseline is None else Evaluation.from_json(read_text(baseline).text)
        if results is None:
            evaluation = evaluate(Extractor[Any](output_type, model=model), golds)
        else:
            evaluation = evaluate(read_results(results, output_type), golds, output_type=output_type)
        difference = None if before is None else evaluation.compare(before)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
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
    if target is None and fields is None:
        raise typer.BadParameter("There is no type. Pass --type module:Type, file.py:Type or schema.json, or --fields.")
    output_type = read_type(target, fields)
    instructions = instructions or None
    try:
        golds = list(read_gold(gold, resolve_type(output_type)))  # before a model is loaded
        tuning = tune(output_type, golds, model=model, documents=documents, instructions=instructions, seed=seed)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except KeyboardInterrupt as error:
        say(" ".join(getattr(error, "__notes__", ())))
        raise
    if output is not None:
        options = to_jsonable_python(dict(tuning.options), by_alias=True)
        write_page(output, json.dumps(options, ensure_ascii=False, indent=2) + "\n")
        say(f"The options are in {output}.")
    show(tuning)


SERVED_HELP = (
    "A hub id, a folder, a GGUF file, packaged, or smollm2 or smollm2-extract once it is fetched; see "
    "`structured models`. Default: $STRUCTURED_MODEL, or the packaged model."
)

KEY = "STRUCTURED_API_KEY"


def serve(  # noqa: PLR0913  the options of the command
    *,
    model: Annotated[str | None, typer.Option("--model", "-m", help=SERVED_HELP)] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="NAME=MODULE:TYPE",
            help="A type that requests to /v1/extract may name, such as invoice=shop.py:Invoice; once for each.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 for all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at.")] = 8000,
    api_key: Annotated[
        str | None,
        typer.Option(envvar=KEY, show_envvar=True, help="The key that clients send as `Authorization: Bearer`."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes behind the port, each with the model and limits of its own.")
    ] = 1,
    running: Annotated[int, typer.Option(min=1, help="Requests that are answered at a time, in one batch.")] = 32,
    waiting: Annotated[int, typer.Option(min=0, help="Requests that may wait; others get 429.")] = 256,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="The most tokens of an answer; requests for more get 400.")
    ] = 1024,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log no requests, but warnings and errors.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="The longest that an answer may take.")] = 300.0,
) -> None:
    """Serve a model over HTTP, to clients of OpenAI's API.

    Chat completions with response_format and tools, and /v1/extract. Needs the extra `serve`. It ends by Ctrl-C or
    SIGTERM, when the requests that run are answered.
    """
    try:
        from structured.integrations.server.limits import Limits
        from structured.integrations.server.workers import ServerConfig, check_port, serve_workers
    except ImportError as error:
        raise ModelError(
            f"`structured serve` needs the extra serve ({error}). Run pip install 'structured-extraction[serve]'."
        ) from error
    if not (os.environ.get(KEY, "x") if api_key is None else api_key).strip():
        raise typer.BadParameter(
            "The key is empty. Leave it out, or unset the variable, if clients need none.", param_hint="--api-key"
        )
    limits = Limits(running=running, waiting=waiting, max_tokens=max_tokens, seconds=seconds)
    loaders = partial(_load_served_model, model), partial(_types_by_name, types or [])
    config = ServerConfig(
        *loaders, limits=limits, api_key=api_key, host=host, port=port, is_quiet=quiet, workers=workers
    )
    types_by_name = config.types()
    check_port(host, port)
    if not (serve_workers(config) if workers > 1 else config.serve(types_by_name)):
        raise typer.Exit(3)


def _load_served_model(name: str | None) -> LanguageModel:
    """Return the model that is served. Raises ModelError, also for one behind a server."""
    source = os.environ.get("STRUCTURED_MODEL") if name is None else name
    if is_address(source):
        who = "STRUCTURED_MODEL names" if name is None else "--model names"
        raise ModelError(
            f"{who} {source}, a model that a server has already. `structured serve` loads one itself: pass --model "
            "with a hub id, a folder, a GGUF file, smollm2 or smollm2-extract."
        )
    return load_model(name)


def _types_by_name(options: list[str]) -> dict[str, Any]:
    """Return the types of the options by their names: `invoice=shop.py:Invoice`."""
    types: dict[str, Any] = {}
    for option in options:
        name, equals, target = option.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{option!r} has no name. Write NAME=MODULE:TYPE.", param_hint="--type")
        if name in types:
            raise typer.BadParameter(f"{name!r} names two types. Give each a name of its own.", param_hint="--type")
        types[name] = load_target(target)
    return types


def _examples(*lines: str) -> str:
    """Return the examples at the end of a help text."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=_examples(
        "structured demo",
        'structured extract --fields "name: str, age: int | None" letter.txt',
        "structured extract shop.py:Invoice invoices/ -o out.jsonl",
        "structured report out.jsonl -o review.html",
    ),
)
app.command(
    "extract",
    options_metavar="[OPTIONS] [TYPE]",
    epilog=_examples(
        "structured extract shop.py:Invoice invoices/ --output out.jsonl",
        'structured extract --fields "name: str, age: int | None" letter.txt',
        "structured extract schema.json mails.csv --column body --id number",
        "cat letter.txt | structured extract shop:Letter - --json",
    ),
)(extract_documents)
app.command(
    "suggest",
    epilog=_examples(
        'structured suggest letters/ --model Qwen/Qwen2.5-1.5B-Instruct --wish "who pays what by when" > letter.py',
        "structured extract letter.py:Record letters/",
    ),
)(suggest_type)
app.command(
    "report",
    epilog=_examples("structured report out.jsonl --output review.html", "structured report out.jsonl --below 0.9"),
)(write_report)
app.command(
    "eval",
    epilog=_examples(
        "structured eval gold.jsonl shop.py:Invoice --model smollm2",
        "structured eval gold.jsonl shop.py:Invoice --results out.jsonl",
        "structured eval gold.jsonl shop.py:Invoice --json > before.json",
        "structured eval gold.jsonl shop.py:Invoice --baseline before.json",
    ),
)(evaluate_gold)
app.command(
    "tune",
    epilog=_examples(
        "structured tune gold.jsonl --type shop.py:Invoice --model smollm2",
        "structured tune gold.jsonl --type shop.py:Invoice --out best.json",
        "structured tune gold.jsonl --type shop.py:Invoice --documents 400",
    ),
)(tune_options)
app.command(
    "inspect",
    epilog=_examples(
        "structured inspect shop.py:Invoice",
        "structured inspect invoice.json --json",
        "structured inspect shop.types:Invoice --regex",
        "structured inspect --pattern '[0-9]+' --automaton --dot number.dot",
    ),
)(inspect_target)
app.command(
    "serve",
    epilog=_examples(
        "structured serve --model smollm2",
        "structured serve --type invoice=shop.py:Invoice --port 8080",
        'curl localhost:8000/v1/choose -H "Content-Type: application/json" \\',
        """  -d '{"text": "I want to cancel.", "choices": ["order", "cancellation"]}'""",
    ),
)(serve)
app.command("mcp", epilog=_examples("structured mcp", "structured mcp --http localhost:8000"))(serve_mcp)
app.command("models", epilog=_examples("structured models", "structured models --json"))(list_models)
app.command("fetch", epilog=_examples("structured fetch smollm2"))(fetch_model)
app.command(epilog=_examples("structured demo", "structured demo --model smollm2"))(demo)
app.add_typer(cache_app, name="cache", epilog=_examples("structured cache info --json", "structured cache clear"))


def _show_version(asked: bool) -> None:
    if not asked:
        return
    name = "structured-extraction"
    try:
        typer.echo(f"{name} {version(name)}")
    except PackageNotFoundError as error:
        typer.echo(f"{name} is not installed: this is its source, at {Path(__file__).parents[1]}.", err=True)
        raise typer.Exit(1) from error
    raise typer.Exit


@app.callback()
def _root(
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Extract typed objects from text, with a language model on your own machine.

    Exit codes: 0 all is fine; 1 something that was given failed, such as some of the documents; 2 the command is
    wrong; 3 the type or the model cannot be used, or a file cannot be read or written; 130 interrupted. With
    STRUCTURED_DEBUG=1, errors have their traceback.
    """
