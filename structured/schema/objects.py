"""The keywords of objects (core §10.3.2, validation §6.5) enter; the pattern of JSON objects leaves.

The properties stand in the order in which the schema lists them, others after them. Their separators are what makes
optional members hard for a regular expression, which would grow with the square of their number; `Members` does not.
"""

from collections.abc import Mapping

from structured.pattern import EMPTY, Literal, Members, Pattern, Unlike, alternation, concat, literal, optional
from structured.schema.arrays import PatternOf
from structured.schema.place import Place, Subschema, Subschemas, UnsatisfiableError
from structured.schema.values import spellings


def object_(parts: Subschemas, place: Place, pattern_of: PatternOf) -> Pattern:
    """Return the objects with the properties that must or may be there."""
    names = dict.fromkeys(name for part in parts for name in part.schema.get("properties", {}))
    required = dict.fromkeys(name for part in parts for name in part.schema.get("required", ()))
    is_type = parts[0].place.is_type
    if is_type:
        _check_type(parts, names)
        required = names
    whitespace, depth = place.whitespace, place.depth
    members: list[tuple[Pattern, bool]] = []
    listed = [*names, *(name for name in required if name not in names)]
    for name, key in zip(listed, spellings(listed, place, keyword="properties"), strict=True):
        try:
            value = pattern_of([_property(part, name) for part in parts])
        except UnsatisfiableError:
            if name in required:
                raise
            continue
        members.append((concat(Literal(key), whitespace.colon, value), name in required))
    rest = None if is_type else _others(parts, listed, place, pattern_of)
    if not members and rest is None:
        return concat(literal("{"), whitespace.edge, literal("}"))
    comma = whitespace.comma(depth)
    filled: Pattern
    if rest is None and all(is_required for _, is_required in members):
        filled = concat(*[piece for member, _ in members for piece in (comma, member)][1:])
    else:
        filled = Members(tuple(members), comma, rest)
    filled = concat(whitespace.opening(depth), filled, whitespace.closing(depth))
    if not required:
        filled = optional(filled) if whitespace.edge == EMPTY else alternation(whitespace.edge, filled)
    return concat(literal("{"), filled, literal("}"))


def _others(parts: Subschemas, names: list[str], place: Place, pattern_of: PatternOf) -> Pattern | None:
    """Return a member by any other name; None if there may be none."""
    try:
        value = pattern_of([_additional(part) for part in parts])
    except UnsatisfiableError:
        return None
    known = tuple(name[1:-1] for name in spellings(names, place, keyword="properties"))
    return concat(literal('"'), Unlike(known), literal('"'), place.whitespace.colon, value)


def _property(part: Subschema, name: str) -> Subschema:
    """Return what a schema says of the property of a name."""
    return part.within("properties", name) if name in part.schema.get("properties", ()) else _additional(part)


def _additional(part: Subschema) -> Subschema:
    """Return what a schema says of the properties that it does not list."""
    if "additionalProperties" in part.schema:
        return part.within("additionalProperties")
    return Subschema(True, part.place.inside("additionalProperties"))


def _check_type(parts: Subschemas, names: Mapping[str, object]) -> None:
    """Refuse what the description of a type does not have: other properties, and required ones that are not listed."""
    open_parts = [part for part in parts if part.schema.get("additionalProperties", False) is not False]
    if not open_parts and not any(part.schema.keys() & {"additionalProperties", "properties"} for part in parts):
        open_parts = [next(part for part in parts if "type" in part.schema)]
    if open_parts:
        raise open_parts[0].place.refusal(
            "'additionalProperties' is not supported here yet",
            keyword="additionalProperties",
            remedy="Use a model with named fields, or a list of models in place of the dictionary.",
        )
    for part in parts:
        missing = sorted(name for name in part.schema.get("required", ()) if name not in names)
        if missing:
            raise part.place.refusal(
                f"The required {missing[0]!r} is not among the properties", keyword="required", remedy="Add it there."
            )
