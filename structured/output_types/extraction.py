"""An extraction: what a text states, with the paths of what it does not."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extraction(Generic[T]):
    """What a text says, where it may not say everything.

    `value` is the instance; None if something is missing that the type requires. `data` is what was stated, as plain
    JSON values. `missing` are the paths of the fields that were not stated, such as `"lines[2].price"`; of those, the
    type's defaults stand in `value`.
    """

    value: T | None
    data: Any
    missing: tuple[str, ...]
