"""The layout of a command line: its options in any order, its arguments together, and then its subcommand.

An option is written once at most, or again and again at one place; any order of the options is allowed. The arguments
stand together, before, between or behind the options. `program -v in.png --quality 80` and
`program in.png --quality 80 -v` are lines of one command, `program a.png -v b.png` is none of `program in out`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from structured.errors import SchemaError
from structured.output_types.command_line.words import SPACE, name_word
from structured.regex import EMPTY, Members, Pattern, alternation, concat, optional, repeat


@dataclass(frozen=True, slots=True)
class Option:
    """An option with its values, or one of several that exclude each other.

    Attributes:
        pattern: What is written of it, without the space before it.
        required: Whether it has to be written.
        is_open: Whether a word behind it would be taken for one more of its values.
    """

    pattern: Pattern
    required: bool = False
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument, which goes by its place: a word, `minimum` to `maximum` times (None: without limit)."""

    words: Sequence[Pattern]
    """The words that are written for it once."""
    minimum: int = 1
    maximum: int | None = 1


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a subcommand.

    Attributes:
        options: What may be written in any order.
        arguments: What goes by its place.
        subcommands: The commands by the names that come last of all.
        needs_subcommand: Whether one of them has to be written.
        options_first: Whether no option may follow an argument.
        needs_words: Whether the command does nothing but show its help where nothing is written.
    """

    options: Sequence[Option] = ()
    arguments: Sequence[Argument] = ()
    subcommands: "Mapping[str, Command]" = field(default_factory=dict)
    needs_subcommand: bool = False
    options_first: bool = False
    needs_words: bool = False


def following_words(command: Command) -> Pattern:
    """Return what follows the name of a command: each word with a space before it."""
    options = _any_order(command.options)
    arguments = _any_order(_all_arguments(command))
    if command.options_first:
        parts = [*options, *arguments]
    elif any(option.is_open for option in command.options):
        parts = [*arguments, *options]
    else:
        parts = _any_order([*_all_arguments(command), *command.options])
    if command.subcommands:
        chosen = alternation(*map(_subcommand, command.subcommands, command.subcommands.values()))
        parts.append(Option(chosen, command.needs_subcommand))
    return _in_order(parts, needs_words=command.needs_words)


def _subcommand(name: str, command: Command) -> Pattern:
    return concat(SPACE, name_word(name), following_words(command))


def _all_arguments(command: Command) -> list[Option]:
    """Return the arguments of a command together as one part of the line, if it has any."""
    if not command.arguments:
        return []
    return [Option(_arguments(command.arguments), any(argument.minimum for argument in command.arguments))]


def _any_order(options: Sequence[Option]) -> list[Option]:
    """Return some options in any order as one part of the line, each with a space before it; none if there are none."""
    if not options:
        return []
    written = options[0].pattern
    if len(options) > 1:
        written = Members(tuple([(one.pattern, one.required) for one in options]), SPACE, in_order=False)
    return [Option(concat(SPACE, written), any(one.required for one in options))]


def _in_order(parts: Sequence[Option], *, needs_words: bool) -> Pattern:
    """Return parts of a line in their order; if words are needed, one of them at least is written."""
    written = [part.pattern if part.required else optional(part.pattern) for part in parts]
    if not needs_words or any(part.required for part in parts):
        return concat(*written)
    if not parts:
        raise SchemaError(
            "A command shows its help where nothing is written, and nothing can be", remedy="Let it take something."
        )
    return alternation(*(concat(part.pattern, *written[place + 1 :]) for place, part in enumerate(parts)))


def _arguments(arguments: Sequence[Argument]) -> Pattern:
    """Return the words of the arguments, one at least; the first have as many as there are to give."""
    after: Pattern = EMPTY
    fewest: Pattern = EMPTY
    for argument in reversed(arguments[1:]):
        after, fewest = _spread(argument, after, fewest)
    first = arguments[0]
    once = concat(*_separated(first.words))
    again = concat(SPACE, once)
    more = max(first.minimum - 1, 0)
    if first.maximum is None:
        written = concat(once, repeat(again, more, None), fewest)
    else:
        written = concat(once, repeat(again, more, more), after)
    needed = [
        Argument(argument.words, argument.minimum, argument.minimum) for argument in arguments if argument.minimum
    ]
    return alternation(written, _arguments(needed)) if needed and not first.minimum else written


def _spread(argument: Argument, after: Pattern, fewest: Pattern) -> tuple[Pattern, Pattern]:
    """Return an argument and those after it, and the same with as few words as they can have."""
    item = concat(SPACE, *_separated(argument.words))
    least = concat(repeat(item, argument.minimum, argument.minimum), fewest)
    if argument.maximum is None:
        return concat(repeat(item, argument.minimum, None), fewest), least
    if argument.maximum == argument.minimum:
        return concat(repeat(item, argument.minimum, argument.minimum), after), least
    return alternation(concat(item, after), least), least


def _separated(words: Sequence[Pattern]) -> list[Pattern]:
    """Return words with spaces between them."""
    return [part for word in words for part in (SPACE, word)][1:]
