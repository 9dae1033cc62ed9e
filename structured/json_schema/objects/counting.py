"""Counted members: as many members of an object as may be written, with separators.

A name that is written twice counts once when the object is read, and its last value counts. So a greatest number of
members is no less exact for it, but a least number is: of the members of other names one is counted, and where more
would be needed the schema is refused.
"""

from collections.abc import Iterator
from typing import NamedTuple

from structured.errors import UnsatisfiableError
from structured.json_schema.document.location import Location
from structured.json_schema.objects.asked import Asked
from structured.regex import EMPTY, Members, Pattern, alternation, concat, repeat, right_linear

MAX_COUNTED = 4096
"""Members times counts, where an object has a least or a greatest number of properties."""


def nothing_asked(location: Location) -> UnsatisfiableError:
    """Return the error that says that what is asked for cannot be."""
    return location.unsatisfiable("no property can be the one that is asked for", keyword=None)


Member = tuple[Pattern, bool]
"""A member by a name that is listed, and whether it has to be written."""


class Rest(NamedTuple):
    """Members by other names: any of them, and those that are asked for, if some are."""

    any: Pattern | None
    asked: Asked | None = None


def joined(
    members: list[Member], rest: Rest, fewest: int, most: int | None, location: Location
) -> tuple[Pattern | None, bool]:
    """Return the members with separators, None if there can be none, and whether there need not be any."""
    counting = _Counting(members, rest, fewest, most, location)
    required = counting.required
    may_be_empty = required == 0 and fewest == 0 and rest.asked is None
    if counting.most == 0 or (not members and rest.any is None and rest.asked is None):
        return None, may_be_empty
    if counting.most is None and fewest <= max(required, 1):
        return counting.uncounted(), may_be_empty
    return counting.counted(), may_be_empty


class _Counting:
    """The members of one object, while they are counted."""

    def __init__(self, members: list[Member], rest: Rest, fewest: int, most: int | None, location: Location) -> None:
        self.members = members
        self.rest = rest
        self.fewest = fewest
        self.location = location
        self.comma = location.whitespace.comma(location.depth)
        self.required = sum(is_required for _, is_required in members)
        is_asked = rest.asked is not None
        is_open = rest.any is not None or is_asked
        self.most = None if most is not None and not is_open and most >= len(members) else most
        if most is not None and most < self.required + is_asked:
            raise location.unsatisfiable("more properties are required than allowed", keyword="maxProperties")
        if not is_open and fewest > len(members):
            raise location.unsatisfiable(f"there are no more than {len(members)} properties", keyword="minProperties")
        if is_open and fewest > self.required + 1:
            raise location.refusal(
                "More than one property of an open object would have to differ in name",
                keyword="minProperties",
                remedy="List the properties, or require fewer.",
            )

    def uncounted(self) -> Pattern:
        """Return one member or more, as many as there are."""
        if self.rest.asked is None:
            return self._plainly()
        asked = self.rest.asked.written(self.comma)
        if asked is None:
            raise nothing_asked(self.location)
        if not self.members and self.rest.any is None:
            return asked
        before = concat(self._plainly(), self.comma, asked)
        return before if self.required else alternation(asked, before)

    def _plainly(self) -> Pattern:
        if self.location.compilation.key_order == "any" and len(self.members) + (self.rest.any is not None) > 1:
            return Members(tuple(self.members), self.comma, self.rest.any, in_order=False)
        if self.rest.any is None and self.required == len(self.members):
            return concat(*[piece for member, _ in self.members for piece in (self.comma, member)][1:])
        return Members(tuple(self.members), self.comma, self.rest.any)

    def counted(self) -> Pattern:
        """Return one member or more, as many as there may be; a state is a position and how many are written."""
        highest = max(self.fewest, 1) if self.most is None else self.most
        if (len(self.members) + 1) * (min(highest, len(self.members)) + 1) > MAX_COUNTED:
            raise self.location.refusal(
                f"More than {MAX_COUNTED:,} numbers of properties would have to be counted apart",
                keyword="minProperties" if self.most is None else "maxProperties",
                remedy="Count fewer.",
            )
        end = len(self.members) + 1

        def arcs(state: tuple[int, int]) -> Iterator[tuple[Pattern, tuple[int, int]]]:
            position, count = state
            if position == len(self.members):
                rest = self._rest_from(count)
                if rest is not None:
                    yield rest, (end, 0)
            elif position < end:
                member, is_required = self.members[position]
                if not is_required:
                    yield EMPTY, (position + 1, count)
                if count < highest or self.most is None:
                    yield concat(*([self.comma] if count else []), member), (position + 1, min(count + 1, highest))

        found = right_linear((0, 0), arcs, lambda state: state[0] == end)
        if found is None:
            raise self.location.unsatisfiable("too many properties are needed", keyword="minProperties")
        return found

    def _rest_from(self, count: int) -> Pattern | None:
        """Return the members by other names that may be written behind so many."""
        if self.rest.asked is None:
            return self._others_from(count, EMPTY, 0)
        ways = [
            self._others_from(count, asked, asked_for)
            for asked_for in range(1, len(self.rest.asked) + 1)
            if (asked := self.rest.asked.exactly(asked_for, self.comma)) is not None
        ]
        found = [way for way in ways if way is not None]
        return alternation(*found) if found else None

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
