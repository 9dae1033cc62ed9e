"""A Python type enters; what the library needs to know of it leaves: its schema, its validator and its name."""

import functools
import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Annotated, Any, ForwardRef, Generic, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

from structured.errors import SchemaError
from structured.errors.arguments import shown
from structured.errors.recursion import deep
from structured.json_schema.compile import ANY_VALUE, compiled
from structured.json_schema.document.place import Compilation, Optionals, Place, Reading, Schema, Subschema
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, read_whitespace
from structured.output_types.json_schema import JsonSchema, PlainData, check_document
from structured.output_types.optional_fields import Absent, with_absence
from structured.output_types.pydantic import CompleteJsonSchema
from structured.regex import Pattern, Reference, Scan, nodes_of, printed
from structured.regex.character_classes import LINE_FEED
from structured.regex.syntax import MAX_PRINTED, Boundary

T = TypeVar("T")

TYPES = "a BaseModel, a dataclass, a TypedDict, an Enum, a Literal, or a plain type such as list[int]"


@dataclass(frozen=True, slots=True, eq=False)
class OutputType(Generic[T]):
    """A type that answers may have: its name for people, its JSON Schema, and Pydantic's validator.

    Where a `JsonSchema` was asked for, that is the `source`, and validates. `annotation` is the type itself.
    """

    name: str
    adapter: TypeAdapter[T] | PlainData = field(repr=False)
    schema: Schema | bool = field(repr=False)
    source: JsonSchema | None = field(repr=False, default=None)
    annotation: Any = field(repr=False, default=Any)

    def validate_json(self, text: str | bytes) -> T:
        """Return the instance that a JSON text holds. Raises ValueError, of which Pydantic's error is one."""
        instance: T = self.adapter.validate_json(text)
        return instance

    def compilation(self, whitespace: str = DEFAULT_WHITESPACE, optional: Optionals = "written") -> Compilation:
        """Return what compiles the schema, or walks through it."""
        if self.source is not None:
            return self.source.compilation(whitespace, optional)
        return Compilation(self.schema, read_whitespace(whitespace), Reading.TYPE, optional)

    def with_absence(self, absent: Absent) -> "OutputType[T]":
        """Return the type with a schema in which chosen fields may be null; see `optional_fields.py`."""
        if self.source is not None:
            raise SchemaError(
                f"{self.name} is a JsonSchema, which says itself what may be missing",
                remedy="Allow null in the schema.",
            )
        return replace(self, schema=with_absence(self.root(), absent))

    def root(self, whitespace: str = DEFAULT_WHITESPACE, optional: Optionals = "written") -> Subschema:
        """Return the schema with its place, to walk through it."""
        compilation = self.compilation(whitespace, optional)
        return Subschema(compilation.root, Place(compilation))


@deep
def read_type(output_type: Any) -> OutputType[Any]:
    """Return what is to be known of a type: anything that `pydantic.TypeAdapter` takes and can describe.

    `JsonSchema` is an output type as well, and so is `Annotated[Any, JsonSchema(...)]`, which fits an annotation.
    Raises `SchemaError` for a value, and for a type without a JSON Schema.
    """
    if get_origin(output_type) is Annotated and get_args(output_type)[0] is Any:
        output_type = next((one for one in get_args(output_type) if isinstance(one, JsonSchema)), output_type)
    if isinstance(output_type, JsonSchema):
        assert not isinstance(output_type.schema, str), "it is read when it is made"
        return OutputType(output_type.name, PlainData(output_type), output_type.schema, output_type)
    name = type_name(output_type)
    _refuse_other_kinds(output_type)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        schema = adapter.json_schema(mode="validation", schema_generator=CompleteJsonSchema)
    # Types run code of their own while Pydantic reads them, so anything may come out; it stays visible as the cause.
    except Exception as error:
        if _is_value(output_type):
            raise SchemaError(f"{shown(output_type)} is a value, not a type", remedy=f"Pass {TYPES}.") from error
        missing = _undefined(output_type, error)
        if missing:
            raise SchemaError(
                f"{name} names a type that is not defined: {missing}",
                remedy="Define it in the module that names it, before it is used; or write the type without quotes.",
            ) from error
        raise SchemaError(
            f"Pydantic cannot describe {name}: {_first_sentence(error)}",
            remedy=f"Use {TYPES}, and define each type before it is used.",
        ) from error
    check_document(schema, f"The JSON Schema of {name}")
    return OutputType(name, adapter, schema, annotation=output_type)


@deep
def to_regex(output_type: object, *, whitespace: str = DEFAULT_WHITESPACE) -> str:
    r"""Return the regular expression that every answer of a type matches.

    >>> from structured import to_regex
    >>> to_regex(list[bool])
    '\\[(?:(?:true|false)(?:, (?:true|false))*)?\\]'

    Parameters:
        output_type: Anything that `pydantic.TypeAdapter` takes and can describe as a JSON Schema.
        whitespace: What stands between JSON tokens: `"compact"` (nothing), `"spaced"` (as `json.dumps` writes),
            `"indented"` (as `json.dumps` writes with `indent=2`), `"flexible"` (a few blanks, also on new lines), or
            `"any"` (any run of blanks around every token).

    Returns:
        A pattern for `re.fullmatch`. Each text that it matches is accepted by Pydantic, unless a validator that the
        type's author wrote rejects it.

    Raises:
        SchemaError: The type is none, contains itself, or has a rule that the pattern cannot express exactly.
        ValueError: No whitespace has this name.
    """
    known = read_type(output_type)
    compilation = known.compilation(whitespace)
    pattern = compiled(compilation)
    nodes = nodes_of(pattern)
    names = sorted({node.name for node in nodes if isinstance(node, Reference)})
    if names:
        place = next((place for reference, place in compilation.references if reference.name in names), None)
        recursive = f"The pattern of {known.name}" if place is None else _name_at(place, known.name)
        problem = f"{recursive} contains itself, and no regular expression can"
        if place is None and ANY_VALUE in names:
            problem = "A value of any type may hold others, to any depth, which no regular expression can say"
        raise SchemaError(
            problem,
            schema_path="" if place is None else place.pointer,
            remedy=_ONLY_THE_EXPRESSION,
        )
    if any(_begins_lines(node) for scan in nodes if isinstance(scan, Scan) for node in _inside(scan)):
        raise SchemaError(
            "The start of a line, as (?m) and ^ have it, cannot be found in JSON by a regular expression",
            keyword="pattern",
            remedy=_ONLY_THE_EXPRESSION,
        )
    scans = [node for node in nodes if isinstance(node, Scan) and not node.included and not node.excluded]
    if any(scan.expression is None for scan in scans):
        raise SchemaError(
            "The multiples of a number take too long a regular expression",
            keyword="multipleOf",
            remedy=_ONLY_THE_EXPRESSION,
        )
    text = printed(pattern)
    if text is None:
        raise SchemaError(
            f"The regular expression has more than {MAX_PRINTED[0]:,} pieces or {MAX_PRINTED[1]:,} characters",
            remedy="Extract it as it is: only the regular expression is missing, and nothing else needs it.",
        )
    return text


_ONLY_THE_EXPRESSION = "Extract it as it is: only the regular expression is missing, and nothing else needs it."


def _name_at(place: Place, root: str) -> str:
    """Return what a schema is called: by the last key of its place, or as the type if it is the whole."""
    return str(place.keys[-1]) if place.keys else root


def _inside(scan: Scan) -> Iterator[Pattern]:
    """Yield the nodes of the patterns that a scan runs beside each other."""
    return (node for pattern in scan.included + scan.excluded for node in nodes_of(pattern))


def _begins_lines(node: Pattern) -> bool:
    return isinstance(node, Boundary) and node.word_characters == LINE_FEED


def type_name(output_type: object) -> str:
    """Return a type as its author wrote it, without modules: `list[Person] | None`."""
    origin, arguments = get_origin(output_type), get_args(output_type)
    if origin is Annotated:
        return type_name(arguments[0])
    if origin in (Union, types.UnionType):
        return " | ".join(map(type_name, arguments))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if output_type is type(None) or output_type is None or output_type is ...:
        return "..." if output_type is ... else "None"
    if origin is None or not arguments:
        return str(getattr(output_type, "__name__", None) or shown(output_type))
    return f"{getattr(origin, '__name__', None) or shown(origin)}[{', '.join(map(type_name, arguments))}]"


def _refuse_other_kinds(given: object) -> None:
    """Refuse what is often taken for a type, with what to write in its place."""
    if isinstance(given, str):
        found, remedy = f"{shown(given)} is a string", "Pass the type itself, without quotes, before the text."
        if given.lstrip().startswith("{"):
            remedy = "If it is a JSON Schema, pass JsonSchema(...) of it."
    elif isinstance(given, Mapping | bool):
        found, remedy = f"{shown(given)} is a value", "If it is a JSON Schema, pass JsonSchema(...) of it."
    elif isinstance(given, list) and len(given) == 1:
        found, remedy = f"{shown(given)} is a value", f"For a list of them, pass list[{type_name(given[0])}]."
    elif isinstance(given, types.ModuleType):
        found, remedy = f"{given.__name__} is a module", f"Pass a type that it holds: {given.__name__}.…"
    elif inspect.isroutine(given) or isinstance(given, functools.partial):
        found, remedy = f"{type_name(given)} is a function", "Pass what it returns, or put @structured above it."
    elif isinstance(given, BaseModel) or (is_dataclass(given) and not isinstance(given, type)):
        found, remedy = f"{shown(given)} is a value", f"Pass its type, {type(given).__name__}."
    else:
        return
    raise SchemaError(f"{found}, not a type", remedy=remedy)


def _undefined(output_type: object, error: Exception) -> str:
    """Return what Pydantic did not find of the names in a type; nothing if that is not what it says."""
    if isinstance(error, PydanticUndefinedAnnotation):
        return repr(error.name)
    if not isinstance(error, PydanticUserError) or error.code != "class-not-fully-defined":
        return ""
    return ", ".join(map(repr, dict.fromkeys(_quoted(output_type)))) or "one in quotes"


def _quoted(annotation: object) -> Iterator[str]:
    """Yield the names that stand in quotes inside an annotation, or in a model that waits for what they name."""
    if isinstance(annotation, str | ForwardRef):
        yield annotation if isinstance(annotation, str) else annotation.__forward_arg__
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        try:
            annotation.model_rebuild()
        except PydanticUndefinedAnnotation as error:
            yield error.name or "one in quotes"
    if get_origin(annotation) is not Literal:
        for argument in get_args(annotation):
            yield from _quoted(argument)


def _is_value(output_type: object) -> bool:
    return not isinstance(output_type, type) and get_origin(output_type) is None and not callable(output_type)


def _first_sentence(error: Exception) -> str:
    """Return what an error says first; with a heading, which ends with a colon, what stands last under it."""
    first, *others = str(error).splitlines() or [""]
    if first.endswith(":") and others:
        return f"{first} {others[-1].strip()}"
    return first.partition(". ")[0].rstrip(".")
