"""Patterns without some bytes: the texts of a pattern in which these bytes do not occur.

Not every tokenizer can spell every byte. The bytes that it cannot spell are removed from the pattern rather than from
the automaton, so that every state that is left is alive and has its shortest completion. A node is kept wherever that
is harmless: where every beginning without the bytes can be completed without them, in no more bytes than before. So a
pattern that merely allows such a byte, as every string does, stays the same object, with all that is derived from it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.character_sets import ByteRange, Range, byte_sequences, complement, normalise
from structured.regex.json_strings import escaped_set, spelled_ranges
from structured.regex.printing import excerpt
from structured.regex.syntax import (
    EMPTY,
    Alternation,
    Arcs,
    AutomatonPattern,
    CharSet,
    Concat,
    Distinct,
    Iteration,
    Literal,
    ObjectMembers,
    Pattern,
    Quotation,
    Reference,
    Unlike,
    Words,
    alternation,
    concat,
    repeat,
    words,
)
from structured.regex.traversal import nodes_of, parts_of, productive_nodes

Sequences = Sequence[tuple[ByteRange, ...]]


def without_bytes(pattern: Pattern, removed_bytes: frozenset[int]) -> Pattern | None:
    """Return the texts of a pattern in which some bytes do not occur, None if there are none.

    >>> print(without_bytes(words(["tea", "café"]), frozenset({0xC3})))
    tea
    """
    return _Restriction(pattern, removed_bytes).pattern()


class _Restriction:
    """The restriction of one pattern to texts without some bytes. Nodes are compared by identity."""

    def __init__(self, pattern: Pattern, removed_bytes: frozenset[int]) -> None:
        self.root = pattern
        self.removed_bytes = removed_bytes
        self._is_present = [byte not in removed_bytes for byte in range(256)]
        self._harmless: dict[tuple[Range, ...], bool] = {}
        nodes = nodes_of(pattern)
        leaves = {id(node): (node, self._leaf(node)) for node in nodes if not parts_of(node)}
        self._restricted: dict[int, Pattern] = {key: leaf for key, (_, leaf) in leaves.items() if leaf is not None}
        self._changed = {key for key, (node, leaf) in leaves.items() if leaf is not node}
        self._productive: set[int] = set()
        if self._changed:
            barren = leaves.keys() - self._restricted.keys()
            self._productive = productive_nodes(pattern, barren)
            self._mark_above(nodes)
        self._references: dict[int, Reference] = {}
        self._pending_definitions: list[tuple[dict[str, Pattern], str, Pattern]] = []

    def pattern(self) -> Pattern | None:
        """Return the restricted pattern; None if no text is left."""
        if not self._changed:
            return self.root
        if id(self.root) not in self._productive:
            return None
        restricted = self._node(self.root)
        while self._pending_definitions:
            definitions, name, target = self._pending_definitions.pop()
            definitions[name] = self._node(target)
        return restricted

    def _mark_above(self, nodes: Iterable[Pattern]) -> None:
        """Mark every node above a changed node as changed."""
        above = defaultdict[int, list[int]](list)
        for node in nodes:
            for part in parts_of(node):
                above[id(part)].append(id(node))
        border = list(self._changed)
        while border:
            border = [place for below in border for place in above.pop(below, ())]
            self._changed.update(border)

    @deep
    def _node(self, node: Pattern) -> Pattern:
        """Return the restriction of a node of which some text is left."""
        if id(node) not in self._changed:
            return node
        if id(node) not in self._restricted:
            self._restricted[id(node)] = self._new_node(node)
        return self._restricted[id(node)]

    def _new_node(self, node: Pattern) -> Pattern:
        match node:
            case Concat(parts):
                return concat(*map(self._node, parts))
            case Alternation(options):
                return alternation(*(self._node(option) for option in options if id(option) in self._productive))
            case Iteration(item, minimum, maximum):
                return repeat(self._node(item), minimum, maximum) if id(item) in self._productive else EMPTY
            case ObjectMembers():
                return self._object_members(node)
            case Distinct():
                return self._distinct(node)
            case Reference():
                return self._reference(node)
        raise TypeError(f"{type(node).__name__} is no node of a pattern that an automaton reads")

    def _object_members(self, node: ObjectMembers) -> Pattern:
        kept = [(member, required) for member, required in node.members if id(member) in self._productive]
        members = tuple((self._node(member), required) for member, required in kept)
        other = node.other_member
        other = self._node(other) if other is not None and id(other) in self._productive else None
        if id(node.separator) in self._productive:
            in_order = node.in_order or len(members) + (other is not None) < 2
            return ObjectMembers(members, self._node(node.separator), other, in_order)
        needed = [member for member, required in members if required]
        return alternation(*(needed or [*(member for member, _ in members), *([other] if other else [])]))

    def _distinct(self, node: Distinct) -> Pattern:
        item = self._node(node.item)
        if node.least > 1 or id(node.separator) not in self._productive:
            raise PatternError(
                "Different items are unsupported where some of their bytes cannot be written",
                pattern=excerpt(node),
                remedy="Use a tokenizer that spells every text: one with a byte-level alphabet or with byte fallback.",
            )
        return replace(node, item=item, separator=self._node(node.separator), is_inexhaustible=False)

    def _reference(self, node: Reference) -> Reference:
        target = node.target
        if id(target) not in self._references:
            definitions: dict[str, Pattern] = {}
            self._references[id(target)] = Reference(node.name, definitions)
            self._pending_definitions.append((definitions, node.name, target))
        return self._references[id(target)]

    def _leaf(self, node: Pattern) -> Pattern | None:
        """Return the restriction of a node without others below it; None if no text is left."""
        match node:
            case Literal(text):
                return node if self._is_spelled(text) else None
            case Words(texts):
                if self._is_spelled("".join(texts)):
                    return node
                spelled = [text for text in texts if self._is_spelled(text)]
                return words(spelled) if spelled else None
            case CharSet(ranges):
                if self._is_harmless(byte_sequences(ranges)):
                    return node
                characters = self._characters(ranges)
                return CharSet(characters) if characters else None
            case Unlike():
                return node if self.removed_bytes.isdisjoint(_BYTES_UNLIKE_NEEDS) else self._unlike(node)
            case AutomatonPattern():
                return self._automaton(node)
            case Quotation(texts):
                kept = texts.without_bytes(self.removed_bytes)
                return node if kept is texts else None if kept is None else Quotation(kept)
        return node

    def _is_spelled(self, text: str) -> bool:
        return self.removed_bytes.isdisjoint(text.encode())

    def _is_harmless(self, sequences: Sequences) -> bool:
        """Tell whether some sequences can be kept: each beginning can be completed, in no more bytes than before."""
        kept = [sequence for sequence in sequences if all(map(self._has_present_byte, sequence))]
        if not kept or min(map(len, kept)) > min(map(len, sequences)):
            return False
        lost = [sequence for sequence in sequences if sequence not in kept] if len(kept) < len(sequences) else []
        return not any(self._has_present_byte(sequence[0]) for sequence in lost)

    def _has_present_byte(self, byte_range: ByteRange) -> bool:
        low, high = byte_range
        return any(self._is_present[low : high + 1])

    def _characters(self, ranges: tuple[Range, ...]) -> tuple[Range, ...]:
        return normalise(span for sequence in byte_sequences(ranges) for span in self._spans(sequence))

    def _spans(self, sequence: tuple[ByteRange, ...]) -> list[Range]:
        """Return the code points that a sequence of byte ranges encodes, less those with a removed byte."""
        spans, width = [(0, 0)], 1
        for place, (low, high) in reversed(list(enumerate(sequence))):
            bits = 0x3F if place else 0x7F >> (len(sequence) if len(sequence) > 1 else 0)
            present = [(byte & bits) * width for byte in range(low, high + 1) if self._is_present[byte]]
            spans = list(_merged((start + first, start + last) for start in present for first, last in spans))
            width *= 64
        return spans

    def _automaton(self, node: AutomatonPattern) -> Pattern | None:
        """Return an automaton over characters without those that are spelled with a removed byte."""
        arcs = [self._restricted_arcs(state) for state in node.arcs]
        if all(restricted is before for restricted, before in zip(arcs, node.arcs, strict=True)):
            return node
        included = (*node.included, self._any_text()) if node.included or node.excluded else ()
        return _trimmed(replace(node, arcs=tuple(arcs), included=included))

    def _restricted_arcs(self, arcs: tuple[tuple[int, int, int], ...]) -> tuple[tuple[int, int, int], ...]:
        """Return the restricted arcs of one state, the same object if all are harmless."""
        targets = defaultdict[int, list[Range]](list)
        for low, high, target in arcs:
            targets[target].append((low, high))
        harmful = {target for target, ranges in targets.items() if not self._is_spelled_as_before(tuple(ranges))}
        if not harmful:
            return arcs
        return tuple(
            (low, high, target)
            for first, last, target in arcs
            for low, high in (self._spelled_characters(((first, last),)) if target in harmful else ((first, last),))
        )

    def _is_spelled_as_before(self, ranges: tuple[Range, ...]) -> bool:
        """Tell whether it is harmless to keep the characters of some ranges, as JSON spells them."""
        if ranges not in self._harmless:
            plain, spelled = spelled_ranges(ranges)
            escapes = [tuple((byte, byte) for byte in escape.encode()) for escape in spelled]
            self._harmless[ranges] = self._is_harmless([*byte_sequences(plain), *escapes])
        return self._harmless[ranges]

    def _spelled_characters(self, ranges: tuple[Range, ...]) -> tuple[Range, ...]:
        """Return the characters of some ranges that JSON can spell without the removed bytes."""
        plain, spelled = spelled_ranges(ranges)
        escaped = [ord(json.loads(f'"{escape}"')) for escape in spelled if self._is_spelled(escape)]
        return normalise([*self._characters(plain), *((point, point) for point in escaped)])

    def _unlike(self, node: Unlike) -> Pattern | None:
        """Return the strings other than some texts, as an automaton over the characters that are left."""
        free = self._spelled_characters(_ANY)
        after: list[dict[int, int]] = [{}]  # a trie of the texts
        ends = set[int]()
        for text in node.texts:
            state = 0
            for character in json.loads(f'"{text}"'):
                if ord(character) not in after[state]:
                    after[state][ord(character)] = len(after)
                    after.append({})
                state = after[state][ord(character)]
            ends.add(state)
        off = len(after)
        arcs: Arcs = tuple(
            tuple((low, high, children.get(low, off)) for span in free for low, high in _split_at(*span, children))
            for children in [*after, {}]
        )
        accepting = frozenset(range(off + 1)) - ends
        return _trimmed(AutomatonPattern(arcs, accepting, None, (self._any_text(),), tuple(map(Literal, node.texts))))

    def _any_text(self) -> Pattern:
        """Return any text inside a JSON string."""
        characters = self._spelled_characters(_ANY)
        return repeat(escaped_set(characters), 0, None) if characters else EMPTY


_ANY = complement(())

_BYTES_UNLIKE_NEEDS = frozenset((*range(0x20, 0x7F), *range(0x80, 0xC0)))
"""Bytes that complete every character that is begun, without making an excluded text, and every escape."""


def _merged(spans: Iterable[Range]) -> Iterator[Range]:
    """Yield spans, which are in order, with those that touch joined."""
    first, last = -1, -2
    for low, high in spans:
        if low != last + 1:
            if first >= 0:
                yield first, last
            first = low
        last = high
    if first >= 0:
        yield first, last


def _split_at(first: int, last: int, points: Iterable[int]) -> Iterator[Range]:
    """Yield the pieces of a range, with each of some points as a piece of its own."""
    for point in sorted(points):
        if first <= point <= last:
            if first < point:
                yield first, point - 1
            yield point, point
            first = point + 1
    if first <= last:
        yield first, last


def _trimmed(node: AutomatonPattern) -> AutomatonPattern | None:
    """Return an automaton with only the states from which the text may end; None if the start is not one of them."""
    before = defaultdict[int, set[int]](set)
    for state, arcs in enumerate(node.arcs):
        for _, _, target in arcs:
            before[target].add(state)
    fewest = dict.fromkeys(node.accepting, 0)
    order = list(fewest)
    for state in order:  # the list grows during the loop
        for source in before[state]:
            if source not in fewest:
                fewest[source] = fewest[state] + 1
                order.append(source)
    if 0 not in fewest or (node.most is not None and fewest[0] > node.most):
        return None
    numbers = {state: number for number, state in enumerate(sorted(fewest))}
    kept: Arcs = tuple(
        tuple((low, high, numbers[target]) for low, high, target in node.arcs[state] if target in fewest)
        for state in sorted(fewest)
    )
    accepting = frozenset(numbers[state] for state in node.accepting)
    return replace(node, arcs=kept, accepting=accepting)
