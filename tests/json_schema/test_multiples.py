"""What a schema says of numbers, against exact arithmetic: bounds, divisors, and values that are left out."""

import json
import math
import random
import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from random_json import automaton_of, random_json
from walks import accepted, read

from structured import JsonSchema, extract
from structured.automata import DEAD, RegularAutomaton
from structured.errors import SchemaError, UnsatisfiableError
from structured.index.index import Index
from structured.index.masks import unpack
from structured.json_schema.document.location import InternalSchema, Reading
from structured.json_schema.numbers.multiples import is_multiple
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.models import ScriptedModel
from structured.output_types.regex import to_regex
from structured.output_types.resolve import resolve_type

SLOW = settings(max_examples=examples(80), deadline=None)
DIVISORS = st.sampled_from(
    [0.01, 0.1, 1, 1.0, 10, 100, 2, 5, 7, 11, 20, 12, 2.5, 1.5, 0.75, 0.25, 0.05, 0.0001, 0.0075, 1e-8, 3e-7, 1e6, 101]
)
ENDS = st.one_of(
    st.integers(-1200, 1200),
    st.floats(-1e3, 1e3),
    st.floats(-1e25, 1e25),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, 0.1, 1e-7, 5e-324, 1e22, 2**63 - 1, 0.5, 99.99, -1e300, 1e308]),
)
BOUNDS = {
    "minimum": lambda value, bound: value >= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
}


def specified(schema):
    """Return the automaton of a schema that is read by the specification."""
    return RegularAutomaton(schema_to_pattern(schema, reading=Reading.SPECIFICATION))


def walk(automaton, source, length=40):
    """Return a text that a random walk writes, home by the shortest way once it is long."""
    state, text = automaton.start, b""
    while not (automaton.accepts(state) and (len(text) > length or source.random() < 0.15)):
        legal = [byte for byte in b'-.0123456789Ee+"' if automaton.step(state, byte) >= 0]
        if not legal:
            break
        if len(text) > length:
            byte = min(legal, key=lambda byte: automaton.distances[automaton.step(state, byte)])
        else:
            byte = source.choice(legal)
        state, text = automaton.step(state, byte), text + bytes([byte])
    return text.decode()


def keeps(schema, value):
    """Tell by exact arithmetic whether a number satisfies a schema."""
    for keyword, bound in schema.items():
        if keyword in BOUNDS and not BOUNDS[keyword](value, Fraction(str(bound))):
            return False
        if keyword == "multipleOf" and value % Fraction(str(bound)) != 0:
            return False
        if keyword == "not multipleOf" and value % Fraction(str(bound)) == 0:
            return False
        if keyword == "not enum" and value in [Fraction(str(other)) for other in bound]:
            return False
        if keyword == "not integer" and value.denominator == 1:
            return False
    return schema["type"] == "number" or value.denominator == 1


def is_kept(schema, text):
    """Tell whether a text is valid as a decimal, and so is the double nearest to it, but for divisors."""
    mantissa, _, exponent = text.lower().partition("e")
    text = f"{mantissa}e{max(-5000, min(int(exponent), 5000))}" if exponent else text
    value, double = json.loads(text), float(text)
    bounds = {keyword: bound for keyword, bound in schema.items() if keyword in BOUNDS}
    return keeps(schema, Fraction(text)) and (
        abs(double) == math.inf
        or (
            (isinstance(value, int) or all(BOUNDS[keyword](double, bound) for keyword, bound in bounds.items()))
            and all(BOUNDS[keyword](double, float(bound)) for keyword, bound in bounds.items())
            and not (schema.get("not integer") and double.is_integer())
        )
    )


def automaton_or_nothing(schema):
    try:
        return specified(schema)
    except UnsatisfiableError:
        return None
    except SchemaError as error:
        assume("too large to enforce" not in str(error))
        raise


@st.composite
def rules(draw):
    """Return a schema of numbers."""
    schema = {"type": draw(st.sampled_from(["integer", "number"]))}
    for keyword in draw(st.lists(st.sampled_from(sorted(BOUNDS)), max_size=2, unique=True)):
        schema[keyword] = draw(ENDS)
    if draw(st.booleans()):
        schema["multipleOf"] = draw(DIVISORS)
    return schema


@st.composite
def complements(draw):
    """Return a schema that says what a number is not."""
    schema = draw(rules())
    schema |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "not multipleOf": st.sampled_from([1, 2, 5, 0.01, 0.5, 2.5, 10, 7]),
                "not enum": st.lists(st.integers(-3, 3) | st.sampled_from([0.1, 1e22, 2**53, 0.5]), max_size=3),
                "not integer": st.just(True),
            },
        )
    )
    return InternalSchema(schema)


@pytest.mark.thorough
@SLOW
@given(schema=rules() | complements(), seed=st.integers(0, 2**32))
def test_what_is_written_is_valid(schema, seed):
    """Each text of the pattern, as a decimal and as a double."""
    automaton = automaton_or_nothing(schema)
    assume(automaton is not None)
    source = random.Random(seed)
    for _ in range(25):
        text = walk(automaton, source, source.choice([2, 5, 15, 40]))
        assert is_kept(schema, text), text


def values(schema):
    """Return values that a schema may allow, as Python has them."""
    near = [Fraction(str(bound)) for keyword, bound in schema.items() if keyword in BOUNDS] or [Fraction(0)]
    step = Fraction(str(schema.get("multipleOf", 1)))
    counts = st.integers(-5, 5) | st.integers(-1000, 1000) | st.integers(-(10**9), 10**9)
    multiples = st.builds(lambda end, count: (end // step + count) * step, st.sampled_from(near), counts)
    return multiples | st.integers(-(10**6), 10**6).map(Fraction) | st.floats(allow_nan=False, allow_infinity=False)


def plain(value):
    """Return the one text of a number of few digits."""
    return str(int(value)) if value.denominator == 1 else repr(float(value))


@pytest.mark.thorough
@SLOW
@given(schema=rules(), data=st.data())
def test_what_is_valid_can_be_written(schema, data):
    """Each valid number below a million, as an integer if it is whole."""
    drawn = Fraction(data.draw(values(schema)))
    text = plain(drawn)
    assume(abs(drawn) < 10**6 and "e" not in text and is_kept(schema, text))
    assert accepted(specified(schema), text.encode()), text


@pytest.mark.thorough
@SLOW
@given(schema=complements(), count=st.integers(-(10**6), 10**6), places=st.integers(0, 4))
def test_what_is_not_excluded_can_be_written(schema, count, places):
    """And nothing that is excluded."""
    automaton, text = automaton_or_nothing(schema), plain(Fraction(count, 10**places))
    assert (automaton is not None and accepted(automaton, text.encode())) == is_kept(schema, text), text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"type": "integer"}, ["1", "-12", "9" * 18], ["1.0", "1e+22", "1.5", "01", "1.", "9" * 19]),
        ({"type": "integer", "maximum": 1e17}, ["1" + "0" * 17, "-1"], ["1e+16", "1" + "0" * 16 + "1"]),
        ({"type": "number", "minimum": 0}, ["0", "0.0", "0.5", "9" * 16], ["-1", "-0.5", "1e-400"]),
        ({"type": "number", "exclusiveMinimum": 0}, ["0.1", "1"], ["0", "-0", "0e5"]),
        ({"type": "number", "maximum": 2**63 - 1}, [str(2**63 - 2**11)], [str(2**63), f"{2**63 - 1}.0"]),
        ({"type": "number", "minimum": 2.5, "maximum": 250}, ["2.5", "2.50", "250.0"], ["2.51e2", "2e0", "2.4"]),
        ({"multipleOf": 0.01, "type": "number"}, ["19.99", "0", "-0.07", "3"], ["19.999", "1e-07"]),
        ({"multipleOf": 0.0001, "type": "number"}, ["0.0075", "12"], ["0.00751"]),
        ({"multipleOf": 1e-8, "type": "number"}, ["0.00000015", "123912"], ["0.000000105"]),
        ({"multipleOf": 1e-8, "type": "integer"}, ["12391239123"], ["0.5"]),
        ({"multipleOf": 0.5, "type": "integer"}, ["3", "4"], ["3.5"]),
        ({"multipleOf": 2.5, "type": "integer", "minimum": 15}, ["15", "20"], ["10", "17.5", "16"]),
        ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "number"}, ["12", "-24"], ["4", "6", "18"]),
        ({"multipleOf": 1000000, "type": "number"}, ["0", "3000000"], ["3000001", "300000", "10"]),
        ({"divisibleBy": 3, "type": "number"}, ["9", "0"], ["10"]),
        ({"multipleOf": 11, "minimum": 100, "type": "number"}, ["110", "121"], ["99", "111"]),
        ({"type": "number", "not": {"multipleOf": 2}}, ["1", "0.5", "10001", "2.000001"], ["0", "2", "2.0", "10000"]),
        ({"type": "number", "not": {"type": "integer"}}, ["0.5", "-12.25"], ["1", "1.0", "0", "-3.000"]),
        ({"type": "integer", "not": {"multipleOf": 3}}, ["1", "-10", "1" + "0" * 17], ["0", "3", "-111"]),
    ],
)
def test_the_rules_by_example(schema, valid, invalid):
    """What the keywords mean, and how numbers are spelled."""
    automaton = specified(schema)
    assert [text for text in valid if not accepted(automaton, text.encode())] == []
    assert [text for text in invalid if accepted(automaton, text.encode())] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "multipleOf": 7, "minimum": 1, "maximum": 6},
        {"type": "integer", "multipleOf": 2.5, "minimum": 1, "maximum": 4},
        {"type": "number", "multipleOf": 0.1, "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.2},
        InternalSchema({"type": "integer", "not integer": True}),
        InternalSchema({"type": "integer", "minimum": 1, "maximum": 2, "not enum": [1, 2]}),
        InternalSchema({"type": "number", "multipleOf": 4, "not multipleOf": 2}),
    ],
)
@pytest.mark.parametrize("reading", Reading)
def test_rules_that_exclude_each_other_are_told(schema, reading):
    """No number is left."""
    if reading is Reading.SPECIFICATION or not isinstance(schema, InternalSchema):
        with pytest.raises(UnsatisfiableError):
            schema_to_pattern(schema, reading=reading)


@pytest.mark.parametrize("divisor", [0, -1, float("inf"), "3", True, None])
def test_a_divisor_is_a_positive_number(divisor):
    """Anything else is refused by its keyword."""
    with pytest.raises(SchemaError) as caught:
        specified({"type": "number", "multipleOf": divisor})
    assert caught.value.keyword == "multipleOf"


def test_divisors_that_take_too_many_states_are_refused():
    """With a way out, and soon."""
    with pytest.raises(SchemaError, match="too large to enforce"):
        specified({"type": "integer", "multipleOf": 0.123456789})


class Bill(BaseModel):
    count: Annotated[int, Field(multiple_of=7)]
    price: Annotated[Decimal, Field(max_digits=6, decimal_places=2, multiple_of=Decimal("0.05"))]
    share: Annotated[float, Field(multiple_of=0.05, ge=0, le=1)]


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_masks_are_those_of_all_tokens(vocabulary, seed):
    """Inside numbers whose digits an automaton counts, and each way home is as long as it was said to be."""
    automaton = RegularAutomaton(schema_to_pattern(resolve_type(Bill).schema, "compact"))
    index = Index(automaton, vocabulary)
    source, state, data = random.Random(seed), automaton.start, b""
    for _ in range(60):
        allowed = unpack(index.mask(state), vocabulary.size).tolist()
        reached = {}
        for token_id, token in enumerate(vocabulary.tokens):
            target = read(automaton, token, state) if token else DEAD
            if target != DEAD:
                reached[token_id] = token
            ends = token_id in vocabulary.end_token_ids and automaton.accepts(state)
            assert allowed[token_id] == (target != DEAD or ends)
        if not reached:
            break
        data += reached[source.choice(list(reached))]
        state = read(automaton, data)
    while not automaton.accepts(state):
        steps = {byte: automaton.step(state, byte) for byte in range(256)}
        byte = min((byte for byte in steps if steps[byte] != DEAD), key=lambda byte: automaton.distances[steps[byte]])
        assert automaton.distances[steps[byte]] == automaton.distances[state] - 1
        data, state = data + bytes([byte]), steps[byte]
    Bill.model_validate_json(data)


@pytest.mark.thorough
@pytest.mark.parametrize("divisor", [2, 3, 4, 5, 100, 0.05, 0.2])
@pytest.mark.parametrize("limits", [{}, {"ge": 0}, {"ge": -20, "le": 500}])
def test_small_automata_print_as_regular_expressions(divisor, limits):
    """The printed pattern matches what the automaton accepts."""
    output_type = Annotated[int if isinstance(divisor, int) else float, Field(multiple_of=divisor, **limits)]
    automaton = RegularAutomaton(schema_to_pattern(resolve_type(output_type).schema))
    printed = re.compile(to_regex(output_type))
    texts = [str(Fraction(count, 20)) for count in range(-600, 600)]
    texts += [f"{count / 20:.2f}" for count in range(-600, 600)] + ["9" * 19, "12" * 9, "7" * 18, "7" * 19, "600" * 9]
    for text in texts:
        assert bool(printed.fullmatch(text)) == accepted(automaton, text.encode()), text


@pytest.mark.thorough
def test_what_no_regular_expression_says_in_short_is_not_printed():
    """By name."""
    with pytest.raises(SchemaError, match="too long a regular expression"):
        to_regex(Annotated[int, Field(multiple_of=101)])


TYPED_DIVISORS = st.sampled_from([0.01, 0.05, 0.1, 2.5, 0.5, 1e-8, 0.001, 0.25, 3, 0.3, 7, 1.1, 1000, 1e-10, 12, 101])


@pytest.mark.thorough
@SLOW
@given(
    divisor=TYPED_DIVISORS,
    ends=st.lists(st.floats(-1e9, 1e9) | st.integers(-1000, 1000), min_size=2, max_size=2).map(sorted),
    used=st.sampled_from([(), ("ge",), ("le",), ("ge", "le"), ("gt", "lt")]),
    integer=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_pydantic_accepts_the_multiples(divisor, ends, used, integer, seed):
    """Every integer and float that is written; and few and short ones can be."""
    low, high = ends
    limits = {name: (low if name[0] == "g" else high) for name in used}
    if integer:
        assume(divisor == int(divisor))
        limits = {name: math.floor(limit) for name, limit in limits.items()}
        divisor = int(divisor)
    adapter = TypeAdapter(Annotated[int if integer else float, Field(multiple_of=divisor, **limits)])
    try:
        automaton = RegularAutomaton(schema_to_pattern(adapter.json_schema()))
    except UnsatisfiableError:
        return
    source = random.Random(seed)
    for _ in range(20):
        text = walk(automaton, source)
        assert len(text) < 45
        adapter.validate_json(text)
    count = source.randint(-(10**4), 10**4)
    text = json.dumps(count * divisor if integer else float(count * Fraction(str(divisor))))
    schema = {"type": "number", "multipleOf": divisor} | {
        {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}[name]: limit
        for name, limit in limits.items()
    }
    if "e" not in text and keeps(schema, Fraction(text)):
        text = text if integer or divisor < 1 else text.removesuffix(".0")
        assert accepted(automaton, text.encode()), text


DECIMAL_BOUNDS = st.decimals(-2000, 2000, places=3) | st.decimals(-(10**20), 10**20, places=1) | st.integers(-20, 20)


@st.composite
def decimal_rules(draw):
    """Return what Pydantic may know of a Decimal."""
    low, high = sorted(draw(st.tuples(DECIMAL_BOUNDS, DECIMAL_BOUNDS)))
    bounds = {draw(st.sampled_from(["ge", "gt"])): low, draw(st.sampled_from(["le", "lt"])): high}
    digits = st.fixed_dictionaries({}, optional={"max_digits": st.integers(0, 8), "decimal_places": st.integers(0, 5)})
    divisors = ["0.01", "0.25", "3", "100", "1e-8", "0.05", "2.5"]
    divisor = st.fixed_dictionaries({}, optional={"multiple_of": st.sampled_from(divisors).map(Decimal)})
    return {name: bounds[name] for name in bounds if draw(st.booleans())} | draw(digits) | draw(divisor)


@pytest.mark.thorough
@SLOW
@given(limits=decimal_rules(), seed=st.integers(0, 2**32), strict=st.booleans())
def test_pydantic_accepts_the_decimals(limits, seed, strict):
    """Every text, whichever digits, bounds and divisor there are, and it keeps its digits."""
    output_type = resolve_type(Annotated[Decimal, Field(strict=strict, **limits)])
    try:
        automaton = RegularAutomaton(schema_to_pattern(output_type.schema))
    except UnsatisfiableError:
        return
    source = random.Random(seed)
    for _ in range(20):
        text = walk(automaton, source)
        value = output_type.parse(text)
        assert text == format(value, "f")


@pytest.mark.thorough
@SLOW
@given(
    limits=decimal_rules(),
    value=st.decimals(-3000, 3000, places=2)
    | st.decimals(-3, 3, places=4)
    | st.integers(1 - 10**18, 10**18 - 1).map(Decimal),
)
def test_decimals_can_be_written(limits, value):
    """The text of every Decimal that Pydantic accepts without forgiving zeros at its end."""
    output_type = resolve_type(Annotated[Decimal, Field(**limits)])
    text = json.loads(output_type.adapter.dump_json(value))
    try:
        output_type.parse(text)
    except ValidationError:
        return
    _, digits, exponent = value.as_tuple()
    size, places = max(len(digits), -exponent), -exponent
    most, after = limits.get("max_digits", 10**9), limits.get("decimal_places", 10**9)
    forgiven = size > most or places > after or ("decimal_places" in limits and size - places > max(0, most - after))
    far = "multiple_of" in limits and abs(value) >= limits["multiple_of"] * 10**27
    if not forgiven and not far and "E" not in text and not (value == 0 and "-" in text):
        assert accepted(RegularAutomaton(schema_to_pattern(output_type.schema)), text.encode()), text


@pytest.mark.parametrize(
    ("limits", "valid", "invalid"),
    [
        ({}, ["0", "-0.5", "1.50", "123456789012345678.12345678901234567890"], ["01", "1.", ".5", "1e3", "NaN", "+1"]),
        ({"decimal_places": 10}, ["250000.50", "123456789012345678.1"], ["0.12345678901"]),
        ({"gt": 999_999_999_999_999}, ["1000000000000000"], ["999999999999999", "1"]),
        ({"max_digits": 4, "decimal_places": 2}, ["12.34", "0.5", "12"], ["123", "1.234", "1.500"]),
        ({"max_digits": 2, "decimal_places": 2}, ["0.25", "0.0", "-0.5"], ["0", "1.0", "1"]),
        ({"max_digits": 3}, ["123", "1.23", "0.123", "12.3"], ["1234", "1.234", "12.34"]),
        ({"ge": Decimal("0.10"), "lt": 2}, ["0.1", "0.10", "1.99999"], ["0.09", "2", "2.0", "0"]),
        ({"multiple_of": Decimal("0.25"), "decimal_places": 3}, ["0.250", "1.5", "7"], ["0.251", "0.1"]),
        ({"ge": Decimal("-Infinity"), "lt": Decimal("Infinity")}, ["0", "1"], []),
    ],
)
def test_decimals_by_example(limits, valid, invalid):
    """How digits are counted, and that there is no exponent."""
    output_type = resolve_type(Annotated[Decimal, Field(**limits)])
    automaton = RegularAutomaton(schema_to_pattern(output_type.schema))
    assert [text for text in valid if not accepted(automaton, text.encode())] == []
    assert [text for text in invalid if accepted(automaton, text.encode())] == []


@pytest.mark.parametrize(
    "limits", [{"gt": 1, "lt": 1}, {"max_digits": 0}, {"gt": Decimal("Infinity")}, {"max_digits": 2, "ge": 100}]
)
def test_decimals_that_cannot_be_are_told(limits):
    """No text is left."""
    with pytest.raises(UnsatisfiableError):
        schema_to_pattern(resolve_type(Annotated[Decimal, Field(**limits)]).schema)


@pytest.mark.parametrize("divisor", [2, 3, 5, 0.75])
@pytest.mark.parametrize("rules", [{}, {"multipleOf": 7}, {"minimum": 1000}])
def test_neither_the_decimal_nor_its_double_is_a_multiple_that_is_denied(divisor: float, rules: dict[str, Any]) -> None:
    """`806863655901650689.0` is read as an even number; `4.7e+82` is a multiple of 3 if its double is asked."""
    schema = {"type": "number", **rules, "not": {"multipleOf": divisor}}
    automaton, source = automaton_of(JsonSchema(schema), optional="schema"), random.Random(0)
    for text in ("806863655901650689.0", "9009999595581654424011.00", "4.7e+82", "1e23"):
        assert not accepted(automaton, text.encode())
    for _ in range(200):
        value = json.loads(random_json(automaton, source))
        assert not is_multiple(value, divisor)
        assert Fraction(value) % Fraction(divisor)


@pytest.mark.parametrize(("text", "divisor"), [("1061134077190315.75", 0.25), ("19.99", 0.01), ("0.3", 0.1)])
def test_a_multiple_is_one_by_its_digits_or_by_its_double(text: str, divisor: float) -> None:
    """Python writes the first as 1061134077190315.8, which is none; 0.3 is one by its digits alone."""
    schema = JsonSchema({"type": "number", "multipleOf": divisor})
    assert extract(schema, "x", model=ScriptedModel(text)) == float(text)
    assert not is_multiple(float(text) + divisor / 2, divisor)
