"""Soft checks: a value that does not pass is kept and flagged, wherever it is, and nothing else changes."""

import csv
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, NotRequired, TypeVar

import pytest
from browser import open_browser
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel, TypeAdapter, create_model, dataclasses
from typer.testing import CliRunner
from typing_extensions import TypeAliasType, TypedDict

from structured import Chunking, Extractor, evaluate, extract_results, read_results, report, write_results, write_table
from structured.cli import commands
from structured.models.scripted import ScriptedModel
from structured.output_types import Check
from structured.output_types.annotations import Annotation
from structured.output_types.checks import flags_of
from structured.output_types.python_type import python_type
from structured.results import Flag


def is_plausible(age: int) -> bool:
    return age < 120


def has_initial(name: str) -> bool:
    return name[0].isupper()


Age = Annotated[int, Check(is_plausible, "unlikely age")]
Names = TypeAliasType("Names", list[Annotated[str, Check(has_initial, "no name")]])
T = TypeVar("T")


class Plain(BaseModel):
    name: str
    age: int


class Person(BaseModel):
    name: str
    age: Age


OLD = ScriptedModel('{"name": "Ana", "age": 131}')
FLAG = Flag("age", 131, "unlikely age")


def flags(output_type: Any, data: Any) -> list[str]:
    """Return the flags of some data, as text."""
    value = TypeAdapter(output_type).validate_python(data)
    return [str(flag) for flag in flags_of(Annotation.of(output_type), value)]


def test_a_flagged_value_is_kept() -> None:
    """The value and the flag are in the result."""
    result = Extractor(Person, model=OLD).result("Ana is 131.")
    assert result.value == Person(name="Ana", age=131)
    assert result.flags == (FLAG,)
    assert str(FLAG) == "age: unlikely age"
    assert [row["flags"] for row in result.rows()] == [None, "unlikely age"]
    assert "age: unlikely age" in result._repr_html_()


def test_a_check_changes_neither_the_schema_nor_the_type() -> None:
    """The type has the schema and the digest that it has without."""
    types: Any = (create_model("Person", name=str, age=int), Person)
    plain, checked = map(python_type, types)
    assert (checked.schema, checked.digest) == (plain.schema, plain.digest)


@dataclass
class Box(Generic[T]):
    item: T
    inside: "Box[T] | None" = None


class Record(TypedDict):
    age: NotRequired[Age]


class Aliased(BaseModel):
    age: Age | None = Field(None, alias="Age")


@dataclasses.dataclass
class Cat:
    lives: Annotated[int, Check(lambda lives: lives <= 9, "too many")]


class Dog(BaseModel):
    lives: Annotated[int, Check(lambda lives: lives == 1, "not one")]


PLACES: Mapping[str, tuple[Any, Any, list[str]]] = {
    "whole": (Age, 131, ["(answer): unlikely age"]),
    "list": (list[Age], [1, 131], ["[1]: unlikely age"]),
    "set": (set[Age], [131], ["(answer): unlikely age"]),
    "tuple": (tuple[int, Age], [131, 132], ["[1]: unlikely age"]),
    "dictionary": (dict[str, Age], {"a b": 131}, ['"a b": unlikely age']),
    "key": (dict[Annotated[str, Check(has_initial, "no name")], int], {"a": 1}, ["a: no name"]),
    "optional": (Age | None, 131, ["(answer): unlikely age"]),
    "null": (Age | None, None, []),
    "alias of a field": (Aliased, {"Age": 131}, ["Age: unlikely age"]),
    "alias of a type": (Names, ["Ana", "b"], ["[1]: no name"]),
    "generic dataclass": (Box[Age], {"item": 1, "inside": {"item": 131}}, ["inside.item: unlikely age"]),
    "TypedDict": (Record, {"age": 131}, ["age: unlikely age"]),
    "key left out": (Record, {}, []),
    "root": (RootModel[list[Age]], [131], ["[0]: unlikely age"]),
    "union of classes": (list[Cat | Dog], [Cat(10), Dog(lives=10)], ["[0].lives: too many", "[1].lives: not one"]),
    "union of types": (
        list[Age | Annotated[str, Check(str.islower, "A")]],
        ["A", 131],
        ["[0]: A", "[1]: unlikely age"],
    ),
    "model": (Annotated[Plain, Check(lambda one: one.age > 1, "one")], {"name": "Ana", "age": 1}, ["(answer): one"]),
    "several": (Annotated[Age, Check(lambda age: age > 500, "odd")], 131, ["(answer): unlikely age", "(answer): odd"]),
}


@pytest.mark.parametrize("place", PLACES)
def test_checks_work_anywhere_in_a_type(place: str) -> None:
    """Each flag has the path of its value."""
    output_type, data, expected = PLACES[place]
    assert flags(output_type, data) == expected


def test_a_check_that_raises_says_which_it_was() -> None:
    """It is a flag with an error, and the other documents and checks are as they were."""
    fragile = Annotated[int, Check(lambda age: 1 / (age - 3) > 0, "too young")]
    model = ScriptedModel(lambda prompt: '{"age": 3}' if "She" in prompt else '{"age": 2}')
    output_type = create_model("Child", age=(fragile, ...))
    results = extract_results(output_type, ["She is 3.", "He is 2."], model=model)
    first, second = sorted(results, key=lambda result: result.position)
    assert first.flags == (Flag("age", 3, "too young", "ZeroDivisionError: division by zero"),)
    assert str(*first.flags) == "age: the check 'too young' raised ZeroDivisionError: division by zero"
    assert second.flags == (Flag("age", 2, "too young"),)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("unlikely age", is_plausible),
            "passes is 'unlikely age'. Pass a plain function from the value to True or False.",
        ),
        ((is_plausible, " "), "message is ' '. Pass a text that says what is wrong with the value."),
    ],
)
def test_a_check_is_a_function_and_a_message(arguments: Any, problem: str) -> None:
    """Anything else is refused at once."""
    with pytest.raises(TypeError) as caught:
        Check(*arguments)
    assert str(caught.value) == problem


def test_a_check_is_no_coroutine() -> None:
    """It would be true of each value."""

    async def awaited(value: int) -> bool:
        return value > 0

    with pytest.raises(TypeError, match="Pass a plain function from the value to True or False"):
        Check(awaited, "not positive")


def test_what_is_stated_is_checked_where_no_value_can_be_made() -> None:
    """A required field is missing, and the others are checked."""
    model = ScriptedModel('{"name": null, "age": 131}')
    result = Extractor(Person, allow_missing=True, model=model).result("131 years old.")
    assert (result.missing, result.flags) == (("name",), (FLAG,))


def test_flags_are_pickled() -> None:
    """With their values; the checks are not."""
    result = Extractor(Person, model=OLD).result("Ana is 131.")
    assert pickle.loads(pickle.dumps(result)).flags == (FLAG,)  # noqa: S301  its own
    check = Check(is_plausible, "unlikely age")
    assert pickle.loads(pickle.dumps(check)) == check  # noqa: S301


def test_flags_are_written_and_read(tmp_path: Path) -> None:
    """As plain data those of the file, and as a type those of its checks, which may be new."""
    path = tmp_path / "out.jsonl"
    write_results(Person, ["Ana is 131."], path, model=OLD)
    assert json.loads(path.read_text())["flags"] == [asdict(FLAG)]
    assert [one.flags for one in read_results(path, Any)] == [(FLAG,)]
    assert [one.flags for one in read_results(path, Person)] == [(FLAG,)]
    assert [one.flags for one in read_results(path, Plain)] == [()]
    with write_table(path, tmp_path / "out.csv").open(newline="") as file:
        header, row = csv.reader(file)
    assert header == ["id", "value.name", "value.age", "flags"]
    assert row == ["0", "Ana", "131", "age: unlikely age"]


def test_merged_answers_are_checked() -> None:
    """A long document has the flags of its merged value."""
    model = ScriptedModel(lambda prompt: '{"ages": [131]}' if "131" in prompt else '{"ages": [5]}')
    output_type = create_model("Ages", ages=(Annotated[list[Age], Check(lambda ages: len(ages) < 2, "many")], ...))
    document = "\n\n".join(f"Somebody is {age} years old, and lives here." for age in (131, 5))
    result = Extractor(output_type, model=model, chunking=Chunking(tokens=60)).result(document)
    assert result.value.ages == [131, 5]
    assert [*map(str, result.flags)] == ["ages[0]: unlikely age", "ages: many"]


def test_an_evaluation_says_how_often_flagged_values_are_wrong() -> None:
    """Of two that are flagged, one is wrong."""
    model = ScriptedModel(lambda prompt: f'{{"name": "{"Ana" if "131" in prompt else "Tom"}", "age": 131}}')
    gold = [("Ana is 131.", {"name": "Ana", "age": 131}), ("Tom is 22.", {"name": "Tom", "age": 22})]
    evaluation = evaluate(Extractor(Person, model=model), gold)
    assert evaluation.figures["flagged_wrong"].value == 0.5
    assert "flagged values wrong" in str(evaluation)
    assert "flagged_wrong" not in evaluate([Plain(name="Ana", age=131)], gold[:1]).figures
    raising = create_model("Raising", name=(Annotated[str, Check(lambda _: 1 / 0, "a broken check")], ...))
    named = ScriptedModel('{"name": "Ana"}')
    assert "flagged_wrong" not in evaluate(Extractor(raising, model=named), [("Ana.", {"name": "Ana"})]).figures


PEOPLE = """
from typing import Annotated

from pydantic import BaseModel
from structured.output_types import Check


class Person(BaseModel):
    name: str
    age: Annotated[int, Check(lambda age: age < 40, "unlikely age")]
"""


@pytest.mark.filterwarnings("ignore::structured.errors.PackagedModelWarning")
def test_the_command_line_lists_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the line of the document, and on stderr; the exit code is that of success."""
    (tmp_path / "people.py").write_text(PEOPLE)
    (tmp_path / "ana.txt").write_text("Ana Brandt is 41 years old.")
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(commands.app, ["extract", "people.py:Person", "ana.txt"])
    assert told.exit_code == 0
    assert json.loads(told.stdout)["flags"] == [asdict(Flag("age", 41, "unlikely age"))]
    assert "ana.txt: age: unlikely age" in told.stderr


@pytest.mark.thorough
def test_the_review_page_shows_flags(tmp_path: Path) -> None:
    """Below its value, or above the values if it is of a whole."""
    output_type = Annotated[Person, Check(lambda one: one.name != "Ana", "not Ana again")]
    result = Extractor[Any](output_type, model=OLD).result("Ana is 131.")
    with open_browser(tmp_path) as browser:
        browser.open(report(result, tmp_path / "review.html"))
        shown = browser.run("return byId('values').textContent")
        assert shown.startswith("⚑ (answer): not Ana again")
        assert "⚑ unlikely age" in shown
        assert "2 flags" in browser.run("return byId('rows').textContent")


# Random types: a reference that reads the instance as plainly as it can.

LIMIT = 50
SMALL = Check(lambda value: value < LIMIT, "large")
SHORT = Check(lambda value: len(value) < 2, "long")
FRAGILE = Check(lambda value: value.nothing, "fragile")


@dataclass(frozen=True)
class Drawn:
    """A type, a strategy of its values as JSON, and the places of its checks, found by hand."""

    type: Any
    values: st.SearchStrategy[Any]
    expected: Callable[[Any, str], Iterator[tuple[str, str]]]


def checked(drawn: Drawn, check: Check, fails: Callable[[Any], bool]) -> Drawn:
    """Return a type with a check, which its instances fail by a predicate."""

    def expected(value: Any, path: str) -> Iterator[tuple[str, str]]:
        yield from drawn.expected(value, path)
        if fails(value):
            yield path, check.message

    return Drawn(Annotated[drawn.type, check], drawn.values, expected)


def nothing(_: Any, __: str) -> Iterator[tuple[str, str]]:
    yield from ()


LEAVES = [
    Drawn(int, st.integers(0, 100), nothing),
    Drawn(str, st.sampled_from(["", "a", "bb", "ccc"]), nothing),
    Drawn(bool, st.booleans(), nothing),
]
NUMBER = checked(LEAVES[0], SMALL, lambda value: value >= LIMIT)
TEXT = checked(LEAVES[1], SHORT, lambda value: len(value) > 1)


def listed(item: Drawn) -> Drawn:
    def expected(value: Any, path: str) -> Iterator[tuple[str, str]]:
        for index, one in enumerate(value):
            yield from item.expected(one, f"{path}[{index}]")

    return Drawn(
        list[item.type],  # type: ignore[name-defined]
        st.lists(item.values, max_size=3),
        expected,
    )


def mapped(item: Drawn) -> Drawn:
    def expected(value: Any, path: str) -> Iterator[tuple[str, str]]:
        for name, one in value.items():
            yield from item.expected(one, f"{path}.{name}".lstrip("."))

    return Drawn(
        dict[str, item.type],  # type: ignore[name-defined]
        st.dictionaries(st.sampled_from("xyz"), item.values),
        expected,
    )


def optional(item: Drawn) -> Drawn:
    def expected(value: Any, path: str) -> Iterator[tuple[str, str]]:
        if value is not None:
            yield from item.expected(value, path)

    return Drawn(item.type | None, st.none() | item.values, expected)


def either(item: Drawn, kind: str) -> Drawn:
    """A union with a class that nothing else is."""
    other = record([NUMBER], kind)

    def expected(value: Any, path: str) -> Iterator[tuple[str, str]]:
        tagged = (value.get("tag") if isinstance(value, dict) else getattr(value, "tag", "")) == "other"
        yield from (other if tagged else item).expected(value, path)

    values = other.values.map(lambda data: {**data, "tag": "other"})
    return Drawn(item.type | other.type, item.values | values, expected)


def record(members: list[Drawn], kind: str) -> Drawn:
    names = [f"m{index}" for index in range(len(members))]
    types = {name: member.type for name, member in zip(names, members, strict=True)}
    made: Any
    if kind == "model":
        fields: Any = {"tag": (str, "none"), **{name: (one, ...) for name, one in types.items()}}
        made = create_model("Made", **fields)
    elif kind == "dataclass":
        made = dataclass(type("Made", (), {"__annotations__": {**types, "tag": str}, "tag": "none"}))
    else:
        made = TypedDict("Made", {**types, "tag": NotRequired[str]})  # type: ignore[misc, no-redef]

    def expected(value: Any, path: str) -> Iterator[tuple[str, str]]:
        for name, member in zip(names, members, strict=True):
            one = value[name] if isinstance(value, dict) else getattr(value, name)
            yield from member.expected(one, f"{path}.{name}".lstrip("."))

    values = {name: member.values for name, member in zip(names, members, strict=True)}
    return Drawn(made, st.fixed_dictionaries(values), expected)


KINDS = st.sampled_from(["model", "dataclass", "TypedDict"])


def larger(inner: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    records = st.builds(record, st.lists(inner, min_size=1, max_size=3), KINDS)
    return st.one_of(
        inner.map(listed),
        inner.map(mapped),
        inner.map(optional),
        st.builds(either, st.sampled_from([*LEAVES, NUMBER, TEXT]) | inner.map(listed), KINDS),
        records,
        records.map(lambda drawn: checked(drawn, FRAGILE, lambda _: True)),
        inner.map(listed).map(lambda drawn: checked(drawn, SHORT, lambda value: len(value) > 1)),
    )


@settings(max_examples=examples(150), deadline=None)
@given(drawn=st.recursive(st.sampled_from([*LEAVES, NUMBER, TEXT]), larger, max_leaves=6), data=st.data())
def test_flags_are_those_of_a_plain_walk(drawn: Drawn, data: st.DataObject) -> None:
    """Of random types with checks anywhere, and random values of them."""
    value = TypeAdapter(drawn.type).validate_json(json.dumps(data.draw(drawn.values)))
    found = [(flag.path, flag.message) for flag in flags_of(Annotation.of(drawn.type), value)]
    assert found == list(drawn.expected(value, ""))
