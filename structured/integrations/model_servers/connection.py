"""The connection to a server: requests that are repeated where that helps, and errors that say what to do."""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from structured.errors import ModelError, ServerError, StructuredError
from structured.errors.values import printable
from structured.models.server_api import Address, Failed, Unreadable

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses after which a request is sent again: the server may answer a little later."""

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 60.0
"""Seconds before the first repetition, and before any: a server that asks for more gets no other request."""

CONNECT_SECONDS = 10.0

MAX_SHOWN_CHARACTERS = 400
"""Characters of a server's message that an error shows."""

MAX_ANSWER_BYTES = 2**26
"""Bytes of an answer: a token takes up to 500 in a stream with probabilities, and models write up to 2**17 of them."""

WRITE_BYTES = 2**16
"""Bytes of a request that are written between two checks of the time that is left."""


class AnswerTooLongError(Exception):
    """An answer of more bytes than any model writes."""


class ResponseLimits:
    """The seconds and the bytes that are left for an answer; the clock starts when they are made.

    HTTPX has a timeout for each read, which a server that sends a byte now and then never reaches. So each read of a
    connection gets the seconds that are left for the whole answer.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._bytes = MAX_ANSWER_BYTES

    def seconds(self) -> float:
        """Return the seconds that are left. Raises TimeoutError if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def spend(self, size: int) -> None:
        """Count bytes that were read. Raises AnswerTooLongError if there are more than any answer has."""
        self._bytes -= size
        if self._bytes < 0:
            raise AnswerTooLongError

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while the caller is at work, not the server."""
        before = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - before

    def extensions(self, connect_seconds: float) -> dict[str, Any]:
        """Return the extensions of a request of HTTPX that apply the limits to head and body of the answer."""
        seconds = {"connect": connect_seconds, "read": self, "write": self, "pool": None}
        return {"timeout": seconds, "trace": _limit_reads_and_writes}


def _limit_reads_and_writes(event: str, info: Mapping[str, Any]) -> None:  # noqa: ARG001  called by name
    """Let a new connection apply the limits of its requests, which it gets in place of timeouts."""
    stream: Any = info.get("return_value")
    if not hasattr(stream, "start_tls"):  # a NetworkStream of HTTPCore
        return
    read, write = stream.read, stream.write

    def read_some(max_bytes: int, timeout: Any = None) -> bytes:
        is_limited = isinstance(timeout, ResponseLimits)
        data: bytes = read(max_bytes, timeout.seconds() if is_limited else timeout)
        if is_limited:
            timeout.spend(len(data))
        return data

    def write_all(buffer: bytes, timeout: Any = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            seconds = timeout.seconds() if isinstance(timeout, ResponseLimits) else timeout
            write(buffer[start : start + WRITE_BYTES], seconds)

    stream.read, stream.write = read_some, write_all


@dataclass(frozen=True)
class Connection:
    """A connection to a server, with its timeout and its retries. Several threads may use it at the same time."""

    address: Address
    key: str | None = field(repr=False)
    timeout: float
    retries: int
    read_error: Callable[[Mapping[str, Any]], StructuredError | None] = field(repr=False)
    """Returns the library's error that a server reports, or None."""

    @cached_property
    def _client(self) -> "httpx.Client":
        library = _httpx()
        client: httpx.Client = library.Client(
            base_url=self.address.url,
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {}),
            limits=library.Limits(max_connections=None, max_keepalive_connections=32),
        )
        finalize(self, client.close)
        return client

    def post(self, path: str, body: Any, read: Callable[[Any], T], stop: Event | None = None) -> T:
        """Send a request, and return its answer as `read` reads it. Nothing is repeated once `stop` is set.

        Raises ServerError, also for whatever `read` raises: then the answer does not have the server's form.
        """

        def ask() -> T:
            with closing(self._open_response(path, body, ResponseLimits(self.timeout))) as response:
                return read(json.loads(_content(response)))

        return self._retry(ask, stop or Event())

    def stream(self, path: str, body: Any, read: Callable[[Iterator[str]], Iterator[T]]) -> Iterator[T]:
        """Send a request, and yield the lines of its answer, as they arrive and as `read` reads them. Raises as `post`.

        The time that the caller takes between two of them does not count.
        """

        def begin() -> "tuple[httpx.Response, ResponseLimits]":
            limits = ResponseLimits(self.timeout)
            return self._open_response(path, body, limits), limits

        response, limits = self._retry(begin, Event())
        try:
            with self._errors():
                for part in read(_lines(response.iter_raw())):
                    with limits.paused():
                        yield part
        finally:
            response.close()

    def _send(self, method: str, path: str, body: Any, limits: ResponseLimits) -> "httpx.Response":
        """Return the response to a request, of which the head has arrived."""
        extensions = limits.extensions(min(CONNECT_SECONDS, self.timeout))
        request = self._client.build_request(method, path, json=body, extensions=extensions)
        return self._client.send(request, stream=True)

    def _open_response(self, path: str, body: Any, limits: ResponseLimits) -> "httpx.Response":
        response = self._send("POST", path, body, limits)
        try:
            self._check(response)
        except BaseException:
            response.close()
            raise
        return response

    def _retry(self, ask: Callable[[], T], stop: Event) -> T:
        attempt = 0
        while True:
            try:
                with self._errors():
                    return ask()
            except ServerError as error:
                wait = _seconds_to_wait(error, attempt)
                if not error.is_passing or attempt >= self.retries or wait > MAX_WAIT_SECONDS or stop.wait(wait):
                    raise
            attempt += 1

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise ServerError for the errors of HTTP, and for an answer in another form."""
        httpx = _httpx()
        try:
            yield
        except StructuredError:
            raise
        except Exception as error:  # noqa: BLE001  it is raised as a ServerError
            reason, remedy = self._excerpt(error), "Look at its log."
            is_for_all = is_passing = False
            match error:
                case httpx.ConnectError() | httpx.ConnectTimeout():
                    problem, is_for_all = f"cannot be reached: {reason}", True
                    remedy = "Start it, or correct the host, the port, or +https."
                case httpx.TimeoutException() | TimeoutError():
                    problem = f"has not answered within {self.timeout:g} seconds"
                    ways = "Raise the timeout of connect(…), ask for fewer documents at a time (batch_size)"
                    remedy = f"{ways}, or look at its log."
                case httpx.ReadError() | httpx.WriteError() | httpx.RemoteProtocolError():
                    problem, is_passing = f"closed the connection before it had answered: {reason}", True
                case AnswerTooLongError():
                    problem = f"sent more than {MAX_ANSWER_BYTES:,} bytes, and no end of its answer"
                case httpx.HTTPError():
                    problem = f"could not be asked: {reason}"
                case Failed():
                    problem = f"failed in the middle of an answer: {reason}"
                case _:
                    problem = f"answered in a form that is not that of {self.address.server}://"
                    problem = f"{problem}: {type(error).__name__}: {reason}"
                    remedy = "Name the right kind of server, or look at its log."
            problem = f"The server at {self.address.url} {problem}. {remedy}"
            cause = None if isinstance(error, Failed) else error  # a traceback would show it as the server wrote it
            raise self._error(problem, is_for_all=is_for_all, is_passing=is_passing) from cause

    def _check(self, response: "httpx.Response") -> None:
        """Raise ServerError where a server refused a request, or the error that this library raised there.

        Raises Unreadable for a compressed answer: its size is unknown before it is unpacked.
        """
        status = response.status_code
        encoding = response.headers.get("content-encoding", "identity")
        if status == 200 and encoding == "identity":
            return
        if status == 200:
            raise Unreadable(f"it is compressed ({encoding}), though that was not asked for")
        content = _content(response) if encoding == "identity" else b""
        text = content.decode(errors="replace")  # JSON is UTF-8, whatever the header says
        error = _error_in(text)
        raised = self.read_error(error) if isinstance(error, dict) else None
        if raised is not None and not (self.key and self.key in f"{text}{error}"):
            raised.add_note(f"It was raised by the server at {self.address.url}.")
            raise raised
        message = self._excerpt(_message_of(error))
        remedy = self._model_remedy() if status == 404 else _REMEDIES.get(status, "Look at its log.")
        raise self._error(
            f"The server at {self.address.url} answered {status}{f': {message}' if message else ''}. {remedy}",
            status=status,
            is_passing=status in RETRIED_STATUSES,
            is_for_all=status in {401, 403, 404},
            retry_after=_retry_after_seconds(response.headers.get("retry-after")),
        )

    def _error(self, problem: str, **facts: Any) -> ServerError:
        return ServerError(self._without_key(problem), address=str(self.address), **facts)

    def _excerpt(self, message: object) -> str:
        """Return a message of the server as an error shows it: without the key, printable, on one line, and cut."""
        text = printable(" ".join(self._without_key(str(message)).split()).rstrip("."))
        return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "…") if self.key else text

    def _model_remedy(self) -> str:
        """Return the remedy where the server does not know the model: the models that it lists, if any."""
        names, limits = "", ResponseLimits(min(CONNECT_SECONDS, self.timeout))
        with (
            suppress(Exception),  # an error is on its way already
            closing(self._send("GET", "/v1/models", None, limits)) as response,
        ):
            data = json.loads(_content(response))["data"] if response.status_code == 200 else []
            names = self._excerpt(", ".join(str(model["id"]) for model in data))
        return f"It has these models: {names}." if names else "Correct the name of the model, or the port."


def _httpx() -> Any:
    """Return the library. Raises ModelError where it is not installed."""
    try:
        import httpx
    except ImportError as error:
        raise ModelError(
            "Models behind servers need the package httpx. Install it: pip install 'structured-extraction[remote]'."
        ) from error
    return httpx


_REMEDIES = {
    **dict.fromkeys((401, 403), "Pass the key as connect(…, api_key=…), or set its environment variable."),
    400: "Its message says what it does not take.",
    413: "Shorten the text.",
    422: "Its message says what it does not take.",
    429: "Ask for fewer documents at a time (batch_size), or raise the retries of connect(…).",
    503: "Ask again later, or raise the retries of connect(…).",
}


def _seconds_to_wait(error: ServerError, attempt: int) -> float:
    """Return the seconds before a request is repeated."""
    if error.retry_after is not None:
        return error.retry_after
    return float(min(FIRST_WAIT_SECONDS * 2**attempt, MAX_WAIT_SECONDS) * random.uniform(0.5, 1))


def _retry_after_seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a `Retry-After`, a number or a date (RFC 9110 §10.2.3); None if it is neither."""
    if retry_after is None:
        return None
    if (text := retry_after.strip()).isdecimal():
        return float(text)
    try:
        then = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return max((then - datetime.now(UTC)).total_seconds(), 0.0)


def _content(response: "httpx.Response") -> bytes:
    """Return the body of a response. Raises TimeoutError and AnswerTooLongError."""
    return b"".join(response.iter_raw())


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of UTF-8, ended by CR and LF alone: JSON may contain U+2028, where `str.splitlines` splits."""
    line_start: list[bytes] = []
    for piece in pieces:
        *line_ends, next_start = piece.replace(b"\r", b"\n").split(b"\n")
        for line_end in line_ends:
            yield b"".join([*line_start, line_end]).decode()
            line_start = []
        line_start.append(next_start)
    yield b"".join(line_start).decode()


def _error_in(text: str) -> Any:
    """Return the error in a response, whether or not in a member `error`; the text itself if it is not JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return data.get("error", data) if isinstance(data, dict) else text


def _message_of(error: Any) -> str:
    return str(error.get("message", error.get("detail", json.dumps(error))) if isinstance(error, dict) else error)
