"""Splits: what samples are made of in training, and what is kept from it to measure with.

Every sixth entry of every table is kept from training, so that what the "phrasings" split measures is copying and not
recall; "kinds" are records of which training knows nothing. Tables are divided by position rather than by a hash: an
entry that moves is then visible in a diff.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeVar, get_args

Split = Literal["train", "phrasings", "kinds"]
SPLITS: tuple[Split, ...] = get_args(Split)
Entry = TypeVar("Entry")


def is_held_out(position: int, count: int) -> bool:
    """Return whether the entry at a position of a table with `count` entries is kept from training."""
    return position % 6 == 5 if count > 5 else count > 2 and position == count - 1


def part(entries: Sequence[Entry], split: Split) -> tuple[Entry, ...]:
    """Return the entries that a split may use: all but the kept ones in training, only those elsewhere."""
    if len(entries) < 3:  # nothing is kept of two
        return tuple(entries) if split == "train" else ()
    return _part(entries, split) if isinstance(entries, tuple) else _part.__wrapped__(entries, split)


@lru_cache(maxsize=4096)
def _part(entries: Sequence[Entry], split: Split) -> tuple[Entry, ...]:
    count, kept = len(entries), split != "train"
    return tuple(entry for position, entry in enumerate(entries) if is_held_out(position, count) == kept)


def by_split(known: Sequence[Entry], unseen: Sequence[Entry], split: Split) -> Sequence[Entry]:
    """Return what a split may use: the known family, the unseen one, or both for unseen kinds."""
    return known if split == "train" else unseen if split == "phrasings" else (*known, *unseen)


@dataclass(frozen=True, slots=True)
class Parted:
    """Texts, some of which are kept from training."""

    entries: tuple[str, ...]
    parts: dict[Split, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, split: Split) -> tuple[str, ...]:
        """Return the texts of a split; unseen kinds have them all, since all are unseen."""
        if split not in self.parts:
            self.parts[split] = self.entries if split == "kinds" else part(self.entries, split)
        return self.parts[split]

    def some(self, split: Split) -> tuple[str, ...]:
        """Return the texts of a split, or all of them where it has none."""
        return self.of(split) or self.entries


NO_TEXTS = Parted(())
