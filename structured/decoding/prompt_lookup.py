"""Prompt lookup: tokens that probably follow a text, found by its guide and in its prompt.

Three kinds of tokens are proposed: the end of a forced run, which the model decides only because a rare token may go
past it; words of the prompt, which answers mostly quote (Saxena, "Prompt Lookup Decoding", 2023); and the bytes that
close a value after its words. So a quoted value takes two passes: the first finds its beginning, and the second checks
the rest and all forced tokens up to the next value. A small draft model was rejected: it would have to be found and
held in memory.
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
"""How many of the last bytes are looked up in the prompt if it has no matching words; the longest are tried first."""

MAX_WORDS = 40
"""The most bytes at the end of a text that are looked up as words."""

MAX_MATCHES, MAX_PLACES = 64, 4
"""The most matches of some words in the prompt that are examined, and the most at word beginnings that are tried."""

MAX_VALUE = 400
"""Bytes of the longest value that is proposed."""

MIN_PROPOSED, MAX_PROPOSED = 4, 16
"""The fewest and the most tokens in a proposal: it doubles each time all tokens were right."""


_LETTER = rb"[0-9A-Za-z\x80-\xff]"
_WORD_START = re.compile(rb"(?<!" + _LETTER + rb")" + _LETTER)
_PART = rb"(?:[^\s.,;:!?()\[\]{}|\"<>*]|[.,;:!?](?=[^\s\"]))"
_NAME = re.compile(rb"(?:" + _PART + rb"| (?=[A-Z0-9&\x80-\xff]))*")
_PHRASE = re.compile(rb"(?:" + _PART + rb"| (?=" + _LETTER + rb"))*")
"""The rest of a value after its first words: more words, with or without capitals, and punctuation within words."""


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt: its bytes, its tokens, and the byte at which each token ends."""

    text: bytes
    token_ids: tuple[int, ...]
    ends: tuple[int, ...]
    document_start: int = 0
    """The byte at which the document begins, approximately."""

    @classmethod
    def from_tokens(cls, token_ids: Sequence[int], vocabulary: Vocabulary, shared: int = 0) -> Self:
        """Return the text of a prompt's tokens; the `shared` first tokens are outside the document."""
        spelled = [vocabulary.tokens[token_id] or b"" if token_id < vocabulary.size else b"" for token_id in token_ids]
        ends = tuple(itertools.accumulate(map(len, spelled)))
        return cls(b"".join(spelled), tuple(token_ids), ends, ends[shared - 1] if shared else 0)

    def place_after(self, written: bytes) -> int:
        """Return the place in the prompt after the last bytes of `written`; -1 if these do not occur."""
        for length in LENGTHS:
            place = self.text.find(written[-length:]) if len(written) >= length else -1
            if place >= 0:
                return place + length
        return -1

    def places_after(self, written: bytes) -> tuple[bytes, list[int]]:
        """Return the longest run of last words of `written` that occurs in the document, and the places after it.

        In `b"Send 5 to Ana Brandt, Ana Reed."`, the places after `b'{"name": "Ana'` are 13 and 22. They must begin at a
        word of the document, and may end within a word.
        """
        for match in _WORD_START.finditer(written):
            words = written[match.start() :]
            places = list(itertools.islice(self._occurrences_end(words), MAX_PLACES))
            if places:
                return words, places
        return b"", []

    def _occurrences_end(self, words: bytes) -> Iterator[int]:
        """Yield the places in the document after some words that begin at a word of the document."""
        place = self.document_start - 1
        for _ in range(MAX_MATCHES):
            place = self.text.find(words, place + 1)
            if place < 0:
                return
            if _WORD_START.match(self.text, place):
                yield place + len(words)

    def value_end(self, words: bytes, place: int) -> int:
        """Return the probable end of a value: at punctuation, at a line end, or where its capitalised words end."""
        following = _NAME if words[:1].isupper() else _PHRASE
        match = following.match(self.text, place, place + MAX_VALUE)
        return place if match is None else match.end()

    def tokens_between(self, place: int, end: int, index: Index) -> list[int]:
        """Return tokens for the bytes between two places: the prompt's own tokens, as far as they fit."""
        whole: list[int] = []
        for token_id in self.tokens_from(place, end - place, index):
            after = place + len(index.vocabulary.tokens[token_id] or b"")
            if after > end:
                break
            whole.append(token_id)
            place = after
        return [*whole, *index.forced.shortest_spelling(self.text[place:end])]

    def tokens_from(self, place: int, count: int, index: Index) -> list[int]:
        """Return `count` tokens from a place on: first tokens for the rest of a cut token, then the prompt's own."""
        first = bisect_right(self.ends, place)
        remainder: Sequence[int] = ()
        if place > (self.ends[first - 1] if first else 0):
            remainder = index.forced.shortest_spelling(self.text[place : self.ends[first]])
            first += 1
        return [*remainder, *self.token_ids[first : first + count]][:count]


@dataclass(slots=True)
class Proposal:
    """The proposed tokens of one text: the model reads them before they are sampled."""

    token_ids: list[int] = field(default_factory=list)
    """The proposed tokens that are not sampled yet."""
    length: int = 0
    """How many tokens were proposed for the last pass."""
    max_length: int = MIN_PROPOSED
    """The most tokens of the next proposal: it doubles after a right one and halves after a wrong one."""

    def replace(self, token_ids: list[int]) -> None:
        """Propose tokens for the next pass, perhaps none."""
        self.token_ids, self.length = token_ids, len(token_ids)

    def accept(self, pending: list[int]) -> None:
        """Drop pending tokens as long as they equal the proposed ones, which the model has already read."""
        while pending and self.token_ids and pending[0] == self.token_ids[0]:
            del pending[0], self.token_ids[0]

    def discard(self) -> int:
        """Discard the tokens that are left, which were wrong, and return how many there were."""
        wrong = len(self.token_ids)
        if self.length:
            longer, shorter = min(self.max_length * 2, MAX_PROPOSED), max(self.max_length // 2, MIN_PROPOSED)
            self.max_length = shorter if wrong else longer
        self.replace([])
        return wrong


def propose(guide: Guide, written: bytes, prompt: PromptText, count: int) -> list[int]:
    """Return at most `count` tokens that probably follow a text, perhaps none."""
    if guide.finished or count < 1:
        return []
    index = guide.index
    forced = index.forced.run_tokens(guide.state)
    if forced:
        return allowed(guide.copy(), forced[:count])
    words, places = prompt.places_after(written)
    for place in places:
        end, trial = prompt.value_end(words, place - len(words)), guide.copy()
        if end < place:  # more was quoted already
            quoted = prompt.tokens_from(place, count, index) if place < len(prompt.text) else []
        else:
            quoted = prompt.tokens_between(place, end, index)
        proposed = allowed(trial, quoted[:count])
        if end >= place and len(proposed) == len(quoted):
            proposed += allowed(trial, index.closing_tokens(trial.state)[: count - len(proposed)])
        if proposed:
            return proposed
    place = -1 if places else prompt.place_after(written)
    return allowed(guide.copy(), prompt.tokens_from(place, count, index)) if 0 <= place < len(prompt.text) else []


def allowed(guide: Guide, token_ids: Sequence[int]) -> list[int]:
    """Advance a guide by tokens until it forbids one or is finished; return the tokens before that."""
    taken: list[int] = []
    for token_id in token_ids:
        try:
            guide.advance(token_id)
        except ValueError:
            break
        if guide.finished:
            break
        taken.append(token_id)
    return taken
