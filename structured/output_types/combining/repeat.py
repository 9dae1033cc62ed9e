"""Texts of one output type again and again: `Repeat(item, separator=", ")`."""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from structured.automata.combination import MAX_POSITIONS, Expression, Repeated
from structured.errors import SchemaError
from structured.errors.arguments import text as checked_text
from structured.errors.values import described
from structured.output_types.combining.parts import (
    Combination,
    described_parts,
    fixed_automaton,
    part_automaton,
    part_of,
    shown_part,
    value_schema_of,
)
from structured.output_types.output_type import Description, OutputType, Piece

T = TypeVar("T")

MAX_COUNT = MAX_POSITIONS // 2
"""The greatest `minimum` and `maximum`."""

TASK = "Find all that the text states of this kind, and answer with such a list and nothing else."


class Repeat(Combination[list[T]]):
    r"""A list: texts of an output type with a separator between each two. Its value is the list of theirs.

    >>> from structured import Regex, Repeat
    >>> Repeat(Regex(r"\d+", int), maximum=3).parse("1, 20, 300")
    [1, 20, 300]
    """

    def __init__(
        self, item: OutputType[T] | type[T], *, minimum: int = 0, maximum: int | None = None, separator: str = ", "
    ) -> None:
        """Take the item, and how often it is written.

        Where a text can be split in several ways, earlier items take as much as they can. An empty text is no item, if
        `minimum` is 0.

        Parameters:
            item: An output type, or a class, whose values are written as JSON; any other type as `Json(…)`.
            minimum: The fewest items.
            maximum: The most items, up to 5,000; None for no limit.
            separator: The text between each two.

        Raises:
            SchemaError: No count lies between minimum and maximum; or the item and the separator may both be empty, so
                that nobody could tell how many items there are.
        """
        self.item = part_of(item, "The item")
        self.separator = checked_text("separator", separator)
        _check_counts(minimum, maximum)
        self.minimum = minimum
        self.maximum = maximum
        counts = f"minimum={minimum}, maximum={maximum}, separator={separator!r}"
        self._take([self.item], f"Repeat({self.item.name}, {counts})")

    def check(self) -> None:
        """Raise SchemaError if the item is not supported, or may be empty without a separator."""
        super().check()
        if not self.depends_on_document:
            _ = self._expression(None)

    def _written_down(self) -> tuple[object, ...]:
        return self.minimum, self.maximum, self.separator

    def _expression(self, document: str | None) -> Expression:
        item = part_automaton(self.item, document)
        if not self.separator and item.accepts(item.start):
            raise SchemaError(
                f"An item of {self.name} may be empty, and so is the separator",
                remedy="Give a separator, or an item of one character at least.",
            )
        return Repeated(item, fixed_automaton(self.separator), self.minimum, self.maximum)

    @property
    def how_to_limit(self) -> str:
        """The limit of the list, and that of an item."""
        own = "Limit the list, with maximum=…." if self.maximum is None else ""
        return " ".join(filter(None, (own, self.item.how_to_limit)))

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """A list of the values of the item."""
        return {"type": "array", "items": dict(value_schema_of(self.item))}

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of the items. Raises ValueError if the text is no such list."""
        spans = [(start, end) for position, start, end in self._split(text) if position % 2 == 0]  # no separators
        return [Piece((place,), self.item, start, end) for place, (start, end) in enumerate(spans)]

    def _texts(self, text: str) -> list[str]:
        """Return the texts of the items."""
        return [text[piece.start : piece.end] for piece in self.pieces(text)]

    def parse(self, text: str) -> list[T]:
        """Return the values of the items. Raises ValueError if an item is rejected, or the text is no such list."""
        return [self.item.parse(piece) for piece in self._texts(text)]

    def _write(self, value: Any) -> str:
        """Return the text of a list of values; each may also be the text of an item."""
        if not isinstance(value, list | tuple):
            raise ValueError("give a list of values, or the text itself")  # noqa: TRY004  a value of another type
        texts = list(map(self.item.write, value))
        text = self.separator.join(texts)
        if self.parse(text) != list(value) and self._texts(text) != texts:
            raise ValueError(f"{described(value)} is not what {text!r} is read as")
        return text

    def plain(self, value: Any) -> Any:
        """Return the values as plain JSON data."""
        return [self.item.plain(item) for item in value]

    def to_data(self, text: str) -> Any:
        """Return the plain data of the items."""
        return [self.item.to_data(piece) for piece in self._texts(text)]

    def from_data(self, data: Any) -> str:
        """Return the text of plain data."""
        return self.separator.join(map(self.item.from_data, data))

    def describe(self) -> Description:
        """Return how many items there are, their separator, and the type of an item."""
        most = "or more" if self.maximum is None else f"to {self.maximum:,}"
        shown = f"{self.minimum:,} {most} items with {self.separator!r} between each two"
        return described_parts(shown, [shown_part("each item", self.item)], TASK)


def _check_counts(minimum: object, maximum: object) -> None:
    for name, count in (("minimum", minimum), ("maximum", maximum)):
        if not (type(count) is int and 0 <= count <= MAX_COUNT) and not (count is None and name == "maximum"):
            raise SchemaError(
                f"{name} is {described(count)}", remedy=f"Give a number of items from 0 to {MAX_COUNT:,}."
            )
    if maximum is not None and cast("int", maximum) < cast("int", minimum):
        raise SchemaError(f"No count lies between {minimum} and {maximum}", remedy="Let the maximum be no smaller.")
