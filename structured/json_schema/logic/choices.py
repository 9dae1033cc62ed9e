"""Choices: keywords that require one of several conjunctions of schemas.

Each keyword has a function that yields, for each choice that it makes, the options. It receives the schemas gathered
before, since they may decide a choice: a property that is required is there. Branches of a `oneOf` exclude each other
(core §10.2.1.3): where two surely have no value in common, neither is denied beside the other. That is the usual case,
and saves building what would be empty.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import Subschema, Subschemas
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.logic.emptiness import SchemaContext, context_of, surely_empty


def exclusive_options(part: Subschema, branches: Subschemas, others: Subschemas) -> list[Subschemas]:
    """Return, for each branch, the schemas that hold if and only if no other branch does, beside some others.

    Pydantic accepts a discriminator only if its values tell the branches apart.
    """
    if part.location.is_type and isinstance(part.schema.get("discriminator"), Mapping):
        return [[branch] for branch in branches]
    overlapping: list[Subschemas] = [[] for _ in branches]
    context = context_of(others)
    for left, right in _overlapping_pairs(branches):
        if not _exclude(branches[left], branches[right], context):
            overlapping[left].append(branches[right])
            overlapping[right].append(branches[left])
    return [
        [branch, *(other._replace(schema=other.complement) for other in denied)]
        for branch, denied in zip(branches, overlapping, strict=True)
    ]


def _overlapping_pairs(branches: Subschemas) -> list[tuple[int, int]]:
    """Return the pairs of indices of branches that may have a value in common, judged by the values that they list."""
    listed = list(map(_listed_identities, branches))
    branches_by_value: dict[str, list[int]] = {}
    for at, values in enumerate(listed):
        for value in values or ():
            branches_by_value.setdefault(value, []).append(at)
    pairs = {pair for indices in branches_by_value.values() for pair in combinations(indices, 2)}
    unlisted = [at for at, values in enumerate(listed) if values is None]
    pairs |= {(min(at, other), max(at, other)) for at in unlisted for other in range(len(branches)) if other != at}
    return sorted(pairs)


def _listed_identities(branch: Subschema) -> set[str] | None:
    """Return the identities of the values that a branch lists; None if it lists none."""
    schema = branch.schema
    if not isinstance(schema, Mapping) or not REFERENCES.keys().isdisjoint(schema):
        return None
    if branch.has("const"):
        return {identity(schema["const"])}
    return set(map(identity, schema["enum"])) if branch.has("enum") and isinstance(schema["enum"], list) else None


def _exclude(left: Subschema, right: Subschema, context: SchemaContext) -> bool:
    """Tell whether it is certain that two branches have no value in common; the answer is kept."""
    key = "exclude", left.identity, right.identity, context.seen
    kept = left.schema, right.schema, context
    return left.location.compilation.cached(key, lambda: surely_empty([left, right], context), keep=kept)


Choices = Iterator[list[Subschemas]]
"""For each choice, its options: conjunctions of schemas, one of which has to hold."""

MAX_SUBSETS = 6
"""The most branches of an `anyOf` whose every subset is tried, where it matters which of them hold."""


def any_of(part: Subschema, keyword: str, _others: Subschemas) -> Choices:
    """Yield the branches (core §10.2.1.2); beside unevaluated properties or items, every subset of them."""
    branches = part.branches(keyword)
    if not part.unevaluated_parents:
        yield [[branch] for branch in branches]
        return
    if len(branches) > MAX_SUBSETS:
        raise part.location.refusal(
            f"More than {MAX_SUBSETS} branches beside unevaluated properties or items are not supported",
            keyword=keyword,
            remedy="List the properties, and use additionalProperties.",
        )
    yield [list(chosen) for size in range(1, len(branches) + 1) for chosen in combinations(branches, size)]


def one_of(part: Subschema, keyword: str, others: Subschemas) -> Choices:
    """Yield the branches, each with the denial of branches that it may overlap with (core §10.2.1.3).

    The discriminator of a type has to be written for Pydantic, even if it has a default.
    """
    options = exclusive_options(part, part.branches(keyword), others)
    is_omittable = part.location.is_type and part.location.compilation.optional_properties != "written"
    if is_omittable and "discriminator" in part.schema:
        name = part.schema["discriminator"]["propertyName"]
        options = [[*option, part.location.internal_schema(required=[name])] for option in options]
    yield options


def not_(part: Subschema, keyword: str, _others: Subschemas) -> Choices:
    """Yield the complement of the denied schema (core §10.2.1.4)."""
    yield [[Subschema(part.subschema(keyword).complement, part.location)]]


def if_(part: Subschema, keyword: str, _others: Subschemas) -> Choices:
    """Yield the condition with `then`, and its complement with `else` (core §10.2.2)."""
    if "then" in part.schema or "else" in part.schema or part.unevaluated_parents:
        condition = part.subschema(keyword)
        then, otherwise = ([part.subschema(key)] if key in part.schema else [] for key in ("then", "else"))
        yield [[condition, *then], [Subschema(condition.complement, part.location), *otherwise]]


def dependencies(part: Subschema, keyword: str, others: Subschemas) -> Choices:
    """Yield, for each name, that it is missing, or its rule (core §10.2.2.4, validation §6.5.4)."""
    required = {name for other in others for name in other.schema.get("required", ())}
    for name, needed in part.schema[keyword].items():
        if needed in (True, [], {}):
            continue
        names = [needed] if isinstance(needed, str) else needed if isinstance(needed, list) else []
        present = part.location.internal_schema(type="object", required=[name, *names])
        rules = [present, *([] if isinstance(needed, list | str) else [part.subschema(keyword, name)])]
        if name in required and any(part.schema.get("type") == "object" for part in others):
            yield [rules]
        else:
            yield [[part.location.internal_schema(properties={name: False})], rules]


CHOICES: Mapping[str, Callable[[Subschema, str, Subschemas], Choices]] = {
    "not": not_,
    "if": if_,
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), dependencies),
    "anyOf": any_of,
    "oneOf": one_of,
}
"""In the order in which the choices are made: those that may decide others come first."""
