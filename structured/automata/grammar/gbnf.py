"""GBNF, the grammar language of llama.cpp, read as a pattern whose rules refer to each other.

https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md describes it. Its rules are over characters,
without a lexer: what Lark would need a token for is several ways of reading on. So the tables of an LALR(1) parser do
not fit, and the automaton of a pattern does, which follows all ways at once and keeps what is open on a stack.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from structured.automata.grammar.grammar_refusals import place_in
from structured.errors import GrammarError
from structured.errors.recursion import deep
from structured.regex import (
    EMPTY,
    Alternation,
    Concat,
    Iteration,
    Literal,
    Pattern,
    Reference,
    alternation,
    char_set,
    concat,
    literal,
    productive_nodes,
    repeat,
)
from structured.regex.character_sets import MAX_CODE_POINT, Range
from structured.regex.syntax import ANY_CHARACTER

_NAME = re.compile(r"[A-Za-z0-9-]+")

_BLANK = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
"""What means nothing, comments included; `_SPACE` has line breaks as well."""

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")

_COUNTS = re.compile(r"\{[ \t]*([0-9]+)[ \t]*(?:(,)[ \t]*([0-9]*)[ \t]*)?\}")

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "[": "[", "]": "]"}

_DIGITS = {"x": 2, "u": 4, "U": 8}
"""How many digits of base 16 follow an escape."""

MAX_REPEATED = 1 << 20


def read_gbnf(text: str, root: str = "root") -> Pattern:
    """Return the texts of a grammar.

    `root ::= "(" root ")" | "x"` → a pattern that refers to itself

    Raises GrammarError, with the place, where the grammar cannot be read, names a rule that it does not have, or has a
    rule that begins with itself; and where it has no text.
    """
    reader = _Reader(text)
    rules = reader.rules()
    if root not in rules:
        raise GrammarError(f"There is no rule {root!r}", text=text, remedy="Name the rule that a whole text is.")
    reader.check_names()
    reader.check_left_recursion()
    productive = productive_nodes(rules[root])
    if id(rules[root]) not in productive:
        raise reader.error("The grammar has no text", reader.rule_positions[root], "Let some text end.")
    left = {name: _productive_part(rule, productive) for name, rule in rules.items() if id(rule) in productive}
    rules.clear()
    rules.update(left)  # in place, since references look here
    return rules[root]


@deep
def _productive_part(node: Pattern, productive: set[int]) -> Pattern:
    match node:
        case Alternation(options):
            left = (option for option in options if id(option) in productive)
            return alternation(*(_productive_part(option, productive) for option in left))
        case Concat(parts):
            return concat(*(_productive_part(part, productive) for part in parts))
        case Iteration(item, minimum, maximum):
            return repeat(_productive_part(item, productive), minimum, maximum) if id(item) in productive else EMPTY
        case _:
            return node


class _Reader:
    """Reads a grammar by recursive descent."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.definitions: dict[str, Pattern] = {}
        self.rule_positions: dict[str, int] = {}
        """Where each rule is defined."""
        self.references: list[tuple[str, int]] = []
        """The rules that are named, and where."""

    def error(self, problem: str, position: int, remedy: str) -> GrammarError:
        """Return the error that says what is wrong, and where."""
        return GrammarError(problem, text=self.text, place=place_in(self.text, position), remedy=remedy)

    def fail(self, problem: str, remedy: str = "Correct the grammar.") -> NoReturn:
        raise self.error(problem, self.position, remedy)

    def take(self, sign: str) -> bool:
        """Read a sign, if it comes next."""
        is_next = self.text.startswith(sign, self.position)
        self.position += len(sign) * is_next
        return is_next

    def skip(self, *, lines: bool) -> None:
        """Read blanks and comments, and line breaks if these mean nothing here."""
        blank = (_SPACE if lines else _BLANK).match(self.text, self.position)
        assert blank is not None, "it matches the empty text"
        self.position = blank.end()

    def rules(self) -> dict[str, Pattern]:
        """Read all rules."""
        self.skip(lines=True)
        while self.position < len(self.text):
            start = self.position
            name = self.name()
            if name is None:
                self.fail("A rule begins with a name of letters, digits and dashes")
            if name in self.rule_positions:
                raise self.error(f"The rule {name!r} is defined twice", start, "Leave one out, or name it differently.")
            self.rule_positions[name] = start
            self.skip(lines=False)
            if not self.take("::="):
                self.fail(f"'::=' is missing behind the name {name!r}")
            self.skip(lines=True)
            self.definitions[name] = self.alternatives(nested=False)
            if self.position < len(self.text) and self.text[self.position] not in "\r\n":
                self.fail(f"{self.text[self.position]!r} continues no rule")
            self.skip(lines=True)
        return self.definitions

    def name(self) -> str | None:
        """Read the name of a rule, if one comes next."""
        name = _NAME.match(self.text, self.position)
        self.position = self.position if name is None else name.end()
        return None if name is None else name[0]

    @deep
    def alternatives(self, *, nested: bool) -> Pattern:
        """Read sequences with bars between them; in parentheses, lines may break anywhere."""
        options = [self.sequence(nested=nested)]
        while self.take("|"):
            self.skip(lines=True)
            options.append(self.sequence(nested=nested))
        return alternation(*options)

    def sequence(self, *, nested: bool) -> Pattern:
        """Read items, one after the other, perhaps none."""
        parts: list[Pattern] = []
        while (item := self.item()) is not None:
            parts.append(self.repeated(item))
            self.skip(lines=nested)
        if self.position < len(self.text) and self.text[self.position] in "*+?{":
            self.fail("There is nothing to repeat")
        return concat(*parts)

    def item(self) -> Pattern | None:
        """Read a text, a set of characters, the name of a rule or a group, if one comes next."""
        start = self.position
        if self.take('"'):
            characters = []
            while not self.take('"'):
                characters.append(self.character())
            return literal("".join(characters))
        if self.take("["):
            return self.character_class()
        if self.take("("):
            self.skip(lines=True)
            group = self.alternatives(nested=True)
            if not self.take(")"):
                self.fail("A parenthesis is not closed")
            return group
        if self.take("."):
            return ANY_CHARACTER
        if self.text.startswith(("<", "!<"), start):
            self.fail("Tokens of a vocabulary are unsupported", "Write the text of the token.")
        name = self.name()
        if name is None:
            return None
        self.references.append((name, start))
        return Reference(name, self.definitions)

    def repeated(self, item: Pattern) -> Pattern:
        """Read the signs that repeat an item, and return it with them."""
        while True:
            self.skip(lines=False)
            start = self.position
            if self.take("*"):
                item = repeat(item, 0, None)
            elif self.take("+"):
                item = repeat(item, 1, None)
            elif self.take("?"):
                item = repeat(item, 0, 1)
            elif counts := _COUNTS.match(self.text, start):
                self.position = counts.end()
                least = int(counts[1])
                most = least if counts[2] is None else int(counts[3]) if counts[3] else None
                if max(least, most or 0) > MAX_REPEATED or (most is not None and most < least):
                    raise self.error(
                        "A repetition has its numbers in the wrong order, or is too large",
                        start,
                        f"Give the smaller first, and none above {MAX_REPEATED:,}.",
                    )
                item = repeat(item, least, most)
            elif self.take("{"):
                raise self.error("A repetition is malformed", start, "Write {2}, {2,} or {2,5}.")
            else:
                return item

    def character(self) -> str:
        """Read a character or an escape."""
        start = self.position
        if start >= len(self.text):
            self.fail("A text or a set of characters is not closed")
        self.position += 1
        if self.text[start] != "\\":
            return self.text[start]
        sign = self.text[self.position : self.position + 1]
        self.position += 1
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        digits = self.text[self.position : self.position + _DIGITS.get(sign, 0)]
        if sign not in _DIGITS or not re.fullmatch(f"[0-9A-Fa-f]{{{_DIGITS[sign]}}}", digits):
            raise self.error("An escape is unknown or malformed", start, 'Write \\n, \\\\, \\", \\x0a, \\u00e9, …')
        self.position += len(digits)
        code_point = int(digits, 16)
        if code_point > MAX_CODE_POINT or 0xD800 <= code_point <= 0xDFFF:
            raise self.error("An escape is no character", start, "Write one of Unicode that is no surrogate.")
        return chr(code_point)

    def character_class(self) -> Pattern:
        """Read a set of characters behind its bracket."""
        start = self.position - 1
        negated = self.take("^")
        ranges: list[Range] = []
        while not self.take("]"):
            low = high = ord(self.character())
            if self.text.startswith("-", self.position) and not self.text.startswith("-]", self.position):
                self.position += 1
                high = ord(self.character())
            if high < low:
                raise self.error("A range of characters is in the wrong order", start, "Give the smaller first.")
            ranges.append((low, high))
        if not ranges and not negated:
            raise self.error("A set has no character", start, "Name one.")
        return char_set(*ranges, negated=negated)

    def check_names(self) -> None:
        """Raise GrammarError for a name that no rule has."""
        for name, position in self.references:
            if name not in self.definitions:
                raise self.error(f"There is no rule {name!r}", position, "Define it, or correct the name.")

    def check_left_recursion(self) -> None:
        """Raise GrammarError for a rule that may begin with itself."""
        beginnings = _beginning_of_each(self.definitions)
        for name in self.definitions:
            reached: set[str] = set()
            border = beginnings[name].rules
            while border:
                reached |= border
                border = set[str]().union(*(beginnings[rule].rules for rule in border)) - reached
            if name in reached:
                raise self.error(
                    f"The rule {name!r} may begin with itself",
                    self.rule_positions[name],
                    'Write a repetition: sum ::= term ("+" term)* in place of sum ::= term | sum "+" term.',
                )


class _Beginning(NamedTuple):
    """The rules that a text may begin with, and whether it may be empty."""

    rules: set[str]
    may_be_empty: bool


def _beginning_of_each(rules: Mapping[str, Pattern]) -> dict[str, _Beginning]:
    beginnings = {name: _Beginning(set(), may_be_empty=False) for name in rules}
    while True:
        grown = {name: _beginning(rule, beginnings) for name, rule in rules.items()}
        if grown == beginnings:
            return beginnings
        beginnings = grown


@deep
def _beginning(node: Pattern, known: Mapping[str, _Beginning]) -> _Beginning:
    """Return what the texts of a node begin with, given what is known of those of rules."""
    match node:
        case Literal(text):
            return _Beginning(set(), not text)
        case Reference(name):
            return _Beginning({name}, known[name].may_be_empty)
        case Iteration(item, minimum):
            rules, may_be_empty = _beginning(item, known)
            return _Beginning(rules, may_be_empty or minimum == 0)
        case Alternation(options):
            rules_of_options, may_be_empty_each = zip(*[_beginning(option, known) for option in options], strict=True)
            return _Beginning(set().union(*rules_of_options), any(may_be_empty_each))
        case Concat(parts):
            beginning = _Beginning(set(), may_be_empty=True)
            for part in parts:
                if beginning.may_be_empty:
                    rules, may_be_empty = _beginning(part, known)
                    beginning = _Beginning(beginning.rules | rules, may_be_empty)
            return beginning
    return _Beginning(set(), "" in getattr(node, "texts", ()))
