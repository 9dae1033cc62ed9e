r"""The parser of regular expressions: the pattern of the texts in which an expression is found.

Three dialects: that of JSON Schema (ECMA 262 §22.2, with the leniency of its annex B), that of Pydantic (Rust's
`regex`) and that of Python's `re`. Like all three it searches: `b` is found in `abc`. The pattern is that of the whole
text, so that `b` becomes `.*b.*`, and the anchors at the ends of a choice are spent on the way; others stay as nodes.

What is no regular language (backreferences) or would need to look back is refused. A character class whose members
depend on the version of Unicode is taken as small as it may be, and its complement too.
"""

import sys
from collections.abc import Callable
from functools import lru_cache

from structured.regex import character_classes as characters
from structured.regex.character_sets import normalise
from structured.regex.class_parser import ClassParser
from structured.regex.dialects import ECMA, PYTHON, Dialect, Ranges
from structured.regex.syntax import (
    ANY_CHARACTER,
    ANY_TEXT,
    EMPTY,
    Alternation,
    Boundary,
    CharSet,
    Concat,
    Literal,
    Lookahead,
    Pattern,
    Repeat,
    Words,
    alternation,
    char_set,
    concat,
    repeat,
)
from structured.regex.traversal import nodes_of

_LINE_FEED = Literal("\n")

_NOT_EMPTY = Lookahead(concat(Boundary("start"), Boundary("end")), negated=True)
r"""Before 3.14, Python does not find `\B` in a text without characters."""

NOTHING = Lookahead(EMPTY, negated=True)
"""What no text matches."""

MAX_REPEATED = 1 << 20
"""Repetitions that a quantifier may ask for."""


@lru_cache(maxsize=4096)
def regex_to_pattern(text: str, dialect: Dialect) -> Pattern:
    """Return the pattern of the texts in which a regular expression is found.

    `"^a|b"` → `a.*|.*b.*`, the dot being any character

    Raises PatternError where it is malformed, or asks for what no automaton has.
    """
    parser = _Parser(text, dialect)
    pattern = parser.disjunction()
    if parser.position < len(text):
        raise parser.error("A closing parenthesis closes nothing")
    if parser.lines_begin and parser.words_end:
        raise parser.unsupported("A start of a line together with a border of a word")
    return _found(pattern)


def _found(pattern: Pattern) -> Pattern:
    """Return the texts in which a pattern is found; each option keeps the anchors at its own ends."""
    if isinstance(pattern, Alternation):
        return alternation(*map(_found, pattern.options))
    if isinstance(pattern, Words):
        return concat(ANY_TEXT, pattern, ANY_TEXT)
    parts: list[Pattern] = list(pattern.parts) if isinstance(pattern, Concat) else [] if pattern == EMPTY else [pattern]
    options = next((part.options for part in parts if isinstance(part, Alternation) and _has_anchor(part)), None)
    if options is not None and len(parts) <= 3:
        at = next(i for i, part in enumerate(parts) if isinstance(part, Alternation) and _has_anchor(part))
        return alternation(*(_found(concat(*parts[:at], option, *parts[at + 1 :])) for option in options))
    from_start, to_end = False, False
    while parts and isinstance(parts[0], Boundary) and parts[0].kind == "start":
        from_start = bool(parts.pop(0))
    while parts and isinstance(parts[-1], Boundary) and parts[-1].kind == "end":
        to_end = bool(parts.pop())
    before = [] if from_start else [ANY_TEXT]
    after = [] if to_end else [ANY_TEXT]
    if not from_start:
        parts = _without_free_ends(parts)
    if not to_end:
        parts = _without_free_ends(parts[::-1])[::-1]
    return ANY_TEXT if not parts and before + after else concat(*before, *parts, *after)


def _without_free_ends(parts: list[Pattern]) -> list[Pattern]:
    """Return the parts without those at the beginning that any text before them makes superfluous: `a*b` → `b`."""
    while parts and isinstance(parts[0], Repeat) and not _has_assertion(parts[0]):
        first = parts[0]
        if first.minimum == 0:
            parts = parts[1:]
        elif first.maximum != first.minimum:
            return [repeat(first.item, first.minimum, first.minimum), *parts[1:]]
        else:
            break
    return parts


def _has_anchor(pattern: Pattern) -> bool:
    return _has(pattern, lambda node: isinstance(node, Boundary) and node.kind in ("start", "end"))


def _has_assertion(pattern: Pattern) -> bool:
    return _has(pattern, lambda node: isinstance(node, Boundary | Lookahead))


def _has(pattern: Pattern, holds: Callable[[Pattern], bool]) -> bool:
    return any(map(holds, nodes_of(pattern)))


_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _Parser(ClassParser):
    """Reads the whole, by recursive descent."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        super().__init__(text, dialect)
        self.lines_begin = False
        """Whether there is a start of a line; `words_end`, whether there is a border of a word."""
        self.words_end = False

    def disjunction(self) -> Pattern:
        """Read alternatives, up to a closing parenthesis or the end."""
        flags = self.flags
        options = [self.alternative()]
        while self.take("|"):
            options.append(self.alternative())
        self.flags = flags
        return alternation(*options)

    def alternative(self) -> Pattern:
        """Read terms, one after the other."""
        parts: list[Pattern] = []
        while self.position < len(self.text) and self.text[self.position] not in "|)":
            if self.flags.x and self.text[self.position] in " \t\n\r\v\f#":
                self._skip_comment()
                continue
            parts.append(self.quantified(self.atom()))
        return concat(*parts)

    def _skip_comment(self) -> None:
        if self.next() == "#":
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end

    def quantified(self, atom: Pattern) -> Pattern:
        """Read the quantifiers that follow an atom."""
        counts = self.quantifier()
        if counts is None:
            return atom
        if isinstance(atom, Boundary) and self.dialect is not ECMA:
            raise self.error("There is nothing to repeat")
        low, high = counts
        if high is not None and high < low:
            raise self.error("A quantifier has its numbers in the wrong order")
        if max(low, high or 0) > MAX_REPEATED:
            raise self.unsupported(f"A repetition of more than {MAX_REPEATED:,}")
        if self.peek("+"):
            if self.dialect is PYTHON:
                raise self.unsupported("A possessive quantifier")
        else:
            self.take("?")  # whether it is lazy does not change the language
        if self.quantifier_follows():
            raise self.error("A quantifier follows another")
        if isinstance(atom, Boundary | Lookahead):
            return atom if low > 0 else EMPTY
        return repeat(atom, low, high)

    def quantifier_follows(self) -> bool:
        """Tell whether there is one more quantifier, which Rust alone would allow."""
        before = self.position
        found = self.quantifier() is not None
        self.position = before
        return found

    def quantifier(self) -> tuple[int, int | None] | None:
        """Read a quantifier: the least and the greatest count; None if there is none."""
        if self.position < len(self.text) and self.text[self.position] in _QUANTIFIERS:
            return _QUANTIFIERS[self.next()]
        before = self.position
        if not self.take("{"):
            return None
        low = self._digits()
        high = self._digits() if self.take(",") else low
        has_comma = self.text[self.position - 1] == "," or high != low
        if self.take("}") and (low or (self.dialect is PYTHON and has_comma)):
            return int(low or "0"), int(high) if high else None
        self.position = before
        if self.dialect.name == "Rust":
            raise self.error("A quantifier in braces is malformed")
        return None

    def _digits(self) -> str:
        start = self.position
        while self.position < len(self.text) and self.text[self.position] in "0123456789":
            self.position += 1
        return self.text[start : self.position]

    def atom(self) -> Pattern:
        """Read one atom or assertion."""
        character = self.next()
        match character:
            case "(":
                return self.group()
            case "[":
                return self.char_class()
            case "\\":
                return self.escape()
            case ".":
                return ANY_CHARACTER if self.flags.s else char_set(*self.dialect.line_ends, negated=True)
            case "^" | "$":
                return self._anchor(character)
            case "*" | "+" | "?":
                self.position -= 1
                raise self.error("There is nothing to repeat")
            case "{" if self._is_count():
                raise self.error("There is nothing to repeat")
        return self._one(ord(character))

    def _is_count(self) -> bool:
        before = self.position
        self.position -= 1
        try:
            return self.quantifier() is not None
        finally:
            self.position = before

    def _one(self, code_point: int) -> Pattern:
        """Return one character, or all that equal it but for the case."""
        if not self.flags.i:
            return self._set(((code_point, code_point),))
        return self._set(characters.without_case(((code_point, code_point),)))

    def _set(self, ranges: Ranges) -> Pattern:
        kept = normalise(ranges)
        if len(kept) == 1 and kept[0][0] == kept[0][1]:
            return Literal(chr(kept[0][0]))
        return CharSet(kept) if kept else NOTHING

    def _anchor(self, character: str) -> Pattern:
        if self.flags.m:
            return self._line_start() if character == "^" else Lookahead(alternation(_LINE_FEED, Boundary("end")))
        if character == "^":
            return Boundary("start")
        if self.dialect is PYTHON:  # before a line feed at the end, too
            return Lookahead(concat(repeat(Literal("\n"), 0, 1), Boundary("end")))
        return Boundary("end")

    def _line_start(self) -> Pattern:
        """Return the start of the text, or what stands behind a line feed: `(?m)^`.

        Behind one is where, of the characters on both sides, just one is a line feed and not the next, or both are.
        """
        self.lines_begin = True
        return alternation(
            Boundary("start"),
            concat(Boundary("word", characters.LINE_FEED), Lookahead(_LINE_FEED, negated=True)),
            concat(Boundary("within", characters.LINE_FEED), Lookahead(_LINE_FEED)),
        )

    def group(self) -> Pattern:
        """Read what follows an opening parenthesis."""
        if not self.take("?"):
            return self._closed()
        for mark, negated in (("=", False), ("!", True)):
            if self.take(mark):
                if self.dialect.name == "Rust":
                    raise self.error("Rust's regular expressions do not look ahead")
                return Lookahead(self._closed(), negated)
        if self.peek("<=") or self.peek("<!"):
            raise self.unsupported("To look behind")
        if self.take("P<") or self.take("<"):
            self.position = self.end_of(">")
            return self._closed()
        if self.take("#") and self.dialect is PYTHON:
            self.position = self.end_of(")")
            return EMPTY
        return self._flagged()

    def _flagged(self) -> Pattern:
        """Read flags and the group that they are for; without a group they are for the rest of this one."""
        flags, turned_on = self.flags, True
        letters = "imsxUu" if self.dialect.name == "Rust" else "imsxaLu"
        while not self.peek(":") and not self.peek(")"):
            letter = self.next()
            if letter == "-":
                turned_on = False
            elif letter not in letters:
                raise self.unsupported(f"The group (?{letter}")
            elif letter in "imsx":
                flags = flags._replace(**{letter: turned_on})
            elif letter != "U" and not (letter == "u" and turned_on):
                raise self.unsupported(f"The flag {letter}")
        if self.next() == ")":
            self.flags = flags
            return EMPTY
        before, self.flags = self.flags, flags
        pattern = self._closed()
        self.flags = before
        return pattern

    def _closed(self) -> Pattern:
        pattern = self.disjunction()
        if not self.take(")"):
            raise self.error("A group is not closed")
        return pattern

    def escape(self) -> Pattern:
        """Read what follows a backslash, outside a class."""
        character = self.next()
        if character in "bB" and not (self.dialect.name == "Rust" and self.peek("{")):
            self.words_end = True
            boundary = Boundary("word" if character == "b" else "within", self.dialect.classes("w"))
            within_nothing = character == "B" and self.dialect is PYTHON and sys.version_info < (3, 14)
            return concat(boundary, _NOT_EMPTY) if within_nothing else boundary
        if character in "AzZ" and self.dialect is not ECMA:
            if character not in ("A", self.dialect.end_of_text):
                raise self.error(f"The escape \\{character} is not known")
            return Boundary("start" if character == "A" else "end")
        if character in "123456789" or (character == "k" and self.peek("<")):
            raise self.unsupported("A backreference")
        self.position -= 1
        sure, _ = self.class_escape()
        return self._set(characters.without_case(sure) if self.flags.i else sure)

    def char_class(self) -> Pattern:
        """Read what follows an opening bracket."""
        sure, _ = self.class_ranges()
        return self._set(sure)
