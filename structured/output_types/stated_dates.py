"""The dates, times, and dates with times that a document states.

    2024-03-14   2024/03/14   20240314   2024年3月14日
    14 March 2024   14th of March, 2024   14-Mar-24   14. März 2024   14 de marzo de 2024
    March 14th, 2024   Mar 14 '24   2024 March 14
    14–16 March 2024   March 14-16, 2024   14/15 March 2024  both days
    3/4/2024   14.03.24                                      every order that its separator is used in, both centuries
    09:40   9:40:30.5   9:40 am   9 p.m.   21h30   14.30 Uhr   noon   half past nine
    09:40Z   09:40+01:00   09:40 UTC+1   09:00-12:00         an offset, or until noon
    2024-03-14T09:40   14 March 2024 at 9:40 am   19:00 on 3 May 2024

Two digits after a month are a year with an apostrophe, with the separator before the month (`14-Mar-24`), or where no
word follows that they may count: `due 14 March 24.`, but `14 March, 12 boxes`.

Parts that are not stated are not filled in: `14 March`, `March 2024` and `tomorrow` are no dates. So no library reads
the parts: dateutil completes them from today, and dateparser does unless it is told not to; each gives one of several
readings, and finding dates in a text takes dateparser half a minute for 100,000 characters.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache
from itertools import product
from typing import TypeVar

from structured.output_types.stated_numbers import CARDINALS, Span, Statement, merged_statements

T = TypeVar("T")

MAX_GAP = 40
"""Characters between a date and a time that belong together: `14 March 2024, doors open at 19:00`."""

_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari",
    "february feb februar feber février févr fevrier febrero febbraio febr fevereiro fev februari",
    "march mar märz maerz mrz mars marzo março marco maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août aout agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro december",
)
"""Months in English, German, French, Spanish, Italian, Portuguese and Dutch, and how they are shortened."""

_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}

_GAP = r"[\s,/-]{0,3}"
_OF = r"(?:(?:(?:day\s)?of|de|del|di)\s)?"
_SUFFIX = r"(?:st|nd|rd|th|er|[.ºª°])?"
_TO = r"\s?(?:[-–—/&+]|to|and|until|bis|und|au|et|y|al?)\s?"
_YEAR = r"(?:(?P<year>\d{4})(?!\d)|(?P<apostrophe>['’‘])?(?P<short>\d{2})(?![\w%]|[:.,]\d|\s?[ap]\.?m\b))"

_DAY_BEFORE_MONTH = re.compile(rf"(?<!\d)(?<!\d[.,])(?P<day>\d{{1,2}}){_SUFFIX}{_GAP}{_OF}(?=[^\W\d_])", re.IGNORECASE)
_DAY_BEFORE_DAY = re.compile(
    rf"(?<!\d)(?<!\d[.,/-])(?P<day>\d{{1,2}}){_SUFFIX}(?:{_GAP}{_OF}(?P<month>[^\W\d_]{{3,10}}\.?))?{_TO}(?=\d)",
    re.IGNORECASE,
)
_YEAR_BEFORE_MONTH = re.compile(rf"(?<!\d)(?P<year>\d{{4}}){_GAP}(?=[^\W\d_])")
_YEAR_AFTER_MONTH = re.compile(rf"\.?{_GAP}{_OF}{_YEAR}", re.IGNORECASE)
_DAY_AND_YEAR_AFTER_MONTH = re.compile(
    rf"\.?\s?(?:(?P<first>\d{{1,2}}){_SUFFIX}{_TO}(?P<other_month>[^\W\d_]+\.?\s)?)?"
    rf"(?P<day>\d{{1,2}}){_SUFFIX}(?:,\s?|\s){_OF}{_YEAR}",
    re.IGNORECASE,
)
_DAY_AFTER_MONTH = re.compile(rf"\.?{_GAP}(?P<day>\d{{1,2}})(?!\d)")
_SEPARATOR_PAIRS = frozenset((separator, separator) for separator in "-/.")
_NOT_A_COUNT = re.compile(
    r"\s?(?:\Z|[.,;:!?)\]}|\"'’”»]|\()|\s*[\r\n\t](?!\s?(?-i:[a-z]))|[^\S\r\n]{2}|\s[-–—]\s|\s?[€$£¥]\s?\d|\s(?=\d)(?!\d{3}(?!\d|[.,]\d))"
    r"|\s(?:at|to|until|till?|through|and|by|from|with|is|was|will|we|he|she|they|the|when"
    r"|um|bis|und|ist|war|à|au|et|a|y|e|om|tot|en)\b",
    re.IGNORECASE,
)
"""The texts that may follow a year of two digits, but not a count, as in `12 boxes`."""

_YEAR_FIRST = re.compile(
    r"(?<!\d)(?P<year>\d{4})(?:(?P<separator>[-/.])(?P<month>\d{1,2})(?P=separator)(?P<day>\d{1,2})(?!\d)"
    r"|\s?年\s?(?P<month_in_han>\d{1,2})\s?月\s?(?P<day_in_han>\d{1,2})\s?日"
    r"|(?P<basic>\d{4})(?!\d))"
)
_DIGITS = re.compile(r"(?<!\d)(?<!\d[./-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(?:(\d{4})|(\d{2}))(?!\d|[./-]\d)")
_WORD = re.compile(r"[^\W\d_]+")

_HOURS = {word: hour for hour, word in enumerate(CARDINALS[:12], 1)}
_ZONE = re.compile(
    r"\s?(?:(?P<is_utc>UTC|GMT)\s?(?=[+−-]\d)|(?=[+−-]\d\d:?\d\d))(?P<sign>[+−-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?"
    r"(?![\d:]|\s?(?:UTC|GMT|Z|[ap]\.?m)\b)"
    r"|\s?(?:Z|UTC|GMT)\b",
    re.IGNORECASE,
)
_AM_OR_PM = r"(?P<half>[ap])(?:\.\s?m\.|\.?m\b)"
_CLOCK = re.compile(
    r"(?<![\d:])(?<!\d[.,])(?:(?<=\dT)(?P<iso>))?(?P<hour>\d{1,2})(?:"
    rf":(?P<minute>\d{{2}})(?::(?P<second>\d{{2}})(?:[.,](?P<fraction>\d{{1,6}})(?!\d))?)?(?![\d:])(?:\s?{_AM_OR_PM})?"
    rf"|(?:\.(?P<minute_of_half>\d{{2}}))?\s?{_AM_OR_PM.replace('<half>', '<half_of_hour>')}"
    r"|\.(?P<minute_of_hour>\d{2})\s?(?:uhr|hrs?|h)\b"
    r"|\s?h\s?(?P<minute_after_hour>\d{2})(?!\d)"
    r"|(?P<minute_of_day>\d{2})\s?(?:hrs?|h|hours)\b"
    r"|\s?(?:uhr|hrs?|h|(?P<sharp>o['’]clock))\b)",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"(?:(?P<noon>noon|midday)|(?P<midnight>midnight)"
    rf"|(?P<part>half\spast|quarter\spast|quarter\sto)\s(?:(?P<hour>{'|'.join(_HOURS)})|(?P<digits>\d{{1,2}}))"
    rf"|(?P<sharp>{'|'.join(_HOURS)})\so['’]clock)\b",
    re.IGNORECASE,
)
_FIRST_SPOKEN_WORDS = {"noon", "midday", "midnight", "half", "quarter", *_HOURS}


@lru_cache(maxsize=8)
def stated_dates(document: str) -> tuple[Statement[date], ...]:
    """Return the dates that a document states with day, month and year, by their spans.

    `3/4/24` has a reading for each order of its parts in each century.
    """
    return _statements_of(_dates(document))


@lru_cache(maxsize=8)
def stated_times(document: str) -> tuple[Statement[time], ...]:
    """Return every time of day that a document states; one with an offset states the time without it, too."""
    return _statements_of(_times(document))


@lru_cache(maxsize=8)
def stated_datetimes(document: str) -> tuple[Statement[datetime], ...]:
    """Return every date that has a time beside it, with at most `MAX_GAP` characters between them.

    A time between two dates belongs to either; the span covers both and the text between them.
    """
    return _statements_of(_datetimes(stated_dates(document), stated_times(document)))


def _statements_of(stated: Iterable[tuple[Span, Iterable[T]]]) -> tuple[Statement[T], ...]:
    return merged_statements((span, (*dict.fromkeys(values),)) for span, values in stated)


def _dates(document: str) -> Iterator[tuple[Span, list[date]]]:
    context = _MonthContext(document)
    for word in _WORD.finditer(document):
        if number := _MONTH_NUMBERS.get(word[0].lower()):
            yield from context.dates(word.span(), number)
    for match in _YEAR_FIRST.finditer(document):
        month, day = match["month"] or match["month_in_han"], match["day"] or match["day_in_han"]
        if month_and_day := match["basic"]:
            month, day = month_and_day[:2], month_and_day[2:]
        if month and (not month_and_day or 1800 <= int(match["year"]) < 2200):
            yield match.span(), _calendar_dates([(match["year"], month, day)])
    for match in _DIGITS.finditer(document):
        first, separator, second, year, two_digits = match.groups()
        day_first = _calendar_dates([(full_year, second, first) for full_year in _years(year, two_digits)])
        month_first = _calendar_dates([(full_year, first, second) for full_year in _years(year, two_digits)])
        if separator == ".":  # nobody who writes points writes the month first, unless it is too large to be one
            yield match.span(), day_first or month_first
        else:
            year_first = [(year, second, two_digits) for year in _years(None, first)] if two_digits else []
            yield match.span(), [*day_first, *month_first, *_calendar_dates(year_first)]


class _MonthContext:
    """The days and years of a document before words, and before other days, by where these begin."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._days, self._earlier_days, self._years = (
            {match.end(): match for match in pattern.finditer(document)}
            for pattern in (_DAY_BEFORE_MONTH, _DAY_BEFORE_DAY, _YEAR_BEFORE_MONTH)
        )

    def dates(self, span: Span, month: int) -> Iterator[tuple[Span, list[date]]]:
        """Yield the dates with the name of a month at a span: `14 March 2024`, `March 14, 2024`, `2024 March 14`."""
        start, end = span
        if day := self._days.get(start):
            yield from self._day_first(day, start, end, month)
        yield from self._month_first(start, end, month)
        if (year := self._years.get(start)) and (after := _DAY_AFTER_MONTH.match(self._document, end)):
            yield (year.start(), after.end()), _calendar_dates([(year["year"], month, after["day"])])

    def _day_first(self, day: re.Match[str], start: int, end: int, month: int) -> Iterator[tuple[Span, list[date]]]:
        year = _YEAR_AFTER_MONTH.match(self._document, end)
        separators = self._document[start - 1], self._document[end : end + 1]
        if not year or not (separators in _SEPARATOR_PAIRS or self._is_year(year)):
            return
        years = _years(year["year"], year["short"])
        dates = _calendar_dates([(year, month, day["day"]) for year in years])
        yield (day.start(), year.end()), dates
        earlier_day = self._earlier_days.get(day.start())
        while earlier_day and (month := _month(earlier_day["month"], month)):
            others = _calendar_dates([(year, month, earlier_day["day"]) for year in years])
            dates = [day for day, later in zip(others, dates, strict=False) if day < later]
            yield (earlier_day.start(), year.end()), dates
            earlier_day = self._earlier_days.get(earlier_day.start())

    def _month_first(self, start: int, end: int, month: int) -> Iterator[tuple[Span, list[date]]]:
        tail = _DAY_AND_YEAR_AFTER_MONTH.match(self._document, end)
        if not tail or not self._is_year(tail):
            return
        years = _years(tail["year"], tail["short"])
        dates = _calendar_dates([(year, _month(tail["other_month"], month), tail["day"]) for year in years])
        others = _calendar_dates([(year, month, tail["first"]) for year in years]) if tail["first"] else []
        yield (start, tail.end()), [day for day, later in zip(others, dates, strict=False) if day < later]
        if not tail["other_month"]:
            yield (start, tail.end()), dates

    def _is_year(self, match: re.Match[str]) -> bool:
        """Tell whether two digits are a year, and no count: `14 March 24.`, and not `14 March, 24 boxes`."""
        return not match["short"] or bool(match["apostrophe"] or _NOT_A_COUNT.match(self._document, match.end()))


def _month(name: str | None, other: int) -> int:
    """Return the number of a month by its name: another where none is named, 0 where the name is no month's."""
    return _MONTH_NUMBERS.get(name.strip().rstrip(".").lower(), 0) if name else other


def _years(year: str | None, two_digits: str) -> list[int]:
    """Return the years that are written with four digits or two: `"24"` → 2024 and 1924."""
    return [int(year)] if year else [2000 + int(two_digits), 1900 + int(two_digits)]


def _calendar_dates(parts: Iterable[tuple[int | str, int | str, int | str]]) -> list[date]:
    """Return the dates that years, months and days are, without those that the calendar does not have."""
    dates = []
    for year, month, day in parts:
        with suppress(ValueError):
            dates.append(date(int(year), int(month), int(day)))
    return dates


def _times(document: str) -> Iterator[tuple[Span, list[time]]]:
    end_of_last = 0
    for match in _CLOCK.finditer(document):
        if match.start() < end_of_last:
            continue
        parts = {name: text for name, text in match.groupdict().items() if text}
        hour, minute = int(parts["hour"]), int(next((parts[name] for name in parts if name.startswith("minute")), 0))
        meridiem = parts.get("half") or parts.get("half_of_hour")
        hours = [] if meridiem else [hour]
        if meridiem and 1 <= hour <= 12:
            hours = [hour % 12 + 12 * (meridiem in "pP")]
        if parts.get("sharp") and hour <= 12:
            hours = [hour % 12, hour % 12 + 12]
        fraction = parts.get("fraction", "").ljust(6, "0")
        with suppress(ValueError):
            clocks = [time(hour, minute, int(parts.get("second", 0)), int(fraction)) for hour in hours]
            yield match.span(), clocks
            zone = _ZONE.match(document, match.end()) if match["minute"] else None
            offset = _offset(zone) if zone else None
            if zone and offset:
                yield (match.start(), zone.end()), [clock.replace(tzinfo=offset) for clock in clocks]
                is_offset = zone["is_utc"] or zone["sign"] == "+" or match["second"] or match["iso"] is not None
                end_of_last = zone.end() if is_offset else match.end()  # of `09:00-12:00`
    for word in _WORD.finditer(document):
        if word[0].lower() in _FIRST_SPOKEN_WORDS and (spoken := _SPOKEN.match(document, word.start())):
            yield spoken.span(), _spoken(spoken)


def _spoken(match: re.Match[str]) -> list[time]:
    """Return the times of `noon` and, in both halves of the day, of `half past nine`."""
    if match["noon"] or match["midnight"]:
        return [time(12 if match["noon"] else 0)]
    hour = int(match["digits"]) if match["digits"] else _HOURS[(match["hour"] or match["sharp"]).lower()]
    part = (match["part"] or "").lower()
    minutes = 60 * hour + (30 if "half" in part else -15 if "to" in part else 15 if part else 0)
    return [time(*divmod(minutes % 720 + offset, 60)) for offset in (0, 720)] if 1 <= hour <= 12 else []


def _offset(zone: re.Match[str]) -> timezone | None:
    """Return a difference to UTC, if there can be one: at most 14 hours, and whole quarters of hours."""
    minutes = 60 * int(zone["hours"] or 0) + int(zone["minutes"] or 0)
    if minutes > 14 * 60 or int(zone["minutes"] or 0) not in (0, 15, 30, 45):
        return None
    return timezone(timedelta(minutes=minutes if zone["sign"] == "+" else -minutes)) if minutes else UTC


def _datetimes(
    dates: tuple[Statement[date], ...], times: tuple[Statement[time], ...]
) -> Iterator[tuple[Span, list[datetime]]]:
    by_end = sorted(dates, key=lambda statement: statement.span[1])
    starts, ends = [day.span[0] for day in dates], [statement.span[1] for statement in by_end]
    for clock in times:
        start, end = clock.span
        before, after = bisect_right(ends, start), bisect_left(starts, end)
        neighbours = [
            statement
            for statement in by_end[max(0, before - 2) : before]
            if statement.span[1] == ends[before - 1] >= start - MAX_GAP
        ]
        neighbours += [day for day in dates[after : after + 2] if day.span[0] == starts[after] <= end + MAX_GAP]
        for day in neighbours:
            span = min(start, day.span[0]), max(end, day.span[1])
            yield span, [datetime.combine(*date_and_time) for date_and_time in product(day.values, clock.values)]
