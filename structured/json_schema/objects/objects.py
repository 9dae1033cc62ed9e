"""The keywords of objects (core §10.3.2, validation §6.5), compiled to JSON objects.

The properties stand in the order in which the schema lists them, others after them. Their separators are what makes
optional members hard for a regular expression, which would grow with the square of their number; `Members` does not.
Other names are sorted into kinds by the regular expressions that find them; each kind has one schema for its values.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from structured.automata.dfa import Intersection, Language, PatternLanguage
from structured.errors import PatternError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.document.location import (
    Complement,
    Location,
    PatternOf,
    Subschema,
    Subschemas,
    counts,
)
from structured.json_schema.logic.listed_values import spellings
from structured.json_schema.logic.property_names import (
    SomeProperty,
    SortedNames,
    finds,
    language_of,
    named_candidates,
    required_properties,
    sorted_names,
)
from structured.json_schema.nullable import invents_nothing
from structured.json_schema.objects.counting import CountLimits, Member, OtherMembers, joined
from structured.json_schema.objects.required_members import (
    Alternative,
    Clause,
    MemberObligations,
    NameKind,
    Open,
    RequiredMembers,
)
from structured.regex import EMPTY, Literal, Pattern, Unlike, Words, alternation, concat, literal, optional, words
from structured.regex.dialects import ECMA, RUST, Dialect
from structured.regex.json_strings import escaped
from structured.regex.syntax import ANY_TEXT, NOTHING
from structured.regex.traversal import ends_alone

_COMBINING = frozenset({"patternProperties", "unevaluatedProperties"})
"""Keywords by which more is said of a listed property than is listed."""

_SPEAKS_OF_OTHERS = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
_SPEAKS_OF_ANY = _SPEAKS_OF_OTHERS | {"properties"}


class Compilers(NamedTuple):
    """What makes the patterns of values and, of characters, those of names."""

    pattern_of: PatternOf
    names_of: PatternOf


@deep
def object_(schemas: Subschemas, location: Location, compilers: Compilers, clauses: Sequence[Clause] = ()) -> Pattern:
    """Return the objects with the properties that must or may be there, and that meet some clauses besides."""
    return _Object(schemas, location, compilers, clauses).pattern()


def _names(part: Subschema, compilers: Compilers) -> Pattern:
    """Return the names that satisfy a schema, if there are any."""
    try:
        return compilers.names_of([part])
    except UnsatisfiableError:
        return NOTHING


def _listed(schemas: Subschemas) -> list[str]:
    """Return the names of the properties that are listed, then of those that are only required."""
    names = dict.fromkeys(name for part in schemas for name in part.schema.get("properties", {}))
    return list(names | dict.fromkeys(name for part in schemas for name in part.schema.get("required", ())))


def _named(clauses: Iterable[Clause]) -> list[str]:
    """Return the names of the properties of which some clauses speak."""
    return [name for clause in clauses for name, _ in clause if name is not None]


def _dialect(location: Location) -> Dialect:
    return RUST if location.is_type else ECMA


def _is_own(part: Subschema, name: str) -> bool:
    """Tell whether a schema that is not the compiler's own lists a property."""
    return not isinstance(part.schema, Complement) and name in part.schema.get("properties", ())


class _Object:
    """One conjunction of schemas, while its objects are put together."""

    def __init__(
        self, schemas: Subschemas, location: Location, compilers: Compilers, clauses: Sequence[Clause]
    ) -> None:
        self.schemas = schemas
        self.speaking = [part for part in schemas if not _SPEAKS_OF_ANY.isdisjoint(part.schema)]
        self.location = location
        self.compilers = compilers
        self.dialect = _dialect(schemas[0].location)
        self.fewest, self.most = counts(schemas, "minProperties", "maxProperties")
        self.required = dict.fromkeys(name for part in schemas for name in part.schema.get("required", ()))
        self.clauses = [*clauses, *([Alternative(None, part)] for part, _ in required_properties(schemas))]
        self.listed = [*dict.fromkeys([*_listed(schemas), *_named(self.clauses)])]
        self.reserved = list(self.listed)
        self.is_simple = len(schemas) == 1 and _COMBINING.isdisjoint(schemas[0].schema)
        self.is_closed = False
        if schemas[0].location.is_type:
            self._read_as_type()
        self.names = self._restricted_names()
        self.canonical_form = location.compilation.canonical_form
        if (self.fewest > 1 or self.canonical_form is not None) and isinstance(self.names, Words | Literal):
            finite = self.names.texts if isinstance(self.names, Words) else (self.names.text,)
            self.listed = [*dict.fromkeys([*self.listed, *finite])]
            self.is_closed = True
        if self.canonical_form is not None:
            others = () if self.is_closed or self._denies_others() else self.canonical_form.written_anywhere
            self.listed = self.canonical_form.ordered(dict.fromkeys([*self.listed, *others]))
            self.reserved = [*dict.fromkeys([*self.reserved, *self.canonical_form.names])]

    def _read_as_type(self) -> None:
        """Refuse what the description of a type does not have; no property is written that it does not speak of."""
        properties = {name for part in self.schemas for name in part.schema.get("properties", ())}
        for part in self.schemas:
            missing = sorted(name for name in part.schema.get("required", ()) if name not in properties)
            if missing:
                raise part.location.refusal(
                    f"The required {missing[0]!r} is not among the properties",
                    keyword="required",
                    remedy="Add it there.",
                )
        keywords = {keyword for part in self.schemas for keyword in part.schema}
        if keywords.isdisjoint(("additionalProperties", "properties", "patternProperties")):
            raise self.schemas[0].location.refusal(
                "Nothing is said of the properties", keyword="type", remedy="Use a model with named fields, or a dict."
            )
        reserved = [name for part in self.schemas for name in part.schema.get("reserved_names", ())]
        self.reserved = [*dict.fromkeys([*self.listed, *reserved])]
        if self.location.compilation.optional == "written":
            self.required = dict.fromkeys(self.listed)
        self.is_closed = keywords.isdisjoint(("additionalProperties", "patternProperties"))

    def _denies_others(self) -> bool:
        """Tell whether a schema denies every property that it does not list."""
        return any(
            part.schema.get("additionalProperties") is False and not part.schema.get("patternProperties")
            for part in self.schemas
        )

    def _leaves_out_others(self, members: list[Member]) -> bool:
        """Tell whether nothing but the members is to be written, since nothing is said of others that could be."""
        is_asked = any(name is None for clause in self.clauses for name, _ in clause)
        if self.location.compilation.optional == "schema" or self.schemas[0].location.is_type or is_asked:
            return False
        said = any(_SPEAKS_OF_OTHERS & part.schema.keys() for part in self.schemas)
        return bool(self._own()) and not said and len(members) >= self.fewest

    def _restricted_names(self) -> Pattern | None:
        """Return the names that properties may have; None for any."""
        named = [
            part.within("propertyNames")
            for part in self.schemas
            if part.has("propertyNames") and part.schema["propertyNames"] is not True
        ]
        if not named:
            return None
        try:
            return self.compilers.names_of(named)
        except UnsatisfiableError:
            self.is_closed = True
            return NOTHING

    def pattern(self) -> Pattern:
        """Return the pattern of the objects."""
        members = self._members()
        self.is_closed = self.is_closed or self._leaves_out_others(members)
        self.obligations = MemberObligations(self._all_alternatives(), [member.name for member in members])
        rest = OtherMembers(None) if self.is_closed else self._rest()
        if self.canonical_form is not None and rest != OtherMembers(None):
            members, rest = [*members, self._one_other(rest)], OtherMembers(None)
        limits = CountLimits(self.fewest, self.most)
        return self._enclosed(*joined(members, rest, limits, self.obligations, self.location))

    def _one_other(self, rest: OtherMembers) -> Member:
        """Return a last member for one property by another name; two such properties could be written in two orders."""
        if rest.any is None or rest.asked is not None:
            raise self.location.refusal(
                "'uniqueItems' is not supported for objects of which some unlisted property is asked for",
                keyword=None,
                remedy="List the properties.",
            )
        return Member("", rest.any, False, lambda left: iter([(rest.any or EMPTY, left)]))

    def _all_alternatives(self) -> list[Clause]:
        """Return the clauses, where some property is asked for with each that is listed and may be the one."""
        found: list[Clause] = []
        for clause in self.clauses:
            met: Clause = []
            for name, value in clause:
                if name is not None or value is None:
                    met.append(Alternative(name, value))
                    continue
                asked: SomeProperty = value.schema["some property"]
                own = _value_asked(value)
                met += [Alternative(listed, own) for listed in self.listed if self._may_be(asked, listed, value)]
                if not self.is_closed and named_candidates(self.schemas, asked) is None:
                    met.append(Alternative(None, value))
            found.append(met)
        return found

    def _may_be(self, asked: SomeProperty, name: str, part: Subschema) -> bool:
        """Tell whether a property of this name may be the one that is asked for."""
        if not asked.may_be(name, self.dialect):
            return False
        if asked.names is True:
            return True
        return PatternLanguage(_names(Subschema(asked.names, part.location), self.compilers)).contains(name)

    def _enclosed(self, filled: Pattern | None, may_be_empty: bool) -> Pattern:
        """Return an object of some members, or none."""
        whitespace, depth = self.location.whitespace, self.location.depth
        if filled is None:
            return concat(literal("{"), whitespace.edge, literal("}"))
        filled = concat(whitespace.opening(depth), filled, whitespace.closing(depth))
        if may_be_empty:
            filled = optional(filled) if whitespace.edge == EMPTY else alternation(whitespace.edge, filled)
        return concat(literal("{"), filled, literal("}"))

    def _members(self) -> list[Member]:
        """Return the members by the names that are listed."""
        found: dict[str, tuple[Pattern, Callable[[Open], Iterator[tuple[Pattern, Open]]]]] = {}
        colon = self.location.whitespace.colon
        names = None if self.names is None else PatternLanguage(self.names)
        for name, key in zip(self.listed, spellings(self.listed, self.location, keyword="properties"), strict=True):
            try:
                if names is not None and not names.contains(name):
                    raise self.location.unsatisfiable(f"no property may be called {name!r}", keyword="propertyNames")
                said = self._said(name, partial(self._found, name))
                value = self.compilers.pattern_of(said)
            except UnsatisfiableError:
                if name in self.required:
                    raise
                continue
            opening = concat(Literal(key), colon)
            found[name] = concat(opening, value), partial(self._meeting, name, opening, value, said)
        written = self.required.keys() | self._written({name: pattern for name, (pattern, _) in found.items()})
        return [Member(name, pattern, name in written, meeting) for name, (pattern, meeting) in found.items()]

    def _meeting(
        self, name: str, opening: Pattern, value: Pattern, said: Subschemas, left: Open
    ) -> Iterator[tuple[Pattern, Open]]:
        """Yield the ways to write a member, and which of the clauses that are left are left then."""
        for more, after in self.obligations.present(name, left, said):
            try:
                yield concat(opening, self.compilers.pattern_of([*said, *more]) if more else value), after
            except UnsatisfiableError:
                continue

    def _written(self, members: dict[str, Pattern]) -> set[str]:
        """Return the properties that need not be there and are written all the same.

        That is none where all would be too many, and not one that may contain the object again. Where the schema is
        read by the specification, it is not one either that would have to be invented; see `may_be_left_out`.
        """
        compilation = self.location.compilation
        if compilation.optional != "written" or (self.most is not None and len(members) > self.most):
            return set()
        missing = {name for clause in self.clauses for name, value in clause if value is None}
        are_all = self.location.is_type or self.fewest > len(self.required)
        return {
            name
            for name in self._own()
            if name in members and name not in missing
            if are_all or all(map(invents_nothing, self._said(name, partial(self._found, name))))
            if ends_alone(members[name], compilation.endings)
        }

    def _own(self) -> list[str]:
        """Return the properties that a schema lists which is not the compiler's own."""
        return [name for name in self.listed if any(_is_own(part, name) for part in self.schemas)]

    def _found(self, name: str, part: Subschema) -> list[str]:
        """Return the regular expressions of a schema that are found in a name."""
        try:
            return [regex for regex in _regexes(part) if finds(regex, self.dialect, name)]
        except PatternError as error:
            raise part.location.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error

    def _said(self, name: str | None, found: Callable[[Subschema], Iterable[str]]) -> Subschemas:
        """Return what the schemas say of a property, by its name if it is listed and the regexes found in it."""
        if name is not None and self.is_simple and name in self.schemas[0].schema.get("properties", ()):
            return [self.schemas[0].within("properties", name)]
        said: Subschemas = []
        evaluated: list[bool] = []
        for part in self.speaking:
            own: Subschemas = []
            if name is not None and name in part.schema.get("properties", ()):
                own.append(part.within("properties", name))
            if "patternProperties" in part.schema:
                own += [part.within("patternProperties", regex) for regex in found(part)]
            evaluated.append(bool(own) or "additionalProperties" in part.schema)
            if not own and "additionalProperties" in part.schema:
                own.append(part.within("additionalProperties"))
            elif not own and name is None and part.location.is_type and "patternProperties" in part.schema:
                own.append(Subschema(False, part.location))
            said += own
        for part in self.speaking:
            if "unevaluatedProperties" in part.schema and not self._is_evaluated(part, evaluated):
                said.append(part.within("unevaluatedProperties"))
        return said or [Subschema(True, self.schemas[0].location.inside("additionalProperties"))]

    def _is_evaluated(self, scope: Subschema, evaluated: list[bool]) -> bool:
        """Tell whether a property was evaluated within a schema (core §11.3)."""
        return any(
            is_evaluated or (part.identity != scope.identity and "unevaluatedProperties" in part.schema)
            for part, is_evaluated in zip(self.speaking, evaluated, strict=True)
            if scope.identity in part.scopes
        )

    def _rest(self) -> OtherMembers:
        """Return the members by other names."""
        regexes = list(dict.fromkeys(regex for part in self.schemas for regex in _regexes(part)))
        asked = self.obligations.asked
        if not regexes and self.names is None and not asked:
            spelled = spellings(self.reserved, self.location, keyword="properties")
            return OtherMembers(self._member(Unlike(tuple(name[1:-1] for name in spelled)), self._said(None, _none)))
        if not regexes and not asked and isinstance(self.names, Literal | Words):
            return OtherMembers(self._listed_member(self.names))
        try:
            return self._sorted_rest(regexes)
        except PatternError as error:
            raise self.location.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error

    def _member(self, key: Pattern, value_parts: Subschemas) -> Pattern | None:
        """Return a member by some names; None if no value can be valid."""
        try:
            value = self.compilers.pattern_of(value_parts)
        except UnsatisfiableError:
            return None
        return concat(literal('"'), key, literal('"'), self.location.whitespace.colon, value)

    def _listed_member(self, names: Literal | Words) -> Pattern | None:
        """Return a member by one of some names, those of other properties aside; None if there is none."""
        reserved = set(self.reserved)
        texts = (names.text,) if isinstance(names, Literal) else names.texts
        free = [text for text in texts if text not in reserved]
        return self._member(escaped(words(free)), self._said(None, _none)) if free else None

    def _sorted_rest(self, regexes: list[str]) -> OtherMembers:
        """Return the members by other names, sorted by the regular expressions found in them and what is asked for."""
        kinds = self._sorted_names(regexes)
        first = len(regexes)
        grouped = [
            NameKind(
                frozenset(index - first for index in group[0] if index >= first),
                partial(self._kind_member, kinds, group, regexes),
            )
            for group in self._kinds_by_value(kinds, regexes)
        ]
        members = [member for kind in grouped if (member := kind.member(())) is not None]
        asked = partial(self._asked, grouped) if self.obligations.asked else None
        return OtherMembers(alternation(*members) if members else None, asked)

    def _asked(self, kinds: list[NameKind], left: Open) -> RequiredMembers:
        """Return the members by other names that meet the clauses that are left."""
        asked = RequiredMembers(self.obligations.asked, kinds, left)
        if self.most is None or self.most > len(self.required) + 1:
            asked.check_names()
        return asked

    def _sorted_names(self, regexes: list[str]) -> SortedNames:
        """Return the names sorted by regular expressions, and by whether their properties may be those asked for."""
        languages = [self._asked_names(part) for _, part in self.obligations.asked]
        asked: list[SomeProperty] = [part.schema["some property"] for _, part in self.obligations.asked]
        if any(one.names is not True for one in asked):
            return SortedNames(self.names, self.reserved, regexes, self.dialect, languages)
        others = [(one._replace(schema=True), language) for one, language in zip(asked, languages, strict=True)]
        return sorted_names(self.names, self.reserved, regexes, self.dialect, others)

    def _kinds_by_value(self, kinds: SortedNames, regexes: list[str]) -> list[list[frozenset[int]]]:
        """Return the kinds of names in groups for which the same schemas hold, and the same is asked for."""
        groups: dict[object, list[frozenset[int]]] = {}
        for kind in kinds.kinds:
            said = self._said_of_kind(kind, regexes)
            asked = frozenset(index for index in kind if index >= len(regexes))
            groups.setdefault((asked, *((one.identity, one.location.path) for one in said)), []).append(kind)
        return list(groups.values())

    def _said_of_kind(self, kind: frozenset[int], regexes: list[str]) -> Subschemas:
        here = {regexes[index] for index in kind if index < len(regexes)}
        return self._said(None, partial(_found_among, here))

    def _kind_member(
        self, kinds: SortedNames, group: list[frozenset[int]], regexes: list[str], asked: Iterable[int]
    ) -> Pattern | None:
        """Return a member by a name of some kinds, of which more may be asked."""
        said = self._said_of_kind(group[0], regexes)
        return self._member(
            kinds.scan(group), [*said, *(_value_asked(self.obligations.asked[index][1]) for index in asked)]
        )

    def _asked_names(self, part: Subschema) -> Language:
        """Return the names of the properties that may be the one that a schema asks for."""
        asked: SomeProperty = part.schema["some property"]
        included: list[Language] = [PatternLanguage(ANY_TEXT)]
        if asked.pattern is not None:
            included.append(language_of(asked.pattern, self.dialect))
        if asked.names is not True:
            included.append(PatternLanguage(_names(Subschema(asked.names, part.location), self.compilers)))
        excluded: list[Language] = [language_of(regex, self.dialect) for regex in asked.other_patterns]
        if asked.other_names:
            excluded.append(PatternLanguage(words(asked.other_names)))
        return Intersection(tuple(included), tuple(excluded))


def _value_asked(part: Subschema) -> Subschema:
    """Return what is asked of the value of a property that is asked for."""
    return part.within("some property", 0)


def _none(_part: Subschema) -> tuple[str, ...]:
    return ()


def _regexes(part: Subschema) -> Iterator[str]:
    return iter(part.schema.get("patternProperties", ()))


def _found_among(found: set[str], part: Subschema) -> list[str]:
    return [regex for regex in _regexes(part) if regex in found]
