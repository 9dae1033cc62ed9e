"""Field lists: a type written as a list of fields is the one that Python would make of it, or an error with a place."""

import warnings
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from keyword import iskeyword
from typing import Any, Literal, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, create_model

from structured.integrations.server.field_lists import FieldListError, read_fields

NAMES = {one.__name__: one for one in (str, int, float, bool, list, dict, date, datetime, time, Decimal)} | {
    "Literal": Literal,
    "Optional": Optional,
    "Union": Union,
}

plain = st.sampled_from(["str", "int", "float", "bool", "date", "datetime", "time", "Decimal"])
choices = st.lists(st.integers() | st.text(max_size=5) | st.booleans() | st.none(), min_size=1, max_size=3)
annotations = st.recursive(
    plain | choices.map(lambda listed: f"Literal[{', '.join(map(repr, listed))}]"),
    lambda inside: st.one_of(
        inside.map("list[{}]".format),
        inside.map("dict[str, {}]".format),
        inside.map("Optional[{}]".format),
        inside.map("{} | None".format),
        st.lists(inside, min_size=2, max_size=3).map(lambda several: f"Union[{', '.join(several)}]"),
        st.lists(inside, min_size=2, max_size=3).map(" | ".join),
    ),
    max_leaves=6,
)
names = st.from_regex(r"[a-zé][a-z_0-9]{0,8}", fullmatch=True).filter(lambda name: not hasattr(BaseModel, name))
names = names.filter(lambda name: not iskeyword(name))


@given(st.lists(st.tuples(names, annotations), min_size=1, max_size=4, unique_by=lambda field: field[0]))
def test_a_list_has_the_schema_that_python_gives_it(fields):
    """Any annotation that is accepted means what it means in Python."""
    text = ", ".join(f"{name}: {annotation}" for name, annotation in fields)
    found = read_fields(text)
    evaluated: dict[str, Any] = {name: (eval(annotation, dict(NAMES)), ...) for name, annotation in fields}  # noqa: S307
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.model_json_schema() == create_model("Record", **evaluated).model_json_schema()


@given(st.text(alphabet="abstrinl:,|[]()=*\"' \n\\.#0N", max_size=30))
def test_any_text_is_a_type_or_an_error(text):
    """With the place of the problem in the text."""
    with suppress(FieldListError):
        assert read_fields(text).model_fields
        return
    with pytest.raises(FieldListError) as raised:
        read_fields(text)
    error = raised.value
    assert error.line in text.split("\n")
    assert 0 <= error.start <= len(error.line)


@pytest.mark.parametrize(
    ("text", "problem", "marked"),
    [
        ("name: strng, age: int", "'strng' is no type here. Did you mean 'str'?", "strng"),
        ("a: int, a: str", "There are two fields 'a'.", "a"),
        ("a: int, b", "The field 'b' has no type. Write b: str, say.", "b"),
        ("class: int", "A field cannot be called 'class', which is a word of Python.", "class"),
        ("a: list", "list of what? Write list[str].", "list"),
        ("a: dict[int, str]", "The keys of a dict are str.", "int"),
        ("a: Literal[1.5]", "A choice is a text in quotation marks, a whole number", "1.5"),
        ("a: int = 3", "Write the description of the field after =", "3"),
        ("é: __import__('os').system('x')", "This is no type here.", "__import__('os').system('x')"),
        ("_x: int", "A field of Pydantic cannot be called '_x'.", "_x"),
        ("model_dump: int", "A field of Pydantic cannot be called 'model_dump'.", "model_dump"),
        ("a: list[int", "Something is missing at the end.", ""),
        ("", "There is no field.", ""),
        ("a: int) -> (None", "This is more than a list of fields", "a: int) -> (None"),
    ],
)
def test_errors_have_their_place(text, problem, marked):
    """The part of the text that is wrong is underlined."""
    with pytest.raises(FieldListError) as raised:
        read_fields(text)
    error = raised.value
    assert error.problem.startswith(problem)
    assert error.line[error.start : error.end] == marked
    _, line, marks = str(error).splitlines()[1:4]
    assert (line.strip(), marks.strip()) == (text.strip(), "^" * max(len(marked), 1))


def test_nothing_but_fields_is_read():
    """Whatever a list would add to the code around it."""
    for text in ("a: int): pass\nimport os\ndef g(b: int", "a: int\n): pass\nimport os\nprint(", "a: int, *, b: int"):
        with pytest.raises(FieldListError):
            read_fields(text)


def test_carets_stand_below_wide_characters():
    """Which take two columns of a terminal."""
    with pytest.raises(FieldListError) as raised:
        read_fields("名前: strng")
    assert str(raised.value).splitlines()[2:4] == ["  名前: strng", "        ^^^^^"]


def test_what_stands_after_a_field_describes_it():
    """As `Field(description=…)` would."""
    fields = read_fields('name: str = "the full name", json: int | None,').model_fields
    assert [field.description for field in fields.values()] == ["the full name", None]
