"""Command lines that a parser accepts, as an output type: `CommandLine(parser)`."""

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, Generic, Self, TypeVar, overload

from structured.automata import RegularAutomaton
from structured.automata.byte_automaton import Recogniser
from structured.errors import SchemaError, arguments
from structured.errors.arguments import check_picklable
from structured.errors.values import described
from structured.output_types.command_line import argparse_parser, click_command
from structured.output_types.command_line.layout import Command, following_words
from structured.output_types.command_line.words import SPACE, name_word
from structured.output_types.output_type import Description, OutputType
from structured.regex import Pattern, concat

T = TypeVar("T")


class CommandLine(OutputType[T], Generic[T]):
    """The command lines that a parser accepts: one of `argparse`, a command of Click or an application of Typer.

    >>> from argparse import ArgumentParser
    >>> parser = ArgumentParser("convert")
    >>> _ = parser.add_argument("image")
    >>> _ = parser.add_argument("--quality", type=int, choices=range(1, 101))
    >>> CommandLine(parser).parse("convert in.png --quality 80")
    Namespace(image='in.png', quality=80)

    Options may stand in any order and each once, or, if it adds to what was given before, again and again at one place.
    Arguments stand together. Words are separated by one space and quoted where a shell needs it. Options that end the
    program, such as `--help`, and hidden ones are not written.
    """

    @overload
    def __init__(
        self: "CommandLine[Namespace]",
        parser: ArgumentParser,
        *,
        program: str | None = ...,
        description: str | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: "CommandLine[list[str]]",
        parser: object,
        *,
        program: str | None = ...,
        description: str | None = ...,
    ) -> None: ...
    def __init__(self, parser: Any, *, program: str | None = None, description: str | None = None) -> None:
        """Read a parser.

        Parameters:
            parser: An `argparse.ArgumentParser`: the value is its `Namespace`. Or a command or group of Click or an
                application of Typer: the value is the list of words behind the program's name, with which
                it can be called, `command(words)`.
            program: The program's name, with which each line begins; by default, that of the parser.
            description: What the prompt shows in place of the parser's help, which may be long.

        Raises:
            SchemaError: The parser has something that cannot be enforced; the place is told.
            TypeError: It is no parser.
        """
        if description is not None:
            arguments.text("description", description)
        self.parser = parser
        self._of_argparse = isinstance(parser, ArgumentParser)
        self._command = None if self._of_argparse else click_command.command_of(parser)
        if program is None:
            program = parser.prog if self._command is None else self._command.name or "program"
        arguments.text("program", program)
        self.program: Sequence[str] = _program_words(str(program))
        """The words that each line begins with; the parser reads those behind them."""
        if not self.program:
            raise SchemaError("The program has no name", remedy="Give one: CommandLine(parser, program='convert').")
        self._description = description
        self.name = f"CommandLine({shlex.join(self.program)!r})"
        self.validators = tuple(self._checked())
        self._pattern = concat(name_word(self.program[0]), *self._rest(self.program[1:]))

    def __repr__(self) -> str:
        return self.name

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        check_picklable(self.name, {"parser": self.parser})
        return _remade, (self.parser, shlex.join(self.program), self._description)

    def _rest(self, words: Sequence[str]) -> list[Pattern]:
        """Return what follows the first word: the others of the program, and what the parser reads."""
        read: Command
        if self._command is None:
            read = argparse_parser.read_parser(self.parser)
        else:
            read = click_command.read_command(self._command, shlex.join(self.program))
        return [*[concat(SPACE, name_word(word)) for word in words], following_words(read)]

    def _checked(self) -> list[str]:
        """Return the names of what may reject a line: options and arguments whose types are unknown."""
        if self._command is not None:
            return click_command.unknown_types(self._command)
        return argparse_parser.unknown_types(self.parser)

    def automaton(self, document: str | None = None) -> RegularAutomaton:  # noqa: ARG002  the same for each document
        """Return the automaton of the lines."""
        return RegularAutomaton(self._pattern)

    @cached_property
    def _recogniser(self) -> Recogniser:
        return Recogniser(self.automaton)

    @cached_property
    def _raising(self) -> ArgumentParser:
        return argparse_parser.raising(self.parser)

    def parse(self, text: str) -> T:
        """Return what the parser makes of a line: see the class. Raises ValueError if it, or a type of it, rejects."""
        if not self._recogniser.accepts(text):
            raise ValueError(f"{text!r} is none of the lines of {self.name}")
        words = shlex.split(text)[len(self.program) :]
        found: Any
        if self._command is None:
            found = self._raising.parse_args(words)
        else:
            click_command.check(self._command, self.program[-1], words)
            found = words
        return found  # type: ignore[no-any-return]

    @cached_property
    def _help(self) -> str:
        if self._description is not None:
            return self._description
        if self._command is None:
            return argparse_parser.help_of(self.parser)
        return click_command.help_of(self._command, shlex.join(self.program))

    def describe(self) -> Description:
        """Return the help of the parser."""
        return Description(
            "Program",
            self._help,
            answer="Command line",
            task="Answer with the command line alone that calls this program and does what the text asks for.",
        )

    @property
    def digest(self) -> str:
        """The SHA-256 of the lines and of the help."""
        fingerprint = self.automaton().fingerprint
        return sha256(repr(("command line", self.name, self._help, fingerprint)).encode()).hexdigest()

    def plain(self, value: Any) -> Any:
        """Return a value as plain JSON data: what a `Namespace` holds by its names, or the words."""
        return super().plain(vars(value) if isinstance(value, Namespace) else value)

    def write(self, value: Any) -> str:
        """Return the line of a value: of its words, or a line as it is. Raises ValueError if there is none."""
        if isinstance(value, Namespace):
            raise ValueError(f"{described(value)} does not tell how it was written. Give the line.")  # noqa: TRY004
        if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
            value = shlex.join((*self.program, *value))
        return super().write(value)


def _remade(parser: Any, program: str, description: str | None) -> CommandLine[Any]:
    """Return an unpickled type of command lines."""
    return CommandLine(parser, program=program, description=description)


def _program_words(program: str) -> list[str]:
    """Return the words of a program's name. Raises SchemaError where a quotation mark in it is not closed."""
    try:
        return shlex.split(program)
    except ValueError as error:
        raise SchemaError(
            f"The program's name {program!r} is not read as words: {error}",
            remedy="Give it as a shell reads it: CommandLine(parser, program='convert').",
        ) from error
