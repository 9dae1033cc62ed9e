"""The JSON Schema of a type in the specification's words alone, as others read it.

The schema of a type has words of this library, for rules that Pydantic checks and JSON Schema cannot say. They are left
out: what a server enforces is then the schema that everybody reads, and Pydantic has the last word on an answer.
"""

import re
from collections.abc import Mapping
from typing import Any

from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import Draft, subschemas
from structured.json_schema.document.location import Compilation, OptionalProperties, Reading, Schema
from structured.json_schema.schema_compiler import compiled
from structured.json_schema.whitespace import read_whitespace
from structured.output_types.optional_fields import replaced

_STANDARD = frozenset(
    {
        *("$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "contains", "description", "enum"),
        *("exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties"),
        *("maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern"),
        *("patternProperties", "prefixItems", "properties", "propertyNames", "required", "title", "type"),
    }
)
"""The keywords of the specification that types have, without annotations that fill in what is missing, and without
`uniqueItems`: a set may be told an item twice."""

_ASSERTION = re.compile(r"\(\?(?:=|!|<=|<!|>)|[*+?}]\+")
"""Lookaround, atomic groups and possessive quantifiers of Python."""

_FORMATS = frozenset(
    {
        *("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"),
    }
)


def standard_schema(schema: Schema, optional: OptionalProperties) -> Schema:
    """Return the schema of a type in the specification's words.

    Objects are closed, as the library closes them. Where optional fields are "written", all fields are required, unless
    an object would have to contain itself.
    """
    sent: Schema = _standard(schema, is_all_required=optional == "written")
    if optional != "written" or "$defs" not in sent:
        return sent
    try:
        compiled(Compilation(sent, read_whitespace("compact"), Reading.SPECIFICATION, "schema"))
    except UnsatisfiableError:
        return _standard(schema, is_all_required=False)  # type: ignore[no-any-return]
    except SchemaError:  # what this library refuses, a server may enforce
        pass
    return sent


@deep
def _standard(schema: Any, *, is_all_required: bool) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    for keys, inside in subschemas(schema, max(Draft)):
        schema = replaced(schema, keys, _standard(inside, is_all_required=is_all_required))
    sent = {keyword: value for keyword, value in schema.items() if keyword in _STANDARD}
    if sent.get("format", "date") not in _FORMATS:
        del sent["format"]
    if schema.get("regex_engine") == "python-re" and _ASSERTION.search(str(schema.get("pattern"))):
        del sent["pattern"]  # no server has lookaround
    if "propertyNames" in sent and sent["propertyNames"].get("type") != "string":
        del sent["propertyNames"]  # of other types are the keys that spell them, which the specification does not have
    if "discriminator" in schema and "oneOf" in sent:  # its branches exclude each other by the value that tells them
        sent["anyOf"] = sent.pop("oneOf")
    if "properties" in sent and "allOf" not in sent:
        sent.setdefault("additionalProperties", False)
        if is_all_required:
            sent["required"] = list(sent["properties"])
    return sent
