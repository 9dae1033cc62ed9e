"""Clauses: choices about the properties of an object, of each of which one alternative has to hold.

`{"dependencies": {"a": ["b"]}}` is the clause that "a" is absent or "b" present. That an object fails a schema is one
as well: it lacks a property that is required, or has one that does not satisfy what is said of it. Clauses need not be
combined with each other: they are met one after the other, while the properties are written.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from structured.json_schema.document.location import ANNOTATIONS, Complement, Elsewhere, Subschema, Subschemas
from structured.json_schema.logic.conjunctions import Choice

MAX_PRODUCT = 24
"""Clauses that one choice may be."""

_TELLING = frozenset({"type", "required", "properties", "some property"})


class Alternative(NamedTuple):
    """What may meet a clause: a property is absent, or present and satisfies a schema; or some property is.

    Where `name` is None, `value` is a schema that asks for some property; where `value` is None, the one is absent.
    """

    name: str | None
    value: Subschema | None


Clause = list[Alternative]


def clauses_of(choices: list[Choice]) -> list[Clause] | None:
    """Return the clauses of some choices between objects; None if there are others among them."""
    found: list[Clause] = []
    for choice in choices:
        options = [_conjunction(option) for option in choice.options]
        kept = [option for option in options if option is not None]
        size = 1
        for option in kept:
            size *= len(option)
        if len(kept) < len(options) or choice.part.scopes or size > MAX_PRODUCT:
            return None
        joined = [[one for clause in clauses for one in clause] for clauses in product(*kept)]
        found += [clause for clause in joined if not _is_certain(clause)]
    return found


def _is_certain(clause: Clause) -> bool:
    """Tell whether a property may be absent, and present with any value."""
    absent = {one.name for one in clause if one.value is None}
    return any(one.name in absent and one.value is not None and one.value.schema is True for one in clause)


def _conjunction(option: Subschemas) -> list[Clause] | None:
    """Return the clauses of which all have to hold for an option; None if it says something else."""
    found: list[Clause] = []
    for part in option:
        if part.schema is True:
            continue
        if not isinstance(part.schema, dict) or not part.schema.keys() - ANNOTATIONS <= _TELLING:
            return None
        if "type" in part.schema and "object" not in part.schema["type"]:
            return None
        found += _clauses(part)
    return found


def _clauses(part: Subschema) -> Iterator[Clause]:
    properties = part.schema.get("properties", {})
    required = part.schema.get("required", [])
    for name in required if isinstance(required, list) else ():
        value = _value(part, name) if name in properties else Subschema(True, part.location.inside())
        yield [Alternative(name, value)] if value.schema is not False else []
    for name in properties:
        value = _value(part, name)
        if value.schema is not True and name not in required:
            yield [Alternative(name, None), *([] if value.schema is False else [Alternative(name, value)])]
    if isinstance(part.schema, Complement) and "some property" in part.schema:
        yield [Alternative(None, part)]


def _value(part: Subschema, name: str) -> Subschema:
    """Return what is said of a property; True and False for their complements."""
    value = part.within("properties", name)
    if isinstance(value.schema, Elsewhere) and isinstance(value.schema.schema, bool):
        return value._replace(schema=value.schema.schema != value.schema.is_denied)
    return value
