"""Documents to extract from: a text or chat with an id and whatever goes along with it, and what is read as one."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from structured.errors import PromptError
from structured.errors.values import message, shown
from structured.extraction.conversation import TextOrChat, is_message


@dataclass(frozen=True, slots=True)
class Document:
    """A text or chat, with what tells it from others.

    Attributes:
        text: The text, or the messages of a chat.
        id: What it is called in errors and results; "" if it has no name of its own.
        metadata: Whatever goes along with it, unread.
    """

    text: TextOrChat
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


DocumentLike: TypeAlias = TextOrChat | tuple[str, str] | Path | Document
"""What is read as a document: a text, a chat, an id with a text, a file of text, or a `Document`."""


Documents: TypeAlias = Iterable[DocumentLike] | Path
"""Documents in any iterable, or a folder of files."""


def read_document(given: object) -> Document:
    """Return what was given as a document. Raises PromptError for a file that cannot be read as text."""
    match given:
        case Document():
            return given
        case (str() as identity, str() as text):
            return Document(text, identity)
        case Path():
            return Document(_read_file(given), str(given))
    return Document(given)  # type: ignore[arg-type]  # whatever is neither text nor chat is refused where it is read


def _read_file(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise PromptError(f"The file {path} cannot be read: {message(error)}.") from error
    except UnicodeDecodeError as error:
        raise PromptError(
            f"The file {path} is not text in UTF-8: byte {error.start:,} is {error.object[error.start]:#04x}. Convert "
            "it, or leave it out."
        ) from error
    if "\0" in text:
        raise PromptError(f"The file {path} has NUL characters, so that it is hardly text. Leave it out.")
    return text


def each_document(documents: Documents) -> Iterator[DocumentLike]:
    """Yield what is given as documents. Raises PromptError for what is a single one, or not several in an order.

    A folder stands for the files in it and in its folders, in the order of their names, without hidden ones.
    """
    match documents:
        case str() | bytes() | bytearray():
            kind = type(documents).__name__
            raise PromptError(f"The documents are one {kind}, and would be read letter by letter. Pass a list: [text].")
        case Document():
            raise PromptError("The documents are a single Document. Pass a list: [document].")
        case Path() if documents.is_dir():
            return _files(documents)
        case Path():
            raise PromptError(f"The documents are {documents}, which is no folder. Pass a folder, or a list: [path].")
        case Mapping():
            raise PromptError("The documents are a mapping, and would be its keys. Pass list(documents.items()).")
        case AbstractSet():
            raise PromptError("The documents are a set, and have no order for the answers. Pass a list.")
        case list() | tuple() if documents and all(map(is_message, documents)):
            raise PromptError("The documents are the messages of one chat. Pass a list of chats: [messages].")
        case Iterable():
            return iter(documents)
    raise PromptError(f"The documents are {shown(documents)}. Pass a list of texts.")


def count_of(documents: object) -> int | None:
    """Return how many documents there are, None if that is known only when they are read."""
    return len(documents) if isinstance(documents, Sized) and not isinstance(documents, Path) else None


def characters_of(given: object) -> int:
    """Return about how many characters a document has, without reading it."""
    match given:
        case str():
            return len(given)
        case (str(), str() as text):
            return len(text)
        case Document():
            return characters_of(given.text)
        case Path():
            return given.stat().st_size if given.is_file() else 0
        case list() | tuple():
            return sum(len(str(turn)) for turn in given)
    return 0


def _files(folder: Path) -> Iterator[Path]:
    inside = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    for one in inside:
        if one.is_dir():
            yield from _files(one)
        else:
            yield one
