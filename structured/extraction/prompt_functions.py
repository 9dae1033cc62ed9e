"""Functions that are prompts: `@structured`."""

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, Unpack, get_args, get_origin, overload

from structured.errors import SchemaError
from structured.errors.calling_line import in_thread
from structured.errors.values import shown
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options, checked_options
from structured.extraction.templates import Template
from structured.results.result import Result

T = TypeVar("T")
P = ParamSpec("P")


@overload
def structured(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def structured(**options: Unpack[Options]) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
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
    def extractor() -> tuple[Extractor[Any], bool]:
        """Return the extractor, and whether the function returns results."""
        returned = _returned(function)
        is_result = get_origin(returned) is Result
        return Extractor(get_args(returned)[0] if is_result else returned, **options), is_result

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        bound.apply_defaults()
        question = template.fill(bound.arguments)
        made, is_result = extractor()
        result = made.result_of(question.document, question.instructions, named=template.named, is_weighed=is_result)
        return result if is_result else result.value

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def callin_thread(*args: Any, **kwargs: Any) -> Any:
            return await in_thread(lambda: call(*args, **kwargs))

        return callin_thread
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


def _returned(function: Callable[..., Any]) -> Any:
    """Return what a function is annotated to return; the annotations of its parameters need not be known."""
    stated = types.SimpleNamespace(__annotations__={"return": function.__annotations__["return"]})
    try:
        return typing.get_type_hints(stated, function.__globals__, include_extras=True)["return"]
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise SchemaError(
            f"The return annotation of {function.__name__}, {shown(function.__annotations__['return'])}, cannot be "
            f"resolved: {error}",
            remedy="Define the type in the same module, outside of functions, before the first call.",
        ) from error
