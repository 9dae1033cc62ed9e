"""Arrow types: what a schema becomes, and that cells say what data say."""

import json
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NotRequired, Optional

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, computed_field, create_model
from typing_extensions import TypedDict

from structured import JsonSchema
from structured.integrations.arrow_columns import (
    JSON,
    MAX_MEMBERS,
    Column,
    UnfitError,
    column_of,
)
from structured.output_types.resolve import resolve_type

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


class Kind(Enum):
    A = "a"
    B = "b"


class Line(BaseModel):
    name: str = Field(alias="Name")
    price: Decimal
    count: int | None

    @computed_field
    @property
    def is_many(self) -> bool:
        return (self.count or 0) > 1


class Node(BaseModel):
    value: int
    next: Optional["Node"] = None


class Partly(TypedDict):
    a: str
    b: NotRequired[int]
    c: NotRequired[int | None]


LINE = {"struct": {"Name": "string", "price": "string", "count": "int64", "is_many": "bool_"}}


@pytest.mark.parametrize(
    ("output_type", "description"),
    [
        (str, "string"),
        (int, "int64"),
        (float, "float64"),
        (bool, "bool_"),
        (date, "date32"),
        (datetime, "string"),  # its text tells the offset, and how many digits the fraction has
        (Kind, "string"),
        (Literal[1, 2], "int64"),
        (Literal[1, "a"], "json"),
        (int | str, "json"),
        (int | float, "json"),
        (date | None, "date32"),
        (list[Line], {"list": LINE}),
        (dict[str, list[int]], {"map": {"list": "int64"}}),
        (tuple[int, int], {"list": "int64"}),
        (tuple[int, str], "json"),
        (Any, "json"),
        (Node, {"struct": {"value": "int64", "next": "json"}}),
        (Partly, {"struct": {"a": "string", "b": "int64", "c": "int64"}}),
        (create_model("Empty"), "json"),
        (create_model("Open", __config__={"extra": "allow"}, a=(int, ...)), "json"),
        (create_model("Large", a=(int, Field(le=2**70))), {"struct": {"a": "json"}}),
        (create_model("Wide", **{f"a{i}": (int, ...) for i in range(MAX_MEMBERS + 1)}), "json"),
        (JsonSchema({"type": ["integer", "null"], "minimum": 0}), "int64"),
        (
            JsonSchema({"type": "object", "properties": {"a": {"type": "string", "not": {}}}}),
            {"struct": {"a": "string"}},
        ),
        (JsonSchema({"type": "object", "properties": {"a": True}, "allOf": [{"required": ["a"]}]}), "json"),
        (
            JsonSchema({"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"enum": ["x", None]}}}),
            {"list": "string"},
        ),
    ],
    ids=str,
)
def test_the_schema_decides_the_type(output_type: Any, description: Any) -> None:
    """By what Pydantic writes."""
    column = column_of(resolve_type(output_type))
    assert (column.arrow, column == JSON) == (arrow_of(description), description == "json")


def arrow_of(description: Any) -> Any:
    """Return the Arrow type that a short description means."""
    match description:
        case {"list": items}:
            return pa.list_(arrow_of(items))
        case {"map": values}:
            return pa.map_(pa.string(), arrow_of(values))
        case {"struct": members}:
            return pa.struct([(name, arrow_of(member)) for name, member in members.items()])
    return getattr(pa, "string" if description == "json" else description)()


def test_a_schema_that_multiplies_is_text() -> None:
    """Thirty definitions, each with two of the next, would be 2³⁰ columns."""
    names = [f"d{i}" for i in range(30)]
    following = [*names[1:], None]
    members = [{"$ref": f"#/$defs/{name}"} if name else {"type": "null"} for name in following]
    definitions = {
        name: {"type": "object", "properties": {"a": member, "b": member}}
        for name, member in zip(names, members, strict=True)
    }
    assert column_of(resolve_type(JsonSchema({"$ref": "#/$defs/d0", "$defs": definitions}))) == JSON


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**63 - 2, 2**63 + 2)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
    | st.dates().map(str)
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc") | st.text(), inner, max_size=3),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.sampled_from(
        [{"type": kind} for kind in ("string", "integer", "number", "boolean", "null", ["string", "null"])]
        + [{"type": "string", "format": "date"}, {}, {"enum": ["a", None]}]
    ),
    lambda inner: (
        inner.map(lambda one: {"type": "array", "items": one})
        | inner.map(lambda one: {"type": "object", "additionalProperties": one})
        | st.lists(inner, min_size=1, max_size=2).map(lambda some: {"anyOf": some})
        | st.builds(
            lambda members, required: {"type": "object", "properties": members, "required": required},
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
            st.lists(st.sampled_from("abc"), unique=True),
        )
    ),
    max_leaves=5,
)


def values_of(schema: Any) -> st.SearchStrategy[Any]:
    """Return values of a schema, roughly."""
    match schema:
        case {"anyOf": options}:
            return st.one_of(*map(values_of, options))
        case {"items": items}:
            return st.lists(values_of(items), max_size=3)
        case {"additionalProperties": members}:
            return st.dictionaries(st.text(max_size=3), values_of(members), max_size=3)
        case {"properties": members, "required": required}:
            inside = {name: values_of(member) for name, member in members.items()}
            needed = {name: one for name, one in inside.items() if name in required}
            return st.fixed_dictionaries(needed, optional={n: one for n, one in inside.items() if n not in required})
        case {"format": "date"}:
            return st.dates().map(str)
        case {"type": "string"}:
            return st.text()
        case {"type": "integer"}:
            return st.integers(-(2**63), 2**63 - 1)
        case {"type": "number"}:
            return st.floats(allow_nan=False)
    return SCALARS


@pytest.mark.thorough
@settings(deadline=None, max_examples=60, suppress_health_check=[*HealthCheck])
@given(schema=SCHEMAS, data=st.data())
def test_a_column_holds_data_exactly_or_refuses_them(schema: Any, data: Any) -> None:
    """What is held is equal as a JSON value, save that what is left out may be null."""
    column = column_of(resolve_type(JsonSchema(schema)))
    told = data.draw(values_of(schema) | DATA)
    try:
        cell = column.to_cell(told)
    except UnfitError:
        return
    found = data_of(column, pa.array([cell], column.arrow).to_pylist()[0])
    assert without_nulls(found) == without_nulls(told)


def data_of(column: Column, cell: Any) -> Any:
    """Return the JSON data that a cell holds."""
    parts = column.parts
    match column.kind:
        case _ if cell is None:
            return None
        case "list_":
            return [data_of(parts["items"], item) for item in cell]
        case "map_":
            return {name: data_of(parts["values"], member) for name, member in cell}
        case "struct":
            return {name: data_of(member, cell[name]) for name, member in parts.items()}
    return json.loads(cell) if column == JSON else cell.isoformat() if isinstance(cell, date) else cell


def without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: without_nulls(one) for name, one in data.items() if one is not None}
    return [without_nulls(one) for one in data] if isinstance(data, list) else (type(data) is bool, data)
