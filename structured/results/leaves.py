"""The leaves of an answer: its values that hold no others, and where they stand in the text."""

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
    """
    scanner = Scanner()
    steps: list[str | int | None] = []  # None: the name of the next member of an object is still to come
    for start, end in [*scanner.feed(text), *scanner.close()]:
        raw = text[start:end]
        if raw in {"{", "["}:
            steps.append(None if raw == "{" else 0)
        elif raw in {"}", "]"}:
            steps.pop()
        elif raw == ",":
            last = steps[-1]
            steps[-1] = last + 1 if isinstance(last, int) else None
        elif raw != ":":
            if steps and steps[-1] is None:
                steps[-1] = str(json.loads(raw))
            else:
                known = tuple(step for step in steps if step is not None)
                yield Leaf(known, json.loads(raw), start, end)
