"""Members that an object requires: clauses about its properties, how members meet them, and members by other names.

A clause is a choice about the properties of an object, one of whose alternatives has to hold. `{"dependencies": {"a":
["b"]}}` is the clause that "a" is absent or "b" present. That an object fails a schema is a clause as well: it lacks a
required property, or has a property whose value is not allowed. Clauses are not combined with each other: they are met
one after the other, while the properties are written.

Members under other names that meet clauses by their value or name form an automaton: a state tells which clauses are
met, and by names of which kinds. A later member of the same name would replace one that is required for its value,
since the last one counts; so no member of that kind is written after it. Any value meets a clause about a name alone.
"""

from collections.abc import Callable, Iterator
from itertools import chain, combinations, product
from math import prod
from typing import NamedTuple

from structured.json_schema.document.location import ANNOTATIONS, InternalSchema, RelocatedSchema, Subschema, Subschemas
from structured.json_schema.logic.conjunctions import OpenChoice
from structured.json_schema.logic.emptiness import surely_empty
from structured.json_schema.logic.property_names import SomeProperty
from structured.regex import EMPTY, Pattern, concat, right_linear

MAX_PRODUCT = 24
"""The most clauses for one choice."""

_ABOUT_PROPERTIES = frozenset({"type", "required", "properties", "some property"})


class Alternative(NamedTuple):
    """A way to meet a clause: a property is absent, or a property satisfies a schema, or some property exists.

    Where `name` is None, `value` is a schema that requires some property. Where `value` is None, the property is
    absent.
    """

    name: str | None
    value: Subschema | None


Clause = list[Alternative]


def clauses_of(choices: list[OpenChoice]) -> list[Clause] | None:
    """Return the clauses of some choices between objects; None if some choice is not about properties."""
    clauses: list[Clause] = []
    for choice in choices:
        options = [_conjunction(option) for option in choice.options]
        kept = [option for option in options if option is not None]
        size = prod(map(len, kept))
        if len(kept) < len(options) or choice.part.unevaluated_parents or size > MAX_PRODUCT:
            return None
        joined = [[*chain.from_iterable(clauses_together)] for clauses_together in product(*kept)]
        clauses += [clause for clause in joined if not _is_certain(clause)]
    return clauses


def _is_certain(clause: Clause) -> bool:
    """Tell whether a clause always holds: a property may be absent, or present with any value."""
    absent = {name for name, value in clause if value is None}
    return any(name in absent and value is not None and value.schema is True for name, value in clause)


def _conjunction(option: Subschemas) -> list[Clause] | None:
    clauses: list[Clause] = []
    for part in option:
        if part.schema is True:
            continue
        may_be_object = isinstance(part.schema, dict) and "object" in part.schema.get("type", "object")
        if not may_be_object or not part.schema.keys() - ANNOTATIONS <= _ABOUT_PROPERTIES:
            return None
        clauses += _clauses(part)
    return clauses


def _clauses(part: Subschema) -> Iterator[Clause]:
    properties = part.schema.get("properties", {})
    required = part.schema.get("required", [])
    for name in required if isinstance(required, list) else ():
        value = _value(part, name) if name in properties else Subschema(True, part.location.of_child())
        yield [Alternative(name, value)] if value.schema is not False else []
    for name in properties:
        value = _value(part, name)
        if value.schema is not True and name not in required:
            yield [Alternative(name, None), *([] if value.schema is False else [Alternative(name, value)])]
    if isinstance(part.schema, InternalSchema) and "some property" in part.schema:
        yield [Alternative(None, part)]


def _value(part: Subschema, name: str) -> Subschema:
    """Return the schema of a property, with True and False in place of their complements."""
    value = part.child_subschema("properties", name)
    if isinstance(value.schema, RelocatedSchema) and isinstance(value.schema.schema, bool):
        return value._replace(schema=value.schema.schema != value.schema.is_denied)
    return value


MAX_RULES = 6
"""The most rules about the value of one property that may each be met or not, in every combination."""

UnmetClauses = frozenset[int]
"""The numbers of the clauses that are not met yet."""


class MemberObligations:
    """The clauses of one object and the members that meet them. `names` are the listed ones in order of writing."""

    def __init__(self, clauses: list[Clause], names: list[str]) -> None:
        written = set(names)
        self._absent: dict[str, set[int]] = {}
        self._present: dict[str, list[tuple[int, Subschema]]] = {}
        self.existence_rules: list[tuple[int, Subschema]] = []
        """Schemas that require some property, each with the number of the clause that the property meets."""
        met: set[int] = set()
        for number, clause in enumerate(clauses):
            for name, value in clause:
                if name is None:
                    assert value is not None
                    self.existence_rules.append((number, value))
                elif value is not None:
                    self._present.setdefault(name, []).append((number, value))
                elif name in written:
                    self._absent.setdefault(name, set()).add(number)
                else:
                    met.add(number)
        self.start: UnmetClauses = frozenset(range(len(clauses))) - met
        self._last_place = self._last_places(names)

    def _last_places(self, names: list[str]) -> dict[int, int]:
        if not self.start:
            return {}
        last = dict.fromkeys(self.start, -1)
        for place, name in enumerate(names):
            for number in [*self._absent.get(name, ()), *(number for number, _ in self._present.get(name, ()))]:
                if number in last:
                    last[number] = place
        of_rules = {number for number, _ in self.existence_rules}
        return {number: place for number, place in last.items() if number not in of_rules}

    @property
    def may_be_empty(self) -> bool:
        """Whether an object without members meets all clauses."""
        return self.start <= {number for numbers in self._absent.values() for number in numbers}

    @property
    def concerns_only_others(self) -> bool:
        """Whether no listed property can meet a clause."""
        return not self._absent and not self._present

    def after(self, place: int, unmet: UnmetClauses) -> UnmetClauses | None:
        """Return the clauses that are unmet after a place; None if one of them can no longer be met."""
        return unmet if all(self._last_place.get(number, place + 1) > place for number in unmet) else None

    def absent(self, name: str, unmet: UnmetClauses) -> UnmetClauses:
        """Return the clauses that are unmet where a property is absent."""
        return unmet - self._absent.get(name, set())

    def present(self, name: str, unmet: UnmetClauses, rules: Subschemas) -> Iterator[tuple[Subschemas, UnmetClauses]]:
        """Yield further schemas that a property may satisfy beside its rules, with the clauses that are unmet then."""
        here = [(number, value) for number, value in self._present.get(name, ()) if number in unmet]
        unmet -= {number for number, value in here if value.schema is True}
        meeting: dict[object, tuple[Subschema, set[int]]] = {}
        for number, value in here:
            if number in unmet:
                key = value.schema.key if isinstance(value.schema, RelocatedSchema) else value.identity
                meeting.setdefault(key, (value, set()))[1].add(number)
        possible = [(value, numbers) for value, numbers in meeting.values() if not surely_empty([*rules, value])]
        unlisted = [value for value, _ in possible if not _is_listing(value)]
        contested = [value for value in unlisted if not surely_empty([*rules, _failed(value)])]
        if len(contested) > MAX_RULES:
            raise contested[0].location.refusal(
                f"More than {MAX_RULES} optional rules concern the property {name!r}",
                keyword=None,
                remedy="Distinguish the branches by a required property.",
            )
        yield from _options_meeting(possible, rules, [], unmet)


def _options_meeting(
    meeting: list[tuple[Subschema, set[int]]], rules: Subschemas, taken: Subschemas, unmet: UnmetClauses
) -> Iterator[tuple[Subschemas, UnmetClauses]]:
    """Yield the combinations of schemas or their complements, with the clauses that are unmet then."""
    if not meeting:
        yield taken, unmet
        return
    (value, numbers), *others = meeting
    if unmet.isdisjoint(numbers):
        yield from _options_meeting(others, rules, taken, unmet)
        return
    if not surely_empty([*rules, *taken, value]):
        yield from _options_meeting(others, rules, [*taken, value], unmet - numbers)
    failed = _failed(value)
    if not surely_empty([*rules, *taken, failed]):
        yield from _options_meeting(others, rules, [*taken, failed] if _is_listing(value) else taken, unmet)


def _failed(value: Subschema) -> Subschema:
    """Return the schema of the values that fail a schema."""
    return value.complement.subschema_at(value.location)


def _is_listing(value: Subschema) -> bool:
    """Tell whether a schema lists values, so that its complement is worth stating."""
    schema = value.schema.schema if isinstance(value.schema, RelocatedSchema) else value.schema
    return isinstance(schema, dict) and ("enum" in schema or "const" in schema)


MAX_STATES = 4096
"""The most states in one object: sets of met clauses, times counted members."""


class NameKind(NamedTuple):
    """Names whose values have the same schemas, and that the same existence rules allow, given by their numbers.

    `member` returns the member that meets some of these rules by its value; None if there is none.
    """

    rules: frozenset[int]
    member: Callable[[tuple[int, ...]], Pattern | None]


class _State(NamedTuple):
    """The clauses that are met, the kinds that may not be written any more, and the members left to write."""

    met: frozenset[int] = frozenset()
    closed_kinds: frozenset[int] = frozenset()
    members_left: int | None = None
    is_first: bool = True


class RequiredMembers:
    """The members by other names of one object that meet some clauses, each by an existence rule."""

    def __init__(self, rules: list[tuple[int, Subschema]], kinds: list[NameKind], clauses: UnmetClauses) -> None:
        self._rules = {index: pair for index, pair in enumerate(rules) if pair[0] in clauses}
        self._kinds = kinds
        self._clauses = clauses
        self._about_names = {index for index, (_, part) in self._rules.items() if _existence_rule(part).schema is True}
        self._reached = 0

    def check_names(self) -> None:
        """Refuse two members that are required for their values and may have names of one kind."""
        for kind in self._kinds:
            alone = [index for index in self._rules_about_values(kind) if kind.member((index,)) is not None]
            parts = [self._rules[index] for index in alone]
            if any(
                clause != other and _value_key(part) != _value_key(other_part)
                for (clause, part), (other, other_part) in combinations(parts, 2)
            ):  # two members meet different clauses by different values
                raise self._rules[alone[1]][1].location.refusal(
                    "More than one property of an open object is required, and they might have the same name",
                    keyword=None,
                    remedy="List the properties.",
                )

    def _rules_about_values(self, kind: NameKind, met: frozenset[int] = frozenset()) -> list[int]:
        """Return the rules about values that a kind of names allows, but for those of the clauses that are met."""
        rules = sorted(kind.rules & self._rules.keys() - self._about_names)
        return [index for index in rules if self._rules[index][0] not in met]

    def members(self, comma: Pattern, count: int | None = None) -> Pattern | None:
        """Return the members from the first required one on, or `count` required ones; None if a clause stays unmet."""
        return right_linear(
            _State(members_left=count),
            lambda state: self._arcs(state, comma),
            lambda state: state.met == self._clauses and not state.members_left,
        )

    def _arcs(self, state: _State, comma: Pattern) -> Iterator[tuple[Pattern, _State]]:
        """Yield the members that may follow, with the states after them."""
        self._reached += 1
        if self._reached > MAX_STATES:
            raise next(iter(self._rules.values()))[1].location.refusal(
                "Too many properties of an open object are required", keyword=None, remedy="List the properties."
            )
        if state.members_left == 0:
            return
        before = EMPTY if state.is_first else comma
        members_left = None if state.members_left is None else state.members_left - 1
        for number, kind in enumerate(self._kinds):
            if number in state.closed_kinds:
                continue
            met_by_name = state.met | {self._rules[index][0] for index in self._about_names & kind.rules}
            for rule_numbers in _subsets(self._rules_about_values(kind, met_by_name)):
                met = met_by_name | {self._rules[index][0] for index in rule_numbers}
                if met == state.met and (state.is_first or state.members_left is not None):
                    continue
                member = kind.member(rule_numbers)
                if member is not None:
                    closed_kinds = state.closed_kinds | {number} if rule_numbers else state.closed_kinds
                    yield concat(before, member), _State(met, closed_kinds, members_left, is_first=False)


def _existence_rule(part: Subschema) -> SomeProperty:
    rule: SomeProperty = part.schema["some property"]
    return rule


def _value_key(part: Subschema) -> object:
    """Return a key that is equal for equal rules about the value."""
    schema = _existence_rule(part).schema
    return schema if isinstance(schema, bool) else schema.key


def _subsets(items: list[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
