"""The syntax tree of a regular expression as it is written: with groups, and with the order in which things are tried.

A `Pattern` says which texts match, and this tree says how `re` looks for a match: alternatives from left to right, a
quantifier as often as it can or as seldom. Only atomic groups, possessive quantifiers, and references to groups can
tell; `priority.py` and `backreferences.py` turn these into patterns.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal as TypingLiteral
from typing import NamedTuple

from structured.regex.syntax import EMPTY, Boundary, CharSet, Literal, Lookahead, Pattern

Mode = TypingLiteral["greedy", "lazy", "possessive"]


class Series(NamedTuple):
    """Its parts, one after the other."""

    parts: "tuple[Expression, ...]"


class Branches(NamedTuple):
    """One of its options, tried in their order."""

    options: "tuple[Expression, ...]"


class Quantified(NamedTuple):
    """Its item, `minimum` to `maximum` times; no upper limit where `maximum` is None."""

    item: "Expression"
    minimum: int
    maximum: int | None
    mode: Mode
    place: int
    """The character of the expression at which the quantifier begins."""


class Group(NamedTuple):
    """A group that captures its text, under a number."""

    number: int
    item: "Expression"
    place: int


class Atomic(NamedTuple):
    """The first match of its item, and no other: `(?>a|ab)` does not match `ab`."""

    item: "Expression"
    place: int


class Look(NamedTuple):
    """No character: what follows begins with a match of its item, or what stands before ends with one."""

    item: "Expression"
    is_behind: bool
    is_negated: bool
    place: int


class Backreference(NamedTuple):
    """The text that a group has captured; `alike` are the characters that equal one of it."""

    number: int
    alike: "Callable[[str], Pattern]"
    place: int


class Conditional(NamedTuple):
    """One of two expressions: the first if a group has captured something."""

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
"""What is no node of its own here is a pattern: a character, or an anchor."""


def sequence(parts: Iterable[Expression]) -> Expression:
    """Return expressions one after the other."""
    kept = tuple([part for part in parts if part is not EMPTY])
    return EMPTY if not kept else kept[0] if len(kept) == 1 else Series(kept)


def choice(options: Iterable[Expression]) -> Expression:
    """Return one of some expressions, of which there is one at least."""
    kept = tuple(options)
    return kept[0] if len(kept) == 1 else Branches(kept)


def parts_of(expression: Expression) -> "tuple[Expression, ...]":
    """Return the expressions of which one is made."""
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
    """Yield an expression and all below it."""
    open_ends = [expression]
    while open_ends:
        node = open_ends.pop()
        yield node
        open_ends += parts_of(node)
