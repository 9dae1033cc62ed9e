"""Generation: the index of a type, and texts from a model, each under its guide, many in one batch.

An index is kept in memory for the next call. Grammars are read from the disk cache as well, where another process has
read them before. A batch is scheduled for the call, or is one that many callers share; see `Scheduler` and
`RunningBatch`.
"""

import itertools
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from structured.automata import Automaton
from structured.decoding.requests import Generation, Request
from structured.decoding.running_batch import RunningBatch
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.sequence import Sequence
from structured.errors import StructuredError
from structured.index.cache import DiskCache, default_cache, key_of
from structured.index.compilation import RenewedIndex, new_index
from structured.index.index import Index
from structured.models import LanguageModel
from structured.output_types.combining.parts import Combination
from structured.output_types.grammar import Grammar, learn_tables, sources_of, tables_of
from structured.output_types.output_type import OutputType, automaton_of
from structured.vocabulary import Vocabulary

KEPT_INDEXES = 64
"""Indexes kept in memory; the least recently used is dropped first."""


def compile_type(
    output_type: OutputType[Any], vocabulary: Vocabulary, *, document: str | None = None, cache: bool = False
) -> Index:
    """Return the index of a type over a vocabulary; what it learns while texts are written serves the next call.

    `document` is for types that depend on it; nothing of them is kept on disk. With `cache`, the index of any other
    type also starts with what other processes have learned.
    """
    return compiled_type(output_type, vocabulary, document=document, cache=cache).index()


def compiled_type(
    output_type: OutputType[Any], vocabulary: Vocabulary, *, document: str | None = None, cache: bool = False
) -> RenewedIndex:
    """Return what has the index of a type, also when that becomes another one; see `compile_type`."""
    return _compiled(_Same(output_type), vocabulary, document, cache)


def load_grammars(output_type: OutputType[Any]) -> None:
    """Read the grammars of a type as other processes have, and for others, if there is a cache now.

    Raises GrammarError where one is refused.
    """
    if isinstance(output_type, Grammar) and (disk := default_cache()) is not None:
        _load_tables(disk, output_type)
    for part in output_type.members if isinstance(output_type, Combination) else ():
        load_grammars(part)


def _load_tables(cache: DiskCache, grammar: Grammar[Any]) -> None:
    """Read a grammar as another process has, or for others to come; not one that imports from files."""
    sources = sources_of(grammar)
    if sources is None:
        return
    key = key_of("grammar", *sources)
    arrays = cache.load(key)
    if arrays is not None:
        with suppress(ValueError, KeyError):
            learn_tables(grammar, arrays["tables"].tobytes())
            return
        cache.reject(key)
    cache.save(key, {"tables": np.frombuffer(tables_of(grammar), dtype=np.uint8)})


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """An output type as itself: what its author calls equal, if anything, may have another automaton."""

    output_type: OutputType[Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.output_type is other.output_type

    def __hash__(self) -> int:
        return id(self.output_type)


@lru_cache(maxsize=KEPT_INDEXES)
def _compiled(same: _Same, vocabulary: Vocabulary, document: str | None, cache: bool) -> RenewedIndex:
    output_type = same.output_type

    def index_of(automaton: Automaton) -> Index:
        return new_index(automaton, vocabulary, output_type.name, cache=cache, is_kept=cache and document is None)

    if cache:
        load_grammars(output_type)
    return RenewedIndex(automaton_of(output_type, document), index_of)


def forget() -> None:
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

    Raises OutOfMemoryError if one text alone is too much for the model's device, and PatternError or
    GrammarError if its automaton is too much.
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

    At most `batch_tokens` tokens are in memory at a time, however long the texts become, unless one alone has more. A
    `RunningBatch` has a size and a limit of its own in place of these. The guides may be of different types. With
    `jump_forward`, tokens that are known are not asked for.

    Where the texts are too much for the model's device, half of them are tried again. In place of a text that is too
    much alone, or whose automaton raises one of `AUTOMATON_ERRORS`, the error is yielded; the others are written all
    the same.

    Raises ModelError for what the model raises, and where what it returns cannot be read.
    """
    places = {Sequence(request, sampler, jump_forward): place for place, request in enumerate(requests)}
    finished = [text for text in places if text.finished]
    batch = model if isinstance(model, RunningBatch) else Scheduler(model, batch_size, batch_tokens)
    for ended in itertools.chain([finished], batch.turns([text for text in places if not text.finished])):
        for text in ended:
            yield places.pop(text), text.error or text.generation()


def stream(
    model: LanguageModel, request: Request, sampler: Sampler, *, jump_forward: bool = True
) -> Generator[str, None, Generation]:
    """Write one text, and yield the pieces of the answer as they become known; the generation is what it returns."""
    sequence = Sequence(request, sampler, jump_forward)
    decoder = getincrementaldecoder("utf-8")()
    read = 0
    unfinished = [] if sequence.finished else [sequence]
    if isinstance(model, RunningBatch):
        turns = model.turns(unfinished, watched=True)
    else:
        turns = Scheduler(model, 1).turns(unfinished)
    for _ in itertools.chain([None], turns):
        if sequence.error is not None:
            raise sequence.error
        answer = sequence.answer
        piece = decoder.decode(answer[read:])
        read = len(answer)
        if piece:
            yield piece
    return sequence.generation()
