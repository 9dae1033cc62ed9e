"""Caches with slots: a row for each text, with its tokens at successive places.

The caches of transformers copy everything for each token, and pad texts of different lengths. Here a token is written
to its place, texts of all lengths share the rows, and nothing is copied except when the memory grows, or a text leaves.
A text may have more new tokens than others, and the last of them can be rolled back.

The layers decide how the new tokens are padded. Attention allows to repeat the first new token of a shorter text, which
is written to the same place: so the last token is in the last column for all texts. A convolution must not see a token
twice; there, padding comes last, where it is overwritten, and the state is cut out of the columns for each text.

Importing this imports torch and transformers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import torch
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicCache, DynamicLayer, LinearAttentionLayer

from structured.models.kv_cache import on_device

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ROUND = 64
"""Numbers of places are rounded up to multiples of it."""


def has_slots(model: "PreTrainedModel", parameter_names: frozenset[str]) -> bool:
    """Tell whether a model can be given slots: tokens have positions, and layers either attend to all or convolve.

    `parameter_names` are those of its forward pass. Transformers marks the models that can have a static cache, which
    chooses the places; other models compute the places themselves.
    """
    config = model.config.get_text_config(decoder=True)
    layers = DynamicCache(config=config).layers
    types = getattr(config, "layer_types", None) or [""] * len(layers)
    return (
        "position_ids" in parameter_names
        and bool(getattr(model, "_can_compile_fullgraph", False))
        and config._attn_implementation in {"sdpa", "eager"}  # noqa: SLF001  there is no public name
        and not getattr(config, "alibi", False)
        and any(type(layer) is DynamicLayer for layer in layers)
        and all(
            type(layer) is DynamicLayer or (name == "conv" and getattr(layer, "number_of_states", 0) == 1)
            for layer, name in zip(layers, types, strict=True)
        )
    )


class SlotCache:
    """The cache of some texts, which also makes the inputs of the forward pass; follows `TextCache`."""

    is_ragged = True
    can_join = True

    def __init__(self, model: "PreTrainedModel", rows: int, cache_name: str) -> None:
        self.model, self.cache_name = model, cache_name
        self.config = model.config.get_text_config(decoder=True)
        self.device = model.device
        self.lengths = [0] * rows
        """The tokens of each text."""
        self.new_counts = [0] * rows
        """The new tokens of each text in the last pass."""
        self.window = 0
        """The tokens of each text that may be rolled back."""
        self.layers: list[Any] = [  # joined pair by pair, so of one kind each
            SlotLayer(self) if type(layer) is DynamicLayer else ConvolutionSlots(self)
            for layer in DynamicCache(config=self.config).layers
        ]
        self.convolutions = [layer for layer in self.layers if isinstance(layer, ConvolutionSlots)]
        self.pads_behind = bool(self.convolutions)
        self.places_in_use = self.first_new_place = 0
        self.places: torch.Tensor | None = None
        """The places of the new tokens, shape (texts, columns); None for the same of all, from `first_new_place` on."""

    @property
    def nbytes(self) -> int:
        """Its memory in bytes."""
        return sum(layer.nbytes for layer in self.layers)

    def forward_inputs(self, token_ids: Sequence[Sequence[int]], window: int = 0) -> dict[str, Any]:
        """Reserve places for the new tokens of each text, and return the inputs of the forward pass."""
        self.window = window
        width = max(map(len, token_ids))
        self.new_counts = list(map(len, token_ids))
        if self.pads_behind:
            ids = [[*new, *[0] * (width - len(new))] for new in token_ids]
            places = [list(range(length, length + width)) for length in self.lengths]
        else:
            ids = [[new[0]] * (width - len(new)) + list(new) for new in token_ids]
            places = [
                [length] * (width - len(new)) + list(range(length, length + len(new)))
                for length, new in zip(self.lengths, token_ids, strict=True)
            ]
        self.first_new_place, self.places_in_use = self.lengths[0], max(row[-1] for row in places) + 1
        self.lengths = [length + count for length, count in zip(self.lengths, self.new_counts, strict=True)]
        positions = on_device(places, self.device)
        is_even = all(row == places[0] for row in places[1:])
        self.places = None if is_even else positions
        for layer in self.convolutions:
            layer.begin_pass(width)
        return {
            "input_ids": on_device(ids, self.device),  # (texts, columns)
            "position_ids": positions,
            "attention_mask": None if is_even else self._mask(positions),
            self.cache_name: Cache(layers=[*self.layers]),
        }

    @torch.inference_mode()
    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text: later ones overwrite them, and they are masked until then."""
        self.lengths = [length - count for length, count in zip(self.lengths, counts, strict=True)]
        for layer in self.convolutions:
            layer.rollback(counts)

    @torch.inference_mode()
    def fill(self, other: Self, rows: int) -> None:
        """Replace the content by copies of the only row of another cache."""
        self.lengths = other.lengths * rows
        for mine, theirs in zip(self.layers, other.layers, strict=True):
            mine.copy_rows(theirs, 0, other.lengths[0], rows=1, copies=rows)

    @torch.inference_mode()
    def select(self, rows: Sequence[int]) -> None:
        """Keep some rows, in that order; a row listed twice is copied."""
        if list(rows) != list(range(len(self.lengths))):
            self.lengths = [self.lengths[row] for row in rows]
            for layer in self.layers:
                layer.select(rows, max(self.lengths))

    @torch.inference_mode()
    def join(self, other: Self) -> None:
        """Append the rows of another cache of the same model."""
        for mine, theirs in zip(self.layers, other.layers, strict=True):
            mine.copy_rows(theirs, len(self.lengths), max(other.lengths), rows=len(other.lengths))
        self.lengths = self.lengths + other.lengths

    def _mask(self, positions: torch.Tensor) -> torch.Tensor:
        """Return the places that each new token attends to, shape (texts, 1, columns, places in use)."""
        mask = torch.arange(self.places_in_use, device=positions.device) <= positions[:, None, :, None]
        if self.config._attn_implementation == "sdpa":  # noqa: SLF001
            return mask
        nothing = torch.zeros((), dtype=self.model.dtype, device=positions.device)
        return torch.where(mask, nothing, torch.finfo(self.model.dtype).min)


class SlotLayer(CacheLayerMixin):
    """The keys and values of one layer, each of shape (rows, heads, places, width), of which some are in use."""

    is_sliding = False

    def __init__(self, slots: SlotCache) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # transformers has no types there
        self.slots = slots
        self.states: tuple[torch.Tensor, ...] = ()
        """The keys and the values."""

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Make empty tensors of the right kind."""
        self.states = tuple(new.new_zeros((0, new.shape[1], 0, new.shape[3])) for new in (key_states, value_states))
        self.is_initialized = True

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *args: Any,  # noqa: ARG002  for other caches
        **kwargs: Any,  # noqa: ARG002
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new keys and values, shape (texts, heads, columns, width), and return all that are in use."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        slots, (rows, _, columns, _) = self.slots, key_states.shape
        self.grow(rows, slots.places_in_use)
        for tensor, new in zip(self.states, (key_states, value_states), strict=True):
            if slots.places is None:
                tensor[:rows, :, slots.first_new_place : slots.first_new_place + columns] = new
            else:
                places = slots.places.to(tensor.device)
                tensor[torch.arange(rows, device=tensor.device)[:, None], :, places] = new.transpose(1, 2)
        keys, values = (tensor[:rows, :, : slots.places_in_use] for tensor in self.states)
        return keys, values

    def get_seq_length(self) -> int:
        """Return the number of tokens before the new ones, where all texts have as many."""
        return self.slots.first_new_place

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the number of places to attend to, and the first."""
        return self.slots.first_new_place + query_length, 0

    def get_max_length(self) -> int:
        """Return that there is no limit."""
        return -1

    @property
    def nbytes(self) -> int:
        """Its memory in bytes."""
        return sum(tensor.nbytes for tensor in self.states)

    def select(self, rows: Sequence[int], length: int) -> None:
        """Keep some rows, in that order, and their places in use."""
        self.grow(len(rows), length)
        to = [place for place, row in enumerate(rows) if place != row]
        for tensor in self.states if to else ():
            chosen = tensor[:, :, :length].index_select(0, on_device([rows[place] for place in to], tensor.device))
            tensor[on_device(to, tensor.device), :, :length] = chosen

    def copy_rows(self, other: "SlotLayer", first: int, length: int, *, rows: int, copies: int = 1) -> None:
        """Copy rows of another layer, with their places in use, to the rows from `first` on."""
        if not self.is_initialized:
            self.lazy_initialization(*other.states)
        self.grow(first + rows * copies, length)
        for tensor, new in zip(self.states, other.states, strict=True):
            tensor[first : first + rows * copies, :, :length] = new[:rows, :, :length].repeat(copies, 1, 1, 1)

    def grow(self, rows: int, places: int) -> None:
        """Grow if the memory is too small, by at least half the places, so that it is seldom."""
        had_rows, _, had_places, _ = self.states[0].shape
        if rows <= had_rows and places <= had_places:
            return
        if places > had_places:
            places = -(-max(places, had_places * 3 // 2) // ROUND) * ROUND
        # Masked places are multiplied by 0, so they must not be NaN.
        places = max(places, had_places)
        grown = [tensor.new_zeros((rows, tensor.shape[1], places, tensor.shape[3])) for tensor in self.states]
        for fresh, tensor in zip(grown, self.states, strict=True):
            fresh[: min(rows, had_rows), :, :had_places] = tensor[:rows]
        self.states = tuple(grown)


class ConvolutionSlots(LinearAttentionLayer):
    """The last inputs of a convolution for each text: as many as its kernel is wide, and the window."""

    def __init__(self, slots: SlotCache) -> None:
        super().__init__()
        self.slots = slots
        self.inputs: torch.Tensor | None = None
        """Shape (rows, width, size of the kernel and of the window); its end is the state."""
        self.size = 0

    @property
    def nbytes(self) -> int:
        """Its memory in bytes."""
        return 0 if self.inputs is None else self.inputs.nbytes

    def begin_pass(self, columns: int) -> None:
        """Drop the inputs of the window; the model itself may write a single column into the state."""
        self.record_past = columns > 1
        if self.inputs is not None:
            self.inputs = self.conv_states[0]

    def update_conv_state(
        self,
        conv_states: torch.Tensor,
        state_idx: int = 0,  # noqa: ARG002  there is one
        conv_kernel_size: int | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> torch.Tensor:
        """Return the state followed by the new inputs, shape (texts, width, columns); keep the last of each text."""
        if self.inputs is None:
            self.size = conv_kernel_size or conv_states.shape[-1]
            self._keep(conv_states.new_zeros((*conv_states.shape[:-1], self.size)))
        inputs = torch.cat([cast("torch.Tensor", self.conv_states[0]), conv_states], dim=-1)
        self._keep(self._until(inputs, self.slots.new_counts, self.size + self.slots.window))
        return inputs

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last inputs of each text, this many."""
        if self.inputs is not None:
            ends = [self.inputs.shape[-1] - self.size - count for count in counts]
            self._keep(self._until(self.inputs, ends, self.size))

    def select(self, rows: Sequence[int], length: int) -> None:  # noqa: ARG002  it has no places
        """Keep some rows, in that order."""
        if self.inputs is not None:
            self._keep(self.inputs[list(rows)])

    def copy_rows(self, other: "ConvolutionSlots", first: int, length: int, *, rows: int, copies: int = 1) -> None:  # noqa: ARG002
        """Copy rows of another layer to those from `first` on."""
        if other.inputs is None:
            return
        self.size = other.size
        new = other.inputs[:rows].repeat(copies, 1, 1)
        before = new[:0] if self.inputs is None else self.inputs[:first]
        most = max(before.shape[-1], new.shape[-1])
        padded = [torch.nn.functional.pad(part, (most - part.shape[-1], 0)) for part in (before, new)]
        self._keep(torch.cat(padded))

    def _until(self, inputs: torch.Tensor, ends: Sequence[int], size: int) -> torch.Tensor:
        if min(ends) == max(ends) >= size - self.size:
            end = ends[0] + self.size
            return inputs[..., end - size : end].contiguous()
        first = on_device(ends, inputs.device)[:, None, None] + self.size - size
        places = (first + torch.arange(size, device=inputs.device)).clamp(min=0)
        return inputs.gather(2, places.expand(-1, inputs.shape[1], -1))

    def _keep(self, inputs: torch.Tensor) -> None:
        """Keep inputs, the last of which are the state; a pass of one column changes it in place."""
        self.inputs = inputs
        self.conv_states[0] = inputs if inputs.shape[-1] == self.size else inputs[..., -self.size :].contiguous()
        self.has_previous_state[0] = True
