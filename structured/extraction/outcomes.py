"""The outcome of a call: for each document its result or its error, and which answers a token limit shortened."""

from collections.abc import Iterable, Sequence
from typing import Any

from structured.errors import (
    BatchError,
    BudgetWarning,
    GenerationError,
    ModelError,
    RepetitionWarning,
    StructuredError,
)
from structured.errors.calling_line import warn
from structured.errors.values import message
from structured.extraction.options import Errors
from structured.extraction.task import Item

MAX_NAMED = 10
"""Documents whose numbers a warning lists."""


class Outcome:
    """What has become so far of some documents, by their positions. `tokens` counts those of all texts written."""

    def __init__(self, total: int) -> None:
        self.results: list[Any] = [None] * total
        self.errors: dict[int, StructuredError] = {}
        self.tokens = 0
        self.stopped: Exception | None = None
        """What the model raised, if it failed."""
        self._waiting = set(range(total))
        self._shortened: list[Item] = []
        self._repetitive: list[Item] = []

    def __repr__(self) -> str:
        return f"Outcome({self.done} of {self.total} done, {len(self.errors)} failed)"

    @property
    def total(self) -> int:
        """The number of documents."""
        return len(self.results)

    @property
    def done(self) -> int:
        """The number of documents that have a result or an error."""
        return self.total - len(self._waiting)

    def accept(self, item: Item, result: Any, *, shortened: bool = False, repetitive: bool = False) -> None:
        """Take the result of a document; it may have been shortened, or led out of a repetition."""
        self.results[item.position] = result
        self._waiting.discard(item.position)
        if shortened:
            self._shortened.append(item)
        if repetitive:
            self._repetitive.append(item)

    def fail(self, position: int, error: StructuredError) -> None:
        """Take the error of a document."""
        self.errors[position] = error
        self._waiting.discard(position)

    def reject(self, items: Iterable[Item]) -> None:
        """Give up documents every answer of which was rejected."""
        for item in items:
            error = GenerationError(item.attempts, document=None if item.is_single else item.position)
            error.__cause__ = item.attempts[-1].error
            self.fail(item.position, error)

    def only(self) -> Any:
        """Return the result of the one document, with a warning if it was shortened. Raises its error."""
        self._warn()
        if self.stopped is not None:
            raise self.stopped
        for error in self.errors.values():
            raise error
        (result,) = self.results
        return result

    def all(self, errors: Errors) -> list[Any]:
        """Return the result of each document, in their order, with one warning for all that were shortened.

        Where the model failed, that is the error of each document that was not finished. Raises BatchError, or
        what the model raised if there is no result at all; with "return", the errors stand in place of the results.
        """
        self._warn()
        if errors == "raise" and self.stopped is not None and self.done == len(self.errors):
            raise self.stopped
        failed = dict(self.errors)
        if self.stopped is not None:
            failed |= dict.fromkeys(sorted(self._waiting), self._as_model_error(self.stopped))
        failed = dict(sorted(failed.items()))
        if errors == "return":
            return [failed.get(position, result) for position, result in enumerate(self.results)]
        if failed:
            raise BatchError(self.results, failed) from self.stopped
        return self.results

    def note_loss(self, error: BaseException) -> None:
        """Tell an exception that ends the call from outside, such as an interrupt, what is lost by it."""
        finished = self.done - len(self.errors)
        if finished:
            error.add_note(
                f"{finished:,} of {self.total:,} documents were finished, and their results are lost with this. "
                "`observe` receives each text as soon as it is written, so it can save them."
            )

    def _as_model_error(self, stopped: Exception) -> StructuredError:
        """Return what the model raised as an error of the library."""
        if isinstance(stopped, StructuredError):
            return stopped
        error = ModelError(
            f"The model failed after {self.done:,} of {self.total:,} documents: {type(stopped).__name__}: "
            f"{message(stopped)}. Fix that, and run the remaining documents."
        )
        error.__cause__ = stopped
        return error

    def _warn(self) -> None:
        """Warn once of all answers that were shortened to fit a limit, and once of all that repeated themselves."""
        if self._shortened:
            self._warn_of_limits()
        if self._repetitive:
            items = sorted(self._repetitive, key=lambda item: item.position)
            what, _, it_is = self._subject(items)
            warn(
                RepetitionWarning(
                    f"{what} repeated the same text in a string or a list, which was closed; {it_is} valid but may "
                    "be incomplete. Limit the field, with Field(max_length=…), or describe what it is to hold; "
                    "stop_repetition=False allows repetition.",
                    documents=[item.position for item in items],
                )
            )

    def _warn_of_limits(self) -> None:
        items = sorted(self._shortened, key=lambda item: item.position)
        task = items[0].task
        by_limit = [item for item in items if not item.is_limited_by_context]
        by_context = [item for item in items if item.is_limited_by_context]
        sentences: list[str] = []
        if by_limit:
            sentences.append(self._sentence(by_limit, f"max_tokens={task.max_tokens}", "Raise max_tokens."))
        if by_context:
            limit = f"the context of {task.model.name}: {task.model.context_length:,} tokens, prompt included"
            remedy = "Shorten or split the text, or use a model with a longer context."
            sentences.append(self._sentence(by_context, limit, remedy))
        warn(BudgetWarning(" ".join(sentences), documents=[item.position for item in items]))

    def _sentence(self, items: Sequence[Item], limit: str, remedy: str) -> str:
        what, verb, it_is = self._subject(items)
        return f"{what} {verb} shortened to fit {limit}; {it_is} valid but may be incomplete. {remedy}"

    def _subject(self, items: Sequence[Item]) -> tuple[str, str, str]:
        """Return the answers for some documents as the subject of a sentence, with the verb and a pronoun."""
        if self.total == 1:
            return "The answer", "was", "it is"
        named = ", ".join(str(item.position) for item in items[:MAX_NAMED])
        more = ", …" if len(items) > MAX_NAMED else ""
        return f"The answers for {len(items):,} of {self.total:,} documents ({named}{more})", "were", "they are"
