r"""The parser of single characters and classes in a regular expression: `\d`, `\u00e9`, `[a-z]`, `\p{L}`."""

import re
import unicodedata
from typing import NamedTuple

from structured.errors import PatternError
from structured.regex import character_classes as characters
from structured.regex.character_classes import ASCII_CLASSES, ECMA, PYTHON, RUST, Dialect, Ranges, in_any_case
from structured.regex.character_sets import MAX_CODE_POINT, Range, complement, normalise


class Flags(NamedTuple):
    """The flags that `(?i)`, `(?m)`, `(?s)`, `(?x)` and `(?a)` set."""

    i: bool = False
    m: bool = False
    s: bool = False
    x: bool = False
    a: bool = False


_CONTROLS = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}


class ClassParser:
    """A reader of one regular expression, from left to right, that knows single characters and classes."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.position = 0
        self.flags = Flags()

    def error(self, problem: str, remedy: str = "Correct the pattern.", position: int | None = None) -> PatternError:
        """Return the error about a problem at a position, by default that of the parser."""
        place = self.position if position is None else position
        return PatternError(f"{problem}, at character {place}", pattern=self.text, remedy=remedy, position=place)

    def unsupported(self, feature: str, position: int | None = None) -> PatternError:
        """Return the error that a feature cannot be enforced."""
        remedy = "Say the same without it, or check it in a validator."
        return self.error(f"{feature} cannot be enforced", remedy, position)

    def classes(self, name: str) -> Ranges:
        r"""Return the characters of `\d`, `\w` or `\s` under the flags."""
        return ASCII_CLASSES[name] if self.flags.a else self.dialect.classes[name]()

    def peek(self, text: str) -> bool:
        """Tell whether `text` comes next."""
        return self.text.startswith(text, self.position)

    def take(self, text: str) -> bool:
        """Read `text` if it comes next; tell whether it did."""
        if not self.text.startswith(text, self.position):
            return False
        self.position += len(text)
        return True

    def next(self) -> str:
        """Read one character."""
        if self.position == len(self.text):
            raise self.error("The pattern ends too early")
        self.position += 1
        return self.text[self.position - 1]

    def until(self, mark: str) -> str:
        """Read the text up to a closing mark, and the mark."""
        start, end = self.position, self.text.find(mark, self.position)
        if end < 0:
            raise self.error("A group is not closed")
        self.position = end + len(mark)
        return self.text[start:end]

    def run_of(self, characters: "re.Pattern[str]") -> str:
        """Read what a pattern matches here, perhaps nothing."""
        match = characters.match(self.text, self.position)
        assert match is not None, "the empty text matches"
        self.position = match.end()
        return match[0]

    def class_escape(self) -> tuple[Ranges, Ranges]:
        """Read the escape of a class; return the characters that it surely matches, and those that it may match."""
        character = self.next()
        if character in "dwsDWS":
            sure = self.classes(character.lower())
            possible = normalise([*sure, *self.dialect.uncertain()]) if character not in "sS" else sure
            return (complement(possible), complement(sure)) if character.isupper() else (sure, possible)
        if character in "pP" and self.dialect is not PYTHON:
            return self._property(negated=character == "P")
        return _both(self._code_point(character))

    def _property(self, *, negated: bool) -> tuple[Ranges, Ranges]:
        """Read the name of a property of Unicode."""
        if self.take("{"):
            name = self.until("}")
        elif self.dialect is ECMA:
            return _both(ord("p"))
        else:
            name = self.next()
        if name.startswith("^"):
            name, negated = name[1:], not negated
        ranges = characters.category(name)
        if ranges is None:
            raise self.unsupported(f"The property {name}")
        possible = normalise([*ranges, *characters.unassigned()])
        return (complement(possible), complement(ranges)) if negated else (ranges, possible)

    def _code_point(self, character: str) -> int:  # noqa: C901  one case for each kind of escape
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "a" and self.dialect is not ECMA:
            return 0x07
        if character in "xuU":
            return self._hexadecimal(character)
        if character == "c" and self.dialect is ECMA and self.text[self.position : self.position + 1].isalpha():
            return ord(self.next()) % 32
        if self.dialect is PYTHON and character == "N" and self.take("{"):
            start = self.position
            try:
                return ord(unicodedata.lookup(self.until("}")))
            except (KeyError, TypeError):
                raise self.error("No character has this name", position=start) from None
        if self.dialect is PYTHON and character in "01234567":
            code_point = int(character + self.run_of(_OCTAL), 8)
            if code_point > 0o377:
                raise self.error("An octal escape is greater than 377")
            return code_point
        if character == "0":
            return 0
        if character in "<>" and self.dialect is RUST:
            raise self.unsupported("The beginning or the end of a word alone")
        if character.isascii() and character.isalnum() and not self.dialect.is_lenient:
            raise self.error(f"The escape \\{character} is not known")
        return ord(character)

    def _hexadecimal(self, letter: str) -> int:
        if self.dialect is not PYTHON and self.take("{"):
            digits = self.until("}")
        else:
            length = {"x": 2, "u": 4, "U": 8}[letter]
            digits = self.text[self.position : self.position + length]
            if len(digits) < length or not _is_hexadecimal(digits):
                if self.dialect.is_lenient:
                    return ord(letter)
                raise self.error("A hexadecimal escape is too short")
            self.position += len(digits)
        if not _is_hexadecimal(digits) or int(digits, 16) > MAX_CODE_POINT:
            raise self.error(f"{digits!r} is not a character")
        code_point = int(digits, 16)
        is_high = 0xD800 <= code_point < 0xDC00
        if is_high and self.dialect is not PYTHON and self.peek("\\u"):  # a pair of surrogates is one character
            low = self.text[self.position + 2 : self.position + 6]
            if _is_hexadecimal(low) and 0xDC00 <= int(low, 16) < 0xE000:
                self.position += 6
                return 0x10000 + ((code_point - 0xD800) << 10) + int(low, 16) - 0xDC00
        return code_point

    def class_ranges(self) -> tuple[Ranges, Ranges]:
        """Read a class; return the characters that it surely matches, and those that it may match."""
        start = self.position
        negated = self.take("^")
        sure: list[Range] = []
        possible: list[Range] = []
        is_first = True
        while not self.peek("]") or (is_first and self.dialect is not ECMA):
            if self.dialect is RUST and any(map(self.peek, ("&&", "--", "~~"))):
                raise self.unsupported("An operation on classes")
            low, high = self._class_item()
            sure += low
            possible += high
            is_first = False
        self.take("]")
        if self.flags.i and self.dialect is PYTHON:
            plain = complement(sure) if negated else normalise(sure)
            return (in_any_case(f"[{self.text[start : self.position]}", plain, is_ascii=self.flags.a),) * 2
        if self.flags.i:
            sure, possible = (list(characters.without_case(tuple(ranges))) for ranges in (sure, possible))
        return (complement(possible), complement(sure)) if negated else (normalise(sure), normalise(possible))

    def _class_item(self) -> tuple[Ranges, Ranges]:
        """Read a character, a range, an escape, or a class within a class."""
        if self.dialect is RUST and self.peek("["):
            return self._inner_class()
        sure, possible = self._class_atom()
        is_range = self.peek("-") and self.text[self.position + 1 : self.position + 2] not in ("]", "")
        if not is_range or (self.dialect is RUST and self.peek("--")):
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
        return (((sure[0][0], end[0][0]),),) * 2

    def _class_atom(self) -> tuple[Ranges, Ranges]:
        character = self.next()
        if character == "\\":
            if self.take("b") and self.dialect is not RUST:
                return _both(0x08)
            return self.class_escape()
        return _both(ord(character))

    def _inner_class(self) -> tuple[Ranges, Ranges]:
        self.take("[")
        if not self.take(":"):
            return self.class_ranges()
        negated = self.take("^")
        name = self.until(":]")
        if name not in characters.POSIX:
            raise self.error(f"No class is called {name!r}")
        ranges = normalise(characters.POSIX[name])
        return (complement(ranges) if negated else ranges,) * 2


_OCTAL = re.compile("[0-7]{0,2}")


def _both(code_point: int) -> tuple[Ranges, Ranges]:
    """Return one character, as what is surely matched and as what may be matched."""
    return (((code_point, code_point),),) * 2


def _is_hexadecimal(digits: str) -> bool:
    return bool(digits) and all(digit in "0123456789abcdefABCDEF" for digit in digits)
