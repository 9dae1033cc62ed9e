"""The table of a deterministic automaton: where each class of characters leads from each state."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from structured.automata.dfa.alphabet import DEAD, Alphabet


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """For each state the number of the state that each class of characters leads to, or `DEAD`. State 0 is the start.

    `targets` are the states that follow each, whatever the character.
    """

    alphabet: Alphabet
    rows: Sequence[Sequence[int]]
    targets: Sequence[set[int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        targets = list(map(set, self.rows))
        for inner in targets:
            inner.discard(DEAD)
        object.__setattr__(self, "targets", targets)
