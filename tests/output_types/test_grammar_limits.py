"""Limits of a grammar's automaton: one that is met costs the text that meets it, and no other."""

import itertools

import numpy as np
import pytest

pytest.importorskip("lark")

from doubles import ByteTokenizer, random_logits

from structured import Beams, Grammar, Repetition, Samples, extract, extract_batch
from structured.automata import DEAD, Limits
from structured.automata.grammar import grammar_automaton as automaton_module
from structured.automata.grammar import lexer as lexer_module
from structured.automata.grammar.grammar_automaton import GrammarAutomaton, SearchedTooFarError
from structured.automata.grammar.lark_grammar import read_grammar
from structured.decoding.generate import compile_type
from structured.errors import GrammarError
from structured.index.index import Index
from structured.index.masks import empty_mask, unpack
from structured.machine_code.notation import SLOWDOWN
from structured.models import ScriptedModel
from structured.models.scripted import BYTE_TOKENS
from structured.models.scripted import ByteTokenizer as ScriptedTokenizer
from structured.vocabulary import Vocabulary

NESTED = 'start: "(" start ")" | "[" start "]" | "x"'
WITHOUT_END = 'start: "x" | "y" rest\nrest: "[" hard "]" | "z"\nhard: "(" hard ")" | B B\nB: /b+/'
"""What begins with `y[` is hard to end, since one B takes what another would need."""


def limited(monkeypatch, **limits):
    """Let automata of grammars have other limits."""
    monkeypatch.setitem(GrammarAutomaton.__init__.__kwdefaults__, "limits", Limits(**limits))


def nested(depth):
    return "(" * depth + "x" + ")" * depth


WAYS = [{}, {"search": Samples(2), "temperature": 1.0}, {"search": Beams(2)}, {"jump_forward": False}]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way) or "greedy")
def test_states_that_one_text_needs_are_its_own_error(monkeypatch, way):
    """Those beside it, and behind it in the batch, are tried again without it."""
    limited(monkeypatch, states=120)
    model = ScriptedModel(lambda prompt: nested(100 if "Zoe" in prompt else 3))
    documents = ["Ann", "Bob", "Zoe", "Christopher"]
    options = {"model": model, "errors": "return", "max_tokens": 250, "repetition": Repetition(stop=False), **way}
    found = extract_batch(Grammar(NESTED), documents, **options)
    error = found.pop(2)
    assert found == [nested(3)] * 3
    assert isinstance(error, GrammarError)
    assert error.problem == "The automaton of the grammar needs more than 120 states"
    assert error.remedy == "Repeat less in the terminals, and let them begin differently."


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way) or "greedy")
def test_a_search_that_goes_too_far_is_the_error_of_its_text(way):
    model = ScriptedModel(lambda prompt: "yz" if "Zoe" in prompt else "x")
    documents = ["Ann", "Zoe", "Bob"]
    options = {"model": model, "errors": "return", "max_tokens": 40, **way}
    found = extract_batch(Grammar(WITHOUT_END), documents, **options)
    assert [type(one) for one in found] == [str, SearchedTooFarError, str]


def test_a_limit_in_the_middle_of_a_single_text_is_raised(monkeypatch):
    limited(monkeypatch, states=60)
    with pytest.raises(GrammarError, match="more than 60 states"):
        extract(
            Grammar(NESTED), "x", model=ScriptedModel(nested(100)), max_tokens=250, repetition=Repetition(stop=False)
        )


def test_the_limit_of_seconds_is_that_of_one_call(monkeypatch):
    """However many calls there are, their times are not added up."""
    ticks = itertools.count()
    monkeypatch.setattr(automaton_module, "thread_seconds", lambda: float(SLOWDOWN * next(ticks)))
    automaton = GrammarAutomaton(read_grammar(NESTED)[1], limits=Limits(seconds=20.0))
    state = automaton.start
    for _ in range(1_000):
        state = automaton.step(state, ord("("))
    assert next(ticks) > 1_000
    monkeypatch.setattr(automaton_module, "thread_seconds", lambda: 30.0 * SLOWDOWN * next(ticks))
    other = GrammarAutomaton.__new__(GrammarAutomaton)
    with pytest.raises(GrammarError, match="more than 20 seconds for one byte or mask"):
        other.__init__(read_grammar(NESTED)[1], limits=Limits(seconds=20.0))


def test_an_exhausted_automaton_is_replaced_for_the_next_text(monkeypatch):
    """So any number of texts can be written, each of which fits by itself; one that has begun goes on."""
    limited(monkeypatch, states=400)
    output_type, tokenizer = Grammar(NESTED), ByteTokenizer()
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    model = random_logits(len(tokenizer.tokens), seed=1), tokenizer
    options = {"model": model, "temperature": 1.0, "max_tokens": 40, "cache": False}
    begun = compile_type(output_type, vocabulary)
    state = begun.automaton.start
    for seed in range(60):
        output_type.parse(extract(output_type, "x", seed=seed, **options))
    indexes = {compile_type(output_type, vocabulary)}
    walked = compile_type(output_type, vocabulary)
    for word in itertools.product(b"([", repeat=7):
        index = compile_type(output_type, vocabulary)
        indexes.add(index)
        state_of_it = index.automaton.start
        for byte in word:
            state_of_it = index.automaton.step(state_of_it, byte)
            index.mask(state_of_it)
    assert len(indexes) > 1
    assert all(len(one.automaton.table) <= 512 for one in indexes)
    assert walked.is_exhausted
    assert all(one.automaton.lexer is walked.automaton.lexer for one in indexes)
    for byte in nested(3).encode():
        state = begun.automaton.step(state, byte)
    assert state != DEAD
    assert begun.automaton.accepts(state)


def read_at_random(automaton, steps):
    state, generator = automaton.start, np.random.default_rng(0)
    for _ in range(steps):
        automaton.expand(state)
        targets = automaton.table[state]
        state = int(generator.choice(targets[(targets != DEAD) & (automaton.distances[targets] > 0)]))


def test_what_no_state_consists_of_is_forgotten():
    """The states stay, with their distances, and what follows them is as without."""
    tables = read_grammar(NESTED.replace('"x"', "/x+/"))[1]
    vocabulary = Vocabulary.from_tokenizer(ByteTokenizer())
    automaton, other = GrammarAutomaton(tables), GrammarAutomaton(tables)
    generator, states = np.random.default_rng(1), (automaton.start, other.start)
    for _ in range(200):
        automaton._collect()
        masks = [empty_mask(vocabulary.size) for _ in states]
        for one, state, mask in zip((automaton, other), states, masks, strict=True):
            one.walk(vocabulary.trie, state, mask)
        assert (masks[0] == masks[1]).all()
        assert automaton.distances[states[0]] == other.distances[states[1]]
        allowed = np.flatnonzero(unpack(masks[0].view(np.int32), vocabulary.size))
        if not len(allowed):
            break
        for byte in vocabulary.tokens[int(generator.choice(allowed))]:
            states = automaton.step(states[0], byte), other.step(states[1], byte)
    assert automaton._machine.stack_numbers.count <= other._machine.stack_numbers.count


def test_a_lexer_with_too_many_states_is_refused(monkeypatch):
    """It ends the text that needs them, and another one begins with a new lexer."""
    monkeypatch.setattr(lexer_module, "MAX_STATES", 100)
    automaton = GrammarAutomaton(read_grammar("start: A\nA: /(a{1,9}b){0,99}c/")[1])
    with pytest.raises(GrammarError, match=r"The lexer of the grammar needs more than 100 states\."):
        read_at_random(automaton, steps=1_000)
    assert automaton.is_exhausted
    other = automaton.reset()
    assert not other.is_exhausted
    assert other.step(other.start, ord("c")) != DEAD


def test_the_walks_of_tokens_count_in_the_memory():
    """A server drops indexes by the bytes that they hold."""
    vocabulary = Vocabulary.from_tokenizer(ScriptedTokenizer((*BYTE_TOKENS, b"[[", b"((")))
    index = Index(GrammarAutomaton(read_grammar(NESTED)[1]), vocabulary)
    index.mask(index.automaton.start)
    walks = index.automaton._token_walks.values()
    assert sum(one.walk_numbers.count for _, one in walks) > 0
    assert index.memory >= index.automaton._machine.nbytes() + sum(one.nbytes() for _, one in walks)
