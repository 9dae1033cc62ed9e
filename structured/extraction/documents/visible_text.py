"""Visible text of HTML: what a reader sees of a page, in lines.

Lines are laid out as by `innerText` (HTML Standard, 3.2.7): a block begins on a line of its own, with a blank line
around paragraphs, headings and tables; the cells of a row are separated by tabs; white space counts in `pre` alone.
Left out is what no browser shows: scripts, styles, comments, templates, and elements that are `hidden` or say so in
their `style`. A style sheet may hide more, which is not looked at.

A no-break space (U+00A0, `&nbsp;`) becomes a plain one, unlike in `innerText`: a reader sees no difference, and a value
is written with plain ones. The narrower ones that a reader may see (U+2007, U+202F) stay.

`html.parser` of the standard library was taken. lxml and BeautifulSoup build a tree, which costs many times the memory
of the page, and none of it is needed for one pass from top to bottom. `inscriptis` shows elements with `hidden` and
closed dialogs, and fills the cells of a table with spaces.
"""

import codecs
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

from structured.extraction.documents.plain_text import Content, decoded

_SPACES = re.compile(r"[ \t\n\r\f]+")
_TAG = re.compile(r"<[a-zA-Z/!?]")
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)", re.IGNORECASE)
_DECLARED_ENCODING = re.compile(
    rb"""<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)|^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE
)

_BROWSER_ENCODINGS = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    "iso8859-9": "cp1254",
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8"),
}
"""Encodings that pages declare, and those by which browsers read them (Encoding Standard, 4.2)."""

_VOID_ELEMENTS = frozenset("area base br col embed hr img input link meta source track wbr".split())
_HIDDEN_ELEMENTS = frozenset(
    "script style template noscript title datalist rp noframes noembed audio video canvas object iframe".split()
)
_SEPARATE_BLOCKS = frozenset("p h1 h2 h3 h4 h5 h6 table".split())
_BLOCKS = _SEPARATE_BLOCKS | frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form header hgroup hr html legend li main menu nav ol optgroup option pre search section summary tbody "
    "textarea tfoot thead tr ul".split()
)
_IMPLIED_ENDS = {
    **dict.fromkeys(_BLOCKS, ("p",)),
    "li": ("p", "li"),
    "dt": ("p", "dt", "dd"),
    "dd": ("p", "dt", "dd"),
    "tr": ("p", "tr"),
    "td": ("td", "th"),
    "th": ("td", "th"),
    "option": ("option",),
}
"""Elements that end where another begins (HTML Standard, 13.1.2.4)."""

_SCOPE_ELEMENTS = {"p": frozenset("td th caption button".split()), "li": frozenset("ul ol menu".split())}
_TABLE_SCOPE = frozenset(["table"])
_MAX_OPEN_SEARCHED = 64
"""Open elements among which one is looked for that ends here; a page that nests them deeper is broken."""


def read_html(path: Path) -> Content:
    """Return the visible text of a page. Raises PromptError if it is no text, OSError if it cannot be read."""
    data = path.read_bytes()
    return Content(visible_text(decoded(data, f"The file {path}", _declared_encoding(data))))


def visible_text(html: str) -> str:
    r"""Return what a reader sees of a page.

    >>> visible_text("<h1>Prices</h1><table><tr><td>Pear<td>1.20</table><script>x()</script>")
    'Prices\n\nPear\t1.20'
    """
    page = _Page()
    page.feed(_without_torn_tag(html))
    page.close()
    return "".join(page.pieces).strip("\n")


def _without_torn_tag(html: str) -> str:
    """Return a page without a tag that it ends in, which no browser shows and for which `html.parser` looks long."""
    torn = _TAG.search(html, html.rfind(">") + 1)
    return html if torn is None else html[: torn.start()]


def _declared_encoding(data: bytes) -> str:
    match = _DECLARED_ENCODING.search(data[:1_024])  # it has to stand there (HTML Standard, 4.2.5.4)
    if match is None:
        return "utf-8"
    declared = (match[1] or match[2]).decode("ascii", "replace")
    try:
        encoding = codecs.lookup(declared).name
    except LookupError:
        return declared  # which is refused where it is needed
    return _BROWSER_ENCODINGS.get(encoding, encoding)


class _Page(HTMLParser):
    """A page on its way to its visible text, from top to bottom."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._open: list[tuple[str, bool]] = []  # elements, and whether each hides what is in it
        self._open_counts: Counter[str] = Counter()
        self._hidden_depth = 0
        self._cells_of_rows: list[int] = []  # of each open row
        self._pending_space = False  # white space, line breaks and tabs that count if a text follows
        self._pending_breaks = self._pending_lines = self._pending_tabs = 0
        self._is_cell_empty = False  # so far, so that a block in it begins no line

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for closed in _IMPLIED_ENDS.get(tag, ()):
            self._end_implied(closed)
        if tag == "br":
            self._pending_breaks += not self._hidden_depth
        self._begin_block(tag)
        if tag in _VOID_ELEMENTS:
            return
        attributes = dict(attrs)
        hides = (
            tag in _HIDDEN_ELEMENTS
            or "hidden" in attributes
            or (tag == "dialog" and "open" not in attributes)
            or bool(_HIDING_STYLE.search(attributes.get("style") or ""))
        )
        self._open.append((tag, hides))
        self._open_counts[tag] += 1
        self._hidden_depth += hides
        if tag == "tr":
            self._cells_of_rows.append(0)
        elif tag in {"td", "th"} and self._cells_of_rows and not hides:
            self._cells_of_rows[-1] += 1
            if not self._hidden_depth:
                self._pending_tabs += self._cells_of_rows[-1] > 1
                self._is_cell_empty = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" and not self._open_counts["p"]:
            self._begin_block("p")  # it is read as an empty one
        if not self._open_counts[tag]:
            return
        while True:
            name, hides = self._open.pop()
            self._open_counts[name] -= 1
            self._hidden_depth -= hides
            if name == "tr" and self._cells_of_rows:
                self._cells_of_rows.pop()
                self._pending_tabs = 0
            if name in {"td", "th"}:
                if not self._is_cell_empty:
                    self._pending_breaks = self._pending_lines = 0  # of the last paragraph in the cell
                self._is_cell_empty = False
            self._begin_block(name)
            if name == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._hidden_depth:
            return
        if self._open_counts["pre"] or self._open_counts["textarea"]:
            text = data.replace("\r\n", "\n")
            inner = text.strip("\n")
            self._pending_breaks += len(text) - len(text.lstrip("\n"))
            if inner:
                self._write(inner)
                self._pending_breaks = len(text) - len(text.rstrip("\n"))
            return
        text = _SPACES.sub(" ", data)
        self._pending_space |= text.startswith(" ")
        inner = text.strip(" ")
        if inner:
            self._write(inner)
            self._pending_space = text.endswith(" ")

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Return where a comment ends: without an end of its own, with the page (HTML Standard, 13.2.5.45)."""
        end = super().parse_comment(i, report)
        return len(self.rawdata) if end < 0 else end

    def _write(self, text: str) -> None:
        """Write a text, after whatever is due before it."""
        lines = "\n" * max(self._pending_lines, self._pending_breaks) if self.pieces else ""
        cells = "\t" * self._pending_tabs
        space = " " * (self._pending_space and bool(self.pieces))
        self.pieces.append((lines + cells or space) + text.replace("\N{NO-BREAK SPACE}", " "))
        self._pending_space = self._is_cell_empty = False
        self._pending_breaks = self._pending_lines = self._pending_tabs = 0

    def _begin_block(self, tag: str) -> None:
        if tag in _BLOCKS and not self._hidden_depth and not self._is_cell_empty:
            self._pending_lines = max(self._pending_lines, 2 if tag in _SEPARATE_BLOCKS else 1)

    def _end_implied(self, tag: str) -> None:
        """End an element that is open in the same scope."""
        if not self._open_counts[tag]:
            return
        scope = _SCOPE_ELEMENTS.get(tag, _TABLE_SCOPE)
        for name, _ in islice(reversed(self._open), _MAX_OPEN_SEARCHED):
            if name == tag:
                self.handle_endtag(tag)
                return
            if name in scope:
                return
