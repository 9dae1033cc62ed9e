"""Optional properties that a text may not state: the schema of a `JsonSchema`, changed so that they are listed.

An answer may be without a property that is not required. Models seldom leave out a key, but do write null. So the
property may be null while the answer is written, and `missing.py` leaves it out of the value. Some rules (`oneOf`,
`dependentRequired`, `minProperties` …) tie what is there to what else is there, and a null that is removed later could
break them. There the property stays as it is, and the model itself has to leave it out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import ANNOTATIONS, NOT_STATED, Identity, Schema, Subschema
from structured.json_schema.document.references import targets
from structured.json_schema.nullable import can_be_null
from structured.output_types.optional_fields import KEPT, LEFT_OUT, at_paths, permitted, replaced

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
"""What the reference to a part of a definition has in it, which would be another part once it may be null."""


@deep
def chosen_properties(root: Subschema, paths: Sequence[str]) -> Schema:
    """Return a JSON Schema in which the properties at some paths are marked, for `optional_properties`."""
    return at_paths(root, paths, _chosen)


@deep
def optional_properties(root: Subschema, *, are_chosen: bool) -> Schema:
    """Return a JSON Schema in which optional properties are listed if they are missing: all, or those that are marked.

    Raises SchemaError for one that is marked, required, and may not be null.
    """
    return _Optional(root, are_chosen=are_chosen).schema()


def _chosen(_part: Subschema, schema: Any) -> Any:
    return {**schema, NOT_STATED: _CHOSEN} if isinstance(schema, Mapping) else schema


class _Optional:
    """Lets the optional properties of a schema be missing, if they are among the ones that are meant."""

    def __init__(self, root: Subschema, *, are_chosen: bool) -> None:
        self.root = root
        self.are_chosen = are_chosen
        parts = list(_parts(root))
        leads_inside = any(place in part.schema.get("$ref", "") for part in parts for place in _INSIDE)
        tying = [part for part in parts if leads_inside or _ties(part.schema)]
        self.tied = {part.identity for first in tying for part in _parts(first)}

    def schema(self) -> Schema:
        changed: Schema = self._inside(self.root)
        return changed

    @deep
    def _inside(self, part: Subschema) -> Any:
        schema = part.schema
        for keys, _ in subschemas(part.schema, part.location.draft):
            inner = part.below(*keys)
            inside = self._inside(inner)
            is_meant = not self.are_chosen or inner.schema.get(NOT_STATED) == _CHOSEN
            if keys[0] == "properties" and is_meant:
                inside = self._missing(part, inner, str(keys[1]), inside)
            schema = replaced(schema, keys, inside)
        return schema

    def _missing(self, part: Subschema, inner: Subschema, name: str, schema: Schema) -> Schema:
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
        allowed: Schema = permitted(inner, schema)
        return allowed


def _ties(schema: Schema) -> bool:
    """Tell whether a schema may judge a value by whether a property is there, beside by `required`."""
    joined = [keyword for keyword in _JOINING if keyword in schema]
    is_joined = bool(joined) and (len(schema.keys() - _SILENT) > 1 or len(schema.get("allOf", [])) > 1)
    return is_joined or not _TYING.isdisjoint(schema)


def _parts(root: Subschema) -> Iterator[Subschema]:
    """Yield the schemas that are objects, inside of a schema and behind its references, each once."""
    seen: set[Identity] = set()
    left = [root]
    while left:
        part = left.pop()
        if part.identity in seen or not isinstance(part.schema, Mapping):
            continue
        seen.add(part.identity)
        yield part
        left += [part.below(*keys) for keys, _ in subschemas(part.schema, part.location.draft)]
        try:
            left += targets(part)
        except SchemaError:
            continue
