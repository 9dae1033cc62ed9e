"""The syntax tree of a regular expression as it is written: with groups, and with the order of attempts.

A `Pattern` defines which texts match. This tree also defines how `re` searches for a match: alternatives from left to
right, a quantifier greedily or lazily. The order matters only to atomic groups and possessive quantifiers, which
`priority.py` turns into patterns. Other groups leave no trace here, since nothing can refer to them.
"""

from collections.abc import Iterable
from typing import Literal as TypingLiteral
from typing import NamedTuple

from structured.regex.syntax import EMPTY, Pattern

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


Expression = Series | Branches | Quantified | Atomic | Look | Pattern
"""An expression. Characters and anchors are patterns."""


def sequence(parts: Iterable[Expression]) -> Expression:
    """Return a sequence of expressions."""
    kept = tuple([part for part in parts if part is not EMPTY])
    return EMPTY if not kept else kept[0] if len(kept) == 1 else Series(kept)


def choice(options: Iterable[Expression]) -> Expression:
    """Return a choice between expressions, at least one."""
    kept = tuple(options)
    return kept[0] if len(kept) == 1 else Branches(kept)
