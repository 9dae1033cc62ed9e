r"""The parser of regular expressions: the pattern of the texts that contain a match of an expression.

It reads three dialects: that of JSON Schema (ECMA 262 §22.2, with the leniency of its annex B), that of Pydantic
(Rust's `regex`) and that of Python's `re`. JSON Schema searches: `b` matches in `abc`. The pattern describes the whole
text, so `b` becomes `.*b.*`. Anchors at the ends of a choice disappear in this step; others stay as nodes.

References to groups and conditions on them are refused. A character class that depends on the version of
Unicode has only its certain members, and so has its complement; Python's classes are those of the running Python.
"""

import re
import sys
import warnings
from functools import lru_cache

from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex import character_classes as characters
from structured.regex.character_classes import ECMA, PYTHON, RUST, Dialect, Ranges, in_any_case
from structured.regex.character_sets import normalise
from structured.regex.class_parser import ClassParser, Flags
from structured.regex.expression import Atomic, Conversion, Expression, Look, Mode, Quantified, choice, sequence
from structured.regex.syntax import (
    ANY_CHARACTER,
    ANY_TEXT,
    EMPTY,
    NOTHING,
    Alternation,
    Anchor,
    Assertion,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
    Pattern,
    Words,
    alternation,
    char_set,
    concat,
    optional,
    repeat,
)
from structured.regex.traversal import nodes_of

_LINE_FEED = Literal("\n")
_NO_FLAGS = Flags()

_NOT_EMPTY = Lookahead(concat(Anchor("start"), Anchor("end")), negated=True)
r"""Before 3.14, `\B` does not match in an empty text in Python."""

_LOOKS = (("=", False, False), ("!", False, True), ("<=", True, False), ("<!", True, True))
"""The openings of lookarounds, with whether they look behind and whether they are negated."""

MAX_REPEATED = 1 << 20
"""The greatest count of a quantifier."""


@lru_cache(maxsize=4096)
def regex_to_pattern(text: str, dialect: Dialect) -> Pattern:
    """Return the pattern of the texts that contain a match of a regular expression.

    `"^a|b"` → `a.*|.*b.*`, where the dot is any character

    Raises PatternError where it is malformed, or asks for what no automaton has.
    """
    return _containing_match(whole_regex_to_pattern(text, dialect))


def whole_regex_to_pattern(text: str, dialect: Dialect, flags: Flags = _NO_FLAGS) -> Pattern:
    """Return the pattern of the texts that a regular expression matches as a whole, as `re.fullmatch` does.

    Raises PatternError where it is malformed, or asks for what no automaton has.
    """
    parser = _Parser(text, dialect, flags)
    if dialect is PYTHON:
        parser.check_by_re()
    return Conversion(parser.unsupported).matched(parser.whole())


def python_expression(text: str) -> Expression:
    """Return the syntax tree of an expression that `re` accepts. Raises PatternError where no automaton has that."""
    return _Parser(text, PYTHON, _NO_FLAGS).whole()


def _containing_match(pattern: Pattern) -> Pattern:
    """Return the texts that contain a match of a pattern; each option keeps the anchors at its own ends."""
    if isinstance(pattern, Alternation):
        return alternation(*map(_containing_match, pattern.options))
    if isinstance(pattern, Words):
        return concat(ANY_TEXT, pattern, ANY_TEXT)
    parts: list[Pattern] = list(pattern.parts) if isinstance(pattern, Concat) else [] if pattern == EMPTY else [pattern]
    for at, part in enumerate(parts if len(parts) <= 3 else []):
        if isinstance(part, Alternation) and _has_anchor(part):
            options = [concat(*parts[:at], option, *parts[at + 1 :]) for option in part.options]
            return alternation(*map(_containing_match, options))
    from_start, to_end = False, False
    while parts and isinstance(parts[0], Anchor) and parts[0].kind == "start":
        from_start = bool(parts.pop(0))
    while parts and isinstance(parts[-1], Anchor) and parts[-1].kind == "end":
        to_end = bool(parts.pop())
    if not from_start:
        parts = [ANY_TEXT, *_without_free_ends(parts)]
    if not to_end:
        parts = [*_without_free_ends(parts[::-1])[::-1], ANY_TEXT]
    return concat(*parts)


def _without_free_ends(parts: list[Pattern]) -> list[Pattern]:
    """Return the parts without optional ones at the beginning, which any text before them covers: `a*b` → `b`."""
    while parts and isinstance(first := parts[0], Iteration):
        if any(isinstance(node, Assertion) for node in nodes_of(first)):
            break
        if first.minimum == 0:
            parts = parts[1:]
        elif first.maximum != first.minimum:
            return [repeat(first.item, first.minimum, first.minimum), *parts[1:]]
        else:
            break
    return parts


def _has_anchor(pattern: Pattern) -> bool:
    return any(isinstance(node, Anchor) and node.kind in ("start", "end") for node in nodes_of(pattern))


_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]()|#\ud800-\udfff]+(?=[^\\.^$*+?{}\[\]()|#\ud800-\udfff])")
"""Ordinary characters that are followed by another one."""

_DIGITS = re.compile("[0-9]*")

_CLASS = re.compile(r"(?:[^\]\\]|\\[\s\S])*\]")
"""The rest of a class of ECMA 262."""

_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1), "{": None}


class _Parser(ClassParser):
    """A recursive descent parser of whole regular expressions."""

    def __init__(self, text: str, dialect: Dialect, flags: Flags) -> None:
        super().__init__(text, dialect)
        self.flags = flags
        self._classes: dict[tuple[str, Flags], Pattern] = {}

    def check_by_re(self) -> None:
        """Raise PatternError for an expression that `re` does not accept."""
        flags = re.NOFLAG
        for letter, is_on in zip("IMSXA", self.flags, strict=True):
            flags |= re.RegexFlag[letter] if is_on else re.NOFLAG
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(self.text, flags)
        except re.error as error:
            problem = f"{error.msg[:1].upper()}{error.msg[1:]}"
            if error.pos is None:
                raise PatternError(problem, pattern=self.text, remedy="Correct the pattern.") from error
            raise self.error(problem, position=error.pos) from error
        except (RecursionError, OverflowError) as error:
            is_deep = isinstance(error, RecursionError)
            problem = "Groups are nested too deeply for re" if is_deep else "A count is too large"
            raise self.error(problem, "Nest fewer groups, and repeat less.", 0) from error

    def whole(self) -> Expression:
        """Read the whole expression."""
        expression = self.disjunction()
        if self.position < len(self.text):
            raise self.error("A closing parenthesis has no opening one")
        return expression

    @deep
    def disjunction(self) -> Expression:
        """Read alternatives, up to a closing parenthesis or the end."""
        flags = self.flags
        options = [self.alternative()]
        while self.take("|"):
            options.append(self.alternative())
        self.flags = flags
        return choice(options)

    def alternative(self) -> Expression:
        """Read a sequence of terms."""
        parts: list[Expression] = []
        while self.position < len(self.text) and self.text[self.position] not in "|)":
            if self._skips_comment():
                continue
            plain = None if self.flags.i or self.flags.x else _PLAIN.match(self.text, self.position)
            if plain is not None:  # all at once, except the last one, which a quantifier may follow
                self.position = plain.end()
                parts.append(Literal(plain[0]))
                continue
            atom = self.atom()
            while self._skips_comment():
                pass
            parts.append(self.quantified(atom))
        return sequence(parts)

    def _skips_comment(self) -> bool:
        """Read a comment or meaningless blanks; tell whether there were any."""
        if self.dialect is PYTHON and self.take("(?#"):
            self.until(")")
            return True
        if not self.flags.x or self.text[self.position : self.position + 1] not in (*" \t\n\r\v\f#",):
            return False
        if self.next() == "#":
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end
        return True

    def quantified(self, atom: Expression) -> Expression:
        """Read the quantifiers that follow an atom."""
        place = self.position
        counts = self.quantifier()
        if counts is None:
            return atom
        low, high = counts
        if high is not None and high < low:
            raise self.error("A quantifier has its numbers in the wrong order")
        if max(low, high or 0) > MAX_REPEATED:
            raise self.unsupported(f"A repetition of more than {MAX_REPEATED:,}")
        mode: Mode = "greedy"
        if self.dialect is PYTHON and self.take("+"):
            mode = "possessive"
        elif not self.peek("+") and self.take("?"):
            mode = "lazy"
        if self.quantifier_follows():  # which Rust alone would allow
            raise self.error("A quantifier follows another")
        return Quantified(atom, low, high, mode, place)

    def quantifier_follows(self) -> bool:
        """Tell whether a quantifier comes next."""
        before = self.position
        follows = self.quantifier() is not None
        self.position = before
        return follows

    def quantifier(self) -> tuple[int, int | None] | None:
        """Read a quantifier: the least and the greatest count; None if there is none."""
        before, mark = self.position, self.text[self.position : self.position + 1]
        if mark not in _QUANTIFIERS:
            return None
        self.position += 1
        if mark != "{":
            return _QUANTIFIERS[mark]
        low = self.run_of(_DIGITS)
        high = self.run_of(_DIGITS) if self.take(",") else low
        has_comma = self.text[self.position - 1] == "," or high != low
        if self.take("}") and (low or (self.dialect is PYTHON and has_comma)):
            return int(low or "0"), int(high) if high else None
        self.position = before
        if self.dialect is RUST:
            raise self.error("A quantifier in braces is malformed")
        return None

    def atom(self) -> Expression:
        """Read one atom or assertion."""
        if self.quantifier_follows():
            raise self.error("There is nothing to repeat")
        character = self.next()
        match character:
            case "(":
                return self.group()
            case "[":
                return self._class()
            case "\\":
                return self.escape()
            case ".":
                return ANY_CHARACTER if self.flags.s else char_set(*self.dialect.line_ends, negated=True)
            case "^" | "$":
                return self._anchor(character)
        if not self.flags.i and character.isascii():
            return Literal(character)
        return self._any_of(((ord(character), ord(character)),), re.escape(character))

    def _class(self) -> Pattern:
        """Read a class; one that was read before, in the same words and under the same flags, is not read again."""
        start = self.position
        match = _CLASS.match(self.text, start) if self.dialect is ECMA and not self.flags.i else None
        if match and (match[0], self.flags) in self._classes:
            self.position = match.end()
            return self._classes[match[0], self.flags]
        pattern = self._set(self.class_ranges()[0])
        return self._classes.setdefault((self.text[start : self.position], self.flags), pattern)

    def _any_of(self, ranges: Ranges, written: str) -> Pattern:
        """Return one of some characters, in any case if case is ignored; `written` is their text for `re`."""
        if not self.flags.i:
            return self._set(ranges)
        if self.dialect is PYTHON:
            return self._set(in_any_case(written, ranges, is_ascii=self.flags.a))
        return self._set(characters.without_case(ranges))

    def _set(self, ranges: Ranges) -> Pattern:
        kept = normalise(ranges)
        if len(kept) == 1 and kept[0][0] == kept[0][1]:
            return Literal(chr(kept[0][0]))
        return CharSet(kept) if kept else NOTHING

    def _anchor(self, character: str) -> Pattern:
        if character == "^":
            return alternation(Anchor("start"), Lookbehind(_LINE_FEED)) if self.flags.m else Anchor("start")
        if self.flags.m:
            return Lookahead(alternation(_LINE_FEED, Anchor("end")))
        if self.dialect is PYTHON:  # also before a line feed at the end
            return Lookahead(concat(optional(_LINE_FEED), Anchor("end")))
        return Anchor("end")

    def group(self) -> Expression:
        """Read a group, after its opening parenthesis."""
        place = self.position - 1
        if not self.take("?"):
            return self._closed()
        for mark, is_behind, is_negated in _LOOKS:
            if self.take(mark):
                if self.dialect is RUST:
                    raise self.error("Rust's regular expressions do not look around")
                return Look(self._closed(), is_behind, is_negated)
        if self.dialect is PYTHON:
            if self.take("P="):
                raise self.unsupported("A backreference", place)
            if self.take(">"):
                return Atomic(self._closed())
            if self.take("("):
                raise self.unsupported("A condition on a group", place)
        if self.take("P<") or self.take("<"):
            self.until(">")
            return self._closed()
        return self._flagged()

    def _flagged(self) -> Expression:
        flags, turned_on = self.flags, True
        letters = "imsxUu" if self.dialect is RUST else "imsxaLu"
        while not self.peek(":") and not self.peek(")"):
            letter = self.next()
            if letter == "-":
                turned_on = False
            elif letter not in letters:
                raise self.unsupported(f"The group (?{letter}")
            elif letter in "imsx" or (letter == "a" and self.dialect is PYTHON):
                flags = flags._replace(**{letter: turned_on})
            elif letter == "u" and self.dialect is PYTHON:
                flags = flags._replace(a=False)
            elif letter != "U" and not (letter == "u" and turned_on):
                raise self.unsupported(f"The flag {letter}")
        if self.next() == ")":
            self.flags = flags
            return EMPTY
        before, self.flags = self.flags, flags
        expression = self._closed()
        self.flags = before
        return expression

    def _closed(self) -> Expression:
        expression = self.disjunction()
        if not self.take(")"):
            raise self.error("A group is not closed")
        return expression

    def escape(self) -> Expression:
        """Read an escape outside a class, after its backslash."""
        start = self.position - 1
        character = self.next()
        if character in "bB" and not (self.dialect is RUST and self.peek("{")):
            anchor = Anchor("word_boundary" if character == "b" else "not_word_boundary", self.classes("w"))
            needs_text = character == "B" and self.dialect is PYTHON and sys.version_info < (3, 14)
            return concat(anchor, _NOT_EMPTY) if needs_text else anchor
        if character in "AzZ" and self.dialect is not ECMA:
            if character not in ("A", self.dialect.end_of_text):
                raise self.error(f"The escape \\{character} is not known")
            return Anchor("start" if character == "A" else "end")
        octal = self.text[start + 1 : start + 4]
        is_octal = self.dialect is PYTHON and len(octal) == 3 and set(octal) <= set("01234567")
        if (character in "123456789" and not is_octal) or (character == "k" and self.peek("<")):
            raise self.unsupported("A backreference", start)
        self.position -= 1
        sure, _ = self.class_escape()
        return self._any_of(sure, self.text[start : self.position])
