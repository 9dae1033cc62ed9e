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
from structured.output_types.description import one_line_describer
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.missing_values import can_be_missing
from structured.output_types.output_type import OutputType, automaton_of, check_interface, description_of
from structured.output_types.paths import branch_path, entry_path, labelled_branches, member_path
from structured.output_types.resolve import resolve_type
from structured.output_types.schema_parts import listed_schemas
from structured.output_types.type_report import HAZARDS, Cost, FieldReport, Hazard, hazards_of
from structured.regex import nodes_of

if TYPE_CHECKING:
    from structured.output_types.report_view import Report


@dataclass(slots=True, eq=False)
class _VisitedSchema:
    """A visited schema, and those below it; `is_branch` tells whether it is a branch of a union."""

    schema: Subschema
    children: "list[_VisitedSchema]" = field(default_factory=list)
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

    def report(self) -> FieldReport:
        """Return the facts of a report."""
        reasons, others = tuple(self.refusals.values()), tuple(self.same_as)
        return FieldReport(self.path, self.kind, tuple(self.validators), reasons, others, self.may_be_left_out)


class Survey:
    """A walk through a schema: the parts as a tree, the fields that they speak of, the hazards in them.

    `choices` counts the unions and lists of values.
    """

    def __init__(self, schema: Subschema, *, name: str) -> None:
        self.choices = 0
        self._kind = one_line_describer()
        self._fields: list[_Field] = []
        self._hazards: dict[tuple[str, tuple[str, ...]], dict[str, _Field]] = {}  # by kind and names, and by path
        self._is_type = schema.location.is_type
        self._fields_by_pointer: dict[str, list[_Field]] = {}  # the fields whose values a part of the schema describes
        self._first_paths: dict[str, str] = {}  # by JSON Pointer of an object, the path where its fields are listed
        self._open_definitions: dict[str, str] = {}  # by JSON Pointer, the paths of those that are being visited
        has_fields = isinstance(schema.schema, Mapping) and "properties" in schema.schema
        self.root = self._visit_field(schema, "", name if has_fields else self._kind(schema))
        if schema.location.whitespace.name == "any":
            self._note_hazard("whitespace", "", self._fields[0])

    def fields(self) -> tuple[FieldReport, ...]:
        """Return the fields, each before those inside it."""
        return tuple([field.report() for field in self._fields])

    def hazards(self) -> tuple[Hazard, ...]:
        """Return the hazards, without those of fields that are refused, which have to be changed anyway."""
        hazards: list[Hazard] = []
        for (kind, names), places in sorted(self._hazards.items(), key=lambda hazard: _ORDER.index(hazard[0][0])):
            problem, of_type, of_schema = HAZARDS[kind]
            remedy = (of_type if self._is_type else of_schema).format(*names[1:])
            paths = tuple(path for path, field in places.items() if not field.refusals)
            hazards += [Hazard(kind, problem.format(*names), remedy, paths)] if paths else []
        return tuple(hazards)

    def _note_hazard(self, kind: str, path: str, field: _Field, names: tuple[str, ...] = ()) -> None:
        self._hazards.setdefault((kind, names), {})[path] = field

    def refuse(self, error: SchemaError) -> None:
        """Note an error with the fields that the part of the schema speaks of where it was raised."""
        pointer = error.schema_path
        while pointer not in self._fields_by_pointer:
            pointer = pointer.rpartition("/")[0]
        for affected in self._fields_by_pointer[pointer]:
            affected.refusals[id(error)] = error

    def _visit_field(self, part: Subschema, path: str, kind: str, *, may_be_left_out: bool = False) -> _VisitedSchema:
        field = _Field(path, kind, may_be_left_out)
        self._fields.append(field)
        if path and not may_be_left_out and not can_be_missing(part):
            self._note_hazard("invention", path, field)
        return self._visit(part, path, field)

    @deep
    def _visit(self, part: Subschema, path: str, field: _Field) -> _VisitedSchema:
        """Walk through a schema, in which the value of a field at a path is described."""
        pointer = part.location.pointer
        visited = _VisitedSchema(part)
        if pointer in field.pointers:
            return visited
        field.pointers.add(pointer)
        self._fields_by_pointer.setdefault(pointer, []).append(field)
        for kind, names in hazards_of(part):
            self._note_hazard(kind, path, field, names)
        if isinstance(part.schema, Mapping):
            field.validators |= dict.fromkeys(part.schema.get(VALIDATORS, ()))
            self.choices += sum(keyword in part.schema for keyword in ("anyOf", "enum", "oneOf"))
            visited.children = list(self._visit_inner(part, path, field))
        return visited

    def _visit_inner(self, part: Subschema, path: str, field: _Field) -> Iterator[_VisitedSchema]:
        if "$ref" in part.schema:
            yield from self._definition(part, path, field)
        for keyword in ("anyOf", "oneOf"):
            for option, label in labelled_branches(part, keyword):
                visited = self._visit(option, branch_path(path, label), field)
                visited.is_branch = True
                yield visited
        conditional = [part.subschema(word) for word in ("then", "else") if word in part.schema]
        for rule in (*conditional, *listed_schemas(part, "allOf")):
            yield self._visit(rule, path, field)
        for keyword in ("items", "prefixItems"):
            for index, item in enumerate(listed_schemas(part, keyword)):
                yield self._visit(item, f"{path}[{index}]", field)
        inner_paths = {"additionalItems": f"{path}[]", "items": f"{path}[]", "additionalProperties": entry_path(path)}
        for keyword, inner_path in inner_paths.items():
            if isinstance(part.schema.get(keyword), Mapping):
                yield self._visit(part.subschema(keyword), inner_path, field)
        if isinstance(part.schema.get("properties"), Mapping):
            yield from self._properties(part, path, field)

    def _definition(self, part: Subschema, path: str, field: _Field) -> Iterator[_VisitedSchema]:
        """Walk through the definition that a `$ref` leads to, unless it leads back."""
        try:
            target = follow(part)
        except SchemaError:
            return
        pointer = target.location.pointer
        if pointer in self._open_definitions:
            self._note_hazard("recursion", path, field)
            field.same_as[self._open_definitions[pointer]] = None
            self._fields_by_pointer[pointer].append(field)
            return
        self._open_definitions[pointer] = path
        yield self._visit(target, path, field)
        del self._open_definitions[pointer]

    def _properties(self, part: Subschema, path: str, field: _Field) -> Iterator[_VisitedSchema]:
        """Walk through the fields of an object, where they are met first."""
        pointer = part.location.pointer
        if pointer in self._first_paths:
            field.same_as[self._first_paths[pointer]] = None
            return
        self._first_paths[pointer] = path
        for name in part.schema["properties"]:
            member = part.subschema("properties", name)
            is_optional = may_be_left_out(part, name)
            yield self._visit_field(member, member_path(path, name), self._kind(member), may_be_left_out=is_optional)


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
    resolved = resolve_type(output_type, layout=layout)
    return inspect_json(resolved) if isinstance(resolved, JsonOutput) else _inspect_texts(resolved)


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
        for refusal in _RefusalSearch().refusals(survey.root).values() or [error]:
            survey.refuse(refusal)
    except PatternError as error:
        survey.refuse(SchemaError(error.problem, remedy=error.remedy))
    name, whitespace = output_type.name, output_type.layout.whitespace
    return Report(name, whitespace, survey.fields(), survey.hazards(), survey.choices, cost)


_Refusals = dict[tuple[str, str | None, str], SchemaError]
"""By place, keyword and problem, so that each is reported once."""

MAX_WORK = 20_000
"""The most schemas and branches that are compiled in search of refusals; further ones are reported next time."""


class _RefusalSearch:
    """A search for all refusals in a schema, by compiling its parts alone."""

    def __init__(self) -> None:
        self.work = 0

    @deep
    def refusals(self, part: _VisitedSchema) -> _Refusals:
        """Return why a part has no pattern, and why those below it have none; nothing if it has one."""
        refusals: _Refusals = {}
        if self.work > MAX_WORK:
            return refusals
        fresh_compilation = part.schema.location.compilation.uncompiled()
        try:
            part_to_pattern(part.schema, fresh_compilation)
        except SchemaError as error:
            refusals[error.schema_path, error.keyword, error.problem] = error
        self.work += fresh_compilation.work
        for child in part.children if refusals else ():
            child_refusals = self.refusals(child)
            is_impossible = isinstance(next(iter(child_refusals.values()), None), UnsatisfiableError)
            first_refusal = next(iter(refusals.values()))
            is_left_out = child.is_branch and is_impossible and not isinstance(first_refusal, UnsatisfiableError)
            if not is_left_out:
                refusals |= {key: refusals.get(key, value) for key, value in child_refusals.items()}
        return refusals
