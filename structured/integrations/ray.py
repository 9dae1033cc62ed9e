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
from structured.extraction.documents.document import DocumentLike, count_of
from structured.extraction.extractor import Extractor
from structured.extraction.journal import Journal, RecordStream, Resume
from structured.extraction.options import Options, checked_options
from structured.extraction.records import Record, read_line
from structured.extraction.result_files import Output, Written, open_sink, unrecorded, write_results_of
from structured.extraction.run import Run
from structured.output_types.output_type import check_interface
from structured.output_types.resolve import resolve_type
from structured.results.result import Provenance

ROWS = 64
"""Documents that an actor is given at once."""

NUM_CPUS = 1
"""Cores that Ray reserves for an actor, which are also the threads that it computes with."""

TRIES = 3
"""Times that some documents are given to another process when the one that was at them dies."""


def check_request(output_type: object, options: Options) -> None:
    """Check a type and options, without a model. Raises the errors of both."""
    options = checked_options(options)
    missing, grounded = options.get("allow_missing"), options.get("grounded")
    wanted = resolve_type(output_type, missing, options.get("layout"), grounded=grounded)
    Run.of(options)
    check_interface(wanted)


T = TypeVar("T")

Recorded: TypeAlias = tuple[T, list[StructuredWarning]]
"""What an actor returns, and its warnings, which the user's process repeats."""


class BatchActor:
    """An actor: it holds one model and one type, and writes the records of documents.

    Parameters:
        make_type: Returns the type. Each process calls it for itself, since types with code of their own do not travel.
        options: The options of the batch.
        folder: The working directory of the user, where there is one.
        path: Further folders of modules.
    """

    def __init__(self, make_type: Callable[[], object], options: Options, folder: str, path: list[str]) -> None:
        if Path(folder).is_dir():
            os.chdir(folder)
        sys.path.extend(one for one in path if one not in sys.path)
        self._make_type, self._options = make_type, options

    @cached_property
    def _extractor(self) -> Extractor[Any]:
        return Extractor[Any](self._make_type(), **self._options)

    def provenance(self) -> Recorded[Provenance]:
        """Return the provenance of the answers. Raises the errors of `Extractor`."""
        return _recorded(lambda: self._extractor.provenance)

    def answer(self, documents: list[DocumentLike]) -> Recorded[list[bytes]]:
        """Return the records of documents, a line for each. Raises the errors of the model."""
        stream = BytesIO()
        _, warned = _recorded(
            lambda: write_results_of(self._extractor, documents, stream, resume="continue", progress=False)
        )
        return stream.getvalue().splitlines(keepends=True), warned


def _recorded(run: Callable[[], T]) -> Recorded[T]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = run()
    return value, [one.message for one in caught if isinstance(one.message, StructuredWarning)]


def write_batch_by_actors(  # noqa: PLR0913  the batch, its output and its observers
    make_type: Callable[[], object],
    options: Options,
    documents: Iterable[DocumentLike],
    output: Output,
    *,
    concurrency: int,
    num_gpus: float,
    resume: Resume,
    progress: bool | None,
    starting: AbstractContextManager[object],
    taken: Callable[[Record], None],
) -> Written:
    """Answer the documents that have no record in an output yet, over a cluster, and append one for each.

    The cluster is the one that this process is connected to, or that `RAY_ADDRESS` names; else Ray starts one on this
    machine. An actor that dies is replaced, and what it was at is done again; each document has one record.

    Parameters:
        make_type: Returns the type, in each process.
        options: See `Options`.
        documents: The documents, which are read here, as they are needed.
        output: As for `write_results`.
        concurrency: The number of actors. Those that find no room are not waited for.
        num_gpus: The GPUs that Ray reserves for each actor; a part of one if several are to share it.
        resume: As for `write_results`.
        progress: As for `write_results`.
        starting: Is entered until a first actor is ready.
        taken: Is given each record once it is written.

    Raises:
        ImportError: Ray is not installed.
        OutputError, VocabularyError: As for `write_results`.
        ModelError: As for `write_results`; or some documents were given to `TRIES` more processes when the one that was
            at them died, and each of these died.
    """
    with ExitStack() as stack:
        with starting:
            pool = stack.enter_context(_pool(concurrency, num_gpus, make_type, options))
            provenance = pool.provenance()
        state = BatchState(count_of(documents))
        sink: Journal | RecordStream = open_sink(output, provenance, resume)
        stack.enter_context(sink)
        try:
            with showing(state, progress):
                sent = (work[0] for work in unrecorded(documents, sink, state) if work is not None)
                for line in pool.lines(sent):
                    sink.append(line)
                    record = read_line(line)
                    state.done += 1
                    state.failed += "error" in record
                    taken(record)
        except BaseException as error:
            sink.note_kept(error)
            raise
    return Written(state.done, state.failed, state.skipped, sink.failed_before)


class _Pool:
    """The actors of a cluster."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        self._ray = ray
        self._warned: set[str] = set()
        self._free = {actor.provenance.remote(): actor for actor in actors}

    def provenance(self) -> Provenance:
        """Return the provenance of the answers, from the first actor that is ready."""
        (first,), _ = self._ray.wait([*self._free])
        provenance: Provenance = self._got(first)
        return provenance

    def lines(self, documents: Iterator[DocumentLike]) -> Iterator[bytes]:
        """Yield the records of documents as soon as an actor has them, in no order."""
        busy: dict[Any, Any] = {}
        is_over = False
        while busy or not is_over:
            (first,), _ = self._ray.wait([*busy, *self._free])
            found = self._got(first)
            if first in busy:
                yield from found
            actor = busy.pop(first, None) or self._free.pop(first)
            given = list(islice(documents, ROWS))
            if given:
                busy[actor.answer.remote(given)] = actor
            is_over = is_over or not given

    def _got(self, reference: Any) -> Any:
        """Return what an actor returned, and repeat its warnings, each of them once."""
        from ray.exceptions import RayError, RayTaskError

        try:
            found, warned = self._ray.get(reference)
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
        for warning in warned:
            if str(warning) not in self._warned:
                self._warned.add(str(warning))
                warn(warning)
        return found


@contextmanager
def _pool(concurrency: int, num_gpus: float, *given: Any) -> Iterator[_Pool]:
    """Start actors, which are given something, and end them and the cluster that was started for them."""
    import ray

    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(log_to_driver=False, logging_level="ERROR")
    _warn_of_room(ray.cluster_resources(), {"GPU": num_gpus, "CPU": NUM_CPUS})
    try:
        kind = ray.remote(num_cpus=NUM_CPUS, num_gpus=num_gpus, max_restarts=-1, max_task_retries=TRIES)(BatchActor)
        where = str(Path.cwd()), [one for one in sys.path if one]
        pool = [kind.remote(*given, *where) for _ in range(concurrency)]
        try:
            yield _Pool(ray, pool)
        finally:
            for actor in pool:
                ray.kill(actor)
    finally:
        if is_ours:
            ray.shutdown()


def _warn_of_room(there: Mapping[str, float], needed: Mapping[str, float]) -> None:
    """Warn of a cluster without room for a single actor: unless it grows, nothing is ever done."""
    for name, amount in needed.items():
        if there.get(name, 0) < amount:
            warn(
                OptionWarning(
                    f"An actor reserves {amount:g} {name}, and the cluster has {there.get(name, 0):g}: it waits until "
                    "there is more. Add that, or reserve less."
                )
            )
