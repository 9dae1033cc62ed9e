"""What a document states: numbers, dates and times in the forms that people write, and nothing that is not there."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from structured.output_types.stated_dates import MAX_GAP, stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import MAX_DIGITS, stated_numbers

NUMBERS = [
    ("1250", {"1250": "1250"}),
    ("1,250.00", {"1,250.00": "1250"}),
    ("1.250,00", {"1.250,00": "1250"}),
    ("1 250", {"1 250": "1250", "1": "1", "250": "250"}),
    ("1\u202f250,50", {"1\u202f250,50": "1250.5", "1": "1", "250,50": "250.5"}),
    ("1'250.00", {"1'250.00": "1250"}),
    ("12,50,000", {"12,50,000": "1250000"}),
    ("1,234,567.891", {"1,234,567.891": "1234567.891"}),
    ("1.250", {"1.250": "1.25 1250"}),
    ("1,250", {"1,250": "1250 1.25"}),
    ("0,250", {"0,250": "0.25"}),
    ("1250,5", {"1250,5": "1250.5"}),
    ("-5", {"-5": "-5", "5": "5"}),
    ("−€12.50", {"−€12.50": "-12.5", "12.50": "12.5"}),
    ("2-5", {"2": "2", "5": "5"}),
    ("7%-9%", {"7": "7", "7%": "0.07", "9": "9", "9%": "0.09"}),
    ("10%–20%", {"10": "10", "10%": "0.1", "20": "20", "20%": "0.2"}),
    ("5€-10€", {"5": "5", "10": "10"}),
    ("[3]-4", {"3": "3", "4": "4"}),
    ("$5 -$10", {"5": "5", "-$10": "-10", "10": "10"}),
    ("5 € -10 €", {"5": "5", "-10": "-10", "10": "10"}),
    ("minus 5 degrees", {"minus 5": "-5", "5": "5"}),
    ("minus five", {"minus five": "-5", "five": "5"}),
    ("negative $5", {"negative $5": "-5", "5": "5"}),
    ("-5%", {"5": "5", "-5": "-5", "5%": "0.05", "-5%": "-0.05"}),
    ("－５", {"－５": "-5", "５": "5"}),
    ("Balance: (1,250.00)", {"1,250.00": "1250", "(1,250.00)": "-1250"}),
    ("$(500)", {"500": "500", "$(500)": "-500"}),
    ("(12.5%)", {"12.5": "12.5", "12.5%": "0.125", "(12.5%)": "-0.125 -12.5"}),
    ("f(5)", {"5": "5"}),
    ("(5 of 7)", {"5": "5", "7": "7"}),
    ("€12.50", {"12.50": "12.5"}),
    ("250g", {"250": "250"}),
    ("12 %", {"12": "12", "12 %": "0.12"}),
    ("-12%", {"12": "12", "-12": "-12", "12%": "0.12", "-12%": "-0.12"}),
    ("ten per cent", {"ten": "10", "ten per cent": "0.1"}),
    ("5 ‰", {"5": "5", "5 ‰": "0.005"}),
    ("12k", {"12": "12", "12k": "12000"}),
    ("1.2 million", {"1.2": "1.2", "1.2 million": "1200000", "million": "1000000"}),
    ("5 hundred thousand", {"5": "5", "5 hundred thousand": "500000", "hundred thousand": "100000"}),
    ("3 m2", {"3": "3", "2": "2"}),
    ("1/2", {"1": "1", "2": "2", "1/2": "0.5"}),
    ("1 ½", {"1": "1", "1 ½": "1.5"}),
    ("1/3", {"1": "1", "3": "3"}),
    ("2/3", {"2": "2", "3": "3"}),
    ("-1/2", {"-1/2": "-0.5", "1/2": "0.5", "1": "1", "2": "2"}),
    ("3 1/4 %", {"3": "3", "1": "1", "4": "4", "3 1/4": "3.25", "3 1/4 %": "0.0325"}),
    ("2 and a half million", {"2 and a half": "2.5", "2 and a half million": "2500000"}),
    ("½½", {}),
    (".5", {".5": "0.5", "5": "5"}),
    ("6.02e23", {"6.02": "6.02", "23": "23", "6.02e23": "6.02e23"}),
    ("1.2e3 %", {"1.2": "1.2", "3": "3", "1.2e3": "1200", "1.2e3 %": "12"}),
    ("1.2e3 million", {"1.2": "1.2", "3": "3", "1.2e3": "1200", "1.2e3 million": "1.2e9", "million": "1000000"}),
    ("1E400", {}),
    ("1e5f", {"1": "1", "5": "5"}),
    ("14th", {"14": "14"}),
    ("twenty-three", {"twenty-three": "23"}),
    ("two hundred and five", {"two hundred and five": "205"}),
    ("a hundred thousand", {"a hundred thousand": "100000"}),
    ("two and a half million", {"two and a half million": "2500000"}),
    ("half a dozen", {"half a dozen": "6"}),
    ("twenty-first", {"twenty-first": "21"}),
    ("twenty-five hundred", {"twenty-five hundred": "2500"}),
    ("two million six thousand, five hundred", {"two million six thousand, five hundred": "2006500"}),
    ("one hundred and a hundred", {"one hundred": "100", "a hundred": "100"}),
    ("one hundred and two hundred", {"one hundred": "100", "two hundred": "200"}),
    ("one thousand, two thousand", {"one thousand": "1000", "two thousand": "2000"}),
    ("two thousand million", {"two thousand million": "2000000000"}),
    ("million million", {"million million": "1000000000000"}),
    ("a million and a half", {"a million and a half": "1500000"}),
    ("one thousand and one half", {"one thousand and one half": "1000.5"}),
    ("two and three quarters", {"two and three quarters": "2.75"}),
    ("three quarters", {"three quarters": "0.75"}),
    ("a quarter of a million", {"a quarter of a million": "250000"}),
    ("one fifth", {"one fifth": "0.2"}),
    ("two thirds", {}),
    ("two-thirds", {}),
    ("a third", {}),
    ("the third", {"third": "3"}),
    ("one and a third", {}),
    ("zero point five", {"zero point five": "0.5"}),
    ("two point five million", {"two point five million": "2500000"}),
    ("two point twenty-five", {}),
    (f"two point{' five' * (MAX_DIGITS + 1)}", {}),
    (f"two point{' five' * 5000}", {}),
    ("at one point five left", {"one point five": "1.5", "five": "5"}),
    ("an often heard tone", {}),
    ("INV-2024-0117", {"2024": "2024", "0117": "117"}),
    ("A4", {"4": "4"}),
    ("v3.11.2", {"3": "3", "11": "11", "2": "2"}),
    ("١٢", {"١٢": "12"}),
    ("٣٫١٤", {"٣٫١٤": "3.14"}),
    ("١٬٢٥٠٫٥٠", {"١٬٢٥٠٫٥٠": "1250.5"}),
    ("١٫٢٥٠", {"١٫٢٥٠": "1.25"}),
    ("１２３．４５", {"１２３．４５": "123.45"}),
    ("１，２５０．００", {"１，２５０．００": "1250"}),
    ("12，34", {"12": "12", "34": "34"}),
    ("9" * (MAX_DIGITS + 1), {}),
    ("", {}),
]

DATES = [
    ("2024-03-14", {"2024-03-14": "2024-03-14"}),
    ("20240314", {"20240314": "2024-03-14"}),
    ("2024年3月14日", {"2024年3月14日": "2024-03-14"}),
    ("14 March 2024", {"14 March 2024": "2024-03-14"}),
    ("14th of March, 2024", {"14th of March, 2024": "2024-03-14"}),
    ("March 14th, 2024", {"March 14th, 2024": "2024-03-14"}),
    ("14. März 2024", {"14. März 2024": "2024-03-14"}),
    ("14 de marzo de 2024", {"14 de marzo de 2024": "2024-03-14"}),
    ("1er août 2024", {"1er août 2024": "2024-08-01"}),
    ("14-Mar-24", {"14-Mar-24": "2024-03-14 1924-03-14"}),
    ("14.03.2024", {"14.03.2024": "2024-03-14"}),
    ("03.04.2024", {"03.04.2024": "2024-04-03"}),
    ("03.14.2024", {"03.14.2024": "2024-03-14"}),
    ("3/4/2024", {"3/4/2024": "2024-04-03 2024-03-04"}),
    ("12/25/2024", {"12/25/2024": "2024-12-25"}),
    ("24-03-14", {"24-03-14": "2014-03-24 1914-03-24 2024-03-14 1924-03-14"}),
    ("14–16 March 2024", {"14–16 March 2024": "2024-03-14", "16 March 2024": "2024-03-16"}),
    ("30 May to 2 June 2024", {"30 May to 2 June 2024": "2024-05-30", "2 June 2024": "2024-06-02"}),
    ("30 December – 2 January 2025", {"2 January 2025": "2025-01-02"}),
    ("14/15 March 2024", {"14/15 March 2024": "2024-03-14", "15 March 2024": "2024-03-15"}),
    ("March 14-16, 2024", {"March 14-16, 2024": "2024-03-14 2024-03-16"}),
    ("May 30 - June 2, 2024", {"May 30 - June 2, 2024": "2024-05-30", "June 2, 2024": "2024-06-02"}),
    ("Dec 30 - Jan 2, 2024", {"Jan 2, 2024": "2024-01-02"}),
    ("1 bus to 2 June 2024", {"2 June 2024": "2024-06-02"}),
    ("March 14 and about 16, 2024", {}),
    ("due 14 March 24.", {"14 March 24": "2024-03-14 1924-03-14"}),
    ("14 March ’24 people", {"14 March ’24": "2024-03-14 1924-03-14"}),
    ("14-Mar-24 people", {"14-Mar-24": "2024-03-14 1924-03-14"}),
    ("14.Mar.24 people", {"14.Mar.24": "2024-03-14 1924-03-14"}),
    ("March 14, 24.", {"March 14, 24": "2024-03-14 1924-03-14"}),
    ("14 Mar 24  TESCO  3.20", {"14 Mar 24": "2024-03-14 1924-03-14"}),
    ("14 Mar 24 £3.20", {"14 Mar 24": "2024-03-14 1924-03-14"}),
    ("14 March 24 at noon", {"14 March 24": "2024-03-14 1924-03-14"}),
    ("14 March 24\nTotal", {"14 March 24": "2024-03-14 1924-03-14"}),
    ("14 March 24\r\nboxes", {}),
    ("Delivered 14 March, 12 boxes.", {}),
    ("1 May 30 people", {}),
    ("1 May 30 000 people", {}),
    ("1 Jan 10 apples", {}),
    ("14 March 24 hours", {}),
    ("14 März 24 Kinder", {}),
    ("March 14 12 days", {}),
    ("14 March 24 €", {}),
    ("14 March 24 %", {}),
    ("14 March", {}),
    ("March 2024", {}),
    ("tomorrow", {}),
    ("14 March 10:30", {}),
    ("29.02.2023", {}),
    ("31/02/2024", {}),
    ("1.2.3.2024", {}),
    ("auguſt 14, 2024", {}),
]

TIMES = [
    ("09:40", {"09:40": "09:40:00"}),
    ("9:40:30.5", {"9:40:30.5": "09:40:30.500000"}),
    ("9:40 am", {"9:40 am": "09:40:00"}),
    ("9 p.m.", {"9 p.m.": "21:00:00"}),
    ("12 am", {"12 am": "00:00:00"}),
    ("21h30", {"21h30": "21:30:00"}),
    ("14.30 Uhr", {"14.30 Uhr": "14:30:00"}),
    ("0940 hrs", {"0940 hrs": "09:40:00"}),
    ("noon", {"noon": "12:00:00"}),
    ("half past nine", {"half past nine": "09:30:00 21:30:00"}),
    ("quarter to ten", {"quarter to ten": "09:45:00 21:45:00"}),
    ("9 o'clock", {"9 o'clock": "09:00:00 21:00:00"}),
    ("09:40Z", {"09:40": "09:40:00", "09:40Z": "09:40:00+00:00"}),
    ("09:40 -03:30", {"09:40": "09:40:00", "09:40 -03:30": "09:40:00-03:30", "03:30": "03:30:00"}),
    ("09:40:30-03:30", {"09:40:30": "09:40:30", "09:40:30-03:30": "09:40:30-03:30"}),
    ("2024-03-14T09:40-03:30", {"09:40": "09:40:00", "09:40-03:30": "09:40:00-03:30"}),
    ("open 09:00-17:30 daily", {"09:00": "09:00:00", "17:30": "17:30:00"}),
    ("09:00-12:00", {"09:00": "09:00:00", "09:00-12:00": "09:00:00-12:00", "12:00": "12:00:00"}),
    ("09:00-12:00 UTC", {"09:00": "09:00:00", "12:00": "12:00:00", "12:00 UTC": "12:00:00+00:00"}),
    ("9:00 am-05:00 pm", {"9:00 am": "09:00:00", "05:00 pm": "17:00:00"}),
    ("09:00-09:20", {"09:00": "09:00:00", "09:20": "09:20:00"}),
    ("10:00 UTC+2", {"10:00": "10:00:00", "10:00 UTC+2": "10:00:00+02:00"}),
    ("10:00 GMT +1", {"10:00": "10:00:00", "10:00 GMT +1": "10:00:00+01:00"}),
    ("10:00 UTC-05:30", {"10:00": "10:00:00", "10:00 UTC-05:30": "10:00:00-05:30"}),
    ("10:00 UTC+25", {"10:00": "10:00:00"}),
    ("25:00", {}),
    ("13 pm", {}),
    ("10:30:61", {}),
    ("5 hours", {}),
]


def stated(statements, document):
    return {document[slice(*one.span)]: one.values for one in statements}


@pytest.mark.parametrize(("document", "expected"), NUMBERS)
def test_numbers_are_read_as_people_write_them(document, expected):
    readings = {text: tuple(map(Decimal, values.split())) for text, values in expected.items()}
    assert stated(stated_numbers(document), document) == readings


@pytest.mark.parametrize(("document", "expected"), DATES)
def test_dates_are_read_as_people_write_them(document, expected):
    readings = {text: tuple(map(date.fromisoformat, values.split())) for text, values in expected.items()}
    assert stated(stated_dates(document), document) == readings


@pytest.mark.parametrize(("document", "expected"), TIMES)
def test_times_are_read_as_people_write_them(document, expected):
    readings = {text: tuple(map(time.fromisoformat, values.split())) for text, values in expected.items()}
    assert stated(stated_times(document), document) == readings


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("Thursday, 14 March 2024 at 9:40 am.", {"14 March 2024 at 9:40 am": "2024-03-14T09:40"}),
        ("doors open at 19:00 on 3 May 2024", {"19:00 on 3 May 2024": "2024-05-03T19:00"}),
        (f"14 March 2024{'.' * (MAX_GAP + 1)}19:00", {}),
        (
            "3 May 2024, 09:00-17:30",
            {"3 May 2024, 09:00": "2024-05-03T09:00", "3 May 2024, 09:00-17:30": "2024-05-03T17:30"},
        ),
        (
            "2024-03-14T09:40Z",
            {"2024-03-14T09:40": "2024-03-14T09:40", "2024-03-14T09:40Z": "2024-03-14T09:40+00:00"},
        ),
    ],
)
def test_a_date_with_a_time_near_it_is_both(document, expected):
    readings = {text: (datetime.fromisoformat(value),) for text, value in expected.items()}
    assert stated(stated_datetimes(document), document) == readings


WORDS = st.lists(st.sampled_from(["the", "invoice", "of", "is", "due;", "(total)", "–", "\r\n"]), max_size=5).map(
    " ".join
)

FORMS_OF_NUMBERS = {
    "plain": str,
    "English": "{:,}".format,
    "German": lambda value: f"{value:,}".translate(str.maketrans(",.", ".,")),
    "French": lambda value: f"{value:,}".replace(",", "\u202f").replace(".", ","),
    "Swiss": lambda value: f"{value:,}".replace(",", "’"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS_OF_NUMBERS)
@given(st.decimals(0, 10**12, places=2), st.booleans(), WORDS, WORDS)
def test_a_number_is_read_in_the_forms_of_any_country(form, value, is_negative, before, after):
    """Whatever its size, it is among the readings of the characters that were written."""
    written = FORMS_OF_NUMBERS[form](value)
    document = f"{before} {'-' * is_negative}{written} {after}"
    start = len(before) + 1
    readings = {one.span: one.values for one in stated_numbers(document)}
    assert -value * is_negative + value * (not is_negative) in readings[start, start + is_negative + len(written)]


FORMS_OF_DATES = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d %B %Y",
    "%d. %B %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%b. %d %Y",
    "%d.%m.%Y",
    "%m/%d/%Y",
]


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS_OF_DATES)
@given(st.dates(date(1000, 1, 1)), WORDS, WORDS)
def test_a_date_is_read_in_each_form(form, value, before, after):
    written = value.strftime(form)
    document = f"{before} {written} {after}"
    start = len(before) + 1
    assert value in {one.span: one.values for one in stated_dates(document)}[start, start + len(written)]


@pytest.mark.thorough
@given(st.times(), st.sampled_from([None, UTC, timezone(timedelta(hours=-3, minutes=-30))]), WORDS)
def test_a_time_is_read_as_iso_writes_it(value, zone, before):
    written = value.replace(tzinfo=zone).isoformat()
    document = f"{before} {written}"
    start = len(before) + 1
    found = {one.span: one.values for one in stated_times(document)}
    assert found[start, start + len(written)] == (value.replace(tzinfo=zone),)


@pytest.mark.thorough
@given(st.decimals(0, 10**9, places=2), st.sampled_from(["-", "−", "minus ", "negative "]), WORDS)
def test_a_number_with_a_sign_before_it_is_negative_and_without_it_is_not(value, sign, before):
    document = f"{before} {sign}{value}"
    readings = {document[slice(*one.span)]: one.values for one in stated_numbers(document)}
    assert readings[f"{sign}{value}"] == tuple(-reading for reading in readings[str(value)])


@pytest.mark.thorough
@given(st.times(), st.times())
def test_both_times_of_a_range_are_stated(opens, closes):
    document = f"{opens:%H:%M}-{closes:%H:%M}"
    found = {one.span: one.values for one in stated_times(document)}
    assert (found[0, 5], found[6, 11]) == ((time.fromisoformat(document[:5]),), (time.fromisoformat(document[6:]),))


@pytest.mark.thorough
@given(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from("0123456789.,-/:' %½amMarch\ud800\u0301")), max_size=60)
)
@example("1" * 5000)
@example("²³ ①")
@example("0000-00-00 99:99 1e99%")
def test_any_text_can_be_read(document):
    """Statements have spans of the document that are in order, with readings that differ."""
    for read in (stated_numbers, stated_dates, stated_times, stated_datetimes):
        statements = read(document)
        assert [one.span for one in statements] == sorted({one.span for one in statements})
        for one in statements:
            assert 0 <= one.span[0] < one.span[1] <= len(document)
            assert len({*one.values}) == len(one.values) > 0


FRAGMENTS = st.sampled_from(
    [
        *(
            "1",
            "12",
            "250",
            "2024",
            "½",
            "1/4",
            "1e5",
            "1E400",
            ".",
            ",",
            "-",
            "–",
            "(",
            ")",
            "$",
            "%",
            " ",
            ":",
            "/",
            "T",
        ),
        *(
            " and ",
            " point ",
            " minus ",
            " at ",
            " to ",
            "a ",
            "half ",
            "one ",
            "two ",
            "three-",
            "quarters ",
            "third ",
        ),
        *(
            "thirds",
            "twenty-",
            "hundred ",
            "thousand ",
            "million",
            "March",
            " May ",
            "’24",
            "09:00",
            "-03:30",
            " UTC+2",
        ),
    ]
)


@pytest.mark.thorough
@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_what_a_statement_says_is_said_by_its_own_characters(document):
    """What stands around them may take a reading away, and adds none."""
    for read in (stated_numbers, stated_dates, stated_times, stated_datetimes):
        for one in read(document):
            quoted = document[slice(*one.span)]
            alone = {inner.span: inner.values for inner in read(quoted)}
            assert {*one.values} <= {*alone[0, len(quoted)]}


@pytest.mark.thorough
@given(st.text(alphabet="abcxyz \u0301é", max_size=80))
def test_what_has_no_digits_and_no_words_for_them_states_nothing(document):
    assert re.search(r"\d", document) is None
    assert not any(read(document) for read in (stated_numbers, stated_dates, stated_times))
