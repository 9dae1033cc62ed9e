"""Refusals of grammars by Lark, as errors of this library: the problem, its place in the text, and the remedy.

Lark's own words are the problem. It names most mistakes without a place; the place is looked up by the name.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from structured.automata.grammar.terminal_expressions import Expressions
from structured.errors import GrammarError, PatternError
from structured.errors.values import nearest

_PIECE = re.compile(
    r"""
      (?P<comment> (?: // | \# ) [^\n]* )
    | (?P<literal> " (?: \\. | [^"\\\n] )* " i? | / (?!/) (?: \\. | [^/\\] )+ / [imslux]* )
    | (?P<definition>
          ^ [ \t]* (?: %(?:override|extend)[ \t]+ )? [!?]* _* [A-Za-z] \w* (?= [ \t]* (?: \{ | \.\s*-?\d | : ) )
      )
    | (?P<statement> ^ [ \t]* % \w+ )
    | (?P<name> _* [A-Za-z] \w* )
    | .
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

Place = tuple[int, int]
"""A line and a column, from 1."""


def place_in(text: str, position: int) -> Place:
    """Return the place of a character of a text."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


class Piece(NamedTuple):
    """A name or a literal of a grammar; `kind` is `definition`, `name`, `literal` or that of a statement."""

    kind: str
    text: str
    place: Place
    statement: str
    """The statement that it belongs to, such as `%import`; empty in a definition."""


class Places:
    """The names and literals of a grammar, in order."""

    def __init__(self, text: str) -> None:
        self.pieces = list(_pieces(text))

    def definition(self, name: str, *, number: int = 1) -> Place | None:
        """Return where a name is defined, declared or imported; with a number, for the second time, say."""
        defined_at = [
            piece.place
            for piece in self.pieces
            if piece.text == name and (piece.kind == "definition" or piece.statement in ("%declare", "%import"))
        ]
        return defined_at[number - 1] if len(defined_at) >= number else None

    def first(self, kind: str, *texts: str) -> Place | None:
        """Return where a name is used first, or a literal written in one of some ways."""
        return next((piece.place for piece in self.pieces if piece.text in texts and piece.kind == kind), None)

    @property
    def defined(self) -> set[str]:
        """The names that are defined."""
        return {piece.text for piece in self.pieces if piece.kind == "definition"}


def _pieces(text: str) -> Iterator[Piece]:
    line, line_start, read, statement, of_line = 1, 0, 0, "", 0
    for match in _PIECE.finditer(text):
        newlines = text.count("\n", read, match.start())
        if newlines:
            line, line_start = line + newlines, text.rfind("\n", read, match.start()) + 1
        read = match.start()
        kind = match.lastgroup
        if kind in ("definition", "statement"):
            statement, of_line = match.group().strip() if kind == "statement" else "", line
        elif line != of_line:
            statement = ""
        if kind in ("definition", "name", "literal"):
            shown = re.sub(r"^\s*(%\w+\s+)?[!?]*", "", match.group()) if kind == "definition" else match.group()
            column = match.end() - len(shown) - line_start + 1
            yield Piece(kind, shown, (line, column), statement)


def refusal(error: Exception, text: str) -> GrammarError:
    """Return Lark's refusal of a grammar as an error of this library."""
    if isinstance(error, RecursionError):
        return GrammarError("Groups are nested too deeply", remedy="Write rules in place of some of them.")
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    if isinstance(line, int) and isinstance(column, int) and line > 0:
        return GrammarError("Unexpected input", text=text, place=(line, column), remedy="Correct the grammar.")
    message = str(error).strip() or type(error).__name__
    message = re.sub(r"NonTerminal\((.*?)\)", r"\1", message, flags=re.DOTALL)
    message = re.sub(
        r"Terminals {('\w+').*} were marked to ignore but.*", r"The ignored terminal \1 is not defined", message
    )
    located = re.match(r"(?P<problem>[^\n]+?),? at line (?P<line>\d+) column (?P<column>\d+)", message)
    if located is not None:
        problem = re.sub(r"^Expecting", "Expected", located["problem"])
        place = int(located["line"]), int(located["column"])
        return GrammarError(problem, text=text, place=place, remedy="Correct the grammar.")
    if isinstance(error, FileNotFoundError) and error.filename:
        path = str(error.filename)
        name = Places(text).first("name", path.removesuffix(".lark").replace("\\", "/").rsplit("/", 1)[-1])
        remedy = "Correct the name, or pass its folder in import_paths."
        return GrammarError(f"There is no grammar {path} to import from", text=text, place=name, remedy=remedy)
    return _literal_refusal(error, text) or _refusal_by_message(message, text)


def _refusal_by_message(message: str, text: str) -> GrammarError:
    """Return Lark's message as an error, at the place of the first name in it that the grammar has."""
    places, remedy = Places(text), "Correct the grammar."
    if _COLLISION in message:
        message, remedy = _first_collision(message), "Make one rule of them, or give one a priority: `name.2: …`."
    elif message.startswith('Error trying to process rule "range"'):
        message = 'A range, such as "a".."z", is not of two single characters'
    elif message.startswith("Using an undefined rule"):
        remedy = "Define it, or pass the name of another rule as start."
    problem = " ".join(message.split()).rstrip(".")
    for name in _NAMED.findall(message.partition("between")[2] or message):
        place = places.definition(name, number=2) or places.definition(name) or places.first("name", name)
        if place is not None:
            remedy += "" if name in places.defined else nearest(name, places.defined)
            return GrammarError(problem, text=text, place=place, remedy=remedy)
    return GrammarError(problem, remedy=remedy)


_COLLISION = "Reduce/Reduce collision in "
_NAMED = re.compile(r"(?:\b(?:in|rule|terminal|template|for) |defined: |[<'])(\w+)")


def _first_collision(message: str) -> str:
    """Return the first of the collisions that Lark reports, which are in the order of hashes."""
    collisions = []
    for part in message.split(_COLLISION)[1:]:
        where, _, rules = part.partition("collision occurred")[0].partition(" between the following rules:")
        collisions.append((where, sorted(re.findall(r"<[^>]*>", rules))))
    where, rules_in_order = min(collisions)
    return f"The grammar is not LALR(1): {_COLLISION}{where} between {' and '.join(rules_in_order)}"


def _literal_refusal(error: Exception, text: str) -> GrammarError | None:
    """Return the refusal of a literal whose escapes Python cannot read."""
    if len(error.args) != 2 or not isinstance(error.args[1], SyntaxError):
        return None
    literal = str(error.args[0])
    place = Places(text).first("literal", f'"{literal}"', f"/{literal}/")
    problem = f"{literal} has an escape that Python does not know"
    return GrammarError(problem, text=text, place=place, remedy="Correct it.")


MAX_TERMINALS = 1_000
"""A parser has an entry for each terminal in each of its states; with so many, Lark takes ten seconds for them."""

MAX_CUBES = 10_000_000
"""The lengths of all alternatives, cubed and added: what Lark's analysis takes. One may have 215 symbols."""

MAX_PIECES = 10_000
"""Names that are defined and different literals, which Lark takes as long to read."""


_RELATIVE_IMPORT = re.compile(r"^[ \t]*%import[ \t]+(\.[\w.]*)", re.MULTILINE)


def check_text(text: str) -> None:
    """Raise GrammarError for a grammar that takes too long to read, or imports from beside the program that runs."""
    relative = _RELATIVE_IMPORT.search(text)
    if relative is not None:
        raise GrammarError(
            f"A grammar that is a text lies in no folder, so {relative[1]} leads nowhere",
            text=text,
            place=place_in(text, relative.start(1)),
            remedy="Leave out the first point, and pass the folder in import_paths.",
        )
    count = len({piece.text for piece in Places(text).pieces if piece.kind in ("definition", "literal")})
    if count > MAX_PIECES:
        raise GrammarError(
            f"The grammar defines more than {MAX_PIECES:,} names and literals: {count:,}",
            remedy="Join terminals that occur in the same places into one, as a regular expression.",
        )


def check_size(rules: Iterable[Any], text: str) -> None:
    """Raise GrammarError for rules of Lark's that take too long to make a parser of."""
    expansions = [(len(rule.expansion), rule.origin.name) for rule in rules]
    terminals = len({symbol for rule in rules for symbol in rule.expansion if symbol.is_term})
    if terminals > MAX_TERMINALS:
        raise GrammarError(
            f"The grammar has more than {MAX_TERMINALS:,} terminals: {terminals:,}",
            remedy="Join those that occur in the same places into one, as a regular expression.",
        )
    if sum(length**3 for length, _ in expansions) > MAX_CUBES:
        length, name = max(expansions)
        raise GrammarError(
            f"The alternatives of the grammar are too long; one of {name} has {length:,} symbols",
            text=text,
            place=Places(text).definition(name),
            remedy="Make rules of some parts of it.",
        )


def check_cycles(rules: Iterable[Any], empty: Collection[Any], text: str) -> None:
    """Raise GrammarError for a rule of Lark's that may be made of itself alone, since a parser may go on so for ever.

    `a.2: a | "x"` is such a rule, and so is `a.2: b a | "x"` where `b` may be empty. Without priorities that is a
    conflict. `rules` are those that a parser uses, `empty` the symbols that may be empty.
    """
    made_of: dict[Any, set[Any]] = {}
    for rule in rules:
        solid = [symbol for symbol in rule.expansion if symbol not in empty]
        if len(solid) <= 1:
            made_of.setdefault(rule.origin, set()).update(solid or rule.expansion)
    try:
        TopologicalSorter(made_of).prepare()
    except CycleError as error:
        places = Places(text)
        located = ((places.definition(symbol.name), symbol.name) for symbol in error.args[1])
        place, name = min(((place, f"The rule {name}") for place, name in located if place), default=(None, "A rule"))
        remedy = "Leave out the alternative that adds no text."
        raise GrammarError(f"{name} may be made of itself alone", text=text, place=place, remedy=remedy) from None


def check_terminals(terminals: Iterable[Any], text: str) -> None:
    """Raise GrammarError for a terminal of Lark's that may be empty, or whose expression no automaton reads."""
    expressions = Expressions()
    for terminal in terminals:
        if terminal.pattern.type == "str":
            continue
        problem, remedy, position = "", "", None
        try:
            re.compile(terminal.pattern.to_regexp())
            expressions.add(terminal.pattern.to_regexp())
        except PatternError as error:
            position, remedy = error.position, "Say the same without it, or in the rules."
            problem = error.problem.removesuffix(f", at character {position}")
        except re.error as error:
            problem, remedy, position = f"{error.msg[0].upper()}{error.msg[1:]}", "Correct the expression.", error.pos
        else:
            if terminal.pattern.min_width > 0:
                continue
            problem, remedy = "It may be empty", "Let it match something, and make it optional where it is used: `X?`."
        raise _bad_terminal(terminal, problem, remedy, position, text)


def _bad_terminal(terminal: Any, problem: str, remedy: str, position: int | None, text: str) -> GrammarError:
    """Return the refusal of a terminal, which points into its expression where it can."""
    places, pattern = Places(text), terminal.pattern
    literal = places.first("literal", pattern.raw) if pattern.raw else None
    is_plain = pattern.raw and pattern.raw[1:-1] == pattern.value
    if literal is not None and position is not None and is_plain and "\n" not in pattern.raw:
        literal = literal[0], literal[1] + 1 + min(position, len(pattern.value))
    place = literal or places.definition(terminal.name)
    name = terminal.name if places.definition(terminal.name) else pattern.raw or f"/{pattern.value}/"
    problem = f"The terminal {name} is refused: {problem[0].lower()}{problem[1:]}"
    return GrammarError(problem, text=text, place=place, remedy=remedy)


def check_declared(declared: Sequence[str], text: str) -> None:
    """Raise GrammarError for a terminal that is declared, and that nothing makes."""
    if declared:
        raise GrammarError(
            f"The terminal {declared[0]} is declared, and has no text",
            text=text,
            place=Places(text).definition(declared[0]),
            remedy="Define it, or pass an indenter that makes it.",
        )
