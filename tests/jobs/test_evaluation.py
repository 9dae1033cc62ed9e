"""Evaluations: figures that follow from outcomes, gold as people have it, and tables that obey no text."""

import dataclasses
import datetime as dt
import json
import re
from typing import Annotated

import pytest
from doubles import made_result
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from structured import Document, Extractor, Key, evaluate, report
from structured.errors import PromptError
from structured.jobs import Evaluation
from structured.models import PACKAGED_MODEL, ScriptedModel
from structured.output_types.html import as_text
from structured.results import Evidence

HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>&\u202egpj\ud800 [bold]\x1b[31m"
NAMES = ["Ana", "Bo", "Cy", "Dee"]


class Line(BaseModel):
    item: str
    price: float | None = None


class Order(BaseModel):
    name: str
    due: dt.date | None = None
    lines: list[Line] = []


LINES = st.lists(st.builds(Line, item=st.sampled_from("abc"), price=st.none() | st.integers(1, 3)), max_size=3)
ORDERS = st.builds(
    Order, name=st.sampled_from(NAMES), due=st.none() | st.sampled_from([dt.date(2024, 1, 1)]), lines=LINES
)
RUNS = st.lists(st.tuples(ORDERS, ORDERS), min_size=1, max_size=6)


def run(pairs, **options):
    """Evaluate answers beside the right ones."""
    gold = [(f"Document {place}", right) for place, (right, _) in enumerate(pairs)]
    return evaluate([answer for _, answer in pairs], gold, samples=50, **options)


def value(evaluation, name):
    return evaluation.figures[name].value


def ana(**evidence):
    found = {path: Evidence(*one) for path, one in evidence.items()}
    return made_result(Line(item="a", price=1), {"item": "a", "price": 1}, (), found, "a 1")


@settings(deadline=None)
@given(RUNS)
def test_perfect_answers_are_perfect_everywhere(pairs):
    evaluation = run([(right, right) for right, _ in pairs])
    scores = [*evaluation.fields.values(), *evaluation.lists.values()]
    shares = [figure for one in scores for figure in (one.exact, one.precision, one.recall, one.f1)]
    good = [figure for name, figure in evaluation.figures.items() if not name.startswith("wrong")]
    known = [figure for figure in [*good, *shares] if figure.value is not None]
    assert {(figure.value, figure.low, figure.high) for figure in known} == {(1.0, 1.0, 1.0)}
    assert value(evaluation, "wrong_values") == value(evaluation, "wrong_but_valid") == 0
    assert evaluation.worst() == []


@settings(deadline=None)
@given(RUNS)
def test_swapping_answer_and_gold_swaps_precision_and_recall(pairs):
    there, back = run(pairs), run([(answer, right) for right, answer in pairs])
    assert value(there, "precision") == value(back, "recall")
    for name in ("exact", "f1", "documents"):
        assert value(there, name) == value(back, name)


@settings(deadline=None)
@given(RUNS)
def test_an_interval_contains_its_figure(pairs):
    evaluation = run(pairs)
    scores = [*evaluation.fields.values(), *evaluation.lists.values()]
    shares = [figure for one in scores for figure in (one.exact, one.precision, one.recall, one.f1)]
    for figure in (*evaluation.figures.values(), *shares):
        assert figure.value is None or figure.low <= figure.value <= figure.high


@settings(deadline=None)
@given(RUNS, ORDERS)
def test_a_wrong_document_never_raises_the_score(pairs, order):
    wrong = order.model_copy(update={"name": "Zoe", "due": dt.date(1999, 9, 9), "lines": [Line(item="z", price=9)]})
    before = run(pairs)
    for more in ((order, wrong), (order, PromptError("It is empty."))):
        after = run([*pairs, more])
        for name in ("exact", "precision", "recall", "f1", "documents"):
            assert (value(after, name) or 0) <= (1 if value(before, name) is None else value(before, name))


@settings(deadline=None)
@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_lists_does_not_matter(pairs, random):
    mixed = [
        (right, answer.model_copy(update={"lines": random.sample(answer.lines, len(answer.lines))}))
        for right, answer in pairs
    ]
    assert run(mixed).figures == run(pairs).figures


@settings(deadline=None)
@given(RUNS)
def test_an_invented_value_lowers_precision_only(pairs):
    right, answer = pairs[0]
    inventing = answer.model_copy(update={"lines": [Line(item="invented"), *answer.lines]})
    before, after = run(pairs), run([(right, inventing), *pairs[1:]])
    assert value(after, "recall") == value(before, "recall")
    assert value(after, "precision") < value(before, "precision") or value(before, "precision") == 0
    assert value(after, "wrong_values") == pytest.approx(1 - value(after, "precision"))


@settings(deadline=None)
@given(RUNS)
def test_a_lost_value_lowers_recall_only(pairs):
    right = pairs[0][0].model_copy(update={"lines": [Line(item="lost"), *pairs[0][0].lines]})
    losing = right.model_copy(update={"lines": right.lines[1:]})
    before, after = run([(right, right), *pairs[1:]]), run([(right, losing), *pairs[1:]])
    assert value(after, "recall") < value(before, "recall")
    rest = run(pairs[1:]) if pairs[1:] else None
    assert (value(after, "precision") == 1) is (rest is None or value(rest, "precision") == 1)


@settings(deadline=None)
@given(RUNS)
def test_f1_lies_between_precision_and_recall(pairs):
    evaluation = run(pairs)
    low, high = sorted(value(evaluation, name) for name in ("precision", "recall"))
    assert low - 1e-9 <= value(evaluation, "f1") <= high + 1e-9


@settings(deadline=None)
@given(RUNS, st.integers(0, 3))
def test_each_document_is_right_or_wrong_but_valid_or_has_an_error(pairs, failing):
    evaluation = run([*pairs, *[(Order(name="Ana"), PromptError("It is empty."))] * failing])
    shares = value(evaluation, "documents") + value(evaluation, "wrong_but_valid")
    assert shares == pytest.approx(1 - failing / len(evaluation.documents))


@settings(deadline=None)
@given(RUNS, RUNS)
def test_differences_are_those_of_the_figures(pairs, others):
    other = [(right, others[place % len(others)][1]) for place, (right, _) in enumerate(pairs)]
    this, that = run(pairs), run(other)
    for name, figure in this.compare(that).figures.items():
        if figure.value is not None:
            assert figure.value == value(this, name) - value(that, name)
    itself = this.compare(this)
    found = [*itself.figures.values(), *itself.fields.values()]
    assert {(one.value, one.low, one.high) for one in found} <= {(0, 0, 0), (None, None, None)}
    assert itself.better == itself.worse == []


@settings(deadline=None)
@given(RUNS)
def test_an_evaluation_is_read_back_from_its_json(pairs):
    evaluation = run([*pairs, (Order(name="Ana"), PromptError("It is empty."))], keys=["lines[].item"])
    again = Evaluation.from_json(evaluation.to_json())
    assert again == evaluation
    assert str(again) == str(evaluation)


def test_outcomes_are_told_apart():
    right = Order(name="Ana", due=dt.date(2024, 1, 1), lines=[Line(item="a", price=1), Line(item="b")])
    answer = Order(name="Bo", lines=[Line(item="b", price=2), Line(item="a", price=1)])
    evaluation = run([(right, answer)])
    outcomes = {one.expected_path or one.given_path: one.outcome for one in evaluation.documents[0].values}
    assert outcomes == {
        "name": "wrong",
        "due": "missing",
        "lines[0].item": "right",
        "lines[0].price": "right",
        "lines[1].item": "right",
        "lines[1].price": "invented",
    }
    assert evaluation.lists["lines"].counts._asdict() == {
        "right": 1, "absent": 0, "wrong": 1, "missing": 0, "invented": 0,
    }  # fmt: skip
    assert [value(evaluation, name) for name in ("exact", "precision", "recall")] == [3 / 6, 3 / 5, 3 / 5]


def test_one_bad_document_does_not_cost_the_others(tmp_path):
    """It is listed first, with its error, and all values expected of it are missing."""
    model = ScriptedModel('{"name": "Ana", "due": null, "lines": []}')
    gold = [("Ana", Order(name="Ana")), ("", Order(name="Bo")), (tmp_path / "none.txt", Order(name="Cy"))]
    evaluation = evaluate(Extractor(Order, model=model), gold, progress=False)
    assert [one.score for one in evaluation.documents] == [1, 0, 0]
    assert [one.error.partition(":")[0] for one in evaluation.worst()] == ["PromptError"] * 2
    outcomes = {one.field: one.outcome for one in evaluation.failed[0].values}
    assert outcomes == {"name": "missing"}  # what is not expected is not missing, and nobody left it out
    assert list(evaluation.fields) == ["name", "due"]  # the lists are empty, and say nothing of a field
    assert value(evaluation, "documents") == 1 / 3
    assert value(evaluation, "sampled_tokens") is not None


def test_items_are_matched_by_the_fields_that_the_type_marks():
    class Keyed(BaseModel):
        number: Annotated[str, Key]
        item: str

    class Keeping(BaseModel):
        lines: list[Keyed]

    right = Keeping(lines=[Keyed(number="1", item="a"), Keyed(number="2", item="b")])
    answer = Keeping(lines=[Keyed(number="1", item="b"), Keyed(number="2", item="a")])
    evaluation = run([(right, answer)])
    assert evaluation.keys == ("lines[].number",)
    assert evaluation.fields["lines[].item"].counts.wrong == 2
    assert run([(right, answer)], keys=[]).fields["lines[].item"].counts.right == 2


def test_spans_and_confidences_are_those_of_the_evidence():
    gold = [("a 1", ana(item=((0, 1), "exact"), price=((2, 3), "exact")))]
    evaluation = evaluate([ana(item=((0, 1), "exact", 0.8), price=((0, 3), "fuzzy", 0.6))], gold)
    assert [value(evaluation, f"spans_{name}") for name in ("equal", "overlap")] == [0.5, 1]
    assert value(evaluation, "calibration_error") == pytest.approx(0.3)


def test_results_of_a_batch_are_matched_by_their_documents():
    """By id or text, in any order; what the gold does not have is left out, and what has no result is missing."""
    gold = [(Document("Ana is here.", "a"), Order(name="Ana")), ("Bo.", Order(name="Bo")), ("Cy.", Order(name="Cy"))]
    results = [
        made_result(Order(name="Bo"), {"name": "Bo"}, document="Bo."),
        made_result(Order(name="Dee"), {"name": "Dee"}, document="Dee."),
        made_result(Order(name="Ana"), {"name": "Ana"}, document="as it was", name="a"),
    ]
    evaluation = evaluate(results, gold)
    assert [one.score for one in evaluation.documents] == [1, 1, 0]
    assert evaluation.unmatched == 1
    assert evaluation.documents[2].error == "LookupError: there is no result of this document"


def test_positions_are_no_ids(tmp_path):
    """Where gold and results are numbered, each in its own order, the texts tell which belong together."""
    write = [("0", "Ana is here.", "Ana"), ("1", "Bo.", "Bo"), ("2", "Cy.", "Cy")]
    path = write_gold(tmp_path, *({"id": one, "document": text, "value": {"name": name}} for one, text, name in write))
    results = [
        made_result(Order(name=name), {"name": name}, document=text, name=str(place))
        for place, (text, name) in enumerate([("Cy.", "Cy"), ("Dee.", "Dee"), ("Ana is here.", "Ana")])
    ]
    evaluation = evaluate(results, path)
    assert [one.score for one in evaluation.documents] == [1, 0, 1]
    assert evaluation.unmatched == 1
    with pytest.raises(ValueError, match="No result is of a document of the gold"):
        evaluate(results[1:2], path)


@pytest.mark.parametrize("name", ["007", "٣", "10021"])
def test_numbers_of_ones_own_are_ids(name):
    """Where there is no text to compare, or no position is written so; a line end more is no other text."""
    gold = [(Document("Ana is here.", name), Order(name="Ana")), (Document("Bo.", "b"), Order(name="Bo"))]
    for document in ("", "Ana is here.\n" if name == "10021" else "another text"):
        result = made_result(Order(name="Ana"), {"name": "Ana"}, document=document, name=name)
        assert [one.score for one in evaluate([result], gold).documents] == [1, 0]


def test_ids_come_before_texts():
    """Of two documents with one text, each result is that of its id, whatever the order."""
    gold = [(Document("Same.", "a"), Order(name="Ana")), (Document("Same.", "b"), Order(name="Bo"))]
    ana, bo = (
        made_result(Order(name=name), {"name": name}, document="Same.", name=key)
        for key, name in (("a", "Ana"), ("new", "Bo"))
    )
    assert [one.score for one in evaluate([bo, ana], gold).documents] == [1, 1]


def write_gold(folder, *records):
    path = folder / "gold.jsonl"
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records), "utf-8")
    return path


def test_only_what_a_person_saw_counts(tmp_path):
    """A value that was not reviewed is what the model said; a rejected one is rightly not stated."""
    value = {"due": "2024-01-01", "lines": [{"item": "a", "price": 1}, {"item": "b", "price": 2}]}
    reviewed = {"name": "rejected", "lines[0].item": "accepted", "lines[0].price": "accepted", "lines[1].item": "added"}
    path = write_gold(tmp_path, {"id": "x", "document": "…", "value": value, "reviewed": reviewed})
    answer = Order(name="Ana", due=dt.date(2000, 1, 1), lines=[Line(item="a", price=1), Line(item="c", price=1)])
    (document,) = evaluate([answer], path).documents
    assert [(one.field, one.outcome) for one in document.values] == [
        ("lines[].item", "right"),
        ("lines[].item", "missing"),
        ("lines[].item", "invented"),
        ("name", "invented"),
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "gold.jsonl, line 2 is not JSON: "),
        ("[]", "gold.jsonl, line 2: it: Input should be a valid dictionary"),
        ({"value": {}}, 'gold.jsonl, line 2: document: Field required. Write {"document": …, "value": …}.'),
        ({"document": 1, "value": {}}, "gold.jsonl, line 2: document: Input should be a valid string."),
        ({"document": "", "value": {"name": 1}}, "gold.jsonl, line 2: the value is no Order: name: Input should be "),
        (
            {"document": "", "value": {"name": "A", "lines": [{}]}},
            "gold.jsonl, line 2: the value is no Order: lines[0].item: Field required.",
        ),
        (
            {"document": "", "value": {"name": "A"}, "reviewed": {"name": "seen"}},
            "gold.jsonl, line 2: reviewed.name: Input ",
        ),
        ({"document": "A", "value": {"name": "A"}, "spans": {"name": [0, 9]}}, "gold.jsonl, line 2: the span of "),
        (
            {"document": "A", "value": {"name": "A"}, "spans": {"nme": [0, 1]}},
            "gold.jsonl, line 2: \"spans\" has 'nme', ",
        ),
        (
            {"document": "A", "value": {"name": "A"}, "reviewed": {"nme": "accepted"}},
            "gold.jsonl, line 2: \"reviewed\" has 'nme', ",
        ),
        ({"document": "A", "value": {"name": "A"}, "spans": {"name": 3}}, "gold.jsonl, line 2: spans.name: Input "),
    ],
)
def test_gold_that_is_none_is_refused_with_its_line(tmp_path, record, message):
    path = write_gold(tmp_path, {"document": "Ana", "value": {"name": "Ana"}}, record)
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        evaluate([Order(name="Ana")] * 2, path)


def test_a_gold_file_may_begin_with_a_byte_order_mark(tmp_path):
    path = write_gold(tmp_path, {"document": "Ana", "value": {"name": "Ana"}})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert evaluate([Order(name="Ana")], path).documents[0].is_right


@pytest.mark.parametrize("name", [".", "none.jsonl"])
def test_gold_that_cannot_be_read_is_an_error_of_the_library(name, tmp_path):
    with pytest.raises(PromptError, match=r"The gold .* cannot be read"):
        evaluate([Order(name="Ana")], tmp_path / name)


def test_what_cannot_be_compared_is_refused():
    gold = [("Ana", Order(name="Ana")), ("Bo", Order(name="Bo"))]
    with pytest.raises(ValueError, match=r"^Got 1 answer for 2 documents of the gold\."):
        evaluate([Order(name="Ana")], gold)
    with pytest.raises(ValueError, match=r"^No result is of a document of the gold"):
        evaluate([ana()], [("b 2", Line(item="a"))])
    with pytest.raises(ValueError, match=r"^The gold has no documents\."):
        evaluate([], [])
    with pytest.raises(TypeError, match=r"^answers is 'gold\.jsonl'\."):
        evaluate("gold.jsonl", gold)
    both = [evaluate([Order(name="Ana")] * 2, gold, compare=rule) for rule in ("exact", "folded")]
    with pytest.raises(ValueError, match=r"^The evaluations were made with different rules\."):
        both[0].compare(both[1])
    with pytest.raises(TypeError, match=r"^An Evaluation is compared with another one; Evaluation\.from_json reads"):
        both[0].compare("before.json")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^The evaluations are of different documents: "):
        both[0].compare(evaluate([Order(name="Ana")], gold[:1]))
    with pytest.raises(ValueError, match=r"^This is no evaluation as to_json or `eval --json` writes it: "):
        Evaluation.from_json("{}")


def test_texts_of_others_are_no_markup(tmp_path):
    """Not on a terminal; and a document has the id that it has on the review page."""
    unsupported = {path: Evidence(None, "none", 0.5) for path in ("item", "price")}
    answer = made_result(Line(item=HOSTILE), {"item": HOSTILE, "price": None}, (), unsupported, HOSTILE)
    evaluation = evaluate([answer], [((HOSTILE, HOSTILE), Line(item=HOSTILE + "x", price=1))])
    review = report([answer], tmp_path / "to review.html")
    assert f'"id":"{evaluation.documents[0].anchor}"' in review.read_text("utf-8")
    assert not set(str(evaluation)) & set("\x1b\u202e\ud800")
    assert "[bold]" in str(dataclasses.replace(evaluation, type="[bold]"))


@pytest.mark.thorough
def test_the_packaged_model_is_evaluated():
    """On documents that it reads rightly, and one whose gold says otherwise."""
    gold = [
        ("Jason is 25 years old.", {"name": "Jason", "age": 25}),
        ("Ana Brandt, 31, is a nurse.", {"name": "Ana Brandt", "age": 30}),
    ]

    class Person(BaseModel):
        name: str
        age: int

    evaluation = evaluate(Extractor(Person, model=PACKAGED_MODEL), gold, progress=False)
    assert evaluation.fields["name"].counts.right == 2
    assert [(one.id, one.score) for one in evaluation.worst()] == [(evaluation.documents[1].id, 0.5)]
    assert {"calibration_error", "seconds", "prompt_tokens"} <= evaluation.figures.keys()


def test_a_narrow_terminal_shows_whole_headings_and_figures() -> None:
    """The table of fields is two tables there: headings such as `rig…` were cut off."""
    answers = [Order(name="Ana", lines=[Line(item="a", price=1)]), Order(name="Bo")]
    evaluation = run([(answers[0], answers[0]), (answers[1], answers[0])])
    narrow, wide = (as_text(evaluation.__rich__(), width) for width in (80, 160))
    assert "…" not in narrow + wide
    assert max(map(len, narrow.splitlines())) <= 80
    assert set(narrow.replace("─", " ").split()) == set(wide.replace("─", " ").split())


def test_an_unknown_figure_is_an_error_that_lists_the_others():
    """Of an evaluation, and of a difference."""
    evaluation = run([(None, None)])
    for one in (evaluation, evaluation.compare(evaluation)):
        with pytest.raises(ValueError, match=r"no figure 'nope' .* there are .*f1"):
            one.figure("nope")
