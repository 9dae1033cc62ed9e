"""The form of Ollama: `/api/chat` with a JSON Schema as its `format`. Source: docs/api.md of Ollama."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from structured.models.remote.exchange import ServerAnswer, ServerRequest
from structured.models.remote.form import Envelope, Form, Unreadable, checked, choice_schema, cut_off
from structured.output_types.remote_constraints import ChoiceConstraint, Constraint, JsonConstraint


class OllamaForm(Form):
    """Ollama."""

    server = "Ollama"
    key = "OLLAMA_API_KEY"
    path = "/api/chat"
    enforces = "JSON Schemas and choices"
    tells_probabilities = False

    def body(self, model: str, request: ServerRequest, *, stream: bool = False) -> dict[str, Any]:
        """Return what is sent."""
        sent: dict[str, Any] = {
            "model": model,
            "messages": [dict(turn) for turn in request.messages],
            "stream": stream,
            "options": {"num_predict": request.max_tokens, **request.sampling},
        }
        match request.constraint:
            case None:
                return sent
            case JsonConstraint(schema=schema):
                return {**sent, "format": dict(schema)}
            case ChoiceConstraint(texts=texts):
                return {**sent, "format": choice_schema(texts)}
        raise self.refused(request.constraint)

    def envelope(self, constraint: Constraint | None) -> Envelope:
        """Return the JSON string that a choice stands in."""
        return Envelope(is_string=isinstance(constraint, ChoiceConstraint))

    def read(self, data: Any) -> ServerAnswer:
        """Return the message."""
        return self.joined(self.piece(data), [data])

    def chunks(self, lines: Iterable[str]) -> Iterator[Any]:
        """Yield the JSON of each line, the last of which is done."""
        for line in lines:
            if line.strip():
                chunk = checked(json.loads(line))
                yield chunk
                if chunk.get("done"):
                    return
        raise Unreadable("the stream has no end")

    def piece(self, chunk: Any) -> str:
        """Return the content of a part."""
        text: str = chunk["message"]["content"]
        return text

    def joined(self, text: str, chunks: list[Any]) -> ServerAnswer:
        """Return the whole of a stream, the last part of which has the figures."""
        last = chunks[-1]
        fault = cut_off("done_reason 'length'") if last.get("done_reason") == "length" else None
        return ServerAnswer(text, fault, last.get("prompt_eval_count", 0), last.get("eval_count", 0))
