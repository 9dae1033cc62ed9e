"""Addresses of models behind servers, and the interface of the APIs by which kinds of servers are asked."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import unquote, urlsplit

from structured.errors import ModelError, SchemaError, StructuredError
from structured.errors.values import shown
from structured.json_schema.document.drafts import SchemaDraft, subschemas
from structured.json_schema.document.references import REFERENCES
from structured.models.protocol import Messages
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import Constraint, JsonConstraint, constraint_of

PORTS = {"llamacpp": 8080, "ollama": 11434, "openai": None, "sglang": 30000, "structured": 8000, "vllm": 8000}
"""The kinds of servers, by their schemes, with the default port of each."""

_ADDRESS = re.compile(rf"(?P<server>{'|'.join(PORTS)})(?:\+(?P<transport>https?))?://", re.IGNORECASE)

_EXAMPLE = "vllm://localhost:8000/Qwen/Qwen2.5-7B-Instruct"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is: the kind of server, the transport, the host, and the model's name there."""

    server: str
    transport: str
    host: str
    """With its port, if the address names one or the server has a default."""
    model: str
    is_explicit: bool
    """Whether the address names the transport."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an address. Raises ModelError, which repeats no password."""
        match = _ADDRESS.match(text)
        if match is None:
            raise ModelError(
                f"An address of a model begins with {', '.join(f'{scheme}://' for scheme in PORTS)}: {_EXAMPLE}."
            )
        server, transport = match["server"].lower(), match["transport"]
        if "@" in text[match.end() :].partition("/")[0]:
            problem = f"The address of the {server} server has a user or a password, which results and logs would show"
            raise ModelError(f"{problem}. Pass the key as connect(…, api_key=…), or set its environment variable.")
        try:
            parts = urlsplit(f"//{text[match.end() :]}")
            port = parts.port
        except ValueError:  # which repeats the host and the port: of `ana:secret`, a password
            problem = f"The host or the port of the {server} server cannot be read"
            raise ModelError(f"{problem}. Write the address as {_EXAMPLE}.") from None
        if not parts.hostname or parts.query or parts.fragment:
            raise ModelError(f"{text!r} is not the address of a model. Write it as {_EXAMPLE}.")
        if port is None and transport != "https":
            port = PORTS[server]
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        authority = host if port is None else f"{host}:{port}"
        model = unquote(parts.path.strip("/"))
        return cls(server, (transport or "http").lower(), authority, model, transport is not None)

    def __str__(self) -> str:
        suffix = f"+{self.transport}" if self.is_explicit else ""
        return f"{self.server}{suffix}://{self.host}{f'/{self.model}' if self.model else ''}"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"{self.transport}://{self.host}"

    @property
    def keeps_secrets(self) -> bool:
        """Whether nobody else can read a request: it is encrypted, or stays on this machine."""
        host = (urlsplit(self.url).hostname or "").rstrip(".")
        try:
            is_here = ip_address(host).is_loopback
        except ValueError:
            is_here = host == "localhost"
        return self.transport == "https" or is_here


def is_address(source: object) -> bool:
    """Tell whether this is the address of a model behind a server."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


WHITESPACE = " \t\n\r"
"""What JSON allows between its tokens (RFC 8259 §2)."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A text to be written by a server."""

    messages: Messages
    constraint: Constraint | None
    """What the server has to enforce; None for nothing."""
    max_tokens: int
    sampling: Mapping[str, float]
    """`temperature`, and what was chosen of `top_p`, `top_k`, `min_p`, `seed` and `stop_repetition`."""
    logprobs: bool = False
    """Whether the probability of each token is wanted."""


class ServedToken(NamedTuple):
    """A token of an answer, with its log-probability as the server reports it."""

    start: int
    """The byte of the text that it begins at."""
    end: int
    log_probability: float


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The text that a server wrote."""

    text: str
    fault: str | None = None
    """Why the text is unusable: it was cut off, or the model refused."""
    prompt_tokens: int = 0
    """The tokens of the prompt, as the server counts them; 0 if it does not report them."""
    written_tokens: int = 0
    """The tokens of the answer, likewise."""
    tokens: Sequence[ServedToken] = ()
    """Empty unless their probabilities were asked for and reported."""
    shortened: bool = False
    """Whether the server closed the answer where the tokens ran out: it is valid, and may be incomplete."""
    repetitive: bool = False
    """Whether the server ended a repetition: likewise."""


class Unreadable(Exception):  # noqa: N818  the answer is
    """An answer that does not have the form that the server documents."""


class Failed(Exception):  # noqa: N818  the server has
    """An error that a server reports in the middle of an answer."""


class Envelope(NamedTuple):
    """The JSON around an answer: the only member of an object, where a server writes objects alone, or a string."""

    member: str | None = None
    is_string: bool = False

    def opened(self, answer: ServerAnswer) -> ServerAnswer:
        """Return the answer without its envelope; with a fault where it was cut off, or the envelope is another."""
        if self == Envelope() or answer.fault is not None:
            return answer
        try:
            start, end = _place_of_value(answer.text, self.member)
            value = json.loads(answer.text[start:end])
            if self.is_string and not isinstance(value, str):
                raise TypeError(value)  # noqa: TRY301  handled as any other wrong envelope
        except (ValueError, TypeError, RecursionError):
            return replace(answer, fault="The server was asked for JSON around the answer, and wrote something else.")
        text = value if self.is_string else answer.text[start:end]
        start += self.is_string  # its quote
        if answer.text[start : start + len(text)] != text:
            return replace(answer, text=text, tokens=())
        before, length = len(answer.text[:start].encode()), len(text.encode())
        moved = (ServedToken(first - before, end - before, score) for first, end, score in answer.tokens)
        return replace(answer, text=text, tokens=[part for part in moved if part.end > 0 and part.start <= length])


def _place_of_value(text: str, member: str | None) -> tuple[int, int]:
    """Return where the value in a JSON text begins and ends: the only member of an object, or all of it.

    `('{"answer": 5}', "answer")` → `(11, 12)`. Raises ValueError where the object does not begin with that member.
    """
    start, end = len(text) - len(text.lstrip(WHITESPACE)), len(text.rstrip(WHITESPACE))
    if member is None:
        return start, end
    space = f"[{WHITESPACE}]*"
    head = re.compile(rf'{{{space}"{re.escape(member)}"{space}:{space}').match(text, start)
    if head is None or not text.endswith("}", head.end(), end):
        raise ValueError(text)
    return head.end(), len(text[: end - 1].rstrip(WHITESPACE))


class ServerApi(ABC):
    """The API of a kind of server: how requests are written, and how its answers are read."""

    server: ClassVar[str]
    """The name of the server in messages."""
    key: ClassVar[str]
    """The environment variable that holds the key."""
    path: ClassVar[str]
    """The path of the requests."""
    enforces: ClassVar[str]
    """The constraints that the server takes, in words."""
    sampling_options: ClassVar[frozenset[str]] = frozenset({"min_p", "seed", "temperature", "top_k", "top_p"})
    """The sampling options that the server takes."""
    tells_probabilities: ClassVar[bool] = True
    needs_name: ClassVar[bool] = True
    """Whether a request has to name a model."""
    writes_prompts: ClassVar[bool] = False
    """Whether the server makes the prompt of a document itself, as this library does."""

    @abstractmethod
    def body(self, model: str, request: ServerRequest, *, stream: bool = False) -> dict[str, Any]:
        """Return the body of a request. Raises SchemaError for a constraint that the server cannot enforce."""

    @abstractmethod
    def read(self, data: Any) -> ServerAnswer:
        """Read an answer. Raises Unreadable, or whatever looking for missing members raises."""

    @abstractmethod
    def chunks(self, lines: Iterable[str]) -> Iterable[Any]:
        """Yield the parts of a stream, as data."""

    @abstractmethod
    def piece(self, chunk: Any) -> str:
        """Return the text in a part of a stream."""

    @abstractmethod
    def joined(self, text: str, chunks: list[Any]) -> ServerAnswer:
        """Return the answer of a whole stream. Raises as `read`."""

    def error(self, data: Mapping[str, Any]) -> StructuredError | None:  # noqa: ARG002  most have errors of their own
        """Return the library's error that a server reports; None if the server reports an error of its own."""
        return None

    def constraint(self, output_type: OutputType[Any]) -> Constraint:
        """Return the constraint for a type. Raises SchemaError if the server cannot take it."""
        return constraint_of(output_type)

    def envelope(self, constraint: Constraint | None) -> Envelope:  # noqa: ARG002  most write the answer alone
        """Return the envelope of an answer."""
        return Envelope()


def checked(chunk: Any) -> Any:
    """Return a part of a stream. Raises Failed for an error, which servers write in its place."""
    if not isinstance(chunk, dict):
        raise Unreadable("a part of the stream is not an object")
    if chunk.get("error"):
        error = chunk["error"]
        raise Failed(error.get("message", error) if isinstance(error, dict) else error)
    return chunk


def cut_off(reason: str, remedy: str = "Raise max_tokens, or shorten the text.") -> str:
    """Return the fault of an answer that the server ended."""
    return f"The server cut it off ({reason}). {remedy}"


def choice_schema(texts: Iterable[str]) -> dict[str, Any]:
    """Return the JSON Schema of some texts as JSON strings."""
    return {"type": "string", "enum": list(texts)}


def wrapped(constraint: JsonConstraint, member: str) -> Mapping[str, Any]:
    """Return the schema of an object with an answer as its only member. Raises SchemaError if it breaks references."""
    schema = dict(constraint.schema)
    at_root = ("#/$defs/", "#/definitions/")
    moved = next((target for target in _references(schema) if not target.startswith(at_root)), None)
    if "$id" in schema or "id" in schema or moved is not None:
        what = "has a URI of its own" if moved is None else f"refers to {shown(moved)}"
        raise SchemaError(
            f"{constraint.name} {what}, and the server only writes objects, into which it would have to be put",
            remedy='Refer to definitions alone, and write what is referred to under $defs: {"$ref": "#/$defs/Name"}.',
        )
    root: dict[str, Any] = {key: schema.pop(key) for key in ("$schema", "$defs", "definitions") if key in schema}
    answer = {"properties": {member: schema}, "required": [member], "additionalProperties": False}
    return {"type": "object", **answer, **root}


def _references(schema: Mapping[str, Any]) -> Iterator[str]:
    left = [schema]
    while left:
        part = left.pop()
        yield from (str(part[keyword]) for keyword in REFERENCES if keyword in part)
        left += {keys: inside for draft in SchemaDraft for keys, inside in subschemas(part, draft)}.values()
