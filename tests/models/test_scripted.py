"""The public double: a scripted model writes its script through the masks of any type, or says that it cannot."""

import subprocess
import sys
from copy import copy
from time import perf_counter
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from structured import Beams, Extractor, JsonLayout, Repetition, Samples, extract, extract_batch
from structured.errors import ModelError
from structured.extraction.extractor import Options
from structured.models import ByteTokenizer, ScriptedModel
from structured.models.scripted import BYTE_TOKENS


class Person(BaseModel):
    name: str
    age: int | None
    tags: list[Literal["a", "b"]]


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("odd")
        return number


WAYS: tuple[Options, ...] = (
    {},
    {"layout": JsonLayout("compact")},
    {"layout": JsonLayout("indented"), "jump_forward": False},
    {"layout": JsonLayout("flexible")},
    {"temperature": 1.0, "seed": 1, "search": Samples(2)},
)


@given(
    st.builds(Person, name=st.text('aé "\\{🙂', max_size=9)),
    st.sampled_from(WAYS),
    st.sampled_from([None, 2]),
    st.sampled_from([(), (b'": "', b'"}', b"ab", b' "')]),
)
@settings(max_examples=40, deadline=None)
def test_the_script_is_what_is_read(
    person: Person, way: Options, indent: int | None, longer: tuple[bytes, ...]
) -> None:
    """Whatever its whitespace and that of the type, and however its tokens cut it."""
    person.age = None if person.age is None else person.age % 1000
    tokenizer = ByteTokenizer((*BYTE_TOKENS, *longer))
    model = ScriptedModel(person.model_dump_json(indent=indent), tokenizer)
    assert extract(Person, "x", model=model, max_tokens=400, repetition=Repetition(stop=False), **way) == person


def test_a_script_may_depend_on_the_prompt() -> None:
    """Each document of a batch has the answer that the function gives for its prompt."""
    model = ScriptedModel(lambda prompt: str(prompt.count("x")))
    documents = ["x" * count for count in (3, 1, 12, 5)]
    before = extract(int, "y", model=model)
    assert extract_batch(int, documents, model=model, batch_size=2) == [before + len(one) for one in documents]


def test_a_script_is_asked_for_again_with_each_retry() -> None:
    """So an answer that validators reject can be followed by one that they accept."""
    answers = iter(['{"number": 3}', '{"number": 4}'])
    extractor = Extractor(Even, model=ScriptedModel(lambda _: next(answers)), retries=1)
    assert extractor("x").number == 4


@pytest.mark.parametrize("script", ["3", '{"number": "3"}', '{"number": 3, "more": 1}', '{"number": 3'])
def test_a_script_that_the_type_does_not_allow(script: str) -> None:
    """It is an error that shows what was to be written, and what was."""
    with pytest.raises(ModelError, match=r"^The script says b'.*', and b'.*' was written\. The type, or max_tokens"):
        extract(Even, "x", model=ScriptedModel(script))


@given(st.text())
def test_the_byte_tokenizer_spells_any_text(text: str) -> None:
    """Its tokens are the bytes of the text, behind the one that begins each prompt."""
    tokenizer = ByteTokenizer((*BYTE_TOKENS, b"ab", "é".encode()))
    first, *others = tokenizer.encode(text)
    assert tokenizer.tokens[first] is None
    assert b"".join(tokenizer.tokens[one] or b"" for one in others) == text.encode()


def test_a_text_for_which_there_is_no_token() -> None:
    """It is an error that shows where."""
    with pytest.raises(ValueError, match=r"^No token begins b'c'\.$"):
        ByteTokenizer((None, None, b"a")).encode("aac")


def test_a_scripted_model_needs_no_torch() -> None:
    """Nothing heavy is imported for it."""
    code = (
        "import sys; from structured import extract; from structured.models import ScriptedModel; "
        "print(extract(int, 'x', model=ScriptedModel('3')), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "3 False\n"


DIFFERENT: list[tuple[Any, str]] = [
    (Literal["yes", "no"], '"never mind"'),
    (Literal["yes", "no"], '"no" way'),
    (bool, "maybe"),
    (bool, "truer"),
    (Annotated[int, Field(ge=0, le=9)], "42"),
    (Annotated[int, Field(ge=0, le=99)], "4 2"),
    (list[int], "[1, 2] and more"),
    (list[int], "[1 2]"),
    (Annotated[list[int], Field(max_length=1)], "[1, 2]"),
    (list[Literal["a b", "c"]], '["ab"]'),
    (str, '"ab'),
    (int, ""),
]


@pytest.mark.parametrize("way", [{}, {"jump_forward": False}, {"temperature": 2.0}, {"search": Beams(2)}], ids=str)
@pytest.mark.parametrize(("output_type", "script"), DIFFERENT, ids=[one for _, one in DIFFERENT])
def test_an_answer_that_the_script_does_not_say(output_type: Any, script: str, way: Options) -> None:
    """It is an error wherever they part: in forced tokens, in the last one, and after it."""
    with pytest.raises(ModelError, match=r"^The script says b[\"'].*[\"'], and b[\"'].*[\"'] was written\."):
        extract(output_type, "x", model=ScriptedModel(script), **way)


@pytest.mark.parametrize("beams", [1, 3])
def test_one_document_whose_script_differs_is_told_beside_others(beams: int) -> None:
    """The script of each text is compared with that text, in batches and among beams."""
    model = ScriptedModel(lambda prompt: "[10, 20]" if "good" in prompt else "[3] !")
    assert extract_batch(list[int], ["good", "good one"], model=model, search=Beams(beams)) == [[10, 20]] * 2
    with pytest.raises(ModelError, match=r"^The script says b' !', and b'\[3\]' was written"):
        extract_batch(list[int], ["good", "bad", "good one"], model=model, search=Beams(beams))


def test_arguments_of_the_doubles_are_checked() -> None:
    """Mistakes are told when they are made, and not by a text that is not read."""
    with pytest.raises(TypeError, match=r"^script is 5; it must be an answer, or a function"):
        ScriptedModel(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^context_length is '9'"):
        ScriptedModel("1", context_length="9")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^tokens is .*; it must be a tuple of bytes and None"):
        ByteTokenizer(("a",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^The first of the tokens begins each prompt, and must be None"):
        ByteTokenizer((b"a", None))
    for script, shown in ((None, "None"), (b"1", "bytes b'1'"), ("\ud800", "str '")):
        with pytest.raises(ModelError, match=f"^The script (is )?{shown}"):
            extract(int, "x", model=ScriptedModel(lambda _, script=script: script))  # type: ignore[misc]


PIECES = (*BYTE_TOKENS, b'{"', b'": ', b'", "', b"  ", b"\n ", b" 1", b"12", b"1, ", b'"}', b"a b", b'"a', b" ")


@given(st.integers(0, 40), st.sampled_from([b"", b" ", b"\n"]))
def test_scores_are_those_of_every_token_that_goes_on(begun: int, gap: bytes) -> None:
    """Going along the trie finds the tokens that are found by trying all of them."""
    model = ScriptedModel('{ "a b": [1, 12 ,1], "a\\"b":null}', ByteTokenizer(PIECES))
    answer = b'{"a b": [1, 12, 1], "a\\"b": null}'[:begun]
    batch, _ = model.prefill([[*model.encode(""), *(byte + 2 for byte in answer)]])
    try:
        batch.forward([[byte + 2 for byte in gap]])
    except ModelError:
        return  # there may be no whitespace
    (line,), tokens = batch.scripts, batch.vocabulary.tokens
    following = {token_id for token_id, token in enumerate(tokens) if token and copy(line).take(token) == len(token)}
    (scores,) = batch.scores()
    ends = {*batch.vocabulary.end_token_ids} if line.is_finished else set()
    assert {*np.flatnonzero(np.isfinite(scores)).tolist()} == following | ends


def test_a_long_token_does_not_make_encoding_slow() -> None:
    """Only lengths that tokens have are tried."""
    tokenizer = ByteTokenizer((*BYTE_TOKENS, b"a" * 100_000))
    started = perf_counter()
    assert len(tokenizer.encode("b" * 100_000)) == 100_001
    assert perf_counter() - started < 10
