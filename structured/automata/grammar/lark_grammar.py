"""Lark's reading of a grammar: the one place that knows Lark.

Lark reads the grammar, with its templates, imports and repetitions, and makes the tables of the LALR(1) parser and the
order in which terminals are tried. Its tables are taken as they are, so that whatever it decides (a shift before a
reduction, a keyword before a name) is decided alike here.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from structured.automata.grammar.lexer import Context, Indentation, Terminal
from structured.automata.grammar.tables import Item, Rule, Tables
from structured.errors import GrammarError

if TYPE_CHECKING:
    from lark import Lark
    from lark.indenter import Indenter


def read_grammar(
    text: str, start: str = "start", *, indenter: "Indenter | None" = None, import_paths: Iterable[str] = ()
) -> "tuple[Lark, Tables]":
    """Return Lark's parser of a grammar and the tables in it. Raises GrammarError where Lark refuses it."""
    from lark import Lark
    from lark.exceptions import LarkError

    options: dict[str, Any] = {"parser": "lalr", "lexer": "contextual", "start": start}
    try:
        lark = Lark(
            text,
            **options,
            postlex=indenter,
            import_paths=list(import_paths),
            _plugins={"LALR_Parser": _parser_class()},
        )
        for lexer in {id(one): one for one in _lexers(lark).values()}.values():
            lexer.scanner  # noqa: B018  compiled here, so that what `re` refuses is refused now
    except (LarkError, re.error, ImportError, OSError, AssertionError, ValueError, RecursionError) as error:
        raise _refusal(error, text) from error
    return lark, _tables(lark, start, indenter)


def _parser_class() -> type:
    """Return Lark's parser, which keeps the items of its states."""
    from lark.parsers.lalr_analysis import IntParseTable, LALR_Analyzer
    from lark.parsers.lalr_parser import LALR_Parser, _Parser

    class Parser(LALR_Parser):
        def __init__(self, parser_conf: Any, debug: bool = False, strict: bool = False) -> None:
            analysis = LALR_Analyzer(parser_conf, debug=True, strict=strict)  # which names states by their items
            analysis.compute_lalr()  # type: ignore[no-untyped-call]
            self._parse_table = IntParseTable.from_ParseTable(analysis.parse_table)
            self.kernels = _kernels(analysis)
            self.parser_conf = parser_conf
            self.parser = _Parser(self._parse_table, parser_conf.callbacks, debug)

    return Parser


def _kernels(analysis: Any) -> list[Any]:
    """Return the kernel of each state, in the order of the table."""
    kernels = {itemset.closure: itemset.kernel for itemset in analysis.lr0_itemsets}
    return [kernels[closure] for closure in analysis.parse_table.states]


def _lexers(lark: Any) -> Mapping[int, Any]:
    """Return Lark's lexer of each state of the parser."""
    lexer = lark.parser.lexer
    found: Mapping[int, Any] = getattr(lexer, "lexer", lexer).lexers
    return found


def _tables(lark: Any, start: str, indenter: Any) -> Tables:
    """Return the tables of Lark's parser."""
    from lark.parsers.lalr_analysis import Shift

    table = lark.parser.parser._parse_table  # noqa: SLF001  Lark has no other door to it
    lexers = _lexers(lark)
    written = sorted(
        {terminal.name: terminal for lexer in lexers.values() for terminal in lexer.terminals}.values(),
        key=lambda one: (-one.priority, -one.pattern.max_width, -len(one.pattern.value), one.name),
    )
    names = [terminal.name for terminal in written]
    rules = lark.parser.parser_conf.rules
    used = [symbol for rule in rules for symbol in rule.expansion]
    names += sorted({symbol.name for symbol in used if symbol.is_term} - set(names))
    end_symbol = len(names)
    names += ["$END", *sorted({rule.origin.name for rule in rules})]
    number = {name: place for place, name in enumerate(names)}
    made = {id(rule): Rule(number[rule.origin.name], len(rule.expansion)) for rule in rules}
    shifts: list[dict[int, int]] = []
    reductions: list[dict[int, Rule]] = []
    for actions in table.states.values():
        shifts.append({number[name]: target for name, (kind, target) in actions.items() if kind is Shift})
        reductions.append({number[name]: made[id(rule)] for name, (kind, rule) in actions.items() if kind is not Shift})
    contexts: dict[int, int] = {}
    tried: list[Context] = []
    context_of: list[int] = []
    for state in table.states:
        lexer = lexers[state]
        if id(lexer) not in contexts:
            contexts[id(lexer)] = len(tried)
            tried.append(_context(lexer, number))
        context_of.append(contexts[id(lexer)])
    ignored = set(lark.ignore_tokens)
    return Tables(
        terminals=[Terminal(one.name, one.pattern.to_regexp(), one.name in ignored) for one in written],
        contexts=tried,
        symbols=names,
        context_of=context_of,
        shifts=shifts,
        reductions=reductions,
        items=[[_item(pointer, number) for pointer in kernel] for kernel in lark.parser.parser.kernels],
        rules=[(number[rule.origin.name], tuple(number[symbol.name] for symbol in rule.expansion)) for rule in rules],
        start=table.start_states[start],
        end=table.end_states[start],
        end_symbol=end_symbol,
        indentation=_indentation(indenter, number) if indenter is not None else None,
    )


def _item(pointer: Any, number: Mapping[str, int]) -> Item:
    rule = pointer.rule
    return Item(
        origin=number.get(rule.origin.name, -1),
        read=pointer.index,
        left=tuple(number[symbol.name] for symbol in rule.expansion[pointer.index :]),
    )


def _context(lexer: Any, number: Mapping[str, int]) -> Context:
    scanner = lexer.scanner
    return Context(
        terminals=tuple(number[terminal.name] for terminal in scanner.terminals),
        keywords={
            number[name]: tuple(number[terminal.name] for terminal in callback.scanner.terminals)
            for name, callback in lexer.callback.items()
        },
    )


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


def _refusal(error: Exception, text: str) -> GrammarError:
    """Return Lark's refusal of a grammar as an error of this library."""
    if isinstance(error, RecursionError):
        return GrammarError("Groups are nested too deeply", remedy="Write rules in place of some of them.")
    problem = str(error).strip() or type(error).__name__
    found = re.match(r"(Unexpected input) at line (\d+) column (\d+)", problem)
    if found is not None:
        place = int(found[2]), int(found[3])
        return GrammarError(found[1], text=text, place=place, remedy="Correct the grammar.")
    return GrammarError(problem.rstrip("."), remedy="Correct the grammar.")
