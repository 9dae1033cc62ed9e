"""Muon, with all matrices of one shape orthogonalised together.

The method is that of Jordan et al. ("Muon: an optimizer for hidden layers in neural networks", 2024): the momentum of
each matrix is replaced by the nearest orthogonal one, found by a Newton–Schulz iteration. `torch.optim.Muon` takes the
matrices one by one, which on a CPU costs several times the training step of a model this small.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch

from training.network import PRODUCTS

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the quintic iteration; from the paper."""


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised, for matrices; the step has the root mean square of a typical one of AdamW."""

    def __init__(
        self, matrices: Iterable[torch.nn.Parameter], *, lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update every matrix; each must have a gradient."""
        assert closure is None, "Muon does not re-evaluate the model"
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[torch.Tensor]] = defaultdict(list)
            for matrix in group["params"]:
                by_shape[matrix.shape].append(matrix)
            for matrices in by_shape.values():
                self._step_alike(matrices, group)

    def _step_alike(self, matrices: list[torch.Tensor], group: dict[str, Any]) -> None:
        directions = []
        for matrix in matrices:
            momentum = self.state[matrix].setdefault("momentum", torch.zeros_like(matrix))
            gradient = matrix.grad
            assert gradient is not None, "every matrix takes part in the loss"
            momentum.lerp_(gradient, 1 - group["momentum"])
            directions.append(gradient.lerp(momentum, group["momentum"]))
        rows, columns = matrices[0].shape
        size = 0.2 * max(rows, columns) ** 0.5  # Liu et al., "Muon is scalable for LLM training", 2025, section 2.2
        for matrix, update in zip(matrices, orthogonalised(torch.stack(directions)), strict=True):
            matrix.mul_(1 - group["lr"] * group["weight_decay"])
            matrix.add_(update, alpha=-group["lr"] * size)


def orthogonalised(matrices: torch.Tensor, *, iterations: int = 5) -> torch.Tensor:
    """Return matrices of the same singular vectors, all singular values near 1; shape (matrices, rows, columns).

    Where there are instructions for bfloat16, it is exact enough for a direction and takes half the time.
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x: torch.Tensor = matrices.mT if tall else matrices
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(PRODUCTS)
    a, b, c = _COEFFICIENTS
    for _ in range(iterations):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if tall else x).to(matrices.dtype)
