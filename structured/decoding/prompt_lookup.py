"""Prompt lookup: tokens that probably follow a text, found by its guide and in its prompt.

Two kinds are proposed: the end of a forced run, which is left to the model only because a rare token might go on past
it, and words of the prompt, since an answer mostly quotes them (Saxena, "Prompt Lookup Decoding", 2023). A small model
that drafts for a large one was not taken: it would have to be found, and held in memory.
"""

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from structured.index.guide import Guide
from structured.index.index import Index
from structured.vocabulary import Vocabulary

LENGTHS = (16, 8, 4)
"""So many of the last bytes must occur in the prompt; the more, the likelier it is that it goes on alike."""

MIN_WINDOW, MAX_WINDOW = 2, 16
"""Tokens of a text that are proposed at a time, at first and after all were right again and again."""


@dataclass(frozen=True, slots=True)
class Source:
    """A prompt: its bytes, its tokens, and where each of these ends."""

    text: bytes
    token_ids: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, token_ids: Sequence[int], vocabulary: Vocabulary) -> Self:
        """Return some tokens as a source."""
        spelled = [vocabulary.tokens[one] or b"" if one < vocabulary.size else b"" for one in token_ids]
        return cls(b"".join(spelled), tuple(token_ids), tuple(itertools.accumulate(map(len, spelled))))

    def after(self, written: bytes) -> int:
        """Return the place after the end of what was written, where that occurs; -1 if it does not.

        Of `b"Buenos Aires"`, the place after `b'{"city": "Buenos'` is 6.
        """
        for length in LENGTHS:
            place = self.text.find(written[-length:]) if len(written) >= length else -1
            if place >= 0:
                return place + length
        return -1

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
    """Return at most `count` tokens that may follow and probably do, none if nothing is probable.

    `written` is the end of what stands before them.
    """
    if guide.finished or count < 1:
        return []
    likely: Sequence[int] = guide.index.likely_tokens(guide.state)
    if not likely:
        place = source.after(written)
        likely = source.tokens_from(place, count, guide.index) if 0 <= place < len(source.text) else ()
    return allowed(guide, likely[:count])


def allowed(guide: Guide, token_ids: Sequence[int]) -> list[int]:
    """Return the first of some tokens, up to one that the guide does not allow, or with which it is finished.

    After that nothing is sampled, so that there is no use in having read it.
    """
    ahead, found = guide.copy(), []
    for token_id in token_ids:
        try:
            ahead.advance(token_id)
        except ValueError:
            break
        if ahead.finished:
            break
        found.append(token_id)
    return found
