"""Threads, forks and signals: whoever else walks an automaton, and whenever, it tells what it tells alone."""

import os
import random
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import run
from python_loops import needs_compiled
from random_patterns import patterns_with_texts
from walks import answer

from structured.automata import RegularAutomaton
from structured.regex import Pattern
from structured.vocabulary import Vocabulary

THREADS = 4


@pytest.mark.thorough
@settings(max_examples=examples(40))
@given(st.lists(patterns_with_texts(), min_size=2, max_size=2), st.integers(0, 2**16))
def test_threads_on_one_automaton_and_on_several(
    vocabulary: Vocabulary, drawn: list[tuple[Pattern, list[str]]], seed: int
) -> None:
    """Each thread reads the texts in an order of its own; each is told what one thread is told."""
    automata = [RegularAutomaton(pattern) for pattern, _ in drawn]
    alone = [RegularAutomaton(pattern) for pattern, _ in drawn]
    expected = {
        (place, text): answer(alone[place], vocabulary, text)
        for place, (_, texts) in enumerate(drawn)
        for text in texts
    }

    def read_all(number: int) -> bool:
        order = random.Random(seed + number).sample([*expected], len(expected))
        return all(answer(automata[place], vocabulary, text) == expected[place, text] for place, text in order)

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(read_all, range(THREADS)))


LOOKING_BACK = """
import itertools, os, random, signal, sys, threading, time
import numpy as np
from structured.automata import RegularAutomaton
from structured.regex import chars, concat, literal, repeat
from structured.vocabulary import Vocabulary

letters, rng = chars("ab"), random.Random(1)
pattern = concat(repeat(letters, 0, None), literal("a"), repeat(letters, 11, 11))
tokens = ["".join(token) for length in range(1, 11) for token in itertools.product("ab", repeat=length)]
vocabulary = Vocabulary((*map(str.encode, tokens), None), frozenset({len(tokens)}))


def told(automaton, text):
    state = automaton.start
    for byte in text.encode():
        state = automaton.step(state, byte)
    mask = np.zeros(-(-vocabulary.size // 32), dtype=np.uint32)
    automaton.walk(vocabulary.trie, state, mask)
    return automaton.accepts(state), int(automaton.distances[state]), mask.tolist()


texts = ["".join(rng.choices("ab", k=rng.randint(0, 20))) for _ in range(40)]
expected = [told(RegularAutomaton(pattern), text) for text in texts]
"""
"""An automaton of thousands of states, and what it tells of some texts."""

FORKS = """
shared = RegularAutomaton(pattern)
is_done = threading.Event()


def walk():
    while not is_done.is_set():
        for text in texts:
            told(RegularAutomaton(pattern), text[:3])
            told(shared.reset(), text)


threads = [threading.Thread(target=walk) for _ in range(3)]
for thread in threads:
    thread.start()
codes = []
for number in range(40):
    time.sleep(rng.random() / 50)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        automata = shared, RegularAutomaton(pattern)
        os._exit(0 if all(told(automaton, texts[number]) == expected[number] for automaton in automata) else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
is_done.set()
for thread in threads:
    thread.join()
print(codes == [0] * 40)
"""

SIGNALS = """
automaton, interruptions = RegularAutomaton(pattern), 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
while interruptions < 100:
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.random() / 200 + 1e-5)
        while True:
            told(automaton, rng.choice(texts))
            if rng.random() < 0.05:
                automaton = RegularAutomaton(pattern)
    except KeyboardInterrupt:
        interruptions += 1
print([told(automaton, text) for text in texts] == expected)
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="The system has no fork.")
def test_a_child_goes_on_with_the_automata_of_its_parent() -> None:
    """A fork waits until no thread is half way through a loop, and the child has no lock that nobody gives back."""
    assert run("import warnings; warnings.simplefilter('ignore')\n" + LOOKING_BACK + FORKS) == "True\n"


@pytest.mark.thorough
@needs_compiled
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="The system has no timers.")
def test_an_automaton_goes_on_after_signals() -> None:
    """Whenever Ctrl-C comes: between two loops, in one, or while its lock is taken."""
    assert run(LOOKING_BACK + SIGNALS) == "True\n"
