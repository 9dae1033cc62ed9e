"""Errors of requests as plain data, so that a client with this library raises the error that its server raised.

`BudgetError(max_tokens=2, shortest=9)` → `{"code": "BudgetError", "message": "…", "fields": {"max_tokens": 2, …}}`
"""

from collections.abc import Mapping
from typing import Any

from structured.errors import (
    BudgetError,
    GrammarError,
    PatternError,
    PromptError,
    SchemaError,
    StructuredError,
    UnsatisfiableError,
    VocabularyError,
)

_SCHEMA_ERROR_FIELDS: dict[str, Any] = {"problem": str, "schema_path": str, "keyword": str | None, "remedy": str}

FIELD_TYPES: Mapping[type[StructuredError], Mapping[str, Any]] = {
    BudgetError: {"max_tokens": int, "shortest": int},
    GrammarError: {**_SCHEMA_ERROR_FIELDS, "place": list | None},
    PatternError: {"problem": str, "pattern": str, "position": int | None, "remedy": str},
    PromptError: {"id": str},
    SchemaError: _SCHEMA_ERROR_FIELDS,
    UnsatisfiableError: _SCHEMA_ERROR_FIELDS,
    VocabularyError: {},
}
"""The errors for which the request is at fault, with the types of their fields. Others are faults of the server."""

_CLASSES = {kind.__name__: kind for kind in FIELD_TYPES}


def error_to_fields(error: StructuredError) -> dict[str, Any] | None:
    """Return the fields of an error as plain data; None if the request was not at fault."""
    if type(error) not in FIELD_TYPES:
        return None
    fields = {name: getattr(error, name) for name in FIELD_TYPES[type(error)]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def data_to_error(data: Mapping[str, Any]) -> StructuredError | None:
    """Return the error in plain data with `code`, `message` and `fields`; None if there is none."""
    code, text, fields = (data.get(name) for name in ("code", "message", "fields"))
    kind = _CLASSES.get(code) if isinstance(code, str) else None
    if kind is None or not isinstance(text, str) or not isinstance(fields, Mapping):
        return None
    expected = FIELD_TYPES[kind]
    if fields.keys() != expected.keys() or not all(isinstance(fields[name], expected[name]) for name in expected):
        return None
    error = kind.__new__(kind, text)  # __init__ would write another message
    vars(error).update({name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})
    return error
