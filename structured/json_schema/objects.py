"""The keywords of objects (core §10.3.2, validation §6.5), compiled to JSON objects.

Properties are written in the order of the schema, followed by others; with `key_order="any"`, in any order. With
separators between optional members, a regular expression would grow with the square of their number; the node
`ObjectMembers` does not. Unlisted names are of one kind if the same regular expressions match in them; each kind has
one schema for its values.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import Language
from structured.automata.dfa.products import Intersection
from structured.errors import PatternError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.counting import CountedMembers, Member, OtherMembers
from structured.json_schema.document.location import (
    InternalSchema,
    Location,
    PatternOf,
    Subschema,
    Subschemas,
    length_limits,
)
from structured.json_schema.logic.listed_values import spellings
from structured.json_schema.logic.property_names import (
    NamePartition,
    SomeProperty,
    candidate_names,
    existence_rules,
    language_of,
    matches_in,
    name_partition,
)
from structured.json_schema.nullable import invents_nothing
from structured.json_schema.required_members import (
    Alternative,
    Clause,
    MemberObligations,
    NameKind,
    RequiredMembers,
    UnmetClauses,
)
from structured.regex import Literal, Pattern, Unlike, Words, concat, literal, union, words
from structured.regex.character_classes import ECMA, RUST
from structured.regex.json_strings import escaped
from structured.regex.syntax import ANY_TEXT, NOTHING
from structured.regex.traversal import matches_without_references

_QUOTE = literal('"')

_COMBINING = frozenset({"patternProperties", "unevaluatedProperties"})
"""Keywords that may add rules to a listed property."""

_ABOUT_OTHERS = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
_ABOUT_PROPERTIES = _ABOUT_OTHERS | {"properties"}


class Compilers(NamedTuple):
    """The functions that make the patterns of values and, without quotes, of names."""

    pattern_of: PatternOf
    names_of: PatternOf


@deep
def object_(schemas: Subschemas, location: Location, compilers: Compilers, clauses: Sequence[Clause] = ()) -> Pattern:
    """Return the objects that satisfy all of some schemas and meet some clauses."""
    return _ObjectCompiler(schemas, location, compilers, clauses).pattern()


def _names(part: Subschema, compilers: Compilers) -> Pattern:
    """Return the names that satisfy a schema, `NOTHING` if there are none."""
    try:
        return compilers.names_of([part])
    except UnsatisfiableError:
        return NOTHING


class _ObjectCompiler:
    """The compilation of the objects of one conjunction."""

    def __init__(
        self, schemas: Subschemas, location: Location, compilers: Compilers, clauses: Sequence[Clause]
    ) -> None:
        self.schemas = schemas
        self.property_schemas = [part for part in schemas if not _ABOUT_PROPERTIES.isdisjoint(part.schema)]
        self.pattern_schemas = [part for part in self.property_schemas if "patternProperties" in part.schema]
        self.location = location
        self.compilers = compilers
        self.dialect = RUST if schemas[0].location.is_type else ECMA
        self.minimum, self.maximum = length_limits(schemas, "minProperties", "maxProperties")
        self.required = dict.fromkeys(name for part in schemas for name in part.schema.get("required", ()))
        self.clauses = [*clauses, *([Alternative(None, part)] for part, _ in existence_rules(schemas))]
        clause_names = (name for clause in self.clauses for name, _ in clause if name is not None)
        properties = (name for part in schemas for name in part.schema.get("properties", ()))
        self.listed_names = [*dict.fromkeys([*properties, *self.required, *clause_names])]
        self.reserved_names = list(self.listed_names)
        self.is_simple = len(schemas) == 1 and _COMBINING.isdisjoint(schemas[0].schema)
        self.has_no_others = False
        if schemas[0].location.is_type:
            self._read_as_type()
        self.allowed_names = self._restricted_names()
        self.canonical_form = location.compilation.canonical_form
        if (self.minimum > 1 or self.canonical_form is not None) and isinstance(self.allowed_names, Words | Literal):
            texts = self.allowed_names.texts if isinstance(self.allowed_names, Words) else (self.allowed_names.text,)
            self.listed_names = [*dict.fromkeys([*self.listed_names, *texts])]
            self.has_no_others = True
        if self.canonical_form is not None:
            others = () if self.has_no_others or self._denies_others() else self.canonical_form.written_anywhere
            self.listed_names = self.canonical_form.ordered(dict.fromkeys([*self.listed_names, *others]))
            self.reserved_names = [*dict.fromkeys([*self.reserved_names, *self.canonical_form.names])]

    def _read_as_type(self) -> None:
        """Refuse schemas that are not the description of a type, and close the object to unlisted properties."""
        properties = {name for part in self.schemas for name in part.schema.get("properties", ())}
        for part in self.schemas:
            missing = sorted(name for name in part.schema.get("required", ()) if name not in properties)
            if missing:
                raise part.location.refusal(
                    f"The required {missing[0]!r} is not among the properties",
                    keyword="required",
                    remedy="Add it to properties.",
                )
        keywords = {keyword for part in self.schemas for keyword in part.schema}
        if keywords.isdisjoint(("additionalProperties", "properties", "patternProperties")):
            raise self.schemas[0].location.refusal(
                "The properties are not described", keyword="type", remedy="Use a model with named fields, or a dict."
            )
        reserved = [name for part in self.schemas for name in part.schema.get("reserved_names", ())]
        self.reserved_names = [*dict.fromkeys([*self.listed_names, *reserved])]
        if self.location.compilation.optional_properties == "written":
            self.required = dict.fromkeys(self.listed_names)
        self.has_no_others = keywords.isdisjoint(("additionalProperties", "patternProperties"))

    def _denies_others(self) -> bool:
        """Tell whether a schema forbids every property that it does not list."""
        return any(
            part.schema.get("additionalProperties") is False and not part.schema.get("patternProperties")
            for part in self.schemas
        )

    def _leaves_out_others(self, members: list[Member]) -> bool:
        """Tell whether only the members are written, since no schema describes other properties."""
        if self.location.compilation.optional_properties == "schema" or self.location.is_type:
            return False
        are_described = any(_ABOUT_OTHERS & part.schema.keys() for part in self.schemas)
        are_required = any(name is None for clause in self.clauses for name, _ in clause)
        is_open = are_described or are_required or len(members) < self.minimum
        return bool(self._names_listed_by_user()) and not is_open

    def _restricted_names(self) -> Pattern | None:
        """Return the names that properties may have; None means any."""
        name_schemas = [
            part.child_subschema("propertyNames")
            for part in self.schemas
            if part.has("propertyNames") and part.schema["propertyNames"] is not True
        ]
        if not name_schemas:
            return None
        try:
            return self.compilers.names_of(name_schemas)
        except UnsatisfiableError:
            self.has_no_others = True
            return NOTHING

    def pattern(self) -> Pattern:
        """Return the pattern of the objects."""
        clauses = []
        for clause in self._resolved_clauses():
            match clause:
                case [Alternative(str(name), Subschema(schema=True))]:  # required, whatever its value: not a choice
                    self.required[name] = None
                case _:
                    clauses.append(clause)
        members = self._members()
        self.has_no_others = self.has_no_others or self._leaves_out_others(members)
        self.obligations = MemberObligations(clauses, [member.name for member in members])
        others = OtherMembers(None) if self.has_no_others else self._other_members()
        if self.canonical_form is not None and others != OtherMembers(None):
            members, others = [*members, self._single_other(others)], OtherMembers(None)
        limits = self.minimum, self.maximum
        counted = CountedMembers(members, others, limits, self.obligations, self.location)
        filled, may_be_empty = counted.with_separators()
        return self.location.whitespace.in_brackets("{}", filled, self.location.depth, may_be_empty=may_be_empty)

    def _single_other(self, others: OtherMembers) -> Member:
        """Return a last member for one property by an unlisted name; two of them could be written in two orders."""
        pattern = others.any
        if pattern is None or others.required is not None:
            raise self.location.refusal(
                "'uniqueItems' is not supported for objects that require some unlisted property",
                keyword=None,
                remedy="List the properties.",
            )
        return Member("", pattern, False, lambda unmet: iter([(pattern, unmet)]))

    def _resolved_clauses(self) -> list[Clause]:
        clauses: list[Clause] = []
        for clause in self.clauses:
            resolved: Clause = []
            for name, value in clause:
                if name is not None or value is None:
                    resolved.append(Alternative(name, value))
                    continue
                rule: SomeProperty = value.schema["some property"]
                own = _value_of_rule(value)
                resolved += [Alternative(name, own) for name in self.listed_names if self._may_meet(rule, name, value)]
                if not self.has_no_others and candidate_names(self.schemas, rule) is None:
                    resolved.append(Alternative(None, value))
            clauses.append(resolved)
        return clauses

    def _may_meet(self, rule: SomeProperty, name: str, part: Subschema) -> bool:
        """Tell whether a property of this name may be the one that a rule requires."""
        if not rule.allows_name(name, self.dialect):
            return False
        if rule.names is True:
            return True
        return PatternLanguage(_names(Subschema(rule.names, part.location), self.compilers)).contains(name)

    def _members(self) -> list[Member]:
        members: list[Member] = []
        colon = self.location.whitespace.colon
        names = None if self.allowed_names is None else PatternLanguage(self.allowed_names)
        keys = spellings(self.listed_names, self.location, keyword="properties")
        for name, key in zip(self.listed_names, keys, strict=True):
            try:
                if names is not None and not names.contains(name):
                    raise self.location.unsatisfiable(f"no property may be called {name!r}", keyword="propertyNames")
                rules = self._rules_for(name, self._matching(name))
                value = self.compilers.pattern_of(rules)
            except UnsatisfiableError:
                if name in self.required:
                    raise
                continue
            patterns_meeting = partial(self._patterns_meeting, name, key, value, rules)
            members.append(Member(name, concat(Literal(key), colon, value), False, patterns_meeting))
        written = self.required.keys() | self._always_written(members)
        return [member._replace(is_required=member.name in written) for member in members]

    def _patterns_meeting(
        self, name: str, key: str, value: Pattern, rules: Subschemas, unmet: UnmetClauses
    ) -> Iterator[tuple[Pattern, UnmetClauses]]:
        opening = concat(Literal(key), self.location.whitespace.colon)
        for more, after in self.obligations.present(name, unmet, rules):
            try:
                yield concat(opening, self.compilers.pattern_of([*rules, *more]) if more else value), after
            except UnsatisfiableError:
                continue

    def _always_written(self, members: list[Member]) -> set[str]:
        """Return the optional properties that are always written.

        There are none if all of them would be too many. Left out are properties that may contain the object again and,
        where the schema is read by the specification, those whose value might be invented; see `may_be_left_out`.
        """
        compilation = self.location.compilation
        if compilation.optional_properties != "written" or (self.maximum is not None and len(members) > self.maximum):
            return set()
        missing = {name for clause in self.clauses for name, value in clause if value is None}
        are_all = self.location.is_type or self.minimum > len(self.required)
        candidates = set(self._names_listed_by_user()) - missing
        return {
            name
            for name, pattern, _, _ in members
            if name in candidates
            if are_all or all(map(invents_nothing, self._rules_for(name, self._matching(name))))
            if matches_without_references(pattern, compilation.reference_free)
        }

    def _names_listed_by_user(self) -> list[str]:
        """Return the properties that a schema of the user lists."""
        own = [part.schema for part in self.schemas if not isinstance(part.schema, InternalSchema)]
        return [name for name in self.listed_names if any(name in schema.get("properties", ()) for schema in own)]

    def _matching(self, name: str) -> set[str]:
        """Return the keys of `patternProperties` that match in a name."""
        matching: set[str] = set()
        for part in self.pattern_schemas:
            try:
                matching.update(regex for regex in _regexes(part) if matches_in(regex, self.dialect, name))
            except PatternError as error:
                raise part.location.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error
        return matching

    def _rules_for(self, name: str | None, regexes: Collection[str] = ()) -> Subschemas:
        """Return the schemas of a property; None is any unlisted name in which just these expressions match."""
        if name is not None and self.is_simple and name in self.schemas[0].schema.get("properties", ()):
            return [self.schemas[0].child_subschema("properties", name)]
        rules: Subschemas = []
        evaluated: list[bool] = []
        for part in self.property_schemas:
            own: Subschemas = []
            if name is not None and name in part.schema.get("properties", ()):
                own.append(part.child_subschema("properties", name))
            if "patternProperties" in part.schema:
                own += [part.child_subschema("patternProperties", key) for key in _regexes(part) if key in regexes]
            evaluated.append(bool(own) or "additionalProperties" in part.schema)
            if not own and "additionalProperties" in part.schema:
                own.append(part.child_subschema("additionalProperties"))
            elif not own and name is None and part.location.is_type and "patternProperties" in part.schema:
                own.append(Subschema(False, part.location))
            rules += own
        for part in self.property_schemas:
            if "unevaluatedProperties" in part.schema and not self._is_evaluated(part, evaluated):
                rules.append(part.child_subschema("unevaluatedProperties"))
        return rules or [Subschema(True, self.schemas[0].location.of_child("additionalProperties"))]

    def _is_evaluated(self, parent: Subschema, evaluated: list[bool]) -> bool:
        """Tell whether a property is evaluated within a schema (core §11.3)."""
        return any(
            is_evaluated or (part.identity != parent.identity and "unevaluatedProperties" in part.schema)
            for part, is_evaluated in zip(self.property_schemas, evaluated, strict=True)
            if parent.identity in part.unevaluated_parents
        )

    def _other_members(self) -> OtherMembers:
        """Return the members by unlisted names."""
        regexes = list(dict.fromkeys(regex for part in self.schemas for regex in _regexes(part)))
        rules = self.obligations.existence_rules
        if not regexes and self.allowed_names is None and not rules:
            spelled = spellings(self.reserved_names, self.location, keyword="properties")
            return OtherMembers(self._member(Unlike(tuple(name[1:-1] for name in spelled)), self._rules_for(None)))
        if not regexes and not rules and isinstance(self.allowed_names, Literal | Words):
            return OtherMembers(self._member_with_listed_name(self.allowed_names))
        try:
            return self._other_members_by_kind(regexes)
        except PatternError as error:
            keyword = "patternProperties" if regexes or self.allowed_names is None else "propertyNames"
            raise self.location.refusal(error.problem, keyword=keyword, remedy=error.remedy) from error

    def _member(self, key: Pattern, schemas: Subschemas) -> Pattern | None:
        try:
            value = self.compilers.pattern_of(schemas)
        except UnsatisfiableError:
            return None
        return concat(_QUOTE, key, _QUOTE, self.location.whitespace.colon, value)

    def _member_with_listed_name(self, names: Literal | Words) -> Pattern | None:
        reserved = set(self.reserved_names)
        texts = (names.text,) if isinstance(names, Literal) else names.texts
        free = [text for text in texts if text not in reserved]
        return self._member(escaped(words(free)), self._rules_for(None)) if free else None

    def _other_members_by_kind(self, regexes: list[str]) -> OtherMembers:
        """Return the members by unlisted names, by kind: expressions that match in a name, and rules that allow it."""
        partition = self._name_partition(regexes)
        first = len(regexes)
        kinds = [
            NameKind(
                frozenset(index - first for index in group[0] if index >= first),
                partial(self._kind_member, partition, group, regexes),
            )
            for group in self._kinds_by_value(partition, regexes)
        ]
        required = partial(self._required_members, kinds) if self.obligations.existence_rules else None
        return OtherMembers(union(kind.member(()) for kind in kinds), required)

    def _required_members(self, kinds: list[NameKind], unmet: UnmetClauses) -> RequiredMembers:
        members = RequiredMembers(self.obligations.existence_rules, kinds, unmet)
        if self.maximum is None or self.maximum > len(self.required) + 1:
            members.check_names()
        return members

    def _name_partition(self, regexes: list[str]) -> NamePartition:
        languages = [self._names_of_rule(part) for _, part in self.obligations.existence_rules]
        rules: list[SomeProperty] = [part.schema["some property"] for _, part in self.obligations.existence_rules]
        if any(rule.names is not True for rule in rules):
            return NamePartition(self.allowed_names, self.reserved_names, regexes, self.dialect, languages)
        others = [(rule._replace(schema=True), language) for rule, language in zip(rules, languages, strict=True)]
        return name_partition(self.allowed_names, self.reserved_names, regexes, self.dialect, others)

    def _kinds_by_value(self, partition: NamePartition, regexes: list[str]) -> list[list[frozenset[int]]]:
        """Return the kinds of names in groups that have the same rules, and may meet the same existence rules."""
        groups: dict[object, list[frozenset[int]]] = {}
        for kind in partition.kinds:
            rules = self._rules_for_kind(kind, regexes)
            rules_that_allow = frozenset(index for index in kind if index >= len(regexes))
            key = rules_that_allow, *((rule.identity, rule.location.path) for rule in rules)
            groups.setdefault(key, []).append(kind)
        return list(groups.values())

    def _rules_for_kind(self, kind: frozenset[int], regexes: list[str]) -> Subschemas:
        return self._rules_for(None, {regexes[index] for index in kind if index < len(regexes)})

    def _kind_member(
        self, partition: NamePartition, group: list[frozenset[int]], regexes: list[str], rule_numbers: Iterable[int]
    ) -> Pattern | None:
        rules = self._rules_for_kind(group[0], regexes)
        values = [_value_of_rule(self.obligations.existence_rules[number][1]) for number in rule_numbers]
        return self._member(partition.names_of(group), [*rules, *values])

    def _names_of_rule(self, part: Subschema) -> Language:
        rule: SomeProperty = part.schema["some property"]
        included: list[Language] = [PatternLanguage(ANY_TEXT)]
        if rule.pattern is not None:
            included.append(language_of(rule.pattern, self.dialect))
        if rule.names is not True:
            included.append(PatternLanguage(_names(Subschema(rule.names, part.location), self.compilers)))
        excluded: list[Language] = [language_of(regex, self.dialect) for regex in rule.other_patterns]
        if rule.other_names:
            excluded.append(PatternLanguage(words(rule.other_names)))
        return Intersection(tuple(included), tuple(excluded))


def _value_of_rule(part: Subschema) -> Subschema:
    return part.child_subschema("some property", 0)


def _regexes(part: Subschema) -> Iterator[str]:
    return iter(part.schema.get("patternProperties", ()))
