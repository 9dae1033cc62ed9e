"""Unions, intersections and differences of output types, as `a | b`, `a & b` and `a - b` make them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import AUTOMATON_ERRORS, Recogniser
from structured.automata.combination import Expression, OneOf
from structured.automata.dfa.products import is_of_characters
from structured.automata.product import EmptyProductError, complement, named_errors, product
from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.values import described, shown
from structured.output_types.annotations import Annotation
from structured.output_types.choice import Choice
from structured.output_types.combining.parts import (
    Combination,
    combination_description,
    joined_names,
    label_reference,
    part_automaton,
    part_description,
    to_part,
    value_schema_of,
)
from structured.output_types.output_type import Description, OutputType, Piece

T = TypeVar("T")
U = TypeVar("U")

TASK = "Decide by the text which of these formats applies, and answer in that format and nothing else."


def _successful_attempts(
    options: Iterable[OutputType[Any]], attempt: Callable[[OutputType[Any]], U]
) -> Iterator[tuple[OutputType[Any], U]]:
    """Yield the options for which an attempt succeeds, each with its result: validators are the user's own code."""
    for option in options:
        try:
            result = attempt(option)
        except AUTOMATON_ERRORS:
            raise
        except Exception:  # noqa: BLE001, S112  it is no value, or no text, of this option
            continue
        yield option, result


class Alternatives(Combination[T]):
    """A union of output types, as `a | b` makes it.

    The value of a text is that of the first option that accepts it, with its validators.
    """

    def __init__(self, options: Sequence[OutputType[Any]]) -> None:
        """Take the options, those of alternatives among them one by one."""
        groups = (option.members if isinstance(option, Alternatives) else (option,) for option in options)
        flat = list(chain.from_iterable(groups))
        self._set_members(flat, joined_names(flat, "|"))

    def _distinguishing_arguments(self) -> tuple[object, ...]:
        return ()

    def _expression(self, document: str | None) -> Expression:
        return OneOf(tuple([part_automaton(option, document) for option in self.members]))

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The schemas of the options; None if the value of one may be anything."""
        schemas = [dict(value_schema_of(option)) for option in self.members]
        if not all(schemas):
            return None
        return schemas[0] if all(schema == schemas[0] for schema in schemas) else {"anyOf": schemas}

    def _accepting(self, text: str) -> list[OutputType[Any]]:
        """Return the options of whose texts it is one."""
        pairs = zip(self.members, self._recognisers, strict=True)
        return [option for option, recogniser in pairs if recogniser.accepts(text)]

    @cached_property
    def _recognisers(self) -> list[Recogniser]:
        return [Recogniser(partial(part_automaton, option, None)) for option in self.members]

    def parse(self, text: str) -> T:
        """Return the value of a text. If all options reject it, raises the error of the first that has such a text."""
        rejection: Exception | None = None
        for option in self._accepting(text):
            try:
                return option.parse(text)  # type: ignore[no-any-return]
            except AUTOMATON_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001  validators are the user's own code
                rejection = rejection or error
        raise rejection or ValueError(f"{described(text)} is no text of {self.name}")

    def _write(self, value: Any) -> str:
        """Return the text that means a value for the first option that has one; else what some option writes for it."""
        texts: list[str] = []

        def write_and_read(option: OutputType[Any]) -> tuple[str, Any]:
            text = option.write(value)
            return text, self.parse(text)

        for option, (text, value_read) in _successful_attempts(self.members, write_and_read):
            if value_read == value:
                return text
            texts += [text] if self._option_reading(text) is option else []
        if not texts:
            raise ValueError("give a value of one of the options, or the text itself")
        return texts[0]

    def plain(self, value: Any) -> Any:
        """Return a value as plain JSON data, by the option that writes it."""

        def plain_of(option: OutputType[Any]) -> tuple[bool, Any]:
            is_same = option.parse(option.write(value)) == value
            return is_same, option.plain(value) if is_same else None

        for _, (is_same, plain) in _successful_attempts(self.members, plain_of):
            if is_same:
                return plain
        return super().plain(value)

    def _option_reading(self, text: str) -> OutputType[Any]:
        """Return the option that a text is read by; if all reject it, the first of whose texts it is one."""
        accepting = self._accepting(text)
        if not accepting:
            raise ValueError(f"{described(text)} is no text of {self.name}")
        if len(accepting) == 1:
            return accepting[0]
        readers = (option for option, _ in _successful_attempts(accepting, lambda option: option.parse(text)))
        return next(readers, accepting[0])

    def pieces(self, text: str) -> list[Piece]:
        """Return the option that a text is read by."""
        return [Piece((), self._option_reading(text), 0, len(text))]

    def to_data(self, text: str) -> Any:
        """Return the plain data of a text by the option that reads it."""
        return self._option_reading(text).to_data(text)

    def from_data(self, data: Any) -> str:
        """Return the text of plain data, by the first option that reads it as that."""

        def write_and_read(option: OutputType[Any]) -> tuple[str, Any]:
            text = option.from_data(data)
            return text, self.to_data(text)

        for _, (text, data_read) in _successful_attempts(self.members, write_and_read):
            if data_read == data:
                return text
        raise ValueError(f"{described(data)} is no data of {self.name}")

    def describe(self) -> Description:
        """Return the descriptions of the options."""
        names = [f"option {number}" for number in range(1, len(self.members) + 1)]
        return combination_description("One of these:", map(part_description, names, self.members), TASK)


def alternatives(left: object, right: object) -> "Alternatives[Any]":
    """Return the texts of both; a str is a text that stands for itself."""
    sides = enumerate((left, right), start=1)
    parts = [Choice([side]) if isinstance(side, str) else to_part(side, f"option {place}") for place, side in sides]
    return Alternatives(parts)


class Restricted(Combination[T]):
    """The texts of an output type that are also of another, or are not; their values are those of the first."""

    def __init__(self, base: OutputType[T], rule: OutputType[Any], *, is_included: bool) -> None:
        """Take the type, and the type that its texts have to be of, or must not be of."""
        self.base = base
        self.rule = rule
        self.is_included = is_included
        self._set_members((base, rule), f"{base.name} {'&' if is_included else '-'} {rule.name}")
        self.validators = base.validators

    def _distinguishing_arguments(self) -> tuple[object, ...]:
        return (self.is_included,)

    def _expression(self, document: str | None) -> Automaton:
        base, rule = part_automaton(self.base, document), part_automaton(self.rule, document)
        problem = ""
        if not isinstance(rule, RegularAutomaton):
            problem = f"is no regular language, and is the right side of {'&' if self.is_included else '-'}"
        elif not (self.is_included or is_of_characters(rule.pattern)):
            problem = "is JSON, and is the right side of -"
        if problem or not isinstance(rule, RegularAutomaton):
            remedy = "Write a Regex, a Choice or a Text there, or what is combined of these."
            raise SchemaError(f"{self.rule.name} {problem}", remedy=remedy)
        try:
            allowed = rule if self.is_included else RegularAutomaton(complement(rule.pattern))
            with named_errors(self.name):
                return product([base, allowed])
        except EmptyProductError:
            of_rule = f"{'' if self.is_included else 'not '}of {self.rule.name}"
            problem = f"No text is of {self.base.name} and {of_rule}"
            raise UnsatisfiableError(problem, remedy="Change one of the two.") from None

    def automaton(self, document: str | None = None) -> Automaton:
        """Return the automaton of the texts. Raises UnsatisfiableError if there are none."""
        return self._expression(document)

    @property
    def how_to_limit(self) -> str:
        """The limit of the type."""
        return self.base.how_to_limit

    @property
    def parts(self) -> Annotation | None:
        """The parts of the type."""
        return self.base.parts

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The schema of the values of the type."""
        return value_schema_of(self.base) or None

    def parse(self, text: str) -> T:
        """Return the value of a text. Raises ValueError if it is no such text."""
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
        """Return the plain data of a text, as the type does."""
        return self.base.to_data(text)

    def from_data(self, data: Any) -> str:
        """Return the text of plain data."""
        return self.base.from_data(data)

    def pieces(self, text: str) -> list[Piece]:
        """Return the whole, as one of the type."""
        return [Piece((), self.base, 0, len(text))]

    def describe(self) -> Description:
        """Return the descriptions of the type and of its restriction."""
        base, rule = self.base.describe(), self.rule.describe()
        verb = "is also" if self.is_included else "must not be"
        return base._replace(text=f"{base.text}\n\nThe whole answer {verb} {label_reference(rule.label)}:\n{rule.text}")


def restricted(left: object, right: object, *, is_included: bool) -> "Restricted[Any]":
    """Return the texts of the first that are also of the second, or are not."""
    sign = "&" if is_included else "-"
    base, rule = (
        Choice([operand]) if isinstance(operand, str) else to_part(operand, f"the {side} side of {sign}")
        for side, operand in (("left", left), ("right", right))
    )
    return Restricted(base, rule, is_included=is_included)
