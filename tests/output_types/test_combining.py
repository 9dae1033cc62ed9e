"""Combinations of output types: their texts are those of the composed expression, and they are read back from them."""

import itertools
import pickle
import random
import re
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pytest
from brute_force import brute_mask, brute_successors
from combinations import Combined, Opaque, combinations, is_regular, leaves
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from walks import states_on_walks, write

from structured import (
    Choice,
    Extractor,
    Grammar,
    Json,
    JsonSchema,
    Regex,
    Repeat,
    Text,
    extract,
    extract_batch,
    inspect_type,
    template,
)
from structured.automata import DEAD
from structured.automata.byte_automaton import accepts_text
from structured.automata.combination import CombinedAutomaton
from structured.errors import PatternError, SchemaError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import FunctionModel, ScriptedModel
from structured.output_types.output_type import OutputType
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()

SHORT_TEXTS = ["".join(text) for size in range(5) for text in itertools.product("abé,", repeat=size)]

TOKENS = (None, *(text.encode() for text in SHORT_TEXTS if text), b"b ", b"\xc3", b"\xa9", b" ", b"a,")
VOCABULARY = Vocabulary(TOKENS, frozenset([0]))

NUMBERS = Grammar('start: NUMBER ("+" NUMBER)*\n%import common.INT -> NUMBER\n')


def scripted(answer: str) -> ScriptedModel:
    return ScriptedModel(answer)


# The laws


@settings(max_examples=60, deadline=None)
@given(combinations())
def test_texts_are_those_of_the_composed_expression(combined: Combined) -> None:
    """Each short text is one if and only if `re` matches it as a whole; what is one is read without an error."""
    automaton = combined.type.automaton()
    for text in SHORT_TEXTS:
        expected = re.fullmatch(combined.expression, text) is not None
        assert accepts_text(automaton, text) == expected, text
        if expected:
            combined.type.parse(text)


@settings(max_examples=60, deadline=None)
@given(st.lists(leaves(), min_size=2, max_size=4), st.lists(st.sampled_from(["", "a", ","]), min_size=3, max_size=3))
def test_parts_take_what_greedy_groups_take(parts: list[Combined], between: list[str]) -> None:
    """Of several ways to split a text, that in which each part, from the first on, is as long as it can be."""
    whole: Any = parts[0].type
    for text, part in zip(between, parts[1:], strict=False):
        whole = whole + text + part.type
    automaton = whole.automaton()
    for text in SHORT_TEXTS:
        if accepts_text(automaton, text):
            assert whole.parse(text) == _longest(parts, between, text)


def _longest(parts: list[Combined], between: list[str], text: str) -> tuple[str, ...]:
    """Return the texts of parts, the first as long as it can be, and so on: tried from the longest down."""
    first, *others = parts
    if not others:
        return (text,)
    rest = "".join(re.escape(fixed) + part.expression for fixed, part in zip(between, others, strict=False))
    for end in range(len(text), -1, -1):
        if re.fullmatch(first.expression, text[:end]) and re.fullmatch(rest, text[end:]):
            return (text[:end], *_longest(others, between[1:], text[end + len(between[0]) :]))
    raise AssertionError(text)


def test_groups_of_re_take_the_same() -> None:
    """Where greedy quantifiers alone tell how a text is split."""
    parts = Regex("a*") + Regex("[ab]*") + "b" + Regex("[ab]+")
    for text in SHORT_TEXTS:
        match = re.fullmatch("(a*)([ab]*)b([ab]+)", text)
        if match is not None:
            assert parts.parse(text) == match.groups()


@settings(max_examples=40, deadline=None)
@given(combinations())
def test_the_general_automaton_equals_that_of_the_pattern(combined: Combined) -> None:
    """State by state: the same bytes go on, and the shortest text to the end is as long."""
    plain = combined.type.automaton()
    general = CombinedAutomaton(plain)
    pairs, seen = [(plain.start, general.start)], set[tuple[int, int]]()
    while pairs and len(seen) < 200:
        one, other = pairs.pop()
        if (one, other) in seen:
            continue
        seen.add((one, other))
        assert plain.distances[one] == general.distances[other]
        assert plain.accepts(one) == general.accepts(other)
        after = [(plain.step(one, byte), general.step(other, byte)) for byte in b"ab,\xc3\xa9 \xff"]
        assert all((left == DEAD) == (right == DEAD) for left, right in after)
        pairs += [pair for pair in after if pair[0] != DEAD]


@settings(max_examples=30, deadline=None)
@given(combinations(), st.integers(0, 1000))
def test_masks_are_those_of_brute_force(combined: Combined, seed: int) -> None:
    index = Index(combined.type.automaton(), VOCABULARY)
    for state in states_on_walks(index, random.Random(seed)):
        expected = brute_mask(index, state, brute_successors(index, state) != DEAD)
        assert np.array_equal(unpack(index.mask(state), VOCABULARY.size), expected)


BYTES = tuple(bytes([byte]) for byte in range(256))

QUOTING = Vocabulary(
    (None, *BYTES, *filter(None, TOKENS[20:]), b'", "', b'["', b'"]', b'{"a": ', b'"}', b'a"'), frozenset([0])
)
"""With all bytes, so that every text can be spelled."""


@pytest.mark.parametrize(
    "wanted",
    [
        Json(list[str]) + '"' + Json(str),
        Repeat(Json(dict[str, str]), separator='"'),
        Regex('[a"]*') + Json(str) | Json(str) + Regex('[ab"]*'),
        '"' + Opaque(Json(str)) + Json(int),
        Json(JsonSchema(True)) - Text(contains="aa"),
        Json(JsonSchema(True)) & Text(contains='a"'),
    ],
    ids=str,
)
def test_strings_of_json_keep_their_masks(wanted: OutputType[Any]) -> None:
    """What is known of strings, that only their length counts, holds beside other parts as well."""
    index = Index(wanted.automaton(), QUOTING)
    for seed in range(6):
        for state in states_on_walks(index, random.Random(seed)):
            expected = brute_mask(index, state, brute_successors(index, state) != DEAD)
            assert np.array_equal(unpack(index.mask(state), QUOTING.size), expected)


@settings(max_examples=60, deadline=None)
@given(combinations(), st.integers(0, 1000), st.integers(0, 3), st.booleans())
def test_never_stuck(combined: Combined, seed: int, spare: int, eager: bool) -> None:
    """With any budget that the shortest text fits into, a guide ends in time, with a text that is read."""
    index = Index(combined.type.automaton(), VOCABULARY)
    tokens = index.shortest_completion(index.automaton.start) + spare
    text = write(Guide(index, max_tokens=tokens), random.Random(seed), eager=eager).decode()
    assert re.fullmatch(combined.expression, text)
    combined.type.parse(text)


@settings(max_examples=40, deadline=None)
@given(combinations(), st.sampled_from([frozenset(b"a"), frozenset(b"b,"), frozenset([0xC3])]))
def test_without_bytes_the_other_texts_are_left(combined: Combined, absent: frozenset[int]) -> None:
    left = combined.type.automaton().without_bytes(absent)
    for text in SHORT_TEXTS:
        if absent.isdisjoint(text.encode()):
            expected = re.fullmatch(combined.expression, text) is not None
            assert (left is not None and accepts_text(left, text)) == expected


@settings(max_examples=40, deadline=None)
@given(combinations())
def test_pickled_types_are_the_same(combined: Combined) -> None:
    """Also after they have been used."""
    text = next((text for text in SHORT_TEXTS if re.fullmatch(combined.expression, text)), None)
    if text is not None:
        expected = combined.type.parse(text)
        twin = pickle.loads(pickle.dumps(combined.type))  # noqa: S301  its own
        assert twin.parse(text) == expected
        assert twin.digest == combined.type.digest
        assert twin.automaton().fingerprint == combined.type.automaton().fingerprint


# Roads


def test_patterns_stay_patterns() -> None:
    """JSON, expressions and choices are combined without the general way; a grammar is not."""
    regular = Repeat(Regex("a+") + ": " + Json(dict[str, int]) | "none")
    assert is_regular(regular.automaton())
    assert not is_regular(("= " + NUMBERS).automaton())
    assert not is_regular((Opaque(Regex("a")) + "b").automaton())


def test_types_that_differ_have_other_fingerprints() -> None:
    """What is learned of one is not used for the other."""
    different = [
        NUMBERS + "a",
        "a" + NUMBERS,
        NUMBERS | Regex("a"),
        *(Repeat(NUMBERS, minimum=low, maximum=high) for low, high in ((0, None), (1, None), (0, 3))),
        Repeat(NUMBERS, separator="; "),
    ]
    assert len({one.automaton().fingerprint for one in different}) == len(different)
    assert len({one.digest for one in different}) == len(different)


# Values


class Person(BaseModel):
    name: str
    age: int


class Pair(NamedTuple):
    left: str
    right: int


@pytest.mark.parametrize(
    ("wanted", "text", "value"),
    [
        ("Answer: " + Choice({"yes": True, "no": False}), "Answer: yes", True),
        (Regex("a+") + ", " + Regex(r"\d+", int), "aa, 12", ("aa", 12)),
        ((Regex("a") + Regex("b")) + ("-" + Regex("c")), "ab-c", ("a", "b", "c")),
        (Regex("a+") + int, "aa12", ("aa", 12)),
        (int + Regex("a+"), "12aa", (12, "aa")),
        (Regex(r"\d+", int) | Regex(r"\w+"), "12", 12),
        (Regex(r"\w+") | Regex(r"\d+", int), "12", "12"),
        (list[int] | Regex("none", lambda _: None), "none", None),
        ("nobody" | Json(Person), '{"name": "Ana", "age": 3}', Person(name="Ana", age=3)),
        (Regex("x") | None, "null", None),
        (Repeat(Literal["a", "b"]), '"a", "b"', ["a", "b"]),
        (Repeat(Regex("a*"), separator="|"), "aa||a", ["aa", "", "a"]),
        (Repeat(Regex("a*")), "", []),
        (Repeat(Regex("[ab]"), minimum=2, maximum=3, separator=""), "aba", ["a", "b", "a"]),
        (Repeat(NUMBERS + "=" + Regex(r"\d+", int), separator="; "), "1+2=3; 4=4", [("1+2", 3), ("4", 4)]),
        (template("{{{a}}}: {b}", a=Regex("a+"), b=float), "{aa}: 1.5", {"a": "aa", "b": 1.5}),
        (template("{left}={right}", result=Pair, left=Regex("a+"), right=int), "aa=1", Pair("aa", 1)),
        (template("{name}, {age}", result=Person, name=Json(str), age=int), '"B", 2', Person(name="B", age=2)),
        (template("{one} {two}", one=template("<{x}>", x=int), two=Regex("a") + "b"), "<1> ab", None),
    ],
)
def test_values_are_read_and_written(wanted: OutputType[Any], text: str, value: object) -> None:
    """What is read is written as the same text, voted on as data that leads back to it, and JSON in a file."""
    found = wanted.parse(text)
    if value is not None or "null" in text or "none" in text:
        assert found == value
    else:
        assert found == {"one": {"x": 1}, "two": "a"}
    assert accepts_text(wanted.automaton(), text)
    assert wanted.from_data(wanted.to_data(text)) == text
    assert extract(wanted, "…", model=scripted(text)) == found
    assert inspect_type(wanted).refusals == ()
    if "none" not in text:  # which is made by a function of one way
        assert wanted.write(found) == text
    Extractor(wanted, model=scripted(text), examples=[("…", found)] if "none" not in text else [])


@pytest.mark.parametrize("text", ["", "Answer: ", "Answer: maybe", "answer: yes", "Answer: yes\n"])
def test_other_texts_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is no text of"):
        ("Answer: " + Choice(["yes", "no"])).parse(text)


def test_an_option_that_rejects_lets_the_next_one_read() -> None:
    """If all do, the first says why."""

    def odd(text: str) -> int:
        if int(text) % 2 == 0:
            raise ValueError("even")
        return int(text)

    assert (Regex(r"\d+", odd) | Regex(r"\d+")).parse("12") == "12"
    with pytest.raises(ValueError, match="even"):
        (Regex(r"\d+", odd) | Regex("a")).parse("12")


def test_grounded_parts_are_those_of_the_document() -> None:
    """Each document has its own texts; what they say is read back where it can be split in one way only."""
    wanted = "Name: " + Json(str, grounded=True) + "."
    assert wanted.depends_on_document
    assert accepts_text(wanted.automaton("Ana and Bo"), 'Name: "Bo".')
    assert not accepts_text(wanted.automaton("Ana and Bo"), 'Name: "Zoe".')
    options = {"model": FunctionModel(random_logits(len(TOKENIZER.tokens), seed=3), TOKENIZER), "max_tokens": 40}
    names = extract_batch(wanted, ["Ana", "Bo"], **options)
    assert names == ["Ana", "Bo"]
    ambiguous = Json(int, grounded=True) + Regex(r"\d*")
    with pytest.raises(ValueError, match="in several ways"):
        ambiguous.parse("12")


# Refusals


@pytest.mark.parametrize(
    ("text", "parts", "position", "problem"),
    [
        ("Name: {name", {"name": int}, 6, "A '{' is unmatched"),
        ("Name: name}", {"name": int}, 10, "A '}' is unmatched"),
        ("Name: {}", {"name": int}, 6, "{} is no name"),
        ("Name: {name:>3}", {"name": int}, 6, "{name:>3} is no name"),
        ("Name: {nam}", {"name": int}, 6, "{nam} has no type"),
        ("{name} {name}", {"name": int}, 7, "{name} appears twice"),
        ("{result}", {}, 0, "{result} has the name of an option"),
        ("Name", {"name": int}, None, "The template has no place for name"),
        ("{{name}}", {}, None, "The template has no places"),
    ],
)
def test_templates_that_are_none_are_refused(
    text: str, parts: dict[str, Any], position: int | None, problem: str
) -> None:
    """With the place."""
    with pytest.raises(PatternError) as caught:
        template(text, **parts)
    assert (caught.value.position, caught.value.problem) == (position, problem)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: template("{name}", name=str), "{name} is str, which is free text"),
        (lambda: Regex("a") + str, "part 2 is str"),
        (lambda: str | Regex("a"), "option 1 is str"),
        (
            lambda: template("{a}", a=Annotated[str, Field(max_length=9)]),
            "{a} is Annotated[str, …], which is free",
        ),
        (lambda: template("{a}", a=str | None), "{a} is str | None, which is free text"),
        (lambda: Repeat(Annotated[str, Field(max_length=9)]), "The item is Annotated[str, …], which is free text"),
        (lambda: template("{a}", a="x"), "{a} is the text 'x', not a type. Pass Choice(['x'])."),
        (lambda: Repeat("a"), "The item is the text 'a', not a type. Pass Choice(['a'])."),
        (lambda: template("{a}", a=["x", "y"]), "If these are choices, pass Choice(...) of them."),
        (lambda: Repeat(3), "3 is a value, not a type"),
        (lambda: Repeat(int, minimum=2, maximum=1), "No count lies between 2 and 1"),
        (lambda: Repeat(int, minimum=-1), "minimum is int -1"),
        (lambda: Repeat(int, maximum=100_000), "maximum is int 100000"),
        (lambda: Repeat(Regex("a*"), separator="").automaton(), "may be empty, and so is the separator"),
        (lambda: Json(Regex("a")), "is no JSON"),
    ],
)
def test_what_cannot_be_combined_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(problem)):
        make()


def test_what_a_part_does_not_support_is_refused_before_a_model_is_loaded() -> None:
    with pytest.raises(SchemaError, match="pattern"):
        Extractor("data: " + Json(JsonSchema({"type": "string", "pattern": r"(a*)\1"})), model="/no/such/model")
    with pytest.raises(PatternError, match="surrogate"):
        _ = "\ud800" + Regex("a")


def test_a_prompt_shows_the_parts() -> None:
    shown = template("{{{name}}} is {age}", name=Regex(r"\w+"), age=int).describe()
    assert shown.text == (
        "{{{name}}} is {age}\n\nname is of this regular expression:\n    \\w+\n\nage is of this type:\n    integer"
    )
    assert Repeat(JsonSchema({"type": "integer"}), maximum=2).describe().text.startswith("0 to 2 items with ', '")


def test_a_prompt_names_choices_in_the_plural() -> None:
    """`option 1 is of this choices` was no English."""
    either = "none" | Regex("[0-9]+")
    told = either.describe().text
    assert "option 1 is one of these choices:\n    none\n\noption 2 is of this regular expression:" in told
    letter = template("{salutation} Bo", salutation=Choice(["Dear", "Hi"]))
    assert "salutation is one of these choices:\n    Dear\n    Hi" in letter.describe().text
    assert "The whole answer must not be one of these choices:" in (Regex("[a-z]+") - Choice(["no"])).describe().text


LIMIT = "Limit the text, with characters=(0, 280) or words=(0, 50)"


@pytest.mark.parametrize(
    ("wanted", "remedy"),
    [
        (Regex("a*"), "Limit what is repeated: {0,100} in place of *."),
        (Text(), f"{LIMIT}, or end it with a stop phrase, such as stop='\\n'."),
        (Text(stop="."), f"{LIMIT}."),
        (Text(stop=".", words=(1, 9)), "Limit the text, with characters=(0, 280)."),
        (Repeat(Choice(["a"])), "Limit the list, with maximum=…."),
        (Repeat(Regex("[a-z]+"), maximum=3), "Limit what is repeated: {0,100} in place of *."),
        (template("{a}{b}", a=Text(stop="."), b=Regex("[0-9]{4}")), f"{LIMIT}."),
        (Regex("a+") & Text(), "Limit what is repeated: {0,100} in place of *."),
        ("x" + Json(list[int]), "Limit the field, with Field(max_length=…)."),
        (NUMBERS, "Nothing but max_tokens limits it."),
    ],
)
def test_a_hazard_is_mended_in_words_of_the_type(wanted: OutputType[Any], remedy: str) -> None:
    """Quantifiers were advised for `Text` and lists."""
    assert [hazard.remedy for hazard in inspect_type(wanted).hazards if hazard.kind == "text"] == [remedy]


class Both(BaseModel):
    b: int


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: template("{a}", a=int, result=lambda b: b), "a by name: missing a required argument: 'b'"),
        (lambda: template("{a} {b}", a=int, b=int, result=lambda a: a), "got an unexpected keyword argument 'b'"),
        (lambda: Regex("(?P<a>x)", groups=lambda b: b), "groups is <lambda>, which is called with a by name"),
    ],
)
def test_a_function_that_takes_other_names_is_refused_when_it_is_passed(make: Any, problem: str) -> None:
    """It was taken for answers that are wrong."""
    with pytest.raises(TypeError, match=re.escape(problem)):
        make()


def test_a_function_whose_names_nobody_knows_is_called() -> None:
    assert template("{a} {b}", a=int, b=int, result=Both).parse("1 2") == Both(b=2)
    assert template("{a} {b}", a=int, b=int, result=lambda **both: both).parse("1 2") == {"a": 1, "b": 2}
    assert template("{a}", a=Annotated[str, Regex("a")]).parse("a") == {"a": "a"}
