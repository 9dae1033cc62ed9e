"""Errors of grammars: each says what is wrong, where, and what to do."""

import pytest

pytest.importorskip("lark")

from structured import Grammar
from structured.errors import GrammarError, SchemaError

ERRORS = {
    "an open string": (
        'start: "a',
        ('Unexpected input, at line 1, column 8. Correct the grammar.\n    start: "a\n           ^'),
    ),
    "an open bracket": (
        'start: "a" )',
        ('Unexpected input, at line 1, column 12. Correct the grammar.\n    start: "a" )\n               ^'),
    ),
    "an undefined rule": (
        ('start: a\n  | b\na: "x"'),
        ("b is not defined, at line 2, column 5. Define it, or correct the name.\n      | b\n        ^"),
    ),
    "an undefined terminal": (
        ("start: A\n"),
        ("A is not defined, at line 1, column 8. Define it, or correct the name.\n    start: A\n           ^"),
    ),
    "an undefined terminal in a terminal": (
        ('start: A\nA: B "x"'),
        ('B is not defined, at line 2, column 4. Define it, or correct the name.\n    A: B "x"\n       ^'),
    ),
    "no start": (
        'begin: "a"',
        ("There is no rule start, which a whole text is. Define it, or pass the name of another rule as start."),
    ),
    "a rule twice": (
        ('start: "a"\nstart: "b"'),
        ('start is defined twice, at line 2, column 1. Join both by |, or rename one.\n    start: "b"\n    ^'),
    ),
    "a terminal twice": (
        ('start: A\nA: "b"\nA: "c"'),
        ('A is defined twice, at line 3, column 1. Join both by |, or rename one.\n    A: "c"\n    ^'),
    ),
    "a bad expression": (
        ("start: A\nA: /a(/"),
        (
            "The terminal A is refused: missing ), unterminated subpattern, at line 2, column 6. Correct "
            "the expression.\n"
            "    A: /a(/\n"
            "         ^"
        ),
    ),
    "a bad expression in a rule": (
        'start: "x" /[b/',
        (
            "The terminal /[b/ is refused: unterminated character set, at line 1, column 13. Correct the "
            "expression.\n"
            '    start: "x" /[b/\n'
            "                ^"
        ),
    ),
    "a conflict": (
        ('start: a | b\na: "x"\nb: "x"'),
        (
            'The grammar is not LALR(1): at the end of the text, what was read may be either of `a: "x"` '
            'and `b: "x"`, at line 3, column 1. Make one rule of them, let the token behind tell them '
            "apart, or give one a priority: `name.2: …`.\n"
            '    b: "x"\n'
            "    ^"
        ),
    ),
    "a conflict of repetitions": (
        ('start: x? y? \nx: "a"*\ny: "a"*'),
        (
            "The grammar is not LALR(1): at the end of the text, what was read may be either of `start: x` "
            "and `y:`, at line 3, column 1. Make one rule of them, let the token behind tell them apart, or "
            "give one a priority: `name.2: …`.\n"
            '    y: "a"*\n'
            "    ^"
        ),
    ),
    "a declared terminal": (
        ("start: A\n%declare A"),
        (
            "The terminal A is declared, and has no text, at line 2, column 10. Define it, or pass an "
            "indenter that makes it.\n"
            "    %declare A\n"
            "             ^"
        ),
    ),
    "an empty terminal": (
        ("start: A\nA: /a*/"),
        (
            "The terminal A is refused: it may be empty, at line 2, column 4. Let it match something, and "
            "make it optional where it is used: `X?`.\n"
            "    A: /a*/\n"
            "       ^"
        ),
    ),
    "a rule that is itself": (
        'start: a\na.2: a | "x"',
        (
            "The rule a may be made of itself alone, at line 2, column 1. Leave out the alternative that adds no "
            'text.\n    a.2: a | "x"\n    ^'
        ),
    ),
    "a rule that is itself behind what may be empty": (
        'start: a\na.2: b a | "x"\nb.2: | "y"',
        (
            "The rule a may be made of itself alone, at line 2, column 1. Leave out the alternative that adds no "
            'text.\n    a.2: b a | "x"\n    ^'
        ),
    ),
    "an empty terminal of strings": (
        ('start: A\nA: "a"?'),
        (
            "The terminal A is refused: it may be empty, at line 2, column 1. Let it match something, and "
            "make it optional where it is used: `X?`.\n"
            '    A: "a"?\n'
            "    ^"
        ),
    ),
    "a reference to a group": (
        ("start: A\nA: /(?P<x>a)(?P=x)/"),
        (
            "The terminal A is refused: a reference to a group cannot be enforced, at line 2, column 4. Say "
            "the same without it, or in the rules.\n"
            "    A: /(?P<x>a)(?P=x)/\n"
            "       ^"
        ),
    ),
    "a reference in a rule": (
        "start: /(a)\\1/",
        (
            "The terminal /(a)\\1/ is refused: a reference to a group cannot be enforced, at line 1, column "
            "8. Say the same without it, or in the rules.\n"
            "    start: /(a)\\1/\n"
            "           ^"
        ),
    ),
    "a missing import": (
        ("start: A\n%import common.NOPE -> A"),
        (
            "A is not defined in the grammar that it is imported from, at line 2, column 24. Correct the "
            "name, or define it here.\n"
            "    %import common.NOPE -> A\n"
            "                           ^"
        ),
    ),
    "a missing grammar": (
        ("start: A\n%import nowhere.NOPE -> A"),
        (
            "There is no grammar nowhere.lark to import from, at line 2, column 9. Correct the name, or "
            "pass its folder in import_paths.\n"
            "    %import nowhere.NOPE -> A\n"
            "            ^"
        ),
    ),
    "an undefined terminal that is ignored": (
        ('start: "a"\n%ignore WS'),
        ("WS is not defined, at line 2, column 9. Define it, or import it.\n    %ignore WS\n            ^"),
    ),
    "arguments of a template": (
        ('start: t{"a"}\nt{x, y}: x y'),
        (
            "The template t has 2 parameters, and is used with 1, at line 1, column 8. Give it as many "
            "arguments as it has parameters.\n"
            '    start: t{"a"}\n'
            "           ^"
        ),
    ),
    "a terminal in itself": (
        ('start: A\nA: "a" A'),
        (
            "The terminal A contains itself, at line 2, column 1. Only rules may: write it in lower case.\n"
            '    A: "a" A\n'
            "    ^"
        ),
    ),
    "an unknown flag": (
        "start: /a/q",
        ("q is not defined, at line 1, column 11. Define it, or correct the name.\n    start: /a/q\n              ^"),
    ),
    "a range of strings": (
        'start: "a".."bc"',
        (
            "A range is not of two single characters, at line 1, column 11. Write one on each side, such as "
            '"a".."z", or a regular expression.\n'
            '    start: "a".."bc"\n'
            "              ^"
        ),
    ),
    "a rule in a terminal": (
        ('start: A\nA: b\nb: "x"'),
        (
            "The terminal A contains the rule b, at line 2, column 1. Make a terminal of that rule, or a "
            "rule of the terminal.\n"
            "    A: b\n"
            "    ^"
        ),
    ),
    "an extended rule": (
        ('start: "a"\n%extend b: "x"'),
        (
            "b is extended, and not defined before, at line 2, column 9. Define or import it first.\n"
            '    %extend b: "x"\n'
            "            ^"
        ),
    ),
    "an overridden rule": (
        ('start: "a"\n%override b: "x"'),
        (
            "b is overridden, and not defined before, at line 2, column 11. Define or import it first.\n"
            '    %override b: "x"\n'
            "              ^"
        ),
    ),
    "an upper-case letter": (
        'Start: "a"',
        (
            "Expected rule or terminal definition (missing colon), at line 1, column 2. Correct the "
            "grammar.\n"
            '    Start: "a"\n'
            "     ^"
        ),
    ),
    "no text": (
        'start: "(" start ")"',
        "The grammar has no text. Let what contains itself end somewhere.",
    ),
    "a conflict of what is read before": (
        ('start: [("a" x)+] ("a" y)+\nx: "c"\ny: "c"'),
        (
            'The grammar is not LALR(1): before "a", what was read may be either of `x: "c"` and `y: "c"`, '
            "at line 3, column 1. Make one rule of them, let the token behind tell them apart, or give one "
            "a priority: `name.2: …`.\n"
            '    y: "c"\n'
            "    ^"
        ),
    ),
    "a repetition": (
        'start: "a"~5..2',
        (
            "A repetition has at least 5 items, and at most 2, at line 1, column 12. Write the smaller "
            "number first.\n"
            '    start: "a"~5..2\n'
            "               ^"
        ),
    ),
    "a lookbehind": (
        ("start: A\nA: /(?<=a+)b/"),
        (
            "The terminal A is refused: look-behind requires fixed-width pattern, at line 2, column 4. "
            "Correct the expression.\n"
            "    A: /(?<=a+)b/\n"
            "       ^"
        ),
    ),
    "an indent without an indenter": (
        ("start: _NL _INDENT\n%declare _INDENT\n_NL: /\\n/"),
        (
            "The terminal _INDENT is declared, and has no text, at line 2, column 10. Define it, or pass an "
            "indenter that makes it.\n"
            "    %declare _INDENT\n"
            "             ^"
        ),
    ),
    "an escape": (
        'start: "\\x"',
        (
            "\\x has an escape that Python does not know, at line 1, column 8. Correct it.\n"
            '    start: "\\x"\n'
            "           ^"
        ),
    ),
    "a similar name": (
        ('start: number\nnumbre: "1"'),
        (
            "number is not defined, at line 1, column 8. Define it, or correct the name. Did you mean "
            "'numbre'?\n"
            "    start: number\n"
            "           ^"
        ),
    ),
    "an atomic group": (
        ("start: A\nA: /(?>a|ab)c/"),
        (
            "The terminal A is refused: an atomic group cannot be enforced, at line 2, column 4. Say the "
            "same without it, or in the rules.\n"
            "    A: /(?>a|ab)c/\n"
            "       ^"
        ),
    ),
}


@pytest.mark.parametrize(("grammar", "message"), ERRORS.values(), ids=ERRORS)
def test_an_error_says_what_where_and_what_to_do(grammar, message):
    with pytest.raises(GrammarError) as refused:
        Grammar(grammar).check()
    assert str(refused.value) == message
    assert isinstance(refused.value, SchemaError)
    assert (refused.value.place is None) == ("^" not in message)


def test_a_grammar_without_a_start_says_so():
    with pytest.raises(GrammarError, match="There is no rule begin, which a whole text is"):
        Grammar('start: "a"', "begin").check()


def test_an_indenter_makes_what_is_declared():
    from lark.indenter import PythonIndenter

    grammar = "start: _NEWLINE _INDENT A _NEWLINE _DEDENT\n%declare _INDENT _DEDENT\n_NEWLINE: /\\n */\nA: /a/"
    Grammar(grammar, indenter=PythonIndenter()).check()
