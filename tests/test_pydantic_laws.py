"""Every type that Pydantic describes: what is written for it validates, or it is refused by name."""

import random
import warnings
from typing import Any

import numpy as np
import pytest
from doubles import accepted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_types import KINDS, composed
from strategies import Typed

from structured.automata import DEAD, RegularAutomaton
from structured.errors import SchemaError
from structured.schema import read_type, schema_to_pattern

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.TypedDictExtraConfigWarning")

LONG = 60
"""Bytes after which a random text is steered to its end."""


def random_json(automaton: RegularAutomaton, source: random.Random, longest: int = LONG) -> bytes:
    """Return a text of uniform random bytes out of those that are allowed; after `longest`, of those that lead home."""
    state, text = automaton.start, bytearray()
    while True:
        automaton.expand(state)
        row = automaton.table[state]
        allowed = np.flatnonzero(row != DEAD)
        if automaton.accepts(state) and (not len(allowed) or len(text) >= longest or source.random() < 0.3):
            return bytes(text)
        if len(text) >= longest:
            distances = automaton.distances[row[allowed]]
            allowed = allowed[distances < automaton.distances[state]]
        byte = int(source.choice(allowed))
        text.append(byte)
        state = automaton.step(state, byte)


def automaton_of(output_type: Any, whitespace: str = "compact") -> RegularAutomaton:
    return RegularAutomaton(schema_to_pattern(read_type(output_type).schema, whitespace))


def check_texts(output_type: Any, count: int, source: random.Random, whitespace: str = "compact") -> int:
    """Validate random texts of a type; return how many."""
    adapter, automaton = read_type(output_type).adapter, automaton_of(output_type, whitespace)
    for _ in range(count):
        adapter.validate_json(random_json(automaton, source, source.choice((0, 20, LONG))))
    return count


@pytest.mark.parametrize("name", KINDS)
def test_what_is_written_for_a_kind_validates(name: str) -> None:
    """Random texts, in two layouts, of which one is as free as JSON allows."""
    for whitespace in ("compact", "any"):
        check_texts(KINDS[name][0], 25, random.Random(name), whitespace)


@pytest.mark.parametrize("name", [name for name, (_, values) in KINDS.items() if values is not None])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_an_instance_of_a_kind_can_be_written(name: str, data: st.DataObject) -> None:
    """What Pydantic writes for an instance is among the texts."""
    output_type, values = KINDS[name]
    text = read_type(output_type).adapter.dump_json(data.draw(values), by_alias=True)
    assert accepted(_known_automaton(name), text), text


def _known_automaton(name: str) -> RegularAutomaton:
    if name not in _AUTOMATA:
        _AUTOMATA[name] = automaton_of(KINDS[name][0])
    return _AUTOMATA[name]


_AUTOMATA: dict[str, RegularAutomaton] = {}


COMPOSED = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@COMPOSED
@given(
    drawn=composed(),
    source=st.randoms(use_true_random=False),
    whitespace=st.sampled_from(("compact", "flexible", "any")),
)
def test_what_is_written_for_composed_types_validates(drawn: Typed, source: random.Random, whitespace: str) -> None:
    """Types of several kinds, one inside the other, with any configuration: whatever is written validates."""
    check_texts(drawn.type, 5, source, whitespace)


@COMPOSED
@given(drawn=composed(with_values=True), data=st.data())
def test_an_instance_of_a_composed_type_can_be_written(drawn: Typed, data: st.DataObject) -> None:
    """What Pydantic writes for an instance of a composed type, if it reads that itself, is among the texts."""
    output_type = read_type(drawn.type)
    value = data.draw(drawn.values)
    text = output_type.adapter.dump_json(value, by_alias=True)
    assert accepted(automaton_of(drawn.type), text), text


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_much_that_is_written_for_a_kind_validates(name: str) -> None:
    """The same as above, for more texts of every length: some 30,000 over all kinds."""
    for whitespace in ("compact", "any"):
        check_texts(KINDS[name][0], 150, random.Random(name), whitespace)


@pytest.mark.slow
@settings(COMPOSED, max_examples=1500)
@given(drawn=composed(), source=st.randoms(use_true_random=False), whitespace=st.sampled_from(("compact", "flexible")))
def test_much_that_is_written_for_composed_types_validates(
    drawn: Typed, source: random.Random, whitespace: str
) -> None:
    """The same as above, for more types and texts: 30,000."""
    check_texts(drawn.type, 20, source, whitespace)


@pytest.mark.slow
@settings(COMPOSED, max_examples=1500)
@given(drawn=composed(with_values=True), data=st.data())
def test_many_instances_of_composed_types_can_be_written(drawn: Typed, data: st.DataObject) -> None:
    """The same as above, for more types and instances."""
    text = read_type(drawn.type).adapter.dump_json(data.draw(drawn.values), by_alias=True)
    assert accepted(automaton_of(drawn.type), text), text
