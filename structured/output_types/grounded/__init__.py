"""Grounded values: what a document states, each value with the characters that state it."""
