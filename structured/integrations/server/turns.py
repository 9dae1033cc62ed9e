"""Turns: the messages of a chat as prompts have them, those of tools included.

Prompts have turns of the system, the user and the assistant. A call is shown as the assistant would write it here, and
what came of it begins the next turn of the user, indented, so that no line of it passes for anything else:

    assistant: [{"name": "weather", "arguments": {"city": "Porto"}}]
    user: The result of weather({"city": "Porto"}):
        sunny
"""

import json
import re
from collections.abc import Sequence
from textwrap import indent

from structured.errors import PromptError
from structured.extraction.conversation import Conversation
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.requests import Message, ToolCall


def turns_of(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return messages as turns. Raises RequestError for a result of which there is no call."""
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
            turns.append({"role": "assistant" if message.role == "assistant" else "system", "content": _said(message)})
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


def _said(message: Message) -> str:
    """Return what a message says, and the calls in it."""
    calls = ", ".join(
        f'{{"name": {json.dumps(one.function.name)}, "arguments": {one.function.arguments}}}'
        for one in message.tool_calls or ()
    )
    return "\n\n".join(filter(None, (message.text, calls and f"[{calls}]")))
