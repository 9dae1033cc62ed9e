"""Edits of a schema: another one below some keys, and changed fields at some paths."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import Identity, Schema, Subschema
from structured.json_schema.document.references import follow
from structured.output_types.paths import branch, branches, entry, member
from structured.output_types.schema_parts import all_parts, flat

Change = Callable[[Subschema, Any], Any]
"""Returns the changed schema of a field, by its part of the original schema and its schema with the edits inside it."""

FIELDS = frozenset({"properties"})
"""The keyword that holds fields. The items of a list are not fields."""

WITH_ITEMS = FIELDS | {"items", "prefixItems", "additionalProperties", "patternProperties"}
"""The keywords that hold fields or items."""

MAX_COPIED = 2000
"""Definitions that are copied for paths that lead through them, each as often as a path does."""


def replaced(schema: Schema, keys: Sequence[str | int], inside: Any) -> dict[str, Any]:
    """Return a schema with another one below some keys."""
    first, *others = keys
    if not others:
        return {**schema, str(first): inside}
    held = schema[str(first)]
    if isinstance(held, list):
        return {**schema, str(first): [inside if at == others[0] else item for at, item in enumerate(held)]}
    return {**schema, str(first): {**held, str(others[0]): inside}}


def edited_at(root: Subschema, paths: Sequence[str], change: Change, *, places: Collection[str] = FIELDS) -> Schema:
    """Return a schema with the fields at some paths changed. Definitions that a path leads through are copied to there.

    `places` are the keywords below which a path may end. Raises SchemaError for a path that leads to no field, and for
    the discriminator of a union.
    """
    if isinstance(paths, str):
        raise SchemaError(f"The paths are one str, {paths!r}", remedy=f"Pass a list: [{paths!r}].")
    return _Edits(root, paths, change, places).schema()


def discriminators(root: Subschema) -> set[Identity]:
    """Return the properties that discriminate between the branches of unions."""
    return {identity for part in all_parts(root) for identity in _discriminators_at(part)}


def _discriminators_at(part: Subschema) -> Iterator[Identity]:
    discriminator = part.schema.get("discriminator")
    if isinstance(discriminator, Mapping):
        name = str(discriminator.get("propertyName"))
        options = [part.below("oneOf", index) for index in range(len(part.schema.get("oneOf", [])))]
        for option in flat(options):
            if name in option.schema.get("properties", {}):
                yield option.below("properties", name).identity


class _Edits:
    def __init__(self, root: Subschema, paths: Sequence[str], change: Change, places: Collection[str]) -> None:
        self.root = root
        self.change = change
        self.places = places
        self.paths = dict.fromkeys(paths)
        self.discriminators = discriminators(root)
        self.known: dict[str, None] = {}
        self.copied = 0

    def schema(self) -> Schema:
        """Return the changed schema."""
        changed: Schema = self._at(self.root, ("", ""), self._inside(self.root, ("", "")))
        for path in self.paths:
            if path not in self.known:
                near = get_close_matches(path, [known for known in self.known if known])
                hint = f"Is it {' or '.join(map(repr, near))}?" if near else "`inspect_type` lists the paths."
                raise SchemaError(f"No field has the path {path!r}", remedy=hint)
        return changed

    def _at(self, part: Subschema, paths: tuple[str, str], schema: Any) -> Any:
        """Return the schema of a field, changed if one of its paths was chosen."""
        self.known |= dict.fromkeys(paths)
        if self.paths.keys().isdisjoint(paths):
            return schema
        if part.identity in self.discriminators:
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
            target = self._inside(self._definition(part), paths)
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

    def _definition(self, part: Subschema) -> Subschema:
        """Return the definition that a reference leads to. Raises SchemaError if it cannot be copied."""
        self.copied += 1
        if self.copied > MAX_COPIED:
            raise part.location.refusal(
                f"The paths lead through more than {MAX_COPIED:,} definitions",
                keyword="$ref",
                remedy="Allow null in the type itself, or let all fields be missing.",
            )
        definition = follow(part)
        if definition.location.entered is not None:
            raise part.location.refusal(
                f"The paths lead through {part.schema['$ref']!r}, into a schema with a URI of its own",
                keyword="$ref",
                remedy="Write the definition under $defs of the schema itself, or let all fields be missing.",
            )
        return definition

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
