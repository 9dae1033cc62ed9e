"""Attribution: where in a document each leaf of an answer is stated, and how confident the model was of it.

The confidence in a value is the probability of the tokens that it is written with. Tokens that were known without
asking the model do not count; a value of which all are known, since the type or the document leaves no choice, has no
confidence. The probability of a sampled token is its share of the legal tokens, times what these had of all. Where the
type allows little else, the share alone would be near 1, however much the model preferred an illegal token.
"""

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import attrgetter, getitem
from typing import Any, NamedTuple, cast

from structured.decoding.requests import Generation, SampledToken
from structured.json_schema.document.equality import identity
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, leaves
from structured.results.evidence import Evidence, without_values_at
from structured.results.json_text import Leaf, json_leaves


def confidences(text: str, leaves: Iterable[Leaf], tokens: Sequence[SampledToken]) -> Iterator[float | None]:
    """Yield the confidence in each leaf of an answer, in their order; None where the model was asked nothing."""
    for own in tokens_of_leaves(text, leaves, tokens):
        logs = [token.log_probability + math.log(max(token.legal_mass, 1e-300)) for token in own]
        yield min(math.exp(sum(logs)), 1.0) if own else None


def tokens_of_leaves(text: str, leaves: Iterable[Leaf], tokens: Sequence[SampledToken]) -> Iterator[list[SampledToken]]:
    """Yield the sampled tokens that each leaf of an answer is written with, in their order.

    To a string of JSON belongs its closing quote, to anything else the token behind it, which decides that it ends:
    without it, `a` would be certain where `ab` is allowed too.
    """
    place, byte, first = 0, 0, 0
    for leaf in leaves:
        byte += len(text[place : leaf.start].encode())
        end = byte + len(text[leaf.start : leaf.end].encode())
        place, start, byte = leaf.end, byte, end
        is_quoted = isinstance(leaf.value, str) and text[leaf.start : leaf.end] != leaf.value
        end += not is_quoted
        while first < len(tokens) and tokens[first].end <= start and tokens[first].start < start:
            first += 1
        yield [*tokens[first : bisect_left(tokens, end, first, key=attrgetter("start"))]]


class LeafConfidence(NamedTuple):
    """The confidence of a model in a value, and the agreement of its samples."""

    confidence: float | None
    agreement: float | None = None


Confidences = Mapping[str, LeafConfidence]
"""The confidence in each leaf of an earlier answer, by their paths."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The part of an earlier answer that a rewritten one keeps: all but the places that are written again."""

    confidences: Confidences
    rewritten: frozenset[Steps]

    def confidence_in(self, leaf: Leaf) -> LeafConfidence | None:
        """Return the confidence in a leaf when it was written first; None if it was to be written again."""
        is_rewritten = any(leaf.steps[: len(place)] == place for place in self.rewritten)
        return None if is_rewritten else self.confidences.get(leaf.path)


def leaf_confidences(
    output_type: OutputType[Any], generation: Generation, kept: KeptAnswer | None = None
) -> Confidences:
    """Return the confidence of the model in each leaf of a generation, by the path.

    The confidence in a value that was kept is the earlier one, since nothing was sampled.
    """
    sampled = _sampled_leaves(output_type, generation)
    return {leaf.path: (kept and kept.confidence_in(leaf)) or LeafConfidence(own) for leaf, own in sampled}


def attribute(
    output_type: OutputType[Any],
    document: str,
    text: str,
    generations: Sequence[Generation],
    kept: KeptAnswer | None = None,
) -> dict[str, Evidence]:
    """Return the evidence for each leaf of an answer, by its path.

    The answer is one of the generations, or was voted on by them. The confidence in a leaf is that of the likeliest of
    them that has the same value there.
    """
    from structured.results.alignment import Value, align  # with a library that only evidence needs

    leaf_maps = [
        {leaf.path: (identity(leaf.value), confidence) for leaf, confidence in _sampled_leaves(output_type, generation)}
        for generation in sorted(generations, key=lambda generation: -generation.log_probability)
    ]
    answer = [(leaf, part.basis(steps, leaf.value)) for leaf, part, steps in typed_leaves(output_type, text)]
    values = [Value(leaf.steps, _exact(leaf, text), basis == "concluded", basis == "quoted") for leaf, basis in answer]
    located: dict[str, Evidence] = {}
    for (leaf, basis), place in zip(answer, align(document, values), strict=True):
        is_stated = basis in {"quoted", "grounded"} and leaf.value is not None  # null says that nothing is
        match = "grounded" if is_stated else place.match
        confidence = (kept and kept.confidence_in(leaf)) or _confidence_among(leaf, leaf_maps)
        located[leaf.path] = Evidence(place.span, match, *confidence)
    return located


def without_copies(
    output_type: OutputType[Any],
    document: str,
    text: str,
    evidence: Mapping[str, Evidence],
    is_accepted: Callable[[str], bool],
) -> tuple[str, Mapping[str, Evidence]]:
    """Return an answer without the copies in its lists, and the evidence for what is left.

    A copy is an object or a text that equals an earlier item, where the document states it less often:
    `["Ana", "Ana", "Ben"]` → `["Ana", "Ben"]` if there is one Ana. Two equal lines of a receipt are two items. A list
    keeps its copies if the answer is not accepted without them, or if it is in a list, where places may mean something.
    """
    for steps in sorted(_list_places(output_type.to_data(text), ()), key=len, reverse=True):  # inner lists first
        data = output_type.to_data(text)
        removed = set(_copies_in(output_type, document, steps, reduce(getitem, steps, data)))
        shorter, shorter_evidence = without_values_at(output_type, text, data, removed, evidence)
        if removed and is_accepted(shorter):
            text, evidence = shorter, shorter_evidence
    return text, evidence


def _list_places(data: Any, steps: Steps) -> Iterator[Steps]:
    """Yield the places of the lists in some data, without those that are items of lists."""
    if isinstance(data, list):
        yield steps
    for step, inside in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if not isinstance(data, list) or isinstance(inside, dict):
            yield from _list_places(inside, (*steps, step))


def _copies_in(output_type: OutputType[Any], document: str, steps: Steps, items: Sequence[Any]) -> Iterator[Steps]:
    """Yield the places of the items of a list that are copies."""
    from structured.results.alignment import Value, align

    places_by_item: dict[str, list[Steps]] = {}
    for index, item in enumerate(items):
        if isinstance(item, dict | str):
            places_by_item.setdefault(json.dumps(item, sort_keys=True), []).append((*steps, index))
    for places in places_by_item.values():
        if len(places) == 1 or not output_type.is_item(places[0]):
            continue
        item = items[cast("int", places[0][-1])]
        if isinstance(item, str) and not output_type.is_removable(places[0]):
            continue
        item_leaves = list(leaves(item))
        values = [
            Value((*place, *below), value, output_type.basis((*place, *below), value) == "concluded")
            for place in places
            for below, value in item_leaves
        ]
        items_evidence = align(document, values)
        taken_spans: set[tuple[int, object]] = set()
        for number, place in enumerate(places):
            own_evidence = items_evidence[number * len(item_leaves) : (number + 1) * len(item_leaves)]
            spans = {(leaf, evidence.span) for leaf, evidence in enumerate(own_evidence) if evidence.span is not None}
            if spans and spans <= taken_spans:
                yield place
            taken_spans |= spans


def _exact(leaf: Leaf, text: str) -> Any:
    """Return the value of a leaf, a number with all the digits that it is written with."""
    is_number = isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
    return Decimal(text[leaf.start : leaf.end]) if is_number else leaf.value


def _sampled_leaves(output_type: OutputType[Any], generation: Generation) -> Iterator[tuple[Leaf, float | None]]:
    """Return the leaves of a generation, each with the confidence in it."""
    answer = [leaf for leaf, _, _ in typed_leaves(output_type, generation.text)]
    return zip(answer, confidences(generation.text, answer, generation.diagnostics.tokens), strict=True)


def _confidence_among(leaf: Leaf, leaf_maps: Sequence[Mapping[str, tuple[str, float | None]]]) -> LeafConfidence:
    """Return the confidence in a leaf, and the agreement on it.

    `leaf_maps` has, by the paths of each generation, the likeliest first, the identity and the confidence of each leaf.
    """
    at_same_path = [leaves[leaf.path] for leaves in leaf_maps if leaf.path in leaves]
    confidences = [confidence for value, confidence in at_same_path if value == identity(leaf.value)]
    agreement = len(confidences) / len(leaf_maps) if len(leaf_maps) > 1 else None
    return LeafConfidence(confidences[0] if confidences else None, agreement)


def typed_leaves(output_type: OutputType[Any], text: str) -> Iterator[tuple[Leaf, OutputType[Any], Steps]]:
    """Yield the leaves of an answer, each with the type of its piece, and its place in that.

    An answer that is not JSON, and has no pieces, is a leaf itself.
    """
    pieces = output_type.pieces(text)
    if pieces is None:
        own_leaves = [Leaf((), text, 0, len(text))] if output_type.parts is None else json_leaves(text)
        yield from ((leaf, output_type, leaf.steps) for leaf in own_leaves)
        return
    for steps, part, start, end in pieces:
        for leaf, inner, own in typed_leaves(part, text[start:end]):
            placed = Leaf((*steps, *leaf.steps), leaf.value, leaf.start + start, leaf.end + start)
            yield placed, inner, own
