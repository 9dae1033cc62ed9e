"""Alternating automata of patterns over characters, made deterministic state by state.

A state is a set of *branches*. A branch is a stack of nodes still to be read, interned, and obligations on the rest of
the text, which come from lookaheads (Chandra, Kozen & Stockmeyer, "Alternation", 1981). A lookbehind is a language that
is read from the start of the text; a state contains the states of these languages. Derivatives of extended regular
expressions (Brzozowski, 1964) were rejected: they give the same states, but their names must be kept in normal form.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, product, repeat
from threading import RLock
from typing import TYPE_CHECKING, Any

from structured.automata.dfa.alphabet import Alphabet, alphabet_of, ranges_by_state
from structured.automata.dfa.language import add_work, limited_work
from structured.regex.character_sets import Range
from structured.regex.syntax import (
    ANY_CHARACTER,
    ANY_TEXT,
    Alternation,
    Anchor,
    AutomatonPattern,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
    Pattern,
    Reference,
    Words,
)
from structured.regex.traversal import parts_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True)
class _Scanning:
    """An automaton in a state, and the characters that it may still read."""

    scan: AutomatonPattern
    state: int
    left: int | None


_Rest = tuple[Pattern, int] | None
_Obligation = tuple["PatternLanguage", int, bool]
"""A language, its state, and whether the rest of the text has to be in it or must not."""
_Branch = tuple[int, frozenset[_Obligation]]
"""The number of a stack of nodes that are still to be read, and the obligations of the rest of the text."""
_Leaf = tuple[int, int, frozenset[_Obligation]]
"""The block of a character that is read, the number of the stack after it, and new obligations."""
_Way = tuple[int | None, int, frozenset[_Obligation]]
"""The same, or None where no character is read."""

_Before = tuple[int, ...]
"""The states of the languages that are looked for behind."""

_END = 0

_PUSH = 4
"""Steps that it takes to make a stack."""

_UNFOLDING = 8
"""Steps that it takes to unfold the node on top of one."""


_Sought = int | tuple[Range, ...]
"""What is looked for behind: a pattern, by its identity; a character of some ranges; any character, without ranges."""


def _sought_behind(pattern: Pattern) -> Iterator[tuple[_Sought, Pattern]]:
    """Yield the lookbehinds of a pattern, but not those within lookbehinds."""
    open_ends, seen = [pattern], set[int]()
    while open_ends:
        node = open_ends.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        match node:
            case Anchor("start"):
                yield (), ANY_CHARACTER
            case Anchor("word_boundary" | "not_word_boundary", ranges):
                yield ranges, CharSet(ranges)
            case Lookbehind(sought):
                yield id(sought), sought
            case _:
                open_ends += parts_of(node)


class PatternLanguage:
    """The texts of a pattern. A state is a set of branches, with the states of what the pattern looks for behind.

    States are numbered as they are met. What a lookahead looks for is a language within, over the same alphabet, and
    so is what a lookbehind looks for. Threads may share a language: one at a time makes states.
    """

    def __init__(self, pattern: Pattern, around: "PatternLanguage | None" = None) -> None:
        self.alphabet: Alphabet = alphabet_of(pattern) if around is None else around.alphabet
        self._lock: AbstractContextManager[object] = RLock() if around is None else around._lock  # noqa: SLF001  its own
        self._rests: list[_Rest] = [None]
        self._numbers: dict[tuple[int, int], int] = {}
        self._kept: dict[Any, Pattern] = {}
        self.closure = cache(self._closed)
        self._states: dict[tuple[frozenset[_Branch], _Before], int] = {}
        self._contents: list[tuple[frozenset[_Branch], _Before]] = []
        self._rows: dict[int, list[int | None]] = {}
        self._accepting: dict[int, bool] = {}
        self._inner: dict[int, tuple[Pattern, PatternLanguage]] = {}
        known = {} if around is None else around.behind
        self.behind: dict[_Sought, PatternLanguage] = {}
        """The languages of the texts that end with what is looked for behind."""
        for key, sought in _sought_behind(pattern):
            self.behind[key] = known.get(key) or PatternLanguage(Concat((ANY_TEXT, sought)), around=self)
        self._places = {key: place for place, key in enumerate(self.behind)}
        self._free = self.push(ANY_TEXT, _END), frozenset[_Obligation]()
        self.start = self.state_of(frozenset([(self.push(pattern, _END), frozenset[_Obligation]())]))

    def state_of(self, branches: frozenset[_Branch], before: _Before | None = None) -> int:
        """Return the state of some branches after what comes before; by default, the start of the text."""
        if before is None:
            before = tuple([language.start for language in self.behind.values()])
        content = (frozenset([self._free]), ()) if self._free in branches else (branches, before)
        state = self._states.get(content)
        if state is None:
            state = self._states[content] = len(self._contents)
            self._contents.append(content)
        return state

    def is_everything(self, state: int) -> bool:
        """Tell whether any text may follow; there may be other such states."""
        return self._free in self._contents[state][0]

    def push(self, node: Pattern, rest: int) -> int:
        """Return the number of the stack with one more node on top."""
        key = (id(node), rest)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._rests)
            self._rests.append((node, rest))
            self._kept[key] = node
            add_work(_PUSH)
        return number

    def _made(self, key: Any, make: Any) -> Pattern:
        """Return a node that is the same every time."""
        node = self._kept.get(key)
        if node is None:
            node = self._kept[key] = make()
        return node

    def _closed(self, rest: int, before: _Before) -> tuple[list[_Leaf], list[frozenset[_Obligation]]]:
        """Return what a stack reads next (block, stack, obligations), and the obligations under which it ends."""
        leaves: list[_Leaf] = []
        ends: list[frozenset[_Obligation]] = []
        seen: set[_Branch] = set()
        open_ends: list[_Branch] = [(rest, frozenset())]
        while open_ends:
            here = open_ends.pop()
            if here in seen:
                continue
            seen.add(here)
            number, obligations = here
            top = self._rests[number]
            if top is None:
                ends.append(obligations)
                continue
            ways = self._unfolded(top[0], top[1], before)
            add_work(_UNFOLDING + len(ways) + len(obligations))
            for block, follower, more in ways:
                if block is None:
                    open_ends.append((follower, obligations | more))
                else:
                    leaves.append((block, follower, obligations | more))
        return leaves, ends

    def _unfolded(  # noqa: C901, PLR0912  one case for each kind of node
        self, node: Pattern, rest: int, before: _Before
    ) -> list[_Way]:
        none: frozenset[_Obligation] = frozenset()
        match node:
            case Literal(""):
                return [(None, rest, none)]
            case Literal(text):
                after = self.push(self._made(("text", text[1:]), lambda: Literal(text[1:])), rest) if text[1:] else rest
                return [(1 << self.alphabet.class_of(ord(text[0])), after, none)]
            case Words(texts):
                return [
                    (None, self.push(self._made(("text", text), lambda text=text: Literal(text)), rest), none)
                    for text in texts
                ]
            case CharSet(ranges):
                return [(self.alphabet.block(ranges), rest, none)]
            case Concat(parts):
                for part in reversed(parts):
                    rest = self.push(part, rest)
                return [(None, rest, none)]
            case Alternation(options):
                return [(None, self.push(option, rest), none) for option in options]
            case Iteration():
                return self._repeated(node, rest)
            case Reference():  # a last part ends there; others lead to more and more states
                return [(None, self.push(node.target, rest), none)]
            case AutomatonPattern():
                return self._scanned(node, 0, node.most, rest)
            case _Scanning(scan, state, left):
                return self._scanned(scan, state, left, rest)
            case Anchor():
                return self._bounded(node, rest, before)
            case Lookahead(pattern, negated):
                language, state = self._looked(pattern, before)
                return [(None, rest, frozenset({(language, state, not negated)}))]
            case Lookbehind(pattern, negated):
                return [(None, rest, held) for held in self._held_behind(id(pattern), before, negated=negated)]
        raise TypeError(f"{type(node).__name__} is not a pattern of characters alone")

    def _repeated(self, node: Iteration, rest: int) -> list[_Way]:
        fewer = None if node.maximum is None else node.maximum - 1
        key = ("repeat", id(node.item), max(node.minimum - 1, 0), fewer)
        after = rest
        if fewer != 0:
            left = self._made(key, lambda: Iteration(node.item, max(node.minimum - 1, 0), fewer))
            after = self.push(left, rest)
        self._kept[("item", id(node.item))] = node.item
        ways: list[_Way] = [(None, self.push(node.item, after), frozenset())]
        return ways if node.minimum > 0 else [*ways, (None, rest, frozenset())]

    def _scanned(self, scan: AutomatonPattern, state: int, left: int | None, rest: int) -> list[_Way]:
        ways: list[_Way] = []
        if state in scan.accepting:
            ways.append((None, rest, frozenset()))
        if left == 0:
            return ways
        fewer = None if left is None else left - 1
        for target, ranges in ranges_by_state(scan.arcs[state]).items():
            make = partial(_Scanning, scan, target, fewer)
            after = self._made(("scan", id(scan), target, fewer), make)
            ways.append((self.alphabet.block(ranges), self.push(after, rest), frozenset()))
        return ways

    def _bounded(self, node: Anchor, rest: int, before: _Before) -> list[_Way]:
        if node.kind == "start":
            return [(None, rest, held) for held in self._held_behind((), before, negated=True)]
        if node.kind == "end":
            language, state = self._looked(self._made("empty", lambda: Literal("")), before, whole=True)
            return [(None, rest, frozenset({(language, state, True)}))]
        word = self._made(node.word_characters, lambda: CharSet(node.word_characters))
        language, state = self._looked(word, before)
        is_behind_word = any(True for _ in self._held_behind(node.word_characters, before, negated=False))
        return [(None, rest, frozenset({(language, state, is_behind_word != (node.kind == "word_boundary"))}))]

    def _held_behind(self, key: "_Sought", before: _Before, *, negated: bool) -> Iterator[frozenset[_Obligation]]:
        """Yield the obligations under which what is looked for behind is there; or, `negated`, is not."""
        ends = self.behind[key].endings(before[self._places[key]])
        if not negated:
            yield from ends
            return
        for chosen in product(*ends):
            add_work(_UNFOLDING)
            yield frozenset([(language, state, not is_included) for language, state, is_included in chosen])

    def endings(self, state: int) -> Iterator[frozenset[_Obligation]]:
        """Yield the obligations that allow the text to end in a state, each by itself."""
        branches, before = self._contents[state]
        for rest, held in branches:
            for obligations in self.closure(rest, before)[1]:
                yield held | obligations

    def _looked(self, pattern: Pattern, before: _Before, *, whole: bool = False) -> tuple["PatternLanguage", int]:
        """Return the language of the texts that begin with a pattern, and its state after what comes before."""
        if id(pattern) not in self._inner:
            ahead = pattern if whole else Concat((pattern, ANY_TEXT))
            self._inner[id(pattern)] = ahead, PatternLanguage(ahead, around=self)
        ahead, language = self._inner[id(pattern)]
        seen = tuple([before[self._places[key]] for key in language.behind])
        return language, language.state_of(frozenset([(language.push(ahead, _END), frozenset[_Obligation]())]), seen)

    def row(self, state: int) -> list[int | None]:
        """Return the state that each class of characters leads to."""
        row = self._rows.get(state)
        if row is None:
            with self._lock:
                row = self._rows[state] = self._new_row(state)
        return row

    def _new_row(self, state: int) -> list[int | None]:
        branches, before = self._contents[state]
        following: defaultdict[int, dict[_Branch, None]] = defaultdict(dict)
        tracked: dict[tuple[PatternLanguage, int], int] = {}
        for rest, held in branches:
            leaves = self.closure(rest, before)[0]
            steps = 1 + len(leaves)
            for block, after, more in leaves:
                obligations = held | more if more else held
                following[block][after, obligations] = None
                if obligations:
                    for language, inner, _ in obligations:
                        tracked.setdefault((language, inner), len(tracked) + 2)
                    steps += len(obligations)
            add_work(steps)
        found_by_block = list(following.values())
        holding = self._holding([*following])
        rows_behind = [language.row(inner) for language, inner in zip(self.behind.values(), before, strict=False)]
        behind = zip(*rows_behind, strict=True) if rows_behind else repeat(())
        successors: dict[tuple[Any, ...], int | None] = {}
        row: list[int | None] = []
        inner_rows = [language.row(inner) for language, inner in tracked]
        for found in zip(holding, behind, *inner_rows):  # noqa: B905  without anything behind there is no end of it
            if found not in successors:
                successors[found] = self._successor(found_by_block, tracked, found)
            row.append(successors[found])
        return row

    def _holding(self, blocks: Sequence[int]) -> list[tuple[int, ...]]:
        """Return for each class the places of the blocks that it is in."""
        holding: list[list[int]] = [[] for _ in range(len(self.alphabet))]
        add_work(len(self.alphabet))
        for place, block in enumerate(blocks):
            for number in self.alphabet.members(block):
                holding[number].append(place)
        return list(map(tuple, holding))

    def _successor(
        self,
        leaves: Sequence[dict[_Branch, None]],
        tracked: dict[tuple["PatternLanguage", int], int],
        found: Sequence[Any],
    ) -> int | None:
        """Return the state behind a class, given its places among the leaves and the states of those tracked.

        `found` are these places, the states of the languages behind, and those of the languages tracked.
        """
        places, before = found[:2]
        held = [leaves[place] for place in places]
        add_work(1 + sum(map(len, held)))
        branches = chain.from_iterable(held)
        kept = frozenset(_kept_branches(branches, tracked, found) if tracked else branches)
        return self.state_of(kept, before) if kept else None

    def contains(self, text: str) -> bool:
        """Tell whether a text is in the language."""
        state = self.start
        for character in text:
            with limited_work():
                following = self.row(state)[self.alphabet.class_of(ord(character))]
            if following is None:
                return False
            state = following
        return self.accepts(state)

    def accepts(self, state: int) -> bool:
        """Tell whether some branch ends here, with all its obligations met."""
        is_accepting = self._accepting.get(state)
        if is_accepting is None:
            with self._lock:
                is_accepting = self._accepting[state] = any(
                    all(language.accepts(inner) == is_included for language, inner, is_included in obligations)
                    for obligations in self.endings(state)
                )
        return is_accepting


def _kept_branches(
    branches: Iterable[_Branch], tracked: dict[tuple[PatternLanguage, int], int], found: Sequence[Any]
) -> Iterator[_Branch]:
    """Yield the branches with what is left of their obligations, if they can be met."""
    left_of = cache(lambda obligations: _kept_obligations(obligations, tracked, found))
    for after, obligations in branches:
        left = left_of(obligations)
        if left is not None:
            yield after, left


def _kept_obligations(
    obligations: frozenset[_Obligation], tracked: dict[tuple[PatternLanguage, int], int], found: Sequence[Any]
) -> frozenset[_Obligation] | None:
    """Return the obligations after a character, those met dropped; None if one cannot be met any more."""
    kept = []
    for language, state, is_included in obligations:
        after = found[tracked[language, state]]
        if after is None:
            if is_included:
                return None
        elif language.is_everything(after):
            if not is_included:
                return None
        else:
            kept.append((language, after, is_included))
    return frozenset(kept)
