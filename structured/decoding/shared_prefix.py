"""What prompts begin with: where many begin alike, a model reads that once."""

import itertools
import operator
from collections.abc import Sequence

from structured.decoding.sequence import Sequence as Text


def common_beginning(texts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the tokens that all of some texts begin with."""
    common = tuple(texts[0])
    for other in texts[1:]:
        if common == tuple(other[: len(common)]):
            continue
        differing = itertools.compress(itertools.count(), map(operator.ne, common, other))
        common = common[: next(differing, len(other))]
    return common


def alike(texts: list[Text], pass_cost: float) -> list[tuple[list[Text], int]]:
    """Part texts by what the model may keep of their prompts, and return with each part how much that is, in tokens.

    Texts go together where less is read anew for it than a pass costs. Callers that ask for one type are together;
    those that ask for several types at the same time mostly are not. The part of the first text comes first.
    """
    by_beginning: dict[tuple[int, ...], list[Text]] = {}
    for one in texts:
        by_beginning.setdefault(tuple(one.request.prompt[: one.request.shared]), []).append(one)
    parts: list[tuple[tuple[int, ...], list[Text]]] = []
    for beginning, those in sorted(by_beginning.items(), key=operator.itemgetter(0)):
        if parts:
            last, before = parts[-1]
            common = common_beginning([last, beginning])
            lost = (len(last) - len(common)) * len(before) + (len(beginning) - len(common)) * len(those)
            if lost <= pass_cost:
                parts[-1] = common, before + those
                continue
        parts.append((beginning, those))
    places = {one: place for place, one in enumerate(texts)}
    parts.sort(key=lambda part: min(places[one] for one in part[1]))
    return [(those, len(beginning)) for beginning, those in parts]
