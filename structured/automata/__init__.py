"""Lazy deterministic automata over bytes."""

from structured.automata.byte_automaton import (
    AUTOMATON_ERRORS,
    DEAD,
    ROW_COMPLETE,
    UNKNOWN,
    Automaton,
    StringParts,
    StringRun,
    state_after,
)
from structured.automata.program import Foundation
from structured.automata.regular import Limits, RegularAutomaton

__all__ = [
    "AUTOMATON_ERRORS",
    "DEAD",
    "ROW_COMPLETE",
    "UNKNOWN",
    "Automaton",
    "Foundation",
    "Limits",
    "RegularAutomaton",
    "StringParts",
    "StringRun",
    "state_after",
]
