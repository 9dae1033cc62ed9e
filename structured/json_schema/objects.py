"""The keywords of objects (core §10.3.2, validation §6.5), compiled to JSON objects.

Properties are written in the order of the schema, followed by others. With separators between optional members, a
regular expression would grow with the square of their number; the node `ObjectMembers` does not. Unlisted names are
sorted into kinds by the regular expressions that match in them; each kind has one schema for its values.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from structured.automata.dfa import Intersection, Language, PatternLanguage
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
    SomeProperty,
    SortedNames,
    existence_rules,
    finds,
    language_of,
    named_candidates,
    sorted_names,
)
from structured.json_schema.nullable import invents_nothing
from structured.json_schema.required_members import (
    Alternative,
    Clause,
    MemberObligations,
    NameKind,
    Open,
    RequiredMembers,
)
from structured.regex import EMPTY, Literal, Pattern, Unlike, Words, concat, literal, union, words
from structured.regex.character_classes import ECMA, RUST
from structured.regex.json_strings import escaped
from structured.regex.syntax import ANY_TEXT, NOTHING
from structured.regex.traversal import matches_without_references

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
    return _Object(schemas, location, compilers, clauses).pattern()


def _names(part: Subschema, compilers: Compilers) -> Pattern:
    """Return the names that satisfy a schema, `NOTHING` if there are none."""
    try:
        return compilers.names_of([part])
    except UnsatisfiableError:
        return NOTHING


def _listed(schemas: Subschemas) -> list[str]:
    """Return the names of the listed properties, then those that are only required."""
    names = dict.fromkeys(name for part in schemas for name in part.schema.get("properties", {}))
    return list(names | dict.fromkeys(name for part in schemas for name in part.schema.get("required", ())))


class _Object:
    """The compilation of the objects of one conjunction."""

    def __init__(
        self, schemas: Subschemas, location: Location, compilers: Compilers, clauses: Sequence[Clause]
    ) -> None:
        self.schemas = schemas
        self.describing = [part for part in schemas if not _ABOUT_PROPERTIES.isdisjoint(part.schema)]
        self.location = location
        self.compilers = compilers
        self.dialect = RUST if schemas[0].location.is_type else ECMA
        self.fewest, self.most = length_limits(schemas, "minProperties", "maxProperties")
        self.required = dict.fromkeys(name for part in schemas for name in part.schema.get("required", ()))
        self.clauses = [*clauses, *([Alternative(None, part)] for part, _ in existence_rules(schemas))]
        named = (name for clause in self.clauses for name, _ in clause if name is not None)
        self.listed = [*dict.fromkeys([*_listed(schemas), *named])]
        self.reserved = list(self.listed)
        self.is_simple = len(schemas) == 1 and _COMBINING.isdisjoint(schemas[0].schema)
        self.forbids_others = False
        if schemas[0].location.is_type:
            self._read_as_type()
        self.names = self._restricted_names()
        self.canonical_form = location.compilation.canonical_form
        if (self.fewest > 1 or self.canonical_form is not None) and isinstance(self.names, Words | Literal):
            finite = self.names.texts if isinstance(self.names, Words) else (self.names.text,)
            self.listed = [*dict.fromkeys([*self.listed, *finite])]
            self.forbids_others = True
        if self.canonical_form is not None:
            others = () if self.forbids_others or self._denies_others() else self.canonical_form.written_anywhere
            self.listed = self.canonical_form.ordered(dict.fromkeys([*self.listed, *others]))
            self.reserved = [*dict.fromkeys([*self.reserved, *self.canonical_form.names])]

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
        self.reserved = [*dict.fromkeys([*self.listed, *reserved])]
        if self.location.compilation.optional_properties == "written":
            self.required = dict.fromkeys(self.listed)
        self.forbids_others = keywords.isdisjoint(("additionalProperties", "patternProperties"))

    def _denies_others(self) -> bool:
        """Tell whether a schema forbids every property that it does not list."""
        return any(
            part.schema.get("additionalProperties") is False and not part.schema.get("patternProperties")
            for part in self.schemas
        )

    def _leaves_out_others(self, members: list[Member]) -> bool:
        """Tell whether only the members are written, since no schema describes other properties."""
        has_witness = any(name is None for clause in self.clauses for name, _ in clause)
        if self.location.compilation.optional_properties == "schema" or self.schemas[0].location.is_type or has_witness:
            return False
        are_described = any(_ABOUT_OTHERS & part.schema.keys() for part in self.schemas)
        return bool(self._own()) and not are_described and len(members) >= self.fewest

    def _restricted_names(self) -> Pattern | None:
        """Return the names that properties may have; None means any."""
        named = [
            part.child_subschema("propertyNames")
            for part in self.schemas
            if part.has("propertyNames") and part.schema["propertyNames"] is not True
        ]
        if not named:
            return None
        try:
            return self.compilers.names_of(named)
        except UnsatisfiableError:
            self.forbids_others = True
            return NOTHING

    def pattern(self) -> Pattern:
        """Return the pattern of the objects."""
        members = self._members()
        self.forbids_others = self.forbids_others or self._leaves_out_others(members)
        self.obligations = MemberObligations(self._all_alternatives(), [member.name for member in members])
        rest = OtherMembers(None) if self.forbids_others else self._rest()
        if self.canonical_form is not None and rest != OtherMembers(None):
            members, rest = [*members, self._one_other(rest)], OtherMembers(None)
        filled, may_be_empty = CountedMembers(
            members, rest, (self.fewest, self.most), self.obligations, self.location
        ).joined()
        return self.location.whitespace.enclosed("{}", filled, self.location.depth, may_be_empty=may_be_empty)

    def _one_other(self, rest: OtherMembers) -> Member:
        """Return a last member for one property by an unlisted name; two of them could be written in two orders."""
        if rest.any is None or rest.witnesses is not None:
            raise self.location.refusal(
                "'uniqueItems' is not supported for objects that require some unlisted property",
                keyword=None,
                remedy="List the properties.",
            )
        return Member("", rest.any, False, lambda left: iter([(rest.any or EMPTY, left)]))

    def _all_alternatives(self) -> list[Clause]:
        clauses: list[Clause] = []
        for clause in self.clauses:
            met: Clause = []
            for name, value in clause:
                if name is not None or value is None:
                    met.append(Alternative(name, value))
                    continue
                rule: SomeProperty = value.schema["some property"]
                own = _witness_value(value)
                met += [Alternative(listed, own) for listed in self.listed if self._may_be(rule, listed, value)]
                if not self.forbids_others and named_candidates(self.schemas, rule) is None:
                    met.append(Alternative(None, value))
            clauses.append(met)
        return clauses

    def _may_be(self, rule: SomeProperty, name: str, part: Subschema) -> bool:
        """Tell whether a property of this name may be the witness of a rule."""
        if not rule.may_be(name, self.dialect):
            return False
        if rule.names is True:
            return True
        return PatternLanguage(_names(Subschema(rule.names, part.location), self.compilers)).contains(name)

    def _members(self) -> list[Member]:
        entries: dict[str, tuple[Pattern, Callable[[Open], Iterator[tuple[Pattern, Open]]]]] = {}
        colon = self.location.whitespace.colon
        names = None if self.names is None else PatternLanguage(self.names)
        for name, key in zip(self.listed, spellings(self.listed, self.location, keyword="properties"), strict=True):
            try:
                if names is not None and not names.contains(name):
                    raise self.location.unsatisfiable(f"no property may be called {name!r}", keyword="propertyNames")
                rules = self._rules_for(name, partial(self._matching, name))
                value = self.compilers.pattern_of(rules)
            except UnsatisfiableError:
                if name in self.required:
                    raise
                continue
            opening = concat(Literal(key), colon)
            entries[name] = concat(opening, value), partial(self._meeting, name, opening, value, rules)
        written = self.required.keys() | self._written({name: pattern for name, (pattern, _) in entries.items()})
        return [Member(name, pattern, name in written, meeting) for name, (pattern, meeting) in entries.items()]

    def _meeting(
        self, name: str, opening: Pattern, value: Pattern, rules: Subschemas, left: Open
    ) -> Iterator[tuple[Pattern, Open]]:
        for more, after in self.obligations.present(name, left, rules):
            try:
                yield concat(opening, self.compilers.pattern_of([*rules, *more]) if more else value), after
            except UnsatisfiableError:
                continue

    def _written(self, members: dict[str, Pattern]) -> set[str]:
        """Return the optional properties that are always written.

        There are none if all of them would be too many. Left out are properties that may contain the object again and,
        where the schema is read by the specification, those whose value might be invented; see `may_be_left_out`.
        """
        compilation = self.location.compilation
        if compilation.optional_properties != "written" or (self.most is not None and len(members) > self.most):
            return set()
        missing = {name for clause in self.clauses for name, value in clause if value is None}
        are_all = self.location.is_type or self.fewest > len(self.required)
        return {
            name
            for name in self._own()
            if name in members and name not in missing
            if are_all or all(map(invents_nothing, self._rules_for(name, partial(self._matching, name))))
            if matches_without_references(members[name], compilation.reference_free)
        }

    def _own(self) -> list[str]:
        """Return the properties that a schema of the user lists."""
        own = [part.schema for part in self.schemas if not isinstance(part.schema, InternalSchema)]
        return [name for name in self.listed if any(name in schema.get("properties", ()) for schema in own)]

    def _matching(self, name: str, part: Subschema) -> list[str]:
        try:
            return [regex for regex in _regexes(part) if finds(regex, self.dialect, name)]
        except PatternError as error:
            raise part.location.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error

    def _rules_for(
        self, name: str | None, matching: Callable[[Subschema], Iterable[str]] = lambda _part: ()
    ) -> Subschemas:
        if name is not None and self.is_simple and name in self.schemas[0].schema.get("properties", ()):
            return [self.schemas[0].child_subschema("properties", name)]
        rules: Subschemas = []
        evaluated: list[bool] = []
        for part in self.describing:
            own: Subschemas = []
            if name is not None and name in part.schema.get("properties", ()):
                own.append(part.child_subschema("properties", name))
            if "patternProperties" in part.schema:
                own += [part.child_subschema("patternProperties", regex) for regex in matching(part)]
            evaluated.append(bool(own) or "additionalProperties" in part.schema)
            if not own and "additionalProperties" in part.schema:
                own.append(part.child_subschema("additionalProperties"))
            elif not own and name is None and part.location.is_type and "patternProperties" in part.schema:
                own.append(Subschema(False, part.location))
            rules += own
        for part in self.describing:
            if "unevaluatedProperties" in part.schema and not self._is_evaluated(part, evaluated):
                rules.append(part.child_subschema("unevaluatedProperties"))
        return rules or [Subschema(True, self.schemas[0].location.of_child("additionalProperties"))]

    def _is_evaluated(self, scope: Subschema, evaluated: list[bool]) -> bool:
        """Tell whether a property is evaluated within a schema (core §11.3)."""
        return any(
            is_evaluated or (part.identity != scope.identity and "unevaluatedProperties" in part.schema)
            for part, is_evaluated in zip(self.describing, evaluated, strict=True)
            if scope.identity in part.unevaluated_parents
        )

    def _rest(self) -> OtherMembers:
        """Return the members by unlisted names."""
        regexes = list(dict.fromkeys(regex for part in self.schemas for regex in _regexes(part)))
        witnesses = self.obligations.witnesses
        if not regexes and self.names is None and not witnesses:
            spelled = spellings(self.reserved, self.location, keyword="properties")
            return OtherMembers(self._member(Unlike(tuple(name[1:-1] for name in spelled)), self._rules_for(None)))
        if not regexes and not witnesses and isinstance(self.names, Literal | Words):
            return OtherMembers(self._listed_member(self.names))
        try:
            return self._sorted_rest(regexes)
        except PatternError as error:
            raise self.location.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error

    def _member(self, key: Pattern, value_parts: Subschemas) -> Pattern | None:
        try:
            value = self.compilers.pattern_of(value_parts)
        except UnsatisfiableError:
            return None
        return concat(literal('"'), key, literal('"'), self.location.whitespace.colon, value)

    def _listed_member(self, names: Literal | Words) -> Pattern | None:
        reserved = set(self.reserved)
        texts = (names.text,) if isinstance(names, Literal) else names.texts
        free = [text for text in texts if text not in reserved]
        return self._member(escaped(words(free)), self._rules_for(None)) if free else None

    def _sorted_rest(self, regexes: list[str]) -> OtherMembers:
        """Return the members by unlisted names, sorted by matching regular expressions and possible witnesses."""
        kinds = self._sorted_names(regexes)
        first = len(regexes)
        grouped = [
            NameKind(
                frozenset(index - first for index in group[0] if index >= first),
                partial(self._kind_member, kinds, group, regexes),
            )
            for group in self._kinds_by_value(kinds, regexes)
        ]
        witnesses = partial(self._required_members, grouped) if self.obligations.witnesses else None
        return OtherMembers(union(kind.member(()) for kind in grouped), witnesses)

    def _required_members(self, kinds: list[NameKind], left: Open) -> RequiredMembers:
        members = RequiredMembers(self.obligations.witnesses, kinds, left)
        if self.most is None or self.most > len(self.required) + 1:
            members.check_names()
        return members

    def _sorted_names(self, regexes: list[str]) -> SortedNames:
        languages = [self._witness_names(part) for _, part in self.obligations.witnesses]
        rules: list[SomeProperty] = [part.schema["some property"] for _, part in self.obligations.witnesses]
        if any(rule.names is not True for rule in rules):
            return SortedNames(self.names, self.reserved, regexes, self.dialect, languages)
        others = [(rule._replace(schema=True), language) for rule, language in zip(rules, languages, strict=True)]
        return sorted_names(self.names, self.reserved, regexes, self.dialect, others)

    def _kinds_by_value(self, kinds: SortedNames, regexes: list[str]) -> list[list[frozenset[int]]]:
        """Return the kinds of names in groups that have the same rules and the same possible witnesses."""
        groups: dict[object, list[frozenset[int]]] = {}
        for kind in kinds.kinds:
            rules = self._rules_for_kind(kind, regexes)
            witnesses = frozenset(index for index in kind if index >= len(regexes))
            key = witnesses, *((rule.identity, rule.location.path) for rule in rules)
            groups.setdefault(key, []).append(kind)
        return list(groups.values())

    def _rules_for_kind(self, kind: frozenset[int], regexes: list[str]) -> Subschemas:
        here = {regexes[index] for index in kind if index < len(regexes)}
        return self._rules_for(None, lambda part: [regex for regex in _regexes(part) if regex in here])

    def _kind_member(
        self, kinds: SortedNames, group: list[frozenset[int]], regexes: list[str], witnesses: Iterable[int]
    ) -> Pattern | None:
        rules = self._rules_for_kind(group[0], regexes)
        values = [_witness_value(self.obligations.witnesses[index][1]) for index in witnesses]
        return self._member(kinds.scan(group), [*rules, *values])

    def _witness_names(self, part: Subschema) -> Language:
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


def _witness_value(part: Subschema) -> Subschema:
    return part.child_subschema("some property", 0)


def _regexes(part: Subschema) -> Iterator[str]:
    return iter(part.schema.get("patternProperties", ()))
