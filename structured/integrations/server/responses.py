"""Responses: choices, usage, log-probabilities and chunks as in the API of OpenAI, and values with their evidence."""

import itertools
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeAlias
from uuid import uuid4

from fastapi.responses import Response
from pydantic_core import to_jsonable_python

from structured.decoding.requests import Generation
from structured.errors import error_of_one
from structured.integrations.replies import Reply
from structured.integrations.server.request_errors import RequestError
from structured.results.result import Result
from structured.vocabulary import Vocabulary

LOWEST_LOGPROB = -9999.0
"""The log-probability of a token that the model excludes, as in OpenAI's API: JSON has no infinity."""

Piece: TypeAlias = str | tuple[Reply, int]
"""A piece of the text of a stream; last, the whole reply with the number of tokens of the prompt."""


@dataclass(frozen=True, slots=True)
class Writer(ABC):
    """What writes the responses of an endpoint: whole, or as the events of a stream."""

    model: str
    vocabulary: Vocabulary
    alternatives_per_token: int | None
    """How many of the likeliest tokens stand beside each token; None for no log-probabilities at all."""
    id: str = field(default_factory=lambda: uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))

    @abstractmethod
    def to_response(self, replies: Sequence[Reply], prompt_tokens: int) -> dict[str, Any]:
        """Return the response to a request."""

    @abstractmethod
    def to_events(self, pieces: Iterable[Piece], *, with_usage: bool) -> Iterator[str]:
        """Yield the server-sent events of a stream; a RequestError that a piece raises is the last of them."""

    def log_probabilities(self, generation: Generation) -> list[dict[str, Any]]:
        """Return each token of an answer with its log-probability among those that were allowed.

        Tokens that were known without the model have 0, and no others beside them: no other was allowed. The end of
        the prompt is left out where it is written again (token healing), also of a token that goes on into the answer.
        """
        vocabulary_tokens = self.vocabulary.tokens
        sampled_tokens = {token.start: token for token in generation.diagnostics.tokens if token.end > token.start}
        entries: list[dict[str, Any]] = []
        tokens = [vocabulary_tokens[token_id] or b"" for token_id in generation.token_ids]
        answer_start = -len(generation.thinking.encode())
        start = len(generation.text.encode()) - sum(map(len, tokens))
        for token in tokens:
            prompt_bytes = max(answer_start - start, 0)
            if token[prompt_bytes:] or not token:
                sampled = sampled_tokens.get(start)
                entry = _logprob_entry(token[prompt_bytes:], 0.0 if sampled is None else sampled.log_probability)
                alternatives = [
                    _logprob_entry((vocabulary_tokens[token_id] or b"")[prompt_bytes:], log_probability)
                    for token_id, log_probability in (sampled.alternatives if sampled is not None else ())
                ]
                entries.append({**entry, "top_logprobs": alternatives or [entry][: self.alternatives_per_token or 0]})
            start += len(token)
        return entries


def _logprob_entry(token: bytes, log_probability: float) -> dict[str, Any]:
    shown = max(log_probability, LOWEST_LOGPROB)
    return {"token": token.decode(errors="replace"), "logprob": shown, "bytes": list(token)}


@dataclass(frozen=True, slots=True)
class ChatWriter(Writer):
    """Writes the responses of `/v1/chat/completions`: entries of `choices`, in streams chunks with one choice each."""

    tool: str | None = None
    """The tool that is called, whose arguments the text of a stream is."""

    prefix: ClassVar = "chatcmpl"
    kind: ClassVar = "chat.completion"
    chunk_kind: ClassVar = "chat.completion.chunk"

    def to_response(self, replies: Sequence[Reply], prompt_tokens: int) -> dict[str, Any]:
        """Return the response to a request."""
        choices = [{"index": index, **self._content(reply), **self._end(reply)} for index, reply in enumerate(replies)]
        written_tokens = sum(reply.generation.written_tokens for reply in replies)
        return self._object(self.kind, choices=choices, usage=usage(prompt_tokens, written_tokens))

    def to_events(self, pieces: Iterable[Piece], *, with_usage: bool) -> Iterator[str]:
        """Yield a chunk for each piece and for the end, perhaps one with the usage, and `[DONE]`."""
        try:
            yield from map(self._chunk, self._first_deltas())
            for piece in pieces:
                if not isinstance(piece, str):
                    reply, prompt_tokens = piece
                    yield self._chunk({**self._last_delta(reply), **self._end(reply)})
                    if with_usage:
                        totals = usage(prompt_tokens, reply.generation.written_tokens)
                        yield event(self._object(self.chunk_kind, choices=[], usage=totals))
                elif piece:
                    yield self._chunk(self._delta(piece))
        except RequestError as error:
            yield event(error.body())
        yield "data: [DONE]\n\n"

    def _end(self, reply: Reply) -> dict[str, Any]:
        """Return why a text ends, and its log-probabilities."""
        has_logprobs = self.alternatives_per_token is not None
        logprobs = self._logprobs(self.log_probabilities(reply.generation)) if has_logprobs else None
        return {"logprobs": logprobs, "finish_reason": finish_reason(reply), **marks_of_reply(reply)}

    def _chunk(self, choice: dict[str, Any]) -> str:
        """Return a chunk of a stream with its one choice."""
        choice = {"index": 0, "logprobs": None, "finish_reason": None, **choice}
        return event(self._object(self.chunk_kind, choices=[choice]))

    def _object(self, kind: str, **members: Any) -> dict[str, Any]:
        head = {"id": f"{self.prefix}-{self.id}", "object": kind, "created": self.created, "model": self.model}
        return {**head, **members}

    def _first_deltas(self) -> list[dict[str, Any]]:
        """Return the content of the chunk before the text: the role, and the call whose arguments follow."""
        delta: dict[str, Any] = {"role": "assistant", "content": ""}
        if self.tool is not None:
            delta |= {"content": None, "tool_calls": [{"index": 0, **openai_call(self.tool, "")}]}
        return [{"delta": delta}]

    def _content(self, reply: Reply) -> dict[str, Any]:
        """Return the content of a whole answer."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
        if reply.calls:
            message |= {"content": None, "tool_calls": [openai_call(*call) for call in reply.calls]}
        return {"message": message}

    def _delta(self, piece: str) -> dict[str, Any]:
        """Return the content of a chunk with a piece of the text."""
        if self.tool is None:
            return {"delta": {"content": piece}}
        return {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}

    def _last_delta(self, reply: Reply) -> dict[str, Any]:
        """Return the content of the last chunk: what the pieces did not say."""
        if not reply.calls or self.tool is not None:
            return {"delta": {}}
        calls = [{"index": index, **openai_call(*call)} for index, call in enumerate(reply.calls)]
        return {"delta": {"tool_calls": calls}}

    def _logprobs(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the log-probabilities of tokens as the endpoint has them."""
        return {"content": entries}


class CompletionWriter(ChatWriter):
    """Writes the responses of `/v1/completions`: as those of a chat, with plain text in place of messages."""

    prefix = "cmpl"
    kind = chunk_kind = "text_completion"

    def _first_deltas(self) -> list[dict[str, Any]]:
        return []

    def _content(self, reply: Reply) -> dict[str, Any]:
        return {"text": reply.text}

    def _delta(self, piece: str) -> dict[str, Any]:
        return {"text": piece}

    def _last_delta(self, reply: Reply) -> dict[str, Any]:  # noqa: ARG002  all of it has been sent
        return {"text": ""}

    def _logprobs(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        tokens = [entry["token"] for entry in entries]
        alternatives = [{other["token"]: other["logprob"] for other in entry["top_logprobs"]} for entry in entries]
        return {
            "tokens": tokens,
            "token_logprobs": [entry["logprob"] for entry in entries],
            "top_logprobs": alternatives if self.alternatives_per_token else None,
            "text_offset": list(itertools.accumulate(map(len, tokens[:-1]), initial=0))[: len(tokens)],
        }


def marks_of(generations: Sequence[Generation]) -> dict[str, bool]:
    """Return the members that mark an answer which is valid and may be incomplete; none for another."""
    marks = {"shortened": True} if any(generation.shortened for generation in generations) else {}
    is_repetitive = any(generation.diagnostics.repetitions for generation in generations)
    return {**marks, "repetitive": True} if is_repetitive else marks


def marks_of_reply(reply: Reply) -> dict[str, bool]:
    """Return the members that mark a reply; free text may end anywhere."""
    is_free, generation = reply.responder.is_free, reply.generation
    return {} if is_free and generation.shortened else marks_of([generation])


def finish_reason(reply: Reply) -> str:
    """Return why a reply ends: "length" if the model would have written more."""
    if reply.is_cut_short:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def openai_call(name: str, arguments: str) -> dict[str, Any]:
    """Return an entry of `tool_calls`, given the arguments as JSON text."""
    return {"id": f"call_{uuid4().hex[:24]}", "type": "function", "function": {"name": name, "arguments": arguments}}


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
    return Response(_result_to_json(result, evidence=evidence), media_type="application/json")


def response_of_all(results: Sequence[Result[Any]], *, evidence: bool) -> Response:
    """Return the answer for several documents, with errors in place of values."""

    def member(result: Result[Any]) -> str:
        try:
            return _result_to_json(result, evidence=evidence)
        except RequestError as error:
            return json.dumps(error.body())

    return Response(f'{{"results": [{", ".join(map(member, results))}]}}', media_type="application/json")


def _result_to_json(result: Result[Any], *, evidence: bool) -> str:
    """Return a result as JSON text. Raises RequestError for an error, and for a value that cannot be written so."""
    try:
        members = _members(result, evidence=evidence)
    except Exception as error:
        raise RequestError.of(error_of_one(error, f"Reading the result of document {result.position}")) from error
    try:
        return json.dumps(members, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(422, f"The value cannot be written as JSON: {error}.", code="GenerationError") from error


def _members(result: Result[Any], *, evidence: bool) -> dict[str, Any]:
    value = result.value
    with suppress(ValueError):  # of data that is nested too deeply for Pydantic
        value = to_jsonable_python(value)
    members = {"value": value, **marks_of(result.generations)}
    if evidence:
        cost = result.usage
        members |= {
            **({"missing": list(result.missing)} if result.missing else {}),
            "confidence": result.confidence,
            "evidence": result.rows(),
            **({"flags": list(map(asdict, result.flags))} if result.flags else {}),
            "usage": usage(cost.prompt_tokens, cost.sampled_tokens + cost.forced_tokens),
        }
    return members
