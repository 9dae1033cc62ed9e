"""Errors as plain data: what is wrong with a request is said alike on both sides of a server."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured import StructuredError
from structured.errors import (
    BudgetError,
    GenerationError,
    GrammarError,
    PatternError,
    PromptError,
    SchemaError,
    UnsatisfiableError,
    VocabularyError,
)
from structured.integrations.error_data import data_to_error, error_to_fields

ASKED_WRONGLY: tuple[StructuredError, ...] = (
    BudgetError(max_tokens=2, shortest=9),
    GrammarError("No rule", text="start: a", place=(1, 8), remedy="Write one."),
    GrammarError("No rule", remedy="Write one."),
    PatternError("No text", pattern="a(", position=2, remedy="Close it."),
    PromptError("The text is empty.", id="a.txt"),
    SchemaError("No", schema_path="/a", keyword="not", remedy="Leave it out."),
    UnsatisfiableError("No value", remedy="Allow one."),
    VocabularyError("No token"),
)


@pytest.mark.parametrize("error", ASKED_WRONGLY, ids=repr)
def test_an_error_of_what_was_asked_is_the_same_behind_a_server(error: StructuredError) -> None:
    said = {"code": type(error).__name__, "message": str(error), "fields": error_to_fields(error)}
    found = data_to_error(json.loads(json.dumps(said)))
    assert type(found) is type(error)
    assert (str(found), vars(found)) == (str(error), vars(error))


@given(
    code=st.sampled_from(["BudgetError", "SchemaError", "GenerationError", "SystemExit", "__import__", 5, None]),
    told=st.sampled_from(["text", None, {}]),
    fields=st.none()
    | st.lists(st.integers())
    | st.dictionaries(
        st.sampled_from(["max_tokens", "shortest", "args", "__class__", "problem"]),
        st.none() | st.text() | st.integers() | st.lists(st.integers()),
    ),
)
def test_what_a_server_says_in_place_of_an_error_is_none(code: Any, told: Any, fields: Any) -> None:
    """Only the fields that an error has, of the kinds that they have, make one."""
    found = data_to_error({"code": code, "message": told, "fields": fields})
    if found is not None:
        assert (type(found).__name__, str(found), vars(found)) == (code, told, fields)
        assert isinstance(found, BudgetError)
    assert error_to_fields(GenerationError([])) is None
