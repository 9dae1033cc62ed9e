r"""Files of office programs: Word by mammoth, Excel by openpyxl, PowerPoint by python-pptx.

A Word file becomes HTML, and that its visible text, so that lists, tables and headings are laid out in one way. It has
no pages until it is printed. The pages of the others are their slides and sheets.

markitdown, which stands on the same packages, was tried. It writes Markdown: `INV_24` becomes `INV\_24`, of a column
with an empty cell 3 becomes 3.0, and N/A becomes NaN; a value in a result has to be the value in the file.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from structured.errors import PromptError
from structured.extraction.documents.content import Content
from structured.extraction.documents.visible_text import visible_text

_LOGGER = logging.getLogger(__name__)


def read_word(path: Path) -> Content:
    """Return the text of a DOCX, with its lists, tables and notes."""
    import mammoth

    with path.open("rb") as file:
        converted = mammoth.convert_to_html(file, convert_image=mammoth.images.img_element(lambda _: {}))
    for told in converted.messages:
        _LOGGER.debug("%s: %s", path, told.message)
    return Content(visible_text(converted.value))


def read_slides(path: Path) -> Content:
    """Return the text of a PPTX, a page for each slide, with its tables and the speaker's notes."""
    from pptx import Presentation

    return Content.of_pages("\n".join(_slide(slide)) for slide in Presentation(str(path)).slides)


def _slide(slide: Any) -> Iterator[str]:
    yield from _shapes(slide.shapes)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield slide.notes_slide.notes_text_frame.text.replace("\v", "\n")


def _shapes(shapes: Any) -> Iterator[str]:
    """Yield the texts of shapes, in the order in which they lie upon each other, which is that of reading aloud."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif shape.has_text_frame and shape.text_frame.text.strip():
            yield shape.text_frame.text.replace("\v", "\n")  # a line break within a paragraph
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield "\t".join(" ".join(cell.text.split()) for cell in row.cells)


def read_sheets(path: Path) -> Content:
    """Return the values of an XLSX: a page for each sheet that is shown, under its name, a line for each row.

    Raises PromptError for formulas whose values were never computed.
    """
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    formulas = openpyxl.load_workbook(path, read_only=True)
    try:
        pages, computed, missing = [], 0, ""
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                continue
            lines = [sheet.title]
            for values, written in zip(sheet.iter_rows(), formulas[sheet.title].iter_rows(), strict=True):
                for cell, formula in zip(values, written, strict=True):
                    if formula.data_type == "f":
                        computed += cell.value is not None
                        missing = missing or f"{sheet.title}!{formula.coordinate}" * (cell.value is None)
                line = "\t".join(_cell(cell.value) for cell in values).rstrip("\t")
                lines += [line] * bool(line)
            pages.append("\n".join(lines))
    finally:
        book.close()
        formulas.close()
    if missing and not computed:  # one alone may be of an empty text
        raise PromptError(
            f"The file {path} has formulas without values, the first in {missing}: the program that wrote it computed "
            "none. Open it in a spreadsheet program and save it."
        )
    return Content.of_pages(pages)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
    return " ".join(str(value).split())
