"""The arrays of loops: a larger one has the values of the smaller one, as Python has them and as compiled loops do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured.machine_code.growing_arrays import grown, rows_of, viewed, zeros
from structured.machine_code.notation import Row

NUMBERS = st.integers(-(2**31), 2**31 - 1)


class Pair(Row):
    left: int
    right: int


@given(st.lists(NUMBERS, min_size=1), st.integers(0, 10), NUMBERS)
def test_an_array_grows_at_its_end(numbers: list[int], more: int, value: int) -> None:
    larger = grown(viewed(np.array(numbers, dtype=np.int32)), len(numbers) + more, value)
    assert list(larger) == numbers + [value] * more


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1), st.integers(0, 10))
def test_rows_grow_by_rows_of_zeros(rows: list[tuple[int, int]], more: int) -> None:
    array = np.array(rows, dtype=np.int32)
    of_structs = grown(rows_of(np.dtype([("left", np.int32), ("right", np.int32)]), array), len(rows) + more)
    of_python = grown(Pair.of(array), len(rows) + more)
    expected = rows + [(0, 0)] * more
    assert of_structs.tolist() == expected
    assert [(row.left, row.right) for row in of_python] == expected


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4)])
def test_a_view_shares_the_memory_of_its_array(shape: tuple[int, ...]) -> None:
    """What a loop writes to a view is in the array that Python has."""
    array = np.asarray(zeros(*shape))
    view = viewed(array)
    view[(1,) * len(shape)] = 5
    assert array[(1,) * len(shape)] == 5
