"""The automaton of a type as people read it: its states and arrows, and the tokens that they allow."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from structured.automata import DEAD
from structured.automata.diagram import Place, State, dot, explore, follow, mermaid, table, text_to
from structured.errors import SchemaError
from structured.errors.arguments import count
from structured.errors.values import counted, printable
from structured.index.allowed_tokens import AllowedTokens, TokenWalk, allowed_after, state_after, walk_text
from structured.index.compile import compile_type
from structured.index.index import Index
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName
from structured.output_types.interface import automaton_of, check_interface
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex
from structured.output_types.resolve import resolve_type

if TYPE_CHECKING:
    from structured.models.vocabularies import VocabularySource

MAX_STATES = 40
"""States that are shown unless more are asked for."""


@dataclass(frozen=True, eq=False)
class StateDiagram:
    """The automaton of a type: its states, and what leads from one to another. A notebook shows it as a table.

    Attributes:
        name: The name of the type.
        states: The states, in the order of a breadth-first search from the start, which is the first.
        total: How many states there are, if all were found; None if there are more than were looked for.
    """

    name: str
    states: tuple[State, ...] = field(repr=False)
    total: int | None
    output_type: OutputType[Any] = field(repr=False)

    def __str__(self) -> str:
        """Return the states as a table, in 80 columns."""
        return f"{printable(self.name)}\n{self.note}\n\n{table(self.states)}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002  as IPython calls it
        printer.text(str(self))

    @cached_property
    def note(self) -> str:
        """How many states there are, and how many of them are shown."""
        shown = len(self.states)
        if self.total == shown:
            return f"{counted(shown, 'state')}, all shown."
        if self.total is not None:
            return f"{counted(shown, 'state')} of {self.total:,}. Arrows to … lead to the others."
        return f"The first {counted(shown, 'state')} of many, perhaps without end. Arrows to … lead to others."

    def to_dot(self) -> str:
        """Return the graph in DOT, the language of Graphviz."""
        return dot(self.states, f"{self.name}: {self.note}")

    def to_mermaid(self) -> str:
        """Return the graph in Mermaid, which GitHub and JupyterLab draw in a Markdown cell."""
        return mermaid(self.states, f"{self.name}: {self.note}")

    def tokens(self, state: int, model: "VocabularySource | None" = None) -> AllowedTokens:
        """Return the tokens that may follow a state, as decoding masks them.

        Parameters:
            state: The number of the state.
            model: As for `extract`; or a folder with a tokenizer alone, or a `structured.vocabulary.Vocabulary`.

        Raises:
            ValueError: There is no such state here, or no answer that the tokenizer can spell goes through it.
            ModelError: There is no such model.
            VocabularyError: The tokenizer cannot be used, or spells no text of the type.
        """
        if state not in range(len(self.states)):
            raise ValueError(f"There is no state {state!r} here. States are 0 to {len(self.states) - 1}.")
        index = self._index(model)
        text = text_to(self.states, state, index.vocabulary.absent_bytes)
        reached = DEAD if text is None else state_after(index, text.encode())
        if reached == DEAD:
            raise ValueError(f"No answer that the tokenizer can spell goes through state {state}.")
        return allowed_after(index, reached, str(state))

    def walk(self, text: str, model: "VocabularySource | None" = None) -> TokenWalk:
        """Return the way of a text through the states, token by token, as the tokenizer spells it.

        Parameters:
            text: An answer, or the beginning of one.
            model: As for `tokens`.

        Raises:
            ValueError: No answer of the type begins so, or the tokenizer cannot spell it.
            ModelError: There is no such model.
            VocabularyError: The tokenizer cannot be used, or spells no text of the type.
        """
        return walk_text(self._index(model), text, self._places(text))

    def _index(self, model: "VocabularySource | None") -> Index:
        from structured.models.vocabularies import load_vocabulary

        return compile_type(self.output_type, load_vocabulary(model))

    def _places(self, text: str) -> Iterator[str]:
        """Yield the name of the place before a text, and after each of its bytes."""
        place: Place | None = Place(0)
        yield str(place)
        for character in text:
            yield from (f"{place}+{done}" for done in range(1, len(character.encode())))
            place = None if place is None else follow(self.states, place, character)
            yield str(place)


_STATES = count(1, "1 or greater")


def inspect_automaton(
    output_type: object, *, states: int = MAX_STATES, whitespace: WhitespaceName = DEFAULT_WHITESPACE
) -> StateDiagram:
    r"""Return the automaton that answers of a type are decoded with, to look at.

    >>> from structured import Regex, inspect_automaton
    >>> print(inspect_automaton(Regex(r"([0-9]+)?\.[0-9]+")))
    Regex('([0-9]+)?\\.[0-9]+')
    3 states, all shown.
    <BLANKLINE>
    state  reads  →  shortest completion
    > 0    \.     1  .0
           [0-9]  0
      1    [0-9]  2  0
    ((2))  [0-9]  2

    It is the smallest deterministic automaton over characters, where it has no more than some 2,000 states. Of others,
    such as those of grammars and of types that contain themselves, it is what a search from the start finds first.
    Where no choice is left for some characters, they are one arrow, unless the type is a `Regex`.

    Parameters:
        output_type: As for `extract`.
        states: How many states are shown at most.
        whitespace: As for `to_regex`.

    Raises:
        SchemaError: It is not a type, is not supported, or depends on the document.
        PatternError: It is not supported, or its automaton takes too much time or memory.
        ValueError: There is no whitespace of this name, or `states` is less than 1.
    """
    _STATES("states", states)
    known = resolve_type(output_type, layout=JsonLayout(whitespace))
    check_interface(known)
    if known.depends_on_document and not isinstance(known, JsonOutput):
        raise SchemaError(
            f"{known.name} depends on the document, and there is none to inspect it for",
            remedy="Look at its automaton(document).",
        )
    found, total = explore(automaton_of(known, None), states, fold=not isinstance(known, Regex))
    return StateDiagram(known.name, found, total, known)
