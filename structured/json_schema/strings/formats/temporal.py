"""Dates, times and durations: RFC 3339, and what Pydantic reads and writes.

**Dates and times** (RFC 3339 §5.6). Every text is a real day of the years 0001 to 9999, leap years included, because
Python has no others. Pydantic reads more spellings (numbers, blanks in place of the `T`); none of them is generated.

**Leap seconds.** By RFC 3339 a second may be the 60th in the last minute of a day in UTC; the clock then shows 23:59
moved by the offset. The specification allows it and Pydantic does not. The time and the offset depend on each other
across any fraction between them, so each pair is an option of its own. With offsets of whole quarters of an hour, the
only ones in use since there are leap seconds, these are 96 times of the day. All 1,440 would take 4,300 nodes and were
rejected: `+03:07` in a leap second is left out.

**Durations** (RFC 3339 appendix A). The specification has whole numbers of any length, no sign, and no gap between the
units: `PT1H2S` is not a duration. Pydantic reads a sign, a fraction of seconds, and gaps. It stops at 999,999,999 days,
counts a year as 365 days and a month as 30, and writes years and days, never months or weeks. So numbers of `timedelta`
are short enough for every sum of them, and larger years have no more days and hours than Pydantic writes, up to the
ends of `datetime.timedelta`.
"""

from structured.json_schema.numbers.ranges import integer_range
from structured.json_schema.strings.formats.alphabets import regex
from structured.regex import Pattern, alternation, concat, literal, words

_DAY_OF_EVERY_YEAR = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
)
_FOURTH = "(?:0[48]|[2468][048]|[13579][26])"
"""Two digits that are divisible by 4, and not 00."""

_YEAR = r"(?:[1-9]\d{3}|0[1-9]\d{2}|00[1-9]\d|000[1-9])"
_FULL_DATE = rf"(?:{_YEAR}-{_DAY_OF_EVERY_YEAR}|(?:\d\d{_FOURTH}|{_FOURTH}00)-02-29)"
_HOUR = r"(?:[01]\d|2[0-3])"
_CLOCK = rf"{_HOUR}:[0-5]\d:[0-5]\d"
_FRACTION = r"(?:\.\d+)?"
_ANY_FRACTION = regex(_FRACTION)
_NUMERIC_OFFSET = rf"[+\-]{_HOUR}:[0-5]\d"
_OFFSET = f"(?:[Zz]|{_NUMERIC_OFFSET})"


def _clock_text(minutes: int) -> str:
    """Return a number of minutes, modulo a day, as a clock shows it: -1 → `23:59`."""
    hour, minute = divmod(minutes % (24 * 60), 60)
    return f"{hour:02}:{minute:02}"


def _leap_second(offset: int) -> Pattern:
    """Return the leap second of any day on clocks `offset` minutes ahead of UTC, or a day less that many behind it."""
    offsets = [f"+{_clock_text(offset)}", f"-{_clock_text(-offset)}", *(["Z", "z"] if offset == 0 else [])]
    return concat(literal(f"{_clock_text(offset - 1)}:60"), _ANY_FRACTION, words(offsets))


DATE = regex(_FULL_DATE)
"""`2024-02-29`"""

TIME = regex(rf"{_CLOCK}(?:\.\d{{1,6}})?(?:Z|{_NUMERIC_OFFSET})?")
"""`23:59:59.5+01:00`; the offset may be missing, as Pydantic allows and RFC 3339 does not."""

DATE_TIME = concat(DATE, regex("T"), TIME)
"""`2024-02-29T23:59:59.5+01:00`; the offset may be missing here too."""

RFC_3339_TIME = alternation(regex(_CLOCK + _FRACTION + _OFFSET), *map(_leap_second, range(0, 24 * 60, 15)))
"""`23:59:59.5+01:00`, `00:59:60+01:00`; the offset must be there."""

RFC_3339_DATE_TIME = concat(DATE, regex("[Tt]"), RFC_3339_TIME)
"""`2024-02-29T23:59:59.5+01:00`"""


def possible_date() -> Pattern:
    """Return every date of RFC 3339, with the year 0000."""
    return regex(f"{_FULL_DATE}|0000-{_DAY_OF_EVERY_YEAR}|0000-02-29")


def possible_time() -> Pattern:
    """Return every time of RFC 3339, and any with a 60th second, although leap seconds occur at certain times only."""
    return regex(rf"{_HOUR}:[0-5]\d:(?:[0-5]\d|60){_FRACTION}{_OFFSET}")


def possible_date_time() -> Pattern:
    """Return every date and time of RFC 3339, and any with a 60th second."""
    return concat(possible_date(), regex("[Tt]"), possible_time())


_UNBROKEN_DATE = r"(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)"
_UNBROKEN_TIME = r"T(?:\d+S|\d+M(?:\d+S)?|\d+H(?:\d+M(?:\d+S)?)?)"


def duration() -> Pattern:
    """Return the durations of RFC 3339 appendix A: `P1Y2M3DT4H5M6S`."""
    return regex(rf"P(?:{_UNBROKEN_DATE}(?:{_UNBROKEN_TIME})?|{_UNBROKEN_TIME}|\d+W)")


def _some(*parts: str) -> str:
    """Return one or more of the parts, in their order: `a`, `b` → `(?:ab?|b)`."""
    options = (part + "".join(f"(?:{after})?" for after in parts[at:]) for at, part in enumerate(parts, start=1))
    return f"(?:{'|'.join(options)})"


_TIME = _some(r"\d{1,6}H", r"\d{1,6}M", r"\d{1,6}(?:\.\d{1,6})?S")
_TIME_OF_DAY = _some(r"(?:1?\d|2[0-3])H", r"[1-5]?\dM", r"[1-5]?\d(?:\.\d{1,6})?S")
_DATE = _some(r"\d{1,6}Y", r"\d{1,6}M", r"\d{1,6}W", r"\d{1,8}D")
_SMALL = f"{_DATE}(?:T{_TIME})?|T{_TIME}"
_LARGE = rf"(?:{integer_range(1_000_000, 2_739_725)})Y(?:(?:{integer_range(0, 364)})D)?(?:T{_TIME_OF_DAY})?"
_AT_THE_END = rf"2739726Y(?:[0-8]D)?(?:T{_TIME_OF_DAY})?"


def timedelta() -> Pattern:
    """Return texts that Pydantic reads for `timedelta`, among them all that it writes: `-P1Y2DT3H4M5.000006S`."""
    return regex(f"-?P(?:{_SMALL}|{_LARGE}|{_AT_THE_END})|P2739726Y9D(?:T{_TIME_OF_DAY})?|-P2739726Y9D")
