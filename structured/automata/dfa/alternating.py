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

from structured.automata.dfa.alphabet import Alphabet, Numbered, alphabet_of, ranges_by_state
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


_Stack = tuple[Pattern, int] | None
_Obligation = tuple["PatternLanguage", int, bool]
"""A language, its state, and whether the rest of the text has to be in it or must not."""
_Branch = tuple[int, frozenset[_Obligation]]
"""The number of a stack of nodes that are still to be read, and the obligations on the rest of the text."""
_Leaf = tuple[int, int, frozenset[_Obligation]]
"""The block of a character that is read, the number of the stack after it, and new obligations."""
_Way = tuple[int | None, int, frozenset[_Obligation]]
"""As a leaf, with None as the block where no character is read."""

_BehindStates = tuple[int, ...]
"""The states of the languages of lookbehinds."""

_NO_OBLIGATIONS: frozenset[_Obligation] = frozenset()

_EMPTY_STACK = 0

_PUSH_STEPS = 4
"""Steps of work to make a stack."""

_UNFOLD_STEPS = 8
"""Steps of work to unfold the node on top of a stack."""


_LookbehindKey = int | tuple[Range, ...]
"""The key of a lookbehind: the identity of its pattern; or the ranges of one character, none for any character."""


def _lookbehinds(pattern: Pattern) -> Iterator[tuple[_LookbehindKey, Pattern]]:
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
    """The texts of a pattern. A state is a set of branches, with the states of the pattern's lookbehinds.

    States are numbered as they are met. Each lookahead and each lookbehind is a language of its own, over the same
    alphabet. Threads may share a language: one at a time makes states.
    """

    def __init__(self, pattern: Pattern, around: "PatternLanguage | None" = None) -> None:
        self.alphabet: Alphabet = alphabet_of(pattern) if around is None else around.alphabet
        self._lock: AbstractContextManager[object] = RLock() if around is None else around._lock  # noqa: SLF001  its own
        self._stacks: list[_Stack] = [None]
        self._numbers: dict[tuple[int, int], int] = {}
        self._nodes: dict[Any, Pattern] = {}
        self.closure = cache(self._closed)
        self._contents = Numbered[tuple[frozenset[_Branch], _BehindStates]]()
        self._rows: dict[int, list[int | None]] = {}
        self._accepting: dict[int, bool] = {}
        self._lookaheads: dict[int, tuple[Pattern, PatternLanguage]] = {}
        known = {} if around is None else around.behind
        self.behind: dict[_LookbehindKey, PatternLanguage] = {}
        """For each lookbehind, the language of the texts that end with what it looks for."""
        for key, sought in _lookbehinds(pattern):
            self.behind[key] = known.get(key) or PatternLanguage(Concat((ANY_TEXT, sought)), around=self)
        self._behind_places = {key: place for place, key in enumerate(self.behind)}
        self._any_text = self.push(ANY_TEXT, _EMPTY_STACK), _NO_OBLIGATIONS
        self.start: int = self.state_before(pattern, tuple([language.start for language in self.behind.values()]))

    def state_before(self, pattern: Pattern, behind_states: _BehindStates) -> int:
        """Return the state in which a whole pattern is still to be read."""
        return self._state_of(frozenset([(self.push(pattern, _EMPTY_STACK), _NO_OBLIGATIONS)]), behind_states)

    def _state_of(self, branches: frozenset[_Branch], behind_states: _BehindStates) -> int:
        is_any = self._any_text in branches
        return self._contents.number((frozenset([self._any_text]), ()) if is_any else (branches, behind_states))

    def accepts_all(self, state: int) -> bool:
        """Tell whether any text may follow; there may be other such states."""
        return self._any_text in self._contents[state][0]

    def push(self, node: Pattern, stack: int) -> int:
        """Return the number of the stack with one more node on top."""
        key = (id(node), stack)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._stacks)
            self._stacks.append((node, stack))
            self._nodes[key] = node
            add_work(_PUSH_STEPS)
        return number

    def _push_text(self, text: str, stack: int) -> int:
        """Return the number of the stack with a text on top, if it is not empty."""
        return self.push(self._same_node(("text", text), lambda: Literal(text)), stack) if text else stack

    def _same_node(self, key: Any, make: Any) -> Pattern:
        """Return a node that is the same every time."""
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = make()
        return node

    def _closed(self, stack: int, behind_states: _BehindStates) -> tuple[list[_Leaf], list[frozenset[_Obligation]]]:
        """Return what a stack may read next, and the obligations under which it may end, each by themselves."""
        leaves: list[_Leaf] = []
        ends: list[frozenset[_Obligation]] = []
        seen: set[_Branch] = set()
        open_ends: list[_Branch] = [(stack, _NO_OBLIGATIONS)]
        while open_ends:
            branch = open_ends.pop()
            if branch in seen:
                continue
            seen.add(branch)
            number, obligations = branch
            top = self._stacks[number]
            if top is None:
                ends.append(obligations)
                continue
            ways = self._unfold_top(top[0], top[1], behind_states)
            add_work(_UNFOLD_STEPS + len(ways) + len(obligations))
            for block, follower, more in ways:
                if block is None:
                    open_ends.append((follower, obligations | more))
                else:
                    leaves.append((block, follower, obligations | more))
        return leaves, ends

    def _unfold_top(  # noqa: C901, PLR0912  one case for each kind of node
        self, node: Pattern, stack: int, behind_states: _BehindStates
    ) -> list[_Way]:
        none = _NO_OBLIGATIONS
        match node:
            case Literal(""):
                return [(None, stack, none)]
            case Literal(text):
                return [(1 << self.alphabet.class_of(ord(text[0])), self._push_text(text[1:], stack), none)]
            case Words(texts):
                return [(None, self._push_text(text, stack), none) for text in texts]
            case CharSet(ranges):
                return [(self.alphabet.block(ranges), stack, none)]
            case Concat(parts):
                for part in reversed(parts):
                    stack = self.push(part, stack)
                return [(None, stack, none)]
            case Alternation(options):
                return [(None, self.push(option, stack), none) for option in options]
            case Iteration():
                return self._unfold_repetition(node, stack)
            case Reference():  # a last part ends there; others lead to more and more states
                return [(None, self.push(node.target, stack), none)]
            case AutomatonPattern():
                return self._unfold_scan(node, 0, node.most, stack)
            case _Scanning(scan, state, left):
                return self._unfold_scan(scan, state, left, stack)
            case Anchor():
                return self._unfold_boundary(node, stack, behind_states)
            case Lookahead(pattern, negated):
                return self._lookahead_ways(pattern, stack, behind_states, negated=negated)
            case Lookbehind(pattern, negated):
                return self._lookbehind_ways(id(pattern), stack, behind_states, negated=negated)
        raise TypeError(f"{type(node).__name__} is not a pattern of characters alone")

    def _unfold_repetition(self, node: Iteration, stack: int) -> list[_Way]:
        fewer = None if node.maximum is None else node.maximum - 1
        key = ("repeat", id(node.item), max(node.minimum - 1, 0), fewer)
        after = stack
        if fewer != 0:
            repetition_left = self._same_node(key, lambda: Iteration(node.item, max(node.minimum - 1, 0), fewer))
            after = self.push(repetition_left, stack)
        self._nodes[("item", id(node.item))] = node.item
        ways: list[_Way] = [(None, self.push(node.item, after), _NO_OBLIGATIONS)]
        return ways if node.minimum > 0 else [*ways, (None, stack, _NO_OBLIGATIONS)]

    def _unfold_scan(self, scan: AutomatonPattern, state: int, left: int | None, stack: int) -> list[_Way]:
        ways: list[_Way] = [(None, stack, _NO_OBLIGATIONS)] if state in scan.accepting else []
        if left == 0:
            return ways
        fewer = None if left is None else left - 1
        for target, ranges in ranges_by_state(scan.arcs[state]).items():
            after = self._same_node(("scan", id(scan), target, fewer), partial(_Scanning, scan, target, fewer))
            ways.append((self.alphabet.block(ranges), self.push(after, stack), _NO_OBLIGATIONS))
        return ways

    def _unfold_boundary(self, node: Anchor, stack: int, behind_states: _BehindStates) -> list[_Way]:
        if node.kind == "start":
            return self._lookbehind_ways((), stack, behind_states, negated=True)
        if node.kind == "end":
            empty = self._same_node("empty", lambda: Literal(""))
            return self._lookahead_ways(empty, stack, behind_states, negated=False, whole=True)
        word = self._same_node(node.word_characters, lambda: CharSet(node.word_characters))
        is_behind_word = bool(self._lookbehind_ways(node.word_characters, stack, behind_states, negated=False))
        is_denied = is_behind_word == (node.kind == "word_boundary")
        return self._lookahead_ways(word, stack, behind_states, negated=is_denied)

    def _lookbehind_ways(
        self, key: _LookbehindKey, stack: int, behind_states: _BehindStates, *, negated: bool
    ) -> list[_Way]:
        """Return the ways past a lookbehind that holds or, if it is `negated`, does not."""
        ends = self.behind[key].endings(behind_states[self._behind_places[key]])
        if not negated:
            return [(None, stack, obligations) for obligations in ends]
        ways: list[_Way] = []
        for chosen in product(*ends):
            add_work(_UNFOLD_STEPS)
            ways.append((None, stack, frozenset((language, state, not is_met) for language, state, is_met in chosen)))
        return ways

    def endings(self, state: int) -> Iterator[frozenset[_Obligation]]:
        """Yield the obligations that allow the text to end in a state, each by itself."""
        branches, behind_states = self._contents[state]
        for stack, held in branches:
            for obligations in self.closure(stack, behind_states)[1]:
                yield held | obligations

    def _lookahead_ways(
        self, pattern: Pattern, stack: int, behind_states: _BehindStates, *, negated: bool, whole: bool = False
    ) -> list[_Way]:
        """Return the way past a lookahead, with the obligation that the rest begins with a pattern or does not."""
        if id(pattern) not in self._lookaheads:
            ahead = pattern if whole else Concat((pattern, ANY_TEXT))
            self._lookaheads[id(pattern)] = ahead, PatternLanguage(ahead, around=self)
        ahead, language = self._lookaheads[id(pattern)]
        seen = tuple([behind_states[self._behind_places[key]] for key in language.behind])
        return [(None, stack, frozenset({(language, language.state_before(ahead, seen), not negated)}))]

    def row(self, state: int) -> list[int | None]:
        """Return the state that each class of characters leads to."""
        row = self._rows.get(state)
        if row is None:
            with self._lock:
                row = self._rows[state] = self._new_row(state)
        return row

    def _new_row(self, state: int) -> list[int | None]:
        branches, behind_states = self._contents[state]
        by_block: defaultdict[int, dict[_Branch, None]] = defaultdict(dict)
        tracked: dict[tuple[PatternLanguage, int], int] = {}
        for stack, branch_obligations in branches:
            leaves = self.closure(stack, behind_states)[0]
            steps = 1 + len(leaves)
            for block, after, new_obligations in leaves:
                obligations = branch_obligations | new_obligations if new_obligations else branch_obligations
                by_block[block][after, obligations] = None
                if obligations:
                    for language, inner, _ in obligations:
                        tracked.setdefault((language, inner), len(tracked) + 2)
                    steps += len(obligations)
            add_work(steps)
        branches_by_block = list(by_block.values())
        blocks_by_class = self._blocks_by_class([*by_block])
        behind = zip(self.behind.values(), behind_states, strict=False)
        behind_rows = [language.row(inner) for language, inner in behind]
        states_behind = zip(*behind_rows, strict=True) if behind_rows else repeat(())
        successors: dict[tuple[Any, ...], int | None] = {}
        row: list[int | None] = []
        tracked_rows = [language.row(inner) for language, inner in tracked]
        for column in zip(blocks_by_class, states_behind, *tracked_rows):  # noqa: B905  without anything behind there is no end of it
            if column not in successors:
                successors[column] = self._successor(branches_by_block, tracked, column)
            row.append(successors[column])
        return row

    def _blocks_by_class(self, blocks: Sequence[int]) -> list[tuple[int, ...]]:
        """Return for each class the places of the blocks that it is in."""
        places: list[list[int]] = [[] for _ in range(len(self.alphabet))]
        add_work(len(self.alphabet))
        for place, block in enumerate(blocks):
            for number in self.alphabet.members(block):
                places[number].append(place)
        return list(map(tuple, places))

    def _successor(
        self,
        branches_by_block: Sequence[dict[_Branch, None]],
        tracked: dict[tuple["PatternLanguage", int], int],
        column: Sequence[Any],
    ) -> int | None:
        """Return the state after a class of characters, whose `column` has what the class leads to.

        These are the places of its branches, the states of lookbehinds, and those of the languages in obligations;
        `tracked` says where each of the latter is.
        """
        places, behind_states = column[:2]
        branches_of_blocks = [branches_by_block[place] for place in places]
        add_work(1 + sum(map(len, branches_of_blocks)))
        branches: Iterable[_Branch] = chain.from_iterable(branches_of_blocks)
        if tracked:
            left_of = cache(lambda obligations: _obligations_left(obligations, tracked, column))
            branches = [(after, left) for after, held in branches if (left := left_of(held)) is not None]
        branches_left = frozenset(branches)
        return self._state_of(branches_left, behind_states) if branches_left else None

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


def _obligations_left(
    obligations: frozenset[_Obligation], tracked: dict[tuple[PatternLanguage, int], int], column: Sequence[Any]
) -> frozenset[_Obligation] | None:
    """Return the obligations after a character, those met dropped; None if one cannot be met any more."""
    left = []
    for language, state, is_included in obligations:
        after = column[tracked[language, state]]
        if after is None:
            if is_included:
                return None
        elif language.accepts_all(after):
            if not is_included:
                return None
        else:
            left.append((language, after, is_included))
    return frozenset(left)
