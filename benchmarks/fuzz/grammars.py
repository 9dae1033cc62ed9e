"""Grammars: Lark's, judged by Lark, and GBNF, judged by the sets of places where the parts of a rule may end."""

import random
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.expressions import random_expression, sampled, within
from benchmarks.fuzz.guided import drawn, near, never, read_texts, write_answers
from structured import Grammar
from structured.errors import GrammarError
from structured.output_types.output_type import automaton_of

LONG = 60
"""Characters of a text that is derived; the rules that are taken after that are the shortest."""

_TERMINALS = (
    *('"a"', '"b"', '"ab"', '"if"', '"a"i', "/[a-c]+/", "/[0-9]+/", r"/\w/", "/a+?b/", "/(?!ab)[ab]{1,3}/", "/é|🙂/"),
    *(r'/"[^"\\]*"/', "/[^;]/", "/a/i", '"a".."f"', r"/\d{2}(?:\.\d)?/", "/x(?=y)/", "/(?<!a)b/"),
)
_OPERATORS = ("", "", "", "", "?", "*", "+", "~2", "~1..3")
_IGNORED = ("", "", "", r"%ignore /\s+/", '%ignore " "', "%import common.WS\n%ignore WS", "%ignore /#[a-c]*/")


def try_lark(trial: Trial) -> None:
    """Try a grammar in Lark's language: a random one, a small one of the tests, or one that ships with the library."""
    from lark.exceptions import LarkError, UnexpectedInput

    rng = trial.case.random()
    kind = rng.random()
    small = [] if kind < 0.6 else drawn(support("random_grammars").grammars(), trial.case.seed, 8)
    text = next(filter(_is_read, small or (random_lark(rng) for _ in range(8))), 'start: "a"')
    name = rng.choice(("json", "arithmetic", "sql")) if kind > 0.95 else None
    grammar: Any = Grammar(text) if name is None else Grammar.named(name)  # type: ignore[arg-type]
    trial.shown = grammar.grammar
    automaton = automaton_of(grammar, None)
    try:
        lark = _parser(grammar.grammar, grammar.start)
    except LarkError as error:
        trial.fail("invalid", f"Lark refuses the grammar: {error}"[:300])
        return

    def judge(text: str) -> bool | None:
        try:
            with within(2.0):
                lark.parse(text)
        except UnexpectedInput:
            return False
        except TimeoutError:
            return None
        return True

    made = [text for _ in range(12) if (text := derived(lark, rng)) is not None]
    wild = ["".join(rng.choices('abc12;é "\n', k=rng.randrange(6))) for _ in range(6)]
    read_texts(trial, automaton, ["", *made, *near(made, trial), *wild], judge, never)
    write_answers(trial, grammar, judge)


def _is_read(grammar: str) -> bool:
    """Tell whether Lark reads a grammar: most random ones collide."""
    from lark.exceptions import LarkError

    try:
        with within(2.0):
            _parser(grammar)
    except (LarkError, TimeoutError):
        return False
    return True


def _parser(grammar: str, start: str = "start") -> Any:
    """Return Lark's parser, without the search for texts of two terminals, which takes minutes for some and warns."""
    import lark.lexer

    vars(lark.lexer)["has_interegular"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lark.Lark(grammar, parser="lalr", lexer="contextual", start=start)


def random_lark(rng: random.Random) -> str:
    """Return a grammar of a few rules; Lark may find that they collide."""
    rules = ["start", *(f"r{number}" for number in range(rng.randrange(1, 5)))]
    names = [f"T{number}" for number in range(rng.randrange(1, 5))]

    def item(depth: int = 1) -> str:
        kind = rng.random()
        if kind < 0.3:
            found = rng.choice(names)
        elif kind < 0.5:
            found = rng.choice(rules[1:])
        elif kind < 0.75 or not depth:
            found = rng.choice((*'"("', '"a"', '"b"', '","', '";"', '"if"', '"x" "y"')).strip('"')
            found = f'"{found}"' if '"' not in found else '"x" "y"'
            found = f"({found})" if " " in found else found
        elif kind < 0.9:
            found = f"({' | '.join(' '.join(item(0) for _ in range(rng.randint(1, 2))) for _ in range(2))})"
        else:
            return f"[{item(0)}]"
        return found + rng.choice(_OPERATORS)

    lines = []
    for at, rule in enumerate(rules):
        options = [" ".join(item() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
        mark = rng.choice(("", "", "?", "!")) if at else ""
        lines.append(f"{mark}{rule}: {' | '.join(options)}")
    for name in names:
        definition = rng.choice(_TERMINALS) if rng.random() < 0.7 else f"/{_unslashed(random_expression(rng, 2))}/"
        lines.append(f"{name}{rng.choice(('', '', '', '.2'))}: {definition}")
    return "\n".join([*lines, rng.choice(_IGNORED)])


def derived(lark: Any, rng: random.Random) -> str | None:
    """Return a text of Lark's rules: each name replaced by one of its expansions, the shortest ones once it is long."""
    import re

    rules: dict[Any, list[list[Any]]] = {}
    for rule in lark.rules:
        rules.setdefault(rule.origin, []).append(list(rule.expansion))
    patterns = {one.name: one.pattern for one in lark.terminals}
    left: list[Any] = [next(origin for origin in rules if origin.name == lark.options.start[0])]
    text, steps = "", 0
    while left:
        steps += 1
        symbol = left.pop(0)
        if symbol in rules:
            options = sorted(rules[symbol], key=len)
            left[:0] = options[0] if steps > LONG else rng.choice(options)
        elif (pattern := patterns.get(symbol.name)) is not None:
            text += sampled(re.compile(pattern.to_regexp()), rng) or ""
        if steps > 4 * LONG or len(text) > 4 * LONG:
            return None
    return text


def _unslashed(expression: str) -> str:
    return expression.replace("/", "").replace("\n", " ") or "a"


Node: TypeAlias = tuple[Any, ...]
"""A text, a set of ranges that may be negated, the name of a rule, a sequence, alternatives, or a repetition."""

_CHARACTERS = 'ab"\\]^-é🙂\n0'
_COUNTS = ((0, None), (1, None), (0, 1), (2, 2), (1, 3), (2, None), (0, 0))


def try_gbnf(trial: Trial) -> None:
    """Try a grammar in GBNF."""
    rng = trial.case.random()
    names = ["root", *rng.sample(("a-rule", "B2", "c", "dd"), rng.randrange(4))]
    rules = {name: _node(rng, names, rng.choice((1, 2, 3))) for name in names}
    trial.shown = "\n".join(f"{name} ::= {_written(node, rng)}" for name, node in rules.items())
    try:
        grammar = Grammar.from_gbnf(trial.shown)
        automaton = automaton_of(grammar, None)
    except GrammarError as error:
        if "begin with itself" not in str(error) and "no text" not in str(error):
            trial.fail("unexplained refusal", str(error)[:500])
        raise
    judge = partial(_derives, rules)
    made = [text for _ in range(48) if (text := _text(("rule", "root"), rules, rng, 6)) is not None][:16]
    wild = ["".join(rng.choices(_CHARACTERS, k=rng.randrange(5))) for _ in range(8)]
    read_texts(trial, automaton, ["", *made, *near(made, trial), *wild], judge, never)
    write_answers(trial, grammar, judge)


def _node(rng: random.Random, names: list[str], depth: int) -> Node:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        leaf = rng.random()
        if leaf < 0.4:
            return ("text", "".join(rng.choices(_CHARACTERS, k=rng.choice((0, 1, 1, 1, 2, 3)))))
        if leaf < 0.7:
            ranges = [tuple(sorted(rng.choices(_CHARACTERS, k=2))) for _ in range(rng.randint(1, 2))]
            return ("set", ranges, rng.random() < 0.3)
        return ("rule", rng.choice(names)) if leaf < 0.95 else ("set", [("\0", "\U0010ffff")], False)
    if kind < 0.6:
        return ("all", [_node(rng, names, depth - 1) for _ in range(rng.randint(2, 3))])
    if kind < 0.8:
        return ("any", [_node(rng, names, depth - 1) for _ in range(rng.randint(2, 3))])
    return ("again", _node(rng, names, depth - 1), *rng.choice(_COUNTS))


def _written(node: Node, rng: random.Random) -> str:
    """Return a node as GBNF spells it, one of several ways."""
    match node:
        case ("text", text):
            return f'"{"".join(_character(one, rng, {chr(34)}) for one in text)}"'
        case ("set", [("\0", "\U0010ffff")], False):
            return "."
        case ("set", ranges, negated):
            inside = "".join(
                _character(low, rng, set("]^-")) + (f"-{_character(high, rng, set(']^-'))}" if high != low else "")
                for low, high in ranges
            )
            return f"[{'^' if negated else ''}{inside}]"
        case ("rule", name):
            return str(name)
        case ("all", parts):
            return f"({rng.choice((' ', '  '))}{' '.join(_written(part, rng) for part in parts)})"
        case ("any", parts):
            return f"({' | '.join(_written(part, rng) for part in parts)} # one of them\n )"
        case ("again", part, least, most):
            signs = {(0, None): "*", (1, None): "+", (0, 1): "?", (2, 2): "{2}", (2, None): "{2,}"}
            return _written(part, rng) + signs.get((least, most), f"{{{least},{most}}}")
    raise AssertionError(node)


def _character(character: str, rng: random.Random, special: set[str]) -> str:
    """Return a character with or without an escape."""
    number = ord(character)
    escapes = {"\n": r"\n", '"': r"\"", "\\": r"\\", "]": r"\]"}
    ways = [escapes[character]] if character in escapes else [character] if character not in special else []
    ways += [f"\\u{number:04x}"] * (number < 0x10000) + [f"\\U{number:08x}"] + [f"\\x{number:02X}"] * (number < 0x80)
    return rng.choice(ways)


def _derives(rules: dict[str, Node], text: str) -> bool | None:
    """Tell whether the rules derive a text, None where that takes long."""
    try:
        with within(0.2):
            return _is_derived(rules, text)
    except TimeoutError:
        return None


def _is_derived(rules: dict[str, Node], text: str) -> bool:
    """Tell whether the rules derive a text: all ends of all rules from all places, grown until there are no more."""
    ends = Ends(text)
    ends.asked.add(("root", 0))
    while True:
        size = ends.size()
        ends.kept.clear()
        for name, start in list(ends.asked):
            ends.known[name, start] = ends.known.get((name, start), set()) | ends.of(rules[name], start)
        if size == ends.size():
            return len(text) in ends.known["root", 0]


class Ends:
    """The places of a text where a node may end, given those of the rules that are known so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.known: dict[tuple[str, int], set[int]] = {}
        self.asked: set[tuple[str, int]] = set()
        self.kept: dict[tuple[int, int], set[int]] = {}

    def size(self) -> tuple[int, int]:
        """Return how much is known."""
        return len(self.asked), sum(map(len, self.known.values()))

    def of(self, node: Node, start: int) -> set[int]:
        """Return the places where a node may end that begins in one."""
        key = id(node), start
        if key not in self.kept:
            self.kept[key] = self._new(node, start)
        return self.kept[key]

    def _new(self, node: Node, start: int) -> set[int]:
        text = self.text
        match node:
            case ("text", part):
                return {start + len(part)} if text.startswith(part, start) else set()
            case ("set", ranges, negated):
                is_in = start < len(text) and any(low <= text[start] <= high for low, high in ranges)
                return {start + 1} if start < len(text) and is_in != negated else set()
            case ("rule", name):
                self.asked.add((name, start))
                return self.known.get((name, start), set())
            case ("all", parts):
                places = {start}
                for part in parts:
                    places = self._after(part, places)
                return places
            case ("any", parts):
                return {end for part in parts for end in self.of(part, start)}
            case ("again", part, least, most):
                return self._repeated(part, start, least, least + len(text) + 1 if most is None else most)
        raise AssertionError(node)

    def _after(self, part: Node, places: set[int]) -> set[int]:
        return {end for place in places for end in self.of(part, place)}

    def _repeated(self, part: Node, start: int, least: int, most: int) -> set[int]:
        found: set[int] = set()
        places = {start}
        for count in range(most + 1):
            if not places or (count > least and places <= found):
                break
            found |= places if count >= least else set()
            places = self._after(part, places)
        return found


def _text(node: Node, rules: dict[str, Node], rng: random.Random, depth: int) -> str | None:
    """Return a text that a node derives; None where it gets too deep."""
    match node:
        case ("text", text):
            return str(text)
        case ("set", ranges, False):
            low, high = rng.choice(ranges)
            return chr(rng.randint(ord(low), min(ord(high), ord(low) + 200)))
        case ("set", _, True):
            return rng.choice("xZ€ab")
        case ("rule", name):
            return _text(rules[name], rules, rng, depth - 1) if depth else None
        case ("all", parts):
            return _joined(_text(part, rules, rng, depth) for part in parts)
        case ("any", parts):
            return _text(rng.choice(parts), rules, rng, depth)
        case ("again", part, least, most):
            count = rng.randint(least, least + 2 if most is None else most)
            return _joined(_text(part, rules, rng, depth) for _ in range(count))
    raise AssertionError(node)


def _joined(texts: Iterable[str | None]) -> str | None:
    """Return the texts one after the other; None as soon as one is None."""
    made = ""
    for text in texts:
        if text is None:
            return None
        made += text
    return made
