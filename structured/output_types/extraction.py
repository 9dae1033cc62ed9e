"""An extraction: a value with the evidence for each part of it, and what it was made by.

Its form in JSON is one object. The value stands there for readers; it is read back from the text of the answer, which
the type reads as it did at first.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar, overload

from pydantic_core import to_json

from structured.errors import Attempt
from structured.errors.pickling import StandInError
from structured.errors.values import message, shown
from structured.output_types.evidence import Evidence
from structured.output_types.extraction_html import document_to_html, values_to_html
from structured.output_types.html import card
from structured.output_types.optional_fields import Absent
from structured.output_types.paths import leaves, steps_to_path
from structured.output_types.resolve import resolve_type
from structured.output_types.stated import Stated

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost, its rejected attempts and other samples included.

    Attributes:
        prompt_tokens: The tokens of the prompt.
        sampled_tokens: The tokens that the model was asked for.
        forced_tokens: The tokens that were known without asking it.
        passes: The forward passes in which its text took part.
    """

    prompt_tokens: int = 0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    passes: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Return what two answers cost together."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.sampled_tokens + other.sampled_tokens,
            self.forced_tokens + other.forced_tokens,
            self.passes + other.passes,
        )


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made an extraction.

    Attributes:
        type: The name of the type.
        model: The name of the model.
        options: The options of the call, as JSON values; one that is none as its `repr`.
        version: That of this library.
        type_digest: SHA-256 of the type's description and schema.
        document_digest: SHA-256 of the document, as UTF-8.
    """

    type: str
    model: str
    options: Mapping[str, Any]
    version: str
    type_digest: str
    document_digest: str


@dataclass(frozen=True, slots=True)
class Extraction(Stated[T], Generic[T]):
    """A value with its evidence: the result of a call with `evidence` or `absent`.

    Two are equal if they say the same, whatever the evidence.

    Attributes:
        value: The instance; missing fields have their defaults. None if a missing field is required by the type.
        data: What was stated, as plain JSON values, without the missing fields.
        missing: The fields that were not stated, by their paths, such as `"lines[2].price"`.
        evidence: The evidence for each value that holds no others, by its path; `""` is an answer of one value.
        document: The document, as it was given; of a chat, all that the user says.
        text: The answer as it was written.
        usage: What it cost.
        attempts: Answers that the type's validators rejected before.
        seconds: How long it took; documents of a batch are written together.
        made_by: What made it.
        conflicts: Of a document that was read in parts, other values that it states for a field, by the path of the one
            that was preferred.
    """

    evidence: Mapping[str, Evidence] = field(default_factory=dict, repr=False, compare=False)
    document: str = field(default="", repr=False, compare=False)
    text: str = field(default="", repr=False, compare=False)
    usage: Usage = field(default=Usage(), repr=False, compare=False)
    attempts: tuple[Attempt, ...] = field(default=(), repr=False, compare=False)
    seconds: float = field(default=0.0, repr=False, compare=False)
    made_by: Provenance | None = field(default=None, repr=False, compare=False)
    conflicts: Mapping[str, Sequence[tuple[Any, Evidence]]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def confidence(self) -> float:
        """The least confidence in one of its values.

        It is 0 where the document left no choice: it states one number, say, whatever that number is about. So it is
        where the model was asked for nothing at all.
        """
        known = (0.0 if one.is_unweighed else one.confidence for one in self.evidence.values())
        return min((confidence for confidence in known if confidence is not None), default=0.0)

    def rows(self) -> list[dict[str, Any]]:
        """Return each value with its evidence, as a row of a table: `pandas.DataFrame(extraction.rows())`.

        A row has the `path`, the `value` as plain JSON, the `quote` that supports it (None if nothing does), where that
        starts and ends, its `page`, the `match`, the `confidence` and the `agreement`.
        """
        values = {steps_to_path(steps): value for steps, value in leaves(self.data)}
        return [
            {
                "path": path,
                "value": values.get(path),
                "quote": None if one.span is None else self.document[slice(*one.span)],
                "start": None if one.span is None else one.span[0],
                "end": None if one.span is None else one.span[1],
                "page": one.page,
                "match": one.match,
                "confidence": one.confidence,
                "agreement": one.agreement,
            }
            for path, one in self.evidence.items()
        ]

    def _repr_html_(self) -> str:
        """Return the document with its values highlighted, and the values with their evidence."""
        title, model = ("Extraction", "") if self.made_by is None else (self.made_by.type, self.made_by.model)
        parts = [document_to_html(self.document, self.evidence)] if self.document else []
        return card(title, model, *parts, values_to_html(self.data, self.missing, self.evidence))

    def to_json(self) -> str:
        """Return the extraction as one JSON object, in one line."""
        written = {
            "value": json.loads(
                to_json(self.value, by_alias=True, fallback=lambda one: getattr(one, "__name__", repr(one)))
            ),
            "data": self.data,
            "missing": self.missing,
            "evidence": {path: asdict(one) for path, one in self.evidence.items()},
            "document": self.document,
            "text": self.text,
            "usage": asdict(self.usage),
            "attempts": [
                {"text": one.text, "error": message(one.error), "kind": type(one.error).__name__}
                for one in self.attempts
            ],
            "seconds": self.seconds,
            "made_by": None if self.made_by is None else asdict(self.made_by),
            "conflicts": {
                path: [{"value": value, "evidence": asdict(one)} for value, one in others]
                for path, others in self.conflicts.items()
            },
        }
        return json.dumps(written, ensure_ascii=False)

    @overload
    @staticmethod
    def from_json(written: str, output_type: type[U], *, absent: Absent | None = ...) -> "Extraction[U]": ...
    @overload
    @staticmethod
    def from_json(written: str, output_type: object, *, absent: Absent | None = ...) -> "Extraction[Any]": ...
    @staticmethod
    def from_json(written: str, output_type: object, *, absent: Absent | None = None) -> "Extraction[Any]":
        """Return the extraction that an object of `to_json` says, its value read as the type that made it.

        With `Any` as the type, the value is the plain data.

        Raises ValueError if it is none, or if the type does not read its answer.
        """
        try:
            record = json.loads(written)
            evidence = {path: _read_evidence(one, record["document"]) for path, one in record["evidence"].items()}
            made_by = None if record["made_by"] is None else Provenance(**record["made_by"])
            usage, missing = Usage(**record["usage"]), tuple(record["missing"])
            tried = record["attempts"]
            attempts = tuple(Attempt(one["text"], StandInError(one["error"], one["kind"])) for one in tried)
            conflicts = {
                path: [(one["value"], _read_evidence(one["evidence"], record["document"])) for one in others]
                for path, others in record.get("conflicts", {}).items()
            }
            data, document, text, seconds = (record[name] for name in ("data", "document", "text", "seconds"))
            _check_text("document", document)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise ValueError(f"This is no extraction as to_json writes it: {message(error)}.") from error
        if missing and absent is None:
            absent = True
        if output_type is Any:
            return Extraction(
                data, data, missing, evidence, document, text, usage, attempts, seconds, made_by, conflicts
            )
        wanted = resolve_type(output_type, absent)
        value = wanted.parse(text)
        stated = value if isinstance(value, Stated) else Stated(value, wanted.to_data(text), ())
        if (stated.data, stated.missing) != (data, missing):
            raise ValueError("This is no extraction as to_json writes it: its data are not what its text says.")
        value = stated.value
        return Extraction(value, data, missing, evidence, document, text, usage, attempts, seconds, made_by, conflicts)


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"the {name} is {shown(text)}")


def _read_evidence(record: Mapping[str, Any], document: str) -> Evidence:
    """Return the evidence that a record says. Raises ValueError for a span outside of the document."""
    evidence = Evidence(**{**record, "span": None if record["span"] is None else tuple(record["span"])})
    if evidence.span is not None and evidence.span[1] > len(document):
        raise ValueError(f"the span {evidence.span} is outside of the document")
    return evidence
