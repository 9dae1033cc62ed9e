"""The calls that people make: `extract`, `extract_batch`, their async versions, and `@structured`."""

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, get_origin, overload

from structured.errors import SchemaError, StructuredError
from structured.errors.calling_line import calling_line, warnings_at
from structured.errors.values import shown
from structured.extraction.conversation import TextOrChat
from structured.extraction.documents.document import AsyncDocuments, Documents
from structured.extraction.extractor import Extractor, make_extractor, outcome_of_each
from structured.extraction.idle_options import warn_of_types
from structured.extraction.options import Errors, Options, check_absent, check_batch, checked_options
from structured.extraction.output.batch import BatchSummary, Output
from structured.extraction.output.journal import Resume
from structured.extraction.templates import Template
from structured.output_types.extraction import Extraction
from structured.output_types.json_schema import JsonSchema
from structured.output_types.optional_fields import Absent
from structured.output_types.python_type import type_name
from structured.output_types.resolve import asks_for_evidence

T = TypeVar("T")
P = ParamSpec("P")


@overload
def extract(output_type: type[T], text: TextOrChat, *, absent: None = ..., **options: Unpack[Options]) -> T: ...
@overload
def extract(output_type: type[T], text: TextOrChat, *, absent: Absent, **options: Unpack[Options]) -> Extraction[T]: ...
@overload
def extract(
    output_type: type[T],
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    **options: Unpack[Options],
) -> Extraction[T]: ...
@overload
def extract(
    output_type: object,
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: bool = ...,
    **options: Unpack[Options],
) -> Any: ...
def extract(
    output_type: object,
    text: TextOrChat,
    *,
    absent: Absent | None = None,
    evidence: bool = False,
    **options: Unpack[Options],
) -> Any:
    """Extract one validated instance of a type from a text.

    `extract(Person, "Jason is 25 years old.")` → `Person(name='Jason', age=25)`

    Parameters:
        output_type: A Pydantic model, dataclass, `TypedDict`, `Literal`, `int`, `list[Model]`, a union …, or a
            `JsonSchema`.
        text: The text; or the messages of a chat, `[{"role": "user", "content": "…"}]`, for a model with a chat
            template.
        absent: The fields that the text may not state. True: every field that is neither optional nor a list. Or a list
            of paths, as `inspect_type` shows them: `["age", "lines[].price"]`.
        evidence: Whether the result is an `Extraction`, which tells for each value where it stands in the text, and how
            sure the model was.
        options: See `Options`.

    Returns:
        The instance. With `absent` or `evidence`, an `Extraction`: the instance with its evidence, and the missing
        fields. The type `Extraction[Person]` is the same as `evidence=True`.

    Raises:
        TypeError: An option is unknown or of the wrong kind. Options are checked before a model is loaded.
        ValueError: An option has a value that is not allowed.
        SchemaError: A part of the type cannot be enforced exactly.
        PatternError: A regular expression of the type cannot be compiled.
        PromptError: The text is empty, or too long for the model's context; or messages are not as they must be.
        BudgetError: `max_tokens` is less than the shortest answer takes.
        ModelError: The model cannot be loaded or called.
        VocabularyError: The tokenizer cannot be used, or cannot spell any answer of the type.
        GenerationError: Validators of the type rejected every attempt.
    """
    _check_order("extract", output_type, text)
    return make_extractor(output_type, absent, options, evidence=evidence)(text)


@overload
def extract_batch(
    output_type: type[T],
    documents: Documents,
    *,
    absent: None = ...,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T]: ...
@overload
def extract_batch(
    output_type: type[T],
    documents: Documents,
    *,
    absent: None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T | StructuredError]: ...
@overload
def extract_batch(
    output_type: type[T],
    documents: Documents,
    *,
    absent: Absent,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T]]: ...
@overload
def extract_batch(
    output_type: type[T],
    documents: Documents,
    *,
    absent: Absent,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T] | StructuredError]: ...
@overload
def extract_batch(
    output_type: type[T],
    documents: Documents,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T]]: ...
@overload
def extract_batch(
    output_type: type[T],
    documents: Documents,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T] | StructuredError]: ...
@overload
def extract_batch(
    output_type: object,
    documents: Documents,
    *,
    output: Output,
    resume: Resume = ...,
    absent: Absent | None = ...,
    evidence: bool = ...,
    errors: Errors = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> BatchSummary: ...
@overload
def extract_batch(
    output_type: object,
    documents: Documents,
    *,
    absent: Absent | None = ...,
    evidence: bool = ...,
    errors: Errors = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Any]: ...
def extract_batch(  # noqa: PLR0913  what tells the type of the results
    output_type: object,
    documents: Documents,
    *,
    absent: Absent | None = None,
    evidence: bool = False,
    errors: Errors = "raise",
    progress: bool | None = None,
    output: Output | None = None,
    resume: Resume = "continue",
    **options: Unpack[Options],
) -> list[Any] | BatchSummary:
    """Extract one instance from each of many documents, several at a time, and return them in order.

    Parameters:
        output_type: One type for all documents, or a list of types, one for each document. With a list, `examples` and
            paths in `absent` and `grounded` are refused, since they belong to one type.
        documents: The texts, in any iterable, which is read as far as it is needed; each may also be a list of
            messages, an id with a text (`("a.txt", "Jason is 25.")`), a `Path` of a file, or a `Document`. A
            folder stands for the files in it.
        absent: As for `extract`.
        evidence: As for `extract`.
        errors: `"raise"` raises `BatchError` at the end if some documents failed; it holds all results and errors.
            `"return"` puts the error of a document in place of its result, `"skip"` leaves it out. A document fails if
            it is empty, not text or too long, or if validators reject every answer; the others are not affected.
        progress: True shows a progress bar on stderr or in a notebook, False does not. None, the default, shows it
            after two seconds on a terminal or in a notebook.
        output: A file, for results that are written there and not returned: a line of JSON for each document, as soon
            as it is done. If the name ends with .parquet, it is a folder of Parquet files with typed columns, of at
            most 10,000 documents each. Another call with the same output passes over the documents that have a record.
            Documents are known by their ids, or else by their paths or positions. An error is written like a result,
            and nothing is raised for it; with `errors="skip"` it is not written, and the next call tries the document
            again. A stream of bytes, such as `sys.stdout.buffer`, takes the same lines, and nothing is gone on with.
        resume: What becomes of an output that is there. `"continue"` goes on with it. `"retry"` also drops the errors
            in it, so that their documents are tried again. `"fresh"` drops all of it.
        options: See `Options`.

    Returns:
        The results, in the order of the documents. With `output`, a `BatchSummary`; `read_results` reads the results.

    Raises:
        BatchError: Some documents failed, with `errors="raise"`. If the model stops and there is no result at all, its
            error is raised as it is.
        OutputError: The output cannot be written, another call is writing to it, the type, the model, the prompt or an
            option is not what it was, two documents have one id, or one has another text than before.
        ImportError: `pyarrow` is not installed, for Parquet: `pip install 'structured-extraction[parquet]'`.
        PromptError: `documents` is one text, or one list of messages.
        SchemaError: As for `extract`, like the other errors that do not concern a single document.
    """
    return _batch(output_type, documents, (absent, evidence), errors, progress, (output, resume), options)


@overload
async def aextract(output_type: type[T], text: TextOrChat, *, absent: None = ..., **options: Unpack[Options]) -> T: ...
@overload
async def aextract(
    output_type: type[T], text: TextOrChat, *, absent: Absent, **options: Unpack[Options]
) -> Extraction[T]: ...
@overload
async def aextract(
    output_type: type[T],
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    **options: Unpack[Options],
) -> Extraction[T]: ...
@overload
async def aextract(
    output_type: object,
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: bool = ...,
    **options: Unpack[Options],
) -> Any: ...
async def aextract(
    output_type: object,
    text: TextOrChat,
    *,
    absent: Absent | None = None,
    evidence: bool = False,
    **options: Unpack[Options],
) -> Any:
    """Do what `extract` does in a thread, so that the event loop is not blocked."""
    _check_order("aextract", output_type, text)
    return await _in_thread(lambda: make_extractor(output_type, absent, options, evidence=evidence)(text))


@overload
async def aextract_batch(
    output_type: type[T],
    documents: AsyncDocuments,
    *,
    absent: None = ...,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T]: ...
@overload
async def aextract_batch(
    output_type: type[T],
    documents: AsyncDocuments,
    *,
    absent: None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: type[T],
    documents: AsyncDocuments,
    *,
    absent: Absent,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T]]: ...
@overload
async def aextract_batch(
    output_type: type[T],
    documents: AsyncDocuments,
    *,
    absent: Absent,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T] | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: type[T],
    documents: AsyncDocuments,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T]]: ...
@overload
async def aextract_batch(
    output_type: type[T],
    documents: AsyncDocuments,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T] | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: object,
    documents: AsyncDocuments,
    *,
    output: Output,
    resume: Resume = ...,
    absent: Absent | None = ...,
    evidence: bool = ...,
    errors: Errors = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> BatchSummary: ...
@overload
async def aextract_batch(
    output_type: object,
    documents: AsyncDocuments,
    *,
    absent: Absent | None = ...,
    evidence: bool = ...,
    errors: Errors = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Any]: ...
async def aextract_batch(  # noqa: PLR0913  what tells the type of the results
    output_type: object,
    documents: AsyncDocuments,
    *,
    absent: Absent | None = None,
    evidence: bool = False,
    errors: Errors = "raise",
    progress: bool | None = None,
    output: Output | None = None,
    resume: Resume = "continue",
    **options: Unpack[Options],
) -> list[Any] | BatchSummary:
    """Do what `extract_batch` does in a thread, so that the event loop is not blocked.

    The documents may also be an asynchronous iterable. It is read in the event loop while the model works, a little
    ahead; what it raises is raised when the documents before it are finished.
    """
    kind, kept = (absent, evidence), (output, resume)
    from structured.extraction.documents.async_documents import readable  # with asyncio

    async with readable(documents) as given:
        return await _in_thread(lambda: _batch(output_type, given, kind, errors, progress, kept, options))


async def _in_thread(run: Callable[[], T]) -> T:
    """Return what a function returns that is run in a thread; its warnings point to what awaits it."""
    import asyncio

    with warnings_at(calling_line()):
        return await asyncio.to_thread(run)


def _batch(  # noqa: PLR0913, PLR0917  what a call was given
    output_type: object,
    documents: Documents,
    kind: tuple[Absent | None, bool],
    errors: Errors,
    progress: bool | None,
    kept: tuple[Output | None, Resume],
    options: Options,
) -> list[Any] | BatchSummary:
    absent, evidence = kind
    output, resume = kept
    _check_order("extract_batch", output_type, documents)
    check_batch(errors, progress)
    if not isinstance(output_type, list):
        extractor = make_extractor(output_type, absent, options, evidence=evidence)
        if output is None:
            return extractor.batch(documents, errors=errors, progress=progress)
        return extractor.batch(documents, output=output, resume=resume, errors=errors, progress=progress)
    if output is not None:
        raise ValueError(f"output is {shown(output)}, and there are several types. Write those of one type at a time.")
    given = checked_options(options)
    absent = check_absent("absent", absent)
    return outcome_of_each(output_type, documents, absent, given, evidence=evidence, progress=progress).all(errors)


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
def structured(
    *, absent: Absent | None = ..., **options: Unpack[Options]
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def structured(
    function: Callable[..., Any] | None = None, /, *, absent: Absent | None = None, **options: Unpack[Options]
) -> Any:
    """Turn a function into a prompt.

    The docstring gives the instructions, the arguments give the text, and the return annotation gives the type. The
    body never runs.

        @structured
        def people(text: str) -> list[Person]:
            '''List everybody mentioned in: {text}'''

    The last field in the docstring is the text. Other arguments are inserted where their fields stand; one that is
    longer than a line of 100 characters becomes a second text under its name. Methods, class methods and static methods
    work too, and the docstring does not have to mention `self` or `cls`. The annotation `Extraction[Person]` asks for
    evidence, too. An `async def` runs the model in a thread.

    Parameters:
        function: The function, where the decorator is used without parentheses.
        absent: As for `extract`; the function returns an `Extraction`, and has to be annotated so.
        options: See `Options`: `@structured(temperature=0.5)`.

    Returns:
        A function with the same signature.

    Raises:
        TypeError: The decorated object is not a plain function.
        PromptError: The docstring is missing, its fields are not the parameters, or there is no parameter.
        SchemaError: The return annotation is missing, or is no `Extraction` beside `absent`.
    """
    options = checked_options(options, "structured")
    absent = check_absent("absent", absent)
    if function is None:
        return functools.partial(_decorate, absent=absent, options=options)
    return _decorate(function, absent=absent, options=options)


def _decorate(function: Callable[..., Any], *, absent: Absent | None, options: Options) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorate(function.__func__, absent=absent, options=options))
    _check_decorated(function)
    signature = inspect.signature(function)
    template = Template.of(function)

    @functools.cache
    def extractor() -> Extractor[Any]:
        returned = _returned(function)
        if absent is not None and not asks_for_evidence(returned):
            raise SchemaError(
                f"{function.__name__} has the option absent, and returns an Extraction then",
                remedy=f"Annotate it: def {function.__name__}(...) -> Extraction[{type_name(returned)}].",
            )
        return make_extractor(returned, absent, options)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        bound.apply_defaults()
        question = template.fill(bound.arguments)
        made = extractor()
        task = made.task.with_instructions(question.instructions)
        warn_of_types([task])
        return made.run.outcome([(task, question.document)], total=1, named=template.named).only()

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_in_thread(*args: Any, **kwargs: Any) -> Any:
            return await _in_thread(lambda: call(*args, **kwargs))

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
