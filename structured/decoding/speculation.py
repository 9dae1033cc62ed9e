"""How many tokens a forward pass reads: of the forced ones, and of those that are only proposed.

Nothing depends on it but speed. Proposed tokens are read with those that are known, and each is sampled all the same:
if it turns out as proposed, the logits after it are there already; if not, it is rolled back. Whether that pays is
told by what the model says of its passes, and by how often proposals were right.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from structured.decoding.sequence import Sequence
from structured.models import LanguageModel

MEMORY = 0.95
"""What the proposals of a pass count in the next, when it is asked how many of late were right."""

SECOND_VECTOR_COST = 10
"""As many logits as take as long as it does that a matrix is multiplied by two vectors and not by one, measured."""


@dataclass(slots=True)
class Speculation:
    """Proposes tokens where that pays, and remembers how it went."""

    model: LanguageModel
    proposed: float = 0.0
    """Of late, for how many texts something was proposed, in all passes; each pass back counts a little less."""
    accepted: float = 0.0
    """Of these, for how many it was right, at least the first token."""

    def propose(self, sequences: list[Sequence]) -> int:
        """Propose what follows each text, if that pays, and return the window: the most tokens proposed of one.

        All texts together are proposed as many as take as long to read as a pass does beside its tokens.
        """
        if not self.model.can_roll_back:
            return 0  # as ever, so that no window is open
        most = int(self.model.pass_cost) // len(sequences)
        counts = [one.propose(most) for one in sequences]
        if any(counts) and not self._pays(counts):
            counts = [one.propose(0) for one in sequences]
        return max(counts)

    def settle(self, sequences: Iterable[Sequence]) -> list[int]:
        """Discard wrong proposals, and return how many tokens of each text are to be rolled back."""
        self.proposed *= MEMORY
        self.accepted *= MEMORY
        wrong = []
        for one in sequences:
            count = one.window.count
            left = one.window.close() if count else 0
            self.proposed += count > 0
            self.accepted += count > left
            wrong.append(left)
        return wrong

    def _pays(self, counts: list[int]) -> bool:
        """Tell whether it is worth the logits to propose so many tokens of each text.

        Logits of a place are computed in all texts or none. A proposal that is right saves one text a pass; one that is
        wrong was read in vain.
        """
        right = (self.accepted + 1) / (self.proposed + 1)
        saved = right * sum(count > 0 for count in counts) * self.model.pass_cost / len(counts)
        places = max(counts) * len(counts) + SECOND_VECTOR_COST
        return saved > places * self.model.logits_cost + (1 - right) * sum(counts)


def columns(counts: list[int], pass_cost: float) -> int:
    """Return how many tokens the model should read of each text at most, given how many are pending.

    A pass costs something however few it reads, and then for each column, padding included.
    """
    if len(set(counts)) == 1:
        return counts[0]

    def gain(columns: int) -> float:
        return sum(min(count, columns) for count in counts) / (pass_cost + len(counts) * columns)

    return max(sorted(set(counts)), key=gain)
