"""The scheduler: which texts are in the running batch, and what each forward pass reads.

Each turn samples a token of each text under its mask, appends the tokens that are known to follow, proposes those that
probably follow, and runs one forward pass for all of them. A text that is finished makes room for the next that waits
(continuous batching).

Read at once, a long prompt holds up everybody in the batch for as long as that takes (Agrawal et al., "Sarathi:
Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills", 2023, section 4). Its parts are read in a batch
of one row, which joins the others when it has come to the end: as a part of their passes, it would be padded in each
row.

Nothing depends on proposals but speed. Proposed tokens are read with those that are known, and each is sampled all the
same: if it turns out as proposed, the logits after it are there already; if not, it is rolled back. Whether that pays
depends on the cost of a pass, which the model states, and on the share of proposals that were right.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from structured.decoding.device_masks import draw, stacked
from structured.decoding.prompt_tokens import alike
from structured.decoding.sampling import Sampler
from structured.decoding.sequence import Sequence, timed_in_guide, timed_in_model, to_host
from structured.errors import ModelError, OutOfMemoryError, StructuredError
from structured.index.masks import Mask, allows
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models import checked_calls as calls

if TYPE_CHECKING:
    import torch


@dataclass(slots=True)
class PartialPrefill:
    """Texts whose prompts are read in parts, one text after the other."""

    model: LanguageModel
    part: int | None = None
    """How many tokens are read at a time; None for all of them, so that no prompt is read in parts."""
    texts: deque[Sequence] = field(default_factory=deque)
    batch: DecodingBatch | None = None
    """The first text as the model has it; what the model has not read is `pending`."""
    logits: Logits | None = None
    """Those of the last part, shape (1, width), in memory of their own."""

    def wants(self, one: Sequence) -> bool:
        """Tell whether a prompt, with what has been written already, is to be read in parts."""
        if self.part is None or one.finished:
            return False
        return len(one.request.prompt) + len(one.token_ids) > self._first(one)

    def read(self) -> None:
        """Read one part more of the first text. Raises ModelError."""
        if not self.texts or (self.batch is not None and not self.texts[0].pending):
            return
        one = self.texts[0]
        logits = timed_in_model([one], lambda: self._next(one))
        self.logits = own(logits)

    def take(self) -> tuple[Sequence, DecodingBatch, Logits] | None:
        """Return the first text if all of its prompt has been read, with its batch and logits, shape (1, width)."""
        if self.batch is None or self.logits is None or self.texts[0].pending:
            return None
        taken = self.texts.popleft(), self.batch, self.logits
        self.batch = self.logits = None
        return taken

    def drop(self) -> None:
        """Forget texts with an error: nobody waits for them any more."""
        if self.texts and self.texts[0].error is not None:
            self.batch = self.logits = None
        self.texts = deque(one for one in self.texts if one.error is None)

    def clear(self) -> None:
        """Forget all texts."""
        self.texts.clear()
        self.batch = self.logits = None

    def _first(self, one: Sequence) -> int:
        """Return how many tokens the first part has: more than the shared ones, which are read as one."""
        assert self.part is not None, "prompts are read in parts"
        return max(self.part, one.request.shared + 1)

    def _next(self, one: Sequence) -> Logits:
        """Let the model read the next part; all of the prompt, if the model reads on token by token."""
        if self.batch is not None:
            return calls.forward(self.model, self.batch, [one.read(self.part or len(one.pending))])
        prompt, shared = one.read_all(), one.request.shared
        first = self._first(one)
        self.batch, logits = calls.prefill(self.model, [prompt[:first]], shared=shared)
        if self.batch.is_ragged and self.batch.can_join:
            one.pending = prompt[first:]
        else:
            self.part = None
            self.batch, logits = calls.prefill(self.model, [prompt], shared=shared)
        return logits


def own(logits: Logits) -> Logits:
    """Return logits in memory of their own: a model may use the same for each pass."""
    return logits.copy() if isinstance(logits, np.ndarray) else logits.clone()


MEMORY = 0.95
"""The decay, from one pass to the next, of the counts that give the share of proposals that were right."""

SECOND_VECTOR_COST = 10
"""As many logits as take as long as it does that a matrix is multiplied by two vectors and not by one, measured."""


@dataclass(slots=True)
class Speculation:
    """Proposes tokens where that pays, and remembers how it went."""

    model: LanguageModel
    proposed: float = 0.0
    """Of late, for how many texts something was proposed, in all passes; each pass back counts a little less."""
    accepted: float = 0.0
    """Of these, for how many it was right, at least the first token."""

    def propose(self, sequences: list[Sequence]) -> int:
        """Propose what follows each text, if that pays, and return the window: the most tokens of one."""
        if not self.model.can_roll_back:
            return 0  # as ever, so that no window is open
        most = int(self.model.pass_cost) // len(sequences)
        counts = [one.propose(most) for one in sequences]
        if any(counts) and not self._pays(counts):
            counts = [one.propose(0) for one in sequences]
        return max(counts)

    def settle(self, sequences: Iterable[Sequence]) -> list[int]:
        """Discard wrong proposals, and return how many tokens of each text are to be rolled back."""
        self.proposed *= MEMORY
        self.accepted *= MEMORY
        wrong = []
        for one in sequences:
            count = one.window.count
            left = one.window.close() if count else 0
            self.proposed += count > 0
            self.accepted += count > left
            wrong.append(left)
        return wrong

    def _pays(self, counts: list[int]) -> bool:
        """Tell whether proposals pay: one that is right saves a text a pass, and logits cost in all texts."""
        right = (self.accepted + 1) / (self.proposed + 1)
        saved = right * sum(count > 0 for count in counts) * self.model.pass_cost / len(counts)
        places = max(counts) * len(counts) + SECOND_VECTOR_COST
        return saved > places * self.model.logits_cost + (1 - right) * sum(counts)


def columns(counts: list[int], pass_cost: float) -> int:
    """Return how many pending tokens of each text a pass should read: each column costs, padding included."""
    if len(set(counts)) == 1:
        return counts[0]

    def gain(columns: int) -> float:
        return sum(min(count, columns) for count in counts) / (pass_cost + len(counts) * columns)

    return max(sorted(set(counts)), key=gain)


@dataclass(slots=True)
class Scheduler:
    """Which texts are in the batch, and which wait for room in it."""

    model: LanguageModel
    size: int
    max_tokens: int | None = None
    part: int | None = None
    """How many tokens of a prompt are read between two passes of the other texts; None for all."""
    waiting: deque[Sequence] = field(default_factory=deque)
    elsewhere: int = 0
    """How many texts will wait here as soon as there is room for them."""
    idle: int = 0
    """The turns that rows have stood free while texts waited, added up since texts joined last."""
    live: list[Sequence] = field(default_factory=list)
    batch: DecodingBatch | None = None
    """The live texts as the model has them, a row for each."""
    logits: list[Logits] = field(default_factory=list)
    """For each row, those of the last pass; shape (width,), or (window + 1, width)."""
    partly: PartialPrefill = field(init=False)
    """The texts with long prompts, which are read in parts before they are live."""
    speculation: Speculation = field(init=False)

    def __post_init__(self) -> None:
        self.partly = PartialPrefill(self.model, self.part)
        self.speculation = Speculation(self.model)

    @property
    def is_busy(self) -> bool:
        """Whether a text is unfinished."""
        return bool(self.started or self.waiting)

    @property
    def started(self) -> list[Sequence]:
        """The texts that have a row, or will have one as soon as their prompts are read."""
        return [*self.live, *self.partly.texts]

    def turns(self, sequences: list[Sequence]) -> Iterator[list[Sequence]]:
        """Finish some texts, sorted by the length of their prompts; yield after each turn those that ended."""
        self.waiting.extend(sorted(sequences, key=lambda one: len(one.request.prompt)))
        while self.is_busy:
            yield self.turn()

    def turn(self) -> list[Sequence]:
        """Take one turn, and return the texts that came to their end in it. Raises ModelError."""
        try:
            self._turn()
        except OutOfMemoryError as error:
            return self.retreat(error)
        return [one for one in self.live if one.finished]

    def drop(self, texts: Collection[Sequence], error: StructuredError) -> None:
        """Give texts up between two turns, and report them in none: those in the batch leave it with the next pass."""
        for one in texts:
            one.error = error
            if one in self.waiting:
                self.waiting.remove(one)
        self.partly.drop()

    def abandon(self) -> None:
        """Forget all texts."""
        self.waiting.clear()
        self.partly.clear()
        self.live, self.batch, self.logits = [], None, []

    def retreat(self, error: ModelError) -> list[Sequence]:
        """Let all texts wait, to try half as many; return the one that has been tried alone, which has failed."""
        started = self.started
        alone = started if self.size <= 1 else []
        for one in alone:
            one.error = error
        if not alone:
            self.waiting.extendleft(reversed(started))
        self.size = max(min(self.size, len(started)) // 2, 1)
        self.live, self.batch, self.logits = [], None, []
        self.partly.clear()
        return alone

    def _turn(self) -> None:
        """Let the model read what it has not, take in those that wait, and sample what can be sampled of each text."""
        if self.batch is not None:
            self._forward(self.batch)
        if self.partly.texts:
            self._keep()
            self.partly.read()
            if self.batch is None or self.batch.can_join:
                self._take_read()
        room = self.size - len(self.started)
        if self.waiting and (not self.live or (self.batch is not None and self.batch.can_join and self._pays(room))):
            self._admit(room)
        if self.batch is not None:
            timed_in_guide(self.live, self._sample)
            wrong = self.speculation.settle(self.live)
            if any(wrong):
                self._call(partial(self.batch.rollback, wrong))
        for row, one in enumerate(self.live):
            if one.finished:
                one.end()
                if one.error is None and self.batch is not None:
                    self._call(partial(self.batch.finish, row, one.pending))

    def _forward(self, batch: DecodingBatch) -> None:
        """Let the model read pending tokens, and proposals; texts that are finished leave."""
        rows = [row for row, one in enumerate(self.live) if not one.finished]
        has_left = len(rows) < len(self.live)
        live = self.live = [self.live[row] for row in rows]
        if not live:
            self.batch, self.logits = None, []
            return
        counts = [len(one.pending) for one in live]
        count = columns(counts, self.model.pass_cost) if batch.is_ragged else min(counts)
        pending = [one.read(count) for one in live]
        window = timed_in_guide(live, lambda: self.speculation.propose(live))
        new = [read + one.window.proposed for read, one in zip(pending, live, strict=True)]

        def forward() -> Logits:
            if has_left:
                self._call(partial(batch.select, rows))
            return calls.forward(self.model, batch, new, window=window)

        self.logits = list(timed_in_model(live, forward))

    def _pays(self, room: int) -> bool:
        """Tell whether those that wait join now: all of them, or as many as are worth a prefill.

        A prefill costs about a turn. None waits longer than `size` turns beside a free row.
        """
        waiting = len(self.waiting) + self.elsewhere
        self.idle += min(room, waiting)
        return waiting <= room or room * 4 >= self.size or self.idle >= self.size

    def _admit(self, room: int) -> None:
        """Begin as many of the texts that wait as there is room for."""
        self.idle = 0
        new: list[Sequence] = []
        tokens = sum(one.capacity for one in self.started)
        while self.waiting and room > 0:
            tokens += self.waiting[0].capacity
            if self.max_tokens is not None and tokens > self.max_tokens and (new or self.started):
                break
            one = self.waiting.popleft()
            (self.partly.texts if self.partly.wants(one) else new).append(one)
            room -= 1
        if not new:
            return
        parts = alike(new, self.model.pass_cost)
        self.live += [one for texts, _ in parts for one in texts]  # if memory does not suffice, all are tried again
        for texts, shared in parts:
            if self.batch is not None and not self.batch.can_join:
                self.waiting.extendleft(reversed(self.live[len(self.logits) :]))
                del self.live[len(self.logits) :]
                break
            self._begin(texts, shared)

    def _begin(self, new: list[Sequence], shared: int) -> None:
        """Let the model read the prompts of some texts, which begin with so many tokens that are the same in all."""
        prompts = [one.read_all() for one in new]
        window = timed_in_guide(new, lambda: self.speculation.propose(new))
        prompts = [prompt + one.window.proposed for prompt, one in zip(prompts, new, strict=True)]
        self._keep()
        batch, logits = timed_in_model(new, lambda: calls.prefill(self.model, prompts, shared=shared, window=window))
        self._join(batch, logits)

    def _take_read(self) -> None:
        """Take in the text whose prompt has been read in parts to its end, if there is one."""
        read = self.partly.take()
        if read is not None:
            one, batch, logits = read
            self.live.append(one)
            self._join(batch, logits)

    def _join(self, batch: DecodingBatch, logits: Logits) -> None:
        """Put the texts of another batch behind those of this one."""
        if self.batch is None:
            self.batch, self.logits = batch, list(logits)
        else:
            self._call(partial(self.batch.join, batch))
            self.logits += list(logits)

    def _call(self, run: Callable[[], None]) -> None:
        """Call a batch. What it raises becomes a ModelError."""
        calls.called(self.model.name, run)

    def _sample(self) -> None:
        """Sample a token for each text of which the model has read all, and more where it has read them already."""
        ready = [row for row, one in enumerate(self.live) if one.is_ready]
        while ready:
            self._sample_one(ready)
            ready = [row for row in ready if self.live[row].is_ready]

    def _sample_one(self, rows: list[int]) -> None:
        """Sample a token for some texts, in front of what is proposed of them."""
        size = self.model.vocabulary.size  # models have more logits, to round their width up
        sequences: list[Sequence] = []
        masks: list[tuple[Mask, Mask]] = []
        logits: list[Logits] = []
        for row in rows:
            one = self.live[row]
            found = one.masks()
            if found is not None:
                sequences.append(one)
                masks.append(found)
                logits.append(one.penalised(self._next(row)[:size]))
        if any(isinstance(one, np.ndarray) for one in logits):
            for one, (mask, within), scores in zip(sequences, masks, map(to_host, logits), strict=True):
                try:
                    one.take(one.sampler.choose(scores, mask, one.request.generator, within=within), scores)
                except ModelError as error:  # its logits are no numbers
                    one.error = error
            return
        for sampler in dict.fromkeys(one.sampler for one in sequences):
            rows = [row for row, one in enumerate(sequences) if one.sampler == sampler]
            given = stacked([logits[row] for row in rows])
            _sample_on_device([sequences[row] for row in rows], [masks[row] for row in rows], given, sampler)

    def _next(self, row: int) -> Logits:
        """Return the logits of the token that comes next, in front of what is proposed; shape (width,)."""
        logits = self.logits[row]
        return logits if logits.ndim == 1 else logits[-1 - len(self.live[row].window.proposed)]

    def _keep(self) -> None:
        """Keep the logits of all rows in memory of their own, for a pass of another batch."""
        self.logits = [self._kept(row) for row in range(len(self.logits))]

    def _kept(self, row: int) -> Logits:
        logits = self.logits[row]
        if logits.ndim > 1:
            logits = logits[-1 - len(self.live[row].window.proposed) :]
        return own(logits)


def _sample_on_device(
    sequences: list[Sequence], masks: list[tuple[Mask, Mask]], scores: "torch.Tensor", sampler: Sampler
) -> None:
    """Sample a token for each text where the scores are, shape (texts, width)."""
    generators, table = [one.request.generator for one in sequences], sequences[0].guide.index.table
    choices = draw(scores, [mask for mask, _ in masks], table, generators, sampler)
    for row, (one, (_, within), choice) in enumerate(zip(sequences, masks, choices, strict=True)):
        drawn = choice
        if not allows(within, choice.token_id):
            drawn = sampler.confined(choice, to_host(scores[row]), within, generators[row])
        one.take(drawn, scores[row])
