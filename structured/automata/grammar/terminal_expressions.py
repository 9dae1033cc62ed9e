"""Regular expressions of terminals as nodes that read bytes, in the order of preference that Python's `re` has.

Greedy and lazy, the order of alternatives and lookaround all matter here, since they decide where a token ends. What no
automaton reads is refused by name.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from structured.automata.dfa.alphabet import Numbered
from structured.automata.opcodes import FAR
from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.character_sets import ByteRange, Range, byte_sequences
from structured.regex.expression import Atomic, Branches, Expression, Look, Quantified, Series
from structured.regex.regex_parser import python_expression
from structured.regex.syntax import (
    ANY_CHARACTER,
    NOTHING,
    Alternation,
    Anchor,
    Assertion,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
)

SET, CONCAT, CHOICE, LOOP, LOOK = range(5)
"""What a node does: reads one byte, its parts in order, its first option that leads to a match, its item again, or
nothing but a look at the text beside it."""

UNBOUNDED = -1


class Node(NamedTuple):
    """One node. Which of the other fields count depends on `kind`."""

    kind: int
    shortest: int
    """The bytes of its shortest match, lookaround aside."""
    arcs: tuple[tuple[int, int, int], ...] = ()
    """SET: first byte, last byte, the node that reads the rest of the character, -1 if there is none."""
    parts: tuple[int, ...] = ()
    """CONCAT, CHOICE: nodes. LOOP, LOOK: the one node."""
    least: int = 0
    most: int = 0
    """LOOP: UNBOUNDED if there is no such."""
    is_greedy: bool = True
    is_behind: bool = False
    is_negated: bool = False


class Expressions:
    """The nodes of some expressions; equal nodes are one."""

    def __init__(self) -> None:
        self.nodes = Numbered[Node]()
        self.behind: list[int] = []
        """The nodes that some lookbehind looks for, which `LOOK` names by their place here."""

    def add(self, expression: str) -> int:
        """Return the node of an expression. Raises PatternError for what no automaton can read."""
        self._source = expression
        self._looks_behind = False
        return self._read(python_expression(expression))

    @deep
    def _read(self, tree: Expression) -> int:  # noqa: C901  one case for each kind of node
        if isinstance(tree, Assertion | Look) and self._looks_behind and tree is not NOTHING:
            raise self._refused("An anchor or a lookaround within a lookbehind")
        match tree:
            case Literal(text):
                return self.concat([self.character(((ord(sign), ord(sign)),)) for sign in text])
            case CharSet(ranges):
                return self.character(ranges)
            case Series(parts) | Concat(parts):
                return self.concat(list(map(self._read, parts)))
            case Branches(options) | Alternation(options):
                return self.choice(list(map(self._read, options)))
            case Quantified(mode="possessive"):
                return self._possessive(tree)
            case Quantified(item, minimum, maximum, mode):
                return self.loop(self._read(item), minimum, maximum, is_greedy=mode == "greedy")
            case Iteration(item, minimum, maximum):
                return self.loop(self._read(item), minimum, maximum)
            case Anchor(kind, word_characters):
                return self._boundary(kind, word_characters)
            case Lookahead(item, is_negated) | Look(item, False, is_negated):
                return self.choice([]) if tree is NOTHING else self.look(self._read(item), is_negated=is_negated)
            case Lookbehind(item, is_negated) | Look(item, True, is_negated):
                self._looks_behind = True
                sought = self._read(item)
                self._looks_behind = False
                return self.look(sought, is_negated=is_negated, is_behind=True)
        raise self._refused("An atomic group" if isinstance(tree, Atomic) else type(tree).__name__)

    def _possessive(self, tree: Quantified) -> int:
        is_character = isinstance(tree.item, CharSet) or (isinstance(tree.item, Literal) and len(tree.item.text) == 1)
        if tree.maximum is not None or not is_character:
            raise self._refused("A possessive quantifier of more than one character, or with an upper limit,")
        item = self._read(tree.item)
        return self.concat([self.loop(item, tree.minimum, None), self.look(item, is_negated=True)])

    def _boundary(self, kind: str, word_characters: tuple[Range, ...]) -> int:
        if kind in ("start", "end"):
            return self.look(self.character(ANY_CHARACTER.ranges), is_negated=True, is_behind=kind == "start")
        word, ends = self.character(word_characters), kind == "word_boundary"
        inside = [self.look(word, is_behind=True), self.look(word, is_negated=ends)]
        outside = [self.look(word, is_negated=True, is_behind=True), self.look(word, is_negated=not ends)]
        return self.choice([self.concat(inside), self.concat(outside)])

    def _refused(self, what: str) -> PatternError:
        remedy = "Say the same without it, or in the rules."
        return PatternError(f"{what} cannot be enforced", pattern=self._source, remedy=remedy)

    def node(self, **fields: Any) -> int:
        """Return the number of a node, which is the same every time."""
        return self.nodes.number(Node(**fields))

    def reads(self, number: int, byte: int) -> bool:
        """Tell whether some part of a node may read a byte."""
        node = self.nodes[number]
        if node.kind == SET:
            return any(low <= byte <= high or (tail >= 0 and self.reads(tail, byte)) for low, high, tail in node.arcs)
        return node.kind != LOOK and any(self.reads(part, byte) for part in node.parts)

    def character(self, ranges: tuple[Range, ...]) -> int:
        """Return the node of one character of some ranges."""
        return self._bytes(byte_sequences(ranges))

    def _bytes(self, sequences: Sequence[tuple[ByteRange, ...]]) -> int:
        tails: dict[ByteRange, list[tuple[ByteRange, ...]]] = {}
        for first, *tail in sequences:
            tails.setdefault(first, []).append(tuple(tail))
        arcs = tuple((low, high, -1 if after == [()] else self._bytes(after)) for (low, high), after in tails.items())
        return self.node(kind=SET, shortest=min(map(len, sequences)), arcs=arcs)

    def concat(self, parts: Sequence[int]) -> int:
        """Return the node of some parts, in order."""
        if len(parts) == 1:
            return parts[0]
        shortest = min(sum(self.nodes[part].shortest for part in parts), FAR)
        return self.node(kind=CONCAT, shortest=shortest, parts=tuple(parts))

    def choice(self, options: Sequence[int]) -> int:
        """Return the node of some options, the preferred ones first; without any, nothing is read."""
        if len(options) == 1:
            return options[0]
        shortest = min((self.nodes[option].shortest for option in options), default=FAR)
        return self.node(kind=CHOICE, shortest=shortest, parts=tuple(options))

    def loop(self, item: int, least: int, most: int | None, *, is_greedy: bool = True) -> int:
        """Return the node of a repetition."""
        most = UNBOUNDED if most is None else most
        shortest = min(least * self.nodes[item].shortest, FAR)
        return self.node(kind=LOOP, shortest=shortest, parts=(item,), least=least, most=most, is_greedy=is_greedy)

    def look(self, item: int, *, is_negated: bool = False, is_behind: bool = False) -> int:
        """Return the node of a lookahead or a lookbehind."""
        if is_behind:
            if item not in self.behind:
                self.behind.append(item)
            item = self.behind.index(item)
        return self.node(kind=LOOK, shortest=0, parts=(item,), is_negated=is_negated, is_behind=is_behind)
