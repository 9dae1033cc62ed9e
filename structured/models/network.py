"""A network of transformers: its forward pass over cached texts, the prefixes that it keeps, and a test of its caches.

torch and transformers are imported when something is read, never before.

With attention over kept keys and values, a text that is read in parts gets the same logits as in one pass. A recurrence
keeps one state in place of its tokens, and implementations differ: some read one more token correctly, but start anew
when several are appended, and forget the tokens before. So a model with such layers is tested on a few tokens first.
Rejected: a list of architectures that fail, since the next version of transformers may change it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from structured.errors import ModelError, StructuredError
from structured.errors.values import message
from structured.models.kv_cache import PaddedCache, TextCache, on_device

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


MAX_PREFIX_BYTES = 1 << 28
"""Memory for the caches of prefixes, except the last used."""


def without_wrapper(model: Any) -> "PreTrainedModel":
    """Return the model inside a wrapper of PEFT, with its adapters; any other model as it is.

    The wrapper hides the parameters of the forward pass. Raises ModelError for adapters in the wrapper alone.
    """
    adapters: Mapping[str, Any] = getattr(model, "peft_config", None) or {}
    if not hasattr(model, "get_base_model"):
        return cast("PreTrainedModel", model)
    kinds = {type(config).__name__.removesuffix("Config") for config in adapters.values() if config.is_prompt_learning}
    if kinds:
        raise ModelError(
            f"The model has an adapter of PEFT ({', '.join(sorted(kinds))}) that puts tokens of its own before the "
            "prompt, which is not supported. Use one that changes weights, such as LoRA."
        )
    return cast("PreTrainedModel", model.get_base_model())


READ, MORE = 8, 4
"""Tokens that are read at once, and tokens that are appended."""

MAX_DIFFERENCE, MAX_UNITS = 0.02, 16
"""Of logits that are read token by token or padded, relative to their spread; or in units of rounding, if more."""

MIN_FORGOTTEN, MIN_UNITS = 1e-3, 4
"""The same of tokens that are appended together, above which the model has forgotten a state.

A single forgotten state may change little. A model that is wrongly taken to forget only loses time.
"""

Read = Callable[["TextCache", list[list[int]], int], "torch.Tensor"]
"""See `Network.read`."""


def can_append_several(name: str, cache: "Callable[[int], TextCache]", read: Read) -> bool:
    """Tell whether several tokens can be appended to a text in one pass; if not, only one by one.

    The model reads a text in one pass, token by token, in two parts, and padded beside another. `cache` makes a cache
    for so many texts. Raises ModelError if the logits differ token by token, or padded.
    """
    import torch

    text = list(range(READ + MORE))
    beginning, rest = text[:READ], text[READ:]
    try:
        expected = read(cache(1), [text], MORE - 1)[0]  # (MORE, width), like the others
        alone, beside, together = cache(1), cache(2), cache(1)  # all begun first: some models keep only the last text
        read(alone, [beginning], 0)
        read(beside, [text, beginning], 0)
        read(together, [beginning], 0)
        singly = torch.cat([read(alone, [[token_id]], 0)[0] for token_id in rest])
        padded = torch.cat([read(beside, [[token_id]] * 2, 0)[1] for token_id in rest])
        at_once = read(together, [rest], MORE - 1)[0]
    except StructuredError:
        raise
    except Exception as error:
        what = f"does not go on with a text: {type(error).__name__}: {message(error).rstrip('.')}"
        raise _refusal(name, what) from error
    unit = torch.finfo(expected.dtype).eps
    tolerance = max(MAX_DIFFERENCE, MAX_UNITS * unit)
    if _difference(singly, expected) > tolerance:
        raise _refusal(name, "has other logits for a text that it reads token by token than for the whole")
    if _difference(padded, singly) > tolerance:
        raise _refusal(name, "has other logits for a text in a batch than for the text alone")
    return _difference(at_once, expected) <= max(MIN_FORGOTTEN, MIN_UNITS * unit)


def _difference(logits: "torch.Tensor", expected: "torch.Tensor") -> float:
    """Return the largest distance of logits from the expected ones in any row, relative to the spread of these."""
    logits, expected = logits.float(), expected.float()
    spread = expected - expected.mean(dim=-1, keepdim=True)
    most = ((logits - expected).norm(dim=-1) / spread.norm(dim=-1)).max()
    return float("inf") if most.isnan() else float(most)


def _refusal(name: str, what: str) -> ModelError:
    from transformers import __version__

    return ModelError(
        f"{name} cannot be used: in transformers {__version__}, it {what}. Use another version of transformers, or "
        "another model."
    )


class Network:
    """A causal language model of transformers, without its tokenizer.

    Raises ModelError for a model of another kind, and for one without a cache.
    """

    def __init__(self, model: "PreTrainedModel") -> None:
        from structured.models.slot_cache import has_slots

        self.model = model
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        """The parameters of the model's forward pass."""
        self.has_slots = has_slots(model, self.accepts)
        """Whether texts can be kept in slots."""
        self._refuse_other_kinds()
        self.prefixes: dict[tuple[int, ...], TextCache] = {}
        """The caches of prefixes, the last used at the end."""
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
        """Return the cost of the logits of one more place, in tokens: the last layer's share of the work."""
        model = cast("Any", self.model)
        first, last = model.get_input_embeddings(), model.get_output_embeddings()
        tables = {id(table.weight): table.weight.numel() for table in (first, last) if table is not None}
        others = sum(weights.numel() for weights in model.parameters()) - sum(tables.values())
        return 0.0 if last is None else float(last.weight.numel() / max(others, 1))

    def cache(self, rows: int) -> TextCache:
        """Return an empty cache for that many texts."""
        from structured.models.slot_cache import SlotCache

        return SlotCache(self.model, rows) if self.has_slots else PaddedCache(self.model, rows, self.accepts)

    @cached_property
    def takes_several(self) -> bool:
        """Whether several tokens may be appended to a text in one pass. Raises ModelError if none can be."""
        from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

        config = self.model.config.get_text_config(decoder=True)
        kinds = {*map(type, DynamicCache(config=config).layers)}
        names = getattr(config, "layers_block_type", None) or []  # which caches of some versions ignore
        attends = (
            "past_key_values" in self.accepts
            and kinds <= {DynamicLayer, DynamicSlidingWindowLayer}
            and "recurrent" not in names
        )
        if self.has_slots or attends:
            return True
        return can_append_several(type(self.model).__name__, self.cache, self.read)

    def prefix(self, token_ids: tuple[int, ...]) -> TextCache:
        """Return the cache of tokens that many prompts begin with: a single row, which must not be changed."""
        with self._lock:  # several threads compute it once
            prefix = self.prefixes.pop(token_ids, None)
            if prefix is None:
                prefix = self.cache(1)
                self.read(prefix, [token_ids])
            self.prefixes[token_ids] = prefix
            while len(self.prefixes) > 1 and sum(cache.nbytes for cache in self.prefixes.values()) > MAX_PREFIX_BYTES:
                del self.prefixes[next(iter(self.prefixes))]
            return prefix

    def read(self, cache: TextCache, token_ids: Sequence[Sequence[int]], window: int = 0) -> "torch.Tensor":
        """Run the new tokens of each text, and return the logits after them, and before each token of the window.

        The shape is (texts, window + 1, width); the last place is after all tokens.
        """
        import torch

        arguments = {**cache.before(token_ids, window), "use_cache": True}
        columns = arguments["input_ids"].shape[1]
        ends = [len(new) - 1 if cache.pads_behind else columns - 1 for new in token_ids]
        places = [[max(end - back, 0) for back in range(window, -1, -1)] for end in ends]
        columns_kept = sorted({column for row in places for column in row})
        if "logits_to_keep" in self.accepts:
            is_end = columns_kept[0] == columns - len(columns_kept)
            # On whatever device the last layer is, it may be indexed from the host.
            arguments["logits_to_keep"] = len(columns_kept) if is_end else torch.tensor(columns_kept)
        with torch.inference_mode():
            output = self.model(**arguments)
        logits = output.logits if "logits_to_keep" in arguments else output.logits[:, columns_kept]
        if any(row != columns_kept for row in places):
            chosen = on_device([[columns_kept.index(column) for column in row] for row in places], logits.device)
            logits = logits[torch.arange(len(places), device=logits.device)[:, None], chosen]
        return cast("torch.Tensor", logits)
