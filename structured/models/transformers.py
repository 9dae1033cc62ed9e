"""Causal language models of `transformers`, with their own forward pass and key-value cache.

torch and transformers are imported when a model is loaded or a text begun, never before.
"""

import inspect
import logging
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, OutOfMemoryError
from structured.errors.values import nearest
from structured.models.checkpoints import WANTED, lacking, shown, why_not_hub
from structured.models.kv_cache import PaddedCache, TextCache
from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import Messages
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from structured.models.cuda_graphs import MakeRecording, Recordings

MIN_SHARED = 16
"""Tokens at the beginning of prompts that are worth computing on their own."""

MAX_PREFIX_BYTES = 1 << 28
"""Of caches of such beginnings, but for the last used."""

CPU_PASS_COST, GPU_PASS_COST = 96.0, 512.0
"""Tokens that take as long as a pass does beside its tokens, roughly: on a CPU from 27 to 200, measured."""

_PLACEMENTS = ("auto", "balanced", "balanced_low_0", "sequential", "cpu", "cuda", "mps")
"""Names that accelerate takes for a `device_map`, and the most common devices."""

PLACES_COST = 10
"""As many logits as take as long as it does that a matrix is multiplied by two vectors and not by one, measured."""


def load(
    name: str,
    folder: str | None = None,
    *,
    device_map: str | dict[str, Any] | None = None,
    dtype: str = "auto",
    cuda_graphs: bool = False,
) -> "HuggingFaceModel":
    """Load a model and its tokenizer from a local folder or, without one, by its hub id.

    `device_map` is handed to accelerate; None means "auto" where there is a GPU, and the CPU otherwise. `dtype` is a
    name such as "bfloat16", or "auto" for that of the checkpoint. `cuda_graphs` records passes on a GPU and replays
    them. What the hub has is downloaded, with bars; where it cannot be reached, what is in the cache is taken.

    Raises ModelError if there is no such model, or if it is to be recorded and cannot be.
    """
    reason = why_not_hub(name) if folder is None else None
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if device_map is None and torch.cuda.is_available():
        device_map = "auto"
    if isinstance(device_map, str) and device_map not in _PLACEMENTS:
        try:
            torch.device(device_map)
        except RuntimeError as error:
            raise ModelError(
                f"device_map is {device_map!r}, which is no device of torch.{nearest(device_map, _PLACEMENTS)} "
                "Use 'auto', 'cpu', 'cuda', or 'cuda:1'."
            ) from error
    if not isinstance(dtype, str) or (dtype != "auto" and not isinstance(getattr(torch, dtype, None), torch.dtype)):
        raise ModelError(f"{dtype!r} is not a dtype of torch. Use 'auto', 'float32', 'bfloat16' or 'float16'.")
    logging.getLogger("transformers.integrations.hub_kernels").addFilter(_is_no_advice)
    options: dict[str, Any] = {"local_files_only": reason is not None, "trust_remote_code": False}
    try:
        with _without_loading_bars():
            tokenizer = AutoTokenizer.from_pretrained(folder or name, **options)
            model = AutoModelForCausalLM.from_pretrained(folder or name, device_map=device_map, dtype=dtype, **options)
    except Exception as error:  # what a damaged checkpoint raises is of any kind
        raise ModelError(_why_not_loaded(name, folder, reason, error)) from error
    model.train(mode=False)
    return HuggingFaceModel(model, tokenizer, name=name, cuda_graphs=cuda_graphs)


def _why_not_loaded(name: str, folder: str | None, reason: str | None, error: Exception) -> str:
    """Return what to say of a model that is there, or half there, and cannot be loaded."""
    said = re.split(r"\.\s+(?=[A-Z])", " ".join(str(error).split()), maxsplit=1)[0]  # the first sentence
    said = said.rstrip(".") or type(error).__name__
    if folder is not None:
        where = lacking(folder) or "The folder has the files of one."
    elif reason is not None:
        where = f"What is in the cache cannot be loaded, and {reason}."
    else:
        where = "The hub has it."
    return f"No model could be loaded from {shown(name)}. {where} transformers says: {said}. {WANTED}"


@contextmanager
def _without_loading_bars() -> Iterator[None]:
    """Keep transformers from drawing its bars; those of downloads are drawn by another library.

    The hook is one for the process, so models are loaded one after the other.
    """
    from transformers.utils import logging as transformers_logging

    def undrawn(make: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return make(*args, **{**options, "disable": True})

    with _loading:
        before = transformers_logging.set_tqdm_hook(undrawn)
        try:
            yield
        finally:
            transformers_logging.set_tqdm_hook(before)


_loading = RLock()


def _is_no_advice(record: logging.LogRecord) -> bool:
    """Tell a log record from the advice to install a CUDA kernel, which transformers gives even without a GPU."""
    import torch

    return torch.cuda.is_available() or "falling back to its reference" not in record.getMessage()


class HuggingFaceModel:
    """A loaded `transformers` model with its tokenizer; follows the `LanguageModel` protocol."""

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        name: str | None = None,
        cuda_graphs: bool = False,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.name = name or model.config.name_or_path or type(model).__name__
        text_config = model.config.get_text_config()
        self.context_length: int | None = getattr(text_config, "max_position_embeddings", None)
        self.has_chat_template = tokenizer.chat_template is not None
        self.vocabulary = _vocabulary(model, tokenizer, width=text_config.vocab_size)
        self._prompts = PromptEncoder(tokenizer)
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        """The names of the arguments of the model's forward pass."""
        is_on_host = model.device.type == "cpu"
        self.draws_on_device = not is_on_host
        """Whether tokens are drawn where the logits are, and not on the host."""
        self.pass_cost = CPU_PASS_COST if is_on_host else GPU_PASS_COST
        """What a forward pass costs beside its tokens: on a GPU, some hundred tokens more are hardly noticed."""
        self.make_recording: MakeRecording | None = self._graphs() if cuda_graphs else None
        """What records passes, if they are to be."""
        self._spare: Recordings | None = None
        self._prefixes: dict[tuple[int, ...], TextCache] = {}
        self._lock = RLock()  # texts may be collected, and give back what they borrowed, while it is held

    def __repr__(self) -> str:
        return f"HuggingFaceModel({self.name!r}, {self.vocabulary!r})"

    def _graphs(self) -> "MakeRecording":
        from structured.models.cuda_graphs import CudaGraph
        from structured.models.slot_cache import SlotCache

        if not self.has_slots or SlotCache(self.model, 0).pads_behind:
            raise ModelError(
                f"cuda_graphs is for models all layers of which attend to all that came before, and {self.name} has "
                "others, or another attention than 'sdpa' or 'eager'. Leave it out."
            )
        devices = set((getattr(self.model, "hf_device_map", None) or {"": self.model.device}).values())
        if self.model.device.type != "cuda" or len(devices) > 1:
            raise ModelError(
                f"cuda_graphs is for a model on one GPU, and {self.name} is on "
                f"{', '.join(sorted(map(str, devices)))}. Leave it out, or load the model with device_map='cuda:0'."
            )
        return CudaGraph

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, through the chat template if it is a list of messages.

        What the text spells stays text; see `PromptEncoder`. Raises PromptError, ModelError.
        """
        return self._prompts.encode(prompt)

    def most_guesses(self, texts: int) -> int:
        """Return how many tokens of each text may be guessed: as many as one pass costs, in all texts together."""
        return int(self.pass_cost) // texts if self.has_slots else 0

    def pays(self, guesses: Sequence[int], share: float) -> bool:
        """Tell whether it is worth the logits to guess so many tokens of each of some texts.

        Logits of a place are computed in all texts or none. A guess that is right, as a share of them was, saves one
        text a pass; one that is wrong was read in vain.
        """
        saved = share * sum(count > 0 for count in guesses) * self.pass_cost / len(guesses)
        places = max(guesses) * len(guesses) + PLACES_COST
        return saved > places * self.place_cost + (1 - share) * sum(guesses)

    @cached_property
    def place_cost(self) -> float:
        """What the logits of one more place cost, counted in tokens: the part that the last layer has in the work."""
        model = cast("Any", self.model)
        first, last = model.get_input_embeddings(), model.get_output_embeddings()
        tables = {id(table.weight): table.weight.numel() for table in (first, last) if table is not None}
        others = sum(weights.numel() for weights in model.parameters()) - sum(tables.values())
        return 0.0 if last is None else float(last.weight.numel() / max(others, 1))

    def begin(self, prompts: Sequence[Sequence[int]], *, shared: int = 0, guessed: int = 0) -> "HuggingFaceTexts":
        """Run the prompts through the model; what they share, once.

        Where layers stand no padding between that and the rest, prompts of one length go together, and join the others.
        """
        rows_by_length: dict[int, list[int]] = {}
        for row, prompt in enumerate(prompts):
            rows_by_length.setdefault(len(prompt), []).append(row)
        groups = list(rows_by_length.values())
        saved = shared * (len(prompts) - 1) - self.pass_cost * len(groups)
        if shared < MIN_SHARED or saved <= 0 or len(groups) == 1:
            return HuggingFaceTexts(self, prompts, shared=shared, guessed=guessed)
        prefix = self.prefix(tuple(prompts[0][: min(shared, min(rows_by_length) - 1)]))
        if prefix.is_ragged or not prefix.can_join:
            return HuggingFaceTexts(self, prompts, shared=shared, guessed=guessed)
        first, *others = (HuggingFaceTexts(self, [prompts[row] for row in rows], shared=shared) for rows in groups)
        for texts in others:
            first.join(texts)
        order = [row for rows in groups for row in rows]
        first.select([order.index(row) for row in range(len(prompts))])
        return first

    def cache(self, rows: int) -> TextCache:
        """Return a cache for that many texts, of which nothing has been read."""
        from structured.models.slot_cache import SlotCache

        return SlotCache(self.model, rows) if self.has_slots else PaddedCache(rows, self.accepts, self.model.device)

    @cached_property
    def has_slots(self) -> bool:
        """Whether texts can be kept in slots."""
        from structured.models.slot_cache import has_slots

        return has_slots(self.model, self.accepts)

    def prefix(self, token_ids: tuple[int, ...]) -> TextCache:
        """Return the cache of some tokens that many prompts begin with, one row, which nobody may change."""
        with self._lock:  # of several threads, one computes it
            known = self._prefixes.pop(token_ids, None)
            if known is None:
                known = HuggingFaceTexts(self, [token_ids], records=False).cache
            self._prefixes[token_ids] = known
            while len(self._prefixes) > 1 and sum(cache.nbytes for cache in self._prefixes.values()) > MAX_PREFIX_BYTES:
                del self._prefixes[next(iter(self._prefixes))]
            return known

    def borrow(self, rows: int, places: int) -> "Recordings | None":
        """Return slots of which passes are recorded, for so many texts of that length at first; None without.

        They are those that were used before, if they are free and not much too large.
        """
        from structured.models.cuda_graphs import Recordings
        from structured.models.slot_cache import SlotCache

        if self.make_recording is None:
            return None
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is None or not spare.suits(places):
            spare = Recordings(SlotCache(self.model, 0), make=self.make_recording)
        spare.cache.clear(rows)
        return spare

    def give_back(self, recordings: "Recordings") -> None:
        """Keep slots for the next texts; of several, those with the most recordings."""
        with self._lock:
            if self._spare is None or len(recordings) > len(self._spare):
                self._spare = recordings


class HuggingFaceTexts:
    """Texts of a `HuggingFaceModel`; follows the `Texts` protocol."""

    def __init__(
        self,
        model: HuggingFaceModel,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,
        guessed: int = 0,
        records: bool = True,
    ) -> None:
        self._model = model
        self._recordings = model.borrow(len(prompts), max(map(len, prompts))) if records else None
        if self._recordings is not None:
            self._giving_back = weakref.finalize(self, model.give_back, self._recordings)
            self._giving_back.atexit = False
        self.cache = model.cache(len(prompts)) if self._recordings is None else self._recordings.cache
        """What the model keeps of the texts."""
        with self._memory_errors():
            if shared >= MIN_SHARED:
                shared = min(shared, min(map(len, prompts)) - 1)
                prefix = model.prefix(tuple(prompts[0][:shared]))
                if prefix.is_ragged or len({len(prompt) for prompt in prompts}) == 1:
                    self.cache.become(prefix, len(prompts))
                    prompts = [prompt[shared:] for prompt in prompts]
            self._scores = self._forward(prompts, guessed)

    def logits(self, back: int = 0) -> NDArray[np.float32]:
        """Return the scores of the next token of each text, without its last `back` tokens, on the host."""
        import torch

        logits: NDArray[np.float32] = self._scores[:, -1 - back].to("cpu", torch.float32).numpy()
        return logits

    def scores(self, back: int = 0) -> "torch.Tensor | None":
        """Return the same on the device, if tokens are to be drawn there."""
        return self._scores[:, -1 - back] if self._model.draws_on_device else None

    @property
    def is_ragged(self) -> bool:
        """Whether each text may be given another number of tokens."""
        return self.cache.is_ragged

    @property
    def pass_cost(self) -> float:
        """What a forward pass costs beside its tokens, counted in tokens."""
        return self._model.pass_cost

    @property
    def can_join(self) -> bool:
        """Whether other texts may join these."""
        return self.cache.can_join

    def append(self, token_ids: Sequence[Sequence[int] | None], *, guessed: int = 0) -> None:
        """Append tokens to each text; None drops the text and its cache. Raises OutOfMemoryError."""
        kept = [row for row, new in enumerate(token_ids) if new is not None]
        if not kept:
            self.select([])
        else:
            with self._memory_errors():
                if len(kept) < len(token_ids):
                    self.cache.select(kept)
                self._scores = self._forward([new for new in token_ids if new is not None], guessed)

    def take_back(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text."""
        self.cache.take_back(counts)

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; one that is named twice goes on as two. Raises OutOfMemoryError."""
        with self._memory_errors():
            self._scores = self._scores[list(rows)]
            if rows:
                self.cache.select(rows)

    def join(self, others: "HuggingFaceTexts") -> None:
        """Take over the texts of another batch. Raises OutOfMemoryError."""
        import torch

        with self._memory_errors():
            self.cache.join(others.cache)
            scores = [self._scores, others._scores]  # noqa: SLF001  of the same class
            places = max(one.shape[1] for one in scores)
            self._scores = torch.cat([torch.nn.functional.pad(one, (0, 0, places - one.shape[1], 0)) for one in scores])

    def _forward(self, token_ids: Sequence[Sequence[int]], guessed: int = 0) -> "torch.Tensor":
        """Run the new tokens of each text, and return the logits after the last of each, and before those guessed.

        The shape is (texts, places, width), the last place being that after all tokens.
        """
        import torch

        if self._recordings is not None and self._recordings.cache.lengths[0]:
            recorded = self._recordings.read(token_ids, guessed + 1)
            if recorded is not None:
                return recorded
        arguments = {**self.cache.before(token_ids, guessed), "use_cache": True}
        columns = arguments["input_ids"].shape[1]
        ends = [len(new) - 1 if self.cache.pads_behind else columns - 1 for new in token_ids]
        places = [[max(end - back, 0) for back in range(min(guessed, columns - 1), -1, -1)] for end in ends]
        wanted = sorted({column for row in places for column in row})
        if "logits_to_keep" in self._model.accepts:
            is_end = wanted[0] == columns - len(wanted)
            # On whatever device the last layer is, it may be indexed from the host.
            arguments["logits_to_keep"] = len(wanted) if is_end else torch.tensor(wanted)
        with torch.inference_mode():
            output = self._model.model(**arguments)
        self.cache.after(output.past_key_values)
        logits = output.logits if "logits_to_keep" in arguments else output.logits[:, wanted]
        if any(row != wanted for row in places):
            chosen = torch.tensor([[wanted.index(column) for column in row] for row in places], device=logits.device)
            logits = logits[torch.arange(len(places), device=logits.device)[:, None], chosen]
        return cast("torch.Tensor", logits)

    @contextmanager
    def _memory_errors(self) -> Iterator[None]:
        """Say in the library's own words that a device has no memory left, and let go of what was borrowed."""
        import torch

        try:
            yield
        except torch.OutOfMemoryError as error:
            if self._recordings is not None:
                self._giving_back.detach()
            raise OutOfMemoryError(
                "The device has no memory left for one text. Shorten the document, lower max_tokens, or use another "
                "model."
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
