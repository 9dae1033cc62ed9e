"""Texts in progress: sampled, or searched for by beams, with everything that changes while they are written.

That is the guide, the tokens and their bytes, the tokens that the model has not read yet, and the proposed ones.

Beam search and particles decide differently which texts go on in each turn, and how often. The model does the same for
both (`write`): it reads the appended tokens, keeps the rows that go on, and copies those that fork.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.decoding.prompt_lookup import MAX_WORDS, PromptText, Proposal, propose
from structured.decoding.repetition import BREAK, repeated_by
from structured.decoding.requests import Diagnostics, Generation, Request, SampledToken
from structured.decoding.sampling import Sampler, TokenChoice, likeliest_tokens
from structured.errors import StructuredError, error_of_one
from structured.index.guide import Guide
from structured.index.masks import Mask
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models import checked_calls as calls

T = TypeVar("T")

WRITING = "Writing the answer"
"""What errors of one text say that was going on."""


@dataclass(slots=True, eq=False)
class TextInProgress:
    """One text that is being written. With `jump_forward`, forced tokens are appended and probable ones proposed."""

    request: Request
    sampler: Sampler
    jump_forward: bool
    guide: Guide = field(init=False)
    next_guide: Guide | None = field(init=False)
    """The guide of the answer while the thinking before it is written; else None."""
    token_ids: list[int] = field(default_factory=list)
    written: bytearray = field(default_factory=bytearray)
    """The bytes of the tokens."""
    answer_start: int = 0
    """The byte of `written` at which the answer begins, after the thinking."""
    pending: list[int] = field(default_factory=list)
    """Tokens that the model has not read yet."""
    proposal: Proposal = field(default_factory=Proposal)
    prompt_text: PromptText | None = None
    """The prompt for look-ups; None until the first one."""
    log_probability: float = 0.0
    shortened: bool = False
    """Whether the budget excluded a sampled token of the answer."""
    forced: int = 0
    """How many tokens were forced."""
    repetition_places: list[int] = field(default_factory=list)
    """The bytes of `written` at which another token took the place of one by which the text repeated itself."""
    must_complete: bool = False
    """Whether the thinking repeated itself, so that only its shortest completion is allowed."""
    free_tokens: list[int] = field(default_factory=list)
    """The tokens written in free text, if the request penalises repetition, with BREAK after each string."""
    sampled: list[SampledToken] = field(default_factory=list)
    """The sampled tokens, with places in `written`."""
    passes: int = 0
    started: float = 0.0
    ended: float = 0.0
    seconds_in_model: float = 0.0
    seconds_in_guide: float = 0.0
    error: StructuredError | None = None
    """Why the text cannot be finished: the model fails for it alone or gives it no usable logits, its automaton exceeds
    its limits, or its caller has left."""

    def __post_init__(self) -> None:
        thinking, answer = self.request.thinking, self.request.guide
        self.guide, self.next_guide = (answer, None) if thinking is None else (thinking, answer)
        with self._failing_alone():
            self._append_forced()

    def __copy__(self) -> "TextInProgress":
        """Return an independent copy, with the same tokens and the same state of the guide."""
        twin = object.__new__(TextInProgress)
        for name in TextInProgress.__slots__:
            value = getattr(self, name)
            setattr(twin, name, value.copy() if isinstance(value, Guide | list | bytearray) else value)
        twin.proposal = Proposal()
        return twin

    @property
    def finished(self) -> bool:
        """Whether the text has ended or failed."""
        return self.error is not None or (self.next_guide is None and self.guide.finished)

    @property
    def is_ready(self) -> bool:
        """Whether the model has read all tokens, so that the next can be sampled."""
        return not self.pending and not self.finished

    @property
    def capacity(self) -> int:
        """The most tokens that prompt and text may have together."""
        left = self.guide.tokens_left + (self.next_guide.tokens_left if self.next_guide else 0)
        return len(self.request.prompt) + len(self.token_ids) + left

    @property
    def answer(self) -> bytes:
        """The bytes of the answer so far."""
        return b"" if self.next_guide else bytes(self.written[self.answer_start + self.request.prefix_length :])

    def masks(self) -> tuple[Mask, Mask] | None:
        """Return the mask of the next token, and the mask within the budget; None after an automaton's error."""
        with self._failing_alone():
            return self.guide.mask_without_budget(), self.guide.mask()
        return None

    def repeats(self, token_id: int) -> bool:
        """Tell whether a token repeats the end of the text too often, unless the prompt has the same repetition."""
        if self.must_complete:
            return True
        control = self.request.repetition
        if control is None or not control.stop:
            return False
        repeated = repeated_by(self.guide, self.written, token_id, self.answer_start)
        return repeated is not None and repeated not in self._prompt_text().text

    def take(self, choice: TokenChoice, scores: Logits) -> None:
        """Append a sampled token or, if it repeats the text, a token of the shortest completion in its place."""
        end_mask = None
        with self._failing_alone():
            if count := self.request.alternatives:
                alternatives = likeliest_tokens(to_host(scores), self.guide.mask_without_budget(), count)
                choice = choice._replace(alternatives=alternatives)
            end_mask = self.guide.shortest_completion_mask() if self.repeats(choice.token_id) else None
        if self.error is not None:
            return
        if end_mask is not None:
            out = self.sampler.confined(choice, to_host(scores), end_mask, self.request.generator)
            if out.token_id != choice.token_id:
                self.repetition_places.append(len(self.written))
            self.must_complete = self.next_guide is not None
            choice = out._replace(is_replacement=choice.is_replacement, alternatives=choice.alternatives)
        self.extend(choice)

    def penalised(self, logits: Logits) -> Logits:
        """Return the logits of the next token, shape (width,), after the penalties for repeated free text."""
        control, guide = self.request.repetition, self.guide
        if control is None or not self.free_tokens or not guide.index.is_free_text(guide.state):
            return logits
        return control.penalised(logits, self.free_tokens)

    def extend(self, choice: TokenChoice) -> None:
        """Append a sampled token and the forced tokens after it."""
        state, start = self.guide.state, len(self.written)
        with self._failing_alone():
            self.guide.advance(choice.token_id)
            self._note_free_text(state, choice.token_id)
            self.log_probability += choice.log_probability
            self.shortened |= choice.is_replacement and self.next_guide is None
            if choice.token_id not in self.guide.index.vocabulary.end_token_ids:
                self._append((choice.token_id,))
            figures = choice.log_probability, choice.legal_mass, choice.alternatives
            self.sampled.append(SampledToken(start, len(self.written), *figures))
            self._append_forced()
            self.proposal.accept(self.pending)

    def read_all(self) -> list[int]:
        """Return the tokens of prompt and text, for a model that has read none of them, nor any proposal."""
        self.pending = []
        self.proposal.replace([])
        return [*self.request.prompt, *self.token_ids]

    def read(self, count: int) -> list[int]:
        """Remove and return the first `count` pending tokens, for the model to read."""
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def propose(self, most: int) -> int:
        """Propose at most `most` tokens, if none are pending, and return how many."""
        proposed: list[int] = []
        if self.jump_forward and self.is_ready and most > 0:
            most, written = min(most, self.proposal.max_length), bytes(self.written[-MAX_WORDS:])
            with self._failing_alone():
                proposed = propose(self.guide, written, self._prompt_text(), most)
        self.proposal.replace(proposed)
        return len(proposed)

    def end(self) -> None:
        """Record the end of the text, and release the text of the prompt."""
        self.ended, self.prompt_text = perf_counter(), None

    def generation(self) -> Generation:
        """Return the finished text with its figures."""
        before = self.answer_start + self.request.prefix_length
        return Generation(
            self.answer.decode(),
            tuple(self.token_ids),
            self.log_probability,
            self.shortened,
            self.written[: self.answer_start].decode(),
            Diagnostics(
                self.forced,
                self.passes,
                len(self.repetition_places),
                tuple(self.sampled if before == 0 else (token.moved(-before) for token in self.sampled)),
                max(self.ended - self.started, 0.0) if self.started else 0.0,
                self.seconds_in_model,
                self.seconds_in_guide,
                self.request.removed_tokens,
                repetition_places=tuple(place - before for place in self.repetition_places),
            ),
        )

    @contextmanager
    def _failing_alone(self) -> Iterator[None]:
        """Let whatever the block raises be the error of this text; it costs no other text its answer."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  the type may be the user's own code
            self.error = error_of_one(error, WRITING)

    def _prompt_text(self) -> PromptText:
        """Return the prompt for look-ups."""
        if self.prompt_text is None:
            request, vocabulary = self.request, self.guide.index.vocabulary
            self.prompt_text = PromptText.from_tokens(request.prompt, vocabulary, request.shared)
        return self.prompt_text

    def _note_free_text(self, state: int, token_id: int) -> None:
        """Record a token that was written in a state, if the request penalises repetition in free text."""
        control, index = self.request.repetition, self.guide.index
        if control is None or not control.changes_logits:
            return
        if index.vocabulary.unescaped_lengths[token_id] and index.is_free_text(state):
            self.free_tokens.append(token_id)
        elif self.free_tokens and self.free_tokens[-1] != BREAK:
            self.free_tokens.append(BREAK)

    def _append(self, token_ids: tuple[int, ...]) -> None:
        tokens = self.guide.index.vocabulary.tokens
        self.token_ids += token_ids
        self.pending += token_ids
        for token_id in token_ids:
            self.written += tokens[token_id] or b""

    def _append_forced(self) -> None:
        """Append the forced tokens, and go on to the answer when the thinking is finished."""
        if self.jump_forward and not self.finished:
            forced = self.guide.take_forced()
            if forced:
                self._append(forced)
                self.forced += len(forced)
        if self.guide.finished and self.next_guide is not None:
            self.answer_start = len(self.written)  # set first, since another thread may read the answer
            self.guide, self.next_guide = self.next_guide, None
            self.must_complete = False
            self._append_forced()


def to_host(logits: Logits) -> NDArray[np.float32]:
    """Return logits as an array in single precision on the host."""
    if isinstance(logits, np.ndarray):
        return logits
    import torch

    scores: NDArray[np.float32] = logits.to("cpu", torch.float32).numpy()
    return scores


def timed(texts: Iterable[TextInProgress], run: Callable[[], T], *, passes: int = 0) -> T:
    """Run a function, and add its time to each text: time in the model if it makes forward passes, or else outside."""
    started = perf_counter()
    result = run()
    taken = perf_counter() - started
    for text in texts:
        text.started = text.started or started
        text.passes += passes
        text.seconds_in_model += taken if passes else 0.0
        text.seconds_in_guide += 0.0 if passes else taken
    return result


class Forking(Protocol):
    """The texts of one request, of which each turn continues, copies or ends some."""

    request: Request
    ended: list[tuple[int, TextInProgress]]
    """The texts that the last turn finished, each with the row that it comes from."""

    @property
    def live(self) -> list[TextInProgress]:
        """The texts that go on, in the order of their rows."""

    @property
    def window(self) -> int:
        """For how many of the last pending tokens the logits before each are needed."""

    def expand(self, logits: NDArray[np.float32]) -> list[int]:
        """Continue the live texts, and return the row that each of the new ones comes from.

        `logits` has shape (live, width) or (live, window + 1, width), with the widest window of the batch.
        """


def write(model: LanguageModel, requested: Iterable[Forking]) -> None:
    """Finish the texts of some requests in one batch, whose rows are the live texts, request by request.

    Where rows must read equally many tokens, a pass reads as many as every text has pending.
    """
    texts = [search for search in requested if search.live]
    batch: DecodingBatch | None = None
    while texts:
        live = [text for search in texts for text in search.live]
        window = max(search.window for search in texts)
        if batch is None:
            prompts, shared = [text.read_all() for text in live], min(search.request.shared for search in texts)
            read = partial(calls.prefill, model, prompts, shared=shared, window=window)
            batch, logits = timed(live, read, passes=1)
        else:
            counts = [len(text.pending) for text in live]
            new = [text.read(max(counts) if calls.is_ragged(model, batch) else min(counts)) for text in live]
            logits = timed(live, partial(calls.forward, model, batch, new, window=window), passes=1)
        rows: list[int] = []
        first, scores = 0, to_host(logits)
        for search in texts:
            after = first + len(search.live)
            rows += [first + row for row in search.expand(scores[first:after])]
            for row, text in search.ended:
                calls.called(model.name, partial(batch.finish, first + row, text.pending))
            first = after
        texts = [search for search in texts if search.live]
        if texts and rows != list(range(first)):
            calls.called(model.name, partial(batch.select, rows))
