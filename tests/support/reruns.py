"""What stands for a CUDA graph where there is no GPU: a pass that is run anew, and held to what graphs demand."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from structured.models.cuda_graphs import Pass

FORBIDDEN = (
    *("_local_scalar_dense", "item", "nonzero", "is_nonzero", "equal", "lift_fresh", "masked_select", "bincount"),
    *("_unique2", "unique", "unique_consecutive", "unique_dim", "repeat_interleave.Tensor"),
    "repeat_interleave.self_Tensor",
)
"""Operations that wait for the device, or bring numbers from the host: a graph cannot hold them."""


class Recordable(TorchDispatchMode):
    """Runs what a CUDA graph could hold, as far as that can be seen without a GPU, and refuses the rest."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        whole = func.name().removeprefix("aten::")
        name = whole.partition(".")[0]
        indices = args[1] if name.startswith("index") and isinstance(args[1], list | tuple) else ()
        by_truth = any(one is not None and one.dtype == torch.bool for one in indices)
        if {name, whole} & {*FORBIDDEN} or by_truth or (name == "where" and len(args) == 1):
            raise AssertionError(f"a graph cannot hold {func.name()}")
        return func(*args, **(kwargs or {}))


class Rerun:
    """A `Recording` that runs the pass anew, from the memory and into the memory that it was made with."""

    def __init__(self, run: Pass, ids: torch.Tensor, places: torch.Tensor, before: "Rerun | None") -> None:
        del before
        self.run = run
        self.ids, self.places = ids.clone(), places.clone()
        self.logits = self._checked()

    def replay(self) -> None:
        """Run the pass."""
        self.logits.copy_(self._checked())

    def _checked(self) -> torch.Tensor:
        with Recordable():
            return self.run(self.ids, self.places)
