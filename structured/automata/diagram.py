"""Diagrams of automata: states and arrows over characters, as a table, as DOT for Graphviz and as Mermaid."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from structured.errors.values import printable
from structured.regex.character_classes import python_space, python_word, unicode_digits
from structured.regex.character_sets import Range, complement
from structured.regex.printing import SPECIAL, escape, range_text

NAMED = {r"\w": python_word, r"\d": unicode_digits, r"\s": python_space}
"""Classes of Python's `re` that name sets of characters, the largest first."""

MIN_NAMED = 5
"""The fewest ranges of a set in which such a class is looked for."""

_BRACES = frozenset(map(ord, "{}"))

_SHORT_ESCAPES = {r"\x09": r"\t", r"\x0a": r"\n", r"\x0d": r"\r"}
"""Short escapes of characters that `escape` spells by their numbers."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from a state: the characters that are read, and the target.

    Attributes:
        read: Sets of characters, each as sorted ranges of code points; one character of each set is read, in order.
            There is one set or, if there is no choice, a run of single characters.
        target: The number of the state after the arrow; None if that state is not shown.
    """

    read: tuple[tuple[Range, ...], ...]
    target: int | None

    @property
    def label(self) -> str:
        """The characters, as a regular expression of Python."""
        if len(self.read) == 1:
            return set_label(self.read[0])
        return text_label("".join(chr(ranges[0][0]) for ranges in self.read))

    @property
    def target_name(self) -> str:
        """The number of the state that it leads to, as a text."""
        return "…" if self.target is None else str(self.target)


@dataclass(frozen=True, slots=True)
class State:
    """A state: a text that reaches it, its arrows, and its shortest completion.

    Attributes:
        number: Its place among the states, in the order of a breadth-first search; the start has 0.
        arrows: The arrows from the state. No two have a first character in common.
        is_accepting: Whether the text may end here.
        reached_by: The shortest text from the start to the state.
        completion: A shortest text, in bytes, from the state to the end.
    """

    number: int
    arrows: tuple[Arrow, ...]
    is_accepting: bool
    reached_by: str
    completion: str


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text: in a state, or on an arrow of several characters."""

    state: int | None
    """The number of the state; None if it is not shown."""
    arrow: Arrow | None = None
    """The arrow, if some but not all of its characters have been read."""
    count: int = 0
    """How many of its characters have been read."""

    def __str__(self) -> str:
        if self.arrow is None:
            return "…" if self.state is None else str(self.state)
        return f"{self.state}→{self.arrow.target_name}"


def follow(states: Sequence[State], place: Place, character: str) -> Place | None:
    """Return the place after a character, None if no arrow has it. A state not shown keeps all characters."""
    if place.state is None:
        return place
    code = ord(character)
    arrows = states[place.state].arrows if place.arrow is None else (place.arrow,)
    for arrow in arrows:
        if any(low <= code <= high for low, high in arrow.read[place.count]):
            is_read = place.count + 1 == len(arrow.read)
            return Place(arrow.target) if is_read else Place(place.state, arrow, place.count + 1)
    return None


def text_to(states: Sequence[State], number: int, absent: frozenset[int]) -> str | None:
    """Return a text that leads to a state and has none of some bytes (breadth-first search); None if there is none."""
    texts = {0: ""}
    order = [0]
    for state_number in order:  # which grows on the way
        for arrow in states[state_number].arrows:
            if arrow.target is not None and arrow.target not in texts:
                read = [_writable(ranges, absent) for ranges in arrow.read]
                if None not in read:
                    texts[arrow.target] = texts[state_number] + "".join(filter(None, read))
                    order.append(arrow.target)
    return texts.get(number)


def _writable(ranges: tuple[Range, ...], absent: frozenset[int]) -> str | None:
    """Return the first character of some ranges without any of some bytes; None if there is none."""
    characters = (chr(code) for low, high in ranges for code in range(low, high + 1))
    return next((character for character in characters if absent.isdisjoint(character.encode())), None)


@lru_cache(maxsize=1024)
def set_label(ranges: tuple[Range, ...]) -> str:
    r"""Return the regular expression of a character of some ranges, which neither overlap nor touch.

    >>> set_label(((0x30, 0x39),)), set_label(((0x2E, 0x2E),))
    ('[0-9]', '\\.')
    """
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return text_label(chr(ranges[0][0]))
    others = complement(ranges)
    if not others:
        return r"[\s\S]"
    inside, outside = _members(ranges), _members(others)
    if len(inside) <= len(outside) + 1:
        return inside if inside in NAMED else f"[{inside}]"
    return outside.upper() if outside in NAMED else f"[^{outside}]"


def text_label(text: str) -> str:
    r"""Return the regular expression of a text: its special characters escaped, and blanks at its ends in brackets.

    >>> text_label('{"price": ')
    '{"price":[ ]'
    """
    escaped = [_short(escape(ord(character), SPECIAL - _BRACES)) for character in text]
    for end in {0, len(text) - 1}:
        if text[end] == " ":
            escaped[end] = "[ ]"
    # A brace before a digit or a comma would be a repetition.
    return re.sub(r"\{(?=[0-9,])", r"\\{", "".join(escaped))


def shortened(label: str, most: int) -> str:
    """Return a label, cut to at most `most` characters."""
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _members(ranges: tuple[Range, ...]) -> str:
    names = []
    for name, named in NAMED.items() if len(ranges) >= MIN_NAMED else ():
        if not _without(named(), ranges):
            names.append(name)
            ranges = _without(ranges, named())
    return "".join((*names, *(_short(range_text(low, high)) for low, high in ranges)))


def _short(escaped: str) -> str:
    r"""Return escaped characters with short escapes: `\x09-\x0a` → `\t-\n`."""
    for long, short in _SHORT_ESCAPES.items():
        escaped = escaped.replace(long, short)
    return escaped


def _without(ranges: tuple[Range, ...], others: tuple[Range, ...]) -> tuple[Range, ...]:
    return complement((*complement(ranges), *others))


MAX_READ, MAX_COMPLETION = 38, 26
"""The most characters of a label and of a completion in a line of the table."""


def table(states: Sequence[State]) -> str:
    """Return the states as a table of at most 80 columns: a line for each arrow.

    The start has a `>` before its number; the number of an accepting state is in double parentheses.
    """
    rows = [("state", "reads", "→", "shortest completion"), *(row for state in states for row in _rows(state))]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join((*map(str.ljust, row[:3], widths), row[3])).rstrip() for row in rows)


def _rows(state: State) -> Iterator[tuple[str, str, str, str]]:
    name = f"(({state.number}))" if state.is_accepting else f"  {state.number}"
    ending = "" if state.is_accepting else shortened(printable(state.completion), MAX_COMPLETION)
    for arrow in state.arrows or [None]:
        label, target = ("", "") if arrow is None else (shortened(arrow.label, MAX_READ), arrow.target_name)
        yield (f"> {name.strip()}" if name and not state.number else name), label, target, ending
        name = ending = ""


def dot(states: Sequence[State], name: str) -> str:
    """Return the graph in DOT (https://graphviz.org/doc/info/lang.html), from left to right.

    An arrow from a point leads to the start.
    """
    return "\n".join(("digraph {", *(f"  {line}" for line in _dot_statements(states, name)), "}", ""))


def _dot_statements(states: Sequence[State], name: str) -> Iterator[str]:
    yield "rankdir=LR;"
    yield f"label={_dot_text(name)};"
    yield 'node [shape=circle, fontname="monospace"];'
    yield 'edge [fontname="monospace"];'
    yield "start [shape=point];"
    for state in states:
        yield f"{state.number} [shape=doublecircle];" if state.is_accepting else f"{state.number};"
    yield "start -> 0;"
    for state in states:
        if any(arrow.target is None for arrow in state.arrows):
            yield f'more{state.number} [shape=plaintext, label="…"];'
        for arrow in state.arrows:
            target, style = (f"more{state.number}", ", style=dashed") if arrow.target is None else (arrow.target, "")
            yield f"{state.number} -> {target} [label={_dot_text(arrow.label)}{style}];"


def _dot_text(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def mermaid(states: Sequence[State], name: str) -> str:
    """Return the graph in Mermaid (https://mermaid.js.org/syntax/flowchart.html), from left to right.

    GitHub and JupyterLab draw it. An arrow from a point leads to the start.
    """
    title = json.dumps(printable(name), ensure_ascii=False)
    return "\n".join(("---", f"title: {title}", "---", "flowchart LR", *_mermaid_statements(states), ""))


def _mermaid_statements(states: Sequence[State]) -> Iterator[str]:
    yield "  start(( )) --> 0"
    for state in states:
        yield f"  {state.number}((({state.number})))" if state.is_accepting else f"  {state.number}(({state.number}))"
    for state in states:
        for arrow in state.arrows:
            label = _mermaid_text(arrow.label)
            if arrow.target is None:
                yield f'  {state.number} -. {label} .-> more{state.number}["…"]'
            else:
                yield f"  {state.number} -- {label} --> {arrow.target}"


def _mermaid_text(text: str) -> str:
    r"""Return a text as a string of Mermaid, with the characters that Mermaid or HTML would read as numbers: `#35;`."""
    return '"{}"'.format(re.sub(r'["#&;<>`\\]', lambda match: f"#{ord(match[0])};", text))
