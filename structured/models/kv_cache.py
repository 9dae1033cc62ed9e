"""What a model has cached of some texts, as a table with a row for each: copied, selected, joined.

What may be done depends on the layers. One that keeps the keys and values of every token can be padded, as padding is
masked; a convolution or a recurrence cannot, and a sliding window counts its places and not the tokens in them.
"""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def on_device(numbers: ArrayLike, device: "torch.device") -> "torch.Tensor":
    """Return numbers of the host on a device, without waiting for the passes that run there.

    CUDA takes a copy of the host's memory before it returns, so that memory may be used again at once.
    """
    import torch

    return torch.as_tensor(numbers).to(device, non_blocking=device.type == "cuda")


class TextCache(Protocol):
    """The cache of some texts, and the inputs of the forward pass."""

    @property
    def is_ragged(self) -> bool:
        """Whether each text may be given another number of tokens."""
        ...

    @property
    def can_join(self) -> bool:
        """Whether rows of another cache of the same model can be put behind those of this one."""
        ...

    @property
    def pads_behind(self) -> bool:
        """Whether the first new tokens of all texts are in one column; if not, the last ones are."""
        ...

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        ...

    def before(self, token_ids: Sequence[Sequence[int]], window: int = 0) -> dict[str, Any]:
        """Return the inputs of the forward pass; up to `window` of the new tokens of each text may be rolled back."""
        ...

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text, none beyond the window of the last pass."""
        ...

    def become(self, other: Self, rows: int) -> None:
        """Take that many copies of the one row of another cache, which stays as it is, in place of what is here."""
        ...

    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, in that order; one that is named twice is copied."""
        ...

    def join(self, other: Self) -> None:
        """Take over the rows of another cache of the same model, behind these."""
        ...


class PaddedCache:
    """A cache of transformers, whatever its layers. A text with fewer new tokens than others is padded in front.

    Where layers do not stand that, only the first tokens are padded, and all texts are given as many.
    """

    pads_behind = False

    def __init__(self, model: "PreTrainedModel", rows: int, accepts: frozenset[str]) -> None:
        """Make room for texts of a model, the forward pass of which accepts arguments of these names."""
        import torch
        from transformers.cache_utils import DynamicCache

        self.cache: Any = DynamicCache(config=model.config.get_text_config(decoder=True))
        self.accepts = accepts
        self.seen = torch.zeros((rows, 0), dtype=torch.long, device=model.device)
        """Which places hold a token, and which are padding; shape (texts, places)."""

    @property
    def is_ragged(self) -> bool:
        """Whether every layer keeps all keys and values, so that padding may stand anywhere."""
        from transformers.cache_utils import DynamicLayer

        return all(type(layer) is DynamicLayer for layer in self.cache.layers)

    @property
    def can_join(self) -> bool:
        """Whether all layers are of kinds that can be padded in front afterwards."""
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
        arguments: dict[str, Any] = {"input_ids": on_device(rows, device)}  # (texts, width)
        if "past_key_values" in self.accepts:
            arguments |= {"attention_mask": self.seen, "past_key_values": self.cache}
        else:  # without attention, nothing looks at earlier places
            arguments |= {"attention_mask": self.seen[:, -width:], "cache_params": self.cache}
        if "position_ids" in self.accepts:
            positions = self.seen.cumsum(dim=1) - 1
            arguments["position_ids"] = positions.clamp(min=0)[:, -width:]
        return arguments

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget nothing: no window was open."""
        if any(counts):
            raise ValueError("A padded cache forgets no token.")

    def become(self, other: Self, rows: int) -> None:
        """Take that many copies of the one row of another cache, in place of what is here."""
        import torch

        self.cache, self.seen = copy.deepcopy(other.cache), other.seen.repeat(rows, 1)
        if rows > 1:
            self.cache.reorder_cache(torch.zeros(rows, dtype=torch.long))

    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, and drop the places in front that are padding in all of them, if that is worth it."""
        import torch

        self.cache.reorder_cache(torch.tensor(rows, dtype=torch.long))  # hybrid caches have no other way to select
        self.seen = self.seen[list(rows)]
        places = int(self.seen.argmax(dim=1).min())
        if places * 8 > self.seen.shape[1] and self.is_ragged:
            self.seen = self.seen[:, places:]
            for layer in self.cache.layers:
                layer.keys, layer.values = layer.keys[..., places:, :], layer.values[..., places:, :]

    def join(self, other: Self) -> None:
        """Put the rows of another cache behind those of this one; the shorter is padded in front."""
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
    """Return keys or values, shape (texts, heads, places, width), with as many places more in front as are missing."""
    import torch

    return torch.nn.functional.pad(states, (0, 0, length - states.shape[-2], 0))
