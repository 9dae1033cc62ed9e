"""The comparison of an answer with the right one: which value was expected, and which was given in its place.

Values are the same by their meaning: numbers by value; dates, times, durations and decimals by value where the type has
them; texts by a rule. The order of a list does not matter: its items are matched by key fields or, without any, so that
as many values as possible are right. A tuple has an order.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from functools import cached_property
from itertools import count, zip_longest
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from structured.errors.values import shown
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import Subschema
from structured.json_schema.nullable import types_of
from structured.json_schema.numbers.number_patterns import DECIMAL
from structured.output_types.paths import Steps, entry_path, has_member, member_path, path_to_steps, steps_to_path
from structured.output_types.schema_parts import flattened, parts_at_step
from structured.results.normalisation import normalise

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int_]


def best_assignment(weights: Floats) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum of weights, none below 0, without pairs of weight 0.

    >>> best_assignment(np.array([[2.0, 3.0], [0.0, 2.0]]))
    [(0, 0), (1, 1)]
    """
    rows, columns = weights.shape
    if rows > columns:
        return sorted((row, column) for column, row in best_assignment(weights.T))
    prices = np.zeros(rows), np.zeros(columns)  # with which no pair costs less than nothing, and those chosen nothing
    row_of, column_of = np.full(columns, -1), np.full(rows, -1)
    costs = -weights
    for row in range(rows):
        _assign_row(row, costs, prices, row_of, column_of)
    return [(row, int(column)) for row, column in enumerate(column_of) if weights[row, column] > 0]


def _assign_row(row: int, costs: Floats, prices: tuple[Floats, Floats], row_of: Indices, column_of: Indices) -> None:
    """Assign one more row, and others anew if that makes the sum of the costs less."""
    of_rows, of_columns = prices
    distances = np.full(len(row_of), np.inf)
    came_from = np.full(len(row_of), -1)
    reached = np.zeros(len(row_of), bool)
    last, distance = row, 0.0
    while True:
        onwards = distance + costs[last] - of_rows[last] - of_columns
        nearer = ~reached & (onwards < distances)
        distances[nearer], came_from[nearer] = onwards[nearer], last
        column = int(np.argmin(np.where(reached, np.inf, distances)))
        distance = float(distances[column])
        if row_of[column] < 0:
            break
        reached[column] = True
        last = int(row_of[column])
    of_rows[row] += distance
    of_rows[row_of[reached]] += distance - distances[reached]
    of_columns[reached] -= distance - distances[reached]
    while True:
        last = int(came_from[column])
        row_of[column] = last
        column_of[last], column = column, int(column_of[last])
        if last == row:
            return


@dataclass(frozen=True)
class Item:
    """An item of a list.

    Attributes:
        values: Its values outside of lists, each by its place in the item, as a text that equal values share.
        lists: The items of the lists in it, by their places.
        key: The values of its key fields; None if it states none of them, and empty if there are none.
    """

    values: frozenset[tuple[Steps, str]]
    lists: Mapping[Steps, "list[Item]"]
    key: tuple[str, ...] | None = ()

    @cached_property
    def text(self) -> str:
        """Its values as one text, in a fixed order."""
        lists = sorted((repr(steps), sorted(item.text for item in inside)) for steps, inside in self.lists.items())
        return repr((self.key, sorted(self.values, key=repr), lists))


def match_items(expected: Sequence[Item], given: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the positions of items that are matched. Those with no value in common are not, unless by a key.

    The order of items and sides decides nothing.
    """
    sides = [sorted(enumerate(items), key=lambda placed: placed[1].text) for items in (expected, given)]
    is_swapped = [item.text for _, item in sides[0]] > [item.text for _, item in sides[1]]
    groups: dict[tuple[str, ...], tuple[dict[int, Item], dict[int, Item]]] = defaultdict(lambda: ({}, {}))
    for side, items in enumerate(reversed(sides) if is_swapped else sides):
        for index, item in items:
            if item.key is not None:
                groups[item.key][side][index] = item
    pairs = [pair for ours, theirs in groups.values() for pair in _best_matching(ours, theirs)]
    return [(index, other) for other, index in pairs] if is_swapped else pairs


def _best_matching(ours: dict[int, Item], theirs: dict[int, Item]) -> list[tuple[int, int]]:
    """Return the matching with most values in common, of items by their positions.

    Items that say the same, and hold no lists, are matched first: for a and b that are the same, a–b and x–y have at
    least as much in common as a–y and x–b.
    """
    partners: dict[str, list[int]] = defaultdict(list)
    for index, item in reversed(theirs.items()):
        if item.values and not item.lists:
            partners[item.text].append(index)
    equal = {index: partners[item.text].pop() for index, item in ours.items() if partners.get(item.text)}
    matched = {*equal.values()}
    our_rest, their_rest = [at for at in ours if at not in equal], [at for at in theirs if at not in matched]
    counts = _shared_counts([ours[index] for index in our_rest], [theirs[index] for index in their_rest])
    pairs = best_assignment(_to_weights(counts, len(their_rest)))
    return [*equal.items(), *((our_rest[row], their_rest[column]) for row, column in pairs)]


def _shared_counts(ours: Sequence[Item], theirs: Sequence[Item]) -> list[Counter[int]]:
    """Return for each of our items how many values it shares with each of theirs of the same key, by its index."""
    partners = {index: item for index, item in enumerate(theirs) if item.key is not None}
    indices: dict[object, list[int]] = defaultdict(list)
    for index, item in partners.items():
        for value in item.values:
            indices[item.key, value].append(index)
    rows = []
    for item in ours:
        row = Counter(index for value in item.values for index in indices.get((item.key, value), ()))
        for steps, items in item.lists.items():
            for index, partner in partners.items():
                if item.key == partner.key and (shared := _shared_count(items, partner.lists.get(steps, ()))):
                    row[index] += shared
        rows.append(row)
    return rows


def _to_weights(rows: Sequence[Counter[int]], columns: int) -> Floats:
    weights = np.zeros((len(rows), columns))
    for row, counts in enumerate(rows):
        weights[row, [*counts]] = [*counts.values()]
    return weights


def _shared_count(ours: Sequence[Item], theirs: Sequence[Item]) -> int:
    """Return the most values that two lists can share. It is asked for each two items with lists; most are short."""
    rows = [*filter(None, _shared_counts(*sorted((ours, theirs), key=len)))]
    best = [max(row, key=row.__getitem__) for row in rows]
    if len({*best}) < len(best):  # two are most like the same one
        columns = max(len(ours), len(theirs))
        return sum(rows[row][column] for row, column in best_assignment(_to_weights(rows, columns)))
    return sum(max(row.values()) for row in rows)


Outcome = Literal["right", "absent", "wrong", "missing", "invented"]
"""The outcome of the comparison of a value.

right: It was expected, and given.
absent: None was expected, and none given.
wrong: Another was expected.
missing: One was expected, and none given.
invented: None was expected, and one given.
"""

Rule = Literal["exact", "folded"]
"""The rule by which two texts are the same.

exact: After Unicode normalisation (NFC), and without the white space around them.
folded: But for case, compatibility forms (NFKC), runs of white space, and kinds of dashes and quotes.
"""

Compare: TypeAlias = Rule | Mapping[str, Rule]
"""The rule of all fields, or that of each by its path; of those that are not in it, `exact`."""

ItemNumbers: TypeAlias = tuple[tuple[str, int], ...]
"""The items of lists that a value is in, the outermost first: the path of each list, and a number of the item."""

_DURATION: TypeAdapter[timedelta] = TypeAdapter(timedelta)


@dataclass(frozen=True, slots=True)
class Pair:
    """A value that was expected with that which was given in its place, or one of them alone.

    Attributes:
        field: The path of its field: `lines[].price`.
        outcome: The outcome; see `Outcome`.
        expected: The value that was expected, as plain JSON; None if none was.
        given: The value that was given, likewise.
        expected_path: Where it was expected: `lines[2].price`. None if that is nowhere.
        given_path: Where it was given, likewise.
        items: The items of lists that it is in; see `ItemNumbers`.
    """

    field: str
    outcome: Outcome
    expected: Any = None
    given: Any = None
    expected_path: str | None = None
    given_path: str | None = None
    items: ItemNumbers = ()


class Place:
    """A place in answers: its field, how its values are compared, and the places below it."""

    def __init__(self, field: str, parts: list[Subschema], rule_of: Callable[[str], str]) -> None:
        self.field = field
        self.parts = flattened(parts)
        self.is_tuple = any("prefixItems" in part.schema for part in self.parts)
        self.is_list = any("array" in types_of(part.schema) for part in self.parts)
        self._rule_of = rule_of
        self._formats = {DECIMAL if DECIMAL in part.schema else part.schema.get("format") for part in self.parts}
        self._below: dict[str | int, Place] = {}

    def below(self, step: str | int) -> "Place":
        """Return the place of a member or of an item. Items are alike, but for those of tuples."""
        place_step = step if isinstance(step, str) or self.is_tuple else 0
        if place_step not in self._below:
            parts = [inner for part in self.parts for inner in parts_at_step(part, place_step)]
            if isinstance(place_step, int):
                field = f"{self.field}[]"
            elif self.parts and not any(place_step in part.schema.get("properties", ()) for part in self.parts):
                field = entry_path(self.field)  # of a dictionary
            else:
                field = member_path(self.field, place_step)
            self._below[place_step] = Place(field, parts, self._rule_of)
        return self._below[place_step]

    def normal_form(self, value: Any) -> str:
        """Return a text that values without members share if and only if they are the same here."""
        is_text, is_number = isinstance(value, str), isinstance(value, int | float) and not isinstance(value, bool)
        if DECIMAL in self._formats and (is_text or is_number):
            text = _read_decimal(str(value))
        else:
            text = self._read_temporal(value) if is_text else None
        if text is not None:
            return text
        if not is_text:
            return identity(value)
        is_folded = self._rule_of(self.field) == "folded"
        return identity(normalise(value) if is_folded else unicodedata.normalize("NFC", value).strip())

    def _read_temporal(self, text: str) -> str | None:
        """Return the date, time or duration that a text is, in one spelling; None if it is none, or has not to be."""
        try:
            if "date" in self._formats:
                return f"date {date.fromisoformat(text)}"
            if "date-time" in self._formats:
                moment = datetime.fromisoformat(text)
                return f"moment {moment if moment.tzinfo is None else moment.astimezone(UTC)}"
            if "time" in self._formats:
                return f"time {time.fromisoformat(text)}"
            if "duration" in self._formats:
                return f"duration {_DURATION.validate_python(text)!r}"
        except (ValueError, OverflowError, ValidationError):
            pass
        return None


class Comparison:
    """The rules by which answers of one type are compared; without a schema, dates are compared as texts.

    Raises ValueError for a rule or a field that is unknown, and for a key that is no member of an item.
    """

    def __init__(self, root: Subschema | None = None, compare: Compare = "exact", keys: Sequence[str] = ()) -> None:
        by_field: Mapping[str, str] = compare if isinstance(compare, Mapping) else {}
        for rule in by_field.values() if isinstance(compare, Mapping) else [compare]:
            if rule not in get_args(Rule):
                raise ValueError(f"compare is {shown(rule)}; a rule is {' or '.join(map(repr, get_args(Rule)))}.")
        others: str = "exact" if isinstance(compare, Mapping) else compare
        self._keys: dict[str, list[str]] = {}
        self.root = Place("", [] if root is None else [root], lambda field: by_field.get(field, others))
        if isinstance(keys, str):
            raise ValueError(f"keys is {keys!r}, one text. Pass a list: [{keys!r}].")  # noqa: TRY004  as a wrong list
        for field in [*by_field, *keys]:
            place = self.root
            for step in path_to_steps(field.replace("[]", "[0]")):
                place = place.below(step)
            if self.root.parts and not place.parts:
                raise ValueError(f"The type has no field {field!r}. Fields of items are written so: 'lines[].number'.")
        for key in keys:
            above, _, name = key.rpartition("[].")
            if not can_be_key(key):
                raise ValueError(f"The key {key!r} is no member of the items of a list. Write it so: 'lines[].number'.")
            self._keys.setdefault(above, []).append(str(path_to_steps(name)[0]))

    def pairs(self, expected: Any, given: Any) -> list[Pair]:
        """Return each value of two answers, both plain JSON, paired with its counterpart in the other."""
        return list(self._pairs(self.root, _Side(expected, ()), _Side(given, ()), (), count()))

    def _pairs(
        self, place: Place, expected: "_Side", given: "_Side", items: ItemNumbers, numbers: Iterator[int]
    ) -> Iterator[Pair]:
        kinds = {kind for kind in (_kind_of(expected.value), _kind_of(given.value)) if kind != "nothing"}
        if len(kinds) > 1:  # such as a text in place of a record: neither replaces the other
            yield from self._pairs(place, expected, _NO_SIDE, items, numbers)
            yield from self._pairs(place, _NO_SIDE, given, items, numbers)
        elif kinds == {"record"}:
            for name in {**(expected.value or {}), **(given.value or {})}:
                yield from self._pairs(place.below(name), expected.below(name), given.below(name), items, numbers)
        elif kinds == {"list"}:
            for ours, theirs in self._matched(place, expected.value or [], given.value or []):
                inside = place.below(ours if ours is not None else theirs or 0)
                item = (*items, (place.field, next(numbers)))
                is_alone = None in {ours, theirs}  # what an item without a partner does not say is no right answer
                for pair in self._pairs(inside, expected.below(ours), given.below(theirs), item, numbers):
                    if not is_alone or pair.outcome != "absent":
                        yield pair
        elif not kinds and (place.is_list or isinstance(expected.value, list) or isinstance(given.value, list)):
            empty = (*items, (place.field, next(numbers)))
            yield Pair(f"{place.field}[]", "absent", None, None, expected.path, given.path, empty)
        else:
            yield _pair_of(place, expected, given, items)

    def _matched(self, place: Place, expected: list[Any], given: list[Any]) -> Sequence[tuple[int | None, int | None]]:
        if place.is_tuple:
            return [*zip_longest(range(len(expected)), range(len(given)))]
        matched = match_items(self._items(place, expected), self._items(place, given))
        ours, theirs = {index for index, _ in matched}, {index for _, index in matched}
        return [
            *sorted(matched),
            *((index, None) for index in range(len(expected)) if index not in ours),
            *((None, index) for index in range(len(given)) if index not in theirs),
        ]

    def _items(self, place: Place, values: Sequence[Any]) -> list[Item]:
        return [self._item(place.below(at), value, self._keys.get(place.field, ())) for at, value in enumerate(values)]

    def _item(self, place: Place, value: Any, keys: Sequence[str]) -> Item:
        texts: set[tuple[Steps, str]] = set()
        lists: dict[Steps, list[Item]] = {}
        self._collect(place, value, (), texts, lists)
        if keys and not (isinstance(value, dict) and any(_kind_of(value.get(key)) != "nothing" for key in keys)):
            return Item(frozenset(texts), lists, None)
        return Item(frozenset(texts), lists, tuple(place.below(key).normal_form(value.get(key)) for key in keys))

    def _collect(
        self, place: Place, value: Any, steps: Steps, texts: set[tuple[Steps, str]], lists: dict[Steps, list[Item]]
    ) -> None:
        kind = _kind_of(value)
        if kind == "record" or (kind == "list" and place.is_tuple):
            for step, inside in value.items() if kind == "record" else enumerate(value):
                self._collect(place.below(step), inside, (*steps, step), texts, lists)
        elif kind == "list":
            lists[steps] = self._items(place, value)
        elif kind == "value":
            texts.add((steps, place.normal_form(value)))


def can_be_key(field: str) -> bool:
    """Tell whether a field is a member of the items of a list.

    >>> can_be_key("lines[].number"), can_be_key("lines[].item.number"), can_be_key("number")
    (True, False, False)
    """
    _, mark, name = field.rpartition("[].")
    return bool(mark) and len(path_to_steps(name)) == 1


@dataclass(frozen=True, slots=True)
class _Side:
    """The value of an answer at a place, and the steps to it; no steps if it has no such place."""

    value: Any
    steps: Steps | None

    def below(self, step: str | int | None) -> "_Side":
        if step is None or not has_member(self.value, step):
            return _NO_SIDE
        return _Side(self.value[step], (*(self.steps or ()), step))

    @property
    def path(self) -> str | None:
        return None if self.steps is None else steps_to_path(self.steps)


_NO_SIDE = _Side(None, None)


def _pair_of(place: Place, expected: _Side, given: _Side, items: ItemNumbers) -> Pair:
    outcome: Outcome
    is_expected, is_given = (_kind_of(side.value) != "nothing" for side in (expected, given))
    if is_expected and is_given:
        outcome = "right" if place.normal_form(expected.value) == place.normal_form(given.value) else "wrong"
    else:
        outcome = "missing" if is_expected else "invented" if is_given else "absent"
    ends = (expected.value if is_expected else None, given.value if is_given else None)
    return Pair(place.field, outcome, *ends, expected.path, given.path, items)


def _kind_of(value: Any) -> Literal["nothing", "record", "list", "value"]:
    """Return the kind of a value; null, and a list or record without any members, are nothing."""
    if value is None or value in ([], {}):
        return "nothing"
    return "record" if isinstance(value, dict) else "list" if isinstance(value, list) else "value"


def _read_decimal(text: str) -> str | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not number.is_finite():
        return f"decimal {number}"
    exact = Context(prec=max(1, len(number.as_tuple().digits)), Emin=MIN_EMIN, Emax=MAX_EMAX)
    return f"decimal {number.normalize(exact) or 0}"
