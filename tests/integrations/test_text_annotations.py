"""Results as annotations: what LangExtract, Label Studio and spaCy read of them, and what comes back as gold."""

import copy
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from structured import Extractor, Result, evaluate, extract_results
from structured.integrations.text_annotations import (
    from_label_studio,
    label_studio_config,
    to_label_studio,
    to_langextract,
    to_spacy,
)
from structured.models.scripted import ScriptedModel

TEXT = "Ana Brandt ordered 2 lamps and a chair on 3 May. 🙂 Paid."


class Item(BaseModel):
    name: str
    count: int | None = None


class Order(BaseModel):
    customer: str
    items: list[Item]
    tags: list[str] = []
    paid: bool = False


ANSWER = {
    "customer": "Ana Brandt",
    "items": [{"name": "lamps", "count": 2}, {"name": "chair", "count": None}],
    "tags": [],
    "paid": True,
}


def result_for(text: str, answer: Any = ANSWER, kind: Any = Order) -> Result[Any]:
    """The result of a model that writes an answer."""
    model = ScriptedModel(answer if isinstance(answer, str) else json.dumps(answer))
    return Extractor(kind, model=model).result(text)


def failed() -> Result[Any]:
    [result] = extract_results(Order, [""], model=ScriptedModel("{}"), progress=False)
    return result


def submitted(task: dict[str, Any]) -> dict[str, Any]:
    """A task whose prediction a person submitted as it is."""
    return {**task, "id": 1, "annotations": [copy.deepcopy(task["predictions"][0])]}


def test_spans_are_where_the_values_are() -> None:
    """In all three, with characters beyond the basic plane before them."""
    result = result_for("🙂 " + TEXT)
    quotes = {row["path"]: row["quote"] for row in result.rows() if row["quote"] is not None}
    assert quotes["items[0].name"] == "lamps"
    regions = to_label_studio(result)["predictions"][0]["result"]
    assert {
        region["id"]: result.document[region["value"]["start"] : region["value"]["end"]] for region in regions
    } == quotes
    extractions = to_langextract(result)["extractions"]
    places = [one["char_interval"] for one in extractions if one["char_interval"]]
    assert [result.document[place["start_pos"] : place["end_pos"]] for place in places] == [*quotes.values()]


def test_values_of_one_record_are_of_one_group() -> None:
    extractions = to_langextract(result_for(TEXT))["extractions"]
    groups = {one["attributes"]["path"]: one["group_index"] for one in extractions}
    assert groups["items[0].name"] == groups["items[0].count"] != groups["items[1].name"]
    assert {one["extraction_class"] for one in extractions} >= {"customer", "items[].name", "items[].count"}


def test_a_failed_document_has_no_annotations() -> None:
    assert to_langextract(failed())["extractions"] == []
    assert to_label_studio(failed())["predictions"] == []


def test_langextract_opens_the_lines(tmp_path: Path) -> None:
    """Its own reader and its own page."""
    langextract = pytest.importorskip("langextract", reason=".ci/clients has langextract.")
    from langextract import io

    path = tmp_path / "orders.jsonl"
    path.write_text(json.dumps(to_langextract(result_for(TEXT))) + "\n", encoding="utf-8")
    [document] = io.load_annotated_documents_jsonl(path)
    assert document.text == TEXT
    for extraction in document.extractions:
        if extraction.char_interval is not None:
            start, end = extraction.char_interval.start_pos, extraction.char_interval.end_pos
            assert TEXT[start:end] == extraction.extraction_text
    page = langextract.visualize(str(path))
    assert "lamps" in getattr(page, "data", page)


def test_label_studio_takes_the_task_and_its_configuration() -> None:
    """By the checks of its own SDK."""
    interface = pytest.importorskip(
        "label_studio_sdk.label_interface", reason=".ci/clients has label-studio-sdk."
    ).LabelInterface(label_studio_config(Order))
    task = to_label_studio(result_for(TEXT))
    interface.validate()
    assert interface.validate_task({"data": task["data"]})
    assert interface.validate_prediction(task["predictions"][0])
    assert {"customer", "items[].name", "items[].count", "paid"} <= {*interface.get_control("label").labels}


def test_a_submitted_prediction_is_the_answer_as_gold(tmp_path: Path) -> None:
    """Values keep their types; what has no place in the text is missing. `evaluate` reads the line."""
    line = from_label_studio(submitted(to_label_studio(result_for(TEXT))), Order)
    stated = {"customer": "Ana Brandt", "items": [{"name": "lamps", "count": 2}, {"name": "chair"}], "tags": []}
    assert {**line["value"], "paid": None} == {**stated, "paid": None}
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps(line) + "\n", encoding="utf-8")
    evaluation = evaluate(Extractor(Order, model=ScriptedModel(json.dumps({**ANSWER, "customer": "Bea"}))), gold)
    assert evaluation.fields["items[].count"].f1.value == 1
    assert evaluation.fields["customer"].f1.value == 0


def test_corrections_count() -> None:
    """A moved region has its text as value, a deleted one closes the gap, and an added one goes to the next record."""
    task = submitted(to_label_studio(result_for(TEXT)))
    regions = {region["id"]: region for region in task["annotations"][0]["result"]}
    customer = regions["customer"]["value"]
    customer["end"], customer["text"] = customer["start"] + 3, "Ana"
    del regions["items[0].name"], regions["items[0].count"]
    place = TEXT.index("3 May")
    added = {"id": "x7Yq", "type": "labels", "value": {"start": place, "end": place + 5, "labels": ["items[].name"]}}
    task["annotations"][0]["result"] = [*regions.values(), added, {"type": "relation"}]
    found = from_label_studio(task, Order)["value"]
    assert found["customer"] == "Ana"
    assert [item["name"] for item in found["items"]] == ["3 May", "chair"]


def test_lists_of_values_come_back_as_they_are() -> None:
    """Of texts and of numbers, at the top and inside of records; the configuration knows each label of the task."""

    class Line(BaseModel):
        tags: list[str]

    class Notes(BaseModel):
        names: list[str]
        numbers: list[int]
        lines: list[Line]
        points: dict[str, int]

    answer = {"names": ["Ana", "Bob"], "numbers": [3, 12], "lines": [{"tags": ["red"]}, {"tags": ["blue", "wet"]}]}
    text = "Ana and Bob: 3 and 12; red. Then blue and wet; left 40."
    task = to_label_studio(result_for(text, {**answer, "points": {"left": 40}}, Notes))
    labels = {region["value"]["labels"][0] for region in task["predictions"][0]["result"]}
    assert labels == {"names[]", "numbers[]", "lines[].tags[]", "points.left"}
    assert all(f'value="{label}"' in label_studio_config(Notes) for label in labels - {"points.left"})
    assert from_label_studio(submitted(task), Notes)["value"] == {**answer, "points": {"left": 40}}
    plain = to_label_studio(result_for("3, 4", [3, 4], list[int]))
    assert from_label_studio(submitted(plain), list[int])["value"] == [3, 4]


def test_a_type_without_fields_has_one_label() -> None:
    task = to_label_studio(result_for("Seven: 7.", "7", int))
    assert 'value="value"' in label_studio_config(int)
    assert from_label_studio(submitted(task), int)["value"] == 7


class Bill(BaseModel):
    total: float
    due: date
    paid: bool


def test_a_mark_is_read_as_its_field_has_it_and_what_has_no_place_is_kept() -> None:
    """A person marks the amount and the day anew; whether it was paid has no place in the text."""
    text = "Total 1,250.00, due 2 May 2024."
    task = submitted(to_label_studio(result_for(text, {"total": 50.0, "due": "2024-05-20", "paid": False}, Bill)))
    task["annotations"][0]["result"] = [
        {"type": "labels", "value": {"start": start, "end": start + len(quote), "labels": [label]}}
        for label, quote in (("total", "1,250.00"), ("due", "2 May 2024"))
        for start in [text.index(quote)]
    ]
    line = from_label_studio(task, Bill)
    assert line["value"] == {"total": 1250.0, "due": "2024-05-02", "paid": False}
    task["annotations"][0]["result"][0]["value"] |= {"start": 0, "end": 5}
    with pytest.raises(ValueError, match="total: 'Total' is marked, which is no number"):
        from_label_studio(task, Bill)


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        ([], "has no annotation"),
        ([{"was_cancelled": True, "result": []}], "has no annotation"),
        ([{"result": [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["town"]}}]}], "label 'town'"),
        (
            [{"result": [{"type": "labels", "value": {"start": 0, "end": 999, "labels": ["customer"]}}]}],
            "from 0 to 999",
        ),
        ([{"result": [{"type": "labels"}]}], "no task of Label Studio"),
    ],
)
def test_tasks_that_are_no_gold_are_refused(annotations: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_label_studio({"data": {"text": TEXT, "id": "a"}, "annotations": annotations}, Order)


def test_spacy_keeps_the_spans(tmp_path: Path) -> None:
    """Written to its own file, and read back."""
    spacy = pytest.importorskip("spacy", reason=".ci/clients has spaCy.")
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    DocBin(docs=[to_spacy(one, nlp) for one in (result_for(TEXT), failed())]).to_disk(tmp_path / "orders.spacy")
    doc, empty = DocBin().from_disk(tmp_path / "orders.spacy").get_docs(nlp.vocab)
    spans = {span.id_: (span.text, span.label_) for span in doc.spans["structured"]}
    assert spans["items[0].name"] == ("lamps", "items[].name")
    assert spans["items[0].count"] == ("2", "items[].count")
    assert len(empty.spans["structured"]) == 0
