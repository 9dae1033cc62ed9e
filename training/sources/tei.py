"""Paragraphs of scientific papers with their measurements, annotated in TEI: lfoppiano/grobid-quantities.

A measurement is `<measure type="value"><num>5</num> <measure type="LENGTH" unit="km">km</measure></measure>`; a range
has `atLeast` and `atMost` in its numbers. In another part of the corpus, `<measure ptr="#a">5 km</measure>` points
to the `<quantifiedObject id="a">` that is measured.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement as it is printed; what is not annotated is None."""

    text: str
    number: str | None = None
    unit: str | None = None
    kind: str | None = None
    """What is measured: `length`, `magnetic field strength`."""
    least: str | None = None
    most: str | None = None
    subject: str | None = None
    """The name of what is measured, as the paragraph has it."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text with its measurements, in their order."""

    text: str
    measurements: tuple[Measurement, ...]


_INLINE = {"measure", "quantifiedObject", "ref", "hi", "s"}
"""What a paragraph may consist of: not tables, lists or figures."""


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file whose parts are known, without dates among their measurements."""
    for element in ET.parse(path).getroot().iter():  # noqa: S314 - a cloned repository that was looked at
        if _name(element) == "p" and all(_name(part) in _INLINE for part in element):
            paragraph = _paragraph(element)
            if paragraph is not None:
                yield paragraph


def _paragraph(element: ET.Element) -> Paragraph | None:
    """Return a paragraph; None where a measurement is not of a form that is read."""
    subjects = {part.get("id"): _text(part) for part in element if _name(part) == "quantifiedObject"}
    found: list[Measurement] = []
    for part in element:
        if _name(part) == "measure" and not _is_date(part):
            measured = _measurement(part, subjects.get((part.get("ptr") or "").lstrip("#")))
            if measured is None:
                return None
            found.append(measured)
    text = _text(element)
    return Paragraph(text, tuple(found)) if all(one.text and one.text in text for one in found) else None


def _measurement(element: ET.Element, subject: str | None) -> Measurement | None:
    """Return a measurement; None if it has no number, several units or parts in parts."""
    text, parts = _text(element), list(element)
    if not parts:
        return Measurement(text, subject=subject)
    if any(len(part) for part in parts) or {_name(part) for part in parts} - {"num", "measure"}:
        return None
    units = [part for part in parts if _name(part) == "measure"]
    numbers = [part for part in parts if _name(part) == "num"]
    unit = _text(units[-1]) if units else None
    if not numbers or len({_text(one) for one in units}) > 1:
        return None
    number = text.removesuffix(unit).strip(" -") if unit else text
    is_apart = not units or (len(units) == 1 and parts[-1] is units[0])
    return Measurement(
        text,
        _text(numbers[0]) if len(numbers) == 1 else number if is_apart else None,
        unit,
        _kind(units),
        _bound(numbers, "atLeast"),
        _bound(numbers, "atMost"),
        subject,
    )


def _bound(numbers: list[ET.Element], side: str) -> str | None:
    return next((_text(one) for one in numbers if side in one.attrib), None)


def _kind(units: list[ET.Element]) -> str | None:
    """Return the kind of a measurement, if all its units are of one that is a word."""
    kinds = {(one.get("type") or "").replace("_", " ").lower() for one in units}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return kind if re.fullmatch(r"[a-z ]+", kind) and kind not in ("unknown", "value", "interval") else None


def _is_date(element: ET.Element) -> bool:
    return any(_name(part) in ("date", "time") for part in element.iter())


def _name(element: ET.Element) -> str:
    """Return the name of an element without its namespace; "" for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())
