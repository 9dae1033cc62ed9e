"""From an output type to the constraint that says the same to a server."""

from dataclasses import replace
from typing import Any

from structured.errors import PatternError, SchemaError
from structured.output_types.choice import Choice
from structured.output_types.constraints.constraint import (
    ChoiceConstraint,
    Constraint,
    GrammarConstraint,
    JsonConstraint,
    RegexConstraint,
)
from structured.output_types.constraints.standard_schema import standard_schema
from structured.output_types.grammar import Grammar, is_gbnf
from structured.output_types.json_output import JsonOutput
from structured.output_types.json_schema import JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.partly_stated import PartlyStated
from structured.output_types.regex import Regex
from structured.regex.dialects import ECMA, PYTHON, RUST
from structured.regex.regex_parser import whole_regex_to_pattern
from structured.regex.syntax import Boundary, Lookahead, Lookbehind
from structured.regex.traversal import nodes_of


def constraint_of(output_type: OutputType[Any]) -> Constraint:
    """Return the constraint that says of an answer what a type does. Raises SchemaError if there is none."""
    refuse_grounding(output_type)
    match output_type:
        case JsonSchemaType():
            return _of_json_schema(output_type)
        case PartlyStated(of=JsonSchemaType() as schema_type):
            return _of_json_schema(replace(schema_type, schema=output_type.schema))
        case JsonOutput():
            schema = output_type.schema if isinstance(output_type.schema, dict) else {}
            return JsonConstraint(standard_schema(schema, output_type.layout.optional_properties), output_type.name)
        case Regex():
            return _of_regex(output_type)
        case Choice():
            return ChoiceConstraint(tuple(output_type.options))
        case Grammar():
            return _of_grammar(output_type)
    raise SchemaError(
        f"{output_type.name} cannot be said to a server: it is no JSON, Regex, Choice or Grammar",
        remedy="Ask for one of these, or use a model that runs here.",
    )


def refuse_grounding(output_type: OutputType[Any]) -> None:
    """Raise SchemaError for a type whose answers depend on the document: neither masks nor validators see to that."""
    if output_type.depends_on_document:
        raise SchemaError(
            f"{output_type.name} has values that the document has to state, which a server cannot enforce",
            remedy="Do not ground them, and see by the evidence where they stand; or use a model that runs here.",
        )


def _of_json_schema(output_type: JsonSchemaType) -> JsonConstraint:
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


def _of_regex(output_type: Regex[Any]) -> RegexConstraint:
    return RegexConstraint(output_type.pattern, _common(output_type))


def _common(output_type: Regex[Any]) -> str | None:
    """Return an expression as it is written if it means the same in every dialect."""
    read = output_type.whole
    if output_type.flags or any(isinstance(node, Boundary | Lookahead | Lookbehind) for node in nodes_of(read)):
        return None
    try:
        others = [whole_regex_to_pattern(output_type.source, dialect) for dialect in (PYTHON, RUST, ECMA)]
    except PatternError:
        return None
    return output_type.source if all(other == read for other in others) else None


def _of_grammar(output_type: Grammar[Any]) -> GrammarConstraint:
    language, root = ("GBNF", "root") if is_gbnf(output_type) else ("Lark", "start")
    if output_type.start != root:
        raise SchemaError(
            f"{output_type.name} starts with the rule {output_type.start!r}, and servers start with {root!r}",
            remedy=f"Call it {root!r}.",
        )
    if output_type.reads_more:
        raise SchemaError(
            f"{output_type.name} has an indenter or imports of its own, which no server has",
            remedy="Write the grammar as one text without an indenter.",
        )
    return GrammarConstraint(output_type.grammar, language)  # type: ignore[arg-type]
