"""Documents to extract from: a text or chat with an id and whatever goes along with it, and what is read as one."""

import os.path
import re
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from typing_extensions import TypeAliasType

from structured.errors import OptionWarning, PromptError, StructuredError
from structured.errors.calling_line import warn
from structured.errors.values import message, shown
from structured.extraction.prompts import TextOrChat, is_message, is_messages
from structured.results.evidence import PageLayout

if TYPE_CHECKING:
    from structured.extraction.documents.tables import SourceTable

_MAX_PATH_CHARACTERS = 260
"""Characters that a text may have that is taken for a path."""

_PATH = re.compile(
    r"""(?x)
    (?: file | s3 | gs | az | abfss? | hdfs | s?ftp | smb ) :// \S+
    | (?: [a-z]:[\\/] (?!/) | \\\\ \w | \.{1,2}[\\/] | ~[\\/] ) \S .*  # a root
    | (?: / [^\s/]+ ){2,} /?  # /home/letters, but not /start
    | (?! www\. | \w+:// ) (?=.*[^\W\d]) [^\s@]+ [\\/]  # inbox/2024/
    | (?! www\. ) [^\s@]* [^\s@./\\] \.  # invoice.pdf
        (?: txt | md | html? | xml | eml | msg | log | pdf | docx? | rtf | odt | pptx? | xlsx? | csv | tsv | jsonl?
        | ndjson | parquet | zip | png | jpe?g | gif | bmp | tiff? | webp | heic )
    """,
    re.IGNORECASE,
)
"""Paths of files and folders that a whole text may be; `and/or`, `2024/05/02` and `Booking.com` are none."""


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
        object.__setattr__(self, "id", str.__str__(self.id))  # a class of the user's own may raise wherever it is used


TextLike: TypeAlias = TextOrChat | tuple[str, str | Path] | Path | Document
"""What is read as one document: a text, a chat, a file, an id with a text or file, or a `Document`."""

DocumentLike = TypeAliasType("DocumentLike", TextLike | StructuredError)
"""A document of a batch; or why there is none."""

Documents: TypeAlias = Iterable[DocumentLike] | Path
"""Documents in any iterable, or those in a folder or a file; each row of a table is one."""

AsyncDocuments: TypeAlias = Documents | AsyncIterable[DocumentLike]
"""Documents, also such as an event loop waits for."""


def read_document(document: object) -> Document:
    """Return what was given as a document. Raises PromptError for a file that cannot be read, or an id that is none."""
    match document:
        case tuple((document_id, str() | Path())) if not isinstance(document_id, str | Mapping):
            raise PromptError(f"The id of a document is {shown(document_id)}, not text. Pass a str: (str(id), text).")
        case tuple((str() as document_id, Path() as path)):
            return replace(read_document(path), id=document_id)
        case Path():
            from structured.extraction.documents.files import read_file  # with much that only files need

            content = read_file(document)
            return Document(content.text, str(document), pages=content.pages, layout=content.layout)
        case StructuredError():
            raise document
    return outline(document)


def outline(document: object) -> Document:
    """Return what was given as a document, as far as it is known without reading a file."""
    match document:
        case Document():
            return document
        case tuple((str() as document_id, str() | Path() as text)):
            return Document("" if isinstance(text, Path) else text, document_id)
        case Path():
            return Document("", str(document))
        case StructuredError():
            return Document("", getattr(document, "id", ""))
    return Document(document)  # type: ignore[arg-type]  # whatever is neither text nor chat is refused where it is read


def each_document(  # noqa: C901  one case for each mistake
    documents: Documents, excluded: Iterable[Path] = ()
) -> Iterator[DocumentLike]:
    """Yield what is given as documents. Raises PromptError for what is a single one, or not several in an order.

    A path stands for the documents in a file or folder, without `excluded` files; see `documents_at`.
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
        case Path():
            return documents_at(documents, excluded)
        case Iterable() if hasattr(documents, "columns"):
            kind = f"{type(documents).__name__}, and would be the names of its columns"
            remedy = 'Pass a column: frame["text"].'
            raise PromptError(f"The documents are a {kind}. {remedy} `extract_table` answers each row of a frame.")
        case Mapping():
            raise PromptError("The documents are a mapping, and would be its keys. Pass list(documents.items()).")
        case AbstractSet():
            raise PromptError("The documents are a set, and have no order for the answers. Pass a list.")
        case list() | tuple() if documents and all(map(is_message, documents)):
            raise PromptError("The documents are the messages of one chat. Pass a list of chats: [messages].")
        case Iterable():
            return _with_warning(documents)
        case AsyncIterable():
            problem = "The documents are an asynchronous iterable"
            raise PromptError(f"{problem}. Pass it to aextract_batch or aextract_results.")
    raise PromptError(f"The documents are {shown(documents)}. Pass a list of texts.")


def looks_like_path(document: object) -> bool:
    """Tell whether a text is one line that looks like the path of a file or folder, or is that of a file."""
    if type(document) is not str or len(document) > _MAX_PATH_CHARACTERS:
        return False
    text = document.strip()
    if len(text.splitlines()) != 1 or "\0" in text:
        return False
    has_suffix = os.path.splitext(text)[1][1:].isalnum()  # noqa: PTH122
    return _PATH.fullmatch(text) is not None or (has_suffix and os.path.isfile(text))  # noqa: PTH113


def warn_of_path(document: object) -> bool:
    """Warn of a text that looks like a path, and is read as the document itself; tell whether it does."""
    text = document[1] if type(document) is tuple and len(document) == 2 else document
    is_path = looks_like_path(text)
    if is_path:
        problem = f"The text {text!r} looks like a path, and what is there is not read"
        remedy = "Pass the text that is there" if "://" in str(text) else f"To read a file, pass Path({str(text)!r})"
        warn(OptionWarning(f"{problem}. {remedy}."))
    return is_path


def _with_warning(documents: Iterable[DocumentLike]) -> Iterator[DocumentLike]:
    """Yield documents, and warn of the first that looks like a path."""
    iterator = iter(documents)
    for document in iterator:
        is_path = warn_of_path(document)
        yield document
        if is_path:
            yield from iterator


def read_rows(
    path: str | Path,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002  as in Document
) -> Iterator[Document | PromptError]:
    """Return the rows of a table as documents, read as they are needed.

        extract_batch(Person, read_rows("people.csv", text="biography", id="number"))

    The other columns become the `metadata` of a document. A row that is none is yielded as the PromptError that it
    fails with in a batch.

    Parameters:
        path: A file in CSV (`.csv`, `.tsv`; the separator is found out, and the first line has the names of the
            columns), JSON lines (`.jsonl`, `.ndjson`; an object on each line) or Parquet (`.parquet`; needs the extra
            `parquet`). In UTF-8, unless it begins with another byte-order mark.
        text: The column of the texts; in JSON lines, that may also be the messages of a chat. It may be left out where
            only one column has texts.
        id: The column of the ids. Without it, a document is called by its place: `people.csv:17` is line 17 of a text
            file, or row 17 of Parquet, counted from 1.

    Raises:
        PromptError: There is no such column, the file cannot be read, or it is of no such kind. While rows are read:
            the file is not text from some line on, or its quotes are not balanced.
    """
    from structured.extraction.documents.files import TABLE, kind_of_file
    from structured.extraction.documents.tables import TABLE_READERS, open_table

    path = Path(path)
    kind = kind_of_file(path) if path.suffix.lower() in TABLE_READERS else TABLE  # others are refused by their suffix
    if kind is not TABLE:
        raise PromptError(f"The file {path} is {kind.name}, in spite of its name. Pass it in a list: [path].")
    table, text = open_table(path, text, id)
    return _row_documents(table, text, id)


def _row_documents(table: "SourceTable", text_column: str, id_column: str | None) -> Iterator[Document | PromptError]:
    try:
        for number, row in table.rows:
            place = f"{table.path}:{number}"
            document = row if isinstance(row, PromptError) else _row_document(row, text_column, id_column, place)
            if isinstance(document, PromptError):
                document.id = place
            yield document
    except OSError as error:
        raise PromptError(f"The file {table.path} cannot be read to its end: {message(error)}.") from error


def _row_document(
    row: Mapping[str, Any], text_column: str, id_column: str | None, place: str
) -> Document | PromptError:
    """Return a row as a document, or why it is none."""
    text: Any = row.get(text_column)
    if not (isinstance(text, str) or is_messages(text)):
        return PromptError(f"{place}: {text_column!r} is {shown(text)}, not a text. Leave it out.")
    document_id = place
    if id_column is not None:
        value = row.get(id_column)
        if value is None or isinstance(value, list | dict) or str(value).strip() == "":
            return PromptError(f"{place}: {id_column!r} is {shown(value)}, no id. Give it one.")
        document_id = str(value)
    others = {name: value for name, value in row.items() if name not in {text_column, id_column}}
    return Document(text, document_id, others)


def count_of(documents: object) -> int | None:
    """Return how many documents there are, None if that is known only when they are read."""
    return len(documents) if isinstance(documents, Sized) and not isinstance(documents, Path) else None


def id_of(document: object, position: int) -> str:
    """Return what a document is called, without reading it: its id, its path, or else its position."""
    try:
        return outline(document).id or str(position)
    except Exception:  # noqa: BLE001  an object of the user's own: it fails where it is read
        return str(position)


def characters_of(document: object) -> int:
    """Return about how many characters a document has, without reading it."""
    try:
        if isinstance(document, Path):
            return document.stat().st_size
        text: object = outline(document).text
        if isinstance(text, list | tuple):
            return sum(len(str(turn)) for turn in text)
        return len(text) if isinstance(text, str) else 0
    except Exception:  # noqa: BLE001  it fails where it is read
        return 0


def documents_at(path: Path, excluded: Iterable[Path] = ()) -> Iterator[DocumentLike]:
    """Return the documents of a file, or of the files in a folder without those `excluded`.

    Raises PromptError for a path where nothing is, and as `documents_of` does.
    """
    files = files_at(path)
    if not path.is_dir():
        return documents_of(path, is_named=True)
    hidden = {*map(os.path.realpath, excluded)}
    return chain.from_iterable(
        documents_of(file, is_named=False) for file in files if os.path.realpath(file) not in hidden
    )


def documents_of(
    path: Path, text_column: str | None = None, id_column: str | None = None, *, is_named: bool
) -> Iterator[DocumentLike]:
    """Yield a file, or the rows of a table; an error is in place of rows that cannot be read.

    Raises PromptError for a table that cannot be read at all, if it was named, and not found in a folder.
    """
    if not is_table(path):
        return iter([path])
    rows = _rows_or_error(path, text_column, id_column)
    if not is_named:
        return rows
    first = list(islice(rows, 1))
    if first and isinstance(first[0], PromptError) and first[0].id == str(path):
        raise first[0]
    return chain(first, rows)


def is_table(path: Path) -> bool:
    """Tell whether a file is a table, by its content and its name."""
    from structured.extraction.documents.files import TABLE, kind_of_file
    from structured.extraction.documents.tables import TABLE_READERS

    try:
        return path.suffix.lower() in TABLE_READERS and kind_of_file(path) is TABLE
    except PromptError:  # it fails as a document
        return False


def _rows_or_error(path: Path, text_column: str | None, id_column: str | None) -> Iterator[DocumentLike]:
    try:
        yield from read_rows(path, text=text_column, id=id_column)
    except PromptError as error:
        error.id = str(path)
        yield error


def files_at(path: Path) -> Iterator[Path]:
    """Yield a file, or the files in a folder and its folders, in the order of their names, without hidden ones.

    Raises PromptError if nothing is there.
    """
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError) as error:  # the name is too long, say
        raise PromptError(f"The path {str(path)!r} cannot be read: {message(error)}.") from error
    if is_folder:
        return _files(path)
    if not os.path.lexists(path):
        similar = get_close_matches(path.name, [one.name for one in path.parent.glob("*")], n=1)
        hint = f" Is it {path.parent / similar[0]}?" if similar else ""
        raise PromptError(f"There is no file or folder {str(path)!r}.{hint}")
    return iter([path])


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
