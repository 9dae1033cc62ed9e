"""States and arrows: an automaton as a person sees it, over characters."""

from collections.abc import Sequence
from dataclasses import dataclass

from structured.automata.diagram.labels import set_label, text_label
from structured.regex.character_sets import Range


@dataclass(frozen=True, slots=True)
class Arrow:
    """What may be read in a state, and where it leads.

    Attributes:
        read: Sets of characters, each as sorted ranges of code points: what is read is one of each, in order. There is
            one set or, where no other way leads on, a run of single characters.
        target: The number of the state after it; None if that state is not shown.
    """

    read: tuple[tuple[Range, ...], ...]
    target: int | None

    @property
    def label(self) -> str:
        """What is read, as a regular expression of Python."""
        if len(self.read) == 1:
            return set_label(self.read[0])
        return text_label("".join(chr(ranges[0][0]) for ranges in self.read))


@dataclass(frozen=True, slots=True)
class State:
    """A state: what it has read, what may follow, and how soon the text can end.

    Attributes:
        number: Its place among the states, in the order of a breadth-first search; that of the start is 0.
        arrows: What may follow. No two have a first character in common.
        is_accepting: Whether the text may end here.
        reached_by: The shortest text that leads here.
        completion: A shortest text, in bytes, that leads from here to the end.
    """

    number: int
    arrows: tuple[Arrow, ...]
    is_accepting: bool
    reached_by: str
    completion: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text has come to: in a state, or between two, on an arrow of several characters."""

    state: int | None
    """The number of the state; None if it is not shown."""
    arrow: Arrow | None = None
    """The arrow, where some of its characters have been read and not yet all."""
    count: int = 0
    """So many of its characters have been read."""

    def __str__(self) -> str:
        if self.arrow is None:
            return "…" if self.state is None else str(self.state)
        return f"{self.state}→{'…' if self.arrow.target is None else self.arrow.target}"


def follow(states: Sequence[State], place: Place, character: str) -> Place | None:
    """Return the place after a character; None where nothing leads on. What is not shown is not known to end."""
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
    """Return a text without some bytes that leads to a state, by a breadth-first search; None if there is none."""
    texts = {0: ""}
    order = [0]
    for here in order:  # which grows on the way
        for arrow in states[here].arrows:
            if arrow.target is not None and arrow.target not in texts:
                read = [_without(absent, ranges) for ranges in arrow.read]
                if None not in read:
                    texts[arrow.target] = texts[here] + "".join(filter(None, read))
                    order.append(arrow.target)
    return texts.get(number)


def _without(absent: frozenset[int], ranges: tuple[Range, ...]) -> str | None:
    """Return the first character of some ranges that has none of some bytes; None if there is none."""
    characters = (chr(code) for low, high in ranges for code in range(low, high + 1))
    return next((one for one in characters if absent.isdisjoint(one.encode())), None)
