"""Where the parts of a combination end in a text.

Which positions of the combination may be read up to each byte is found from the front, which of them lead to the end
from the back. Where a text can be split in several ways, earlier parts take as much as they can, as the quantifiers of
`re` do. Both ways take as many steps as the text has bytes, times the states that are possible at one of them.
Backtracking was the alternative: it may take a number of steps that grows with a power of the length.
"""

from collections.abc import Callable, Iterator

from structured.automata.byte_automaton import DEAD
from structured.automata.combination import Member, Positions
from structured.errors import arguments

Span = tuple[int, int, int]
"""A position, and where the text of its automaton starts and ends, in characters."""

_After = dict[Member, Member | None]
"""For each member at one byte that leads to the end what it is after that byte; None if it reads no more."""


def split(positions: Positions, text: str, *, longest: bool = True) -> list[Span] | None:
    """Return the positions that a text goes through, each with its span; None if the text is none of theirs.

    Earlier spans are as long as they can be, or as short, if not `longest`.
    """
    data = arguments.text("text", text).encode()
    if not data and positions.is_empty:
        return []
    alive = _leading_to_the_end(positions, data)
    found: list[tuple[int, int]] = []
    here = _first(positions.begun(positions.first), alive[0])
    place = 0
    if here is None:
        return None
    while here is not None:
        after, follower = alive[place][here], _follower(positions, here, alive[place])
        is_end = place == len(data) and here[0] in positions.last and positions.automata[here[0]].accepts(here[1])
        if after is not None and (longest or follower is None):
            here, place = after, place + 1
        else:
            found.append((here[0], place))
            here = None if is_end else follower
    return list(_spans(found, data))


def _spans(ends: list[tuple[int, int]], data: bytes) -> Iterator[Span]:
    start = read = 0
    for position, end in ends:
        count = len(data[read:end].decode())
        yield position, start, start + count
        start, read = start + count, end


def _leading_to_the_end(positions: Positions, data: bytes) -> list[_After]:
    """Return for each byte the members before it that lead to the end, with what they are after it."""
    reached = [positions.closure(positions.begun(positions.first))]
    steps: list[dict[Member, Member]] = []
    for byte in data:
        after: dict[Member, Member] = {}
        for member in reached[-1]:
            target = positions.automata[member[0]].step(member[1], byte)
            if target != DEAD:
                after[member] = (member[0], target)
        steps.append(after)
        reached.append(positions.closure(after.values()))
    found: list[_After] = []
    behind: _After = {}
    for place in range(len(data), -1, -1):
        here: _After = {}
        if place < len(data):
            here.update({member: after for member, after in steps[place].items() if after in behind})
        _spread(positions, reached[place], here, lambda position: place == len(data) and position in positions.last)  # noqa: B023  called now
        found.append(here)
        behind = here
    return found[::-1]


def _spread(positions: Positions, members: list[Member], here: _After, may_end: Callable[[int], bool]) -> None:
    """Add the members that end where they are, before others that lead to the end or where that is."""
    ended = [member for member in members if positions.automata[member[0]].accepts(member[1]) and member not in here]
    count = -1
    while count < len(here):
        count = len(here)
        for member in ended:
            if member not in here and (may_end(member[0]) or _follower(positions, member, here) is not None):
                here[member] = None


def _follower(positions: Positions, member: Member, here: _After) -> Member | None:
    """Return what follows a member whose text ends, of those that lead to the end."""
    position, state = member
    if not positions.automata[position].accepts(state):
        return None
    return _first(positions.begun(positions.following[position]), here)


def _first(members: list[Member], here: _After) -> Member | None:
    return next((member for member in members if member in here), None)
