"""Errors of grammars: each says what is wrong, where, and what to do."""

import pytest

pytest.importorskip("lark")

from structured import Grammar
from structured.errors import GrammarError, SchemaError

ERRORS = {
    "an open string": (
        'start: "a',
        'Unexpected input, at line 1, column 8. Correct the grammar.\n    start: "a\n           ^',
    ),
    "an open bracket": (
        'start: "a" )',
        'Unexpected input, at line 1, column 12. Correct the grammar.\n    start: "a" )\n               ^',
    ),
    "an undefined rule": (
        'start: a\n  | b\na: "x"',
        (
            "Rule 'b' used but not defined (in rule start), at line 2, column 5. Correct the "
            "grammar.\n"
            "      | b\n"
            "        ^"
        ),
    ),
    "an undefined terminal": (
        "start: A\n",
        (
            "Rule 'A' used but not defined (in rule start), at line 1, column 8. Correct the "
            "grammar.\n"
            "    start: A\n"
            "           ^"
        ),
    ),
    "an undefined terminal in a terminal": (
        'start: A\nA: B "x"',
        'Terminal used but not defined: B, at line 2, column 4. Correct the grammar.\n    A: B "x"\n       ^',
    ),
    "no start": (
        'begin: "a"',
        "Using an undefined rule: 'start'. Define it, or pass the name of another rule as start.",
    ),
    "a rule twice": (
        'start: "a"\nstart: "b"',
        "Rule 'start' defined more than once, at line 2, column 1. Correct the grammar.\n    start: \"b\"\n    ^",
    ),
    "a terminal twice": (
        'start: A\nA: "b"\nA: "c"',
        "Terminal 'A' defined more than once, at line 3, column 1. Correct the grammar.\n    A: \"c\"\n    ^",
    ),
    "a bad expression": (
        "start: A\nA: /a(/",
        (
            "The terminal A is refused: missing ), unterminated subpattern, at line 2, column 6. "
            "Correct the expression.\n"
            "    A: /a(/\n"
            "         ^"
        ),
    ),
    "a bad expression in a rule": (
        'start: "x" /[b/',
        (
            "The terminal /[b/ is refused: unterminated character set, at line 1, column "
            "13. Correct the expression.\n"
            '    start: "x" /[b/\n'
            "                ^"
        ),
    ),
    "a conflict": (
        'start: a | b\na: "x"\nb: "x"',
        (
            "The grammar is not LALR(1): Reduce/Reduce collision in Terminal('$END') between <a : X> and "
            "<b : X>, at line 2, column 1. Make one rule of them, or give one a priority: `name.2: …`.\n"
            '    a: "x"\n'
            "    ^"
        ),
    ),
    "a conflict of repetitions": (
        'start: x? y? \nx: "a"*\ny: "a"*',
        (
            "The grammar is not LALR(1): Reduce/Reduce collision in Terminal('$END') "
            "between <start : > and <x : > and <y : >, at line 1, column 1. Make one rule "
            "of them, or give one a priority: `name.2: …`.\n"
            "    start: x? y? \n"
            "    ^"
        ),
    ),
    "a declared terminal": (
        "start: A\n%declare A",
        (
            "The terminal A is declared, and has no text, at line 2, column 10. Define it, or "
            "pass an indenter that makes it.\n"
            "    %declare A\n"
            "             ^"
        ),
    ),
    "an empty terminal": (
        "start: A\nA: /a*/",
        (
            "The terminal A is refused: it may be empty, at line 2, column 4. Let it match "
            "something, and make it optional where it is used: `X?`.\n"
            "    A: /a*/\n"
            "       ^"
        ),
    ),
    "a rule that is itself": (
        'start: a\na.2: a | "x"',
        (
            "The rule a may be made of itself alone, at line 2, column 1. Leave out the "
            "alternative that adds no text.\n"
            '    a.2: a | "x"\n'
            "    ^"
        ),
    ),
    "a rule that is itself behind what may be empty": (
        'start: a\na.2: b a | "x"\nb.2: | "y"',
        (
            "The rule a may be made of itself alone, at line 2, "
            "column 1. Leave out the alternative that adds no text.\n"
            '    a.2: b a | "x"\n'
            "    ^"
        ),
    ),
    "an empty terminal of strings": (
        'start: A\nA: "a"?',
        (
            "The terminal A is refused: it may be empty, at line 2, column 1. Let it "
            "match something, and make it optional where it is used: `X?`.\n"
            '    A: "a"?\n'
            "    ^"
        ),
    ),
    "a reference to a group": (
        "start: A\nA: /(?P<x>a)(?P=x)/",
        (
            "The terminal A is refused: a backreference cannot be enforced, at line "
            "2, column 13. Say the same without it, or in the rules.\n"
            "    A: /(?P<x>a)(?P=x)/\n"
            "                ^"
        ),
    ),
    "a reference in a rule": (
        "start: /(a)\\1/",
        (
            "The terminal /(a)\\1/ is refused: a backreference cannot be enforced, at "
            "line 1, column 12. Say the same without it, or in the rules.\n"
            "    start: /(a)\\1/\n"
            "               ^"
        ),
    ),
    "a missing import": (
        "start: A\n%import common.NOPE -> A",
        (
            "Rule 'A' used but not defined (in rule start), at line 2, column 24. Correct the "
            "grammar.\n"
            "    %import common.NOPE -> A\n"
            "                           ^"
        ),
    ),
    "a missing grammar": (
        "start: A\n%import nowhere.NOPE -> A",
        (
            "There is no grammar nowhere.lark to import from, at line 2, column 9. Correct the "
            "name, or pass its folder in import_paths.\n"
            "    %import nowhere.NOPE -> A\n"
            "            ^"
        ),
    ),
    "an undefined terminal that is ignored": (
        'start: "a"\n%ignore WS',
        (
            "The ignored terminal 'WS' is not defined, at "
            "line 2, column 9. Correct the grammar.\n"
            "    %ignore WS\n"
            "            ^"
        ),
    ),
    "arguments of a template": (
        'start: t{"a"}\nt{x, y}: x y',
        (
            "Wrong number of template arguments used for t (expected 2, got 1) (in rule "
            "start), at line 2, column 1. Correct the grammar.\n"
            "    t{x, y}: x y\n"
            "    ^"
        ),
    ),
    "a terminal in itself": (
        'start: A\nA: "a" A',
        (
            "Recursion in terminal 'A' (recursion is only allowed in rules, not terminals), at "
            "line 2, column 1. Correct the grammar.\n"
            '    A: "a" A\n'
            "    ^"
        ),
    ),
    "an unknown flag": (
        "start: /a/q",
        (
            "Rule 'q' used but not defined (in rule start), at line 1, column 11. Correct the "
            "grammar.\n"
            "    start: /a/q\n"
            "              ^"
        ),
    ),
    "a range of strings": (
        'start: "a".."bc"',
        'A range, such as "a".."z", is not of two single characters. Correct the grammar.',
    ),
    "a rule in a terminal": (
        'start: A\nA: b\nb: "x"',
        (
            "Rules aren't allowed inside terminals ('b' in A), at line 3, column "
            "1. Correct the grammar.\n"
            '    b: "x"\n'
            "    ^"
        ),
    ),
    "an extended rule": (
        'start: "a"\n%extend b: "x"',
        (
            "Can't extend rule b as it wasn't defined before, at line 2, column 9. Correct the "
            "grammar.\n"
            '    %extend b: "x"\n'
            "            ^"
        ),
    ),
    "an overridden rule": (
        'start: "a"\n%override b: "x"',
        (
            "Cannot override a nonexisting rule b, at line 2, column 11. Correct the grammar.\n"
            '    %override b: "x"\n'
            "              ^"
        ),
    ),
    "an upper-case letter": (
        'Start: "a"',
        (
            "Expected rule or terminal definition (missing colon), at line 1, column 2. "
            "Correct the grammar.\n"
            '    Start: "a"\n'
            "     ^"
        ),
    ),
    "no text": ('start: "(" start ")"', "The grammar has no text. Let what contains itself end somewhere."),
    "a conflict of what is read before": (
        'start: [("a" x)+] ("a" y)+\nx: "c"\ny: "c"',
        (
            "The grammar is not LALR(1): Reduce/Reduce collision in Terminal('A') "
            "between <x : C> and <y : C>, at line 2, column 1. Make one rule of "
            "them, or give one a priority: `name.2: …`.\n"
            '    x: "c"\n'
            "    ^"
        ),
    ),
    "a repetition": ('start: "a"~5..2', "Bad Range for Terminal('A') (5..2 isn't allowed). Correct the grammar."),
    "a lookbehind": (
        "start: A\nA: /(?<=a+)b/",
        (
            "The terminal A is refused: look-behind requires fixed-width pattern, at line 2, column 4. "
            "Correct the expression.\n"
            "    A: /(?<=a+)b/\n"
            "       ^"
        ),
    ),
    "an indent without an indenter": (
        "start: _NL _INDENT\n%declare _INDENT\n_NL: /\\n/",
        (
            "The terminal _INDENT is declared, and has no text, at line 2, column 10. "
            "Define it, or pass an indenter that makes it.\n"
            "    %declare _INDENT\n"
            "             ^"
        ),
    ),
    "an escape": (
        'start: "\\x"',
        '\\x has an escape that Python does not know, at line 1, column 8. Correct it.\n    start: "\\x"\n           ^',
    ),
    "a similar name": (
        'start: number\nnumbre: "1"',
        (
            "Rule 'number' used but not defined (in rule start), at line 1, column 8. Correct the "
            "grammar. Did you mean 'numbre'?\n"
            "    start: number\n"
            "           ^"
        ),
    ),
    "a lookaround within a lookbehind": (
        "start: A\nA: /(?<=(?!b)[a-c])x/",
        (
            "The terminal A is refused: an anchor or a lookaround within a lookbehind cannot be enforced, "
            "at line 2, column 4. Say the same without it, or in the rules.\n"
            "    A: /(?<=(?!b)[a-c])x/\n"
            "       ^"
        ),
    ),
    "an atomic group": (
        "start: A\nA: /(?>a|ab)c/",
        (
            "The terminal A is refused: an atomic group cannot be enforced, at line 2, column 4. "
            "Say the same without it, or in the rules.\n"
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
    with pytest.raises(GrammarError, match="Using an undefined rule: 'begin'"):
        Grammar('start: "a"', "begin").check()


def test_an_indenter_makes_what_is_declared():
    from lark.indenter import PythonIndenter

    grammar = "start: _NEWLINE _INDENT A _NEWLINE _DEDENT\n%declare _INDENT _DEDENT\n_NEWLINE: /\\n */\nA: /a/"
    Grammar(grammar, indenter=PythonIndenter()).check()
