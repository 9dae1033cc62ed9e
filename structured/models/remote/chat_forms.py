"""The forms of servers with OpenAI's `/v1/chat/completions`: each says in members of its own what an answer must be.

Sources: OpenAI's API reference, "Chat" and the guide "Structured outputs"; vLLM's "Structured Outputs"; SGLang's
"Structured Outputs"; README.md of llama.cpp's server.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from structured.errors import StructuredError
from structured.errors.error_data import data_to_error
from structured.models.remote.exchange import ServedToken, ServerAnswer, ServerRequest
from structured.models.remote.form import Envelope, Form, Unreadable, checked, choice_schema, cut_off, wrapped
from structured.models.remote.gbnf_writer import pattern_to_gbnf, words_to_gbnf
from structured.output_types.described_types import type_to_data
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import (
    ChoiceConstraint,
    Constraint,
    DescribedConstraint,
    GrammarConstraint,
    JsonConstraint,
    RegexConstraint,
)
from structured.regex import words

_MEMBER = "answer"


class ChatForm(Form):
    """What these servers have in common."""

    path = "/v1/chat/completions"
    limit: ClassVar[str] = "max_tokens"
    """The member that says how long an answer may be."""

    def body(self, model: str, request: ServerRequest, *, stream: bool = False) -> dict[str, Any]:
        """Return what is sent."""
        sent: dict[str, Any] = {"model": model} if model else {}
        sent |= {"messages": [dict(turn) for turn in request.messages], self.limit: request.max_tokens}
        sent |= request.sampling
        if request.logprobs:
            sent["logprobs"] = True
        if stream:
            sent |= {"stream": True, "stream_options": {"include_usage": True}}
        return sent if request.constraint is None else sent | self.members(request.constraint)

    def members(self, constraint: Constraint) -> dict[str, Any]:
        """Return the members that say what an answer must be. Raises SchemaError for what cannot be enforced."""
        raise self.refused(constraint)

    def read(self, data: Any) -> ServerAnswer:
        """Return the first choice."""
        [choice, *_] = data["choices"]
        message, logprobs = choice["message"], choice.get("logprobs") or {}
        text = message.get("content") or ""
        if not isinstance(text, str):
            raise Unreadable("content is no text")
        return _answer(text, message.get("refusal"), choice, logprobs.get("content"), data)

    def chunks(self, lines: Iterable[str]) -> Iterator[Any]:
        """Yield the data of server-sent events up to the last one."""
        for line in lines:
            if line.startswith("data:"):
                data = line.removeprefix("data:").strip()
                if data == "[DONE]":
                    return
                yield checked(json.loads(data))
        raise Unreadable("the stream has no end")

    def piece(self, chunk: Any) -> str:
        """Return the content of a part."""
        return "".join(one.get("delta", {}).get("content") or "" for one in chunk.get("choices", ()))

    def joined(self, text: str, chunks: list[Any]) -> ServerAnswer:
        """Return the whole of a stream."""
        choices = [one for chunk in chunks for one in chunk.get("choices", ())]
        told = [token for one in choices for token in (one.get("logprobs") or {}).get("content") or ()]
        ends = [one for one in choices if one.get("finish_reason")]
        refusal = "".join(one.get("delta", {}).get("refusal") or "" for one in choices)
        usage: Any = next((chunk for chunk in reversed(chunks) if chunk.get("usage")), {})
        return _answer(text, refusal, ends[-1] if ends else {}, told, usage)


def _answer(text: str, refusal: str | None, choice: Any, logprobs: Any, data: Any) -> ServerAnswer:
    """Return an answer, given the choice that says how it ends: `structured serve` marks what it brought to its end."""
    fault, reason = f"The model refused: {refusal}" if refusal else None, choice.get("finish_reason")
    shortened, repetitive = choice.get("shortened") is True, choice.get("repetitive") is True
    if reason in ("length", "content_filter") and not (shortened or repetitive):
        fault = cut_off(f"finish_reason {reason!r}")
    usage = data.get("usage") or {}
    prompted, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    return ServerAnswer(text, fault, prompted, written, served_tokens(text, logprobs or ()), shortened, repetitive)


def served_tokens(text: str, told: Sequence[Any]) -> list[ServedToken]:
    """Return the tokens of a text; none if what is told does not spell it, as where a server leaves tokens out."""
    found, place = [], 0
    spelled = b""
    for one in told:
        piece = bytes(one["bytes"]) if one.get("bytes") is not None else one["token"].encode()
        if spelled == text.encode():
            break  # the end token, which some tell
        found.append(ServedToken(place, place + len(piece), float(one["logprob"])))
        place += len(piece)
        spelled += piece
    return found if spelled == text.encode() else []


def _named_schema(constraint: JsonConstraint, **members: Any) -> dict[str, Any]:
    name = "".join(one if one.isascii() and (one.isalnum() or one in "_-") else "_" for one in constraint.name)[:64]
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name or _MEMBER, "schema": dict(constraint.schema), **members},
        }
    }


class OpenAIForm(ChatForm):
    """OpenAI, and whoever understands its `response_format`: answers are objects, in which others are put."""

    server = "OpenAI's API"
    key = "OPENAI_API_KEY"
    enforces = "JSON Schemas, choices and regular expressions"
    options = frozenset({"seed", "temperature", "top_p"})
    limit = "max_completion_tokens"

    def members(self, constraint: Constraint) -> dict[str, Any]:
        """Return a strict schema."""
        match constraint:
            case JsonConstraint():
                found = constraint
            case ChoiceConstraint():
                found = JsonConstraint(choice_schema(constraint.texts), "choice")
            case RegexConstraint():
                found = JsonConstraint({"type": "string", "pattern": f"^(?:{constraint.portable})$"}, "match")
            case _:
                raise self.refused(constraint)
        if not found.is_object:
            found = JsonConstraint(wrapped(found, _MEMBER), found.name)
        return _named_schema(found, strict=True)

    def envelope(self, constraint: Constraint | None) -> Envelope:
        """Return the object that an answer stands in which is none itself."""
        if constraint is None or (isinstance(constraint, JsonConstraint) and constraint.is_object):
            return Envelope()
        return Envelope(_MEMBER, is_string=not isinstance(constraint, JsonConstraint))


class VllmForm(ChatForm):
    """vLLM, from 0.11: `structured_outputs`."""

    server = "vLLM"
    key = "VLLM_API_KEY"
    enforces = "JSON Schemas, choices, regular expressions and grammars in GBNF"

    def members(self, constraint: Constraint) -> dict[str, Any]:
        """Return the schema as OpenAI has it, and others in words of its own."""
        match constraint:
            case JsonConstraint():
                return _named_schema(constraint)
            case ChoiceConstraint():
                return {"structured_outputs": {"choice": list(constraint.texts)}}
            case RegexConstraint():
                return {"structured_outputs": {"regex": constraint.portable}}
            case GrammarConstraint(language="GBNF"):
                return {"structured_outputs": {"grammar": constraint.text}}
        raise self.refused(constraint)


class SglangForm(ChatForm):
    """SGLang: `regex` and `ebnf`, beside `response_format`."""

    server = "SGLang"
    key = "SGLANG_API_KEY"
    enforces = "JSON Schemas, choices, regular expressions and grammars in GBNF"

    def members(self, constraint: Constraint) -> dict[str, Any]:
        """Return the schema as OpenAI has it, and others in words of its own; a choice is a regular expression."""
        match constraint:
            case JsonConstraint():
                return _named_schema(constraint)
            case ChoiceConstraint():
                return {"regex": f"({words(constraint.texts)})"}
            case RegexConstraint():
                return {"regex": constraint.portable}
            case GrammarConstraint(language="GBNF"):
                return {"ebnf": constraint.text}
        raise self.refused(constraint)


class LlamaCppForm(ChatForm):
    """The server of llama.cpp: `response_format` with the schema in it, and `grammar`."""

    server = "The server of llama.cpp"
    key = "LLAMA_API_KEY"
    enforces = "JSON Schemas, choices, regular expressions and grammars in GBNF"
    needs_name = False

    def members(self, constraint: Constraint) -> dict[str, Any]:
        """Return a schema or a grammar; choices and regular expressions are grammars."""
        match constraint:
            case JsonConstraint():
                return {"response_format": {"type": "json_schema", "schema": dict(constraint.schema)}}
            case ChoiceConstraint():
                return {"grammar": words_to_gbnf(constraint.texts)}
            case RegexConstraint():
                return {"grammar": pattern_to_gbnf(constraint.pattern)}
            case GrammarConstraint(language="GBNF"):
                return {"grammar": constraint.text}
        raise self.refused(constraint)


class StructuredForm(ChatForm):
    """`structured serve`: the document is sent, and the server makes the prompt of it."""

    server = "structured serve"
    key = "STRUCTURED_API_KEY"
    enforces = "types, JSON Schemas, choices, regular expressions and grammars"
    options = ChatForm.options | {"stop_repetition"}
    needs_name = False
    writes_prompts = True

    def error(self, said: Mapping[str, Any]) -> StructuredError | None:
        """Return what the library raised there, if it is the fault of what was asked."""
        return data_to_error(said)

    def constraint(self, output_type: OutputType[Any]) -> Constraint:
        """Return a type as it is, so that the server enforces what this library does, and describes it as here."""
        return DescribedConstraint(type_to_data(output_type))

    def members(self, constraint: Constraint) -> dict[str, Any]:
        """Return the type as plain data, which is no other server's."""
        match constraint:
            case DescribedConstraint(data=data):
                return {"structured_outputs": {"constraint": dict(data)}}
        raise self.refused(constraint)
