"""Faults around the server: whatever a client sends or leaves out, others are answered, and the answer is honest."""

import json
import re
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import httpx
import pytest
from hostile import HOSTILE, SECONDS
from hypothesis import given
from hypothesis import strategies as st
from odd_requests import FIELDS, NASTY, TOOL, user
from pydantic import BaseModel, Field
from serving import ask, connection_to, figure, posted, random_model, served, wait_until

from structured import Grammar, JsonSchema, Regex, functions
from structured.integrations.server.limits import Limits
from structured.output_types import Tool
from structured.output_types.described_types import type_to_data
from structured.output_types.resolve import resolve_type


@pytest.fixture(scope="module")
def address() -> Any:
    with served(random_model(), types={"order": int}, limits=Limits(max_tokens=60)) as found:
        yield found


CHATS = 'structured_requests_total{path="/v1/chat/completions",status="200"}'


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
        assert found.json()["error"].keys() - {"fields"} == {"message", "type", "param", "code"}


PYTHON = re.compile(r"\b(None|True|False|dict|list|tuple|Mapping|str|NonTerminal|Tool|inspect_type)\b|\w+\(|[{]'")
"""Words of Python, which say nothing to a client of another language."""


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        *(
            ("chat/completions", {"messages": user("a"), "tools": [tool]}, told)
            for tool, told in (
                ({}, "{} is no tool of OpenAI's API"),
                ({"type": "function", "function": {"name": ""}}, '"function": {"name": ""}} is no tool'),
                (
                    {**TOOL, "function": {"name": "f", "parameters": 1}},
                    "parameters of the tool 'f' should be an object",
                ),
                (
                    {**TOOL, "function": {"name": "f", "description": {}}},
                    "description of the tool 'f' should be a text",
                ),
                ({**TOOL, "function": {"name": "f", "strict": "no"}}, "strict of the tool 'f' should be true or false"),
            )
        ),
        *(
            ("chat/completions", {"messages": user("a"), "structured_outputs": {"constraint": constraint}}, told)
            for constraint, told in (
                ({"type": {}, "choices": []}, "The constraint 'type' has the unknown member 'choices'"),
                ({"json": {}, "strict": True}, "The constraint 'json' has the unknown member 'strict'"),
                ({"regex": "a", "start": "b"}, "The constraint 'regex' has the unknown member 'start'"),
            )
        ),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"type": [1]}]}]}, "parts of the type [1] are"),
        ("responses", {"input": "a", "tools": [{"name": "f"}]}, "one has null"),
        ("responses", {"input": [{"role": "assistant", "content": "a"}]}, "A message of input, the last, has the role"),
        ("responses", {"input": "a", "background": True}, "background: nothing is stored here"),
        ("completions", {"prompt": "a", "echo": True}, "echo: it should be false"),
        ("grammar", {"text": "a", "grammar": "start: a a"}, "'a' used but not defined"),
        ("grammar", {"text": "a", "grammar": 'start: "a"', "start": "b"}, "undefined rule: 'b'"),
        ("grammar", {"text": "a", "grammar": 'start: "a"\n%ignore B'}, "The ignored terminal 'B' is not defined"),
        ("extract", {"text": "a", "fields": "name: str", "grounded": ["x.y"]}, "the path 'x.y'. There are 'name'."),
    ],
)
def test_a_refusal_has_no_name_of_python(address: str, path: str, body: dict[str, Any], told: str) -> None:
    found = httpx.post(f"{address}/v1/{path}", json=body)
    assert found.status_code == 400
    assert told in found.json()["error"]["message"]
    assert not PYTHON.search(found.json()["error"]["message"])


class Order(BaseModel):
    code: Annotated[str, Field(pattern="^[A-Z]+$", max_length=3)]
    price: Annotated[Decimal, Field(max_digits=3, decimal_places=1)]
    tags: dict[Annotated[int, Field(ge=1)], set[bool]]
    when: date | None = None
    parts: "list[Order]" = []


DESCRIBED = [
    type_to_data(resolve_type(one))
    for one in (
        Order,
        JsonSchema({"type": "array", "items": {"$ref": "other"}}, documents={"other": {"enum": [1, "a"]}}),
        Regex("[a-c]{2}", flags=2),
        Grammar('start: "a"', description="An a."),
        functions(Tool("f", {"properties": {"a": {"type": "integer"}}})),
    )
]
STRANGE: list[Any] = [
    *(one for one in NASTY if one != "\ud800"),
    *(
        {"type": "string", "grounded on": "words"},
        {"type": "integer", "grounded on": 5},
        {"$ref": "#/$defs/Order"},
        {"type": ["integer", 5]},
        {"enum": {}},
    ),
    *(2**70, -1, "#/$defs/Order", "#", "decimal", "python-re", [[["a"]]], {"items": {"items": None}}),
]


def places(data: Any) -> list[tuple[Any, ...]]:
    """Where something stands in plain data."""
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [(), *((key, *inside) for key, member in members for inside in places(member))]


def changed(data: Any, place: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """Plain data with something else in one place."""
    if not place:
        return change(data)
    key, *inside = place
    copied = data.copy()
    copied[key] = changed(data[key], tuple(inside), change)
    return copied


@st.composite
def described(draw: st.DrawFn) -> Any:
    """What a client may send in place of a described type: one with something strange in it, or without something."""
    data = draw(st.sampled_from(DESCRIBED))
    strange = st.sampled_from([*STRANGE, *(key for one in DESCRIBED for place in places(one) for key in place)])
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from([place for place in places(data) if place]))
        value, name = draw(strange), draw(strange.filter(lambda one: isinstance(one, str)))
        data = changed(data, place, lambda old: {**old, name: value} if isinstance(old, dict) and name else value)  # noqa: B023
    return data


@pytest.mark.thorough
@given(described())
def test_whatever_is_in_a_described_type_the_server_does_not_fail(address: str, data: Any) -> None:
    body = {"messages": user("a"), "structured_outputs": {"constraint": data}, "max_tokens": 40}
    found = httpx.post(
        f"{address}/v1/chat/completions",
        content=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    assert 200 <= found.status_code < 500, (data, found.text)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"choice": ["x" * 200_001]}, "200,000 are taken"),
        ({"type": {"type": "string", "grounded on": "words"}}, "a server cannot enforce"),
        ({"python": "int"}, "it must have one of type, json, regex, choice, grammar"),
        ({"grammar": "start: NAME\n%import python.NAME", "indenter": "PythonIndenter"}, "indenter"),
        ({"json": {"$ref": "http://127.0.0.1:1/a"}}, "does not exist"),
    ],
)
def test_a_described_type_is_limited_and_names_no_code(address: str, data: Any, said: str) -> None:
    asked = {"messages": user("a"), "structured_outputs": {"constraint": data}}
    found = httpx.post(f"{address}/v1/chat/completions", json=asked, timeout=60)
    assert found.status_code in {400, 413}
    assert said in found.json()["error"]["message"]
    assert found.json()["error"]["param"] in {"structured_outputs", "The constraint"}


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


def test_a_client_that_does_not_read_holds_no_row_and_is_cut_off() -> None:
    """Its text is written to the end, and another is answered; then its connection is closed, mid-answer."""
    body = {"messages": user("a"), "guided_regex": "[ab]{6000}", "max_tokens": 4000, "stream": True, "logprobs": True}
    body |= {"stop_repetition": False}  # some 300 kB, or all may fit into what lies between server and client
    limits = Limits(running=1, max_tokens=4000, patience=0.5)
    with (
        served(random_model(), limits=limits, send_buffer=4096) as address,
        posted(address, "/v1/chat/completions", body, receive_buffer=4096) as connection,
    ):
        read = connection.recv(1)
        assert ask(address, "another", "[ab]{4}").status_code == 200
        wait_until(lambda: figure(address, CHATS) == 1)
        time.sleep(3 * limits.patience)  # a fast machine is there before its patience has ended
        with suppress(ConnectionResetError):
            while more := connection.recv(4000):
                read += more
    assert b"data: [DONE]" not in read


def test_a_client_that_reads_slowly_gets_all() -> None:
    """Patience is for those who read nothing: who goes on reads on."""
    body = {"messages": user("a"), "guided_regex": "[ab]{300}", "max_tokens": 2000, "stream": True}
    limits = Limits(max_tokens=2000, patience=5)
    with (
        served(random_model(), limits=limits, send_buffer=4096) as address,
        posted(address, "/v1/chat/completions", body, receive_buffer=4096) as connection,
    ):
        read = b""
        while not read.endswith(b"0\r\n\r\n"):
            read += connection.recv(2000)
            time.sleep(0.01)
    assert b"data: [DONE]" in read


def received(connection: socket.socket, end: bytes) -> bytes:
    """Return what comes until it ends so; head and body may come one after the other."""
    read = b""
    while not read.endswith(end):
        more = connection.recv(4000)
        assert more, read
        read += more
    return read


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    with served(random_model(), limits=Limits(patience=0.5)) as address:
        with posted(address, "/v1/regex", {"text": "a", "regex": "a"}, withheld=1) as connection:
            answer = received(connection, b"}}")
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b"has not come in 0.5 seconds" in answer
        assert ask(address, "a", "a").status_code == 200


@pytest.mark.parametrize("head", [b"", b"GET /healthz HTTP/1.1\r\nHost:"])
@pytest.mark.parametrize("earlier", [b"", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_a_request_that_does_not_come_is_not_waited_for(earlier: bytes, head: bytes) -> None:
    """Neither the first of a connection nor the next; one that has nothing to say may stay for a while."""
    with served(random_model(), limits=Limits(patience=0.5)) as address, connection_to(address) as connection:
        connection.sendall(earlier)
        assert not earlier or received(connection, b"ok").startswith(b"HTTP/1.1 200 ")
        connection.sendall(head)
        if earlier and not head:
            connection.settimeout(1.5)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        else:
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SECONDS)) for name in HOSTILE])
def test_what_is_made_to_cost_much_costs_others_little(address: str, name: str) -> None:
    """It is answered or refused, and another client is answered while it is looked at."""
    path, body = HOSTILE[name]
    headers = {"Content-Type": "application/json"}
    with ThreadPoolExecutor(1) as pool:
        hostile = pool.submit(httpx.post, f"{address}/v1/{path}", content=body, headers=headers, timeout=120)
        others = [ask(address, "a", "[ab]{4}")]
        while not hostile.done():
            others.append(ask(address, "a", "[ab]{4}"))
    found = hostile.result()
    assert found.status_code in {200, 400, 413, 422}, found.text
    assert found.status_code == 200 or found.json()["error"]["message"]
    assert {one.status_code for one in others} == {200}
