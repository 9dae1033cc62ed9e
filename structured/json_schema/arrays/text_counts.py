"""How many texts a pattern has: whether so many that no text holds them all."""

import math

from structured.automata.dfa import most_characters
from structured.json_schema.arrays.one_spelling import ONE_CHARACTER
from structured.regex import (
    Alternation,
    CharSet,
    Concat,
    Distinct,
    Members,
    Pattern,
    Reference,
    Repeat,
    Scan,
    Unlike,
    Words,
)
from structured.regex.traversal import parts_of

MANY = 1 << 20
"""Values that no text holds one by one: the states of an automaton are fewer."""

_MAX_COUNTED = 64
"""Characters up to which texts are counted."""


def may_remember(pattern: Pattern) -> bool:
    """Tell whether a pattern holds items that must differ, or may: it refers to a definition that is not made yet."""
    seen: dict[int, Pattern] = {}
    left = [pattern]
    while left:
        node = left.pop()
        if isinstance(node, Distinct) or (isinstance(node, Reference) and node.name not in node.definitions):
            return True
        if id(node) not in seen:
            seen[id(node)] = node
            left.extend(parts_of(node))
    return False


def are_many(pattern: Pattern) -> bool:
    """Tell whether some part of a pattern surely has `MANY` texts or more, and so the pattern has.

    The texts of several parts are not multiplied: two parts may spell the same text.
    """
    seen: dict[int, Pattern] = {}
    left = [pattern]
    while left:
        node = left.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if _at_least(node) >= MANY:
            return True
        if isinstance(node, Concat | Alternation | Members | Distinct | Repeat):
            left.extend(parts_of(node))
    return False


def _at_least(pattern: Pattern) -> float:
    """Return a number of texts that a pattern surely has, whatever its parts are."""
    match pattern:
        case Words(texts):
            return len(texts)
        case CharSet(ranges):
            return sum(high - low + 1 for low, high in ranges)
        case Repeat(item, _, maximum) if _is_character(item):
            return math.inf if maximum is None else _characters(item) ** maximum
        case Repeat(_, _, None) | Unlike() | Reference():  # what contains itself has ever longer texts
            return math.inf
        case Scan():
            return _texts_of(pattern)
        case _:
            return 1


def _is_character(pattern: Pattern) -> bool:
    return isinstance(pattern, CharSet) or pattern is ONE_CHARACTER


def _characters(pattern: Pattern) -> int:
    """Return how many characters there are of one; of all, those that need no escape."""
    options = pattern.options if isinstance(pattern, Alternation) else (pattern,)
    return sum(high - low + 1 for option in options if isinstance(option, CharSet) for low, high in option.ranges)


def _texts_of(automaton: Scan) -> float:
    """Return how many texts an automaton has of a limited length."""
    if automaton.most is None and most_characters(automaton) is None:
        return math.inf
    states, count = {0: 1.0}, 0.0
    for _ in range(_MAX_COUNTED if automaton.most is None else min(automaton.most, _MAX_COUNTED)):
        count += sum(ways for state, ways in states.items() if state in automaton.accepting)
        following: dict[int, float] = {}
        for state, ways in states.items():
            for low, high, target in automaton.arcs[state]:
                following[target] = following.get(target, 0.0) + ways * (high - low + 1)
        states = following
    return count + sum(ways for state, ways in states.items() if state in automaton.accepting)
