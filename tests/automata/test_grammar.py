"""The automaton of a grammar accepts what Lark lexes and parses, byte for byte, and is never stuck."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings

pytest.importorskip("lark")

from lark.exceptions import UnexpectedInput
from plain_grammar import PlainGrammarAutomaton
from random_grammars import grammars

from structured.automata import DEAD
from structured.automata.grammar.grammar_automaton import MAX_SEARCHED, EmptyGrammarError, GrammarAutomaton
from structured.automata.grammar.lark_grammar import read_grammar
from structured.errors import GrammarError


def parses(lark, text):
    try:
        lark.parse(text)
    except UnexpectedInput:
        return False
    return True


def shortest_text(automaton, state):
    """Return the bytes of a shortest completion, each of which brings the end nearer by one."""
    text = b""
    while not automaton.accepts(state):
        left = automaton.distances[state]
        after = [automaton.step(state, byte) for byte in range(256)]
        nearest = min(int(automaton.distances[one]) for one in after if one != DEAD)
        assert nearest == left - 1
        byte = next(byte for byte, one in enumerate(after) if one != DEAD and automaton.distances[one] == nearest)
        text += bytes([byte])
        state = after[byte]
    return text


def check(grammar, alphabet, length, *, kind=GrammarAutomaton, max_searched=MAX_SEARCHED):
    """Check every short text over an alphabet, and every prefix of one."""
    lark, tables = read_grammar(grammar)
    words = ["".join(word) for count in range(length + 1) for word in itertools.product(alphabet, repeat=count)]
    accepted = {word for word in words if parses(lark, word)}
    try:
        automaton = kind(tables, max_searched=max_searched)
    except EmptyGrammarError:
        assert not accepted
        return
    check_words(automaton, lark, words, accepted)


def check_words(automaton, lark, words, accepted):
    states = {"": automaton.start}
    for word in words[1:]:
        before = states[word[:-1]]
        states[word] = before
        for byte in word[-1].encode():
            states[word] = automaton.step(states[word], byte)
    assert {word for word in words if states[word] != DEAD and automaton.accepts(states[word])} == accepted
    shown = {}
    for word in words:
        state = states[word]
        if state == DEAD:
            assert not any(other.startswith(word) for other in accepted)
            continue
        if state not in shown:
            shown[state] = shortest_text(automaton, state)
            assert parses(lark, word + shown[state].decode())
    for word in accepted:
        for end in range(len(word)):
            assert automaton.distances[states[word[:end]]] <= len(word.encode()) - len(word[:end].encode())


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(grammars())
def test_random_grammars_accept_what_lark_parses(grammar):
    """Every text of up to four characters is accepted if and only if Lark parses it; every live prefix has an end."""
    try:
        check(grammar, "abcB ", 4, max_searched=2_000)
    except GrammarError:  # Lark refuses it, or a text is hard to find
        return


GRAMMARS = {
    "parentheses": ('start: "(" start ")" | NAME\nNAME: /[ab]+/\n%ignore " "', "ab() ", 5),
    "keyword or name": ('start: NAME "if" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "', "if x", 6),
    "keyword of any case": ('start: NAME "if"i NAME | NAME\nNAME: /[a-z]+/i\n%ignore " "', "iF ", 7),
    "numbers and dots": ('start: (N|D)+\nN: /-?(0|[1-9][0-9]*)(\\.[0-9]+)?(e[0-9]+)?/\nD: "."', "01.e-", 5),
    "escaped strings": ('start: S ("," S)*\n%import common.ESCAPED_STRING -> S', '"\\,a', 7),
    "comments": ('start: "/" | "x" start\nC: "/*" /(.|\\n)*?/ "*/"\n%ignore C\n%ignore /\\/\\/[^\\n]*/', "/*x\n", 6),
    "an empty way in a repetition": ("start: A+\nA: /(|a)*b|(b|a?)+c/", "abc", 6),
    "lookaround": ("start: A (B | C)*\nA: /a+(?=b)/\nB: /b(?!a)/\nC: /c(?!c)|(?<=b)ba?/", "abc", 7),
    "a preferred token that never ends": ('start: (S | "q" | X)+\nS: /q[^q]*q/\nX: /[ab]/', "qab", 7),
    "not ASCII": ("start: A (B A)*\nA: /[é-ü]+|€/\nB: /[^a-zé-ü€]/", "aéü€😀", 4),
    "left and right recursion": ('start: l r\nl: l "a" |\nr: "b" r |', "ab", 7),
    "nullable rules": ("start: x y x\nx: A?\ny: B*\nA: /a/\nB: /b/", "ab", 7),
    "ignored and a keyword": ('start: "a" N\nN: /[ab]+/\nI: "b"\n%ignore I', "ab", 7),
}


@pytest.mark.parametrize("kind", [GrammarAutomaton, PlainGrammarAutomaton])
@pytest.mark.parametrize("name", GRAMMARS)
def test_grammar_accepts_what_lark_parses(name, kind):
    check(*GRAMMARS[name], kind=kind)
