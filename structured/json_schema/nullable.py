"""Properties that an answer may lack: whether null says that there is no value, and which may be left out for that."""

from collections.abc import Callable, Mapping

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.location import ANNOTATIONS, Identity, Schema, Subschema
from structured.json_schema.document.references import follow


def may_be_left_out(part: Subschema, name: str) -> bool:
    """Tell whether an answer may be without a property that an object lists.

    By default, one that is not required is written, as null where there is no value. In a JSON Schema, where being
    optional is the usual way to allow that, it is left out instead, unless it may be null, or is a constant.
    """
    required = part.schema.get("required")
    required = required if isinstance(required, list) else []
    if name in required:
        return False
    if part.location.compilation.optional != "written":
        return True
    fewest = part.schema.get("minProperties", 0)
    return not (part.location.is_type or fewest > len(required) or invents_nothing(part.below("properties", name)))


def invents_nothing(part: Subschema) -> bool:
    """Tell whether a value can always be written without an invention: it may be null, or it is a constant."""
    return any_branch(part, _is_known, {})


def can_be_null(part: Subschema) -> bool:
    """Tell whether a schema allows null by name; one that says nothing at all allows it too."""
    return any_branch(part, _says_null, {})


@deep
def any_branch(part: Subschema, says: Callable[[Schema], bool], known: dict[Identity, bool]) -> bool:
    """Tell whether a schema says something, or what it refers to or one of its branches does.

    `known` keeps the answers; one that leads back to itself says it, as far as is known then.
    """
    if part.identity not in known:
        known[part.identity] = True
        known[part.identity] = _new_branch(part, says, known)
    return known[part.identity]


def _new_branch(part: Subschema, says: Callable[[Schema], bool], known: dict[Identity, bool]) -> bool:
    schema = part.schema
    if not isinstance(schema, Mapping) or schema.keys() <= ANNOTATIONS:
        return True
    if "$ref" in schema:
        try:
            return any_branch(follow(part), says, known)
        except SchemaError:
            return True
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            options = (part.below(keyword, index) for index in range(len(schema[keyword])))
            return any(any_branch(option, says, known) for option in options)
    return says(schema)


def _is_known(schema: Schema) -> bool:
    return "const" in schema or len(schema.get("enum", ())) == 1 or _says_null(schema)


def _says_null(schema: Schema) -> bool:
    if "const" in schema or "enum" in schema:
        return None in schema.get("enum", [schema.get("const", 0)])
    return "null" in types_of(schema)


def types_of(schema: Schema) -> set[object]:
    """Return the types that a schema names."""
    named = schema.get("type", [])
    return set(named) if isinstance(named, list) else {named}
