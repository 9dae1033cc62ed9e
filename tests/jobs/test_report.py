"""The data of the review page: nothing in it is markup, spans are those of JavaScript, and no digit is lost."""

import copy
import datetime as dt
import enum
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest
from doubles import made_result
from hypothesis import given
from hypothesis import strategies as st
from purchases import purchases
from pydantic import BaseModel

from structured import JsonSchema, Result, report
from structured.errors import OutputError, PromptError
from structured.jobs.review_page import to_data, to_inert_json, to_page, utf16_offsets
from structured.output_types.paths import leaves, steps_to_path
from structured.output_types.resolve import resolve_type
from structured.results.evidence import Evidence
from structured.results.result import Provenance

HOSTILE = "</script><script>alert(1)</script><!--<script>&amp;\u2028\ud800🙂"
TEXTS = st.text(st.sampled_from("<>!-/&\"'\\script\u2028\u0301\ud800\r\n🙂") | st.characters(), max_size=30)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXTS, inside, max_size=3),
    max_leaves=8,
)


class Elements(HTMLParser):
    """The text of each element of a page, as a browser reads it, by its tag."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        last = len(self.found) - 1
        self.texts[last] = self.texts.get(last, "") + data

    def text(self, tag: str, **attributes: str) -> str:
        (place,) = [
            n for n, found in enumerate(self.found) if found[0] == tag and attributes.items() <= found[1].items()
        ]
        return self.texts[place]


class Currency(enum.Enum):
    EURO = "EUR"
    DOLLAR = "USD"


@dataclass
class Line:
    item: str
    price: Decimal
    tags: list[str]


class Invoice(BaseModel):
    """A type with every kind of value."""

    currency: Currency
    paid: bool
    issued: dt.date
    due: dt.date | None
    sent: dt.datetime
    opens: dt.time
    how: Literal["cash", 1] | None
    count: int
    weight: float
    lines: list[Line]
    numbers: list[int]
    pair: tuple[int, str]
    labels: dict[str, int]


INVOICES = st.builds(
    Invoice,
    weight=st.floats(allow_nan=False, allow_infinity=False),
    lines=st.lists(st.builds(Line, price=st.decimals(-(10**9), 10**9, places=4)), max_size=2),
)
FORMS = {
    "text": str,
    "number": (int, float),
    "integer": int,
    "date": str,
    "date-time": str,
    "time": str,
}


def made(value: Any, data: Any, name: str = "") -> Result[Any]:
    """Return a result with evidence for all that it has, by a type of that name, or an unknown one."""
    evidence = {steps_to_path(steps): Evidence(None, "none", 0.5) for steps, _ in leaves(data)}
    provenance = Provenance(name, name, "model", None, "", {}, "1") if name else None
    return made_result(value, data, (), evidence, "document", provenance=provenance)


def types_by_path(page: Any, place: int = 0) -> dict[str, Any]:
    return {one["path"]: page["types"][one["type"]] for one in page["documents"][place]["values"]}


def lists_in(node: Any) -> Iterator[dict[str, Any]]:
    """Yield the lists of the tree of a document."""
    if isinstance(node, int):
        return
    if "items" in node:
        yield node
    for inside in node.get("items", [inside for _, inside in node.get("members", [])]):
        yield from lists_in(inside)


def extraction(document: str, data: Any, evidence: dict[str, Evidence], *missing: str) -> Result[None]:
    return made_result(None, data, missing, evidence=evidence, document=document)


@given(JSON_VALUES)
def test_data_in_the_page_is_the_data_and_no_markup(data: Any) -> None:
    """It comes back as it was, and holds nothing that ends or opens an element or a comment."""
    written = to_inert_json(data)
    assert json.loads(written) == data
    assert "<" not in written
    assert written.isascii()


@given(TEXTS, TEXTS)
def test_no_document_and_no_title_changes_the_page(text: str, title: str) -> None:
    """It has the elements of a harmless page, and its data is what was handed in."""
    evidence = {steps_to_path((text,)): Evidence((0, len(text)), "exact", 0.5)}
    page = Elements(to_page([extraction(text, {text: text}, evidence)], title))
    plain = Elements(to_page([], "Review"))
    assert page.found == plain.found
    (document,) = json.loads(page.text("script", id="data"))["documents"]
    assert document["text"] == json.loads(json.dumps(text))
    assert json.loads(document["values"][0]["json"]) == json.loads(json.dumps(text))


@given(TEXTS, st.data())
def test_offsets_are_those_of_utf_16(text: str, data: st.DataObject) -> None:
    """A slice by them, of code units, is the slice of characters."""
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    offset = utf16_offsets(text)
    units = text.encode("utf-16-le", "surrogatepass")
    cut = units[2 * offset(start) : 2 * offset(end)]
    assert cut == text[start:end].encode("utf-16-le", "surrogatepass")


def test_every_value_is_there_with_the_digits_that_it_had() -> None:
    """Those that are missing come without a value, and have their place in the tree of the data."""
    data = {"id": 2**63 + 1, "price": 1.0, "tags": ["a", None], "inside": {}}
    evidence = {
        "id": Evidence((0, 2), "exact", 0.5),
        "gone": Evidence(None, "absent", 0.25),
        "price": Evidence(None, "none"),
        "tags[0]": Evidence(None, "concluded"),
        "tags[1]": Evidence(None, "absent"),
    }
    given = extraction("🙂🙂", data, evidence, "gone", 'inside."left out"')
    page = to_data([given])
    (document,) = page["documents"]
    assert page["fields"] == ["id", "gone", "price", "tags[]", 'inside."left out"']
    found = [(one["path"], one["field"], one["json"]) for one in document["values"]]
    assert found == [
        ("id", 0, "9223372036854775809"),
        ("gone", 1, None),
        ("price", 2, "1.0"),
        ("tags[0]", 3, '"a"'),
        ("tags[1]", 3, "null"),
        ('inside."left out"', 4, None),
    ]
    assert document["values"][0]["span"] == [0, 4]
    tags = {"items": [3, 4], "path": "tags", "field": "tags", "type": page["types"][-1]["items"], "empty": None}
    members = [("id", 0), ("gone", 1), ("price", 2), ("tags", tags), ("inside", {"members": [("left out", 5)]})]
    assert document["data"] == {"members": members}
    assert given.data == {"id": 2**63 + 1, "price": 1.0, "tags": ["a", None], "inside": {}}


def test_an_answer_of_one_value_has_an_empty_path() -> None:
    (document,) = to_data([extraction("yes", True, {"": Evidence((0, 3), "normalised", 1.0)})])["documents"]
    assert document["data"] == 0
    assert [(one["path"], one["json"], one["band"]) for one in document["values"]] == [("", "true", "good")]


def test_documents_that_are_the_same_have_ids_of_their_own() -> None:
    """And the same ids wherever else they stand, so that decisions on them can be put together."""
    once, twice = (extraction(text, [], {}) for text in ("one", "two"))
    ids = [one["id"] for one in to_data([once, twice, once])["documents"]]
    assert len({*ids}) == 3
    assert ids[2] == f"{ids[0]}-2"
    assert ids[1] == to_data([twice])["documents"][0]["id"]


def test_decisions_are_kept_for_the_same_extractions_alone() -> None:
    """The digest that they are kept under tells the values apart, too."""
    digests = [to_data(purchases(count))["digest"] for count in (2, 2, 3)]
    other = extraction("one", ["two"], {"[0]": Evidence(None, "none", 0.5)})
    surer = extraction("one", ["two"], {"[0]": Evidence(None, "none", 0.75)})
    assert digests[0] == digests[1] != digests[2]
    assert to_data([other])["digest"] != to_data([surer])["digest"]


@given(INVOICES)
def test_every_value_of_a_type_can_be_written_in_its_place(invoice: Invoice) -> None:
    """As one of its choices, or in one of its kinds; an empty list and an empty object have a place, too."""
    data = resolve_type(Invoice).plain(invoice)
    page = to_data([made(invoice, data)])
    values = {one["path"]: json.loads(one["json"]) for one in page["documents"][0]["values"]}
    for path, allowed in types_by_path(page).items():
        value = values[path]
        is_chosen = json.dumps(value) in allowed["choices"]
        assert value in ([], {}) or is_chosen or any(isinstance(value, FORMS[kind]) for kind in allowed["kinds"])
    assert {path for path, value in values.items() if value == []} >= {
        name for name in ("lines", "numbers") if not data[name]
    }


def test_a_value_that_the_type_rejects_has_no_place_in_it() -> None:
    """Each leaf has what its type allows, and no more: no text for an enum, a number or a date."""
    text = (
        '{"currency": "EUR", "paid": true, "issued": "2024-03-14", "due": null, "sent": "2024-03-14T10:00:00", '
        '"opens": "10:00:00", "how": "cash", "count": 1, "weight": 1.5, "lines": [], "numbers": [], "pair": [1, "a"], '
        '"labels": {}}'
    )
    page = to_data([made(Invoice.model_validate_json(text), json.loads(text))])
    found = {path: (one["kinds"], one["choices"]) for path, one in types_by_path(page).items()}
    assert found == {
        "currency": ([], ['"EUR"', '"USD"']),
        "paid": ([], ["true", "false"]),
        "issued": (["date"], []),
        "due": (["date"], ["null"]),
        "sent": (["date-time"], []),
        "opens": (["time"], []),
        "how": ([], ['"cash"', "1", "null"]),
        "count": (["integer"], []),
        "weight": (["number"], []),
        "lines": ([], []),
        "numbers": ([], []),
        "pair[0]": (["integer"], []),
        "pair[1]": (["text"], []),
        "labels": ([], []),
    }
    added = {one["path"]: page["types"][one["type"]] for one in lists_in(page["documents"][0]["data"]) if one["type"]}
    assert added["numbers"]["kinds"] == ["integer"]
    assert [name for name, _, _ in added["lines"]["members"]] == ["item", "price", "tags"]
    assert "pair" not in added  # a tuple has the items that it has


def test_extractions_that_one_type_made_tell_of_it_together() -> None:
    """An empty list is known by the items of another document, and what is missing by an instance."""
    line = Line("Ink", Decimal("1.50"), [])
    data = [{"item": "Ink", "price": 1.5, "tags": []}]
    full, empty, other = made([line], data, "lines"), made([], [], "lines"), made([], [], "texts")
    page = to_data([full, empty, other])
    (known,), (unknown,) = (list(lists_in(page["documents"][place]["data"])) for place in (1, 2))
    assert [name for name, _, _ in page["types"][known["type"]]["members"]] == ["item", "price", "tags"]
    assert (known["empty"], unknown["type"]) == (0, None)
    lacking = made(None, {"item": "Ink", "tags": []}, "line")
    lacking.evidence["price"] = Evidence(None, "absent")  # type: ignore[index]
    page = to_data([lacking, made(line, data[0], "line")])
    assert types_by_path(page)["price"]["kinds"] == ["number"]


def test_plain_data_allows_what_it_shows_and_null() -> None:
    """Whole numbers may be others, since nobody knows that they may not."""
    schema = JsonSchema({"type": "object", "properties": {"a": {"type": "number"}, "b": {}}})
    value = resolve_type(schema).parse('{"a": 1, "b": [{"c": "x"}]}')
    page = to_data([made(value, value)])
    assert [(one["kinds"], one["choices"]) for one in types_by_path(page).values()] == [
        (["number"], ["null"]),
        (["text"], ["null"]),
    ]
    (rows,) = lists_in(page["documents"][0]["data"])
    assert [name for name, _, _ in page["types"][rows["type"]]["members"]] == ["c"]


def test_numbers_and_dates_that_a_document_states_are_in_the_page_where_they_can_be_written() -> None:
    """With all that they can mean, at their places in UTF-16."""
    document = "\U0001f642 1.149,70 on 03/04/2024"
    evidence = {"": Evidence(None, "none")}
    given: list[Result[Any]] = [
        made_result(1.5, 1.5, (), evidence, document),
        made_result(dt.date(2024, 1, 1), "2024-01-01", (), evidence, document),
    ]
    number, both = to_data(given[:1])["documents"], to_data(given)["documents"]
    assert number[0]["stated"].keys() == {"number"}
    assert number[0]["stated"]["number"][0] == (3, 11, ["1149.70"])
    assert both[1]["stated"]["date"] == [(15, 25, ["2024-04-03", "2024-03-04"])]
    texts = to_data([extraction("5 on 2024-01-01", "x", {"": Evidence(None, "none")})])
    assert texts["documents"][0]["stated"] == {}


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (
            PromptError("No text."),
            TypeError,
            "results[1] is PromptError('No text.'), not a Result",
        ),
        (
            extraction("Ana", {"name": "Ana"}, {}),
            ValueError,
            "results[1] has no evidence for 'name'. Pass a result with",
        ),
        (
            extraction("Ana", "Ana", {"": Evidence((0, 4), "exact")}),
            ValueError,
            "results[1].evidence[''].span is (0, 4), and the document has 3 characters.",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path: Path, given: Any, error: type[Exception], told: str) -> None:
    """With the place and what to do; and no page is written."""
    page = tmp_path / "review.html"
    with pytest.raises(error, match=re.escape(told)):
        report([*purchases(1), given], page)
    assert not page.exists()


def test_one_extraction_is_a_report_of_one(tmp_path: Path) -> None:
    (one,) = purchases(1)
    page = report(one, tmp_path / "review.html").read_text(encoding="utf-8")
    assert page == to_page([one], "Review")


def test_a_report_is_one_file_that_fetches_nothing(tmp_path: Path) -> None:
    """From an iterator, at a path as text; an older file is replaced."""
    page = tmp_path / "review.html"
    page.write_text("old")
    assert report(iter(purchases(3)), str(page), title=HOSTILE) == page
    elements = Elements(page.read_text(encoding="utf-8"))
    assert not [found for found in elements.found if {"src", "href"} & found[1].keys() or found[0] == "link"]
    assert elements.text("h1").rstrip() == HOSTILE.encode(errors="backslashreplace").decode()
    assert "url(" not in elements.text("style")
    assert [path.name for path in tmp_path.iterdir()] == ["review.html"]


def test_results_of_a_batch_are_listed_by_id_and_those_that_failed_by_their_error(tmp_path: Path) -> None:
    made = purchases(2)
    results: list[Any] = [
        replaced(made[0], id="a"),
        Result("b", 1, "", error=PromptError("empty")),
        replaced(made[1], id="c"),
    ]
    listed, plain = to_data(results)["documents"], to_data(made)["documents"]
    assert [one["name"] for one in listed] == ["a", "b", "c"]
    assert [one["error"] for one in listed] == ["", "PromptError: empty", ""]
    assert [{**one, "name": ""} for one in (listed[0], listed[2])] == [{**one, "name": ""} for one in plain]
    assert listed[1]["values"] == []
    with pytest.raises(TypeError, match=r"results\[0\] is 5, not a Result"):
        report([5], tmp_path / "none.html")  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"Pass read_results\('out\.jsonl', Type\)"):
        report("out.jsonl", tmp_path / "none.html")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match=r"none\.html cannot be written: No such file or directory"):
        report(made, tmp_path / "no folder" / "none.html")


def replaced(result: Result[Any], **changes: Any) -> Result[Any]:
    """Return a result with other members."""
    twin = copy.copy(result)
    vars(twin).update(changes)
    return twin
