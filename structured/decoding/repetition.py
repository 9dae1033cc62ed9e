"""Repetition control: the string or list in which a text repeats itself is closed, and repeated words are penalised.

A small model may write an open string or list until its budget ends. Sampling penalties only make this less likely. A
mask can prevent it: if only tokens of the shortest completion are allowed, the string or list closes, and the rest of
the answer is written as usual. Penalties are available too, for free text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from structured.automata import DEAD
from structured.errors.arguments import check_fields, count, flag, number, says_its_arguments
from structured.index.guide import Guide
from structured.models import Logits
from structured.models.kv_cache import on_device

MAX_PERIOD = 512
"""The most bytes of a text whose repetition is found; 64 tokens or more."""

MIN_REPEATED = 24
"""The fewest bytes that count as repetition, all copies together; `www` and `1000000` do not."""

MAX_COPIES = 3
"""How many times in a row the same bytes may be written."""

MAX_SEARCHED = (MAX_COPIES + 1) * MAX_PERIOD
"""The bytes at the end of a text that are searched for repetition."""

_TAIL_BYTES = 8
"""How many of the last bytes are searched for to find an earlier copy."""

REPETITION = {
    "stop": flag,
    "penalty": number(lambda value: 1e-6 <= value <= 1e6, "from 1e-6 to 1e6, such as 1.2"),
    "no_repeat_ngram_size": count(0, "0 (off) or greater"),
}
"""What each field of a `Repetition` must be."""

BREAK = -1
"""A separator between the tokens of two strings."""


@says_its_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """How repetition in answers is stopped or made less likely.

    Attributes:
        stop: Whether a string or a list is closed when its end repeats itself: more than three times the same bytes in
            a row, 24 bytes or more. A repetition that the prompt contains may be copied. A RepetitionWarning says so.
        penalty: Makes tokens that were written before less likely, as `repetition_penalty` of transformers does (Keskar
            et al., "CTRL", 2019, section 4.1). 1 is off.
        no_repeat_ngram_size: Forbids writing the same sequence of this many tokens twice in one answer. 0 is off.

    The last two apply only in free text, that is in strings that may hold any characters, and count only tokens written
    there. So neither field names nor quotations of the prompt are penalised.
    """

    stop: bool = True
    penalty: float = 1.0
    no_repeat_ngram_size: int = 0

    def __post_init__(self) -> None:
        check_fields(self, REPETITION)

    @property
    def changes_logits(self) -> bool:
        """Whether `penalised` changes logits."""
        return self.penalty != 1.0 or self.no_repeat_ngram_size > 0

    def penalised(self, logits: Logits, written: Sequence[int]) -> Logits:
        """Return the logits of the next token, shape (width,), given the tokens written in free text, BREAK between.

        Logits above 0 are divided by the penalty, those below multiplied; tokens that would repeat an n-gram get -inf.
        """
        seen = sorted({token_id for token_id in written if token_id != BREAK})
        banned = _next_of_ngrams(written, self.no_repeat_ngram_size)
        if isinstance(logits, np.ndarray):
            scores = logits.copy()
            chosen = scores[seen]
            scores[seen] = np.where(chosen > 0, chosen / self.penalty, chosen * self.penalty)
            scores[banned] = -np.inf
            return scores
        import torch

        changed = logits.clone()
        at = on_device(np.array(seen, dtype=np.int64), changed.device)
        repeated = changed[at]
        changed[at] = torch.where(repeated > 0, repeated / self.penalty, repeated * self.penalty)
        return changed.index_fill_(0, on_device(np.array(banned, dtype=np.int64), changed.device), float("-inf"))


def repeated_end(text: bytes | bytearray) -> bytes | None:
    """Return the end of a text that repeats the same bytes more than three times; None if there is no such end.

    `b'["a b", "cheese", "cheese", "cheese", "'` → `b'"cheese", "cheese", "cheese", "'`
    """
    if len(text) < MIN_REPEATED:
        return None
    tail = text[-_TAIL_BYTES:]
    first = max(len(text) - MAX_PERIOD - _TAIL_BYTES, 0)
    place = text.rfind(tail, first, -1)
    while place >= 0:
        period = len(text) - len(tail) - place
        start = len(text) - max(MAX_COPIES * period + 1, MIN_REPEATED)
        if start >= 0 and text[start:-period] == text[start + period :]:
            return bytes(text[start:])
        place = text.rfind(tail, first, place + len(tail) - 1)
    return None


def repeated_by(guide: Guide, written: bytes | bytearray, token_id: int, start: int = 0) -> bytes | None:
    """Return the repeated end of a text after a token and the bytes forced after it; None if nothing is repeated.

    The answer begins at byte `start` of `written`. A token that only spells forced bytes never counts. One within a
    character counts only if the repetition goes on for `MIN_REPEATED` bytes: to close the text there, the character
    would have to be completed as another one. Some tokenizers have no token that begins between two characters.
    """
    index = guide.index
    token, successor = index.vocabulary.tokens[token_id], index.step(guide.state, token_id)
    if token is None or successor == DEAD or len(token) <= len(index.forced_bytes(guide.state)):
        return None
    forced = index.forced_bytes(successor)
    if len(written) - start + len(token) + len(forced) < MIN_REPEATED:
        return None
    text = written[max(start, len(written) - MAX_SEARCHED) :]
    repeated = repeated_end(text + token + forced[:MAX_SEARCHED])
    if repeated is not None and _is_within_character(text) and repeated_end(text[:-MIN_REPEATED]) is None:
        return None
    return repeated


def _is_within_character(text: bytes | bytearray) -> bool:
    """Tell whether the beginning of a text in UTF-8 ends within a character."""
    return bytes(text[-3:]).decode(errors="ignore").encode() != text[-3:].lstrip(_CONTINUATIONS)


_CONTINUATIONS = bytes(range(0x80, 0xC0))


def _next_of_ngrams(written: Sequence[int], size: int) -> list[int]:
    """Return the tokens that have followed earlier copies of the last `size - 1` tokens."""
    if size < 1 or len(written) < size:
        return []
    last = tuple(written[len(written) - size + 1 :])
    ngrams = (tuple(written[at : at + size]) for at in range(len(written) - size + 1))
    return sorted({ngram[-1] for ngram in ngrams if ngram[:-1] == last and BREAK not in ngram})
