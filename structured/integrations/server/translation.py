"""Requests as the library reads them: their output types, their chats and their options."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from structured.decoding.repetition import Repetition
from structured.errors import PatternError, PromptError, SchemaError
from structured.extraction.options import Options
from structured.extraction.prompts import Conversation
from structured.integrations.questions import calls_to_text, free_text, result_to_text
from structured.integrations.server.field_lists import FieldListError, read_fields
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_bodies import (
    ChatRequest,
    ChooseRequest,
    Constraint,
    ConstraintKind,
    ExtractRequest,
    GenerationRequest,
    GrammarRequest,
    LibraryRequest,
    Message,
    RegexRequest,
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


def output_type_of(body: GenerationRequest, limits: Limits) -> OutputType[Any] | JsonSchema:
    """Return the output type that a request constrains its answer to; free text where it does not.

    Raises RequestError where it asks for two things at once, for what is too large, or for what cannot be enforced.
    """
    constraints = body.constraints
    if isinstance(body, ChatRequest) and body.uses_tools:
        tools = Constraint("tools", body.tools, {"name": body.called_tool, "may_answer": body.may_answer})
        if body.may_answer:  # then the others are for the answer in place of calls
            return _of_member("tools", tools, limits)
        constraints["tools"] = tools
    if len(constraints) > 1:
        raise RequestError(400, f"{' and '.join(constraints)} exclude each other.", parameter=next(iter(constraints)))
    if not constraints:
        check_length("".join(body.stops), limits, "stop")
        return free_text(body.stops)
    [(member, constraint)] = constraints.items()
    if body.stops:
        raise RequestError(400, f"stop and {member} exclude each other.", parameter="stop")
    return _of_member(member, constraint, limits)


def _of_member(member: str, constraint: Constraint, limits: Limits) -> OutputType[Any] | JsonSchema:
    """Return the output type of a member of a request. Raises RequestError."""
    try:
        output_type: OutputType[Any] | JsonSchema = constrained_type(constraint, limits)
    except (SchemaError, PatternError) as error:
        raise RequestError.of(error, member) from error
    except TypeError as error:  # a member of a tool is of the wrong kind
        raise RequestError(400, str(error), parameter=member) from error
    return output_type


def check_length(constraint: Any, limits: Limits, name: str) -> None:
    """Raise RequestError for a constraint that is too long, as text or as JSON."""
    length = len(constraint if isinstance(constraint, str) else json.dumps(constraint, ensure_ascii=False))
    if length > limits.schema:
        raise RequestError(413, f"{name} has {length:,} characters; {limits.schema:,} are taken.", parameter=name)


def constraint_of(body: LibraryRequest) -> Constraint:
    """Return the constraint of a request of the library's own, unless it names a type of the server."""
    match body:
        case ChooseRequest(choices=choices):
            return Constraint("choice", choices)
        case RegexRequest(regex=regex, dialect=dialect):
            return Constraint("regex", regex, {"dialect": dialect})
        case GrammarRequest(grammar=grammar, start=start):
            return Constraint("grammar", grammar, {"start": start})
        case ExtractRequest(fields=str(fields)):
            return Constraint("fields", fields)
        case ExtractRequest(schema_=schema):
            return Constraint("json", schema)
    raise AssertionError(body)


def constrained_type(constraint: Constraint, limits: Limits) -> Any:
    """Return the output type of a constraint; nothing that it refers to is fetched, and nothing of it is run.

    Raises RequestError for one that is too long, and what making the type raises.
    """
    name, make = _KINDS[constraint.kind]
    check_length(constraint.value, limits, name)
    return make(constraint.value, **constraint.options)


def _of_fields(fields: str) -> type[BaseModel]:
    try:
        return read_fields(fields)
    except (FieldListError, RecursionError) as error:
        problem = "its brackets are nested too deeply." if isinstance(error, RecursionError) else str(error)
        raise RequestError(400, f"fields: {problem}", parameter="fields") from None


def _of_grammar(grammar: str, *, start: str | None = None) -> Grammar[str]:
    """Return the output type of a grammar in Lark's language, or in GBNF, whose rules have `::=`."""
    if _GBNF.search(grammar):
        return Grammar.from_gbnf(grammar, start or "root")
    return Grammar(grammar, start or "start")


_GBNF = re.compile(r"^\s*[\w-]+\s*::=", re.ASCII | re.MULTILINE)
"""How a rule begins in GBNF, and none in Lark's language."""


def _of_tools(entries: list[dict[str, Any]], *, name: str | None, may_answer: bool) -> OutputType[Any] | JsonSchema:
    """Return the type of calls of tools; of the arguments alone, if the tool is known by its name."""
    tools = [Tool.from_openai(one) for one in entries]
    if name is None:
        return functions(*tools, parallel=may_answer)
    named = next((one for one in tools if one.name == name), None)
    if named is None:
        raise RequestError(400, f"There is no tool named {name!r}.", parameter="tool_choice")
    described = {"description": named.description} if named.description else {}
    return JsonSchema({**named.parameters, **described}, name=name)


_KINDS: Mapping[ConstraintKind, tuple[str, Callable[..., Any]]] = {
    "json": ("The schema", JsonSchema),
    "regex": ("The regular expression", Regex),
    "choice": ("The choice", Choice),
    "grammar": ("The grammar", _of_grammar),
    "fields": ("fields", _of_fields),
    "constraint": ("The constraint", data_to_type),
    "tools": ("tools", _of_tools),
}
"""What constraints are called if they are too long, and what makes their types."""


def prompt_messages(messages: Sequence[Message], member: str = "messages") -> list[dict[str, str]]:
    """Return the messages of a prompt, which has no role for tools: results begin the next message of the user.

    Raises RequestError for what is no chat; `member` is the one of the request that the messages are made of.
    """
    calls: dict[str | None, ToolCall] = {}
    turns: list[dict[str, str]] = []
    places: list[int] = []
    """The position of the last message of each turn."""
    before = None
    for position, message in enumerate(messages):
        for number, call in enumerate(message.tool_calls or ()):
            if call.id in calls:  # its result would be read as that of the other
                problem = f"There are two calls with the id {call.id!r}. Give each call an id of its own."
                where = f"messages[{position}].tool_calls[{number}].id" if member == "messages" else member
                raise RequestError(400, problem, parameter=where)
            calls[call.id] = call
        if message.role == "tool" and message.tool_call_id not in calls:
            problem = f"There is no call {message.tool_call_id!r} before its result."
            where = f"messages[{position}].tool_call_id" if member == "messages" else member
            raise RequestError(400, problem, parameter=where)
        text = _result(calls[message.tool_call_id], message.text) if message.role == "tool" else _written(message)
        if before == "tool" and message.role in {"tool", "user"}:
            turns[-1]["content"] += f"\n\n{text}"
            places[-1] = position
        else:
            turns.append({"role": _ROLES.get(message.role, message.role), "content": text})
            places.append(position)
        before = message.role
    try:
        Conversation.read(turns, member)
    except PromptError as error:
        refused = RequestError.of(error, member)
        refused.message = re.sub(
            rf"[Mm]essage (\d+) of {member}",
            lambda found: f"messages[{places[int(found[1])]}]" if member == "messages" else f"a message of {member}",
            refused.message,
        )
        raise refused from error
    return turns


_ROLES = {"developer": "system", "tool": "user"}
"""The roles of messages that prompts do not have, by those that stand for them."""


def _result(call: ToolCall, text: str) -> str:
    name, arguments = (_on_one_line(part) for part in (call.function.name, call.function.arguments))
    return result_to_text(name, arguments, text)


def _on_one_line(text: str) -> str:
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def _written(message: Message) -> str:
    """Return the text of a message, and its calls."""
    calls = calls_to_text((one.function.name, one.function.arguments) for one in message.tool_calls or ())
    return "\n\n".join(filter(None, (message.text, calls)))


_OPTIONS = ("temperature", "seed", "top_p", "top_k", "min_p", "instructions", "system", "grounded")
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
