"""Request bodies: those of OpenAI's API with vLLM's additions, and the library's own.

A member that would change the answer and is not supported is refused; one that has no bearing on the answer is
ignored. Sources: OpenAI's API reference, "Chat" and "Completions"; vLLM's "Structured outputs".
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    field_validator,
    model_validator,
)

JsonObject: TypeAlias = dict[str, Any]
ConstraintKind: TypeAlias = Literal["json", "regex", "choice", "grammar", "fields", "constraint", "tools"]
GUIDED_KINDS: tuple[ConstraintKind, ...] = ("json", "regex", "choice", "grammar")
"""The kinds that have a member of their own in older requests of vLLM's API, such as `guided_json`."""

MAX_DEPTH = 200
"""The deepest nesting of brackets in a body. Pydantic writes no more than 255."""

MAX_TOOLS = 128
"""As many as OpenAI's API takes. Each is a schema of its own."""

MAX_LOGPROBS = 20
"""The most tokens that are shown beside each token, as in OpenAI's API."""


class RequestedConstraint(NamedTuple):
    """A constraint that a request puts on its answer: what kind it is, its value, and further arguments of its type."""

    kind: ConstraintKind
    value: Any
    type_arguments: Mapping[str, Any] = {}


ANY_OBJECT = RequestedConstraint("json", {"type": "object"}, {"name": "JSON"})
"""The constraint of `json_object`."""


class Body(BaseModel):
    """An object of a request. A member that it does not have is refused."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class RequestBody(Body):
    """The whole body of a request."""

    model: str | None = None
    temperature: StrictFloat | None = Field(None, ge=0, le=2)
    seed: StrictInt | None = Field(None, ge=0)
    """Also of a response, which has none in OpenAI's API."""

    @model_validator(mode="before")
    @classmethod
    def _check_json(cls, body: object) -> object:
        r"""Refuse NaN, Infinity and lone surrogates, "\ud800", which Python reads and JSON does not have."""
        if _is_deep(body):
            raise ValueError(f"Brackets are nested more than {MAX_DEPTH} deep")
        try:
            json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise ValueError(f"There is half of a character, the lone surrogate {half!r}") from error
        except ValueError as error:
            raise ValueError("There is a number that is not finite: NaN, Infinity, or one too large for it") from error
        return body

    @property
    def constraint_key(self) -> str:
        """A key of the type and the prompt without the text: requests with the same key share an extractor."""
        return f"{type(self).__name__} {self.model_dump_json(exclude=_KEYLESS_MEMBERS, by_alias=True)}"


def _is_deep(body: object) -> bool:
    """Tell whether brackets are nested too deeply."""
    level = [body]
    for _ in range(MAX_DEPTH + 1):
        parts = [data.values() if isinstance(data, dict) else data for data in level if isinstance(data, dict | list)]
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


_TEXT_MEMBERS = {"messages", "prompt", "text", "documents"}
_SAMPLING_MEMBERS = {"temperature", "top_p", "top_k", "min_p", "seed", "max_tokens", "max_completion_tokens"}
_RESPONSE_MEMBERS = {"stream", "stream_options", "n", "model", "logprobs"}
_IGNORED_MEMBERS = {"metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"}
_KEYLESS_MEMBERS = _TEXT_MEMBERS | _SAMPLING_MEMBERS | _RESPONSE_MEMBERS | _IGNORED_MEMBERS
"""The members on which neither the type nor the prompt without the text depends."""


class JsonSchemaFormat(Body):
    """A schema and its name. Answers follow it with and without `strict`."""

    name: str = "answer"
    description: str | None = None
    schema_: JsonObject | bool = Field(default_factory=dict, alias="schema")
    strict: StrictBool | None = None


class ResponseFormat(Body):
    """`{"type": "json_schema", "json_schema": {"name": …, "schema": …}}`."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchemaFormat | None = None

    @model_validator(mode="after")
    def _check_schema(self) -> Self:
        if (self.type == "json_schema") != (self.json_schema is not None):
            raise ValueError("json_schema goes with the type json_schema, and with no other")
        return self


class StructuredOutputs(Body):
    """One constraint, as vLLM has it: `{"regex": "[0-9]+"}`; or as this library writes it, with nothing left out.

    `{"constraint": {"type": …}}` is what `structured://` sends; see `output_types/described_types.py`.
    """

    json_: JsonObject | str | bool | None = Field(default=None, alias="json")
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: StrictBool | None = None
    constraint: JsonObject | None = None

    @model_validator(mode="after")
    def _check_one_constraint(self) -> Self:
        if len(self.constraints) != 1:
            raise ValueError("exactly one of json, regex, choice, grammar, json_object and constraint is needed")
        return self

    @property
    def constraints(self) -> list[RequestedConstraint]:
        """The constraints: one, once this is checked."""
        kinds: tuple[ConstraintKind, ...] = ("regex", "choice", "grammar", "constraint")
        members = [("json", self.json_), *((kind, getattr(self, kind)) for kind in kinds)]
        constraints = [RequestedConstraint(kind, value) for kind, value in members if value is not None]
        return [*constraints, ANY_OBJECT] if self.json_object else constraints


Zero = Annotated[StrictFloat, Field(ge=0, le=0)]
One = Annotated[StrictFloat, Field(ge=1, le=1)]
"""Penalties that change nothing; others are refused."""
StopPhrase = Annotated[str, Field(min_length=1)]


class StreamOptions(Body):
    """What a stream has beside the text; padding against eavesdroppers is never sent."""

    include_usage: StrictBool = False
    include_obfuscation: StrictBool = False


class OpenAIRequest(RequestBody):
    """Members of all requests of OpenAI's API."""

    top_p: StrictFloat | None = Field(None, gt=0, le=1)
    structured_outputs: StructuredOutputs | None = None
    """As in vLLM's API, also of a response."""
    stream_options: StreamOptions | None = None
    metadata: JsonObject | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: StrictBool | None = None
    user: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, body: object) -> object:
        """Leave out members that are null, which mean their defaults in OpenAI's API: `"n": null` is one answer."""
        if not isinstance(body, dict):
            return body
        return {name: value for name, value in body.items() if value is not None or name not in cls.model_fields}


class GenerationRequest(OpenAIRequest):
    """Members of chats and completions."""

    top_k: StrictInt | None = Field(None, ge=1, le=2**31 - 1)
    min_p: StrictFloat | None = Field(None, ge=0, le=1)
    n: StrictInt = Field(1, ge=1, le=16)
    max_tokens: StrictInt | None = Field(None, ge=1)
    stop: StopPhrase | list[StopPhrase] | None = None
    stop_repetition: StrictBool = True
    """As the option of `extract`: the library's own."""
    stream: StrictBool = False
    frequency_penalty: Zero | None = None
    presence_penalty: Zero | None = None
    repetition_penalty: One | None = None
    logit_bias: Annotated[JsonObject, Field(max_length=0)] | None = None
    guided_json: JsonObject | str | bool | None = None
    guided_regex: str | None = None
    guided_choice: list[str] | None = None
    guided_grammar: str | None = None
    guided_decoding_backend: str | None = None

    @property
    def stops(self) -> list[str]:
        """The phrases that end an answer."""
        return [self.stop] if isinstance(self.stop, str) else self.stop or []

    @property
    def constraints(self) -> dict[str, RequestedConstraint]:
        """The constraints of the answer, by the members that have them."""
        guided = {f"guided_{kind}": RequestedConstraint(kind, getattr(self, f"guided_{kind}")) for kind in GUIDED_KINDS}
        constraints = {member: constraint for member, constraint in guided.items() if constraint.value is not None}
        if self.structured_outputs is not None:
            [constraints["structured_outputs"]] = self.structured_outputs.constraints
        return constraints


class TextPart(Body):
    """A part of a message; parts of other types are refused."""

    type: Literal["text"]
    text: str


def text_parts_only(*types: str) -> BeforeValidator:
    """Return a validator of the content of a message that refuses parts of another type than some."""

    def check(content: object) -> object:
        for part in content if isinstance(content, list) else ():
            part_type = part.get("type") if isinstance(part, dict) else None
            if part_type is not None and not (isinstance(part_type, str) and part_type in types):
                name = part_type if isinstance(part_type, str) else json.dumps(part_type)
                raise ValueError(f"parts of the type {name} are not supported. Send text alone")
        return content

    return BeforeValidator(check)


class CalledFunction(Body):
    """A function that was called, and its arguments as JSON text."""

    name: str
    arguments: str


class ToolCall(Body):
    """A call that an earlier answer made: `{"id": …, "type": "function", "function": {"name": …, "arguments": …}}`."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class Message(Body):
    """A message of a chat; with the role "tool", the result of a call."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[str | list[TextPart] | None, text_parts_only("text")] = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    """That of the tool; names of authors are refused."""
    refusal: None = None
    function_call: None = None
    audio: None = None
    annotations: Annotated[list[JsonObject], Field(max_length=0)] | None = None

    @model_validator(mode="after")
    def _check_members(self) -> Self:
        if self.tool_calls and self.role != "assistant":
            raise ValueError("only the assistant has tool_calls")
        if (self.tool_call_id is not None) != (self.role == "tool"):
            raise ValueError("tool_call_id goes with the role tool, and with no other")
        if self.name is not None and self.role != "tool":
            raise ValueError("the prompt has no place for the name of an author; write it into the content")
        if self.content is None and not self.tool_calls:
            raise ValueError("content is missing")
        return self

    @property
    def text(self) -> str:
        """The text of all parts."""
        parts = [] if self.content is None else self.content
        return parts if isinstance(parts, str) else "".join(part.text for part in parts)


class NamedFunction(Body):
    """The name of a function."""

    name: str


class NamedTool(Body):
    """The tool that has to be called: `{"type": "function", "function": {"name": …}}`."""

    type: Literal["function"]
    function: NamedFunction


class ChatRequest(GenerationRequest):
    """`POST /v1/chat/completions`."""

    messages: list[Message] = Field(min_length=1)
    max_completion_tokens: StrictInt | None = Field(None, ge=1)
    response_format: ResponseFormat | None = None
    tools: list[JsonObject] | None = Field(None, min_length=1, max_length=MAX_TOOLS)
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    parallel_tool_calls: StrictBool = True
    logprobs: StrictBool = False
    top_logprobs: Annotated[StrictInt, Field(ge=0, le=MAX_LOGPROBS)] | None = None

    @property
    def constraints(self) -> dict[str, RequestedConstraint]:
        """As above, with `response_format`."""
        constraints = super().constraints
        match self.response_format:
            case ResponseFormat(json_schema=JsonSchemaFormat(schema_=schema, name=name)):
                constraints["response_format"] = RequestedConstraint("json", schema, {"name": name})
            case ResponseFormat(type="json_object"):
                constraints["response_format"] = ANY_OBJECT
        return constraints

    @property
    def alternatives_per_token(self) -> int | None:
        """How many of the likeliest tokens are shown beside each token; None for no log-probabilities."""
        return self.top_logprobs or 0 if self.logprobs else None

    @model_validator(mode="after")
    def _check_tool_choice(self) -> Self:
        if self.top_logprobs and not self.logprobs:
            raise ValueError("top_logprobs goes with logprobs: true")
        if self.tool_choice not in (None, "none", "auto") and not self.tools:
            raise ValueError("tool_choice says that a tool is called, and there are no tools")
        return self

    @property
    def uses_tools(self) -> bool:
        """Whether the answer is to be calls of tools."""
        return bool(self.tools) and self.tool_choice != "none"

    @property
    def may_skip_tools(self) -> bool:
        """Whether the model may also answer as it would without tools."""
        return bool(self.tools) and self.tool_choice in (None, "auto")

    @property
    def called_tool(self) -> str | None:
        """The tool that is called in any case, so that only its arguments are written; None if there is none."""
        if not self.uses_tools or self.may_skip_tools:
            return None
        if isinstance(self.tool_choice, NamedTool):
            return self.tool_choice.function.name
        match self.tools:
            case [{"function": {"name": str(name)}}]:
                return name
        return None


class CompletionRequest(GenerationRequest):
    """`POST /v1/completions`."""

    prompt: str | list[str]
    logprobs: Annotated[StrictInt, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    echo: Literal[False] = False
    best_of: Annotated[StrictInt, Field(ge=1, le=1)] = 1
    suffix: None = None

    @field_validator("prompt")
    @classmethod
    def _check_not_empty(cls, value: str | list[str]) -> str | list[str]:
        if value == []:
            raise ValueError("it should have at least one text")
        return value

    @property
    def alternatives_per_token(self) -> int | None:
        """As in a chat."""
        return self.logprobs


class LibraryRequest(RequestBody):
    """Members of all requests of the library's own."""

    instructions: str | None = None
    system: str | None = None
    max_tokens: StrictInt | None = Field(None, ge=1)
    stop_repetition: StrictBool = True
    evidence: StrictBool = False


class ExtractRequest(LibraryRequest):
    """`POST /v1/extract`: a schema, a list of fields, or a type of the server; one document or several."""

    schema_: JsonObject | bool | None = Field(None, alias="schema")
    type: str | None = None
    fields: str | None = None
    """Such as `name: str, age: int | None`."""
    text: str | None = None
    documents: list[str] | None = Field(None, min_length=1)
    grounded: bool | list[str] = False
    """The values that the document has to state: all, or those at some paths."""

    @field_validator("grounded", mode="before")
    @classmethod
    def _check_paths(cls, value: object) -> object:
        if isinstance(value, bool) or (isinstance(value, list) and all(isinstance(path, str) for path in value)):
            return value
        raise ValueError('it should be true, false or a list of paths, such as ["name", "lines[].price"]')

    @model_validator(mode="after")
    def _check_members(self) -> Self:
        if sum(one is not None for one in (self.schema_, self.type, self.fields)) != 1:
            raise ValueError("Exactly one of schema, type and fields is needed")
        if (self.text is None) == (self.documents is None):
            raise ValueError("Exactly one of text and documents is needed")
        return self


class ChooseRequest(LibraryRequest):
    """`POST /v1/choose`."""

    text: str
    choices: list[str] = Field(min_length=1)


class RegexRequest(LibraryRequest):
    """`POST /v1/regex`."""

    text: str
    regex: str
    dialect: Literal["python", "rust", "ecma"] = "python"


class GrammarRequest(LibraryRequest):
    """`POST /v1/grammar`: a grammar in Lark's language, or in GBNF."""

    text: str
    grammar: str
    start: str | None = None
    """The rule to start with; default: `start`, in GBNF `root`."""
