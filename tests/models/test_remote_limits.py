"""What a server may cost who asks it: the seconds of `timeout` and a number of bytes, whatever it sends."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from servers import Reply, chat, double, events

from structured import Extractor
from structured.errors import ServerError
from structured.integrations.model_servers.connection import MAX_ANSWER_BYTES
from structured.models import connect

pytest.importorskip("httpx", reason="The extra remote asks servers.")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def sending(pieces: Callable[[], Iterable[bytes]], *, seconds: float = 0.0, read_at_once: int = 0) -> Iterator[str]:
    """A server that sends what it is told to, waiting between, or only reads, a little at a time; its address."""
    ended = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                while read_at_once and not ended.wait(0.02):
                    connection.recv(read_at_once)
                connection.recv(2**20)
                for piece in pieces():
                    connection.sendall(piece)
                    if ended.wait(seconds):
                        return
            except OSError:
                return

    def accept(listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        yield f"openai://127.0.0.1:{listening.getsockname()[1]}/tiny"
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)


def forever(piece: bytes, before: bytes = b"") -> Callable[[], Iterator[bytes]]:
    def pieces() -> Iterator[bytes]:
        yield before
        while True:
            yield piece

    return pieces


def ask(address: str, is_stream: bool, **options: Any) -> Any:
    extractor = Extractor(int, model=connect(address, **{"retries": 0, **options}))
    return extractor.stream("a is 5").result() if is_stream else extractor("a is 5")


SLOW = {
    "body": (forever(b" ", HEAD + b"Content-Length: 100000\r\n\r\n"), 0.05),
    "chunks": (forever(b"1\r\n \r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"), 0.05),
    "comments": (forever(b"2\r\n:\n\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"), 0.05),
    "status line": (forever(b"X"), 0.05),
    "headers": (forever(b"a: b\r\n", HEAD), 0.05),
    "error": (forever(b" ", b"HTTP/1.1 400 Bad\r\nContent-Length: 100000\r\n\r\n"), 0.05),
    "interim answers": (forever(b"HTTP/1.1 100 Continue\r\n\r\n"), 0.05),
    "interim answers, fast": (forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 100), 0.0),
}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("kind", SLOW)
def test_an_answer_without_an_end_is_ended_after_the_timeout(kind: str, is_stream: bool) -> None:
    pieces, seconds = SLOW[kind]
    with sending(pieces, seconds=seconds) as address:
        start = time.monotonic()
        with pytest.raises(ServerError, match=r"not answered within 0\.7 seconds"):
            ask(address, is_stream, timeout=0.7)
        assert 0.6 < time.monotonic() - start < 5


def test_a_server_that_reads_slowly_is_not_waited_for() -> None:
    with sending(list, read_at_once=2**14) as address:
        asked = connect(address, timeout=0.5, retries=0)._connection
        start = time.monotonic()
        with pytest.raises(ServerError, match=r"not answered within 0\.5 seconds"):
            asked.post("/", "x" * 2**25, lambda data: data)
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad"])
def test_an_answer_of_any_length_is_not_read(status: bytes, is_stream: bool) -> None:
    head = b"HTTP/1.1 " + status + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    told = f"sent more than {MAX_ANSWER_BYTES:,} bytes"
    with (
        sending(forever(b"100000\r\n" + b" " * 2**20 + b"\r\n", head)) as address,
        pytest.raises(ServerError, match=told),
    ):
        ask(address, is_stream, timeout=60)


@pytest.mark.parametrize("is_stream", [False, True])
def test_what_is_compressed_is_not_asked_for_and_not_unpacked(is_stream: bool) -> None:
    bomb = gzip.compress(b" " * 2**24)
    for status in (200, 400):
        head = f"HTTP/1.1 {status} X\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
        told = "it is compressed \\(gzip\\)" if status == 200 else "answered 400"
        with sending(lambda head=head: [head + bomb]) as address, pytest.raises(ServerError, match=told):
            ask(address, is_stream)
    with double(chat("5")) as made:
        ask(made.address("vllm"), is_stream=False)
    assert made.headers[0]["accept-encoding"] == "identity"


def pieces_of(text: str) -> Reply:
    return events(*({"choices": [{"index": 0, "delta": {"content": one}, "finish_reason": "stop"}]} for one in text))


def test_the_time_between_the_pieces_of_a_stream_is_the_callers_own() -> None:
    with double(pieces_of("12345")) as made:
        stream = Extractor(int, model=connect(made.address("vllm"), timeout=0.6)).stream("a is 5")
        for _ in stream:
            time.sleep(0.3)
    assert stream.result().value == 12345


def test_each_request_on_a_connection_has_the_whole_time() -> None:
    asked: list[Any] = []

    def reply(body: Any) -> Reply:
        asked.append(body)
        return Reply(chat("5").body, seconds=0.5)

    with double(reply) as made:
        extractor = Extractor(int, model=connect(made.address("vllm"), timeout=1.5, retries=0))
        assert [extractor("a is 5") for _ in range(4)] == [5] * 4
    assert len(asked) == 4
