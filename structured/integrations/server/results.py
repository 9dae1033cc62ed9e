"""Results of the library's own endpoints: a value with its evidence, or why there is none, as JSON text."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from fastapi.responses import Response
from pydantic_core import to_jsonable_python

from structured.errors import StructuredError
from structured.extraction.events import AttemptWritten
from structured.integrations.server.answers import marks_of
from structured.integrations.server.request_errors import RequestError
from structured.output_types.extraction import Extraction


class Result(NamedTuple):
    """What becomes of a document."""

    value: Any
    """The value, or the error of a document that has none."""
    attempt: AttemptWritten | None
    """What was written for it at last."""

    def response(self) -> Response:
        """Return it as the whole answer. Raises RequestError if there is no value, or none that can be written."""
        return _response(_encoded(self._members()))

    def json(self) -> str:
        """Return it as one of several: what went wrong stands in its place."""
        try:
            return _encoded(self._members())
        except RequestError as error:
            return json.dumps(error.body())

    def _members(self) -> dict[str, Any]:
        if isinstance(self.value, StructuredError):
            raise RequestError.of(self.value)
        marks = {} if self.attempt is None else marks_of(self.attempt.generations)
        if not isinstance(self.value, Extraction):
            return {"value": _plain(self.value), **marks}
        return {
            **marks,
            "value": _plain(self.value.value),
            **({"missing": list(self.value.missing)} if self.value.missing else {}),
            "confidence": self.value.confidence,
            "evidence": self.value.rows(),
        }


def response_of(results: Sequence[Result]) -> Response:
    """Return the answer to a request for several documents."""
    return _response(f'{{"results": [{", ".join(one.json() for one in results)}]}}')


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
