"""Normalised text: text without the differences that do not matter, with the way back to the characters it came from.

Case, compatibility forms (NFKC), runs of white space, and kinds of dashes and quotes are removed. The way back is kept
by words, not by characters: nearly all words are normalised character by character, and a map of the others is made
when a place in them is asked for.
"""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

from structured.output_types.stated_numbers import Span

_KINDS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−⁃﹘﹣－", "-"),
        **dict.fromkeys("‘’‚‛′´`ʼ＇", "'"),
        **dict.fromkeys("“”„‟″«»＂", '"'),
    }
)
_WORD = re.compile(r"\S+")


def _normalise_word(word: str) -> str:
    if word.isascii():
        return word.lower().translate(_KINDS)
    once = unicodedata.normalize("NFKC", word.translate(_KINDS)).casefold()
    return unicodedata.normalize("NFKC", once).translate(_KINDS)


def normalise(text: str) -> str:
    """Return a text normalised: `"Jürgen  O’NEIL"` → `"jürgen o'neil"`."""
    return " ".join(_normalise_word(word) for word in text.split())


def extends(character: str) -> bool:
    """Tell whether a character belongs to the one before it: a combining mark, a joiner, a vowel of Hangul."""
    return unicodedata.category(character)[0] == "M" or character == "\u200d" or "\u1160" <= character <= "\u11ff"


def is_cut(text: str, position: int) -> bool:
    """Tell whether a position is inside a character as readers see it: `e` and its accent, CR and LF."""
    if not 0 < position < len(text):
        return False
    return extends(text[position]) or text[position - 1] == "\u200d" or text[position - 1 : position + 1] == "\r\n"


class NormalisedText:
    """The normalised `text` of a document, with the way back to it."""

    def __init__(self, document: str) -> None:
        self.document = document
        self._words: list[Span] = [match.span() for match in _WORD.finditer(document)]
        words = [document[start:end] for start, end in self._words]
        self._normalised = {word: _normalise_word(word) for word in {*words}}
        normalised = [self._normalised[word] for word in words]
        self.text = " ".join(normalised)
        self._starts = [0, *accumulate(len(word) + 1 for word in normalised)]
        self._pieces: dict[str, tuple[list[int], list[Span]]] = {}

    def to_document(self, span: Span) -> Span:
        """Return the characters of the document that a span of the normalised text came from, whole ones."""
        start, end = span
        return self._source(start)[0], self._source(end - 1)[1]

    def _source(self, position: int) -> Span:
        """Return the characters of the document that a normalised one came from."""
        index = bisect_right(self._starts, position) - 1
        start, end = self._words[index]
        offset = position - self._starts[index]
        word = self.document[start:end]
        normalised = self._normalised[word]
        if offset == len(normalised):
            return end, self._words[index + 1][0]
        if word.isascii() or (len(normalised) == len(word) and not any(map(extends, word))):
            return start + offset, start + offset + 1
        if word not in self._pieces:
            self._pieces[word] = _pieces(word)
        starts, pieces = self._pieces[word]
        first, last = pieces[bisect_right(starts, offset) - 1]
        return start + first, start + last


def _pieces(word: str) -> tuple[list[int], list[Span]]:
    """Return where the parts of a word start that are normalised each by itself: afterwards and before.

    A part is a character with the marks that belong to it.
    """
    pieces: list[Span] = []
    for position, character in enumerate(word):
        if pieces and (extends(character) or word[position - 1] == "\u200d"):
            pieces[-1] = pieces[-1][0], position + 1
        else:
            pieces.append((position, position + 1))
    lengths = [len(_normalise_word(word[start:end])) for start, end in pieces[:-1]]
    return [0, *accumulate(lengths)], pieces
