"""The lazy automaton of a pattern: the same language as Python's `re`, over bytes, with exact distances."""

import contextlib
import itertools
from functools import partial

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_patterns import BOUNDARIES, code_points, patterns_with_texts, ranges
from walks import Answer, accepted, answer, nearest_end, read
from ways import matches

from structured import Grammar
from structured.automata import DEAD, Automaton, Foundation, Limits, RegularAutomaton
from structured.automata.combination import InSequence, combined
from structured.automata.product import product
from structured.errors import PatternError
from structured.regex import Pattern, alternation, char_set, chars, concat, literal, optional, repeat, words
from structured.regex.character_sets import Range, byte_sequences, normalise
from structured.vocabulary import Vocabulary

Texts = tuple[Pattern, list[str]]


def states_reached(automaton: RegularAutomaton) -> range:
    return range(len(str(automaton).splitlines()))


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(patterns_with_texts())
def test_accepts_what_re_matches(drawn: Texts) -> None:
    """The automaton accepts the UTF-8 of exactly the texts that the printed pattern matches in Python's `re`."""
    pattern, texts = drawn
    automaton = RegularAutomaton(pattern)
    for text in texts:
        assert accepted(automaton, text.encode()) == matches(pattern, text), (pattern, text)


@pytest.mark.parametrize(
    "automaton",
    [
        RegularAutomaton(literal("a")),
        Grammar('start: "a"').automaton(),
        combined(InSequence((RegularAutomaton(literal("a")), Grammar('start: "b"').automaton()))),
        product([Grammar('start: "a"').automaton(), RegularAutomaton(optional(literal("a")))]),
    ],
    ids=["pattern", "grammar", "combination", "product"],
)
def test_no_text_is_accepted_in_dead(automaton: Automaton) -> None:
    """No text goes through DEAD, which is the last row of an array to NumPy."""
    assert automaton.step(automaton.start, ord("x")) == DEAD
    assert not automaton.accepts(DEAD)


@pytest.mark.thorough
@given(patterns_with_texts(), st.binary(min_size=1, max_size=3), st.integers(0, 20))
def test_never_accepts_invalid_utf8(drawn: Texts, noise: bytes, place: int) -> None:
    """Bytes that are not UTF-8 are never accepted, and bytes that are UTF-8 are judged by their text."""
    pattern, texts = drawn
    automaton = RegularAutomaton(pattern)
    for text in texts:
        data = text.encode()
        for broken in (data[:place] + noise + data[place:], data[:place] + noise + data[place + 1 :], data[:-1]):
            try:
                decoded = broken.decode()
            except UnicodeDecodeError:
                assert not accepted(automaton, broken)
            else:
                assert accepted(automaton, broken) == matches(pattern, decoded)


@pytest.mark.parametrize(
    "broken",
    [
        *(b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf"),
        *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff"),
        *(b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x99"),
    ],
)
def test_any_character_is_never_malformed(broken: bytes) -> None:
    """Overlong forms, surrogates, code points past U+10FFFF and cut characters are not "any text"."""
    anything = RegularAutomaton(repeat(char_set(negated=True), 0, None))
    assert not accepted(anything, broken)
    assert not accepted(anything, b"a" + broken)
    assert accepted(anything, "aé€🙂".encode())


@pytest.mark.thorough
@given(patterns_with_texts(max_leaves=5))
def test_every_state_is_alive_and_knows_how_far_it_is(drawn: Texts) -> None:
    """At every state, `distance` is the length of the shortest completion, found by search; no state is a dead end."""
    pattern, texts = drawn
    automaton = RegularAutomaton(pattern)
    for text in texts:
        read(automaton, text.encode())
    for state in states_reached(automaton)[:40]:
        assert automaton.distances[state] == nearest_end(automaton, state)


@pytest.mark.thorough
@given(patterns_with_texts())
def test_states_are_reached_only_when_asked_for(drawn: Texts) -> None:
    """A new automaton has its start and nothing else; expanding a state twice changes nothing."""
    automaton = RegularAutomaton(drawn[0])
    assert list(states_reached(automaton)) == [automaton.start]
    automaton.expand(automaton.start)
    row, states = automaton.table[automaton.start].copy(), states_reached(automaton)
    automaton.expand(automaton.start)
    assert (automaton.table[automaton.start] == row).all()
    assert states_reached(automaton) == states


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (repeat(literal("a"), 0, 1_000_000), "a" * 30),
        (repeat(literal("a"), 1_000_000, None), "a" * 30),
        (repeat(char_set((0x20, 0x10FFFF)), 0, 1_000_000), "日本" * 5),
        (concat(*(repeat(chars("ab"), 1, 3) for _ in range(5000))), "abba" * 8),
        (alternation(*(literal(f"{number:05}") for number in range(5000))), "01234"),
        (repeat(repeat(repeat(literal("ab"), 0, 1000), 0, 1000), 0, 1000), ""),
    ],
    ids=["at most a million", "at least a million", "characters", "5000 parts", "5000 options", "nested"],
)
def test_large_patterns_cost_only_what_is_walked(pattern: Pattern, text: str) -> None:
    """States come with the bytes that are read, a few for each, and not with the size of the pattern."""
    automaton = RegularAutomaton(pattern)
    assert read(automaton, text.encode()) != DEAD
    assert len(states_reached(automaton)) <= 12 * (len(text.encode()) + 1)


def counted(item: Pattern, *most: int) -> Pattern:
    """Return a repetition inside a repetition for each number."""
    for maximum in most:
        item = repeat(item, 1, maximum)
    return item


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pattern", "byte"),
    [
        (counted(literal("a"), 99, 99, 99), b"a"),
        (counted(literal("a"), 999, 999, 999, 999), b"a"),
        (repeat(concat(repeat(literal("a"), 0, 1000), repeat(literal("b"), 0, 1000)), 0, 1000), b"a"),
        (repeat(words(["a", "aa", "aaa"]), 1, 100_000), b"a"),
        (concat(repeat(char_set(negated=True), 0, None), literal("a"), repeat(char_set(negated=True), 20, 20)), b"a"),
        (repeat(concat(repeat(literal("x"), 1, None), repeat(literal("x"), 1, None)), 1, None), b"x"),
        (concat(repeat(optional(literal("a")), 1000, 1000), repeat(literal("a"), 1000, 1000)), b"a"),
    ],
    ids=["three counters", "four counters", "two in one", "words", "looking back", "ambiguous", "a?"],
)
def test_a_hostile_pattern_is_read_or_refused_and_never_hangs(pattern: Pattern, byte: bytes) -> None:
    """In the seconds and bytes that the limits give, with an error that says what was too much."""
    automaton = RegularAutomaton(pattern, limits=Limits(seconds=0.3))
    with contextlib.suppress(PatternError):
        assert read(automaton, byte * 300) != DEAD
    assert automaton.seconds < 5


def test_the_limit_of_seconds_is_kept() -> None:
    """Steps that take long count; the ordinary ones of a long life do not."""
    hostile = repeat(repeat(repeat(literal("a"), 1, 99), 1, 99), 1, 99)
    with pytest.raises(PatternError, match="more than 0 seconds to make states in"):
        read(RegularAutomaton(hostile, limits=Limits(seconds=0.0)), b"a" * 2000)
    automaton = RegularAutomaton(repeat(literal("a"), 0, 1000), limits=Limits(seconds=0.5))
    read(automaton, b"a" * 1000)
    assert automaton.seconds < 0.5


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(bytes=1 << 18), "more than 262,144 bytes"),
        (Limits(states=10), "more than 10 states"),
    ],
    ids=["bytes", "states"],
)
def test_each_limit_is_kept(limits: Limits, message: str) -> None:
    """Whichever is reached first."""
    automaton = RegularAutomaton(repeat(literal("a"), 0, 100_000), limits=limits)
    with pytest.raises(PatternError, match=message):
        read(automaton, b"a" * 100_000)


def test_the_limit_of_bytes_is_used_up() -> None:
    """There is an error where an array would have to be doubled past it, and no earlier."""
    limits = Limits(bytes=1 << 22)
    automaton = RegularAutomaton(repeat(literal("a"), 0, 100_000), limits=limits)
    with pytest.raises(PatternError, match="more than 4,194,304 bytes"):
        read(automaton, b"a" * 100_000)
    assert limits.bytes / 3 < automaton._machine.nbytes() <= limits.bytes


@settings(max_examples=examples(60))
@given(patterns_with_texts(), st.integers(1, 30))
def test_a_limit_changes_no_answer(vocabulary: Vocabulary, drawn: Texts, max_states: int) -> None:
    """In the middle of a text or of a walk, it is an error; what was told before is told again, also after it."""
    pattern, texts = drawn
    unlimited, limited = RegularAutomaton(pattern), RegularAutomaton(pattern, limits=Limits(states=max_states))
    answers: dict[str, Answer] = {}
    for text in [*texts, *texts]:
        try:
            answers[text] = answer(limited, vocabulary, text)
        except PatternError as error:
            assert f"more than {max_states} states" in str(error)  # noqa: PT017  there may be none
    assert answers == {text: answer(unlimited, vocabulary, text) for text in answers}
    assert answers == {text: answer(limited, vocabulary, text) for text in answers}


def test_a_foundation_is_no_other_pattern() -> None:
    """Patterns that are assembled once keep their identity: no later pattern is taken for one of them."""
    digits = [char_set((0x30 + low, 0x39)) for low in range(10)]
    foundation = Foundation([concat(digit, literal("x")) for digit in digits * 50])
    for number in range(2000):
        automaton = RegularAutomaton(concat(char_set((0x61, 0x7A)), literal(f"{number}")), foundation=foundation)
        assert accepted(automaton, f"k{number}".encode())
        assert not accepted(automaton, f"{number % 10}x".encode())


def test_exact_count_in_a_long_repeat() -> None:
    """The counter of a repetition is exact: a thousand are accepted, one less and one more are not."""
    automaton = RegularAutomaton(repeat(literal("é"), 1000, 1000))
    assert [accepted(automaton, "é".encode() * count) for count in (999, 1000, 1001)] == [False, True, False]


def test_too_many_states_are_an_error() -> None:
    """An automaton that grows past its limit says so, instead of taking the memory of the machine."""
    either = chars("ab")
    pattern = concat(repeat(either, 0, None), literal("a"), repeat(either, 20, 20))
    automaton = RegularAutomaton(pattern, limits=Limits(states=1000))
    texts = [f"{number:012b}".translate({0x30: "a", 0x31: "b"}).encode() for number in range(2**12)]
    with pytest.raises(PatternError, match=r"The automaton needs more than 1,000 states, .* Nest fewer bounded"):
        all(map(partial(read, automaton), texts))


def test_printed_automaton_tells_what_has_been_walked() -> None:
    """The table for people has a line for each state reached, marks the accepting ones, and names the bytes."""
    automaton = RegularAutomaton(concat(literal('"'), repeat(char_set((0x61, 0x7A)), 0, None), literal("é")))
    assert str(automaton).split() == ["0", "not", "expanded"]
    after_quote, letters, end = (read(automaton, text.encode()) for text in ('"', '"aa', '"aé'))
    assert str(automaton).splitlines()[automaton.start].split() == [str(automaton.start), f"'\"'→{after_quote}", "…"]
    for state in (automaton.start, after_quote, letters, end):
        automaton.expand(state)
    lines = str(automaton).splitlines()
    assert lines[automaton.start].split() == [str(automaton.start), f"'\"'→{after_quote}"]
    assert f"'a'-'z'→{letters}  c3→" in lines[letters]
    assert [("accepts" in line) for line in lines] == [automaton.accepts(state) for state in range(len(lines))]
    assert lines[end].split() == [str(end), "accepts"]


def encodings(given_ranges: tuple[Range, ...]) -> list[bytes]:
    """Return every byte string that the sequences of some ranges spell."""
    return [
        bytes(spelled)
        for sequence in byte_sequences(given_ranges)
        for spelled in itertools.product(*(range(low, high + 1) for low, high in sequence))
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("boundary", [*BOUNDARIES, 0xD800, 0xDFFF])
@given(below=st.integers(0, 200), above=st.integers(0, 200))
@settings(max_examples=20)
def test_byte_sequences_across_each_boundary(boundary: int, below: int, above: int) -> None:
    """Around each change of length, and around the surrogates, the sequences spell each encoding once and no more."""
    given_ranges = normalise([(max(boundary - below, 0), min(boundary + above, 0x10FFFF))])
    expected = [chr(point).encode() for low, high in given_ranges for point in range(low, high + 1)]
    assert sorted(encodings(given_ranges)) == expected


@pytest.mark.thorough
def test_byte_sequences_of_all_characters() -> None:
    """All of Unicode is spelled exactly, and by few sequences: the nine rows of table 3-7 of the standard."""
    everything = normalise([(0, 0x10FFFF)])
    assert len(byte_sequences(everything)) == 9
    spelled = encodings(everything)
    assert len(spelled) == 0x110000 - 0x800
    assert set(spelled) == {chr(point).encode() for low, high in everything for point in range(low, high + 1)}


@pytest.mark.thorough
@given(ranges().map(normalise), st.lists(code_points(), max_size=30))
def test_byte_sequences_of_wide_ranges(given_ranges: tuple[Range, ...], points: list[int]) -> None:
    """Each character is spelled by one sequence if it is in the ranges and by none otherwise."""
    sequences = byte_sequences(given_ranges)
    ends = [end + offset for pair in given_ranges for end in pair for offset in (-1, 0, 1)]
    for point in points + ends:
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            data = chr(point).encode()
            spelling = [
                sequence
                for sequence in sequences
                if len(sequence) == len(data)
                and all(low <= byte <= high for byte, (low, high) in zip(data, sequence, strict=True))
            ]
            assert len(spelling) == any(low <= point <= high for low, high in given_ranges)
