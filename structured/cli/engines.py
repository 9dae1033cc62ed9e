"""Engines of `structured extract`: this process, or a cluster of Ray."""

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import typer
from rich.console import Console

from structured.errors import ModelError
from structured.extraction.documents.document import DocumentLike
from structured.extraction.extractor import Extractor
from structured.extraction.journal import Resume
from structured.extraction.records import Record
from structured.extraction.result_files import Output, Written, write_results_of
from structured.results.result import Result

if TYPE_CHECKING:
    from structured.extraction.options import Options


class EngineName(StrEnum):
    """The values of `--engine`."""

    LOCAL = "local"
    RAY = "ray"


class Engine(Protocol):
    """An engine: it answers documents, and writes or shows their results."""

    def __call__(
        self, documents: Iterable[DocumentLike], output: Output, *, resume: Resume, progress: bool | None
    ) -> Written:
        """Answer the documents that have no record in the output yet."""


def local_engine(output_type: Any, options: "Options", show: Callable[[Result[Any]], None] | None) -> Engine:
    """Return this process as an engine, with its model loaded. Raises `typer.BadParameter` for an option.

    With `show`, nothing is written: it is called with each result instead.
    """
    try:
        with Console(stderr=True).status("Loading the model …"):
            extractor = Extractor[Any](output_type, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error

    def answer(documents: Iterable[DocumentLike], output: Output, *, resume: Resume, progress: bool | None) -> Written:
        if show is None:
            return write_results_of(extractor, documents, output, resume=resume, progress=progress)
        done = failed = 0
        for result in extractor.results(documents, progress=progress):
            show(result)
            done += 1
            failed += result.error is not None
        return Written(done, failed, 0, 0)

    return answer


def ray_engine(
    read_type: Callable[[], Any],
    output_type: Any,
    options: "Options",
    taken: Callable[[Record], None],
    given: Mapping[str, Any],
) -> Engine:
    """Return a cluster as an engine, which is not started yet.

    Parameters:
        read_type: Returns the type; each process calls it.
        output_type: The type, as it is read here.
        options: See `Options`.
        taken: Is called with each record once it is written.
        given: Members of `Actors`, or None in place of those that have their defaults.

    Raises `typer.BadParameter` for an option, SchemaError for a type, and ModelError if Ray is not installed.
    """
    from structured.integrations.ray import Actors, Request, write_batch_by_actors

    if find_spec("ray") is None:
        raise ModelError("--engine ray needs Ray: pip install 'structured-extraction[ray]'.")
    request = Request(read_type, options)
    try:
        actors = Actors(**{name: value for name, value in given.items() if value is not None})
        request.check(output_type)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error

    def answer(documents: Iterable[DocumentLike], output: Output, *, resume: Resume, progress: bool | None) -> Written:
        starting = Console(stderr=True).status("Starting Ray, and loading the model …")
        how: dict[str, Any] = {"resume": resume, "progress": progress, "starting": starting, "taken": taken}
        with redirect_stdout(sys.stderr):  # Ray prints its messages to stdout
            return write_batch_by_actors(request, documents, output, actors, **how)

    return answer
