"""A run: documents go through the model together, and are attempted again where validators reject an answer."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from structured.automata.protocol import accepts_text
from structured.decoding.generate import DEFAULT_BATCH_SIZE
from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import (
    Attempt,
    BudgetError,
    GenerationError,
    NotStatedError,
    PatternError,
    PromptError,
    SchemaError,
    StructuredError,
)
from structured.extraction.documents.content import on_pages
from structured.extraction.documents.document import DocumentLike, characters_of
from structured.extraction.events import Listener
from structured.extraction.long_documents import SPLITTING, LongDocument, Splitting, prepare
from structured.extraction.options import RETRIES, Options, Repairs, search_of, warn_of_idle
from structured.extraction.outcomes import Outcome
from structured.extraction.progress import showing
from structured.extraction.repair import explanation, rejected_places, repair
from structured.extraction.task import Answer, Item, Repair, Task, common_beginning
from structured.index.compile import save_learned
from structured.output_types.evidence import Evidence
from structured.output_types.extraction import Extraction
from structured.output_types.paths import path_to_steps
from structured.output_types.python_type import PartlyStated
from structured.output_types.stated import Stated
from structured.results.answers import read_answer
from structured.results.calibration import Calibration
from structured.results.evidence import Sureness, evidence, provenance, sureness
from structured.results.merging import Conflicts, Merged

BATCHES = 64
"""Batches whose documents are prepared together, sorted by length, and answered before the next are looked at."""

MAX_CHARACTERS = 250_000
"""Of these documents together, where they are long: what a document states takes a thousand times its memory."""


class Work(NamedTuple):
    """A document that waits, with its position and its task."""

    position: int
    task: Task
    document: DocumentLike


@dataclass(frozen=True, slots=True)
class Run:
    """How documents are answered: by which search, in which batches, in how many attempts."""

    search: Search
    batch_size: int
    batch_tokens: int | None
    jump_forward: bool
    retries: int
    observe: Listener | None
    cache: bool
    options: Options
    """Those that it was made of."""
    repairs: Repairs = "field"
    repair_below: float = 0.0
    calibration: Calibration | None = None
    splitting: Splitting = field(default_factory=Splitting)

    @classmethod
    def of(cls, options: Options) -> "Run":
        """Return the run that options ask for. Raises ValueError for options that exclude each other."""
        return cls(
            search_of(options),
            options.get("batch_size", DEFAULT_BATCH_SIZE),
            options.get("batch_tokens"),
            options.get("jump_forward", True),
            options.get("retries", RETRIES),
            options.get("observe"),
            options.get("cache", True),
            options,
            options.get("repair", "field"),
            options.get("repair_below", 0.0),
            cast("Calibration | None", options.get("calibration")),
            Splitting.of(options),
        )

    def for_stream(self, tasks: Sequence[Task]) -> "Run":
        """Return the run of a streamed answer, which is not written again, since it has been shown already."""
        self.warn_of_idle(tasks)
        idle = [name for name in ("retries", "repair", "repair_below") if self.options.get(name)]
        if idle:
            warn_of_idle(idle, "on a stream, which is not written again", "Call the extractor,")
        idle = [name for name in SPLITTING if self.options.get(name)]
        if idle:
            warn_of_idle(idle, "on a stream, which reads its text at once", "Call the extractor,")
        return replace(self, retries=0)

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
    ) -> Generator[Work, None, None]:
        """Yield each document as soon as it has a result or an error in the outcome.

        Documents are read as they are needed, a window of them at a time. While the model works on one window, the
        next is prepared in a thread; `work` itself is read in this one. None in it is a document that is passed over.
        """
        with (
            outcome.observed(self.observe),
            showing(outcome, progress),
            ThreadPoolExecutor(1, "documents") as pool,  # no thread until there is work
        ):
            windows = self._windows(work)
            given = next(windows, [])
            window, broken = self._prepared(given, named), None
            while window and outcome.stopped is None:
                outcome.start(given)
                works = {work.position: work for work in given}
                try:
                    following = next(windows, [])
                except Exception as error:  # noqa: BLE001  where the documents come from is the user's own code
                    following, broken = [], error
                beside = pool.submit(copy_context().run, self._prepared, following, named) if following else None
                for failure in window:
                    if isinstance(failure, _Failure):
                        outcome.fail(*failure)
                        yield works[failure.position]
                items = [one for one in window if isinstance(one, Item)]
                yield from (works[item.position] for item in self._answer(items, outcome))
                long = [one for one in window if isinstance(one, LongDocument)]
                yield from (works[position] for position in self._answer_long(long, outcome))
                given = following
                window = [] if beside is None else beside.result()
            if broken is not None:
                raise broken

    def _windows(self, work: Iterable[tuple[Task, DocumentLike] | None]) -> Iterator[list[Work]]:
        """Yield documents with their positions, so many together that sorting and batching them pays.

        Where reading them fails, what has been read is yielded first.
        """
        window: list[Work] = []
        characters = 0
        try:
            for position, one in enumerate(work):
                if one is None:
                    continue
                task, document = one
                window.append(Work(position, task, document))
                characters += characters_of(document)
                is_large = characters >= MAX_CHARACTERS and len(window) >= self.batch_size
                if is_large or len(window) == BATCHES * self.batch_size:
                    yield window
                    window, characters = [], 0
        except Exception:
            if window:
                yield window
            raise
        if window:
            yield window

    def _prepared(self, window: list[Work], named: str | None) -> list["Item | LongDocument | _Failure"]:
        """Return the documents of a window, prepared; of some there can be no answer, and they fail."""
        prepared: list[Item | LongDocument | _Failure] = []
        for position, task, given in window:
            try:
                prepared.append(prepare(task, position, given, self.splitting, named=named))
            except StructuredError as error:
                prepared.append(_Failure(position, _of_document(error, task, position, is_single=named is not None)))
        return prepared

    def _answer(self, items: list[Item], outcome: Outcome) -> Iterator[Item]:
        """Generate answers until there is one for each item, or no attempt is left, or the model fails.

        Yields each item that is done.
        """
        pending = dict.fromkeys(items)
        for attempt in range(self.retries + 1):
            for item in pending:
                if attempt == self.retries and item.uncertain is None:
                    item.repair = None  # the last attempt is at the whole answer
            for item, candidates in self._candidates(list(pending), attempt, outcome):
                if isinstance(candidates, StructuredError):
                    _fail(item, candidates, outcome)
                elif not self.accept(item, candidates, outcome, attempt):
                    continue
                del pending[item]
                yield item
        for item in list(pending):
            if item.uncertain is not None:
                self._finish(item, item.uncertain, outcome)
                del pending[item]
                yield item
        for item in pending if outcome.stopped is None else ():
            _fail(item, item.rejection(), outcome)
            yield item
        self.save(items)

    def _answer_long(self, documents: list[LongDocument], outcome: Outcome) -> Iterator[int]:
        """Answer the chunks of long documents, as many at a time as a window has, and merge what they say.

        Yields the position of each document that is done.
        """
        while documents and outcome.stopped is None:
            items: list[Item] = []
            characters = 0
            for document in documents:
                while len(items) < BATCHES * self.batch_size and characters < MAX_CHARACTERS:
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

    def warn_of_idle(self, tasks: Sequence[Task]) -> None:
        """Warn of options that do nothing for the types of some tasks."""
        types = [task.output_type for task in tasks]
        has_evidence = any(task.evidence or isinstance(task.output_type, PartlyStated) for task in tasks)
        if self.calibration is not None and types and not (has_evidence or self.repair_below):
            remedy = "Pass evidence=True, write the type as Extraction[Model],"
            warn_of_idle(["calibration"], "where no confidence is returned", remedy)
        names = ["repair_below"] * bool(self.repair_below) + ["repair='told'"] * (self.repairs == "told")
        splitting = [name for name in SPLITTING if self.options.get(name)]
        if types and all(one.root is None for one in types):
            for idle, hence in ((names, "are written again as a whole"), (splitting, "cannot be merged")):
                if idle:
                    why = f"on {types[0].name}, whose answers are no JSON and {hence}"
                    warn_of_idle(idle, why, "Ask for a type of Pydantic,")

    def save(self, items: Iterable[Item]) -> None:
        """Save what was learned while some items were answered."""
        if self.cache:
            for index in {index for item in items for index in (item.index, item.guide.index)}:
                save_learned(index)

    def _candidates(
        self, items: list[Item], attempt: int, outcome: Outcome
    ) -> Iterator[tuple[Item, list[Generation] | StructuredError]]:
        """Yield the candidates for each item as soon as they are written; none after what stops the model."""
        if outcome.stopped is not None or not items:
            return
        search = self.search.for_retries if attempt else self.search
        shared = common_beginning([*{item.beginning for item in items}])
        requests = [item.task.request(item, search.sampler, attempt, shared) for item in items]
        try:
            for place, candidates in search.candidates(
                items[0].task.model,
                requests,
                batch_size=self.batch_size,
                batch_tokens=self.batch_tokens,
                jump_forward=self.jump_forward,
            ):
                yield items[place], candidates
        except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
            outcome.stopped = error

    def accept(self, item: Item, candidates: list[Generation], outcome: Outcome, attempt: int = 0) -> bool:
        """Take the answer of an item, and tell whether there is one among the candidates."""
        item.count(candidates)
        outcome.write(item, attempt, candidates)
        rejected = len(item.attempts)
        answer = self._answer_among(item, candidates)
        outcome.reject_answers(item, attempt, item.attempts[rejected:])
        if item.uncertain is not None:
            answer = self._surer(item, item.uncertain, answer)
        elif answer is None:
            item.repair = self._repair_of_rejected(item, candidates[0])
            return False
        elif self._is_repaired_for_confidence(item, answer):
            return False
        self._finish(item, answer, outcome)
        return True

    def _answer_among(self, item: Item, candidates: Sequence[Generation]) -> Answer | None:
        """Return the answer that candidates give; None if validators reject all of them."""
        valid: list[tuple[Generation, Any]] = []
        for generation in candidates:
            answer = self._read(item, generation.text)
            if isinstance(answer, Attempt):
                item.attempts.append(answer)
            else:
                valid.append((generation, answer))
            if valid and self.search.choose == "likeliest":
                break
        if not valid:
            return None
        text, value = valid[0][0].text, valid[0][1]
        try:
            if len(valid) > 1:
                text, value = item.task.read_vote(valid)
        except Exception as error:  # noqa: BLE001  what is voted on is made by the user's own code
            item.attempts += [Attempt(generation.text, error) for generation, _ in valid]
            return None
        answer = Answer(text, value, [generation for generation, _ in valid])
        if not (item.task.evidence or self.repair_below or isinstance(value, Stated) or item.part is not None):
            return answer
        kept = None if item.repair is None else item.repair.kept
        drawn = candidates if self.search.samples > 1 else answer.generations  # beams differ, and agree on nothing
        return answer._replace(evidence=evidence(item.task.output_type, item.document, text, drawn, kept))

    def _calibrated(self, found: Mapping[str, Evidence]) -> Mapping[str, Evidence]:
        """Return evidence with calibrated confidences, if there is a calibration."""
        return found if self.calibration is None else {path: self._calibrated_one(one) for path, one in found.items()}

    def _calibrated_one(self, found: Evidence) -> Evidence:
        return found if self.calibration is None else found.calibrated(self.calibration.apply)

    @staticmethod
    def _read(item: Item, text: str) -> Any:
        """Return what an answer says, or why it is rejected."""
        if item.repair is not None and not accepts_text(item.index.automaton, text):
            return Attempt(text, ValueError("What was written again does not fit what was kept of the answer."))
        return read_answer(item.task.output_type, text)

    def _repair_of_rejected(self, item: Item, generation: Generation) -> Repair | None:
        """Return what is kept of an answer that validators reject; None if all of it is to be written again."""
        rejected = next((one for one in reversed(item.attempts) if one.text == generation.text), None)
        if self.repairs == "whole" or rejected is None or item.task.output_type.root is None:
            return None
        places = rejected_places(rejected.error, rejected.text)
        told = explanation(rejected) if self.repairs == "told" else ""
        kept = None if item.repair is None else item.repair.kept
        before = sureness(item.task.output_type, generation, kept)
        return repair(item, generation.text, places, before, told)

    def _is_repaired_for_confidence(self, item: Item, answer: Answer) -> bool:
        """Tell whether an answer is to be written again where the model was less sure of it than is asked for."""
        below = [
            path_to_steps(path)
            for path, one in self._calibrated(answer.evidence).items()
            if one.confidence is not None and one.confidence < self.repair_below
        ]
        if not below or not self.retries or item.attempts:
            return False
        before = {path: Sureness(one.confidence, one.agreement) for path, one in answer.evidence.items()}
        item.repair = repair(item, answer.text, below, before)
        item.uncertain = answer if item.repair is not None else None
        return item.uncertain is not None

    @staticmethod
    def _surer(item: Item, before: Answer, after: Answer | None) -> Answer:
        """Return that of two answers of which the model is surer where they may differ."""
        if after is None or item.repair is None:
            return before

        def least(answer: Answer) -> float:
            known = (one.confidence for path, one in answer.evidence.items() if kept.is_open(path_to_steps(path)))
            return min((confidence for confidence in known if confidence is not None), default=0.0)

        kept = item.repair.kept
        return max(before, after, key=least)

    def _finish(self, item: Item, answer: Answer, outcome: Outcome) -> None:
        """Take the answer of an item as its result, or as that of a part."""
        if item.part is not None:
            item.part.of.take(item, answer)
            return
        outcome.accept(
            item,
            self._result(item, answer),
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
        result = self._result(long, Answer(text, value, (), merged.evidence), merged.conflicts)
        outcome.accept(long, result, text, shortened=long.shortened, repetitive=long.repetitive)

    def _result(self, item: Item | LongDocument, answer: Answer, conflicts: Conflicts = MappingProxyType({})) -> Any:
        """Return the result for a document, with its evidence where that is asked for."""
        wanted, value = item.task.output_type, answer.value
        if not (item.task.evidence or isinstance(value, Stated)):
            return value
        stated = value if isinstance(value, Stated) else Stated(value, wanted.to_data(answer.text), ())
        return Extraction(
            stated.value,
            stated.data,
            stated.missing,
            on_pages(self._calibrated(answer.evidence), item.pages),
            item.document,
            answer.text,
            item.usage,
            tuple(item.attempts),
            item.seconds,
            provenance(wanted, item.task.model.name, self.options, item.document),
            {path: [(value, self._calibrated_one(one)) for value, one in others] for path, others in conflicts.items()},
        )


class _Failure(NamedTuple):
    """A document of which there can be no answer."""

    position: int
    error: StructuredError


def _of_document(error: StructuredError, task: Task, position: int, *, is_single: bool) -> StructuredError:
    """Return an error that a document makes as its own. Raises one that concerns the type or the model."""
    if isinstance(error, NotStatedError):
        return error if is_single else error.at(position)
    by_type = isinstance(error, SchemaError | PatternError) and task.output_type.depends_on_document
    if isinstance(error, PromptError | BudgetError) or by_type:
        return error
    raise error


def _next_part(document: LongDocument, outcome: Outcome) -> Item | None:
    """Return the next chunk of a document, prepared; None if there is none now. The document fails if it cannot be."""
    position, is_single = document.position, document.given.is_single
    try:
        return document.next_item()
    except StructuredError as error:
        document.is_over = True
        outcome.fail(position, _of_document(error, document.task, position, is_single=is_single))
        return None


def _fail(item: Item, error: StructuredError, outcome: Outcome) -> None:
    """Let a document fail, or the document that it is a part of; that fails once."""
    if item.part is not None:
        if item.part.of.is_over:
            return
        item.part.of.is_over = True
        start, end = item.part.chunk.body
        error.add_note(f"This is about a part of the document: its characters {start:,} to {end:,}.")
    outcome.fail(item.position, error)
