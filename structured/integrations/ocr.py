"""OCR: the words of a picture and where each stands, in the order in which people read them.

RapidOCR was taken: its wheel holds its weights (PP-OCRv6, Apache 2.0), so that nothing is downloaded, and they read
Latin, Chinese and Japanese letters. Tesseract is a program of the system; EasyOCR, docTR and Surya download weights.

The recogniser is given lines as they lie, without a classifier that turns each by itself: a page that is read badly is
turned as a whole, and read again, so that the boxes of its words stay in order.
"""

import math
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""Rows of pixels in red, green and blue."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, from the top left corner."""

LEAST_SCORE = 0.5
"""Lines that the recogniser is less sure of are no text: stains, folds, drawings."""

GOOD_SCORE = 0.85
"""A page is turned round, and read again, if its lines have less on average."""

LONGEST = 8
"""How many times as long as wide a picture may be: RapidOCR makes the short side 736 pixels at least, a strip huge."""

UPRIGHT = 1.5
"""A line that is so many times higher than it is wide runs up or down the page."""

ROW = 0.6
"""Lines whose middles are less than this part of their height apart stand in one row."""

COLUMN = 20
"""Characters that the lines of a column of text have on average; those of a column of figures have fewer."""

COLUMN_LINES = 4
"""Lines that a column has at least."""


class Word(NamedTuple):
    """A word of a page: where it starts and ends in the text, and where it stands."""

    start: int
    end: int
    box: Rectangle


class PageText(NamedTuple):
    """The text of a page, its words in their order, and how many pixels of them a unit of the page takes."""

    text: str
    words: Sequence[Word] = ()
    scale: float = 1.0


class Line(NamedTuple):
    """A line that was recognised.

    Its `left`, `right` and `middle` are those on a page without skew, its box is that on the page as it is.
    """

    text: str
    score: float
    corners: NDArray[np.float64]
    words: Sequence[tuple[str, Rectangle]]
    left: float = 0
    right: float = 0
    middle: float = 0
    height: float = 1


_READING = Lock()
"""RapidOCR keeps the options of a call in its engine."""


@cache
def _engine() -> Any:
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    weights = {part: next(models.glob(f"*_{part.lower()}_*.onnx"), models / f"{part}.onnx") for part in ("Det", "Rec")}
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": 1_000_000,
            "EngineConfig.onnxruntime.intra_op_num_threads": int(os.environ.get("OMP_NUM_THREADS", "-1")),
            **{f"{part}.model_path": str(path) for part, path in weights.items()},
        }
    )


def recognise(image: Image) -> PageText:
    """Return the text of a picture. One that lies on its side or upside down is turned."""
    with _READING:
        image = _widened(image)
        lines = _read(image, 0)
        tall = sum(_is_upright(line) for line in lines)
        if tall * 2 > len(lines):
            lines = max(_read(image, 1), _read(image, 3), key=_recognised)
        elif lines and _recognised(lines) < GOOD_SCORE * sum(len(line.text) for line in lines):
            lines = max(lines, _read(image, 2), key=_recognised)
    return laid_out([line for line in lines if line.score >= LEAST_SCORE])


def _widened(image: Image) -> Image:
    """Return a picture that is no strip, on white: what stands on it stays where it is."""
    height, width = image.shape[:2]
    least = max(height, width) // LONGEST
    below, beside = max(least - height, 0), max(least - width, 0)
    return np.pad(image, ((0, below), (0, beside), (0, 0)), constant_values=255) if below or beside else image


def _is_upright(line: Line) -> bool:
    width, height = np.ptp(line.corners, axis=0)
    return bool(height > UPRIGHT * width)


def _recognised(lines: Sequence[Line]) -> float:
    """Return how many characters were recognised, each counted by how sure the recogniser is."""
    return sum(line.score * len(line.text) for line in lines)


def _read(image: Image, turns: int) -> list[Line]:
    """Return the lines of a picture that is turned to the left so many quarters, with boxes on that as it is."""
    turned = np.ascontiguousarray(np.rot90(image, turns)[:, :, ::-1])
    found = _engine()(turned, use_det=True, use_cls=False, use_rec=True, return_word_box=True, text_score=0.0)
    if found.boxes is None or not found.txts:
        return []
    size = (image.shape[1], image.shape[0])
    described = [words for words in found.word_results if words and words[0][2] is not None]
    lines: list[Line] = []
    for text, score, corners in zip(found.txts, found.scores, found.boxes, strict=True):
        words = [(text, _turned_back(corners, turns, size))]
        if described and "".join(word for word, *_ in described[0]) == "".join(text.split()):
            words = [(word, _turned_back(quad, turns, size)) for word, _, quad in described.pop(0)]
        lines.append(Line(text, float(score), np.asarray(corners, float), words))
    return lines


def _turned_back(corners: Any, turns: int, size: tuple[int, int]) -> Rectangle:
    """Return the rectangle around corners on a picture that was turned to the left, on the picture before."""
    points = np.asarray(corners, float)
    width, height = size if turns % 2 == 0 else size[::-1]
    for _ in range(turns):
        points = np.stack([height - points[:, 1], points[:, 0]], axis=1)
        width, height = height, width
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def laid_out(lines: Sequence[Line]) -> PageText:
    """Return the text of lines in reading order: rows from the top, their lines separated by tabs."""
    pieces: list[str] = []
    words: list[Word] = []
    length = 0
    for row in _in_order(_straightened(lines)):
        for line in row:
            place = 0
            for word, box in line.words:
                place = max(line.text.find(word, place), place)
                words.append(Word(length + place, length + place + len(word), box))
                place += len(word)
            pieces += [line.text, "\n" if line is row[-1] else "\t"]
            length += len(line.text) + 1
    return PageText("".join(pieces).removesuffix("\n"), words)


def _straightened(lines: Sequence[Line]) -> list[Line]:
    """Return lines with their places on a page without skew, which is the median of theirs."""
    along = [line.corners[1] - line.corners[0] for line in lines]
    angle = median([math.atan2(y, x) for x, y in along if abs(x) > 2 * abs(y)] or [0.0])
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    straight = []
    for line in lines:
        corners = line.corners @ turn
        left, right = float(corners[:, 0].min()), float(corners[:, 0].max())
        height = float(np.linalg.norm(line.corners[3] - line.corners[0]))
        straight.append(line._replace(left=left, right=right, middle=float(corners[:, 1].mean()), height=height))
    return straight


def _in_order(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the rows of a page; where it has two columns of text, those of the left one before those of the right."""
    gutter = _gutter(lines)
    if gutter is None:
        return _rows(lines)
    ordered: list[list[Line]] = []
    sides: tuple[list[Line], list[Line]] = ([], [])
    for line in (*sorted(lines, key=lambda line: line.middle), None):
        if line is not None and not line.left < gutter < line.right:
            sides[line.left >= gutter].append(line)
            continue
        ordered += [row for side in sides for row in _rows(side)]
        sides[0].clear()
        sides[1].clear()
        ordered += [] if line is None else [[line]]
    return ordered


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return where a page is divided into two columns of text; None if it is not."""
    if len(lines) < 2 * COLUMN_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    places = np.linspace(left + 0.3 * (right - left), left + 0.7 * (right - left), 41)
    crossing = [sum(line.left < place < line.right for line in lines) for place in places]
    fewest = min(crossing)
    candidates = [place for place, number in zip(places, crossing, strict=True) if number == fewest]
    gutter = float(candidates[len(candidates) // 2])
    sides = ([line for line in lines if line.right <= gutter], [line for line in lines if line.left >= gutter])
    are_columns = all(len(side) >= COLUMN_LINES and median(len(line.text) for line in side) >= COLUMN for side in sides)
    return gutter if are_columns and fewest * 5 <= len(lines) else None


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        row = rows[-1] if rows else [line]
        height = min(line.height, median(one.height for one in row))
        if rows and line.middle - median(one.middle for one in row) < ROW * height:
            row.append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]
