"""Files: the kind of a file, and the texts of mails.

The content tells the kind; the name decides only between kinds of text, which have no signature. So a PDF called
`letter.txt` is read as a PDF, and what cannot be read is called by what it is.

What reads a kind with the packages of an extra is an integration. It is called by its name when it is needed: no
package imports from one after its own.
"""

import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from structured.errors import PromptError
from structured.errors.values import message
from structured.extraction.documents.plain_text import Content, read_text
from structured.extraction.documents.tables import TABLE_READERS
from structured.extraction.documents.visible_text import read_html, visible_text

if TYPE_CHECKING:
    from email.message import MIMEPart

MAX_HEADER_CHARACTERS = 50_000
"""Characters of a header, enough for a thousand receivers; the standard library takes quadratic time for them."""

MAX_MAIL_LEVELS = 30
"""Parts within parts; each line of the mail is looked at on every level."""

PAGE_FILES, OFFICE_FILES = "structured.integrations.page_files", "structured.integrations.office_files"
"""The integrations that read PDFs and pictures, and files of Word, Excel and PowerPoint."""

_REMEDY = "Pass its path to extract_batch, not in a list"
"""What to do with a folder or a table in place of a document."""

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(path: Path) -> Content:
    """Return the headers that people read, and the body. Raises OSError, or PromptError for what is no mail."""
    from email.message import EmailMessage
    from email.parser import BytesParser
    from email.policy import EmailPolicy

    class Policy(EmailPolicy):
        def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
            if sum(map(len, sourcelines)) > MAX_HEADER_CHARACTERS:
                name = sourcelines[0].partition(":")[0][:40]
                problem = f"The mail {path} has a header {name!r} of more than {MAX_HEADER_CHARACTERS:,} characters"
                raise PromptError(f"{problem}. Shorten it, or leave the mail out.")
            return super().header_source_parse(sourcelines)

    class Part(EmailMessage):
        level = 1

        def attach(self, payload: Any) -> None:
            if isinstance(payload, Part):
                payload.level = self.level + 1
                if payload.level > MAX_MAIL_LEVELS:
                    problem = f"The mail {path} has parts within parts on more than {MAX_MAIL_LEVELS} levels"
                    raise PromptError(f"{problem}. Save the inner mail by itself, or leave it out.")
            super().attach(payload)

    with path.open("rb") as file:
        mail: Any = BytesParser(policy=Policy(message_factory=Part)).parse(file)
    lines = [f"{name}: {mail[name]}" for name in _SHOWN_HEADERS if mail[name]]
    attached = [name for part in mail.iter_attachments() if (name := part.get_filename())]
    if attached:
        lines.append(f"Attachments: {', '.join(attached)}")
    body = mail.get_body(("plain", "html"))
    text = "" if body is None else _body_text(body)
    return Content("\n".join((*lines, "", text)).strip())


def _body_text(part: "MIMEPart[Any, Any]") -> str:
    """Return the text of a part. Raises LookupError or UnicodeDecodeError if it is not in the encoding declared."""
    text = part.get_content(errors="strict")
    return visible_text(text) if part.get_content_subtype() == "html" else text.replace("\r\n", "\n")


class FileKind(NamedTuple):
    """A kind of file: what errors call one, and what reads it."""

    name: str
    read: Callable[[Path], Content]


class PageImage(NamedTuple):
    """An image of a page, as a URI that holds it, and the size of the page in the unit of its boxes."""

    uri: str
    width: float
    height: float


def page_images(path: Path, source: str, numbers: Iterable[int]) -> Mapping[int, PageImage]:
    """Return images of pages, by their numbers; none of a file that cannot be read, or has another SHA-256."""
    images: Mapping[int, PageImage] = _call_integration(PAGE_FILES, "page_images", path, source, numbers)
    return images


def _call_integration(module: str, function: str, *arguments: Any) -> Any:
    """Call a function of an integration."""
    return getattr(import_module(module), function)(*arguments)


def _refuse_table(path: Path) -> Content:
    """Raise PromptError: a table is as many documents as it has rows."""
    remedy = f"{_REMEDY}; or to read all of it as one document, pass its text: path.read_text()"
    raise PromptError(f"The file {path} is a table, and its rows are documents. {remedy}.")


TABLE = FileKind("a table", _refuse_table)
TEXT = FileKind("a text", read_text)
HTML = FileKind("an HTML page", read_html)
PDF = FileKind("a PDF", partial(_call_integration, PAGE_FILES, "read_pdf"))
PICTURE = FileKind("a picture", partial(_call_integration, PAGE_FILES, "read_picture"))

KIND_BY_SUFFIX: Mapping[str, FileKind] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    ".eml": FileKind("a mail", read_mail),
    **dict.fromkeys(TABLE_READERS, TABLE),
}
"""Kinds of text that are more than plain text."""

KIND_BY_FOLDER: Mapping[str, FileKind] = {
    "word/": FileKind("a Word file", partial(_call_integration, OFFICE_FILES, "read_word")),
    "xl/": FileKind("an Excel file", partial(_call_integration, OFFICE_FILES, "read_sheets")),
    "ppt/": FileKind("a PowerPoint file", partial(_call_integration, OFFICE_FILES, "read_slides")),
}
"""Kinds of ZIP archives, by a folder inside (ECMA-376, part 2)."""

_SAVE_AS = "Save it as DOCX, PDF or text"
UNSUPPORTED: tuple[tuple[bytes, str], ...] = (
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"of an office program before 2007 or of Outlook, or encrypted. {_SAVE_AS}"),
    (rb"{\\rtf", f"in Rich Text Format. {_SAVE_AS}"),
    (rb"%!PS|AT&TFORM", "a PostScript or DjVu file. Save it as PDF"),
    (rb".{128}DICM", "a DICOM picture. Save it as PNG"),
    (rb"!BDN", "a mailbox of Outlook. Save its mails as EML"),
    (rb"SQLite format 3\0", "an SQLite database. Save its rows as CSV"),
    (
        rb"ARROW1\0|Obj\x01|ORC[^ -~]|\x89HDF\r\n|\x93NUMPY",
        "a table that is not read. Save it as Parquet",
    ),
    (rb"\x1f[\x8b\x9d]|BZh\d1AY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18", "compressed. Unpack it"),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|MSCF\0|PK(\x05\x06|\x07\x08)|.{257}ustar", "an archive. Unpack it"),
    (
        rb"ID3[\x02-\x04]|\xff[\xf2\xf3\xfa\xfb]|OggS\0|fLaC\0|RIFF.{4}(WAVE|AVI )",
        "a recording. Pass what is said in it",
    ),
    (rb".{4}ftyp|\x1aE\xdf\xa3", "a recording. Pass what is said in it"),
    (rb"\x7fELF|MZ[^\n]*\0|\xcf\xfa\xed\xfe|\xca\xfe\xba\xbe", "a program. Pass a file with text"),
)
"""Kinds that are known and not read: how their files begin, and what to do."""

_PICTURE_SIGNATURES = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8|II[*+]\0|MM\0[*+]|BM.{4}\0{4}|RIFF.{4}WEBP|.{4}ftyp(avif|hei[cfx]|mif1)", re.DOTALL
)
"""How pictures begin."""

_EXTRA_OF_PACKAGE = {
    **dict.fromkeys(("pypdfium2", "mammoth", "openpyxl", "pptx"), "files"),
    **dict.fromkeys(("PIL", "rapidocr", "onnxruntime"), "ocr"),
}
"""The extras that packages belong to."""

MAX_UNPACKED_BYTES = 100_000_000
"""Bytes by which the parts of an office file may grow when they are unpacked: text of many thousands of pages.

Pictures hardly grow, so that a file may hold any number of them.
"""


def read_file(path: Path) -> Content:
    """Return what stands in a file. Raises PromptError if that cannot be read."""
    kind = kind_of_file(path)
    try:
        return _read_as(path, kind)
    except OSError as error:
        raise PromptError(f"The file {path} cannot be read: {message(error)}.") from error


def kind_of_file(path: Path) -> FileKind:
    """Return the kind of a file. Raises PromptError if nothing reads it, or it is none."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            next(path.iterdir(), None)
            raise PromptError(f"{path} is a folder, in place of a file. {_REMEDY}.")
        if not stat.S_ISREG(mode):
            raise PromptError(f"{path} is no regular file. Read it yourself, and pass its text.")
        with path.open("rb") as file:
            return kind_of(path, file.read(1_024))  # where a PDF begins (ISO 32000-1, annex H, 3.4.1)
    except (OSError, ValueError) as error:  # no path has a NUL character, say
        raise PromptError(f"The file {path} cannot be read: {message(error)}.") from error


def kind_of(path: Path, head: bytes) -> FileKind:
    """Return the kind of a file that begins so. Raises PromptError if nothing reads it."""
    suffix = path.suffix.lower()
    may_quote_pdf = suffix in {".eml", *TABLE_READERS} or head.lstrip().startswith(b"<")
    if head.startswith(b"%PDF-") or (b"%PDF-" in head and not may_quote_pdf):
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_archive(path)
    if _PICTURE_SIGNATURES.match(head):
        return PICTURE
    if head.startswith(b"PAR1"):
        return TABLE
    for signature, what in UNSUPPORTED:
        if re.match(signature, head, re.DOTALL):
            raise PromptError(f"The file {path} is {what}, or leave it out.")
    is_html = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:14].lower().startswith((b"<!doctype html", b"<html"))
    is_html = is_html and suffix not in {".md", ".markdown"}  # these are read as they are
    return HTML if is_html else KIND_BY_SUFFIX.get(suffix, TEXT)


def _kind_of_archive(path: Path) -> FileKind:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:  # damaged bytes may tell of a later version
        raise PromptError(f"The file {path} is a broken ZIP archive: {message(error)}. Leave it out.") from error
    names = {part.filename for part in parts}
    growth = sum(max(0, part.file_size - part.compress_size) for part in parts)  # zipfile reads no more than it says
    if "[Content_Types].xml" in names and growth > MAX_UNPACKED_BYTES:
        raise PromptError(
            f"The file {path} grows by {growth:,} bytes when it is unpacked; {MAX_UNPACKED_BYTES:,} are the most that "
            "are read. Split it; of a large sheet, save the rows as CSV: read_rows(path)."
        )
    if "[Content_Types].xml" in names:
        for folder, kind in KIND_BY_FOLDER.items():
            if any(name.startswith(folder) for name in names):
                return kind
    if "mimetype" in names:
        raise PromptError(f"The file {path} is an OpenDocument file or a book. {_SAVE_AS}, or leave it out.")
    raise PromptError(f"The file {path} is a ZIP archive. Unpack it, or leave it out.")


def _read_as(path: Path, kind: FileKind) -> Content:
    """Read a file as one of its kind. Raises PromptError whatever its reader raises, but for what the system does."""
    try:
        return kind.read(path)
    except (PromptError, OSError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA_OF_PACKAGE:
            raise
        raise PromptError(
            f"The file {path} is {kind.name}, which {error.name} reads, and that is not installed: "
            f"pip install 'structured-extraction[{_EXTRA_OF_PACKAGE[error.name]}]'."
        ) from error
    except Exception as error:
        problem = f"The file {path} is {kind.name}, and cannot be read: {type(error).__name__}: {message(error)}"
        raise PromptError(f"{problem}. Open it and save it again, or leave it out.") from error
