"""What an answer states of a type, where it may say that something is missing."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stated(Generic[T]):
    """The stated values, and the names of the fields that are missing.

    Attributes:
        value: The instance; missing fields have their defaults. None if a missing field is required by the type.
        data: What was stated, as plain JSON values, without the missing fields.
        missing: The fields that were not stated, by their paths, such as `"lines[2].price"`.
    """

    value: T | None
    data: Any
    missing: tuple[str, ...]
