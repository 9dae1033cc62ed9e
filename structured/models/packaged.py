"""The packaged model, run by NumPy: neither torch nor transformers is imported for it."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Self

from structured.models.lfm2 import Cache, Floats, Lfm2
from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import MIN_SHARED, DecodingBatch, LanguageModel, Messages
from structured.vocabulary import Vocabulary

MAX_PREFIXES = 8
"""Prefixes whose caches are kept."""


class PackagedModel(LanguageModel):
    """A checkpoint of LFM2 in a folder, small enough for NumPy."""

    has_chat_template = False
    can_roll_back = True
    can_read_on = True
    pass_cost = 16.0

    def __init__(self, folder: Path, *, name: str) -> None:
        self.name = name
        self._folder = folder
        self.network = Lfm2(folder)
        self.context_length = self.network.context_length
        self.logits_cost = self.network.logits_cost
        tokenizer = _Tokenizer(folder)
        self.vocabulary = Vocabulary.from_transformers(tokenizer)
        self._prompts = PromptEncoder(tokenizer)
        self._prefixes: dict[tuple[int, ...], Cache] = {}
        """The caches of prefixes, the last used at the end."""
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"PackagedModel({self.name!r}, {self.vocabulary!r})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy the folder that it is loaded from."""
        return partial(PackagedModel, name=self.name), (self._folder,)

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a plain text, in which nothing is a control token."""
        return self._prompts.encode(prompt) if isinstance(prompt, str) else super().encode(prompt)

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> "tuple[PackagedBatch, Floats]":
        """Read the prompts, their shared beginning once."""
        shared = min(shared, min(map(len, prompts)) - 1 - window)
        if shared >= MIN_SHARED:
            cache = self._prefix(tuple(prompts[0][:shared])).copies(len(prompts))
            prompts = [prompt[shared:] for prompt in prompts]
        else:
            cache = Cache(self.network, len(prompts))
        batch = PackagedBatch(self.network, cache)
        return batch, batch.forward(prompts, window=window)

    def _prefix(self, token_ids: tuple[int, ...]) -> Cache:
        """Return the cache of a prefix: a single text, which must not be changed."""
        with self._lock:
            prefix = self._prefixes.pop(token_ids, None)
            if prefix is None:
                prefix = Cache(self.network, 1)
                self.network.read(prefix, [token_ids])
            self._prefixes[token_ids] = prefix
            while len(self._prefixes) > MAX_PREFIXES:
                del self._prefixes[next(iter(self._prefixes))]
            return prefix


class PackagedBatch(DecodingBatch):
    """Texts of the packaged model."""

    is_ragged = True
    can_join = True

    def __init__(self, network: Lfm2, cache: Cache) -> None:
        self._network = network
        self._cache = cache

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Floats:
        """Append tokens to each text, and return the logits after them."""
        logits = self._network.read(self._cache, token_ids, window)
        return logits if window else logits[:, 0]

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice is duplicated."""
        self._cache.select(rows)

    def join(self, other: Self) -> None:
        """Append the texts of another batch."""
        self._cache.join(other._cache)

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text, this many."""
        self._cache.lengths = self._cache.lengths - counts


class _Tokenizer:
    """The tokenizer of a folder, with the members of a tokenizer of transformers that are read."""

    chat_template = None

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        self.backend_tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.eos_token_id: int | None = self.backend_tokenizer.token_to_id(config["eos_token"])
        self.all_special_ids = [] if self.eos_token_id is None else [self.eos_token_id]

    def __call__(self, text: str, *, add_special_tokens: bool, verbose: bool) -> dict[str, list[int]]:  # noqa: ARG002
        return {"input_ids": self.backend_tokenizer.encode(text, add_special_tokens=add_special_tokens).ids}
