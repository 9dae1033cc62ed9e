"""The result for one document: its value or its error, its evidence and its provenance.

Every road through the library ends in results, and everything else is a loop over them: lists of values, files that
are written and resumed, tables, review pages, evaluation, the answers of a server.

The JSON form of a result is one object, a line of a file of results:

    {"id": …, "digest": …, "provenance": {…}, "value": …, "data": …, "missing": […], "evidence": {…}, "text": …, …}
    {"id": …, "digest": …, "provenance": {…}, "error": {"kind": …, "message": …, "fields": {…}}}

`value` is written for readers. It is read back from `text`, which the type reads as it did at first.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import cached_property
from operator import add
from typing import Any, Generic, TypeVar, cast

from pydantic_core import ValidationError, to_json, to_jsonable_python

from structured import errors
from structured.decoding.requests import Generation
from structured.errors import Attempt, GenerationError, MissingError, StructuredError, error_of_one
from structured.errors.values import StandInError, message, picklable, shown
from structured.output_types.checks import Flag, flags_of, flags_of_data
from structured.output_types.html import bullet_list, card, concatenated
from structured.output_types.missing_values import ParsedAnswer
from structured.output_types.output_type import OutputType
from structured.output_types.paths import leaves, steps_to_path
from structured.results.attribution import KeptAnswer, attribute
from structured.results.evidence import Box, Evidence, PageLayout, document_to_html, on_pages, values_to_html
from structured.results.merging import Conflicts

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of an answer, its rejected attempts and other samples included.

    Attributes:
        prompt_tokens: The tokens of the prompt, of the last attempt alone; of a merged answer, those of all its chunks.
        sampled_tokens: The tokens that the model was asked for.
        forced_tokens: The tokens that were known without asking it.
        passes: The forward passes in which its text took part.
    """

    prompt_tokens: int = 0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    passes: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Return the cost of two answers together."""
        return Usage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Provenance:
    """The inputs that decide an answer: the type, the model, the prompt and the options.

    Validators and other code of the type are not part of it, nor are weights that are replaced under the same name.

    Attributes:
        type: The name of the type.
        type_digest: Its digest; of a type that is written as JSON, the SHA-256 of its schema and layout.
        model: The name of the model.
        vocabulary: The first 16 digits of the fingerprint of the model's vocabulary; None for a server.
        prompt: The first 16 digits of the SHA-256 of the prompt for an empty text.
        options: The options that may change an answer, as JSON values; of a long one a digest.
        version: The version of this library.
    """

    type: str
    type_digest: str
    model: str
    vocabulary: str | None
    prompt: str
    options: Mapping[str, Any]
    version: str


@dataclass(frozen=True, slots=True)
class ResultInputs:
    """The inputs from which the lazy members of a result are computed.

    Attributes:
        output_type: The type that reads it.
        all_generations: All generations that tell how sure the model was.
        kept: The part of an earlier answer that the last attempt kept.
        pages: Where each page of the document starts.
        layout: Where its words stand on its pages.
        calibrate: The probability that a value of some confidence is right; None if there is no calibration.
        known_evidence: The evidence, where it is known already.
        stated: The stated values and the missing fields, of a type whose fields may be missing.
        provenance: Returns what decides the answer.
    """

    output_type: OutputType[Any]
    all_generations: Sequence[Generation] = ()
    kept: KeptAnswer | None = None
    pages: Sequence[int] = ()
    layout: PageLayout | None = None
    calibrate: Callable[[float], float] | None = None
    known_evidence: Mapping[str, Evidence] | None = None
    stated: ParsedAnswer[Any] | None = None
    provenance: Callable[[], Provenance] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Result(Generic[T]):
    """The result for one document: a value with its evidence, or an error.

        for result in extract_results(Person, documents):
            print(result.id, result.error or result.value)

    What costs time is computed when it is first asked for: `data`, `evidence`, `flags`, `provenance` and what follows
    from them. Pickling computes it.

    Attributes:
        id: The id of the document, or its path, or else its position.
        position: Its place among the documents.
        document: Its text; of a chat, all that the user says. Empty if it could not be read.
        metadata: What came along with the document.
        text: The answer as it was written; None if there is an error.
        error: Why there is no answer; None if there is one.
        missing: The paths, such as `"lines[2].price"`, of fields that are not stated. Only with `allow_missing`.
        attempts: The answers that the type's validators rejected before.
        generations: The texts that the model wrote for the answer: one, or those that agreed on it. Of a document that
            was read in chunks, one without tokens, for all that was written about them.
        usage: Its cost in tokens and passes.
        seconds: How long it took; documents of a batch are written together.
        conflicts: Of a document that was read in chunks, other values that it states for a field, by the path of the
            one that was preferred.
        source: The SHA-256 of the file on whose pages the boxes of the evidence lie; empty if there are none.
    """

    id: str
    position: int
    document: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    error: StructuredError | None = None
    missing: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = field(default=())
    generations: tuple[Generation, ...] = field(default=())
    usage: Usage = field(default=Usage())
    seconds: float = field(default=0.0)
    conflicts: Conflicts = field(default_factory=dict)
    source: str = field(default="")
    _instance: T | None = field(default=None)
    """The value; None also where there is none."""
    _missing_error: Exception | None = field(default=None)
    """Why there is no value: fields that the type requires are missing."""
    _inputs: ResultInputs | None = field(default=None)
    """The inputs of the lazy members."""
    _computed: Mapping[str, Any] = field(default_factory=dict)
    """The lazy members, of a result that was pickled or written."""

    def __post_init__(self) -> None:
        vars(self).update(self._computed)

    def __repr__(self) -> str:
        """Return the id with the value, or with the error; the stated data where no value can be made."""
        shown: dict[str, Any] = {"value": self._instance} if self.error is None else {"error": self.error}
        if self._missing_error is not None:
            shown = {"data": self.data}
        if self.missing:
            shown["missing"] = self.missing
        return f"Result({', '.join(f'{name}={member!r}' for name, member in {'id': self.id, **shown}.items())})"

    def __eq__(self, other: object) -> bool:
        """Tell whether two results say the same of the same document, however long they took."""
        if not isinstance(other, Result):
            return NotImplemented
        return self is other or (hash(self) == hash(other) and self._facts() == other._facts())

    def __hash__(self) -> int:
        return hash((self.id, self.position, self.document, self.text))

    def _facts(self) -> tuple[object, ...]:
        return self.position, self.metadata, self.provenance, self._instance, self.to_dict() | {"seconds": None}

    @property
    def value(self) -> T:
        """The validated instance. Missing fields have their defaults.

        Raises the error of the document, and MissingError if a missing field has no default; `data` has what is stated.
        """
        if self.error is not None:
            raise self.error
        if (error := self._missing_error) is not None:
            name = "" if self.provenance is None else self.provenance.type
            faults = error.errors() if isinstance(error, ValidationError) else []
            needed = {steps_to_path(fault["loc"]) for fault in faults}
            needed = needed if needed <= set(self.missing) else set()  # a union's branches are in these paths
            raise MissingError(self.missing, needed=sorted(needed), type_name=name, document=self.id) from error
        return cast("T", self._instance)

    @cached_property
    def data(self) -> Any:
        """The stated values, as plain JSON, without the missing fields; None if there is an error."""
        if self._inputs is None or self.text is None:
            return None
        stated = self._inputs.stated
        return self._inputs.output_type.to_data(self.text) if stated is None else stated.data

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """The evidence for each value that holds no others, by its path; `""` is an answer of one value."""
        if self._inputs is None or self.text is None:
            return {}
        source, evidence = self._inputs, self._inputs.known_evidence
        if evidence is None:
            evidence = attribute(source.output_type, self.document, self.text, source.all_generations, source.kept)
        if source.calibrate is not None:
            evidence = {path: item.calibrated(source.calibrate) for path, item in evidence.items()}
        return on_pages(evidence, source.pages, source.layout)

    @cached_property
    def flags(self) -> tuple[Flag, ...]:
        """The values that did not pass a `Check` of the type, each with the check's message."""
        if self._inputs is None or self.text is None:
            return ()
        parts = self._inputs.output_type.parts
        return flags_of(parts, self._instance) if self._missing_error is None else flags_of_data(parts, self.data)

    @cached_property
    def provenance(self) -> Provenance | None:
        """The inputs that decided the answer; None if there is an error."""
        return None if self._inputs is None or self._inputs.provenance is None else self._inputs.provenance()

    @property
    def confidence(self) -> float:
        """The least `trust` in one of the values.

        0 if a grounded value was the only one that the document states, and 0 if no value has a confidence.
        """
        return min((item.trust for item in self.evidence.values() if item.trust is not None), default=0.0)

    def rows(self) -> list[dict[str, Any]]:
        """Return each value with its evidence, as a row of a table: `pandas.DataFrame(result.rows())`.

        A row has the `path`, the `value` as plain JSON, the `quote` that supports it (None if nothing does), where that
        starts and ends, its `page`, the `match`, the `confidence`, the `agreement`, and the `flags` as text.
        """
        values = {steps_to_path(steps): value for steps, value in leaves(self.data)}
        return [
            {
                "path": path,
                "value": values.get(path),
                "quote": None if item.span is None else self.document[slice(*item.span)],
                **dict(zip(("start", "end"), item.span or (None, None), strict=True)),
                "page": item.page,
                "match": item.match,
                "confidence": item.confidence,
                "agreement": item.agreement,
                "flags": "; ".join(flag.reason for flag in self.flags if flag.path == path) or None,
            }
            for path, item in self.evidence.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON data: a record of a file of results, but for what identifies the document."""
        if self.error is not None:
            return {"error": error_to_json(self.error)}
        return {
            "value": self._value_to_json(),
            "data": self.data,
            "missing": list(self.missing),
            "evidence": {path: _evidence_to_json(item) for path, item in self.evidence.items()},
            "document": self.document,
            "text": self.text,
            "usage": asdict(self.usage),
            "attempts": _attempts_to_json(self.attempts),
            "seconds": self.seconds,
            "conflicts": {
                path: [{"value": value, "evidence": _evidence_to_json(alternative)} for value, alternative in others]
                for path, others in self.conflicts.items()
            },
            **({"source": self.source} if self.source else {}),
            **({"flags": list(map(asdict, self.flags))} if self.flags else {}),
        }

    def _value_to_json(self) -> Any:
        try:
            return json.loads(to_json(self._instance, by_alias=True))
        except Exception:  # noqa: BLE001  a serializer of the user's own, or what is no JSON
            return self.data

    def __getstate__(self) -> dict[str, Any]:
        """Compute the lazy members, and leave out their inputs."""
        computed = {"data": self.data, "evidence": dict(self.evidence), "provenance": self.provenance}
        computed["flags"] = self.flags
        attempts = tuple(Attempt(attempt.text, picklable(attempt.error)) for attempt in self.attempts)
        replaced = {"_inputs": None, "_computed": computed, "attempts": attempts, "metadata": dict(self.metadata)}
        replaced |= {"conflicts": dict(self.conflicts), "_missing_error": picklable(self._missing_error)}
        return {**vars(self), **computed, **replaced}

    def _repr_html_(self) -> str:
        """Return the document with its values highlighted, and the values with their evidence."""
        title, model = ("Result", "") if self.provenance is None else (self.provenance.type, self.provenance.model)
        if self.error is not None:
            return card(title, model, concatenated(message(self.error)))
        parts = [document_to_html(self.document, self.evidence)] if self.document else []
        parts.append(values_to_html(self.data, self.missing, self.evidence))
        parts += [bullet_list(self.flags)] if self.flags else []
        return card(title, model, *parts)


def read_answer(output_type: OutputType[T], text: str) -> T | Attempt:
    """Return the value of an answer, or the attempt that it was if a validator raises anything."""
    try:
        return output_type.parse(text)
    except Exception as error:  # noqa: BLE001  validators are the user's own code
        return Attempt(text, error)


def instance_of(result: Result[Any]) -> Any:
    """Return the value of a result; None if there is none."""
    try:
        return result.value
    except StructuredError:
        return None


def made_of(result: Result[T], make: Callable[[Result[T]], U]) -> tuple[Result[T], U]:
    """Return what a function makes of a result, and that result; one with an error if reading it raises anything."""
    try:
        return result, make(result)
    except Exception as problem:  # noqa: BLE001  what is computed late costs no other document its result
        error = error_of_one(problem, f"Reading the result of document {result.id}")
        failed = Result[T](result.id, result.position, result.document, result.metadata, error=error)
        return failed, make(failed)


def result_from_json(
    record: Mapping[str, Any], position: int, output_type: OutputType[Any] | None, provenance: Provenance | None
) -> Result[Any]:
    """Return the result of a JSON form, its value read as the type; without a type, the value is the plain data.

    Raises ValueError if the form is no result, or if the type does not read its answer.
    """
    try:
        metadata = dict(record.get("metadata", {}))
        if "error" in record:
            error = error_from_json(record["error"])
            return Result(record["id"], position, "", metadata, error=error, _computed={"provenance": provenance})
        result = _answered_from_json(record, position, metadata)
        data = record.get("data", record["value"])
        records = record.get("evidence", {}) if "document" in record else {}  # else its places are in no text
        evidence = {path: _read_evidence(part, result.document) for path, part in records.items()}
        members = {"data": data, "evidence": evidence, "provenance": provenance}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no result: {message(error)}") from error
    instance, missing_error = data if result.missing else record["value"], None
    if output_type is not None:
        text = output_type.from_data(data) if result.text is None else result.text
        value = output_type.parse(text)
        stated = value if isinstance(value, ParsedAnswer) else ParsedAnswer(value, output_type.to_data(text), ())
        if "data" in record and (stated.data, stated.missing) != (data, result.missing):
            raise ValueError("its data are not what its text says")
        instance, missing_error = stated.value, stated.error
        result = replace(result, _inputs=ResultInputs(output_type))
    else:
        members["flags"] = tuple(Flag(**flag) for flag in record.get("flags", ()))
    return replace(result, _instance=instance, _missing_error=missing_error, _computed=members)


def _answered_from_json(record: Mapping[str, Any], position: int, metadata: Mapping[str, Any]) -> Result[Any]:
    document = record.get("document", "")
    for name in ("document", "text"):
        if not isinstance(record.get(name, ""), str):
            raise TypeError(f"the {name} is {shown(record[name])}")
    conflicts = {
        path: [(alternative["value"], _read_evidence(alternative["evidence"], document)) for alternative in others]
        for path, others in record.get("conflicts", {}).items()
    }
    return Result(
        record["id"],
        position,
        document,
        metadata,
        missing=tuple(record.get("missing", ())),
        attempts=_attempts_from_json(record.get("attempts", ())),
        usage=Usage(**record.get("usage", {})),
        conflicts=conflicts,
        **{name: record[name] for name in ("text", "seconds", "source") if name in record},
    )


def _evidence_to_json(evidence: Evidence) -> Any:
    return to_jsonable_python(evidence, exclude=None if evidence.boxes else {"boxes"})


def _read_evidence(record: Mapping[str, Any], document: str) -> Evidence:
    """Return the evidence that a record says. Raises ValueError for a span outside of the document."""
    boxes = tuple(Box(*box) for box in record.get("boxes", ()))
    span = None if record["span"] is None else tuple(record["span"])
    evidence = Evidence(**{**record, "span": span, "boxes": boxes})
    if evidence.span is not None and evidence.span[1] > len(document):
        raise ValueError(f"the span {evidence.span} is outside of the document")
    return evidence


def error_to_json(error: StructuredError) -> dict[str, Any]:
    """Return an error with its fields as a JSON object."""
    fields = dict(vars(error))
    fields.pop("__notes__", None)
    if isinstance(error, GenerationError):
        fields["attempts"] = _attempts_to_json(error.attempts)
    plain = json.loads(json.dumps(fields, default=lambda member: json.loads(to_json(member, fallback=repr))))
    return {"kind": type(error).__name__, "message": message(error), **({"fields": plain} if plain else {})}


def error_from_json(record: Any) -> StructuredError:
    """Return the error of a JSON object that `error_to_json` made. Raises ValueError for any other object."""
    try:
        kind = getattr(errors, record["kind"], None)
        if not isinstance(kind, type) or not issubclass(kind, StructuredError):
            kind = StructuredError
        error = kind.__new__(kind, record["message"])
        fields = dict(record.get("fields", {}))
        if "attempts" in fields:
            fields["attempts"] = _attempts_from_json(fields["attempts"])
        vars(error).update(fields)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ValueError(f"its error is none that the library writes: {message(problem)}") from problem
    return error


def _attempts_to_json(attempts: Sequence[Attempt]) -> list[dict[str, str]]:
    return [
        {"text": attempt.text, "error": message(attempt.error), "kind": _kind_of(attempt.error)} for attempt in attempts
    ]


def _kind_of(error: Exception) -> str:
    return error.kind if isinstance(error, StandInError) else type(error).__name__


def _attempts_from_json(records: Sequence[Mapping[str, str]]) -> tuple[Attempt, ...]:
    return tuple(Attempt(record["text"], StandInError(record["error"], record["kind"])) for record in records)
