"""Token ends: for a state of the lexer, the nearest end of a token of each terminal, and the rest that it leaves.

The bytes to a token end and the bytes of a shortest text after it are enough for the text to end. So all states within
a token share a few token ends, in place of a search from each state. The masks do not depend on which token ends are
found: where none of them leads on, the text is searched for.
"""

from typing import NamedTuple

from structured.automata.byte_automaton import DEAD
from structured.automata.grammar.lexer import IGNORED, Lexer, Token

_MAX_COLUMNS = 40
"""Blanks behind a line feed after which a line end is a token end."""

_MAX_MET = 30
"""States that are looked at behind one for all its token ends."""

_MAX_ARRIVALS = 6
"""Ways that the bytes may go from each of them."""


class TokenEnd(NamedTuple):
    """A token that ends after some bytes, and what it leaves behind."""

    terminal: int
    rest: int
    width: int


class TokenEnds:
    """The token ends of the states of a lexer by bytes that are not `absent`. Who calls it holds the lexer's lock."""

    def __init__(self, lexer: Lexer, absent: frozenset[int]) -> None:
        self.lexer = lexer
        self._present = [byte for byte in range(0xFF) if byte not in absent]
        self._nearest: dict[tuple[int, int], TokenEnd | None] = {}
        self._arrivals: dict[int, tuple[int, ...]] = {}
        self._known: dict[int, tuple[list[TokenEnd], bool]] = {}

    def of(self, state: int) -> tuple[list[TokenEnd], bool]:
        """Return token ends of a state, and whether there are no others.

        The nearest come first, and those of tokens that the parser does not see last.
        """
        known = self._known.get(state)
        if known is None:
            every = self._every(state)
            found = self._some(state) if every is None else every
            found = sorted(found, key=lambda one: (one.terminal == IGNORED, one.width))
            known = self._known[state] = found, every is not None
        return known

    def _some(self, state: int) -> list[TokenEnd]:
        """Return a token end for each terminal, or for each column of a line end."""
        found: list[TokenEnd] = []
        for terminal, _ in self.lexer.expected[state]:
            if self._ends_line(terminal):
                found += self._line_ends(state, terminal)
            else:
                found += filter(None, [self._find(state, terminal)])
        return found

    def _ends_line(self, terminal: int) -> bool:
        indentation = self.lexer.indentation
        return indentation is not None and terminal == indentation.line_end

    def _find(self, state: int, terminal: int) -> TokenEnd | None:
        """Return the nearest token end of a terminal, as far as each byte brings it nearer."""
        path: list[int] = []
        found: TokenEnd | None = None
        while (state, terminal) not in self._nearest:
            token = self._token(state, terminal)
            if token is not None:
                self._nearest[state, terminal] = TokenEnd(*token, 1)
                break
            path.append(state)
            nearer = self._nearer(state, terminal)
            if nearer == DEAD:
                break
            state = nearer
        found = self._nearest.get((state, terminal))
        for before in reversed(path):
            found = None if found is None else found._replace(width=found.width + 1)
            self._nearest[before, terminal] = found
        return found

    def _token(self, state: int, terminal: int) -> Token | None:
        """Return the token of a terminal that ends after the next byte and obliges to least; None if there is none."""
        found = [
            token
            for arrival in self._arrivals_of(state)
            for token in self.lexer.arrivals[arrival].tokens
            if token.terminal == terminal
        ]
        return min(found, key=lambda token: (self._weight(token.rest), token.rest), default=None)

    def _weight(self, rest: int) -> int:
        return sum(len(one.threads) for one in self.lexer.rests[rest].obligations)

    def _every(self, state: int) -> list[TokenEnd] | None:
        """Return all token ends of a state, each by the nearest way; None where that is not seen at once."""
        found: dict[Token, TokenEnd] = {}
        met, level, width = {state}, [state], 1
        while level:
            here = [arrival for one in level for arrival in self._arrivals_of(one)]
            if len(met) > _MAX_MET or len(here) > _MAX_ARRIVALS * len(level):
                return None
            level, width = [], width + 1
            for arrival in here:
                after, tokens = self.lexer.arrivals[arrival]
                for token in tokens:
                    found.setdefault(token, TokenEnd(*token, width - 1))
                if after != DEAD and after not in met:
                    met.add(after)
                    level.append(after)
        return list(found.values())

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
        found: dict[int, TokenEnd] = {}
        while state != DEAD and width <= _MAX_COLUMNS:
            for arrival in self._arrivals_of(state):
                for token in self.lexer.arrivals[arrival].tokens:
                    if token.terminal >= indentation.line_ends:
                        found.setdefault(token.terminal, TokenEnd(*token, width))
            if self.lexer.states[state].column >= 0:
                state = self._after(state, 0x20)
            else:
                state = self._after(state, 0x0A) if found else self._nearer(state, terminal)
            width += 1
        return list(found.values())

    def _after(self, state: int, byte: int) -> int:
        return self.lexer.arrivals[self.lexer.row(state)[byte]].state if byte in self._present else DEAD

    def _arrivals_of(self, state: int) -> tuple[int, ...]:
        """Return the arrivals of the next byte, each once."""
        found = self._arrivals.get(state)
        if found is None:
            row = self.lexer.row(state)
            found = self._arrivals[state] = tuple(dict.fromkeys(row[byte] for byte in self._present))
        return found
