"""Answers that are JSON texts: what Python types and JSON Schemas have in common as output types."""

import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from structured.automata import RegularAutomaton
from structured.json_schema.compile import compiled, foundation
from structured.json_schema.document.location import Compilation, Location, Optionals, Schema, Subschema
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName
from structured.output_types.description import describe, layouts
from structured.output_types.output_type import Description, OutputType
from structured.output_types.paths import Steps
from structured.output_types.places import parts_at
from structured.regex import Pattern

T = TypeVar("T")

TASK = (
    "Extract the values of this type from the text, and answer with JSON only. Write null for what the text does not "
    "state, if the type allows it."
)


class JsonLayout(NamedTuple):
    """How values are written: the whitespace between tokens, and which optional properties; see `Options`."""

    whitespace: WhitespaceName = DEFAULT_WHITESPACE
    optional: Optionals = "written"


def type_description(text: str, layouts: Mapping[str, str] = MappingProxyType({})) -> Description:
    """Return how a prompt shows a type that is described so; `layouts` say how its dates and times are written."""
    written = ", ".join(f"{name}s as {layout}" for name, layout in layouts.items())
    return Description("Type", text, answer="JSON", task=f"{TASK} Write {written}." if written else TASK)


@dataclass(frozen=True, eq=False)
class JsonOutput(OutputType[T]):
    """Values that a JSON Schema describes, written in one layout."""

    name: str
    schema: Schema | bool = field(repr=False)
    layout: JsonLayout = field(repr=False, default=JsonLayout())

    @abstractmethod
    def compilation(self) -> Compilation:
        """Return what compiles the schema, or walks through it."""

    @abstractmethod
    def plain(self, value: Any) -> Any:
        """Return a value as plain JSON data. Raises ValueError if it is not of the type."""

    @property
    def root(self) -> Subschema:
        """The schema with its place, to walk through it."""
        compilation = self.compilation()
        return Subschema(compilation.root, Location(compilation))

    @cached_property
    def pattern(self) -> Pattern:
        """The regular expression of the answers. Raises SchemaError where a rule is not supported."""
        return compiled(self.compilation())

    def check(self) -> None:
        """Raise SchemaError where a rule is not supported."""
        _ = self.pattern

    def automaton(self, document: str | None = None) -> RegularAutomaton:  # noqa: ARG002  it is the same for all
        """Return the automaton of the answers."""
        return RegularAutomaton(self.pattern, foundation=foundation())

    @property
    def digest(self) -> str:
        """The SHA-256 of the schema and the layout of its values."""
        written = json.dumps([self.schema, self.layout], sort_keys=True, default=repr)
        return sha256(written.encode(errors="surrogatepass")).hexdigest()

    def is_chosen(self, steps: Steps, value: Any) -> bool:
        """Tell whether a value is one of those that an enum lists."""
        listed = (part.schema.get("enum", [part.schema.get("const")]) for part in parts_at(self.root, steps))
        return value is not None and any(value in values for values in listed)

    def describe(self) -> Description:
        """Return the type in the style of a TypeScript interface."""
        return type_description(describe(self.root), layouts(self.root))

    def write(self, value: Any) -> str:
        """Return a value as the model would have to write it."""
        compact, indented = (self.layout.whitespace == style for style in ("compact", "indented"))
        separators = (",", ":") if compact else None
        return json.dumps(self.plain(value), ensure_ascii=False, indent=2 if indented else None, separators=separators)

    def to_data(self, text: str) -> Any:
        """Return the JSON value of an answer."""
        return json.loads(text)

    def from_data(self, data: Any) -> str:
        """Return a JSON value as text."""
        return json.dumps(data)
