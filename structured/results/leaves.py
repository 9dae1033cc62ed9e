"""The values of an answer and where they stand in its text; its leaves are those that hold no others."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from structured.output_types.paths import Steps, steps_to_path
from structured.results.json_tokens import Scanner


class Leaf(NamedTuple):
    """A string, a number, a boolean or null, and where it stands in the answer."""

    steps: Steps
    value: Any
    start: int
    """Its first character in the answer, a quote with a string."""
    end: int

    @property
    def path(self) -> str:
        """Where it stands in the value: `lines[2].price`; "" is the whole answer."""
        return steps_to_path(self.steps)


def leaves(text: str) -> Iterator[Leaf]:
    """Yield the leaves of a JSON text in order.

    >>> [(leaf.path, leaf.value) for leaf in leaves('{"a": [1, {"b": "x"}], "c": []}')]
    [('a[0]', 1), ('a[1].b', 'x')]

    Of members of one name the last counts, as it does to readers of JSON.
    """
    found: dict[Steps, Leaf] = {}
    known: set[Steps] = set()
    for steps, start, end in spans(text):
        if steps in known:
            found = {one: leaf for one, leaf in found.items() if one[: len(steps)] != steps or leaf.start >= start}
        known.add(steps)
        if text[start] not in "{[":
            found[steps] = Leaf(steps, json.loads(text[start:end]), start, end)
    yield from found.values()


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
