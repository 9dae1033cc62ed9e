"""Drafts of the specification: the value of `$schema`, and where a schema of each draft has others inside."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, IntEnum, auto
from typing import Any


class Draft(IntEnum):
    """An edition of JSON Schema, by its number or year; the draft called 5 is draft 4."""

    DRAFT_3 = 3
    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019_09 = 2019
    DRAFT_2020_12 = 2020

    @property
    def metaschema(self) -> str:
        """The URI of the schema of its schemas."""
        return _METASCHEMAS[self]

    @property
    def identifier(self) -> str:
        """The keyword that gives a schema its URI."""
        return "id" if self <= Draft.DRAFT_4 else "$id"

    def has(self, keyword: str) -> bool:
        """Tell whether the draft has a keyword that some draft has; what has been replaced since is still there."""
        return self >= _FIRST.get(keyword, Draft.DRAFT_3)

    @property
    def ignores_siblings(self) -> bool:
        """Whether what stands beside a `$ref` is ignored (draft-handrews-json-schema-01 §8.3)."""
        return self <= Draft.DRAFT_7


_METASCHEMAS = {
    Draft.DRAFT_3: "http://json-schema.org/draft-03/schema#",
    Draft.DRAFT_4: "http://json-schema.org/draft-04/schema#",
    Draft.DRAFT_6: "http://json-schema.org/draft-06/schema#",
    Draft.DRAFT_7: "http://json-schema.org/draft-07/schema#",
    Draft.DRAFT_2019_09: "https://json-schema.org/draft/2019-09/schema",
    Draft.DRAFT_2020_12: "https://json-schema.org/draft/2020-12/schema",
}

_NAMES = {
    "draft-03": Draft.DRAFT_3,
    "draft-04": Draft.DRAFT_4,
    "draft-05": Draft.DRAFT_4,
    "draft-06": Draft.DRAFT_6,
    "draft-07": Draft.DRAFT_7,
    "draft/2019-09": Draft.DRAFT_2019_09,
    "draft/2020-12": Draft.DRAFT_2020_12,
}
"""Parts of the URIs of their metaschemas."""


def named_draft(uri: object) -> Draft | None:
    """Return the draft that the URI of a metaschema names: `"http://json-schema.org/draft-07/schema#"` → draft 7."""
    return next((draft for name, draft in _NAMES.items() if name in str(uri)), None)


_ONE = {
    **dict.fromkeys(("additionalItems", "additionalProperties", "items"), Draft.DRAFT_3),
    "not": Draft.DRAFT_4,
    **dict.fromkeys(("contains", "propertyNames"), Draft.DRAFT_6),
    **dict.fromkeys(("else", "if", "then"), Draft.DRAFT_7),
    **dict.fromkeys(("contentSchema", "unevaluatedItems", "unevaluatedProperties"), Draft.DRAFT_2019_09),
}
"""Keywords that hold a schema, with the first draft that has them; `items` may be a list of them."""

_SEVERAL = {
    **dict.fromkeys(("definitions", "dependencies", "patternProperties", "properties"), Draft.DRAFT_3),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), Draft.DRAFT_4),
    **dict.fromkeys(("$defs", "dependentSchemas"), Draft.DRAFT_2019_09),
    "prefixItems": Draft.DRAFT_2020_12,
}
"""Keywords that hold a list of schemas, or an object of them."""


_FIRST = {
    **_ONE,
    **_SEVERAL,
    "const": Draft.DRAFT_6,
    **dict.fromkeys(("dependentRequired", "maxContains", "minContains"), Draft.DRAFT_2019_09),
}
"""The first draft that has a keyword."""

_VOCABULARIES = {
    "applicator": frozenset({*_ONE, *_SEVERAL})
    - {"$defs", "contentSchema", "definitions", "unevaluatedItems", "unevaluatedProperties"},
    "unevaluated": frozenset({"unevaluatedItems", "unevaluatedProperties"}),
    "validation": frozenset(
        {
            *("const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems"),
            *("maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties"),
            *("minimum", "multipleOf", "pattern", "required", "type", "uniqueItems"),
        }
    ),
}
"""The keywords that forbid something, by the vocabulary that they belong to."""


def has_vocabulary(uri: str) -> bool:
    """Tell whether a vocabulary is one of the specification's."""
    return named_draft(uri) is not None and "/vocab/" in uri


def unsaid_keywords(vocabularies: Iterable[str], draft: Draft) -> frozenset[str]:
    """Return the keywords that forbid nothing where a metaschema names only some vocabularies (core §8.1.2)."""
    names = {uri.rpartition("/")[2] for uri in vocabularies}
    if draft is Draft.DRAFT_2019_09 and "applicator" in names:
        names.add("unevaluated")
    return frozenset().union(*(keywords for name, keywords in _VOCABULARIES.items() if name not in names))


class Kind(Enum):
    """What a value inside a schema is: a schema, a list or an object of schemas, or anything else."""

    SCHEMA = auto()
    SCHEMAS = auto()
    DATA = auto()

    def of_member(self, key: object, value: object, draft: Draft) -> "Kind":
        """Return what a member of a value of this kind is, by its key and value."""
        if self is Kind.SCHEMAS:
            return Kind.SCHEMA if isinstance(value, Mapping | bool) else Kind.DATA
        if self is Kind.DATA:
            return Kind.DATA
        first = _ONE.get(str(key))
        if first is not None and first <= draft and not isinstance(value, list):
            return Kind.SCHEMA
        first = first or _SEVERAL.get(str(key))
        return Kind.SCHEMAS if first is not None and first <= draft else Kind.DATA


def subschemas(schema: Mapping[str, Any], draft: Draft) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Yield the schemas directly inside a schema that are objects, and the keys that lead to each.

    `{"items": {}, "const": {"items": {}}}` → `(("items",), {})`
    """
    for key, value in schema.items():
        kind = Kind.SCHEMA.of_member(key, value, draft)
        if kind is Kind.SCHEMA and isinstance(value, Mapping):
            yield (key,), value
        elif kind is Kind.SCHEMAS and isinstance(value, Mapping | list):
            members = value.items() if isinstance(value, Mapping) else enumerate(value)
            yield from (((key, name), member) for name, member in members if isinstance(member, Mapping))
