"""What llguidance has added to Lark's language (https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md).

None of it is a terminal or a rule of Lark's: a JSON Schema contains itself, a token is no text, and what ends at the
first match, or after so many tokens, is no longest match. So each is refused, by its name.
"""

import re

from structured.errors import GrammarError

_NOT_GRAMMAR = r'//[^\n]*|"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/[a-z]*'
"""Comments, texts and regular expressions, in which anything may stand."""

_ADDITIONS = {
    "inline": r"%(?:json|lark|regex|llguidance)\b",
    "attribute": r"(?<=\w)\[\s*(?:lazy|stop|suffix|max_tokens|temperature|capture)\b[^\]\n]*\]",
    "token": r"<\[[^\]\n]*\]>|<\|?[\w-]+\|?>",
}

_REMEDIES = {
    "inline": "Ask for the part alone, as a JsonSchema or a Regex, or write it as rules.",
    "attribute": "Let the regular expression say where the text ends; max_tokens= limits an answer.",
    "token": "Write the text of the token.",
}

_SCANNED = re.compile(f"{_NOT_GRAMMAR}|{'|'.join(f'(?P<{name}>{found})' for name, found in _ADDITIONS.items())}")


def refuse_additions(text: str) -> None:
    """Raise GrammarError, with the name and the place, if a grammar that Lark refused has such an addition."""
    for found in _SCANNED.finditer(text):
        if found.lastgroup is not None:
            before = text[: found.start()].split("\n")
            raise GrammarError(
                f"{found[0]!r} is of llguidance's variant of Lark, and unsupported",
                text=text,
                place=(len(before), len(before[-1]) + 1),
                remedy=_REMEDIES[found.lastgroup],
            )
