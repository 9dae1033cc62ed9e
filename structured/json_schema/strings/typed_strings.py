"""The string keywords that only the description of a Python type has, compiled to patterns of characters.

Pydantic checks these rules but leaves them out of its JSON Schemas; `CompleteJsonSchema` adds them. The meaning of a
rule depends on the format beside it, and a rule beside another format is refused. `Past` and `Future` are relative to
the day on which a type is compiled, and keep a day away from it, so that a text is still valid when it is read.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from structured.errors import PatternError
from structured.json_schema.document.location import Subschema
from structured.json_schema.strings.formats import PYDANTIC_FORMATS, format_pattern
from structured.json_schema.strings.formats.temporal_bounds import dates, datetimes, durations, times
from structured.regex import Pattern, alternation, char_set, chars, concat, literal, optional, repeat
from structured.regex.character_classes import PYTHON, RUST, UNICODE_SPACE, Dialect
from structured.regex.syntax import ANY_CHARACTER, ANY_TEXT

_ASCII = repeat(char_set((0, 0x7F)), 0, None)
_NOT_SPACE = char_set(*UNICODE_SPACE, negated=True)
_STRIPPED = optional(concat(_NOT_SPACE, optional(concat(ANY_TEXT, _NOT_SPACE))))
"""Texts that stripping does not change, so patterns and lengths mean the same before and after it."""

_AWARE = concat(ANY_TEXT, alternation(literal("Z"), concat(chars("+-"), repeat(char_set((0x30, 0x3A)), 5, 5))))
_NAIVE = concat(repeat(ANY_CHARACTER, 8, 8), repeat(char_set((0x2E, 0x2E), (0x30, 0x3A), (0x54, 0x54)), 0, None))
_BOUNDS = frozenset({"ge", "gt", "le", "lt", "now_op"})

PYDANTIC_RULES = _BOUNDS | {
    *("allowed_schemes", "ascii_only", "contentMediaType", "contentSchema", "decoded_max_length"),
    *("decoded_min_length", "decodes_to", "host_required", "max_length", "min_length", "regex_engine"),
    *("strip_whitespace", "tz_constraint", "val_json_bytes"),
}
"""The keywords that are supported here, and `contentSchema`, which `strings.py` supports."""


def dialect_of(part: Subschema) -> Dialect:
    """Return the dialect of a type's regular expressions: Rust's, unless the type chooses Python's `re`."""
    return PYTHON if part.schema.get("regex_engine") == "python-re" else RUST


def pydantic_rules(part: Subschema) -> Iterator[Pattern]:
    """Yield the rules of a schema about the characters of a string, from its keywords and its format."""
    schema = part.schema
    name = schema.get("format")
    for keyword in sorted(schema.keys() & PYDANTIC_RULES):
        if keyword in _FORMATS_BY_KEYWORD and name not in _FORMATS_BY_KEYWORD[keyword]:
            raise part.location.refusal(
                f"{keyword!r} is not supported here yet", keyword=keyword, remedy="Check it in a Pydantic validator."
            )
    if schema.get("strip_whitespace"):
        yield _STRIPPED
    if schema.get("ascii_only"):
        yield _ASCII
    if "tz_constraint" in schema:
        yield _time_zone_texts(part)
    if name in _FORMATS_WITH_BYTE_LENGTH and not _BYTE_LENGTH_KEYWORDS.isdisjoint(schema):
        yield _texts_of_byte_length(schema.get("min_length", 0), schema.get("max_length"))
    if name is not None:
        yield from _format_patterns(part, name)


_BYTE_LENGTH_KEYWORDS = frozenset({"max_length", "min_length"})
_BASE64 = ("base64", "base64url")
_ENCODINGS: dict[str, tuple[str, ...]] = {
    **{name: ("text_formats.base64_text", name) for name in _BASE64},
    "hex": ("text_formats.hex_text",),
}
"""The function for the texts of bytes, with its first arguments, by format."""

_FORMATS_BY_BYTES_MODE = {"base64": "base64url", "hex": "hex"}
"""The formats of bytes, by the value of `val_json_bytes`."""

_FORMATS_WITH_BYTE_LENGTH = (*_BASE64, "binary", "password")
_FORMATS_BY_KEYWORD = {
    **dict.fromkeys(("allowed_schemes", "host_required"), ("uri", "multi-host-uri")),
    **dict.fromkeys(_BOUNDS - {"now_op"}, ("date", "date-time", "duration", "time")),
    "now_op": ("date", "date-time"),
    "tz_constraint": ("date-time", "time"),
    **dict.fromkeys(("decoded_max_length", "decoded_min_length"), (*_BASE64, "hex", "password")),
    "decodes_to": _BASE64,
    "val_json_bytes": ("base64url", "hex", "password"),
    "min_length": _FORMATS_WITH_BYTE_LENGTH,
    "max_length": (*_FORMATS_WITH_BYTE_LENGTH, "uri", "multi-host-uri"),
}
"""The formats beside which each keyword is supported."""


def _format_patterns(part: Subschema, name: str) -> Iterator[Pattern]:
    if name in ("uri", "multi-host-uri"):
        yield _url(part)
        return
    bytes_mode = part.schema.get("val_json_bytes")
    encoding = _ENCODINGS.get(name if bytes_mode is None else _FORMATS_BY_BYTES_MODE[bytes_mode])
    if name not in PYDANTIC_FORMATS:
        raise part.location.refusal(
            f"The format {name!r} is not supported yet",
            keyword="format",
            remedy=_REMEDIES.get(name, "Use str, and check the format in a Pydantic validator."),
        )
    is_bounded = not _BOUNDS.isdisjoint(part.schema)
    if encoding is not None:
        yield _encoded(part, encoding)
    elif name != "duration" or not is_bounded:
        yield PYDANTIC_FORMATS[name]
    if is_bounded:
        yield _bounded(part, name)


_MUST_EXIST = "Use Path: whether something exists is known only where and when it is checked."
_REMEDIES = {"file-path": _MUST_EXIST, "directory-path": _MUST_EXIST}


def _url(part: Subschema) -> Pattern:
    schema = part.schema
    schemes = tuple(schema["allowed_schemes"]) if "allowed_schemes" in schema else None
    try:
        if schema["format"] == "uri":
            required = bool(schema.get("host_required"))
            return format_pattern("locators.url", schemes, host_required=required, max_length=schema.get("max_length"))
    except PatternError as error:
        raise part.location.refusal(error.problem, keyword="max_length", remedy=error.remedy) from error
    if "max_length" in schema:
        raise part.location.refusal(
            "The length of a URL of several hosts is not supported", keyword="max_length", remedy="Remove it."
        )
    return format_pattern("locators.multi_host_url", schemes)


def _time_zone_texts(part: Subschema) -> Pattern:
    constraint = part.schema["tz_constraint"]
    if constraint not in ("aware", "naive"):
        raise part.location.refusal(
            f"The time zone {constraint!r} is not supported",
            keyword="tz_constraint",
            remedy="Use AwareDatetime, and convert the time zone in a Pydantic validator.",
        )
    return _AWARE if constraint == "aware" else _NAIVE


@lru_cache(maxsize=256)
def _texts_of_byte_length(fewest: int, most: int | None) -> Pattern:
    """Return texts of `fewest` to `most` bytes: the wider their characters may be in UTF-8, the fewer characters."""
    options = []
    for width, last in enumerate((0x7F, 0x7FF, 0xFFFF, 0x10FFFF), start=1):
        longest = None if most is None else most // width
        if longest is None or longest >= fewest:
            options.append(repeat(char_set((0, last)), fewest, longest))
    return alternation(*options) if most is not None else options[-1]


def _encoded(part: Subschema, encoding: tuple[str, ...]) -> Pattern:
    """Return the encoded texts of bytes of an allowed length, or of ASCII texts, whose bytes are characters."""
    fewest, most = max(part.schema.get("decoded_min_length", 0), 0), part.schema.get("decoded_max_length")
    if most is not None and most < fewest:
        raise part.location.unsatisfiable("no value has the required length", keyword="decoded_max_length")
    return format_pattern(*encoding, fewest, most, is_ascii="decodes_to" in part.schema)


def _bounded(part: Subschema, name: str) -> Pattern:
    """Return the texts of a format between the bounds beside it."""
    cause: Exception | None = None
    try:
        pattern = _PATTERNS_BETWEEN[name](*_limits(part.schema, name))
    except (OverflowError, TypeError) as error:
        pattern, cause = None, error
    if pattern is None:
        keyword = min(part.schema.keys() & _BOUNDS)
        raise part.location.unsatisfiable("no value lies between the bounds", keyword=keyword) from cause
    return pattern


_PATTERNS_BETWEEN: dict[str, Callable[..., Pattern | None]] = {
    "date": dates,
    "date-time": datetimes,
    "duration": durations,
    "time": times,
}
_ONE_DAY, _MICROSECOND = dt.timedelta(days=1), dt.timedelta(microseconds=1)
_RESOLUTIONS = {"date": _ONE_DAY, "date-time": _MICROSECOND, "duration": _MICROSECOND}


def _limits(schema: Any, name: str) -> tuple[Any, Any]:
    """Return the least and the greatest allowed value; None means no limit.

    Raises TypeError if two bounds cannot be compared, and OverflowError if nothing is next to a strict one.
    """
    bounds = {key: _bound(schema[key], name) for key in ("ge", "gt", "le", "lt") if key in schema}
    least = [bound if key == "ge" else _next(bound, name, 1) for key, bound in bounds.items() if key in {"ge", "gt"}]
    most = [bound if key == "le" else _next(bound, name, -1) for key, bound in bounds.items() if key in {"le", "lt"}]
    if "now_op" in schema:
        today = dt.datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ005  as clocks show it
        now = today if name == "date-time" else today.date()
        if schema["now_op"] == "past":
            most.append(now - _ONE_DAY)
        else:
            least.append(now + 2 * _ONE_DAY)
    return max(least, default=None), min(most, default=None)


def _bound(bound: Any, name: str) -> Any:
    """Return a bound as Pydantic reads it: compared with a datetime, a date is midnight without a time zone."""
    is_day = name == "date-time" and isinstance(bound, dt.date) and not isinstance(bound, dt.datetime)
    return dt.datetime.combine(bound, dt.time()) if is_day else bound


def _next(bound: Any, name: str, direction: int) -> Any:
    """Return the value next to a strict bound. Raises OverflowError if there is none."""
    if name != "time":
        return bound + direction * _RESOLUTIONS[name]
    day = dt.datetime(2000, 1, 1, tzinfo=bound.tzinfo)
    moved = dt.datetime.combine(day, bound) + direction * _MICROSECOND
    if moved.date() != day.date():
        raise OverflowError
    return moved.timetz()
