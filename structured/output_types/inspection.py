"""The inspection of a type: a walk through its schema, and a search for all that the compiler refuses.

The walk enters each part once. The fields of a definition are listed where it occurs first; where it occurs again, the
path of that is noted, so that a type in which all models mention each other has as many fields as it says.

A field is refused if and only if the compiler refuses it, since it is the compiler that is asked: first for the
automaton of the whole schema and, where it has no pattern, for the patterns of its parts. A table of what is supported
was rejected: it would have to be kept in step. So was collecting errors inside the compiler, which does not know what
to go on with.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from structured.errors import PatternError, SchemaError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.document.location import VALIDATORS, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import may_be_left_out
from structured.json_schema.schema_compiler import part_to_pattern
from structured.output_types.answer_sizes import inspect_texts, most_bytes
from structured.output_types.description import kinds
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.missing_values import can_be_missing
from structured.output_types.output_type import OutputType, automaton_of, check_interface, description_of
from structured.output_types.paths import branch, branches, entry, member
from structured.output_types.resolve import resolve_type
from structured.output_types.schema_parts import listed
from structured.output_types.type_report import HAZARDS, Cost, FieldReport, Hazard, hazards_of
from structured.regex import nodes_of

if TYPE_CHECKING:
    from structured.output_types.report_view import Report


@dataclass(slots=True, eq=False)
class Part:
    """A visited schema, and those below it; `is_branch` tells whether it is a branch of a union."""

    schema: Subschema
    below: "list[Part]" = field(default_factory=list)
    is_branch: bool = False


@dataclass(slots=True, eq=False)
class _Field:
    """A field while its parts are gathered; those are remembered by their JSON Pointers."""

    path: str
    kind: str
    may_be_left_out: bool = False
    validators: dict[str, None] = field(default_factory=dict)
    refusals: dict[int, SchemaError] = field(default_factory=dict)
    same_as: dict[str, None] = field(default_factory=dict)
    pointers: set[str] = field(default_factory=set)


class Survey:
    """A walk through a schema: the parts as a tree, the fields that they speak of, the hazards in them.

    `choices` counts the unions and lists of values.
    """

    def __init__(self, schema: Subschema, *, name: str) -> None:
        self.choices = 0
        self._kind = kinds()
        self._fields: list[_Field] = []
        self._hazards: dict[tuple[str, tuple[str, ...]], dict[str, _Field]] = {}  # by kind and names, and by path
        self._is_type = schema.location.is_type
        self._spoken_of: dict[str, list[_Field]] = {}  # by JSON Pointer
        self._listed: dict[str, str] = {}  # the JSON Pointers of objects, and where their fields are listed
        self._open: dict[str, str] = {}  # those of the definitions that are being walked through, and where
        has_fields = isinstance(schema.schema, Mapping) and "properties" in schema.schema
        self.root = self._field(schema, path="", kind=name if has_fields else self._kind(schema))
        if schema.location.whitespace.name == "any":
            self._note("whitespace", "", self._fields[0])

    def fields(self) -> tuple[FieldReport, ...]:
        """Return the fields, each before those inside it."""
        return tuple(
            FieldReport(
                path=field.path,
                kind=field.kind,
                validators=tuple(field.validators),
                refusals=tuple(field.refusals.values()),
                same_as=tuple(field.same_as),
                may_be_left_out=field.may_be_left_out,
            )
            for field in self._fields
        )

    def hazards(self) -> tuple[Hazard, ...]:
        """Return the hazards, without those of fields that are refused, which have to be changed anyway."""
        hazards: list[Hazard] = []
        for (kind, names), places in sorted(self._hazards.items(), key=lambda hazard: _ORDER.index(hazard[0][0])):
            problem, of_type, of_schema = HAZARDS[kind]
            remedy = (of_type if self._is_type else of_schema).format(*names[1:])
            paths = tuple(path for path, field in places.items() if not field.refusals)
            hazards += [Hazard(kind, problem.format(*names), remedy, paths)] if paths else []
        return tuple(hazards)

    def _note(self, kind: str, path: str, field: _Field, names: tuple[str, ...] = ()) -> None:
        self._hazards.setdefault((kind, names), {})[path] = field

    def refuse(self, error: SchemaError) -> None:
        """Note an error with the fields that the part of the schema speaks of where it was raised."""
        pointer = error.schema_path
        while pointer not in self._spoken_of:
            pointer = pointer.rpartition("/")[0]
        for affected in self._spoken_of[pointer]:
            affected.refusals[id(error)] = error

    def _field(self, part: Subschema, *, path: str, kind: str, may_be_left_out: bool = False) -> Part:
        field = _Field(path, kind, may_be_left_out)
        self._fields.append(field)
        if path and not may_be_left_out and not can_be_missing(part):
            self._note("invention", path, field)
        return self._part(part, path, field)

    @deep
    def _part(self, part: Subschema, path: str, field: _Field) -> Part:
        """Walk through a schema, in which the value of a field at a path is described."""
        pointer = part.location.pointer
        walked = Part(part)
        if pointer in field.pointers:
            return walked
        field.pointers.add(pointer)
        self._spoken_of.setdefault(pointer, []).append(field)
        for kind, names in hazards_of(part):
            self._note(kind, path, field, names)
        if isinstance(part.schema, Mapping):
            field.validators |= dict.fromkeys(part.schema.get(VALIDATORS, ()))
            self.choices += sum(keyword in part.schema for keyword in ("anyOf", "enum", "oneOf"))
            walked.below = list(self._below(part, path, field))
        return walked

    def _below(self, part: Subschema, path: str, field: _Field) -> Iterator[Part]:
        if "$ref" in part.schema:
            yield from self._definition(part, path, field)
        for keyword in ("anyOf", "oneOf"):
            for option, label in branches(part, keyword):
                walked = self._part(option, branch(path, label), field)
                walked.is_branch = True
                yield walked
        conditional = [part.below(word) for word in ("then", "else") if word in part.schema]
        for inner in (*conditional, *listed(part, "allOf")):
            yield self._part(inner, path, field)
        for keyword in ("items", "prefixItems"):
            for index, item in enumerate(listed(part, keyword)):
                yield self._part(item, f"{path}[{index}]", field)
        further = {"additionalItems": f"{path}[]", "items": f"{path}[]", "additionalProperties": entry(path)}
        for keyword, inside in further.items():
            if isinstance(part.schema.get(keyword), Mapping):
                yield self._part(part.below(keyword), inside, field)
        if isinstance(part.schema.get("properties"), Mapping):
            yield from self._properties(part, path, field)

    def _definition(self, part: Subschema, path: str, field: _Field) -> Iterator[Part]:
        """Walk through the definition that a `$ref` leads to, unless it leads back."""
        try:
            target = follow(part)
        except SchemaError:
            return
        pointer = target.location.pointer
        if pointer in self._open:
            self._note("recursion", path, field)
            field.same_as[self._open[pointer]] = None
            self._spoken_of[pointer].append(field)
            return
        self._open[pointer] = path
        yield self._part(target, path, field)
        del self._open[pointer]

    def _properties(self, part: Subschema, path: str, field: _Field) -> Iterator[Part]:
        """Walk through the fields of an object, where they are met first."""
        pointer = part.location.pointer
        if pointer in self._listed:
            field.same_as[self._listed[pointer]] = None
            return
        self._listed[pointer] = path
        for name in part.schema["properties"]:
            inside = part.below("properties", name)
            is_optional = may_be_left_out(part, name)
            yield self._field(inside, path=member(path, name), kind=self._kind(inside), may_be_left_out=is_optional)


_ORDER = list(HAZARDS)


def inspect_type(output_type: object, *, layout: JsonLayout | None = None) -> "Report":
    """Report on a type before a model is loaded: what is enforced, what is refused, and what may go wrong.

    >>> from structured import inspect_type
    >>> inspect_type(list[type]).fields[0].status
    'refused'

    Parameters:
        output_type: As for `extract`.
        layout: As for `to_regex`.

    Returns:
        The fields with their status, the hazards and the cost of the type. Where the answer is no JSON, it is one
        field, and `answers` tells how many there are.

    Raises:
        SchemaError: It is not a type, or is an `OutputType` that is not supported.
    """
    known = resolve_type(output_type, layout=layout)
    return inspect_json(known) if isinstance(known, JsonOutput) else _inspect_texts(known)


def _inspect_texts(output_type: OutputType[Any]) -> "Report":
    """Return the report on a type whose answers are no JSON, by its automaton."""
    check_interface(output_type)
    if output_type.depends_on_document:
        raise SchemaError(
            f"{output_type.name} depends on the document, and inspecting it has no document",
            remedy="Inspect the type's automaton(document) instead.",
        )
    from structured.output_types.report_view import Report

    cost, answers, hazards = inspect_texts(automaton_of(output_type, None), output_type.how_to_limit)
    text = description_of(output_type).text
    field = FieldReport("", output_type.name if "\n" in text else text, output_type.validators)
    return Report(output_type.name, None, (field,), hazards, 0, cost, answers)


@deep
def inspect_json(output_type: JsonOutput[Any]) -> "Report":
    """Return the report on a type whose answers are JSON."""
    from structured.output_types.report_view import Report  # with the tables of rich

    survey = Survey(output_type.root, name=output_type.name)
    cost = None
    try:
        automaton = output_type.automaton()
        shortest = int(automaton.distances[automaton.start])
        cost = Cost(len(nodes_of(automaton.pattern)), shortest, most_bytes(automaton.pattern))
    except SchemaError as error:
        for refusal in _Search().refusals(survey.root).values() or [error]:
            survey.refuse(refusal)
    except PatternError as error:
        survey.refuse(SchemaError(error.problem, remedy=error.remedy))
    return Report(
        output_type.name, output_type.layout.whitespace, survey.fields(), survey.hazards(), survey.choices, cost
    )


_Refusals = dict[tuple[str, str | None, str], SchemaError]
"""By place, keyword and problem, so that each is reported once."""

MAX_WORK = 20_000
"""The most schemas and branches that are compiled in search of refusals; further ones are reported next time."""


class _Search:
    """A search for all refusals in a schema, by compiling its parts alone."""

    def __init__(self) -> None:
        self.work = 0

    @deep
    def refusals(self, part: Part) -> _Refusals:
        """Return why a part has no pattern, and why those below it have none; nothing if it has one."""
        refusals: _Refusals = {}
        if self.work > MAX_WORK:
            return refusals
        alone = part.schema.location.compilation.uncompiled()
        try:
            part_to_pattern(part.schema, alone)
        except SchemaError as error:
            refusals[error.schema_path, error.keyword, error.problem] = error
        self.work += alone.work
        for below in part.below if refusals else ():
            inner = self.refusals(below)
            is_impossible = isinstance(next(iter(inner.values()), None), UnsatisfiableError)
            own = next(iter(refusals.values()))
            if not (
                below.is_branch and is_impossible and not isinstance(own, UnsatisfiableError)
            ):  # left out of a union
                refusals |= {key: refusals.get(key, value) for key, value in inner.items()}
        return refusals
