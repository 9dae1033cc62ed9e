"""Texts with spans and relations in the standoff format of BRAT: a file `.txt` beside a file `.ann`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Span:
    """A labelled piece of the text."""

    label: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Relation:
    """What holds between two spans; an event is its trigger."""

    name: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Annotated:
    """A text with its spans by their identifiers, and its relations."""

    text: str
    spans: Mapping[str, Span]
    relations: tuple[Relation, ...]


def annotated(path: Path) -> Annotated:
    """Return the text of a file `.txt` with what the file beside it says; spans of several pieces are left out."""
    with path.open(encoding="utf-8", newline="") as opened:
        text = opened.read().replace("\xa0", " ")
    spans: dict[str, Span] = {}
    triggers: dict[str, str] = {}
    relations: list[tuple[str, str, str]] = []
    for line in path.with_suffix(".ann").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition("\t")
        said = rest.split("\t")[0].split()
        if name.startswith("T") and len(said) == 3 and ";" not in rest.split("\t")[0]:
            start, end = int(said[1]), int(said[2])
            spans[name] = Span(said[0], start, end, text[start:end])
        elif name.startswith("E") and said:
            triggers[name] = said[0].partition(":")[2]
        elif name.startswith("R") and len(said) == 3:
            relations.append((said[0], said[1].partition(":")[2], said[2].partition(":")[2]))
    known = tuple(Relation(name, *(triggers.get(end, end) for end in ends)) for name, *ends in relations)
    return Annotated(text, spans, tuple(one for one in known if {one.first, one.second} <= spans.keys()))
