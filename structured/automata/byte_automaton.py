"""The one interface of every automaton: regular ones here, products and stacks beside them."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.errors import GrammarError, PatternError, arguments
from structured.vocabulary.trie import Trie

DEAD = -1
"""The successor of a state on a byte that no accepted text has there."""

UNKNOWN = -2
"""A successor that has not been asked for yet."""

AUTOMATON_ERRORS = PatternError, GrammarError
"""What an automaton raises where it would take more than its limits, also in the middle of a text."""

ROW_COMPLETE = 0xFF
"""A byte that UTF-8 does not have: where its entry of a row is not UNKNOWN, no entry of the row is."""


class StringRun(NamedTuple):
    """How freely a string may go on: whichever plain characters come next, only their number counts.

    Plain are the characters that a JSON string holds as themselves, and tokens that consist of them.
    """

    characters: int
    """How many may follow. A plain token is allowed if it has no more, and forbidden if it has."""
    farthest: int
    """A distance that no state after some of them exceeds."""
    representative: int
    """A state from which the same tokens may follow that are not plain."""
    quoted: bool
    """Whether nothing but a quote ends the string: no token may follow that has a control character before one."""
    inside: int
    """A state from which the same tokens without a quote may follow, whatever comes after the string; DEAD where none
    is known."""
    steady: bool
    """Whether no plain character changes the representative."""


class StringParts(NamedTuple):
    """What may follow inside a string where it depends on the characters: more than it does on what is around it.

    A token that has no quote may follow a state if it may follow one of the two parts, which are the same for many
    states. All that may follow a part may follow the state. Where there is no narrow part, a token may besides begin
    with an escape, which only the state itself tells.
    """

    broad: int
    """A state after which many texts may follow."""
    narrow: int
    """A state after which few may; DEAD if there is no other part."""
    beyond: int
    """How much farther the end may be after a token than it is in the parts, in bytes."""


class Automaton(Protocol):
    """A lazy deterministic automaton over the bytes of UTF-8 text.

    States are small integers, numbered in the order in which they are first reached. Every state is alive: some
    accepted text goes through it.

    What it may cost is limited. The limits are those of one text: once half of one is used up, it `is_exhausted`. Texts
    that have begun go on with it; other texts begin with what `reset` returns.
    """

    @property
    def start(self) -> int:
        """The state before the first byte."""
        ...

    @property
    def fingerprint(self) -> bytes | None:
        """Bytes that identify the language and the implementation, under which the cache keeps what is learned.

        None if nothing can be kept. Automata with the same fingerprint may number their states differently.
        """
        ...

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up, its own or that of an automaton that it is made of."""
        ...

    def reset(self) -> "Automaton":
        """Return the automaton of the same texts with unused limits.

        That is another one which has walked nothing; or itself, with a new clock, where only time was used.
        """
        ...

    def with_prefix(self, text: str) -> "Automaton":
        """Return the automaton of the same texts, each with some text in front."""
        ...

    def without_bytes(self, absent: frozenset[int]) -> "Automaton | None":
        """Return the automaton of the same texts but for those in which some bytes occur; None if there are no others.

        The bytes may still have successors, which are never asked for: all that holds of a state holds without them.
        """
        ...

    @property
    def table(self) -> NDArray[np.int32]:
        """Successors, shape (states, 256): a state, DEAD, or UNKNOWN. See `ROW_COMPLETE`.

        The array is replaced when it grows; do not hold on to it across a call of `expand` or `step`.
        """
        ...

    @property
    def distances(self) -> NDArray[np.int32]:
        """The number of bytes in the shortest text that leads from each state to acceptance, shape (states,).

        As the table, it is replaced when it grows, and a state's entry never changes.
        """
        ...

    def expand(self, state: int) -> None:
        """Fill the row of a state in `table`; it may fill others as well."""
        ...

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD."""
        ...

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far are a whole text of the language."""
        ...

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; return a distance that no state after one exceeds."""
        ...

    def string_run(self, state: int, *, longest: int, special: int) -> StringRun | StringParts | None:
        """Return the string run of a state, or its parts. None if it has none, or if they are not known.

        To know them spares walking over most of the vocabulary. `longest` is the number of characters of the longest
        plain token, `special` that of bytes before the first quote of any other.
        """
        ...

    def without_counters(self, state: int, length: int) -> int:
        """Return a state from which the same texts of at most `length` bytes may follow, as far from the end.

        It is the same for states that differ only in counts which so many bytes cannot exhaust, where those are known.
        """
        ...


def with_limits_left(automaton: Automaton) -> Automaton:
    """Return an automaton for another text: itself, or the one it is reset to if it is exhausted."""
    return automaton.reset() if automaton.is_exhausted else automaton


def accepts_text(automaton: Automaton, text: str) -> bool:
    """Tell whether a text is of the language of an automaton. Raises TypeError for what is no text."""
    state = automaton.start
    for byte in arguments.text("text", text).encode():
        state = automaton.step(state, byte)
        if state == DEAD:
            return False
    return automaton.accepts(state)


def stopping_place(automaton: Automaton, text: str) -> tuple[int, int] | None:
    """Return the line and the column, from 1, of the first character that no text of the language has there.

    None if there is no such character, and the text is one or only ends too early.
    """
    state, line, column = automaton.start, 1, 1
    for character in text:
        for byte in character.encode():
            state = automaton.step(state, byte)
            if state == DEAD:
                return line, column
        line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return None


T = TypeVar("T")


class _Renewable(Protocol):
    """Something with limits for one text, as `Automaton` has them."""

    @property
    def is_exhausted(self) -> bool: ...

    def reset(self) -> Self: ...


R = TypeVar("R", bound=_Renewable)


class Renewing(Generic[R]):
    """Something with limits that readers share: made for the first text, and reset once it is exhausted."""

    def __init__(self, make: Callable[[], R]) -> None:
        self._make = make
        self._made: R | None = None
        self._lock = Lock()

    def read(self, read: Callable[[R], T]) -> T:
        """Return what is read of one text; it is read once more where others before it have worn out the first.

        Raises PatternError or GrammarError where the text is too much by itself.
        """
        made, is_unused = self._for_a_text()
        try:
            return read(made)
        except AUTOMATON_ERRORS:
            if is_unused or not made.is_exhausted:
                raise
        return read(self._for_a_text()[0])

    def _for_a_text(self) -> tuple[R, bool]:
        """Return what the next text is read with, and whether none was read with it before."""
        with self._lock:
            known = self._made
            if known is not None and not known.is_exhausted:
                return known, False
            made = self._made = self._make() if known is None else known.reset()
            return made, True


class Recogniser(Renewing[Automaton]):
    """What tells which texts are of a language, by an automaton that is made when it is first asked."""

    def accepts(self, text: str) -> bool:
        """Tell whether a text is of the language. Raises PatternError or GrammarError where it is too much."""
        return self.read(lambda automaton: accepts_text(automaton, text))
