"""Interrupted loops: an automaton that an error stopped in the middle goes on as if nothing had been."""

import itertools
from functools import cache

import pytest
from interruptions import watched_growths
from walks import Answer, answer

from structured.automata import RegularAutomaton
from structured.regex import Distinct, Pattern, chars, concat, literal, repeat, words
from structured.vocabulary import Vocabulary

LETTERS = [*map("".join, itertools.product("ab", repeat=7))]
LOOKING_BACK = concat(repeat(chars("ab"), 0, None), literal("a"), repeat(chars("ab"), 9, 9))
COUNTED = repeat(repeat(repeat(literal("ab"), 1, 9), 1, 9), 1, 500)
DIFFERENT = concat(
    literal("["), Distinct(words(LETTERS), literal(","), 1, None, (7,), is_inexhaustible=False), literal("]")
)

CASES: dict[str, tuple[Pattern, list[str]]] = {
    "many states": (LOOKING_BACK, ["".join(text) for text in itertools.product("ab", repeat=9)]),
    "many frames": (COUNTED, ["ab" * 30]),
    "a long text": (repeat(literal("a"), 0, 100_000), ["a" * 3_000]),
    "items that must differ": (DIFFERENT, ["[" + ",".join(LETTERS[:count]) for count in (1, 2, 40)]),
}


@cache
def vocabulary() -> Vocabulary:
    """Return a vocabulary with tokens of all lengths up to 100 bytes."""
    tokens = [
        *(bytes([byte]) for byte in range(256)),
        *(b"ab" * count for count in range(2, 51)),
        b"a" * 70,
        b"ab,",
        b"b]",
    ]
    return Vocabulary((*tokens, None), frozenset({len(tokens)}))


def answers(automaton: RegularAutomaton, texts: list[str]) -> list[Answer]:
    """Return what an automaton tells of some texts."""
    return [answer(automaton, vocabulary(), text) for text in texts]


@pytest.mark.thorough
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("pattern", "texts"), CASES.values(), ids=CASES)
def test_an_automaton_goes_on_after_an_error(pattern: Pattern, texts: list[str], error: type[BaseException]) -> None:
    """Wherever an array could not be enlarged, or Ctrl-C came, all that is told afterwards is as without the error."""
    automaton = RegularAutomaton(pattern)
    with watched_growths() as growths:
        expected = answers(automaton, texts)
    assert growths.count
    for place in range(growths.count):
        automaton = RegularAutomaton(pattern)
        with pytest.raises(error), watched_growths(place, error):
            answers(automaton, texts)
        assert answers(automaton, texts) == expected
