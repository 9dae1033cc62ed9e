"""The calls that people make: `extract`, `extract_batch` and `extract_results`, and their async versions."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, Unpack, get_origin

from typing_extensions import TypeVar

from structured.errors.calling_line import in_thread
from structured.errors.values import shown
from structured.extraction.documents.document import AsyncDocuments, Documents, TextLike
from structured.extraction.extractor import Extractor
from structured.extraction.options import ErrorPolicy, Options, with_listed_options
from structured.output_types.json_schema import JsonSchema
from structured.output_types.python_type import type_name
from structured.output_types.resolve import TypeLike
from structured.results.result import Result

T = TypeVar("T", default=Any)


@with_listed_options()
def extract(output_type: TypeLike[T], text: TextLike, *, progress: bool | None = None, **options: Unpack[Options]) -> T:
    """Extract one validated instance of a type from a text.

    `extract(Person, "Jason is 25 years old.")` → `Person(name='Jason', age=25)`

    Parameters:
        output_type: A Pydantic model, dataclass, `TypedDict`, `Literal`, `int`, `list[Model]`, a union …, a
            `JsonSchema`; or `functions(…)`, for a call of a function with its arguments.
        text: The text; or the messages of a chat, `[{"role": "user", "content": "…"}]`, for a model with a chat
            template; or a `Path` of a file, an id with a text, or a `Document`, as in `extract_batch`.
        progress: Whether the chunks of a long text are counted on stderr or in a notebook. None, the default, counts
            them after two seconds on a terminal or in a notebook.
        options: See `help(structured.extraction.Options)`.

    Returns:
        The instance. `Extractor(output_type).result(text)` returns it with its evidence.

    Raises:
        TypeError: An option is unknown or of the wrong kind. Options are checked before a model is loaded.
        ValueError: An option has a value that is not allowed.
        SchemaError: A part of the type cannot be enforced exactly.
        PatternError: A regular expression of the type cannot be compiled.
        PromptError: The text is empty, or its prompt leaves no room for it; or messages are not as they must be.
        NotStatedError: With `grounded`, the text states nothing that a required field may be.
        BudgetError: `max_tokens` is less than the shortest answer takes.
        ModelError: The model cannot be loaded or called.
        VocabularyError: The tokenizer cannot be used, or cannot spell any answer of the type.
        GenerationError: Validators of the type rejected every attempt.
        MissingError: With `allow_missing`, the text does not state fields that the type requires.
        StructuredError: Anything else was raised for the text, and is the `__cause__`.
    """
    check_order("extract", output_type, text)
    return Extractor(output_type, **options)(text, progress=progress)


@with_listed_options()
def extract_batch(
    output_type: TypeLike[T],
    documents: Documents,
    *,
    errors: ErrorPolicy = "raise",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> list[T]:
    """Extract one instance from each of many documents, several at a time, and return them in order.

    Parameters:
        output_type: The type of all values; as for `extract`.
        documents: The texts, in any iterable, which is read as far as it is needed; each may also be a list of
            messages, a `Path` of a file, an id with a text or a path (`("a.txt", "Jason is 25.")`), or a `Document`.
            In place of an iterable, the `Path` of a folder, a table or another file stands for the documents in it: the
            rows of a table are documents.
        errors: `"raise"` raises `BatchError` at the end if some documents failed; it holds all results and errors.
            `"return"` puts the error of a document in place of its value (for type checkers, annotate the list:
            `values: list[Person | StructuredError]`), `"skip"` leaves it out. A document fails if it is empty, not text
            or too long, if validators reject every answer, or if anything else is raised for it; the others are not
            affected.
        progress: True shows a progress bar on stderr or in a notebook, False does not. None, the default, shows it
            after two seconds on a terminal or in a notebook.
        options: See `help(structured.extraction.Options)`.

    Returns:
        The instances, in the order of the documents. `extract_results` yields them with their evidence, as soon as they
        are there; `write_results` keeps them in a file.

    Raises:
        BatchError: Some documents failed, with `errors="raise"`.
        ModelError: The model stopped, with `errors="skip"`; with `errors="raise"`, only if there is no value at all.
        PromptError: `documents` is one text, or one list of messages.
        SchemaError: As for `extract`, like the other errors that do not concern a single document.
    """
    check_order("extract_batch", output_type, documents)
    values: list[Any] = Extractor(output_type, **options).batch(documents, errors=errors, progress=progress)
    return values


@with_listed_options()
def extract_results(
    output_type: TypeLike[T], documents: Documents, *, progress: bool | None = None, **options: Unpack[Options]
) -> Iterator[Result[T]]:
    """Extract one instance from each of many documents, and yield each result as soon as it is there, in any order.

        for result in extract_results(Person, Path("letters")):
            print(result.id, result.error or result.value)

    Parameters:
        output_type: As for `extract_batch`.
        documents: As for `extract_batch`. They are forgotten when they are done, so that there may be any number.
        progress: As for `extract_batch`.
        options: See `help(structured.extraction.Options)`.

    Returns:
        A `Result` for each document: its value with the evidence for it, or its error.

    Raises:
        ModelError: The model failed; what was finished before has been yielded. Whatever else `extract_batch` raises,
            but BatchError.
    """
    check_order("extract_results", output_type, documents)
    return Extractor(output_type, **options).results(documents, progress=progress)


@with_listed_options()
async def aextract(
    output_type: TypeLike[T], text: TextLike, *, progress: bool | None = None, **options: Unpack[Options]
) -> T:
    """Do what `extract` does in a thread, so that the event loop is not blocked."""
    check_order("aextract", output_type, text)
    return await in_thread(lambda: Extractor(output_type, **options)(text, progress=progress))


@with_listed_options()
async def aextract_batch(
    output_type: TypeLike[T],
    documents: AsyncDocuments,
    *,
    errors: ErrorPolicy = "raise",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> list[T]:
    """Do what `extract_batch` does in a thread, so that the event loop is not blocked.

    The documents may also be an asynchronous iterable, such as one that reads a queue.
    """
    from structured.extraction.documents.async_documents import readable  # with asyncio

    check_order("aextract_batch", output_type, documents)
    async with readable(documents) as texts:
        return await in_thread(lambda: extract_batch(output_type, texts, errors=errors, progress=progress, **options))


@with_listed_options()
async def aextract_results(
    output_type: TypeLike[T], documents: AsyncDocuments, *, progress: bool | None = None, **options: Unpack[Options]
) -> AsyncIterator[Result[T]]:
    """Do what `extract_results` does in a thread, so that the event loop is not blocked.

        async for result in aextract_results(Person, documents):
            print(result.id, result.error or result.value)

    The documents may also be an asynchronous iterable. Where the loop over the results is left or cancelled, the model
    stops after the documents that it is at.
    """
    check_order("aextract_results", output_type, documents)

    extractor = await in_thread(lambda: Extractor(output_type, **options))
    async with aclosing(extractor.aresults(documents, progress=progress)) as results:
        async for result in results:
            yield result


def check_order(call: str, output_type: object, text: object) -> None:
    """Raise TypeError for a type and a text that were mistaken for each other, and for a list of types."""
    if isinstance(output_type, str | list) and (isinstance(text, type | JsonSchema) or get_origin(text) is not None):
        raise TypeError(
            f"{call} takes the type first, and then the text: these are {shown(output_type)} and {type_name(text)}. "
            "Pass them the other way round."
        )
    if isinstance(output_type, list):
        types = ", ".join(map(type_name, output_type))
        remedy = "Call it once for each type, with the documents of that type."
        if len(output_type) == 1:
            remedy = f"For a list of them, pass list[{types}]."
        raise TypeError(f"{call} takes one type, and [{types}] is a list. {remedy}")
