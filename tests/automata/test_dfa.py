"""Languages of characters: what is combined, explored and written into a JSON string is what was meant."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import nearest_end, read

from structured.automata import DEAD, RegularAutomaton
from structured.automata.dfa.alphabet import alphabet_of, refinement
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import (
    CharacterAutomaton,
    character_counts,
    fewest_characters,
    most_characters,
)
from structured.automata.dfa.language import smallest_automaton
from structured.automata.dfa.minimisation import live_blocks
from structured.automata.dfa.products import Intersection, partition
from structured.errors import PatternError
from structured.regex import AutomatonPattern, Pattern, concat, literal, optional, words
from structured.regex.character_classes import ECMA, ECMA_SPACE, WORD, unicode_digits
from structured.regex.character_sets import complement
from structured.regex.json_strings import escaped
from structured.regex.regex_parser import regex_to_pattern
from structured.regex.syntax import CharSet

REGEXES = (
    "a",
    "^a",
    "b$",
    "^[ab]*$",
    "^(?!a)",
    "ab|ba",
    "^.{2,4}$",
    "^(a|b)*a(a|b)$",
    "é",
    r"\bb",
    '["\\\\\n]',
    "^$",
    "",
)
TEXTS = st.text('abé"\\\n ', max_size=6)


def pattern(regex: str) -> Pattern:
    return regex_to_pattern(regex, ECMA)


def finds(regex: str, text: str) -> bool:
    """Say what Python says, with ECMA's end of text and its ASCII words."""
    return re.search(regex.replace("$", r"\Z"), text, re.ASCII) is not None


def accepts(automaton: CharacterAutomaton, text: str) -> bool:
    state: int | None = 0
    for character in text:
        arcs = automaton.arcs[state] if state is not None else ()
        state = next((target for low, high, target in arcs if low <= ord(character) <= high), None)
    return state in automaton.accepting


SETS = {
    "word": WORD,
    "no word": complement(WORD),
    "digit": unicode_digits(),
    "space": ECMA_SPACE,
    "é": ((0xE9, 0xE9),),
    "wide": ((0x61, 0xD7FF), (0xE000, 0xE001)),
}


@given(st.lists(st.sampled_from(sorted(SETS)), min_size=1, max_size=4))
def test_no_set_tells_characters_of_a_class_apart(names: list[str]) -> None:
    """The classes are all of the characters, each once, and as few as that takes."""
    sets = [SETS[name] for name in names]
    alphabet = alphabet_of(concat(*map(CharSet, sets)))
    ends = {end for one in sets for low, high in one for end in (low - 1, low, high, high + 1)}
    kinds: dict[int, set[tuple[bool, ...]]] = {}
    for character in ({0, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0x10FFFF} | ends) - {-1, 0x110000}:
        held = [any(low <= character <= high for low, high in one) for one in sets]
        number = alphabet.class_of(character)
        kinds.setdefault(number, set()).add((*held, 0xD800 <= character <= 0xDFFF))
        assert [number in alphabet.members(alphabet.block(one)) for one in sets] == held
    assert all(len(found) == 1 for found in kinds.values())
    assert len(set.union(*kinds.values())) == len(kinds) == len(alphabet)


@given(st.lists(st.sampled_from(sorted(SETS)), min_size=1, max_size=4))
def test_a_refinement_is_one_alphabet_for_several(names: list[str]) -> None:
    """Each of its classes lies in one class of each alphabet, and no two in the same of all."""
    alphabets = tuple(alphabet_of(CharSet(SETS[name])) for name in names)
    common, parts = refinement(alphabets)
    for alphabet, part in zip(alphabets, parts, strict=True):
        for start in {*alphabet.starts, *common.starts}:
            assert part[common.class_of(start)] == alphabet.class_of(start)
    assert len(set(zip(*parts, strict=True))) == len(common)


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(
    st.lists(st.sampled_from(REGEXES), max_size=3),
    st.lists(st.sampled_from(REGEXES), max_size=2),
    st.lists(TEXTS, min_size=1, max_size=10),
)
def test_together_is_intersection_and_difference(included: list[str], excluded: list[str], texts: list[str]) -> None:
    """And None is what no text is in."""
    beside = Intersection(
        tuple(PatternLanguage(pattern(regex)) for regex in included),
        tuple(PatternLanguage(pattern(regex)) for regex in excluded),
    )
    automaton = smallest_automaton(beside)
    for text in texts:
        is_in = all(finds(regex, text) for regex in included) and not any(finds(regex, text) for regex in excluded)
        assert (automaton is not None and accepts(automaton, text)) == is_in, text


@given(st.lists(st.sampled_from(REGEXES), min_size=1, max_size=3), st.lists(TEXTS, min_size=1, max_size=10))
def test_a_partition_has_each_text_in_one_kind(regexes: list[str], texts: list[str]) -> None:
    """That of the languages that it is in."""
    languages = [PatternLanguage(pattern(regex)) for regex in regexes]
    kinds = partition(PatternLanguage(pattern("")), languages)
    automata = {kind: kinds.automaton([kind]) for kind in kinds.kinds}
    for text in texts:
        held = [kind for kind, automaton in automata.items() if accepts(automaton, text)]
        assert held == [frozenset(index for index, regex in enumerate(regexes) if finds(regex, text))]


@pytest.mark.parametrize(
    ("regex", "states"), [("^a{3}$", 4), ("admin", 6), ("^(a|b)*a(a|b)$", 4), ("^[ab]*$", 1), ("^(?!a)b$", 2)]
)
def test_automata_are_as_small_as_may_be(regex: str, states: int) -> None:
    """Numbers of states from the textbook."""
    automaton = smallest_automaton(PatternLanguage(pattern(regex)))
    assert automaton is not None
    assert len(automaton.arcs) == states


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(REGEXES), min_size=1, max_size=3), st.sampled_from(REGEXES))
def test_no_two_states_are_alike(included: list[str], excluded: str) -> None:
    """Any two are told apart by some text, which is found by filling in a table of pairs."""
    inside = tuple(PatternLanguage(pattern(regex)) for regex in included)
    automaton = smallest_automaton(Intersection(inside, (PatternLanguage(pattern(excluded)),)))
    if automaton is None:
        return
    cuts = {cut for row in automaton.arcs for low, high, _ in row for cut in (low, high + 1)}
    table = [[next((to for low, high, to in row if low <= cut <= high), -1) for cut in cuts] for row in automaton.arcs]
    table.append([-1] * len(cuts))
    pairs = set(product(range(-1, len(automaton.arcs)), repeat=2))
    apart = {(one, other) for one, other in pairs if (one in automaton.accepting) != (other in automaton.accepting)}
    count = -1
    while count != len(apart):
        count = len(apart)
        apart |= {
            (one, other) for one, other in pairs if not apart.isdisjoint(zip(table[one], table[other], strict=True))
        }
    assert apart == {(one, other) for one, other in pairs if one != other}


@given(st.data())
def test_minimisation_finds_the_blocks_of_the_plain_refinement(data: st.DataObject) -> None:
    """It puts the states that are alike into one block, and dead ones into none."""
    states, classes = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 3))
    row = st.lists(st.integers(-1, states - 1), min_size=classes, max_size=classes)
    rows = np.array(data.draw(st.lists(row, min_size=states, max_size=states)), dtype=np.int32)
    accepting = data.draw(st.lists(st.booleans(), min_size=states, max_size=states))
    assert live_blocks(rows, np.array(accepting)).tolist() == refined(rows.tolist(), accepting)


def refined(rows: list[list[int]], accepting: list[bool]) -> list[int]:
    """Return the blocks of alike states (Moore, 1956), in the order of their first states; -1 for dead ones."""
    live = {state for state, ends in enumerate(accepting) if ends}
    while more := {state for state, row in enumerate(rows) if live & {*row}} - live:
        live |= more
    blocks = {state: int(accepting[state]) for state in sorted(live)}
    for _ in rows:
        keys = {state: (blocks[state], *(blocks.get(target, -1) for target in rows[state])) for state in blocks}
        order = list(dict.fromkeys(keys.values()))
        blocks = {state: order.index(key) for state, key in keys.items()}
    return [blocks.get(state, -1) for state in range(len(rows))]


def test_what_is_excluded_does_not_multiply() -> None:
    """A text in which an excluded word was found is given up at once, so five words cost their sum."""
    words = ("admin", "designer", "customer", "maker", "operator")
    languages = [PatternLanguage(pattern(word)) for word in words]
    automaton = smallest_automaton(Intersection((languages[0],), tuple(languages[1:])))
    assert automaton is not None
    assert len(automaton.arcs) < 2 * sum(map(len, words))


@pytest.mark.thorough
def test_what_grows_too_large_is_an_error() -> None:
    """The automaton has to know the last fifteen characters."""
    with pytest.raises(PatternError, match="more than 24,000 states"):
        smallest_automaton(PatternLanguage(pattern("^(a|b)*a(a|b){15}$")))


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(st.sampled_from(REGEXES), st.none() | st.integers(0, 5), st.lists(TEXTS, min_size=1, max_size=10))
def test_a_scan_reads_a_json_string(regex: str, most: int | None, texts: list[str]) -> None:
    """Escaped as `json.dumps` does; and its printed form says the same, but where words begin and end."""
    automaton = smallest_automaton(PatternLanguage(pattern(regex)))
    assert automaton is not None
    fewest, longest = fewest_characters(automaton), most_characters(automaton)
    if most is not None and fewest > most:
        return
    scan = AutomatonPattern(automaton.arcs, automaton.accepting, most, (escaped(pattern(regex)),))
    node = concat(literal('"'), scan, literal('"'))
    machine = RegularAutomaton(node)
    for text in texts:
        is_in = finds(regex, text) and (most is None or len(text) <= most)
        written = json.dumps(text, ensure_ascii=False)
        state = read(machine, written.encode())
        assert (state != DEAD and machine.accepts(state)) == is_in, text
        if r"\b" not in regex:
            assert (re.fullmatch(str(node), written) is not None) == is_in, text
        assert not is_in or (fewest <= len(text) and (longest is None or len(text) <= longest))
    assert machine.distances[machine.start] == nearest_end(machine, machine.start)


@given(st.sampled_from([regex for regex in REGEXES if not re.search(r"\\b|\(\?", regex)]), TEXTS)
def test_characters_are_counted(regex: str, text: str) -> None:
    """The counts of a pattern hold for each of its texts."""
    fewest, most = character_counts(pattern(regex))
    assert not finds(regex, text) or (fewest <= len(text) and (most is None or len(text) <= most))


def test_threads_that_share_a_language_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may be interrupted between what it notes of a stack and what it makes of it."""
    push = PatternLanguage.push

    def push_slowly(self: PatternLanguage, *node: Any) -> int:
        time.sleep(0.0001)
        return push(self, *node)

    monkeypatch.setattr(PatternLanguage, "push", push_slowly)
    part = optional(words(["a", "ab", "bc", "cab"]))
    whole = concat(*[piece for letter in "xyxzxyxz" for piece in (part, part, literal(letter))])
    texts = ["abxyxzxyxz", "bccabxayxzxyxz", "xyxzxyx", "ababxyaaxzxyxz", "ababxyaaaxzxyxz"]
    language = PatternLanguage(whole)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [language.contains(text) for text in texts], range(8)))
    assert found == [[True, True, False, True, False]] * 8
