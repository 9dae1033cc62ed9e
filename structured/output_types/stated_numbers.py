r"""The numbers that a document states: in digits, with signs, per cent and scales, and in English words.

All digits are read as numbers, in identifiers, dates and versions too: `INV-2024-0117` states 2024 and 117. A
reading too many costs less than one too few: a field's type and bounds choose among the readings, and nothing chooses
a number that was left out. But what is written as one number is not read as another: of `two thirds` and `1E400`
nothing is stated, and not 2 or 400.

    1250   1,250.00   1.250,00   1 250   1'250.00   12,50,000    separators of any country
    １，２５０．００   ٣٫١٤                                        digits of any script
    -5   −€12.50   $-5   minus five   (1,250.00)                 the sign may be a dash; not in 2-5, 7%-9%
    12 %   12 percent   5 ‰                                      0.12, and 12
    12k   £5m   1.2 million   3 dozen   1.2e3 million            12000, and 12
    1/2   ½   1 ½   2 and a half                                 where the decimal fraction ends
    twenty-three   two hundred and five   half a dozen   third   a million and a half
    two point five   three quarters   one fifth
    14th   .5   6.02e23

Only English words are read, because those of other languages mean something else in English (`once`, `six`, `die`); a
library that reads seven languages (text2num) must be told which. More than `MAX_DIGITS` digits are not a number.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import prod
from typing import Generic, TypeVar

T = TypeVar("T")

Span = tuple[int, int]
"""Where a text starts and ends, in characters (code points) of the document as given."""


@dataclass(frozen=True, slots=True)
class Statement(Generic[T]):
    """A span of a document that states a value, and the values that it may mean.

    `1.250` may mean 1.25 or 1250. More characters are a statement of their own: of `12 %`, `12` states 12, and
    `12 %` states 0.12.

    Attributes:
        span: Start and end, in characters of the document as given.
        values: The values that it may mean, all different, the usual one first; never empty.
    """

    span: Span
    values: tuple[T, ...]


def merged_statements(stated: Iterable[tuple[Span, tuple[T, ...]]]) -> tuple[Statement[T], ...]:
    """Return statements in the order of their spans: those of one span are joined, those without a reading left out."""
    values_by_span: dict[Span, tuple[T, ...]] = {}
    for span, span_values in stated:
        known_values = values_by_span.get(span)
        values_by_span[span] = span_values if known_values is None else (*dict.fromkeys((*known_values, *span_values)),)
    return tuple([Statement(span, span_values) for span, span_values in sorted(values_by_span.items()) if span_values])


MAX_DIGITS = 100
"""Digits that a number has at most."""

_SPACE = "[\u0020\u00a0\u2009\u202f]"
_SLASH = "[/⁄／]"
_VULGAR = "¼-¾⅐-⅞"
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"(?<![^\W_])[a-zA-Z]+(?![^\W_])")
_SEPARATOR = r"(?:[.,'’．٫٬]|(?<=[０-９])，(?=[０-９]))"
_DIGITS_WITH_SEPARATORS = re.compile(rf"\d+(?:{_SEPARATOR}\d+)*")
_SPACED = re.compile(rf"(?<!\d)(?<!\d[.,'’])\d{{1,3}}({_SPACE})\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?(?!\d)")
_POINT_FIRST = re.compile(r"(?<![\d.])\.\d+")
_FRACTION = re.compile(
    rf"(?<![\d/.,{_VULGAR}])(?:(?:\d{{1,4}}{_SPACE}?)?[{_VULGAR}](?![\d{_VULGAR}])"
    rf"|(?:\d{{1,4}}{_SPACE})?\d{{1,4}}{_SLASH}\d{{1,4}}(?![\d/])"
    r"|\d{1,4}\sand\s(?:a\s(?:half|quarter)|three\squarters)\b)",
    re.IGNORECASE,
)
_POWER = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)?|\.\d+)e([+-]?\d+)(?!\w)", re.IGNORECASE)

_MINUS, _CURRENCY = "[-−–－]", "[$€£¥＄￥]"
_SIGN = re.compile(
    rf"(?:(?<![^\W_])(?<![%٪﹪％‰°)\]}}])(?<!\d[.$€£¥])(?<!\d\s[$€£¥]){_MINUS}{_CURRENCY}?"
    rf"|(?<!\d)(?<!\d\s){_CURRENCY}{_SPACE}?{_MINUS}"
    rf"|(?<![^\W_])(?:minus|negative)[\s-](?:{_CURRENCY}{_SPACE}?)?"
    rf"|(?<!\w){_CURRENCY}?\((?:{_CURRENCY}{_SPACE}?)?(?=[\d.{_VULGAR}]))(?=[\w.])",
    re.IGNORECASE,
)
"""Signs of a negative number: a dash that is not between two numbers, a word, an opening bracket."""

_CLOSING = re.compile(rf"(?:{_SPACE}?{_CURRENCY})?\)")
_UNIT_AFTER = re.compile(
    r"\s?(?:(?P<thousandth>‰)|(?P<hundredth>[%٪﹪％]|(?:per ?cent|prozent|pour cent|por ciento)\b))"
    r"|(?P<letters>k|tn|bn|mn|m|b)\b"
    r"|(?P<words>(?:[\s-]?(?:hundred|thousand|million|billion|trillion|lakh|crore|dozen|mio|mrd)\b){1,3})",
    re.IGNORECASE,
)
_USUAL_SEPARATORS = str.maketrans("．，٫٬", ".,.'")
"""Separators of other scripts, and their equivalents: of decimals, of both, of decimals, of thousands."""

_SCALES = (
    {"hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
    | {"lakh": 10**5, "crore": 10**7, "mio": 10**6, "mrd": 10**9}
    | {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}
)
CARDINALS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    "twentieth",
)
_NUMBERS_TO_20 = {word: number for words in (CARDINALS, _ORDINALS) for number, word in enumerate(words, 1)}
_UNITS = [word for word, number in _NUMBERS_TO_20.items() if number < 10]
_TEENS = [word for word in _NUMBERS_TO_20 if word not in _UNITS and word != "twenty"]
_TENS = {
    word: 10 * number
    for number, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
_NUMBERS = {"zero": 0} | _NUMBERS_TO_20 | _TENS
_DECIMAL_DIGITS = {word: str(_NUMBERS[word]) for word in ("zero", *CARDINALS[:9])} | {"oh": "0"}
_PARTS = (
    {"half": 2, "halves": 2, "quarter": 4, "quarters": 4, "hundredth": 100, "hundredths": 100}
    | {f"{word}{plural}": number for number, word in enumerate(_ORDINALS[:10], 1) for plural in ("", "s") if number > 2}
    | {"thousandth": 1000, "thousandths": 1000}
)


def _number_words() -> re.Pattern[str]:
    """Return the grammar of English numbers up to their scale: `twenty-three`, `two and a half million`, `two thirds`.

    Its groups are atomic, so that no part of a number is taken for all of it.
    """
    gap = r"(?:\s|-)\s?"
    unit, teen, ten = ("|".join(words) for words in (_UNITS, _TEENS, _TENS))
    scale = r"(?:dozen|thousand|million|billion|trillion|lakh|crore)\b"
    one_part, parts = ("|".join(word for word in _PARTS if (word[-1] == "s") is plural) for plural in (False, True))
    below_100 = rf"(?>(?:{ten})\b(?:{gap}(?:{unit})\b)?|(?:{teen}|{unit})\b)"
    hundreds = rf"(?:(?:{below_100}|an?){gap})?hundred\b(?:{gap}(?:and\s)?{below_100}(?!{gap}hundred\b))?"
    part = rf"(?:(?:an?|one){gap}(?:{one_part})\b|{below_100}{gap}(?:{parts})\b|half\b)"
    decimals = rf"{gap}point(?P<decimals>(?:{gap}(?:{'|'.join(_DECIMAL_DIGITS)}|{teen}|{ten})\b)+)"
    whole = (
        rf"(?P<whole>(?>{hundreds}|{below_100}|zero\b|an?(?={gap}{scale})))(?:{decimals})?(?:\sand\s(?P<more>{part}))?"
    )
    count = rf"(?:(?P<part>{part})(?:{gap}(?:of{gap})?an?(?={gap}{scale}))?|{whole})"
    return re.compile(
        rf"(?>(?:{count}(?P<scales>(?:{gap}{scale}){{0,3}})|(?P<bare>{scale}(?:{gap}{scale}){{0,2}}))"
        rf"(?:\sand\s(?P<most>{part}))?)",
        re.IGNORECASE,
    )


_NUMBER_WORDS = _number_words()
_WORD_GAP = re.compile(r"(?:\s|-|,\s)\s?(?:and\s)?", re.IGNORECASE)
_FIRST_WORDS = frozenset({*_NUMBERS, *_SCALES, "a", "an", "half"} - {"k", "m", "mn", "b", "bn", "tn"})


@lru_cache(maxsize=8)
def stated_numbers(document: str) -> tuple[Statement[Decimal], ...]:
    """Return the numbers that a document states, exactly, by their spans.

    Spans may overlap: `-12 %` states -0.12 in all, and 0.12, -12 and 12 in parts.
    """
    with localcontext(prec=4 * MAX_DIGITS):
        return merged_statements(_signed_and_scaled(document))


def _signed_and_scaled(document: str) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    """Yield the numbers, and what each is with its sign, with the per cent sign or scale after it, and with both."""
    signs = {match.end(): match.start() for match in _SIGN.finditer(document)}
    for span, multiples, takes_sign_and_unit in _unsigned_numbers(document):
        yield span, multiples
        start, end = span
        unit, sign = (_UNIT_AFTER.match(document, end), signs.get(start)) if takes_sign_and_unit else (None, None)
        if unit is None and sign is None:
            continue
        endings = [(end, multiples)]
        if unit:
            factor = _factor_of_unit(unit)
            endings.append((unit.end(), tuple([factor * value for value in multiples])))
            yield (start, unit.end()), endings[-1][1]
        if sign is not None and "(" in document[sign:start]:
            closing = _CLOSING.match(document, endings[-1][0])
            endings = [(closing.end(), multiples) for _, multiples in reversed(endings)] if closing else []
        if sign is not None:
            yield from [((sign, end), tuple([-value for value in multiples])) for end, multiples in endings]


def _unsigned_numbers(document: str) -> Iterator[tuple[Span, tuple[Decimal, ...], bool]]:
    """Yield the numbers without signs and units, and whether a sign or unit beside each belongs to it.

    The sign and unit of a fraction and of a power of ten are not those of the digits inside.
    """
    is_in_fraction, is_unreadable = bytearray(len(document)), bytearray(len(document))
    for pattern, read in ((_POWER, _read_power), (_FRACTION, _read_fraction)):
        for match in pattern.finditer(document):
            start, end = match.span()
            if values := read(match[0]):
                yield (start, end), values, True
            if values and not match[0][-1].isalpha():
                is_in_fraction[start:end] = b"\1" * (end - start)
            elif values or pattern is _POWER:
                is_unreadable[start:end] = b"\1" * (end - start)
    for (start, end), values in chain(_in_digits(document), _in_words(document)):
        if values and not (is_unreadable[start] or is_unreadable[end - 1]):
            yield (start, end), values, not is_in_fraction[end - 1]


def _in_digits(document: str) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    for match in _DIGITS_WITH_SEPARATORS.finditer(document):
        values = _read_digits(match[0])
        if values or match[0].isdigit():
            yield match.span(), values
        else:
            for group in _DIGITS.finditer(document, *match.span()):  # `3.11.2`, `14.03.2024`
                yield group.span(), _read_digits(group[0])
    for pattern, read in ((_SPACED, _read_spaced), (_POINT_FIRST, _read_digits)):
        for match in pattern.finditer(document):
            yield match.span(), read(match[0])


def _in_words(document: str) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    """Yield the numbers in words: each word or two up to a scale, and what follows with smaller scales."""
    end = 0
    for word in _WORD.finditer(document):
        start = word.start()
        if start < end or word[0].lower() not in _FIRST_WORDS or not (match := _NUMBER_WORDS.match(document, start)):
            continue
        end = match.end()
        number, scale = _read_words(match[0])
        while scale >= 1000 and (gap := _WORD_GAP.match(document, end)):
            next_match = _NUMBER_WORDS.match(document, gap.end())
            value, next_scale = _read_words(next_match[0]) if next_match else (None, 0)
            if next_match is None or value is None or number is None or value >= scale:
                break
            number, scale, end = number + value, next_scale, next_match.end()
        yield (start, end), _exact_decimals(number)
        if match["decimals"] and document[max(0, start - 3) : start].lower() == "at ":
            end = word.end()  # `at one point five people left`


@lru_cache(maxsize=4096)
def _read_words(text: str) -> tuple[Fraction | None, int]:
    """Return the value of number words and their scale: `"two and a half million"` → 2500000 and 1000000."""
    match = _NUMBER_WORDS.fullmatch(text)
    if match is None:
        return None, 1
    scale = prod(_SCALES[word] for word in re.findall(r"\w+", (match["scales"] or match["bare"] or "").lower()))
    value, more_text_value = _read_fraction_words(match["part"]), _read_fraction_words(match["more"])
    for word in re.findall(r"\w+", (match["whole"] or ("" if match["part"] else "one")).lower()):
        value = max(value, Fraction(1)) * 100 if word == "hundred" else value + _NUMBERS.get(word, word in ("a", "an"))
    decimals = [_DECIMAL_DIGITS.get(word, "") for word in re.findall(r"\w+", (match["decimals"] or "").lower())]
    if not all(decimals) or len(decimals) > MAX_DIGITS:
        return None, scale
    if decimals:
        value += Fraction(f"0.{''.join(decimals)}")
    last_part = _read_fraction_words(match["most"]) * (1 if (match["most"] or "").lower().startswith("one") else scale)
    return (value + more_text_value) * scale + last_part, scale


def _read_fraction_words(text: str | None) -> Fraction:
    """Return the value of `half`, `a quarter` and `two thirds`."""
    *count, part = re.findall(r"\w+", text.lower()) if text else ["zero", "half"]
    return Fraction(sum(_NUMBERS.get(word, 1) for word in count) if count else 1, _PARTS[part])


def _exact_decimals(value: Fraction | None) -> tuple[Decimal, ...]:
    """Return a number as a decimal fraction, if it is one: 3/4 → 0.75, 2/3 → nothing."""
    if value is None or 10**MAX_DIGITS % value.denominator:
        return ()
    return (Decimal(value.numerator) / Decimal(value.denominator),)


@lru_cache(maxsize=4096)
def _read_digits(text: str) -> tuple[Decimal, ...]:
    """Return the readings of digits with separators: `"1.250"` → 1.25 and 1250, `"1.2.3"` → nothing."""
    if len(text) > MAX_DIGITS:
        return ()
    *groups, last = re.split(_SEPARATOR, text)
    separators = re.findall(_SEPARATOR, text.translate(_USUAL_SEPARATORS))
    digits = Decimal("".join([*groups, last]))
    if not separators:
        return (digits,)
    decimal = Decimal(f"{''.join(groups)}.{last}") if separators[-1] in ".," else None
    if len(separators) == 1 and decimal is not None and ("٫" in text or not _is_grouped([*groups, last])):
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
def _read_power(text: str) -> tuple[Decimal, ...]:
    """Return the value of `6.02e23`, if its exponent is below `MAX_DIGITS`."""
    number, exponent = re.split("[eE]", text)
    is_small = len(exponent) <= 4 and abs(int(exponent)) < MAX_DIGITS
    return tuple(reading.scaleb(int(exponent)) for reading in _read_digits(number)) if is_small else ()


@lru_cache(maxsize=4096)
def _read_fraction(text: str) -> tuple[Decimal, ...]:
    """Return the value of `1/2`, `½`, `1 ½` or `2 and a half`, if its decimal fraction ends."""
    if text[-1].isalpha():
        whole, words = re.split(r"\sand\s", text, flags=re.IGNORECASE)
        return _exact_decimals(int(whole) + _read_fraction_words(words))
    digits = unicodedata.normalize("NFKC", re.sub(f"(?=[{_VULGAR}])", " ", text))
    *wholes, above, below = map(int, re.findall(r"\d+", digits))
    return _exact_decimals(sum(wholes) + Fraction(above, below)) if below else ()


def _factor_of_unit(after: re.Match[str]) -> Decimal:
    if after["thousandth"]:
        return Decimal("0.001")
    if after["hundredth"]:
        return Decimal("0.01")
    return Decimal(prod(_SCALES[word] for word in re.findall("[a-z]+", after[0].lower())))
