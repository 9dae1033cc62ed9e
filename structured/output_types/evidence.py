"""Evidence: where in a document a value stands, how that is known, and how sure the model was of it."""

from dataclasses import dataclass
from typing import Literal

Match = Literal["grounded", "exact", "normalised", "fuzzy", "concluded", "absent", "none"]
"""How it is known where a value stands.

grounded: The document states it by construction: nothing else could be written.
exact: Found as it is.
normalised: Found in another form: other case, white space, dashes or quotes; another form of a number or a date.
fuzzy: Found nearly, by edit distance.
concluded: A boolean, or one of the values of an enum, that the document does not spell: a conclusion.
absent: Null; nothing is said.
none: The document does not support it.
"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one value.

    Attributes:
        span: Where it stands: start and end, in characters (code points) of the document as given. None if it stands
            nowhere.
        match: How that is known; see `Match`.
        confidence: Between 0 and 1: how sure the model was of it. None if it is not known.
    """

    span: tuple[int, int] | None
    match: Match
    confidence: float | None = None
