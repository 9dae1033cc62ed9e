"""Names of properties: their partition by regular expressions, and those that a rule about some property allows."""

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import most_characters
from structured.automata.dfa.language import Language, limited_work
from structured.automata.dfa.products import Intersection, partition
from structured.errors import PatternError
from structured.json_schema.document.location import InternalSchema, RelocatedSchema, Subschema, Subschemas
from structured.regex import Pattern, alternation, concat, literal, words
from structured.regex.character_classes import ECMA, Dialect
from structured.regex.json_strings import escaped
from structured.regex.regex_parser import regex_to_pattern
from structured.regex.syntax import ANY_TEXT, AutomatonPattern, Lookahead


@lru_cache(maxsize=1024)
def language_of(regex: str, dialect: Dialect) -> PatternLanguage:
    """Return the language of the texts that contain a match of a regular expression, the same object each time."""
    return PatternLanguage(regex_to_pattern(regex, dialect))


def matches_in(regex: str, dialect: Dialect, text: str) -> bool:
    """Tell whether a regular expression matches in a text."""
    return language_of(regex, dialect).contains(text)


MAX_EXAMINED_STATES = 300
"""The most states that are explored to prove that regular expressions exclude each other."""


@lru_cache(maxsize=4096)
def exclude_each_other(regexes: frozenset[str], dialect: Dialect) -> bool:
    """Tell whether it is certain that no text matches all of some regular expressions: `{"^a:", "^b:"}` → True."""
    try:
        intersection = Intersection([language_of(regex, dialect) for regex in sorted(regexes)])
        reached = {intersection.start}
        states = [intersection.start]
        with limited_work():
            for state in states:  # the list grows during the loop
                if intersection.accepts(state) or len(states) > MAX_EXAMINED_STATES:
                    return False
                new = set(intersection.row(state)) - reached - {None}
                reached |= new
                states += new
    except PatternError:
        return False
    return True


class NamePartition:
    """The partition of names, other than the `reserved` ones, by the regular expressions that match in them.

    If `names` is not None, other names are left out. The kind of a name is the set of indices of the expressions that
    match in it, and, after these, of the languages of `others` that contain it.
    """

    def __init__(
        self,
        names: Pattern | None,
        reserved: Sequence[str],
        regexes: Sequence[str],
        dialect: Dialect,
        others: Sequence[Language] = (),
    ) -> None:
        self._names = names
        self._reserved = tuple(reserved)
        self._patterns = [regex_to_pattern(regex, dialect) for regex in regexes]
        base = Intersection(
            (PatternLanguage(ANY_TEXT if names is None else names),),
            (PatternLanguage(words(reserved)),) if reserved else (),
        )
        self._partition = partition(base, [*(language_of(regex, dialect) for regex in regexes), *others])
        self._names_by_kinds: dict[tuple[frozenset[int], ...], AutomatonPattern] = {}
        self.kinds = tuple(self._partition.kinds)

    def names_of(self, kinds: Sequence[frozenset[int]]) -> AutomatonPattern:
        """Return the names of some kinds, as written inside a JSON string, the same node each time."""
        key = tuple(kinds)
        if key not in self._names_by_kinds:
            automaton, printed = self._partition.automaton(kinds), (self._printed_as(kinds),)
            most = most_characters(automaton)
            self._names_by_kinds[key] = AutomatonPattern(automaton.arcs, automaton.accepting, most, printed)
        return self._names_by_kinds[key]

    def _printed_as(self, kinds: Sequence[frozenset[int]]) -> Pattern:
        quote = literal('"')
        ahead = [Lookahead(concat(escaped(self._names), quote))] if self._names is not None else []
        ahead += [Lookahead(concat(escaped(words(self._reserved)), quote), negated=True)] if self._reserved else []
        patterns = [escaped(pattern) for pattern in self._patterns]
        options = [
            concat(*(Lookahead(concat(pattern, quote), index not in kind) for index, pattern in enumerate(patterns)))
            for kind in kinds
        ]
        return concat(*ahead, alternation(*options), escaped(ANY_TEXT))


_PARTITIONS: dict[tuple[object, ...], tuple[Pattern | None, NamePartition]] = {}
_MAX_KEPT = 256


def name_partition(
    names: Pattern | None,
    reserved: Sequence[str],
    regexes: Sequence[str],
    dialect: Dialect,
    others: Sequence[tuple[Hashable, Language]] = (),
) -> NamePartition:
    """Return a partition, the same object for the same arguments. Each of `others` is a key and its language."""
    key = id(names), tuple(reserved), tuple(regexes), dialect, tuple([name for name, _ in others])
    if key not in _PARTITIONS:
        if len(_PARTITIONS) >= _MAX_KEPT:
            _PARTITIONS.clear()
        _PARTITIONS[key] = names, NamePartition(names, reserved, regexes, dialect, [language for _, language in others])
    return _PARTITIONS[key][1]


class SomeProperty(NamedTuple):
    """An existence rule: some property of an object has to satisfy a schema, under a name that the rule allows.

    The name is not in `other_names`, no expression of `other_patterns` matches in it, `pattern` does, if there is one,
    and it satisfies the schema `names`.
    """

    schema: RelocatedSchema | bool
    pattern: str | None = None
    other_names: tuple[str, ...] = ()
    other_patterns: tuple[str, ...] = ()
    names: RelocatedSchema | bool = True

    def allows_name(self, name: str, dialect: Dialect) -> bool:
        """Tell whether the rule allows a name, apart from the schema `names`."""
        if name in self.other_names or any(matches_in(regex, dialect, name) for regex in self.other_patterns):
            return False
        return self.pattern is None or matches_in(self.pattern, dialect, name)

    def may_be_matched_by(self, regex: str) -> bool:
        """Tell whether a regular expression may match in a name that the rule allows; True in case of doubt."""
        if regex in self.other_patterns:
            return False
        return self.pattern is None or not exclude_each_other(frozenset((regex, self.pattern)), ECMA)


def existence_rules(schemas: Subschemas) -> Iterator[tuple[Subschema, SomeProperty]]:
    """Yield the rules that some property exists, each with its schema."""
    for part in schemas:
        if isinstance(part.schema, InternalSchema) and "some property" in part.schema:
            yield part, part.schema["some property"]


def candidate_names(schemas: Subschemas, rule: SomeProperty) -> list[str] | None:
    """Return the listed names that a rule allows, where schemas allow no other names; None if they do.

    `{"properties": {"a": …}, "additionalProperties": false}` → `["a"]`, if the rule allows "a"
    """
    for part in schemas:
        if part.schema.get("additionalProperties") is False and not part.location.is_type:
            regexes = part.schema.get("patternProperties", ())
            try:
                if not any(map(rule.may_be_matched_by, regexes)):
                    return [name for name in part.schema.get("properties", ()) if rule.allows_name(name, ECMA)]
            except PatternError:
                continue
    return None
