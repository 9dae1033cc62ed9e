"""OCR: the words of a picture and where each stands, in the order in which people read them.

RapidOCR was taken: its wheel holds its weights (PP-OCRv6, Apache 2.0), so that nothing is downloaded, and they read
Latin, Chinese and Japanese letters. Tesseract is a program of the system; EasyOCR, docTR and Surya download weights.

The recogniser is given lines as they lie, without a classifier that turns each by itself: a page that is read badly is
turned as a whole, and read again, so that the boxes of its words stay in order.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.models.cpu_threads import available_cpus, environment_threads

Image = NDArray[np.uint8]
"""Rows of pixels in red, green and blue."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, from the top left corner."""

MIN_LINE_SCORE = 0.5
"""The least score of a line of text. Lines with a lower one are stains, folds, drawings."""

GOOD_PAGE_SCORE = 0.85
"""The least average score of the lines of a page that is the right way up. Below, it is turned and read again."""

MAX_ASPECT_RATIO = 8
"""The most that a picture may be longer than wide: RapidOCR makes the short side 736 pixels at least, a strip huge."""

UPRIGHT_RATIO = 1.5
"""The least ratio of height to width of a line that runs up or down the page."""

ROW_TOLERANCE = 0.6
"""The distance between the middles of lines in one row, in heights of a line, is less than this."""

MIN_COLUMN_CHARACTERS = 20
"""The least median of characters in the lines of a column of text; a column of figures has fewer."""

MIN_COLUMN_LINES = 4
"""The least number of lines in a column."""


class Word(NamedTuple):
    """A word of a page: where it starts and ends in the text, and where it stands."""

    start: int
    end: int
    box: Rectangle


class PageText(NamedTuple):
    """The text of a page, its words in order, and the pixels of their boxes for each unit of the page."""

    text: str
    words: Sequence[Word] = ()
    scale: float = 1.0


class RecognisedLine(NamedTuple):
    """A recognised line.

    Its `left`, `right`, `middle` and `height` are on the page without skew, its `corners` and the boxes of its `words`
    on the page as it is.
    """

    text: str
    score: float
    corners: NDArray[np.float64]
    words: Sequence[tuple[str, Rectangle]]
    left: float = 0
    right: float = 0
    middle: float = 0
    height: float = 1


_ENGINE_LOCK = Lock()
"""Held during a call of the engine, which keeps the options of the call in itself."""


@cache
def _engine() -> Any:
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    weights = {part: next(models.glob(f"*_{part.lower()}_*.onnx"), models / f"{part}.onnx") for part in ("Det", "Rec")}
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": 1_000_000,
            "EngineConfig.onnxruntime.intra_op_num_threads": environment_threads() or available_cpus(),
            **{f"{part}.model_path": str(path) for part, path in weights.items()},
        }
    )


def recognise(image: Image) -> PageText:
    """Return the text of a picture. One that lies on its side or upside down is turned."""
    with _ENGINE_LOCK:
        image = _pad_strip(image)
        lines = _recognise_lines(image, 0)
        sizes = [np.ptp(line.corners, axis=0) for line in lines]
        upright_lines = sum(bool(height > UPRIGHT_RATIO * width) for width, height in sizes)
        if upright_lines * 2 > len(lines):
            lines = max(_recognise_lines(image, 1), _recognise_lines(image, 3), key=_certain_characters)
        elif lines and _certain_characters(lines) < GOOD_PAGE_SCORE * sum(len(line.text) for line in lines):
            lines = max(lines, _recognise_lines(image, 2), key=_certain_characters)
    return lines_to_page_text([line for line in lines if line.score >= MIN_LINE_SCORE])


def _pad_strip(image: Image) -> Image:
    """Return a picture, padded with white at the bottom or on the right if it is a strip."""
    height, width = image.shape[:2]
    min_side = max(height, width) // MAX_ASPECT_RATIO
    bottom, right = max(min_side - height, 0), max(min_side - width, 0)
    return np.pad(image, ((0, bottom), (0, right), (0, 0)), constant_values=255) if bottom or right else image


def _certain_characters(lines: Sequence[RecognisedLine]) -> float:
    """Return the number of characters, each weighted by the score of its line."""
    return sum(line.score * len(line.text) for line in lines)


def _recognise_lines(image: Image, quarter_turns: int) -> list[RecognisedLine]:
    """Return the lines of a picture after some quarter turns to the left, with boxes on the picture before."""
    turned = np.ascontiguousarray(np.rot90(image, quarter_turns)[:, :, ::-1])
    output = _engine()(turned, use_det=True, use_cls=False, use_rec=True, return_word_box=True, text_score=0.0)
    if output.boxes is None or not output.txts:
        return []
    size = (image.shape[1], image.shape[0])
    word_results = [words for words in output.word_results if words and words[0][2] is not None]
    lines: list[RecognisedLine] = []
    for text, score, corners in zip(output.txts, output.scores, output.boxes, strict=True):
        words = [(text, _box_before_turns(corners, quarter_turns, size))]
        if word_results and "".join(word for word, *_ in word_results[0]) == "".join(text.split()):
            words = [(word, _box_before_turns(quad, quarter_turns, size)) for word, _, quad in word_results.pop(0)]
        lines.append(RecognisedLine(text, float(score), np.asarray(corners, float), words))
    return lines


def _box_before_turns(corners: Any, quarter_turns: int, size: tuple[int, int]) -> Rectangle:
    """Return the rectangle around corners on a picture after quarter turns to the left, on the picture before."""
    points = np.asarray(corners, float)
    width, height = size if quarter_turns % 2 == 0 else size[::-1]
    for _ in range(quarter_turns):
        points = np.stack([height - points[:, 1], points[:, 0]], axis=1)
        width, height = height, width
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def lines_to_page_text(lines: Sequence[RecognisedLine]) -> PageText:
    """Return the text of lines in reading order: rows from the top, their lines separated by tabs."""
    pieces: list[str] = []
    words: list[Word] = []
    length = 0
    for row in _rows_in_reading_order(_without_skew(lines)):
        for line in row:
            place = 0
            for word, box in line.words:
                place = max(line.text.find(word, place), place)
                words.append(Word(length + place, length + place + len(word), box))
                place += len(word)
            pieces += [line.text, "\n" if line is row[-1] else "\t"]
            length += len(line.text) + 1
    return PageText("".join(pieces).removesuffix("\n"), words)


def _without_skew(lines: Sequence[RecognisedLine]) -> list[RecognisedLine]:
    """Return lines with their positions on the page turned by the median of their angles."""
    baselines = [line.corners[1] - line.corners[0] for line in lines]
    angle = median([math.atan2(y, x) for x, y in baselines if abs(x) > 2 * abs(y)] or [0.0])
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    straight_lines = []
    for line in lines:
        corners = line.corners @ turn
        left, right = float(corners[:, 0].min()), float(corners[:, 0].max())
        height = float(np.linalg.norm(line.corners[3] - line.corners[0]))
        straight_lines.append(line._replace(left=left, right=right, middle=float(corners[:, 1].mean()), height=height))
    return straight_lines


def _rows_in_reading_order(lines: Sequence[RecognisedLine]) -> list[list[RecognisedLine]]:
    """Return the rows of a page; where it has two columns of text, those of the left one before those of the right."""
    gutter = _gutter(lines)
    if gutter is None:
        return _rows(lines)
    rows: list[list[RecognisedLine]] = []
    left: list[RecognisedLine] = []
    right: list[RecognisedLine] = []
    for line in sorted(lines, key=lambda line: line.middle):
        if line.left < gutter < line.right:
            rows += [*_rows(left), *_rows(right), [line]]
            left, right = [], []
        else:
            (right if line.left >= gutter else left).append(line)
    return [*rows, *_rows(left), *_rows(right)]


def _gutter(lines: Sequence[RecognisedLine]) -> float | None:
    """Return where a page is divided into two columns of text; None if it is not."""
    if len(lines) < 2 * MIN_COLUMN_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    places = np.linspace(left + 0.3 * (right - left), left + 0.7 * (right - left), 41)
    crossing = [sum(line.left < place < line.right for line in lines) for place in places]
    fewest = min(crossing)
    candidates = [place for place, number in zip(places, crossing, strict=True) if number == fewest]
    gutter = float(candidates[len(candidates) // 2])
    sides = ([line for line in lines if line.right <= gutter], [line for line in lines if line.left >= gutter])
    has_text = all(median(len(line.text) for line in side) >= MIN_COLUMN_CHARACTERS for side in sides if side)
    are_columns = all(len(side) >= MIN_COLUMN_LINES for side in sides) and has_text
    return gutter if are_columns and fewest * 5 <= len(lines) else None


def _rows(lines: Sequence[RecognisedLine]) -> list[list[RecognisedLine]]:
    rows: list[list[RecognisedLine]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        row = rows[-1] if rows else [line]
        height = min(line.height, median(other.height for other in row))
        if rows and line.middle - median(other.middle for other in row) < ROW_TOLERANCE * height:
            row.append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]
