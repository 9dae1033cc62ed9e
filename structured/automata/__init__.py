"""Lazy deterministic automata over bytes."""

from structured.automata.protocol import DEAD, UNKNOWN, Automaton
from structured.automata.regular import RegularAutomaton

__all__ = ["DEAD", "UNKNOWN", "Automaton", "RegularAutomaton"]
