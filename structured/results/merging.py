"""Merging and voting: one answer to a long document out of those to its parts, or out of several to one question.

Of the parts, a list gets the items of all, each once. Two items of different parts are one thing if their values have
the same places in the document, or they have the same keys. An object is merged member by member, and of several values
at one place one is preferred; the others are kept as conflicts.

Answers to one question vote on each member of an object (self-consistency). A list is voted on as a whole: its items
have no names, and a list that is assembled by position could contain one thing twice and lack another. The result has
to pass the type again, since rules of a type may tie fields together.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from structured.json_schema.document.equality import identity
from structured.output_types.keys import SET_SHAPE, KeyFunction, ShapeFunction
from structured.output_types.paths import Steps, leaves_outside_lists, steps_to_path
from structured.results.evidence import Evidence

Prefer = Literal["confident", "first", "longest", "vote"]
"""The preferred of the values that parts of a document give: the most confident, first or longest, or that of most."""

Conflicts = Mapping[str, Sequence[tuple[Any, Evidence]]]
"""Values that were not preferred, with their evidence, by the paths of those that were."""

BLOCK_CHARACTERS = 256
"""The characters of a block of a document; items that touch one block are compared for the same place."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The answer to one part of a document: plain data, and the evidence for each leaf by its path.

    Text before `start`, such as a heading, is shown with several parts, and tells no records apart.
    """

    data: Any
    evidence: Mapping[str, Evidence]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged answer to all parts."""

    data: Any
    evidence: Mapping[str, Evidence]
    """By the paths in this data."""
    conflicts: Conflicts


def merge(
    answers: Sequence[PartAnswer],
    *,
    prefer: Prefer = "confident",
    key_of: KeyFunction = lambda _steps, _item: None,
    shape_of: ShapeFunction = lambda _steps, data: type(data).__name__,
) -> Merged:
    """Return the merged answer to the parts of a document, which are in their order.

    `[{"no": 1}, {"no": 2}]`, `[{"no": 2}, {"no": 3}]` → `[{"no": 1}, {"no": 2}, {"no": 3}]`, if 2 has one place.
    """
    nodes = [_node(answer.data, answer.evidence, number, ()) for number, answer in enumerate(answers)]
    merged = _NodeMerger(prefer, key_of, shape_of, [answer.start for answer in answers]).merged(nodes, ())
    leaves = {steps_to_path(steps): leaf for steps, leaf in merged.leaves()}
    evidence = {path: leaf.evidence for path, leaf in leaves.items() if leaf.evidence is not None}
    conflicts = {
        path: [(other.value, other.evidence) for other in leaf.alternatives if other.evidence]
        for path, leaf in leaves.items()
        if leaf.alternatives
    }
    return Merged(merged.data, evidence, conflicts)


@dataclass(slots=True)
class _Node:
    """A value of one part, or of several: a leaf, an object or a list."""

    part_number: int
    value: Any = None
    """That of a leaf."""
    evidence: Evidence | None = None
    members: "dict[str, _Node] | None" = None
    items: "list[_Node] | None" = None
    alternatives: "list[_Node]" = field(default_factory=list)
    """Leaves that were not preferred."""

    @property
    def is_leaf(self) -> bool:
        return self.members is None and self.items is None

    @property
    def data(self) -> Any:
        """Its plain data."""
        if self.members is not None:
            return {name: member.data for name, member in self.members.items()}
        return self.value if self.items is None else [item.data for item in self.items]

    @property
    def span(self) -> tuple[int, int] | None:
        return None if self.evidence is None else self.evidence.span

    @property
    def is_supported(self) -> bool:
        """Whether the document supports the leaf."""
        return self.evidence is not None and self.evidence.match not in {"absent", "none"} and self.value is not None

    def leaves(self, steps: Steps = ()) -> "Iterator[tuple[Steps, _Node]]":
        """Yield the leaves that it holds, with the steps to them."""
        if self.members is not None:
            for name, inside in self.members.items():
                yield from inside.leaves((*steps, name))
        elif self.items is not None:
            for index, inside in enumerate(self.items):
                yield from inside.leaves((*steps, index))
        else:
            yield steps, self


def _node(data: Any, evidence: Mapping[str, Evidence], part: int, steps: Steps) -> _Node:
    match data:
        case dict():
            members = {name: _node(member, evidence, part, (*steps, name)) for name, member in data.items()}
            return _Node(part, members=members)
        case list():
            return _Node(part, items=[_node(member, evidence, part, (*steps, n)) for n, member in enumerate(data)])
    return _Node(part, data, evidence.get(steps_to_path(steps)))


class _NodeMerger(NamedTuple):
    """How nodes are merged."""

    prefer: Prefer
    key_of: KeyFunction
    shape_of: ShapeFunction
    starts: Sequence[int]

    def merged(self, nodes: Sequence[_Node], steps: Steps) -> _Node:
        """Return the merged node of one place.

        Nodes are grouped by shape, and the largest group is merged; the values of the others become alternatives.
        """
        if len(nodes) == 1 and nodes[0].is_leaf:
            return nodes[0]
        nodes = [node for node in nodes if not node.is_leaf or node.value is not None] or nodes
        groups: dict[Hashable, list[_Node]] = defaultdict(list)
        for node in nodes:
            groups["leaf" if node.is_leaf else self.shape_of(steps, node.data)].append(node)
        shape, majority = max(groups.items(), key=lambda group: (len(group[1]), sum(map(_support, group[1]))))
        if shape is None:
            majority = [result := max(majority, key=_support)]
        elif majority[0].members is not None:
            result = self._merged_objects(majority, steps)
        elif majority[0].items is not None:
            result = self._merged_lists(majority, steps, must_differ=shape == SET_SHAPE)
        else:
            result = self._preferred(majority)
        _keep_alternatives(result, [node for node in nodes if all(node is not merged for merged in majority)])
        return result

    def _merged_objects(self, nodes: Sequence[_Node], steps: Steps) -> _Node:
        by_name: dict[str, list[_Node]] = defaultdict(list)
        for node in nodes:
            for name, member in (node.members or {}).items():
                by_name[name].append(member)
        members = {name: self.merged(inside, (*steps, name)) for name, inside in by_name.items()}
        return _Node(nodes[0].part_number, members=members)

    def _preferred(self, leaves: Sequence[_Node]) -> _Node:
        """Return the leaf that is preferred, with the others that the document supports and that say something else."""
        votes = Counter(identity(leaf.value) for leaf in leaves)
        measures: Mapping[Prefer, Callable[[_Node], float]] = {
            "confident": _confidence,
            "first": lambda leaf: -(math.inf if leaf.span is None else leaf.span[0]),
            "longest": lambda leaf: len(str(leaf.value)),
            "vote": lambda leaf: votes[identity(leaf.value)],
        }
        measure = measures[self.prefer]
        best = max(leaves, key=lambda leaf: (leaf.is_supported, measure(leaf), _confidence(leaf), -leaf.part_number))
        preferred = _Node(best.part_number, best.value, best.evidence)
        _keep_alternatives(preferred, leaves)
        return preferred

    def _merged_lists(self, nodes: Sequence[_Node], steps: Steps, *, must_differ: bool) -> _Node:
        records = _Records(steps, self.key_of, self.starts)
        for node in nodes:
            records.add(node)
        in_order = sorted(records.records, key=lambda record: record.order)
        items = [self.merged(record.items, (*steps, index)) for index, record in enumerate(in_order)]
        if must_differ:
            distinct: dict[Hashable, _Node] = {}
            for item in items:
                distinct.setdefault(identity(item.data), item)
            items = [*distinct.values()]
        return _Node(nodes[0].part_number, items=items)


def _keep_alternatives(preferred: _Node, others: Sequence[_Node]) -> None:
    """Keep the supported leaves of other nodes as alternatives of the same leaf, or of the first one."""
    leaves = dict(preferred.leaves())
    first_leaf = next(iter(leaves.values()), None)
    for other in others:
        for steps, leaf in other.leaves():
            target = leaves.get(steps, first_leaf)
            if target is not None and leaf.is_supported:
                values = {identity(node.value) for node in (target, *target.alternatives)}
                said = (leaf, *leaf.alternatives)
                target.alternatives += [node for node in said if identity(node.value) not in values]


def _support(node: _Node) -> float:
    """Return the number of supported leaves of a node, plus the confidence in them."""
    return sum(1 + _confidence(leaf) for _, leaf in node.leaves() if leaf.is_supported)


def _confidence(node: _Node) -> float:
    return 0.0 if node.evidence is None or node.evidence.confidence is None else node.evidence.confidence


class _LeafPlace(NamedTuple):
    """The span and the value of a leaf of an item."""

    start: int
    end: int
    value: Hashable

    def overlaps(self, other: "_LeafPlace") -> bool:
        """Tell whether two overlap."""
        return self.start < other.end and other.start < self.end

    @property
    def blocks(self) -> range:
        """The blocks of the document that it touches."""
        return range(self.start // BLOCK_CHARACTERS, self.end // BLOCK_CHARACTERS + 1)


_Places = Mapping[Steps, _LeafPlace]


def _leaf_places(item: _Node, start: int) -> _Places:
    """Return the places of the leaves of an item from a position on.

    Leaves in lists inside it count only if it has no others: by their numbers, they are not the same in two parts.
    """
    places = {
        steps: _LeafPlace(*leaf.span, identity(leaf.value))
        for steps, leaf in item.leaves()
        if leaf.span is not None and leaf.span[0] >= start
    }
    return {steps: place for steps, place in places.items() if int not in map(type, steps)} or places


@dataclass(eq=False, slots=True)
class _Record:
    """Items of several parts that are one thing."""

    order: float
    """Its position in the document, or that of the record before it."""
    items: list[_Node] = field(default_factory=list)
    places: list[_Places] = field(default_factory=list)
    key: Hashable | None = None

    def has_item_of(self, part_number: int) -> bool:
        return any(item.part_number == part_number for item in self.items)

    def shared_places(self, part_number: int, places: _Places, unshared: _Places) -> int:
        """Return how many unshared places of an item overlap those of the record's items, field by field.

        0 if the item is another thing: one of its part is in the record already, or a field has another value in the
        record, at another place.
        """
        if self.has_item_of(part_number):
            return 0
        pairs = [(place, own[steps], steps) for own in self.places for steps, place in places.items() if steps in own]
        if any(place.value != other.value and not place.overlaps(other) for place, other, _ in pairs):
            return 0
        return sum(place.overlaps(other) for place, other, steps in pairs if steps in unshared)


class _Records:
    """The items of the lists of several parts, those that are one thing together."""

    def __init__(self, steps: Steps, key_of: KeyFunction, starts: Sequence[int]) -> None:
        self._steps = steps
        self._key_of = key_of
        self._starts = starts
        self.records: list[_Record] = []
        self._by_key: dict[Hashable, _Record] = {}
        self._by_block: dict[tuple[Steps, int], list[_Record]] = defaultdict(list)
        self._unplaced: dict[Hashable, list[_Record]] = defaultdict(list)

    def add(self, answer: _Node) -> None:
        """Add the items of a part; equal items with equal places are one."""
        start = self._starts[answer.part_number]
        distinct: dict[Hashable, tuple[_Node, _Places]] = {}
        for number, item in enumerate(answer.items or []):
            places = _leaf_places(item, start)
            distinct.setdefault((identity(item.data), frozenset(places.items())) if places else number, (item, places))
        place_counts = Counter(place for _, places in distinct.values() for place in places.items())
        order = float(start)
        for index, (item, places) in enumerate(distinct.values()):
            unshared = {steps: place for steps, place in places.items() if place_counts[steps, place] == 1}
            order = max(order, min((place.start for place in unshared.values()), default=order))
            data = item.data
            key = self._key_of((*self._steps, index), data)
            record = self._record_of(item, key, data, places, unshared)
            if record is None:
                self.records.append(record := _Record(order))
            record.items.append(item)
            record.places.append(places)
            self._index_record(record, key, data, unshared, is_placed=bool(places))

    def _record_of(self, item: _Node, key: Hashable, data: Any, places: _Places, unshared: _Places) -> _Record | None:
        if key is not None and key in self._by_key:
            return self._by_key[key]
        if not places:
            twins = self._unplaced[identity(data)] if key is None else []
            return next((twin for twin in twins if not twin.has_item_of(item.part_number)), None)
        blocks = [(steps, block) for steps, place in unshared.items() for block in place.blocks]
        neighbours = dict.fromkeys(record for block in blocks for record in self._by_block.get(block, ()))
        candidates = [record for record in neighbours if key is None or record.key is None]
        scores = [(record.shared_places(item.part_number, places, unshared), record) for record in candidates]
        return max((match for match in scores if match[0]), key=lambda match: match[0], default=(0, None))[1]

    def _index_record(self, record: _Record, key: Hashable, data: Any, unshared: _Places, *, is_placed: bool) -> None:
        if key is not None:
            self._by_key[key] = record
            record.key = key
        elif not is_placed and record not in self._unplaced[identity(data)]:
            self._unplaced[identity(data)].append(record)
        for steps, place in unshared.items():
            for block in place.blocks:
                block_records = self._by_block[steps, block]
                if record not in block_records[-1:]:
                    block_records.append(record)


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """An answer as plain JSON values, and its log-probability."""

    data: Any
    log_probability: float


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The result of a vote."""

    data: Any
    position: int | None = None
    """The position of the candidate that won as a whole; None if `data` was assembled."""


def vote(candidates: Sequence[SampledAnswer], is_valid: Callable[[Any], bool]) -> VoteResult:
    """Return the value of most candidates, member by member; ties go to the group with the likeliest candidate.

    `{"name": "Ana", "age": 3}`, `{"name": "Ana", "age": 31}`, `{"name": "Ann", "age": 31}` →
    `{"name": "Ana", "age": 31}`

    Where candidates differ in shape (an object or null, other names), the shape is voted on first, and the members by
    those that have it. If the result is not valid, the candidate is taken that differs from it in the fewest paths.
    """
    if not candidates:
        raise ValueError("There are no candidates. A vote needs at least one.")
    data = _vote_on_place(candidates)
    if is_valid(data):
        return VoteResult(data)
    leaves = _leaf_identities(data)
    other_leaves = [_leaf_identities(answer.data) for answer in candidates]
    differences = [sum(leaves.get(at) != other.get(at) for at in leaves | other) for other in other_leaves]
    closeness = [(-count, answer.log_probability) for count, answer in zip(differences, candidates, strict=True)]
    position = closeness.index(max(closeness))
    return VoteResult(candidates[position].data, position)


def _leaf_identities(data: Any) -> dict[Steps, str]:
    return {steps: identity(value) for steps, value in leaves_outside_lists(data)}


def _vote_on_place(answers: Sequence[SampledAnswer]) -> Any:
    """Return the value of most answers at one place."""
    groups: dict[Hashable, list[SampledAnswer]] = defaultdict(list)
    for answer in answers:
        groups[frozenset(answer.data) if isinstance(answer.data, dict) else identity(answer.data)].append(answer)
    majority = max(groups.values(), key=lambda group: (len(group), max(answer.log_probability for answer in group)))
    likeliest = max(majority, key=lambda answer: answer.log_probability).data
    if not isinstance(likeliest, dict):
        return likeliest
    return {
        name: _vote_on_place([replace(answer, data=answer.data[name]) for answer in majority]) for name in likeliest
    }
