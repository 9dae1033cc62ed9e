"""Conjunctions: what schemas that hold together say of a value, and which choices they leave.

The references and `allOf` of a schema are followed at once, and so is a choice of one; choices between more are kept,
to be made by whoever asks for the conjunction.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from structured.errors.recursion import deep
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import (
    ANNOTATIONS,
    GROUNDED,
    Complement,
    Elsewhere,
    Identity,
    Location,
    Subschema,
    Subschemas,
    check_shape,
)
from structured.json_schema.document.references import REFERENCES, ignores_siblings, targets
from structured.json_schema.keyword_types import UNEVALUATED
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.logic.complements import ways_to_fail
from structured.json_schema.logic.emptiness import (
    NOTHING_KNOWN,
    NOTHING_LISTED,
    KnownRules,
    context_of,
    listed_properties,
    listed_values_of,
    surely_empty,
    types_left,
)

_SAYS_NOTHING = ANNOTATIONS - {GROUNDED} | {"$defs", "definitions", *REFERENCES}
"""Keywords of which nothing is left once references are followed. A mark of what has to be stated is for all that its
schema leads to."""

_CHOOSING = frozenset(CHOICES)
_OBJECT = frozenset({"object"})
_GLANCE = 3
"""How deep options are looked at before they are tried."""

MAX_KINDS = 64
"""Values of a property that are told apart to make choices by it."""


class OpenChoice(NamedTuple):
    """Conjunctions of schemas of which one has to hold, and the keyword that says so.

    Where they are the ways to fail a schema, that is `denied`.
    """

    part: Subschema
    keyword: str
    options: list[Subschemas]
    denied: Subschema | None = None


class Way(NamedTuple):
    """A way to go on: an option that holds, and the choices that are then left."""

    option: Subschemas
    choices: list[OpenChoice]


class Conjunction:
    """The schemas that a value has to satisfy, with those that their `$ref` and `allOf` lead to, and the choices left.

    `schemas` are read without the keywords of `CHOICES`; `denied` are those that the value must fail. `context` has the
    schemas that were there when it was last settled.
    """

    __slots__ = ("choices", "context", "denied", "followed", "schemas", "seen")

    def __init__(self) -> None:
        self.schemas: Subschemas = []
        self.choices: list[OpenChoice] = []
        self.followed: Subschemas = []
        self.denied: dict[Identity, Subschema] = {}
        self.seen: dict[Identity, frozenset[Identity]] = {}
        self.context = NOTHING_KNOWN

    @deep
    def add(self, part: Subschema) -> None:
        """Take a schema, and all that it leads to. Raises `UnsatisfiableError` if it contradicts what is there."""
        schema, location, scopes = part
        if isinstance(schema, Elsewhere):
            self._deny(part, Subschema(schema.schema, schema.location.at_depth(location.depth)))
            return
        if schema is True or (part.identity in self.seen and scopes <= self.seen[part.identity]):
            return
        if schema is False:
            raise location.unsatisfiable("nothing is allowed here", keyword=None)
        check_shape(part)
        if part.identity in self.denied:
            raise location.unsatisfiable("what has to hold must not", keyword="not")
        self._add_new(part._replace(scopes=self._noted(part)))

    def _noted(self, part: Subschema) -> frozenset[Identity]:
        """Note that a schema is taken; return its scopes, with those that it had if it was taken before."""
        identity, scopes = part.identity, part.scopes
        if identity in self.seen:
            scopes |= self.seen[identity]
            self.schemas = [one for one in self.schemas if one.identity != identity]
            self.choices = [choice for choice in self.choices if choice.part.identity != identity]
        self.seen[identity] = scopes
        return scopes if UNEVALUATED.isdisjoint(part.schema) else scopes | {identity}

    def _add_new(self, part: Subschema) -> None:
        schema = part.schema
        for target in targets(part):
            self.followed.append(target)
            self.add(target._replace(scopes=part.scopes))
        if ("$ref" in schema and ignores_siblings(part.location)) or schema.keys() <= _SAYS_NOTHING:
            return
        self.schemas.append(part)
        for index in range(len(schema.get("allOf", []))):
            self.add(part.below("allOf", index)._replace(scopes=part.scopes))
        if not _CHOOSING.isdisjoint(schema):
            for keyword in CHOICES:
                if part.has(keyword):
                    self._choose(part, keyword)

    def _choose(self, part: Subschema, keyword: str) -> None:
        """Take what a keyword leaves to choose; a choice of one is none."""
        for options in CHOICES[keyword](part, self.schemas):
            chosen = [[one._replace(scopes=one.scopes | part.scopes) for one in option] for option in options]
            if len(chosen) == 1:
                for one in chosen[0]:
                    self.add(one)
            else:
                self.choices.append(OpenChoice(part, keyword, chosen))

    def _deny(self, part: Subschema, target: Subschema) -> None:
        """Take a schema that the value must fail."""
        if target.schema is False or target.identity in self.denied:
            return
        if target.schema is True or target.identity in self.seen:
            raise target.location.unsatisfiable("what must not hold does", keyword="not")
        self.denied[target.identity] = target
        if isinstance(target.schema, Mapping) and not target.schema.keys().isdisjoint(REFERENCES):
            self.followed.append(target)
        ways = ways_to_fail(target)
        if not ways:
            raise target.location.unsatisfiable("what must not hold always does", keyword="not")
        if len(ways) == 1:
            for one in ways[0]:
                self.add(one)
        else:
            self.choices.append(OpenChoice(part, "not", ways, target))

    @property
    def is_one_choice(self) -> bool:
        """Whether there is nothing but one choice, of single schemas."""
        if len(self.choices) != 1:
            return False
        _, keyword, options, _ = self.choices[0]
        return (
            all(len(option) == 1 for option in options)
            and len(self.denied) <= (keyword == "not")
            and all(not _says_more(other, keyword) for other in self.schemas)
        )

    def settle(self) -> None:
        """Drop the choices that what is there has made, and the options that it has ruled out."""
        is_settled = False
        self.context = context_of(self.schemas, self.context)
        while not is_settled:
            is_settled = True
            for choice in self.choices:
                if self._settle(choice, self.context):
                    is_settled = False
                    self.context = context_of(self.schemas, self.context)

    def _settle(self, choice: OpenChoice, context: KnownRules) -> bool:
        """Do so with one choice; tell whether that added a schema, which may settle others."""
        if not any(choice is other for other in self.choices):
            return False
        if choice.denied is not None and surely_empty([choice.denied], context, _GLANCE):
            self.choices = [other for other in self.choices if other is not choice]
            return False
        options = [option for option in choice.options if not surely_empty(option, context, _GLANCE)]
        types = types_left(options)
        if options and types < context.rules.types:
            self.add(_of_types(choice.part, types))
            return True
        if len(options) == len(choice.options) > 1:
            return False
        if not options:
            raise choice.part.location.unsatisfiable("no branch is possible", keyword=choice.keyword)
        self.choices = [other for other in self.choices if other is not choice]
        if len(options) > 1:
            self.choices.append(choice._replace(options=options))
            return False
        for one in options[0]:
            self.add(one)
        return True

    def ways(self, *, are_told_apart: bool) -> list[Way]:
        """Return the ways to go on: by an option that several denials share, by a property, or by the first choice."""
        found = self._factored() if are_told_apart else []
        if not found and are_told_apart and self.context.rules.types == _OBJECT:
            found = [Way(option, self.choices) for option in self._told_apart()]
        return found or [Way(option, self.choices[1:]) for option in self.choices[0].options]

    def _factored(self) -> list[Way]:
        """Return two ways where an option is in several denials; else none.

        It holds, or what is left of each has to: (a ∨ b) ∧ (a ∨ c) is a ∨ (b ∧ c).
        """
        keys = [[_option_key(option) for option in choice.options] if choice.denied else [] for choice in self.choices]
        counts = Counter(key for own in keys for key in dict.fromkeys(own))
        common, count = max(counts.items(), key=itemgetter(1), default=(None, 0))
        if count < 2:
            return []
        taken: Subschemas = []
        others: list[OpenChoice] = []
        without: list[OpenChoice] = []
        for choice, own in zip(self.choices, keys, strict=True):
            if common in own:
                taken = choice.options[own.index(common)]
                left = [option for option, key in zip(choice.options, own, strict=True) if key != common]
                without.append(choice._replace(options=left))
            else:
                others.append(choice)
                without.append(choice)
        return [Way(taken, others), Way([], without)]

    def _told_apart(self) -> list[Subschemas]:
        """Return the values that a property may have which tells denied schemas apart; nothing if none does.

        `{"type": {"const": "a"}}` fails all of `{"type": {"const": "b"}}`, `{"type": {"const": "c"}}` … where it has
        that property, so that what else fails each of them matters only where it has not.
        """
        denied = [choice.denied for choice in self.choices if choice.denied is not None]
        listed: dict[str, list[Mapping[str, Any]]] = {}
        for part in denied:
            for name, values in listed_properties(part).items():
                listed.setdefault(name, []).append(values)
        for name, lists in sorted(listed.items(), key=lambda item: -len(item[1])):
            ways = self._ways_to_hold(denied[0], name, lists) if len(lists) > 1 else []
            if len(ways) > 1:
                return ways
        return []

    def _ways_to_hold(self, part: Subschema, name: str, lists: list[Mapping[str, Any]]) -> list[Subschemas]:
        """Return the ways in which a property may be absent, or have a value of some lists, or another one."""
        known = listed_values_of(self.context, name)
        if known is NOTHING_LISTED:
            return []
        kinds: dict[frozenset[int], dict[str, Any]] = {}
        for key, value in {key: value for values in lists for key, value in values.items()}.items():
            if known is None or key in known:
                kinds.setdefault(frozenset(n for n, own in enumerate(lists) if key in own), {})[key] = value
        if len(kinds) > MAX_KINDS:
            return []
        part = part._replace(scopes=frozenset())
        ways = [[_of_property(part, name, list(values.values()))] for values in kinds.values()]
        if known is None:
            told = [value for values in kinds.values() for value in values.values()]
            ways.append([_of_property(part, name, told, is_denied=True)])
        elif len(known) > sum(map(len, kinds.values())):
            ways.append([_of_object(part, required=[name])])
        if name not in self.context.required:
            ways.append([_of_object(part, properties={name: False})])
        return ways

    def with_option(self, option: Subschemas) -> "Conjunction":
        """Return the same with the first choice made."""
        return self.going_on(Way(option, self.choices[1:]))

    def going_on(self, way: Way) -> "Conjunction":
        """Return the same after one of its ways."""
        chosen = Conjunction()
        chosen.schemas, chosen.choices = list(self.schemas), list(way.choices)
        chosen.seen, chosen.denied, chosen.context = dict(self.seen), dict(self.denied), self.context
        for part in way.option:
            chosen.add(part)
        return chosen


def _option_key(option: Subschemas) -> Hashable:
    """Return what is the same for options that say the same, as far as that is seen."""
    return frozenset((_content(part.schema, part.location), part.scopes) for part in option)


def _content(value: Any, location: Location) -> Hashable:
    """Return what is the same for values of the compiler's own that say the same; others are known by themselves."""
    if isinstance(value, Elsewhere):
        return id(value.schema), value.location.entered, value.is_denied
    if isinstance(value, Complement):
        return frozenset(
            (keyword, _members_content(held, location) if keyword == "properties" else _content(held, location))
            for keyword, held in value.items()
        )
    if isinstance(value, list | tuple):
        return tuple([_content(one, location) for one in value])
    if isinstance(value, dict):
        return id(value), location.entered
    return type(value), value


def _members_content(properties: Mapping[str, Any], location: Location) -> Hashable:
    return frozenset((name, _content(value, location)) for name, value in properties.items())


def _of_property(part: Subschema, name: str, values: list[Any], *, is_denied: bool = False) -> Subschema:
    """Return a schema of the compiler's own that asks for a property with some values, or with others."""
    made = part.location.compilation.made
    key = "of property", name, is_denied, tuple(map(identity, values))
    if key not in made:
        inside: Any = Complement({"enum": values})
        if is_denied:
            inside = Elsewhere(inside, part.location, is_denied=True)
        made[key] = Complement({"type": "object", "required": [name], "properties": {name: inside}})
    return Subschema(made[key], part.location)


def _of_object(part: Subschema, **keywords: Any) -> Subschema:
    """Return a schema of the compiler's own about a property, the same each time."""
    made = part.location.compilation.made
    key = "of object", repr(keywords)
    if key not in made:
        made[key] = Complement({"type": "object", **keywords})
    return Subschema(made[key], part.location)


def _of_types(part: Subschema, types: frozenset[str]) -> Subschema:
    """Return a schema of the compiler's own that allows some types, the same each time."""
    made = part.location.compilation.made
    key = "of types", types
    if key not in made:
        made[key] = Complement({"type": sorted(types)})
    return Subschema(made[key], part.location)


def _says_more(part: Subschema, choice: str) -> bool:
    """Tell whether a schema says anything beside its choice."""
    return bool(part.schema.keys() - _SAYS_NOTHING - {choice, "allOf", "discriminator"})
