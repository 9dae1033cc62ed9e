"""Answers that are JSON texts: the base of Python types and JSON Schemas as output types."""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Self, TypeVar, get_args

from structured.automata import RegularAutomaton
from structured.errors import NotStatedError, UnsatisfiableError
from structured.errors.arguments import check_fields, one_of, says_its_arguments
from structured.json_schema.document.location import (
    SUPPORTED,
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
from structured.output_types.description import describe, layouts
from structured.output_types.grounded_values import Ground, marks, with_grounding, with_support
from structured.output_types.output_type import Basis, Description, OutputType
from structured.output_types.paths import Steps
from structured.output_types.schema_parts import flat, has_to_be_stated, parts_at
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
    written = ", ".join(f"{name}s as {layout}" for name, layout in layouts.items())
    return Description("Type", text, answer="JSON", task=f"{task} Write {written}." if written else task)


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

    def with_grounding(self, grounded: Ground) -> Self:
        """Return the type with marks on the values that the document has to state."""
        return replace(self, schema=with_grounding(self.root, grounded))

    def with_support(self) -> Self:
        """Return the type with marks on all values that the document has to state, or that may be missing."""
        return replace(self, schema=with_support(self.root), removes_unsupported=True)

    def is_removable(self, steps: Steps) -> bool:
        """Tell whether a text is removed where the document does not have it."""
        return any(SUPPORTED in part.schema for part in flat(parts_at(self.root, steps)))

    def is_item(self, steps: Steps) -> bool:
        """Tell whether what is at a place is an item of a list in which places mean nothing, as they do in a tuple."""
        around = [part.schema for part in flat(parts_at(self.root, steps[:-1])) if isinstance(part.schema, Mapping)]
        return isinstance(steps[-1], int) and not any("prefixItems" in schema for schema in around)

    def check(self) -> None:
        """Raise SchemaError where a rule is not supported."""
        _ = self.pattern

    @cached_property
    def depends_on_document(self) -> bool:  # type: ignore[override]
        """Whether the document has to state some of its values."""
        return any(marks(self.schema))

    def automaton(self, document: str | None = None) -> RegularAutomaton:
        """Return the automaton of the answers to a document; of all documents, if none is given.

        Raises NotStatedError where the document does not state what it has to.
        """
        if document is None or not self.depends_on_document:
            return RegularAutomaton(self.pattern, foundation=foundation())
        try:
            return RegularAutomaton(compiled(with_statements(self.compilation(), document)), foundation=foundation())
        except UnsatisfiableError as error:  # the type is satisfiable, so the document is what lacks
            raise NotStatedError(error.problem.removeprefix(UNSATISFIABLE), schema_path=error.schema_path) from error

    @property
    def digest(self) -> str:
        """The SHA-256 of the schema and the layout of its values."""
        layout = [self.layout.whitespace, self.layout.optional_properties]
        written = json.dumps([self.schema, layout], sort_keys=True, default=repr)
        return sha256(written.encode(errors="surrogatepass")).hexdigest()

    def basis(self, steps: Steps, value: Any) -> Basis:
        """Return how the schema lets a value of an answer arise."""
        parts = parts_at(self.root, steps)
        if has_to_be_stated(parts, value):
            is_text = isinstance(value, str) and not any(is_stated_in_forms(part.schema) for part in flat(parts))
            return "quoted" if is_text else "grounded"
        listed = (part.schema.get("enum", [part.schema.get("const")]) for part in flat(parts))
        return "concluded" if isinstance(value, bool) or any(value in values for values in listed) else "free"

    def describe(self) -> Description:
        """Return the type in the style of a TypeScript interface."""
        return self._description

    @cached_property
    def _description(self) -> Description:
        root = self.root
        description = type_description(describe(root), layouts(root))
        return description if self.task is None else description._replace(task=self.task)

    def write(self, value: Any) -> str:
        """Return a value as the model would have to write it."""
        return self.from_data(self.plain(value))

    def to_data(self, text: str) -> Any:
        """Return the JSON value of an answer."""
        return json.loads(text)

    def from_data(self, data: Any) -> str:
        """Return a JSON value as text in the layout of the type."""
        compact, indented = (self.layout.whitespace == style for style in ("compact", "indented"))
        separators = (",", ":") if compact else None
        text = json.dumps(data, ensure_ascii=False, indent=2 if indented else None, separators=separators)
        return _SMALL_NUMBER.sub(_without_exponent, text)


_SMALL_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+e-[0-9]+')
"""A string, or a number that Python writes with an exponent."""


def _without_exponent(found: re.Match[str]) -> str:
    """Return a number as models write it, if it has no more places than they may write: `1e-05` → `0.00001`."""
    plain = found[0] if found[0].startswith('"') else f"{Decimal(found[0]):f}"
    return plain if len(plain.partition(".")[2]) <= PLACES else found[0]


def with_statements(compilation: Compilation, document: str) -> Compilation:
    """Return the compilation of the same schema for a document, which has to state some of the values."""
    from structured.output_types.grounded_values import DocumentStatements  # with much that only this needs

    return compilation.uncompiled(DocumentStatements.of(document))


def rewriting(
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
        compilation = with_statements(compilation, document)
    root = Subschema(compilation.root, Location(compilation))
    pieces, kept = [], 0
    for steps, (start, end) in sorted(places.items(), key=lambda place: place[1]):
        parts = [part._replace(location=part.location._replace(depth=len(steps))) for part in parts_at(root, steps)]
        if not parts:
            return None
        pieces += [literal(text[kept:start]), alternation(*(part_to_pattern(part, compilation) for part in parts))]
        kept = end
    return RegularAutomaton(concat(*pieces, literal(text[kept:])), foundation=foundation())
