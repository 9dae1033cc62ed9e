"""Emptiness of a conjunction: a quick test whether no value satisfies some schemas together.

The test considers types, listed values, and required properties and items. It is one-sided: a conjunction that passes
may still be empty. It saves most of the work on choices, since most combinations of branches exclude each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from structured.errors import PatternError
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import Identity, InternalSchema, RelocatedSchema, Subschema, Subschemas
from structured.json_schema.document.references import REFERENCES, targets
from structured.json_schema.keyword_types import ALL_TYPES, ARRAY, OBJECT, STRING, check_shape, named_types, type_of
from structured.json_schema.logic.property_names import candidate_names, exclude_each_other, existence_rules, matches_in
from structured.regex.character_classes import ECMA

MAX_DEPTH = 6
"""How many levels of properties and choices are examined."""

MAX_EXAMINED_SCHEMAS = 300_000
"""The most schemas that are examined in one compilation; after that, nothing is found to be empty."""

_SIMPLE_KEYWORDS = frozenset({"type", "const", "enum", "pattern", "denied values", "not enum"})
"""The keywords that `_Rules` covers."""


class _Rules(NamedTuple):
    """The simple rules of some schemas: allowed types, listed values, denied values, and regular expressions."""

    types: frozenset[str] = ALL_TYPES
    listed_values: Mapping[str, Any] | None = None
    """The listed values by identity; None if no schema lists values."""
    denied_values: frozenset[str] = frozenset()
    regexes: tuple[str, ...] = ()

    def conjunction(self, other: "_Rules") -> "_Rules":
        """Return the conjunction of both."""
        values = self.listed_values if other.listed_values is None else other.listed_values
        if self.listed_values is not None and other.listed_values is not None:
            values = {key: self.listed_values[key] for key in self.listed_values.keys() & other.listed_values.keys()}
        denied = self.denied_values | other.denied_values
        return _Rules(self.types & other.types, values, denied, tuple({*self.regexes, *other.regexes}))

    def is_empty(self) -> bool:
        """Tell whether no type, or no listed value, is left."""
        if self.listed_values is None:
            is_searched = self.types == STRING and len(self.regexes) > 1
            return not self.types or (is_searched and exclude_each_other(frozenset(self.regexes), ECMA))
        return not any(
            type_of(value) in self.types and (not isinstance(value, str) or _all_match(self.regexes, value))
            for key, value in self.listed_values.items()
            if key not in self.denied_values
        )


NO_RULES = _Rules()


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """Schemas that are known to hold: with all that they refer to, their identities, and what follows from them.

    `is_contradictory` says that one of them is False, or denied by another.
    """

    schemas: Subschemas
    seen: frozenset[Identity]
    is_contradictory: bool = False
    rules: _Rules = NO_RULES
    required: frozenset[str] = frozenset()
    _by_name: dict[str, Subschemas] = field(default_factory=dict, repr=False)

    def schemas_of(self, name: str) -> Subschemas:
        """Return the schemas of a property."""
        if name not in self._by_name:
            self._by_name[name] = [schema for part in self.schemas for schema in _schemas_of(part, name)]
        return self._by_name[name]


EMPTY_CONTEXT = SchemaContext([], frozenset())


def context_of(schemas: Sequence[Subschema], before: SchemaContext = EMPTY_CONTEXT) -> SchemaContext:
    """Return the context of some schemas together with those of `before`, to be used many times."""
    if before.is_contradictory:
        return before
    try:
        new = _reachable(schemas, before.seen)
    except _Contradiction:
        return SchemaContext([], frozenset(), is_contradictory=True)
    seen = before.seen.union(part.identity for part in new)
    rules, required = _rules_of_all(new, before.rules), before.required | _required(new)
    return SchemaContext([*before.schemas, *new], seen, rules=rules, required=required)


def surely_empty(schemas: Subschemas, context: SchemaContext = EMPTY_CONTEXT, depth: int = MAX_DEPTH) -> bool:
    """Tell whether it is certain that no value satisfies some schemas and those of the context.

    The choices of the context are not examined.
    """
    if context.is_contradictory:
        return True
    compilation = schemas[0].location.compilation
    compilation.examined_schemas += len(context.schemas) + len(schemas)
    if compilation.examined_schemas > MAX_EXAMINED_SCHEMAS:
        return False
    try:
        new, own = _added_schemas(schemas, context)
    except _Contradiction:
        return True
    rules = context.rules.conjunction(own)
    if rules.is_empty():
        return True
    if depth == 0:
        return False
    if rules.types == OBJECT and (_lacks_property(context, new, depth) or _lacks_some_property(context, new, depth)):
        return True
    if rules.types == ARRAY and _lacks_item([*context.schemas, *new], depth):
        return True
    return any(_has_no_branch(context.schemas, new, index, depth) for index in range(len(new)))


NOTHING_LISTED: Mapping[str, Any] = {}
"""The listed values of a property that cannot exist."""


def listed_values_of(context: SchemaContext, name: str) -> Mapping[str, Any] | None:
    """Return the values that schemas list for a property, by identity; None if they list none."""
    rules = context.schemas_of(name)
    known = context_of(rules) if rules else EMPTY_CONTEXT
    return NOTHING_LISTED if known.is_contradictory else known.rules.listed_values


def listed_properties(part: Subschema) -> Mapping[str, Mapping[str, Any]]:
    """Return the properties of a schema whose values are listed and plain, with these values by identity."""
    key = "listed properties", part.identity
    return part.location.compilation.cached(key, lambda: _new_listed_properties(part), keep=part.schema)


def _new_listed_properties(part: Subschema) -> Mapping[str, Mapping[str, Any]]:
    try:
        context = _context_of_one(part)
    except _Contradiction:
        return {}
    names = dict.fromkeys(name for own in context.schemas for name in own.schema.get("properties", ()))
    values_by_name = {name: listed_values_of(context, name) for name in names}
    return {
        name: values
        for name, values in values_by_name.items()
        if values and not any(isinstance(value, list | dict) for value in values.values())
    }


def types_left(options: Iterable[Subschemas]) -> frozenset[str]:
    """Return a superset of the types of the values that satisfy one of some options."""
    return frozenset[str]().union(*(_types_of(option) for option in options))


def _types_of(option: Subschemas) -> frozenset[str]:
    parts = [part for part in option if not isinstance(part.schema, bool | RelocatedSchema)]
    return ALL_TYPES.intersection(*(_context_of_one(part).rules.types for part in parts))


def _added_schemas(schemas: Subschemas, context: SchemaContext) -> tuple[Subschemas, _Rules]:
    """Return the schemas that some schemas add to those of the context, with their simple rules.

    The context of a single schema is kept, and used if it does not overlap with the other.
    """
    if len(schemas) == 1:
        alone = _context_of_one(schemas[0])
        if alone.seen.isdisjoint(context.seen):
            return alone.schemas, alone.rules
    new = _reachable(schemas, context.seen)
    return new, _rules_of_all(new)


def _context_of_one(part: Subschema) -> SchemaContext:
    """Return the context of one schema, the same object each time. Raises _Contradiction if nothing satisfies it."""
    context = part.location.compilation.cached(("context", part.identity), lambda: context_of([part]), keep=part.schema)
    if context.is_contradictory:
        raise _Contradiction
    return context


def _has_no_branch(others: Subschemas, new: Subschemas, index: int, depth: int) -> bool:
    """Tell whether no branch of a schema is compatible with all the other schemas."""
    part = new[index]
    choices = [part.branches(keyword) for keyword in ("anyOf", "oneOf") if keyword in part.schema]
    if not choices:
        return False
    context = context_of([*others, *new[:index], *new[index + 1 :]])
    return any(all(surely_empty([branch], context, depth - 1) for branch in branches) for branches in choices)


def _lacks_property(context: SchemaContext, new: Subschemas, depth: int) -> bool:
    """Tell whether a required property cannot exist."""
    for name in context.required | _required(new):
        rules = [*context.schemas_of(name), *(rule for part in new for rule in _schemas_of(part, name))]
        is_restricted = len(rules) > 1 or any(rule.schema is False for rule in rules)
        if is_restricted and _is_surely_empty(rules, depth - 1):
            return True
    return False


def _lacks_item(schemas: Subschemas, depth: int) -> bool:
    """Tell whether a required item cannot exist: the first item, or one that a complement requires."""
    if any(isinstance(least := part.schema.get("minItems"), int | float) and least >= 1 for part in schemas):
        rules = [rule for rule in (part.item(0) for part in schemas) if rule.schema is not True]
        if len(rules) > 1 and _is_surely_empty(rules, depth - 1):
            return True
    for part in schemas:
        rule = part.schema.get("some item") if isinstance(part.schema, InternalSchema) else None
        if rule is not None and all(len(other.first_items) <= rule.start for other in schemas):
            rules = [item for item in (other.item(rule.start) for other in schemas) if item.schema is not True]
            if rules and _is_surely_empty([Subschema(rule.schema, part.location), *rules], depth - 1):
                return True
    return False


def _lacks_some_property(context: SchemaContext, new: Subschemas, depth: int) -> bool:
    """Tell whether no property can be the one that a rule about some property requires."""
    schemas = [*context.schemas, *new]
    for _, rule in existence_rules(schemas):
        names = candidate_names(schemas, rule)
        value = Subschema(rule.schema, schemas[0].location)
        rules = ([value, *(own for part in schemas for own in _schemas_of(part, name))] for name in names or ())
        if names is not None and all(_is_surely_empty(own, depth - 1) for own in rules):
            return True
    return False


def _is_surely_empty(rules: Subschemas, depth: int) -> bool:
    """Tell whether it is certain that no value satisfies some schemas; the answer is kept."""
    key = "excludes itself", frozenset(rule.identity for rule in rules), depth
    return rules[0].location.compilation.cached(key, lambda: surely_empty(rules, depth=depth), keep=rules)


def _required(schemas: Subschemas) -> frozenset[str]:
    return frozenset(name for part in schemas for name in part.schema.get("required", ()))


def _schemas_of(part: Subschema, name: str) -> Subschemas:
    if name in part.schema.get("properties", {}):
        return [part.subschema("properties", name)]
    if part.schema.get("additionalProperties") is False and "patternProperties" not in part.schema:
        return [part.subschema("additionalProperties")]
    return []


class _Contradiction(Exception):  # noqa: N818  not an error, a result
    """A schema that nothing satisfies."""


def _reachable(schemas: Sequence[Subschema], excluded: frozenset[Identity]) -> Subschemas:
    """Return some schemas and all that their `$ref` and `allOf` lead to, with complements of listed values only."""
    reached: Subschemas = []
    seen, denied = set[Identity](), set[Identity]()
    left = [*reversed(schemas)]
    while left:
        part = left.pop()
        if part.schema is False:
            raise _Contradiction
        if part.schema is True or part.identity in seen or part.identity in excluded:
            continue
        if isinstance(part.schema, RelocatedSchema):
            denied.add((id(part.schema.schema), part.schema.location.entered_scope))
            listed = _denied_values(part.schema.schema)
            if listed is not None:
                reached.append(Subschema(InternalSchema({"denied values": listed}), part.location))
            continue
        check_shape(part)
        seen.add(part.identity)
        if not REFERENCES.keys().isdisjoint(part.schema):
            left += reversed(targets(part))
            if "$ref" in part.schema and part.location.draft.ignores_siblings:
                continue
        reached.append(part)
        left += reversed(part.branches("allOf"))
    if not (denied.isdisjoint(seen) and denied.isdisjoint(excluded)):
        raise _Contradiction
    return reached


def _denied_values(schema: Any) -> list[Any] | None:
    """Return the values of a schema that only lists values, and perhaps names a type; else None."""
    if not isinstance(schema, dict) or len(schema.keys() - {"type", "description", "title"}) != 1:
        return None
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return [value for value in values if type_of(value) in named_types(schema)] if isinstance(values, list) else None


def _rules_of_all(schemas: Subschemas, rules: _Rules = NO_RULES) -> _Rules:
    for part in schemas:
        own = _rules_of(part)
        if own is not NO_RULES:
            rules = rules.conjunction(own)
    return rules


def _rules_of(part: Subschema) -> _Rules:
    schema, listed = part.schema, None
    if _SIMPLE_KEYWORDS.isdisjoint(schema):
        return NO_RULES
    for keyword in ("const", "enum"):
        if part.has(keyword) and (keyword == "const" or isinstance(schema["enum"], list)):
            values = [schema["const"]] if keyword == "const" else schema["enum"]
            here = {identity(value): value for value in values}
            listed = here if listed is None else {key: listed[key] for key in listed.keys() & here.keys()}
    denied: frozenset[str] = frozenset()
    if isinstance(schema, InternalSchema):
        denied = frozenset(identity(value) for word in ("denied values", "not enum") for value in schema.get(word, ()))
    is_searchable = isinstance(schema.get("pattern"), str) and not part.location.is_type
    regexes = (schema["pattern"],) if is_searchable else ()
    return _Rules(named_types(schema), listed, denied, regexes)


def _all_match(regexes: Iterable[str], text: str) -> bool:
    """Tell whether all regular expressions match in a text; True if one of them is malformed."""
    try:
        return all(matches_in(regex, ECMA, text) for regex in regexes)
    except PatternError:
        return True
