"""Patterns over characters enter, combined by intersection and complement; one deterministic automaton leaves.

A `Language` is walked state by state: `row` says where every class of its `Alphabet` leads. That of a pattern is an
alternating automaton; `products.py` runs several side by side, which is their intersection and complement. The one
routine of `exploration.py` makes a `Table` of any of them, and `minimisation.py` the smallest `Automaton` of that.
"""

from structured.pattern.languages.alphabet import Alphabet, alphabet_of
from structured.pattern.languages.alternating import PatternLanguage
from structured.pattern.languages.automaton import Automaton
from structured.pattern.languages.counts import character_counts, fewest_characters, most_characters
from structured.pattern.languages.exploration import explore
from structured.pattern.languages.partitions import Partition, partition
from structured.pattern.languages.products import Together
from structured.pattern.languages.protocol import Language

__all__ = [
    "Alphabet",
    "Automaton",
    "Language",
    "Partition",
    "PatternLanguage",
    "Together",
    "alphabet_of",
    "character_counts",
    "explore",
    "fewest_characters",
    "most_characters",
    "partition",
]
