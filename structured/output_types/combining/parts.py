"""Parts of a combination: fixed texts, output types, and Python types, whose values are written as JSON.

A text is split into its parts in two passes: from the front, which positions of the combination may be read up to each
byte; from the back, which of them lead to the end. Where it can be split in several ways, earlier parts take as much as
they can, as the quantifiers of `re` do. Both passes take as many steps as the text has bytes, times the states that are
possible at one of them. Backtracking was rejected: its steps grow with a power of the length.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, overload

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import DEAD, AutoReset
from structured.automata.combination import Expression, Member, Positions, combined
from structured.errors import SchemaError, UnsatisfiableError, arguments
from structured.errors.values import message, shortened, shown
from structured.output_types.grounded_values import Ground
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.output_type import Description, OutputType, automaton_of
from structured.output_types.python_type import type_name
from structured.output_types.resolve import resolve_type
from structured.regex import literal

Span = tuple[int, int, int]
"""A position, and where the text of its automaton starts and ends, in characters."""

_After = dict[Member, Member | None]
"""Each member at one byte that leads to the end, with its successor after that byte; None if it reads no more."""


def split(positions: Positions, text: str, *, longest: bool = True) -> list[Span] | None:
    """Return the positions that a text goes through, each with its span; None if the text is none of theirs.

    Earlier spans are as long as they can be, or as short, if not `longest`.
    """
    data = arguments.text("text", text).encode()
    if not data and positions.is_empty:
        return []
    alive = _leading_to_the_end(positions, data)
    ends: list[tuple[int, int]] = []
    here = _first(positions.start_members(positions.first), alive[0])
    place = 0
    if here is None:
        return None
    while here is not None:
        after, follower = alive[place][here], _follower(positions, here, alive[place])
        is_end = place == len(data) and here[0] in positions.last and positions.automata[here[0]].accepts(here[1])
        if after is not None and (longest or follower is None):
            here, place = after, place + 1
        else:
            ends.append((here[0], place))
            here = None if is_end else follower
    return list(_spans(ends, data))


def _spans(ends: list[tuple[int, int]], data: bytes) -> Iterator[Span]:
    start = read = 0
    for position, end in ends:
        count = len(data[read:end].decode())
        yield position, start, start + count
        start, read = start + count, end


def _leading_to_the_end(positions: Positions, data: bytes) -> list[_After]:
    """Return for each byte the members before it that lead to the end, each with its successor."""
    reached = [positions.closure(positions.start_members(positions.first))]
    steps: list[dict[Member, Member]] = []
    for byte in data:
        after: dict[Member, Member] = {}
        for member in reached[-1]:
            target = positions.automata[member[0]].step(member[1], byte)
            if target != DEAD:
                after[member] = (member[0], target)
        steps.append(after)
        reached.append(positions.closure(after.values()))
    leading: list[_After] = []
    behind: _After = {}
    for place in range(len(data), -1, -1):
        here: _After = {}
        if place < len(data):
            here.update({member: after for member, after in steps[place].items() if after in behind})
        _spread(positions, reached[place], here, lambda position: place == len(data) and position in positions.last)  # noqa: B023  called now
        leading.append(here)
        behind = here
    return leading[::-1]


def _spread(positions: Positions, members: list[Member], here: _After, may_end: Callable[[int], bool]) -> None:
    """Add the members that end where they are, before others that lead to the end or where that is."""
    ended = [member for member in members if positions.automata[member[0]].accepts(member[1]) and member not in here]
    count = -1
    while count < len(here):
        count = len(here)
        for member in ended:
            if member not in here and (may_end(member[0]) or _follower(positions, member, here) is not None):
                here[member] = None


def _follower(positions: Positions, member: Member, here: _After) -> Member | None:
    """Return the member that follows one whose text ends, of those that lead to the end."""
    position, state = member
    if not positions.automata[position].accepts(state):
        return None
    return _first(positions.start_members(positions.followers[position]), here)


def _first(members: list[Member], here: _After) -> Member | None:
    return next((member for member in members if member in here), None)


T = TypeVar("T")

MAX_NAME = 120
"""Characters of the name of a combination."""


@overload
def Json(output_type: type[T], *, layout: JsonLayout | None = ..., grounded: Ground | None = ...) -> OutputType[T]: ...
@overload
def Json(output_type: object, *, layout: JsonLayout | None = ..., grounded: Ground | None = ...) -> OutputType[Any]: ...
def Json(  # noqa: N802  an output type, as Regex and Choice are
    output_type: object, *, layout: JsonLayout | None = None, grounded: Ground | None = None
) -> OutputType[Any]:
    """Return the output type of a Python type or a `JsonSchema`, to combine it with others.

    >>> from structured import Json
    >>> ("Ages: " + Json(list[int])).parse("Ages: [3, 31]")
    [3, 31]

    Parameters:
        output_type: As for `extract`.
        layout: The whitespace of the JSON text, and which optional properties it has; see `JsonLayout`.
        grounded: The values that the text has to state; see `Options`.

    Raises:
        SchemaError: It is not a type, or an `OutputType` of its own, which can be combined as it is.
    """
    json_type = resolve_type(output_type, layout=layout)
    if not isinstance(json_type, JsonOutput):
        raise SchemaError(f"{json_type.name} is no JSON", remedy="Combine it as it is, without Json(…).")
    return json_type.with_grounding(grounded) if grounded else json_type


def part_of(part: object, named: str) -> OutputType[Any]:
    """Return a part of a combination, which messages call by a name. Raises SchemaError if it is none."""
    if _is_free_text(part):
        written = "Annotated[str, …]" if get_origin(part) is Annotated else type_name(part)
        raise SchemaError(
            f"{named} is {written}, which is free text, or a JSON string in quotation marks",
            remedy=f'Write Text(…) or Regex(r"…") for free text, and say where it ends; or Json({written}) for the '
            "string.",
        )
    if isinstance(part, str):
        raise SchemaError(f"{named} is the text {shown(part)}, not a type", remedy=f"Pass Choice([{shown(part)}]).")
    return resolve_type(part)


def _is_free_text(part: object) -> bool:
    """Tell whether a type is `str`, also under metadata, or a union with it."""
    origin, arguments = get_origin(part), get_args(part)
    if origin is Annotated:
        return not any(isinstance(note, OutputType) for note in arguments[1:]) and _is_free_text(arguments[0])
    return any(map(_is_free_text, arguments)) if origin in (Union, UnionType) else part is str


class Combination(OutputType[T]):
    """An output type that is made of others."""

    members: Sequence[OutputType[Any]]
    """The output types that it is made of."""

    def _take(self, parts: Iterable[OutputType[Any]], name: str, labels: Sequence[str] = ()) -> None:
        """Take the members, and derive from them what a combination states of itself.

        `labels` are the names of the parts in messages, where they do not name themselves.
        """
        self.members = tuple(parts)
        self._labels = labels or [""] * len(self.members)
        self.name = shortened(name, MAX_NAME)
        self.depends_on_document = any(part.depends_on_document for part in self.members)
        self.validators = tuple(dict.fromkeys(validator for part in self.members for validator in part.validators))

    def __repr__(self) -> str:
        return self.name

    @abstractmethod
    def _expression(self, document: str | None) -> Expression:
        """Return the expression that is combined for a document."""

    @abstractmethod
    def _written_down(self) -> tuple[object, ...]:
        """Return the arguments, but for the parts, that distinguish it from other combinations."""

    def automaton(self, document: str | None = None) -> Automaton:
        """Return the automaton of the texts."""
        return combined(self._expression(document))

    @abstractmethod
    def _write(self, value: Any) -> str:
        """Return the text that means a value. Raises ValueError if there is none."""

    def write(self, value: Any) -> str:
        """Return the text that means a value; a text that means none by itself as it is.

        Raises ValueError if there is none.
        """
        try:
            return self._write(value)
        except Exception as error:
            if not isinstance(value, str):
                raise
            try:
                self.pieces(value)  # before validators
            except ValueError:
                raise ValueError(f"it is none of the texts, and no value: {message(error)}") from error
        self.parse(value)
        return value

    @property
    def how_to_limit(self) -> str:
        """The limits of the parts, each once."""
        return " ".join(dict.fromkeys(part.how_to_limit for part in self.members if part.how_to_limit))

    def check(self) -> None:
        """Raise SchemaError if a part is not supported."""
        for label, part in zip(self._labels, self.members, strict=True):
            with naming(label):
                part.check()
        super().check()

    def _facts(self) -> tuple[object, ...]:
        return type(self).__name__, *self._written_down(), *(part.digest for part in self.members)

    @cached_property
    def _positions(self) -> AutoReset[Positions]:
        return AutoReset(lambda: Positions.of(self._expression(None)))

    def _split(self, text: str) -> list[Span]:
        """Return the positions that a text goes through, with their spans. Raises ValueError if it is no such text."""
        return self._positions.read(lambda positions: self._split_by(positions, text))

    def _split_by(self, positions: Positions, text: str) -> list[Span]:
        spans, quoted = split(positions, text), repr(shortened(text, MAX_NAME))
        if spans is None:
            raise ValueError(f"{quoted} is no text of {self.name}")
        if self.depends_on_document and spans != split(positions, text, longest=False):
            raise ValueError(f"{quoted} can be split in several ways, and the document is not known")
        return spans


def part_automaton(part: str | OutputType[Any], document: str | None) -> Automaton:
    """Return the automaton of a fixed text, or of a part for a document, or for any if there is none."""
    if isinstance(part, str):
        return RegularAutomaton(literal(part))
    return automaton_of(part, document if part.depends_on_document else None)


@contextmanager
def naming(label: str) -> Iterator[None]:
    """Name the part that no text satisfies, where one does not."""
    try:
        yield
    except UnsatisfiableError as error:
        if not label:
            raise
        raise UnsatisfiableError(
            f"{label}: {error.problem}", schema_path=error.schema_path, keyword=error.keyword, remedy=error.remedy
        ) from error


def value_schema_of(part: OutputType[Any]) -> Mapping[str, Any]:
    """Return the JSON Schema of the values of a part if it is a simple one; else an empty schema."""
    if isinstance(part, JsonOutput):
        kind = part.schema.get("type") if isinstance(part.schema, Mapping) else None
        return {"type": kind} if kind in ("integer", "number", "boolean", "string") else {}
    return part.value_schema or {}


def shown_part(name: str, part: OutputType[Any]) -> str:
    """Return the description of a part in a prompt."""
    label, text = part.describe()[:2]
    indented = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{name} is {of_this(label)}:\n{indented}"


def of_this(label: str) -> str:
    """Return how a prompt refers to the text below a label: `of this type`, `one of these choices`."""
    lowered = f"{label[:1].lower()}{label[1:]}"
    return f"one of these {lowered}" if lowered.endswith("s") else f"of this {lowered}"


def described_parts(shown: str, legend: Iterable[str], task: str) -> Description:
    """Return how a combination is shown to the model."""
    return Description("Format", "\n\n".join([shown, *legend]), answer="Answer", task=task)


def joined_names(parts: Iterable[object], sign: str) -> str:
    """Return the name of a combination."""
    return f" {sign} ".join(part.name if isinstance(part, OutputType) else repr(part) for part in parts)
