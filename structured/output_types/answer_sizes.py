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
    return _longest_bytes(pattern, {})


@deep
def _longest_bytes(node: Pattern, sizes: dict[int, int | None]) -> int | None:
    """Return the bytes of the longest text of a node; `sizes` has those of the nodes visited, by identity."""
    if id(node) not in sizes:
        sizes[id(node)] = None  # if it contains itself, it is asked for before it is known
        part_sizes = [_longest_bytes(part, sizes) for part in parts_of(node)]
        limits = [size for size in part_sizes if size is not None]
        sizes[id(node)] = _longest_of_node(node, limits) if len(limits) == len(part_sizes) else None
    return sizes[id(node)]


def _longest_of_node(node: Pattern, part_sizes: list[int]) -> int | None:
    """Return the bytes of the longest text of a node by those of its parts."""
    match node:
        case Literal(text):
            return len(text.encode())
        case Words(texts):
            return max(len(text.encode()) for text in texts)
        case CharSet(ranges):
            return len(chr(ranges[-1][1]).encode())
        case Concat() | Reference():
            return sum(part_sizes)
        case Alternation():
            return max(part_sizes)
        case ObjectMembers(members, _, None):
            return sum(part_sizes) + (len(members) - 2) * part_sizes[-1]
        case Iteration(maximum=maximum) | Distinct(most=maximum):
            return None if maximum is None else maximum * sum(part_sizes)
        case AutomatonPattern():
            maximum = most_characters(node) if node.most is None else node.most
            spelling_sizes = [longest_spelling(low, high) for arcs in node.arcs for low, high, _ in arcs]
            return None if maximum is None else maximum * max(spelling_sizes, default=0)
    return None


MAX_VISITED_STATES = 5_000
"""The most states of an automaton that are visited."""

MAX_SHOWN_BYTES = 1_000
"""Bytes of the longest answer that is shown."""

MAX_COUNTED_BYTES = 1_500
"""Bytes of the longest answer where answers are counted: Python writes no number of more than 4,300 digits."""

_Arcs = Sequence[tuple[int, int]]
"""For each byte that may follow, the byte and the state after it."""


def inspect_texts(automaton: Automaton, how_to_limit: str = "") -> tuple[Cost, Answers, tuple[Hazard, ...]]:
    """Return the cost of an answer, the number of answers with examples, and their hazards.

    `how_to_limit` is what their type says of that.
    """
    arcs, start = _arcs_by_state(automaton), automaton.start
    states = {start: _arcs_of_state(automaton, start)} if arcs is None else arcs
    lengths = longest_paths({state: {target for _, target in own_arcs} for state, own_arcs in (arcs or {}).items()})
    shortest, longest = int(automaton.distances[start]), lengths.get(start)
    is_limited = None if arcs is None else longest is not None
    count = None if longest is None or longest > MAX_COUNTED_BYTES else _count(automaton, states, lengths)
    is_long = longest is None or longest > MAX_SHOWN_BYTES
    longest_example = None if is_long else _longest_text(start, states, lengths)
    shortest_example = shortest_text(automaton, start).decode() if shortest <= MAX_SHOWN_BYTES else None
    cost = Cost(len(states), shortest, longest)
    answers = Answers(count, is_limited, shortest_example, longest_example)
    return cost, answers, tuple(_hazards(automaton, states, how_to_limit, is_limited=is_limited))


def _arcs_of_state(automaton: Automaton, state: int) -> _Arcs:
    automaton.expand(state)
    row = automaton.table[state][:ROW_COMPLETE]
    return [(byte, int(row[byte])) for byte in np.flatnonzero(row > DEAD).tolist()]


def _arcs_by_state(automaton: Automaton) -> dict[int, _Arcs] | None:
    """Return the arcs of every state; None if there are too many."""
    arcs: dict[int, _Arcs] = {}
    open_ends = [automaton.start]
    while open_ends:
        state = open_ends.pop()
        if state not in arcs:
            if len(arcs) == MAX_VISITED_STATES:
                return None
            arcs[state] = _arcs_of_state(automaton, state)
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
    paths = ("",)
    if is_limited is False:
        problem = "An answer without a limit: it may use the whole budget."
        yield Hazard("text", problem, how_to_limit or "Nothing but max_tokens limits it.", paths)
    if any(_allows_other_digits(automaton, state) for state in states):
        problem = r"Digits of other scripts are allowed where 0 to 9 are: \d in Python is any digit of Unicode."
        yield Hazard("digits", problem, "Write [0-9], or the flag a: (?a).", paths)
    if automaton.accepts(automaton.start):
        yield Hazard("nothing", "The answer may be empty.", "Require something, unless that means something.", paths)


def _allows_other_digits(automaton: Automaton, state: int) -> bool:
    """Tell whether digits of ASCII and of another script may follow, and no letter."""
    allows_ascii_digits_alone = automaton.step(state, ord("3")) != DEAD and automaton.step(state, ord("a")) == DEAD
    return allows_ascii_digits_alone and state_after(automaton, _OTHER_DIGIT, state) != DEAD
