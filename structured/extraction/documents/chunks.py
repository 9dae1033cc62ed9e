"""Chunks of a long document: slices that take so many tokens at most, cut where the text has joints.

A text is read once, line by line, as atoms: a line, or where that is long its sentences, words or characters. Chunks
are filled with atoms and cut at the strongest joint of their second half. The last heading above a chunk goes along
with it, and the header of a table that it begins in. All of it are slices of the document, so that what is found in a
chunk is found in the document. Splitters of other libraries were not taken, since they keep neither.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple, get_args

from structured.errors.arguments import check_fields, count, fields, one_of, or_none, says_its_arguments
from structured.results.merging import Prefer


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Chunking:
    """How a document that is too long is read in chunks, and what they say is merged.

    Attributes:
        tokens: The most tokens of a document that the model reads at once, 32 or more. None (the default): what fits
            its context beside the answer, and not more than `max_tokens` of a document that does not fit.
        passes: How often such a document is read, each time with other joints, until a pass finds nothing new.
        merge_by: The fields by which records of a list are told apart, by their paths: `["number"]`. Those with the
            same values there are one record. By default, the fields that the type marks as `Key`, or else where the
            values are in the document.
        prefer: Which of several values counts that chunks state for one field: `"confident"` (the default), that of
            which the model is surest; `"first"`, `"longest"`, or `"vote"`, that which most chunks state.
    """

    tokens: int | None = None
    passes: int = 1
    merge_by: Sequence[str] = ()
    prefer: Prefer = "confident"

    def __post_init__(self) -> None:
        check_fields(self, _CHUNKING_CHECKS)


MIN_CHUNK_TOKENS = 32
"""The fewest tokens of a chunk that a caller may ask for: a sentence has 20 to 30, and eight chunks overlap by one."""

_CHUNKING_CHECKS = {
    "tokens": or_none(
        count(MIN_CHUNK_TOKENS, f"{MIN_CHUNK_TOKENS} or greater, since a smaller chunk holds no sentence")
    ),
    "passes": count(1),
    "merge_by": lambda name, value: tuple(fields(name, value)),
    "prefer": one_of(get_args(Prefer)),
}
"""What each field of a `Chunking` must be."""

DEFAULT_CHUNKING = Chunking()

Span = tuple[int, int]
"""Where something starts and ends in a document, in characters."""

TokenCounter = Callable[[str], int]
"""Returns how many tokens a text takes, at most."""

OVERLAP_DIVISOR = 8
"""A chunk repeats up to this part of its tokens from the one before, unless a heading or a row of a table begins it."""

MAX_OVERLAP_FACTOR = 4
"""It repeats up to so many times that, if the last sentence takes more."""

ATOM_DIVISOR = 8
"""Lines of more than this part of a chunk are cut into sentences, and sentences into words."""

MAX_HEADING_CHARACTERS = 120
"""Characters of a heading that goes along with a chunk, and of the header of a table: what is longer is text."""


class Joint(IntEnum):
    """What begins at a place of a text, from where it is worst to cut to where it is best."""

    CHARACTER = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4
    ROW = 5
    HEADING = 6


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document that is read by itself."""

    body: Span
    context: tuple[Span, ...] = ()
    """What goes along with it, from before it: the last heading, the header of the table."""

    def text(self, document: str) -> str:
        """Return what is read: the context, each piece of it on a line, and the body."""
        return "\n".join(document[slice(*one)] for one in (*self.context, self.body))

    def in_document(self, span: Span) -> Span | None:
        """Return where something stands in the document that stands in the text; None if it is across the joints."""
        start = 0
        for piece in (*self.context, self.body):
            end = start + piece[1] - piece[0]
            if start <= span[0] and span[1] <= end:
                return piece[0] + span[0] - start, piece[0] + span[1] - start
            start = end + 1
        return None


class _Atom(NamedTuple):
    """A piece of a text that is not cut."""

    start: int
    end: int
    joint: Joint
    tokens: int
    context: tuple[Span, ...]


def chunks(document: str, count_tokens: TokenCounter, max_tokens: int, *, span: Span | None = None) -> list[Chunk]:
    """Return the chunks of a document, or of a part of it, in order; all of its text is in one of them.

    Only one character may take more than `max_tokens`, and only a word that does so alone is cut. `count_tokens` is
    called about once for each piece of the text.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; a chunk has 1 or more")
    first, last = span or (0, len(document))
    lines = [
        line._replace(start=max(line.start, first), end=min(line.end, last))
        for line in _lines(document)
        if line.end > first and line.start < last
    ]
    atoms = [atom for line in lines for atom in _atoms(document, line, count_tokens, max_tokens, tuple(_PIECES))]
    tokens_before = [0, *accumulate(atom.tokens for atom in atoms)]
    result: list[Chunk] = []
    start = first_new = 0
    while first_new < len(atoms):
        context = atoms[start].context
        context_tokens = sum(count_tokens(document[slice(*one)]) for one in context)
        if context_tokens > max_tokens // 2 or context_tokens + atoms[start].tokens > max_tokens:
            context, context_tokens = (), 0
        end = bisect_right(tokens_before, tokens_before[start] + max_tokens - context_tokens) - 1
        if end <= first_new and start < first_new:  # what is new does not fit beside so much of what is not
            start = first_new
            continue
        end = max(end, first_new + 1)
        if end < len(atoms):
            half = bisect_right(tokens_before, (tokens_before[start] + tokens_before[end]) // 2)
            joints = range(min(max(half, first_new + 1), end), end + 1)
            end = max(joints, key=lambda place: (atoms[place].joint, place))
        body = (atoms[start].start, atoms[end - 1].end)
        if document[slice(*body)].strip():
            result.append(Chunk(body, context))
        first_new = end
        start = _overlap(atoms, tokens_before, start, end, max_tokens // OVERLAP_DIVISOR) if end < len(atoms) else end
    return result


def _overlap(atoms: Sequence["_Atom"], tokens_before: Sequence[int], start: int, end: int, overlap_tokens: int) -> int:
    """Return where the next chunk starts: some tokens before the joint, unless nothing reaches over it."""
    if atoms[end].joint >= Joint.ROW:
        return end
    latest = max(bisect_left(tokens_before, tokens_before[end] - overlap_tokens), start + 1)
    earliest = max(bisect_left(tokens_before, tokens_before[end] - MAX_OVERLAP_FACTOR * overlap_tokens), start + 1)
    candidates = (*range(latest, end), *range(latest - 1, earliest - 1, -1))
    return next((place for place in candidates if atoms[place].joint >= Joint.SENTENCE), end)


_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCES = re.compile(r"(?:(?![.!?]\s|[。！？]).)*(?:[.!?]+[\"'’”»)\]]*\s+|[。！？]+\s*|$)", re.DOTALL)
_WORDS = re.compile(r"\S+\s?|\s+")
_CHARACTERS = re.compile(r".", re.DOTALL)

_PIECES = {Joint.SENTENCE: _SENTENCES, Joint.WORD: _WORDS, Joint.CHARACTER: _CHARACTERS}
"""What a piece of a text is cut into that has too many tokens, by turns."""


def _atoms(
    document: str, atom: "_Atom", count_tokens: TokenCounter, max_tokens: int, joints: Sequence[Joint]
) -> Iterator["_Atom"]:
    """Yield a piece of a text, in pieces if it has too many tokens; a word only if no chunk holds it.

    A half word at the end of a chunk could be quoted as if it were a whole one.
    """
    text = document[atom.start : atom.end]
    tokens = count_tokens(text)
    longest = max_tokens if joints[:1] == (Joint.CHARACTER,) else max(max_tokens // ATOM_DIVISOR, 1)
    if tokens <= longest or not joints or len(text) == 1:
        yield atom._replace(tokens=tokens)
        return
    joint = atom.joint
    for match in _PIECES[joints[0]].finditer(text):
        if match.group():
            piece = atom._replace(start=atom.start + match.start(), end=atom.start + match.end(), joint=joint)
            yield from _atoms(document, piece, count_tokens, max_tokens, joints[1:])
            joint = joints[0]


def _lines(document: str) -> Iterator[_Atom]:
    """Yield the lines of a document, with what goes along with a chunk that begins there."""
    spans = [match.span() for match in _LINES.finditer(document)]
    texts = [document[start:end].strip() for start, end in spans]
    heading: Span | None = None
    header: Span | None = None
    is_after_break = True
    for number, (span, text) in enumerate(zip(spans, texts, strict=True)):
        joint = Joint.LINE
        is_heading = _is_heading(texts, number)
        if not text:
            joint, header = Joint.CHARACTER, None  # blank lines stay with what is above
        elif is_heading:
            joint, heading, header = Joint.HEADING, _trimmed(document, span), None
        else:
            if number and _is_wrapped(texts[number - 1], text):
                joint = Joint.WORD
            if is_after_break:
                header = _table_header(document, spans, texts, number)
                joint = Joint.PARAGRAPH
            if header is not None and span[0] >= header[1]:
                joint = Joint.ROW
        is_after_break = is_heading or not text
        context = (one for one in (heading, header) if one is not None and one[1] <= span[0])
        yield _Atom(*span, joint, 0, tuple(context))


_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+\S")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_MARKDOWN_TABLE_RULE = re.compile(r"\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?")
_CELL_SEPARATORS = {"\t": 1, "|": 1, ";": 2, ",": 2}
"""What stands between the cells of a row, and how often at least."""

MIN_WRAPPED_CHARACTERS = 60
"""Characters of a line, above which it hardly ends with its sentence if it ends with a letter or digit."""

MIN_TABLE_LINES = 3
"""Lines with as many separators each that are a table, the header included."""


def _is_wrapped(above: str, text: str) -> bool:
    """Tell whether a line goes on with the sentence of the one above."""
    return bool(above) and (text[0].islower() or (len(above) >= MIN_WRAPPED_CHARACTERS and above[-1].isalnum()))


def _is_heading(texts: Sequence[str], number: int) -> bool:
    """Tell whether a line is a heading: marked or underlined as in Markdown, or in capitals between blank lines."""
    text = texts[number]
    if not text or len(text) > MAX_HEADING_CHARACTERS:
        return False
    below = texts[number + 1] if number + 1 < len(texts) else ""
    is_alone = number == 0 or not texts[number - 1]
    if _MARKDOWN_HEADING.match(text) or (is_alone and _UNDERLINE.fullmatch(below) and not _UNDERLINE.fullmatch(text)):
        return True
    return is_alone and not below and text.isupper() and not any(map(str.isdigit, text)) and len(text.split()) > 1


def _table_header(document: str, spans: Sequence[Span], texts: Sequence[str], number: int) -> Span | None:
    """Return the header of the table that begins at a line; None if none does."""
    block = texts[number : number + MIN_TABLE_LINES]
    if len(block[0]) > MAX_HEADING_CHARACTERS or len(block) < 2:
        return None
    if "|" in block[0] and _MARKDOWN_TABLE_RULE.fullmatch(block[1]):
        return spans[number][0], _trimmed(document, spans[number + 1])[1]
    if len(block) < MIN_TABLE_LINES or any(map(str.isdigit, block[0])):
        return None
    for mark, least in _CELL_SEPARATORS.items():
        if least <= block[0].count(mark) == block[1].count(mark) == block[2].count(mark):
            return _trimmed(document, spans[number])
    return None


def _trimmed(document: str, span: Span) -> Span:
    """Return where a line stands without the whitespace at its end."""
    return span[0], span[0] + len(document[slice(*span)].rstrip())
