"""Counted members: the members of an object with separators, within limits of their number.

A reader counts a name that is written twice only once, with its last value. Upper limits hold nonetheless. For lower
limits, only one member with an unlisted name is counted, and a schema that needs more is refused.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from structured.errors import UnsatisfiableError
from structured.json_schema.document.location import Location
from structured.json_schema.required_members import MemberObligations, Open, RequiredMembers
from structured.regex import EMPTY, ObjectMembers, Pattern, alternation, concat, optional, repeat, right_linear, union

MAX_COUNTED = 4096
"""The most states (members times counts) of an object with limits of its number of properties."""


def no_witness(location: Location) -> UnsatisfiableError:
    """Return the error that no property can be the required one."""
    return location.unsatisfiable("no property can be the one that is required", keyword=None)


class OtherMembers(NamedTuple):
    """The members by unlisted names: any of them, and those that meet clauses."""

    any: Pattern | None
    witnesses: Callable[[Open], RequiredMembers] | None = None


class Member(NamedTuple):
    """A member by a listed name.

    `meeting` returns, for the open clauses, the patterns of the member with the clauses that each leaves open.
    """

    name: str
    pattern: Pattern
    is_required: bool
    meeting: Callable[[Open], Iterable[tuple[Pattern, Open]]]


class _State(NamedTuple):
    """The place of the next member, the count of written members as far as it matters, and the open clauses."""

    place: int
    written: int
    left: Open


class CountedMembers:
    """The members of one object, and the automaton over them that counts them within the limits of their number."""

    def __init__(
        self,
        members: list[Member],
        rest: OtherMembers,
        limits: tuple[int, int | None],
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
        self.may_be_empty = self.required == 0 and self.fewest == 0 and obligations.may_be_empty
        is_open = rest.any is not None or rest.witnesses is not None
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

    def joined(self) -> tuple[Pattern | None, bool]:
        """Return the members with separators, None if there are none, and whether the object may be empty."""
        obligations = self.obligations
        if self.most == 0 or (not self.members and self.rest.any is None and self.rest.witnesses is None):
            if not obligations.may_be_empty:
                raise no_witness(self.location)
            return None, self.may_be_empty
        if self.is_uncounted and not obligations.start:
            return self.plainly(0), self.may_be_empty
        if self.is_uncounted and obligations.is_of_others:
            return self.with_witnesses(), self.may_be_empty
        return self.followed(), self.may_be_empty

    def plainly(self, place: int) -> Pattern:
        """Return one or more members from a place on, without limits."""
        members = tuple((member.pattern, member.is_required) for member in self.members[place:])
        if (
            self.location.compilation.key_order == "any"
            and not place
            and len(members) + (self.rest.any is not None) > 1
        ):
            return ObjectMembers(members, self.comma, self.rest.any, in_order=False)
        if self.rest.any is None and all(is_required for _, is_required in members):
            return concat(*[piece for member, _ in members for piece in (self.comma, member)][1:])
        return ObjectMembers(members, self.comma, self.rest.any)

    def with_witnesses(self) -> Pattern:
        """Return all other members followed by the witnesses of all clauses."""
        required = None if self.rest.witnesses is None else self.rest.witnesses(self.obligations.start)
        witnesses = None if required is None else required.written(self.comma)
        if witnesses is None:
            raise no_witness(self.location)
        if not self.members and self.rest.any is None:
            return witnesses
        behind = concat(self.plainly(0), self.comma, witnesses)
        return behind if self.required else alternation(witnesses, behind)

    def followed(self) -> Pattern | None:
        """Return one or more members within the limits that meet all clauses; None if only an empty object does."""
        if (len(self.members) + 1) * (min(self.highest, len(self.members)) + 1) > MAX_COUNTED:
            raise self.location.refusal(
                f"Counting the properties takes more than {MAX_COUNTED:,} states",
                keyword="minProperties" if self.most is None else "maxProperties",
                remedy="Lower the limits, or list fewer properties.",
            )
        members = right_linear(
            _State(0, 0, self.obligations.start), self._arcs, lambda state: state.place > len(self.members)
        )
        if members is None and not self.may_be_empty:
            raise (
                no_witness(self.location)
                if self.obligations.start
                else self.location.unsatisfiable("too many properties are needed", keyword="minProperties")
            )
        return members

    def _arcs(self, state: _State) -> Iterator[tuple[Pattern, _State]]:
        self.reached += 1
        if self.reached > MAX_COUNTED:
            raise self.location.refusal(
                f"The rules about the properties take more than {MAX_COUNTED:,} states",
                keyword=None,
                remedy="Combine fewer rules about properties.",
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
        """Return the members from a place on, where no limit or clause is left; None if there are no members."""
        if place == len(self.members) and self.rest.any is None:
            return None if is_first else EMPTY
        tail = self.plainly(place)
        if is_first:
            return tail
        behind = concat(self.comma, tail)
        return behind if any(member.is_required for member in self.members[place:]) else optional(behind)

    def _rest_from(self, count: int, left: Open) -> Pattern | None:
        """Return the members by unlisted names that may follow `count` members and meet the open clauses."""
        if not left:
            return self._others_from(count, EMPTY, 0)
        if self.rest.witnesses is None:
            return None
        required = self.rest.witnesses(left)
        if self.is_uncounted:
            witnesses = required.written(self.comma)
            return None if witnesses is None else self._others_from(count, witnesses, 1)
        ways = [
            self._others_from(count, witnesses, number)
            for number in range(1, len(required) + 1)
            if (witnesses := required.written(self.comma, number)) is not None
        ]
        return union(ways)

    def _others_from(self, count: int, witnesses: Pattern, number: int) -> Pattern | None:
        """Return any members by unlisted names, followed by `number` witnesses, that may follow `count` members."""
        least = max(self.fewest, 1) - count - number
        most = None if self.most is None else self.most - count - number
        if (most is not None and most < max(least, 0)) or (least > 0 and self.rest.any is None):
            return None
        others: Pattern = EMPTY
        if self.rest.any is not None and most != 0:
            others = repeat(concat(self.comma, self.rest.any), max(least, 0), most)
        last = [self.comma, witnesses] if number else []
        if count:
            return concat(others, *last)
        if others == EMPTY:
            return witnesses
        assert self.rest.any is not None
        more = repeat(concat(self.comma, self.rest.any), max(least - 1, 0), None if most is None else most - 1)
        first = concat(self.rest.any, more, *last)
        return alternation(witnesses, first) if number and least <= 0 else first
