"""The machine of a grammar forgets what no state needs, and goes on as if it had not."""

import numpy as np
import pytest

from structured import Grammar
from structured.automata import DEAD
from structured.automata.grammar.grammar_automaton import GrammarAutomaton
from structured.vocabulary import Vocabulary

NESTED = 'start: v\nv: A "[" v "]" | "1"\nA: /a{1,20}b/\n'


def test_collecting_at_every_step_changes_nothing(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configurations get new numbers again and again, also more of them than there were at first."""
    collecting, other = (Grammar(NESTED).automaton(None) for _ in range(2))
    assert isinstance(collecting, GrammarAutomaton)
    assert isinstance(other, GrammarAutomaton)
    states = collecting.start, other.start
    for count, byte in enumerate(b"aaab[" * 400 + b"1" + b"]" * 400):
        monkeypatch.setattr(collecting, "_collection_threshold", 0)
        states = collecting.step(states[0], byte), other.step(states[1], byte)
        assert DEAD not in states
        assert collecting.distances[states[0]] == other.distances[states[1]]
        if count % 97 == 0:
            masks = [np.zeros((vocabulary.size + 31) // 32, dtype=np.uint32) for _ in range(2)]
            monkeypatch.setattr(collecting, "_collection_threshold", 0)
            collecting.walk(vocabulary.trie, states[0], masks[0])
            other.walk(vocabulary.trie, states[1], masks[1])
            assert np.array_equal(*masks)
    assert collecting.accepts(states[0])
