"""Caches of texts in a model, as tables with a row for each text: copied, selected, joined.

The layers decide which operations are possible. A layer that keeps the keys and values of every token can be padded, as
padding is masked; a convolution or a recurrence cannot, and a sliding window counts its places and not the tokens in
them.
"""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def on_device(numbers: ArrayLike, device: "torch.device") -> "torch.Tensor":
    """Copy numbers from the host to a device, without waiting: CUDA reads the host's memory before it returns."""
    import torch

    return torch.as_tensor(numbers).to(device, non_blocking=device.type == "cuda")


class TextCache(Protocol):
    """The cache of some texts, which also makes the inputs of the forward pass."""

    is_ragged: bool
    """Whether the texts may get different numbers of tokens."""
    can_join: bool
    """Whether rows of another cache of the same model can be appended."""
    pads_behind: bool
    """Whether the first new tokens of all texts are in one column; if not, the last ones are."""

    @property
    def nbytes(self) -> int:
        """Its memory in bytes."""

    def forward_inputs(self, token_ids: Sequence[Sequence[int]], window: int = 0) -> dict[str, Any]:
        """Return the inputs of the forward pass; up to `window` of the new tokens of each text may be rolled back."""

    def fill(self, other: Self, rows: int) -> None:
        """Replace the content by copies of the only row of another cache, which stays unchanged."""

    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, in that order; a row listed twice is copied."""

    def join(self, other: Self) -> None:
        """Append the rows of another cache of the same model, which is used up."""


class PaddedCache:
    """A cache of transformers, with any layers. A text with fewer new tokens than others is padded in front.

    Where layers do not allow that, only the first tokens are padded, and all texts get as many.
    """

    pads_behind = False

    def __init__(
        self,
        model: "PreTrainedModel",
        rows: int,
        parameter_names: frozenset[str],
        cache_name: str,
        *,
        has_attention: bool,
    ) -> None:
        """Begin texts of a model, whose forward pass has parameters of these names, one of them for the cache."""
        import torch
        from transformers.cache_utils import DynamicCache, DynamicLayer, LinearAttentionLayer

        self.parameter_names, self.cache_name, self.has_attention = parameter_names, cache_name, has_attention
        self.cache: Any = DynamicCache(config=model.config.get_text_config(decoder=True))
        kinds = set(map(type, self.cache.layers))
        self.is_ragged = kinds <= {DynamicLayer}  # all keys and values are kept, so that padding may be anywhere
        self.can_join = kinds <= {DynamicLayer, LinearAttentionLayer}  # which can be padded in front afterwards
        self.token_mask = torch.zeros((rows, 0), dtype=torch.long, device=model.device)
        """Which places hold a token, and which are padding; shape (texts, places)."""

    @property
    def nbytes(self) -> int:
        """The memory of its tensors."""
        tensors: list[torch.Tensor | None] = []
        for layer in self.cache.layers:
            if hasattr(layer, "conv_states"):
                tensors += [*layer.conv_states.values(), *layer.recurrent_states.values()]
            tensors += [getattr(layer, "keys", None), getattr(layer, "values", None)]
        return sum(tensor.nbytes for tensor in tensors if tensor is not None)

    def forward_inputs(self, token_ids: Sequence[Sequence[int]], window: int = 0) -> dict[str, Any]:  # noqa: ARG002  none is
        """Pad the new tokens of each text, and return the inputs of the forward pass."""
        import torch

        device = self.token_mask.device
        width = max(map(len, token_ids))
        rows = [[0] * (width - len(new)) + list(new) for new in token_ids]
        new_mask = [[0] * (width - len(new)) + [1] * len(new) for new in token_ids]
        self.token_mask = torch.cat([self.token_mask, on_device(new_mask, device)], dim=1)
        arguments: dict[str, Any] = {"input_ids": on_device(rows, device), self.cache_name: self.cache}
        # Without attention, earlier places do not count.
        arguments["attention_mask"] = self.token_mask if self.has_attention else self.token_mask[:, -width:]
        if "position_ids" in self.parameter_names:
            arguments["position_ids"] = (self.token_mask.cumsum(dim=1) - 1).clamp(min=0)[:, -width:]
        return arguments

    def fill(self, other: Self, rows: int) -> None:
        """Replace the content by copies of the only row of another cache."""
        import torch

        self.cache, self.token_mask = copy.deepcopy(other.cache), other.token_mask.repeat(rows, 1)
        if rows > 1:
            self.cache.reorder_cache(torch.zeros(rows, dtype=torch.long))

    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, and drop the places in front that are padding in all of them, if there are many."""
        import torch

        self.cache.reorder_cache(torch.tensor(rows, dtype=torch.long))  # hybrid caches have no other way to select
        self.token_mask = self.token_mask[list(rows)]
        places = int(self.token_mask.argmax(dim=1).min())
        if places * 8 > self.token_mask.shape[1] and self.is_ragged:
            self.token_mask = self.token_mask[:, places:]
            for layer in self.cache.layers:
                layer.keys, layer.values = layer.keys[..., places:, :], layer.values[..., places:, :]

    def join(self, other: Self) -> None:
        """Append the rows of another cache; the shorter rows are padded in front."""
        import torch

        for mine, theirs in zip(self.cache.layers, other.cache.layers, strict=True):
            if hasattr(mine, "conv_states"):
                for name in ("conv_states", "recurrent_states"):
                    states, others = getattr(mine, name), getattr(theirs, name)
                    states |= {i: torch.cat([state, others[i]]) for i, state in states.items() if state is not None}
            else:  # shape (texts, heads, places, width)
                mine.keys = _joined(mine.keys, theirs.keys, -2)
                mine.values = _joined(mine.values, theirs.values, -2)
        self.token_mask = _joined(self.token_mask, other.token_mask, -1)


def _joined(first: "torch.Tensor", second: "torch.Tensor", places: int) -> "torch.Tensor":
    """Join the rows of two tensors, the shorter one padded in front in its axis of places, -1 or -2."""
    import torch

    length, behind = max(first.shape[places], second.shape[places]), [0, 0] * (-places - 1)
    padded = [torch.nn.functional.pad(part, [*behind, length - part.shape[places], 0]) for part in (first, second)]
    return torch.cat(padded)
