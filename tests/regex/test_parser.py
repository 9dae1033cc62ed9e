r"""Regular expressions as people write them: the pattern finds what the engine of their dialect finds."""

import itertools
import re
from typing import Annotated

import pytest
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from interegular import parse_pattern
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import SchemaError as CoreSchemaError

from structured.automata.dfa.alternating import PatternLanguage
from structured.errors import PatternError
from structured.regex.character_classes import ECMA, PYTHON, RUST, Dialect
from structured.regex.regex_parser import regex_to_pattern

TEXTS = st.text("ab1 _\n\u00e9\u2028-", max_size=5)
ATOMS = (
    "a",
    "b",
    "1",
    ".",
    r"\d",
    r"\w",
    r"\s",
    r"\D",
    r"\W",
    r"\S",
    "[ab]",
    "[^a]",
    r"[\w-]",
    "[a-z1]",
    r"\n",
    "é",
    r"\x61",
)
SAFE_ATOMS = ("a", "b", "1", "[ab]", "[^a]", "[a-z1]", "é", "-")


def regexes(atoms: tuple[str, ...], wraps: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Return regular expressions of some atoms, with what may stand around a part of one."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        quantifier = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}", "*?"])
        return st.one_of(
            st.builds("{}{}".format, inner, inner),
            st.builds("(?:{}|{})".format, inner, inner),
            st.builds("(?:{}){}".format, inner, quantifier),
            *(st.builds(wrap.format, inner) for wrap in wraps),
        )

    return st.recursive(st.sampled_from(atoms), larger, max_leaves=6)


PYTHON_WRAPS = ("^{}", "{}$", "^{}$", r"\b{}", r"{}\B", "(?={})", "(?!{})", "(?P<n>{})", "(?i:{})", r"\A{}\Z")
LINE_WRAPS = ("(?m:^{})", "(?m:{}$)", "(?m:^{}$)", "{}\\n", "(?s:.){}")
LINES = st.text("ab\n", max_size=6)
RUST_WRAPS = ("^{}", "{}$", "^{}$", r"\A{}\z", "({})", "(?i:{})", "[[:alpha:]]{}", "[^[:digit:]]{}", r"\p{{L}}{}")


def finds(regex: str, dialect: Dialect, text: str) -> bool:
    return PatternLanguage(regex_to_pattern(regex, dialect)).contains(text)


@pytest.mark.thorough
@settings(max_examples=examples(120))
@given(regexes(ATOMS, PYTHON_WRAPS), st.lists(TEXTS, min_size=1, max_size=8))
def test_the_pattern_finds_what_python_finds(regex: str, texts: list[str]) -> None:
    """Anchors, word boundaries and lookaheads included."""
    try:
        compiled = re.compile(regex)
    except re.error:
        assume(False)
        raise
    assert [text for text in texts if finds(regex, PYTHON, text) != (compiled.search(text) is not None)] == []


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(regexes(ATOMS, RUST_WRAPS), st.lists(TEXTS, min_size=1, max_size=8))
def test_the_pattern_finds_what_pydantic_finds(regex: str, texts: list[str]) -> None:
    """Pydantic asks Rust's `regex`."""
    adapter: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=regex)])
    assert [text for text in texts if finds(regex, RUST, text) != is_accepted(adapter, text)] == []


def is_accepted(adapter: TypeAdapter[str], text: str) -> bool:
    try:
        adapter.validate_python(text)
    except ValidationError:
        return False
    return True


@pytest.mark.thorough
@settings(max_examples=examples(150))
@given(regexes(("a", "b", "[^a]", r"\n"), (*LINE_WRAPS, "^{}$")), st.lists(LINES, min_size=1, max_size=8))
def test_anchors_at_each_line_are_where_python_and_rust_find_them(regex: str, texts: list[str]) -> None:
    adapter: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=regex)])
    for text in texts:
        assert finds(regex, PYTHON, text) == (re.search(regex, text) is not None)
        assert finds(regex, RUST, text) == is_accepted(adapter, text)


@pytest.mark.thorough
@settings(max_examples=examples(150))
@given(regexes(SAFE_ATOMS, ("({})",)), st.lists(TEXTS, min_size=1, max_size=8))
def test_the_pattern_matches_what_interegular_matches(regex: str, texts: list[str]) -> None:
    """Another reader of regular expressions, and explicit automata: the same languages."""
    fsm = parse_pattern(regex).to_fsm()
    language = PatternLanguage(regex_to_pattern(f"^(?:{regex})$", ECMA))
    assert [text for text in texts if language.contains(text) != fsm.accepts(text)] == []


@pytest.mark.parametrize(
    ("regex", "dialect", "found", "missed"),
    [
        (r"^\d$", ECMA, ["7"], ["\u0663", "x", "7\n"]),
        (r"^\d$", RUST, ["7", "\u0663"], ["x", "7\n"]),
        (r"^\d$", PYTHON, ["7", "\u0663", "7\n"], ["x"]),
        (r"^\w$", ECMA, ["a", "_"], ["\u00e9"]),
        (r"^\w$", RUST, ["a", "_", "\u00e9"], ["-"]),
        (r"\B", ECMA, ["", "ab"], ["a"]),
        (r"^\s$", ECMA, ["\ufeff", "\u2028"], ["\u0085"]),
        (r"^\s$", RUST, ["\u0085", "\u2028"], ["\ufeff"]),
        (r"^.$", ECMA, ["x", "\u0085"], ["\n", "\r", "\u2028", "\u2029"]),
        (r"^.$", RUST, ["x", "\r", "\u2028"], ["\n"]),
        (r"^[]$", ECMA, [], ["", "]"]),
        (r"^[^]$", ECMA, ["\n", "x"], [""]),
        (r"^a{,2}$", ECMA, ["a{,2}"], ["aa"]),
        (r"^\cJ\x41\u0042\/\-$", ECMA, ["\nAB/-"], ["AB"]),
        (r"^\uD83D\uDE00$", ECMA, ["\U0001f600"], ["x"]),
        (r"^\p{Lu}+$", ECMA, ["ÀB"], ["a", ""]),
        (r"^(?<year>\d{4})$", ECMA, ["2024"], ["24"]),
        (r"(?x) a b # c", RUST, ["xaby"], ["a b"]),
        (r"(?s)^a.b$", RUST, ["a\nb"], ["ab"]),
        (r"x*", ECMA, ["", "y", "x"], []),
        (r"^(?!.*foo)(?=.{3})", ECMA, ["bar!"], ["a foo", "ba"]),
        (r"^((?!ab).)*$", ECMA, ["", "ba", "a"], ["ab", "xaby"]),
    ],
)
def test_dialects_by_example(regex: str, dialect: Dialect, found: list[str], missed: list[str]) -> None:
    assert [text for text in found if not finds(regex, dialect, text)] == []
    assert [text for text in missed if finds(regex, dialect, text)] == []


@pytest.mark.parametrize("dialect", [ECMA, RUST, PYTHON], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("regex", ["(a", "a)", "[a", "*a", "a{2,1}", "a**", "(?", "\\", "[b-a]", "(?Q)a"])
def test_what_is_malformed_or_unsupported_is_an_error(regex: str, dialect: Dialect) -> None:
    """It says what is wrong, and at which character."""
    with pytest.raises(PatternError, match="character"):
        regex_to_pattern(regex, dialect)


def test_backreferences_are_refused() -> None:
    """They are no regular language, and where they are, they can be written out."""
    for dialect in (ECMA, RUST, PYTHON):
        with pytest.raises(PatternError, match="A backreference cannot be enforced, at character 3") as caught:
            regex_to_pattern(r"(a)\1", dialect)
        assert caught.value.position == 3


@pytest.mark.parametrize("letter", "IiısſKkßẞΜ")
def test_cases_are_those_of_rust(letter: str) -> None:
    """`(?i)I` is `i`, and not the `ı` whose capital it is as well."""
    adapter: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=f"^(?i){letter}$")])
    for other in "IiİısſSKkKßẞµΜμ":
        assert finds(f"^(?i){letter}$", RUST, other) == is_accepted(adapter, other), other


@pytest.mark.parametrize(
    ("regex", "found", "missed"),
    [
        (r"(?<=a+)b", ["ab", "xaab"], ["b", "ba"]),
        (r"^(?<!x.*)b", ["b"], ["xb"]),
        (r"(?<=^|,)b", ["b", "a,b"], ["ab"]),
    ],
)
def test_ecma_looks_behind_for_texts_of_any_length(regex: str, found: list[str], missed: list[str]) -> None:
    assert [text for text in found if not finds(regex, ECMA, text)] == []
    assert [text for text in missed if finds(regex, ECMA, text)] == []


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(st.text(r"ab(|)*+?{}[]^$\.-,12dwsbBAzpux:=!<>P&", max_size=8))
@example(r"1|\<")
def test_what_rust_reads_is_read_or_refused_and_never_misread(regex: str) -> None:
    """Random texts: each is found in the same texts, or is no regular expression here."""
    try:
        adapter: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=regex)])
    except CoreSchemaError:
        assume(False)
        raise
    try:
        pattern = regex_to_pattern(regex, RUST)
    except PatternError:
        return
    language = PatternLanguage(pattern)
    for text in ("", "a", "b", "ab", "ba", "1", "2", "-", "d", "aa\n", "\n", "[", "^a", "&", "bab1"):
        assert language.contains(text) == is_accepted(adapter, text), text


@pytest.mark.parametrize(
    ("regex", "dialect"),
    [
        ("(?i:[ab])[ab]", PYTHON),
        ("[ab](?i:[ab])", PYTHON),
        (r"[\w](?a:[\w])", PYTHON),
        ("(?i:[^a])[^a]", PYTHON),
        ("(?i:[ab])[ab]", ECMA),
        ("[ab](?i:[ab])", ECMA),
    ],
)
def test_a_class_is_read_again_under_other_flags(regex: str, dialect: Dialect) -> None:
    """Though its words are the same."""
    language = PatternLanguage(regex_to_pattern(regex, dialect))
    for text in map("".join, itertools.product("aAbBé", repeat=2)):
        assert language.contains(text) == (re.fullmatch(regex, text) is not None), text
