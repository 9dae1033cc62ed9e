"""The arrays of loops: how they are made, and how they grow."""

from typing import Any

import numpy as np


def viewed(argument: Any) -> Any:
    """Return the view of an array that gives plain integers; anything else as it is."""
    return argument.data if isinstance(argument, np.ndarray) else argument


def zeros(*shape: int) -> Any:
    """Return an array of zeros, as a view."""
    return np.zeros(shape, dtype=np.int32).data


def filled(value: int, *shape: int) -> Any:
    """Return an array with one value everywhere, as a view."""
    return np.full(shape, value, dtype=np.int32).data


def grown(values: Any, count: int, value: int = 0) -> Any:
    """Return the values of an array, or rows, with room for `count` in all; the new ones are `value`."""
    if isinstance(values, list):
        values.extend(type(values[0])() for _ in range(count - len(values)))
        return values
    # Not a view of Cython: NumPy reads the format of a struct in Python, and makes a ValueError of a KeyboardInterrupt.
    array = values if isinstance(values, np.ndarray) else np.asarray(getattr(values, "base", values))
    larger = np.zeros((count, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    if value:
        larger[len(array) :] = value
    return larger.data if array.dtype.names is None else larger


def blank_rows(dtype: Any, count: int) -> Any:
    """Return `Row.rows` as compiled loops have it."""
    return np.zeros(count, dtype=dtype)


def rows_of(dtype: Any, array: Any) -> Any:
    """Return `Row.of` as compiled loops have it."""
    return np.ascontiguousarray(array, dtype=np.int32).view(dtype).reshape(-1)


def array_bytes(owner: Any) -> int:
    """Return the bytes of the arrays and lists of a compiled class; about those that they have in C, for Python's."""
    if hasattr(owner, "array_bytes"):
        return int(owner.array_bytes())
    return sum(_bytes_of(getattr(owner, name)) for name in type(owner).__annotations__)


def _bytes_of(array: Any) -> int:
    if isinstance(array, list):
        return 4 * len(array) * len(getattr(array[0], "names", (0,))) if array else 0
    return int(array.nbytes) if isinstance(array, memoryview) else 0
