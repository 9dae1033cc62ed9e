"""The cursor of one generation in an index: the one thing that changes while a text is written."""

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD
from structured.errors import BudgetError, StructuredError
from structured.index.index import Index
from structured.index.masks import Mask, allows, unpack


class Guide:
    """The progress of one generation: the state reached, and the tokens left.

    Always one of three: `finished`, or allowed to write on, or allowed to end; never stuck, since every token that the
    mask allows leads to a state whose shortest completion fits into the tokens left.
    """

    __slots__ = ("finished", "index", "state", "tokens_left")

    def __init__(self, index: Index, *, max_tokens: int) -> None:
        """Start a text of at most `max_tokens` tokens, the end token not counted.

        Raises BudgetError if not even the shortest text fits.
        """
        self.index = index
        self.state = index.automaton.start
        self.tokens_left = max_tokens
        if not index.fits(self.state, max_tokens):
            raise BudgetError(max_tokens=max_tokens, shortest=index.shortest_completion(self.state))
        self.finished = index.is_final(self.state)

    def __repr__(self) -> str:
        where = "finished" if self.finished else f"state={self.state}"
        return f"Guide({where}, tokens_left={self.tokens_left})"

    def mask(self) -> Mask:
        """Return the tokens that may come next, end tokens among them where the text may end.

        Where the bytes are determined, they are spelled as the tokenizer would; see `Index.canonical_mask`.
        """
        return self.index.canonical_mask_for_budget(self.state, self.tokens_left)

    def allowed(self, width: int) -> NDArray[np.bool_]:
        """Return for each of `width` logits whether its token may come next, shape (width,); see `mask`.

        Models often have more logits than the vocabulary has tokens: the others are not allowed.
        """
        return unpack(self.mask(), width)

    def mask_without_budget(self) -> Mask:
        """Return the tokens that may come next if enough are left; a row of the index's table, unless that is full."""
        return self.index.canonical_mask(self.state)

    def shortest_completion_mask(self) -> Mask:
        """Return the tokens that may come first in the shortest completion; the end tokens where the text may end.

        Where the tokens left are too few for that text, and another one is shorter in tokens, all that may come next.
        """
        fitting = [
            token_id
            for token_id in self.index.shortest_first_tokens(self.state)
            if self.index.fits(self.index.step(self.state, token_id), self.tokens_left - 1)
        ]
        if not fitting and not self.index.automaton.accepts(self.state):
            return self.mask()
        return self.index.narrowed_mask(self.state, fitting)

    def advance(self, token_id: int) -> None:
        """Take a token that the type allows, whether or not it is the canonical one. Raises ValueError on any other.

        Raises StructuredError if the mask allowed it only because it was read from the cache, and is wrong.
        """
        vocabulary = self.index.vocabulary
        if self.finished:
            raise ValueError(f"The text is finished; token {token_id} cannot follow.")
        if token_id in vocabulary.end_token_ids and self.index.automaton.accepts(self.state):
            self.finished = True
            return
        is_token = 0 <= token_id < vocabulary.size
        successor = self.index.step(self.state, token_id) if is_token else DEAD
        if successor == DEAD or not self.index.fits(successor, self.tokens_left - 1):
            if is_token and allows(self.index.mask_for_budget(self.state, self.tokens_left), token_id):
                raise StructuredError(
                    f"The cache holds a mask that cannot be right: it allows token {token_id}, which cannot follow. "
                    "Somebody may have written to the folder of the cache: see who can, and empty it with "
                    "`structured cache clear`."
                )
            shown = repr(vocabulary.tokens[token_id]) if is_token else "outside the vocabulary"
            raise ValueError(f"Token {token_id} ({shown}) is not allowed here: {self!r}.")
        self.state = successor
        self.tokens_left -= 1
        self.finished = self.index.is_final(self.state)

    def take_forced(self) -> tuple[int, ...]:
        """Take the forced tokens, and return them: as many as leave tokens enough for the shortest completion."""
        if self.finished:
            return ()
        forced, before = self.index.forced_tokens(self.state), self.tokens_left
        for token_id in forced:
            successor = self.index.step(self.state, token_id)
            if not self.index.fits(successor, self.tokens_left - 1):
                break
            self.state = successor
            self.tokens_left -= 1
        taken = forced[: before - self.tokens_left]
        if taken:
            self.finished = self.index.is_final(self.state)
        return taken

    def copy(self) -> "Guide":
        """Return a cursor in the same state that moves on its own."""
        twin = object.__new__(Guide)
        twin.index, twin.state, twin.tokens_left = self.index, self.state, self.tokens_left
        twin.finished = self.finished
        return twin
