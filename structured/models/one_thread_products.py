"""Products of matrices on the calling thread, in pieces too small for BLAS to share among threads.

The matrices of a small model are so small that threads of BLAS only wait for each other: beside another program, a
document took five to sixteen times the CPU time. OpenBLAS, which NumPy's wheels contain, has one number of threads for
the whole process, and that number belongs to the program which imports this library: a limit, even for the time of a
pass, would slow the products of the program's other threads. So the number is left as it is, and each product is made
of pieces that OpenBLAS computes on one thread in any case (`interface/gemm.c` and `interface/gemv.c` have the limits).
On processors with AVX-512 it has a kernel for such pieces, which copies nothing: a few rows take a third of the time.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MAX_PRODUCTS = 1 << 18
"""Multiplications up to which OpenBLAS multiplies two matrices on one thread."""

MAX_VECTOR_PRODUCTS = 9215
"""Multiplications up to which OpenBLAS multiplies a vector and a matrix on one thread."""

BLOCK_COLUMNS = 32
"""The most columns of a block of weights. With 256 inputs, 32 rows are multiplied at once."""

KEYS_AT_ONCE = 128
"""Keys that a query is multiplied with at once: those of a head with 64 values stay below the limit for a vector."""

QUERIES_AT_ONCE = MAX_PRODUCTS // (KEYS_AT_ONCE * 64)
"""The most queries of a text that may be multiplied with `KEYS_AT_ONCE` keys of 64 values at once."""


def blocks_of_columns(weights: Floats) -> Floats:
    """Return weights of shape (inputs, outputs) as blocks of shape (blocks, inputs, columns), for `times_blocks`."""
    inputs, outputs = weights.shape
    columns = max(size for size in range(1, BLOCK_COLUMNS + 1) if outputs % size == 0)
    return np.ascontiguousarray(weights.reshape(inputs, -1, columns).swapaxes(0, 1))


def times_blocks(rows: Floats, blocks: Floats) -> Floats:
    """Multiply rows by weights in blocks. Shapes (rows, inputs), (blocks, inputs, columns) → (rows, outputs)."""
    count, inputs, columns = blocks.shape
    if len(rows) == 1:
        parts = next(
            n for n in range(1, inputs + 1) if inputs % n == 0 and inputs // n * columns <= MAX_VECTOR_PRODUCTS
        )
        products = rows.reshape(parts, 1, -1) @ blocks.reshape(count, parts, -1, columns)
        summed: Floats = products.sum(axis=1)
        return summed.reshape(1, -1)
    out = np.empty((len(rows), count, columns), dtype=np.float32)
    pieces = -(-len(rows) * inputs * columns // MAX_PRODUCTS)
    # Equal pieces: a row that is left over would be multiplied as a vector, which has a lower limit.
    for start, end in pairwise(len(rows) * piece // pieces for piece in range(pieces + 1)):
        np.matmul(rows[start:end], blocks, out=out[start:end].swapaxes(0, 1))
    return out.reshape(len(rows), -1)


def times_keys(queries: Floats, keys: Floats) -> Floats:
    """Multiply at most `QUERIES_AT_ONCE` queries by all keys.

    Shapes, after those of texts and heads: (queries, width), (keys, width) → (queries, keys).
    """
    out = np.empty((*queries.shape[:-1], keys.shape[-2]), dtype=np.float32)
    for start in range(0, keys.shape[-2], KEYS_AT_ONCE):
        end = start + KEYS_AT_ONCE
        np.matmul(queries, keys[..., start:end, :].swapaxes(-1, -2), out=out[..., start:end])
    return out


def times_values(weights: Floats, values: Floats) -> Floats:
    """Mix values by the weights of at most `QUERIES_AT_ONCE` queries.

    Shapes, after those of texts and heads: (queries, keys), (keys, width) → (queries, width).
    """
    mixed: Floats = weights[..., :KEYS_AT_ONCE] @ values[..., :KEYS_AT_ONCE, :]
    for start in range(KEYS_AT_ONCE, values.shape[-2], KEYS_AT_ONCE):
        end = start + KEYS_AT_ONCE
        mixed += weights[..., start:end] @ values[..., start:end, :]
    return mixed
