"""Output types as plain data, and back.

Where this library is behind a server, or inside of an engine, it runs in processes of its own and takes requests from
anybody. So what a request says of its answer is plain data: no code travels, and nothing in it names code. A type of
Python is sent as the description that the library compiles, with all that JSON Schema has no words for, so that the
masks there are those of `extract` here. The type itself stays with the caller, who reads the answer with it. Rejected:
pickled types, which run code where they are read; and the JSON Schema that servers of others get, which says less.

A constraint is an object with one of these keys, and options beside it:

    {"type": description, "whitespace": …, "optional_properties": …, "task": …}
    {"json": schema, "whitespace": …, "optional_properties": …, "draft": …, "documents": …, "assert_formats": …,
     "key_order": …, "task": …}
    {"regex": expression, "flags": …, "dialect": …}
    {"choice": [text, …]}
    {"grammar": text, "start": …, "language": "Lark" or "GBNF", "description": …}

`task` and `description` are what a prompt says, where that is not what it says of any such type.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from structured.errors import SchemaError
from structured.errors.arguments import count, one_of, or_none, text
from structured.errors.recursion import with_room
from structured.errors.values import message, shown
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.whitespace import DEFAULT_WHITESPACE
from structured.output_types.choice import Choice
from structured.output_types.grammar import Grammar, is_gbnf
from structured.output_types.json_output import JsonLayout, JsonOutput, type_description
from structured.output_types.json_schema import JsonSchema, JsonSchemaType, check_document
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.output_type import OutputType, automaton_of
from structured.output_types.regex import Regex
from structured.output_types.remote_constraints import constraint_of, refuse_grounding
from structured.output_types.resolve import resolve_json, resolve_type

MAX_CONSTRAINT_CHARACTERS = 1_000_000
"""Of a constraint as text."""


@dataclass(frozen=True, eq=False)
class DescribedType(JsonOutput[Any]):
    """A type of Python that another process has described; its answers are plain data."""

    def parse(self, text: str) -> Any:
        """Return the data of an answer."""
        return with_room(json.loads, text)

    def plain(self, value: Any) -> Any:
        """Return a value, which is plain already."""
        return value


def type_to_data(output_type: OutputType[Any]) -> dict[str, Any]:
    """Return the constraint of an output type. Raises SchemaError if there is none."""
    refuse_grounding(output_type)
    match output_type:
        case JsonSchemaType(source=source):
            options = {key: getattr(source, key) for key in ("documents", "assert_formats", "key_order")}
            return {"json": source.schema, "draft": int(source.draft), **options, **_common_members(output_type)}
        case MissingFieldsType(base_type=JsonSchemaType() as schema_type):
            return {**type_to_data(schema_type), "json": output_type.schema, **_common_members(output_type)}
        case JsonOutput():
            return {"type": output_type.compilation().root, **_common_members(output_type)}
        case Regex():
            return {"regex": output_type.source, "flags": int(output_type.flags), "dialect": output_type.dialect}
        case Choice():
            return {"choice": list(output_type.options)}
        case Grammar() if not output_type.has_external_inputs:
            language, text = "GBNF" if is_gbnf(output_type) else "Lark", output_type.describe().text
            description = {} if text == output_type.grammar.strip() else {"description": text}
            return {"grammar": output_type.grammar, "start": output_type.start, "language": language, **description}
    constraint_of(output_type)  # which says what is wrong
    raise SchemaError(f"{output_type.name} cannot be sent", remedy="Write it as a Regex or a Grammar.")


def _common_members(output_type: JsonOutput[Any]) -> dict[str, Any]:
    optional_properties = output_type.compilation().optional_properties
    members = {"whitespace": output_type.layout.whitespace, "optional_properties": optional_properties}
    task, default_task = output_type.describe().task, type_description("", output_type.root).task
    return members if task == default_task else {**members, "task": task}


def type_to_text(output_type: object, layout: JsonLayout | None) -> str:
    """Return the constraint of what a caller means by a type, as JSON. Raises SchemaError if there is none."""
    data = type_to_data(resolve_type(output_type, layout=layout))
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=256)
def text_to_type(text: str) -> OutputType[Any]:
    """Return the output type that a constraint means, compiled as far as that needs no vocabulary.

    The same text gives the same object, so that what is compiled of it is kept. Raises SchemaError, or PatternError, if
    it means none.
    """
    if len(text) > MAX_CONSTRAINT_CHARACTERS:
        raise SchemaError(
            f"The constraint has {len(text):,} characters, and {MAX_CONSTRAINT_CHARACTERS:,} are taken",
            remedy="Shorten it.",
        )
    try:
        data = with_room(json.loads, text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"The constraint is not JSON: {message(error)}", remedy=REMEDY) from error
    return data_to_type(data)


def data_to_type(data: Any) -> OutputType[Any]:
    """Return the output type that a constraint means, compiled as far as that needs no vocabulary.

    Raises SchemaError, or PatternError, if it means none.
    """
    check_document(data, "The constraint")
    kinds = [kind for kind in _KINDS if isinstance(data, dict) and kind in data]
    if len(kinds) != 1:
        raise SchemaError(f"The constraint is {shown(data)}: it must have one of {', '.join(_KINDS)}", remedy=REMEDY)
    [kind] = kinds
    options = {name: value for name, value in data.items() if name != kind}
    read, members = _KINDS[kind]
    unknown_members = [name for name in options if name not in members]
    if unknown_members:
        raise SchemaError(f"The constraint {kind!r} has the unknown member {unknown_members[0]!r}", remedy=REMEDY)
    try:
        output_type = read(data[kind], **options)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"The constraint {kind!r} is wrong: {message(error).rstrip('.')}", remedy=REMEDY) from error
    automaton_of(output_type, None)
    refuse_grounding(output_type)
    return output_type


def _read_type(
    description: Any, *, whitespace: Any = DEFAULT_WHITESPACE, optional_properties: Any = "written", task: Any = None
) -> DescribedType:
    if not isinstance(description, Mapping | bool):
        raise TypeError(f"{shown(description)} describes no type")
    title = description.get("title") if isinstance(description, Mapping) else None
    name = title if isinstance(title, str) and title else "Type"
    layout = JsonLayout(whitespace, optional_properties)
    return DescribedType(name, description, layout, task=or_none(text)("task", task))


def _read_json_schema(
    schema: Any,
    *,
    whitespace: Any = DEFAULT_WHITESPACE,
    optional_properties: Any = "written",
    draft: int = int(SchemaDraft.DRAFT_2020_12),
    task: Any = None,
    **options: Any,
) -> OutputType[Any]:
    source = JsonSchema(schema, draft=SchemaDraft(draft), **options)
    resolved = resolve_json(source, JsonLayout(whitespace, optional_properties))
    return resolved if task is None else replace(resolved, task=text("task", task))


def _read_choice(texts: Any) -> Choice[str]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{shown(texts)} is no list of texts")
    return Choice(texts)


def _read_grammar(grammar: Any, *, language: Any = "Lark", start: Any = None, description: Any = None) -> Grammar[str]:
    one_of(("Lark", "GBNF"))("language", language)
    description_text = or_none(text)("description", description)
    if language == "GBNF":
        return Grammar.from_gbnf(grammar, "root" if start is None else start, description=description_text)
    return Grammar(grammar, "start" if start is None else start, description=description_text)


_JSON_MEMBERS = ("whitespace", "optional_properties", "task")
_KINDS: Mapping[str, tuple[Callable[..., OutputType[Any]], Collection[str]]] = {
    "type": (_read_type, _JSON_MEMBERS),
    "json": (_read_json_schema, (*_JSON_MEMBERS, "draft", "documents", "assert_formats", "key_order")),
    "regex": (
        lambda expression, flags=0, **dialect: Regex(expression, flags=count(0)("flags", flags), **dialect),
        ("flags", "dialect"),
    ),
    "choice": (_read_choice, ()),
    "grammar": (_read_grammar, ("language", "start", "description")),
}
"""The kinds of constraints: what reads one, and the other members that it may have."""

REMEDY = "Write it with this library, of the same version."
"""The remedy for data that are no constraint."""
