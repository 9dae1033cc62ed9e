"""The syntax tree of patterns: its normal forms, and its printing as a Python regular expression."""

import random
import re
import sys
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_patterns import BOUNDARIES, CHARACTERS, char_sets, patterns, ranges, sample
from ways import matches

from structured.errors import PatternError
from structured.regex import (
    EMPTY,
    Alternation,
    CharSet,
    Concat,
    Literal,
    Pattern,
    Words,
    alternation,
    char_set,
    chars,
    concat,
    literal,
    optional,
    repeat,
    words,
)
from structured.regex.character_sets import MAX_CODE_POINT, Range, complement, normalise

LANDMARKS = sorted({*range(0x180), *map(ord, CHARACTERS), *(p + d for p in BOUNDARIES for d in range(-3, 4))})
"""Code points at which a set of characters is probed; some lie outside Unicode, some are surrogates."""


def within(given_ranges: list[Range] | tuple[Range, ...], code_point: int) -> bool:
    return any(low <= code_point <= high for low, high in given_ranges)


def is_character(code_point: int) -> bool:
    return 0 <= code_point <= MAX_CODE_POINT and not 0xD800 <= code_point <= 0xDFFF


def probes(given_ranges: list[Range] | tuple[Range, ...]) -> list[int]:
    ends = {end + offset for pair in given_ranges for end in pair for offset in (-1, 0, 1)}
    return sorted(point for point in ends | set(LANDMARKS) if is_character(point))


@pytest.mark.thorough
@given(patterns(), st.randoms(use_true_random=False))
def test_printed_pattern_matches_sampled_texts(pattern: Pattern, rng: random.Random) -> None:
    """Every text spelled by a walk down the tree matches what the tree prints, in Python's `re`."""
    for text in (sample(pattern, rng) for _ in range(3)):
        assert matches(pattern, text)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(CHARACTERS))
def test_literal_prints_as_exactly_itself(text: str, other: str) -> None:
    """A literal of any characters, special to `re` or not, matches itself and nothing else."""
    printed = str(literal(text))
    assert re.fullmatch(printed, text)
    assert bool(re.fullmatch(printed, other)) == (text == other)


@pytest.mark.thorough
@given(char_sets())
def test_char_set_prints_as_exactly_its_characters(node: CharSet) -> None:
    """A set of characters matches exactly those inside its ranges, special ones and ends of ranges included."""
    compiled = re.compile(str(node))
    for point in probes(node.ranges):
        assert bool(compiled.fullmatch(chr(point))) == within(node.ranges, point)


@pytest.mark.parametrize(
    ("pattern", "printed"),
    [
        (EMPTY, ""),
        (literal("a.b\\"), r"a\.b\\"),
        (literal("(x|y)*"), r"\(x\|y\)\*"),
        (literal("é\n\u2028🙂\U000e0001"), r"é\x0a\u2028🙂\U000e0001"),
        (chars("^-]\\a[&|~"), r"[\&\-\[-\^a\|\~]"),
        (char_set((0x61, 0x62)), "[ab]"),
        (char_set((0x61, 0x63), (0x30, 0x39)), "[0-9a-c]"),
        (char_set((0x22, 0x22), negated=True), r"[\x00-!#-" + "\\ud7ff" + "\\ue000-\\U0010ffff]"),
        (repeat(literal("a"), 0, None), "a*"),
        (repeat(literal("ab"), 1, None), "(?:ab)+"),
        (optional(chars("ab")), "[ab]?"),
        (repeat(literal("."), 2, None), r"\.{2,}"),
        (repeat(literal("é"), 3, 3), "é{3}"),
        (repeat(repeat(literal("a"), 0, None), 2, 5), "(?:a*){2,5}"),
        (concat(alternation(literal("a"), EMPTY), literal("b")), "(?:a|)b"),
        (alternation(literal("a"), concat(literal("b"), optional(literal("c")))), "a|bc?"),
    ],
)
def test_printing(pattern: Pattern, printed: str) -> None:
    """What people read is short, escaped where it must be, and grouped where it must be."""
    assert str(pattern) == printed


@pytest.mark.thorough
@given(patterns(), patterns(), patterns())
def test_concat_is_flat_and_associative(left: Pattern, middle: Pattern, right: Pattern) -> None:
    """However a concatenation is nested, the same flat node comes out, with neighbouring literals joined."""
    flat = concat(left, middle, right)
    assert concat(concat(left, middle), right) == flat == concat(left, concat(middle, right))
    assert concat(EMPTY, flat, EMPTY) == flat
    if isinstance(flat, Concat):
        assert len(flat.parts) > 1
        assert not any(isinstance(part, Concat) or part == EMPTY for part in flat.parts)
        neighbours = pairwise(flat.parts)
        assert not any(isinstance(a, Literal) and isinstance(b, Literal) for a, b in neighbours)


@given(st.text(CHARACTERS), st.text(CHARACTERS))
def test_concat_of_literals_is_the_literal_of_both(left: str, right: str) -> None:
    """Concatenating literals is concatenating texts."""
    assert concat(literal(left), literal(right)) == literal(left + right)


@pytest.mark.thorough
@given(patterns(), patterns(), patterns())
def test_alternation_is_flat_and_without_repetitions(left: Pattern, middle: Pattern, right: Pattern) -> None:
    """However an alternation is nested, the same flat node comes out, each option once and in the order given."""
    flat = alternation(left, middle, right)
    assert alternation(alternation(left, middle), right) == flat == alternation(left, alternation(middle, right))
    assert alternation(flat, left, right) == flat
    if isinstance(flat, Alternation):
        assert len(flat.options) > 1
        simple = [option for option in flat.options if isinstance(option, CharSet)]
        assert len(set(simple)) == len(simple)
        assert sum(isinstance(option, Literal | Words) for option in flat.options) < 2
        assert len(set(map(id, flat.options))) == len(flat.options)
        assert not any(isinstance(option, Alternation) for option in flat.options)


@given(st.lists(st.text(CHARACTERS), min_size=1))
def test_words_are_the_alternation_of_their_texts(texts: list[str]) -> None:
    """Each once, in the order given; one text is a literal."""
    pattern = words(texts)
    assert pattern == alternation(*map(literal, texts))
    assert (pattern.texts if isinstance(pattern, Words) else (pattern.text,)) == tuple(dict.fromkeys(texts))
    with pytest.raises(PatternError, match="no words"):
        words([])


def test_alternation_of_shared_trees_is_quick() -> None:
    """Two references to the same option at each of sixty levels are no 2**60 comparisons."""
    pattern: Pattern = literal("a")
    for _ in range(60):
        pattern = alternation(concat(literal("b"), pattern), concat(literal("c"), pattern))
    assert isinstance(pattern, Alternation)


@pytest.mark.thorough
@given(patterns())
def test_repeat_normal_forms(item: Pattern) -> None:
    """Once is the item itself, never is nothing, and nothing repeated is nothing."""
    assert repeat(item, 1, 1) == item
    assert repeat(item, 0, 0) == EMPTY
    assert repeat(EMPTY, 2, None) == EMPTY
    assert optional(item) == repeat(item, 0, 1)


@pytest.mark.thorough
@given(ranges())
def test_normalise_keeps_the_characters(given_ranges: list[Range]) -> None:
    """Normal ranges are sorted, neither overlap nor touch, and hold the given characters less the surrogates."""
    normal = normalise(given_ranges)
    assert all(low <= high for low, high in normal)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(normal))
    assert normalise(reversed(normal)) == normal
    assert not any(within(normal, point) for point in range(0xD800, 0xE000))
    for point in probes(given_ranges):
        assert within(normal, point) == within(given_ranges, point)


@pytest.mark.thorough
@given(ranges())
def test_complement_is_an_involution(given_ranges: list[Range]) -> None:
    """A character is inside either a set or its complement; the complement of the complement is the set."""
    inside, outside = normalise(given_ranges), complement(given_ranges)
    assert complement(outside) == inside
    for point in probes(given_ranges):
        assert within(inside, point) != within(outside, point)
    size = sum(high - low + 1 for low, high in inside + outside)
    assert size == sys.maxunicode + 1 - 2048  # every code point but the surrogates


@pytest.mark.parametrize("code_point", [0xD800, 0xDC80, 0xDFFF])
def test_lone_surrogate_is_refused(code_point: int) -> None:
    """No UTF-8 text holds a lone surrogate, so a literal with one is an error and not an unmatchable pattern."""
    with pytest.raises(PatternError, match=r"A lone surrogate is not a character, in the pattern .* no UTF-8 text"):
        literal(f"a{chr(code_point)}")


@pytest.mark.parametrize(
    "empty", [char_set, lambda: char_set((5, 4)), lambda: char_set((0xD800, 0xDFFF)), lambda: chars("")]
)
def test_empty_set_is_refused(empty: Callable[[], Pattern]) -> None:
    """A set without a character matches nothing, which no pattern may: it would be a state without a way out."""
    with pytest.raises(PatternError, match=r"An empty set of characters matches nothing, .* Name at least one"):
        empty()


def test_empty_alternation_is_refused() -> None:
    """An alternation without options matches nothing, which no pattern may."""
    with pytest.raises(PatternError, match=r"An alternation of nothing matches nothing\. Give at least one option\."):
        alternation()


@pytest.mark.parametrize(("minimum", "maximum"), [(-1, 2), (3, 2), (-1, None)])
def test_impossible_count_is_refused(minimum: int, maximum: int | None) -> None:
    """A repetition that no count satisfies is refused with both limits in the message."""
    with pytest.raises(PatternError, match=f"No count lies between {minimum} and {maximum}"):
        repeat(literal("a"), minimum, maximum)


def test_long_pattern_is_cut_in_the_message() -> None:
    """An error about a huge pattern stays readable, and tells how long the pattern is."""
    error = PatternError("It is wrong", pattern="x" * 5000, remedy="Mend it.")
    assert str(error) == f"It is wrong, in the pattern {'x' * 200 + '… (5,000 characters)'!r}. Mend it."
    assert error.pattern == "x" * 5000
