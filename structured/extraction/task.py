"""A task: an output type for a model, with what the model is shown, what it may write, and how that is read."""

import functools
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self

from structured.automata import Automaton
from structured.decoding.reasoning import Thinking, thinking_index
from structured.decoding.repetition import Repetition
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.decoding.token_healing import Healed, begun_index, heal
from structured.errors import Attempt, GenerationError, PromptError
from structured.extraction.conversation import Conversation
from structured.extraction.documents.chunks import Chunk
from structured.extraction.documents.document import DocumentLike, read_document
from structured.extraction.options import Options
from structured.extraction.prompts import chat_messages, check_characters, completion_prompt
from structured.index.compile import CompiledType, compiled_type
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import LanguageModel, calls
from structured.output_types.evidence import Evidence
from structured.output_types.extraction import Provenance, Usage
from structured.output_types.output_type import Description, OutputType
from structured.results.evidence import Kept, provenance
from structured.results.voting import Candidate, vote


@dataclass(frozen=True, eq=False)
class Task:
    """What is wanted of documents: values of one type, from one model. Documents of several may share a batch."""

    output_type: OutputType[Any]
    model: LanguageModel
    description: Description
    """The type, as the prompt shows it."""
    instructions: str | None
    examples: Sequence[tuple[str, str]]
    """Documents with the right answers, as the model would have to write them."""
    thinking: Thinking | None
    max_tokens: int
    cache: bool = True
    """Whether what is learned about the type is kept on disk."""
    repetition: Repetition = field(default_factory=Repetition)
    system: str | None = None
    """A system prompt."""
    evidence: bool = False
    """Whether results come with evidence, also of types that do not say what is missing."""
    options: Options = field(default_factory=Options)
    """Those of the call."""

    def __post_init__(self) -> None:
        if self.system is not None:
            check_characters(self.system, "The text of system")
        if self.instructions is not None:
            check_characters(self.instructions, "The text of instructions")
        for number, (document, answer) in enumerate(self.examples):
            check_characters(document, f"The document of example {number}")
            check_characters(answer, f"The answer of example {number}")

    def with_instructions(self, instructions: str | None) -> "Task":
        """Return the task with further instructions."""
        if instructions is None:
            return self
        return replace(self, instructions="\n\n".join(filter(None, (self.instructions, instructions))))

    def prompt(self, conversation: Conversation) -> str | list[dict[str, str]]:
        """Return what the model is given: chat messages if it has a chat template, else plain text.

        Raises PromptError for a chat if it has none, and for a second system prompt.
        """
        if self.system is not None and conversation.system is not None:
            raise PromptError("There is a system message, and the option system as well. Leave out one of them.")
        if conversation.earlier and not self.model.has_chat_template:
            raise PromptError(
                f"How {self.model.name} would read {len(conversation.earlier) + 1} turns of a chat is unknown: it has "
                "no chat template. Use a chat model, or write the chat as one text."
            )
        build: Callable[..., str | list[dict[str, str]]] = completion_prompt
        if self.model.has_chat_template:
            build = functools.partial(chat_messages, earlier=conversation.earlier)
        system = self.system if conversation.system is None else conversation.system
        return build(
            self.description,
            conversation.text,
            system=system,
            instructions=self.instructions,
            examples=self.examples,
        )

    def item(self, position: int, given: DocumentLike, *, named: str | None = None) -> "Item":
        """Return a document, prepared. Raises PromptError or BudgetError if there can be no answer for it.

        Errors call it by its name, such as "the text", or else by its position in the batch.
        """
        return self.prepared(Given.read(position, given, named))

    def prepared(self, given: "Given") -> "Item":
        """Return what was read of a document, prepared. Raises as `item`."""
        position, conversation, named, is_single, _ = given
        try:
            token_ids = calls.encode(self.model, self.prompt(conversation))
        except PromptError as error:
            if is_single:
                raise
            raise PromptError(f"{named[0].upper()}{named[1:]}: {error}") from error.__cause__
        max_tokens, context = self.max_tokens, self.model.context_length
        if context is not None:
            thinking = 0 if self.thinking is None else self.thinking.max_tokens
            max_tokens = min(max_tokens, context - len(token_ids) - thinking)
            if max_tokens <= 0:
                raise PromptError(
                    f"The prompt for {named} takes {len(token_ids)} tokens"
                    f"{f', thinking up to {thinking}' if thinking else ''}, and the context of {self.model.name} has "
                    f"{context}. Shorten or split the text, or use a model with a longer context."
                )
        index = self.index(conversation.document)
        _ = Guide(index, max_tokens=max_tokens)  # raises BudgetError before the model runs
        _ = self._thinking_guide  # and so does this
        healed = self._healed(token_ids, index)
        guide = self.guide(index, healed, max_tokens)
        return Item(self, position, conversation, index, healed, guide, max_tokens, is_single, given.pages)

    def healed(self, conversation: Conversation, index: Index) -> Healed:
        """Return the prompt for a conversation, healed for the answers of an index."""
        return self._healed(calls.encode(self.model, self.prompt(conversation)), index)

    def _healed(self, token_ids: list[int], index: Index) -> Healed:
        if self.thinking is None and not self.model.has_chat_template:
            return heal(token_ids, index)
        return Healed(token_ids)

    @staticmethod
    def guide(index: Index, healed: Healed, max_tokens: int) -> Guide:
        """Return the start of an answer; what the prompt was healed of is no part of the budget."""
        if not healed.begun:
            return Guide(index, max_tokens=max_tokens)
        return Guide(begun_index(index, healed.begun), max_tokens=max_tokens + healed.taken_back)

    def request(self, item: "Item", sampler: Sampler, attempt: int, shared: Sequence[int]) -> Request:
        """Return what is to be written for a document; the prompts of the batch mostly begin with `shared` tokens.

        Not all do: a document's first characters may be of one token with what stands before them.
        """
        healed, guide = (item.healed, item.guide) if item.repair is None else (item.repair.healed, item.repair.guide)
        return Request(
            healed.prompt,
            guide.copy(),
            sampler.generator(item.position, attempt),
            len(common_beginning([shared, healed.prompt])),
            None if self._thinking_guide is None else self._thinking_guide.copy(),
            len(healed.begun),
            self.repetition,
        )

    @functools.cached_property
    def beginning(self) -> tuple[int, ...]:
        """The tokens that its prompts for texts begin with, most of them."""
        return self._beginning(())

    @functools.cached_property
    def beginning_of_chats(self) -> tuple[int, ...]:
        """The tokens that its prompts for chats begin with, of those without a system message of their own."""
        return self._beginning(("user", "assistant"))

    def _beginning(self, roles: Sequence[str]) -> tuple[int, ...]:
        """Return what two prompts begin with that have nothing in common but the task."""
        said = [Conversation(text, [{"role": role, "content": text} for role in roles]) for text in ("a", "7")]
        return common_beginning([calls.encode(self.model, self.prompt(one)) for one in said])

    def index_of(self, automaton: Automaton, item: "Item") -> Index:
        """Return the index of other answers to an item, with the masks of its own."""
        return Index(automaton, self.model.vocabulary, table=item.index.table, name=self.output_type.name)

    def index(self, document: str) -> Index:
        """Return the index of the answers to a document."""
        return (self._compiled(document) if self.output_type.depends_on_document else self._for_all).index()

    @functools.cached_property
    def _for_all(self) -> CompiledType:
        """What has the index of the answers to all documents, held here: `compiled_type` keeps a limited number."""
        return self._compiled(None)

    def _compiled(self, document: str | None) -> CompiledType:
        return compiled_type(self.output_type, self.model.vocabulary, document=document, cache=self.cache)

    def read_vote(self, valid: Sequence[tuple[Generation, Any]]) -> tuple[str, Any]:
        """Return what most answers say, as text and as a value, given with what is read of each."""
        wanted = self.output_type
        candidates = [Candidate(wanted.to_data(one.text), one.log_probability) for one, _ in valid]
        elected = vote(candidates, self._is_valid)
        if elected.position is not None:
            generation, value = valid[elected.position]
            return generation.text, value
        text = wanted.from_data(elected.data)
        return text, wanted.parse(text)

    def _is_valid(self, data: Any) -> bool:
        try:
            self.output_type.parse(self.output_type.from_data(data))
        except Exception:  # noqa: BLE001  validators are the user's own code
            return False
        return True

    def provenance(self, document: str) -> Provenance:
        """Return what makes the answer to a document."""
        made, digest = self._provenance, sha256(document.encode()).hexdigest()
        return replace(made, options=dict(made.options), document_digest=digest)

    @functools.cached_property
    def _provenance(self) -> Provenance:
        """What makes the answers to all documents; the version of the library is looked up in a file."""
        return provenance(self.output_type, self.model.name, self.options)

    @functools.cached_property
    def _thinking_guide(self) -> Guide | None:
        """The guide of the thinking before an answer, to be copied. Raises BudgetError if no thinking fits."""
        if self.thinking is None:
            return None
        index = thinking_index(self.thinking.marker, self.model.vocabulary)
        return Guide(index, max_tokens=self.thinking.max_tokens)


class Given(NamedTuple):
    """A document that was read, and what errors call it."""

    position: int
    conversation: Conversation
    named: str
    is_single: bool
    """Whether it is the text of a call for one, in no batch."""
    pages: Sequence[int] = ()
    """Where each page of the document starts."""

    @classmethod
    def read(cls, position: int, given: DocumentLike, named: str | None) -> Self:
        """Read a document, which errors call by its id or its position. Raises PromptError for what is none."""
        document = read_document(given)
        is_single, named = named is not None, named or f"document {document.id or position}"
        conversation = Conversation.read(document.text, named, is_single=is_single)
        return cls(position, conversation, named, is_single, document.pages)


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What is kept of an answer, and the start of those that differ from it elsewhere alone."""

    kept: Kept
    healed: Healed
    guide: Guide


class Answer(NamedTuple):
    """An answer that validators accept: the text that it was read from, and what was written for it."""

    text: str
    value: Any
    generations: Sequence[Generation]
    evidence: Mapping[str, Evidence] = MappingProxyType({})


class Whole(Protocol):
    """A document that is answered in parts."""

    is_over: bool
    """Whether it has a result or an error."""

    def take(self, item: "Item", answer: Answer) -> None:
        """Take the answer to a part."""


class Part(NamedTuple):
    """A chunk of a document that is being answered."""

    of: Whole
    chunk: Chunk


@dataclass(slots=True, eq=False)
class Item:
    """One document on its way to its answer."""

    task: Task
    position: int
    conversation: Conversation
    index: Index
    """The index of its answers."""
    healed: Healed
    guide: Guide
    """The start of what is written for it: of what its prompt was healed of, and of the answer; to be copied."""
    max_tokens: int
    """The tokens that the context of the model leaves of those that the caller allows."""
    is_single: bool
    """Whether it is the text of a call for one, in no batch."""
    pages: Sequence[int] = ()
    """Where each page of the document starts."""
    attempts: list[Attempt] = field(default_factory=list)
    """The answers that the type's validators rejected."""
    usage: Usage = field(default_factory=Usage)
    """What was written for it, in all attempts."""
    seconds: float = 0.0
    """How long that took."""
    repair: Repair | None = None
    """What is kept of an answer in the next attempt."""
    uncertain: "Answer | None" = None
    """An answer that is taken if the next attempt gives none that the model is surer of."""
    part: Part | None = None
    """The part of a long document that it is."""
    is_renewed: bool = False
    """Whether its answer was begun again, in an index for itself."""

    def count(self, candidates: Sequence[Generation]) -> None:
        """Count what an attempt took."""
        figures = [one.diagnostics for one in candidates]
        self.usage = Usage(
            len(self.healed.prompt),
            self.usage.sampled_tokens + sum(one.sampled for one in figures),
            self.usage.forced_tokens + sum(one.forced for one in figures),
            self.usage.passes + sum(one.passes for one in figures),
        )
        self.seconds += max(one.seconds for one in figures)

    def renew(self) -> None:
        """Begin its answer again, in an index whose automaton is not worn."""
        self.index = self.task.index(self.document)
        self.guide = self.task.guide(self.index, self.healed, self.max_tokens)
        self.repair = None
        self.is_renewed = True

    def rejection(self) -> GenerationError:
        """Return its error where every answer was rejected."""
        error = GenerationError(self.attempts, document=None if self.is_single else self.position)
        error.__cause__ = self.attempts[-1].error
        return error

    @property
    def is_limited_by_context(self) -> bool:
        """Whether the context of the model leaves fewer tokens than the caller allows."""
        return self.max_tokens < self.task.max_tokens

    @property
    def document(self) -> str:
        """The document; of a chat, all that the user says."""
        return self.conversation.document

    @property
    def beginning(self) -> tuple[int, ...]:
        """The tokens that prompts like its own begin with."""
        return self.task.beginning_of_chats if self.conversation.earlier else self.task.beginning


def common_beginning(texts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the tokens that all of some texts begin with."""
    common = tuple(texts[0])
    for other in texts[1:]:
        if common == tuple(other[: len(common)]):
            continue
        differing = itertools.compress(itertools.count(), map(operator.ne, common, other))
        common = common[: next(differing, len(other))]
    return common
