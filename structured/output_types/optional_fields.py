"""Fields that a text may not state: the schema of a type, changed so that they may be null.

Only the schema is changed. The type stays as its author wrote it, and reads what `missing.py` leaves of an answer.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import NOT_STATED, Identity, Schema, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import any_branch, can_be_null, types_of
from structured.output_types.paths import branch, branches, entry, member

Absent = Literal[True] | Sequence[str]
"""The fields that a text may not state: all of them, or those at some paths."""

KEPT, DROPPED, LEFT_OUT = "null", "dropped", "left out"
"""How a field says that it is missing: by null, which the type reads; by null, which is dropped before the type reads
the answer; or by not being there."""

_NULL = {"type": "null"}

MAX_COPIED = 2000
"""Definitions that are copied for paths that lead through them, each as often as a path does."""


def can_be_absent(part: Subschema) -> bool:
    """Tell whether a value can say that there is none: as null, or as a list without items.

    So can a constant, which invents nothing, and an object, whose fields are looked at one by one.
    """
    return any_branch(part, _says_none, {})


def _says_none(schema: Schema) -> bool:
    if "const" in schema or "enum" in schema:
        return "const" in schema or None in schema["enum"] or len(schema["enum"]) == 1
    types = types_of(schema)
    return not types or bool(types & {"null", "object"}) or ("array" in types and not schema.get("minItems"))


@deep
def with_absence(root: Subschema, absent: Absent) -> Schema:
    """Return the schema of a type in which chosen fields may be null, and are marked.

    With True, these are all fields of which the type itself does not let a text say that there is none. Raises
    SchemaError for a path that leads to no field, and for the field by which a union is told apart.
    """
    if absent is True:
        return _Everywhere(root).schema()
    return at_paths(root, absent, permitted)


def at_paths(root: Subschema, paths: Sequence[str], change: Callable[[Subschema, Any], Any]) -> Schema:
    """Return a schema in which the fields at some paths are changed. Raises SchemaError for a path that has none."""
    if isinstance(paths, str):
        raise SchemaError(f"The paths are one str, {paths!r}", remedy=f"Pass a list: [{paths!r}].")
    return AtPaths(root, paths, change).schema()


def permitted(part: Subschema, schema: Any) -> Any:
    """Return a schema that allows null as well, and is marked."""
    if can_be_null(part):
        return {**schema, NOT_STATED: KEPT} if isinstance(schema, Mapping) else schema
    notes = {keyword: schema[keyword] for keyword in ("$defs", "description") if keyword in schema}
    inside = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    return {"anyOf": [inside, _NULL], NOT_STATED: DROPPED, **notes}


def replaced(schema: Schema, keys: Sequence[str | int], inside: Any) -> dict[str, Any]:
    """Return a schema with another one below some keys."""
    first, *others = keys
    if not others:
        return {**schema, str(first): inside}
    held = schema[str(first)]
    if isinstance(held, list):
        return {**schema, str(first): [inside if at == others[0] else one for at, one in enumerate(held)]}
    return {**schema, str(first): {**held, str(others[0]): inside}}


def _tags(root: Subschema) -> Iterator[Identity]:
    """Yield the identities of the properties by which the branches of unions are told apart."""
    left, seen = [root], set[Identity]()
    while left:
        part = left.pop()
        if part.identity in seen or not isinstance(part.schema, Mapping):
            continue
        seen.add(part.identity)
        yield from _tags_at(part)
        left += [part.below(*keys) for keys, _ in subschemas(part.schema, part.location.draft)]


def _tags_at(part: Subschema) -> Iterator[Identity]:
    if isinstance(part.schema.get("discriminator"), Mapping):
        name = part.schema["discriminator"].get("propertyName")
        for index in range(len(part.schema.get("oneOf", []))):
            yield from _tags_of(part.below("oneOf", index), name)


def _tags_of(union: Subschema, name: str) -> Iterator[Identity]:
    """Yield the identities of the property of a name in a branch, and in those inside it."""
    left, seen = [union], set[Identity]()
    while left:
        option = left.pop()
        if option.identity in seen or not isinstance(option.schema, Mapping):
            continue
        seen.add(option.identity)
        if "$ref" in option.schema:
            left.append(follow(option))
            continue
        for keyword in ("anyOf", "oneOf"):
            left += [option.below(keyword, index) for index in range(len(option.schema.get(keyword, [])))]
        if name in option.schema.get("properties", {}):
            yield option.below("properties", name).identity


class _Everywhere:
    """Lets every field be null that cannot say otherwise that there is nothing."""

    def __init__(self, root: Subschema) -> None:
        self.root = root
        self.tags = set(_tags(root))

    def schema(self) -> Schema:
        found: Schema = self._permitted(self.root, self._inside(self.root))
        return found

    @deep
    def _inside(self, part: Subschema) -> Any:
        schema = part.schema
        for keys, _ in subschemas(part.schema, part.location.draft):
            inner = part.below(*keys)
            inside = self._inside(inner)
            if keys[0] == "properties" and inner.identity not in self.tags:
                inside = self._permitted(inner, inside)
            schema = replaced(schema, keys, inside)
        return schema

    def _permitted(self, part: Subschema, schema: Any) -> Any:
        return permitted(part, schema) if can_be_null(part) or not can_be_absent(part) else schema


FIELDS = frozenset({"properties"})
"""The keyword that holds what can be absent. The item of a list is not: the list is shorter."""

WITH_ITEMS = FIELDS | {"items", "prefixItems", "additionalProperties", "patternProperties"}
"""The keywords that hold values of their own."""


class AtPaths:
    """Changes the values at some paths. Definitions that a path leads through are copied to where it does.

    `places` are the keywords that hold what a path may end at.
    """

    def __init__(
        self,
        root: Subschema,
        paths: Sequence[str],
        change: Callable[[Subschema, Any], Any],
        *,
        places: Collection[str] = FIELDS,
    ) -> None:
        self.root = root
        self.change = change
        self.places = places
        self.paths = dict.fromkeys(paths)
        self.tags = set(_tags(root))
        self.known: dict[str, None] = {}
        self.copied = 0

    def schema(self) -> Schema:
        """Return the changed schema. Raises SchemaError for a path that leads to no field."""
        found: Schema = self._at(self.root, ("", ""), self._inside(self.root, ("", "")))
        for path in self.paths:
            if path not in self.known:
                near = get_close_matches(path, [known for known in self.known if known])
                hint = f"Is it {' or '.join(map(repr, near))}?" if near else "`inspect_type` lists the paths."
                raise SchemaError(f"No field has the path {path!r}", remedy=hint)
        return found

    def _at(self, part: Subschema, paths: tuple[str, str], schema: Any) -> Any:
        """Return the schema of a field, changed if one of its paths was chosen."""
        self.known |= dict.fromkeys(paths)
        if self.paths.keys().isdisjoint(paths):
            return schema
        if part.identity in self.tags:
            raise part.location.refusal(
                f"{paths[0]!r} tells which branch of a union an answer is", keyword="oneOf", remedy="Leave it out."
            )
        return self.change(part, schema)

    @deep
    def _inside(self, part: Subschema, paths: tuple[str, str]) -> Any:
        """Return the schema of what has two paths, with the names of branches and without."""
        schema = part.schema
        if not isinstance(schema, Mapping) or not self._leads_on(paths):
            return schema
        if "$ref" in schema:
            self.copied += 1
            if self.copied > MAX_COPIED:
                raise part.location.refusal(
                    f"The paths lead through more than {MAX_COPIED:,} definitions",
                    keyword="$ref",
                    remedy="Allow null in the type itself, or let all fields be absent.",
                )
            referred = follow(part)
            if referred.location.entered is not None:
                raise part.location.refusal(
                    f"The paths lead through {schema['$ref']!r}, into a schema with a URI of its own",
                    keyword="$ref",
                    remedy="Write the definition under $defs of the schema itself, or let all fields be missing.",
                )
            target = self._inside(referred, paths)
            return {**target, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}
        for keyword in ("anyOf", "oneOf"):
            for index, (option, label) in enumerate(branches(part, keyword)):
                inside = self._inside(option, (branch(paths[0], label), paths[1]))
                schema = replaced(schema, (keyword, index), inside)
        for keys, _ in list(subschemas(schema, part.location.draft)):
            if keys[0] in _STEPS:
                further = _STEPS[str(keys[0])]
                there = (further(paths[0], keys[-1]), further(paths[1], keys[-1]))
                inner = part.below(*keys)
                inside = self._inside(inner, there)
                inside = self._at(inner, there, inside) if keys[0] in self.places else inside
                schema = replaced(schema, keys, inside)
        return schema

    def _leads_on(self, paths: tuple[str, str]) -> bool:
        """Tell whether a chosen path may lead to something inside."""
        return any(chosen.startswith(path) and chosen != path for chosen in self.paths for path in paths)


_STEPS: Mapping[str, Callable[[str, Any], str]] = {
    "properties": member,
    "items": lambda path, _: f"{path}[]",
    "prefixItems": lambda path, index: f"{path}[{index}]",
    "additionalProperties": lambda path, _: entry(path),
    "patternProperties": lambda path, _: entry(path),
    "allOf": lambda path, _: path,
}
