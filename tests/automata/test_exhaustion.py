"""Wear: the limits of an automaton are those of one text, however many are read and stepped through."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("lark")

from doubles import ByteTokenizer
from pydantic import BaseModel

from structured import Grammar, Json, Regex, Repeat, Text, template
from structured.automata import AUTOMATON_ERRORS, Limits, RegularAutomaton, lazy
from structured.automata.byte_automaton import Recogniser, accepts_text, reset_if_exhausted
from structured.automata.combination import CombinedAutomaton
from structured.automata.grammar.grammar_automaton import GrammarAutomaton
from structured.automata.loops.state_table import GROWN_STATES
from structured.automata.product import Product
from structured.decoding.generate import compiled_type
from structured.errors import PatternError
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import AnswerCheck
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

NESTED = 'start: "(" start ")" | "[" start "]" | "x"'
GBNF = 'root ::= "(" root ")" | "[" root "]" | "x"'
STATES = 300
LONG = 400
"""Of one text that alone is too much."""


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (RegularAutomaton, CombinedAutomaton, Product, GrammarAutomaton):
        monkeypatch.setitem(kind.__init__.__kwdefaults__, "limits", Limits(states=STATES))


def nested(depth: int, rng: random.Random) -> str:
    opened = rng.choices("([", k=depth)
    return "".join(opened) + "x" + "".join({"(": ")", "[": "]"}[one] for one in reversed(opened))


def letters(count: int, rng: random.Random) -> str:
    return "".join(rng.choices("ab", k=count))


Writer = Callable[[int, random.Random], str]

KINDS: dict[str, tuple[Callable[[], OutputType[Any]], Writer]] = {
    "Regex": (lambda: Regex(r"[ab]*a[ab]{9}c?"), lambda n, rng: letters(n, rng) + "a" + letters(9, rng)),
    "Text": (lambda: Text(characters=(0, 1000)), letters),
    "GBNF": (lambda: Grammar.from_gbnf(GBNF), nested),
    "Grammar": (lambda: Grammar(NESTED), nested),
    "template": (lambda: template("Q: {q}", q=Grammar(NESTED)), lambda n, rng: f"Q: {nested(n, rng)}"),
    "alternatives": (lambda: Grammar(NESTED) | Regex("[a-z]+"), nested),
    "repetition": (lambda: Repeat(Grammar(NESTED), separator=","), lambda n, rng: f"{nested(n, rng)},{nested(3, rng)}"),
    "product": (lambda: Grammar(NESTED) & Text(characters=(0, 5000)), nested),
    "difference": (lambda: Grammar(NESTED) - Regex("x"), nested),
    "JSON and text": (
        lambda: Json(list[str]) & Text(characters=(0, 5000)),
        lambda n, rng: "[" + ", ".join(f'"{letters(2, rng)}"' for _ in range(n // 3 + 1)) + "]",
    ),
}


class Tree(BaseModel):
    left: "Tree | None"
    right: "Tree | None"


def tree(depth: int, rng: random.Random) -> str:
    """A tree with one branch, as JSON."""
    grown = '{"left": null, "right": null}'
    for _ in range(depth):
        left, right = rng.choice([(grown, "null"), ("null", grown)])
        grown = f'{{"left": {left}, "right": {right}}}'
    return grown


every_kind = pytest.mark.parametrize("kind", KINDS)


def test_any_number_of_answers_of_a_server_can_be_checked() -> None:
    check, rng = AnswerCheck(resolve_type(Tree)), random.Random(0)
    for _ in range(100):
        assert check.fault(tree(9, rng)) is None
    with pytest.raises(PatternError):
        check.fault(tree(LONG, rng))


@every_kind
def test_any_number_of_texts_can_be_read(kind: str) -> None:
    """A text that alone is too much is an error of its own, and costs no other."""
    make, write = KINDS[kind]
    output_type, rng = make(), random.Random(1)
    for count in range(60):
        output_type.parse(write(8, rng))
        if count % 20 == 3 and kind != "Grammar":  # which Lark reads
            with pytest.raises(AUTOMATON_ERRORS) as caught:
                output_type.parse(write(LONG, rng))
            assert not isinstance(caught.value, ValueError)


@every_kind
def test_any_number_of_texts_can_be_stepped_through(kind: str) -> None:
    """One that has begun goes on with its own automaton."""
    make, write = KINDS[kind]
    vocabulary, rng = Vocabulary.from_tokenizer(ByteTokenizer()), random.Random(1)
    compiled = compiled_type(make(), vocabulary)
    automata = set()
    for count in range(60):
        automaton = compiled.index().automaton
        automata.add(automaton)
        assert accepts_text(automaton, write(8, rng))
        if count % 20 == 3:
            with pytest.raises(AUTOMATON_ERRORS):
                accepts_text(automaton, write(LONG, rng))
    assert len(automata) > 1
    assert all(len(one.table) <= GROWN_STATES for one in automata)  # none has grown twice


@every_kind
def test_an_automaton_after_reset_has_the_same_texts(kind: str) -> None:
    make, write = KINDS[kind]
    rng = random.Random(1)
    automaton = make().automaton()
    begun = automaton.start
    with pytest.raises(AUTOMATON_ERRORS):
        accepts_text(automaton, write(LONG, rng))
    assert automaton.is_exhausted
    other = automaton.reset()
    assert other is not automaton
    assert not other.is_exhausted
    assert reset_if_exhausted(other) is other
    assert other.fingerprint == automaton.fingerprint
    unused, text = make().automaton(), write(4, rng)
    for changed in (text, text[:-1], text + "]", text + "\n"):
        assert accepts_text(other, changed) == accepts_text(unused, changed)
    assert automaton.start == begun


@pytest.mark.parametrize("kind", ["Regex", "template", "product"])
def test_time_is_that_of_one_text(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was learned stays: only the clock is another."""
    make, write = KINDS[kind]
    for one in (RegularAutomaton, CombinedAutomaton, Product, GrammarAutomaton):
        monkeypatch.setitem(one.__init__.__kwdefaults__, "limits", Limits(seconds=400.0))
    ticks = itertools.count()
    monkeypatch.setattr(lazy, "thread_time", lambda: 2.0 * next(ticks))
    for name in ("regular", "grammar.grammar_automaton"):
        monkeypatch.setattr(f"structured.automata.{name}.thread_seconds", lambda: 2.0 * next(ticks))
    recogniser, rng = Recogniser(make().automaton), random.Random(1)
    used = set()
    for _ in range(100):
        assert recogniser.accepts(write(4, rng))
        used.add(recogniser._object)
    assert 2.0 * next(ticks) > 400.0
    assert len(used) == 1
    with pytest.raises(PatternError, match="more than 400 seconds to make states in"):
        recogniser.accepts(write(3 * LONG, rng))
    assert recogniser.accepts(write(4, rng))


def test_the_clock_of_a_product_runs_while_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = (RegularAutomaton(Regex(one).pattern) for one in ("a+", "[ab]+"))
    ticks = itertools.count()
    monkeypatch.setattr(lazy, "thread_time", lambda: 30.0 * next(ticks))
    assert Product(left, right, limits=Limits(seconds=31.0)).seconds == 0.0
    with pytest.raises(PatternError, match="more than 29 seconds"):
        Product(left, right, limits=Limits(seconds=29.0))


def test_a_text_that_others_left_no_room_for_is_read_once_more() -> None:
    """It may need more than what is left before the automaton is exhausted, and less than all."""
    regex, rng = Regex(r"[ab]*a[ab]{9}c?"), random.Random(1)
    for _ in range(30):
        regex.parse(letters(170, rng) + "a" + letters(9, rng))


def test_what_no_limit_caused_is_raised_at_once() -> None:
    made = []

    class Broken(RegularAutomaton):
        def step(self, state: int, byte: int) -> int:  # noqa: ARG002
            made.append(byte)
            raise PatternError("broken", pattern="a", remedy="Mend it.")

    with pytest.raises(PatternError, match="broken"):
        Recogniser(lambda: Broken(Regex("a").pattern)).accepts("a")
    assert made == [ord("a")]
