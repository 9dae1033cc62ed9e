"""Options: whatever is passed to whichever call has an effect, or the call says by its name that it has none."""

import inspect
import pydoc
import re
import typing
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits
from numpy.typing import NDArray
from pydantic import BaseModel, Field, field_validator

from structured import (
    Beams,
    Chunking,
    Extractor,
    Json,
    JsonLayout,
    Particles,
    Repetition,
    Result,
    Samples,
    Thinking,
    aextract,
    aextract_batch,
    aextract_results,
    awrite_results,
    classify,
    extract,
    extract_batch,
    extract_results,
    load_model,
    structured,
    write_results,
)
from structured.automata import Automaton, RegularAutomaton
from structured.errors import OptionWarning
from structured.extraction import Draft
from structured.extraction.options import DEFAULTS, Options, checked_options
from structured.index import compilation
from structured.models import FunctionModel, ScriptedModel
from structured.models.load import OTHER_NAMES
from structured.output_types import OutputType
from structured.output_types.output_type import Description
from structured.regex import literal
from structured.results import Calibration

TOKENS = ByteTokenizer()
TEXT = "Ana has 3 cats and 12 dogs. They live in the house beside the old mill at the river."


def answer_type(rejected: int = 2) -> Any:
    """Return a new type, of which nothing is remembered, that rejects the first answers."""
    left = iter(range(rejected))

    class Answer(BaseModel):
        name: str = Field(max_length=40)
        count: Literal[3, 12]
        note: Literal["ab", "ac"] | None = None

        @field_validator("name")
        @classmethod
        def _check(cls, name: str) -> str:
            if next(left, None) is not None:
                raise ValueError("no")
            return name

    return Answer


def choice_type() -> Any:
    """Return a new type of few values, some of them stated by the text."""

    class Choice(BaseModel, frozen=True):
        count: int = Field(ge=1, le=12)
        note: Literal["ab"] | None = None

    return Choice


def a_function(output_type: object, **options: Any) -> Any:
    def answer(text: str) -> Any:
        """Read {text}"""

    answer.__annotations__["return"] = output_type
    return structured(**options)(answer)(TEXT)


CALLS: dict[str, Callable[..., Any]] = {
    "extract": lambda **options: extract(answer_type(), TEXT, **options),
    "extract_batch": lambda **options: extract_batch(answer_type(), [TEXT, "12 dogs", "3"], **options, errors="return"),
    "Extractor": lambda **options: Extractor(answer_type(), **options)(TEXT),
    "stream": lambda **options: Extractor(answer_type(0), **options).stream(TEXT).result(),
    "classify": lambda **options: classify(choice_type(), TEXT, **options),
    "structured": lambda **options: a_function(answer_type(), **options),
    "structured, with evidence": lambda **options: a_function(Result[answer_type()], **options),  # type: ignore[misc]
}

SAMPLED = {"temperature": 1.5, "seed": 3}

OPTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "instructions": ("Count.", {}),
    "system": ("You count.", {}),
    "examples": ([("Ten cats.", {"name": "c", "count": 3, "note": None})], {}),
    "grounded": (["name"], {}),
    "layout, of blanks": (JsonLayout("compact"), {}),
    "layout, of properties": (JsonLayout(optional_properties="omittable"), {}),
    "temperature": (1.5, {"seed": 3}),
    "top_k": (1, SAMPLED),
    "top_p": (0.05, SAMPLED),
    "min_p": (0.9, SAMPLED),
    "repetition, allowed": (Repetition(stop=False), {}),
    "repetition, of tokens": (Repetition(penalty=3.0), {}),
    "repetition, of words": (Repetition(no_repeat_ngram_size=1), {}),
    "jump_forward": (False, {}),
    "thinking": (Thinking("!", max_tokens=5), {}),
    "seed": (4, {"temperature": 1.5}),
    "search, by beams": (Beams(2), {}),
    "search, by samples": (Samples(3), SAMPLED),
    "search, by a vote of samples": (Samples(7, vote=True), {"temperature": 9.0, "seed": 6}),
    "search, by particles": (Particles(5), SAMPLED),
    "max_tokens": (40, {}),
    "retries": (1, {}),
    "repair": ("told", {"retries": 5}),
    "calibration": (Calibration((0.0, 1.0), (0.25, 0.5)), {}),
    "batch_size": (1, {**SAMPLED, "search": Samples(2)}),
    "batch_tokens": (1, {**SAMPLED, "search": Samples(2)}),
    "chunking, in small chunks": (Chunking(32), {}),
    "chunking, in two passes": (Chunking(passes=2), {"chunking": Chunking(32)}),
    "chunking, by a field": (Chunking(merge_by=["note"]), {}),
    "chunking, by length": (Chunking(32, prefer="longest"), {"chunking": Chunking(32)}),
    "cache": (False, {}),
    "allow_missing": (["count"], {}),
}
"""For each option, with a word on the value, one that is not the default, and options with which it has an effect."""


def watched(
    call: Callable[..., Any], options: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, list[str]]:
    """Return all that can be seen of a call, and what it warns of.

    What the model was asked, what became of it, and the files that were written.
    """
    asked: list[tuple[int, ...]] = []
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(folder))
    monkeypatch.setattr(compilation, "MIN_NEW_MASKS", 0)
    width = len(TOKENS.tokens)
    habit, whim = random_logits(width, scale=2.0)([]), random_logits(width, seed=1)
    habit += [8.0 * (token == b"a") - 9.0 * (token is None or token[:1] in b'"n') for token in TOKENS.tokens]

    def model(token_ids: Sequence[int]) -> NDArray[np.float32]:
        asked.append(tuple(token_ids))
        return habit + whim(token_ids)  # it says the same again and again, now and then something else

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call(model=FunctionModel(model, TOKENS), **options)
            listed = found if isinstance(found, list) else [found]
            result = repr([(one, getattr(one, "evidence", None)) for one in listed])
        except (TypeError, ValueError) as error:
            return None, [str(error)]
        except Exception as error:  # noqa: BLE001  an answer that was rejected is seen as well
            result = repr(error)
    files = sorted(path.name for path in folder.rglob("*") if path.is_file())
    told = [str(one.message) for one in caught if issubclass(one.category, OptionWarning)]
    return (asked, result, files), told


VACUOUS = {("stream", "batch_size"), ("stream", "batch_tokens")}
"""Limits on several texts, where there is one."""


def test_all_options_are_tried() -> None:
    """But for the model, and what observes, which change nothing."""
    assert {name.partition(",")[0] for name in OPTIONS} == Options.__annotations__.keys() - {"model", "observe"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("call", "option"), [(call, option) for call in CALLS for option in OPTIONS if (call, option) not in VACUOUS]
)
def test_an_option_has_an_effect_or_is_named(
    call: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call with it differs from the same call without it, or names it in an error or a warning."""
    value, others = OPTIONS[option]
    option = option.partition(",")[0]
    without, told = watched(CALLS[call], others, tmp_path / "without", monkeypatch)
    if without is None:  # the others are refused
        others = {}
        without, _ = watched(CALLS[call], others, tmp_path / "alone", monkeypatch)
    with_it, told = watched(CALLS[call], {**others, option: value}, tmp_path / "with", monkeypatch)
    assert with_it != without or any(option in one for one in told)
    if with_it is None:
        assert option in told[0]


class Word(OutputType[str]):
    """Answers that are no JSON."""

    name = "Word"

    def automaton(self, document: str | None = None) -> Automaton:  # noqa: ARG002  the same of each
        return RegularAutomaton(literal("a"))

    def parse(self, text: str) -> str:
        return text

    def describe(self) -> Description:
        return Description("Word", "a word", answer="Word", task="Write it.")


@pytest.mark.parametrize(
    ("wanted", "options", "told"),
    [
        (bool, {"repair": "told", "retries": 1}, "repair='told' has no effect with retries=1, since the last retry"),
        (bool, {"repair": "whole", "retries": 0}, None),
        (bool, {"calibration": OPTIONS["calibration"][0]}, "calibration has no effect where no confidence is returned"),
        (Word(), {"repair": "told"}, "repair='told' has no effect on Word, whose"),
        (Word(), {}, None),
        (Word(), {"chunking": Chunking(40)}, "chunking has no effect on Word, whose answers are no JSON"),
    ],
)
def test_what_has_no_effect_is_told_once(wanted: Any, options: Any, told: str | None) -> None:
    model = FunctionModel(random_logits(len(TOKENS.tokens)), TOKENS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        extract(wanted, TEXT, model=model, **options)
    assert [str(one.message).startswith(told or "") for one in caught] == [True] * (told is not None)
    assert all(one.filename == __file__ for one in caught)


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ({"calibration": None}, "apply it: calibration.apply"),
        ({"thinking": Thinking()}, "Use extract, which lets the model think first."),
        (
            {"search": Samples(3), "temperature": 1},
            "samples nothing: it scores each value as a whole. Leave it out, or use",
        ),
        ({"allow_missing": True}, "Classify by a type that allows None"),
        ({"evidence": True}, "Use extract for evidence."),
    ],
)
def test_what_a_classification_does_not_take_is_refused_with_the_way_out(option: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=re.escape(remedy)) as raised:
        classify(bool, TEXT, model="no/such/folder", **option)
    assert str(raised.value).startswith(f"Unknown option {', '.join(sorted(option))}.")
    assert str(raised.value).count(remedy) == 1


def test_an_unknown_option_lists_what_the_call_takes() -> None:
    """Those for evidence are listed where there are such."""
    for call in (extract, extract_batch):
        with pytest.raises(TypeError, match=r"The options are model, .*, cache\.$"):
            call(bool, [TEXT], n=1, model="no/such/folder")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"The options are model, .*, cache\.$"):
        structured(n=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"The options are model, .*, cache\.$"):
        classify(bool, TEXT, n=1, model="no/such/folder")  # type: ignore[call-arg]


@pytest.mark.parametrize("loads", [name for name in inspect.signature(load_model).parameters if name != "source"])
def test_the_arguments_of_load_model_are_no_options(loads: str) -> None:
    """Under their names and those of other libraries: each is pointed to where `load_model` takes it."""
    for name in (loads, *(other for other, ours in OTHER_NAMES.items() if ours == loads)):
        with pytest.raises(TypeError, match=re.escape(f"option {name}. Pass model=load_model(…, {loads}=…). The")):
            extract(bool, TEXT, **{name: "x"})


ALL_OPTIONS = (extract, extract_batch, extract_results, aextract, aextract_batch, aextract_results)


@pytest.mark.parametrize("call", [*ALL_OPTIONS, write_results, awrite_results, Extractor, structured])
def test_signatures_show_every_option(call: Callable[..., Any]) -> None:
    """Each with its type and its default, in short lines of `help`, and no `**options` beside them."""
    signature = inspect.signature(call)
    shown = {name: one for name, one in signature.parameters.items() if name in Options.__annotations__}
    assert list(shown) == list(Options.__annotations__)
    assert {name: one.default for name, one in shown.items()} == {name: DEFAULTS.get(name) for name in shown}
    assert {one.kind for one in shown.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in signature.parameters.values()}
    page = pydoc.render_doc(call, renderer=pydoc.plaintext)
    for line in (
        "model: ModelSource | None = None,",
        "search: Beams | Samples | Particles | None = Samples(count=1, vote=False),",
    ):
        assert f"    {line}\n" in page
    assert max(map(len, str(signature).splitlines())) <= 120
    typing.get_type_hints(call)


@pytest.mark.parametrize(("call", "kind"), [(classify, "classify"), (Draft, "draft"), (extract, "extract")])
def test_a_signature_shows_the_options_that_the_call_takes(call: Any, kind: Any) -> None:
    """An option that the call refuses is not shown."""
    parameters = inspect.signature(call).parameters
    for name in Options.__annotations__:
        is_refused = False
        try:
            checked_options({name: DEFAULTS.get(name)}, kind)  # type: ignore[misc]
        except TypeError as error:
            is_refused = str(error).startswith(f"Unknown option {name}.")
        assert (name in parameters) != is_refused
    assert len(parameters) > 2


def test_an_extractor_under_other_options_shows_what_may_change() -> None:
    """The options that `with_options` takes, which stay as they are by default."""
    extractor = Extractor(bool, model=ScriptedModel("true"))
    parameters = inspect.signature(extractor.with_options).parameters
    assert {*parameters} < {*Options.__annotations__}
    assert {str(one.default) for one in parameters.values()} == {"..."}
    extractor.with_options(**{name: DEFAULTS[name] for name in parameters if name in DEFAULTS})  # type: ignore[misc]


def test_an_extractor_under_other_options_keeps_its_prompt() -> None:
    """Only how answers are sampled changes; what decides the prompt is refused by name."""
    model = FunctionModel(random_logits(len(TOKENS.tokens)), TOKENS)
    extractor = Extractor(bool, model=model, instructions="Be exact.")
    other = extractor.with_options(temperature=0.5, seed=1)
    assert other.prompt(TEXT) == extractor.prompt(TEXT)
    assert other.provenance.options == {**extractor.provenance.options, "temperature": 0.5, "seed": 1}
    with pytest.raises(TypeError, match="with_options does not take instructions, layout, which"):
        extractor.with_options(instructions="Guess.", layout=JsonLayout("compact"))


def test_the_layout_of_a_call_is_that_of_the_answer_also_where_it_is_the_default() -> None:
    """A type keeps the layout that it was made with, unless the call gives one."""
    model, compact = ScriptedModel("[1,2]"), Json(list[int], layout=JsonLayout("compact"))
    assert Extractor(compact, model=model).result(TEXT).text == "[1,2]"
    spaced = Extractor(compact, layout=JsonLayout("spaced"), model=ScriptedModel("[1, 2]"))
    assert spaced.result(TEXT).text == "[1, 2]"
