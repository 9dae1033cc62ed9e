"""Grounded values: the marks of values that a document has to state, and the statements of a document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property, lru_cache
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import GetJsonSchemaHandler

from structured.automata.quotations import IndexedDocument
from structured.errors import SchemaError
from structured.errors.arguments import one_of
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import SchemaDraft, subschemas
from structured.json_schema.document.location import GROUNDED, GROUNDED_AFTERWARDS, Schema, Subschema
from structured.json_schema.grounding import GROUNDABLE, is_stated_in_forms
from structured.json_schema.nullable import can_be_null, types_of
from structured.output_types.paths import FieldSelection
from structured.output_types.schema_parts import (
    FIELDS_AND_ITEMS,
    NON_ASSERTING_KEYWORDS,
    edited_at,
    flattened,
    known_targets,
    list_at,
    with_schema_at,
)
from structured.output_types.stated_dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import Span, stated_numbers
from structured.regex import Pattern

T = TypeVar("T")

QuotationBoundary = Literal["words", "characters"]
"""Where a quotation may begin and end."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """The mark of a value that the document has to state: `Annotated[str, Grounding("characters")]`.

    Attributes:
        boundary: Where a quotation may begin and end: at the boundaries of words (default), or of characters.

    Raises:
        ValueError: The boundary is neither `"words"` nor `"characters"`.
    """

    boundary: QuotationBoundary = "words"

    def __post_init__(self) -> None:
        one_of(get_args(QuotationBoundary))("boundary", self.boundary)

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: GetJsonSchemaHandler | None = None
    ) -> dict[str, Any]:
        if handler is None:  # of the class itself
            remedy = "Write Grounding(), as in Annotated[str, Grounding()]."
            raise SchemaError("Grounding is a class, and marks nothing", remedy=remedy)
        return {**handler(core_schema), GROUNDED: self.boundary}


Grounded = Annotated[T, Grounding()]
"""A value that the document states: a string that it holds on the boundaries of words, a number or a date that it
writes in any form. `name: Grounded[str]`, `total: Grounded[Decimal]`, `lines: list[Grounded[str]]`."""


@deep
def with_grounding(root: Subschema, grounded: FieldSelection) -> Schema:
    """Return a schema in which the values that the document has to state are marked.

    With True, these are all strings, numbers, dates and times, but for enums; with False, none. Raises SchemaError for
    a path that leads to no field, and for a field that cannot be read off a document.
    """
    if isinstance(grounded, bool):
        return _marked_everywhere(root, None) if grounded else root.schema
    return edited_at(root, grounded, _mark_field, keywords=FIELDS_AND_ITEMS)


@deep
def grounding_marks(schema: object) -> Iterator[str]:
    """Yield the marks in a schema."""
    if isinstance(schema, Mapping):
        if GROUNDED in schema:
            yield schema[GROUNDED]
        for _, inside in subschemas(schema, max(SchemaDraft)):
            yield from grounding_marks(inside)


@deep
def with_everything_grounded(root: Subschema) -> Schema:
    """Return a schema in which all strings, numbers, dates and times have to be stated, but for enums.

    A text that may be null, and one that is an item of a list, is written freely, and removed where the document does
    not have it: a model that may write quotations alone, and has begun a text that the document does not have, cannot
    go back to null and quotes something else. Where a rule around the text may reject what is left, such as `contains`
    or another branch of `allOf`, the text can only be quoted.
    """
    return _marked_everywhere(root, _pointers_under_rules(root))


def _can_be_grounded(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema has only values that can be read off a document."""
    types = types_of(schema)
    return bool(types - {"null"}) and types <= GROUNDABLE and not schema.keys() & _CONCLUSION_KEYWORDS


_CONCLUSION_KEYWORDS = frozenset({"enum", "const", "contentSchema"})


@deep
def _marked_everywhere(part: Subschema, quoted_pointers: set[str] | None, *, may_be_missing: bool = False) -> Schema:
    """Return a schema in which all values that can be stated are marked.

    A text that can be removed is marked as such, unless its JSON Pointer is in `quoted_pointers`, or that is None.
    """
    schema: Schema = part.schema
    for keys, _ in subschemas(schema, part.location.draft) if isinstance(schema, Mapping) else ():
        if keys[0] != "propertyNames":
            is_branch = keys[0] in {"anyOf", "oneOf"}
            is_item = keys == ("items",) and "prefixItems" not in schema
            is_replaceable = is_item or (is_branch and (may_be_missing or can_be_null(part)))
            marked = _marked_everywhere(part.subschema(*keys), quoted_pointers, may_be_missing=is_replaceable)
            schema = with_schema_at(schema, keys, marked)
    if not isinstance(schema, Mapping) or GROUNDED in schema or not _can_be_grounded(schema):
        _refuse_half_grounded(part)
        return schema
    is_text = types_of(schema) - {"null"} == {"string"} and not is_stated_in_forms(schema)
    can_be_removed = is_text and (may_be_missing or "null" in types_of(schema))
    if can_be_removed and quoted_pointers is not None and part.location.pointer not in quoted_pointers:
        return {**schema, GROUNDED_AFTERWARDS: True}
    return {**schema, GROUNDED: "words"}


def _refuse_half_grounded(part: Subschema) -> None:
    """Raise SchemaError where a schema names types of which only some can be read off a document."""
    schema = part.schema
    if isinstance(schema, Mapping) and "type" in schema and GROUNDED not in schema:
        types = types_of(schema) - {"null"}
        if types & GROUNDABLE and not types <= GROUNDABLE and not schema.keys() & _CONCLUSION_KEYWORDS:
            problem = f"A value of the types {', '.join(sorted(map(str, types)))} can be grounded only in part"
            remedy = "Write the types as branches of anyOf, or name the paths that have to be grounded."
            raise part.location.refusal(problem, keyword="type", remedy=remedy)


_RULES_FOR_ALL_INSIDE = frozenset(
    {
        *("$dynamicRef", "$recursiveRef", "const", "contains", "dependencies", "dependentSchemas", "enum", "if", "not"),
        "unevaluatedItems",
    }
)
"""Keywords by which a value may be rejected for a text in it that is removed or becomes null."""

_SILENT_KEYWORDS = NON_ASSERTING_KEYWORDS | {
    *("dependentRequired", "discriminator", "maxProperties", "minProperties", "required")
}
"""Keywords that say nothing of the values in an object or a list."""


def _pointers_under_rules(root: Subschema) -> set[str]:
    """Return the JSON Pointers of schemas whose values cannot be removed or become null: a rule may reject the rest.

    `{"allOf": [{"items": {"type": "string"}}, {"minItems": 2}]}` → `/allOf/0/items`, among others
    """
    pointers: set[str] = set()
    visited: set[tuple[str, bool, bool]] = set()
    unvisited = [(root, False, False)]
    while unvisited:
        part, stays, inner_stays = unvisited.pop()
        visit = (part.location.pointer, stays, inner_stays)
        if visit in visited or not isinstance(part.schema, Mapping):
            continue
        visited.add(visit)
        if not _RULES_FOR_ALL_INSIDE.isdisjoint(part.schema) or _is_combined(part.schema):
            stays = inner_stays = True
        pointers |= {part.location.pointer} if stays else set()
        unvisited += [(target, stays, inner_stays) for target in known_targets(part)]
        for keys, _ in subschemas(part.schema, part.location.draft):
            if keys[0] not in ("$defs", "definitions"):
                rules = _stays_below(part, keys[0], stays=stays, inner_stays=inner_stays)
                unvisited.append((part.subschema(*keys), *rules))
    return pointers


def _stays_below(part: Subschema, keyword: str | int, *, stays: bool, inner_stays: bool) -> tuple[bool, bool]:
    """Return whether a value below a keyword, and one inside it, has to stay: a rule may reject what is left."""
    schema, is_type = part.schema, part.location.is_type
    match keyword:
        case "allOf" | "anyOf":
            return stays, inner_stays
        case "oneOf":
            is_chosen = is_type or "discriminator" in schema
            return stays or not is_chosen, inner_stays or not is_chosen
        case "items" if isinstance(schema["items"], Mapping):
            must_differ = not is_type and schema.get("uniqueItems") is True  # Pydantic drops repetitions
            return inner_stays or bool(schema.get("minItems")), inner_stays or must_differ
        case "properties" | "patternProperties":
            patterns = schema.get("patternProperties", ())
            stays_inside = inner_stays or len(patterns) > 1 or (bool(patterns) and "properties" in schema)
            return stays_inside, stays_inside
        case "additionalProperties" | "prefixItems":
            return inner_stays, inner_stays
    return True, True  # the text would not be found again


def _is_combined(schema: Schema) -> bool:
    """Tell whether a schema, with those that hold for the same value, says several things of the values inside."""
    own = {keyword: rule for keyword, rule in schema.items() if keyword not in {"$ref", "allOf", "anyOf", "oneOf"}}
    choices = [any(map(_says_something, list_at(schema, keyword))) for keyword in ("anyOf", "oneOf")]
    said = [_says_something(own), "$ref" in schema, *map(_says_something, list_at(schema, "allOf")), *choices]
    return sum(said) > 1


def _says_something(schema: object) -> bool:
    """Tell whether a schema says something of the values in an object or a list."""
    if not isinstance(schema, Mapping):
        return False
    closing = {keyword for keyword in ("additionalProperties", "unevaluatedProperties") if schema.get(keyword) is False}
    return bool(schema.keys() - _SILENT_KEYWORDS - closing)


def _mark_field(part: Subschema, schema: Any) -> Any:
    """Return the schema of a field with a mark. Raises SchemaError where no document states its values."""
    options = flattened([part])
    if not any(_can_be_grounded(option.schema) for option in options):
        raise part.location.refusal(
            "Only a string, a number, a date or a time can be grounded: an enum and a boolean are conclusions, and of "
            "an object or a list the fields and items are grounded",
            keyword="type",
            remedy="Leave the path out, or name the items or fields inside: tags[], lines[].price.",
        )
    return {
        **schema,
        GROUNDED: next((option.schema[GROUNDED] for option in options if GROUNDED in option.schema), "words"),
    }


MAX_PLACES = 20_000
"""The most places of one quotation that are returned."""


class DocumentStatements:
    """The texts, numbers, dates and times that a document states; each is looked for when it is first asked for."""

    def __init__(self, document: str) -> None:
        self.document = document

    @staticmethod
    @lru_cache(maxsize=8)
    def of(document: str) -> "DocumentStatements":
        """Return the statements of a document; the same object for the same text."""
        return DocumentStatements(document)

    @cached_property
    def _words(self) -> IndexedDocument:
        return IndexedDocument(self.document)

    @cached_property
    def _characters(self) -> IndexedDocument:
        return IndexedDocument(self.document, any_character=True)

    def quotation(
        self,
        boundary: str,
        included: Sequence[Pattern],
        excluded: Sequence[Pattern],
        *,
        minimum: int,
        maximum: int | None,
    ) -> Pattern | None:
        """Return the inside of the JSON strings that quote the document and keep some rules; None if there are none."""
        indexed = self._characters if boundary == "characters" else self._words
        return indexed.quotation(included, excluded, minimum=minimum, maximum=maximum)

    def places(self, quoted: str) -> list[Span]:
        """Return the spans of a quotation: those on word boundaries or, without any, all."""
        on_words = list(islice(self._words.find(quoted), MAX_PLACES))
        return on_words or list(islice(self._characters.find(quoted), MAX_PLACES))

    def spellings(self, kind: str) -> Iterator[Sequence[str]]:
        """Yield, for each stated value of a kind, how JSON may spell it, the usual first."""
        read_statements, spell = _READERS_AND_SPELLERS[kind]
        values_by_key: dict[Any, Any] = {}
        for value in (reading for statement in read_statements(self.document) for reading in statement.values):
            key = value if kind == "number" else value.isoformat()  # equal times may have other zones
            values_by_key.setdefault(key, value)
        yield from map(spell, values_by_key.values())


def _time_spellings(value: time | datetime) -> Sequence[str]:
    """Return a time with seconds: one without a zone also in UTC, and UTC in both of its spellings.

    The first that a type allows is written. So UTC is put in only where the type demands a zone (`AwareDatetime`) and
    the document states none, as in most documents: there nothing else could be written.

    `09:40` → `09:40:00`, `09:40:00Z`
    """
    iso_text = value.isoformat()
    return (iso_text, f"{iso_text}Z") if value.tzinfo is None else (iso_text, iso_text.replace("+00:00", "Z"))


_READERS_AND_SPELLERS: dict[str, tuple[Any, Any]] = {
    "number": (stated_numbers, lambda value: (f"{value:f}", f"{value.normalize():f}")),  # without last zeros, too
    "date": (stated_dates, lambda day: (day.isoformat(),)),
    "date-time": (stated_datetimes, _time_spellings),
    "time": (stated_times, _time_spellings),
}
