"""LFM2 in NumPy: short convolutions and attention, over texts of any lengths side by side, and the packaged model.

The packaged model has this architecture (Liquid AI, "LFM2 Technical Report", 2025). It is so small that importing torch
takes longer than a hundred of its answers, so neither torch nor transformers is imported for it. The results are those
of `Lfm2ForCausalLM` of transformers in single precision.

The tokens of all texts form one column, without padding, each with its text and its place there. Every layer keeps the
values of each token, convolutions too: lowering the length of a text forgets its last tokens.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structured.models.one_thread_products import (
    QUERIES_AT_ONCE,
    Floats,
    blocks_of_columns,
    times_blocks,
    times_keys,
    times_values,
)
from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import MIN_SHARED, DecodingBatch, LanguageModel, Messages
from structured.vocabulary import Vocabulary

WEIGHTS = "model.safetensors"
"""The file of the weights, beside `config.json`."""

MAX_PREFIX_BYTES = 1 << 25
"""The memory of the caches of prefixes, some thirty of a common length. The last one is kept even if it is larger."""

MAX_JOINT_TOKENS = 16
"""New tokens of each text up to which those of several attend at once; with more, padding takes more than it saves."""

Layer: TypeAlias = Mapping[str, Floats]
"""The weights of a layer by their names in the checkpoint: matrices transposed and in blocks of columns, as
`times_blocks` takes them, kernels of shape (size, hidden)."""

LayerValues: TypeAlias = list[list[Floats]]
"""The arrays that each layer keeps of the tokens of texts."""

FUSED_WEIGHTS = {
    "self_attn.qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attn.qk_layernorm": ("self_attn.q_layernorm", "self_attn.k_layernorm"),
    "feed_forward.w13": ("feed_forward.w1", "feed_forward.w3"),
}
"""Weights of which one product takes the place of several."""

KERNEL = "conv.conv"
"""The kernel of a layer's convolution, with the row of the token itself last; layers without one attend."""


class Column(NamedTuple):
    """The texts and places of new tokens."""

    slots: NDArray[np.intp]
    """The slot of each token's text."""
    places: NDArray[np.intp]
    """The place of each token in its text."""
    starts: NDArray[np.intp]
    """The first token of each text, and the end of the last text."""
    token_indices: slice | NDArray[np.intp] = slice(None)
    """Where the tokens are among those that the layer reads."""

    @classmethod
    def of(cls, counts: Sequence[int], batch: "Lfm2Batch") -> Self:
        """Return the column of new tokens, `counts` of each text of a batch."""
        starts = np.cumsum([0, *counts])
        places = np.arange(starts[-1]) - np.repeat(starts[:-1] - batch.lengths, counts)
        return cls(np.repeat(batch.slots, counts), places, starts)

    def ends(self, window: int) -> Self:
        """Return the last token of each text and so many before it; the first again, if it has fewer."""
        ends = np.maximum(self.starts[1:, None] - 1 - np.arange(window, -1, -1), self.starts[:-1, None]).ravel()
        return type(self)(self.slots[ends], self.places[ends], np.arange(0, len(ends) + 1, window + 1), ends)


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
        self.logits_weights = blocks_of_columns(weights.get("lm_head.weight", self.embedding).T)
        """Shape (blocks, hidden, tokens of a block); the embedding where the two are tied."""
        width = self.embedding.shape[1] // self.heads
        frequencies = float(config["rope_parameters"]["rope_theta"]) ** (-np.arange(0, width, 2) / width)
        angles = np.outer(np.arange(self.context_length), frequencies)
        self.cosines, self.sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        """Of the rotation at each place, shape (places, width / 2)."""

    def read(self, batch: "Lfm2Batch", token_ids: Sequence[Sequence[int]], window: int = 0) -> Floats:
        """Append tokens to each text, and return the logits after them, and before each token of the window.

        The shape is (texts, window + 1, tokens); the last place is after all tokens.
        """
        counts = [len(new) for new in token_ids]
        if (batch.lengths + counts).max() > self.context_length:
            raise ValueError(f"A text is longer than the {self.context_length:,} tokens of the context.")
        batch.grow(counts)
        column = Column.of(counts, batch)
        states = self.embedding[np.concatenate([np.asarray(new, dtype=np.intp) for new in token_ids])]
        ends = column.ends(window)
        for layer, kept in zip(self.layers, batch.layers, strict=True):
            asked = ends if layer is self.layers[-1] else column
            normed = self._normalise(states, layer["operator_norm"])
            mix = _convolve if KERNEL in layer else self._attend
            states = states[asked.token_indices] + mix(layer, normed, kept, column, asked)
            states = states + _feed_forward(layer, self._normalise(states, layer["ffn_norm"]))
        batch.lengths = batch.lengths + np.asarray(counts)
        logits = times_blocks(self._normalise(states, self.last_norm), self.logits_weights)
        return logits.reshape(len(counts), window + 1, -1)

    def _normalise(self, states: Floats, weight: Floats) -> Floats:
        """Divide states by their root mean square."""
        squares = np.einsum("...i,...i->...", states, states)[..., None]
        normed: Floats = states * (weight / np.sqrt(squares / np.float32(states.shape[-1]) + self.epsilon))
        return normed

    def _attend(self, layer: Layer, states: Floats, kept: list[Floats], column: Column, asked: Column) -> Floats:
        """Attend from the tokens asked for to those before them in their texts; keep the keys and values of all."""
        heads = times_blocks(states, layer["self_attn.qkv_proj"]).reshape(len(states), 3, self.heads, -1)
        cosines, sines = (table[column.places, None, None] for table in (self.cosines, self.sines))
        weights = layer["self_attn.qk_layernorm"].reshape(2, 1, -1)
        rotated = _rotate(self._normalise(heads[:, :2], weights), cosines, sines)
        keys, values = kept
        keys[column.slots, :, column.places] = rotated[:, 1]
        values[column.slots, :, column.places] = heads[:, 2]
        queries = rotated[asked.token_indices, 0] * np.float32(heads.shape[-1] ** -0.5)
        attended = np.empty_like(queries)
        counts = np.diff(asked.starts)
        if len(counts) > 1 and counts.max() <= MAX_JOINT_TOKENS:
            _attend_together(attended, queries, keys, values, asked)
        else:
            for first, last in itertools.pairwise(asked.starts.tolist()):
                for start in range(first, last, QUERIES_AT_ONCE):
                    end = min(start + QUERIES_AT_ONCE, last)
                    slot, length = asked.slots[start], int(asked.places[end - 1]) + 1
                    alone = queries[start:end].swapaxes(0, 1), keys[slot, :, :length], values[slot, :, :length]
                    attended[start:end] = _attention(*alone, asked.places[start:end]).swapaxes(0, 1)
        return times_blocks(attended.reshape(len(queries), -1), layer["self_attn.out_proj"])


def _attend_together(out: Floats, queries: Floats, keys: Floats, values: Floats, column: Column) -> None:
    """Attend from the few new tokens of all texts at once, padded to one number and one length; empty slots as well."""
    slots, places, starts, _ = column
    counts = np.diff(starts)
    used, count, length = int(slots.max()) + 1, int(counts.max()), int(places.max()) + 1
    nth = np.arange(len(slots)) - np.repeat(starts[:-1], counts)
    padded = np.zeros((used, count, *queries.shape[1:]), dtype=np.float32)
    padded[slots, nth] = queries
    last = np.zeros(padded.shape[:2], dtype=np.intp)
    last[slots, nth] = places
    before = keys[:used, :, :length], values[:used, :, :length]
    out[...] = _attention(padded.swapaxes(1, 2), *before, last[:, None])[slots, :, nth]


def _attention(queries: Floats, keys: Floats, values: Floats, places: NDArray[np.intp]) -> Floats:
    """Mix the values of the tokens of a text by the softmax of keys and queries, except those after each place.

    Shapes, after those of texts and heads: (new, width), (length, width), (length, width), (new,).
    """
    scores = times_keys(queries, keys)
    np.copyto(scores, -np.inf, where=np.arange(keys.shape[-2]) > places[..., None])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return times_values(weights, values)


def _feed_forward(layer: Layer, states: Floats) -> Floats:
    """Pass each token through the gated feed-forward network (Shazeer, "GLU Variants Improve Transformer", 2020)."""
    gate, up = np.split(times_blocks(states, layer["feed_forward.w13"]), 2, axis=1)
    with np.errstate(over="ignore"):  # where a gate is closed, far below zero
        denominator: Floats = np.exp(-gate)
    denominator += np.float32(1)
    gated = gate * up
    gated /= denominator
    return times_blocks(gated, layer["feed_forward.w2"])


def _convolve(layer: Layer, states: Floats, kept: list[Floats], column: Column, asked: Column) -> Floats:
    """Mix the tokens asked for with the few before them in their texts; keep the gated inputs of all."""
    gate_in, gate_out, inputs = np.split(times_blocks(states, layer["conv.in_proj"]), 3, axis=1)
    (gated,) = kept
    kernel = layer[KERNEL]
    gated[column.slots, column.places + len(kernel) - 1] = gate_in * inputs
    mixed = sum(weight * gated[asked.slots, asked.places + offset] for offset, weight in enumerate(kernel))
    return times_blocks(gate_out[asked.token_indices] * mixed, layer["conv.out_proj"])


def _rotate(states: Floats, cosines: Floats, sines: Floats) -> Floats:
    """Rotate queries or keys by their places (Su et al., "RoFormer", 2021), the two halves as pairs."""
    left, right = np.split(states, 2, axis=-1)
    return np.concatenate([left * cosines - right * sines, right * cosines + left * sines], axis=-1)


def _layer(weights: Mapping[str, Floats], number: int) -> Layer:
    prefix = f"model.layers.{number}."
    layer = {name.removeprefix(prefix).removesuffix(".weight"): weights[name] for name in weights if prefix in name}
    for name, parts in FUSED_WEIGHTS.items():
        if parts[0] in layer:
            layer[name] = np.concatenate([layer.pop(part) for part in parts])
    return {name: _as_read(part) for name, part in layer.items()}


def _as_read(weights: Floats) -> Floats:
    """Return weights of a layer as passes read them: vectors as they are, kernels transposed, matrices in blocks."""
    if weights.ndim == 2:
        return blocks_of_columns(weights.T)
    return weights if weights.ndim == 1 else np.ascontiguousarray(weights[:, 0].T)


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
    """Texts, each with a slot in arrays of the values that the layers keep of them.

    The first axis is that of the slots, and the last but one that of the places, behind the margin. A text that leaves
    is not moved, and one that joins takes its slot: copying all values at each coming and going took as long as reading
    a document.
    """

    is_ragged = True
    can_join = True

    def __init__(self, network: Lfm2, rows: int) -> None:
        self.network = network
        self.lengths = np.zeros(rows, dtype=np.intp)
        self.slots = np.arange(rows)
        hidden, places = network.embedding.shape[1], network.margin
        convolved, attended = (rows, places, hidden), (rows, network.heads, places, hidden // network.heads)
        shapes = ([convolved] if KERNEL in layer else [attended, attended] for layer in network.layers)
        self.layers: LayerValues = [[np.zeros(shape, dtype=np.float32) for shape in each] for each in shapes]

    @property
    def room(self) -> tuple[int, int]:
        """How many slots and places there are."""
        first = self.layers[0][0]
        return len(first), first.shape[-2]

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for arrays in self.layers for array in arrays)

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Floats:
        """Append tokens to each text, and return the logits after them."""
        logits = self.network.read(self, token_ids, window)
        return logits if window else logits[:, 0]

    def grow(self, counts: Sequence[int]) -> None:
        """Make room for more tokens of each text, and half as much again."""
        slots, places = self.room
        needed = self.network.margin + int((self.lengths + np.asarray(counts)).max())
        if places < needed:
            self.move(slots, needed + needed // 2)

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice is duplicated."""
        self.lengths, self.slots = self.lengths[list(rows)], self.slots[list(rows)]
        slots, places = self.room
        is_sparse = 4 * len(rows) <= self.slots.max(initial=0)  # a pass attends in empty slots, too
        if len(set(rows)) < len(rows) or is_sparse:
            self.move(max(slots, len(rows)), places)

    def repeated(self, count: int, length: int) -> Self:
        """Return a batch of copies of the first text, with room for so many tokens of each."""
        twin = copy(self)
        twin.lengths, twin.slots = np.repeat(self.lengths[:1], count), np.repeat(self.slots[:1], count)
        twin.move(count, self.network.margin + length + length // 4)
        return twin

    def join(self, other: Self) -> None:
        """Append the texts of another batch."""
        (slots, places), needed = self.room, self.network.margin + int(other.lengths.max(initial=0))
        total = len(self.slots) + len(other.slots)
        if slots < total or places < needed:
            self.move(max(slots, 2 * total, 16), max(places, needed + needed // 2))
        new = np.setdiff1d(np.arange(self.room[0]), self.slots)[: len(other.slots)]
        _copy_slots(self.layers, new, other.layers, other.slots, needed)
        self.lengths = np.concatenate([self.lengths, other.lengths])
        self.slots = np.concatenate([self.slots, new])

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text, this many."""
        self.lengths = self.lengths - counts

    def move(self, slots: int, places: int) -> None:
        """Move the texts to the first slots of new arrays, which have so many slots and places."""
        used, old = self.network.margin + int(self.lengths.max(initial=0)), self.layers
        shapes = ([(slots, *array.shape[1:-2], places, array.shape[-1]) for array in arrays] for arrays in old)
        self.layers = [[np.zeros(shape, dtype=np.float32) for shape in each] for each in shapes]
        _copy_slots(self.layers, range(len(self.slots)), old, self.slots, used)
        self.slots = np.arange(len(self.slots))


def _copy_slots(
    targets: LayerValues, new: Sequence[int] | NDArray[np.intp], sources: LayerValues, old: NDArray[np.intp], used: int
) -> None:
    """Copy the places in use of some slots of all arrays to those of others."""
    for target, source in zip(itertools.chain(*targets), itertools.chain(*sources), strict=True):
        for to, of in zip(new, old, strict=True):
            target[to, ..., :used, :] = source[of, ..., :used, :]


class PackagedModel(LanguageModel):
    """A checkpoint of LFM2 in a folder, small enough for NumPy."""

    can_roll_back = True
    can_read_on = True
    pass_cost = 16.0

    def __init__(self, folder: Path, *, name: str) -> None:
        self.name = name
        self._folder = folder
        self.network = Lfm2(folder)
        self.context_length = self.network.context_length
        others = sum(weights.size for layer in self.network.layers for weights in layer.values())
        self.logits_cost = self.network.embedding.size / others
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
            prefix = self._prefix(tuple(prompts[0][:shared]))
            batch = prefix.repeated(len(prompts), max(map(len, prompts)))
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
                prefix.move(1, self.network.margin + len(token_ids))
            self._prefixes[token_ids] = prefix
            while len(self._prefixes) > 1 and sum(one.nbytes for one in self._prefixes.values()) > MAX_PREFIX_BYTES:
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
