"""Questions that are answered with a text or with calls of tools, and how prompts show calls and their results.

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
from structured.output_types.functions import ARGUMENTS, Call
from structured.output_types.output_type import OutputType
from structured.results.result import Result


def calls_to_text(calls: Iterable[tuple[str, str]]) -> str:
    """Return calls, names with arguments as JSON text, as the assistant would write them; nothing for none."""
    listed = ", ".join(f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}' for name, arguments in calls)
    return listed and f"[{listed}]"


def result_to_text(name: str, arguments: str, result: str) -> str:
    """Return the result of a call as the user would write it."""
    return f"The result of {name}({arguments}):\n{indent(result, '    ', lambda _: True)}"


def free_text(stops: Sequence[str]) -> OutputType[str]:
    """Return the output type of text that ends where the model ends it, or with a stop phrase, which is left out."""
    return Text(stop=stops) | Text(lacks=stops) if stops else Text()


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the model is asked about documents, and another in place of it where the answer has no calls."""

    extractor: Extractor[Any]
    is_free: bool = False
    """Whether the answer is free text."""
    stops: Sequence[str] = ()
    """The phrases that end free text."""
    tool: str | None = None
    """The tool that is called, whose arguments are the answer."""
    calls_at_most: int | None = None
    """How many of the calls count, the first ones; None for all."""
    otherwise: "Question | None" = None
    """The question in place of this one where the answer is an empty list of calls."""

    @property
    def is_of_calls(self) -> bool:
        """Whether the answer is written as calls, which are not shown before they are whole."""
        return isinstance(self.extractor.output_type, FunctionType | ToolType)

    def answers(self, documents: Sequence[TextOrChat]) -> list["Reply"]:
        """Return the answer about each document. Raises the errors of the library."""
        named = "the text" if len(documents) == 1 else None
        results = self.extractor.results(documents, progress=False, named=named)
        answers = [self._read(result) for result in sorted(results, key=attrgetter("position"))]
        uncalled = [position for position, answer in enumerate(answers) if not answer.calls]
        if self.otherwise is None or not uncalled:
            return answers
        others = self.otherwise.answers([documents[position] for position in uncalled])
        for position, other in zip(uncalled, others, strict=True):
            answers[position] = replace(other, before=answers[position].result)
        return answers

    def streamed(self, document: TextOrChat) -> Iterator["str | Reply"]:
        """Return the pieces of the answer about a document, and last the whole; of calls, the pieces are empty.

        Raises the errors of the library, also in the middle.
        """
        return self._pieces(document, self.extractor.stream(document))

    def _pieces(self, document: TextOrChat, stream: Stream[Any]) -> Iterator["str | Reply"]:
        sent, held_back = 0, max(map(len, self.stops), default=0)  # what may be a part of a stop phrase
        for _ in stream:
            end = 0 if self.is_of_calls else max(len(stream.text) - held_back, sent)
            yield stream.text[sent:end]
            sent = end
        answer = self._read(stream.result())
        if self.otherwise is not None and not answer.calls:
            for piece in self.otherwise.streamed(document):
                yield piece if isinstance(piece, str) else replace(piece, before=answer.result)
            return
        yield "" if self.is_of_calls else answer.text[sent:]
        yield answer

    def _read(self, result: Result[Any]) -> "Reply":
        """Return what a result says. Raises the error of the result, if it has one."""
        value = result.value
        text = value if self.is_free else result.text or ""
        calls = [(self.tool, text)] if self.tool is not None else _calls(value)
        return Reply(self, result, text, calls[: self.calls_at_most])


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a question: a text, or calls."""

    question: Question
    result: Result[Any]
    text: str
    """The written text. Free text ends before its stop phrase."""
    calls: Sequence[tuple[str, str]]
    """The calls, as names with arguments as JSON text; none where it is no call."""
    before: Result[Any] | None = None
    """The empty list of calls, where another question was asked first."""

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
