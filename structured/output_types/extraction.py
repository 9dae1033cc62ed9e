"""An extraction: what a text states, with the paths of what it does not."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extraction(Generic[T]):
    """The result of a call with `absent`: what the text states, and the fields that it does not.

    Attributes:
        value: The instance; missing fields have their defaults. None if a missing field is required by the type.
        data: What was stated, as plain JSON values.
        missing: The paths of the fields that were not stated, such as `"lines[2].price"`.
    """

    value: T | None
    data: Any
    missing: tuple[str, ...]
