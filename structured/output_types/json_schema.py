"""JSON Schemas as output types; their answers are plain Python data.

It is read by the specification, and an answer is validated by `jsonschema` with the same documents, drafts, formats and
regular expressions. Where `jsonschema` cannot tell (it takes every reference to a dynamic name for a dynamic one, and
follows a schema that refers to itself in place for ever), the mask alone vouches for the answer.
"""

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

from structured.errors import SchemaError
from structured.errors.arguments import check_fields, flag, instance, one_of, or_none, text
from structured.errors.recursion import deep, with_room
from structured.errors.values import shown
from structured.json_schema.document.drafts import SchemaDraft, named_draft, subschemas
from structured.json_schema.document.library import Path, pointer_of
from structured.json_schema.document.location import MARKS, Compilation, KeyOrder, Reading, Schema, Subschema
from structured.json_schema.logic.validity import check_well_formed, rejection
from structured.json_schema.whitespace import read_whitespace
from structured.output_types.json_output import DEFAULT_LAYOUT, JsonLayout, JsonOutput, root_of
from structured.output_types.missing_values import MissingFieldsType, chosen_properties, with_missing_properties
from structured.output_types.paths import FieldSelection

_FIELD_CHECKS = {
    "documents": instance(Mapping, "{uri: schema}"),
    "draft": instance(SchemaDraft, "SchemaDraft.DRAFT_7, of structured.json_schema"),
    "assert_formats": or_none(flag),
    "key_order": one_of(get_args(KeyOrder)),
    "name": text,
}

MAX_NESTED_BRACKETS = 500
"""Brackets inside each other in a schema: Python reads no more than about twice as many."""


@dataclass(frozen=True, slots=True, repr=False)
class JsonSchema:
    """An output type: the values that a JSON Schema allows, as plain Python data.

    `extract(JsonSchema({"type": "array", "items": {"type": "integer"}}), "1, 2 and 3")` → `[1, 2, 3]`

    It is frozen, and holds a copy of the schema. Two are equal if they say the same in the same order.

    Parameters:
        schema: A mapping, `True` or `False`, or a JSON text.
        documents: Other schemas that it refers to, by their URIs. The metaschemas are known, and nothing is fetched.
        draft: The draft of schemas that do not name one by `$schema`.
        assert_formats: Whether validators assert `format`; if not, it is an annotation (validation §7.2.1). By default,
            what is written is valid to both: formats are enforced, and refused where a text would have to be of none.
        key_order: `"schema"` writes properties in the order of the schema, others after them; `"any"` lets the model
            choose. Properties that are counted, that are asked for by what they hold, or that listed values have
            keep their places in either case.
        name: Its name in prompts and errors; by default its `title`.

    Raises:
        SchemaError: The schema is malformed. What cannot be enforced exactly is refused when the schema is used.
    """

    schema: Schema | bool | str = field(compare=False)
    _: KW_ONLY
    documents: Mapping[str, Schema | bool] = field(default_factory=dict, compare=False)
    draft: SchemaDraft = SchemaDraft.DRAFT_2020_12
    assert_formats: bool | None = None
    key_order: KeyOrder = "schema"
    name: str = ""
    _text: str = field(init=False)

    @deep
    def __post_init__(self) -> None:
        check_fields(self, _FIELD_CHECKS)
        schema = _read(self.schema) if isinstance(self.schema, str) else _json_copy(self.schema, "The schema")
        documents = {uri: _json_copy(document, f"The document {uri!r}") for uri, document in self.documents.items()}
        if not isinstance(schema, dict | bool):
            raise SchemaError(f"{shown(schema)} is not a schema", remedy="Use an object, true or false.")
        title = schema.get("title") if isinstance(schema, dict) else None
        for noun, own_text in (("name", self.name), *(("URI of a document", uri) for uri in documents)):
            check_document(own_text, f"The {noun}")
        for document in (schema, *documents.values()):
            _remove_marks(document, self.draft)
        set_field = object.__setattr__
        set_field(self, "schema", schema)
        set_field(self, "documents", documents)
        set_field(self, "name", self.name or (title if isinstance(title, str) and title else "JsonSchema"))
        set_field(self, "_text", with_room(json.dumps, [schema, documents]))
        if isinstance(schema, dict):
            _check_against_metaschema(schema, named_draft(schema.get("$schema")) or self.draft)

    def __repr__(self) -> str:
        return f"JsonSchema(name={self.name!r})"

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> Any:
        """Refuse to be a part of a type: Pydantic would not validate what it describes."""
        raise SchemaError(
            f"{self!r} is part of a type", remedy="Use it as the output type itself, or write the part as a type."
        )

    def compilation(self, layout: JsonLayout = DEFAULT_LAYOUT, *, changed: Schema | bool | None = None) -> Compilation:
        """Return the compilation; of a changed schema, if there is one."""
        assert not isinstance(self.schema, str), "it is read when it is made"
        return Compilation(
            self.schema if changed is None else changed,
            read_whitespace(layout.whitespace),
            Reading.SPECIFICATION,
            layout.optional_properties,
            self.assert_formats,
            key_order=self.key_order,
            documents=self.documents,
            draft=self.draft,
        )


@dataclass(frozen=True, eq=False)
class JsonSchemaType(JsonOutput[Any]):
    """A `JsonSchema` in a layout; its answers are validated by `jsonschema`."""

    source: JsonSchema = field(repr=False, kw_only=True)

    _how_to_limit = "Limit the property, with maxLength or maxItems."

    def compilation(self) -> Compilation:
        """Return the compilation of the schema, which is read by the specification."""
        return self.source.compilation(self.layout, changed=self.schema)

    def compilation_options(self) -> list[object]:
        """Return the options, with those of the `JsonSchema`."""
        source = self.source
        options = [dict(source.documents), int(source.draft), source.assert_formats, source.key_order]
        return [*super().compilation_options(), *options]

    def with_missing(self, missing: FieldSelection) -> MissingFieldsType[Any]:
        """Return the type in which chosen optional properties may be missing."""
        chosen = self if isinstance(missing, bool) else replace(self, schema=chosen_properties(self.root, missing))
        schema = with_missing_properties(chosen.root, are_chosen=missing is not True)
        return MissingFieldsType(
            self.name, schema, self.layout, removes_unsupported=self.removes_unsupported, base_type=self
        )

    @cached_property
    def _validator(self) -> Subschema:
        return root_of(self.source.compilation())

    def parse(self, text: str) -> Any:
        """Return the value of a JSON text. Raises ValueError if the schema does not allow it."""
        try:
            return self.plain(with_room(json.loads, text))
        except RecursionError as error:
            raise ValueError("The answer has too many brackets inside each other to be read.") from error

    def plain(self, value: Any) -> Any:
        """Return a value, which is plain already. Raises ValueError if the schema does not allow it."""
        reason = rejection(self._validator, value)
        if reason is not None:
            raise ValueError(reason)
        return value


def check_document(value: Any, what: str) -> int:
    """Return how deeply brackets are nested in a schema, or a text that belongs to one.

    Raises SchemaError for more than are read, for a name that is no text, and for a lone surrogate, which UTF-8 cannot
    encode.
    """
    deepest = 0
    unvisited: list[tuple[Any, Path, int]] = [(value, None, 1)]
    while unvisited:
        item, path, depth = unvisited.pop()
        if isinstance(item, str):
            try:
                item.encode()
            except UnicodeEncodeError as error:
                raise SchemaError(
                    f"{what} holds a lone surrogate, {item[error.start]!r}, which is not a character",
                    schema_path=pointer_of(path).encode("utf-8", "backslashreplace").decode(),
                    remedy="Remove it, or replace it.",
                ) from error
        elif isinstance(item, Mapping | list | tuple):
            if depth > MAX_NESTED_BRACKETS:
                raise SchemaError(
                    f"{what} has more than {MAX_NESTED_BRACKETS} brackets inside each other",
                    remedy="Nest it less: write what is inside under $defs, and refer to it.",
                )
            deepest = max(deepest, depth)
            names = list(item) if isinstance(item, Mapping) else []
            for name in names:
                if not isinstance(name, str):
                    raise _no_json(what, f"the name {name!r} is not a string")
            unvisited += [(name, path, depth) for name in names]
            members = item.items() if isinstance(item, Mapping) else enumerate(item)
            nested = ((name, member) for name, member in members if not isinstance(member, _SCALARS))
            unvisited += [(member, (path, name), depth + 1) for name, member in nested]
    return deepest


_SCALARS = (int, float, type(None))


def _no_json(what: str, problem: object) -> SchemaError:
    return SchemaError(f"{what} is not a JSON value: {problem}", remedy="Use plain Python data.")


def _read(text: str) -> Any:
    try:
        schema = with_room(json.loads, text)
    except RecursionError as error:
        raise SchemaError(
            f"The schema has more than {MAX_NESTED_BRACKETS} brackets inside each other", remedy="Nest it less."
        ) from error
    except ValueError as error:
        raise SchemaError(f"The schema is not JSON: {error}", remedy="Correct it, or pass a mapping.") from error
    check_document(schema, "The schema")
    return schema


def _json_copy(value: Any, what: str) -> Any:
    """Return a value as JSON would give it back, so that nobody can change it from outside."""
    check_document(value, what)
    try:
        return with_room(json.loads, with_room(json.dumps, value, allow_nan=False, default=_to_dict))
    except (TypeError, ValueError) as error:
        raise _no_json(what, error) from error


def _to_dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return dict(value)


@deep
def _remove_marks(schema: Any, draft: SchemaDraft) -> None:
    """Remove the keywords of this library from a schema: to the specification, they mean nothing."""
    if isinstance(schema, dict):
        draft = named_draft(schema.get("$schema")) or draft
        for mark in MARKS & schema.keys():
            del schema[mark]
        for _, inside in subschemas(schema, draft):
            _remove_marks(inside, draft)


def _check_against_metaschema(schema: Schema, draft: SchemaDraft) -> None:
    """Raise SchemaError for a schema that the metaschema of its draft does not allow."""
    from jsonschema import FormatChecker
    from jsonschema import SchemaError as MalformedError

    try:
        is_deep = check_document(schema, "The schema") > 40  # fewer brackets need no more room on the stack
        check_well_formed(schema, draft, FormatChecker(formats=()), is_deep=is_deep)
    except MalformedError as error:
        path = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in error.absolute_path)
        raise SchemaError(
            f"The schema is malformed: {error.message}", schema_path=path, remedy="Correct it; see the specification."
        ) from error
