"""Turns: the messages of a chat as prompts have them, those of tools included.

Prompts have turns of the system, the user and the assistant. A call is shown as the assistant would write it here, and
what came of it begins the next turn of the user, indented, so that no line of it passes for anything else:

    assistant: [{"name": "weather", "arguments": {"city": "Porto"}}]
    user: The result of weather({"city": "Porto"}):
        sunny
"""

import json
from collections.abc import Sequence
from textwrap import indent

from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.requests import Message, ToolCall


def turns_of(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return messages as turns. Raises RequestError for a result of which there is no call."""
    calls: dict[str | None, ToolCall] = {}
    turns: list[dict[str, str]] = []
    results: list[str] = []
    for position, message in enumerate(messages):
        calls |= {call.id: call for call in message.tool_calls or ()}
        if message.role == "tool":
            if message.tool_call_id not in calls:
                problem = f"There is no call {message.tool_call_id!r} before its result."
                raise RequestError(400, problem, parameter=f"messages.{position}.tool_call_id")
            results.append(_result(calls[message.tool_call_id], message.text))
        elif message.role == "user":
            turns.append(_user(*results, message.text))
            results = []
        else:
            turns += [_user(*results)] * bool(results)
            turns.append({"role": "assistant" if message.role == "assistant" else "system", "content": _said(message)})
            results = []
    return turns + [_user(*results)] * bool(results)


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
