"""Texts of the grammars that ship, with random edits: the automaton accepts what Lark parses, and nothing else."""

import random

import pytest

pytest.importorskip("lark")

from structured import Grammar
from structured.automata.byte_automaton import accepts_text
from structured.output_types.grammar import SHIPPED_TITLES

TEXTS = {
    "json": ['{"a": [1, -2.5e3, true], "b\\n": {"c": null}}', '["x", "", {"k": []}]'],
    "arithmetic": ["1 + 2 * (3 - 4.5e1) ** -2", "-(1 / 2) + 3"],
    "sql": [
        "SELECT a.b AS c, count(*) FROM t JOIN u ON t.x = u.y WHERE a > 3 OR c IN (1, 'x') ORDER BY a DESC LIMIT 3;"
    ],
    "python": [
        "def f(x, y=3):\n    for i in range(9):\n        if x > i:  # so\n            return [1, 2.5]\n    z = 'a'\n"
    ],
}
PIECES = [
    *"aZ_09 .,:;()[]{}+-*/<>=!\"'\\#\n\té",
    "    ",
    "**",
    "==",
    "if",
    "select",
    "null",
    "1e",
    "''",
    '"""',
    "\n    ",
    "--",
]


def edited(text: str, rng: random.Random) -> str:
    """Return a text with up to three edits: something put in, left out, doubled or moved."""
    for _ in range(rng.randrange(4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.randrange(4))
        put = rng.choice(["", rng.choice(PIECES), text[start:end] * 2, text[rng.randrange(len(text) + 1) :][:3]])
        text = text[:start] + put + text[end:]
    return text


def parses(grammar: Grammar[str], text: str) -> bool:
    try:
        grammar.parse(text)
    except ValueError:
        return False
    return True


def check(name: str, count: int) -> None:
    grammar, rng = Grammar.named(name), random.Random(0)  # type: ignore[arg-type]
    automaton, parsed = grammar.automaton(), 0
    for _ in range(count):
        text = edited(rng.choice(TEXTS[name]), rng)
        expected = parses(grammar, text)
        parsed += expected
        assert accepts_text(automaton, text) == expected, text
    assert 0 < parsed < count


@pytest.mark.parametrize("name", ["json", "arithmetic", "python"])
def test_edited_texts_are_accepted_if_lark_parses_them(name: str) -> None:
    check(name, 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED_TITLES)
def test_many_edited_texts_are_accepted_if_lark_parses_them(name: str) -> None:
    check(name, 10_000)
