"""Fields that a text may not state: the schema of a type, changed so that they may be null.

Only the schema is changed. The type stays as its author wrote it, and reads what `missing_values.py` leaves of an
answer.

Of a `JsonSchema`, an answer may be without a property that is not required. Models seldom leave out a key, but do write
null. So the property may be null while the answer is written, and is removed from the value. Some rules (`oneOf`,
`dependentRequired`, `minProperties` …) tie what is there to what else is there, and a null that is removed later could
break them. There the property stays as it is, and the model itself has to leave it out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from structured.errors.recursion import deep
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import ANNOTATIONS, NOT_STATED, Schema, Subschema
from structured.json_schema.nullable import any_branch, can_be_null, types_of
from structured.output_types.schema_edits import discriminators, edited_at, replaced
from structured.output_types.schema_parts import all_parts

Missing = Literal[True] | Sequence[str]
"""The fields that may be missing: all of them, or those at some paths."""

KEPT, DROPPED, LEFT_OUT = "null", "dropped", "left out"
"""The ways in which an answer marks a field as missing: null, which the type reads; null, which is dropped before the
type reads the answer; or by leaving it out."""

_CHOSEN = "chosen"

_TYING = frozenset(
    {
        *("$dynamicRef", "$recursiveRef", "const", "contains", "dependencies", "dependentRequired", "dependentSchemas"),
        *("enum", "if", "maxProperties", "minProperties", "not", "oneOf", "propertyNames", "unevaluatedItems"),
        *("unevaluatedProperties", "uniqueItems"),
    }
)
"""Keywords that may judge a value by whether a property is there."""

_JOINING = ("$ref", "allOf", "anyOf")
_SILENT = ANNOTATIONS | {"$anchor", "$defs", "$id", "$schema", "definitions", "id", "type"}
_INSIDE = ("/properties/", "/items")
"""Marks of a reference to a part of a definition, which would be another part once it may be null."""


def can_be_missing(part: Subschema) -> bool:
    """Tell whether a value can say that there is none: as null, or as a list without items.

    So can a constant, which invents nothing, and an object, whose fields are visited one by one.
    """
    return any_branch(part, _says_none, {})


def _says_none(schema: Schema) -> bool:
    if "const" in schema or "enum" in schema:
        return "const" in schema or None in schema["enum"] or len(schema["enum"]) == 1
    types = types_of(schema)
    return not types or bool(types & {"null", "object"}) or ("array" in types and not schema.get("minItems"))


@deep
def with_missing_fields(root: Subschema, missing: Missing) -> Schema:
    """Return the schema of a type in which chosen fields may be null, and are marked.

    With True, these are all fields of which the type itself does not let a text say that there is none. Raises
    SchemaError for a path that leads to no field, and for the discriminator of a union.
    """
    if missing is not True:
        return edited_at(root, missing, _nullable)
    schema: Schema = _Everywhere(root).schema()
    return schema


def _nullable(part: Subschema, schema: Any) -> Any:
    """Return a schema that allows null as well, and is marked."""
    if can_be_null(part):
        return {**schema, NOT_STATED: KEPT} if isinstance(schema, Mapping) else schema
    notes = {keyword: schema[keyword] for keyword in ("$defs", "description") if keyword in schema}
    inside = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    return {"anyOf": [inside, {"type": "null"}], NOT_STATED: DROPPED, **notes}


class _Everywhere:
    """Makes every field nullable that cannot express otherwise that there is nothing."""

    def __init__(self, root: Subschema) -> None:
        self.root = root
        self.discriminators = discriminators(root)

    def schema(self) -> Any:
        """Return the changed schema."""
        return self._field(self.root, self._inside(self.root))

    @deep
    def _inside(self, part: Subschema) -> Any:
        schema = part.schema
        for keys, _ in subschemas(part.schema, part.location.draft):
            inner = part.below(*keys)
            inside = self._inside(inner)
            if keys[0] == "properties" and inner.identity not in self.discriminators:
                inside = self._field(inner, inside)
            schema = replaced(schema, keys, inside)
        return schema

    def _field(self, part: Subschema, schema: Any) -> Any:
        return _nullable(part, schema) if can_be_null(part) or not can_be_missing(part) else schema


@deep
def chosen_properties(root: Subschema, paths: Sequence[str]) -> Schema:
    """Return a JSON Schema in which the properties at some paths are marked as chosen."""
    return edited_at(root, paths, _chosen)


@deep
def with_missing_properties(root: Subschema, *, are_chosen: bool) -> Schema:
    """Return a JSON Schema in which optional properties are listed if they are missing: all, or those that are chosen.

    Raises SchemaError for one that is chosen, required, and may not be null.
    """
    return _OptionalProperties(root, are_chosen=are_chosen).schema()


def _chosen(_part: Subschema, schema: Any) -> Any:
    return {**schema, NOT_STATED: _CHOSEN} if isinstance(schema, Mapping) else schema


class _OptionalProperties:
    """Lets the optional properties of a schema be missing: all, or those that are marked as chosen."""

    def __init__(self, root: Subschema, *, are_chosen: bool) -> None:
        self.root = root
        self.are_chosen = are_chosen
        parts = list(all_parts(root, behind_references=True))
        leads_inside = any(place in part.schema.get("$ref", "") for part in parts for place in _INSIDE)
        tying = [part for part in parts if leads_inside or _ties(part.schema)]
        self.tied = {part.identity for first in tying for part in all_parts(first, behind_references=True)}

    def schema(self) -> Schema:
        """Return the changed schema."""
        changed: Schema = self._inside(self.root)
        return changed

    @deep
    def _inside(self, part: Subschema) -> Any:
        schema = part.schema
        for keys, _ in subschemas(part.schema, part.location.draft):
            inner = part.below(*keys)
            inside = self._inside(inner)
            if keys[0] == "properties" and (not self.are_chosen or inner.schema.get(NOT_STATED) == _CHOSEN):
                inside = self._property(part, inner, str(keys[1]), inside)
            schema = replaced(schema, keys, inside)
        return schema

    def _property(self, part: Subschema, inner: Subschema, name: str, schema: Schema) -> Any:
        """Return the schema of a property that is listed if it is missing, unless it has to be there."""
        if can_be_null(inner):
            return {**schema, NOT_STATED: KEPT}
        if name in part.schema.get("required", ()):
            if self.are_chosen:
                raise inner.location.refusal(
                    f"The property {name!r} is required and may not be null, so it cannot be missing",
                    keyword="required",
                    remedy="Take it from required, or allow null.",
                )
            return schema
        if part.identity in self.tied:
            return {**schema, NOT_STATED: LEFT_OUT}
        return _nullable(inner, schema)


def _ties(schema: Schema) -> bool:
    """Tell whether a schema may judge a value by whether a property is there, beside by `required`."""
    joined = [keyword for keyword in _JOINING if keyword in schema]
    is_joined = bool(joined) and (len(schema.keys() - _SILENT) > 1 or len(schema.get("allOf", [])) > 1)
    return is_joined or not _TYING.isdisjoint(schema)
