"""Patterns over characters enter, combined by intersection and complement; one deterministic automaton leaves.

A `Language` is walked state by state: `arcs` says where every range of characters leads. That of a pattern is an
alternating automaton; `products.py` runs several side by side, which is their intersection and complement. The one
routine of `exploration.py` makes any of them explicit, and `minimisation.py` makes that `Automaton` the smallest.
"""

from structured.pattern.languages.alternating import PatternLanguage
from structured.pattern.languages.arcs import Arc, joined
from structured.pattern.languages.automaton import Automaton
from structured.pattern.languages.counts import character_counts, fewest_characters, most_characters
from structured.pattern.languages.exploration import explore
from structured.pattern.languages.partitions import Partition, partition
from structured.pattern.languages.products import Together
from structured.pattern.languages.protocol import Language

__all__ = [
    "Arc",
    "Automaton",
    "Language",
    "Partition",
    "PatternLanguage",
    "Together",
    "character_counts",
    "explore",
    "fewest_characters",
    "joined",
    "most_characters",
    "partition",
]
