"""Keywords that leave a choice: the conjunctions of schemas of which one has to hold.

Each keyword has a function that yields, for each choice that it makes, the options. Those that were gathered before are
handed in, since they may decide a choice: a property that is required is there.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

from structured.json_schema.document.location import Complement, Subschema, Subschemas
from structured.json_schema.logic.branches import exclusive

Options = Iterator[list[Subschemas]]

MAX_SUBSETS = 6
"""Branches of an `anyOf` of which every subset is tried, where it matters which of them hold."""


def any_of(part: Subschema, _others: Subschemas) -> Options:
    """Yield the branches (core §10.2.1.2); where it counts what they evaluate, every set of them."""
    branches = [part.below("anyOf", index) for index in range(len(part.schema["anyOf"]))]
    if not part.scopes:
        yield [[branch] for branch in branches]
        return
    if len(branches) > MAX_SUBSETS:
        raise part.location.refusal(
            f"More than {MAX_SUBSETS} branches beside unevaluated properties or items are not supported",
            keyword="anyOf",
            remedy="List the properties, and use additionalProperties.",
        )
    yield [list(chosen) for size in range(1, len(branches) + 1) for chosen in combinations(branches, size)]


def one_of(part: Subschema, others: Subschemas) -> Options:
    """Yield the branches, each with those denied that it may overlap with (core §10.2.1.3).

    Where a type tells them apart by a property, Pydantic has to find it, even if it has a default.
    """
    options = exclusive(part, [part.below("oneOf", index) for index in range(len(part.schema["oneOf"]))], others)
    if part.location.is_type and part.location.compilation.optional != "written" and "discriminator" in part.schema:
        name = part.schema["discriminator"]["propertyName"]
        tagged = Subschema(_kept(part, "oneOf", name, required=[name]), part.location)
        options = [[*option, tagged] for option in options]
    yield options


def not_(part: Subschema, _others: Subschemas) -> Options:
    """Yield what is denied (core §10.2.1.4)."""
    yield [[Subschema(part.elsewhere("not", is_denied=True), part.location)]]


def if_(part: Subschema, _others: Subschemas) -> Options:
    """Yield the condition with `then`, and its complement with `else` (core §10.2.2)."""
    if "then" in part.schema or "else" in part.schema or part.scopes:
        held = [part.below("if"), *([part.below("then")] if "then" in part.schema else [])]
        failed = Subschema(part.elsewhere("if", is_denied=True), part.location)
        yield [held, [failed, *([part.below("else")] if "else" in part.schema else [])]]


def dependencies(keyword: str) -> Callable[[Subschema, Subschemas], Options]:
    """Return what yields, for each name, that it is missing or what it asks for (core §10.2.2.4, validation §6.5.4)."""

    def options(part: Subschema, others: Subschemas) -> Options:
        required = {name for other in others for name in other.schema.get("required", ())}
        for name, needed in part.schema[keyword].items():
            if needed in (True, [], {}):
                continue
            names = [needed] if isinstance(needed, str) else needed if isinstance(needed, list) else []
            present = Subschema(_kept(part, keyword, name, required=[name, *names], type="object"), part.location)
            asked = [present, *([] if isinstance(needed, list | str) else [part.below(keyword, name)])]
            if name in required and _is_object(others):
                yield [asked]
                continue
            missing = Subschema(_kept(part, keyword, f"no {name}", properties={name: False}), part.location)
            yield [[missing], asked]

    return options


def _kept(part: Subschema, keyword: str, name: str, **keywords: Any) -> Complement:
    """Return a schema of the compiler's own, the same each time."""
    made: dict[Any, Any] = part.location.compilation.made
    key = part.identity, keyword, name
    if key not in made:
        made[key] = part.schema, Complement(keywords)
    found: Complement = made[key][1]
    return found


def _is_object(schemas: Subschemas) -> bool:
    return any(part.schema.get("type") == "object" for part in schemas)


CHOICES: Mapping[str, Callable[[Subschema, Subschemas], Options]] = {
    "not": not_,
    "if": if_,
    **{keyword: dependencies(keyword) for keyword in ("dependencies", "dependentRequired", "dependentSchemas")},
    "anyOf": any_of,
    "oneOf": one_of,
}
"""In the order in which they are made: what may decide others first."""
