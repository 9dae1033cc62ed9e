"""The LALR(1) tables of a grammar: what the lexer tries in each state of the parser, and what follows a token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from structured.automata.grammar.lexer import Context, Indentation, Terminal


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the symbol that it makes, how many symbols of, and its place among the rules."""

    origin: int
    size: int
    number: int


@dataclass(frozen=True, order=True, slots=True)
class Item:
    """A rule that has begun: how many of its symbols have been read, and which are left."""

    origin: int
    read: int
    left: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """The LALR(1) tables of a grammar. Terminals, the end of the text behind them and then rules are symbols.

    Terminals are numbered in the order in which the lexer tries them; those that no text makes have no expression.
    """

    terminals: Sequence[Terminal]
    contexts: Sequence[Context]
    symbols: Sequence[str]
    """The names of all symbols."""
    context_of: Sequence[int]
    """For each state of the parser, what the lexer tries in it."""
    shifts: Sequence[Mapping[int, int]]
    """For each state, the state after each symbol."""
    reductions: Sequence[Mapping[int, Rule]]
    """For each state, the rule that ends before each terminal."""
    items: Sequence[Sequence[Item]]
    """For each state, its kernel. The item of the whole text has the origin -1."""
    rules: Sequence[tuple[int, tuple[int, ...]]]
    start: int
    end: int
    """The state at the end of the text."""
    end_symbol: int
    indentation: Indentation | None = None
