"""Products of output types, and free text with rules: exactly the texts that are meant, whatever the automaton."""

import itertools
import random
import re
import time
from typing import Any

import numpy as np
import pytest
from brute_force import brute_mask, brute_successors
from combinations import Combined, combinations, plain_leaves
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from walks import nearest_end, states_on_walks, write

from structured import Choice, Extractor, Grammar, Json, Regex, Result, Text, template
from structured.automata import DEAD, Automaton, RegularAutomaton
from structured.automata.byte_automaton import accepts_text
from structured.automata.product import Product
from structured.errors import PatternError, SchemaError, UnsatisfiableError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import ScriptedModel
from structured.output_types.output_type import OutputType
from structured.vocabulary import Vocabulary

SHORT_TEXTS = ["".join(text) for size in range(6) for text in itertools.product("abé,", repeat=size)]

TOKENS = (None, *(text.encode() for text in SHORT_TEXTS if 0 < len(text) < 4), b"b ", b"\xc3", b"\xa9", b" ", b"x")
VOCABULARY = Vocabulary(TOKENS, frozenset([0]))

NESTED = Grammar('start: e\ne: "(" e ")" | "a" e | "b"\n')


def automaton_or_none(output_type: OutputType[Any]) -> Automaton | None:
    try:
        return output_type.automaton()
    except UnsatisfiableError:
        return None


@settings(max_examples=60, deadline=None)
@given(combinations(), plain_leaves(), st.booleans())
def test_products_are_intersection_and_difference(one: Combined, other: Combined, is_included: bool) -> None:
    """Each short text is of the product if and only if `re` says so of both sides; it is read as the first reads it."""
    product = one.type & other.type if is_included else one.type - other.type
    automaton = automaton_or_none(product)
    for text in SHORT_TEXTS:
        expected = bool(re.fullmatch(one.expression, text))
        expected = expected and bool(re.fullmatch(other.expression, text)) == is_included
        assert (automaton is not None and accepts_text(automaton, text)) == expected, text
        if expected:
            assert product.parse(text) == one.type.parse(text)


@settings(max_examples=40, deadline=None)
@given(combinations(), combinations(), st.integers(0, 1000), st.integers(0, 3))
def test_lazy_products_are_never_stuck(one: Combined, other: Combined, seed: int, spare: int) -> None:
    """Masks are those of brute force, distances those to the nearest end, and a guide ends in time."""
    try:
        product = Product(one.type.automaton(), other.type.automaton())
    except UnsatisfiableError:
        assert not any(
            re.fullmatch(one.expression, text) and re.fullmatch(other.expression, text) for text in SHORT_TEXTS
        )
        return
    index, rng = Index(product, VOCABULARY), random.Random(seed)
    automaton = index.automaton  # without the bytes that the vocabulary lacks
    for state in states_on_walks(index, rng):
        expected = brute_mask(index, state, brute_successors(index, state) != DEAD)
        assert np.array_equal(unpack(index.mask(state), VOCABULARY.size), expected)
        assert automaton.distances[state] == nearest_end(automaton, state)
    tokens = index.shortest_completion(automaton.start) + spare
    text = write(Guide(index, max_tokens=tokens), rng).decode()
    assert re.fullmatch(one.expression, text)
    assert re.fullmatch(other.expression, text)


@pytest.mark.parametrize(
    ("restricted", "text", "value", "wrong"),
    [
        (int & Regex("[0-9]{3}"), "123", 123, "1234"),
        (int - Regex("0"), "7", 7, "0"),
        ("a" & Regex("a+"), "a", "a", "aa"),
        ("a" - Regex("b"), "a", "a", "b"),
    ],
)
def test_what_is_restricted_may_be_a_python_type_or_a_text(
    restricted: OutputType[Any], text: str, value: Any, wrong: str
) -> None:
    """On the left, as on the right of other operators."""
    assert restricted.parse(text) == value
    with pytest.raises(ValueError, match="is no text of"):
        restricted.parse(wrong)


@settings(max_examples=30, deadline=None)
@given(combinations(), plain_leaves(), st.sampled_from([frozenset(b"a"), frozenset(b"b,"), frozenset([0xC3])]))
def test_without_bytes_the_other_texts_are_left(one: Combined, other: Combined, absent: frozenset[int]) -> None:
    """A search for the shortest text goes round the bytes, too."""
    try:
        left = Product(one.type.automaton(), other.type.automaton()).without_bytes(absent)
    except UnsatisfiableError:
        return
    for text in SHORT_TEXTS:
        if absent.isdisjoint(text.encode()):
            expected = bool(re.fullmatch(one.expression, text) and re.fullmatch(other.expression, text))
            assert (left is not None and accepts_text(left, text)) == expected


phrases = st.lists(st.text("abé", min_size=1, max_size=2), max_size=2, unique=True)
ranges = st.sampled_from([(0, None), (0, None), (2, 4), (1, 1), (3, None), (0, 2)])


rules_of_values = st.fixed_dictionaries({"contains": phrases, "lacks": phrases, "characters": ranges, "words": ranges})


@settings(max_examples=150, deadline=None)
@given(rules_of_values, phrases, st.booleans())
def test_rules_of_texts_are_those_of_python(rules: dict[str, Any], stop: list[str], keep_stop: bool) -> None:
    """`in`, `len` and `split` of the value; with stop phrases, the answer ends with the first that is written."""
    if any(one != other and one in other for one in stop for other in stop):
        with pytest.raises(SchemaError, match="is never the first"):
            Text(**rules, stop=stop)
        return
    wanted = Text(**rules, stop=stop, keep_stop=keep_stop)
    automaton = automaton_or_none(wanted)
    for text in (one.replace(",", " ") for one in SHORT_TEXTS):
        value = text if not stop else _before_stop(text, stop)
        expected = (
            value is not None
            and all(phrase in value for phrase in rules["contains"])
            and not any(phrase in value for phrase in rules["lacks"])
            and _within(len(value), rules["characters"])
            and _within(len(value.split()), rules["words"])
        )
        assert (automaton is not None and accepts_text(automaton, text)) == expected, text
        if expected:
            assert wanted.parse(text) == (text if keep_stop else value)
            assert wanted.parse(wanted.write(wanted.parse(text))) == wanted.parse(text)


def _within(count: int, bounds: tuple[int, int | None]) -> bool:
    return bounds[0] <= count and (bounds[1] is None or count <= bounds[1])


def _before_stop(text: str, stop: list[str]) -> str | None:
    """Return what stands before the stop phrase at the end of a text; None if there is none, or one before."""
    if any(phrase in text[:-1] for phrase in stop):
        return None
    return next((text.removesuffix(phrase) for phrase in stop if text.endswith(phrase)), None)


@pytest.mark.parametrize(
    ("wanted", "yes", "no"),
    [
        (NESTED & Regex(".{3,5}"), ["(b)", "aab", "((b))"], ["b", "((ab))"]),
        (NESTED - Text(contains="aa"), ["b", "a(ab)"], ["aab", "(aab)"]),
        (Json(dict[str, int]) - Regex(r".*1.*"), ['{"a": 2}'], ['{"a": 1}', '{"1": 2}']),
        (Json(list[int]) & Regex(r".{4,}"), ["[12]", "[1, 2]"], ["[]", "[1]"]),
        (Regex(r"\w+") - Choice(["no"]) - "never", ["yes", "not"], ["no", "never"]),
        (Text(contains="x", characters=(3_000, 4_000)), ["x" * 3_000], ["x" * 2_999, "a" * 3_000]),
        ("Dear " + Text(stop=",") + Text(stop="\n"), ["Dear Ana, hello\n"], ["Dear Ana\n", "Dear Ana,\n\n"]),
    ],
)
def test_products_of_every_kind(wanted: OutputType[Any], yes: list[str], no: list[str]) -> None:
    """Grammars, JSON, and counts that are too large to be explored."""
    automaton = wanted.automaton()
    assert [accepts_text(automaton, text) for text in yes] == [True] * len(yes)
    assert [accepts_text(automaton, text) for text in no] == [False] * len(no)


def test_patterns_stay_patterns() -> None:
    wanted = Regex("a+") - "aa" & Text(stop="a")
    assert isinstance(wanted.automaton(), RegularAutomaton)
    assert isinstance((Json(int) | wanted + "b").automaton(), RegularAutomaton)


class Person(BaseModel):
    name: str
    age: int


def test_restricted_json_is_extracted_with_evidence() -> None:
    """Its leaves are those of the JSON."""
    wanted = Json(Person) - Regex(r".*secret.*")
    answer = Extractor(wanted, model=ScriptedModel('{"name": "Ana", "age": 31}')).result("Ana is 31.")
    assert isinstance(answer, Result)
    assert answer.value == Person(name="Ana", age=31)
    assert answer.evidence["name"].span == (0, 3)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        ((Regex("a") & "b").automaton, "No text is of Regex('a') and of Choice(['b'])"),
        ((Regex("a+") - Text()).automaton, "No text is of Regex('a+') and not of Text()"),
        (
            lambda: Text(contains="abc", characters=(0, 2)).automaton(),
            "No text is of Text(contains='abc', char",
        ),
        (lambda: Text(contains="x", lacks="x").automaton(), "No text is of Text(contains='x', lacks='x')"),
        ((Choice(["a"]) - Choice(["a"])).automaton, "No text is of Choice(['a']) and not of Choice(['a'])"),
        ((Regex("a") & NESTED).automaton, "Grammar is no regular language, and is the right side of &"),
        ((Regex("a") - NESTED).automaton, "Grammar is no regular language, and is the right side of -"),
        ((Regex("a") - Json(dict[str, int])).automaton, "is JSON, and is the right side of -"),
        (lambda: Text(stop=["ab", "b"]), "The stop phrase 'ab' is never the first: 'b' is within it"),
        (lambda: Text(contains=""), "contains has str ''"),
        (lambda: Text(lacks=[3]), "lacks has int 3"),  # type: ignore[list-item]
        (lambda: Text(words=(3, 2)), "words is tuple (3, 2): 3 is more than 2"),
        (lambda: Text(characters=(10**30, None)), "characters is tuple"),
        (lambda: Text(words=(0, 10**30)), "words is tuple"),
        (lambda: Text(characters=3), "characters is int 3"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_enforced_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(problem)):
        make()


def test_a_search_that_may_not_end_is_given_up() -> None:
    """A grammar of odd lengths and an expression of even ones meet nowhere, and nobody can tell by trying."""
    odd = Grammar('start: e\ne: "(" e ")" | "b"\n')
    with pytest.raises(PatternError, match="was found in 500 steps"):
        Product(odd.automaton(), Regex("(?:..)*").automaton(), max_searched=500)


IMPOSSIBLE = Regex("x") & Regex("y")


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        (template("{a}{b}", a=IMPOSSIBLE, b=Text()), "{a}"),
        (Regex("a") + IMPOSSIBLE, "{part_2}"),
        (template("{a} {b}", a=int, b=template("{c}", c=IMPOSSIBLE)), "{b}: {c}"),
    ],
)
def test_a_part_that_nothing_satisfies_is_named(wanted: OutputType[Any], label: str) -> None:
    """With its expressions, before a model is loaded."""
    for ask in (wanted.check, wanted.automaton):
        with pytest.raises(UnsatisfiableError) as caught:
            ask()
        assert type(caught.value) is UnsatisfiableError
        assert caught.value.problem == f"{label}: No text is of Regex('x') and of Regex('y')"


def test_a_length_may_have_no_limit_below() -> None:
    """None means so on both sides."""
    assert Text(characters=(None, 3)).digest == Text(characters=(0, 3)).digest
    assert accepts_text(Text(words=(None, 1)).automaton(), "")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Text(contains=[f"w{number}" for number in range(40)]), "Text(contains=('w0', 'w1', "),
        (lambda: Text(characters=(1000, 2000), contains=["abc", "def"], words=(100, 300)), "characters=(1000, 2000)"),
    ],
)
def test_many_rules_are_refused_by_name_when_the_time_is_up(make: Any, named: str, monkeypatch: Any) -> None:
    """A product in a product searches for each step of the outer one: the time is that of all together."""
    monkeypatch.setattr("structured.automata.product.MAX_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(PatternError, match=r"was found in 0\.5 seconds") as caught:
        make().automaton()
    assert named in caught.value.pattern
    assert time.monotonic() - began < 10


def test_errors_of_products_name_what_is_combined() -> None:
    """And those that do not know it speak of no pattern."""
    with pytest.raises(PatternError, match=r"takes more than .*, in the pattern .Text\(lacks="):
        Text(lacks="a" * 100_000 + "b").automaton()
    assert str(PatternError("It is too large", pattern="", remedy="Repeat less.")) == "It is too large. Repeat less."
