"""What a combination is made of: fixed texts, output types, and Python types, whose values are written as JSON."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, overload

from structured.automata import Automaton, RegularAutomaton
from structured.automata.combination import Expression, Positions, combined
from structured.automata.recogniser import Renewing
from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.values import message, shown
from structured.json_schema.document.location import Optionals
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName
from structured.output_types.combining.splitting import Span, split
from structured.output_types.grounded.marks import Ground
from structured.output_types.interface import automaton_of
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.output_type import Description, OutputType
from structured.output_types.python_type import type_name
from structured.output_types.resolve import resolve_type
from structured.regex import literal

T = TypeVar("T")

MAX_NAME = 120
"""Characters of the name of a combination."""


@overload
def Json(
    output_type: type[T],
    *,
    whitespace: WhitespaceName = ...,
    optional: Optionals = ...,
    grounded: Ground | None = ...,
) -> OutputType[T]: ...
@overload
def Json(
    output_type: object,
    *,
    whitespace: WhitespaceName = ...,
    optional: Optionals = ...,
    grounded: Ground | None = ...,
) -> OutputType[Any]: ...
def Json(  # noqa: N802  an output type, as Regex and Choice are
    output_type: object,
    *,
    whitespace: WhitespaceName = DEFAULT_WHITESPACE,
    optional: Optionals = "written",
    grounded: Ground | None = None,
) -> OutputType[Any]:
    """Return the output type of a Python type or a `JsonSchema`, to combine it with others.

    >>> from structured import Json
    >>> ("Ages: " + Json(list[int])).parse("Ages: [3, 31]")
    [3, 31]

    Parameters:
        output_type: As for `extract`.
        whitespace: The layout of the JSON text; see `Options`.
        optional: What happens to fields that are not required; see `Options`.
        grounded: The values that the text has to state; see `Options`.

    Raises:
        SchemaError: It is not a type, or an `OutputType` of its own, which can be combined as it is.
    """
    found = resolve_type(output_type, layout=JsonLayout(whitespace, optional))
    if not isinstance(found, JsonOutput):
        raise SchemaError(f"{found.name} is no JSON", remedy="Combine it as it is, without Json(…).")
    return found if grounded is None else found.with_grounding(grounded)


def part_of(given: object, named: str) -> OutputType[Any]:
    """Return a part of a combination, which messages call by a name. Raises SchemaError if it is none."""
    if _is_free_text(given):
        written = "Annotated[str, …]" if get_origin(given) is Annotated else type_name(given)
        raise SchemaError(
            f"{named} is {written}, which is free text, or a JSON string in quotation marks",
            remedy=f'Write Text(…) or Regex(r"…") for free text, and say where it ends; or Json({written}) for the '
            "string.",
        )
    if isinstance(given, str):
        raise SchemaError(f"{named} is the text {shown(given)}, not a type", remedy=f"Pass Choice([{shown(given)}]).")
    return resolve_type(given)


def _is_free_text(given: object) -> bool:
    """Tell whether a type is `str`, also under metadata, or a union with it."""
    origin, arguments = get_origin(given), get_args(given)
    if origin is Annotated:
        return not any(isinstance(note, OutputType) for note in arguments[1:]) and _is_free_text(arguments[0])
    return any(map(_is_free_text, arguments)) if origin in (Union, UnionType) else given is str


class Combination(OutputType[T]):
    """An output type that is made of others."""

    members: Sequence[OutputType[Any]]
    """The output types that it is made of."""

    def _take(self, parts: Iterable[OutputType[Any]], name: str) -> None:
        """Take over what is known of the parts."""
        self.members = tuple(parts)
        self.name = name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…"
        self.depends_on_document = any(part.depends_on_document for part in self.members)
        self.validators = tuple(dict.fromkeys(validator for part in self.members for validator in part.validators))

    def __repr__(self) -> str:
        return self.name

    @abstractmethod
    def _expression(self, document: str | None) -> Expression:
        """Return what is combined for a document."""

    @abstractmethod
    def _written_down(self) -> tuple[object, ...]:
        """Return what tells it from other combinations, but for its parts."""

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
            if not self._is_text(value):
                raise ValueError(f"it is none of the texts, and no value: {message(error)}") from error
        self.parse(value)
        return value

    def _is_text(self, text: str) -> bool:
        """Tell whether something is one of the texts, whatever validators say."""
        try:
            self.pieces(text)
        except ValueError:
            return False
        return True

    @property
    def how_to_limit(self) -> str:
        """What limits the parts, each once."""
        return " ".join(dict.fromkeys(part.how_to_limit for part in self.members if part.how_to_limit))

    def check(self) -> None:
        """Raise SchemaError if a part is not supported."""
        for label, part in zip(self._labels, self.members, strict=True):
            with naming(label):
                part.check()
        super().check()

    @property
    def _labels(self) -> Sequence[str]:
        """What messages call the parts; empty texts where they name themselves."""
        return [""] * len(self.members)

    @property
    def digest(self) -> str:
        """The SHA-256 of what is combined, and how."""
        written = (type(self).__name__, *self._written_down(), *(part.digest for part in self.members))
        return sha256(repr(written).encode(errors="surrogatepass")).hexdigest()

    @cached_property
    def _positions(self) -> Renewing[Positions]:
        """The positions of the parts, by which a text is split. Those of any document: none is known any more."""
        return Renewing(lambda: Positions.of(self._expression(None)))

    def _split(self, text: str) -> list[Span]:
        """Return the positions that a text goes through, with their spans. Raises ValueError if it is no such text."""
        return self._positions.read(lambda positions: self._split_by(positions, text))

    def _split_by(self, positions: Positions, text: str) -> list[Span]:
        found = split(positions, text)
        if found is None:
            raise ValueError(f"{_shortened(text)!r} is no text of {self.name}")
        if self.depends_on_document and found != split(positions, text, longest=False):
            raise ValueError(f"{_shortened(text)!r} can be split in several ways, and the document is not known")
        return found


def part_automaton(part: OutputType[Any], document: str | None) -> Automaton:
    """Return the automaton of a part for a document, or for any if there is none."""
    return automaton_of(part, document if part.depends_on_document else None)


def fixed_automaton(text: str) -> RegularAutomaton:
    """Return the automaton of one text."""
    return RegularAutomaton(literal(text))


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
    """Return the JSON Schema of the values of a part, as far as it is simple; nothing if they may be anything."""
    if isinstance(part, JsonOutput):
        kind = part.schema.get("type") if isinstance(part.schema, Mapping) else None
        return {"type": kind} if kind in ("integer", "number", "boolean", "string") else {}
    return part.value_schema or {}


def shown_part(name: str, part: OutputType[Any]) -> str:
    """Return what a prompt says of a part."""
    label, text = part.describe()[:2]
    return f"{name} is {of_this(label)}:\n{_indented(text)}"


def of_this(label: str) -> str:
    """Return what a prompt calls something below a label: `of this type`, `one of these choices`."""
    lowered = f"{label[:1].lower()}{label[1:]}"
    return f"one of these {lowered}" if lowered.endswith("s") else f"of this {lowered}"


def described_parts(shown: str, legend: Iterable[str], task: str) -> Description:
    """Return how a combination is shown to the model."""
    return Description("Format", "\n\n".join([shown, *legend]), answer="Answer", task=task)


def joined_names(parts: Iterable[object], sign: str) -> str:
    """Return the name of a combination."""
    return f" {sign} ".join(part.name if isinstance(part, OutputType) else repr(part) for part in parts)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}…"
