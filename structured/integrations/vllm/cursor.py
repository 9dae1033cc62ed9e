"""The cursor of an answer that an engine writes: its guide, its end, and the way back.

vLLM serves many at once, and most of them end when a call into this library raises. So a cursor never does once it
is made: an answer that cannot go on, since a token came that was masked out or its automaton has reached a limit, has a
`fault`, and may only end.
"""

import logging
from collections.abc import Iterable
from typing import NamedTuple

from structured.decoding.generate import compile_type
from structured.errors import StructuredError
from structured.index.compilation import save_learned
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import Mask, MaskTable, mask_of
from structured.output_types.choice import Choice
from structured.output_types.described_types import text_to_type
from structured.vocabulary import Vocabulary

_LOGGER = logging.getLogger(__name__)

_NOTHING = Choice([""])
"""The type of the empty answer."""


class _Place(NamedTuple):
    """The place of a cursor before a token."""

    state: int
    tokens_left: int
    finished: bool
    is_over: bool
    fault: str | None


class Cursor:
    """The place of one answer, and its earlier places.

    Attributes:
        is_over: Whether its end token was taken.
        fault: Why it can only end, if so.
    """

    def __init__(self, index: Index, *, max_tokens: int) -> None:
        """Start an answer. Raises BudgetError if none takes so few tokens."""
        self._guide = Guide(index, max_tokens=max_tokens)
        self._places: list[_Place] = []
        self._ends = index.table.intern(mask_of(index.vocabulary.end_token_ids, index.vocabulary.size))
        self.is_over = False
        self.fault: str | None = None

    def __repr__(self) -> str:
        return f"Cursor({self._guide!r}, is_over={self.is_over}, fault={self.fault!r})"

    @property
    def count(self) -> int:
        """The number of tokens taken."""
        return len(self._places)

    @property
    def table(self) -> MaskTable:
        """The table of its masks."""
        return self._guide.index.table

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens that it is written in."""
        return self._guide.index.vocabulary

    def accept(self, token_id: int) -> bool:
        """Take a token, and tell whether it was allowed. Tokens after the end change nothing."""
        guide = self._guide
        self._places.append(_Place(guide.state, guide.tokens_left, guide.finished, self.is_over, self.fault))
        if self.is_over or self.fault is not None:
            return self.is_over
        if guide.finished:
            self.is_over = token_id in self.vocabulary.end_token_ids
            return self.is_over or self._fail(f"Token {token_id} came where the answer had to end.")
        try:
            guide.advance(token_id)
        except (ValueError, StructuredError) as error:  # a masked token, a wrong cache, a limit of the automaton
            return self._fail(str(error))
        self.is_over = guide.finished and token_id in self.vocabulary.end_token_ids
        if self.is_over:
            save_learned(guide.index)
        return True

    def rollback(self, count: int) -> None:
        """Take tokens back."""
        if count <= 0:
            return
        guide = self._guide
        guide.state, guide.tokens_left, guide.finished, self.is_over, self.fault = self._places[-count]
        del self._places[-count:]

    def mask(self) -> Mask:
        """Return the tokens that may come next: the end tokens, where there is nothing else to say."""
        if self.is_over or self.fault is not None or self._guide.finished:
            return self._ends
        try:
            return self._guide.mask()
        except StructuredError as error:  # a limit of the automaton
            self.end(str(error))
            return self._ends

    def end(self, fault: str) -> None:
        """Let the answer only end, and log why."""
        self.fault = fault
        _LOGGER.error("An answer is ended where it stands, and is none: %s", fault)

    def _fail(self, fault: str) -> bool:
        self.fault = fault
        return False


def start(constraint: str, vocabulary: Vocabulary, max_tokens: int) -> Cursor:
    """Return the cursor of a new answer. Raises StructuredError if there can be none."""
    return Cursor(compile_type(text_to_type(constraint), vocabulary, cache=True), max_tokens=max_tokens)


def start_or_end(constraint: str, vocabulary: Vocabulary, max_tokens: int) -> Cursor:
    """Return the cursor of a new answer; if there can be none, one that ends at once."""
    try:
        return start(constraint, vocabulary, max_tokens)
    except StructuredError as error:
        cursor = Cursor(compile_type(_NOTHING, vocabulary), max_tokens=0)
        cursor.end(str(error))
        return cursor


def advance(cursor: Cursor, token_ids: Iterable[int]) -> None:
    """Advance a cursor by tokens; if one was not allowed, the answer may only end."""
    was_faulty = cursor.fault is not None
    for token_id in token_ids:
        cursor.accept(token_id)
    if cursor.fault is not None and not was_faulty:
        cursor.end(cursor.fault)
