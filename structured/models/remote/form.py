"""The form in which a kind of server is asked, and in which it answers."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from structured.errors import SchemaError, StructuredError
from structured.errors.values import shown
from structured.json_schema.document.drafts import Draft, subschemas
from structured.json_schema.document.references import REFERENCES
from structured.models.remote.exchange import ServedToken, ServerAnswer, ServerRequest
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import Constraint, JsonConstraint, constraint_of


class Unreadable(Exception):  # noqa: N818  what is read is no answer of the form
    """An answer that is not of the form that the server documents."""


class Failed(Exception):  # noqa: N818  it is the server that did
    """What a server says in the middle of an answer that it does not finish."""


class Envelope(NamedTuple):
    """What an answer stands in: a member of an object, where a server writes objects alone, and a JSON string."""

    member: str | None = None
    is_string: bool = False

    def opened(self, answer: ServerAnswer) -> ServerAnswer:
        """Return what stands in an answer; one that was cut off, or in which nothing stands, has a fault."""
        if (self.member is None and not self.is_string) or answer.fault is not None:
            return answer
        try:
            value, start, end = _whole(answer.text) if self.member is None else _only_member(answer.text, self.member)
            if self.is_string and not isinstance(value, str):
                raise TypeError(value)  # noqa: TRY301  as whatever else it is not
        except (ValueError, TypeError, RecursionError):
            return replace(answer, fault="The server was asked for JSON in which the answer stands, and wrote other.")
        text = value if self.is_string else answer.text[start:end]
        if self.is_string:
            start += 1  # its quote
        is_same = answer.text[start : start + len(text)] == text
        return replace(answer, text=text, tokens=_moved(answer, start, text) if is_same else ())


def _whole(text: str) -> tuple[Any, int, int]:
    """Return the value of a JSON text, and where it begins and ends. Raises ValueError if it is none."""
    return json.loads(text), len(text) - len(text.lstrip()), len(text.rstrip())


def _only_member(text: str, name: str) -> tuple[Any, int, int]:
    """Return the value of the only member of an object, and where it stands in the text.

    `('{"answer": 5}', "answer")` → `(5, 11, 12)`. Raises ValueError for another member, or another beside it: which of
    them is the answer, nobody knows.
    """
    written, end = _DECODER.raw_decode(text, _behind("{", text, 0))
    value, end = _DECODER.raw_decode(text, start := _behind(":", text, end))
    if written != name or _behind("}", text, end) != len(text):
        raise ValueError(text)
    return value, start, end


def _behind(mark: str, text: str, place: int) -> int:
    """Return the place behind a mark of JSON, with whitespace around it. Raises ValueError if another text is there."""
    found = re.compile(rf"[ \t\n\r]*{re.escape(mark)}[ \t\n\r]*").match(text, place)
    if found is None:
        raise ValueError(f"no {mark}")
    return found.end()


_DECODER = json.JSONDecoder()


def _moved(answer: ServerAnswer, start: int, text: str) -> list[ServedToken]:
    """Return the tokens that an inner text is written with."""
    before, length = len(answer.text[:start].encode()), len(text.encode())
    moved = (ServedToken(first - before, end - before, one) for first, end, one in answer.tokens)
    return [one for one in moved if one.end > 0 and one.start <= length]


class Form(ABC):
    """How a kind of server is asked."""

    server: ClassVar[str]
    """What it is called in messages."""
    key: ClassVar[str]
    """The environment variable that holds the key."""
    path: ClassVar[str]
    """Where texts are asked for."""
    enforces: ClassVar[str]
    """What can be asked for, in words."""
    options: ClassVar[frozenset[str]] = frozenset({"min_p", "seed", "temperature", "top_k", "top_p"})
    """The options of sampling that it knows, and others that it is sent as they are."""
    tells_probabilities: ClassVar[bool] = True
    needs_name: ClassVar[bool] = True
    """Whether a request has to name a model."""
    writes_prompts: ClassVar[bool] = False
    """Whether the server makes the prompt of a document itself, as this library does."""

    @abstractmethod
    def body(self, model: str, request: ServerRequest, *, stream: bool = False) -> dict[str, Any]:
        """Return what is sent. Raises SchemaError for a constraint that the server cannot enforce."""

    @abstractmethod
    def read(self, data: Any) -> ServerAnswer:
        """Return what a server answered. Raises Unreadable, or what comes of looking for what is not there."""

    @abstractmethod
    def chunks(self, lines: Iterable[str]) -> Iterable[Any]:
        """Yield the parts of a stream, as data."""

    @abstractmethod
    def piece(self, chunk: Any) -> str:
        """Return the text in a part of a stream."""

    @abstractmethod
    def joined(self, text: str, chunks: list[Any]) -> ServerAnswer:
        """Return the answer that a stream was. Raises as `read`."""

    def error(self, said: Mapping[str, Any]) -> StructuredError | None:  # noqa: ARG002  most have errors of their own
        """Return the error of this library that a server's error is; None if it is one of the server's own."""
        return None

    def constraint(self, output_type: OutputType[Any]) -> Constraint:
        """Return what is asked for a type. Raises SchemaError if the server cannot be told of it."""
        return constraint_of(output_type)

    def envelope(self, constraint: Constraint | None) -> Envelope:  # noqa: ARG002  most write the answer alone
        """Return what an answer stands in."""
        return Envelope()

    def refused(self, constraint: Constraint) -> SchemaError:
        """Return the error for a constraint that the server cannot enforce."""
        return SchemaError(
            f"{self.server} cannot be asked for {constraint.kind}; it takes {self.enforces}",
            remedy="Ask for that, or use connect(…, enforced=False): then answers are only validated when they are "
            "there, and asked for again.",
        )


def checked(chunk: Any) -> Any:
    """Return a part of a stream. Raises Failed for an error, which servers write in its place."""
    if not isinstance(chunk, dict):
        raise Unreadable("a part of the stream is no object")
    if chunk.get("error"):
        error = chunk["error"]
        raise Failed(error.get("message", error) if isinstance(error, dict) else error)
    return chunk


def cut_off(limit: str) -> str:
    """Return the fault of an answer that the server ended."""
    return f"The server cut it off ({limit}). Raise max_tokens, or shorten the text."


def choice_schema(texts: Iterable[str]) -> dict[str, Any]:
    """Return the JSON Schema of some texts as JSON strings."""
    return {"type": "string", "enum": list(texts)}


def wrapped(constraint: JsonConstraint, member: str) -> Mapping[str, Any]:
    """Return the schema of an object with an answer as its one member; definitions stay at the root.

    Raises SchemaError for a schema that refers to what then stands elsewhere.
    """
    schema = dict(constraint.schema)
    moved = next((one for one in _references(schema) if not one.startswith(_AT_THE_ROOT)), None)
    if "$id" in schema or "id" in schema or moved is not None:
        what = "has a URI of its own" if moved is None else f"refers to {shown(moved)}"
        raise SchemaError(
            f"{constraint.name} {what}, and the server only writes objects, into which it would have to be put",
            remedy='Refer to definitions alone, and write what is referred to under $defs: {"$ref": "#/$defs/Name"}.',
        )
    at_the_root = {keyword: schema.pop(keyword) for keyword in _OF_THE_ROOT if keyword in schema}
    return {
        "type": "object",
        "properties": {member: schema},
        "required": [member],
        "additionalProperties": False,
        **at_the_root,
    }


_OF_THE_ROOT = ("$schema", "$defs", "definitions")
_AT_THE_ROOT = ("#/$defs/", "#/definitions/")


def _references(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a schema and those inside of it refer to, in whichever draft."""
    left = [schema]
    while left:
        one = left.pop()
        yield from (str(one[keyword]) for keyword in REFERENCES if keyword in one)
        left += {keys: inside for draft in Draft for keys, inside in subschemas(one, draft)}.values()
