"""Optional properties: whether an answer may leave a property out, and whether it may be null instead."""

from collections.abc import Callable, Mapping

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.location import ANNOTATIONS, Identity, Schema, Subschema
from structured.json_schema.document.references import follow


def may_be_left_out(part: Subschema, name: str) -> bool:
    """Tell whether an answer may leave out a property that an object lists.

    By default, an optional property is written, as null where there is no value. In a JSON Schema, which usually allows
    a missing value by making the property optional, it is left out instead, unless it may be null or is a constant.
    """
    required = part.schema.get("required")
    required = required if isinstance(required, list) else []
    if name in required:
        return False
    if part.location.compilation.optional_properties != "written":
        return True
    fewest = part.schema.get("minProperties", 0)
    return not (part.location.is_type or fewest > len(required) or invents_nothing(part.subschema("properties", name)))


def invents_nothing(part: Subschema) -> bool:
    """Tell whether a property can be written without inventing a value: it may be null, or it is a constant."""
    return any_branch(part, _is_fixed, {})


def can_be_null(part: Subschema) -> bool:
    """Tell whether a schema names null, or restricts nothing."""
    return any_branch(part, _names_null, {})


@deep
def any_branch(part: Subschema, condition: Callable[[Schema], bool], answers: dict[Identity, bool]) -> bool:
    """Tell whether a condition holds of a schema, of its target if it is a reference, or of one of its branches.

    `answers` keeps the answers. The condition counts as true of a schema that refers back to itself.
    """
    if part.identity not in answers:
        answers[part.identity] = True
        answers[part.identity] = _new_branch(part, condition, answers)
    return answers[part.identity]


def _new_branch(part: Subschema, condition: Callable[[Schema], bool], answers: dict[Identity, bool]) -> bool:
    schema = part.schema
    if not isinstance(schema, Mapping) or schema.keys() <= ANNOTATIONS:
        return True
    if "$ref" in schema:
        try:
            return any_branch(follow(part), condition, answers)
        except SchemaError:
            return True
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return any(any_branch(branch, condition, answers) for branch in part.branches(keyword))
    return condition(schema)


def _is_fixed(schema: Schema) -> bool:
    return "const" in schema or len(schema.get("enum", ())) == 1 or _names_null(schema)


def _names_null(schema: Schema) -> bool:
    if "const" in schema or "enum" in schema:
        return None in schema.get("enum", [schema.get("const", 0)])
    return "null" in types_of(schema)


def types_of(schema: Schema) -> set[object]:
    """Return the types that a schema names."""
    named = schema.get("type", [])
    return set(named) if isinstance(named, list) else {named}
