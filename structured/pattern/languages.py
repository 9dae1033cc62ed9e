"""Patterns over characters enter, combined by intersection and complement; one deterministic automaton leaves.

A `Language` is walked state by state: `arcs` says where every range of characters leads. That of a pattern keeps sets
of *branches*, each the nodes still to be read (a stack, interned) and what must hold, or must not, of the rest of the
text: that is how a lookahead is carried along (an alternating automaton: Chandra, Kozen & Stockmeyer, "Alternation",
1981). Intersection and complement run side by side. `explore` is the one routine that makes any of them explicit.
Derivatives of extended regular expressions (Brzozowski, 1964) were the alternative: the same states, under names that
have to be kept in normal form.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

from structured.errors import PatternError
from structured.pattern.nodes import (
    ANY_TEXT,
    MAX_CODE_POINT,
    Alternation,
    Boundary,
    CharSet,
    Concat,
    Literal,
    Lookahead,
    Pattern,
    Range,
    Repeat,
    Scan,
    Words,
    nodes_of,
    normalise,
)

Arc = tuple[int, int, Any]
"""The first and the last character of a range, and the state that they lead to."""

MOST_STATES = 8_000
"""States of one automaton that is made explicit."""


class Language(Protocol):
    """A set of texts, as a deterministic automaton over characters whose states are made when they are asked for."""

    @property
    def start(self) -> Hashable:
        """The state before the first character; None if no text is in the language."""
        ...

    def arcs(self, state: Any) -> Sequence[Arc]:
        """Return where the characters lead, in order; those of no range lead nowhere."""
        ...

    def accepts(self, state: Any) -> bool:
        """Tell whether the text may end here."""
        ...


def overlay(layers: Sequence[Sequence[Arc]]) -> list[tuple[int, int, tuple[Any, ...]]]:
    """Return the ranges of several lists of arcs cut so that none overlap, with the state in each, None for nowhere.

    `[[(1, 5, "a")], [(3, 9, "b")]]` → `[(1, 2, ("a", None)), (3, 5, ("a", "b")), (6, 9, (None, "b"))]`
    """
    cuts = sorted({cut for arcs in layers for low, high, _ in arcs for cut in (low, high + 1)})
    places = [0] * len(layers)
    pieces = []
    for low, end in pairwise(cuts):
        states: list[Any] = []
        for layer, arcs in enumerate(layers):
            while places[layer] < len(arcs) and arcs[places[layer]][1] < low:
                places[layer] += 1
            place = places[layer]
            inside = place < len(arcs) and arcs[place][0] <= low
            states.append(arcs[place][2] if inside else None)
        if any(state is not None for state in states):
            pieces.append((low, end - 1, tuple(states)))
    return pieces


def joined(arcs: Iterable[Arc]) -> list[Arc]:
    """Return the arcs with neighbouring ranges that lead to the same state made one."""
    found: list[Arc] = []
    for low, high, state in arcs:
        if found and found[-1][2] == state and found[-1][1] + 1 == low:
            found[-1] = (found[-1][0], high, state)
        else:
            found.append((low, high, state))
    return found


_EVERYTHING = normalise([(0, MAX_CODE_POINT)])


@dataclass(frozen=True, slots=True)
class Together:
    """The texts that are in all of `included` and in none of `excluded`, each run beside the others."""

    included: tuple[Language, ...]
    excluded: tuple[Language, ...] = ()
    start: Hashable = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", tuple(language.start for language in self.included + self.excluded))

    def arcs(self, state: Any) -> list[Arc]:
        """Return the arcs on which none of the included is lost."""
        needed = len(self.included)
        layers: list[Sequence[Arc]] = [
            () if inner is None else language.arcs(inner)
            for language, inner in zip(self.included + self.excluded, state, strict=True)
        ]
        if not needed:
            layers.append([(low, high, True) for low, high in _EVERYTHING])
        pieces = overlay(layers)
        return joined(
            (low, high, states[: needed + len(self.excluded)])
            for low, high, states in pieces
            if None not in states[:needed] and (needed or states[-1]) and not self._is_lost(states)
        )

    def _is_lost(self, states: Sequence[Any]) -> bool:
        """Tell whether one of the excluded holds whatever follows."""
        needed = len(self.included)
        return any(
            inner is not None and isinstance(language, PatternLanguage) and language.is_everything(inner)
            for language, inner in zip(self.excluded, states[needed:], strict=False)
        )

    def accepts(self, state: Any) -> bool:
        """Tell whether all of the included and none of the excluded accept."""
        needed = len(self.included)
        held = [
            inner is not None and language.accepts(inner)
            for language, inner in zip(self.included + self.excluded, state, strict=True)
        ]
        return all(held[:needed]) and not any(held[needed:])


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


def _first(arc: Arc) -> int:
    return arc[0]


class _Alphabet:
    """The characters, cut where a pattern tells them apart; a block of the pieces is an integer, one bit for each."""

    def __init__(self, pattern: Pattern) -> None:
        cuts = {0, MAX_CODE_POINT + 1}
        for node in nodes_of(pattern):
            cuts.update(cut for low, high in _ranges_of(node) for cut in (low, high + 1))
        self._starts = sorted(cuts)
        self._pieces = {start: index for index, start in enumerate(self._starts)}
        self._blocks: dict[Any, int] = {}
        self._ranges: dict[int, list[Range]] = {}
        self.everything = (1 << len(self._starts) - 1) - 1

    def block(self, ranges: tuple[Range, ...]) -> int:
        """Return the block of the characters of some ranges, which the pattern has."""
        block = self._blocks.get(ranges)
        if block is None:
            block = 0
            for low, high in ranges:
                block |= (1 << self._pieces[high + 1]) - (1 << self._pieces[low])
            self._blocks[ranges] = block
        return block

    def ranges(self, block: int) -> list[Range]:
        """Return the ranges of the characters of a block."""
        found = self._ranges.get(block)
        if found is None:
            found = []
            piece = 0
            rest = block
            while rest:
                skipped = (rest & -rest).bit_length() - 1
                rest >>= skipped
                taken = (~rest & (rest + 1)).bit_length() - 1
                piece += skipped
                found.append((self._starts[piece], self._starts[piece + taken] - 1))
                piece += taken
                rest >>= taken
            self._ranges[block] = found
        return found


def _ranges_of(node: Pattern) -> Iterable[Range]:
    """Yield the ranges of characters that a node tells from others."""
    match node:
        case Literal(text):
            return [(ord(character), ord(character)) for character in text]
        case Words(texts):
            return [(point, point) for point in {ord(character) for text in texts for character in text}]
        case CharSet(ranges):
            return ranges
        case Scan(arcs):
            return [(low, high) for row in arcs for low, high, _ in row]
    return ()


class PatternLanguage:
    """The texts of a pattern. A state is a set of branches, with what stands before if the pattern asks for that.

    A branch is the number of a stack of nodes that are still to be read, and the duties of the rest of the text.
    """

    def __init__(self, pattern: Pattern, around: "PatternLanguage | None" = None, before: str = "start") -> None:
        self._alphabet = _Alphabet(pattern)
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


@dataclass(frozen=True, slots=True)
class Automaton:
    """A deterministic automaton over characters, all of it: from every state a text can end. State 0 is the start."""

    arcs: tuple[tuple[tuple[int, int, int], ...], ...]
    accepting: frozenset[int]


Arcs = tuple[tuple[tuple[int, int, int], ...], ...]


def fewest_characters(automaton: "Automaton | Scan") -> int:
    """Return the characters of the shortest text."""
    return _distances(automaton.arcs, automaton.accepting)[0]


def most_characters(automaton: "Automaton | Scan") -> int | None:
    """Return the characters of the longest text; None if there is no longest."""
    return _longest_paths(dict(enumerate({target for _, _, target in arcs} for arcs in automaton.arcs))).get(0)


def character_counts(pattern: Pattern) -> tuple[int, int | None]:
    """Return the fewest and the most characters of a pattern of characters; None where there is no most."""
    match pattern:
        case Literal(text):
            return len(text), len(text)
        case Words(texts):
            return min(map(len, texts)), max(map(len, texts))
        case CharSet():
            return 1, 1
        case Repeat(item, minimum, maximum):
            fewest, most = character_counts(item)
            return fewest * minimum, 0 if most == 0 else None if most is None or maximum is None else most * maximum
        case Concat(parts):
            counts = [character_counts(part) for part in parts]
            most_of_all = [most for _, most in counts if most is not None]
            return sum(fewest for fewest, _ in counts), sum(most_of_all) if len(most_of_all) == len(counts) else None
        case Alternation(options):
            counts = [character_counts(option) for option in options]
            most_of_all = [most for _, most in counts if most is not None]
            return min(fewest for fewest, _ in counts), max(most_of_all) if len(most_of_all) == len(counts) else None
        case Scan():
            return fewest_characters(pattern), pattern.most
    return 0, None


def explore(language: Language) -> Automaton | None:
    """Return the smallest automaton of a language; None if no text is in it."""
    if language.start is None:
        return None
    accepting: set[int] = set()

    def note(number: int, state: Any) -> None:
        if language.accepts(state):
            accepting.add(number)

    return _smallest(_rows(language, note), accepting)


def _rows(language: Language, note: Callable[[int, Any], None]) -> list[list[tuple[int, int, int]]]:
    """Return the arcs of every state of a language, as numbers, after noting each state."""
    numbers: dict[Any, int] = {language.start: 0}
    states = [language.start]
    rows: list[list[tuple[int, int, int]]] = []
    for state in states:  # which grows on the way
        note(len(rows), state)
        row = []
        for low, high, target in language.arcs(state):
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
                if len(states) > MOST_STATES:
                    raise too_large(None)
            row.append((low, high, numbers[target]))
        rows.append(row)
    return rows


@dataclass(frozen=True, slots=True)
class Partition:
    """The texts of a language, sorted by which of some others they are in: for each kind, the states where it ends."""

    rows: list[list[tuple[int, int, int]]]
    kinds: dict[frozenset[int], set[int]]

    def automaton(self, kinds: Iterable[frozenset[int]]) -> Automaton:
        """Return the automaton of the texts of some kinds."""
        found = _smallest(self.rows, {state for kind in kinds for state in self.kinds[kind]})
        if found is None:
            raise ValueError("no text is of such a kind")
        return found


@dataclass(frozen=True, slots=True)
class _Watched:
    """The texts of a language, with the states of others beside its own."""

    base: Language
    others: tuple[Language, ...]

    @property
    def start(self) -> Hashable:
        """The states before the first character."""
        return (self.base.start, *(language.start for language in self.others))

    def arcs(self, state: Any) -> list[Arc]:
        """Return the arcs of the base, cut where one of the others does."""
        layers: list[Sequence[Arc]] = [
            () if inner is None else language.arcs(inner)
            for language, inner in zip((self.base, *self.others), state, strict=True)
        ]
        return joined(piece for piece in overlay(layers) if piece[2][0] is not None)

    def accepts(self, state: Any) -> bool:
        """Tell whether the base accepts."""
        return self.base.accepts(state[0])


def partition(base: Language, languages: Sequence[Language]) -> Partition:
    """Return the texts of a language, sorted by which of the others they are in."""
    beside = _Watched(base, tuple(languages))
    kinds: dict[frozenset[int], set[int]] = {}

    def note(number: int, state: Any) -> None:
        if base.accepts(state[0]):
            held = zip(languages, state[1:], strict=True)
            kind = frozenset(
                index for index, (language, inner) in enumerate(held) if inner is not None and language.accepts(inner)
            )
            kinds.setdefault(kind, set()).add(number)

    return Partition(_rows(beside, note), kinds)


def too_large(pattern: Pattern | None) -> PatternError:
    """Return the error that says that an automaton would not end."""
    return PatternError(
        f"An automaton needs more than {MOST_STATES:,} states",
        pattern="" if pattern is None else str(pattern),
        remedy="Repeat less, and combine fewer patterns and lengths.",
    )


def _smallest(rows: list[list[tuple[int, int, int]]], accepting: set[int]) -> Automaton | None:
    """Return the automaton without states that lead nowhere, and with those that are alike made one (Moore, 1956).

    States are told apart by the lengths of some of their completions first, which settles counters at once.
    """
    live = _distances(rows, accepting)
    if 0 not in live:
        return None
    kept = {state: [arc for arc in rows[state] if arc[2] in live] for state in sorted(live)}
    names: dict[Any, int] = {}
    lengths = _telling_lengths(kept, accepting)
    block = {
        state: names.setdefault((live[state], *(length.get(state) for length in lengths)), len(names)) for state in kept
    }
    while True:
        refined: dict[Any, int] = {}
        following = {
            state: refined.setdefault(
                (block[state], tuple(joined((low, high, block[target]) for low, high, target in arcs))), len(refined)
            )
            for state, arcs in kept.items()
        }
        is_stable = len(refined) == len(names)
        block, names = following, refined
        if is_stable:
            break
    chosen = {block[state]: state for state in reversed(kept)}
    arcs = tuple(
        tuple(joined((low, high, block[target]) for low, high, target in kept[chosen[name]]))
        for name in range(len(names))
    )
    return Automaton(arcs, frozenset(block[state] for state in accepting if state in live))


def _telling_lengths(rows: dict[int, list[tuple[int, int, int]]], accepting: set[int]) -> list[dict[int, int]]:
    """Return lengths that states have in common that are alike.

    They are those of the longest completion, and of the longest ways on through states in which the text may end, and
    through such in which it may not.
    """
    targets = {state: {target for _, _, target in arcs} for state, arcs in rows.items()}
    ends, others = {state for state in rows if state in accepting}, {state for state in rows if state not in accepting}
    return [_longest_paths({state: targets[state] & among for state in among}) for among in (set(rows), ends, others)]


def _distances(rows: Sequence[Sequence[tuple[int, int, int]]], accepting: Iterable[int]) -> dict[int, int]:
    """Return the characters of the shortest completion of each state from which a text can end."""
    before: list[set[int]] = [set() for _ in rows]
    for state, row in enumerate(rows):
        for _, _, target in row:
            before[target].add(state)
    found = dict.fromkeys(accepting, 0)
    border = set(found)
    size = 0
    while border:
        size += 1
        border = {source for state in border for source in before[state]} - found.keys()
        found.update(dict.fromkeys(border, size))
    return found


def _longest_paths(targets: dict[int, set[int]]) -> dict[int, int]:
    """Return the arcs of the longest path from each state from which no path is without end."""
    before: dict[int, list[int]] = {state: [] for state in targets}
    waiting = {state: len(inner) for state, inner in targets.items()}
    for state, inner in targets.items():
        for target in inner:
            before[target].append(state)
    longest = {state: 0 for state, count in waiting.items() if count == 0}
    ready = list(longest)
    for state in ready:  # which grows on the way
        for source in before[state]:
            waiting[source] -= 1
            if waiting[source] == 0:
                longest[source] = 1 + max(longest[target] for target in targets[source])
                ready.append(source)
    return longest
