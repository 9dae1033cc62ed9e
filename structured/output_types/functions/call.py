"""Calls: a function and the arguments that an answer gives it, not run yet."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any, Generic, Protocol, TypeVar
from uuid import uuid4

from pydantic_core import SchemaSerializer, core_schema

from structured.errors.values import shown
from structured.output_types.functions.signature import ARGUMENTS, NAME, signature_of
from structured.output_types.functions.tool import Tool

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class _WithCode(Protocol[R_co]):
    """A function or a method, which has code of its own; a class has none."""

    @property
    def __code__(self) -> CodeType: ...

    def __call__(self, *args: Any, **kwargs: Any) -> R_co: ...


Function = _WithCode[R] | partial[R]
"""What is a function to type checkers: to them, a class is a `Callable` as well. (To pyright, so is `Literal["a"]`, but
not `Literal["a", "b"]`.)"""


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
