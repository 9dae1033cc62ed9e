"""Requests as the library reads them: their output types, their chats and their options."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from textwrap import indent
from typing import Any, cast

from pydantic import BaseModel

from structured.decoding.repetition import Repetition
from structured.errors import PatternError, PromptError, SchemaError
from structured.extraction.options import Options
from structured.extraction.prompts import Conversation
from structured.integrations.server.field_lists import FieldListError, read_fields
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_bodies import (
    ChatRequest,
    GenerationRequest,
    JsonSchemaFormat,
    LibraryRequest,
    Message,
    ToolCall,
)
from structured.integrations.server.request_errors import RequestError
from structured.output_types.call_types import functions
from structured.output_types.choice import Choice
from structured.output_types.combining.text import Text
from structured.output_types.described_types import data_to_type
from structured.output_types.functions import Tool
from structured.output_types.grammar import Grammar
from structured.output_types.json_schema import JsonSchema
from structured.output_types.output_type import OutputType
from structured.output_types.regex import DialectName, Regex


def output_type_of(body: GenerationRequest, limits: Limits) -> OutputType[Any] | JsonSchema | None:
    """Return the output type that a request constrains its answer to; None where the text is free.

    Raises RequestError where it asks for two things at once, for what is too large, or for what cannot be enforced.
    """
    constraints = body.constraints
    if isinstance(body, ChatRequest) and body.uses_tools:
        if body.may_answer:  # then it is for the answer in place of calls
            return _of_member("tools", "tools", body, limits)
        constraints["tools"] = ("tools", body)
    if len(constraints) > 1:
        raise RequestError(400, f"{' and '.join(constraints)} exclude each other.", parameter=next(iter(constraints)))
    if not constraints:
        return None
    [(member, (kind, constraint))] = constraints.items()
    if body.stops:
        raise RequestError(400, f"stop and {member} exclude each other.", parameter="stop")
    return _of_member(member, kind, constraint, limits)


def _of_member(member: str, kind: str, constraint: Any, limits: Limits) -> OutputType[Any] | JsonSchema:
    """Return the output type of a member of a request. Raises RequestError."""
    try:
        return _KINDS[kind](constraint, limits)
    except (SchemaError, PatternError) as error:
        raise RequestError.of(error, member) from error
    except TypeError as error:  # a member of a tool is of the wrong kind
        raise RequestError(400, str(error), parameter=member) from error


def free_text(stops: list[str], limits: Limits) -> OutputType[str]:
    """Return the output type of text that ends where the model ends it, or with a stop phrase, which is left out."""
    check_length("".join(stops), limits, "stop")
    return Text(stop=stops) | Text(lacks=stops) if stops else Text()


def check_length(text: str, limits: Limits, member: str) -> None:
    """Raise RequestError for a constraint that is too long."""
    if len(text) > limits.schema:
        raise RequestError(
            413, f"{member} has {len(text):,} characters; {limits.schema:,} are taken.", parameter=member
        )


def schema_type(schema: Mapping[str, Any] | str | bool, limits: Limits, name: str = "") -> JsonSchema:
    """Return the output type of a JSON Schema; nothing that it refers to is fetched."""
    check_length(schema if isinstance(schema, str) else json.dumps(schema), limits, "The schema")
    return JsonSchema(schema, name=name)


def fields_type(fields: str, limits: Limits) -> type[BaseModel]:
    """Return the type of a list of fields, which is never evaluated. Raises RequestError."""
    check_length(fields, limits, "fields")
    try:
        return read_fields(fields)
    except (FieldListError, RecursionError) as error:
        problem = "its brackets are nested too deeply." if isinstance(error, RecursionError) else str(error)
        raise RequestError(400, f"fields: {problem}", parameter="fields") from None


def regex_type(pattern: str, limits: Limits, dialect: DialectName = "python") -> Regex[str]:
    """Return the output type of a regular expression."""
    check_length(pattern, limits, "The regular expression")
    return Regex(pattern, dialect=dialect)


def choice_type(choices: list[str], limits: Limits) -> Choice[str]:
    """Return the output type of some texts."""
    check_length("".join(choices), limits, "The choice")
    return Choice(choices)


def grammar_type(grammar: str, limits: Limits, start: str | None = None) -> Grammar[str]:
    """Return the output type of a grammar in Lark's language, or in GBNF, whose rules have `::=`."""
    check_length(grammar, limits, "The grammar")
    if _GBNF.search(grammar):
        return Grammar.from_gbnf(grammar, start or "root")
    return Grammar(grammar, start or "start")


_GBNF = re.compile(r"^\s*[\w-]+\s*::=", re.ASCII | re.MULTILINE)
"""How a rule begins in GBNF, and none in Lark's language."""


def described_type(constraint: Mapping[str, Any], limits: Limits) -> OutputType[Any]:
    """Return the output type that another process of this library has written as plain data; no code is in it."""
    check_length(json.dumps(constraint), limits, "The constraint")
    return data_to_type(constraint)


def _of_json(constraint: Any, limits: Limits) -> JsonSchema:
    if isinstance(constraint, JsonSchemaFormat):
        return schema_type(constraint.schema_, limits, constraint.name)
    return schema_type(constraint, limits)


def _of_tools(body: ChatRequest, limits: Limits) -> OutputType[Any] | JsonSchema:
    check_length(json.dumps(body.tools), limits, "tools")
    tools = [Tool.from_openai(one) for one in body.tools or ()]
    name = body.called_tool
    if name is None:
        return functions(*tools, parallel=body.may_answer)
    named = next((one for one in tools if one.name == name), None)
    if named is None:
        raise RequestError(400, f"There is no tool named {name!r}.", parameter="tool_choice")
    described = {"description": named.description} if named.description else {}
    return JsonSchema({**named.parameters, **described}, name=name)


_KINDS: Mapping[str, Callable[[Any, Limits], OutputType[Any] | JsonSchema]] = {
    "json": _of_json,
    "json_object": lambda _, limits: schema_type({"type": "object"}, limits, "JSON"),
    "regex": regex_type,
    "choice": choice_type,
    "grammar": grammar_type,
    "constraint": described_type,
    "tools": _of_tools,
}


def prompt_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return the messages of a prompt, which has no role for tools. Raises RequestError for a result without its call.

    A call is written as the assistant would write it here. Its result begins the next message of the user, indented, so
    that no line of it passes for anything else:

        assistant: [{"name": "weather", "arguments": {"city": "Porto"}}]
        user: The result of weather({"city": "Porto"}):
            sunny
    """
    calls: dict[str | None, ToolCall] = {}
    turns: list[dict[str, str]] = []
    places: list[int] = []
    """The position of the last message of each turn."""
    results: list[str] = []
    for position, message in enumerate(messages):
        calls |= {call.id: call for call in message.tool_calls or ()}
        if message.role == "tool":
            if message.tool_call_id not in calls:
                problem = f"There is no call {message.tool_call_id!r} before its result."
                raise RequestError(400, problem, parameter=f"messages[{position}].tool_call_id")
            results.append(_result(calls[message.tool_call_id], message.text))
        elif message.role == "user":
            turns.append(_user(*results, message.text))
            results = []
        else:
            if results:
                turns.append(_user(*results))
                places.append(position - 1)
            turns.append(
                {"role": "assistant" if message.role == "assistant" else "system", "content": _assistant_text(message)}
            )
            results = []
        if not results:
            places.append(position)
    if results:
        turns.append(_user(*results))
        places.append(len(messages) - 1)
    _check(turns, places)
    return turns


def _check(turns: list[dict[str, str]], places: list[int]) -> None:
    """Raise RequestError for turns that are no chat, by the places of their messages in the request."""
    try:
        Conversation.read(turns, "messages")
    except PromptError as error:
        refused = RequestError.of(error, "messages")
        refused.message = _NAMED.sub(lambda found: f"messages[{places[int(found[1])]}]", refused.message)
        raise refused from error


_NAMED = re.compile(r"[Mm]essage (\d+) of messages")


def _user(*texts: str) -> dict[str, str]:
    return {"role": "user", "content": "\n\n".join(texts)}


def _result(call: ToolCall, text: str) -> str:
    arguments = " ".join(call.function.arguments.split())
    return f"The result of {call.function.name}({arguments}):\n{indent(text, '    ', lambda _: True)}"


def _assistant_text(message: Message) -> str:
    """Return the text of a message, and its calls."""
    calls = ", ".join(
        f'{{"name": {json.dumps(one.function.name)}, "arguments": {one.function.arguments}}}'
        for one in message.tool_calls or ()
    )
    return "\n\n".join(filter(None, (message.text, calls and f"[{calls}]")))


_OPTIONS = (
    "temperature",
    "seed",
    "top_p",
    "top_k",
    "min_p",
    "instructions",
    "system",
    "grounded",
)
"""The members of requests that are options of the library."""


def options_of(body: GenerationRequest | LibraryRequest, max_tokens: int) -> Options:
    """Return the options that a request sets.

    A seed counts without a temperature, too: an answer that validators reject is sampled again.
    """
    members = {name: getattr(body, name, None) for name in _OPTIONS}
    members["grounded"] = members["grounded"] or None  # false, and a list of no paths
    chosen = {name: value for name, value in members.items() if value is not None}
    repetition = Repetition(stop=body.stop_repetition)
    return cast("Options", {"max_tokens": max_tokens, "repetition": repetition, **chosen})
