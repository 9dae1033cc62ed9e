"""Voting on several answers to one question, field by field (self-consistency).

Each member of an object is voted on separately. A list is voted on as a whole: its items have no names, so the second
item of one answer may not be the second of another, and a list that is assembled by position could contain one thing
twice and lack another. The result of a vote has to pass the type again, since rules of a type may tie fields together.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from structured.json_schema.document.equality import identity
from structured.output_types.paths import Steps


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer as plain JSON values, and its log-probability."""

    data: Any
    log_probability: float


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The result of a vote."""

    data: Any
    position: int | None = None
    """The position of the candidate that won as a whole; None if `data` was assembled."""


def vote(candidates: Sequence[Candidate], is_valid: Callable[[Any], bool]) -> VoteResult:
    """Return the value of most candidates, member by member; ties go to the group with the likeliest candidate.

    `{"name": "Ana", "age": 3}`, `{"name": "Ana", "age": 31}`, `{"name": "Ann", "age": 31}` →
    `{"name": "Ana", "age": 31}`

    Where candidates differ in shape (an object or null, other names), the shape is voted on first, and the members by
    those that have it. If the result is not valid, the candidate is taken that differs from it in the fewest paths, its
    additional paths included.
    """
    if not candidates:
        raise ValueError("There are no candidates. A vote needs at least one.")
    data = _voted(candidates)
    position = None
    if not is_valid(data):
        leaves = dict(_leaves(data))
        closeness = [
            (-len(leaves.items() ^ dict(_leaves(candidate.data)).items()), candidate.log_probability)
            for candidate in candidates
        ]
        position = closeness.index(max(closeness))
        data = candidates[position].data
    return VoteResult(data, position)


def _voted(candidates: Sequence[Candidate]) -> Any:
    """Return the value of most candidates at one place."""
    groups: dict[Hashable, list[Candidate]] = {}
    for candidate in candidates:
        shape = frozenset(candidate.data) if isinstance(candidate.data, dict) else identity(candidate.data)
        groups.setdefault(shape, []).append(candidate)
    most = max(groups.values(), key=lambda group: (len(group), max(candidate.log_probability for candidate in group)))
    likeliest = max(most, key=lambda candidate: candidate.log_probability).data
    if not isinstance(likeliest, dict):
        return likeliest
    return {
        name: _voted([Candidate(candidate.data[name], candidate.log_probability) for candidate in most])
        for name in likeliest
    }


def _leaves(data: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Hashable]]:
    """Yield each place in nested objects that is not a filled object, with its value."""
    if isinstance(data, dict) and data:
        for name, value in data.items():
            yield from _leaves(value, (*steps, name))
    else:
        yield steps, identity(data)
