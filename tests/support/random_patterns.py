"""Random patterns, texts that they match, and texts near those."""

import itertools
import json
import random
from functools import cache

from hypothesis import strategies as st

from structured.regex import (
    Alternation,
    AutomatonPattern,
    CharSet,
    Concat,
    Iteration,
    Literal,
    ObjectMembers,
    Pattern,
    Reference,
    Unlike,
    Words,
    alternation,
    char_set,
    chars,
    concat,
    literal,
    repeat,
)
from structured.regex.character_sets import MAX_CODE_POINT, Range

CHARACTERS = 'ab"\\]^-{} \n07.é€߀日🙂'
"""Characters special to `re`, to JSON or to the byte tokenizer, of one to four bytes in UTF-8."""


FEW_CHARACTERS = 'ab"é€🙂'
"""So few that parts of a random pattern often start alike."""


BOUNDARIES = (0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0x10FFFF)
"""Code points where the encoding of UTF-8 changes its form."""


@cache
def code_points() -> st.SearchStrategy[int]:
    """Return code points, near the interesting ones more often than not; surrogates among them."""
    near = st.builds(lambda point, offset: point + offset, st.sampled_from(BOUNDARIES), st.integers(-3, 3))
    return st.one_of(
        st.sampled_from(CHARACTERS).map(ord),
        near.filter(lambda point: 0 <= point <= MAX_CODE_POINT),
        st.integers(0, MAX_CODE_POINT),
    )


@cache
def ranges() -> st.SearchStrategy[list[Range]]:
    """Return ranges of code points in any order, overlapping, touching, reversed or single."""
    short = st.builds(lambda low, length: (low, min(low + length, MAX_CODE_POINT)), code_points(), st.integers(-1, 70))
    return st.lists(st.one_of(short, st.tuples(code_points(), code_points())), max_size=4)


@cache
def char_sets() -> st.SearchStrategy[CharSet]:
    """Return sets of characters: a few, a few and some ranges, or all but a few."""
    few = st.text(FEW_CHARACTERS, min_size=1, max_size=4) | st.text(CHARACTERS, min_size=1, max_size=4)
    others = few.map(lambda given: char_set(*chars(given).ranges, negated=True))
    wider = st.builds(lambda given, more: char_set(*chars(given).ranges, *more), few, ranges())
    return st.one_of(few.map(chars), wider, others)


@cache
def patterns(max_leaves: int = 8) -> st.SearchStrategy[Pattern]:
    """Return patterns with nested repeats and alternations, empty literals and items that match nothing."""

    def larger(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        counts = st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3))
        several = st.lists(inner, min_size=2, max_size=4)
        return st.one_of(
            several.map(lambda parts: concat(*parts)),
            several.map(lambda options: alternation(*options)),
            st.builds(_repeat_of, inner, counts),
        )

    few, more = (st.text(given, max_size=3).map(literal) for given in (FEW_CHARACTERS, CHARACTERS))
    return larger(st.recursive(st.one_of(few, more, char_sets()), larger, max_leaves=max_leaves))


def _repeat_of(item: Pattern, counts: tuple[int, int | None]) -> Pattern:
    minimum, more = counts
    return repeat(item, minimum, None if more is None else minimum + more)


def sample(pattern: Pattern, rng: random.Random) -> str:  # noqa: C901  one case for each kind of node
    """Return a text that matches, by a random walk down the pattern: no automaton, no `re`."""
    match pattern:
        case Literal():
            return pattern.text
        case Words():
            return rng.choice(pattern.texts)
        case CharSet():
            low, high = rng.choice(pattern.ranges)
            return chr(rng.choice([low, high, rng.randint(low, high)]))
        case Concat():
            return "".join(sample(part, rng) for part in pattern.parts)
        case Alternation():
            return sample(rng.choice(pattern.options), rng)
        case Iteration():
            most = pattern.minimum + 2 if pattern.maximum is None else min(pattern.maximum, pattern.minimum + 2)
            return "".join(sample(pattern.item, rng) for _ in range(rng.randint(pattern.minimum, most)))
        case Reference():
            return sample(pattern.target, rng)
        case Unlike():
            tried = (json.dumps(rng.choice(SHORT_TEXTS), ensure_ascii=False)[1:-1] for _ in range(1000))
            return next(text for text in tried if text not in pattern.texts)
        case ObjectMembers():
            return _sample_members(pattern, rng)
        case AutomatonPattern():
            return _sample_scan(pattern, rng)
    raise TypeError(f"{pattern!r} matches no text of its own")


SHORT_TEXTS = tuple(first + second for first in CHARACTERS for second in CHARACTERS)


def _sample_members(pattern: ObjectMembers, rng: random.Random) -> str:
    written: list[Pattern] = []
    while not written:
        written = [member for member, required in pattern.members if required or rng.random() < 0.5]
        written += [pattern.other_member] * rng.randint(0, 2) if pattern.other_member else []
    if not pattern.in_order:
        rng.shuffle(written)
    texts = [sample(member, rng) for member in written]
    return texts[0] + "".join(sample(pattern.separator, rng) + text for text in texts[1:])


def _sample_scan(pattern: AutomatonPattern, rng: random.Random) -> str:
    """Walk the automaton at random, home by the shortest way after a few characters."""
    left = dict.fromkeys(pattern.accepting, 0)
    while len(left) < len(pattern.arcs):
        left |= {
            state: 1 + min(left[target] for _, _, target in arcs if target in left)
            for state, arcs in enumerate(pattern.arcs)
            if state not in left and any(target in left for _, _, target in arcs)
        }
    state, text = 0, ""
    for count in itertools.count():
        most = 10**9 if pattern.most is None else pattern.most - count
        arcs = [arc for arc in pattern.arcs[state] if left[arc[2]] < most]
        if state in pattern.accepting and (not arcs or rng.random() < 0.3 or count > 5):
            return json.dumps(text, ensure_ascii=False)[1:-1]
        low, high, state = min(arcs, key=lambda arc: left[arc[2]]) if count > 5 else rng.choice(arcs)
        text += chr(rng.choice([low, high, rng.randint(low, high)]))
    raise AssertionError


def mutated(text: str, rng: random.Random) -> str:
    """Return the text with one character dropped, doubled, replaced or slipped in."""
    location, character = rng.randint(0, len(text)), rng.choice(CHARACTERS)
    dropped = rng.randint(0, 1)
    return text[:location] + rng.choice(["", character, text[location : location + 1]]) + text[location + dropped :]


@cache
def randoms() -> st.SearchStrategy[random.Random]:
    """Return sources of random choices that are repeatable and shrink."""
    return st.integers(0, 2**16).map(random.Random)


@st.composite
def patterns_with_texts(draw: st.DrawFn, max_leaves: int = 8) -> tuple[Pattern, list[str]]:
    """Return a pattern with texts of every kind: some that match, their mutations, and some at random."""
    pattern, rng = draw(patterns(max_leaves)), draw(randoms())
    matching = [sample(pattern, rng) for _ in range(3)]
    near = [mutated(text, rng) for text in matching]
    return pattern, [*matching, *near, mutated(near[0], rng), draw(st.text(CHARACTERS, max_size=6)), ""]
