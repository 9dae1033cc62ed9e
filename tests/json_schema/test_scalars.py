"""Scalar schemas that say the same have one pattern in a process, and nothing else of them is shared."""

import json
from typing import Any

import pytest

from structured.errors import SchemaError
from structured.json_schema.document.location import Compilation, Location, Reading, Subschema
from structured.json_schema.schema_compiler import pattern_of, schema_to_pattern
from structured.json_schema.whitespace import read_whitespace
from structured.regex import Pattern

SCALARS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "minLength": 2},
    {"type": "string", "pattern": "^[a-f]+$", "maxLength": 5},
    {"type": "string", "format": "date"},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "integer", "minimum": 1},
    {"type": "number", "multipleOf": 0.5, "maximum": 3},
    {"type": "boolean"},
    {"type": "null"},
]


def pattern_alone(schema: Any) -> Pattern:
    """Return the pattern of a schema, in a compilation of its own."""
    compilation = Compilation(schema, read_whitespace("any"), Reading.SPECIFICATION)
    return pattern_of([Subschema(schema, Location(compilation))])


@pytest.mark.parametrize("schema", SCALARS, ids=json.dumps)
def test_annotations_make_no_difference(schema: dict[str, Any]) -> None:
    assert pattern_alone({"description": "first", **schema}) is pattern_alone({**schema, "title": "second"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "number", "minimum": 1}, {"type": "number", "minimum": 2}),
        ({"type": "integer", "enum": [0, 1]}, {"type": "integer", "enum": [0, 1, 2]}),
        ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a,b"]}),
        ({"type": "string", "minLength": 1}, {"type": "string", "maxLength": 1}),
        ({"type": "number", "enum": [1, 2, 2.5]}, {"type": "integer", "enum": [1, 2, 2.5]}),
    ],
)
def test_schemas_that_differ_have_patterns_of_their_own(one: dict[str, Any], other: dict[str, Any]) -> None:
    alone = str(pattern_alone(other))
    pattern_alone(one)
    assert str(pattern_alone(other)) == alone != str(pattern_alone(one))


@pytest.mark.parametrize("value", [True, [1], {}, None, "a"])
@pytest.mark.parametrize("keyword", ["minLength", "pattern", "enum", "minimum", "format", "type"])
def test_values_of_a_wrong_type_are_treated_alike_each_time(keyword: str, value: Any) -> None:
    schema = {"type": "string", keyword: value}
    outcomes = set()
    for _ in range(2):
        try:
            outcomes.add(str(pattern_alone(schema)))
        except SchemaError as error:
            outcomes.add(str(error))
    assert len(outcomes) == 1


def test_a_refusal_names_its_own_place() -> None:
    """Even if the same schema was refused before, at another."""
    for name in ("one", "other"):
        schema = {"type": "object", "properties": {name: {"type": "string", "pattern": "("}}}
        with pytest.raises(SchemaError) as caught:
            schema_to_pattern(schema, reading=Reading.SPECIFICATION)
        assert caught.value.schema_path == f"/properties/{name}"
