"""Schemas of kinds that many people use: small when compiled, quick to the first mask, and exact in any order."""

import itertools
import json
import random
import time
from functools import cache
from typing import Any

import pytest
from familiar_schemas import FAMILIAR, Schema, geojson
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from walks import accepted

from structured.automata import RegularAutomaton
from structured.json_schema.document.location import Compilation, Reading
from structured.json_schema.schema_compiler import compiled, foundation
from structured.json_schema.whitespace import read_whitespace

UNTAGGED = "geojson whose objects may lack their types"
SCHEMAS = {**FAMILIAR, UNTAGGED: lambda: geojson(is_tagged=False)}

MOST_NODES = {"geojson": 400, "web_types": 1400, "statement": 950, "services": 600, UNTAGGED: 4800}
"""Of the program, beside those that all have in common: some tenth more than were measured."""

MOST_WAYS = 600
"""Combinations of choices: seven objects that are told apart by a type take some hundreds, by trial thousands."""

MOST_FRAMES = 20_000
"""Of the stacks, up to a number in the geometry of a feature before its type has been read: 58,000 by trial."""

SECONDS = 2.0
"""Of the processor, to the first state: ten times what the slowest takes on an ordinary machine."""


def compilation_of(schema: Schema) -> Compilation:
    """Return what compiles a schema with properties in any order."""
    return Compilation(schema, read_whitespace("any"), Reading.SPECIFICATION, key_order="any")


@cache
def automaton_of(name: str) -> RegularAutomaton:
    """Return the automaton of one of the schemas; the same each time."""
    return RegularAutomaton(compiled(compilation_of(SCHEMAS[name]())), foundation=foundation())


@pytest.mark.parametrize("name", SCHEMAS)
def test_little_is_made_up_to_the_first_state(name: str) -> None:
    """Neither the program nor the combinations that lead to it grow with the ways to fail other branches."""
    foundation()
    start = time.process_time()
    compilation = compilation_of(SCHEMAS[name]())
    automaton = RegularAutomaton(compiled(compilation), foundation=foundation())
    assert time.process_time() - start < SECONDS
    assert len(automaton._program.nodes) - foundation().node_count < MOST_NODES[name]
    assert compilation.combinations < MOST_WAYS
    assert automaton._states_used < 10


RING = [[0, 0], [1, 0], [1, 1.5], [0, 0]]
POINT: dict[str, Any] = {"type": "Point", "coordinates": [1, 2], "bbox": [1, 2, 1, 2]}
POLYGON: dict[str, Any] = {"type": "Polygon", "coordinates": [RING]}
COLLECTION: dict[str, Any] = {"type": "GeometryCollection", "geometries": [POINT, POLYGON], "more": {"type": 1}}
FEATURE: dict[str, Any] = {"type": "Feature", "geometry": POLYGON, "properties": {"coordinates": "?"}, "id": 7}
OBJECTS = (
    POINT,
    POLYGON,
    COLLECTION,
    FEATURE,
    {"type": "LineString", "coordinates": [[1, 2], [3, 4]], "bbox": [1, 2, 3, 4]},
    {"type": "MultiPoint", "coordinates": []},
    {"type": "MultiLineString", "coordinates": [RING, RING]},
    {"type": "MultiPolygon", "coordinates": [[RING]]},
    {"type": "FeatureCollection", "features": [FEATURE, {**FEATURE, "geometry": None}], "title": "two"},
)
VALUES = st.sampled_from(
    [None, 1, "Point", "Circle", [], [1], [1, 2], [[1, 2], [3, 4]], [RING], {}, POINT, {"coordinates": [1, 2]}, [POINT]]
)


def shuffled(value: Any, order: random.Random) -> Any:
    """Return a value with the properties of its objects in another order."""
    if isinstance(value, list):
        return [shuffled(item, order) for item in value]
    if not isinstance(value, dict):
        return value
    names = order.sample(sorted(value), len(value))
    return {name: shuffled(value[name], order) for name in names}


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """Return GeoJSON, of which a property may have been removed or replaced, in some order."""
    document = dict(draw(st.sampled_from(OBJECTS)))
    for name in draw(st.lists(st.sampled_from(["type", "coordinates", "geometry", "geometries", "bbox"]), max_size=2)):
        document.pop(name, None)
        if draw(st.booleans()):
            document[name] = draw(VALUES)
    return shuffled(document, random.Random(draw(st.integers(0, 1000))))


@pytest.mark.parametrize("name", ["geojson", UNTAGGED])
@given(document=documents())
@settings(deadline=None)
def test_what_jsonschema_allows_of_geojson_is_accepted_and_nothing_else(name: str, document: Any) -> None:
    """Whatever the order of the properties."""
    valid = Draft7Validator(SCHEMAS[name]()).is_valid(document)
    assert accepted(automaton_of(name), json.dumps(document).encode()) == valid


@pytest.mark.parametrize("name", ["geojson", UNTAGGED])
def test_each_order_of_the_properties_of_geojson_is_accepted(name: str) -> None:
    """All orders of each of the nine objects, and few states for any of them."""
    automaton = automaton_of(name)
    for document in OBJECTS:
        for names in itertools.permutations(document):
            before = automaton._states_used
            assert accepted(automaton, json.dumps({key: document[key] for key in names}).encode())
            assert automaton._states_used - before < 1000


def test_a_position_is_followed_in_few_ways() -> None:
    """A mask that was slow: within an array that each geometry reads in its own way, and denies in those of others."""
    automaton = RegularAutomaton(compiled(compilation_of(SCHEMAS[UNTAGGED]())), foundation=foundation())
    state = automaton.start
    for byte in b'{"features": [{"geometry": {"geometries": [{"coordinates": [1':
        automaton.expand(state)
        state = automaton.step(state, byte)
    assert automaton._machine.frame_numbers.count < MOST_FRAMES
