"""Obligations in their simplest form are met by the same texts."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structured.automata.grammar.lexer import Context, Lexer, Terminal
from structured.automata.grammar.threads import Obligations
from structured.errors import GrammarError

WORDS = ["".join(word) for count in range(4) for word in itertools.product("ab_", repeat=count)]
PIECES = [
    "a",
    "b",
    "[ab]+",
    "a*?",
    "_",
    "(?=a)",
    "(?!b)",
    "(?!ab)",
    "(?=a|_b)",
    "(?<=a)",
    "(?!a(?!b))",
    "(?!ab(?![ab]))",
]
EXPRESSIONS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)


def holds(lexer, obligations, behind, text):
    """Tell whether a text meets obligations, read byte by byte."""
    for byte in text.encode():
        obligations = lexer._obligations_after(obligations, behind, byte)
        if obligations is None:
            return False
        behind = lexer._behind_row(behind).entries[byte]
    return lexer.matcher.are_met_at_end(obligations)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=60)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=3))
def test_simplest_obligations_are_met_by_the_same_texts(expressions):
    terminals = [Terminal(f"T{number}", text) for number, text in enumerate(expressions)]
    simplified = {}
    simplify = Obligations._simplified

    def noted(self, obligations, behind):
        simplified[obligations, behind] = simplify(self, obligations, behind)
        return simplified[obligations, behind]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Obligations, "_simplified", noted)
        try:
            lexer = Lexer(terminals, [Context(tuple(range(len(terminals))), {})])
        except GrammarError:
            return
        state, waiting = lexer.start(0, lexer.initial_lookaround), []
        for byte in b"abaab":
            waiting.append(state)
            state = lexer.arrivals[lexer.row(state)[byte]].state
            if state < 0:
                break
    for (obligations, behind), simplest in simplified.items():
        for word in WORDS:
            is_met = simplest is not None and holds(lexer, simplest, behind, word)
            assert is_met == holds(lexer, obligations, behind, word)
        if simplest:
            assert len(simplest) <= len(obligations)


def test_what_a_name_leaves_behind_does_not_depend_on_reserved_words():
    """`P and not (X and P)` is `P and not X`, which is `not X` where that implies P."""
    name = Terminal("NAME", "(?!(?:abc|abd)(?![a-z]))[a-z]+")
    lexer = Lexer([name], [Context((0,), {})])
    state, lookarounds = lexer.start(0, lexer.initial_lookaround), set()
    for byte in b"ab":
        state, tokens = lexer.arrivals[lexer.row(state)[byte]]
        lookarounds |= {token.lookaround for token in tokens}
    assert len(lookarounds) == 1
