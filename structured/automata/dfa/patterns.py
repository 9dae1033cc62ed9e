"""Patterns of characters as automata, and back: their intersection and complement as patterns."""

from collections.abc import Sequence

from structured.automata.dfa.alphabet import ranges_by_state
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.automaton import Automaton
from structured.automata.dfa.exploration import explore
from structured.automata.dfa.products import Intersection
from structured.regex.right_linear import right_linear
from structured.regex.syntax import Alternation, CharSet, Concat, Literal, Pattern, Reference, Repeat, Words
from structured.regex.traversal import nodes_of

_OF_CHARACTERS = Literal | Words | CharSet | Concat | Alternation | Repeat | Reference


def automaton_to_pattern(automaton: Automaton) -> Pattern:
    """Return the pattern of the texts of an automaton: a right-linear one."""
    arcs = [[(CharSet(ranges), target) for target, ranges in ranges_by_state(row).items()] for row in automaton.arcs]
    found = right_linear(0, arcs.__getitem__, automaton.accepting.__contains__)
    assert found is not None, "from every state a text can end"
    return found


def is_of_characters(pattern: Pattern) -> bool:
    """Tell whether a pattern reads characters as they are, and not as JSON spells them."""
    return all(isinstance(node, _OF_CHARACTERS) for node in nodes_of(pattern))


def intersection(included: Sequence[Pattern], excluded: Sequence[Pattern] = ()) -> Pattern | None:
    """Return the texts of all of some patterns of characters, and of none of others; None if there are none.

    Raises PatternError where the automaton that this takes is too large.
    """
    found = explore(Intersection(list(map(PatternLanguage, included)), list(map(PatternLanguage, excluded))))
    return None if found is None else automaton_to_pattern(found)
