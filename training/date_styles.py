"""Date styles: the ways to write a day, none of which can be read as another day."""

from calendar import day_name, month_name
from collections.abc import Callable, Sequence
from datetime import date

from training.splits import Split, part


def ordinal(day: int) -> str:
    """Return a day with its ending: 3 → "3rd"."""
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _slashed(day: date, *, american: bool = False, short: bool = False) -> str:
    """Return a date in digits if it can be read in one way only, otherwise with the month in letters."""
    if day.day <= 12 and day.day != day.month:
        return f"{day.day} {month_name[day.month]} {day.year}"
    first, second = (day.month, day.day) if american else (day.day, day.month)
    return f"{first}/{second}/{day.year % 100:02}" if short else f"{first:02}/{second:02}/{day.year}"


ALL_DATE_STYLES: tuple[Callable[[date], str], ...] = (
    lambda day: day.isoformat(),
    lambda day: f"{month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{month_name[day.month]} {ordinal(day.day)}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month][:3]} {day.year}",
    lambda day: f"{month_name[day.month][:3]} {ordinal(day.day)}, '{day.year % 100:02}",
    lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    lambda day: f"{ordinal(day.day)} of {month_name[day.month]} {day.year}",
    lambda day: f"{day_name[day.weekday()]}, {month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{day_name[day.weekday()][:3]} {day.day} {month_name[day.month][:3]} {day.year}",
    lambda day: _slashed(day, american=True),
    lambda day: f"{day.day}. {month_name[day.month]} {day.year}",
    lambda day: f"{month_name[day.month][:3]} {day.day}, {day.year}",
    lambda day: f"{day.day}.{day.month}.{day.year}",
    lambda day: f"{ordinal(day.day)} {month_name[day.month]} {day.year}",
    _slashed,
    lambda day: f"{day_name[day.weekday()]} {day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{day.day:02} {month_name[day.month][:3].upper()} {day.year}",
    lambda day: f"{day.year}/{day.month:02}/{day.day:02}",
    lambda day: f"{day.day:02}-{month_name[day.month][:3]}-{day.year}",
    lambda day: f"{month_name[day.month]} {day.day} {day.year}",
    lambda day: f"the {ordinal(day.day)} of {month_name[day.month]} {day.year}",
    lambda day: f"{day.day}-{month_name[day.month][:3]}-{day.year % 100:02}",
    lambda day: _slashed(day, american=True, short=True),
    lambda day: f"{day.day} {month_name[day.month][:3].lower()} {day.year}",
    lambda day: f"{day_name[day.weekday()]} the {ordinal(day.day)} of {month_name[day.month]}, {day.year}",
    lambda day: (
        f"{day.day:02}.{day.month:02}.{day.year % 100:02}" if day.day > 12 else f"{day.day}. {day.month}. {day.year}"
    ),
    lambda day: f"{day_name[day.weekday()][:3]}, {month_name[day.month][:3]} {day.day}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month].upper()} {day.year}",
    lambda day: f"{day.year}.{day.month:02}.{day.day:02}",
    lambda day: f"{month_name[day.month]} the {ordinal(day.day)}, {day.year}",
)
DATE_STYLES: dict[Split, Sequence[Callable[[date], str]]] = {
    "train": part(ALL_DATE_STYLES, "train"), "phrasings": ALL_DATE_STYLES, "kinds": ALL_DATE_STYLES
}  # fmt: skip
