"""A server in this process, the models that it serves in tests, and those who ask it."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits

from structured.models import FunctionModel, LanguageModel

openai = pytest.importorskip("openai", reason="The extra test has OpenAI's client.")
uvicorn = pytest.importorskip("uvicorn", reason="The extra serve runs a server.")

from structured.integrations.server.app import create_app  # noqa: E402  once there is FastAPI
from structured.integrations.server.connections import connection_class  # noqa: E402
from structured.integrations.server.limits import Limits  # noqa: E402

TOKENIZER = ByteTokenizer()


@contextmanager
def served(model: Any = None, *, send_buffer: int | None = None, **options: Any) -> Iterator[str]:
    """A server in a thread of this process, as `structured serve` runs it; its address."""
    with socket.socket() as listening:
        if send_buffer is not None:  # of the connections that it accepts
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listening.bind(("127.0.0.1", 0))
        protocol = connection_class(options.get("limits", Limits()).patience)
        config = uvicorn.Config(
            create_app(model, **options), http=protocol, log_level="warning", timeout_graceful_shutdown=30
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        wait_until(lambda: server.started or not thread.is_alive())
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


@contextmanager
def process_serving(cache: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server with the packaged model: its process, and its address."""
    log = cache.parent / f"{time.monotonic_ns()}.log"
    command = [sys.executable, "-m", "structured", "serve", "--port", "0", *options]
    environment = {**os.environ, "STRUCTURED_CACHE_DIR": str(cache), "PYTHONUNBUFFERED": "1"}
    with (
        log.open("wb") as written,
        subprocess.Popen(command, env=environment, stdout=written, stderr=written) as server,
    ):
        try:
            wait_until(lambda: "running on http" in log.read_text() or server.poll() is not None)
            found = log.read_text().partition("running on ")[2].split()
            assert found, log.read_text()
            yield server, found[0]
        finally:
            server.kill()


def random_model() -> LanguageModel:
    """A model that writes anything, and the same every time."""
    return FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)


class Held:
    """A model whose passes wait until they are allowed: what comes first in a test is then no matter of time."""

    def __init__(self) -> None:
        self.passes = threading.Semaphore(0)
        self.is_open = False
        self.begun: list[str] = []
        """The documents, in the order in which their answers were begun."""
        logits = random_logits(len(TOKENIZER.tokens))

        def scores(token_ids: Any) -> Any:
            found = re.search(rb"Text:\n(.*)\n", b"".join(TOKENIZER.tokens[one] or b"" for one in token_ids))
            if found and found[1].decode() not in self.begun:
                self.begun.append(found[1].decode())
            if not self.is_open:
                self.passes.acquire()
            return logits(token_ids)

        self.model = FunctionModel(scores, TOKENIZER)

    def open(self) -> None:
        """Let all passes go on from now on."""
        self.is_open = True
        self.passes.release(1_000)


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def slow(seconds: float = 0.004) -> LanguageModel:
    """A model that takes its time for a pass."""
    logits = random_logits(len(TOKENIZER.tokens))

    def scores(token_ids: Any) -> Any:
        time.sleep(seconds)
        return logits(token_ids)

    return FunctionModel(scores, TOKENIZER)


def reciting(text: str) -> LanguageModel:
    """A model that says a text, and goes on with it wherever it stands."""
    said = text.encode()

    def scores(token_ids: Any) -> Any:
        read = b"".join(TOKENIZER.tokens[token_id] or b"" for token_id in token_ids)
        place = max(length for length in range(len(said) + 1) if read.endswith(said[:length]))
        following = TOKENIZER.tokens.index(said[place : place + 1]) if place < len(said) else TOKENIZER.end_token_ids[0]
        return np.eye(len(TOKENIZER.tokens), dtype=np.float32)[following] * 100

    return FunctionModel(scores, TOKENIZER)


@contextmanager
def posted(
    address: str, path: str, body: object, *, withheld: int = 0, receive_buffer: int | None = None
) -> Iterator[socket.socket]:
    """The connection on which a request was sent, without its last bytes; at the end the client hangs up."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    with connection_to(address, receive_buffer) as connection:
        connection.sendall(head.encode() + data[: len(data) - withheld])
        yield connection


def connection_to(address: str, receive_buffer: int | None = None) -> socket.socket:
    """A connection to a server."""
    host, port = address.removeprefix("http://").split(":")
    connection = socket.socket()
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(60)
    try:
        connection.connect((host, int(port)))
    except OSError:
        connection.close()
        raise
    return connection


def is_listening(address: str) -> bool:
    """Whether a server takes connections."""
    try:
        connection_to(address).close()
    except ConnectionRefusedError:
        return False
    return True


def figure(address: str, name: str) -> float:
    """A figure of the server's metrics."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", httpx.get(f"{address}/metrics").text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def connected(address: str) -> Any:
    """OpenAI's client of a server."""
    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)


def ask(address: str, text: str, regex: str = "[ab]{40}", **options: Any) -> httpx.Response:
    return httpx.post(f"{address}/v1/regex", json={"text": text, "regex": regex, **options}, timeout=60)
