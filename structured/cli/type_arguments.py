"""Types as arguments: `module:Type`, `file.py:Type`, a JSON Schema in a file, or a type written as an option.

A list of fields, `name: str, age: int | None`, is read as Python reads the parameters of a function, and never
evaluated. A default is the description of its field: `name: str = "the full name"`.
"""

import ast
import importlib
import importlib.util
import keyword
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Optional, Union, cast

import typer
from pydantic import BaseModel, Field, create_model
from rich.cells import cell_len

from structured.errors import PatternError, SchemaError
from structured.errors.values import nearest
from structured.output_types.call_types import FunctionType, ToolType, functions
from structured.output_types.choice import Choice
from structured.output_types.functions import is_function
from structured.output_types.grammar import SHIPPED, Grammar, ShippedName
from structured.output_types.json_schema import JsonSchema
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex

NAME = "Record"
"""The name of the type."""

_PLAIN: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "date": date,
    "datetime": datetime,
    "time": time,
    "Decimal": Decimal,
}
_GENERIC = ("list", "dict", "Literal", "Optional", "Union")

KNOWN = f"{', '.join(_PLAIN)}, list[…], dict[str, …], Literal[…], Optional[…], and X | Y, X | None"
"""The types that a list may name, for people."""

_BEFORE, _AFTER = "def _(*,\n", "\n): pass"
"""The text around a list that makes it keyword-only parameters of a function: descriptions may come in any order."""


class FieldListError(ValueError):
    """A list of fields that is no type: the problem, the line of the list, and where in it, in characters."""

    def __init__(self, problem: str, line: str, start: int, end: int) -> None:
        self.problem, self.line, self.start, self.end = problem, line, start, end
        before = "".join(character if character == "\t" else " " * cell_len(character) for character in line[:start])
        marks = "^" * max(cell_len(line[start:end]), 1)
        super().__init__(f"{problem}\n\n  {line}\n  {before}{marks}\n\nTypes are {KNOWN}.")


def read_fields(text: str) -> type[BaseModel]:
    """Return the model of a list of fields: `name: str, age: int | None`. Raises FieldListError."""
    reader = _Reader(text)
    fields: dict[str, Any] = {}
    for argument, description in reader.arguments():
        name = argument.arg
        if name in fields:
            raise reader.error(f"There are two fields {name!r}.", argument)
        if name.startswith("_") or (name.startswith("model_") and hasattr(BaseModel, name)):
            raise reader.error(f"A field of Pydantic cannot be called {name!r}.", argument)
        if argument.annotation is None:
            raise reader.error(f"The field {name!r} has no type. Write {name}: str, say.", argument)
        fields[name] = (reader.type_of(argument.annotation), Field(description=description))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a field may be called `json`, like a method
        return create_model(NAME, __config__={"protected_namespaces": ()}, **fields)


class _Reader:
    """A list of fields, read as Python."""

    def __init__(self, text: str) -> None:
        self.lines = re.split("\r\n|\r|\n", text)  # as Python counts them
        if not text.strip():
            raise self.error("There is no field. Write name: str, say.")
        try:
            body = ast.parse(f"{_BEFORE}{text}{_AFTER}").body
        except SyntaxError as error:
            raise self._syntax_error(error) from None
        # NUL characters, and brackets beyond all measure.
        except (ValueError, RecursionError, MemoryError) as error:
            raise self.error(f"This cannot be read: {error}.") from None
        match body:
            case [ast.FunctionDef(name="_", body=[ast.Pass()], returns=None) as function]:
                self.parameters = function.args
            case _:
                raise self.error("This is more than a list of fields, name: type.")

    def arguments(self) -> Iterator[tuple[ast.arg, str | None]]:
        """Yield each field with its description."""
        listed = self.parameters
        for other in (*listed.posonlyargs, *listed.args, listed.vararg, listed.kwarg):
            if other is not None:
                raise self.error("A field is written name: type, without stars.", other)
        for argument, default in zip(listed.kwonlyargs, listed.kw_defaults, strict=True):
            match default:
                case None:
                    yield argument, None
                case ast.Constant(value=str() as description):
                    yield argument, description
                case _:
                    problem = "Write the description of the field after =, in quotation marks."
                    raise self.error(problem, default)

    def type_of(self, node: ast.expr) -> Any:
        """Return the type of an annotation."""
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Name(id=name) if name in _PLAIN:
                return _PLAIN[name]
            case ast.Name(id=name) if name in _GENERIC:
                raise self.error(f"{name} of what? Write {self._example(name)}.", node)
            case ast.Name(id=name):
                raise self.error(f"{name!r} is no type here.{nearest(name, (*_PLAIN, *_GENERIC))}", node)
            case ast.BinOp(op=ast.BitOr()):
                return self._union(_alternatives(node))
            case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in _GENERIC:
                return self._generic(name, inside, node)
            case _:
                raise self.error("This is no type here.", node)

    def error(self, problem: str, node: ast.expr | ast.arg | None = None) -> FieldListError:
        """Return the error of a part of the list, or of the whole list."""
        if node is None or not 2 <= node.lineno <= len(self.lines) + 1:
            return FieldListError(problem, self.lines[0], 0, len(self.lines[0]))
        line = self.lines[node.lineno - 2]
        start = _characters(line, node.col_offset)
        end = _characters(line, node.end_col_offset or 0) if node.end_lineno == node.lineno else len(line)
        if isinstance(node, ast.arg):
            end = start + len(node.arg)
        return FieldListError(problem, line, start, end)

    def _generic(self, name: str, inside: ast.expr, node: ast.expr) -> Any:
        several = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        match name, several:
            case "list", [item]:
                return list[self.type_of(item)]  # type: ignore[misc]  # types are values here
            case "dict", [ast.Name(id="str"), value]:
                return dict[str, self.type_of(value)]  # type: ignore[misc]
            case "dict", [key, _]:
                raise self.error("The keys of a dict are str.", key)
            case "Optional", [item]:
                return Optional[self.type_of(item)]  # noqa: UP045  as it was written
            case "Union", [_, *_]:
                return self._union(several)
            case "Literal", [_, *_]:
                return Literal[tuple(map(self._choice, several))]
            case _:
                raise self.error(f"Write {self._example(name)}.", node)

    def _union(self, alternatives: Iterable[ast.expr]) -> Any:
        return Union[tuple(map(self.type_of, alternatives))]  # noqa: UP007  a tuple of types

    def _choice(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | str() | None as choice):
                return choice
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)) if number is not True:
                return -number
        raise self.error(
            'A choice is a text in quotation marks, a whole number, True, False or None: Literal["a", 1].', node
        )

    def _syntax_error(self, error: SyntaxError) -> FieldListError:
        """Return the error of a list that is no Python."""
        number = (error.lineno or 2) - 2
        if not 0 <= number < len(self.lines):  # at the bracket after the list
            return FieldListError("Something is missing at the end.", self.lines[-1], len(self.lines[-1]), 0)
        line, start = self.lines[number], max((error.offset or 1) - 1, 0)
        end = error.end_offset - 1 if error.end_offset and error.end_lineno == error.lineno else start + 1
        word = line[start:end].strip()
        if keyword.iskeyword(word):
            return FieldListError(f"A field cannot be called {word!r}, which is a word of Python.", line, start, end)
        return FieldListError(f"This cannot be read: {error.msg.rstrip('.?')}.", line, start, max(end, start + 1))

    @staticmethod
    def _example(name: str) -> str:
        return {
            "list": "list[str]",
            "dict": "dict[str, int]",
            "Literal": 'Literal["a", "b"]',
            "Optional": "Optional[str]",
            "Union": "Union[str, int]",
        }[name]


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """Return the types of a union, in order: `a | b | c`."""
    found: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _characters(line: str, offset: int) -> int:
    """Return an offset in characters; those of syntax trees are in bytes of UTF-8."""
    return len(line.encode()[:offset].decode(errors="ignore"))


def load_target(target: str) -> object:
    """Return the output type that an argument names. Raises `typer.BadParameter` where there is none."""
    return _load_schema(Path(target)) if target.endswith(".json") else _load(target)


def _load_schema(path: Path) -> JsonSchema:
    """Return the output type of a file with a JSON Schema."""
    if not path.is_file():
        raise typer.BadParameter(f"There is no file {str(path)!r}.")
    schema = JsonSchema(path.read_text(encoding="utf-8"))
    return schema if isinstance(schema.schema, dict) and "title" in schema.schema else replace(schema, name=path.stem)


def _load(target: str) -> object:
    """Return the object that `module:Name` or `path/to/file.py:Name` names."""
    source, colon, name = target.rpartition(":")
    if not colon or not source or not name:
        raise typer.BadParameter(f"{target!r} names no type. Write module:Type, or path/to/file.py:Type.")
    value: object = _load_module(source)
    for part in name.split("."):
        if not hasattr(value, part):
            near = get_close_matches(part, [member for member in dir(value) if not member.startswith("_")])
            hint = f" Is it {' or '.join(near)}?" if near else ""
            raise typer.BadParameter(f"There is no {part!r} in {source!r}.{hint}")
        value = getattr(value, part)
    return value


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
    options = {"--fields": fields, "--pattern": pattern, "--choice": choices or None, "--grammar": grammar}
    sources = [name for name, value in {"its name": target, **options}.items() if value is not None]
    if len(sources) > 1:
        raise typer.BadParameter(f"The type is given by {sources[0]} and by {sources[1]}. Leave one of them out.")
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
        raise typer.BadParameter(str(error), param_hint=sources[0]) from error
    if target is None:
        raise typer.BadParameter("There is no type. Write module:Type, file.py:Type or schema.json.")
    return load_target(target)


@dataclass(frozen=True)
class TypeArgument:
    """The type as a command names it, which each process reads for itself.

    `target` is its name, or `written` has the options that say it, by the parameters of `read_type`.
    """

    target: str | None
    written: Mapping[str, Any]
    many: bool

    def read(self) -> Any:
        """Return the type. Raises `typer.BadParameter`."""
        output_type = read_type(self.target, **self.written)
        return _listed(output_type) if self.many else output_type


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
