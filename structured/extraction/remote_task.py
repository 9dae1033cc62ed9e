"""Tasks for models behind servers: messages and a constraint are sent, and the text that comes back is checked."""

import functools
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from structured.decoding.requests import Generation
from structured.decoding.served import served_candidates, served_stream
from structured.decoding.strategy import Search
from structured.errors import StructuredError
from structured.extraction.conversation import Conversation
from structured.extraction.server_options import refuse_options
from structured.extraction.task import Given, Item, Task
from structured.models import Model
from structured.models.remote.form import ServerRequest
from structured.models.remote.model import RemoteModel
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.remote_constraints import AnswerCheck, Constraint, refuse_grounding


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
        return self.model.form.constraint(self.output_type)

    @functools.cached_property
    def check(self) -> AnswerCheck:
        """The check of its answers."""
        return AnswerCheck(self.output_type)

    def make_ready(self, search: Search) -> None:
        """Refuse what the server cannot do, before anything is sent.

        Raises ValueError for options, SchemaError for the type.
        """
        refuse_options(self.model, self.options, search)
        self.model.form.body(self.model.address.model, self._request([], {}, search))
        _ = self.check

    def stream(self, item: Item, search: Search, *, jump_forward: bool) -> Generator[str, None, Generation]:  # noqa: ARG002
        """Return the pieces of an answer as the server writes them."""
        assert isinstance(item, RemoteItem), "it is of this task"
        return served_stream(self.model, self.request(item, search, 0))

    def prepared(self, given: Given) -> "RemoteItem":
        """Return what was read of a document, prepared."""
        return RemoteItem(self, given, self.max_tokens)

    def prompt(self, conversation: Conversation) -> str | list[dict[str, str]]:
        """Return the messages that are sent: the document alone to a server that makes prompts itself."""
        messages = super().prompt(conversation)  # which raises
        if not (self.model.form.writes_prompts and self.model.enforced):
            return messages
        system = "\n\n".join(filter(None, (self.system or conversation.system, self.instructions)))
        above = [{"role": "system", "content": system}] if system else []
        return [*above, *map(dict, conversation.earlier), {"role": "user", "content": conversation.text}]

    def request(self, item: "RemoteItem", search: Search, attempt: int) -> ServerRequest:
        """Return what is asked for a document."""
        sampler = search.sampler
        sampling: dict[str, float] = {name: getattr(sampler, name) for name in sampler.chosen if name != "seed"}
        sampling["temperature"] = sampler.temperature
        if sampler.seed is not None and sampler.temperature > 0:
            sampling["seed"] = int(sampler.generator(item.position, attempt).integers(2**31))
        if "repetition" in self.options:
            sampling["stop_repetition"] = self.repetition.stop
        messages = self.with_instructions(item.told or None).prompt(item.conversation)
        assert not isinstance(messages, str), "servers take chats"
        return self._request(messages, sampling, search)

    def _request(
        self, messages: Sequence[Mapping[str, str]], sampling: Mapping[str, float], search: Search
    ) -> ServerRequest:
        is_weighed = self.is_weighed or isinstance(self.output_type, MissingFieldsType) or search.samples > 1
        logprobs = is_weighed and self.model.form.tells_probabilities
        return ServerRequest(messages, self.constraint, self.max_tokens, sampling, logprobs)


@dataclass(slots=True, eq=False)
class RemoteItem(Item):
    """A document on its way to the answer of a server."""

    task: RemoteTask
    told: str = ""
    """What the model is told of an answer that was rejected."""
    prompted: int = 0
    """The tokens of its prompt, as the server counts them."""

    @property
    def prompt_tokens(self) -> int:
        """The tokens of its prompt; 0 before the server has answered, or if it does not say."""
        return self.prompted

    def count(self, candidates: Sequence[Generation]) -> None:
        """Count what an attempt took."""
        self.prompted = max((one.served.prompt_tokens for one in candidates if one.served is not None), default=0)
        Item.count(self, candidates)

    def note(self, told: str) -> None:
        """Tell the model in the next attempt what was wrong with an answer."""
        self.told = told

    def fault(self, generation: Generation) -> str | None:
        """Return why a text cannot be the answer: the server says so, or it is none of the type."""
        if generation.served is not None and generation.served.fault is not None:
            return generation.served.fault
        return self.task.check.fault(generation.text)


def asked_of_server(
    model: Model, items: Sequence[Item], search: Search, attempt: int, *, batch_size: int
) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
    """Yield what a server writes for each item, with its place. Raises ServerError where it fails for all."""
    assert isinstance(model, RemoteModel), "what is no language model is a server"
    requests = [one.task.request(one, search, attempt) for one in items if isinstance(one, RemoteItem)]
    return served_candidates(model, requests, samples=search.samples, batch_size=batch_size)
