"""Schemas that one value has to satisfy all enter; whether it can be seen at once that none can leaves.

What is seen: types, listed values, and properties that must be there; what is not seen may be empty all the same. It
saves most of the work that choices would make, since most of what is combined with each other excludes each other.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from structured.errors import PatternError
from structured.pattern.regex import ECMA
from structured.schema.equality import identity
from structured.schema.names import finds
from structured.schema.place import Complement, Elsewhere, Identity, Subschema, Subschemas, check_shape
from structured.schema.references import REFERENCES, ignores_siblings, targets
from structured.schema.values import type_of

DEPTH = 6
"""How deep properties and choices are looked at."""

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def surely_empty(parts: Subschemas, context: Sequence[Subschema] = (), depth: int = DEPTH) -> bool:
    """Tell whether it is certain that no value satisfies all of some schemas and those of the context.

    The choices of the context are not looked at.
    """
    try:
        known = list(_reached(context, set()))
        new = list(_reached(parts, {part.identity for part in known}))
    except _Nothing:
        return True
    types = _type_set([*known, *new])
    values = _values([*known, *new], types)
    if not types or (values is not None and not values):
        return True
    if depth == 0:
        return False
    if types == {"object"} and _lacks_property([*known, *new], depth):
        return True
    return any(_has_no_option(known, new, index, depth) for index in range(len(new)))


def _has_no_option(known: Subschemas, new: Subschemas, index: int, depth: int) -> bool:
    """Tell whether none of the branches of a schema goes with all the others."""
    part, rest = new[index], [*known, *new[:index], *new[index + 1 :]]
    return any(
        all(surely_empty([part.below(keyword, branch)], rest, depth - 1) for branch in range(len(part.schema[keyword])))
        for keyword in ("anyOf", "oneOf")
        if keyword in part.schema
    )


def _lacks_property(parts: Subschemas, depth: int) -> bool:
    """Tell whether a property that must be there cannot be."""
    for name in {name for part in parts for name in part.schema.get("required", ())}:
        said = [one for part in parts for one in _said_of(part, name)]
        is_telling = len(said) > 1 or any(one.schema is False for one in said)
        if is_telling and surely_empty(said, depth=depth - 1):
            return True
    return False


def _said_of(part: Subschema, name: str) -> Subschemas:
    if name in part.schema.get("properties", {}):
        return [part.below("properties", name)]
    if part.schema.get("additionalProperties") is False and "patternProperties" not in part.schema:
        return [part.below("additionalProperties")]
    return []


class _Nothing(Exception):  # noqa: N818  not an error, a result
    """A schema that nothing satisfies."""


def _reached(parts: Sequence[Subschema], seen: set[Identity]) -> Iterator[Subschema]:
    """Yield the schemas with those that their `$ref` and `allOf` lead to; of complements, those of listed values."""
    for part in parts:
        if part.schema is False:
            raise _Nothing
        if part.schema is True or part.identity in seen:
            continue
        if isinstance(part.schema, Elsewhere):
            listed = _denied_values(part.schema.schema)
            if listed is not None:
                yield Subschema(Complement({"denied values": listed}), part.place)
            continue
        check_shape(part)
        seen.add(part.identity)
        if not REFERENCES.keys().isdisjoint(part.schema):
            yield from _reached(targets(part), seen)
            if "$ref" in part.schema and ignores_siblings(part.place):
                continue
        yield part
        yield from _reached([part.below("allOf", i) for i in range(len(part.schema.get("allOf", [])))], seen)


def _denied_values(schema: Any) -> list[Any] | None:
    """Return the values that a schema lists and says no more of."""
    if isinstance(schema, dict) and len(schema.keys() - {"type", "description", "title"}) == 1:
        if "const" in schema and "type" not in schema:
            return [schema["const"]]
        if isinstance(schema.get("enum"), list) and "type" not in schema:
            return list(schema["enum"])
    return None


def _type_set(parts: Subschemas) -> set[str]:
    types = set(_TYPES)
    for part in parts:
        if "type" in part.schema:
            named = part.schema["type"]
            names = set(named) if isinstance(named, list) else {named}
            types &= names | {"integer"} if "number" in names else names
    return types


def _values(parts: Subschemas, types: set[str]) -> set[str] | None:
    """Return the values, of some types, that all schemas list; None if none of them lists any."""
    found: dict[str, Any] | None = None
    for part in parts:
        for keyword in ("const", "enum"):
            if part.has(keyword) and (keyword == "const" or isinstance(part.schema["enum"], list)):
                listed = [part.schema["const"]] if keyword == "const" else part.schema["enum"]
                here = {identity(value): value for value in listed}
                found = here if found is None else {key: found[key] for key in found.keys() & here.keys()}
    if found is None:
        return None
    denied = {
        identity(value)
        for part in parts
        if isinstance(part.schema, Complement)
        for keyword in ("denied values", "not enum")
        for value in part.schema.get(keyword, ())
    }
    regexes = [part.schema["pattern"] for part in parts if isinstance(part.schema.get("pattern"), str)]
    return {
        key
        for key, value in found.items()
        if key not in denied and type_of(value) in types and (not isinstance(value, str) or _is_found(regexes, value))
    }


def _is_found(regexes: list[str], text: str) -> bool:
    """Tell whether regular expressions are found in a text; one that is malformed is, for all that is known."""
    try:
        return all(finds(regex, ECMA, text) for regex in regexes)
    except PatternError:
        return True
