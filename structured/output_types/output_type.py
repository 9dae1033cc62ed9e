"""The interface of whatever may be asked for: its name, its automaton, its reader and its description.

Indexes, prompts, streams and votes know an answer by this interface alone. Python types and JSON Schemas are two
implementations; an instance of any other class that follows it can be passed wherever a type can. Anybody may write
one, so each thing that it returns is checked once, where the library takes it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeVarTuple,
    overload,
)

from pydantic_core import to_jsonable_python
from typing_extensions import TypeVar, get_protocol_members

from structured.automata import Automaton
from structured.automata.byte_automaton import Recogniser, reset_if_exhausted
from structured.errors import SchemaError, StructuredError, StructuredWarning
from structured.errors.values import described, message
from structured.json_schema.document.location import Subschema
from structured.output_types.annotations import Annotation
from structured.output_types.paths import Steps

T_co = TypeVar("T_co", covariant=True, default=Any)
U = TypeVar("U")
Values = TypeVarTuple("Values")


Basis = Literal["free", "quoted", "grounded", "concluded"]
"""How a value arises: the model writes it freely, or it is a quotation of the document, or the document has to
state it in some form, or it is one of some that the type lists, or true or false, which is a conclusion."""


class Description(NamedTuple):
    """How a prompt shows an output type.

    >>> Description("Pattern", "[0-9]{4}", answer="Year", task="Find the year that the text states.")
    Description(label='Pattern', text='[0-9]{4}', answer='Year', task='Find the year that the text states.')
    """

    label: str
    """The heading of the description: `Type`."""
    text: str
    answer: str
    """The heading of the answer: `JSON`."""
    task: str
    """The task of a chat model; the instructions of the caller come before it."""


class Piece(NamedTuple):
    """A part of an answer that is of an output type of its own."""

    steps: Steps
    """Its place in the plain data of the answer."""
    output_type: "OutputType[Any]"
    start: int
    """Its first character in the answer."""
    end: int


class OutputType(ABC, Generic[T_co]):
    """Something that a model can be asked for, and that its text is read back as.

    A subclass says what may be written (`automaton`), what a text means (`parse`) and how the prompt describes it
    (`describe`). The rest has defaults.
    """

    name: str
    """Its name in messages."""

    depends_on_document: bool = False
    """Whether each document has an automaton of its own; if not, `automaton` is called once.

    The document of a chat is all that the user says, with blank lines between the messages.
    """

    removes_unsupported: bool = False
    """Whether what the document does not have, or not as often, is removed from answers."""

    validators: tuple[str, ...] = ()
    """The names of functions that have the last word on an answer, as `inspect_type` shows them."""

    @property
    def how_to_limit(self) -> str:
        """The way to limit the length of the texts, as a sentence; an empty text if all are limited."""
        return ""

    @property
    def parts(self) -> Annotation | None:
        """The type of the answer as JSON, by which a stream reads its parts; None where the answer has no parts."""
        return None

    @property
    def root(self) -> Subschema | None:
        """The JSON Schema of the answers, with its place; None where there is none.

        By it values are compared, answers to parts of a document are merged, and what was rejected is written again
        alone. Without it an answer is a whole.
        """
        return None

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The JSON Schema of a value in a file, if there is no `root`; None if it may be anything.

        By it a table has a column for the values.
        """
        return None

    @abstractmethod
    def automaton(self, document: str | None = None) -> Automaton:
        """Return the automaton of the answers to a document, over UTF-8. Raises SchemaError where there is none."""

    @abstractmethod
    def parse(self, text: str) -> T_co:
        """Return the value of an answer. Raises ValueError if it is rejected, by a validator for example."""

    @abstractmethod
    def describe(self) -> Description:
        """Return how the type is shown to the model."""

    @cached_property
    def _recogniser(self) -> Recogniser:
        return Recogniser(self.automaton)

    @property
    def digest(self) -> str:
        """The SHA-256 of the facts that distinguish this type from others; by default, its name and description."""
        return sha256(repr(self._facts()).encode(errors="surrogatepass")).hexdigest()

    def _facts(self) -> tuple[object, ...]:
        return self.name, self.describe()

    def pieces(self, text: str) -> Sequence[Piece] | None:  # noqa: ARG002  an answer has no pieces by itself
        """Return the parts of an answer that are of other types, by which evidence is found for each; None for none."""
        return None

    def basis(self, steps: Steps, value: Any) -> Basis:  # noqa: ARG002  an answer without a schema is free
        """Return how the type lets a value of an answer arise; see `Basis`."""
        return "free"

    def is_removable(self, steps: Steps) -> bool:  # noqa: ARG002  an answer without a schema is a whole
        """Tell whether a text at a place of an answer is removed where the document does not have it."""
        return False

    def is_item(self, steps: Steps) -> bool:  # noqa: ARG002  likewise
        """Tell whether what is at a place of an answer is an item that its list can do without."""
        return False

    def check(self) -> None:
        """Raise SchemaError if the type is not supported. Called before a model is loaded.

        By default it asks for the automaton, unless that depends on the document.
        """
        if not self.depends_on_document:
            self.automaton()

    @overload
    def __add__(self, other: str) -> "OutputType[T_co]": ...
    @overload
    def __add__(self, other: "OutputType[U] | type[U]") -> "Several[T_co, U]": ...
    @overload
    def __add__(self, other: object) -> "OutputType[Any]": ...
    def __add__(self, other: object) -> "OutputType[Any]":
        """Return the texts of this type, each with one of the other behind it; a str is a fixed text."""
        return _OPERATORS["+"](self, other)

    def __radd__(self, other: str) -> "OutputType[T_co]":
        return _OPERATORS["+"](other, self)

    @overload
    def __or__(self, other: str) -> "OutputType[T_co | str]": ...
    @overload
    def __or__(self, other: "OutputType[U] | type[U]") -> "OutputType[T_co | U]": ...
    @overload
    def __or__(self, other: object) -> "OutputType[Any]": ...
    def __or__(self, other: object) -> "OutputType[Any]":
        """Return the texts of both; the value is that of the first that accepts a text."""
        return _OPERATORS["|"](self, other)

    def __ror__(self, other: object) -> "OutputType[Any]":
        return _OPERATORS["|"](other, self)

    def __and__(self, other: object) -> "OutputType[T_co]":
        """Return the texts of this type that are of the other as well, which is a regular language."""
        return _OPERATORS["&"](self, other)

    def __rand__(self, other: object) -> "OutputType[Any]":
        return _OPERATORS["&"](other, self)

    def __sub__(self, other: object) -> "OutputType[T_co]":
        """Return the texts of this type that are not of the other, which is a regular language."""
        return _OPERATORS["-"](self, other)

    def __rsub__(self, other: object) -> "OutputType[Any]":
        return _OPERATORS["-"](other, self)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled and copied, without cached properties such as automata, which are computed again."""
        is_kept = {name: isinstance(getattr(type(self), name, None), cached_property) for name in vars(self)}
        return {name: value for name, value in vars(self).items() if not is_kept[name]}

    @staticmethod
    def __get_pydantic_core_schema__(*_: object) -> Any:
        """Refuse to be a part of a type: Pydantic knows nothing of it, and would accept any value in its place."""
        raise SchemaError(
            "An OutputType is part of a type",
            remedy="It can only be a whole answer. Write the part as a type: Annotated[str, Field(pattern=…)] for a "
            "Regex, Literal[…] for a Choice.",
        )

    def write(self, value: Any) -> str:
        """Return the text that means a value, as an example shows it. Raises ValueError if there is none."""
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a str")  # noqa: TRY004  a value of another type, not a wrong argument
        self.parse(value)
        return value

    def plain(self, value: Any) -> Any:
        """Return a value as plain JSON data, by which answers are compared. Raises ValueError if it is no value."""
        return to_jsonable_python(value, by_alias=True, fallback=repr)

    def settled(self, text: str) -> str:
        """Return an accepted answer as it is kept, such as without calls that repeat an earlier one."""
        return text

    def to_data(self, text: str) -> Any:
        """Return an answer as plain JSON data, whose members are voted on one by one."""
        return text

    def from_data(self, data: Any) -> str:
        """Return the answer of plain data; the inverse of `to_data`."""
        return str(data)


class Several(OutputType[tuple[*Values]]):
    """An output type with several values in a row; `+` makes a longer row."""

    @overload  # type: ignore[override]  # what follows becomes one of the values
    def __add__(self, other: str) -> "Several[*Values]": ...
    @overload
    def __add__(self, other: "OutputType[U] | type[U]") -> "Several[*Values, U]": ...
    @overload
    def __add__(self, other: object) -> "OutputType[Any]": ...
    def __add__(self, other: object) -> "OutputType[Any]":
        return super().__add__(other)


_OPERATORS: dict[str, Callable[[object, object], OutputType[Any]]] = {}


def define_operators(operators: Mapping[str, Callable[[object, object], OutputType[Any]]]) -> None:
    """Define the operators between output types: they make combinations, which import all other output types."""
    _OPERATORS.update(operators)


_AUTOMATON_MEMBERS = sorted(get_protocol_members(Automaton))


_OPTIONAL_PROPERTIES: dict[str, tuple[type[Any], str]] = {
    "parts": (Annotation, "Return an Annotation, or None where an answer has no parts."),
    "value_schema": (Mapping, "Return a JSON Schema as a dict, or None."),
    "root": (Subschema, "Return None, or the root of a type that resolve_json returns."),
}
"""The properties that may be None, with what else they are, and the remedy for anything else."""


def check_interface(output_type: OutputType[Any]) -> None:
    """Raise SchemaError if a type has no name, is not supported, or returns parts or a schema of a wrong kind."""
    kind = type(output_type).__name__
    name = getattr(output_type, "name", None)
    if not isinstance(name, str):
        raise SchemaError(
            f"The name of {kind} is {described(name)}, and messages call it by that", remedy="Give it a str as `name`."
        )
    _call_member(output_type, "check", output_type.check)
    for member, (kind_of_value, remedy) in _OPTIONAL_PROPERTIES.items():
        value = _call_member(output_type, member, partial(getattr, output_type, member))
        if not isinstance(value, kind_of_value | None):
            raise _interface_error(output_type, member, value, remedy)


def description_of(output_type: OutputType[Any]) -> Description:
    """Return how a type is shown to the model. Raises SchemaError if that is no Description of texts."""
    description = _call_member(output_type, "describe", output_type.describe)
    if not isinstance(description, Description) or not all(map(_is_encodable, description)):
        remedy = "Return a Description of texts, without lone surrogates."
        raise _interface_error(output_type, "describe", description, remedy)
    return description


def automaton_of(output_type: OutputType[Any], document: str | None) -> Automaton:
    """Return the automaton of the answers to a document, one that is not exhausted.

    `document` is None if the type does not depend on it. Raises SchemaError if the type returns no automaton, or if
    it raises anything else than an error of the library.
    """
    automaton = _call_member(output_type, "automaton", lambda: output_type.automaton(document))
    gaps = [name for name in _AUTOMATON_MEMBERS if not hasattr(automaton, name)]
    if gaps:
        remedy = f"It lacks {', '.join(gaps)}. Return a structured.automata.Automaton: RegularAutomaton(pattern), say."
        raise _interface_error(output_type, "automaton", automaton, remedy)
    fingerprint: object = automaton.fingerprint
    if fingerprint is not None and not (isinstance(fingerprint, bytes) and fingerprint):
        remedy = "Return bytes that identify the language, or None if nothing shall be kept."
        raise _interface_error(output_type, "automaton.fingerprint", fingerprint, remedy)
    return reset_if_exhausted(automaton)


def _call_member(output_type: OutputType[Any], member: str, run: Callable[[], U]) -> U:
    try:
        return run()
    except (StructuredError, StructuredWarning):
        raise
    except Exception as error:
        raise SchemaError(
            f"`{member}` of {output_type.name} raised {type(error).__name__}: {message(error)}",
            remedy="Correct that, or let it raise a SchemaError.",
        ) from error


def _interface_error(output_type: OutputType[Any], member: str, value: object, remedy: str) -> SchemaError:
    return SchemaError(f"`{member}` of {output_type.name} is {described(value)}", remedy=remedy)


def _is_encodable(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)
