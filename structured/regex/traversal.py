"""What a pattern consists of, and which of its nodes some text matches."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from structured.errors.recursion import deep
from structured.regex.syntax import (
    Alternation,
    Concat,
    Distinct,
    Lookahead,
    Lookbehind,
    Members,
    Pattern,
    Reference,
    Repeat,
)


def nodes_of(pattern: Pattern) -> list[Pattern]:
    """Return a pattern and every node below it, those behind references too, each once."""
    found: dict[int, Pattern] = {}
    open_ends = [pattern]
    while open_ends:
        node = open_ends.pop()
        if id(node) not in found:
            found[id(node)] = node
            open_ends.extend(parts_of(node))
    return list(found.values())


def productive_nodes(pattern: Pattern, barren: AbstractSet[int] = frozenset()) -> set[int]:
    """Return the identities of the nodes that some text matches: none does where a pattern has to contain itself.

    `barren` are the identities of nodes that no text matches, whatever they are.
    """
    nodes = nodes_of(pattern)[::-1]  # those below a node before it, except where a reference leads back
    nodes = [node for node in nodes if id(node) not in barren]
    productive: set[int] = set()
    found = -1
    while found < len(productive):
        found = len(productive)
        for node in nodes:
            if id(node) not in productive and _ends(node, lambda part: id(part) in productive):
                productive.add(id(node))
    return productive


Endings = dict[int, tuple[Pattern, bool]]
"""Nodes by their identity, with what `ends_alone` says of each."""


@deep
def ends_alone(pattern: Pattern, known: Endings) -> bool:
    """Tell whether some text matches a pattern and nothing in it has to be referred to; what is found is kept."""
    if id(pattern) not in known:
        ends = not isinstance(pattern, Reference) and _ends(pattern, lambda part: ends_alone(part, known))
        known[id(pattern)] = pattern, ends
    return known[id(pattern)][1]


def _ends(node: Pattern, is_productive: Callable[[Pattern], bool]) -> bool:
    """Tell whether a text matches a node, given what tells that of the nodes below."""
    match node:
        case Alternation(options):
            return any(map(is_productive, options))
        case Repeat(_, 0):
            return True
        case Members(members, separator, rest):
            written = [member for member, required in members if required]
            if not written:
                return any(map(is_productive, [member for member, _ in members] + ([rest] if rest else [])))
            return (len(written) == 1 or is_productive(separator)) and all(map(is_productive, written))
    return all(map(is_productive, parts_of(node)))


def parts_of(node: Pattern) -> tuple[Pattern, ...]:
    """Return the nodes that a node is made of; of a reference, what it refers to."""
    match node:
        case Concat(parts):
            return parts
        case Alternation(options):
            return options
        case Repeat(item):
            return (item,)
        case Distinct(item, separator):
            return item, separator
        case Reference():
            return (node.target,)
        case Lookahead(inside) | Lookbehind(inside):
            return (inside,)
        case Members(members, separator, rest):
            return (*(member for member, _ in members), separator, *([] if rest is None else [rest]))
        case _:
            return ()
