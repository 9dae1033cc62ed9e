"""A choice of texts, each with a value, as an output type: `Choice(["yes", "no"])`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, cast, get_args, get_origin, overload

from structured.automata import RegularAutomaton
from structured.errors import SchemaError
from structured.errors.values import described, shortened
from structured.output_types.output_type import Basis, Description, OutputType
from structured.output_types.paths import Steps
from structured.regex import words

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

MAX_SHOWN_CHARACTERS = 4_000
"""Of the choices that a prompt shows."""


class Choice(OutputType[T], Generic[T]):
    """One of some values, each by its text.

    >>> Choice(["yes", "no"]).parse("no")
    'no'
    >>> Choice({"yes": True, "no": False}).parse("no")
    False
    """

    @overload
    def __init__(self, options: Mapping[str, T]) -> None: ...
    @overload
    def __init__(self, options: Iterable[T]) -> None: ...
    @overload
    def __init__(self: "Choice[Any]", options: object) -> None: ...
    def __init__(self, options: Any) -> None:
        """Read the choices.

        Parameters:
            options: The values, each under its text. Or values alone: a text stands for itself, a member of an `Enum`
                goes by its value if that is a text and otherwise by its name, a function or class by its name, and
                anything else by its `str`. An `Enum` or a `Literal` is its values.

        Raises:
            SchemaError: There are none, two have the same text, or one has no text.
        """
        if get_origin(options) is Literal:
            options = get_args(options)
        if isinstance(options, str | bytes) or not isinstance(options, Iterable):
            raise SchemaError(f"{described(options)} is no list of choices", remedy='Give a list: Choice(["a", "b"]).')
        pairs = list(options.items()) if isinstance(options, Mapping) else [(_text_of(item), item) for item in options]
        if not pairs:
            raise SchemaError("A Choice has nothing to choose from", remedy="Give one choice at least.")
        self.options: Mapping[str, T] = MappingProxyType(dict(pairs))
        """The values by their texts."""
        _check(self.options, [text for text, _ in pairs])
        shown = [repr(shortened(text, 40)) for text, _ in pairs[:3]]
        more = [f"… {len(pairs) - 3:,} more"] if len(pairs) > 3 else []
        self.name = f"Choice([{', '.join((*shown, *more))}])"

    def __repr__(self) -> str:
        return self.name

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled and copied."""
        return {**super().__getstate__(), "options": dict(self.options)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, options=MappingProxyType(state["options"]))

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The schema of a string, if all values are strings."""
        return {"type": "string"} if all(type(value) is str for value in self.options.values()) else None

    def automaton(self, document: str | None = None) -> RegularAutomaton:  # noqa: ARG002  the same for each document
        """Return the automaton of the texts."""
        return RegularAutomaton(words(self.options))

    def parse(self, text: str) -> T:
        """Return the value of a text. Raises ValueError if there is no such choice."""
        if text not in self.options:
            raise ValueError(f"{text!r} is none of the choices")
        return self.options[text]

    def describe(self) -> Description:
        """Return the choices, one a line; of very many, the first ones."""
        shown: list[str] = []
        characters_left = MAX_SHOWN_CHARACTERS
        for text in self.options:
            characters_left -= len(text) + 1
            if characters_left < 0 and shown:
                shown.append(f"… and {len(self.options) - len(shown):,} more")
                break
            shown.append(text)
        task = "Decide by the text which of these choices is right, and answer with it alone, as it is written."
        return Description("Choices", "\n".join(shown), answer="Choice", task=task)

    def _facts(self) -> tuple[object, ...]:
        return "choice", *self.options

    def basis(self, steps: Steps, value: Any) -> Basis:  # noqa: ARG002  whichever is chosen
        """Return "concluded": the type lists the values."""
        return "concluded"

    def plain(self, value: Any) -> str:
        """Return the text of a value, by which answers are compared."""
        return self.write(value)

    def write(self, value: Any) -> str:
        """Return the first text of a value. Raises ValueError if it is none of those."""
        for text, option in self.options.items():
            if type(option) is type(value) and option == value:
                return text
        if isinstance(value, str) and value in self.options:
            return value
        raise ValueError(f"{described(value)} is none of the choices")


def _text_of(value: object) -> str:
    """Return the text by which a value goes."""
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    if isinstance(value, str):
        return value
    name = getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str) and name.isidentifier():
        return name
    kind = type(value)
    if callable(value) or (kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__):
        raise SchemaError(
            f"{described(value)} has no text to choose it by",
            remedy="Give the choices as a dictionary, with a text for each.",
        )
    return str(value)


def _check(options: Mapping[str, Any], texts: list[Any]) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise SchemaError(f"The choice {described(text)} is no text", remedy="Let the keys be texts.")
    if len(options) < len(texts):
        repeated = next(text for text, count in Counter(cast("list[str]", texts)).items() if count > 1)
        raise SchemaError(f"The choice {repeated!r} appears twice", remedy="Leave one out, or give each its own text.")
    try:
        "".join(options).encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            "A choice has a lone surrogate, which is no character", remedy="Remove it: no UTF-8 text can hold it."
        ) from error
