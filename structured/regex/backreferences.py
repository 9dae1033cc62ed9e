r"""References to groups, resolved: each value that a group can capture is followed through the expression.

`(["']).*\1` becomes `".*"|'.*'`. That is possible where a group has few values, and where it is certain which value a
reference means: a group inside a repetition, with its reference outside, may have captured in an earlier repetition.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from math import inf
from typing import Final

from structured.errors.recursion import deep
from structured.regex.character_sets import Range
from structured.regex.expression import (
    Atomic,
    Backreference,
    Branches,
    Conditional,
    Expression,
    Group,
    Look,
    Quantified,
    Series,
    choice,
    expressions_in,
    parts_of,
    sequence,
)
from structured.regex.priority import Refuse
from structured.regex.syntax import EMPTY, NOTHING, CharSet, Literal, Words

MAX_VALUES = 5_000
"""The most texts of one group that are followed."""

MAX_CAPTURED = 2_000
"""The most combinations of texts that several groups have captured."""

MAX_UNROLLED = 4
"""The most repetitions of a group that are written out one by one."""

_SET: Final = object()
_STALE: Final = object()

_Captured = tuple[tuple[int, object], ...]
"""The captures of groups, in the order of their numbers: a text, a mark that there is one, or an unknown text."""


def without_references(expression: Expression, refuse: Refuse) -> Expression:
    """Return an expression that matches the same texts and refers to no group."""
    references = {node.number for node in expressions_in(expression) if isinstance(node, Backreference | Conditional)}
    if not references:
        return expression
    by_text = {node.number for node in expressions_in(expression) if isinstance(node, Backreference)}
    return choice(_Resolution(references, by_text, refuse).resolved(expression, (), frozenset()).values())


class _Resolution:
    """The resolution of the references in one expression."""

    def __init__(self, references: set[int], by_text: set[int], refuse: Refuse) -> None:
        self.references = references
        self.by_text = by_text
        self.refuse = refuse
        self._sets: dict[int, tuple[Expression, frozenset[int]]] = {}
        self._reads: dict[int, tuple[Expression, frozenset[int]]] = {}

    @deep
    def resolved(  # noqa: C901  one case for each kind of node
        self, expression: Expression, captured: _Captured, later: frozenset[int]
    ) -> dict[_Captured, Expression]:
        """Return, for each combination of captures that an expression can end with, the expression that yields it.

        `later` are the groups that are referred to after the expression; captures of others are dropped.
        """
        if not self.groups_set_in(expression) and not self.groups_read_in(expression):
            return {_kept(captured, later): expression}
        match expression:
            case Series(parts):
                return self._in_order(parts, captured, later)
            case Branches(options):
                return _joined(way for option in options for way in self.resolved(option, captured, later).items())
            case Group(number, item):
                return (
                    self._captures(expression, captured, later)
                    if number in self.references
                    else (self.resolved(item, captured, later))
                )
            case Conditional(number, met, unmet, place):
                value = dict(captured).get(number)
                if value is _STALE:
                    self._refuse_stale(place)
                return self.resolved(unmet if value is None else met, captured, later)
            case Backreference(number, alike, place):
                value = dict(captured).get(number)
                if value is _STALE:
                    self._refuse_stale(place)
                text = sequence(map(alike, value)) if isinstance(value, str) else NOTHING
                return {_kept(captured, later): text}
            case Quantified():
                return self._repeated(expression, captured, later)
            case Atomic(item, place):
                return {_kept(captured, later): Atomic(self._alone(item, captured, place), place)}
            case Look(item, is_behind, is_negated, place):
                inside = self._alone(item, captured, place)
                return {_kept(captured, later): Look(inside, is_behind, is_negated, place)}
        raise TypeError(f"{type(expression).__name__} refers to no group")

    def _refuse_stale(self, place: int) -> None:
        self.refuse("A reference to a group that is open, or that an earlier repetition may have captured,", place)

    def _in_order(
        self, parts: tuple[Expression, ...], captured: _Captured, later: frozenset[int]
    ) -> dict[_Captured, Expression]:
        needed = [later]
        for part in reversed(parts[1:]):
            needed.append(self._needed_before(part, needed[-1]))
        ways: dict[_Captured, Expression] = {captured: EMPTY}
        before_all: list[Expression] = []
        for part, after in zip(parts, reversed(needed), strict=True):
            found = (
                (kept, sequence((before, way)))
                for earlier, before in ways.items()
                for kept, way in self.resolved(part, earlier, after).items()
            )
            ways = _joined(found, most=MAX_CAPTURED)
            if len(ways) > MAX_CAPTURED:
                group = next(node for node in expressions_in(part) if isinstance(node, Group))
                self.refuse(f"A choice among more than {MAX_CAPTURED:,} combinations of captured texts", group.place)
            if len(ways) == 1:  # what comes after is the same for all ways so far
                before_all += ways.values()
                ways = dict.fromkeys(ways, EMPTY)
        return {kept: sequence((*before_all, way)) for kept, way in ways.items()}

    def _captures(self, group: Group, captured: _Captured, later: frozenset[int]) -> dict[_Captured, Expression]:
        number, is_read = group.number, group.number in later
        own = number in self.groups_read_in(group.item)  # CPython may keep the capture of an earlier attempt
        known_inside = _kept({**dict(captured), number: _STALE}, frozenset(self.references)) if own else captured
        inside = self.resolved(group.item, known_inside, later - {number})
        if not is_read:
            return inside
        if number not in self.by_text:
            return _joined((_kept({**dict(reached), number: _SET}, later), way) for reached, way in inside.items())
        ways: list[tuple[_Captured, Expression]] = []
        for reached, way in inside.items():
            values = _texts(way)
            if values is None:
                self.refuse(
                    f"A reference to a group that may capture more than {MAX_VALUES:,} texts, or that looks around,",
                    group.place,
                )
            ways += [(_kept({**dict(reached), number: value}, later), Literal(value)) for value in sorted(values)]
        return _joined(ways)

    def _repeated(self, node: Quantified, captured: _Captured, later: frozenset[int]) -> dict[_Captured, Expression]:
        item, sets = node.item, self.groups_set_in(node.item)
        if node.mode == "possessive" or not sets:
            inside = self._alone(item, captured, node.place)
            return {_kept(captured, later): Quantified(inside, node.minimum, node.maximum, node.mode, node.place)}
        most = node.maximum
        if most is not None and (most <= 1 or (most <= MAX_UNROLLED and not _may_be_empty(item))):
            ways = [sequence([item] * count) for count in range(node.minimum, most + 1)]
            return _joined(way for option in ways for way in self.resolved(option, captured, later).items())
        if sets & later:
            self.refuse("A reference to a group inside a repetition, from outside of it,", node.place)
        unknown = _kept({**dict(captured), **dict.fromkeys(sets, _STALE)}, frozenset(self.references))
        outside = frozenset(self.references) - sets
        inside = choice(self.resolved(item, unknown, self.groups_read_in(item) & outside).values())
        return {_kept(captured, later): Quantified(inside, node.minimum, most, node.mode, node.place)}

    def _alone(self, expression: Expression, captured: _Captured, place: int) -> Expression:
        """Resolve an expression that is matched by itself, and may refer to groups but not contain such groups."""
        if self.groups_set_in(expression):
            self.refuse("A reference to a group inside an atomic group or a lookaround", place)
        return choice(self.resolved(expression, captured, frozenset()).values())

    @deep
    def _needed_before(self, expression: Expression, later: frozenset[int]) -> frozenset[int]:
        """Return the groups that an expression, or what is later, needs from before: not those it captures first."""
        match expression:
            case Series(parts):
                for part in reversed(parts):
                    later = self._needed_before(part, later)
                return later
            case Group(number, item):
                return self._needed_before(item, later - {number})
        return later | self.groups_read_in(expression)

    def groups_set_in(self, expression: Expression) -> frozenset[int]:
        """Return the groups in an expression that are referred to somewhere."""
        return self._collected(expression, self._sets, sets=True)

    def groups_read_in(self, expression: Expression) -> frozenset[int]:
        """Return the groups that an expression refers to."""
        return self._collected(expression, self._reads, sets=False)

    @deep
    def _collected(
        self, expression: Expression, kept: dict[int, tuple[Expression, frozenset[int]]], *, sets: bool
    ) -> frozenset[int]:
        entry = kept.get(id(expression))
        if entry is None:
            own: set[int] = set()
            match expression:
                case Group(number) if sets:
                    own = {number} & self.references
                case Backreference(number) | Conditional(number) if not sets:
                    own = {number}
            below = [self._collected(part, kept, sets=sets) for part in parts_of(expression)]
            entry = kept[id(expression)] = expression, frozenset(own).union(*below)
        return entry[1]


@deep
def _may_be_empty(expression: Expression) -> bool:
    match expression:
        case Series(parts):
            return all(map(_may_be_empty, parts))
        case Branches(options):
            return any(map(_may_be_empty, options))
        case Group(_, item) | Atomic(item):
            return _may_be_empty(item)
        case Conditional(_, met, unmet):
            return _may_be_empty(met) or _may_be_empty(unmet)
        case Quantified(item, minimum):
            return minimum == 0 or _may_be_empty(item)
        case Literal(text):
            return not text
        case CharSet():
            return False
    return True


def _kept(captured: _Captured | Mapping[int, object], later: frozenset[int]) -> _Captured:
    """Return the captures of the groups that later references need."""
    return tuple(sorted((pair for pair in dict(captured).items() if pair[0] in later), key=lambda pair: pair[0]))


def _joined(ways: Iterable[tuple[_Captured, Expression]], *, most: float = inf) -> dict[_Captured, Expression]:
    """Return the ways by their captures; no more of them are looked for once there are more than `most`."""
    alternatives: dict[_Captured, list[Expression]] = {}
    for captured, way in ways:
        alternatives.setdefault(captured, []).append(way)
        if len(alternatives) > most:
            break
    return {captured: choice(same) for captured, same in alternatives.items()}


@deep
def _texts(expression: Expression) -> set[str] | None:  # noqa: C901  one case for each kind of node
    """Return the texts that an expression matches; None if they are many, or depend on the text around."""
    texts: set[str] | None = None
    match expression:
        case Literal(text):
            texts = {text}
        case Words(options):
            texts = set(options)
        case CharSet(ranges):
            texts = _characters(ranges)
        case Group(_, item):
            texts = _texts(item)
        case Branches(branches):
            texts = set()
            for option in branches:
                more = _texts(option)
                if more is None:
                    return None
                texts |= more
        case Series(parts):
            texts = _products([_texts(part) for part in parts])
        case Quantified(item, minimum, int(maximum), "greedy" | "lazy") if maximum <= MAX_VALUES:
            once, every = _texts(item), {""}
            texts = {""} if minimum == 0 else set()
            for count in range(1, maximum + 1):
                longer = _products([every, once])
                if longer is None or len(texts) > MAX_VALUES:
                    return None
                every = longer
                texts |= every if count >= minimum else set()
    return texts if texts is not None and len(texts) <= MAX_VALUES else None


def _characters(ranges: tuple[Range, ...]) -> set[str] | None:
    if sum(high - low + 1 for low, high in ranges) > MAX_VALUES:
        return None
    return {chr(point) for low, high in ranges for point in range(low, high + 1)}


def _products(parts: list[set[str] | None]) -> set[str] | None:
    texts = {""}
    for part in parts:
        if part is None or len(texts) * len(part) > MAX_VALUES:
            return None
        texts = {before + after for before, after in product(texts, part)}
    return texts
