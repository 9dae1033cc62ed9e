"""Lazy deterministic automata over bytes."""

from structured.automata.protocol import DEAD, UNKNOWN, WHOLE, Automaton, Room
from structured.automata.regular import Limits, RegularAutomaton

__all__ = ["DEAD", "UNKNOWN", "WHOLE", "Automaton", "Limits", "RegularAutomaton", "Room"]
