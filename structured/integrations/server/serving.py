"""What the routes of one server share: the running batch, the threads, the limits, and the types by their names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from structured.decoding.running_batch import RunningBatch
from structured.integrations.server.asking import Extractors
from structured.integrations.server.limits import Limits
from structured.integrations.server.metrics import Metrics
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.requests import Asked, Sampling
from structured.integrations.server.work import Work
from structured.models.load import PACKAGED_ID, PACKAGED_NAME

NOT_STARTED = (
    "the application has not been started. Where it is mounted, let the lifespan of the outer application enter "
    "app.router.lifespan_context(app)."
)


DEFAULT = "default"
"""What requests may call the model of any server."""


@dataclass(slots=True)
class Serving:
    """A running server."""

    running: RunningBatch
    limits: Limits
    types: Mapping[str, Any]
    work: Work = field(init=False)
    metrics: Metrics = field(init=False)
    extractors: Extractors = field(init=False)

    def __post_init__(self) -> None:
        self.extractors = Extractors(self.running)
        self.work = Work(self.limits)
        self.metrics = Metrics(self.running, self.work.admission)

    @classmethod
    async def of(cls, request: Request) -> "Serving":
        """Return that of the application that a request came to. FastAPI takes a thread for a plain function.

        Raises RequestError if the application has not been started.
        """
        found: Serving | None = getattr(request.app.state, "serving", None)
        if found is None:
            raise RequestError(503, f"The model is not loaded: {NOT_STARTED}")
        return found

    @property
    def is_ready(self) -> bool:
        """Whether requests are taken."""
        return not self.work.admission.is_closed

    @property
    def model(self) -> str:
        """What requests call the model that is served."""
        return PACKAGED_ID if self.running.name == PACKAGED_NAME else self.running.name

    def check_model(self, name: str | None) -> None:
        """Raise RequestError if a request names another model than the one that is served."""
        if name not in (None, "", DEFAULT, self.model, self.running.name):
            raise RequestError(
                404, f"The model {name!r} is not served here; {self.model!r} is.", parameter="model",
                code="model_not_found",
            )  # fmt: skip

    def check_documents(self, count: int) -> None:
        """Raise RequestError if a request asks for more texts than are taken at a time."""
        if count > self.limits.documents:
            raise RequestError(413, f"{count:,} texts are asked for; {self.limits.documents:,} are taken at a time.")

    def check_size(self, asked: Sampling | Asked) -> None:
        """Raise RequestError if the texts of a request are longer than is taken."""
        count, most = asked.characters, self.limits.characters
        if count > most:
            raise RequestError(413, f"The texts have {count:,} characters; {most:,} are taken at a time.")

    def max_tokens(self, *asked: int | None) -> int:
        """Return how many tokens an answer may have. Raises RequestError if that is more than the limit."""
        given = next((one for one in asked if one is not None), self.limits.max_tokens)
        if given > self.limits.max_tokens:
            raise RequestError(
                400, f"max_tokens is {given:,}; an answer has at most {self.limits.max_tokens:,} tokens here.",
                parameter="max_tokens",
            )  # fmt: skip
        return given

    def close(self) -> None:
        """Take no more requests, and finish those that run."""
        self.work.close()
