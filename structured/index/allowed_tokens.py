"""What an index allows, for people to look at: the tokens in a state, and the way of a text through the states."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np

from structured.automata import DEAD
from structured.errors.values import counted, printable
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.index.shortest_completion import MAX_TOKENS

MAX_LISTED = 24
"""Tokens that `str` lists."""

MAX_SHOWN = 24
"""Characters of a token in a table."""

MAX_LINE = 76
"""Characters of a line of tokens."""


@dataclass(frozen=True, slots=True)
class AllowedTokens:
    """The tokens that may come next somewhere in a text, as decoding masks them.

    Attributes:
        state: Where: the number of a state; `3→4` between two of them; `3+1` in a state, one byte into a character; `…`
            in a state that is not shown.
        tokens: The tokens by their ids, in the order of these.
        may_end: Whether the text may end here: then end tokens are allowed as well.
        forced: What has to come next, whichever tokens spell it; "" where there is a choice.
    """

    state: str
    tokens: Mapping[int, bytes] = field(repr=False)
    may_end: bool
    forced: str

    def __str__(self) -> str:
        """Return how many there are, the first ones, and the forced text."""
        lines = [
            (
                f"State {self.state}: {counted(len(self.tokens), 'token')} may follow"
                f"{', or the end' if self.may_end else ''}."
            )
        ]
        for token in islice(self.tokens.values(), MAX_LISTED):
            shown = shown_token(token)
            if len(lines) == 1 or len(lines[-1]) + len(shown) > MAX_LINE:
                lines.append("")
            lines[-1] += f"  {shown}"
        if len(self.tokens) > MAX_LISTED:
            lines.append(f"  … and {len(self.tokens) - MAX_LISTED:,} more")
        lines += [f"Forced text: {printable(self.forced)}"] if self.forced else []
        return "\n".join(lines)


class TokenStep(NamedTuple):
    """One token of a text: where it leads, and what else was allowed.

    Attributes:
        token_id: The id of the token.
        token: Its bytes.
        before: The state before it, written as in `AllowedTokens`.
        after: The state after it.
        allowed: How many tokens were allowed in its place, end tokens among them.
        place: Its place among them, in the order of their ids, from 1 on. None if it was not: decoding writes what is
            forced with other tokens than these.
    """

    token_id: int
    token: bytes
    before: str
    after: str
    allowed: int
    place: int | None


@dataclass(frozen=True, slots=True)
class TokenWalk:
    """The way of a text through the states, token by token, and what may follow it."""

    steps: tuple[TokenStep, ...]
    end: AllowedTokens

    def __str__(self) -> str:
        """Return the steps as a table, and below it what may follow."""
        rows = [("token", "id", "bytes", "state", "allowed", "place")]
        rows += [
            (
                shown_token(step.token),
                str(step.token_id),
                _shortened(step.token.hex(" ")),
                f"{step.before} ⇒ {step.after}",
                f"{step.allowed:,}",
                "–" if step.place is None else f"{step.place:,}",
            )
            for step in self.steps
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        alignments: list[Callable[[str, int], str]] = [str.ljust, str.rjust, str.ljust, str.ljust, str.rjust, str.rjust]
        lines = [
            "  ".join(align(cell, width) for align, cell, width in zip(alignments, row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join((*lines, "", str(self.end)))


def allowed_after(index: Index, state: int, name: str) -> AllowedTokens:
    """Return what may follow a state of an index, which is called by a name."""
    ids = np.flatnonzero(unpack(index.canonical_mask(state), index.vocabulary.size)).tolist()
    tokens = {one: token for one in ids if (token := index.vocabulary.tokens[one]) is not None}
    forced = index.forced_bytes(state).decode(errors="replace")
    return AllowedTokens(name, tokens, index.automaton.accepts(state), forced)


def walk_text(index: Index, text: str, places: Iterator[str]) -> TokenWalk:
    """Return the way of a text; `places` are the names of the states before and after each of its bytes.

    Raises ValueError if no text of the type begins so, or no tokens spell it.
    """
    data = text.encode()
    _check(index, data)
    token_ids = index.spelled_tokens(data)
    if b"".join(index.vocabulary.tokens[token_id] or b"" for token_id in token_ids) != data:
        raise ValueError(f"The tokenizer cannot spell {_quoted(_shortened(text))}: some of its bytes are in no token.")
    names = list(places)
    guide = Guide(index, max_tokens=MAX_TOKENS)
    steps: list[TokenStep] = []
    done = 0
    for token_id in token_ids:
        token = index.vocabulary.tokens[token_id]
        assert token is not None, "tokens that spell something have bytes"
        allowed = unpack(guide.mask(), index.vocabulary.size)
        place = int(allowed[: token_id + 1].sum()) if allowed[token_id] else None
        after = names[done + len(token)]
        steps.append(TokenStep(token_id, token, names[done], after, int(allowed.sum()), place))
        done += len(token)
        guide.advance(token_id)
    return TokenWalk(tuple(steps), allowed_after(index, guide.state, names[done]))


def state_after(index: Index, data: bytes) -> int:
    """Return the state of an index after some bytes, or DEAD."""
    state = index.automaton.start
    for byte in data:
        state = index.automaton.step(state, byte)
        if state == DEAD:
            break
    return state


def _check(index: Index, data: bytes) -> None:
    """Raise ValueError if no text begins with some bytes, with what does."""
    if state_after(index, data) != DEAD:
        return
    good = next(count for count in range(len(data), -1, -1) if state_after(index, data[:count]) != DEAD)
    begun, rest = data[:good].decode(errors="ignore"), data[good:].decode(errors="ignore")
    where = f"after {_quoted(begun[-MAX_SHOWN:])}, " if begun else ""
    raise ValueError(f"No answer of the type begins so: {where}{_quoted(rest[:MAX_SHOWN])} cannot follow.")


def shown_token(token: bytes) -> str:
    """Return a token in quotes; bytes that are no text by their numbers."""
    try:
        return _quoted(_shortened(token.decode()))
    except UnicodeDecodeError:
        return _shortened(repr(token)[1:])


def _quoted(text: str) -> str:
    return f"`{printable(text)}`"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
