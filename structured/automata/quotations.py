"""A document that can be quoted, and the quotations in it that keep some rules.

The document is indexed once: as the bytes of its JSON spelling, with the suffix array of those places where a quotation
may begin. The bytes of a quotation that have been read are an interval of that array, at a depth; see
`loops/quoting.py`. What a rule adds is how far the nearest end is that it allows, from each byte of the document in
each of its states: then it is known of every place whether a quotation can still end, and how soon.
"""

import heapq
import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD
from structured.automata.dfa import Intersection, PatternLanguage, explore
from structured.automata.loops.quoting import suffix_array
from structured.automata.opcodes import BARRIER, FAR, UNLIMITED
from structured.errors import PatternError
from structured.regex import Pattern, Quotation, concat, repeat
from structured.regex.syntax import ANY_CHARACTER, ANY_TEXT

_Flags = NDArray[np.bool_]
_Numbers = NDArray[np.int32]

_BARRIER = "\ud800"
"""What no quotation reaches across: a lone surrogate, which no UTF-8 text has."""

_LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"

_JOINERS = "\u200c\u200d"
"""Characters that are no marks, and belong to the one before them all the same (Unicode Annex 29)."""

_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KHMER", "LAO", "MYANMAR", "THAI", "TIBETAN"})
"""The first words of the names of the characters of scripts that write no space between words."""

_SIZE, _SURROGATE, _BREAK, _SPACE, _EXTENDING, _WORD, _MARK, _DIGIT, _POINT = 7, 8, 16, 32, 64, 128, 256, 512, 1024
"""The traits of a character: the bytes of its spelling in JSON; whether it is a lone surrogate, breaks a line, is white
space, belongs to the character before it, is one of a word in a script that writes spaces between words, is a
punctuation mark, is a digit, may be inside of a number."""

_SYMBOLS = frozenset("%‰‱&@#*§¶†‡/\\_")
"""Characters that are punctuation in Unicode, and have a meaning of their own all the same."""

_POINTS = frozenset(".,'’")
"""Marks inside of numbers."""

MAX_ENTRIES = 1 << 26
"""Bytes of a document times states of a rule: the distances take four times as many bytes."""


class IndexedDocument:
    """A document and where quotations in it may begin and end; made once, and shared by all that quote it.

    A quotation begins and ends where a word does or, with `any_character`, at any character; never between a character
    and its combining marks, within CR LF, or behind a zero-width joiner, as in some emoji. It neither begins nor ends
    with white space, and has no lone surrogate. White space that wraps a line is quoted as it is, or all of it in a
    quotation as one space each.

    Where it begins and ends on words, it cuts no number at a mark inside of it (`9.99`), begins with a punctuation mark
    only if that opens something, and ends with one only if that follows something: `(see p. 4)`, `Inc.`, not `,`.

    Characters that are spelled with a byte of `absent` cannot be quoted.
    """

    def __init__(self, document: str, *, any_character: bool = False, absent: frozenset[int] = frozenset()) -> None:
        self.document = document
        self.any_character = any_character
        self.absent = absent
        given = np.frombuffer(document.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        points, origin = _versions(given)
        self.points, self._origin = points, origin
        traits = _traits(points)
        self._starts, self._ends = _edges(points, traits, any_character=any_character)
        sizes = (traits & _SIZE).astype(np.int64)
        self.borders: _Numbers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        """Where each character begins in `text`, and where the last one ends."""
        self.counts: _Numbers = np.append(np.repeat(np.arange(len(points)), sizes), len(points)).astype(np.int32)
        """The character that each byte belongs to."""
        spelled = json.dumps(_text(points), ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
        self.text: NDArray[np.uint8] = np.frombuffer(spelled, dtype=np.uint8).copy()
        """The bytes of both versions of the document as JSON spells them; no quotation continues at a `BARRIER`."""
        barred = _are(traits, _SURROGATE)
        if absent:
            bytes_barred = np.isin(self.text, np.array(sorted(absent), dtype=np.uint8))
            barred |= np.bincount(self.counts[:-1][bytes_barred], minlength=len(points)).astype(np.bool_)
        self._starts &= ~barred
        self._ends[1:] &= ~barred
        self.text[barred[self.counts[:-1]]] = BARRIER
        self._quotations: dict[tuple[object, ...], tuple[_Rule, Quotation | None]] = {}
        self._restricted: dict[frozenset[int], IndexedDocument] = {}

    def __repr__(self) -> str:
        return f"IndexedDocument({len(self.document):,} characters)"

    @cached_property
    def suffixes(self) -> _Numbers:
        """Where quotations may begin in `text`, sorted by the bytes from there on."""
        begins = np.zeros(len(self.text) + 1, dtype=np.bool_)
        begins[self.borders[:-1][self._starts]] = True
        order = suffix_array(self.text)
        return order[begins[order]]

    @cached_property
    def nearest(self) -> _Numbers:
        """The bytes from each place of `text` to the nearest where a quotation may end, `FAR` if there is none."""
        places = np.arange(len(self.text) + 1)
        ends = _next(np.isin(places, self.borders[self._ends], assume_unique=True))
        return np.where(ends <= self.bars, ends - places, FAR).astype(np.int32)

    @cached_property
    def bars(self) -> NDArray[np.int64]:
        """The nearest place from each on that none may pass."""
        return _next(np.append(self.text == BARRIER, True))

    def quotation(
        self,
        included: Sequence[Pattern] = (),
        excluded: Sequence[Pattern] = (),
        *,
        minimum: int = 0,
        maximum: int | None = None,
    ) -> Quotation | None:
        """Return the quotations that are in all of some patterns and in none of others, and so many characters long.

        The patterns are of characters, not of their spelling in JSON. The same call returns the same node. None where
        no quotation keeps the rules. Raises PatternError where they take too much.
        """
        key = (*map(id, included), None, *map(id, excluded), minimum, maximum)
        if key not in self._quotations:
            rule = _Rule(tuple(included), tuple(excluded), max(minimum, 1), maximum)
            found = _quotations(self, rule)
            self._quotations[key] = rule, None if found is None else Quotation(found)
        return self._quotations[key][1]

    def without_bytes(self, absent: frozenset[int]) -> "IndexedDocument":
        """Return the document without what is spelled with some bytes; the same if nothing is."""
        if not np.isin(self.text, np.array(sorted(absent - {BARRIER}), dtype=np.uint8)).any():
            return self
        if absent not in self._restricted:
            self._restricted[absent] = IndexedDocument(
                self.document, any_character=self.any_character, absent=self.absent | absent
            )
        return self._restricted[absent]

    def find(self, quoted: str) -> Iterator[tuple[int, int]]:
        r"""Yield the places of a text as a quotation: its first character in the document and the one behind its last.

        >>> list(IndexedDocument("one, two,\n  one two").find("two"))
        [(5, 8), (16, 19)]
        """
        versions = heapq.merge(*(self._find(quoted, first, end) for first, end in self._extents))
        before = (-1, -1)
        for span in versions:
            if span != before:
                yield span
            before = span

    def _find(self, quoted: str, first: int, end: int) -> Iterator[tuple[int, int]]:
        place = self._whole.find(quoted, first, end) if quoted else -1
        while place >= 0:
            behind = place + len(quoted)
            if self._starts[place] and self._ends[behind]:
                yield int(self._origin[place]), int(self._origin[behind - 1]) + 1
            place = self._whole.find(quoted, place + 1, end)

    @cached_property
    def _whole(self) -> str:
        """Both versions of the document in one."""
        return _text(self.points)

    @property
    def _extents(self) -> list[tuple[int, int]]:
        """Where the versions of the document begin and end in `_whole`."""
        cuts = [
            -1,
            len(self.document),
            *([len(self.points) - 1] if len(self.points) > len(self.document) + 1 else []),
        ]
        return [(before + 1, cut) for before, cut in pairwise(cuts)]


@dataclass(frozen=True, slots=True)
class _Rule:
    """What quotations must be: in all of some patterns and in none of others, and so many characters long."""

    included: tuple[Pattern, ...]
    excluded: tuple[Pattern, ...]
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Quotations:
    """The quotations of a document that keep a rule, as arrays that a program can hold."""

    document: IndexedDocument
    rule: _Rule
    suffixes: _Numbers
    """Where they begin, sorted by what follows."""
    nearest: _Numbers
    """For each state of the rule the bytes from each place to the nearest end, `fewest` and `most` aside."""
    kinds: _Numbers
    """For each place what kind of character ends with the byte there, -1 if none does; empty if they do not matter."""
    moves: _Numbers
    """The state of the rule after each kind of character, for one state after the other."""
    kind_count: int
    fewest: int
    """The characters that a quotation must have, beside what the states ask for."""
    most: int
    longest: int
    """The bytes of the longest quotation, or more."""

    def __str__(self) -> str:
        return f"quotation of {len(self.document.document):,} characters"

    @property
    def shortest(self) -> int:
        """The bytes of the shortest one."""
        found, _ = _first_ends(self.document, self.suffixes, self.nearest, self.fewest)
        return int((found - self.suffixes).min())

    def without_bytes(self, absent: frozenset[int]) -> "Quotations | None":
        """Return those in which some bytes do not occur, None if there are none."""
        document = self.document.without_bytes(absent)
        return self if document is self.document else _quotations(document, self.rule)


def _quotations(document: IndexedDocument, rule: _Rule) -> Quotations | None:
    no_numbers = np.zeros(0, dtype=np.int32)
    fewest, nearest, kinds, moves, kind_count = rule.minimum, document.nearest, no_numbers, no_numbers, 0
    if rule.included or rule.excluded:
        scanned = _scanned(document, rule)
        if scanned is None:
            return None
        fewest, (nearest, kinds, rows) = 0, scanned
        moves, kind_count = rows.reshape(-1), rows.shape[1]
    suffixes = document.suffixes
    if fewest:
        enough = document.counts[suffixes] + fewest
        least = document.borders[np.minimum(enough, len(document.borders) - 1)]
        suffixes = suffixes[(enough < len(document.borders)) & (least <= document.bars[suffixes])]
    ends, is_alive = _first_ends(document, suffixes, nearest, fewest)
    if rule.maximum is not None:
        is_alive &= document.counts[np.where(is_alive, ends, 0)] - document.counts[suffixes] <= rule.maximum
    suffixes = suffixes[is_alive]
    if not len(suffixes):
        return None
    most = UNLIMITED if rule.maximum is None else min(rule.maximum, len(document.document))
    longest = int((document.bars[suffixes] - suffixes).max())
    longest = longest if rule.maximum is None else min(longest, 6 * most)
    return Quotations(document, rule, suffixes, nearest, kinds, moves, kind_count, fewest, most, longest)


def _first_ends(
    document: IndexedDocument, suffixes: _Numbers, nearest: _Numbers, fewest: int
) -> tuple[NDArray[np.int64], _Flags]:
    least = document.borders[document.counts[suffixes] + fewest] if fewest else suffixes
    bytes_left = nearest[least].astype(np.int64)
    return least + bytes_left, bytes_left < FAR


def _scanned(document: IndexedDocument, rule: _Rule) -> tuple[_Numbers, _Numbers, _Numbers] | None:
    """Return the distances, kinds and moves of the automaton of a rule, None if no text keeps it.

    State 0 is before the first character, where nothing may end.
    """
    from structured.automata.loops.quoting import measure_ends

    included = [*rule.included]
    if rule.minimum > 1:
        included.append(concat(repeat(ANY_CHARACTER, rule.minimum, rule.minimum), ANY_TEXT))
    languages = [PatternLanguage(pattern) for pattern in included]
    automaton = explore(Intersection(languages, [PatternLanguage(pattern) for pattern in rule.excluded]))
    if automaton is None:
        return None
    states = len(automaton.arcs) + 1
    if states * len(document.text) > MAX_ENTRIES:
        raise PatternError(
            f"Quotations of so long a document may not have a rule of {states:,} states",
            pattern="",
            remedy="Simplify its pattern, or drop its least length, or give a shorter document.",
        )
    cuts = np.array(sorted({cut for arcs in automaton.arcs for low, high, _ in arcs for cut in (low, high + 1)}))
    moves = np.full((states, len(cuts) + 1), DEAD, dtype=np.int32)
    for state, arcs in enumerate(automaton.arcs):
        for low, high, target in arcs:
            moves[state + 1, np.searchsorted(cuts, low) + 1 : np.searchsorted(cuts, high + 1) + 1] = target + 1
    moves[0] = moves[1]
    accepting = np.zeros(states, dtype=np.bool_)
    accepting[[state + 1 for state in automaton.accepting]] = True
    kinds = np.full(len(document.text), -1, dtype=np.int32)
    kinds[document.borders[1:] - 1] = np.searchsorted(cuts, document.points, side="right")
    nearest = np.empty((states, len(document.text) + 1), dtype=np.int32)
    measure_ends(document.text, document.nearest, kinds, moves, accepting, nearest)
    return nearest.reshape(-1), kinds, moves


def _versions(given: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the characters of a document and a barrier, and again with one space wherever white space wraps a line.

    Each has its place in the document. There is one version where no line is wrapped.
    """
    barrier = np.array([ord(_BARRIER)], dtype=np.uint32)
    places = np.append(np.arange(len(given)), len(given))
    traits = _traits(given)
    breaks, space = _are(traits, _BREAK), _are(traits, _SPACE)
    if not breaks.any():
        return np.concatenate([given, barrier]), places
    begins = space & ~np.concatenate([[False], space[:-1]])
    run = np.cumsum(begins)
    is_wrapped = np.zeros(run[-1] + 1, dtype=np.bool_)
    is_wrapped[run[breaks]] = True
    replaced = space & is_wrapped[run]
    kept = ~replaced | begins
    wrapped = np.where(replaced, np.uint32(ord(" ")), given)[kept]
    return np.concatenate([given, barrier, wrapped, barrier]), np.concatenate([places, places[:-1][kept], places[-1:]])


def _edges(points: NDArray[np.uint32], traits: NDArray[np.uint16], *, any_character: bool) -> tuple[_Flags, _Flags]:
    """Return which characters a quotation may begin with, and before which, and at the end of all, it may end."""
    extends, space = _are(traits, _EXTENDING), _are(traits, _SPACE)
    extends[1:] &= ~_are(traits, _SURROGATE)[:-1]
    inside = extends[1:] | ((points[:-1] == 0x0D) & (points[1:] == 0x0A))
    inside |= (points[:-1] == 0x200D) & ~(space | _are(traits, _SURROGATE))[1:]
    starts, ends = ~space, np.append(False, ~space)
    if not any_character:
        traits = traits[np.maximum.accumulate(np.where(extends, 0, np.arange(len(points))))]  # as what it is on
        word, digit, point = _are(traits, _WORD), _are(traits, _DIGIT), _are(traits, _POINT)
        inside |= word[:-1] & word[1:]
        in_number = digit[:-2] & point[1:-1] & digit[2:]
        inside[:-1] |= in_number
        inside[1:] |= in_number
        may_open, may_close = _roles(traits)
        starts &= may_open
        ends[1:] &= may_close
    starts[1:] &= ~inside
    ends[1:-1] &= ~inside
    return starts, ends


def _roles(traits: NDArray[np.uint16]) -> tuple[_Flags, _Flags]:
    """Return which characters may open a quotation, and which may close it, as far as punctuation is concerned.

    A run of marks opens something if white space is before it and something else behind, and closes something if
    something is before it: in `("No," he said) -`, `("` opens, `,"` and `)` close, and `-` does neither.
    """
    mark, blank = _are(traits, _MARK), _are(traits, _SPACE) | _are(traits, _SURROGATE)
    places = np.arange(len(traits))
    before = np.maximum.accumulate(np.where(mark, -1, places))
    behind = np.minimum.accumulate(np.where(mark, len(traits), places)[::-1])[::-1]
    blank = np.append(blank, True)  # also what is before the first character and behind the last
    return ~mark | (blank[before] & ~blank[behind]), ~mark | ~blank[before]


def _next(flags: _Flags) -> NDArray[np.int64]:
    """Return the next place from each on that is marked, `FAR` if there is none."""
    marked = np.where(flags, np.arange(len(flags)), FAR)
    return np.minimum.accumulate(marked[::-1])[::-1]


def _traits(points: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Return the traits of each character: `_SIZE` bits are the bytes of its spelling, each of the others is a flag."""
    table = np.zeros(int(points.max(initial=0)) + 1, dtype=np.uint16)
    distinct = np.flatnonzero(np.bincount(points, minlength=1))
    table[distinct] = [_traits_of(chr(point)) for point in distinct.tolist()]
    return table[points]


def _are(traits: NDArray[np.uint16], flag: int) -> _Flags:
    return (traits & np.uint16(flag)).astype(np.bool_)


def _text(points: NDArray[np.uint32]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=1 << 16)
def _traits_of(character: str) -> int:
    is_surrogate = "\ud800" <= character <= "\udfff"
    spelled = json.dumps(character, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    category = unicodedata.category(character)
    is_extending = category.startswith("M") or character in _JOINERS
    script = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    is_word = (character.isalnum() or character == "_") and script not in _UNSPACED
    return (
        len(spelled)
        | is_surrogate * _SURROGATE
        | (character in _LINE_BREAKS) * _BREAK
        | character.isspace() * _SPACE
        | is_extending * _EXTENDING
        | is_word * _WORD
        | (category.startswith("P") and character not in _SYMBOLS) * _MARK
        | (category == "Nd") * _DIGIT
        | (character in _POINTS) * _POINT
    )
