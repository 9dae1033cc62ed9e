"""The progress of a run: its learning rate, its log and its checkpoints."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import torch

CHECKPOINT_SECONDS = 300
"""Between two checkpoints."""


@dataclass(slots=True)
class Course:
    """The length of a run: so many tokens or, where there are some, so many seconds from the first batch on."""

    tokens: int
    seconds: float = 0.0
    started: float | None = None

    def done(self, seen: int) -> float:
        """Return what share of the run is over, once so many tokens are read; the first call starts the clock."""
        if not self.seconds:
            return seen / self.tokens if self.tokens else 1.0
        self.started = self.started or time.monotonic()
        return (time.monotonic() - self.started) / self.seconds


def share_of_rate(seen: int, done: float, *, warm_up: int, decay: float) -> float:
    """Return the learning rate, as a share of the highest, of a run of which some is done.

    It rises over the first `warm_up` tokens, stays, and falls to zero over the last `decay` of the run.
    """
    return max(0.0, min(1.0, (seen + 1) / warm_up, (1 - done) / decay))


def write_log(log: TextIO, **record: object) -> None:
    """Print a record, and append it to a log as a line of JSON."""
    line = json.dumps(record)
    print(line, flush=True)
    log.write(line + "\n")
    log.flush()


def save_checkpoint(run: Path, state: Mapping[str, Any]) -> None:
    """Write what a run goes on from to its folder; one that is there is kept until the new one is whole."""
    torch.save(state, run / "checkpoint.tmp")
    (run / "checkpoint.tmp").replace(run / "checkpoint.pt")


def load_checkpoint(run: Path, device: torch.device) -> dict[str, Any]:
    """Return what a run goes on from."""
    state: dict[str, Any] = torch.load(run / "checkpoint.pt", map_location=device)
    return state
