"""The branches of a `oneOf`: what has to hold for each to be the only one (core §10.2.1.3).

Where two can be seen to have no value in common, neither has to be denied for the other: that is most of the time, and
saves the work of building what is then empty.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from structured.errors.recursion import deep
from structured.json_schema.document.location import Elsewhere, Subschema, Subschemas, check_shape
from structured.json_schema.document.references import REFERENCES, follow
from structured.json_schema.logic.emptiness import Context, context_of, surely_empty
from structured.json_schema.logic.equality import identity
from structured.json_schema.logic.values import spelling


def exclusive(part: Subschema, branches: Subschemas, context: Subschemas) -> list[Subschemas]:
    """Return what has to hold for each branch to be the only one that does, where the context does."""
    if part.location.is_type and isinstance(part.schema.get("discriminator"), Mapping):
        _check_discriminator(part, branches)
        return [[branch] for branch in branches]
    overlapping: list[Subschemas] = [[] for _ in branches]
    known = context_of(context)
    for left, right in _pairs(branches):
        if not _exclude(branches[left], branches[right], known):
            overlapping[left].append(branches[right])
            overlapping[right].append(branches[left])
    return [
        [branch, *(other._replace(schema=_denied(other)) for other in others)]
        for branch, others in zip(branches, overlapping, strict=True)
    ]


def _pairs(branches: Subschemas) -> list[tuple[int, int]]:
    """Return the pairs of branches that may have a value in common, as far as the values that they list tell."""
    listed = list(map(_listed, branches))
    holders: dict[str, list[int]] = {}
    for at, values in enumerate(listed):
        for value in values or ():
            holders.setdefault(value, []).append(at)
    pairs = {pair for holding in holders.values() for pair in combinations(holding, 2)}
    unlisted = [at for at, values in enumerate(listed) if values is None]
    pairs |= {(min(at, other), max(at, other)) for at in unlisted for other in range(len(branches)) if other != at}
    return sorted(pairs)


def _listed(branch: Subschema) -> set[str] | None:
    """Return the identities of the values that a branch lists by itself; None if it lists none."""
    schema = branch.schema
    if not isinstance(schema, Mapping) or not REFERENCES.keys().isdisjoint(schema):
        return None
    if branch.has("const"):
        return {identity(schema["const"])}
    return set(map(identity, schema["enum"])) if branch.has("enum") and isinstance(schema["enum"], list) else None


def _exclude(left: Subschema, right: Subschema, context: Context) -> bool:
    """Tell whether it is certain that two branches have no value in common; what is found is kept."""
    made = left.location.compilation.made
    key = "exclude", left.identity, right.identity, context.seen
    if key not in made:
        made[key] = (left.schema, right.schema, context), surely_empty([left, right], context)
    found: bool = made[key][1]
    return found


def _denied(part: Subschema) -> Elsewhere:
    if isinstance(part.schema, Elsewhere):
        return part.schema._replace(is_denied=not part.schema.is_denied)
    return Elsewhere(part.schema, part.location, is_denied=True)


def _check_discriminator(part: Subschema, branches: Subschemas) -> None:
    name = part.schema["discriminator"].get("propertyName")
    tags = [tag for branch in branches for tag in set(_tags(branch, name))]
    if len(set(tags)) < len(tags):
        raise part.location.refusal(
            f"Two branches have the same {name!r}", keyword="oneOf", remedy="Give each branch values of its own."
        )


@deep
def _tags(branch: Subschema, name: str) -> list[str]:
    """Return the values, as JSON texts, that the property of this name has in a branch of a discriminated union."""
    check_shape(branch)
    if "$ref" in branch.schema:
        return _tags(follow(branch), name)
    for keyword in ("anyOf", "oneOf"):
        if keyword in branch.schema:  # a union inside the union, which tells its own branches apart
            inner = (branch.below(keyword, index) for index in range(len(branch.schema[keyword])))
            return [tag for other in inner for tag in _tags(other, name)]
    values: list[Any] = []
    if name in branch.schema.get("properties", {}):
        tag = branch.below("properties", name)
        check_shape(tag)
        tag = follow(tag) if "$ref" in tag.schema else tag
        check_shape(tag)
        values = [tag.schema["const"]] if "const" in tag.schema else tag.schema.get("enum", [])
    if not values:
        raise branch.location.refusal(
            f"The discriminator {name!r} has no fixed value here", keyword="oneOf", remedy="Make it a Literal."
        )
    return [spelling(value, branch.location, keyword="oneOf") for value in values]
