"""Texts of one output type that are of another as well, or are not: what `a & b` and `a - b` make."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import Recogniser
from structured.automata.dfa.products import is_of_characters
from structured.automata.product import EmptyProductError, complement, named, product
from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.values import shown
from structured.output_types.annotations import Annotation
from structured.output_types.choice import Choice
from structured.output_types.combining.parts import Combination, of_this, part_automaton, part_of, value_schema_of
from structured.output_types.output_type import Description, OutputType, Piece

T = TypeVar("T")


class Restricted(Combination[T]):
    """The texts of an output type that are of another as well, or are not; its value is that of the first."""

    def __init__(self, base: OutputType[T], rule: OutputType[Any], *, is_included: bool) -> None:
        """Take the type, and what its texts have to be, or must not be."""
        self.base = base
        self.rule = rule
        self.is_included = is_included
        self._take((base, rule), f"{base.name} {'&' if is_included else '-'} {rule.name}")
        self.validators = base.validators

    def _written_down(self) -> tuple[object, ...]:
        return (self.is_included,)

    def _expression(self, document: str | None) -> Automaton:
        base, rule = part_automaton(self.base, document), part_automaton(self.rule, document)
        if not isinstance(rule, RegularAutomaton):
            raise SchemaError(
                f"{self.rule.name} is no regular language, and stands behind {'&' if self.is_included else '-'}",
                remedy="Write a Regex, a Choice or a Text there, or what is combined of these.",
            )
        if self.is_included:
            return self._product([base, rule])
        if not is_of_characters(rule.pattern):
            raise SchemaError(
                f"{self.rule.name} is JSON, and stands behind -",
                remedy="Write a Regex, a Choice or a Text there, or what is combined of these.",
            )
        try:
            allowed = RegularAutomaton(complement(rule.pattern))
        except EmptyProductError:
            raise self._empty() from None
        return self._product([base, allowed])

    def _product(self, sides: Sequence[Automaton]) -> Automaton:
        try:
            with named(self.name):
                return product(sides)
        except EmptyProductError:
            raise self._empty() from None

    def _empty(self) -> UnsatisfiableError:
        rule = f"{'' if self.is_included else 'not '}of {self.rule.name}"
        return UnsatisfiableError(f"No text is of {self.base.name} and {rule}", remedy="Change one of the two.")

    def automaton(self, document: str | None = None) -> Automaton:
        """Return the automaton of the texts. Raises UnsatisfiableError if there are none."""
        return self._expression(document)

    @cached_property
    def _recogniser(self) -> Recogniser:
        return Recogniser(self.automaton)

    @property
    def how_to_limit(self) -> str:
        """What limits the type."""
        return self.base.how_to_limit

    @property
    def parts(self) -> Annotation | None:
        """Those of the type."""
        return self.base.parts

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """That of the type."""
        return value_schema_of(self.base) or None

    def parse(self, text: str) -> T:
        """Return what the type makes of a text. Raises ValueError if the text is none of those."""
        if not self._recogniser.accepts(text):
            raise ValueError(f"{shown(text)} is no text of {self.name}")
        return self.base.parse(text)

    def _write(self, value: Any) -> str:
        text = self.base.write(value)
        self.parse(text)
        return text

    def plain(self, value: Any) -> Any:
        """Return a value as the type does."""
        return self.base.plain(value)

    def to_data(self, text: str) -> Any:
        """Return what a text says as the type does."""
        return self.base.to_data(text)

    def from_data(self, data: Any) -> str:
        """Return the text of plain data."""
        return self.base.from_data(data)

    def pieces(self, text: str) -> list[Piece]:
        """Return the whole, as one of the type."""
        return [Piece((), self.base, 0, len(text))]

    def describe(self) -> Description:
        """Return the type, and what restricts it."""
        base, rule = self.base.describe(), self.rule.describe()
        verb = "is also" if self.is_included else "must not be"
        return base._replace(text=f"{base.text}\n\nThe whole answer {verb} {of_this(rule.label)}:\n{rule.text}")


def both(left: object, right: object) -> "Restricted[Any]":
    """Return the texts of both, with the values of the first."""
    return Restricted(_operand(left, "the left side of &"), _operand(right, "the right side of &"), is_included=True)


def difference(left: object, right: object) -> "Restricted[Any]":
    """Return the texts of the first that are not of the second."""
    return Restricted(_operand(left, "the left side of -"), _operand(right, "the right side of -"), is_included=False)


def _operand(given: object, named: str) -> OutputType[Any]:
    return Choice([given]) if isinstance(given, str) else part_of(given, named)
