"""The table of a deterministic automaton: where each class of characters leads from each state."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structured.automata.dfa.alphabet import Alphabet


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """For each state the number of the state that each class of characters leads to, or `DEAD`. State 0 is the start.

    The shape of `rows` is (states, classes).
    """

    alphabet: Alphabet
    rows: NDArray[np.int32]
