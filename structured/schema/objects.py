"""The keywords of objects (core §10.3.2, validation §6.5) enter; the pattern of JSON objects leaves.

The properties stand in the order in which the schema lists them, others after them. Their separators are what makes
optional members hard for a regular expression, which would grow with the square of their number; `Members` does not.
Other names are sorted into classes by the regular expressions that find them; each class has one schema for its values.

A name that is written twice counts once when the object is read, and its last value counts. So a greatest number of
members is no less exact for it, but a least number is: of the members of other names one is counted, and where more
would be needed the schema is refused.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

from structured.errors import PatternError
from structured.pattern import (
    EMPTY,
    Literal,
    Members,
    Pattern,
    Reference,
    Unlike,
    Words,
    alternation,
    concat,
    literal,
    optional,
    repeat,
    words,
)
from structured.pattern.escaping import escaped
from structured.pattern.languages import Automaton, Language, PatternLanguage, Together, most_characters, partition
from structured.pattern.nodes import Lookahead, Scan
from structured.pattern.regex import ANY_TEXT, ECMA, RUST, Dialect, regex_to_pattern
from structured.schema.arrays import PatternOf
from structured.schema.complements import SomeProperty
from structured.schema.place import Complement, Place, Subschema, Subschemas, UnsatisfiableError, counts
from structured.schema.values import spellings

MOST_COUNTED = 4096
"""Members times counts, where an object has a least or a greatest number of properties."""


class Rest(NamedTuple):
    """Members by other names: any, one that is asked for, and those that may follow that one."""

    any: Pattern | None
    witness: Pattern | None = None
    after: Pattern | None = None


def object_(parts: Subschemas, place: Place, pattern_of: PatternOf, names_of: PatternOf) -> Pattern:
    """Return the objects with the properties that must or may be there."""
    asked = next((part for part in parts if _asked(part)), None)
    if asked is not None:
        return _with_some_property(parts, asked, place, pattern_of, names_of)
    others = [part for part in parts if isinstance(part.schema, Complement) and "some property" in part.schema]
    if len(others) > 1:
        for one in others:  # each has to be possible
            object_([part for part in parts if part not in others or part is one], place, pattern_of, names_of)
        raise others[1].place.refusal(
            "More than one property of an open object is asked for", keyword="not", remedy="List the properties."
        )
    return _Object(parts, place, pattern_of, names_of).pattern()


def _asked(part: Subschema) -> SomeProperty | None:
    """Return what a schema asks some property to be, and no listed one is."""
    found = part.schema.get("some property") if isinstance(part.schema, Complement) else None
    return found if isinstance(found, SomeProperty) and not found.is_other else None


def _with_some_property(
    parts: Subschemas, asked: Subschema, place: Place, pattern_of: PatternOf, names_of: PatternOf
) -> Pattern:
    """Return the objects with a property that is asked for: each that is listed, or another one."""
    witness: SomeProperty = asked.schema["some property"]
    others = [part for part in parts if part is not asked]
    rest = Complement(asked.schema)
    rest["some property"] = witness._replace(is_other=True)
    options = [
        [*others, Subschema(Complement({"required": [name], "properties": {name: witness.schema}}), asked.place)]
        for name in _listed(parts)
        if _is_asked_name(witness, name, asked.place, names_of)
    ]
    found, failures = [], []
    for option in [*options, [*others, Subschema(rest, asked.place)]]:
        try:
            found.append(object_(option, place, pattern_of, names_of))
        except UnsatisfiableError as error:
            failures.append(error)
    if not found:
        raise failures[0]
    return alternation(*found)


def _is_asked_name(witness: SomeProperty, name: str, place: Place, names_of: PatternOf) -> bool:
    """Tell whether a property of this name may be the one that is asked for."""
    dialect = _dialect(place)
    if name in witness.other_names or any(finds(regex, dialect, name) for regex in witness.other_patterns):
        return False
    if witness.pattern is not None and not finds(witness.pattern, dialect, name):
        return False
    if witness.names is True:
        return True
    try:
        return PatternLanguage(names_of([Subschema(witness.names, place)])).contains(name)
    except UnsatisfiableError:
        return False


def _listed(parts: Subschemas) -> list[str]:
    """Return the names of the properties that are listed, then of those that are only required."""
    names = dict.fromkeys(name for part in parts for name in part.schema.get("properties", {}))
    return list(names | dict.fromkeys(name for part in parts for name in part.schema.get("required", ())))


def _dialect(place: Place) -> Dialect:
    return RUST if place.is_type else ECMA


@lru_cache(maxsize=1024)
def _language(regex: str, dialect: Dialect) -> PatternLanguage:
    return PatternLanguage(regex_to_pattern(regex, dialect))


def finds(regex: str, dialect: Dialect, name: str) -> bool:
    """Tell whether a regular expression is found in a name."""
    return _language(regex, dialect).contains(name)


class _Object:
    """One conjunction of schemas, while its objects are put together."""

    def __init__(self, parts: Subschemas, place: Place, pattern_of: PatternOf, names_of: PatternOf) -> None:
        self.parts = parts
        self.place = place
        self.pattern_of = pattern_of
        self.required = dict.fromkeys(name for part in parts for name in part.schema.get("required", ()))
        self.fewest, self.most = counts(parts, "minProperties", "maxProperties")
        self.is_closed = False
        self.witness = next((part for part in parts if isinstance(part.schema, Complement) and
                             "some property" in part.schema), None)  # fmt: skip
        if parts[0].place.is_type:
            self._read_as_type()
        named = [part.within("propertyNames") for part in parts if part.schema.get("propertyNames", True) is not True]
        self.names: Pattern | None = None
        self.names_of = names_of
        if named:
            self._restrict_names(named)
        self.listed = _listed(parts)
        finite = self._finite_names()
        if finite and self.fewest > 1:
            self.listed, self.is_closed = [*self.listed, *(name for name in finite if name not in self.listed)], True

    def _read_as_type(self) -> None:
        """Refuse what the description of a type does not have; every property is written, and no other unless said."""
        parts = self.parts
        listed = {name for part in parts for name in part.schema.get("properties", ())}
        for part in parts:
            missing = sorted(name for name in part.schema.get("required", ()) if name not in listed)
            if missing:
                raise part.place.refusal(
                    f"The required {missing[0]!r} is not among the properties",
                    keyword="required",
                    remedy="Add it there.",
                )
        keywords = {keyword for part in parts for keyword in part.schema}
        if keywords.isdisjoint(("additionalProperties", "properties", "patternProperties")):
            raise parts[0].place.refusal(
                "Nothing is said of the properties", keyword="type", remedy="Use a model with named fields, or a dict."
            )
        self.required = dict.fromkeys(_listed(parts))
        self.is_closed = keywords.isdisjoint(("additionalProperties", "patternProperties"))

    def _restrict_names(self, named: Subschemas) -> None:
        try:
            self.names = self.names_of(named)
        except UnsatisfiableError:
            self.is_closed = True
            self.names = EMPTY
            self._no_names = True

    _no_names = False

    def _finite_names(self) -> list[str]:
        """Return the names that there may be, if they are few."""
        if isinstance(self.names, Words):
            return list(self.names.texts)
        return [self.names.text] if isinstance(self.names, Literal) else []

    def pattern(self) -> Pattern:
        """Return the pattern of the objects."""
        members = self._members()
        rest = Rest(None) if self.is_closed else self._rest()
        if self.witness is not None and rest.witness is None:
            raise self.witness.place.unsatisfiable("no property can be the one that is needed", keyword=None)
        return self._enclosed(*self._joined(members, rest))

    def _enclosed(self, filled: Pattern | None, may_be_empty: bool) -> Pattern:
        """Return an object of some members, or none."""
        whitespace, depth = self.place.whitespace, self.place.depth
        if filled is None:
            return concat(literal("{"), whitespace.edge, literal("}"))
        filled = concat(whitespace.opening(depth), filled, whitespace.closing(depth))
        if may_be_empty:
            filled = optional(filled) if whitespace.edge == EMPTY else alternation(whitespace.edge, filled)
        return concat(literal("{"), filled, literal("}"))

    def _members(self) -> list[tuple[Pattern, bool]]:
        """Return the members by the names that are listed, and whether each has to be written."""
        members: list[tuple[Pattern, bool]] = []
        colon = self.place.whitespace.colon
        for name, key in zip(self.listed, spellings(self.listed, self.place, keyword="properties"), strict=True):
            try:
                if self.names is not None and not self._is_name(name):
                    raise self.place.unsatisfiable(f"no property may be called {name!r}", keyword="propertyNames")
                value = self.pattern_of(self._value_parts(name))
            except UnsatisfiableError:
                if name in self.required:
                    raise
                continue
            members.append((concat(Literal(key), colon, value), name in self.required))
        return members

    def _is_name(self, name: str) -> bool:
        assert self.names is not None
        return not self._no_names and PatternLanguage(self.names).contains(name)

    def _value_parts(self, name: str) -> Subschemas:
        """Return what the schemas say of the property of a name."""
        dialect = _dialect(self.place)
        return self._said(
            name, lambda part: [regex for regex in _regexes(part) if self._finds(part, regex, dialect, name)]
        )

    def _finds(self, part: Subschema, regex: str, dialect: Dialect, name: str) -> bool:
        try:
            return finds(regex, dialect, name)
        except PatternError as error:
            raise part.place.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error

    def _said(self, name: str | None, regexes: Callable[[Subschema], list[str]]) -> Subschemas:
        """Return what the schemas say of a property, by its name if it is listed and the regexes that find it."""
        found: Subschemas = []
        evaluated: list[bool] = []
        for part in self.parts:
            own: Subschemas = []
            if name is not None and name in part.schema.get("properties", ()):
                own.append(part.within("properties", name))
            own += [part.within("patternProperties", regex) for regex in regexes(part)]
            evaluated.append(bool(own) or "additionalProperties" in part.schema)
            if not own and "additionalProperties" in part.schema:
                own = [part.within("additionalProperties")]
            elif not own and name is None and part.place.is_type and "patternProperties" in part.schema:
                own = [Subschema(False, part.place)]
            found += own
        for part in self.parts:
            if "unevaluatedProperties" in part.schema and not self._is_evaluated(part, evaluated):
                found.append(part.within("unevaluatedProperties"))
        return found or [Subschema(True, self.parts[0].place.inside("additionalProperties"))]

    def _is_evaluated(self, scope: Subschema, evaluated: list[bool]) -> bool:
        """Tell whether a property was evaluated within a schema (core §11.3)."""
        return any(
            is_evaluated or (part.identity != scope.identity and "unevaluatedProperties" in part.schema)
            for part, is_evaluated in zip(self.parts, evaluated, strict=True)
            if scope.identity in part.scopes
        )

    def _rest(self) -> Rest:
        """Return the members by other names."""
        dialect = _dialect(self.place)
        regexes = list(dict.fromkeys(regex for part in self.parts for regex in _regexes(part)))
        if not regexes and self.names is None and self.witness is None:
            return self._others(_unlike(self.listed, self.place), self._said(None, lambda _part: []))
        try:
            return self._sorted_rest(regexes, dialect)
        except PatternError as error:
            raise self.place.refusal(error.problem, keyword="patternProperties", remedy=error.remedy) from error

    def _others(self, key: Pattern, value_parts: Subschemas) -> Rest:
        try:
            return Rest(self._member(key, value_parts))
        except UnsatisfiableError:
            return Rest(None)

    def _member(self, key: Pattern, value_parts: Subschemas) -> Pattern:
        value = self.pattern_of(value_parts)
        return concat(literal('"'), key, literal('"'), self.place.whitespace.colon, value)

    def _sorted_rest(self, regexes: list[str], dialect: Dialect) -> Rest:
        """Return the members by other names, sorted by the regular expressions that find them."""
        base: list[Language] = [] if self.names is None else [PatternLanguage(self.names)]
        excluded = [PatternLanguage(words(self.listed))] if self.listed else []
        languages: list[Language] = [_language(regex, dialect) for regex in regexes]
        if self.witness is not None:
            languages.append(self._witness_language(dialect))
        base_language = Together(tuple(base or [PatternLanguage(ANY_TEXT)]), tuple(excluded))
        by_value: dict[Any, list[frozenset[int]]] = {}
        classes = partition(base_language, languages)
        asked: dict[frozenset[int], bool] = {found: len(regexes) in found for found in classes.kinds}
        values: dict[Any, Subschemas] = {}
        for found in classes.kinds:
            here = {regexes[index] for index in found if index < len(regexes)}
            said = self._said(None, partial(_found_in, here))
            key = tuple((one.identity, one.place.path) for one in said), asked[found]
            by_value.setdefault(key, []).append(found)
            values[key] = said
        free, after, witnesses = [], [], []
        for (ids, is_asked), kinds in by_value.items():
            said = values[ids, is_asked]
            name = _scan_of(classes.automaton(kinds), self._shown(kinds, regexes, dialect))
            member = self._others(name, said).any
            if member is not None:
                free.append(member)
                after += [] if is_asked else [member]
            if is_asked:
                assert self.witness is not None
                inner = self.witness.schema["some property"].schema
                needed = Subschema(inner, self.witness.place.inside())
                witness = self._others(name, [*said, needed]).any
                witnesses += [] if witness is None else [witness]
        return Rest(
            alternation(*free) if free else None,
            alternation(*witnesses) if witnesses else None,
            alternation(*after) if after else None,
        )

    def _shown(self, kinds: list[frozenset[int]], regexes: list[str], dialect: Dialect) -> Pattern:
        """Return the names of some kinds as a pattern that looks ahead, to be printed."""
        quote = literal('"')
        ahead = [Lookahead(concat(escaped(self.names), quote))] if self.names is not None else []
        ahead += [Lookahead(concat(escaped(words(self.listed)), quote), negated=True)] if self.listed else []
        options = [
            concat(
                *(
                    Lookahead(concat(escaped(regex_to_pattern(regex, dialect)), quote), negated=index not in kind)
                    for index, regex in enumerate(regexes)
                )
            )
            for kind in kinds
        ]
        return concat(*ahead, alternation(*options), escaped(ANY_TEXT))

    def _witness_language(self, dialect: Dialect) -> Language:
        """Return the names of the properties that may be the one that is asked for."""
        assert self.witness is not None
        asked: SomeProperty = self.witness.schema["some property"]
        included: list[Language] = [PatternLanguage(ANY_TEXT)]
        if asked.pattern is not None:
            included.append(_language(asked.pattern, dialect))
        if asked.names is not True:
            try:
                included.append(PatternLanguage(self.names_of([Subschema(asked.names, self.witness.place)])))
            except UnsatisfiableError as error:
                raise self.witness.place.unsatisfiable("no name is wrong", keyword="propertyNames") from error
        excluded: list[Language] = [_language(regex, dialect) for regex in asked.other_patterns]
        if asked.other_names:
            excluded.append(PatternLanguage(words(asked.other_names)))
        return Together(tuple(included), tuple(excluded))

    def _joined(self, members: list[tuple[Pattern, bool]], rest: Rest) -> tuple[Pattern | None, bool]:
        """Return the members with separators, None if there can be none, and whether there need not be any."""
        comma = self.place.whitespace.comma(self.place.depth)
        required = sum(is_required for _, is_required in members)
        if rest.witness is not None:
            return self._joined_with_witness(members, rest, comma), False
        most = self.most
        if most is not None and rest.any is None and most >= len(members):
            most = None
        if most is not None and most < required:
            raise self._uncountable(f"{required} are required, and only {most} allowed", "maxProperties")
        if rest.any is None and self.fewest > len(members):
            raise self._uncountable(f"there are no more than {len(members)}", "minProperties")
        if most == 0:
            return None, True
        if not members and rest.any is None:
            return None, True
        if most is None and self.fewest <= max(required, 1):
            return self._plainly(members, rest.any, comma), required == 0 and self.fewest == 0
        if rest.any is not None and self.fewest > required + 1:
            raise self.place.refusal(
                "More than one property of an open object would have to differ in name",
                keyword="minProperties",
                remedy="List the properties, or require fewer.",
            )
        return self._counted(members, rest.any, comma, most), required == 0 and self.fewest == 0

    def _uncountable(self, reason: str, keyword: str) -> UnsatisfiableError:
        return self.place.unsatisfiable(f"of the properties, {reason}", keyword=keyword)

    def _plainly(self, members: list[tuple[Pattern, bool]], rest: Pattern | None, comma: Pattern) -> Pattern:
        if rest is None and all(is_required for _, is_required in members):
            return concat(*[piece for member, _ in members for piece in (comma, member)][1:])
        return Members(tuple(members), comma, rest)

    def _joined_with_witness(self, members: list[tuple[Pattern, bool]], rest: Rest, comma: Pattern) -> Pattern:
        """Return the members with one by another name that is asked for behind all that could take its place."""
        assert rest.witness is not None
        if self.most is not None or self.fewest > 1 + sum(is_required for _, is_required in members):
            raise self.place.refusal(
                "To count properties of which one is asked for is not supported",
                keyword="minProperties" if self.most is None else "maxProperties",
                remedy="List the properties.",
            )
        last = concat(rest.witness, repeat(concat(comma, rest.after), 0, None) if rest.after is not None else EMPTY)
        if not members and rest.any is None:
            return last
        before = concat(self._plainly(members, rest.any, comma), comma, last)
        return before if any(is_required for _, is_required in members) else alternation(last, before)

    def _counted(
        self, members: list[tuple[Pattern, bool]], rest: Pattern | None, comma: Pattern, most: int | None
    ) -> Pattern:
        """Return one member or more, as many as there may be, by a node for each place and count."""
        highest = self.fewest if most is None else most
        if (len(members) + 1) * (min(highest, len(members)) + 1) > MOST_COUNTED:
            raise self.place.refusal(
                f"More than {MOST_COUNTED:,} numbers of properties have to be told apart",
                keyword="minProperties" if most is None else "maxProperties",
                remedy="Count fewer.",
            )
        left = [0] * (len(members) + 1)
        for position in reversed(range(len(members))):
            left[position] = left[position + 1] + members[position][1]
        known: dict[tuple[int, int], Pattern | None] = {}
        definitions: dict[str, Pattern] = {}

        def after(position: int, count: int) -> Pattern | None:
            """Return what may follow when a place is reached and so many members are written; None if nothing can."""
            if most is None:
                count = min(count, max(highest, 1))
            if (position, count) not in known:
                known[position, count] = self._named(definitions, f"{position}, {count}", follow(position, count))
            return known[position, count]

        def follow(position: int, count: int) -> Pattern | None:
            if most is not None and count + left[position] > most:
                return None
            if position == len(members):
                return _rest_counted(rest, comma, count, self.fewest, most)
            member, is_required = members[position]
            written = after(position + 1, count + 1)
            options = [] if is_required else [after(position + 1, count)]
            if written is not None:
                options.append(concat(*([comma] if count else []), member, written))
            kept = [option for option in options if option is not None]
            return alternation(*kept) if kept else None

        found = None
        for position in reversed(range(len(members) + 1)):  # from the last on, so that no call is deep
            for count in range(min(position, max(highest, 1)) + 1):
                found = after(position, count)
        if found is None:
            raise self._uncountable("too few or too many are needed", "minProperties")
        return found

    @staticmethod
    def _named(definitions: dict[str, Pattern], name: str, pattern: Pattern | None) -> Pattern | None:
        if pattern is None or pattern == EMPTY:
            return pattern
        definitions[name] = pattern
        return Reference(name, definitions)


def _rest_counted(rest: Pattern | None, comma: Pattern, count: int, fewest: int, most: int | None) -> Pattern | None:
    """Return as many members by other names as there may be behind so many others."""
    needed = max(fewest, 1) - count
    if needed <= 0:
        more = None if most is None else most - count
        return EMPTY if rest is None or more == 0 else repeat(concat(comma, rest), 0, more)
    if rest is None:
        return None
    first = concat(comma, rest) if count else rest
    more = None if most is None else most - count - 1
    if more is not None and more < 0:
        return None
    further = repeat(concat(comma, rest), needed - 1, more) if more is None or more >= needed - 1 else None
    return None if further is None else concat(first, further)


def _regexes(part: Subschema) -> Iterator[str]:
    return iter(part.schema.get("patternProperties", ()))


def _found_in(found: set[str], part: Subschema) -> list[str]:
    return [regex for regex in _regexes(part) if regex in found]


def _unlike(names: list[str], place: Place) -> Pattern:
    return Unlike(tuple(name[1:-1] for name in spellings(names, place, keyword="properties")))


def _scan_of(automaton: Automaton, shown: Pattern) -> Scan:
    return Scan(automaton.arcs, automaton.accepting, most_characters(automaton), (shown,))
