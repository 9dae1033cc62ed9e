"""Thresholds: what they promise holds for documents that were drawn alike, and what cannot be promised is said."""

from dataclasses import replace
from itertools import product
from math import comb, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles import made_result
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from structured import Extractor, Result, evaluate, extract_results, read_results, report, write_results
from structured.errors import StructuredError
from structured.jobs import Evaluation
from structured.jobs.evaluation import START_CONFIDENCES, TESTED_CONFIDENCES, Loss, Thresholds, certify, p_value
from structured.models import PACKAGED_MODEL
from structured.results import Evidence
from structured.results.result import Provenance

DRAWS = 1000
"""Gold sets that are drawn."""

CONFIDENCES = (0.995, 0.95, 0.7, 0.3)

Kind = tuple[float, tuple[float, ...], tuple[float, ...]]
"""A kind of document: its share, and for each confidence the share of its values and how many of those are wrong."""

ORDERED: tuple[Kind, ...] = ((0.7, (0.5, 0.3, 0.15, 0.05), (0.0, 0.05, 0.1, 0.3)),)
ORDERED += ((0.3, (0.2, 0.3, 0.3, 0.2), (0.05, 0.4, 0.6, 0.9)),)
SUREST_ARE_WRONG: tuple[Kind, ...] = ((0.7, (0.2, 0.2, 0.3, 0.3), (0.2, 0.05, 0.01, 0.0)),)
SUREST_ARE_WRONG += ((0.3, (0.3, 0.3, 0.2, 0.2), (0.4, 0.15, 0.05, 0.05)),)


def true_risk(kinds: tuple[Kind, ...], most: int, least: float) -> float:
    """Return the mean share of wrong values in a document with any value from a confidence on, by enumeration."""
    weight = loss = 0.0
    for (share, shares, wrong), size in product(kinds, range(1, most + 1)):
        for levels in product(range(len(CONFIDENCES)), repeat=size):
            accepted = [wrong[level] for level in levels if CONFIDENCES[level] >= least]
            chance = share / most * prod(shares[level] for level in levels)
            weight += chance * bool(accepted)
            loss += chance * sum(accepted) / max(len(accepted), 1)
    return loss / weight if weight else 0.0


def drawn(rng: np.random.Generator, kinds: tuple[Kind, ...], most: int, count: int) -> list[list[Loss]]:
    """Return the losses of so many documents; those of one document depend on each other by its kind."""
    of, sizes = rng.choice(len(kinds), count, p=[share for share, _, _ in kinds]), rng.integers(1, most + 1, count)
    bounds = np.cumsum([shares for _, shares, _ in kinds], axis=1)[:, :-1]
    levels = (rng.random((count, most, 1)) > bounds[of][:, None]).sum(axis=2)
    wrong = rng.random((count, most)) < np.array([shares for _, _, shares in kinds])[of[:, None], levels]
    losses = zip(np.array(CONFIDENCES)[levels].tolist(), wrong.astype(float).tolist(), sizes, strict=True)
    return [list(zip(trusts[:size], values[:size], strict=True)) for trusts, values, size in losses]


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", [ORDERED, SUREST_ARE_WRONG], ids=["ordered", "the surest are wrong"])
@pytest.mark.parametrize("most", [1, 3])
def test_the_promise_is_kept(kinds: tuple[Kind, ...], most: int) -> None:
    """Of a thousand gold sets, at most one in ten, but for chance, has a threshold of more than the risk.

    The risk is a little below that of a confidence of the grid, which is the easiest one to certify wrongly.
    """
    risks = {least: true_risk(kinds, most, least) for least in TESTED_CONFIDENCES}
    risk = 0.97 * risks[0.3 if kinds is ORDERED else 0.9]
    rng = np.random.default_rng(most)
    found = [certify(drawn(rng, kinds, most, 100), risk, 0.1, is_single=most == 1).least for _ in range(DRAWS)]
    broken = sum(least is not None and risks[least] > risk for least in found)
    assert broken / DRAWS <= 0.1 + 3 * sqrt(0.1 * 0.9 / DRAWS)
    assert any(least is not None for least in found)


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.01, 0.99))
def test_single_values_are_tested_exactly(count: int, wrong: int, risk: float) -> None:
    """The probability of so few wrong ones is that of the binomial distribution; that of means is no smaller."""
    few = min(wrong, count)
    exact = sum(comb(count, k) * risk**k * (1 - risk) ** (count - k) for k in range(few + 1))
    tested = p_value(count, few, risk, is_single=True)
    assert tested == pytest.approx(exact if few < count * risk else 1.0)
    assert tested <= p_value(count, few, risk, is_single=False) + 1e-9


@given(st.floats(0.01, 0.5), st.floats(0.01, 0.5), st.booleans())
def test_the_needed_documents_are_enough_and_no_more(risk: float, error: float, is_single: bool) -> None:
    """With as many sure documents without an error a threshold is certified, and with one fewer it is not."""
    needed = certify([], risk, error, is_single=is_single).needed
    right = [[(0.995, 0.0)]] * needed
    assert certify(right, risk, error, is_single=is_single).least == 0
    assert certify(right[1:], risk, error, is_single=is_single).least is None
    assert {*START_CONFIDENCES} <= {*TESTED_CONFIDENCES}
    assert list(TESTED_CONFIDENCES) == sorted(TESTED_CONFIDENCES, reverse=True)


NAMES = ("Ana Brandt", "Tom Reed", "Eva Novak", "Ken Mori")


class Aged(BaseModel):
    name: str
    age: int


class Person(BaseModel):
    name: str
    age: int | None = None


def person(place: int, *, name: float, age: float) -> Result[Person]:
    evidence = {"name": Evidence(None, "exact", name), "age": Evidence(None, "exact", age)}
    value = Person(name=f"N{place}", age=place)
    return made_result(value, value.model_dump(), evidence=evidence, document=f"N{place}, {place}", name=str(place))


def evaluated() -> tuple[list[Result[Person]], Evaluation]:
    """Return a hundred results, of which the model is sure of all names, and of ages where they are right."""
    results = [person(place, name=0.999, age=0.3 if place % 4 == 0 else 0.96) for place in range(100)]
    gold = [(f"N{one}, {one}", Person(name=f"N{one}", age=None if one % 4 == 0 else one)) for one in range(100)]
    return results, evaluate(results, gold)


def test_thresholds_of_an_evaluation() -> None:
    """Each field has its own; a file of the evaluation has the same ones, and the text says what they rest on."""
    _, evaluation = evaluated()
    found = evaluation.thresholds(risk=0.1)
    assert found.fields["name"].least == 0
    assert (found.fields["age"].least, found.fields["age"].accepted, found.fields["age"].wrong) == (0.4, 75, 0)
    assert Evaluation.from_json(evaluation.to_json()).thresholds(risk=0.1) == found
    assert str(found).startswith(
        "at most 10.0% of accepted results or values are wrong, with a certainty of 90.0%\nresults: "
    )
    assert "age: from 0.4 on: 0.0% wrong in 75 of 100 documents" in str(found).splitlines()


def test_too_few_documents_are_told() -> None:
    results, _ = evaluated()
    gold = [(one.document, one.value) for one in results[:40]]
    found = evaluate(results[:40], gold).thresholds()
    assert str(found.fields["name"]) == (
        "not certifiable with n = 40: at least 67 labelled documents without an error would be needed"
    )
    wrong = [(one.document, Person(name="X")) for one in results]
    assert str(evaluate(results, wrong).thresholds().fields["name"]) == (
        "not certifiable with n = 100: with each one tried, up to 0.99, too much of what is accepted is wrong, or too "
        "little is"
    )


def test_results_are_routed_with_the_reasons(tmp_path: Path) -> None:
    """What a person has to look at comes first on the review page, with what is too uncertain."""
    results, evaluation = evaluated()
    thresholds = evaluation.thresholds(risk=0.1)
    failed: Result[Any] = Result("f", 100, "", error=StructuredError("no"))
    accepted, review = thresholds.route([*results, failed])
    assert [one.id for one in accepted] == [str(one) for one in range(100) if one % 4]
    assert [one.id for one in review] == [*(str(one) for one in range(0, 100, 4)), "f"]
    assert thresholds.lacking(review[0]) == {"age": 0.3}
    assert thresholds.lacking(failed) == {"": 0}
    page = report(results[:5], tmp_path / "page.html", thresholds=thresholds).read_text()
    order = [page.index(f'"text":"N{place}, {place}"') for place in (0, 4, 1, 2, 3)]
    assert order == sorted(order)
    assert page.count("age: 0.3 is below 0.4") == 2
    nothing = replace(thresholds, results=certify([], 0.1, 0.1, is_single=False))
    assert nothing.lacking(results[1]) == {"name": 0.999, "age": 0.96}


def test_a_sole_reading_is_not_accepted() -> None:
    """A grounded number that was the only one in the document has no confidence: nobody chose it."""
    results, evaluation = evaluated()
    evidence = {**results[1].evidence, "age": Evidence((4, 5), "grounded")}
    result = made_result(results[1].value, results[1].data, evidence=evidence)
    assert evaluation.thresholds(risk=0.1).lacking(result) == {"age": 0}


def test_only_what_was_evaluated_is_accepted(tmp_path: Path) -> None:
    """Another type, prompt or option is refused, and so is a value; a file of thresholds keeps what they are of."""
    people = [(f"{name} is {age} years old.", Aged(name=name, age=age)) for name in NAMES for age in range(20, 30)]
    found = evaluate(Extractor(Aged, model=PACKAGED_MODEL), people, progress=False).thresholds(risk=0.1)
    written = TypeAdapter(Thresholds).dump_json(found)
    kept = TypeAdapter(Thresholds).validate_json(written)
    assert kept == found
    new = ["Bo Lund is 33 years old."]
    write_results(Aged, new, tmp_path / "out.jsonl", model=PACKAGED_MODEL, progress=False)
    for alike in (
        extract_results(Aged, new, model=PACKAGED_MODEL, progress=False),
        read_results(tmp_path / "out.jsonl", Aged),
    ):
        assert [len(part) for part in kept.route(alike)] == [1, 0]
    others: list[tuple[type[Any], dict[str, Any], str]] = [
        (Aged, {"instructions": "Name the oldest person."}, "the option instructions"),
        (Aged, {"allow_missing": True}, "the option allow_missing"),
        (Person, {}, "the type"),
    ]
    for output_type, options, changed in others:
        results = extract_results(output_type, new, model=PACKAGED_MODEL, progress=False, **options)
        with pytest.raises(ValueError, match=f"promise nothing of the result '0': .* this has changed: {changed}"):
            kept.route(results)
    with pytest.raises(TypeError, match="Pass results"):
        kept.route([Aged(name="Bo", age=33)])  # type: ignore[list-item]


def test_the_provenance_is_that_of_all_answers() -> None:
    """Neither a document that failed nor an upgrade of the library takes it away; answers made otherwise do."""
    results, gold = evaluated()[0], [(f"N{one}, {one}", Person(name=f"N{one}", age=one)) for one in range(4)]
    made = Provenance("Person", "d", "m", "v", "p", {"temperature": 0.5, "seed": 1}, "0.3.0")

    def common(*provenances: Provenance | None) -> Provenance | None:
        answers: list[Any] = [
            made_result(one.value, one.data, evidence=one.evidence, document=one.document, provenance=provenance)
            for one, provenance in zip(results, provenances, strict=False)
        ]
        return evaluate([*answers, StructuredError("no")], [*gold[: len(answers)], gold[-1]]).provenance

    assert common(made, made) == made
    assert common(made, replace(made, version="0.4.0")) == made
    assert common(made, replace(made, options={"temperature": 0.5})) == made, "another draw"
    assert common(made, replace(made, model="n")) is None
    assert common(made, None) is None
    thresholds = replace(evaluated()[1].thresholds(risk=0.1), provenance=made)
    other = replace(made, options={"temperature": 0.5, "seed": 2})
    result = made_result(results[1].value, results[1].data, evidence=results[1].evidence, provenance=other)
    assert thresholds.lacking(result) == {}, "another draw, and the same promise"


@pytest.mark.parametrize("shares", [(0, 0.9), (1, 0.9), (0.1, 0), (0.1, 1.5)])
def test_bounds_are_checked(shares: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"(risk|confidence) is .*; it must be above 0 and below 1"):
        evaluated()[1].thresholds(*shares)


def test_plain_answers_have_no_thresholds() -> None:
    with pytest.raises(ValueError, match="Evaluate an extractor, or its results"):
        evaluate([Person(name="Ana")], [("Ana", Person(name="Ana"))]).thresholds()


def test_entries_of_a_dictionary_are_several_values() -> None:
    """They are of one field, so that a document of them is no single trial: the test of means is taken."""
    value = {"a": 1, "b": 2}
    evidence = {name: Evidence(None, "exact", 0.999) for name in value}
    results = [made_result(value, value, evidence=evidence, document=f"d{one}", name=str(one)) for one in range(70)]
    gold = [(f"d{one}", value if one else {"a": 0, "b": 0}) for one in range(70)]
    (found,) = evaluate(results, gold, output_type=dict[str, int]).thresholds(risk=0.08).fields.values()
    assert found.documents == 70
    assert found.least is None
    assert p_value(70, 1, 0.08, is_single=True) < 0.1 / 3 < p_value(70, 1, 0.08, is_single=False)
