"""Calls of functions and tools: which one to call, with which arguments, not run yet."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from pydantic_core import SchemaSerializer, core_schema

from structured.errors import SchemaError
from structured.errors.arguments import check_fields, flag, instance, or_none, text
from structured.errors.values import described, shown
from structured.output_types.functions.signature import ARGUMENTS, NAME, signature_of
from structured.output_types.json_schema import JsonSchema

_FIELDS = {
    "name": text,
    "parameters": instance(Mapping, "a JSON Schema"),
    "description": text,
    "strict": or_none(flag),
}

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
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise SchemaError(
                f"{described(entry)} is no tool of OpenAI's API",
                remedy='Write {"type": "function", "function": {"name": …, "parameters": …}}.',
            )
        unknown = sorted(map(str, function.keys() - {"name", "description", "parameters", "strict"}))
        if unknown:
            raise SchemaError(
                f"The tool {function['name']!r} has the unknown member {unknown[0]!r}",
                remedy="Leave it out: a tool has a name, a description, parameters, and strict.",
            )
        fields = {name: value for name, value in function.items() if value is not None}
        return cls(**fields, implementation=implementation)

    def to_openai(self) -> dict[str, Any]:
        """Return the tool as an entry of OpenAI's `tools`."""
        function: dict[str, Any] = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {
            "type": "function",
            "function": function if self.strict is None else {**function, "strict": self.strict},
        }

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
        by_position, by_name = signature_of(self.function).bound(self.arguments)
        return self.function(*by_position, **by_name)

    def to_data(self) -> dict[str, Any]:
        """Return the call as plain JSON data: `{"name": …, "arguments": {…}}`."""
        arguments = self.arguments
        if not isinstance(self.function, Tool):
            arguments = signature_of(self.function).plain(arguments)
        return {NAME: self.name, ARGUMENTS: dict(arguments)}

    def to_openai(self, id: str | None = None) -> dict[str, Any]:  # noqa: A002  as it is called there
        """Return the call as an entry of `tool_calls` in a message of OpenAI's API, with an `id` or a new random one.

        `{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Porto"}'}}`
        """
        from uuid import uuid4

        written = self.to_data()
        arguments = json.dumps(written[ARGUMENTS], ensure_ascii=False)
        return {
            "id": f"call_{uuid4().hex[:24]}" if id is None else id,
            "type": "function",
            "function": {NAME: written[NAME], ARGUMENTS: arguments},
        }

    __pydantic_serializer__ = SchemaSerializer(
        core_schema.any_schema(
            serialization=core_schema.plain_serializer_function_ser_schema(lambda call: call.to_data())
        )
    )
    """How Pydantic writes it, inside of an extraction or a record."""
