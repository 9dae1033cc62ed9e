"""Causal language models of `transformers`, with their own forward pass and key-value cache.

torch and transformers are imported when a model is loaded or a text begun, never before.
"""

import inspect
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, OutOfMemoryError
from structured.models import caches
from structured.models.protocol import Messages
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

FEWEST_SHARED = 16
"""Tokens at the beginning of prompts that are worth computing on their own."""

MOST_PREFIX_BYTES = 1 << 28
"""Of caches of such beginnings, but for the last used."""

CPU_PASS_COST, GPU_PASS_COST = 16.0, 512.0
"""Tokens that take as long as a pass does beside its tokens, roughly."""


def load(
    name: str, *, device_map: str | dict[str, Any] | None = None, dtype: str = "auto", progress: bool = True
) -> "HuggingFaceModel":
    """Load a model and its tokenizer from a hub id or a local folder.

    `device_map` is handed to accelerate; None means "auto" where there is a GPU, and the CPU otherwise. `dtype` is a
    name such as "bfloat16", or "auto" for that of the checkpoint. `progress` lets transformers draw its bars.

    Raises ModelError if there is no such model.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    if device_map is None and torch.cuda.is_available():
        device_map = "auto"
    if dtype != "auto" and not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise ModelError(f"{dtype!r} is not a dtype of torch. Use 'auto', 'float32', 'bfloat16' or 'float16'.")
    bars = transformers_logging.is_progress_bar_enabled()
    if bars and not progress:
        transformers_logging.disable_progress_bar()
    logging.getLogger("transformers.integrations.hub_kernels").addFilter(_is_no_advice)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(name, device_map=device_map, dtype=dtype)
    except (OSError, ValueError) as error:
        kind = "The folder exists but holds no loadable model" if Path(name).is_dir() else "It is no local folder, and"
        reason, _, _ = " ".join(str(error).split()).partition(". ")
        raise ModelError(
            f"No model could be loaded from {name!r}. {kind} transformers says: {reason.rstrip('.')}. "
            "Name a folder with config.json, weights and tokenizer.json, or a hub id that this machine can reach."
        ) from error
    finally:
        if bars:
            transformers_logging.enable_progress_bar()
    model.train(mode=False)
    return HuggingFaceModel(model, tokenizer, name=name)


def _is_no_advice(record: logging.LogRecord) -> bool:
    """Tell a log record from the advice to install a CUDA kernel, which transformers gives even without a GPU."""
    import torch

    return torch.cuda.is_available() or "falling back to its reference" not in record.getMessage()


class HuggingFaceModel:
    """A loaded `transformers` model with its tokenizer; follows the `LanguageModel` protocol."""

    def __init__(
        self, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", *, name: str | None = None
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.name = name or model.config.name_or_path or type(model).__name__
        text_config = model.config.get_text_config()
        self.context_length: int | None = getattr(text_config, "max_position_embeddings", None)
        self.has_chat_template = tokenizer.chat_template is not None
        self.vocabulary = _vocabulary(model, tokenizer, width=text_config.vocab_size)
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        """The names of the arguments of the model's forward pass."""
        self.draws_on_device = model.device.type != "cpu"
        """Whether tokens are drawn where the logits are, and not on the host."""
        self._prefixes: dict[tuple[int, ...], Any] = {}
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"HuggingFaceModel({self.name!r}, {self.vocabulary!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, through the chat template if it is a list of messages."""
        if isinstance(prompt, str):
            return list(self.tokenizer(prompt)["input_ids"])
        turns = [dict(turn) for turn in prompt]
        text = self.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def begin(self, prompts: Sequence[Sequence[int]], *, shared: int = 0) -> "HuggingFaceTexts":
        """Run the prompts through the model; what they share, once.

        Where layers stand no padding between that and the rest, prompts of one length go together, and join the others.
        """
        rows_by_length: dict[int, list[int]] = {}
        for row, prompt in enumerate(prompts):
            rows_by_length.setdefault(len(prompt), []).append(row)
        groups = list(rows_by_length.values())
        saved = shared * (len(prompts) - 1) - CPU_PASS_COST * len(groups)
        if shared < FEWEST_SHARED or saved <= 0 or len(groups) == 1:
            return HuggingFaceTexts(self, prompts, shared=shared)
        prefix = self.prefix(tuple(prompts[0][: min(shared, min(rows_by_length) - 1)]))
        if caches.keeps_all(prefix) or not caches.can_join(prefix):
            return HuggingFaceTexts(self, prompts, shared=shared)
        first, *others = (HuggingFaceTexts(self, [prompts[row] for row in rows], shared=shared) for rows in groups)
        for texts in others:
            first.join(texts)
        order = [row for rows in groups for row in rows]
        first.select([order.index(row) for row in range(len(prompts))])
        return first

    def prefix(self, token_ids: tuple[int, ...]) -> Any:
        """Return the cache of some tokens that many prompts begin with, one row, which nobody may change."""
        with self._lock:  # of several threads, one computes it
            known = self._prefixes.pop(token_ids, None)
            if known is None:
                known = HuggingFaceTexts(self, [token_ids]).cache
            self._prefixes[token_ids] = known
            while len(self._prefixes) > 1 and sum(map(caches.nbytes, self._prefixes.values())) > MOST_PREFIX_BYTES:
                del self._prefixes[next(iter(self._prefixes))]
            return known


class HuggingFaceTexts:
    """Texts of a `HuggingFaceModel`; follows the `Texts` protocol.

    A row that has fewer new tokens than others is padded in front of them, and the padding masked. Where layers do not
    stand that, only prompts are padded, and all rows are given as many tokens.
    """

    def __init__(self, model: HuggingFaceModel, prompts: Sequence[Sequence[int]], *, shared: int = 0) -> None:
        import torch

        self._model = model
        self.cache: Any = None
        """What the model keeps of the texts."""
        self.seen = torch.zeros((len(prompts), 0), dtype=torch.long, device=model.model.device)
        """Which places hold a token, and which are padding; shape (texts, places)."""
        with _memory_errors():
            if shared >= FEWEST_SHARED:
                shared = min(shared, min(map(len, prompts)) - 1)
                prefix = model.prefix(tuple(prompts[0][:shared]))
                if caches.keeps_all(prefix) or len({len(prompt) for prompt in prompts}) == 1:
                    self.cache = caches.repeated(prefix, len(prompts))
                    self.seen = torch.ones((len(prompts), shared), dtype=torch.long, device=model.model.device)
                    prompts = [prompt[shared:] for prompt in prompts]
            self._scores = self._forward(prompts)

    @property
    def logits(self) -> NDArray[np.float32]:
        """The scores of the next token of each text, on the host."""
        logits: NDArray[np.float32] = self._scores.float().cpu().numpy()
        return logits

    @property
    def scores(self) -> "torch.Tensor | None":
        """The same on the device, if tokens are to be drawn there."""
        return self._scores if self._model.draws_on_device else None

    @property
    def is_ragged(self) -> bool:
        """Whether each text may be given another number of tokens."""
        return caches.keeps_all(self.cache)

    @property
    def pass_cost(self) -> float:
        """What a forward pass costs beside its tokens: on a GPU, some hundred tokens more are hardly noticed."""
        return CPU_PASS_COST if self._model.model.device.type == "cpu" else GPU_PASS_COST

    @property
    def can_join(self) -> bool:
        """Whether other texts may join these."""
        return caches.can_join(self.cache)

    def append(self, token_ids: Sequence[Sequence[int] | None]) -> None:
        """Append tokens to each text; None drops the text and its cache. Raises OutOfMemoryError."""
        kept = [row for row, new in enumerate(token_ids) if new is not None]
        if len(kept) < len(token_ids):
            self.select(kept)
        if kept:
            with _memory_errors():
                self._scores = self._forward([new for new in token_ids if new is not None])

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; one that is named twice goes on as two. Raises OutOfMemoryError."""
        with _memory_errors():
            self._scores = self._scores[list(rows)]
            if rows:
                self.seen = self.seen[list(rows)]
                caches.select(self.cache, rows)
                self._trim()

    def join(self, others: "HuggingFaceTexts") -> None:
        """Take over the texts of another batch. Raises OutOfMemoryError."""
        import torch

        with _memory_errors():
            caches.join(self.cache, others.cache)
            places = max(self.seen.shape[1], others.seen.shape[1])
            padded = [torch.nn.functional.pad(seen, (places - seen.shape[1], 0)) for seen in (self.seen, others.seen)]
            self.seen = torch.cat(padded)
            self._scores = torch.cat([self._scores, others._scores])  # noqa: SLF001  of the same class

    def _trim(self) -> None:
        """Drop the places in front that are padding in all rows, where that can be done and is worth it."""
        places = int(self.seen.argmax(dim=1).min())
        if places * 8 > self.seen.shape[1] and self.is_ragged:
            caches.trim(self.cache, places)
            self.seen = self.seen[:, places:]

    def _forward(self, token_ids: Sequence[Sequence[int]]) -> "torch.Tensor":
        """Run the new tokens of each text, and return the logits after the last of each, shape (texts, width)."""
        import torch

        device = self._model.model.device
        width = max(map(len, token_ids))
        rows = [[0] * (width - len(new)) + list(new) for new in token_ids]
        seen = [[0] * (width - len(new)) + [1] * len(new) for new in token_ids]
        self.seen = torch.cat([self.seen, torch.tensor(seen, device=device)], dim=1)
        arguments: dict[str, Any] = {
            "input_ids": torch.tensor(rows, device=device),  # (texts, width)
            "attention_mask": self.seen,
            "past_key_values": self.cache,
            "use_cache": True,
        }
        if "position_ids" in self._model.accepts:
            positions = self.seen.cumsum(dim=1) - 1
            arguments["position_ids"] = positions.clamp(min=0)[:, -width:]
        if "logits_to_keep" in self._model.accepts:
            arguments["logits_to_keep"] = 1
        with torch.inference_mode():
            output = self._model.model(**arguments)
        self.cache = output.past_key_values
        return cast("torch.Tensor", output.logits[:, -1])


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Say in the library's own words that a device has no memory left."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfMemoryError(
            "The device has no memory left for one text. Shorten the document, lower max_tokens, or use another model."
        ) from error


def _vocabulary(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", *, width: int) -> Vocabulary:
    """Return the tokens that the model has logits for; it ends at any token that model or tokenizer ends at."""
    declared: list[int | list[int] | None] = [tokenizer.eos_token_id, model.config.get_text_config().eos_token_id]
    if model.generation_config is not None:
        declared.append(model.generation_config.eos_token_id)
    ends: set[int] = set()
    for ids in declared:
        ends.update([ids] if isinstance(ids, int) else ids or [])
    whole = Vocabulary.from_transformers(tokenizer, end_token_ids={token_id for token_id in ends if token_id < width})
    return whole if whole.size <= width else Vocabulary(whole.tokens[:width], whole.end_token_ids, whole.encode)
