r"""Values that each have one spelling, so that two are the same if their texts are (core §4.2.2).

A string is spelled as `json.dumps` spells it, a number as a plain decimal without idle zeros: `\u0061` is `a`, and
`1.0` and `1e0` are `1`. Decimals with a point have at most fifteen digits, since of so many no two are the same double.
"""

import json
import math
from collections.abc import Iterable, Mapping

from structured.automata.dfa import PatternLanguage, most_characters
from structured.errors import PatternError, UnsatisfiableError
from structured.json_schema.document.location import Location, PatternOf, Subschema, Subschemas
from structured.json_schema.logic.equality import identity
from structured.json_schema.numbers.multiples import scan
from structured.json_schema.strings.strings import CHARACTER
from structured.regex import (
    Alternation,
    CharSet,
    Concat,
    Literal,
    Pattern,
    Repeat,
    Scan,
    Unlike,
    Words,
    alternation,
    chars,
    concat,
    literal,
    nodes_of,
    optional,
    repeat,
    words,
)
from structured.regex.character_sets import MAX_CODE_POINT
from structured.regex.json_strings import escaped_set

MAX_DIGITS = 15
"""Digits of a decimal with a point; so many are told apart by every reader of JSON (RFC 8259 §6)."""

MANY = 1 << 20
"""Values that no text holds one by one: the states of an automaton are fewer."""

_MAX_COUNTED = 64
"""Characters up to which texts are counted."""

_SCHEMAS = {name: {"type": name} for name in ("null", "boolean", "number", "string")}
_NESTED = {"type": ["array", "object"]}

_ONE_CHARACTER = escaped_set(((0, 0xD7FF), (0xE000, MAX_CODE_POINT)))

_DIGIT, _NOT_ZERO = chars("0123456789"), chars("123456789")


def _plain_decimals() -> Pattern:
    """Return the numbers in their one spelling."""
    with_point = [
        concat(literal("0."), repeat(_DIGIT, 0, MAX_DIGITS - 2), _NOT_ZERO),
        *(
            concat(_NOT_ZERO, repeat(_DIGIT, whole, whole), literal("."), repeat(_DIGIT, 0, places), _NOT_ZERO)
            for whole in range(MAX_DIGITS - 1)
            for places in [MAX_DIGITS - 2 - whole]
        ),
    ]
    integers = concat(optional(literal("-")), _NOT_ZERO, repeat(_DIGIT, 0, None))
    return alternation(literal("0"), integers, concat(optional(literal("-")), alternation(*with_point)))


_PLAIN_DECIMALS = PatternLanguage(_plain_decimals())


def one_spelling(schemas: Subschemas, location: Location, pattern_of: PatternOf) -> Pattern | None:
    """Return the values that satisfy some schemas, each in its one spelling; None if some are arrays or objects.

    Raises `UnsatisfiableError` if there are none, and `SchemaError` where they cannot be spelled in one way.
    """
    if _values_of(_NESTED, schemas, pattern_of) is not None:
        return None
    found = [
        _numbers(values, location) if name == "number" else _texts(values)
        for name, schema in _SCHEMAS.items()
        if (values := _values_of(schema, schemas, pattern_of)) is not None
    ]
    if not found:
        raise location.unsatisfiable("no item can be valid", keyword="items")
    items = alternation(*found)
    if any(node is CHARACTER for node in nodes_of(items)):
        raise location.refusal(
            "'uniqueItems' is not supported for strings that refer to themselves",
            keyword="uniqueItems",
            remedy="Remove it, and remove what is repeated in your program.",
        )
    return items


def _values_of(schema: Mapping[str, object], schemas: Subschemas, pattern_of: PatternOf) -> Pattern | None:
    """Return what satisfies one more schema as well, None if nothing does."""
    try:
        return pattern_of([*schemas, Subschema(schema, schemas[0].location)])
    except UnsatisfiableError:
        return None


def _numbers(values: Pattern, location: Location) -> Pattern:
    """Return the numbers of a pattern. Raises `SchemaError` if none has so few digits."""
    try:
        found = scan(values, [_PLAIN_DECIMALS])
    except PatternError as error:
        raise location.refusal(error.problem, keyword="uniqueItems", remedy=error.remedy) from error
    if found is None:
        raise location.refusal(
            "'uniqueItems' is not supported for numbers of so many digits",
            keyword="uniqueItems",
            remedy=f"Allow some of at most {MAX_DIGITS} digits.",
        )
    return found


def _texts(values: Pattern) -> Pattern:
    """Return the values of a pattern of strings, or of what is listed, each once."""
    match values:
        case Literal() | Words():
            return _listed(values.texts if isinstance(values, Words) else (values.text,))
        case Alternation(options) if values is not CHARACTER:
            return alternation(*map(_texts, options))
        case _:
            return _with_one_character(values)


def _listed(texts: Iterable[str]) -> Pattern:
    """Return the first spelling of each value: `"1"`, `"1.0"`, `"2"` → `"1"`, `"2"`."""
    return words({identity(json.loads(text)): text for text in reversed([*texts])}.values())


def _with_one_character(pattern: Pattern) -> Pattern:
    """Return a pattern in which any character has one spelling."""
    match pattern:
        case _ if pattern is CHARACTER:
            return _ONE_CHARACTER
        case Concat(parts):
            return concat(*map(_with_one_character, parts))
        case Alternation(options):
            return alternation(*map(_with_one_character, options))
        case Repeat(item, minimum, maximum):
            return repeat(_with_one_character(item), minimum, maximum)
        case _:
            return pattern


def are_many(pattern: Pattern) -> bool:
    """Tell whether surely more than `MANY` texts match a pattern."""
    return _at_least(pattern) >= MANY


def _at_least(pattern: Pattern) -> float:
    """Return a number of texts that a pattern surely has; those of the parts of a sequence may overlap."""
    match pattern:
        case Words(texts):
            return len(texts)
        case CharSet(ranges):
            return sum(high - low + 1 for low, high in ranges)
        case Concat(parts) | Alternation(parts):
            return max(map(_at_least, parts))
        case Repeat(item, _, maximum):
            return math.inf if maximum is None else _at_least(item) ** maximum if _is_character(item) else 1
        case Unlike():
            return math.inf
        case Scan():
            return _texts_of(pattern)
        case _:
            return 1


def _is_character(pattern: Pattern) -> bool:
    return isinstance(pattern, CharSet) or pattern is _ONE_CHARACTER


def _texts_of(automaton: Scan) -> float:
    """Return how many texts an automaton has of a limited length."""
    if automaton.most is None and most_characters(automaton) is None:
        return math.inf
    states, count = {0: 1.0}, 0.0
    for _ in range(_MAX_COUNTED if automaton.most is None else min(automaton.most, _MAX_COUNTED)):
        count += sum(ways for state, ways in states.items() if state in automaton.accepting)
        following: dict[int, float] = {}
        for state, ways in states.items():
            for low, high, target in automaton.arcs[state]:
                following[target] = following.get(target, 0.0) + ways * (high - low + 1)
        states = following
    return count + sum(ways for state, ways in states.items() if state in automaton.accepting)
