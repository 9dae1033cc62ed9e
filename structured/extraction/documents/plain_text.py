"""Plain text: the bytes of a file, decoded, and the content of a file as one text with the places of its pages.

Bytes are UTF-8, unless a byte-order mark says otherwise. No encoding is guessed: the bytes of one legacy encoding are
letters in all the others, and a wrong name in a result is worse than an error.
"""

import codecs
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Self

from structured.errors import PromptError
from structured.results.evidence import PageLayout

PAGE_SEPARATOR = "\n\n"


class Content(NamedTuple):
    """The text of a file; of one with pages, slides or sheets, where each starts, and where its words stand on it."""

    text: str
    pages: tuple[int, ...] = ()
    layout: PageLayout | None = None

    @classmethod
    def of_pages(cls, texts: Iterable[str]) -> Self:
        r"""Return the content of pages with these texts.

        >>> Content.of_pages(["one", "", "three"])[:2]
        ('one\n\n\n\nthree', (0, 5, 7))
        """
        pages = list(texts)
        starts = accumulate((len(text) + len(PAGE_SEPARATOR) for text in pages[:-1]), initial=0)
        return cls(PAGE_SEPARATOR.join(pages), tuple(starts) if pages else ())


_BYTE_ORDER_MARKS = (  # that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_SAMPLE_BYTES = 4_096
"""Bytes by which a file without text is told from one in UTF-16."""


def read_text(path: Path) -> Content:
    """Return a file of text as it is. Raises PromptError if it is none, OSError if it cannot be read."""
    return Content(decoded(path.read_bytes(), f"The file {path}"))


def marked_encoding(data: bytes) -> tuple[bytes, str | None]:
    """Return the byte-order mark with which a text begins, and the encoding that it stands for; None for none."""
    return next(((mark, encoding) for mark, encoding in _BYTE_ORDER_MARKS if data.startswith(mark)), (b"", None))


def decoded(data: bytes, name: str, encoding: str = "utf-8") -> str:
    """Return the text of bytes; a byte-order mark goes before the encoding. Raises PromptError if it is none."""
    mark, marked = marked_encoding(data)
    encoding = marked or encoding
    if marked is None and b"\0" in data:
        raise PromptError(f"{name} {_problem_of_binary(data)}")
    try:
        text = str(memoryview(data)[len(mark) :], encoding)
    except LookupError as error:
        problem = f"{name} says that its encoding is {encoding!r}, which Python does not know"
        raise PromptError(f"{problem}. Convert it to UTF-8, or leave it out.") from error
    except UnicodeDecodeError as error:
        place = len(mark) + error.start
        raise PromptError(
            f"{name} is not text in {encoding.upper()}: byte {place:,} is {data[place]:#04x}. Convert it to UTF-8; or "
            "read it yourself in the encoding that it has, and pass the text: path.read_text('cp1252'), say."
        ) from error
    if "\0" in text:
        raise PromptError(f"{name} has NUL characters, so that it is hardly text. Leave it out.")
    return text


def _problem_of_binary(data: bytes) -> str:
    """Return what bytes with a NUL are, and what to do about it."""
    sample = data[:_SAMPLE_BYTES]
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    if max(zeros) > len(sample) // 4 and min(zeros) * 4 < max(zeros):
        order = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        remedy = f"Pass its text: path.read_text({order!r})."
        return f"looks like UTF-16, and does not begin with a byte-order mark. {remedy}"
    return "has NUL characters, so that it is no text, and is of no kind that can be read. Leave it out."
