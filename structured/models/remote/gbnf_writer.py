r"""GBNF, the language of grammars of llama.cpp, for what has no grammar of its own.

`Choice(["yes", "no"])` → `root ::= "yes" | "no"`. Source: grammars/README.md of llama.cpp.
"""

from collections.abc import Iterable

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.regex import Alternation, CharSet, Concat, Literal, Pattern, Repeat, Words
from structured.regex.printing import quantifier


def words_to_gbnf(texts: Iterable[str]) -> str:
    """Return the grammar of some texts."""
    return f"root ::= {' | '.join(map(_quoted, texts))}"


def pattern_to_gbnf(pattern: Pattern) -> str:
    """Return the grammar of a pattern's texts. Raises SchemaError if it has nodes that GBNF has no words for."""
    return f"root ::= {_expression(pattern)}"


@deep
def _expression(pattern: Pattern) -> str:
    match pattern:
        case Literal():
            return _quoted(pattern.text)
        case Words():
            return f"({' | '.join(map(_quoted, pattern.texts))})"
        case CharSet():
            return f"[{''.join(map(_range, pattern.ranges))}]"
        case Concat():
            return " ".join(map(_expression, pattern.parts))
        case Alternation():
            return f"({' | '.join(map(_expression, pattern.options))})"
        case Repeat():
            return f"({_expression(pattern.item)}){quantifier(pattern.minimum, pattern.maximum)}"
    raise SchemaError(
        "The regular expression has lookaround that GBNF, the language of llama.cpp, has no short form for",
        remedy="Write it without lookaround, or use a model that runs here.",
    )


def _range(characters: tuple[int, int]) -> str:
    low, high = characters
    return _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}"


def _quoted(text: str) -> str:
    return f'"{"".join(map(_escaped, map(ord, text)))}"'


def _escaped(code_point: int) -> str:
    character = chr(code_point)
    if character.isascii() and (character.isalnum() or character == " "):
        return character
    if code_point < 0x100:
        return f"\\x{code_point:02X}"
    return f"\\u{code_point:04X}" if code_point < 0x10000 else f"\\U{code_point:08X}"
