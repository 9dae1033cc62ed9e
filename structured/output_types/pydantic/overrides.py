"""JSON Schemas that the author of a type has changed: whether they contradict what is validated.

`json_schema_extra`, `WithJsonSchema` and `__get_pydantic_json_schema__` change the JSON Schema, and not the validation.
What they add is enforced as a rule more, or refused as an unknown keyword. What they change or take away would let
texts be written that are rejected. Where a function reads the value first, they are all that is known, and believed.
"""

from collections.abc import Mapping
from typing import Any

from structured.output_types.pydantic.functions import is_mark, is_of_pydantic

_ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
_UNKNOWN_INPUT = frozenset(
    {"any", "callable", "custom-error", "function-before", "function-plain", "function-wrap", "is-instance"}
)
_BY_THE_AUTHOR = ("pydantic_js_functions", "pydantic_js_annotation_functions")


def has_claims(schema: Mapping[str, Any]) -> bool:
    """Tell whether the author of a type says something of its JSON Schema; a mark of this library only adds a word."""
    metadata = schema.get("metadata") or {}
    functions = [function for key in _BY_THE_AUTHOR for function in metadata.get(key, ())]
    return "pydantic_js_extra" in metadata or not all(is_of_pydantic(one) or is_mark(one) for one in functions)


def is_open(schema: Mapping[str, Any]) -> bool:
    """Tell whether it is for the author to say what is read: nothing is validated, or a function comes first."""
    while schema["type"] in ("default", "nullable", "model-field", "dataclass-field", "typed-dict-field"):
        schema = schema["schema"]
    if schema["type"] == "json-or-python":
        return is_open(schema["json_schema"])
    return schema["type"] in _UNKNOWN_INPUT


def without_claims(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a core schema, without a name, of which nothing is said but by Pydantic."""
    metadata = dict(schema["metadata"])
    metadata.pop("pydantic_js_extra", None)
    for key in _BY_THE_AUTHOR:
        metadata[key] = [function for function in metadata.get(key, ()) if is_of_pydantic(function)]
    return {**schema, "metadata": metadata} | ({} if "ref" not in schema else {"ref": f"{schema['ref']} itself"})


def contradicts(shown: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    """Tell whether a JSON Schema lacks a rule of another, or has it otherwise."""
    return any(shown.get(keyword) != rule for keyword, rule in truth.items() if keyword not in _ANNOTATIONS)
