"""Functions and tools that a model may call: the signatures of functions, and the calls, which are not run yet.

The type of a function's arguments is a `TypedDict` with a key for each parameter. Keys may have any name, and one with
a default may be left out, and is then left out of the call. Rejected: a Pydantic model, whose fields may not be called
`copy` or `_x`; Pydantic's own schema of arguments, which has them by position or by name, and no `*args`.
"""

import functools
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Annotated, Any, Generic, Literal, NotRequired, Required, Self, TypeVar

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import SchemaSerializer, core_schema
from typing_extensions import TypedDict

from structured.errors import SchemaError
from structured.errors.arguments import check_fields, flag, instance, or_none, text
from structured.errors.values import described, message, nearest, shown
from structured.output_types.json_schema import JsonSchema


def read_docstring(documented: Any) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring before its first section, and its parameters, each in one line."""
    from docstring_parser import ParseError, parse  # which only functions need

    docstring = inspect.getdoc(documented) or ""
    try:
        parsed = parse(docstring)
    except ParseError:  # in no known style
        return _line(docstring), {}
    descriptions = {parameter.arg_name.lstrip("*"): _line(parameter.description or "") for parameter in parsed.params}
    return _line(parsed.description or ""), descriptions


def _line(text: str) -> str:
    return " ".join(text.split())


NAME, ARGUMENTS = "name", "arguments"
"""The members of a call as JSON."""


@dataclass(frozen=True, eq=False)
class Signature:
    """The name of a function, its parameters that an answer gives, and the type of a call."""

    name: str
    parameters: tuple[Parameter, ...]
    by_position: frozenset[str]
    """Parameters that are passed by position, and so are never left out."""
    arguments: Any
    """The type of the arguments, a `TypedDict`."""
    call: Any
    """The type of a call as JSON: `{"name": …, "arguments": {…}}`."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Signature":
        """Read the signature of a function. Raises SchemaError for what an answer cannot give exactly."""
        unwrapped = function.func if isinstance(function, functools.partial) else function
        summary, descriptions = read_docstring(unwrapped)
        shown_name = str(getattr(unwrapped, "__name__", None) or shown(unwrapped))
        parameters = _parameters(function, shown_name)
        hints = _annotations_of(unwrapped, shown_name)
        has_var_positional = any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)
        last_positional_kind = Parameter.POSITIONAL_OR_KEYWORD if has_var_positional else Parameter.POSITIONAL_ONLY
        by_position = frozenset(parameter.name for parameter in parameters if parameter.kind <= last_positional_kind)
        fields: dict[str, Any] = {}
        for parameter in parameters:
            annotation = hints.get(parameter.name, parameter.annotation)
            is_required = parameter.name in by_position
            fields[parameter.name] = _field(parameter, annotation, descriptions, shown_name, is_required=is_required)
        name = _name(unwrapped)
        arguments = _typed_dict(name, fields)
        call = _typed_dict(name, {NAME: Literal[name], ARGUMENTS: arguments})
        call.__doc__ = summary
        return cls(name, parameters, by_position, arguments, call)

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise TypeError for an argument that has no parameter, and for a parameter that needs one and has none."""
        names = [parameter.name for parameter in self.parameters]
        for name in arguments:
            if name not in names:
                hint = f"Its parameters are {', '.join(names)}." if names else "It takes none."
                raise TypeError(f"{self.name} has no parameter {name!r}.{nearest(name, names)} {hint}")
        for name in names:
            if name not in arguments and name in self.arguments.__required_keys__:
                raise TypeError(f"The parameter {name} of {self.name} has no argument, and may not be left out.")

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.arguments)

    def to_plain_data(self, arguments: Mapping[str, Any]) -> Any:
        """Return arguments as plain JSON data."""
        return self._adapter.dump_python(dict(arguments), mode="json", by_alias=True)

    def positional_and_named(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return how arguments are passed: those by position, and those by name."""
        by_name = dict(arguments)
        names = [parameter.name for parameter in self.parameters if parameter.name in self.by_position]
        by_position = [by_name.pop(name) for name in names]
        for parameter in self.parameters:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                by_position += by_name.pop(parameter.name, ())
        return by_position, by_name


def is_function(value: object) -> bool:
    """Tell whether something is a function, a method or a `functools.partial`, and so no type."""
    return inspect.isroutine(value) or isinstance(value, functools.partial)


_cached_signature = functools.lru_cache(maxsize=256)(Signature.of)


def signature_of(function: Callable[..., Any]) -> Signature:
    """Return the signature of a function, which is read once where it has a hash."""
    try:
        hash(function)
    except Exception:  # noqa: BLE001  the object of a method has code of its own
        return Signature.of(function)
    return _cached_signature(function)


def _typed_dict(name: str, fields: Mapping[str, Any]) -> Any:
    make: Any = TypedDict
    return make(name, fields)


def _parameters(function: Callable[..., Any], callee: str) -> tuple[Parameter, ...]:
    """Return the parameters that are open: what `functools.partial` fixes is not asked for."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise SchemaError(
            f"{callee} has no signature that Python knows: {message(error)}",
            remedy="Write a function that calls it, with annotated parameters.",
        ) from error
    bound_arguments = function.keywords if isinstance(function, functools.partial) else {}
    for parameter in signature.parameters.values():
        if parameter.kind is Parameter.VAR_KEYWORD:
            raise SchemaError(
                f"{callee} takes **{parameter.name}, whose names are not known and may be those of other parameters",
                remedy="Write a function that calls it, with a parameter for each name; or with one dict.",
            )
    return tuple(parameter for parameter in signature.parameters.values() if parameter.name not in bound_arguments)


def _annotations_of(unwrapped: Any, callee: str) -> dict[str, Any]:
    """Return the annotations of a function, or of what makes the instances of a class, with names looked up."""
    annotated_function = inspect.getattr_static(unwrapped, "__init__") if isinstance(unwrapped, type) else unwrapped
    try:
        return typing.get_type_hints(annotated_function, include_extras=True)
    except (NameError, SyntaxError, AttributeError) as error:
        raise SchemaError(
            f"An annotation of {callee} cannot be resolved: {message(error)}",
            remedy="Define the type in the same module, outside of functions, before the function is used.",
        ) from error
    except TypeError:  # no function of Python: its parameters have no annotations
        return {}


def _field(
    parameter: Parameter, annotation: Any, descriptions: Mapping[str, str], callee: str, *, is_required: bool
) -> Any:
    """Return the type of an argument, with what the docstring says of it."""
    if annotation is Parameter.empty:
        raise SchemaError(
            f"The parameter {parameter.name} of {callee} has no annotation",
            remedy=f"Pass the method of an instance: thing.{callee}."
            if parameter.name == "self"
            else f"Annotate it, {parameter.name}: str; or write a function that calls {callee}, with annotations.",
        )
    info = FieldInfo.from_annotation(annotation)
    if isinstance(parameter.default, FieldInfo) or not info.is_required():
        raise SchemaError(
            f"The parameter {parameter.name} of {callee} has its default in a Field",
            remedy="Write the rules beside the type, and the default after it: x: Annotated[int, Field(gt=0)] = 1.",
        )
    if {info.alias, info.validation_alias, info.serialization_alias} != {None}:
        raise SchemaError(
            f"The parameter {parameter.name} of {callee} has an alias, and arguments go by the names of parameters",
            remedy="Leave the alias out.",
        )
    if parameter.kind is Parameter.VAR_POSITIONAL:
        annotation = list[annotation]
    description = info.description or descriptions.get(parameter.name)
    described_annotation: Any = Annotated[annotation, Field(description=description)]
    may_be_left_out = parameter.default is not Parameter.empty or parameter.kind is Parameter.VAR_POSITIONAL
    return NotRequired[described_annotation] if may_be_left_out and not is_required else Required[described_annotation]


def _name(unwrapped: Any) -> str:
    """Return the name by which a function is called. Raises SchemaError if it has none that can be written."""
    name = getattr(unwrapped, "__name__", None)
    if not isinstance(name, str) or name in {"", "<lambda>"}:
        problem = f"{shown(unwrapped)} has no name to call it by"
        raise SchemaError(problem, remedy="Define it with def, or pass a method.")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            f"The name {name!r} has a lone surrogate, which is no character",
            remedy="Give the function another __name__.",
        ) from error
    return name


_MEMBERS_OF_TOOLS: tuple[tuple[str, Any, str], ...] = (
    ("description", str, "a text"),
    ("parameters", Mapping, "an object"),
    ("strict", bool, "true or false"),
)
"""The members of a tool of OpenAI's API that it may lack, with the types and what errors call these."""

_FIELDS = {"name": text, "parameters": instance(Mapping, "a JSON Schema"), "description": text, "strict": or_none(flag)}

_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that is known by its name and by a JSON Schema of its arguments.

    `Tool("weather", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})`

    Parameters:
        name: The name by which it is called.
        parameters: The JSON Schema of its arguments, an object; without one it takes none. It is read by the
            specification, like a `JsonSchema`.
        description: Its purpose, for the model.
        strict: Whether OpenAI's API shall keep to the schema; here, arguments always do. It is kept for `to_openai`.
        implementation: The function that is called with the arguments by name, if there is one.

    Raises:
        SchemaError: The schema is malformed, or not that of an object.
        TypeError: A field is of the wrong kind.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(_NO_PARAMETERS), hash=False)
    description: str = ""
    strict: bool | None = None
    implementation: Callable[..., Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_fields(self, _FIELDS)
        if not self.name:
            raise SchemaError("A tool has no name to call it by", remedy='Give it one: Tool("weather", …).')
        if self.implementation is not None and not callable(self.implementation):
            raise TypeError(f"implementation is {described(self.implementation)}; it must be a function.")
        schema = JsonSchema(self.parameters, name=self.name).schema
        if not isinstance(schema, dict) or schema.get("type", "object") != "object":
            raise SchemaError(
                f"The parameters of the tool {self.name!r} are no object",
                keyword="type",
                remedy='Write {"type": "object", "properties": …}, with a property for each parameter.',
            )
        object.__setattr__(self, "parameters", {"type": "object", **schema})

    @classmethod
    def from_openai(cls, entry: Mapping[str, Any], implementation: Callable[..., Any] | None = None) -> Self:
        """Return the tool that an entry of OpenAI's `tools` tells: `{"type": "function", "function": {"name": …}}`.

        Raises SchemaError for what is none.
        """
        function = entry.get("function") if entry.get("type") == "function" else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise SchemaError(
                f"{json.dumps(entry, ensure_ascii=False, default=repr)[:200]} is no tool of OpenAI's API",
                remedy='Write {"type": "function", "function": {"name": …, "parameters": …}}.',
            )
        unknown_members = sorted(map(str, function.keys() - {"name", "description", "parameters", "strict"}))
        if unknown_members:
            raise SchemaError(
                f"The tool {name!r} has the unknown member {unknown_members[0]!r}",
                remedy="Leave it out: a tool has a name, a description, parameters, and strict.",
            )
        for member, kind, noun in _MEMBERS_OF_TOOLS:
            if not isinstance(function.get(member), kind | None):
                raise SchemaError(f"The {member} of the tool {name!r} should be {noun}", remedy="Correct it.")
        fields = {member: value for member, value in function.items() if value is not None}
        return cls(**fields, implementation=implementation)

    def to_openai(self) -> dict[str, Any]:
        """Return the tool as an entry of OpenAI's `tools`."""
        function: dict[str, Any] = {"name": self.name, "description": self.description, "parameters": self.parameters}
        strict = {} if self.strict is None else {"strict": self.strict}
        return {"type": "function", "function": function | strict}

    def __call__(self, /, **arguments: Any) -> Any:
        """Call the implementation. Raises TypeError if there is none."""
        if self.implementation is None:
            raise TypeError(
                f"The tool {self.name!r} has no implementation to run. Give it one: Tool.from_openai(entry, "
                "implementation=…), or look at the name and the arguments of the call."
            )
        return self.implementation(**arguments)


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """A function and its arguments: `call.run()` calls it.

    Its form in JSON is `{"name": …, "arguments": {…}}`.

    Attributes:
        function: The function as it was given, or the `Tool`.
        arguments: The arguments by the names of their parameters. One that has a default may be missing; that of
            `*args` is a list. Those of an answer are validated; of a call that you make, only the names are checked.

    Raises:
        TypeError: The arguments are no mapping, one has no parameter, or a parameter without a default has none.
        SchemaError: It is no function, or one that `functions` refuses.
    """

    function: Callable[..., R]
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, Mapping):
            raise TypeError(f"arguments is {shown(self.arguments)}; it must be a dict, {{'city': 'Porto'}}.")
        if not isinstance(self.function, Tool):
            signature_of(self.function).check(self.arguments)

    def __hash__(self) -> int:
        return hash((self.name, *sorted(self.arguments)))

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.name if isinstance(self.function, Tool) else signature_of(self.function).name

    def run(self) -> R:
        """Call the function with the arguments, and return what it returns; of an `async def`, the awaitable.

        Raises TypeError for a `Tool` without an implementation, and whatever the function raises.
        """
        if isinstance(self.function, Tool):
            result: R = self.function(**self.arguments)
            return result
        by_position, by_name = signature_of(self.function).positional_and_named(self.arguments)
        return self.function(*by_position, **by_name)

    def to_data(self) -> dict[str, Any]:
        """Return the call as plain JSON data: `{"name": …, "arguments": {…}}`."""
        arguments = self.arguments
        if not isinstance(self.function, Tool):
            arguments = signature_of(self.function).to_plain_data(arguments)
        return {NAME: self.name, ARGUMENTS: dict(arguments)}

    def to_openai(self, id: str | None = None) -> dict[str, Any]:  # noqa: A002  as it is called there
        """Return the call as an entry of `tool_calls` in a message of OpenAI's API, with an `id` or a new random one.

        `{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Porto"}'}}`
        """
        from uuid import uuid4

        call_data = self.to_data()
        arguments = json.dumps(call_data[ARGUMENTS], ensure_ascii=False)
        return {
            "id": f"call_{uuid4().hex[:24]}" if id is None else id,
            "type": "function",
            "function": {NAME: call_data[NAME], ARGUMENTS: arguments},
        }

    __pydantic_serializer__ = SchemaSerializer(
        core_schema.any_schema(
            serialization=core_schema.plain_serializer_function_ser_schema(lambda call: call.to_data())
        )
    )
    """How Pydantic writes it, inside of an extraction or a record."""
