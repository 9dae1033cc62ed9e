"""Masks on the model's device: the rows of a mask table as one tensor, and logits under them.

The masks of a batch are one gather on the device, whatever the states and types of its texts. Between two tokens, only
row numbers are copied from the host. Outside the models, only this module needs torch.
"""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from structured.decoding.sampling import Sampler, TokenChoice
from structured.index.masks import NO_ROW, Mask, MaskTable
from structured.models import Logits
from structured.models.kv_cache import on_device

if TYPE_CHECKING:
    import torch


class DeviceMasks:
    """The copy of a mask table on one device. A table only gains rows, so each row is copied once."""

    def __init__(self, table: MaskTable, device: "torch.device | str") -> None:
        import torch

        self.table = table
        self.device = torch.device(device)
        self._buffer = torch.empty((0, table.rows.shape[1]), dtype=torch.int32, device=self.device)
        self._copied = 0
        self._shares_memory = self.device.type == "cpu"
        self._lock = Lock()

    @classmethod
    def of(cls, table: MaskTable, device: "torch.device") -> "DeviceMasks":
        """Return the copy of a table on a device, which lives as long as the table."""
        copy = table.copies.get(str(device))
        if copy is None:
            copy = table.copies[str(device)] = cls(table, device)
        return cast("DeviceMasks", copy)

    def rows(self) -> "torch.Tensor":
        """Return all rows of the table, int32 of shape (rows, words); the buffer doubles when it is full."""
        import torch

        rows = self.table.rows
        if self._shares_memory:
            return torch.from_numpy(rows)
        with self._lock:
            if len(rows) > len(self._buffer):
                grown = torch.empty((2 * len(rows), rows.shape[1]), dtype=torch.int32, device=self.device)
                grown[: self._copied] = self._buffer[: self._copied]
                self._buffer = grown
            if len(rows) > self._copied:
                self._buffer[self._copied : len(rows)] = on_device(rows[self._copied :], self.device)
                self._copied = len(rows)
            return self._buffer[: len(rows)]

    def gather(self, masks: Sequence[Mask]) -> "torch.Tensor":
        """Return the masks of a batch, int32 of shape (batch, words); masks without a row are copied from the host."""
        import torch

        numbers = np.array([self.table.row_of(mask) for mask in masks], dtype=np.int64)
        is_row = numbers != NO_ROW
        rows = self.rows().index_select(0, on_device(numbers[is_row], self.device))
        if is_row.all():
            return rows
        others = np.stack([mask for mask, has_row in zip(masks, is_row, strict=True) if not has_row])
        places = np.where(is_row, np.cumsum(is_row), len(rows) + np.cumsum(~is_row)) - 1
        return torch.cat([rows, on_device(others, self.device)]).index_select(0, on_device(places, self.device))


def stacked(logits: Sequence[Logits]) -> "torch.Tensor":
    """Return the logits of some texts on a device, each of shape (width,), as one tensor of shape (texts, width)."""
    import torch

    return torch.stack([cast("torch.Tensor", row) for row in logits])


def draw(
    scores: "torch.Tensor", masks: list[Mask], table: MaskTable, generators: list[np.random.Generator], sampler: Sampler
) -> list[TokenChoice]:
    """Sample a token for each row of scores, shape (batch, width), on their device, as `Sampler.choose` does."""
    import torch

    gathered = DeviceMasks.of(table, scores.device).gather(masks)
    logits = scores.float()
    masked = apply_masks(logits, gathered)
    log_total = masked.logsumexp(dim=1)
    if sampler.temperature == 0:
        token_ids = masked.argmax(dim=1)
    else:
        weights = _truncated((masked.double() / sampler.temperature).softmax(dim=1), sampler)
        sums = weights.cumsum(dim=1)
        turned = on_device(np.array([generator.random() for generator in generators]), scores.device)
        token_ids = torch.searchsorted(sums, turned[:, None] * sums[:, -1:], right=True)[:, 0]
        # If no score is finite, both exceed the width.
        last = torch.searchsorted(sums, sums[:, -1:].contiguous())[:, 0]
        token_ids = torch.minimum(token_ids, last).clamp(max=scores.shape[1] - 1)
    chosen = masked.gather(1, token_ids[:, None])[:, 0] - log_total
    mass = (log_total - logits.logsumexp(dim=1)).exp()
    drawn = torch.stack([token_ids.double(), chosen.double(), mass.double()], dim=1).tolist()
    return [
        TokenChoice(int(token_id), log_probability, share)
        if np.isfinite(log_probability)
        else sampler.choose(logits[row].cpu().numpy(), masks[row], generators[row])  # infinite or NaN scores
        for row, (token_id, log_probability, share) in enumerate(drawn)
    ]


def _truncated(weights: "torch.Tensor", sampler: Sampler) -> "torch.Tensor":
    """Return the weights of tokens, shape (batch, width), with 0 for tokens that the sampler excludes."""
    if sampler.top_k is not None and sampler.top_k < weights.shape[1]:
        weights = weights.where(weights >= weights.topk(sampler.top_k, dim=1).values[:, -1:], 0.0)
    if sampler.top_p < 1:
        ordered, order = weights.sort(dim=1, descending=True, stable=True)
        sums = ordered.cumsum(dim=1)
        ordered = ordered.where(sums - ordered < sampler.top_p * sums[:, -1:], 0.0)
        weights = weights.scatter(1, order, ordered)
    if sampler.min_p > 0:
        weights = weights.where(weights >= sampler.min_p * weights.amax(dim=1, keepdim=True), 0.0)
    return weights


def apply_masks(logits: "torch.Tensor", masks: "torch.Tensor") -> "torch.Tensor":
    """Return logits (batch, width) with -inf outside the masks (batch, words), and beyond the vocabulary."""
    import torch

    if logits.device.type == "cpu" and logits.dtype == torch.float32:
        return torch.from_numpy(_apply_on_host(logits.detach().numpy(), masks.numpy()))
    batch, width = logits.shape
    shifts = torch.arange(32, dtype=torch.int32, device=masks.device)
    allowed = ((masks.unsqueeze(2) >> shifts) & 1).bool()  # (batch, words, 32)
    allowed = allowed.view(batch, -1)[:, :width]
    padded = torch.nn.functional.pad(allowed, (0, width - allowed.shape[1]))
    return logits.masked_fill(~padded, float("-inf"))


def _apply_on_host(logits: NDArray[np.float32], masks: NDArray[np.int32]) -> NDArray[np.float32]:
    """Apply masks in NumPy, which unpacks bits faster than torch: five times if few tokens are allowed."""
    allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little").view(np.bool_)
    width = min(logits.shape[1], allowed.shape[1])
    masked = np.full_like(logits, -np.inf)
    np.copyto(masked[:, :width], logits[:, :width], where=allowed[:, :width])
    return masked
