"""Answers that are valid and may be incomplete: a limit shortened them, or they repeated themselves."""

from collections.abc import Sequence
from typing import NamedTuple

from structured.errors import BudgetWarning, RepetitionWarning
from structured.errors.calling_line import warn
from structured.extraction.long_documents import LongDocument
from structured.extraction.task import Item, Task
from structured.models import LanguageModel

SHORTENED = "Raise max_tokens, or set chunking=Chunking(tokens=…), and the text is read in parts."
"""What to do about an answer that max_tokens shortened."""

SHORTENED_BY_SERVER = "Raise max_tokens, or split the text."
"""The same for a model behind a server."""

ALLOWED = "Describe what the answer is to hold, or allow repetition with repetition=Repetition(stop=False)."
"""What to do about an answer that repeated itself, beside limiting it."""

MAX_NAMED = 10
"""Documents whose numbers a warning lists."""


class _Limited(NamedTuple):
    """An answer that was shortened: where, of which task, and whether the model's context was what limited it."""

    position: int
    task: Task
    is_by_context: bool


class Incomplete:
    """The answers of a batch that may be incomplete."""

    def __init__(self) -> None:
        self._shortened: list[_Limited] = []
        self._repetitive: dict[int, Task] = {}

    def note(self, item: Item | LongDocument, *, shortened: bool, repetitive: bool) -> None:
        """Take note of an answer that was shortened, or led out of a repetition."""
        if shortened:
            self._shortened.append(_Limited(item.position, item.task, item.is_limited_by_context))
        if repetitive:
            self._repetitive[item.position] = item.task

    def warn(self, total: int | None) -> None:
        """Warn once of all answers that were shortened, and once of all that repeated themselves."""
        if self._shortened:
            self._warn_of_limits(total)
        if self._repetitive:
            positions = sorted(self._repetitive)
            what, _, it_is = _subject(positions, total)
            limits = dict.fromkeys(self._repetitive[position].output_type.how_to_limit for position in positions)
            advice = " ".join((*filter(None, limits), ALLOWED))
            problem = f"{what} repeated the same text until that was ended; {it_is} valid but may be incomplete"
            warn(RepetitionWarning(f"{problem}. {advice}", documents=positions))

    def _warn_of_limits(self, total: int | None) -> None:
        shortened = sorted(self._shortened, key=lambda one: one.position)
        task = shortened[0].task
        by_limit = [one.position for one in shortened if not one.is_by_context]
        by_context = [one.position for one in shortened if one.is_by_context]
        sentences: list[str] = []
        if by_limit:
            remedy = SHORTENED if isinstance(task.model, LanguageModel) else SHORTENED_BY_SERVER
            sentences.append(_sentence(by_limit, total, f"max_tokens={task.max_tokens}", remedy))
        if by_context:
            limit = f"the context of {task.model.name}: {task.model.context_length:,} tokens, prompt included"
            remedy = "Shorten or split the text, or use a model with a longer context."
            sentences.append(_sentence(by_context, total, limit, remedy))
        warn(BudgetWarning(" ".join(sentences), documents=[one.position for one in shortened]))


def _sentence(positions: Sequence[int], total: int | None, limit: str, remedy: str) -> str:
    what, verb, it_is = _subject(positions, total)
    return f"{what} {verb} shortened to fit {limit}; {it_is} valid but may be incomplete. {remedy}"


def _subject(positions: Sequence[int], total: int | None) -> tuple[str, str, str]:
    """Return the answers for some documents as the subject of a sentence, with the verb and a pronoun."""
    if total == 1:
        return "The answer", "was", "it is"
    named = ", ".join(map(str, positions[:MAX_NAMED]))
    more = ", …" if len(positions) > MAX_NAMED else ""
    return f"The answers for {len(positions):,}{of_all(total)} documents ({named}{more})", "were", "they are"


def of_all(total: int | None) -> str:
    """Return ` of 5`, where it is known how many documents there are."""
    return "" if total is None else f" of {total:,}"
