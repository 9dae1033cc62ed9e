"""Causal language models of `transformers`, with their own forward pass and key-value cache.

torch and transformers are imported when a text is begun, never before.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from structured.errors import OutOfMemoryError
from structured.models.network import Network, without_wrapper
from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import MIN_SHARED, DecodingBatch, LanguageModel, Logits, Messages
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CPU_PASS_COST, GPU_PASS_COST = 96.0, 512.0
"""Tokens that take as long as the fixed part of a pass, roughly: on a CPU from 27 to 200, measured."""


class HuggingFaceModel(LanguageModel):
    """A loaded `transformers` model with its tokenizer."""

    can_read_on = True

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        name: str | None = None,
    ) -> None:
        self.model = model = without_wrapper(model)
        self.tokenizer = tokenizer
        self.network = Network(model)
        self.name = name or model.config.name_or_path or type(model).__name__
        text_config = model.config.get_text_config()
        self.context_length = getattr(text_config, "max_position_embeddings", None)
        self.has_chat_template = tokenizer.chat_template is not None
        self.vocabulary = _vocabulary(model, tokenizer, width=text_config.vocab_size)
        self._prompts = PromptEncoder(tokenizer, self.vocabulary)
        is_on_host = model.device.type == "cpu"
        self.samples_on_device = not is_on_host
        """Whether tokens are sampled on the device of the logits, and not on the host."""
        self.can_roll_back = self.network.has_slots
        self.pass_cost = CPU_PASS_COST if is_on_host else GPU_PASS_COST
        self.logits_cost = self.network.logits_cost() if self.can_roll_back else 0.0

    def __repr__(self) -> str:
        return f"HuggingFaceModel({self.name!r}, {self.vocabulary!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, through the chat template if it is a list of messages.

        What the text spells stays text; see `PromptEncoder`. Raises PromptError, ModelError.
        """
        return self._prompts.encode(prompt)

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> "tuple[HuggingFaceBatch, Logits]":
        """Run the prompts through the model, their shared beginning once.

        Where layers allow no padding between that and the rest, prompts of one length go together, and join the others.
        Raises ModelError if texts cannot be read on.
        """
        if not self.network.takes_several:
            shared = 0
        rows_by_length: dict[int, list[int]] = {}
        for row, prompt in enumerate(prompts):
            rows_by_length.setdefault(len(prompt), []).append(row)
        groups = list(rows_by_length.values())
        saved = shared * (len(prompts) - 1) - self.pass_cost * len(groups)
        if shared >= MIN_SHARED and saved > 0 and len(groups) > 1:
            prefix = self.network.prefix(tuple(prompts[0][: min(shared, min(rows_by_length) - 1)]))
            if not prefix.is_ragged and prefix.can_join:
                return self._prefill_groups(prompts, groups, shared)
        batch = HuggingFaceBatch(self, prompts)
        return batch, batch.for_decoding(batch.prefill(prompts, shared, window))

    def _prefill_groups(
        self, prompts: Sequence[Sequence[int]], groups: list[list[int]], shared: int
    ) -> "tuple[HuggingFaceBatch, Logits]":
        """Run groups of prompts through the model, each of prompts of one length."""
        import torch

        batches, scores = [], []
        for rows in groups:
            chosen = [prompts[row] for row in rows]
            batches.append(HuggingFaceBatch(self, chosen))
            scores.append(batches[-1].prefill(chosen, shared, 0))
        first, *others = batches
        for batch in others:
            first.join(batch)
        listed = [row for rows in groups for row in rows]
        order = [listed.index(row) for row in range(len(prompts))]
        first.select(order)
        return first, first.for_decoding(torch.cat(scores)[order])


class HuggingFaceBatch(DecodingBatch):
    """Texts of a `HuggingFaceModel`."""

    def __init__(self, model: HuggingFaceModel, prompts: Sequence[Sequence[int]]) -> None:
        """Make room for texts that begin with some prompts."""
        self._network = model.network
        self._samples_on_device = model.samples_on_device
        self.cache = model.network.cache(len(prompts))
        """The cache of the texts."""

    def prefill(self, prompts: Sequence[Sequence[int]], shared: int, window: int) -> "torch.Tensor":
        """Read the prompts, and return the logits of their last places, shape (texts, window + 1, width)."""
        shared = min(shared, min(map(len, prompts)) - 1 - window)
        with _memory_errors():
            if shared >= MIN_SHARED:
                prefix = self._network.prefix(tuple(prompts[0][:shared]))
                if prefix.is_ragged or len({len(prompt) for prompt in prompts}) == 1:
                    self.cache.become(prefix, len(prompts))
                    prompts = [prompt[shared:] for prompt in prompts]
            scores = self._network.read(self.cache, prompts, window)
        self.is_ragged, self.can_join = self.cache.is_ragged, self.cache.can_join
        return scores

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        """Append tokens to each text, and return the logits after them. Raises OutOfMemoryError."""
        parts = [token_ids]
        if not self._network.takes_several:  # then all texts have as many new tokens
            parts = [[[token_id] for token_id in column] for column in zip(*token_ids, strict=True)]
        with _memory_errors():
            scores = [self._network.read(self.cache, part, window) for part in parts][-1]
            return self.for_decoding(scores)

    def for_decoding(self, scores: "torch.Tensor") -> Logits:
        """Return logits of shape (texts, window + 1, width) as decoding takes them."""
        import torch

        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        return scores if self._samples_on_device else scores.to("cpu", torch.float32).numpy()

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice is duplicated. Raises OutOfMemoryError."""
        with _memory_errors():
            self.cache.select(rows)

    def join(self, other: Self) -> None:
        """Take over the texts of another batch. Raises OutOfMemoryError."""
        with _memory_errors():
            self.cache.join(other.cache)

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text."""
        self.cache.rollback(counts)


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Raise OutOfMemoryError where a device has no memory left."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfMemoryError(
            "The device has no memory left for one text. Shorten the document, lower max_tokens, or use another model."
        ) from error


def _vocabulary(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", *, width: int) -> Vocabulary:
    """Return the tokens that the model has logits for, with the end tokens of the model and the tokenizer."""
    generation = model.generation_config
    declared = [] if generation is None else [generation.eos_token_id]
    return vocabulary_of(tokenizer, [model.config.get_text_config().eos_token_id, *declared], width=width)


def vocabulary_of(
    tokenizer: "PreTrainedTokenizerBase", end_token_ids: Iterable[int | list[int] | None], *, width: int | None = None
) -> Vocabulary:
    """Return the tokens of a tokenizer, at most `width`, with its own end token and others."""
    ends: set[int] = set()
    for ids in (tokenizer.eos_token_id, *end_token_ids):
        ends.update([ids] if isinstance(ids, int) else ids or [])
    if width is None:
        return Vocabulary.from_transformers(tokenizer, end_token_ids=ends)
    whole = Vocabulary.from_transformers(tokenizer, end_token_ids={token_id for token_id in ends if token_id < width})
    return whole if whole.size <= width else Vocabulary(whole.tokens[:width], whole.end_token_ids, whole.encode)
