"""`/v1/extract` with a list of fields, and what its answer with evidence has."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from doubles import ByteTokenizer
from serving import served

from structured.integrations.server.limits import Limits
from structured.models.load import PACKAGED_MODEL
from structured.models.scripted import ScriptedModel

TEXT = "\U0001f642 Ana Brandt, 31, is a nurse."
FIELDS = "name: str, age: int | None, mail: str | None"
ANSWER = '{"name": "Ana Brandt", "age": 31, "mail": null}'


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    model = ScriptedModel(ANSWER, tokenizer=ByteTokenizer())
    with served(model, limits=Limits(schema=2_000), types={"number": int}) as found:
        yield found


def post(address: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{address}/v1/extract", json={"text": TEXT, **body}, timeout=60)


def test_fields_are_a_type(address: str) -> None:
    """The one that the command line makes of them."""
    found = post(address, fields=FIELDS)
    assert (found.status_code, found.json()) == (200, {"value": {"name": "Ana Brandt", "age": 31, "mail": None}})


def test_evidence_comes_with_its_places_and_the_cost(address: str) -> None:
    """Places are in characters; what the text does not state has none."""
    found = post(address, fields=FIELDS, evidence=True).json()
    rows = {row["path"]: row for row in found["evidence"]}
    assert [TEXT[row["start"] : row["end"]] for row in rows.values() if row["quote"]] == ["Ana Brandt", "31"]
    assert (rows["mail"]["match"], rows["mail"]["start"]) == ("absent", None)
    assert 0 <= found["confidence"] <= 1
    usage = found["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] > 0
    assert usage["completion_tokens"] > 0


def test_each_document_has_its_own_cost(address: str) -> None:
    found = post(address, fields=FIELDS, evidence=True, text=None, documents=[TEXT, TEXT]).json()["results"]
    assert [one["usage"] for one in found] == [post(address, fields=FIELDS, evidence=True).json()["usage"]] * 2


def test_the_usage_is_that_of_a_chat() -> None:
    """The same type and text cost as many tokens by either route."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    chat = {"messages": [{"role": "user", "content": TEXT}], "guided_json": schema}
    with served(PACKAGED_MODEL) as address:
        usage = httpx.post(f"{address}/v1/chat/completions", json=chat, timeout=60).json()["usage"]
        assert post(address, schema=schema, evidence=True).json()["usage"] == usage


@pytest.mark.parametrize(
    "asked", [{}, {"fields": "a: int", "schema": {}}, {"fields": "a: int", "type": "number"}, {"fields": None}]
)
def test_a_request_has_exactly_one_type(address: str, asked: dict[str, Any]) -> None:
    found = post(address, **asked)
    assert found.status_code == 400
    assert found.json()["error"]["message"] == "Exactly one of schema, type and fields is needed."


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("name: strng", "fields: 'strng' is no type here. Did you mean 'str'?\n\n  name: strng\n        ^^^^^"),
        ("", "fields: There is no field. Write name: str, say."),
        ("a: __import__('os').abort()", "fields: This is no type here."),
        ("a: int): pass\nimport os\ndef g(b: int", "fields: This is more than a list of fields"),
        ("a: " + "list[" * 190 + "int" + "]" * 190, "fields: its brackets are nested too deeply."),
        ("a: " + "list[" * 300 + "int" + "]" * 300, "fields: This cannot be read: too many nested parentheses."),
        (3, "fields: it should be a string."),
    ],
)
def test_wrong_fields_are_refused_by_name(address: str, fields: object, problem: str) -> None:
    """With their place, and without anything being run."""
    found = post(address, fields=fields)
    assert found.status_code == 400
    error = found.json()["error"]
    assert error["message"].startswith(problem)
    assert error["param"] == "fields"


def test_fields_have_a_limit(address: str) -> None:
    found = post(address, fields=", ".join(f"a{number}: int" for number in range(300)))
    assert (found.status_code, found.json()["error"]["param"]) == (413, "fields")
