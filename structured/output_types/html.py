"""Views for notebooks and pages: HTML, a card with a title, and in it tables, lists and texts.

Whatever is handed in is text, and is escaped here; only what these functions return is put in as it is. Colours are
those of the page, so that dark pages stay readable.
"""

from collections.abc import Iterable, Sequence
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from structured.errors import OutputError

if TYPE_CHECKING:
    from rich.console import RenderableType

_LEFT = "text-align:left;vertical-align:top"
_COLOURS = {"good": "#2e7d32", "doubtful": "#b26a00", "bad": "#c62828", "unknown": "#808080"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def html(text: object) -> Html:
    """Return text as HTML; characters that no page can hold, such as half a surrogate pair, are escaped."""
    return text if isinstance(text, Html) else Html(escape(str(text).encode(errors="backslashreplace").decode()))


def card(title: str, note: str, *parts: Html) -> Html:
    """Return parts under a title, with a note beside it."""
    return Html(f'<div><p><b>{html(title)}</b> <span style="opacity:.65">{html(note)}</span></p>{"".join(parts)}</div>')


def table(headings: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """Return a table, without its first row if there are no headings."""
    head = "".join(f'<th style="{_LEFT}">{html(heading)}</th>' for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td style={_LEFT!r}>{html(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return Html(f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>")


def bullet_list(items: Iterable[object]) -> Html:
    """Return a list of points."""
    return Html(f"<ul>{''.join(f'<li>{html(item)}</li>' for item in items)}</ul>")


def verbatim(text: object) -> Html:
    """Return a text with its lines and blanks as they are; long lines are broken."""
    return Html(f'<pre style="{_LEFT};white-space:pre-wrap;overflow-wrap:anywhere">{html(text)}</pre>')


def code(text: object) -> Html:
    """Return a name or a path as code."""
    return Html(f"<code>{html(text)}</code>")


def coloured(text: object, kind: str) -> Html:
    """Return a text that is "good", "doubtful", "bad" or "unknown"."""
    return Html(f'<span style="color:{_COLOURS[kind]}">{html(text)}</span>')


def highlighted(text: object, kind: str) -> Html:
    """Return a highlighted text that is "good", "doubtful", "bad" or "unknown"."""
    style = f"color:inherit;background:{_COLOURS[kind]}33;border-bottom:2px solid {_COLOURS[kind]}"
    return Html(f'<mark style="{style}">{html(text)}</mark>')


def concatenated(*parts: object) -> Html:
    """Return parts one after the other."""
    return Html("".join(map(html, parts)))


def as_text(part: "RenderableType", width: int | None = 160) -> str:
    """Return a table of rich, or another part, as plain text; without a width, as wide as `COLUMNS` says."""
    from rich.console import Console

    file = StringIO()
    Console(file=file, width=width, color_system=None, legacy_windows=False).print(part)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def write_page(path: Path, text: str) -> Path:
    """Write a text to a file, and return its path. Raises OutputError if it cannot be written."""
    try:
        path.write_bytes(text.encode(errors="backslashreplace"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", error)
        problem = f"{path} cannot be written: {reason}. Name a file in a folder that is there."
        raise OutputError(problem, path=str(path)) from error
    return path
