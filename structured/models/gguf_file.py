"""GGUF files, as far as adapters need them: metadata, and tensors that are not quantised to fewer than eight bits.

The format is specified in the documentation of ggml (`docs/gguf.md`). The package gguf reads more of it; this needs no
package, and an adapter can be checked before llama.cpp loads it, which fails without a reason.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError

Floats: TypeAlias = NDArray[np.float32]

MAGIC, VERSIONS, VERSION = b"GGUF", {2, 3}, 3
"""The first bytes of a file, the versions that are read, and the version that is written."""

DEFAULT_ALIGNMENT = 32
"""Bytes: the place of each tensor is a multiple of it."""

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Kinds of metadata, as formats of `struct`; the other two are texts and arrays."""

_TEXT, _ARRAY, _UINT32, _FLOAT32 = 8, 9, 4, 6

_Q8_BLOCK = np.dtype([("scale", "<f2"), ("values", "i1", 32)])


@dataclass(frozen=True, slots=True)
class _Kind:
    """A way to store numbers: in blocks of `numbers` each."""

    name: str
    block: np.dtype[Any]
    numbers: int
    read: Callable[[NDArray[Any]], NDArray[Any]]


_KINDS = {
    0: _Kind("F32", np.dtype("<f4"), 1, lambda blocks: blocks),
    1: _Kind("F16", np.dtype("<f2"), 1, lambda blocks: blocks),
    8: _Kind("Q8_0", _Q8_BLOCK, 32, lambda blocks: blocks["scale"][:, None].astype(np.float32) * blocks["values"]),
    30: _Kind("BF16", np.dtype("<u2"), 1, lambda blocks: (blocks.astype(np.uint32) << 16).view(np.float32)),
}
"""By their numbers in ggml; bfloat16 is the upper half of a float32."""

_WRITTEN = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}


@dataclass(frozen=True, slots=True)
class Tensor:
    """The place of a tensor in its file."""

    kind: int
    shape: tuple[int, ...]
    """In the order of NumPy, which is reversed in the file."""
    offset: int


class GgufFile:
    """The metadata and the tensors of a GGUF file. Raises ModelError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if self._data[:4] != MAGIC:
                raise ValueError("it begins otherwise")
            self._at = 4
            if self._number("I") not in VERSIONS:
                raise ValueError("it is of another version")
            tensors, entries = self._number("Q"), self._number("Q")
            self.metadata: dict[str, Any] = {}
            for _ in range(entries):
                key = self._text()
                self.metadata[key] = self._value(self._number("I"))
            self.tensors: dict[str, Tensor] = dict(self._tensor() for _ in range(tensors))
            alignment = int(self.metadata.get("general.alignment", DEFAULT_ALIGNMENT))
            self._start = -(-self._at // alignment) * alignment
        except (OSError, *_DAMAGED) as error:
            raise ModelError(f"{str(path)!r} cannot be read as a GGUF file: {error}. Download it again.") from error

    def floats(self, name: str) -> Floats:
        """Return a tensor in float32. Raises ModelError if it is cut off, or quantised to another kind than Q8_0."""
        tensor = self.tensors[name]
        kind = _KINDS.get(tensor.kind)
        if kind is None:
            names = ", ".join(kind.name for kind in _KINDS.values())
            raise ModelError(
                f"{name} in {str(self.path)!r} is stored as number {tensor.kind} of ggml's types, and only {names} are "
                "read. Convert it again with one of these."
            )
        try:
            count = prod(tensor.shape) // kind.numbers
            blocks = np.frombuffer(self._data, kind.block, count, self._start + tensor.offset)
            return kind.read(blocks).reshape(tensor.shape).astype(np.float32)
        except _DAMAGED as error:
            raise ModelError(f"{str(self.path)!r} is cut off at {name}. Download it again.") from error

    def _number(self, form: str) -> Any:
        [number] = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return number

    def _text(self) -> str:
        size = self._number("Q")
        data = self._data[self._at : self._at + size]
        if len(data) < size:
            raise ValueError("it is cut off")
        self._at += size
        return data.decode()

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            inner, count = self._number("I"), self._number("Q")
            return [self._value(inner) for _ in range(count)]
        return self._number(_SCALARS[kind])

    def _tensor(self) -> tuple[str, Tensor]:
        name = self._text()
        sizes = [self._number("Q") for _ in range(self._number("I"))]
        return name, Tensor(self._number("I"), tuple(reversed(sizes)), self._number("Q"))


_DAMAGED = (struct.error, ValueError, TypeError, KeyError, ArithmeticError, MemoryError, RecursionError)
"""The errors of reading bytes that do not follow the format."""


def write_gguf(path: Path, metadata: Mapping[str, str | int | float], tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write a GGUF file with tensors of float32 or float16."""
    head = [MAGIC, struct.pack("<IQQ", VERSION, len(tensors), len(metadata))]
    for key, value in metadata.items():
        head += [_packed_text(key), _packed(value)]
    offset = 0
    for name, tensor in tensors.items():
        sizes = struct.pack(f"<I{tensor.ndim}Q", tensor.ndim, *reversed(tensor.shape))
        head += [_packed_text(name), sizes, struct.pack("<IQ", _WRITTEN[tensor.dtype], offset)]
        offset += tensor.nbytes + -tensor.nbytes % DEFAULT_ALIGNMENT
    with path.open("wb") as file:
        for data in (b"".join(head), *(np.ascontiguousarray(tensor).tobytes() for tensor in tensors.values())):
            file.write(data + bytes(-len(data) % DEFAULT_ALIGNMENT))


def _packed(value: str | float) -> bytes:
    match value:
        case str():
            return struct.pack("<I", _TEXT) + _packed_text(value)
        case int():
            return struct.pack("<II", _UINT32, value)
        case _:
            return struct.pack("<If", _FLOAT32, value)


def _packed_text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
