"""What a pattern consists of, and which of its nodes some text matches."""

from collections.abc import Set as AbstractSet

from structured.errors.recursion import deep
from structured.regex.syntax import Alternation, Concat, Lookahead, Lookbehind, Members, Pattern, Reference, Repeat


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
    productive: set[int] = set()
    found = -1
    while found < len(productive):
        found = len(productive)
        for node in nodes:
            if id(node) not in productive and id(node) not in barren and _ends(node, productive):
                productive.add(id(node))
    return productive


Endings = dict[int, tuple[Pattern, bool]]
"""Nodes by their identity, with what `ends_alone` says of each."""


@deep
def ends_alone(pattern: Pattern, known: Endings) -> bool:
    """Tell whether some text matches a pattern and nothing in it has to be referred to; what is found is kept."""
    if id(pattern) not in known:
        parts = [] if isinstance(pattern, Reference) else parts_of(pattern)
        ended = {id(part) for part in parts if ends_alone(part, known)}
        known[id(pattern)] = pattern, not isinstance(pattern, Reference) and _ends(pattern, ended)
    return known[id(pattern)][1]


def _ends(node: Pattern, productive: set[int]) -> bool:
    """Tell whether a text matches a node, given the nodes below of which that is known."""
    if isinstance(node, Repeat) and node.minimum == 0:
        return True
    if isinstance(node, Members):
        written = [member for member, required in node.members if required]
        written = written or [member for member, _ in node.members] + ([node.rest] if node.rest else [])
        ended = [id(member) in productive for member in written]
        needed = sum(required for _, required in node.members)
        if needed > 1 and id(node.separator) not in productive:
            return False
        return all(ended) if needed else any(ended)
    ended = [id(part) in productive for part in parts_of(node)]
    return any(ended) if isinstance(node, Alternation) else all(ended)


def parts_of(node: Pattern) -> tuple[Pattern, ...]:
    """Return the nodes that a node is made of; of a reference, what it refers to."""
    match node:
        case Concat(parts):
            return parts
        case Alternation(options):
            return options
        case Repeat(item):
            return (item,)
        case Reference():
            return (node.target,)
        case Lookahead(inside) | Lookbehind(inside):
            return (inside,)
        case Members(members, separator, rest):
            return (*(member for member, _ in members), separator, *([] if rest is None else [rest]))
        case _:
            return ()
