"""Output and errors of commands: results on stdout, messages on stderr, and exit codes."""

import logging
import os
import re
import sys
import warnings
from enum import IntEnum
from typing import Any

import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text
from typer.core import TyperGroup

from structured.errors import StructuredError, StructuredWarning
from structured.output_types.html import as_text


def show(*parts: RenderableType) -> None:
    """Print parts below each other; in a pipe wide enough for tables, without the spaces that fill their lines."""
    console = Console()
    if console.is_terminal:
        console.print(*parts, sep="\n")
    else:
        typer.echo(as_text(Group(*parts), None if "COLUMNS" in os.environ else 160))


class ExitCode(IntEnum):
    """The exit codes of all commands."""

    FINE = 0
    SOME_FAILED = 1
    USAGE = 2
    """That is typer's own."""
    UNUSABLE = 3
    """The type or the model cannot be used, or a file cannot be read or written."""
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    """The reader of the output, such as `head`, closed it. Shells use this code, too."""


class Commands(TyperGroup):
    """Commands whose errors are sentences."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. Errors that are expected become exits; warnings of the library are sentences, too."""
        with warnings.catch_warnings():
            show_others = warnings.showwarning

            def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
                if issubclass(category, StructuredWarning):
                    say(str(message), style="yellow")
                else:
                    show_others(message, category, *where, **more)

            warnings.showwarning = show
            if os.environ.get("STRUCTURED_DEBUG"):
                logging.basicConfig(level=logging.ERROR)
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()  # now: a closed pipe is still an error of the command here
            except KeyboardInterrupt:
                say("Interrupted.")
                raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
            except BrokenPipeError:
                # The rest of the output goes nowhere: flushing it at exit would be another error.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit(int(ExitCode.CLOSED_PIPE)) from None
            except typer.BadParameter as error:
                error.message = in_options(error.message, self.get_command(ctx, ctx.invoked_subcommand or ""))
                raise
            except (StructuredError, OSError) as error:
                if os.environ.get("STRUCTURED_DEBUG"):
                    raise
                say(in_options(sentence(error), self.get_command(ctx, ctx.invoked_subcommand or "")), style="red")
                raise typer.Exit(int(ExitCode.UNUSABLE)) from error
            return result


def in_options(text: str, command: Any) -> str:
    """Return a message of the library with the options of the command: `batch_size is 0` → `--batch-size is 0`."""
    for parameter in getattr(command, "params", ()):
        name, option = parameter.name, parameter.opts[0]
        if option.startswith("--"):
            pattern = rf"(?<![\w'\".-]){name}(?![\w'\"(])" if "_" in name else rf"(?:^|(?<=Error: )){name}(?= is )"
            text = re.sub(pattern, option, text)
    return text


def sentence(error: Exception) -> str:
    """Return an error as people read it, without characters that no terminal can show."""
    return f"{type(error).__name__}: {error}".encode(errors="backslashreplace").decode()


def say(text: str, *, style: str = "") -> None:
    """Write something for people to stderr, as one paragraph."""
    Console(stderr=True, soft_wrap=not sys.stderr.isatty(), highlight=False).print(Text(text, style=style))
