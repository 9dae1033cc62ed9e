"""The scheduler: it decides which texts are in the batch, and which tokens each forward pass reads.

Each turn samples a token of each text under its mask, appends the forced tokens, proposes tokens that probably follow,
and runs one forward pass for all texts. A waiting text takes the place of a finished one (continuous batching).

A long prompt that is read at once delays all texts in the batch (Agrawal et al., "Sarathi: Efficient LLM Inference by
Piggybacking Decodes with Chunked Prefills", 2023, section 4). So its parts are read in a batch of one row, which joins
the others at the end of the prompt. Reading the parts in the passes of the others was rejected: every row would be
padded to the length of a part.

Proposals change only the speed. They are read together with the forced tokens, and each is still sampled: if the sample
equals the proposal, the logits after it are there already; if not, the proposal is rolled back. Whether proposals pay
depends on the cost of a pass, which the model states, and on the share of right proposals.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from structured.decoding.device_masks import draw, stacked
from structured.decoding.prompt_tokens import grouped_by_beginning
from structured.decoding.sampling import Sampler
from structured.decoding.text_in_progress import WRITING, TextInProgress, timed, to_host
from structured.errors import ModelError, OutOfMemoryError, StructuredError, concerns_all, error_of_one
from structured.index.masks import Mask, allows
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models import checked_calls as calls

if TYPE_CHECKING:
    import torch


@dataclass(slots=True)
class PartialPrefill:
    """The texts whose prompts are read in parts, one text after the other."""

    model: LanguageModel
    part_tokens: int | None = None
    """How many tokens are read at a time; None if no prompt is read in parts."""
    texts: deque[TextInProgress] = field(default_factory=deque)
    batch: DecodingBatch | None = None
    """The first text, alone in a batch. The model has read a part of its prompt; the rest is `pending`."""
    logits: Logits | None = None
    """The logits of the last part, shape (1, width), as a copy."""

    def wants(self, text: TextInProgress) -> bool:
        """Tell whether the prompt and the tokens of a text are to be read in parts."""
        if self.part_tokens is None or text.finished:
            return False
        return len(text.request.prompt) + len(text.token_ids) > self._first_part_tokens(text)

    def read(self) -> None:
        """Read one more part of the first text. Raises ModelError."""
        if not self.texts or (self.batch is not None and not self.texts[0].pending):
            return
        text = self.texts[0]
        logits = timed([text], lambda: self._next(text), passes=1)
        self.logits = copy_of(logits)

    def take(self) -> tuple[TextInProgress, DecodingBatch, Logits] | None:
        """Return the first text if all of its prompt has been read, with its batch and logits, shape (1, width)."""
        if self.batch is None or self.logits is None or self.texts[0].pending:
            return None
        taken = self.texts.popleft(), self.batch, self.logits
        self.batch = self.logits = None
        return taken

    def drop(self) -> None:
        """Forget the texts with an error."""
        if self.texts and self.texts[0].error is not None:
            self.batch = self.logits = None
        self.texts = deque(text for text in self.texts if text.error is None)

    def _first_part_tokens(self, text: TextInProgress) -> int:
        """Return the length of the first part: it contains all shared tokens and at least one more."""
        assert self.part_tokens is not None, "prompts are read in parts"
        return max(self.part_tokens, text.request.shared + 1)

    def _next(self, text: TextInProgress) -> Logits:
        """Let the model read the next part, or the whole prompt if its batches are not ragged or cannot join."""
        if self.batch is not None:
            return calls.forward(self.model, self.batch, [text.read(self.part_tokens or len(text.pending))])
        prompt, shared = text.read_all(), text.request.shared
        if self.part_tokens is not None:
            first = self._first_part_tokens(text)
            self.batch, logits = calls.prefill(self.model, [prompt[:first]], shared=shared)
            if calls.is_ragged(self.model, self.batch) and calls.can_join(self.model, self.batch):
                text.pending = prompt[first:]
                return logits
            self.part_tokens = None  # for the texts behind it, too
        self.batch, logits = calls.prefill(self.model, [prompt], shared=shared)
        return logits


def copy_of(logits: Logits) -> Logits:
    """Return a copy of logits, because a model may use the same memory for each pass."""
    return logits.copy() if isinstance(logits, np.ndarray) else logits.clone()


DECAY = 0.95
"""The decay from one pass to the next of the counts of proposals and right proposals."""

SECOND_VECTOR_COST = 10
"""The cost, in logits, of multiplying a matrix by two vectors in place of one; measured."""


@dataclass(slots=True)
class Speculation:
    """The proposals of a batch, made where they pay, and the share of them that was right."""

    can_roll_back: bool
    pass_cost: float
    logits_cost: float
    """These are facts of the model."""
    proposed: float = 0.0
    """How many proposals were made; each earlier pass counts less by `DECAY`."""
    accepted: float = 0.0
    """How many of them were right in at least the first token."""

    def propose(self, texts: list[TextInProgress]) -> int:
        """Propose tokens for each text, if that pays, and return the window: the most tokens of one proposal."""
        if not self.can_roll_back:
            return 0  # nothing was ever proposed, so no window is open
        most = int(self.pass_cost) // len(texts)
        counts = [text.propose(most) for text in texts]
        if any(counts) and not self._pays(counts):
            counts = [text.propose(0) for text in texts]
        return max(counts)

    def settle(self, texts: Iterable[TextInProgress]) -> list[int]:
        """Discard wrong proposals, and return how many tokens of each text must be rolled back."""
        self.proposed *= DECAY
        self.accepted *= DECAY
        wrong = []
        for text in texts:
            count = text.proposal.length
            left = text.proposal.discard() if count else 0
            self.proposed += count > 0
            self.accepted += count > left
            wrong.append(left)
        return wrong

    def _pays(self, counts: list[int]) -> bool:
        """Tell whether proposals pay: a right one saves its text a pass; the logits cost in all texts."""
        right = (self.accepted + 1) / (self.proposed + 1)
        saved = right * sum(count > 0 for count in counts) * self.pass_cost / len(counts)
        places = max(counts) * len(counts) + SECOND_VECTOR_COST
        return saved > places * self.logits_cost + (1 - right) * sum(counts)


def best_column_count(counts: list[int], pass_cost: float) -> int:
    """Return how many columns of pending tokens a pass should read; each column costs, padding included."""
    if len(set(counts)) == 1:
        return counts[0]

    def gain(columns: int) -> float:
        return sum(min(count, columns) for count in counts) / (pass_cost + len(counts) * columns)

    return max(sorted(set(counts)), key=gain)


@dataclass(slots=True)
class Scheduler:
    """The texts in the batch, and those that wait for room in it."""

    model: LanguageModel
    size: int
    batch_tokens: int | None = None
    part_tokens: int | None = None
    """How many tokens of a prompt are read between two passes of the other texts; None for all."""
    waiting: deque[TextInProgress] = field(default_factory=deque)
    waiting_outside: int = 0
    """How many texts wait outside, in a `RunningBatch`."""
    unused_rows: int = 0
    """The number of free rows while texts waited, summed over the turns since texts joined last."""
    live: list[TextInProgress] = field(default_factory=list)
    batch: DecodingBatch | None = None
    """The model's batch, with one row for each live text."""
    logits: list[Logits] = field(default_factory=list)
    """The logits of the last pass for each row; shape (width,), or (window + 1, width)."""
    whole_size: int = field(init=False)
    """The size before a memory error."""
    partial_prefill: PartialPrefill = field(init=False)
    """The texts whose long prompts are read in parts before they are live."""
    speculation: Speculation = field(init=False)

    def __post_init__(self) -> None:
        self.whole_size = self.size
        self.partial_prefill = PartialPrefill(self.model, self.part_tokens)
        model = self.model
        facts = calls.called(model.name, lambda: (model.can_roll_back, model.pass_cost, model.logits_cost))
        self.speculation = Speculation(*facts)

    @property
    def is_busy(self) -> bool:
        """Whether a text is unfinished."""
        return bool(self.started or self.waiting)

    @property
    def started(self) -> list[TextInProgress]:
        """The texts that have a row, or will have a row once their prompts are read."""
        return [*self.live, *self.partial_prefill.texts]

    def turns(self, texts: list[TextInProgress]) -> Iterator[list[TextInProgress]]:
        """Finish some texts, sorted by the length of their prompts; after each turn, yield those that ended."""
        self.waiting.extend(sorted(texts, key=lambda text: len(text.request.prompt)))
        while self.is_busy:
            yield self.turn()

    def turn(self) -> list[TextInProgress]:
        """Take one turn, and return the texts that ended in it. Raises ModelError.

        After any other error, half of the texts are tried, until the text that it is about is alone.
        """
        try:
            self._turn()
        except Exception as error:
            if concerns_all(error):
                raise
            return self.retreat(error)
        return [text for text in self.live if text.finished]

    def drop(self, texts: Collection[TextInProgress], error: StructuredError) -> None:
        """Give up texts between two turns, without reporting them; those in the batch leave it with the next pass."""
        for text in texts:
            text.error = error
            if text in self.waiting:
                self.waiting.remove(text)
        self.partial_prefill.drop()

    def abandon(self) -> None:
        """Forget all texts."""
        self.waiting.clear()
        self._empty()

    def retreat(self, error: Exception) -> list[TextInProgress]:
        """Let all texts wait and halve the size; return the failed text, with the error, if it was tried alone."""
        started = self.started
        alone = started if self.size <= 1 else []
        for text in alone:
            text.error = error_of_one(error, WRITING)
        if not alone:
            self.waiting.extendleft(reversed(started))
        self.size = max(min(self.size, len(started)) // 2, 1)
        if alone and not isinstance(error, OutOfMemoryError):
            self.size = self.whole_size
        self._empty()
        return alone

    @property
    def _can_join(self) -> bool:
        """Whether other texts may join the batch, or begin one. Raises ModelError."""
        return self.batch is None or calls.can_join(self.model, self.batch)

    def _empty(self) -> None:
        """Forget the texts that have a row, or would have one."""
        self.live, self.batch, self.logits = [], None, []
        self.partial_prefill = PartialPrefill(self.model, self.partial_prefill.part_tokens)

    def _turn(self) -> None:
        """Let the model read pending tokens, admit waiting texts, and sample the next tokens of each text."""
        if self.batch is not None:
            self._forward(self.batch)
        if self.partial_prefill.texts:
            self._copy_logits()
            self.partial_prefill.read()
            read = self.partial_prefill.take() if self._can_join else None
            if read is not None:
                text, batch, logits = read
                self.live.append(text)
                self._join(batch, logits)
        room = self.size - len(self.started)
        if self.waiting and (not self.live or (self._can_join and self._pays(room))):
            self._admit(room)
        if self.batch is not None:
            timed(self.live, self._sample)
            wrong = self.speculation.settle(self.live)
            if any(wrong):
                self._call(partial(self.batch.rollback, wrong))
        for row, text in enumerate(self.live):
            if text.finished:
                text.end()
                if text.error is None and self.batch is not None:
                    self._call(partial(self.batch.finish, row, text.pending))

    def _forward(self, batch: DecodingBatch) -> None:
        """Let the model read pending tokens and proposals; finished texts leave the batch."""
        rows = [row for row, text in enumerate(self.live) if not text.finished]
        has_left = len(rows) < len(self.live)
        live = self.live = [self.live[row] for row in rows]
        if not live:
            self.batch, self.logits = None, []
            return
        counts = [len(text.pending) for text in live]
        is_ragged = calls.is_ragged(self.model, batch)
        count = best_column_count(counts, self.speculation.pass_cost) if is_ragged else min(counts)
        pending = [text.read(count) for text in live]
        window = timed(live, lambda: self.speculation.propose(live))
        new = [read + text.proposal.token_ids for read, text in zip(pending, live, strict=True)]

        def forward() -> Logits:
            if has_left:
                self._call(partial(batch.select, rows))
            return calls.forward(self.model, batch, new, window=window)

        self.logits = list(timed(live, forward, passes=1))

    def _pays(self, room: int) -> bool:
        """Tell whether waiting texts join now: if there is room for all of them, or for enough to be worth a prefill.

        A prefill costs about a turn. No text waits longer than `size` turns while a row is free.
        """
        waiting = len(self.waiting) + self.waiting_outside
        self.unused_rows += min(room, waiting)
        return waiting <= room or room * 4 >= self.size or self.unused_rows >= self.size

    def _admit(self, room: int) -> None:
        """Begin as many of the waiting texts as there is room for.

        A text is live before anything can raise, so that it is tried again.
        """
        self.unused_rows = 0
        first = len(self.live)
        tokens = sum(text.capacity for text in self.started)
        while self.waiting and room > 0:
            text = self.waiting[0]
            self.live.append(text)
            self.waiting.popleft()
            tokens += text.capacity
            if self.batch_tokens is not None and tokens > self.batch_tokens and len(self.started) > 1:
                self.waiting.appendleft(self.live.pop())
                break
            if self.partial_prefill.wants(text):
                self.partial_prefill.texts.append(self.live.pop())
            room -= 1
        if len(self.live) == first:
            return
        parts = grouped_by_beginning(self.live[first:], self.speculation.pass_cost)
        self.live[first:] = [text for texts, _ in parts for text in texts]
        for texts, shared in parts:
            if not self._can_join:
                self.waiting.extendleft(reversed(self.live[len(self.logits) :]))
                del self.live[len(self.logits) :]
                break
            self._begin(texts, shared)

    def _begin(self, new: list[TextInProgress], shared: int) -> None:
        """Let the model read the prompts of some texts, whose first `shared` tokens are equal."""
        prompts = [text.read_all() for text in new]
        window = timed(new, lambda: self.speculation.propose(new))
        prompts = [prompt + text.proposal.token_ids for prompt, text in zip(prompts, new, strict=True)]
        self._copy_logits()
        batch, logits = timed(new, lambda: calls.prefill(self.model, prompts, shared=shared, window=window), passes=1)
        self._join(batch, logits)

    def _join(self, batch: DecodingBatch, logits: Logits) -> None:
        """Append the rows of another batch to this one."""
        if self.batch is None:
            self.batch, self.logits = batch, list(logits)
        else:
            self._call(partial(self.batch.join, batch))
            self.logits += list(logits)

    def _call(self, run: Callable[[], None]) -> None:
        """Call a method of a batch, and raise its errors as ModelError."""
        calls.called(self.model.name, run)

    def _sample(self) -> None:
        """Sample a token for each text without pending tokens, and more as long as samples equal proposals."""
        ready = [row for row, text in enumerate(self.live) if text.is_ready]
        while ready:
            self._sample_one(ready)
            ready = [row for row in ready if self.live[row].is_ready]

    def _sample_one(self, rows: list[int]) -> None:
        """Sample one token for each of some rows, before their proposals."""
        size = self.model.vocabulary.size  # models round the width of their logits up
        texts: list[TextInProgress] = []
        masks: list[tuple[Mask, Mask]] = []
        logits: list[Logits] = []
        for row in rows:
            text = self.live[row]
            both = text.masks()
            if both is not None:
                texts.append(text)
                masks.append(both)
                logits.append(text.penalised(self._next(row)[:size]))
        if any(isinstance(text, np.ndarray) for text in logits):
            for text, (mask, within_budget), scores in zip(texts, masks, map(to_host, logits), strict=True):
                try:
                    text.take(text.sampler.choose(scores, mask, text.request.generator, subset=within_budget), scores)
                except ModelError as error:  # its logits are NaN or infinite
                    text.error = error
            return
        for sampler in dict.fromkeys(text.sampler for text in texts):
            rows = [row for row, text in enumerate(texts) if text.sampler == sampler]
            batch_scores = stacked([logits[row] for row in rows])
            _sample_on_device([texts[row] for row in rows], [masks[row] for row in rows], batch_scores, sampler)

    def _next(self, row: int) -> Logits:
        """Return the logits of a row's next token, before its proposals; shape (width,)."""
        logits = self.logits[row]
        return logits if logits.ndim == 1 else logits[-1 - len(self.live[row].proposal.token_ids)]

    def _copy_logits(self) -> None:
        """Copy the logits of all rows, because a pass of another batch may overwrite them."""
        for row, logits in enumerate(self.logits):
            left = 1 + len(self.live[row].proposal.token_ids)
            self.logits[row] = copy_of(logits if logits.ndim == 1 else logits[-left:])


def _sample_on_device(
    texts: list[TextInProgress], masks: list[tuple[Mask, Mask]], scores: "torch.Tensor", sampler: Sampler
) -> None:
    """Sample a token for each text on the device of the scores, shape (texts, width)."""
    generators, table = [text.request.generator for text in texts], texts[0].guide.index.table
    choices = draw(scores, [mask for mask, _ in masks], table, generators, sampler)
    for row, (text, (_, within_budget), choice) in enumerate(zip(texts, masks, choices, strict=True)):
        drawn = choice
        if not allows(within_budget, choice.token_id):
            drawn = sampler.confined(choice, to_host(scores[row]), within_budget, generators[row])
        text.take(drawn, scores[row])
