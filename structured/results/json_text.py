"""JSON text: its tokens, as they arrive in pieces, and the values in it with their places."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from structured.output_types.paths import Steps, steps_to_path


class Token(NamedTuple):
    """A token of JSON: punctuation, a string, a number or a word."""

    start: int
    end: int


_BLANKS = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[-+.0-9A-Za-z]*")
_CHARACTERS = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
"""The characters of a string, without a backslash at the end of a piece."""


@dataclass(slots=True)
class Scanner:
    """Splits a growing text into tokens. A string ends with its quote, a number with the character after it."""

    position: int = 0
    """The number of characters read so far."""
    _start: int | None = None
    """The start of the open token."""
    _in_string: bool = False
    _is_escaped: bool = False
    _word: list[str] = field(default_factory=list)
    """The pieces of the open word."""

    def feed(self, piece: str) -> Iterator[Token]:
        """Read more text, and yield the tokens that end in it."""
        before, at = self.position, 0
        while at < len(piece):
            if self._in_string:
                at = self._string(piece, at)
                ends = not self._in_string
            elif self._start is not None:
                at, ends = self._letters(piece, at)
            else:
                at = _end(_BLANKS, piece, at)
                if at == len(piece):
                    break
                self._start = before + at
                self._in_string = piece[at] == '"'
                ends = piece[at] in "{}[],:"
                at += self._in_string or ends
                if not (self._in_string or ends) and _end(_WORD, piece, at) == at:
                    raise ValueError(f"{piece[at]!r} begins no value, at character {before + at}.")
            self.position = before + at
            if ends and self._start is not None:
                yield Token(self._start, self.position)
                self._start = None
        self.position = before + len(piece)

    def close(self) -> Iterator[Token]:
        """Yield the number at the end of the text, if there is one."""
        if self._start is not None and not self._in_string:
            yield Token(self._start, self.position)
            self._start = None

    def _string(self, piece: str, at: int) -> int:
        """Return where the open string ends in a piece, or the end of the piece."""
        at = _end(_CHARACTERS, piece, at + self._is_escaped)
        self._is_escaped = False
        if at < len(piece):
            self._is_escaped = piece[at] == "\\"
            self._in_string = self._is_escaped
            at += 1
        return at

    def _letters(self, piece: str, at: int) -> tuple[int, bool]:
        """Return the end of the open word in a piece, and whether it is complete, as true, false and null are."""
        end = _end(_WORD, piece, at)
        self._word.append(piece[at:end])
        ends = end < len(piece) or (len(self._word) <= 5 and "".join(self._word) in {"true", "false", "null"})
        if ends:
            self._word.clear()
        return end, ends


def _end(pattern: re.Pattern[str], piece: str, at: int) -> int:
    match = pattern.match(piece, at)
    return at if match is None else match.end()


class Leaf(NamedTuple):
    """A string, a number, a boolean or null, and its place in the answer."""

    steps: Steps
    value: Any
    start: int
    """Its first character in the answer, a quote with a string."""
    end: int

    @property
    def path(self) -> str:
        """Its path: `lines[2].price`; "" is the whole answer."""
        return steps_to_path(self.steps)


def leaves(text: str) -> Iterator[Leaf]:
    """Yield the leaves of a JSON text in order.

    >>> [(leaf.path, leaf.value) for leaf in leaves('{"a": [1, {"b": "x"}], "c": []}')]
    [('a[0]', 1), ('a[1].b', 'x')]

    Of members of one name the last counts, as it does to readers of JSON.
    """
    by_steps: dict[Steps, Leaf] = {}
    known: set[Steps] = set()
    for steps, start, end in spans(text):
        if steps in known:
            by_steps = {
                place: leaf for place, leaf in by_steps.items() if place[: len(steps)] != steps or leaf.start >= start
            }
        known.add(steps)
        if text[start] not in "{[":
            by_steps[steps] = Leaf(steps, json.loads(text[start:end]), start, end)
    yield from by_steps.values()


def spans(text: str) -> Iterator[tuple[Steps, int, int]]:
    """Yield where each value of a JSON text starts and ends, in the order of their ends.

    >>> list(spans('{"a": [1]}'))
    [(('a', 0), 7, 8), (('a',), 6, 9), ((), 0, 10)]
    """
    scanner = Scanner()
    steps: list[str | int | None] = []  # None: the name of the next member of an object is still to come
    starts: list[int] = []
    for start, end in [*scanner.feed(text), *scanner.close()]:
        raw = text[start:end]
        if raw in {"{", "["}:
            starts.append(start)
            steps.append(None if raw == "{" else 0)
        elif raw in {"}", "]"}:
            steps.pop()
            yield _known(steps), starts.pop(), end
        elif raw == ",":
            last = steps[-1]
            steps[-1] = last + 1 if isinstance(last, int) else None
        elif raw != ":":
            if steps and steps[-1] is None:
                steps[-1] = str(json.loads(raw))
            else:
                yield _known(steps), start, end


def _known(steps: list[str | int | None]) -> Steps:
    return tuple(step for step in steps if step is not None)
