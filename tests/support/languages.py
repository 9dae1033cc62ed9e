"""Patterns of the answers that many tests ask for."""

from structured.regex import alternation, char_set, chars, concat, literal, optional, repeat

CHARACTER = char_set((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), negated=True)
STRING = concat(literal('"'), repeat(CHARACTER, 0, None), literal('"'))
DIGITS = repeat(chars("0123"), 0, None)
INTEGER = concat(optional(literal("-")), alternation(literal("0"), concat(chars("123"), DIGITS)))
OBJECT = concat(literal('{"name": '), STRING, literal(', "age": '), INTEGER, literal("}"))
ARRAY = concat(literal("["), optional(concat(INTEGER, repeat(concat(literal(", "), INTEGER), 0, None))), literal("]"))
CHOICE = alternation(literal("true"), literal("false"), literal("null"), literal('"€"'))
TYPES = (OBJECT, ARRAY, STRING, CHOICE, INTEGER, literal(""), literal("[]"))

SHORT_STRING = concat(
    literal('"'),
    repeat(alternation(char_set((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), negated=True), literal('\\"')), 0, 12),
    literal('"'),
)
NINE_DIGITS = repeat(chars("0123456789"), 0, 9)
NUMBER = concat(optional(literal("-")), alternation(literal("0"), concat(chars("123456789"), NINE_DIGITS)))
MOOD = alternation(*map(literal, ('"glad"', '"gloomy"', '"日本"', '"🙂"')))
PERSON = concat(
    *(literal('{"name": '), SHORT_STRING, literal(', "age": '), NUMBER, literal(', "mood": '), MOOD),
    *(literal(', "tags": ['), repeat(SHORT_STRING, 0, None), literal("]}")),
)
"""What an index mostly sees: keys, strings, numbers, choices."""

DEPENDENT_CHOICES = concat(
    literal('{"a": '),
    alternation(chars("xy"), literal("zz")),
    literal(', "b": '),
    repeat(chars("01"), 1, 2),
    literal("}"),
)
"""Of texts with two choices, and a third that depends on the second."""
