"""LFM2 in NumPy: short convolutions and attention, over texts of any lengths side by side.

The packaged model is of this kind (Liquid AI, "LFM2 Technical Report", 2025). It is so small that importing torch takes
longer than a hundred of its answers, so it runs here without. The results are those of `Lfm2ForCausalLM` of
transformers in single precision.

The tokens of all texts form one column, without padding, each with its text and its place there. Every layer keeps the
values of each token, convolutions too: lowering the length of a text forgets its last tokens.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

WEIGHTS = "model.safetensors"
"""The file of the weights, beside `config.json`."""

MAX_TOGETHER = 16
"""New tokens of each text up to which those of several attend at once; with more, padding takes more than it saves."""


@dataclass(frozen=True, slots=True)
class Convolution:
    """The weights of a layer's short convolution, for columns of width `hidden`."""

    projected: Floats
    """Shape (hidden, 3 * hidden): the gate of the input, the gate of the output, and the input."""
    kernel: Floats
    """Shape (kernel size, hidden); the last row is for the token itself."""
    out: Floats


@dataclass(frozen=True, slots=True)
class Attention:
    """The weights of a layer's attention: queries, keys and values, all of as many heads."""

    queries: Floats
    keys: Floats
    values: Floats
    query_norm: Floats
    key_norm: Floats
    out: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: a convolution or attention, which mix tokens, and a gated feed-forward network."""

    mixer: Convolution | Attention
    mixer_norm: Floats
    feed_norm: Floats
    gate: Floats
    up: Floats
    down: Floats


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
        self.layers = [
            _layer({name.removeprefix(f"model.layers.{number}."): weights[name] for name in weights}, kind)
            for number, kind in enumerate(config["layer_types"])
        ]
        self.margin = max(len(layer.mixer.kernel) for layer in self.layers if isinstance(layer.mixer, Convolution)) - 1
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
        return self.embedding.size / sum(size for layer in self.layers for size in _sizes(layer))

    def read(self, cache: "Cache", token_ids: Sequence[Sequence[int]], window: int = 0) -> Floats:
        """Append tokens to each text, and return the logits after them, and before each token of the window.

        The shape is (texts, window + 1, tokens); the last place is after all tokens.
        """
        counts = [len(new) for new in token_ids]
        column = Column.of(counts, cache.lengths)
        if column.places.max() >= self.context_length:
            raise ValueError(f"A text is longer than the {self.context_length:,} tokens of the context.")
        cache.grow(counts)
        states = self.embedding[np.concatenate([np.asarray(new, dtype=np.intp) for new in token_ids])]
        for layer, kept in zip(self.layers, cache.layers, strict=True):
            mixed = self._normed(states, layer.mixer_norm)
            if isinstance(layer.mixer, Convolution):
                states = states + _convolved(layer.mixer, mixed, kept, column)
            else:
                states = states + self._attended(layer.mixer, mixed, kept, column)
            states = states + _fed(layer, self._normed(states, layer.feed_norm))
        cache.lengths = cache.lengths + np.asarray(counts)
        places = np.maximum(column.starts[1:, None] - 1 - np.arange(window, -1, -1), column.starts[:-1, None])
        logits: Floats = self._normed(states[places], self.last_norm) @ self.logits_weights
        return logits

    def _normed(self, states: Floats, weight: Floats) -> Floats:
        """Divide states by their root mean square."""
        squares = np.einsum("...i,...i->...", states, states)[..., None]
        normed: Floats = states * (weight / np.sqrt(squares / np.float32(states.shape[-1]) + self.epsilon))
        return normed

    def _attended(self, mixer: Attention, states: Floats, kept: list[Floats], column: Column) -> Floats:
        """Attend from each token to those before it in its text, and keep its keys and values."""
        rows, places, starts = column
        shape = (len(states), self.heads, -1)
        cosines, sines = self.cosines[places, None], self.sines[places, None]
        queries = _rotated(self._normed((states @ mixer.queries).reshape(shape), mixer.query_norm), cosines, sines)
        keys, values = kept
        new_keys = self._normed((states @ mixer.keys).reshape(shape), mixer.key_norm)
        keys[rows, :, places] = _rotated(new_keys, cosines, sines)
        values[rows, :, places] = (states @ mixer.values).reshape(shape)
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
        return attended.reshape(len(states), -1) @ mixer.out


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
    gate: Floats = states @ layer.gate
    with np.errstate(over="ignore"):  # where a gate is closed, far below zero
        denominator: Floats = np.exp(-gate)
    denominator += np.float32(1)
    gate *= states @ layer.up
    gate /= denominator
    out: Floats = gate @ layer.down
    return out


def _convolved(mixer: Convolution, states: Floats, kept: list[Floats], column: Column) -> Floats:
    """Mix each token with the few before it in its text, and keep its gated input."""
    gate_in, gate_out, inputs = np.split(states @ mixer.projected, 3, axis=1)
    (gated,) = kept
    rows, places, _ = column
    gated[rows, places + len(mixer.kernel) - 1] = gate_in * inputs
    mixed = sum(weight * gated[rows, places + offset] for offset, weight in enumerate(mixer.kernel))
    out: Floats = (gate_out * mixed) @ mixer.out
    return out


def _rotated(states: Floats, cosines: Floats, sines: Floats) -> Floats:
    """Rotate queries or keys by their places (Su et al., "RoFormer", 2021), the two halves as pairs."""
    left, right = np.split(states, 2, axis=-1)
    return np.concatenate([left * cosines - right * sines, right * cosines + left * sines], axis=-1)


def _layer(weights: Mapping[str, Floats], kind: str) -> Layer:
    """Return a layer, given its weights by name."""

    def matrix(name: str) -> Floats:
        return np.ascontiguousarray(weights[f"{name}.weight"].T)

    def vector(name: str) -> Floats:
        return weights[f"{name}.weight"]

    mixer: Convolution | Attention
    if kind == "conv":
        kernel = np.ascontiguousarray(vector("conv.conv")[:, 0].T)
        mixer = Convolution(matrix("conv.in_proj"), kernel, matrix("conv.out_proj"))
    else:
        mixer = Attention(
            queries=matrix("self_attn.q_proj"),
            keys=matrix("self_attn.k_proj"),
            values=matrix("self_attn.v_proj"),
            query_norm=vector("self_attn.q_layernorm"),
            key_norm=vector("self_attn.k_layernorm"),
            out=matrix("self_attn.out_proj"),
        )
    return Layer(
        mixer,
        mixer_norm=vector("operator_norm"),
        feed_norm=vector("ffn_norm"),
        gate=matrix("feed_forward.w1"),
        up=matrix("feed_forward.w3"),
        down=matrix("feed_forward.w2"),
    )


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


def _sizes(part: Any) -> Iterator[int]:
    """Yield the sizes of all arrays in a layer."""
    for member in fields(part):
        value = getattr(part, member.name)
        if isinstance(value, np.ndarray):
            yield value.size
        else:
            yield from _sizes(value)


class Cache:
    """The values that the layers keep of some texts, in arrays whose first axis is that of the texts."""

    def __init__(self, network: Lfm2, rows: int) -> None:
        self.lengths = np.zeros(rows, dtype=np.intp)
        self.layers: list[list[Floats]] = []
        self._margin = network.margin
        hidden = network.embedding.shape[1]
        for layer in network.layers:
            if isinstance(layer.mixer, Convolution):
                self.layers.append([np.zeros((rows, len(layer.mixer.kernel) - 1, hidden), dtype=np.float32)])
            else:
                empty = np.zeros((rows, network.heads, 0, hidden // network.heads), dtype=np.float32)
                self.layers.append([empty, empty])

    def grow(self, counts: Sequence[int]) -> None:
        """Make room for more tokens of each text, and half as much again."""
        places = self._margin + int((self.lengths + np.asarray(counts)).max())
        if any(array.shape[-2] < places for arrays in self.layers for array in arrays):
            self._map(lambda array: _extended(array, places + places // 2))

    def select(self, rows: Sequence[int]) -> None:
        """Keep some texts, in that order; a text listed twice is copied."""
        chosen = list(rows)
        self.lengths = self.lengths[chosen]
        self._map(lambda array: array[chosen])

    def join(self, other: Self) -> None:
        """Append the texts of another cache."""
        self.lengths = np.concatenate([self.lengths, other.lengths])
        for mine, theirs in zip(self.layers, other.layers, strict=True):
            for number, (left, right) in enumerate(zip(mine, theirs, strict=True)):
                places = max(left.shape[-2], right.shape[-2])
                mine[number] = np.concatenate([_extended(left, places), _extended(right, places)])

    def copies(self, rows: int) -> "Cache":
        """Return copies of the only text."""
        copied: Cache = object.__new__(Cache)
        copied.lengths, copied._margin = np.repeat(self.lengths, rows), self._margin
        copied.layers = [[np.repeat(array, rows, axis=0) for array in arrays] for arrays in self.layers]
        return copied

    def _map(self, function: Any) -> None:
        self.layers = [[function(array) for array in arrays] for arrays in self.layers]


def _extended(array: Floats, places: int) -> Floats:
    """Return an array with at least that many places, its last axis but one."""
    if places <= array.shape[-2]:
        return array
    longer = np.zeros((*array.shape[:-2], places, array.shape[-1]), dtype=np.float32)
    longer[..., : array.shape[-2], :] = array
    return longer
