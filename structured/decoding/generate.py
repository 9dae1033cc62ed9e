"""Generation: the index of a type, and texts from a model, each under its guide, many in one batch.

An index stays in memory for the next call. A batch belongs to one call (`Scheduler`) or to many callers
(`RunningBatch`).
"""

import itertools
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from structured.automata import Automaton
from structured.decoding.requests import Generation, Request
from structured.decoding.running_batch import RunningBatch
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.text_in_progress import WRITING, TextInProgress
from structured.errors import StructuredError, error_of_one
from structured.index.compilation import RenewedIndex, new_index
from structured.index.index import Index
from structured.models import LanguageModel
from structured.output_types.output_type import OutputType, automaton_of
from structured.vocabulary import Vocabulary

MAX_INDEXES = 64
"""Indexes kept in memory; the least recently used is dropped first."""


def compile_type(
    output_type: OutputType[Any], vocabulary: Vocabulary, *, document: str | None = None, cache: bool = False
) -> Index:
    """Return the index of a type over a vocabulary; the next call gets the same index, with all states known so far.

    `document` is for types that depend on it, which are not kept on disk. With `cache`, the index of any other type
    starts with the states and masks that other processes have saved.
    """
    return compiled_type(output_type, vocabulary, document=document, cache=cache).index()


def compiled_type(
    output_type: OutputType[Any], vocabulary: Vocabulary, *, document: str | None = None, cache: bool = False
) -> RenewedIndex:
    """Return the holder of a type's index, which replaces an exhausted index; see `compile_type`."""
    return _compiled(_ByIdentity(output_type), vocabulary, document, cache)


@dataclass(frozen=True, slots=True, eq=False)
class _ByIdentity:
    """An output type compared by identity: types that their author calls equal may have different automata."""

    output_type: OutputType[Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.output_type is other.output_type

    def __hash__(self) -> int:
        return id(self.output_type)


@lru_cache(maxsize=MAX_INDEXES)
def _compiled(key: _ByIdentity, vocabulary: Vocabulary, document: str | None, cache: bool) -> RenewedIndex:
    output_type = key.output_type

    def index_of(automaton: Automaton) -> Index:
        return new_index(automaton, vocabulary, output_type.name, is_cached=cache and document is None)

    return RenewedIndex(automaton_of(output_type, document), index_of)


def drop_indexes() -> None:
    """Drop the indexes that are kept in memory."""
    _compiled.cache_clear()


DEFAULT_BATCH_SIZE = 8


def generate(  # noqa: PLR0913  three are options by name
    model: LanguageModel,
    requests: Iterable[Request],
    sampler: Sampler,
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    batch_tokens: int | None = None,
    jump_forward: bool = True,
) -> list[Generation]:
    """Write one text for each request, as `as_completed` does, and return them in the order of the requests.

    Raises OutOfMemoryError if one text alone exceeds the memory of the model's device, and PatternError or GrammarError
    if its automaton exceeds its limits.
    """
    texts: dict[int, Generation] = {}
    completed = as_completed(
        model, requests, sampler, batch_size=batch_size, batch_tokens=batch_tokens, jump_forward=jump_forward
    )
    for place, text in completed:
        if isinstance(text, StructuredError):
            raise text
        texts[place] = text
    return [texts[place] for place in range(len(texts))]


def as_completed(  # noqa: PLR0913  three are options by name
    model: LanguageModel,
    requests: Iterable[Request],
    sampler: Sampler,
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    batch_tokens: int | None = None,
    jump_forward: bool = True,
) -> Iterator[tuple[int, Generation | StructuredError]]:
    """Write one text for each request, `batch_size` at a time; yield each, with its place, as soon as it is finished.

    At most `batch_tokens` tokens are in memory at a time, whole budgets counted, unless one text alone needs more. A
    `RunningBatch` uses its own size and limit. The guides may be of different types. With `jump_forward`, the model is
    not asked for forced tokens.

    If the texts exceed the memory of the model's device, half of them are tried again. If a text is too large alone, or
    its automaton raises an error, the error is yielded in its place; the other texts are written.

    Raises ModelError if the model raises an error or returns something unreadable.
    """
    places = {TextInProgress(request, sampler, jump_forward): place for place, request in enumerate(requests)}
    finished = [text for text in places if text.finished]
    batch = model if isinstance(model, RunningBatch) else Scheduler(model, batch_size, batch_tokens)
    for ended in itertools.chain([finished], batch.turns([text for text in places if not text.finished])):
        for text in ended:
            yield places.pop(text), _outcome(text)


def _outcome(text: TextInProgress) -> Generation | StructuredError:
    try:
        return text.error or text.generation()
    except Exception as error:  # noqa: BLE001  it costs no other text its answer
        return error_of_one(error, WRITING)


def stream(
    model: LanguageModel, request: Request, sampler: Sampler, *, jump_forward: bool = True
) -> Generator[str, None, Generation]:
    """Write one text, yield the pieces of its answer as they become known, and return the generation."""
    text = TextInProgress(request, sampler, jump_forward)
    decoder = getincrementaldecoder("utf-8")()
    read = 0
    unfinished = [] if text.finished else [text]
    if isinstance(model, RunningBatch):
        turns = model.turns(unfinished, watched=True)
    else:
        turns = Scheduler(model, 1).turns(unfinished)
    for _ in itertools.chain([None], turns):
        if text.error is not None:
            raise text.error
        answer = text.answer
        piece = decoder.decode(answer[read:])
        read = len(answer)
        if piece:
            yield piece
    outcome = _outcome(text)
    if isinstance(outcome, StructuredError):
        raise outcome
    return outcome
