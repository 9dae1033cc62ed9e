"""Grammars of others. Those in GBNF: the texts of random ones are those that a set of texts grown rule by rule has."""

import itertools
import json
import pickle
import random

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import random_text

from structured import Grammar, extract
from structured.automata import RegularAutomaton
from structured.automata.byte_automaton import accepts_text
from structured.automata.grammar.gbnf import read_gbnf
from structured.errors import GrammarError
from structured.models import ScriptedModel

MOST = 5
"""Characters of the texts that are tried."""

NAMES = ("root", "a-rule", "B2")

LEAVES = st.sampled_from(
    [
        ("text", "a", '"a"'),
        ("text", "ab", '"\\x61b"'),
        ("text", "", '""'),
        ("set", "b", "[^a]"),
        ("set", "ab", "[a-b]"),
        ("set", "ab", "."),
        *(("rule", name, name) for name in NAMES),
    ]
)


def nodes(inner):
    return st.one_of(
        st.tuples(st.just("all"), st.lists(inner, max_size=3)),
        st.tuples(st.just("any"), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(
            st.just("again"), inner, st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 2), (2, None), (0, 0)])
        ),
    )


GRAMMARS = st.fixed_dictionaries({name: st.recursive(LEAVES, nodes, max_leaves=6) for name in NAMES})


def written(node) -> str:
    match node:
        case ("text" | "set" | "rule", _, text):
            return text
        case ("all", parts):
            return f"( {' '.join(map(written, parts))} # all\n )"
        case ("any", parts):
            return f"({' |'.join(map(written, parts))})"
        case ("again", part, counts):
            signs = {(0, None): "*", (1, None): "+", (0, 1): "?", (2, 2): "{2}", (2, None): "{ 2, }"}
            return written(part) + signs.get(counts, f"{{{counts[0]},{counts[1]}}}")
    raise AssertionError(node)


def joined(left: set[str], right: set[str]) -> set[str]:
    return {a + b for a in left for b in right if len(a + b) <= MOST}


def texts(node, known) -> set[str]:
    """Return the texts of a node of at most `MOST` characters, given those of the rules that are known so far."""
    match node:
        case ("text", text, _):
            return {text}
        case ("set", characters, _):
            return set(characters)
        case ("rule", name, _):
            return known[name]
        case ("all", parts):
            found = {""}
            for part in parts:
                found = joined(found, texts(part, known))
            return found
        case ("any", parts):
            return set().union(*(texts(part, known) for part in parts))
        case ("again", part, (least, most)):
            once, found, power = texts(part, known), set(), {""}
            for count in range((least + MOST if most is None else most) + 1):
                found |= power if count >= least else set()
                power = joined(power, once)
            return found
    raise AssertionError(node)


def all_texts(rules) -> dict[str, set[str]]:
    known = {name: set() for name in rules}
    while (grown := {name: texts(rule, known) for name, rule in rules.items()}) != known:
        known = grown
    return known


@settings(max_examples=examples(300), deadline=None)
@given(rules=GRAMMARS)
def test_the_texts_of_a_grammar_are_those_that_its_rules_make(rules):
    """Of all texts of a few characters, no more and no fewer; what is refused begins with itself, or has no text."""
    grammar = "\n\n".join(f"{name} ::= {written(rule)} # rule" for name, rule in rules.items())
    expected = all_texts(rules)["root"]
    try:
        automaton = RegularAutomaton(read_gbnf(grammar))
    except GrammarError as error:
        assert error.place is not None  # noqa: PT017
        assert "may begin with itself" in str(error) or ("no text" in str(error) and not expected)  # noqa: PT017
        return
    for length in range(MOST + 1):
        for characters in itertools.product("ab", repeat=length):
            text = "".join(characters)
            assert accepts_text(automaton, text) == (text in expected), text


JSON = r"""
# whatever json.loads reads, in one spelling of the blanks
root   ::= value
value  ::= object | array | string | number | ("true" | "false" | "null")
object ::= "{" (member (", " member)*)? "}"
member ::= string ": " value
array  ::= "[" (
    value      # the first
    (", " value)*
)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,2})?
"""


def test_sampled_texts_of_a_grammar_of_json_are_json():
    automaton = Grammar.from_gbnf(JSON).automaton()
    rng = random.Random(0)
    for _ in range(100):
        json.loads(random_text(automaton, rng))


@settings(max_examples=examples(60), deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
        max_leaves=8,
    ),
    is_ascii=st.booleans(),
)
def test_a_grammar_of_json_has_all_json(value, is_ascii):
    text = json.dumps(value, ensure_ascii=is_ascii)
    assert Grammar.from_gbnf(JSON).parse(text) == text


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        (r'root ::= "\U0001F642é" [ぁ-ゟ]+ [\]\[\\"-]?', ["🙂éあ", "🙂éああ]", '🙂éあ"', "🙂éあ-"], ["🙂é", "🙂éa"]),
        ('root ::= item+\nitem ::= "- " [^\\r\\n\\t]+ "\\n"', ["- a\n", "- a b\n- c\n"], ["", "- \n", "-a\n"]),
        ('root ::=\n  one |\n  two\none ::= "1"\ntwo ::=', ["1", ""], ["2"]),
        ("root ::= . .", ["\n\u2028", "🙂a"], ["a", "abc"]),
        ('root ::= "a" barren | "b"\nbarren ::= "c" barren', ["b"], ["a", "ac"]),
        ('root ::= "a"{2}? | ("x" "y")*', ["", "aa", "xyxy"], ["a", "x"]),
        ('root::="a"#comment', ["a"], ["aa"]),
        ('root ::= "a\nb"', ["a\nb"], ["ab"]),
        ("root ::= [^]", ["a"], ["", "ab"]),
        ('root ::= "(" root ")" root | ', ["", "()", "(())()"], ["(", ")("]),
    ],
)  # fmt: skip
def test_what_is_read(grammar, accepted, rejected):
    output_type = Grammar.from_gbnf(grammar)
    for text in accepted:
        assert output_type.parse(text) == text
    for text in rejected:
        with pytest.raises(ValueError, match="no such text"):
            output_type.parse(text)


@pytest.mark.parametrize(
    ("grammar", "problem", "place"),
    [
        ("", "There is no rule 'root'", None),
        ('a ::= "b"', "There is no rule 'root'", None),
        ("root ::= other", "There is no rule 'other'", (1, 10)),
        ('root ::= "a"\nroot ::= "b"', "'root' is defined twice", (2, 1)),
        ('root ::= "a" | root "b"', "'root' may begin with itself", (1, 1)),
        ('root ::= x\nx ::= y? z\ny ::= "a"\nz ::= x "b" | "c"', "'x' may begin with itself", (2, 1)),
        ('root ::= (root | "a")*', "'root' may begin with itself", (1, 1)),
        ('root ::= "(" root ")"', "The grammar has no text", (1, 1)),
        ('root ::= ("a"', "A parenthesis is not closed", (1, 14)),
        ('root ::= "a', "is not closed", (1, 12)),
        ('root ::= "a\nb', "is not closed", (2, 2)),
        ("root ::= [a", "is not closed", (1, 12)),
        ("root ::= []", "A set has no character", (1, 10)),
        ("root ::= [b-a]", "wrong order", (1, 10)),
        (r'root ::= "\q"', "An escape is unknown", (1, 11)),
        (r'root ::= "\x1"', "An escape is unknown", (1, 11)),
        (r'root ::= "\uD800"', "An escape is no character", (1, 11)),
        (r'root ::= "\UFFFFFFFF"', "An escape is no character", (1, 11)),
        ('root ::= "a"{2,1}', "wrong order", (1, 13)),
        ('root ::= "a"{9999999}', "too large", (1, 13)),
        ('root ::= "a"{,2}', "A repetition is malformed", (1, 13)),
        ("root ::= * x", "nothing to repeat", (1, 10)),
        ('root ::= "a" )', "')' continues no rule", (1, 14)),
        ("root = x", "'::=' is missing", (1, 6)),
        ("::= x", "begins with a name", (1, 1)),
        ("root ::= <think>", "Tokens of a vocabulary are unsupported", (1, 10)),
        ("root ::= !<[1000]>", "Tokens of a vocabulary are unsupported", (1, 10)),
        ('root ::= "a" %llguidance {}', "'%' continues no rule", (1, 14)),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(grammar, problem, place):
    with pytest.raises(GrammarError) as caught:
        Grammar.from_gbnf(grammar)
    assert problem in str(caught.value)
    assert caught.value.place == place


def test_depth_is_not_limited():
    deep = 3_000
    assert accepts_text(RegularAutomaton(read_gbnf(f'root ::= {"(" * deep}"a"{")" * deep}')), "a")
    automaton = RegularAutomaton(read_gbnf('root ::= "(" root ")" | ws\nws ::= (" " ws)?'))
    assert accepts_text(automaton, "(" * deep + " " * deep + ")" * deep)


def test_a_grammar_is_asked_for_and_pickled():
    output_type = Grammar.from_gbnf(JSON, "array", name="List", description="a list")
    assert extract(output_type, "One and two.", model=ScriptedModel("[1, 2]")) == "[1, 2]"
    again = pickle.loads(pickle.dumps(output_type))  # noqa: S301  its own
    assert again.parse("[]") == "[]"
    assert (again.name, again.digest, again.describe()) == ("List", output_type.digest, output_type.describe())
    assert output_type.digest != Grammar(JSON, "array", name="List", description="a list").digest


@pytest.mark.parametrize(
    ("grammar", "addition", "place"),
    [
        ('start: "a" %json {"type": "null"}', "%json", (1, 12)),
        ('start: x // %json\nx: %regex {"substring_chars": "abc"}', "%regex", (2, 4)),
        ('start: text\ntext[stop="."]: /.*/', '[stop="."]', (2, 5)),
        ("start: TEXT\nTEXT[lazy]: /.*/", "[lazy]", (2, 5)),
        ("start: text\ntext[max_tokens=5]: /.*/", "[max_tokens=5]", (2, 5)),
        ('start: <[12,13-20]> "a"', "<[12,13-20]>", (1, 8)),
        ('start: <|end|> "a"', "<|end|>", (1, 8)),
        ("start: <think>", "<think>", (1, 8)),
    ],
)
def test_what_llguidance_has_added_to_lark_is_refused_by_its_name(grammar, addition, place):
    with pytest.raises(GrammarError, match="of llguidance's variant") as caught:
        Grammar(grammar).check()
    assert repr(addition) in str(caught.value)
    assert caught.value.place == place


def test_texts_that_look_like_additions_are_none():
    """Lark's own optional parts, too; and another mistake is told as before."""
    grammar = r'start: "%json" /<think>/ "[lazy]" [stop]\nstop: "<|end|>"'.replace("\\n", "\n")
    assert Grammar(grammar).parse("%json<think>[lazy]") == "%json<think>[lazy]"
    with pytest.raises(GrammarError) as caught:
        Grammar(grammar + "\nother: (").check()
    assert "llguidance" not in str(caught.value)
