"""Other clients of OpenAI's API over the server: instructor, and LangChain's.

Their packages want other versions than those that the tests are pinned to, so `.ci/clients` runs this file in an
environment with both.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from odd_requests import user
from pydantic import BaseModel, field_validator
from serving import connected, served

from structured.models.load import PACKAGED_MODEL
from structured.models.scripted import ScriptedModel

TEXT = "Order 7, large: a lamp for 12.50, and a chair."

pytestmark = pytest.mark.filterwarnings("default")  # theirs are not ours to mend


class Item(BaseModel):
    name: str
    price: float | None = None


class Order(BaseModel):
    """An order, as it was placed."""

    id: int
    size: Literal["small", "large"] = "small"
    items: list[Item]
    note: str | None = None


ORDER = Order(id=7, size="large", items=[Item(name="lamp", price=12.5), Item(name="chair")])


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("it is odd")
        return number


def data(value: BaseModel) -> Any:
    """A value of a type, or of what a client makes of it."""
    return value.model_dump()


@pytest.fixture(scope="module")
def packaged() -> Iterator[str]:
    with served(PACKAGED_MODEL) as address:
        yield address


@pytest.fixture(scope="module")
def ordering() -> Iterator[str]:
    """A server whose model always writes the same order."""
    with served(ScriptedModel(ORDER.model_dump_json())) as address:
        yield address


class TestInstructor:
    """https://python.useinstructor.com"""

    @staticmethod
    def client(address: str, mode: str) -> Any:
        instructor = pytest.importorskip("instructor", reason="It wants older packages; .ci/clients has them.")
        return instructor.from_openai(connected(address), mode=instructor.Mode[mode])

    @pytest.mark.parametrize("mode", ["TOOLS", "TOOLS_STRICT", "JSON", "JSON_SCHEMA"])
    def test_it_gets_instances(self, ordering: str, mode: str) -> None:
        """Lists in objects, optional fields and defaults; and where the client reads them while they are written."""
        asked = {"model": "default", "messages": user(TEXT), "max_retries": 0}
        chat = self.client(ordering, mode).chat.completions
        assert data(chat.create(response_model=Order, **asked)) == data(ORDER)
        partial = list(chat.create_partial(response_model=Order, **asked))
        assert data(partial[-1]) == data(ORDER)
        assert any(len(one.items or ()) < 2 for one in partial)  # it came piece by piece

    def test_it_reads_code_blocks(self) -> None:
        """Without a constraint, the model has to know what to write."""
        with served(ScriptedModel(f"```json\n{ORDER.model_dump_json()}\n```")) as address:
            chat = self.client(address, "MD_JSON").chat.completions
            found = chat.create(model="default", messages=user(TEXT), response_model=Order, max_retries=0)
            assert data(found) == data(ORDER)

    @pytest.mark.parametrize("mode", ["TOOLS", "JSON", "JSON_SCHEMA"])
    def test_it_gets_several(self, mode: str) -> None:
        script = json.dumps({"tasks": [item.model_dump() for item in ORDER.items]})
        with served(ScriptedModel(script)) as address:
            chat = self.client(address, mode).chat.completions
            found = chat.create_iterable(model="default", messages=user(TEXT), response_model=Item, max_retries=0)
            assert list(found) == ORDER.items

    @pytest.mark.parametrize("mode", ["TOOLS", "JSON", "JSON_SCHEMA"])
    def test_it_tries_again_with_what_was_wrong(self, mode: str) -> None:
        """The rejected answer and the reason stand in the next prompt."""
        prompts: list[str] = []

        def script(prompt: str) -> str:
            prompts.append(prompt)
            return f'{{"number": {len(prompts)}}}'

        with served(ScriptedModel(script)) as address:
            chat = self.client(address, mode).chat.completions
            asked = {"model": "default", "messages": user("A number."), "max_retries": 2}
            assert chat.create(response_model=Even, **asked).number == 2
        assert "it is odd" in prompts[1]

    @pytest.mark.parametrize("mode", ["TOOLS", "JSON_SCHEMA"])
    def test_the_packaged_model_answers(self, packaged: str, mode: str) -> None:
        chat = self.client(packaged, mode).chat.completions
        found = chat.create(model="default", messages=user("Order 7, large: a lamp for 12.50."), response_model=Order)
        assert (found.id, found.size, found.items[0].price) == (7, "large", 12.5)


class TestLangChain:
    """https://docs.langchain.com"""

    @staticmethod
    def model(address: str) -> Any:
        langchain = pytest.importorskip("langchain_openai", reason="It brings much; .ci/clients has it.")
        return langchain.ChatOpenAI(base_url=f"{address}/v1", api_key="none", model="default", max_retries=0)

    @pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
    def test_it_gets_instances(self, ordering: str, method: str) -> None:
        """Whole, as a stream, and several at a time."""
        model = self.model(ordering).with_structured_output(Order, method=method)
        assert model.invoke(TEXT) == ORDER
        assert list(model.stream(TEXT))[-1] == ORDER
        assert model.batch([TEXT, "Another."]) == [ORDER] * 2

    def test_it_gets_what_was_sent_as_well(self, ordering: str) -> None:
        found = self.model(ordering).with_structured_output(Order, include_raw=True).invoke(TEXT)
        assert found["parsed"] == ORDER
        assert found["raw"].response_metadata["finish_reason"] == "stop"
        assert found["raw"].usage_metadata["output_tokens"] > 0

    @pytest.mark.parametrize("method", ["json_schema", "function_calling"])
    def test_the_packaged_model_answers(self, packaged: str, method: str) -> None:
        model = self.model(packaged).with_structured_output(Order, method=method)
        found = model.invoke("Order 7, large: a lamp for 12.50.")
        assert (found.id, found.size, found.items[0].price) == (7, "large", 12.5)

    def test_its_tools_are_called_and_told(self) -> None:
        """A loop: the call, the result, and the answer, which is streamed."""
        tools = pytest.importorskip("langchain_core.tools")
        messages = pytest.importorskip("langchain_core.messages")

        @tools.tool
        def weather(city: str) -> str:
            """Tells the weather in a city."""
            return f"sunny in {city}"

        def script(prompt: str) -> str:
            if "List the calls" not in prompt:
                return "It is sunny."
            return "[]" if "sunny in Porto" in prompt else '[{"name": "weather", "arguments": {"city": "Porto"}}]'

        with served(ScriptedModel(script)) as address:
            model = self.model(address).bind_tools([weather])
            chat = [messages.HumanMessage("How is the weather in Porto?")]
            chat.append(model.invoke(chat))
            chat += [weather.invoke(call) for call in chat[-1].tool_calls]
            pieces = list(model.stream(chat))
        assert "".join(piece.content for piece in pieces) == "It is sunny."
        assert [one.type for one in chat] == ["human", "ai", "tool"]

    @pytest.mark.parametrize("choice", ["any", "weather"])
    def test_a_tool_has_to_be_called(self, choice: str) -> None:
        tool = {"title": "weather", "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        with served(ScriptedModel('{"city": "Porto"}')) as address:
            model = self.model(address).bind_tools([tool], tool_choice=choice)
            [call] = model.invoke("How is the weather in Porto?").tool_calls
            assert (call["name"], call["args"]) == ("weather", {"city": "Porto"})
            *_, last = _added(model.stream("How is the weather in Porto?"))
            assert last.tool_calls[0]["args"] == {"city": "Porto"}


def _added(pieces: Iterator[Any]) -> Iterator[Any]:
    """What the pieces of a stream add up to, after each."""
    whole = next(pieces)
    for piece in pieces:
        whole += piece
        yield whole
