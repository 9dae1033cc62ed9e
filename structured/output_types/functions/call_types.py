"""Output types whose answers are calls: of Python functions, or of tools that are told by JSON Schemas.

An answer is `{"name": …, "arguments": {…}}`, or a list of those, and is described, compiled and read like any other
JSON. Then each is made a `Call`.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, Union, get_args, overload

from typing_extensions import get_type_hints

from structured.errors import SchemaError
from structured.errors.arguments import flag
from structured.errors.values import described
from structured.json_schema.document.location import Compilation, Schema
from structured.output_types.description import describe, layouts
from structured.output_types.functions.call import Call, Tool
from structured.output_types.functions.signature import ARGUMENTS, NAME, Signature, signature_of
from structured.output_types.json_output import JsonLayout, JsonOutput, type_description
from structured.output_types.json_schema import JsonSchema, JsonSchemaType
from structured.output_types.output_type import Description, OutputType
from structured.output_types.python_type import PythonType, python_type

R = TypeVar("R")

TASK = (
    "Choose the function that does what the text asks for, and give its arguments as the text states them. Answer with "
    "JSON only. Leave out what the text does not state, if the function allows it."
)
TASK_IN_PARALLEL = (
    "List the calls of functions that do what the text asks for, in its order, with arguments as the text states them. "
    "Answer with JSON only. Leave out what the text does not state, if the function allows it."
)


@dataclass(frozen=True)
class Choices:
    """The functions that may be called, by their names, and whether an answer is a list of calls."""

    by_name: Mapping[str, Callable[..., Any]]
    parallel: bool

    def calls(self, data: Any) -> Any:
        """Return the calls that validated data say; of equal ones in a list, the first."""
        if self.parallel:
            calls = self._each_call(data)
            return [calls[place] for place in _first_of_equal(calls)]
        return Call(self.by_name[data[NAME]], data[ARGUMENTS])

    def settled(self, output_type: JsonOutput[Any], text: str, data: Any) -> str:
        """Return an answer without calls that repeat an earlier one, given its validated data."""
        places = _first_of_equal(self._each_call(data)) if self.parallel else []
        if not self.parallel or len(places) == len(data):
            return text
        written = output_type.to_data(text)
        return output_type.from_data([written[place] for place in places])

    def _each_call(self, data: Any) -> list[Call[Any]]:
        return [Call(self.by_name[one[NAME]], one[ARGUMENTS]) for one in data]

    def plain(self, value: Any) -> Any:
        """Return calls as plain data; what is no call is left as it is."""
        if self.parallel and isinstance(value, list | tuple):
            return [self._plain(one) for one in value]
        return self._plain(value)

    def _plain(self, value: Any) -> Any:
        if not isinstance(value, Call):
            return value
        if value.name not in self.by_name:
            raise ValueError(f"{value.name} is none of the functions: {', '.join(self.by_name)}")
        return value.to_data()

    @property
    def shown(self) -> str:
        """How the type is written."""
        tools = [f"<tool {name}>" if isinstance(one, Tool) else name for name, one in self.by_name.items()]
        return f"functions({', '.join([*tools, *(['parallel=True'] if self.parallel else [])])})"

    def check(self) -> None:
        """Raise SchemaError for a function of which no call can be written: a union leaves out what nothing matches."""
        if len(self.by_name) > 1:
            for one in self.by_name.values():
                call_type([one]).check()

    def describe(self, output_type: JsonOutput[Any]) -> Description:
        """Return how a prompt shows the functions."""
        root = output_type.root
        return type_description(describe(root), layouts(root), task=TASK_IN_PARALLEL if self.parallel else TASK)

    def remade(self, output_type: JsonOutput[Any]) -> tuple[Any, ...]:
        """Return what pickles an output type: its functions, and what was changed of it."""
        functions_there = tuple(self.by_name.values())
        return _remade, (functions_there, self.parallel, output_type.layout, output_type.schema)


@dataclass(frozen=True, eq=False, repr=False)
class FunctionType(PythonType[Any]):
    """Calls of Python functions, whose arguments Pydantic validates."""

    choices: Choices = field(kw_only=True)

    def __repr__(self) -> str:
        return self.choices.shown

    def compilation(self) -> Compilation:
        """Return what compiles the schema: what has a default may be left out."""
        return _omittable(super().compilation())

    def check(self) -> None:
        """Raise SchemaError where a rule is not supported."""
        super().check()
        self.choices.check()

    def parse(self, text: str) -> Any:
        """Return the call that an answer says, or the list of calls. Raises Pydantic's ValidationError."""
        return self.choices.calls(super().parse(text))

    def settled(self, text: str) -> str:
        """Return an answer without calls that repeat an earlier one."""
        return self.choices.settled(self, text, super().parse(text))

    def plain(self, value: Any) -> Any:
        """Return a call as plain JSON data."""
        return super().plain(self.choices.plain(value))

    def describe(self) -> Description:
        """Return the functions in the style of a TypeScript interface."""
        return self.choices.describe(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.choices.remade(self)


@dataclass(frozen=True, eq=False, repr=False)
class ToolType(JsonSchemaType):
    """Calls of tools, whose arguments `jsonschema` validates."""

    choices: Choices = field(kw_only=True)

    def __repr__(self) -> str:
        return self.choices.shown

    def compilation(self) -> Compilation:
        """Return what compiles the schema: what is not required may be left out."""
        return _omittable(super().compilation())

    def check(self) -> None:
        """Raise SchemaError where a rule is not supported."""
        super().check()
        self.choices.check()

    def parse(self, text: str) -> Any:
        """Return the call that an answer says, or the list of calls. Raises ValueError if one is rejected."""
        return self.choices.calls(super().parse(text))

    def settled(self, text: str) -> str:
        """Return an answer without calls that repeat an earlier one."""
        return self.choices.settled(self, text, super().parse(text))

    def plain(self, value: Any) -> Any:
        """Return a call as plain JSON data."""
        return super().plain(self.choices.plain(value))

    def describe(self) -> Description:
        """Return the tools in the style of a TypeScript interface."""
        return self.choices.describe(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.choices.remade(self)


def _first_of_equal(calls: list[Call[Any]]) -> list[int]:
    """Return the places of calls in a list, without those of calls that repeat an earlier one.

    A mask that forbids repetitions does not make a model stop: it changes an argument, such as 3 nights into 30.
    """
    places: dict[str, int] = {}
    for place, call in enumerate(calls):
        places.setdefault(json.dumps(call.to_data(), sort_keys=True), place)
    return list(places.values())


def _omittable(compilation: Compilation) -> Compilation:
    return replace(compilation, optional="omittable") if compilation.optional == "written" else compilation


def _remade(choices: tuple[Any, ...], parallel: bool, layout: JsonLayout, schema: Schema | bool) -> Any:
    return replace(call_type(choices, parallel=parallel), layout=layout, schema=schema)


@overload
def functions(*choices: Mapping[str, Any] | Tool, parallel: Literal[False] = ...) -> OutputType[Call[Any]]: ...
@overload
def functions(*choices: Mapping[str, Any] | Tool, parallel: Literal[True]) -> OutputType[list[Call[Any]]]: ...
@overload
def functions(*choices: Callable[..., R], parallel: Literal[False] = ...) -> OutputType[Call[R]]: ...
@overload
def functions(*choices: Callable[..., R], parallel: Literal[True]) -> OutputType[list[Call[R]]]: ...
@overload
def functions(*choices: Callable[..., Any] | Mapping[str, Any], parallel: bool = ...) -> OutputType[Any]: ...
def functions(*choices: Callable[..., Any] | Mapping[str, Any], parallel: bool = False) -> OutputType[Any]:
    """Return the output type of a call of one of some functions.

    `extract(functions(weather, book), "A room in Porto, please.")` → `book(city='Porto')`

    Parameters:
        choices: The functions: with annotated parameters, and a docstring in the style of Google, NumPy or reST, which
            describes them to the model. Also methods, classes other than Pydantic's, and `functools.partial`, whose
            fixed arguments are not asked for. Or tools: each a `Tool`, or an entry of the `tools` of OpenAI's API.
        parallel: Whether an answer is a list of calls. A call that repeats an earlier one is dropped.

    Returns:
        A type whose values are `Call`; with `parallel`, `list[Call]`. It takes the options of JSON. A parameter with a
        default may be left out of an answer, and so may fields with defaults of what it holds.

    Raises:
        SchemaError: There is no function, two have one name, tools stand beside functions, a parameter has no
            annotation or one that cannot be resolved, or a function takes `**kwargs`.
        TypeError: `parallel` is neither True nor False.
    """
    return call_type(choices, parallel=parallel)


def call_type(choices: Sequence[Any], *, parallel: bool = False) -> FunctionType | ToolType:
    """Return the output type of a call of one of some functions or tools; see `functions`."""
    parallel = flag("parallel", parallel)
    read = [Tool.from_openai(one) if isinstance(one, Mapping) else one for one in choices]
    are_tools = [isinstance(one, Tool) for one in read]
    if not read:
        raise SchemaError("There is no function to choose", remedy="Give one at least: functions(book, weather).")
    if len(set(are_tools)) > 1:
        raise SchemaError(
            "Tools stand beside functions, and are read by other rules",
            remedy="Write the functions as tools: Tool(name, parameters, implementation=function).",
        )
    return _tool_type(read, parallel) if are_tools[0] else _function_type(read, parallel)


def _tool_type(tools: list[Tool], parallel: bool) -> ToolType:
    """Return the type of calls of tools; the parameters of each are a document of their own, with their references."""
    by_name = _by_name([(tool.name, tool) for tool in tools])
    documents = {f"tool:{position}": dict(tool.parameters) for position, tool in enumerate(tools)}
    branches = [_tool_call(tool, uri) for tool, uri in zip(tools, documents, strict=True)]
    one: Schema = branches[0] if len(branches) == 1 else {"anyOf": branches}
    schema = {"type": "array", "items": one} if parallel else one
    source = JsonSchema(schema, documents=documents, name=_type_name(by_name, parallel))
    assert not isinstance(source.schema, str), "it is read when it is made"
    return ToolType(source.name, source.schema, source=source, choices=Choices(by_name, parallel))


def _tool_call(tool: Tool, uri: str) -> Schema:
    """Return the schema of a call of a tool."""
    said = {"description": tool.description} if tool.description else {}
    return {
        "type": "object",
        **said,
        "properties": {NAME: {"const": tool.name}, ARGUMENTS: {"$ref": uri}},
        "required": [NAME, ARGUMENTS],
        "additionalProperties": False,
    }


def _function_type(given: list[Any], parallel: bool) -> FunctionType:
    """Return the type of calls of functions."""
    for one in given:
        _check_function(one)
    signatures = [signature_of(one) for one in given]
    by_name = _by_name([(known.name, one) for known, one in zip(signatures, given, strict=True)])
    called: Any = Union[tuple(known.call for known in signatures)]  # noqa: UP007  of as many as there are
    try:
        known = python_type(list[called] if parallel else called)
    except SchemaError:
        for one in signatures:
            _check_parameters(one)
        raise
    return FunctionType(
        _type_name(by_name, parallel),
        known.schema,
        adapter=known.adapter,
        annotation=known.annotation,
        choices=Choices(by_name, parallel),
    )


def _check_function(given: object) -> None:
    if not callable(given):
        remedy = "Pass functions, or the tools of OpenAI's API."
        if isinstance(given, list | tuple):
            remedy = "Pass each on its own: functions(*choices)."
        raise SchemaError(f"{described(given)} is no function", remedy=remedy)
    if isinstance(given, type) and hasattr(given, "__pydantic_validator__"):
        raise SchemaError(
            f"{given.__name__} is a type, which validates its values itself",
            remedy=f"Extract it as a type, or write a function that takes it: def f(value: {given.__name__}).",
        )


def _check_parameters(signature: Signature) -> None:
    """Raise SchemaError for the first parameter whose type Pydantic cannot describe."""
    for name, annotation in get_type_hints(signature.arguments, include_extras=True).items():
        try:
            python_type(get_args(annotation)[0])  # which is in Required, or in NotRequired
        except SchemaError as error:
            raise SchemaError(
                f"The parameter {name} of {signature.name}: {error.problem}",
                schema_path=error.schema_path,
                keyword=error.keyword,
                remedy=error.remedy,
            ) from error


def _by_name(named: list[tuple[str, Callable[..., Any]]]) -> dict[str, Callable[..., Any]]:
    name, count = Counter(name for name, _ in named).most_common(1)[0]
    if count > 1:
        raise SchemaError(
            f"Two functions have the name {name!r}, by which they are chosen", remedy="Rename one, or leave it out."
        )
    return dict(named)


def _type_name(by_name: Mapping[str, object], parallel: bool) -> str:
    """Return what the type is called in messages: `book | weather`, or the list of those."""
    name = " | ".join(by_name)
    return f"list[{name}]" if parallel else name
