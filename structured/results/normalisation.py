"""Folded text: text without the differences that do not matter, with the way back to the characters it came from.

Case, compatibility forms (NFKC), runs of white space, and kinds of dashes and quotes are folded away. The way back is
kept by words, not by characters: nearly all words are folded character by character, and a map of the others is made
when a place in them is asked for.
"""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

from structured.output_types.grounded.statements import Span

_KINDS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−⁃﹘﹣－", "-"),
        **dict.fromkeys("‘’‚‛′´`ʼ＇", "'"),
        **dict.fromkeys("“”„‟″«»＂", '"'),
    }
)
_WORD = re.compile(r"\S+")


def _fold_word(word: str) -> str:
    if word.isascii():
        return word.lower().translate(_KINDS)
    once = unicodedata.normalize("NFKC", word.translate(_KINDS)).casefold()
    return unicodedata.normalize("NFKC", once).translate(_KINDS)


def fold(text: str) -> str:
    """Return a text folded: `"Jürgen  O’NEIL"` → `"jürgen o'neil"`."""
    return " ".join(_fold_word(word) for word in text.split())


def extends(character: str) -> bool:
    """Tell whether a character belongs to the one before it: a combining mark, a joiner, a vowel of Hangul."""
    return unicodedata.category(character)[0] == "M" or character == "\u200d" or "\u1160" <= character <= "\u11ff"


def is_cut(text: str, position: int) -> bool:
    """Tell whether a position lies inside of what is one character to a reader: `e` and its accent, CR and LF."""
    if not 0 < position < len(text):
        return False
    return extends(text[position]) or text[position - 1] == "\u200d" or text[position - 1 : position + 1] == "\r\n"


class Folded:
    """A folded document.

    Attributes:
        document: As given.
        text: Folded.
    """

    def __init__(self, document: str) -> None:
        self.document = document
        self._words: list[Span] = [match.span() for match in _WORD.finditer(document)]
        words = [document[start:end] for start, end in self._words]
        self._folded = {word: _fold_word(word) for word in {*words}}
        folded = [self._folded[word] for word in words]
        self.text = " ".join(folded)
        self._starts = [0, *accumulate(len(word) + 1 for word in folded)]
        self._pieces: dict[str, tuple[list[int], list[Span]]] = {}

    def to_document(self, span: Span) -> Span:
        """Return the characters of the document that a span of the folded text came from, whole ones."""
        start, end = span
        return self._source(start)[0], self._source(end - 1)[1]

    def _source(self, position: int) -> Span:
        """Return the characters of the document that a folded one came from."""
        index = bisect_right(self._starts, position) - 1
        start, end = self._words[index]
        offset = position - self._starts[index]
        word = self.document[start:end]
        folded = self._folded[word]
        if offset == len(folded):
            return end, self._words[index + 1][0]
        if word.isascii() or (len(folded) == len(word) and not any(map(extends, word))):
            return start + offset, start + offset + 1
        if word not in self._pieces:
            self._pieces[word] = _pieces(word)
        starts, pieces = self._pieces[word]
        first, last = pieces[bisect_right(starts, offset) - 1]
        return start + first, start + last


def _pieces(word: str) -> tuple[list[int], list[Span]]:
    """Return where the parts of a word start that are folded each by itself: when folded, and before.

    A part is a character with the marks that belong to it.
    """
    pieces: list[Span] = []
    for position, character in enumerate(word):
        if pieces and (extends(character) or word[position - 1] == "\u200d"):
            pieces[-1] = pieces[-1][0], position + 1
        else:
            pieces.append((position, position + 1))
    texts = [word[start:end] for start, end in pieces]
    folded = {text: len(_fold_word(text)) for text in {*texts}}
    lengths = [folded[text] for text in texts]
    return [0, *accumulate(lengths[:-1])], pieces
