"""Files of results: each result is written as it comes, and read back; documents with a record are passed over.

The documents that an earlier call has done are known by id and digest, so that memory holds no results: some 200 bytes
for each document.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, Unpack, get_args

from typing_extensions import TypeVar

from structured.errors import OutputError, PromptError, StructuredError, error_of_one
from structured.errors.arguments import one_of
from structured.errors.calling_line import in_thread
from structured.errors.values import message, shown
from structured.extraction.batch_state import BatchState
from structured.extraction.calls import check_order
from structured.extraction.documents.document import (
    AsyncDocuments,
    Document,
    DocumentLike,
    Documents,
    count_of,
    each_document,
    id_of,
    read_document,
)
from structured.extraction.extractor import Extractor, task_and_run
from structured.extraction.journal import Journal, RecordStream, Resume, SupportsWrite, each_record, to_path
from structured.extraction.options import Options, check_progress, with_listed_options
from structured.extraction.records import (
    DIGEST_OF_NO_TEXT,
    Gap,
    Place,
    digest_of,
    line_of,
    metadata_to_json,
    record_of,
)
from structured.extraction.task import Task
from structured.output_types.resolve import TypeLike, resolve_type
from structured.results.result import Provenance, Result, made_of, result_from_json

T = TypeVar("T", default=Any)


def read_results(path: str | PathLike[str], output_type: TypeLike[T]) -> Iterator[Result[T]]:
    """Read the results that `write_results` wrote, one by one, in the order in which they were done.

    It may be read while it is written: a line that is not whole yet is left out.

    Parameters:
        path: The file.
        output_type: The type that the call was given; with `Any`, the values are plain data.

    Returns:
        For each record a `Result`. Its `position` is that of the record, from 0. It has no `generations`.

    Raises:
        OutputError: The file cannot be read, or a line of it is no record, or not one of this type.
        SchemaError: As for `extract`.
    """
    if not isinstance(path, str | PathLike):
        if isinstance(output_type, str | PathLike):
            raise TypeError(
                f"read_results takes the path first, and then the type: these are {shown(path)} and "
                f"{shown(output_type)}. Pass them the other way round."
            )
        raise TypeError(f"path is {shown(path)}; it must be the path of a file of results.")
    if output_type is not Any:
        resolve_type(output_type)  # raises before the file is read
    return _results(to_path(path), output_type)


def _results(path: Path, output_type: object) -> Iterator[Result[Any]]:
    name = "plain data" if output_type is Any else resolve_type(output_type).name
    try:
        for position, (number, _, record) in enumerate(each_record(path)):
            try:
                provenance = Provenance(**record["provenance"]) if record.get("provenance") else None
                missing = provenance.options.get("allow_missing") if provenance else None
                resolved_type = None if output_type is Any else resolve_type(output_type, missing)
                yield result_from_json(record, position, resolved_type, provenance)
            except (ValueError, KeyError, TypeError) as error:
                raise OutputError(
                    f"Line {number} of {path}, of the document {record['id']!r}, cannot be read as {name}: "
                    f"{message(error)}. Pass the type that it was written with.",
                    path=str(path),
                ) from error
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror or message(error)}"
        raise OutputError(f"{problem}. Pass the path that `write_results` wrote to.", path=str(path)) from error


SUFFIXES = (".jsonl", ".ndjson")
"""Those of files of results, which may also have none."""

TABLE_SUFFIXES = (".csv", ".parquet")
"""Those of the tables that `write_table` makes, which are no documents beside the file of results."""

Output: TypeAlias = str | PathLike[str] | SupportsWrite
"""The path of a file of results, or a stream of bytes."""


class Written(NamedTuple):
    """The counts of a call that wrote results.

    Attributes:
        done: The documents that the call answered; each has a record now.
        failed: Those of them that have an error.
        before: The documents that earlier calls had done, and that were passed over.
        failed_before: The records with an error that earlier calls left.
    """

    done: int
    failed: int
    before: int
    failed_before: int


@with_listed_options()
def write_results(
    output_type: TypeLike[Any],
    documents: Documents,
    output: Output,
    *,
    resume: Resume = "continue",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> Written:
    """Extract one instance from each document, and write each result to a file as soon as it is there.

    Another call with the same output continues where this one stopped, whatever stopped it. `read_results` reads the
    results back, and `write_table` makes a table of them.

        write_results(Person, Path("letters"), "people.jsonl")

    Parameters:
        output_type: As for `extract`.
        documents: As for `extract_batch`. They are known by their ids, or else by their paths or positions; one that
            has a record in the output is passed over.
        output: The path of a file, for a line of JSON for each document; an error is written like a value. Or a stream
            of bytes, such as `sys.stdout.buffer`, which takes the same lines and is not resumed.
        resume: How to treat an output that exists: `"continue"` it, `"retry"` the documents that failed as well, or
            begin `"fresh"` in place of it.
        progress: As for `extract_batch`.
        options: See `help(structured.extraction.Options)`.

    Returns:
        How many documents were done, and how many of them failed.

    Raises:
        OutputError: The output cannot be written, another call is writing to it, the type, the model, the prompt or an
            option is not what it was, two documents have one id, or one has another text than before.
        ModelError: The model failed; what was finished before is in the output. Whatever else `extract_results` raises.
    """
    check_order("write_results", output_type, documents)
    if isinstance(documents, str) and isinstance(output, Iterable) and not isinstance(output, str):
        raise TypeError(
            f"write_results takes the documents first, and then the output: these are {shown(documents)} and "
            f"{shown(output)}. Pass them the other way round."
        )
    if not (isinstance(output, str | PathLike) or hasattr(output, "write")):
        raise TypeError(f"output is {shown(output)}; it must be the path of a file, or a stream of bytes.")
    return write_results_of(Extractor[Any](output_type, **options), documents, output, resume=resume, progress=progress)


@with_listed_options()
async def awrite_results(
    output_type: TypeLike[Any],
    documents: AsyncDocuments,
    output: Output,
    *,
    resume: Resume = "continue",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> Written:
    """Do what `write_results` does in a thread, so that the event loop is not blocked; parameters as `extract_batch`.

    The documents may also be an asynchronous iterable.
    """
    from structured.extraction.documents.async_documents import readable  # with asyncio

    async with readable(documents) as readable_documents:
        return await in_thread(
            lambda: write_results(output_type, readable_documents, output, resume=resume, progress=progress, **options)
        )


def write_results_of(
    extractor: Extractor[Any],
    documents: Documents,
    output: Output,
    *,
    resume: Resume = "continue",
    progress: bool | None = None,
) -> Written:
    """Write the results of an extractor; see `write_results`."""
    one_of(get_args(Resume))("resume", resume)
    check_progress(progress)
    task, run = task_and_run(extractor)
    task = task.with_confidence
    task.warn_of_unused()
    state = BatchState(count_of(documents), wants_evidence=True)
    with open_sink(output, task.provenance, resume) as sink:
        outputs = [sink.path, *map(sink.path.with_suffix, TABLE_SUFFIXES)]
        works: dict[int, Unrecorded] = {}  # by the positions of the documents
        failed = 0

        def waiting_documents() -> Iterator[tuple[Task, DocumentLike] | None]:
            for position, work in enumerate(unrecorded(each_document(documents, outputs), sink, state)):
                if work is not None:
                    works[position] = work
                yield None if work is None else (task, work.document)

        try:
            with closing(run.results(waiting_documents(), state, progress=progress)) as results:
                for result in results:
                    work = works.pop(result.position)
                    to_line = partial(_line_of_result, work=work, provenance=task.provenance)
                    written, line = made_of(result, to_line)
                    sink.append(line)
                    failed += written.error is not None
        except BaseException as error:
            sink.note_kept(error)
            raise
    return Written(state.done, failed, state.skipped, sink.failed_before)


class Unrecorded(NamedTuple):
    """A document without a record, or the error that it fails with."""

    document: Document | StructuredError
    digest: str
    place: Place


def _line_of_result(result: Result[Any], *, work: Unrecorded, provenance: Provenance) -> bytes:
    return line_of(record_of(result, work.digest, work.place, provenance))


def unrecorded(
    documents: Iterable[DocumentLike], sink: Journal | RecordStream, state: BatchState
) -> Iterator[Unrecorded | None]:
    """Yield the documents without a record in a sink; None for the others.

    A document has its id. Raises OutputError for ids that clash.
    """
    seen: set[str] = set()
    gap = Gap()
    for position, original in enumerate(documents):
        document_id = id_of(original, position)
        document_or_error: Document | StructuredError
        digest = DIGEST_OF_NO_TEXT
        try:
            document_or_error = replace(read_document(original), id=document_id)
            digest = digest_of(document_or_error)
        except Exception as raised:  # noqa: BLE001  it costs no other document its answer
            document_or_error = error_of_one(raised, f"Reading document {document_id}")
            document_or_error.id = document_id  # type: ignore[attr-defined]  # of a PromptError; others get one
        if document_id in seen:
            problem = f"Two documents have the id {shown(document_id)}, the second at position {position}"
            raise OutputError(f"{problem}. Give each an id of its own.", path=str(sink.path))
        seen.add(document_id)
        if sink.was_recorded(document_id, digest):
            state.skip_document()
            gap.before = document_id
            gap = Gap(after=document_id)
            yield None
            continue
        try:
            if isinstance(document_or_error, Document):
                metadata_to_json(document_id, document_or_error.metadata)
        except PromptError as unwritable:  # it is written without them
            document_or_error = unwritable
        yield Unrecorded(document_or_error, digest, Place(sink.call, position, gap))


def open_sink(output: Output, provenance: Provenance, resume: Resume) -> Journal | RecordStream:
    """Return the sink of the records. Raises ValueError for a path that is named like another kind of file."""
    if not isinstance(output, str | PathLike):
        return RecordStream(output)
    path = to_path(output)
    suffix = path.suffix.lower()
    if suffix and suffix not in SUFFIXES:  # whoever reads it would take it for something else
        table = ", and make a table of it in the end: write_table" if suffix in {".csv", ".parquet"} else ""
        problem = f"output is {str(path)!r}, and results are written as lines of JSON, to {' or '.join(SUFFIXES)}"
        raise ValueError(f"{problem}. Pass output={path.with_suffix('.jsonl').name!r}{table}.")
    return Journal(path, provenance, resume)
