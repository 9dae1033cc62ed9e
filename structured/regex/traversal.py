"""Patterns as graphs: their nodes, the nodes that some text matches, and the pattern of a right-linear grammar."""

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TypeVar

from structured.errors.recursion import deep
from structured.regex.syntax import (
    EMPTY,
    Alternation,
    Concat,
    Distinct,
    Iteration,
    Lookahead,
    Lookbehind,
    ObjectMembers,
    Pattern,
    Reference,
    alternation,
    concat,
)

State = TypeVar("State", bound=Hashable)


def right_linear(
    start: State, arcs: Callable[[State], Iterable[tuple[Pattern, State]]], accepts: Callable[[State], bool]
) -> Pattern | None:
    """Return the texts that lead from a state to an accepting one; None if there are none.

    `arcs` returns the patterns that may follow in a state, each with its successor. Dead states are left out. Each live
    state is a definition (Chomsky's type 3); the length of a regular expression can grow fourfold with each.
    """
    arcs_by_state: dict[State, dict[State, list[Pattern]]] = {}
    sources: dict[State, set[State]] = {}
    pending = [start]
    while pending:
        state = pending.pop()
        if state not in arcs_by_state:
            arcs_by_state[state] = {}
            for pattern, target in arcs(state):
                arcs_by_state[state].setdefault(target, []).append(pattern)
                sources.setdefault(target, set()).add(state)
            pending += arcs_by_state[state]
    accepting = {state for state in arcs_by_state if accepts(state)}
    live = set(accepting)
    frontier = accepting
    while frontier:
        frontier = {source for state in frontier for source in sources.get(state, ())} - live
        live |= frontier
    if start not in live:
        return None
    definitions: dict[str, Pattern] = {}
    suffixes: dict[State, Pattern] = {
        state: EMPTY if live.isdisjoint(arcs_by_state[state]) else Reference(str(number), definitions)
        for number, state in enumerate(arcs_by_state)
        if state in live
    }
    for state, reference in suffixes.items():
        if isinstance(reference, Reference):
            arcs_to_live = [arc for arc in arcs_by_state[state].items() if arc[0] in live]
            options = [concat(alternation(*patterns), suffixes[target]) for target, patterns in arcs_to_live]
            definitions[reference.name] = alternation(*([EMPTY] if state in accepting else []), *options)
    return suffixes[start]


def nodes_of(pattern: Pattern, parts: Callable[[Pattern], Iterable[Pattern]] | None = None) -> list[Pattern]:
    """Return a pattern and every node below it, also through references, each once.

    `parts` returns the nodes directly below a node; by default, these are all its parts.
    """
    parts = parts_of if parts is None else parts
    nodes: dict[int, Pattern] = {}
    pending = [pattern]
    while pending:
        node = pending.pop()
        if id(node) not in nodes:
            nodes[id(node)] = node
            pending.extend(parts(node))
    return list(nodes.values())


def productive_nodes(pattern: Pattern, barren: AbstractSet[int] = frozenset()) -> set[int]:
    """Return the identities of the nodes that some text matches. No text matches a pattern that has to contain itself.

    `barren` are the identities of nodes that count as matching no text.
    """
    # from the bottom up, except where a reference leads back
    nodes = [node for node in nodes_of(pattern)[::-1] if id(node) not in barren]
    productive: set[int] = set()
    count = -1
    while count < len(productive):
        count = len(productive)
        for node in nodes:
            if id(node) not in productive and _is_productive(node, lambda part: id(part) in productive):
                productive.add(id(node))
    return productive


ReferenceFreeMatches = dict[int, tuple[Pattern, bool]]
"""The results of `matches_without_references`, with their nodes, by identity."""


@deep
def matches_without_references(pattern: Pattern, answers: ReferenceFreeMatches) -> bool:
    """Tell whether some text matches a pattern without using its references; the answer is kept."""
    if id(pattern) not in answers:
        matches = partial(matches_without_references, answers=answers)
        answers[id(pattern)] = pattern, not isinstance(pattern, Reference) and _is_productive(pattern, matches)
    return answers[id(pattern)][1]


def _is_productive(node: Pattern, is_productive: Callable[[Pattern], bool]) -> bool:
    """Tell whether some text matches a node, by an answer for each of its parts."""
    match node:
        case Alternation(options):
            return any(map(is_productive, options))
        case Iteration(_, 0):
            return True
        case ObjectMembers(members, separator, other_member):
            written = [member for member, required in members if required]
            if not written:
                optional_members = [member for member, _ in members] + ([other_member] if other_member else [])
                return any(map(is_productive, optional_members))
            return (len(written) == 1 or is_productive(separator)) and all(map(is_productive, written))
    return all(map(is_productive, parts_of(node)))


def parts_of(node: Pattern) -> tuple[Pattern, ...]:
    """Return the nodes directly below a node; for a reference, its target."""
    match node:
        case Concat(parts) | Alternation(parts):
            return parts
        case Iteration(inside) | Lookahead(inside) | Lookbehind(inside):
            return (inside,)
        case Distinct(item, separator):
            return item, separator
        case Reference():
            return (node.target,)
        case ObjectMembers(members, separator, other_member):
            return (*(member for member, _ in members), separator, *([] if other_member is None else [other_member]))
    return ()
