"""CUDA graphs: forward passes over texts in slots, recorded once on a GPU and replayed.

To launch the kernels of a small step from Python takes longer than to run them. A recording launches them all at once,
but always reads and writes the same memory: so shapes are rounded up to powers of two, texts stay in their slots, and
inputs are copied to the same memory each time. A shape is recorded at its second occurrence.

Importing this imports torch.
"""

from collections.abc import Callable, Sequence
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Protocol

import torch

from structured.errors import StructuredWarning
from structured.errors.calling_line import warn
from structured.models.slot_cache import SlotCache

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MIN_PLACES = 256
"""Places of the slots of recorded passes, which attend to all of them."""

MAX_COLUMNS = 64
"""Columns of a recorded pass; longer passes are worth their launches."""

Pass = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Takes token ids and places, both of shape (rows, columns); returns logits of shape (rows, places, width)."""


class Recording(Protocol):
    """A pass that can be run again, with the content of these tensors."""

    ids: torch.Tensor
    places: torch.Tensor
    logits: torch.Tensor

    def replay(self) -> None:
        """Run the pass."""
        ...


class CudaGraph:
    """A `Recording` of a pass on a GPU. It shares memory with the recording before it."""

    def __init__(self, run: Pass, ids: torch.Tensor, places: torch.Tensor, before: "CudaGraph | None") -> None:
        self.ids, self.places = ids.clone(), places.clone()
        self.device = ids.device
        self.graph = torch.cuda.CUDAGraph()
        pool = None if before is None else before.graph.pool()
        with _RECORDING, torch.cuda.device(self.device):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):  # libraries are set up in the first run, which cannot be recorded
                run(self.ids, self.places)
            torch.cuda.current_stream().wait_stream(stream)
            with torch.cuda.graph(self.graph, pool=pool, capture_error_mode="thread_local"):
                self.logits = run(self.ids, self.places)

    def replay(self) -> None:
        """Run the pass."""
        with torch.cuda.device(self.device):
            self.graph.replay()


_RECORDING = Lock()
"""Held while a pass is recorded: CUDA allows one at a time in a process."""

MakeRecording = Callable[[Pass, torch.Tensor, torch.Tensor, Any], Recording]
"""Takes a pass, token ids, places and the recording before it, or None; returns a recording."""


class Recordings:
    """The recorded passes over the slots of one cache, all of whose layers attend.

    A replay overwrites the logits of the replay before it.
    """

    def __init__(self, cache: SlotCache, *, make: MakeRecording) -> None:
        self.cache = cache
        self.make = make
        self._made: dict[tuple[int, int, int], Recording | None] = {}
        self._memory: torch.Tensor | None = None
        self._last: Recording | None = None
        self._can_be_made = True

    def __len__(self) -> int:
        return len(self._made)

    def suits(self, places: int) -> bool:
        """Tell whether texts of so many tokens use much of the memory: each pass attends to all places."""
        return self._memory is None or self._memory.shape[2] <= 4 * max(MIN_PLACES, _power(places))

    @torch.inference_mode()
    def read(self, token_ids: Sequence[Sequence[int]], count: int) -> torch.Tensor | None:
        """Read new tokens of each text, and return the logits of the last places, shape (texts, count, width).

        Return None, without a pass, where it cannot be recorded. The next pass overwrites the logits.
        """
        shape = _power(len(token_ids)), _power(max(*map(len, token_ids), count)), _power(count)
        if shape[1] > MAX_COLUMNS or not self._can_be_made:
            return None
        ids, places = self.cache.placed(token_ids, *shape[:2])
        self.cache.reserve(shape[0], max(MIN_PLACES, _power(max(self.cache.lengths))))
        memory = self.cache.layers[0].kept[0]
        if memory is not self._memory:  # it has grown
            self._memory, self._last = memory, None
            self._made.clear()
        return self._logits(shape, ids, places)[: len(token_ids), -count:]

    def _logits(self, shape: tuple[int, int, int], ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Run a pass: directly for the first time, recorded for the second, and replayed from then on."""

        def run(ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
            return self.cache.run(ids, places, shape[2])

        if shape not in self._made:
            self._made[shape] = None
            return run(ids, places)
        recording = self._made[shape]
        if recording is None:
            try:
                recording = self._made[shape] = self._last = self.make(run, ids, places, self._last)
            except RuntimeError as error:
                if isinstance(error, torch.OutOfMemoryError):
                    raise
                self._can_be_made = False
                warn(
                    StructuredWarning(
                        f"A pass of {type(self.cache.model).__name__} cannot be recorded: {error}. Continuing without "
                        "recording. Leave cuda_graphs out."
                    )
                )
                return run(ids, places)
        recording.ids.copy_(ids)
        recording.places.copy_(places)
        recording.replay()
        return recording.logits


class RecordingPool:
    """Slots whose passes are recorded, each lent to one batch at a time."""

    def __init__(self, model: "PreTrainedModel", make: MakeRecording) -> None:
        self.model = model
        self.make = make
        self._spare: Recordings | None = None
        self._lock = RLock()  # a batch may be collected, and give back its slots, while it is held

    def borrow(self, rows: int, places: int) -> Recordings:
        """Return slots for texts of that length at first.

        They are those of an earlier batch, if they are free and not much too large.
        """
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is None or not spare.suits(places):
            spare = Recordings(SlotCache(self.model, 0), make=self.make)
        spare.cache.clear(rows)
        return spare

    def give_back(self, recordings: Recordings) -> None:
        """Keep slots for the next texts, those with the most recordings."""
        with self._lock:
            if self._spare is None or len(recordings) > len(self._spare):
                self._spare = recordings


def _power(count: int) -> int:
    """Return the next power of two."""
    return 1 << (count - 1).bit_length()
