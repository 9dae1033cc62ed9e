"""Lark's reading of a grammar: the one place that knows Lark.

Lark reads the grammar, with its templates, imports and repetitions, and makes the tables of the LALR(1) parser and the
order in which terminals are tried. Its tables are taken as they are, so that whatever it decides (a shift before a
reduction, a keyword before a name) is decided alike here.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from structured.automata.grammar.grammar_refusals import (
    check_cycles,
    check_declared,
    check_size,
    check_terminals,
    check_text,
    place_in,
    refusal,
)
from structured.automata.grammar.lexer import Context, Indentation, Terminal
from structured.errors import GrammarError

if TYPE_CHECKING:
    from lark import Lark
    from lark.indenter import Indenter


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the symbol that it makes, the number of symbols that it makes it of, and its place among the rules."""

    origin: int
    size: int
    number: int


@dataclass(frozen=True, order=True, slots=True)
class Item:
    """A rule that has begun: how many of its symbols have been read, and which remain."""

    origin: int
    read: int
    remaining: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ParserTables:
    """The LALR(1) tables of a grammar. Terminals, the end of the text behind them and then rules are symbols.

    Terminals are numbered in the order in which the lexer tries them; those that no text makes have no expression.
    """

    terminals: Sequence[Terminal]
    contexts: Sequence[Context]
    symbols: Sequence[str]
    """The names of all symbols."""
    context_of: Sequence[int]
    """For each state of the parser, the number of the context of the lexer in it."""
    shifts: Sequence[Mapping[int, int]]
    """For each state, the state after each symbol."""
    reductions: Sequence[Mapping[int, Rule]]
    """For each state, the rule that ends before each terminal."""
    items: Sequence[Sequence[Item]]
    """For each state, its kernel. The item of the whole text has the origin -1."""
    rules: Sequence[tuple[int, tuple[int, ...]]]
    start: int
    end: int
    """The state at the end of the text."""
    end_symbol: int
    indentation: Indentation | None = None


def read_grammar(
    text: str, start: str = "start", *, indenter: "Indenter | None" = None, import_paths: Iterable[str] = ()
) -> "tuple[Lark, ParserTables]":
    """Return Lark's parser of a grammar and the tables in it. Raises GrammarError where Lark refuses it."""
    from lark import Lark
    from lark.exceptions import LarkError

    check_text(text)
    plugins = {"LALR_Parser": _parser_class(text), "ContextualLexer": _lexer_class(text)}
    try:
        lark = Lark(
            text,
            parser="lalr",
            lexer="contextual",
            postlex=indenter,
            start=start,
            import_paths=list(import_paths),
            _plugins=plugins,
        )
        _check_groups(lark)
    except (LarkError, re.error, ImportError, OSError, AssertionError, ValueError, RecursionError) as error:
        raise refusal(error, text) from error
    tables = _tables(lark, start, indenter)
    by_indenter = set() if tables.indentation is None else {tables.indentation.indent, tables.indentation.dedent}
    declared = range(len(tables.terminals), tables.end_symbol)
    check_declared([tables.symbols[symbol] for symbol in declared if symbol not in by_indenter], text)
    return lark, tables


def _parser_class(text: str) -> type:
    """Return Lark's parser, which keeps the items of its states."""
    from lark.parsers.lalr_analysis import IntParseTable, LALR_Analyzer, Reduce
    from lark.parsers.lalr_parser import LALR_Parser, _Parser

    class Parser(LALR_Parser):
        def __init__(self, parser_conf: Any, debug: bool = False, strict: bool = False) -> None:
            check_size(parser_conf.rules, text)
            analysis: Any = LALR_Analyzer(parser_conf, debug=True, strict=strict)  # which names states by their items
            analysis.compute_lalr()
            actions = [action for state in analysis.parse_table.states.values() for action in state.values()]
            reduced = {id(rule): rule for kind, rule in actions if kind is Reduce}
            check_cycles(reduced.values(), analysis.NULLABLE, text)
            self._parse_table = IntParseTable.from_ParseTable(analysis.parse_table)
            kernels = {itemset.closure: itemset.kernel for itemset in analysis.lr0_itemsets}
            self.kernels = [kernels[closure] for closure in analysis.parse_table.states]  # in the order of the table
            self.parser_conf = parser_conf
            self.parser = _Parser(self._parse_table, parser_conf.callbacks, debug)

    return Parser


def _lexer_class(text: str) -> type:
    """Return Lark's lexer, whose terminals are looked at once.

    Lark looks at them anew in each state of the parser, and where `interegular` is installed, whether some text is of
    two of them, which takes minutes where there are many keywords and says nothing that changes a table.
    """
    from lark.lexer import ContextualLexer

    class Lexer(ContextualLexer):
        def __init__(self, conf: Any, states: Any, always_accept: Any = ()) -> None:
            check_terminals(conf.terminals, text)
            conf.skip_validation = True
            super().__init__(conf, states, always_accept)

    return Lexer


def _lexers(lark: Any) -> Mapping[int, Any]:
    lexer = lark.parser.lexer
    lexers: Mapping[int, Any] = getattr(lexer, "lexer", lexer).lexers  # an indenter's is around the other
    return lexers


def _tables(lark: Any, start: str, indenter: Any) -> ParserTables:
    """Return the tables of Lark's parser, the same in each process: the order of Lark's own is that of hashes."""
    from lark.parsers.lalr_analysis import Shift

    table = lark.parser.parser._parse_table  # noqa: SLF001  Lark has no other door to it
    lexers = _lexers(lark)
    terminals = sorted(
        {terminal.name: terminal for lexer in lexers.values() for terminal in lexer.terminals}.values(),
        key=lambda one: (-one.priority, -one.pattern.max_width, -len(one.pattern.value), one.name),
    )
    names = [str(terminal.name) for terminal in terminals]
    rules = lark.parser.parser_conf.rules
    used = [symbol for rule in rules for symbol in rule.expansion]
    names += sorted({str(symbol.name) for symbol in used if symbol.is_term} - set(names))
    end_symbol = len(names)
    names += ["$END", *sorted({str(rule.origin.name) for rule in rules})]
    number = {name: place for place, name in enumerate(names)}
    numbered = sorted(
        (number[rule.origin.name], tuple(number[symbol.name] for symbol in rule.expansion), id(rule)) for rule in rules
    )
    rule_of_id = {key: Rule(origin, len(symbols), place) for place, (origin, symbols, key) in enumerate(numbered)}
    states = _in_order(table, table.start_states[start], number)
    place_of = {state: place for place, state in enumerate(states)}
    shifts: list[dict[int, int]] = []
    reductions: list[dict[int, Rule]] = []
    for state in states:
        actions = sorted((number[name], kind is Shift, to) for name, (kind, to) in table.states[state].items())
        shifts.append({symbol: place_of[target] for symbol, is_shift, target in actions if is_shift})
        reductions.append({symbol: rule_of_id[id(rule)] for symbol, is_shift, rule in actions if not is_shift})
    distinct_lexers = list({id(lexers[state]): lexers[state] for state in states}.values())
    context_of = _contexts(number)
    context_of_id = {id(lexer): place for place, lexer in enumerate(distinct_lexers)}
    ignored = set(lark.ignore_tokens)
    kernels = dict(zip(table.states, lark.parser.parser.kernels, strict=True))
    return ParserTables(
        terminals=[Terminal(str(each.name), each.pattern.to_regexp(), each.name in ignored) for each in terminals],
        contexts=[context_of(lexer.terminals) for lexer in distinct_lexers],
        symbols=names,
        context_of=[context_of_id[id(lexers[state])] for state in states],
        shifts=shifts,
        reductions=reductions,
        items=[sorted(_item(pointer, number) for pointer in kernels[state]) for state in states],
        rules=[(origin, symbols) for origin, symbols, _ in numbered],
        start=place_of[table.start_states[start]],
        end=place_of[table.end_states[start]],
        end_symbol=end_symbol,
        indentation=_indentation(indenter, number) if indenter is not None else None,
    )


def _in_order(table: Any, start: int, number: Mapping[str, int]) -> list[int]:
    """Return the states of a table, those that fewest symbols lead to first."""
    from lark.parsers.lalr_analysis import Shift

    states = {start: None}
    for state in (waiting := [start]):
        targets = sorted((number[name], to) for name, (kind, to) in table.states[state].items() if kind is Shift)
        new = dict.fromkeys(target for _, target in targets if target not in states)
        states |= new
        waiting += new
    return list(states)


def _item(pointer: Any, number: Mapping[str, int]) -> Item:
    rule = pointer.rule
    return Item(
        origin=number.get(rule.origin.name, -1),
        read=pointer.index,
        remaining=tuple(number[symbol.name] for symbol in rule.expansion[pointer.index :]),
    )


def _contexts(number: Mapping[str, int]) -> Callable[[Sequence[Any]], Context]:
    """Return a function from terminals of Lark's to their context.

    As in `lark.lexer._create_unless`: a text that an expression of the same priority matches is a keyword; it is not
    tried on its own if the expression has its flags. Lark compiles the expression of each context for that, which takes
    longer than all else.
    """

    @cache
    def is_keyword(terminal: Any, text: Any) -> bool:
        if (terminal.pattern.type, text.pattern.type, terminal.priority) != ("re", "str", text.priority):
            return False
        match = re.match(terminal.pattern.to_regexp(), text.pattern.value)
        return match is not None and match[0] == text.pattern.value

    def context(terminals: Sequence[Any]) -> Context:
        keywords: dict[int, tuple[int, ...]] = {}
        untried = set()
        for terminal in terminals:
            replacements = [text for text in terminals if is_keyword(terminal, text)]
            untried |= {text for text in replacements if text.pattern.flags <= terminal.pattern.flags}
            if replacements:
                keywords[number[terminal.name]] = tuple(number[text.name] for text in replacements)
        tried = tuple(number[terminal.name] for terminal in terminals if terminal not in untried)
        return Context(tried, dict(sorted(keywords.items())))

    return context


def _check_groups(lark: Any) -> None:
    """Let `re` refuse expressions that depend on those beside them, by names of groups or by flags."""
    lexers = {id(lexer): lexer for lexer in _lexers(lark).values()}.values()
    if any(_GROUPS.search(terminal.pattern.to_regexp()) for lexer in lexers for terminal in lexer.terminals):
        for lexer in lexers:
            lexer.scanner  # noqa: B018  where Lark compiles them


_GROUPS = re.compile(r"\(\?(?:P[<=]|[aiLmsux]+\))|\\[1-9]")


def _indentation(indenter: Any, number: Mapping[str, int]) -> Indentation:
    missing = len(number)
    return Indentation(
        line_end=number.get(indenter.NL_type, missing),
        indent=number.get(indenter.INDENT_type, missing),
        dedent=number.get(indenter.DEDENT_type, missing),
        opening=frozenset(number[name] for name in indenter.OPEN_PAREN_types if name in number),
        closing=frozenset(number[name] for name in indenter.CLOSE_PAREN_types if name in number),
        tab_width=indenter.tab_len,
        line_ends=len(number) + 1,  # one less is that of a line end without a line feed
    )


_NOT_GRAMMAR = r'//[^\n]*|"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/[a-z]*'
"""Comments, texts and regular expressions, which may contain anything."""

_ADDITIONS = {
    r"%(?:json|lark|regex|llguidance)\b": "Ask for the part alone, as a JsonSchema or a Regex, or write it as rules.",
    r"(?<=\w)\[\s*(?:lazy|stop|suffix|max_tokens|temperature|capture)\b[^\]\n]*\]": (
        "Let the regular expression say where the text ends; max_tokens= limits an answer."
    ),
    r"<\[[^\]\n]*\]>|<\|?[\w-]+\|?>": "Write the text of the token.",
}
"""The remedy for each kind of addition, by its regular expression."""

_SCANNED = re.compile("|".join((_NOT_GRAMMAR, *(f"({addition})" for addition in _ADDITIONS))))


def refuse_additions(text: str) -> None:
    """Raise GrammarError, with the name and the place, if a grammar that Lark refused has such an addition."""
    for addition in _SCANNED.finditer(text):
        if addition.lastindex is not None:
            raise GrammarError(
                f"{addition[0]!r} is of llguidance's variant of Lark, and unsupported",
                text=text,
                place=place_in(text, addition.start()),
                remedy=[*_ADDITIONS.values()][addition.lastindex - 1],
            )
