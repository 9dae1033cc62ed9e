"""Random combinations of output types, each with the regular expression of the same texts."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from structured import Choice, Regex, Repeat
from structured.automata import Automaton, RegularAutomaton
from structured.automata.combination import CombinedAutomaton
from structured.output_types.output_type import Description, OutputType

EXPRESSIONS = ("a", "a*", "b|ab", "[ab]{1,2}", "(?:ab)*", "a?", "é", "[^a]?", "b+?")


class Opaque(OutputType[str]):
    """An output type that hides that it is a pattern, as a grammar does."""

    def __init__(self, of: OutputType[Any]) -> None:
        self.of = of
        self.name = f"Opaque({of.name})"

    def automaton(self, document: str | None = None) -> Automaton:
        return CombinedAutomaton(self.of.automaton(document))

    def parse(self, text: str) -> str:
        found: str = self.of.parse(text)
        return found

    def describe(self) -> Description:
        return self.of.describe()


@dataclass(frozen=True)
class Combined:
    """An output type, and the expression of its texts."""

    type: OutputType[Any]
    expression: str

    def __repr__(self) -> str:
        return self.type.name


@cache
def leaves() -> st.SearchStrategy[Combined]:
    """Return small regular expressions and choices, of which some do not show that they are patterns."""
    regexes = st.sampled_from(EXPRESSIONS).map(lambda one: Combined(Regex(one), f"(?:{one})"))
    texts = st.lists(st.text("abé", max_size=2), min_size=1, max_size=3, unique=True)
    choices = texts.map(lambda some: Combined(Choice(some), f"(?:{'|'.join(some)})"))
    plain = regexes | choices
    return plain | plain.map(lambda one: Combined(Opaque(one.type), one.expression))


@cache
def combinations() -> st.SearchStrategy[Combined]:
    """Return combinations of those, up to some depth."""
    return st.recursive(leaves(), _larger, max_leaves=5)


def plain_leaves() -> st.SearchStrategy[Combined]:
    """Return small regular expressions and choices that show that they are patterns."""
    return leaves().filter(lambda one: not isinstance(one.type, Opaque))


def _larger(inner: st.SearchStrategy[Combined]) -> st.SearchStrategy[Combined]:
    counts = st.tuples(st.integers(0, 2), st.none() | st.integers(0, 2))
    return st.one_of(
        st.builds(_added, inner, st.sampled_from(["", "a", "b "]), inner),
        st.builds(lambda left, right: Combined(left.type | right.type, _one_of(left, right)), inner, inner),
        st.builds(_again, inner, counts, st.sampled_from([",", "ab"])),
    )


def _added(left: Combined, text: str, right: Combined) -> Combined:
    return Combined(left.type + text + right.type, f"{left.expression}{text}{right.expression}")


def _one_of(left: Combined, right: Combined) -> str:
    return f"(?:{left.expression}|{right.expression})"


def _again(item: Combined, counts: tuple[int, int | None], separator: str) -> Combined:
    minimum, more = counts
    maximum = None if more is None else minimum + more
    one = item.expression
    behind = f"(?:{separator}{one}){{{max(minimum - 1, 0)},{'' if maximum is None else max(maximum - 1, 0)}}}"
    expression = "" if maximum == 0 else f"{one}{behind}" if minimum else f"(?:{one}{behind})?"
    return Combined(Repeat(item.type, minimum=minimum, maximum=maximum, separator=separator), f"(?:{expression})")


def is_regular(automaton: Automaton) -> bool:
    """Tell whether an automaton is that of a pattern."""
    return isinstance(automaton, RegularAutomaton)
