"""A network of transformers: its forward pass over what it has cached of some texts, and the prefixes that it keeps.

torch and transformers are imported when something is read, never before.
"""

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from structured.errors import ModelError
from structured.models.continuation import Continuation, examined
from structured.models.kv_cache import PaddedCache, TextCache, on_device

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

MAX_PREFIX_BYTES = 1 << 28
"""Of caches of prefixes, but for the last used."""


def without_wrapper(model: Any) -> "PreTrainedModel":
    """Return the model that PEFT has wrapped, with its adapters inside; any other as it is.

    The wrapper hides what the forward pass accepts. Raises ModelError for adapters that are in the wrapper alone.
    """
    adapters: Mapping[str, Any] = getattr(model, "peft_config", None) or {}
    if not hasattr(model, "get_base_model"):
        return cast("PreTrainedModel", model)
    kinds = {type(one).__name__.removesuffix("Config") for one in adapters.values() if one.is_prompt_learning}
    if kinds:
        raise ModelError(
            f"The model has an adapter of PEFT ({', '.join(sorted(kinds))}) that puts tokens of its own before the "
            "prompt, which is not supported. Use one that changes weights, such as LoRA."
        )
    return cast("PreTrainedModel", model.get_base_model())


class Network:
    """A causal language model of transformers without its tokenizer.

    Raises ModelError for a model of another kind, and for one that keeps nothing of what it has read.
    """

    def __init__(self, model: "PreTrainedModel") -> None:
        from structured.models.slot_cache import has_slots

        self.model = model
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        """The names of the arguments of the model's forward pass."""
        self.has_slots = has_slots(model, self.accepts)
        """Whether texts can be kept in slots."""
        self._refuse_other_kinds()
        self.prefixes: dict[tuple[int, ...], TextCache] = {}
        """What is kept of tokens that prompts began with, those used last behind the others."""
        self._lock = RLock()

    def _refuse_other_kinds(self) -> None:
        config, name = self.model.config, type(self.model).__name__
        if config.is_encoder_decoder:
            what = "has an encoder and a decoder"
        elif not self.has_slots and not getattr(config, "is_decoder", True):  # some decoders do not say so
            what = "is an encoder, each token of which sees those after it"
        elif getattr(config.get_text_config(), "cross_attention_layers", None):
            what = "has layers that attend to an image alone"
        elif self.accepts.isdisjoint({"past_key_values", "cache_params"}):
            what = "takes no cache of transformers"
        else:
            return
        raise ModelError(
            f"{name} {what}, and only causal language models with such a cache are supported. Use another model."
        )

    def logits_cost(self) -> float:
        """What the logits of one more place cost, counted in tokens: the part that the last layer has in the work."""
        model = cast("Any", self.model)
        first, last = model.get_input_embeddings(), model.get_output_embeddings()
        tables = {id(table.weight): table.weight.numel() for table in (first, last) if table is not None}
        others = sum(weights.numel() for weights in model.parameters()) - sum(tables.values())
        return 0.0 if last is None else float(last.weight.numel() / max(others, 1))

    def cache(self, rows: int) -> TextCache:
        """Return a cache for that many texts, of which nothing has been read."""
        from structured.models.slot_cache import SlotCache

        return SlotCache(self.model, rows) if self.has_slots else PaddedCache(self.model, rows, self.accepts)

    @cached_property
    def continuation(self) -> Continuation:
        """How texts that have been begun may be read on. Raises ModelError if they cannot be."""
        from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

        config = self.model.config.get_text_config(decoder=True)
        kept = {*map(type, DynamicCache(config=config).layers)}
        named = getattr(config, "layers_block_type", None) or []  # caches of some versions do not ask for it
        attends = (
            "past_key_values" in self.accepts
            and kept <= {DynamicLayer, DynamicSlidingWindowLayer}
            and "recurrent" not in named
        )
        if self.has_slots or attends:
            return Continuation(takes_several=True)
        return examined(type(self.model).__name__, self.cache, self.read)

    def prefix(self, token_ids: tuple[int, ...]) -> TextCache:
        """Return the cache of some tokens that many prompts begin with, one row, which nobody may change."""
        with self._lock:  # of several threads, one computes it
            known = self.prefixes.pop(token_ids, None)
            if known is None:
                known = self.cache(1)
                self.read(known, [token_ids])
            self.prefixes[token_ids] = known
            while len(self.prefixes) > 1 and sum(cache.nbytes for cache in self.prefixes.values()) > MAX_PREFIX_BYTES:
                del self.prefixes[next(iter(self.prefixes))]
            return known

    def read(self, cache: TextCache, token_ids: Sequence[Sequence[int]], window: int = 0) -> "torch.Tensor":
        """Run the new tokens of each text, and return the logits after all of them, and before those of the window.

        The shape is (texts, window + 1, width), the last place being that after all tokens.
        """
        import torch

        arguments = {**cache.before(token_ids, window), "use_cache": True}
        columns = arguments["input_ids"].shape[1]
        ends = [len(new) - 1 if cache.pads_behind else columns - 1 for new in token_ids]
        places = [[max(end - back, 0) for back in range(window, -1, -1)] for end in ends]
        wanted = sorted({column for row in places for column in row})
        if "logits_to_keep" in self.accepts:
            is_end = wanted[0] == columns - len(wanted)
            # On whatever device the last layer is, it may be indexed from the host.
            arguments["logits_to_keep"] = len(wanted) if is_end else torch.tensor(wanted)
        with torch.inference_mode():
            output = self.model(**arguments)
        logits = output.logits if "logits_to_keep" in arguments else output.logits[:, wanted]
        if any(row != wanted for row in places):
            chosen = on_device([[wanted.index(column) for column in row] for row in places], logits.device)
            logits = logits[torch.arange(len(places), device=logits.device)[:, None], chosen]
        return cast("torch.Tensor", logits)
