"""What the automaton of a grammar may cost, and the errors past that."""

from structured.automata.regular import Limits
from structured.errors import GrammarError

LIMITS = Limits(seconds=120.0)
"""Those of other automata, but for the time: it is that of one call, such as for a mask."""

MAX_SEARCHED = 20_000
"""Configurations that one search for the shortest text passes through."""


class EmptyGrammarError(GrammarError):
    """No text is of the grammar."""

    def __init__(self) -> None:
        super().__init__("The grammar has no text", remedy="Let what contains itself end somewhere.")


class SearchedTooFarError(GrammarError):
    """No end was found of a text that the parser would go on with."""

    def __init__(self) -> None:
        super().__init__(
            "A rule of the grammar was begun for which no text was found, after a long search",
            remedy="Let every rule have a short text, whose tokens the lexer can tell apart where they stand together.",
        )
