"""Incremental texts: a model for one text that grows from call to call, and whose beginning is not read again.

The batch of the last call is kept, with the model's cache of its text. The next prompt usually begins with that text,
so that only the rest is read. For another text, the model begins anew.
"""

from collections.abc import Sequence

from structured.models.protocol import DecodingBatch, LanguageModel, Logits, Messages


class IncrementalText(LanguageModel):
    """A wrapped model for successive texts, each of which begins with the text before it."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name = model.name
        self.vocabulary = model.vocabulary
        self.context_length = model.context_length
        self.has_chat_template = model.has_chat_template
        self.can_roll_back = model.can_roll_back
        self.pass_cost = model.pass_cost
        self.logits_cost = model.logits_cost
        self._batch: IncrementalBatch | None = None

    @property
    def read(self) -> tuple[int, ...]:
        """The tokens that need not be read again."""
        return () if self._batch is None else tuple(self._batch.token_ids)

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, as the model encodes it."""
        return self.model.encode(prompt)

    def prefill(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  the whole text is kept
        window: int = 0,
    ) -> "tuple[IncrementalBatch, Logits]":
        """Read the new part of the only prompt."""
        (prompt,) = prompts
        text, self._batch = self._batch, None  # nothing is kept if the model fails
        logits = None if text is None else text.read_on(prompt, window)
        if text is None or logits is None:
            batch, logits = self.model.prefill([prompt], window=window)
            text = IncrementalBatch(batch, list(prompt), logits)
        self._batch = text
        return text, logits


class IncrementalBatch(DecodingBatch):
    """The text of an `IncrementalText`, with its tokens."""

    is_ragged = True

    def __init__(self, batch: DecodingBatch, token_ids: list[int], logits: Logits) -> None:
        self.batch = batch
        self.token_ids = token_ids
        self.logits = logits
        """The logits of the last pass, without the rolled-back ones; shape (1, width) or (1, places, width)."""

    def read_on(self, prompt: Sequence[int], window: int) -> Logits | None:
        """Read the new part of a prompt; return None if it does not begin with this text."""
        count = len(self.token_ids)
        if list(prompt[:count]) != self.token_ids or (len(prompt) == count and window):
            return None
        if len(prompt) > count:
            return self.forward([prompt[count:]], window=window)
        return self.logits if self.logits.ndim == 2 else self.logits[:, -1]

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        """Append new tokens."""
        self.logits = self.batch.forward(token_ids, window=window)
        self.token_ids += token_ids[0]
        return self.logits

    def select(self, rows: Sequence[int]) -> None:
        """Keep the text."""
        self.batch.select(rows)

    def finish(self, row: int, token_ids: Sequence[int]) -> None:
        """Note that an answer is finished, after which the text may go on."""
        self.batch.pause(row, token_ids)

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget some of the last tokens."""
        self.batch.rollback(counts)
        self.token_ids = self.token_ids[: len(self.token_ids) - counts[0]]
        self.logits = self.logits[:, : self.logits.shape[1] - counts[0]] if counts[0] else self.logits
