"""Receipts as photos: how well OCR reads them, and what that costs the values extracted from them.

    python -m benchmarks.receipts

Composed receipts are printed in the fonts of the machine and photographed: turned by up to three degrees, blurred,
with noise, as JPEG of quality 40. The packaged model answers their texts as printed and as read.
"""

import argparse
import io
import random
import re
import subprocess
import time
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFilter
import PIL.ImageFont
from pydantic import BaseModel
from rapidfuzz.distance import Levenshtein

from structured import extract_results
from structured.extraction.documents.files import read_file
from structured.jobs.review_page import report


class Receipt(BaseModel):
    """What a receipt says."""

    shop: str
    number: str
    date: date
    total: Decimal


SHOPS = ("Café Brandt", "Corner Books", "Reed Hardware", "Bäckerei Holm", "Green Grocers", "Lind & Co", "Moreau Paints")
STREETS = ("12 Mill Lane", "Hauptstraße 5", "48 Harbour Road", "7 Rue du Port", "93 Station Street")
GOODS = (
    "Espresso",
    "Cake, cheese",
    "Notebook A5",
    "Screws 4x40",
    "Rye bread",
    "Apples 1 kg",
    "Blue paint 2 l",
    "Brush",
)
FONTS = ("DejaVuSansMono", "DejaVuSans", "DejaVuSerif", "LiberationMono-Regular", "LiberationSans-Regular")


def composed(choose: random.Random) -> tuple[str, Receipt]:
    """Return the text of a receipt, and what it says."""
    bought = [(choose.randint(1, 4), name, Decimal(choose.randint(80, 3999)) / 100) for name in choose.sample(GOODS, 3)]
    total = sum((count * price for count, _, price in bought), Decimal())
    day = date(2023, 1, 1) + timedelta(choose.randrange(1000))
    receipt = Receipt(
        shop=choose.choice(SHOPS), number=f"{choose.choice('ABR')}-{choose.randrange(10**5):05}", date=day, total=total
    )
    lines = [
        receipt.shop,
        choose.choice(STREETS),
        "",
        f"Receipt {receipt.number}",
        f"Date: {choose.choice((day.isoformat(), f'{day:%d %B %Y}'))}",
        "",
        *(f"{f'{count} x {name}':<24}{count * price:>8}" for count, name, price in bought),
        "",
        f"{'TOTAL EUR':<24}{total:>8}",
        f"{'VAT 19% included':<24}{total * 19 / 119:>8.2f}",
        "Thank you for your visit!",
    ]
    return "\n".join(lines), receipt


def printed(text: str, font: Path) -> PIL.Image.Image:
    """Return a text in a font, with the last word of each row of figures at the right."""
    face = PIL.ImageFont.truetype(font, 22)
    picture = PIL.Image.new("L", (480, 34 * (text.count("\n") + 3)), 250)
    draw = PIL.ImageDraw.Draw(picture)
    for number, line in enumerate(text.split("\n"), 1):
        name, gap, figure = line.rpartition("  ")
        draw.text((24, 34 * number), name.strip() if gap else line, font=face, fill=30)
        if gap:
            draw.text((456, 34 * number), figure.strip(), font=face, fill=30, anchor="ra")
    return picture


def photographed(picture: PIL.Image.Image, choose: random.Random) -> bytes:
    """Return a picture as a poor photo."""
    turned = picture.rotate(
        choose.choice((-1, 1)) * choose.uniform(1, 3), PIL.Image.Resampling.BICUBIC, expand=True, fillcolor=190
    )
    blurred = turned.filter(PIL.ImageFilter.GaussianBlur(choose.uniform(0.5, 1.2)))
    noise = np.random.default_rng(choose.randrange(2**32)).normal(0, 12, blurred.size[::-1])
    file = io.BytesIO()
    PIL.Image.fromarray(np.uint8(np.clip(np.asarray(blurred) + noise, 0, 255))).save(file, "JPEG", quality=40)
    return file.getvalue()


def fonts() -> list[Path]:
    """Return those fonts that are on this machine."""
    listed = subprocess.run(["fc-list", "--format=%{file}\n"], capture_output=True, text=True, check=True)  # noqa: S607
    paths = {Path(line).stem: Path(line) for line in listed.stdout.splitlines()}
    return [paths[name] for name in FONTS if name in paths]


def right(results: list[Receipt | None], receipts: list[Receipt]) -> dict[str, int]:
    """Return how many values are right, by their fields."""
    pairs = list(zip(results, receipts, strict=True))
    return {
        name: sum(getattr(ours, name, None) == getattr(true, name) for ours, true in pairs)
        for name in Receipt.model_fields
    }


def answers(documents: list[str] | list[Path], folder: Path) -> list[Receipt | None]:
    """Return the answers of the packaged model, in the order of the documents."""
    results = sorted(extract_results(Receipt, documents, model="packaged"), key=lambda result: result.position)
    if isinstance(documents[0], Path):
        size = report(results, folder / "review.html").stat().st_size
        print(f"The review page has {size / len(results) / 1000:.0f} kB for each receipt.")
    return [None if result.error else result.value for result in results]


def main() -> None:
    """Print the character error rate, and the values that are right, of the texts as printed and as read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--receipts", type=int, default=30)
    number = parser.parse_args().receipts
    choose, faces = random.Random(7), fonts()
    texts, receipts = zip(*(composed(choose) for _ in range(number)), strict=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        photos = [folder / f"{place:03}.jpg" for place in range(number)]
        for place, (photo, text) in enumerate(zip(photos, texts, strict=True)):
            photo.write_bytes(photographed(printed(text, faces[place % len(faces)]), choose))
        start = time.process_time()
        read = [" ".join(read_file(photo).text.split()) for photo in photos]
        seconds = (time.process_time() - start) / number
        plain = [" ".join(text.split()) for text in texts]
        wrong = [Levenshtein.distance(ours, true) for ours, true in zip(read, plain, strict=True)]
        print(f"{number} receipts, {len(faces)} fonts, {seconds:.1f} s of processor time for each to be read")
        print(f"characters wrong: {100 * sum(wrong) / sum(map(len, plain)):.2f} %; {wrong.count(0)} without any")
        rows = [
            re.sub(" {2,}", "\t", text).replace("\n\n", "\n") for text in texts
        ]  # as the words of a photo are laid out
        for kind, documents in (("printed", list(texts)), ("in rows", rows), ("read", photos)):
            counts = right(answers(documents, folder), list(receipts))
            print(f"{kind:8} {sum(counts.values())} of {len(Receipt.model_fields) * number} values right: {counts}")


if __name__ == "__main__":
    main()
