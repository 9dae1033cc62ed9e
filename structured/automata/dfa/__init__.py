"""Deterministic automata over characters: patterns combined by intersection and complement.

A `Language` is walked state by state: `row` says where every class of its `Alphabet` leads. That of a pattern is an
alternating automaton; those of `products.py` are products of several, for their intersection and complement.
`language.py` makes a `Table` of any of them, and `minimisation.py` the smallest `CharacterAutomaton` of a table.
"""

from structured.automata.dfa.alphabet import Alphabet, alphabet_of
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import (
    CharacterAutomaton,
    character_counts,
    fewest_characters,
    most_characters,
)
from structured.automata.dfa.language import Language, smallest_automaton
from structured.automata.dfa.products import Intersection, LanguagePartition, partition

__all__ = [
    "Alphabet",
    "CharacterAutomaton",
    "Intersection",
    "Language",
    "LanguagePartition",
    "PatternLanguage",
    "alphabet_of",
    "character_counts",
    "fewest_characters",
    "most_characters",
    "partition",
    "smallest_automaton",
]
