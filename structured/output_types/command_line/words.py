r"""Words of a command line, quoted as a POSIX shell reads them (IEEE Std 1003.1-2017, "Shell Command Language" 2.2).

A free text is written without quotes where each of its characters stands for itself, or in single quotes (one within
is `'"'"'`, as `shlex.quote` writes it), or in double quotes if nothing in it has a meaning there. `shlex.split` and a
shell read each alike. No word has a control character, and backslashes outside of quotes are not written.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from structured.errors import SchemaError
from structured.json_schema.numbers.ranges import Style, decimal_places, decimal_range, integer_range
from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, literal, repeat, words
from structured.regex.character_sets import Range, complement, normalise

MAX_DIGITS = 18
"""Digits before the point of a number that has no limit."""

MAX_PLACES = 15
"""Digits after the point of a number."""

_UNQUOTED = normalise([(0x25, 0x25), (0x2B, 0x3A), (0x3D, 0x3D), (0x40, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
"""The characters that `shlex.quote` leaves unquoted: `%`, `+` to `:`, `=`, `@`, `_`, letters and digits of ASCII."""

_CONTROL = ((0, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029))

_WITHIN = {
    "": CharSet(_UNQUOTED),
    "'": char_set(*_CONTROL, (0x27, 0x27), negated=True),
    '"': char_set(*_CONTROL, *((ord(one), ord(one)) for one in '!"$\\`'), negated=True),
}
"""The characters that stand for themselves within each quotation mark, and without any."""

_SINGLE_QUOTE = literal("'\"'\"'")

_EVERY = ((0, 0x10FFFF),)

_DASH = ((0x2D, 0x2D),)


@dataclass(frozen=True, slots=True)
class Value:
    """The words that mean a value, sorted by whether a parser may take them for options.

    Attributes:
        plain: Those that begin as no option does; None if there are none.
        marked: The others; None if there are none.
        is_number: Whether the others are negative numbers.
    """

    plain: Pattern | None
    marked: Pattern | None = None
    is_number: bool = False

    @property
    def words(self) -> Pattern:
        """All of them."""
        return alternation(*(part for part in (self.plain, self.marked) if part is not None))


def free_text(marks: str) -> Value:
    """Return any text but `--`. `marks` are the characters with which options begin; `-` alone is none.

    Whatever the marks, `--` ends the options, and the parser may drop it even where it is a value.
    """
    begin = normalise([(ord(mark), ord(mark)) for mark in (*marks, "-")])
    plain = [words(["''", '""', "-"]), *_texts_beginning_with(complement(begin))]
    marked = [found for mark in marks if mark != "-" for found in _texts_beginning_with(((ord(mark), ord(mark)),))]
    dashed = [*_texts_beginning_with(_DASH, complement(_DASH)), *_texts_beginning_with(_DASH, _DASH, _EVERY)]
    (marked if "-" in marks else plain).extend(dashed)
    return Value(alternation(*plain), alternation(*marked) if marked else None)


def _texts_beginning_with(*first: tuple[Range, ...]) -> list[Pattern]:
    """Return the texts that begin with a character of each of some sets, in each way of quoting."""
    found: list[Pattern] = []
    for quote in _WITHIN:
        begin = [_characters(quote, ranges) for ranges in first]
        if all(begin):
            rest = repeat(alternation(*_characters(quote, _EVERY)), 0, None)
            found.append(concat(literal(quote), *(alternation(*one) for one in begin), rest, literal(quote)))
    return found


def _characters(quote: str, ranges: tuple[Range, ...]) -> list[Pattern]:
    """Return how the characters of some ranges are written within a quotation mark, or without any."""
    found: list[Pattern] = [*_shared(_WITHIN[quote].ranges, ranges)]
    return found + [_SINGLE_QUOTE] * (quote == "'" and any(low <= 0x27 <= high for low, high in ranges))


def _shared(left: tuple[Range, ...], right: tuple[Range, ...]) -> list[CharSet]:
    """Return the characters that two sets have in common, as a list of one set or none."""
    shared = [(max(a, c), min(b, d)) for a, b in left for c, d in right if max(a, c) <= min(b, d)]
    return [CharSet(normalise(shared))] if shared else []


def texts(options: Iterable[str], marks: str) -> Value:
    """Return any of some texts, each quoted if it has to be. Raises SchemaError for one that stands on no line."""
    found = list(dict.fromkeys(options))
    for text in found:
        if any(low <= ord(character) <= high for character in text for low, high in (*_CONTROL, (0xD800, 0xDFFF))):
            raise SchemaError(f"{text!r} has a character that no command line holds", remedy="Name it differently.")
    if "--" in found:
        raise SchemaError("'--' ends the options, and is read as no value", remedy="Name it differently.")
    marked = [shlex.quote(text) for text in found if text[:1] in tuple(marks) and text != "-"]
    plain = [shlex.quote(text) for text in found if text[:1] not in tuple(marks) or text == "-"]
    return Value(words(plain) if plain else None, words(marked) if marked else None)


def integers(low: int | None, high: int | None, marks: str) -> Value:
    """Return the integers from one to another; None is a limit of `MAX_DIGITS` digits."""
    least = min(-(10**MAX_DIGITS) + 1, high or 0) if low is None else low
    most = max(10**MAX_DIGITS - 1, low or 0) if high is None else high
    if least > most:
        raise SchemaError(f"No integer lies between {low} and {high}", remedy="Correct the limits.")
    positive = integer_range(max(least, 0), most) if most >= 0 else None
    negative = concat(literal("-"), integer_range(max(1, -most), -least)) if least < 0 else None
    return _signed(positive, negative, marks)


def decimals(low: Fraction | None, high: Fraction | None, marks: str) -> Value:
    """Return the decimals from one to another, without an exponent; None is a limit of `MAX_DIGITS` digits."""
    limit = Fraction(10**MAX_DIGITS - 1)
    least, most = -limit if low is None else low, limit if high is None else high
    style = Style(max(MAX_PLACES, *(decimal_places(end) for end in (least, most))), zeros=False)
    zero = Fraction(0)
    positive = decimal_range(max(least, zero), most, style) if most >= 0 else None
    magnitudes = decimal_range(max(zero, -most), -least, style) if least < 0 else None
    negative = None if magnitudes is None else concat(literal("-"), magnitudes)
    if positive is None and negative is None:
        raise SchemaError(f"No number lies between {low} and {high}", remedy="Correct the limits.")
    return _signed(positive, negative, marks)


def _signed(positive: Pattern | None, negative: Pattern | None, marks: str) -> Value:
    if "-" in marks or negative is None:
        return Value(positive, negative, is_number=True)
    return Value(negative if positive is None else alternation(positive, negative), is_number=True)


def spelled(pattern: Pattern) -> Value:
    """Return the texts of a pattern that need no quotes and begin as no option does."""
    return Value(pattern)


SPACE = literal(" ")


def name_word(name: str) -> Pattern:
    """Return a name as a word."""
    return literal(shlex.quote(name))


def hexadecimal(count: int) -> Pattern:
    """Return some digits of base 16."""
    return repeat(chars("0123456789abcdef"), count, count)
