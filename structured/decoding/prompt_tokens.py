"""The tokens of prompts: a common beginning, which is read once, and an end that the answer may spell differently.

Token healing: tokenizers split whole texts. If a prompt ends with `:` and the answer begins with `//`, the model has
mostly seen one token for `://`, and after `:` alone it expects anything else. So the last tokens of the prompt are
removed, as far as some token reaches from there into the answer. The answer must then begin with their bytes, and
the model chooses the tokens.
"""

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from structured.automata.byte_automaton import reset_if_exhausted
from structured.decoding.text_in_progress import TextInProgress
from structured.index.compilation import related_index
from structured.index.index import Index


def common_beginning(texts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the tokens with which all texts begin; at least one text."""
    first, last = min(map(tuple, texts)), max(map(tuple, texts))  # all others lie between, in lexicographic order
    differing = (place for place, (left, right) in enumerate(zip(first, last, strict=False)) if left != right)
    return first[: next(differing, len(first))]


def grouped_by_beginning(texts: list[TextInProgress], pass_cost: float) -> list[tuple[list[TextInProgress], int]]:
    """Group texts by common beginnings of their prompts; return with each group how many tokens it has in common.

    Two groups are joined if the tokens that must be read again cost less than a pass. The group of the first text is
    first.
    """
    by_beginning: dict[tuple[int, ...], list[TextInProgress]] = {}
    for text in texts:
        by_beginning.setdefault(tuple(text.request.prompt[: text.request.shared]), []).append(text)
    parts: list[tuple[tuple[int, ...], list[TextInProgress]]] = []
    for beginning, those in sorted(by_beginning.items()):
        if parts:
            last, before = parts[-1]
            common = common_beginning([last, beginning])
            lost = (len(last) - len(common)) * len(before) + (len(beginning) - len(common)) * len(those)
            if lost <= pass_cost:
                parts[-1] = common, before + those
                continue
        parts.append((beginning, those))
    places = {text: place for place, text in enumerate(texts)}
    parts.sort(key=lambda part: min(places[text] for text in part[1]))
    return [(those, len(beginning)) for beginning, those in parts]


class HealedPrompt(NamedTuple):
    """A prompt without its last tokens, whose bytes the answer must begin with.

    `Say http:` → the tokens of `Say http`, and `:`, so that the answer may begin with the token `://`.
    """

    token_ids: list[int]
    """The tokens that stay."""
    required_prefix: bytes = b""
    """The bytes of the removed tokens, with which the answer must begin."""
    removed_tokens: int = 0
    """How many tokens were removed."""


def heal(prompt: Sequence[int], index: Index) -> HealedPrompt:
    """Return a prompt without the last tokens that one longer token, reaching into the answer, could replace.

    If there is no such token, nothing is removed. The first token is never removed.
    """
    tokens = index.vocabulary.tokens
    healed = HealedPrompt(list(prompt))
    prefix = b""
    for count, token_id in enumerate(reversed(prompt[1:]), start=1):
        token = tokens[token_id] if token_id < len(tokens) else None
        if not token or len(token) + len(prefix) >= index.vocabulary.trie.height:
            break
        prefix = token + prefix
        is_text = prefix.decode(errors="ignore").encode() == prefix
        if is_text and index.forced.has_longer_token(prefix, index.automaton.start):
            healed = HealedPrompt(list(prompt[: len(prompt) - count]), prefix, count)
    return healed


_PREFIXED: WeakKeyDictionary[Index, dict[bytes, Index]] = WeakKeyDictionary()
"""The indexes derived from each live index, by the prefix; prompts mostly end alike, so there are few."""


def prefixed_index(index: Index, prefix: bytes) -> Index:
    """Return the index of the same texts, each with a prefix; kept on disk if the first index is."""
    if not prefix:
        return index
    by_prefix = _PREFIXED.setdefault(index, {})
    if prefix not in by_prefix or by_prefix[prefix].is_exhausted:
        by_prefix[prefix] = related_index(index, reset_if_exhausted(index.automaton).with_prefix(prefix.decode()))
    return by_prefix[prefix]
