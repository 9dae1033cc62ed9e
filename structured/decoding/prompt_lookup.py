"""Prompt lookup: tokens that probably follow a text, found by its guide and in its prompt.

Three kinds are proposed: the end of a forced run, which is left to the model only because a rare token might go on past
it; words of the prompt, since an answer mostly quotes them (Saxena, "Prompt Lookup Decoding", 2023); and behind the
words of a value, what closes it. So a value that is quoted takes two passes: one that finds its beginning, and one that
checks the rest and all that is forced up to the next value. A small model that drafts for a large one was not taken: it
would have to be found, and held in memory.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from structured.index.guide import Guide
from structured.index.index import Index
from structured.vocabulary import Vocabulary

LENGTHS = (16, 8, 4)
"""So many of the last bytes must occur in the prompt, where no words do; the more, the likelier it goes on alike."""

MAX_WORDS = 40
"""So many of the last bytes are looked for as words at most."""

MAX_FOUND, MAX_PLACES = 64, 4
"""Places in the prompt that are looked at, and of those where words begin, that are tried."""

MAX_VALUE = 400
"""Bytes of the longest value that is proposed."""

MIN_WINDOW, MAX_WINDOW = 4, 16
"""Tokens of a text that are proposed at a time, at first and after all were right again and again."""


_LETTER = rb"[0-9A-Za-z\x80-\xff]"
_WORD_START = re.compile(rb"(?<!" + _LETTER + rb")" + _LETTER)
_PART = rb"(?:[^\s.,;:!?()\[\]{}|\"<>*]|[.,;:!?](?=[^\s\"]))"
_NAME = re.compile(rb"(?:" + _PART + rb"| (?=[A-Z0-9&\x80-\xff]))*")
_PHRASE = re.compile(rb"(?:" + _PART + rb"| (?=" + _LETTER + rb"))*")
"""What words of a value go on with: words, with or without capitals, and punctuation inside of one."""


@dataclass(frozen=True, slots=True)
class Source:
    """A prompt: its bytes, its tokens, and where each of these ends."""

    text: bytes
    token_ids: tuple[int, ...]
    ends: tuple[int, ...]
    start: int = 0
    """Where the document begins, about."""

    @classmethod
    def of(cls, token_ids: Sequence[int], vocabulary: Vocabulary, shared: int = 0) -> Self:
        """Return some tokens as a source; those that all prompts begin with are not of the document."""
        spelled = [vocabulary.tokens[one] or b"" if one < vocabulary.size else b"" for one in token_ids]
        ends = tuple(itertools.accumulate(map(len, spelled)))
        return cls(b"".join(spelled), tuple(token_ids), ends, ends[shared - 1] if shared else 0)

    def after(self, written: bytes) -> int:
        """Return the place after the end of what was written; -1 if that does not occur."""
        for length in LENGTHS:
            place = self.text.find(written[-length:]) if len(written) >= length else -1
            if place >= 0:
                return place + length
        return -1

    def after_words(self, written: bytes) -> tuple[bytes, list[int]]:
        """Return the last words of what was written, as many as occur in the document, and the places after them.

        Of `b"Send 5 to Ana Brandt, Ana Reed."`, those after `b'{"name": "Ana'` are 13 and 22. Words begin where the
        document has words, and may end within one.
        """
        for match in _WORD_START.finditer(written):
            words = written[match.start() :]
            places = list(itertools.islice(self._places_after(words), MAX_PLACES))
            if places:
                return words, places
        return b"", []

    def _places_after(self, words: bytes) -> Iterator[int]:
        """Yield the places in the document after some words, where a word begins with them."""
        place = self.start - 1
        for _ in range(MAX_FOUND):
            place = self.text.find(words, place + 1)
            if place < 0:
                return
            if _WORD_START.match(self.text, place):
                yield place + len(words)

    def value_end(self, words: bytes, place: int) -> int:
        """Return the probable end of a value: at punctuation, a line's end, or where capitals end that began it."""
        following = _NAME if words[:1].isupper() else _PHRASE
        match = following.match(self.text, place, place + MAX_VALUE)
        return place if match is None else match.end()

    def tokens_between(self, place: int, end: int, index: Index) -> list[int]:
        """Return tokens that spell what stands between two places: its own, as far as they do."""
        found: list[int] = []
        for token_id in self.tokens_from(place, end - place, index):
            after = place + len(index.vocabulary.tokens[token_id] or b"")
            if after > end:
                break
            found.append(token_id)
            place = after
        return [*found, *index.fewest_tokens(self.text[place:end])]

    def tokens_from(self, place: int, count: int, index: Index) -> list[int]:
        """Return so many tokens from a place on: its own, after those for the rest of one that goes on there."""
        token = bisect_right(self.ends, place)
        begun = place > (self.ends[token - 1] if token else 0)
        rest = index.fewest_tokens(self.text[place : self.ends[token]]) if begun else ()
        return [*rest, *self.token_ids[token + begun : token + begun + count]][:count]


@dataclass(slots=True)
class Window:
    """The tokens that one text is proposed to go on with: the model reads them before they are sampled."""

    proposed: list[int] = field(default_factory=list)
    """Those that are still to be sampled."""
    count: int = 0
    """How many were proposed for the last pass."""
    size: int = MIN_WINDOW
    """How many are proposed at most: more as long as all of them are right."""

    def open(self, proposed: list[int]) -> None:
        """Propose tokens for the next pass; none if there are none."""
        self.proposed, self.count = proposed, len(proposed)

    def accept(self, pending: list[int]) -> None:
        """Drop tokens that were appended, as long as they are those proposed: the model has read them already."""
        while pending and self.proposed and pending[0] == self.proposed[0]:
            del pending[0], self.proposed[0]

    def close(self) -> int:
        """Give up the proposals that are left, and return how many there were."""
        wrong = len(self.proposed)
        if self.count:
            self.size = max(self.size // 2, MIN_WINDOW) if wrong else min(self.size * 2, MAX_WINDOW)
        self.open([])
        return wrong


def propose(guide: Guide, written: bytes, source: Source, count: int) -> list[int]:
    """Return at most `count` tokens that probably follow the end of a text, none if nothing is probable."""
    if guide.finished or count < 1:
        return []
    index = guide.index
    forced = index.likely_tokens(guide.state)
    if forced:
        return allowed(guide.copy(), forced[:count])
    words, places = source.after_words(written)
    for place in places:
        end, ahead = source.value_end(words, place - len(words)), guide.copy()
        if end < place:  # more was quoted already
            quoted = source.tokens_from(place, count, index) if place < len(source.text) else []
        else:
            quoted = source.tokens_between(place, end, index)
        found = allowed(ahead, quoted[:count])
        if end >= place and len(found) == len(quoted):
            found += allowed(ahead, index.closing_tokens(ahead.state)[: count - len(found)])
        if found:
            return found
    place = -1 if places else source.after(written)
    return allowed(guide.copy(), source.tokens_from(place, count, index)) if 0 <= place < len(source.text) else []


def allowed(guide: Guide, token_ids: Sequence[int]) -> list[int]:
    """Advance a guide by the tokens that it allows, up to its end, and return those before that."""
    found: list[int] = []
    for token_id in token_ids:
        try:
            guide.advance(token_id)
        except ValueError:
            break
        if guide.finished:
            break
        found.append(token_id)
    return found
