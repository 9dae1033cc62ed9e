"""The ways in which a pattern can read a text, counted instead of tried one after the other.

Python's `re` tries them, and nested repeats let their number grow with a power of the length of the text: for a dozen
characters, `(?:(?:a|.|){3,}|a|.|){3,}` keeps it busy for weeks.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable

from structured.regex import Alternation, CharSet, Concat, Iteration, Literal, Pattern, Words

FEW = 20_000
"""Ways that `re` tries in a moment."""

_NOWHERE = -1


def matches(pattern: Pattern, text: str) -> bool:
    """Tell whether a text matches, by all the ways of reading it; where they are few, `re` has to say the same."""
    ends = Ways(text).ends(pattern, 0)
    is_match = ends[len(text)] > 0
    if ends.total() <= FEW:
        assert is_match == bool(re.fullmatch(str(pattern), text)), (pattern, text)
    return is_match


class Ways:
    """The ways of reading one text by patterns that are regular expressions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[tuple[int, int], Counter[int]] = {}

    def ends(self, pattern: Pattern, start: int) -> Counter[int]:
        """Return how many ways lead from a place to each other by way of a pattern, and how many nowhere."""
        key = id(pattern), start
        if key not in self._known:
            self._known[key] = self._new_ends(pattern, start)
        return self._known[key]

    def _new_ends(self, pattern: Pattern, start: int) -> Counter[int]:
        match pattern:
            case Literal(text):
                return self._after([text], start)
            case Words(texts):
                return self._after(texts, start)
            case CharSet(ranges):
                here = self._text[start : start + 1]
                is_in = any(low <= ord(character) <= high for character in here for low, high in ranges)
                return Counter([start + 1 if is_in else _NOWHERE])
            case Concat(parts):
                places = Counter([start])
                for part in parts:
                    places = self._onward(part, places)
                return places
            case Alternation(options):
                return sum((self.ends(option, start) for option in options), Counter())
            case Iteration():
                return self._repeated(pattern, start)
        raise TypeError(f"{type(pattern).__name__} is no regular expression by itself")

    def _after(self, texts: Iterable[str], start: int) -> Counter[int]:
        return Counter(start + len(text) if self._text.startswith(text, start) else _NOWHERE for text in texts)

    def _onward(self, pattern: Pattern, places: Counter[int], *, may_stay: bool = True) -> Counter[int]:
        found = Counter({_NOWHERE: places[_NOWHERE]})
        for location in places.keys() - {_NOWHERE}:
            for end, ways in self.ends(pattern, location).items():
                found[end] += places[location] * ways if may_stay or end != location else 0
        return +found

    def _repeated(self, pattern: Iteration, start: int) -> Counter[int]:
        """Return those of a repeat; once it has been read often enough, an item that reads nothing ends it."""
        found: Counter[int] = Counter()
        places = Counter([start])
        for count in itertools.count():
            if count >= pattern.minimum:
                found += places
            if count == pattern.maximum or not places:
                return found
            places = self._onward(pattern.item, places, may_stay=count < pattern.minimum)
            found[_NOWHERE] += places.pop(_NOWHERE, 0)
        raise AssertionError
