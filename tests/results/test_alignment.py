"""Alignment: each value is found where it stands, in the form it has there, and a place of its own if there is one."""

import time
import unicodedata
from collections import Counter
from datetime import date
from decimal import Decimal
from itertools import starmap

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from structured.output_types.paths import leaves
from structured.results.alignment import MAX_FUZZY_LENGTH, Value, align
from structured.results.evidence import Evidence
from structured.results.normalisation import NormalisedText, is_cut, normalise


def values_in(data):
    return starmap(Value, leaves(data))


def found(document, data):
    """Return the text and the kind of match of each value."""
    evidence = align(document, list(values_in(data)))
    return [(document[slice(*one.span)] if one.span else None, one.match) for one in evidence]


FORMS = [
    ("Anna of Bergen", "Bergen", "Bergen", "exact"),
    ("ANNA OF BERGEN", "Bergen", "BERGEN", "normalised"),
    ("Anna\r\n  Berg, nurse", "Anna Berg", "Anna\r\n  Berg", "normalised"),
    ("the O’Neil–Smith “act”", 'O\'Neil-Smith "act"', "O’Neil–Smith “act”", "normalised"),
    ("ﬁne straße", "FINE STRASSE", "ﬁne straße", "normalised"),
    ("Jose\u0301 came", "José", "Jose\u0301", "normalised"),
    ("Jose\u0301 came", "Jose", None, "none"),
    ("concatenate", "cat", "cat", "fuzzy"),
    ("CONCATENATE", "cat", "CAT", "fuzzy"),
    ("Cat in a concatenation", "cat", "Cat", "normalised"),
    ("東京都に住む", "東京", "東京", "exact"),
    ("Rustt in Practise, Monday", "Rust in Practice", "Rustt in Practise", "fuzzy"),
    ("Invoice INV-2024-118", "INV-2024-117", None, "none"),
    ("nothing of the kind", "Berlin", None, "none"),
    ("room 15", 5, None, "none"),
    ("room 15", "5", None, "none"),
    ("1.5 or 5", 5, "5", "exact"),
    ("costs 1,250.00 EUR", 1250.0, "1,250.00", "normalised"),
    ("costs 1,250.00 EUR", "1250.00", "1,250.00", "normalised"),
    ("for twelve people", 12, "twelve", "normalised"),
    ("12 % off", 0.12, "12 %", "normalised"),
    ("12 % off", 12, "12", "exact"),
    ("1,000 or 1.0", 1, "1.0", "normalised"),
    ("on March 14th, 2024", "2024-03-14", "March 14th, 2024", "normalised"),
    ("on 2024-03-14", "2024-03-14", "2024-03-14", "exact"),
    ("on 2024-03-15", "2024-03-14", None, "none"),
    ("at 9:40 pm", "21:40:00", "9:40 pm", "normalised"),
    ("3 May 2024, 9:40 pm", "2024-05-03T21:40:00", "3 May 2024, 9:40 pm", "normalised"),
    ("on 2023-02-28", "2023-02-29", None, "none"),
    ("EUR 1.149,70", "1.149", None, "none"),
    ("EUR 89.90", "89", None, "none"),
    ("12,500.75", "500.75", None, "none"),
    ("12,500.75", "12500.75", "12,500.75", "normalised"),
    ("anything", None, None, "absent"),
    ("true", True, None, "concluded"),
    ("anything", "", None, "none"),
    ("any thing", " ", None, "none"),
    ("", "Berlin", None, "none"),
    ("", 5, None, "none"),
    ("nan", float("nan"), None, "none"),
    ("a\ud800b c", "a\ud800b", "a\ud800b", "exact"),
    ("\u0301 e", "\u0301", "\u0301", "exact"),
]


@pytest.mark.parametrize(("document", "value", "text", "match"), FORMS)
def test_a_value_is_found_in_the_form_it_has(document, value, text, match):
    assert found(document, value) == [(text, match)]


def test_a_listed_value_that_is_not_spelled_is_concluded():
    document = "My parcel is late. URGENT"
    values = [Value(("topic",), "delivery", is_listed=True), Value(("priority",), "urgent", is_listed=True)]
    assert align(document, values) == [Evidence(None, "concluded"), Evidence((19, 25), "normalised")]


@pytest.mark.parametrize(("document", "value"), [("It is unpaid.", "paid"), ("ILLEGAL", "legal"), ("nothing", "no")])
def test_a_listed_value_is_no_part_of_a_word(document, value):
    assert align(document, [Value((), value, is_listed=True)]) == [Evidence(None, "concluded")]


def test_the_same_value_of_several_records_stands_in_several_places():
    document = "Ann: Berlin. Bob: Berlin. Cy: BERLIN."
    data = [{"name": name, "city": "Berlin"} for name in ("Ann", "Bob", "Cy")]
    assert [one.span for one in align(document, list(values_in(data)))] == [
        *[(0, 3), (5, 11), (13, 16), (18, 24), (26, 28), (30, 36)]
    ]


def test_a_value_stands_near_its_record():
    """The first mention of a value is not its place if the record's other values stand near another."""
    document = "Berlin and Paris are large. Ann: Paris. Bob: Berlin. Paris again. Cy: Paris."
    data = [{"name": "Ann", "city": "Paris"}, {"name": "Bob", "city": "Berlin"}, {"name": "Cy", "city": "Paris"}]
    spans = [one.span for one in align(document, list(values_in(data)))]
    assert [spans[1], spans[3], spans[5]] == [(33, 38), (45, 51), (70, 75)]


def test_records_in_another_order_keep_their_values():
    """Long texts that return do not go before the names that tell the records apart."""
    document = "Ann: garden chair. Bob: garden chair. Cy: garden chair."
    data = [{"name": name, "item": "garden chair"} for name in ("Cy", "Ann", "Bob")]
    assert [one.span for one in align(document, list(values_in(data)))][1::2] == [(42, 54), (5, 17), (24, 36)]


def test_records_under_one_heading_share_it():
    document = "Berlin: Ann, Bob. Bern: Cy. Berlin: Di."
    names = {"Ann": "Berlin", "Bob": "Berlin", "Cy": "Bern", "Di": "Berlin"}
    spans = [one.span for one in align(document, list(values_in([{"n": n, "c": c} for n, c in names.items()])))]
    assert spans[1::2] == [(0, 6), (0, 6), (18, 22), (28, 34)]


def test_a_value_inside_another_is_taken():
    """What a longer value covers is left to it, as long as there is another place."""
    document = "Office: 5 Berlin Street. City: Berlin."
    assert found(document, ["Berlin", "5 Berlin Street"]) == [("Berlin", "exact"), ("5 Berlin Street", "exact")]
    assert align(document, list(values_in(["Berlin", "5 Berlin Street"])))[0].span == (31, 37)


@pytest.mark.parametrize(
    ("document", "number", "mention"),
    [
        ("Order AB14C: 14 pens", 14, "14 pens"),
        ("Room D3, three nights", 3, "three"),
        ("Order AB14C", 14, "14C"),
        ("Nights: 14. Paid: RM14.00", 14.0, "14."),
        ("Paid: RM14.00", 14.0, "14.00"),
    ],
)
def test_digits_behind_a_letter_are_the_last_resort(document: str, number: float, mention: str) -> None:
    """A code is no number where the number stands alone as well."""
    (evidence,) = align(document, list(values_in([number])))
    assert evidence.span is not None
    assert document[evidence.span[0] :].startswith(mention)


def test_values_may_overlap_where_there_is_one_place():
    assert found("5 Berlin Street", {"address": "5 Berlin Street", "city": "Berlin", "number": 5}) == [
        *[("5 Berlin Street", "exact"), ("Berlin", "exact"), ("5", "exact")]
    ]


TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("abcABC  .-é\u0301ßﬁ\r\n\u00a0\ud800")), max_size=40)


@pytest.mark.thorough
@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
@example("Jose\u0301", 0, 4)
def test_what_is_found_exactly_is_the_value(document, start, length):
    """A piece of a document is found; what is found exactly is spelled the same, and nothing is cut."""
    value = document[start : start + length]
    for text, match in found(document, [value, value]):
        if match == "exact":
            assert text == value
        if match == "normalised":
            assert normalise(text) == normalise(value)
    for one in align(document, list(values_in([value]))):
        assert one.span is None or not any(is_cut(document, position) for position in one.span)


@pytest.mark.thorough
@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_spans_lie_in_the_document(document, values):
    for one in align(document, list(values_in(values))):
        assert one.span is None or 0 <= one.span[0] < one.span[1] <= len(document)
        assert (one.span is None) == (one.match == "none")


NAMES = st.text("abcdefghij", min_size=4, max_size=9)
FILLERS = st.lists(st.text("klmnopq", min_size=2, max_size=7), min_size=1, max_size=6).map(" ".join)
SPELLINGS = {
    "exact": [str],
    "normalised": [
        str.upper,
        lambda text: text.replace(" ", "\r\n  "),
        lambda text: unicodedata.normalize("NFKD", text),
    ],
}


@pytest.mark.thorough
@given(NAMES, NAMES, st.lists(FILLERS, min_size=2, max_size=8), st.data())
def test_planted_values_are_found_in_their_order(first, second, fillers, data):
    """As many same values as a document mentions get one mention each, in order, with how each is spelled."""
    value = f"{first} é{second}"
    spellings = {
        spell(value): kind
        for kind, ways in SPELLINGS.items()
        for spell in ways
        if kind == "exact" or spell(value) != value
    }
    planted = data.draw(
        st.lists(st.sampled_from(sorted(spellings)), min_size=len(fillers) - 1, max_size=len(fillers) - 1)
    )
    document, expected = fillers[0], []
    for spelling, filler in zip(planted, fillers[1:], strict=True):
        expected.append(Evidence((len(document) + 1, len(document) + 1 + len(spelling)), spellings[spelling]))
        document += f" {spelling} {filler}"
    assert align(document, list(values_in([value] * len(planted)))) == expected


FORMS_OF_NUMBERS = [str, "{:,}".format, lambda value: f"{value:,}".translate(str.maketrans(",.", ".,"))]
FORMS_OF_DATES = ["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%m/%d/%Y"]


@pytest.mark.thorough
@given(FILLERS, FILLERS, st.decimals(0, 10**9, places=2), st.sampled_from(FORMS_OF_NUMBERS))
def test_a_planted_number_is_found(before, after, value, form):
    document = f"{before} {form(value)} {after}"
    kind = "exact" if form(value) == str(value) else "normalised"
    span = (len(before) + 1, len(before) + 1 + len(form(value)))
    assert align(document, [Value((), value), Value((), str(value))]) == [Evidence(span, kind)] * 2


@pytest.mark.thorough
@given(FILLERS, FILLERS, st.dates(date(1000, 1, 1)), st.sampled_from(FORMS_OF_DATES))
def test_a_planted_date_is_found(before, after, value, form):
    document = f"{before} {value.strftime(form)} {after}"
    span = (len(before) + 1, len(document) - len(after) - 1)
    assert align(document, [Value((), value.isoformat())]) == [
        Evidence(span, "exact" if form == "%Y-%m-%d" else "normalised")
    ]


@pytest.mark.thorough
@given(NAMES, FILLERS, st.integers(0, 10**6))
def test_what_is_not_there_has_no_support(name, document, number):
    assert found(document, [name, number, str(number)]) == [(None, "none")] * 3


@pytest.mark.thorough
@given(NAMES, NAMES, st.lists(FILLERS, min_size=2, max_size=2), st.integers(0, 100))
def test_a_value_with_one_wrong_letter_is_found_nearly(first, second, fillers, position):
    value = f"{first} {second} hgfedcba"
    position %= len(value)
    assume(value[position] != " ")
    wrong = f"{value[:position]}z{value[position + 1 :]}"
    assert found(f"{fillers[0]} {value} {fillers[1]}", wrong) == [(value, "fuzzy")]


@pytest.mark.thorough
@given(TEXTS)
@example("ẞtraße ﬁ ﷺ 각 e\u0301\u0323 İ")
def test_normalised_text_leads_back_to_what_it_came_from(document):
    """Folding the characters that a normalised word came from gives the word, and what else they are normalised to."""
    normalised = NormalisedText(document)
    assert normalised.text == normalise(document)
    start = 0
    for word in normalised.text.split(" ") if normalised.text else []:
        if word:
            assert word in normalise(document[slice(*normalised.to_document((start, start + len(word))))])
        start += len(word) + 1


HOSTILE = {
    "one letter": ("a" * 10_000_000, ["a", "a" * 100_000, "b" * 100_000, "ab" * 400]),
    "one letter with marks": ("e\u0301" * 1_000_000, ["e", "é", "e\u0301" * 1_000]),
    "one word": ("a " * 1_000_000, ["a"] * 500),
    "almost the same words": ("abcdefgh abcdefgi " * 50_000, ["abcdefgj abcdefgk"] * 10),
    "digits": ("1" * 1_000_000, [1, "1", 11]),
    "surrogates": ("\ud800" * 1_000_000, ["\ud800", "\udfff"]),
    "line ends": ("\r\n" * 1_000_000, ["\n", "\r\n", "a"]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_take_seconds(name):
    document, values = HOSTILE[name]
    start = time.process_time()
    align(document, list(values_in(values)))
    assert time.process_time() - start < 20


@pytest.mark.thorough
def test_long_values_are_found_as_they_are_but_not_nearly():
    value = "word " * MAX_FUZZY_LENGTH
    assert found(f"before {value}after", [value.strip(), value.replace("word", "ward", 1)]) == [
        *[(value.strip(), "exact"), (None, "none")]
    ]


@pytest.mark.thorough
def test_as_many_places_as_values_are_used_whatever_their_number():
    document = "x " * 3_000
    spans = Counter(one.span for one in align(document, list(values_in(["x"] * 2_000))))
    assert [*spans.values()] == [1] * 2_000
    assert [one.match for one in align("x", list(values_in([Decimal(1)])))] == ["none"]
