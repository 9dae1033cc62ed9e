"""Python types as output types: Pydantic describes them, and validates the answers."""

import json
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.errors.values import shown
from structured.json_schema.nullable import types_of
from structured.json_schema.numbers.number_patterns import DECIMAL
from structured.output_types.annotations import Annotation
from structured.output_types.json_output import DEFAULT_LAYOUT, DecimalNumber, JsonLayout, JsonOutput
from structured.output_types.json_schema import check_document
from structured.output_types.missing_values import Digits, MissingFieldsType, read_digits, with_missing_fields
from structured.output_types.output_type import OutputType
from structured.output_types.paths import FieldSelection, Steps
from structured.output_types.pydantic_schema import CompleteJsonSchema
from structured.output_types.schema_parts import DECIMAL_TEXT, flattened, parts_at, reachable_schemas

T = TypeVar("T")


def _number_or_digits(digits: str) -> Any:
    """Return the number of a decimal, with its digits if a double has others; a text if no double is equal to it."""
    number = json.loads(digits)
    if Decimal(str(number)) != Decimal(digits):
        return str(digits)
    return number if str(number) == digits or "E" in digits else DecimalNumber(digits)


USUAL_TYPES = "a BaseModel, a dataclass, a TypedDict, an Enum, a Literal, or a plain type such as list[int]"


@dataclass(frozen=True, eq=False)
class PythonType(JsonOutput[T]):
    """A type, its JSON Schema, and Pydantic's validator."""

    adapter: TypeAdapter[T] = field(repr=False, kw_only=True)
    annotation: Any = field(repr=False, kw_only=True, default=Any)
    """The type itself."""

    @property
    def parts(self) -> Annotation:
        """The type, as a stream reads it."""
        return Annotation.of(self.annotation)

    def parse(self, text: str) -> T:
        """Return the instance that an answer holds; decimals keep their digits. Raises Pydantic's ValidationError."""
        if self._has_decimals:  # of numbers, Pydantic would read the doubles
            with suppress(ValueError, RecursionError):
                text = json.dumps(self._map_decimals(read_digits(text), str))
        return self.adapter.validate_json(text)

    def to_data(self, text: str) -> Any:
        """Return the JSON value of an answer; a decimal is a text where no double is equal to it."""
        return self._map_decimals(read_digits(text), _number_or_digits) if self._has_decimals else super().to_data(text)

    def plain(self, value: Any) -> Any:
        """Return a value as plain JSON data."""
        return self.dump(self.adapter.validate_python(value))

    def dump(self, instance: T) -> Any:
        """Return an instance as plain JSON data; a decimal is a text where no double is equal to it."""
        data = self.adapter.dump_python(instance, mode="json", by_alias=True)
        return self._map_decimals(data, _number_or_digits) if self._has_decimals else data

    @cached_property
    def _has_decimals(self) -> bool:
        parts = (self.root, *reachable_schemas(self.root))
        return any(isinstance(part.schema, Mapping) and DECIMAL in part.schema for part in parts)

    def _map_decimals(self, data: Any, convert: Callable[[str], Any], steps: Steps = ()) -> Any:
        """Return JSON data with what a function makes of the digits of its decimals, where they can be nothing else."""
        if isinstance(data, dict):
            return {name: self._map_decimals(member, convert, (*steps, name)) for name, member in data.items()}
        if isinstance(data, list):
            return [self._map_decimals(item, convert, (*steps, index)) for index, item in enumerate(data)]
        if isinstance(data, str) and DECIMAL_TEXT.fullmatch(data):
            schemas = [part.schema for part in flattened(parts_at(self.root, steps))]
            other_types = [types_of(schema) for schema in schemas if DECIMAL not in schema]
            readable_types = {"integer", "number", "string"} if isinstance(data, Digits) else {"string"}
            if len(other_types) < len(schemas) and readable_types.isdisjoint(set().union(*other_types)):
                return convert(data)
        return json.loads(data) if isinstance(data, Digits) else data

    def with_missing(self, missing: FieldSelection) -> "MissingFieldsType[T]":
        """Return the type with a schema in which chosen fields may be null."""
        schema = with_missing_fields(self.root, missing)
        return MissingFieldsType(
            self.name, schema, self.layout, removes_unsupported=self.removes_unsupported, base_type=self
        )


@deep
def python_type(output_type: Any, layout: JsonLayout = DEFAULT_LAYOUT) -> PythonType[Any]:
    """Return the output type of a Python type: anything that `pydantic.TypeAdapter` takes and can describe.

    Raises `SchemaError` for a value, and for a type without a JSON Schema.
    """
    name = type_name(output_type)
    _refuse_other_kinds(output_type)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        schema = adapter.json_schema(mode="validation", schema_generator=CompleteJsonSchema)
    except SchemaError:
        raise
    # Types run code of their own while Pydantic reads them, so anything may come out; it stays visible as the cause.
    except Exception as error:
        if not isinstance(output_type, type) and get_origin(output_type) is None and not callable(output_type):
            raise SchemaError(f"{shown(output_type)} is a value, not a type", remedy=f"Pass {USUAL_TYPES}.") from error
        missing = _undefined_names(output_type, error)
        if missing:
            raise SchemaError(
                f"{name} names a type that is not defined: {missing}",
                remedy="Define it in the module that names it, before it is used; or write the type without quotes.",
            ) from error
        raise SchemaError(
            f"Pydantic cannot describe {name}: {_first_sentence(error)}",
            remedy=f"Use {USUAL_TYPES}, and define each type before it is used.",
        ) from error
    check_document(schema, f"The JSON Schema of {name}")
    return PythonType(name, schema, layout, adapter=adapter, annotation=output_type)


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


def _refuse_other_kinds(value: object) -> None:
    """Raise SchemaError for a value that is often taken for a type, with a remedy."""
    problem = f"{shown(value)} is a value"
    if isinstance(value, str):
        problem, remedy = f"{shown(value)} is a string", "Pass the type itself, without quotes, before the text."
        if len(value.split()) == 1:
            remedy = f"Pass the type itself, without quotes; or Choice([{shown(value)}]) for that text."
        if value.lstrip().startswith("{"):
            remedy = "If it is a JSON Schema, pass JsonSchema(...) of it."
    elif isinstance(value, Mapping | bool):
        remedy = _remedy_for_mapping(value)
    elif isinstance(value, list | tuple | set) and value and all(isinstance(item, str | int) for item in value):
        remedy = "If these are choices, pass Choice(...) of them."
    elif isinstance(value, list) and len(value) == 1:
        remedy = f"For a list of them, pass list[{type_name(value[0])}]."
    elif isinstance(value, type) and issubclass(value, OutputType):
        problem = f"{value.__name__} is a class of output types"
        remedy = f"Pass an instance of it: {value.__name__}(…)."
    elif isinstance(value, types.ModuleType):
        problem, remedy = f"{value.__name__} is a module", f"Pass a type that it holds: {value.__name__}.…"
    elif isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        remedy = f"Pass its type, {type(value).__name__}."
    else:
        return
    raise SchemaError(f"{problem}, not a type", remedy=remedy)


def _remedy_for_mapping(value: Mapping[Any, object] | bool) -> str:
    """Return what to pass in place of `{"name": str}`, or of a JSON Schema."""
    if isinstance(value, bool) or not any(isinstance(part, type) or get_origin(part) for part in value.values()):
        return "If it is a JSON Schema, pass JsonSchema(...) of it."
    fields = ", ".join(f"{name}={type_name(part)}" for name, part in value.items())
    are_names = all(isinstance(name, str) and name.isidentifier() for name in value)
    return f"Pass pydantic.create_model('Name', {fields if are_names else '**fields'})."


def _undefined_names(output_type: object, error: Exception) -> str:
    """Return the undefined names in a type that Pydantic reports; nothing for another error."""
    if isinstance(error, PydanticUndefinedAnnotation):
        return repr(error.name)
    if not isinstance(error, PydanticUserError) or error.code != "class-not-fully-defined":
        return ""
    return ", ".join(map(repr, dict.fromkeys(_quoted_names(output_type)))) or "one in quotes"


def _quoted_names(annotation: object) -> Iterator[str]:
    """Yield the quoted names in an annotation, and in a model whose annotations cannot be resolved yet."""
    if isinstance(annotation, str | ForwardRef):
        yield annotation if isinstance(annotation, str) else annotation.__forward_arg__
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        try:
            annotation.model_rebuild()
        except PydanticUndefinedAnnotation as error:
            yield error.name or "one in quotes"
    if get_origin(annotation) is not Literal:
        for argument in get_args(annotation):
            yield from _quoted_names(argument)


def _first_sentence(error: Exception) -> str:
    """Return the first sentence of an error; of one with a heading, which ends with a colon, the last line under it."""
    first, *others = str(error).splitlines() or [""]
    if first.endswith(":") and others:
        return f"{first} {others[-1].strip()}"
    return first.partition(". ")[0].rstrip(".")
