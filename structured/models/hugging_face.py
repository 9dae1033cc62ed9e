"""Causal language models of `transformers`, with their own forward pass and key-value cache.

torch and transformers are imported when a model is loaded or a text begun, never before.
"""

import inspect
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError
from structured.models.protocol import Messages
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


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

    def __repr__(self) -> str:
        return f"HuggingFaceModel({self.name!r}, {self.vocabulary!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, through the chat template if it is a list of messages."""
        if isinstance(prompt, str):
            return list(self.tokenizer(prompt)["input_ids"])
        turns = [dict(turn) for turn in prompt]
        text = self.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def begin(self, prompts: Sequence[Sequence[int]]) -> "HuggingFaceTexts":
        """Run the prompts through the model in one batch."""
        return HuggingFaceTexts(self, prompts)


class HuggingFaceTexts:
    """Texts of a `HuggingFaceModel`; follows the `Texts` protocol.

    Shorter prompts are padded on the left, and their padding is masked; every later step feeds one token a row.
    """

    def __init__(self, model: HuggingFaceModel, prompts: Sequence[Sequence[int]]) -> None:
        import torch

        self._model = model
        self._cache: Any = None
        width = max(map(len, prompts))
        padding = [width - len(prompt) for prompt in prompts]
        rows = [[0] * pad + list(prompt) for pad, prompt in zip(padding, prompts, strict=True)]
        seen = [[0] * pad + [1] * (width - pad) for pad in padding]
        self._attention_mask = torch.tensor(seen, device=model.model.device)  # (texts, tokens)
        self.logits = self._forward(torch.tensor(rows, device=model.model.device))

    def append(self, token_ids: Sequence[int | None]) -> None:
        """Append a token to each text; None drops the text and its cache."""
        import torch

        device = self._model.model.device
        kept = [row for row, token_id in enumerate(token_ids) if token_id is not None]
        if len(kept) < len(token_ids):
            rows = torch.tensor(kept, device=device, dtype=torch.long)
            self._attention_mask = self._attention_mask[rows]
            if not kept:
                self.logits = self.logits[:0]
                return
            self._cache.reorder_cache(rows)  # keeps the rows named; hybrid caches have no other way to select
        self._attention_mask = torch.nn.functional.pad(self._attention_mask, (0, 1), value=1)
        self.logits = self._forward(torch.tensor([[token_ids[row]] for row in kept], device=device))

    def _forward(self, token_ids: "torch.Tensor") -> NDArray[np.float32]:
        """Run the new tokens, shape (texts, new), and return the logits after the last, shape (texts, width)."""
        import torch

        arguments: dict[str, Any] = {
            "input_ids": token_ids,
            "attention_mask": self._attention_mask,
            "past_key_values": self._cache,
            "use_cache": True,
        }
        if "position_ids" in self._model.accepts:
            positions = self._attention_mask.cumsum(dim=1) - 1
            arguments["position_ids"] = positions.clamp(min=0)[:, -token_ids.shape[1] :]
        if "logits_to_keep" in self._model.accepts:
            arguments["logits_to_keep"] = 1
        with torch.inference_mode():
            output = self._model.model(**arguments)
        self._cache = output.past_key_values
        logits: NDArray[np.float32] = output.logits[:, -1].float().cpu().numpy()
        return logits


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
