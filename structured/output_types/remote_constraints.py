"""Constraints: what servers can be asked to enforce of an output type, and the check of what they return.

A JSON Schema is sent in the keywords of the specification alone. Those of this library, for rules that Pydantic checks
and JSON Schema cannot express, are left out: a server then enforces the schema that everybody reads, and the answer is
checked here. Pydantic alone would accept more: `"25"` for a number, and members that the type does not have.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import Recogniser
from structured.errors import PatternError, SchemaError, UnsatisfiableError
from structured.errors.recursion import deep, with_room
from structured.json_schema.document.drafts import SchemaDraft, subschemas
from structured.json_schema.document.location import Compilation, OptionalProperties, Reading, Schema
from structured.json_schema.schema_compiler import compiled
from structured.json_schema.whitespace import read_whitespace
from structured.output_types.choice import Choice
from structured.output_types.grammar import Grammar, is_gbnf
from structured.output_types.json_output import JsonOutput
from structured.output_types.json_schema import JsonSchemaType
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex
from structured.output_types.schema_parts import with_schema_at
from structured.regex import Pattern, Reference, nodes_of, printed
from structured.regex.character_classes import ECMA, PYTHON, RUST
from structured.regex.regex_parser import whole_regex_to_pattern
from structured.regex.syntax import Anchor, Lookahead, Lookbehind


@dataclass(frozen=True, slots=True)
class JsonConstraint:
    """The JSON texts of a JSON Schema, in any layout."""

    kind: ClassVar[str] = "a JSON Schema"
    schema: Mapping[str, Any]
    name: str

    @property
    def is_object(self) -> bool:
        """Whether the schema says by itself that every answer is an object, as OpenAI wants it."""
        return self.schema.get("type") == "object" and "properties" in self.schema


@dataclass(frozen=True, slots=True)
class RegexConstraint:
    """The texts that a regular expression matches as a whole."""

    kind: ClassVar[str] = "a regular expression"
    pattern: Pattern
    """The expression, without lookaround."""
    shared_source: str | None
    """The expression as written, if it means the same to Python, Rust and JavaScript."""

    @property
    def portable(self) -> str:
        r"""An expression that means the same in every dialect. Raises SchemaError if there is no short one.

        What dialects read differently, such as `\d`, is written out: as a class of all the characters that it means.
        """
        if self.shared_source is not None:
            return self.shared_source
        text = None if any(isinstance(node, Reference) for node in nodes_of(self.pattern)) else printed(self.pattern)
        if text is None or len(text) > 8_000 or "\\U" in text:
            raise SchemaError(
                "The regular expression has no short form that means the same in the dialects of servers",
                remedy="Leave lookaround out, and write classes out, as [0-9] in place of \\d, or pass flags=re.ASCII.",
            )
        return text


@dataclass(frozen=True, slots=True)
class ChoiceConstraint:
    """One of some texts."""

    kind: ClassVar[str] = "a choice"
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrammarConstraint:
    """The texts of a grammar, in GBNF (the language of llama.cpp) or in Lark's."""

    text: str
    language: Literal["GBNF", "Lark"]

    @property
    def kind(self) -> str:
        """Its name in messages."""
        return f"a grammar in {self.language}{'' if self.language == 'GBNF' else chr(39) + 's language'}"


@dataclass(frozen=True, slots=True)
class DescribedConstraint:
    """An output type as this library alone reads it, with nothing left out; see `described_types.py`."""

    kind: ClassVar[str] = "a described type"
    data: Mapping[str, Any]


Constraint: TypeAlias = JsonConstraint | RegexConstraint | ChoiceConstraint | GrammarConstraint | DescribedConstraint

_STANDARD_KEYWORDS = frozenset(
    {
        *("$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "contains", "description", "enum"),
        *("exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties"),
        *("maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern"),
        *("patternProperties", "prefixItems", "properties", "propertyNames", "required", "title", "type"),
    }
)
"""The keywords of the specification that types have, without `default`, and without `uniqueItems`: a set may be
written with repetitions."""

_LOOKAROUND = re.compile(r"\(\?(?:=|!|<=|<!|>)|[*+?}]\+")
"""Lookaround, atomic groups and possessive quantifiers of Python."""

_FORMATS = {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}


def standard_schema(schema: Schema, optional: OptionalProperties) -> Schema:
    """Return the schema of a type in the specification's words.

    Objects are closed, as the library closes them. Where optional fields are "written", all fields are required, unless
    an object would have to contain itself.
    """
    standard: Schema = _standardised(schema, is_all_required=optional == "written")
    if optional != "written" or "$defs" not in standard:
        return standard
    try:
        compiled(Compilation(standard, read_whitespace("compact"), Reading.SPECIFICATION, "schema"))
    except UnsatisfiableError:
        return _standardised(schema, is_all_required=False)  # type: ignore[no-any-return]
    except SchemaError:  # what this library refuses, a server may enforce
        pass
    return standard


@deep
def _standardised(schema: Any, *, is_all_required: bool) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    for keys, inner in subschemas(schema, max(SchemaDraft)):
        schema = with_schema_at(schema, keys, _standardised(inner, is_all_required=is_all_required))
    standard = {keyword: value for keyword, value in schema.items() if keyword in _STANDARD_KEYWORDS}
    if standard.get("format", "date") not in _FORMATS:
        del standard["format"]
    if schema.get("regex_engine") == "python-re" and _LOOKAROUND.search(str(schema.get("pattern"))):
        del standard["pattern"]  # no server has lookaround
    if isinstance(standard.get("propertyNames"), Mapping) and standard["propertyNames"].get("type") != "string":
        del standard["propertyNames"]  # keys that spell other types, of which the specification knows nothing
    if "discriminator" in schema and "oneOf" in standard:  # by which its branches exclude each other
        standard["anyOf"] = standard.pop("oneOf")
    if "properties" in standard and "allOf" not in standard:
        standard.setdefault("additionalProperties", False)
        if is_all_required:
            standard["required"] = list(standard["properties"])
    return standard


def constraint_of(output_type: OutputType[Any]) -> Constraint:
    """Return the constraint that says of an answer what a type does. Raises SchemaError if there is none."""
    refuse_grounding(output_type)
    match output_type:
        case JsonSchemaType():
            return _json_schema_constraint(output_type)
        case MissingFieldsType(base_type=JsonSchemaType() as schema_type):
            return _json_schema_constraint(replace(schema_type, schema=output_type.schema))
        case JsonOutput():
            schema = output_type.schema if isinstance(output_type.schema, dict) else {}
            return JsonConstraint(standard_schema(schema, output_type.layout.optional_properties), output_type.name)
        case Regex():
            return RegexConstraint(output_type.pattern, _shared_source(output_type))
        case Choice():
            return ChoiceConstraint(tuple(output_type.options))
        case Grammar():
            return _grammar_constraint(output_type)
    raise SchemaError(
        f"{output_type.name} cannot be said to a server: it is no JSON, Regex, Choice or Grammar",
        remedy="Ask for one of these, or use a model that runs here.",
    )


def refuse_grounding(output_type: OutputType[Any]) -> None:
    """Raise SchemaError for a type whose answers depend on the document: neither masks nor validators see to that."""
    if output_type.depends_on_document:
        raise SchemaError(
            f"{output_type.name} has values that the document has to state, which a server cannot enforce",
            remedy="Do not ground them, and check them by their evidence; or use a model that runs here.",
        )


def _json_schema_constraint(output_type: JsonSchemaType) -> JsonConstraint:
    """Return a JSON Schema as its author wrote it."""
    if output_type.source.documents:
        raise SchemaError(
            f"{output_type.name} refers to other documents, which a server does not have",
            remedy="Write what they define under $defs.",
        )
    if output_type.layout.optional_properties == "omittable":
        raise SchemaError(
            f"{output_type.name} is sent as it is, and says itself what may be left out",
            remedy="Leave optional_properties='omittable' out.",
        )
    schema = output_type.schema
    return JsonConstraint(schema if isinstance(schema, dict) else {}, output_type.name)


def _shared_source(output_type: Regex[Any]) -> str | None:
    """Return an expression as it is written if it means the same in every dialect."""
    pattern = output_type.whole_pattern
    if output_type.flags or any(isinstance(node, Anchor | Lookahead | Lookbehind) for node in nodes_of(pattern)):
        return None
    try:
        patterns = [whole_regex_to_pattern(output_type.source, dialect) for dialect in (PYTHON, RUST, ECMA)]
    except PatternError:
        return None
    return output_type.source if all(other_pattern == pattern for other_pattern in patterns) else None


def _grammar_constraint(output_type: Grammar[Any]) -> GrammarConstraint:
    language, root = ("GBNF", "root") if is_gbnf(output_type) else ("Lark", "start")
    if output_type.start != root:
        raise SchemaError(
            f"{output_type.name} starts with the rule {output_type.start!r}, and servers start with {root!r}",
            remedy=f"Call it {root!r}.",
        )
    if output_type.has_external_inputs:
        raise SchemaError(
            f"{output_type.name} has an indenter or imports of its own, which no server has",
            remedy="Write the grammar as one text without an indenter.",
        )
    return GrammarConstraint(output_type.grammar, language)  # type: ignore[arg-type]


STRICTLY_PARSED_TYPES = (Choice, Grammar, JsonSchemaType, Regex)
"""Types whose `parse` takes no other answers than their automata do."""


class AnswerCheck:
    """Tells whether an unguided text is an answer of a type, before its validators.

    Parameters:
        output_type: The type.
        parse_only_types: The kinds of types whose `parse` is to say it alone.
    """

    def __init__(
        self, output_type: OutputType[Any], parse_only_types: tuple[type[OutputType[Any]], ...] = STRICTLY_PARSED_TYPES
    ) -> None:
        self.output_type = output_type
        self.parse_only_types = parse_only_types
        self._recogniser = Recogniser(self._automaton)

    def _automaton(self) -> Automaton:
        """The answers; those that are JSON with their members in any order, and optional ones left out or not."""
        output_type = self.output_type
        if not isinstance(output_type, JsonOutput):
            return output_type.automaton()
        options: dict[str, Any] = {"optional_properties": "omittable", "key_order": "any"}
        options["whitespace"] = read_whitespace("any")  # JSON in strings stays as it is
        return RegularAutomaton(compiled(replace(output_type.compilation(), **options)))

    def fault(self, text: str) -> str | None:
        """Return why a text is no answer; None if it may be one."""
        output_type = self.output_type
        if isinstance(output_type, self.parse_only_types):
            return None
        if not isinstance(output_type, JsonOutput):
            return None if self._recogniser.accepts(text) else f"It is no text of {output_type.name}."
        try:
            compact = _to_compact_json(text)
        except (ValueError, RecursionError) as error:
            return f"It is no JSON: {error}."
        is_accepted = self._recogniser.accepts(compact) or self._recogniser.accepts(text)  # `12.5e99` is `1.25e+100`
        return None if is_accepted else f"It is no JSON of the type {output_type.name}."


def _to_compact_json(text: str) -> str:
    """Return a JSON text with each character and number in one spelling. Raises ValueError if it is none."""
    data = with_room(json.loads, text, parse_constant=_refuse_constant)
    compact: str = with_room(json.dumps, data, ensure_ascii=False, separators=(",", ":"))
    return compact


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
