"""Field lists: types that are written as Python writes the parameters of a function, `name: str, age: int | None`.

A list is read and never evaluated. A default is the description of its field: `name: str = "the full name"`. Both the
command line and the server take field lists; this is the first place that both may import from.
"""

import ast
import keyword
import re
import warnings
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal, Optional, Union

from pydantic import BaseModel, Field, create_model
from rich.cells import cell_len

from structured.errors.values import nearest

MODEL_NAME = "Record"
"""The name of the model that is made."""

_SIMPLE_TYPES = {kind.__name__: kind for kind in (str, int, float, bool, date, datetime, time, Decimal)}
_GENERIC_EXAMPLES = {
    "list": "list[str]",
    "dict": "dict[str, int]",
    "Literal": 'Literal["a", "b"]',
    "Optional": "Optional[str]",
    "Union": "Union[str, int]",
}
"""The types with arguments, by their names, each with an example for messages."""

TYPE_NAMES = f"{', '.join(_SIMPLE_TYPES)}, list[…], dict[str, …], Literal[…], Optional[…], and X | Y, X | None"
"""The types that a list may name, as messages list them."""

_SOURCE_START, _SOURCE_END = "def _(*,\n", "\n): pass"
"""The text around a list that makes it keyword-only parameters of a function: descriptions may come in any order."""


class FieldListError(ValueError):
    """A list of fields that is no type: the problem, the line of the list, and where in it, in characters."""

    def __init__(self, problem: str, line: str, start: int, end: int) -> None:
        self.problem, self.line, self.start, self.end = problem, line, start, end
        before = "".join(character if character == "\t" else " " * cell_len(character) for character in line[:start])
        marks = "^" * max(cell_len(line[start:end]), 1)
        super().__init__(f"{problem}\n\n  {line}\n  {before}{marks}\n\nTypes are {TYPE_NAMES}.")


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
        return create_model(MODEL_NAME, __config__={"protected_namespaces": ()}, **fields)


class _Reader:
    """A list of fields, read as Python."""

    def __init__(self, text: str) -> None:
        self.lines = re.split("\r\n|\r|\n", text)  # as Python counts them
        if not text.strip():
            raise self.error("There is no field. Write name: str, say.")
        try:
            body = ast.parse(f"{_SOURCE_START}{text}{_SOURCE_END}").body
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
        parameters = self.parameters
        for parameter in (*parameters.posonlyargs, *parameters.args, parameters.vararg, parameters.kwarg):
            if parameter is not None:
                raise self.error("A field is written name: type, without stars.", parameter)
        for argument, description_node in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
            match description_node:
                case None:
                    yield argument, None
                case ast.Constant(value=str() as description):
                    yield argument, description
                case _:
                    problem = "Write the description of the field after =, in quotation marks."
                    raise self.error(problem, description_node)

    def type_of(self, node: ast.expr) -> Any:
        """Return the type of an annotation."""
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Name(id=name) if name in _SIMPLE_TYPES:
                return _SIMPLE_TYPES[name]
            case ast.Name(id=name) if name in _GENERIC_EXAMPLES:
                raise self.error(f"{name} of what? Write {_GENERIC_EXAMPLES[name]}.", node)
            case ast.Name(id=name):
                suggestion = nearest(name, (*_SIMPLE_TYPES, *_GENERIC_EXAMPLES))
                raise self.error(f"{name!r} is no type here.{suggestion}", node)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._union([left, right])
            case ast.Subscript(value=ast.Name(id=name), slice=subscript) if name in _GENERIC_EXAMPLES:
                return self._generic(name, subscript, node)
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

    def _generic(self, name: str, subscript: ast.expr, node: ast.expr) -> Any:
        arguments = subscript.elts if isinstance(subscript, ast.Tuple) else [subscript]
        match name, arguments:
            case "list", [item]:
                return list[self.type_of(item)]  # type: ignore[misc]  # types are values here
            case "dict", [ast.Name(id="str"), value]:
                return dict[str, self.type_of(value)]  # type: ignore[misc]
            case "dict", [key, _]:
                raise self.error("The keys of a dict are str.", key)
            case "Optional", [item]:
                return Optional[self.type_of(item)]  # noqa: UP045  as it was written
            case "Union", [_, *_]:
                return self._union(arguments)
            case "Literal", [_, *_]:
                return Literal[tuple(map(self._choice, arguments))]
            case _:
                raise self.error(f"Write {_GENERIC_EXAMPLES[name]}.", node)

    def _union(self, alternatives: Iterable[ast.expr]) -> Any:
        return Union[tuple(map(self.type_of, alternatives))]  # noqa: UP007  a tuple of types

    def _choice(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | str() | None as choice):
                return choice
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)) if number is not True:
                return -number
        problem = 'A choice is a text in quotation marks, a whole number, True, False or None: Literal["a", 1].'
        raise self.error(problem, node)

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


def _characters(line: str, offset: int) -> int:
    """Return an offset in characters; those of syntax trees are in bytes of UTF-8."""
    return len(line.encode()[:offset].decode(errors="ignore"))
