"""What a schema says of a place in an answer: its parts there, through references and branches."""

from collections.abc import Iterator, Mapping

from structured.errors.recursion import deep
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.document.references import follow
from structured.output_types.paths import Steps


def parts_at(root: Subschema, steps: Steps) -> list[Subschema]:
    """Return the parts of a schema that may describe the value at a place, those of all branches."""
    parts = flat([root])
    for step in steps:
        parts = flat([inner for part in parts for inner in below(part, step)])
    return parts


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
        if step in part.schema.get("properties", {}):
            yield part.below("properties", step)
        elif isinstance(part.schema.get("additionalProperties"), Mapping):
            yield part.below("additionalProperties")
    elif step < len(part.schema.get("prefixItems", ())):
        yield part.below("prefixItems", step)
    elif isinstance(part.schema.get("items"), Mapping):
        yield part.below("items")
