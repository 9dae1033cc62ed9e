"""Keys and shapes: the fields that distinguish records, and the kinds of values that can be merged.

The fields that tell the records of a list apart are marked, `number: Annotated[str, Key]`. Records with the same key
are one, wherever a long document states them.

Objects of two branches of a union have different shapes and are not merged: their members belong to different types.
Nor are tuples, whose items have places of their own. Lists have a shape of their own if items must differ in every
branch (`set[str]`).
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import GetJsonSchemaHandler

from structured.errors import SchemaError
from structured.json_schema.document.location import KEY, Subschema
from structured.json_schema.nullable import types_of
from structured.output_types.inspection import Survey
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_field
from structured.output_types.schema_parts import flat, parts_at


class Key:
    """Marks a field that distinguishes the records of a list; several such fields together are one key.

    class Order(BaseModel):
        number: Annotated[str, Key]
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core_schema), KEY: True}


KeyOf = Callable[[Steps, Any], Hashable | None]
"""Returns the key of an item of a list, by the steps to it; None if it has none, or if a part of it is null."""


def keys(root: Subschema, merge_by: Sequence[str] = ()) -> KeyOf:
    """Return a function that returns the keys of items. Key fields are those that are marked.

    `merge_by` names others, by their paths in the item or in the whole answer: `number`, `lines[].number`.
    """

    @cache
    def is_key(whole: str, field: str, steps: Steps) -> bool:
        return field in merge_by or whole in merge_by or _is_marked(root, steps)

    def key_of(steps: Steps, item: Any) -> Hashable | None:
        here = steps_to_field(steps)
        at = tuple(0 if isinstance(step, int) else step for step in steps)
        values: list[Hashable] = []
        for below, value in leaves(item):
            if any(isinstance(step, int) for step in below):
                continue
            field = steps_to_field(below)
            if is_key(f"{here}.{field}" if field else here, field, (*at, *below)):
                if value is None:
                    return None
                values.append((field, type(value) is bool, value))
        return tuple(values) or None

    return key_of


def key_fields(output_type: OutputType[Any]) -> list[str]:
    """Return the paths of the key fields of records in lists: `lines[].number`. Where a type recurs, the first ones."""
    root = output_type.root
    if root is None:
        return []
    return [path for path in _fields_of_records(root) if _is_marked(root, path_to_steps(path.replace("[]", "[0]")))]


def _is_marked(root: Subschema, steps: Steps) -> bool:
    return any(KEY in part.schema for part in flat(parts_at(root, steps)))


def _fields_of_records(root: Subschema) -> list[str]:
    return [field.path for field in Survey(root, name="").fields() if "[]." in field.path]


def check_merge_by(output_type: OutputType[Any], merge_by: Sequence[str]) -> None:
    """Raise SchemaError for a path that leads to no field of a record in a list."""
    if not merge_by:
        return
    if output_type.root is None:
        raise SchemaError(f"merge_by is for types and JSON Schemas, not for {output_type.name}", remedy="Leave it out.")
    known = _fields_of_records(output_type.root)
    for path in merge_by:
        if not any(field == path or field.endswith(f"[].{path}") for field in known):
            listed = ", ".join(map(repr, known[:10]))
            raise SchemaError(
                f"merge_by names {path!r}, and no record of a list in {output_type.name} has such a field",
                remedy=f"Name one of its fields: {listed}." if known else "It has no list of records: leave it out.",
            )


SET = "set"
"""The shape of a list whose items must differ."""

ShapeOf = Callable[[Steps, Any], Hashable]
"""Returns what is equal for values at a place that can be put together, given with the steps to it; None for those that
are taken as a whole."""


def shapes(root: Subschema) -> ShapeOf:
    """Return a function that returns the shapes of objects and lists that a schema describes."""

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
