"""Files of several kinds: told by their content, read as what a reader sees, and refused by name."""

import asyncio
import datetime as dt
import gzip
import io
import os
import re
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import files
import openpyxl
import pytest
from doubles import ByteTokenizer, in_order, random_logits, read_back
from hypothesis import given
from hypothesis import strategies as st
from pptx import Presentation
from pptx.util import Inches
from pydantic import BaseModel

from structured import (
    Document,
    Extractor,
    aextract,
    aextract_batch,
    aextract_results,
    classify,
    extract,
    extract_batch,
    extract_results,
    read_results,
    structured,
    write_results,
    write_table,
)
from structured.cli.document_paths import named_documents
from structured.errors import BatchError, OptionWarning, PromptError, StructuredError
from structured.extraction.documents.document import each_document, id_of, is_table, looks_like_path, read_document
from structured.extraction.documents.files import (
    KIND_BY_FOLDER,
    KIND_BY_SUFFIX,
    PDF,
    PICTURE,
    TABLE,
    UNSUPPORTED,
    kind_of_file,
    read_file,
)
from structured.extraction.documents.plain_text import Content
from structured.extraction.documents.tables import TABLE_READERS
from structured.models import FunctionModel, ScriptedModel
from structured.results.evidence import page_of


@given(st.lists(st.text("a\n", max_size=4), min_size=1, max_size=6))
def test_each_character_stands_on_its_page(texts: list[str]) -> None:
    text, pages, _ = Content.of_pages(texts)
    assert len(pages) == len(texts)
    for number, (start, page) in enumerate(zip(pages, texts, strict=True), 1):
        assert text[start : start + len(page)] == page
        assert {page_of(pages, start + offset) for offset in range(max(len(page), 1))} == {number}


@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a"])
def test_a_pdf_is_read_page_by_page_whatever_its_name(name: str, tmp_path: Path) -> None:
    given = Path(files.pdf(tmp_path / name, ["Invoice 7 (paid)\nTotal 12.50", "", "Page three"]))
    document = read_document(given)
    assert document == Document("Invoice 7 (paid)\nTotal 12.50\n\n\n\nPage three", str(given), pages=(0, 30, 32))
    assert page_of(document.pages, document.text.index("three")) == 3


def test_what_was_filled_into_a_form_is_read(tmp_path: Path) -> None:
    given = files.pdf(tmp_path / "a.pdf", ["Amount:"])
    shown = b"/Tx BMC q BT /F1 12 Tf 2 5 Td (42 EUR) Tj ET Q EMC"
    font = b"<</Font<</F1 3 0 R>>>>"
    field = b"<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/V(42 EUR)/F 4/Rect[72 680 300 700]/AP<</N 7 0 R>>>>"
    look = b"<</Type/XObject/Subtype/Form/BBox[0 0 228 20]/Resources%b/Length %d>>stream" % (font, len(shown))
    data = given.read_bytes().replace(b"/Pages 2 0 R>>", b"/Pages 2 0 R/AcroForm<</Fields[6 0 R]>>>>")
    data = data.replace(b"/Contents", b"/Annots[6 0 R]/Contents").replace(
        b"xref\n", b"6 0 obj%b\nendobj\n7 0 obj%b\n%b\nendstream\nendobj\nxref\n" % (field, look, shown), 1
    )
    given.write_bytes(data[: data.index(b"xref\n")])  # without a table, a reader looks for the objects
    given.write_bytes(given.read_bytes() + b"trailer<</Size 8/Root 1 0 R>>\n%%EOF")
    assert read_file(given).text == "Amount:\n42 EUR"


def test_evidence_leads_to_the_page(tmp_path: Path) -> None:
    class Bill(BaseModel):
        number: int
        total: float

    files.pdf(tmp_path / "a.pdf", ["Letter", "Invoice 7", "Total 12.50"])
    (tmp_path / "b.txt").write_text("Invoice 7, total 12.50")
    model = ScriptedModel('{"number": 7, "total": 12.50}')
    with_pages, without = in_order(Extractor(Bill, model=model).results(tmp_path))
    assert {path: one.page for path, one in with_pages.evidence.items()} == {"number": 2, "total": 3}
    assert [row["page"] for row in with_pages.rows()] == [2, 3]
    assert {one.page for one in without.evidence.values()} == {None}
    read = read_back(with_pages, Bill)
    assert read.evidence == with_pages.evidence


def test_a_word_file_is_read_as_what_stands_in_it(tmp_path: Path) -> None:
    cell = "<w:tc>{}</w:tc>".format
    rows = "".join(
        f"<w:tr>{cell(files.paragraph(left))}{cell(files.paragraph(right))}</w:tr>"
        for left, right in (("Number", "Price"), ("INV_24*1", "3"))
    )
    body = f"{files.paragraph('A &lt;b&gt; &amp; c_d')}<w:tbl>{rows}</w:tbl>{files.paragraph('End')}"
    read = read_file(files.docx(tmp_path / "a.docx", body))
    assert read == Content("A <b> & c_d\n\nNumber\tPrice\nINV_24*1\t3\n\nEnd")


def test_the_sheets_of_a_workbook_are_its_pages(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    first, hidden, last = book.active, book.create_sheet("Hidden"), book.create_sheet("Last")
    hidden.sheet_state = "hidden"
    hidden.append(["no"])
    first.title = "First"
    first.append(["number", "count", "at", "paid"])
    first.append(["INV_1", 3, dt.datetime(2024, 5, 1), True])  # noqa: DTZ001  spreadsheets know no time zones
    first.append(["N/A", None, 2.5])
    last.append(["end"])
    book.save(tmp_path / "a.xlsx")
    read = read_file(tmp_path / "a.xlsx")
    assert read.text == "First\nnumber\tcount\tat\tpaid\nINV_1\t3\t2024-05-01\tTRUE\nN/A\t\t2.5\n\nLast\nend"
    assert [read.text[start:].split("\n")[0] for start in read.pages] == ["First", "Last"]


def test_formulas_that_were_never_computed_are_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append([1, "=A1+1"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(PromptError, match="formulas without values, the first in Sheet!B1"):
        read_file(tmp_path / "a.xlsx")


def test_the_slides_of_a_presentation_are_its_pages(tmp_path: Path) -> None:
    deck = Presentation()
    for title in ("One", "Two"):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
    table = slide.shapes.add_table(1, 2, *[Inches(1)] * 4).table
    table.cell(0, 0).text, table.cell(0, 1).text = "a_b", "3"
    slide.notes_slide.notes_text_frame.text = "say this"
    deck.save(str(tmp_path / "a.pptx"))
    assert read_file(tmp_path / "a.pptx") == Content("One\n\nTwo\na_b\t3\nsay this", (0, 5))


def test_a_mail_is_read_with_its_headers(tmp_path: Path) -> None:
    headers = "From: Zoë <zoe@example.org>\nTo: b@example.org\nSubject: Grüße"
    assert read_file(files.mail(tmp_path / "a.eml", "Hello\nthere")).text == f"{headers}\n\nHello\nthere"
    found = read_file(files.mail(tmp_path / "b.eml", "", "<p>Hello <b>you</b>", "bill.pdf")).text
    assert found == f"{headers}\nAttachments: bill.pdf\n\nHello you"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_text_is_read_as_its_mark_says(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Zoë,\r\n 🙂".encode(encoding))
    assert read_file(path).text == "Zoë,\r\n 🙂"


def test_markdown_and_unknown_text_stay_as_they_are(tmp_path: Path) -> None:
    for name, text in (("a.md", "---\ntitle: a\n---\n<html>*b*"), ("b.log", "<p>x</p>"), ("c.conf", "a,b\n1,2\n")):
        (tmp_path / name).write_text(text)
        assert read_file(tmp_path / name) == Content(text)
    (tmp_path / "d.txt").write_text(" <!DOCTYPE HTML><p>x</p>")
    assert read_file(tmp_path / "d.txt") == Content("x")


def archive(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archived:
        for name in names:
            archived.writestr(name, "x")
    return held.getvalue()


def of_a_later_version(data: bytes) -> bytes:
    """Return an archive whose list says that a part needs version 25.5 of the format (APPNOTE.TXT, 4.4.3)."""
    at = data.index(b"PK\x01\x02") + 6
    return data[:at] + b"\xff" + data[at + 1 :]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.txt", "Zoë".encode("latin-1"), r"is not text in UTF-8: byte 2 is 0xeb\. .*read_text\('cp1252'\)"),
        ("a.txt", "Zoë".encode("utf-16-le"), r"looks like UTF-16.*read_text\('utf-16-le'\)"),
        ("a.txt", "Zoë".encode("utf-16-be"), r"read_text\('utf-16-be'\)"),
        ("a.txt", b"\xff\xfeZ", "is not text in UTF-16-LE: byte 2"),
        ("a.txt", bytes(range(128)), "has NUL characters, so that it is no text"),
        ("a.pdf", b"%PDF-1.4 and nothing else", "is a PDF, and cannot be read: PdfiumError"),
        ("a.docx", b"PK\x03\x04 and nothing else", "is a broken ZIP archive"),
        ("a.docx", of_a_later_version(archive("a")), "is a broken ZIP archive: zip file version 25.5"),
        ("a.docx", archive("[Content_Types].xml", "word/document.xml"), "is a Word file, and cannot be read"),
        ("a.xlsx", archive("[Content_Types].xml", "xl/workbook.xml"), "is an Excel file, and cannot be read"),
        ("a.pptx", archive("[Content_Types].xml", "ppt/presentation.xml"), "is a PowerPoint file, and cannot be read"),
        ("a.odt", archive("mimetype", "content.xml"), "is an OpenDocument file or a book. Save it as DOCX"),
        ("a.zip", archive("a.txt"), r"is a ZIP archive\. Unpack it, or leave it out"),
        ("a.zip", archive(), r"is an archive\. Unpack it, or leave it out"),
        ("a.tar", b"a.txt".ljust(257, b"\0") + b"ustar", r"is an archive\. Unpack it"),
        (
            "a.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "of an office program before 2007 or of Outlook, or encrypted. Save",
        ),
        ("a.txt", gzip.compress(b"x", mtime=0), "is compressed. Unpack it"),
        ("a.db", b"SQLite format 3\0", "is an SQLite database. Save its rows as CSV"),
        ("a.mp4", b"\0\0\0\x20ftypisom\0", "is a recording. Pass what is said in it"),
        ("a.exe", b"MZ\x90\0", "is a program. Pass a file with text"),
        *((name, b"PAR1", r"is a table, .* rows.* extract_batch") for name in ("a.parquet", "a.bin")),
        *((f"a{suffix}", b"a\n1\n", r"is a table, .*rows.* extract_batch") for suffix in TABLE_READERS),
        ("a.csv", archive(), r"is an archive\. Unpack it"),
    ],
)
def test_what_cannot_be_read_is_called_by_what_it_is(name: str, data: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PromptError, match=told) as caught:
        read_file(path)
    assert str(path) in str(caught.value)


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "many-documents.md"
OLD_OFFICE, MP4 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\0\0\0\x20ftypisom\0"
OFFICE = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
SAMPLES: dict[str, bytes] = {
    **{f".{suffix}": archive("[Content_Types].xml", part) for suffix, part in OFFICE.items()},
    **dict.fromkeys((".doc", ".xls", ".ppt", ".msg"), OLD_OFFICE),
    **dict.fromkeys((".odt", ".epub"), archive("mimetype")),
    ".pdf": b"%PDF-1.4", ".rtf": b"{\\rtf1", ".ps": b"%!PS-Adobe", ".djvu": b"AT&TFORM", ".pst": b"!BDN",
    ".dcm": bytes(128) + b"DICM", ".sqlite": b"SQLite format 3\0", ".arrow": b"ARROW1\0\0", ".avro": b"Obj\1",
    ".orc": b"ORC\n", ".h5": b"\x89HDF\r\n\x1a\n", ".npy": b"\x93NUMPY", ".parquet": b"PAR1", ".zip": archive("a"),
    ".7z": b"7z\xbc\xaf\x27\x1c", ".rar": b"Rar!\x1a\7", ".cab": b"MSCF\0", ".tar": b"a".ljust(257, b"\0") + b"ustar",
    ".gz": b"\x1f\x8b", ".bz2": b"BZh91AY&SY", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd",
    ".lz4": b"\x04\x22\x4d\x18", ".Z": b"\x1f\x9d", ".mp3": b"ID3\3", ".ogg": b"OggS\0", ".flac": b"fLaC\0",
    ".wav": b"RIFF\0\0\0\0WAVE", ".avi": b"RIFF\0\0\0\0AVI ", ".mp4": MP4, ".mkv": b"\x1aE\xdf\xa3",
    ".exe": b"MZ\x90\0", ".so": b"\x7fELF", ".dylib": b"\xcf\xfa\xed\xfe", ".class": b"\xca\xfe\xba\xbe",
    ".png": b"\x89PNG\r\n", ".jpg": b"\xff\xd8\xff", ".gif": b"GIF89a", ".bmp": b"BM1234\0\0\0\0", ".tif": b"II*\0",
    ".webp": b"RIFF\0\0\0\0WEBP", ".heic": b"\0\0\0\x20ftypheic", ".avif": b"\0\0\0\x20ftypavif",
}  # fmt: skip
"""How files of each suffix begin; others are texts."""


def kinds_in_guide() -> dict[str, str]:
    """Return what the table of the guide says of each suffix."""
    lines = GUIDE.read_text(encoding="utf-8").partition("| file | in a folder |")[2].partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in lines[2:]]
    return {suffix: told for names, told in rows for suffix in re.findall(r"`(\.\w+)`", names)}


@pytest.mark.parametrize("suffix", kinds_in_guide())
def test_the_guide_says_what_becomes_of_a_file(suffix: str, tmp_path: Path) -> None:
    """One document, one for each row, or a refusal with the remedy of the table."""
    path, told = tmp_path / f"a{suffix}", kinds_in_guide()[suffix]
    path.write_bytes(SAMPLES.get(suffix, b"text"))
    if told.startswith("one document for each"):
        assert is_table(path)
    elif told.startswith("one document: "):
        assert list(each_document(tmp_path)) == [path]
        name = {"PDF": PDF, "photo": PICTURE}.get(next(iter(re.findall("PDF|photo", told)), ""))
        assert name is None or kind_of_file(path) is name
        assert kind_of_file(path) is not TABLE
    else:
        (document,) = each_document(tmp_path)
        with pytest.raises(PromptError) as refused:
            read_document(document)
        remedy = re.match("refused: (?:it is )?(?:a )?(?:save|[^ ,]+)", told)
        assert remedy is not None
        assert remedy[0].removeprefix("refused: ").removeprefix("it is ").lower() in str(refused.value).lower()


def test_the_guide_lists_each_kind_of_file() -> None:
    told = kinds_in_guide()
    assert {*KIND_BY_SUFFIX, *TABLE_READERS, *(f".{suffix}" for suffix in OFFICE)} <= told.keys()
    assert len(OFFICE) == len(KIND_BY_FOLDER)
    assert SAMPLES.keys() <= told.keys()
    for signature, what in UNSUPPORTED:
        suffixes = [suffix for suffix, data in SAMPLES.items() if re.match(signature, data, re.DOTALL)]
        assert any(told[suffix].startswith("refused") for suffix in suffixes), what


def test_a_pdf_with_empty_pages_is_no_empty_document(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"without text on its 2 pages, nor a scan\. Leave it out"):
        read_file(files.pdf(tmp_path / "a.pdf", ["", ""]))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, told in (("pipe", "is no regular file"), ("nowhere", "No such file"), (".", "is a folder")):
        with pytest.raises(PromptError, match=told):
            read_file(tmp_path / path)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(PromptError, match=r"is a PDF, which pypdfium2 reads.*structured-extraction\[files\]'"):
        read_file(files.pdf(tmp_path / "a.pdf", ["x"]))


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as archived:
        archived.writestr("[Content_Types].xml", "")
        with archived.open("word/document.xml", "w") as part:
            for _ in range(101):
                part.write(b" " * 1_000_000)
    with pytest.raises(
        PromptError, match=r"a\.docx grows by 100,9\d\d,\d\d\d bytes when it is unpacked; 100,000,000 are"
    ):
        read_file(tmp_path / "a.docx")


def test_pictures_do_not_make_a_file_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Path(files.docx(tmp_path / "a.docx", files.paragraph("Ana")))
    whole = read_file(given)
    with zipfile.ZipFile(given, "a") as archived:
        archived.writestr("word/media/a.png", os.urandom(200_000))
    monkeypatch.setattr("structured.extraction.documents.files.MAX_UNPACKED_BYTES", 100_000)
    assert read_file(given) == whole


@pytest.mark.parametrize(
    ("mail", "told"),
    [
        (b"Subject: " + b"=?utf-8?q?a?= " * 20_000 + b"\n\nx", r"a header 'Subject' of more than 50,000 characters"),
        (
            b"".join(
                b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (level, level) for level in range(900)
            ),
            "parts within parts on more than 30 levels",
        ),
    ],
    ids=["header", "levels"],
)
def test_a_mail_that_takes_quadratic_time_is_refused(mail: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(mail)
    with pytest.raises(PromptError, match=rf"The mail .*a\.eml has {told}"):
        read_file(tmp_path / "a.eml")


def test_texts_that_begin_like_a_program_or_a_recording_are_texts(tmp_path: Path) -> None:
    for text in ("MZ is the sign of an agent.", "ID3 tags", "BZh: Bezahlt", "ORC 7", "Objects", "a" * 300):
        (tmp_path / "a").write_text(text)
        assert read_file(tmp_path / "a").text == text


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """Return a folder with a letter, two tables, one of which has two columns of texts, and a file within a folder."""
    folder = tmp_path / "inbox"
    (folder / "late").mkdir(parents=True)
    (folder / "a.txt").write_text("It is 3.")
    (folder / "b.csv").write_text("body\nIt is 3.\nSo is it: 3.\n")
    (folder / "c.csv").write_text("n,body\none,It is 3.\ntwo,It is 3.\nthree,It is 3.\n")
    (folder / "late" / "d.jsonl").write_text('{"n": 1, "body": "3"}\n{"n"\n')
    return folder


ROWS = ["a.txt", "b.csv:2", "b.csv:3", "c.csv", "late/d.jsonl:1", "late/d.jsonl:2"]
"""The ids of the documents in the folder."""

MODEL = ScriptedModel("3")


def of_extraction(documents: Any, _: Path) -> list[tuple[str, StructuredError | None]]:
    """Return the id and the error of each document, in order."""
    return [(one.id, one.error) for one in in_order(Extractor(int, model=MODEL).results(documents))]


def of_async_extraction(documents: Any, _: Path) -> list[tuple[str, StructuredError | None]]:
    async def results() -> list[Any]:
        return [one async for one in aextract_results(int, documents, model=MODEL)]

    return [(one.id, one.error) for one in in_order(asyncio.run(results()))]


def of_file(documents: Any, output: Path) -> list[tuple[str, StructuredError | None]]:
    """Return them as they are written to a file that lies among the documents, and is continued."""
    for _ in range(2):
        write_results(int, documents, output, model=MODEL)
        write_table(output, output.with_suffix(".csv"))
    table = write_table(output, output.parent.parent / "out.csv").read_text().splitlines()[1:]
    errors = {one.id: one.error for one in read_results(output, int)}
    assert len(errors) == len(table)
    return [(identity, errors[identity]) for identity in (line.split(",")[0] for line in table)]


@pytest.mark.parametrize("found_by", [of_extraction, of_async_extraction, of_file])
def test_a_folder_is_read_as_the_command_line_reads_it(
    found_by: Callable[[Any, Path], list[tuple[str, StructuredError | None]]], inbox: Path
) -> None:
    """The rows of a table are documents; a table without one column of texts fails alone, and says what to pass."""
    found = found_by(inbox, inbox / "out.jsonl")
    assert [identity for identity, _ in found] == [str(inbox / name) for name in ROWS]
    assert [
        id_of(one, 0) for one in named_documents([str(inbox)], None, None, [inbox / "out.jsonl", inbox / "out.csv"])
    ] == [identity for identity, _ in found]
    told = [str(error) for _, error in found if error is not None]
    assert len(told) == 2
    assert told[0].endswith("c.csv has 2 columns of texts: 'n', 'body'. Name one: read_rows(path, text=…).")
    assert "d.jsonl:2: the line is no JSON" in told[1]


def test_the_path_of_a_file_stands_for_its_documents(inbox: Path) -> None:
    """A table that cannot be read is refused at once; so is what is not there."""
    extractor = Extractor(int, model=MODEL)
    assert extractor.batch(inbox / "b.csv") == [3, 3]
    assert extractor.batch(inbox / "a.txt") == [3]
    assert extractor.batch([("x", inbox / "a.txt")]) == [3]
    assert [one.id for one in extractor.results([("x", inbox / "a.txt"), ("y", inbox / "no.txt")])] == ["y", "x"]
    with pytest.raises(PromptError, match=r"c\.csv has 2 columns of texts: 'n', 'body'\. Name one: read_rows"):
        extractor.results(inbox / "c.csv")
    with pytest.raises(PromptError, match=r"There is no file or folder '.*a\.text'\. Is it .*a\.txt\?"):
        extractor.results(inbox / "a.text")


def test_a_table_in_a_list_or_alone_is_no_document(inbox: Path) -> None:
    """A list has one answer for each of its items, so that a table in it would be an invented one."""
    extractor = Extractor(int, model=MODEL)
    remedy = "Pass its path to extract_batch, not in a list"
    for path, problem in ((inbox / "b.csv", "a table, and its rows are documents"), (inbox, "a folder, in place of a")):
        (error,) = extractor.batch([path], errors="return")
        for call in (partial(extractor.result, path), partial(extractor.batch, [("x", path)])):
            with pytest.raises((PromptError, BatchError), match=re.escape(str(error))):
                call()
        assert f"{path} is {problem}" in str(error)
        assert remedy in str(error)
    assert extractor.batch(inbox / "b.csv") == [3, 3]
    assert len(extractor.batch(inbox, errors="return")) == len(ROWS)


@pytest.mark.parametrize("name", ["a" * 300, "a\0b", "a\ud800b"], ids=["too long", "NUL", "surrogate"])
def test_a_path_that_no_file_can_have_is_no_document(name: str) -> None:
    """Alone, in a list, and in place of one."""
    extractor = Extractor(int, model=MODEL)
    for call in (lambda: extractor.result(Path(name)), lambda: extractor.batch(Path(name))):
        with pytest.raises(PromptError, match=r"cannot be read|There is no file"):
            call()
    (error,) = extractor.batch([Path(name)], errors="return")
    assert isinstance(error, PromptError)


def names(folder: Path) -> list[str]:
    return [str(one.relative_to(folder)) for one in each_document(folder) if isinstance(one, Path)]


def test_a_folder_that_holds_itself_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "beside").symlink_to(tmp_path / "a" / "b", target_is_directory=True)
    (tmp_path / "a" / "b" / "x.txt").write_text("x")
    assert names(tmp_path) == ["a/b/x.txt", "a/self", "beside/x.txt"]


def test_a_folder_that_cannot_be_read_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "x.txt").write_text("x")
    within = Path.iterdir

    def guarded(path: Path) -> Any:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return within(path)

    monkeypatch.setattr(Path, "iterdir", guarded)
    assert names(tmp_path) == ["closed", "x.txt"]
    with pytest.raises(PromptError, match="Permission denied"):
        read_document(tmp_path / "closed")


def test_globs_name_the_files_to_be_read(tmp_path: Path) -> None:
    for name in ("a.txt", "b.md", "c.txt"):
        (tmp_path / name).write_text("Ana is 3.")
    found = Extractor(int, model=ScriptedModel("3")).results(tmp_path.glob("*.txt"))
    assert sorted(Path(one.id).name for one in found) == ["a.txt", "c.txt"]


def test_an_error_stands_in_for_its_document() -> None:
    given = ["It is 3.", PromptError("Line 2 is torn.")]
    three, error = Extractor(int, model=ScriptedModel("3")).batch(given, errors="return")
    assert (three, str(error)) == (3, "Line 2 is torn.")


PATHS = [
    *("letters/a.txt", "invoice.pdf", "Rechnung_2024-05.XLSX\n", "./a", "../inbox", "~/mail.eml", "/home/ana/letters"),
    *("inbox/2024/", "C:\\x\\a.pdf", "C:/Users/Ana Brandt/a b.pdf", "\\\\server\\share", "letters\\a.txt"),
    *("s3://b/k.pdf", "file:///tmp/x", "https://example.org/a.pdf"),
]
TEXTS = [
    *(
        "2024/05/02",
        "and/or",
        "N/A",
        "3/4",
        "24/7",
        "1/2/",
        "km/h",
        "TCP/IP",
        "GET /a/b",
        "/start",
        "/s/ Ana Brandt",
        "",
    ),
    *("ana@example.md", "www.example.md", "Booking.com", "St.Gallen", "node.js", "3.50", "https://example.org/inbox/"),
    *(
        "See https://example.org/a.pdf for it",
        "He sent invoice.pdf",
        "letters/a.txt\nletters/b.txt",
        "// note",
        "C: 3/4",
    ),
]


@pytest.mark.parametrize("text", [*PATHS, *TEXTS])
def test_a_text_of_one_line_that_is_a_path_is_told_from_others(text: str) -> None:
    """Whether or not the file exists."""
    assert looks_like_path(text) == (text in PATHS)


async def awaited(results: Any) -> list[Any]:
    return [one async for one in results]


@structured(model=MODEL)
def number(text: str) -> int:
    """Find the number in {text}"""
    raise NotImplementedError


DOORS: dict[str, Callable[[str, Path], object]] = {
    "extract": lambda text, _: extract(int, text, model=MODEL),
    "extractor": lambda text, _: Extractor(int, model=MODEL)(text),
    "result": lambda text, _: Extractor(int, model=MODEL).result(text),
    "stream": lambda text, _: Extractor(int, model=MODEL).stream(text).result(),
    "classify": lambda text, _: classify(
        bool, text, model=FunctionModel(random_logits(len(ByteTokenizer().tokens)), ByteTokenizer())
    ),
    "function": lambda text, _: number(text),
    "batch": lambda text, _: extract_batch(int, [Document(text), text, text], model=MODEL),
    "generator": lambda text, _: extract_batch(int, (one for one in [text]), model=MODEL),
    "pair": lambda text, _: extract_batch(int, [("a", text)], model=MODEL),
    "results": lambda text, _: list(extract_results(int, [text], model=MODEL)),
    "file": lambda text, folder: write_results(int, [text], folder / "out.jsonl", model=MODEL),
    "async": lambda text, _: asyncio.run(aextract(int, text, model=MODEL)),
    "async batch": lambda text, _: asyncio.run(aextract_batch(int, [text], model=MODEL)),
    "async results": lambda text, _: asyncio.run(awaited(aextract_results(int, [text], model=MODEL))),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_path_is_not_read_as_a_text_in_silence(door: str, tmp_path: Path) -> None:
    """At no door; the warning points to the line of the caller. A `Document` says that its text is one."""
    told = r"The text 'letters/a\.txt' looks like a path, and what is there is not read\. To read a file, pass Path\("
    with pytest.warns(OptionWarning, match=told) as warned:
        DOORS[door]("letters/a.txt", tmp_path)
    assert [one.filename for one in warned] == [__file__]


def test_the_name_of_a_file_without_a_suffix_that_is_known_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "a b.x1").write_text("Ana")
    assert looks_like_path(str(tmp_path / "a b.x1"))
    assert not looks_like_path(str(tmp_path / "a c.x1"))
    with pytest.raises(PromptError, match=r"the name of a folder\. Pass Path\("):
        each_document(str(tmp_path))
