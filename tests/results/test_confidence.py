"""Confidence: which tokens a value is written with, and what they make together."""

import math

import pytest

from structured.decoding.requests import SampledToken
from structured.results.attribution import confidences, tokens_of_leaves
from structured.results.json_text import json_leaves

TEXT = '{"a": "ü1", "b": 12, "c": null}'


def sampled(*pieces: tuple[str, float | None]) -> list[SampledToken]:
    """Return the tokens of a text, given with the probability of those that the model was asked for."""
    tokens, byte = [], 0
    for piece, probability in pieces:
        end = byte + len(piece.encode())
        if probability is not None:
            tokens.append(SampledToken(byte, end, math.log(probability), 1.0))
        byte = end
    return tokens


TOKENS = sampled(
    ('{"a": "', None), ("ü", 0.5), ("1", 0.5), ('"', 0.8), (', "b": ', None), ("1", 0.4), ("2", 0.5), (", ", 0.9),
    ('"c": ', None), ("null", None), ("}", None),
)  # fmt: skip


def test_tokens_belong_to_the_value_that_they_write() -> None:
    """To a string with its closing quote; to a number with the token behind it, which ends it."""
    found = tokens_of_leaves(TEXT, json_leaves(TEXT), TOKENS)
    assert [len(one) for one in found] == [3, 3, 0]
    assert list(confidences(TEXT, json_leaves(TEXT), TOKENS)) == [pytest.approx(0.2), pytest.approx(0.18), None]


def test_a_token_may_write_several_values() -> None:
    """Then it counts for each of them."""
    text = '["a", "b"]'
    tokens = sampled(('["', None), ('a", "b', 0.5), ('"]', 0.5))
    assert list(confidences(text, json_leaves(text), tokens)) == pytest.approx([0.5, 0.25])
