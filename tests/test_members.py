"""What objects with optional and other members need: members in order with separators, and keys unlike the known."""

import json
import random
import re

import pytest
from doubles import mutated, randoms, read, sample
from hypothesis import given
from hypothesis import strategies as st

from structured.automata import DEAD, RegularAutomaton
from structured.errors import PatternError
from structured.pattern import Members, Pattern, Unlike, alternation, chars, concat, literal, optional, repeat

KEYS = st.text('ab"\\\n\x01é€🙂', max_size=3)
DIGITS = repeat(chars("01"), 1, 2)


def spelled(text: str) -> str:
    """Return the inside of a JSON string as `json.dumps` spells it."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def member(key: Pattern) -> Pattern:
    return concat(literal('"'), key, literal('":'), DIGITS)


@st.composite
def objects(draw: st.DrawFn) -> Pattern:
    """Return objects with some members required, some optional, and perhaps others after them."""
    keys = draw(st.lists(KEYS.map(spelled), max_size=5, unique=True))
    members = tuple((member(literal(key)), draw(st.booleans())) for key in keys)
    others = draw(st.booleans()) or not keys
    separator = draw(st.sampled_from([literal(","), literal(", "), alternation(literal(","), literal(", "))]))
    some = Members(members, separator, member(Unlike(tuple(keys))) if others else None)
    return concat(literal("{"), optional(some), literal("}"))


@given(objects(), randoms())
def test_members_agree_with_the_printed_pattern(pattern: Pattern, rng: random.Random) -> None:
    """The automaton accepts what `re` matches, and rejects what it does not."""
    automaton = RegularAutomaton(pattern)
    compiled = re.compile(str(pattern), re.DOTALL)
    texts = [sample(pattern, rng) for _ in range(4)]
    assert all(compiled.fullmatch(text) for text in texts)
    for text in [*texts, *(mutated(text, rng) for text in texts)]:
        state = read(automaton, text.encode())
        accepted = state != DEAD and automaton.accepts(state)
        assert accepted == (compiled.fullmatch(text) is not None), text


@given(objects(), randoms())
def test_distances_lead_to_the_end(pattern: Pattern, rng: random.Random) -> None:
    """From every state on the way, as many bytes as its distance says are enough, and no fewer."""
    automaton = RegularAutomaton(pattern)
    state = automaton.start
    for byte in [*sample(pattern, rng).encode(), None]:
        successors = {automaton.step(state, following) for following in range(256)} - {DEAD}
        least = min((int(automaton.distances[successor]) + 1 for successor in successors), default=None)
        distance = automaton.distances[state]
        assert distance == least or (distance == 0 and automaton.accepts(state))
        state = automaton.step(state, byte) if byte is not None else state


@given(st.lists(KEYS, max_size=6), KEYS)
def test_keys_unlike_the_known(known: list[str], key: str) -> None:
    """A key in the one spelling of `json.dumps` is accepted unless it is known; so says the printed pattern."""
    pattern = concat(literal('"'), Unlike(tuple(dict.fromkeys(map(spelled, known)))), literal('"'))
    automaton = RegularAutomaton(pattern)
    for text in (key, *known, *(f"{other}{key}" for other in known), *(other[:-1] for other in known)):
        state = read(automaton, json.dumps(text, ensure_ascii=False).encode())
        accepted = state != DEAD and automaton.accepts(state)
        assert accepted == (text not in known), text
        assert accepted == (re.fullmatch(str(pattern), json.dumps(text, ensure_ascii=False)) is not None)


@pytest.mark.parametrize("text", ['"\\u0061"', '"\\/"', '"\\u000a"', '"\\u001F"', '"\n"', '"\\x"'])
def test_other_spellings_of_keys_are_not_written(text: str) -> None:
    """One spelling for each key: no known key can come back in disguise."""
    automaton = RegularAutomaton(concat(literal('"'), Unlike(("x",)), literal('"')))
    assert read(automaton, text.encode()) == DEAD


@pytest.mark.parametrize("first", ["", "x"])
def test_keys_that_leave_no_others_are_refused(first: str) -> None:
    """Where every character that may come next is taken, the shortest other key is not what the automaton thinks."""
    with pytest.raises(PatternError, match="So many texts are excluded"):
        RegularAutomaton(Unlike(tuple(f"{first}{chr(point)}" for point in range(0x80, 0xC0))))
    RegularAutomaton(Unlike(tuple(f"{first}{chr(point)}" for point in range(0x80, 0x90))))


@pytest.mark.parametrize("required", [False, True])
def test_members_take_linear_space(required: bool) -> None:
    """Twice the members print twice the pattern, and the automaton makes no more than a few states for each."""
    sizes = []
    for count in (40, 80):
        members = tuple((member(literal(f"field{number:03}")), required) for number in range(count))
        pattern = concat(literal("{"), optional(Members(members, literal(", "))), literal("}"))
        automaton = RegularAutomaton(pattern)
        text = "{" + ", ".join(f'"field{number:03}":1' for number in range(count)) + "}"
        assert automaton.accepts(read(automaton, text.encode()))
        sizes.append((len(str(pattern)), str(automaton).count("\n")))
    (printed, states), (more_printed, more_states) = sizes
    assert more_printed < 2.1 * printed
    assert more_states < 2.1 * states
