"""Office files: the texts of Word files, presentations and workbooks."""

import logging
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, time
from pathlib import Path
from typing import Any

from structured.errors import PromptError
from structured.extraction.documents.plain_text import Content
from structured.extraction.documents.visible_text import visible_text

_LOGGER = logging.getLogger(__name__)


def read_word(path: Path) -> Content:
    """Return the text of a DOCX, with its lists, tables and notes."""
    import mammoth

    with path.open("rb") as file:
        converted = mammoth.convert_to_html(file, convert_image=mammoth.images.img_element(lambda _: {}))
    for warning in converted.messages:
        _LOGGER.debug("%s: %s", path, warning.message)
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
    """Return the values of an XLSX: a page for each visible sheet. Raises PromptError for empty formulas."""
    import openpyxl

    def load(*, data_only: bool) -> Any:
        return openpyxl.load_workbook(path, read_only=True, data_only=data_only)

    pages, computed, empty_cell = [], 0, ""
    with closing(load(data_only=True)) as book, closing(load(data_only=False)) as formulas:
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                continue
            lines = [sheet.title]
            for row, written_row in zip(sheet.iter_rows(), formulas[sheet.title].iter_rows(), strict=True):
                for cell, formula in zip(row, written_row, strict=True):
                    if formula.data_type == "f":
                        computed += cell.value is not None
                        empty_cell = empty_cell or f"{sheet.title}!{formula.coordinate}" * (cell.value is None)
                line = "\t".join(_cell(cell.value) for cell in row).rstrip("\t")
                lines += [line] * bool(line)
            pages.append("\n".join(lines))
    if empty_cell and not computed:  # one alone may be of an empty text
        raise PromptError(
            f"The file {path} has formulas without values, the first in {empty_cell}: the program that wrote it "
            "computed none. Open it in a spreadsheet program and save it."
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
