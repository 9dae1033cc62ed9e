"""Interrupted loops of grammars: an automaton that an error stopped in the middle goes on as if nothing had been."""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("lark")

from interruptions import watched_growths

from structured.automata import DEAD, state_after
from structured.automata.grammar.grammar_automaton import GrammarAutomaton
from structured.automata.grammar.lark_grammar import ParserTables, read_grammar
from structured.vocabulary import Vocabulary

GRAMMARS = {
    "nested": ('start: "(" start ")" | "[" start "]" | /x+/', [b"(" * count + b"[x" for count in range(0, 400, 40)]),
    "many tokens": ("start: (A | B | C)*\nA: /a{1,60}b/\nB: /b+c/\nC: /[a-c]{3}d/", [b"ab", b"aab", b"bbb", b"abcab"]),
}


def vocabulary() -> Vocabulary:
    """Return a vocabulary with a few long tokens."""
    bytes_each = [bytes([byte]) for byte in range(256)]
    tokens = [*bytes_each, *(b"(" * count for count in range(2, 9)), b"]))", b"xx]", b"abcd"]
    return Vocabulary((*tokens, None), frozenset({len(tokens)}))


def told(automaton: GrammarAutomaton, texts: list[bytes], words: Vocabulary) -> Iterator[tuple[int, list[int]]]:
    """Yield the distance and the mask after each text, with the garbage collected in between."""
    for text in texts:
        state = state_after(automaton, text)
        assert state != DEAD
        automaton._collect()
        mask = np.zeros(-(-words.size // 32), dtype=np.uint32)
        automaton.walk(words.trie, state, mask)
        yield int(automaton.distances[state]), mask.tolist()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", GRAMMARS)
def test_a_grammar_goes_on_after_an_error(name: str, error: type[BaseException]) -> None:
    """Wherever an array could not be enlarged, or Ctrl-C came, all that is told afterwards is as without the error."""
    text, texts = GRAMMARS[name]
    tables: ParserTables = read_grammar(text)[1]
    words = vocabulary()
    automaton = GrammarAutomaton(tables)
    with watched_growths() as growths:
        expected = [*told(automaton, texts, words)]
    assert growths.count
    for place in range(growths.count):
        automaton = GrammarAutomaton(tables)
        with pytest.raises(error), watched_growths(place, error):
            [*told(automaton, texts, words)]
        assert [*told(automaton, texts, words)] == expected
