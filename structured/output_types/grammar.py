"""Texts of a context-free grammar, written as Lark reads it."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from hashlib import sha256
from importlib.resources import files
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import stopping_place
from structured.errors import GrammarError, arguments
from structured.errors.values import described, shortened
from structured.output_types.output_type import Description, OutputType

if TYPE_CHECKING:
    from lark import Lark, Token, Transformer, Tree
    from lark.indenter import Indenter

    from structured.automata.grammar.grammar_automaton import GrammarAutomaton
    from structured.automata.grammar.lark_grammar import ParserTables

T = TypeVar("T")

ShippedName = Literal["json", "arithmetic", "sql", "python"]

SHIPPED_TITLES: dict[str, str] = {
    "json": "JSON",
    "arithmetic": "Arithmetic",
    "sql": "A SELECT statement of SQLite",
    "python": "A Python module",
}
"""The grammars that ship, and their titles."""


MAX_SHOWN_CHARACTERS = 60
"""The most characters of a grammar that its repr shows."""


class Grammar(OutputType[T]):
    r"""The texts that a grammar parses, in the language of Lark (https://lark-parser.readthedocs.io).

    They are those that `lark.Lark(grammar, parser="lalr", lexer="contextual")` lexes and parses, no more and no less:
    the longest match, priorities, keywords before names and lookaround are as there. See docs/guides/grammars.md.

    >>> from structured import Grammar
    >>> sums = Grammar('start: NUMBER ("+" NUMBER)*\n%import common.INT -> NUMBER\n%ignore " "')
    >>> sums.parse("1 + 20")
    '1 + 20'
    """

    @overload
    def __init__(
        self: "Grammar[str]",
        grammar: str,
        start: str = ...,
        *,
        result: Literal["text"] = ...,
        indenter: "Indenter | None" = ...,
        import_paths: Iterable[str] = ...,
        name: str = ...,
        description: str | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: "Grammar[Tree[Token]]",
        grammar: str,
        start: str = ...,
        *,
        result: Literal["tree"],
        indenter: "Indenter | None" = ...,
        import_paths: Iterable[str] = ...,
        name: str = ...,
        description: str | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self,
        grammar: str,
        start: str = ...,
        *,
        result: "Transformer[Any, T]",
        indenter: "Indenter | None" = ...,
        import_paths: Iterable[str] = ...,
        name: str = ...,
        description: str | None = ...,
    ) -> None: ...
    def __init__(  # noqa: PLR0913  options
        self,
        grammar: str,
        start: str = "start",
        *,
        result: Any = "text",
        indenter: "Indenter | None" = None,
        import_paths: Iterable[str] = (),
        name: str = "Grammar",
        description: str | None = None,
    ) -> None:
        """Take a grammar; it is read when it is first used.

        Parameters:
            grammar: The grammar, in Lark's language.
            start: The rule that a whole text is.
            result: What `extract` returns: `"text"`, Lark's `"tree"`, or what a `lark.Transformer` makes of the tree.
            indenter: A `lark.indenter.Indenter`, which makes the tokens of indentation that the grammar declares.
            import_paths: Folders in which `%import` finds other grammars.
            name: What the answer is called in messages.
            description: What the prompt shows in place of the grammar, which may be long.

        Raises:
            TypeError: An argument is of another kind.
        """
        arguments.text("grammar", grammar)
        arguments.text("start", start)
        if result not in ("text", "tree") and (isinstance(result, type) or not hasattr(result, "transform")):
            raise TypeError(f"result is {described(result)}. Pass 'text', 'tree' or an instance of a lark.Transformer.")
        if indenter is not None and not hasattr(indenter, "process"):
            raise TypeError(f"indenter is {described(indenter)}. Pass an instance of a lark.indenter.Indenter.")
        self.grammar = grammar
        self.start = start
        self.result = result
        self.name = name
        self._indenter = indenter
        self._import_paths = (import_paths,) if isinstance(import_paths, str) else tuple(map(str, import_paths))
        self._description = description
        self._lock = RLock()
        self._tables_file = b""
        """The tables of a grammar that ships, as bytes."""

    @classmethod
    def named(cls, name: "ShippedName") -> "Grammar[str]":
        """Return a grammar that ships: each of its texts is read by a well-known reader.

        Parameters:
            name: `"json"` (read by `json.loads`), `"arithmetic"` (an expression of numbers, as Python has it), `"sql"`
                (a SELECT statement, as SQLite reads it) or `"python"` (a module of most statements, read by
                `ast.parse`).

        Raises:
            ValueError: There is no grammar of this name.
        """
        if name not in SHIPPED_TITLES:
            raise ValueError(f"name must be one of {', '.join(map(repr, SHIPPED_TITLES))}, not {name!r}")
        text, title, indenter = _shipped_grammar(name), SHIPPED_TITLES[name], None
        if name == "python":
            from lark.indenter import PythonIndenter

            indenter = PythonIndenter()
        grammar = Grammar(text, indenter=indenter, name=title, description=title)
        grammar._tables_file = _SHIPPED.joinpath(f"{name}.tables").read_bytes()
        return grammar

    @classmethod
    def from_gbnf(
        cls, grammar: str, root: str = "root", *, name: str = "Grammar", description: str | None = None
    ) -> "Grammar[str]":
        r"""Return the texts of a grammar in GBNF, the language of llama.cpp.

        https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md describes it. There is no lexer: rules are
        over characters, and a text may be read in several ways. A rule may contain itself, but not begin with itself.

        >>> from structured import Grammar
        >>> Grammar.from_gbnf('''root ::= "(" root ")" | [a-z]+''').parse("((x))")
        '((x))'

        Parameters:
            grammar: The grammar.
            root: The rule that a whole text is.
            name: What the answer is called in messages.
            description: What the prompt shows in place of the grammar, which may be long.

        Raises:
            GrammarError: The grammar cannot be read, has no text, or has something unsupported: a rule that begins with
                itself, tokens of a vocabulary. The place is marked.
        """
        return _GbnfGrammar(grammar, root, name=name, description=description)

    def __repr__(self) -> str:
        name = next((name for name, title in SHIPPED_TITLES.items() if title == self.name), None)
        if name is not None and self.grammar == _shipped_grammar(name):
            return f"Grammar.named({name!r})"
        return f"Grammar({_excerpt(self.grammar)})"

    @cached_property
    def _read(self) -> "tuple[Lark, ParserTables]":
        from structured.automata.grammar.lark_grammar import read_grammar, refuse_additions

        try:
            return read_grammar(self.grammar, self.start, indenter=self._indenter, import_paths=self._import_paths)
        except GrammarError as error:
            if _RULE_OF_GBNF.search(self.grammar):
                remedy = "It looks like GBNF: Grammar.from_gbnf(…) reads that."
                raise GrammarError(error.problem, text=self.grammar, place=error.place, remedy=remedy) from error
            refuse_additions(self.grammar)
            raise

    @cached_property
    def _tables(self) -> "ParserTables":
        from structured.automata.grammar.written_tables import bytes_to_tables

        tables = bytes_to_tables(self.grammar, self._tables_file) if self._tables_file else None
        return self._read[1] if tables is None else tables

    @cached_property
    def _automaton(self) -> "GrammarAutomaton":
        from structured.automata.grammar.grammar_automaton import GrammarAutomaton

        return GrammarAutomaton(self._tables)

    @property
    def has_external_inputs(self) -> bool:
        """Whether the texts depend on more than the grammar: on an indenter, or on folders that it imports from."""
        return self._indenter is not None or bool(self._import_paths)

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The schema of a string, if the result is the text."""
        return {"type": "string"} if self.result == "text" else None

    def automaton(self, document: str | None = None) -> Automaton:  # noqa: ARG002  it depends on none
        """Return the automaton of the texts. Raises GrammarError where Lark refuses the grammar, or it has no text."""
        with self._lock:
            if self._automaton.is_exhausted:
                self._automaton = self._automaton.reset()
            return self._automaton

    def parse(self, text: str) -> T:
        """Return a text, its tree, or the transformed tree. Raises ValueError if the grammar has no such text."""
        from lark.exceptions import LarkError, UnexpectedInput, VisitError

        arguments.text("text", text)
        with self._lock:  # an indenter counts in itself
            try:
                tree = self._read[0].parse(text)
            except UnexpectedInput as error:
                raise ValueError(f"the grammar has no such text: line {error.line}, column {error.column}") from error
            except (LarkError, AssertionError, IndexError) as error:  # as indenters raise them
                raise ValueError(f"the grammar has no such text: {error}") from error
        if self.result == "text":
            value: Any = text
        elif self.result == "tree":
            value = tree
        else:
            try:
                value = self.result.transform(tree)
            except VisitError as error:
                raise ValueError(str(error.orig_exc)) from error.orig_exc
        return value  # type: ignore[no-any-return]

    def describe(self) -> Description:
        """Return the grammar, or what was given in its place."""
        shown = self.grammar.strip() if self._description is None else self._description
        task = "Write a text that the grammar allows, and nothing else."
        return Description("Grammar", shown, answer="Text", task=task)

    def _facts(self) -> tuple[object, ...]:
        imported = (self._automaton.fingerprint,) if self.has_external_inputs else ()
        return self.name, self.start, self.grammar, self.describe(), *imported

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        options = {"indenter": self._indenter, "import_paths": self._import_paths, "description": self._description}
        return partial(Grammar, self.grammar, self.start, result=self.result, name=self.name, **options), ()


_RULE_OF_GBNF = re.compile(r"^[ \t]*[\w-]+[ \t]*::=", re.MULTILINE)
_RULE_OF_LARK = re.compile(r"^[ \t]*[?!]*\w+(?:\.-?\d+)?[ \t]*:", re.MULTILINE)


class _GbnfGrammar(Grammar[str]):
    """The texts of a grammar in GBNF."""

    def __init__(self, grammar: str, start: str, *, name: str, description: str | None) -> None:
        super().__init__(grammar, start, name=name, description=description)
        from structured.automata.grammar.gbnf import read_gbnf

        try:
            self._pattern = read_gbnf(grammar, start)
        except GrammarError as error:
            if _RULE_OF_GBNF.search(grammar) or not _RULE_OF_LARK.search(grammar):
                raise
            remedy = "It looks like Lark's language: Grammar(…) reads that."
            raise GrammarError(error.problem, text=grammar, place=error.place, remedy=remedy) from error

    def __repr__(self) -> str:
        return f"Grammar.from_gbnf({_excerpt(self.grammar)})"

    def automaton(self, document: str | None = None) -> Automaton:  # noqa: ARG002  it depends on none
        """Return the automaton of the texts."""
        return RegularAutomaton(self._pattern)

    def parse(self, text: str) -> str:
        """Return a text. Raises ValueError if the grammar has none such."""
        if not self._recogniser.accepts(text):
            place = stopping_place(self.automaton(), text)
            stop = "it ends too early" if place is None else "line {}, column {}".format(*place)
            raise ValueError(f"the grammar has no such text: {stop}")
        return text

    @property
    def digest(self) -> str:
        """The SHA-256 of the grammar."""
        return sha256(f"gbnf {super().digest}".encode()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(_GbnfGrammar, self.grammar, self.start, name=self.name, description=self._description), ()


_SHIPPED = files("structured.output_types").joinpath("grammars")


def _shipped_grammar(name: str) -> str:
    return _SHIPPED.joinpath(f"{name}.lark").read_text(encoding="utf-8")


def _excerpt(grammar: str) -> str:
    """Return the first line of a grammar that says something, as a literal; `…` stands for the others."""
    first, *others = [line for line in grammar.splitlines() if line.strip()] or [""]
    text = shortened(first.strip(), MAX_SHOWN_CHARACTERS)
    return repr(f"{text} …" if others else text)


def is_gbnf(grammar: Grammar[Any]) -> bool:
    """Tell whether a grammar is written in GBNF rather than in Lark's language."""
    return isinstance(grammar, _GbnfGrammar)
