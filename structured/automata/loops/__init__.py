"""Compiled loops that run an automaton's program."""
