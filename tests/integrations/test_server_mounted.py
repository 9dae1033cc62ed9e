"""The server inside another application: the same answers under a prefix."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from doubles import ByteTokenizer

pytest.importorskip("fastapi", reason="The extra serve has the server.")

from fastapi import FastAPI
from fastapi.testclient import TestClient

from structured.integrations.server.app import create_app
from structured.models.scripted import ScriptedModel

KEY = {"Authorization": "Bearer k"}
ASKED = {"text": "a", "regex": "a"}


def mounted(*, is_started: bool) -> FastAPI:
    app = create_app(ScriptedModel("a", tokenizer=ByteTokenizer()), api_key="k")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    outer = FastAPI(lifespan=lifespan if is_started else None)
    outer.mount("/ai", app)
    return outer


def test_mounted_it_answers_as_it_does_alone() -> None:
    """What needs no key needs none there, what needs one does, and requests are counted by their paths."""
    with TestClient(mounted(is_started=True)) as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert client.get(f"/ai{path}").status_code == 200
        assert client.get("/ai/v1/models").status_code == 401
        assert client.get("/ai/v1/models/healthz").status_code == 401
        assert client.get("/ai/ai/healthz").status_code == 401
        answer: Any = client.post("/ai/v1/regex", json=ASKED, headers=KEY)
        assert answer.json() == {"value": "a"}
        assert 'structured_requests_total{path="/v1/regex",status="200"} 1.0' in client.get("/ai/metrics").text


def test_not_started_it_says_how_to() -> None:
    with TestClient(mounted(is_started=False)) as client:
        for answer in (client.get("/ai/readyz"), client.post("/ai/v1/regex", json=ASKED, headers=KEY)):
            assert answer.status_code == 503
            assert "app.router.lifespan_context(app)" in answer.json()["error"]["message"]
        assert client.get("/ai/healthz").text == "ok"
