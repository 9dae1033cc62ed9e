"""Replies to chats, texts or calls of tools, and how prompts show calls and their results.

Where calls and an answer are both allowed, the model first lists its calls; where the list is empty, it is asked for
the answer. A union of both was not taken: a small model that begins with the wrong branch cannot leave it.

A prompt has no role for tools. A call is written as the assistant would write it here. Its result is in a message of
the user, indented, so that no line of it passes for anything else:

    assistant: [{"name": "weather", "arguments": {"city": "Porto"}}]
    user: The result of weather({"city": "Porto"}):
        sunny
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from textwrap import indent
from typing import Any

from structured.decoding.requests import Generation
from structured.extraction.extractor import Extractor
from structured.extraction.prompts import TextOrChat
from structured.extraction.stream import Stream
from structured.output_types.call_types import FunctionType, ToolType
from structured.output_types.combining.text import Text
from structured.output_types.functions import ARGUMENTS, Call, Tool
from structured.output_types.json_schema import JsonSchema
from structured.output_types.output_type import OutputType
from structured.results.result import Result


def calls_to_text(calls: Iterable[tuple[str, str]]) -> str:
    """Return calls, names with arguments as JSON text, as the assistant would write them; nothing for none."""
    entries = ", ".join(f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}' for name, arguments in calls)
    return f"[{entries}]" if entries else ""


def result_to_text(name: str, arguments: str, result: str) -> str:
    """Return the result of a call as the user would write it."""
    return f"The result of {name}({arguments}):\n{indent(result, '    ', lambda _: True)}"


def free_text(stops: Sequence[str]) -> OutputType[str]:
    """Return the output type of text that ends where the model ends it, or with a stop phrase, which is left out."""
    return Text(stop=stops) | Text(lacks=stops) if stops else Text()


def arguments_type(tool: Tool) -> JsonSchema:
    """Return the type of the arguments of a tool, with its description."""
    description = {"description": tool.description} if tool.description else {}
    return JsonSchema({**tool.parameters, **description}, name=tool.name)


@dataclass(frozen=True, slots=True)
class Responder:
    """What replies to chats with a text or with calls of tools: an extractor, and how its answers are read."""

    extractor: Extractor[Any]
    is_free: bool = False
    """Whether the answer is free text."""
    stops: Sequence[str] = ()
    """The phrases that end free text."""
    tool: str | None = None
    """The tool that is called, whose arguments the extractor writes."""
    calls_at_most: int | None = None
    """How many of the calls count, the first ones; None for all."""
    fallback: "Responder | None" = None
    """What replies in place of this one where the model lists no calls."""

    @property
    def writes_calls(self) -> bool:
        """Whether the extractor writes calls, which are not shown before they are whole."""
        return isinstance(self.extractor.output_type, FunctionType | ToolType)

    def replies(self, documents: Sequence[TextOrChat]) -> list["Reply"]:
        """Return the reply to each document. Raises the errors of the library."""
        noun = "the text" if len(documents) == 1 else None
        results = self.extractor.results(documents, progress=False, document_name=noun)
        replies = [self._read(result) for result in sorted(results, key=attrgetter("position"))]
        without_calls = [position for position, reply in enumerate(replies) if not reply.calls]
        if self.fallback is None or not without_calls:
            return replies
        fallback_replies = self.fallback.replies([documents[position] for position in without_calls])
        for position, reply in zip(without_calls, fallback_replies, strict=True):
            replies[position] = replace(reply, empty_calls=replies[position].result)
        return replies

    def stream(self, document: TextOrChat) -> Iterator["str | Reply"]:
        """Return the pieces of the reply to a document, and last the whole; of calls, the pieces are empty.

        Raises the errors of the library, also in the middle.
        """
        return self._pieces(document, self.extractor.stream(document))

    def _pieces(self, document: TextOrChat, stream: Stream[Any]) -> Iterator["str | Reply"]:
        sent, held_back = 0, max(map(len, self.stops), default=0)  # what may be a part of a stop phrase
        for _ in stream:
            end = 0 if self.writes_calls else max(len(stream.text) - held_back, sent)
            yield stream.text[sent:end]
            sent = end
        reply = self._read(stream.result())
        if self.fallback is not None and not reply.calls:
            for piece in self.fallback.stream(document):
                yield piece if isinstance(piece, str) else replace(piece, empty_calls=reply.result)
            return
        yield "" if self.writes_calls else reply.text[sent:]
        yield reply

    def _read(self, result: Result[Any]) -> "Reply":
        """Return a result as a reply. Raises the error of the result, if it has one."""
        value = result.value
        text = value if self.is_free else result.text or ""
        calls = [(self.tool, text)] if self.tool is not None else _calls(value)
        return Reply(self, result, text, calls[: self.calls_at_most])


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a chat: a text, or calls of tools."""

    responder: Responder
    result: Result[Any]
    text: str
    """The written text. Free text ends before its stop phrase."""
    calls: Sequence[tuple[str, str]]
    """The calls, as names with arguments as JSON text; empty for a text."""
    empty_calls: Result[Any] | None = None
    """The empty list of calls that the model wrote before, where this reply is of the responder's fallback."""

    @property
    def generation(self) -> Generation:
        """The text that the model wrote; without tokens, if it was merged from those about the chunks of a document."""
        return self.result.generations[0]

    @property
    def is_cut_short(self) -> bool:
        """Whether the model would have written more: it ran out of tokens, or repeated itself."""
        return self.generation.shortened or self.generation.diagnostics.repetitions > 0


def _calls(value: object) -> list[tuple[str, str]]:
    """Return the calls that a value is, or holds."""
    calls = [call for call in (value if isinstance(value, list) else [value]) if isinstance(call, Call)]
    return [(call.name, json.dumps(call.to_data()[ARGUMENTS], ensure_ascii=False)) for call in calls]
