"""Obligations: the clauses that the properties of an object have to meet, one after the other as they are written."""

from collections.abc import Iterator

from structured.json_schema.document.location import Elsewhere, Subschema, Subschemas
from structured.json_schema.logic.clauses import Clause
from structured.json_schema.logic.emptiness import surely_empty

MAX_RULES = 6
"""Rules about the value of one property that may each be met or not: they are met in every combination."""

Open = frozenset[int]
"""The clauses that nothing has met yet."""


class Obligations:
    """The clauses of one object. `names` are those that are listed, in the order in which they are written."""

    def __init__(self, clauses: list[Clause], names: list[str]) -> None:
        written = set(names)
        self._absent: dict[str, set[int]] = {}
        self._present: dict[str, list[tuple[int, Subschema]]] = {}
        self.asked: list[tuple[int, Subschema]] = []
        """Schemas that ask for some property, by the numbers of the clauses that they meet."""
        met: set[int] = set()
        for number, clause in enumerate(clauses):
            for name, value in clause:
                if name is None:
                    assert value is not None
                    self.asked.append((number, value))
                elif value is not None:
                    self._present.setdefault(name, []).append((number, value))
                elif name in written:
                    self._absent.setdefault(name, set()).add(number)
                else:
                    met.add(number)
        self.start: Open = frozenset(range(len(clauses))) - met
        self._last = self._last_places(names)

    def _last_places(self, names: list[str]) -> dict[int, int]:
        """Return after which property each clause can be met no more, where there is one."""
        last = dict.fromkeys(self.start, -1)
        for place, name in enumerate(names):
            for number in [*self._absent.get(name, ()), *(number for number, _ in self._present.get(name, ()))]:
                if number in last:
                    last[number] = place
        asked = {number for number, _ in self.asked}
        return {number: place for number, place in last.items() if number not in asked}

    @property
    def may_be_empty(self) -> bool:
        """Whether all are met where nothing is written."""
        return self.start <= {number for numbers in self._absent.values() for number in numbers}

    @property
    def is_of_others(self) -> bool:
        """Whether the properties that are listed meet no clause."""
        return not self._absent and not self._present

    def after(self, place: int, left: Open) -> Open | None:
        """Return what is left behind a place; None if some of it can be met no more."""
        return left if all(self._last.get(number, place + 1) > place for number in left) else None

    def absent(self, name: str, left: Open) -> Open:
        """Return what is left where a property is absent."""
        return left - self._absent.get(name, set())

    def present(self, name: str, left: Open, said: Subschemas) -> Iterator[tuple[Subschemas, Open]]:
        """Yield what a property may satisfy beside what is said of it, and what is left then."""
        here = [(number, value) for number, value in self._present.get(name, ()) if number in left]
        left -= {number for number, value in here if value.schema is True}
        meeting: dict[object, tuple[Subschema, set[int]]] = {}
        for number, value in here:
            if number in left:
                meeting.setdefault(_key(value), (value, set()))[1].add(number)
        possible = [(value, numbers) for value, numbers in meeting.values() if not surely_empty([*said, value])]
        contested = [value for value, _ in possible if not _lists(value) and not surely_empty([*said, _denied(value)])]
        if len(contested) > MAX_RULES:
            raise contested[0].location.refusal(
                f"More than {MAX_RULES} rules about the property {name!r} may be met, or others in their place",
                keyword=None,
                remedy="Let a property that is required tell the branches apart.",
            )
        yield from _ways(possible, said, [], left)


def _ways(
    meeting: list[tuple[Subschema, set[int]]], said: Subschemas, taken: Subschemas, left: Open
) -> Iterator[tuple[Subschemas, Open]]:
    """Yield the schemas that may be taken, each or its complement, and what is left then."""
    if not meeting:
        yield taken, left
        return
    (value, numbers), *others = meeting
    if left.isdisjoint(numbers):
        yield from _ways(others, said, taken, left)
        return
    if not surely_empty([*said, *taken, value]):
        yield from _ways(others, said, [*taken, value], left - numbers)
    failed = _denied(value)
    if not surely_empty([*said, *taken, failed]):
        yield from _ways(others, said, [*taken, failed] if _lists(value) else taken, left)


def _key(value: Subschema) -> object:
    """Return what is the same for the same schema, and for its complement."""
    if isinstance(value.schema, Elsewhere):
        return id(value.schema.schema), value.schema.location.entered, value.schema.is_denied
    return value.identity


def _denied(value: Subschema) -> Subschema:
    if isinstance(value.schema, Elsewhere):
        schema, location, is_denied = value.schema
        if is_denied:
            return Subschema(schema, location.at_depth(value.location.depth))
        return value._replace(schema=value.schema._replace(is_denied=True))
    return value._replace(schema=Elsewhere(value.schema, value.location, is_denied=True))


def _lists(value: Subschema) -> bool:
    """Tell whether a schema lists values, so that either it or its complement is seen to hold."""
    schema = value.schema.schema if isinstance(value.schema, Elsewhere) else value.schema
    return isinstance(schema, dict) and ("enum" in schema or "const" in schema)
