"""The syntax tree of a regular expression over Unicode characters.

Six kinds of node, made by functions that keep every tree non-empty (some text matches it) and flat: `literal`, `words`,
`char_set`, `concat`, `alternation`, `repeat`. Three more, `Members`, `Unlike` and `Scan`, say in linear space what
JSON objects and strings need and what would otherwise take a square or more. `Reference` lets a pattern contain itself,
which takes it beyond regular expressions. `Boundary` and `Lookahead` match no character but say something of their
neighbourhood: they come from the patterns that people write, and `automata/dfa/` takes them out before anything follows
the tree. `str(node)` is the same language as a Python `re` pattern, where there is one; escaping for that happens here
and nowhere else. Lone surrogates are not characters: no node matches one, and no UTF-8 text has one.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal as TypingLiteral
from typing import TypeAlias

from structured.errors import PatternError
from structured.errors.recursion import deep

Range = tuple[int, int]
"""Code points, both ends included."""

BoundaryKind = TypingLiteral["start", "end", "word", "within", "opening"]
_BOUNDARIES = {"start": r"\A", "end": r"\Z", "word": r"\b", "within": r"\B", "opening": r'(?<=(?<!\\)")'}

MAX_CODE_POINT = 0x10FFFF
_SURROGATES: Range = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text. The empty text is allowed."""

    text: str

    def __str__(self) -> str:
        return "".join(_escape(ord(character), _SPECIAL) for character in self.text)


@dataclass(frozen=True, slots=True)
class Words:
    """One of these texts, of which there are two or more, each once."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        return "|".join(str(Literal(text)) for text in self.texts)


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character out of sorted, disjoint ranges of code points."""

    ranges: tuple[Range, ...]

    def __str__(self) -> str:
        return f"[{''.join(_range_text(low, high) for low, high in self.ranges)}]"


Pieces: TypeAlias = "tuple[str | Pattern, ...]"
"""A text, with patterns in it that are still to be printed."""


Arcs: TypeAlias = tuple[tuple[tuple[int, int, int], ...], ...]
"""For each state of an automaton over characters: first character, last character, state that they lead to."""


class _Composite:
    """A node that is made of others."""

    __slots__ = ()

    def pieces(self) -> Pieces:
        """Return what is printed."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "".join(_printed(self))


@dataclass(frozen=True, slots=True)
class Concat(_Composite):
    """Its parts, one after the other."""

    parts: "tuple[Pattern, ...]"

    def pieces(self) -> Pieces:
        """Return the parts."""
        return tuple(piece for part in self.parts for piece in _grouped(part))


@dataclass(frozen=True, slots=True)
class Alternation(_Composite):
    """Any one of its options."""

    options: "tuple[Pattern, ...]"

    def pieces(self) -> Pieces:
        """Return the options with a bar between each two."""
        return tuple(piece for option in self.options for piece in ("|", option))[1:]


@dataclass(frozen=True, slots=True)
class Repeat(_Composite):
    """Its item, `minimum` to `maximum` times; no upper limit where `maximum` is None."""

    item: "Pattern"
    minimum: int
    maximum: int | None

    def pieces(self) -> Pieces:
        """Return the item with its quantifier."""
        one_character = isinstance(self.item, CharSet) or (isinstance(self.item, Literal) and len(self.item.text) == 1)
        item: Pieces = (self.item,) if one_character else ("(?:", self.item, ")")
        return *item, _quantifier(self.minimum, self.maximum)


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The pattern that goes by a name, so that a pattern may contain itself.

    `definitions` may be filled after the reference is made, before anything follows it.
    """

    name: str
    definitions: "Mapping[str, Pattern]" = field(repr=False)

    @property
    def target(self) -> "Pattern":
        """The pattern of this name."""
        return self.definitions[self.name]

    def __str__(self) -> str:
        return f"(?&{self.name})"  # as in PCRE; Python's `re` has no word for it


@dataclass(frozen=True, slots=True)
class Unlike:
    """The inside of a JSON string, spelled as `json.dumps` spells it, that is none of these texts, spelled likewise."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        excluded = f'(?!(?:{Words(self.texts)})")' if self.texts else ""
        return f"{excluded}(?:{CharSet(UNESCAPED_RANGES)}|{Words(PLAIN_ESCAPES)})*"


@dataclass(frozen=True, slots=True)
class Members(_Composite):
    """Some of its members, one or more, in their order, with the separator between any two that are written.

    `members` are pairs of a pattern and whether it must be written; `rest` may follow them, again and again. All begin
    with a quotation mark, and what follows the last does not: that is what keeps the printed pattern linear. Where they
    are not `in_order`, they are a permutation phrase (Cameron, "Extending context-free grammars with permutation
    phrases", 1993): each is written once at most, anywhere, and `rest` between any two. No text matches two of them.
    """

    members: "tuple[tuple[Pattern, bool], ...]"
    separator: "Pattern"
    rest: "Pattern | None" = None
    in_order: bool = True

    def pieces(self) -> Pieces:
        """Return each member with a separator if another follows."""
        if not self.in_order:
            return (f"(?&{len(self.members)} members in any order)",)
        between = ("(?:", *_grouped(self.separator), '(?=")|(?!"))')
        shown: list[str | Pattern] = ['(?=")']
        for member, required in self.members:
            written = *_grouped(member), *between
            shown += written if required else ("(?:", *written, ")?")
        if self.rest is not None:
            shown += ("(?:", *_grouped(self.rest), *between, ")*")
        return tuple(shown)


@dataclass(frozen=True, slots=True)
class Boundary:
    """No character: the `start` or the `end` of the text, or where a `word` begins or ends, or `within` one or none.

    `opening` is the start of a text that stands in a JSON string, behind the quotation mark.
    `word_characters` are those that words consist of.
    """

    kind: BoundaryKind
    word_characters: tuple[Range, ...] = ()

    def __str__(self) -> str:
        return _BOUNDARIES[self.kind]


@dataclass(frozen=True, slots=True)
class Lookahead(_Composite):
    """No character: what follows begins with a match of a pattern or, `negated`, does not."""

    pattern: "Pattern"
    negated: bool = False

    def pieces(self) -> Pieces:
        """Return the pattern in parentheses."""
        return "(?!" if self.negated else "(?=", self.pattern, ")"


@dataclass(frozen=True, slots=True, eq=False)
class Scan(_Composite):
    """The inside of a JSON string of at most `most` characters that a deterministic automaton accepts.

    `arcs[state]` are triples of the first and the last character and the state that they lead to; `accepting` are the
    states in which the text may end, and from every state one of them can be reached. State 0 is the start. The
    spelling is that of `json.dumps`. The text is every one of `included` and none of `excluded`, which are spelled
    likewise; that, and the quotation mark that follows, is what the printed pattern says. Where there are none, the
    text may as well be a number, and the printed pattern is the `expression` of the automaton.
    """

    arcs: "Arcs"
    accepting: frozenset[int]
    most: int | None
    included: "tuple[Pattern, ...]" = field(repr=False, default=())
    excluded: "tuple[Pattern, ...]" = field(repr=False, default=())
    eliminate: "Callable[[Arcs, frozenset[int]], Pattern | None] | None" = field(repr=False, default=None)
    """What makes a regular expression of the automaton, when it is printed."""

    def pieces(self) -> Pieces:
        """Return what the text has to be and must not be, and its length; or the expression of the automaton."""
        if not self.included and not self.excluded:
            expression = self.expression
            return (f"(?&automaton of {len(self.arcs)} states)" if expression is None else expression,)
        ahead = [piece for pattern in self.included for piece in ("(?=", *_grouped(pattern), '")')]
        ahead += [piece for pattern in self.excluded for piece in ("(?!", *_grouped(pattern), '")')]
        return *ahead, f"(?:{CharSet(UNESCAPED_RANGES)}|{Words(PLAIN_ESCAPES)}){_quantifier(0, self.most)}"

    @property
    def expression(self) -> str | None:
        """The automaton as a regular expression of a text that no character of it follows; None if that is too long."""
        found = None if self.eliminate is None else self.eliminate(self.arcs, self.accepting)
        if found is None or self.most is None:
            return None if found is None else "".join(map(str, _grouped(found)))
        character = CharSet(normalise((low, high) for arcs in self.arcs for low, high, _ in arcs))
        return f"(?={character}{{0,{self.most}}}(?!{character})){''.join(map(str, _grouped(found)))}"


Pattern = (
    Literal
    | Words
    | CharSet
    | Concat
    | Alternation
    | Repeat
    | Reference
    | Unlike
    | Members
    | Boundary
    | Lookahead
    | Scan
)

EMPTY = Literal("")


def literal(text: str) -> Literal:
    """Return the pattern of exactly this text."""
    _reject_surrogates(text)
    return Literal(text)


def words(texts: Iterable[str]) -> Pattern:
    """Return the pattern of any of these texts."""
    distinct = tuple(dict.fromkeys(texts))
    if not distinct:
        raise PatternError("A choice of no words matches nothing", pattern="", remedy="Give at least one.")
    _reject_surrogates("".join(distinct))
    return Literal(distinct[0]) if len(distinct) == 1 else Words(distinct)


def char_set(*ranges: Range, negated: bool = False) -> CharSet:
    """Return one character inside (`negated`: outside) the ranges, less the surrogates.

    `char_set((97, 101), (100, 105))` → `[a-i]`
    """
    included = complement(ranges) if negated else ranges
    kept = normalise(included)
    if not kept:
        raise PatternError(
            "An empty set of characters matches nothing", pattern="[]", remedy="Name at least one character."
        )
    return CharSet(kept)


def chars(text: str) -> CharSet:
    """Return one of the characters of `text`."""
    return char_set(*((ord(character), ord(character)) for character in text))


MAX_FLATTENED = 256
"""Parts of a concatenation that are written out in a longer one, which may be done again and again with the same."""

MAX_JOINED = 4096
"""Characters of neighbouring literals that become one, which may be done as often."""


def concat(*parts: Pattern) -> Pattern:
    """Return the parts one after the other, nested concatenations flattened and neighbouring literals joined."""
    flat: list[Pattern] = []
    for part in parts:
        for piece in part.parts if type(part) is Concat and len(part.parts) <= MAX_FLATTENED else (part,):
            if type(piece) is not Literal:
                flat.append(piece)
            elif flat and type(flat[-1]) is Literal and len(flat[-1].text) + len(piece.text) <= MAX_JOINED:
                flat[-1] = Literal(flat[-1].text + piece.text)
            elif piece.text:
                flat.append(piece)
    if not flat:
        return EMPTY
    return flat[0] if len(flat) == 1 else Concat(tuple(flat))


def alternation(*options: Pattern) -> Pattern:
    """Return any of the options, nested alternations flattened, texts gathered and repeated ones dropped.

    Texts and sets are compared by what they match, other nodes by identity: comparing trees that share parts could take
    exponential time.
    """
    if not options:
        raise PatternError("An alternation of nothing matches nothing", pattern="", remedy="Give at least one option.")
    texts: dict[str, None] = {}
    flat: dict[object, Pattern] = {}
    for option in options:
        for piece in option.options if isinstance(option, Alternation) else (option,):
            if isinstance(piece, Literal | Words):
                flat.setdefault(Words, EMPTY)  # the place of all texts is that of the first
                texts.update(dict.fromkeys(piece.texts if isinstance(piece, Words) else (piece.text,)))
            else:
                flat.setdefault(piece if isinstance(piece, CharSet) else id(piece), piece)
    if texts:
        flat[Words] = words(texts)
    pieces = tuple(flat.values())
    return pieces[0] if len(pieces) == 1 else Alternation(pieces)


def repeat(item: Pattern, minimum: int, maximum: int | None) -> Pattern:
    """Return the item `minimum` to `maximum` times (None: without limit)."""
    if minimum < 0 or (maximum is not None and maximum < minimum):
        raise PatternError(
            f"No count lies between {minimum} and {maximum}",
            pattern=f"{excerpt(item)}{{{minimum},{maximum}}}",
            remedy="Give a minimum of at least 0 that is no greater than the maximum.",
        )
    if maximum == 0 or item == EMPTY:
        return EMPTY
    return item if minimum == maximum == 1 else Repeat(item, minimum, maximum)


def optional(item: Pattern) -> Pattern:
    """Return the item or nothing."""
    return repeat(item, 0, 1)


def nodes_of(pattern: Pattern) -> list[Pattern]:
    """Return a pattern and every node below it, those behind references too, each once."""
    found: dict[int, Pattern] = {}
    open_ends = [pattern]
    while open_ends:
        node = open_ends.pop()
        if id(node) not in found:
            found[id(node)] = node
            open_ends.extend(parts_of(node))
    return list(found.values())


def productive_nodes(pattern: Pattern) -> set[int]:
    """Return the identities of the nodes that some text matches: none does where a pattern has to contain itself."""
    nodes = nodes_of(pattern)[::-1]  # those below a node before it, except where a reference leads back
    productive: set[int] = set()
    found = -1
    while found < len(productive):
        found = len(productive)
        for node in nodes:
            if id(node) not in productive and _ends(node, productive):
                productive.add(id(node))
    return productive


Endings = dict[int, tuple[Pattern, bool]]
"""Nodes by their identity, with what `ends_alone` says of each."""


@deep
def ends_alone(pattern: Pattern, known: Endings) -> bool:
    """Tell whether some text matches a pattern and nothing in it has to be referred to; what is found is kept."""
    if id(pattern) not in known:
        parts = [] if isinstance(pattern, Reference) else parts_of(pattern)
        ended = {id(part) for part in parts if ends_alone(part, known)}
        known[id(pattern)] = pattern, not isinstance(pattern, Reference) and _ends(pattern, ended)
    return known[id(pattern)][1]


def _ends(node: Pattern, productive: set[int]) -> bool:
    """Tell whether a text matches a node, given the nodes below of which that is known."""
    if isinstance(node, Repeat) and node.minimum == 0:
        return True
    if isinstance(node, Members):
        written = [member for member, required in node.members if required]
        written = written or [member for member, _ in node.members] + ([node.rest] if node.rest else [])
        ended = [id(member) in productive for member in written]
        return all(ended) if any(required for _, required in node.members) else any(ended)
    ended = [id(part) in productive for part in parts_of(node)]
    return any(ended) if isinstance(node, Alternation) else all(ended)


def parts_of(node: Pattern) -> tuple[Pattern, ...]:
    """Return the nodes that a node is made of; of a reference, what it refers to."""
    match node:
        case Concat(parts):
            return parts
        case Alternation(options):
            return options
        case Repeat(item):
            return (item,)
        case Reference():
            return (node.target,)
        case Lookahead(inside):
            return (inside,)
        case Members(members, separator, rest):
            return (*(member for member, _ in members), separator, *([] if rest is None else [rest]))
        case _:
            return ()


def normalise(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return the same code points, less the surrogates, as sorted ranges that neither overlap nor touch."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if low > high:
            continue
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(piece for low, high in merged for piece in _without_surrogates(low, high))


def complement(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return the characters that lie in none of the ranges."""
    gaps: list[Range] = []
    low = 0
    for start, end in normalise(ranges):
        gaps.append((low, start - 1))
        low = end + 1
    gaps.append((low, MAX_CODE_POINT))
    return normalise(gaps)


def _reject_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PatternError(
            "A lone surrogate is not a character",
            pattern=text[error.start : error.end].encode("unicode_escape").decode(),
            remedy="Remove it: no UTF-8 text can hold it.",
        ) from error


def _without_surrogates(low: int, high: int) -> list[Range]:
    below, above = (low, min(high, _SURROGATES[0] - 1)), (max(low, _SURROGATES[1] + 1), high)
    return [piece for piece in (below, above) if piece[0] <= piece[1]]


MAX_PRINTED = 200_000, 20_000_000
"""Pieces and characters of the longest regular expression that is printed."""


def printed(pattern: Pattern) -> str | None:
    """Return the text of a pattern; None if it is too long, as it can be where nodes are shared."""
    found: list[str] = []
    pieces, characters = MAX_PRINTED
    for text in _printed(pattern):
        found.append(text)
        characters -= len(text)
        if len(found) > pieces or characters < 0:
            return None
    return "".join(found)


def excerpt(pattern: Pattern, most: int = 10_000) -> str:
    """Return the text of a pattern up to so many characters; one that shares nodes may have very many.

    `literal("abc")`, `2` → `ab…`
    """
    found, length = [], 0
    for text in _printed(pattern):
        found.append(text[: most - length])
        length += len(text)
        if length > most:
            return "".join((*found, "…"))
    return "".join(found)


def _printed(pattern: Pattern | _Composite) -> Iterator[str]:
    """Yield the text of a pattern piece by piece."""
    left: list[str | Pattern | _Composite] = [pattern]
    while left:
        piece = left.pop()
        if isinstance(piece, _Composite):
            left += piece.pieces()[::-1]
        else:
            yield str(piece)


def _grouped(pattern: Pattern) -> Pieces:
    return ("(?:", pattern, ")") if isinstance(pattern, Alternation | Words) else (pattern,)


def _quantifier(minimum: int, maximum: int | None) -> str:
    match (minimum, maximum):
        case (0, None):
            return "*"
        case (1, None):
            return "+"
        case (0, 1):
            return "?"
        case (_, None):
            return f"{{{minimum},}}"
        case _:
            return f"{{{minimum}}}" if minimum == maximum else f"{{{minimum},{maximum}}}"


ANY_CHARACTER = CharSet(normalise([(0, MAX_CODE_POINT)]))
ANY_TEXT = repeat(ANY_CHARACTER, 0, None)
"""Any text: the same node everywhere, so that it is known for what it is."""

UNESCAPED_RANGES: tuple[Range, ...] = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF))
"""The characters that stand for themselves inside a JSON string (RFC 8259 §7), less the surrogates."""

PLAIN_ESCAPES = tuple(
    escape for character in ('"', "\\", *map(chr, range(0x20))) for escape in [json.dumps(character)[1:-1]]
)
"""How `json.dumps` spells the others: the short escapes, and `\\u00` with small digits."""

_SPECIAL = frozenset(map(ord, r"\.^$*+?{}[]|()"))
_SPECIAL_IN_SET = frozenset(map(ord, r"\]^-[&~|"))


def _range_text(low: int, high: int) -> str:
    first, last = _escape(low, _SPECIAL_IN_SET), _escape(high, _SPECIAL_IN_SET)
    if low == high:
        return first
    return f"{first}{last}" if high == low + 1 else f"{first}-{last}"


def _escape(code_point: int, special: frozenset[int]) -> str:
    """Return the character as `re` reads it: as itself where that is safe to print, otherwise escaped."""
    if code_point in special:
        return f"\\{chr(code_point)}"
    if 0x20 <= code_point < 0x7F or (code_point >= 0xA0 and chr(code_point).isprintable()):
        return chr(code_point)
    if code_point < 0x100:
        return f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
