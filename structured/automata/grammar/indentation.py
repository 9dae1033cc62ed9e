"""The stacks of a parser whose grammar counts indentation, as Lark's `Indenter` makes tokens of it.

Outside of brackets, the blanks at the beginning of a line make an indent or some dedents after the token of the line
end. What that depends on, the open brackets and the columns of the blocks, is a part of the stack.
"""

from typing import NamedTuple

from structured.automata.grammar.lexer import IGNORED, Indentation
from structured.automata.grammar.parser import Parser
from structured.automata.opcodes import FAR
from structured.automata.protocol import DEAD


class _Stack(NamedTuple):
    """A stack of the parser, the number of open brackets, and the columns of the open blocks."""

    stack: int
    brackets: int
    columns: tuple[int, ...]


class IndentedParser:
    """The stacks that tokens and line ends lead to; has what `Parser` has."""

    def __init__(self, parser: Parser, indentation: Indentation) -> None:
        self.parser = parser
        self.indentation = indentation
        self.least: list[int] = []
        self._stacks: list[_Stack] = []
        self._known: dict[_Stack, int] = {}
        self._after: dict[tuple[int, int], int] = {}
        self.start = self._number(_Stack(parser.start, 0, (0,)))

    def context(self, stack: int) -> int:
        """Return what the lexer tries after a stack."""
        return self.parser.context(self._stacks[stack].stack)

    def advance(self, stack: int, terminal: int) -> int:
        """Return the stack after a token, DEAD if it cannot follow."""
        if terminal == IGNORED:
            return stack
        after = self._after.get((stack, terminal))
        if after is None:
            is_line_end = terminal >= self.indentation.line_ends - 1
            new = self._broken if is_line_end else self._advanced
            after = self._after[stack, terminal] = self._number(new(self._stacks[stack], terminal))
        return after

    def least_after(self, stack: int, terminal: int) -> int:
        """Return the least number of bytes after a token, FAR if it cannot follow.

        After a line end, that is with the indentation that is best.
        """
        if terminal != self.indentation.line_end:
            after = self.advance(stack, terminal)
            return FAR if after == DEAD else self.least[after]
        _, brackets, columns = self._stacks[stack]
        if brackets:
            return self.least[stack]
        found = FAR
        for column in {*columns, columns[-1] + 1}:
            after = self.advance(stack, self.indentation.line_ends + column)
            found = min(found, FAR if after == DEAD else self.least[after])
        return found

    def is_complete(self, stack: int) -> bool:
        """Tell whether the text may end after a stack: all blocks end with it."""
        inner, _, columns = self._stacks[stack]
        for _ in columns[1:]:
            inner = self._fed(inner, self.indentation.dedent)
        return inner != DEAD and self.parser.is_complete(inner)

    def _advanced(self, stack: _Stack, terminal: int) -> _Stack:
        brackets = stack.brackets + (terminal in self.indentation.opening) - (terminal in self.indentation.closing)
        inner = self._fed(stack.stack, terminal) if brackets >= 0 else DEAD
        return _Stack(inner, brackets, stack.columns)

    def _broken(self, stack: _Stack, terminal: int) -> _Stack:
        """Return the stack after a line end."""
        if stack.brackets:
            return stack
        column, columns = terminal - self.indentation.line_ends, stack.columns
        inner = self._fed(stack.stack, self.indentation.line_end)
        if column > columns[-1]:
            return _Stack(self._fed(inner, self.indentation.indent), 0, (*columns, column))
        while column < columns[-1]:
            inner, columns = self._fed(inner, self.indentation.dedent), columns[:-1]
            if not columns:  # a line end without a line feed
                return _Stack(DEAD, 0, ())
        return _Stack(inner if column == columns[-1] else DEAD, 0, columns)

    def _fed(self, stack: int, terminal: int) -> int:
        return DEAD if stack == DEAD else self.parser.advance(stack, terminal)

    def _number(self, new: _Stack) -> int:
        if new.stack == DEAD:
            return DEAD
        number = self._known.setdefault(new, len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(new)
            self.least.append(self.parser.least[new.stack])
        return number
