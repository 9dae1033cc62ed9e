"""Functions that are prompts: `@structured`.

The docstring is the instructions and an argument is the text: were the whole docstring the text, its own words would be
extracted. The last field becomes the text of the prompt, with "the text" in its place in the docstring; the others are
filled in where they are, unless they are long. Of the forms that were measured, this one got the most answers right
(`docs/log.md`). That the longest argument be the text was rejected: the roles would differ from call to call.
"""

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from os import PathLike
from string import Formatter
from typing import Any, ParamSpec, Self, TypeVar, Unpack, get_args, get_origin, overload

from structured.errors import PromptError, SchemaError
from structured.errors.calling_line import in_thread
from structured.errors.values import shown
from structured.extraction.extractor import Extractor, result_for
from structured.extraction.options import Options, checked_options, with_listed_options
from structured.extraction.prompts import is_message, is_messages, sections
from structured.results.result import Result

MAX_INLINE = 100
"""The characters of an argument that is filled in where it stands, if it is one line and not the text."""

_HOW_TO_WRITE_BRACES = "To write a literal brace, double it: {{ or }}."

_NOT_TEXT_TYPES = (type(None), bytes, bytearray, PathLike, Mapping, AbstractSet, list, tuple)
"""What `str.format` would make text of, and nobody means."""


@dataclass(frozen=True, slots=True)
class Template:
    """The docstring of a function, with `{parameter}` fields as of `str.format`.

    `pieces` are its literal texts, each with the field that follows it, braces included; `parameters`
    are those that the fields name.
    """

    function: str
    pieces: tuple[tuple[str, str], ...]
    parameters: Mapping[str, str]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Self:
        """Read the docstring of a function. Raises PromptError unless its fields are the function's parameters."""
        name, text = function.__name__, inspect.getdoc(function)
        if not text or not text.strip():
            raise PromptError(f"{name} has no docstring. Write the prompt there, with {{parameter}} fields.")
        try:
            pieces, used = tuple(_pieces(text)), set(_names(text))
        except ValueError as error:
            raise PromptError(f"The docstring of {name} is not a template: {error}. {_HOW_TO_WRITE_BRACES}") from error
        parameters = list(inspect.signature(function).parameters)
        if parameters and parameters[0] in {"self", "cls"} and parameters[0] not in used:
            del parameters[0]  # of a method
        unknown, missing = sorted(used - set(parameters)), sorted(set(parameters) - used)
        if unknown:
            problem = f"The docstring of {name} has fields that are no parameters: {_in_braces(unknown)}"
            raise PromptError(f"{problem}. {_HOW_TO_WRITE_BRACES}")
        if missing:
            fields = _in_braces(missing)
            raise PromptError(
                f"The docstring of {name} does not use {fields}. Write {fields} somewhere in the docstring, or remove "
                f"the {'parameter' if len(missing) == 1 else 'parameters'}."
            )
        if not parameters:
            raise PromptError(f"{name} has no parameter for the text. Add one, and write {{text}} in the docstring.")
        return cls(name, pieces, {field: re.split("[!:]", field.strip("{}"))[0] for _, field in pieces if field})

    @property
    def text_name(self) -> str:
        """What errors call the text: the argument that becomes it."""
        return f"the argument {self.parameters[self._text_field]!r} of {self.function}"

    @property
    def _text_field(self) -> str:
        return next(field for _, field in reversed(self.pieces) if field)

    def fill(self, arguments: Mapping[str, Any]) -> tuple[str | None, Any]:
        """Return what the docstring asks of some arguments, and the text that it is asked about.

        `"Who wrote {text}?"`, `{"text": "See you. Ana"}` → `"Who wrote the text?"`, `"See you. Ana"`

        Messages are returned as they are, and so is what is no text, such as None or bytes. Raises PromptError if a
        field cannot be formatted, or if messages are not the text.
        """
        try:
            formatted = {field: field.format_map(arguments) for _, field in self.pieces if field}
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise PromptError(f"The docstring of {self.function} cannot be filled in: {error}.") from error
        text_field = self._text_field
        for field, name in self.parameters.items():
            value = arguments.get(field.strip("{}"))
            if field != text_field and (is_message(value) or is_messages(value)):
                kind = "a message of a chat" if is_message(value) else "a list of messages"
                raise PromptError(
                    f"The argument {name!r} of {self.function} is {kind}, and its field is not the last one of "
                    f"the docstring, which is the text. Put {field} last, behind {text_field}."
                )
        text_argument = arguments.get(text_field.strip("{}"), "")
        if isinstance(text_argument, _NOT_TEXT_TYPES) and not is_messages(text_argument):
            return None, text_argument
        texts = {field: text for field, text in formatted.items() if field == text_field or not _is_inline(text)}
        labels = {field: self.parameters[field] if len(texts) > 1 else "text" for field in texts}
        shown_fields = formatted | {field: f"the {label}" for field, label in labels.items()}
        instructions = "".join(literal + shown_fields.get(field, "") for literal, field in self.pieces)
        if len(texts) == 1:
            return instructions, text_argument if is_messages(text_argument) else formatted[text_field]
        if is_messages(text_argument):
            raise PromptError(
                f"{self.text_name} is a list of messages, and a second text would stand beside it: "
                f"{', '.join(repr(label) for field, label in labels.items() if field != text_field)}. Put that into "
                "the messages."
            )
        return instructions, sections({labels[field]: text for field, text in texts.items()})


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the literal texts of a template, each with the field that follows it, nothing if none does.

    `"Is {a!r} a {kind}?"` → `("Is ", "{a!r}"), (" a ", "{kind}"), ("?", "")`
    """
    for literal, name, specification, conversion in Formatter().parse(text):
        converted = f"!{conversion}" if conversion else ""
        specified = f":{specification}" if specification else ""
        yield literal, "" if name is None else f"{{{name}{converted}{specified}}}"


def _names(text: str) -> Iterator[str]:
    """Yield the names of the parameters that the fields of a template use, also inside their specifications."""
    for _, name, specification, _ in Formatter().parse(text):
        if name is not None:
            yield name.partition(".")[0].partition("[")[0]
            yield from _names(specification or "")


def _in_braces(names: list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def _is_inline(text: str) -> bool:
    return len(text) <= MAX_INLINE and len(f"{text}.".splitlines()) == 1


T = TypeVar("T")
P = ParamSpec("P")


@overload
def structured(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def structured(**options: Unpack[Options]) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
@with_listed_options("structured")
def structured(function: Callable[..., Any] | None = None, /, **options: Unpack[Options]) -> Any:
    """Turn a function into a prompt.

    The docstring gives the instructions, the arguments give the text, and the return annotation gives the type. The
    body never runs.

        @structured
        def people(text: str) -> list[Person]:
            '''List everybody mentioned in: {text}'''

    The last field in the docstring is the text. Other arguments are inserted where their fields stand; one that is
    longer than a line of 100 characters becomes a second text under its name. Methods, class methods and static methods
    work too, and the docstring does not have to mention `self` or `cls`. A function that is annotated to
    return `Result[Person]` returns the result, with its evidence. An `async def` runs the model in a thread.

    Parameters:
        function: The function, where the decorator is used without parentheses.
        options: See `Options`: `@structured(temperature=0.5)`.

    Returns:
        A function with the same signature.

    Raises:
        TypeError: The decorated object is not a plain function.
        PromptError: The docstring is missing, its fields are not the parameters, or there is no parameter.
        SchemaError: The return annotation is missing, or is no type.
    """
    options = checked_options(options, "structured")
    if function is None:
        return functools.partial(_decorate, options=options)
    return _decorate(function, options=options)


def _decorate(function: Callable[..., Any], *, options: Options) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorate(function.__func__, options=options))
    _check_decorated(function)
    signature = inspect.signature(function)
    template = Template.of(function)

    @functools.cache
    def prepare() -> tuple[Extractor[Any], bool]:
        """Return the extractor, and whether the function returns results."""
        return_type = _return_type(function)
        is_result = get_origin(return_type) is Result
        return Extractor(get_args(return_type)[0] if is_result else return_type, **options), is_result

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        bound.apply_defaults()
        instructions, text = template.fill(bound.arguments)
        extractor, is_result = prepare()
        result = result_for(extractor, text, instructions, document_name=template.text_name, wants_confidence=is_result)
        return result if is_result else result.value

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_in_thread(*args: Any, **kwargs: Any) -> Any:
            return await in_thread(lambda: call(*args, **kwargs))

        return call_in_thread
    return call


def _check_decorated(function: Any) -> None:
    """Refuse what is no plain function with a type to return."""
    if not inspect.isfunction(function):
        raise TypeError(
            f"@structured takes a function, and {shown(function)} is not a function. Put it above one, below other "
            "decorators, and pass options by name: @structured(model='…')."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is a generator, and an answer is one value. Write it without yield.")
    if inspect.signature(function).return_annotation is inspect.Signature.empty:
        raise SchemaError(
            f"{function.__name__} has no return annotation, so there is no type to extract",
            remedy=f"Annotate it: def {function.__name__}(...) -> Model.",
        )


def _return_type(function: Callable[..., Any]) -> Any:
    """Return what a function is annotated to return; the annotations of its parameters need not be known."""
    annotated = types.SimpleNamespace(__annotations__={"return": function.__annotations__["return"]})
    try:
        return typing.get_type_hints(annotated, function.__globals__, include_extras=True)["return"]
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise SchemaError(
            f"The return annotation of {function.__name__}, {shown(function.__annotations__['return'])}, cannot be "
            f"resolved: {error}",
            remedy="Define the type in the same module, outside of functions, before the first call.",
        ) from error
