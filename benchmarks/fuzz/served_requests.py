"""Requests to the HTTP server, changed in their structure or bytes: it answers, or says in JSON what is wrong."""

import json
import random
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial

REQUESTS = 12
"""Requests of a case."""

_SIZES = (0, -1, 2**31, 2**63, 2**64, 10**400, 1e308, 0.1, -0.0, True)
_PUT = (
    b"\0",
    b"\xff",
    b"\\ud800",
    b'"',
    b"{",
    b"}",
    b"]",
    b",",
    b"NaN",
    b"1e999",
    b"\xef\xbb\xbf",
    b"\\u0000",
    b"null",
)
_PATHS = ("models/x%00", "models/%ff", "nothing", "models", "extract/", "../metrics")


class Order(BaseModel):
    """A type that the server offers by its name."""

    code: Annotated[str, Field(pattern="^[A-Z]+$", max_length=3)]
    price: Annotated[Decimal, Field(max_digits=3, decimal_places=1)]
    when: date | None = None


def try_requests(trial: Trial) -> None:
    """Send changed requests."""
    rng, client = trial.case.random(), _client()
    requests = support("odd_requests")
    for _ in range(REQUESTS):
        path, body = _request(requests, rng)
        try:
            content = json.dumps(body).encode("utf-8", "surrogatepass")
        except RecursionError:
            continue
        if rng.random() < 0.35:
            content = _torn(content, rng)
        kind = rng.choice(("application/json",) * 12 + ("text/plain", "application/json; charset=utf-16", ""))
        trial.shown = f"POST /v1/{path} {kind} {content[:3000]!r}"
        trial.answers += 1
        _check(trial, client.post(f"/v1/{path}", content=content, headers={"Content-Type": kind}))
    if rng.random() < 0.2:
        path = rng.choice(_PATHS)
        trial.shown = f"GET /v1/{path}"
        _check(trial, client.get(f"/v1/{path}"))


def _check(trial: Trial, response: Any) -> None:
    """Note an answer that is none of the client's faults, or an error without its form."""
    status, text = response.status_code, response.text
    if status >= 500 or "server_error" in text:
        trial.fail("raw error", f"{status}: {text[:300]}")
    elif status >= 400:
        try:
            known = json.loads(text)["error"].keys() >= {"message", "type", "param", "code"}
        except (ValueError, TypeError, KeyError, AttributeError):
            known = False
        if not known:
            trial.fail("invalid", f"{status} without an error in JSON: {text[:300]}")
        trial.refusals[str(status)] += 1
    elif "event-stream" not in response.headers.get("content-type", "") and trial.shown.startswith("POST"):
        json.loads(text)


@cache
def _client() -> Any:
    """Return a client of a server in this process, with a model that writes anything."""
    from starlette.testclient import TestClient

    from structured.integrations.server.app import create_app
    from structured.integrations.server.limits import Limits
    from structured.models import FunctionModel

    doubles = support("doubles")
    tokenizer = doubles.ByteTokenizer()
    model = FunctionModel(doubles.random_logits(len(tokenizer.tokens)), tokenizer)
    app = create_app(model, types={"order": Order}, limits=Limits(max_tokens=60, seconds=15.0))
    client = TestClient(app, raise_server_exceptions=False)
    client.__enter__()  # until the process ends
    return client


def _request(requests: Any, rng: random.Random) -> tuple[str, Any]:
    """Return a request with a few members of its own, some of them strange."""
    fields = {**requests.FIELDS, "responses": ({"input": "a"}, _RESPONSES)}
    path = rng.choice(sorted(fields))
    required, optional = fields[path]
    body: Any = {
        **required,
        **{name: optional[name] for name in rng.sample(sorted(optional), rng.randrange(min(4, len(optional) + 1)))},
    }
    body = json.loads(json.dumps(body))
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        places = list(_places(body))
        body = _put(body, rng.choice(places), _strange(requests, body, rng), rng)
    return path, body


_RESPONSES: dict[str, Any] = {
    "instructions": "i",
    "max_output_tokens": 30,
    "temperature": 0.5,
    "top_p": 0.9,
    "stream": True,
    "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "integer"}, "strict": True}},
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "store": False,
}


def _places(data: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where something stands in plain data."""
    yield above
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, member in members:
        yield from _places(member, (*above, key))


def _put(data: Any, place: tuple[Any, ...], value: Any, rng: random.Random) -> Any:
    """Return plain data with something in one place, under another name, or without what was there."""
    if not place:
        return value if rng.random() < 0.1 or not isinstance(data, dict) else {**data, "extra": value}
    key, *inside = place
    copied = data.copy()
    if inside:
        copied[key] = _put(data[key], tuple(inside), value, rng)
        return copied
    match rng.randrange(8):
        case 0:
            del copied[key]
        case 1 if isinstance(copied, dict):
            copied[rng.choice(("", "type", "$ref", "\ud800", "constructor", str(key).upper()))] = copied.pop(key)
        case 2:
            copied[key] = [copied[key]]
        case _:
            copied[key] = value
    return copied


def _strange(requests: Any, body: Any, rng: random.Random) -> Any:
    """Return something strange: of the tests, a number at some limit, a part of the request, or a random schema."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(requests.NASTY)
    if kind < 0.65:
        return rng.choice(_SIZES)
    if kind < 0.8:
        from benchmarks.fuzz.random_schemas import Maker

        return Maker(rng).document()
    if kind < 0.85:
        from benchmarks.fuzz.expressions import random_expression

        return random_expression(rng)
    found = body
    for key in rng.choice(list(_places(body))):
        found = found[key]
    return found


def _torn(content: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(4):
            case 0:
                content = content[:at]
            case 1:
                content = content[:at] + rng.choice(_PUT) + content[at + rng.randrange(3) :]
            case 2:
                content = content[:at] + content[at : at + 1] * rng.choice((2, 300)) + content[at:]
            case 3:
                content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    return content
