"""Drafts of the specification: the value of `$schema`, and the keywords under which each draft has subschemas."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, IntEnum, auto
from typing import Any


class SchemaDraft(IntEnum):
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
        name = next(name for name, draft in _NAMES.items() if draft is self)
        uri = f"//json-schema.org/{name}/schema"
        return f"http:{uri}#" if self <= self.DRAFT_7 else f"https:{uri}"

    @property
    def identifier(self) -> str:
        """The keyword that gives a schema its URI."""
        return "id" if self <= SchemaDraft.DRAFT_4 else "$id"

    def has(self, keyword: str) -> bool:
        """Tell whether the draft has a keyword that some draft has. A keyword that a later draft replaced is kept."""
        return self >= _FIRST_DRAFTS.get(keyword, SchemaDraft.DRAFT_3)

    @property
    def ignores_siblings(self) -> bool:
        """Whether keywords beside a `$ref` are ignored (draft-handrews-json-schema-01 §8.3)."""
        return self <= SchemaDraft.DRAFT_7


_NAMES = {
    "draft-03": SchemaDraft.DRAFT_3,
    "draft-04": SchemaDraft.DRAFT_4,
    "draft-05": SchemaDraft.DRAFT_4,
    "draft-06": SchemaDraft.DRAFT_6,
    "draft-07": SchemaDraft.DRAFT_7,
    "draft/2019-09": SchemaDraft.DRAFT_2019_09,
    "draft/2020-12": SchemaDraft.DRAFT_2020_12,
}
"""Parts of the URIs of their metaschemas."""


def named_draft(uri: object) -> SchemaDraft | None:
    """Return the draft that the URI of a metaschema names: `"http://json-schema.org/draft-07/schema#"` → draft 7."""
    return next((draft for name, draft in _NAMES.items() if name in str(uri)), None)


_HOLDING_A_SCHEMA = {
    **dict.fromkeys(("additionalItems", "additionalProperties", "items"), SchemaDraft.DRAFT_3),
    "not": SchemaDraft.DRAFT_4,
    **dict.fromkeys(("contains", "propertyNames"), SchemaDraft.DRAFT_6),
    **dict.fromkeys(("else", "if", "then"), SchemaDraft.DRAFT_7),
    **dict.fromkeys(("contentSchema", "unevaluatedItems", "unevaluatedProperties"), SchemaDraft.DRAFT_2019_09),
}
"""Keywords that hold a schema, with the first draft that has them; `items` may be a list of schemas."""

_HOLDING_SCHEMAS = {
    **dict.fromkeys(("definitions", "dependencies", "patternProperties", "properties"), SchemaDraft.DRAFT_3),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), SchemaDraft.DRAFT_4),
    **dict.fromkeys(("$defs", "dependentSchemas"), SchemaDraft.DRAFT_2019_09),
    "prefixItems": SchemaDraft.DRAFT_2020_12,
}
"""Keywords that hold a list of schemas, or an object of them."""


_FIRST_DRAFTS = {
    **_HOLDING_A_SCHEMA,
    **_HOLDING_SCHEMAS,
    "const": SchemaDraft.DRAFT_6,
    **dict.fromkeys(("dependentRequired", "maxContains", "minContains"), SchemaDraft.DRAFT_2019_09),
}
"""The first draft that has a keyword."""


def has_vocabulary(uri: str) -> bool:
    """Tell whether a vocabulary is one of the specification's."""
    return named_draft(uri) is not None and "/vocab/" in uri


def omitted_keywords(vocabularies: Iterable[str], draft: SchemaDraft) -> frozenset[str]:
    """Return the keywords that forbid nothing where a metaschema names only some vocabularies (core §8.1.2)."""
    from jsonschema_specifications import REGISTRY

    names = {uri.rpartition("/")[2] for uri in vocabularies}
    omitted: list[Any] = [
        REGISTRY.get(f"{draft.metaschema.removesuffix('schema')}meta/{name}")
        for name in ("applicator", "unevaluated", "validation")
        if name not in names
    ]
    return frozenset(keyword for metaschema in omitted if metaschema for keyword in metaschema.contents["properties"])


Keys = tuple[str | int, ...]


class MemberKind(Enum):
    """The kind of a value inside a schema: a schema, a list or an object of schemas, or any other data."""

    SCHEMA = auto()
    SCHEMAS = auto()
    DATA = auto()

    def of_member(self, key: object, value: object, draft: SchemaDraft) -> "MemberKind":
        """Return the kind of a member of such a value, by its key and value."""
        if self is MemberKind.SCHEMAS:
            return MemberKind.SCHEMA if isinstance(value, Mapping | bool) else MemberKind.DATA
        if self is MemberKind.DATA:
            return MemberKind.DATA
        first = _HOLDING_A_SCHEMA.get(str(key))
        if first is not None and first <= draft and not isinstance(value, list):
            return MemberKind.SCHEMA
        first = first or _HOLDING_SCHEMAS.get(str(key))
        return MemberKind.SCHEMAS if first is not None and first <= draft else MemberKind.DATA


def subschemas(schema: Mapping[str, Any], draft: SchemaDraft) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    """Yield the schemas directly inside a schema that are objects, and the keys that lead to each.

    `{"items": {}, "const": {"items": {}}}` → `(("items",), {})`
    """
    for key, value in schema.items():
        kind = MemberKind.SCHEMA.of_member(key, value, draft)
        if kind is MemberKind.SCHEMA and isinstance(value, Mapping):
            yield (key,), value
        elif kind is MemberKind.SCHEMAS and isinstance(value, Mapping | list):
            members = value.items() if isinstance(value, Mapping) else enumerate(value)
            yield from (((key, name), member) for name, member in members if isinstance(member, Mapping))
