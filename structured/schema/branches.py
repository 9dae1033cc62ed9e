"""The branches of a `oneOf` enter; what has to hold for each of them to be the only one leaves (core §10.2.1.3).

Where two can be seen to have no value in common, neither has to be denied for the other: that is most of the time, and
saves the work of building what is then empty.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from structured.schema.place import Elsewhere, Subschema, Subschemas, check_shape
from structured.schema.references import follow, ignores_siblings
from structured.schema.values import identity, spelling, type_of

_DEPTH = 6
"""How deep properties are compared."""

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def exclusive(part: Subschema, branches: Subschemas) -> list[Subschemas]:
    """Return what has to hold for each branch to be the only one that does."""
    if isinstance(part.schema.get("discriminator"), Mapping):
        _check_discriminator(part, branches)
        return [[branch] for branch in branches]
    overlapping: list[Subschemas] = [[] for _ in branches]
    for left, right in combinations(range(len(branches)), 2):
        if not disjoint([branches[left]], [branches[right]]):
            overlapping[left].append(branches[right])
            overlapping[right].append(branches[left])
    return [
        [branch, *(other._replace(schema=_denied(other)) for other in others)]
        for branch, others in zip(branches, overlapping, strict=True)
    ]


def _denied(part: Subschema) -> Elsewhere:
    if isinstance(part.schema, Elsewhere):
        return part.schema._replace(is_denied=not part.schema.is_denied)
    return Elsewhere(part.schema, part.place, is_denied=True)


def _check_discriminator(part: Subschema, branches: Subschemas) -> None:
    name = part.schema["discriminator"].get("propertyName")
    tags = [tag for branch in branches for tag in _tags(branch, name)]
    if len(set(tags)) < len(tags):
        raise part.place.refusal(
            f"Two branches have the same {name!r}", keyword="oneOf", remedy="Give each branch values of its own."
        )


def _tags(branch: Subschema, name: str) -> list[str]:
    """Return the values, as JSON texts, that the property of this name has in a branch of a discriminated union."""
    check_shape(branch)
    if "$ref" in branch.schema:
        return _tags(follow(branch), name)
    if "oneOf" in branch.schema:
        inner = (branch.below("oneOf", index) for index in range(len(branch.schema["oneOf"])))
        return [tag for other in inner for tag in _tags(other, name)]
    values: list[Any] = []
    if name in branch.schema.get("properties", {}):
        tag = branch.below("properties", name)
        check_shape(tag)
        tag = follow(tag) if "$ref" in tag.schema else tag
        check_shape(tag)
        values = [tag.schema["const"]] if "const" in tag.schema else tag.schema.get("enum", [])
    if not values:
        raise branch.place.refusal(
            f"The discriminator {name!r} has no fixed value here", keyword="oneOf", remedy="Make it a Literal."
        )
    return [spelling(value, branch.place, keyword="oneOf") for value in values]


def disjoint(left: Subschemas, right: Subschemas, depth: int = _DEPTH) -> bool:
    """Tell whether it is certain that no value satisfies all schemas of both sides."""
    try:
        one, other = list(_reached(left, set())), list(_reached(right, set()))
    except _Nothing:
        return True
    types, others = _type_set(one), _type_set(other)
    if not types & others:
        return True
    for side, opposite in ((one, other), (other, one)):
        for index, part in enumerate(side):
            keyword = next((keyword for keyword in ("anyOf", "oneOf") if keyword in part.schema), None)
            if keyword and depth:
                rest = [*side[:index], *side[index + 1 :]]
                options = [part.below(keyword, branch) for branch in range(len(part.schema[keyword]))]
                if all(disjoint([*rest, option], opposite, depth - 1) for option in options):
                    return True
    values, other_values = _value_set(one), _value_set(other)
    if values is not None and other_values is not None and not values & other_values:
        return True
    return types & others == {"object"} and depth > 0 and _objects_disjoint(one, other, depth)


def _objects_disjoint(left: Subschemas, right: Subschemas, depth: int) -> bool:
    """Tell whether objects differ in a property that both must have, or one must have and the other may not."""
    required, other_required = _required_names(left), _required_names(right)
    for name in required | other_required:
        one, other = _property_parts(left, name), _property_parts(right, name)
        if name in required and any(part.schema is False for part in other):
            return True
        if name in other_required and any(part.schema is False for part in one):
            return True
        if name in required & other_required and one and other and disjoint(one, other, depth - 1):
            return True
    return False


def _required_names(parts: Subschemas) -> set[str]:
    return {name for part in parts for name in part.schema.get("required", ())}


def _property_parts(parts: Subschemas, name: str) -> Subschemas:
    found = []
    for part in parts:
        if name in part.schema.get("properties", {}):
            found.append(part.below("properties", name))
        elif part.schema.get("additionalProperties") is False and "patternProperties" not in part.schema:
            found.append(part.below("additionalProperties"))
    return found


class _Nothing(Exception):  # noqa: N818  not an error, a result
    """A schema that nothing satisfies."""


def _reached(parts: Subschemas, seen: set[int]) -> Iterator[Subschema]:
    """Yield the schemas with those that their `$ref` and `allOf` lead to."""
    for part in parts:
        if part.schema is False:
            raise _Nothing
        if part.schema is True or isinstance(part.schema, Elsewhere) or id(part.schema) in seen:
            continue  # of a complement, nothing is known
        check_shape(part)
        seen.add(id(part.schema))
        if "$ref" in part.schema:
            yield from _reached([follow(part)], seen)
            if ignores_siblings(part.place):
                continue
        yield part
        yield from _reached([part.below("allOf", i) for i in range(len(part.schema.get("allOf", [])))], seen)


def _type_set(parts: Subschemas) -> set[str]:
    types = set(_TYPES)
    for part in parts:
        if "type" in part.schema:
            named = part.schema["type"]
            names = set(named) if isinstance(named, list) else {named}
            types &= names | {"integer"} if "number" in names else names
    values = _value_list(parts)
    return types if values is None else types & {type_of(value) for value in values}


def _value_set(parts: Subschemas) -> set[str] | None:
    values = _value_list(parts)
    return None if values is None else {identity(value) for value in values}


def _value_list(parts: Subschemas) -> list[Any] | None:
    for part in parts:
        if "const" in part.schema:
            return [part.schema["const"]]
        if isinstance(part.schema.get("enum"), list):
            return list(part.schema["enum"])
    return None
