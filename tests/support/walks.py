"""Walks: the state that bytes lead to, those that random tokens lead to, and the texts that these write."""

import itertools
import random
from typing import NamedTuple

import numpy as np
from doubles import spell

from structured.automata import DEAD, Automaton, RegularAutomaton
from structured.automata.byte_automaton import ROW_COMPLETE
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.vocabulary import Vocabulary


def read(automaton: Automaton, data: bytes, state: int | None = None) -> int:
    """Return the state to which some bytes lead, from the start if from no other; or DEAD."""
    state = automaton.start if state is None else state
    for byte in data:
        state = automaton.step(state, byte)
        if state == DEAD:
            return DEAD
    return state


def accepted(automaton: Automaton, data: bytes) -> bool:
    """Tell whether an automaton accepts some bytes."""
    state = read(automaton, data)
    return state != DEAD and automaton.accepts(state)


class Answer(NamedTuple):
    """What an automaton tells of a text, whatever the numbers of its states."""

    accepted: bool
    distance: int
    """The bytes of the shortest completion of what was read of the text."""
    mask: list[int]
    """The tokens that may follow it."""


def answer(automaton: RegularAutomaton, vocabulary: Vocabulary, text: str) -> Answer:
    """Return what an automaton tells of a text; if it has no such text, of the part of it that can be read."""
    states = [automaton.start]
    for byte in text.encode():
        states.append(automaton.step(states[-1], byte))
    state = next(state for state in reversed(states) if state != DEAD)
    mask = np.zeros(-(-vocabulary.size // 32), dtype=np.uint32)
    automaton.walk(vocabulary.trie, state, mask)
    return Answer(automaton.accepts(states[-1]), int(automaton.distances[state]), mask.tolist())


def nearest_end(automaton: Automaton, state: int) -> int:
    """Return the bytes of the shortest completion of a state, by breadth-first search."""
    seen, level = {state}, {state}
    for distance in itertools.count():
        if any(automaton.accepts(one) for one in level):
            return distance
        for one in level:
            automaton.expand(one)
        level = {successor for one in level for successor in automaton.table[one].tolist()} - seen - {DEAD}
        assert level, "no accepting state can be reached"
        seen |= level
    raise AssertionError


def states_on_walks(index: Index, rng: random.Random, *, walks: int = 2, tokens: int = 6) -> list[int]:
    """Return the states that random legal tokens lead to, each once."""
    states = [index.automaton.start]
    for _ in range(walks):
        state = index.automaton.start
        for _ in range(tokens):
            legal = np.flatnonzero(unpack(index._walks.mask(state)[0].view(np.int32), index.vocabulary.size))
            if not len(legal):
                break
            state = index.step(state, int(rng.choice(legal.tolist())))
            states.append(state)
    return list(dict.fromkeys(states))


def forced_run(index: Index, state: int) -> tuple[bytes, int]:
    """Return the bytes that the index knows to follow a state, and the state after them."""
    run, path = index.forced.run(state)
    return run, path[-1]


def allowed(guide: Guide) -> list[int]:
    tokens: list[int] = np.flatnonzero(unpack(guide.mask(), guide.index.vocabulary.size)).tolist()
    return tokens


def write(guide: Guide, rng: random.Random, *, eager: bool = False, limit: int = 1000) -> bytes:
    """Write tokens at random until the guide is finished; `eager` writers end only when there is no other choice."""
    token_ids: list[int] = []
    ends = guide.index.vocabulary.end_token_ids
    while not guide.finished:
        choices = allowed(guide)
        assert choices, f"{guide!r} is stuck"
        if eager:
            choices = [token_id for token_id in choices if token_id not in ends] or choices
        token_ids.append(rng.choice(choices))
        guide.advance(token_ids[-1])
        assert len(token_ids) <= limit
    return spell(guide.index.vocabulary.tokens, token_ids)


def random_text(automaton: Automaton, rng: random.Random, *, length: int = 60) -> str:
    """Return a text of an automaton: random bytes, and past some length those of a shortest completion."""
    state, written = automaton.start, bytearray()
    while True:
        is_long = len(written) >= length
        automaton.expand(state)
        row = automaton.table[state, :ROW_COMPLETE]
        choices = np.flatnonzero(row > DEAD).tolist()
        if automaton.accepts(state) and (is_long or not choices or rng.random() < 0.1):
            return written.decode()
        if is_long:
            least = min(int(automaton.distances[row[byte]]) for byte in choices)
            choices = [byte for byte in choices if automaton.distances[row[byte]] == least]
        elif rng.random() < 0.7:  # else nearly all characters are beyond ASCII
            choices = [byte for byte in choices if byte < 0x80] or choices
        written.append(rng.choice(choices))
        state = automaton.step(state, written[-1])
