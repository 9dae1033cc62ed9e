r"""Values that each have one spelling, so that two are the same if their texts are (core §4.2.2).

A string is spelled as `json.dumps` spells it, a number as a plain decimal without idle zeros: `\u0061` is `a`, and
`1.0` and `1e0` are `1`. Decimals with a point have at most fifteen digits, since of so many no two are the same double.
The properties of all objects are written in one order, behind them at most one by a name that no schema lists.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from structured.automata.dfa import PatternLanguage
from structured.errors import PatternError, SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.equality import Spelling
from structured.json_schema.document.location import (
    Compilation,
    Complement,
    Elsewhere,
    Location,
    PatternOf,
    Subschema,
    Subschemas,
)
from structured.json_schema.logic.definitions import check_ends
from structured.json_schema.logic.listed_values import spelling as spelling_of
from structured.json_schema.numbers.multiples import scan
from structured.json_schema.strings.strings import CHARACTER
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, Whitespace, read_whitespace
from structured.regex import (
    EMPTY,
    Alternation,
    Concat,
    Pattern,
    Repeat,
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

ONE_CHARACTER = escaped_set(((0, 0xD7FF), (0xE000, MAX_CODE_POINT)))
"""Any character of a string, as `json.dumps` spells it."""

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


def one_spelling(schemas: Subschemas, location: Location, pattern_of: PatternOf) -> Pattern:
    """Return the values that satisfy some schemas, each in its one spelling.

    They are compiled anew until all names that are listed anywhere in them have their places. Raises
    `UnsatisfiableError` if there are none, and `SchemaError` where they cannot be spelled in one way.
    """
    outer = location.compilation
    if outer.spelling is not None:
        return pattern_of(schemas)
    spelling = Spelling({}) if outer.spelled is None else outer.spelled.spelling
    while True:
        assert spelling is not None
        if outer.spelled is None or outer.spelled.spelling is not spelling:
            outer.spelled = outer.in_one_spelling(spelling, _fixed(location.whitespace))
        found = pattern_of([_moved(part, outer.spelled) for part in schemas])
        if not spelling.met:
            break
        spelling = spelling.extended()
    if outer.spelled.references:
        check_ends(found, outer.spelled)
    return found


def _fixed(whitespace: Whitespace) -> Whitespace:
    """Return a style in which there is no choice."""
    return whitespace if whitespace.edge == EMPTY else read_whitespace(DEFAULT_WHITESPACE)


def _moved(part: Subschema, compilation: Compilation) -> Subschema:
    """Return a schema as a part of another compilation of the same document."""
    location = part.location._replace(compilation=compilation)
    if isinstance(part.schema, Elsewhere):
        return part._replace(
            schema=part.schema._replace(location=part.schema.location._replace(compilation=compilation)),
            location=location,
        )
    if isinstance(part.schema, Complement):
        raise location.refusal(
            "'uniqueItems' is not supported where other rules of the items are denied",
            keyword="uniqueItems",
            remedy="Say positively what the items are.",
        )
    return part._replace(location=location)


def spelled_once(name: str, values: Pattern, location: Location) -> Pattern:
    """Return the values of a type, each in one spelling where values are compared by their texts.

    What is inside arrays and objects has been spelled so before.
    """
    spelling = location.compilation.spelling
    if spelling is None or name not in ("integer", "number", "string"):
        return values
    if id(values) not in spelling.kept:
        found = _texts(values, location) if name == "string" else _numbers(values, location)
        spelling.kept[id(values)] = values, found
    return spelling.kept[id(values)][1]


def listed_once(values: Iterable[Any], location: Location) -> Pattern:
    """Return some values that are listed, each in its one spelling: `[1.0, "a"]` → `1`, `"a"`."""
    plain: list[str] = []
    nested: list[Pattern] = []
    for value in values:
        if isinstance(value, list | dict):
            nested.append(_written_once(value, location))
        else:
            plain.append(_text(value, location))
    return alternation(*([words(plain)] if plain else []), *nested)


def _text(value: Any, location: Location) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = spelling_of(value, location, keyword="enum")
    if isinstance(value, float) and not _PLAIN_DECIMALS.contains(text):
        raise _too_many_digits(location)
    return text


@deep
def _written_once(value: Any, location: Location) -> Pattern:
    """Return a value that is listed; the properties of its objects have their places."""
    if not isinstance(value, list | dict):
        return literal(_text(value, location))
    whitespace, depth, inner = location.whitespace, location.depth, location.inside()
    opening, closing = "[]" if isinstance(value, list) else "{}"
    if isinstance(value, list):
        members = [_written_once(item, inner) for item in value]
    else:
        assert location.compilation.spelling is not None
        members = [
            concat(literal(_text(name, location)), whitespace.colon, _written_once(value[name], inner))
            for name in location.compilation.spelling.ordered(value)
        ]
    if not members:
        return literal(opening + closing)
    filled = [piece for member in members for piece in (whitespace.comma(depth), member)][1:]
    return concat(literal(opening), whitespace.opening(depth), *filled, whitespace.closing(depth), literal(closing))


def _numbers(values: Pattern, location: Location) -> Pattern:
    """Return the numbers of a pattern. Raises `SchemaError` if none has so few digits."""
    try:
        found = _plain(values)
    except PatternError as error:
        raise location.refusal(error.problem, keyword="uniqueItems", remedy=error.remedy) from error
    if found is None:
        raise _too_many_digits(location)
    return found


@lru_cache(maxsize=1024)
def _plain(values: Pattern) -> Pattern | None:
    """Return those numbers of a pattern that are plain decimals; many schemas ask for the same."""
    return scan(values, [_PLAIN_DECIMALS])


def _too_many_digits(location: Location) -> SchemaError:
    return location.refusal(
        "'uniqueItems' is not supported for numbers of so many digits",
        keyword="uniqueItems",
        remedy=f"Allow some of at most {MAX_DIGITS} digits.",
    )


def _texts(values: Pattern, location: Location) -> Pattern:
    """Return the strings of a pattern. Raises `SchemaError` if they contain themselves."""
    found = _with_one_character(values)
    if any(node is CHARACTER for node in nodes_of(found)):
        raise location.refusal(
            "'uniqueItems' is not supported for strings that refer to themselves",
            keyword="uniqueItems",
            remedy="Remove it, and remove what is repeated in your program.",
        )
    return found


def _with_one_character(pattern: Pattern) -> Pattern:
    """Return a pattern in which any character has one spelling."""
    match pattern:
        case _ if pattern is CHARACTER:
            return ONE_CHARACTER
        case Concat(parts):
            return concat(*map(_with_one_character, parts))
        case Alternation(options):
            return alternation(*map(_with_one_character, options))
        case Repeat(item, minimum, maximum):
            return repeat(_with_one_character(item), minimum, maximum)
        case _:
            return pattern
