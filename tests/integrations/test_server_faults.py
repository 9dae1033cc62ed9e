"""Faults around the server: whatever a client sends or leaves out, others are answered, and the answer is honest."""

import json
from typing import Any

import httpx
import pytest
from doubles import random_logits
from hypothesis import given
from hypothesis import strategies as st
from serving import TOKENIZER, ask, served, user

from structured.integrations.server.limits import Limits
from structured.models import FunctionModel


@pytest.fixture(scope="module")
def address() -> Any:
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    with served(model, types={"order": int}, limits=Limits(max_tokens=60)) as found:
        yield found


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}
FORM = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": [1]}}}
FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chat/completions": (
        {"messages": user("a")},
        {
            "model": "default", "temperature": 1, "top_p": 0.5, "top_k": 3, "min_p": 0.1, "seed": 1, "n": 2,
            "max_tokens": 40, "max_completion_tokens": 30, "stop": ["x"], "stream": True, "user": "u",
            "stream_options": {"include_usage": True}, "frequency_penalty": 0, "presence_penalty": 0,
            "logit_bias": {}, "structured_outputs": {"regex": "a"}, "guided_json": {"enum": [1]},
            "guided_regex": "a", "guided_choice": ["a"], "guided_grammar": 'start: "a"', "response_format": FORM,
            "tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": True, "logprobs": True,
            "top_logprobs": 0, "store": True, "metadata": {}, "service_tier": "auto",
        },
    ),
    "completions": (
        {"prompt": "a"},
        {"logprobs": 1, "echo": False, "best_of": 1, "suffix": None, "stream": True, "guided_regex": "a"},
    ),
    "extract": (
        {"text": "a", "schema": {"enum": [1, "a"]}},
        {
            "type": "order", "documents": ["a"], "instructions": "i", "system": "s", "temperature": 0.5, "seed": 3,
            "max_tokens": 30, "evidence": True,
        },
    ),
    "choose": ({"text": "a", "choices": ["a", "b"]}, {"model": "default"}),
    "regex": ({"text": "a", "regex": "a"}, {"dialect": "rust"}),
    "grammar": ({"text": "a", "grammar": 'start: "a"'}, {"start": "start"}),
}  # fmt: skip
"""What a request of each path must have, and may have."""

NASTY: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.5, 1e308, 10**30, float("nan"), float("inf")),
    *("", "a", "\ud800", "\x00", "\ufeff", "é€🙂", "</s>", "x" * 3000, "(", "[", "a{5}", "a" * 50, "<a>"),
    *("start: start", 'start: "a"', "start: /(/", "%import python.file_input", "%import common.INT\nstart: INT"),
    *([], [1], [None], [[]], ["a"], ["\ud800"], [{}], [TOOL] * 129, [{"type": "function", "function": {"name": ""}}]),
    *({}, {"a": 1}, {"\ud800": 1}, {"type": "object"}, {"type": 1}, {"$ref": "#"}, {"const": float("nan")}),
    *({"type": "json_schema"}, {"regex": "("}, {"json": {"type": 1}}, {"json": "{"}, {"type": "text"}),
    *(user(""), user("\ud800"), [{"role": "system", "content": "a"}], [{"role": "assistant", "content": "a"}]),
    *([{"role": "tool", "content": "a", "tool_call_id": "b"}], {"type": "function", "function": {"name": "g"}}),
]


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A request with one member that may be anything, of the right kind more often than not."""
    path = draw(st.sampled_from(sorted(FIELDS)))
    required, optional = FIELDS[path]
    body = {
        **required,
        **{name: optional[name] for name in draw(st.sets(st.sampled_from(sorted(optional)), max_size=2))},
    }
    name = draw(st.sampled_from(sorted({*required, *optional})))
    known = {**required, **optional}[name]
    alike = [one for one in NASTY if isinstance(one, type(known))] or NASTY
    return path, {**body, name: draw(st.sampled_from(alike) | st.sampled_from(NASTY))}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::structured.BudgetWarning", "ignore::structured.RepetitionWarning")
@given(bodies())
def test_whatever_is_in_a_member_the_server_does_not_fail(address: str, asked: tuple[str, dict[str, Any]]) -> None:
    """It answers, or says what is wrong: with a status of the client's, in OpenAI's form."""
    path, body = asked
    content = json.dumps(body).encode()
    found = httpx.post(
        f"{address}/v1/{path}", content=content, headers={"Content-Type": "application/json"}, timeout=60
    )
    assert 200 <= found.status_code < 500, found.text
    assert "server_error" not in found.text
    if found.status_code >= 400:
        assert found.json()["error"].keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("constraint", "said"),
    [({"guided_regex": "("}, "unterminated subpattern"), ({"guided_regex": "a{90}", "max_tokens": 2}, "max_tokens")],
)
def test_a_stream_of_what_is_wrong_is_none(address: str, constraint: dict[str, Any], said: str) -> None:
    """The status tells it, as without a stream."""
    for stream in (False, True):
        asked = {"messages": user("a"), "stream": stream, **constraint}
        found = httpx.post(f"{address}/v1/chat/completions", json=asked, timeout=60)
        assert found.status_code == 400
        assert said in found.json()["error"]["message"]
    assert ask(address, "a", "a").status_code == 200
