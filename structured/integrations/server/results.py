"""Responses of the library's own endpoints: a value with its evidence, or why there is none, as JSON text."""

import json
from collections.abc import Sequence
from typing import Any

from fastapi.responses import Response
from pydantic_core import to_jsonable_python

from structured.errors import StructuredError
from structured.integrations.server.answers import marks_of
from structured.integrations.server.request_errors import RequestError
from structured.results.result import Result


def response_of(result: Result[Any], *, evidence: bool) -> Response:
    """Return the answer for one document. Raises RequestError if there is no value, or none that can be written."""
    return _response(_encoded(_members(result, evidence=evidence)))


def response_of_all(results: Sequence[Result[Any]], *, evidence: bool) -> Response:
    """Return the answer for several documents: errors stand in the place of values."""
    return _response(f'{{"results": [{", ".join(_member(one, evidence=evidence) for one in results)}]}}')


def _member(result: Result[Any], *, evidence: bool) -> str:
    try:
        return _encoded(_members(result, evidence=evidence))
    except RequestError as error:
        return json.dumps(error.body())


def _members(result: Result[Any], *, evidence: bool) -> dict[str, Any]:
    try:
        value = result.value
    except StructuredError as error:
        raise RequestError.of(error) from error
    marks = marks_of(result.generations)
    if not evidence:
        return {"value": _plain(value), **marks}
    return {
        **marks,
        "value": _plain(value),
        **({"missing": list(result.missing)} if result.missing else {}),
        "confidence": result.confidence,
        "evidence": result.rows(),
    }


def _response(text: str) -> Response:
    return Response(text, media_type="application/json")


def _plain(value: object) -> Any:
    """Return a value as JSON data; pydantic does not look into what is nested deeply, which may be plain already."""
    try:
        return to_jsonable_python(value)
    except ValueError:
        return value


def _encoded(members: dict[str, Any]) -> str:
    """Return an object as JSON text. Raises RequestError for a value that cannot be written so."""
    try:
        return json.dumps(members, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(422, f"The value cannot be written as JSON: {error}.", code="GenerationError") from error
