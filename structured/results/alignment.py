"""Alignment: the places in a document of the values of an answer, found after it was written.

A text is searched as it is, on word boundaries; then in any case, with any white space, dashes and quotes; then as a
number or a date that the document states in another form; then, nearly, inside words and by edit distance (RapidFuzz).
A number is searched among those that the document states, and nowhere else: 5 is not in 15, nor the text 89 in 89.90.
A value that a type lists is searched as a whole word: `paid` is not in `unpaid`.

Equal values of an answer are at different places, if the document has as many: the first value gets the first place,
unless the values beside it, in its own record, are near another.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from itertools import product
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from structured.output_types.grounded_values import DocumentStatements
from structured.output_types.paths import Steps
from structured.output_types.stated_dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import Span, Statement, stated_numbers
from structured.results.evidence import Evidence, Match
from structured.results.normalisation import NormalisedText, is_cut, normalise

T = TypeVar("T")
Moment = TypeVar("Moment", time, datetime)

Mention: TypeAlias = tuple[Span, Match]
"""A place of a value, and how it was found."""

MAX_OCCURRENCES, MAX_COMPARED_CHARACTERS = 20_000, 50_000_000
"""The most places of one value that are examined, and the most characters of these together."""

MAX_FUZZY_STARTS = 32
"""The most places that are searched for a text by edit distance; fewer where it is long."""

MAX_ASSIGNMENTS = 10_000_000
"""The most pairs of equal values and places among which the best are chosen."""

MIN_FUZZY_LENGTH, MAX_FUZZY_LENGTH = 4, 1_000
"""The fewest and the most characters of a text that is looked for by edit distance."""

FUZZY_SCORE = 85
"""The least share of characters, in per cent, that a text has in common with the place where it is found.

Of texts with one or two wrong letters, 80 % are found; of texts of other documents of the same kind, 0.3 %.
"""

_NUMBER = re.compile(r"[+-]?\d{1,100}(?:\.\d{1,100})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?", re.ASCII)
_DATE_TIME = re.compile(rf"{_DATE.pattern}[T ]{_TIME.pattern}", re.ASCII)
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")
_WITHIN_NUMBER = re.compile(r"\d[.,'’]?\d")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Characters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Chinese and Japanese."""


class Value(NamedTuple):
    """A value to find, at some steps of the answer.

    `is_listed`: its type lists the values (an enum), so that it may be a conclusion. `is_quoted`: it is a quotation.
    """

    steps: Steps
    value: str | int | float | Decimal | bool | None
    is_listed: bool = False
    is_quoted: bool = False


def align(document: str, values: Sequence[Value]) -> list[Evidence]:
    """Return the evidence for each value of an answer, in their order, by its place in the document."""
    match_of_unspoken: Mapping[type, Match] = {bool: "concluded", NoneType: "absent"}
    evidence = [Evidence(None, match_of_unspoken.get(type(item.value), "none")) for item in values]
    indices_by_value: dict[str | Decimal, list[int]] = {}
    for index, item in enumerate(values):
        if item.value is not None and not isinstance(item.value, bool):
            indices_by_value.setdefault(_search_key(item.value), []).append(index)
    search = _DocumentSearch(document)
    indices_and_mentions = []
    for value, indices in indices_by_value.items():
        is_listed = any(values[index].is_listed for index in indices)
        is_quoted = any(values[index].is_quoted for index in indices)
        if mentions := search.mentions(value, len(indices), fuzzy=not is_listed, quoted=is_quoted):
            indices_and_mentions.append((indices, mentions))
            continue
        for index in indices:
            if values[index].is_listed:
                evidence[index] = Evidence(None, "concluded")
    neighbours = _FoundPlaces([value.steps for value in values], len(document))
    indices_and_mentions.sort(key=_certainty)
    for indices, mentions in indices_and_mentions:
        for index, (span, match) in _assign(indices, mentions, neighbours):
            evidence[index] = Evidence(span, match)
            neighbours.add(index, span)
    return evidence


def _certainty(candidate: tuple[list[int], list[Mention]]) -> tuple[int, int, int]:
    """Return a key that puts first what has least choice: one place for one value; among equals, the longest text."""
    indices, mentions = candidate
    (start, end), _ = mentions[0]
    return abs(len(mentions) - len(indices)), len(indices), start - end


def _search_key(value: str | float | Decimal) -> str | Decimal:
    """Return a text as it is, and a number exactly: 0.1 is a tenth."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value) if isinstance(value, int) else value


class _DocumentSearch:
    """A document, with the indexes of it that a search for values needs, built on demand."""

    def __init__(self, document: str) -> None:
        self.document = document
        self._spans_by_reader: dict[Callable[[str], object], dict[Any, tuple[list[Span], list[Span]]]] = {}
        """By the function that reads a kind: where each value is stated in the usual reading, and in another."""

    def mentions(self, value: str | Decimal, count: int, *, fuzzy: bool, quoted: bool) -> list[Mention]:
        """Return the mentions of a value, with no more kinds of matches than it takes to find it `count` times.

        A quoted value is mentioned only where it may be quoted.
        """
        if isinstance(value, Decimal):
            return self._number(value, count)
        if quoted:
            return [(span, "exact") for span in DocumentStatements.of(self.document).places(value)]
        if not value or value.isspace():
            return []
        on_words, in_words = self._occurrences_by_boundary(value)
        mentions: dict[Span, Match] = dict.fromkeys(on_words, "exact")
        normalised_in_words: list[Span] = []
        if len(mentions) < count:
            normalised_on_words, normalised_in_words = self._normalised_occurrences(normalise(value))
            mentions = {**dict.fromkeys(normalised_on_words, "normalised"), **mentions}
        if len(mentions) < count:
            mentions = {**dict(self._in_another_form(value, count)), **mentions}
        if not mentions and fuzzy:
            mentions = dict.fromkeys(in_words or normalised_in_words or self._nearest_spans(normalise(value)), "fuzzy")
        return sorted(mentions.items())

    def _occurrences_by_boundary(self, value: str) -> tuple[list[Span], list[Span]]:
        """Return the spans of a text on word boundaries, and those inside words."""
        spans = _find(self.document, value, lambda span: _is_on_words(self.document, span))
        return _by_boundary(self.document, [span for span in spans if _cuts_nothing(self.document, span)])

    def _normalised_occurrences(self, value: str) -> tuple[list[Span], list[Span]]:
        """Return the same for a normalised text in the normalised document."""
        to_document = self._normalised.to_document
        spans = _find(self._normalised.text, value, lambda span: _is_on_words(self.document, to_document(span)))
        found = [span for span in map(to_document, spans) if _cuts_nothing(self.document, span)]
        return _by_boundary(self.document, [span for span in found if normalise(self.document[slice(*span)]) == value])

    def _in_another_form(self, text: str, count: int) -> list[Mention]:
        """Return where the document states the number, date or time that a text is."""
        try:
            if _NUMBER.fullmatch(text):
                return self._number(Decimal(text), count)
            if _DATE.fullmatch(text):
                return self._places(stated_dates, date.fromisoformat(text), count)
            if _TIME.fullmatch(text):
                return self._times(stated_times, time.fromisoformat(text), count)
            if _DATE_TIME.fullmatch(text):
                return self._times(stated_datetimes, datetime.fromisoformat(text), count)
        except ValueError:  # 2023-02-29
            return []
        return []

    def _number(self, number: Decimal, count: int) -> list[Mention]:
        if not number.is_finite():
            return []
        mentions = self._places(stated_numbers, number, MAX_OCCURRENCES)
        outside_codes = [mention for mention in mentions if not self._is_in_code(mention[0])]
        mentions = outside_codes if len(outside_codes) >= count else mentions
        exact: list[Mention] = [(span, "exact") for span, _ in mentions if self.document[slice(*span)] == str(number)]
        if len(exact) >= count:
            return exact
        usual = [mention for mention in self._places(stated_numbers, number, count) if mention in mentions]
        return sorted({**dict(usual if len(usual) >= count else mentions), **dict(exact)}.items())

    def _is_in_code(self, span: Span) -> bool:
        """Tell whether digits follow a letter: `AB14C`, `D3`, and not `RM14.90`."""
        return self.document[slice(*span)].isdigit() and _is_inside_word(self.document, span[0])

    def _nearest_spans(self, value: str) -> list[Span]:
        """Return the spans that are nearest to a normalised text."""
        if not MIN_FUZZY_LENGTH <= len(value) <= MAX_FUZZY_LENGTH:
            return []
        text, slack = self._normalised.text, len(value) // 5 + 4
        scores: dict[Span, float] = {}
        for start in self._fuzzy_starts(value):
            low, high = max(0, start - slack), start + len(value) + slack
            alignment = fuzz.partial_ratio_alignment(value, text[low:high], score_cutoff=FUZZY_SCORE - 15)
            if alignment is not None and alignment.src_end - alignment.src_start == len(value):
                span = max(
                    _on_words(text, low + alignment.dest_start, low + alignment.dest_end),
                    key=lambda span: fuzz.ratio(value, text[slice(*span)]),
                )
                scores[span] = fuzz.ratio(value, text[slice(*span)])
        best = max(scores.values(), default=0)
        nearest = [span for span, score in scores.items() if score == best >= FUZZY_SCORE]
        digits = _DIGITS.findall(value)
        spans = [span for span in nearest if _DIGITS.findall(text[slice(*span)]) == digits]
        return [span for span in map(self._normalised.to_document, spans) if _cuts_nothing(self.document, span)]

    def _fuzzy_starts(self, value: str) -> list[int]:
        """Return where a normalised text may nearly begin, by its rarest words or by words like its longest."""
        words = [(match.start(), match[0]) for match in _WORD.finditer(value)]
        vocabulary = self._vocabulary
        candidates = [place for place in words if place[1] in vocabulary]
        candidates.sort(key=lambda place: (len(vocabulary[place[1]]), *place))
        if not candidates and words:
            start, longest = max(words, key=lambda word: len(word[1]))
            lengths = range(len(longest) * 3 // 4, len(longest) * 4 // 3 + 1)
            choices = sorted((word for word in self._vocabulary if len(word) in lengths), key=len)
            similar_words = process.extract(longest, choices, scorer=fuzz.ratio, limit=3, score_cutoff=75)
            candidates = [(start, word) for word, _, _ in similar_words]
        places = [place - start for start, word in candidates for place in self._vocabulary[word][:MAX_FUZZY_STARTS]]
        return sorted({*places[: max(4, MAX_FUZZY_STARTS * 32 // len(value))]})

    @cached_property
    def _normalised(self) -> NormalisedText:
        return NormalisedText(self.document)

    @cached_property
    def _vocabulary(self) -> dict[str, list[int]]:
        """The words of the normalised document, and where they start."""
        places: dict[str, list[int]] = {}
        for match in _WORD.finditer(self._normalised.text):
            places.setdefault(match[0], []).append(match.start())
        return places

    def _places(self, read: Callable[[str], Sequence[Statement[T]]], value: T, count: int) -> list[Mention]:
        """Return where a value is stated in the usual reading or, where that is not often enough, in any."""
        if read not in self._spans_by_reader:
            spans_by_value = self._spans_by_reader[read] = {}
            for statement in read(self.document):
                for rank, possible_value in enumerate(statement.values):
                    spans_by_value.setdefault(possible_value, ([], []))[rank > 0].append(statement.span)
        usual, others = self._spans_by_reader[read].get(value, ([], []))
        return [(span, "normalised") for span in (usual if len(usual) >= count else [*usual, *others])]

    def _times(self, read: Callable[[str], Sequence[Statement[Moment]]], value: Moment, count: int) -> list[Mention]:
        """Return where a time is stated; one in UTC also where no zone is, since a type may demand one."""
        mentions = self._places(read, value, count)
        return mentions if mentions or value.utcoffset() else self._places(read, value.replace(tzinfo=None), count)


def _find(text: str, value: str, is_whole: Callable[[Span], bool]) -> list[Span]:
    """Return the spans of a text; of those that overlap, the whole words or else the first."""
    spans: list[Span] = []
    start = 0
    for _ in range(max(1, min(MAX_OCCURRENCES, MAX_COMPARED_CHARACTERS // len(value)))):
        start = text.find(value, start)
        if start < 0:
            break
        span = start, start + len(value)
        if not is_whole(span):
            spans.append(span)
            start += 1
            continue
        while spans and spans[-1][1] > start:
            spans.pop()
        spans.append(span)
        start = span[1]
    return spans


def _by_boundary(document: str, spans: list[Span]) -> tuple[list[Span], list[Span]]:
    """Return the spans on word boundaries, and the others."""
    parts: tuple[list[Span], list[Span]] = [], []
    for span in spans:
        parts[not _is_on_words(document, span)].append(span)
    return parts


def _is_on_words(document: str, span: Span) -> bool:
    return not any(_is_inside_word(document, position) for position in span)


def _is_inside_word(text: str, position: int) -> bool:
    """Tell whether a position has letters or digits on both sides, of a script that has spaces between words."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    return before.isalnum() and after.isalnum() and not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _cuts_nothing(document: str, span: Span) -> bool:
    """Tell whether the ends of a span cut neither a character from its marks nor a number."""
    return not any(is_cut(document, position) or _is_inside_number(document, position) for position in span)


def _is_inside_number(text: str, position: int) -> bool:
    """Tell whether a position has digits on both sides, or a digit and a mark that has digits on both sides."""
    return any(
        start < position < start + len(match[0])
        for start in range(max(0, position - 2), position)
        if (match := _WITHIN_NUMBER.match(text, start))
    )


def _on_words(text: str, start: int, end: int) -> list[Span]:
    """Return a span with its ends moved to the next word boundaries, outwards and inwards."""
    low = next(at for at in range(start, -1, -1) if not _is_inside_word(text, at))
    high = next(at for at in range(end, len(text) + 1) if not _is_inside_word(text, at))
    start = next((at for at in range(start, end) if not _is_inside_word(text, at)), end)
    end = next((at for at in range(end, start, -1) if not _is_inside_word(text, at)), start)
    stripped = []
    for first, last in product((low, start), (high, end)):
        part = text[first:last]
        stripped.append((first + len(part) - len(part.lstrip()), last - len(part) + len(part.rstrip())))
    return [span for span in stripped if span[0] < span[1]]


class _FoundPlaces:
    """The places of values that were found, near which another value is looked for."""

    def __init__(self, paths: Sequence[Steps], size: int) -> None:
        self._paths, self._size = paths, size
        self._indices: list[int] = []
        self._spans: dict[int, Span] = {}
        self._is_taken = bytearray(size)

    def add(self, index: int, span: Span) -> None:
        """Note the span of a value."""
        if index not in self._spans:
            insort(self._indices, index)
        self._spans[index] = span
        self._is_taken[slice(*span)] = b"\1" * (span[1] - span[0])

    def is_free(self, span: Span) -> bool:
        """Tell whether no value found so far overlaps a span."""
        return self._is_taken.find(1, *span) < 0

    def expected_span(self, index: int) -> Span:
        """Return where a value is to be expected.

        That is where the values before and after it stand, of those in its record that have been found; if there are
        none, between the values before and after. Its record is the innermost item of a list around it, or the answer.
        """
        path = self._paths[index]
        record = path[: max((depth for depth, step in enumerate(path, 1) if isinstance(step, int)), default=0)]
        place = bisect_left(self._indices, index)
        before, after = self._indices[max(0, place - 1) : place], self._indices[place : place + 1]
        spans = [self._spans[other] for other in (*before, *after) if self._paths[other][: len(record)] == record]
        if spans:
            return min(start for start, _ in spans), max(end for _, end in spans)
        low = self._spans[before[0]][1] if before else 0
        high = self._spans[after[0]][0] if after else self._size
        return (low, high) if low <= high else (0, self._size)


def _assign(indices: list[int], mentions: list[Mention], neighbours: _FoundPlaces) -> Iterator[tuple[int, Mention]]:
    """Yield a place for each of some equal values: one of its own if there are enough.

    Values and places keep their order, by where the values are expected; among the ways to do so, the one with the
    least distance between where they are expected and where they stand, and the first of several.
    """
    untaken = [mention for mention in mentions if neighbours.is_free(mention[0])]
    mentions = untaken if len(untaken) >= len(indices) else mentions
    mentions = mentions[: max(len(indices), MAX_ASSIGNMENTS // len(indices))]
    expected = sorted(((neighbours.expected_span(index), index) for index in indices), key=lambda place: sum(place[0]))
    chosen: Iterable[int] = range(len(mentions))
    if len(mentions) != len(indices):
        starts, ends = np.array([span for span, _ in mentions]).T
        distances = (np.maximum(low - ends, 0) + np.maximum(starts - high, 0) for (low, high), _ in expected)
        chosen = (_ordered_columns if len(mentions) > len(indices) else _nearest_columns)(distances)
    for (_, index), column in zip(expected, chosen, strict=True):
        yield index, mentions[column]


def _nearest_columns(distances: Iterator[NDArray[np.int64]]) -> Iterator[int]:
    """Yield for each row its least column, of several the one that is nearest in order; there are fewer than rows."""
    for row, distance in enumerate(distances):
        columns = np.arange(len(distance))
        yield int(np.lexsort((abs(columns - min(row, len(columns) - 1)), distance))[0])


def _ordered_columns(distances: Iterator[NDArray[np.int64]]) -> list[int]:
    """Return for each row a column, each after the one before, with the least sum; the first of several.

    Parameters:
        distances: int64[column] for each row; there are at least as many columns as rows.
    """
    unreachable = np.iinfo(np.int64).max // 4
    total, chosen = next(distances), []
    columns = np.arange(len(total))
    for distance in distances:
        least = np.minimum.accumulate(total)
        is_less = np.concatenate(([True], total[1:] < least[:-1]))
        chosen.append(np.maximum.accumulate(np.where(is_less, columns, 0)))  # of the columns up to each, the best
        total = np.minimum(distance + np.concatenate(([unreachable], least[:-1])), unreachable)
    path = [int(np.argmin(total))]
    for best in reversed(chosen):
        path.append(int(best[path[-1] - 1]))
    return path[::-1]
