"""PDF: the text of its pages, by pypdfium2.

PDFium is what Chromium shows PDF with; it is small, quick, and keeps each page to itself. A hyphen at the end of a line
stays, as printed: whether it belongs to the word is not known. Values in the fields of a form are read, too.

markitdown was tried, and drops the bounds of pages; docling needs a torch of its own and models that it fetches.
"""

from pathlib import Path
from threading import Lock
from typing import Any

from structured.errors import PromptError
from structured.errors.values import counted, message
from structured.extraction.documents.content import Content

_PDFIUM = Lock()
"""PDFium may be used by one thread at a time, also for different files."""

_HYPHENS = str.maketrans({"\x02": "-\n", "\ufffe": "-\n"})
"""How PDFium writes a hyphen that ends a line."""


def read_pdf(path: Path) -> Content:
    """Return the text of a PDF and where its pages begin. Raises PromptError if there is no text, or for a password."""
    import pypdfium2

    with _PDFIUM:
        try:
            pdf = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            if "password" not in message(error).lower():
                raise
            raise PromptError(
                f"The file {path} is a PDF with a password. Save it without one, or leave it out."
            ) from error
        try:
            has_form = pdf.get_formtype() != pypdfium2.raw.FORMTYPE_NONE
            if has_form:
                pdf.init_forms()
            content = Content.of_pages([_text(pdf, number, has_form=has_form) for number in range(len(pdf))])
        finally:
            pdf.close()
    if not content.text.strip():
        raise PromptError(
            f"The file {path} is a PDF without text on its {counted(len(content.pages), 'page')}: scanned, perhaps. "
            "Recognise its text first (OCR; ocrmypdf does), or leave it out."
        )
    return content


def _text(pdf: Any, number: int, *, has_form: bool) -> str:
    """Return the text of a page, with the values of a form."""
    page = pdf[number]
    try:
        if has_form:
            page.flatten()
            page.close()
            page = pdf[number]  # PDFium sees the values in a page that is loaded again
        text: str = page.get_textpage().get_text_bounded()
    finally:
        page.close()
    return text.replace("\r\n", "\n").translate(_HYPHENS).replace("\0", "")
