r"""The numbers that a document states: in digits, with signs, per cent and scales, and in English words.

A number is read wherever digits stand, in identifiers, dates and versions too: `INV-2024-0117` states 2024 and 117. A
reading too many costs less than one too few: a field's type and bounds choose among the readings, and nothing chooses
a number that was left out.

    1250   1,250.00   1.250,00   1 250   1'250.00   12,50,000    separators of any country
    -5   −€12.50   $-5                                           the sign may be a dash
    12 %   12 percent   5 ‰                                      0.12, and 12
    12k   £5m   1.2 million   3 dozen                            12000, and 12
    1/2   ½   1 ½                                                where the decimal fraction ends
    twenty-three   two hundred and five   half a dozen   third
    14th   .5   6.02e23

Only English words are read, because those of other languages mean something else in English (`once`, `six`, `die`); a
library that reads seven languages (text2num) must be told which. More than `MAX_DIGITS` digits are not a number.
"""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import lru_cache

from structured.output_types.grounded.statements import Span, Statement

MAX_DIGITS = 100
"""Digits that a number has at most."""

_SPACE = "[\u0020\u00a0\u2009\u202f]"
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"(?<![^\W_])[a-zA-Z]+(?![^\W_])")
_PLAIN = re.compile(r"\d+(?:[.,'’]\d+)*")
_SPACED = re.compile(rf"(?<!\d)(?<!\d[.,'’])\d{{1,3}}({_SPACE})\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?(?!\d)")
_POINT_FIRST = re.compile(r"(?<![\d.])\.\d+")
_FRACTION = re.compile(
    rf"(?<![\d/.,])(?:\d{{1,4}}{_SPACE}?)?[¼-¾⅐-⅞]|(?<![\d/.,])(?:\d{{1,4}}{_SPACE})?\d{{1,4}}[/⁄]\d{{1,4}}(?![\d/])"
)

_SIGN = re.compile(rf"(?<![^\W_])(?:[-−–][$€£¥]?|[$€£¥]{_SPACE}?[-−–])$")
_BEFORE = frozenset("-−–$€£¥")
_AFTER = re.compile(
    r"\s?(?:(?P<thousandth>‰)|(?P<hundredth>[%٪﹪％]|(?:per ?cent|prozent|pour cent|por ciento)\b))"
    r"|e(?P<exponent>[+-]?\d{1,2})(?!\w)"
    r"|(?P<letters>k|tn|bn|mn|m|b)\b"
    r"|[\s-]?(?P<word>hundred|thousand|million|billion|trillion|lakh|crore|dozen|mio|mrd)\b",
    re.IGNORECASE,
)

_SCALES = (
    {"hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
    | {"lakh": 10**5, "crore": 10**7, "mio": 10**6, "mrd": 10**9}
    | {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}
)
_CARDINALS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    "twentieth",
)
_UP_TO_20 = {word: number for words in (_CARDINALS, _ORDINALS) for number, word in enumerate(words, 1)}
_UNITS = [word for word, number in _UP_TO_20.items() if number < 10]
_TEENS = [word for word in _UP_TO_20 if word not in _UNITS and word != "twenty"]
_TENS = {
    word: 10 * number
    for number, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
_NUMBERS = {"zero": 0} | _UP_TO_20 | _TENS


def _number_words() -> re.Pattern[str]:
    """Return the grammar of English numbers: `twenty-three`, `a hundred and five`, `two million six thousand`."""
    gap, joined = r"(?:\s|-)\s?", r"(?:\s|-|,\s)\s?(?:and\s)?"
    unit, teen, ten = ("|".join(words) for words in (_UNITS, _TEENS, _TENS))
    scale = r"(?:dozen|thousand|million|billion|trillion)\b"
    below_100 = rf"(?:(?:{ten})\b(?:{gap}(?:{unit})\b)?|(?:{teen}|{unit})\b)"
    below_1000 = rf"(?:(?:(?:{teen}|{unit}|an?){gap})?hundred\b(?:{joined}{below_100})?|{below_100})"
    start = rf"(?:{below_1000}|an?{gap}(?={scale})|half(?:{gap}an?(?={gap}{scale}))?\b|zero\b|(?={scale}))"
    half = r"(?:\sand\sa\shalf\b)?"
    return re.compile(rf"{start}{half}(?:(?:{gap})?{scale}(?:{joined}{below_1000})?{half})*", re.IGNORECASE)


_NUMBER_WORDS = _number_words()
_FIRST_WORDS = frozenset({*_NUMBERS, *_SCALES, "a", "an", "half"} - {"k", "m", "mn", "b", "bn", "tn"})


@lru_cache(maxsize=8)
def stated_numbers(document: str) -> tuple[Statement[Decimal], ...]:
    """Return every number that a document states, exactly.

    Parameters:
        document: Any text.

    Returns:
        The statements by their spans, which may overlap: `-12 %` states -0.12 in all, and 0.12, -12 and 12 in parts.
    """
    found: list[tuple[Span, tuple[Decimal, ...]]] = []
    with localcontext(prec=4 * MAX_DIGITS):
        for span, readings in _numbers(document):
            found.append((span, readings))
            found.extend(_extended(document, span, readings))
    return tuple(Statement(span, readings) for span, readings in sorted(found))


def _numbers(document: str) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    """Yield the numbers without what stands before and after them."""
    for match in _PLAIN.finditer(document):
        if readings := _read(match[0]):
            yield match.span(), readings
        elif not match[0].isdigit():
            for group in _DIGITS.finditer(document, *match.span()):  # `3.11.2`, `14.03.2024`
                if readings := _read(group[0]):
                    yield group.span(), readings
    for pattern, read in ((_SPACED, _read_spaced), (_POINT_FIRST, _read), (_FRACTION, _read_fraction)):
        for match in pattern.finditer(document):
            if readings := read(match[0]):
                yield match.span(), readings
    yield from _in_words(document)


def _in_words(document: str) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    end = 0
    for word in _WORD.finditer(document):
        if word[0].lower() in _FIRST_WORDS and word.start() >= end:
            number = _NUMBER_WORDS.match(document, word.start())
            if number:
                end = number.end()
                yield number.span(), _read_words(number[0])


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Decimal, ...]:
    """Return what digits with separators can be read as: `"1.250"` → 1.25 and 1250, `"1.2.3"` → nothing."""
    if len(text) > MAX_DIGITS:
        return ()
    *groups, last = re.split(r"[.,'’]", text)
    separators = re.findall(r"[.,'’]", text)
    digits = Decimal("".join([*groups, last]))
    if not separators:
        return (digits,)
    decimal = Decimal(f"{''.join(groups)}.{last}") if separators[-1] in ".," else None
    if len(separators) == 1 and not (decimal is None or _is_grouped([*groups, last])):
        return (decimal,)
    if len(separators) == 1 and decimal is not None:
        return (decimal, digits) if separators == ["."] else (digits, decimal)
    if len(set(separators)) == 1:
        return (digits,) if _is_grouped([*groups, last]) else ()
    is_decimal = decimal is not None and len(set(separators[:-1])) == 1 and separators[-1] not in separators[:-1]
    return (decimal,) if decimal is not None and is_decimal and _is_grouped(groups) else ()


def _is_grouped(groups: list[str]) -> bool:
    """Tell whether groups of digits are those of thousands: 1 250 000, or as in India 12 50 000."""
    first, *inner, last = map(len, groups)
    largest = max(inner, default=3)
    return groups[0][:1] != "0" and 1 <= first <= largest and {*inner} <= {largest} and largest in (2, 3) and last == 3


@lru_cache(maxsize=4096)
def _read_spaced(text: str) -> tuple[Decimal, ...]:
    """Return the value of `1 250` or `1 250,00`."""
    return (Decimal(re.sub(_SPACE, "", text).replace(",", ".")),) if len(text) <= MAX_DIGITS else ()


@lru_cache(maxsize=4096)
def _read_fraction(text: str) -> tuple[Decimal, ...]:
    """Return the value of `1/2`, `½` or `1 ½`, if its decimal fraction ends."""
    *whole, above, below = map(
        Decimal, re.findall(r"\d+", unicodedata.normalize("NFKC", re.sub("(?=[¼-⅞])", " ", text)))
    )
    value = above / below if below else Decimal("NaN")
    return (sum(whole, start=value),) if value * below == above else ()


@lru_cache(maxsize=4096)
def _read_words(text: str) -> tuple[Decimal, ...]:
    """Return the value of number words: `"two hundred and five"` → 205."""
    total, current = Decimal(0), Decimal(0)
    for word in re.findall(r"\w+", text.lower().replace("and a half", "and half")):
        if word in _NUMBERS:
            current += _NUMBERS[word]
        elif word in ("a", "an"):
            current = current or Decimal(1)
        elif word == "half":
            current += Decimal("0.5")
        elif word == "hundred":
            current = (current or Decimal(1)) * 100
        elif word in _SCALES:
            total, current = total + (current or 1) * _SCALES[word], Decimal(0)
    return (total + current,)


def _extended(document: str, span: Span, readings: tuple[Decimal, ...]) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    """Yield what a number is with its sign, with the per cent sign or scale after it, and with both."""
    start, end = span
    sign = _SIGN.search(document, max(0, start - 3), start) if document[start - 1 : start] in _BEFORE else None
    after = _AFTER.match(document, end)
    factor = _factor(after) if after else 1
    if sign:
        yield (sign.start(), end), tuple(-reading for reading in readings)
    if after:
        yield (start, after.end()), tuple(factor * reading for reading in readings)
    if sign and after:
        yield (sign.start(), after.end()), tuple(-factor * reading for reading in readings)


def _factor(after: re.Match[str]) -> Decimal:
    match after.lastgroup:
        case "thousandth":
            return Decimal("0.001")
        case "hundredth":
            return Decimal("0.01")
        case "exponent":
            return Decimal(10) ** int(after["exponent"])
    return Decimal(_SCALES[after[after.lastgroup or 0].lower()])
