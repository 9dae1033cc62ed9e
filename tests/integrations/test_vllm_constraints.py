"""Constraints as text, cursors and answers: what both processors for vLLM have in common."""

import random
import re
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from doubles import ByteTokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel
from strategies import output_types

from structured import Choice, Grammar, Grounded, JsonSchema, Regex, Text
from structured.decoding.generate import compile_type
from structured.errors import GenerationError, ModelError, SchemaError
from structured.index.masks import unpack
from structured.integrations.vllm import check_constraint, read, start
from structured.json_schema.document.drafts import SchemaDraft
from structured.output_types.described_types import MAX_CONSTRAINT_CHARACTERS, text_to_type, type_to_text
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary


class Person(BaseModel):
    name: str
    age: int


OTHERS: tuple[Any, ...] = (
    JsonSchema({"type": "array", "items": {"$ref": "other"}}, documents={"other": {"type": "integer"}}),
    JsonSchema({"properties": {"a": {"format": "date"}}}, assert_formats=False, key_order="any"),
    JsonSchema({"items": [{"const": 1}], "additionalItems": False}, draft=SchemaDraft.DRAFT_7),
    JsonSchema(True),
    Regex(r"\d+ (?=x)x", flags=2),
    Regex("[[:alpha:]]{2}", dialect="rust"),
    Choice({"yes": True, "no": False}),
    Grammar("start: NUMBER (/[+-]/ NUMBER)*\n%import common.INT -> NUMBER"),
    Grammar("sum: /[0-9]+/", "sum"),
    Grammar.from_gbnf('root ::= "(" root ")" | "x"'),
    Grammar.from_gbnf('other ::= "x"', "other"),
)


@pytest.mark.thorough
@given(
    output_type=output_types(),
    whitespace=st.sampled_from(["compact", "indented"]),
    optional=st.sampled_from(["written", "omittable", "schema"]),
)
@settings(max_examples=20)
def test_the_engine_has_the_automaton_of_the_type(output_type: Any, whitespace: Any, optional: Any) -> None:
    """What another process makes of the text is what `extract` compiles, for whatever type and layout."""
    layout = JsonLayout(whitespace, optional)
    text = type_to_text(output_type, layout)
    try:
        wanted = resolve_type(output_type, layout=layout).automaton().fingerprint
    except SchemaError:
        wanted = None
    if wanted is None:
        with pytest.raises(ValueError):  # noqa: PT011  of any kind
            check_constraint(text)
    else:
        check_constraint(text)
        assert text_to_type(text).automaton().fingerprint == wanted


@pytest.mark.parametrize("output_type", OTHERS, ids=repr)
def test_the_engine_has_the_automaton_of_other_output_types(output_type: Any) -> None:
    """Options of an output type travel with it."""
    layout = JsonLayout("compact", "schema") if isinstance(output_type, JsonSchema) else None
    own, theirs = resolve_type(output_type, layout=layout), text_to_type(type_to_text(output_type, layout))
    tokens = Vocabulary.from_tokenizer(ByteTokenizer())
    assert theirs.digest == own.digest
    mine, other = compile_type(own, tokens), compile_type(theirs, tokens)
    chance = random.Random(0)
    for _ in range(20):
        state, twin = mine.automaton.start, other.automaton.start
        for _ in range(12):
            allowed = mine.mask(state)
            np.testing.assert_array_equal(allowed, other.mask(twin))
            choices = [one for one in np.flatnonzero(unpack(allowed, tokens.size)) if one not in tokens.end_token_ids]
            if not choices:
                break
            token_id = int(chance.choice(choices))
            state, twin = mine.step(state, token_id), other.step(twin, token_id)


def test_the_same_text_is_compiled_once() -> None:
    """Requests of one kind share what is compiled."""
    text = type_to_text(Person, None)
    assert text_to_type(text) is text_to_type(str(text.encode(), "utf-8"))


WRONG: dict[str, tuple[Any, str]] = {
    "no text": (5, "The constraint is 5. Write it with"),
    "no JSON": ("{", "The constraint is not JSON: "),
    "no object": ("[]", "The constraint is []: it must have one of type, json, regex, choice, grammar"),
    "nothing": ("{}", "The constraint is {}: it must have one of"),
    "two": ('{"regex": "a", "json": {}}', "The constraint is {"),
    "an unknown option": ('{"regex": "a", "flag": 2}', "The constraint 'regex' has the unknown member 'flag'. "),
    "no expression": ('{"regex": "("}', "Missing ), unterminated subpattern"),
    "an expression of another kind": ('{"regex": 5}', "The constraint 'regex' is wrong: pattern is int 5. "),
    "flags that are none": ('{"regex": "a", "flags": 4}', "The constraint 'regex' is wrong: flags has re.LOCALE"),
    "an unknown draft": ('{"json": {}, "draft": 5}', "The constraint 'json' is wrong: 5 is not a valid SchemaDraft"),
    "an unknown whitespace": ('{"json": {}, "whitespace": "wide"}', "The constraint 'json' is wrong: whitespace"),
    "a malformed schema": ('{"json": {"type": "text"}}', "The schema is malformed: "),
    "a description that is none": ('{"type": 5}', "The constraint 'type' is wrong: 5 describes no type"),
    "a description that is malformed": ('{"type": {"type": 5}}', ""),
    "an unknown keyword": ('{"type": {"type": "integer", "odd": true}}', ""),
    "no value": ('{"json": false}', "Unsatisfiable: "),
    "no choice": ('{"choice": []}', "A Choice has nothing to choose from"),
    "a choice of numbers": ('{"choice": [1]}', "The constraint 'choice' is wrong: [1] is no list of texts"),
    "no grammar": ('{"grammar": "start"}', ""),
    "a grammar of another kind": ('{"grammar": 5}', "The constraint 'grammar' is wrong: grammar is 5"),
    "an unknown language": ('{"grammar": "", "language": "PEG"}', "The constraint 'grammar' is wrong: language"),
    "half a character": ('{"choice": ["\\ud800"]}', "The constraint holds a lone surrogate"),
    "many brackets": ("[" * 100_000, ""),
    "a long one": (
        " " * (MAX_CONSTRAINT_CHARACTERS + 1),
        "The constraint has 1,000,001 characters, and 1,000,000 are taken",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_constraint_is_refused(case: str) -> None:
    """Whatever a client sends, the message says what is wrong with it."""
    given_text, message = WRONG[case]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        check_constraint(given_text)


class Quoting(BaseModel):
    name: Grounded[str]


@pytest.mark.parametrize("output_type", [Text(), Quoting], ids=["free text", "quotations"])
def test_what_cannot_be_sent_is_refused_by_the_client(output_type: Any) -> None:
    """A type that depends on the document, or that no text says, is no constraint."""
    with pytest.raises(SchemaError, match=r"which a server cannot enforce|cannot be said to a server"):
        type_to_text(output_type, None)


@given(st.data())
@settings(max_examples=30)
def test_a_cursor_goes_back_to_where_it_was(data: st.DataObject) -> None:
    """Tokens that are taken back leave nothing behind, also wrong ones and those behind the end."""
    tokens = Vocabulary.from_tokenizer(ByteTokenizer())
    text = type_to_text(data.draw(st.sampled_from([list[int], Literal["true", "tree"], Person])), None)
    cursor, taken = start(text, tokens, 24), list[int]()
    for _ in range(data.draw(st.integers(1, 40))):
        fresh = start(text, tokens, 24)
        accepted = [fresh.accept(token_id) for token_id in taken]
        assert all(accepted) == (cursor.fault is None)
        np.testing.assert_array_equal(cursor.mask(), fresh.mask())
        assert (cursor.is_over, cursor.fault, cursor.count) == (fresh.is_over, fresh.fault, len(taken))
        back = data.draw(st.integers(0, len(taken)))
        if data.draw(st.booleans()) and back:
            cursor.rollback(back)
            del taken[-back:]
        else:
            allowed = np.flatnonzero(unpack(cursor.mask(), tokens.size)).tolist()
            token_id = data.draw(st.one_of(st.sampled_from(allowed), st.integers(-1, tokens.size + 5)))
            cursor.accept(token_id)
            taken.append(token_id)


def adult(age: int) -> int:
    if age < 18:
        raise ValueError("must be 18 or more")
    return age


def test_answers_are_read_as_the_type_says() -> None:
    """An answer is a value, or an error that says whose fault it is."""
    assert read(Person, '{"name": "Ana", "age": 31}') == Person(name="Ana", age=31)
    assert read(Choice({"yes": True, "no": False}), "no") is False
    with pytest.raises(ModelError, match=r"^The engine wrote '.*', which is no answer\. It is no JSON of the type"):
        read(Person, '{"name": "Ana", "age": "31"}')
    with pytest.raises(ModelError, match=r"^The engine wrote 'maybe', which is no answer\. It is no text of Choice"):
        read(Choice(["yes", "no"]), "maybe")
    with pytest.raises(GenerationError, match="must be 18 or more"):
        read(Annotated[int, AfterValidator(adult)], "3")
