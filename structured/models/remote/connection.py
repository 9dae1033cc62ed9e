"""The connection to a server: requests that are repeated where that helps, and errors that say what to do."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from structured.errors import ModelError, ServerError, StructuredError
from structured.errors.values import printable
from structured.models.remote.address import Address
from structured.models.remote.allowance import LONGEST_ANSWER, Allowance, TooLong
from structured.models.remote.form import Failed, Unreadable

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses of servers that may answer a little later."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the first repetition, and before any: a server that asks for more gets no other request."""

CONNECT_SECONDS = 10.0

SHOWN = 400
"""Characters of what a server says that stand in an error."""


@dataclass(frozen=True)
class Connection:
    """A server, and how patiently it is asked. Several threads may ask it at the same time."""

    address: Address
    key: str | None = field(repr=False)
    timeout: float
    retries: int
    read_error: Callable[[Mapping[str, Any]], StructuredError | None] = field(repr=False)
    """What tells which errors of the server are errors of this library."""

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
        """Return what is read of the answer to a request. Raises ServerError; nothing is repeated once `stop` is set.

        What `read` raises says that the answer is not of the server's form.
        """

        def ask() -> T:
            with closing(self._begun(path, body, Allowance(self.timeout))) as response:
                return read(json.loads(_content(response)))

        return self._repeated(ask, stop or Event())

    def stream(self, path: str, body: Any, read: Callable[[Iterator[str]], Iterator[T]]) -> Iterator[T]:
        """Yield what is read of the lines of an answer, as they arrive. Raises as `post`.

        The time that the caller takes between them is not counted.
        """

        def begin() -> "tuple[httpx.Response, Allowance]":
            allowance = Allowance(self.timeout)
            return self._begun(path, body, allowance), allowance

        response, allowance = self._repeated(begin, Event())
        try:
            with self._errors():
                for one in read(_lines(response.iter_raw())):
                    with allowance.paused():
                        yield one
        finally:
            response.close()

    def models(self) -> list[str]:
        """Return the names of the models that the server has, as far as it tells."""
        try:
            with closing(self._sent("GET", "/v1/models", None, Allowance(self._connect_seconds))) as response:
                data = json.loads(_content(response))["data"] if response.status_code == 200 else []
                return [str(one["id"]) for one in data]
        except Exception:  # noqa: BLE001  it is asked on the way to an error
            return []

    @property
    def _connect_seconds(self) -> float:
        return min(CONNECT_SECONDS, self.timeout)

    def _sent(self, method: str, path: str, body: Any, allowance: Allowance) -> "httpx.Response":
        """Return the answer to a request, of which the head is there."""
        extensions = allowance.extensions(self._connect_seconds)
        request = self._client.build_request(method, path, json=body, extensions=extensions)
        return self._client.send(request, stream=True)

    def _begun(self, path: str, body: Any, allowance: Allowance) -> "httpx.Response":
        """Return an answer that is none of an error, and not yet read. Raises as `_check`."""
        response = self._sent("POST", path, body, allowance)
        try:
            self._check(response)
        except BaseException:
            response.close()
            raise
        return response

    def _repeated(self, ask: Callable[[], T], stop: Event) -> T:
        attempt = 0
        while True:
            try:
                with self._errors():
                    return ask()
            except ServerError as error:
                wait = _wait(error, attempt)
                if not error.is_passing or attempt >= self.retries or wait > LONGEST_WAIT or stop.wait(wait):
                    raise
            attempt += 1

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise what HTTP raises, and what comes of an answer of another form, as ServerError."""
        httpx = _httpx()
        where = f"The server at {self.address.url}"
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._error(
                f"{where} cannot be reached: {self._shown(error)}. Start it, or correct the host, the port, or +https.",
                is_for_all=True,
            ) from error
        except (httpx.TimeoutException, TimeoutError) as error:
            raise self._error(
                f"{where} has not answered within {self.timeout:g} seconds. Raise the timeout of connect(…), ask for "
                "fewer documents at a time (batch_size), or look at its log."
            ) from error
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError) as error:
            raise self._error(
                f"{where} closed the connection before it had answered: {self._shown(error)}. Look at its log.",
                is_passing=True,
            ) from error
        except TooLong as error:
            raise self._error(
                f"{where} sent more than {LONGEST_ANSWER:,} bytes, and no end of its answer. Look at its log."
            ) from error
        except httpx.HTTPError as error:
            raise self._error(f"{where} could not be asked: {self._shown(error)}. Look at its log.") from error
        except StructuredError:
            raise
        except Failed as error:
            raise self._error(
                f"{where} failed in the middle of an answer: {self._shown(error)}. Look at its log."
            ) from None  # a traceback would show it as the server wrote it
        except Exception as error:
            raise self._error(
                f"{where} answered in a form that is not that of {self.address.server}://: {type(error).__name__}: "
                f"{self._shown(error)}. Name the right kind of server, or look at its log."
            ) from error

    def _check(self, response: "httpx.Response") -> None:
        """Raise ServerError where a server refused a request; or the error of this library that it was there.

        Raises Unreadable for a compressed answer, whose size nobody knows before it is unpacked.
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
        said = self._shown(_said(error))
        remedy = self._of_model() if status == 404 else _REMEDIES.get(status, "Look at its log.")
        raise self._error(
            f"The server at {self.address.url} answered {status}{f': {said}' if said else ''}. {remedy}",
            status=status,
            is_passing=status in AGAIN,
            is_for_all=status in {401, 403, 404},
            retry_after=_seconds(response.headers.get("retry-after")),
        )

    def _error(self, problem: str, **facts: Any) -> ServerError:
        """Return an error in which the key does not stand, whatever a server repeats."""
        return ServerError(self._without_key(problem), address=str(self.address), **facts)

    def _shown(self, said: object) -> str:
        """Return what a server says as a message shows it: without the key, printable, on one line, and cut."""
        text = printable(" ".join(self._without_key(str(said)).split()).rstrip("."))
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "…") if self.key else text

    def _of_model(self) -> str:
        known = self._shown(", ".join(self.models()))
        return f"It has these models: {known}." if known else "Correct the name of the model, or the port."


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


def _wait(error: ServerError, attempt: int) -> float:
    """Return the seconds before a request is repeated."""
    if error.retry_after is not None:
        return error.retry_after
    return float(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.5, 1))


def _seconds(retry_after: str | None) -> float | None:
    """Return what `Retry-After` says, seconds or a date (RFC 9110 §10.2.3); None if it is neither."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        then = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return max((then - datetime.now(UTC)).total_seconds(), 0.0)


def _content(response: "httpx.Response") -> bytes:
    """Return the bytes of an answer. Raises TimeoutError and TooLong."""
    return b"".join(response.iter_raw())


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of UTF-8. Only CR and LF end one: U+2028, at which `str.splitlines` does, may stand in JSON."""
    begun: list[bytes] = []
    for piece in pieces:
        *ends, rest = piece.replace(b"\r", b"\n").split(b"\n")
        for end in ends:
            yield b"".join([*begun, end]).decode()
            begun = []
        begun.append(rest)
    yield b"".join(begun).decode()


def _error_in(text: str) -> Any:
    """Return the error that a server answers, in whichever member it stands; the text itself if it is none of JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return data.get("error", data) if isinstance(data, dict) else text


def _said(error: Any) -> str:
    """Return the message of an error."""
    return str(error.get("message", error.get("detail", json.dumps(error))) if isinstance(error, dict) else error)
