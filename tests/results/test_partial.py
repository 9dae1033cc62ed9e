"""Answers that are still growing: each value is told once, when it is whole, however the text is cut."""

import dataclasses
import datetime as dt
import json
import time
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, field_validator
from strategies import typed
from typing_extensions import TypedDict

from structured import JsonSchema
from structured.output_types.paths import steps_to_path
from structured.output_types.resolve import resolve_type
from structured.results import PartialReader
from structured.results.json_text import StreamEvent

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
INDENTS = st.sampled_from([None, 2, "\t"])


def read_events(output_type: object, pieces: Iterable[str]) -> Iterator[StreamEvent]:
    """Yield the values of a text in pieces, each when it is complete."""
    reader = PartialReader(output_type)
    for piece in pieces:
        yield from reader.feed(piece)
    yield from reader.close()


def partial_value(output_type: object, text: str) -> Any:
    """Return the value of the beginning of a text."""
    reader = PartialReader(output_type)
    reader.feed(text)
    return reader.value


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return the JSON text of any value, with whatever layout and escapes."""
    text = json.dumps(draw(VALUES), indent=draw(INDENTS), ensure_ascii=draw(st.booleans()))
    return draw(st.sampled_from(["", " ", "\n"])) + text + draw(st.sampled_from(["", "\r\n "]))


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    """Return a text in pieces, empty ones among them."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def is_part(part: Any, whole: Any) -> bool:
    """Tell whether a value is a beginning of another."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return list(part) == list(whole)[: len(part)] and all(is_part(part[key], whole[key]) for key in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    return type(part) is type(whole) and part == whole


def paths(value: Any, steps: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Return each value inside a value with its place, containers after their members."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for step, one in inside for found in paths(one, (*steps, step))] + [(steps, value)]


@pytest.mark.thorough
@given(st.data(), texts())
def test_events_are_the_values_however_the_text_is_cut(data: st.DataObject, text: str) -> None:
    """Each value comes once, with its path, in the order of the text, and containers after their members."""
    expected = paths(json.loads(text))
    for pieces in ([text], list(text), data.draw(cut(text))):
        events = list(read_events(Any, pieces))
        assert [(event.steps, event.value) for event in events] == expected
        assert [event.path for event in events] == [steps_to_path(steps) for steps, _ in expected]


@pytest.mark.thorough
@given(texts())
def test_each_beginning_says_a_part_of_the_whole(text: str) -> None:
    """What is there so far is a part of what will be; it only grows; at the end it is what `json.loads` reads."""
    whole, reader = json.loads(text), PartialReader(Any)
    seen: list[Any] = []
    for character in text:
        told = len(reader.feed(character))
        seen.append(reader.value)
        assert told or len(seen) < 2 or is_part(seen[-2], seen[-1]) or seen[-2] is None
    reader.close()
    seen.append(reader.value)
    assert type(seen[-1]) is type(whole)
    assert seen[-1] == whole
    assert all(part is None or is_part(part, whole) for part in seen)


def test_a_value_once_returned_stays_what_it_is() -> None:
    """What a caller holds does not grow behind its back."""
    reader = PartialReader(Any)
    reader.feed('{"a": [1, {"b": 2, "c": ')
    first = reader.value
    assert first == {"a": [1, {"b": 2}]}
    reader.feed('3}], "d": 4}')
    assert first == {"a": [1, {"b": 2}]}


def test_values_close_as_soon_as_they_can() -> None:
    """A string closes with its quote, a word with its last letter, a number with what follows it or with the text."""
    reader = PartialReader(Any)
    told = {
        piece: [event.value for event in reader.feed(piece)] for piece in ('["a\\', '""', ", tru", "e", ", 12", "5 ")
    }
    assert told == {'["a\\': [], '""': ['a"'], ", tru": [], "e": [True], ", 12": [], "5 ": [125]}
    number = PartialReader(int)
    assert number.feed("25") == []
    assert number.value is None
    assert [(event.path, event.value) for event in number.close()] == [("", 25)]


@pytest.mark.parametrize("text", ["", '{"a": 1', '"abc', "[1,", '"a\\', "tru"])
def test_a_cut_text_is_an_error_at_its_end(text: str) -> None:
    """A text that stops within its value is none."""
    with pytest.raises(ValueError, match=r"The text ends after|Expecting value"):
        list(read_events(Any, [text]))


@pytest.mark.parametrize("text", ['{"a" 1}', "[1 2]", "}", "[1}", "1 2", "?", "[01]", "{1: 2}", '"\n"', "{,}", "[,]"])
def test_what_is_no_json_is_an_error(text: str) -> None:
    """However it is cut, a text that `json.loads` does not read is not read here."""
    for pieces in ([text], list(text)):
        with pytest.raises(ValueError, match=r".") as caught:
            list(read_events(Any, pieces))
        assert not isinstance(caught.value, AssertionError)


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Stay:
    city: str
    since: dt.date


class Extras(TypedDict):
    tags: NotRequired[set[str]]


class Cat(BaseModel):
    kind: Literal["cat"]
    born: dt.date


class Dog(BaseModel):
    kind: Literal["dog"]
    born: dt.date


class Guest(BaseModel):
    name: Annotated[str, Field(alias="fullName")]
    born: dt.date | None
    at: Point
    stays: list[Stay]
    extras: Extras
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    friends: "dict[str, Guest]"
    language: str = "English"

    def model_post_init(self, _: object, /) -> None:
        assert self.name


TEXT = json.dumps(
    {
        "fullName": "Ana",
        "born": "2001-02-03",
        "at": [1, 2],
        "stays": [{"city": "Lyon", "since": "2020-01-01"}],
        "extras": {"tags": ["a", "a"]},
        "pet": {"kind": "dog", "born": "2020-01-01"},
        "friends": {},
    }
)


def test_values_are_instances_of_their_own_types() -> None:
    """Each value is what its field says, as soon as it is there: dates, models, sets, in classes of every kind."""
    events = {event.path: event.value for event in read_events(Guest, list(TEXT))}
    guest = Guest.model_validate_json(TEXT)
    assert events.pop("") == guest
    assert events["stays[0].since"] == dt.date(2020, 1, 1)
    assert events["stays[0]"] == Stay("Lyon", dt.date(2020, 1, 1))
    assert events["at"] == Point(1, 2.0)
    assert isinstance(events["at[1]"], float)
    assert events["extras.tags"] == {"a"}
    assert events["pet.born"] == "2020-01-01"  # whose date it is, is known when the pet is whole
    assert events["fullName"] == "Ana"
    for name in ("born", "stays", "extras", "pet", "friends"):
        assert events[name] == getattr(guest, name)
        assert type(events[name]) is type(getattr(guest, name))


def test_an_open_model_has_what_is_there() -> None:
    """It is an instance in which the other fields are missing; neither defaults nor code of the class fill them."""
    text = TEXT[: TEXT.index('"since"')]
    guest = partial_value(Guest, text)
    assert type(guest) is Guest
    assert guest.model_fields_set == {"name", "born", "at", "stays"}
    assert guest.born == dt.date(2001, 2, 3)
    assert guest.stays == [{"city": "Lyon"}]
    assert not hasattr(guest, "pet")
    assert not hasattr(guest, "language")
    assert repr(guest).startswith("Guest(name='Ana', born=")
    nested = partial_value(list[Guest], f'[{TEXT}, {{"fullName": "Ben", "bo')
    assert nested[0] == Guest.model_validate_json(TEXT)
    assert nested[1].model_dump(warnings=False) == {"name": "Ben"}


@pytest.mark.thorough
@given(st.data())
def test_any_type_is_read_as_pydantic_reads_it(data: st.DataObject) -> None:
    """Whatever the type, the last event is the instance, and every beginning of the text has a value."""
    drawn = data.draw(typed())
    adapter: TypeAdapter[Any] = TypeAdapter(drawn.type)
    text = adapter.dump_json(data.draw(drawn.values), by_alias=True).decode()
    reader = PartialReader(resolve_type(drawn.type))
    events = []
    for piece in data.draw(cut(text)):
        events += reader.feed(piece)
        assert reader.value is None or repr(reader.value)
    events += reader.close()
    assert events[-1].steps == ()
    assert repr(events[-1].value) == repr(reader.value) == repr(adapter.validate_json(text))


def test_what_validators_reject_is_plain() -> None:
    """A class's own validators are asked when all is there; what they reject is told as it was written."""

    class Adult(BaseModel):
        age: int

        @field_validator("age")
        @classmethod
        def of_age(cls, age: int) -> int:
            if age < 18:
                raise ValueError("a minor")
            return age

    events = [(event.path, event.value) for event in read_events(Adult, ['{"age": 7}'])]
    assert events == [("age", 7), ("", {"age": 7})]


def test_a_json_schema_is_plain_data() -> None:
    """There is no class, so every value is plain."""
    schema = JsonSchema({"type": "object", "properties": {"a": {"type": "string", "format": "date"}}})
    events = [(event.path, event.value) for event in read_events(schema, ['{"a": "2020-01-01"}'])]
    assert events == [("a", "2020-01-01"), ("", {"a": "2020-01-01"})]


@pytest.mark.thorough
def test_the_time_is_linear_in_the_text() -> None:
    """Ten times as long a text in pieces of three characters takes some ten times as long, and not a hundred."""

    def seconds(count: int) -> float:
        text = json.dumps([{"name": "Ana", "ages": [1, 2, 3]}] * count)
        started = time.perf_counter()
        list(read_events(Any, (text[at : at + 3] for at in range(0, len(text), 3))))
        return time.perf_counter() - started

    assert min(seconds(3000) for _ in range(3)) < 40 * min(seconds(300) for _ in range(3))
