"""Records: one line of JSON for what became of one document.

    {"id": …, "digest": …, "made_by": {…}, "metadata": {…}, "value": …, "text": …, "extraction": {…}}
    {"id": …, "digest": …, "made_by": {…}, "error": {"kind": …, "message": …, "fields": {…}}}

`value` stands there for readers. It is read back from the text of the answer, as the type read it at first: from
`extraction`, where there is one; else from `text`, which is left out where `value` says the same.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from structured import errors
from structured.errors import Attempt, GenerationError, PromptError, StructuredError
from structured.errors.pickling import StandInError
from structured.errors.values import message
from structured.extraction.conversation import Conversation
from structured.extraction.documents.document import Document
from structured.extraction.options import Options
from structured.extraction.outcomes import BatchResult
from structured.extraction.task import Task
from structured.models import LanguageModel
from structured.output_types.extraction import Extraction
from structured.output_types.optional_fields import Absent
from structured.output_types.output_type import OutputType

Record = dict[str, Any]

_ID = re.compile(rb'\{"id": "(?:[^"\\\x00-\x1f]|\\.)*')
_AFTER_ID = b'", "digest": "'
"""What each line begins with."""

ANSWERED_ALIKE = frozenset({"model", "observe", "batch_size", "batch_tokens", "cache"})
"""Options that change no answer; the model is told by its own entries."""

MAX_SHOWN = 100
"""Characters of an option's value that stand in a record; of a longer one there is a digest."""


def digest_of(document: Document) -> str:
    """Return the SHA-256 of a document's text, as UTF-8; of a chat, that of its messages as JSON."""
    text: object = document.text
    if not isinstance(text, str):
        try:
            text = json.dumps(text, ensure_ascii=False, default=lambda one: type(one).__name__)
        except (TypeError, ValueError, RecursionError):  # it is no document, and fails as one
            text = type(text).__name__
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def made_by(task: Task, options: Options, absent: Absent | None) -> dict[str, Any]:
    """Return what decides the answers: the type, the model, the prompt and the options.

    The type is told by its schema, the model by its name and its vocabulary, the prompt by that for an empty text.
    What is not told: validators and other code of the type, and weights that are replaced under the same name.
    """
    given: dict[str, Any] = {
        **{name: value for name, value in options.items() if name not in ANSWERED_ALIKE},
        **({"examples": task.examples} if task.examples else {}),
        "absent": absent,
        "evidence": task.evidence or None,
    }
    prompt, model = task.prompt(Conversation("")), task.model
    return {
        "type": task.output_type.digest[:16],
        "model": model.name,
        "vocabulary": model.vocabulary.fingerprint.hex()[:16] if isinstance(model, LanguageModel) else None,
        "prompt": _short_digest(json.dumps(prompt, ensure_ascii=False)),
        "options": {name: _shortened(name, value) for name, value in sorted(given.items()) if value is not None},
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what is not the same of two things that records are made by, each in words."""
    found = []
    options, others = before.get("options", {}), now["options"]
    for name in sorted({*options, *others}):
        if options.get(name) != others.get(name):
            was, is_now = (f"{name}={one[name]!r}" if name in one else "none" for one in (options, others))
            found.append(f"the option {name} (it was {was}, and is {is_now})")
    for name in ("type", "model", "vocabulary"):
        if before.get(name) != now[name]:
            told = f" (it was {before.get(name)!r}, and is {now[name]!r})" if name == "model" else ""
            found.append(f"the {name}{told}")
    if not found and before.get("prompt") != now["prompt"]:
        found.append("the prompt, which another version of the library may word otherwise")
    return found


def line_of(  # noqa: PLR0913, PLR0917  what a record holds
    document: Document,
    digest: str,
    made: Mapping[str, Any],
    output_type: OutputType[Any],
    outcome: Any,
    text: str | None = None,
) -> bytes:
    """Return the record of a document as one line.

    `outcome` is the instance, the `Extraction`, or the error. Raises PromptError for metadata that are no JSON.
    """
    record: Record = {"id": document.id, "digest": digest, "made_by": made}
    if document.metadata:
        record["metadata"] = _metadata(document)
    return to_line(record | outcome_to_json(output_type, outcome, text))


def outcome_to_json(output_type: OutputType[Any], outcome: Any, text: str | None = None) -> Record:
    """Return what a record says of the instance, the `Extraction` or the error: all but what the document is."""
    if isinstance(outcome, StructuredError):
        return {"error": _error_to_json(outcome)}
    if isinstance(outcome, Extraction):
        extraction = json.loads(outcome.to_json())
        return {"value": extraction["value"], "extraction": extraction}
    return _value_to_json(output_type, outcome, text)


def to_line(record: Record) -> bytes:
    """Return a record as one line of UTF-8."""
    try:
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # the name of a file that is no text, say
        return json.dumps(record).encode() + b"\n"


def read_line(line: bytes) -> Record:
    """Return the record of a line. Raises ValueError if it is none."""
    return checked(json.loads(line))


def checked(record: Any) -> Record:
    """Return a JSON value that is a record. Raises ValueError if it is none."""
    problem = _problem(record)
    if problem:
        raise ValueError(problem)
    found: Record = record
    return found


def is_begun(tail: bytes) -> bool:
    """Tell whether bytes are a record of which the end may be missing, or nothing; JSON that is no record is not."""
    identity = _ID.match(tail)
    if identity is None:
        return b'{"id": "'.startswith(tail)
    rest = tail[identity.end() :]
    if rest != b"\\" and not rest.startswith(_AFTER_ID):  # torn in an escape
        return _AFTER_ID.startswith(rest)
    try:
        json.loads(tail)
    except ValueError:
        return True
    except RecursionError:
        return False
    try:
        read_line(tail)
    except ValueError:
        return False
    return True


def _problem(record: Any) -> str:
    """Return why a JSON value is no record; an empty text if it is one."""
    if not isinstance(record, dict):
        return "it is no object"
    if not isinstance(record.get("id"), str):
        return "it has no id"
    digest = record.get("digest")
    if not isinstance(digest, str) or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        return "its digest is no SHA-256"
    if not isinstance(record.get("made_by"), dict) or not isinstance(record["made_by"].get("options", {}), dict):
        return "it does not say what made it"
    error = record.get("error", {"kind": "", "message": ""})
    if not isinstance(error, dict) or not all(isinstance(error.get(name), str) for name in ("kind", "message")):
        return "its error has no kind and message"
    return "" if ("value" in record) != ("error" in record) else "it has to have either a value or an error"


def result_of(record: Record, position: int, output_type: object, wanted: OutputType[Any]) -> BatchResult[Any]:
    """Return what a record says, its value read as the type. Raises ValueError if the type does not read it.

    The document has its id and its metadata, and its text where there is an extraction.
    """
    extraction = record.get("extraction")
    text = extraction["document"] if isinstance(extraction, dict) and "document" in extraction else ""
    document = Document(text, record["id"], record.get("metadata", {}))
    if "error" in record:
        return BatchResult(position, document, None, _error_from_json(record["error"]))
    if extraction is None and output_type is Any:
        return BatchResult(position, document, record["value"])
    if extraction is None:
        written = record.get("text")
        return BatchResult(
            position, document, wanted.parse(wanted.from_data(record["value"]) if written is None else written)
        )
    absent = record["made_by"].get("options", {}).get("absent")
    value: Extraction[Any] = Extraction.from_json(json.dumps(extraction), output_type, absent=absent)
    return BatchResult(position, document, value)


def _value_to_json(output_type: OutputType[Any], value: Any, text: str | None) -> Record:
    """Return a value for readers and, where that is not what the model wrote, the text of the answer."""
    try:
        shown = json.loads(to_json(value, by_alias=True, fallback=repr if text is None else None))
    except Exception:  # noqa: BLE001  a serializer of the user's own, or what is no JSON, such as a function
        shown = None if text is None else output_type.to_data(text)
    if text is None:
        text = output_type.write(value)
    # Compared as JSON texts: 1, 1.0 and true are equal in Python.
    same = json.dumps(shown) == json.dumps(output_type.to_data(text))
    return {"value": shown} if same else {"value": shown, "text": text}


def check_metadata(document: Document) -> None:
    """Raise PromptError for metadata that are no JSON, before the model works on the document."""
    if document.metadata:
        _metadata(document)


def _metadata(document: Document) -> Any:
    try:
        return json.loads(to_json(dict(document.metadata)))
    except Exception as error:
        raise PromptError(
            f"The metadata of the document {document.id!r} cannot be written as JSON: {message(error)}. Pass plain "
            "values.",
            id=document.id,
        ) from error


def _error_to_json(error: StructuredError) -> Record:
    """Return an error with its fields."""
    fields = dict(vars(error))
    fields.pop("__notes__", None)
    if isinstance(error, GenerationError):
        fields["attempts"] = [
            {"text": one.text, "error": message(one.error), "kind": type(one.error).__name__} for one in error.attempts
        ]
    plain = json.loads(json.dumps(fields, default=lambda one: json.loads(to_json(one, fallback=repr))))
    return {"kind": type(error).__name__, "message": message(error), **({"fields": plain} if plain else {})}


def _error_from_json(record: Any) -> StructuredError:
    """Return the error that a record says. Raises ValueError if it says none."""
    try:
        kind = getattr(errors, record["kind"], None)
        if not isinstance(kind, type) or not issubclass(kind, StructuredError):
            kind = StructuredError
        error = kind.__new__(kind, record["message"])
        fields = dict(record.get("fields", {}))
        if "attempts" in fields:
            fields["attempts"] = tuple(
                Attempt(one["text"], StandInError(one["error"], one["kind"])) for one in fields["attempts"]
            )
        vars(error).update(fields)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ValueError(f"its error is none that the library writes: {message(problem)}") from problem
    return error


def _shortened(name: str, value: Any) -> Any:
    """Return the value of an option as JSON data, or a digest of it if it is long."""
    plain = json.loads(to_json(value, fallback=repr))
    written = json.dumps(plain, ensure_ascii=False)
    return plain if name == "absent" or len(written) <= MAX_SHOWN else f"sha256:{_short_digest(written)}"


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
