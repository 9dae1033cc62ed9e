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
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from structured.errors import ModelError, OptionWarning, StructuredError, StructuredWarning
from structured.errors.arguments import count, number
from structured.errors.calling_line import warn
from structured.errors.values import message
from structured.extraction.batch_state import BatchState, showing
from structured.extraction.documents.document import DocumentLike, count_of
from structured.extraction.extractor import Extractor
from structured.extraction.journal import Journal, Lines, Resume
from structured.extraction.options import Options, checked_options
from structured.extraction.records import Record, read_line
from structured.extraction.result_files import Output, Written, opened, unwritten, write_results_of
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


@dataclass(frozen=True)
class Request:
    """The type and the options of a batch.

    Each process calls `make_type` for itself, since types with code of their own do not travel.
    """

    make_type: Callable[[], object]
    options: Options

    def check(self, given: object) -> None:
        """Check the type, read here, and the options, without a model. Raises the errors of both."""
        options = checked_options(self.options)
        missing, grounded = options.get("allow_missing"), options.get("grounded")
        wanted = resolve_type(given, missing, options.get("layout"), grounded=grounded)
        Run.of(options)
        check_interface(wanted)


@dataclass(frozen=True)
class Actors:
    """The number of actors, and the GPUs that Ray reserves for each of them.

    Attributes:
        concurrency: The number of actors. Actors that find no room are not waited for.
        num_gpus: The GPUs for each actor; a part of one if several are to share it.
    """

    concurrency: int = 1
    num_gpus: float = 0

    def __post_init__(self) -> None:
        count(1)("concurrency", self.concurrency)
        number(lambda share: 0 <= share < float("inf"), "0 or greater")("num_gpus", self.num_gpus)


class ActorOutput(NamedTuple):
    """The records that an actor wrote for some documents, and its warnings."""

    lines: list[bytes]
    """The record of each, as a line."""
    warned: list[StructuredWarning]
    """The warnings of the actor, which the user's process repeats."""


class BatchActor:
    """An actor: it holds one model and one type, and writes the records of documents.

    Parameters:
        request: The type and the options.
        folder: The working directory of the user, where there is one.
        path: Further folders of modules.
    """

    def __init__(self, request: Request, folder: str, path: list[str]) -> None:
        if Path(folder).is_dir():
            os.chdir(folder)
        sys.path.extend(one for one in path if one not in sys.path)
        self._request = request

    @cached_property
    def _extractor(self) -> Extractor[Any]:
        request = self._request
        return Extractor[Any](request.make_type(), **request.options)

    def provenance(self) -> tuple[Provenance, list[StructuredWarning]]:
        """Return the provenance of the answers, and the warnings. Raises the errors of `Extractor`."""
        with _recorded_warnings() as recorded:
            return self._extractor.provenance, recorded

    def answer(self, documents: list[DocumentLike]) -> ActorOutput:
        """Return the records of documents. Raises the errors of the model."""
        stream = BytesIO()
        with _recorded_warnings() as recorded:
            write_results_of(self._extractor, documents, stream, resume="continue", progress=False)
        return ActorOutput(stream.getvalue().splitlines(keepends=True), recorded)


def write_batch_by_actors(  # noqa: PLR0913  the batch, its output and its observers
    request: Request,
    documents: Iterable[DocumentLike],
    output: Output,
    actors: Actors,
    *,
    resume: Resume,
    progress: bool | None,
    starting: AbstractContextManager[object],
    taken: Callable[[Record], None],
) -> Written:
    """Answer the documents that have no record in an output yet, over a cluster, and append one for each.

    The cluster is the one that this process is connected to, or that `RAY_ADDRESS` names; else Ray starts one on this
    machine. An actor that dies is replaced, and what it was at is done again; each document has one record.

    Parameters:
        request: The type and the options.
        documents: The documents, which are read here, as they are needed.
        output: As for `write_results`.
        actors: How many processes answer.
        resume: As for `write_results`.
        progress: As for `write_results`.
        starting: Is entered until a first actor is ready.
        taken: Is given each record once it is written.

    Raises:
        ImportError: Ray is not installed: `pip install 'structured-extraction[ray]'`.
        OutputError, VocabularyError: As for `write_results`.
        ModelError: As for `write_results`; or some documents were given to `TRIES` more processes when the one that was
            at them died, and each of these died.
    """
    with ExitStack() as stack:
        with starting:
            pool = stack.enter_context(_pool(request, actors))
            provenance = pool.provenance()
        state = BatchState(count_of(documents))
        sink: Journal | Lines = opened(output, provenance, resume)
        stack.enter_context(sink)
        try:
            with showing(state, progress):
                for line in pool.lines(_sent(unwritten(documents, sink, state), state)):
                    sink.append(line)
                    record = read_line(line)
                    state.done += 1
                    state.failed += "error" in record
                    taken(record)
        except BaseException as error:
            sink.note_kept(error)
            raise
    return Written(state.done, state.failed, state.before, sink.failed)


def _sent(documents: Iterable[tuple[DocumentLike, str] | None], state: BatchState) -> Iterator[DocumentLike]:
    """Yield documents as an actor gets them: read, with their id, or the error of one that cannot be read."""
    for document, _ in filter(None, documents):
        state.read += 1
        yield document


class _Pool:
    """The actors of a cluster."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        self._ray = ray
        self._warned: set[str] = set()
        self._free = {actor.provenance.remote(): actor for actor in actors}

    def provenance(self) -> Provenance:
        """Return the provenance of the answers, from the first actor that is ready."""
        (first,), _ = self._ray.wait([*self._free])
        provenance, warned = self._got(first)
        self._say(warned)
        assert isinstance(provenance, Provenance)
        return provenance

    def lines(self, documents: Iterator[DocumentLike]) -> Iterator[bytes]:
        """Yield the records of documents as soon as an actor has them, in no order."""
        busy: dict[Any, Any] = {}
        is_over = False
        while busy or not is_over:
            (first,), _ = self._ray.wait([*busy, *self._free])
            found = self._got(first)
            if isinstance(found, ActorOutput):
                yield from found.lines
                self._say(found.warned)
            actor = busy.pop(first, None) or self._free.pop(first)
            given = list(islice(documents, ROWS))
            if given:
                busy[actor.answer.remote(given)] = actor
            is_over = is_over or not given

    def _got(self, reference: Any) -> Any:
        from ray.exceptions import RayError, RayTaskError

        try:
            return self._ray.get(reference)
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

    def _say(self, warned: list[StructuredWarning]) -> None:
        """Repeat the warnings of an actor, each of them once."""
        for warning in warned:
            if str(warning) not in self._warned:
                self._warned.add(str(warning))
                warn(warning)


@contextmanager
def _pool(request: Request, actors: Actors) -> Iterator[_Pool]:
    """Start actors, and end them and the cluster that was started for them."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("This needs Ray: pip install 'structured-extraction[ray]'.") from error
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(log_to_driver=False, logging_level="ERROR")
    _warn_of_room(ray.cluster_resources(), {"GPU": actors.num_gpus, "CPU": NUM_CPUS})
    try:
        kind = ray.remote(num_cpus=NUM_CPUS, num_gpus=actors.num_gpus, max_restarts=-1, max_task_retries=TRIES)(
            BatchActor
        )
        where = str(Path.cwd()), [one for one in sys.path if one]
        pool = [kind.remote(request, *where) for _ in range(actors.concurrency)]
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


@contextmanager
def _recorded_warnings() -> Iterator[list[StructuredWarning]]:
    recorded: list[StructuredWarning] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield recorded
        recorded.extend(one.message for one in caught if isinstance(one.message, StructuredWarning))
