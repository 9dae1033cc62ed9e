"""Indexed documents, and the quotations in them that follow a rule.

A document is indexed once: as the bytes of its JSON spelling, with a suffix array of the places where a quotation may
begin. A *place* is an index of these bytes. The bytes read of a quotation are an interval of that array and a depth;
see `loops/quoting.py`. A rule, such as a pattern that quotations have to match, is an automaton over characters. It
adds, for each place and each of the rule's states, the bytes to the nearest allowed end of a quotation.
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
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import smallest_automaton
from structured.automata.dfa.products import Intersection
from structured.automata.loops.quoting import measure_ends, suffix_array
from structured.automata.opcodes import BARRIER, FAR, UNLIMITED
from structured.errors import PatternError
from structured.regex import Pattern, Quotation, concat, repeat
from structured.regex.syntax import ANY_CHARACTER, ANY_TEXT

_Flags = NDArray[np.bool_]
_Numbers = NDArray[np.int32]
_CodePoints = NDArray[np.uint32]
_Traits = NDArray[np.uint16]

_BARRIER = "\ud800"
"""A separator that no quotation crosses: a lone surrogate, which no UTF-8 text has."""

_LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"

_JOINERS = "\u200c\u200d"
"""Characters that belong to the character before them, although they are not marks (Unicode Annex 29)."""

_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KHMER", "LAO", "MYANMAR", "THAI", "TIBETAN"})
"""Scripts without spaces between words, by the first word of their characters' names."""

_SPELLED_BYTES, _SURROGATE, _BREAK, _SPACE, _COMBINING = 7, 8, 16, 32, 64
_WORD, _PUNCTUATION, _DIGIT, _NUMBER_MARK = 128, 256, 512, 1024
"""The traits of a character, as bits: the bytes of its spelling in JSON (three bits); whether it is a lone surrogate,
breaks a line, is white space, belongs to the character before it; is one of a word in a script that writes spaces
between words, is a punctuation mark, is a digit, may be inside of a number."""

_SYMBOLS = frozenset("%‰‱&@#*§¶†‡/\\_")
"""Punctuation of Unicode that has a meaning of its own, and may begin or end a quotation."""

_NUMBER_MARKS = frozenset(".,'’")
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
        self.code_points, self._source_indices = _with_unwrapped(characters)
        code_points = self.code_points
        traits = _traits(code_points)
        self._may_start, self._may_end = _boundaries(code_points, traits, any_character=any_character)
        sizes = (traits & _SPELLED_BYTES).astype(np.int64)
        self.character_starts: _Numbers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        """The place of the first byte of each character, and at the end the number of bytes."""
        character_of_byte = np.repeat(np.arange(len(code_points)), sizes)
        self.character_of_byte: _Numbers = np.append(character_of_byte, len(code_points)).astype(np.int32)
        """The index of the character that each byte belongs to, and at the end the number of characters."""
        spelled = json.dumps(_string_of(code_points), ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
        self.text: NDArray[np.uint8] = np.frombuffer(spelled, dtype=np.uint8).copy()
        """The bytes of both versions of the document as JSON spells them; no quotation continues at a `BARRIER`."""
        is_barrier = _have(traits, _SURROGATE)
        if absent:
            is_absent = np.isin(self.text, np.array(sorted(absent), dtype=np.uint8))
            is_barrier |= np.bincount(character_of_byte[is_absent], minlength=len(code_points)).astype(np.bool_)
        self._may_start &= ~is_barrier
        self._may_end[1:] &= ~is_barrier
        self.text[is_barrier[character_of_byte]] = BARRIER
        self._quotations: dict[tuple[object, ...], tuple[_Rule, Quotation | None]] = {}
        self._restricted: dict[frozenset[int], IndexedDocument] = {}

    def __repr__(self) -> str:
        return f"IndexedDocument({len(self.document):,} characters)"

    @cached_property
    def suffixes(self) -> _Numbers:
        """The places in `text` where quotations may begin, sorted by the bytes from there on."""
        may_start = np.zeros(len(self.text) + 1, dtype=np.bool_)
        may_start[self.character_starts[:-1][self._may_start]] = True
        order = suffix_array(self.text)
        return order[may_start[order]]

    @cached_property
    def end_distances(self) -> _Numbers:
        """The bytes from each place of `text` to the nearest end of a quotation; `FAR` if there is none."""
        places = np.arange(len(self.text) + 1)
        ends = _next_marked(np.isin(places, self.character_starts[self._may_end], assume_unique=True))
        return np.where(ends <= self.next_barriers, ends - places, FAR).astype(np.int32)

    @cached_property
    def next_barriers(self) -> NDArray[np.int64]:
        """The next place after each that no quotation may cross."""
        return _next_marked(np.append(self.text == BARRIER, True))

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
        versions = (0, size), (size + 1, len(self.code_points) - 1)  # the second may be missing
        for span, _ in groupby(heapq.merge(*(self._find(quoted, first, end) for first, end in versions))):
            yield span

    def _find(self, quoted: str, first: int, end: int) -> Iterator[tuple[int, int]]:
        index = self._versions_text.find(quoted, first, end) if quoted else -1
        while index >= 0:
            quoted_end = index + len(quoted)
            if self._may_start[index] and self._may_end[quoted_end]:
                yield int(self._source_indices[index]), int(self._source_indices[quoted_end - 1]) + 1
            index = self._versions_text.find(quoted, index + 1, end)

    @cached_property
    def _versions_text(self) -> str:
        """Both versions of the document, one after the other."""
        return _string_of(self.code_points)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule of quotations: the patterns that they must match and must not match, and the number of characters."""

    included: tuple[Pattern, ...]
    excluded: tuple[Pattern, ...]
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Quotations:
    """The quotations of a document that follow a rule, as arrays for a program. Without a rule there is one state."""

    document: IndexedDocument
    rule: _Rule
    suffixes: _Numbers
    """The places where they begin, sorted by the bytes from there on."""
    end_distances: _Numbers
    """For each state of the rule, the bytes from each place to the nearest end, whatever the number of characters."""
    classes: _Numbers
    """For each place, the class of the character that ends with its byte, -1 if none does; empty without a rule."""
    transitions: _Numbers
    """The transitions of the rule: for each state, its successor on each class of characters; empty without a rule."""
    class_count: int
    min_characters: int
    """The fewest characters of a quotation; 0 if the states of the rule count them."""
    max_characters: int

    def __str__(self) -> str:
        return f"quotation of {len(self.document.document):,} characters"

    @property
    def shortest(self) -> int:
        """The bytes of the shortest quotation."""
        ends, _ = _first_ends(self.document, self.suffixes, self.end_distances, self.min_characters)
        return int((ends - self.suffixes).min())

    def without_bytes(self, absent: frozenset[int]) -> "Quotations | None":
        """Return the quotations without some bytes, None if there are none."""
        document = self.document.without_bytes(absent)
        return self if document is self.document else _quotations(document, self.rule)


def _quotations(document: IndexedDocument, rule: _Rule) -> Quotations | None:
    no_numbers = np.zeros(0, dtype=np.int32)
    minimum, class_count = rule.minimum, 0
    end_distances, classes, transitions = document.end_distances, no_numbers, no_numbers
    if rule.included or rule.excluded:
        arrays = _rule_arrays(document, rule)
        if arrays is None:
            return None
        minimum, class_count = 0, arrays[2].shape[1]
        end_distances, classes, transitions = (array.reshape(-1) for array in arrays)
    suffixes, character_of_byte = document.suffixes, document.character_of_byte
    if minimum:
        end_character = character_of_byte[suffixes] + minimum
        first_end = document.character_starts[np.minimum(end_character, len(document.character_starts) - 1)]
        has_room = end_character < len(document.character_starts)
        suffixes = suffixes[has_room & (first_end <= document.next_barriers[suffixes])]
    ends, has_end = _first_ends(document, suffixes, end_distances, minimum)
    if rule.maximum is not None:
        has_end &= character_of_byte[np.where(has_end, ends, 0)] - character_of_byte[suffixes] <= rule.maximum
    suffixes = suffixes[has_end]
    if not len(suffixes):
        return None
    maximum = UNLIMITED if rule.maximum is None else min(rule.maximum, len(document.document))
    return Quotations(document, rule, suffixes, end_distances, classes, transitions, class_count, minimum, maximum)


def _first_ends(
    document: IndexedDocument, suffixes: _Numbers, end_distances: _Numbers, min_characters: int
) -> tuple[NDArray[np.int64], _Flags]:
    """Return the place of the nearest end after each suffix, and whether there is one."""
    places = suffixes
    if min_characters:
        places = document.character_starts[document.character_of_byte[suffixes] + min_characters]
    distances = end_distances[places].astype(np.int64)
    return places + distances, distances < FAR


def _rule_arrays(document: IndexedDocument, rule: _Rule) -> tuple[_Numbers, _Numbers, _Numbers] | None:
    """Return `end_distances`, `classes` and `transitions` of `Quotations`, by state; None if no text follows the rule.

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
    transitions = np.full((states, len(cuts) + 1), DEAD, dtype=np.int32)
    for state, arcs in enumerate(automaton.arcs):
        for low, high, target in arcs:
            transitions[state + 1, np.searchsorted(cuts, low) + 1 : np.searchsorted(cuts, high + 1) + 1] = target + 1
    transitions[0] = transitions[1]
    accepting = np.zeros(states, dtype=np.bool_)
    accepting[[state + 1 for state in automaton.accepting]] = True
    classes = np.full(len(document.text), -1, dtype=np.int32)
    classes[document.character_starts[1:] - 1] = np.searchsorted(cuts, document.code_points, side="right")
    end_distances = np.empty((states, len(document.text) + 1), dtype=np.int32)
    measure_ends(document.text, document.end_distances, classes, transitions, accepting, end_distances)
    return end_distances, classes, transitions


def _with_unwrapped(characters: _CodePoints) -> tuple[_CodePoints, NDArray[np.int64]]:
    """Return the characters of a document with a barrier, and the index in the document of each.

    If white space wraps a line, a second version follows, with one space in place of such white space: `one ⏎ two` →
    `one ⏎ two|one two|`.
    """
    barrier = np.array([ord(_BARRIER)], dtype=np.uint32)
    indices = np.arange(len(characters) + 1)
    traits = _traits(characters)
    breaks, space = _have(traits, _BREAK), _have(traits, _SPACE)
    if not breaks.any():
        return np.concatenate([characters, barrier]), indices
    starts_run = space & ~np.concatenate([[False], space[:-1]])
    run = np.cumsum(starts_run)
    wraps_line = np.zeros(run[-1] + 1, dtype=np.bool_)
    wraps_line[run[breaks]] = True
    is_replaced = space & wraps_line[run]
    is_kept = ~is_replaced | starts_run
    unwrapped = np.where(is_replaced, np.uint32(ord(" ")), characters)[is_kept]
    both_versions = np.concatenate([characters, barrier, unwrapped, barrier])
    return both_versions, np.concatenate([indices, indices[:-1][is_kept], indices[-1:]])


def _boundaries(code_points: _CodePoints, traits: _Traits, *, any_character: bool) -> tuple[_Flags, _Flags]:
    """Return which characters may begin a quotation, and before which characters, or the end, it may end."""
    extends, space = _have(traits, _COMBINING), _have(traits, _SPACE)
    extends[1:] &= ~_have(traits, _SURROGATE)[:-1]
    is_joined = extends[1:] | ((code_points[:-1] == 0x0D) & (code_points[1:] == 0x0A))
    is_joined |= (code_points[:-1] == 0x200D) & ~(space | _have(traits, _SURROGATE))[1:]
    starts, ends = ~space, np.append(False, ~space)
    if not any_character:
        base = np.maximum.accumulate(np.where(extends, 0, np.arange(len(code_points))))
        traits = traits[base]
        word, digit, point = _have(traits, _WORD), _have(traits, _DIGIT), _have(traits, _NUMBER_MARK)
        is_joined |= word[:-1] & word[1:]
        in_number = digit[:-2] & point[1:-1] & digit[2:]
        is_joined[:-1] |= in_number
        is_joined[1:] |= in_number
        may_open, may_close = _punctuation_roles(traits)
        starts &= may_open
        ends[1:] &= may_close
    starts[1:] &= ~is_joined
    ends[1:-1] &= ~is_joined
    return starts, ends


def _punctuation_roles(traits: _Traits) -> tuple[_Flags, _Flags]:
    """Return which characters may begin and which may end a quotation, by the rules of punctuation.

    A run of marks opens if white space is before it and a character after it, and closes if a character is before it:
    in `("No," he said) -`, `("` opens, `,"` and `)` close, and `-` does neither.
    """
    mark, blank = _have(traits, _PUNCTUATION), _have(traits, _SPACE) | _have(traits, _SURROGATE)
    indices = np.arange(len(traits))
    before = np.maximum.accumulate(np.where(mark, -1, indices))
    after = np.minimum.accumulate(np.where(mark, len(traits), indices)[::-1])[::-1]
    blank = np.append(blank, True)  # also before the first character and after the last
    return ~mark | (blank[before] & ~blank[after]), ~mark | ~blank[before]


def _next_marked(flags: _Flags) -> NDArray[np.int64]:
    """Return for each index the next one whose flag is set, `FAR` if there is none: `[0, 1, 0, 1]` → `[1, 1, 3, 3]`."""
    marked = np.where(flags, np.arange(len(flags)), FAR)
    return np.minimum.accumulate(marked[::-1])[::-1]


def _traits(code_points: _CodePoints) -> _Traits:
    """Return the traits of each character as bits."""
    table = np.zeros(int(code_points.max(initial=0)) + 1, dtype=np.uint16)
    distinct = np.flatnonzero(np.bincount(code_points, minlength=1))
    table[distinct] = [_traits_of(chr(point)) for point in distinct.tolist()]
    return table[code_points]


def _have(traits: _Traits, flag: int) -> _Flags:
    return (traits & np.uint16(flag)).astype(np.bool_)


def _string_of(code_points: _CodePoints) -> str:
    return code_points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


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
        | is_extending * _COMBINING
        | is_word * _WORD
        | (category.startswith("P") and character not in _SYMBOLS) * _PUNCTUATION
        | (category == "Nd") * _DIGIT
        | (character in _NUMBER_MARKS) * _NUMBER_MARK
    )
