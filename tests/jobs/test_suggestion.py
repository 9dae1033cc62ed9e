"""Suggested types: proposals are merged, tried on the documents, and shown as Python and as a list of fields."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from structured.cli import commands
from structured.errors import ModelError, PromptError, StructuredWarning
from structured.integrations.server.field_lists import read_fields
from structured.jobs.suggestion import (
    FieldKind,
    ProposedField,
    Suggestion,
    identifier,
    merge_proposals,
    suggest,
    widest_kind,
)
from structured.models.scripted import ScriptedModel

LETTERS = ["Ana pays 35 to Tom.", "Tom pays 20.75 by 2 May 2024.", "Lee pays 12."]


def proposed(name: str, kind: Any, *, optional: bool = False) -> dict[str, Any]:
    return {"name": name, "kind": kind, "description": f"the {name}", "optional": optional}


def answer(prompt: str) -> str:
    """Propose fields for the letters, and find their values."""
    letter = max(range(3), key=lambda place: prompt.rfind(LETTERS[place]))
    if "Design a form" in prompt:
        payee = [proposed("payee", "str"), proposed("amount", "int")]
        due = [proposed("amount", "float"), proposed("due", "date")]
        fields = [proposed("payer", "str"), proposed("class", "str"), *([payee, due, due][letter])]
        return json.dumps({"fields": fields})
    values = [("Ana", 35, "Tom", None), ("Tom", 20.75, None, "2024-05-02"), ("Lee", 12, None, None)][letter]
    row = dict(zip(("payer", "amount", "payee", "due"), values, strict=True))
    return json.dumps({name: row.get(name) for name in ("payer", "class_", "amount", "due", "payee")})


def test_a_suggestion_has_what_the_documents_have() -> None:
    """Fields of all are required, those of some optional, and those of none are dropped; types are widened."""
    suggestion = suggest(LETTERS, "who pays what", model=ScriptedModel(answer))
    assert suggestion.documents == 3
    assert [(one.name, one.annotation, one.documents) for one in suggestion.fields] == [
        ("payer", "str", 3),
        ("amount", "float", 3),
        ("due", "date | None", 1),
        ("payee", "str | None", 1),
    ]


def test_documents_that_cannot_be_read_cost_no_others(tmp_path: Path) -> None:
    """Each is named in a warning."""
    paths = [tmp_path / name for name in ("good.txt", "bad.txt", "worse.zip")]
    for path, content in zip(paths, (LETTERS[0].encode(), b"\xff\xfe\xff", b"PK\x03\x04"), strict=True):
        path.write_bytes(content)
    with pytest.warns(StructuredWarning) as caught:
        suggestion = suggest([*paths, *LETTERS[1:]], "who pays what", model=ScriptedModel(answer))
    assert suggestion == suggest(LETTERS, "who pays what", model=ScriptedModel(answer))
    assert len(caught) == 2
    assert all(f"{path} " in str(one.message) for path, one in zip(paths[1:], caught, strict=True))
    table = tmp_path / "letters.csv"
    table.write_text("\n".join(("letter", *(f'"{letter}"' for letter in LETTERS))))
    assert suggest(table, "who pays what", model=ScriptedModel(answer)) == suggestion


def test_a_suggestion_runs_as_python_and_is_the_same_as_fields() -> None:
    """Both make one schema."""
    suggestion = suggest(LETTERS, "who pays what", model=ScriptedModel(answer))
    namespace: dict[str, Any] = {}
    exec(suggestion.to_python(), namespace)  # noqa: S102  what a user will run
    assert namespace["Record"].model_json_schema() == read_fields(suggestion.to_fields()).model_json_schema()
    assert "# in 3 of 3" in suggestion.to_python()


@given(st.text(), st.sampled_from(get_args(FieldKind)), st.text(), st.booleans())
def test_any_proposal_makes_fields(name: str, kind: Any, description: str, optional: bool) -> None:
    """Whatever a model calls a field: it is an identifier that a list of fields and a class may have, or is dropped."""
    merged = merge_proposals(
        [[ProposedField.model_construct(name=name, kind=kind, description=description, optional=optional)]]
    )
    assert len(merged) == bool(identifier(name))
    if merged:
        suggestion = Suggestion(merged, 1, "")
        assert list(read_fields(suggestion.to_fields()).model_fields) == [identifier(name)]
        compile(suggestion.to_python(), "suggestion.py", "exec")


def test_types_are_widened() -> None:
    """To one that holds the values of all."""
    sets: Any = (["int", "float"], ["date", "int"], ["bool"], ["str", "list[str]"])
    assert [widest_kind(kinds) for kinds in sets] == ["float", "str", "bool", "list[str]"]


@pytest.mark.parametrize(
    ("documents", "model", "kind", "problem"),
    [
        ([], ScriptedModel("{}"), PromptError, "There is no document with a text. Pass some"),
        (
            LETTERS,
            ScriptedModel('{"fields": []}'),
            ModelError,
            "scripted has no sensible type",
        ),
    ],
)
def test_no_type_is_an_error(documents: list[str], model: ScriptedModel, kind: type[Exception], problem: str) -> None:
    """It says what to do."""
    with pytest.raises(kind) as caught:
        suggest(documents, "", model=model)
    assert str(caught.value).startswith(problem)


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    """The packaged model, no documents, and a file that is no text."""
    runner = CliRunner()
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "empty").mkdir()
    for path, model, code, problem in (
        ("bad.txt", "packaged", 2, "The packaged model cannot suggest a type"),
        ("empty", "smollm2", 2, "is empty"),
        ("none.txt", "smollm2", 2, "There is no file or folder"),
        ("bad.txt", "smollm2", 3, "bad.txt"),
    ):
        told = runner.invoke(commands.app, ["suggest", str(tmp_path / path), "--model", model])
        assert (told.exit_code, told.stdout) == (code, "")
        assert problem in " ".join(told.stderr.replace("│", " ").split())
