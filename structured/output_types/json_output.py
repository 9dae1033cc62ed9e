"""Answers that are JSON texts: the base of Python types and JSON Schemas as output types."""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Any, Self, TypeVar, get_args

from structured.automata import RegularAutomaton
from structured.errors import NotStatedError, StructuredWarning, UnsatisfiableError
from structured.errors.arguments import check_fields, one_of, says_its_arguments
from structured.errors.calling_line import warn
from structured.errors.recursion import deep
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
from structured.output_types.description import MAX_VISITED_SCHEMAS, describe
from structured.output_types.grounded_values import (
    DocumentStatements,
    grounding_marks,
    with_everything_grounded,
    with_grounding,
)
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


def type_description(text: str, root: Subschema | None = None, *, task: str = TASK) -> Description:
    """Return the description of a type for a prompt; its task says how the dates and times in a schema are written."""
    layouts = "" if root is None else _date_layouts(root)
    return Description("Type", text, answer="JSON", task=f"{task} Write {layouts}." if layouts else task)


_DATE_LAYOUTS = {
    "date": "dates as YYYY-MM-DD",
    "date-time": "datetimes as YYYY-MM-DDTHH:MM:SS",
    "time": "times as HH:MM:SS",
    "duration": "durations as PnDTnHnMnS",
}


@deep
def _date_layouts(root: Subschema) -> str:
    """Return how the dates and times in a type are written: `dates as YYYY-MM-DD`."""
    zones: dict[str, list[bool]] = {}
    for part in (root, *islice(reachable_schemas(root), MAX_VISITED_SCHEMAS)):
        name = part.schema.get("format") if isinstance(part.schema, Mapping) else None
        if isinstance(name, str) and name in _DATE_LAYOUTS:
            zones.setdefault(name, []).append(_has_zone(part, name))
    names = [name for name in _DATE_LAYOUTS if name in zones]
    return ", ".join(f"{_DATE_LAYOUTS[name]}{'Z' if all(zones[name]) else ''}" for name in names)


def _has_zone(part: Subschema, name: str) -> bool:
    """Tell whether a time must have an offset from UTC, as RFC 3339 §5.6 has it."""
    is_aware = part.schema.get("tz_constraint", "naive") != "naive"
    return name in {"date-time", "time"} and (is_aware or not part.location.is_type)


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
        return root_of(self.compilation())

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
        lists = flattened(parts_at(self.root, steps[:-1]))
        return isinstance(steps[-1], int) and not any("prefixItems" in part.schema for part in lists)

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
        compilation = self.compilation()
        grounded = compilation.uncompiled(DocumentStatements.of(document))
        try:
            pattern = compiled(grounded)
        except UnsatisfiableError as error:  # the type is satisfiable, so the document is what lacks
            raise NotStatedError(error.problem.removeprefix(UNSATISFIABLE), schema_path=error.schema_path) from error
        self._warn_of_impossible_items(root_of(compilation), grounded)
        return RegularAutomaton(pattern, foundation=foundation())

    def _warn_of_impossible_items(self, root: Subschema, grounded: Compilation) -> None:
        """Warn of lists and dictionaries that stay empty, since no object in them has all that it requires."""
        for part in (root, *reachable_schemas(root)):
            for item in object_schemas(part, "items", "additionalProperties"):
                error = _emptiness(item, grounded) if any(map(has_fields, flattened([item]))) else None
                if error is not None and _emptiness(item) is None:
                    problem = f"{error.problem.removeprefix(UNSATISFIABLE)} (at #{error.schema_path})"
                    message = (
                        f"{self.name} can have no object at #{item.location.pointer}: {problem}. Let that be null "
                        "(None in its type) or missing (the option allow_missing), to get the rest of the object."
                    )
                    warn(StructuredWarning(message))

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
        description = type_description(describe(self.root), self.root)
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
        return _with_written_numbers(text, data)


def root_of(compilation: Compilation) -> Subschema:
    """Return the schema of a compilation with its place, to walk through it."""
    return Subschema(compilation.root, Location(compilation))


def _emptiness(part: Subschema, compilation: Compilation | None = None) -> UnsatisfiableError | None:
    """Return why a part of a schema has no value, in a compilation of its own by default; None if it has one."""
    try:
        part_to_pattern(part, compilation)
    except UnsatisfiableError as error:
        return error
    return None


class DecimalNumber(float):
    """A number of plain data with the digits that it was written with: `1.50`. It is equal to the double."""

    __slots__ = ("digits",)

    digits: str

    def __new__(cls, digits: str | float) -> Self:
        """Take the digits; a float where pickle makes it, which sets the digits afterwards."""
        number = super().__new__(cls, digits)
        number.digits = str(digits)
        return number


_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?(?:[0-9][0-9.eE+-]*|NaN|Infinity)')


def _with_written_numbers(text: str, data: Any) -> str:
    """Return the JSON text of some data with its numbers as models write them: `1.5` → `1.50`, `1e-05` → `0.00001`.

    Numbers that keep their digits have them. Small ones have no exponent, if they need no more places than are written.
    """
    numbers = (value for _, value in leaves(data) if isinstance(value, int | float) and not isinstance(value, bool))

    def written(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        number = next(numbers, None)
        if isinstance(number, DecimalNumber) or "e-" not in match[0]:
            return number.digits if isinstance(number, DecimalNumber) else match[0]
        plain = f"{Decimal(match[0]):f}"
        return plain if len(plain.partition(".")[2]) <= PLACES else match[0]

    return _STRING_OR_NUMBER.sub(written, text)


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
        compilation = compilation.uncompiled(DocumentStatements.of(document))
    root = root_of(compilation)
    pieces, copied = [], 0
    for steps, (start, end) in sorted(places.items(), key=lambda place: place[1]):
        parts = [part._replace(location=part.location._replace(depth=len(steps))) for part in parts_at(root, steps)]
        if not parts:
            return None
        patterns = [part_to_pattern(part, compilation) for part in parts]
        pieces += [literal(text[copied:start]), alternation(*patterns)]
        copied = end
    return RegularAutomaton(concat(*pieces, literal(text[copied:])), foundation=foundation())
