"""A batch over a cluster of Ray: documents are read and records written here, and actors answer them.

The records are those of a batch in one process, since each actor writes them as such a batch does; and where they go is
opened and resumed as there. A dataset of Ray was not taken: it has rows in place of documents of any kind, and
when it ends early, what is done is lost. What has to pass through this process is the price.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from structured.errors import ModelError, OptionWarning, StructuredError, StructuredWarning
from structured.errors.calling_line import warn
from structured.errors.values import message
from structured.extraction.batch_state import BatchState, showing
from structured.extraction.documents.document import Document, DocumentLike, count_of, id_of
from structured.extraction.extractor import Extractor
from structured.extraction.journal import Journal, RecordStream, Resume
from structured.extraction.options import Options, checked_options
from structured.extraction.records import Place, Record, line_of, read_line
from structured.extraction.result_files import Output, Written, open_sink, unrecorded, write_results_of
from structured.extraction.run import Run
from structured.output_types.output_type import check_interface
from structured.output_types.resolve import TypeLike, resolve_type
from structured.results.result import Provenance

DOCUMENTS_AT_ONCE = 64
"""Documents that an actor answers in one call."""

CPUS = 1
"""Cores that Ray reserves for an actor, which are also the threads that it computes with."""

MAX_RETRIES = 3
"""How often documents are answered by another process after the one that was at them died."""


def check_request(output_type: object, options: Options) -> None:
    """Check a type and options, without a model. Raises the errors of both."""
    options = checked_options(options)
    missing, grounded = options.get("allow_missing"), options.get("grounded")
    resolved_type = resolve_type(output_type, missing, options.get("layout"), grounded=grounded)
    Run.of(options)
    check_interface(resolved_type)


T = TypeVar("T")

WithWarnings: TypeAlias = tuple[T, list[StructuredWarning]]
"""What a call of an actor returns: a value, and the warnings that were given, which the user's process repeats."""


class BatchActor:
    """An actor: it holds one model and one type, and writes the records of documents.

    Parameters:
        make_type: Returns the type. Each process calls it for itself, since types with code of their own do not travel.
        options: The options of the batch.
        folder: The working directory of the user, where there is one.
        path: Further folders of modules.
    """

    def __init__(self, make_type: Callable[[], TypeLike[Any]], options: Options, folder: str, path: list[str]) -> None:
        if Path(folder).is_dir():
            os.chdir(folder)
        sys.path.extend(folder for folder in path if folder not in sys.path)
        self._make_type, self._options = make_type, options

    @cached_property
    def _extractor(self) -> Extractor[Any]:
        return Extractor[Any](self._make_type(), **self._options)

    def provenance(self) -> WithWarnings[Provenance]:
        """Return the provenance of the answers. Raises the errors of `Extractor`."""
        return _with_warnings(lambda: self._extractor.provenance)

    def answer(self, documents: list[DocumentLike]) -> WithWarnings[list[bytes]]:
        """Return the records of documents, a line for each. Raises the errors of the model."""
        stream = BytesIO()
        _, new_warnings = _with_warnings(
            lambda: write_results_of(self._extractor, documents, stream, resume="continue", progress=False)
        )
        return stream.getvalue().splitlines(keepends=True), new_warnings


def _with_warnings(run: Callable[[], T]) -> WithWarnings[T]:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        value = run()
    return value, [caught.message for caught in records if isinstance(caught.message, StructuredWarning)]


def write_batch_by_actors(  # noqa: PLR0913  the batch, its output and its observers
    make_type: Callable[[], TypeLike[Any]],
    options: Options,
    documents: Iterable[DocumentLike],
    output: Output,
    *,
    concurrency: int,
    num_gpus: float,
    resume: Resume,
    progress: bool | None,
    startup: AbstractContextManager[object],
    on_record: Callable[[Record], None],
) -> Written:
    """Answer the documents that have no record in an output yet, over a cluster, and append one for each.

    The cluster is the one that this process is connected to, or that `RAY_ADDRESS` names; else Ray starts one on this
    machine. An actor that dies is replaced, and what it was at is done again; each document has one record.

    Parameters:
        make_type: Returns the type, in each process.
        options: See `Options`.
        documents: The documents, which are read here, as they are needed.
        concurrency: The number of actors. Those that find no room are not waited for.
        num_gpus: The GPUs that Ray reserves for each actor; a part of one if several are to share it.
        output, resume, progress: As for `write_results`.
        startup: A context that is entered until a first actor is ready.
        on_record: Called with each record once it is written.

    Raises:
        ImportError: Ray is not installed.
        OutputError, VocabularyError: As for `write_results`.
        ModelError: As for `write_results`; or some documents were given to `MAX_RETRIES` more processes after the
            one that was at them died, and each of these died.
    """
    with ExitStack() as stack:
        with startup:
            pool = stack.enter_context(_actor_pool(concurrency, num_gpus, make_type, options))
            provenance = pool.provenance()
        state = BatchState(count_of(documents))
        sink: Journal | RecordStream = open_sink(output, provenance, resume)
        stack.enter_context(sink)
        try:
            with showing(state, progress):
                places: dict[str, Place] = {}  # of the documents that actors have, by their ids

                def sent() -> Iterator[Document | StructuredError]:
                    for work in unrecorded(documents, sink, state):
                        if work is not None:
                            places[id_of(work.document, work.place.position)] = work.place
                            yield work.document

                for line in pool.lines(sent()):
                    record = read_line(line)
                    record["order"] = places.pop(record["id"]).to_json()  # in place of that within the actor
                    sink.append(line_of(record))
                    state.done += 1
                    state.failed += "error" in record
                    on_record(record)
        except BaseException as error:
            sink.note_kept(error)
            raise
    return Written(state.done, state.failed, state.skipped, sink.failed_before)


class _ActorPool:
    """The actors of a cluster."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        self._ray = ray
        self._repeated_warnings: set[str] = set()
        self._starting_actors = {actor.provenance.remote(): actor for actor in actors}

    def provenance(self) -> Provenance:
        """Return the provenance of the answers, from the first actor that is ready."""
        (reference,), _ = self._ray.wait([*self._starting_actors])
        provenance: Provenance = self._result_of(reference)
        return provenance

    def lines(self, documents: Iterator[DocumentLike]) -> Iterator[bytes]:
        """Yield the records of documents as soon as an actor has them, in no order."""
        busy_actors: dict[Any, Any] = {}
        is_exhausted = False
        while busy_actors or not is_exhausted:
            (reference,), _ = self._ray.wait([*busy_actors, *self._starting_actors])
            value = self._result_of(reference)
            lines = value if reference in busy_actors else ()
            actor = busy_actors.pop(reference, None) or self._starting_actors.pop(reference)
            try:
                next_documents = list(islice(documents, DOCUMENTS_AT_ONCE))
            except BaseException:
                yield from lines
                raise
            if next_documents:
                busy_actors[actor.answer.remote(next_documents)] = actor
            is_exhausted = is_exhausted or not next_documents
            yield from lines  # only now, since the place of a document is known once the next one has been read

    def _result_of(self, reference: Any) -> Any:
        """Return what an actor returned, and repeat its warnings, each of them once."""
        from ray.exceptions import RayError, RayTaskError

        try:
            value, new_warnings = self._ray.get(reference)
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, StructuredError):
                raise cause from None
            raise ModelError(f"An actor failed: {type(cause).__name__}: {message(cause)}.") from error
        except RayError as error:
            raise ModelError(
                f"A process died, and so did those that were given its documents after it: {message(error)} Lower "
                "batch_size if memory was short."
            ) from error
        for warning in new_warnings:
            if str(warning) not in self._repeated_warnings:
                self._repeated_warnings.add(str(warning))
                warn(warning)
        return value


@contextmanager
def _actor_pool(concurrency: int, num_gpus: float, *actor_arguments: Any) -> Iterator[_ActorPool]:
    """Start actors with some arguments, and end them, with the cluster if it was started for them."""
    import ray

    is_started_here = not ray.is_initialized()
    if is_started_here:
        ray.init(log_to_driver=False, logging_level="ERROR")
    _warn_of_resources(ray.cluster_resources(), {"GPU": num_gpus, "CPU": CPUS})
    try:
        kind = ray.remote(num_cpus=CPUS, num_gpus=num_gpus, max_restarts=-1, max_task_retries=MAX_RETRIES)(BatchActor)
        folders = str(Path.cwd()), [folder for folder in sys.path if folder]
        pool = [kind.remote(*actor_arguments, *folders) for _ in range(concurrency)]
        try:
            yield _ActorPool(ray, pool)
        finally:
            for actor in pool:
                ray.kill(actor)
    finally:
        if is_started_here:
            ray.shutdown()


def _warn_of_resources(available: Mapping[str, float], required: Mapping[str, float]) -> None:
    """Warn of a cluster without room for a single actor: unless it grows, nothing is ever done."""
    for name, amount in required.items():
        total = available.get(name, 0)
        if total < amount:
            reason = f"An actor reserves {amount:g} {name}, and the cluster has {total:g}"
            warn(OptionWarning(f"{reason}: it waits until there is more. Add that, or reserve less."))
