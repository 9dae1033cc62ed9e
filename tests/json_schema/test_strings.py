"""The pattern of strings is the grammar of RFC 8259 §7, less lone surrogates, and lengths count characters."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CHARACTERS

from structured.json_schema.schema_compiler import schema_to_pattern
from structured.json_schema.strings.strings import CHARACTER
from structured.regex import Iteration

ANY_STRING = re.compile(str(schema_to_pattern({"type": "string"})))


@given(st.text(CHARACTERS), st.booleans())
def test_every_text_can_be_written(text, ensure_ascii):
    """As itself and escaped."""
    assert ANY_STRING.fullmatch(json.dumps(text, ensure_ascii=ensure_ascii))


@pytest.mark.thorough
@given(st.text(CHARACTERS, max_size=6), st.booleans(), st.integers(0, 5), st.integers(0, 5))
def test_lengths_count_characters(text, ensure_ascii, minimum, more):
    """A character counts once, whether it takes one byte, four, or two escapes."""
    schema = {"type": "string", "minLength": minimum, "maxLength": minimum + more}
    matched = re.fullmatch(str(schema_to_pattern(schema)), json.dumps(text, ensure_ascii=ensure_ascii))
    assert bool(matched) == (minimum <= len(text) <= minimum + more)


@given(st.text(st.sampled_from('\\u"/bnD8dF0aC \n\x00😀\x7f9'), max_size=14))
def test_only_json_strings_are_written(inside):
    """Python's parser agrees on every text, but that it takes lone surrogates."""
    text = f'"{inside}"'
    try:
        value = json.loads(text)
        value.encode()
    except ValueError:
        assert not ANY_STRING.fullmatch(text)
    else:
        assert ANY_STRING.fullmatch(text)


@pytest.mark.parametrize(
    "text", [r'"\ud83d\ude00"', r'"\uD83D\uDE00"', r'"\u00e9"', r'"\u00E9"', r'"\/"', '"\x7f"', '""']
)
def test_spellings_that_are_written(text):
    """Hexadecimal digits of both cases, surrogate pairs, the escaped slash."""
    assert ANY_STRING.fullmatch(text)


@pytest.mark.parametrize(
    "text", [r'"\ud83d"', r'"\ude00\ud83d"', r'"\x41"', r'"\u12"', '"\n"', '"\ud800"', '"', r'"\"']
)
def test_spellings_that_are_not(text):
    """Lone surrogates, unknown escapes, control characters."""
    assert not ANY_STRING.fullmatch(text)


def test_strings_share_their_character():
    """The node of one character is the same object in every string."""
    pattern = schema_to_pattern({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
    repeats = [part for part in pattern.parts if isinstance(part, Iteration)]
    assert [part.item is CHARACTER for part in repeats] == [True, True]
