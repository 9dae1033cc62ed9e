"""Answers that keep most of the values of another one: the schema of a type, with a constant for whatever is kept.

An answer of which one value was rejected is written again with the others as they are. They are known then, and the
model is asked for what is open alone.
"""

from collections.abc import Collection
from typing import Any

from structured.errors.recursion import deep
from structured.json_schema.document.location import Schema, Subschema
from structured.output_types.paths import Steps
from structured.output_types.places import below, flat


@deep
def with_kept(root: Subschema, data: Any, places: Collection[Steps]) -> Schema:
    """Return the schema of the answers that are like some data but at some places, and there as the type says.

    `{"name": "Ana", "age": 300}` with `("age",)` → `{"name": {"const": "Ana"}, "age": <that of the type>}`
    """
    kept = _at(data, (), [root], frozenset(places))
    return {**kept, **{keyword: root.schema[keyword] for keyword in ("$defs", "definitions") if keyword in root.schema}}


def _at(value: Any, steps: Steps, parts: list[Subschema], places: frozenset[Steps]) -> dict[str, Any]:
    if steps in places:
        schemas = [dict(part.schema) for part in parts if isinstance(part.schema, dict)]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas} if schemas else {}
    if not any(place[: len(steps)] == steps for place in places):
        return {"const": value}

    def inside(step: str | int, member: Any) -> dict[str, Any]:
        return _at(member, (*steps, step), [one for part in flat(parts) for one in below(part, step)], places)

    if isinstance(value, dict):
        members = {name: inside(name, member) for name, member in value.items()}
        return {"type": "object", "properties": members, "required": [*members], "additionalProperties": False}
    items = [inside(position, member) for position, member in enumerate(value)]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
