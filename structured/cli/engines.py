"""Engines: what answers the documents of `structured extract`: this process, or a cluster of Ray."""

import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import typer
from rich.console import Console

from structured.cli.type_arguments import AskedType
from structured.errors import ModelError
from structured.extraction.documents.document import DocumentLike
from structured.extraction.events import Listener
from structured.extraction.extractor import Extractor
from structured.extraction.output.journal import Resume
from structured.extraction.output.records import Record
from structured.extraction.output.writing import Output, Written, write_results_of

if TYPE_CHECKING:
    from structured.extraction.options import Options


class EngineName(StrEnum):
    """What `--engine` may say."""

    LOCAL = "local"
    RAY = "ray"


class Engine(Protocol):
    """What answers documents, and writes their records."""

    def __call__(
        self, documents: Iterable[DocumentLike], output: Output, *, resume: Resume, progress: bool | None
    ) -> Written:
        """Answer the documents that have no record in the output yet."""


@dataclass(frozen=True)
class Wanted:
    """What is asked of each document.

    Attributes:
        output_type: The type.
        asked: How it is named, for processes that read it themselves.
        options: See `Options`.
    """

    output_type: Any
    asked: AskedType
    options: "Options"


def local_engine(wanted: Wanted, observe: Listener) -> Engine:
    """Return this process as an engine, with its model loaded. Raises `typer.BadParameter` for an option."""
    options: Options = {**wanted.options, "observe": observe}
    try:
        with Console(stderr=True).status("Loading the model …"):
            extractor = Extractor[Any](wanted.output_type, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error

    def answer(documents: Iterable[DocumentLike], output: Output, *, resume: Resume, progress: bool | None) -> Written:
        return write_results_of(extractor, documents, output, resume=resume, progress=progress)

    return answer


def ray_engine(
    wanted: Wanted, taken: Callable[[Record], None], *, concurrency: int | None, num_gpus: float | None
) -> Engine:
    """Return a cluster as an engine, which is not started yet.

    Raises `typer.BadParameter` for an option, SchemaError for a type, and ModelError if Ray is not installed.
    """
    from structured.integrations.ray import Actors, Request, write_batch_by_actors

    if find_spec("ray") is None:
        raise ModelError("--engine ray needs Ray: pip install 'structured-extraction[ray]'.")
    given: dict[str, Any] = {"concurrency": concurrency, "num_gpus": num_gpus}
    request = Request(wanted.asked.read, wanted.options)
    try:
        actors = Actors(**{name: value for name, value in given.items() if value is not None})
        request.check(wanted.output_type)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error

    def answer(documents: Iterable[DocumentLike], output: Output, *, resume: Resume, progress: bool | None) -> Written:
        starting = Console(stderr=True).status("Starting Ray, and loading the model …")
        how: dict[str, Any] = {"resume": resume, "progress": progress, "starting": starting, "taken": taken}
        with redirect_stdout(sys.stderr):  # where Ray prints what it has to say
            return write_batch_by_actors(request, documents, output, actors, **how)

    return answer
