"""Content: what stands in a file, as one text, and where its pages begin in it."""

from collections.abc import Iterable
from typing import NamedTuple, Self

BETWEEN_PAGES = "\n\n"


class Content(NamedTuple):
    """The text of a file; of a file of pages, slides or sheets, also the offset at which each of them starts."""

    text: str
    pages: tuple[int, ...] = ()

    @classmethod
    def of_pages(cls, texts: Iterable[str]) -> Self:
        r"""Return the content of pages with these texts.

        >>> Content.of_pages(["one", "", "three"])
        Content(text='one\n\n\n\nthree', pages=(0, 5, 7))
        """
        kept: list[str] = []
        starts: list[int] = []
        start = 0
        for text in texts:
            kept.append(text)
            starts.append(start)
            start += len(text) + len(BETWEEN_PAGES)
        return cls(BETWEEN_PAGES.join(kept), tuple(starts))
