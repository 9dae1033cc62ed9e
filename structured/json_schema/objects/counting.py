"""Counted members: as many members of an object as may be written, with separators.

A name that is written twice counts once when the object is read, and its last value counts. So a greatest number of
members is no less exact for it, but a least number is: of the members of other names one is counted, and where more
would be needed the schema is refused.
"""

from collections.abc import Iterator
from typing import NamedTuple

from structured.json_schema.document.location import Location
from structured.regex import EMPTY, Members, Pattern, alternation, concat, repeat, right_linear

MAX_COUNTED = 4096
"""Members times counts, where an object has a least or a greatest number of properties."""

Member = tuple[Pattern, bool]
"""A member by a name that is listed, and whether it has to be written."""


class Rest(NamedTuple):
    """Members by other names: any of them; those that are asked for, in each way to write them; those after these."""

    any: Pattern | None
    asked: tuple[tuple[Pattern, ...], ...] = ((),)
    after: Pattern | None = None

    @property
    def is_asked(self) -> bool:
        """Whether at least one has to be written."""
        return () not in self.asked


def joined(
    members: list[Member], rest: Rest, fewest: int, most: int | None, location: Location
) -> tuple[Pattern | None, bool]:
    """Return the members with separators, None if there can be none, and whether there need not be any."""
    counting = _Counting(members, rest, fewest, most, location)
    required = counting.required
    may_be_empty = required == 0 and fewest == 0 and not rest.is_asked
    if counting.most == 0 or (not members and rest.any is None and not rest.is_asked):
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
        is_open = rest.any is not None or rest.is_asked
        self.most = None if most is not None and not is_open and most >= len(members) else most
        if most is not None and most < self.required + rest.is_asked:
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
        if not self.rest.is_asked:
            return self._plainly()
        asked = alternation(*map(self._asked, self.rest.asked))
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

    def _asked(self, way: tuple[Pattern, ...]) -> Pattern:
        """Return members that are asked for, with others after each that cannot take their place."""
        after = EMPTY if self.rest.after is None else repeat(concat(self.comma, self.rest.after), 0, None)
        return concat(*[piece for member in way for piece in (self.comma, member, after)][1:])

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
        ways = [way for way in (self._way_from(count, way) for way in self.rest.asked) if way is not None]
        return alternation(*ways) if ways else None

    def _way_from(self, count: int, way: tuple[Pattern, ...]) -> Pattern | None:
        """Return the same with what is asked for in one way: that last, in front of it any others."""
        least = max(self.fewest, 1) - count - len(way)
        most = None if self.most is None else self.most - count - len(way)
        if (most is not None and most < max(least, 0)) or (least > 0 and self.rest.any is None):
            return None
        others: Pattern = EMPTY
        if self.rest.any is not None and most != 0:
            others = repeat(concat(self.comma, self.rest.any), max(least, 0), most)
        if count:
            return concat(others, *(piece for member in way for piece in (self.comma, member)))
        asked = concat(*[piece for member in way for piece in (self.comma, member)][1:])
        if others == EMPTY:
            return asked
        first = concat(
            self._first_of(least, most), *(piece for member in way for piece in (self.comma, member))
        )  # fmt: skip
        return alternation(asked, first) if way and least <= 0 else first

    def _first_of(self, least: int, most: int | None) -> Pattern:
        """Return one member by another name or more, the first without a separator."""
        assert self.rest.any is not None
        more = repeat(concat(self.comma, self.rest.any), max(least - 1, 0), None if most is None else most - 1)
        return concat(self.rest.any, more)
