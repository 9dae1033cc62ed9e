"""Sizes of answers: the bytes of the shortest and of the longest, and how many there are.

The lengths of a pattern are sums over its nodes. Each node is visited once, after its parts, so they cost as much as
the tree, not as what it unrolls to. Only a pattern that contains itself is visited again, until its shortest length is
found. The answers of an automaton are its paths: an automaton over bytes has one path for each text. States are visited
one by one, up to a limit; a larger automaton has an unknown number of answers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from structured.automata import DEAD, ROW_COMPLETE, Automaton
from structured.automata.dfa import most_characters
from structured.output_types.type_report import Answers, Cost, Hazard
from structured.regex.json_strings import spelled_size
from structured.regex.syntax import (
    Alternation,
    Boundary,
    CharSet,
    Concat,
    Distinct,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
    Members,
    Pattern,
    Quotation,
    Reference,
    Scan,
    Unlike,
    Words,
)
from structured.regex.traversal import parts_of

_PLAIN_CHARACTERS = 94
"""The characters of one byte that a JSON string has as they are."""


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
        lengths = dict(known)
        for node in nodes:
            lengths[id(node)] = _lengths(node, lengths)
        if lengths == known:
            return known[id(pattern)]
        known = lengths


def _after_their_parts(pattern: Pattern) -> list[Pattern]:
    """Return every node once, after its parts, but for references, which may lead back."""
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
    """Return the lengths of a node by those of its parts, some of which may still be unknown."""
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
        case Iteration(_, minimum, maximum):
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
    total = 0
    for length in lengths:
        if length is None:
            return None
        total += length
    return total


def _least(lengths: Iterable[int | None]) -> int | None:
    return min((length for length in lengths if length is not None), default=None)


def _greatest(lengths: Iterable[int | None]) -> int | None:
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


MAX_STATES = 5_000
"""The most states of an automaton that are visited."""

MAX_SHOWN = 1_000
"""Bytes of the longest answer that is shown."""

_Arcs = Sequence[tuple[int, int]]
"""For each byte that may follow, the byte and the state after it."""


def inspect_texts(automaton: Automaton, how_to_limit: str = "") -> tuple[Cost, Answers, tuple[Hazard, ...]]:
    """Return the cost of an answer, the number of answers with examples, and their hazards.

    `how_to_limit` is what their type says of that.
    """
    arcs = _states(automaton)
    states = {automaton.start: _arcs(automaton, automaton.start)} if arcs is None else arcs
    shortest = int(automaton.distances[automaton.start])
    count, longest, text = None, None, None
    is_limited = None
    if arcs is not None:
        order = _in_order(arcs)
        is_limited = order is not None
        if order is not None:
            counts, lengths = _sums(automaton, arcs, order)
            count, longest = counts[automaton.start], lengths[automaton.start]
            text = _longest_text(automaton.start, arcs, lengths) if longest <= MAX_SHOWN else None
    shown = _shortest_text(automaton) if shortest <= MAX_SHOWN else None
    cost = Cost(len(states), shortest, longest)
    answers = Answers(count, is_limited, shown, text)
    return cost, answers, tuple(_hazards(automaton, states, how_to_limit, is_limited=is_limited))


def _arcs(automaton: Automaton, state: int) -> _Arcs:
    automaton.expand(state)
    row = automaton.table[state][:ROW_COMPLETE]
    return [(byte, int(row[byte])) for byte in np.flatnonzero(row > DEAD).tolist()]


def _states(automaton: Automaton) -> dict[int, _Arcs] | None:
    """Return the arcs of every state; None if there are too many."""
    arcs: dict[int, _Arcs] = {}
    open_ends = [automaton.start]
    while open_ends:
        state = open_ends.pop()
        if state not in arcs:
            if len(arcs) == MAX_STATES:
                return None
            arcs[state] = _arcs(automaton, state)
            open_ends += {target for _, target in arcs[state]}
    return arcs


def _in_order(arcs: dict[int, _Arcs]) -> list[int] | None:
    """Return the states, each after those that it leads to; None if some state leads back to itself."""
    before: dict[int, set[int]] = {state: set() for state in arcs}
    waiting: dict[int, int] = {}
    for state, ways in arcs.items():
        targets = {target for _, target in ways}
        waiting[state] = len(targets)
        for target in targets:
            before[target].add(state)
    order = [state for state, number in waiting.items() if number == 0]
    for state in order:  # which grows on the way
        for source in before[state]:
            waiting[source] -= 1
            if waiting[source] == 0:
                order.append(source)
    return order if len(order) == len(arcs) else None


def _sums(automaton: Automaton, arcs: dict[int, _Arcs], order: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return for each state how many texts lead on from it, and the bytes of the longest."""
    counts: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for state in order:
        counts[state] = int(automaton.accepts(state)) + sum(counts[target] for _, target in arcs[state])
        lengths[state] = max((1 + lengths[target] for _, target in arcs[state]), default=0)
    return counts, lengths


def _longest_text(state: int, arcs: dict[int, _Arcs], lengths: dict[int, int]) -> str:
    text = bytearray()
    while arcs[state]:
        byte, state = max(arcs[state], key=lambda arc: lengths[arc[1]])
        text.append(byte)
    return text.decode()


def _shortest_text(automaton: Automaton) -> str:
    text, state = bytearray(), automaton.start
    while not automaton.accepts(state):
        byte, state = min(_arcs(automaton, state), key=lambda arc: int(automaton.distances[arc[1]]))
        text.append(byte)
    return text.decode()


_OTHER_DIGIT = "\N{ARABIC-INDIC DIGIT THREE}".encode()


def _hazards(
    automaton: Automaton, states: dict[int, _Arcs], how_to_limit: str, *, is_limited: bool | None
) -> Iterator[Hazard]:
    where = ("",)
    if is_limited is False:
        problem = "An answer without a limit: it may use the whole budget."
        yield Hazard("text", problem, how_to_limit or "Nothing but max_tokens limits it.", where)
    if any(_allows_other_digits(automaton, state) for state in states):
        problem = r"Digits of other scripts are allowed where 0 to 9 are: \d in Python is any digit of Unicode."
        yield Hazard("digits", problem, "Write [0-9], or the flag a: (?a).", where)
    if automaton.accepts(automaton.start):
        yield Hazard("nothing", "The answer may be empty.", "Require something, unless that means something.", where)


def _allows_other_digits(automaton: Automaton, state: int) -> bool:
    """Tell whether digits of ASCII and of another script may follow, and no letter."""
    if automaton.step(state, ord("3")) == DEAD or automaton.step(state, ord("a")) != DEAD:
        return False
    for byte in _OTHER_DIGIT:
        state = automaton.step(state, byte)
        if state == DEAD:
            return False
    return True
