"""Long documents: their chunks are answered one by one, and what they say is merged into one answer.

A document is split where its text and its answer do not fit the model's context together, and where the caller limits
the tokens of a chunk. A chunk whose answer had to be shortened is split again, so that nothing is cut off.
"""

from collections import deque
from dataclasses import dataclass, field, replace

from structured.errors import BudgetError, NotStatedError, PromptError
from structured.extraction.documents.chunks import Chunk, Chunking, Count, chunks
from structured.extraction.documents.document import DocumentLike
from structured.extraction.guided_task import GuidedTask
from structured.extraction.task import Answer, Given, Item, Part, Pending, Task
from structured.models import checked_calls as calls
from structured.output_types.keys import key_function, shape_function
from structured.results.merging import Merged, PartAnswer, merge

ANSWER_SHARE = 4
"""A text is split that leaves less than this part of the context for an answer that may be longer."""

CHUNK_SHARE = 2
"""A chunk takes up to this part of the context, unless the caller says otherwise; the answer may take the rest."""

FINEST = 8
"""A chunk whose answer is shortened is split down to this part of the tokens that it may have."""

MAX_LETTERS = 32
"""Characters for each token that fits, above which a text is too long in any case, and not tokenised to see it."""


def prepare(
    task: Task, position: int, document: DocumentLike, chunking: Chunking, *, named: str | None = None
) -> "Item | LongDocument":
    """Return a document, prepared: as it is, or in chunks if it is too long. Raises PromptError or BudgetError."""
    given = Given.read(position, document, named)
    if not isinstance(task, GuidedTask) or task.output_type.root is None or given.conversation.earlier:
        return task.prepared(given)
    room = _room(task, given)
    limits = [] if chunking.tokens is None else [chunking.tokens]
    if room is not None:
        limits.append(room - min(task.max_tokens, room // ANSWER_SHARE))
    text = given.conversation.text
    if not limits or min(limits) < 1:
        return task.prepared(given)
    count = _token_count(task)
    fits = len(text.encode()) <= min(limits)  # a token has a byte or more
    fits = fits or (len(text) <= MAX_LETTERS * min(limits) and count(text) <= min(limits))
    if fits and chunking.tokens is None:
        return task.prepared(given)
    whole = room if room is not None else CHUNK_SHARE * task.max_tokens
    tokens = chunking.tokens or max(min(task.max_tokens, whole // CHUNK_SHARE), 1)
    return LongDocument(task, given, chunking, count, tokens)


def _room(task: GuidedTask, given: Given) -> int | None:
    """Return how many tokens a text and its answer may take together; None if there is no limit."""
    if task.model.context_length is None:
        return None
    empty = task.prompt(replace(given.conversation, text="a"))
    return task.model.context_length - len(calls.encode(task.model, empty)) - task.thinking_tokens


def _token_count(task: GuidedTask) -> Count:
    """Return what counts the tokens of a text, without those that stand around each prompt."""
    around = len(calls.encode(task.model, "a")) - 1
    return lambda text: max(len(calls.encode(task.model, text)) - around, 1) if text else 0


@dataclass(slots=True, eq=False)
class LongDocument(Pending):
    """A document on the way to its answer, in chunks."""

    task: GuidedTask
    chunking: Chunking
    count: Count
    chunk_tokens: int
    shortened: bool = False
    is_limited_by_context: bool = False
    """Whether it was shortened since the context leaves fewer tokens than the caller allows."""
    repetitive: bool = False
    _passes: int = 0
    _waiting: deque[Chunk] = field(default_factory=deque)
    _open: int = 0
    _answers: list[tuple[int, PartAnswer]] = field(default_factory=list)
    """The answers about the chunks, each with the number of its pass."""
    _text: str = ""
    """The text of the last answer."""
    _merged: Merged | None = None
    _unstated: NotStatedError | None = None

    def __post_init__(self) -> None:
        self._begin_pass()

    def next_item(self) -> Item | None:
        """Return the next chunk, prepared; None if others come first. Raises NotStatedError and as `item`."""
        while not self.is_over and self._waiting:
            chunk = self._waiting.popleft()
            start, end = chunk.body
            named = f"characters {start:,} to {end:,} of {self.given.named}"
            conversation = replace(self.given.conversation, text=chunk.text(self.document))
            try:
                item = self.task.prepared(self.given._replace(conversation=conversation, named=named))
            except NotStatedError as error:  # what the type wants is in other chunks, or in none
                self._unstated = error
            except (BudgetError, PromptError):
                if not self._split(chunk):
                    raise
            else:
                item.part = Part(self, chunk)
                self._open += 1
                return item
        if not self._open and not self._answers and self._unstated is not None:
            raise self._unstated
        return None

    def take(self, item: Item, answer: Answer) -> None:
        """Take the answer to a chunk; one that was shortened counts only if the chunk cannot be split."""
        assert item.part is not None
        chunk = item.part.chunk
        self._open -= 1
        self.usage = self.usage.plus(item.usage)
        self.attempts += item.attempts
        self.seconds += item.seconds
        is_short = any(one.shortened for one in answer.generations)
        if is_short and self._split(chunk, least=min(self.chunk_tokens, len(self.document)) // FINEST):
            return
        self.shortened |= is_short
        self.is_limited_by_context |= is_short and item.is_limited_by_context
        self.repetitive |= any(one.diagnostics.repetitions for one in answer.generations)
        data = self.task.output_type.to_data(answer.text)
        evidence = {
            path: replace(one, span=one.span and chunk.in_document(one.span))
            for path, one in (answer.evidence or {}).items()
        }
        self._answers.append((self._passes, PartAnswer(data, evidence, chunk.body[0])))
        self._text = answer.text

    def answer(self) -> Merged | None:
        """Return what the document says; None as long as chunks are to be answered, or another pass is to be made."""
        if self.is_over or self._open or self._waiting or not self._answers:
            return None
        before, merged = self._merged, self._merge()
        has_new = before is None or len(merged.evidence) > len(before.evidence)
        self._merged = merged
        if has_new and len(self._answers) > 1 and self._passes < self.chunking.passes:
            self._begin_pass()
            return None
        return merged

    def text_of(self, merged: Merged) -> str:
        """Return what the document says as an answer; of a single chunk, as it was written."""
        if len(self._answers) == 1:
            return self._text
        return self.task.output_type.from_data(merged.data)

    def _begin_pass(self) -> None:
        """Let the chunks of a pass wait; those of each pass are smaller, down to a half, and so have other joints."""
        share = 1 - self._passes / self.chunking.passes / 2
        self._passes += 1
        self._waiting.extend(chunks(self.document, self.count, max(round(share * self.chunk_tokens), 1)))

    def _split(self, chunk: Chunk, *, least: int = 1) -> bool:
        """Let the parts of a chunk wait in its place, and tell whether it has several, of so many tokens or more."""
        tokens = self.count(self.document[slice(*chunk.body)]) // 2
        if tokens < max(least, 1):
            return False
        pieces = chunks(self.document, self.count, tokens, within=chunk.body)
        if len(pieces) < 2:
            return False
        self._waiting.extendleft(replace(one, context=one.context or chunk.context) for one in reversed(pieces))
        return True

    def _merge(self) -> Merged:
        root = self.task.output_type.root
        assert root is not None
        if len(self._answers) == 1:
            ((_, only),) = self._answers
            return Merged(only.data, only.evidence, {})
        ordered = sorted(self._answers, key=lambda one: (one[0], one[1].start))
        return merge(
            [answer for _, answer in ordered],
            prefer=self.chunking.prefer,
            key_of=key_function(root, self.chunking.merge_by),
            shape_of=shape_function(root),
        )
