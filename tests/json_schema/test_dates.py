"""The patterns of dates and times agree with `datetime`, and with what Pydantic reads."""

import datetime as dt
import re
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from structured import to_regex
from structured.json_schema.strings.formats.temporal import DATE, DATE_TIME, RFC_3339_TIME

DATE_PATTERN, DATE_TIME_PATTERN = re.compile(str(DATE)), re.compile(str(DATE_TIME))


def is_day(year, month, day):
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("year", [0, 1, 4, 99, 100, 400, 999, 1000, 1900, 2000, 2023, 2024, 2100, 9996, 9999])
def test_days_are_real(year):
    """Every month from 00 to 19 and every day from 00 to 39 of a year."""
    for month in range(20):
        for day in range(40):
            text = f"{year:04}-{month:02}-{day:02}"
            assert bool(DATE_PATTERN.fullmatch(text)) == is_day(year, month, day), text


def test_leap_years_are_exact():
    """The 29th of February of every year from 0000 to 9999."""
    for year in range(10_000):
        assert bool(DATE_PATTERN.fullmatch(f"{year:04}-02-29")) == is_day(year, 2, 29), year


@given(st.datetimes(timezones=st.none() | st.just(dt.UTC)))
def test_every_moment_can_be_written(moment):
    """As Pydantic and as Python write it."""
    assert DATE_TIME_PATTERN.fullmatch(moment.isoformat())
    assert DATE_TIME_PATTERN.fullmatch(TypeAdapter(dt.datetime).dump_json(moment).decode().strip('"'))


@pytest.mark.parametrize("year", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("offset", ["", "Z", "+00:00", "-00:00", "+23:59", "-23:59"])
@pytest.mark.parametrize("time", ["00:00:00", "23:59:59.999999", "12:30:00.5"])
def test_the_ends_of_time_are_valid(year, offset, time):
    """The first and last day with the widest offsets match, and Pydantic reads them."""
    text = f"{year}T{time}{offset}"
    assert DATE_TIME_PATTERN.fullmatch(text)
    TypeAdapter(dt.datetime).validate_json(f'"{text}"')


@pytest.mark.parametrize(
    "text",
    [
        *["T24:00:00", "T23:60:00", "T23:59:60", "T1:00:00", "T00:00", " 00:00:00", "T00:00:00.", "T00:00:00.1234567"],
        *["T00:00:00+24:00", "T00:00:00+0100", "T00:00:00z", "T00:00:00+01:60", "", "T"],
    ],
)
def test_times_are_those_of_rfc_3339(text):
    """No hour 24, no leap second (Python has none), no short forms, at most six digits of a second."""
    assert not DATE_TIME_PATTERN.fullmatch(f"2024-02-29{text}")


@given(st.integers(0, 24 * 60 - 1), st.integers(-24 * 60 + 1, 24 * 60 - 1), st.sampled_from(["", ".5", ".250"]))
def test_a_leap_second_is_the_last_of_a_day_in_utc(shown, offset, fraction):
    """At the time that a clock shows with this offset; with whole quarters of an hour, it can always be written."""
    clock, ahead = (f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (shown, abs(offset)))
    text = f"{clock}:60{fraction}{'-' if offset < 0 else '+'}{ahead}"
    is_last = (shown - offset) % (24 * 60) == 23 * 60 + 59
    matched = bool(re.fullmatch(str(RFC_3339_TIME), text))
    assert matched == (is_last and offset % 15 == 0)


@pytest.mark.thorough
def test_leap_seconds_of_every_quarter_of_an_hour():
    """Each has one time of the day in which it may come."""
    time_pattern = re.compile(str(RFC_3339_TIME))
    for offset in range(-23 * 60 - 45, 24 * 60, 15):
        shown = (23 * 60 + 59 + offset) % (24 * 60)
        sign = "-" if offset < 0 else "+"
        text = f"{shown // 60:02}:{shown % 60:02}:60{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
        assert time_pattern.fullmatch(text)
        assert not DATE_TIME_PATTERN.fullmatch(f"2016-12-31T{text}")


@pytest.mark.parametrize("keyword", ["ge", "gt", "le", "lt"])
@pytest.mark.parametrize("offset", ["", "Z", "+05:00", "-05:00"])
@pytest.mark.parametrize("moment", ["1999-12-31T23:59:59.999999", "2000-01-01T00:00:00", "2000-01-01T00:00:00.000001"])
def test_a_day_bounds_moments_by_its_midnight(keyword, offset, moment):
    """As Pydantic compares them: on the clock, whatever its time zone."""
    output_type = Annotated[dt.datetime, Field(**{keyword: dt.date(2000, 1, 1)})]
    text = moment + offset
    try:
        TypeAdapter(output_type).validate_python(text)
    except ValidationError:
        is_valid = False
    else:
        is_valid = True
    assert bool(re.fullmatch(to_regex(output_type), f'"{text}"')) == is_valid
