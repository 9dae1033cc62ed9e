"""A double of a server with a model: it keeps what it is sent, and answers what it is told to."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What is sent back: JSON, or lines of a stream, or nothing at all."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    closes: bool = False

    @property
    def text(self) -> str:
        return self.body if isinstance(self.body, str) else json.dumps(self.body)


@dataclass
class Double:
    """What it was sent: the path, the headers and the body of each request."""

    replies: Callable[[Any], Reply]
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    host: str = ""
    under_way: int = 0
    most_under_way: int = 0

    def address(self, server: str, model: str = "tiny") -> str:
        return f"{server}://{self.host}/{model}"


@contextmanager
def double(replies: Callable[[Any], Reply] | Sequence[Reply] | Reply) -> Iterator[Double]:
    """A server on a port of its own. Replies are given in turn, the last of them again and again."""
    made = Double(replies if callable(replies) else _in_turn([replies] if isinstance(replies, Reply) else replies))
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(Reply({"data": [{"id": "tiny"}, {"id": "small"}]}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                made.paths.append(self.path)
                made.headers.append({name.lower(): value for name, value in self.headers.items()})
                made.bodies.append(body)
                made.under_way += 1
                made.most_under_way = max(made.most_under_way, made.under_way)
                reply = made.replies(body)
            time.sleep(reply.seconds)
            with lock:
                made.under_way -= 1
            if reply.closes:
                self.close_connection = True
                self.connection.close()
                return
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            data = reply.text.encode()
            self.send_response(reply.status)
            self.send_header("content-length", str(len(data)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Say nothing of clients that have gone."""

    server = Quiet(("127.0.0.1", 0), Handler)
    made.host = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _in_turn(replies: Sequence[Reply]) -> Callable[[Any], Reply]:
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def chat(text: str | None, *, reason: str = "stop", **message: Any) -> Reply:
    """The answer of OpenAI's `/v1/chat/completions`."""
    return Reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "refusal": None, **message},
                    "logprobs": None,
                    "finish_reason": reason,
                }
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49},
        }
    )


def ollama(text: str, *, reason: str = "stop") -> Reply:
    """The answer of Ollama's `/api/chat`."""
    return Reply(
        {
            "model": "tiny",
            "message": {"role": "assistant", "content": text},
            "done_reason": reason,
            "done": True,
            "prompt_eval_count": 26,
            "eval_count": 12,
        }
    )


def with_logprobs(reply: Reply, tokens: Sequence[tuple[str, float]]) -> Reply:
    """The answer of a chat with the log-probabilities of its tokens."""
    told = [{"token": one, "logprob": share, "bytes": list(one.encode()), "top_logprobs": []} for one, share in tokens]
    reply.body["choices"][0]["logprobs"] = {"content": told}
    return reply


def events(*chunks: Any) -> Reply:
    """Server-sent events."""
    lines = [f"data: {json.dumps(one)}\n\n" for one in chunks]
    return Reply("".join([*lines, "data: [DONE]\n\n"]), headers={"content-type": "text/event-stream"})


def json_lines(*chunks: Any) -> Reply:
    """A stream of JSON, one object a line."""
    return Reply("".join(json.dumps(one) + "\n" for one in chunks), headers={"content-type": "application/x-ndjson"})
