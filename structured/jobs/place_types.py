"""Place types: the type at each place of the data of results, inferred from their values.

A result that was read from a file has no type. But its value is made of instances, whose classes Pydantic describes; so
the type is inferred from the values of all results: the items of one document tell the type of another's empty list.
Dictionaries and plain values outside of models have the types of their values; they may also be null, and numbers may
be any. A place without values may be anything, and a list without items cannot grow.
"""

import json
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Union

from typing_extensions import TypedDict

from structured.errors import SchemaError
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.nullable import types_of
from structured.output_types.paths import Steps, member
from structured.output_types.python_type import python_type
from structured.output_types.schema_parts import below, flat, parts_at

_LISTS = frozenset({list, tuple, set, frozenset, deque})
_PLAIN = {bool: bool, int: float, float: float, str: str}
"""The types of plain JSON values, and their inferred types: 5 may be of the type `number`."""

_FORMATS = frozenset({"date", "date-time", "time", "decimal"})
_ANYTHING = {"type": ["string", "number", "boolean", "null"]}
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


class TypeTable:
    """Types, each listed once, by the numbers that the page knows them by.

    A type may have these keys:

    - `kinds`: what can be written freely: `text`, `number`, `integer`, `decimal`, `date`, `date-time`, `time`.
    - `choices`: what can be chosen, as JSON texts: the values of an enum, true and false, null.
    - `members`: of a record, for each member its name, that in a path, and the number of its type.
    - `items`: of a list, the number of the type of the items that can be added.
    """

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self._numbers: dict[frozenset[Identity], int] = {}
        self._alive: list[Subschema] = []  # an identity is that of an object as long as there is one

    def number(self, parts: Iterable[Subschema]) -> int:
        """Return the number of the type that some parts of a schema make together."""
        found = [part for part in flat(list(parts)) if not _COMBINING & part.schema.keys()]
        key = frozenset(part.identity for part in found)
        if key not in self._numbers:
            self._numbers[key] = len(self.listed)
            self._alive += found
            described: dict[str, Any] = {}
            self.listed.append(described)  # first, since it may be inside itself
            described |= self._description(found)
        return self._numbers[key]

    def _description(self, found: list[Subschema]) -> dict[str, Any]:
        schemas = [part.schema for part in found] or [_ANYTHING]
        kinds = dict.fromkeys(kind for schema in schemas for kind in _kinds(schema))
        choices = dict.fromkeys(choice for schema in schemas for choice in _choices(schema))
        described: dict[str, Any] = {"kinds": list(kinds), "choices": list(choices)}
        records = [part for part in found if "object" in types_of(part.schema)]
        if len(records) == 1:  # of several, it is unknown which to add
            described["members"] = [
                [name, f".{member('', name)}", self.number(below(records[0], name))]
                for name in records[0].schema.get("properties", {})
            ]
        items = [inner for part in found if "array" in types_of(part.schema) for inner in _items(part)]
        if items:
            described["items"] = self.number(items)
        return described


class PlaceTypes:
    """The types at the places of the extractions that one type made."""

    def __init__(self, values: Iterable[Any], table: TypeTable) -> None:
        try:
            self._root = [python_type(annotation_of(values)).root]
        except SchemaError:  # such as a value of a class that Pydantic does not describe
            self._root = []
        self._table = table
        self._known: dict[Steps, int] = {}

    def at(self, steps: Steps) -> int:
        """Return the number of the type at a place."""
        if steps not in self._known:
            self._known[steps] = self._table.number(chain(*(parts_at(root, steps) for root in self._root)))
        return self._known[steps]

    def items(self, steps: Steps) -> int | None:
        """Return the number of the type of new items of the list at a place."""
        found: int | None = self._table.listed[self.at(steps)].get("items")
        return found


def annotation_of(values: Iterable[Any]) -> Any:
    """Return the narrowest type of some values: `[{"a": Ana}, {}]` → `{"a": Person}`."""
    values = list(values)
    found: dict[Any, None] = {}
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            found |= {_PLAIN[kind]: None, None: None}
        elif kind is not dict and kind not in _LISTS and value is not None:
            found[kind] = None
    records = [value for value in values if type(value) is dict]
    if records:
        names = dict.fromkeys(name for one in records for name in one)
        members = {str(name): annotation_of(one[name] for one in records if name in one) for name in names}
        found[TypedDict("Record", members)] = None  # type: ignore[operator]  # of names that are known here alone
    lists = [value for value in values if type(value) in _LISTS]
    if lists:
        items = [*chain(*lists)]
        found[list[annotation_of(items)] if items else tuple[()]] = None  # type: ignore[misc]  # as above
    if not found:
        return Any
    return Union[tuple(found if None not in values else {**found, None: None})]  # noqa: UP007  a union of those found


def _kinds(schema: Mapping[str, Any]) -> Iterable[str]:
    if "enum" in schema or "const" in schema:
        return
    types = types_of(schema) or types_of(_ANYTHING)
    if "string" in types:
        yield schema["format"] if schema.get("format") in _FORMATS else "text"
    if "number" in types:
        yield "number"
    elif "integer" in types:
        yield "integer"


def _choices(schema: Mapping[str, Any]) -> Iterable[str]:
    if "enum" in schema or "const" in schema:
        return map(json.dumps, schema.get("enum", [schema.get("const")]))
    types = types_of(schema) or types_of(_ANYTHING)
    return [*(("true", "false") if "boolean" in types else ()), *(("null",) if "null" in types else ())]


def _items(part: Subschema) -> Iterable[Subschema]:
    """Return the type of the items that can be added to a list; one of fixed length has none."""
    return [] if "prefixItems" in part.schema else below(part, 0)
