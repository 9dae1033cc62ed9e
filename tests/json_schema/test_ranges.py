"""The patterns of ranges agree with arithmetic."""

import json
import math
import random
import re
from fractions import Fraction
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter
from strategies import GREATEST_PLAIN, random_text

from structured import JsonSchema
from structured.errors import SchemaError
from structured.json_schema.numbers.number_patterns import FLOATS, PLACES
from structured.json_schema.numbers.ranges import decimal_range, integer_range
from structured.json_schema.schema_compiler import compiled, schema_to_pattern
from structured.output_types.resolve import resolve_type

BIG = st.integers(-(10**40), 10**40)
UNITS = st.integers(-(10**24), 10**24) | st.integers(-(10**20), 10**20) | st.integers(-1200, 1200)
BOUNDS = st.floats(-1e20, 1e20) | st.floats(-2, 2) | st.integers(-1000, 1000) | st.sampled_from([0, 1, 0.1, 0.3, 1e-9])


def matches(schema, text):
    return re.fullmatch(str(schema_to_pattern(schema)), text) is not None


def decimal_text(units, digits):
    """Return units of 10 ** -PLACES with that many digits after the point: `5 * 10**16, 2` → `0.50`."""
    whole, after = divmod(abs(units), 10**PLACES)
    return ("-" if units < 0 else "") + str(whole) + (f".{after:0{PLACES}}"[: digits + 1] if digits else "")


def plain_floats(low, high):
    """Return the floats between two numbers of units of 10 ** -PLACES."""
    return decimal_range(Fraction(low, 10**PLACES), Fraction(high, 10**PLACES), FLOATS)


@pytest.mark.thorough
def test_integer_ranges_hold_exactly_their_integers():
    """Every pair of ends in a small interval, against every integer around it."""
    source = random.Random(0)
    for _ in range(400):
        low, high = sorted((source.randint(-120, 1100), source.randint(-120, 1100)))
        pattern = re.compile(str(integer_range(low, high)))
        for value in range(-130, 1210):
            assert bool(pattern.fullmatch(str(value))) == (low <= value <= high), (low, high, value)


@given(ends=st.tuples(BIG, BIG), shift=st.integers(-3, 3), other=BIG)
def test_integer_ranges_hold_at_their_ends(ends, shift, other):
    """The integers next to the ends, however big, and any others."""
    low, high = sorted(ends)
    pattern = re.compile(str(integer_range(low, high)))
    for value in (low + shift, high + shift, other, 0, -other):
        assert bool(pattern.fullmatch(str(value))) == (low <= value <= high)


@pytest.mark.parametrize("text", ["-0", "00", "01", "+1", "1.0", "1e0", "", "-", " 1", "-01", "true"])
def test_integers_have_one_spelling(text):
    """Nothing but the decimal digits that `str` writes."""
    assert not matches({"type": "integer"}, text)
    assert not matches({"type": "integer", "minimum": -500, "maximum": 500}, text)


@pytest.mark.thorough
@given(st.lists(st.tuples(st.sampled_from(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]), BOUNDS)))
def test_integer_bounds_mean_what_arithmetic_says(bounds):
    """Integer, fractional and several bounds at once; or there is no such integer."""
    schema = {"type": "integer", **dict(bounds)}
    tests = {
        "minimum": lambda value, bound: value >= bound,
        "exclusiveMinimum": lambda value, bound: value > bound,
        "maximum": lambda value, bound: value <= bound,
        "exclusiveMaximum": lambda value, bound: value < bound,
    }
    exact = {keyword: Fraction(str(bound)) for keyword, bound in bounds}
    near = {round(bound) + shift for bound in exact.values() for shift in range(-2, 3)} | {0, 17}
    allowed = {value for value in near if all(tests[keyword](value, bound) for keyword, bound in exact.items())}
    try:
        pattern = re.compile(str(schema_to_pattern(schema)))
    except SchemaError:
        assert not allowed
    else:
        assert {value for value in near if pattern.fullmatch(str(value))} == allowed


@pytest.mark.parametrize("bound", [0, 5, -5, 10**18, 10**18 - 1, -(10**18), 10**30 + 1])
@pytest.mark.parametrize("keyword", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
def test_one_bound_leaves_room_beyond(bound, keyword):
    """Where one side has no bound, integers of at least 18 digits and of ten times the bound remain."""
    reach = (max(10**18, 10 * abs(bound)) - 1) * (1 if "inimum" in keyword else -1)
    assert matches({"type": "integer", keyword: bound}, str(reach))


@pytest.mark.thorough
@given(ends=st.tuples(UNITS, UNITS), units=UNITS, shift=st.integers(-3, 3), digits=st.integers(0, PLACES))
def test_decimal_ranges_agree_with_arithmetic(ends, units, shift, digits):
    """Decimals at random and next to the ends, written out or cut after any digit."""
    low, high = sorted(ends)
    pattern = re.compile(str(plain_floats(low, high)))
    for value in (units, low + shift, high + shift, low, high, (low + high) // 2):
        text = decimal_text(value, digits)
        if not (text.startswith("-") and Fraction(text) == 0):
            assert bool(pattern.fullmatch(text)) == (low <= Fraction(text) * 10**PLACES <= high), text


@pytest.mark.thorough
@given(ends=st.tuples(UNITS, UNITS), seed=st.integers(0, 2**32))
def test_decimal_ranges_hold_nothing_else(ends, seed):
    """Longer texts than those with PLACES digits lie in the range as well."""
    low, high = sorted(ends)
    source = random.Random(seed)
    for _ in range(20):
        text = random_text(plain_floats(low, high), source)
        assert low <= Fraction(text) * 10**PLACES <= high, text
        assert float(text) == json.loads(text)


@pytest.mark.thorough
@given(low=BOUNDS, width=st.sampled_from([0, 5e-324, 1e-17, 1e-9, 1, 1e6]), strict=st.booleans(), data=st.data())
def test_no_rounding_crosses_a_bound(low, width, strict, data):
    """Pydantic accepts whatever a bounded float writes, and every plain double within the bounds is written."""
    high = low + width
    limits = {"gt": low, "lt": high} if strict else {"ge": low, "le": high}
    adapter = TypeAdapter(Annotated[float, Field(**limits)])
    if (math.nextafter(low, math.inf) if strict else low) > (math.nextafter(high, -math.inf) if strict else high):
        return
    try:
        pattern = schema_to_pattern(adapter.json_schema())
    except SchemaError:
        return  # No number with so few decimal places lies between the bounds.
    source = random.Random(data.draw(st.integers(0, 2**32)))
    for _ in range(20):
        adapter.validate_json(random_text(pattern, source))
    value = data.draw(st.floats(low, high)) + 0.0
    if (low < value < high if strict else low <= value <= high) and 1e-4 <= abs(value) <= GREATEST_PLAIN:
        assert re.fullmatch(str(pattern), repr(value))


@st.composite
def narrow_bounds(draw):
    """Bounds a few doubles apart, of any magnitude: denormal, next to the greatest, around each power of ten."""
    tiny = st.integers(0, 40).map(lambda steps: steps * 5e-324)
    anywhere = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-323, 308).map(lambda n: float(f"1e{n}"))
    low = draw(st.one_of(tiny, tiny.map(lambda value: -value), anywhere))
    inside = [low]
    for _ in range(draw(st.integers(0, 3))):
        inside.append(math.nextafter(inside[-1], math.inf))
    if math.isinf(inside[-1]):
        inside = [value for value in inside if not math.isinf(value)]
    keywords = {draw(st.sampled_from(["minimum", "exclusiveMinimum"])): inside[0]}
    keywords[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = inside[-1]
    inside = inside[1:] if "exclusiveMinimum" in keywords else inside
    inside = (
        inside[: inside.index(keywords["exclusiveMaximum"])] if keywords.get("exclusiveMaximum") in inside else inside
    )
    return keywords, inside


@pytest.mark.thorough
@given(drawn=narrow_bounds(), seed=st.integers(0, 2**32))
def test_bounds_are_unsatisfiable_only_if_no_number_lies_between(drawn, seed):
    """As Pydantic and `jsonschema` read it, which also know integers between two doubles."""
    bounds, inside = drawn
    schema = {"type": "number", **bounds}
    low, high = (next(bounds[key] for key in pair if key in bounds) for pair in PAIRS)
    first = math.floor(low) + 1 if "exclusiveMinimum" in bounds else math.ceil(low)
    has_integer = first < high or (first == high and "maximum" in bounds)
    as_type = Annotated[float, Field(**as_constraints(bounds))]
    source = random.Random(seed)
    for output_type, some in ((as_type, inside), (JsonSchema(schema), inside or has_integer)):
        if not some:
            with pytest.raises(SchemaError, match="Unsatisfiable"):
                compiled(resolve_type(output_type).compilation())
            continue
        try:
            pattern = compiled(resolve_type(output_type).compilation())
        except SchemaError as error:
            assert "digits after the point are not written" in str(error)  # noqa: PT017  some bounds are so close
            continue
        for _ in range(5):
            resolve_type(output_type).parse(random_text(pattern, source))


PAIRS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
NAMES = {"minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "exclusiveMaximum": "lt"}


@pytest.mark.parametrize(
    "bounds",
    [
        {"exclusiveMinimum": 5e-324, "maximum": 1e-323},
        {"exclusiveMinimum": 0, "maximum": 5e-324},
        {"minimum": -1e-323, "exclusiveMaximum": -5e-324},
        {"minimum": 1e-30, "maximum": 1e-30},
    ],
)
def test_bounds_between_which_numbers_have_very_many_places_are_refused(bounds):
    """That some number lies between them is not denied."""
    for output_type in (JsonSchema(bounds | {"type": "number"}), Annotated[float, Field(**as_constraints(bounds))]):
        with pytest.raises(SchemaError, match="Numbers of more than 20 digits after the point are not written"):
            compiled(resolve_type(output_type).compilation())


def as_constraints(bounds):
    return {NAMES[key]: bound for key, bound in bounds.items()}


@pytest.mark.parametrize("bound", [0, 1, -1, 0.1, 0.30000000000000004, 1e15, 1e16, 1e22, 123456.789, -1e300])
@pytest.mark.parametrize("side", [-math.inf, math.inf])
def test_a_strict_bound_is_strict(bound, side):
    """The bound itself is not matched, in any spelling that rounds to it; its neighbour is, where it is plain."""
    keyword = "exclusiveMinimum" if side > 0 else "exclusiveMaximum"
    schema = {"type": "number", keyword: bound}
    neighbour = math.nextafter(bound, side)
    for units in range(-3, 4):
        text = decimal_text(math.floor(Fraction(str(bound)) * 10**PLACES) + units, PLACES)
        beyond = float(text) > bound if side > 0 else float(text) < bound
        assert beyond or not matches(schema, text)
    assert matches(schema, decimal_text(math.floor(Fraction(repr(neighbour)) * 10**PLACES) + (side > 0), PLACES))


@given(st.floats(1e-4, GREATEST_PLAIN) | st.floats(1e16, 1e99) | st.floats(1e-99, 1e-5))
def test_unbounded_floats_can_be_written(value):
    """`json.dumps` of an ordinary float matches, with and without an exponent."""
    assert matches({"type": "number"}, json.dumps(value))
    assert matches({"type": "number"}, json.dumps(-value))


@pytest.mark.parametrize("text", ["1.", ".5", "01.5", "+1", "1e", "1e+", "NaN", "Infinity", "0x1", "1e100", "--1", ""])
def test_floats_are_json_numbers(text):
    """No spelling but that of RFC 8259 §6, with at most two digits of exponent."""
    assert not matches({"type": "number"}, text)


@pytest.mark.parametrize(
    ("schema", "regex"),
    [
        ({"type": "integer"}, "0|-?[1-9][0-9]{0,17}"),
        ({"type": "integer", "minimum": 0}, "0|[1-9][0-9]{0,17}"),
        ({"type": "integer", "minimum": 1, "maximum": 12}, "1[0-2]|[1-9]"),
        ({"type": "integer", "minimum": -12, "maximum": 3}, "-(?:1[0-2]|[1-9])|[0-3]"),
        ({"type": "number", "minimum": 0}, r"(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,20})?"),
        ({"type": "number", "minimum": 0, "maximum": 1}, r"1(?:\.0{1,20})?|0(?:\.[0-9]{1,20})?"),
        (
            {"type": "number", "minimum": -90, "maximum": 90},
            r"-?(?:90(?:\.0{1,20})?|(?:0|[1-8][0-9]|[1-9])(?:\.[0-9]{1,20})?)",
        ),
    ],
)
def test_common_ranges_print_shortly(schema, regex):
    """What people see of the ranges that they use most."""
    assert str(schema_to_pattern(schema)) == regex


@given(st.tuples(BIG, BIG))
def test_ranges_are_small(ends):
    """The pattern grows with the number of digits."""
    assert len(str(integer_range(*sorted(ends)))) < 45 * 42
