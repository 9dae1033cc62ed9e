"""Prompts, guides and a model enter; texts leave. The loop in which everything meets.

Each turn: a token drawn for each text under its mask, the tokens behind it that are known anyway, those that are
guessed, and one forward pass for all of them. A text that is finished makes room for the next that waits, and what many
prompts begin with is computed once.
"""

import itertools
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.decoding.device_masks import draw, stacked
from structured.decoding.sampling import Choice, Sampler
from structured.decoding.speculation import LENGTHS, Source, guess
from structured.errors import OutOfMemoryError
from structured.index.guide import Guide, WrongMaskError
from structured.index.masks import Mask, allows
from structured.models import LanguageModel
from structured.models.protocol import Texts

DEFAULT_BATCH_SIZE = 8

MIN_GUESSES, MAX_GUESSES = 2, 16
"""Tokens of a text that are guessed at a time, at first and after all were right again and again."""

MEMORY = 0.95
"""What the guesses of a pass count in the next, when it is asked how many of late were right."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One text to be written: the prompt's tokens, the guide, which is used up, and the random numbers.

    The first `shared` tokens of the prompt are the same in all requests, and likely in later ones. With `thinking`, a
    guide that is used up as well, a text of its own comes before. The first `begun` bytes of the text belong to the
    prompt, which was healed.
    """

    prompt: Sequence[int]
    guide: Guide
    generator: np.random.Generator
    shared: int = 0
    thinking: Guide | None = None
    begun: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How a text came about."""

    forced: int = 0
    """How many of its tokens were appended without asking the model."""
    passes: int = 0
    """How many forward passes it took part in."""
    legal_masses: tuple[float, ...] = field(default=(), repr=False)
    """For each sampled token, the probability that the model had put on allowed tokens. Where it is small, the model
    would have written something else."""
    seconds: float = 0.0
    """From the first pass to the last token."""
    seconds_in_model: float = 0.0
    """Of these, in forward passes. The passes of a batch count in full for each of its texts."""
    seconds_in_guide: float = 0.0
    """Of these, for masks, sampling, speculation and forced tokens; counted likewise. A GPU is waited for when tokens
    are sampled, so most of its time is counted here."""

    @property
    def sampled(self) -> int:
        """How many tokens were sampled, the end token included."""
        return len(self.legal_masses)


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished text, as `observe` receives it and a `Stream` keeps it.

    Attributes:
        text: The answer.
        token_ids: Its tokens, those of the reasoning included.
        log_probability: That of the sampled tokens among the allowed ones, end token included.
        shortened: Whether the token budget kept the model from a token that it would have written. If not, an unlimited
            budget would have given the same text.
        thinking: The reasoning before the answer, if any.
        diagnostics: How the text came about: tokens, passes, seconds.
    """

    text: str
    token_ids: tuple[int, ...]
    log_probability: float
    shortened: bool
    thinking: str = ""
    diagnostics: Diagnostics = field(default=Diagnostics(), compare=False)


@dataclass(slots=True, eq=False)
class _Draft:
    """A text being written.

    `pending` are tokens of it that the model has not read yet, `guessed` tokens that it has read and that may follow.
    """

    request: Request
    force: bool
    guide: Guide = field(init=False)
    answer_start: int = 0
    token_ids: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    guessed: list[int] = field(default_factory=list)
    source: Source | None = None
    """The prompt, of which an answer may quote words; while something is guessed."""
    hoped: int = 0
    """How many were guessed in the last pass."""
    reach: int = MIN_GUESSES
    """How many are guessed: more as long as all of them are right."""
    log_probability: float = 0.0
    shortened: bool = False
    forced: int = 0
    passes: int = 0
    legal_masses: list[float] = field(default_factory=list)
    began: float = 0.0
    ended: float = 0.0
    seconds_in_model: float = 0.0
    seconds_in_guide: float = 0.0
    error: OutOfMemoryError | None = None
    """Why it cannot be finished: it is too much for the model's device, alone."""

    def __post_init__(self) -> None:
        self.guide = self.request.thinking or self.request.guide
        self._take_forced()

    @property
    def finished(self) -> bool:
        """Whether nothing can follow."""
        return self.guide is self.request.guide and self.guide.finished

    @property
    def is_ready(self) -> bool:
        """Whether the model has read all of it, so that a token can be drawn."""
        return not self.pending and not self.finished

    @property
    def most_tokens(self) -> int:
        """How many tokens prompt and text may have together."""
        guides = {self.guide, self.request.guide}
        return len(self.request.prompt) + len(self.token_ids) + sum(guide.tokens_left for guide in guides)

    @property
    def answer(self) -> bytes:
        """The bytes of the answer so far."""
        return self._spelled(self.token_ids[self.answer_start :])[self.request.begun :]

    @property
    def mask(self) -> Mask:
        """The tokens that may come next, whatever the budget."""
        return self.guide.index.mask(self.guide.state)

    def choose(self, logits: NDArray[np.float32], sampler: Sampler) -> Choice:
        """Draw the next token. `logits` has shape (size of the vocabulary,)."""
        return sampler.choose(logits, self.mask, self.request.generator, within=self.guide.mask())

    def extend(self, choice: Choice) -> None:
        """Take a token that was drawn, and those that are known to follow it.

        If a wrong mask allowed it, it is not taken: another one will be drawn.
        """
        guide = self.guide
        try:
            guide.advance(choice.token_id)
        except WrongMaskError:
            return
        self.log_probability += choice.log_probability
        self.shortened |= choice.steered and guide is self.request.guide
        self.legal_masses.append(choice.legal_mass)
        if choice.token_id not in guide.index.vocabulary.end_token_ids:
            self._take((choice.token_id,))
        self._take_forced()
        while self.pending and self.guessed and self.pending[0] == self.guessed[0]:
            del self.pending[0], self.guessed[0]

    def whole(self) -> list[int]:
        """Return the prompt and all tokens, for a model that has read nothing of the text."""
        self.pending = []
        return [*self.request.prompt, *self.token_ids]

    def read(self, count: int) -> list[int]:
        """Return so many of the pending tokens, for the model to read."""
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def guess(self, most: int) -> None:
        """Guess at most so many tokens, if all that is sure is to be read."""
        self.guessed = []
        if self.force and self.is_ready and most > 0:
            if self.source is None:
                self.source = Source.of(self.request.prompt, self.guide.index.vocabulary)
            written = self._spelled(self.token_ids[-LENGTHS[0] :])
            self.guessed = guess(self.guide, written, self.source, min(most, self.reach))
        self.hoped = len(self.guessed)

    def take_back(self) -> int:
        """Give up the guesses that are left, and return how many there were."""
        wrong = len(self.guessed)
        if self.hoped:
            self.reach = max(self.reach // 2, MIN_GUESSES) if wrong else min(self.reach * 2, MAX_GUESSES)
        self.guessed, self.hoped = [], 0
        return wrong

    def finish(self) -> Generation:
        """Return what has become of it."""
        return Generation(
            self.answer.decode(),
            tuple(self.token_ids),
            self.log_probability,
            self.shortened,
            self._spelled(self.token_ids[: self.answer_start]).decode(),
            Diagnostics(
                self.forced,
                self.passes,
                tuple(self.legal_masses),
                max(self.ended - self.began, 0.0),
                self.seconds_in_model,
                self.seconds_in_guide,
            ),
        )

    def _take(self, token_ids: Sequence[int]) -> None:
        self.token_ids.extend(token_ids)
        self.pending.extend(token_ids)

    def _take_forced(self) -> None:
        """Take the tokens that are known to follow, and go on from the thinking to the answer when it is done."""
        if self.force and not self.finished:
            known = self.guide.take_forced()
            self._take(known)
            self.forced += len(known)
        if self.guide.finished and self.guide is not self.request.guide:
            self.guide, self.answer_start = self.request.guide, len(self.token_ids)
            self._take_forced()

    def _spelled(self, token_ids: Sequence[int]) -> bytes:
        tokens = self.guide.index.vocabulary.tokens
        return b"".join(tokens[token_id] or b"" for token_id in token_ids)


def generate(  # noqa: PLR0913  three are options by name
    model: LanguageModel,
    requests: Iterable[Request],
    sampler: Sampler,
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    batch_tokens: int | None = None,
    force: bool = True,
) -> list[Generation]:
    """Write one text for each request, as `as_completed` does, and return them in the order of the requests.

    Raises OutOfMemoryError if one text alone is too much for the model's device.
    """
    texts: dict[int, Generation] = {}
    completed = as_completed(model, requests, sampler, batch_size=batch_size, batch_tokens=batch_tokens, force=force)
    for place, text in completed:
        if isinstance(text, OutOfMemoryError):
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
    force: bool = True,
) -> Iterator[tuple[int, Generation | OutOfMemoryError]]:
    """Write one text for each request, `batch_size` at a time; yield each, with its place, as soon as it is finished.

    At most `batch_tokens` tokens are in memory at a time, however long the texts become, unless one alone has more.
    The guides may be of different types. With `force`, tokens that are known are not asked for.

    Where the texts are too much for the model's device, half of them are tried again. In place of a text that is too
    much alone, the error is yielded; the others are written all the same.
    """
    places = {_Draft(request, force): place for place, request in enumerate(requests)}
    for draft in [draft for draft in places if draft.finished]:
        yield places.pop(draft), draft.finish()
    for ended in _Batch(model, sampler, batch_size, batch_tokens).turns(list(places)):
        for draft in ended:
            yield places.pop(draft), draft.error or draft.finish()


def stream(
    model: LanguageModel, request: Request, sampler: Sampler, *, force: bool = True
) -> Generator[str, None, Generation]:
    """Write one text, and yield the pieces of the answer as they become known; the generation is what it returns."""
    draft = _Draft(request, force)
    decoder = getincrementaldecoder("utf-8")()
    read = 0
    for _ in itertools.chain([None], _Batch(model, sampler, 1).turns([] if draft.finished else [draft])):
        if draft.error is not None:
            raise draft.error
        answer = draft.answer if draft.guide is request.guide else b""
        piece = decoder.decode(answer[read:])
        read = len(answer)
        if piece:
            yield piece
    return draft.finish()


@dataclass(slots=True)
class _Batch:
    """The texts that are written at a time."""

    model: LanguageModel
    sampler: Sampler
    size: int
    most_tokens: int | None = None
    waiting: deque[_Draft] = field(default_factory=deque)
    live: list[_Draft] = field(default_factory=list)
    texts: Texts | None = None
    guessed: float = 0.0
    """Of late, for how many texts something was guessed, in all passes; each pass back counts a little less."""
    right: float = 0.0
    """Of these, for how many it was right, at least the first token."""

    def turns(self, drafts: list[_Draft]) -> Iterator[list[_Draft]]:
        """Finish some drafts, those with prompts of like lengths beside each other: that takes little padding.

        After each turn, those are yielded that came to their end in it.
        """
        self.waiting.extend(sorted(drafts, key=lambda draft: len(draft.request.prompt)))
        while self.live or self.waiting:
            try:
                self._turn()
            except OutOfMemoryError as error:
                yield self._retreat(error)
            else:
                yield [draft for draft in self.live if draft.finished]

    def _retreat(self, error: OutOfMemoryError) -> list[_Draft]:
        """Let all texts wait, to try half as many; return the one that has been tried alone, which has failed."""
        alone = self.live if self.size <= 1 else []
        for draft in alone:
            draft.error = error
        if not alone:
            self.waiting.extendleft(reversed(self.live))
        self.size = max(min(self.size, len(self.live)) // 2, 1)
        self.live, self.texts = [], None
        return alone

    def _turn(self) -> None:
        """Let the model read what it has not, take in those that wait, and draw what can be drawn for each text."""
        if self.texts is not None:
            self._read(self.texts)
        room = self.size - len(self.live)
        if self.waiting and (
            not self.live or (room * 4 >= self.size and self.texts is not None and self.texts.can_join)
        ):
            self._admit(room)
        if self.texts is not None:
            started = perf_counter()
            self._draw(self.texts)
            ended = perf_counter()
            for draft in self.live:
                draft.seconds_in_guide += ended - started
                if draft.finished:
                    draft.ended, draft.source = ended, None

    def _draw(self, texts: Texts) -> None:
        """Draw a token for each text of which the model has read all, and more where it has read them already."""
        ready = [row for row, draft in enumerate(self.live) if draft.is_ready]
        while ready:
            self._draw_one(texts, ready)
            ready = [row for row in ready if self.live[row].is_ready]
        hoped = [draft.hoped for draft in self.live]
        wrong = [draft.take_back() for draft in self.live]
        self.guessed = self.guessed * MEMORY + sum(count > 0 for count in hoped)
        self.right = self.right * MEMORY + sum(count > left for count, left in zip(hoped, wrong, strict=True))
        if any(wrong):
            texts.take_back(wrong)

    def _draw_one(self, texts: Texts, rows: list[int]) -> None:
        """Draw a token for some texts, in front of what is guessed of them."""
        size = self.model.vocabulary.size  # models have more logits, to round their width up
        drafts = [self.live[row] for row in rows]
        backs = [len(draft.guessed) for draft in drafts]
        if texts.scores() is None:
            logits = {back: texts.logits(back) for back in set(backs)}
            for row, back, draft in zip(rows, backs, drafts, strict=True):
                draft.extend(draft.choose(logits[back][row, :size], self.sampler))
            return
        scores = stacked({back: texts.scores(back) for back in set(backs)}, rows, backs)[:, :size]
        generators = [draft.request.generator for draft in drafts]
        masks, table = [draft.mask for draft in drafts], drafts[0].guide.index.table
        choices = draw(scores, masks, table, generators, self.sampler)
        for row, (draft, choice) in enumerate(zip(drafts, choices, strict=True)):
            within = draft.guide.mask()
            if not allows(within, choice.token_id):
                one = scores[row].float().cpu().numpy()
                draft.extend(self.sampler.confined(choice, one, within, draft.request.generator))
            else:
                draft.extend(choice)

    def _read(self, texts: Texts) -> None:
        """Let the model read pending tokens, and guesses; texts that are finished leave."""
        going = [draft for draft in self.live if not draft.finished]
        count = _columns([len(draft.pending) for draft in going], texts) if going else 0
        fed = [None if draft.finished else draft.read(count) for draft in self.live]
        guessed = self._guess(going)
        fed = [None if new is None else new + draft.guessed for draft, new in zip(self.live, fed, strict=True)]
        self.live = going
        if going:
            self._timed(going, lambda: texts.append(fed, guessed=guessed))
        else:
            self.texts = None

    def _admit(self, room: int) -> None:
        """Begin as many of the texts that wait as there is room for."""
        new: list[_Draft] = []
        tokens = sum(draft.most_tokens for draft in self.live)
        while self.waiting and len(new) < room:
            tokens += self.waiting[0].most_tokens
            if self.most_tokens is not None and tokens > self.most_tokens and (new or self.live):
                break
            new.append(self.waiting.popleft())
        if not new:
            return
        self.live += new  # should memory not suffice, they are tried again with the others
        started = perf_counter()
        for draft in new:
            draft.began = draft.began or started
        shared = min(draft.request.shared for draft in new)
        prompts = [draft.whole() for draft in new]
        guessed = self._guess(new)
        prompts = [prompt + draft.guessed for prompt, draft in zip(prompts, new, strict=True)]
        begun = self._timed(new, lambda: self.model.begin(prompts, shared=shared, guessed=guessed))
        if self.texts is None:
            self.texts = begun
        else:
            self.texts.join(begun)

    def _guess(self, drafts: Sequence[_Draft]) -> int:
        """Guess what follows some texts, if that pays, and return the most tokens that were guessed of one."""
        started = perf_counter()
        most = self.model.most_guesses(len(drafts)) if drafts else 0
        for draft in drafts:
            draft.guess(most)
        guesses = [len(draft.guessed) for draft in drafts]
        share = (self.right + 1) / (self.guessed + 1)
        if any(guesses) and not self.model.pays(guesses, share):
            for draft in drafts:
                draft.guess(0)
        seconds = perf_counter() - started
        for draft in drafts:
            draft.seconds_in_guide += seconds
        return max((len(draft.guessed) for draft in drafts), default=0)

    @staticmethod
    def _timed(drafts: Sequence[_Draft], run: Callable[[], T]) -> T:
        """Run a pass, and write down for each of its texts how long it took."""
        started = perf_counter()
        result = run()
        seconds = perf_counter() - started
        for draft in drafts:
            draft.passes += 1
            draft.seconds_in_model += seconds
        return result


def _columns(counts: list[int], texts: Texts) -> int:
    """Return how many tokens the model should read of each text at most, given how many there are.

    A pass costs something however few it reads, and then for each column, padding included.
    """
    if not texts.is_ragged:
        return min(counts)

    def gain(columns: int) -> float:
        return sum(min(count, columns) for count in counts) / (texts.pass_cost + len(counts) * columns)

    return max(sorted(set(counts)), key=gain)
