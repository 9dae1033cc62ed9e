"""A task: an output type for a model, with what the model is shown, and how what it writes is read."""

import copy
import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple, Self

from pydantic_core import to_json

from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import Attempt, GenerationError, OptionWarning, PromptError
from structured.errors.calling_line import warn
from structured.extraction.documents.chunks import Chunk
from structured.extraction.documents.document import Document, DocumentLike, read_document
from structured.extraction.options import DEFAULTS, Options, warn_of_type, with_defaults
from structured.extraction.prompts import Conversation, chat_messages, check_characters, completion_prompt
from structured.models import LanguageModel, Model
from structured.models.load import PACKAGED_NAME
from structured.output_types.output_type import Description, OutputType
from structured.results.attribution import KeptAnswer
from structured.results.evidence import Evidence
from structured.results.merging import SampledAnswer, vote
from structured.results.result import Provenance, Usage

ANSWERED_ALIKE = frozenset({"model", "observe", "batch_size", "batch_tokens", "cache"})
"""Options that change no answer; the model has fields of its own in the provenance."""

MAX_SHOWN = 100
"""The longest value of an option, in characters, that a provenance shows; of a longer one it has a digest."""


@dataclass(frozen=True, eq=False)
class Task(ABC):
    """What is wanted of documents: values of one type, from one model. Documents of several may share a batch."""

    output_type: OutputType[Any]
    model: Model
    description: Description
    """The type, as the prompt shows it."""
    instructions: str | None
    examples: Sequence[tuple[str, str]]
    """Documents with the right answers, as the model would have to write them."""
    options: Options
    """Those of the call, as they were passed."""
    wants_confidence: bool = False
    """Whether somebody may ask how sure the model was, so that a server has to say it."""
    is_verbatim: bool = False
    """Whether the prompt is the text or the chat itself."""
    alternatives: int = 0
    """How many of the likeliest tokens are recorded for each sampled token."""

    def __post_init__(self) -> None:
        if self.system is not None:
            check_characters(self.system, "The text of system")
        if self.instructions is not None:
            check_characters(self.instructions, "The text of instructions")
        for number, (document, answer) in enumerate(self.examples):
            check_characters(document, f"The document of example {number}")
            check_characters(answer, f"The answer of example {number}")

    @functools.cached_property
    def settings(self) -> Options:
        """The options with the defaults of the others."""
        return with_defaults(self.options)

    @property
    def max_tokens(self) -> int:
        """The most tokens of an answer, unless the context of the model leaves fewer."""
        return self.settings["max_tokens"]

    @property
    def system(self) -> str | None:
        """The system prompt."""
        return self.options.get("system")

    def with_instructions(self, instructions: str | None) -> Self:
        """Return the task with further instructions."""
        if instructions is None:
            return self
        return replace(self, instructions="\n\n".join(filter(None, (self.instructions, instructions))))

    @functools.cached_property
    def with_confidence(self) -> Self:
        """The task of a call whose results tell how sure the model was."""
        twin = copy.copy(self)  # with what it has learned
        object.__setattr__(twin, "wants_confidence", True)
        return twin

    def warn_of_unused(self) -> None:
        """Warn of options that do nothing for its type, or harm."""
        if self.examples and self.model.name == PACKAGED_NAME:
            problem = "The packaged model answers with its examples. Leave examples out, or name another model."
            warn(OptionWarning(problem))
        warn_of_type(self.options, self.output_type, wants_confidence=self.wants_confidence)

    def with_options(self, options: Options) -> Self:
        """Return the task under other options, which say only how answers are sampled, and how long they may be."""
        return replace(self, options=options)

    def prompt(self, conversation: Conversation) -> str | list[dict[str, str]]:
        """Return the prompt: chat messages if the model has a chat template. Raises PromptError for odd chats."""
        if self.system is not None and conversation.system is not None:
            raise PromptError("There is a system message, and the option system as well. Leave out one of them.")
        if conversation.earlier and not self.model.has_chat_template:
            raise PromptError(
                f"How {self.model.name} would read {len(conversation.earlier) + 1} turns of a chat is unknown: it has "
                "no chat template. Use a chat model, or write the chat as one text."
            )
        if self.is_verbatim and self.model.has_chat_template:
            return conversation.messages
        if self.is_verbatim:
            return "\n\n".join(filter(None, (conversation.system, conversation.text)))
        build: Callable[..., str | list[dict[str, str]]] = completion_prompt
        if self.model.has_chat_template:
            build = functools.partial(chat_messages, earlier=conversation.earlier)
        system = self.system if conversation.system is None else conversation.system
        told = {"system": system, "instructions": self.instructions, "examples": self.examples}
        return build(self.description, conversation.text, **told)

    def item(self, position: int, given: DocumentLike, *, named: str | None = None) -> "Item":
        """Return a document, prepared; errors call it by its name or position. Raises PromptError or BudgetError."""
        return self.prepared(Given.read(position, given, named))

    @abstractmethod
    def make_ready(self, search: Search) -> None:
        """Do what is done once for all documents. Raises what is wrong with the type or the options."""

    @abstractmethod
    def stream(self, item: "Item", search: Search, *, jump_forward: bool) -> Generator[str, None, Generation]:
        """Yield the pieces of an answer as they are written, and return the whole."""

    @abstractmethod
    def prepared(self, given: "Given") -> "Item":
        """Return what was read of a document, prepared. Raises as `item`."""

    def read_vote(self, valid: Sequence[tuple[Generation, Any]]) -> tuple[str, Any]:
        """Return what most answers say, as text and as a value, given with what is read of each."""
        wanted = self.output_type

        def is_valid(data: Any) -> bool:
            try:
                wanted.parse(wanted.from_data(data))
            except Exception:  # noqa: BLE001  validators are the user's own code
                return False
            return True

        candidates = [SampledAnswer(wanted.to_data(one.text), one.log_probability) for one, _ in valid]
        elected = vote(candidates, is_valid)
        if elected.position is not None:
            generation, value = valid[elected.position]
            return generation.text, value
        text = wanted.from_data(elected.data)
        return text, wanted.parse(text)

    @functools.cached_property
    def provenance(self) -> Provenance:
        """The type, the model, the prompt and the options that decide the answers to all documents."""
        from importlib.metadata import version  # some milliseconds

        model, wanted = self.model, self.output_type
        given: dict[str, Any] = {
            name: value
            for name, value in self.options.items()
            if name not in ANSWERED_ALIKE and value != DEFAULTS.get(name)
        }
        if self.examples:
            given["examples"] = self.examples
        return Provenance(
            wanted.name,
            wanted.digest,
            model.name,
            model.vocabulary.fingerprint.hex()[:16] if isinstance(model, LanguageModel) else None,
            short_digest(json.dumps(self.prompt(Conversation("")), ensure_ascii=False)),
            {name: _shortened(name, value) for name, value in sorted(given.items())},
            version("structured-extraction"),
        )


def _shortened(name: str, value: Any) -> Any:
    """Return the value of an option as JSON data, or a digest of it if it is long."""
    plain = json.loads(to_json(value, fallback=repr))
    written = json.dumps(plain, ensure_ascii=False)
    is_read_back = name == "allow_missing"
    return plain if is_read_back or len(written) <= MAX_SHOWN else f"sha256:{short_digest(written)}"


def short_digest(text: str) -> str:
    """Return the first 16 digits of the SHA-256 of a text."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


class Given(NamedTuple):
    """A document that was read, and what errors call it."""

    position: int
    conversation: Conversation
    named: str
    is_single: bool
    """Whether it is the text of a call for one, in no batch."""
    document: Document
    """The document as it was read."""
    source: DocumentLike
    """The document as the caller passed it."""

    @classmethod
    def read(cls, position: int, given: DocumentLike, named: str | None) -> Self:
        """Read a document, which errors call by its id or its position. Raises PromptError for what is none."""
        document = read_document(given)
        is_single, named = named is not None, named or f"document {document.id or position}"
        conversation = Conversation.read(document.text, named, is_single=is_single)
        return cls(position, conversation, named, is_single, document, given)


class Answer(NamedTuple):
    """An answer that validators accept: the text that it was read from, and what was written for it."""

    text: str
    value: Any
    generations: Sequence[Generation]
    candidates: Sequence[Generation] = ()
    """All that tell how sure the model was of each value."""
    kept: KeptAnswer | None = None
    """What the attempt kept of an earlier answer."""
    evidence: Mapping[str, Evidence] | None = None
    """The evidence, where it had to be known before the result is asked for it."""


class Part(NamedTuple):
    """A chunk of a document that is being answered."""

    of: "Pending"
    chunk: Chunk


@dataclass(slots=True, eq=False)
class Pending:
    """One document on its way to its answer, as a whole or in parts."""

    task: Task
    given: Given
    attempts: list[Attempt] = field(default_factory=list, kw_only=True)
    """The answers that the type's validators rejected."""
    usage: Usage = field(default_factory=Usage, kw_only=True)
    """What was written for it, in all attempts."""
    seconds: float = field(default=0.0, kw_only=True)
    """How long that took."""
    is_over: bool = field(default=False, kw_only=True)
    """Whether it has a result or an error."""

    @property
    def whole(self) -> "Pending":
        """The document that it is, or is a part of."""
        return self

    @property
    def position(self) -> int:
        """Its place among the documents."""
        return self.given.position

    @property
    def document(self) -> str:
        """The document; of a chat, all that the user says."""
        return self.given.conversation.document

    def rejection(self, **told: str) -> GenerationError:
        """Return its error where every answer was rejected; a `remedy` takes the place of the usual one."""
        position = None if self.given.is_single else self.position
        error = GenerationError(self.attempts, document=position, **told)
        error.__cause__ = self.attempts[-1].error
        return error


@dataclass(slots=True, eq=False)
class Item(Pending, ABC):
    """A document, or a part of one, that is answered at once."""

    max_tokens: int
    """The tokens that the context of the model leaves of those that the caller allows."""
    part: Part | None = field(default=None, kw_only=True)
    """The part of a long document that it is."""
    feedback: str = field(default="", kw_only=True)
    """What a server is told in the next attempt of an answer that was rejected."""

    @property
    def whole(self) -> Pending:
        """The document that it is, or is a part of."""
        return self if self.part is None else self.part.of

    @property
    @abstractmethod
    def prompt_tokens(self) -> int:
        """The tokens of its prompt in this attempt."""

    @property
    def kept(self) -> KeptAnswer | None:
        """What this attempt keeps of an earlier answer; None if all is written again."""
        return None

    def start_over(self) -> None:
        """Keep nothing of earlier answers in the next attempt."""

    def fault(self, generation: Generation) -> str | None:  # noqa: ARG002  most texts are as they should be
        """Return why a text cannot be the answer, whatever validators say; None if it can."""
        return None

    def count(self, candidates: Sequence[Generation]) -> None:
        """Count what an attempt took."""
        figures = [one.diagnostics for one in candidates]
        self.usage = Usage(
            self.prompt_tokens,
            self.usage.sampled_tokens + sum(one.sampled_tokens for one in candidates),
            self.usage.forced_tokens + sum(one.forced for one in figures),
            self.usage.passes + sum(one.passes for one in figures),
        )
        self.seconds += max(one.seconds for one in figures)

    @property
    def is_limited_by_context(self) -> bool:
        """Whether the context of the model leaves fewer tokens than the caller allows."""
        return self.max_tokens < self.task.max_tokens
