"""Output types whose answers are calls: of Python functions, or of tools that JSON Schemas describe.

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
from structured.output_types.description import describe
from structured.output_types.functions import ARGUMENTS, NAME, Call, Signature, Tool, signature_of
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


@dataclass(frozen=True, eq=False, repr=False)
class _CallType(JsonOutput[Any]):
    """Calls of functions or tools; a base class beside it says how their arguments are read and validated."""

    callables: Mapping[str, Callable[..., Any]] = field(kw_only=True)
    """The functions that may be called, by their names."""
    parallel: bool = field(kw_only=True)
    """Whether an answer is a list of calls."""

    def __repr__(self) -> str:
        names = [f"<tool {name}>" if isinstance(choice, Tool) else name for name, choice in self.callables.items()]
        return f"functions({', '.join([*names, *(['parallel=True'] if self.parallel else [])])})"

    def compilation(self) -> Compilation:
        """Return the compilation of the schema: arguments that are not required may be left out."""
        compilation = super().compilation()
        is_written = compilation.optional_properties == "written"
        return replace(compilation, optional_properties="omittable") if is_written else compilation

    def check(self) -> None:
        """Raise SchemaError where a rule is not supported, also in one function alone: a union would leave it out."""
        super().check()
        if len(self.callables) > 1:
            for choice in self.callables.values():
                call_type([choice]).check()

    def parse(self, text: str) -> Any:
        """Return the call that an answer says, or the list of calls. Raises ValueError if one is rejected."""
        calls = self._parse_calls(text)
        return [calls[position] for position in _positions_of_distinct(calls)] if self.parallel else calls[0]

    def settled(self, text: str) -> str:
        """Return an answer without calls that repeat an earlier one."""
        calls = self._parse_calls(text) if self.parallel else []
        positions = _positions_of_distinct(calls)
        if len(positions) == len(calls):
            return text
        calls_data = self.to_data(text)
        return self.from_data([calls_data[position] for position in positions])

    def _parse_calls(self, text: str) -> list[Call[Any]]:
        data: Any = super().parse(text)  # type: ignore[safe-super]  # of the class beside it
        calls = data if self.parallel else [data]
        return [Call(self.callables[call[NAME]], call[ARGUMENTS]) for call in calls]

    def plain(self, value: Any) -> Any:
        """Return calls as plain JSON data."""
        is_list = self.parallel and isinstance(value, list | tuple)
        calls_data: Any = [self._call_to_data(call) for call in value] if is_list else self._call_to_data(value)
        return super().plain(calls_data)  # type: ignore[safe-super]  # of the class beside it

    def _call_to_data(self, call: Any) -> Any:
        if not isinstance(call, Call):
            return call
        if call.name not in self.callables:
            raise ValueError(f"{call.name} is none of the functions: {', '.join(self.callables)}")
        return call.to_data()

    def describe(self) -> Description:
        """Return the functions in the style of a TypeScript interface."""
        task = TASK_IN_PARALLEL if self.parallel else TASK
        return type_description(describe(self.root), self.root, task=task)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self.callables.values()), self.parallel, self.layout, self.schema)


@dataclass(frozen=True, eq=False, repr=False)
class FunctionType(_CallType, PythonType[Any]):
    """Calls of Python functions, whose arguments Pydantic validates."""


@dataclass(frozen=True, eq=False, repr=False)
class ToolType(_CallType, JsonSchemaType):
    """Calls of tools, whose arguments `jsonschema` validates."""


def _positions_of_distinct(calls: list[Call[Any]]) -> list[int]:
    """Return the places of calls in a list, without those of calls that repeat an earlier one.

    A mask that forbids repetitions does not make a model stop: it changes an argument, such as 3 nights into 30.
    """
    positions: dict[str, int] = {}
    for position, call in enumerate(calls):
        positions.setdefault(json.dumps(call.to_data(), sort_keys=True), position)
    return list(positions.values())


def _restored(choices: tuple[Any, ...], parallel: bool, layout: JsonLayout, schema: Schema | bool) -> Any:
    return replace(call_type(choices, parallel=parallel), layout=layout, schema=schema)


@overload
def functions(*choices: Callable[..., R], parallel: Literal[False] = ...) -> OutputType[Call[R]]: ...
@overload
def functions(*choices: Callable[..., R], parallel: Literal[True]) -> OutputType[list[Call[R]]]: ...
@overload
def functions(*choices: Callable[..., Any] | Mapping[str, Any] | Tool, parallel: bool = ...) -> OutputType[Any]: ...
def functions(*choices: Callable[..., Any] | Mapping[str, Any] | Tool, parallel: bool = False) -> OutputType[Any]:
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
        SchemaError: There is no function, two have one name, tools and functions are mixed, a parameter has no
            annotation or one that cannot be resolved, or a function takes `**kwargs`.
        TypeError: `parallel` is neither True nor False.
    """
    return call_type(choices, parallel=parallel)


def call_type(choices: Sequence[Any], *, parallel: bool = False) -> FunctionType | ToolType:
    """Return the output type of a call of one of some functions or tools; see `functions`."""
    parallel = flag("parallel", parallel)
    tools_or_functions = [Tool.from_openai(choice) if isinstance(choice, Mapping) else choice for choice in choices]
    are_tools = [isinstance(choice, Tool) for choice in tools_or_functions]
    if not tools_or_functions:
        raise SchemaError("There is no function to choose", remedy="Give one at least: functions(book, weather).")
    if len(set(are_tools)) > 1:
        raise SchemaError(
            "Tools and functions are mixed, and are read by different rules",
            remedy="Write the functions as tools: Tool(name, parameters, implementation=function).",
        )
    return _tool_type(tools_or_functions, parallel) if are_tools[0] else _function_type(tools_or_functions, parallel)


def _tool_type(tools: list[Tool], parallel: bool) -> ToolType:
    """Return the type of calls of tools; the parameters of each are a document of their own, with their references."""
    callables = _index_by_name([(tool.name, tool) for tool in tools])
    documents = {f"tool:{position}": dict(tool.parameters) for position, tool in enumerate(tools)}
    branches: list[Schema] = [
        {
            "type": "object",
            **({"description": tool.description} if tool.description else {}),
            "properties": {NAME: {"const": tool.name}, ARGUMENTS: {"$ref": uri}},
            "required": [NAME, ARGUMENTS],
            "additionalProperties": False,
        }
        for tool, uri in zip(tools, documents, strict=True)
    ]
    call_schema: Schema = branches[0] if len(branches) == 1 else {"anyOf": branches}
    schema = {"type": "array", "items": call_schema} if parallel else call_schema
    source = JsonSchema(schema, documents=documents, name=_type_name(callables, parallel))
    assert not isinstance(source.schema, str), "it is read when it is made"
    return ToolType(source.name, source.schema, source=source, callables=callables, parallel=parallel)


def _function_type(functions: list[Any], parallel: bool) -> FunctionType:
    for function in functions:
        _check_function(function)
    signatures = [signature_of(function) for function in functions]
    callables = _index_by_name([(signature_of(function).name, function) for function in functions])
    call: Any = Union[tuple(signature.call for signature in signatures)]  # noqa: UP007  of as many as there are
    try:
        output = python_type(list[call] if parallel else call)
    except SchemaError:
        for signature in signatures:
            _check_parameters(signature)
        raise
    name, schema, adapter = _type_name(callables, parallel), output.schema, output.adapter
    return FunctionType(
        name, schema, adapter=adapter, annotation=output.annotation, callables=callables, parallel=parallel
    )


def _check_function(value: object) -> None:
    if not callable(value):
        remedy = "Pass functions, or the tools of OpenAI's API."
        remedy = "Pass each on its own: functions(*choices)." if isinstance(value, list | tuple) else remedy
        raise SchemaError(f"{described(value)} is no function", remedy=remedy)
    if isinstance(value, type) and hasattr(value, "__pydantic_validator__"):
        raise SchemaError(
            f"{value.__name__} is a type, which validates its values itself",
            remedy=f"Extract it as a type, or write a function that takes it: def f(value: {value.__name__}).",
        )


def _check_parameters(signature: Signature) -> None:
    """Raise SchemaError for the first parameter whose type Pydantic cannot describe."""
    for name, annotation in get_type_hints(signature.arguments, include_extras=True).items():
        try:
            python_type(get_args(annotation)[0])  # which is in Required, or in NotRequired
        except SchemaError as error:
            problem = f"The parameter {name} of {signature.name}: {error.problem}"
            path, keyword = error.schema_path, error.keyword
            raise SchemaError(problem, schema_path=path, keyword=keyword, remedy=error.remedy) from error


def _index_by_name(pairs: list[tuple[str, Callable[..., Any]]]) -> dict[str, Callable[..., Any]]:
    name, count = Counter(name for name, _ in pairs).most_common(1)[0]
    if count > 1:
        raise SchemaError(
            f"Two functions have the name {name!r}, by which they are chosen", remedy="Rename one, or leave it out."
        )
    return dict(pairs)


def _type_name(callables: Mapping[str, object], parallel: bool) -> str:
    """Return the name of the type in messages: `book | weather`, or the list of those."""
    name = " | ".join(callables)
    return f"list[{name}]" if parallel else name
