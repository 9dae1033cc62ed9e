"""Partial prefill: long prompts are read in parts, between the passes of the texts that are being written.

Read at once, a long prompt holds up everybody in the batch for as long as that takes (Agrawal et al., "Sarathi:
Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills", 2023, section 4). Its parts are read in a batch
of one row, which joins the others when it has come to the end: as a part of their passes, it would be padded in each
row.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from structured.decoding.sequence import Sequence, timed_in_model
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models import checked_calls as calls


@dataclass(slots=True)
class PartialPrefill:
    """Texts whose prompts are read in parts, one text after the other."""

    model: LanguageModel
    part: int | None = None
    """How many tokens are read at a time; None for all of them, so that no prompt is read in parts."""
    texts: deque[Sequence] = field(default_factory=deque)
    batch: DecodingBatch | None = None
    """The first text as the model has it; what the model has not read is `pending`."""
    logits: Logits | None = None
    """Those of the last part, shape (1, width), in memory of their own."""

    def wants(self, one: Sequence) -> bool:
        """Tell whether a prompt, with what has been written already, is to be read in parts."""
        if self.part is None or one.finished:
            return False
        return len(one.request.prompt) + len(one.token_ids) > self._first(one)

    def read(self) -> None:
        """Read one part more of the first text. Raises ModelError."""
        if not self.texts or (self.batch is not None and not self.texts[0].pending):
            return
        one = self.texts[0]
        logits = timed_in_model([one], lambda: self._next(one))
        self.logits = own(logits)

    def take(self) -> tuple[Sequence, DecodingBatch, Logits] | None:
        """Return the first text if all of its prompt has been read, with its batch and logits, shape (1, width)."""
        if self.batch is None or self.logits is None or self.texts[0].pending:
            return None
        taken = self.texts.popleft(), self.batch, self.logits
        self.batch = self.logits = None
        return taken

    def drop(self) -> None:
        """Forget texts with an error: nobody waits for them any more."""
        if self.texts and self.texts[0].error is not None:
            self.batch = self.logits = None
        self.texts = deque(one for one in self.texts if one.error is None)

    def clear(self) -> None:
        """Forget all texts."""
        self.texts.clear()
        self.batch = self.logits = None

    def _first(self, one: Sequence) -> int:
        """Return how many tokens the first part has: more than the shared ones, which are read as one."""
        assert self.part is not None, "prompts are read in parts"
        return max(self.part, one.request.shared + 1)

    def _next(self, one: Sequence) -> Logits:
        """Let the model read the next part; all of the prompt, if the model reads on token by token."""
        if self.batch is not None:
            return calls.forward(self.model, self.batch, [one.read(self.part or len(one.pending))])
        prompt, shared = one.read_all(), one.request.shared
        first = self._first(one)
        self.batch, logits = calls.prefill(self.model, [prompt[:first]], shared=shared)
        if self.batch.is_ragged and self.batch.can_join:
            one.pending = prompt[first:]
        else:
            self.part = None
            self.batch, logits = calls.prefill(self.model, [prompt], shared=shared)
        return logits


def own(logits: Logits) -> Logits:
    """Return logits in memory of their own: a model may use the same for each pass."""
    return logits.copy() if isinstance(logits, np.ndarray) else logits.clone()
