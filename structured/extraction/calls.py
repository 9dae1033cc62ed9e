"""The user's call enters: a type, and a prompt, documents or a function. What an `Extractor` makes of it leaves."""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, get_origin, overload

from structured.errors import SchemaError, StructuredError
from structured.errors.calling_line import calling_line, warnings_at
from structured.errors.values import shown
from structured.extraction.extractor import Extractor, make_extractor, outcome_of_each
from structured.extraction.options import Errors, Options, check_absent, check_batch, checked_options
from structured.extraction.templates import Template
from structured.output_types.json_schema import JsonSchema
from structured.output_types.optional_fields import Absent
from structured.output_types.python_type import type_name

T = TypeVar("T")
P = ParamSpec("P")


@overload
def extract(output_type: type[T], prompt: str, **options: Unpack[Options]) -> T: ...
@overload
def extract(output_type: object, prompt: str, *, absent: Absent | None = ..., **options: Unpack[Options]) -> Any: ...
def extract(output_type: object, prompt: str, *, absent: Absent | None = None, **options: Unpack[Options]) -> Any:
    """Return what a text says, as a validated instance of a type.

    `extract(Person, "Jason is 25 years old.")` → `Person(name='Jason', age=25)`

    `output_type` is a Pydantic model, dataclass, TypedDict, `Literal`, `int`, `list[Model]` …, or a `JsonSchema`;
    `options` are those of `Options`.

    With `absent`, fields that the text does not state are not invented, and the result is an `Extraction`, which lists
    what is missing. `absent` is True for every field that cannot say itself that there is nothing (as null, or as a
    list without items), or the paths of some fields: `["age", "lines[].price"]`, as `inspect_type` lists them. The type
    `Extraction[Person]` means the same as `Person` with `absent=True`, and type checkers know its result.

    Raises SchemaError if the type has a part that cannot be honoured exactly, PromptError for an empty or too long
    prompt, BudgetError if `max_tokens` is less than the shortest answer, ModelError if the model cannot be used, and
    GenerationError if the type's own validators rejected every attempt.
    """
    _check_order("extract", output_type, prompt)
    return make_extractor(output_type, absent, options)(prompt)


@overload
def extract_batch(
    output_type: type[T],
    documents: Iterable[str],
    *,
    errors: Literal["raise"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T]: ...
@overload
def extract_batch(
    output_type: type[T],
    documents: Iterable[str],
    *,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T | StructuredError]: ...
@overload
def extract_batch(
    output_type: object,
    documents: Iterable[str],
    *,
    absent: Absent | None = ...,
    errors: Errors = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Any]: ...
def extract_batch(
    output_type: object,
    documents: Iterable[str],
    *,
    absent: Absent | None = None,
    errors: Errors = "raise",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> list[Any]:
    """Return what each of many documents says, in their order; as `extract`, but several go through the model at once.

    `output_type` is one type for all of them, or a list of types, one for each document; then examples, and paths of
    what may be absent, would be of one of them, and are refused.

    Documents that fail cost no others their results: they are empty, no text, too long, or validators rejected every
    answer. BatchError holds the results and the errors; with `errors="return"`, the errors stand in place of the
    results, and nothing is raised. See `Extractor.batch`.

    `progress` shows a bar on stderr or in a notebook: by default where a person may be waiting, after two seconds.
    """
    return _batch(output_type, documents, absent, errors, progress, options)


@overload
async def aextract(output_type: type[T], prompt: str, **options: Unpack[Options]) -> T: ...
@overload
async def aextract(
    output_type: object, prompt: str, *, absent: Absent | None = ..., **options: Unpack[Options]
) -> Any: ...
async def aextract(
    output_type: object, prompt: str, *, absent: Absent | None = None, **options: Unpack[Options]
) -> Any:
    """Return what a text says, as `extract` does; the model runs in a thread beside the event loop."""
    _check_order("aextract", output_type, prompt)
    return await _in_thread(lambda: make_extractor(output_type, absent, options)(prompt))


@overload
async def aextract_batch(
    output_type: type[T],
    documents: Iterable[str],
    *,
    errors: Literal["raise"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T]: ...
@overload
async def aextract_batch(
    output_type: type[T],
    documents: Iterable[str],
    *,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: object,
    documents: Iterable[str],
    *,
    absent: Absent | None = ...,
    errors: Errors = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Any]: ...
async def aextract_batch(
    output_type: object,
    documents: Iterable[str],
    *,
    absent: Absent | None = None,
    errors: Errors = "raise",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> list[Any]:
    """Return what each of many documents says, as `extract_batch` does; the model runs in a thread."""
    return await _in_thread(lambda: _batch(output_type, documents, absent, errors, progress, options))


async def _in_thread(run: Callable[[], T]) -> T:
    """Return what a function returns that is run in a thread; its warnings point to what awaits it."""
    import asyncio

    with warnings_at(calling_line()):
        return await asyncio.to_thread(run)


def _batch(  # noqa: PLR0913, PLR0917  what a call was given
    output_type: object,
    documents: Iterable[str],
    absent: Absent | None,
    errors: Errors,
    progress: bool | None,
    options: Options,
) -> list[Any]:
    _check_order("extract_batch", output_type, documents)
    check_batch(errors, progress)
    if not isinstance(output_type, list):
        return make_extractor(output_type, absent, options).batch(documents, errors=errors, progress=progress)
    given = checked_options(options)
    return outcome_of_each(output_type, documents, check_absent("absent", absent), given, progress=progress).all(errors)


def _check_order(call: str, output_type: object, text: object) -> None:
    """Raise TypeError for a type and a text that were mistaken for each other."""
    if isinstance(output_type, str | list) and (isinstance(text, type | JsonSchema) or get_origin(text) is not None):
        raise TypeError(
            f"{call} takes the type first, and then the text: these are {shown(output_type)} and {type_name(text)}. "
            "Pass them the other way round."
        )


@overload
def structured(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def structured(**options: Unpack[Options]) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def structured(function: Callable[..., Any] | None = None, /, **options: Unpack[Options]) -> Any:
    """Turn a function into a prompt: its docstring asks, its arguments are the text, its return annotation is the type.

    Used bare or with the options of `Options`. The function's body is never run. Where it is annotated to return
    `Extraction[Person]`, what the text does not state may be missing.

        @structured
        def people(text: str) -> list[Person]:
            '''List everybody mentioned in: {text}'''

    Of several arguments, the last in the docstring is the text; others are filled in where they stand, unless they are
    long (see `Template`). Methods, class methods and static methods work as functions do; `{self}` may be left out.

    Raises TypeError for what is no plain function, PromptError when the docstring is missing or its `{fields}` are not
    the parameters, SchemaError when the return annotation is missing; everything else as `extract`.
    """
    options = checked_options(options)
    if function is None:
        return functools.partial(_decorate, options=options)
    return _decorate(function, options=options)


def _decorate(function: Callable[..., Any], *, options: Options) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorate(function.__func__, options=options))
    _check_decorated(function, options)
    signature = inspect.signature(function)
    template = Template.of(function)

    @functools.cache
    def extractor() -> Extractor[Any]:
        return make_extractor(_returned(function), None, options)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        bound.apply_defaults()
        question = template.fill(bound.arguments)
        return extractor()(question.document, instructions=question.instructions)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_in_thread(*args: Any, **kwargs: Any) -> Any:
            return await _in_thread(lambda: call(*args, **kwargs))

        return call_in_thread
    return call


def _check_decorated(function: Any, options: Options) -> None:
    """Refuse what is no plain function with a type to return, and options that a function says by its annotation."""
    if not inspect.isfunction(function):
        raise TypeError(
            f"@structured takes a function, and {shown(function)} is none. Put it above a function, below other "
            "decorators, and pass options by name: @structured(model='…')."
        )
    if "absent" in options:
        raise TypeError("@structured takes no absent. Annotate the function to return Extraction[Model].")
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
