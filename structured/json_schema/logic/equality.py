"""Equality of JSON values: a text that is the same for equal values, and only for those (core §4.2.2)."""

import json
from typing import Any

from structured.errors.recursion import deep, with_room


def identity(value: Any) -> str:
    """Return a text that is the same for equal values: `1.0` → `1`, and keys in order."""
    if isinstance(value, str):  # which is most of the time
        return f"text {value}"
    if not isinstance(value, list | dict):
        return json.dumps(_plain(value))
    return with_room(json.dumps, _plain(value), sort_keys=True)


@deep
def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value
