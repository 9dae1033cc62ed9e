"""The MCP server, asked by the client of the official SDK: in the process, over a pipe and over HTTP."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("mcp", reason="Not installed: pip install 'structured-extraction[mcp]'")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from structured.cli import commands
from structured.errors import ModelError
from structured.integrations.mcp_server import create_mcp_server, places_of
from structured.models import PACKAGED_MODEL, ScriptedModel, load_model

TEXT = "Ana Brandt, 31, is a nurse."
FIELDS = "name: str, age: int"
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
ANA = {"name": "Ana Brandt", "age": 31}
MODEL = ScriptedModel('{"name": "Ana Brandt", "age": 31}')


def called(model: Any, tool: str, /, **arguments: Any) -> Any:
    """What a tool returns: the structured content; the text of an error."""

    async def call() -> Any:
        async with Client(create_mcp_server(model)) as client:
            return await client.call_tool(tool, arguments)

    return content_of(asyncio.run(call()))


def content_of(result: Any) -> Any:
    return result.content[0].text if result.is_error else result.structured_content


def test_an_argument_that_there_is_not_is_refused() -> None:
    """A misspelt one would change nothing, and no one would see it."""
    said = called(MODEL, "extract", text="Ana Brandt is 31.", schema=PERSON, allow_mising=True)
    assert said.startswith("extract has no argument 'allow_mising'. It has text, schema, fields, instructions,")
    assert "unknown" in called(MODEL, "extrakt", text="Ana").lower()


def test_the_tools_are_described() -> None:
    async def listed() -> Any:
        async with Client(create_mcp_server(MODEL)) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert set(tools) == {"extract", "classify", "locate", "inspect"}
    assert {"text", "schema", "fields", "allow_missing"} <= set(tools["extract"].input_schema["properties"])
    assert tools["extract"].input_schema["required"] == ["text"]
    assert all(tool.description and tool.output_schema and tool.annotations.read_only_hint for tool in tools.values())


@pytest.mark.parametrize("output_type", [{"schema": PERSON}, {"fields": FIELDS}])
def test_values_are_extracted_with_their_places(output_type: Any) -> None:
    told = called(MODEL, "extract", text=TEXT, **output_type)
    assert told["value"] == ANA
    assert told["missing"] == []
    assert [(row["path"], row["value"], row["start"], row["end"], row["quote"]) for row in told["evidence"]] == [
        ("name", "Ana Brandt", 0, 10, "Ana Brandt"),
        ("age", 31, 12, 14, "31"),
    ]
    assert 0 <= told["confidence"] <= 1
    assert not told["is_shortened"]


def test_fields_may_be_missing() -> None:
    model = ScriptedModel('{"name": "Ana Brandt", "age": null}')
    told = called(model, "extract", text="Ana Brandt is a nurse.", fields=FIELDS, allow_missing=True)
    assert (told["value"], told["missing"]) == ({"name": "Ana Brandt"}, ["age"])


def test_values_are_grounded() -> None:
    """Only a number of the text can be written: the document leaves no choice, and nothing is asked."""
    told = called(ScriptedModel("31"), "extract", text=TEXT, schema={"type": "integer"}, grounded=True)
    assert (told["value"], told["evidence"][0]["match"]) == (31, "grounded")


@pytest.mark.thorough
def test_a_text_is_classified() -> None:
    model = load_model(PACKAGED_MODEL)
    told = called(model, "classify", text="The kettle arrived broken and I am angry.", labels=["order", "complaint"])
    shares = {one["label"]: one["probability"] for one in told["probabilities"]}
    assert told["label"] == max(shares, key=lambda label: shares[label])
    assert told["confidence"] == max(shares.values())
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (31, [("31", "exact"), ("thirty-one", "normalised")]),
        ("Ana", [("Ana", "exact"), ("ana", "normalised")]),
        ("2024-05-02", [("2 May 2024", "normalised")]),
        ("Ana Brand", [("Ana Brant", "fuzzy")]),
        ("Berlin", []),
        (32, []),
    ],
)
def test_values_are_located(value: Any, found: list[tuple[str, str]]) -> None:
    """Other forms of a value are found, and similar words only where nothing states it."""
    text = "Ana Brant, 31, born again on 2 May 2024. Yes, ana is thirty-one."
    told = called(MODEL, "locate", text=text, value=value)["places"]
    assert [(one["quote"], one["match"]) for one in told] == found
    assert [text[one["start"] : one["end"]] for one in told] == [quote for quote, _ in found]
    assert told == places_of(text, value)


def test_a_type_is_inspected() -> None:
    told = called(MODEL, "inspect", fields="name: str, age: int | None")
    assert [(field["path"], field["kind"]) for field in told["fields"]][1:] == [
        ("name", "string"),
        ("age", "integer | null"),
    ]
    assert not told["is_refused"]
    assert any("name" in hazard["paths"] for hazard in told["hazards"])
    refused = called(MODEL, "inspect", schema={"type": "integer", "minimum": 3, "maximum": 2})
    assert refused["is_refused"]
    assert "no integer is at least 3 and at most 2" in refused["fields"][0]["refusals"][0]["problem"]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("extract", {"text": TEXT}, "Give the type of the answer as schema or as fields, and not both."),
        ("extract", {"text": TEXT, "fields": FIELDS, "schema": PERSON}, "and not both"),
        ("extract", {"text": "", "fields": FIELDS}, "The text is empty. There is nothing to extract from."),
        ("extract", {"text": TEXT, "fields": "name: strr"}, "'strr' is no type here. Did you mean 'str'?"),
        ("extract", {"text": TEXT, "schema": {"minimum": "3"}}, "minimum"),
        ("extract", {"text": TEXT, "fields": FIELDS, "max_tokens": 0}, "greater than or equal to 1"),
        ("extract", {"fields": FIELDS}, "text"),
        ("classify", {"text": TEXT, "labels": ["a"]}, "at least 2 items"),
        ("inspect", {}, "Give the type"),
    ],
)
def test_what_is_wrong_is_told(tool: str, arguments: Any, text: str) -> None:
    """The message of the library is the result, marked as an error."""
    told = called(MODEL, tool, **arguments)
    assert isinstance(told, str)
    assert text in told
    assert "Traceback" not in told


def test_a_model_that_cannot_be_loaded_is_told_by_the_tools_that_ask_it() -> None:
    assert "no-such-model" in called("./no-such-model", "extract", text=TEXT, fields=FIELDS)
    assert called("./no-such-model", "locate", text=TEXT, value=31)["places"]


def test_the_command_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(ModelError, match=r"pip install 'structured-extraction\[mcp\]'"):
        create_mcp_server(MODEL)


@pytest.mark.parametrize("address", ["8000", "localhost:", "localhost:http", "localhost:70000"])
def test_an_address_that_is_none(address: str) -> None:
    result = CliRunner().invoke(commands.app, ["mcp", "--http", address])
    assert result.exit_code == 2
    assert "is no HOST:PORT" in result.output


COMMAND = ("-m", "structured", "mcp", "--model", "packaged")


@pytest.mark.thorough
def test_a_process_serves_its_pipes() -> None:
    """Standard output is the protocol's alone, and standard error has what else is said."""
    server = StdioServerParameters(command=sys.executable, args=[*COMMAND], env=dict(os.environ))

    async def call() -> tuple[Any, Any]:
        async with Client(stdio_client(server)) as client:
            answered = await client.call_tool("extract", {"text": TEXT, "fields": FIELDS})
            return answered, await client.call_tool("extract", {"text": TEXT})

    answered, refused = asyncio.run(call())
    assert content_of(answered)["value"] == ANA
    assert "Give the type" in content_of(refused)


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def address() -> Iterator[str]:
    """A server in a process, once it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = f"127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, *COMMAND, "--http", where], stderr=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None and not listens(port):
                time.sleep(0.1)
            yield f"http://{where}/mcp"
        finally:
            process.terminate()


@pytest.mark.thorough
def test_a_process_serves_http(address: str) -> None:
    async def call() -> Any:
        async with Client(address) as client:
            return await client.call_tool("extract", {"text": TEXT, "schema": PERSON})

    assert content_of(asyncio.run(call()))["value"] == ANA
