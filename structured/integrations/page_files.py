"""Files of pages: the texts of PDFs and pictures, where their words stand, and images of their pages.

The text of a PDF is what it says; a page without text is a scan, and goes through OCR like a picture. Boxes are in
points on a page of a PDF, and in pixels on a picture, from the top left corner of the page as it is shown.
"""

import base64
import ctypes
import hashlib
import io
import logging
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structured.errors import PromptError
from structured.errors.values import counted, message
from structured.extraction.documents.files import PageImage
from structured.extraction.documents.plain_text import Content
from structured.integrations.ocr import Image, PageText, Rectangle, Word, recognise
from structured.results.evidence import Box, PageLayout

if TYPE_CHECKING:
    import PIL.Image

_LOGGER = logging.getLogger(__name__)

POINTS_PER_INCH = 72
"""Points for each inch, the units of PDF."""

DOTS_PER_INCH = 200
"""Pixels for each inch of a scanned page, as it is read."""

MAX_READ_PIXELS = 4_000_000
"""Pixels of a page that is read: an A4 page of that density. What has more is made smaller, as letters stay legible."""

MAX_FILE_PIXELS = 89_000_000
"""The most pixels of a picture. Pillow warns of slightly more."""

MAX_READ_SIDE = 5_600
"""Pixels of the longer side of a page that is read."""

MAX_SHOWN_SIDE = 1_400
"""Pixels of the longer side of an image for people."""

JPEG_QUALITY = 70
"""The quality of JPEG in images for people."""

_PDFIUM = Lock()
"""PDFium may be used by one thread at a time, also for different files."""

_HYPHENS = str.maketrans({"\x02": "-\n", "\ufffe": "-\n", "\0": None})
"""How PDFium writes a hyphen that ends a line; and NUL, which is no text."""

_WORDS_AND_SPACES = re.compile(r"\s+|[\x02\ufffe]|[^\s\x02\ufffe]+")
_SUBPIXELS = 100
"""PDFium gives positions on the displayed page as integers, so that it is asked for those on a larger one."""

_BASIS_LENGTH = 1_000
"""The length in points of the vectors by which the display matrix is found."""


def read_pdf(path: Path) -> Content:
    """Return the text of a PDF and where it stands. Raises PromptError if there is no text, or for a password."""
    with _open_pdf(path) as pdf:
        pages = [_pdf_page(pdf, number) for number in range(len(pdf))]
    scans = [number for number, page in enumerate(pages) if page is None]
    ocr_lack = ""
    if scans:
        try:
            for number, image, scale in _render_pages(path, scans):
                pages[number] = recognise(image)._replace(scale=scale)
        except ModuleNotFoundError as error:
            ocr_lack = f"{error.name} is not installed: pip install 'structured-extraction[ocr]'"
            _LOGGER.warning("%s: %s without text not read, since %s", path, counted(len(scans), "page"), ocr_lack)
    content = _content(path, [page or PageText("") for page in pages])
    if not content.text.strip():
        raise PromptError(
            f"The file {path} is a PDF without text on its {counted(len(pages), 'page')}"
            + (f": scanned, perhaps, and {ocr_lack}, or leave it out." if ocr_lack else ", nor a scan. Leave it out.")
        )
    return content


@contextmanager
def _open_pdf(path: Path) -> Iterator[Any]:
    import pypdfium2

    with _PDFIUM:
        try:
            pdf = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            if "password" not in message(error).lower():
                raise
            problem = f"The file {path} is a PDF with a password. Save it without one, or leave it out."
            raise PromptError(problem) from error
        if pdf.get_formtype() != pypdfium2.raw.FORMTYPE_NONE:
            pdf.init_forms()
    try:
        yield pdf
    finally:
        with _PDFIUM:
            pdf.close()


def _pdf_page(pdf: Any, number: int) -> PageText | None:
    """Return the text of a page, with the values of a form; None if it shows something, and has no text."""
    with _PDFIUM:
        page = pdf[number]
        try:
            if pdf.formenv is not None:
                page.flatten()
                page.close()
                page = pdf[number]  # PDFium sees the values in a page that is loaded again
            text_page = page.get_textpage()
            text = text_page.get_text_bounded()
            if text.strip():
                return _pdf_text(page, text_page, text)
            return None if any(True for _ in page.get_objects()) else PageText("")
        finally:
            page.close()


def _pdf_text(page: Any, text_page: Any, text: str) -> PageText:
    """Return the text of a page with the boxes of its words, as far as PDFium finds them in their order."""
    characters, display_matrix = text_page.get_text_range(), _display_matrix(page).tolist()
    place = length = 0
    pieces: list[str] = []
    words: list[Word] = []
    for match in _WORDS_AND_SPACES.finditer(text):
        piece = match[0].replace("\r\n", "\n").translate(_HYPHENS)
        if not match[0].isspace() and piece:
            start = characters.find(match[0], place)
            box = None if start < 0 else _word_box(display_matrix, text_page, start, start + len(match[0]) - 1)
            if box is not None:
                words.append(Word(length, length + len(piece), box))
                place = start + len(match[0])
        pieces.append(piece)
        length += len(piece)
    return PageText("".join(pieces), words)


def _display_matrix(page: Any) -> NDArray[np.float64]:
    """Return the matrix that takes a position `(x, y, 1)` on a page to the position on the page as it is displayed."""
    from pypdfium2 import raw

    width, height = page.get_size()
    corners = []
    for x, y in ((0, 0), (_BASIS_LENGTH, 0), (0, _BASIS_LENGTH)):
        across, down = ctypes.c_int(), ctypes.c_int()
        size = (0, 0, round(width * _SUBPIXELS), round(height * _SUBPIXELS), 0)
        raw.FPDF_PageToDevice(page, *size, x, y, across, down)
        corners.append(np.array([across.value, down.value]) / _SUBPIXELS)
    origin, right, up = corners
    return np.stack([(right - origin) / _BASIS_LENGTH, (up - origin) / _BASIS_LENGTH, origin], axis=1)


def _word_box(display_matrix: list[list[float]], text_page: Any, first: int, last: int) -> Rectangle | None:
    """Return the box around the first and the last character of a word; None if it has no extent."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    places = []
    for place in (first, last):
        if not raw.FPDFText_GetLooseCharBox(text_page, raw.FPDFText_GetCharIndexFromTextIndex(text_page, place), box):
            return None
        places += [(box.left, box.top), (box.right, box.bottom)]
    columns, rows = ([round(a * x + b * y + c, 2) for x, y in places] for a, b, c in display_matrix)
    left, top, right, bottom = min(columns), min(rows), max(columns), max(rows)
    return (left, top, right, bottom) if left < right and top < bottom else None


def _scale(size: tuple[float, float], side: float, most: float) -> float:
    """Return by how much a page or a picture is made larger, to be read or shown."""
    width, height = size
    return min(most, math.sqrt(MAX_READ_PIXELS / (width * height)), side / max(width, height))


def _render_pages(path: Path, numbers: list[int], side: float = MAX_READ_SIDE) -> Iterator[tuple[int, Image, float]]:
    """Yield images of pages of a PDF, and how many pixels of each a point takes."""
    with _open_pdf(path) as pdf:
        for number in numbers:
            with _PDFIUM:
                page = pdf[number]
                scale = _scale(page.get_size(), side, DOTS_PER_INCH / POINTS_PER_INCH)
                bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=True)
                image = np.array(bitmap.to_numpy())
                bitmap.close()
                page.close()
            image = image if image.ndim == 3 else image[:, :, None]
            yield number, np.repeat(image, 3, axis=2) if image.shape[2] == 1 else image[:, :, :3], scale


def read_picture(path: Path) -> Content:
    """Return the text of a picture, and where it stands. Raises PromptError if there is none, or it is too large."""
    content = _content(path, [_picture_page(picture) for picture in _picture_frames(path)])
    if not content.text.strip():
        remedy = "Take it again, sharper or nearer, or leave it out."
        raise PromptError(f"The file {path} is a picture, and no text is found in it. {remedy}")
    return content


def _picture_page(picture: "PIL.Image.Image") -> PageText:
    scale = _scale(picture.size, MAX_READ_SIDE, 1)
    if scale < 1:
        picture = picture.resize([max(1, round(pixels * scale)) for pixels in picture.size])
    return recognise(np.asarray(picture))._replace(scale=scale)


def _picture_frames(path: Path) -> Iterator["PIL.Image.Image"]:
    """Yield the pages of a picture, upright and on white. Only a TIFF has several."""
    import PIL.Image
    import PIL.ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes, which are checked below
            file = PIL.Image.open(path)
    except PIL.UnidentifiedImageError as error:
        raise PromptError(
            f"The file {path} is a picture of a kind that Pillow does not read, such as HEIC, or broken. Save it as "
            "PNG or JPEG."
        ) from error
    with file:
        for number in range(getattr(file, "n_frames", 1) if file.format == "TIFF" else 1):
            file.seek(number)
            if file.width * file.height > MAX_FILE_PIXELS:
                raise PromptError(
                    f"The file {path} is a picture of {file.width:,} × {file.height:,} pixels; {MAX_FILE_PIXELS:,} are "
                    "the most that are read. Make it smaller, or cut it."
                )
            try:
                yield _on_white(PIL.ImageOps.exif_transpose(file))
            except OSError as error:
                problem = f"The file {path} is a broken picture: {message(error)}. Save it again, or leave it out."
                raise PromptError(problem) from error


def _on_white(picture: "PIL.Image.Image") -> "PIL.Image.Image":
    import PIL.Image

    if picture.mode[0] in "IF":  # more than eight bits
        values = np.asarray(picture, float)
        span = max(float(np.ptp(values)), 1.0)
        return PIL.Image.fromarray(np.uint8((values - values.min()) * (255 / span))).convert("RGB")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = PIL.Image.new("RGBA", picture.size, "white")
        return PIL.Image.alpha_composite(white, picture).convert("RGB")
    return picture.convert("RGB")


def _content(path: Path, pages: Sequence[PageText]) -> Content:
    content = Content.of_pages(page.text for page in pages)
    words = tuple(
        (start + word.start, start + word.end, Box(number, *(round(side * (1 / page.scale), 2) for side in word.box)))
        for number, (start, page) in enumerate(zip(content.pages, pages, strict=True), 1)
        for word in page.words
    )
    return content._replace(layout=PageLayout(words, _sha256(path)))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def page_images(path: Path, sha256: str, numbers: Iterable[int]) -> Mapping[int, PageImage]:
    """Return images of pages of a file, by number from 1; none, and log why, if it is unreadable or has changed."""
    try:
        if _sha256(path) == sha256:
            return _images(path, sorted(number - 1 for number in numbers))
        problem = "it has changed since it was read"
    except (OSError, ValueError, ImportError, PromptError) as error:
        problem = message(error)
    _LOGGER.warning("%s: its pages are not shown: %s", path, problem)
    return {}


def _images(path: Path, places: list[int]) -> Mapping[int, PageImage]:
    import PIL.Image

    with path.open("rb") as file:
        is_pdf = b"%PDF-" in file.read(1_024)
    if is_pdf:
        pages = _render_pages(path, places, MAX_SHOWN_SIDE)
        return {place + 1: _page_image(PIL.Image.fromarray(image), scale) for place, image, scale in pages}
    pictures = enumerate(_picture_frames(path))
    return {place + 1: _page_image(picture, 1) for place, picture in pictures if place in places}


def _page_image(picture: "PIL.Image.Image", scale: float) -> PageImage:
    """Return an image as JPEG in a URI, with the size of the page."""
    width, height = picture.width / scale, picture.height / scale
    picture.thumbnail((MAX_SHOWN_SIDE, MAX_SHOWN_SIDE))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=JPEG_QUALITY)
    return PageImage(f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}", width, height)
