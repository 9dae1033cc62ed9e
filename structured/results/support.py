"""Support by the document: answers without the texts that their document does not have."""

from collections.abc import Iterator, Mapping
from typing import Any

from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_path
from structured.results.evidence import Evidence

UNSUPPORTED = ("fuzzy", "none")
"""The matches of values that the document does not have."""

_MISSING = Evidence(None, "absent")


def without_unsupported(
    output_type: OutputType[Any], text: str, evidence: Mapping[str, Evidence]
) -> tuple[str, Mapping[str, Evidence]]:
    """Return an answer without its removable texts that have no support, and the evidence for what is left.

    An item of a list is left out, and any other text becomes null:

    `{"name": "Ana", "city": "Rome", "tags": ["x", "nurse"]}`, of which the document has only Ana and nurse,
    → `{"name": "Ana", "city": null, "tags": ["nurse"]}`
    """
    data = output_type.to_data(text)
    texts = {steps for steps, value in leaves(data) if isinstance(value, str)}
    weak = [path_to_steps(path) for path, one in evidence.items() if one.match in UNSUPPORTED]
    removed = {steps for steps in weak if steps in texts and output_type.is_removable(steps)}
    if not removed:
        return text, evidence
    places = dict(_places(data, removed, (), ()))
    moved = {
        steps_to_path(place): _MISSING if steps in removed else evidence[steps_to_path(steps)]
        for steps, place in places.items()
        if steps_to_path(steps) in evidence
    }
    return output_type.from_data(_without(data, removed, ())), moved


def _without(data: Any, removed: set[Steps], steps: Steps) -> Any:
    """Return data that stand at a place of an answer without what is removed."""
    match data:
        case dict():
            return {name: _without(inside, removed, (*steps, name)) for name, inside in data.items()}
        case list():
            kept = ((index, inside) for index, inside in enumerate(data) if (*steps, index) not in removed)
            return [_without(inside, removed, (*steps, index)) for index, inside in kept]
    return None if steps in removed else data


def _places(data: Any, removed: set[Steps], steps: Steps, place: Steps) -> Iterator[tuple[Steps, Steps]]:
    """Yield where each leaf stands that is not left out, and where it stands once others are."""
    match data:
        case dict():
            for name, inside in data.items():
                yield from _places(inside, removed, (*steps, name), (*place, name))
        case list():
            kept = [index for index in range(len(data)) if (*steps, index) not in removed]
            for position, index in enumerate(kept):
                yield from _places(data[index], removed, (*steps, index), (*place, position))
        case _:
            yield steps, place
