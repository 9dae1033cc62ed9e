"""Types as arguments: `module:Type`, `file.py:Type`, a JSON Schema in a file, or a type written as an option."""

import importlib
import importlib.util
import sys
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, cast, get_origin

import typer

from structured.errors import PatternError, SchemaError
from structured.extraction.documents.plain_text import read_text
from structured.integrations.server.field_lists import FieldListError, read_fields
from structured.output_types.call_types import FunctionType, ToolType, functions
from structured.output_types.choice import Choice
from structured.output_types.functions import is_function
from structured.output_types.grammar import SHIPPED_TITLES, Grammar, ShippedName
from structured.output_types.json_schema import JsonSchema
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex


def load_target(target: str) -> object:
    """Return the output type that an argument names. Raises `typer.BadParameter` where there is none."""
    if not target.endswith(".json"):
        return _load_object(target)
    path = Path(target)
    if not path.is_file():
        raise typer.BadParameter(f"There is no file {str(path)!r}.")
    try:
        schema = JsonSchema(read_text(path).text)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error.problem}", remedy=error.remedy.replace(", or pass a mapping", "")) from error
    return schema if isinstance(schema.schema, dict) and "title" in schema.schema else replace(schema, name=path.stem)


def _load_object(target: str) -> object:
    """Return the object that `module:Name` or `path/to/file.py:Name` names."""
    module, colon, name = target.rpartition(":")
    if not colon or not module or not name:
        raise typer.BadParameter(f"{target!r} names no type. Write module:Type, or path/to/file.py:Type.")
    value: object = _load_module(module)
    for part in name.split("."):
        if not hasattr(value, part):
            similar = get_close_matches(part, [member for member in dir(value) if not member.startswith("_")])
            types = _types_in(value)
            hint = f" Is it {' or '.join(similar)}?" if similar else f" It has {', '.join(types)}." if types else ""
            raise typer.BadParameter(f"There is no {part!r} in {module!r}.{hint}")
        value = getattr(value, part)
    return value


def _types_in(module: object) -> list[str]:
    """Return the names of what a module defines and can be extracted."""
    own = getattr(module, "__name__", None)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (
            isinstance(value, OutputType | JsonSchema)
            or get_origin(value) is not None
            or (getattr(value, "__module__", None) == own and (isinstance(value, type) or is_function(value)))
        )
    ]


def _load_module(module: str) -> ModuleType:
    """Return a module, by its name as seen from the working directory, or by its file."""
    is_file = module.endswith(".py")
    if is_file and not Path(module).is_file():
        raise typer.BadParameter(f"There is no file {module!r}.")
    sys.path.insert(0, str(Path(module).resolve().parent if is_file else Path.cwd()))
    try:
        return _run_file(Path(module)) if is_file else importlib.import_module(module)
    # The module is the user's own code, so anything may come out of it.
    except (Exception, SystemExit) as error:
        raise typer.BadParameter(f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error


def _run_file(path: Path) -> ModuleType:
    """Return the module of a file, under a name that no other module has."""
    name = f"inspected:{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None, "the name of the file ends in .py"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where annotations are looked up
    spec.loader.exec_module(module)
    return module


FIELDS_HELP = 'The type, written here in place of TYPE: "name: str, age: int | None".'
PATTERN_HELP = "A regular expression of Python in place of TYPE: the answer is a text that it matches as a whole."
GRAMMAR_HELP = f"A grammar in Lark's language in place of TYPE: a file, or one that ships: {', '.join(SHIPPED_TITLES)}."
CHOICE_HELP = "One of the texts to choose from, in place of TYPE; once for each."


def read_type(  # noqa: PLR0913  the ways to write a type
    target: str | None,
    fields: str | None = None,
    *,
    pattern: str | None = None,
    choices: list[str] | None = None,
    grammar: str | None = None,
    many: bool = False,
) -> Any:
    """Return the type that is named, or written as a list of fields, a regular expression, some choices or a grammar.

    With `many`, it is a list of these. Raises `typer.BadParameter` where there is none, or more than one.
    """
    ways: list[tuple[str, Any, Any]] = [
        ("its name", load_target, target),
        ("--fields", read_fields, fields),
        ("--pattern", Regex, pattern),
        ("--choice", Choice, choices or None),
        ("--grammar", _read_grammar, grammar),
    ]
    (name, read, argument), *others = [way for way in ways if way[2] is not None] or ways[:1]
    if argument is None:
        raise typer.BadParameter("There is no type. Write module:Type, file.py:Type or schema.json.")
    if others:
        raise typer.BadParameter(f"The type is given by {name} and by {others[0][0]}. Leave one of them out.")
    try:
        output_type = read(argument)
    except (FieldListError, PatternError, SchemaError) as error:
        if read is load_target:
            raise
        raise typer.BadParameter(str(error), param_hint=name) from error
    return _list_type(output_type) if many else output_type


def _list_type(output_type: Any) -> Any:
    """Return the type of a list of something; of a function, that of a list of calls."""
    if is_function(output_type):
        return functions(output_type, parallel=True)
    if isinstance(output_type, FunctionType | ToolType):
        raise typer.BadParameter("--many is for types and single functions. Write functions(…, parallel=True).")
    if isinstance(output_type, JsonSchema):
        raise typer.BadParameter("--many is for Python types. Write the array into the JSON Schema.")
    if isinstance(output_type, OutputType):
        raise typer.BadParameter("--many is for Python types. Repeat in the pattern or grammar what is to be repeated.")
    return list[output_type]


def _read_grammar(name: str) -> Grammar[str]:
    """Return a grammar that ships, or that of a file, which may import others beside it."""
    if name in SHIPPED_TITLES:
        return Grammar.named(cast("ShippedName", name))
    path = Path(name)
    if not path.is_file():
        raise typer.BadParameter(f"There is no file {name!r}. Grammars that ship: {', '.join(SHIPPED_TITLES)}.")
    return Grammar(read_text(path).text, name=path.stem, import_paths=[str(path.parent)])
