"""Columns: JSON data as cells of Arrow types.

A column takes what its type holds exactly, and refuses the rest: a number that would be rounded, a text that is no
UTF-8, a member that has no place. What has no exact type is JSON as text. Null is null in any column.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from typing import Any

INT64 = range(-(2**63), 2**63)


class UnfitError(ValueError):
    """Data that a column cannot hold exactly."""


class Column(ABC):
    """Cells of one type."""

    @property
    @abstractmethod
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells. Raises ImportError without pyarrow."""

    def to_cell(self, data: Any) -> Any:
        """Return JSON data as a cell, which pyarrow takes as it is. Raises UnfitError if that would not be exact."""
        return None if data is None else self._to_cell(data)

    @abstractmethod
    def _to_cell(self, data: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class _Scalar(Column):
    """Cells without parts, of a type that pyarrow calls by this name."""

    name: str

    @property
    def arrow(self) -> Any:
        return getattr(pyarrow(), self.name)()


class _Text(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, str) and _is_utf8(data):
            return data
        raise UnfitError(f"{data!r} is no text in UTF-8")


class _Boolean(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, bool):
            return data
        raise UnfitError(f"{data!r} is no boolean")


class _Integer(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, int) and not isinstance(data, bool) and data in INT64:
            return data
        raise UnfitError(f"{data!r} is no integer of 64 bits")


class _Float(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        """Return a number as float64; an integer if that is equal to it."""
        if isinstance(data, float):
            return data
        if isinstance(data, int) and not isinstance(data, bool) and abs(data) <= 2**53:
            return float(data)
        raise UnfitError(f"{data!r} has no float that is equal")


class _Date(_Scalar):
    """A date has one text in RFC 3339, so that it is read back as it was; a time has many."""

    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        try:
            found = date.fromisoformat(data)
        except (TypeError, ValueError) as error:
            raise UnfitError(f"{data!r} is no date") from error
        if found.isoformat() != data:
            raise UnfitError(f"{data!r} is not written as a date of RFC 3339")
        return found


@dataclass(frozen=True, slots=True)
class JsonText(Column):
    """Cells of any data, as JSON text."""

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().string()

    def _to_cell(self, data: Any) -> Any:
        text = json.dumps(data, ensure_ascii=False)
        return text if _is_utf8(text) else json.dumps(data)


@dataclass(frozen=True, slots=True)
class List(Column):
    """Cells of arrays."""

    items: Column

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().list_(self.items.arrow)

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self.items.to_cell(item) for item in data]
        raise UnfitError(f"{data!r} is no array")


@dataclass(frozen=True, slots=True)
class Map(Column):
    """Cells of objects with any names, and values of one type."""

    values: Column

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().map_(TEXT.arrow, self.values.arrow)

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, dict):
            return [(TEXT.to_cell(name), self.values.to_cell(member)) for name, member in data.items()]
        raise UnfitError(f"{data!r} is no object")


@dataclass(frozen=True, slots=True)
class Struct(Column):
    """Cells of objects with these names.

    Attributes:
        members: The column of each name.
    """

    members: Mapping[str, Column]

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().struct([(name, column.arrow) for name, column in self.members.items()])

    def _to_cell(self, data: Any) -> Any:
        if not isinstance(data, dict) or not data.keys() <= self.members.keys():
            raise UnfitError(f"{data!r} is no object of these members")
        return {name: column.to_cell(data.get(name)) for name, column in self.members.items()}


TEXT, BOOLEAN, INTEGER, FLOAT = _Text("string"), _Boolean("bool_"), _Integer("int64"), _Float("float64")
DATE, JSON = _Date("date32"), JsonText()


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow, or a module of it. Raises ImportError, which says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'structured-extraction[parquet]'.") from error


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
