r"""The text of a regular expression enters; the pattern of the texts in which it is found leaves.

Three dialects: that of JSON Schema (ECMA 262 §22.2, with the leniency of its annex B), that of Pydantic (Rust's
`regex`) and that of Python's `re`. Like all three it searches: `b` is found in `abc`. The pattern is that of the whole
text, so that `b` becomes `.*b.*`, and the anchors at the ends of a choice are spent on the way; others stay as nodes.

What is no regular language (backreferences) or would need to look back is refused. A character class whose members
depend on the version of Unicode is taken as small as it may be, and its complement too.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from structured.errors import PatternError
from structured.regex import character_classes as characters
from structured.regex.syntax import (
    ANY_CHARACTER,
    ANY_TEXT,
    EMPTY,
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
    Words,
    alternation,
    char_set,
    complement,
    concat,
    normalise,
    repeat,
)

Ranges = tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Dialect:
    r"""What differs between the languages of regular expressions.

    `classes` are the sets of `\d`, `\w` and `\s`; `uncertain` are characters of which they may contain more or fewer.
    `line_ends` are what a dot does not match. `is_lenient`: an escaped letter that means nothing is itself.
    """

    name: str
    classes: Callable[[str], Ranges]
    uncertain: Callable[[], Ranges]
    line_ends: Ranges
    is_lenient: bool
    end_of_text: str


def _ecma_class(name: str) -> Ranges:
    return {"d": characters.DIGITS, "w": characters.WORD, "s": characters.ECMA_SPACE}[name]


def _rust_class(name: str) -> Ranges:
    if name == "s":
        return characters.UNICODE_SPACE
    return characters.unicode_digits() if name == "d" else characters.rust_word()


def _python_class(name: str) -> Ranges:
    if name == "s":
        return characters.python_space()
    return characters.unicode_digits() if name == "d" else characters.python_word()


ECMA = Dialect("ECMA 262", _ecma_class, lambda: (), characters.ECMA_LINE_ENDS, True, "")
RUST = Dialect("Rust", _rust_class, characters.unassigned, characters.LINE_FEED, False, "z")
PYTHON = Dialect("Python", _python_class, lambda: (), characters.LINE_FEED, False, "Z")

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
    from structured.regex.syntax import nodes_of

    return any(map(holds, nodes_of(pattern)))


class _Flags(NamedTuple):
    """What `(?i)`, `(?m)`, `(?s)` and `(?x)` turn on."""

    i: bool = False
    m: bool = False
    s: bool = False
    x: bool = False


_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CONTROLS = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}


class _Parser:
    """Reads one regular expression from left to right, by recursive descent."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.position = 0
        self.flags = _Flags()
        self.lines_begin = False
        """Whether there is a start of a line; `words_end`, whether there is a border of a word."""
        self.words_end = False

    def error(self, problem: str, remedy: str = "Correct the pattern.") -> PatternError:
        """Return the error that says what is wrong, and where."""
        return PatternError(f"{problem}, at character {self.position}", pattern=self.text, remedy=remedy)

    def unsupported(self, what: str) -> PatternError:
        """Return the error that says what cannot be honoured."""
        return self.error(f"{what} cannot be honoured", "Say the same without it, or check it in a validator.")

    def peek(self, text: str) -> bool:
        """Tell whether a text comes next."""
        return self.text.startswith(text, self.position)

    def take(self, text: str) -> bool:
        """Read a text if it comes next; tell whether it did."""
        found = self.peek(text)
        self.position += len(text) if found else 0
        return found

    def next(self) -> str:
        """Read one character."""
        if self.position == len(self.text):
            raise self.error("The pattern ends too early")
        self.position += 1
        return self.text[self.position - 1]

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
            self.position = self._end_of(">")
            return self._closed()
        if self.take("#") and self.dialect is PYTHON:
            self.position = self._end_of(")")
            return EMPTY
        return self._flagged()

    def _end_of(self, mark: str) -> int:
        end = self.text.find(mark, self.position)
        if end < 0:
            raise self.error("A group is not closed")
        return end + len(mark)

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

    def class_escape(self) -> tuple[Ranges, Ranges]:
        """Read what follows a backslash; return what it surely matches, and what it may match."""
        character = self.next()
        if character in "dws":
            ranges = self.dialect.classes(character)
            return ranges, normalise([*ranges, *self.dialect.uncertain()]) if character != "s" else ranges
        if character in "DWS":
            self.position -= 1
            self.text = f"{self.text[: self.position]}{character.lower()}{self.text[self.position + 1 :]}"
            sure, possible = self.class_escape()
            return complement(possible), complement(sure)
        if character in "pP" and (self.dialect is not PYTHON):
            return self._property(negated=character == "P")
        code_point = self._code_point(character)
        return ((code_point, code_point),), ((code_point, code_point),)

    def _property(self, *, negated: bool) -> tuple[Ranges, Ranges]:
        """Read the name of a property of Unicode."""
        if self.take("{"):
            start = self.position
            self.position = self._end_of("}")
            name = self.text[start : self.position - 1]
        elif self.dialect is ECMA:
            return ((ord("p"), ord("p")),) * 1, ((ord("p"), ord("p")),)
        else:
            name = self.next()
        if name.startswith("^"):
            name, negated = name[1:], not negated
        ranges = characters.category(name)
        if ranges is None:
            raise self.unsupported(f"The property {name}")
        possible = normalise([*ranges, *characters.unassigned()])
        return (complement(possible), complement(ranges)) if negated else (ranges, possible)

    def _code_point(self, character: str) -> int:
        """Return the character that an escape stands for."""
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "a" and self.dialect is not ECMA:
            return 0x07
        if character in "xuU":
            return self._hexadecimal(character)
        if character == "c" and self.dialect is ECMA and self.text[self.position : self.position + 1].isalpha():
            return ord(self.next()) % 32
        if character == "0":
            return 0
        if character in "<>" and self.dialect is RUST:
            raise self.unsupported("The beginning or the end of a word alone")
        if character.isascii() and character.isalnum() and not self.dialect.is_lenient:
            raise self.error(f"The escape \\{character} is not known")
        return ord(character)

    def _hexadecimal(self, letter: str) -> int:
        if self.take("{"):
            start = self.position
            self.position = self._end_of("}")
            digits = self.text[start : self.position - 1]
        else:
            digits = self.text[self.position : self.position + {"x": 2, "u": 4, "U": 8}[letter]]
            if len(digits) < {"x": 2, "u": 4, "U": 8}[letter] or not _is_hexadecimal(digits):
                if self.dialect.is_lenient:
                    return ord(letter)
                raise self.error("A hexadecimal escape is too short")
            self.position += len(digits)
        if not _is_hexadecimal(digits) or int(digits, 16) > MAX_CODE_POINT:
            raise self.error(f"{digits!r} is no character")
        code_point = int(digits, 16)
        if 0xD800 <= code_point < 0xDC00 and self.peek("\\u"):  # a pair of surrogates is one character
            low = self.text[self.position + 2 : self.position + 6]
            if _is_hexadecimal(low) and 0xDC00 <= int(low, 16) < 0xE000:
                self.position += 6
                return 0x10000 + ((code_point - 0xD800) << 10) + int(low, 16) - 0xDC00
        return code_point

    def char_class(self) -> Pattern:
        """Read what follows an opening bracket."""
        sure, _ = self._class_ranges()
        return self._set(sure)

    def _class_ranges(self) -> tuple[Ranges, Ranges]:
        """Return what a class surely matches, and what it may match."""
        negated = self.take("^")
        sure: list[Range] = []
        possible: list[Range] = []
        is_first = True
        while not self.peek("]") or (is_first and self.dialect is not ECMA):
            if self.dialect.name == "Rust" and any(map(self.peek, ("&&", "--", "~~"))):
                raise self.unsupported("An operation on classes")
            low, high = self._class_item()
            sure += low
            possible += high
            is_first = False
        self.take("]")
        if self.flags.i:
            sure, possible = list(characters.without_case(tuple(sure))), list(characters.without_case(tuple(possible)))
        return (complement(possible), complement(sure)) if negated else (normalise(sure), normalise(possible))

    def _class_item(self) -> tuple[Ranges, Ranges]:
        """Read a character, a range, an escape, or a class within a class."""
        if self.dialect.name == "Rust" and self.peek("["):
            return self._inner_class()
        sure, possible = self._class_atom()
        if not self.peek("-") or self.text[self.position + 1 : self.position + 2] in ("]", ""):
            return sure, possible
        if self.dialect.name == "Rust" and self.peek("--"):
            return sure, possible
        if len(sure) != 1 or sure[0][0] != sure[0][1]:
            if self.dialect.is_lenient:
                return sure, possible
            raise self.error("A range begins with a class")
        before = self.position
        self.take("-")
        end, _ = self._class_atom()
        if len(end) != 1 or end[0][0] != end[0][1]:
            if not self.dialect.is_lenient:
                raise self.error("A range ends with a class")
            self.position = before
            return sure, possible
        if end[0][0] < sure[0][0]:
            raise self.error("The ends of a range are in the wrong order")
        ranges = ((sure[0][0], end[0][0]),)
        return ranges, ranges

    def _class_atom(self) -> tuple[Ranges, Ranges]:
        character = self.next()
        if character == "\\":
            if self.take("b") and self.dialect is not RUST:
                return ((0x08, 0x08),), ((0x08, 0x08),)
            return self.class_escape()
        return ((ord(character), ord(character)),), ((ord(character), ord(character)),)

    def _inner_class(self) -> tuple[Ranges, Ranges]:
        self.take("[")
        if not self.take(":"):
            return self._class_ranges()
        negated = self.take("^")
        start = self.position
        self.position = self._end_of(":]")
        name = self.text[start : self.position - 2]
        if name not in characters.POSIX:
            raise self.error(f"No class is called {name!r}")
        ranges = normalise(characters.POSIX[name])
        ranges = complement(ranges) if negated else ranges
        return ranges, ranges


def _is_hexadecimal(digits: str) -> bool:
    return bool(digits) and all(digit in "0123456789abcdefABCDEF" for digit in digits)
