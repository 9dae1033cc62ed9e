"""Indexed documents, and the quotations in them that follow a rule.

A document is indexed once: as the bytes of its JSON spelling, with a suffix array of the places where a quotation may
begin. The bytes read of a quotation are an interval of that array and a depth; see `loops/quoting.py`. A rule adds, for
each byte of the document and each of the rule's states, the distance to the nearest allowed end of a quotation.
"""

import heapq
import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD
from structured.automata.dfa import Intersection, PatternLanguage, smallest_automaton
from structured.automata.loops.quoting import measure_ends, suffix_array
from structured.automata.opcodes import BARRIER, FAR, UNLIMITED
from structured.errors import PatternError
from structured.regex import Pattern, Quotation, concat, repeat
from structured.regex.syntax import ANY_CHARACTER, ANY_TEXT

_Flags = NDArray[np.bool_]
_Numbers = NDArray[np.int32]

_BARRIER = "\ud800"
"""A separator that no quotation crosses: a lone surrogate, which no UTF-8 text has."""

_LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"

_JOINERS = "\u200c\u200d"
"""Characters that belong to the character before them, although they are not marks (Unicode Annex 29)."""

_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KHMER", "LAO", "MYANMAR", "THAI", "TIBETAN"})
"""Scripts without spaces between words, by the first word of their characters' names."""

_SIZE, _SURROGATE, _BREAK, _SPACE, _EXTENDING, _WORD, _MARK, _DIGIT, _POINT = 7, 8, 16, 32, 64, 128, 256, 512, 1024
"""The traits of a character: the bytes of its spelling in JSON; whether it is a lone surrogate, breaks a line, is white
space, belongs to the character before it, is one of a word in a script that writes spaces between words, is a
punctuation mark, is a digit, may be inside of a number."""

_SYMBOLS = frozenset("%‰‱&@#*§¶†‡/\\_")
"""Punctuation of Unicode that has a meaning of its own, and may begin or end a quotation."""

_POINTS = frozenset(".,'’")
"""Marks inside of numbers."""

MAX_ENTRIES = 1 << 26
"""The most bytes of a document times states of a rule; the distances take four times as many bytes."""


class IndexedDocument:
    """A document with the places where quotations may begin and end; all its quotations share it.

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
        characters = np.frombuffer(document.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        points, origin = _versions(characters)
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
        """The places in `text` where quotations may begin, sorted by the bytes from there on."""
        begins = np.zeros(len(self.text) + 1, dtype=np.bool_)
        begins[self.borders[:-1][self._starts]] = True
        order = suffix_array(self.text)
        return order[begins[order]]

    @cached_property
    def nearest(self) -> _Numbers:
        """The bytes from each place of `text` to the nearest end of a quotation; `FAR` if there is none."""
        places = np.arange(len(self.text) + 1)
        ends = _next(np.isin(places, self.borders[self._ends], assume_unique=True))
        return np.where(ends <= self.bars, ends - places, FAR).astype(np.int32)

    @cached_property
    def bars(self) -> NDArray[np.int64]:
        """The next place after each that no quotation may cross."""
        return _next(np.append(self.text == BARRIER, True))

    def quotation(
        self,
        included: Sequence[Pattern] = (),
        excluded: Sequence[Pattern] = (),
        *,
        minimum: int = 0,
        maximum: int | None = None,
    ) -> Quotation | None:
        """Return the node of the quotations that match all `included` and no `excluded` patterns; None for none.

        `minimum` and `maximum` count characters. The patterns are of characters, not of their spelling in JSON. The
        same call returns the same node. Raises PatternError if the rule needs too much memory.
        """
        key = (*map(id, included), None, *map(id, excluded), minimum, maximum)
        if key not in self._quotations:
            rule = _Rule(tuple(included), tuple(excluded), max(minimum, 1), maximum)
            quotations = _quotations(self, rule)
            self._quotations[key] = rule, None if quotations is None else Quotation(quotations)
        return self._quotations[key][1]

    def without_bytes(self, absent: frozenset[int]) -> "IndexedDocument":
        """Return the document without characters that are spelled with some bytes; itself if there are none."""
        if not np.isin(self.text, np.array(sorted(absent - {BARRIER}), dtype=np.uint8)).any():
            return self
        if absent not in self._restricted:
            self._restricted[absent] = IndexedDocument(
                self.document, any_character=self.any_character, absent=self.absent | absent
            )
        return self._restricted[absent]

    def find(self, quoted: str) -> Iterator[tuple[int, int]]:
        r"""Yield the spans of a quotation in the document: its first character, and the one after its last.

        >>> list(IndexedDocument("one, two,\n  one two").find("two"))
        [(5, 8), (16, 19)]
        """
        size = len(self.document)
        versions = (0, size), (size + 1, len(self.points) - 1)  # the second may be missing
        for span, _ in groupby(heapq.merge(*(self._find(quoted, first, end) for first, end in versions))):
            yield span

    def _find(self, quoted: str, first: int, end: int) -> Iterator[tuple[int, int]]:
        place = self._whole.find(quoted, first, end) if quoted else -1
        while place >= 0:
            behind = place + len(quoted)
            if self._starts[place] and self._ends[behind]:
                yield int(self._origin[place]), int(self._origin[behind - 1]) + 1
            place = self._whole.find(quoted, place + 1, end)

    @cached_property
    def _whole(self) -> str:
        """Both versions of the document, one after the other."""
        return _text(self.points)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule of quotations: the patterns that they must match and must not match, and the number of characters."""

    included: tuple[Pattern, ...]
    excluded: tuple[Pattern, ...]
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Quotations:
    """The quotations of a document that follow a rule, as arrays for a program."""

    document: IndexedDocument
    rule: _Rule
    suffixes: _Numbers
    """The places where they begin, sorted by the bytes from there on."""
    nearest: _Numbers
    """For each state of the rule, the bytes from each place to the nearest end, without `fewest` and `most`."""
    kinds: _Numbers
    """For each place, the kind of the character that ends with its byte, -1 if none does; empty without a rule."""
    moves: _Numbers
    """The successors of the rule's states: for each state, one for each kind of character."""
    kind_count: int
    fewest: int
    """The fewest characters of a quotation, if the states do not count them."""
    most: int

    def __str__(self) -> str:
        return f"quotation of {len(self.document.document):,} characters"

    @property
    def shortest(self) -> int:
        """The bytes of the shortest quotation."""
        ends, _ = _first_ends(self.document, self.suffixes, self.nearest, self.fewest)
        return int((ends - self.suffixes).min())

    def without_bytes(self, absent: frozenset[int]) -> "Quotations | None":
        """Return the quotations without some bytes, None if there are none."""
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
    return Quotations(document, rule, suffixes, nearest, kinds, moves, kind_count, fewest, most)


def _first_ends(
    document: IndexedDocument, suffixes: _Numbers, nearest: _Numbers, fewest: int
) -> tuple[NDArray[np.int64], _Flags]:
    least = document.borders[document.counts[suffixes] + fewest] if fewest else suffixes
    bytes_left = nearest[least].astype(np.int64)
    return least + bytes_left, bytes_left < FAR


def _scanned(document: IndexedDocument, rule: _Rule) -> tuple[_Numbers, _Numbers, _Numbers] | None:
    """Return the distances, kinds and moves of the automaton of a rule, None if no text follows it.

    State 0 is before the first character, where no quotation may end.
    """
    included = [*rule.included]
    if rule.minimum > 1:
        included.append(concat(repeat(ANY_CHARACTER, rule.minimum, rule.minimum), ANY_TEXT))
    languages = [PatternLanguage(pattern) for pattern in included]
    automaton = smallest_automaton(Intersection(languages, [PatternLanguage(pattern) for pattern in rule.excluded]))
    if automaton is None:
        return None
    states = len(automaton.arcs) + 1
    if states * len(document.text) > MAX_ENTRIES:
        raise PatternError(
            f"The document is too long for quotations with a rule of {states:,} states",
            pattern="",
            remedy="Simplify the pattern, remove the minimum length, or use a shorter document.",
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


def _versions(characters: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the characters of a document with a barrier, and their places in the document.

    If white space wraps a line, a second version follows, with one space in place of such white space.
    """
    barrier = np.array([ord(_BARRIER)], dtype=np.uint32)
    places = np.append(np.arange(len(characters)), len(characters))
    traits = _traits(characters)
    breaks, space = _are(traits, _BREAK), _are(traits, _SPACE)
    if not breaks.any():
        return np.concatenate([characters, barrier]), places
    begins = space & ~np.concatenate([[False], space[:-1]])
    run = np.cumsum(begins)
    is_wrapped = np.zeros(run[-1] + 1, dtype=np.bool_)
    is_wrapped[run[breaks]] = True
    replaced = space & is_wrapped[run]
    kept = ~replaced | begins
    wrapped = np.where(replaced, np.uint32(ord(" ")), characters)[kept]
    return np.concatenate([characters, barrier, wrapped, barrier]), np.concatenate(
        [places, places[:-1][kept], places[-1:]]
    )


def _edges(points: NDArray[np.uint32], traits: NDArray[np.uint16], *, any_character: bool) -> tuple[_Flags, _Flags]:
    """Return which characters may begin a quotation, and before which characters, or the end, it may end."""
    extends, space = _are(traits, _EXTENDING), _are(traits, _SPACE)
    extends[1:] &= ~_are(traits, _SURROGATE)[:-1]
    inside = extends[1:] | ((points[:-1] == 0x0D) & (points[1:] == 0x0A))
    inside |= (points[:-1] == 0x200D) & ~(space | _are(traits, _SURROGATE))[1:]
    starts, ends = ~space, np.append(False, ~space)
    if not any_character:
        traits = traits[
            np.maximum.accumulate(np.where(extends, 0, np.arange(len(points))))
        ]  # marks count as their base
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
    """Return which characters may begin and which may end a quotation, by the rules of punctuation.

    A run of marks opens if white space is before it and a character after it, and closes if a character is before it:
    in `("No," he said) -`, `("` opens, `,"` and `)` close, and `-` does neither.
    """
    mark, blank = _are(traits, _MARK), _are(traits, _SPACE) | _are(traits, _SURROGATE)
    places = np.arange(len(traits))
    before = np.maximum.accumulate(np.where(mark, -1, places))
    behind = np.minimum.accumulate(np.where(mark, len(traits), places)[::-1])[::-1]
    blank = np.append(blank, True)  # also before the first character and after the last
    return ~mark | (blank[before] & ~blank[behind]), ~mark | ~blank[before]


def _next(flags: _Flags) -> NDArray[np.int64]:
    """Return for each place the next one that is marked, `FAR` if there is none."""
    marked = np.where(flags, np.arange(len(flags)), FAR)
    return np.minimum.accumulate(marked[::-1])[::-1]


def _traits(points: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Return the traits of each character: the bits of `_SIZE` count the bytes of its spelling; others are flags."""
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
