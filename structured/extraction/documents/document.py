"""Documents to extract from: a text or chat with an id and whatever goes along with it, and what is read as one."""

import os.path
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from typing_extensions import TypeAliasType

from structured.errors import OptionWarning, PromptError
from structured.errors.calling_line import warn
from structured.errors.values import shown
from structured.extraction.prompts import TextOrChat, is_message
from structured.results.evidence import PageLayout

_MAX_TEXTS_CHECKED = 100
"""Texts of a list that are looked at, as to whether they are names of files."""

_MAX_NAME_CHARACTERS = 260
"""Characters that such a name may have."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text or chat, with what tells it from others.

    Attributes:
        text: The text, or the messages of a chat.
        id: What it is called in errors and results; "" if it has no name of its own.
        metadata: Whatever goes along with it, unread.
        pages: Where each page starts in the text, in characters, if it has pages.
        layout: Where its words stand on the pages of its file, if that is a PDF or a picture.

    Raises TypeError for an id that is no text: it could not be told from others where results are read back.
    """

    text: TextOrChat
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    pages: Sequence[int] = ()
    layout: PageLayout | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise TypeError(f"The id of a document is {shown(self.id)}, not text. Pass a str.")


TextLike: TypeAlias = TextOrChat | tuple[str, str] | Path | Document
"""What is read as one document: a text, a chat, an id with a text, a file, or a `Document`."""

DocumentLike = TypeAliasType("DocumentLike", TextLike | PromptError)
"""A document of a batch; or why there is none."""

Documents: TypeAlias = Iterable[DocumentLike] | Path
"""Documents in any iterable, or a folder of files."""

AsyncDocuments: TypeAlias = Documents | AsyncIterable[DocumentLike]
"""Documents, also such as an event loop waits for."""


def read_document(document: object) -> Document:
    """Return what was given as a document. Raises PromptError for a file that cannot be read, or an id that is none."""
    match document:
        case tuple((document_id, str())) if not isinstance(document_id, str | Mapping):
            raise PromptError(f"The id of a document is {shown(document_id)}, not text. Pass a str: (str(id), text).")
        case Path():
            from structured.extraction.documents.files import read_file  # with much that only files need

            content = read_file(document)
            return Document(content.text, str(document), pages=content.pages, layout=content.layout)
        case PromptError():
            raise document
    return outline(document)


def outline(document: object) -> Document:
    """Return what was given as a document, as far as it is known without reading a file."""
    match document:
        case Document():
            return document
        case tuple((str() as document_id, str() as text)):
            return Document(text, document_id)
        case Path():
            return Document("", str(document))
        case PromptError():
            return Document("", document.id)
    return Document(document)  # type: ignore[arg-type]  # whatever is neither text nor chat is refused where it is read


def each_document(documents: Documents) -> Iterator[DocumentLike]:  # noqa: C901  one case for each mistake
    """Yield what is given as documents. Raises PromptError for what is a single one, or not several in an order.

    A folder stands for the files in it and in its folders, in the order of their names, without hidden ones.
    """
    match documents:
        case str() | bytes() | bytearray():
            kind = type(documents).__name__
            remedy = "Pass a list: [text]."
            if os.path.isdir(documents):  # noqa: PTH112  a Path raises for a long text
                remedy = f"It is the name of a folder. Pass Path({documents!r})."
            raise PromptError(f"The documents are one {kind}, and would be read letter by letter. {remedy}")
        case Document():
            raise PromptError("The documents are a single Document. Pass a list: [document].")
        case Path() if documents.is_dir():
            return _files(documents)
        case Path():
            problem = f"The documents are {documents}, which is no folder. Pass a folder, or a list: [path]"
            raise PromptError(f"{problem}. The rows of a table are documents, too: read_rows(path).")
        case Mapping():
            raise PromptError("The documents are a mapping, and would be its keys. Pass list(documents.items()).")
        case AbstractSet():
            raise PromptError("The documents are a set, and have no order for the answers. Pass a list.")
        case list() | tuple() if documents and all(map(is_message, documents)):
            raise PromptError("The documents are the messages of one chat. Pass a list of chats: [messages].")
        case Iterable():
            warn_of_names(documents)
            return iter(documents)
        case AsyncIterable():
            problem = "The documents are an asynchronous iterable"
            raise PromptError(f"{problem}. Pass it to aextract_batch or aextract_results.")
    raise PromptError(f"The documents are {shown(documents)}. Pass a list of texts.")


def warn_of_names(documents: Iterable[object]) -> None:
    """Warn of the first text that is the name of a file, and would be read as the document itself."""
    for text in documents[:_MAX_TEXTS_CHECKED] if isinstance(documents, list | tuple) else ():
        if (
            isinstance(text, str)
            and len(text) < _MAX_NAME_CHARACTERS
            and "\n" not in text
            and (os.sep in text or os.path.splitext(text)[1][1:].isalnum())  # noqa: PTH122
            and os.path.isfile(text)  # noqa: PTH113
        ):
            warn(OptionWarning(f"The text {text!r} is the name of a file, which is not read. Pass Path({text!r})."))
            return


def count_of(documents: object) -> int | None:
    """Return how many documents there are, None if that is known only when they are read."""
    return len(documents) if isinstance(documents, Sized) and not isinstance(documents, Path) else None


def id_of(document: object, position: int) -> str:
    """Return what a document is called, without reading it: its id, its path, or else its position."""
    return outline(document).id or str(position)


def characters_of(document: object) -> int:
    """Return about how many characters a document has, without reading it."""
    if isinstance(document, Path):
        try:
            return document.stat().st_size
        except (OSError, ValueError):  # it fails where it is read
            return 0
    text: object = outline(document).text
    if isinstance(text, list | tuple):
        return sum(len(str(turn)) for turn in text)
    return len(text) if isinstance(text, str) else 0


def _files(folder: Path, ancestors: frozenset[tuple[int, int]] = frozenset()) -> Iterator[Path]:
    """Yield the files in a folder; a link to a folder that it stands in is left out, and one not to be read stays."""
    try:
        status = folder.stat()
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        yield folder  # which fails as a document
        return
    identity = (status.st_dev, status.st_ino)
    if identity in ancestors:
        return
    for path in paths:
        if path.is_dir():
            yield from _files(path, ancestors | {identity})
        else:
            yield path
