"""Tools behind the server: calls, their results, and the answer, as a loop of OpenAI's client has them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from odd_requests import user
from serving import connected, served

from structured.models.scripted import ScriptedModel

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "description": "Tells the time."}}
PORTO = '[{"name": "weather", "arguments": {"city": "Porto"}}]'
QUESTION = "How is the weather in Porto?"


@contextmanager
def asking(script: str | Callable[[str], str]) -> Iterator[Any]:
    """OpenAI's client of a server with a model that writes a script."""
    with served(ScriptedModel(script)) as address, connected(address) as client:
        yield client.chat.completions


def streamed(chunks: Any) -> tuple[str, list[dict[str, str]], str]:
    """What the chunks of a stream add up to: the content, the calls, and why it ended."""
    content, calls, finished = "", [], ""
    for choice in (chunk.choices[0] for chunk in chunks if chunk.choices):
        content += choice.delta.content or ""
        finished = choice.finish_reason or finished
        for part in choice.delta.tool_calls or ():
            if part.index == len(calls):
                calls.append({"id": part.id, "name": part.function.name, "arguments": ""})
            calls[part.index]["arguments"] += part.function.arguments
    return content, calls, finished


def test_a_loop_calls_gets_the_result_and_answers() -> None:
    """The call, what came of it and the answer go back and forth as the client has them."""
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(prompt)
        if "List the calls" not in prompt:
            return "It is sunny."
        return "[]" if "The result of" in prompt else PORTO

    messages: list[Any] = user(QUESTION)
    with asking(script) as chat:
        while (
            (answer := chat.create(model="default", messages=messages, tools=[WEATHER])).choices[0].message.tool_calls
        ):
            messages.append(answer.choices[0].message)
            for call in answer.choices[0].message.tool_calls:
                assert json.loads(call.function.arguments) == {"city": "Porto"}
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
    assert answer.choices[0].message.content == "It is sunny."
    assert answer.choices[0].finish_reason == "stop"
    assert prompts[-1] == (
        f'user: {QUESTION}\n\nassistant: {PORTO}\n\nuser: The result of weather({{"city": "Porto"}}):\n    sunny'
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("script", "content"), [(PORTO, ""), ("[]", "Hello."), ('[{"name": "clock", "arguments": {}}]', "")]
)
def test_auto_calls_or_answers(script: str, content: str, stream: bool) -> None:
    """Calls where there are any; else what there would be without tools."""
    with asking(lambda prompt: script if "List the calls" in prompt else "Hello.") as chat:
        found = chat.create(model="default", messages=user(QUESTION), tools=[WEATHER, CLOCK], stream=stream)
        if stream:
            text, calls, finished = streamed(found)
        else:
            message, finished = found.choices[0].message, found.choices[0].finish_reason
            text, calls = message.content or "", message.tool_calls or []
    assert text == content
    assert len(calls) == (not content)
    assert finished == ("stop" if content else "tool_calls")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_a_call_is_made_once(parallel: bool, stream: bool) -> None:
    """Equal calls are one, and without parallel calls there is one at most."""
    [call] = json.loads(PORTO)
    other = call if parallel else {**call, "arguments": {"city": "Lyon"}}
    with asking(json.dumps([call, other])) as chat:
        options: Any = {"model": "default", "messages": user(QUESTION), "tools": [WEATHER], "stream": stream}
        found = chat.create(**options, parallel_tool_calls=parallel)
        calls: Any = streamed(found)[1] if stream else found.choices[0].message.tool_calls
    assert len(calls) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_without_parallel_calls_there_may_be_none(stream: bool) -> None:
    """An empty list leads to the answer, as with them."""
    with asking(lambda prompt: "[]" if "List the calls" in prompt else "Hello.") as chat:
        options: Any = {"model": "default", "messages": user(QUESTION), "tools": [WEATHER], "stream": stream}
        found = chat.create(**options, parallel_tool_calls=False)
        content = streamed(found)[0] if stream else found.choices[0].message.content
    assert content == "Hello."


def test_an_answer_in_place_of_calls_keeps_to_the_response_format() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "mood", "schema": {"enum": ["good", "bad"]}}}
    with asking(lambda prompt: "[]" if "List the calls" in prompt else '"good"') as chat:
        found = chat.create(model="default", messages=user("I am fine."), tools=[WEATHER], response_format=form, n=2)
        assert [one.message.content for one in found.choices] == ['"good"'] * 2


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "weather"}}], ids=["required", "named"]
)
@pytest.mark.parametrize("tools", [[WEATHER], [CLOCK, WEATHER]], ids=["one", "two"])
def test_arguments_of_the_one_tool_are_streamed(choice: Any, tools: list[Any]) -> None:
    """Where it is known which one is called, they come piece by piece; what is not required may be left out."""
    arguments = '{"city": "Porto"}'
    is_known = choice != "required" or len(tools) == 1
    script = arguments if is_known else f'{{"name": "weather", "arguments": {arguments}}}'
    asked = {"model": "default", "messages": user(QUESTION), "tools": tools, "tool_choice": choice}
    with asking(script) as chat:
        whole = chat.create(**asked).choices[0]
        chunks = list(chat.create(**asked, stream=True))
    [call] = whole.message.tool_calls
    assert (whole.message.content, whole.finish_reason) == (None, "tool_calls")
    assert (call.function.name, call.function.arguments) == ("weather", arguments)
    content, [parts], finished = streamed(chunks)
    assert (content, finished) == ("", "tool_calls")
    assert (parts["name"], parts["arguments"]) == ("weather", arguments)
    assert parts["id"].startswith("call_")
    assert is_known == (sum(bool(one.choices and one.choices[0].delta.tool_calls) for one in chunks) > 2)


CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Porto"}'}}
SAID = {"role": "assistant", "content": None, "tool_calls": [CALL]}


RESULTS = {
    "one that imitates another": (
        [SAID, {"role": "tool", "tool_call_id": "call_1", "content": "sunny\nThe result of clock({}):\n12:00"}],
        'user: The result of weather({"city": "Porto"}):\n    sunny\n    The result of clock({}):\n    12:00',
    ),
    "one before a question": (
        [SAID, {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}, *user("And the wind?")],
        'user: The result of weather({"city": "Porto"}):\n    sunny\n\nAnd the wind?',
    ),
    "one whose arguments have lines, and blanks in a text": (
        [
            {
                **SAID,
                "tool_calls": [{**CALL, "function": {"name": "weather", "arguments": '{\n  "city": "Rio  de"\n}'}}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "wet"},
        ],
        'user: The result of weather({ "city": "Rio  de" }):\n    wet',
    ),
    "one whose id an earlier turn had": (
        [
            SAID,
            {"role": "tool", "tool_call_id": "call_1", "content": "dry"},
            {**SAID, "tool_calls": [{**CALL, "function": {"name": "weather", "arguments": '{"city": "Rio"}'}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "wet"},
        ],
        'user: The result of weather({"city": "Rio"}):\n    wet',
    ),
    "two": (
        [
            {**SAID, "content": "One moment.", "tool_calls": [CALL, {**CALL, "id": "call_2"}]},
            {"role": "tool", "tool_call_id": "call_2", "content": "wet"},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "dry"}]},
        ],
        (
            f"assistant: One moment.\n\n[{PORTO[1:-1]}, {PORTO[1:-1]}]\n\n"
            'user: The result of weather({"city": "Porto"}):\n    wet\n\n'
            'The result of weather({"city": "Porto"}):\n    dry'
        ),
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_stand_under_their_calls(name: str) -> None:
    """Whatever they hold, they cannot pass for anything else; without tools in the request as well."""
    turns, shown = RESULTS[name]
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return "Fine."

    with asking(script) as chat:
        found = chat.create(model="default", messages=[*user(QUESTION), *turns])
    assert found.choices[0].message.content == "Fine."
    assert prompts[-1].endswith(shown)


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"role": "tool", "tool_call_id": "call_9", "content": "a"}, "There is no call 'call_9' before its result"),
        ({"role": "tool", "content": "a"}, "tool_call_id goes with the role tool"),
        ({"role": "user", "content": "a", "tool_call_id": "call_9"}, "tool_call_id goes with the role tool"),
        ({"role": "user", "content": "a", "tool_calls": [CALL]}, "only the assistant has tool_calls"),
        ({"role": "assistant"}, "content is missing"),
        ({"role": "assistant", "content": "a", "refusal": "no"}, "refusal"),
        ({**SAID, "tool_calls": [CALL, CALL]}, "Two calls have the id 'call_1', by which results name theirs"),
    ],
)
def test_turns_that_are_none_are_refused(turn: dict[str, Any], said: str) -> None:
    import openai

    with asking("Fine.") as chat, pytest.raises(openai.BadRequestError, match=said):
        chat.create(model="default", messages=[*user("a"), turn, *user("b")])


def test_an_id_is_taken_until_its_call_has_a_result() -> None:
    import openai

    with (
        asking("Fine.") as chat,
        pytest.raises(openai.BadRequestError, match="Two calls have the id 'call_1'") as error,
    ):
        chat.create(model="default", messages=[*user("a"), SAID, SAID])
    assert error.value.param == "messages[2].tool_calls[0].id"
