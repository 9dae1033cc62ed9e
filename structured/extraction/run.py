"""A run: documents go through the model together, and are attempted again where validators reject an answer."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Self, TypeGuard

from structured.automata import AUTOMATON_ERRORS
from structured.decoding.beginnings import common_beginning
from structured.decoding.generate import DEFAULT_BATCH_SIZE
from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import Attempt, GenerationError, StructuredError
from structured.extraction import windows
from structured.extraction.acceptance import Acceptance
from structured.extraction.documents.document import DocumentLike
from structured.extraction.events import Listener
from structured.extraction.guided_task import GuidedItem
from structured.extraction.idle_options import warn_of_search
from structured.extraction.long_documents import LongDocument, Splitting
from structured.extraction.options import Options, search_of
from structured.extraction.outcomes import Outcome
from structured.extraction.progress import showing
from structured.extraction.task import Answer, Item, Task
from structured.index.compilation import save_learned
from structured.models import LanguageModel
from structured.results.answers import read_answer
from structured.results.merging import Merged


@dataclass(frozen=True, slots=True)
class Run:
    """How documents are answered: by which search, in which batches, in how many attempts."""

    search: Search
    batch_size: int
    batch_tokens: int | None
    jump_forward: bool
    observe: Listener | None
    cache: bool
    acceptance: Acceptance
    splitting: Splitting = field(default_factory=Splitting)

    @classmethod
    def of(cls, options: Options) -> Self:
        """Return the run that options ask for. Raises ValueError for options that exclude each other."""
        search = search_of(options)
        warn_of_search(search.sampler, options)
        return cls(
            search,
            options.get("batch_size", DEFAULT_BATCH_SIZE),
            options.get("batch_tokens"),
            options.get("jump_forward", True),
            options.get("observe"),
            options.get("cache", True),
            Acceptance.of(search, options),
            Splitting.of(options),
        )

    @property
    def once(self) -> Self:
        """The run in which no answer is written again."""
        return replace(self, acceptance=replace(self.acceptance, retries=0))

    def outcome(
        self,
        work: Iterable[tuple[Task, DocumentLike]],
        *,
        total: int | None = None,
        progress: bool | None = False,
        named: str | None = None,
    ) -> Outcome:
        """Return what becomes of documents, each of its own task; a single one may have a name for errors."""
        outcome = Outcome(total)
        try:
            for _ in self.finished(work, outcome, progress=progress, named=named):
                pass
        except BaseException as error:
            outcome.note_loss(error)
            raise
        if outcome.total is None and outcome.stopped is None:
            outcome.total = outcome.done
        return outcome

    def finished(
        self,
        work: Iterable[tuple[Task, DocumentLike] | None],
        outcome: Outcome,
        *,
        progress: bool | None = False,
        named: str | None = None,
    ) -> Generator[windows.Work, None, None]:
        """Yield each document as soon as it has a result or an error in the outcome.

        Documents are read as they are needed, a window of them at a time. While the model works on one window, the
        next is prepared in a thread; `work` itself is read in this one. None in it is a document that is passed over.
        """
        size, splitting = self.batch_size, self.splitting
        with (
            outcome.observed(self.observe),
            showing(outcome, progress),
            closing(windows.ahead(work, outcome, size, splitting, named=named)) as ahead,
        ):
            for works, failures, items, long in ahead:
                for failure in failures:
                    outcome.fail(*failure)
                    yield works[failure.position]
                yield from (works[item.position] for item in self._answer(items, outcome))
                yield from (works[position] for position in self._answer_long(long, outcome))

    def _answer(self, items: list[Item], outcome: Outcome) -> Iterator[Item]:
        """Generate answers, and yield each item that is done.

        Where an automaton fails that other texts may have exhausted, the item is tried again alone.
        """
        crowded: list[GuidedItem] = []
        yield from self._attempts(items, outcome, crowded)
        for item in crowded:
            item.reset()
            yield from self._attempts([item], outcome, [])

    def _attempts(self, items: list[Item], outcome: Outcome, crowded: list[GuidedItem]) -> Iterator[Item]:
        """Generate answers until there is one for each item, or no attempt is left, or the model fails.

        Yields each item that is done. One that others may have left no room goes to `crowded`.
        """
        pending = dict.fromkeys(items)
        for attempt in range(self.acceptance.retries + 1):
            for item in pending:
                if attempt == self.acceptance.retries and item.uncertain is None:
                    item.start_over()  # the last attempt is at the whole answer
            for item, candidates in self._candidates(list(pending), attempt, outcome):
                if isinstance(candidates, StructuredError):
                    del pending[item]
                    if _is_crowded(item, candidates):
                        crowded.append(item)
                    else:
                        _fail(item, candidates, outcome)
                        yield item
                elif self.accept(item, candidates, outcome, attempt):
                    del pending[item]
                    yield item
        yield from self._conclude(list(pending), outcome)
        self.save(items)

    def _conclude(self, items: list[Item], outcome: Outcome) -> Iterator[Item]:
        """Take the uncertain answers of items that have no better one; the others fail, unless the model did."""
        for item in items:
            if item.uncertain is not None:
                self._finish(item, item.uncertain, outcome)
                yield item
        for item in items if outcome.stopped is None else ():
            if item.uncertain is None:
                _fail(item, item.rejection(), outcome)
                yield item

    def _answer_long(self, documents: list[LongDocument], outcome: Outcome) -> Iterator[int]:
        """Answer the chunks of long documents, as many at a time as a window has, and merge what they say.

        Yields the position of each document that is done.
        """
        while documents and outcome.stopped is None:
            items: list[Item] = []
            characters = 0
            for document in documents:
                while len(items) < windows.BATCHES * self.batch_size and characters < windows.MAX_CHARACTERS:
                    item = _next_part(document, outcome)
                    if item is None:
                        break
                    items.append(item)
                    characters += len(item.document)
            for _ in self._answer(items, outcome):
                pass
            for document in documents:
                merged = document.answer() if outcome.stopped is None else None
                if merged is not None:
                    self._finish_long(document, merged, outcome)
            yield from (one.given.position for one in documents if one.is_over)
            documents = [one for one in documents if not one.is_over]

    def save(self, items: Iterable[Item]) -> None:
        """Save what was learned while some items were answered."""
        if self.cache:
            guided = [item for item in items if isinstance(item, GuidedItem)]
            for index in {index for item in guided for index in (item.index, item.guide.index)}:
                save_learned(index)

    def _candidates(
        self, items: list[Item], attempt: int, outcome: Outcome
    ) -> Iterator[tuple[Item, list[Generation] | StructuredError]]:
        """Yield the candidates for each item as soon as they are written; none after what stops the model."""
        if outcome.stopped is not None or not items:
            return
        search = self.search.for_retries if attempt else self.search
        try:
            for place, candidates in self._written(search, items, attempt):
                yield items[place], candidates
        except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
            outcome.stopped = error

    def _written(
        self, search: Search, items: list[Item], attempt: int
    ) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
        """Yield the candidates for each item, with its place: all are asked of the same model."""
        model = items[0].task.model
        if not isinstance(model, LanguageModel):
            from structured.extraction.remote_task import asked_of_server  # with what only servers need

            return asked_of_server(model, items, search, attempt, batch_size=self.batch_size)
        guided = [item for item in items if isinstance(item, GuidedItem)]
        shared = common_beginning([*{item.beginning for item in guided}])
        requests = [item.task.request(item, search.sampler, attempt, shared) for item in guided]
        return search.candidates(
            model,
            requests,
            batch_size=self.batch_size,
            batch_tokens=self.batch_tokens,
            jump_forward=self.jump_forward,
        )

    def accept(self, item: Item, candidates: list[Generation], outcome: Outcome, attempt: int = 0) -> bool:
        """Take the answer of an item, and tell whether there is one among the candidates."""
        item.count(candidates)
        outcome.write(item, attempt, candidates)
        rejected = len(item.attempts)
        answer = self.acceptance.accepted(item, candidates)
        outcome.reject_answers(item, attempt, item.attempts[rejected:])
        if answer is not None:
            self._finish(item, answer, outcome)
        return answer is not None

    def _finish(self, item: Item, answer: Answer, outcome: Outcome) -> None:
        """Take the answer of an item as its result, or as that of a part."""
        if item.part is not None:
            item.part.of.take(item, answer)
            return
        outcome.accept(
            item,
            self.acceptance.result(item, answer),
            answer.text,
            shortened=any(one.shortened for one in answer.generations),
            repetitive=any(one.diagnostics.repetitions for one in answer.generations),
        )

    def _finish_long(self, long: LongDocument, merged: Merged, outcome: Outcome) -> None:
        """Take what the chunks of a document say together as its result; it fails if a validator rejects that."""
        long.is_over = True
        wanted = long.task.output_type
        text = long.text_of(merged)
        value = read_answer(wanted, text)
        if isinstance(value, Attempt):
            error = GenerationError([*long.attempts, value], document=None if long.given.is_single else long.position)
            error.add_note(
                "The last attempt is what the chunks of the document say together; each was accepted by itself. "
                "Loosen the rule, or raise chunk_tokens."
            )
            error.__cause__ = value.error
            outcome.fail(long.position, error)
            return
        result = self.acceptance.result(long, Answer(text, value, (), merged.evidence), merged.conflicts)
        outcome.accept(long, result, text, shortened=long.shortened, repetitive=long.repetitive)


def _next_part(document: LongDocument, outcome: Outcome) -> Item | None:
    """Return the next chunk of a document, prepared; None if there is none now. The document fails if it cannot be."""
    position, is_single = document.position, document.given.is_single
    try:
        return document.next_item()
    except StructuredError as error:
        document.is_over = True
        outcome.fail(position, windows.error_of_document(error, document.task, position, is_single=is_single))
        return None


def _is_crowded(item: Item, error: StructuredError) -> TypeGuard[GuidedItem]:
    """Tell whether an item failed in an automaton that texts before it may have exhausted."""
    if not (isinstance(item, GuidedItem) and isinstance(error, AUTOMATON_ERRORS)):
        return False
    return item.guide.index.is_exhausted and not item.is_reset


def _fail(item: Item, error: StructuredError, outcome: Outcome) -> None:
    """Let a document fail, or the document that it is a part of; that fails once."""
    if item.part is not None:
        if item.part.of.is_over:
            return
        item.part.of.is_over = True
        start, end = item.part.chunk.body
        error.add_note(f"This is about a part of the document: its characters {start:,} to {end:,}.")
    outcome.fail(item.position, error)
