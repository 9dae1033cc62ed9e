"""Requests of the server: none is taken for another, and what is no request is refused by what is wrong with it."""

import json
import re
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from serving import TOKENIZER, served

from structured.integrations.server.request_bodies import (
    ChatRequest,
    ChooseRequest,
    CompletionRequest,
    ExtractRequest,
    GrammarRequest,
    RegexRequest,
    RequestBody,
)
from structured.integrations.server.responses_api import ResponsesRequest
from structured.models.scripted import ScriptedModel

NUMBERS = st.integers() | st.floats() | st.sampled_from([0, 0.0, -0.0, 1, 1.0, 1e308])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def key_of(kind: type[Any], **members: Any) -> str | None:
    """The key of a request; None if it is refused."""
    try:
        key: str = kind(**members).constraint_key
    except ValidationError:
        return None
    return key


@given(JSON, JSON)
def test_requests_with_one_key_ask_for_the_same(one: Any, other: Any) -> None:
    """To the last digit and the type of each number; what has no key is no JSON."""
    keys = [key_of(ExtractRequest, text="a", schema={"const": value}) for value in (one, other)]
    guided = [key_of(ChatRequest, messages=[{"role": "user", "content": "a"}], guided_json={"a": one}), keys[0]]
    assert (keys[0] == keys[1] is not None) == (written(one) == written(other) is not None)
    assert [key is None for key in guided] == [written(one) is None] * 2


def test_requests_with_one_key_ask_in_the_same_way() -> None:
    """Of another member, of another endpoint, and with other instructions."""
    asked = {"text": "a", "regex": "a"}
    keys = {
        key_of(RegexRequest, **asked),
        key_of(RegexRequest, **asked, dialect="rust"),
        key_of(RegexRequest, **asked, instructions="a"),
        key_of(RegexRequest, **asked, system="a"),
        key_of(ExtractRequest, text="a", type="a"),
        key_of(ExtractRequest, text="a", schema=True),
        key_of(ExtractRequest, text="a", fields="a"),
    }
    assert len(keys - {None}) == 7
    assert key_of(RegexRequest, **{**asked, "text": "b"}) in keys


def written(value: Any) -> str | None:
    """A value as JSON has it; None if it has none."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except ValueError:
        return None
    return text


INTEGERS = [
    (kind, name)
    for kind in (
        ChatRequest,
        ChooseRequest,
        CompletionRequest,
        ExtractRequest,
        GrammarRequest,
        RegexRequest,
        ResponsesRequest,
    )
    for name, field in kind.model_fields.items()
    if re.search(r"\bint\b", str(field.annotation))
]


@pytest.mark.parametrize(("kind", "name"), INTEGERS)
@pytest.mark.parametrize("value", [True, False, 1.0, "1"])
def test_only_an_integer_is_an_integer(kind: type[RequestBody], name: str, value: Any) -> None:
    """As OpenAI's server has it: Python takes true for 1, and Pydantic 1.0 and "1"."""
    with pytest.raises(ValidationError) as caught:
        kind.model_validate({name: value})
    assert "int_type" in [fault["type"] for fault in caught.value.errors() if fault["loc"][0] == name]


def test_each_kind_of_request_has_integers() -> None:
    assert {"n", "seed", "top_k", "max_tokens", "top_logprobs", "best_of", "logprobs"} <= {name for _, name in INTEGERS}
    assert len(INTEGERS) >= 20


@pytest.fixture(scope="module")
def address() -> Any:
    with served(ScriptedModel("3", tokenizer=TOKENIZER)) as found:
        yield found


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_refused(address: str, number: str) -> None:
    """Also behind a request for null, which its key would be the same as."""
    for value in ("null", number):
        content = f'{{"schema": {{"enum": [3, {value}]}}, "text": "3"}}'
        found = httpx.post(f"{address}/v1/extract", content=content, headers={"Content-Type": "application/json"})
        assert found.status_code == (200 if value == "null" else 400)
    assert "not finite" in found.json()["error"]["message"]


@pytest.mark.parametrize(
    ("kind", "is_taken"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/vnd.api+json", True),
        (None, False),
        ("", False),
        ("text/plain", False),
        ("application/x-www-form-urlencoded", False),
        ("text/json", False),
        ("multipart/form-data; boundary=application/json", False),
    ],
)
def test_a_body_says_that_it_is_json(address: str, kind: str | None, is_taken: bool) -> None:
    """What the page of another site can have a browser send without being asked is not read."""
    headers = {} if kind is None else {"Content-Type": kind}
    content = json.dumps({"schema": {"const": 3}, "text": "3"})
    found = httpx.post(f"{address}/v1/extract", content=content, headers=headers)
    assert found.status_code == (200 if is_taken else 415), found.text
    if not is_taken:
        assert "Content-Type: application/json" in found.json()["error"]["message"]
        assert (kind or "no Content-Type") in found.json()["error"]["message"]


@pytest.mark.parametrize("documents", [["3"], [""], ["", "3"], ["3", ""], ["", ""]])
def test_documents_have_results_and_a_text_has_one(address: str, documents: list[str]) -> None:
    """However many there are, and whatever becomes of them: an error is the result of its own document."""

    def answer(**asked: Any) -> httpx.Response:
        return httpx.post(f"{address}/v1/extract", json={"schema": {"const": 3}, **asked})

    alone = [answer(text=document) for document in documents]
    together = answer(documents=documents)
    assert together.status_code == 200
    for place, (one, found) in enumerate(zip(alone, together.json()["results"], strict=True)):
        if documents[place]:
            assert found == one.json()
        else:
            named = "The text" if len(documents) == 1 else f"Document {place}"
            assert found["error"]["message"].startswith(f"{named} is empty. ")
            assert found["error"]["code"] == one.json()["error"]["code"] == "PromptError"
    assert [one.status_code for one in alone] == [200 if document else 400 for document in documents]


@pytest.mark.parametrize("given", ["age", ["age", 3], 1, "true", None, {"age": True}])
def test_grounded_is_told_what_it_may_be(address: str, given: object) -> None:
    """A number or a text is no flag here, and the message names the list of paths."""
    body = {"schema": {"type": "integer"}, "text": "3", "grounded": given}
    found = httpx.post(f"{address}/v1/extract", json=body)
    assert found.status_code == 400
    told = 'grounded: it should be true, false or a list of paths, such as ["name", "lines[].price"].'
    assert found.json()["error"]["message"] == told
