"""Files of pages: PDFs, scans and pictures are read in order, and their words stand where the boxes say."""

import io
import math
import random
import resource
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import files
import numpy as np
import pytest
from doubles import read_back
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from structured import Extractor
from structured.errors import PromptError
from structured.extraction.documents.files import page_images, read_file
from structured.integrations import ocr
from structured.integrations.ocr import Line, laid_out
from structured.integrations.page_files import _on_white
from structured.models import ScriptedModel
from structured.results.evidence import Box, PageLayout

PIL = pytest.importorskip("PIL.Image", reason="The extra ocr has Pillow.")

pytestmark = pytest.mark.thorough

RECEIPT = ["CAFE BRANDT", "Date: 2024-03-05", "Espresso\t5.00", "Cake, cheese\t4.50", "TOTAL EUR\t9.50"]


@pytest.fixture
def _reader() -> None:
    pytest.importorskip("rapidocr", reason="The extra ocr reads pictures.")
    pytest.importorskip("onnxruntime", reason="The extra ocr reads pictures.")


reads = pytest.mark.usefixtures("_reader")


def drawn(lines: list[str] = RECEIPT) -> Any:
    """Return a picture of lines, whose figures stand at the right."""
    from PIL import ImageDraw

    picture = PIL.new("RGB", (420, 240), "white")
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        for x, part in zip((20, 320), line.split("\t"), strict=False):
            draw.text((x, 20 + 40 * number), part, "black", font_size=24)
    return picture


def ink_outside(image: Any, boxes: list[Box], scale: float = 1) -> float:
    """Return the share of the dark pixels of a page that are in no box."""
    dark = np.asarray(image.convert("L")) < 100
    inside = np.zeros_like(dark)
    for _, left, top, right, bottom in boxes:
        rows = slice(math.floor(top * scale), math.ceil(bottom * scale))
        inside[rows, math.floor(left * scale) : math.ceil(right * scale)] = True
    return float((dark & ~inside).sum() / dark.sum())


def boxes_of(content: Any) -> list[Box]:
    return [box for _, _, box in content.layout.words]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_the_ink_of_a_pdf_is_in_the_boxes_of_its_words(turn: int, tmp_path: Path) -> None:
    import pypdfium2

    path = files.pdf(tmp_path / "a.pdf", ["Invoice 7 (paid)\nTotal 12.50"])
    path.write_bytes(path.read_bytes().replace(b"/MediaBox", b"/Rotate %d/MediaBox" % turn))
    content = read_file(path)
    assert sorted(content.text.split("\n")) == ["Invoice 7 (paid)", "Total 12.50"]
    assert [content.text[start:end] for start, end, _ in content.layout.words] == content.text.split()  # type: ignore[union-attr]
    with pypdfium2.PdfDocument(path) as pdf:
        image = pdf[0].render(scale=3).to_pil()
    assert ink_outside(image, boxes_of(content), 3) == 0


def test_a_box_of_a_pdf_is_that_of_its_characters(tmp_path: Path) -> None:
    import pypdfium2

    path = files.pdf(tmp_path / "a.pdf", ["Letter", "Invoice 7\nTotal 12.50 EUR"])
    content = read_file(path)
    start = content.text.index("12.50")
    (box,) = content.layout.boxes((start, start + 5))  # type: ignore[union-attr]
    with pypdfium2.PdfDocument(path) as pdf:
        text = pdf[1].get_textpage()
        place, count = text.search("12.50").get_next()
        characters = [text.get_charbox(place + number, loose=True) for number in range(count)]
        height = pdf[1].get_height()
    left, bottom, right, top = zip(*characters, strict=True)
    assert box.page == 2
    assert box[1:] == pytest.approx((min(left), height - max(top), max(right), height - min(bottom)), abs=0.02)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.data())
@settings(max_examples=50)
def test_a_span_has_a_box_for_each_line_of_its_words(sizes: list[int], data: st.DataObject) -> None:
    """The boxes of a span hold those of the words in it, and are as many as their lines."""
    words, start = [], 0
    for number, size in enumerate(sizes):
        line, column = divmod(number, 3)
        words.append((start, start + size, Box(1, 100 * column, 20 * line, 100 * column + 9 * size, 20 * line + 15)))
        start += size + 1
    first, last = sorted((data.draw(st.integers(0, start)), data.draw(st.integers(0, start))))
    touched = [box for begin, end, box in words if begin < last and first < end]
    boxes = PageLayout(words, "").boxes((first, last))
    assert [box.top for box in boxes] == sorted({box.top for box in touched})
    for box in touched:
        assert any(one.around(box) == one for one in boxes)


def line(text: str, left: float, top: float, turn: float = 0.0) -> Line:
    """Return a line of letters of 10 by 20 pixels, on a page that is turned."""
    right, bottom = left + 10 * len(text), top + 20
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], float)
    cosine, sine = math.cos(turn), math.sin(turn)
    return Line(text, 1.0, corners @ np.array([[cosine, sine], [-sine, cosine]]), [(text, (0.0, 0.0, 1.0, 1.0))])


@pytest.mark.parametrize("turn", [0, 0.05, -0.05])
def test_rows_are_read_across_and_columns_of_text_down(turn: float) -> None:
    """A page that is a little askew is read like a straight one, whatever the order in which its lines were found."""
    figures = [
        line(text, x, 30 * row, turn) for row in range(6) for x, text in ((0, f"item {row}"), (500, f"{row}.50"))
    ]
    random.Random(1).shuffle(figures)
    assert laid_out(figures).text == "\n".join(f"item {row}\t{row}.50" for row in range(6))
    sides = {0: "on the left, line number", 450: "and on the right, line number"}
    texts = [line(f"{text} {row}", x, 30 * row + 40, turn) for row in range(6) for x, text in sides.items()]
    texts.append(line("A heading that goes over both of the columns of text", 100, 0, turn))
    random.Random(1).shuffle(texts)
    down = [f"{text} {row}" for text in sides.values() for row in range(6)]
    assert laid_out(texts).text.split("\n") == ["A heading that goes over both of the columns of text", *down]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "I", "I;16", "F"])
def test_pictures_of_all_modes_are_shown_on_white(mode: str) -> None:
    shown = _on_white(PIL.new(mode, (3, 2)))
    assert (shown.mode, shown.size) == ("RGB", (3, 2))
    if mode in {"LA", "RGBA"}:
        assert shown.getpixel((0, 0)) == (255, 255, 255)


@reads
def test_a_photo_is_read_and_its_ink_is_in_the_boxes(tmp_path: Path) -> None:
    picture = drawn()
    picture.save(tmp_path / "photo.jpg")
    content = read_file(tmp_path / "photo.jpg")
    assert content.text.split("\n") == RECEIPT
    assert content.pages == (0,)
    assert [content.text[start:end] for start, end, _ in content.layout.words] == content.text.split()  # type: ignore[union-attr]
    assert ink_outside(picture, boxes_of(content)) < 0.03


@reads
@pytest.mark.parametrize("turn", [90, 180])
def test_a_page_that_lies_on_its_side_or_upside_down_is_turned(turn: int, tmp_path: Path) -> None:
    """The boxes are on the picture as it is."""
    picture = drawn().rotate(turn, expand=True)
    picture.save(tmp_path / "photo.png")
    content = read_file(tmp_path / "photo.png")
    assert content.text.split("\n") == RECEIPT
    assert ink_outside(picture, boxes_of(content)) < 0.03


@reads
def test_pages_with_text_and_scans_are_read_in_their_order(tmp_path: Path) -> None:
    """Evidence has its page and its box, on a scan as on a page with text; files of results keep both."""
    import pypdfium2

    class Bill(BaseModel):
        number: int
        total: float

    drawn(["TOTAL EUR 9.50"]).save(tmp_path / "scan.pdf", resolution=72)
    path = tmp_path / "both.pdf"
    with pypdfium2.PdfDocument.new() as both, pypdfium2.PdfDocument(tmp_path / "scan.pdf") as scan:
        with pypdfium2.PdfDocument(files.pdf(tmp_path / "text.pdf", ["Invoice 7", ""])) as text:
            both.import_pages(text)
        both.import_pages(scan)
        both.save(path)
    assert read_file(path).text == "Invoice 7\n\n\n\nTOTAL EUR 9.50"
    (result,) = Extractor(Bill, model=ScriptedModel('{"number": 7, "total": 9.50}')).results([path])
    places = {name: [box.page for box in item.boxes] for name, item in result.evidence.items()}
    assert places == {"number": [1], "total": [3]}
    read = read_back(result, Bill)
    assert (read.evidence, read.source) == (result.evidence, result.source)
    assert sorted(page_images(path, result.source, [1, 3])) == [1, 3]


@reads
def test_each_image_of_a_tiff_is_a_page(tmp_path: Path) -> None:
    first, second = drawn(["Letter to Ana"]), drawn(["Total 12.50"]).convert("1")
    first.save(tmp_path / "a.tif", save_all=True, append_images=[second])
    content = read_file(tmp_path / "a.tif")
    assert content.text == "Letter to Ana\n\nTotal 12.50"
    assert [box.page for box in boxes_of(content)] == [1, 1, 1, 2, 2]


def png(width: int, height: int) -> bytes:
    """Return the beginning of a PNG of this size (PNG Specification, 11.2.2)."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = (struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in (head, b"IDAT"))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def torn_jpeg() -> bytes:
    file = io.BytesIO()
    drawn().save(file, "JPEG")
    return file.getvalue()[:2000]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            b"\x89PNG\r\n\x1a\n",
            "is a picture of a kind that Pillow does not read, such as HEIC, or broken. Save it as PNG or JPEG",
        ),
        (b"\0\0\0\x18ftypheic\0\0\0\0heicmif1", "is a picture of a kind that Pillow does not read"),
        (png(8_000, 11_126), "is a picture of 8,000 × 11,126 pixels; 89,000,000 are the most that are read"),
        (png(60_000, 60_000), "is a picture, and cannot be read: DecompressionBomb"),
        (png(10, 10), "is a broken picture: image file is truncated"),
        (torn_jpeg(), "is a broken picture: image file is truncated"),
    ],
    ids=["signature", "heic", "large", "huge", "empty", "torn"],
)
@reads
def test_a_picture_that_cannot_be_read_fails_with_its_name(data: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "photo").write_bytes(data)
    with pytest.raises(PromptError, match=told) as caught:
        read_file(tmp_path / "photo")
    assert "photo" in str(caught.value)


@reads
@pytest.mark.parametrize("size", [(1, 1), (300, 200)])
def test_a_picture_without_text_is_no_empty_document(size: tuple[int, int], tmp_path: Path) -> None:
    PIL.new("L", size, 255).save(tmp_path / "a.webp")
    with pytest.raises(PromptError, match=r"a\.webp is a picture, and no text is found in it\. Take it again"):
        read_file(tmp_path / "a.webp")


def test_without_the_extra_an_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    ocr._engine.cache_clear()
    drawn().save(tmp_path / "a.png")
    drawn().save(tmp_path / "a.pdf")
    with pytest.raises(PromptError, match=r"is a picture, which rapidocr reads.*structured-extraction\[ocr\]'"):
        read_file(tmp_path / "a.png")
    with pytest.raises(
        PromptError, match=r"without text on its 1 page: scanned, perhaps.*structured-extraction\[ocr\]'"
    ):
        read_file(tmp_path / "a.pdf")


def test_no_image_is_shown_of_another_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Results say which file they were read from: by its digest, so that no other can be named. The log says why."""
    path = files.pdf(tmp_path / "a.pdf", ["Invoice 7"])
    source = read_file(path).layout.source  # type: ignore[union-attr]
    assert [*page_images(path, source, [1])] == [1]
    files.pdf(path, ["Invoice 8"])
    assert page_images(path, source, [1]) == {}
    assert page_images(tmp_path / "nowhere", source, [1]) == {}
    assert page_images(Path("\0"), source, [1]) == {}
    said = ["it has changed since it was read", "No such file or directory", "embedded null byte"]
    assert len(caplog.messages) == len(said)
    for text, problem in zip(caplog.messages, said, strict=True):
        assert "its pages are not shown" in text
        assert problem in text


@reads
@pytest.mark.parametrize("size", [(5, 3000), (3000, 40)])
def test_a_strip_takes_no_more_than_a_page(size: tuple[int, int], tmp_path: Path) -> None:
    """OCR enlarges the short side of a picture: what it is given is no strip."""
    PIL.new("RGB", size, "white").save(tmp_path / "strip.png")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(PromptError, match="no text is found in it"):
        read_file(tmp_path / "strip.png")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_500_000  # kB
