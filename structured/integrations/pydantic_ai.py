"""pydantic-ai: a model of this library behind its agents.

    agent = Agent(StructuredModel("smollm2-extract"), output_type=Person)

What an agent asks for is one of four things: free text, an object of a JSON Schema, the arguments of the one tool that
has to be called, or calls of tools. All but the first are enforced while they are written. See `replies.py` for
calls beside an answer.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelAPIError, UserError
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    RetryFeedbackPart,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.profiles import ModelProfile, ModelProfileSpec
from pydantic_ai.settings import ModelSettings, ToolOrOutput
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from structured.errors import PatternError, SchemaError, StructuredError
from structured.errors.calling_line import without_warnings
from structured.errors.values import message, shown
from structured.extraction.extractor import Extractor
from structured.integrations.replies import Reply, Responder, arguments_type, calls_to_text, free_text, result_to_text
from structured.models import LanguageModel, ModelSource, find_model
from structured.output_types.call_types import functions
from structured.output_types.functions import Tool
from structured.output_types.json_output import JsonLayout
from structured.output_types.json_schema import JsonSchema

if TYPE_CHECKING:
    from structured.extraction.options import Options

T = TypeVar("T")

PROVIDER = "structured"
"""The name of the provider, in messages and traces."""

OPTION_SETTINGS = ("max_tokens", "temperature", "top_p", "top_k", "seed")
"""The settings of pydantic-ai that are options of `extract`, under the same names."""

UNSUPPORTED_SETTINGS = ("presence_penalty", "frequency_penalty", "logit_bias", "extra_body", "thinking", "citations")
"""Settings that would change the answer, and are refused."""


class StructuredModel(Model[None]):
    """A model of this library, for the agents of pydantic-ai.

    An agent with an output type gets an object that is valid by its JSON Schema, whatever the model. The request runs
    in a thread, so that the event loop is not blocked.

    Of the settings, `max_tokens`, `temperature`, `top_p`, `top_k`, `seed`, `tool_choice` and `parallel_tool_calls`
    apply, and `stop_sequences` to free text. Without a temperature the likeliest token is taken. A setting that would
    change the answer and is unsupported is an error.

    Parameters:
        model: As the option `model` of `extract`: a name, a loaded model, or the address of one behind a server, which
            is asked for objects and calls, and not for free text.
        settings: Settings of every request that does not say otherwise.
        profile: What to change in the profile, as for every model of pydantic-ai.

    Raises:
        ModelError: The model cannot be loaded.

    A request raises `UserError` for what the model cannot be asked, such as a schema that cannot be enforced exactly,
    and `ModelAPIError` where the model fails or its context is too short, so that a `FallbackModel` asks the next.
    """

    unsupported_settings = frozenset({"timeout", "max_retries", "extra_headers"})

    def __init__(
        self,
        model: "ModelSource | None" = None,
        *,
        settings: ModelSettings | None = None,
        profile: ModelProfileSpec | None = None,
    ) -> None:
        super().__init__(settings=settings, profile=profile)
        self.model = find_model(model)

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def system(self) -> str:
        """The name of the provider."""
        return PROVIDER

    def _provider_model_profile(self) -> ModelProfile:
        profile = ModelProfile(
            supports_json_schema_output=True,
            supports_json_object_output=True,
            default_structured_output_mode="native",
            prompted_output_template="",  # the prompt describes the type in any case
            supports_image_input=False,
            supports_document_input=False,
            supports_audio_file_input=False,
            supports_video_input=False,
        )
        if isinstance(self.model, LanguageModel):
            profile["context_window"] = self.model.context_length
        return profile

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the response of the model to the messages of an agent."""
        responder, turns, _ = await self._responder(messages, model_settings, model_request_parameters)
        return await self.in_thread(lambda: reply_to_response(*responder.replies([turns])))

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,  # noqa: ARG002  nothing depends on the run
    ) -> AsyncGenerator[StreamedResponse]:
        """Return the response as a stream, which has the text as it is written, and calls when they are complete."""
        responder, turns, parameters = await self._responder(messages, model_settings, model_request_parameters)
        pieces = await self.in_thread(lambda: responder.stream(turns))
        yield StructuredStreamedResponse(parameters, self, pieces, responder.tool)

    async def _responder(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> tuple[Responder, list[dict[str, str]], ModelRequestParameters]:
        """Return what replies to a request, the messages of its prompt, and prepared parameters. Raises UserError."""
        check_settings({**(self.settings or {}), **(settings or {})})
        prepared_settings, parameters = self.prepare_request(settings, parameters)
        instructions = [part.content for part in self._get_instruction_parts(messages, parameters) or ()]
        turns = prompt_turns(messages, instructions)
        try:
            request = _Request(self.model, prepared_settings or ModelSettings(), parameters)
            responder = await self.in_thread(request.responder)
        except (TypeError, ValueError) as error:  # of an option, or a member of a tool
            raise UserError(message(error)) from error
        return responder, turns, parameters

    async def in_thread(self, step: Callable[[], T]) -> T:
        """Return what a step of the model returns, which runs in a thread. Raises UserError and ModelAPIError.

        Warnings are left out: what they say of an answer is in its finish reason.
        """
        try:
            with without_warnings():
                return await asyncio.to_thread(step)
        except (SchemaError, PatternError) as error:
            raise UserError(message(error)) from error
        except StructuredError as error:
            raise ModelAPIError(self.model_name, message(error)) from error


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise UserError for a setting that would change the answer and is unsupported."""
    for name in UNSUPPORTED_SETTINGS:
        if settings.get(name):  # a penalty of 0 says nothing
            raise UserError(f"The setting {name} is {shown(settings[name])}, and is unsupported here. Leave it out.")


def reply_to_response(reply: Reply) -> ModelResponse:
    """Return a reply as the response of a model, with the evidence of an object's values."""
    responder, result = reply.responder, reply.result
    cost = result.usage if reply.empty_calls is None else result.usage.plus(reply.empty_calls.usage)
    has_evidence = not responder.is_free and not responder.writes_calls
    return ModelResponse(
        parts=[ToolCallPart(*call) for call in reply.calls] or [TextPart(reply.text)],
        usage=RequestUsage(
            input_tokens=cost.prompt_tokens,
            output_tokens=cost.sampled_tokens + cost.forced_tokens,
            details={name: getattr(cost, name) for name in ("sampled_tokens", "forced_tokens", "passes")},
        ),
        model_name=responder.extractor.model.name,
        provider_name=PROVIDER,
        provider_details={"confidence": result.confidence, "evidence": result.rows()} if has_evidence else None,
        finish_reason="length" if reply.is_cut_short else "tool_call" if reply.calls else "stop",
    )


@dataclass(frozen=True, slots=True)
class _Request:
    """A request of an agent."""

    model: Any
    settings: ModelSettings
    parameters: ModelRequestParameters

    def responder(self) -> Responder:
        """Return what replies to it. Raises UserError, and SchemaError for a type that cannot be enforced."""
        definitions, is_forced = allowed_tools(self.settings, self.parameters)
        if not definitions:
            return self._responder_without_tools()
        tools = [Tool(tool.name, tool.parameters_json_schema, tool.description or "") for tool in definitions]
        if is_forced and self.settings.get("stop_sequences"):
            problem = "The setting stop_sequences is for free text, and a tool has to be called here. Leave it out."
            raise UserError(problem)
        if is_forced and len(tools) == 1:
            [tool] = tools
            layout = None if definitions[0].kind == "output" else JsonLayout(optional_properties="omittable")
            return self._responder_of(arguments_type(tool), layout, tool=tool.name)
        if is_forced:
            return self._responder_of(functions(*tools))
        calls_at_most = 1 if self.settings.get("parallel_tool_calls") is False else None
        fallback = self._responder_without_tools()
        return self._responder_of(functions(*tools, parallel=True), calls_at_most=calls_at_most, fallback=fallback)

    def _responder_without_tools(self) -> Responder:
        """Return what replies with an object, where the agent has a schema for it, or else with text."""
        output_object, stops = self.parameters.output_object, self.settings.get("stop_sequences") or []
        if output_object is None:
            return self._responder_of(free_text(stops), is_free=True, stops=stops)
        if stops:
            raise UserError("The setting stop_sequences is for free text, and the output has a schema. Leave it out.")
        description = {"description": output_object.description} if output_object.description else {}
        schema = {**description, **output_object.json_schema}
        return self._responder_of(JsonSchema(schema, name=output_object.name or ""))

    def _responder_of(
        self, output_type: Any, layout: JsonLayout | None = None, *, is_free: bool = False, **members: Any
    ) -> Responder:
        settings: Mapping[str, Any] = self.settings
        options = {name: settings[name] for name in OPTION_SETTINGS if settings.get(name) is not None}
        extractor = Extractor[Any](output_type, **cast("Options", {**options, "model": self.model, "layout": layout}))
        return Responder(extractor.verbatim() if is_free else extractor, is_free, **members)


def allowed_tools(settings: ModelSettings, parameters: ModelRequestParameters) -> tuple[Sequence[ToolDefinition], bool]:
    """Return the tools that may be called, and whether one has to be. Raises UserError if none of a choice is there."""
    function_tools, output_tools = parameters.declared_function_tools, parameters.output_tools
    is_forced = not parameters.allow_text_output
    match settings.get("tool_choice"):
        case None | "auto":
            tools = [*function_tools, *output_tools]
        case "none" | []:
            tools = output_tools
        case "required":
            tools, is_forced = function_tools, True
        case ToolOrOutput(function_tools=chosen):
            tools = [*(tool for tool in function_tools if tool.name in chosen), *output_tools]
        case names:
            tools, is_forced = [tool for tool in (*function_tools, *output_tools) if tool.name in names], True
    if is_forced and not tools:
        known = ", ".join(tool.name for tool in (*function_tools, *output_tools)) or "none"
        raise UserError(f"A tool has to be called, and none may be. Tools are: {known}. Change tool_choice.")
    return tools, is_forced


def prompt_turns(messages: Sequence[ModelMessage], instructions: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages of an agent as a prompt, the instructions first. Raises UserError for what is no text."""
    system: list[str] = []
    turns: list[dict[str, str]] = []
    arguments: dict[str, str] = {}
    """The arguments of calls by their ids."""
    for agent_message in messages:
        parts = agent_message.parts
        if isinstance(agent_message, ModelRequest):
            system += [part.content for part in parts if isinstance(part, SystemPromptPart)]
            results = [
                result_to_text(part.tool_name, arguments.get(part.tool_call_id, ""), part.model_response_str())
                for part in parts
                if isinstance(part, ToolReturnPart)
            ]
            others = [_part_text(part) for part in parts if not isinstance(part, ToolReturnPart | SystemPromptPart)]
            role, texts = "user", [*results, *others]
        else:
            arguments |= {part.tool_call_id: _arguments(part) for part in parts if isinstance(part, ToolCallPart)}
            role, texts = "assistant", _response_texts(agent_message)
        content = "\n\n".join(filter(None, texts))
        if content and turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{content}"
        elif content:
            turns.append({"role": role, "content": content})
    system_text = "\n\n".join((*system, *instructions))
    return [{"role": "system", "content": system_text}, *turns] if system_text else turns


def _arguments(call: ToolCallPart) -> str:
    """Return arguments as the model would write them."""
    return json.dumps(call.args_as_dict(), ensure_ascii=False)


def _part_text(part: object) -> str:
    """Return the text of a part of a request, or of an item of it. Raises UserError for what is no text."""
    match part:
        case str(text) | TextContent(content=text) | UserPromptPart(content=str(text)):
            return text
        case UserPromptPart(content=items):
            return "\n\n".join(_part_text(item) for item in items if not isinstance(item, CachePoint))
        case RetryPromptPart() | RetryFeedbackPart():  # where the messages did not come through an agent
            return part.model_response()
    raise _no_text_error(part)


def _response_texts(response: ModelResponse) -> list[str]:
    """Return the text of a response, and its calls. Raises UserError for a file, or what another provider ran."""
    texts: list[str] = []
    calls: list[tuple[str, str]] = []
    for part in response.parts:
        match part:
            case TextPart(content=text):
                texts.append(text)
            case ToolCallPart(tool_name=name):
                calls.append((name, _arguments(part)))
            case ThinkingPart():  # models are not shown what they thought before
                pass
            case _:
                raise _no_text_error(part)
    return [*texts, calls_to_text(calls)]


def _no_text_error(part: object) -> UserError:
    return UserError(f"A {type(part).__name__} is no text, and models of structured read text alone. Leave it out.")


@dataclass
class StructuredStreamedResponse(StreamedResponse):
    """A response that is written as it is read: pieces of text, or of the arguments of the one tool; or calls."""

    agent_model: StructuredModel
    pieces: Iterator[str | Reply]
    tool: str | None
    """The tool whose arguments the pieces are."""
    opened: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        tool = self.tool
        while not isinstance(piece := await self.agent_model.in_thread(lambda: next(self.pieces)), Reply):
            if self.cancelled:
                return
            if piece and self.tool is None:
                for event in self._parts_manager.handle_text_delta(vendor_part_id="text", content=piece):
                    yield event
            elif piece:
                for event in self._parts_manager.handle_tool_call_delta_events(
                    vendor_part_id="arguments", tool_name=tool, args=piece
                ):
                    yield event
                tool = None  # what is given again is appended
        response = await self.agent_model.in_thread(lambda: reply_to_response(piece))
        self._usage, self.finish_reason = response.usage, response.finish_reason
        self.provider_details = response.provider_details
        for name, arguments in piece.calls if self.tool is None else ():
            yield self._parts_manager.handle_tool_call_part(vendor_part_id=None, tool_name=name, args=arguments)

    async def close_stream(self) -> None:
        """Write no more: the model stops after the pass that it is at."""

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self.agent_model.model_name

    @property
    def provider_name(self) -> str:
        """The name of the provider."""
        return PROVIDER

    @property
    def provider_url(self) -> None:
        """There is none: the model runs in this process."""
        return

    @property
    def timestamp(self) -> datetime:
        """When the stream was opened."""
        return self.opened
