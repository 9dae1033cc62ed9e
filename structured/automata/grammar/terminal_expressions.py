"""Regular expressions of terminals as nodes that read bytes, in the order of preference that Python's `re` has.

Python itself parses an expression, so that what is read is what `re` reads. Greedy and lazy, the order of alternatives
and lookaround all matter here, since they decide where a token ends. What no automaton reads is refused by name.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from structured.automata.opcodes import FAR
from structured.errors import PatternError
from structured.regex.character_classes import DIGITS, LINE_FEED, WORD, python_space, python_word, unicode_digits
from structured.regex.character_sets import MAX_CODE_POINT, ByteRange, Range, byte_sequences, complement, normalise

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
    is_negative: bool = False


class Expressions:
    """The nodes of some expressions; equal nodes are one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}
        self.behind: list[int] = []
        """The nodes that some lookbehind looks for, which `LOOK` names by their place here."""

    def add(self, expression: str) -> int:
        """Return the node of an expression. Raises PatternError for what no automaton can read."""
        tree = _parser.parse(expression, 0)
        return _Reader(self, expression).sequence(tree, tree.state.flags | re.UNICODE.value)

    def node(self, **fields: Any) -> int:
        """Return the number of a node, which is the same every time."""
        new = Node(**fields)
        number = self._known.get(new)
        if number is None:
            number = self._known[new] = len(self.nodes)
            self.nodes.append(new)
        return number

    def reads(self, number: int, byte: int) -> bool:
        """Tell whether some part of a node may read a byte."""
        node = self.nodes[number]
        if node.kind == SET:
            return any(low <= byte <= high or (rest >= 0 and self.reads(rest, byte)) for low, high, rest in node.arcs)
        return node.kind != LOOK and any(self.reads(part, byte) for part in node.parts)

    def character(self, ranges: tuple[Range, ...]) -> int:
        """Return the node of one character of some ranges; of none, where there are no ranges."""
        return self._bytes(byte_sequences(ranges)) if ranges else self.choice([])

    def _bytes(self, sequences: Sequence[tuple[ByteRange, ...]]) -> int:
        after: dict[ByteRange, list[tuple[ByteRange, ...]]] = {}
        for first, *rest in sequences:
            after.setdefault(first, []).append(tuple(rest))
        arcs = tuple((low, high, -1 if rests == [()] else self._bytes(rests)) for (low, high), rests in after.items())
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

    def loop(self, item: int, least: int, most: int, *, is_greedy: bool) -> int:
        """Return the node of a repetition."""
        shortest = min(least * self.nodes[item].shortest, FAR)
        return self.node(kind=LOOP, shortest=shortest, parts=(item,), least=least, most=most, is_greedy=is_greedy)

    def look(self, item: int, *, is_negative: bool, is_behind: bool = False) -> int:
        """Return the node of a lookahead or a lookbehind."""
        if is_behind:
            if item not in self.behind:
                self.behind.append(item)
            item = self.behind.index(item)
        return self.node(kind=LOOK, shortest=0, parts=(item,), is_negative=is_negative, is_behind=is_behind)


_ANY: tuple[Range, ...] = complement(())
_NOT_LINE_FEED = complement(LINE_FEED)
_ASCII_SPACE: tuple[Range, ...] = ((0x09, 0x0D), (0x20, 0x20))

_REFUSED = {
    "GROUPREF": "A reference to a group",
    "GROUPREF_EXISTS": "A condition on a group",
    "ATOMIC_GROUP": "An atomic group",
}


class _Reader:
    """Makes nodes of the tree of one expression."""

    def __init__(self, expressions: Expressions, source: str) -> None:
        self.expressions = expressions
        self.source = source
        self.looks_behind = False

    def refused(self, what: str) -> PatternError:
        return PatternError(
            f"{what} cannot be enforced", pattern=self.source, remedy="Say the same without it, or in the rules."
        )

    def sequence(self, tree: Any, flags: int) -> int:
        return self.expressions.concat([self.item(operation, argument, flags, tree) for operation, argument in tree])

    def item(self, operation: Any, argument: Any, flags: int, tree: Any) -> int:
        made = self.expressions
        match str(operation):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return made.character(_ranges(operation, argument, flags, tree))
            case "BRANCH":
                return made.choice([self.sequence(option, flags) for option in argument[1]])
            case "SUBPATTERN":
                _, added, removed, inner = argument
                if added & re.ASCII.value:
                    flags &= ~re.UNICODE.value
                return self.sequence(inner, (flags | added) & ~removed)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repetition(str(operation), argument, flags)
            case "ASSERT" | "ASSERT_NOT":
                return self._look(argument, flags, is_negative=str(operation) == "ASSERT_NOT")
            case "AT":
                return self._anchor(str(argument), flags)
            case "FAILURE":
                return made.choice([])
        raise self.refused(_REFUSED.get(str(operation), str(operation)))

    def _repetition(self, operation: str, argument: Any, flags: int) -> int:
        made = self.expressions
        least, most, inner = argument
        if operation == "POSSESSIVE_REPEAT" and (len(inner) != 1 or most != _constants.MAXREPEAT):
            raise self.refused("A possessive quantifier of more than one character, or with an upper limit,")
        item = self.sequence(inner, flags)
        unbounded = most == _constants.MAXREPEAT
        loop = made.loop(item, int(least), UNBOUNDED if unbounded else int(most), is_greedy=operation != "MIN_REPEAT")
        if operation != "POSSESSIVE_REPEAT":
            return loop
        if str(inner[0][0]) not in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            raise self.refused("A possessive quantifier of more than one character")
        return made.concat([loop, made.look(item, is_negative=True)])

    def _look(self, argument: Any, flags: int, *, is_negative: bool) -> int:
        direction, inner = argument
        if direction > 0:
            return self.expressions.look(self.sequence(inner, flags), is_negative=is_negative)
        if self.looks_behind:
            raise self.refused("To look behind within looking behind")
        self.looks_behind = True
        item = self.sequence(inner, flags)
        self.looks_behind = False
        return self._behind(item, is_negative=is_negative)

    def _behind(self, item: int, *, is_negative: bool) -> int:
        return self.expressions.look(item, is_negative=is_negative, is_behind=True)

    def _anchor(self, where: str, flags: int) -> int:
        made = self.expressions
        if self.looks_behind:
            raise self.refused("An anchor within looking behind")
        is_multiline = bool(flags & re.MULTILINE.value)
        match where:
            case "AT_BEGINNING" if is_multiline:
                return self._behind(made.character(_NOT_LINE_FEED), is_negative=True)
            case "AT_BEGINNING" | "AT_BEGINNING_STRING":
                return self._behind(made.character(_ANY), is_negative=True)
            case "AT_END" if is_multiline:
                return made.look(made.character(_NOT_LINE_FEED), is_negative=True)
            case "AT_END":
                more = [made.character(LINE_FEED), made.character(_ANY)]
                return made.look(made.choice([made.character(_NOT_LINE_FEED), made.concat(more)]), is_negative=True)
            case "AT_END_STRING":
                return made.look(made.character(_ANY), is_negative=True)
            case "AT_BOUNDARY" | "AT_NON_BOUNDARY":
                word = made.character(WORD if flags & re.ASCII.value else python_word())
                ends = where == "AT_BOUNDARY"
                inside = [self._behind(word, is_negative=False), made.look(word, is_negative=ends)]
                outside = [self._behind(word, is_negative=True), made.look(word, is_negative=not ends)]
                return made.choice([made.concat(inside), made.concat(outside)])
        raise self.refused(where)


def _ranges(operation: Any, argument: Any, flags: int, tree: Any) -> tuple[Range, ...]:
    """Return the characters that a node of Python's tree matches."""
    name = str(operation)
    if name == "ANY":
        return _ANY if flags & re.DOTALL.value else _NOT_LINE_FEED
    if flags & re.IGNORECASE.value and flags & re.ASCII.value and name == "LITERAL":
        character = chr(argument)
        both = character.lower() + character.upper() if character.isascii() else character
        return normalise((ord(one), ord(one)) for one in both)
    if flags & re.IGNORECASE.value:
        return _matched((operation, argument), flags, tree)
    if name == "LITERAL":
        return normalise([(argument, argument)])
    if name == "NOT_LITERAL":
        return complement([(argument, argument)])
    is_negated = str(argument[0][0]) == "NEGATE"
    ranges: list[Range] = []
    for kind, value in argument[is_negated:]:
        match str(kind):
            case "LITERAL":
                ranges.append((value, value))
            case "RANGE":
                ranges.append(value)
            case _:
                ranges += _category(str(value), flags)
    return complement(ranges) if is_negated else normalise(ranges)


def _category(name: str, flags: int) -> tuple[Range, ...]:
    is_ascii = bool(flags & re.ASCII.value)
    classes: dict[str, Callable[[], tuple[Range, ...]]] = {
        "DIGIT": lambda: DIGITS if is_ascii else unicode_digits(),
        "SPACE": lambda: _ASCII_SPACE if is_ascii else python_space(),
        "WORD": lambda: WORD if is_ascii else python_word(),
    }
    ranges = classes[name.removeprefix("CATEGORY_").removeprefix("NOT_")]()
    return complement(ranges) if "NOT_" in name else ranges


_MATCHED: dict[str, tuple[Range, ...]] = {}


def _matched(node: tuple[Any, Any], flags: int, tree: Any) -> tuple[Range, ...]:
    """Return what `re` matches with a node of one character: every character is tried, once for each node."""
    flags &= (re.IGNORECASE | re.ASCII | re.UNICODE | re.DOTALL).value
    key = f"{node} {flags}"
    if key not in _MATCHED:
        item = _parser.SubPattern(tree.state, [node])
        run = _parser.SubPattern(tree.state, [(_constants.MAX_REPEAT, (1, _constants.MAXREPEAT, item))])
        group = (_constants.SUBPATTERN, (None, flags, 0, run))
        compile_tree: Any = _compiler.compile
        pattern = compile_tree(_parser.SubPattern(tree.state, [group]), 0)
        found = (match.span() for match in pattern.finditer(_all_characters()))
        _MATCHED[key] = normalise((start, end - 1) for start, end in found)
    return _MATCHED[key]


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return "".join(map(chr, range(MAX_CODE_POINT + 1)))
