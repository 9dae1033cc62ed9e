"""The calls that people make: `extract`, `extract_batch`, and their async versions."""

from typing import Any, Literal, TypeVar, Unpack, get_origin, overload

from structured.errors import StructuredError
from structured.errors.calling_line import in_thread
from structured.errors.values import shown
from structured.extraction.batches import Delivery, batch
from structured.extraction.conversation import TextOrChat
from structured.extraction.documents.document import AsyncDocuments, Documents
from structured.extraction.extractor import make_extractor
from structured.extraction.options import Errors, Options
from structured.extraction.output.batch import BatchSummary, Output
from structured.extraction.output.journal import Resume
from structured.output_types.extraction import Extraction
from structured.output_types.functions.call import Call, Function
from structured.output_types.json_schema import JsonSchema
from structured.output_types.optional_fields import Absent
from structured.output_types.output_type import OutputType
from structured.output_types.python_type import type_name

T = TypeVar("T")


@overload
def extract(
    output_type: type[T] | OutputType[T], text: TextOrChat, *, absent: None = ..., **options: Unpack[Options]
) -> T: ...
@overload
def extract(
    output_type: type[T] | OutputType[T], text: TextOrChat, *, absent: Absent, **options: Unpack[Options]
) -> Extraction[T]: ...
@overload
def extract(
    output_type: type[T] | OutputType[T],
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    **options: Unpack[Options],
) -> Extraction[T]: ...
@overload
def extract(
    output_type: Function[T], text: TextOrChat, *, absent: None = ..., **options: Unpack[Options]
) -> Call[T]: ...
@overload
def extract(
    output_type: Function[T], text: TextOrChat, *, absent: Absent, **options: Unpack[Options]
) -> Extraction[Call[T]]: ...
@overload
def extract(
    output_type: Function[T],
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    **options: Unpack[Options],
) -> Extraction[Call[T]]: ...
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
        output_type: A Pydantic model, dataclass, `TypedDict`, `Literal`, `int`, `list[Model]`, a union …, a
            `JsonSchema`; or a function, whose arguments are extracted.
        text: The text; or the messages of a chat, `[{"role": "user", "content": "…"}]`, for a model with a chat
            template.
        absent: The fields that the text may not state. True: every field that is neither optional nor a list; of a
            `JsonSchema`, every property that is not required. Or a list of paths, as `inspect_type` shows them:
            `["age", "lines[].price"]`.
        evidence: Whether the result is an `Extraction`, which tells for each value where it stands in the text, and how
            sure the model was.
        options: See `Options`.

    Returns:
        The instance; of a function a `Call`, to be run. With `absent` or `evidence`, an `Extraction`: the instance
        with its evidence, and the missing fields. The type `Extraction[Person]` is the same as `evidence=True`.

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
    output_type: type[T] | OutputType[T],
    documents: Documents,
    *,
    absent: None = ...,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T]: ...
@overload
def extract_batch(
    output_type: type[T] | OutputType[T],
    documents: Documents,
    *,
    absent: None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T | StructuredError]: ...
@overload
def extract_batch(
    output_type: type[T] | OutputType[T],
    documents: Documents,
    *,
    absent: Absent,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T]]: ...
@overload
def extract_batch(
    output_type: type[T] | OutputType[T],
    documents: Documents,
    *,
    absent: Absent,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T] | StructuredError]: ...
@overload
def extract_batch(
    output_type: type[T] | OutputType[T],
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
    output_type: type[T] | OutputType[T],
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
    output_type: Function[T],
    documents: Documents,
    *,
    absent: None = ...,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Call[T]]: ...
@overload
def extract_batch(
    output_type: Function[T],
    documents: Documents,
    *,
    absent: None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Call[T] | StructuredError]: ...
@overload
def extract_batch(
    output_type: Function[T],
    documents: Documents,
    *,
    absent: Absent,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]]]: ...
@overload
def extract_batch(
    output_type: Function[T],
    documents: Documents,
    *,
    absent: Absent,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]] | StructuredError]: ...
@overload
def extract_batch(
    output_type: Function[T],
    documents: Documents,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]]]: ...
@overload
def extract_batch(
    output_type: Function[T],
    documents: Documents,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]] | StructuredError]: ...
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
    _check_order("extract_batch", output_type, documents)
    delivery = Delivery(errors, progress, output, resume)
    return batch(output_type, documents, absent, delivery, options, evidence=evidence)


@overload
async def aextract(
    output_type: type[T] | OutputType[T], text: TextOrChat, *, absent: None = ..., **options: Unpack[Options]
) -> T: ...
@overload
async def aextract(
    output_type: type[T] | OutputType[T], text: TextOrChat, *, absent: Absent, **options: Unpack[Options]
) -> Extraction[T]: ...
@overload
async def aextract(
    output_type: type[T] | OutputType[T],
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    **options: Unpack[Options],
) -> Extraction[T]: ...
@overload
async def aextract(
    output_type: Function[T], text: TextOrChat, *, absent: None = ..., **options: Unpack[Options]
) -> Call[T]: ...
@overload
async def aextract(
    output_type: Function[T], text: TextOrChat, *, absent: Absent, **options: Unpack[Options]
) -> Extraction[Call[T]]: ...
@overload
async def aextract(
    output_type: Function[T],
    text: TextOrChat,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    **options: Unpack[Options],
) -> Extraction[Call[T]]: ...
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
    return await in_thread(lambda: make_extractor(output_type, absent, options, evidence=evidence)(text))


@overload
async def aextract_batch(
    output_type: type[T] | OutputType[T],
    documents: AsyncDocuments,
    *,
    absent: None = ...,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T]: ...
@overload
async def aextract_batch(
    output_type: type[T] | OutputType[T],
    documents: AsyncDocuments,
    *,
    absent: None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[T | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: type[T] | OutputType[T],
    documents: AsyncDocuments,
    *,
    absent: Absent,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T]]: ...
@overload
async def aextract_batch(
    output_type: type[T] | OutputType[T],
    documents: AsyncDocuments,
    *,
    absent: Absent,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[T] | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: type[T] | OutputType[T],
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
    output_type: type[T] | OutputType[T],
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
    output_type: Function[T],
    documents: AsyncDocuments,
    *,
    absent: None = ...,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Call[T]]: ...
@overload
async def aextract_batch(
    output_type: Function[T],
    documents: AsyncDocuments,
    *,
    absent: None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Call[T] | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: Function[T],
    documents: AsyncDocuments,
    *,
    absent: Absent,
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]]]: ...
@overload
async def aextract_batch(
    output_type: Function[T],
    documents: AsyncDocuments,
    *,
    absent: Absent,
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]] | StructuredError]: ...
@overload
async def aextract_batch(
    output_type: Function[T],
    documents: AsyncDocuments,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["raise", "skip"] = ...,
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]]]: ...
@overload
async def aextract_batch(
    output_type: Function[T],
    documents: AsyncDocuments,
    *,
    absent: Absent | None = ...,
    evidence: Literal[True],
    errors: Literal["return"],
    progress: bool | None = ...,
    **options: Unpack[Options],
) -> list[Extraction[Call[T]] | StructuredError]: ...
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
    _check_order("extract_batch", output_type, documents)
    delivery = Delivery(errors, progress, output, resume)
    from structured.extraction.documents.async_documents import readable  # with asyncio

    async with readable(documents) as given:
        return await in_thread(lambda: batch(output_type, given, absent, delivery, options, evidence=evidence))


def _check_order(call: str, output_type: object, text: object) -> None:
    """Raise TypeError for a type and a text that were mistaken for each other."""
    if isinstance(output_type, str | list) and (isinstance(text, type | JsonSchema) or get_origin(text) is not None):
        raise TypeError(
            f"{call} takes the type first, and then the text: these are {shown(output_type)} and {type_name(text)}. "
            "Pass them the other way round."
        )
