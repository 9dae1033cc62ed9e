"""Parts of a schema: those that describe a place in an answer, the remarks on them, and edits by paths."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import ANNOTATIONS, GROUNDED, Identity, Schema, Subschema, Subschemas
from structured.json_schema.document.references import REFERENCES, follow, targets
from structured.json_schema.keyword_types import type_of
from structured.json_schema.nullable import types_of
from structured.output_types.paths import Steps, branch, branches, entry, member


def list_at(schema: Schema, keyword: str) -> list[Any]:
    """Return the list that a keyword has; an empty one if it has none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def listed(part: Subschema, *keywords: str) -> list[Subschema]:
    """Return the schemas in the lists that some keywords of a schema have: its branches, or its first items."""
    return [part.subschema(keyword, at) for keyword in keywords for at in range(len(list_at(part.schema, keyword)))]


def parts_at(root: Subschema, steps: Steps) -> list[Subschema]:
    """Return the parts of a schema that may describe the value at a place, with branches and references inside."""
    parts = [root]
    for step in steps:
        parts = [inner for part in flat(parts) for inner in below(part, step)]
    return parts


def has_to_be_stated(parts: list[Subschema], value: Any) -> bool:
    """Tell whether parts of a schema allow a value only if the document states it.

    Which branch of a union an answer follows is not known here, so that all that allow the value have to say so.
    """
    return bool(parts) and not any(_allows_unstated(part, value, set()) for part in parts)


@deep
def _allows_unstated(part: Subschema, value: Any, seen: set[Identity]) -> bool:
    if part.identity in seen or not isinstance(part.schema, Mapping):
        return part.schema is True
    seen.add(part.identity)
    schema = part.schema
    if GROUNDED in schema or not all(_allows_unstated(conjunct, value, seen) for conjunct in listed(part, "allOf")):
        return False
    inner = [*([follow(part)] if "$ref" in schema else []), *listed(part, "anyOf", "oneOf")]
    if inner:
        return any(_allows_unstated(option, value, seen) for option in inner)
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    types = {"integer", "number"} if type(value) in (int, float) else {type_of(value)}
    return not types_of(schema) or bool(types_of(schema) & types)


@deep
def flat(parts: list[Subschema], seen: set[Identity] | None = None) -> list[Subschema]:
    """Return parts with those that they refer to or branch into in their place."""
    seen = set() if seen is None else seen
    flattened: list[Subschema] = []
    for part in parts:
        if part.identity in seen or not isinstance(part.schema, Mapping):
            continue
        seen.add(part.identity)
        flattened.append(part)
        target = [follow(part)] if "$ref" in part.schema else []
        flattened += flat([*target, *listed(part, "allOf", "anyOf", "oneOf")], seen)
    return flattened


def below(part: Subschema, step: str | int) -> Iterator[Subschema]:
    """Yield the parts that describe a member or an item."""
    if isinstance(step, str):
        patterns = [pattern for pattern in part.schema.get("patternProperties", ()) if _is_found(pattern, step)]
        yield from (part.subschema("patternProperties", pattern) for pattern in patterns)
        if step in part.schema.get("properties", {}):
            yield part.subschema("properties", step)
        elif patterns:
            return
        elif isinstance(part.schema.get("additionalProperties"), Mapping):
            yield part.subschema("additionalProperties")
    elif step < len(part.schema.get("prefixItems", ())):
        yield part.subschema("prefixItems", step)
    elif isinstance(part.schema.get("items"), Mapping):
        yield part.subschema("items")


def _is_found(pattern: str, name: str) -> bool:
    with suppress(re.error):  # of a pattern that only ECMA 262 knows
        return re.search(pattern, name) is not None
    return False


def reached(part: Subschema) -> Iterator[Subschema]:
    """Yield the schemas inside a schema and behind its references, to any depth, each once."""
    seen: set[Identity] = set()
    left = [part]
    while left:
        for inner in inside(left.pop()):
            if inner.identity not in seen:
                seen.add(inner.identity)
                left.append(inner)
                yield inner


def inside(part: Subschema) -> Iterator[Subschema]:
    """Yield the targets of the references of a schema, and the schemas directly inside it that are no definitions."""
    if isinstance(part.schema, Mapping):
        yield from known_targets(part)
        for keys, _ in subschemas(part.schema, part.location.draft):
            if keys[0] not in ("$defs", "definitions"):
                yield part.subschema(*keys)


def known_targets(part: Subschema) -> Subschemas:
    """Return the targets of the references of a schema; nothing if one of them leads nowhere."""
    try:
        return targets(part)
    except SchemaError:
        return []


def repeated(root: Subschema) -> set[Identity]:
    """Return the schemas that are used at more than one place.

    `{"properties": {"from": {"$ref": "#/$defs/Day"}, "to": {"$ref": "#/$defs/Day"}}}` → that of `Day`, and of the
    reference
    """
    uses: Counter[Identity] = Counter()
    left = [root]
    while left:
        for inner in inside(left.pop()):
            uses[inner.identity] += 1
            if uses[inner.identity] <= (2 if _only_refers(inner) else 1):  # equal references are one schema
                left.append(inner)
    return {identity for identity, count in uses.items() if count > 1}


def _only_refers(part: Subschema) -> bool:
    """Tell whether a schema asserts nothing beside a reference."""
    if not isinstance(part.schema, Mapping) or part.schema.keys().isdisjoint(REFERENCES):
        return False
    return part.location.draft.ignores_siblings or len(part.schema.keys() - ANNOTATIONS) == 1


def remark(part: Subschema, title: str = "", seen: Iterable[Identity] = ()) -> str:
    """Return the remark on a value and on its items: `Title: description; e.g. "an example"`.

    Parts with fields have none, since the fields have remarks of their own, nor have parts that are seen.
    """
    described = "; ".join(_gathered(part, lambda schema: list(filter(None, [description_of(schema)])), set(seen)))
    examples = ", ".join(_gathered(part, _examples, set(seen))[:MAX_EXAMPLES])
    return "; ".join(filter(None, [": ".join(filter(None, [title, described])), examples and f"e.g. {examples}"]))


@deep
def _gathered(part: Subschema, remarks_of: Callable[[Schema], list[str]], seen: set[Identity]) -> list[str]:
    """Return the remarks on a value, of its schema or else of what that refers to, and those on its items."""
    if not isinstance(part.schema, Mapping) or is_object(part) or part.identity in seen:
        return []
    seen.add(part.identity)
    options = [option for option in parts_below(part, "anyOf", "oneOf") if option.schema != {"type": "null"}]
    others = [*known_targets(part), *parts_below(part, "allOf"), *(options if len(options) == 1 else [])]
    remarks = remarks_of(part.schema) or [text for other in others for text in _gathered(other, remarks_of, seen)]
    items = parts_below(part, *_ITEMS)
    return list(dict.fromkeys([*remarks, *(text for item in items for text in _gathered(item, remarks_of, seen))]))


_ITEMS = ("items", "prefixItems", "additionalItems", "additionalProperties", "patternProperties")


def parts_below(part: Subschema, *keywords: str) -> list[Subschema]:
    """Return the schemas that some keywords of a schema have and that are objects, by keyword."""
    held = [keys for keys, _ in subschemas(part.schema, part.location.draft) if keys[0] in keywords]
    return [part.subschema(*keys) for keys in sorted(held, key=lambda keys: keywords.index(str(keys[0])))]


def _examples(schema: Schema) -> list[str]:
    shown = map(str if "number" in types_of(schema) else quoted, list_at(schema, "examples"))  # decimals are texts
    return [example for example in shown if len(example) <= 80][:MAX_EXAMPLES]  # longer ones cost more than they tell


MAX_EXAMPLES = 3


def title_of(part: Subschema) -> str:
    """Return the title of a schema, in one line."""
    return " ".join(str(part.schema.get("title", "")).split()) if isinstance(part.schema, Mapping) else ""


def description_of(schema: Schema) -> str:
    """Return the description of a schema, in one line."""
    description = schema.get("description")
    return " ".join(description.split()) if isinstance(description, str) else ""


def is_object(part: Subschema) -> bool:
    """Tell whether a schema has fields, above which its description is shown."""
    return bool(part.schema.get("properties"))


def is_generated(title: str, name: str) -> bool:
    """Tell whether a title is the one that Pydantic makes of a field's name: `unit_price` → `Unit Price`."""
    return title == name.title().replace("_", " ").strip()


def quoted(value: Any) -> str:
    """Return a value as JSON on one line; line separators of Unicode, which JSON leaves as they are, are escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.translate({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})


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


@deep
def rewritten(part: Subschema, change: Callable[[Subschema, Sequence[str | int], Any], Any]) -> Any:
    """Return a schema with every schema inside it changed, the innermost first.

    The function gets the part around each, the keys that lead from there to it, and it with the changes inside it.
    """
    schema = part.schema
    for keys, _ in subschemas(schema, part.location.draft):
        schema = replaced(schema, keys, change(part, keys, rewritten(part.subschema(*keys), change)))
    return schema


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
    parts = (part for part in (root, *reached(root)) if isinstance(part.schema, Mapping))
    unions = (part for part in parts if isinstance(part.schema.get("discriminator"), Mapping))
    named = ((str(part.schema["discriminator"].get("propertyName")), part) for part in unions)
    return {
        option.subschema("properties", name).identity
        for name, part in named
        for option in flat(listed(part, "oneOf"))
        if name in option.schema.get("properties", {})
    }


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
        leads_on = any(chosen.startswith(path) and chosen != path for chosen in self.paths for path in paths)
        if not isinstance(schema, Mapping) or not leads_on:
            return schema
        if "$ref" in schema:
            target = self._inside(self._definition(part), paths)
            return {**target, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}
        for keyword in ("anyOf", "oneOf"):
            for index, (option, label) in enumerate(branches(part, keyword)):
                inside = self._inside(option, (branch(paths[0], label), paths[1]))
                schema = replaced(schema, (keyword, index), inside)
        for keys in [keys for keys, _ in subschemas(schema, part.location.draft) if keys[0] in _STEPS]:
            further, inner = _STEPS[str(keys[0])], part.subschema(*keys)
            there = (further(paths[0], keys[-1]), further(paths[1], keys[-1]))
            inside = self._inside(inner, there)
            schema = replaced(schema, keys, self._at(inner, there, inside) if keys[0] in self.places else inside)
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
        if definition.location.entered_scope is not None:
            raise part.location.refusal(
                f"The paths lead through {part.schema['$ref']!r}, into a schema with a URI of its own",
                keyword="$ref",
                remedy="Write the definition under $defs of the schema itself, or let all fields be missing.",
            )
        return definition


_STEPS: Mapping[str, Callable[[str, Any], str]] = {
    "properties": member,
    "items": lambda path, _: f"{path}[]",
    "prefixItems": lambda path, index: f"{path}[{index}]",
    "additionalProperties": lambda path, _: entry(path),
    "patternProperties": lambda path, _: entry(path),
    "allOf": lambda path, _: path,
}
