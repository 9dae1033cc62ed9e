"""Several answers to one question enter; what most of them say leaves, field by field.

Each member of an object is voted on by itself. A list is voted on as a whole: its items have no names, so the second of
one answer need not be what the second of another is, and a list put together by places could hold one thing twice and
lack another. What was put together has to satisfy the type anew; a type's rules may tie one field to another.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from structured.output_types.paths import Steps, steps_to_path


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer as plain JSON values, and its log-probability."""

    data: Any
    log_probability: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was voted for.

    `shares` has, for each path in `data` (`"address.city"`, or `""` where it is no object), the part of the ballots
    that say the same there.
    """

    data: Any
    shares: Mapping[str, float]
    position: int | None = None
    """Which of the ballots was taken as it is; None if `data` was put together."""


def vote(ballots: Sequence[Candidate], is_valid: Callable[[Any], bool]) -> Outcome:
    """Return what most ballots say, member by member; of equally many, those with the likeliest answer among them.

    `{"name": "Ana", "age": 3}`, `{"name": "Ana", "age": 31}`, `{"name": "Ann", "age": 31}` →
    `{"name": "Ana", "age": 31}`

    Where answers differ in shape (an object, or null; an object with other names), the shape is voted on first, and its
    members by those that have it. If the whole is not valid, the ballot that differs from it at fewest paths is taken,
    those that it has alone counted.
    """
    if not ballots:
        raise ValueError("There are no ballots. A vote needs at least one.")
    data = _voted(ballots)
    position = None
    if not is_valid(data):
        leaves = dict(_leaves(data))
        agreement = [(-len(leaves.items() ^ dict(_leaves(one.data)).items()), one.log_probability) for one in ballots]
        position = agreement.index(max(agreement))
        data = ballots[position].data
    leaves = dict(_leaves(data))
    spoken = [dict(_leaves(one.data)).items() for one in ballots]
    shares = {
        steps_to_path(steps): sum((steps, value) in said for said in spoken) / len(ballots)
        for steps, value in leaves.items()
    }
    return Outcome(data, shares, position)


def _voted(ballots: Sequence[Candidate]) -> Any:
    """Return what most ballots say at one place."""
    groups: dict[Hashable, list[Candidate]] = {}
    for one in ballots:
        shape = frozenset(one.data) if isinstance(one.data, dict) else _identity(one.data)
        groups.setdefault(shape, []).append(one)
    most = max(groups.values(), key=lambda group: (len(group), max(one.log_probability for one in group)))
    likeliest = max(most, key=lambda one: one.log_probability).data
    if not isinstance(likeliest, dict):
        return likeliest
    return {name: _voted([Candidate(one.data[name], one.log_probability) for one in most]) for name in likeliest}


def _leaves(data: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Hashable]]:
    """Yield each place in nested objects where something else stands, and what: an empty object is something else."""
    if isinstance(data, dict) and data:
        for name, value in data.items():
            yield from _leaves(value, (*steps, name))
    else:
        yield steps, _identity(data)


def _identity(data: Any) -> Hashable:
    """Return what is equal for values that JSON calls equal: 1 and 1.0, not 1 and true; objects in any order."""
    if isinstance(data, dict):
        return "object", frozenset((name, _identity(value)) for name, value in data.items())
    if isinstance(data, list):
        return "list", tuple(map(_identity, data))
    return type(data) if isinstance(data, bool) else None, data
