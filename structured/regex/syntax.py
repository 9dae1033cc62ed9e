"""The syntax tree of a regular expression over Unicode characters.

Functions make six kinds of node and keep every tree flat: `literal`, `words`, `char_set`, `concat`, `alternation`,
`repeat`. Some text matches each, unless it contains a condition, such as `NOTHING`. Four more, `ObjectMembers`,
`Unlike`, `AutomatonPattern` and `Quotation`, describe JSON objects and strings in linear space, where the six would
need quadratic space or more. `Reference` lets a pattern contain itself, and `Distinct` compares items with earlier
ones; both go beyond regular languages. `Anchor`, `Lookahead` and `Lookbehind` are conditions that match no character:
they come from patterns that people write, and `automata/dfa/` eliminates them before an automaton is built. `str(node)`
is the same language as a Python `re` pattern, where there is one. Lone surrogates are not characters: no node matches
one, and no UTF-8 text has one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal as TypingLiteral
from typing import Protocol, TypeAlias

from structured.errors import PatternError
from structured.regex.character_sets import PLAIN_ESCAPES, UNESCAPED_RANGES, Range, complement, normalise
from structured.regex.printing import Composite, Pieces, escape, excerpt, quantifier, range_text

AnchorKind = TypingLiteral["start", "end", "word_boundary", "not_word_boundary", "string_start"]

_ANCHORS = {
    "start": r"\A",
    "end": r"\Z",
    "word_boundary": r"\b",
    "not_word_boundary": r"\B",
    "string_start": r'(?<=(?<!\\)")',
}


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly one text, which may be empty."""

    text: str

    def __str__(self) -> str:
        return "".join(escape(ord(character)) for character in self.text)


@dataclass(frozen=True, slots=True)
class Words:
    """One of two or more different texts."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        return "|".join(str(Literal(text)) for text in self.texts)


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character from sorted, disjoint ranges of code points."""

    ranges: tuple[Range, ...]

    def __str__(self) -> str:
        return f"[{''.join(range_text(low, high) for low, high in self.ranges)}]"


Arcs: TypeAlias = tuple[tuple[tuple[int, int, int], ...], ...]
"""The arcs of each state of an automaton over characters: first character, last character, successor."""


@dataclass(frozen=True, slots=True)
class Concat(Composite):
    """A sequence of parts."""

    parts: "tuple[Pattern, ...]"

    def pieces(self) -> Pieces:
        """Return the parts."""
        return tuple(piece for part in self.parts for piece in _grouped(part))


@dataclass(frozen=True, slots=True)
class Alternation(Composite):
    """Any of its options."""

    options: "tuple[Pattern, ...]"

    def pieces(self) -> Pieces:
        """Return the options with a bar between each two."""
        return tuple(piece for option in self.options for piece in ("|", option))[1:]


@dataclass(frozen=True, slots=True)
class Iteration(Composite):
    """An item `minimum` to `maximum` times; None means no limit."""

    item: "Pattern"
    minimum: int
    maximum: int | None

    def pieces(self) -> Pieces:
        """Return the item with its quantifier."""
        one_character = isinstance(self.item, CharSet) or (isinstance(self.item, Literal) and len(self.item.text) == 1)
        item: Pieces = (self.item,) if one_character else ("(?:", self.item, ")")
        return *item, quantifier(self.minimum, self.maximum)


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The pattern of a name, so that a pattern may contain itself.

    `definitions` may be filled after the reference is made, before the reference is followed.
    """

    name: str
    definitions: "Mapping[str, Pattern]" = field(repr=False)

    @property
    def target(self) -> "Pattern":
        """The pattern of this name."""
        return self.definitions[self.name]

    def __str__(self) -> str:
        return f"(?&{self.name})"  # as in PCRE; Python's `re` has no notation for it


@dataclass(frozen=True, slots=True)
class Unlike:
    """The inside of any JSON string other than some texts, all in the spelling of `json.dumps`."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        excluded = f'(?!(?:{Words(self.texts)})")' if self.texts else ""
        return f"{excluded}(?:{CharSet(UNESCAPED_RANGES)}|{Words(PLAIN_ESCAPES)})*"


@dataclass(frozen=True, slots=True)
class ObjectMembers(Composite):
    """One or more of its members, in their order, with the separator between any two that are written.

    `members` are pairs of a pattern and whether it must be written; `other_member` may follow them any number of times.
    Every member begins with a quotation mark, and the text after the last one does not, which keeps the printed pattern
    linear. Where they are not `in_order`, they are a permutation phrase (Cameron, "Extending context-free grammars with
    permutation phrases", 1993): each is written at most once, anywhere, with any number of `other_member` among them.
    No text matches two members.
    """

    members: "tuple[tuple[Pattern, bool], ...]"
    separator: "Pattern"
    other_member: "Pattern | None" = None
    in_order: bool = True

    def pieces(self) -> Pieces:
        """Return each member with a separator if another follows."""
        if not self.in_order:
            return (f"(?&{len(self.members)} members in any order)",)
        between = ("(?:", *_grouped(self.separator), '(?=")|(?!"))')
        shown: list[object] = ['(?=")']
        for member, required in self.members:
            written = *_grouped(member), *between
            shown += written if required else ("(?:", *written, ")?")
        if self.other_member is not None:
            shown += ("(?:", *_grouped(self.other_member), *between, ")*")
        return tuple(shown)


@dataclass(frozen=True, slots=True, eq=False)
class Distinct(Composite):
    """`least` to `most` texts of an item, at least one and no two the same, with the separator between any two.

    No text of the item is empty, and there are at least `least` texts. If `least` is more than 1, `lengths` has the
    lengths in bytes of the `least` shortest ones, in order. `is_inexhaustible` says that no text can use all up.
    """

    item: "Pattern"
    separator: "Pattern"
    least: int
    most: int | None
    lengths: tuple[int, ...]
    is_inexhaustible: bool

    def pieces(self) -> Pieces:
        """Return a description: no regular expression requires any number of texts to differ."""
        return (f"(?&{self.least} to {'any number of' if self.most is None else self.most} different ", self.item, ")")


@dataclass(frozen=True, slots=True)
class Anchor:
    r"""A condition on a position: `\A`, `\Z`, `\b` or `\B`, or the start of a text in a JSON string, after its quote.

    Words consist of `word_characters`.
    """

    kind: AnchorKind
    word_characters: tuple[Range, ...] = ()

    def __str__(self) -> str:
        return _ANCHORS[self.kind]


@dataclass(frozen=True, slots=True)
class Lookahead(Composite):
    """A condition: the text that follows begins with a match of a pattern or, `negated`, does not."""

    pattern: "Pattern"
    negated: bool = False

    def pieces(self) -> Pieces:
        """Return the pattern in parentheses."""
        return "(?!" if self.negated else "(?=", self.pattern, ")"


@dataclass(frozen=True, slots=True)
class Lookbehind(Composite):
    """A condition: the text before ends with a match of a pattern or, `negated`, does not."""

    pattern: "Pattern"
    negated: bool = False

    def pieces(self) -> Pieces:
        """Return the pattern in parentheses."""
        return "(?<!" if self.negated else "(?<=", self.pattern, ")"


@dataclass(frozen=True, slots=True, eq=False)
class AutomatonPattern(Composite):
    """The inside of a JSON string of at most `most` characters that a deterministic automaton accepts.

    `arcs[state]` are triples of the first and the last character and the successor; the text may end in the `accepting`
    states, and an accepting state can be reached from every state. State 0 is the start. The spelling is that of
    `json.dumps`. The text matches all of `included` and none of `excluded`, which have the same spelling; the printed
    pattern consists of them, and of the quotation mark that follows. Without them, the text may also be a number, and
    the printed pattern is the `expression` of the automaton.
    """

    arcs: "Arcs"
    accepting: frozenset[int]
    most: int | None
    included: "tuple[Pattern, ...]" = field(repr=False, default=())
    excluded: "tuple[Pattern, ...]" = field(repr=False, default=())
    eliminate: "Callable[[Arcs, frozenset[int]], Pattern | None] | None" = field(repr=False, default=None)
    """A function that returns a regular expression of the automaton, for printing."""

    def pieces(self) -> Pieces:
        """Return lookaheads for included and excluded patterns with the length, or the expression of the automaton."""
        if not self.included and not self.excluded:
            expression = self.expression
            return (f"(?&automaton of {len(self.arcs)} states)" if expression is None else expression,)
        ahead = [piece for pattern in self.included for piece in ("(?=", *_grouped(pattern), '")')]
        ahead += [piece for pattern in self.excluded for piece in ("(?!", *_grouped(pattern), '")')]
        return *ahead, f"(?:{CharSet(UNESCAPED_RANGES)}|{Words(PLAIN_ESCAPES)}){quantifier(0, self.most)}"

    @property
    def expression(self) -> str | None:
        """The automaton as a regular expression, which none of its characters may follow; None if it is too long."""
        pattern = None if self.eliminate is None else self.eliminate(self.arcs, self.accepting)
        if pattern is None:
            return None
        character = CharSet(normalise((low, high) for arcs in self.arcs for low, high, _ in arcs))
        ahead = "" if self.most is None else f"(?={character}{{0,{self.most}}}(?!{character}))"
        return ahead + "".join(map(str, _grouped(pattern)))


class QuotedTexts(Protocol):
    """One or more of the texts that a document contains, as JSON spells them."""

    def without_bytes(self, absent: frozenset[int]) -> "QuotedTexts | None":
        """Return the texts without some bytes: itself if these are all, None if there are none."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Quotation:
    """The inside of a JSON string that quotes a document, in the spelling of `json.dumps`.

    `automata/quotations.py` makes it.
    """

    texts: QuotedTexts

    def __str__(self) -> str:
        return f"(?&{self.texts})"


Pattern = (
    Literal
    | Words
    | CharSet
    | Concat
    | Alternation
    | Iteration
    | Reference
    | Unlike
    | ObjectMembers
    | Distinct
    | Anchor
    | Lookahead
    | Lookbehind
    | AutomatonPattern
    | Quotation
)

Assertion = Anchor | Lookahead | Lookbehind
"""A node that matches no character."""

EMPTY = Literal("")

NOTHING = Lookahead(EMPTY, negated=True)
"""A pattern that matches no text."""


def literal(text: str) -> Literal:
    """Return the pattern of exactly one text."""
    _reject_surrogates(text)
    return Literal(text)


def words(texts: Iterable[str]) -> Pattern:
    """Return the pattern of any of some texts."""
    distinct = tuple(dict.fromkeys(texts))
    if not distinct:
        raise PatternError("A choice of no words matches nothing", pattern="", remedy="Give at least one.")
    _reject_surrogates("".join(distinct))
    return Literal(distinct[0]) if len(distinct) == 1 else Words(distinct)


def char_set(*ranges: Range, negated: bool = False) -> CharSet:
    """Return one character inside (`negated`: outside) the ranges, less the surrogates.

    `char_set((97, 101), (100, 105))` → `[a-i]`
    """
    kept = normalise(complement(ranges) if negated else ranges)
    if not kept:
        raise PatternError(
            "An empty set of characters matches nothing", pattern="[]", remedy="Name at least one character."
        )
    return CharSet(kept)


def chars(text: str) -> CharSet:
    """Return any of the characters of `text`."""
    return char_set(*((ord(character), ord(character)) for character in text))


MAX_FLATTENED = 256
"""The most parts of a concatenation that are copied into a longer one, which may happen many times."""

MAX_JOINED = 4096
"""The most characters of neighbouring literals that are joined, which may happen as often."""


def concat(*parts: Pattern) -> Pattern:
    """Return a sequence of parts, with nested concatenations flattened and neighbouring literals joined."""
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
    """Return any of the options, with nested alternations flattened, texts collected and duplicates dropped.

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
                flat.setdefault(Words, EMPTY)  # all texts take the place of the first
                texts.update(dict.fromkeys(piece.texts if isinstance(piece, Words) else (piece.text,)))
            else:
                flat.setdefault(piece if isinstance(piece, CharSet) else id(piece), piece)
    if texts:
        flat[Words] = words(texts)
    pieces = tuple(flat.values())
    return pieces[0] if len(pieces) == 1 else Alternation(pieces)


def union(options: "Iterable[Pattern | None]") -> Pattern | None:
    """Return any of the options that are not None; None if all are."""
    patterns = [option for option in options if option is not None]
    return alternation(*patterns) if patterns else None


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
    return item if minimum == maximum == 1 else Iteration(item, minimum, maximum)


def optional(item: Pattern) -> Pattern:
    """Return the item or nothing."""
    return repeat(item, 0, 1)


def _reject_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PatternError(
            "A lone surrogate is not a character",
            pattern=text[error.start : error.end].encode("unicode_escape").decode(),
            remedy="Remove it: no UTF-8 text can hold it.",
        ) from error


def _grouped(pattern: Pattern) -> Pieces:
    return ("(?:", pattern, ")") if isinstance(pattern, Alternation | Words) else (pattern,)


ANY_CHARACTER = CharSet(complement(()))

ANY_TEXT = repeat(ANY_CHARACTER, 0, None)
"""Any text: the same node everywhere, so that it can be recognised."""
