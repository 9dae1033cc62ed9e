"""Shapes: which objects and lists of a type can be put together from parts of several answers.

Objects of two branches of a union cannot: their members belong to different types. Nor can tuples, whose items have
places of their own. Lists have a shape of their own if items must differ in every branch (`set[str]`).
"""

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any

from structured.json_schema.document.location import Subschema
from structured.json_schema.nullable import types_of
from structured.output_types.paths import Steps
from structured.output_types.places import flat, parts_at

SET = "set"
"""The shape of a list whose items must differ."""

ShapeOf = Callable[[Steps, Any], Hashable]
"""Returns what is equal for values at a place that can be put together, given with the steps to it; None for those that
are taken as a whole."""


def shapes(root: Subschema) -> ShapeOf:
    """Return what tells the shapes of objects and lists that a schema describes."""

    @cache
    def parts(steps: Steps) -> list[Subschema]:
        return flat(parts_at(root, steps))

    def shape(steps: Steps, data: Any) -> Hashable:
        at = parts(tuple(0 if isinstance(step, int) else step for step in steps))
        if isinstance(data, list):
            if any("prefixItems" in part.schema for part in at):
                return None
            rules = [part.schema for part in at if "array" in types_of(part.schema) or "uniqueItems" in part.schema]
            return SET if rules and all(rule.get("uniqueItems") is True for rule in rules) else "list"
        branches = [part.schema for part in at if "properties" in part.schema]
        return "object", frozenset(index for index, branch in enumerate(branches) if _fits(data, branch))

    return shape


def _fits(data: Mapping[str, Any], branch: Mapping[str, Any]) -> bool:
    """Tell whether an object may be of a branch, by the names of its members and by those with one value alone."""
    known = branch["properties"]
    if not (data.keys() <= known.keys() or branch.get("additionalProperties") or "patternProperties" in branch):
        return False
    if not data.keys() >= set(branch.get("required", ())):
        return False
    return all(data[name] in _listed(known[name], data[name]) for name in data.keys() & known.keys())


def _listed(schema: object, value: Any) -> list[Any]:
    """Return the values that a schema lists; if it lists none, a value."""
    if not isinstance(schema, Mapping):
        return [value]
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [value])
    return listed if isinstance(listed, list) else [value]
