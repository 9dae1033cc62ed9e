"""Diagrams of automata: the states and arrows that people see are the language."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence

import pytest
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from random_patterns import FEW_CHARACTERS, char_sets, code_points, patterns_with_texts
from ways import matches

from structured.automata import RegularAutomaton
from structured.automata.character_graph import explore
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import smallest_automaton
from structured.automata.diagram import (
    Place,
    State,
    dot,
    follow,
    mermaid,
    set_label,
    shortened,
    table,
    text_label,
)
from structured.output_types.grammar import Grammar
from structured.output_types.regex import Regex
from structured.output_types.resolve import resolve_type
from structured.regex import CharSet, Pattern
from structured.regex.character_sets import normalise

Texts = tuple[Pattern, list[str]]

FLOAT = r"([0-9]+)?\.[0-9]+"
IPV4 = r"((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"

MANY = 2_000


def states_of(pattern: str, most: int = MANY) -> tuple[State, ...]:
    return explore(Regex(pattern).automaton(), most, fold=False)[0]


def diagrams(count: int = MANY) -> Iterator[tuple[str, tuple[State, ...]]]:
    """Yield diagrams of all kinds."""
    for pattern in (FLOAT, IPV4, DATE, r"(a|b)*a(a|b){2}", r"", r"\w+\s\W", r"[^\n]*", "[\x00-\x20\ufffe<>&]x*"):
        yield pattern, states_of(pattern, count)
    for name in ("json", "arithmetic"):
        yield name, explore(Grammar.named(name).automaton(), min(count, 30), fold=True)[0]  # type: ignore[arg-type]
    for kind in (bool, list[bool], dict[str, int]):
        yield str(kind), explore(resolve_type(kind).automaton(), min(count, 40), fold=True)[0]


def accepts(states: Sequence[State], text: str) -> bool:
    """Tell whether a text leads along labels, as `re` reads them, to a state that accepts."""
    open_ends = [(0, 0)]
    while open_ends:
        number, done = open_ends.pop()
        if done == len(text) and states[number].is_accepting:
            return True
        for arrow in states[number].arrows:
            end = done + len(arrow.read)
            if end <= len(text) and re.fullmatch(arrow.label, text[done:end]):
                assert arrow.target is not None
                open_ends.append((arrow.target, end))
    return False


@pytest.mark.thorough
@settings(max_examples=examples(100))
@given(patterns_with_texts(), st.booleans())
def test_a_diagram_accepts_what_its_pattern_matches(given_texts: Texts, fold: bool) -> None:
    """Its labels are read back by `re`: whatever the language, it is that of the states and arrows."""
    pattern, texts = given_texts
    states, total = explore(RegularAutomaton(pattern), MANY, fold=fold)
    if total != len(states):
        return
    for text in texts:
        assert accepts(states, text) == matches(pattern, text), (pattern, text)


@pytest.mark.parametrize(
    "pattern", [FLOAT, "(a|b)*a(a|b){2}", "a?(ba)*b?", r"a{2,4}|\.+", r"(?i)A.b?", "", r"[.]?0{1,2}"]
)
def test_a_diagram_accepts_all_short_texts_that_re_matches(pattern: str) -> None:
    """Each text of up to five of some characters."""
    states = states_of(pattern)
    for text in map("".join, itertools.chain(*(itertools.product("aAb.05", repeat=count) for count in range(6)))):
        assert accepts(states, text) == bool(re.fullmatch(pattern, text)), text


@pytest.mark.thorough
@settings(max_examples=examples(100))
@given(patterns_with_texts())
def test_a_diagram_has_as_few_states_as_can_be(given_texts: Texts) -> None:
    """As many as the smallest automaton over characters, which is made in another way."""
    pattern, _ = given_texts
    states, total = explore(RegularAutomaton(pattern), MANY, fold=False)
    assume(total is not None)  # some have very many states, which neither way makes
    found = smallest_automaton(PatternLanguage(pattern))
    assert found is not None
    assert len(states) == len(found.arcs)


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(patterns_with_texts(), st.booleans())
def test_states_say_how_they_are_reached_and_how_they_end(given_texts: Texts, fold: bool) -> None:
    """In the order of a breadth-first search; the completion is a shortest one."""
    automaton = RegularAutomaton(given_texts[0])
    states, _ = explore(automaton, MANY, fold=fold)
    for state in states:
        place: Place | None = Place(0)
        here = automaton.start
        for character in state.reached_by:
            assert place is not None
            place = follow(states, place, character)
            for byte in character.encode():
                here = automaton.step(here, byte)
        assert place == Place(state.number)
        assert len(state.completion.encode()) == automaton.distances[here]
        assert state.is_accepting == (state.completion == "")
        assert accepts(states, state.reached_by + state.completion)
    if not fold:
        assert [len(state.reached_by) for state in states] == sorted(len(state.reached_by) for state in states)


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(patterns_with_texts(), st.integers(1, 6))
def test_fewer_states_are_the_first_ones(given_texts: Texts, most: int) -> None:
    """What leads to the others leads nowhere that is shown, with the same characters."""
    automaton = RegularAutomaton(given_texts[0])
    states, _ = explore(automaton, MANY, fold=True)
    few, _ = explore(automaton, most, fold=True)
    assert len(few) == min(most, len(states))
    for some, whole in zip(few, states, strict=False):
        kept = [arrow for arrow in whole.arrows if arrow.target is not None and arrow.target < most]
        assert [arrow for arrow in some.arrows if arrow.target is not None] == kept
        assert (some.completion, some.is_accepting) == (whole.completion, whole.is_accepting)


@pytest.mark.thorough
@settings(max_examples=examples(150))
@given(char_sets(), st.lists(code_points(), max_size=20))
@example(CharSet(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20))), [])
@example(CharSet(((0x5C, 0x5D), (0x7B, 0x7D))), [])
def test_the_label_of_a_set_matches_its_characters(given_set: CharSet, others: list[int]) -> None:
    """And no other character, at its borders in particular."""
    ranges = given_set.ranges
    borders = {point + by for one in ranges for point in one for by in (-1, 0, 1)}
    label = re.compile(set_label(ranges))
    for point in {*others, *borders}:
        if 0 <= point < 0x110000 and not 0xD800 <= point < 0xE000:
            assert bool(label.fullmatch(chr(point))) == any(low <= point <= high for low, high in ranges)


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"[^\s,]", r"[\w.]", r"[^\d\s]"])
def test_classes_have_the_names_that_people_write(pattern: str) -> None:
    [arrow] = states_of(pattern)[0].arrows
    assert len(arrow.label) <= len(pattern) + 1
    every = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    assert re.findall(pattern, every) == re.findall(arrow.label, every)


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        *(("[0-9]", "[0-9]"), (r"\.", r"\."), (".", r"[^\n]"), ("(?s).", r"[\s\S]"), (" ", "[ ]"), (r"[^\"]", '[^"]')),
        *(("[\t\n]", r"[\t\n]"), ("é", "é"), ("[\ufffe]", r"\ufffe"), ("[&a-z]", "[\\&a-z]")),
    ],
)  # fmt: skip
def test_labels_are_written_as_people_write_them(pattern: str, label: str) -> None:
    assert states_of(pattern)[0].arrows[0].label == label


@settings(max_examples=examples(200))
@given(st.text(FEW_CHARACTERS + " \\.{}[]1,2\n", min_size=1, max_size=6), st.text(FEW_CHARACTERS + " {1,}", max_size=6))
def test_the_label_of_a_text_matches_it_and_nothing_else(text: str, other: str) -> None:
    assert re.fullmatch(text_label(text), text)
    assert (re.fullmatch(text_label(text), other) is None) == (text != other)


def test_long_labels_are_cut() -> None:
    assert (shortened("abc", 3), shortened("abcd", 3)) == ("abc", "ab…")


def test_runs_of_characters_are_one_arrow() -> None:
    """Unless each is to have its state; where the text may end or goes on in two ways, there is one."""
    pattern = Regex("abc(de|xf)?").pattern
    folded, total = explore(RegularAutomaton(pattern), MANY, fold=True)
    assert [[(arrow.label, arrow.target) for arrow in state.arrows] for state in folded] == [
        [("abc", 1)], [("de", 2), ("xf", 2)], [],
    ]  # fmt: skip
    assert total == 3
    assert len(explore(RegularAutomaton(pattern), MANY, fold=False)[0]) == 7


def test_the_table_is_as_in_the_paper() -> None:
    assert table(states_of(FLOAT)).splitlines() == [
        "state  reads  →  shortest completion",
        r"> 0    \.     1  .0",
        "       [0-9]  0",
        "  1    [0-9]  2  0",
        "((2))  [0-9]  2",
    ]


def test_tables_fit_in_80_columns() -> None:
    """Whatever is read, and without characters that no terminal can show."""
    for name, states in diagrams():
        for line in table(states).splitlines():
            assert len(line) <= 80, name
            assert line.isprintable(), name


_STATEMENT = re.compile(
    r'digraph \{|\}|(?:rankdir=LR|label="(?:[^"\\]|\\.)*"|(?:node|edge) \[.*\]);'
    r"|(?P<node>\w+)(?: \[(?P<look>[^\]]*)\])?;"
    r'|(?P<source>\w+) -> (?P<target>\w+)(?: \[label="(?P<label>(?:[^"\\]|\\.)*)"(?:, style=dashed)?\])?;'
)


@pytest.mark.thorough
def test_dot_has_the_states_and_the_arrows() -> None:
    """Each line is a statement of DOT, and the labels are read back."""
    for name, states in diagrams(30):
        found = [_STATEMENT.fullmatch(line.strip()) for line in dot(states, name).splitlines()]
        assert all(found), name
        arrows = [one for one in found if one is not None and one["label"] is not None]
        expected = [(state.number, arrow.target, arrow.label) for state in states for arrow in state.arrows]
        assert [
            (
                int(one["source"]),
                None if one["target"].startswith("more") else int(one["target"]),
                _unquoted(one["label"]),
            )
            for one in arrows
        ] == expected, name
        doubled = [one["node"] for one in found if one is not None and one["look"] == "shape=doublecircle"]
        assert doubled == [str(state.number) for state in states if state.is_accepting]


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


_EDGE = re.compile(
    r'  (?P<source>\d+) (?:-- "(?P<label>.*)" --> (?P<target>\d+)|-\. "(?P<cut>.*)" \.-> more\d+\["…"\])'
)


@pytest.mark.thorough
def test_mermaid_has_the_states_and_the_arrows() -> None:
    """The labels are read back from the numbers of characters, and no other line looks like an arrow."""
    for name, states in diagrams(30):
        opening, title, closing, kind, start, *lines = mermaid(states, name).splitlines()
        assert (opening, closing, kind, start) == ("---", "---", "flowchart LR", "  start(( )) --> 0")
        assert json.loads(title.removeprefix("title: ")) == name.replace("\ufffe", r"\ufffe").replace("\x00", r"\x00")
        shapes = [f"(({state.number}))" for state in states]
        nodes = [f"({shape})" if state.is_accepting else shape for shape, state in zip(shapes, states, strict=True)]
        assert lines[: len(states)] == [f"  {number}{node}" for number, node in enumerate(nodes)]
        edges = [_EDGE.fullmatch(line) for line in lines[len(states) :]]
        assert [
            (int(edge["source"]), edge["target"], _numbered(edge["label"] or edge["cut"]))
            for edge in edges
            if edge is not None
        ] == [
            (state.number, None if arrow.target is None else str(arrow.target), arrow.label)
            for state in states
            for arrow in state.arrows
        ], name
        assert None not in edges, name


def _numbered(text: str) -> str:
    assert not re.search(r'["&<>`\\]', text)
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)


def test_whole_sets_are_normal() -> None:
    """The characters of an arrow are sorted, and neither overlap nor touch."""
    for _, states in diagrams():
        for arrow in (arrow for state in states for arrow in state.arrows):
            assert all(ranges == normalise(ranges) for ranges in arrow.read)
