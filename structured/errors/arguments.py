"""Checks of arguments: each returns the value as the library keeps it, or raises an error that names the argument.

Options and fields are checked when they are passed, by tables of checks, before a model is loaded. As everywhere in
Python, a value of the wrong kind is a TypeError, and a value that is not allowed a ValueError. Pydantic in strict mode
was rejected: it does not accept NumPy's numbers, and its messages name neither the option nor what to do.
"""

import functools
import inspect
import math
import os
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np

from structured.errors.values import nearest, nearest_of, shown

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")

Check: TypeAlias = Callable[[str, Any], V]
"""Takes the name and the value of an argument, and returns the value. Raises TypeError or ValueError."""

MAX_COUNT = 2**31 - 1
"""The largest count, so that counts fit into the arrays of the compiled loops."""


def whole(minimum: int, requirement: str = "", most: float = math.inf) -> Check[int]:
    """Return a check for whole numbers, NumPy's included, that are not below a minimum nor above `most`."""
    requirement = requirement or f"{minimum} or greater"

    def check(name: str, value: Any) -> int:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} is {shown(value)}; it must be a whole number, {requirement}.")
        integer = int(value)
        if integer < minimum:
            raise ValueError(f"{name} is {shown(integer)}; it must be {requirement}.")
        if integer > most:
            raise ValueError(f"{name} is {shown(integer)}; it must be {most:,} at most.")
        return integer

    return check


def count(minimum: int, requirement: str = "") -> Check[int]:
    """Return a check for counts."""
    return whole(minimum, requirement, MAX_COUNT)


def number(is_valid: Callable[[float], bool], requirement: str) -> Check[float]:
    """Return a check for numbers, NumPy's included, that satisfy a condition."""

    def check(name: str, value: Any) -> float:
        if not isinstance(value, Real) or isinstance(value, bool):
            raise TypeError(f"{name} is {shown(value)}; it must be a number, {requirement}.")
        try:
            converted = float(value)
        except OverflowError:
            converted = float("inf")
        if not is_valid(converted):
            raise ValueError(f"{name} is {shown(value)}; it must be {requirement}.")
        return converted

    return check


def flag(name: str, value: Any) -> bool:
    """Return True or False; other values are a TypeError."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {shown(value)}; it must be True or False.")
    return bool(value)


def _check_of_kind(is_valid: Callable[[Any], bool], requirement: str) -> Check[Any]:
    """Return a check for values that satisfy a condition."""

    def check(name: str, value: Any) -> Any:
        if not is_valid(value):
            raise TypeError(f"{name} is {shown(value)}; it must be {requirement}.")
        return value

    return check


text: Check[str] = _check_of_kind(lambda value: isinstance(value, str), "text, a str")

function = _check_of_kind(callable, "a function")


def one_of(names: Sequence[str]) -> Check[Any]:
    """Return a check for one of some names."""
    requirement = f"it must be one of {', '.join(map(repr, names))}."

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"{name} is {shown(value)}; {requirement}")
        if value not in names:
            raise ValueError(f"{name} is {shown(value)}; {requirement}{nearest(value, names)}")
        return value

    return check


def instance(kind: type[Any], example: str) -> Check[Any]:
    """Return a check for instances of a class."""
    return _check_of_kind(lambda value: isinstance(value, kind), f"a {kind.__name__}, such as {example}")


def pairs(name: str, value: Any) -> tuple[tuple[str, Any], ...]:
    """Return pairs of a document and its answer."""
    checked_pairs = []
    for position, pair in enumerate(_items(name, value, "it must be a list of pairs, [(document, answer), ...].")):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"{name}[{position}] is {shown(pair)}; it must be a pair of a document and its answer, as in "
                f"{name}=[(document, answer), ...]."
            )
        document, answer = pair
        checked_pairs.append((text(f"The document of {name}[{position}]", document), answer))
    return tuple(checked_pairs)


def paths(name: str, value: Any) -> Literal[True] | list[str] | None:
    """Return True, or the paths of some fields; None for False."""
    if value is False:
        return None
    return True if value is True else _paths(name, value, "True, or a list of paths such as ['age']")


def fields(name: str, value: Any) -> list[str]:
    """Return the paths of some fields."""
    return _paths(name, value, "a list of paths such as ['number']")


def _paths(name: str, value: Any, requirement: str) -> list[str]:
    if isinstance(value, str):
        raise TypeError(f"{name} is one str, {shown(value)}. Pass a list: [{shown(value)}].")
    items = _items(name, value, f"it must be {requirement}. Leave it out for none.")
    return [text(f"{name}[{position}]", path) for position, path in enumerate(items)]


def _items(name: str, value: Any, requirement: str) -> list[Any]:
    """Return the items of an iterable that is neither text nor a mapping."""
    try:
        items = None if isinstance(value, str | bytes | Mapping) else list(value)
    except Exception:  # noqa: BLE001  an array without dimensions has an iterator that raises
        items = None
    if items is None:
        raise TypeError(f"{name} is {shown(value)}; {requirement}")
    return items


_PICKLE_REMEDIES = {
    **dict.fromkeys(("model", "source"), "Pass the name or the folder of the model"),
    "parser": "Pass on a function that makes it",
}
"""Remedies for arguments that cannot be pickled, by their names."""


def check_picklable(owner: str, arguments: Mapping[str, Any]) -> None:
    """Raise PicklingError for the first argument that cannot be pickled."""
    for name, value in arguments.items():
        try:
            with Path(os.devnull).open("wb") as stream:
                pickle.dump(value, stream, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            remedy = _PICKLE_REMEDIES.get(name, "Define it at the top of a module")
            raise pickle.PicklingError(
                f"The {name} of {owner} cannot be pickled: {error}. "
                f"{remedy}, or make the {owner.partition('(')[0]} in the process where it is used."
            ) from error


def anything(_: str, value: Any) -> Any:
    """Return a value that is checked where it is used."""
    return value


def or_none(check: Check[V]) -> Check[V | None]:
    """Return a check that allows None as well."""
    return lambda name, value: None if value is None else check(name, value)


def checked(checks: Mapping[str, Check[Any]], arguments: Mapping[str, Any], hints: Mapping[str, str]) -> dict[str, Any]:
    """Return arguments as the library keeps them. Raises TypeError also for unknown names.

    `hints` say what to write in place of names that are no options here.
    """
    unknown = sorted(arguments.keys() - checks.keys())
    if unknown:
        advice = "".join(dict.fromkeys(_hint_for(name, list(checks), hints) for name in unknown))
        raise TypeError(f"Unknown option {', '.join(unknown)}.{advice} The options are {', '.join(checks)}.")
    return {name: checks[name](name, value) for name, value in arguments.items()}


def _hint_for(name: str, options: Sequence[str], hints: Mapping[str, str]) -> str:
    """Return what to write in place of an unknown option, after a blank: the hint of the name that is most like it."""
    similar = name if name in hints else next(iter(nearest_of(name, [*options, *hints])), "")
    return f" {hints[similar]}" if similar in hints else nearest(name, options)


def says_its_arguments(kind: type[V]) -> type[V]:
    """Let a dataclass say which arguments it has where it is called with others, as the calls do for options."""
    setattr(kind, "__init__", says_arguments({}, kind.__name__)(vars(kind)["__init__"]))  # noqa: B010  mypy refuses the assignment
    return kind


def says_arguments(other_names: Mapping[str, str], function_name: str | None = None) -> Callable[[F], F]:
    """Return a decorator that lets a function say which arguments it has where it is called with others.

    `other_names` maps the names that its arguments have in other libraries to the names that they have here.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        names = [name for name in signature.parameters if name != "self"]
        hints = {other: f"It is called {name}." for other, name in other_names.items() if name in names}

        @functools.wraps(function)
        def checked_call(*args: Any, **kwargs: Any) -> Any:
            unknown = sorted(kwargs.keys() - set(names))
            hint = "".join(dict.fromkeys(_hint_for(name, names, hints) for name in unknown))
            try:
                if unknown:
                    raise TypeError(f"unknown argument {', '.join(unknown)}{'.' if hint else ''}{hint}")  # noqa: TRY301  said below
                signature.bind(*args, **kwargs)
            except TypeError as error:
                arguments = f"The {'argument is' if len(names) == 1 else 'arguments are'} {', '.join(names)}."
                title, end = function_name or function.__name__, "" if str(error)[-1] in "?." else "."
                raise TypeError(f"{title}: {error}{end} {arguments}") from None
            return function(*args, **kwargs)

        return cast("F", checked_call)

    return decorate


def check_fields(value: object, checks: Mapping[str, Check[Any]]) -> None:
    """Check the fields of a frozen value in its `__post_init__`."""
    for name, check in checks.items():
        object.__setattr__(value, name, check(name, getattr(value, name)))


def check_takes(name: str, function: Callable[..., Any], names: Iterable[str]) -> None:
    """Check that a function can be called with arguments of some names, where its signature can be read.

    Functions that Pydantic made are not checked, since its validators may take other names. Raises TypeError.
    """
    names = list(names)
    if hasattr(function, "__pydantic_validator__"):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # many functions in C, such as dict
        return
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        called = getattr(function, "__name__", shown(function))
        raise TypeError(
            f"{name} is {called}, which is called with {', '.join(names)} by name: {error}. Give a function "
            "with these parameters."
        ) from error
