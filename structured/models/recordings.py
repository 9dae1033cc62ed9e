"""Forward passes that are recorded once on a GPU and replayed: CUDA graphs over texts in slots.

To launch the kernels of a small step from Python takes longer than to run them. A recording launches them all at once,
but always reads and writes the same memory: so shapes are rounded up to powers of two, texts stay in their slots, and
what is read goes to the same places of memory each time. A shape is recorded when it comes a second time.

Importing this imports torch.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from structured.models.slots import SlotCache, SlotLayer

FEWEST_PLACES = 256
"""Of the slots of recorded passes, which look at all of their places."""

MOST_COLUMNS = 64
"""Of a pass that is recorded; longer ones are worth their launches."""

Pass = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From token ids and places, both of shape (rows, columns), to logits of shape (rows, kept, width)."""


class Recording(Protocol):
    """A pass that can be run again, with what these tensors hold then."""

    ids: torch.Tensor
    places: torch.Tensor
    logits: torch.Tensor

    def replay(self) -> None:
        """Run the pass."""
        ...


class CudaGraph:
    """A `Recording` of what a pass does on a GPU."""

    def __init__(self, run: Pass, ids: torch.Tensor, places: torch.Tensor) -> None:
        self.ids, self.places = ids.clone(), places.clone()
        self.graph = torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # libraries set themselves up in the first run, which cannot be recorded
            run(self.ids, self.places)
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(self.graph):
            self.logits = run(self.ids, self.places)

    def replay(self) -> None:
        """Run the pass."""
        self.graph.replay()


MakeRecording = Callable[[Pass, torch.Tensor, torch.Tensor], Recording]
"""From a pass, token ids and places to a recording of it."""


class Recordings:
    """The recorded passes over the slots of one cache."""

    def __init__(self, cache: SlotCache, *, make: MakeRecording) -> None:
        self.cache = cache
        self.make = make
        self._made: dict[tuple[int, int, int], Recording | None] = {}
        self._memory: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self._made)

    @staticmethod
    def can_record(cache: SlotCache) -> bool:
        """Tell whether all that a model keeps has places that stay the same: it attends, and does not convolve."""
        return all(isinstance(layer, SlotLayer) for layer in cache.layers)

    @torch.inference_mode()
    def read(self, token_ids: Sequence[Sequence[int]], kept: int) -> torch.Tensor | None:
        """Read new tokens of each text, and return the logits of the last `kept` places, shape (texts, kept, width).

        None if that is no pass to be recorded, and has not been run. The logits are overwritten by the next pass.
        """
        columns = max(map(len, token_ids))
        rows, columns = _power(len(token_ids)), _power(max(columns, kept))
        if columns > MOST_COLUMNS:
            return None
        ids, places = self.cache.placed(token_ids, rows, columns)
        self.cache.reserve(rows, max(FEWEST_PLACES, _power(max(self.cache.lengths))))
        memory = self.cache.layers[0].kept[0]
        if memory is not self._memory:  # it has grown
            self._memory = memory
            self._made.clear()
        key = rows, columns, kept
        if key not in self._made:
            self._made[key] = None
            return self._run(kept)(ids, places)[: len(token_ids)]
        recording = self._made[key]
        if recording is None:
            recording = self._made[key] = self.make(self._run(kept), ids, places)
        recording.ids.copy_(ids)
        recording.places.copy_(places)
        recording.replay()
        return recording.logits[: len(token_ids)]

    def _run(self, kept: int) -> Pass:
        """Return what is recorded: a pass in which nothing depends on the host."""
        return lambda ids, places: self.cache.run(ids, places, kept)


def _power(count: int) -> int:
    """Return the least power of two that is not less."""
    return 1 << (count - 1).bit_length()
