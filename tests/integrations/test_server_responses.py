"""OpenAI's Responses API over the server, asked by OpenAI's own client."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from serving import connected, openai, random_model, served

from structured.models.scripted import ScriptedModel

PORTO = '[{"name": "weather", "arguments": {"city": "Porto"}}]'
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "Tells the weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
QUESTION = "How is the weather in Porto?"


class Person(BaseModel):
    name: str
    age: int | None = None


ANA = Person(name="Ana", age=34)


@contextmanager
def asking(script: str | Callable[[str], str]) -> Iterator[Any]:
    """The responses of a client of a server with a model that writes a script."""
    with served(ScriptedModel(script)) as address, connected(address) as client:
        yield client.responses


def test_what_the_documentation_shows_first_is_parsed() -> None:
    with asking(ANA.model_dump_json()) as responses:
        response = responses.parse(model="default", input="Ana is 34.", text_format=Person)
    assert response.output_parsed == ANA
    assert response.status == "completed"
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens > 0


@pytest.mark.parametrize(
    "asked",
    [
        {"input": "Ana is 34.", "instructions": "Be brief."},
        {"input": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Ana is 34."}]},
        {
            "input": [
                {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
                {"role": "user", "content": [{"type": "input_text", "text": text} for text in ("Ana ", "is 34.")]},
            ]
        },
    ],
)
def test_each_way_to_write_the_input_is_the_same_prompt(asked: dict[str, Any]) -> None:
    prompts: list[str] = []
    with asking(lambda prompt: prompts.append(prompt) or "Yes.") as responses:
        response = responses.create(model="default", **asked)
    assert response.output_text == "Yes."
    assert prompts == ["system: Be brief.\n\nuser: Ana is 34."]


def test_an_earlier_answer_may_be_part_of_the_input() -> None:
    """As the client has it: the output of one response is the input of the next."""
    prompts: list[str] = []
    with asking(lambda prompt: prompts.append(prompt) or "Yes.") as responses:
        history: list[Any] = [{"role": "user", "content": "Is it?"}]
        history += responses.create(model="default", input=history).output
        responses.create(model="default", input=[*history, {"role": "user", "content": "Sure?"}])
    assert prompts[-1] == "user: Is it?\n\nassistant: Yes.\n\nuser: Sure?"


def test_items_go_back_as_clients_write_them() -> None:
    """With members that have no value, and the values that the client has parsed."""
    prompts: list[str] = []
    with asking(lambda prompt: prompts.append(prompt) or ANA.model_dump_json()) as responses:
        first = responses.parse(model="default", input="Ana is 34.", text_format=Person)
        items = [item.model_dump() for item in first.output]
        assert items[0]["content"][0]["parsed"] == ANA.model_dump()
        responses.create(model="default", input=[*items, {"role": "user", "content": "Sure?"}])
    assert prompts[-1] == f"assistant: {json.dumps(ANA.model_dump())}\n\nuser: Sure?"


def test_events_build_up_what_the_response_is() -> None:
    """The client's own accumulation of the events is the response; each event has the next number."""
    with (
        asking(ANA.model_dump_json()) as responses,
        responses.stream(model="default", input="Ana is 34.", text_format=Person) as stream,
    ):
        events = list(stream)
        final = stream.get_final_response()
    assert final.output_parsed == ANA
    assert "".join(one.delta for one in events if one.type == "response.output_text.delta") == final.output_text
    assert [one.type for one in events[:4]] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert [one.type for one in events[-4:]] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [one.sequence_number for one in events] == list(range(len(events)))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "name": "weather"}])
def test_a_loop_calls_gets_the_result_and_answers(choice: Any, stream: bool) -> None:
    """Items of calls and of their results go back and forth as the client has them."""

    def script(prompt: str) -> str:
        if "The result of" in prompt:
            return "[]" if "List the calls" in prompt else "It is sunny."
        return PORTO if "List the calls" in prompt else '{"city": "Porto"}'

    with asking(script) as responses:

        def answer(history: list[Any], choice: Any) -> Any:
            asked = {"model": "default", "input": history, "tools": [WEATHER], "tool_choice": choice}
            if not stream:
                return responses.create(**asked)
            with responses.stream(**asked) as events:
                return events.get_final_response()

        history: list[Any] = [{"role": "user", "content": QUESTION}]
        called = answer(history, choice)
        [call] = called.output
        assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "weather", {"city": "Porto"})
        history += [call.model_dump(exclude={"parsed_arguments"}, exclude_none=True)]
        history += [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
        assert answer(history, "auto").output_text == "It is sunny."


def test_a_short_answer_is_incomplete() -> None:
    with served(random_model()) as address, connected(address) as client:
        asked: dict[str, Any] = {"model": "default", "input": "Go.", "max_output_tokens": 5}
        asked["extra_body"] = {"seed": 1}
        response = client.responses.create(**asked)
        with client.responses.stream(**asked) as stream:
            last = list(stream)[-1]
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert response.usage.output_tokens == 5
    assert (last.type, last.response.output_text) == ("response.incomplete", response.output_text)


def test_log_probabilities_are_included_when_asked_for() -> None:
    with asking("Yes.") as responses:
        included = responses.create(model="default", input="Go.", include=["message.output_text.logprobs"])
        plain = responses.create(model="default", input="Go.")
    [part] = included.output[0].content
    assert "".join(one.token for one in part.logprobs) == "Yes."
    assert plain.output[0].content[0].logprobs == []


def test_the_likeliest_tokens_are_included_when_asked_for() -> None:
    with asking("Yes.") as responses:
        found = responses.create(model="default", input="Go.", top_logprobs=2)
    [part] = found.output[0].content
    assert "".join(one.token for one in part.logprobs) == "Yes."
    assert [one.top_logprobs[0].token for one in part.logprobs] == [one.token for one in part.logprobs]


def test_a_text_longer_than_the_context_is_read_in_parts() -> None:
    """As by `extract`; the records of its parts are those of the answer."""
    names = ["Ana", "Bob", "Cleo", "Dan", "Eve", "Finn"]
    people = [{"name": name, "age": 31 + 7 * number} for number, name in enumerate(names)]
    text = "\n".join(f"{one['name']} is {one['age']} years old, {'and so on ' * 30}." for one in people)

    def script(prompt: str) -> str:
        return json.dumps([one for one in people if f"{one['name']} is {one['age']} " in prompt])

    form = {"type": "json_schema", "name": "people", "schema": {"type": "array", "items": Person.model_json_schema()}}
    with served(ScriptedModel(script, context_length=1200)) as address, connected(address) as client:
        whole = client.responses.create(model="default", input=text, text={"format": form})
    assert json.loads(whole.output_text) == people
    assert whole.usage.output_tokens > 0
    assert whole.usage.input_tokens > len(text)  # its tokens are bytes; the prompt of each part is counted


def test_an_error_before_the_first_event_is_a_status() -> None:
    with asking(lambda _: str(1 / 0)) as responses, pytest.raises(openai.InternalServerError, match="division"):
        responses.create(model="default", input="Go.", stream=True)


def test_a_later_error_is_an_event_that_the_client_raises() -> None:
    """The script is not of the type, which shows behind its first tokens."""
    form = {"type": "json_schema", "name": "mood", "schema": {"enum": ["good", "great"]}}
    with asking('"gone"') as responses:
        events = responses.create(model="default", input="x", text={"format": form}, stream=True)
        with pytest.raises(openai.APIError, match="script"):
            list(events)


def test_the_format_of_the_text_is_a_schema_or_any_object() -> None:
    schema = {"type": "object", "properties": {"mood": {"enum": ["good"]}}, "required": ["mood"]}
    form = {"type": "json_schema", "name": "mood", "schema": schema}
    with asking('{"mood": "good"}') as responses:
        assert json.loads(responses.create(model="default", input="x", text={"format": form}).output_text) == {
            "mood": "good"
        }
        assert json.loads(
            responses.create(model="default", input="x", text={"format": {"type": "json_object"}}).output_text
        ) == {"mood": "good"}


CALL = {"type": "function_call", "call_id": "a", "name": "clock", "arguments": "{}"}


@pytest.mark.parametrize(
    ("members", "status", "parameter", "message"),
    [
        ({"previous_response_id": "resp_1"}, 400, "previous_response_id", "nothing is stored"),
        ({"background": True}, 400, "background", ""),
        ({"input": []}, 400, "input", ""),
        ({"input": [{"type": "reasoning", "summary": []}]}, 400, "input[0]", "function_call_output"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            400,
            "input[0].content",
            "type input_image",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "a", "output": "b"}]}, 400, "input", "no call 'a'"),
        ({"input": [CALL, CALL]}, 400, "input", "Two calls have the id 'a'"),
        ({"tools": [{"type": "web_search"}]}, 400, "tools", '"web_search"'),
        ({"tools": [WEATHER], "tool_choice": {"type": "function", "name": "clock"}}, 400, "tool_choice", "'clock'"),
        ({"tool_choice": "required"}, 400, None, "there are no tools"),
        ({"text": {"format": {"type": "json_schema"}}}, 400, "text.format", "schema"),
        ({"max_output_tokens": 10**6}, 400, "max_output_tokens", "at most"),
        ({"unheard_of": 1}, 400, "unheard_of", "no such member"),
        ({"model": "gpt-5"}, 404, "model", "not served"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    members: dict[str, Any], status: int, parameter: str | None, message: str
) -> None:
    with served(ScriptedModel("Yes.")) as address:
        answer = httpx.post(f"{address}/v1/responses", json={"model": "default", "input": "Go.", **members})
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (status, parameter)
    assert message in error["message"]


def test_a_conversation_that_is_none_is_refused_in_the_words_of_the_input() -> None:
    """With the fields of the library's error, as in a chat."""
    roles = ("user", "system", "user")
    with served(ScriptedModel("Yes.")) as address:
        asked = {"input": [{"role": role, "content": "Go."} for role in roles]}
        error = httpx.post(f"{address}/v1/responses", json=asked, timeout=60).json()["error"]
    assert error["message"] == "A message of input has the role 'system', and is not the first. Put it first."
    assert (error["param"], error["code"], "fields" in error) == ("input", "PromptError", True)


def test_health_is_where_others_have_it() -> None:
    with served(ScriptedModel("Yes."), api_key="secret") as address:
        for health in ("/health", "/healthz"):
            assert httpx.get(address + health).text == "ok"
