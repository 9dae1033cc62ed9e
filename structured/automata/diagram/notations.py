"""The notations of a diagram: a table, DOT for Graphviz, and Mermaid.

Both languages lay out and draw the graph with programs of their own. Layout and drawing here were rejected: a layered
layout, routed arrows and placed labels took 670 lines.
"""

import json
import re
from collections.abc import Iterator, Sequence

from structured.automata.diagram.arrows import Arrow, State, shortened
from structured.errors.values import printable

MAX_READ, MAX_COMPLETION = 38, 26
"""Characters of a label and of a completion that a line of the table shows."""


def table(states: Sequence[State]) -> str:
    """Return the states as a table of at most 80 columns: a line for each arrow.

    The start has a `>` before its number; the number of an accepting state is in double parentheses.
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
        label, target = ("", "") if arrow is None else (shortened(arrow.label, MAX_READ), _target_name(arrow))
        yield (f"> {name.strip()}" if name and not state.number else name), label, target, ending
        name = ending = ""


def _target_name(arrow: Arrow) -> str:
    """Return the number of the state that an arrow leads to, as a text."""
    return "…" if arrow.target is None else str(arrow.target)


def dot(states: Sequence[State], name: str) -> str:
    """Return the graph in DOT (https://graphviz.org/doc/info/lang.html), from left to right.

    An arrow from a point leads to the start.
    """
    return "\n".join(("digraph {", *(f"  {line}" for line in _dot_statements(states, name)), "}", ""))


def _dot_statements(states: Sequence[State], name: str) -> Iterator[str]:
    yield "rankdir=LR;"
    yield f"label={_dot_text(name)};"
    yield 'node [shape=circle, fontname="monospace"];'
    yield 'edge [fontname="monospace"];'
    yield "start [shape=point];"
    for state in states:
        shape = " [shape=doublecircle]" if state.is_accepting else ""
        yield f"{state.number}{shape};"
    yield "start -> 0;"
    for state in states:
        if any(arrow.target is None for arrow in state.arrows):
            yield f'more{state.number} [shape=plaintext, label="…"];'
        for arrow in state.arrows:
            target, style = (f"more{state.number}", ", style=dashed") if arrow.target is None else (arrow.target, "")
            yield f"{state.number} -> {target} [label={_dot_text(arrow.label)}{style}];"


def _dot_text(text: str) -> str:
    r"""Return a text as a string of DOT, with backslashes escaped."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def mermaid(states: Sequence[State], name: str) -> str:
    """Return the graph in Mermaid (https://mermaid.js.org/syntax/flowchart.html), from left to right.

    GitHub and JupyterLab draw it. An arrow from a point leads to the start.
    """
    title = json.dumps(printable(name), ensure_ascii=False)
    return "\n".join(("---", f"title: {title}", "---", "flowchart LR", *_mermaid_statements(states), ""))


def _mermaid_statements(states: Sequence[State]) -> Iterator[str]:
    yield "  start(( )) --> 0"
    for state in states:
        yield f"  {state.number}((({state.number})))" if state.is_accepting else f"  {state.number}(({state.number}))"
    for state in states:
        for arrow in state.arrows:
            label = _mermaid_text(arrow.label)
            if arrow.target is None:
                yield f'  {state.number} -. {label} .-> more{state.number}["…"]'
            else:
                yield f"  {state.number} -- {label} --> {arrow.target}"


def _mermaid_text(text: str) -> str:
    r"""Return a text as a string of Mermaid, with the characters that Mermaid or HTML would read as numbers: `#35;`."""
    return '"{}"'.format(re.sub(r'["#&;<>`\\]', lambda match: f"#{ord(match[0])};", text))
