"""The tables of a grammar's lexer, as far as its states have been made.

The lexer itself is Python (`grammar/lexer.py`), because a text soon reaches no new states of it. It adds the states and
arrivals that it makes to these tables, and is asked for a row where a loop needs one.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.numbering import Numbering, number_of
from structured.machine_code.growing_arrays import grown, viewed, zeros
from structured.machine_code.notation import Ints, Row, Rows, compiled_class, loop, rare_loop


class LexerState(Row):
    """A state of the lexer: the start and number of the terminals that its token may become; whether the text may end.

    `column` is that of a line end, -1 if there is none; `row_plus_one` is one more than its row, 0 before it is made.
    """

    first_expected: int
    expected_count: int
    may_end: int
    column: int
    row_plus_one: int


class ExpectedTerminal(Row):
    """A terminal that a token may become, and the least bytes to its end."""

    terminal: int
    width: int


class LexerToken(Row):
    """The terminal of a token that may end, and the lookaround after it."""

    terminal: int
    lookaround: int


class LexerArrival(Row):
    """The result of a byte: the state within the token, or DEAD; the start and number of the tokens that may end."""

    state: int
    first_token: int
    token_count: int


class GrammarSource(Protocol):
    """The Python that loops ask for what is missing."""

    def row(self, lexer_state: int) -> Any:
        """Return the arrivals of a state of the lexer for each byte, which are in the tables."""

    def start(self, context: int, lookaround: int) -> int:
        """Return the state of the lexer before a token, which is in the tables."""

    def token_ends(self, lexer_state: int) -> tuple[Sequence[tuple[int, int, int]], bool]:
        """Return token ends of a state, each a terminal, a lookaround and a width; and whether there are no others."""

    def remainders(self, column: int) -> Any:
        """Return the bytes of what is left of each item where lines begin at a column."""

    def check_time(self) -> None:
        """Raise an error if the time is up."""

    def refuse_search(self) -> None:
        """Raise an error because a search has visited too many configurations."""


@compiled_class
class LexerTables:
    """The states of a lexer and their `rows`, of arrivals for each byte.

    The `source` is that of the loop that runs. The `tokens` that may end are numbered; those of an arrival are a slice
    of `ending`. `starts[lookaround, context]` is the state before a token, UNKNOWN before it is asked for.
    """

    source: GrammarSource
    state_count: int
    expected_count: int
    arrival_count: int
    ending_count: int
    row_count: int
    token_numbers: Numbering
    states: "list[LexerState]"
    expected: "list[ExpectedTerminal]"
    arrivals: "list[LexerArrival]"
    ending: Ints
    tokens: "list[LexerToken]"
    rows: Rows
    starts: Rows

    def __init__(self, context_count: int) -> None:
        self.state_count = self.expected_count = self.arrival_count = self.ending_count = self.row_count = 0
        self.token_numbers = Numbering()
        self.states = LexerState.rows(64)
        self.expected = ExpectedTerminal.rows(64)
        self.arrivals = LexerArrival.rows(64)
        self.ending = zeros(64)
        self.tokens = LexerToken.rows(64)
        self.rows = zeros(16, 256)
        self.starts = grown(zeros(0, context_count), 16, UNKNOWN)

    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        rows = 20 * len(self.states) + 8 * len(self.expected) + 12 * len(self.arrivals) + 8 * len(self.tokens)
        lists = 4 * len(self.ending) + 4 * self.starts.shape[0] * self.starts.shape[1]
        return rows + lists + 1024 * len(self.rows) + 20 * self.token_numbers.slot_count()

    def add_state(self, expected: Any, may_end: bool, column: int) -> None:
        """Add a state, with the terminals that its token may become and their least bytes."""
        if self.state_count == len(self.states):
            self.states = grown(self.states, 2 * self.state_count)
        if self.expected_count + len(expected) > len(self.expected):
            self.expected = grown(self.expected, 2 * (self.expected_count + len(expected)))
        self.states[self.state_count].first_expected = self.expected_count
        self.states[self.state_count].expected_count = len(expected)
        self.states[self.state_count].may_end = may_end
        self.states[self.state_count].column = column
        for terminal, width in expected:
            self.expected[self.expected_count].terminal = terminal
            self.expected[self.expected_count].width = width
            self.expected_count += 1
        self.state_count += 1

    def add_arrival(self, state: int, tokens: Any) -> None:
        """Add an arrival, with the terminals of the tokens that may end and the lookarounds after them."""
        if self.arrival_count == len(self.arrivals):
            self.arrivals = grown(self.arrivals, 2 * self.arrival_count)
        if self.ending_count + len(tokens) > len(self.ending):
            self.ending = grown(self.ending, 2 * (self.ending_count + len(tokens)))
        self.arrivals[self.arrival_count].state = state
        self.arrivals[self.arrival_count].first_token = self.ending_count
        self.arrivals[self.arrival_count].token_count = len(tokens)
        for terminal, lookaround in tokens:
            self.ending[self.ending_count] = lexer_token(self, terminal, lookaround)
            self.ending_count += 1
        self.arrival_count += 1


@rare_loop
def lexer_token(lexer: LexerTables, terminal: int, lookaround: int) -> int:
    """Return the number of a token that may end."""
    if lexer.token_numbers.count == len(lexer.tokens):
        lexer.tokens = grown(lexer.tokens, 2 * len(lexer.tokens))
    token = number_of(lexer.token_numbers, terminal, lookaround, 0, 0)
    lexer.tokens[token].terminal = terminal
    lexer.tokens[token].lookaround = lookaround
    return token


@rare_loop
def make_lexer_row(lexer: LexerTables, state: int) -> None:
    """Ask the lexer for the row of a state."""
    row: Ints = viewed(np.array(lexer.source.row(state), dtype=np.int32))
    if lexer.row_count == len(lexer.rows):
        lexer.rows = grown(lexer.rows, 2 * lexer.row_count)
    for byte in range(256):
        lexer.rows[lexer.row_count, byte] = row[byte]
    lexer.row_count += 1
    lexer.states[state].row_plus_one = lexer.row_count


@rare_loop
def make_lexer_start(lexer: LexerTables, context: int, lookaround: int) -> None:
    """Ask the lexer for the state before a token."""
    start = lexer.source.start(context, lookaround)
    if lookaround >= len(lexer.starts):
        lexer.starts = grown(lexer.starts, 2 * lookaround, UNKNOWN)
    lexer.starts[lookaround, context] = start


@loop
def lexer_arrival(lexer: LexerTables, state: int, byte: int) -> int:
    """Return the arrival of a state on a byte."""
    if lexer.states[state].row_plus_one == 0:
        make_lexer_row(lexer, state)
    return lexer.rows[lexer.states[state].row_plus_one - 1, byte]


@loop
def lexer_start(lexer: LexerTables, context: int, lookaround: int) -> int:
    """Return the state before a token; DEAD if no token may follow and the text may not end."""
    if lookaround >= len(lexer.starts) or lexer.starts[lookaround, context] == UNKNOWN:
        make_lexer_start(lexer, context, lookaround)
    return lexer.starts[lookaround, context]
