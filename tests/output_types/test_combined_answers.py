"""Combined output types downstream: streams, files, votes, evidence, reports, caches and functions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from structured import (
    Choice,
    Extractor,
    Grammar,
    Json,
    Regex,
    Repeat,
    Samples,
    Text,
    classify,
    evaluate,
    extract,
    inspect_type,
    read_results,
    report,
    structured,
    template,
    write_results,
    write_table,
)
from structured.errors import PromptError
from structured.models import ScriptedModel
from structured.output_types.output_type import OutputType


class Person(BaseModel):
    name: str
    age: int


SUMS = Grammar('start: NUMBER ("+" NUMBER)*\n%import common.INT -> NUMBER\n')

CASES: list[tuple[OutputType[Any], str, Any]] = [
    ("Answer: " + Choice(["yes", "no"]), "Answer: yes", "yes"),
    (Regex("[a-z]+") + ", " + Regex("[0-9]+"), "ab, 12", ("ab", "12")),
    (Repeat(Regex("[0-9]+")), "1, 2", ["1", "2"]),
    (Choice(["none"]) | Json(Person), '{"name": "Ana", "age": 3}', Person(name="Ana", age=3)),
    (template("{name}: {age}", name=Regex("[A-Z]+"), age=int), "ANA: 3", {"name": "ANA", "age": 3}),
    (template("{name}: {age}", name=Text(stop=";"), age=int, result=Person), "Ana;: 3", Person(name="Ana", age=3)),
    (Repeat("= " + SUMS, separator="; "), "= 1+2; = 3", ["1+2", "3"]),
    (Json(Person) - Text(contains="admin"), '{"name": "Ana", "age": 3}', Person(name="Ana", age=3)),
    (Text(stop="\n", words=(1, 3)), "two words\n", "two words"),
]


@pytest.mark.parametrize("depth", [0, 1, 12])
def test_an_answer_is_converted_once(depth: int) -> None:
    """However many alternatives it stands within."""
    converted = []

    def convert(text: str) -> str:
        converted.append(text)
        return text

    output_type: OutputType[Any] = Regex("x+", convert) | "b"
    for _ in range(depth):
        output_type = template("({inner})", inner=output_type, result=lambda inner: inner) | "b"
    assert output_type.parse("(" * depth + "xx" + ")" * depth) == "xx"
    assert converted == ["xx"]


@pytest.mark.parametrize(("output_type", "text", "value"), CASES)
def test_a_value_comes_back_from_a_file(output_type: OutputType[Any], text: str, value: Any, tmp_path: Path) -> None:
    """As it was; and it goes into a table, a report, an evaluation."""
    model = ScriptedModel(text)
    path = tmp_path / "a.jsonl"
    for before in (0, 2):
        written = write_results(output_type, ["Ana is 3", "b"], path, model=model)
        assert (written.done, written.before) == (2 - before, before)
    assert [one.value for one in read_results(path, output_type)] == [value, value]
    assert write_table(path, tmp_path / "table.csv").read_text().count("\n") >= 3
    assert "0x" not in str([json.loads(line)["value"] for line in path.read_text().splitlines()])
    report(read_results(path, output_type), tmp_path / "page.html")
    assert evaluate(Extractor(output_type, model=model), [("Ana is 3", value)]).figures["f1"].value == 1.0


@pytest.mark.parametrize(("output_type", "text", "value"), CASES)
def test_an_answer_is_streamed_voted_on_and_inspected(output_type: OutputType[Any], text: str, value: Any) -> None:
    stream = Extractor(output_type, model=ScriptedModel(text)).stream("Ana is 3")
    for _ in stream:
        pass
    assert stream.result().value == value
    assert stream.generation.text == text
    options: Any = {"search": Samples(3, vote=True), "temperature": 1.0}
    assert extract(output_type, "Ana is 3", model=ScriptedModel(text), **options) == value
    assert inspect_type(output_type).refusals == ()


def test_places_are_voted_on_one_by_one() -> None:
    """The values of most samples may stand together in none of them."""
    answers = iter(["ab, 1", "ab, 2", "cd, 2"])
    wanted = template("{word}, {digit}", word=Regex("[a-z]+"), digit=Regex("[0-9]"))
    options: Any = {"search": Samples(3, vote=True), "temperature": 1.0}
    found = extract(wanted, "…", model=ScriptedModel(lambda _: next(answers)), **options)
    assert found == {"word": "ab", "digit": "2"}


def test_each_value_has_evidence_of_its_own() -> None:
    """Where it stands in the document, and how sure the model was of it."""
    wanted = template(
        "{kind}: {people}",
        kind=Choice(["guests", "hosts"]),
        people=Repeat(Json(Person) | Regex("[A-Z][a-z]+") + "!", separator=" & "),
    )
    text = 'guests: {"name": "Ana", "age": 31} & Bo!'
    answer = Extractor(wanted, model=ScriptedModel(text)).result("Ana, 31, and Bo came.")
    places = {path: (one.match, one.span) for path, one in answer.evidence.items()}
    assert places == {
        "kind": ("concluded", None),
        "people[0].name": ("exact", (0, 3)),
        "people[0].age": ("exact", (5, 7)),
        "people[1]": ("exact", (13, 15)),
    }
    assert answer.data == {"kind": "guests", "people": [{"name": "Ana", "age": 31}, "Bo"]}
    single = Extractor("It is " + Regex("[a-z]+"), model=ScriptedModel("It is red")).result("It was red.")
    assert single.evidence[""].span == (7, 10)


def test_values_are_classified() -> None:
    answers = Choice(["yes", "no"]) + Choice([".", "!"])
    found = classify(answers, "Is the sky blue?", model=flat())
    assert set(found.probabilities) == {("yes", "."), ("yes", "!"), ("no", "."), ("no", "!")}


def flat() -> Any:
    from structured.models import ByteTokenizer

    tokenizer = ByteTokenizer()
    scores = [0.0] * len(tokenizer.tokens)
    return (lambda _: scores), tokenizer


def test_a_function_returns_what_its_annotation_is_read_as() -> None:
    wanted = template("{name}: {age}", name=Regex("[A-Z]+"), age=int)

    @structured(model=ScriptedModel("ANA: 3"))
    def person(text: str) -> Annotated[dict[str, Any], wanted]:
        """Who is it? {text}"""

    assert person("Ana is 3") == {"name": "ANA", "age": 3}


@pytest.mark.parametrize("read", [lambda text: text, len])
def test_examples_are_written_as_they_are_read(read: Callable[[str], Any]) -> None:
    """Where a value tells its text."""
    wanted = Regex("a+", read) + Regex("b")
    if read("aa") == "aa":
        assert '"' not in wanted.write(("aa", "b"))
    else:
        with pytest.raises(ValueError, match="not matched"):
            wanted.write((2, "b"))


class Order(BaseModel):
    count: int
    thing: str


THING = Regex("[a-z]+", str.upper)

CONVERTED = Regex("[0-9]+", int) + " x " + THING


@pytest.mark.parametrize(
    ("wanted", "example", "text"),
    [
        (CONVERTED, "2 x nail", "2 x nail"),
        (CONVERTED, (2, "nail"), "2 x nail"),
        (Repeat(CONVERTED), "2 x nail, 1 x saw", "2 x nail, 1 x saw"),
        (Repeat(CONVERTED), ["2 x nail", (1, "saw")], "2 x nail, 1 x saw"),
        (Repeat(Regex("(?P<day>[0-9]+)[.]", groups=dict)), "1., 2.", "1., 2."),
        (template("{count} {thing}", count=int, thing=THING, result=Order), "2 nail", "2 nail"),
        (template("{count} {thing}", count=int, thing=THING, result=Order), {"count": 2, "thing": "nail"}, "2 nail"),
        (template("{count} {thing}", count=int, thing=Regex("[a-z]+"), result=Order), Order(count=2, thing="n"), "2 n"),
        (template("{a}", a=int, result=lambda a: a + 1), {"a": 2}, "2"),
        ("none" | template("{a}!", a=int, result=lambda a: a + 1), {"a": 2}, "2!"),
        ("none" | template("{a}!", a=int, result=lambda a: a + 1), "2!", "2!"),
        (CONVERTED & Regex(".{8}"), "2 x nail", "2 x nail"),
        ("b" + Regex("b*"), "b", "bb"),
    ],
)
def test_an_example_may_be_a_text_or_the_parts_where_the_value_does_not_tell_the_text(
    wanted: OutputType[Any], example: object, text: str
) -> None:
    """A value comes before a text that looks like one: `"b"` is the value of `bb`."""
    assert wanted.write(example) == text
    model = ScriptedModel("")
    assert text in str(Extractor(wanted, model=model, examples=[("a document", example)]).prompt("another"))


PLACES = template("{who} {x} {y}", who=Regex("[a-z]+"), x=int, y=int)


@pytest.mark.parametrize(
    ("wanted", "example", "problem"),
    [
        (CONVERTED, 3, "give a tuple of 2 values, or the text itself."),
        (CONVERTED, "3", "it is none of the texts, and no value: give a tuple of 2 values, or the text itself."),
        (
            CONVERTED,
            (2, "NAIL"),
            "'NAIL' is not matched by Regex('[a-z]+'): give the text itself, not what it becomes.",
        ),
        (PLACES, {"who": "bo"}, "there is no value for x, y."),
        (PLACES, {"who": "bo", "x": 1, "y": 2, "z": 3}, "there is no place for z."),
        (PLACES, 3, "give a dictionary of who, x, y, or the text itself."),
        (Repeat(int), 3, "give a list of values, or the text itself."),
        (
            Regex("(?P<a>x)", groups=dict),
            {"a": "x"},
            "groups do not tell the text between them: give the whole text.",
        ),
    ],
)
def test_an_example_of_another_type_is_told_what_to_give(
    wanted: OutputType[Any], example: object, problem: str
) -> None:
    """With the type named once, and one full stop."""
    with pytest.raises(PromptError) as caught:
        Extractor(wanted, model=ScriptedModel(""), examples=[("a document", example)])
    assert str(caught.value).endswith(f"{problem} Correct the example.")
    assert str(caught.value).count(wanted.name) == 1
