"""A batch that is written to a file: what has a record there is passed over, and the rest is answered and appended.

The documents that an earlier call has done are known by id and digest, so that memory holds no results: some 200 bytes
for each document.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args

from structured.errors import OutputError, PromptError
from structured.errors.arguments import one_of
from structured.errors.values import shown
from structured.extraction.documents.document import Document, DocumentLike, id_of, read_document
from structured.extraction.options import Errors
from structured.extraction.outcomes import Outcome
from structured.extraction.output.journal import Journal, Lines, Resume, SupportsWrite, to_path
from structured.extraction.output.parts import Parts
from structured.extraction.output.records import check_metadata, digest_of, line_of, made_by
from structured.extraction.output.rows import Rows
from structured.extraction.output.sink import Sink
from structured.extraction.run import Run
from structured.extraction.task import Task
from structured.output_types.optional_fields import Absent
from structured.output_types.output_type import OutputType

Output = str | PathLike[str] | SupportsWrite
"""The path of a file of results, or of a folder of parts if it ends with .parquet, or a stream of bytes."""


class BatchSummary(NamedTuple):
    """What a call did that wrote its results to a file; `read_results` reads them.

    Attributes:
        path: The file or folder; `-` for a stream.
        done: The documents that the call answered; each has a record now, unless it failed and errors="skip".
        failed: Those of them that have an error.
        before: The documents that earlier calls had done, and that were passed over.
        failed_before: The records with an error that earlier calls left.
    """

    path: Path
    done: int
    failed: int
    before: int
    failed_before: int


class Identified(NamedTuple):
    """A document that has an id, as a record has it, and what is to be answered."""

    document: Document
    digest: str
    work: DocumentLike


class Unwritten:
    """Documents that have no record in a sink.

    Attributes:
        sink: Where their records go.
        before: The documents that have one, and were passed over.
    """

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.before = 0
        self._seen: set[str] = set()

    def each(self, documents: Iterable[DocumentLike]) -> Iterator[Identified | None]:
        """Yield the documents that have no record, and None in place of the others.

        Raises OutputError for two documents of one id, and for one that has another text than the record of its id.
        """
        for position, given in enumerate(documents):
            document, work = _identified(position, given)
            identity, digest = document.id, digest_of(document)
            if identity in self._seen:
                raise self._error(
                    f"Two documents have the id {shown(identity)}, the second at position {position}. Give each an id "
                    "of its own."
                )
            self._seen.add(identity)
            known = self.sink.done.pop(identity, None)
            if known is None:
                yield Identified(document, digest, work)
            elif known.hex() == digest:
                self.before += 1
                yield None
            else:
                raise self._error(
                    f"The document {shown(identity)} has another text than when its record in {self.sink.path} was "
                    "written. Give it another id or remove its line, and call again; resume='retry' drops it if it is "
                    "that of an error."
                )

    def _error(self, problem: str) -> OutputError:
        return OutputError(problem, path=str(self.sink.path))


class WrittenBatch:
    """Documents whose answers go to a file."""

    def __init__(self, task: Task, sink: Sink, outcome: Outcome, made: dict[str, Any]) -> None:
        self.task = task
        self.outcome = outcome
        self.made = made
        self.unwritten = Unwritten(sink)
        self._pending: dict[int, Identified] = {}

    def work(self, documents: Iterable[DocumentLike]) -> Iterator[tuple[Task, DocumentLike] | None]:
        """Yield the documents that have no record, and None in place of the others. Raises OutputError."""
        for position, found in enumerate(self.unwritten.each(documents)):
            if found is None:
                if self.outcome.total is not None:
                    self.outcome.total -= 1
                yield None
                continue
            document, _, work = found
            try:
                check_metadata(document)
            except PromptError as error:  # this document fails, and is written without them
                document, work = replace(document, metadata={}), error
            self._pending[position] = found._replace(document=document)
            yield self.task, work

    def write(self, position: int, errors: Errors) -> None:
        """Write the record of a document that is done, and forget it."""
        document, digest, _ = self._pending.pop(position)
        value, error, text = self.outcome.results.pop(position)
        if error is None or errors != "skip":
            made = self.made, self.task.output_type
            line = line_of(document, digest, *made, value if error is None else error, text)
            self.unwritten.sink.append(line)


def write_batch(  # noqa: PLR0913  what a call was given
    run: Run,
    task: Task,
    documents: Iterator[DocumentLike],
    output: Output,
    *,
    total: int | None,
    absent: Absent | None,
    resume: Resume,
    errors: Errors,
    progress: bool | None,
) -> BatchSummary:
    """Answer the documents that have no record in a file yet, and append one for each as soon as it is done."""
    one_of(get_args(Resume))("resume", resume)
    made = made_by(task, task.options, absent)
    outcome = Outcome(total, keeps_texts=True)
    with opened(output, task.output_type, made, resume) as sink:
        batch = WrittenBatch(task, sink, outcome, made)
        try:
            with closing(run.finished(batch.work(documents), outcome, progress=progress)) as finished:
                for done in finished:
                    batch.write(done.position, errors)
            outcome.check_stopped()
        except BaseException as error:
            sink.note_kept(error)
            raise
    outcome.warn()
    return BatchSummary(sink.path, outcome.done, outcome.failed, batch.unwritten.before, sink.failed)


def opened(output: Output, output_type: OutputType[Any], made: dict[str, Any], resume: Resume) -> Sink:
    """Return what takes the records of a type. Raises ValueError for a path that is called like a table in CSV."""
    if not isinstance(output, str | PathLike):
        return Lines(output)
    path = to_path(output)
    match path.suffix.lower():
        case ".parquet":
            return Parts(path, made, resume, Rows.of(output_type))
        case ".csv":  # whoever reads it would take it for a table
            raise ValueError(
                f"output is {str(path)!r}, and a batch is written as lines of JSON or as Parquet. Pass "
                f"output={path.with_suffix('.jsonl').name!r}, and make a table of it in the end: write_table."
            )
    return Journal(path, made, resume)


def _identified(position: int, given: DocumentLike) -> tuple[Document, DocumentLike]:
    """Return a document with its id, or else its position as one, and what is to be answered.

    A file that cannot be read, or a row that is none, is handed on, and fails as a document does.
    """
    try:
        document = read_document(given)
    except PromptError:
        return Document("", id_of(given, position)), given
    if not document.id:
        document = replace(document, id=id_of(given, position))
    return document, document
