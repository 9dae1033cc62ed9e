"""Grounded values: the values that a document states, each with the characters that state it."""
