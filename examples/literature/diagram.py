"""The automaton of a floating-point number, as posts on structured generation draw it, and its index over four tokens.

`([0-9]+)?\\.[0-9]+` is the running example of the posts that followed the paper of Willard and Louf (arXiv 2307.09702).
The table is the automaton, the second one is the index: for each state the tokens that may follow and where they lead.
`python examples/literature/diagram.py float.dot` also writes the graph, for Graphviz.

    $ python examples/literature/diagram.py
    Regex('([0-9]+)?\\\\.[0-9]+')
    3 states, all shown.

    state  reads  →  shortest completion
    > 0    \\.     1  .0
           [0-9]  0
      1    [0-9]  2  0
    ((2))  [0-9]  2

    state 0: . → 1, .2 → 2, 1 → 0
    state 1: 1 → 2
    state 2: 1 → 2, or the end
"""

import sys
from pathlib import Path

from structured import Regex
from structured.decoding import inspect_automaton
from structured.decoding.state_diagram import StateDiagram
from structured.vocabulary import Vocabulary

TOKENS = ("a", ".", ".2", "1")
VOCABULARY = Vocabulary((*map(str.encode, TOKENS), None), end_token_ids=frozenset({len(TOKENS)}))

BEFORE = ("", ".", ".1")
"""A text that leads to each state."""


def index_line(diagram: StateDiagram, number: int) -> str:
    """Return the tokens that may follow a state, each with the state after it."""
    allowed = diagram.tokens(number, VOCABULARY)
    texts = map(bytes.decode, allowed.tokens.values())
    arrows = ", ".join(f"{text} → {diagram.walk(BEFORE[number] + text, VOCABULARY).end.state}" for text in texts)
    return f"state {number}: {arrows}{', or the end' if allowed.may_end else ''}"


if __name__ == "__main__":
    diagram = inspect_automaton(Regex(r"([0-9]+)?\.[0-9]+"))
    print(diagram, end="\n\n")
    for state in diagram.states:
        print(index_line(diagram, state.number))
    for path in sys.argv[1:]:
        Path(path).write_text(diagram.to_dot(), encoding="utf-8")
