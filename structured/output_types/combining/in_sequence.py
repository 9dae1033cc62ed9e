"""Texts in a row: lists of one output type, concatenations of several, and templates with fixed texts between them."""

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast, overload

from structured.automata.combination import MAX_POSITIONS, Expression, InSequence, Repeated
from structured.errors import PatternError, SchemaError
from structured.errors.arguments import check_takes
from structured.errors.arguments import text as checked_text
from structured.errors.values import described, nearest
from structured.output_types.combining.parts import (
    Combination,
    combination_description,
    joined_names,
    named_in_errors,
    part_automaton,
    part_description,
    to_part,
    value_schema_of,
)
from structured.output_types.output_type import Description, OutputType, Piece
from structured.output_types.paths import Steps
from structured.regex import literal

T = TypeVar("T")

MAX_ITEMS = MAX_POSITIONS // 2
"""The greatest `minimum` and `maximum`."""

LIST_TASK = "Find all that the text states of this kind, and answer with such a list and nothing else."


class _TextSequence(Combination[T]):
    """Texts in a row, each of an output type, whose values are one value together."""

    @abstractmethod
    def _with_types(self, values: Sequence[Any]) -> Iterable[tuple[OutputType[Any], Any]]:
        """Return the values of the parts, or their texts, each with its output type."""

    @abstractmethod
    def _to_value(self, values: list[Any]) -> T:
        """Return the value of some values."""

    def _to_plain(self, values: list[Any]) -> Any:
        """Return the plain data of those of the parts."""
        return values

    @abstractmethod
    def _parts_of_value(self, whole: Any) -> Sequence[Any]:
        """Return the values of the parts. Raises ValueError if these are not all known."""

    @abstractmethod
    def _join(self, texts: Iterable[str]) -> str:
        """Return the text of the texts of the parts."""

    def _split_texts(self, text: str) -> list[str]:
        return [text[piece.start : piece.end] for piece in self.pieces(text)]

    @abstractmethod
    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of the parts that have values. Raises ValueError if it is none of the texts."""

    def parse(self, text: str) -> T:
        """Return the values of the parts of a text. Raises ValueError if a part is rejected, or it is no such text."""
        return self._to_value([part.parse(piece) for part, piece in self._with_types(self._split_texts(text))])

    def _write(self, value: Any) -> str:
        """Return the text of the values of the parts; each may also be the text of its part."""
        texts = [part.write(member) for part, member in self._with_types(self._parts_of_value(value))]
        text = self._join(texts)
        if self.parse(text) != value and self._split_texts(text) != texts:
            raise ValueError(f"{described(value)} is not what {text!r} is read as")
        return text

    def plain(self, value: Any) -> Any:
        """Return the values as plain JSON data."""
        return self._to_plain([part.plain(member) for part, member in self._with_types(self._parts_of_value(value))])

    def to_data(self, text: str) -> Any:
        """Return the plain data of the parts, each of which is voted on by itself."""
        return self._to_plain([part.to_data(piece) for part, piece in self._with_types(self._split_texts(text))])

    def from_data(self, data: Any) -> str:
        """Return the text of plain data."""
        return self._join(part.from_data(value) for part, value in self._with_types(self._parts_of_value(data)))


class Repeat(_TextSequence[list[T]]):
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
        self.item = to_part(item, "The item")
        self.separator = checked_text("separator", separator)
        _check_counts(minimum, maximum)
        self.minimum = minimum
        self.maximum = maximum
        counts = f"minimum={minimum}, maximum={maximum}, separator={separator!r}"
        self._set_members([self.item], f"Repeat({self.item.name}, {counts})")

    def check(self) -> None:
        """Raise SchemaError if the item is not supported, or may be empty without a separator."""
        super().check()
        if not self.depends_on_document:
            _ = self._expression(None)

    def _distinguishing_arguments(self) -> tuple[object, ...]:
        return self.minimum, self.maximum, self.separator

    def _expression(self, document: str | None) -> Expression:
        item = part_automaton(self.item, document)
        if not self.separator and item.accepts(item.start):
            raise SchemaError(
                f"An item of {self.name} may be empty, and so is the separator",
                remedy="Give a separator, or an item of one character at least.",
            )
        return Repeated(item, part_automaton(self.separator, document), self.minimum, self.maximum)

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

    def _with_types(self, values: Sequence[Any]) -> Iterable[tuple[OutputType[Any], Any]]:
        return [(self.item, value) for value in values]

    def _to_value(self, values: list[Any]) -> list[T]:
        return values

    def _parts_of_value(self, whole: Any) -> Sequence[Any]:
        if not isinstance(whole, list | tuple):
            raise ValueError("give a list of values, or the text itself")  # noqa: TRY004  a value of another type
        return whole

    def _join(self, texts: Iterable[str]) -> str:
        return self.separator.join(texts)

    def _write(self, value: Any) -> str:
        return super()._write(list(value) if isinstance(value, tuple) else value)

    def describe(self) -> Description:
        """Return how many items there are, their separator, and the type of an item."""
        maximum_text = "or more" if self.maximum is None else f"to {self.maximum:,}"
        shown = f"{self.minimum:,} {maximum_text} items with {self.separator!r} between each two"
        return combination_description(shown, [part_description("each item", self.item)], LIST_TASK)


def _check_counts(minimum: object, maximum: object) -> None:
    for name, count in (("minimum", minimum), ("maximum", maximum)):
        if not (type(count) is int and 0 <= count <= MAX_ITEMS) and not (count is None and name == "maximum"):
            remedy = f"Give a number of items from 0 to {MAX_ITEMS:,}."
            raise SchemaError(f"{name} is {described(count)}", remedy=remedy)
    if maximum is not None and cast("int", maximum) < cast("int", minimum):
        raise SchemaError(f"No count lies between {minimum} and {maximum}", remedy="Let the maximum be no smaller.")


RowPart = str | OutputType[Any]
"""A fixed text, or something with a value."""

TASK = (
    "Find what the text states, and answer in exactly this format and nothing else, with what the text states in place "
    "of each name in braces."
)


class Row(_TextSequence[T]):
    """Parts in a row. All but the fixed texts have values, each with a name."""

    def __init__(self, parts: Sequence[tuple[str, RowPart]], name: str) -> None:
        """Take the parts with their names; those of fixed texts are empty."""
        for _, part in parts:
            if isinstance(part, str):
                literal(part)  # raises PatternError for what is no text
        self._named_parts = tuple(parts)
        self._names = [name for name, part in parts if isinstance(part, OutputType)]
        labels = [f"{{{name}}}" for name in self._names]
        self._set_members((part for _, part in parts if isinstance(part, OutputType)), name, labels)

    def _distinguishing_arguments(self) -> tuple[object, ...]:
        return tuple([part if isinstance(part, str) else (name,) for name, part in self._named_parts])

    def _expression(self, document: str | None) -> Expression:
        automata: list[Expression] = []
        for name, part in self._named_parts:
            with named_in_errors(f"{{{name}}}"):
                automata.append(part_automaton(part, document))
        return InSequence(tuple(automata))

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of the parts that have values. Raises ValueError if it is none of the texts."""
        names = iter(self._steps)
        return [
            Piece(next(names), part, start, end)
            for (_, part), (_, start, end) in zip(self._named_parts, self._split(text), strict=True)
            if isinstance(part, OutputType)
        ]

    @property
    def _steps(self) -> list[Steps]:
        """The places of the values in the plain data."""
        return [(name,) for name in self._names]

    def _with_types(self, values: Sequence[Any]) -> Iterable[tuple[OutputType[Any], Any]]:
        return zip(self.members, values, strict=True)

    def _join(self, texts: Iterable[str]) -> str:
        remaining_texts = iter(texts)
        return "".join(part if isinstance(part, str) else next(remaining_texts) for _, part in self._named_parts)

    def describe(self) -> Description:
        """Return the texts with a name in braces for each part, and what each part is."""
        shown = "".join(
            part.replace("{", "{{").replace("}", "}}") if isinstance(part, str) else f"{{{name}}}"
            for name, part in self._named_parts
        )
        return combination_description(shown, map(part_description, self._names, self.members), TASK)


class Concatenation(Row[T]):
    """A concatenation of output types and fixed texts, as `a + b` makes it.

    Its value is the tuple of those of the parts that are no fixed texts; of a single one, that value itself.
    """

    def __init__(self, parts: Iterable[RowPart]) -> None:
        """Take the parts, those of concatenations among them one by one."""
        flat = [member for part in parts for member in (part.row if isinstance(part, Concatenation) else (part,))]
        self.row: tuple[RowPart, ...] = tuple(flat)
        """The parts, fixed texts among them."""
        numbers = iter(range(1, len(flat) + 1))
        named_parts = [("" if isinstance(part, str) else f"part_{next(numbers)}", part) for part in flat]
        super().__init__(named_parts, joined_names(flat, "+"))

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The schema of the one value, or of a list of fixed length."""
        schemas = [dict(value_schema_of(part)) for part in self.members]
        if len(schemas) == 1:
            return schemas[0] or None
        return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}

    def _to_value(self, values: list[Any]) -> T:
        return cast("T", values[0] if len(values) == 1 else tuple(values))

    def _to_plain(self, values: list[Any]) -> Any:
        return values[0] if len(values) == 1 else values

    def _parts_of_value(self, whole: Any) -> Sequence[Any]:
        if len(self.members) == 1:
            return [whole]
        if not isinstance(whole, list | tuple) or len(whole) != len(self.members):
            raise ValueError(f"give a tuple of {len(self.members)} values, or the text itself")
        return whole

    @property
    def _steps(self) -> list[Steps]:
        return [()] if len(self.members) == 1 else [(place,) for place in range(len(self.members))]


class Template(Row[T]):
    """A text with places for output types, as `template` makes it."""

    def __init__(self, text: str, parts: Mapping[str, OutputType[Any]], result: Callable[..., T]) -> None:
        """Take a text with a place for each part. Raises PatternError where it is none."""
        self.text = text
        self.result = result
        super().__init__(_parse_template(text, parts), f"template({text!r})")
        if result is not dict:
            self.validators = (*self.validators, str(getattr(result, "__name__", repr(result))))

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """An object of the values, if that is the result."""
        if self.result is not dict:
            return None
        properties = {name: dict(value_schema_of(part)) for name, part in zip(self._names, self.members, strict=True)}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    def _to_value(self, values: list[Any]) -> T:
        return self.result(**self._to_plain(values))

    def _to_plain(self, values: list[Any]) -> dict[str, Any]:
        return dict(zip(self._names, values, strict=True))

    def _parts_of_value(self, whole: Any) -> Sequence[Any]:
        if isinstance(whole, Mapping):
            missing = [name for name in self._names if name not in whole]
            unknown = [name for name in whole if name not in self._names]
            if missing or unknown:
                problem = "there is no value for" if missing else "there is no place for"
                raise ValueError(f"{problem} {', '.join(map(str, missing or unknown))}")
            return [whole[name] for name in self._names]
        if isinstance(whole, str) or not all(hasattr(whole, name) for name in self._names):
            raise ValueError(f"give a dictionary of {', '.join(self._names)}, or the text itself")
        return [getattr(whole, name) for name in self._names]

    def plain(self, value: Any) -> Any:
        """Return the values as plain JSON data; of another result than a dictionary, what Pydantic writes."""
        return super().plain(value) if self.result is dict else OutputType.plain(self, value)


@overload
def template(text: str, /, *, result: type[dict[str, Any]] = ..., **parts: object) -> OutputType[dict[str, Any]]: ...
@overload
def template(text: str, /, *, result: Callable[..., T], **parts: object) -> OutputType[T]: ...
def template(text: str, /, *, result: Callable[..., Any] = dict, **parts: object) -> OutputType[Any]:
    r"""Return the output type of a text with places for others, whose values are read back by their names.

    >>> from structured import Regex, template
    >>> template("Name: {name}, age {age}", name=Regex(r"[A-Z]\w+"), age=int).parse("Name: Ana, age 31")
    {'name': 'Ana', 'age': 31}

    Where a text can be split in several ways, earlier places take as much as they can, as groups of `re` do.

    Parameters:
        text: The text. `{name}` is a place, `{{` a brace.
        result: What makes a value of the values, which it gets by their names: `dict`, a named tuple, a dataclass, a
            Pydantic model, a function. Whatever it raises rejects the answer, which is asked for again.
        parts: The output type in each place, or a Python type, whose values are written as JSON. `str` is refused:
            `Text` and `Regex` say where free text ends, and `Json(str)` is a string in quotation marks.

    Raises:
        PatternError: A place has no type, a type has no place, or a brace is unmatched. The place is marked.
        SchemaError: A part is no output type, or is not supported.
        TypeError: `text` is no str, or `result` cannot be called, or not with the names of the places.
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {described(text)}. Give the text of the template.")
    if not callable(result):
        raise TypeError(f"result is {described(result)}. Give a function or a type, such as dict.")
    template_type = Template(text, {name: to_part(part, f"{{{name}}}") for name, part in parts.items()}, result)
    check_takes("result", result, parts)
    return template_type


def concatenation(left: object, right: object) -> "Concatenation[Any]":
    """Return the texts of one part, each with one of the other behind it; a str is a fixed text."""
    sides = enumerate((left, right), start=1)
    return Concatenation([side if isinstance(side, str) else to_part(side, f"part {place}") for place, side in sides])


_TEMPLATE_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def _parse_template(text: str, parts: Mapping[str, RowPart]) -> list[tuple[str, RowPart]]:
    """Return the parts and fixed texts of a template, with their names. Raises PatternError where it is none."""
    named_parts: list[tuple[str, RowPart]] = []
    used: set[str] = set()
    end = 0
    literal_text = ""
    for token in _TEMPLATE_TOKEN.finditer(text):
        literal_text += text[end : token.start()]
        end = token.end()
        if token[0] in ("{{", "}}"):
            literal_text += token[0][0]
            continue
        _check_placeholder(token, text, parts, used)
        used.add(token[1])
        named_parts += [("", literal_text)] if literal_text else []
        named_parts.append((token[1], parts[token[1]]))
        literal_text = ""
    literal_text += text[end:]
    unused = [name for name in parts if name not in used]
    if unused or not used:
        raise PatternError(
            f"The template has no place for {unused[0]}" if unused else "The template has no places",
            pattern=text,
            remedy=f"Write {{{unused[0] if unused else 'name'}}} where it belongs, or use Choice for fixed texts.",
        )
    return [*named_parts, ("", literal_text)] if literal_text else named_parts


def _check_placeholder(token: re.Match[str], text: str, names: Mapping[str, object], used: Collection[str]) -> None:
    """Raise PatternError unless a token of a template is a place for one of some parts, the first for it."""
    name: str | None = token[1]
    if name is None:
        problem, remedy = f"A {token[0]!r} is unmatched", f"Write {token[0] * 2} for the character."
    elif not name.isidentifier():
        problem, remedy = f"{{{name}}} is no name", "Write {name} and pass its type as name=…; or {{ for a brace."
    elif name in used:
        problem, remedy = f"{{{name}}} appears twice", "Give each place a name of its own."
    elif name == "result" and name not in names:
        problem, remedy = "{result} has the name of an option", "Give the place another name: {value}, say."
    elif name not in names:
        problem = f"{{{name}}} has no type"
        remedy = f"Pass it: template(…, {name}=…); or write {{{{{name}}}}} for the text.{nearest(name, names)}"
    else:
        return
    raise PatternError(problem, pattern=text, position=token.start(), remedy=remedy)
