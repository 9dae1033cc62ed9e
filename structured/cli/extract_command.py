"""`structured extract`: objects out of files, as JSON lines or as a table."""

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, TextIO, TypeAlias, cast, get_args

import typer
from pydantic_core import to_json
from rich.console import Console, RenderableType
from rich.json import JSON
from rich.table import Column, Table
from rich.text import Text

from structured.cli.console import ExitCode, in_options, say, sentence, show
from structured.cli.document_paths import named_documents
from structured.cli.model_commands import MODEL_HELP
from structured.cli.type_arguments import CHOICE_HELP, FIELDS_HELP, GRAMMAR_HELP, PATTERN_HELP, read_type
from structured.errors import ModelError, OutputError, StructuredError
from structured.errors.arguments import count, number
from structured.errors.values import counted
from structured.extraction.documents.chunks import Chunking
from structured.extraction.documents.document import DocumentLike
from structured.extraction.events import DocumentDone, Event
from structured.extraction.extractor import Extractor
from structured.extraction.journal import Resume
from structured.extraction.options import Options
from structured.extraction.records import Record, metadata_to_json
from structured.extraction.result_files import TABLE_SUFFIXES, Output, Written, write_results_of
from structured.jobs.flat_table import RowsOf, write_table
from structured.output_types.checks import Flag
from structured.results.evidence import MATCH_WORDS
from structured.results.result import Result, error_to_json, made_of

WriteDocuments: TypeAlias = Callable[[Output], Written]
"""Answers the documents that have no record in the output yet, and writes or shows their results."""

Print: TypeAlias = Callable[[], None]
"""Prints what was read of a result."""


def run_here(
    output_type: Any,
    options: Options,
    documents: Iterable[DocumentLike],
    write_options: Mapping[str, Any],
    shown: Callable[[Result[Any]], Print] | None,
) -> WriteDocuments:
    """Load the model into this process. Raises `typer.BadParameter` for an option.

    `write_options` has the `resume` and `progress` of `write_results`. With `shown`, results are printed instead.
    """
    try:
        with Console(stderr=True).status("Loading the model …"):
            extractor = Extractor[Any](output_type, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if shown is None:
        return lambda output: write_results_of(extractor, documents, output, **write_options)

    def run(_: Output) -> Written:
        done = failed = 0
        for result in extractor.results(documents, progress=write_options["progress"]):
            read_result, print_result = made_of(result, shown)
            print_result()  # apart from reading, since an error of the output is not that of the document
            done += 1
            failed += read_result.error is not None
        return Written(done, failed, 0, 0)

    return run


def run_on_ray(
    output_type: Any,
    read_type: Callable[[], Any],
    options: Options,
    documents: Iterable[DocumentLike],
    write_options: Mapping[str, Any],
) -> WriteDocuments:
    """Prepare a cluster, which is not started yet; each of its processes calls `read_type`.

    `write_options` has the other parameters of `write_batch_by_actors`. Raises `typer.BadParameter` for an option,
    SchemaError for a type, ModelError without Ray.
    """
    from structured.integrations.ray import check_request, write_batch_by_actors

    if find_spec("ray") is None:
        raise ModelError("--engine ray needs Ray: pip install 'structured-extraction[ray]'.")
    try:
        count(1)("concurrency", write_options["concurrency"])
        number(lambda share: 0 <= share < float("inf"), "0 or greater")("num_gpus", write_options["num_gpus"])
        check_request(output_type, options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error

    def run(output: Output) -> Written:
        starting = Console(stderr=True).status("Starting Ray, and loading the model …")
        with redirect_stdout(sys.stderr):  # Ray prints its messages to stdout
            return write_batch_by_actors(read_type, options, documents, output, startup=starting, **write_options)

    return run


Format = Literal["jsonl", "csv", "parquet"]
"""The formats of results."""


def format_of(output: Path | None, option: Format | None) -> Format:
    """Return the format of results: the one of the option, or else that of the file name.

    Raises `typer.BadParameter` for another name, and for a format that does not fit it.
    """
    suffix = "jsonl" if output is None else output.suffix.lower().removeprefix(".")
    formats = get_args(Format)
    if option is None and suffix not in formats:
        suffixes = ", ".join(f".{name}" for name in formats)
        remedy = "Name another." if suffix else "Name another, or pass --format jsonl."
        raise typer.BadParameter(f"The name {output} ends in none of {suffixes}. {remedy}")
    is_csv_on_stdout = option == "csv" and output is None
    if option in ("csv", "parquet") and suffix != option and not is_csv_on_stdout:
        raise typer.BadParameter(f"A table has a file that is called by its format: --output out.{option}.")
    return option or cast("Format", suffix)


def write(run: WriteDocuments, output: Path | None, form: Format, rows: RowsOf) -> Written:
    """Write results to a file of JSON lines or to standard output.

    Tables, CSV and Parquet, are made from the lines in the end; the lines of a table in a file are kept beside it.
    """
    if form == "jsonl":
        return run(sys.stdout.buffer if output is None else output)
    with TemporaryDirectory() as folder:
        table = Path(folder, "table.csv") if output is None else output
        lines = table.with_suffix(".jsonl")
        written = run(lines)
        write_table(lines, table, rows=rows)
        if output is None:
            sys.stdout.buffer.write(table.read_bytes())
    return written


def shown_to_person(result: Result[Any], *, evidence: bool) -> Print:
    """Read the result of a document for a person: its value, or each value with its evidence."""
    if result.error is not None:
        return lambda: None
    return partial(show, _evidence_table(result) if evidence else JSON(json.dumps(_value(result))))


def shown_as_line(result: Result[Any]) -> Print:
    """Read the result of a document as a short line of JSON, without computing its evidence."""
    record: Record = {"id": result.id, "missing": list(result.missing), "flags": list(map(asdict, result.flags))}
    if result.error is None:
        record |= {"value": _value(result), "metadata": metadata_to_json(result.id, result.metadata)}
    else:
        record["error"] = error_to_json(result.error)
    return partial(typer.echo, short_line(record))


SHORT_LINE_MEMBERS = ("id", "metadata", "value", "missing", "flags", "error")
"""The members of a record that a short line has; all but `id` and `value` only if there are any."""


def short_line(record: Record) -> bytes:
    """Return what a record has of `SHORT_LINE_MEMBERS`, as JSON."""
    line = {name: record[name] for name in SHORT_LINE_MEMBERS if name in record and (name == "value" or record[name])}
    return json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace")


def _value(result: Result[Any]) -> Any:
    """Return a value as JSON; the stated data if there is no value, or if it is no JSON."""
    try:
        return json.loads(to_json(result.value, by_alias=True))
    except Exception:  # noqa: BLE001  a serializer of the user's own
        return result.data


def _evidence_table(result: Result[Any]) -> RenderableType:
    headings = (Column(heading, overflow="fold") for heading in ("field", "value", "confidence", "support"))
    table = Table(*headings, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for row in result.rows():
        confidence = "" if row["confidence"] is None else f"{row['confidence']:.0%}"
        support = MATCH_WORDS[row["match"]] + ("" if row["quote"] is None else f": “{row['quote']}”")
        value = row["value"] if isinstance(row["value"], str) else to_json(row["value"]).decode()
        table.add_row(Text(row["path"]), Text(value), confidence, Text(support))
    for path in result.missing:
        table.add_row(Text(path), Text("missing", style="dim"), "", "")
    return table


def _problem_and_flags(result: Result[Any]) -> tuple[str, str, tuple[Flag, ...]]:
    """Return the id of a result, its error as a sentence, and its flags."""
    return result.id, "" if result.error is None else sentence(result.error), tuple(result.flags)


class FailurePrinter:
    """A listener that counts documents, and reports those that failed and values with flags on stderr.

    Records of other processes that it is given are printed as short lines, if there is a file for them.
    """

    def __init__(self, command: object, records: TextIO | None) -> None:
        self.done = 0
        self._command = command
        self._records = records

    def __call__(self, event: Event) -> None:
        """Count or report the document of an event."""
        if isinstance(event, DocumentDone):
            self._report(*made_of(event.result, _problem_and_flags)[1])

    def take(self, record: Record) -> None:
        """Count or report the document of a record that another process wrote."""
        if self._records is not None:
            typer.echo(short_line(record), self._records)
        problem = "{kind}: {message}".format(**record["error"]) if "error" in record else ""
        self._report(record["id"], problem, [Flag(**flag) for flag in record.get("flags", ())])

    def _report(self, identity: str, problem: str, flags: Iterable[Flag]) -> None:
        self.done += 1
        if problem:
            problem = in_options(problem, self._command)
            say(problem if identity in problem else f"{identity}: {problem}", style="red")
        for flag in flags:
            say(f"{identity}: {flag}".encode(errors="backslashreplace").decode(), style="yellow")


def extract_documents(  # noqa: PLR0913  the options of the command
    ctx: typer.Context,
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="The documents: files, folders, patterns such as 'letters/*.txt', or - for standard input. Before "
            "them comes the TYPE: module:Type, file.py:Type, file.py:function, or schema.json; with --fields, "
            "--pattern, --choice or --grammar, there is none.",
        ),
    ],
    *,
    fields: Annotated[str | None, typer.Option("--fields", "-f", metavar="FIELDS", help=FIELDS_HELP)] = None,
    pattern: Annotated[str | None, typer.Option("--pattern", metavar="REGEX", help=PATTERN_HELP)] = None,
    choice: Annotated[list[str] | None, typer.Option("--choice", metavar="TEXT", help=CHOICE_HELP)] = None,
    grammar: Annotated[str | None, typer.Option("--grammar", metavar="FILE|NAME", help=GRAMMAR_HELP)] = None,
    many: Annotated[bool, typer.Option("--many", help="Extract a list of them from each document.")] = False,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    instructions: Annotated[str | None, typer.Option(help="The task, written before the document.")] = None,
    column: Annotated[
        str | None,
        typer.Option(help="The column of the texts in tables: CSV, JSON lines, Parquet. Default: the only one."),
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="The column of the ids. Default: file:line.")] = None,
    grounded: Annotated[bool, typer.Option("--grounded", help="Let strings, numbers and dates be as stated.")] = False,
    allow_missing: Annotated[bool, typer.Option("--allow-missing", help="Let any field be missing.")] = False,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Show the quote and the confidence of each value; with CSV, a row each.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write: .jsonl, .csv or .parquet. Default: stdout."),
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="Default: that of the output file, or JSON lines.")
    ] = None,
    rows: Annotated[
        RowsOf | None,
        typer.Option(help="One row for each document or each value. Default: documents, or values with --evidence."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh/--resume", help="Start the output anew, or go on where it ends (the default).")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Go on, and try documents again that failed.")] = False,
    chunk_tokens: Annotated[
        int | None, typer.Option(help="The most tokens of a document that are read at once.")
    ] = None,
    passes: Annotated[int | None, typer.Option(help="How often a long document is read.")] = None,
    merge_by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Fields that identify the records of a long document.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Documents that go through the model at once.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The most tokens of one answer.")] = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Run the model in this process, or in the actors of a cluster of Ray."),
    ] = "local",
    concurrency: Annotated[int | None, typer.Option(help="With --engine ray: the actors. Default: 1.")] = None,
    num_gpus: Annotated[
        float | None, typer.Option(help="With --engine ray: the GPUs of each actor; 0.5 for two on one. Default: 0.")
    ] = None,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="Default: after two seconds, on a terminal.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on a terminal, too.")] = False,
) -> None:
    """Extract one object from each document.

    Each document gives one line of JSON, as soon as it is done; with an output, a call that was interrupted goes on
    where it stopped. Exits with 1 if some documents failed, 2 if the command is wrong, 3 if the type, the model or the
    output cannot be used, and 130 after Ctrl-C.
    """
    if engine != "ray" and (concurrency is not None or num_gpus is not None):
        raise typer.BadParameter("--concurrency and --num-gpus are about a cluster. Pass --engine ray as well.")
    type_options = {"fields": fields, "pattern": pattern, "choices": choice or None, "grammar": grammar}
    given_type_options: dict[str, Any] = {name: value for name, value in type_options.items() if value is not None}
    target, paths = (None, arguments) if given_type_options else _type_and_paths(arguments)
    read_this_type = partial(read_type, target, many=many, **given_type_options)
    output_type = read_this_type()
    form = format_of(output, form)
    write_options: dict[str, Any] = {"resume": _resume(output, fresh=fresh, retry=retry), "progress": progress}
    output_paths = [] if output is None else [output, *map(output.with_suffix, (".jsonl", *TABLE_SUFFIXES))]
    documents = named_documents(paths, column, id_column, output_paths)
    is_printed = output is None and form == "jsonl"
    is_single = isinstance(documents, list) and len(documents) == 1
    is_shown = is_printed and is_single and sys.stdout.isatty() and not as_json and engine == "local"
    is_short = is_printed and not is_shown and not evidence
    all_options = {
        "model": model,
        "instructions": instructions,
        "grounded": grounded or None,
        "allow_missing": allow_missing or None,
        "chunking": _chunking(tokens=chunk_tokens, passes=passes, merge_by=merge_by or None),
        "batch_size": batch_size,
        "max_tokens": max_tokens,
    }
    options = cast("Options", {name: value for name, value in all_options.items() if value is not None})
    printer = FailurePrinter(ctx.command, sys.stdout if is_short else None)
    if engine == "ray":
        write_options |= {"concurrency": 1 if concurrency is None else concurrency, "num_gpus": num_gpus or 0}
        run = run_on_ray(output_type, read_this_type, options, documents, {**write_options, "on_record": printer.take})
    else:
        shown = partial(shown_to_person, evidence=evidence) if is_shown else shown_as_line if is_short else None
        run = run_here(output_type, {**options, "observe": printer}, documents, write_options, shown)
    started = time.perf_counter()
    try:
        with Path(os.devnull).open("wb") as null:
            summary = (
                run(null) if is_short else write(run, output, form, rows or ("values" if evidence else "documents"))
            )
    except OutputError as error:
        problem = str(error).replace("resume='fresh'", "--fresh").replace("resume='retry'", "--retry")
        raise OutputError(problem, path=error.path, kept=error.kept) from error
    except (KeyboardInterrupt, StructuredError) as error:
        if printer.done or hasattr(error, "__notes__"):
            say(_message_of_interrupt(error, printer.done, output))
        raise
    if summary.done > 1 or output is not None:
        say(_message_of_end(summary, time.perf_counter() - started, output))
    if summary.failed or summary.failed_before:
        raise typer.Exit(int(ExitCode.SOME_FAILED))


def _chunking(**fields: Any) -> Chunking | None:
    """Return how long documents are read, of what the command line says; None if it says nothing."""
    chosen_fields = {name: value for name, value in fields.items() if value is not None}
    try:
        return Chunking(**chosen_fields) if chosen_fields else None
    except ValueError as error:
        raise typer.BadParameter(re.sub("^tokens", "chunk_tokens", str(error))) from error


def _type_and_paths(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the name of the type, and the paths. Raises `typer.BadParameter` if there is only one of both."""
    target, *paths = arguments
    if paths:
        return target, paths
    is_type = ":" in target or target.endswith(".json")
    raise typer.BadParameter(
        f"There are no documents after the type {target!r}. Name files, folders, or - for standard input."
        if is_type
        else f"There is no type before {target!r}. Write module:Type, file.py:Type or schema.json, or pass "
        '--fields "name: str, age: int".'
    )


def _resume(output: Path | None, *, fresh: bool, retry: bool) -> Resume:
    """Return how to treat existing output. Raises `typer.BadParameter`."""
    if fresh and retry:
        raise typer.BadParameter("--fresh drops all that is there, and --retry only the errors. Leave one of them out.")
    if output is None and (fresh or retry):
        raise typer.BadParameter("--fresh and --retry are about an output. Name it: --output out.jsonl.")
    return "fresh" if fresh else "retry" if retry else "continue"


def _message_of_end(summary: Written, seconds: float, output: Path | None) -> str:
    failed = f", {summary.failed:,} failed" if summary.failed else ""
    text = f"{counted(summary.done, 'document')} in {seconds:.1f} s{failed}{f', in {output}' if output else ''}."
    if summary.before:
        text += f" {counted(summary.before, 'document')} had been done before."
    if summary.failed_before:
        text += f" {summary.failed_before:,} had failed then: --retry tries again."
    return text


def _message_of_interrupt(error: BaseException, done: int, output: Path | None) -> str:
    """Return how much is kept when a call ends early, and how to go on."""
    if output is None:
        return f"{counted(done, 'document')} were done. With --output, a call goes on where it stopped."
    arguments = [argument for argument in sys.argv[1:] if argument not in {"--fresh", "--retry"}]
    notes = " ".join(getattr(error, "__notes__", ()))
    return f"{notes}\n{shlex.join(['structured', *arguments])}"
