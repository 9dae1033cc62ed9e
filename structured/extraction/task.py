"""A task: an output type for a model, with the parts of the prompt, and the reading of the answers."""

import copy
import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
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
from structured.output_types.paths import steps_to_field
from structured.results.attribution import KeptAnswer
from structured.results.evidence import Evidence
from structured.results.json_text import value_spans
from structured.results.merging import SampledAnswer, vote
from structured.results.result import Provenance, Usage

ANSWER_NEUTRAL_OPTIONS = frozenset({"model", "observe", "batch_size", "batch_tokens", "cache"})
"""Options that change no answer; the model has fields of its own in the provenance."""

MAX_OPTION_CHARACTERS = 100
"""The longest value of an option that a provenance shows, in characters; it has a digest of a longer one."""


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
    passed_options: Options
    """The options that the caller passed, without the defaults of the others."""
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
    def options(self) -> Options:
        """The options that the caller passed, with the defaults of the others."""
        return with_defaults(self.passed_options)

    @property
    def max_tokens(self) -> int:
        """The most tokens of an answer, unless the context of the model leaves fewer."""
        return self.options["max_tokens"]

    @property
    def system(self) -> str | None:
        """The system prompt."""
        return self.passed_options.get("system")

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
            problem = "The packaged model answers with its examples"
            warn(OptionWarning(f"{problem}. Leave examples out, or name another model."))
        warn_of_type(self.passed_options, self.output_type, wants_confidence=self.wants_confidence)

    def with_options(self, options: Options) -> Self:
        """Return the task under other options, which say only how answers are sampled, and how long they may be."""
        return replace(self, passed_options=options)

    def prompt(self, conversation: Conversation) -> str | list[dict[str, str]]:
        """Return the prompt: chat messages if the model has a chat template. Raises PromptError for odd chats."""
        if self.system is not None and conversation.system is not None:
            raise PromptError("There is a system message, and the option system as well. Leave out one of them.")
        if conversation.earlier_turns and not self.model.has_chat_template:
            raise PromptError(
                f"How {self.model.name} would read {len(conversation.earlier_turns) + 1} turns of a chat is unknown: "
                "it has no chat template. Use a chat model, or write the chat as one text."
            )
        if self.is_verbatim and self.model.has_chat_template:
            return conversation.messages
        if self.is_verbatim:
            return "\n\n".join(filter(None, (conversation.system, conversation.text)))
        build: Callable[..., str | list[dict[str, str]]] = completion_prompt
        if self.model.has_chat_template:
            build = functools.partial(chat_messages, earlier_turns=conversation.earlier_turns)
        system = self.system if conversation.system is None else conversation.system
        parts = {"system": system, "instructions": self.instructions, "examples": self.examples}
        return build(self.description, conversation.text, **parts)

    def item(self, position: int, document: DocumentLike, *, document_name: str | None = None) -> "Item":
        """Read a document, and return an item for it. Raises PromptError or BudgetError, which name the document."""
        return self.prepared(InputDocument.read(position, document, document_name))

    @abstractmethod
    def make_ready(self, search: Search) -> None:
        """Do what is done once for all documents. Raises what is wrong with the type or the options."""

    @abstractmethod
    def stream(self, item: "Item", search: Search, *, jump_forward: bool) -> Generator[str, None, Generation]:
        """Yield the pieces of an answer as they are written, and return the whole."""

    @abstractmethod
    def prepared(self, document: "InputDocument") -> "Item":
        """Return an item for a document that was read. Raises as `item`."""

    def elect(self, valid: Sequence[tuple[Generation, Any]]) -> tuple[str, Any]:
        """Return the text and the value that most answers agree on, given valid answers with their values."""
        output_type = self.output_type

        def is_valid(data: Any) -> bool:
            try:
                output_type.parse(output_type.from_data(data))
            except Exception:  # noqa: BLE001  validators are the user's own code
                return False
            return True

        candidates = [SampledAnswer(output_type.to_data(one.text), one.log_probability) for one, _ in valid]
        elected = vote(candidates, is_valid)
        if elected.position is not None:
            one, value = valid[elected.position]
            return one.text, value
        text = output_type.from_data(elected.data)
        return text, output_type.parse(text)

    @functools.cached_property
    def provenance(self) -> Provenance:
        """The type, the model, the prompt and the options that decide the answers to all documents."""
        from importlib.metadata import version  # some milliseconds

        model, output_type = self.model, self.output_type
        passed: dict[str, Any] = {**self.passed_options}
        decisive = sorted(passed.keys() - ANSWER_NEUTRAL_OPTIONS)
        chosen = {name: passed[name] for name in decisive if passed[name] != DEFAULTS.get(name)}
        if self.examples:
            chosen["examples"] = self.examples
        return Provenance(
            output_type.name,
            output_type.digest,
            model.name,
            model.vocabulary.fingerprint.hex()[:16] if isinstance(model, LanguageModel) else None,
            short_digest(json.dumps(self.prompt(Conversation("")), ensure_ascii=False)),
            {name: _shortened(name, value) for name, value in sorted(chosen.items())},
            version("structured-extraction"),
        )


def _shortened(name: str, value: Any) -> Any:
    """Return the value of an option as JSON data, or a digest of it if it is long."""
    data = json.loads(to_json(value, fallback=repr))
    text = json.dumps(data, ensure_ascii=False)
    is_read_back = name == "allow_missing"
    return data if is_read_back or len(text) <= MAX_OPTION_CHARACTERS else f"sha256:{short_digest(text)}"


def short_digest(text: str) -> str:
    """Return the first 16 digits of the SHA-256 of a text."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


class InputDocument(NamedTuple):
    """A document of a batch: what was read of it, its position, and the name that errors call it by.

    `extract(Person, "Jason is 25.")` → position 0, name "the text"; the second of a batch → position 1, "document 1".
    """

    position: int
    conversation: Conversation
    name: str
    is_single: bool
    """Whether it is the only document of a call such as `extract`, so that errors tell no position."""
    document: Document
    """The document as it was read."""
    original: DocumentLike
    """The document as the caller passed it."""

    @classmethod
    def read(cls, position: int, original: DocumentLike, name: str | None) -> Self:
        """Read a document, which errors call by its id or its position. Raises PromptError for what is none."""
        document = read_document(original)
        is_single, name = name is not None, name or f"document {document.id or position}"
        conversation = Conversation.read(document.text, name, is_single=is_single)
        return cls(position, conversation, name, is_single, document, original)


class Answer(NamedTuple):
    """An answer that validators accept: its text, its value and the generations that it was made of."""

    text: str
    value: Any
    accepted_generations: Sequence[Generation]
    """The generations that validators accepted: one, or several where they vote."""
    confidence_generations: Sequence[Generation] = ()
    """The generations from which the confidence of each value is computed, rejected ones included."""
    kept_answer: KeptAnswer | None = None
    """The part of an earlier answer that the attempt did not write again."""
    evidence: Mapping[str, Evidence] | None = None
    """The evidence, where the answer was changed by it or is one of a chunk; else the result computes it."""

    def repeated_fields(self, output_type: OutputType[Any]) -> frozenset[str]:
        """Return the fields in which the model repeated itself; "" for a text that has none, or the thinking before."""
        return frozenset(chain.from_iterable(_repeated_fields(one, output_type) for one in self.accepted_generations))


def _repeated_fields(generation: Generation, output_type: OutputType[Any]) -> Iterator[str]:
    """Yield the field of each place at which a text repeated itself: that of the innermost value around the place."""
    figures, text = generation.diagnostics, generation.text
    if not figures.repetitions:
        return
    values = list(value_spans(text)) if output_type.root is not None and figures.repetition_places else []
    for place in figures.repetition_places or (-1,):
        offset = len(text.encode()[:place].decode(errors="ignore")) if place >= 0 else -1  # it may be in a character
        around = (steps for steps, start, end in values if start <= offset < end)
        yield steps_to_field(next(around, ()))


@dataclass(slots=True, eq=False)
class Pending:
    """One document on its way to its answer, as a whole or in parts."""

    task: Task
    input: InputDocument
    attempts: list[Attempt] = field(default_factory=list, kw_only=True)
    """The answers that the type's validators rejected."""
    usage: Usage = field(default_factory=Usage, kw_only=True)
    """What was written for it, in all attempts."""
    seconds: float = field(default=0.0, kw_only=True)
    """How long that took."""
    is_done: bool = field(default=False, kw_only=True)
    """Whether it has a result or an error."""

    @property
    def whole(self) -> "Pending":
        """The document that it is, or is a part of."""
        return self

    @property
    def position(self) -> int:
        """Its place among the documents."""
        return self.input.position

    @property
    def document(self) -> str:
        """The document; of a chat, all that the user says."""
        return self.input.conversation.document

    def rejection(self, **remedy: str) -> GenerationError:
        """Return its error where every answer was rejected; a `remedy` takes the place of the usual one."""
        position = None if self.input.is_single else self.position
        error = GenerationError(self.attempts, document=position, **remedy)
        error.__cause__ = self.attempts[-1].error
        return error


@dataclass(slots=True, eq=False)
class Item(Pending, ABC):
    """A document, or a part of one, that is answered at once."""

    max_tokens: int
    """The tokens that the context of the model leaves of those that the caller allows."""
    long_document: Pending | None = field(default=None, kw_only=True)
    """The long document that it is a chunk of."""
    chunk: Chunk | None = field(default=None, kw_only=True)
    feedback: str = field(default="", kw_only=True)
    """What a server is told in the next attempt of an answer that was rejected."""

    @property
    def whole(self) -> Pending:
        """The document that it is, or is a part of."""
        return self.long_document or self

    @property
    @abstractmethod
    def prompt_tokens(self) -> int:
        """The tokens of its prompt in this attempt."""

    @property
    def kept_answer(self) -> KeptAnswer | None:
        """What this attempt keeps of an earlier answer; None if all is written again."""
        return None

    def drop_kept_answer(self) -> None:
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
