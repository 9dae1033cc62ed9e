"""Confidence: which tokens a value is written with, and what they make together."""

import math
from typing import Any

import pytest

from structured.decoding.requests import Diagnostics, Generation, SampledToken
from structured.output_types.choice import Choice
from structured.output_types.regex import Regex
from structured.output_types.resolve import resolve_type
from structured.results.attribution import confidences, leaf_confidences, tokens_of_leaves
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


@pytest.mark.parametrize("output_type", [Choice({"a": 1, "ab": 2}), Regex("a|ab")])
def test_the_end_of_an_answer_that_is_not_json_counts(output_type: Any) -> None:
    """`a` is as likely as its token and the end behind it, where `ab` is allowed too."""
    tokens = (*sampled(("a", 0.9)), SampledToken(1, 1, math.log(0.5), 1.0))
    generation = Generation("a", (), 0.0, shortened=False, diagnostics=Diagnostics(tokens=tokens))
    (sure,) = leaf_confidences(resolve_type(output_type), generation).values()
    assert sure.confidence == pytest.approx(0.45)
