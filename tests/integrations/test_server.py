"""The server: clients of OpenAI's API get what they expect, limits hold, and nobody's fault costs another."""

import itertools
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal

import httpx
import numpy as np
import pytest
from doubles import made_result, random_logits
from odd_requests import user
from pydantic import AfterValidator, BaseModel, Field
from serving import (
    TOKENIZER,
    Held,
    ask,
    connected,
    figure,
    is_listening,
    openai,
    posted,
    random_model,
    reciting,
    served,
    slow,
    wait_until,
)

from structured import Extractor, Regex
from structured.integrations.server.app import create_app
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import response_of, response_of_all
from structured.models import FunctionModel
from structured.models.load import PACKAGED_MODEL
from structured.models.scripted import ScriptedModel

LETTERS = {"guided_regex": "[ab]{40}"}


class Person(BaseModel):
    name: str
    age: int


class Order(BaseModel):
    size: Literal["small", "large"]
    count: int


PERSON = {"type": "json_schema", "json_schema": {"name": "person", "schema": Person.model_json_schema()}}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The packaged model."""
    with served(PACKAGED_MODEL, types={"order": Order}) as found:
        yield found


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Any]:
    with connected(address) as found:
        yield found


def test_openais_client_gets_an_instance(client: Any) -> None:
    """What the first snippet of the documentation does: a validated object, and what it cost."""
    [model, default] = client.models.list().data
    assert (model.id, default.id) == ("packaged", "default")
    assert client.models.retrieve("packaged") == model
    with pytest.raises(openai.NotFoundError, match="'gpt-5' is not served here; 'packaged' is, also as 'default'"):
        client.models.retrieve("gpt-5")
    found = client.chat.completions.parse(
        model=model.id, messages=user("Jason is 25 years old."), response_format=Person
    )
    assert found.model == "packaged"
    assert found.choices[0].message.parsed == Person(name="Jason", age=25)
    assert found.choices[0].finish_reason == "stop"
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens > 10


def test_a_stream_says_what_the_whole_says(client: Any) -> None:
    asked = {"model": "default", "messages": user("Jason is 25 years old."), "response_format": PERSON}
    whole = client.chat.completions.create(**asked)
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert "".join(one.choices[0].delta.content or "" for one in chunks[:-1]) == whole.choices[0].message.content
    assert chunks[-1].usage == whole.usage
    assert [one.choices[0].finish_reason for one in chunks[:-1]] == [None] * (len(chunks) - 2) + ["stop"]
    assert len({one.id for one in chunks}) == 1


def test_log_probabilities_spell_the_answer(client: Any) -> None:
    """Each token with its bytes; what was known without the model is certain."""
    found = client.chat.completions.create(
        model="default", messages=user("Jason is 25 years old."), response_format=PERSON, logprobs=True
    )
    told = found.choices[0].logprobs.content
    assert bytes(byte for one in told for byte in one.bytes).decode() == found.choices[0].message.content
    assert all(one.logprob <= 0 for one in told)
    assert told[0].logprob == 0
    assert any(one.logprob < 0 for one in told)


def test_the_likeliest_tokens_are_told_beside_each_token(client: Any) -> None:
    """Greedy decoding takes the first of them; a token that was known stands alone, and none comes twice."""
    asked = {"model": "default", "messages": user("Jason is 25 years old."), "response_format": PERSON}
    found = client.chat.completions.create(**asked, logprobs=True, top_logprobs=3)
    told = found.choices[0].logprobs.content
    for one in told:
        assert one.top_logprobs[0].bytes == one.bytes
        assert one.top_logprobs[0].logprob == pytest.approx(one.logprob, abs=1e-4)
        shares = [other.logprob for other in one.top_logprobs]
        assert shares == sorted(shares, reverse=True)
        assert len({bytes(other.bytes) for other in one.top_logprobs}) == len(shares) <= 3
    assert {len(one.top_logprobs) for one in told} >= {1, 3}
    *_, last = client.chat.completions.create(**asked, logprobs=True, top_logprobs=3, stream=True)
    assert last.choices[0].logprobs.content == told


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_tools_are_called(client: Any, choice: Any) -> None:
    asked = {"model": "default", "messages": user("How is the weather in Porto?"), "tools": [WEATHER]}
    found = client.chat.completions.create(**asked, tool_choice=choice)
    assert found.choices[0].finish_reason == "tool_calls"
    [call] = found.choices[0].message.tool_calls
    assert call.function.name == "weather"
    assert json.loads(call.function.arguments) == {"city": "Porto"}


def test_vllms_constraints(client: Any) -> None:
    """By the names that they have there, and those that they had."""
    for constraint in (
        {"guided_regex": "19[0-9]{2}"},
        {"structured_outputs": {"regex": "19[0-9]{2}"}},
        {"guided_choice": ["1987", "1988"]},
        {"guided_json": {"enum": [1987, 1988]}},
        {"guided_grammar": "start: /19[0-9][0-9]/"},
        {"guided_grammar": 'root ::= "19" [0-9]{2}', "guided_decoding_backend": "xgrammar"},
    ):
        found = client.chat.completions.create(model="default", messages=user("Born in 1987."), extra_body=constraint)
        assert re.fullmatch("19[0-9]{2}", found.choices[0].message.content), constraint


@pytest.mark.parametrize("stream", [False, True])
def test_free_text_ends_before_the_stop_phrase(stream: bool) -> None:
    """The prompt is what was sent, as it stands; a completion goes on from there."""
    with served(reciting("one, two, three")) as address, connected(address) as client:
        for stop, expected in (
            (None, "one, two, three"),
            (", th", "one, two"),
            (["two", ","], "one"),
            ("x", "one, two, three"),
        ):
            found = client.completions.create(model="default", prompt="Count: ", stop=stop, stream=stream)
            text = "".join(one.choices[0].text for one in found) if stream else found.choices[0].text
            assert text == expected
            asked = {"model": "default", "messages": user("Count: "), "stop": stop, "stream": stream}
            found = client.chat.completions.create(**asked)
            if stream:
                text = "".join(one.choices[0].delta.content or "" for one in found)
            else:
                text = found.choices[0].message.content
            assert text == expected
        cut = client.completions.create(model="default", prompt="Count: ", max_tokens=3)
        assert cut.choices[0].finish_reason == "length"


CROWD = "Ana Brandt, 31, and Tom Reed, 42, and Jim Beam, 50, and Bo Diddley, 19, run the shop."
PEOPLE = {"type": "array", "items": Person.model_json_schema()}
TO_LIST = {"type": "function", "function": {"name": "people", "parameters": {"properties": {"people": PEOPLE}}}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "wanted",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "people", "schema": PEOPLE}}},
        {"tools": [TO_LIST], "tool_choice": "required"},
        {"tools": [WEATHER, TO_LIST]},
        {"extra_body": {"guided_json": PEOPLE}},
    ],
)
def test_what_was_shortened_ends_by_its_length(client: Any, wanted: dict[str, Any], stream: bool) -> None:
    """It is valid, and marked: clients raise what they raise for any text that was cut off."""
    asked = {"model": "default", "messages": user(CROWD), "stream": stream, **wanted}
    for max_tokens, reason in ((30, "length"), (300, "tool_calls" if "tools" in wanted else "stop")):
        found = client.chat.completions.create(**asked, max_tokens=max_tokens)
        last = [one.choices[0] for one in found][-1] if stream else found.choices[0]
        assert last.finish_reason == reason
        assert getattr(last, "shortened", False) == (reason == "length")


def test_openais_parse_and_own_requests_tell_of_a_shortened_answer(address: str, client: Any) -> None:
    class People(BaseModel):
        people: list[Person]

    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(model="default", messages=user(CROWD), response_format=People, max_tokens=30)
    for more in ({"text": CROWD}, {"documents": [CROWD]}, {"text": CROWD, "evidence": True}):
        for max_tokens, shortened in ((30, True), (300, False)):
            asked = {"schema": PEOPLE, "max_tokens": max_tokens, **more}
            found = httpx.post(f"{address}/v1/extract", json=asked, timeout=60).json()
            [result] = found["results"] if "documents" in more else [found]
            assert result.get("shortened", False) is shortened


def test_a_repetition_is_ended_and_marked_unless_it_is_allowed() -> None:
    """Free text and what has a form; what was ended is not said to be complete."""
    with served(reciting("ab" * 100)) as address, connected(address) as client:
        for constraint in ({}, {"guided_regex": "(ab|x){1,80}"}):
            for more in ({}, {"stop_repetition": False}):
                asked = {"model": "default", "messages": user("Go: "), "extra_body": {**constraint, **more}}
                [whole] = client.chat.completions.create(**asked).choices
                *_, last = client.chat.completions.create(**asked, stream=True)
                for one in (whole, last.choices[0]):
                    assert one.finish_reason == ("stop" if more else "length")
                    assert getattr(one, "repetitive", False) == (not more)
                assert (len(whole.message.content) >= 160) == bool(more)
        for more, expected in (({}, True), ({"stop_repetition": False}, False)):
            assert ask(address, "Go: ", "(ab|x){1,80}", **more).json().get("repetitive", False) is expected


def test_several_answers_differ_by_their_seeds(client: Any) -> None:
    asked = {"model": "default", "messages": user("A number."), "extra_body": {"guided_regex": "[0-9]{12}"}, "n": 3}
    one, again = (client.chat.completions.create(**asked, temperature=2, seed=5) for _ in range(2))
    texts = [choice.message.content for choice in one.choices]
    assert texts == [choice.message.content for choice in again.choices]
    assert len(set(texts)) == 3


def test_a_seed_counts_without_a_temperature() -> None:
    """An answer that a validator rejects is sampled again, and so repeatably."""

    def reject(text: str) -> str:
        raise ValueError(f"{text} is never right")

    word = Annotated[str, Field(pattern="^[a-z]{12}$"), AfterValidator(reject)]
    with served(random_model(), types={"word": word}) as address:

        def message(seed: int) -> str:
            answer = httpx.post(f"{address}/v1/extract", json={"type": "word", "text": "Say a word.", "seed": seed})
            assert answer.status_code == 422
            found: str = answer.json()["error"]["message"]
            return found

        one, again, other = message(1), message(1), message(2)
    assert "is never right" in one
    assert one == again
    assert one != other


def test_the_librarys_own_requests(address: str) -> None:
    def post(path: str, **asked: Any) -> Any:
        return httpx.post(f"{address}/v1/{path}", json=asked).json()

    schema = Person.model_json_schema()
    assert post("extract", schema=schema, text="Jason is 25.") == {"value": {"name": "Jason", "age": 25}}
    found = post("extract", schema=schema, documents=["Jason is 25.", ""], evidence=True)["results"]
    assert [row["quote"] for row in found[0]["evidence"]] == ["Jason", "25"]
    assert "missing" not in found[0]  # the schema lets nothing be missing
    assert found[1]["error"]["code"] == "PromptError"
    assert post("extract", type="order", text="Three large ones, please: 3.")["value"]["size"] == "large"
    assert post("choose", text="I want to cancel.", choices=["cancel", "order"]) == {"value": "cancel"}
    assert post("regex", text="Born in 1987.", regex="19[0-9]{2}") == {"value": "1987"}
    assert post("grammar", text="one", grammar='start: "a" | "b"')["value"] in {"a", "b"}


def test_what_has_to_be_stated_is_stated_whatever_the_model_writes() -> None:
    """Values are quoted from their own document, and what a document does not state is an error of its own."""
    schema = {**Person.model_json_schema(), "additionalProperties": False}
    documents = ["Jason is 25 years old.", "Ana, 31, met Zoë in 2019.", "Nobody is here."]
    with served(random_model()) as address:

        def post(**asked: Any) -> httpx.Response:
            return httpx.post(f"{address}/v1/extract", json={"schema": schema, "temperature": 1.5, **asked})

        for seed in range(5):
            *stated, unstated = post(documents=documents, grounded=True, seed=seed).json()["results"]
            for document, one in zip(documents, stated, strict=False):
                assert one["value"]["name"] in document
                assert str(one["value"]["age"]) in document
            assert unstated["error"]["code"] == "NotStatedError"
        assert post(text=documents[1], grounded=["name"]).json()["value"]["name"] in documents[1]
        assert post(text=documents[2], grounded=True).status_code == 422
        wrong = post(text=documents[0], grounded=["nobody"])
        assert wrong.status_code == 400
        assert wrong.json()["error"]["message"].startswith("No field has the path 'nobody'.")


TOOLS = {"messages": [{"role": "user", "content": "a"}], "tools": [WEATHER], "tool_choice": "required"}

ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "a"}]}
EMPTY: list[Any] = [{"role": "user", "content": " "}]

WRONG = {
    "no JSON": ("chat/completions", b"{", 400, "The body is no JSON: Expecting property name"),
    "deep JSON": ("extract", b'{"text": "a", "schema": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", 400, ""),
    "a member that there is not": ("extract", {"text": "a", "schema": {}, "colour": 1}, 400, "colour: there is no"),
    "a penalty": ("chat/completions", {**ASKED, "frequency_penalty": 1}, 400, "frequency_penalty: penalties are not"),
    "another penalty": ("completions", {"prompt": "a", "repetition_penalty": 1.2}, 400, "penalties are not supported"),
    "a word for true": ("extract", {"text": "a", "schema": {}, "evidence": "yes"}, 400, "evidence: it should be true"),
    "tokens of none": ("chat/completions", {**ASKED, "top_logprobs": 3}, 400, "top_logprobs goes with logprobs: true."),
    "too many tokens": ("completions", {"prompt": "a", "logprobs": 21}, 400, "logprobs: it should be at most 20."),
    "a bias": ("chat/completions", {**ASKED, "logit_bias": {"50256": -100}}, 400, "logit_bias: biases are not"),
    "functions": ("chat/completions", {**ASKED, "functions": []}, 400, "functions: functions are not supported. Use t"),
    "reasoning": ("chat/completions", {**ASKED, "reasoning_effort": "low"}, 400, "reasoning_effort: reasoning is not"),
    "two texts": ("extract", {"schema": {}, "text": "a", "documents": ["a"]}, 400, "Exactly one of text and docu"),
    "an empty message": ("chat/completions", {"messages": [*ASKED["messages"], *EMPTY]}, 400, "messages[1] is empty."),
    "no message": ("chat/completions", {}, 400, "messages: it is missing."),
    "a number as a schema": ("extract", {"text": "a", "schema": 3}, 400, "schema: it should be an object."),
    "a phrase that is none": ("chat/completions", {**ASKED, "stop": 3}, 400, "stop: it should be a string."),
    "a schema that is none": ("extract", {"text": "a", "schema": {"type": "strin"}}, 400, "malformed"),
    "a schema that refers to the network": (
        "extract", {"text": "a", "schema": {"$ref": "http://localhost:1/schema.json"}}, 400, "http://localhost:1"
    ),
    "a pattern that is none": ("regex", {"text": "a", "regex": "(a"}, 400, "unterminated subpattern"),
    "a grammar that is none": ("grammar", {"text": "a", "grammar": 'start: "a'}, 400, ""),
    "no type of this name": ("extract", {"text": "a", "type": "os.system"}, 404, "known: order"),
    "another model": ("extract", {"text": "a", "schema": True, "model": "gpt-5"}, 404, "is not served here"),
    "two constraints": (
        "chat/completions",
        {"messages": [{"role": "user", "content": "a"}], "guided_regex": "a", "guided_choice": ["a"]},
        400,
        "exclude each other",
    ),
    "too many tokens needed": ("regex", {"text": "a", "regex": "a{40}", "max_tokens": 2}, 400, "max_tokens"),
    "no text": ("extract", {"text": "", "schema": True}, 400, "is empty"),
    "a picture": (
        "chat/completions",
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://a/b"}}]}]},
        400,
        "messages[0].content: parts of the type image_url are not supported. Send text alone.",
    ),
    "a part without a name of its type": (
        "chat/completions",
        {"messages": [{"role": "user", "content": [{"type": {"name": ""}}]}]},
        400,
        'messages[0].content: parts of the type {"name": ""} are not supported. Send text alone.',
    ),
    "a tool that is none": (
        "chat/completions", {**TOOLS, "tools": [{"type": "function", "function": "x"}]}, 400, "no tool"
    ),
    "a description that is none": (
        "chat/completions",
        {**TOOLS, "tools": [{"type": "function", "function": {"name": "f", "description": 3}}]},
        400,
        "description",
    ),
    "a choice of no tool": ("chat/completions", {**TOOLS, "tool_choice": {"function": "x"}}, 400, "tool_choice"),
    "a tool that is not there": (
        "chat/completions",
        {**TOOLS, "tool_choice": {"type": "function", "function": {"name": "fly"}}},
        400,
        "There is no tool named 'fly'",
    ),
    "no prompt": ("completions", {"prompt": [], "stream": True}, 400, "prompt: it should have at least one text"),
    "too many prompts": ("completions", {"prompt": ["a"] * 300}, 413, "300 texts are asked for"),
    "the name of an author": (
        "chat/completions", {"messages": [{"role": "user", "content": "a", "name": "b"}]}, 400, "name"
    ),
    "a schema in a schema in a schema": (
        "extract",
        {"text": "a", "schema": json.loads('{"not": ' * 300 + "{}" + "}" * 300)},
        400,
        "Brackets are nested more than 200 deep",
    ),
    "a large top_k": ("regex", {"text": "a", "regex": "a", "temperature": 1, "top_k": 2**31}, 400, "top_k"),
    "no such path": ("nothing", {}, 404, "There is no path /v1/nothing here."),
    "true for a number": ("chat/completions", {**ASKED, "n": True}, 400, "n: it should be an integer."),
    "a fraction for a number": ("chat/completions", {**ASKED, "n": 1.0}, 400, "n: it should be an integer."),
    "a text for a number": ("completions", {"prompt": "a", "best_of": "1"}, 400, "best_of: it should be an integer."),
    "true for a temperature": ("completions", {"prompt": "a", "temperature": True}, 400, "it should be a number."),
    "an empty phrase": ("chat/completions", {**ASKED, "stop": ["a", ""]}, 400, "stop[1]: it has too few characters"),
    "usage of 1": ("completions", {"prompt": "a", "stream_options": {"include_usage": 1}}, 400, "true or false"),
    "no messages": ("chat/completions", {"messages": []}, 400, "messages: it has too few items: 1 at least."),
    "a role that is none": ("chat/completions", {"messages": [{"role": "a"}]}, 400, "role: it should be 'system'"),
    "an array": ("chat/completions", [], 400, "The body is no JSON object."),
    "nothing": ("chat/completions", b"", 400, "The body is empty. Send a JSON object."),
    "bytes that are no text": ("extract", b'{"text": "\xff"}', 400, "The body cannot be read as JSON: 'utf-8' codec"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_openais_form(address: str, name: str) -> None:
    """With the status, and the parameter or the place; and the next request is answered."""
    path, body, status, said = WRONG[name]
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = httpx.post(f"{address}/v1/{path}", content=content, headers={"Content-Type": "application/json"})
    assert found.status_code == status, found.text
    error = found.json()["error"]
    assert error.keys() - {"fields"} == {"message", "type", "param", "code"}
    assert said in error["message"]
    assert httpx.get(f"{address}/readyz").status_code == 200


@pytest.mark.parametrize(
    ("members", "parameter"),
    [
        ({"guided_regex": "(a"}, "guided_regex"),
        ({"guided_json": {"type": "strin"}}, "guided_json"),
        ({"guided_json": {"type": "integer", "minimum": 5, "maximum": 4}}, "guided_json"),
        ({"tools": [WEATHER, WEATHER]}, "tools"),
    ],
)
def test_an_error_names_the_member_with_the_constraint(address: str, members: dict[str, Any], parameter: str) -> None:
    """Whether it cannot be read, or has no answers."""
    found = httpx.post(f"{address}/v1/chat/completions", json={**ASKED, **members})
    assert (found.status_code, found.json()["error"]["param"]) == (400, parameter)


def test_another_method_is_refused_with_the_right_one(address: str) -> None:
    found = httpx.get(f"{address}/v1/chat/completions")
    assert (found.status_code, found.headers["Allow"]) == (405, "POST")
    assert found.json()["error"]["message"] == "/v1/chat/completions takes POST, and not GET."


def test_null_is_what_is_left_out_in_openais_requests(address: str) -> None:
    """As in OpenAI's API, whose clients send some of them."""
    nulls = dict.fromkeys(("n", "stream", "logprobs", "parallel_tool_calls", "stop", "stream_options"))
    without_bearing = {"prompt_cache_key": "a", "safety_identifier": "b", "store": True, "metadata": {}, "user": "c"}
    answers = [
        httpx.post(f"{address}/v1/chat/completions", json={**ASKED, "max_tokens": 3, **members}).json()["choices"]
        for members in ({}, nulls, without_bearing)
    ]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(("depth", "status"), [(1, 200), (280, 200), (3000, 422)])
def test_a_value_of_many_brackets_costs_at_most_itself(depth: int, status: int) -> None:
    """Pydantic writes 255 of them; a value of a JSON Schema is plain already, and may have as many as Python writes."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    several = json.loads(bytes(response_of_all([made_result(value, value), made_result([], [])], evidence=False).body))[
        "results"
    ]
    assert several[1] == {"value": []}
    if status == 200:
        assert (
            several[0]
            == json.loads(bytes(response_of(made_result(value, value), evidence=False).body))
            == {"value": value}
        )
        return
    assert "cannot be written as JSON" in several[0]["error"]["message"]
    with pytest.raises(RequestError) as raised:
        response_of(made_result(value, value), evidence=False)
    assert raised.value.status == status


def test_requests_at_the_same_time_get_what_they_would_alone() -> None:
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    expected = {text: Extractor(Regex("[ab]{40}"), model=model)(text) for text in map(str, range(24))}
    with served(model, limits=Limits(running=8)) as address, ThreadPoolExecutor(24) as pool:
        answers = pool.map(lambda text: ask(address, text), expected)
        assert [one.json()["value"] for one in answers] == list(expected.values())
        assert figure(address, 'structured_requests_total{path="/v1/regex",status="200"}') == 24
        assert figure(address, "structured_live_texts") == 0


def test_whoever_comes_when_too_many_wait_is_turned_away() -> None:
    """With 429 and the time to come back; those that wait are answered."""
    held = Held()
    with served(held.model, limits=Limits(running=1, waiting=2)) as address, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, address, str(number)) for number in range(8)]
        wait_until(lambda: figure(address, 'structured_requests_total{path="/v1/regex",status="429"}') == 5)
        held.open()
        found = [one.result() for one in asked]
    assert sorted(one.status_code for one in found) == [200] * 3 + [429] * 5
    assert all(one.headers["retry-after"] == "2" for one in found if one.status_code == 429)


@pytest.mark.skipif(sys.platform != "linux", reason="Other systems have one local address.")
def test_clients_take_turns() -> None:
    """One has ten requests waiting, each with another key; another's only one, of another address, is the next."""
    held = Held()

    def asked(host: str, text: str) -> None:
        headers = {"Authorization": f"Bearer {text}"}
        with httpx.Client(transport=httpx.HTTPTransport(local_address=host), timeout=60) as client:
            client.post(f"{address}/v1/regex", json={"text": text, "regex": "[ab]{40}"}, headers=headers)

    with served(held.model, limits=Limits(running=1)) as address, ThreadPoolExecutor(12) as pool:
        many = [pool.submit(asked, "127.0.0.1", f"many {number}") for number in range(10)]
        wait_until(lambda: figure(address, "structured_waiting_requests") == 9)
        one = pool.submit(asked, "127.0.0.2", "one")
        wait_until(lambda: figure(address, "structured_waiting_requests") == 10)
        held.open()
        for each in (one, *many):
            each.result()
    assert held.begun.index("one") == 2
    assert len(held.begun) == 11


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_hangs_up_frees_its_row(stream: bool) -> None:
    """The text is written no more, and the next request is answered at once."""
    body = {"messages": user("a"), "guided_regex": "[ab]{20000}", "max_tokens": 40_000, "stream": stream}
    with served(slow(), limits=Limits(running=1, max_tokens=40_000)) as address:
        if stream:
            with httpx.stream("POST", f"{address}/v1/chat/completions", json=body, timeout=60) as answer:
                assert len(list(itertools.islice(answer.iter_lines(), 5))) == 5
        else:
            with posted(address, "/v1/chat/completions", body):
                wait_until(lambda: figure(address, "structured_live_texts") == 1)
        wait_until(lambda: figure(address, "structured_live_texts") == 0)
        assert ask(address, "next", "[ab]{4}").status_code == 200


def test_a_stream_that_takes_too_long_is_ended() -> None:
    """Its row is free, and the last event but one says what the status would have said."""
    body = {"messages": user("a"), "guided_regex": "[ab]{2000}", "max_tokens": 4000, "stream": True}
    with served(slow(0.02), limits=Limits(seconds=0.3, max_tokens=4000)) as address:
        found = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=30).text
        error = json.loads(found.split("data: ")[-2])["error"]
        assert error == {
            "message": "The answer took longer than 0.3 seconds.", "type": "server_error", "param": None, "code": None
        }  # fmt: skip
        wait_until(lambda: figure(address, "structured_live_texts") == 0)


def test_a_request_that_takes_too_long_is_ended() -> None:
    with served(slow(0.02), limits=Limits(seconds=0.3, max_tokens=4000)) as address:
        found = ask(address, "a", "[ab]{2000}")
        assert found.status_code == 504
        assert "longer than 0.3 seconds" in found.json()["error"]["message"]
        wait_until(lambda: figure(address, "structured_live_texts") == 0)


def test_more_tokens_than_the_server_writes_are_refused() -> None:
    """Not shortened by a limit that the client does not know."""
    with served(random_model(), limits=Limits(max_tokens=60)) as address:
        for path, body in (
            ("regex", {"text": "a", "regex": "[ab]{40}", "max_tokens": 61}),
            ("chat/completions", {"messages": user("a"), **LETTERS, "max_completion_tokens": 61}),
            ("completions", {"prompt": "a", **LETTERS, "max_tokens": 61}),
        ):
            found = httpx.post(f"{address}/v1/{path}", json=body)
            assert found.status_code == 400, found.text
            member = list(body)[-1]
            assert found.json()["error"]["message"] == f"{member} is 61; an answer has at most 60 tokens here."
            assert found.json()["error"]["param"] == member
        assert ask(address, "a", max_tokens=60).status_code == 200


def test_a_body_that_is_too_large_is_not_read() -> None:
    with served(ScriptedModel("a"), limits=Limits(body=1000)) as address:
        assert ask(address, "a" * 2000).status_code == 413
        chunks = (b"a" * 400 for _ in range(5))
        found = httpx.post(f"{address}/v1/regex", content=chunks, headers={"Content-Type": "application/json"})
        assert found.status_code == 413
        assert ask(address, "a", "a").json() == {"value": "a"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("regex", {"text": "a" * 300, "regex": "a"}),
        ("extract", {"documents": ["a" * 100] * 3, "schema": {}}),
        ("completions", {"prompt": ["a" * 100] * 3}),
        ("chat/completions", {"messages": [{"role": "user", "content": "a"}] * 20}),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"type": "text", "text": "a" * 300}]}]}),
    ],
)
def test_texts_that_are_too_long_are_not_read(path: str, body: dict[str, Any]) -> None:
    with served(ScriptedModel("a"), limits=Limits(characters=200)) as address:
        found = httpx.post(f"{address}/v1/{path}", json=body)
    assert found.status_code == 413
    assert "200 are taken at a time" in found.json()["error"]["message"]


def test_a_constraint_that_is_too_long_is_not_read() -> None:
    with served(ScriptedModel("a"), limits=Limits(schema=100)) as address:
        assert ask(address, "a", "a|" * 100).status_code == 413


def test_without_the_key_nothing_is_answered_but_whether_it_lives() -> None:
    with served(ScriptedModel("a"), api_key="secret") as address:
        assert ask(address, "a", "a").status_code == 401
        wrong = {"Authorization": "Bearer secreT"}
        assert httpx.get(f"{address}/v1/models", headers=wrong).status_code == 401
        for scheme in ("Bearer", "bearer", "BEARER "):  # RFC 9110, section 11.1
            right = {"Authorization": f"{scheme} secret"}
            assert httpx.get(f"{address}/v1/models", headers=right).status_code == 200
        for other in ("secret", "Basic secret", "Bearer", "Bearersecret", "Bearer SECRET"):
            assert httpx.get(f"{address}/v1/models", headers={"Authorization": other}).status_code == 401
        assert httpx.get(f"{address}/docs").status_code == 401
        assert httpx.get(f"{address}/healthz").text == "ok"


@pytest.mark.parametrize("key", ["", " "])
def test_an_empty_key_is_none(key: str) -> None:
    """Whoever sends an empty one would be let in."""
    with pytest.raises(ValueError, match="api_key is empty"):
        create_app(ScriptedModel("a"), api_key=key)


def test_a_model_that_fails_costs_those_in_its_batch_alone() -> None:
    """They get 500 in OpenAI's form; whoever asks later is answered."""
    failing = True

    def scores(_: Any) -> Any:
        if failing:
            raise RuntimeError("the cable is out")
        return np.zeros(len(TOKENIZER.tokens), dtype=np.float32)

    with served(FunctionModel(scores, TOKENIZER)) as address:
        found = ask(address, "a")
        assert found.status_code == 500
        assert "the cable is out" in found.json()["error"]["message"]
        failing = False
        assert ask(address, "a").status_code == 200


def test_what_runs_is_finished_when_the_server_ends() -> None:
    """It is still being written when the server takes no more connections; the process then ends."""
    held = Held()
    with ThreadPoolExecutor(2) as pool:
        with served(held.model) as address:
            running = pool.submit(ask, address, "a")
            wait_until(lambda: figure(address, "structured_live_texts") == 1)

            def ends() -> None:
                wait_until(lambda: not is_listening(address))
                assert not running.done()
                held.open()

            watching = pool.submit(ends)
        watching.result()
        assert running.result().status_code == 200
