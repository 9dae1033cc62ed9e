"""The type that a command is asked for: by its name, or written on the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import typer

from structured.cli.fields import FieldListError, read_fields
from structured.cli.targets import load_target
from structured.errors import PatternError, SchemaError
from structured.output_types.choice import Choice
from structured.output_types.functions.call_types import FunctionType, ToolType, functions
from structured.output_types.functions.signature import is_function
from structured.output_types.grammar import SHIPPED, Grammar, ShippedName
from structured.output_types.json_schema import JsonSchema
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex

FIELDS_HELP = 'The type, written here in place of TYPE: "name: str, age: int | None".'
PATTERN_HELP = "A regular expression of Python in place of TYPE: the answer is a text that it matches as a whole."
GRAMMAR_HELP = f"A grammar in Lark's language in place of TYPE: a file, or one that ships: {', '.join(SHIPPED)}."
CHOICE_HELP = "One of the texts to choose from, in place of TYPE; once for each."


def read_type(
    target: str | None,
    fields: str | None = None,
    *,
    pattern: str | None = None,
    choices: list[str] | None = None,
    grammar: str | None = None,
) -> Any:
    """Return the type that is named, or written as a list of fields, a regular expression, some choices or a grammar.

    Raises `typer.BadParameter` where there is none, or more than one.
    """
    given = {
        "named": target is not None,
        "written as --fields": fields is not None,
        "written as --pattern": pattern is not None,
        "written as --choice": bool(choices),
        "written as --grammar": grammar is not None,
    }
    found = [how for how, is_given in given.items() if is_given]
    if len(found) > 1:
        raise typer.BadParameter(f"The type is {found[0]}, and {found[1]} as well. Leave one of them out.")
    try:
        if fields is not None:
            return read_fields(fields)
        if pattern is not None:
            return Regex(pattern)
        if choices:
            return Choice(choices)
        if grammar is not None:
            return _read_grammar(grammar)
    except (FieldListError, PatternError, SchemaError) as error:
        raise typer.BadParameter(str(error), param_hint=found[0].rpartition(" ")[2]) from error
    if target is None:
        raise typer.BadParameter("There is no type. Write module:Type, file.py:Type or schema.json.")
    return load_target(target)


@dataclass(frozen=True)
class AskedType:
    """The type as a command names it, to be read here and wherever else it is needed.

    Attributes:
        target: What names it; None if it is written.
        written: What it is written as, by the names of `read_type`.
        many: Whether a list of them is wanted.
    """

    target: str | None
    written: Mapping[str, Any]
    many: bool

    def read(self) -> Any:
        """Return the type. Raises `typer.BadParameter`."""
        found = read_type(self.target, **self.written)
        return _listed(found) if self.many else found


def _listed(output_type: Any) -> Any:
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
    if name in SHIPPED:
        return Grammar.named(cast("ShippedName", name))
    path = Path(name)
    if not path.is_file():
        raise typer.BadParameter(f"There is no file {name!r}. Grammars that ship: {', '.join(SHIPPED)}.")
    text = path.read_text(encoding="utf-8")
    return Grammar(text, name=path.stem, import_paths=[str(path.parent)])
