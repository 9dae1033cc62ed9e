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
from structured.json_schema.numbers.number_patterns import DECIMAL
from structured.output_types.paths import Steps, branch_path, entry_path, labelled_branches, member_path

NON_ASSERTING_KEYWORDS = ANNOTATIONS | {"$anchor", "$defs", "$id", "$schema", "definitions", "id", "type"}
"""Keywords that restrict no value beside its type."""


def list_at(schema: Schema, keyword: str) -> list[Any]:
    """Return the list that a keyword has; an empty one if it has none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def listed_schemas(part: Subschema, *keywords: str) -> list[Subschema]:
    """Return the schemas in the lists that some keywords of a schema have: its branches, or its first items."""
    return [part.subschema(keyword, at) for keyword in keywords for at in range(len(list_at(part.schema, keyword)))]


def parts_at(root: Subschema, steps: Steps) -> list[Subschema]:
    """Return the parts of a schema that may describe the value at a place, with branches and references inside."""
    parts = [root]
    for step in steps:
        parts = [inner for part in flattened(parts) for inner in parts_at_step(part, step)]
    return parts


def must_be_stated(parts: list[Subschema], value: Any) -> bool:
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
    conjuncts = listed_schemas(part, "allOf")
    if GROUNDED in schema or not all(_allows_unstated(conjunct, value, seen) for conjunct in conjuncts):
        return False
    alternatives = [*([follow(part)] if "$ref" in schema else []), *listed_schemas(part, "anyOf", "oneOf")]
    if alternatives:
        return any(_allows_unstated(option, value, seen) for option in alternatives)
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    types = {"integer", "number"} if is_number else {type_of(value)}
    return not types_of(schema) or bool(types_of(schema) & types)


@deep
def flattened(parts: list[Subschema], seen: set[Identity] | None = None) -> list[Subschema]:
    """Return parts with those that they refer to or branch into in their place."""
    seen = set() if seen is None else seen
    flat_parts: list[Subschema] = []
    for part in parts:
        if part.identity in seen or not isinstance(part.schema, Mapping):
            continue
        seen.add(part.identity)
        flat_parts.append(part)
        target = [follow(part)] if "$ref" in part.schema else []
        flat_parts += flattened([*target, *listed_schemas(part, "allOf", "anyOf", "oneOf")], seen)
    return flat_parts


def parts_at_step(part: Subschema, step: str | int) -> Iterator[Subschema]:
    """Yield the parts that describe a member or an item."""
    if isinstance(step, str):
        patterns = [pattern for pattern in part.schema.get("patternProperties", ()) if _matches_name(pattern, step)]
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


def _matches_name(pattern: str, name: str) -> bool:
    with suppress(re.error):  # of a pattern that only ECMA 262 knows
        return re.search(pattern, name) is not None
    return False


def reachable_schemas(part: Subschema) -> Iterator[Subschema]:
    """Yield the schemas inside a schema and behind its references, to any depth, each once."""
    seen: set[Identity] = set()
    unvisited = [part]
    while unvisited:
        for inner in inner_schemas(unvisited.pop()):
            if inner.identity not in seen:
                seen.add(inner.identity)
                unvisited.append(inner)
                yield inner


def inner_schemas(part: Subschema) -> Iterator[Subschema]:
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


def repeated_schemas(root: Subschema) -> set[Identity]:
    """Return the schemas that are used at more than one place.

    `{"properties": {"from": {"$ref": "#/$defs/Day"}, "to": {"$ref": "#/$defs/Day"}}}` → that of `Day`, and of the
    reference
    """
    uses: Counter[Identity] = Counter()
    unvisited = [root]
    while unvisited:
        for inner in inner_schemas(unvisited.pop()):
            uses[inner.identity] += 1
            if uses[inner.identity] <= (2 if _only_refers(inner) else 1):  # equal references are one schema
                unvisited.append(inner)
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
    descriptions = "; ".join(_remarks_on(part, lambda part: [description_of(part.schema)], set(seen)))
    examples = ", ".join(_remarks_on(part, _example_texts, set(seen))[:MAX_EXAMPLES])
    return "; ".join(filter(None, [": ".join(filter(None, [title, descriptions])), examples and f"e.g. {examples}"]))


@deep
def _remarks_on(part: Subschema, remarks_of: Callable[[Subschema], list[str]], seen: set[Identity]) -> list[str]:
    """Return the remarks on a value, of its schema or else of what that refers to, and those on its items."""
    if not isinstance(part.schema, Mapping) or has_fields(part) or part.identity in seen:
        return []
    seen.add(part.identity)
    options = [option for option in object_schemas(part, "anyOf", "oneOf") if option.schema != {"type": "null"}]
    aliases = [*known_targets(part), *object_schemas(part, "allOf"), *(options if len(options) == 1 else [])]
    own = list(filter(None, remarks_of(part)))
    remarks = own or [text for alias in aliases for text in _remarks_on(alias, remarks_of, seen)]
    items = object_schemas(part, *_ITEM_KEYWORDS)
    return list(dict.fromkeys([*remarks, *(text for item in items for text in _remarks_on(item, remarks_of, seen))]))


_ITEM_KEYWORDS = ("items", "prefixItems", "additionalItems", "additionalProperties", "patternProperties")


def object_schemas(part: Subschema, *keywords: str) -> list[Subschema]:
    """Return the schemas that some keywords of a schema have and that are objects, by keyword."""
    if not isinstance(part.schema, Mapping):
        return []
    key_paths = [keys for keys, _ in subschemas(part.schema, part.location.draft) if keys[0] in keywords]
    return [part.subschema(*keys) for keys in sorted(key_paths, key=lambda keys: keywords.index(str(keys[0])))]


def _example_texts(part: Subschema) -> list[str]:
    """Return the examples of a schema as JSON on one line each: `[1234.0, Decimal("1.50")]` → `1234`, `1.50`."""
    options = [part, *known_targets(part), *object_schemas(part, "allOf", "anyOf", "oneOf")]
    is_decimal = any(isinstance(option.schema, Mapping) and DECIMAL in option.schema for option in options)
    texts = []
    for example in list_at(part.schema, "examples"):  # Pydantic writes decimals as texts
        is_number = is_decimal and isinstance(example, str) and DECIMAL_TEXT.fullmatch(example)
        texts.append(example if is_number else to_json_line(_as_documents_state(example)))
    return [text for text in texts if len(text) <= 80][:MAX_EXAMPLES]  # longer ones cost more than they tell


DECIMAL_TEXT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:E[+-][0-9]+)?")
"""A decimal as `str` writes it."""


def _as_documents_state(example: Any) -> Any:
    """Return an example with its whole floats as integers: `[1234.0]` → `[1234]`."""
    if isinstance(example, list):
        return list(map(_as_documents_state, example))
    is_whole = isinstance(example, float) and example.is_integer() and abs(example) < 1e15
    return int(example) if is_whole else example


MAX_EXAMPLES = 3


def title_of(part: Subschema) -> str:
    """Return the title of a schema, in one line."""
    return " ".join(str(part.schema.get("title", "")).split()) if isinstance(part.schema, Mapping) else ""


def description_of(schema: Schema) -> str:
    """Return the description of a schema, in one line."""
    description = schema.get("description")
    return " ".join(description.split()) if isinstance(description, str) else ""


def has_fields(part: Subschema) -> bool:
    """Tell whether a schema has fields, above which its description is shown."""
    return bool(part.schema.get("properties"))


def is_generated_title(title: str, name: str) -> bool:
    """Tell whether a title is the one that Pydantic makes of a field's name: `unit_price` → `Unit Price`."""
    return title == name.title().replace("_", " ").strip()


def to_json_line(value: Any) -> str:
    """Return a value as JSON on one line; line separators of Unicode, which JSON leaves as they are, are escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.translate({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})


Change = Callable[[Subschema, Any], Any]
"""Returns the changed schema of a field, by its part of the original schema and its schema with the edits inside it."""

MAX_LISTED_PATHS = 10
"""The most paths of a type that an error lists."""

FIELDS = frozenset({"properties"})
"""The keyword that holds fields. The items of a list are not fields."""

FIELDS_AND_ITEMS = FIELDS | {"items", "prefixItems", "additionalProperties", "patternProperties"}
"""The keywords that hold fields or items."""

MAX_COPIED = 2000
"""Definitions that are copied for paths that lead through them, each as often as a path does."""


def with_schema_at(schema: Schema, keys: Sequence[str | int], replacement: Any) -> dict[str, Any]:
    """Return a schema with another one below some keys."""
    first, *others = keys
    if not others:
        return {**schema, str(first): replacement}
    keyword_value = schema[str(first)]
    if isinstance(keyword_value, list):
        items = [replacement if index == others[0] else item for index, item in enumerate(keyword_value)]
        return {**schema, str(first): items}
    return {**schema, str(first): {**keyword_value, str(others[0]): replacement}}


@deep
def rewritten_schema(part: Subschema, change: Callable[[Subschema, Sequence[str | int], Any], Any]) -> Any:
    """Return a schema with every schema inside it changed, the innermost first.

    The function gets the part around each, the keys that lead from there to it, and it with the changes inside it.
    """
    schema = part.schema
    for keys, _ in subschemas(schema, part.location.draft):
        schema = with_schema_at(schema, keys, change(part, keys, rewritten_schema(part.subschema(*keys), change)))
    return schema


def edited_at(root: Subschema, paths: Sequence[str], change: Change, *, keywords: Collection[str] = FIELDS) -> Schema:
    """Return a schema with the fields at some paths changed. Definitions that a path leads through are copied to there.

    A path may end below the `keywords`. Raises SchemaError for a path that leads to no field, and for the discriminator
    of a union.
    """
    if isinstance(paths, str):
        raise SchemaError(f"The paths are one str, {paths!r}", remedy=f"Pass a list: [{paths!r}].")
    return _Edits(root, paths, change, keywords).schema()


def discriminator_properties(root: Subschema) -> set[Identity]:
    """Return the properties that discriminate between the branches of unions."""
    parts = (part for part in (root, *reachable_schemas(root)) if isinstance(part.schema, Mapping))
    unions = (part for part in parts if isinstance(part.schema.get("discriminator"), Mapping))
    names_and_unions = ((str(part.schema["discriminator"].get("propertyName")), part) for part in unions)
    return {
        option.subschema("properties", name).identity
        for name, part in names_and_unions
        for option in flattened(listed_schemas(part, "oneOf"))
        if name in option.schema.get("properties", {})
    }


class _Edits:
    """The changes of the fields at some paths of one schema.

    Each field has two paths: with the names of branches, `pet (cat).lives`, and without, `pet.lives`.
    """

    def __init__(self, root: Subschema, paths: Sequence[str], change: Change, keywords: Collection[str]) -> None:
        self.root = root
        self.change = change
        self.keywords = keywords
        self.paths = dict.fromkeys(paths)
        self.discriminator_identities = discriminator_properties(root)
        self.known_paths: dict[str, None] = {}
        self.copied_definitions = 0

    def schema(self) -> Schema:
        """Return the changed schema."""
        changed: Schema = self._changed_if_chosen(self.root, ("", ""), self._edited_schema(self.root, ("", "")))
        for path in self.paths:
            if path not in self.known_paths:
                paths = [known_path for known_path in self.known_paths if known_path]
                similar = get_close_matches(path, paths)
                listed = ", ".join(map(repr, paths[:MAX_LISTED_PATHS])) + ", …" * (len(paths) > MAX_LISTED_PATHS)
                hint = f"Is it {' or '.join(map(repr, similar))}?" if similar else f"There are {listed or 'none'}."
                raise SchemaError(f"No field has the path {path!r}", remedy=hint)
        return changed

    def _changed_if_chosen(self, part: Subschema, paths: tuple[str, str], schema: Any) -> Any:
        """Return the schema of a field, changed if one of its paths was chosen."""
        self.known_paths |= dict.fromkeys(paths)
        if self.paths.keys().isdisjoint(paths):
            return schema
        if part.identity in self.discriminator_identities:
            raise part.location.refusal(
                f"{paths[0]!r} tells which branch of a union an answer is", keyword="oneOf", remedy="Leave it out."
            )
        return self.change(part, schema)

    @deep
    def _edited_schema(self, part: Subschema, paths: tuple[str, str]) -> Any:
        """Return a schema with the fields below its two paths changed."""
        schema = part.schema
        is_above_chosen = any(chosen.startswith(path) and chosen != path for chosen in self.paths for path in paths)
        if not isinstance(schema, Mapping) or not is_above_chosen:
            return schema
        if "$ref" in schema:
            target = self._edited_schema(self._definition(part), paths)
            return {**target, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}
        for keyword in ("anyOf", "oneOf"):
            for index, (option, label) in enumerate(labelled_branches(part, keyword)):
                edited = self._edited_schema(option, (branch_path(paths[0], label), paths[1]))
                schema = with_schema_at(schema, (keyword, index), edited)
        for keys in [keys for keys, _ in subschemas(schema, part.location.draft) if keys[0] in _STEP_PATHS]:
            path_of_step, inner = _STEP_PATHS[str(keys[0])], part.subschema(*keys)
            inner_paths = (path_of_step(paths[0], keys[-1]), path_of_step(paths[1], keys[-1]))
            edited = self._edited_schema(inner, inner_paths)
            if keys[0] in self.keywords:
                edited = self._changed_if_chosen(inner, inner_paths, edited)
            schema = with_schema_at(schema, keys, edited)
        return schema

    def _definition(self, part: Subschema) -> Subschema:
        """Return the definition that a reference leads to. Raises SchemaError if it cannot be copied."""
        self.copied_definitions += 1
        if self.copied_definitions > MAX_COPIED:
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


_STEP_PATHS: Mapping[str, Callable[[str, Any], str]] = {
    "properties": member_path,
    "items": lambda path, _: f"{path}[]",
    "prefixItems": lambda path, index: f"{path}[{index}]",
    "additionalProperties": lambda path, _: entry_path(path),
    "patternProperties": lambda path, _: entry_path(path),
    "allOf": lambda path, _: path,
}
