"""Answers that are JSON texts: the base of Python types and JSON Schemas as output types."""

import json
import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Self, TypeVar, get_args

from structured.automata import RegularAutomaton
from structured.errors import NotStatedError, StructuredWarning, UnsatisfiableError
from structured.errors.arguments import check_fields, one_of, says_its_arguments
from structured.errors.calling_line import warn
from structured.json_schema.document.location import (
    GROUNDED_AFTERWARDS,
    UNSATISFIABLE,
    Compilation,
    Location,
    OptionalProperties,
    Reading,
    Schema,
    Subschema,
)
from structured.json_schema.grounding import is_stated_in_forms
from structured.json_schema.numbers.number_patterns import PLACES
from structured.json_schema.schema_compiler import compiled, foundation, part_to_pattern
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName, check_whitespace, read_whitespace
from structured.output_types.annotations import Annotation
from structured.output_types.description import date_layouts, describe
from structured.output_types.grounded_values import grounding_marks, with_everything_grounded, with_grounding
from structured.output_types.output_type import Basis, Description, OutputType
from structured.output_types.paths import FieldSelection, Steps, leaves
from structured.output_types.schema_parts import (
    flattened,
    has_fields,
    must_be_stated,
    object_schemas,
    parts_at,
    reachable_schemas,
)
from structured.regex import Pattern, alternation, concat, literal

T = TypeVar("T")

TASK = (
    "Extract the values of this type from the text, and answer with JSON only. Write null for what the text does not "
    "state, if the type allows it."
)


_LAYOUT_FIELDS = {"whitespace": check_whitespace, "optional_properties": one_of(get_args(OptionalProperties))}


@says_its_arguments
@dataclass(frozen=True, slots=True)
class JsonLayout:
    """How JSON is laid out: the whitespace between its tokens, and which optional properties it has.

    Attributes:
        whitespace: `"compact"` (none), `"spaced"` (the default, as `json.dumps` writes), `"indented"` (as `json.dumps`
            writes with `indent=2`), `"flexible"` (a few blanks, also on new lines), or `"any"` (any run of blanks
            around every token).
        optional_properties: What happens to fields that are not required. `"written"` (the default): all are written,
            as null where the type allows it; in a `JsonSchema`, those that may not be null may be left out.
            `"omittable"`: they may be left out. `"schema"`: as `"omittable"`, and a `JsonSchema` may get any additional
            properties that it allows.
    """

    whitespace: WhitespaceName = DEFAULT_WHITESPACE
    optional_properties: OptionalProperties = "written"

    def __post_init__(self) -> None:
        check_fields(self, _LAYOUT_FIELDS)


DEFAULT_LAYOUT = JsonLayout()


def type_description(text: str, layouts: Mapping[str, str] = MappingProxyType({}), *, task: str = TASK) -> Description:
    """Return the description of a type for a prompt; `layouts` are those of its dates and times."""
    formats = ", ".join(f"{name}s as {layout}" for name, layout in layouts.items())
    return Description("Type", text, answer="JSON", task=f"{task} Write {formats}." if formats else task)


@dataclass(frozen=True, eq=False)
class JsonOutput(OutputType[T]):
    """Values that a JSON Schema describes, written in one layout."""

    name: str
    schema: Schema | bool = field(repr=False)
    layout: JsonLayout = field(repr=False, default=DEFAULT_LAYOUT)
    removes_unsupported: bool = field(repr=False, default=False, kw_only=True)
    task: str | None = field(repr=False, default=None, kw_only=True)
    """The task in the prompt; None for that of every type."""

    def compilation(self) -> Compilation:
        """Return the compilation of the schema, which is read as the description of a type."""
        whitespace = read_whitespace(self.layout.whitespace)
        return Compilation(self.schema, whitespace, Reading.TYPE, self.layout.optional_properties)

    @property
    def parts(self) -> Annotation:
        """Plain data, as a stream reads it."""
        return Annotation.of(Any)

    @abstractmethod
    def plain(self, value: Any) -> Any:
        """Return a value as plain JSON data, as it is written. Raises ValueError if it is not of the type."""

    @property
    def how_to_limit(self) -> str:
        """The way to limit a list or a string in it; an empty text for a scalar without a length."""
        kind = self.schema.get("type") if isinstance(self.schema, Mapping) else None
        return "" if kind in ("integer", "number", "boolean", "null") else self._how_to_limit

    _how_to_limit = "Limit the field, with Field(max_length=…)."

    @property
    def root(self) -> Subschema:
        """The schema with its place, to walk through it."""
        compilation = self.compilation()
        return Subschema(compilation.root, Location(compilation))

    @cached_property
    def pattern(self) -> Pattern:
        """The regular expression of the answers. Raises SchemaError where a rule is not supported."""
        return compiled(self.compilation())

    def with_grounding(self, grounded: FieldSelection) -> Self:
        """Return the type with marks on the values that the document has to state."""
        return replace(self, schema=with_grounding(self.root, grounded))

    def with_everything_grounded(self) -> Self:
        """Return the type with marks on all values that the document has to state, or that may be missing."""
        return replace(self, schema=with_everything_grounded(self.root), removes_unsupported=True)

    def is_removable(self, steps: Steps) -> bool:
        """Tell whether a text is removed where the document does not have it."""
        return any(GROUNDED_AFTERWARDS in part.schema for part in flattened(parts_at(self.root, steps)))

    def is_item(self, steps: Steps) -> bool:
        """Tell whether what is at a place is an item of a list in which places mean nothing, as they do in a tuple."""
        lists = [part.schema for part in flattened(parts_at(self.root, steps[:-1])) if isinstance(part.schema, Mapping)]
        return isinstance(steps[-1], int) and not any("prefixItems" in schema for schema in lists)

    def check(self) -> None:
        """Raise SchemaError where a rule is not supported."""
        _ = self.pattern

    @cached_property
    def depends_on_document(self) -> bool:  # type: ignore[override]
        """Whether the document has to state some of its values."""
        return any(grounding_marks(self.schema))

    def automaton(self, document: str | None = None) -> RegularAutomaton:
        """Return the automaton of the answers to a document; of all documents, if none is given.

        Raises NotStatedError where the document does not state what it has to.
        """
        if document is None or not self.depends_on_document:
            return RegularAutomaton(self.pattern, foundation=foundation())
        compilation = with_document(self.compilation(), document)
        try:
            pattern = compiled(compilation)
        except UnsatisfiableError as error:  # the type is satisfiable, so the document is what lacks
            raise NotStatedError(error.problem.removeprefix(UNSATISFIABLE), schema_path=error.schema_path) from error
        self._warn_of_impossible_items(compilation)
        return RegularAutomaton(pattern, foundation=foundation())

    def _warn_of_impossible_items(self, compilation: Compilation) -> None:
        """Warn of lists and dictionaries that stay empty, since no object in them has all that it requires."""
        root = Subschema(compilation.root, Location(compilation))
        for part in (root, *reachable_schemas(root)):
            for item in (
                object_schemas(part, "items", "additionalProperties") if isinstance(part.schema, Mapping) else ()
            ):
                if not any(map(has_fields, flattened([item]))):
                    continue
                try:
                    part_to_pattern(item, compilation)
                except UnsatisfiableError as error:
                    if _is_possible(item):
                        warn(_impossible_items(self.name, item, error))

    @property
    def digest(self) -> str:
        """The SHA-256 of the schema and of the options that it is compiled with.

        Types that differ in the order of their properties have different ones, since the answers have that order.
        """
        facts = json.dumps([self.schema, self.compilation_options()], default=repr)
        return sha256(facts.encode(errors="surrogatepass")).hexdigest()

    def compilation_options(self) -> list[object]:
        """Return the options of the compilation as plain data."""
        return [self.layout.whitespace, self.layout.optional_properties]

    def basis(self, steps: Steps, value: Any) -> Basis:
        """Return how the schema lets a value of an answer arise."""
        parts = parts_at(self.root, steps)
        if must_be_stated(parts, value):
            is_text = isinstance(value, str) and not any(is_stated_in_forms(part.schema) for part in flattened(parts))
            return "quoted" if is_text else "grounded"
        enumerations = (part.schema.get("enum", [part.schema.get("const")]) for part in flattened(parts))
        return "concluded" if isinstance(value, bool) or any(value in values for values in enumerations) else "free"

    def describe(self) -> Description:
        """Return the type in the style of a TypeScript interface."""
        return self._description

    @cached_property
    def _description(self) -> Description:
        root = self.root
        description = type_description(describe(root), date_layouts(root))
        return description if self.task is None else description._replace(task=self.task)

    def write(self, value: Any) -> str:
        """Return a value as the model would have to write it."""
        return self.from_data(self.plain(value))

    def to_data(self, text: str) -> Any:
        """Return the JSON value of an answer."""
        return json.loads(text)

    def from_data(self, data: Any) -> str:
        """Return a JSON value as text in the layout of the type."""
        is_compact, is_indented = (self.layout.whitespace == style for style in ("compact", "indented"))
        separators = (",", ":") if is_compact else None
        text = json.dumps(data, ensure_ascii=False, indent=2 if is_indented else None, separators=separators)
        numbers = [value for _, value in leaves(data) if isinstance(value, int | float) and not isinstance(value, bool)]
        if not any(isinstance(number, DecimalNumber) for number in numbers):
            return _SMALL_NUMBER.sub(_without_exponent, text)
        return _with_digits(text, [number for number in numbers if math.isfinite(number)])


def _is_possible(part: Subschema) -> bool:
    """Tell whether a part of a schema has a value for some document."""
    with suppress(UnsatisfiableError):
        part_to_pattern(part, replace(part.location.compilation.uncompiled(), statements=None))
        return True
    return False


def _impossible_items(name: str, item: Subschema, error: UnsatisfiableError) -> StructuredWarning:
    problem = error.problem.removeprefix(UNSATISFIABLE)
    return StructuredWarning(
        f"{name} can have no object at #{item.location.pointer}: {problem} (at #{error.schema_path}). Let that be null "
        "(None in its type) or missing (the option allow_missing), to get the rest of the object."
    )


class DecimalNumber(float):
    """A number of plain data with the digits that it was written with: `1.50`. It is equal to the double."""

    __slots__ = ("digits",)

    digits: str

    def __new__(cls, digits: str | float) -> Self:
        """Take the digits; a float where pickle makes it, which sets the digits afterwards."""
        number = super().__new__(cls, digits)
        number.digits = str(digits)
        return number


_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*')


def _with_digits(text: str, numbers: Iterable[float]) -> str:
    """Return a JSON text in which each of its numbers that keeps its digits has them: `1.5` → `1.50`."""
    remaining = iter(numbers)

    def written(match: re.Match[str]) -> str:
        number = None if match[0].startswith('"') else next(remaining)
        return number.digits if isinstance(number, DecimalNumber) else _SMALL_NUMBER.sub(_without_exponent, match[0])

    return _STRING_OR_NUMBER.sub(written, text)


_SMALL_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+e-[0-9]+')
"""A string, or a number that Python writes with an exponent."""


def _without_exponent(match: re.Match[str]) -> str:
    """Return a number as models write it, if it has no more places than they may write: `1e-05` → `0.00001`."""
    plain = match[0] if match[0].startswith('"') else f"{Decimal(match[0]):f}"
    return plain if len(plain.partition(".")[2]) <= PLACES else match[0]


def with_document(compilation: Compilation, document: str) -> Compilation:
    """Return the compilation of the same schema for a document, which has to state some of the values."""
    from structured.output_types.grounded_values import DocumentStatements  # with much that only this needs

    return compilation.uncompiled(DocumentStatements.of(document))


def rewriting_automaton(
    output_type: OutputType[Any], text: str, places: Mapping[Steps, tuple[int, int]], document: str
) -> RegularAutomaton | None:
    """Return the automaton of what an answer to a document may become if the values at some places are written again.

    Each place is given with where it starts and ends in the text; none lies in another. A value there is of the
    type by itself, and perhaps not beside the rest. None if no schema describes the place.
    """
    if output_type.root is None:
        return None
    compilation = output_type.root.location.compilation
    if output_type.depends_on_document:
        compilation = with_document(compilation, document)
    root = Subschema(compilation.root, Location(compilation))
    pieces, copied = [], 0
    for steps, (start, end) in sorted(places.items(), key=lambda place: place[1]):
        parts = [part._replace(location=part.location._replace(depth=len(steps))) for part in parts_at(root, steps)]
        if not parts:
            return None
        patterns = [part_to_pattern(part, compilation) for part in parts]
        pieces += [literal(text[copied:start]), alternation(*patterns)]
        copied = end
    return RegularAutomaton(concat(*pieces, literal(text[copied:])), foundation=foundation())
