"""The patterns of dates and times agree with `datetime`, and with what Pydantic reads."""

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from structured.schema.dates import DATE, DATE_TIME

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
            text = f'"{year:04}-{month:02}-{day:02}"'
            assert bool(DATE_PATTERN.fullmatch(text)) == is_day(year, month, day), text


def test_leap_years_are_exact():
    """The 29th of February of every year from 0000 to 9999."""
    for year in range(10_000):
        assert bool(DATE_PATTERN.fullmatch(f'"{year:04}-02-29"')) == is_day(year, 2, 29), year


@given(st.datetimes(timezones=st.none() | st.just(dt.UTC)))
def test_every_moment_can_be_written(moment):
    """As Pydantic and as Python write it."""
    assert DATE_TIME_PATTERN.fullmatch(f'"{moment.isoformat()}"')
    assert DATE_TIME_PATTERN.fullmatch(TypeAdapter(dt.datetime).dump_json(moment).decode())


@pytest.mark.parametrize("year", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("offset", ["", "Z", "+00:00", "-00:00", "+23:59", "-23:59"])
@pytest.mark.parametrize("time", ["00:00:00", "23:59:59.999999", "12:30:00.5"])
def test_the_ends_of_time_are_valid(year, offset, time):
    """The first and last day with the widest offsets match, and Pydantic reads them."""
    text = f'"{year}T{time}{offset}"'
    assert DATE_TIME_PATTERN.fullmatch(text)
    TypeAdapter(dt.datetime).validate_json(text)


@pytest.mark.parametrize(
    "text",
    [
        *["T24:00:00", "T23:60:00", "T23:59:60", "T1:00:00", "T00:00", " 00:00:00", "T00:00:00.", "T00:00:00.1234567"],
        *["T00:00:00+24:00", "T00:00:00+0100", "T00:00:00z", "T00:00:00+01:60", "", "T"],
    ],
)
def test_times_are_those_of_rfc_3339(text):
    """No hour 24, no leap second (Python has none), no short forms, at most six digits of a second."""
    assert not DATE_TIME_PATTERN.fullmatch(f'"2024-02-29{text}"')
