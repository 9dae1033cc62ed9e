"""Votes: what most answers say is said, place by place, and the whole is valid or one of them."""

import copy
import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from structured.output_types.resolve import resolve_json
from structured.results.merging import SampledAnswer, vote

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from(["", "a", "b"]), st.just(1.0))


def values(depth: int) -> st.SearchStrategy[Any]:
    """Return JSON values of few names and few scalars, so that they often agree."""
    if depth == 0:
        return SCALARS
    inner = values(depth - 1)
    objects = st.fixed_dictionaries({"x": inner}, optional={"y": inner, "a b": inner})
    return st.one_of(SCALARS, st.lists(inner, max_size=2), objects, objects)


@st.composite
def ballots(draw: st.DrawFn) -> list[SampledAnswer]:
    """Return answers of different likelihoods."""
    answers = draw(st.lists(values(2), min_size=1, max_size=7))
    scores = draw(st.permutations(range(len(answers))))
    return [SampledAnswer(answer, -float(score)) for answer, score in zip(answers, scores, strict=True)]


def always(data: Any) -> bool:  # noqa: ARG001
    return True


def never(data: Any) -> bool:  # noqa: ARG001
    return False


@given(values(2), st.integers(1, 5))
def test_those_who_agree_get_what_they_say(answer: Any, count: int) -> None:
    """A vote among equals is unanimous."""
    outcome = vote([SampledAnswer(answer, -1.0)] * count, always)
    assert outcome.data == answer


@pytest.mark.thorough
@given(ballots(), values(2))
def test_a_majority_has_its_way(cast: list[SampledAnswer], answer: Any) -> None:
    """What more than half of the ballots say as a whole is the outcome, however unlikely."""
    outcome = vote([*cast, *[SampledAnswer(answer, -100.0)] * (len(cast) + 1)], always)
    assert outcome.data == answer


@pytest.mark.thorough
@given(st.lists(st.fixed_dictionaries({"x": SCALARS, "y": SCALARS, "z": st.lists(SCALARS, max_size=1)}), min_size=1))
def test_objects_of_one_shape_are_voted_on_member_by_member(answers: list[dict[str, Any]]) -> None:
    """Each member has as many votes as any value there could have had."""
    cast = [SampledAnswer(answer, -float(score)) for score, answer in enumerate(answers)]
    outcome = vote(cast, always)
    for name in "xyz":
        counts = Counter(as_json(answer[name]) for answer in answers)
        assert counts[as_json(outcome.data[name])] == max(counts.values())
        tied = [text for text, count in counts.items() if count == max(counts.values())]
        first = next(answer[name] for answer in answers if as_json(answer[name]) in tied)
        assert as_json(outcome.data[name]) == as_json(first)


def leaves(data: Any, path: str = "") -> set[tuple[str, str]]:
    """Return what stands at each path in objects that is not a filled object, as JSON."""
    if isinstance(data, dict) and data:
        return set().union(*(leaves(value, f"{path}/{name}") for name, value in data.items()))
    return {(path, as_json(data))}


def as_json(value: Any) -> str:
    """Return a text that is equal for equal values: 1 and 1.0 are, and 1 and true are not."""
    return json.dumps(value).replace("1.0", "1")


@pytest.mark.thorough
@given(ballots(), st.randoms(use_true_random=False))
def test_the_order_of_ballots_does_not_matter(cast: list[SampledAnswer], rng: Any) -> None:
    """Ballots are not told apart by when they come, as long as no two are equally likely."""
    shuffled = rng.sample(cast, len(cast))
    assert as_json(vote(shuffled, always).data) == as_json(vote(cast, always).data)


@pytest.mark.thorough
@given(ballots())
def test_every_part_of_the_outcome_is_somebody_s(cast: list[SampledAnswer]) -> None:
    """Nothing is made up: at each path some ballot says the same."""
    outcome = vote(cast, always)
    assert leaves(outcome.data) <= set().union(*(leaves(one.data) for one in cast))
    assert outcome.position is None


@pytest.mark.thorough
@example(
    [SampledAnswer({"x": None, "y": None}, -0.0), SampledAnswer({"x": None}, -1.0), SampledAnswer({"x": None}, -2.0)]
)
@given(ballots())
def test_what_is_not_valid_is_not_returned(cast: list[SampledAnswer]) -> None:
    """Where the whole breaks a rule of the type, a ballot is taken as it is, one that nobody beats in agreement."""
    mixed, outcome = vote(cast, always), vote(cast, never)
    assert outcome.position is not None
    assert outcome.data is cast[outcome.position].data
    if mixed.data in [one.data for one in cast]:
        assert as_json(outcome.data) == as_json(mixed.data)


def test_the_ballot_that_agrees_most_stands_in() -> None:
    """Of three dates, days and months are fine by themselves and not together."""
    cast = [
        SampledAnswer({"day": 31, "month": 1, "place": "Rome"}, -1.0),
        SampledAnswer({"day": 31, "month": 3, "place": "Bonn"}, -2.0),
        SampledAnswer({"day": 30, "month": 4, "place": "Bonn"}, -4.0),
        SampledAnswer({"day": 28, "month": 4, "place": "Bonn"}, -5.0),
    ]
    outcome = vote(cast, lambda data: data["day"] <= 30 or data["month"] != 4)
    assert outcome.data == {"day": 31, "month": 3, "place": "Bonn"}
    assert outcome.position == 1
    assert vote(cast, always).data == {"day": 31, "month": 4, "place": "Bonn"}


def test_a_changed_value_and_an_absent_one_each_count_once() -> None:
    """Each differs in one path from what most say, so the likeliest is taken."""
    changed = [SampledAnswer({"a": 1, "b": 1, "c": 1, name: 0}, -2.0 - number) for number, name in enumerate("abc")]
    cast = [*changed, SampledAnswer({"a": 1, "b": 1}, -9.0)]
    assert vote(cast, always).data == {"a": 1, "b": 1, "c": 1}
    assert vote(cast, never).position == 0


def test_whether_there_is_something_is_voted_on_before_what_it_is() -> None:
    """Three addresses that differ have more votes than one null twice."""
    streets = [{"address": {"street": name, "city": "Bonn"}} for name in ("A", "B", "C")]
    cast = [SampledAnswer(answer, -float(score)) for score, answer in enumerate([{"address": None}] * 2 + streets)]
    outcome = vote(cast, always)
    assert outcome.data == {"address": {"street": "A", "city": "Bonn"}}


def test_lists_are_voted_on_as_they_are() -> None:
    """Items are not mixed: the list that most have, or the likeliest answer's."""
    lists = [["a", "b"], ["b", "c"], ["a", "c"]]
    assert vote([SampledAnswer(one, -float(score)) for score, one in enumerate(lists)], always).data == ["a", "b"]
    assert vote([SampledAnswer(one, -float(score)) for score, one in enumerate([*lists, ["a", "c"]])], always).data == [
        "a",
        "c",
    ]


def test_a_vote_needs_ballots() -> None:
    with pytest.raises(ValueError, match="There are no candidates"):
        vote([], always)


class Priced(BaseModel):
    name: str
    price: Decimal
    parts: list[Decimal | None] = []


@given(st.decimals(-999, 999, places=3), st.lists(st.none() | st.decimals(0, 9, places=2), max_size=3))
def test_decimals_keep_the_digits_that_were_written(price: Decimal, parts: list[Decimal | None]) -> None:
    """In votes, in what is merged, and in answers of which something is removed: all are made of plain data."""
    values = ", ".join("null" if part is None else f"{part:f}" for part in parts)
    texts = [f'{{"name": "{name}", "price": {price:f}, "parts": [{values}]}}' for name in ("1.5", r"2 \" 3", r"2 \" 3")]
    output_type = resolve_json(Priced)
    assert [output_type.from_data(output_type.to_data(text)) for text in texts] == texts
    elected = vote([SampledAnswer(output_type.to_data(text), 0.0) for text in texts], always)
    assert output_type.from_data(elected.data) == texts[1]
    kept = copy.deepcopy(elected.data)
    assert output_type.from_data(kept) == texts[1]
