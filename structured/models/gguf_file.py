"""GGUF files, as far as adapters need them: metadata and tensors, which the package gguf dequantises.

The format is specified in the documentation of ggml (`docs/gguf.md`). An adapter can be checked before llama.cpp loads
it, which fails without a reason. Rejected: the package's `GGUFReader`, which takes 27 times as long for a vocabulary,
and does not return from a list that is longer than its file.
"""

import mmap
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

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

_WRITTEN = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}


class Tensor(NamedTuple):
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
            self._at = 0
            magic, version, tensors, entries = self._numbers("4sIQQ")
            if magic != MAGIC or version not in VERSIONS:
                raise ValueError("it begins otherwise, or is of another version")
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
        """Return a tensor in float32. Raises ModelError if it is damaged, or the package gguf cannot dequantise it."""
        try:
            from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize
        except ImportError as error:
            raise ModelError(f"The numbers in {str(self.path)!r} need the package gguf: pip install gguf.") from error
        tensor = self.tensors[name]
        try:
            kind = GGMLQuantizationType(tensor.kind)
            numbers, size = GGML_QUANT_SIZES[kind]
            count = prod(tensor.shape) // numbers * size
            blocks = np.frombuffer(self._data, np.uint8, count, self._start + tensor.offset)
            return dequantize(blocks, kind).reshape(tensor.shape).astype(np.float32)
        except (NotImplementedError, *_DAMAGED) as error:
            problem = f"{name} in {str(self.path)!r} cannot be read: {error}"
            raise ModelError(f"{problem}. Download or convert it again.") from error

    def _numbers(self, form: str) -> list[Any]:
        numbers = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return list(numbers)

    def _number(self, form: str) -> Any:
        [number] = self._numbers(form)
        return number

    def _text(self) -> str:
        data: bytes = self._number(f"{self._number('Q')}s")
        return data.decode()

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            inner, count = self._numbers("IQ")
            if inner in _SCALARS:  # at once: a count beyond the file fails before any number is read
                return self._numbers(f"{count}{_SCALARS[inner]}")
            return [self._value(inner) for _ in range(count)]
        return self._number(_SCALARS[kind])

    def _tensor(self) -> tuple[str, Tensor]:
        name = self._text()
        sizes = self._numbers(f"{self._number('I')}Q")
        kind, offset = self._numbers("IQ")
        return name, Tensor(kind, tuple(reversed(sizes)), offset)


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
