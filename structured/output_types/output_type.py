"""The interface of whatever may be asked for: its name, its automaton, its reader and its description.

The index, prompts, streams and votes know an answer by this interface alone. Python types and JSON Schemas are two
implementations; a class of one's own that follows it can be passed wherever a type can.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pydantic_core import to_jsonable_python

from structured.automata import Automaton
from structured.errors import SchemaError
from structured.json_schema.document.location import Subschema
from structured.output_types.annotations import Annotation
from structured.output_types.paths import Steps

T = TypeVar("T")


Basis = Literal["free", "quoted", "grounded", "concluded"]
"""How a value comes about: the model writes it freely, or it is a quotation of the document, or the document has to
state it in some form, or it is one of some that the type lists, or true or false, which is a conclusion."""


class Description(NamedTuple):
    """How a prompt shows an output type.

    >>> Description("Pattern", "[0-9]{4}", answer="Year", task="Find the year that the text states.")
    Description(label='Pattern', text='[0-9]{4}', answer='Year', task='Find the year that the text states.')
    """

    label: str
    """What stands above the description: `Type`."""
    text: str
    answer: str
    """What stands above the answer: `JSON`."""
    task: str
    """What a chat model is to do; the instructions of the caller stand above it."""


class OutputType(ABC, Generic[T]):
    """Something that a model can be asked for, and that its text is read back as.

    A subclass says what may be written (`automaton`), what a text means (`parse`) and how the prompt describes it
    (`describe`). The rest has defaults.
    """

    name: str
    """What it is called in messages."""

    depends_on_document: bool = False
    """Whether each document has an automaton of its own; if not, `automaton` is called once.

    The document of a chat is all that the user says, with blank lines between the messages.
    """

    validators: tuple[str, ...] = ()
    """The names of functions that have the last word on an answer, as `inspect_type` shows them."""

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
        """The JSON Schema of what a value is in a file, where there is no `root`; None if it may be anything.

        By it a table has a column for the values.
        """
        return None

    @abstractmethod
    def automaton(self, document: str | None = None) -> Automaton:
        """Return the automaton of the answers to a document, over UTF-8. Raises SchemaError where there is none."""

    @abstractmethod
    def parse(self, text: str) -> T:
        """Return what an answer says. Raises ValueError if it is rejected, by a validator for example."""

    @abstractmethod
    def describe(self) -> Description:
        """Return how the type is shown to the model."""

    @property
    def digest(self) -> str:
        """The SHA-256 of what tells this type from others; by default, of its name and description."""
        return sha256(repr((self.name, self.describe())).encode(errors="surrogatepass")).hexdigest()

    def basis(self, steps: Steps, value: Any) -> Basis:  # noqa: ARG002  an answer without a schema is free
        """Return how the type lets a value of an answer come about; see `Basis`."""
        return "free"

    def check(self) -> None:
        """Raise SchemaError if the type is not supported. Called before a model is loaded.

        By default it asks for the automaton, unless that depends on the document.
        """
        if not self.depends_on_document:
            self.automaton()

    @staticmethod
    def __get_pydantic_core_schema__(*_: object) -> Any:
        """Refuse to be a part of a type: Pydantic knows nothing of it, and would accept any value in its place."""
        raise SchemaError(
            "An OutputType stands inside of a type",
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

    def to_data(self, text: str) -> Any:
        """Return an answer as plain JSON data, whose members are voted on one by one."""
        return text

    def from_data(self, data: Any) -> str:
        """Return the answer of plain data; the inverse of `to_data`."""
        return str(data)
