r"""The texts that an expression matches, where the order of attempts matters.

An atomic group takes the first match of its content and no other: `(?>a|ab)c` does not match `abc`. Earlier attempts
become conditions on the text that follows: `(?>a|ab)` is `a|(?!a)ab`, and `(?>a*b?)` is `a*(?!a)(b|(?!b))`. With these
lookaheads written out, the order no longer matters.

`first_match(expression, after)` returns the first matches after which `after` can follow, provided that it does.

A possessive quantifier is not exactly an atomic group around a greedy one: CPython matches each repetition as an atomic
group of its own, so `(?:a|ab){2}+` does not match `aba`, but `(?>(?:a|ab){2})` does.
"""

from collections.abc import Callable

from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.expression import (
    Atomic,
    Branches,
    Expression,
    Look,
    Quantified,
    Series,
    choice,
    sequence,
)
from structured.regex.syntax import (
    EMPTY,
    NOTHING,
    Alternation,
    Boundary,
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

MAX_UNROLLED = 100
"""The most repetitions in an atomic group that are written out one by one."""

Unsupported = Callable[[str, int], PatternError]
"""A function that makes the error about an unsupported feature at a position."""


def matched(expression: Expression, unsupported: Unsupported) -> Pattern:
    """Return the texts that an expression matches."""
    return _Reader(unsupported).matched(expression)


class _Reader:
    """The conversion of one expression to a pattern."""

    def __init__(self, unsupported: Unsupported) -> None:
        self.unsupported = unsupported
        self._matched: dict[int, tuple[Expression, Pattern]] = {}

    def matched(self, expression: Expression) -> Pattern:
        """Return the texts that an expression matches in some way, the same pattern each time."""
        entry = self._matched.get(id(expression))
        if entry is None:
            entry = self._matched[id(expression)] = expression, self._read(expression)
        return entry[1]

    @deep
    def _read(self, expression: Expression) -> Pattern:
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
                return self._possessive(expression)
            case Quantified(item, minimum, maximum):
                return _repeated(self.matched(item), minimum, maximum)
        return expression

    @deep
    def first_match(self, expression: Expression, after: tuple[Pattern, ...]) -> Pattern:
        """Return the first matches of an expression after which `after` can follow, provided that it does."""
        match expression:
            case Series(parts):
                matches: list[Pattern] = []
                has_choice = not all(isinstance(part, Literal | CharSet | Boundary) for part in parts)
                for part in reversed(parts):
                    matches.append(self.first_match(part, after))
                    after = (self.matched(part), *after) if has_choice else after
                return concat(*matches[::-1])
            case Branches(options):
                ways: list[Pattern] = []
                before: list[Pattern] = []
                for option in options:
                    only_here = [_cannot_follow((alternation(*before), *after))] if before else []
                    ways.append(concat(*only_here, self.first_match(option, after)))
                    before.append(self.matched(option))
                return alternation(*ways)
            case Quantified(mode="greedy" | "lazy"):
                return self._first_repetitions(expression, after)
        return self.matched(expression)

    def _first_repetitions(  # noqa: C901  greedy and lazy, limited and not
        self, node: Quantified, after: tuple[Pattern, ...]
    ) -> Pattern:
        item, minimum, maximum = node.item, node.minimum, node.maximum
        is_lazy = node.mode == "lazy"
        if maximum == 0:
            return EMPTY
        if _may_be_empty(self.matched(item)):
            if is_lazy and maximum != 1:
                raise self.unsupported(
                    "A lazy repetition of an item that may be empty, inside an atomic group", node.place
                )
            if not is_lazy:
                filled, minimum = self._filled(node, is_last=not _trimmed(after))
                if filled is None:
                    return _repeated(self.first_match(item, after), node.minimum, maximum)
                item = filled
        again = self.matched(item)
        if not is_lazy and not _trimmed(after) and minimum <= 1:  # no repetition is ever given back
            return self._in_isolation(self.first_match(item, ()), minimum, maximum)
        if minimum > MAX_UNROLLED or (maximum or 0) > MAX_UNROLLED:
            raise self.unsupported(f"A repetition of more than {MAX_UNROLLED} inside an atomic group", node.place)

        def rest(low: int, high: int | None) -> tuple[Pattern, ...]:
            return (_repeated(again, low, high), *after)

        def repetition(low: int, high: int | None) -> Pattern:
            """Return a repetition after which `low` to `high` more may follow."""
            return self.first_match(item, rest(low, high))

        fewer = None if maximum is None else maximum - minimum
        needed = [
            repetition(minimum - done, None if maximum is None else maximum - done) for done in range(1, minimum + 1)
        ]
        if fewer is None:
            more = concat(_cannot_follow(after), repetition(0, None)) if is_lazy else repetition(0, None)
            end = EMPTY if is_lazy else _cannot_follow((again, *rest(0, None)))
            return concat(*needed, _repeated(more, 0, None), end)
        repetitions: Pattern = EMPTY
        for left in range(fewer):
            if is_lazy:
                repetitions = alternation(EMPTY, concat(_cannot_follow(after), repetition(0, left), repetitions))
            else:
                repetitions = alternation(
                    concat(repetition(0, left), repetitions), _cannot_follow((again, *rest(0, left)))
                )
        return concat(*needed, repetitions)

    def _possessive(self, node: Quantified) -> Pattern:
        """Return repetitions, each of which is matched by itself."""
        if node.maximum == 0:
            return EMPTY
        item, minimum = self._filled(node, is_last=True)
        if item is None:
            return _repeated(self.first_match(node.item, ()), node.minimum, node.maximum)
        return self._in_isolation(self.first_match(item, ()), minimum, node.maximum)

    def _in_isolation(self, item: Pattern, minimum: int, maximum: int | None) -> Pattern:
        """Return as many repetitions of an item as there are, at most `maximum`, each with a single match."""
        no_more = Lookahead(item, negated=True)
        if maximum is None:
            return concat(repeat(item, minimum, None), no_more)
        every = repeat(item, maximum, maximum)
        return every if minimum == maximum else alternation(every, concat(repeat(item, minimum, maximum - 1), no_more))

    def _filled(self, node: Quantified, *, is_last: bool) -> tuple[Expression | None, int]:
        """Return the part of a quantified item that is not empty (None if there is none), and its least count.

        `is_last` is whether anything may follow, so that the first match stays.
        """
        if not _may_be_empty(self.matched(node.item)):
            return node.item, node.minimum
        if node.minimum > 0 and not _is_free(self.matched(node.item)):
            raise self._empty_item(node.place)
        return self._not_empty(node.item, node.place, is_last=is_last), 0

    def _empty_item(self, place: int) -> PatternError:
        return self.unsupported("A repetition of an item that may be empty, inside an atomic group", place)

    @deep
    def _not_empty(  # noqa: C901, PLR0912  one case for each kind of node
        self, expression: Expression, place: int, *, is_last: bool = False
    ) -> Expression | None:
        """Return the nonempty matches of an expression that come before the empty match; None if there are none.

        `a*|b?` has another order, and is refused.
        """
        whole = self.matched(expression)
        if not _may_be_empty(whole):
            return expression
        if _matches_nothing_but_empty(whole):
            return None
        match expression:
            case Atomic(item):
                filled = self._not_empty(item, place, is_last=True)
                return None if filled is None else Atomic(filled, place)
            case Branches(options):
                return self._not_empty_choice(options, place, is_last=is_last)
            case Series(parts):
                ways: list[Expression] = []
                before: list[Expression] = []
                for index, part in enumerate(parts):
                    filled = self._not_empty(part, place)
                    if filled is not None:
                        ways.append(sequence((*before, filled, *parts[index + 1 :])))
                    if _matches_nothing_but_empty(self.matched(part)):
                        before.append(part)
                    elif isinstance(part, Atomic | Quantified) and filled is not None and _is_settled(part):
                        before.append(Look(filled, is_behind=False, is_negated=True, place=place))
                    elif not _is_free(self.matched(part)) and index + 1 < len(parts):
                        raise self._empty_item(place)
                return choice(ways) if ways else None
            case Quantified(_, _, maximum, "possessive"):
                filled, minimum = self._filled(expression, is_last=True)
                if filled is None:
                    return None
                return Quantified(filled, max(minimum, 1), maximum, "possessive", place)
            case Quantified(item, _, maximum, "greedy"):
                filled, minimum = self._filled(expression, is_last=False)
                if filled is None:
                    return None
                fewer = None if maximum is None else maximum - 1
                return sequence((filled, Quantified(filled, max(minimum - 1, 0), fewer, "greedy", place)))
            case Quantified(_, 0, _, "lazy") if is_last:
                return None
        raise self._empty_item(place)

    def _not_empty_choice(self, options: tuple[Expression, ...], place: int, *, is_last: bool) -> Expression | None:
        kept: list[Expression] = []
        guards: list[Expression] = []
        for index, option in enumerate(options):
            pattern = self.matched(option)
            filled = self._not_empty(option, place, is_last=is_last)
            if filled is not None:
                kept.append(sequence((*guards, filled)))
            if _may_be_empty(pattern) and index + 1 < len(options):
                if is_last and _is_free(pattern):
                    break
                if not is_last or not _matches_nothing_but_empty(pattern):
                    raise self.unsupported("A choice that is empty before other options, inside an atomic group", place)
                guards.append(Look(option, is_behind=False, is_negated=True, place=place))
        return choice(kept) if kept else None


def _is_settled(part: Atomic | Quantified) -> bool:
    """Tell whether a node matches the empty text only where it matches nothing else."""
    return isinstance(part, Atomic) or (part.mode == "possessive" and part.minimum == 0)


def _repeated(item: Pattern, minimum: int, maximum: int | None) -> Pattern:
    """Return a repetition of an item; an item without characters is there once or not at all."""
    if maximum == 0 or (minimum == 0 and _matches_nothing_but_empty(item)):
        return EMPTY
    return item if _matches_nothing_but_empty(item) else repeat(item, minimum, maximum)


def _trimmed(after: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return the patterns that must follow, without trailing ones that always match."""
    while after and _is_free(after[-1]):
        after = after[:-1]
    return after


def _cannot_follow(after: tuple[Pattern, ...]) -> Pattern:
    needed = _trimmed(after)
    return Lookahead(concat(*needed), negated=True) if needed else NOTHING


@deep
def _is_free(pattern: Pattern) -> bool:
    """Tell whether a pattern surely matches the empty text, in any place."""
    match pattern:
        case Literal(text):
            return not text
        case Words(texts):
            return "" in texts
        case Concat(parts):
            return all(map(_is_free, parts))
        case Alternation(options):
            return any(map(_is_free, options))
        case Iteration(item, minimum):
            return minimum == 0 or _is_free(item)
    return False


@deep
def _may_be_empty(pattern: Pattern) -> bool:
    match pattern:
        case Boundary() | Lookahead() | Lookbehind():
            return pattern is not NOTHING
        case Concat(parts):
            return all(map(_may_be_empty, parts))
        case Alternation(options):
            return any(map(_may_be_empty, options))
        case Iteration(item, minimum):
            return minimum == 0 or _may_be_empty(item)
    return _is_free(pattern)


@deep
def _matches_nothing_but_empty(pattern: Pattern) -> bool:
    match pattern:
        case Boundary() | Lookahead() | Lookbehind():
            return True
        case Concat(parts) | Alternation(parts):
            return all(map(_matches_nothing_but_empty, parts))
        case Iteration(item):
            return _matches_nothing_but_empty(item)
    return pattern == EMPTY
