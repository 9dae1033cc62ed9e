"""The command `structured`."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from structured.cli.console import Commands
from structured.cli.demo_command import demo
from structured.cli.extract_command import extract_documents
from structured.cli.inspect_command import inspect_target
from structured.cli.model_commands import cache_app, compile_now, fetch_model, list_models
from structured.cli.review_commands import evaluate_gold, tune_options, write_report
from structured.cli.serve_command import serve
from structured.cli.suggest_command import suggest_type
from structured.integrations.mcp_server import serve_mcp


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
        "structured eval gold.jsonl shop.py:Invoice -o evaluation.html",
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
        "structured inspect --pattern '[0-9]+' --tokens --model smollm2 --text 12",
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
app.command("compile", epilog=_examples("structured compile"))(compile_now)
app.add_typer(cache_app, name="cache", epilog=_examples("structured cache info --json", "structured cache clear"))


DISTRIBUTION = "structured-extraction"
"""The name of the installed distribution."""


def _show_version(asked: bool) -> None:
    if not asked:
        return
    try:
        typer.echo(f"{DISTRIBUTION} {version(DISTRIBUTION)}")
    except PackageNotFoundError as error:
        typer.echo(f"{DISTRIBUTION} is not installed: this is its source, at {Path(__file__).parents[1]}.", err=True)
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
