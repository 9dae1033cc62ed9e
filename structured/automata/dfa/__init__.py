"""Deterministic automata over characters: patterns combined by intersection and complement.

A `Language` is walked state by state: `row` says where every class of its `Alphabet` leads. That of a pattern is an
alternating automaton; those of `products.py` are products of several, for their intersection and complement. The one
routine of `language.py` makes a `Table` of any of them, and `minimisation.py` the smallest `Automaton` of that.
"""

from structured.automata.dfa.alphabet import Alphabet, alphabet_of
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import Automaton, character_counts, fewest_characters, most_characters
from structured.automata.dfa.language import Language, explore
from structured.automata.dfa.products import Intersection, Partition, partition

__all__ = [
    "Alphabet",
    "Automaton",
    "Intersection",
    "Language",
    "Partition",
    "PatternLanguage",
    "alphabet_of",
    "character_counts",
    "explore",
    "fewest_characters",
    "most_characters",
    "partition",
]
