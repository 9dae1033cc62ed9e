"""Records: one line of JSON for the result of one document; see `structured.results.result`.

    {"id": …, "digest": …, "order": […], "provenance": {…}, "metadata": {…}, "value": …, "data": …, "text": …, …}
    {"id": …, "digest": …, "order": […], "provenance": {…}, "metadata": {…}, "error": {"kind": …, "message": …, …}}

`digest` is that of the document's text. `order` is the number of the call that wrote the record, the position of the
document among those of this call, and the ids of the documents before and after it that had a record already: the next
ones, or null. Both ids are left out if both are null.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from pydantic_core import to_json

from structured.errors import PromptError
from structured.errors.values import message
from structured.extraction.documents.document import Document
from structured.results.result import Provenance, Result

Record = dict[str, Any]

_ID = re.compile(rb'\{"id": "(?:[^"\\\x00-\x1f]|\\.)*')
_AFTER_ID = b'", "digest": "'
"""The beginning of each line."""

TYPE_OPTIONS = ("allow_missing", "grounded", "layout")
"""Options that are a part of the type, so that another value makes another type."""

DIGEST_OF_NO_TEXT = hashlib.sha256().hexdigest()
"""The digest of a document without text, such as a file that could not be read."""


MAX_ORDER = 2**63 - 1
"""The greatest number in an `order`."""


@dataclass(slots=True)
class Gap:
    """A gap between two documents that have a record, in which the documents have none yet.

    Attributes:
        after: The id of the document before the gap; None at the beginning.
        before: The id of the document after the gap; None as long as it has not been read.
    """

    after: str | None = None
    before: str | None = None


class Place(NamedTuple):
    """The place of a document in a call, and among the documents that have a record."""

    call: int
    position: int
    gap: Gap

    def to_json(self) -> list[int | str | None]:
        """Return the `order` of a record."""
        numbers, ids = [self.call, self.position], [self.gap.after, self.gap.before]
        return [*numbers, *ids] if any(ids) else [*numbers]


def digest_of(document: Document) -> str:
    """Return the SHA-256 of a document's text, as UTF-8; of a chat, that of its messages as JSON."""
    text: object = document.text
    if not isinstance(text, str):
        try:
            text = json.dumps(text, ensure_ascii=False, default=lambda one: type(one).__name__)
        except (TypeError, ValueError, RecursionError):  # it is no document, and fails as one
            text = type(text).__name__
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def differences(before: Mapping[str, Any], now: Provenance, *, ignored: frozenset[str] = frozenset()) -> list[str]:
    """Return in words how a provenance differs from that of a record, but for the version and the options `ignored`."""
    changes = []
    options_before, options_now = before.get("options", {}), now.options
    for name in sorted({*options_before, *options_now} - ignored):
        if options_before.get(name) != options_now.get(name):
            was, is_now = (f"{name}={one[name]!r}" if name in one else "none" for one in (options_before, options_now))
            changes.append(f"the option {name} (it was {was}, and is {is_now})")
    if before.get("type_digest") != now.type_digest and not any(
        options_before.get(name) != options_now.get(name) for name in TYPE_OPTIONS
    ):
        changes.append("the type")
    if before.get("model") != now.model:
        changes.append(f"the model (it was {before.get('model')!r}, and is {now.model!r})")
    if before.get("vocabulary") != now.vocabulary:
        changes.append("the vocabulary")
    if not changes and before.get("prompt") != now.prompt:
        changes.append("the prompt, which another version of the library may word otherwise")
    return changes


def record_of(result: Result[Any], digest: str, place: Place, provenance: Provenance) -> Record:
    """Return the record of a result. Raises PromptError for metadata that are no JSON."""
    record: Record = {"id": result.id, "digest": digest, "order": place.to_json()}
    record["provenance"] = asdict(provenance)
    if result.metadata:
        record["metadata"] = metadata_to_json(result.id, result.metadata)
    return record | result.to_dict()


def line_of(record: Record) -> bytes:
    """Return a record as one line of UTF-8."""
    try:
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # the name of a file that is no text, say
        return json.dumps(record).encode() + b"\n"


def read_line(line: bytes, *, needs_provenance: bool = True) -> Record:
    """Return the record of a line. Raises ValueError if it is none, or lacks the provenance that resuming needs."""
    record: Record = json.loads(line.decode("utf-8-sig"))
    problem = _problem(record, needs_provenance=needs_provenance)
    if problem:
        raise ValueError(problem)
    return record


def is_record_prefix(line: bytes) -> bool:
    """Tell whether bytes are the beginning of a record, or a whole one.

    `b'{"id": "a", "dig'` → True; `b'{"name": "a"}'` → False
    """
    id_match = _ID.match(line)
    if id_match is None:
        return b'{"id": "'.startswith(line)
    after_id = line[id_match.end() :]
    if after_id != b"\\" and not after_id.startswith(_AFTER_ID):  # torn in an escape
        return _AFTER_ID.startswith(after_id)
    try:
        read_line(line)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return True
    except (ValueError, RecursionError):
        return False
    return True


def _problem(record: Any, *, needs_provenance: bool) -> str:
    """Return why a JSON value is no record, or says too little to be resumed; an empty text if it is one."""
    if not isinstance(record, dict):
        return "it is no object"
    if not isinstance(record.get("id"), str):
        return "it has no id"
    error = record.get("error", {"kind": "", "message": ""})
    if not isinstance(error, dict) or not all(isinstance(error.get(name), str) for name in ("kind", "message")):
        return "its error has no kind and message"
    digest = record.get("digest", DIGEST_OF_NO_TEXT)
    if not isinstance(digest, str) or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        return "its digest is no SHA-256"
    if not _is_order(record.get("order", [0, 0])):
        return "its order is no pair of numbers, with or without two ids"
    if ("value" in record) == ("error" in record):
        return "it has both a value and an error" if "value" in record else "it has neither a value nor an error"
    if needs_provenance and "digest" not in record:
        return "it has no digest"
    provenance = record.get("provenance") if needs_provenance else {}
    says_what_made_it = isinstance(provenance, dict) and isinstance(provenance.get("options", {}), dict)
    return "" if says_what_made_it else "it does not say what made it"


def _is_order(order: Any) -> bool:
    if not (isinstance(order, list) and len(order) in {2, 4}):
        return False
    numbers, ids = order[:2], order[2:]
    return all(type(one) is int and 0 <= one <= MAX_ORDER for one in numbers) and all(
        one is None or isinstance(one, str) for one in ids
    )


def metadata_to_json(document_id: str, metadata: Mapping[str, Any]) -> Any:
    """Return the metadata of a document as JSON data. Raises PromptError for those that are none."""
    try:
        return json.loads(to_json(dict(metadata)))
    except Exception as error:
        problem = f"The metadata of the document {document_id!r} cannot be written as JSON: {message(error)}"
        raise PromptError(f"{problem}. Pass plain values.", id=document_id) from error
