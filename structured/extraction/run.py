"""A run: documents go through the model together, and are attempted again where validators reject an answer."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from structured.extraction.options import RETRIES, Options, search_of
from structured.extraction.outcomes import Outcome
from structured.extraction.progress import showing
from structured.extraction.task import Item, Task, common_beginning
from structured.index.compile import save_learned
from structured.output_types.extraction import Extraction
from structured.output_types.stated import Stated
from structured.results.answers import read_answer
from structured.results.evidence import evidence, provenance

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
    evidence: bool = False
    """Whether results come with evidence, also of types that do not say what is missing."""

    @classmethod
    def of(cls, options: Options, *, evidence: bool = False) -> "Run":
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
            evidence,
        )

    def outcome(
        self,
        tasks: Sequence[Task],
        documents: Sequence[TextOrChat],
        *,
        progress: bool | None = False,
        named: str | None = None,
    ) -> Outcome:
        """Return what becomes of documents, each of its own task; a single one may have a name for errors."""
        outcome = Outcome(len(documents))
        try:
            with showing(outcome, progress):
                self._answer(self._items(tasks, documents, outcome, named), outcome)
        except BaseException as error:
            outcome.note_loss(error)
            raise
        return outcome

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
            for item, candidates in self._candidates(list(pending.values()), attempt, outcome):
                if isinstance(candidates, StructuredError):
                    outcome.fail(item.position, candidates)
                    del pending[item.position]
                elif self.accept(item, candidates, outcome):
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
        valid: list[tuple[Generation, Any]] = []
        item.count(candidates)
        for generation in candidates:
            outcome.tokens += len(generation.token_ids)
            if self.observe is not None:
                self.observe(item.position, generation)
        for generation in candidates:
            answer = read_answer(item.task.output_type, generation.text)
            if isinstance(answer, Attempt):
                item.attempts.append(answer)
                _LOGGER.info("document %d: an answer was rejected by %s", item.position, type(answer.error).__name__)
            else:
                valid.append((generation, answer))
            if valid and self.search.choose == "likeliest":
                break
        if not valid:
            return False
        text, result = valid[0][0].text, valid[0][1]
        try:
            if len(valid) > 1:
                text, result = item.task.read_vote(valid)
        except Exception as error:  # noqa: BLE001  what is voted on is made by the user's own code
            item.attempts += [Attempt(generation.text, error) for generation, _ in valid]
            return False
        if self.evidence or isinstance(result, Stated):
            result = self._extraction(item, text, result, candidates)
        texts = [generation for generation, _ in valid]
        outcome.accept(
            item,
            result,
            shortened=any(text.shortened for text in texts),
            repetitive=any(text.diagnostics.repetitions for text in texts),
        )
        return True

    def _extraction(self, item: Item, text: str, result: Any, candidates: Sequence[Generation]) -> Extraction[Any]:
        """Return the result for an item with its evidence."""
        wanted = item.task.output_type
        stated = result if isinstance(result, Stated) else Stated(result, wanted.to_data(text), ())
        return Extraction(
            stated.value,
            stated.data,
            stated.missing,
            evidence(wanted, item.document, text, candidates),
            item.document,
            text,
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
