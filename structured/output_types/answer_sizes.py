"""Sizes of answers: the bytes of the longest, and how many there are.

The longest text of a pattern is a sum over its nodes, each visited once, so it costs as much as the tree, not as what
it unrolls to. The answers of an automaton are its paths: an automaton over bytes has one path for each text. States are
visited one by one, up to a limit; a larger automaton has an unknown number of answers.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from structured.automata import DEAD, ROW_COMPLETE, Automaton, state_after
from structured.automata.byte_automaton import shortest_text
from structured.automata.dfa.character_automaton import longest_paths, most_characters
from structured.errors.recursion import deep
from structured.output_types.type_report import Answers, Cost, Hazard
from structured.regex.json_strings import longest_spelling
from structured.regex.syntax import (
    Alternation,
    AutomatonPattern,
    CharSet,
    Concat,
    Distinct,
    Iteration,
    Literal,
    ObjectMembers,
    Pattern,
    Reference,
    Words,
)
from structured.regex.traversal import parts_of


def most_bytes(pattern: Pattern) -> int | None:
    """Return the UTF-8 bytes of the longest text of a pattern; None if there is no longest, or it quotes a document.

    `alternation(literal("é"), repeat(literal("ab"), 2, 5))` → 10
    """
    return _most(pattern, {})


@deep
def _most(node: Pattern, known: dict[int, int | None]) -> int | None:
    """Return the bytes of the longest text of a node; `known` has those of the nodes visited, by identity."""
    if id(node) not in known:
        known[id(node)] = None  # if it contains itself, it is asked for before it is known
        parts = [_most(part, known) for part in parts_of(node)]
        limited = [size for size in parts if size is not None]
        known[id(node)] = _most_of(node, limited) if len(limited) == len(parts) else None
    return known[id(node)]


def _most_of(node: Pattern, parts: list[int]) -> int | None:
    """Return the bytes of the longest text of a node by those of its parts."""
    match node:
        case Literal(text):
            return len(text.encode())
        case Words(texts):
            return max(len(text.encode()) for text in texts)
        case CharSet(ranges):
            return len(chr(ranges[-1][1]).encode())
        case Concat() | Reference():
            return sum(parts)
        case Alternation():
            return max(parts)
        case ObjectMembers(members, _, None):
            return sum(parts) + (len(members) - 2) * parts[-1]
        case Iteration(maximum=most) | Distinct(most=most):
            return None if most is None else most * sum(parts)
        case AutomatonPattern():
            most = most_characters(node) if node.most is None else node.most
            widest = [longest_spelling(low, high) for arcs in node.arcs for low, high, _ in arcs]
            return None if most is None else most * max(widest, default=0)
    return None


MAX_STATES = 5_000
"""The most states of an automaton that are visited."""

MAX_SHOWN = 1_000
"""Bytes of the longest answer that is shown."""

MAX_COUNTED = 1_500
"""Bytes of the longest answer where answers are counted: Python writes no number of more than 4,300 digits."""

_Arcs = Sequence[tuple[int, int]]
"""For each byte that may follow, the byte and the state after it."""


def inspect_texts(automaton: Automaton, how_to_limit: str = "") -> tuple[Cost, Answers, tuple[Hazard, ...]]:
    """Return the cost of an answer, the number of answers with examples, and their hazards.

    `how_to_limit` is what their type says of that.
    """
    arcs, start = _states(automaton), automaton.start
    states = {start: _arcs(automaton, start)} if arcs is None else arcs
    lengths = longest_paths({state: {target for _, target in ways} for state, ways in (arcs or {}).items()})
    shortest, longest = int(automaton.distances[start]), lengths.get(start)
    is_limited = None if arcs is None else longest is not None
    count = None if longest is None or longest > MAX_COUNTED else _count(automaton, states, lengths)
    text = _longest_text(start, states, lengths) if longest is not None and longest <= MAX_SHOWN else None
    shown = shortest_text(automaton, start).decode() if shortest <= MAX_SHOWN else None
    cost = Cost(len(states), shortest, longest)
    answers = Answers(count, is_limited, shown, text)
    return cost, answers, tuple(_hazards(automaton, states, how_to_limit, is_limited=is_limited))


def _arcs(automaton: Automaton, state: int) -> _Arcs:
    automaton.expand(state)
    row = automaton.table[state][:ROW_COMPLETE]
    return [(byte, int(row[byte])) for byte in np.flatnonzero(row > DEAD).tolist()]


def _states(automaton: Automaton) -> dict[int, _Arcs] | None:
    """Return the arcs of every state; None if there are too many."""
    arcs: dict[int, _Arcs] = {}
    open_ends = [automaton.start]
    while open_ends:
        state = open_ends.pop()
        if state not in arcs:
            if len(arcs) == MAX_STATES:
                return None
            arcs[state] = _arcs(automaton, state)
            open_ends += {target for _, target in arcs[state]}
    return arcs


def _count(automaton: Automaton, arcs: dict[int, _Arcs], order: Iterable[int]) -> int:
    """Return how many texts there are, by the states in an order in which each is after those that it leads to."""
    counts: dict[int, int] = {}
    for state in order:
        counts[state] = int(automaton.accepts(state)) + sum(counts[target] for _, target in arcs[state])
    return counts[automaton.start]


def _longest_text(state: int, arcs: dict[int, _Arcs], lengths: dict[int, int]) -> str:
    text = bytearray()
    while arcs[state]:
        byte, state = max(arcs[state], key=lambda arc: lengths[arc[1]])
        text.append(byte)
    return text.decode()


_OTHER_DIGIT = "\N{ARABIC-INDIC DIGIT THREE}".encode()


def _hazards(
    automaton: Automaton, states: dict[int, _Arcs], how_to_limit: str, *, is_limited: bool | None
) -> Iterator[Hazard]:
    where = ("",)
    if is_limited is False:
        problem = "An answer without a limit: it may use the whole budget."
        yield Hazard("text", problem, how_to_limit or "Nothing but max_tokens limits it.", where)
    if any(_allows_other_digits(automaton, state) for state in states):
        problem = r"Digits of other scripts are allowed where 0 to 9 are: \d in Python is any digit of Unicode."
        yield Hazard("digits", problem, "Write [0-9], or the flag a: (?a).", where)
    if automaton.accepts(automaton.start):
        yield Hazard("nothing", "The answer may be empty.", "Require something, unless that means something.", where)


def _allows_other_digits(automaton: Automaton, state: int) -> bool:
    """Tell whether digits of ASCII and of another script may follow, and no letter."""
    ascii_alone = automaton.step(state, ord("3")) != DEAD and automaton.step(state, ord("a")) == DEAD
    return ascii_alone and state_after(automaton, _OTHER_DIGIT, state) != DEAD
