"""LFM2 in NumPy: short convolutions and attention, over texts of any lengths side by side, and the packaged model.

The packaged model has this architecture (Liquid AI, "LFM2 Technical Report", 2025). It is so small that importing torch
takes longer than a hundred of its answers, so neither torch nor transformers is imported for it. The results are those
of `Lfm2ForCausalLM` of transformers in single precision.

The tokens of all texts form one column, without padding, each with its text and its place there. Every layer keeps the
values of each token, convolutions too: lowering the length of a text forgets its last tokens.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import MIN_SHARED, DecodingBatch, LanguageModel, Messages
from structured.vocabulary import Vocabulary

Floats = NDArray[np.float32]

WEIGHTS = "model.safetensors"
"""The file of the weights, beside `config.json`."""

MAX_PREFIXES = 8
"""Prefixes whose caches are kept."""

MAX_TOGETHER = 16
"""New tokens of each text up to which those of several attend at once; with more, padding takes more than it saves."""


Layer: TypeAlias = Mapping[str, Floats]
"""The weights of a layer by their names in the checkpoint; matrices transposed, kernels of shape (size, hidden)."""

KERNEL = "conv.conv"
"""The kernel of a layer's convolution, with the row of the token itself last; layers without one attend."""


class Column(NamedTuple):
    """The texts and places of new tokens."""

    rows: NDArray[np.intp]
    """The text of each token."""
    places: NDArray[np.intp]
    """The place of each token in its text."""
    starts: NDArray[np.intp]
    """The first token of each text, and the end of the last text."""

    @classmethod
    def of(cls, counts: Sequence[int], lengths: NDArray[np.intp]) -> Self:
        """Return the column of new tokens, `counts` of each text, behind the `lengths` before."""
        rows = np.repeat(np.arange(len(counts)), counts)
        starts = np.cumsum([0, *counts])
        return cls(rows, np.arange(len(rows)) - np.repeat(starts[:-1] - lengths, counts), starts)


class Lfm2:
    """The network of a checkpoint."""

    def __init__(self, folder: Path) -> None:
        """Read `config.json` and the weights. Raises KeyError, OSError, ValueError for another model than LFM2."""
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = dict(_tensors(folder / WEIGHTS))
        self.context_length = int(config["max_position_embeddings"])
        self.heads = int(config["num_attention_heads"])
        self.epsilon = np.float32(config["norm_eps"])
        self.embedding = weights["model.embed_tokens.weight"]
        """Shape (tokens, hidden)."""
        self.last_norm = weights["model.embedding_norm.weight"]
        self.layers = [_layer(weights, number) for number in range(len(config["layer_types"]))]
        self.margin = max(len(layer[KERNEL]) for layer in self.layers if KERNEL in layer) - 1
        """Zeros before the tokens of a text, for convolutions."""
        self.logits_weights = np.ascontiguousarray(weights.get("lm_head.weight", self.embedding).T)
        """Shape (hidden, tokens); the embedding where the two are tied."""
        width = self.embedding.shape[1] // self.heads
        frequencies = float(config["rope_parameters"]["rope_theta"]) ** (-np.arange(0, width, 2) / width)
        angles = np.outer(np.arange(self.context_length), frequencies)
        self.cosines, self.sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        """Of the rotation at each place, shape (places, width / 2)."""

    @property
    def logits_cost(self) -> float:
        """The cost of the logits of one more place, in tokens."""
        return self.embedding.size / sum(weights.size for layer in self.layers for weights in layer.values())

    def read(self, batch: "Lfm2Batch", token_ids: Sequence[Sequence[int]], window: int = 0) -> Floats:
        """Append tokens to each text, and return the logits after them, and before each token of the window.

        The shape is (texts, window + 1, tokens); the last place is after all tokens.
        """
        counts = [len(new) for new in token_ids]
        column = Column.of(counts, batch.lengths)
        if column.places.max() >= self.context_length:
            raise ValueError(f"A text is longer than the {self.context_length:,} tokens of the context.")
        batch.grow(counts)
        states = self.embedding[np.concatenate([np.asarray(new, dtype=np.intp) for new in token_ids])]
        for layer, kept in zip(self.layers, batch.layers, strict=True):
            normed = self._normed(states, layer["operator_norm"])
            if KERNEL in layer:
                states = states + _convolved(layer, normed, kept, column)
            else:
                states = states + self._attended(layer, normed, kept, column)
            states = states + _fed(layer, self._normed(states, layer["ffn_norm"]))
        batch.lengths = batch.lengths + np.asarray(counts)
        places = np.maximum(column.starts[1:, None] - 1 - np.arange(window, -1, -1), column.starts[:-1, None])
        logits: Floats = self._normed(states[places], self.last_norm) @ self.logits_weights
        return logits

    def _normed(self, states: Floats, weight: Floats) -> Floats:
        """Divide states by their root mean square."""
        squares = np.einsum("...i,...i->...", states, states)[..., None]
        normed: Floats = states * (weight / np.sqrt(squares / np.float32(states.shape[-1]) + self.epsilon))
        return normed

    def _attended(self, layer: Layer, states: Floats, kept: list[Floats], column: Column) -> Floats:
        """Attend from each token to those before it in its text, and keep its keys and values."""
        rows, places, starts = column
        shape = (len(states), self.heads, -1)
        cosines, sines = self.cosines[places, None], self.sines[places, None]
        new_queries, new_keys, new_values = (
            (states @ layer[f"self_attn.{part}_proj"]).reshape(shape) for part in "qkv"
        )
        queries = _rotated(self._normed(new_queries, layer["self_attn.q_layernorm"]), cosines, sines)
        keys, values = kept
        keys[rows, :, places] = _rotated(self._normed(new_keys, layer["self_attn.k_layernorm"]), cosines, sines)
        values[rows, :, places] = new_values
        queries *= np.float32(queries.shape[-1] ** -0.5)
        attended = np.empty_like(queries)
        counts = np.diff(starts)
        if len(counts) > 1 and counts.max() <= MAX_TOGETHER:
            _attend_together(attended, queries, keys, values, column)
        else:
            for row, (start, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
                length = int(places[end - 1]) + 1
                alone = queries[start:end].swapaxes(0, 1), keys[row, :, :length], values[row, :, :length]
                attended[start:end] = _mixed(*alone, _later(places[start:end], length)).swapaxes(0, 1)
        return attended.reshape(len(states), -1) @ layer["self_attn.out_proj"]


def _attend_together(out: Floats, queries: Floats, keys: Floats, values: Floats, column: Column) -> None:
    """Attend from the few new tokens of all texts at once, padded to one number and one length."""
    rows, places, starts = column
    count, length = int(np.diff(starts).max()), int(places.max()) + 1
    nth = np.arange(len(rows)) - starts[rows]
    padded = np.zeros((len(starts) - 1, count, *queries.shape[1:]), dtype=np.float32)
    padded[rows, nth] = queries
    last = np.zeros(padded.shape[:2], dtype=np.intp)
    last[rows, nth] = places
    mixed = _mixed(padded.swapaxes(1, 2), keys[:, :, :length], values[:, :, :length], _later(last, length)[:, None])
    out[...] = mixed[rows, :, nth]


def _mixed(queries: Floats, keys: Floats, values: Floats, later: NDArray[np.bool_]) -> Floats:
    """Mix the values of the tokens of a text by the softmax of keys and queries, except later tokens.

    Shapes, after those of texts and heads: (new, width), (length, width), (length, width), (new, length).
    """
    scores = queries @ keys.swapaxes(-1, -2)
    np.copyto(scores, -np.inf, where=later)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed: Floats = weights @ values
    return mixed


def _later(places: NDArray[np.intp], length: int) -> NDArray[np.bool_]:
    """Return which of the first places, `length` of them, come after each of `places`; shape (…, length)."""
    return np.arange(length) > places[..., None]


def _fed(layer: Layer, states: Floats) -> Floats:
    """Pass each token through the gated feed-forward network (Shazeer, "GLU Variants Improve Transformer", 2020)."""
    gate: Floats = states @ layer["feed_forward.w1"]
    with np.errstate(over="ignore"):  # where a gate is closed, far below zero
        denominator: Floats = np.exp(-gate)
    denominator += np.float32(1)
    gate *= states @ layer["feed_forward.w3"]
    gate /= denominator
    out: Floats = gate @ layer["feed_forward.w2"]
    return out


def _convolved(layer: Layer, states: Floats, kept: list[Floats], column: Column) -> Floats:
    """Mix each token with the few before it in its text, and keep its gated input."""
    gate_in, gate_out, inputs = np.split(states @ layer["conv.in_proj"], 3, axis=1)
    (gated,) = kept
    rows, places, _ = column
    kernel = layer[KERNEL]
    gated[rows, places + len(kernel) - 1] = gate_in * inputs
    mixed = sum(weight * gated[rows, places + offset] for offset, weight in enumerate(kernel))
    out: Floats = (gate_out * mixed) @ layer["conv.out_proj"]
    return out


def _rotated(states: Floats, cosines: Floats, sines: Floats) -> Floats:
    """Rotate queries or keys by their places (Su et al., "RoFormer", 2021), the two halves as pairs."""
    left, right = np.split(states, 2, axis=-1)
    return np.concatenate([left * cosines - right * sines, right * cosines + left * sines], axis=-1)


def _layer(weights: Mapping[str, Floats], number: int) -> Layer:
    prefix = f"model.layers.{number}."
    layer = {name.removeprefix(prefix).removesuffix(".weight"): weights[name] for name in weights if prefix in name}
    return {name: np.ascontiguousarray((part[:, 0] if part.ndim > 2 else part).T) for name, part in layer.items()}


def _tensors(path: Path) -> Iterator[tuple[str, Floats]]:
    """Yield the tensors of a file by name; bfloat16 is the upper half of a float32."""
    import safetensors

    library: Any = safetensors  # its function has no types
    for name, tensor in library.deserialize(path.read_bytes()):
        kind, data = tensor["dtype"], tensor["data"]
        if kind == "BF16":
            array = (np.frombuffer(data, dtype="<u2").astype(np.uint32) << 16).view(np.float32)
        elif kind in {"F32", "F16"}:
            array = np.frombuffer(data, dtype="<f4" if kind == "F32" else "<f2").astype(np.float32)
        else:
            raise ValueError(f"{path} has a tensor of {kind}; this reads BF16, F16 and F32.")
        yield name, array.reshape(tensor["shape"])


class Lfm2Batch(DecodingBatch):
    """Texts, with the values that the layers keep of them, in arrays whose first axis is that of the texts."""

    is_ragged = True
    can_join = True

    def __init__(self, network: Lfm2, rows: int) -> None:
        self.network = network
        self.lengths = np.zeros(rows, dtype=np.intp)
        self.layers: list[list[Floats]] = []
        hidden = network.embedding.shape[1]
        for layer in network.layers:
            if KERNEL in layer:
                self.layers.append([np.zeros((rows, len(layer[KERNEL]) - 1, hidden), dtype=np.float32)])
            else:
                empty = np.zeros((rows, network.heads, 0, hidden // network.heads), dtype=np.float32)
                self.layers.append([empty, empty])

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Floats:
        """Append tokens to each text, and return the logits after them."""
        logits = self.network.read(self, token_ids, window)
        return logits if window else logits[:, 0]

    def grow(self, counts: Sequence[int]) -> None:
        """Make room for more tokens of each text, and half as much again."""
        places = self.network.margin + int((self.lengths + np.asarray(counts)).max())
        if any(array.shape[-2] < places for arrays in self.layers for array in arrays):
            room = places + places // 2
            self.layers = [[_extended(array, room) for array in arrays] for arrays in self.layers]

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice is duplicated."""
        chosen = list(rows)
        self.lengths = self.lengths[chosen]
        self.layers = [[array[chosen] for array in arrays] for arrays in self.layers]

    def join(self, other: Self) -> None:
        """Append the texts of another batch."""
        self.lengths = np.concatenate([self.lengths, other.lengths])
        for mine, theirs in zip(self.layers, other.layers, strict=True):
            for number, (left, right) in enumerate(zip(mine, theirs, strict=True)):
                places = max(left.shape[-2], right.shape[-2])
                mine[number] = np.concatenate([_extended(left, places), _extended(right, places)])

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text, this many."""
        self.lengths = self.lengths - counts


def _extended(array: Floats, places: int) -> Floats:
    if places <= array.shape[-2]:
        return array
    longer = np.zeros((*array.shape[:-2], places, array.shape[-1]), dtype=np.float32)
    longer[..., : array.shape[-2], :] = array
    return longer


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
        self._prefixes: dict[tuple[int, ...], Lfm2Batch] = {}
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
    ) -> tuple[Lfm2Batch, Floats]:
        """Read the prompts, their shared beginning once."""
        shared = min(shared, min(map(len, prompts)) - 1 - window)
        if shared >= MIN_SHARED:
            batch = copy(self._prefix(tuple(prompts[0][:shared])))
            batch.select([0] * len(prompts))
            prompts = [prompt[shared:] for prompt in prompts]
        else:
            batch = Lfm2Batch(self.network, len(prompts))
        return batch, batch.forward(prompts, window=window)

    def _prefix(self, token_ids: tuple[int, ...]) -> Lfm2Batch:
        """Return the cache of a prefix: a single text, which must not be changed."""
        with self._lock:
            prefix = self._prefixes.pop(token_ids, None)
            if prefix is None:
                prefix = Lfm2Batch(self.network, 1)
                prefix.forward([token_ids])
            self._prefixes[token_ids] = prefix
            while len(self._prefixes) > MAX_PREFIXES:
                del self._prefixes[next(iter(self._prefixes))]
            return prefix


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
