"""An MCP server: tools that extract, classify, locate and inspect, for assistants that speak the protocol.

`structured mcp` starts it over standard input and output, or over HTTP. A tool returns structured content; where the
library refuses, its message is the result, marked as an error, so that the assistant can correct what it asked.

The tools take texts and no paths: an assistant reads files with the tools that its user has allowed it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import wraps
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer
from pydantic import Field
from typing_extensions import TypedDict

from structured.errors import ModelError, StructuredError
from structured.errors.calling_line import without_warnings
from structured.errors.values import message
from structured.extraction.classification import classify
from structured.extraction.extractor import Extractor
from structured.integrations.server.field_lists import read_fields
from structured.models import LanguageModel, ModelSource, load_model
from structured.output_types.choice import Choice
from structured.output_types.inspection import inspect_type
from structured.output_types.json_schema import JsonSchema
from structured.output_types.report_view import report_to_dict, shown_cost
from structured.results.alignment import Value, align

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from structured.results.evidence import Evidence

P = ParamSpec("P")
T = TypeVar("T")

MAX_PLACES = 20
"""The most places of one value in the output of `locate`."""

INSTRUCTIONS = (
    "Reads texts with a language model on this machine. extract fills a schema, and tells for each value where the "
    "text states it; check values without a place. A field that the text may not state should be allowed to be missing."
)


class Place(TypedDict):
    """A place in a text."""

    start: Annotated[int, Field(description="Where it starts, in characters.")]
    end: Annotated[int, Field(description="Where it ends, in characters.")]
    quote: Annotated[str, Field(description="What the text says there.")]
    match: Annotated[str, Field(description="exact, normalised (in another form) or fuzzy (similar words)")]


class ExtractOutput(TypedDict):
    """What `extract` returns."""

    value: Annotated[Any, Field(description="The answer, valid by the schema.")]
    missing: Annotated[list[str], Field(description="The fields that the text does not state.")]
    confidence: Annotated[float, Field(description="The least of those of the values.")]
    evidence: Annotated[
        list[dict[str, Any]],
        Field(
            description="For each value its path, such as lines[0].price; the quote that supports it, its start and "
            "end in characters, null if nothing does; the match; the confidence, null if the model had no choice."
        ),
    ]
    is_shortened: Annotated[bool, Field(description="Whether max_tokens kept the model from writing more.")]


class LabelProbability(TypedDict):
    """A label with its probability."""

    label: str
    probability: float


class ClassifyOutput(TypedDict):
    """What `classify` returns."""

    label: str
    confidence: float
    probabilities: Annotated[list[LabelProbability], Field(description="All labels, the most probable first.")]


class LocateOutput(TypedDict):
    """What `locate` returns."""

    places: Annotated[list[Place], Field(description="Empty if the text does not state the value.")]


Schema = Annotated[dict[str, Any] | None, Field(description="A JSON Schema of the answer. Give this or fields.")]
Fields = Annotated[
    str | None, Field(description='A list of fields in place of a schema: "name: str, age: int | None".')
]
Document = Annotated[str, Field(description="The text to read.")]


def create_mcp_server(model: "ModelSource | None" = None) -> "MCPServer[Any]":
    """Return a server with the four tools, of the official SDK; `run()` serves standard input and output.

    The model is loaded beside the server, since clients wait for a server only for seconds. If it cannot be loaded, the
    tools that ask it say why.

    Parameters:
        model: As for `load_model`.

    Raises ModelError without the extra `mcp`.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError as error:
        problem = f"An MCP server needs the extra mcp ({error}). Run pip install 'structured-extraction[mcp]'."
        raise ModelError(problem) from error

    class Server(MCPServer[Any]):
        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            """Call a tool. Raises ToolError for an argument that it does not have, which the SDK would ignore."""
            known_arguments = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}
            unknown = sorted(arguments.keys() - known_arguments.get(name, arguments).keys())
            if unknown:
                raise ToolError(f"{name} has no argument {unknown[0]!r}. It has {', '.join(known_arguments[name])}.")
            return await super().call_tool(name, arguments, context)

    tools = Tools(model)
    server = Server("structured", instructions=INSTRUCTIONS, log_level="WARNING")
    annotations = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (tools.extract, tools.classify, tools.locate, tools.inspect):
        server.add_tool(tool, annotations=annotations)
    return server


def _tool(function: Callable[P, T]) -> Callable[P, T]:
    """Return a tool without warnings, whose errors are ToolErrors with the messages of the library."""

    @wraps(function)
    def call(*args: P.args, **arguments: P.kwargs) -> T:
        from mcp.server.mcpserver.exceptions import ToolError

        try:
            with without_warnings():
                return function(*args, **arguments)
        except (StructuredError, ValueError, TypeError) as error:
            raise ToolError(message(error)) from error

    return call


class Tools:
    """The tools of a server, and the model that they ask. The SDK runs each in a thread."""

    def __init__(self, model: "ModelSource | None") -> None:
        self._model: Future[LanguageModel] = Future()
        Thread(target=self._load, args=(model,), name="loading of the model", daemon=True).start()

    def _load(self, model: "ModelSource | None") -> None:
        try:
            self._model.set_result(load_model(model))
        except Exception as error:  # noqa: BLE001  whoever asks the model gets it
            self._model.set_exception(error)

    @_tool
    def extract(  # noqa: PLR0913  the parameters of the tool
        self,
        text: Document,
        schema: Schema = None,
        fields: Fields = None,
        *,
        instructions: Annotated[str | None, Field(description="What to pay attention to.")] = None,
        allow_missing: Annotated[
            bool, Field(description="Whether required fields that the text does not state may be missing.")
        ] = False,
        grounded: Annotated[
            bool, Field(description="Whether texts, numbers and dates can only be such that the text states.")
        ] = False,
        max_tokens: Annotated[int, Field(ge=1, le=8192, description="The most tokens of the answer.")] = 1024,
    ) -> ExtractOutput:
        """Extract values from a text: valid by a schema, each with the place in the text that states it."""
        extractor = Extractor[Any](
            _type(schema, fields),
            model=self._model.result(),
            instructions=instructions,
            allow_missing=True if allow_missing else None,
            grounded=True if grounded else None,
            max_tokens=max_tokens,
        )
        result = extractor.result(text)
        return ExtractOutput(
            value=result.data,
            missing=list(result.missing),
            confidence=result.confidence,
            evidence=result.rows(),
            is_shortened=any(generation.shortened for generation in result.generations),
        )

    @_tool
    def classify(
        self,
        text: Document,
        labels: Annotated[list[str], Field(min_length=2, description="The labels to choose from.")],
        *,
        instructions: Annotated[str | None, Field(description="What the labels are about.")] = None,
    ) -> ClassifyOutput:
        """Choose the label that fits a text, with the probability of each."""
        choice = classify(Choice(labels), text, model=self._model.result(), instructions=instructions)
        shares = [LabelProbability(label=label, probability=share) for label, share in choice.probabilities.items()]
        return ClassifyOutput(label=choice.value, confidence=choice.confidence, probabilities=shares)

    @_tool
    def locate(
        self,
        text: Document,
        value: Annotated[str | int | float, Field(description="A text, a number, or a date such as 2024-05-02.")],
    ) -> LocateOutput:
        """Find where a text states a value, also in another form: forty-two for 42, 2 May 2024 for 2024-05-02.

        No model is asked.
        """
        return LocateOutput(places=places_of(text, value))

    @_tool
    def inspect(self, schema: Schema = None, fields: Fields = None) -> dict[str, Any]:
        """Tell what a schema allows, and what of it is refused and why, before anything is extracted.

        Of each field, the status is enforced, checked (on the finished answer) or refused, with the reasons and what to
        write. Hazards are what may make valid answers bad or endless.
        """
        report = inspect_type(_type(schema, fields))
        return {**report_to_dict(report), "cost": shown_cost(report), "is_refused": bool(report.refusals)}


def _type(schema: Mapping[str, Any] | None, fields: str | None) -> Any:
    """Return the type that a call of a tool gives. Raises ValueError for none and for two, and SchemaError."""
    if (schema is None) == (fields is None):
        raise ValueError("Give the type of the answer as schema or as fields, and not both.")
    return read_fields(fields or "") if schema is None else JsonSchema(schema)


def places_of(text: str, value: str | float) -> list[Place]:
    """Return the places where a text states a value, in order; similar words only where nothing states it.

    >>> places_of("Ana is 31. Ana is thirty-one.", 31)[1]["quote"]
    'thirty-one'
    """
    values = [Value((place,), value) for place in range(MAX_PLACES)]  # equal values are at different places
    alignments: Sequence[Evidence] = align(text, values)
    matches = {alignment.span: alignment.match for alignment in alignments if alignment.span is not None}
    if any(match != "fuzzy" for match in matches.values()):
        matches = {span: match for span, match in matches.items() if match != "fuzzy"}
    return [
        Place(start=start, end=end, quote=quote, match="exact" if quote == str(value) else match)
        for (start, end), match in sorted(matches.items())
        for quote in [text[start:end]]
    ]


def serve_mcp(
    *,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="As for `structured serve`; see `structured models`.")
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve HTTP at http://HOST:PORT/mcp, and not this process's pipes."),
    ] = None,
) -> None:
    """Serve tools to assistants, over the Model Context Protocol.

    They are extract, classify, locate and inspect. Over standard input and output, for assistants that start it
    themselves, or over HTTP. Needs the extra `mcp`.
    """
    host, port = ("", 0) if http is None else read_address(http)
    server = create_mcp_server(model)
    if http is None:
        server.run("stdio")
    else:
        typer.echo(f"Serving at http://{http}/mcp", err=True)
        server.run("streamable-http", host=host, port=port)


def read_address(address: str) -> tuple[str, int]:
    """Return the host and the port of an address: `127.0.0.1:8000`. Raises `typer.BadParameter` for what is none."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise typer.BadParameter(f"{json.dumps(address)} is no HOST:PORT, such as 127.0.0.1:8000.", param_hint="--http")
    return host.strip("[]"), int(port)
