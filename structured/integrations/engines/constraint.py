"""Constraints of requests to engines: an output type as JSON text, and the output type that such a text means.

An engine runs in processes of its own, and takes requests from anybody. So what a request says of its answer is plain
data; no code travels. A type of Python is sent as the description that the library compiles, with all that JSON Schema
has no words for, so that the engine's masks are those of `extract`. The type itself stays with the caller, who reads
the answer with it. Rejected: pickled types, which run code where they are read; and the JSON Schema that servers of
others get, which says less.

A constraint is an object with one of these keys, and options beside it:

    {"type": description, "whitespace": …, "optional": …}          what `constraint` writes for a type of Python
    {"json": schema, "whitespace": …, "optional": …, "draft": …, "documents": …, "assert_formats": …, "key_order": …}
    {"regex": expression, "flags": …, "dialect": …}
    {"choice": [text, …]}
    {"grammar": text, "start": …, "language": "Lark" or "GBNF"}
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from structured.errors import SchemaError, StructuredError
from structured.errors.arguments import count, one_of
from structured.errors.recursion import with_room
from structured.errors.values import message, shown
from structured.json_schema.document.drafts import Draft
from structured.json_schema.document.location import Compilation, Optionals, Reading
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, check_whitespace, read_whitespace
from structured.output_types.choice import Choice
from structured.output_types.constraints.of_type import constraint_of, refuse_grounding
from structured.output_types.grammar import Grammar, is_gbnf
from structured.output_types.interface import automaton_of
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.json_schema import JsonSchema, JsonSchemaType, check_document
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex
from structured.output_types.resolve import resolve_type

KEY = "structured"
"""The name under which a request holds its constraint."""

BUDGET = "max_tokens"
"""The name under which it holds the budget, where the engine does not tell."""

MAX_CHARACTERS = 1_000_000
"""Of a constraint that an engine takes."""

KEPT = 256
"""Output types that an engine keeps by their texts, the least recently used dropped first."""


@dataclass(frozen=True, eq=False)
class DescribedType(JsonOutput[Any]):
    """A type of Python that another process has described; its answers are plain data."""

    def compilation(self) -> Compilation:
        """Return what compiles the description."""
        return Compilation(self.schema, read_whitespace(self.layout.whitespace), Reading.TYPE, self.layout.optional)

    def parse(self, text: str) -> Any:
        """Return the data of an answer."""
        return with_room(json.loads, text)

    def plain(self, value: Any) -> Any:
        """Return a value, which is plain already."""
        return value


def type_to_text(output_type: object, layout: JsonLayout) -> str:
    """Return the constraint of what a caller means by a type. Raises SchemaError if there is none."""
    resolved = resolve_type(output_type, layout=layout)
    refuse_grounding(resolved)
    return json.dumps(_written(resolved), ensure_ascii=False, separators=(",", ":"))


def _written(output_type: OutputType[Any]) -> dict[str, Any]:
    match output_type:
        case JsonSchemaType(source=source):
            said = {"draft": int(source.draft), "assert_formats": source.assert_formats, "key_order": source.key_order}
            return {"json": source.schema, "documents": source.documents, **said, **output_type.layout._asdict()}
        case JsonOutput():
            return {"type": output_type.compilation().root, **output_type.layout._asdict()}
        case Regex():
            return {"regex": output_type.source, "flags": int(output_type.flags), "dialect": output_type.dialect}
        case Choice():
            return {"choice": list(output_type.options)}
        case Grammar() if not output_type.reads_more:
            language = "GBNF" if is_gbnf(output_type) else "Lark"
            return {"grammar": output_type.grammar, "start": output_type.start, "language": language}
    constraint_of(output_type)  # which says what is wrong
    raise SchemaError(f"{output_type.name} cannot be sent to an engine", remedy="Write it as a Regex or a Grammar.")


@lru_cache(maxsize=KEPT)
def text_to_type(text: str) -> OutputType[Any]:
    """Return the output type that a constraint means, compiled as far as that needs no vocabulary.

    The same text gives the same object, so that what is compiled of it is kept. Raises SchemaError, or PatternError, if
    it means none.
    """
    if len(text) > MAX_CHARACTERS:
        raise SchemaError(
            f"The constraint has {len(text):,} characters, and {MAX_CHARACTERS:,} are taken", remedy="Shorten it."
        )
    try:
        given = with_room(json.loads, text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"The constraint is not JSON: {message(error)}", remedy=_REMEDY) from error
    check_document(given, "The constraint")
    kinds = [kind for kind in _KINDS if isinstance(given, dict) and kind in given]
    if len(kinds) != 1:
        raise SchemaError(f"The constraint is {shown(given)}: it must have one of {_LISTED}", remedy=_REMEDY)
    [kind] = kinds
    try:
        read = _KINDS[kind](given.pop(kind), **given)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"The constraint {kind!r} is wrong: {message(error).rstrip('.')}", remedy=_REMEDY) from error
    automaton_of(read, None)
    return read


def _of_type(description: Any, *, whitespace: str = DEFAULT_WHITESPACE, optional: str = "written") -> DescribedType:
    if not isinstance(description, Mapping | bool):
        raise TypeError(f"{shown(description)} describes no type")
    title = description.get("title") if isinstance(description, Mapping) else None
    name = title if isinstance(title, str) and title else "Type"
    return DescribedType(name, description, _layout(whitespace, optional))


def _of_json(
    schema: Any,
    *,
    whitespace: str = DEFAULT_WHITESPACE,
    optional: str = "written",
    draft: int = int(Draft.DRAFT_2020_12),
    **options: Any,
) -> OutputType[Any]:
    return resolve_type(JsonSchema(schema, draft=Draft(draft), **options), layout=_layout(whitespace, optional))


def _layout(whitespace: Any, optional: Any) -> JsonLayout:
    check_whitespace("whitespace", whitespace)
    one_of(get_args(Optionals))("optional", optional)
    return JsonLayout(whitespace, optional)


def _of_regex(expression: Any, *, flags: Any = 0, dialect: Any = "python") -> Regex[str]:
    return Regex(expression, flags=count(0)("flags", flags), dialect=dialect)


def _of_choice(texts: Any) -> Choice[str]:
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise TypeError(f"{shown(texts)} is no list of texts")
    return Choice(texts)


def _of_grammar(text: Any, *, language: Any = "Lark", start: Any = None) -> Grammar[str]:
    one_of(("Lark", "GBNF"))("language", language)
    if language == "GBNF":
        return Grammar.from_gbnf(text, "root" if start is None else start)
    return Grammar(text, "start" if start is None else start)


_KINDS: Mapping[str, Callable[..., OutputType[Any]]] = {
    "type": _of_type,
    "json": _of_json,
    "regex": _of_regex,
    "choice": _of_choice,
    "grammar": _of_grammar,
}

_LISTED = ", ".join(_KINDS)

_REMEDY = "Write it with constraint(…) of this integration, of the same version of the library."


def fault_of(text: object) -> str | None:
    """Return why a text is no constraint; None if it is one."""
    if not isinstance(text, str):
        return f"The constraint is {shown(text)}. {_REMEDY}"
    try:
        text_to_type(text)
    except StructuredError as error:
        return str(error)
    return None
