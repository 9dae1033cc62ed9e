"""Errors of requests: a status of HTTP, and an error in the form of OpenAI's API.

{"error": {"message": "…", "type": "invalid_request_error", "param": "response_format", "code": null}}
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from structured.errors import GenerationError, OutOfMemoryError, StructuredError
from structured.integrations.error_data import FIELD_TYPES, error_to_fields

_ERROR_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}

_STATUSES = {**dict.fromkeys(FIELD_TYPES, 400), GenerationError: 422, OutOfMemoryError: 503}
"""The statuses of errors: 4xx for a wrong request and a rejected answer, 500 for all others."""


SERVER_FAULT = "The server failed. Its log says where."


@dataclass(eq=False)
class RequestError(Exception):
    """Why a request is not answered."""

    status: int
    message: str
    _: KW_ONLY
    parameter: str | None = None
    code: str | None = None
    headers: Mapping[str, str] | None = None
    fields: Mapping[str, object] | None = None

    def __str__(self) -> str:
        return self.message

    @classmethod
    def of(cls, error: StructuredError, parameter: str | None = None) -> "RequestError":
        """Return an error of the library as the answer to a request."""
        status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 500)
        parameter, code = parameter if status == 400 else None, type(error).__name__
        text = SERVER_FAULT if type(error) is StructuredError else str(error)  # what was unexpected is not for clients
        return cls(status, text, parameter=parameter, code=code, fields=error_to_fields(error))

    def body(self) -> dict[str, object]:
        """Return the error in OpenAI's form; one of the library's that clients raise again has its fields."""
        kind = _ERROR_TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        error: dict[str, object] = {"message": self.message, "type": kind, "param": self.parameter, "code": self.code}
        return {"error": error if self.fields is None else {**error, "fields": self.fields}}

    def response(self) -> JSONResponse:
        """Return the whole answer."""
        return JSONResponse(self.body(), self.status, self.headers)


async def answer_error(request: Request, error: Exception) -> JSONResponse:
    """Answer with an error: of a request, of the library, or of FastAPI where there is no such path or method."""
    url_path = request.url.path
    match error:
        case RequestError():
            return error.response()
        case StructuredError():
            return RequestError.of(error).response()
        case RequestValidationError():
            return _invalid_body_error(error).response()
        case HTTPException(status_code=404):
            return RequestError(404, f"There is no path {url_path} here.").response()
        case HTTPException(status_code=405):
            allowed = (error.headers or {}).get("Allow", "another method")
            problem = f"{url_path} takes {allowed}, and not {request.method}."
            return RequestError(405, problem, headers=error.headers).response()
        case HTTPException(status_code=400, __cause__=Exception() as cause):  # of the bytes of the body
            return RequestError(400, f"The body cannot be read as JSON: {cause}.").response()
        case HTTPException():
            return RequestError(error.status_code, str(error.detail)).response()
    return RequestError(500, SERVER_FAULT).response()


def _invalid_body_error(error: RequestValidationError) -> RequestError:
    """Return the error of a request that is not of the form that it should have; the first fault is named."""
    faults = error.errors()
    paths = [_fault_path(fault["loc"][1:], error.body, is_missing=fault["type"] == "missing") for fault in faults]
    path = max((path for path in paths if path.startswith(paths[0])), key=len)  # where a union fits best
    fault = faults[paths.index(path)]
    kind, message = fault["type"], fault["msg"].removeprefix("Value error, ")
    if path:
        problem = _MESSAGES[kind].format_map(fault.get("ctx", {})) if kind in _MESSAGES else message
        problem = _UNSUPPORTED_MEMBERS.get(path, re.sub(r"\bFalse\b", "false", problem))
        return RequestError(400, f"{path}: {problem}.", parameter=path)
    match kind:
        case "value_error":  # of the whole body
            return RequestError(400, f"{message}.")
        case "json_invalid":
            return RequestError(400, f"The body is no JSON: {fault['ctx']['error']}, at character {fault['loc'][-1]}.")
        case "missing":
            return RequestError(400, "The body is empty. Send a JSON object.")
    return RequestError(400, "The body is no JSON object.")


_PENALTIES = ("frequency_penalty", "presence_penalty", "repetition_penalty")
_UNSUPPORTED_MEMBERS: Mapping[str, str] = {
    **dict.fromkeys(_PENALTIES, "penalties are not supported. Leave it out"),
    **dict.fromkeys(("reasoning", "reasoning_effort"), "reasoning is not supported. Leave it out"),
    **dict.fromkeys(("conversation", "previous_response_id"), "nothing is stored here. Send the whole input"),
    "logit_bias": "biases are not supported. Leave it out, or constrain the answer",
    "functions": "functions are not supported. Use tools",
    "function_call": "functions are not supported. Use tool_choice",
    "background": "nothing is stored here. Wait for the response, or stream it",
}
"""Messages for members that other servers take and this one does not, whatever their values."""

_MESSAGES: Mapping[str, str] = {
    "extra_forbidden": "there is no such member here, and what would be ignored is refused. Leave it out",
    "missing": "it is missing",
    **dict.fromkeys(("dict_type", "model_attributes_type", "model_type"), "it should be an object"),
    "list_type": "it should be an array",
    "bool_type": "it should be true or false",
    "string_type": "it should be a string",
    "int_type": "it should be an integer",
    "float_type": "it should be a number",
    "literal_error": "it should be {expected}",
    "greater_than": "it should be more than {gt:g}",
    "greater_than_equal": "it should be at least {ge:g}",
    "less_than_equal": "it should be at most {le:,}",
    "too_short": "it has too few items: {min_length} at least",
    "too_long": "it has too many items: {max_length} at most",
    "string_too_short": "it has too few characters: {min_length} at least",
    "none_required": "it is not supported. Leave it out",
}
"""Messages in terms of JSON, in place of Pydantic's in terms of Python, with members of their context."""


def _fault_path(location: Sequence[int | str], body: object, *, is_missing: bool) -> str:
    """Return the path of a fault, `messages[0].content`, without the names of types that Pydantic adds."""
    path, value = "", body
    for number, step in enumerate(location, 1):
        if isinstance(step, int) and isinstance(value, list) and step < len(value):
            path, value = f"{path}[{step}]", value[step]
        elif isinstance(value, dict) and (step in value or (is_missing and number == len(location))):
            path, value = f"{path}.{step}", value.get(step)
    return path.removeprefix(".")
