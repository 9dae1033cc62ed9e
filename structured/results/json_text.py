"""JSON text that arrives in pieces: its tokens, the values in it with their places, and a reader that validates them.

A scanner with a stack reads the text once, whatever the pieces are. A complete value is validated by itself, which
reads it once for each container around it. Parsing the text again with each piece would be simpler, and quadratic.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from structured.errors.arguments import text
from structured.output_types.annotations import Annotation
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, steps_to_path
from structured.output_types.resolve import resolve_type

Token: TypeAlias = tuple[int, int]
"""The start and the end of a token of JSON: punctuation, a string, a number or a word."""

_BLANKS = re.compile(r"[ \t\n\r]*")
_UNQUOTED = re.compile(r"[-+.0-9A-Za-z]*")
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
        offset, at = self.position, 0
        while at < len(piece):
            if self._in_string:
                at = self._string(piece, at)
                is_token_end = not self._in_string
            elif self._start is not None:
                at, is_token_end = self._letters(piece, at)
            else:
                at = _end(_BLANKS, piece, at)
                if at == len(piece):
                    break
                self._start = offset + at
                self._in_string = piece[at] == '"'
                is_token_end = piece[at] in "{}[],:"
                at += self._in_string or is_token_end
                if not (self._in_string or is_token_end) and _end(_UNQUOTED, piece, at) == at:
                    raise ValueError(f"{piece[at]!r} begins no value, at character {offset + at}.")
            self.position = offset + at
            if is_token_end and self._start is not None:
                yield self._start, self.position
                self._start = None
        self.position = offset + len(piece)

    def close(self) -> Iterator[Token]:
        """Yield the number at the end of the text, if there is one."""
        if self._start is not None and not self._in_string:
            yield self._start, self.position
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
        end = _end(_UNQUOTED, piece, at)
        self._word.append(piece[at:end])
        is_token_end = end < len(piece) or (len(self._word) <= 5 and "".join(self._word) in {"true", "false", "null"})
        if is_token_end:
            self._word.clear()
        return end, is_token_end


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


def json_leaves(text: str) -> Iterator[Leaf]:
    """Yield the leaves of a JSON text in order.

    >>> [(leaf.path, leaf.value) for leaf in json_leaves('{"a": [1, {"b": "x"}], "c": []}')]
    [('a[0]', 1), ('a[1].b', 'x')]

    Of members of one name the last counts, as it does to readers of JSON.
    """
    by_steps: dict[Steps, Leaf] = {}
    known: set[Steps] = set()
    for steps, start, end in value_spans(text):
        if steps in known:
            by_steps = {
                place: leaf for place, leaf in by_steps.items() if place[: len(steps)] != steps or leaf.start >= start
            }
        known.add(steps)
        if text[start] not in "{[":
            by_steps[steps] = Leaf(steps, json.loads(text[start:end]), start, end)
    yield from by_steps.values()


def value_spans(text: str) -> Iterator[tuple[Steps, int, int]]:
    """Yield where each value of a JSON text starts and ends, in the order of their ends.

    >>> list(value_spans('{"a": [1]}'))
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
            yield _known_steps(steps), starts.pop(), end
        elif raw == ",":
            last = steps[-1]
            steps[-1] = last + 1 if isinstance(last, int) else None
        elif raw != ":":
            if steps and steps[-1] is None:
                steps[-1] = str(json.loads(raw))
            else:
                yield _known_steps(steps), start, end


def _known_steps(steps: list[str | int | None]) -> Steps:
    return tuple(step for step in steps if step is not None)


T = TypeVar("T")


class StreamEvent(NamedTuple):
    """A complete value, and its place in the answer.

    It is an instance of its type where Pydantic can validate it without the rest of the text, and plain data otherwise.
    """

    steps: Steps
    value: Any

    @property
    def path(self) -> str:
        """Its path: `lines[2].price`; "" is the whole answer."""
        return steps_to_path(self.steps)


class PartialReader(Generic[T]):
    """A reader of the growing text of one answer.

    >>> reader = PartialReader(dict[str, list[int]])
    >>> {event.path: event.value for event in reader.feed('{"a": [10, 2')}
    {'a[0]': 10}
    >>> reader.value
    {'a': [10]}
    >>> {event.path: event.value for event in reader.feed("0]}")}
    {'a[1]': 20, 'a': [10, 20], '': {'a': [10, 20]}}

    Values come in the order of the text, each once, a container after its members. Validators of a class run when its
    instance is complete; where they reject it, it is plain data here. An answer that is not JSON has one value, which
    is complete at its end, and is the text itself where it is rejected.

    Parameters:
        output_type: As for `extract`.
    """

    def __init__(self, output_type: type[T] | OutputType[T] | object) -> None:
        self._output_type: OutputType[Any] = resolve_type(output_type)
        self._annotation = self._output_type.parts or Annotation.of(Any)
        self._scanner = Scanner()
        self._text = StringIO()
        self._open_containers: list[_Container] = []
        self._complete_value: Any = None
        self._is_complete = False

    def __repr__(self) -> str:
        where = "whole" if self._is_complete else f"open={len(self._open_containers)}"
        return f"PartialReader({where}, characters={self._scanner.position})"

    def feed(self, piece: str) -> list[StreamEvent]:
        """Read more text, and return the values that it completes, each with its `path`, `steps` and `value`.

        A number is complete with the character after it. Raises ValueError for what is not JSON, at the end at latest.
        """
        text("piece", piece)
        self._text.seek(0, 2)
        self._text.write(piece)
        if self._output_type.parts is None:
            return []
        return list(self._read(self._scanner.feed(piece)))

    def close(self) -> list[StreamEvent]:
        """End the text, and return the values that this completes. Raises ValueError if the text was cut off."""
        if self._output_type.parts is None:
            self._complete_value, self._is_complete = self._text.getvalue(), True
            with suppress(Exception):  # validators are the user's own code
                self._complete_value = self._output_type.parse(self._complete_value)
            return [StreamEvent((), self._complete_value)]
        events = list(self._read(self._scanner.close()))
        if not self._is_complete:
            raise ValueError(f"The text ends after {self._scanner.position} characters, and its value does not.")
        return events

    @property
    def value(self) -> Any:
        """The answer so far: all complete values, in the containers that are still open; None if there is none.

        An open model is an instance that lacks the other fields, and their defaults; no code of its class has run. What
        is returned does not change with the text.
        """
        value, is_known = self._complete_value, self._is_complete
        for container in reversed(self._open_containers):
            members = container.members.copy()
            if is_known:
                _put(members, container.key, value)
            value, is_known = container.annotation.partial_instance(members), True
        return value

    def _read(self, tokens: Iterable[Token]) -> Iterator[StreamEvent]:
        for start, end in tokens:
            raw = self._slice(start, end)
            if self._is_complete:
                raise ValueError(f"The value has ended, and {raw!r} follows.")
            innermost = self._open_containers[-1] if self._open_containers else None
            if raw in {"{", "["}:
                self._open_containers.append(self._new_container(start, {} if raw == "{" else []))
            elif raw in {"}", "]"}:
                if innermost is None or isinstance(innermost.members, dict) != (raw == "}"):
                    raise ValueError(f"{raw!r} closes nothing, at character {start}.")
                self._open_containers.pop()
                yield self._put_complete(innermost, self._slice(innermost.start, end), innermost.members)
            elif raw in {",", ":"}:
                continue
            elif innermost is not None and isinstance(innermost.members, dict) and innermost.key is None:
                innermost.key = str(json.loads(raw))
            else:
                yield self._put_complete(self._new_container(start, []), raw, json.loads(raw))

    def _new_container(self, start: int, members: dict[str, Any] | list[Any]) -> "_Container":
        if not self._open_containers:
            return _Container(start, (), self._annotation, members)
        outer = self._open_containers[-1]
        step = len(outer.members) if outer.key is None else outer.key
        return _Container(start, (*outer.steps, step), outer.annotation.part_at(step), members)

    def _put_complete(self, container: "_Container", raw: str, plain: Any) -> StreamEvent:
        """Put a complete value into the container around it."""
        value = container.annotation.read(raw, plain) if container.steps else self._annotation.read(raw, None)
        if self._open_containers:
            outer = self._open_containers[-1]
            _put(outer.members, outer.key, value)
            outer.key = None
        else:
            self._complete_value, self._is_complete = value, True
        return StreamEvent(container.steps, value)

    def _slice(self, start: int, end: int) -> str:
        self._text.seek(start)
        return self._text.read(end - start)


@dataclass(slots=True)
class _Container:
    """An incomplete value: its complete members, and the name of the next one."""

    start: int
    steps: Steps
    annotation: Annotation
    members: dict[str, Any] | list[Any]
    key: str | None = None


def _put(members: dict[str, Any] | list[Any], key: str | None, value: Any) -> None:
    if isinstance(members, list):
        members.append(value)
    elif key is not None:
        members[key] = value
