"""The automaton of a type for people: its states and arrows, and the tokens that each state allows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from structured.automata import DEAD, state_after
from structured.automata.character_graph import explore
from structured.automata.diagram import Place, State, dot, follow, mermaid, shortened, table, text_to
from structured.decoding.generate import compile_type
from structured.errors import SchemaError
from structured.errors.arguments import count
from structured.errors.values import counted, printable
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.index.shortest_completion import MAX_TOKENS
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.output_type import OutputType, automaton_of, check_interface
from structured.output_types.regex import Regex
from structured.output_types.resolve import resolve_type

if TYPE_CHECKING:
    from structured.models.load import VocabularySource

MAX_STATES = 40
"""How many states are shown by default."""

MAX_LISTED = 24
"""The most tokens that `str` lists."""

MAX_SHOWN = 24
"""The most characters of a token in a table."""

MAX_LINE = 76
"""The most characters of a line of tokens."""


@dataclass(frozen=True, slots=True)
class AllowedTokens:
    """The tokens that may come next at a place in a text, by the masks of decoding.

    Attributes:
        state: The place: the number of a state; `3→4` between two states; `3+1` one byte into a character after a
            state; `…` in a state that is not shown.
        tokens: The tokens by their ids, in the order of the ids.
        may_end: Whether the text may end here, so that end tokens are allowed as well.
        forced: The text that must come next, whichever tokens spell it; "" if there is a choice.
    """

    state: str
    tokens: Mapping[int, bytes] = field(repr=False)
    may_end: bool
    forced: str

    def __str__(self) -> str:
        """Return the number of tokens, the first tokens, and the forced text."""
        end = ", or the end" if self.may_end else ""
        lines = [f"State {self.state}: {counted(len(self.tokens), 'token')} may follow{end}."]
        for token in islice(self.tokens.values(), MAX_LISTED):
            shown = shown_token(token)
            if len(lines) == 1 or len(lines[-1]) + len(shown) > MAX_LINE:
                lines.append("")
            lines[-1] += f"  {shown}"
        if len(self.tokens) > MAX_LISTED:
            lines.append(f"  … and {len(self.tokens) - MAX_LISTED:,} more")
        lines += [f"Forced text: {printable(self.forced)}"] if self.forced else []
        return "\n".join(lines)


class TokenStep(NamedTuple):
    """One token of a text: the state after it, and how many tokens were allowed.

    Attributes:
        token_id: The id of the token.
        token: Its bytes.
        before: The state before it, written as in `AllowedTokens`.
        after: The state after it.
        allowed: How many tokens were allowed in its place, end tokens among them.
    """

    token_id: int
    token: bytes
    before: str
    after: str
    allowed: int


@dataclass(frozen=True, slots=True)
class TokenWalk:
    """The path of a text through the states, token by token, and the tokens that may follow the text."""

    steps: tuple[TokenStep, ...]
    end: AllowedTokens


@dataclass(frozen=True, eq=False)
class StateDiagram:
    """The automaton of a type: its states and arrows. A notebook shows it as a table.

    Attributes:
        name: The name of the type.
        states: The states, in the order of a breadth-first search from the start, which is the first.
        total: How many states there are; None if the search stopped before it found all.
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
            ValueError: The diagram has no such state, or no answer that the tokenizer can spell goes through it.
            ModelError: There is no such model.
            VocabularyError: The tokenizer cannot be used, or spells no text of the type.
        """
        if state not in range(len(self.states)):
            raise ValueError(f"The diagram has no state {state!r}. Use a number from 0 to {len(self.states) - 1}.")
        index = self._index(model)
        text = text_to(self.states, state, index.vocabulary.absent_bytes)
        reached = DEAD if text is None else state_after(index.automaton, text.encode())
        if reached == DEAD:
            raise ValueError(f"No answer that the tokenizer can spell goes through state {state}.")
        return allowed_after(index, reached, str(state))

    def walk(self, text: str, model: "VocabularySource | None" = None) -> TokenWalk:
        """Return the path of a text through the states, token by token, as the tokenizer spells it.

        Parameters:
            text: An answer, or the beginning of one.
            model: As for `tokens`.

        Raises:
            ValueError: No answer of the type begins like this, or the tokenizer cannot spell it.
            ModelError: There is no such model.
            VocabularyError: The tokenizer cannot be used, or spells no text of the type.
        """
        index, data = self._index(model), text.encode()
        _check(index, data)
        token_ids = index.forced.spelling(data)
        if b"".join(index.vocabulary.tokens[token_id] or b"" for token_id in token_ids) != data:
            raise ValueError(
                f"The tokenizer cannot spell {_quoted(shortened(text, MAX_SHOWN))}: some of its bytes are in no token."
            )
        names = list(self._places(text))
        guide = Guide(index, max_tokens=MAX_TOKENS)
        steps: list[TokenStep] = []
        done = 0
        for token_id in token_ids:
            token = index.vocabulary.tokens[token_id]
            assert token is not None, "tokens of a spelling have bytes"
            allowed = int(unpack(guide.mask(), index.vocabulary.size).sum())
            steps.append(TokenStep(token_id, token, names[done], names[done + len(token)], allowed))
            done += len(token)
            guide.advance(token_id)
        return TokenWalk(tuple(steps), allowed_after(index, guide.state, names[done]))

    def _index(self, model: "VocabularySource | None") -> Index:
        from structured.models.load import load_vocabulary

        return compile_type(self.output_type, load_vocabulary(model))

    def _places(self, text: str) -> Iterator[str]:
        """Yield the name of the place before a text, and after each of its bytes."""
        place: Place | None = Place(0)
        yield str(place)
        for character in text:
            yield from (f"{place}+{done}" for done in range(1, len(character.encode())))
            place = None if place is None else follow(self.states, place, character)
            yield str(place)


def inspect_automaton(
    output_type: object, *, states: int = MAX_STATES, layout: JsonLayout | None = None
) -> StateDiagram:
    r"""Return the automaton of a type, with which decoding makes its masks, as a diagram.

    >>> from structured import Regex
    >>> from structured.decoding import inspect_automaton
    >>> print(inspect_automaton(Regex(r"([0-9]+)?\.[0-9]+")))
    Regex('([0-9]+)?\\.[0-9]+')
    3 states, all shown.
    <BLANKLINE>
    state  reads  →  shortest completion
    > 0    \.     1  .0
           [0-9]  0
      1    [0-9]  2  0
    ((2))  [0-9]  2

    Up to about 2,000 states, it is the smallest deterministic automaton over characters. For others, such as those of
    grammars and of types that contain themselves, it has the first states of a search from the start. A run of
    characters without a choice is one arrow, unless the type is a `Regex`.

    Parameters:
        output_type: As for `extract`.
        states: The most states that are shown.
        layout: As for `to_regex`.

    Raises:
        SchemaError: `output_type` is not a type, is not supported, or depends on the document.
        PatternError: It is not supported, or its automaton exceeds its limits of time or memory.
        ValueError: `states` is less than 1.
    """
    count(1, "1 or greater")("states", states)
    resolved = resolve_type(output_type, layout=layout)
    check_interface(resolved)
    if resolved.depends_on_document and not isinstance(resolved, JsonOutput):
        raise SchemaError(
            f"{resolved.name} depends on the document, and inspecting it has no document",
            remedy="Inspect the type's automaton(document) instead.",
        )
    shown, total = explore(automaton_of(resolved, None), states, fold=not isinstance(resolved, Regex))
    return StateDiagram(resolved.name, shown, total, resolved)


def allowed_after(index: Index, state: int, name: str) -> AllowedTokens:
    """Return the tokens that may follow a state of an index; `name` is shown for the state."""
    ids = np.flatnonzero(unpack(index.canonical_mask(state), index.vocabulary.size)).tolist()
    tokens = {token_id: token for token_id in ids if (token := index.vocabulary.tokens[token_id]) is not None}
    forced = index.forced_bytes(state).decode(errors="replace")
    return AllowedTokens(name, tokens, index.automaton.accepts(state), forced)


def _check(index: Index, data: bytes) -> None:
    """Raise ValueError if no text begins with some bytes, and show the longest beginning that is possible."""
    if state_after(index.automaton, data) != DEAD:
        return
    possible = next(size for size in range(len(data), -1, -1) if state_after(index.automaton, data[:size]) != DEAD)
    beginning, excess = data[:possible].decode(errors="ignore"), data[possible:].decode(errors="ignore")
    where = f"after {_quoted(beginning[-MAX_SHOWN:])}, " if beginning else ""
    raise ValueError(f"No answer of the type begins like this: {where}{_quoted(excess[:MAX_SHOWN])} cannot follow.")


def shown_token(token: bytes) -> str:
    """Return a token in quotes; bytes that are not UTF-8 are shown as escapes."""
    try:
        return _quoted(shortened(token.decode(), MAX_SHOWN))
    except UnicodeDecodeError:
        return shortened(repr(token)[1:], MAX_SHOWN)


def _quoted(text: str) -> str:
    return f"`{printable(text)}`"
