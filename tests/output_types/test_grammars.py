"""Texts of grammars: what is sampled is parsed by Lark and by whoever else reads the language."""

import ast
import json
import pickle
import re
import resource
import sqlite3
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time

import numpy as np
import pytest

pytest.importorskip("lark")

from doubles import ByteTokenizer, random_logits
from lark import Transformer, Tree
from plain_grammar import PlainGrammarAutomaton

from structured import Grammar, Regex, extract
from structured.automata import DEAD
from structured.automata.byte_automaton import accepts_text
from structured.automata.grammar import grammar_automaton as automaton_module
from structured.automata.grammar.grammar_automaton import GrammarAutomaton
from structured.automata.grammar.lark_grammar import read_grammar
from structured.automata.grammar.written_tables import bytes_to_tables
from structured.errors import BudgetWarning, GrammarError, SchemaError
from structured.index.index import Index
from structured.index.masks import empty_mask, unpack
from structured.output_types.grammar import SHIPPED_TITLES
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
SUMS = 'start: NUMBER ("+" NUMBER)*\n%import common.INT -> NUMBER\n%ignore " "'


def sampled(output_type, seed, max_tokens=60):
    """Return a text that a model without preferences writes."""
    model = random_logits(len(TOKENIZER.tokens), scale=3.0, seed=seed), TOKENIZER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return extract(output_type, "x", model=model, temperature=1.0, max_tokens=max_tokens, seed=seed, cache=False)


def read_sql(text):
    """Parse a statement. That a table does not exist is no mistake of the grammar's."""
    problem = ""
    try:
        sqlite3.connect(":memory:").execute(f"EXPLAIN {text}")
    except sqlite3.Error as error:
        problem = str(error)
    assert not any(word in problem for word in ("syntax", "unrecognized", "incomplete")), (text, problem)


READERS = {
    "json": json.loads,
    "arithmetic": lambda text: ast.parse(text, mode="eval"),
    "sql": read_sql,
    "python": ast.parse,
}


def test_every_shipped_grammar_has_a_reader():
    assert READERS.keys() == SHIPPED_TITLES.keys()


@pytest.mark.parametrize("name", READERS)
def test_the_tables_that_ship_are_those_of_the_grammar(name):
    """`python -m build_tools.grammar_tables` makes them anew."""
    grammar = Grammar.named(name)
    assert bytes_to_tables(grammar.grammar, grammar._tables_file) == grammar._read[1]
    assert bytes_to_tables(grammar.grammar + " ", grammar._tables_file) is None


@pytest.mark.parametrize("name", ["json", "arithmetic"])  # the lexers of the others take a while to make
def test_sampled_texts_of_shipped_grammars_are_read(name):
    output_type = Grammar.named(name)
    for seed in range(5):
        READERS[name](sampled(output_type, seed, max_tokens=40))


@pytest.mark.parametrize(
    ("name", "text"), [("json", '{"a": [1]}'), ("arithmetic", "- 3 + 4"), ("sql", "SELECT a FROM t;")]
)
def test_no_whitespace_stands_at_the_ends_of_a_text(name, text):
    """A model would go on with it until its budget is spent."""
    automaton = Grammar.named(name).automaton()
    assert accepts_text(automaton, text)
    assert accepts_text(automaton, text.replace(" ", " \t "))
    for blank in " \t\n":
        assert not accepts_text(automaton, blank + text)
        assert not accepts_text(automaton, text + blank)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_many_sampled_texts_of_shipped_grammars_are_read(name):
    output_type = Grammar.named(name)
    for seed in range(5_000):
        READERS[name](sampled(output_type, seed, max_tokens=30 + seed % 50))


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 5, 9])
def test_no_text_is_cut_off(max_tokens):
    """However small the budget, what is written is whole."""
    output_type = Grammar('start: "(" start ")" | "[" start "]" start | "x"')
    for seed in range(20):
        output_type.parse(sampled(output_type, seed, max_tokens))


class Sum(Transformer):
    def start(self, numbers):
        if len(numbers) > 30:
            raise ValueError("too long")
        return sum(map(int, numbers))


def test_the_result_is_the_text_the_tree_or_what_a_transformer_makes_of_it():
    assert Grammar(SUMS).parse("1 + 20") == "1 + 20"
    tree = Grammar(SUMS, result="tree").parse("1 + 20")
    assert isinstance(tree, Tree)
    assert tree.children == ["1", "20"]
    assert Grammar(SUMS, result=Sum()).parse("1 + 20") == 21
    with pytest.raises(ValueError, match="too long"):
        Grammar(SUMS, result=Sum()).parse("+".join("1" * 31))
    with pytest.raises(ValueError, match="line 1, column 3"):
        Grammar(SUMS).parse("1 - 20")


def test_a_grammar_is_extracted_with_any_of_its_results():
    for seed in range(5):
        text = sampled(Grammar(SUMS), seed, 20)
        assert sampled(Grammar(SUMS, result=Sum()), seed, 20) == Sum().transform(
            Grammar(SUMS, result="tree").parse(text)
        )


def test_a_text_is_a_str():
    """Anything else is told by the argument's name, and not by what it happens to lack."""
    for wanted in (Regex("a"), Grammar(SUMS), Grammar.from_gbnf('root ::= "a"'), Regex("a") + "b"):
        with pytest.raises(TypeError, match="text is 3; it must be text, a str"):
            wanted.parse(3)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("b", "line 1, column 1"),
        ("é\nbd", "line 2, column 2"),
        ("é\nbc!", "line 2, column 3"),
        ("é\n", "ends too early"),
    ],
)
def test_a_text_tells_where_it_leaves_a_grammar_in_gbnf(text, place):
    with pytest.raises(ValueError, match=place):
        Grammar.from_gbnf('root ::= "é" "\\n" "bc"').parse(text)


def test_a_grammar_of_the_other_language_is_told_where_it_is_read():
    gbnf, lark = 'root ::= "a" b\nb ::= "c"', 'start: "a" b\nb: "c"'
    with pytest.raises(GrammarError, match=re.escape("GBNF: Grammar.from_gbnf(…) reads that")):
        Grammar(gbnf, start="root").check()
    with pytest.raises(GrammarError, match=re.escape("Lark's language: Grammar(…) reads that")):
        Grammar.from_gbnf(lark)
    with pytest.raises(GrammarError, match="line 1, column 12"):
        Grammar.from_gbnf('root ::= "a')


def test_a_grammar_is_shown_as_it_is_written():
    assert repr(Grammar.named("sql")) == "Grammar.named('sql')"
    assert repr(Grammar(SUMS, name="JSON")) == """Grammar('start: NUMBER ("+" NUMBER)* …')"""
    assert repr(Grammar.from_gbnf('root ::= "a"')) == """Grammar.from_gbnf('root ::= "a"')"""


def test_a_grammar_can_be_pickled():
    again = pickle.loads(pickle.dumps(Grammar(SUMS, name="Sum")))  # noqa: S301  its own
    assert (again.name, again.grammar, again.digest) == ("Sum", SUMS, Grammar(SUMS, name="Sum").digest)


@pytest.mark.parametrize("token_walks", [0, 1_000])
@pytest.mark.parametrize("name", ["json", "arithmetic", "python"])
def test_masks_equal_brute_force(name, token_walks, monkeypatch):
    """A token is allowed if and only if stepping over its bytes leads somewhere, by the plain automaton as well.

    That holds whether tokens are sorted for a state of the lexer or not.
    """
    monkeypatch.setattr(automaton_module, "MAX_TOKEN_WALKS", token_walks)
    output_type = Grammar.named(name)
    vocabulary = Vocabulary.from_tokenizer(TOKENIZER)
    index = Index(output_type.automaton(), vocabulary)
    plain = PlainGrammarAutomaton(output_type._read[1])
    generator = np.random.default_rng(0)
    state, other = index.automaton.start, plain.start
    for _ in range(12):
        allowed = unpack(index.mask(state), vocabulary.size)
        assert index.automaton.distances[state] == plain.distances[other]
        for token_id, token in enumerate(vocabulary.tokens):
            after = other
            for byte in token or b"":
                after = plain.step(after, byte)
            assert allowed[token_id] == (token_id in vocabulary.end_token_ids and plain.accepts(other)) or (
                bool(token) and allowed[token_id] == (after != DEAD)
            )
        written = [int(one) for one in np.flatnonzero(allowed) if vocabulary.tokens[one]]
        reached = [index.step(state, one) for one in written]
        within = [int(index.automaton.distances[one]) for one in reached]
        assert index._sufficient_tokens[state] >= max(within, default=0)
        tokens = [token_id for token_id in np.flatnonzero(allowed) if vocabulary.tokens[token_id]]
        if not tokens:
            break
        token_id = int(generator.choice(tokens))
        state = index.step(state, token_id)
        for byte in vocabulary.tokens[token_id]:
            other = plain.step(other, byte)


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("start: " + "(" * 2000 + "X" + ")" * 2000 + "\nX: /x/", "nested too deeply"),
        ('start: "(" start ")"', "has no text"),
        ("start: A B\nA: /a+/\nB: /a/", "has no text"),
    ],
)
def test_what_cannot_be_enforced_is_refused(grammar, message):
    """An error says what is wrong and, where there is a place, points at it."""
    with pytest.raises(GrammarError, match=message) as refused:
        Grammar(grammar).check()
    assert isinstance(refused.value, SchemaError)


def many_terminals(count):
    names = [f"T{number}" for number in range(count)]
    return f"start: ({' | '.join(names)})*" + "".join(f'\n{name}: "{name} "' for name in names)


HOSTILE = {
    "ambiguous": 'start: start start | "a"',
    "left and right recursion": 'start: start "a" | "b" start | "c"',
    "nullable": 'start: a* b? c*\na: "a"?\nb: "b"?\nc: "c"?',
    "a thousand rules": "start: "
    + " | ".join(f"r{i}" for i in range(1000))
    + "".join(f'\nr{i}: "k{i}"' for i in range(1000)),
    "terminals that overlap": "start: (A|B|C|D)*\nA: /a*b/\nB: /a*c/\nC: /[ab]*d/\nD: /(a|aa|aaa)*e/",
    "counters in each other": "start: A*\nA: /((a{0,200}b){0,200}c){0,200}d/",
    "many ways": "start: A\nA: /(a?){5000}(a|b)*c/",
    "a hundred terminals in any order": many_terminals(100),
    "twenty thousand terminals": many_terminals(20_000),
    "deeply nested rules": "start: r0\n"
    + "\n".join(f'r{i}: "(" r{i + 1} ")" | "x"' for i in range(500))
    + '\nr500: "y"',
    "a long alternative": "start: " + " ".join(f'"w{i % 50}"' for i in range(2_000)),
    "repetitions of repetitions": 'start: a~1..30\na: b~1..30\nb: "x"~1..30',
    "optional parts": "start: " + " ".join(f'"a{i}"?' for i in range(12)),
    "no end in sight": 'start: "x" | "[" a "]"\na: "(" a ")" | B B\nB: /b+/',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_grammars_compile_or_are_refused(name):
    """In fifteen seconds there is an automaton in which no state is stuck, or an error that says why not."""
    began, before = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        automaton = GrammarAutomaton(read_grammar(HOSTILE[name])[1])
        state, generator = automaton.start, np.random.default_rng(0)
        for _ in range(100):
            automaton.expand(state)
            targets = automaton.table[state][automaton.table[state] != DEAD]
            assert len(targets) or automaton.accepts(state)
            if not len(targets):
                break
            state = int(generator.choice(targets))
    except GrammarError:
        pass
    assert process_time() - began < 15
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2 * 1024**2


def masks_of(automaton, vocabulary, seed, tokens=60):
    """Return the bytes of a random text, and the mask before each of its tokens."""
    generator, state, text, masks = np.random.default_rng(seed), automaton.start, b"", []
    for _ in range(tokens):
        mask = empty_mask(vocabulary.size)
        automaton.walk(vocabulary.trie, state, mask)
        masks.append(mask.tobytes())
        allowed = np.flatnonzero(unpack(mask.view(np.int32), vocabulary.size))
        if not len(allowed):
            break
        token = vocabulary.tokens[int(generator.choice(allowed))]
        text += token
        for byte in token:
            state = automaton.step(state, byte)
    return text, masks


def test_threads_may_share_an_automaton():
    """Masks are those that each text has when it is alone."""
    tables = read_grammar(Grammar.named("json").grammar)[1]
    vocabulary = Vocabulary.from_tokenizer(TOKENIZER)
    shared = GrammarAutomaton(tables)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda seed: masks_of(shared, vocabulary, seed), range(24)))
    alone = GrammarAutomaton(tables)
    assert found == [masks_of(alone, vocabulary, seed) for seed in range(24)]


def test_deep_nesting():
    """A stack may be as high as the text makes it."""
    automaton = GrammarAutomaton(read_grammar('start: "(" start ")" | "x"')[1])
    state = automaton.start
    for _ in range(10_000):
        state = automaton.step(state, ord("("))
    assert automaton.distances[state] == 10_001
    for byte in b"x" + b")" * 10_000:
        state = automaton.step(state, byte)
    assert automaton.accepts(state)


def test_what_a_grammar_imports_is_part_of_its_digest(tmp_path: Path) -> None:
    """Results of two grammars that import other terminals of one name are not mixed in a file."""
    made = []
    for letter in "xy":
        (tmp_path / letter).mkdir()
        (tmp_path / letter / "words.lark").write_text(f'A: "{letter}"\n', encoding="utf-8")
        made.append(Grammar("start: A\n%import words.A", import_paths=str(tmp_path / letter)))
    assert [grammar.parse(letter) for grammar, letter in zip(made, "xy", strict=True)] == ["x", "y"]
    assert made[0].digest != made[1].digest
    assert made[0].digest == Grammar("start: A\n%import words.A", import_paths=[tmp_path / "x"]).digest  # type: ignore[list-item]


def test_a_grammar_imports_nothing_from_beside_the_program() -> None:
    with pytest.raises(GrammarError, match=r"lies in no folder, so \.words\.A leads nowhere"):
        Grammar("start: A\n%import .words.A").parse("x")
