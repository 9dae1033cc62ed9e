"""The syntax tree of a regular expression as it is written: with groups, and with the order of attempts.

A `Pattern` defines which texts match. This tree also defines how `re` searches for a match: alternatives from left to
right, a quantifier greedily or lazily. The order matters only to atomic groups, possessive quantifiers and references
to groups; `priority.py` and `backreferences.py` turn these into patterns.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal as TypingLiteral
from typing import NamedTuple

from structured.regex.syntax import EMPTY, Boundary, CharSet, Literal, Lookahead, Pattern

Mode = TypingLiteral["greedy", "lazy", "possessive"]


class Series(NamedTuple):
    """A sequence of parts."""

    parts: "tuple[Expression, ...]"


class Branches(NamedTuple):
    """A choice between options, tried in their order."""

    options: "tuple[Expression, ...]"


class Quantified(NamedTuple):
    """An item `minimum` to `maximum` times; None means no limit."""

    item: "Expression"
    minimum: int
    maximum: int | None
    mode: Mode
    place: int
    """The position of the quantifier in the regular expression."""


class Group(NamedTuple):
    """A group that captures its text under a number."""

    number: int
    item: "Expression"
    place: int


class Atomic(NamedTuple):
    """The first match of an item, and no other: `(?>a|ab)` does not match `ab`."""

    item: "Expression"
    place: int


class Look(NamedTuple):
    """A lookaround: the text that follows begins with a match of an item, or the text before ends with one."""

    item: "Expression"
    is_behind: bool
    is_negated: bool
    place: int


class Backreference(NamedTuple):
    """The text that a group has captured; `alike` returns the characters that count as equal to one of them."""

    number: int
    alike: "Callable[[str], Pattern]"
    place: int


class Conditional(NamedTuple):
    """The first of two expressions if a group has captured something, else the second."""

    number: int
    met: "Expression"
    unmet: "Expression"
    place: int


Expression = (
    Series
    | Branches
    | Quantified
    | Group
    | Atomic
    | Look
    | Backreference
    | Conditional
    | Literal
    | CharSet
    | Boundary
    | Lookahead
    | Pattern
)
"""An expression. Characters and anchors are patterns."""


def sequence(parts: Iterable[Expression]) -> Expression:
    """Return a sequence of expressions."""
    kept = tuple([part for part in parts if part is not EMPTY])
    return EMPTY if not kept else kept[0] if len(kept) == 1 else Series(kept)


def choice(options: Iterable[Expression]) -> Expression:
    """Return a choice between expressions, at least one."""
    kept = tuple(options)
    return kept[0] if len(kept) == 1 else Branches(kept)


def parts_of(expression: Expression) -> "tuple[Expression, ...]":
    """Return the direct parts of an expression."""
    match expression:
        case Series(parts):
            return parts
        case Branches(options):
            return options
        case Quantified(item) | Group(_, item) | Atomic(item) | Look(item):
            return (item,)
        case Conditional(_, met, unmet):
            return (met, unmet)
    return ()


def expressions_in(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts, to any depth."""
    open_ends = [expression]
    while open_ends:
        node = open_ends.pop()
        yield node
        open_ends += parts_of(node)
