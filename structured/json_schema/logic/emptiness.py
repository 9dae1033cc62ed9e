"""Emptiness of a conjunction: whether it can be seen at once that no value satisfies some schemas together.

What is seen: types, listed values, and properties and items that must be there; what is not seen may be empty all the
same. It saves most of the work that choices would make, since most of what is combined excludes each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from structured.errors import PatternError
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import Complement, Elsewhere, Identity, Subschema, Subschemas, check_shape
from structured.json_schema.document.references import REFERENCES, ignores_siblings, targets
from structured.json_schema.logic.listed_values import type_of
from structured.json_schema.logic.property_names import (
    SomeProperty,
    exclude_each_other,
    finds,
    named_candidates,
    required_properties,
)
from structured.regex.dialects import ECMA

DEPTH = 6
"""How deep properties and choices are looked at."""

MAX_LOOKED_AT = 300_000
"""Schemas that are looked at in one compilation; what would be seen after that is not."""

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_ARRAY = frozenset({"array"})
_OBJECT = frozenset({"object"})
_STRING = frozenset({"string"})

_ALONE = {name: frozenset({name, "integer"} if name == "number" else {name}) for name in _TYPES}
"""The types of a schema that names one."""

_TELLING = frozenset({"type", "const", "enum", "pattern", "denied values", "not enum"})
"""The keywords of which something is seen at once."""


class _Rules(NamedTuple):
    """What is seen of some schemas at once: the types they leave, the values that they list or do not allow."""

    types: frozenset[str] = _TYPES
    listed: Mapping[str, Any] | None = None
    """By their identities; None if none are listed."""
    denied: frozenset[str] = frozenset()
    regexes: tuple[str, ...] = ()

    def together(self, other: "_Rules") -> "_Rules":
        """Return what holds where both do."""
        listed = self.listed if other.listed is None else other.listed
        if self.listed is not None and other.listed is not None:
            listed = {key: self.listed[key] for key in self.listed.keys() & other.listed.keys()}
        return _Rules(
            self.types & other.types, listed, self.denied | other.denied, tuple({*self.regexes, *other.regexes})
        )

    def leave_nothing(self) -> bool:
        """Tell whether there is no type left, or no value."""
        if self.listed is None:
            return not self.types or (self.types == _STRING and self._exclude_each_other())
        return not any(key not in self.denied and self._allow(value) for key, value in self.listed.items())

    def _exclude_each_other(self) -> bool:
        return len(self.regexes) > 1 and exclude_each_other(frozenset(self.regexes), ECMA)

    def _allow(self, value: Any) -> bool:
        return type_of(value) in self.types and (not isinstance(value, str) or _is_found(self.regexes, value))


NO_RULES = _Rules()


@dataclass(frozen=True, slots=True)
class KnownRules:
    """Schemas that hold, with those that they lead to, and the identities of all; whether one of them is False."""

    schemas: Subschemas
    seen: frozenset[Identity]
    is_nothing: bool = False
    rules: _Rules = NO_RULES
    required: frozenset[str] = frozenset()
    _said: dict[str, Subschemas] = field(default_factory=dict, repr=False)

    def said_of(self, name: str) -> Subschemas:
        """Return what is said of a property."""
        if name not in self._said:
            self._said[name] = [one for part in self.schemas for one in _said_of(part, name)]
        return self._said[name]


NOTHING_KNOWN = KnownRules([], frozenset())


def context_of(schemas: Sequence[Subschema], before: KnownRules = NOTHING_KNOWN) -> KnownRules:
    """Return some schemas, and those of another context, as a context, which can be used again and again."""
    if before.is_nothing:
        return before
    try:
        new = _reached(schemas, set(), before.seen)
    except _Nothing:
        return KnownRules([], frozenset(), is_nothing=True)
    seen = before.seen.union(part.identity for part in new)
    rules, required = _rules_together(new, before.rules), before.required | _required(new)
    return KnownRules([*before.schemas, *new], seen, rules=rules, required=required)


def surely_empty(schemas: Subschemas, context: KnownRules = NOTHING_KNOWN, depth: int = DEPTH) -> bool:
    """Tell whether it is certain that no value satisfies all of some schemas and those of the context.

    The choices of the context are not looked at.
    """
    if context.is_nothing:
        return True
    compilation = schemas[0].location.compilation
    compilation.looked_at += len(context.schemas) + len(schemas)
    if compilation.looked_at > MAX_LOOKED_AT:
        return False
    try:
        new, own = _added(schemas, context)
    except _Nothing:
        return True
    rules = context.rules.together(own)
    if rules.leave_nothing():
        return True
    if depth == 0:
        return False
    if rules.types == _OBJECT and (_lacks_property(context, new, depth) or _lacks_asked(context, new, depth)):
        return True
    if rules.types == _ARRAY and _lacks_item([*context.schemas, *new], depth):
        return True
    return any(_has_no_option(context.schemas, new, index, depth) for index in range(len(new)))


NOTHING_LISTED: Mapping[str, Any] = {}
"""Of a property that cannot be there."""


def listed_values_of(context: KnownRules, name: str) -> Mapping[str, Any] | None:
    """Return the values, by their identities, that schemas leave a property; None if they list none."""
    said = context.said_of(name)
    inside = context_of(said) if said else NOTHING_KNOWN
    return NOTHING_LISTED if inside.is_nothing else inside.rules.listed


def listed_properties(part: Subschema) -> Mapping[str, Mapping[str, Any]]:
    """Return the properties of a schema of which plain values are listed, and these by their identities."""
    made = part.location.compilation.made
    key = "listed properties", part.identity
    if key not in made:
        found: dict[str, Mapping[str, Any]] = {}
        try:
            alone = _alone(part)
        except _Nothing:
            alone = NOTHING_KNOWN
        for name in dict.fromkeys(name for one in alone.schemas for name in one.schema.get("properties", ())):
            values = listed_values_of(alone, name)
            if values and not any(isinstance(value, list | dict) for value in values.values()):
                found[name] = values
        made[key] = part.schema, found
    listed: Mapping[str, Mapping[str, Any]] = made[key][1]
    return listed


def types_left(options: Iterable[Subschemas]) -> frozenset[str]:
    """Return the types of the values that satisfy all schemas of one of some options, as far as that is seen."""
    return frozenset[str]().union(*(_types_of(option) for option in options))


def _types_of(option: Subschemas) -> frozenset[str]:
    types = _TYPES
    for part in option:
        if not isinstance(part.schema, bool | Elsewhere):
            types &= _alone(part).rules.types
    return types


def _added(schemas: Subschemas, context: KnownRules) -> tuple[Subschemas, _Rules]:
    """Return the schemas that some lead to beside those of the context, and what is seen of them at once.

    What one of them leads to is found once, and is all that it adds if none of that is known.
    """
    if len(schemas) == 1:
        alone = _alone(schemas[0])
        if alone.seen.isdisjoint(context.seen):
            return alone.schemas, alone.rules
    new = _reached(schemas, set(), context.seen)
    return new, _rules_together(new)


def _alone(part: Subschema) -> KnownRules:
    """Return a schema as a context; the same each time. Raises _Nothing if nothing satisfies it."""
    made = part.location.compilation.made
    key = "alone", part.identity
    if key not in made:
        made[key] = part.schema, context_of([part])
    found: KnownRules = made[key][1]
    if found.is_nothing:
        raise _Nothing
    return found


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


def _lacks_property(context: KnownRules, new: Subschemas, depth: int) -> bool:
    """Tell whether a property that must be there cannot be."""
    for name in context.required | _required(new):
        said = [*context.said_of(name), *(one for part in new for one in _said_of(part, name))]
        is_telling = len(said) > 1 or any(one.schema is False for one in said)
        if is_telling and _excludes_itself(said, depth - 1):
            return True
    return False


def _lacks_item(schemas: Subschemas, depth: int) -> bool:
    """Tell whether an item that must be there cannot be: the first one, or one that is asked for."""
    if any(_is_positive(part.schema.get("minItems")) for part in schemas):
        said = [one for part in schemas for one in _said_of_item(part, 0)]
        if len(said) > 1 and _excludes_itself(said, depth - 1):
            return True
    for part in schemas:
        asked = part.schema.get("some item") if isinstance(part.schema, Complement) else None
        if asked is not None and all(_prefix_length(other) <= asked.start for other in schemas):
            said = [one for other in schemas for one in _said_of_item(other, asked.start)]
            if said and _excludes_itself([Subschema(asked.schema, part.location), *said], depth - 1):
                return True
    return False


def _is_positive(count: Any) -> bool:
    return isinstance(count, int | float) and count >= 1


def _prefix(part: Subschema) -> str | None:
    """Return the keyword by which a schema lists its first items; None if it lists none."""
    if isinstance(part.schema.get("items"), list):
        return "items"
    return "prefixItems" if part.has("prefixItems") and isinstance(part.schema["prefixItems"], list) else None


def _prefix_length(part: Subschema) -> int:
    keyword = _prefix(part)
    return 0 if keyword is None else len(part.schema[keyword])


def _said_of_item(part: Subschema, position: int) -> Subschemas:
    """Return what is said of the item at a position."""
    if position < _prefix_length(part):
        return [part.below(str(_prefix(part)), position)]
    keyword = "additionalItems" if _prefix(part) == "items" else "items"
    return [part.below(keyword)] if part.has(keyword) else []


def _lacks_asked(context: KnownRules, new: Subschemas, depth: int) -> bool:
    """Tell whether no property can be one that is asked for."""
    schemas = [*context.schemas, *new]
    for _, asked in required_properties(schemas):
        names = named_candidates(schemas, asked)
        if names is not None and all(_cannot_be(name, asked, schemas, depth) for name in names):
            return True
    return False


def _cannot_be(name: str, asked: SomeProperty, schemas: Subschemas, depth: int) -> bool:
    said = [one for part in schemas for one in _said_of(part, name)]
    return _excludes_itself([Subschema(asked.schema, schemas[0].location), *said], depth - 1)


def _excludes_itself(said: Subschemas, depth: int) -> bool:
    """Tell whether it is certain that no value satisfies what is said of it; what is found is kept."""
    made = said[0].location.compilation.made
    key = "excludes itself", frozenset(one.identity for one in said), depth
    if key not in made:
        made[key] = said, surely_empty(said, depth=depth)
    found: bool = made[key][1]
    return found


def _required(schemas: Subschemas) -> frozenset[str]:
    return frozenset(name for part in schemas for name in part.schema.get("required", ()))


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
    denied: set[Identity] = set()
    left = [*reversed(schemas)]
    while left:
        part = left.pop()
        if part.schema is False:
            raise _Nothing
        if part.schema is True or part.identity in seen or part.identity in known:
            continue
        if isinstance(part.schema, Elsewhere):
            denied.add((id(part.schema.schema), part.schema.location.entered))
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
    if not (denied.isdisjoint(seen) and denied.isdisjoint(known)):
        raise _Nothing
    return reached


def _denied_values(schema: Any) -> list[Any] | None:
    """Return the values that a schema lists and says no more of than their type."""
    if not isinstance(schema, dict) or len(schema.keys() - {"type", "description", "title"}) != 1:
        return None
    if "const" in schema:
        values = [schema["const"]]
    elif isinstance(schema.get("enum"), list):
        values = schema["enum"]
    else:
        return None
    types = _named_types(schema)
    return [value for value in values if type_of(value) in types]


def _rules_together(schemas: Subschemas, rules: _Rules = NO_RULES) -> _Rules:
    """Return what is seen at once where some rules and all of some schemas hold."""
    for part in schemas:
        own = _rules_of(part)
        if own is not NO_RULES:
            rules = rules.together(own)
    return rules


def _named_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the types that a schema names; all if it names none."""
    if "type" not in schema:
        return _TYPES
    named = schema["type"]
    if isinstance(named, str) and named in _ALONE:
        return _ALONE[named]
    names = frozenset(name for name in named if isinstance(name, str)) if isinstance(named, list) else frozenset[str]()
    return _TYPES & (names | {"integer"} if "number" in names else names)


def _rules_of(part: Subschema) -> _Rules:
    """Return what is seen of a schema at once."""
    schema, types, listed = part.schema, _TYPES, None
    if _TELLING.isdisjoint(schema):
        return NO_RULES
    if "type" in schema:
        types = _named_types(schema)
    for keyword in ("const", "enum"):
        if part.has(keyword) and (keyword == "const" or isinstance(schema["enum"], list)):
            values = [schema["const"]] if keyword == "const" else schema["enum"]
            here = {identity(value): value for value in values}
            listed = here if listed is None else {key: listed[key] for key in listed.keys() & here.keys()}
    denied: frozenset[str] = frozenset()
    if isinstance(schema, Complement):
        denied = frozenset(identity(value) for word in ("denied values", "not enum") for value in schema.get(word, ()))
    is_seen = isinstance(schema.get("pattern"), str) and not part.location.is_type
    regexes = (schema["pattern"],) if is_seen else ()
    return _Rules(types, listed, denied, regexes)


def _is_found(regexes: Iterable[str], text: str) -> bool:
    """Tell whether regular expressions are found in a text; one that is malformed is, for all that is known."""
    try:
        return all(finds(regex, ECMA, text) for regex in regexes)
    except PatternError:
        return True
