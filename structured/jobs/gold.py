"""Gold: documents with their right answers, as a caller has them or as the review page exports them.

Of a reviewed document only the fields count whose values a person saw: the others hold the answer of the model, which
would be compared with itself.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, StrictInt, ValidationError
from pydantic_core import to_jsonable_python

from structured.errors import PromptError, StructuredError
from structured.errors.values import fault_of_json, message, shown
from structured.extraction.documents.document import Document, DocumentLike, read_document
from structured.extraction.prompts import Conversation, is_messages
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, end_values, has_member, path_to_steps, steps_to_field, steps_to_path
from structured.output_types.schema_parts import parts_at
from structured.results.result import Result, instance_of

GoldLike: TypeAlias = "str | PathLike[str] | Iterable[tuple[DocumentLike, Any] | Gold]"
"""A file of JSON lines, or pairs of a document and its right answer: an instance, plain data or a `Result`."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A document with its right answer.

    Attributes:
        original: The document as the caller passed it.
        document: The document as it was read; without text if it cannot be.
        data: The right answer as plain JSON data.
        spans: Where the document states values, by their paths; empty if that is not known.
        reviewed_fields: The fields that count, with those inside of them; None if all do.
    """

    original: DocumentLike
    document: Document
    data: Any
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    reviewed_fields: frozenset[str] | None = None

    @property
    def text(self) -> str:
        """The text of the document; of a chat, that of the user, as in the extraction."""
        text: object = self.document.text
        if is_messages(text):
            try:
                return Conversation.read(text).document
            except StructuredError:
                return ""
        return text if isinstance(text, str) else ""

    def counts(self, field: str) -> bool:
        """Tell whether a field counts: it was reviewed, or the list or record that it is in."""
        if self.reviewed_fields is None or "" in self.reviewed_fields:
            return True
        return any(f"{field}."[: len(one) + 1] in {f"{one}.", f"{one}["} for one in self.reviewed_fields)


def read_gold(gold: GoldLike, output_type: OutputType[Any] | None) -> Iterator[Gold]:
    """Yield documents with their right answers, checked by the type if it is known.

    Raises ValueError or TypeError for what is none, with the line of a file and the field.
    """
    if isinstance(gold, str | PathLike):
        yield from _read_file(Path(fspath(gold)), output_type)
        return
    for position, pair in enumerate(gold):
        name = f"gold[{position}]"
        if isinstance(pair, Gold):  # read before
            yield pair
            continue
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{name} is {shown(pair)}. Pass pairs of a document and its right answer.")
        document, value = pair
        spans = {}
        if isinstance(value, Result):
            spans = {path: one.span for path, one in value.evidence.items() if one.span is not None}
        try:
            read_as = read_document(document)
        except PromptError:  # which the extraction reports
            read_as = Document("", str(document))
        yield Gold(document, read_as, to_data(value, output_type, name), spans)


def to_data(value: Any, output_type: OutputType[Any] | None, name: str) -> Any:
    """Return a right answer as plain JSON data, as the type writes it. Raises ValueError if it is not of the type."""
    if output_type is None:
        return answer_data(value, None)
    try:
        if output_type.root is None:
            value = _parsed(output_type, value) if isinstance(value, str) else value
        elif is_plain(value):
            value = output_type.parse(output_type.from_data(value))
        return answer_data(value, output_type)
    except Exception as error:  # a validator of the type's author
        raise ValueError(f"{name}: the value is no {output_type.name}: {fault_of(error)}") from error


def fault_of(error: Exception) -> str:
    """Return what is wrong; of several faults that Pydantic finds, the first one with its place."""
    if not isinstance(error, ValidationError):
        return message(error)
    first = error.errors()[0]
    return f"{steps_to_path(first['loc']) or 'it'}: {first['msg']}."


def _parsed(output_type: OutputType[Any], value: str) -> Any:
    """Return the value that is meant: that of a text of the type or, if it is none of its texts, the value itself."""
    try:
        return output_type.parse(value)
    except Exception as error:  # noqa: BLE001  validators are the user's own code
        try:
            return output_type.parse(output_type.write(value))
        except Exception:  # noqa: BLE001  it is no value either
            raise error from None


def answer_data(value: Any, output_type: OutputType[Any] | None) -> Any:
    """Return an instance or a result as plain JSON data, without missing fields."""
    if isinstance(value, Result):
        instance = instance_of(value)
        if instance is None:
            return value.data
        data = answer_data(instance, output_type)
        for path in value.missing:
            steps = path_to_steps(path)
            record = _value_at(data, steps[:-1])
            if steps and isinstance(record, dict):
                record.pop(steps[-1], None)
        return data
    return to_jsonable_python(value, by_alias=True, fallback=repr) if output_type is None else output_type.plain(value)


def _value_at(data: Any, steps: Steps) -> Any:
    for step in steps:
        if not has_member(data, step):
            return _NO_VALUE
        data = data[step]
    return data


_NO_VALUE = object()


def is_plain(value: Any) -> bool:
    """Tell whether a value is plain JSON data, without an instance of another class anywhere in it."""
    if isinstance(value, dict):
        return type(value) is dict and all(type(name) is str for name in value) and all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or type(value) in {str, int, float, bool}


def _read_file(path: Path, output_type: OutputType[Any] | None) -> Iterator[Gold]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise PromptError(f"The gold {path} is not text in UTF-8, at byte {error.start:,}. Convert it.") from error
    except OSError as error:
        raise PromptError(
            f"The gold {path} cannot be read: {message(error)}. Pass the path of a file of JSON lines, or pairs of a "
            "document and its right answer."
        ) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _read_line(line, f"{path.name}, line {number}", output_type)


class _GoldLine(BaseModel):
    """A line of a file."""

    document: str
    value: Any
    id: str = ""
    spans: dict[str, tuple[StrictInt, StrictInt]] = {}
    reviewed: dict[str, Literal["accepted", "corrected", "rejected", "added"]] | None = None


def _read_line(line: str, name: str, output_type: OutputType[Any] | None) -> Gold:
    try:
        record = _GoldLine.model_validate(json.loads(line))
    except ValidationError as error:
        raise ValueError(f'{name}: {fault_of(error)} Write {{"document": …, "value": …}}.') from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON: {fault_of_json(error)}. Correct it, or remove it.") from error
    for path, (start, end) in record.spans.items():
        if not 0 <= start <= end <= len(record.document):
            raise ValueError(f'{name}: the span of "{path}" is {[start, end]}, outside of the document.')
    reviewed = record.reviewed or {}
    data = (_without_rejected if "rejected" in reviewed.values() else to_data)(record.value, output_type, name)
    _check_paths(reviewed, record.spans, (record.value, data), output_type, name)
    document = Document(record.document, record.id)
    fields = None if record.reviewed is None else _fields_reviewed(reviewed, record.value)
    return Gold(document, document, data, record.spans, fields)


def _check_paths(
    reviewed: Mapping[str, str],
    spans: Mapping[str, tuple[int, int]],
    values: Sequence[Any],
    output_type: OutputType[Any] | None,
    name: str,
) -> None:
    """Raise ValueError for paths without a value. Decisions may keep the paths of values that were rejected."""
    for path in spans:
        if all(_value_at(value, path_to_steps(path)) is _NO_VALUE for value in values):
            raise ValueError(f'{name}: "spans" has {path!r}, where the value has nothing. Correct the path.')
    if output_type is None or output_type.root is None:
        return
    fields = {steps_to_field(steps) for value in values for steps, _ in end_values(value)}
    for path, decision in reviewed.items():
        steps = path_to_steps(path)
        if decision != "rejected" and steps_to_field(steps) not in fields and not parts_at(output_type.root, steps):
            raise ValueError(f'{name}: "reviewed" has {path!r}, which {output_type.name} does not. Correct the path.')


def _without_rejected(value: Any, output_type: OutputType[Any] | None, name: str) -> Any:
    """Return a right answer without its rejected values, which the type may require."""
    try:
        return to_data(value, output_type, name)
    except ValueError as error:
        cause = error.__cause__
        if isinstance(cause, ValidationError) and all(one["type"] == "missing" for one in cause.errors()):
            return value
        raise


def _fields_reviewed(reviewed: Mapping[str, str], value: Any) -> frozenset[str]:
    """Return the fields whose values all have a decision.

    Values are counted where an item of a list was rejected: other items have moved from where decisions are kept.
    """
    counts: Counter[str] = Counter()
    for path, decision in reviewed.items():
        counts[steps_to_field(path_to_steps(path))] += decision != "rejected"
    has_moved_items = any(decision == "rejected" and "[" in path for path, decision in reviewed.items())
    paths: dict[str, set[str]] = defaultdict(set)
    for steps, _ in end_values(value):
        paths[steps_to_field(steps)].add(steps_to_path(steps))
    return frozenset(
        field
        for field, count in counts.items()
        if (len(paths[field]) <= count if has_moved_items else paths[field] <= reviewed.keys())
    )
