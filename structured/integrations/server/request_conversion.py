"""Conversion of request bodies into what the library takes: output types, messages of prompts, and options."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from structured.decoding.repetition import Repetition
from structured.errors import PromptError
from structured.extraction.options import Options
from structured.extraction.prompts import Conversation
from structured.integrations.replies import arguments_type, calls_to_text, free_text, result_to_text
from structured.integrations.server.field_lists import FieldListError, read_fields
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_bodies import (
    ChatRequest,
    ChooseRequest,
    ConstraintKind,
    ExtractRequest,
    GenerationRequest,
    GrammarRequest,
    JsonObject,
    LibraryRequest,
    Message,
    RegexRequest,
    RequestedConstraint,
    ToolCall,
)
from structured.integrations.server.request_errors import RequestError
from structured.output_types.call_types import functions
from structured.output_types.choice import Choice
from structured.output_types.described_types import data_to_type
from structured.output_types.functions import Tool
from structured.output_types.grammar import Grammar
from structured.output_types.json_schema import JsonSchema
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex


def output_type_of(body: GenerationRequest | LibraryRequest, limits: Limits) -> Any:
    """Return the output type that a request constrains its answer to; free text where it does not.

    Nothing that it refers to is fetched, and nothing of it is run. Raises RequestError where it asks for two things at
    once, or for what is too large, and what making the type raises.
    """
    if isinstance(body, LibraryRequest):
        return _constrained_type(_constraint_of(body), limits)
    constraints = body.constraints
    if isinstance(body, ChatRequest) and body.uses_tools:
        arguments = {"name": body.called_tool, "may_skip": body.may_skip_tools}
        tools = RequestedConstraint("tools", body.tools, arguments)
        if body.may_skip_tools:  # then the others are for the answer in place of calls
            return _constrained_type(tools, limits)
        constraints["tools"] = tools
    if len(constraints) > 1:
        raise RequestError(400, f"{' and '.join(constraints)} exclude each other.", parameter=next(iter(constraints)))
    if not constraints:
        _check_length("".join(body.stops), limits, "stop")
        return free_text(body.stops)
    [(member, constraint)] = constraints.items()
    if body.stops:
        raise RequestError(400, f"stop and {member} exclude each other.", parameter="stop")
    return _constrained_type(constraint, limits)


def _check_length(constraint: Any, limits: Limits, name: str) -> None:
    """Raise RequestError for a constraint that is too long, as text or as JSON."""
    length = len(constraint if isinstance(constraint, str) else json.dumps(constraint, ensure_ascii=False))
    if length > limits.schema:
        raise RequestError(413, f"{name} has {length:,} characters; {limits.schema:,} are taken.", parameter=name)


def _constraint_of(body: LibraryRequest) -> RequestedConstraint:
    match body:
        case ChooseRequest(choices=choices):
            return RequestedConstraint("choice", choices)
        case RegexRequest(regex=regex, dialect=dialect):
            return RequestedConstraint("regex", regex, {"dialect": dialect})
        case GrammarRequest(grammar=grammar, start=start):
            return RequestedConstraint("grammar", grammar, {"start": start})
        case ExtractRequest(fields=str(fields)):
            return RequestedConstraint("fields", fields)
        case ExtractRequest(schema_=schema):
            return RequestedConstraint("json", schema)
    raise AssertionError(body)


def _constrained_type(constraint: RequestedConstraint, limits: Limits) -> Any:
    name, make = _TYPE_MAKERS[constraint.kind]
    _check_length(constraint.value, limits, name)
    return make(constraint.value, **constraint.type_arguments)


def _fields_to_type(fields: str) -> type[BaseModel]:
    try:
        return read_fields(fields)
    except (FieldListError, RecursionError) as error:
        problem = "its brackets are nested too deeply." if isinstance(error, RecursionError) else str(error)
        raise RequestError(400, f"fields: {problem}", parameter="fields") from None


def _grammar_to_type(grammar: str, *, start: str | None = None) -> Grammar[str]:
    """Return the output type of a grammar in Lark's language, or in GBNF, whose rules have `::=`."""
    if _GBNF.search(grammar):
        return Grammar.from_gbnf(grammar, start or "root")
    return Grammar(grammar, start or "start")


_GBNF = re.compile(r"^\s*[\w-]+\s*::=", re.ASCII | re.MULTILINE)
"""The beginning of a rule in GBNF, which no rule in Lark's language has."""


def _tools_to_type(entries: list[JsonObject], *, name: str | None, may_skip: bool) -> OutputType[Any] | JsonSchema:
    """Return the type of calls of tools, which may be none; with a `name`, that of the arguments of this tool."""
    try:
        tools = [Tool.from_openai(entry) for entry in entries]
    except TypeError as error:
        raise RequestError(400, str(error), parameter="tools") from error
    if name is None:
        return functions(*tools, parallel=may_skip)
    called_tool = next((tool for tool in tools if tool.name == name), None)
    if called_tool is None:
        raise RequestError(400, f"There is no tool named {name!r}.", parameter="tool_choice")
    return arguments_type(called_tool)


_TYPE_MAKERS: Mapping[ConstraintKind, tuple[str, Callable[..., Any]]] = {
    "json": ("The schema", JsonSchema),
    "regex": ("The regular expression", Regex),
    "choice": ("The choice", Choice),
    "grammar": ("The grammar", _grammar_to_type),
    "fields": ("fields", _fields_to_type),
    "constraint": ("The constraint", data_to_type),
    "tools": ("tools", _tools_to_type),
}
"""What a constraint of each kind is called in the error of one that is too long, and what makes its type."""


def prompt_messages(messages: Sequence[Message], member: str = "messages") -> list[dict[str, str]]:
    """Return the messages of a prompt, which has no role for tools: results begin the next message of the user.

    Raises RequestError for what is no chat; `member` is the one of the request that the messages are made of.
    """
    calls = _calls_of_results(messages, member)
    turns: list[dict[str, str]] = []
    positions: list[int] = []
    """For each turn, the position of the last message in it."""
    for position, message in enumerate(messages):
        text = _tool_result_text(calls[position], message.text) if position in calls else _text_with_calls(message)
        if position - 1 in calls and message.role in {"tool", "user"}:
            turns[-1]["content"] += f"\n\n{text}"
            positions[-1] = position
        else:
            turns.append({"role": _ROLES.get(message.role, message.role), "content": text})
            positions.append(position)
    try:
        Conversation.read(turns, member)
    except PromptError as error:

        def place_of(match: re.Match[str]) -> str:
            return f"messages[{positions[int(match[1])]}]" if member == "messages" else f"a message of {member}"

        request_error = RequestError.of(error, member)
        problem = re.sub(rf"[Mm]essage (\d+) of {member}", place_of, request_error.message)
        request_error.message = re.sub("^a message", "A message", problem)
        raise request_error from error
    return turns


_ROLES = {"developer": "system", "tool": "user"}
"""The roles that prompts lack, with the roles that take their place."""


def _calls_of_results(messages: Sequence[Message], member: str) -> dict[int, ToolCall]:
    """Return the call of each message with a result, the latest call of its id. Raises RequestError.

    An id may come again once its call has a result: some clients number the calls of each turn anew.
    """
    calls: dict[int, ToolCall] = {}
    latest: dict[str | None, ToolCall] = {}
    open_ids: set[str | None] = set()
    for position, message in enumerate(messages):
        for number, call in enumerate(message.tool_calls or ()):
            if call.id in open_ids:
                path = f"messages[{position}].tool_calls[{number}].id" if member == "messages" else member
                problem = f"Two calls have the id {call.id!r}, by which results name theirs. Give each its own."
                raise RequestError(400, problem, parameter=path)
            latest[call.id] = call
            open_ids.add(call.id)
        if message.role == "tool":
            if message.tool_call_id not in latest:
                path = f"messages[{position}].tool_call_id" if member == "messages" else member
                problem = f"There is no call {message.tool_call_id!r} before its result."
                raise RequestError(400, problem, parameter=path)
            calls[position] = latest[message.tool_call_id]
            open_ids.discard(message.tool_call_id)
    return calls


def _tool_result_text(call: ToolCall, text: str) -> str:
    parts = ((line.strip() for line in part.splitlines()) for part in (call.function.name, call.function.arguments))
    name, arguments = (" ".join(filter(None, lines)) for lines in parts)
    return result_to_text(name, arguments, text)


def _text_with_calls(message: Message) -> str:
    """Return the text of a message, and its calls."""
    calls = calls_to_text((call.function.name, call.function.arguments) for call in message.tool_calls or ())
    return "\n\n".join(filter(None, (message.text, calls)))


_OPTION_MEMBERS = ("temperature", "seed", "top_p", "top_k", "min_p", "instructions", "system", "grounded")
"""The members of requests that are options of the library."""


def options_of(body: GenerationRequest | LibraryRequest, max_tokens: int) -> Options:
    """Return the options that a request sets.

    A seed counts without a temperature, too: an answer that validators reject is sampled again.
    """
    members = {name: getattr(body, name, None) for name in _OPTION_MEMBERS}
    members["grounded"] = members["grounded"] or None  # false, and a list of no paths
    options = {name: value for name, value in members.items() if value is not None}
    repetition = Repetition(stop=body.stop_repetition)
    return cast("Options", {"max_tokens": max_tokens, "repetition": repetition, **options})
