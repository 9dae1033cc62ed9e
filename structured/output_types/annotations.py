"""Annotations: the types of the parts of an answer, which read values whole or in part.

For texts that are still growing: Pydantic validates whole values alone, so each value inside an answer is given to a
validator of its own type. Where the type is not known from the place (a union of several, a class that reads itself
in its own way), its value is plain data until the value around it is whole.
"""

import collections
import dataclasses
import json
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import chain
from typing import Annotated, Any, Union, get_args, get_origin

import typing_extensions
from pydantic import AliasChoices, BaseModel, Field, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo

TYPE_ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))


class Annotation:
    """The type of a place in an answer; `Any` where it is not known."""

    def __init__(self, annotation: Any) -> None:
        self.type = annotation
        self._bare = _without_metadata(annotation)

    def __repr__(self) -> str:
        return f"Annotation({self.type!r})"

    @classmethod
    def of(cls, annotation: Any) -> "Annotation":
        """Return the annotation of a type: the same object every time, if the type has a hash."""
        try:
            hash(annotation)
        except TypeError:
            return cls(annotation)
        return _of_hashable(annotation)

    def part_at(self, step: str | int) -> "Annotation":
        """Return the type of a member, by its name in the text, or of an item, by its position."""
        if step in self._fields:
            return self._fields[step][1]
        return Annotation.of(Any) if self._fields or self._item_annotation is None else self._item_annotation

    def read(self, text: str, plain: Any) -> Any:
        """Return the instance that a JSON text holds, or what it is as plain data: `plain`, if that is given."""
        if self._adapter is not None:
            try:
                return self._adapter.validate_json(text)
            except ValueError:
                return json.loads(text)
        return json.loads(text) if plain is None else plain

    def partial_instance(self, members: dict[str, Any] | list[Any]) -> Any:
        """Return a container with some of its members: of a model an instance, else the members themselves.

        The instance has no other fields than those, and none of its class's code is run to make it: not for defaults,
        nor after it is made, since both may ask for fields that are not there yet.
        """
        if not (_is_model(self._bare) and isinstance(members, dict)):
            return members
        field_values = {self._fields[key][0]: value for key, value in members.items() if key in self._fields}
        extra_values = {key: value for key, value in members.items() if key not in self._fields}
        instance = self._bare.__new__(self._bare)
        object.__setattr__(instance, "__dict__", field_values)
        object.__setattr__(instance, "__pydantic_fields_set__", set(field_values))
        extra = extra_values if self._bare.model_config.get("extra") == "allow" else None
        object.__setattr__(instance, "__pydantic_extra__", extra)
        object.__setattr__(instance, "__pydantic_private__", None)
        return instance

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        if self._bare is Any:
            return None
        try:
            return TypeAdapter(self.type)
        except (PydanticUserError, PydanticUndefinedAnnotation, NameError, TypeError):
            return None

    @cached_property
    def _fields(self) -> dict[str | int, tuple[str, "Annotation"]]:
        """The fields of a class by their names in the text, the items of a tuple by their positions."""
        fields, origin, arguments = fields_of(self._bare), get_origin(self._bare) or self._bare, get_args(self._bare)
        if isinstance(origin, type) and issubclass(origin, tuple):
            items = [kind for _, kind in fields.values()] or ([] if ... in arguments else arguments)
            return {position: ("", Annotation.of(item)) for position, item in enumerate(items)}
        return {key: (name, Annotation.of(kind)) for name, (keys, kind) in fields.items() for key in keys}

    @cached_property
    def _item_annotation(self) -> "Annotation | None":
        """The type of the items of a list, or of the values of a dictionary."""
        origin, arguments = get_origin(self._bare), get_args(self._bare)
        if not isinstance(origin, type) or not arguments:
            return None
        if issubclass(origin, collections.Counter):
            return Annotation.of(int)
        if issubclass(origin, Mapping):
            return Annotation.of(arguments[1]) if len(arguments) == 2 else None
        return Annotation.of(arguments[0]) if issubclass(origin, (Collection, Iterable)) else None


_of_hashable: Callable[[Any], Annotation] = lru_cache(maxsize=1024)(Annotation)


def _without_metadata(annotation: Any) -> Any:
    """Return a type without its metadata, and without None."""
    while True:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            annotation = arguments[0]
        elif isinstance(annotation, TYPE_ALIASES):
            annotation = annotation.__value__
        elif origin in (Union, types.UnionType):
            not_none = [argument for argument in arguments if argument is not type(None)]
            if len(not_none) != 1:
                return Union  # of several, the place does not tell which
            annotation = not_none[0]
        elif _is_model(annotation) and annotation.__pydantic_root_model__:
            annotation = annotation.model_fields["root"].annotation
        else:
            return annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _annotation_of(info: FieldInfo) -> Any:
    """Return the type of a field with its metadata."""
    annotation: Any = info.annotation
    notes = info.metadata if info.discriminator is None else [*info.metadata, Field(discriminator=info.discriminator)]
    for note in notes:
        annotation = Annotated[annotation, note]
    return annotation


def fields_of(annotation: Any) -> dict[str, tuple[list[str], Any]]:
    """Return the fields of a class by their names in Python, each with its type.

    Before the type are the names that it may have in a text; the first is the one that is written.
    """
    if _is_model(annotation):
        infos = annotation.model_fields.items()
        return {name: (_names_in_text(name, info), _annotation_of(info)) for name, info in infos}
    origin = get_origin(annotation) or annotation
    is_record = dataclasses.is_dataclass(origin) or typing_extensions.is_typeddict(origin)
    if not isinstance(origin, type) or not (is_record or (issubclass(origin, tuple) and hasattr(origin, "_fields"))):
        return {}
    type_arguments = dict(zip(getattr(origin, "__parameters__", ()), get_args(annotation), strict=False))
    hints = _hints(origin)
    names = [field.name for field in dataclasses.fields(origin)] if dataclasses.is_dataclass(origin) else hints
    kinds = {name: _specialised(hints.get(name, Any), type_arguments) for name in names}
    return {name: (_names_in_text(name, hints.get(name)), kind) for name, kind in kinds.items()}


def _names_in_text(name: str, field: Any) -> list[str]:
    """Return the names that a field may have in a text, by its `Field` or by a type that may have one."""
    infos = [note for note in (field, *getattr(field, "__metadata__", ())) if isinstance(note, FieldInfo)]
    aliases = [info.validation_alias for info in infos]
    choices = [alias.choices if isinstance(alias, AliasChoices) else [alias] for alias in aliases]
    return [*(choice for choice in chain(*choices) if isinstance(choice, str)), name]


def alias_target(alias: Any) -> Any:
    """Return the type that an alias stands for, with its arguments in place of the parameters."""
    origin = get_origin(alias)
    if origin is None:
        return alias.__value__
    return _specialised(origin.__value__, dict(zip(origin.__type_params__, get_args(alias), strict=False)))


def _specialised(annotation: Any, type_arguments: Mapping[Any, Any]) -> Any:
    parameters = getattr(annotation, "__parameters__", ())
    if not type_arguments or isinstance(annotation, type) or not parameters:
        return type_arguments.get(annotation, annotation) if isinstance(annotation, typing.TypeVar) else annotation
    return annotation[tuple(type_arguments.get(parameter, parameter) for parameter in parameters)]


def _hints(annotated: Any) -> dict[str, Any]:
    try:
        own_name = {annotated.__name__: annotated}  # of a class in a function, which names itself
        hints = typing_extensions.get_type_hints(annotated, localns=own_name, include_extras=True)
    except (NameError, TypeError):
        return {}
    return {name: _without_qualifiers(hint) for name, hint in hints.items()}


def _without_qualifiers(hint: Any) -> Any:
    """Return the type of a key of a TypedDict, without what says whether it must be there."""
    qualifiers = (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly)
    while get_origin(hint) in qualifiers:
        hint = get_args(hint)[0]
    return hint
