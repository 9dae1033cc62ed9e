"""The lengths of a pattern: the bytes of its shortest and of its longest text.

Each node is looked at once, after those below it, so the lengths cost as much as the tree, not as what it unrolls to.
Only a pattern that contains itself is gone through again, until its shortest length is found.
"""

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from structured.automata.dfa import most_characters
from structured.regex.json_strings import spelled_size
from structured.regex.syntax import (
    Alternation,
    Boundary,
    CharSet,
    Concat,
    Distinct,
    Literal,
    Lookahead,
    Lookbehind,
    Members,
    Pattern,
    Quotation,
    Reference,
    Repeat,
    Scan,
    Unlike,
    Words,
)
from structured.regex.traversal import parts_of

_PLAIN_CHARACTERS = 94
"""The characters of one byte that stand for themselves inside a JSON string."""


class Lengths(NamedTuple):
    """The UTF-8 bytes of a pattern's shortest and of its longest text; None where there is no longest, or none yet."""

    shortest: int | None
    longest: int | None


_UNKNOWN = Lengths(None, None)


def text_lengths(pattern: Pattern) -> Lengths:
    """Return the lengths of the texts of a pattern that some text matches.

    `alternation(literal("é"), repeat(literal("ab"), 2, 5))` → `Lengths(shortest=2, longest=10)`

    Where a pattern contains itself, there is taken to be no longest text.
    """
    nodes = _after_their_parts(pattern)
    known: dict[int, Lengths] = {}
    while True:
        found = dict(known)
        for node in nodes:
            found[id(node)] = _lengths(node, found)
        if found == known:
            return known[id(pattern)]
        known = found


def _after_their_parts(pattern: Pattern) -> list[Pattern]:
    """Return every node once, after all that it is made of, but for references, which may lead back."""
    ordered: list[Pattern] = []
    seen: set[int] = set()
    open_ends = [(pattern, False)]
    while open_ends:
        node, is_done = open_ends.pop()
        if is_done:
            ordered.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            open_ends.append((node, True))
            open_ends.extend((part, False) for part in parts_of(node))
    return ordered


def _lengths(node: Pattern, known: dict[int, Lengths]) -> Lengths:  # noqa: C901, PLR0912  one case for each kind of node
    """Return the lengths of a node, given those of its parts as far as they are known."""
    parts = [known.get(id(part), _UNKNOWN) for part in parts_of(node)]
    match node:
        case Literal(text):
            return _of_texts([text])
        case Words(texts):
            return _of_texts(texts)
        case CharSet(ranges):
            return Lengths(len(chr(ranges[0][0]).encode()), len(chr(ranges[-1][1]).encode()))
        case Concat():
            return Lengths(_sum(part.shortest for part in parts), _sum(part.longest for part in parts))
        case Alternation():
            return Lengths(_least(part.shortest for part in parts), _greatest(part.longest for part in parts))
        case Repeat(_, minimum, maximum):
            return _repeated(parts[0], minimum, maximum)
        case Reference():
            return Lengths(parts[0].shortest, None)
        case Unlike(texts):
            return Lengths(_shortest_unlike(texts), None)
        case Members():
            return _of_members(node, known)
        case Distinct():
            return _of_distinct(node, *parts)
        case Scan():
            return _of_scan(node)
        case Quotation(texts):
            return Lengths(texts.shortest, texts.longest)
        case Boundary() | Lookahead() | Lookbehind():
            return Lengths(0, 0)


def _sum(lengths: Iterable[int | None]) -> int | None:
    """Return the sum, or None if one of the lengths is none."""
    total = 0
    for length in lengths:
        if length is None:
            return None
        total += length
    return total


def _least(lengths: Iterable[int | None]) -> int | None:
    """Return the least of the lengths that are known."""
    return min((length for length in lengths if length is not None), default=None)


def _greatest(lengths: Iterable[int | None]) -> int | None:
    """Return the greatest length, or None if one of them is none."""
    greatest = 0
    for length in lengths:
        if length is None:
            return None
        greatest = max(greatest, length)
    return greatest


def _of_texts(texts: Iterable[str]) -> Lengths:
    sizes = [len(text.encode()) for text in texts]
    return Lengths(min(sizes), max(sizes))


def _repeated(item: Lengths, minimum: int, maximum: int | None) -> Lengths:
    shortest = 0 if minimum == 0 else None if item.shortest is None else minimum * item.shortest
    longest = None if item.longest is None or maximum is None else maximum * item.longest
    return Lengths(shortest, 0 if item.longest == 0 else longest)


def _shortest_unlike(texts: tuple[str, ...]) -> int:
    """Return the length of the shortest string that is none of some texts: of each length, there are many more."""
    return next(
        size for size in count() if [len(text.encode()) for text in texts].count(size) < _PLAIN_CHARACTERS**size
    )


def _of_scan(node: Scan) -> Lengths:
    """Return the lengths of the texts of an automaton; the longest are taken to consist of its longest characters."""
    sizes: dict[int, int] = dict.fromkeys(node.accepting, 0)
    steps = [
        (state, target, size)
        for state, arcs in enumerate(node.arcs)
        for low, high, target in arcs
        for size in [spelled_size(low, high)]
    ]
    changed = True
    while changed:
        changed = False
        for state, target, (shortest, _) in reversed(steps):
            if target in sizes and sizes[target] + shortest < sizes.get(state, sizes[target] + shortest + 1):
                sizes[state] = sizes[target] + shortest
                changed = True
    most = most_characters(node) if node.most is None else node.most
    widest = max((longest for _, _, (_, longest) in steps), default=0)
    return Lengths(sizes[0], None if most is None else most * widest)


def _of_distinct(node: Distinct, item: Lengths, separator: Lengths) -> Lengths:
    between = None if separator.shortest is None else (node.least - 1) * separator.shortest
    longest = _repeated(Lengths(0, _sum([item.longest, separator.longest])), 0, node.most).longest
    return Lengths(_sum([sum(node.lengths) if node.lengths else item.shortest, between]), longest)


def _of_members(node: Members, known: dict[int, Lengths]) -> Lengths:
    separator = known.get(id(node.separator), _UNKNOWN)
    members = [(known.get(id(member), _UNKNOWN), required) for member, required in node.members]
    required = [member.shortest for member, is_required in members if is_required]
    if required:
        shortest = _sum([*required, *[separator.shortest] * (len(required) - 1)])
    else:
        rest = [known.get(id(node.rest), _UNKNOWN)] if node.rest is not None else []
        shortest = _least(member.shortest for member in [*(member for member, _ in members), *rest])
    if node.rest is not None:
        return Lengths(shortest, None)
    longest = [*(member.longest for member, _ in members), *[separator.longest] * (len(members) - 1)]
    return Lengths(shortest, _sum(longest))
