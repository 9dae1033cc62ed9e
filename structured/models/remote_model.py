"""A model behind a server, which writes whole texts and enforces the constraint.

What the servers are sent, and how, is an integration, which is entered by its name.
"""

import os
import pickle
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache, partial
from importlib import import_module
from threading import Event
from typing import Any, Protocol, TypeVar

from structured.errors import ModelError
from structured.errors.arguments import count, flag, number
from structured.errors.values import shown
from structured.models.protocol import Model
from structured.models.server_api import PORTS, Address, Envelope, ServerAnswer, ServerApi, ServerRequest

_SECONDS = number(lambda value: 0 < value < float("inf"), "a positive number of seconds")

T = TypeVar("T")


class Connection(Protocol):
    """The connection to a server."""

    timeout: float
    retries: int

    def post(self, path: str, body: Any, read: Callable[[Any], T], stop: Event | None = None) -> T:
        """Send a request, and return its answer as `read` reads it."""

    def stream(self, path: str, body: Any, read: Callable[[Iterator[str]], Iterator[T]]) -> Iterator[T]:
        """Send a request, and yield the lines of its answer as `read` reads them."""


class RemoteModel(Model):
    """A model behind a server, which gives texts and no logits; `connect` returns one.

    Attributes:
        name: Its address.
        address: The same, in parts.
        api: The API of its kind of server: how requests are written, and answers read.
        enforced: Whether the server has to enforce the type.
    """

    has_chat_template = True

    def __init__(
        self, address: Address, api: ServerApi, connection: Connection, *, enforced: bool, key_is_given: bool
    ) -> None:
        self.address = address
        self.name = str(address)
        self.api = api
        self.enforced = enforced
        self._connection = connection
        self._key_is_given = key_is_given

    def __repr__(self) -> str:
        return f"RemoteModel({self.name!r}{'' if self.enforced else ', enforced=False'})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._key_is_given:
            problem = f"{self!r} was given a key, which is not written into a pickle"
            raise pickle.PicklingError(f"{problem}. Set {self.api.key} instead, or connect again.")
        to = self._connection
        return partial(connect, enforced=self.enforced, timeout=to.timeout, retries=to.retries), (self.name,)

    def answer(self, request: ServerRequest, stop: Event | None = None) -> ServerAnswer:
        """Return the text that the server writes; `stop` ends the wait for a busy server.

        Raises ServerError or, from a server of this library, the error that the request raised there.
        """
        body = self.api.body(self.address.model, request)
        answer = self._connection.post(self.api.path, body, self.api.read, stop)
        return self.api.envelope(request.constraint).opened(answer)

    def stream(self, request: ServerRequest) -> Generator[str, None, ServerAnswer]:
        """Yield the pieces of the text that the server writes, and return all of it. Raises as `answer`.

        An answer in an envelope, such as a choice of OpenAI's API, is a single piece.
        """
        api = self.api
        body = api.body(self.address.model, request, stream=True)
        envelope = api.envelope(request.constraint)
        text, chunks = "", []

        def read(lines: Iterator[str]) -> Iterator[tuple[Any, str]]:
            return ((chunk, api.piece(chunk)) for chunk in api.chunks(lines))

        for chunk, piece in self._connection.stream(api.path, body, read):
            chunks.append(chunk)
            text += piece
            if piece and envelope == Envelope():
                yield piece
        answer = envelope.opened(api.joined(text, chunks))
        if envelope != Envelope():
            yield answer.text
        return answer


def connect(
    address: str, *, api_key: str | None = None, enforced: bool = True, timeout: float = 600.0, retries: int = 4
) -> RemoteModel:
    """Return a model behind a server, to be passed as `model`.

    `connect("vllm://localhost:8000/Qwen/Qwen2.5-7B-Instruct")`. `model="vllm://…"` is the same with the defaults.

    Nothing is sent before the first document. A type that the server cannot enforce is refused before that.

    Parameters:
        address: The kind of server, the host with its port, and the model's name: `openai`, `vllm`, `sglang`,
            `llamacpp`, `ollama` or `structured`, each with `+https` where the server is reached by HTTPS.
        api_key: Sent as `Authorization: Bearer`. Default: the environment variable of the server
            (OPENAI_API_KEY, VLLM_API_KEY, SGLANG_API_KEY, LLAMA_API_KEY, OLLAMA_API_KEY, STRUCTURED_API_KEY); "" for no
            key. It is sent over HTTPS or to this machine; over plain HTTP only if the address says `+http`.
        enforced: Whether the server enforces the type. False sends no constraint: answers are validated when they
            arrive, and asked for again; this also allows types that no server takes.
        timeout: Seconds that an answer may take, from the request to its end, however little at a time the server
            sends; the time that a caller takes between the pieces of a stream does not count.
        retries: How often a request is repeated when the server is too busy (429, 502, 503, 504, a closed
            connection), after the time that it asks for or growing times.

    Raises:
        ModelError: The address cannot be read, names no model where it has to, or the key would be sent in the clear.
        TypeError: An option is of the wrong kind.
        ValueError: An option has a value that is not allowed.
    """
    if not isinstance(address, str):
        raise TypeError(f"address is {shown(address)}; it must be a str such as 'vllm://localhost:8000/name'.")
    if not isinstance(api_key, str | None):
        raise TypeError("api_key must be a str, or None for the environment variable.")
    flag("enforced", enforced)
    target = Address.read(address)
    api, connection = _servers().SERVER_APIS[target.server], _servers().Connection
    key = os.environ.get(api.key) if api_key is None else api_key
    if api.needs_name and not target.model:
        port = PORTS[target.server]
        where = target.host if port is None or ":" in target.host else f"{target.host}:{port}"
        raise ModelError(f"{address!r} names no model. Write {target.server}://{where}/name, as the server calls it.")
    if key and not (target.keeps_secrets or target.is_explicit):
        raise ModelError(
            f"A key would be sent to {target.host} in the clear. Write {target.server}+https://{target.host}/…, or "
            f"{target.server}+http:// if the network is your own, or api_key='' for no key."
        )
    if key is not None and not (key.isascii() and key.isprintable()):
        raise ModelError("The key has characters that no header can have, such as a line break. Correct it.")
    seconds, repetitions = float(_SECONDS("timeout", timeout)), count(0)("retries", retries)
    connected_to = connection(target, key or None, seconds, repetitions, api.error)
    return RemoteModel(target, api, connected_to, enforced=enforced, key_is_given=bool(api_key))


def connected(address: str) -> RemoteModel:
    """Return the model at an address, with the defaults of `connect`: the same each time, so that connections stay."""
    return _connected_with(address, os.environ.get(_servers().SERVER_APIS[Address.read(address).server].key))


@lru_cache(maxsize=16)
def _connected_with(address: str, key: str | None) -> RemoteModel:
    del key  # from the environment: another key is another connection
    return connect(address)


def _servers() -> Any:
    return import_module("structured.integrations.model_servers")
