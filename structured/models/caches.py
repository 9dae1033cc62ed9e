"""The key-value caches of transformers as tables with a row for each text: copied, selected, joined, trimmed.

What may be done depends on the layers. One that keeps the keys and values of every token can be padded, as padding is
masked; a convolution or a recurrence cannot, and a sliding window counts its places and not the tokens in them.
"""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def keeps_all(cache: Any) -> bool:
    """Tell whether every layer keeps all keys and values, so that padding may stand anywhere."""
    from transformers.cache_utils import DynamicLayer

    return all(type(layer) is DynamicLayer for layer in cache.layers)


def can_join(cache: Any) -> bool:
    """Tell whether rows of another cache of the same model can be put behind those of this one."""
    from transformers.cache_utils import DynamicLayer, LinearAttentionLayer

    return all(type(layer) in {DynamicLayer, LinearAttentionLayer} for layer in cache.layers)


def repeated(cache: Any, rows: int) -> Any:
    """Return a cache of that many copies of the one row of another, which stays as it is."""
    import torch

    fresh = copy.deepcopy(cache)
    if rows > 1:
        fresh.reorder_cache(torch.zeros(rows, dtype=torch.long))
    return fresh


def select(cache: Any, rows: Sequence[int]) -> None:
    """Keep some rows of a cache, in that order."""
    import torch

    cache.reorder_cache(torch.tensor(rows, dtype=torch.long))  # hybrid caches have no other way to select


def join(cache: Any, other: Any) -> None:
    """Put the rows of another cache behind those of this one; the shorter is padded in front."""
    import torch

    for mine, theirs in zip(cache.layers, other.layers, strict=True):
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


def trim(cache: Any, places: int) -> None:
    """Drop the first places of every layer that keeps keys and values."""
    for layer in cache.layers:
        if not hasattr(layer, "conv_states"):
            layer.keys = layer.keys[..., places:, :]
            layer.values = layer.values[..., places:, :]


def nbytes(cache: Any) -> int:
    """Return the memory of the tensors of a cache."""
    tensors: list[torch.Tensor] = []
    for layer in cache.layers:
        if hasattr(layer, "conv_states"):
            states = [*layer.conv_states.values(), *layer.recurrent_states.values()]
            tensors += [state for state in states if state is not None]
        tensors += [getattr(layer, name) for name in ("keys", "values") if getattr(layer, name, None) is not None]
    return sum(tensor.nbytes for tensor in tensors)


def _padded(states: "torch.Tensor", length: int) -> "torch.Tensor":
    """Return keys or values, shape (texts, heads, places, width), with as many places more in front as are missing."""
    import torch

    return torch.nn.functional.pad(states, (0, 0, length - states.shape[-2], 0))
