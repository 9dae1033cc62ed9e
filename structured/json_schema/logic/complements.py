"""Complements of schemas: for each schema, the options of which one holds of every value that fails it.

A schema is a conjunction of keywords, so a value fails it if it fails one of them. An option is again a conjunction of
schemas, which allow what the keyword does not: a value fails `{"minimum": 3, "type": "integer"}` if it is not an
integer, or is a number below 3. So `not`, `oneOf` and `if` are compiled without automata for whole values. An option
goes one level deep; the subschemas that it denies are complemented when they are compiled.

Some options need keywords that JSON Schema does not have. Only schemas of the class `InternalSchema` have them:
`not pattern`, `not format`, `not multipleOf`, `not integer`, `not enum` (of strings or of numbers), `not uniqueItems`,
`some item` (from a position on) and `some property` (of certain names).
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from structured.json_schema.document.location import InternalSchema, RelocatedSchema, Subschema, Subschemas
from structured.json_schema.document.references import targets
from structured.json_schema.keyword_types import DISJOINT_TYPES, check_shape, type_of
from structured.json_schema.logic.emptiness import surely_empty
from structured.json_schema.logic.property_names import SomeProperty
from structured.json_schema.strings.strings import is_asserted

Options = Iterator[Subschemas]
"""Conjunctions of schemas: a value fails a schema if and only if it satisfies one of them."""


class SomeItem(NamedTuple):
    """The rule that some item of an array, at position `start` or after it, satisfies a schema."""

    start: int
    schema: RelocatedSchema


def complement_options(part: Subschema) -> list[Subschemas]:
    """Return conjunctions of schemas: a value fails a schema if and only if it satisfies one of them."""
    schema, location = part.schema, part.location
    if isinstance(schema, bool):
        return [] if schema else [[Subschema(True, location)]]
    check_shape(part)
    options = location.compilation.cached(("complement", part.identity), lambda: list(_new_options(part)), keep=schema)
    return [[Subschema(rule.schema, rule.location.at_depth(location.depth)) for rule in option] for option in options]


def _new_options(part: Subschema) -> Options:
    schema, location = part.schema, part.location
    for target in targets(part):
        yield [Subschema(RelocatedSchema(target.schema, target.location, is_denied=True), location)]
    if "$ref" in schema and location.draft.ignores_siblings:
        return
    for keyword in schema:
        if not isinstance(schema, InternalSchema) and not location.draft.has(keyword):
            continue
        complement = _COMPLEMENTS.get(keyword)
        if complement is not None:
            yield from complement(part, keyword)
        elif keyword in _UNDENIABLE:
            raise location.refusal(
                f"{keyword!r} cannot be enforced where it is denied", keyword=keyword, remedy="Say what is allowed."
            )


def _option(part: Subschema, **keywords: Any) -> Subschemas:
    """Return the option that is one internal schema: `type="object"` → `[{"type": "object"}]`."""
    return [Subschema(InternalSchema(keywords), part.location)]


def _denied(part: Subschema, *keys: str | int) -> Subschema:
    return Subschema(part.subschema(*keys).complement, part.location)


def _other_types(part: Subschema, _keyword: str) -> Options:
    types = part.schema["type"]
    names = {types} if isinstance(types, str) else set(types)
    others = DISJOINT_TYPES - names - ({"number"} if "integer" in names else set())
    if others:
        yield _option(part, type=sorted(others))
    if "integer" in names and "number" not in names:
        yield _option(part, type="number", **{"not integer": True})


def _listed_values(part: Subschema, keyword: str) -> Options:
    """Deny listed values: the other values of each type are left."""
    values = [part.schema["const"]] if keyword == "const" else part.schema["enum"]
    by_type: dict[str, list[Any]] = {}
    for value in values:
        kind = type_of(value)
        by_type.setdefault("number" if kind == "integer" else kind, []).append(value)
    unlisted_types = DISJOINT_TYPES - by_type.keys()
    if unlisted_types:
        yield _option(part, type=sorted(unlisted_types))
    for kind, same_type in by_type.items():
        if kind in ("string", "number"):
            yield _option(part, type=kind, **{"not enum": same_type})
        elif kind == "boolean" and len(set(same_type)) == 1:
            yield _option(part, enum=[not same_type[0]])
        elif kind in ("array", "object"):
            others = [RelocatedSchema(_exact_schema(value), part.location, is_denied=True) for value in same_type]
            yield [*_option(part, type=kind), *(Subschema(other, part.location) for other in others)]


def _exact_schema(value: Any) -> dict[str, Any]:
    """Return the schema that only one value satisfies, an array or an object: it has a schema for each member."""
    if isinstance(value, list):
        members = [InternalSchema({"enum": [item]}) for item in value]
        return InternalSchema(type="array", minItems=len(value), prefixItems=members, items=False)
    properties = {name: InternalSchema({"enum": [member]}) for name, member in value.items()}
    return InternalSchema(type="object", required=list(value), properties=properties, additionalProperties=False)


_OPPOSITES = {
    "minimum": "exclusiveMaximum",
    "maximum": "exclusiveMinimum",
    "exclusiveMinimum": "maximum",
    "exclusiveMaximum": "minimum",
}


def _opposite_bound(part: Subschema, keyword: str) -> Options:
    """Deny a bound of a number, which a flag beside it may make exclusive in draft 4."""
    flag = f"exclusive{keyword.capitalize()}"
    if not isinstance(part.schema[keyword], bool):
        opposite = _OPPOSITES[flag if part.schema.get(flag) is True else keyword]
        yield _option(part, type="number", **{opposite: part.schema[keyword]})


_LENGTHS = {
    "minLength": ("string", "maxLength", -1),
    "maxLength": ("string", "minLength", 1),
    "minItems": ("array", "maxItems", -1),
    "maxItems": ("array", "minItems", 1),
    "minProperties": ("object", "maxProperties", -1),
    "maxProperties": ("object", "minProperties", 1),
}
"""The keywords of lengths, each with its type, its opposite, and the step to the nearest denied length."""


def _opposite_length(part: Subschema, keyword: str) -> Options:
    kind, opposite, step = _LENGTHS[keyword]
    count = (part.length(keyword) or 0) + step
    if count >= 0:
        yield _option(part, type=kind, **{opposite: count})


_NEGATED = {
    "divisibleBy": ("number", "not multipleOf"),
    "format": ("string", "not format"),
    "multipleOf": ("number", "not multipleOf"),
    "pattern": ("string", "not pattern"),
    "uniqueItems": ("array", "not uniqueItems"),
}
"""Keywords with a negated counterpart, and the type of the values that it restricts."""


def _negated(part: Subschema, keyword: str) -> Options:
    value = part.schema[keyword]
    is_asserted_format = keyword != "format" or is_asserted(part.location, value)
    if is_asserted_format and (keyword != "uniqueItems" or value is True):
        kind, negation = _NEGATED[keyword]
        yield _option(part, type=kind, **{negation: value})


def _items(part: Subschema, keyword: str) -> Options:
    if isinstance(part.schema[keyword], list):
        for index, item in enumerate(part.branches(keyword)):
            items = [*[True] * index, item.complement]
            yield _option(part, type="array", minItems=index + 1, prefixItems=items)
        return
    if keyword == "additionalItems" and not isinstance(part.schema.get("items"), list):
        return  # it has no effect
    rule = SomeItem(len(part.first_items), part.subschema(keyword).complement)
    yield _option(part, type="array", **{"some item": rule})


def contains_limits(part: Subschema) -> tuple[int, int | None]:
    """Return the limits of the number of items that satisfy `contains`; before draft 2019-09, at least one does."""
    if not isinstance(part.schema, InternalSchema) and not part.location.draft.has("minContains"):
        return 1, None
    least = part.length("minContains")
    return 1 if least is None else least, part.length("maxContains")


def _contains(part: Subschema, _keyword: str) -> Options:
    least, most = contains_limits(part)
    rule = part.subschema("contains").relocated
    if least:
        yield _option(part, type="array", contains=rule, minContains=0, maxContains=least - 1)
    if most is not None:
        yield _option(part, type="array", contains=rule, minContains=most + 1)


def _required(part: Subschema, keyword: str) -> Options:
    """Deny that a property is there; if it has a schema, the property may also be there and fail the schema."""
    if isinstance(part.schema[keyword], list):
        properties = part.schema.get("properties", ())
        for name in part.schema[keyword]:
            denied = part.subschema("properties", name).complement if name in properties else False
            yield _option(part, type="object", properties={name: denied})


def _properties(part: Subschema, _keyword: str) -> Options:
    required = part.schema.get("required", ())
    for name, schema in part.schema["properties"].items():
        if schema is not True and name not in (required if isinstance(required, list) else ()):
            denied = part.subschema("properties", name).complement
            yield _option(part, type="object", required=[name], properties={name: denied})


def _pattern_properties(part: Subschema, keyword: str) -> Options:
    for regex in part.schema[keyword]:
        denied = _simplified(part.subschema(keyword, regex).complement)
        yield _option(part, type="object", **{"some property": SomeProperty(denied, regex)})


def _additional_properties(part: Subschema, keyword: str) -> Options:
    if part.schema[keyword] is not True:
        names = tuple(part.schema.get("properties", ()))
        patterns = tuple(part.schema.get("patternProperties", ()))
        denied = _simplified(part.subschema(keyword).complement)
        rule = SomeProperty(denied, other_names=names, other_patterns=patterns)
        yield _option(part, type="object", **{"some property": rule})


def _simplified(schema: RelocatedSchema) -> RelocatedSchema | bool:
    """Return True in place of the complement of False."""
    return True if schema.is_denied and schema.schema is False else schema


def _property_names(part: Subschema, keyword: str) -> Options:
    denied = part.subschema(keyword).complement
    yield _option(part, type="object", **{"some property": SomeProperty(True, names=denied)})


def _dependencies(part: Subschema, keyword: str) -> Options:
    for name, needed in part.schema[keyword].items():
        present = _option(part, type="object", required=[name])
        if isinstance(needed, list | str):
            for other in [needed] if isinstance(needed, str) else needed:
                yield [*present, *_option(part, type="object", properties={other: False})]
        else:
            yield [*present, _denied(part, keyword, name)]


def _if(part: Subschema, _keyword: str) -> Options:
    if "then" in part.schema:
        yield [part.subschema("if"), _denied(part, "then")]
    if "else" in part.schema:
        yield [_denied(part, "if"), _denied(part, "else")]


def _all_denied(part: Subschema, keyword: str) -> Subschemas:
    return [Subschema(branch.complement, part.location) for branch in part.branches(keyword)]


def _one_of(part: Subschema, keyword: str) -> Options:
    """Deny that exactly one branch holds: none holds, or two do."""
    yield _all_denied(part, keyword)
    for left, right in combinations(part.branches(keyword), 2):
        if not surely_empty([left, right]):
            yield [left, right]


_UNDENIABLE = frozenset({"disallow", "extends", "unevaluatedItems", "unevaluatedProperties"})

_COMPLEMENTS: Mapping[str, Callable[[Subschema, str], Options]] = {
    "type": _other_types,
    **dict.fromkeys(("const", "enum"), _listed_values),
    **dict.fromkeys(_OPPOSITES, _opposite_bound),
    **dict.fromkeys(_LENGTHS, _opposite_length),
    **dict.fromkeys(_NEGATED, _negated),
    **dict.fromkeys(("additionalItems", "items", "prefixItems"), _items),
    "contains": _contains,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), _dependencies),
    "if": _if,
    "allOf": lambda part, keyword: ([rule] for rule in _all_denied(part, keyword)),
    "anyOf": lambda part, keyword: iter([_all_denied(part, keyword)]),
    "oneOf": _one_of,
    "not": lambda part, keyword: iter([[part.subschema(keyword)]]),
}
