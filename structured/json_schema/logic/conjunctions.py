"""Conjunctions: schemas that hold together, the choices that they leave open, and the definitions of their patterns.

References and `allOf` are followed at once, and so is a choice with one option; other choices stay open, for the
compiler to make. A definition is identified by all schemas of its conjunction: `Node` beside a rule and `Node` alone
are two definitions.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
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
)
from structured.json_schema.document.references import REFERENCES, targets
from structured.json_schema.keyword_types import OBJECT, UNEVALUATED, check_shape
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.logic.complements import complement_options
from structured.json_schema.logic.emptiness import (
    EMPTY_CONTEXT,
    NOTHING_LISTED,
    SchemaContext,
    context_of,
    listed_properties,
    listed_values_of,
    surely_empty,
    types_left,
)
from structured.regex import Pattern, Reference, nodes_of, productive_nodes
from structured.regex.traversal import matches_without_references

_SILENT_KEYWORDS = ANNOTATIONS - {GROUNDED} | {"$defs", "definitions", *REFERENCES}
"""Keywords that restrict nothing once references are followed. `GROUNDED` applies to all that its schema refers to."""

_CHOICE_KEYWORDS = frozenset(CHOICES)
_GLANCE_DEPTH = 3
"""How many levels of an option are examined before it is tried."""

MAX_VALUE_GROUPS = 64
"""The most groups of values of a property for which choices are settled one by one."""


class OpenChoice(NamedTuple):
    """Options, each a conjunction of schemas, one of which has to hold, and the keyword that requires it.

    `denied` is a schema if the options are those of its complement.
    """

    part: Subschema
    keyword: str
    options: list[Subschemas]
    denied: Subschema | None = None


class Case(NamedTuple):
    """One case of a conjunction with open choices: an option that holds, and the choices that are then left open.

    Every value of the conjunction belongs to a case: `anyOf: [A, B]` has the cases A and B.
    """

    option: Subschemas
    choices: list[OpenChoice]


class Conjunction:
    """The schemas that a value has to satisfy, with all that their `$ref` and `allOf` lead to, and the open choices.

    `schemas` are read without the keywords of `CHOICES`. The value must fail the schemas in `denied`. `context` has the
    known rules of the schemas at the last call of `settle`.
    """

    __slots__ = ("choices", "context", "denied", "followed", "schemas", "seen")

    def __init__(self, schemas: Iterable[Subschema] = ()) -> None:
        self.schemas: Subschemas = []
        self.choices: list[OpenChoice] = []
        self.followed: Subschemas = []
        self.denied: dict[Identity, Subschema] = {}
        self.seen: dict[Identity, frozenset[Identity]] = {}
        self.context = EMPTY_CONTEXT
        for part in schemas:
            self.add(part)

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
        self._add_new(part._replace(unevaluated_parents=self._note_seen(part)))

    def _note_seen(self, part: Subschema) -> frozenset[Identity]:
        """Note that a schema is added, perhaps again; return the `unevaluated_parents` of the schemas inside it."""
        own, parents = part.identity, part.unevaluated_parents
        if own in self.seen:
            parents |= self.seen[own]
            self.schemas = [schema for schema in self.schemas if schema.identity != own]
            self.choices = [choice for choice in self.choices if choice.part.identity != own]
        self.seen[own] = parents
        return parents if UNEVALUATED.isdisjoint(part.schema) else parents | {own}

    def _add_new(self, part: Subschema) -> None:
        schema = part.schema
        for target in targets(part):
            self.followed.append(target)
            self.add(target.inside(part))
        if ("$ref" in schema and part.location.draft.ignores_siblings) or schema.keys() <= _SILENT_KEYWORDS:
            return
        self.schemas.append(part)
        for branch in part.branches("allOf"):
            self.add(branch.inside(part))
        if not _CHOICE_KEYWORDS.isdisjoint(schema):
            for keyword in CHOICES:
                if part.has(keyword):
                    self._choose(part, keyword)

    def _choose(self, part: Subschema, keyword: str) -> None:
        """Add the choices of a keyword."""
        for options in CHOICES[keyword](part, keyword, self.schemas):
            if not options:
                raise part.location.unsatisfiable("there is no branch", keyword=keyword)
            self._add_choice(OpenChoice(part, keyword, [[rule.inside(part) for rule in option] for option in options]))

    def _add_choice(self, choice: OpenChoice) -> None:
        """Add a choice; the option of a choice with one option is added at once."""
        if len(choice.options) > 1:
            self.choices.append(choice)
            return
        for rule in choice.options[0]:
            self.add(rule)

    def _deny(self, part: Subschema, target: Subschema) -> None:
        """Add a schema that the value must fail."""
        if target.schema is False or target.identity in self.denied:
            return
        if target.schema is True or target.identity in self.seen:
            raise target.location.unsatisfiable("a denied schema is required", keyword="not")
        self.denied[target.identity] = target
        if isinstance(target.schema, Mapping) and not target.schema.keys().isdisjoint(REFERENCES):
            self.followed.append(target)
        options = complement_options(target)
        if not options:
            raise target.location.unsatisfiable("a denied schema allows every value", keyword="not")
        self._add_choice(OpenChoice(part, "not", options, target))

    @property
    def is_one_choice(self) -> bool:
        """Whether the conjunction is only one choice between single schemas."""
        if len(self.choices) != 1:
            return False
        _, keyword, options, _ = self.choices[0]
        silent = _SILENT_KEYWORDS | {keyword, "allOf", "discriminator"}
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

    def _settle(self, choice: OpenChoice, context: SchemaContext) -> bool:
        """Decide a choice if possible; tell whether a schema was added, so that the context must be computed again."""
        if not any(choice is other for other in self.choices):
            return False
        if choice.denied is not None and surely_empty([choice.denied], context, _GLANCE_DEPTH):
            self.choices = [other for other in self.choices if other is not choice]
            return False
        options = [option for option in choice.options if not surely_empty(option, context, _GLANCE_DEPTH)]
        types = types_left(options)
        if options and types < context.rules.types:
            self.add(choice.part.location.internal_schema(type=sorted(types)))
            return True
        if len(options) == len(choice.options) > 1:
            return False
        if not options:
            raise choice.part.location.unsatisfiable("no branch is possible", keyword=choice.keyword)
        self.choices = [other for other in self.choices if other is not choice]
        self._add_choice(choice._replace(options=options))
        return len(options) == 1

    def cases(self, *, by_property: bool) -> list[Case]:
        """Return the cases.

        They are split by the first that applies: an option that several denials share, and only `by_property`; the
        values of a distinguishing property, likewise; the options of the first choice.
        """
        cases = self._factored() if by_property else []
        if not cases and by_property and self.context.rules.types == OBJECT:
            cases = [Case(option, self.choices) for option in self._options_by_property()]
        return cases or [Case(option, self.choices[1:]) for option in self.choices[0].options]

    def _factored(self) -> list[Case]:
        """Return two cases where several denials share an option; else none.

        The option holds, or one of the others of each denial does: (a ∨ b) ∧ (a ∨ c) is a ∨ (b ∧ c).
        """
        keys = [[_option_key(option) for option in choice.options] if choice.denied else [] for choice in self.choices]
        shares = Counter(key for own in keys for key in dict.fromkeys(own))
        common, count = max(shares.items(), key=itemgetter(1), default=(None, 0))
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
        return [Case(taken, others), Case([], without)]

    def _options_by_property(self) -> list[Subschemas]:
        """Return options by the value of a property that distinguishes denied schemas; none if there is none.

        An object with `"type": "a"` fails `{"type": {"const": "b"}}`, `{"type": {"const": "c"}}` and so on. Other
        options of their complements matter only for objects without that property.
        """
        denied = [choice.denied for choice in self.choices if choice.denied is not None]
        lists_by_name: dict[str, list[Mapping[str, Any]]] = {}
        for part in denied:
            for name, values in listed_properties(part).items():
                lists_by_name.setdefault(name, []).append(values)
        for name, lists in sorted(lists_by_name.items(), key=lambda item: -len(item[1])):
            options = self._options_of_property(denied[0], name, lists) if len(lists) > 1 else []
            if len(options) > 1:
                return options
        return []

    def _options_of_property(self, part: Subschema, name: str, lists: list[Mapping[str, Any]]) -> list[Subschemas]:
        """Return the options that a property has a value from some lists, has another value, or is absent."""
        allowed = listed_values_of(self.context, name)
        if allowed is NOTHING_LISTED:
            return []
        groups: dict[frozenset[int], dict[str, Any]] = {}
        for key, value in {key: value for values in lists for key, value in values.items()}.items():
            if allowed is None or key in allowed:
                groups.setdefault(frozenset(n for n, own in enumerate(lists) if key in own), {})[key] = value
        if len(groups) > MAX_VALUE_GROUPS:
            return []
        part = part._replace(unevaluated_parents=frozenset())
        options = [[_property_schema(part, name, list(values.values()))] for values in groups.values()]
        if allowed is None:
            listed = [value for values in groups.values() for value in values.values()]
            options.append([_property_schema(part, name, listed, is_denied=True)])
        elif len(allowed) > sum(map(len, groups.values())):
            options.append([part.location.internal_schema(type="object", required=[name])])
        if name not in self.context.required:
            options.append([part.location.internal_schema(type="object", properties={name: False})])
        return options

    def in_case(self, case: Case) -> "Conjunction":
        """Return the conjunction in one of its cases."""
        result = Conjunction()
        result.schemas, result.choices = list(self.schemas), list(case.choices)
        result.seen, result.denied, result.context = dict(self.seen), dict(self.denied), self.context
        for part in case.option:
            result.add(part)
        return result


def _option_key(option: Subschemas) -> Hashable:
    """Return a key that is equal for two options only if they mean the same."""
    return frozenset((_content_key(part.schema, part.location), part.unevaluated_parents) for part in option)


def _content_key(value: Any, location: Location) -> Hashable:
    """Return a key of a schema made by the compiler, by its content; other schemas are compared by identity."""
    if isinstance(value, RelocatedSchema):
        return value.key
    if isinstance(value, InternalSchema):
        return frozenset(
            (keyword, _members_key(held, location) if keyword == "properties" else _content_key(held, location))
            for keyword, held in value.items()
        )
    if isinstance(value, list | tuple):
        return tuple([_content_key(item, location) for item in value])
    if isinstance(value, dict):
        return id(value), location.entered_scope
    return type(value), value


def _members_key(properties: Mapping[str, Any], location: Location) -> Hashable:
    return frozenset((name, _content_key(value, location)) for name, value in properties.items())


def _property_schema(part: Subschema, name: str, values: list[Any], *, is_denied: bool = False) -> Subschema:
    def make() -> InternalSchema:
        listing = InternalSchema({"enum": values})
        schema = RelocatedSchema(listing, part.location, is_denied=True) if is_denied else listing
        return InternalSchema({"type": "object", "required": [name], "properties": {name: schema}})

    key = "of property", name, is_denied, tuple(map(identity, values))
    return Subschema(part.location.compilation.cached(key, make), part.location)


MAX_DEFINITIONS = 10_000
"""The most definitions of one schema; each set of schemas that hold together counts."""


def definition(
    conjunction: Conjunction, location: Location, make: Callable[[Conjunction, Location], Pattern]
) -> Pattern:
    """Return the definition of a conjunction, or a reference to it if it is being built."""
    compilation, name = location.compilation, _name(conjunction, location)
    key = f"{name} at {location.depth}" if location.whitespace.indent else name
    if key in compilation.definitions:
        return compilation.definitions[key]
    if name in compilation.names_under_construction:
        return _reference(name, conjunction, location)
    definitions_before, patterns_before = len(compilation.definitions), len(compilation.patterns_by_schemas)
    compilation.names_under_construction.add(name)
    try:
        compilation.definitions[key] = make(conjunction, location)
    except SchemaError:  # patterns built inside may refer to the definition, which will not exist
        for inner in list(compilation.definitions)[definitions_before:]:
            del compilation.definitions[inner]
        for part in list(compilation.patterns_by_schemas)[patterns_before:]:
            del compilation.patterns_by_schemas[part]
        raise
    finally:
        compilation.names_under_construction.remove(name)
    return compilation.definitions[key]


def check_productive(pattern: Pattern, compilation: Compilation) -> None:
    """Refuse a definition in a pattern that has to contain itself. Definitions outside the pattern do not matter."""
    definitions, answers = compilation.definitions, compilation.reference_free
    targets = [(definitions.get(reference.name), reference, at) for reference, at in compilation.recursive_references]
    if all(target is None or matches_without_references(target, answers) for target, _, _ in targets):
        return
    left, productive = set(map(id, nodes_of(pattern))), productive_nodes(pattern)
    for target, reference, location in targets:
        if id(target) in left and id(target) not in productive:
            raise location.unsatisfiable(f"{reference.name} has to contain itself, without end", keyword="$ref")


def _reference(name: str, conjunction: Conjunction, location: Location) -> Reference:
    """Return a reference to a definition that is being built."""
    if location.whitespace.indent:
        raise location.refusal(
            f"{name} contains itself, and indented text needs to know how deep it is",
            keyword="$ref",
            remedy='Choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    reference = Reference(name, location.compilation.definitions)
    place = conjunction.followed[0].location if conjunction.followed else location
    location.compilation.recursive_references.append((reference, place))
    return reference


def _name(conjunction: Conjunction, location: Location) -> str:
    """Return the name of a conjunction, the same for the same schemas."""
    compilation = location.compilation
    schemas = frozenset((part.identity, part.unevaluated_parents) for part in conjunction.schemas)
    members = schemas, frozenset(conjunction.denied)
    if members not in compilation.definition_names:
        if len(compilation.definition_names) == MAX_DEFINITIONS:
            raise location.refusal(
                f"Definitions are combined in more than {MAX_DEFINITIONS:,} ways",
                keyword="$ref",
                remedy="Let fewer of them hold together, with allOf or beside each other.",
            )
        sources = conjunction.followed or conjunction.schemas
        name = " and ".join(part.location.pointer.rpartition("/")[2] or "#" for part in sources)
        compilation.name_counts[name] += 1
        count = compilation.name_counts[name]
        compilation.definition_names[members] = name if count == 1 else f"{name} ({count})"
    return compilation.definition_names[members]
