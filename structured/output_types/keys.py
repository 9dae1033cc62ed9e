"""Keys and shapes: the fields that distinguish records, and the kinds of values that can be merged.

The fields that tell the records of a list apart are marked, `number: Annotated[str, Key]`. Records with the same key
are one, wherever a long document states them.

Objects of two branches of a union have different shapes and are not merged: their members belong to different types.
Nor are tuples, whose items have places of their own. Lists have a shape of their own if items must differ in every
branch (`set[str]`).
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

from pydantic import GetJsonSchemaHandler

from structured.errors import SchemaError
from structured.json_schema.document.location import KEY, Subschema
from structured.json_schema.nullable import types_of
from structured.output_types.inspection import Survey
from structured.output_types.missing_values import may_be_of_branch
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_field
from structured.output_types.schema_parts import flattened, parts_at


class Key:
    """Marks a field that distinguishes the records of a list; several such fields together are one key.

    class Order(BaseModel):
        number: Annotated[str, Key]
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core_schema), KEY: True}


KeyFunction = Callable[[Steps, Any], Hashable | None]
"""Returns the key of an item of a list, by the steps to it; None if it has none, or if a part of it is null."""


def key_function(root: Subschema, merge_by: Sequence[str] = ()) -> KeyFunction:
    """Return a function that returns the keys of items. Key fields are those that are marked.

    `merge_by` names others, by their paths in the item or in the whole answer: `number`, `lines[].number`.
    """

    @cache
    def is_key_field(full_path: str, field: str, steps: Steps) -> bool:
        return field in merge_by or full_path in merge_by or _is_marked(root, steps)

    def key_of(steps: Steps, item: Any) -> Hashable | None:
        record_field = steps_to_field(steps)
        schema_steps = tuple(0 if isinstance(step, int) else step for step in steps)
        key_values: list[Hashable] = []
        for inner_steps, value in leaves(item):
            if any(isinstance(step, int) for step in inner_steps):
                continue
            field = steps_to_field(inner_steps)
            if is_key_field(f"{record_field}.{field}" if field else record_field, field, (*schema_steps, *inner_steps)):
                if value is None:
                    return None
                key_values.append((field, type(value) is bool, value))
        return tuple(key_values) or None

    return key_of


def key_fields(output_type: OutputType[Any]) -> list[str]:
    """Return the paths of the key fields of records in lists: `lines[].number`. Where a type recurs, the first ones."""
    root = output_type.root
    if root is None:
        return []
    return [path for path in _record_fields(root) if _is_marked(root, path_to_steps(path.replace("[]", "[0]")))]


def _is_marked(root: Subschema, steps: Steps) -> bool:
    return any(KEY in part.schema for part in flattened(parts_at(root, steps)))


def _record_fields(root: Subschema) -> list[str]:
    return [field.path for field in Survey(root, name="").fields() if "[]." in field.path]


def check_merge_by(output_type: OutputType[Any], merge_by: Sequence[str]) -> None:
    """Raise SchemaError for a path that leads to no field of a record in a list."""
    if not merge_by:
        return
    if output_type.root is None:
        raise SchemaError(f"merge_by is for types and JSON Schemas, not for {output_type.name}", remedy="Leave it out.")
    fields = _record_fields(output_type.root)
    for path in merge_by:
        if not any(field == path or field.endswith(f"[].{path}") for field in fields):
            remedy = f"Name one of its fields: {', '.join(map(repr, fields[:10]))}."
            raise SchemaError(
                f"merge_by names {path!r}, and no record of a list in {output_type.name} has such a field",
                remedy=remedy if fields else "It has no list of records: leave it out.",
            )


SET_SHAPE = "set"
"""The shape of a list whose items must differ."""

ShapeFunction = Callable[[Steps, Any], Hashable]
"""Returns what is equal for values at a place that can be put together, given with the steps to it; None for those that
are taken as a whole."""


def shape_function(root: Subschema) -> ShapeFunction:
    """Return a function that returns the shapes of objects and lists that a schema describes."""

    @cache
    def parts_of(steps: Steps) -> list[Subschema]:
        return flattened(parts_at(root, steps))

    def shape_of(steps: Steps, data: Any) -> Hashable:
        parts = parts_of(tuple(0 if isinstance(step, int) else step for step in steps))
        if isinstance(data, list):
            if any("prefixItems" in part.schema for part in parts):
                return None
            rules = [part.schema for part in parts if "array" in types_of(part.schema) or "uniqueItems" in part.schema]
            return SET_SHAPE if rules and all(rule.get("uniqueItems") is True for rule in rules) else "list"
        branches = [part for part in parts if "properties" in part.schema]
        complete = [data.keys() >= set(branch.schema.get("required", ())) for branch in branches]
        return "object", frozenset(
            index for index, branch in enumerate(branches) if complete[index] and may_be_of_branch(branch, data)
        )

    return shape_of
