"""Arrays as the bytes of a file.

A file is bytes from outside: somebody may have cut it, or written it with other code. It is read only if its checksum
is right, and then still nothing in it is believed without a look: whoever uses an array checks its numbers. Pickle was
rejected, since it runs what it reads; `numpy.savez`, since it has no checksum of the whole.
"""

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


class ForgedError(ValueError):
    """A file has the right checksum and a content that `encode` never writes: it was not damaged, but made so."""


MAGIC = b"structured cache 1\n"
"""The format; another one has another magic, and files of the old are strangers to it."""

TYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "u1": np.dtype("u1")}
"""What arrays may be of; their bytes are the same on every machine."""

MAX_RAW_BYTES = 1 << 28
"""Of the arrays of one file, whatever its header says."""


SOURCES = ("regex", "vocabulary", "automata", "index")
"""The packages that a file depends on besides the pattern and the vocabulary, which its name is a digest of as well."""


def key_of(kind: str, *parts: bytes) -> str:
    """Return the name of what is made from some parts, by this very code."""
    digest = hashlib.sha256(MAGIC + _code() + kind.encode())
    for part in parts:
        digest.update(struct.pack("<Q", len(part)))
        digest.update(part)
    return f"{kind}-{digest.hexdigest()}"


@cache
def _code() -> bytes:
    """Return a digest of the sources that decide what is kept, so that no release and no edit reads another's files."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[2]
    for path in sorted(path for folder in SOURCES for path in (package / folder).rglob("*.py")):
        with suppress(OSError):
            digest.update(path.read_bytes())
    return digest.digest()


def encode(arrays: Arrays) -> bytes:
    """Return arrays as bytes: the magic, a checksum, the length of a header, the header, the compressed data."""
    header: dict[str, tuple[str, tuple[int, ...]]] = {}
    data: list[bytes] = []
    for name, array in arrays.items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        header[name] = (kind, array.shape)
        data.append(np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes())
    described = json.dumps(header).encode()
    body = struct.pack("<I", len(described)) + described + zlib.compress(b"".join(data), 1)
    return MAGIC + hashlib.sha256(body).digest() + body


def decode(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file. Raises ValueError if it was damaged, and ForgedError if `encode` never wrote it."""
    start = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : start] != hashlib.sha256(data[start:]).digest():
        raise ValueError("The file is not of this format, or was damaged.")
    try:
        return _decode_body(data[start:])
    except (ValueError, struct.error, zlib.error, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ForgedError(f"The file has the right checksum and the wrong content: {error}") from error


def _decode_body(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of what stands behind a checksum that is right."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    shapes = {name: (TYPES[kind], _shape(shape)) for name, (kind, shape) in header.items()}
    sizes = [dtype.itemsize * int(np.prod(shape, dtype=object)) for dtype, shape in shapes.values()]
    if sum(sizes) > MAX_RAW_BYTES:
        raise ValueError("The arrays are too large.")
    reader = zlib.decompressobj()
    raw = reader.decompress(data[4 + length :], sum(sizes) + 1)
    if len(raw) != sum(sizes) or not reader.eof:
        raise ValueError("The arrays are longer or shorter than the header says.")
    ends = np.cumsum([0, *sizes]).tolist()
    return {
        name: np.frombuffer(raw[start:end], dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
        for (name, (dtype, shape)), start, end in zip(shapes.items(), ends[:-1], ends[1:], strict=True)
    }


def _shape(shape: object) -> tuple[int, ...]:
    if not isinstance(shape, list) or not all(type(length) is int and 0 <= length <= MAX_RAW_BYTES for length in shape):
        raise ValueError(f"{shape!r} is not a shape.")
    return tuple(shape)
