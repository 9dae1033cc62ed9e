"""Soft checks: conditions on a value that flag it, and keep it.

Pydantic passes over a check, so that it changes neither the schema nor the mask nor the validation. Flags are found
afterwards, by a walk over the validated value along its type.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from inspect import iscoroutinefunction
from itertools import repeat
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import AfterValidator, BaseModel, RootModel, TypeAdapter
from pydantic_core import to_jsonable_python

from structured.errors.recursion import deep
from structured.errors.values import message, shown
from structured.output_types.annotations import TYPE_ALIASES, Annotation, alias_target, fields_of
from structured.output_types.paths import Steps, steps_to_path


@dataclass(frozen=True, slots=True)
class Flag:
    """A value that did not pass a check.

    Attributes:
        path: The path of the value, such as `"lines[2].price"`; `""` is the whole answer. An item of a set has no
            place, and the path of the set.
        value: The value, as plain JSON.
        message: The message of the check.
        error: What the check raised, if it did: `"KeyError: 'total'"`. Then it is unknown whether the value passes.
    """

    path: str
    value: Any
    message: str
    error: str | None = None

    def __str__(self) -> str:
        return f"{self.path or '(answer)'}: {self.reason}"

    @property
    def reason(self) -> str:
        """The message, or what the check raised, for people."""
        return self.message if self.error is None else f"the check {self.message!r} raised {self.error}"


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that a value of a type should meet: `Annotated[int, Check(lambda age: age < 120, "unlikely age")]`.

    A value that does not meet it is kept, and listed in the `flags` of the result.

    Attributes:
        passes: A function from the validated value to whether it is as expected.
        message: What is wrong with a value that does not pass.

    Raises:
        TypeError: `passes` cannot be called, or the message is no text.
    """

    passes: Callable[[Any], object]
    message: str

    def __post_init__(self) -> None:
        if not callable(self.passes) or iscoroutinefunction(self.passes):
            raise TypeError(f"passes is {shown(self.passes)}. Pass a plain function from the value to True or False.")
        if not isinstance(self.message, str) or not self.message.strip():
            raise TypeError(f"message is {shown(self.message)}. Pass a text that says what is wrong with the value.")

    def flags(self, value: Any, steps: Steps) -> list[Flag]:
        """Return the flag of a value at a place, in a list; an empty one if it passes."""
        error = None
        try:
            if self.passes(value):
                return []
        except Exception as problem:  # noqa: BLE001  the user's own code
            error = f"{type(problem).__name__}: {message(problem)}"
        return [Flag(steps_to_path(steps), _to_plain_data(value), self.message, error)]


def flags_of(annotation: Annotation | None, value: Any) -> tuple[Flag, ...]:
    """Return the flags of an instance of a type, those of the parts of a value before its own."""
    return tuple(_flags(annotation.type, value, ())) if annotation is not None and has_checks(annotation) else ()


def flags_of_data(annotation: Annotation | None, data: Any, steps: Steps = ()) -> tuple[Flag, ...]:
    """Return the flags of plain data that may lack fields: those of the largest parts that are instances."""
    if annotation is None or not has_checks(annotation):
        return ()
    try:
        instance = TypeAdapter(annotation.type).validate_python(data)
    except Exception:  # noqa: BLE001  validators are the user's own code
        members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        parts = ((annotation.part_at(step), part, (*steps, step)) for step, part in members)
        return tuple(flag for part in parts for flag in flags_of_data(*part))
    return tuple(_flags(annotation.type, instance, steps))


@lru_cache(maxsize=1024)
def has_checks(annotation: Annotation) -> bool:
    """Tell whether there is a check anywhere in a type."""
    parts: list[Any] = [annotation.type]
    known: set[Any] = set()
    while parts:
        part = parts.pop()
        if isinstance(part, Check):
            return True
        with suppress(TypeError):  # metadata may have no hash
            if part in known:
                continue
            known.add(part)
        parts += [get_origin(part), *get_args(part), *(inner for _, inner in fields_of(part).values())]
        parts += [getattr(part, name) for name in ("__value__", "__supertype__") if hasattr(part, name)]
    return False


@deep
def _flags(annotation: Any, value: Any, steps: Steps) -> list[Flag]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner_flags = _flags(arguments[0], value, steps)
        checks = [note for note in annotation.__metadata__ if isinstance(note, Check)]
        return inner_flags + [flag for check in checks for flag in check.flags(value, steps)]
    if origin in (Union, UnionType):
        return _flags(_branch(annotation, value), value, steps)
    if isinstance(annotation, TYPE_ALIASES) or isinstance(origin, TYPE_ALIASES):
        return _flags(alias_target(annotation), value, steps)
    if hasattr(annotation, "__supertype__"):
        return _flags(annotation.__supertype__, value, steps)
    return [flag for member in _members(annotation, value, steps) for flag in _flags(*member)]


def _members(annotation: Any, value: Any, steps: Steps) -> Iterator[tuple[Any, Any, Steps]]:
    """Yield the types, values and places of the members of a value."""
    arguments = get_args(annotation)
    fields = fields_of(type(value) if isinstance(value, BaseModel) else annotation)
    if fields:
        values = value if isinstance(value, Mapping) else {name: getattr(value, name, None) for name in fields}
        for index, (name, ([name_in_text, *_], member_type)) in enumerate(fields.items()):
            if name in values:
                step = () if isinstance(value, RootModel) else (index if isinstance(value, tuple) else name_in_text,)
                yield member_type, values[name], (*steps, *step)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            place = (*steps, str(_to_plain_data(key)))
            yield from zip(arguments, (key, member), (place, place), strict=False)
    elif isinstance(value, Collection) and not isinstance(value, str | bytes) and arguments:
        is_fixed = get_origin(annotation) is tuple and ... not in arguments
        types = arguments if is_fixed else repeat(arguments[0])
        for index, (member_type, item) in enumerate(zip(types, value, strict=False)):
            yield member_type, item, steps if isinstance(value, AbstractSet) else (*steps, index)


def _branch(union: Any, value: Any) -> Any:
    """Return the type of a union that a value is of: the one that Pydantic takes it for."""
    options = [option for option in get_args(union) if option is not type(None)]
    if value is None or len(options) == 1:
        return Any if value is None else options[0]
    try:
        return options[_branch_number_adapter(union).validate_python(value)]
    except Exception:  # noqa: BLE001  validators are the user's own code, and may refuse what they made
        classes = [getattr(option, "__origin__", option) for option in options]
        positions = (place for place, cls in enumerate(classes) if isinstance(cls, type) and isinstance(value, cls))
        return options[next(positions, 0)]


@lru_cache(maxsize=1024)
def _branch_number_adapter(union: Any) -> TypeAdapter[int]:
    """Return the validator that takes a value of a union for the number of its branch."""
    options = [option for option in get_args(union) if option is not type(None)]
    numbered = [Annotated[option, AfterValidator(partial(lambda at, _: at, at))] for at, option in enumerate(options)]
    return TypeAdapter(cast("Any", Union[tuple(numbered)]))  # noqa: UP007  a tuple of types


def _to_plain_data(value: Any) -> Any:
    try:
        return to_jsonable_python(value, by_alias=True, fallback=repr)
    except Exception:  # noqa: BLE001  a serializer of the user's own
        return repr(value)
