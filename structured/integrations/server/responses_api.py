"""OpenAI's Responses API: its requests as those of a chat, and its answers and events.

Nothing is stored: a member that refers to an earlier response is refused. Source: OpenAI's API reference, "Responses".
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, StrictBool, StrictInt, Tag, ValidationError, model_validator

from structured.integrations.replies import Reply
from structured.integrations.server.request_bodies import (
    MAX_LOGPROBS,
    MAX_TOOLS,
    Body,
    ChatRequest,
    JsonObject,
    OpenAIRequest,
    text_parts_only,
)
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import Piece, Writer, finish_reason, marks_of_reply

Event: TypeAlias = tuple[str, JsonObject]
"""The type of an event, and its other members."""


class ItemPart(Body):
    """A part of the input: what an earlier response has may be sent back as clients write it."""

    @model_validator(mode="before")
    @classmethod
    def _without_additions(cls, data: object) -> object:
        """Leave out what clients add to a response: members without a value, and values that they have parsed."""
        if not isinstance(data, dict):
            return data
        added_names = {name for name, value in data.items() if value is None or name in ("parsed", "parsed_arguments")}
        return {name: value for name, value in data.items() if name not in added_names - cls.model_fields.keys()}


class InputText(ItemPart):
    """A part of a message; `output_text` where the message is an earlier answer."""

    type: Literal["input_text", "output_text", "text"]
    text: str
    annotations: list[JsonObject] | None = None
    logprobs: list[JsonObject] | None = None


class InputItem(ItemPart):
    """An item of the input."""

    id: str | None = None
    status: str | None = None


class InputMessage(InputItem):
    """A message."""

    type: Literal["message"] = "message"
    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str | list[InputText], text_parts_only("input_text", "output_text", "text")]
    phase: str | None = None


class InputCall(InputItem):
    """A call of a function that an earlier response made, its arguments as JSON text."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str


class CallOutput(InputItem):
    """The result of a call."""

    type: Literal["function_call_output"]
    call_id: str
    output: str | list[InputText]


def _item_type(item: object) -> str:
    """Return the type of an item of the input; one without a type is a message."""
    return str(item.get("type", "message") if isinstance(item, dict) else getattr(item, "type", "message"))


Item: TypeAlias = Annotated[
    Annotated[InputMessage, Tag("message")]
    | Annotated[InputCall, Tag("function_call")]
    | Annotated[CallOutput, Tag("function_call_output")],
    Discriminator(
        _item_type,
        custom_error_type="item_type",
        custom_error_message="items are of the type message, function_call or function_call_output here",
    ),
]


class TextFormat(Body):
    """The form of the text: any, a JSON object, or JSON of a schema, with and without `strict`."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    name: str = "answer"
    description: str | None = None
    schema_: JsonObject | bool | None = Field(None, alias="schema")
    strict: StrictBool | None = None

    @model_validator(mode="after")
    def _check_schema(self) -> "TextFormat":
        if (self.type == "json_schema") != (self.schema_ is not None):
            raise ValueError("schema goes with the type json_schema, and with no other")
        return self


class TextConfig(Body):
    """The member `text`."""

    format: TextFormat = Field(default_factory=TextFormat)
    verbosity: None = None


class ChosenFunction(Body):
    """The function that has to be called."""

    type: Literal["function"]
    name: str


class ResponsesRequest(OpenAIRequest):
    """`POST /v1/responses`."""

    input: str | Annotated[list[Item], Field(min_length=1)]
    instructions: str | None = None
    text: TextConfig = Field(default_factory=TextConfig)
    tools: list[JsonObject] | None = Field(None, max_length=MAX_TOOLS)
    tool_choice: Literal["none", "auto", "required"] | ChosenFunction | None = None
    parallel_tool_calls: StrictBool = True
    max_output_tokens: StrictInt | None = Field(None, ge=1)
    top_logprobs: Annotated[StrictInt, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    include: list[Literal["message.output_text.logprobs"]] | None = None
    stream: StrictBool = False
    background: Literal[False] | None = None
    conversation: None = None
    previous_response_id: None = None
    prompt: None = None
    reasoning: None = None
    truncation: Literal["disabled"] | None = None
    max_tool_calls: None = None

    def chat(self) -> ChatRequest:
        """Return the request for a chat that asks the same. Raises RequestError for what a chat cannot be."""
        form = self.text.format
        response_format: JsonObject | None = None if form.type == "text" else {"type": form.type}
        if response_format and form.schema_ is not None:
            schema = {"name": form.name, "description": form.description, "schema": form.schema_}
            response_format["json_schema"] = schema
        choice: Any = self.tool_choice
        if isinstance(choice, ChosenFunction):
            choice = {"type": "function", "function": {"name": choice.name}}
        members: JsonObject = {
            "messages": self._messages(),
            "tools": [_chat_tool(tool) for tool in self.tools] if self.tools else None,
            "tool_choice": choice,
            "parallel_tool_calls": self.parallel_tool_calls,
            "stream": self.stream,
            "response_format": response_format,
            "logprobs": bool(self.include or self.top_logprobs),
            "top_logprobs": self.top_logprobs,
            "structured_outputs": self.structured_outputs and self.structured_outputs.model_dump(by_alias=True),
            **{name: getattr(self, name) for name in ("model", "temperature", "top_p", "seed")},
        }
        try:
            return ChatRequest.model_validate(members)
        except ValidationError as error:
            raise RequestError(400, f"{error.errors()[0]['msg'].removeprefix('Value error, ')}.") from error

    def _messages(self) -> list[JsonObject]:
        """Return the messages of the chat; calls beside each other, and behind an answer, are of one message."""
        messages: list[JsonObject] = [{"role": "system", "content": self.instructions}] if self.instructions else []
        if isinstance(self.input, str):
            return [*messages, {"role": "user", "content": self.input}]
        for item in self.input:
            match item:
                case InputMessage():
                    messages.append({"role": item.role, "content": _text(item.content)})
                case CallOutput():
                    messages.append({"role": "tool", "tool_call_id": item.call_id, "content": _text(item.output)})
                case InputCall():
                    if not messages or messages[-1]["role"] != "assistant":
                        messages.append({"role": "assistant", "content": None})
                    function = {"name": item.name, "arguments": item.arguments}
                    call = {"id": item.call_id, "type": "function", "function": function}
                    messages[-1].setdefault("tool_calls", []).append(call)
        return messages


def _text(content: str | list[InputText]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _chat_tool(tool: JsonObject) -> JsonObject:
    """Return a tool as a chat has it. Raises RequestError for one that is no function."""
    if tool.get("type") != "function":
        problem = f"Tools are of the type 'function' here, and one has {json.dumps(tool.get('type'))}."
        raise RequestError(400, problem, parameter="tools")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


@dataclass(frozen=True, slots=True)
class ResponsesApiWriter(Writer):
    """Writes the responses of `/v1/responses`: an object with items, each of them a message or a call."""

    request: ResponsesRequest = field(kw_only=True)
    tool: str | None = None
    """The tool that is called, whose arguments the text of a stream is."""

    def to_response(self, replies: Sequence[Reply], prompt_tokens: int) -> dict[str, Any]:
        """Return the response to a request."""
        [reply] = replies
        return self._response(reply, self._output_items(reply), prompt_tokens)

    def to_events(self, pieces: Iterable[Piece], *, with_usage: bool) -> Iterator[str]:  # noqa: ARG002  always there
        """Yield the events of a response; that of an error has OpenAI's members, and `error`, which clients raise."""
        for number, (kind, members) in enumerate(self._events(pieces)):
            data = json.dumps({"type": kind, "sequence_number": number, **members}, ensure_ascii=False)
            yield f"event: {kind}\ndata: {data}\n\n"

    def _events(self, pieces: Iterable[Piece]) -> Iterator[Event]:
        in_progress = {"response": self._response(None, [], 0)}
        yield "response.created", in_progress
        yield "response.in_progress", in_progress
        item: JsonObject | None = None
        try:
            for piece in pieces:
                if isinstance(piece, str):
                    if item is None and piece:
                        item = self._call(0, self.tool, "") if self.tool else self._message("")
                        yield from _opening_events(0, item)
                    if item is not None and piece:
                        yield _delta_event(0, item, piece)
                    continue
                reply, prompt_tokens = piece
                items = self._output_items(reply)
                for index, item_done in enumerate(items):
                    if item is None:
                        yield from _opening_events(index, item_done)
                        if _is_call(item_done):
                            yield _delta_event(index, item_done, item_done["arguments"])
                    yield from _closing_events(index, item_done)
                response = self._response(reply, items, prompt_tokens)
                yield f"response.{response['status']}", {"response": response}
        except RequestError as error:
            members = {"message": error.message, "code": error.code, "param": error.parameter}
            yield "error", {**members, **error.body()}

    def _output_items(self, reply: Reply) -> list[JsonObject]:
        """Return the items of an answer; the first one has the ids that it was announced with."""
        if reply.calls:
            return [self._call(index, *call) for index, call in enumerate(reply.calls)]
        status = "incomplete" if finish_reason(reply) == "length" else "completed"
        logprobs = [] if self.alternatives_per_token is None else self.log_probabilities(reply.generation)
        return [self._message(reply.text, status, logprobs)]

    def _message(self, text: str, status: str = "in_progress", logprobs: Sequence[JsonObject] = ()) -> JsonObject:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}
        return {"id": f"msg_{self.id}", "type": "message", "role": "assistant", "status": status, "content": [part]}

    def _call(self, index: int, name: str, arguments: str) -> JsonObject:
        ids = {"id": f"fc_{self.id[:28]}{index:04}", "call_id": f"call_{self.id[:20]}{index:04}"}
        return {**ids, "type": "function_call", "status": "completed", "name": name, "arguments": arguments}

    def _response(self, reply: Reply | None, items: list[JsonObject], prompt_tokens: int) -> JsonObject:
        """Return the object; without an answer, that of a response in progress."""
        request = self.request
        status, tokens = "in_progress", None
        if reply is not None:
            status = "incomplete" if finish_reason(reply) == "length" else "completed"
            completion_tokens = reply.generation.written_tokens
            tokens = {
                "input_tokens": prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": prompt_tokens + completion_tokens,
            }
        return {
            "id": f"resp_{self.id}",
            "object": "response",
            "created_at": self.created,
            "model": self.model,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "output": items,
            "usage": tokens,
            "instructions": request.instructions,
            "max_output_tokens": request.max_output_tokens,
            "metadata": request.metadata or {},
            "parallel_tool_calls": request.parallel_tool_calls,
            "previous_response_id": None,
            "store": False,
            "temperature": request.temperature,
            "text": request.text.model_dump(by_alias=True, exclude_none=True),
            "tool_choice": request.model_dump(include={"tool_choice"})["tool_choice"] or "auto",
            "tools": [{"strict": True, "parameters": None, **tool} for tool in request.tools or ()],
            "top_p": request.top_p,
            "truncation": "disabled",
            **(marks_of_reply(reply) if reply is not None else {}),
        }


def _opening_events(index: int, item: JsonObject) -> Iterator[Event]:
    """Yield the events that announce an item, which is empty."""
    empty: JsonObject = {"arguments": ""} if _is_call(item) else {"content": []}
    yield "response.output_item.added", {"output_index": index, "item": {**item, **empty, "status": "in_progress"}}
    if not _is_call(item):
        part = {**item["content"][0], "text": "", "logprobs": []}
        yield "response.content_part.added", {**_item_location(index, item), "part": part}


def _delta_event(index: int, item: JsonObject, piece: str) -> Event:
    """Return the event of a piece of an item; a message has all log-probabilities at its end."""
    if _is_call(item):
        return "response.function_call_arguments.delta", {**_item_location(index, item), "delta": piece}
    return "response.output_text.delta", {**_item_location(index, item), "delta": piece, "logprobs": []}


def _closing_events(index: int, item: JsonObject) -> Iterator[Event]:
    """Yield the events that end an item."""
    location = _item_location(index, item)
    if _is_call(item):
        call = {"name": item["name"], "arguments": item["arguments"]}
        yield "response.function_call_arguments.done", {**location, **call}
    else:
        [part] = item["content"]
        yield "response.output_text.done", {**location, "text": part["text"], "logprobs": part["logprobs"]}
        yield "response.content_part.done", {**location, "part": part}
    yield "response.output_item.done", {"output_index": index, "item": item}


def _is_call(item: JsonObject) -> bool:
    return bool(item["type"] == "function_call")


def _item_location(index: int, item: JsonObject) -> JsonObject:
    location = {"item_id": item["id"], "output_index": index}
    return location if _is_call(item) else {**location, "content_index": 0}
