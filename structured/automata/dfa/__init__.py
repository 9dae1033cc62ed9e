"""Deterministic automata over characters: patterns combined by intersection and complement.

A `Language` is walked state by state: `row` says where every class of its `Alphabet` leads. That of a pattern is an
alternating automaton; those of `products.py` are products of several, for their intersection and complement.
`language.py` makes a `Table` of any of them, and `minimisation.py` the smallest `CharacterAutomaton` of a table.
"""
