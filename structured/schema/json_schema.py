"""A JSON Schema of the user's enters; an output type leaves, whose answers are plain Python data.

It is read by the specification, and an answer is validated by `jsonschema` with the same documents, drafts, formats and
regular expressions. Where `jsonschema` cannot tell (it takes every reference to a dynamic name for a dynamic one, and
follows a schema that refers to itself in place for ever), the mask alone vouches for the answer.
"""

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, get_args

from structured.arguments import check_fields, flag, instance, one_of, shown, text
from structured.errors import SchemaError
from structured.schema.drafts import Draft, named_draft
from structured.schema.evaluation import rejection
from structured.schema.place import Compilation, KeyOrder, Optionals, Place, Reading, Schema, Subschema
from structured.schema.whitespace import DEFAULT_WHITESPACE, read_whitespace

_FIELDS = {
    "documents": instance(Mapping, "{uri: schema}"),
    "draft": instance(Draft, "Draft.DRAFT_7, of structured.schema"),
    "assert_formats": flag,
    "key_order": one_of(get_args(KeyOrder)),
    "name": text,
}


@dataclass(frozen=True, slots=True, repr=False)
class JsonSchema:
    """An output type: the JSON values that a JSON Schema allows, as plain Python data.

    `extract(JsonSchema({"type": "array", "items": {"type": "integer"}}), "1, 2 and 3")` → `[1, 2, 3]`

    Two are equal if they say the same in the same order. Raises SchemaError when it is made if the schema is malformed;
    whether it can be honoured is told when it is used.

    Parameters:
        schema: The schema: a mapping, `True` or `False`, or its JSON text.
        documents: Other schemas that it refers to, by their URIs. The metaschemas are known, and nothing is fetched.
        draft: The edition of the specification of schemas that name none by `$schema`.
        assert_formats: Whether `format` forbids anything; if not, it is an annotation (validation §7.2.1).
        key_order: Whether properties are written in the order of the schema, others after them, or in any order. Those
            that are counted, and those that are asked for by what they hold, keep their places in either.
        name: What it is called in prompts and errors; by default its `title`.
    """

    schema: Schema | bool | str = field(compare=False)
    _: KW_ONLY
    documents: Mapping[str, Schema | bool] = field(default_factory=dict, compare=False)
    draft: Draft = Draft.DRAFT_2020_12
    assert_formats: bool = True
    key_order: KeyOrder = "schema"
    name: str = ""
    _text: str = field(init=False)

    def __post_init__(self) -> None:
        check_fields(self, _FIELDS)
        schema = _read(self.schema) if isinstance(self.schema, str) else _copied(self.schema, "The schema")
        documents = {uri: _copied(document, f"The document {uri!r}") for uri, document in self.documents.items()}
        if not isinstance(schema, dict | bool):
            raise SchemaError(f"{shown(schema)} is not a schema", remedy="Use an object, true or false.")
        title = schema.get("title") if isinstance(schema, dict) else None
        set_field = object.__setattr__
        set_field(self, "schema", schema)
        set_field(self, "documents", documents)
        set_field(self, "name", self.name or (title if isinstance(title, str) and title else "JsonSchema"))
        set_field(self, "_text", json.dumps([schema, documents]))
        if isinstance(schema, dict):
            _check(schema, named_draft(schema.get("$schema")) or self.draft)

    def __repr__(self) -> str:
        return f"JsonSchema(name={self.name!r})"

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> Any:
        """Refuse to be a part of a type: Pydantic would not validate what it describes."""
        raise SchemaError(
            f"{self!r} stands inside of a type", remedy="Use it as the output type itself, or write the part as a type."
        )

    def compilation(self, whitespace: str = DEFAULT_WHITESPACE, optional: Optionals = "written") -> Compilation:
        """Return what compiles it: numbers are plain, so that no model may run on with digits."""
        assert not isinstance(self.schema, str), "it is read when it is made"
        return Compilation(
            self.schema,
            read_whitespace(whitespace),
            Reading.SPECIFICATION,
            optional,
            self.assert_formats,
            plain_numbers=True,
            key_order=self.key_order,
            documents=self.documents,
            draft=self.draft,
        )


class PlainData:
    """What `pydantic.TypeAdapter` is for a type, for a `JsonSchema`."""

    def __init__(self, json_schema: JsonSchema) -> None:
        compilation = json_schema.compilation()
        self._root = Subschema(compilation.root, Place(compilation))

    def validate_json(self, text: str | bytes) -> Any:
        """Return the value of a JSON text. Raises ValueError if the schema does not allow it."""
        return self.validate_python(json.loads(text))

    def validate_python(self, value: Any) -> Any:
        """Return a value. Raises ValueError if the schema does not allow it."""
        reason = rejection(self._root, value)
        if reason is not None:
            raise ValueError(reason)
        return value

    def dump_python(self, value: Any, *, mode: str = "json", by_alias: bool = True) -> Any:  # noqa: ARG002  as Pydantic's
        """Return the value, which is plain already."""
        return value


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SchemaError(f"The schema is no JSON text: {error}", remedy="Correct it, or pass a mapping.") from error


def _copied(value: Any, what: str) -> Any:
    """Return a value as JSON would give it back, so that nobody can change it from outside."""
    try:
        return json.loads(json.dumps(_plain(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"{what} is no JSON value: {error}", remedy="Use plain Python data.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_name(name): _plain(member) for name, member in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name {name!r} is no string")
    return name


def _check(schema: Schema, draft: Draft) -> None:
    """Refuse what the metaschema of a draft does not allow."""
    from jsonschema import FormatChecker
    from jsonschema import SchemaError as MalformedError
    from jsonschema.validators import validator_for

    try:
        validator_for({"$schema": draft.metaschema}).check_schema(schema, format_checker=FormatChecker(formats=()))
    except MalformedError as error:
        path = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in error.absolute_path)
        raise SchemaError(
            f"The schema is malformed: {error.message}", schema_path=path, remedy="Correct it; see the specification."
        ) from error
