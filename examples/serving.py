"""Serve the packaged model in a process of its own, and ask it with OpenAI's client.

`structured serve` is all that a server needs; here the program starts and ends it. Needs the extra `serve`, and the
package `openai`.

    $ python examples/serving.py
    Person(name='Jason', age=25)
    weather({"city": "Porto"})
    shipping
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import openai
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionUserMessageParam
from pydantic import BaseModel

ADDRESS = "http://127.0.0.1:8471"


class Person(BaseModel):
    name: str
    age: int


WEATHER: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@contextmanager
def server() -> Iterator[None]:
    """Run `structured serve` until the block ends."""
    command = [sys.executable, "-m", "structured", "serve", "--port", "8471", "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603  its own command
    try:
        while process.poll() is None:
            try:
                httpx.get(f"{ADDRESS}/readyz").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def user(text: str) -> ChatCompletionUserMessageParam:
    """Return a message."""
    return {"role": "user", "content": text}


if __name__ == "__main__":
    with server(), openai.OpenAI(base_url=f"{ADDRESS}/v1", api_key="none") as client:
        chat = client.chat.completions
        parsed = chat.parse(model="default", messages=[user("Jason is 25 years old.")], response_format=Person)
        print(repr(parsed.choices[0].message.parsed))

        question = user("How is the weather in Porto?")
        answer = chat.create(model="default", messages=[question], tools=[WEATHER], tool_choice="required")
        for call in answer.choices[0].message.tool_calls or ():
            if call.type == "function":
                print(f"{call.function.name}({call.function.arguments})")

        asked = {"text": "My parcel has not arrived.", "choices": ["billing", "shipping"]}
        print(httpx.post(f"{ADDRESS}/v1/choose", json=asked).json()["value"])
