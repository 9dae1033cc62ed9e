"""The APIs of servers: OpenAI's `/v1/chat/completions`, with fields of each server for constraints, and Ollama's.

Sources: OpenAI's API reference, "Chat" and the guide "Structured outputs"; vLLM's "Structured Outputs"; SGLang's
"Structured Outputs"; README.md of llama.cpp's server, and its grammars/README.md for GBNF; docs/api.md of Ollama.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from structured.errors import SchemaError, StructuredError
from structured.errors.recursion import deep
from structured.integrations.error_data import data_to_error
from structured.models.server_api import (
    Envelope,
    ServedToken,
    ServerAnswer,
    ServerApi,
    ServerRequest,
    Unreadable,
    checked,
    choice_schema,
    cut_off,
    wrapped,
)
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
from structured.regex import Alternation, CharSet, Concat, Iteration, Literal, Pattern, Words, words
from structured.regex.printing import quantifier

_ENVELOPE_MEMBER = "answer"

ConstraintFields: TypeAlias = Mapping[type[Constraint], Callable[[Any], dict[str, Any]]]
"""The members of a request for each kind of constraint; of grammars, only those in GBNF are passed."""


class TableApi(ServerApi):
    """The API of a server that takes constraints in fields of a request."""

    fields: ClassVar[ConstraintFields]

    def request_fields(self, constraint: Constraint | None) -> dict[str, Any]:
        """Return the fields for a constraint. Raises SchemaError where the server cannot enforce it."""
        if constraint is None:
            return {}
        is_other_grammar = isinstance(constraint, GrammarConstraint) and constraint.language != "GBNF"
        if type(constraint) not in self.fields or is_other_grammar:
            raise SchemaError(
                f"{self.server} cannot be asked for {constraint.kind}; it takes {self.enforces}",
                remedy="Ask for that, or use connect(…, enforced=False): then answers are only validated when they are "
                "there, and asked for again.",
            )
        return self.fields[type(constraint)](constraint)


class ChatApi(TableApi):
    """The API that OpenAI and the servers that follow it have in common."""

    path = "/v1/chat/completions"
    enforces = "JSON Schemas, choices, regular expressions and grammars in GBNF"
    limit: ClassVar[str] = "max_tokens"
    """The field for the length of an answer."""

    def body(self, model: str, request: ServerRequest, *, stream: bool = False) -> dict[str, Any]:
        """Return the body of a request."""
        body: dict[str, Any] = {"model": model} if model else {}
        body |= {"messages": [dict(turn) for turn in request.messages], self.limit: request.max_tokens}
        body |= request.sampling
        if request.logprobs:
            body["logprobs"] = True
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body | self.request_fields(request.constraint)

    def read(self, data: Any) -> ServerAnswer:
        """Return the first choice."""
        [choice, *_] = data["choices"]
        message, logprobs = choice["message"], (choice.get("logprobs") or {}).get("content")
        text = message.get("content") or ""
        if not isinstance(text, str):
            raise Unreadable("content is not text")
        return _choice_to_answer(text, message.get("refusal"), choice, logprobs, data)

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
        return "".join(choice.get("delta", {}).get("content") or "" for choice in chunk.get("choices", ()))

    def joined(self, text: str, chunks: list[Any]) -> ServerAnswer:
        """Return the answer of a whole stream."""
        choices = [choice for chunk in chunks for choice in chunk.get("choices", ())]
        logprobs = [token for choice in choices for token in (choice.get("logprobs") or {}).get("content") or ()]
        last: Any = next((choice for choice in reversed(choices) if choice.get("finish_reason")), {})
        refusal = "".join(choice.get("delta", {}).get("refusal") or "" for choice in choices)
        usage: Any = next((chunk for chunk in reversed(chunks) if chunk.get("usage")), {})
        return _choice_to_answer(text, refusal, last, logprobs, usage)


def _choice_to_answer(text: str, refusal: str | None, choice: Any, logprobs: Any, data: Any) -> ServerAnswer:
    """Return an answer, given the choice that says how it ends: `structured serve` marks answers that it closed."""
    fault, reason = f"The model refused: {refusal}" if refusal else None, choice.get("finish_reason")
    shortened, repetitive = choice.get("shortened") is True, choice.get("repetitive") is True
    if reason == "content_filter":
        fault = cut_off("finish_reason 'content_filter'", "Change the text, or the filter of the server.")
    elif reason == "length" and not (shortened or repetitive):
        fault = cut_off("finish_reason 'length'")
    usage = data.get("usage") or {}
    prompted, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    return ServerAnswer(text, fault, prompted, written, served_tokens(text, logprobs or ()), shortened, repetitive)


def served_tokens(text: str, logprobs: Sequence[Any]) -> list[ServedToken]:
    """Return the tokens of a text; none if they do not spell it, as where a server leaves tokens out."""
    tokens: list[ServedToken] = []
    data, spelling = text.encode(), b""
    for token in logprobs:
        if spelling == data:
            break  # the end token, which some servers report
        piece = bytes(token["bytes"]) if token.get("bytes") is not None else token["token"].encode()
        tokens.append(ServedToken(len(spelling), len(spelling) + len(piece), float(token["logprob"])))
        spelling += piece
    return tokens if spelling == data else []


def _named_schema(constraint: JsonConstraint, **members: Any) -> dict[str, Any]:
    name = re.sub(r"[^A-Za-z0-9_-]", "_", constraint.name)[:64] or _ENVELOPE_MEMBER
    schema = {"name": name, "schema": dict(constraint.schema), **members}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _strict_schema(constraint: JsonConstraint) -> dict[str, Any]:
    if not constraint.is_object:
        constraint = JsonConstraint(wrapped(constraint, _ENVELOPE_MEMBER), constraint.name)
    return _named_schema(constraint, strict=True)


class OpenAIApi(ChatApi):
    """OpenAI, and servers that take its `response_format`: answers are objects; other values become a member of one."""

    server = "OpenAI's API"
    key = "OPENAI_API_KEY"
    enforces = "JSON Schemas, choices and regular expressions"
    sampling_options = frozenset({"seed", "temperature", "top_p"})
    limit = "max_completion_tokens"
    fields: ClassVar[ConstraintFields] = {
        JsonConstraint: _strict_schema,
        ChoiceConstraint: lambda choice: _strict_schema(JsonConstraint(choice_schema(choice.texts), "choice")),
        RegexConstraint: lambda regex: _strict_schema(
            JsonConstraint({"type": "string", "pattern": f"^(?:{regex.portable})$"}, "match")
        ),
    }

    def envelope(self, constraint: Constraint | None) -> Envelope:
        """Return the object around an answer that is no object itself."""
        if constraint is None or (isinstance(constraint, JsonConstraint) and constraint.is_object):
            return Envelope()
        return Envelope(_ENVELOPE_MEMBER, is_string=not isinstance(constraint, JsonConstraint))


class VllmApi(ChatApi):
    """vLLM, from 0.11: `structured_outputs`, beside `response_format`."""

    server = "vLLM"
    key = "VLLM_API_KEY"
    fields: ClassVar[ConstraintFields] = {
        JsonConstraint: _named_schema,
        ChoiceConstraint: lambda choice: {"structured_outputs": {"choice": list(choice.texts)}},
        RegexConstraint: lambda regex: {"structured_outputs": {"regex": regex.portable}},
        GrammarConstraint: lambda grammar: {"structured_outputs": {"grammar": grammar.text}},
    }


class SglangApi(ChatApi):
    """SGLang: `regex` and `ebnf`, beside `response_format`."""

    server = "SGLang"
    key = "SGLANG_API_KEY"
    fields: ClassVar[ConstraintFields] = {
        JsonConstraint: _named_schema,
        ChoiceConstraint: lambda choice: {"regex": f"({words(choice.texts)})"},
        RegexConstraint: lambda regex: {"regex": regex.portable},
        GrammarConstraint: lambda grammar: {"ebnf": grammar.text},
    }


class LlamaCppApi(ChatApi):
    """The server of llama.cpp: `response_format` with the schema in it, and `grammar`."""

    server = "The server of llama.cpp"
    key = "LLAMA_API_KEY"
    needs_name = False
    fields: ClassVar[ConstraintFields] = {
        JsonConstraint: lambda schema: {"response_format": {"type": "json_schema", "schema": dict(schema.schema)}},
        ChoiceConstraint: lambda choice: {"grammar": words_to_gbnf(choice.texts)},
        RegexConstraint: lambda regex: {"grammar": pattern_to_gbnf(regex.pattern)},
        GrammarConstraint: lambda grammar: {"grammar": grammar.text},
    }


class StructuredApi(ChatApi):
    """`structured serve`: the document is sent, and the server makes the prompt of it."""

    server = "structured serve"
    key = "STRUCTURED_API_KEY"
    enforces = "types, JSON Schemas, choices, regular expressions and grammars"
    sampling_options = ChatApi.sampling_options | {"stop_repetition"}
    needs_name = False
    writes_prompts = True
    fields: ClassVar[ConstraintFields] = {
        DescribedConstraint: lambda described: {"structured_outputs": {"constraint": dict(described.data)}}
    }

    def error(self, data: Mapping[str, Any]) -> StructuredError | None:
        """Return the error that the library raised there, if the request was at fault."""
        return data_to_error(data)

    def constraint(self, output_type: OutputType[Any]) -> Constraint:
        """Return the type itself, so that the server enforces and describes it as this library does here."""
        return DescribedConstraint(type_to_data(output_type))


class OllamaApi(TableApi):
    """Ollama: `/api/chat` with a JSON Schema as its `format`."""

    server = "Ollama"
    key = "OLLAMA_API_KEY"
    path = "/api/chat"
    enforces = "JSON Schemas and choices"
    tells_probabilities = False
    fields: ClassVar[ConstraintFields] = {
        JsonConstraint: lambda schema: {"format": dict(schema.schema)},
        ChoiceConstraint: lambda choice: {"format": choice_schema(choice.texts)},
    }

    def body(self, model: str, request: ServerRequest, *, stream: bool = False) -> dict[str, Any]:
        """Return the body of a request."""
        sampling_options = {"num_predict": request.max_tokens, **request.sampling}
        messages = [dict(turn) for turn in request.messages]
        body: dict[str, Any] = {"model": model, "messages": messages, "stream": stream, "options": sampling_options}
        return body | self.request_fields(request.constraint)

    def envelope(self, constraint: Constraint | None) -> Envelope:
        """Return the JSON string around a choice."""
        return Envelope(is_string=isinstance(constraint, ChoiceConstraint))

    def read(self, data: Any) -> ServerAnswer:
        """Return the message."""
        return self.joined(self.piece(data), [data])

    def chunks(self, lines: Iterable[str]) -> Iterator[Any]:
        """Yield the JSON of each line, up to the line that is `done`."""
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
        """Return the answer of a whole stream; its last part has the token counts."""
        last = chunks[-1]
        fault = cut_off("done_reason 'length'") if last.get("done_reason") == "length" else None
        return ServerAnswer(text, fault, last.get("prompt_eval_count", 0), last.get("eval_count", 0))


SERVER_APIS: dict[str, ServerApi] = {
    "llamacpp": LlamaCppApi(),
    "ollama": OllamaApi(),
    "openai": OpenAIApi(),
    "sglang": SglangApi(),
    "structured": StructuredApi(),
    "vllm": VllmApi(),
}
"""The API of each kind of server, by the scheme of its addresses."""


def words_to_gbnf(texts: Iterable[str]) -> str:
    """Return the grammar of some texts in GBNF: `["yes", "no"]` → `root ::= "yes" | "no"`."""
    return f"root ::= {' | '.join(map(_quote, texts))}"


def pattern_to_gbnf(pattern: Pattern) -> str:
    """Return the grammar of a pattern's texts in GBNF. Raises SchemaError for nodes that GBNF lacks."""
    return f"root ::= {_pattern_to_expression(pattern)}"


@deep
def _pattern_to_expression(pattern: Pattern) -> str:
    match pattern:
        case Literal():
            return _quote(pattern.text)
        case Words():
            return f"({' | '.join(map(_quote, pattern.texts))})"
        case CharSet():
            return f"[{''.join(map(_range_to_gbnf, pattern.ranges))}]"
        case Concat():
            return " ".join(map(_pattern_to_expression, pattern.parts))
        case Alternation():
            return f"({' | '.join(map(_pattern_to_expression, pattern.options))})"
        case Iteration():
            return f"({_pattern_to_expression(pattern.item)}){quantifier(pattern.minimum, pattern.maximum)}"
    raise SchemaError(
        "The regular expression has lookaround that GBNF, the language of llama.cpp, has no short form for",
        remedy="Write it without lookaround, or use a model that runs here.",
    )


def _range_to_gbnf(characters: tuple[int, int]) -> str:
    low, high = characters
    return _escape(low) if low == high else f"{_escape(low)}-{_escape(high)}"


def _quote(text: str) -> str:
    return f'"{"".join(map(_escape, map(ord, text)))}"'


def _escape(code_point: int) -> str:
    character = chr(code_point)
    if character.isascii() and (character.isalnum() or character == " "):
        return character
    if code_point < 0x100:
        return f"\\x{code_point:02X}"
    return f"\\u{code_point:04X}" if code_point < 0x10000 else f"\\U{code_point:08X}"
