"""The token ends of a lexer's states: ways to end the token of the grammar that has begun."""

from functools import cache
from typing import NamedTuple

from structured.automata.byte_automaton import DEAD
from structured.automata.grammar.lexer import IGNORED, Lexer, Token

_MAX_LINE_END_COLUMNS = 40
"""The most blanks behind a line feed after which token ends of a line end are looked for."""

_MAX_STATES_AHEAD = 30
"""The most states within a token that are visited to find all its ends."""

_MAX_ARRIVALS_EACH = 6
"""The most distinct arrivals, on average, of the bytes after each of them."""


class TokenEnd(NamedTuple):
    """The end of a token: its terminal, the number of the `LookaroundState` after it, and the bytes up to it."""

    terminal: int
    lookaround: int
    width: int


class TokenEnds:
    """The token ends of the states of a lexer by bytes that are not `absent`. Who calls it holds the lexer's lock."""

    def __init__(self, lexer: Lexer, absent: frozenset[int]) -> None:
        self.lexer = lexer
        self._present = [byte for byte in range(0xFF) if byte not in absent]
        self._nearest_ends: dict[tuple[int, int], TokenEnd | None] = {}
        self._arrivals_of = cache(self._new_arrivals)
        self.of = cache(self._new_ends)

    def _new_ends(self, state: int) -> tuple[list[TokenEnd], bool]:
        """Return token ends of a state, and whether there are no others.

        The nearest come first, and those of tokens that the parser does not see last.
        """
        all_ends = self._all_ends(state)
        ends = self._end_of_each_terminal(state) if all_ends is None else all_ends
        return sorted(ends, key=lambda end: (end.terminal == IGNORED, end.width)), all_ends is not None

    def _end_of_each_terminal(self, state: int) -> list[TokenEnd]:
        """Return a token end for each terminal, or for each column of a line end."""
        ends: list[TokenEnd] = []
        indentation = self.lexer.indentation
        for terminal, _ in self.lexer.expected[state]:
            if indentation is not None and terminal == indentation.line_end:
                ends += self._line_ends(state, terminal)
            else:
                ends += filter(None, [self._nearest_end(state, terminal)])
        return ends

    def _nearest_end(self, state: int, terminal: int) -> TokenEnd | None:
        """Return the nearest token end of a terminal, as far as each byte brings it nearer."""
        path: list[int] = []
        while (state, terminal) not in self._nearest_ends:
            token = self._token(state, terminal)
            if token is not None:
                self._nearest_ends[state, terminal] = TokenEnd(*token, 1)
                break
            path.append(state)
            nearer = self._nearer(state, terminal)
            if nearer == DEAD:
                break
            state = nearer
        end = self._nearest_ends.get((state, terminal))
        for before in reversed(path):
            end = None if end is None else end._replace(width=end.width + 1)
            self._nearest_ends[before, terminal] = end
        return end

    def _token(self, state: int, terminal: int) -> Token | None:
        """Return the token of a terminal that ends after the next byte and obliges to least; None if there is none."""

        def burden(token: Token) -> tuple[int, int]:
            obligations = self.lexer.lookarounds[token.lookaround].obligations
            return sum(len(obligation.threads) for obligation in obligations), token.lookaround

        arrivals = [self.lexer.arrivals[number] for number in self._arrivals_of(state)]
        tokens = (token for arrival in arrivals for token in arrival.tokens if token.terminal == terminal)
        return min(tokens, key=burden, default=None)

    def _all_ends(self, state: int) -> list[TokenEnd] | None:
        """Return all token ends of a state, each by the nearest way; None where that is not seen at once."""
        ends: dict[Token, TokenEnd] = {}
        met, level, width = {state}, [state], 1
        while level:
            arrivals = [arrival for each in level for arrival in self._arrivals_of(each)]
            if len(met) > _MAX_STATES_AHEAD or len(arrivals) > _MAX_ARRIVALS_EACH * len(level):
                return None
            level, width = [], width + 1
            for arrival in arrivals:
                after, tokens = self.lexer.arrivals[arrival]
                for token in tokens:
                    ends.setdefault(token, TokenEnd(*token, width - 1))
                if after != DEAD and after not in met:
                    met.add(after)
                    level.append(after)
        return list(ends.values())

    def _nearer(self, state: int, terminal: int) -> int:
        """Return the state after a byte in which the terminal takes the fewest bytes; DEAD if not fewer than here."""
        best, nearest = DEAD, dict(self.lexer.expected[state])[terminal]
        for arrival in self._arrivals_of(state):
            after = self.lexer.arrivals[arrival].state
            width = nearest if after == DEAD else dict(self.lexer.expected[after]).get(terminal, nearest)
            if width < nearest:
                best, nearest = after, width
        return best

    def _line_ends(self, state: int, terminal: int) -> list[TokenEnd]:
        """Return the token ends of a line end, one for each column of the next line."""
        indentation, width = self.lexer.indentation, 1
        assert indentation is not None
        ends: dict[int, TokenEnd] = {}
        while state != DEAD and width <= _MAX_LINE_END_COLUMNS:
            for arrival in self._arrivals_of(state):
                for token in self.lexer.arrivals[arrival].tokens:
                    if token.terminal >= indentation.line_ends:
                        ends.setdefault(token.terminal, TokenEnd(*token, width))
            if self.lexer.states[state].column >= 0:
                state = self._after(state, 0x20)
            else:
                state = self._after(state, 0x0A) if ends else self._nearer(state, terminal)
            width += 1
        return list(ends.values())

    def _after(self, state: int, byte: int) -> int:
        return self.lexer.arrivals[self.lexer.row(state)[byte]].state if byte in self._present else DEAD

    def _new_arrivals(self, state: int) -> tuple[int, ...]:
        """Return the arrivals of the next byte, each once."""
        row = self.lexer.row(state)
        return tuple(dict.fromkeys(row[byte] for byte in self._present))
