"""A diagram in DOT, the language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from collections.abc import Iterator, Sequence

from structured.automata.diagram.states import State


def dot(states: Sequence[State], name: str) -> str:
    """Return the graph of a diagram, read from left to right; a dot leads to the start."""
    return "\n".join(("digraph {", *(f"  {line}" for line in _statements(states, name)), "}", ""))


def _statements(states: Sequence[State], name: str) -> Iterator[str]:
    yield "rankdir=LR;"
    yield f"label={_quoted(name)};"
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
            yield f"{state.number} -> {target} [label={_quoted(arrow.label)}{style}];"


def _quoted(text: str) -> str:
    r"""Return a text as a string of DOT: in it, a backslash before another stands for itself."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))
