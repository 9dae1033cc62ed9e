"""Small patterns and numbers that are hard work: each is refused by name, after a bounded amount of it."""

import contextlib
import time
import tracemalloc
from decimal import Decimal
from math import inf
from typing import Annotated, Any

import pytest
from pydantic import Field, create_model

from structured import JsonSchema
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import MAX_WORK, Language, smallest_automaton
from structured.automata.dfa.products import Intersection
from structured.errors import PatternError, SchemaError, StructuredError
from structured.json_schema.schema_compiler import compiled
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type
from structured.regex.character_classes import ECMA
from structured.regex.regex_parser import regex_to_pattern


def language(regex: str) -> PatternLanguage:
    return PatternLanguage(regex_to_pattern(regex, ECMA))


def compile_schema(schema: Any) -> None:
    compiled(resolve_type(JsonSchema(schema), layout=JsonLayout(optional_properties="schema")).compilation())


def compile_field(annotation: Any) -> None:
    model = create_model("Model", value=(annotation, ...))
    compiled(resolve_type(model, layout=JsonLayout(optional_properties="schema")).compilation())


LARGE = {
    "search": lambda: language("a{100000}"),
    "excluded": lambda: Intersection([], [language("a{100000}")]),
    "beside": lambda: Intersection([language("a{1000}b"), language("b{1000}c")]),
    "lookaheads": lambda: language("^(?=.*a{3000})(?=.*b{3000})(?!.*c{3000}).*$"),
    "nested": lambda: language("^((((a{0,1000}){0,1000}){0,1000}){0,1000})$"),
    "optional": lambda: language("^(a?){100000}$"),
}


class Counted:
    """A count of steps that notes how many were taken in all, and how few were ever left."""

    def __init__(self) -> None:
        self.taken, self.least, self._left = 0.0, inf, inf

    @property
    def steps_left(self) -> float:
        return self._left

    @steps_left.setter
    def steps_left(self, left: float) -> None:
        self.taken += max(self._left - left, 0) if self._left < inf else 0
        self.least, self._left = min(self.least, left), left


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Counted:
    monkeypatch.setattr("structured.automata.dfa.language._work", counted := Counted())
    return counted


@pytest.mark.thorough
@pytest.mark.parametrize("name", LARGE)
def test_large_states_are_counted(name: str, steps: Counted) -> None:
    """There may be few states, each as large as the pattern: what is counted is what they consist of."""
    large: Language = LARGE[name]()
    with pytest.raises(PatternError, match=f"more than {MAX_WORK:,} steps"):
        smallest_automaton(large)
    assert -0.1 * MAX_WORK < steps.least < 0


@pytest.mark.slow
def test_no_memory_is_used_up() -> None:
    """What is refused has taken no more memory than its steps."""
    tracemalloc.start()
    try:
        with pytest.raises(PatternError):
            smallest_automaton(language("^(a?){100000}$"))
        assert tracemalloc.get_traced_memory()[1] < 300_000_000
    finally:
        tracemalloc.stop()


def test_long_texts_are_looked_at_all_the_same(monkeypatch: pytest.MonkeyPatch, steps: Counted) -> None:
    """A text may be as long as it likes: no automaton is made of the states that it visits."""
    monkeypatch.setattr("structured.automata.dfa.language.MAX_WORK", 1_000)
    bounded = language("^.{0,1000}$")
    assert bounded.contains("ab" * 500)
    assert not bounded.contains("ab" * 501)
    assert steps.taken > 1_000


SCHEMAS: dict[str, Any] = {
    "pattern": {"type": "string", "pattern": "^(a{1000}){1000}$", "minLength": 10**6 + 1},
    "patternProperties": {"type": "object", "patternProperties": {"a{100000}": {"type": "integer"}}},
    "not": {"type": "string", "not": {"pattern": "a{100000}"}},
    "repetition": {"type": "string", "pattern": "a{1000000000}"},
    "minLength": {"type": "string", "minLength": 10**9},
    "minLength beside": {"type": "string", "pattern": "a", "minLength": 10**6},
    "minItems": {"type": "array", "minItems": 10**9},
    "minProperties": {"type": "object", "minProperties": 10**9},
    "multipleOf prime": {"type": "integer", "multipleOf": 10**18 + 9},
    "multipleOf huge": {"type": "integer", "multipleOf": 10**4000},
    "multipleOf tiny": {"type": "number", "multipleOf": 1e-300},
    "maximum": {"type": "integer", "maximum": 10**5000},
}


LONGEST = {"minLength beside", "patternProperties"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONGEST else name for name in SCHEMAS]
)
def test_large_numbers_in_schemas_end_at_once(name: str) -> None:
    """An answer, or an error of the library."""
    compile_schema({"type": "string", "pattern": "warm", "maxLength": 2**10})
    began = time.process_time()
    with contextlib.suppress(StructuredError):
        compile_schema(SCHEMAS[name])
    assert time.process_time() - began < 5


FIELDS: dict[str, Any] = {
    "max_digits": Annotated[Decimal, Field(max_digits=10**9)],
    "decimal_places": Annotated[Decimal, Field(decimal_places=10**6)],
    "small bound": Annotated[Decimal, Field(ge=Decimal("1e-100000"))],
    "great bound": Annotated[Decimal, Field(le=Decimal("1e100000"))],
    "integer": Annotated[int, Field(ge=10**5000)],
    "shorter integer": Annotated[int, Field(ge=10**400)],
}


@pytest.mark.parametrize("name", FIELDS)
def test_numbers_of_too_many_digits_are_refused_by_name(name: str) -> None:
    """Neither are they written out, nor does the error that says so need to be."""
    with pytest.raises(SchemaError, match=r"more than 1,000 digits|is not a bound") as caught:
        compile_field(FIELDS[name])
    assert caught.value.schema_path == "/properties/value"
    assert len(str(caught.value)) < 300


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["max_digits", "decimal_places"])
def test_numbers_of_many_digits_are_compiled(name: str) -> None:
    """A thousand digits are as many as anybody writes."""
    rules: Any = {name: 1_000}
    compile_field(Annotated[Decimal, Field(**rules)])
