"""The tables of a grammar as bytes: those that ship are files of the package, so that no process has to make them.

They are of one text and one version of Lark; with another one, the grammar is read. Tables in a cache were rejected:
loops follow their numbers, so each number would have to be checked.
"""

import json
import zlib
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from structured.automata.grammar.lark_grammar import Item, ParserTables, Rule
from structured.automata.grammar.lexer import Context, Indentation, Terminal


def tables_to_bytes(grammar: str, tables: ParserTables) -> bytes:
    """Return the tables of a grammar as compressed JSON."""
    indentation = tables.indentation
    parts = {
        "source": _source(grammar),
        "terminals": [(each.name, each.expression, each.is_ignored) for each in tables.terminals],
        "contexts": [(each.terminals, [*each.keywords.items()]) for each in tables.contexts],
        "symbols": tables.symbols,
        "context_of": tables.context_of,
        "shifts": [[*shifts.items()] for shifts in tables.shifts],
        "reductions": [[(symbol, rule.number) for symbol, rule in found.items()] for found in tables.reductions],
        "items": [[(item.origin, item.read, item.remaining) for item in items] for items in tables.items],
        "rules": tables.rules,
        "places": (tables.start, tables.end, tables.end_symbol),
        "indentation": None
        if indentation is None
        else (
            *(indentation.line_end, indentation.indent, indentation.dedent),
            *(sorted(indentation.opening), sorted(indentation.closing)),
            *(indentation.tab_width, indentation.line_ends),
        ),
    }
    return zlib.compress(json.dumps(parts, separators=(",", ":")).encode(), 9)


def bytes_to_tables(grammar: str, data: bytes) -> ParserTables | None:
    """Return the tables of a grammar; None if they are those of another text, or of another version of Lark."""
    parts = json.loads(zlib.decompress(data))
    if parts["source"] != _source(grammar):
        return None
    rules = [(origin, tuple(symbols)) for origin, symbols in parts["rules"]]
    rule_of = [Rule(origin, len(symbols), number) for number, (origin, symbols) in enumerate(rules)]
    start, end, end_symbol = parts["places"]
    return ParserTables(
        terminals=[Terminal(*terminal) for terminal in parts["terminals"]],
        contexts=[
            Context(tuple(terminals), {terminal: tuple(found) for terminal, found in keywords})
            for terminals, keywords in parts["contexts"]
        ],
        symbols=parts["symbols"],
        context_of=parts["context_of"],
        shifts=[dict(shifts) for shifts in parts["shifts"]],
        reductions=[{symbol: rule_of[number] for symbol, number in found} for found in parts["reductions"]],
        items=[[Item(origin, read, tuple(left)) for origin, read, left in items] for items in parts["items"]],
        rules=rules,
        start=start,
        end=end,
        end_symbol=end_symbol,
        indentation=_indentation(parts["indentation"]),
    )


def _indentation(parts: list[Any] | None) -> Indentation | None:
    if parts is None:
        return None
    line_end, indent, dedent, opening, closing, tab_width, line_ends = parts
    return Indentation(line_end, indent, dedent, frozenset(opening), frozenset(closing), tab_width, line_ends)


def _source(grammar: str) -> list[str]:
    return [sha256(grammar.encode()).hexdigest(), version("lark")]
