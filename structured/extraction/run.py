"""A run: documents go through the model together, and are attempted again where validators reject an answer."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from structured.automata.protocol import accepts_text
from structured.decoding.generate import DEFAULT_BATCH_SIZE
from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import (
    Attempt,
    BudgetError,
    NotStatedError,
    PatternError,
    PromptError,
    SchemaError,
    StructuredError,
)
from structured.errors.values import shown
from structured.extraction.conversation import TextOrChat, is_message
from structured.extraction.options import RETRIES, Options, Repairs, search_of, warn_of_idle
from structured.extraction.outcomes import Outcome
from structured.extraction.progress import showing
from structured.extraction.repair import explanation, rejected_places, repair
from structured.extraction.task import Answer, Item, Repair, Task, common_beginning
from structured.index.compile import save_learned
from structured.output_types.evidence import Evidence
from structured.output_types.extraction import Extraction
from structured.output_types.json_output import JsonOutput
from structured.output_types.paths import path_to_steps
from structured.output_types.python_type import PartlyStated
from structured.output_types.stated import Stated
from structured.results.answers import read_answer
from structured.results.calibration import Calibration
from structured.results.evidence import Sureness, evidence, provenance, sureness

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Run:
    """How documents are answered: by which search, in which batches, in how many attempts."""

    search: Search
    batch_size: int
    batch_tokens: int | None
    jump_forward: bool
    retries: int
    observe: Callable[[int, Generation], object] | None
    cache: bool
    options: Options
    """Those that it was made of."""
    repairs: Repairs = "field"
    repair_below: float = 0.0
    calibration: Calibration | None = None

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
        )

    def for_stream(self, tasks: Sequence[Task]) -> "Run":
        """Return the run of a streamed answer, which is not written again, since it has been shown already."""
        self.warn_of_idle(tasks)
        idle = [name for name in ("retries", "repair", "repair_below") if self.options.get(name)]
        if idle:
            warn_of_idle(idle, "on a stream, which is not written again", "Call the extractor,")
        return replace(self, retries=0)

    def outcome(
        self,
        tasks: Sequence[Task],
        documents: Sequence[TextOrChat],
        *,
        progress: bool | None = False,
        named: str | None = None,
    ) -> Outcome:
        """Return what becomes of documents, each of its own task; a single one may have a name for errors."""
        self.warn_of_idle(tasks)
        outcome = Outcome(len(documents))
        try:
            with showing(outcome, progress):
                self._answer(self._items(tasks, documents, outcome, named), outcome)
        except BaseException as error:
            outcome.note_loss(error)
            raise
        return outcome

    def warn_of_idle(self, tasks: Sequence[Task]) -> None:
        """Warn of options that do nothing for the types of some tasks."""
        types = [task.output_type for task in tasks]
        has_evidence = any(task.evidence or isinstance(task.output_type, PartlyStated) for task in tasks)
        if self.calibration is not None and types and not (has_evidence or self.repair_below):
            remedy = "Pass evidence=True, write the type as Extraction[Model],"
            warn_of_idle(["calibration"], "where no confidence is returned", remedy)
        names = ["repair_below"] * bool(self.repair_below) + ["repair='told'"] * (self.repairs == "told")
        if names and types and not any(isinstance(one, JsonOutput) for one in types):
            why = f"on {types[0].name}, whose answers are no JSON and are written again as a whole"
            warn_of_idle(names, why, "Ask for a type of Pydantic,")

    @staticmethod
    def _items(
        tasks: Sequence[Task], documents: Sequence[TextOrChat], outcome: Outcome, named: str | None
    ) -> list[Item]:
        """Return the documents, prepared; of some there can be no answer, and they fail."""
        items: list[Item] = []
        for position, (task, document) in enumerate(zip(tasks, documents, strict=True)):
            try:
                items.append(task.item(position, document, named=named))
            except (PromptError, BudgetError, NotStatedError) as error:
                if isinstance(error, NotStatedError) and named is None:
                    error = error.at(position)
                outcome.fail(position, error)
            except (SchemaError, PatternError) as error:
                if not task.output_type.depends_on_document:
                    raise
                outcome.fail(position, error)
        return items

    def _answer(self, items: list[Item], outcome: Outcome) -> None:
        """Generate answers until there is one for each item, or no attempt is left, or the model fails."""
        pending = {item.position: item for item in items}
        for attempt in range(self.retries + 1):
            for item in pending.values():
                if attempt == self.retries and item.uncertain is None:
                    item.repair = None  # the last attempt is at the whole answer
            for item, candidates in self._candidates(list(pending.values()), attempt, outcome):
                if isinstance(candidates, StructuredError):
                    outcome.fail(item.position, candidates)
                    del pending[item.position]
                elif self.accept(item, candidates, outcome):
                    del pending[item.position]
        for item in list(pending.values()):
            if item.uncertain is not None:
                self._finish(item, item.uncertain, outcome)
                del pending[item.position]
        if outcome.stopped is None:
            outcome.reject(pending.values())
        self.save(items)

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
        requests = [item.task.request(item, self.search.sampler, attempt, shared) for item in items]
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

    def accept(self, item: Item, candidates: list[Generation], outcome: Outcome) -> bool:
        """Take the answer of an item, and tell whether there is one among the candidates."""
        item.count(candidates)
        for generation in candidates:
            outcome.tokens += len(generation.token_ids)
            if self.observe is not None:
                self.observe(item.position, generation)
        answer = self._answer_among(item, candidates)
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
                _LOGGER.info("document %d: an answer was rejected by %s", item.position, type(answer.error).__name__)
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
        if not (item.task.evidence or self.repair_below or isinstance(value, Stated)):
            return answer
        kept = None if item.repair is None else item.repair.kept
        drawn = candidates if self.search.samples > 1 else answer.generations  # beams differ, and agree on nothing
        return answer._replace(evidence=evidence(item.task.output_type, item.document, text, drawn, kept))

    def _calibrated(self, answer: Answer) -> Mapping[str, Evidence]:
        """Return the evidence for an answer with calibrated confidences, if there is a calibration."""
        if self.calibration is None:
            return answer.evidence
        return {path: one.calibrated(self.calibration.apply) for path, one in answer.evidence.items()}

    @staticmethod
    def _read(item: Item, text: str) -> Any:
        """Return what an answer says, or why it is rejected."""
        if item.repair is not None and not accepts_text(item.index.automaton, text):
            return Attempt(text, ValueError("What was written again does not fit what was kept of the answer."))
        return read_answer(item.task.output_type, text)

    def _repair_of_rejected(self, item: Item, generation: Generation) -> Repair | None:
        """Return what is kept of an answer that validators reject; None if all of it is to be written again."""
        rejected = next((one for one in reversed(item.attempts) if one.text == generation.text), None)
        if self.repairs == "whole" or rejected is None:
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
            for path, one in self._calibrated(answer).items()
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
        """Take the answer of an item as its result."""
        result = answer.value
        if item.task.evidence or isinstance(result, Stated):
            result = self._extraction(item, answer)
        outcome.accept(
            item,
            result,
            shortened=any(one.shortened for one in answer.generations),
            repetitive=any(one.diagnostics.repetitions for one in answer.generations),
        )

    def _extraction(self, item: Item, answer: Answer) -> Extraction[Any]:
        """Return the result for an item with its evidence."""
        wanted, value = item.task.output_type, answer.value
        stated = value if isinstance(value, Stated) else Stated(value, wanted.to_data(answer.text), ())
        return Extraction(
            stated.value,
            stated.data,
            stated.missing,
            self._calibrated(answer),
            item.document,
            answer.text,
            item.usage,
            tuple(item.attempts),
            item.seconds,
            provenance(wanted, item.task.model.name, self.options, item.document),
        )


def listed_documents(documents: Iterable[TextOrChat]) -> list[TextOrChat]:
    """Return documents as a list. Raises PromptError for what is a single one, or not several texts in an order."""
    match documents:
        case str() | bytes() | bytearray():
            kind = type(documents).__name__
            raise PromptError(f"The documents are one {kind}, and would be read letter by letter. Pass a list: [text].")
        case Path():
            raise PromptError("The documents are a path. Pass a list of what is in the files: [path.read_text()].")
        case Mapping():
            raise PromptError("The documents are a mapping, and would be its keys. Pass list(documents.values()).")
        case AbstractSet():
            raise PromptError("The documents are a set, and have no order for the answers. Pass a list.")
        case Iterable():
            listed = list(documents)
            if listed and all(map(is_message, listed)):
                raise PromptError("The documents are the messages of one chat. Pass a list of chats: [messages].")
            return listed
    raise PromptError(f"The documents are {shown(documents)}. Pass a list of texts.")
