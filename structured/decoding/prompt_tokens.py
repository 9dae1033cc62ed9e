"""The tokens of prompts: those that many have in common, and those at the end that an answer may spell otherwise.

Where many prompts begin alike, a model reads that once.

Token healing: tokens are made of whole texts. Where a prompt ends with `:` and the text would go on with `//`, the
model has mostly seen one token for `://`, and after `:` alone it expects anything else. So the end of the prompt is
taken back, as far as some token reaches from there into the answer, and the answer has to begin with it: the model
chooses the tokens.
"""

import itertools
import operator
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from structured.automata.byte_automaton import with_limits_left
from structured.decoding.sequence import Sequence as Text
from structured.index.compilation import related_index
from structured.index.index import Index


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
    """Part texts by what the model may keep of their prompts; return with each part how many tokens it keeps.

    Texts go together where less is read anew for it than a pass costs. The part of the first text comes first.
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


class Healed(NamedTuple):
    """A prompt whose last tokens were taken back, and the bytes of these, with which the answer must begin."""

    prompt: list[int]
    begun: bytes = b""
    taken_back: int = 0
    """How many tokens were."""


def heal(prompt: Sequence[int], index: Index) -> Healed:
    """Return a prompt without the last tokens in whose place one could stand that goes on into the answer.

    Nothing is taken back if there is none, and the first token never.
    """
    tokens = index.vocabulary.tokens
    found = Healed(list(prompt))
    begun = b""
    for count, token_id in enumerate(reversed(prompt[1:]), start=1):
        token = tokens[token_id] if token_id < len(tokens) else None
        if not token or len(token) + len(begun) >= index.vocabulary.trie.height:
            break
        begun = token + begun
        if _is_text(begun) and index.goes_on(begun, index.automaton.start):
            found = Healed(list(prompt[: len(prompt) - count]), begun, count)
    return found


_BEGUN: WeakKeyDictionary[Index, dict[bytes, Index]] = WeakKeyDictionary()
"""For each index the ones made of it, as long as it lives; prompts mostly end alike, so there are few."""


def begun_index(index: Index, begun: bytes) -> Index:
    """Return the index of the same texts, each with some bytes in front; kept on disk if that of the texts is."""
    if not begun:
        return index
    made = _BEGUN.setdefault(index, {})
    if begun not in made or made[begun].is_exhausted:
        made[begun] = related_index(index, with_limits_left(index.automaton).with_prefix(begun.decode()))
    return made[begun]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
