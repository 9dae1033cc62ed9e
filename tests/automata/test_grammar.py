"""The automaton of a grammar accepts what Lark lexes and parses, byte for byte, and is never stuck."""

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("lark")

from lark.exceptions import UnexpectedInput
from plain_grammar import PlainGrammarAutomaton
from random_grammars import grammars

from structured import Grammar
from structured.automata import DEAD
from structured.automata.grammar.grammar_automaton import GrammarAutomaton
from structured.automata.grammar.lalr_tables import bytes_to_tables, tables_to_bytes
from structured.automata.grammar.lark_grammar import parser_of, read_grammar
from structured.automata.grammar.machine_layout import MAX_SEARCHED, EmptyGrammarError
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


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(grammars(), st.lists(st.text("abcB ", max_size=6), max_size=20))
def test_kept_tables_are_those_that_were_made(grammar, texts):
    """They come back as they were, and what Lark parses by them, and what it says of other texts, is the same."""
    try:
        lark, tables = read_grammar(grammar)
    except GrammarError:
        return
    kept = bytes_to_tables(tables_to_bytes(tables))
    assert repr(kept) == repr(tables)
    again = parser_of(grammar, kept)
    assert [parsed(again, text) for text in texts] == [parsed(lark, text) for text in texts]


def parsed(lark, text):
    """Return the tree of a text, or what Lark says against it."""
    try:
        return lark.parse(text)
    except UnexpectedInput as error:
        return type(error), error.line, error.column


def numbers_in(node, path=()):
    """Yield the paths of the numbers in JSON."""
    if isinstance(node, int) and not isinstance(node, bool):
        yield path
    elif isinstance(node, list | dict):
        for key, part in node.items() if isinstance(node, dict) else enumerate(node):
            yield from numbers_in(part, (*path, key))


LEFT_AND_RIGHT = 'start: l r\nl: l "a" |\nr: "b" r | "(" start ")"'


@settings(deadline=None)
@given(st.sampled_from([LEFT_AND_RIGHT, ""]), st.randoms(use_true_random=False))
def test_wrong_numbers_in_kept_tables_do_no_harm(grammar, rng):
    """Tables in which a number is wrong are refused, or followed to an end: what is begun is finished, or refused."""
    grammar = grammar or Grammar.named("json").grammar
    tables = json.loads(tables_to_bytes(read_grammar(grammar)[1]))
    for _ in range(rng.choice([1, 1, 2, 3])):
        *path, last = rng.choice(list(numbers_in(tables)))
        part = tables
        for key in path:
            part = part[key]
        part[last] = rng.choice([-(2**31), -1, 0, part[last] + 1, part[last] - 1, rng.randrange(20), 2**40])
    try:
        automaton = GrammarAutomaton(bytes_to_tables(json.dumps(tables).encode()))
        state = automaton.start
        for _ in range(12):
            automaton.expand(state)
            targets = [one for one in automaton.table[state].tolist() if one != DEAD]
            if not targets:
                break
            state = rng.choice(targets)
            assert automaton.distances[state] >= 0
    except (ValueError, GrammarError):
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
