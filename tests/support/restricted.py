"""Random vocabularies that lack bytes, random patterns of every kind, and what tokens can do, by trying them all."""

from collections import defaultdict
from functools import cache

import numpy as np
from hypothesis import strategies as st
from random_patterns import CHARACTERS, FEW_CHARACTERS, char_sets, patterns

from structured.automata import DEAD, RegularAutomaton
from structured.regex import (
    AutomatonPattern,
    ObjectMembers,
    Pattern,
    Reference,
    Unlike,
    alternation,
    chars,
    concat,
    literal,
    optional,
    repeat,
)
from structured.vocabulary import Vocabulary
from structured.vocabulary.vocabulary import UTF8_BYTES

END = 0

MAX_EXPLORED = 150
"""States that brute force tries all tokens from."""

_BYTES = sorted(UTF8_BYTES)


@cache
def missing_bytes() -> st.SearchStrategy[frozenset[int]]:
    """Return sets of bytes: a few of those that matter, any few, or nearly all."""
    near = sorted(set(CHARACTERS.encode()))
    few = st.frozensets(st.sampled_from(near) | st.sampled_from(_BYTES), max_size=12)
    most = st.frozensets(st.sampled_from(near), min_size=3).map(lambda kept: UTF8_BYTES - kept)
    return few | most


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """Return vocabularies that lack some bytes as tokens; some of their longer tokens may have these bytes."""
    missing = draw(missing_bytes())
    alphabet = draw(st.sampled_from([FEW_CHARACTERS, CHARACTERS]))
    pieces = st.text(alphabet, min_size=1, max_size=4).map(str.encode)
    drawn = draw(st.lists(st.tuples(pieces, st.integers(0, 2), st.integers(0, 2)), max_size=12))
    longer = [piece[first : len(piece) - last] for piece, first, last in drawn]
    if draw(st.integers(0, 2)) == 0:
        longer = [token for token in longer if missing.isdisjoint(token)]
    longer = [token for token in longer if len(token) > 1]
    return Vocabulary((None, *(bytes([byte]) for byte in _BYTES if byte not in missing), *longer), frozenset({END}))


@st.composite
def scans(draw: st.DrawFn) -> AutomatonPattern:
    """Return the insides of JSON strings that small automata accept."""
    count = draw(st.integers(1, 3))
    arcs: list[tuple[tuple[int, int, int], ...]] = []
    for state in range(count):
        text = draw(st.permutations('ab"\\\né€🙂\x04'))
        used = draw(st.integers(1, len(text)))
        targets = [min(state + 1, count - 1), *draw(st.lists(st.integers(0, count - 1), min_size=used, max_size=used))]
        arcs.append(tuple((ord(c), ord(c), target) for c, target in zip(text, targets[:used], strict=False)))
        if draw(st.booleans()):
            arcs[-1] += (
                (0x20000, draw(st.sampled_from([0x3FFFF, 0x40000, 0x10FFFF])), draw(st.integers(0, count - 1))),
            )
    accepting = draw(st.frozensets(st.integers(0, count - 1))) | {count - 1}
    return AutomatonPattern(tuple(arcs), accepting, draw(st.none() | st.integers(count - 1, count + 2)))


@cache
def unlikes() -> st.SearchStrategy[Unlike]:
    """Return strings that are none of some texts."""
    texts = st.lists(st.sampled_from(["", "a", "ab", "é", "\\n", '\\"', "🙂", "aé"]), unique=True, max_size=3)
    return texts.map(lambda given: Unlike(tuple(given)))


@st.composite
def members(draw: st.DrawFn) -> Pattern:
    """Return objects of a few members, and perhaps others."""
    named = [concat(literal(f'"{name}":'), draw(char_sets())) for name in draw(st.permutations(["a", "é", "🙂", "b"]))]
    required = draw(st.lists(st.booleans(), max_size=4))
    rest = draw(st.none() | st.just(literal('"x"')))
    if not required and rest is None:
        required = [False]
    chosen = tuple(zip(named, required, strict=False))
    return ObjectMembers(
        chosen, literal(","), rest, in_order=draw(st.booleans()) or len(chosen) + (rest is not None) < 2
    )


@cache
def small_patterns() -> st.SearchStrategy[Pattern]:
    """Return patterns with nodes of every kind, but for those without end."""
    quoted = st.one_of(scans(), unlikes()).map(lambda inside: concat(literal('"'), inside, literal('"')))
    kinds = st.one_of(patterns(max_leaves=6), quoted, members())
    several = st.lists(kinds, min_size=1, max_size=2)
    return several.flatmap(lambda some: st.sampled_from([concat(*some), alternation(*some), optional(some[0])]))


@st.composite
def recursive_patterns(draw: st.DrawFn) -> Pattern:
    """Return patterns that contain themselves."""
    definitions: dict[str, Pattern] = {}
    inner = Reference("node", definitions)
    opening, closing, leaf = (draw(small_patterns()) for _ in range(3))
    definitions["node"] = alternation(concat(literal("b"), opening, repeat(inner, 0, 2), closing), leaf, chars("é€"))
    return inner


class Tokenwise:
    """What tokens can do from each state of the automaton of a pattern, by trying all of them from all states."""

    def __init__(self, pattern: Pattern, vocabulary: Vocabulary) -> None:
        self.automaton = RegularAutomaton(pattern)
        self.vocabulary = vocabulary
        self.after: dict[int, list[int]] = {}
        self.fewest: dict[int, int] = {}
        open_ends = [self.automaton.start]
        while open_ends and len(self.after) <= MAX_EXPLORED:
            state = open_ends.pop()
            if state not in self.after:
                self.after[state] = [self._after(state, token) for token in vocabulary.tokens]
                open_ends += [target for target in self.after[state] if target != DEAD]
        self.is_whole = not open_ends
        before = defaultdict[int, set[int]](set)
        for state, targets in self.after.items():
            for target in targets:
                before[target].add(state)
        level, tokens = {state for state in self.after if self.automaton.accepts(state)}, 0
        while level:
            self.fewest |= dict.fromkeys(level, tokens)
            level = {source for state in level for source in before[state]} - self.fewest.keys()
            tokens += 1

    def allowed(self, state: int, max_tokens: int) -> list[int]:
        """Return the tokens that may follow, at most so many in all; the end token where the text may end."""
        targets = enumerate(self.after[state])
        found = [token_id for token_id, target in targets if self.fewest.get(target, max_tokens) < max_tokens]
        return sorted([*found, *([END] if self.automaton.accepts(state) else [])])

    def _after(self, state: int, token: bytes | None) -> int:
        for byte in token or b"":
            state = self.automaton.step(state, byte)
            if state == DEAD:
                break
        return state if token else DEAD


def bits(mask: "np.typing.NDArray[np.int32]") -> list[int]:
    """Return the tokens of a mask."""
    found: list[int] = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()
    return found
