r"""Regular expressions as they are written, with the order of attempts, and the texts that they match.

A `Pattern` defines which texts match. An expression also defines how `re` searches for a match: alternatives from left
to right, a quantifier greedily or lazily. The order matters only to possessive quantifiers and atomic groups, which
take the first match of their content and no other: `(?>a|ab)c` does not match `abc`. Earlier attempts become conditions
on the text that follows: `(?>a|ab)` is `a|(?!a)ab`. With these lookaheads written out, the order no longer matters.
Other groups leave no trace here, since nothing can refer to them.

`first_match(expression, after)` returns the first matches after which `after` can follow, provided that it does.

A possessive quantifier is not exactly an atomic group around a greedy one: CPython matches each repetition as an atomic
group of its own, so `(?:a|ab){2}+` does not match `aba`, but `(?>(?:a|ab){2})` does.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal as TypingLiteral
from typing import NamedTuple

from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.syntax import (
    EMPTY,
    NOTHING,
    Alternation,
    Anchor,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
    Pattern,
    Words,
    alternation,
    concat,
    repeat,
)

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


class Look(NamedTuple):
    """A lookaround: the text that follows begins with a match of an item, or the text before ends with one."""

    item: "Expression"
    is_behind: bool
    is_negated: bool


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


MAX_UNROLLED = 100
"""The most repetitions in an atomic group that are written out one by one."""

Unsupported = Callable[[str, int], PatternError]
"""A function that makes the error about an unsupported feature at a position."""


class Conversion:
    """The conversion of one expression to a pattern."""

    def __init__(self, unsupported: Unsupported) -> None:
        self.unsupported = unsupported
        self._matched: dict[int, tuple[Expression, Pattern]] = {}

    def matched(self, expression: Expression) -> Pattern:
        """Return the texts that an expression matches in some way, the same pattern each time."""
        if id(expression) not in self._matched:
            self._matched[id(expression)] = expression, self._convert(expression)
        return self._matched[id(expression)][1]

    @deep
    def _convert(self, expression: Expression) -> Pattern:
        match expression:
            case Series(parts):
                return concat(*map(self.matched, parts))
            case Branches(options):
                return alternation(*map(self.matched, options))
            case Atomic(item):
                return self.first_match(item, ())
            case Look(item, is_behind, is_negated):
                return (Lookbehind if is_behind else Lookahead)(self.matched(item), is_negated)
            case Quantified(mode="possessive"):
                return self._first_repetitions(expression, ())
            case Quantified(item, minimum, maximum):
                return _repeated(self.matched(item), minimum, maximum)
        return expression

    @deep
    def first_match(self, expression: Expression, after: tuple[Pattern, ...]) -> Pattern:
        """Return the first matches of an expression after which `after` can follow, provided that it does."""
        match expression:
            case Series(parts):
                matches: list[Pattern] = []
                has_choice = not all(isinstance(part, Literal | CharSet | Anchor) for part in parts)
                for part in reversed(parts):
                    matches.append(self.first_match(part, after))
                    after = (self.matched(part), *after) if has_choice else after
                return concat(*matches[::-1])
            case Branches(options):
                ways: list[Pattern] = []
                before: list[Pattern] = []
                for option in options:
                    only_here = [_not_followed_by((alternation(*before), *after))] if before else []
                    ways.append(concat(*only_here, self.first_match(option, after)))
                    before.append(self.matched(option))
                return alternation(*ways)
            case Quantified(mode="greedy" | "lazy"):
                return self._first_repetitions(expression, after)
        return self.matched(expression)

    def _first_repetitions(self, node: Quantified, after: tuple[Pattern, ...]) -> Pattern:
        item, minimum, maximum = node.item, node.minimum, node.maximum
        is_lazy = node.mode == "lazy"
        if maximum == 0:
            return EMPTY
        item_pattern = self.matched(item)
        if _has_empty(item_pattern, with_assertions=True):  # what stops the repetitions depends on earlier attempts
            raise self.unsupported("A repetition of an item that may be empty, inside an atomic group", node.place)
        never_gives_back = node.mode == "greedy" and not _without_optional_end(after) and minimum <= 1
        if never_gives_back or node.mode == "possessive":
            return _each_atomic(self.first_match(item, ()), minimum, maximum)
        if minimum > MAX_UNROLLED or (maximum or 0) > MAX_UNROLLED:
            raise self.unsupported(f"A repetition of more than {MAX_UNROLLED} inside an atomic group", node.place)

        def what_follows(low: int, high: int | None) -> tuple[Pattern, ...]:
            return (_repeated(item_pattern, low, high), *after)

        def repetition(low: int, high: int | None) -> Pattern:
            """Return a repetition after which `low` to `high` more may follow."""
            return self.first_match(item, what_follows(low, high))

        most = [None if maximum is None else maximum - done for done in range(1, minimum + 1)]
        required = [repetition(minimum - done, left) for done, left in enumerate(most, start=1)]
        if maximum is None:
            more = concat(_not_followed_by(after), repetition(0, None)) if is_lazy else repetition(0, None)
            end = EMPTY if is_lazy else _not_followed_by((item_pattern, *what_follows(0, None)))
            return concat(*required, _repeated(more, 0, None), end)
        repetitions: Pattern = EMPTY
        for left in range(maximum - minimum):
            more = concat(repetition(0, left), repetitions)
            if is_lazy:
                repetitions = alternation(EMPTY, concat(_not_followed_by(after), more))
            else:
                repetitions = alternation(more, _not_followed_by((item_pattern, *what_follows(0, left))))
        return concat(*required, repetitions)


def _each_atomic(item: Pattern, minimum: int, maximum: int | None) -> Pattern:
    """Return as many repetitions of an item as there are, at most `maximum`, each with a single match."""
    no_more = Lookahead(item, negated=True)
    if maximum is None:
        return concat(repeat(item, minimum, None), no_more)
    every = repeat(item, maximum, maximum)
    return every if minimum == maximum else alternation(every, concat(repeat(item, minimum, maximum - 1), no_more))


def _repeated(item: Pattern, minimum: int, maximum: int | None) -> Pattern:
    """Return a repetition of an item; an item without characters is there once or not at all."""
    if maximum == 0 or (minimum == 0 and _is_zero_width(item)):
        return EMPTY
    return item if _is_zero_width(item) else repeat(item, minimum, maximum)


def _without_optional_end(after: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return the patterns that must follow, without trailing ones that always match."""
    while after and _has_empty(after[-1], with_assertions=False):
        after = after[:-1]
    return after


def _not_followed_by(after: tuple[Pattern, ...]) -> Pattern:
    required = _without_optional_end(after)
    return Lookahead(concat(*required), negated=True) if required else NOTHING


@deep
def _has_empty(pattern: Pattern, *, with_assertions: bool) -> bool:
    """Tell whether a pattern certainly matches the empty text everywhere; counting assertions, possibly somewhere."""
    inside = partial(_has_empty, with_assertions=with_assertions)
    match pattern:
        case Literal(text):
            return not text
        case Words(texts):
            return "" in texts
        case Concat(parts):
            return all(map(inside, parts))
        case Alternation(options):
            return any(map(inside, options))
        case Iteration(item, minimum):
            return minimum == 0 or inside(item)
        case Anchor() | Lookahead() | Lookbehind():
            return with_assertions and pattern is not NOTHING
    return False


@deep
def _is_zero_width(pattern: Pattern) -> bool:
    match pattern:
        case Anchor() | Lookahead() | Lookbehind():
            return True
        case Concat(parts) | Alternation(parts):
            return all(map(_is_zero_width, parts))
        case Iteration(item):
            return _is_zero_width(item)
    return pattern == EMPTY
