"""Every type that Pydantic describes: what is written for it validates, or it is refused by name."""

import random
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError, create_model
from pydantic_types import KINDS, REFUSED, composed
from random_json import automaton_of, check_texts
from strategies import Typed
from walks import accepted

from structured.automata import RegularAutomaton
from structured.errors import SchemaError
from structured.output_types.json_output import JsonLayout
from structured.output_types.python_type import python_type as python_type_of

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.TypedDictExtraConfigWarning")


def check_instance(output_type: Any, value: Any) -> None:
    """Find what is written for an instance among the texts, if Pydantic reads what it writes itself.

    It does not always: for `ZoneInfo | Base64Bytes` it writes bytes as their representation.
    """
    python_type = python_type_of(output_type, JsonLayout(whitespace="compact"))
    try:
        python_type.adapter.validate_json(python_type.adapter.dump_json(value, by_alias=True))
    except ValidationError:
        return
    text = python_type.from_data(python_type.dump(value))
    assert accepted(automaton_of(output_type), text.encode()), text


@pytest.mark.thorough
@pytest.mark.parametrize("name", KINDS)
def test_what_is_written_for_a_kind_validates(name: str) -> None:
    """Random texts, in two layouts, of which one is as free as JSON allows; also where defaults may be left out."""
    for whitespace in ("compact", "any"):
        check_texts(KINDS[name][0], 12, random.Random(name), whitespace)
    check_texts(KINDS[name][0], 6, random.Random(name), optional="omittable")


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name, (_, values) in KINDS.items() if values is not None])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_an_instance_of_a_kind_can_be_written(name: str, data: st.DataObject) -> None:
    """What is written for an instance, as Pydantic does but for a Decimal, is among the texts."""
    output_type, values = KINDS[name]
    python_type = python_type_of(output_type, JsonLayout(whitespace="compact"))
    text = python_type.from_data(python_type.dump(data.draw(values)))
    assert accepted(_known_automaton(name), text.encode()), text


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_by_name(name: str) -> None:
    """Alone and inside a model, with the keyword at fault and a way out."""
    output_type, keyword, _ = REFUSED[name]
    for refused in (output_type, create_model("Holder", held=(list[output_type], ...))) if keyword else (output_type,):
        with pytest.raises(SchemaError) as caught:
            automaton_of(refused)
        assert caught.value.keyword == keyword
        assert caught.value.remedy


def _known_automaton(name: str) -> RegularAutomaton:
    if name not in _AUTOMATA:
        _AUTOMATA[name] = automaton_of(KINDS[name][0])
    return _AUTOMATA[name]


_AUTOMATA: dict[str, RegularAutomaton] = {}


COMPOSED = settings(
    max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.thorough
@COMPOSED
@given(
    drawn=composed(),
    source=st.randoms(use_true_random=False),
    whitespace=st.sampled_from(("compact", "flexible", "any")),
)
def test_what_is_written_for_composed_types_validates(drawn: Typed, source: random.Random, whitespace: str) -> None:
    """Types of several kinds, one inside the other, with any configuration: whatever is written validates."""
    check_texts(drawn.type, 5, source, whitespace)
    check_texts(drawn.type, 5, source, whitespace, "omittable")


@pytest.mark.thorough
@COMPOSED
@given(drawn=composed(with_values=True), data=st.data())
def test_an_instance_of_a_composed_type_can_be_written(drawn: Typed, data: st.DataObject) -> None:
    """What Pydantic writes for an instance of a composed type, if it reads that itself, is among the texts."""
    check_instance(drawn.type, data.draw(drawn.values))


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_much_that_is_written_for_a_kind_validates(name: str) -> None:
    """The same as above, for more texts of every length: some 50,000 over all kinds."""
    for whitespace in ("compact", "any"):
        check_texts(KINDS[name][0], 150, random.Random(name), whitespace)


@pytest.mark.slow
@settings(COMPOSED, max_examples=1500)
@given(drawn=composed(), source=st.randoms(use_true_random=False), whitespace=st.sampled_from(("compact", "flexible")))
def test_much_that_is_written_for_composed_types_validates(
    drawn: Typed, source: random.Random, whitespace: str
) -> None:
    """The same as above, for more types and texts: 45,000."""
    check_texts(drawn.type, 20, source, whitespace)
    check_texts(drawn.type, 10, source, whitespace, "omittable")


@pytest.mark.slow
@settings(COMPOSED, max_examples=1500)
@given(drawn=composed(with_values=True), data=st.data())
def test_many_instances_of_composed_types_can_be_written(drawn: Typed, data: st.DataObject) -> None:
    """The same as above, for more types and instances."""
    check_instance(drawn.type, data.draw(drawn.values))
