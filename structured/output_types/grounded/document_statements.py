"""Statements of a document, as the compiler asks for them."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from structured.automata.quotations import IndexedDocument
from structured.output_types.grounded.dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.grounded.numbers import stated_numbers
from structured.output_types.grounded.statements import Span
from structured.regex import Pattern

KEPT = 8
"""Documents whose statements are kept in memory, the least recently used dropped first."""

MAX_PLACES = 20_000
"""The most places of one quotation that are returned."""


class DocumentStatements:
    """The texts, numbers, dates and times that a document states; each is looked for when it is first asked for."""

    def __init__(self, document: str) -> None:
        self.document = document

    @staticmethod
    @lru_cache(maxsize=KEPT)
    def of(document: str) -> "DocumentStatements":
        """Return the statements of a document; the same object for the same text."""
        return DocumentStatements(document)

    @cached_property
    def _words(self) -> IndexedDocument:
        return IndexedDocument(self.document)

    @cached_property
    def _characters(self) -> IndexedDocument:
        return IndexedDocument(self.document, any_character=True)

    def quotation(
        self,
        boundary: str,
        included: Sequence[Pattern],
        excluded: Sequence[Pattern],
        *,
        minimum: int,
        maximum: int | None,
    ) -> Pattern | None:
        """Return the inside of the JSON strings that quote the document and keep some rules; None if there are none."""
        indexed = self._characters if boundary == "characters" else self._words
        return indexed.quotation(included, excluded, minimum=minimum, maximum=maximum)

    def places(self, quoted: str) -> list[Span]:
        """Return the spans of a quotation: those on word boundaries or, without any, all."""
        on_words = list(islice(self._words.find(quoted), MAX_PLACES))
        return on_words or list(islice(self._characters.find(quoted), MAX_PLACES))

    def spellings(self, kind: str) -> Iterator[Sequence[str]]:
        """Yield, for each stated value of a kind, how JSON may spell it, the usual first."""
        stated, spell = _KINDS[kind]
        known: dict[Any, None] = {}
        for statement in stated(self.document):
            known |= dict.fromkeys(statement.readings)
        for value in known:
            yield spell(value)


def _spelled_number(value: Decimal) -> Sequence[str]:
    """Return a number with the decimals that are stated, and without those that are zero."""
    shortest = value.normalize()
    return f"{value:f}", f"{shortest:f}"


def _spelled_date(value: date) -> Sequence[str]:
    return (value.isoformat(),)


def _spelled_time(value: time | datetime) -> Sequence[str]:
    """Return a time with seconds, without a zone and with that of UTC."""
    written = value.isoformat()
    return written, written.replace("+00:00", "Z"), f"{written}Z"


_KINDS: dict[str, tuple[Any, Any]] = {
    "number": (stated_numbers, _spelled_number),
    "decimal": (stated_numbers, _spelled_number),
    "date": (stated_dates, _spelled_date),
    "date-time": (stated_datetimes, _spelled_time),
    "time": (stated_times, _spelled_time),
}
