"""Where the records of a batch go: a file of lines, a folder of parts, or a stream."""

from pathlib import Path
from typing import Protocol, Self

from structured.errors import OutputError
from structured.errors.values import counted


class Sink(Protocol):
    """What takes records, one by one, and knows which documents have one. Used in a `with`."""

    @property
    def path(self) -> Path:
        """What messages call it."""

    @property
    def done(self) -> dict[str, bytes]:
        """The digest of each document that had a record when it was opened, by its id."""

    @property
    def failed(self) -> int:
        """How many of these have an error."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def append(self, line: bytes) -> None:
        """Take a record, as a line of JSON. Raises OutputError if it cannot be kept."""

    def note_kept(self, error: BaseException) -> None:
        """Tell an exception that ends the call what is kept, and how to go on."""


def note_kept(error: BaseException, path: Path, kept: int) -> None:
    """Tell an exception how many records are kept; one of this output says itself what has to be done first."""
    if isinstance(error, OutputError) and Path(error.path).is_relative_to(path):
        error.kept = kept
    else:
        error.add_note(f"{counted(kept, 'record')} kept in {path}; the same call goes on.")
