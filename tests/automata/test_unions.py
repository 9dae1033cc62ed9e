"""Unions: stacks that differ only below are joined, and mean what they meant."""

import random

import pytest
from brute_force import brute_mask, brute_successors
from hypothesis import given
from hypothesis import strategies as st
from random_patterns import randoms
from walks import read

from structured.automata import DEAD, RegularAutomaton
from structured.automata.loops.transitions import MAX_UNJOINED
from structured.index.index import Index
from structured.index.masks import unpack
from structured.regex import Distinct, Pattern, Reference, alternation, chars, concat, literal, optional, repeat
from structured.vocabulary import Vocabulary

KINDS = "abcdefg"


def nested(kinds: str, inner: Pattern) -> Pattern:
    """Return brackets in brackets: which kind a bracket is of is only told by its end."""
    definitions: dict[str, Pattern] = {}
    item = Reference("item", definitions)
    ways = [concat(literal("("), inner, item, inner, literal(f"){kind}")) for kind in kinds]
    definitions["item"] = alternation(literal("."), *ways)
    return item


def states_of(automaton: RegularAutomaton, text: str) -> list[int]:
    """Return the states along a text."""
    states = [automaton.start]
    for byte in text.encode():
        states.append(automaton.step(states[-1], byte))
    return states


def test_levels_do_not_multiply() -> None:
    """Seven kinds in twelve levels are 7¹² stacks, and a few of them joined ones."""
    automaton = RegularAutomaton(nested(KINDS, literal("")))
    text = "(" * 12 + "."
    states = states_of(automaton, text)
    assert automaton.distances[states].tolist() == [*(1 + 2 * level for level in range(13)), 24]
    assert max(len(automaton._machine.states.elements_of(state)) for state in states) <= max(
        MAX_UNJOINED, 2 * len(KINDS)
    )
    ends = "".join(f"){kind}" for kind in "gfedcbagfedc")
    assert automaton.accepts(read(automaton, (text + ends).encode()))
    assert read(automaton, (text + ends[:-1] + "h").encode()) == DEAD
    assert automaton.nbytes < 1 << 21


@pytest.mark.thorough
@given(randoms(), st.integers(1, 7), st.sampled_from(["", "x*", "(?:xy)?", "x{0,3}"]))
def test_brackets_within_brackets(rng: random.Random, kinds: int, between: str) -> None:
    """Texts of brackets are accepted as a reader with one counter accepts them, and ends are as far as they are."""
    inner = {
        "": literal(""),
        "x*": repeat(literal("x"), 0, None),
        "(?:xy)?": optional(literal("xy")),
        "x{0,3}": repeat(literal("x"), 0, 3),
    }[between]
    filling = {"": [""], "x*": ["", "x", "xxxx"], "(?:xy)?": ["", "xy"], "x{0,3}": ["", "x", "xxx"]}[between]
    automaton = RegularAutomaton(nested(KINDS[:kinds], inner))
    depth = rng.randint(1, 6)
    opening = "".join("(" + rng.choice(filling) for _ in range(depth)) + "."
    closing = "".join(f"{rng.choice(filling)}){rng.choice(KINDS[:kinds])}" for _ in range(depth))
    states = states_of(automaton, opening + closing)
    assert automaton.accepts(states[-1])
    assert all(not automaton.accepts(state) for state in states[:-1])
    assert automaton.distances[states[len(opening)]] == 2 * depth
    wrong = opening + closing[:-1] + "h"
    assert read(automaton, wrong.encode()) == DEAD


def test_items_that_differ_beside_others_that_are_joined() -> None:
    """A state with as many frames as follow an item may still have others: none of their tokens is lost."""
    blank, digit = repeat(chars(" "), 0, None), chars("0123456789")
    item, comma, end = repeat(digit, 1, None), concat(blank, literal(","), blank), concat(blank, literal("]"))
    different = concat(literal("["), Distinct(item, comma, 1, 3, (), is_inexhaustible=True), end, chars("xw"))
    kinds = [concat(literal("["), item, repeat(concat(comma, item), 0, None), end, chars(two)) for two in ("yz", "uv")]
    more = [concat(kind, literal(str(number))) for number, kind in enumerate(kinds * 3)]
    tokens = (*(bytes([byte]) for byte in range(128)), b"[1,1]y", b"[1]y2", b"[1,2,3,4", b"[1]x", b"1]u", b",1,1", None)
    vocabulary = Vocabulary(tokens=tokens, end_token_ids=frozenset({len(tokens) - 1}))
    index = Index(RegularAutomaton(alternation(different, *more)), vocabulary)
    for text in ("", "[", "[1", "[1,", "[1,2"):
        state = read(index.automaton, text.encode())
        mask = unpack(index.mask(state), vocabulary.size)
        assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all(), text
