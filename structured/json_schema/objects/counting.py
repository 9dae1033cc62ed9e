"""Counted members: as many members of an object as may be written, with separators.

A name that is written twice counts once when the object is read, and its last value counts. So a greatest number of
members is no less exact for it, but a least number is: of the members of other names one is counted, and where more
would be needed the schema is refused.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from structured.errors import UnsatisfiableError
from structured.json_schema.document.location import Location
from structured.json_schema.objects.required_members import MemberObligations, Open, RequiredMembers
from structured.regex import EMPTY, Members, Pattern, alternation, concat, optional, repeat, right_linear

MAX_COUNTED = 4096
"""Members times counts, where an object has a least or a greatest number of properties."""


def nothing_asked(location: Location) -> UnsatisfiableError:
    """Return the error that says that what is asked for cannot be."""
    return location.unsatisfiable("no property can be the one that is asked for", keyword=None)


class OtherMembers(NamedTuple):
    """Members by other names: any of them, and those that meet some clauses."""

    any: Pattern | None
    asked: Callable[[Open], RequiredMembers] | None = None


class Member(NamedTuple):
    """A member by a name that is listed.

    `meeting` returns, for the clauses that are left, the ways to write it with what is left then.
    """

    name: str
    pattern: Pattern
    is_required: bool
    meeting: Callable[[Open], Iterable[tuple[Pattern, Open]]]


class CountLimits(NamedTuple):
    """How many members there may be."""

    fewest: int = 0
    most: int | None = None


def joined(
    members: list[Member], rest: OtherMembers, limits: CountLimits, obligations: MemberObligations, location: Location
) -> tuple[Pattern | None, bool]:
    """Return the members with separators, None if there can be none, and whether there need not be any."""
    counting = _Counting(members, rest, limits, obligations, location)
    may_be_empty = counting.required == 0 and limits.fewest == 0 and obligations.may_be_empty
    if counting.most == 0 or (not members and rest.any is None and rest.asked is None):
        if not obligations.may_be_empty:
            raise nothing_asked(location)
        return None, may_be_empty
    if counting.is_uncounted and not obligations.start:
        return counting.plainly(0), may_be_empty
    if counting.is_uncounted and obligations.is_of_others:
        return counting.asked_after(), may_be_empty
    return counting.followed(may_be_empty), may_be_empty


class _State(NamedTuple):
    """The next member, how many are written, as far as that matters, and the clauses that are left."""

    place: int
    written: int
    left: Open


class _Counting:
    """The members of one object, while they are counted."""

    def __init__(
        self,
        members: list[Member],
        rest: OtherMembers,
        limits: CountLimits,
        obligations: MemberObligations,
        location: Location,
    ) -> None:
        self.members = members
        self.rest = rest
        self.fewest, most = limits
        self.obligations = obligations
        self.location = location
        self.comma = location.whitespace.comma(location.depth)
        self.reached = 0
        self.required = sum(member.is_required for member in members)
        is_open = rest.any is not None or rest.asked is not None
        self.most = None if most is not None and not is_open and most >= len(members) else most
        self.is_uncounted = self.most is None and self.fewest <= max(self.required, 1)
        self.highest = 1 if self.is_uncounted else max(self.fewest, 1) if self.most is None else self.most
        if most is not None and most < self.required:
            raise location.unsatisfiable("more properties are required than allowed", keyword="maxProperties")
        if not is_open and self.fewest > len(members):
            raise location.unsatisfiable(f"there are no more than {len(members)} properties", keyword="minProperties")
        if is_open and self.fewest > self.required + 1:
            raise location.refusal(
                "More than one property of an open object would have to differ in name",
                keyword="minProperties",
                remedy="List the properties, or require fewer.",
            )
        self.fewest = 0 if self.is_uncounted else self.fewest

    def plainly(self, place: int) -> Pattern:
        """Return one member or more from a place on, as many as there are."""
        members = tuple((member.pattern, member.is_required) for member in self.members[place:])
        if (
            self.location.compilation.key_order == "any"
            and not place
            and len(members) + (self.rest.any is not None) > 1
        ):
            return Members(members, self.comma, self.rest.any, in_order=False)
        if self.rest.any is None and all(is_required for _, is_required in members):
            return concat(*[piece for member, _ in members for piece in (self.comma, member)][1:])
        return Members(members, self.comma, self.rest.any)

    def asked_after(self) -> Pattern:
        """Return the members that are asked for, behind all others."""
        asked = None if self.rest.asked is None else self.rest.asked(self.obligations.start).written(self.comma)
        if asked is None:
            raise nothing_asked(self.location)
        if not self.members and self.rest.any is None:
            return asked
        behind = concat(self.plainly(0), self.comma, asked)
        return behind if self.required else alternation(asked, behind)

    def followed(self, may_be_empty: bool) -> Pattern | None:
        """Return one member or more, as many as there may be, that meet all clauses; None if there need not be any."""
        if (len(self.members) + 1) * (min(self.highest, len(self.members)) + 1) > MAX_COUNTED:
            raise self.location.refusal(
                f"More than {MAX_COUNTED:,} numbers of properties would have to be counted apart",
                keyword="minProperties" if self.most is None else "maxProperties",
                remedy="Count fewer.",
            )
        found = right_linear(
            _State(0, 0, self.obligations.start), self._arcs, lambda state: state.place > len(self.members)
        )
        if found is None and not may_be_empty:
            raise (
                nothing_asked(self.location)
                if self.obligations.start
                else self.location.unsatisfiable("too many properties are needed", keyword="minProperties")
            )
        return found

    def _arcs(self, state: _State) -> Iterator[tuple[Pattern, _State]]:
        self.reached += 1
        if self.reached > MAX_COUNTED:
            raise self.location.refusal(
                f"More than {MAX_COUNTED:,} states of the properties would have to be told apart",
                keyword=None,
                remedy="Let fewer rules about properties hold together.",
            )
        place, count, left = state
        end = _State(len(self.members) + 1, 0, frozenset())
        if place <= len(self.members) and self.is_uncounted and not left:
            tail = self._tail(place, is_first=not count)
            if tail is not None:
                yield tail, end
        elif place == len(self.members):
            rest = self._rest_from(count, left)
            if rest is not None:
                yield rest, end
        elif place < len(self.members):
            yield from self._member(state)

    def _member(self, state: _State) -> Iterator[tuple[Pattern, _State]]:
        """Yield the next member, and nothing in its place, with what is left behind it."""
        place, count, left = state
        member = self.members[place]
        if not member.is_required:
            after = self.obligations.after(place, self.obligations.absent(member.name, left))
            if after is not None:
                yield EMPTY, _State(place + 1, count, after)
        if count < self.highest or self.most is None:
            for pattern, met in member.meeting(left):
                after = self.obligations.after(place, met)
                if after is not None:
                    written = concat(*([self.comma] if count else []), pattern)
                    yield written, _State(place + 1, min(count + 1, self.highest), after)

    def _tail(self, place: int, *, is_first: bool) -> Pattern | None:
        """Return the members from a place on, where there is no more to count or to meet; None if none is left."""
        if place == len(self.members) and self.rest.any is None:
            return None if is_first else EMPTY
        tail = self.plainly(place)
        if is_first:
            return tail
        behind = concat(self.comma, tail)
        return behind if any(member.is_required for member in self.members[place:]) else optional(behind)

    def _rest_from(self, count: int, left: Open) -> Pattern | None:
        """Return the members by other names that may be written behind so many, and meet what is left."""
        if not left:
            return self._others_from(count, EMPTY, 0)
        if self.rest.asked is None:
            return None
        asked = self.rest.asked(left)
        if self.is_uncounted:
            found = asked.written(self.comma)
            return None if found is None else self._others_from(count, found, 1)
        ways = [
            self._others_from(count, found, asked_for)
            for asked_for in range(1, len(asked) + 1)
            if (found := asked.exactly(asked_for, self.comma)) is not None
        ]
        possible = [way for way in ways if way is not None]
        return alternation(*possible) if possible else None

    def _others_from(self, count: int, asked: Pattern, asked_for: int) -> Pattern | None:
        """Return the same with so many that are asked for: those last, in front of them any others."""
        least = max(self.fewest, 1) - count - asked_for
        most = None if self.most is None else self.most - count - asked_for
        if (most is not None and most < max(least, 0)) or (least > 0 and self.rest.any is None):
            return None
        others: Pattern = EMPTY
        if self.rest.any is not None and most != 0:
            others = repeat(concat(self.comma, self.rest.any), max(least, 0), most)
        last = [self.comma, asked] if asked_for else []
        if count:
            return concat(others, *last)
        if others == EMPTY:
            return asked
        first = concat(self._first_of(least, most), *last)
        return alternation(asked, first) if asked_for and least <= 0 else first

    def _first_of(self, least: int, most: int | None) -> Pattern:
        """Return one member by another name or more, the first without a separator."""
        assert self.rest.any is not None
        more = repeat(concat(self.comma, self.rest.any), max(least - 1, 0), None if most is None else most - 1)
        return concat(self.rest.any, more)
