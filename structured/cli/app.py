"""The `structured` command."""

import importlib
import importlib.util
import inspect
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.pretty import Pretty
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from structured.cli.demo import SHOWCASES, Showcase
from structured.errors import DemonstrationWarning, StructuredError
from structured.extraction.extractor import Extractor
from structured.index.cache import DiskCache, default_cache
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, read_whitespace
from structured.models import DEMONSTRATION, load_model
from structured.output_types.inspection import FieldReport, Report, inspect_type, report_to_dict
from structured.output_types.json_schema import JsonSchema
from structured.output_types.regular_expression import to_regex
from structured.output_types.resolve import read_type

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


DISTRIBUTION = "structured-extraction"
"""What the package is installed as."""


def _tell_version(asked: bool) -> None:
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
        bool, typer.Option("--version", help="Tell the version, and exit.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Typed objects out of text, with a language model on your own machine."""


@app.command()
def demo(
    model: Annotated[
        str | None, typer.Option(help="A hub id or folder. Default: $STRUCTURED_MODEL, or the model in the package.")
    ] = None,
) -> None:
    """Extract several types from several documents, and show each document, type and object."""
    console = Console()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DemonstrationWarning)
        try:
            with console.status("Loading the model …"):
                loaded = load_model(model)
            started = time.perf_counter()
            for showcase in SHOWCASES:
                with console.status(f"Reading: {showcase.title} …"):
                    answer = Extractor[Any](showcase.output_type, model=loaded)(showcase.document)
                console.print(_panels(showcase, answer, width=console.width))
        except StructuredError as error:
            console.print(Text(f"{type(error).__name__}: {error}", style="red"))
            raise typer.Exit(1) from error
    seconds = time.perf_counter() - started
    name = "the demonstration model" if loaded.name == str(DEMONSTRATION) else loaded.name
    console.print(f"[bold]{len(SHOWCASES)} documents in {seconds:.1f} s[/bold] with {name}.")
    for warning in caught:
        console.print(Text(str(warning.message), style="yellow"))


def _known_whitespace(name: str) -> str:
    try:
        return read_whitespace(name).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


@app.command("inspect")
def inspect_(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:TYPE",
            help="Such as shop.types:Invoice, or shop.py:Invoice; or a JSON Schema, invoice.json.",
        ),
    ],
    *,
    whitespace: Annotated[
        str, typer.Option(help="What stands between JSON tokens.", callback=_known_whitespace)
    ] = DEFAULT_WHITESPACE,
    regex: Annotated[bool, typer.Option("--regex", help="Print the regular expression of the type instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead.")] = False,
) -> None:
    """Tell what a type lets a model write, before any model is loaded. Exits with 1 if a field is refused."""
    try:
        output_type = _load_schema(Path(target)) if target.endswith(".json") else _load(target)
        if regex:
            typer.echo(to_regex(output_type, whitespace=whitespace))
            return
        report = inspect_type(output_type, whitespace=whitespace)
    except StructuredError as error:
        Console(stderr=True).print(Text(f"{type(error).__name__}: {error}", style="red"))
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(json.dumps(report_to_dict(report), indent=2))
    else:
        Console().print(Group(*_shown_report(report)))
    if report.refusals:
        raise typer.Exit(1)


def _load_schema(path: Path) -> JsonSchema:
    """Return the output type of a file with a JSON Schema."""
    if not path.is_file():
        raise typer.BadParameter(f"There is no file {str(path)!r}.")
    schema = JsonSchema(path.read_text(encoding="utf-8"))
    return schema if isinstance(schema.schema, dict) and "title" in schema.schema else replace(schema, name=path.stem)


def _load(target: str) -> object:
    """Return what `module:Name` or `path/to/file.py:Name` names."""
    source, colon, name = target.rpartition(":")
    if not colon or not source or not name:
        raise typer.BadParameter(f"{target!r} names no type. Write module:Type, or path/to/file.py:Type.")
    found: object = _load_module(source)
    for part in name.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, [known for known in dir(found) if not known.startswith("_")])
            hint = f" Is it {' or '.join(near)}?" if near else ""
            raise typer.BadParameter(f"There is no {part!r} in {source!r}.{hint}")
        found = getattr(found, part)
    return found


def _load_module(source: str) -> ModuleType:
    """Return a module, by its name as seen from the working directory, or by its file."""
    is_file = source.endswith(".py")
    if is_file and not Path(source).is_file():
        raise typer.BadParameter(f"There is no file {source!r}.")
    sys.path.insert(0, str(Path(source).resolve().parent if is_file else Path.cwd()))
    try:
        return _run_file(Path(source)) if is_file else importlib.import_module(source)
    # The module is the user's own code, so anything may come out of it.
    except (Exception, SystemExit) as error:
        raise typer.BadParameter(f"{source!r} cannot be imported: {type(error).__name__}: {error}") from error


def _run_file(path: Path) -> ModuleType:
    """Return the module of a file, under a name that no other module has."""
    name = f"inspected:{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None, "the name of the file ends in .py"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where annotations are looked up
    spec.loader.exec_module(module)
    return module


_STATUS_STYLES = {"enforced": "green", "checked": "yellow", "refused": "bold red"}

LONGEST_KIND = 120
"""Characters of a field's kind that are shown."""


def _shown_report(report: Report) -> Iterator[RenderableType]:
    """Yield the pieces of a report: the fields, what is refused, the hazards, and the cost."""
    statuses = [field.status for field in report.fields]
    counts = [f"{statuses.count(status)} {status}" for status in _STATUS_STYLES if status in statuses]
    title = Text.assemble((report.name, "bold"), (f"  {_count(len(statuses), 'field')}: {', '.join(counts)}", "dim"))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False, header_style="dim")
    for heading in ("field", "kind", "status"):
        table.add_column(heading, overflow="fold")
    for field in report.fields:
        table.add_row(_shown_path(field.path), _printable(field.kind), _shown_status(field))
    yield from (title, Text(), table)
    refused = [(field.path, error) for field in report.fields for error in field.refusals]
    if refused:
        yield from (Text(), Text("Refused", style="bold red"))
    for path, error in refused:
        yield _note(error.problem + ".", [path], error.remedy, style="red")
    if report.hazards:
        yield from (Text(), Text("Hazards", style="bold yellow"))
    for hazard in report.hazards:
        yield _note(hazard.problem, hazard.paths, hazard.remedy, style="yellow")
    yield from (Text(), _shown_cost(report))


def _shown_path(path: str) -> Text:
    return Text(path) if path else Text("(answer)", style="italic")


def _shown_status(field: FieldReport) -> Text:
    shown = Text(field.status, style=_STATUS_STYLES[field.status])
    notes = [f"by {', '.join(field.validators)}"] if field.validators else []
    notes += [f"(as {', '.join(path or 'the answer' for path in field.same_as)})"] if field.same_as else []
    return Text.assemble(shown, (f" {' '.join(notes)}" if notes else "", "dim"))


def _note(problem: str, paths: Sequence[str], remedy: str, *, style: str) -> Table:
    """Return a paragraph: what is wrong, where, and what to do."""
    where = Text(", ").join(map(_shown_path, paths))
    where.stylize("bold")
    grid = Table.grid(padding=(0, 1))
    told = Text("\n").join([where, Text(problem), Text(f"→ {remedy}", style="dim")])
    grid.add_row(Text(" •", style=style), told)
    return grid


def _shown_cost(report: Report) -> Text:
    """Return what answers take, or that there can be none."""
    if report.cost is None:
        refused = sum(field.status == "refused" for field in report.fields)
        return Text(
            f"{_count(refused, 'field')} of {len(report.fields)} refused: nothing can be extracted.", style="red"
        )
    cost = report.cost
    if cost.longest is None:
        lengths = f"{_count(cost.shortest, 'byte')} or more, without a limit"
    else:
        lengths = f"{cost.shortest:,} to {_count(cost.longest, 'byte')}"
    return Text.assemble(
        ("Cost  ", "bold"), f"An answer takes {lengths}. The pattern has {_count(cost.nodes, 'node')}, ",
        f"with {_count(report.choices, 'choice')} in the type.",
    )  # fmt: skip


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _printable(kind: str) -> Text:
    """Return a kind, cut where it is long, with what no terminal can show escaped."""
    short = kind if len(kind) <= LONGEST_KIND else f"{kind[:LONGEST_KIND]} …"
    return Text(short.encode(errors="backslashreplace").decode())


MAX_FAILURES = 10
"""Files that are named of those that could not be removed."""

cache_app = typer.Typer(help="What was learned about types, kept on disk for later runs.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")


@cache_app.command("info")
def cache_info() -> None:
    """Tell where the cache is, and how large."""
    disk = _cache()
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("folder", str(disk.folder))
    table.add_row("files", f"{len(disk.files()):,}")
    table.add_row("size", f"{disk.size():,} bytes")
    table.add_row("limit", f"{disk.most_bytes:,} bytes")
    Console().print(table)


@cache_app.command("clear")
def cache_clear() -> None:
    """Remove every file of the cache. Exits with 1 if some could not be removed."""
    cleared = _cache().clear()
    Console().print(f"{_count(len(cleared.removed), 'file')} removed.")
    if not cleared.failed:
        return
    console = Console(stderr=True, soft_wrap=True)
    console.print(Text("Could not be removed:", style="red"))
    for path, error in islice(cleared.failed.items(), MAX_FAILURES):
        console.print(Text(f"  {path}: {error.strerror}".encode(errors="backslashreplace").decode()))
    if len(cleared.failed) > MAX_FAILURES:
        console.print(f"  and {len(cleared.failed) - MAX_FAILURES:,} more")
    raise typer.Exit(1)


def _cache() -> DiskCache:
    disk = default_cache()
    if disk is None:
        Console().print("The cache is off: STRUCTURED_CACHE says so, or there is no home to keep it in.")
        raise typer.Exit(1)
    return disk


def _panels(showcase: Showcase, answer: object, *, width: int) -> Group:
    """Return a document, the type asked for and the object found, side by side where the terminal is wide enough."""
    document = Panel(Text(showcase.document), title="document", title_align="left", border_style="cyan")
    source = "\n\n".join(inspect.getsource(shown).strip() for shown in showcase.shown)
    asked = read_type(showcase.output_type).name
    wanted = Panel(
        Syntax(source, "python", background_color="default", word_wrap=True) if source else Text(asked),
        title=f"type: {asked}",
        title_align="left",
        border_style="blue",
    )
    found = Panel(Pretty(answer), title="object", title_align="left")
    found.border_style = "green"
    if width < 100:
        return Group(Rule(showcase.title, align="left"), document, wanted, found)
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(Group(document, found), wanted)
    return Group(Rule(showcase.title, align="left"), table)
