"""The grammar backend that SGLang asks for masks: a grammar is a cursor, and masks are filled on the host.

SGLang copies the mask of a batch to the device itself, and applies it to all rows at once.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from structured.decoding.device_masks import apply_masks
from structured.errors import StructuredError
from structured.errors.arguments import MAX_COUNT
from structured.errors.recursion import with_room
from structured.index.masks import words_of
from structured.integrations.engines.cursor import Cursor, begun, started
from structured.integrations.engines.members import BUDGET, KEY
from structured.models.transformers import vocabulary_of
from structured.vocabulary import Vocabulary

try:
    from sglang.srt.constrained.base_grammar_backend import (
        BaseGrammarBackend,
        BaseGrammarObject,
        GrammarRow,
        InvalidGrammarObject,
    )
except ImportError as error:
    raise ImportError(f"GuideBackend is for SGLang 0.5.23 or later: {error}") from error

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

UNBOUNDED = MAX_COUNT
"""The budget of an answer of which nobody says how long it may be."""

_ANY_JSON = "$$ANY$$"
"""What SGLang asks for in place of a schema where any object will do."""


def make_backend(
    _server_args: Any, tokenizer: "PreTrainedTokenizerBase", vocab_size: int, eos_token_ids: Iterable[int] | None
) -> "GuideBackend":
    """Return the backend of an engine; SGLang calls it by this signature."""
    return GuideBackend(vocabulary_of(tokenizer, [list(eos_token_ids or ())], width=vocab_size))


class GuideBackend(BaseGrammarBackend):  # type: ignore[misc]  # of a package that is not installed here
    """Makes grammars of what requests say; SGLang calls it from threads of its own."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of a constraint of this library, or of any JSON Schema."""
        if key_string == _ANY_JSON:
            return self._grammar({"json": {"type": "object"}})
        try:
            said = with_room(json.loads, key_string)
        except (ValueError, RecursionError) as error:
            return InvalidGrammarObject(f"The schema is not JSON: {error}")
        if not isinstance(said, dict) or KEY not in said:
            return self._grammar({"json": said})
        text, budget = said[KEY], said.get(BUDGET)
        if not isinstance(text, str) or not isinstance(budget, int):
            return InvalidGrammarObject(f"{KEY!r} must be the text of a constraint, and {BUDGET!r} a number beside it.")
        return self._made(text, budget)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of a regular expression, as Python reads it."""
        return self._grammar({"regex": key_string})

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of a text in GBNF."""
        return self._grammar({"grammar": key_string, "language": "GBNF"})

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:  # noqa: ARG002  none is read
        """Refuse a structural tag."""
        return InvalidGrammarObject("The grammar backend 'structured' reads no structural tags. Send a constraint.")

    def _grammar(self, constraint: dict[str, Any]) -> BaseGrammarObject:
        return self._made(json.dumps(constraint), UNBOUNDED)

    def _made(self, constraint: str, max_tokens: int) -> BaseGrammarObject:
        try:
            cursor = started(constraint, self._vocabulary, max_tokens)
        except StructuredError as error:
            return InvalidGrammarObject(str(error))
        return GuideGrammar(cursor, partial(begun, constraint, self._vocabulary, max_tokens))


class GuideGrammar(BaseGrammarObject):  # type: ignore[misc]
    """The grammar of one request: a cursor, and what begins another."""

    def __init__(self, cursor: Cursor, begin: Callable[[], Cursor]) -> None:
        super().__init__()
        self.cursor = cursor
        self._begin = begin

    def copy(self) -> "GuideGrammar":
        """Return the grammar of another request, at its start."""
        return GuideGrammar(self._begin(), self._begin)

    def accept_token(self, token: int) -> None:
        """Take a token. Raises ValueError if it was not allowed, for which SGLang aborts the request."""
        if not self.cursor.accept(token):
            raise ValueError(self.cursor.fault)

    def rollback(self, k: int) -> None:
        """Take tokens back."""
        self.cursor.rollback(k)

    def is_terminated(self) -> bool:
        """Tell whether the end token was taken: SGLang drops the last token of an answer that ends so."""
        return self.cursor.is_over

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:  # noqa: ARG002  it is filled on the host
        """Return a mask that allows everything; int32 of shape (batch, words)."""
        return torch.full(
            (batch_size, words_of(vocab_size)), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available()
        )

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Put what may come next into a row."""
        _fill(vocab_mask, [idx], [self])

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[GrammarRow], vocab_mask: torch.Tensor) -> None:
        """Put what may come next into some rows."""
        if entries:
            _fill(vocab_mask, [entry.row for entry in entries], [entry.grammar for entry in entries])

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Let a mask allow everything again."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Return a mask on a device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Put -inf into the logits, shape (batch, tokens), of what is not allowed."""
        logits.copy_(apply_masks(logits, vocab_mask))


def _fill(vocab_mask: torch.Tensor, rows: Sequence[int], grammars: Sequence[GuideGrammar]) -> None:
    """Write the masks of some grammars into rows of a mask on the host, which may be wider than their vocabulary."""
    masks = np.stack([grammar.cursor.mask() for grammar in grammars])
    target = vocab_mask.numpy()
    target[rows, : masks.shape[1]] = masks
    target[rows, masks.shape[1] :] = 0
