"""GGUF files by llama.cpp: quantised as they are, with its own forward pass and key-value cache.

A text is a numbered sequence of the cache. Sequences share the memory of common tokens, so that a copy costs nothing,
and the last tokens of a sequence can be forgotten. All sequences together have a fixed number of places. llama.cpp and
its bindings for Python, the package llama-cpp-python, are imported when a model is loaded, never before.
"""

import ctypes
import logging
import os
import tempfile
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, OutOfMemoryError
from structured.models.adapters import Heads, gguf_adapter, read_adapter, write_gguf_adapter
from structured.models.cpu_threads import default_threads
from structured.models.llama_tokenizer import Llama, LlamaTokenizer, metadata
from structured.models.protocol import MIN_SHARED, DecodingBatch, LanguageModel, Messages

Int32: TypeAlias = NDArray[np.int32]
Float32: TypeAlias = NDArray[np.float32]

MAX_SEQUENCES = 72
"""Sequences in the cache at once, prefixes included."""

MAX_PREFIXES = 32
"""Prefixes that are kept for later prompts; they fill at most half of the cache."""

TOKENS_AT_ONCE = 512
"""Tokens of a call to llama.cpp, unless the context has fewer."""

SHORT_CONTEXT = 2048
"""The largest context whose cache is in BF16, on processors that multiply that: attention to it is four times as fast
for a few tokens as to F16, and slower for the hundreds of a long prompt."""

F16, BF16 = 1, 30
"""Types of ggml."""

NO_ROOM, NO_MEMORY = 1, -2
"""The codes of `llama_decode` for a full cache, and for a failed allocation."""


class LlamaContext:
    """A context over the weights of a loaded `llama_cpp.Llama`, beside its own. Several threads may use it."""

    def __init__(
        self, llama: Llama, *, name: str, tokens: int, on_gpu: bool, adapters: Sequence[tuple[Any, float]] = ()
    ) -> None:
        """Reserve memory for that many tokens, and add adapters by their factors. Raises ModelError."""
        self._library: Any = import_module("llama_cpp")
        self._llama = llama
        self.name = name
        self.tokens = tokens
        params = type(llama.context_params).from_buffer_copy(llama.context_params)
        params.n_ctx, params.n_seq_max, params.kv_unified, params.embeddings = tokens, MAX_SEQUENCES, True, False
        params.n_batch = params.n_ubatch = TOKENS_AT_ONCE
        self.has_bf16_cache = (
            tokens <= SHORT_CONTEXT
            and (params.type_k, params.type_v) == (F16, F16)
            and params.flash_attn_type == self._library.LLAMA_FLASH_ATTN_TYPE_AUTO
            and not on_gpu
            and b"AVX512_BF16 = 1" in self._library.llama_print_system_info()
        )
        """Whether the cache is in BF16, so that some tokens more in a pass cost little."""
        if self.has_bf16_cache:
            params.type_k = params.type_v = BF16
        self._context = self._library.llama_init_from_model(llama.model, params)
        if not self._context:
            problem = f"llama.cpp cannot make room for {tokens:,} tokens of {name}"
            raise ModelError(f"{problem}. Lower context_length, or gpu_layers.")
        free = self._library.llama_free
        weakref.finalize(self, lambda context: free(context) if llama.model else None, self._context)
        pointers = (self._library.llama_adapter_lora_p_ctypes * len(adapters))(*(pointer for pointer, _ in adapters))
        factors = (ctypes.c_float * len(adapters))(*(factor for _, factor in adapters))
        if self._library.llama_set_adapters_lora(self._context, pointers, len(adapters), factors):
            raise ModelError(f"llama.cpp cannot set the adapters of {name}.")
        self._memory = self._library.llama_get_memory(self._context)
        self.tokens_at_once: int = self._library.llama_n_batch(self._context)
        """The maximum of tokens in a call to llama.cpp, which more would end the process."""
        self.width: int = self._library.llama_vocab_n_tokens(self._library.llama_model_get_vocab(llama.model))
        """The number of logits."""
        self._free = list(range(MAX_SEQUENCES))
        self.abandoned_sequences: deque[list[int]] = deque()
        """Sequences to forget, to which the garbage collector may add at any time."""
        self._prefixes: dict[tuple[int, ...], int] = {}
        """The sequences of prefixes, the last used at the end."""
        self._lock = RLock()

    def set_threads(self, count: int) -> None:
        """Compute the following passes with so many threads."""
        with self._lock:
            self._library.llama_set_n_threads(self._context, count, count)

    def begin(self, count: int, prefix: Sequence[int] = ()) -> list[int]:
        """Return new sequences, which begin with a prefix that is kept for others. Raises OutOfMemoryError."""
        with self._lock:
            sequences = self._take(count)
            if prefix:
                try:
                    prefix_sequence = self._prefix(tuple(prefix))
                except BaseException:  # Ctrl-C, too
                    self.release(sequences)
                    raise
                for sequence in sequences:
                    self._library.llama_memory_seq_cp(self._memory, prefix_sequence, sequence, -1, -1)
            return sequences

    def copies(self, sequences: Sequence[int]) -> list[int]:
        """Return new sequences with the tokens of others. Raises OutOfMemoryError."""
        with self._lock:
            copies = self._take(len(sequences))
            for sequence, new in zip(sequences, copies, strict=True):
                self._library.llama_memory_seq_cp(self._memory, sequence, new, -1, -1)
            return copies

    def shorten(self, sequence: int, length: int) -> None:
        """Forget all but the first tokens of a sequence."""
        with self._lock:
            if not self._library.llama_memory_seq_rm(self._memory, sequence, length, -1):
                raise ModelError(f"llama.cpp cannot forget the last tokens of a text with {self.name}.")

    def release(self, sequences: Iterable[int]) -> None:
        """Forget sequences; others get their numbers."""
        with self._lock:
            for sequence in sequences:
                self._library.llama_memory_seq_rm(self._memory, sequence, -1, -1)
                self._free.append(sequence)

    def read(
        self, sequences: Sequence[int], lengths: Sequence[int], token_ids: Sequence[Sequence[int]], window: int = 0
    ) -> Float32:
        """Append new tokens to sequences of some lengths.

        Return the logits after them, and before each token of the window, shape (sequences, window + 1, width); those
        before the new tokens are 0. After an OutOfMemoryError, some of the tokens may have been appended.
        """
        counts = np.array([len(new) for new in token_ids])
        rows = np.repeat(np.arange(len(counts)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        tokens = np.concatenate([np.asarray(new, dtype=np.int32) for new in token_ids])
        positions = (np.asarray(lengths)[rows] + offsets).astype(np.int32)
        sequence_ids = np.asarray(sequences, dtype=np.int32)[rows]
        places = window - (counts[rows] - 1 - offsets)  # in the window, or negative
        logits = np.zeros((len(counts), window + 1, self.width), dtype=np.float32)
        with self._lock:
            for first in range(0, len(rows), self.tokens_at_once):
                part = slice(first, first + self.tokens_at_once)
                scored = places[part] >= 0
                scores = self._decode(tokens[part], positions[part], sequence_ids[part], scored)
                logits[rows[part][scored], places[part][scored]] = scores
        return logits

    def _decode(self, tokens: Int32, positions: Int32, sequences: Int32, scored: NDArray[np.bool_]) -> Float32:
        """Run some tokens, and return the logits after those to score, which the next call overwrites."""
        if not self._llama.model:
            raise ModelError(f"{self.name} was closed. Load it again.")
        self._release_abandoned_sequences()
        ones, flags = np.ones(len(tokens), dtype=np.int32), scored.astype(np.int8)
        lists = sequences.ctypes.data + sequences.itemsize * np.arange(len(tokens), dtype=np.uintp)
        integers = ctypes.POINTER(ctypes.c_int32)
        batch = self._library.llama_batch(
            n_tokens=len(tokens),
            token=tokens.ctypes.data_as(integers),
            pos=positions.ctypes.data_as(integers),
            n_seq_id=ones.ctypes.data_as(integers),
            seq_id=lists.ctypes.data_as(ctypes.POINTER(integers)),
            logits=flags.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )
        code = self._library.llama_decode(self._context, batch)
        if code == NO_ROOM and self._prefixes:
            self.release(self._prefixes.values())
            self._prefixes.clear()
            code = self._library.llama_decode(self._context, batch)
        if code in {NO_ROOM, NO_MEMORY}:
            problem = f"{self.name} has no room for all texts: its context is {self.tokens:,} tokens"
            raise OutOfMemoryError(f"{problem}. Raise context_length, shorten the document, or lower max_tokens.")
        if code:
            raise ModelError(f"llama.cpp could not run {self.name}: llama_decode returned {code}.")
        if not scored.any():
            return np.zeros((0, self.width), dtype=np.float32)
        scores = self._library.llama_get_logits(self._context)
        return np.ctypeslib.as_array(scores, (int(scored.sum()), self.width))

    def _take(self, count: int) -> list[int]:
        """Return the numbers of empty sequences; prefixes are dropped if there are too few."""
        self._release_abandoned_sequences()
        while len(self._free) < count and self._prefixes:
            self._drop_prefix()
        if len(self._free) < count:
            raise OutOfMemoryError(f"A context of llama.cpp has at most {MAX_SEQUENCES} texts. Lower batch_size.")
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def _prefix(self, token_ids: tuple[int, ...]) -> int:
        prefix = self._prefixes.pop(token_ids, None)
        if prefix is None:
            room = self.tokens // 2 - len(token_ids)
            while len(self._prefixes) >= MAX_PREFIXES or (self._prefixes and sum(map(len, self._prefixes)) > room):
                self._drop_prefix()
            [prefix] = self._take(1)
            try:
                self.read([prefix], [0], [token_ids])
            except BaseException:  # Ctrl-C, too
                self.release([prefix])
                raise
        self._prefixes[token_ids] = prefix
        return prefix

    def _release_abandoned_sequences(self) -> None:
        while self.abandoned_sequences:
            self.release(self.abandoned_sequences.popleft())

    def _drop_prefix(self) -> None:
        self.release([self._prefixes.pop(next(iter(self._prefixes)))])


CPU_PASS_COST, BF16_PASS_COST, GPU_PASS_COST = 1.0, 8.0, 64.0
"""Tokens that take as long as the fixed part of a pass, roughly: on a CPU 0.6, measured; with a cache of BF16, where
answers were quickest; on a GPU a guess."""


def is_installed() -> bool:
    """Tell whether the package llama-cpp-python is installed."""
    return find_spec("llama_cpp") is not None


def load_gguf(
    path: str, *, name: str, gpu_layers: int | None, context_length: int | None, adapter: Path | None = None
) -> "LlamaCppModel":
    """Load a GGUF file, and an adapter, with the options of `load_model`. Raises ModelError, VocabularyError."""
    try:
        library: Any = import_module("llama_cpp")
    except (ImportError, OSError, RuntimeError) as error:  # as where it was built for another processor
        raise ModelError(
            f"The package llama-cpp-python is installed and cannot be imported, so llama.cpp cannot run {path!r}: "
            f"{str(error).rstrip('.')}. Install it again (pip install --force-reinstall llama-cpp-python), or pass "
            "dtype='float32' for transformers to load the file, with the package gguf (pip install gguf)."
        ) from error
    weights = Weights(path, gpu_layers)
    trained = library.llama_model_n_ctx_train(weights.model)
    if context_length is not None and not 1 <= context_length <= trained:
        raise ModelError(f"context_length is {context_length:,}, and {name} was trained for 1 to {trained:,} tokens.")
    tokens = context_length or min(trained, 8192)  # a gigabyte for a model with 8 billion parameters
    model = LlamaCppModel(weights, name=name, context_length=tokens, adapter=adapter)
    model.threads = default_threads(library.llama_model_n_params(weights.model))
    return model


class Weights:
    """The weights of a GGUF file, as `Llama` has them; `llama_cpp.Llama` itself would make a context and a chat format.

    With AMX, llama.cpp crashes on some processors at the first pass (its issue 20824), and a crash cannot be caught:
    where it was built with AMX, it keeps the weights as they are in the file.
    """

    def __init__(self, path: str, gpu_layers: int | None) -> None:
        """Load a file. Raises ModelError."""
        library: Any = import_module("llama_cpp")
        logger = logging.getLogger("llama-cpp-python")
        if logger.level == logging.NOTSET:  # it prints everything that llama.cpp logs
            logger.setLevel(logging.ERROR)
        library.llama_backend_init()
        self.model_path = path
        self.model_params = library.llama_model_default_params()
        on_gpu = library.llama_supports_gpu_offload()
        all_layers = 0x7FFFFFFF if on_gpu else 0  # more than any model has
        self.model_params.n_gpu_layers = all_layers if gpu_layers in {None, -1} else gpu_layers
        self.model_params.use_extra_bufts = b"AMX_INT8 = 1" not in library.llama_print_system_info()
        self.context_params = library.llama_context_default_params()
        self.model = library.llama_model_load_from_file(os.fsencode(path), self.model_params)
        if not self.model:
            problem = f"llama.cpp cannot load {path!r}: the file is damaged, or unsupported by this version"
            raise ModelError(f"{problem}. Download it again, or upgrade llama-cpp-python.")
        weakref.finalize(self, library.llama_model_free, self.model)


def load_adapter(llama: Llama, path: Path, name: str) -> Any:
    """Load an adapter, and return the pointer to it, which is freed with the weights. Raises ModelError."""
    library: Any = import_module("llama_cpp")
    architecture = metadata(llama, "general.architecture")
    if path.is_dir():
        heads = Heads(library.llama_model_n_head(llama.model), library.llama_model_n_head_kv(llama.model))
        products = read_adapter(path, model_type=architecture or "", heads=heads)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "adapter.gguf"
            write_gguf_adapter(file, products, architecture=architecture or "", heads=heads, dtype=np.float32)
            pointer = library.llama_adapter_lora_init(llama.model, os.fsencode(file))
    else:
        other = gguf_adapter(path).metadata["general.architecture"]
        if other != architecture:
            raise ModelError(
                f"{str(path)!r} is for models of the architecture {other!r}, and {name} is {architecture!r}."
            )
        pointer = library.llama_adapter_lora_init(llama.model, os.fsencode(path))
    if not pointer:
        raise ModelError(
            f"llama.cpp cannot add the adapter {str(path)!r} to {name}: one of its matrices is missing there, or has "
            "another shape. Use the model that it was trained on."
        )
    return pointer


class LlamaCppModel(LanguageModel):
    """A loaded `llama_cpp.Llama`: its weights and its adapter, with a second context beside its own."""

    can_read_on = True
    takes_threads = True

    def __init__(
        self, llama: Llama, *, name: str | None = None, context_length: int | None = None, adapter: Path | None = None
    ) -> None:
        """Wrap a model, with a context of that length, by default its own. Raises ModelError, VocabularyError."""
        library: Any = import_module("llama_cpp")
        self.llama = llama
        self.name = name or llama.model_path
        if not library.llama_model_has_decoder(llama.model) or library.llama_model_has_encoder(llama.model):
            raise ModelError(f"{self.name} is not a causal language model. Use one that generates text.")
        self._tokenizer = LlamaTokenizer(llama, self.name)
        self.vocabulary = self._tokenizer.vocabulary
        self.has_chat_template = self._tokenizer.has_chat_template
        self.context_length = context_length or int(llama.context_params.n_ctx)
        adapters = [] if adapter is None else [(load_adapter(llama, adapter, self.name), 1.0)]
        if own := getattr(llama, "lora_path", None):
            adapters.append((load_adapter(llama, Path(own), self.name), getattr(llama, "lora_scale", 1.0)))
        on_gpu = library.llama_supports_gpu_offload() and llama.model_params.n_gpu_layers > 0
        self.context = LlamaContext(llama, name=self.name, tokens=self.context_length, on_gpu=on_gpu, adapters=adapters)
        is_recurrent = library.llama_model_is_recurrent(llama.model) or library.llama_model_is_hybrid(llama.model)
        slides = library.llama_model_n_swa(llama.model) > 0 and not llama.context_params.swa_full
        self.can_roll_back = not is_recurrent and not slides
        self.pass_cost = GPU_PASS_COST if on_gpu else BF16_PASS_COST if self.context.has_bf16_cache else CPU_PASS_COST
        last_layer = self.context.width * library.llama_model_n_embd(llama.model)
        self.logits_cost = last_layer / max(library.llama_model_n_params(llama.model) - last_layer, 1)

    def __repr__(self) -> str:
        return f"LlamaCppModel({self.name!r}, {self.vocabulary!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt; see `LlamaTokenizer`. Raises PromptError, ModelError."""
        return self._tokenizer.encode(prompt)

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> "tuple[LlamaCppBatch, Float32]":
        """Run the prompts through the model, their shared beginning once."""
        shared = min(shared, min(map(len, prompts)) - 1 - window)
        prefix = prompts[0][:shared] if shared >= MIN_SHARED else []
        if self.threads is not None:
            self.context.set_threads(self.threads)
        batch = LlamaCppBatch(self.context, len(prompts), prefix)
        return batch, batch.forward([prompt[len(prefix) :] for prompt in prompts], window=window)


class LlamaCppBatch(DecodingBatch):
    """Texts of a `LlamaCppModel`: sequences of its context."""

    is_ragged = True
    can_join = True

    def __init__(self, context: LlamaContext, rows: int, prefix: Sequence[int]) -> None:
        """Begin texts with some tokens. Raises OutOfMemoryError."""
        self._context = context
        self.sequences = context.begin(rows, prefix)
        """The number of each text in the context; the list is only changed in place."""
        self.lengths = [len(prefix)] * rows
        """The tokens of each text that have been read."""
        weakref.finalize(self, context.abandoned_sequences.append, self.sequences).atexit = False

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Float32:
        """Append tokens to each text, and return the logits after them. Empty after an OutOfMemoryError."""
        try:
            logits = self._context.read(self.sequences, self.lengths, token_ids, window)
        except OutOfMemoryError:
            self.select([])
            raise
        self.lengths = [length + len(new) for length, new in zip(self.lengths, token_ids, strict=True)]
        return logits if window else logits[:, 0]

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice is duplicated. Raises OutOfMemoryError."""
        self._context.release(self.sequences[row] for row in set(range(len(self.sequences))) - set(rows))
        kept = {row: self.sequences[row] for row in rows}
        self.sequences[:] = kept.values()
        is_again = [row in rows[:at] for at, row in enumerate(rows)]
        copies = iter(self._context.copies([kept[row] for row, again in zip(rows, is_again, strict=True) if again]))
        self.sequences[:] = [next(copies) if again else kept[row] for row, again in zip(rows, is_again, strict=True)]
        self.lengths = [self.lengths[row] for row in rows]

    def join(self, other: Self) -> None:
        """Append the texts of another batch."""
        self.sequences += other.sequences
        self.lengths += other.lengths
        other.sequences.clear()

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text, this many."""
        self.lengths = [length - count for length, count in zip(self.lengths, counts, strict=True)]
        for sequence, length, count in zip(self.sequences, self.lengths, counts, strict=True):
            if count:
                self._context.shorten(sequence, length)
