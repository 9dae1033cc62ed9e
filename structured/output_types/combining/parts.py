"""Parts of a combination: fixed texts, output types, and Python types, whose values are written as JSON.

A text is split into its parts in two passes: from the front, which positions of the combination may be read up to each
byte; from the back, which of them lead to the end. Where it can be split in several ways, earlier parts take as much as
they can, as the quantifiers of `re` do. Both passes take as many steps as the text has bytes, times the states that are
possible at one of them. Backtracking was rejected: its steps grow with a power of the length.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from typing_extensions import TypeVar

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import DEAD, AutoReset
from structured.automata.combination import Expression, Member, Positions, combined
from structured.errors import SchemaError, UnsatisfiableError, arguments
from structured.errors.values import message, shortened, shown
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.output_type import Description, OutputType, automaton_of
from structured.output_types.paths import FieldSelection
from structured.output_types.python_type import type_name
from structured.output_types.resolve import TypeLike, resolve_type
from structured.regex import literal

PositionSpan = tuple[int, int, int]
"""A position, and where the text of its automaton starts and ends, in characters."""

_Successors = dict[Member, Member | None]
"""Each member at one byte that leads to the end, with its successor after that byte; None if it reads no more."""


def split_text(positions: Positions, text: str, *, longest: bool = True) -> list[PositionSpan] | None:
    """Return the positions that a text goes through, each with its span; None if the text is none of theirs.

    Earlier spans are as long as they can be, or as short, if not `longest`.
    """
    data = arguments.text("text", text).encode()
    if not data and positions.may_be_empty:
        return []
    leading = _members_leading_to_end(positions, data)
    ends_of_positions: list[tuple[int, int]] = []
    member = _first_leading(positions.start_members(positions.first), leading[0])
    byte_index = 0
    if member is None:
        return None
    while member is not None:
        position, state = member
        successor, follower = leading[byte_index][member], _follower(positions, member, leading[byte_index])
        is_end = byte_index == len(data) and position in positions.last and positions.automata[position].accepts(state)
        if successor is not None and (longest or follower is None):
            member, byte_index = successor, byte_index + 1
        else:
            ends_of_positions.append((position, byte_index))
            member = None if is_end else follower
    return list(_character_spans(ends_of_positions, data))


def _character_spans(ends: list[tuple[int, int]], data: bytes) -> Iterator[PositionSpan]:
    start = decoded_bytes = 0
    for position, end in ends:
        count = len(data[decoded_bytes:end].decode())
        yield position, start, start + count
        start, decoded_bytes = start + count, end


def _members_leading_to_end(positions: Positions, data: bytes) -> list[_Successors]:
    """Return for each byte the members before it that lead to the end, each with its successor."""
    reached = [positions.closure(positions.start_members(positions.first))]
    steps: list[dict[Member, Member]] = []
    for byte in data:
        successors: dict[Member, Member] = {}
        for member in reached[-1]:
            target = positions.automata[member[0]].step(member[1], byte)
            if target != DEAD:
                successors[member] = (member[0], target)
        steps.append(successors)
        reached.append(positions.closure(successors.values()))
    leading: list[_Successors] = []
    leading_after: _Successors = {}
    for byte_index in range(len(data), -1, -1):
        leading_here: _Successors = {}
        if byte_index < len(data):
            leading_here |= {member: after for member, after in steps[byte_index].items() if after in leading_after}
        final_positions = positions.last if byte_index == len(data) else ()
        _add_ended_members(positions, reached[byte_index], leading_here, final_positions)
        leading.append(leading_here)
        leading_after = leading_here
    return leading[::-1]


def _add_ended_members(
    positions: Positions, members: list[Member], leading_here: _Successors, final_positions: Collection[int]
) -> None:
    """Add the members whose texts end at this byte, if they are final or others that lead to the end follow them."""
    ended = [member for member in members if positions.automata[member[0]].accepts(member[1])]
    is_growing = True
    while is_growing:
        is_growing = False
        for member in ended:
            is_final = member[0] in final_positions
            if member not in leading_here and (is_final or _follower(positions, member, leading_here) is not None):
                leading_here[member] = None
                is_growing = True


def _follower(positions: Positions, member: Member, leading_here: _Successors) -> Member | None:
    """Return the member that follows one whose text ends, of those that lead to the end."""
    position, state = member
    if not positions.automata[position].accepts(state):
        return None
    return _first_leading(positions.start_members(positions.followers[position]), leading_here)


def _first_leading(members: list[Member], leading_here: _Successors) -> Member | None:
    return next((member for member in members if member in leading_here), None)


T = TypeVar("T", default=Any)

MAX_NAME = 120
"""Characters of the name of a combination."""


def Json(  # noqa: N802  an output type, as Regex and Choice are
    output_type: TypeLike[T], *, layout: JsonLayout | None = None, grounded: FieldSelection | None = None
) -> OutputType[T]:
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
    return json_type if grounded is None else json_type.with_grounding(grounded)


def to_part(part: object, noun: str) -> OutputType[Any]:
    """Return a part of a combination, which messages call by a name. Raises SchemaError if it is none."""
    if _is_free_text(part):
        type_text = "Annotated[str, …]" if get_origin(part) is Annotated else type_name(part)
        raise SchemaError(
            f"{noun} is {type_text}, which is free text, or a JSON string in quotation marks",
            remedy=f'Write Text(…) or Regex(r"…") for free text, and say where it ends; or Json({type_text}) for the '
            "string.",
        )
    if isinstance(part, str):
        raise SchemaError(f"{noun} is the text {shown(part)}, not a type", remedy=f"Pass Choice([{shown(part)}]).")
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

    def _set_members(self, parts: Iterable[OutputType[Any]], name: str, labels: Sequence[str] = ()) -> None:
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
    def _distinguishing_arguments(self) -> tuple[object, ...]:
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
            with named_in_errors(label):
                part.check()
        super().check()

    def _facts(self) -> tuple[object, ...]:
        return type(self).__name__, *self._distinguishing_arguments(), *(part.digest for part in self.members)

    @cached_property
    def _positions(self) -> AutoReset[Positions]:
        return AutoReset(lambda: Positions.of(self._expression(None)))

    def _split(self, text: str) -> list[PositionSpan]:
        """Return the positions that a text goes through, with their spans. Raises ValueError if it is no such text."""
        return self._positions.run(lambda positions: self._split_by(positions, text))

    def _split_by(self, positions: Positions, text: str) -> list[PositionSpan]:
        spans, quoted = split_text(positions, text), repr(shortened(text, MAX_NAME))
        if spans is None:
            raise ValueError(f"{quoted} is no text of {self.name}")
        if self.depends_on_document and spans != split_text(positions, text, longest=False):
            raise ValueError(f"{quoted} can be split in several ways, and the document is not known")
        return spans


def part_automaton(part: str | OutputType[Any], document: str | None) -> Automaton:
    """Return the automaton of a fixed text, or of a part for a document, or for any if there is none."""
    if isinstance(part, str):
        return RegularAutomaton(literal(part))
    return automaton_of(part, document if part.depends_on_document else None)


@contextmanager
def named_in_errors(label: str) -> Iterator[None]:
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


def part_description(name: str, part: OutputType[Any]) -> str:
    """Return the description of a part in a prompt."""
    label, text = part.describe()[:2]
    indented = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{name} is {label_reference(label)}:\n{indented}"


def label_reference(label: str) -> str:
    """Return how a prompt refers to the text below a label: `of this type`, `one of these choices`."""
    lowered = f"{label[:1].lower()}{label[1:]}"
    return f"one of these {lowered}" if lowered.endswith("s") else f"of this {lowered}"


def combination_description(shown: str, legend: Iterable[str], task: str) -> Description:
    """Return how a combination is shown to the model."""
    return Description("Format", "\n\n".join([shown, *legend]), answer="Answer", task=task)


def joined_names(parts: Iterable[object], sign: str) -> str:
    """Return the name of a combination."""
    return f" {sign} ".join(part.name if isinstance(part, OutputType) else repr(part) for part in parts)
