"""Each whitespace style is what it says it is."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import WHITESPACES, random_text

from structured.json_schema.schema_compiler import schema_to_pattern
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, read_whitespace

NESTED = {
    "type": "object",
    "properties": {
        "empty": {"type": "object", "properties": {}},
        "none": {"type": "array", "maxItems": 0},
        "rows": {"type": "array", "items": {"type": "array", "items": {"type": "null"}, "maxItems": 2}, "maxItems": 2},
        "é": {"const": 'a, b: "c"'},
    },
}
ROWS = st.lists(st.lists(st.none(), max_size=2), max_size=2)


@given(ROWS)
def test_exact_styles_are_those_of_json_dumps(rows):
    """Compact, spaced and indented match what `json.dumps` writes, and the others match all three."""
    value = {"empty": {}, "none": [], "rows": rows, "é": 'a, b: "c"'}
    written = {
        "compact": json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        "spaced": json.dumps(value, ensure_ascii=False),
        "indented": json.dumps(value, ensure_ascii=False, indent=2),
    }
    for whitespace, text in written.items():
        assert re.fullmatch(str(schema_to_pattern(NESTED, whitespace)), text)
        assert re.fullmatch(str(schema_to_pattern(NESTED, "flexible")), text)
        assert re.fullmatch(str(schema_to_pattern(NESTED, "any")), text)


@given(st.sampled_from(WHITESPACES), st.integers(0, 2**32))
def test_exact_styles_write_nothing_else(whitespace, seed):
    """Each text of an exact style is what `json.dumps` writes of its value; one of the flexible style has its value."""
    text = random_text(schema_to_pattern(NESTED, whitespace), random.Random(seed))
    arguments = {"compact": {"separators": (",", ":")}, "indented": {"indent": 2}}.get(whitespace, {})
    value = json.loads(text)
    assert whitespace in ("flexible", "any") or text == json.dumps(value, ensure_ascii=False, **arguments)


@pytest.mark.parametrize("blank", ["", " ", "\n", "\n ", "\n" + " " * 16, "\n\t", "\n" + "\t" * 8])
def test_flexible_blanks(blank):
    """A space, or a new line and up to 16 spaces or 8 tabs, wherever a blank may stand."""
    pattern = str(schema_to_pattern({"type": "array", "items": {"type": "null"}}, "flexible"))
    assert re.fullmatch(pattern, f"[{blank}null,{blank}null{blank}]")
    assert re.fullmatch(pattern, f"[{blank}]")


@pytest.mark.parametrize("text", ["[  null]", "[null ,null]", "[\n\nnull]", "[\n" + " " * 17 + "null]", "[\r\nnull]"])
def test_flexible_blanks_are_bounded(text):
    """No run of blanks, and none before a comma."""
    assert not re.fullmatch(str(schema_to_pattern({"type": "array", "items": {"type": "null"}}, "flexible")), text)


@given(st.lists(st.text(" \t\n\r", max_size=4), min_size=5, max_size=5))
def test_any_blanks(blanks):
    """Whatever RFC 8259 §2 allows, around every token."""
    one, two, three, four, five = blanks
    pattern = schema_to_pattern({"properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "type": "object"}, "any")
    assert re.fullmatch(str(pattern), f'{{{one}"a"{two}:{three}null{four},{five}"b"{one}:{two}null{three}}}')


def test_the_default_is_spaced():
    """What `json.dumps` writes when nothing is said."""
    assert DEFAULT_WHITESPACE == "spaced"
    assert schema_to_pattern(NESTED) == schema_to_pattern(NESTED, "spaced")


def test_an_unknown_whitespace_is_refused():
    """The message names the styles that there are."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_whitespace("pretty")
    assert str(caught.value) == (
        "whitespace is 'pretty'; it must be one of 'compact', 'spaced', 'indented', 'flexible', 'any'."
    )
