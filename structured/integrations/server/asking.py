"""Asking the library: what a request wants, by its output type and options, from the running batch."""

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import Any, Self

from structured.decoding.requests import Generation
from structured.decoding.running_batch import RunningBatch
from structured.errors import StructuredError
from structured.errors.calling_line import without_warnings
from structured.extraction.conversation import Conversation, TextOrChat
from structured.extraction.events import AttemptWritten
from structured.extraction.extractor import Extractor
from structured.extraction.guided_task import GuidedTask
from structured.extraction.options import Options, checked_options
from structured.extraction.run import Run
from structured.integrations.server.answers import Written, openai_call
from structured.integrations.server.metrics import Metrics
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.requests import Asked, ExtractRequest, Sampling
from structured.output_types.functions.call import Call
from structured.output_types.functions.call_types import FunctionType, ToolType


@dataclass(slots=True)
class Attempts:
    """What was written of each text of a call, the last attempt of each."""

    metrics: Metrics
    written: dict[int, AttemptWritten] = field(default_factory=dict)
    _token: "Token[Attempts] | None" = None

    def note(self, event: AttemptWritten) -> None:
        """Note an attempt that has been written."""
        self.written[event.position] = event
        figures = [one.diagnostics for one in event.generations]
        self.metrics.count_tokens(
            prompt=event.prompt_tokens,
            sampled=sum(one.sampled for one in figures),
            forced=sum(one.forced for one in figures),
        )

    def __enter__(self) -> Self:
        """Note what is written in this thread from now on."""
        self._token = _attempts.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None, "it was entered"
        _attempts.reset(self._token)

    def prompt_tokens(self, answers: int = 1) -> int:
        """Return how many tokens the prompts have; that of so many answers, one behind another, is counted once."""
        return sum(one.prompt_tokens for position, one in self.written.items() if position % answers == 0)


_attempts: ContextVar[Attempts] = ContextVar("attempts")


def _note(event: object) -> None:
    """Note an event with the call that it belongs to: listeners are called in the thread that asks."""
    if isinstance(event, AttemptWritten):
        _attempts.get().note(event)


MAX_EXTRACTORS = 256
"""Extractors that are kept: most requests ask for what others have asked for, of other texts."""


class Extractors:
    """The extractors of a server, by what requests ask for; those that were not asked for the longest go first.

    A type is prepared once, whatever the seed, the temperature and the tokens of those who ask for it.
    """

    def __init__(self, running: RunningBatch) -> None:
        self.running = running
        self._kept: OrderedDict[Hashable, Extractor[Any]] = OrderedDict()
        self._lock = Lock()

    def find(
        self, key: Hashable, output_type: Callable[[], Any], options: Options, *, evidence: bool = False
    ) -> Extractor[Any]:
        """Return an extractor with some options, of the type of a key.

        The key says all that the type and the prompt depend on. What is new is made.
        """
        asked = checked_options({**options, "model": self.running, "observe": _note})
        found = copy.copy(self._kept_for(key) or self._made(key, output_type, asked, evidence=evidence))
        found.run, found.task = Run.of(asked), found.task.with_options(asked)
        return found

    def _kept_for(self, key: Hashable) -> Extractor[Any] | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _made(self, key: Hashable, output_type: Callable[[], Any], asked: Options, *, evidence: bool) -> Extractor[Any]:
        made = Extractor[Any](output_type(), evidence=evidence, **asked)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > MAX_EXTRACTORS:
                self._kept.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the model for one request."""

    extractor: Extractor[Any]
    documents: Sequence[TextOrChat]
    metrics: Metrics
    answers: int = 1
    """How many documents, one behind another, are the same: one prompt, to which so many answers are written."""
    is_free: bool = False
    """Whether the answer is free text: then the prompt is what was sent, without a word of the library's."""
    held_back: int = 0
    """The characters at the end of a stream that may be those of a stop phrase."""
    tool: str | None = None
    """The tool that is called, whose arguments are the answer."""
    otherwise: "Question | None" = None
    """What is asked where the answer is a list of calls, and empty."""

    def answered(self) -> tuple[list[Any], Attempts]:
        """Return the value for each document, or the error of one that has none, and what was written for them.

        Raises RequestError if the question is wrong.
        """
        with Attempts(self.metrics) as attempts, without_warnings():
            try:
                asked, count = self._asked(), len(self.documents)
                work = ((asked.task, document) for document in self.documents)
                found = asked.run.outcome(work, total=count, named="the text" if count == 1 else None).all("return")
            except StructuredError as error:
                raise RequestError.of(error) from error
        return found, attempts

    def texts(self) -> tuple[list[Written], int]:
        """Return what was written for each document, and the tokens of the prompt. Raises RequestError."""
        values, attempts = self.answered()
        for value in values:
            if isinstance(value, StructuredError):
                raise RequestError.of(value) from value
        events = [event for _, event in sorted(attempts.written.items())]
        written = [self._written(one.generations[0], value) for one, value in zip(events, values, strict=True)]
        uncalled = [position for position, one in enumerate(written) if not one.calls]
        if self.otherwise is None or not uncalled:
            return written, attempts.prompt_tokens(self.answers)
        documents = [self.documents[position] for position in uncalled]
        others, prompt_tokens = replace(self.otherwise, documents=documents).texts()
        for position, other in zip(uncalled, others, strict=True):
            written[position] = other
        return written, prompt_tokens

    def streamed(self) -> Iterator[str | tuple[Written, int]]:
        """Yield the pieces of the text, and last the whole with the tokens of the prompt; only the last, of a call.

        Raises RequestError, also in the middle.
        """
        is_call = isinstance(self.extractor.task.output_type, FunctionType | ToolType)
        shown = ""
        with Attempts(self.metrics) as attempts, without_warnings():
            try:
                stream = self._asked().stream(self.documents[0])
                for _ in stream:
                    known = "" if is_call else stream.text[: max(len(stream.text) - self.held_back, 0)]
                    yield known[len(shown) :]
                    shown = known or shown
                written = self._written(stream.generation, stream.result())
            except StructuredError as error:
                raise RequestError.of(error) from error
        if self.otherwise is not None and not written.calls:
            yield from self.otherwise.streamed()
            return
        yield "" if is_call else written.text[len(shown) :]
        yield written, attempts.prompt_tokens()

    def _written(self, generation: Generation, value: Any) -> Written:
        """Return an answer; of free text, what stands before the stop phrase."""
        calls = calls_of(value) if self.tool is None else [openai_call(self.tool, generation.text)]
        return Written(value if self.is_free else generation.text, generation, calls, is_free=self.is_free)

    def _asked(self) -> Extractor[Any]:
        """Return the extractor, with what was sent as its prompt if the answer is free text."""
        if not self.is_free:
            return self.extractor
        extractor = copy.copy(self.extractor)
        extractor.task = _Verbatim(**{one.name: getattr(extractor.task, one.name) for one in fields(GuidedTask)})
        return extractor


class _Verbatim(GuidedTask):
    """A task whose prompt is what was sent."""

    def prompt(self, conversation: Conversation) -> str | list[dict[str, str]]:
        """Return the messages, or the text for a model without a chat template. Raises PromptError for turns to it."""
        super().prompt(conversation)  # which raises
        if not self.model.has_chat_template:
            return "\n\n".join(filter(None, (conversation.system, conversation.text)))
        above = [] if conversation.system is None else [{"role": "system", "content": conversation.system}]
        return [*above, *map(dict, conversation.earlier), {"role": "user", "content": conversation.text}]


def calls_of(value: object) -> list[dict[str, Any]] | None:
    """Return calls as entries of `tool_calls`; None for what is no call."""
    if isinstance(value, Call):
        return [value.to_openai()]
    if isinstance(value, list) and value and all(isinstance(one, Call) for one in value):
        return [one.to_openai() for one in value]
    return None


def sampling_options(asked: Sampling, max_tokens: int) -> Options:
    """Return the options of a request of OpenAI's API. Without a temperature, the likeliest answer is given."""
    options: Options = {"max_tokens": max_tokens, "stop_repetition": asked.stop_repetition}
    if asked.temperature:
        options["temperature"] = asked.temperature
        for name in ("seed", "top_p", "top_k", "min_p"):
            if (value := getattr(asked, name)) is not None:
                options[name] = value
    return options


def library_options(asked: Asked, max_tokens: int) -> Options:
    """Return the options of a request of the library's own."""
    options: Options = {
        "max_tokens": max_tokens,
        "stop_repetition": asked.stop_repetition,
        "temperature": asked.temperature,
    }
    if asked.temperature and asked.seed is not None:
        options["seed"] = asked.seed
    if asked.instructions is not None:
        options["instructions"] = asked.instructions
    if asked.system is not None:
        options["system"] = asked.system
    if isinstance(asked, ExtractRequest) and asked.grounded:
        options["grounded"] = asked.grounded
    return options
