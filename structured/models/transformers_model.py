"""Causal language models of `transformers`, with their own forward pass, caches and prefixes.

torch and transformers are imported when a text is begun, never before.

With attention over kept keys and values, a text that is read in parts gets the same logits as in one pass. A recurrence
keeps one state in place of its tokens, and implementations differ: some start anew when several tokens are appended. So
a model with such layers is tested on a few tokens first. Rejected: a list of architectures that fail, since the next
version of transformers may change it.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from structured.errors import ModelError, OutOfMemoryError, StructuredError
from structured.errors.values import message
from structured.models.cpu_threads import torch_threads
from structured.models.kv_cache import PaddedCache, TextCache, on_device
from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import MIN_SHARED, DecodingBatch, LanguageModel, Logits, Messages
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


MAX_PREFIX_BYTES = 1 << 28
"""Memory for the caches of prefixes, except the last used."""


def without_wrapper(model: Any) -> "PreTrainedModel":
    """Return a model without the wrapper of PEFT, which hides the parameters of the forward pass. Raises ModelError."""
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


READ_TOKENS, APPENDED_TOKENS = 8, 4
"""The tokens of the test that are read at once, and those that are appended."""

MAX_DIFFERENCE, MAX_UNITS = 0.02, 16
"""The largest tolerated difference of logits from those of one pass: a share of their spread, or this many units of
rounding if that is more."""

MIN_FORGOTTEN, MIN_UNITS = 1e-3, 4
"""If appending several tokens at once changes the logits by more than this, the model is taken to have lost its state.

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

    text = list(range(READ_TOKENS + APPENDED_TOKENS))
    beginning, appended = text[:READ_TOKENS], text[READ_TOKENS:]
    try:
        expected = read(cache(1), [text], len(appended) - 1)[0]  # (appended, width), like the others
        # All are begun first: some models keep only the last text.
        cache_of_one, cache_of_two, cache_of_parts = cache(1), cache(2), cache(1)
        read(cache_of_one, [beginning], 0)
        read(cache_of_two, [text, beginning], 0)
        read(cache_of_parts, [beginning], 0)
        one_by_one = torch.cat([read(cache_of_one, [[token_id]], 0)[0] for token_id in appended])
        padded = torch.cat([read(cache_of_two, [[token_id]] * 2, 0)[1] for token_id in appended])
        at_once = read(cache_of_parts, [appended], len(appended) - 1)[0]
    except (StructuredError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        what = f"does not go on with a text: {type(error).__name__}: {message(error).rstrip('.')}"
        raise _refusal(name, what) from error
    unit = torch.finfo(expected.dtype).eps
    tolerance = max(MAX_DIFFERENCE, MAX_UNITS * unit)
    if _difference(one_by_one, expected) > tolerance:
        raise _refusal(name, "has other logits for a text that it reads token by token than for the whole")
    if _difference(padded, one_by_one) > tolerance:
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
    """A causal language model of transformers, without its tokenizer. Raises ModelError for another kind of model."""

    def __init__(self, model: "PreTrainedModel") -> None:
        from structured.models.slot_cache import has_slots

        self.model = model
        self.parameter_names = frozenset(inspect.signature(model.forward).parameters)
        """The names of the parameters of the model's forward pass."""
        names = ("cache", "past_key_values", "cache_params")  # the last two before transformers 5.24
        self.cache_name = next((name for name in names if name in self.parameter_names), "")
        config = model.config.get_text_config(decoder=True)
        self.has_attention = self.cache_name != "cache_params" and hasattr(config, "num_attention_heads")
        """Whether any layer attends to earlier tokens."""
        self.has_slots = has_slots(model, self.parameter_names)
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
        elif not self.cache_name:
            what = "takes no cache of transformers"
        else:
            return
        problem = f"{name} {what}, and only causal language models with such a cache are supported"
        raise ModelError(f"{problem}. Use another model.")

    def logits_cost(self) -> float:
        """Return the cost of the logits of one more place, in tokens: the last layer's share of the work."""
        model = cast("Any", self.model)
        embeddings, last_layer = model.get_input_embeddings(), model.get_output_embeddings()
        tables = {id(table.weight): table.weight.numel() for table in (embeddings, last_layer) if table is not None}
        others = sum(weights.numel() for weights in model.parameters()) - sum(tables.values())
        return 0.0 if last_layer is None else float(last_layer.weight.numel() / max(others, 1))

    def cache(self, rows: int) -> TextCache:
        """Return an empty cache for that many texts."""
        from structured.models.slot_cache import SlotCache

        if self.has_slots:
            return SlotCache(self.model, rows, self.cache_name)
        return PaddedCache(self.model, rows, self.parameter_names, self.cache_name, has_attention=self.has_attention)

    @cached_property
    def can_append_several_tokens(self) -> bool:
        """Whether several tokens may be appended to a text in one pass. Raises ModelError if none can be."""
        from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

        config = self.model.config.get_text_config(decoder=True)
        kinds = {*map(type, DynamicCache(config=config).layers)}
        names = getattr(config, "layers_block_type", None) or []  # which caches of some versions ignore
        keeps_tokens = kinds <= {DynamicLayer, DynamicSlidingWindowLayer} and "recurrent" not in names
        if self.has_slots or (self.has_attention and keeps_tokens):
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
        """Run the new tokens of each text, and return the logits at its last `window + 1` places.

        The shape is (texts, window + 1, width).
        """
        import torch

        arguments = {**cache.forward_inputs(token_ids, window), "use_cache": True}
        columns = arguments["input_ids"].shape[1]
        ends = [len(new) - 1 if cache.pads_behind else columns - 1 for new in token_ids]
        places = [[max(end - back, 0) for back in range(window, -1, -1)] for end in ends]
        columns_kept = sorted({column for row in places for column in row})
        if "logits_to_keep" in self.parameter_names:
            is_end = columns_kept[0] == columns - len(columns_kept)
            is_cut_on_host = is_end and len(columns_kept) < columns and self.model.device.type == "cpu"
            # An end that is cut off is a view, for which PyTorch copies a frozen last layer in half precision on a CPU.
            # On whatever device that layer is, it may be indexed from the host.
            by_number = is_end and not is_cut_on_host
            arguments["logits_to_keep"] = len(columns_kept) if by_number else torch.tensor(columns_kept)
        with torch.inference_mode(), _kernels_without_planning(self.model.device):
            output = self.model(**arguments)
        logits = output.logits if "logits_to_keep" in arguments else output.logits[:, columns_kept]
        if any(row != columns_kept for row in places):
            chosen = on_device([[columns_kept.index(column) for column in row] for row in places], logits.device)
            logits = logits[torch.arange(len(places), device=logits.device)[:, None], chosen]
        return cast("torch.Tensor", logits)


def _kernels_without_planning(device: "torch.device") -> AbstractContextManager[object]:
    """Exclude cuDNN's kernel of attention on a GPU: for each new number of tokens it plans for 50 to 1,000 ms."""
    if device.type != "cuda":
        return nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


CPU_PASS_COST, GPU_PASS_COST = 96.0, 512.0
"""Tokens that take as long as the fixed part of a pass, roughly: on a CPU from 27 to 200, measured."""


class HuggingFaceModel(LanguageModel):
    """A loaded `transformers` model with its tokenizer."""

    can_read_on = True
    takes_threads = True

    def __init__(
        self, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", *, name: str | None = None
    ) -> None:
        self.model = model = without_wrapper(model)
        self.tokenizer = tokenizer
        self.network = Network(model)
        self.name = name or model.config.name_or_path or type(model).__name__
        text_config = model.config.get_text_config()
        self.context_length = getattr(text_config, "max_position_embeddings", None)
        self.has_chat_template = tokenizer.chat_template is not None
        generation = model.generation_config
        ends = [text_config.eos_token_id, None if generation is None else generation.eos_token_id]
        self.vocabulary = vocabulary_of(tokenizer, ends, width=text_config.vocab_size)
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
        """Return the token ids of a prompt; see `PromptEncoder`. Raises PromptError, ModelError."""
        return self._prompts.encode(prompt)

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> "tuple[HuggingFaceBatch, Logits]":
        """Run the prompts through the model, their shared beginning once.

        Where layers allow no padding between that and the rest, prompts of one length go together, and join the others.
        Raises ModelError if texts cannot be read on.
        """
        with _computing(self.threads):
            return self._prefill(prompts, shared, window)

    def _prefill(self, prompts: Sequence[Sequence[int]], shared: int, window: int) -> "tuple[HuggingFaceBatch, Logits]":
        if not self.network.can_append_several_tokens:
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
        import torch

        chosen = [[prompts[row] for row in rows] for rows in groups]
        batches = [HuggingFaceBatch(self, group) for group in chosen]
        scores = [batch.prefill(group, shared, 0) for batch, group in zip(batches, chosen, strict=True)]
        first, *others = batches
        for batch in others:
            first.join(batch)
        order = np.argsort(np.concatenate(groups)).tolist()
        first.select(order)
        return first, first.for_decoding(torch.cat(scores)[order])


class HuggingFaceBatch(DecodingBatch):
    """Texts of a `HuggingFaceModel`."""

    def __init__(self, model: HuggingFaceModel, prompts: Sequence[Sequence[int]]) -> None:
        """Make room for texts that begin with some prompts."""
        self._model = model
        self._network = model.network
        self._samples_on_device = model.samples_on_device
        self.cache = model.network.cache(len(prompts))
        """The cache of the texts."""

    def prefill(self, prompts: Sequence[Sequence[int]], shared: int, window: int) -> "torch.Tensor":
        """Read the prompts, and return the logits of their last places, shape (texts, window + 1, width)."""
        shared = min(shared, min(map(len, prompts)) - 1 - window)
        if shared >= MIN_SHARED:
            prefix = self._network.prefix(tuple(prompts[0][:shared]))
            if prefix.is_ragged or len({len(prompt) for prompt in prompts}) == 1:
                self.cache.fill(prefix, len(prompts))
                prompts = [prompt[shared:] for prompt in prompts]
        scores = self._network.read(self.cache, prompts, window)
        self.is_ragged, self.can_join = self.cache.is_ragged, self.cache.can_join
        return scores

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        """Append tokens to each text, and return the logits after them. Raises OutOfMemoryError."""
        with _computing(self._model.threads):
            parts = [token_ids]
            if not self._network.can_append_several_tokens:  # then all texts have as many new tokens
                parts = [[[token_id] for token_id in column] for column in zip(*token_ids, strict=True)]
            scores = [self._network.read(self.cache, part, window) for part in parts][-1]
            return self.for_decoding(scores)

    def for_decoding(self, scores: "torch.Tensor") -> Logits:
        """Return logits of shape (texts, window + 1, width) as decoding takes them."""
        import torch

        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        return scores if self._samples_on_device else scores.to("cpu", torch.float32).numpy()

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice is duplicated. Raises OutOfMemoryError."""
        with _computing(self._model.threads):
            self.cache.select(rows)

    def join(self, other: Self) -> None:
        """Take over the texts of another batch. Raises OutOfMemoryError."""
        with _computing(self._model.threads):
            self.cache.join(other.cache)

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text; only caches with slots can."""
        from structured.models.slot_cache import SlotCache

        assert isinstance(self.cache, SlotCache), "A padded cache forgets no token."
        self.cache.rollback(counts)


@contextmanager
def _computing(threads: int | None) -> Iterator[None]:
    """Compute with so many threads of the CPU; None leaves torch its own number.

    Raises OutOfMemoryError, which halves a batch and fails a text alone, if a device has no memory left.
    """
    import torch

    try:
        with torch_threads(threads):
            yield
    except torch.OutOfMemoryError as error:
        problem = "The device has no memory left for one text"
        raise OutOfMemoryError(f"{problem}. Shorten the document, lower max_tokens, or use another model.") from error


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
