"""From whatever a caller passes as a type to an output type."""

import functools
from dataclasses import replace
from types import CodeType
from typing import Annotated, Any, Protocol, _SpecialForm, get_args, get_origin

from typing_extensions import TypeAliasType, TypeForm, TypeVar

from structured.errors import SchemaError
from structured.output_types.call_types import call_type
from structured.output_types.functions import is_function
from structured.output_types.json_output import DEFAULT_LAYOUT, JsonLayout, JsonOutput
from structured.output_types.json_schema import JsonSchema, JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.paths import FieldSelection
from structured.output_types.python_type import PythonType, python_type

T = TypeVar("T", default=Any)
T_co = TypeVar("T_co", covariant=True)


class _Union(Protocol[T_co]):
    """A union such as `Person | None`, as mypy sees it where it does not read it as a type."""

    @property
    def __args__(self) -> tuple[T_co, ...]: ...


class _Function(Protocol):
    """A function, and no class."""

    @property
    def __code__(self) -> CodeType: ...


_Form = TypeAliasType("_Form", TypeForm[T] | _SpecialForm, type_params=(T,))

TypeLike = TypeAliasType(
    "TypeLike",
    type[T] | _Form[T] | OutputType[T] | JsonSchema | _Function | functools.partial[Any] | _Union[T],
    type_params=(T,),
)
"""Whatever may be asked for: `Person`, `list[Person] | None`, `Literal["a", "b"]`, `Regex("[0-9]{4}")`, a function.

One union in place of overloads: at each mistake in an option, type checkers would list all overloads with all options.
Pyright infers every type by `TypeForm` (PEP 747). Mypy 2.4 does not, in a union: to it, a class is `type[T]`, and the
value of a union or a special form is `Any`. `_Form` hides `TypeForm` from mypy 1.19 to 2.1, which refuse
`Literal["a"]` where they see it.
"""


def resolve_type(
    output_type: object,
    allow_missing: FieldSelection | None = None,
    layout: JsonLayout | None = None,
    *,
    grounded: FieldSelection | None = None,
) -> OutputType[Any]:
    """Return the output type that a caller means; the same object every time, if what is passed has a hash.

    An `OutputType` is returned as it is, but for the options of JSON; without a `layout`, it keeps its own. A function
    means a call of it. The fields of `allow_missing` may be missing; the document has to state those of `grounded`.
    """
    output_type = _type_in_metadata(output_type)
    allow_missing, grounded = (None if paths is False else paths for paths in (allow_missing, grounded))
    has_options = allow_missing is not None or layout is not None or grounded is not None
    if isinstance(output_type, OutputType) and not (has_options and isinstance(output_type, JsonOutput)):
        if has_options:
            raise SchemaError(
                f"{output_type.name} does not use JSON options: allow_missing, grounded and layout are for types and "
                "JSON Schemas",
                remedy="Leave them out.",
            )
        return output_type
    options = (_hashable(allow_missing), layout, _hashable(grounded))
    try:
        hash(output_type)
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        return _resolve(output_type, *options)
    return _resolve_once(output_type, *options)


def _hashable(paths: FieldSelection | None) -> Any:
    """Return paths as a tuple, and anything else as it is."""
    return paths if paths is None or isinstance(paths, bool | str) else tuple(paths)


def _resolve(
    output_type: object,
    allow_missing: FieldSelection | None,
    layout: JsonLayout | None,
    grounded: FieldSelection | None,
) -> OutputType[Any]:
    resolved = _read_type(output_type, layout)
    if grounded is not None:
        resolved = resolved.with_everything_grounded() if grounded is True else resolved.with_grounding(grounded)
    if allow_missing is None:
        return resolved
    if isinstance(resolved, PythonType) or type(resolved) is JsonSchemaType:
        return resolved.with_missing(allow_missing)
    raise SchemaError(
        f"{resolved.name} is a call of a tool, which leaves out optional arguments that the text does not state",
        remedy="Leave out allow_missing.",
    )


_resolve_once = functools.lru_cache(maxsize=64)(_resolve)


def resolve_json(output_type: object, layout: JsonLayout | None = None) -> JsonOutput[Any]:
    """Return the output type that a caller means, if it has a JSON Schema. Raises SchemaError if it has none."""
    resolved = resolve_type(output_type, layout=layout)
    if isinstance(resolved, JsonOutput):
        return resolved
    raise SchemaError(
        f"{resolved.name} is an OutputType with an automaton of its own, and has no JSON Schema to print",
        remedy="Look at its describe() and automaton(), or pass it to inspect_type or extract.",
    )


def _read_type(output_type: Any, layout: JsonLayout | None = None) -> JsonOutput[Any]:
    """Return the output type of a Python type, a function or a `JsonSchema`. Raises SchemaError for what is neither."""
    if isinstance(output_type, JsonOutput):
        return output_type if layout is None else replace(output_type, layout=layout)
    if isinstance(output_type, JsonSchema):
        assert not isinstance(output_type.schema, str), "it is read when it is made"
        return JsonSchemaType(output_type.name, output_type.schema, layout or DEFAULT_LAYOUT, source=output_type)
    if is_function(output_type):
        return replace(call_type([output_type]), layout=layout or DEFAULT_LAYOUT)
    return python_type(output_type, layout or DEFAULT_LAYOUT)


def _type_in_metadata(output_type: Any) -> Any:
    """Return the `OutputType` of `Annotated[int, ...]`, or the `JsonSchema` of `Annotated[Any, ...]`; else what it is.

    What is annotated is the type of the values, which is for type checkers.
    """
    if get_origin(output_type) is not Annotated:
        return output_type
    annotated, *notes = get_args(output_type)
    kinds = (JsonSchema, OutputType) if annotated is Any else (OutputType,)
    return next((note for note in notes if isinstance(note, kinds)), output_type)
