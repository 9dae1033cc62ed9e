"""`structured extract`: objects out of files, as JSON lines or as a table."""

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console

from structured.cli.exits import ExitCode, say, sentence
from structured.cli.fields import FieldListError, read_fields
from structured.cli.inputs import documents_at
from structured.cli.models import MODEL_HELP
from structured.cli.records import id_of
from structured.cli.targets import load_target
from structured.cli.writing import Format, destination, format_of
from structured.errors import StructuredError
from structured.errors.values import counted
from structured.extraction.extractor import make_extractor
from structured.output_types.json_schema import JsonSchema

if TYPE_CHECKING:
    from structured.extraction.options import Options

FIELDS_HELP = 'The type, written here in place of TYPE: "name: str, age: int | None".'


def extract_documents(  # noqa: PLR0913  the options of the command
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="The documents: files, folders, patterns such as 'letters/*.txt', or - for standard input. Before "
            "them stands the TYPE: module:Type, file.py:Type, or schema.json; with --fields, there is none.",
        ),
    ],
    *,
    fields: Annotated[str | None, typer.Option("--fields", "-f", metavar="FIELDS", help=FIELDS_HELP)] = None,
    many: Annotated[bool, typer.Option("--many", help="Extract a list of them from each document.")] = False,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    instructions: Annotated[str | None, typer.Option(help="What to do; stands before the document.")] = None,
    column: Annotated[
        str | None,
        typer.Option(help="The column of the texts, if the paths are tables: CSV with a header, JSON lines."),
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="The column of the ids. Default: file:row.")] = None,
    grounded: Annotated[bool, typer.Option("--grounded", help="Let strings, numbers and dates be as stated.")] = False,
    absent: Annotated[bool, typer.Option("--absent", help="Let any field be missing.")] = False,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Tell where values stand, and how sure they are.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write. Default: stdout.")] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="Default: that of the output file, or JSON lines.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh/--resume", help="Start the output anew, or go on where it ends (the default).")
    ] = False,
    batch_size: Annotated[int | None, typer.Option(help="Documents that go through the model at once.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The most tokens of one answer.")] = None,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="Default: after two seconds, on a terminal.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on a terminal, too.")] = False,
) -> None:
    """Extract one object from each document.

    Each document gives one line of JSON, as soon as it is done; with an output, a call that was interrupted goes on
    where it stopped. Exits with 1 if some documents failed, 2 if the command is wrong, 3 if the type or the model
    cannot be used, and 130 after Ctrl-C.
    """
    output_type, paths = _asked(arguments, fields)
    form = format_of(output, form)
    if output is None and fresh:
        raise typer.BadParameter("--fresh is about an output. Name it: --output out.jsonl.")
    documents = documents_at(paths, column, id_column)
    is_shown = sys.stdout.isatty() and isinstance(documents, list) and len(documents) == 1 and not as_json
    given = {
        "model": model,
        "instructions": instructions,
        "grounded": grounded or None,
        "batch_size": batch_size,
        "max_tokens": max_tokens,
    }
    options = cast("Options", {name: value for name, value in given.items() if value is not None})
    wanted: object = _listed(output_type) if many else output_type
    try:
        with Console(stderr=True).status("Loading the model …"):
            extractor = make_extractor(wanted, absent or None, options, evidence=evidence)
    except ValueError as error:  # of an option
        raise typer.BadParameter(str(error)) from error
    done = failed = 0
    started = time.perf_counter()
    try:
        with destination(output, form, fresh=fresh, is_shown=is_shown) as (remaining, take):
            for result in extractor.stream_batch(remaining(documents), errors="return", progress=progress):
                take(result)
                done += 1
                if result.error is not None:
                    failed += 1
                    say(f"{id_of(result.document, result.position)}: {sentence(result.error)}", style="red")
    except (KeyboardInterrupt, StructuredError):
        say(_message_of_interrupt(done, output))
        raise
    if done > 1 or output is not None:
        seconds = time.perf_counter() - started
        say(
            f"{counted(done, 'document')} in {seconds:.1f} s{f', {failed:,} failed' if failed else ''}"
            f"{f', in {output}' if output else ''}."
        )
    if failed:
        raise typer.Exit(int(ExitCode.SOME_FAILED))


def _asked(arguments: list[str], fields: str | None) -> tuple[Any, list[str]]:
    """Return the type and the paths that arguments name."""
    if fields is not None:
        return read_type(None, fields), arguments
    target, *paths = arguments
    if paths:
        return read_type(target, None), paths
    is_type = ":" in target or target.endswith(".json")
    raise typer.BadParameter(
        f"There are no documents after the type {target!r}. Name files, folders, or - for standard input."
        if is_type
        else f"There is no type before {target!r}. Write module:Type, file.py:Type or schema.json, or pass "
        '--fields "name: str, age: int".'
    )


def read_type(target: str | None, fields: str | None) -> Any:
    """Return the type that is named, or written as a list of fields. Raises `typer.BadParameter`."""
    if fields is None:
        assert target is not None
        return load_target(target)
    if target is not None:
        raise typer.BadParameter("The type is named, and written as --fields as well. Leave one of them out.")
    try:
        return read_fields(fields)
    except FieldListError as error:
        raise typer.BadParameter(str(error), param_hint="--fields") from error


def _listed(output_type: Any) -> Any:
    """Return the type of a list of something."""
    if isinstance(output_type, JsonSchema):
        raise typer.BadParameter("--many is for Python types. Write the array into the JSON Schema.")
    return list[output_type]


def _message_of_interrupt(done: int, output: Path | None) -> str:
    """Return what is left of a call that ends early, and how to go on."""
    if output is None:
        return f"{counted(done, 'document')} were done. With --output, a call goes on where it stopped."
    again = [argument for argument in sys.argv[1:] if argument != "--fresh"]
    return (
        f"{counted(done, 'document')} were done, and are in {output}. Go on with:\n{shlex.join(['structured', *again])}"
    )
