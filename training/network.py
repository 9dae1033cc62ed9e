"""The network that is trained: LFM2 written for a training step, with the names and the results of transformers' own.

Short convolutions and attention take turns: to copy, a token must know the one before it, and a convolution shows it
from the first step. Compiled, and with all texts of a batch of one length, a step on a CPU takes little more than half
the time. Texts are padded on the right, so that the causal mask is all that is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad, scaled_dot_product_attention, silu

ROPE_THETA = 1_000_000.0
EPSILON = 1e-5
KERNEL = 3
"""Tokens that a short convolution sees."""

HAS_BFLOAT16 = torch.cuda.is_available() or bool(torch.cpu.get_capabilities().get("amx_bf16"))

PRODUCTS = torch.bfloat16 if HAS_BFLOAT16 else torch.float32
"""The type of what is multiplied. A processor with AVX-512 BF16 alone takes one and a half times as long for bfloat16,
and one without instructions for it ten times."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network; layers are short convolutions and attention by turns."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    feed_forward: int
    context: int
    tied: bool = True
    """Whether the embedding is the output layer too."""

    def config(self, **special_tokens: int) -> dict[str, Any]:
        """Return the arguments of `transformers.Lfm2Config`."""
        return {
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.feed_forward,
            "block_auto_adjust_ff_dim": False,
            "num_hidden_layers": self.layers,
            "layer_types": ["conv", "full_attention"] * (self.layers // 2),
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "max_position_embeddings": self.context,
            "tie_word_embeddings": self.tied,
            **special_tokens,
        }


class Network(nn.Module):
    """The network: token ids of shape (texts, width) become logits of the places that are asked for."""

    def __init__(self, shape: Shape, *, compiled: bool) -> None:
        super().__init__()
        self.shape = shape
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(shape.vocabulary, shape.width),
                "layers": nn.ModuleList(_layer(shape, attends=bool(number % 2)) for number in range(shape.layers)),
                "embedding_norm": _Gain(shape.width),
            }
        )
        if not shape.tied:
            self.lm_head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        for parameter in self.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.02)
        self._convolve = torch.compile(_convolve, dynamic=False) if compiled else _convolve
        self._attend = torch.compile(_attend, dynamic=False) if compiled else _attend

    @property
    def words(self) -> nn.Parameter:
        """The embedding, shape (vocabulary, width)."""
        return _weight(self.model["embed_tokens"])

    def forward(self, token_ids: Tensor, wanted: Tensor) -> Tensor:
        """Return the logits of what follows each wanted place; shapes (texts, width) → (wanted places, vocabulary)."""
        states = self.words[token_ids].to(PRODUCTS)
        angles = _angles(token_ids.shape[1], self.shape.width // self.shape.heads, token_ids.device)
        for number, layer in enumerate(self.model["layers"].children()):
            weights = dict(layer.named_parameters())
            if number % 2:
                states = self._attend(states, weights, angles, self.shape.heads)
            else:
                states = self._convolve(states, weights)
        states = _normed(states[wanted], _weight(self.model["embedding_norm"]))
        return linear(states, (self.words if self.shape.tied else self.lm_head.weight).to(PRODUCTS))


def _weight(module: nn.Module) -> nn.Parameter:
    weight = module.weight
    assert isinstance(weight, nn.Parameter)
    return weight


class _Gain(nn.Module):
    """The gains of a norm."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))


def _layer(shape: Shape, *, attends: bool) -> nn.ModuleDict:
    width, head = shape.width, shape.width // shape.heads

    def matrix(rows: int, columns: int) -> nn.Linear:
        return nn.Linear(columns, rows, bias=False)

    if attends:
        inner = nn.ModuleDict({f"{name}_proj": matrix(width, width) for name in ("q", "k", "v", "out")})
        inner.update({"q_layernorm": _Gain(head), "k_layernorm": _Gain(head)})
    else:
        convolution = nn.Conv1d(width, width, KERNEL, groups=width, bias=False)
        parts = {"in_proj": matrix(3 * width, width), "conv": convolution, "out_proj": matrix(width, width)}
        inner = nn.ModuleDict(parts)
    feed = {"w1": (shape.feed_forward, width), "w3": (shape.feed_forward, width), "w2": (width, shape.feed_forward)}
    return nn.ModuleDict(
        {
            "self_attn" if attends else "conv": inner,
            "feed_forward": nn.ModuleDict({name: matrix(*sizes) for name, sizes in feed.items()}),
            "operator_norm": _Gain(width),
            "ffn_norm": _Gain(width),
        }
    )


Weights = Mapping[str, Tensor]
"""The parameters of a layer by name, in single precision; they are multiplied as `PRODUCTS`."""


def _product(states: Tensor, weights: Weights, name: str) -> Tensor:
    return linear(states, weights[f"{name}.weight"].to(PRODUCTS))


def _normed(states: Tensor, gain: Tensor) -> Tensor:
    exact = states.float()
    return (exact * torch.rsqrt(exact.square().mean(-1, keepdim=True) + EPSILON) * gain).to(PRODUCTS)


def _feed(states: Tensor, weights: Weights) -> Tensor:
    inner = _normed(states, weights["ffn_norm.weight"])
    gate = silu(_product(inner, weights, "feed_forward.w1")) * _product(inner, weights, "feed_forward.w3")
    return states + _product(gate, weights, "feed_forward.w2")


def _convolve(states: Tensor, weights: Weights) -> Tensor:
    """Pass states of shape (texts, tokens, width) through a layer with a short convolution."""
    inner = _product(_normed(states, weights["operator_norm.weight"]), weights, "conv.in_proj")
    gate_in, gate_out, inputs = inner.chunk(3, dim=-1)
    gated, tokens = gate_in * inputs, states.shape[1]
    kernel = weights["conv.conv.weight"][:, 0].to(PRODUCTS)  # (width, kernel)
    mixed = gated * kernel[:, KERNEL - 1]
    for back in range(1, KERNEL):
        mixed = mixed + pad(gated, (0, 0, back, 0))[:, :tokens] * kernel[:, KERNEL - 1 - back]
    return _feed(states + _product(gate_out * mixed, weights, "conv.out_proj"), weights)


def _attend(states: Tensor, weights: Weights, angles: Tensor, heads: int) -> Tensor:
    """Pass states of shape (texts, tokens, width) through a layer with causal attention."""
    texts, tokens, width = states.shape
    inner = _normed(states, weights["operator_norm.weight"])

    def split(name: str) -> Tensor:
        return _product(inner, weights, f"self_attn.{name}_proj").view(texts, tokens, heads, -1)

    queries = _rotated(_normed(split("q"), weights["self_attn.q_layernorm.weight"]).transpose(1, 2), angles)
    keys = _rotated(_normed(split("k"), weights["self_attn.k_layernorm.weight"]).transpose(1, 2), angles)
    values = split("v").transpose(1, 2)  # (texts, heads, tokens, size)
    attend = scaled_dot_product_attention if states.is_cuda else _plain_attention
    attended = attend(queries, keys, values, is_causal=True).transpose(1, 2).reshape(texts, tokens, width)
    return _feed(states + _product(attended, weights, "self_attn.out_proj"), weights)


def _plain_attention(queries: Tensor, keys: Tensor, values: Tensor, *, is_causal: bool) -> Tensor:
    """Attend by plain products: PyTorch's fused kernel for CPUs takes twice as long for a few hundred tokens."""
    assert is_causal
    *outer, tokens, size = queries.shape
    queries, keys, values = (part.reshape(-1, tokens, size) for part in (queries, keys, values))
    future = torch.full((tokens, tokens), float("-inf"), device=queries.device).triu(1)
    scores = torch.bmm(queries, keys.mT).float() * size**-0.5 + future
    return torch.bmm(torch.softmax(scores, dim=-1).to(PRODUCTS), values).view(*outer, tokens, size)


def _angles(tokens: int, size: int, device: torch.device) -> Tensor:
    """Return cosines and sines of the rotation at each place, shape (2, tokens, size / 2)."""
    frequencies = ROPE_THETA ** (-torch.arange(0, size, 2, device=device) / size)
    angles = torch.outer(torch.arange(tokens, device=device).float(), frequencies)
    return torch.stack([angles.cos(), angles.sin()])


def _rotated(states: Tensor, angles: Tensor) -> Tensor:
    """Rotate queries or keys by their places (Su et al., "RoFormer", 2021), the two halves as pairs."""
    left, right = states.float().chunk(2, dim=-1)
    cosines, sines = angles
    return torch.cat([left * cosines - right * sines, right * cosines + left * sines], dim=-1).to(PRODUCTS)
