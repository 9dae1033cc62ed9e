"""The table of a diagram: a line for each arrow, in 80 columns."""

from collections.abc import Iterator, Sequence

from structured.automata.diagram.labels import shortened
from structured.automata.diagram.states import Arrow, State
from structured.errors.values import printable

MAX_READ, MAX_COMPLETION = 38, 26
"""Characters of a label and of a completion that a line shows."""


def table(states: Sequence[State]) -> str:
    """Return the states below each other: what may be read in each, where it leads, and how soon the text can end.

    The start has an arrow before its number; the number of a state that accepts is in two circles.
    """
    rows = [("state", "reads", "→", "shortest completion"), *(row for state in states for row in _rows(state))]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join((*map(str.ljust, row[:3], widths), row[3])).rstrip() for row in rows
    )  # fmt: skip


def _rows(state: State) -> Iterator[tuple[str, str, str, str]]:
    """Yield the lines of a state."""
    name = f"(({state.number}))" if state.is_accepting else f"  {state.number}"
    ending = "" if state.is_accepting else shortened(printable(state.completion), MAX_COMPLETION)
    for arrow in state.arrows or [None]:
        label, target = ("", "") if arrow is None else (shortened(arrow.label, MAX_READ), target_name(arrow))
        yield (f"> {name.strip()}" if name and not state.number else name), label, target, ending
        name = ending = ""


def target_name(arrow: Arrow) -> str:
    """Return the number of the state that an arrow leads to, as a text."""
    return "…" if arrow.target is None else str(arrow.target)
