"""Obligations taken together: what the others say already is left out, so that equal ones are written alike.

A NAME that ends before all of a word has been read leaves behind that no letter follows and, where it might become a
reserved word, that none of those follows. The first implies the second. Without that, each beginning of a reserved word
would leave something else behind, and the lexer would go on in a state of its own.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from structured.automata.grammar.threads import NO_OBLIGATIONS, Matcher, Obligation, Thread

_Rows = Callable[[Obligation, frozenset[int]], Sequence[frozenset[Obligation] | None]]


class _Outcome(NamedTuple):
    """The bytes by which an obligation is met, and by which it is not, as bits; bit 256 is the end of the text."""

    met: int
    failed: int


_EVERY = (1 << 257) - 1


class Obligations:
    """The simplest form of obligations; `row_of` says what each byte leaves of one, None if it is not met."""

    def __init__(self, matcher: Matcher, row_of: _Rows) -> None:
        self.matcher = matcher
        self._row_of = row_of
        self._known: dict[tuple[frozenset[Obligation], frozenset[int]], frozenset[Obligation] | None] = {}
        self._outcomes: dict[tuple[Obligation, frozenset[int]], _Outcome] = {}

    def together(self, obligations: frozenset[Obligation], behind: frozenset[int]) -> frozenset[Obligation] | None:
        """Return obligations that are met whenever some are; None if no text meets them."""
        if not obligations:
            return obligations
        key = obligations, behind
        if key not in self._known:
            self._known[key] = self._simplified(obligations, behind)
        return self._known[key]

    def _simplified(self, obligations: frozenset[Obligation], behind: frozenset[int]) -> frozenset[Obligation] | None:
        shorter = obligations
        for one in obligations:
            others = shorter - {one}
            shorter = others | {_without(one, others)}
        outcomes = {one: self._outcome(one, behind) for one in shorter}
        failed = 0
        for outcome in outcomes.values():
            failed |= outcome.failed
        if failed == _EVERY:
            return None
        kept = dict(outcomes)
        for one, outcome in sorted(outcomes.items(), key=lambda item: item[1].failed.bit_count()):
            del kept[one]
            failed_elsewhere = 0
            for other in kept.values():
                failed_elsewhere |= other.failed
            if outcome.met | failed_elsewhere != _EVERY:
                kept[one] = outcome
        return frozenset(kept) or NO_OBLIGATIONS

    def _outcome(self, obligation: Obligation, behind: frozenset[int]) -> _Outcome:
        key = obligation, behind
        found = self._outcomes.get(key)
        if found is None:
            holds_at_end = self.matcher.hold_at_end(frozenset({obligation}))
            met, failed = int(holds_at_end) << 256, int(not holds_at_end) << 256
            for byte, left in enumerate(self._row_of(obligation, behind)):
                if left is None:
                    failed |= 1 << byte
                elif not left:
                    met |= 1 << byte
            found = self._outcomes[key] = _Outcome(met, failed)
        return found


def _without(obligation: Obligation, others: frozenset[Obligation]) -> Obligation:
    """Return an obligation that asks of its threads nothing that others ask already.

    "P, and not (X and P)" becomes "P, and not X".
    """
    threads = (Thread(frame, obligations - others) for frame, obligations in obligation.threads)
    return Obligation(obligation.is_positive, frozenset(threads))
