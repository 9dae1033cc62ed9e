"""Interrupted loops: an automaton that an error stopped in the middle goes on as if nothing had been."""

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from interruptions import watched_growths
from walks import read

from structured.automata import DEAD, Limits, RegularAutomaton
from structured.automata.opcodes import FAR
from structured.errors import PatternError
from structured.regex import Distinct, Pattern, chars, concat, literal, repeat, words
from structured.vocabulary import Vocabulary

LETTERS = [*map("".join, itertools.product("ab", repeat=7))]
LOOKING_BACK = concat(repeat(chars("ab"), 0, None), literal("a"), repeat(chars("ab"), 9, 9))
COUNTED = repeat(repeat(repeat(literal("ab"), 1, 9), 1, 9), 1, 500)
DIFFERENT = concat(literal("["), Distinct(words(LETTERS), literal(","), 1, None, (7,), is_inexhaustible=False), literal("]"))

CASES: dict[str, tuple[Pattern, list[str]]] = {
    "many states": (LOOKING_BACK, ["".join(text) for text in itertools.product("ab", repeat=9)]),
    "many frames": (COUNTED, ["ab" * 60]),
    "a long text": (repeat(literal("a"), 0, 100_000), ["a" * 3_000]),
    "items that must differ": (DIFFERENT, ["[" + ",".join(LETTERS[:count]) for count in (1, 2, 40)]),
}


class Told(NamedTuple):
    """What an automaton tells of a text, whatever the numbers of its states: the bytes left, and a mask."""

    distance: int
    mask: list[int]


@cache
def vocabulary() -> Vocabulary:
    """Return a vocabulary with tokens of all lengths up to 100 bytes."""
    tokens = [*(bytes([byte]) for byte in range(256)), *(b"ab" * count for count in range(2, 51)), b"a" * 70, b"ab,", b"b]"]
    return Vocabulary((*tokens, None), frozenset({len(tokens)}))


def told(automaton: RegularAutomaton, texts: list[str]) -> Iterator[Told]:
    """Read some texts, and yield what the automaton tells of each."""
    for text in texts:
        state = read(automaton, text.encode())
        mask = np.zeros(-(-vocabulary().size // 32), dtype=np.uint32)
        if state == DEAD:
            yield Told(FAR, mask.tolist())
            continue
        automaton.walk(vocabulary().trie, state, mask)
        yield Told(int(automaton.distances[state]), mask.tolist())


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("pattern", "texts"), CASES.values(), ids=CASES)
def test_an_automaton_goes_on_after_an_error(pattern: Pattern, texts: list[str], error: type[BaseException]) -> None:
    """Wherever an array could not be enlarged, or Ctrl-C came, all that is told afterwards is as without the error."""
    automaton = RegularAutomaton(pattern)
    with watched_growths() as growths:
        expected = [*told(automaton, texts)]
    assert growths.count
    for place in range(growths.count):
        automaton = RegularAutomaton(pattern)
        with pytest.raises(error), watched_growths(place, error):
            [*told(automaton, texts)]
        assert [*told(automaton, texts)] == expected
