"""A model behind a server: it is asked for whole texts, and the server sees to the constraint."""

import os
import pickle
from collections.abc import Generator
from functools import lru_cache
from threading import Event
from typing import Any

from structured.errors import ModelError
from structured.errors.arguments import count, flag, number
from structured.errors.values import shown
from structured.models.protocol import Model
from structured.models.remote.address import PORTS, Address
from structured.models.remote.chat_forms import LlamaCppForm, OpenAIForm, SglangForm, StructuredForm, VllmForm
from structured.models.remote.connection import Connection
from structured.models.remote.exchange import ServerAnswer, ServerRequest
from structured.models.remote.form import Form
from structured.models.remote.ollama_form import OllamaForm

FORMS: dict[str, Form] = {
    "llamacpp": LlamaCppForm(),
    "ollama": OllamaForm(),
    "openai": OpenAIForm(),
    "sglang": SglangForm(),
    "structured": StructuredForm(),
    "vllm": VllmForm(),
}
"""How each kind of server is asked, by the scheme of its addresses."""

_SECONDS = number(lambda value: 0 < value < float("inf"), "a positive number of seconds")


class RemoteModel(Model):
    """A model behind a server, which gives texts and no logits; `connect` returns one.

    Attributes:
        name: Its address.
        address: The same, in parts.
        form: How the server is asked.
        enforced: Whether the server has to enforce what an answer must be.
    """

    has_chat_template = True

    def __init__(self, address: Address, connection: Connection, *, enforced: bool, key_is_given: bool) -> None:
        self.address = address
        self.name = str(address)
        self.form = FORMS[address.server]
        self.enforced = enforced
        self._connection = connection
        self._key_is_given = key_is_given

    def __repr__(self) -> str:
        return f"RemoteModel({self.name!r}{'' if self.enforced else ', enforced=False'})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._key_is_given:
            raise pickle.PicklingError(
                f"{self!r} was given a key, which is not written into a pickle. Set {self.form.key} in place of it, or "
                "connect anew."
            )
        options = {"enforced": self.enforced, "timeout": self._connection.timeout, "retries": self._connection.retries}
        return _connected, (self.name, options)

    def answer(self, request: ServerRequest, stop: Event | None = None) -> ServerAnswer:
        """Return the text that the server writes; `stop` ends the waiting for a busy server.

        Raises ServerError; or, of a server of this library, what the request raised there.
        """
        body = self.form.body(self.address.model, request)
        found = self._connection.post(self.form.path, body, self.form.read, stop)
        return self.form.envelope(request.constraint).opened(found)

    def stream(self, request: ServerRequest) -> Generator[str, None, ServerAnswer]:
        """Yield the pieces of the text that the server writes, and return all of it. Raises as `answer`.

        A text that stands in another one, as OpenAI's API writes a choice, is one piece.
        """
        form = self.form
        body = form.body(self.address.model, request, stream=True)
        envelope = form.envelope(request.constraint)
        text, chunks = "", []
        for chunk, piece in self._connection.stream(
            form.path, body, lambda lines: ((one, form.piece(one)) for one in form.chunks(lines))
        ):
            chunks.append(chunk)
            text += piece
            if piece and envelope == (None, False):
                yield piece
        answer = envelope.opened(form.joined(text, chunks))
        if envelope != (None, False):
            yield answer.text
        return answer


def connect(
    address: str,
    *,
    api_key: str | None = None,
    enforced: bool = True,
    timeout: float = 600.0,
    retries: int = 4,
) -> RemoteModel:
    """Return a model behind a server, to be passed as `model`.

    `connect("vllm://localhost:8000/Qwen/Qwen2.5-7B-Instruct")`. `model="vllm://…"` is the same with the defaults.

    Nothing is sent before the first document. What a server cannot enforce is refused before that.

    Parameters:
        address: The kind of server, the host with its port, and the model's name: `openai`, `vllm`, `sglang`,
            `llamacpp`, `ollama` or `structured`, each with `+https` where the server is reached by HTTPS.
        api_key: What is sent as `Authorization: Bearer`. Default: the environment variable of the server
            (OPENAI_API_KEY, VLLM_API_KEY, SGLANG_API_KEY, LLAMA_API_KEY, OLLAMA_API_KEY, STRUCTURED_API_KEY); "" for no
            key. It is sent over HTTPS or to this machine; over plain HTTP only if the address says `+http`.
        enforced: Whether the server enforces what an answer must be. False sends no constraint: answers are validated
            when they are there, and asked for again; then types can be asked for that no server takes.
        timeout: Seconds that an answer may take, from the request to its end, however little at a time the server
            sends; the time that a caller takes between the pieces of a stream is not counted.
        retries: How often a request is repeated that the server was too busy for (429, 502, 503, 504, a closed
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
    found = Address.read(address)
    form = FORMS[found.server]
    key = os.environ.get(form.key) if api_key is None else api_key
    if form.needs_name and not found.model:
        port = PORTS[found.server]
        where = found.host if port is None or ":" in found.host else f"{found.host}:{port}"
        raise ModelError(f"{address!r} names no model. Write {found.server}://{where}/name, as the server calls it.")
    if key and not (found.keeps_secrets or found.is_explicit):
        raise ModelError(
            f"A key would be sent to {found.host} in the clear. Write {found.server}+https://{found.host}/…, or "
            f"{found.server}+http:// if the network is your own, or api_key='' for no key."
        )
    if key is not None and not (key.isascii() and key.isprintable()):
        raise ModelError("The key has characters that no header can have, such as a line break. Correct it.")
    seconds, repetitions = float(_SECONDS("timeout", timeout)), count(0)("retries", retries)
    connection = Connection(found, key or None, seconds, repetitions, form.error)
    return RemoteModel(found, connection, enforced=enforced, key_is_given=bool(api_key))


def _connected(address: str, options: dict[str, Any]) -> RemoteModel:
    """Return an unpickled model."""
    return connect(address, **options)


@lru_cache(maxsize=16)
def connect_once(address: str, key: str | None) -> RemoteModel:
    """Return the model at an address, the same one each time, so that connections are kept open."""
    del key  # which the environment has: with another one, it is another connection
    return connect(address)


def connected(address: str) -> RemoteModel:
    """Return the model at an address, with the defaults of `connect`."""
    return connect_once(address, os.environ.get(FORMS[Address.read(address).server].key))
