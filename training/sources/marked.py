"""Printed texts whose parts are elements of XML: a line break is `<lb/>`, any other white space is a space."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET


@dataclass(frozen=True, slots=True)
class Part:
    """A labelled part of a printed text, in one line."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A printed text with its parts, in their order."""

    text: str
    parts: tuple[Part, ...]

    def single(self) -> dict[str, str]:
        """Return the parts by label, without labels that several have."""
        labels = [part.label for part in self.parts]
        return {part.label: part.text for part in self.parts if labels.count(part.label) == 1}

    def several(self, label: str) -> list[str]:
        """Return the texts of all parts with a label."""
        return [part.text for part in self.parts if part.label == label]


Labels = Callable[[ET.Element], str | None]
"""The label of an element; None for one that is only text."""


def elements(path: Path, name: str) -> Iterator[ET.Element]:
    """Yield the elements of a name in a file."""
    for element in ET.parse(path).getroot().iter():  # noqa: S314 - a cloned repository that was looked at
        if local_name(element) == name:
            yield element


def local_name(element: ET.Element) -> str:
    """Return the name of an element without its namespace; "" for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def marked(element: ET.Element, label: Labels) -> Marked | None:
    """Return the text of an element with its parts; None where a word of a part is broken at the end of a line."""
    found: list[Part] = []
    text = tidy(_walked(element, label, found))
    is_broken = any("-\n" in part.text for part in found)
    parts = tuple(Part(part.label, bare(" ".join(part.text.split()))) for part in found)
    return Marked(text, parts) if not is_broken and all(part.text for part in parts) else None


def _walked(element: ET.Element, label: Labels, found: list[Part]) -> str:
    if local_name(element) == "lb":
        return "\n"
    text = _spaced(element.text)
    place = len(found)
    for child in element:
        text += _walked(child, label, found) + _spaced(child.tail)
    own = label(element)
    if own:
        found.insert(place, Part(own, tidy(text)))
    return text


def _spaced(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def tidy(text: str) -> str:
    """Return a text without spaces before signs, at the ends of lines and in empty lines."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return re.sub(r" ([,.;:)])", r"\1", "\n".join(line for line in lines if line))


_PAIRS = (("(", ")"), ("“", "”"), ('"', '"'), ("‘", "’"), ("«", "»"), ("[", "]"))


def bare(text: str) -> str:
    """Return a part without the signs around it: "(2011)." → "2011", but "Holm, I." stays."""
    text = _stripped(text)
    for first, last in _PAIRS:
        if text[:1] == first and text[-1:] == last and len(text) > 2 and last not in text[1:-1]:
            text = text[1:-1]
        elif text[:1] == first and last not in text[1:]:
            text = text[1:]
        elif text[-1:] == last and first not in text[:-1]:
            text = text[:-1]
        text = _stripped(text)
    return text


def _stripped(text: str) -> str:
    text = text.strip(" ,;:").lstrip(".")
    return text if re.search(r"(?:\b[A-Z]|\bal|\b[JS]r|\bInc|\bLtd|\bCo)\.$", text) else text.rstrip(" ,;:.")


def is_latin(text: str) -> bool:
    """Tell whether nearly all characters of a text are Latin letters, digits and signs."""
    return sum(ord(letter) < 0x250 or 0x2010 <= ord(letter) < 0x2040 for letter in text) > 0.98 * len(text)
