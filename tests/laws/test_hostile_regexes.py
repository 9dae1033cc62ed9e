"""Hostile regular expressions as output types: each works, or is refused by name, within some seconds."""

import time
from contextlib import suppress

import pytest

from structured import Choice, Regex
from structured.errors import PatternError

SECONDS = 20
"""Of the processor; far more than any of them takes."""

HOSTILE = {
    "nested stars": "((a*)*)*",
    "nested counts": "(a{1,1000}){1,1000}",
    "nested words": r"(\w{1,1000}){1,1000}",
    "a long text": "a" * 100_000,
    "many alternatives": "|".join(f"w{number}" for number in range(15_000)),
    "many classes": "[a-z]" * 20_000,
    "5,000 groups": "(" * 5_000 + "a" + ")" * 5_000,
    "300 groups": "(" * 300 + "a" + ")*" * 300,
    "lookaheads": "".join(f"(?=.*{letter})" for letter in "abcdefgh") + ".*",
    "2^20 states": "(?:a|b)*a(?:a|b){20}(?!c)a",
    "nested atomic groups": "(?>" * 40 + "a*" + ")" * 40 + "b",
    "possessive counts": r"(?:\w{1,500}+ ?){1,500}",
    "a million": "a{1000000}",
    "a billion": "a{1000000000}",
    "more than a count": "a{99999999999}",
}


@pytest.mark.thorough
@pytest.mark.parametrize("regex", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_expression_works_or_is_refused(regex: str) -> None:
    start = time.process_time()
    with suppress(PatternError):
        automaton = Regex(regex).automaton()
        assert automaton.distances[automaton.start] >= 0
    assert time.process_time() - start < SECONDS


def test_a_hundred_thousand_choices_take_no_time() -> None:
    start = time.process_time()
    Choice([f"option {number}" for number in range(100_000)]).check()
    assert time.process_time() - start < SECONDS
