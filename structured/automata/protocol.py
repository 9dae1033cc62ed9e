"""The one interface of every automaton: regular ones here, products and stacks beside them."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

DEAD = -1
"""The successor of a state on a byte that no accepted text has there."""

UNKNOWN = -2
"""A successor that has not been asked for yet."""


class Automaton(Protocol):
    """A lazy deterministic automaton over the bytes of UTF-8 text.

    States are small integers, numbered in the order in which they are first reached. Every state is alive: some
    accepted text goes through it.
    """

    @property
    def start(self) -> int:
        """The state before the first byte."""
        ...

    @property
    def table(self) -> NDArray[np.int32]:
        """Successors, shape (states, 256): a state, DEAD, or a row of UNKNOWN until `expand` has filled it.

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

    def room(self, state: int, characters: int) -> int | None:
        """Return the greatest distance after so many plain characters, if they may follow whichever they are.

        Plain are the characters that a JSON string holds as themselves. None if not all may follow, or if it is not
        known; to know it spares walking over most of the vocabulary.
        """
        ...
