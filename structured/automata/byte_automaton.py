"""The interface of all automata: of patterns, grammars, combinations and products."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from threading import Lock
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.errors import GrammarError, PatternError, arguments
from structured.vocabulary.trie import Trie

DEAD = -1
"""The successor of a state on a byte that no text has there."""

UNKNOWN = -2
"""A successor that has not been computed yet."""

AUTOMATON_ERRORS = PatternError, GrammarError
"""The errors of an automaton that exceeds its limits, which may happen in the middle of a text."""

ROW_COMPLETE = 0xFF
"""A byte that UTF-8 does not have: if its entry of a row is not UNKNOWN, the row is complete."""


class StringRun(NamedTuple):
    """The rest of a JSON string in which only the number of unescaped characters counts, not which they are.

    Unescaped characters are those that JSON strings contain without an escape (RFC 8259 §7); a token is unescaped if
    all its characters are.
    """

    max_characters: int
    """How many unescaped characters may follow: an unescaped token is allowed if, and only if, it has no more."""
    max_distance: int
    """An upper bound of the distances after unescaped characters."""
    equivalent_state: int
    """A state after which the same tokens that are not unescaped may follow; many states share it."""
    is_ended_by_quote_only: bool
    """Whether only a quote ends the string, so that no token with a control character before a quote may follow."""
    state_in_string: int
    """A state after which the same tokens without a quote may follow, whatever encloses the string; DEAD if none."""
    is_equivalent_state_fixed: bool
    """Whether unescaped characters do not change the equivalent state."""


class StringParts(NamedTuple):
    """The two parts of a state inside a string with a pattern, which many states share.

    A token without a quote may follow the state if it may follow one of the parts. All tokens that may follow a part
    may follow the state. Without a narrow part, the state may allow further tokens, which begin with an escape.
    """

    broad_state: int
    """A state after which many texts may follow."""
    narrow_state: int
    """A state after which few texts may follow; DEAD if there is none."""
    extra_distance: int
    """The most bytes by which the end after a token may be farther away than in the parts."""


class Automaton(Protocol):
    """A lazy deterministic automaton over the bytes of UTF-8 text.

    States are small integers, numbered in the order in which they are first reached. Every state is alive: some text of
    the language goes through it.

    The states and seconds of an automaton are limited. Once half of a limit is used up, the automaton `is_exhausted`:
    texts that have begun continue with it, and new texts begin with the automaton that `reset` returns.
    """

    @property
    def start(self) -> int:
        """The state before the first byte."""

    @property
    def fingerprint(self) -> bytes | None:
        """Bytes that identify the language and the implementation in the disk cache; None if nothing can be kept.

        Automata with the same fingerprint may number their states differently.
        """

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up, of this automaton or of one of its parts."""

    def reset(self) -> "Automaton":
        """Return the automaton of the same texts with unused limits.

        That is a new automaton; or, if only time was used up, this one with its clock reset.
        """

    def with_prefix(self, text: str) -> "Automaton":
        """Return the automaton of the same texts, each with some text in front."""

    def without_bytes(self, absent: frozenset[int]) -> "Automaton | None":
        """Return the automaton of the texts without some bytes; None if there are none.

        Rows may still have successors for these bytes, but distances and completions do not use them.
        """

    @property
    def table(self) -> NDArray[np.int32]:
        """The successors of all states, shape (states, 256): a state, DEAD, or UNKNOWN; see `ROW_COMPLETE`.

        The array is replaced when it grows; do not keep it across a call of `expand` or `step`.
        """

    @property
    def distances(self) -> NDArray[np.int32]:
        """The number of bytes of the shortest completion of each state, shape (states,).

        The array is replaced when it grows; the entry of a state never changes.
        """

    def expand(self, state: int) -> None:
        """Fill the row of a state in `table`, and perhaps others."""

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD."""

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far are a whole text of the language; False for DEAD."""

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; return an upper bound of the distances after them."""


def reset_if_exhausted(automaton: Automaton) -> Automaton:
    """Return the automaton for a new text: the same, or a reset one if it is exhausted."""
    return automaton.reset() if automaton.is_exhausted else automaton


def state_after(automaton: Automaton, data: bytes, state: int | None = None) -> int:
    """Return the state after some bytes, from a state or else from the start; DEAD if they cannot follow."""
    state = automaton.start if state is None else state
    for byte in data:
        state = automaton.step(state, byte)
        if state == DEAD:
            break
    return state


def accepts_text(automaton: Automaton, text: str) -> bool:
    """Tell whether a text is in the language of an automaton. Raises TypeError if `text` is not a `str`."""
    return automaton.accepts(state_after(automaton, arguments.text("text", text).encode()))


def stopping_place(automaton: Automaton, text: str) -> tuple[int, int] | None:
    """Return the line and the column, from 1, of the first character of a text that the language does not allow.

    None if there is no such character: the text is in the language, or ends too early.
    """
    state, line, column = automaton.start, 1, 1
    for character in text:
        for byte in character.encode():
            state = automaton.step(state, byte)
            if state == DEAD:
                return line, column
        line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return None


def runs_of_bytes(row: NDArray[np.int32]) -> Iterator[tuple[int, int, int]]:
    """Yield the longest runs of entries of a row that lead to the same state: the first, the last, and the state."""
    starts = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(row)]
    for start, end in pairwise(starts):
        if row[start] > DEAD:
            yield start, end - 1, int(row[start])


def shortest_text(automaton: Automaton, state: int, absent: frozenset[int] = frozenset()) -> bytes:
    """Return the first of the shortest texts from a state to acceptance; one with bytes of `absent` only if all are."""
    order = sorted(range(256), key=lambda byte: (byte in absent, byte))
    text = bytearray()
    while not automaton.accepts(state):
        if automaton.table[state, ROW_COMPLETE] == UNKNOWN:
            automaton.expand(state)
        row, distances = automaton.table[state], automaton.distances
        distance = int(distances[state])
        byte = next(byte for byte in order if row[byte] > DEAD and distances[row[byte]] < distance)
        text.append(byte)
        state = int(row[byte])
    return bytes(text)


T = TypeVar("T")


class _Resettable(Protocol):
    """An object with limits for one text, as `Automaton` has them."""

    @property
    def is_exhausted(self) -> bool: ...

    def reset(self) -> Self: ...


R = TypeVar("R", bound=_Resettable)


class AutoReset(Generic[R]):
    """A shared object with limits, such as an automaton: made for the first text, and reset once it is exhausted."""

    def __init__(self, make: Callable[[], R]) -> None:
        self._make = make
        self._object: R | None = None
        self._lock = Lock()

    def run(self, task: Callable[[R], T]) -> T:
        """Return the result of `task`; repeat it with unused limits if earlier texts had used up the limits.

        Raises PatternError or GrammarError if one text alone exceeds the limits.
        """
        resettable, is_unused = self._for_a_text()
        try:
            return task(resettable)
        except AUTOMATON_ERRORS:
            if is_unused or not resettable.is_exhausted:
                raise
        return task(self._for_a_text()[0])

    def _for_a_text(self) -> tuple[R, bool]:
        """Return the object for the next text, and whether it is unused."""
        with self._lock:
            last = self._object
            if last is not None and not last.is_exhausted:
                return last, False
            unused = self._object = self._make() if last is None else last.reset()
            return unused, True


class Recogniser(AutoReset[Automaton]):
    """A test whether a text is in a language. The first call makes its automaton."""

    def accepts(self, text: str) -> bool:
        """Tell whether a text is in the language. Raises PatternError or GrammarError at the automaton's limits."""
        return self.run(lambda automaton: accepts_text(automaton, text))
