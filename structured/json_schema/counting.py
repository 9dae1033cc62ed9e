"""Counted members: the members of an object with separators, within limits of their number.

A reader counts a name that is written twice only once, with its last value. Upper limits hold nonetheless. For lower
limits, only one member with an unlisted name is counted, and a schema that needs more is refused.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from structured.errors import UnsatisfiableError
from structured.json_schema.document.location import Location
from structured.json_schema.required_members import MemberObligations, RequiredMembers, UnmetClauses
from structured.regex import EMPTY, ObjectMembers, Pattern, alternation, concat, optional, repeat, right_linear, union

MAX_COUNTED = 4096
"""The most states (members times counts) of an object with limits of its number of properties."""


def _no_required_property(location: Location) -> UnsatisfiableError:
    """Return the error that no property can be the one that a rule requires."""
    return location.unsatisfiable("no property can be the one that is required", keyword=None)


class OtherMembers(NamedTuple):
    """The members by unlisted names: the pattern of any of them, and those that unmet clauses require."""

    any: Pattern | None
    required: Callable[[UnmetClauses], RequiredMembers] | None = None


class Member(NamedTuple):
    """A member by a listed name.

    `patterns_meeting` returns, for the unmet clauses, the patterns of the member with those that each leaves unmet.
    """

    name: str
    pattern: Pattern
    is_required: bool
    patterns_meeting: Callable[[UnmetClauses], Iterable[tuple[Pattern, UnmetClauses]]]


class _State(NamedTuple):
    """The place of the next member, the count of written members as far as it matters, and the unmet clauses."""

    place: int
    written: int
    unmet: UnmetClauses


class CountedMembers:
    """The members of one object, and the automaton over them that counts them within the limits of their number."""

    def __init__(
        self,
        members: list[Member],
        others: OtherMembers,
        limits: tuple[int, int | None],
        obligations: MemberObligations,
        location: Location,
    ) -> None:
        self.members = members
        self.others = others
        self.minimum, most = limits
        self.obligations = obligations
        self.location = location
        self.comma = location.whitespace.comma(location.depth)
        self.state_count = 0
        self.required = sum(member.is_required for member in members)
        self.may_be_empty = self.required == 0 and self.minimum == 0 and obligations.may_be_empty
        is_open = others.any is not None or others.required is not None
        self.maximum = None if most is not None and not is_open and most >= len(members) else most
        self.is_uncounted = self.maximum is None and self.minimum <= max(self.required, 1)
        self.counted_up_to = 1 if self.is_uncounted else max(self.minimum, 1) if self.maximum is None else self.maximum
        if most is not None and most < self.required:
            raise location.unsatisfiable("more properties are required than allowed", keyword="maxProperties")
        if not is_open and self.minimum > len(members):
            raise location.unsatisfiable(f"there are no more than {len(members)} properties", keyword="minProperties")
        if is_open and self.minimum > self.required + 1:
            raise location.refusal(
                "More than one property of an open object would have to differ in name",
                keyword="minProperties",
                remedy="List the properties, or require fewer.",
            )
        self.minimum = 0 if self.is_uncounted else self.minimum

    def with_separators(self) -> tuple[Pattern | None, bool]:
        """Return the members with separators, None if there are none, and whether the object may be empty."""
        obligations = self.obligations
        if self.maximum == 0 or (not self.members and self.others.any is None and self.others.required is None):
            if not obligations.may_be_empty:
                raise _no_required_property(self.location)
            return None, self.may_be_empty
        if self.is_uncounted and not obligations.start:
            return self.without_limits(0), self.may_be_empty
        if self.is_uncounted and obligations.concerns_only_others:
            return self.with_required_others(), self.may_be_empty
        return self.within_limits(), self.may_be_empty

    def without_limits(self, place: int) -> Pattern:
        """Return one or more members from a place on, without limits."""
        members = tuple((member.pattern, member.is_required) for member in self.members[place:])
        is_choice = len(members) + (self.others.any is not None) > 1
        if self.location.compilation.key_order == "any" and not place and is_choice:
            return ObjectMembers(members, self.comma, self.others.any, in_order=False)
        if self.others.any is None and all(is_required for _, is_required in members):
            return concat(*[piece for member, _ in members for piece in (self.comma, member)][1:])
        return ObjectMembers(members, self.comma, self.others.any)

    def with_required_others(self) -> Pattern:
        """Return all other members followed by those that the clauses require."""
        required = self.others.required
        required_others = None if required is None else required(self.obligations.start).members(self.comma)
        if required_others is None:
            raise _no_required_property(self.location)
        if not self.members and self.others.any is None:
            return required_others
        behind = concat(self.without_limits(0), self.comma, required_others)
        return behind if self.required else alternation(required_others, behind)

    def within_limits(self) -> Pattern | None:
        """Return one or more members within the limits that meet all clauses; None if only an empty object does."""
        if (len(self.members) + 1) * (min(self.counted_up_to, len(self.members)) + 1) > MAX_COUNTED:
            raise self.location.refusal(
                f"Counting the properties takes more than {MAX_COUNTED:,} states",
                keyword="minProperties" if self.maximum is None else "maxProperties",
                remedy="Lower the limits, or list fewer properties.",
            )
        start = _State(0, 0, self.obligations.start)
        members = right_linear(start, self._arcs, lambda state: state.place > len(self.members))
        if members is None and not self.may_be_empty:
            if self.obligations.start:
                raise _no_required_property(self.location)
            raise self.location.unsatisfiable("too many properties are needed", keyword="minProperties")
        return members

    def _arcs(self, state: _State) -> Iterator[tuple[Pattern, _State]]:
        self.state_count += 1
        if self.state_count > MAX_COUNTED:
            raise self.location.refusal(
                f"The rules about the properties take more than {MAX_COUNTED:,} states",
                keyword=None,
                remedy="Combine fewer rules about properties.",
            )
        place, count, unmet = state
        end = _State(len(self.members) + 1, 0, frozenset())
        if place <= len(self.members) and self.is_uncounted and not unmet:
            tail = self._tail(place, is_first=not count)
            if tail is not None:
                yield tail, end
        elif place == len(self.members):
            others = self._others_meeting(count, unmet)
            if others is not None:
                yield others, end
        elif place < len(self.members):
            yield from self._member(state)

    def _member(self, state: _State) -> Iterator[tuple[Pattern, _State]]:
        place, count, unmet = state
        member = self.members[place]
        if not member.is_required:
            after = self.obligations.after(place, self.obligations.absent(member.name, unmet))
            if after is not None:
                yield EMPTY, _State(place + 1, count, after)
        if count < self.counted_up_to or self.maximum is None:
            for pattern, still_unmet in member.patterns_meeting(unmet):
                after = self.obligations.after(place, still_unmet)
                if after is not None:
                    written = concat(*([self.comma] if count else []), pattern)
                    yield written, _State(place + 1, min(count + 1, self.counted_up_to), after)

    def _tail(self, place: int, *, is_first: bool) -> Pattern | None:
        """Return the members from a place on, where no limit or clause is left; None if there are no members."""
        if place == len(self.members) and self.others.any is None:
            return None if is_first else EMPTY
        tail = self.without_limits(place)
        if is_first:
            return tail
        behind = concat(self.comma, tail)
        return behind if any(member.is_required for member in self.members[place:]) else optional(behind)

    def _others_meeting(self, count: int, unmet: UnmetClauses) -> Pattern | None:
        """Return the members by unlisted names that may follow `count` members and meet the unmet clauses."""
        if not unmet:
            return self._others_from(count, EMPTY, 0)
        if self.others.required is None:
            return None
        required = self.others.required(unmet)
        if self.is_uncounted:
            required_others = required.members(self.comma)
            return None if required_others is None else self._others_from(count, required_others, 1)
        members = [(required.members(self.comma, number), number) for number in range(1, len(unmet) + 1)]
        return union(self._others_from(count, some, number) for some, number in members if some is not None)

    def _others_from(self, count: int, required_others: Pattern, number: int) -> Pattern | None:
        """Return any members by unlisted names, then `number` required ones, that may all follow `count` members."""
        least = max(self.minimum, 1) - count - number
        most = None if self.maximum is None else self.maximum - count - number
        if (most is not None and most < max(least, 0)) or (least > 0 and self.others.any is None):
            return None
        others: Pattern = EMPTY
        if self.others.any is not None and most != 0:
            others = repeat(concat(self.comma, self.others.any), max(least, 0), most)
        last = [self.comma, required_others] if number else []
        if count:
            return concat(others, *last)
        if others == EMPTY:
            return required_others
        assert self.others.any is not None
        more = repeat(concat(self.comma, self.others.any), max(least - 1, 0), None if most is None else most - 1)
        first = concat(self.others.any, more, *last)
        return alternation(required_others, first) if number and least <= 0 else first
