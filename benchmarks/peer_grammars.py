"""The grammars that ship in the languages of other engines, as nearly as those allow.

They are rewritten from the files that ship, so that all engines read the same rules. Where they differ the peers have
less to do. Neither has lookaround: keywords need nothing between them and what follows, and spaces may stand at the
ends of a text. xgrammar has no lexer: a name may be a keyword as well. Neither counts indentation: their Python is a
sequence of lines, of which any may follow any.
"""

import re
from pathlib import Path

import structured

TINY_OF_LLGUIDANCE = 'start: "a" start | "b"'
TINY_OF_XGRAMMAR = 'root ::= "a" root | "b"'

_FOLDER = Path(structured.__file__).parent / "output_types" / "grammars"

_LINES = {
    "block: simple | _NEWLINE _INDENT statement+ _DEDENT": "block: simple | _NEWLINE",
    "?statement: simple | compound": "?statement: simple | compound | elif_ | else_ | except_ | finally_",
    'try_: _TRY ":" block (except_+ [else_] [finally_] | finally_)': 'try_: _TRY ":" block',
    "%declare _INDENT _DEDENT": "",
    r"%ignore /(?<=.) +/": r"%ignore / +/",
    r"_NEWLINE: (/\n */ | _COMMENT)+": r"_NEWLINE: /(\n *|#[^\t\n\r\x00]*)+/",
}
"""Lines of Python's grammar, and what is in place of them."""

_NEGATED = re.compile(r"(?<=NAME: )/\(\?!((?:\((?:[^()]|\([^()]*\))*\)|[^()])*)\)(.*?)/$", re.MULTILINE)
_LOOKAROUND = re.compile(r"\(\?<?[=!](?:\[[^\]]*\]|[^()\[\]])*\)")

_SPACES = {"json": r"[ \t\n\r]*", "sql": r"[ \t\n\r\f]*", "python": r"[ ]*"}

_TERMINALS_OF_XGRAMMAR = {
    "json": {
        "STRING": r"""["] ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* ["]""",
        "NUMBER": r'"-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?',
    },
    "sql": {
        "COMPARISON": '"<=" | ">=" | "<>" | "!=" | "==" | "=" | "<" | ">"',
        "ADDITION": r"[+\-]",
        "MULTIPLICATION": "[*%/]",
        "SIGN": r"[+\-]",
        "NUMBER": r'([0-9]+ ("." [0-9]*)? | "." [0-9]+) ([eE] [+\-]? [0-9]+)?',
        "STRING": r"""['] ([^'\x00] | "''")* [']""",
        "NAME": r"""[A-Za-z_] [A-Za-z0-9_]* | ["] ([^"\x00] | "\"\"")+ ["]""",
    },
    "python": {
        "NAME": "[A-Za-z_] [A-Za-z0-9_]*",
        "NUMBER": r'"0" | [1-9] [0-9]* | "0" [xX] [0-9a-fA-F]+ | ("0" | [1-9] [0-9]*)? "." [0-9]+ ([eE] [+\-]? [0-9]+)?'
        r' | ("0" | [1-9] [0-9]*) "."? [eE] [+\-]? [0-9]+',
        "STRING": r"""["] ([^"\\\n\r\x00] | "\\" [\\'"abfnrtv])* ["] | ['] ([^'\\\n\r\x00] | "\\" [\\'"abfnrtv])* [']"""
        r""" | "\"\"\"" ([^"\\\r\x00] | "\\" [\\'"abfnrtv])* "\"\"\"" """,
        "AUGMENTED": r'("**" | "//" | "<<" | ">>" | [-+*/%&|^@]) "="',
        "DOTS": '"."+',
        "STAR": '"*"',
        "_NEWLINE": r'("\n" [ ]* | "#" [^\t\n\r\x00]*)+',
    },
}


def for_llguidance(name: str) -> str:
    """Return a grammar that ships in llguidance's variant of Lark's language."""
    text = _without_indentation(name).replace("(?ai:", "(?i:")
    text = _NEGATED.sub(lambda found: f"(/{_plain(found[2])}/ & ~/{_plain(found[1])}/)", text)
    return "\n".join(_plain(line) for line in text.split("\n"))


def for_xgrammar(name: str) -> str:
    """Return a grammar that ships in xgrammar's dialect of GBNF: each terminal takes the spaces behind it."""
    rules: list[str] = []
    terminals: dict[str, str] = {}
    for statement in re.split(
        r"\n(?=[?!]?\w+:|%|$)", re.sub(r"^//.*$", "", _without_indentation(name), flags=re.MULTILINE)
    ):
        found = re.match(r"[?!]?(\w+):(.*)", statement.strip(), re.DOTALL)
        if found and found[1].islower():
            rules.append(f"{_rule(found[1])} ::= {_expansion(found[2])}")
        elif found:
            keyword = re.search(r"/(?:\(\?ai:)?([a-zA-Z]+)\)?\(\?!", found[2])
            own = _TERMINALS_OF_XGRAMMAR[name].get(found[1])
            if own or keyword:
                terminals[found[1]] = own or _keyword(keyword[1], is_exact=name == "python")  # type: ignore[index]
    rules += [f"t{terminal} ::= ({definition}) ws" for terminal, definition in terminals.items()]
    return "\n".join(["root ::= ws r_start", *rules, f"ws ::= {_SPACES[name]}"])


def _without_indentation(name: str) -> str:
    text = (_FOLDER / f"{name}.lark").read_text(encoding="utf-8")
    for line, instead in _LINES.items():
        text = text.replace(line, instead)
    return text


def _plain(text: str) -> str:
    """Return a line without lookaround."""
    return _LOOKAROUND.sub("", text)


def _rule(name: str) -> str:
    return f"r_{name}"


def _expansion(text: str) -> str:
    """Return the right side of a rule: `[x]` as `(x)?`, literals with spaces behind them, no aliases."""
    pieces = []
    for literal, alias, symbol, sign in re.findall(r'("(?:\\.|[^"\\])*")|(->\s*\w+)|(\w+)|(\S)', text):
        if literal:
            pieces.append(f"({literal} ws)")
        elif symbol:
            pieces.append(_rule(symbol) if symbol.islower() else f"t{symbol}")
        elif not alias:
            pieces.append({"[": "(", "]": ")?"}.get(sign, sign))
    return re.sub(r" ([?*+])(?= |$)", r"\1", " ".join(pieces))


def _keyword(text: str, *, is_exact: bool) -> str:
    return f'"{text}"' if is_exact else " ".join(f"[{letter.lower()}{letter.upper()}]" for letter in text)
