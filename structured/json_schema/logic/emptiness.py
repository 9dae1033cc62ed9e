"""Emptiness of a conjunction: whether it can be seen at once that no value satisfies some schemas together.

What is seen: types, listed values, and properties that must be there; what is not seen may be empty all the same. It
saves most of the work that choices would make, since most of what is combined with each other excludes each other.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from structured.errors import PatternError
from structured.json_schema.document.location import Complement, Elsewhere, Identity, Subschema, Subschemas, check_shape
from structured.json_schema.document.references import REFERENCES, ignores_siblings, targets
from structured.json_schema.logic.equality import identity
from structured.json_schema.logic.values import type_of
from structured.json_schema.strings.names import finds
from structured.regex.dialects import ECMA

DEPTH = 6
"""How deep properties and choices are looked at."""

MAX_LOOKED_AT = 300_000
"""Schemas that are looked at in one compilation; what would be seen after that is not."""

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class Context(NamedTuple):
    """Schemas that hold, with those that they lead to, and the identities of all; whether one of them is False."""

    schemas: Subschemas
    seen: frozenset[Identity]
    is_nothing: bool = False


NO_CONTEXT = Context([], frozenset())


def context_of(schemas: Sequence[Subschema]) -> Context:
    """Return some schemas as a context, which can be used again and again."""
    seen: set[Identity] = set()
    try:
        known = _reached(schemas, seen)
    except _Nothing:
        return Context([], frozenset(), is_nothing=True)
    return Context(known, frozenset(part.identity for part in known))


def surely_empty(schemas: Subschemas, context: Context = NO_CONTEXT, depth: int = DEPTH) -> bool:
    """Tell whether it is certain that no value satisfies all of some schemas and those of the context.

    The choices of the context are not looked at.
    """
    if context.is_nothing:
        return True
    known = context.schemas
    compilation = schemas[0].location.compilation
    compilation.looked_at += len(known) + len(schemas)
    if compilation.looked_at > MAX_LOOKED_AT:
        return False
    try:
        new = _reached(schemas, set(), context.seen)
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
    part = new[index]
    if "anyOf" not in part.schema and "oneOf" not in part.schema:
        return False
    rest = context_of([*known, *new[:index], *new[index + 1 :]])
    return any(
        all(surely_empty([part.below(keyword, branch)], rest, depth - 1) for branch in range(len(part.schema[keyword])))
        for keyword in ("anyOf", "oneOf")
        if keyword in part.schema
    )


def _lacks_property(schemas: Subschemas, depth: int) -> bool:
    """Tell whether a property that must be there cannot be."""
    for name in {name for part in schemas for name in part.schema.get("required", ())}:
        said = [one for part in schemas for one in _said_of(part, name)]
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


def _reached(schemas: Sequence[Subschema], seen: set[Identity], known: frozenset[Identity] = frozenset()) -> Subschemas:
    """Return the schemas with those that their `$ref` and `allOf` lead to; of complements, those of listed values."""
    reached: Subschemas = []
    left = [*reversed(schemas)]
    while left:
        part = left.pop()
        if part.schema is False:
            raise _Nothing
        if part.schema is True or part.identity in seen or part.identity in known:
            continue
        if isinstance(part.schema, Elsewhere):
            listed = _denied_values(part.schema.schema)
            if listed is not None:
                reached.append(Subschema(Complement({"denied values": listed}), part.location))
            continue
        check_shape(part)
        seen.add(part.identity)
        if not REFERENCES.keys().isdisjoint(part.schema):
            left += reversed(targets(part))
            if "$ref" in part.schema and ignores_siblings(part.location):
                continue
        reached.append(part)
        if "allOf" in part.schema:
            left += [part.below("allOf", index) for index in reversed(range(len(part.schema["allOf"])))]
    return reached


def _denied_values(schema: Any) -> list[Any] | None:
    """Return the values that a schema lists and says no more of."""
    if isinstance(schema, dict) and len(schema.keys() - {"type", "description", "title"}) == 1:
        if "const" in schema and "type" not in schema:
            return [schema["const"]]
        if isinstance(schema.get("enum"), list) and "type" not in schema:
            return list(schema["enum"])
    return None


def _type_set(schemas: Subschemas) -> set[str]:
    types = set(_TYPES)
    for part in schemas:
        if "type" in part.schema:
            named = part.schema["type"]
            names = set(named) if isinstance(named, list) else {named}
            types &= names | {"integer"} if "number" in names else names
    return types


def _values(schemas: Subschemas, types: set[str]) -> set[str] | None:
    """Return the values, of some types, that all schemas list; None if none of them lists any."""
    found: dict[str, Any] | None = None
    for part in schemas:
        for keyword in ("const", "enum"):
            if part.has(keyword) and (keyword == "const" or isinstance(part.schema["enum"], list)):
                listed = [part.schema["const"]] if keyword == "const" else part.schema["enum"]
                here = {identity(value): value for value in listed}
                found = here if found is None else {key: found[key] for key in found.keys() & here.keys()}
    if found is None:
        return None
    denied = {
        identity(value)
        for part in schemas
        if isinstance(part.schema, Complement)
        for keyword in ("denied values", "not enum")
        for value in part.schema.get(keyword, ())
    }
    regexes = [part.schema["pattern"] for part in schemas if isinstance(part.schema.get("pattern"), str)]
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
