"""The evidence for an answer: for each of its leaves where it stands, and how sure the model was."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from pydantic_core import to_json

from structured.decoding.requests import Generation
from structured.output_types.evidence import Evidence
from structured.output_types.extraction import Provenance
from structured.output_types.output_type import OutputType
from structured.results.alignment import Leaf as Value
from structured.results.alignment import align
from structured.results.confidence import confidences
from structured.results.leaves import Leaf, leaves
from structured.results.voting import identity


def evidence(
    output_type: OutputType[Any], document: str, text: str, generations: Sequence[Generation]
) -> dict[str, Evidence]:
    """Return the evidence for each leaf of an answer, by its path.

    The answer is one of the generations, or was voted on by them. The confidence in a leaf is that of the likeliest of
    them that has the same value there.
    """
    said: dict[str, list[tuple[object, float]]] = {}
    for one in sorted(generations, key=lambda one: -one.log_probability):
        found = answer_leaves(output_type, one.text)
        for leaf, confidence in zip(found, confidences(one.text, found, one.diagnostics.tokens), strict=True):
            said.setdefault(leaf.path, []).append((identity(leaf.value), confidence))
    found = answer_leaves(output_type, text)
    bases = [output_type.basis(leaf.steps, leaf.value) for leaf in found]
    values = [
        Value(leaf.steps, leaf.value, is_listed=basis == "concluded") for leaf, basis in zip(found, bases, strict=True)
    ]
    located: dict[str, Evidence] = {}
    for leaf, basis, place in zip(found, bases, align(document, values), strict=True):
        alike = (confidence for value, confidence in said.get(leaf.path, []) if value == identity(leaf.value))
        match = "grounded" if basis == "grounded" and place.span else place.match
        located[leaf.path] = Evidence(place.span, match, next(alike, None))
    return located


def answer_leaves(output_type: OutputType[Any], text: str) -> list[Leaf]:
    """Return the leaves of an answer; one that is not JSON is a leaf itself."""
    return [Leaf((), text, 0, len(text))] if output_type.parts is None else list(leaves(text))


def provenance(output_type: OutputType[Any], model: str, options: Mapping[str, Any], document: str) -> Provenance:
    """Return what made an answer."""
    return Provenance(
        output_type.name,
        model,
        {name: _plain(value) for name, value in options.items() if name not in {"model", "observe"}},
        version("structured-extraction"),
        output_type.digest,
        sha256(document.encode()).hexdigest(),
    )


def _plain(value: Any) -> Any:
    """Return the value of an option as JSON data."""
    return json.loads(to_json(value, fallback=repr))
