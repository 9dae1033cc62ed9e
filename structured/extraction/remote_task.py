"""Tasks for models behind servers: messages and a constraint are sent, and the text that comes back is checked."""

import functools
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter

from structured.decoding.repetition import Repetition
from structured.decoding.requests import Diagnostics, Generation, SampledToken, ServerReport
from structured.decoding.strategy import Search, grouped
from structured.decoding.text_in_progress import WRITING
from structured.errors import ServerError, StructuredError, error_of_one
from structured.errors.values import shown
from structured.extraction.options import Options
from structured.extraction.prompts import Conversation
from structured.extraction.task import InputDocument, Item, Task
from structured.models import Model
from structured.models.protocol import Messages
from structured.models.remote_model import RemoteModel
from structured.models.server_api import ServerAnswer, ServerRequest
from structured.output_types.json_output import DEFAULT_LAYOUT
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.remote_constraints import AnswerCheck, Constraint, refuse_grounding

_NEEDS_LOGITS = "It needs the model's logits, and a server gives texts."
_NO_VALUE = object()

_REFUSED: Mapping[str, tuple[object, str]] = {
    "batch_tokens": (None, "The server plans its memory itself. Set batch_size: the requests under way at a time."),
    "chunking": (None, "A server does not say how many tokens a text has, so that none is split."),
    "jump_forward": (_NO_VALUE, _NEEDS_LOGITS),
    "repetition": (None, "What is done about repetition is a setting of the server."),
    "thinking": (None, "Reasoning is a setting of the server."),
}
"""Options, each with the value that asks for nothing, and why others are refused."""


def refuse_options(model: RemoteModel, options: Options, search: Search) -> None:
    """Raise ValueError for options that a model behind a server cannot have."""
    for name, value in options.items():
        if name in _REFUSED and value != _REFUSED[name][0] and not (name == "repetition" and _is_known(model, value)):
            problem = f"{name} is {shown(value)}, and {model.name} is a server"
            raise ValueError(f"{problem}. {_REFUSED[name][1]} Leave it out.")
    if options.get("repair") == "field":
        raise ValueError(
            f"repair is 'field', and {model.name} is a server, which cannot go on with a part of an answer. Take "
            "'told' (the model is told what was wrong, and writes all of it again) or 'whole'."
        )
    if search.is_joint:
        raise ValueError(f"search is {search.method}, and {model.name} is a server. {_NEEDS_LOGITS} Take Samples.")
    layout = options.get("layout") or DEFAULT_LAYOUT
    if layout.whitespace not in (DEFAULT_LAYOUT.whitespace, "any"):
        raise ValueError(f"layout is {layout}, and {model.name} lays JSON out itself. Leave its whitespace out.")
    api = model.api
    unknown = [name for name in search.sampler.changed_fields if name not in api.sampling_options]
    if unknown:
        raise ValueError(f"{api.server} does not know {' and '.join(unknown)}. Leave what it does not know out.")
    if search.samples > 1 and not search.method.vote and not api.tells_probabilities:
        raise ValueError(f"{api.server} does not say how likely a sample is. Pass vote=True to Samples.")
    if options.get("examples") and api.writes_prompts and model.enforced:
        raise ValueError(f"{api.server} makes the prompts itself, and takes no examples. Leave them out.")


def _is_known(model: RemoteModel, repetition: object) -> bool:
    """Tell whether a server takes what is asked about repetition."""
    is_stop_alone = repetition in (None, Repetition(), Repetition(stop=False))
    return is_stop_alone and "stop_repetition" in model.api.sampling_options


def served_candidates(
    model: Model, requests: Sequence[ServerRequest], search: Search, *, batch_size: int
) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
    """Return the samples for each request, likeliest first, or its error, with its place, as they come.

    `batch_size` requests are under way at a time. Raises ServerError for one that all would fail with.
    """
    assert isinstance(model, RemoteModel), "what is no language model is a server"
    samples = [_sample(one, number) for one in requests for number in range(search.samples)]
    return grouped(_as_completed(model, samples, batch_size), search.samples)


def _sample(request: ServerRequest, number: int) -> ServerRequest:
    """Return a request for one of several samples, each with a seed of its own; the first has that of the request."""
    if not number or "seed" not in request.sampling:
        return request
    seed = (int(request.sampling["seed"]) + number) % 2**31
    return replace(request, sampling={**request.sampling, "seed": seed})


def _as_completed(
    model: RemoteModel, requests: Sequence[ServerRequest], batch_size: int
) -> Iterator[tuple[int, Generation | StructuredError]]:
    """Yield each text or error with its place; the threads are daemons, so that an interrupt need not wait."""
    unsent: SimpleQueue[tuple[int, ServerRequest]] = SimpleQueue()
    done: SimpleQueue[tuple[int, Generation | StructuredError]] = SimpleQueue()
    stop = Event()
    for one in enumerate(requests):
        unsent.put(one)

    def work() -> None:
        with suppress(Empty):
            while not stop.is_set():
                position, request = unsent.get_nowait()
                start = perf_counter()
                try:
                    done.put((position, _generation(model.answer(request, stop), perf_counter() - start)))
                except Exception as error:  # noqa: BLE001  it costs no other text its answer
                    done.put((position, error_of_one(error, WRITING)))

    for _ in range(min(batch_size, len(requests))):
        Thread(target=copy_context().run, args=(work,), name=f"asks {model.name}", daemon=True).start()
    try:
        for _ in requests:
            position, answer = done.get()
            if isinstance(answer, ServerError) and answer.is_for_all:
                raise answer
            yield position, answer
    finally:
        stop.set()


def _generation(answer: ServerAnswer, seconds: float) -> Generation:
    """Return the answer of a server as a generation, with the probabilities that the server tells."""
    tokens = tuple(SampledToken(one.start, one.end, one.log_probability, 1.0) for one in answer.tokens)
    return Generation(
        answer.text,
        (),
        sum(one.log_probability for one in tokens),
        shortened=answer.shortened,
        diagnostics=Diagnostics(
            repetitions=int(answer.repetitive), tokens=tokens, seconds=seconds, seconds_in_model=seconds
        ),
        served=ServerReport(answer.prompt_tokens, answer.written_tokens, answer.fault),
    )


@dataclass(frozen=True, eq=False)
class RemoteTask(Task):
    """A task for a model behind a server."""

    model: RemoteModel

    @functools.cached_property
    def constraint(self) -> Constraint | None:
        """What the server has to enforce; None for nothing. Raises SchemaError if it cannot be told."""
        if not self.model.enforced:
            refuse_grounding(self.output_type)
            return None
        return self.model.api.constraint(self.output_type)

    @functools.cached_property
    def check(self) -> AnswerCheck:
        """The check of its answers."""
        return AnswerCheck(self.output_type)

    def make_ready(self, search: Search) -> None:
        """Refuse what the server cannot do, before anything is sent. Raises ValueError or SchemaError."""
        refuse_options(self.model, self.passed_options, search)
        self.model.api.body(self.model.address.model, self._request([], {}, search))
        _ = self.check

    def stream(self, item: Item, search: Search, *, jump_forward: bool) -> Generator[str, None, Generation]:  # noqa: ARG002
        """Yield the pieces of an answer as the server writes them. Raises ServerError."""
        assert isinstance(item, RemoteItem), "it is of this task"
        start = perf_counter()
        answer = yield from self.model.stream(self.request(item, search, 0))
        return _generation(answer, perf_counter() - start)

    def prepared(self, document: InputDocument) -> "RemoteItem":
        """Return what was read of a document, prepared."""
        return RemoteItem(self, document, self.max_tokens)

    def prompt(self, conversation: Conversation) -> str | list[dict[str, str]]:
        """Return the messages that are sent: the document alone to a server that makes prompts itself."""
        messages = super().prompt(conversation)  # which raises
        if not (self.model.api.writes_prompts and self.model.enforced):
            return messages
        system = "\n\n".join(filter(None, (self.system or conversation.system, self.instructions)))
        return replace(conversation, system=system or None).messages

    def request(self, item: "RemoteItem", search: Search, attempt: int) -> ServerRequest:
        """Return what is asked for a document."""
        sampler = search.sampler
        sampling: dict[str, float] = {name: getattr(sampler, name) for name in sampler.changed_fields if name != "seed"}
        sampling["temperature"] = sampler.temperature
        if sampler.seed is not None and sampler.temperature > 0:
            sampling["seed"] = int(sampler.generator(item.position, attempt).integers(2**31))
        if "repetition" in self.passed_options:
            sampling["stop_repetition"] = (self.passed_options["repetition"] or Repetition()).stop
        messages = self.with_instructions(item.feedback or None).prompt(item.input.conversation)
        assert not isinstance(messages, str), "servers take chats"
        return self._request(messages, sampling, search)

    def _request(self, messages: Messages, sampling: Mapping[str, float], search: Search) -> ServerRequest:
        logprobs = self.wants_confidence or isinstance(self.output_type, MissingFieldsType) or search.samples > 1
        logprobs = logprobs and self.model.api.tells_probabilities
        return ServerRequest(messages, self.constraint, self.max_tokens, sampling, logprobs)


@dataclass(slots=True, eq=False)
class RemoteItem(Item):
    """A document on its way to the answer of a server."""

    task: RemoteTask
    prompt_tokens: int = 0
    """The tokens of its prompt, as the server counts them; 0 before it has answered, or if it does not say."""

    def count(self, candidates: Sequence[Generation]) -> None:
        """Count what an attempt took."""
        self.prompt_tokens = max((one.served.prompt_tokens for one in candidates if one.served is not None), default=0)
        Item.count(self, candidates)

    def fault(self, generation: Generation) -> str | None:
        """Return why a text cannot be the answer: the server says so, or it is none of the type."""
        if generation.served is not None and generation.served.fault is not None:
            return generation.served.fault
        return self.task.check.fault(generation.text)
