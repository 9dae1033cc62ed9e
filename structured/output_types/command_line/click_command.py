"""The commands of Click and applications of Typer: which lines a command accepts, and how a line is checked.

Click, older Typer, which is built on it, and newer Typer, which brings its own, describe their commands alike: a
command has `params`, a group has commands. A type is known by its class where that is Click's, and by its annotation
where that is Typer's. Files and paths are texts: whether they exist is for the program to see when it runs.
"""

import copy
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from enum import Enum, EnumType
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from structured.errors import SchemaError
from structured.errors.values import described
from structured.output_types.command_line.layout import Argument, Command, Option
from structured.output_types.command_line.words import (
    SPACE,
    Value,
    decimals,
    free_text,
    hexadecimal,
    integers,
    name_word,
    spelled,
    texts,
)
from structured.regex import Pattern, alternation, concat, literal, repeat

WIDTH = 100
"""Columns of the help that a prompt shows, whatever the terminal has."""

_UUID = concat(hexadecimal(8), *[concat(literal("-"), hexadecimal(4))] * 3, literal("-"), hexadecimal(12))


def command_of(program: object) -> Any:
    """Return the command of an application of Typer, or a command of Click itself. Raises TypeError for others."""
    typer = sys.modules.get("typer")
    if typer is not None and isinstance(program, typer.Typer):
        if not (program.registered_commands or program.registered_groups or program.registered_callback):
            raise SchemaError("The application of Typer has no command", remedy="Add one, with @app.command().")
        return typer.main.get_command(program)
    if not hasattr(program, "make_context") or not hasattr(program, "params"):
        raise TypeError(
            f"parser is {described(program)}. Pass an argparse.ArgumentParser, a command of Click or a typer.Typer."
        )
    return program


def read_command(command: Any, place: str) -> Command:
    """Return the lines that a command accepts. Raises SchemaError for what cannot be enforced, with its place."""
    params = list(_written(command))
    marks = "".join(dict.fromkeys("-" + "".join(name[0] for one in params for name in _names(one))))
    options = [_option(one, marks, place) for one in params if one.param_type_name == "option"]
    given = [one for one in params if one.param_type_name == "argument"]
    arguments = _arguments(given, marks, place)
    if getattr(command, "chain", False):
        raise _unsupported("A group that chains its commands", place, "Call one command at a time.")
    subcommands = {} if not _is_group(command) else dict(_subcommands(command, place))
    needs_subcommand = _is_group(command) and not command.invoke_without_command
    if needs_subcommand and not subcommands:
        raise _unsupported("A group has no command", place, "Add one.")
    if subcommands and any(one.minimum != one.maximum for one in arguments):
        raise _unsupported("An argument before a subcommand may be left out or repeated", place)
    interspersed = command.context_settings.get("allow_interspersed_args", command.allow_interspersed_args)
    return Command(
        options,
        arguments,
        subcommands,
        needs_subcommand=needs_subcommand,
        options_first=bool(subcommands) or not interspersed,
        needs_words=bool(command.no_args_is_help),
    )


def _unsupported(what: str, place: str, remedy: str = "Write a command without it.") -> SchemaError:
    return SchemaError(what, schema_path=place, remedy=remedy)


def _is_group(command: Any) -> bool:
    return hasattr(command, "list_commands")


def _subcommands(command: Any, place: str) -> Iterator[tuple[str, Command]]:
    """Yield the commands of a group that are not hidden, by their names."""
    for name, inner in _commands(command):
        if not getattr(inner, "hidden", False):
            yield name, read_command(inner, f"{place} {name}")


def _commands(command: Any) -> Iterator[tuple[str, Any]]:
    context = _context(command, "")
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None:
            yield name, inner


def _context(command: Any, name: str) -> Any:
    """Return a context in which nothing is run."""
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    return command.context_class(command, info_name=name, **settings)


def _names(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts] if parameter.param_type_name == "option" else []


def _written(command: Any) -> Iterator[Any]:
    """Yield the parameters that are written: not those that are hidden, or act on their own as `--version` does."""
    for one in command.params:
        aside = getattr(one, "hidden", False) or one.is_eager or not one.expose_value
        if _is_required(one) or not aside:
            yield one


def _is_required(parameter: Any) -> bool:
    """Tell whether a parameter has to be written: also if the program would ask its user for it."""
    return bool(parameter.required) or bool(getattr(parameter, "prompt", None))


def _option(parameter: Any, marks: str, place: str) -> Option:
    """Return an option with its values."""
    names = [_name(names, place) for names in (parameter.opts, parameter.secondary_opts) if names]
    written: Pattern = alternation(*map(name_word, names))
    if not (parameter.is_flag or parameter.count):
        needs_plain = bool(getattr(parameter, "_flag_needs_value", False))
        values = _values(parameter, marks, place, is_plain=needs_plain)
        written = concat(written, *[part for value in values for part in (SPACE, value)])
    if parameter.multiple or parameter.count:
        written = concat(written, repeat(concat(SPACE, written), 0, None))
    return Option(written, _is_required(parameter))


def _name(names: Sequence[str], place: str) -> str:
    """Return the name by which an option is written: the first long one, or else the first."""
    name = next((name for name in names if name.startswith("--")), names[0])
    if str(name_word(name)) != str(literal(name)) or "=" in name:
        raise _unsupported(f"The name {name!r} needs quotes", place)
    return name


def _arguments(parameters: Sequence[Any], marks: str, place: str) -> list[Argument]:
    """Return the arguments. One that may be left out is written where another has to come after it."""
    found: list[Argument] = []
    is_variadic = any(one.nargs < 0 for one in parameters)
    is_needed = False
    for one in reversed(parameters):
        is_needed = is_needed or one.required or (is_variadic and one.nargs > 0)
        least = int(one.required if one.nargs < 0 else is_needed)
        found.append(Argument(_values(one, marks, place, is_plain=True), least, None if one.nargs < 0 else 1))
    return found[::-1]


def _values(parameter: Any, marks: str, place: str, *, is_plain: bool) -> list[Pattern]:
    """Return the words that are written for a parameter once."""
    count = max(parameter.nargs, 1)
    try:
        values = _typed(parameter, marks)
    except SchemaError as error:
        raise _unsupported(error.problem, f"{place}, {parameter.name}", error.remedy) from error
    values = values * count if len(values) == 1 else values
    words = [value.plain if is_plain else value.words for value in values]
    found = [word for word in words if word is not None]
    if len(found) < len(words):
        raise _unsupported("No value can be told from an option", f"{place}, {parameter.name}")
    return found


def _typed(parameter: Any, marks: str) -> list[Value]:
    """Return the value of a parameter, or each of several."""
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is None:
        kinds = getattr(parameter.type, "types", None) or [parameter.type]
        return [_of_type(kind, marks) for kind in kinds]
    annotation = descriptor.annotation
    kinds = get_args(annotation) if get_origin(annotation) in (list, tuple) else [annotation]
    return [_of_annotation(kind, descriptor.parameter_info, marks) for kind in kinds]


def _of_annotation(kind: Any, info: Any, marks: str) -> Value:
    """Return the value of a type of Typer's."""
    if info.parser is not None:
        return free_text(marks)
    if isinstance(kind, EnumType):
        members: Iterable[Any] = kind
        return texts([str(member.value) for member in members], marks)
    if get_origin(kind) is Literal:
        return texts(map(str, get_args(kind)), marks)
    low, high = (None, None) if info.clamp else (info.min, info.max)
    if kind is int:
        return integers(None if low is None else int(low), None if high is None else int(high), marks)
    if kind is float:
        return decimals(_fraction(low), _fraction(high), marks)
    if kind is bool:
        return texts(["true", "false"], marks)
    return spelled(_UUID) if kind is UUID else free_text(marks)


def _of_type(kind: Any, marks: str) -> Value:
    """Return the value of a type of Click's."""
    click = sys.modules["click"]
    if isinstance(kind, click.Choice):
        named = [
            one if isinstance(one, str) else one.name if isinstance(one, Enum) else str(one) for one in kind.choices
        ]
        return texts(named, marks)
    if isinstance(kind, (type(click.INT), type(click.FLOAT))):
        return _number(kind, marks, is_whole=isinstance(kind, type(click.INT)))
    if isinstance(kind, type(click.BOOL)):
        return texts(["true", "false"], marks)
    return spelled(_UUID) if isinstance(kind, type(click.UUID)) else free_text(marks)


def _number(kind: Any, marks: str, *, is_whole: bool) -> Value:
    """Return the numbers of a type, within its limits; a limit that is not of them leaves a little out beside it."""
    bounded = hasattr(kind, "min") and not kind.clamp
    low, high = (kind.min, kind.max) if bounded else (None, None)
    opened = (kind.min_open, kind.max_open) if bounded else (False, False)
    if is_whole:
        least = None if low is None else int(low) + opened[0]
        return integers(least, None if high is None else int(high) - opened[1], marks)
    return decimals(_fraction(low, opened[0]), _fraction(high, -opened[1]), marks)


def _fraction(end: float | None, inward: int = 0) -> Fraction | None:
    """Return a limit as it is written; of one that is excluded, a number `inward` (1 or -1) that surely is another.

    That is a millionth of the power of ten above the limit away.
    """
    if end is None:
        return None
    return Fraction(str(end)) + inward * Fraction(10 ** len(str(int(abs(end)))), 10**6)


_KNOWN_TYPES = "STRING", "INT", "FLOAT", "BOOL", "UUID", "UNPROCESSED"


def unknown_types(command: Any) -> list[str]:
    """Return the names of the parameters whose types or callbacks may reject a text that is written for them."""
    found = [one.name for one in _written(command) if one.callback is not None or not _is_known(one)]
    if _is_group(command):
        found += [name for _, inner in _commands(command) for name in unknown_types(inner)]
    return list(dict.fromkeys(found))


def _is_known(parameter: Any) -> bool:
    if parameter.param_type_name == "option" and (parameter.is_flag or parameter.count):
        return True
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is not None:
        kinds = get_args(descriptor.annotation) or [descriptor.annotation]
        return descriptor.parameter_info.parser is None and not any(_is_date(kind) for kind in kinds)
    click = sys.modules["click"]
    classes = (*(type(getattr(click, name)) for name in _KNOWN_TYPES), click.Choice, click.File, click.Path)
    return all(isinstance(kind, classes) for kind in getattr(parameter.type, "types", None) or [parameter.type])


def _is_date(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, date)


def check(command: Any, name: str, words: Sequence[str], parent: Any = None) -> None:
    """Let a command read its words, as it does before it runs. Raises ValueError if it, or a type of it, rejects."""
    quiet = copy.copy(command)
    quiet.params = list(map(_without_files, command.params))
    try:
        context = quiet.make_context(name, list(words), parent=parent)
    except Exception as error:
        raise ValueError(getattr(error, "message", "") or str(error) or type(error).__name__) from error
    kept_aside = "_protected_args" if hasattr(context, "_protected_args") else "protected_args"  # before Click 8.2
    rest = [*getattr(context, kept_aside, ()), *context.args]
    if _is_group(command) and rest:
        check(command.get_command(context, rest[0]), rest[0], rest[1:], context)


def _without_files(parameter: Any) -> Any:
    """Return a parameter whose files and paths are texts, so that none is looked for, or opened."""
    found = copy.copy(parameter)
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is None:
        found.type = _type_without_files(parameter.type)
        return found
    kinds = get_args(descriptor.annotation) or (descriptor.annotation,)
    if descriptor.is_file or descriptor.is_path or any(map(_is_path, kinds)):
        found.type_descriptor = copy.copy(descriptor)
        object.__setattr__(found.type_descriptor, "annotation", _annotation_without_paths(descriptor.annotation))
        object.__setattr__(found.type_descriptor, "file_annotation", None)
        found._runtime_param = None  # noqa: SLF001
    return found


def _is_path(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)


def _annotation_without_paths(annotation: Any) -> Any:
    kinds = get_args(annotation)
    if get_origin(annotation) is list:
        return list[str]
    if get_origin(annotation) is tuple:
        return tuple.__class_getitem__(tuple([str if _is_path(kind) else kind for kind in kinds]))
    return str


def _type_without_files(kind: Any) -> Any:
    click = sys.modules["click"]
    if isinstance(kind, (click.File, click.Path)):
        return click.STRING
    if not hasattr(kind, "types"):
        return kind
    found = copy.copy(kind)
    found.types = [_type_without_files(one) for one in kind.types]
    return found


def help_of(command: Any, name: str) -> str:
    """Return the help of a command and of its subcommands, as plain text."""
    context = _context(command, name)
    formatter = context.make_formatter()
    for write in ("format_usage", "format_help_text", "format_options", "format_epilog"):
        getattr(command, write)(context, formatter)
    inner = [help_of(one, f"{name} {called}") for called, one in _commands(command)] if _is_group(command) else []
    return "\n\n".join([formatter.getvalue().strip(), *inner])
