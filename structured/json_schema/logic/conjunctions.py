"""Conjunctions: schemas that hold together, the choices that they leave open, and the definitions of their patterns.

References and `allOf` are followed at once, and so is a choice with one option; other choices stay open, for the
compiler to make. A definition is identified by all schemas of its conjunction: `Node` beside a rule and `Node` alone
are two definitions.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import (
    ANNOTATIONS,
    GROUNDED,
    Compilation,
    Identity,
    InternalSchema,
    Location,
    RelocatedSchema,
    Subschema,
    Subschemas,
    check_shape,
)
from structured.json_schema.document.references import REFERENCES, targets
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
from structured.regex import Pattern, Reference, nodes_of, productive_nodes
from structured.regex.traversal import matches_without_references

_SAYS_NOTHING = ANNOTATIONS - {GROUNDED} | {"$defs", "definitions", *REFERENCES}
"""Keywords that restrict nothing once references are followed. `GROUNDED` is not among them: it applies to all schemas
that its schema refers to."""

_CHOOSING = frozenset(CHOICES)
_OBJECT = frozenset({"object"})
_GLANCE = 3
"""How many levels of an option are examined before it is tried."""

MAX_KINDS = 64
"""The most groups of values of a property for which choices are settled one by one."""


class OpenChoice(NamedTuple):
    """Options, each a conjunction of schemas, one of which has to hold, and the keyword that requires it.

    `denied` is a schema if the options are the ways to fail that schema.
    """

    part: Subschema
    keyword: str
    options: list[Subschemas]
    denied: Subschema | None = None


class Way(NamedTuple):
    """A way to settle choices: an option that holds, and the choices that are then left open."""

    option: Subschemas
    choices: list[OpenChoice]


class Conjunction:
    """The schemas that a value has to satisfy, with all that their `$ref` and `allOf` lead to, and the open choices.

    `schemas` are read without the keywords of `CHOICES`. The value must fail the schemas in `denied`. `context` has the
    known rules of the schemas at the last call of `settle`.
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
        """Add a schema and all that it refers to. Raises `UnsatisfiableError` if it contradicts the others."""
        schema, location, parents = part
        if isinstance(schema, RelocatedSchema):
            self._deny(part, Subschema(schema.schema, schema.location.at_depth(location.depth)))
            return
        if schema is True or (part.identity in self.seen and parents <= self.seen[part.identity]):
            return
        if schema is False:
            raise location.unsatisfiable("nothing is allowed here", keyword=None)
        check_shape(part)
        if part.identity in self.denied:
            raise location.unsatisfiable("a required schema is denied", keyword="not")
        self._add_new(part._replace(unevaluated_parents=self._noted(part)))

    def _noted(self, part: Subschema) -> frozenset[Identity]:
        """Note that a schema is added; return its unevaluated parents, with the earlier ones if it was added before."""
        identity, parents = part.identity, part.unevaluated_parents
        if identity in self.seen:
            parents |= self.seen[identity]
            self.schemas = [schema for schema in self.schemas if schema.identity != identity]
            self.choices = [choice for choice in self.choices if choice.part.identity != identity]
        self.seen[identity] = parents
        return parents if UNEVALUATED.isdisjoint(part.schema) else parents | {identity}

    def _add_new(self, part: Subschema) -> None:
        schema = part.schema
        for target in targets(part):
            self.followed.append(target)
            self.add(target._replace(unevaluated_parents=part.unevaluated_parents))
        if ("$ref" in schema and part.location.draft.ignores_siblings) or schema.keys() <= _SAYS_NOTHING:
            return
        self.schemas.append(part)
        for index in range(len(schema.get("allOf", []))):
            self.add(part.subschema("allOf", index)._replace(unevaluated_parents=part.unevaluated_parents))
        if not _CHOOSING.isdisjoint(schema):
            for keyword in CHOICES:
                if part.has(keyword):
                    self._choose(part, keyword)

    def _choose(self, part: Subschema, keyword: str) -> None:
        """Add the choices of a keyword; the option of a choice with one option is added at once."""
        for options in CHOICES[keyword](part, self.schemas):
            scoped = [
                [
                    rule._replace(unevaluated_parents=rule.unevaluated_parents | part.unevaluated_parents)
                    for rule in option
                ]
                for option in options
            ]
            if len(scoped) == 1:
                for rule in scoped[0]:
                    self.add(rule)
            else:
                self.choices.append(OpenChoice(part, keyword, scoped))

    def _deny(self, part: Subschema, target: Subschema) -> None:
        """Add a schema that the value must fail."""
        if target.schema is False or target.identity in self.denied:
            return
        if target.schema is True or target.identity in self.seen:
            raise target.location.unsatisfiable("a denied schema is required", keyword="not")
        self.denied[target.identity] = target
        if isinstance(target.schema, Mapping) and not target.schema.keys().isdisjoint(REFERENCES):
            self.followed.append(target)
        ways = ways_to_fail(target)
        if not ways:
            raise target.location.unsatisfiable("a denied schema allows every value", keyword="not")
        if len(ways) == 1:
            for rule in ways[0]:
                self.add(rule)
        else:
            self.choices.append(OpenChoice(part, "not", ways, target))

    @property
    def is_one_choice(self) -> bool:
        """Whether the conjunction is only one choice between single schemas."""
        if len(self.choices) != 1:
            return False
        _, keyword, options, _ = self.choices[0]
        silent = _SAYS_NOTHING | {keyword, "allOf", "discriminator"}
        return (
            all(len(option) == 1 for option in options)
            and len(self.denied) <= (keyword == "not")
            and all(other.schema.keys() <= silent for other in self.schemas)
        )

    def settle(self) -> None:
        """Drop the choices that the schemas have decided, and the options that they rule out."""
        is_settled = False
        self.context = context_of(self.schemas, self.context)
        while not is_settled:
            is_settled = True
            for choice in self.choices:
                if self._settle(choice, self.context):
                    is_settled = False
                    self.context = context_of(self.schemas, self.context)

    def _settle(self, choice: OpenChoice, context: KnownRules) -> bool:
        if not any(choice is other for other in self.choices):
            return False
        if choice.denied is not None and surely_empty([choice.denied], context, _GLANCE):
            self.choices = [other for other in self.choices if other is not choice]
            return False
        options = [option for option in choice.options if not surely_empty(option, context, _GLANCE)]
        types = types_left(options)
        if options and types < context.rules.types:
            self.add(choice.part.location.internal_schema(type=sorted(types)))
            return True
        if len(options) == len(choice.options) > 1:
            return False
        if not options:
            raise choice.part.location.unsatisfiable("no branch is possible", keyword=choice.keyword)
        self.choices = [other for other in self.choices if other is not choice]
        if len(options) > 1:
            self.choices.append(choice._replace(options=options))
            return False
        for rule in options[0]:
            self.add(rule)
        return True

    def ways(self, *, by_property: bool) -> list[Way]:
        """Return ways to settle choices: by an option that denials share, by a property, or by the first choice."""
        ways = self._factored() if by_property else []
        if not ways and by_property and self.context.rules.types == _OBJECT:
            ways = [Way(option, self.choices) for option in self._by_property()]
        return ways or [Way(option, self.choices[1:]) for option in self.choices[0].options]

    def _factored(self) -> list[Way]:
        """Return two ways where several denials share an option; else none.

        The option holds, or one of the others of each denial does: (a ∨ b) ∧ (a ∨ c) is a ∨ (b ∧ c).
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

    def _by_property(self) -> list[Subschemas]:
        """Return the ways to choose the value of a property that distinguishes denied schemas; none if there is none.

        An object with `"type": "a"` fails `{"type": {"const": "b"}}`, `{"type": {"const": "c"}}` and so on. Other ways
        to fail these schemas matter only for objects without that property.
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
        """Return the ways for a property to have a value from some lists, to have another value, or to be absent."""
        allowed = listed_values_of(self.context, name)
        if allowed is NOTHING_LISTED:
            return []
        kinds: dict[frozenset[int], dict[str, Any]] = {}
        for key, value in {key: value for values in lists for key, value in values.items()}.items():
            if allowed is None or key in allowed:
                kinds.setdefault(frozenset(n for n, own in enumerate(lists) if key in own), {})[key] = value
        if len(kinds) > MAX_KINDS:
            return []
        part = part._replace(unevaluated_parents=frozenset())
        ways = [[_of_property(part, name, list(values.values()))] for values in kinds.values()]
        if allowed is None:
            listed = [value for values in kinds.values() for value in values.values()]
            ways.append([_of_property(part, name, listed, is_denied=True)])
        elif len(allowed) > sum(map(len, kinds.values())):
            ways.append([part.location.internal_schema(type="object", required=[name])])
        if name not in self.context.required:
            ways.append([part.location.internal_schema(type="object", properties={name: False})])
        return ways

    def after_way(self, way: Way) -> "Conjunction":
        """Return the conjunction after one of its ways."""
        chosen = Conjunction()
        chosen.schemas, chosen.choices = list(self.schemas), list(way.choices)
        chosen.seen, chosen.denied, chosen.context = dict(self.seen), dict(self.denied), self.context
        for part in way.option:
            chosen.add(part)
        return chosen


def _option_key(option: Subschemas) -> Hashable:
    """Return a key that is equal for two options only if they mean the same."""
    return frozenset((_content(part.schema, part.location), part.unevaluated_parents) for part in option)


def _content(value: Any, location: Location) -> Hashable:
    """Return a key of a schema made by the compiler, by its content; other schemas are compared by identity."""
    if isinstance(value, RelocatedSchema):
        return value.key
    if isinstance(value, InternalSchema):
        return frozenset(
            (keyword, _members_content(held, location) if keyword == "properties" else _content(held, location))
            for keyword, held in value.items()
        )
    if isinstance(value, list | tuple):
        return tuple([_content(item, location) for item in value])
    if isinstance(value, dict):
        return id(value), location.entered_scope
    return type(value), value


def _members_content(properties: Mapping[str, Any], location: Location) -> Hashable:
    return frozenset((name, _content(value, location)) for name, value in properties.items())


def _of_property(part: Subschema, name: str, values: list[Any], *, is_denied: bool = False) -> Subschema:
    def make() -> InternalSchema:
        listed = InternalSchema({"enum": values})
        inside = RelocatedSchema(listed, part.location, is_denied=True) if is_denied else listed
        return InternalSchema({"type": "object", "required": [name], "properties": {name: inside}})

    key = "of property", name, is_denied, tuple(map(identity, values))
    return Subschema(part.location.compilation.cached(key, make), part.location)


Build = Callable[[Conjunction, Location], Pattern]
"""A function that makes the pattern of a conjunction."""

MAX_DEFINITIONS = 10_000
"""The most definitions of one schema; each set of schemas that hold together counts."""


def definition(gathered: Conjunction, location: Location, build: Build) -> Pattern:
    """Return the definition of a conjunction, or a reference to it if it is being built."""
    compilation, name = location.compilation, _name(gathered, location)
    key = f"{name} at {location.depth}" if location.whitespace.indent else name
    if key in compilation.definitions:
        return compilation.definitions[key]
    if name in compilation.names_under_construction:
        return _reference(name, gathered, location)
    before, together_before = len(compilation.definitions), len(compilation.patterns_by_schemas)
    compilation.names_under_construction.add(name)
    try:
        compilation.definitions[key] = build(gathered, location)
    except SchemaError:  # patterns built inside may refer to the definition, which will not exist
        for inner in list(compilation.definitions)[before:]:
            del compilation.definitions[inner]
        for part in list(compilation.patterns_by_schemas)[together_before:]:
            del compilation.patterns_by_schemas[part]
        raise
    finally:
        compilation.names_under_construction.remove(name)
    return compilation.definitions[key]


def check_ends(pattern: Pattern, compilation: Compilation) -> None:
    """Refuse a definition in a pattern that has to contain itself. Definitions outside the pattern do not matter."""
    targets = [
        (reference, compilation.definitions.get(reference.name), at)
        for reference, at in compilation.recursive_references
    ]
    if all(
        target is None or matches_without_references(target, compilation.reference_free) for _, target, _ in targets
    ):
        return
    left, productive = set(map(id, nodes_of(pattern))), productive_nodes(pattern)
    for reference, target, location in targets:
        if id(target) in left and id(target) not in productive:
            raise location.unsatisfiable(f"{reference.name} has to contain itself, without end", keyword="$ref")


def _reference(name: str, gathered: Conjunction, location: Location) -> Reference:
    """Return a reference to a definition that is being built."""
    if location.whitespace.indent:
        raise location.refusal(
            f"{name} contains itself, and indented text needs to know how deep it is",
            keyword="$ref",
            remedy='Choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    reference = Reference(name, location.compilation.definitions)
    location.compilation.recursive_references.append(
        (reference, gathered.followed[0].location if gathered.followed else location)
    )
    return reference


def _name(gathered: Conjunction, location: Location) -> str:
    """Return the name of a conjunction, the same for the same schemas."""
    compilation = location.compilation
    members = (
        frozenset((part.identity, part.unevaluated_parents) for part in gathered.schemas),
        frozenset(gathered.denied),
    )
    if members not in compilation.definition_names:
        if len(compilation.definition_names) == MAX_DEFINITIONS:
            raise location.refusal(
                f"Definitions are combined in more than {MAX_DEFINITIONS:,} ways",
                keyword="$ref",
                remedy="Let fewer of them hold together, with allOf or beside each other.",
            )
        named = gathered.followed or gathered.schemas
        name = " and ".join(part.location.pointer.rpartition("/")[2] or "#" for part in named)
        compilation.name_counts[name] += 1
        count = compilation.name_counts[name]
        compilation.definition_names[members] = name if count == 1 else f"{name} ({count})"
    return compilation.definition_names[members]
