"""The LALR(1) tables of a grammar, and the same as bytes for later processes.

What the lexer tries in each state of the parser, and what the parser does with a token. Kept tables are bytes from
outside: their checksum says that they are undamaged, not that they were ever tables. Compiled loops follow their
numbers, and pop from a stack what a rule is made of. So each number has to lie inside of what it points into, each rule
has to be on every stack on which it ends, as the items of the states say, and no rule may consist of itself alone. Then
whatever is parsed is a derivation by the rules. Whether the rules are those of the grammar is checked when Lark parses;
whether the parser expects each terminal where it should is not checked, since that is the whole work.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter

from pydantic import TypeAdapter

from structured.automata.grammar.lexer import Context, Indentation, Terminal
from structured.automata.opcodes import FAR


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the symbol that it makes, how many symbols of, and its place among the rules."""

    origin: int
    size: int
    number: int


@dataclass(frozen=True, order=True, slots=True)
class Item:
    """A rule that has begun: how many of its symbols have been read, and which are left."""

    origin: int
    read: int
    left: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """The LALR(1) tables of a grammar. Terminals, the end of the text behind them and then rules are symbols.

    Terminals are numbered in the order in which the lexer tries them; those that no text makes have no expression.
    """

    terminals: Sequence[Terminal]
    contexts: Sequence[Context]
    symbols: Sequence[str]
    """The names of all symbols."""
    context_of: Sequence[int]
    """For each state of the parser, what the lexer tries in it."""
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


def tables_to_bytes(tables: Tables) -> bytes:
    """Return tables as JSON, without the indentation, which the reader knows."""
    return _adapter().dump_json(replace(tables, indentation=None))


def bytes_to_tables(data: bytes) -> Tables:
    """Return the tables of bytes. Raises ValueError if they cannot be tables."""
    tables = _adapter().validate_json(data)
    if tables.indentation is not None or not _is_inside(tables):
        raise ValueError("A number of the tables points nowhere.")
    if not _is_on_stacks(tables) or not _ends(tables):
        raise ValueError("A parser could not follow the tables.")
    return tables


@cache
def _adapter() -> TypeAdapter[Tables]:
    return TypeAdapter(Tables)


def _is_inside(tables: Tables) -> bool:
    """Tell whether each number is inside of what it points into, and each rule what its number says."""
    states, symbols, terminals = range(len(tables.shifts)), range(len(tables.symbols)), range(len(tables.terminals))
    rules = tables.rules
    return (
        len(tables.reductions) == len(tables.items) == len(tables.context_of) == len(states)
        and len(terminals) <= tables.end_symbol < len(symbols)
        and tables.start in states
        and tables.end in states
        and _all_in(tables.context_of, range(len(tables.contexts)))
        and all(_all_in(context.terminals, terminals) for context in tables.contexts)
        and all(_all_in(context.keywords, terminals) for context in tables.contexts)
        and all(_all_in(found, terminals) for context in tables.contexts for found in context.keywords.values())
        and _all_in((origin for origin, _ in rules), symbols[tables.end_symbol + 1 :])
        and all(_all_in(parts, symbols) and tables.end_symbol not in parts for _, parts in rules)
        and all(_all_in(shifts, symbols) and _all_in(shifts.values(), states) for shifts in tables.shifts)
        and all(_all_in(found, symbols[: tables.end_symbol + 1]) for found in tables.reductions)
        and all(_is_rule(tables, rule) for found in tables.reductions for rule in found.values())
        and all(_all_in(item.left, symbols) for items in tables.items for item in items)
    )


def _all_in(numbers: Iterable[int], places: range) -> bool:
    return all(number in places for number in numbers)


def _is_rule(tables: Tables, rule: Rule) -> bool:
    """Tell whether a rule is that of its number."""
    if rule.number not in range(len(tables.rules)):
        return False
    origin, parts = tables.rules[rule.number]
    return (rule.origin, rule.size) == (origin, len(parts))


def _is_on_stacks(tables: Tables) -> bool:
    """Tell whether the items of a state say what is on each stack below it, and whether rules end only on such."""
    rules = set(tables.rules)
    read_before: dict[int, int] = {}
    [whole, *others] = tables.items[tables.start] or [Item(0, 0, ())]
    if others or (whole.origin, whole.read, len(whole.left)) != (-1, 0, 1):
        return False
    if Item(-1, 1, ()) not in tables.items[tables.end]:
        return False
    for shifts, items in zip(tables.shifts, map(set, tables.items), strict=True):
        for symbol, target in shifts.items():
            if read_before.setdefault(target, symbol) != symbol:
                return False
            for item in tables.items[target]:
                before = Item(item.origin, item.read - 1, (symbol, *item.left))
                begins = item.read == 1 and item.origin in shifts and (item.origin, before.left) in rules
                is_whole = item.read == 1 and item.origin == -1 and before in items
                if not begins and not is_whole and not (item.read > 1 and before in items):
                    return False
    return all(
        Item(rule.origin, rule.size, ()) in items if rule.size else rule.origin in shifts
        for shifts, items, reductions in zip(tables.shifts, tables.items, tables.reductions, strict=True)
        for rule in reductions.values()
    )


def _ends(tables: Tables) -> bool:
    """Tell whether rules that end come to an end: none is made of itself alone."""
    shortest = shortest_of_symbols(tables, [1] * (tables.end_symbol + 1))
    made_of: dict[int, set[int]] = {}
    for place in sorted({rule.number for reductions in tables.reductions for rule in reductions.values()}):
        origin, parts = tables.rules[place]
        solid = [symbol for symbol in parts if shortest[symbol]]
        if len(solid) <= 1:
            made_of.setdefault(origin, set()).update(solid or parts)
    try:
        TopologicalSorter(made_of).prepare()
    except CycleError:
        return False
    return True


def shortest_of_symbols(tables: Tables, widths: list[int]) -> list[int]:
    """Return the bytes of the shortest text of each symbol."""
    shortest = [*widths, *[FAR] * (len(tables.symbols) - len(widths))]
    changed = True
    while changed:
        changed = False
        for origin, symbols in tables.rules:
            found = min(sum(shortest[symbol] for symbol in symbols), FAR)
            if found < shortest[origin]:
                shortest[origin], changed = found, True
    return shortest
