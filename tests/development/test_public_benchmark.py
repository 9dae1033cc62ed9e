"""The benchmark of public documents: what it draws, counts, keeps and prints."""

import json
import sys
from collections import Counter

import pytest

from benchmarks import mistakes, public
from benchmarks.public import Answer, answered, main, mean, read_answers, read_documents, read_types, rows, table
from structured.jobs.figures import Figure, ValueScore
from structured.models import ScriptedModel

TYPES = """
from pydantic import BaseModel

class Person(BaseModel):
    name: str
    age: int | None

class Town(BaseModel):
    name: str
"""
PEOPLE = [("Ana", 31), ("Bo", None), ("Cy", 5), ("Dee", None)]


@pytest.fixture
def folder(tmp_path):
    """Two sets: people, and one town."""
    (tmp_path / "types.py").write_text(TYPES)
    people = [
        {"id": name, "type": "Person", "text": f"{name}, {age}", "gold": {"name": name, "age": age}}
        for name, age in PEOPLE
    ]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, people)))
    town = {"id": "1", "type": "Town", "text": "Leeds", "gold": {"name": "Leeds"}}
    (tmp_path / "towns.jsonl").write_text(json.dumps(town))
    return tmp_path


def answers_of(folder, text, count=4):
    """What a model that always writes the same answers."""
    documents = read_documents(folder, ["people"], count)
    return documents, list(answered("structured", ScriptedModel(text), read_types(folder), documents))


def test_fewer_documents_are_the_first_of_more(folder):
    drawn = [read_documents(folder, ["people"], count) for count in (2, 4, 60)]
    assert drawn[0] == drawn[1][:2]
    assert drawn[1] == drawn[2]
    assert {one.id for one in drawn[1]} == {name for name, _ in PEOPLE}
    assert [one.set for one in read_documents(folder, [], 1)] == ["people", "towns"]


def test_answers_are_compared_with_case_and_white_space_folded(folder):
    documents, answers = answers_of(folder, '{"name": "  ANA ", "age": null}')
    (row,) = rows(documents, answers)
    outcomes = {one.id: [value.outcome for value in one.values] for one in row.evaluation.documents}
    by_text = {document.id: outcome for document, outcome in zip(documents, outcomes.values(), strict=True)}
    assert by_text == {
        "Ana": ["right", "missing"],
        "Bo": ["wrong", "absent"],
        "Cy": ["wrong", "missing"],
        "Dee": ["wrong", "absent"],
    }
    figures = row.evaluation.figures
    assert [figures[name].value for name in ("recall", "precision", "wrong_but_valid")] == [1 / 6, 1 / 4, 1]


def test_a_document_without_an_answer_is_an_error_and_not_wrong_but_valid(folder):
    documents, answers = answers_of(folder, '{"name": "Bo", "age": null}')
    failed = [
        Answer(one.way, one.model, one.set, one.id, None, "ValidationError: no", 1.0) if one.id == "Ana" else one
        for one in answers
    ]
    (row,) = rows(documents, failed)
    assert [one.error for one in row.evaluation.failed] == ["StructuredError: ValidationError: no"]
    assert row.evaluation.figures["documents"].value == 1 / 4
    assert row.evaluation.figures["wrong_but_valid"].value == 2 / 4


def test_the_table_has_a_row_for_each_set_and_their_mean(folder):
    documents = read_documents(folder, [], 60)
    answers = [
        Answer("structured", "m", one.set, one.id, one.gold if one.set == "towns" else {"name": "Cy"}, None, 2.0)
        for one in documents
    ]
    assert list(table(rows(documents, answers)))[2:] == [
        "| people | 4 | 17% | 25% | 20% (0% to 50%) | 0% | 100% | 0 | 2.00 |",
        "| towns | 1 | 100% | 100% | 100% (100% to 100%) | 100% | 0% | 0 | 2.00 |",
        "| **mean** | 5 | 58% | 62% | 60% (48% to 72%) | 50% | 50% | 0 | 2.00 |",
    ]


def test_the_interval_of_the_mean_is_narrower_than_those_of_the_sets():
    sets = [Figure(0.5, 0.4, 0.6)] * 4
    assert mean(sets) == Figure(0.5, pytest.approx(0.45), pytest.approx(0.55))
    assert mean([Figure(None), Figure(1.0, 1.0, 1.0)]).value == 0.5


def test_answers_are_kept_and_not_asked_for_again(folder, monkeypatch, capsys):
    """The file tells as much as the model did; and a set that is added is asked for alone."""
    out = str(folder / "answers.out")

    def printed(*arguments):
        monkeypatch.setattr(sys, "argv", ["public", str(folder), *arguments])
        main()
        return capsys.readouterr().out

    first = printed("--sets", "people", "--out", out)
    assert first.startswith("\nstructured, the packaged model\n")
    assert len(read_answers(folder / "answers.out")) == 4
    assert printed("--sets", "people", "--read", out) == first
    asked = []
    monkeypatch.setattr(
        public,
        "WAYS",
        {"structured": lambda _model, _type, texts: [asked.append(text) or ValueError() for text in texts]},
    )
    both = printed("--out", out)
    assert asked == ["Leeds"]
    assert len(both.splitlines()) == len(first.splitlines()) + 1
    assert "| towns | 1 | 0% | 0% | 0% (0% to 0%) | 0% | 0% | 1 |" in both


def test_a_folder_without_documents_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["public", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert "has no documents" in capsys.readouterr().err


def test_outlines_is_left_out_with_a_reason_where_it_is_not_installed(folder, monkeypatch, capsys):
    monkeypatch.setattr(public, "find_spec", lambda _name: None)
    monkeypatch.setattr(public, "load_model", lambda *_, **__: ScriptedModel('{"name": "Ana", "age": 31}'))
    monkeypatch.setattr(sys, "argv", ["public", str(folder), "--sets", "people", "--outlines"])
    main()
    assert capsys.readouterr().out.startswith("Outlines is left out: it is not installed")


MISTAKEN = "Ana Lee moved to Leeds on 3 March 2020. Bo Berg stayed in Hull."


@pytest.mark.parametrize(
    ("given", "expected", "kind"),
    [
        ("Hull", None, "unstated"),
        ("2020-03-03", "3 March 2020", "date"),
        ("Ana", "Ana Lee", "boundary"),
        ("ana lee moved", "Ana Lee", "boundary"),
        ("Leeds", "Ana Lee", "field"),
        ("Hull", "Ana Lee", "other"),
        ("Ann Leigh", "Ana Lee", "invented"),
    ],
)
def test_a_mistake_is_of_the_first_kind_that_applies(given, expected, kind):
    value = ValueScore("name", "wrong", expected, given)
    stated = frozenset({"leeds", *([mistakes.folded(expected)] if expected else [])})
    assert mistakes.kind_of(value, mistakes.folded(MISTAKEN), stated) == kind


def test_each_wrong_value_is_counted_once(folder):
    documents, answers = answers_of(folder, '{"name": "Dee", "age": 5}')
    found = [(kind, value.given) for kind, _, value in mistakes.mistakes(documents, answers)]
    assert Counter(found) == {("invented", "Dee"): 3, ("unstated", 5): 2, ("invented", 5): 1}
    lines = list(mistakes.table({"scripted": Counter(kind for kind, _ in found)}))
    assert lines[2] == "| a value where nothing is stated; in a list, an item too many | 33% |"
    assert lines[-1] == "| *of wrong values* | 6 |"
