"""Lazy deterministic automata over bytes."""

from structured.automata.protocol import DEAD, UNKNOWN, Automaton, Room
from structured.automata.regular import Limits, RegularAutomaton

__all__ = ["DEAD", "UNKNOWN", "Automaton", "Limits", "RegularAutomaton", "Room"]
