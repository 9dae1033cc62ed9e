"""A pattern enters; an alternating automaton over characters leaves, as a deterministic one made when it is asked for.

Its states are sets of *branches*, each the nodes still to be read (a stack, interned) and what must hold, or must not,
of the rest of the text: that is how a lookahead is carried along (Chandra, Kozen & Stockmeyer, "Alternation", 1981).
Derivatives of extended regular expressions (Brzozowski, 1964) were the alternative: the same states, under names that
have to be kept in normal form.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from structured.pattern.languages.alphabet import Alphabet
from structured.pattern.languages.arcs import Arc, joined, overlay
from structured.pattern.languages.protocol import MOST_STATES, too_large
from structured.pattern.nodes import (
    ANY_TEXT,
    Alternation,
    Boundary,
    CharSet,
    Concat,
    Literal,
    Lookahead,
    Pattern,
    Repeat,
    Scan,
    Words,
    nodes_of,
)


@dataclass(frozen=True, slots=True)
class _Scanning:
    """An automaton in a state, and the characters that it may still read."""

    scan: Scan
    state: int
    left: int | None


_Rest = tuple[Pattern, int] | None
_Duty = tuple["PatternLanguage", Any, bool]
"""A language, its state, and whether the rest of the text has to be in it or must not."""

_END = 0


class PatternLanguage:
    """The texts of a pattern. A state is a set of branches, with what stands before if the pattern asks for that.

    A branch is the number of a stack of nodes that are still to be read, and the duties of the rest of the text.
    """

    def __init__(self, pattern: Pattern, around: "PatternLanguage | None" = None, before: str = "start") -> None:
        self._alphabet = Alphabet(pattern)
        self._rests: list[_Rest] = [None]
        self._numbers: dict[tuple[int, int], int] = {}
        self._kept: dict[Any, Pattern] = {}
        self._closures: dict[tuple[int, str], Any] = {}
        self._arcs: dict[Any, list[Arc]] = {}
        self._inner: dict[int, tuple[Pattern, PatternLanguage]] = {}
        boundaries = [node for node in nodes_of(pattern) if isinstance(node, Boundary)]
        kinds = {node.kind for node in boundaries}
        self._word = next((node.word_characters for node in boundaries if node.word_characters), ())
        self.looks_back: bool = bool(kinds - {"end"}) or (around is not None and around.looks_back)
        self._looks_at_words = bool(self._word)
        self._free = self.push(ANY_TEXT, _END)
        self.start = self.state_before([(self.push(pattern, _END), frozenset())], before)

    def state_before(self, branches: Iterable[tuple[int, frozenset[_Duty]]], before: str) -> Any:
        """Return the state of some branches, behind `"start"`, a `"word"` character or an `"other"` one."""
        found = frozenset(branches)
        if not found:
            return None
        if (self._free, frozenset()) in found:
            found = frozenset({(self._free, frozenset())})
        return found, before if self.looks_back else ""

    def is_everything(self, state: Any) -> bool:
        """Tell whether any text may follow; there may be other such states."""
        return (self._free, frozenset()) in state[0]

    def push(self, node: Pattern, rest: int) -> int:
        """Return the number of the stack with one more node on top."""
        key = (id(node), rest)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._rests)
            self._rests.append((node, rest))
            self._kept[key] = node
            if number > 40 * MOST_STATES:
                raise too_large(node)
        return number

    def _made(self, key: Any, make: Any) -> Pattern:
        """Return a node that is the same every time."""
        node = self._kept.get(key)
        if node is None:
            node = self._kept[key] = make()
        return node

    def closure(self, rest: int, before: str) -> tuple[list[tuple[Any, int, frozenset[_Duty]]], list[frozenset[_Duty]]]:
        """Return what a stack reads next (ranges, the stack after them, duties), and the duties under which it ends."""
        key = (rest, before)
        known = self._closures.get(key)
        if known is not None:
            return known  # type: ignore[no-any-return]
        leaves: list[tuple[Any, int, frozenset[_Duty]]] = []
        ends: list[frozenset[_Duty]] = []
        seen: set[tuple[int, frozenset[_Duty]]] = set()
        open_ends: list[tuple[int, frozenset[_Duty]]] = [(rest, frozenset())]
        while open_ends:
            here = open_ends.pop()
            if here in seen:
                continue
            seen.add(here)
            number, duties = here
            top = self._rests[number]
            if top is None:
                ends.append(duties)
                continue
            for ranges, follower, more in self._unfolded(top[0], top[1], before):
                if ranges is None:
                    open_ends.append((follower, duties | more))
                else:
                    leaves.append((ranges, follower, duties | more))
        self._closures[key] = leaves, ends
        return leaves, ends

    def _unfolded(  # noqa: C901  one case for each kind of node
        self, node: Pattern, rest: int, before: str
    ) -> list[tuple[Any, int, frozenset[_Duty]]]:
        """Return what a node goes on with: a range of characters or None, the stack after it, and new duties."""
        none: frozenset[_Duty] = frozenset()
        match node:
            case Literal(""):
                return [(None, rest, none)]
            case Literal(text):
                after = self.push(self._made(("text", text[1:]), lambda: Literal(text[1:])), rest) if text[1:] else rest
                return [(((ord(text[0]), ord(text[0])),), after, none)]
            case Words(texts):
                return [
                    (None, self.push(self._made(("text", text), lambda text=text: Literal(text)), rest), none)
                    for text in texts
                ]
            case CharSet(ranges):
                return [(ranges, rest, none)]
            case Concat(parts):
                for part in reversed(parts):
                    rest = self.push(part, rest)
                return [(None, rest, none)]
            case Alternation(options):
                return [(None, self.push(option, rest), none) for option in options]
            case Repeat():
                return self._repeated(node, rest)
            case Scan():
                return self._scanned(node, 0, node.most, rest)
            case _Scanning(scan, state, left):
                return self._scanned(scan, state, left, rest)
            case Boundary():
                return self._bounded(node, rest, before)
            case Lookahead(pattern, negated):
                state, language = self._looked(pattern, before)
                return [(None, rest, frozenset({(language, state, not negated)}))]
        raise TypeError(f"{type(node).__name__} is no pattern of characters alone")

    def _repeated(self, node: Repeat, rest: int) -> list[tuple[Any, int, frozenset[_Duty]]]:
        fewer = None if node.maximum is None else node.maximum - 1
        key = ("repeat", id(node.item), max(node.minimum - 1, 0), fewer)
        after = rest
        if fewer != 0:
            left = self._made(key, lambda: Repeat(node.item, max(node.minimum - 1, 0), fewer))
            after = self.push(left, rest)
        self._kept[("item", id(node.item))] = node.item
        ways: list[tuple[Any, int, frozenset[_Duty]]] = [(None, self.push(node.item, after), frozenset())]
        return ways if node.minimum > 0 else [*ways, (None, rest, frozenset())]

    def _scanned(self, scan: Scan, state: int, left: int | None, rest: int) -> list[tuple[Any, int, frozenset[_Duty]]]:
        ways: list[tuple[Any, int, frozenset[_Duty]]] = []
        if state in scan.accepting:
            ways.append((None, rest, frozenset()))
        if left == 0:
            return ways
        fewer = None if left is None else left - 1
        for low, high, target in scan.arcs[state]:
            make = partial(_Scanning, scan, target, fewer)
            after = self._made(("scan", id(scan), target, fewer), make)
            ways.append((((low, high),), self.push(after, rest), frozenset()))
        return ways

    def _bounded(self, node: Boundary, rest: int, before: str) -> list[tuple[Any, int, frozenset[_Duty]]]:
        if node.kind == "start":
            return [(None, rest, frozenset())] if before == "start" else []
        if node.kind == "end":
            state, language = self._looked(self._made("empty", lambda: Literal("")), before, whole=True)
            return [(None, rest, frozenset({(language, state, True)}))]
        state, language = self._looked(self._made("word", lambda: CharSet(node.word_characters)), before)
        return [(None, rest, frozenset({(language, state, (before == "word") != (node.kind == "word"))}))]

    def _looked(self, pattern: Pattern, before: str, *, whole: bool = False) -> tuple[Any, "PatternLanguage"]:
        """Return the language of the texts that begin with a pattern, and its state behind what stands before."""
        if id(pattern) not in self._inner:
            ahead = pattern if whole else Concat((pattern, ANY_TEXT))
            self._inner[id(pattern)] = ahead, PatternLanguage(ahead, around=self)
        ahead, language = self._inner[id(pattern)]
        return language.state_before([(language.push(ahead, _END), frozenset())], before), language

    def arcs(self, state: Any) -> list[Arc]:
        """Return where every character leads."""
        known = self._arcs.get(state)
        if known is None:
            known = self._arcs[state] = self._new_arcs(state)
        return known

    def _new_arcs(self, state: Any) -> list[Arc]:
        branches, before = state
        following: dict[Any, dict[tuple[int, frozenset[_Duty]], None]] = {}
        watched: dict[tuple[PatternLanguage, Any], int] = {}
        for rest, held in branches:
            for ranges, after, more in self.closure(rest, before)[0]:
                duties = held | more if more else held
                following.setdefault(ranges, {})[after, duties] = None
                for language, inner, _ in duties:
                    watched.setdefault((language, inner), len(watched))
        if not watched and not self._looks_at_words:
            return self._plain_arcs(following)
        layers: list[Sequence[Arc]] = [[(low, high, True) for low, high in ranges] for ranges in following]
        layers += [language.arcs(inner) for language, inner in watched]
        if self._looks_at_words:
            layers.append([(low, high, True) for low, high in self._word])
        targets = list(following.values())
        arcs = []
        for low, high, found in overlay(layers):
            kept = {
                (after, left)
                for index, leaves in enumerate(targets)
                if found[index]
                for after, duties in leaves
                for left in [_kept_duties(duties, watched, found[len(targets) :]) if duties else duties]
                if left is not None
            }
            behind = "word" if self._looks_at_words and found[-1] else "other"
            successor = self.state_before(kept, behind)
            if successor is not None:
                arcs.append((low, high, successor))
        return joined(arcs)

    def _plain_arcs(self, following: dict[Any, dict[tuple[int, frozenset[_Duty]], None]]) -> list[Arc]:
        """Return the arcs where there are no duties, by splitting the alphabet into blocks that lead to the same."""
        blocks: list[tuple[int, list[Any]]] = [(self._alphabet.everything, [])]
        for ranges, leaves in following.items():
            inside = self._alphabet.block(ranges)
            blocks = [
                piece
                for block, found in blocks
                for piece in ((block & inside, [*found, leaves]), (block & ~inside, found))
                if piece[0]
            ]
        arcs = []
        for block, found in blocks:
            successor = self.state_before((leaf for leaves in found for leaf in leaves), "other")
            if successor is not None:
                arcs += [(low, high, successor) for low, high in self._alphabet.ranges(block)]
        return joined(sorted(arcs, key=_first))

    def contains(self, text: str) -> bool:
        """Tell whether a text is in the language."""
        state = self.start
        for character in text:
            state = next((to for low, high, to in self.arcs(state) if low <= ord(character) <= high), None)
            if state is None:
                return False
        return self.accepts(state)

    def accepts(self, state: Any) -> bool:
        """Tell whether some branch ends here, with all its duties done."""
        branches, before = state
        return any(
            all((inner is not None and language.accepts(inner)) == due for language, inner, due in held | duties)
            for rest, held in branches
            for duties in self.closure(rest, before)[1]
        )


def _kept_duties(
    duties: frozenset[_Duty], watched: dict[tuple[PatternLanguage, Any], int], found: Sequence[Any]
) -> frozenset[_Duty] | None:
    """Return the duties after a character, those done dropped; None if one cannot be done any more."""
    kept = []
    for language, state, due in duties:
        after = found[watched[language, state]]
        if after is None:
            if due:
                return None
        elif language.is_everything(after):
            if not due:
                return None
        else:
            kept.append((language, after, due))
    return frozenset(kept)


def _first(arc: Arc) -> int:
    return arc[0]
