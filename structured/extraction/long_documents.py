"""Long documents: their chunks are answered one by one, and what they say is merged into one answer.

A document is split where its text and its answer do not fit the model's context together, and where the caller limits
the tokens of a chunk. A chunk whose answer had to be shortened is split again, so that nothing is cut off.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from structured.decoding.requests import Diagnostics, Generation, ServerReport
from structured.errors import BudgetError, NotStatedError, PromptError
from structured.extraction.documents.chunks import MIN_CHUNK_TOKENS, Chunk, Chunking, TokenCounter, chunks
from structured.extraction.documents.document import DocumentLike
from structured.extraction.guided_task import GuidedTask
from structured.extraction.task import Answer, InputDocument, Item, Pending, Task
from structured.models import checked_calls as calls
from structured.output_types.keys import key_function, shape_function
from structured.results.merging import Merged, PartAnswer, merge

ANSWER_DIVISOR = 4
"""A text is split if it leaves less than the context divided by this for the answer."""

CHUNK_DIVISOR = 2
"""A chunk takes at most what the context leaves divided by this, and at most `max_tokens`; `tokens` overrides both.

It never takes less than `MIN_CHUNK_TOKENS` because `max_tokens` is small.
"""

SMALLEST_CHUNK_DIVISOR = 8
"""A chunk whose answer is shortened is split, down to `chunk_tokens` divided by this."""

MAX_CHARACTERS_PER_TOKEN = 32
"""A text with more characters for each token of the limit is too long in any case, and is not tokenised."""


def prepare(
    task: Task, position: int, document: DocumentLike, chunking: Chunking, *, document_name: str | None = None
) -> "Item | LongDocument":
    """Read a document, and return an item, or a `LongDocument` if it is too long. Raises PromptError or BudgetError."""
    input_document = InputDocument.read(position, document, document_name)
    if not isinstance(task, GuidedTask) or task.output_type.root is None or input_document.conversation.earlier_turns:
        return task.prepared(input_document)
    context_left = _context_left(task, input_document)
    limits = [] if chunking.tokens is None else [chunking.tokens]
    if context_left is not None:
        limits.append(context_left - min(task.max_tokens, context_left // ANSWER_DIVISOR))
    text = input_document.conversation.text
    if not limits or min(limits) < 1:
        return task.prepared(input_document)
    count_tokens = _token_counter(task)
    fits = len(text.encode()) <= min(limits)  # a token has a byte or more
    fits = fits or (len(text) <= MAX_CHARACTERS_PER_TOKEN * min(limits) and count_tokens(text) <= min(limits))
    if fits and chunking.tokens is None:
        return task.prepared(input_document)
    chunk_tokens = chunking.tokens
    if chunk_tokens is None:
        assert context_left is not None, "or there is no limit"
        chunk_tokens = max(min(max(task.max_tokens, MIN_CHUNK_TOKENS), context_left // CHUNK_DIVISOR), 1)
    return LongDocument(task, input_document, chunking, count_tokens, chunk_tokens)


def _context_left(task: GuidedTask, input_document: InputDocument) -> int | None:
    """Return how many tokens the context leaves for a text and its answer; None if there is no limit."""
    if task.model.context_length is None:
        return None
    empty = task.prompt(replace(input_document.conversation, text="a"))
    return task.model.context_length - len(calls.encode(task.model, empty)) - task.thinking_tokens


def _token_counter(task: GuidedTask) -> TokenCounter:
    """Return a function that counts the tokens of a text, without those that frame each prompt."""
    frame_tokens = len(calls.encode(task.model, "a")) - 1
    return lambda text: max(len(calls.encode(task.model, text)) - frame_tokens, 1) if text else 0


@dataclass(slots=True, eq=False)
class LongDocument(Pending):
    """A document on the way to its answer, in chunks."""

    task: GuidedTask
    chunking: Chunking
    count_tokens: TokenCounter
    chunk_tokens: int
    is_shortened: bool = False
    is_limited_by_context: bool = False
    """Whether it was shortened since the context leaves fewer tokens than the caller allows."""
    repeated_fields: frozenset[str] = frozenset()
    """The fields in which the model repeated itself; see `Answer`."""
    _pass_count: int = 0
    _waiting_chunks: deque[Chunk] = field(default_factory=deque)
    _open_chunks: int = 0
    _read_chunks: int = 0
    _known_chunks: int = 0
    """Those of all passes so far. A number of its own, since another thread shows it while chunks change places."""
    """How many chunks have an answer, or state nothing that the type wants."""
    _part_answers: list[tuple[int, PartAnswer]] = field(default_factory=list)
    """The answers about the chunks, each with the number of its pass."""
    _last_answer: Answer | None = None
    _merged: Merged | None = None
    _not_stated: NotStatedError | None = None

    def __post_init__(self) -> None:
        self._begin_pass()
        if len(self._waiting_chunks) == 1:
            self.chunk_tokens = min(self.chunk_tokens, self.count_tokens(self.document))

    @property
    def chunk_counts(self) -> tuple[int, int]:
        """How many chunks have been read, and how many are known; what is left when the document is done never is."""
        if self.is_done:
            return max(self._read_chunks, 1), max(self._read_chunks, 1)
        return self._read_chunks, self._known_chunks

    def next_item(self) -> Item | None:
        """Return an item for the next chunk; None if no chunk waits. Raises NotStatedError and as `Task.item`."""
        while not self.is_done and self._waiting_chunks:
            chunk = self._waiting_chunks.popleft()
            start, end = chunk.body
            name = f"characters {start:,} to {end:,} of {self.input.name}"
            conversation = replace(self.input.conversation, text=chunk.text(self.document))
            try:
                item = self.task.prepared(self.input._replace(conversation=conversation, name=name))
            except NotStatedError as error:  # what the type wants is in other chunks, or in none
                self._not_stated = error
                self._read_chunks += 1
            except (BudgetError, PromptError):
                if not self._split(chunk):
                    raise
            else:
                item.long_document, item.chunk = self, chunk
                self._open_chunks += 1
                return item
        if not self._open_chunks and not self._part_answers and self._not_stated is not None:
            raise self._not_stated
        return None

    def add_answer(self, item: Item, answer: Answer) -> None:
        """Add the answer to a chunk. Split the chunk instead if the answer was shortened and the chunk can be split."""
        chunk = item.chunk
        assert chunk is not None, "it is an item of this document"
        self._open_chunks -= 1
        self.usage = self.usage.plus(item.usage)
        self.attempts += item.attempts
        self.seconds += item.seconds
        is_short = any(one.shortened for one in answer.accepted_generations)
        if is_short and self._split(chunk, least=self.chunk_tokens // SMALLEST_CHUNK_DIVISOR):
            return
        self.is_shortened |= is_short
        self.is_limited_by_context |= is_short and item.is_limited_by_context
        self.repeated_fields |= answer.repeated_fields(self.task.output_type)
        data = self.task.output_type.to_data(answer.text)
        in_chunk = answer.evidence or {}
        evidence = {path: replace(one, span=one.span and chunk.in_document(one.span)) for path, one in in_chunk.items()}
        self._read_chunks += 1
        self._part_answers.append((self._pass_count, PartAnswer(data, evidence, chunk.body[0])))
        self._last_answer = answer

    def merged_answer(self) -> Merged | None:
        """Return what all chunks say together; None while chunks wait, or another pass begins."""
        if self.is_done or self._open_chunks or self._waiting_chunks or not self._part_answers:
            return None
        previous, merged = self._merged, self._merge()
        has_new = previous is None or len(merged.evidence) > len(previous.evidence)
        self._merged = merged
        if has_new and len(self._part_answers) > 1 and self._pass_count < self.chunking.passes:
            self._begin_pass()
            return None
        return merged

    def text_of(self, merged: Merged) -> str:
        """Return merged data as the text of an answer; of a single chunk, the text that the model wrote."""
        if len(self._part_answers) == 1 and self._last_answer is not None:
            return self._last_answer.text
        return self.task.output_type.from_data(merged.data)

    def generations(self, text: str) -> Sequence[Generation]:
        """Return the generations of a single chunk; or else the merged answer as one, with its cost and no tokens."""
        if len(self._part_answers) == 1 and self._last_answer is not None:
            return self._last_answer.accepted_generations
        cost = ServerReport(tokens=self.usage.sampled_tokens + self.usage.forced_tokens)
        diagnostics = Diagnostics(repetitions=len(self.repeated_fields))
        return [Generation(text, (), 0.0, self.is_shortened, diagnostics=diagnostics, served=cost)]

    def _begin_pass(self) -> None:
        """Queue the chunks of a pass. Each pass has smaller chunks, down to a half, so that they are cut elsewhere."""
        share = 1 - self._pass_count / self.chunking.passes / 2
        self._pass_count += 1
        new = chunks(self.document, self.count_tokens, max(round(share * self.chunk_tokens), 1))
        self._waiting_chunks.extend(new)
        self._known_chunks += len(new)

    def _split(self, chunk: Chunk, *, least: int = 1) -> bool:
        """Queue the halves of a chunk in its place; return False if it cannot be split into parts of `least` tokens."""
        tokens = self.count_tokens(self.document[slice(*chunk.body)]) // 2
        if tokens < max(least, 1):
            return False
        pieces = chunks(self.document, self.count_tokens, tokens, span=chunk.body)
        if len(pieces) < 2:
            return False
        self._waiting_chunks.extendleft(reversed(pieces))
        self._known_chunks += len(pieces) - 1
        return True

    def _merge(self) -> Merged:
        root = self.task.output_type.root
        assert root is not None
        if len(self._part_answers) == 1:
            ((_, only),) = self._part_answers
            return Merged(only.data, only.evidence, {})
        ordered = sorted(self._part_answers, key=lambda one: (one[0], one[1].start))
        return merge(
            [answer for _, answer in ordered],
            prefer=self.chunking.prefer,
            key_of=key_function(root, self.chunking.merge_by),
            shape_of=shape_function(root),
        )
