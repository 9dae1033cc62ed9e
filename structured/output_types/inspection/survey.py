"""The survey of a schema: its parts, each with the fields of the answer that it describes.

The walk goes into every part once. The fields of a definition are listed where it is met first; where it is met again,
the path of that is noted, so that a type in which all models mention each other has as many fields as it says.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.location import VALIDATORS, Schema, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import may_be_left_out
from structured.output_types.description import kinds
from structured.output_types.inspection.hazards import HAZARDS, hazards_of
from structured.output_types.inspection.report import FieldReport, Hazard
from structured.output_types.optional_fields import can_be_absent
from structured.output_types.paths import branch, branches, entry, member


@dataclass(slots=True, eq=False)
class Part:
    """A schema that was walked through, and those below it; `is_branch` tells that it is one of several to choose."""

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
                path=found.path,
                kind=found.kind,
                validators=tuple(found.validators),
                refusals=tuple(found.refusals.values()),
                same_as=tuple(found.same_as),
                may_be_left_out=found.may_be_left_out,
            )
            for found in self._fields
        )

    def hazards(self) -> tuple[Hazard, ...]:
        """Return the hazards, without those of fields that are refused, which have to be changed anyway."""
        found: list[Hazard] = []
        for (kind, names), places in sorted(self._hazards.items(), key=lambda hazard: _ORDER.index(hazard[0][0])):
            problem, of_type, of_schema = HAZARDS[kind]
            remedy = (of_type if self._is_type else of_schema).format(*names[1:])
            paths = tuple(path for path, field in places.items() if not field.refusals)
            found += [Hazard(kind, problem.format(*names), remedy, paths)] if paths else []
        return tuple(found)

    def _note(self, kind: str, path: str, found: _Field, names: tuple[str, ...] = ()) -> None:
        """Note a hazard of a kind, with what it names, at the path of a field."""
        self._hazards.setdefault((kind, names), {})[path] = found

    def refuse(self, error: SchemaError) -> None:
        """Note an error with the fields that the part of the schema speaks of where it was raised."""
        pointer = error.schema_path
        while pointer not in self._spoken_of:
            pointer = pointer.rpartition("/")[0]
        for found in self._spoken_of[pointer]:
            found.refusals[id(error)] = error

    def _field(self, part: Subschema, *, path: str, kind: str, may_be_left_out: bool = False) -> Part:
        found = _Field(path, kind, may_be_left_out)
        self._fields.append(found)
        if path and not may_be_left_out and not can_be_absent(part):
            self._note("invention", path, found)
        return self._part(part, path, found)

    @deep
    def _part(self, part: Subschema, path: str, found: _Field) -> Part:
        """Walk through a schema, in which the value of a field at a path is described."""
        pointer = part.location.pointer
        walked = Part(part)
        if pointer in found.pointers:
            return walked
        found.pointers.add(pointer)
        self._spoken_of.setdefault(pointer, []).append(found)
        for kind, names in hazards_of(part):
            self._note(kind, path, found, names)
        if isinstance(part.schema, Mapping):
            found.validators |= dict.fromkeys(part.schema.get(VALIDATORS, ()))
            self.choices += sum(keyword in part.schema for keyword in ("anyOf", "enum", "oneOf"))
            walked.below = list(self._below(part, path, found))
        return walked

    def _below(self, part: Subschema, path: str, found: _Field) -> Iterator[Part]:
        """Walk through the schemas that a schema consists of."""
        if "$ref" in part.schema:
            yield from self._definition(part, path, found)
        for keyword in ("anyOf", "oneOf"):
            for option, label in branches(part, keyword):
                walked = self._part(option, branch(path, label), found)
                walked.is_branch = True
                yield walked
        for keys in [("then",), ("else",), *(("allOf", index) for index in range(len(_list(part.schema, "allOf"))))]:
            if keys[0] in part.schema:
                yield self._part(part.below(*keys), path, found)
        yield from self._inside(part, path, found)

    def _inside(self, part: Subschema, path: str, found: _Field) -> Iterator[Part]:
        """Walk through the schemas of items and of properties."""
        schema = part.schema
        for keyword in ("items", "prefixItems"):
            for index in range(len(_list(schema, keyword))):
                yield self._part(part.below(keyword, index), f"{path}[{index}]", found)
        for keyword in ("additionalItems", "items"):
            if isinstance(schema.get(keyword), Mapping):
                yield self._part(part.below(keyword), f"{path}[]", found)
        if isinstance(schema.get("additionalProperties"), Mapping):
            yield self._part(part.below("additionalProperties"), entry(path), found)
        if isinstance(schema.get("properties"), Mapping):
            yield from self._properties(part, path, found)

    def _definition(self, part: Subschema, path: str, found: _Field) -> Iterator[Part]:
        """Walk through what a `$ref` leads to, unless it leads back."""
        try:
            target = follow(part)
        except SchemaError:
            return
        pointer = target.location.pointer
        if pointer in self._open:
            self._note("recursion", path, found)
            found.same_as[self._open[pointer]] = None
            self._spoken_of[pointer].append(found)
            return
        self._open[pointer] = path
        yield self._part(target, path, found)
        del self._open[pointer]

    def _properties(self, part: Subschema, path: str, found: _Field) -> Iterator[Part]:
        """Walk through the fields of an object, where they are met first."""
        pointer = part.location.pointer
        if pointer in self._listed:
            found.same_as[self._listed[pointer]] = None
            return
        self._listed[pointer] = path
        for name in part.schema["properties"]:
            inside = part.below("properties", name)
            yield self._field(
                inside,
                path=member(path, name),
                kind=self._kind(inside),
                may_be_left_out=may_be_left_out(part, name),
            )


_ORDER = list(HAZARDS)


def _list(schema: Schema, keyword: str) -> "list[object]":
    listed = schema.get(keyword)
    return listed if isinstance(listed, list) else []
