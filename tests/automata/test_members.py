"""What objects with optional and other members need: members in order with separators, and keys unlike the known."""

import itertools
import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_patterns import mutated, randoms, sample
from walks import read

from structured.automata import DEAD, RegularAutomaton
from structured.errors import PatternError
from structured.regex import ObjectMembers, Pattern, Unlike, alternation, chars, concat, literal, optional, repeat

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
    some = ObjectMembers(members, separator, member(Unlike(tuple(keys))) if others else None)
    return concat(literal("{"), optional(some), literal("}"))


@pytest.mark.thorough
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


def orders(pattern: ObjectMembers) -> Pattern:
    """Return members in any order as a choice of all orders, each written out."""
    rest = () if pattern.other_member is None else (pattern.other_member,)
    more = repeat(concat(pattern.separator, *rest), 0, None) if rest else literal("")
    required = {index for index, (_, is_required) in enumerate(pattern.members) if is_required}
    numbers = range(len(pattern.members))
    options = []
    for order in (order for size in (*numbers, len(numbers)) for order in itertools.permutations(numbers, size)):
        if required <= set(order):
            between = [concat(pattern.separator, pattern.members[index][0], more) for index in order]
            if order:
                options.append(concat(pattern.members[order[0]][0], more, *between[1:]))
            if rest:
                options.append(concat(*rest, more, *between))
    return alternation(*options)


@st.composite
def objects_in_any_order(draw: st.DrawFn) -> tuple[Pattern, Pattern]:
    """Return objects with members in any order, and the same written out."""
    keys = draw(st.lists(KEYS.map(spelled), max_size=3, unique=True))
    members = tuple((member(literal(key)), draw(st.booleans())) for key in keys)
    rest = member(Unlike(tuple(keys))) if draw(st.booleans()) or not keys else None
    some = ObjectMembers(members, draw(st.sampled_from([literal(","), optional(literal(" "))])), rest, in_order=False)
    return tuple(concat(literal("{"), optional(inner), literal("}")) for inner in (some, orders(some)))


@pytest.mark.thorough
@given(objects_in_any_order(), randoms())
def test_members_in_any_order_are_all_orders(patterns: tuple[Pattern, Pattern], rng: random.Random) -> None:
    """State by state, the automaton reads the same bytes as that of all orders, and is as far from the end."""
    pattern, written_out = patterns
    automaton, reference = RegularAutomaton(pattern), RegularAutomaton(written_out)
    for text in [sample(pattern, rng), sample(written_out, rng), mutated(sample(pattern, rng), rng)]:
        state, expected = automaton.start, reference.start
        for byte in text.encode():
            assert automaton.distances[state] == reference.distances[expected]
            assert automaton.accepts(state) == reference.accepts(expected)
            for other in range(256):
                assert (automaton.step(state, other) == DEAD) == (reference.step(expected, other) == DEAD)
            state, expected = automaton.step(state, byte), reference.step(expected, byte)
            if state == DEAD:
                break


def test_what_is_written_is_a_set() -> None:
    """Two orders of the same members lead to the same state, so that what is known of it is known for both."""
    keys = [f"field{number:03}" for number in range(100)]
    members = tuple((member(literal(key)), True) for key in keys)
    pattern = concat(literal("{"), ObjectMembers(members, literal(","), in_order=False), literal("}"))
    automaton = RegularAutomaton(pattern)
    texts = ["{" + ",".join(f'"{key}":1' for key in order) + "," for order in (keys[:60], keys[59::-1])]
    first, second = (read(automaton, text.encode()) for text in texts)
    assert first == second != DEAD
    assert automaton.distances[first] == len(",".join(f'"{key}":1' for key in keys[60:])) + 1
    assert read(automaton, b"{" + b",".join([b'"field000":1', b'"field000":1'])) == DEAD


@pytest.mark.thorough
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


@pytest.mark.thorough
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
    with pytest.raises(PatternError, match="excluded texts use nearly every character"):
        RegularAutomaton(Unlike(tuple(f"{first}{chr(point)}" for point in range(0x80, 0xC0))))
    RegularAutomaton(Unlike(tuple(f"{first}{chr(point)}" for point in range(0x80, 0x90))))


@pytest.mark.parametrize("required", [False, True])
def test_members_take_linear_space(required: bool) -> None:
    """Twice the members print twice the pattern, and the automaton makes no more than a few states for each."""
    sizes = []
    for count in (40, 80):
        members = tuple((member(literal(f"field{number:03}")), required) for number in range(count))
        pattern = concat(literal("{"), optional(ObjectMembers(members, literal(", "))), literal("}"))
        automaton = RegularAutomaton(pattern)
        text = "{" + ", ".join(f'"field{number:03}":1' for number in range(count)) + "}"
        assert automaton.accepts(read(automaton, text.encode()))
        sizes.append((len(str(pattern)), str(automaton).count("\n")))
    (printed, states), (more_printed, more_states) = sizes
    assert more_printed < 2.1 * printed
    assert more_states < 2.1 * states
