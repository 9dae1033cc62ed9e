"""What the engine tells of a language, as numbers and texts: masks, distances, forced bytes, shortest completions."""

import random
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from doubles import ByteTokenizer
from walks import forced_run, random_text, states_on_walks

from structured import Grammar, Grounded, JsonSchema
from structured.automata import Automaton, RegularAutomaton
from structured.errors import StructuredError
from structured.index.index import Index
from structured.machine_code.notation import IS_COMPILED
from structured.output_types.resolve import resolve_type
from structured.regex import Pattern
from structured.vocabulary import Vocabulary


class StateAnswers(NamedTuple):
    """What an index tells of a state."""

    state: int
    distance: int
    mask: list[int]
    mask_for_budget: list[int]
    forced: tuple[bytes, int]
    fewest_tokens: int


class Answers(NamedTuple):
    """What an index tells of a language: of states on random walks, of a random text, and of all states made."""

    states: list[StateAnswers]
    text: str
    rows: str
    """A digest of the table and of the distances."""


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary of the byte tokenizer."""
    return Vocabulary.from_tokenizer(ByteTokenizer())


def is_compiled() -> bool:
    """Tell whether the loops run as machine code."""
    return IS_COMPILED


def of_pattern(pattern: Pattern, seed: int) -> Answers:
    """Return what is told of a pattern."""
    return of_automaton(RegularAutomaton(pattern), seed)


def of_schema(schema: Any, seed: int) -> Answers | str:
    """Return what is told of a JSON Schema; for one that is refused, the name of its error."""
    try:
        return of_automaton(resolve_type(JsonSchema(schema)).automaton(), seed)
    except StructuredError as error:
        return type(error).__name__


def of_quotations(document: str, seed: int) -> Answers | str:
    """Return what is told of lists of texts that a document has; if it has none, the name of the error."""
    try:
        return of_automaton(resolve_type(list[Grounded[str]]).automaton(document), seed)
    except StructuredError as error:
        return type(error).__name__


def of_grammar(text: str, seed: int) -> Answers | str:
    """Return what is told of a grammar; for one that is refused, the name of its error."""
    try:
        return of_automaton(Grammar(text).automaton(), seed)
    except StructuredError as error:
        return type(error).__name__


def of_automaton(automaton: Automaton, seed: int) -> Answers:
    """Return what is told of an automaton."""
    index = Index(automaton, vocabulary())
    states = states_on_walks(index, random.Random(seed), walks=2, tokens=4)
    told = [_of_state(index, state) for state in states]
    text = random_text(automaton, random.Random(seed), length=20)
    return Answers(told, text, _digest(automaton))


def _of_state(index: Index, state: int) -> StateAnswers:
    fewest = index.shortest_completion(state)
    return StateAnswers(
        state,
        int(index.automaton.distances[state]),
        index.mask(state).tolist(),
        index.mask_for_budget(state, fewest + 1).tolist(),
        forced_run(index, state),
        fewest,
    )


def _digest(automaton: Automaton) -> str:
    """Return a digest of the rows and distances of the states that can be reached by the bytes that were read."""
    states, rows = [automaton.start], []
    for state in states:
        row = automaton.table[state].tolist()
        rows.append((state, int(automaton.distances[state]), row))
        states += sorted({successor for successor in row if successor >= 0} - {*states})
    return sha256(np.array([[state, distance, *row] for state, distance, row in rows]).tobytes()).hexdigest()
