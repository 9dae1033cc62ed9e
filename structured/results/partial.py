"""A reader of JSON text that arrives in pieces: it returns each value as soon as its last character is there.

A scanner with a stack reads the text once, whatever the pieces are. A complete value is validated by itself, which
reads it once for each container around it. Parsing the text again with each piece would be simpler, and quadratic.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any, Generic, NamedTuple, TypeVar

from structured.errors.arguments import text
from structured.output_types.annotations import Annotation
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, steps_to_path
from structured.output_types.resolve import resolve_type
from structured.results.json_text import Scanner, Token

T = TypeVar("T")


class Event(NamedTuple):
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
    >>> [(event.path, event.value) for event in reader.feed('{"a": [10, 2')]
    [('a[0]', 10)]
    >>> reader.value
    {'a': [10]}
    >>> [(event.path, event.value) for event in reader.feed("0]}")]
    [('a[1]', 20), ('a', [10, 20]), ('', {'a': [10, 20]})]

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
        self._open: list[_Container] = []
        self._whole: Any = None
        self._is_whole = False

    def __repr__(self) -> str:
        where = "whole" if self._is_whole else f"open={len(self._open)}"
        return f"PartialReader({where}, characters={self._scanner.position})"

    def feed(self, piece: str) -> list[Event]:
        """Read more text, and return the values that it completes, each with its `path`, `steps` and `value`.

        A number is complete with the character after it. Raises ValueError for what is not JSON, at the latest when the
        text is complete.
        """
        text("piece", piece)
        self._text.seek(0, 2)
        self._text.write(piece)
        if self._output_type.parts is None:
            return []
        return list(self._read(self._scanner.feed(piece)))

    def close(self) -> list[Event]:
        """End the text, and return the values that this completes. Raises ValueError if the text was cut off."""
        if self._output_type.parts is None:
            self._whole, self._is_whole = self._read_whole(self._text.getvalue()), True
            return [Event((), self._whole)]
        events = list(self._read(self._scanner.close()))
        if not self._is_whole:
            raise ValueError(f"The text ends after {self._scanner.position} characters, and its value does not.")
        return events

    def _read_whole(self, answer: str) -> Any:
        """Return the value of an answer without parts, or the answer itself if it is rejected."""
        try:
            return self._output_type.parse(answer)
        except Exception:  # noqa: BLE001  validators are the user's own code
            return answer

    @property
    def value(self) -> Any:
        """The answer so far: all complete values, in the containers that are still open; None if there is none.

        An open model is an instance that lacks the other fields, and their defaults; no code of its class has run. What
        is returned does not change with the text.
        """
        inside, is_known = self._whole, self._is_whole
        for container in reversed(self._open):
            members = container.members.copy()
            if is_known:
                _put(members, container.key, inside)
            inside, is_known = container.annotation.partial(members), True
        return inside

    def _read(self, tokens: Iterable[Token]) -> Iterator[Event]:
        for token in tokens:
            raw = self._slice(token.start, token.end)
            if self._is_whole:
                raise ValueError(f"The value has ended, and {raw!r} follows.")
            inside = self._open[-1] if self._open else None
            if raw in {"{", "["}:
                self._open.append(self._opened(token.start, {} if raw == "{" else []))
            elif raw in {"}", "]"}:
                if inside is None or isinstance(inside.members, dict) != (raw == "}"):
                    raise ValueError(f"{raw!r} closes nothing, at character {token.start}.")
                self._open.pop()
                whole = self._slice(inside.start, token.end)
                yield self._closed(inside, whole, inside.members)
            elif raw in {",", ":"}:
                continue
            elif inside is not None and isinstance(inside.members, dict) and inside.key is None:
                inside.key = str(json.loads(raw))
            else:
                yield self._closed(self._opened(token.start, []), raw, json.loads(raw))

    def _opened(self, start: int, members: dict[str, Any] | list[Any]) -> "_Container":
        """Return a new container at the next place."""
        if not self._open:
            return _Container(start, (), self._annotation, members)
        around = self._open[-1]
        step = len(around.members) if around.key is None else around.key
        return _Container(start, (*around.steps, step), around.annotation.inside(step), members)

    def _closed(self, container: "_Container", raw: str, plain: Any) -> Event:
        """Put a complete value into the container around it."""
        value = container.annotation.read(raw, plain) if container.steps else self._annotation.read(raw, None)
        if self._open:
            around = self._open[-1]
            _put(around.members, around.key, value)
            around.key = None
        else:
            self._whole, self._is_whole = value, True
        return Event(container.steps, value)

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
