r"""Whole expressions of Python: the pattern matches the texts that `re.fullmatch` matches, and no other.

No text is left to chance: those that the pattern matches are drawn from its automaton, those that it nearly matches are
made of them, and some stand in a list, with the characters on which implementations differ.
"""

import itertools
import random
import re
import string
import warnings

import pytest
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from python_patterns import PATTERNS, REFUSED

from structured.automata.dfa.alternating import PatternLanguage
from structured.errors import PatternError
from structured.regex.character_classes import PYTHON
from structured.regex.class_parser import Flags
from structured.regex.regex_parser import whole_regex_to_pattern

ODD = (
    "",
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u0085",
    "\u0663",
    "e\u0301",
    "\u017f",
    "\u212a",
    "\u0130",
    "\u0131",
    "ß",
    "ẞ",
    "ǅ",
    "ﬅ",
    "🙂",
    "\x00",
    "_",
    "é",
)
"""Texts of the characters on which engines differ."""

SHORT = [*ODD, *map("".join, itertools.product("ab\n", repeat=1)), *map("".join, itertools.product("abc \n", repeat=2))]


def language_of(regex: str, flags: int = 0) -> PatternLanguage:
    read = Flags(*(bool(flags & flag) for flag in (re.IGNORECASE, re.MULTILINE, re.DOTALL, re.VERBOSE, re.ASCII)))
    return PatternLanguage(whole_regex_to_pattern(regex, PYTHON, read))


def compiled(regex: str, flags: int = 0) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(regex, flags)


def drawn(language: PatternLanguage, chance: random.Random, longest: int = 12) -> str:
    """Return a text that an automaton went along with as far as it did."""
    state, text = language.start, ""
    starts = [*language.alphabet.starts, 0x110000]
    while len(text) < longest and not (language.accepts(state) and chance.random() < 0.3):
        row = language.row(state)
        ranges = [place for place, number in enumerate(language.alphabet.classes) if row[number] is not None]
        if not ranges:
            break
        place = chance.choice(ranges[:8] if chance.random() < 0.7 else ranges)
        low, high = starts[place], starts[place + 1] - 1
        character = chr(chance.choice([low, high, chance.randint(low, high)]))
        following = row[language.alphabet.class_of(ord(character))]
        assert following is not None
        state, text = following, text + character
    return text


def near(text: str, chance: random.Random) -> str:
    """Return a text with a character changed, added or left out, or with its case swapped."""
    place = chance.randrange(len(text) + 1)
    added = chance.choice(
        ["a", "b", "\n", "0", " ", "_", "é", "\u0663", "k", "\u212a", chance.choice(string.printable)]
    )
    return chance.choice(
        [
            text[:place] + added + text[place:],
            text[:place] + text[place + 1 :],
            text[:place] + added + text[place + 1 :],
            text.swapcase(),
            text + text,
            text + "\n",
            text[:place],
        ]
    )


def texts_for(language: PatternLanguage, chance: random.Random, number: int) -> list[str]:
    found = [drawn(language, chance) for _ in range(number)]
    return [*SHORT, *found, *(near(text, chance) for text in found for _ in range(2))]


def wrong(regex: str, flags: int = 0, number: int = 12, seed: int = 0) -> list[str]:
    """Return the texts on which the pattern and `re.fullmatch` disagree."""
    language, expected = language_of(regex, flags), compiled(regex, flags)
    texts = texts_for(language, random.Random(seed), number)
    try:
        return [text for text in texts if language.contains(text) != (expected.fullmatch(text) is not None)]
    except SystemError:  # CPython finds that it has a bug
        return []


@pytest.mark.thorough
@pytest.mark.parametrize("written", PATTERNS, ids=repr)
def test_a_pattern_matches_what_python_matches(written: str | tuple[str, int]) -> None:
    """Each pattern of the collection, on texts drawn from its automaton, on some near them, and on odd ones."""
    regex, flags = (written, 0) if isinstance(written, str) else written
    assert wrong(regex, flags) == []


def test_the_collection_is_large() -> None:
    assert len(set(PATTERNS)) == len(PATTERNS) >= 250


@pytest.mark.parametrize(("regex", "problem"), REFUSED)
def test_what_no_automaton_has_is_refused_by_name(regex: str, problem: str) -> None:
    """The error says what it is, and marks where it stands."""
    compiled(regex)
    with pytest.raises(PatternError, match=problem) as caught:
        language_of(regex)
    assert caught.value.position is not None
    assert str(caught.value).endswith("^")


def test_a_caret_stands_under_the_place() -> None:
    with pytest.raises(PatternError) as caught:
        language_of(r"ab(c*)\1")
    assert str(caught.value).splitlines()[1:] == [r"    ab(c*)\1", "          ^"]


@pytest.mark.parametrize(
    "regex", ["(", "a)", "[a", "*", "a**", r"\q", "(?P<1>a)", r"\2", "(?<=a*)b", "a(?i)b", "[b-a]", "a{2,1}"]
)
def test_what_python_does_not_compile_is_an_error_at_its_place(regex: str) -> None:
    with pytest.raises(re.error) as expected:
        re.compile(regex)
    with pytest.raises(PatternError) as caught:
        language_of(regex)
    assert caught.value.position == expected.value.pos


ATOMS = (
    "a",
    "a",
    "b",
    "b",
    "c",
    ".",
    "[ab]",
    "[^a]",
    r"\w",
    r"\W",
    r"\s",
    r"\d",
    "[^\n]",
    "\n",
    "K",
    "é",
    " ",
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    r"\Z",
    "(?<=a)",
    "(?<!b)",
    "(?<=ab)",
    r"(?<=\b.)",
    "",
)
WRAPS = ("({})", "(?:{})", "(?>{})", "(?={})", "(?!{})", "(?i:{})", "(?m:{})", "(?s:{})", "(?a:{})", "(?-i:{})")
COUNTS = ("*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "+?", "??", "{1,2}?", "*+", "++", "?+", "{1,2}+")


def regexes() -> st.SearchStrategy[str]:
    """Return regular expressions, most of which are valid."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("{}{}".format, inner, inner),
            st.builds("{}|{}".format, inner, inner),
            st.builds(str.format, st.sampled_from(WRAPS), inner),
            st.builds("(?:{}){}".format, inner, st.sampled_from(COUNTS)),
            st.builds("({}){}".format, inner, st.sampled_from(COUNTS)),
        )

    return st.recursive(st.sampled_from(ATOMS), larger, max_leaves=8)


FLAGS = st.sets(st.sampled_from([re.IGNORECASE, re.MULTILINE, re.DOTALL, re.ASCII, re.VERBOSE]), max_size=2).map(
    lambda flags: int(sum(flags))
)


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(regexes(), FLAGS, st.integers(0, 1 << 30))
@example("(?:a|ab){2}+", 0, 0)
@example("(?>(?:a|ab){2})", 0, 0)
def test_random_patterns_match_what_python_matches(regex: str, flags: int, seed: int) -> None:
    """Whatever is not refused agrees with `re.fullmatch`, on texts drawn, mutated, short and odd."""
    try:
        compiled(regex, flags)
    except (re.error, RecursionError):
        assume(False)
    try:
        assert wrong(regex, flags, 6, seed) == []
    except PatternError as error:
        if not re.search("cannot be enforced|takes more than", error.problem):
            raise


@pytest.mark.parametrize(
    "regex", [r"\w", r"\d", r"\s", r"\W", "(?i)k", "(?i)[a-z]", "(?i)[^s]", "(?i)ǆ", "(?ai)[^s]", "(?a)\\w"]
)
def test_every_character_is_in_a_class_as_python_has_it(regex: str) -> None:
    """All of Unicode, character by character, surrogates aside."""
    language, expected = language_of(regex), compiled(regex)
    row = language.row(language.start)
    alphabet = language.alphabet
    for place, (start, end) in enumerate(itertools.pairwise([*alphabet.starts, 0x110000])):
        if start in range(0xD800, 0xE000):
            continue
        every = "".join(map(chr, range(start, end)))
        found = expected.findall(every)
        assert len(found) == (len(every) if row[alphabet.classes[place]] is not None else 0), hex(start)
