"""What the author of a schema says of a value: its title, its description and a few examples, in one line."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from structured.errors.recursion import deep
from structured.json_schema.document.drafts import subschemas
from structured.json_schema.document.location import Identity, Schema, Subschema
from structured.output_types.schema_graph import known_targets


def remark(part: Subschema, title: str = "", seen: Iterable[Identity] = ()) -> str:
    """Return what is said of a value and of its items: `Title: description; e.g. "an example"`.

    Nothing is said of those where fields are, which have comments of their own, and of those seen, which have names.
    """
    described = "; ".join(_gathered(part, lambda schema: list(filter(None, [description_of(schema)])), set(seen)))
    said = ": ".join(filter(None, [title, described]))
    few = _gathered(part, _examples, set(seen))[:MAX_EXAMPLES]
    return "; ".join([*([said] if said else []), *([f"e.g. {', '.join(few)}"] if few else [])])


@deep
def _gathered(part: Subschema, tell: Callable[[Schema], list[str]], seen: set[Identity]) -> list[str]:
    """Return what is told of a value: by its schema, or else by what that refers to; and what is told of its items."""
    if not isinstance(part.schema, Mapping) or is_object(part) or part.identity in seen:
        return []
    seen.add(part.identity)
    branches = [
        one for keyword in ("anyOf", "oneOf") for one in parts_below(part, keyword) if one.schema != {"type": "null"}
    ]
    others = [*known_targets(part), *parts_below(part, "allOf"), *(branches if len(branches) == 1 else [])]
    told = tell(part.schema) or [text for other in others for text in _gathered(other, tell, seen)]
    items = (item for keyword in _ITEMS for item in parts_below(part, keyword))
    return list(dict.fromkeys([*told, *(text for item in items for text in _gathered(item, tell, seen))]))


_ITEMS = ("items", "prefixItems", "additionalItems", "additionalProperties", "patternProperties")


def parts_below(part: Subschema, keyword: str) -> list[Subschema]:
    """Return the schemas that a keyword of a schema has."""
    return [part.below(*keys) for keys, _ in subschemas(part.schema, part.location.draft) if keys[0] == keyword]


def _examples(schema: Schema) -> list[str]:
    examples = schema.get("examples")
    if not isinstance(examples, list):
        return []
    shown = (quoted(one) for one in examples)
    return [one for one in shown if len(one) <= LONGEST_EXAMPLE][:MAX_EXAMPLES]


MAX_EXAMPLES = 3
LONGEST_EXAMPLE = 80
"""Characters of an example that is shown; a longer one is left out."""


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
    """Return a value as JSON on one line: also what JSON leaves as it is, and others take for the end of a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.translate({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})
