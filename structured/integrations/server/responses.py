"""Responses: choices, usage, log-probabilities and chunks as in the API of OpenAI, and values with their evidence."""

import itertools
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeAlias
from uuid import uuid4

from fastapi.responses import Response
from pydantic_core import to_jsonable_python

from structured.decoding.requests import Generation
from structured.errors import StructuredError
from structured.integrations.questions import Reply
from structured.integrations.server.request_errors import RequestError
from structured.results.result import Result
from structured.vocabulary import Vocabulary

IMPOSSIBLE = -9999.0
"""The log-probability of a token that the model excludes, as in OpenAI's API: JSON has no infinity."""


Piece: TypeAlias = str | tuple[Reply, int]
"""A piece of the text of a stream; last, the whole answer with the number of tokens of the prompt."""


@dataclass(frozen=True, slots=True)
class AnswerForm(ABC):
    """How an endpoint writes answers: whole, and as the events of a stream."""

    model: str
    vocabulary: Vocabulary
    logprobs: int | None
    """How many of the likeliest tokens are shown beside each token; None for no log-probabilities at all."""
    id: str = field(default_factory=lambda: uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))

    @abstractmethod
    def whole(self, written: Sequence[Reply], prompt_tokens: int) -> dict[str, Any]:
        """Return the answer to a request."""

    @abstractmethod
    def events(self, pieces: Iterable[Piece], *, with_usage: bool) -> Iterator[str]:
        """Yield the server-sent events of a stream; a RequestError that a piece raises is the last of them."""

    def log_probabilities(self, generation: Generation) -> list[dict[str, Any]]:
        """Return each token of an answer with its log-probability among those that were allowed.

        Tokens that were known without the model have 0, and no others beside them: no other was allowed. The end of
        the prompt is left out where it is written again (token healing), also of a token that goes on into the answer.
        """
        tokens, shown = self.vocabulary.tokens, self.logprobs or 0
        sampled = {token.start: token for token in generation.diagnostics.tokens if token.end > token.start}
        told: list[dict[str, Any]] = []
        spelled = [tokens[token_id] or b"" for token_id in generation.token_ids]
        start = -len(generation.thinking.encode())
        place = len(generation.text.encode()) - sum(map(len, spelled))
        for token in spelled:
            healed = max(start - place, 0)
            if token[healed:] or not token:
                known = sampled.get(place)
                one = _weighed(token[healed:], 0.0 if known is None else known.log_probability)
                others = known.alternatives if known is not None else ()
                likeliest = [_weighed((tokens[other] or b"")[healed:], share) for other, share in others]
                told.append({**one, "top_logprobs": likeliest or [one][:shown]})
            place += len(token)
        return told


def _weighed(token: bytes, log_probability: float) -> dict[str, Any]:
    shown = max(log_probability, IMPOSSIBLE)
    return {"token": token.decode(errors="replace"), "logprob": shown, "bytes": list(token)}


class ChoiceForm(AnswerForm):
    """Answers as entries of `choices`, and streams of chunks with one choice each."""

    prefix: ClassVar[str]
    kind: ClassVar[str]
    chunk_kind: ClassVar[str]

    def whole(self, written: Sequence[Reply], prompt_tokens: int) -> dict[str, Any]:
        """Return the answer to a request."""
        choices = [{"index": index, **self.content(one), **self._end(one)} for index, one in enumerate(written)]
        return self._object(self.kind, choices=choices, usage=usage_of(written, prompt_tokens))

    def events(self, pieces: Iterable[Piece], *, with_usage: bool) -> Iterator[str]:
        """Yield a chunk for each piece and for the end, perhaps one with the usage, and `[DONE]`."""
        yield from map(self._chunk, self.opening())
        try:
            for piece in pieces:
                if not isinstance(piece, str):
                    written, prompt_tokens = piece
                    yield self._chunk({**self.rest(written), **self._end(written)})
                    if with_usage:
                        totals = usage_of([written], prompt_tokens)
                        yield event(self._object(self.chunk_kind, choices=[], usage=totals))
                elif piece:
                    yield self._chunk(self.piece(piece))
        except RequestError as error:
            yield event(error.body())
        yield "data: [DONE]\n\n"

    def _end(self, written: Reply) -> dict[str, Any]:
        """Return why a text ends, and its log-probabilities."""
        logprobs = None if self.logprobs is None else self.shown(self.log_probabilities(written.generation))
        return {"logprobs": logprobs, "finish_reason": finish_reason(written), **marks_of_answer(written)}

    def _chunk(self, choice: dict[str, Any]) -> str:
        """Return a chunk of a stream with its one choice."""
        choice = {"index": 0, "logprobs": None, "finish_reason": None, **choice}
        return event(self._object(self.chunk_kind, choices=[choice]))

    def _object(self, kind: str, **members: Any) -> dict[str, Any]:
        head = {"id": f"{self.prefix}-{self.id}", "object": kind, "created": self.created, "model": self.model}
        return {**head, **members}

    @abstractmethod
    def content(self, written: Reply) -> dict[str, Any]:
        """Return the content of a whole answer."""

    @abstractmethod
    def opening(self) -> Iterable[dict[str, Any]]:
        """Return the content of the chunk before the text, if there is one."""

    @abstractmethod
    def piece(self, text: str) -> dict[str, Any]:
        """Return the content of a chunk with a piece of the text."""

    @abstractmethod
    def rest(self, written: Reply) -> dict[str, Any]:
        """Return the content of the chunk that ends the text: what the pieces did not say."""

    @abstractmethod
    def shown(self, tokens: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the log-probabilities of tokens in the form of the endpoint."""


@dataclass(frozen=True, slots=True)
class ChatAnswers(ChoiceForm):
    """That of `/v1/chat/completions`."""

    tool: str | None = None
    """The tool that is called, whose arguments the text of a stream is."""

    prefix = "chatcmpl"
    kind = "chat.completion"
    chunk_kind = "chat.completion.chunk"

    def content(self, written: Reply) -> dict[str, Any]:
        """Return a message."""
        message: dict[str, Any] = {"role": "assistant", "content": written.text, "refusal": None}
        if written.calls:
            message |= {"content": None, "tool_calls": [openai_call(*call) for call in written.calls]}
        return {"message": message}

    def opening(self) -> Iterable[dict[str, Any]]:
        """Return the role, and the call whose arguments follow."""
        delta: dict[str, Any] = {"role": "assistant", "content": ""}
        if self.tool is not None:
            delta |= {"content": None, "tool_calls": [{"index": 0, **openai_call(self.tool, "")}]}
        return [{"delta": delta}]

    def piece(self, text: str) -> dict[str, Any]:
        """Return a piece of the content, or of the arguments."""
        if self.tool is None:
            return {"delta": {"content": text}}
        return {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}

    def rest(self, written: Reply) -> dict[str, Any]:
        """Return the calls that have not been sent."""
        if not written.calls or self.tool is not None:
            return {"delta": {}}
        calls = [{"index": index, **openai_call(*call)} for index, call in enumerate(written.calls)]
        return {"delta": {"tool_calls": calls}}

    def shown(self, tokens: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the tokens as they are."""
        return {"content": tokens}


class CompletionAnswers(ChoiceForm):
    """That of `/v1/completions`."""

    prefix = "cmpl"
    kind = chunk_kind = "text_completion"

    def content(self, written: Reply) -> dict[str, Any]:
        """Return a text."""
        return {"text": written.text}

    def opening(self) -> Iterable[dict[str, Any]]:
        """Return nothing: the first chunk has text."""
        return []

    def piece(self, text: str) -> dict[str, Any]:
        """Return a piece of the text."""
        return {"text": text}

    def rest(self, written: Reply) -> dict[str, Any]:  # noqa: ARG002  all of it has been sent
        """Return no text."""
        return {"text": ""}

    def shown(self, tokens: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a list for each member of a token."""
        texts = [one["token"] for one in tokens]
        likeliest = [{other["token"]: other["logprob"] for other in one["top_logprobs"]} for one in tokens]
        return {
            "tokens": texts,
            "token_logprobs": [one["logprob"] for one in tokens],
            "top_logprobs": likeliest if self.logprobs else None,
            "text_offset": list(itertools.accumulate(map(len, texts[:-1]), initial=0))[: len(texts)],
        }


def marks_of(generations: Sequence[Generation]) -> dict[str, bool]:
    """Return the members that mark an answer which is valid and may be incomplete; none for another."""
    marks = {
        "shortened": any(one.shortened for one in generations),
        "repetitive": any(one.diagnostics.repetitions for one in generations),
    }
    return {name: True for name, holds in marks.items() if holds}


def marks_of_answer(answer: Reply) -> dict[str, bool]:
    """Return the members that mark an answer; free text may end anywhere."""
    is_free, generation = answer.question.is_free, answer.generation
    return {} if is_free and generation.shortened else marks_of([generation])


def finish_reason(answer: Reply) -> str:
    """Return why an answer ends: "length" if the model would have written more."""
    if answer.is_cut_short:
        return "length"
    return "tool_calls" if answer.calls else "stop"


def openai_call(name: str, arguments: str) -> dict[str, Any]:
    """Return an entry of `tool_calls`, given the arguments as JSON text."""
    return {"id": f"call_{uuid4().hex[:24]}", "type": "function", "function": {"name": name, "arguments": arguments}}


def usage_of(written: Iterable[Reply], prompt_tokens: int) -> dict[str, int]:
    """Return how many tokens a request took."""
    return usage(prompt_tokens, sum(one.generation.written_tokens for one in written))


def usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    """Return numbers of tokens as OpenAI's API does."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def event(data: object) -> str:
    """Return a server-sent event."""
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


def response_of(result: Result[Any], *, evidence: bool) -> Response:
    """Return the answer for one document. Raises RequestError if there is no value, or none that can be written."""
    return Response(_written(result, evidence=evidence), media_type="application/json")


def response_of_all(results: Sequence[Result[Any]], *, evidence: bool) -> Response:
    """Return the answer for several documents, with errors in place of values."""

    def member(result: Result[Any]) -> str:
        try:
            return _written(result, evidence=evidence)
        except RequestError as error:
            return json.dumps(error.body())

    return Response(f'{{"results": [{", ".join(map(member, results))}]}}', media_type="application/json")


def _written(result: Result[Any], *, evidence: bool) -> str:
    """Return a result as JSON text. Raises RequestError for an error, and for a value that cannot be written so."""
    try:
        value = result.value
    except StructuredError as error:
        raise RequestError.of(error) from error
    members = {"value": _plain(value), **marks_of(result.generations)}
    if evidence:
        cost = result.usage
        members |= {
            **({"missing": list(result.missing)} if result.missing else {}),
            "confidence": result.confidence,
            "evidence": result.rows(),
            **({"flags": list(map(asdict, result.flags))} if result.flags else {}),
            "usage": usage(cost.prompt_tokens, cost.sampled_tokens + cost.forced_tokens),
        }
    try:
        return json.dumps(members, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(422, f"The value cannot be written as JSON: {error}.", code="GenerationError") from error


def _plain(value: object) -> Any:
    """Return a value as JSON data; deeply nested data, which Pydantic refuses, as it is."""
    try:
        return to_jsonable_python(value)
    except ValueError:
        return value
