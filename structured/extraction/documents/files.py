"""Files: of which kind one is, and what reads that kind.

The content tells the kind; the name decides only between kinds of text, which have no signature. So a PDF called
`letter.txt` is read as a PDF, and what cannot be read is called by what it is.
"""

import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from structured.errors import PromptError
from structured.errors.values import message
from structured.extraction.documents.binary_formats import read_mail, read_pdf, read_sheets, read_slides, read_word
from structured.extraction.documents.plain_text import Content, read_text
from structured.extraction.documents.visible_text import read_html


class Kind(NamedTuple):
    """A kind of file: what errors call one, and what reads it."""

    name: str
    read: Callable[[Path], Content]


TEXT = Kind("a text", read_text)
HTML = Kind("an HTML page", read_html)
PDF = Kind("a PDF", read_pdf)

BY_SUFFIX: Mapping[str, Kind] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    ".eml": Kind("a mail", read_mail),
}
"""Kinds of text that are more than plain text."""

BY_PART: Mapping[str, Kind] = {
    "word/": Kind("a Word file", read_word),
    "xl/": Kind("an Excel file", read_sheets),
    "ppt/": Kind("a PowerPoint file", read_slides),
}
"""Kinds of ZIP archives, by a folder inside (ECMA-376, part 2)."""

_MARKDOWN = {".md", ".markdown"}
"""What is read as it is, even if it begins with HTML."""

_SAVE_AS = "Save it as DOCX, PDF or text"
_PICTURE = "a picture. Recognise its text first (OCR)"
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"of an office program before 2007, or of Outlook. {_SAVE_AS}"),
    (b"{\\rtf", f"in Rich Text Format. {_SAVE_AS}"),
    (b"\x89PNG\r\n\x1a\n", _PICTURE),
    (b"\xff\xd8\xff", _PICTURE),
    (b"GIF8", _PICTURE),
    (b"II*\0", _PICTURE),
    (b"MM\0*", _PICTURE),
    (b"PAR1", "a Parquet table. Pass its rows: read_rows(path)"),
    (b"\x1f\x8b", "compressed. Unpack it"),
    (b"BZh", "compressed. Unpack it"),
    (b"\xfd7zXZ\0", "compressed. Unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "an archive. Unpack it"),
)
"""Signatures of what is known, and not read."""

_PACKAGES = {"pypdfium2", "mammoth", "openpyxl", "pptx"}
"""Those of the extra `files`."""

MAX_GROWTH = 100_000_000
"""Bytes by which the parts of an office file may grow when they are unpacked: text of many thousands of pages.

Pictures hardly grow, so that a file may hold any number of them.
"""

_HEAD = 1_024
"""Bytes of a file that are looked at, in which a PDF must begin (ISO 32000-1, annex H, 3.4.1)."""


def read_file(path: Path) -> Content:
    """Return what stands in a file. Raises PromptError if that cannot be read."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            next(path.iterdir(), None)
            raise PromptError(f"{path} is a folder, in place of a file. Pass its files: path.iterdir().")
        if not stat.S_ISREG(mode):
            raise PromptError(f"{path} is no regular file. Read it yourself, and pass its text.")
        with path.open("rb") as file:
            kind = kind_of(path, file.read(_HEAD))
        return _read(path, kind)
    except OSError as error:
        raise PromptError(f"The file {path} cannot be read: {message(error)}.") from error


def kind_of(path: Path, head: bytes) -> Kind:
    """Return the kind of a file that begins so. Raises PromptError if nothing reads it."""
    if b"%PDF-" in head and not head.lstrip().startswith(b"<") and path.suffix.lower() != ".eml":
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_archive(path)
    for signature, what in _REFUSED:
        if head.startswith(signature):
            raise PromptError(f"The file {path} is {what}, or leave it out.")
    suffix = path.suffix.lower()
    is_html = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:14].lower().startswith((b"<!doctype html", b"<html"))
    return HTML if is_html and suffix not in _MARKDOWN else BY_SUFFIX.get(suffix, TEXT)


def _kind_of_archive(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile as error:
        raise PromptError(f"The file {path} is a broken ZIP archive: {message(error)}. Leave it out.") from error
    names = {part.filename for part in parts}
    growth = sum(max(0, part.file_size - part.compress_size) for part in parts)  # zipfile reads no more than it says
    if "[Content_Types].xml" in names and growth > MAX_GROWTH:
        raise PromptError(
            f"The file {path} grows by {growth:,} bytes when it is unpacked; {MAX_GROWTH:,} are the most that are "
            "read. Split it; of a large sheet, save the rows as CSV: read_rows(path)."
        )
    if "[Content_Types].xml" in names:
        for folder, kind in BY_PART.items():
            if any(name.startswith(folder) for name in names):
                return kind
    if "mimetype" in names:
        raise PromptError(f"The file {path} is an OpenDocument file or a book. {_SAVE_AS}, or leave it out.")
    raise PromptError(f"The file {path} is a ZIP archive. Unpack it, or leave it out.")


def _read(path: Path, kind: Kind) -> Content:
    """Read a file as one of its kind. Raises PromptError whatever its reader raises, but for what the system does."""
    try:
        return kind.read(path)
    except (PromptError, OSError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise PromptError(
            f"The file {path} is {kind.name}, which {error.name} reads, and that is not installed: "
            "pip install 'structured-extraction[files]'."
        ) from error
    except Exception as error:
        raise PromptError(
            f"The file {path} is {kind.name}, and cannot be read: {type(error).__name__}: {message(error)}. Open it "
            "and save it again, or leave it out."
        ) from error
