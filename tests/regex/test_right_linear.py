"""Automata whose arcs are patterns: their pattern is read as the automaton itself is."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from walks import accepted

from structured.automata import RegularAutomaton
from structured.regex import EMPTY, CharSet, Pattern, char_set, literal, nodes_of, productive_nodes, right_linear

LABELS: dict[str, Pattern] = {"": EMPTY, "a": literal("a"), "b": literal("b"), "ab": literal("ab")}
Arcs = list[list[tuple[str, int]]]


@st.composite
def automata(draw: st.DrawFn) -> tuple[Arcs, set[int]]:
    """Draw arcs for each of a few states, and those that accept."""
    size = draw(st.integers(1, 4))
    arc = st.tuples(st.sampled_from(sorted(LABELS)), st.integers(0, size - 1))
    arcs = draw(st.lists(st.lists(arc, max_size=4), min_size=size, max_size=size))
    return arcs, draw(st.sets(st.integers(0, size - 1)))


def texts_of(arcs: Arcs, accepting: set[int], longest: int) -> set[str]:
    """Follow every path as far as a text may be long."""
    reached = {("", 0)}
    border = reached
    while border:
        steps = {(text + label, target) for text, state in border for label, target in arcs[state]}
        border = {(text, state) for text, state in steps if len(text) <= longest} - reached
        reached |= border
    return {text for text, state in reached if state in accepting}


def pattern_of(arcs: Arcs, accepting: set[int]) -> Pattern | None:
    return right_linear(
        0, lambda state: [(LABELS[text], target) for text, target in arcs[state]], accepting.__contains__
    )


@given(automata())
def test_its_texts_are_those_of_the_automaton(drawn: tuple[Arcs, set[int]]) -> None:
    """A text matches if and only if some path from the start to an accepting state spells it."""
    pattern = pattern_of(*drawn)
    expected = texts_of(*drawn, longest=4)
    if pattern is None:
        assert not expected
    else:
        automaton = RegularAutomaton(pattern)
        texts = ["".join(letters) for length in range(5) for letters in product("ab", repeat=length)]
        assert {text for text in texts if accepted(automaton, text.encode())} == expected


@given(automata())
def test_no_state_leads_nowhere(drawn: tuple[Arcs, set[int]]) -> None:
    """Whatever is in the pattern matches some text."""
    pattern = pattern_of(*drawn)
    assert pattern is None or productive_nodes(pattern) == set(map(id, nodes_of(pattern)))


def test_patterns_are_shared() -> None:
    """The pattern of many arcs is the same node in all of them."""
    item = char_set((97, 98))
    pattern = right_linear(0, lambda state: [(item, (state + 1) % 9)], (8).__eq__)
    assert pattern is not None
    assert sum(isinstance(node, CharSet) for node in nodes_of(pattern)) == 1
