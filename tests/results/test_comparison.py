"""Answers compared: values by meaning, items of lists by the best assignment, whatever their order."""

import datetime as dt
import itertools
import random
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from structured.output_types.resolve import resolve_json
from structured.results import comparison
from structured.results.comparison import Comparison, _read_decimal, best_assignment

SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, "a", "b", "c", ""])
RECORDS = st.fixed_dictionaries({"name": st.sampled_from("ab"), "size": st.integers(0, 2) | st.none()})
DATA = st.recursive(
    SCALARS,
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.lists(RECORDS, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "size", "lines"]), inside, max_size=3)
    ),
    max_leaves=12,
)
SWAPPED = {"right": "right", "absent": "absent", "wrong": "wrong", "missing": "invented", "invented": "missing"}


class Line(BaseModel):
    item: str
    price: Decimal
    tags: list[str] = []


class Order(BaseModel):
    sent: dt.datetime
    lines: list[Line]
    size: tuple[int, int]
    labels: dict[str, int] = {}


def outcomes(expected, given, **options):
    return Counter((pair.field, pair.outcome) for pair in Comparison(**options).pairs(expected, given))


def shuffled(data, draw):
    if isinstance(data, list):
        return draw.sample([shuffled(one, draw) for one in data], len(data))
    return {name: shuffled(one, draw) for name, one in data.items()} if isinstance(data, dict) else data


@given(st.data())
def test_an_assignment_is_the_best_there_is(data):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=rows * columns, max_size=rows * columns)), float)
    weights = weights.reshape(rows, columns)
    pairs = best_assignment(weights)
    longer, shorter = (weights, columns) if rows > columns else (weights.T, rows)
    best = max(
        sum(longer[row, column] for column, row in enumerate(chosen))
        for chosen in itertools.permutations(range(len(longer)), shorter)
    )
    assert sum(weights[pair] for pair in pairs) == best
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert all(weights[pair] > 0 for pair in pairs)


@given(st.lists(RECORDS, max_size=5), st.lists(RECORDS, max_size=5))
def test_no_matching_of_items_has_more_right_values(expected, given):
    """Items that are equal are matched beforehand; that costs nothing."""

    def in_common(one, other):
        return sum(value is not None and value == other[name] for name, value in one.items())

    longer, shorter = sorted((expected, given), key=len, reverse=True)
    best = max(
        sum(itertools.starmap(in_common, zip(shorter, chosen, strict=True)))
        for chosen in itertools.permutations(longer, len(shorter))
    )
    found = outcomes(expected, given)
    assert sum(number for (_, outcome), number in found.items() if outcome == "right") == best


@given(DATA)
def test_an_answer_is_the_same_as_itself(data):
    assert {outcome for _, outcome in outcomes(data, data)} <= {"right", "absent"}


@given(DATA, DATA, st.integers())
def test_the_order_of_items_does_not_matter(expected, given, seed):
    draw = random.Random(seed)
    assert outcomes(shuffled(expected, draw), shuffled(given, draw)) == outcomes(expected, given)


@given(DATA, DATA)
def test_swapped_answers_have_swapped_outcomes(expected, given):
    swapped = outcomes(given, expected)
    assert Counter({(field, SWAPPED[one]): number for (field, one), number in swapped.items()}) == outcomes(
        expected, given
    )


@given(DATA, DATA)
def test_every_value_is_counted_once(expected, given):
    """Each value that one of the answers states is in one pair."""
    pairs = Comparison().pairs(expected, given)
    for side in ("expected", "given"):
        paths = [getattr(pair, f"{side}_path") for pair in pairs if getattr(pair, side) is not None]
        assert len(paths) == len(set(paths)) == len(stated(expected if side == "expected" else given))


def stated(data):
    if isinstance(data, list | dict):
        inside = data.values() if isinstance(data, dict) else data
        return [one for value in inside for one in stated(value)]
    return [] if data is None else [data]


def test_what_an_item_without_a_partner_does_not_say_is_not_counted():
    """Else each invented record would raise the share of right values."""
    assert outcomes([], [{"item": "a", "price": None}]) == {("[].item", "invented"): 1}


@pytest.mark.parametrize(
    ("expected", "given", "exact", "folded"),
    [
        ("Ana", " Ana\n", True, True),
        ("Jose\u0301", "José", True, True),
        ("Ana", "ana", False, True),
        ("“A – B”", '"a - b"', False, True),
        ("Ana", "Ann", False, False),
        (1, 1.0, True, True),
        (1, True, False, False),
        (1, "1", False, False),
        ("2024-01-01", "2024-1-1", False, False),
    ],
)
def test_texts_are_the_same_by_a_rule(expected, given, exact, folded):
    pairs = [Comparison(compare=rule).pairs(expected, given) for rule in ("exact", "folded")]
    assert [pair.outcome == "right" for (pair,) in pairs] == [exact, folded]


def test_dates_and_decimals_are_the_same_by_value():
    """Where the type has them; two texts of the same letters are two texts."""
    comparison = Comparison(resolve_json(Order).root)
    (sent,) = comparison.pairs({"sent": "2024-01-01T10:00:00Z"}, {"sent": "2024-01-01T11:00:00+01:00"})
    assert sent.outcome == "right"
    for name, ours, theirs, is_right in (
        ("price", "1.50", "1.5", True),
        ("price", "0", "-0.0", True),
        ("price", "1.50", 1.5, True),
        ("price", "1.50", "1.51", False),
        ("item", "1.50", "1.5", False),
    ):
        pairs = comparison.pairs(*({"lines": [{"tags": ["a"], name: value}]} for value in (ours, theirs)))
        assert {pair.field: pair.outcome == "right" for pair in pairs} == {
            "lines[].tags[]": True,
            f"lines[].{name}": is_right,
        }


def test_the_type_tells_tuples_and_free_names():
    """Those have an order; these are one field."""
    pairs = Comparison(resolve_json(Order).root).pairs({"size": [1, 2], "labels": {"a": 1}}, {"size": [2, 1]})
    assert [(pair.field, pair.outcome) for pair in pairs] == [
        ("size[]", "wrong"),
        ("size[]", "wrong"),
        ("labels.*", "missing"),
    ]


def test_items_are_matched_by_their_keys():
    """Where the values in common would match others."""
    expected = {"lines": [{"id": 1, "a": "x", "b": "y"}, {"id": 2, "a": "z", "b": None}]}
    given = {"lines": [{"id": 2, "a": "x", "b": "y"}, {"id": None, "a": "z", "b": None}]}
    assert outcomes(expected, given)["lines[].id", "wrong"] == 1
    keyed = outcomes(expected, given, keys=["lines[].id"])
    assert keyed["lines[].id", "right"] == keyed["lines[].id", "missing"] == keyed["lines[].a", "wrong"] == 1
    assert keyed["lines[].a", "invented"] == 1  # an item without a key


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compare": "fuzzy"}, "compare is 'fuzzy'; a rule is 'exact' or 'folded'."),
        ({"compare": {"name": "folded"}}, "The type has no field 'name'."),
        ({"keys": ["lines[].number"]}, "The type has no field 'lines[].number'."),
        ({"keys": ["sent"]}, "The key 'sent' is no member of the items of a list."),
        ({"keys": "lines[].item"}, "keys is 'lines[].item', one text."),
    ],
)
def test_what_the_type_does_not_have_is_refused(options, message):
    with pytest.raises(ValueError, match="^" + message.replace("[", r"\[").replace(".", r"\.")):
        Comparison(resolve_json(Order).root, **options)


@given(st.lists(RECORDS, max_size=5), st.lists(RECORDS, max_size=5))
def test_what_lists_share_is_that_of_the_best_assignment(expected, given):
    """Also where each item is most like another one, and nothing is assigned."""
    ours, theirs = (Comparison()._items(Comparison().root, records) for records in (expected, given))
    weights = np.array([[len(one.values & other.values) for other in theirs] for one in ours], float)
    weights = weights.reshape(len(ours), len(theirs))
    assert comparison._shared_count(ours, theirs) == sum(weights[pair] for pair in best_assignment(weights))


def test_short_lists_in_long_ones_are_compared_without_assignments(monkeypatch):
    """Each two of 80 items are, which took a second; one assignment is left, that of the items."""
    tags = [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]
    expected = [{"name": f"x{index}", "tags": tags[index % 4]} for index in range(80)]
    found = [{"name": f"y{index}", "tags": tags[index % 3]} for index in range(80)]
    assigned = []
    monkeypatch.setattr(comparison, "best_assignment", lambda weights: assigned.append(1) or best_assignment(weights))
    Comparison().pairs({"lines": expected}, {"lines": found})
    assert len(assigned) <= 1 + 2 * 80  # those of the tags of matched items


def test_decimals_of_any_size_are_compared() -> None:
    """An exponent beyond that of the usual context was an error, and a tiny one was zero."""
    assert _read_decimal("1E+1000000") == _read_decimal("10E+999999") != _read_decimal("2E+1000000")
    assert _read_decimal("1e-2000000") != _read_decimal("2e-2000000")
