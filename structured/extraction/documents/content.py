"""Content: what stands in a file, as one text, and where its pages begin in it."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

from structured.output_types.evidence import Evidence

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


def page_of(pages: Sequence[int], offset: int) -> int | None:
    """Return the number of the page, from 1, on which an offset stands; None if there are no pages.

    >>> page_of((0, 5, 7), 4), page_of((0, 5, 7), 5), page_of((), 5)
    (1, 2, None)
    """
    return bisect_right(pages, offset) if pages else None


def on_pages(evidence: Mapping[str, Evidence], pages: Sequence[int]) -> Mapping[str, Evidence]:
    """Return the evidence for each value with the page on which that stands."""
    if not pages:
        return evidence
    return {
        path: one if one.span is None else replace(one, page=page_of(pages, one.span[0]))
        for path, one in evidence.items()
    }
