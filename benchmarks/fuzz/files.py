"""Damaged files: small real ones of every kind that is read, with changes to their bytes or to the parts of an archive.

Only the library's own errors, or a content whose text can be encoded, may come out.
"""

import csv
import io
import json
import random
import re
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from structured.errors import ModelError, StructuredError
from structured.extraction import read_rows
from structured.extraction.documents.files import read_file
from structured.models.adapters import CONFIG, WEIGHTS, Heads, read_adapter
from structured.models.gguf_file import GgufFile, write_gguf

DAMAGES = 12
"""Damaged copies of a case."""

_HTML = """<!doctype html><html><head><meta charset="utf-8"><title>A</title><style>p{}</style></head><body>
<h1>Prices &amp; more</h1><p hidden>no</p><ul><li>one<li>two<ol><li>deep</ol></ul><pre> a
 b</pre><table><tr><td>Pear<td>1.20<tr><th>é&nbsp;🙂</table><select><option>x</select><!-- c --><br></body></html>"""
_INTERESTING = (b"\0", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff" * 8, b"\x7f" + b"\xff" * 3)
_WORDS = (
    b"<",
    b">",
    b"<table>",
    b"<![CDATA[",
    b"&#x110000;",
    b"%PDF-",
    b"endobj",
    b"/Kids",
    b"\r\n\r\n",
    b'"',
    b"\n",
    b"<w:p>",
)


def try_file(trial: Trial) -> None:
    """Read damaged copies of a file."""
    rng = trial.case.random()
    name = rng.choice(sorted(originals()))
    original = originals()[name]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(DAMAGES):
            data = damaged(name, original, rng)
            trial.shown = f"{name}, copy {number}: {data[:200]!r}… ({len(data)} bytes)"
            path = Path(folder) / f"{number}-{name}"
            path.write_bytes(data)
            trial.answers += 1
            try:
                READERS[path.suffix](path)
            except StructuredError as error:
                trial.refuse(error)
                str(error).encode()
            except Exception as error:
                error.add_note(trial.shown)
                raise


def damaged(name: str, original: bytes, rng: random.Random) -> bytes:
    """Return a file with one to a few changes; those of an archive are mostly inside it."""
    data, kind = original, rng.random()
    if original[:2] == b"PK" and kind < 0.85:
        return _rezipped(original, rng) if kind < 0.6 else _relisted(original, rng)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        data = _changed(data, rng)
    if name.endswith(".safetensors") and rng.random() < 0.6:
        return _reheaded(original, rng)
    return data


def _changed(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a flip, a cut, a copy, a splice, or something interesting in place of some."""
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 4, 16, 200)))
    match rng.randrange(8):
        case 0 | 1:
            flipped = bytes(byte ^ (1 << rng.randrange(8)) for byte in data[at : at + 1])
            return data[:at] + flipped + data[at + 1 :]
        case 2:
            return data[:at]
        case 3:
            return data[:at] + data[at:end] * rng.choice((2, 3, 50)) + data[end:]
        case 4:
            other = originals()[rng.choice(sorted(originals()))]
            start = rng.randrange(len(other))
            return data[:at] + other[start : start + rng.choice((4, 40, 400))] + data[end:]
        case 5:
            put = rng.choice(_INTERESTING + _WORDS)
            return data[:at] + put + data[at + len(put) :]
        case 6:
            return data[:at] + rng.choice(_WORDS) * rng.choice((1, 1, 30)) + data[at:]
    return data[:at] + data[end:]


def _rezipped(data: bytes, rng: random.Random) -> bytes:
    """Return an archive with a change in one of its parts, or without it, or with it twice."""
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(sorted(parts))
    for _ in range(rng.choice((1, 1, 3))):
        parts[chosen] = _reworded(parts[chosen], rng) if rng.random() < 0.6 else _changed(parts[chosen], rng)
    if rng.random() < 0.08:
        del parts[chosen]
    if rng.random() < 0.05:
        parts[f"{chosen}x"] = parts.pop(chosen, b"")
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return held.getvalue()


def _relisted(data: bytes, rng: random.Random) -> bytes:
    """Return an archive with changes in the headers of its parts or in its list of them (APPNOTE.TXT, 4.3)."""
    changed = bytearray(data)
    heads = [match.start() for match in re.finditer(rb"PK(\x01\x02|\x03\x04|\x05\x06)", data)]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.choice(heads[-1:] + heads) + rng.randrange(4, 50)
        put = rng.choice((*_INTERESTING, bytes([rng.randrange(256)]), b"\x08", b"\x63\x00", b"\x00\x08\xff"))
        changed[at : at + len(put)] = put[: max(0, len(data) - at)]
    return bytes(changed)


def _reworded(part: bytes, rng: random.Random) -> bytes:
    """Return XML with a tag, a name or a value put in place of another."""
    pieces = part.split(b"<")
    if len(pieces) < 3:
        return part
    one, other = rng.randrange(1, len(pieces)), rng.randrange(1, len(pieces))
    match rng.randrange(5):
        case 0:
            pieces[one], pieces[other] = pieces[other], pieces[one]
        case 1:
            del pieces[one]
        case 2:
            pieces[one:one] = [pieces[other]] * rng.choice((1, 40))
        case 3:
            head, quote, rest = pieces[one].partition(b'"')
            value = rng.choice((b"", b"-1", b"99999999999999999999", b"A0", b"XFE1048577", b"\xff", b"#", b"../x"))
            pieces[one] = head + quote + value + rest[rest.find(b'"') :] if quote else head
        case 4:
            tag, end, _ = pieces[one].partition(b">")
            pieces[one] = tag + end + rng.choice((b"", b"1e999", b"-5", b"NaN", b"99999999999", b"x" * 3000, b"&a;"))
    return b"<".join(pieces)


def _reheaded(data: bytes, rng: random.Random) -> bytes:
    """Return a file of safetensors whose header says something else."""
    [size] = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    name = rng.choice(sorted(header))
    strange: Any = rng.choice(
        (-1, 2**63, 2**64, None, "F64", "BF16", [], [2**40, 2**40], [0], [3, -1], {}, [10**9, 0], "\0", 1.5)
    )
    if isinstance(header[name], dict) and rng.random() < 0.8:
        header[name][rng.choice(("dtype", "shape", "data_offsets", "other"))] = strange
    else:
        header[name if rng.random() < 0.5 else "other"] = strange
    encoded = json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + data[8 + size :]


def _rows(path: Path) -> None:
    for row in read_rows(path, text="text"):
        if not isinstance(row, StructuredError):
            str(row.text).encode("utf-8", "surrogatepass")  # half a character is refused where the text is read


def _document(path: Path) -> None:
    read_file(path).text.encode()


def _gguf(path: Path) -> None:
    """Read a file as an adapter, and each of its tensors."""
    file = GgufFile(path)
    for name in file.tensors:
        with suppress(ModelError):
            file.floats(name)
    read_adapter(path, model_type="llama", heads=Heads(2, 2))


def _safetensors(path: Path) -> None:
    """Read an adapter of PEFT whose weights the file has."""
    folder = path.parent / f"{path.name}-folder"
    folder.mkdir()
    (folder / CONFIG).write_text(json.dumps({"peft_type": "LORA", "lora_alpha": 4, "r": 2}))
    path.rename(folder / WEIGHTS)
    read_adapter(folder, model_type="llama", heads=Heads(2, 2))


READERS: Mapping[str, Callable[[Path], None]] = {
    **dict.fromkeys((".html", ".eml", ".docx", ".xlsx", ".pptx", ".pdf", ".txt"), _document),
    **dict.fromkeys((".csv", ".jsonl", ".parquet"), _rows),
    ".gguf": _gguf,
    ".safetensors": _safetensors,
}
"""What reads a file, by its suffix."""


@cache
def originals() -> dict[str, bytes]:
    """Return the files that are damaged, by their names."""
    found: dict[str, bytes] = {
        "a.html": _HTML.encode(),
        "b.html": _HTML.encode("utf-16"),
        "a.txt": "Aé🙂\n".encode() * 20,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for make in (_mails, _office, _tables, _tensors):
            make(folder)
        found |= {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return found


def _mails(folder: Path) -> None:
    files = support("files")
    files.mail(folder / "a.eml", "Dear Ana,\nthe total is 5 €.\n", "<p>Dear <b>Ana</b></p>", "bill.pdf")
    files.mail(folder / "b.eml", "Grüße aus Köln, " * 40)
    files.pdf(folder / "a.pdf", ["Invoice 4411\nTotal: 89.90", "Page two"])
    body = "".join(files.paragraph(text) for text in ("Dear Ana", "é &amp; 🙂"))
    cell = f"<w:tc>{files.paragraph('cell')}</w:tc>"
    files.docx(folder / "a.docx", f"{body}<w:tbl><w:tr>{cell * 3}</w:tr></w:tbl>")


def _office(folder: Path) -> None:
    from datetime import date

    import openpyxl
    from pptx import Presentation

    book = openpyxl.Workbook()
    for row in (["name", "when", "price"], ["Pear", date(2024, 5, 2), 1.2], ["é🙂", True, "=1+1"]):
        book.active.append(row)
    book.create_sheet("Other").append([1, None, 3])
    book.save(folder / "a.xlsx")
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Plans"
    slide.notes_slide.notes_text_frame.text = "Say hello"
    slides.save(str(folder / "a.pptx"))


def _tables(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    rows = [{"id": str(number), "text": f'Row "{number}", é🙂', "price": number / 4} for number in range(30)]
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "text", "price"])
        writer.writeheader()
        writer.writerows(rows)
    (folder / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    pa.parquet.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    pa.parquet.write_table(pa.Table.from_pylist(rows), folder / "b.parquet", compression="none", use_dictionary=False)


def _tensors(folder: Path) -> None:
    from safetensors.numpy import save_file

    matrix = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    sides = {f"{matrix}A.weight": np.ones((2, 8), np.float32), f"{matrix}B.weight": np.ones((8, 2), np.float32)}
    save_file(sides, folder / "a.safetensors")
    metadata: dict[str, str | int | float] = {
        "general.type": "adapter",
        "adapter.type": "lora",
        "general.architecture": "llama",
        "adapter.lora.alpha": 4.0,
    }
    named = {
        "blk.0.attn_q.weight.lora_a": sides[f"{matrix}A.weight"],
        "blk.0.attn_q.weight.lora_b": sides[f"{matrix}B.weight"],
    }
    write_gguf(folder / "a.gguf", metadata, named)
    write_gguf(folder / "b.gguf", {**metadata, "general.alignment": 32, "general.name": "a"}, named)
