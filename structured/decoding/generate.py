"""Generation: texts from a model, each under its guide, many in one batch.

A batch is scheduled for the call, or is one that many callers share; see `Scheduler` and `RunningBatch`.
"""

import itertools
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterable, Iterator

from structured.decoding.requests import Generation, Request
from structured.decoding.running_batch import RunningBatch
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.sequence import Sequence
from structured.errors import StructuredError
from structured.models import LanguageModel

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
    for one in [one for one in places if one.finished]:
        yield places.pop(one), one.error or one.generation()
    if isinstance(model, RunningBatch):
        turns = model.turns(list(places))
    else:
        turns = Scheduler(model, batch_size, batch_tokens).turns(list(places))
    for ended in turns:
        for one in ended:
            yield places.pop(one), one.error or one.generation()


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
