"""pydantic-ai: agents whose model is one of this library."""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

pytest.importorskip("pydantic_ai", reason="Not installed: pip install 'structured-extraction[pydantic-ai]'")

from pydantic_ai import Agent, BinaryContent, ModelRetry, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    FilePart,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings, ToolOrOutput

from structured.integrations.pydantic_ai import StructuredModel
from structured.models import PACKAGED_MODEL, ScriptedModel, load_model

TEXT = "Ana Brandt, 31, is a nurse."
ANA = '{"name": "Ana Brandt", "age": 31}'
PORTO = '[{"name": "weather", "arguments": {"city": "Porto"}}]'


class Person(BaseModel):
    """Somebody."""

    name: str
    age: int


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("it is odd")
        return number


class Scripts:
    """A model that gives one answer after the other, and keeps the prompts."""

    def __init__(self, *answers: str, **options: Any) -> None:
        self.prompts: list[str] = []
        self._answers = iter(answers)
        self.model = StructuredModel(ScriptedModel(self._answer, **options))

    def _answer(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return next(self._answers)


def agent_with_tools(scripts: Scripts, **options: Any) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(scripts.model, **options)

    @agent.tool_plain
    def weather(city: str) -> str:
        """Tell the weather of a city."""
        if city == "Atlantis":
            raise ModelRetry("There is no such city.")
        return f"sunny in {city}"

    @agent.tool_plain
    def population(city: str, year: int = 2025) -> int:
        """Tell how many people live in a city."""
        return 230_000 if city == "Porto" else year

    return agent


def ran(agent: Agent[None, Any], *prompt: Any, **options: Any) -> Any:
    """What `run_sync` returns, which leaves an event loop open."""
    return asyncio.run(agent.run(*prompt, **options))


async def pieces(agent: Agent[None, Any], prompt: str) -> list[str]:
    async with agent.run_stream(prompt) as stream:
        return [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]


async def outputs(agent: Agent[None, Any], prompt: str) -> list[Any]:
    async with agent.run_stream(prompt) as stream:
        return [output async for output in stream.stream_output(debounce_by=None)]


@pytest.fixture(scope="module")
def packaged() -> StructuredModel:
    return StructuredModel(load_model(PACKAGED_MODEL))


@pytest.mark.thorough
@pytest.mark.parametrize("mode", [lambda kind: kind, NativeOutput, ToolOutput, PromptedOutput])
def test_an_output_type_is_extracted_in_every_mode(packaged: StructuredModel, mode: Callable[[Any], Any]) -> None:
    """The schema is enforced, as an object or as the arguments of the one tool, and the prompt describes it once."""
    assert ran(Agent(packaged, output_type=mode(Person)), TEXT).output == Person(name="Ana Brandt", age=31)


@pytest.mark.thorough
def test_a_response_has_usage_and_evidence(packaged: StructuredModel) -> None:
    result = ran(Agent(packaged, output_type=Person), TEXT)
    details = result.response.provider_details
    assert details is not None
    assert [(row["path"], row["value"], row["start"], row["end"]) for row in details["evidence"]] == [
        ("name", "Ana Brandt", 0, 10),
        ("age", 31, 12, 14),
    ]
    assert 0 < details["confidence"] <= 1
    assert result.usage.input_tokens > 0
    assert result.usage.output_tokens == sum(result.usage.details[name] for name in ("sampled_tokens", "forced_tokens"))
    assert (result.response.finish_reason, result.response.provider_name) == ("stop", "structured")
    assert result.response.model_name == packaged.model_name


def test_the_profile_says_what_the_model_can() -> None:
    profile = StructuredModel(ScriptedModel("", context_length=512)).profile
    assert profile["supports_json_schema_output"]
    assert profile["default_structured_output_mode"] == "native"
    assert profile["context_window"] == 512
    assert not profile["supports_image_input"]


def test_the_prompt_has_the_instructions_and_the_type() -> None:
    scripts = Scripts(ANA)
    ran(Agent(scripts.model, output_type=Person, system_prompt="Be exact.", instructions="Take the first."), TEXT)
    [prompt] = scripts.prompts
    assert prompt.startswith("system: Be exact.\n\nTake the first.\n\nuser: ")
    assert "name: string" in prompt
    assert prompt.endswith(f"Text:\n{TEXT}")
    assert "$defs" not in prompt


def test_free_text_has_the_bare_prompt() -> None:
    scripts = Scripts("Hello, Ana.")
    assert ran(Agent(scripts.model, instructions="Be kind."), "I am Ana.").output == "Hello, Ana."
    assert scripts.prompts == ["system: Be kind.\n\nuser: I am Ana."]


def test_tools_are_called_until_the_list_of_calls_is_empty() -> None:
    """The results of calls are in the next prompt, and the answer after them is free."""
    both = PORTO[:-1] + ', {"name": "population", "arguments": {"city": "Porto"}}]'
    scripts = Scripts(both, "[]", "Sunny, for 230,000 people.")
    result = ran(agent_with_tools(scripts), "How is Porto?")
    assert result.output == "Sunny, for 230,000 people."
    assert scripts.prompts[-1] == (
        f"user: How is Porto?\n\nassistant: {both}"
        '\n\nuser: The result of weather({"city": "Porto"}):\n    sunny in Porto'
        '\n\nThe result of population({"city": "Porto"}):\n    230000'
    )
    assert result.usage.requests == 2
    assert result.usage.tool_calls == 2


def test_tools_and_an_output_type() -> None:
    """After the calls, the object is enforced."""
    scripts = Scripts(PORTO, "[]", ANA)
    result = ran(agent_with_tools(scripts, output_type=Person), "Who is in Porto?")
    assert result.output == Person(name="Ana Brandt", age=31)
    assert result.response.usage.input_tokens > len(scripts.prompts[-1].encode())  # both questions are counted


def test_tools_and_an_output_tool() -> None:
    """A call is forced where no text is allowed: of a tool of the agent, or of the one that ends it."""
    answers = ('{"name": "weather", "arguments": {"city": "Porto"}}', f'{{"name": "final_result", "arguments": {ANA}}}')
    scripts = Scripts(*answers)
    result = ran(agent_with_tools(scripts, output_type=ToolOutput(Person)), "Who is in Porto?")
    assert result.output == Person(name="Ana Brandt", age=31)
    assert result.response.finish_reason == "tool_call"


def test_a_tool_that_asks_for_another_try() -> None:
    scripts = Scripts('[{"name": "weather", "arguments": {"city": "Atlantis"}}]', PORTO, "[]", "Sunny.")
    assert ran(agent_with_tools(scripts), "How is it?").output == "Sunny."
    assert "There is no such city." in scripts.prompts[1]


@pytest.mark.parametrize(
    ("choice", "answers", "allowed"),
    [
        ("none", ["Sunny."], []),
        ("required", ['{"name": "weather", "arguments": {"city": "Porto"}}'], ["weather", "population"]),
        (["weather"], ['{"city": "Porto"}'], ["weather"]),
        (ToolOrOutput(function_tools=["weather"]), [PORTO], ["weather"]),
    ],
)
def test_the_choice_of_tools(choice: Any, answers: list[str], allowed: list[str]) -> None:
    scripts = Scripts(*answers)
    agent = agent_with_tools(scripts)
    tools = [tool.tool_def for toolset in agent.toolsets for tool in toolset.tools.values()]  # type: ignore[attr-defined]
    parameters = ModelRequestParameters(function_tools=tools)
    request = [ModelRequest.user_text_prompt("How is Porto?")]
    [part] = asyncio.run(scripts.model.request(request, ModelSettings(tool_choice=choice), parameters)).parts
    if allowed:
        assert isinstance(part, ToolCallPart)
        assert (part.tool_name, part.args_as_dict()) == ("weather", {"city": "Porto"})
    else:
        assert isinstance(part, TextPart)
    assert {name for name in ("weather", "population") if f'"{name}"' in scripts.prompts[0]} <= {*allowed}


def test_one_call_at_a_time() -> None:
    """Where calls are not made in parallel, the first is made and the model is asked again."""
    both = PORTO[:-1] + ', {"name": "weather", "arguments": {"city": "Oslo"}}]'
    scripts = Scripts(both, "[]", "Sunny.")
    result = ran(agent_with_tools(scripts, model_settings=ModelSettings(parallel_tool_calls=False)), "How is it?")
    assert result.usage.tool_calls == 1


def test_a_rejected_output_is_asked_for_again() -> None:
    """The validators of the agent's type are not known to the model; their message is in the next prompt."""
    scripts = Scripts('{"number": 3}', '{"number": 4}')
    assert ran(Agent(scripts.model, output_type=Even, retries=2), "3 or 4").output == Even(number=4)
    assert "it is odd" in scripts.prompts[1]
    assert '{"number": 3}' in scripts.prompts[1]
    with pytest.raises(UnexpectedModelBehavior):
        ran(Agent(Scripts(*['{"number": 3}'] * 3).model, output_type=Even, retries=1), "3")


def test_a_history_goes_on() -> None:
    scripts = Scripts("Hello.", "You are Ana.")
    agent: Agent[None, str] = Agent(scripts.model)
    first = ran(agent, "I am Ana.")
    ran(agent, "Who am I?", message_history=first.all_messages())
    assert scripts.prompts[1] == "user: I am Ana.\n\nassistant: Hello.\n\nuser: Who am I?"


def test_a_history_of_another_model() -> None:
    """What it thought is left out, and what is no text is refused."""
    scripts = Scripts("Ana.")
    agent: Agent[None, str] = Agent(scripts.model)
    thought = ModelResponse([ThinkingPart("Let me see."), TextPart("Hello.")])
    ran(agent, "Who am I?", message_history=[ModelRequest.user_text_prompt("I am Ana."), thought])
    assert scripts.prompts == ["user: I am Ana.\n\nassistant: Hello.\n\nuser: Who am I?"]
    image = BinaryContent(b"x", media_type="image/png")
    with pytest.raises(UserError, match=r"A BinaryContent is no text, and models of structured read text alone\."):
        ran(agent, ["What is this?", image])
    with pytest.raises(UserError, match="A FilePart is no text"):
        ran(agent, "And?", message_history=[ModelRequest.user_text_prompt("A."), ModelResponse([FilePart(image)])])


def test_messages_that_no_agent_prepared() -> None:
    scripts = Scripts("4")
    messages = [ModelRequest([RetryFeedbackPart("It is odd.", retry=RetryInfo(cause="model_retry"))])]
    asyncio.run(scripts.model.request(messages, None, ModelRequestParameters()))  # type: ignore[arg-type]
    assert "It is odd." in scripts.prompts[0]


def test_settings_are_options() -> None:
    """`max_tokens` ends an answer, which is valid; the finish reason says so."""
    scripts = Scripts("Hello, Ana.")
    with pytest.raises(ModelAPIError, match="The script says"):  # the budget keeps the model from its script
        ran(Agent(scripts.model), "I am Ana.", model_settings=ModelSettings(max_tokens=3))


@pytest.mark.thorough
def test_settings_of_sampling(packaged: StructuredModel) -> None:
    agent: Agent[None, str] = Agent(packaged)
    short = ran(agent, TEXT, model_settings=ModelSettings(max_tokens=4))
    assert short.response.finish_reason == "length"
    assert short.usage.output_tokens <= 5
    settings = [ModelSettings(temperature=1.5, seed=seed, max_tokens=12, top_p=0.99, top_k=400) for seed in (1, 1, 2)]
    first, again, other = (ran(agent, TEXT, model_settings=one).output for one in settings)
    assert first == again != other


def test_an_answer_ends_with_a_stop_phrase() -> None:
    """The phrase is left out, also of a stream; where the output has a schema, it is refused."""
    settings = ModelSettings(stop_sequences=["END", "\n\n"])
    agent: Agent[None, str] = Agent(Scripts("Hello.END", "Hello.END").model, model_settings=settings)
    assert ran(agent, "Hi.").output == "Hello."
    assert "".join(asyncio.run(pieces(agent, "Hi."))) == "Hello."
    with pytest.raises(UserError, match=r"stop_sequences is for free text, and the output has a schema\. Leave it out"):
        ran(Agent(Scripts().model, output_type=Person, model_settings=settings), TEXT)


@pytest.mark.parametrize(
    "settings",
    [{"presence_penalty": 0.5}, {"logit_bias": {"1": 2}}, {"extra_body": {"a": 1}}, {"thinking": True}],
)
def test_settings_that_would_change_the_answer(settings: Any) -> None:
    with pytest.raises(UserError, match=f"The setting {next(iter(settings))} is .*, and is unsupported here"):
        ran(Agent(Scripts().model), "Hi.", model_settings=settings)


def test_settings_that_say_nothing() -> None:
    settings = ModelSettings(presence_penalty=0.0, thinking=False, cache=True)
    assert ran(Agent(Scripts("Hello.").model), "Hi.", model_settings=settings).output == "Hello."


@pytest.mark.parametrize(
    ("run", "kind", "text"),
    [
        (lambda model: ran(Agent(model), "Hi.", model_settings={"temperature": -1.0}), UserError, "temperature is"),
        (lambda model: ran(Agent(model, instructions="Be kind.")), ModelAPIError, "the last must be the user's"),
        (lambda model: ran(Agent(model), "Hi. " * 40), ModelAPIError, "The prompt"),
    ],
)
def test_errors_are_those_of_agents(run: Callable[[Any], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        run(Scripts("Hello.", context_length=64).model)


def test_a_schema_that_cannot_be_enforced_is_refused() -> None:
    """Before the model is asked, with the reason."""
    wanted = OutputObjectDefinition({"type": "integer", "minimum": 3, "maximum": 2})
    parameters = ModelRequestParameters(output_mode="native", output_object=wanted)
    with pytest.raises(UserError, match="Unsatisfiable: no integer is at least 3 and at most 2"):
        asyncio.run(Scripts().model.request([ModelRequest.user_text_prompt("Hi.")], None, parameters))


def test_another_model_answers_where_one_fails() -> None:
    """A prompt that is too long for one model is the next one's."""
    short, long = Scripts("Hello.", context_length=16), Scripts("Hello.")
    assert ran(Agent(FallbackModel(short.model, long.model)), "Hi. " * 10).output == "Hello."
    streamed = asyncio.run(pieces(Agent(FallbackModel(short.model, Scripts("Hello.").model)), "Hi. " * 10))
    assert "".join(streamed) == "Hello."


def test_text_is_streamed() -> None:
    told = asyncio.run(pieces(Agent(Scripts("Hello, Ana.").model), "I am Ana."))
    assert "".join(told) == "Hello, Ana."
    assert len(told) > 1


@pytest.mark.parametrize("mode", [NativeOutput, ToolOutput])
def test_an_object_is_streamed(mode: Callable[[Any], Any]) -> None:
    """In either mode, values are there before the whole is, and the last output is the whole."""

    class Loose(BaseModel):
        name: str = ""
        age: int | None = None

    told = asyncio.run(outputs(Agent(Scripts(ANA).model, output_type=mode(Loose)), TEXT))
    assert told[0] != told[-1] == Loose(name="Ana Brandt", age=31)


def test_calls_are_streamed_when_they_are_complete() -> None:
    scripts = Scripts(PORTO, "[]", "It is sunny.")
    told = asyncio.run(pieces(agent_with_tools(scripts), "How is Porto?"))
    assert "".join(told) == "It is sunny."
    assert "sunny in Porto" in scripts.prompts[-1]


def test_a_stream_has_its_usage_and_its_evidence() -> None:
    async def run() -> Any:
        async with Agent(Scripts(ANA).model, output_type=Person).run_stream(TEXT) as stream:
            await stream.get_output()
            return stream.response

    response = asyncio.run(run())
    assert response.usage.output_tokens >= len(ANA)
    assert [row["quote"] for row in response.provider_details["evidence"]] == ["Ana Brandt", "31"]
    assert response.finish_reason == "stop"


def test_a_stream_is_cancelled() -> None:
    async def run() -> Any:
        async with Agent(Scripts("Hello, Ana.").model).run_stream("Hi.") as stream:
            async for _ in stream.stream_text(delta=True, debounce_by=None):
                await stream.cancel()
                break
            return stream.response

    response = asyncio.run(run())
    assert response.state == "interrupted"
    assert len(response.parts[0].content) < len("Hello, Ana.")


def test_the_event_loop_goes_on_while_a_model_writes() -> None:
    """The model is asked in another thread, for streams too."""
    threads: set[int] = set()

    def script(prompt: str) -> str:
        threads.add(threading.get_ident())
        return f"Hello, {len(prompt)}."

    agent: Agent[None, str] = Agent(StructuredModel(ScriptedModel(script)))

    async def run() -> list[Any]:
        return await asyncio.gather(*(agent.run("Hi." * count) for count in range(1, 5)), pieces(agent, "Hi."))

    *results, streamed = asyncio.run(run())
    assert [one.output for one in results] == [f"Hello, {len('user: ') + 3 * count}." for count in range(1, 5)]
    assert "".join(streamed) == "Hello, 9."
    assert threading.get_ident() not in threads


def test_ids_of_calls_differ() -> None:
    both = json.dumps([*json.loads(PORTO), {"name": "weather", "arguments": {"city": "Oslo"}}])
    result = ran(agent_with_tools(Scripts(both, "[]", "Sunny.")), "How is it?")
    ids = [part.tool_call_id for part in calls_of(result.all_messages())]
    assert len({*ids}) == len(ids) == 2


def calls_of(messages: Any) -> Iterator[ToolCallPart]:
    parts = itertools.chain.from_iterable(one.parts for one in messages)
    return (part for part in parts if isinstance(part, ToolCallPart))
