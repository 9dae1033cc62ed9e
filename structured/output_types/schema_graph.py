"""The graph of a schema: which schemas lead to which, and how often each is used."""

from collections import Counter
from collections.abc import Iterator, Mapping

from structured.errors import SchemaError
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import ANNOTATIONS, Identity, Subschema, Subschemas
from structured.json_schema.document.references import REFERENCES, ignores_siblings, targets


def reached(part: Subschema) -> Iterator[Subschema]:
    """Yield the schemas inside a schema and behind its references, to any depth, each once."""
    seen: set[Identity] = set()
    left = [part]
    while left:
        for inner in inside(left.pop()):
            if inner.identity not in seen:
                seen.add(inner.identity)
                left.append(inner)
                yield inner


def inside(part: Subschema) -> Iterator[Subschema]:
    """Yield what the references of a schema lead to, and the schemas directly inside it that are no definitions."""
    if isinstance(part.schema, Mapping):
        yield from known_targets(part)
        for keys, _ in subschemas(part.schema, part.location.draft):
            if keys[0] not in ("$defs", "definitions"):
                yield part.below(*keys)


def known_targets(part: Subschema) -> Subschemas:
    """Return what the references of a schema lead to; nothing if one of them leads nowhere."""
    try:
        return targets(part)
    except SchemaError:
        return []


def repeated(root: Subschema) -> set[Identity]:
    """Return the schemas that are used at more than one place.

    `{"properties": {"from": {"$ref": "#/$defs/Day"}, "to": {"$ref": "#/$defs/Day"}}}` → that of `Day`, and of the
    reference
    """
    uses: Counter[Identity] = Counter()
    left = [root]
    while left:
        for inner in inside(left.pop()):
            uses[inner.identity] += 1
            if uses[inner.identity] <= (2 if _only_refers(inner) else 1):  # equal references are one schema
                left.append(inner)
    return {identity for identity, count in uses.items() if count > 1}


def _only_refers(part: Subschema) -> bool:
    """Tell whether a schema asserts nothing beside a reference."""
    if not isinstance(part.schema, Mapping) or part.schema.keys().isdisjoint(REFERENCES):
        return False
    return ignores_siblings(part.location) or len(part.schema.keys() - ANNOTATIONS) == 1
