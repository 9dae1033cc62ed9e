"""Threads of a backtracking matcher, run side by side and kept in the order in which `re` would try them.

A thread is a stack of frames, interned, each a node with the place reached in it. Unfolding follows all steps that read
no byte, preferred steps first, as Python's engine does, including its rule for repetitions whose item is empty. This is
the machine of Pike ("The text editor sam", 1987) with counters in the frames. A lookahead becomes an obligation on the
rest of the text.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from operator import or_
from typing import NamedTuple

from structured.automata.dfa.alphabet import Numbered
from structured.automata.grammar.terminal_expressions import CHOICE, CONCAT, LOOK, LOOP, SET, UNBOUNDED, Expressions
from structured.automata.opcodes import FAR
from structured.errors import GrammarError

NO_OBLIGATIONS: "frozenset[Obligation]" = frozenset()

END = -1
"""The node of the lowest frame, which names the goal."""


class Obligation(NamedTuple):
    """A condition on the rest of the text: that some thread (`is_positive`) or no thread reads a beginning of it.

    A thread at its end has read a beginning if its own obligations are met.
    """

    is_positive: bool
    threads: "frozenset[Thread]"


class Thread(NamedTuple):
    """A stack of frames that is still to be read, and obligations on the rest of the text."""

    frame: int
    obligations: frozenset[Obligation] = NO_OBLIGATIONS


class Frame(NamedTuple):
    """A node with the place reached in it, above what is read after it.

    `place` is the next part of a CONCAT, the times that a LOOP has read its item (up to what still matters), of END
    what has been read. `has_read_nothing` says that the item of a LOOP has read nothing since it began.
    """

    node: int
    place: int
    has_read_nothing: bool
    below: int


Threads = tuple[Thread, ...]

MAX_THREADS = 20_000
"""The most threads of one state."""


class Matcher:
    """The frames of some expressions, and their successors by bytes.

    `behind` is what the text so far means for looking behind: the frames of all expressions that are looked for, with
    each of them begun anew at every place.
    """

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.frames = Numbered[Frame]()
        self.shortest: list[int] = []
        """The bytes of the shortest match of each frame, lookaround aside."""
        self.goal: list[int] = []
        """The goal of each frame: the number that its lowest frame names."""
        self._after_reading = cache(self._new_after_reading)
        self.after = cache(self._read)
        """The frame after a frame and a byte, -1 if it does not read the byte."""
        self._ends = [self.end(place) for place in range(len(expressions.behind))]
        self._starts = [Thread(self.enter(node, end)) for node, end in zip(expressions.behind, self._ends, strict=True)]

    def end(self, goal: int) -> int:
        """Return the frame that has read everything."""
        return self._frame(END, goal, -1)

    def enter(self, node: int, below: int) -> int:
        """Return the frame that reads a node, and then what is below."""
        return self._frame(node, 0, below)

    def beginning(self) -> frozenset[int]:
        """Return the frames for lookbehinds before the first byte."""
        return self.unfolded_frames(self._starts, frozenset())

    def behind_after(self, behind: frozenset[int], byte: int) -> frozenset[int]:
        """Return the frames for lookbehinds after one more byte."""
        if not self._starts:
            return behind
        moved = [Thread(after) for frame in behind for after in [self.after(frame, byte)] if after >= 0]
        return self.unfolded_frames([*moved, *self._starts], frozenset())

    def unfolded_frames(self, threads: Iterable[Thread], behind: frozenset[int]) -> frozenset[int]:
        """Return the frames of the threads that read a byte next, or have read everything."""
        return frozenset(frame for frame, _ in self.unfold(threads, behind))

    def unfold(self, threads: Iterable[Thread], behind: frozenset[int], *, is_ordered: bool = False) -> list[Thread]:
        """Return the threads that read a byte next, or have read everything; in order of preference.

        With `is_ordered`, those after the first that has read everything without obligations are left out.
        """
        leaves: list[Thread] = []
        met: set[Thread] = set()
        waiting = list(threads)[::-1]
        while waiting:
            thread = waiting.pop()
            if thread in met or self.shortest[thread.frame] >= FAR:
                continue
            if thread.obligations and Thread(thread.frame) in met:
                continue
            met.add(thread)
            if len(met) > MAX_THREADS:
                raise GrammarError(
                    f"A state of the lexer follows more than {MAX_THREADS:,} ways at once",
                    remedy="Make alternatives of the terminals start differently, and repeat less.",
                )
            frame = self.frames[thread.frame]
            if frame.node == END:
                leaves.append(thread)
                if is_ordered and not thread.obligations:
                    break
            elif self.expressions.nodes[frame.node].kind == SET:
                leaves.append(thread)
            else:
                waiting += self._ways(frame, thread.obligations, behind)[::-1]
        return leaves

    def _ways(self, frame: Frame, obligations: frozenset[Obligation], behind: frozenset[int]) -> list[Thread]:
        node = self.expressions.nodes[frame.node]
        if node.kind == CHOICE:
            return [Thread(self.enter(option, frame.below), obligations) for option in node.parts]
        if node.kind == CONCAT:
            if frame.place == len(node.parts):
                return [Thread(frame.below, obligations)]
            below = frame.below
            if frame.place + 1 < len(node.parts):
                below = self._frame(frame.node, frame.place + 1, frame.below)
            return [Thread(self.enter(node.parts[frame.place], below), obligations)]
        if node.kind == LOOK:
            lookahead = self._look(frame.node, behind)
            return [] if lookahead is None else [Thread(frame.below, obligations | lookahead)]
        assert node.kind == LOOP
        item, count = node.parts[0], frame.place
        if count < node.least:
            after_item = self._frame(frame.node, count + 1, frame.below, has_read_nothing=frame.has_read_nothing)
            return [Thread(self.enter(item, after_item), obligations)]
        ways = [Thread(frame.below, obligations)]
        if not frame.has_read_nothing and (node.most == UNBOUNDED or count < node.most):
            more_read = count if node.most == UNBOUNDED else count + 1
            may_read_nothing = self.expressions.nodes[item].shortest == 0
            after_item = self._frame(frame.node, more_read, frame.below, has_read_nothing=may_read_nothing)
            ways.append(Thread(self.enter(item, after_item), obligations))
        return ways[::-1] if node.is_greedy else ways

    def _look(self, number: int, behind: frozenset[int]) -> frozenset[Obligation] | None:
        """Return what looking around obliges to, None if it fails."""
        node = self.expressions.nodes[number]
        if node.is_behind:
            return NO_OBLIGATIONS if (self._ends[node.parts[0]] in behind) != node.is_negated else None
        inner = Thread(self.enter(node.parts[0], self.end(0)))
        return self.obligation_of(not node.is_negated, [inner], behind)

    def obligation_of(
        self, is_positive: bool, threads: Iterable[Thread], behind: frozenset[int]
    ) -> frozenset[Obligation] | None:
        """Return the obligation that some threads read a beginning of the rest, or none does; None if it cannot hold.

        It is empty where that holds already.
        """
        leaves = frozenset(self.unfold(threads, behind))
        if any(self.is_end(frame) and not obligations for frame, obligations in leaves):
            return NO_OBLIGATIONS if is_positive else None
        if not leaves:
            return None if is_positive else NO_OBLIGATIONS
        return frozenset({Obligation(is_positive, leaves)})

    def are_met_at_end(self, obligations: frozenset[Obligation]) -> bool:
        """Tell whether some obligations are met if the text ends here."""
        return all(
            is_positive == any(self.is_end(frame) and self.are_met_at_end(more) for frame, more in threads)
            for is_positive, threads in obligations
        )

    def is_end(self, frame: int) -> bool:
        """Tell whether a frame has read everything."""
        return self.frames[frame].node == END

    def _read(self, frame: int, byte: int) -> int:
        top = self.frames[frame]
        if top.node == END:
            return -1
        for low, high, continuation in self.expressions.nodes[top.node].arcs:
            if low <= byte <= high:
                below = self._after_reading(top.below)
                return below if continuation < 0 else self.enter(continuation, below)
        return -1

    def borders(self, frame: int) -> Iterable[int]:
        """Yield the bytes at which what a frame reads changes."""
        node = self.frames[frame].node
        if node != END:
            for low, high, _ in self.expressions.nodes[node].arcs:
                yield low
                yield high + 1

    def _new_after_reading(self, frame: int) -> int:
        """Return the frame after something has been read, in which no item has read nothing."""
        top = self.frames[frame]
        return frame if top.node == END else self._frame(top.node, top.place, self._after_reading(top.below))

    def _frame(self, node: int, place: int, below: int, *, has_read_nothing: bool = False) -> int:
        number = self.frames.number(Frame(node, place, has_read_nothing, below))
        if number == len(self.goal):
            own = 0 if node == END else self._own_shortest(node, place)
            self.shortest.append(min(own + (self.shortest[below] if below >= 0 else 0), FAR))
            self.goal.append(place if node == END else self.goal[below])
        return number

    def _own_shortest(self, number: int, place: int) -> int:
        node = self.expressions.nodes[number]
        if node.kind == CONCAT:
            return sum(self.expressions.nodes[part].shortest for part in node.parts[place:])
        if node.kind == LOOP:
            return max(node.least - place, 0) * self.expressions.nodes[node.parts[0]].shortest
        return node.shortest


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
        self._outcome = cache(self._new_outcome)
        self.simplest = cache(self._simplified)
        """Obligations that are met whenever some are; None if no text meets them."""

    def _simplified(self, obligations: frozenset[Obligation], behind: frozenset[int]) -> frozenset[Obligation] | None:
        shorter = obligations
        for obligation in obligations:
            others = shorter - {obligation}
            shorter = others | {_without(obligation, others)}
        outcomes = {obligation: self._outcome(obligation, behind) for obligation in shorter}
        if _failed(outcomes.values()) == _EVERY:
            return None
        kept = dict(outcomes)
        for obligation, outcome in sorted(outcomes.items(), key=lambda item: item[1].failed.bit_count()):
            del kept[obligation]
            if outcome.met | _failed(kept.values()) != _EVERY:
                kept[obligation] = outcome
        return frozenset(kept) or NO_OBLIGATIONS

    def _new_outcome(self, obligation: Obligation, behind: frozenset[int]) -> _Outcome:
        holds_at_end = self.matcher.are_met_at_end(frozenset({obligation}))
        met, failed = int(holds_at_end) << 256, int(not holds_at_end) << 256
        for byte, left in enumerate(self._row_of(obligation, behind)):
            if left is None:
                failed |= 1 << byte
            elif not left:
                met |= 1 << byte
        return _Outcome(met, failed)


def _failed(outcomes: Iterable[_Outcome]) -> int:
    return reduce(or_, (outcome.failed for outcome in outcomes), 0)


def _without(obligation: Obligation, others: frozenset[Obligation]) -> Obligation:
    """Return an obligation that asks of its threads nothing that others ask already.

    "P, and not (X and P)" becomes "P, and not X".
    """
    threads = (Thread(frame, obligations - others) for frame, obligations in obligation.threads)
    return Obligation(obligation.is_positive, frozenset(threads))
