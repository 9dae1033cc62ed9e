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
    """Copy numbers from the host to a device, without waiting for the passes that run there.

    CUDA copies the host's memory before it returns, so that memory may be reused at once.
    """
    import torch

    return torch.as_tensor(numbers).to(device, non_blocking=device.type == "cuda")


class TextCache(Protocol):
    """The cache of some texts, which also makes the inputs of the forward pass."""

    @property
    def is_ragged(self) -> bool:
        """Whether the texts may get different numbers of tokens."""
        ...

    @property
    def can_join(self) -> bool:
        """Whether rows of another cache of the same model can be appended."""
        ...

    @property
    def pads_behind(self) -> bool:
        """Whether the first new tokens of all texts are in one column; if not, the last ones are."""
        ...

    @property
    def nbytes(self) -> int:
        """Its memory in bytes."""
        ...

    def before(self, token_ids: Sequence[Sequence[int]], window: int = 0) -> dict[str, Any]:
        """Return the inputs of the forward pass; up to `window` of the new tokens of each text may be rolled back."""
        ...

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text, none beyond the window of the last pass."""
        ...

    def become(self, other: Self, rows: int) -> None:
        """Replace the content by copies of the only row of another cache, which stays unchanged."""
        ...

    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, in that order; a row listed twice is copied."""
        ...

    def join(self, other: Self) -> None:
        """Append the rows of another cache of the same model, which is used up."""
        ...


class PaddedCache:
    """A cache of transformers, with any layers. A text with fewer new tokens than others is padded in front.

    Where layers do not allow that, only the first tokens are padded, and all texts get as many.
    """

    pads_behind = False

    def __init__(
        self, model: "PreTrainedModel", rows: int, accepts: frozenset[str], cache_name: str, *, attends: bool
    ) -> None:
        """Begin texts of a model, whose forward pass accepts arguments of these names, and the cache by one of them."""
        import torch
        from transformers.cache_utils import DynamicCache

        self.cache: Any = DynamicCache(config=model.config.get_text_config(decoder=True))
        self.accepts, self.cache_name, self.attends = accepts, cache_name, attends
        self.seen = torch.zeros((rows, 0), dtype=torch.long, device=model.device)
        """Which places hold a token, and which are padding; shape (texts, places)."""

    @property
    def is_ragged(self) -> bool:
        """Whether every layer keeps all keys and values, so that padding may be anywhere."""
        from transformers.cache_utils import DynamicLayer

        return all(type(layer) is DynamicLayer for layer in self.cache.layers)

    @property
    def can_join(self) -> bool:
        """Whether all layers can be padded in front afterwards."""
        from transformers.cache_utils import DynamicLayer, LinearAttentionLayer

        return all(type(layer) in {DynamicLayer, LinearAttentionLayer} for layer in self.cache.layers)

    @property
    def nbytes(self) -> int:
        """The memory of its tensors."""
        tensors: list[torch.Tensor] = []
        for layer in self.cache.layers:
            if hasattr(layer, "conv_states"):
                states = [*layer.conv_states.values(), *layer.recurrent_states.values()]
                tensors += [state for state in states if state is not None]
            tensors += [getattr(layer, name) for name in ("keys", "values") if getattr(layer, name, None) is not None]
        return sum(tensor.nbytes for tensor in tensors)

    def before(self, token_ids: Sequence[Sequence[int]], window: int = 0) -> dict[str, Any]:  # noqa: ARG002  none is
        """Pad the new tokens of each text, and return the inputs of the forward pass."""
        import torch

        device = self.seen.device
        width = max(map(len, token_ids))
        rows = [[0] * (width - len(new)) + list(new) for new in token_ids]
        seen = [[0] * (width - len(new)) + [1] * len(new) for new in token_ids]
        self.seen = torch.cat([self.seen, on_device(seen, device)], dim=1)
        arguments: dict[str, Any] = {"input_ids": on_device(rows, device), self.cache_name: self.cache}
        arguments["attention_mask"] = (
            self.seen if self.attends else self.seen[:, -width:]
        )  # without attention, earlier places do not count
        if "position_ids" in self.accepts:
            positions = self.seen.cumsum(dim=1) - 1
            arguments["position_ids"] = positions.clamp(min=0)[:, -width:]
        return arguments

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget nothing: no window was open."""
        if any(counts):
            raise ValueError("A padded cache forgets no token.")

    def become(self, other: Self, rows: int) -> None:
        """Replace the content by copies of the only row of another cache."""
        import torch

        self.cache, self.seen = copy.deepcopy(other.cache), other.seen.repeat(rows, 1)
        if rows > 1:
            self.cache.reorder_cache(torch.zeros(rows, dtype=torch.long))

    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, and drop the places in front that are padding in all of them, if there are many."""
        import torch

        self.cache.reorder_cache(torch.tensor(rows, dtype=torch.long))  # hybrid caches have no other way to select
        self.seen = self.seen[list(rows)]
        places = int(self.seen.argmax(dim=1).min())
        if places * 8 > self.seen.shape[1] and self.is_ragged:
            self.seen = self.seen[:, places:]
            for layer in self.cache.layers:
                layer.keys, layer.values = layer.keys[..., places:, :], layer.values[..., places:, :]

    def join(self, other: Self) -> None:
        """Append the rows of another cache; the shorter rows are padded in front."""
        import torch

        for mine, theirs in zip(self.cache.layers, other.cache.layers, strict=True):
            if hasattr(mine, "conv_states"):
                for index, state in mine.conv_states.items():
                    if state is not None:
                        mine.conv_states[index] = torch.cat([state, theirs.conv_states[index]])
                for index, state in mine.recurrent_states.items():
                    if state is not None:
                        mine.recurrent_states[index] = torch.cat([state, theirs.recurrent_states[index]])
            else:
                length = max(mine.keys.shape[-2], theirs.keys.shape[-2])
                mine.keys = torch.cat([_padded(mine.keys, length), _padded(theirs.keys, length)])
                mine.values = torch.cat([_padded(mine.values, length), _padded(theirs.values, length)])
        places = max(self.seen.shape[1], other.seen.shape[1])
        padded = [torch.nn.functional.pad(seen, (places - seen.shape[1], 0)) for seen in (self.seen, other.seen)]
        self.seen = torch.cat(padded)


def _padded(states: "torch.Tensor", length: int) -> "torch.Tensor":
    """Pad keys or values, shape (texts, heads, places, width), in front to a number of places."""
    import torch

    return torch.nn.functional.pad(states, (0, 0, length - states.shape[-2], 0))
