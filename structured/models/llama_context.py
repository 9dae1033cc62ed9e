"""A context of llama.cpp: the forward pass over texts, and their key-value cache.

A text is a numbered sequence of the cache. Sequences share the memory of common tokens, so that a copy costs nothing,
and the last tokens of a sequence can be forgotten. All sequences together have a fixed number of tokens: llama.cpp
reserves their memory when the context is made.
"""

import ctypes
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from importlib import import_module
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, OutOfMemoryError
from structured.models.llama_tokenizer import Llama

MAX_SEQUENCES = 72
"""Sequences in the cache at once, prefixes included."""

MAX_PREFIXES = 8
"""Prefixes that are kept for later prompts."""

TOKENS_AT_ONCE = 512
"""Tokens of a call to llama.cpp, unless the context has fewer."""

NO_ROOM, NO_MEMORY = 1, -2
"""The codes of `llama_decode` for a full cache, and for a failed allocation."""


class LlamaContext:
    """A context over the weights of a loaded `llama_cpp.Llama`, beside its own. Several threads may use it."""

    def __init__(self, llama: Llama, *, name: str, tokens: int, adapters: Sequence[tuple[Any, float]] = ()) -> None:
        """Reserve memory for that many tokens, and add adapters by their factors. Raises ModelError."""
        self._library: Any = import_module("llama_cpp")
        self._llama = llama
        self.name = name
        self.tokens = tokens
        params = type(llama.context_params).from_buffer_copy(llama.context_params)
        params.n_ctx, params.n_seq_max, params.kv_unified, params.embeddings = tokens, MAX_SEQUENCES, True, False
        params.n_batch = params.n_ubatch = TOKENS_AT_ONCE
        self._context = self._library.llama_init_from_model(llama.model, params)
        if not self._context:
            raise ModelError(
                f"llama.cpp cannot make room for {tokens:,} tokens of {name}. Lower context_length, or gpu_layers."
            )
        weakref.finalize(self, _free_context, llama, self._context)
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
        self._abandoned: deque[list[int]] = deque()
        self._prefixes: dict[tuple[int, ...], int] = {}
        """The sequences of prefixes, the last used at the end."""
        self._lock = RLock()

    def begin(self, count: int, prefix: Sequence[int] = ()) -> list[int]:
        """Return new sequences, which begin with a prefix that is kept for others. Raises OutOfMemoryError."""
        with self._lock:
            sequences = self._take(count)
            if prefix:
                try:
                    source = self._prefix(tuple(prefix))
                except OutOfMemoryError:
                    self.release(sequences)
                    raise
                for sequence in sequences:
                    self._library.llama_memory_seq_cp(self._memory, source, sequence, -1, -1)
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

    def abandon(self, sequences: list[int]) -> None:
        """Forget sequences later: the garbage collector may call this at any time."""
        self._abandoned.append(sequences)

    def read(
        self, sequences: Sequence[int], lengths: Sequence[int], token_ids: Sequence[Sequence[int]], window: int = 0
    ) -> NDArray[np.float32]:
        """Append new tokens to sequences of some lengths.

        Return the logits after them, and before each token of the window, shape (sequences, window + 1, width); those
        before the new tokens are 0. After an OutOfMemoryError, some of the tokens may have been appended.
        """
        counts = np.array([len(new) for new in token_ids])
        rows = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        tokens = np.concatenate([np.asarray(new, dtype=np.int32) for new in token_ids])
        positions = (np.asarray(lengths)[rows] + within).astype(np.int32)
        numbers = np.asarray(sequences, dtype=np.int32)[rows]
        places = window - (counts[rows] - 1 - within)  # in the window, or negative
        logits = np.zeros((len(counts), window + 1, self.width), dtype=np.float32)
        with self._lock:
            for first in range(0, len(rows), self.tokens_at_once):
                part = slice(first, first + self.tokens_at_once)
                scored = places[part] >= 0
                scores = self._decode(tokens[part], positions[part], numbers[part], scored)
                logits[rows[part][scored], places[part][scored]] = scores
        return logits

    def _decode(
        self,
        tokens: NDArray[np.int32],
        positions: NDArray[np.int32],
        sequences: NDArray[np.int32],
        scored: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        """Run some tokens, and return the logits after those to score, which the next call overwrites."""
        if not self._llama.model:
            raise ModelError(f"{self.name} was closed. Load it again.")
        self._release_abandoned()
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
            raise OutOfMemoryError(
                f"{self.name} has no room for all texts: its context is {self.tokens:,} tokens. Raise context_length, "
                "shorten the document, or lower max_tokens."
            )
        if code:
            raise ModelError(f"llama.cpp could not run {self.name}: llama_decode returned {code}.")
        if not scored.any():
            return np.zeros((0, self.width), dtype=np.float32)
        scores = self._library.llama_get_logits(self._context)
        return np.ctypeslib.as_array(scores, (int(scored.sum()), self.width))

    def _take(self, count: int) -> list[int]:
        """Return the numbers of empty sequences; prefixes are dropped if there are too few."""
        self._release_abandoned()
        while len(self._free) < count and self._prefixes:
            self._drop_prefix()
        if len(self._free) < count:
            raise OutOfMemoryError(f"A context of llama.cpp has at most {MAX_SEQUENCES} texts. Lower batch_size.")
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def _prefix(self, token_ids: tuple[int, ...]) -> int:
        """Return the sequence of a prefix."""
        prefix = self._prefixes.pop(token_ids, None)
        if prefix is None:
            while len(self._prefixes) >= MAX_PREFIXES:
                self._drop_prefix()
            [prefix] = self._take(1)
            try:
                self.read([prefix], [0], [token_ids])
            except OutOfMemoryError:
                self.release([prefix])
                raise
        self._prefixes[token_ids] = prefix
        return prefix

    def _release_abandoned(self) -> None:
        while self._abandoned:
            self.release(self._abandoned.popleft())

    def _drop_prefix(self) -> None:
        self.release([self._prefixes.pop(next(iter(self._prefixes)))])


def _free_context(llama: Llama, context: Any) -> None:
    """Free a context, if its weights still exist."""
    if llama.model:
        import_module("llama_cpp").llama_free(context)
