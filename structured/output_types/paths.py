"""Paths of values in an answer, as people read them: `lines[2].price`, `labels."unit price"`, `pet (cat).lives`.

In the path of a field, `[]` stands for each item, `*` for each entry of a dictionary, and a name in parentheses for the
branch of a choice that the field belongs to.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from json import dumps, loads
from typing import Any

from structured.json_schema.document.location import Subschema

Steps = tuple[str | int, ...]
"""The names and positions that lead to a value."""

FieldSelection = bool | Sequence[str]
"""The fields that an option is about: all, if True; none, if False; or those at some paths."""

_STEP = re.compile(r'\[(\d+)\]|("(?:[^"\\]|\\.)*")|([^.\["]+)')


def member_path(path: str, name: str) -> str:
    """Return the path of a property: `"pet"`, `"lives"` → `pet.lives`."""
    shown = name if name.isidentifier() else dumps(name, ensure_ascii=False)
    return f"{path}.{shown}" if path else shown


def entry_path(path: str) -> str:
    """Return the path of the entries of a dictionary: `"labels"` → `labels.*`."""
    return f"{path}.*" if path else "*"


def branch_path(path: str, label: str) -> str:
    """Return the path of a value that is a branch of a choice, if that has a label: `"pet"`, `"cat"` → `pet (cat)`."""
    return f"{path} ({label})".lstrip() if label else path


def steps_to_path(steps: Steps, index: str = "[{}]") -> str:
    """Return the path of one value: `("lines", 2, "price")` → `lines[2].price`."""
    path = ""
    for step in steps:
        path = f"{path}{index.format(step)}" if isinstance(step, int) else member_path(path, step)
    return path


def steps_to_field(steps: Steps) -> str:
    """Return the path of the field that a value belongs to: `("lines", 2, "price")` → `lines[].price`."""
    return steps_to_path(steps, "[]")


def path_to_steps(path: str) -> Steps:
    """Return the names and positions in the path of one value: `lines[2].price` → `("lines", 2, "price")`."""
    return tuple(
        int(index) if index else loads(quoted, strict=False) if quoted else name
        for index, quoted, name in _STEP.findall(path)
    )


def has_member(data: Any, step: str | int) -> bool:
    """Tell whether plain data has a member, by its name, or an item, by its position."""
    if isinstance(data, list):
        return isinstance(step, int) and step < len(data)
    return isinstance(data, dict) and step in data


def leaves(data: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Return the values in some data that hold no others, with the steps to them.

    `{"a": [1, {"b": "x"}], "c": []}` → `(("a", 0), 1)`, `(("a", 1, "b"), "x")`
    """
    return ((place, value) for place, value in end_values(data, steps) if not isinstance(value, dict | list))


def end_values(data: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield the values in some data that hold no others, lists and objects without any among them, and their places."""
    if not isinstance(data, dict | list) or not data:
        yield steps, data
    else:
        for step, member in data.items() if isinstance(data, dict) else enumerate(data):
            yield from end_values(member, (*steps, step))


def leaves_outside_lists(data: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield the values of objects inside each other, with the steps to them; a list is one value."""
    if isinstance(data, dict) and data:
        for name, member in data.items():
            yield from leaves_outside_lists(member, (*steps, name))
    else:
        yield steps, data


def labelled_branches(part: Subschema, keyword: str) -> Iterator[tuple[Subschema, str]]:
    """Yield the branches of a choice, each with the name that tells it apart, if there are several beside null."""
    schemas = part.schema.get(keyword)
    options = [part.subschema(keyword, index) for index in range(len(schemas) if isinstance(schemas, list) else 0)]
    has_several = sum(option.schema != {"type": "null"} for option in options) > 1
    tags = {reference: tag for tag, reference in part.schema.get("discriminator", {}).get("mapping", {}).items()}
    for option in options:
        schema = option.schema if isinstance(option.schema, Mapping) else {}
        reference = str(schema.get("$ref", ""))
        name = reference.rpartition("/")[2] or schema.get("type", "value")
        yield option, str(tags.get(reference, name)) if has_several else ""
