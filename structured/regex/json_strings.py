"""Patterns inside JSON strings: the same texts, escaped.

Each character has one spelling, that of `json.dumps(text, ensure_ascii=False)`. So escaping is a bijection, and
intersections and complements of escaped languages are the escaped intersections and complements.
"""

import json
from functools import lru_cache

from structured.errors.recursion import deep
from structured.regex.character_sets import PLAIN_ESCAPES, UNESCAPED_RANGES, Range, complement, normalise
from structured.regex.syntax import (
    Alternation,
    Anchor,
    AutomatonPattern,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
    Pattern,
    Quotation,
    Reference,
    Words,
    alternation,
    concat,
    repeat,
    words,
)


def escaped(pattern: Pattern, shared: dict[int, Pattern] | None = None) -> Pattern:
    r"""Return the pattern with its characters escaped as JSON escapes them: a line feed → `\\n`.

    Shared nodes stay shared; `shared` has the results for nodes that were escaped before, by identity.
    """
    results = {} if shared is None else shared
    if id(pattern) not in results:
        results[id(pattern)] = _escaped(pattern, results)
    return results[id(pattern)]


@deep
def _escaped(pattern: Pattern, results: dict[int, Pattern]) -> Pattern:  # noqa: C901, PLR0912  one case for each kind of node
    match pattern:
        case Literal(text):
            return Literal(json.dumps(text, ensure_ascii=False)[1:-1])
        case Words(texts):
            return words(json.dumps(text, ensure_ascii=False)[1:-1] for text in texts)
        case CharSet(ranges):
            return escaped_set(ranges)
        case Concat(parts):
            return concat(*(escaped(part, results) for part in parts))
        case Alternation(options):
            return alternation(*(escaped(option, results) for option in options))
        case Iteration(item, minimum, maximum):
            return repeat(escaped(item, results), minimum, maximum)
        case Reference():
            return _escaped_reference(pattern, results)
        case Anchor("start"):
            return Anchor("string_start")
        case Anchor("end"):
            return Lookahead(Literal('"'))
        case Anchor():
            return pattern
        case Lookahead(inside, negated):
            return Lookahead(escaped(inside, results), negated)
        case Lookbehind(inside, negated):
            return Lookbehind(escaped(inside, results), negated)
        case AutomatonPattern() | Quotation():
            return pattern
    raise TypeError(f"{type(pattern).__name__} is not a pattern of characters")


def _escaped_reference(reference: Reference, results: dict[int, Pattern]) -> Reference:
    target = reference.target
    inner: dict[str, Pattern] = {}
    escaped_reference = Reference(reference.name, inner)
    if id(target) not in results:
        results[id(target)] = escaped_reference  # for references inside the target
        results[id(target)] = _escaped(target, results)
    inner[reference.name] = results[id(target)]
    return escaped_reference


@lru_cache(maxsize=1024)
def escaped_set(ranges: tuple[Range, ...]) -> Pattern:
    """Return the spellings of one character of some ranges."""
    plain, spelled = spelled_ranges(ranges)
    return alternation(*([CharSet(plain)] if plain else []), *([words(spelled)] if spelled else []))


_ESCAPES = tuple(zip(PLAIN_ESCAPES, (0x22, 0x5C, *range(0x20)), strict=True))
"""The spelling and the code point of each escaped character."""


@lru_cache(maxsize=4096)
def spelled_ranges(ranges: tuple[Range, ...]) -> tuple[tuple[Range, ...], tuple[str, ...]]:
    """Return the characters of some ranges that are not escaped, and the spellings of the others."""
    near = [(low, high) for low, high in ranges if low <= ord("\\")]  # the last one
    spelled = tuple(text for text, point in _ESCAPES if any(low <= point <= high for low, high in near))
    return complement([*complement(ranges), *complement(UNESCAPED_RANGES)]), spelled


def longest_spelling(low: int, high: int) -> int:
    """Return the bytes of the longest spelling of a character of a range."""
    plain, spelled = spelled_ranges(normalise([(low, high)]))
    return max([len(chr(last).encode()) for _, last in plain] + list(map(len, spelled)))
