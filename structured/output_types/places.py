"""What a schema says of a place in an answer: its parts there, through references and branches."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from structured.errors.recursion import deep
from structured.json_schema.document.location import GROUNDED, Identity, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import types_of
from structured.output_types.paths import Steps


def parts_at(root: Subschema, steps: Steps) -> list[Subschema]:
    """Return the parts of a schema that may describe the value at a place, with branches and references inside."""
    parts = [root]
    for step in steps:
        parts = [inner for part in flat(parts) for inner in below(part, step)]
    return parts


def has_to_be_stated(parts: list[Subschema], value: Any) -> bool:
    """Tell whether parts of a schema let a value come about only as one that the document states.

    Which branch of a union an answer follows is not known here, so that all that allow the value have to say so.
    """
    return bool(parts) and not any(_allows_unstated(part, value, set()) for part in parts)


@deep
def _allows_unstated(part: Subschema, value: Any, seen: set[Identity]) -> bool:
    if part.identity in seen or not isinstance(part.schema, Mapping):
        return part.schema is True
    seen.add(part.identity)
    schema = part.schema
    conjuncts = [part.below("allOf", index) for index in range(len(schema.get("allOf", ())))]
    if GROUNDED in schema or not all(_allows_unstated(one, value, seen) for one in conjuncts):
        return False
    inner = [follow(part)] if "$ref" in schema else []
    for keyword in ("anyOf", "oneOf"):
        inner += [part.below(keyword, index) for index in range(len(schema.get(keyword, ())))]
    if inner:
        return any(_allows_unstated(one, value, seen) for one in inner)
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    return not types_of(schema) or bool(types_of(schema) & _types(value))


def _types(value: Any) -> set[object]:
    """Return the types of JSON Schema that a value without members has."""
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    return {"string"} if isinstance(value, str) else {"integer", "number"}


@deep
def flat(parts: list[Subschema], seen: set[Identity] | None = None) -> list[Subschema]:
    """Return parts with those that they refer to or branch into in their place."""
    seen = set() if seen is None else seen
    found: list[Subschema] = []
    for part in parts:
        if part.identity in seen or not isinstance(part.schema, Mapping):
            continue
        seen.add(part.identity)
        found.append(part)
        if "$ref" in part.schema:
            found += flat([follow(part)], seen)
        for keyword in ("allOf", "anyOf", "oneOf"):
            found += flat([part.below(keyword, index) for index in range(len(part.schema.get(keyword, ())))], seen)
    return found


def below(part: Subschema, step: str | int) -> Iterator[Subschema]:
    """Yield what a part says of one of its members or items."""
    if isinstance(step, str):
        patterns = [one for one in part.schema.get("patternProperties", ()) if _is_found(one, step)]
        yield from (part.below("patternProperties", one) for one in patterns)
        if step in part.schema.get("properties", {}):
            yield part.below("properties", step)
        elif patterns:
            return
        elif isinstance(part.schema.get("additionalProperties"), Mapping):
            yield part.below("additionalProperties")
    elif step < len(part.schema.get("prefixItems", ())):
        yield part.below("prefixItems", step)
    elif isinstance(part.schema.get("items"), Mapping):
        yield part.below("items")


def _is_found(pattern: str, name: str) -> bool:
    """Tell whether a pattern is found in a name; one that only ECMA 262 knows is found in none."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False
