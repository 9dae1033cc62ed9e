"""Lazy deterministic automata over bytes."""

from structured.automata.program import Foundation
from structured.automata.protocol import AUTOMATON_ERRORS, DEAD, UNKNOWN, WHOLE, Automaton, StringParts, StringRun
from structured.automata.regular import Limits, RegularAutomaton

__all__ = [
    "AUTOMATON_ERRORS",
    "DEAD",
    "UNKNOWN",
    "WHOLE",
    "Automaton",
    "Foundation",
    "Limits",
    "RegularAutomaton",
    "StringParts",
    "StringRun",
]
