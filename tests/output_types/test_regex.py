"""Regular expressions and choices as output types: sampled, read, converted, stored, compared and shown."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from doubles import ByteTokenizer, random_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from python_patterns import PATTERNS

from structured import (
    Choice,
    Extractor,
    Grammar,
    Json,
    Regex,
    Samples,
    classify,
    evaluate,
    extract,
    inspect_type,
    read_results,
    report,
    structured,
    to_regex,
    write_results,
    write_table,
)
from structured.automata.byte_automaton import accepts_text
from structured.errors import GenerationError, PatternError, SchemaError
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import FunctionModel, ScriptedModel
from structured.output_types.output_type import OutputType
from structured.output_types.report_view import report_to_dict, shown_cost
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()

pytestmark = pytest.mark.filterwarnings("ignore::structured.errors.BudgetWarning")


def uniform(seed: int) -> FunctionModel:
    return FunctionModel(random_logits(len(TOKENIZER.tokens), scale=2.0, seed=seed), TOKENIZER)


# Reading


class Day(NamedTuple):
    day: str
    month: str | None


@dataclass
class Point:
    x: str
    y: str


class Bounded(BaseModel):
    n: int


def test_what_a_text_is_read_as() -> None:
    """A text, a converted one, or what is made of the named groups."""
    assert Regex(r"\d{4}").parse("2024") == "2024"
    assert Regex(r"\d{4}", int).parse("2024") == 2024
    assert Regex(r"(?P<day>\d+)\.(?:(?P<month>\d+)\.)?", groups=Day).parse("24.") == Day("24", None)
    assert Regex(r"(?P<x>\d),(?P<y>\d)", groups=Point).parse("1,2") == Point("1", "2")
    assert Regex(r"(?P<n>\d+)", groups=Bounded).parse("12") == Bounded(n=12)
    assert Regex(re.compile("A+", re.IGNORECASE)).parse("aA") == "aA"
    assert Regex("a b", flags=re.VERBOSE).parse("ab") == "ab"
    assert Regex(r"[[:digit:]]+", dialect="rust").parse("12") == "12"
    assert Regex(r"(?<year>\d+)", dialect="ecma").parse("12") == "12"


@pytest.mark.parametrize("text", ["", "123", "12345", "2024\n", " 2024", "20a4"])
def test_what_is_not_matched_as_a_whole_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is not matched by"):
        Regex(r"\d{4}").parse(text)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Regex(3), "Give a regular expression"),  # type: ignore[call-overload]
        (lambda: Regex("a", int, groups=dict), "Give one of them"),  # type: ignore[call-overload]
        (lambda: Regex(re.compile("a"), flags=re.IGNORECASE), "Give them to re.compile"),
        (lambda: Regex("a", dialect="rust", flags=re.IGNORECASE), "Python's dialect"),
        (lambda: Regex(re.compile(b"a")), "Give a regular expression"),  # type: ignore[arg-type]
        (lambda: Regex("a", flags=re.LOCALE), "LOCALE"),
    ],
)
def test_arguments_that_do_not_fit_together_are_refused(make: Callable[[], object], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        make()


def test_an_expression_that_matches_nothing_or_needs_too_much_is_refused() -> None:
    with pytest.raises(PatternError, match="No text matches"):
        Extractor(Regex("a^b"), model=uniform(0))
    with pytest.raises(PatternError, match="no group has a name"):
        Regex("(a)", groups=dict)
    with pytest.raises(PatternError, match=r"needs more than|takes more than"):
        _ = Regex(r"(?:a|b)*a(?:a|b){18}(?!c)a").pattern


ASSERTIONS = st.sampled_from(
    ["^", "$", r"\A", r"\Z", r"\b", r"\B", "(?!b)", "(?=a)", "(?<!a)", "(?<=b)", "(?!)", "(?:)"]
)

NULLABLE = st.sampled_from(["(?>a?)", "b?+", "a*+", "(?:a|$)", "(?:^|b)", "(?m:^)", "(?m:$)"])

READING = st.sampled_from(["a", "b", "[ab]+", "a{2}", r"\n", "."])

MOSTLY_ASSERTIONS = st.lists(
    st.lists(ASSERTIONS | NULLABLE | READING, max_size=3).map("".join), min_size=1, max_size=3
).map("|".join)
"""Alternatives, some of which read nothing."""

SHORT_TEXTS = ["".join(text) for size in range(5) for text in product("ab\n", repeat=size)]


def agrees_with_re(regex: str) -> None:
    expected = {text for text in SHORT_TEXTS if re.fullmatch(regex, text)}
    try:
        automaton = Regex(regex).automaton()
    except PatternError:
        assert not expected, regex
    else:
        assert {text for text in SHORT_TEXTS if accepts_text(automaton, text)} == expected, regex


@pytest.mark.parametrize(
    "regex",
    [
        r"^$|^[a-z]+$", r"a|$", r"^", r"^$", r"(a|$)", r"(?:^|a)", r"\Z|\d{4}", r"(?!x)|a", r"(?!x)", r"(?>\r?)",
        r"Σ?+", r"(?>b?+)",
    ],
)  # fmt: skip
def test_an_alternative_of_assertions_alone_is_the_empty_text(regex: str) -> None:
    agrees_with_re(regex)


@settings(max_examples=examples(80), deadline=None)
@given(regex=MOSTLY_ASSERTIONS)
def test_alternatives_of_assertions_are_as_re_matches_them(regex: str) -> None:
    agrees_with_re(regex)


def test_the_text_of_a_value_is_found_where_it_can_be() -> None:
    """As an example shows it."""
    assert Regex(r"\d{4}", int).write(2024) == Regex(r"\d{4}", int).write("2024") == "2024"
    for wrong in (20240, "x", None):
        with pytest.raises(ValueError, match="not matched"):
            Regex(r"\d{4}", int).write(wrong)
    with pytest.raises(ValueError, match="the text between"):
        Regex(r"(?P<x>a)", groups=dict).write({"x": "a"})


def test_a_repr_says_what_was_given() -> None:
    assert repr(Regex(r"\d", int)) == r"Regex('\\d', int)"
    assert (
        repr(Regex(r"(?P<x>a)", groups=dict, flags=re.IGNORECASE))
        == "Regex('(?P<x>a)', groups=dict, flags=re.IGNORECASE)"
    )
    assert repr(Regex("a", dialect="rust")) == "Regex('a', dialect='rust')"
    assert repr(Choice(list("abcde"))) == "Choice(['a', 'b', 'c', … 2 more])"
    assert Regex("a" * 100).name == f"Regex('{'a' * 60}…')"


# Choices


class Colour(Enum):
    RED = "red"
    BLUE = 2


def later() -> None: ...


def now() -> None: ...


def named(value: object) -> str | None:
    """Return what a test is called by an output type; other values, such as functions, have numbers."""
    return repr(value) if isinstance(value, OutputType) else None


@pytest.mark.parametrize(
    ("choice", "values"),
    [
        (Choice(["a", "ab", "abc"]), {"a": "a", "ab": "ab", "abc": "abc"}),
        (Choice({"yes": True, "no": False}), {"yes": True, "no": False}),
        (Choice(Colour), {"red": Colour.RED, "BLUE": Colour.BLUE}),
        (Choice([now, later, int]), {"now": now, "later": later, "int": int}),
        (Choice([1, 2.5]), {"1": 1, "2.5": 2.5}),
        (Choice(Literal["x", "y"]), {"x": "x", "y": "y"}),
        (Choice({"one": [1], "two": [2]}), {"one": [1], "two": [2]}),
        (Choice(["only"]), {"only": "only"}),
    ],
    ids=named,
)
def test_each_choice_goes_by_its_text(choice: Choice[Any], values: dict[str, Any]) -> None:
    assert dict(choice.options) == values
    automaton = choice.automaton()
    for text, value in values.items():
        assert accepts_text(automaton, text)
        assert choice.parse(text) == value
        assert choice.write(value) == choice.write(text) == text
        assert extract(choice, "x", model=ScriptedModel(text)) == value
    assert not accepts_text(automaton, "other")
    for other in ("other", object(), [3], 7):
        with pytest.raises(ValueError, match="none of the choices"):
            choice.write(other)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "nothing to choose from"),
        ({}, "nothing to choose from"),
        (["a", "b", "a"], "'a' appears twice"),
        ([1, "1"], "'1' appears twice"),
        ("ab", "no list of choices"),
        (3, "no list of choices"),
        ([object()], "has no text"),
        ([lambda: None], "has no text"),
        ({1: "a"}, "is no text"),
        (["\ud800"], "lone surrogate"),
    ],
)
def test_choices_that_are_none_are_refused(options: Any, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        Choice(options)


def test_there_may_be_very_many_choices() -> None:
    """The prompt shows the first ones, and says how many there are."""
    many = Choice([f"option {number}" for number in range(100_000)])
    assert extract(many, "x", model=ScriptedModel("option 77777")) == "option 77777"
    assert re.search(r"\n… and [\d,]+ more$", many.describe().text)
    assert len(many.describe().text) < 5_000


def test_choices_are_classified() -> None:
    """One may be the beginning of another."""
    found = classify(Choice({"yes": True, "yes and no": None, "no": False}), "Is it?", model=uniform(1))
    assert set(found.probabilities) == {True, None, False}
    assert sum(found.probabilities.values()) == pytest.approx(1)
    assert set(classify(Choice([now, later]), "When?", model=uniform(2)).probabilities) == {now, later}


# In calls

TYPES: list[tuple[OutputType[Any], str, Any]] = [
    (Regex(r"19[0-9]{2}"), "1987", "1987"),
    (Regex(r"19[0-9]{2}", int), "1987", 1987),
    (Regex(r"(?P<y>[0-9]{4})", groups=dict), "1987", {"y": "1987"}),
    (Regex("a?"), "", ""),
    (Choice(["yes", "no"]), "no", "no"),
    (Choice({"yes": True, "no": False}), "no", False),
    (Choice(Colour), "BLUE", Colour.BLUE),
    (Choice([now, later]), "later", later),
    (Choice({"": None, "x": 1}), "", None),
]


@pytest.mark.parametrize(("output_type", "text", "value"), TYPES, ids=named)
def test_a_value_comes_back_from_a_file(output_type: OutputType[Any], text: str, value: Any, tmp_path: Path) -> None:
    """As it was; and it goes into a table, a report and an evaluation."""
    model = ScriptedModel(text)
    path = tmp_path / "results.jsonl"
    for before in (0, 2):
        written = write_results(output_type, ["in 1987, no", "b"], path, model=model, max_tokens=20)
        assert (written.done, written.before) == (2 - before, before)
    assert [one.value for one in read_results(path, output_type)] == [value, value]
    shown = [json.loads(line)["value"] for line in path.read_text().splitlines()]
    assert "0x" not in str(shown)
    assert [one.value for one in read_results(path, Any)] == shown
    assert write_table(path, tmp_path / "table.csv").read_text().count("\n") == 3
    report(read_results(path, output_type), tmp_path / "page.html")
    extractor = Extractor(output_type, model=model, max_tokens=20)
    for gold in (value, text):
        evaluation = evaluate(extractor, [("in 1987", gold)])
        assert evaluation.figures["f1"].value in {1.0, None} or value in {"", None}
    with pytest.raises(ValueError, match="no "):
        evaluate(extractor, [("in 1987", "neither of them")])


def test_a_function_returns_what_its_annotation_is_read_as() -> None:
    """Type checkers see the type that is annotated, and the model the expression."""

    @structured(model=ScriptedModel("1987"))
    def year(text: str) -> Annotated[int, Regex(r"19\d\d", int)]:
        """Find the year of birth: {text}"""
        raise NotImplementedError

    assert year("Born in 1987.") == 1987
    found = Extractor(Annotated[int, Regex(r"19\d\d", int)], model=ScriptedModel("1987")).result("In 1987.")
    assert (found.value, found.evidence[""].span) == (1987, (3, 7))
    with pytest.raises(SchemaError, match="is part of a type"):

        class Person(BaseModel):
            year: Annotated[int, Regex(r"19\d\d", int)]


def test_what_a_converter_rejects_is_asked_again() -> None:
    """A ValueError is a rejection, as of a validator."""

    def even(text: str) -> int:
        if int(text) % 2:
            raise ValueError("odd")
        return int(text)

    assert extract(Regex("[0-9]", even), "x", model=uniform(3), temperature=1.0, seed=1, retries=20) % 2 == 0
    with pytest.raises(GenerationError, match="odd"):
        extract(Regex("[13]", even), "x", model=uniform(3), retries=1)


def test_several_answers_are_voted_on() -> None:
    found = extract(Choice(["a", "b"]), "x", model=uniform(5), search=Samples(5), temperature=1.0)
    assert found in {"a", "b"}


SAMPLED = [written for written in PATTERNS[::7] if written not in {r"\B$", r"foo\B"}]  # which no text matches


@pytest.mark.thorough
@pytest.mark.parametrize("written", SAMPLED, ids=repr)
def test_what_random_logits_write_is_matched_and_ends(written: str | tuple[str, int]) -> None:
    """Within the budget, whatever the model prefers."""
    regex, flags = (written, 0) if isinstance(written, str) else written
    for seed in range(3):
        text = extract(Regex(regex, flags=flags), "x", model=uniform(seed), temperature=1.0, seed=seed, max_tokens=60)
        assert re.fullmatch(regex, text, flags) is not None


# The literature

YEAR = r"\s*19[0-9]{2}"
IPV4 = r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)"
URL = r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?"


@pytest.mark.parametrize(
    ("output_type", "answer"),
    [
        (Regex(YEAR), " 1902"),
        (Regex(IPV4), "8.8.8.8"),
        (Regex(URL), "https://www.python.org/downloads"),
        (Choice(["yes", "no", "never", "always"]), "never"),
    ],
)
def test_examples_of_the_blog_post(output_type: OutputType[str], answer: str) -> None:
    assert extract(output_type, "What is it?", model=ScriptedModel(answer)) == answer
    for seed in range(3):
        found = extract(output_type, "What is it?", model=uniform(seed), temperature=1.0, seed=seed, max_tokens=40)
        assert output_type.parse(found) == found


class Toy:
    """The vocabulary of Example 1 of Willard & Louf: A, ., 42, .2 and 1."""

    tokens = ("A", ".", "42", ".2", "1")
    end_token_ids = (5,)

    def encode(self, text: str) -> list[int]:
        return [self.tokens.index(character) for character in text]


class _ToyTokenizer(Toy):
    tokens: Any = (*(token.encode() for token in Toy.tokens), None)


def test_floats_over_the_toy_vocabulary_have_the_states_and_tokens_of_the_paper() -> None:
    r"""Example 1: `([0-9]*)?\.?[0-9]*` over A, ., 42, .2, 1.

    At first all but A are allowed; after `.2` only digits are, which are 42 and 1; after 1 all but A are again.
    """
    output_type = Regex(r"([0-9]*)?\.?[0-9]*")
    vocabulary = Vocabulary.from_tokenizer(_ToyTokenizer())
    index = Index(output_type.automaton(), vocabulary)

    def allowed(text: str) -> set[str]:
        state = index.automaton.start
        for byte in text.encode():
            state = index.automaton.step(state, byte)
        mask = unpack(index.mask(state), len(vocabulary.tokens))
        return {Toy.tokens[token_id] for token_id in range(5) if mask[token_id]}

    assert allowed("") == {".", "42", ".2", "1"}
    assert allowed(".2") == {"42", "1"}
    assert allowed("1") == {".", "42", ".2", "1"}
    assert allowed(".") == {"42", "1"}


# Shown


def test_a_report_counts_the_answers_and_names_hazards() -> None:
    found = inspect_type(Regex(r"\d{2}", int))
    assert found.answers is not None
    assert (found.fields[0].status, found.fields[0].validators) == ("checked", ("int",))
    assert [hazard.kind for hazard in found.hazards] == ["digits"]
    assert found.answers.shortest == "00"
    endless = inspect_type(Regex("a*"))
    assert [hazard.kind for hazard in endless.hazards] == ["text", "nothing"]
    assert endless.cost is not None
    assert (endless.answers, endless.cost.longest) is not None
    few = inspect_type(Choice(["yes", "no"]))
    assert few.answers is not None
    assert (few.answers.count, few.answers.is_limited, few.answers.shortest, few.answers.longest) == (
        2,
        True,
        "no",
        "yes",
    )
    assert report_to_dict(few)["answers"] == {"count": 2, "is_limited": True, "shortest": "no", "longest": "yes"}
    assert "There are 2 answers." in few._repr_html_()


def test_a_limit_that_is_not_known_is_not_denied() -> None:
    """Of an automaton that is too large to be visited, only the shortest answer is shown."""
    assert shown_cost(inspect_type(Regex("a{6000}"))) == "An answer takes 6,000 bytes or more."
    assert ", without a limit. The shortest: ''. The automaton has 1 state." in shown_cost(inspect_type(Regex("a*")))


def test_a_count_is_that_of_the_texts() -> None:
    """Of the finite patterns of which all texts can be listed."""
    digits = [f"{number}" for number in range(1000)]
    for regex in (r"[0-9]{1,2}", r"(?:a|b)?c{0,2}", r"1?[0-9](?!9)[0-9]"):
        found = inspect_type(Regex(regex)).answers
        assert found is not None
        letters = ["", *"abc", *(a + b for a in "abc" for b in "abc"), *(a + b + "c" for a in "ab" for b in "c")]
        padded = {
            *digits,
            *(f"{number:02}" for number in range(100)),
            *(f"{number:03}" for number in range(1000)),
            *letters,
        }
        assert found.count == sum(re.fullmatch(regex, text) is not None for text in padded)


@pytest.mark.parametrize(
    ("output_type", "yes", "no"),
    [
        (Regex(r"\bx(?=y)y+"), ["xy", "xyy"], ["x", "xyz"]),
        (Regex("a|b", flags=re.IGNORECASE), ["A", "b"], ["ab", ""]),
        (Regex("[0-9]+", dialect="rust"), ["12"], ["", "x"]),
        (Choice(["a.", "b"]), ["a.", "b"], ["ab", "ax"]),
        ("Q: " + Json(list[bool]), ["Q: [true]"], ["[true]"]),
    ],
)
def test_the_expression_of_other_types(output_type: OutputType[Any], yes: list[str], no: list[str]) -> None:
    expression = re.compile(to_regex(output_type))
    assert all(map(expression.fullmatch, yes))
    assert not any(map(expression.fullmatch, no))


def test_an_expression_that_would_not_be_exact_is_refused() -> None:
    with pytest.raises(SchemaError, match="refer to each other"):
        to_regex(Grammar.from_gbnf('root ::= "(" root ")" | "x"'))
    with pytest.raises(SchemaError, match="has no JSON Schema to print"):
        to_regex(Grammar('start: "x" start?'))
