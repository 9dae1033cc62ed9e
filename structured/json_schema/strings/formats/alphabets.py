"""Character sets of the grammars of formats, and words over them without excluded ones."""

from collections.abc import Hashable, Iterable
from string import ascii_letters, ascii_lowercase, digits, hexdigits

from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, optional, repeat
from structured.regex.character_classes import ECMA
from structured.regex.character_sets import complement
from structured.regex.regex_parser import whole_regex_to_pattern
from structured.regex.syntax import Alternation, Concat, Iteration

DIGIT = chars(digits)
NOT_ZERO = chars("123456789")
LOWER = chars(ascii_lowercase)
LETTER = chars(ascii_letters)
LETTER_OR_DIGIT = chars(ascii_letters + digits)
HEX = chars(hexdigits)


def regex(text: str) -> Pattern:
    r"""Return the texts that a regular expression matches as a whole, with equal nodes shared: `\d{2}(?:a|b)?`."""
    return _shared(whole_regex_to_pattern(text, ECMA))


_NODES: dict[Hashable, Pattern] = {}


def _shared(pattern: Pattern) -> Pattern:
    """Return an equal pattern in which equal nodes are one, also with those of other formats, as in their automata."""
    key: Hashable = pattern
    match pattern:
        case Concat(parts) | Alternation(parts):
            shared = tuple(map(_shared, parts))
            key, pattern = (type(pattern), *map(id, shared)), type(pattern)(shared)
        case Iteration(item, minimum, maximum):
            item = _shared(item)
            key, pattern = (id(item), minimum, maximum), Iteration(item, minimum, maximum)
    return _NODES.setdefault(key, pattern)


def either(*sets: CharSet) -> CharSet:
    """Return the union of some sets."""
    return char_set(*(part for characters in sets for part in characters.ranges))


def without(whole: CharSet, text: str) -> CharSet:
    """Return the characters of a set that are not in `text`."""
    missing = ((ord(character), ord(character)) for character in text)
    return char_set(*complement([*complement(whole.ranges), *missing]))


def words_but(excluded: Iterable[str], first: CharSet, other: CharSet, longest: int) -> Pattern:
    """Return the words of at most `longest` characters, without the excluded words in upper or lower case.

    The first character is from one set, the others are from another. `words_but(["a"], [ab], [ab], 3)` →
    `b[ab]{0,2}|[aA](?:b[ab]{0,1}|[aA](?:[ab])?)` but for the capital letters that the sets lack.
    """
    endings: dict[str, list[str]] = {}
    for word in excluded:
        endings.setdefault(word[0].lower(), []).append(word[1:])
    options: list[Pattern] = []
    if any(chr(low) not in endings or low != high for low, high in first.ranges):
        free = without(first, "".join(head + head.upper() for head in endings))
        options.append(concat(free, repeat(other, 0, longest - 1)))
    for head, after_head in endings.items():
        cases = [ord(case) for case in (head, head.upper())]
        existing = [(case, case) for case in cases if any(low <= case <= high for low, high in first.ranges)]
        after = words_but([rest for rest in after_head if rest], other, other, longest - 1)
        options.append(concat(char_set(*existing), after if "" in after_head else optional(after)))
    return alternation(*options)
