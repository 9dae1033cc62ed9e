"""Repetition control: what repeats itself is closed, what does not is untouched, and all stays valid."""

import json
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import doubles
import numpy as np
import pytest
from doubles import each_generation, random_logits
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from languages import TYPES
from pydantic import BaseModel, Field

from structured import Beams, Text, Thinking, extract, extract_batch
from structured.automata import RegularAutomaton
from structured.decoding.beam_search import beam_search
from structured.decoding.generate import generate
from structured.decoding.repetition import BREAK, MAX_COPIES, MAX_PERIOD, MIN_REPEATED, Repetition, repeated_end
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import BudgetWarning, RepetitionWarning
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import ByteTokenizer, FunctionModel, ScriptedModel
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
NASTY = doubles.ByteTokenizer()
NASTY_SIZE = len(NASTY.tokens)
SIZE = len(TOKENIZER.tokens)


def model_of(scores_after: Callable[[str], Mapping[str, float]]) -> Any:
    """Return a model that scores the next character by all characters before, as 0 where nothing is said of it."""

    def logits(token_ids: Sequence[int]) -> list[float]:
        scores = scores_after(b"".join(TOKENIZER.tokens[one] or b"" for one in token_ids).decode(errors="replace"))
        return [scores.get(chr((token or b"\0")[0]), 0.0) for token in TOKENIZER.tokens]

    return logits, TOKENIZER


def stuck_on(text: str, *, then: str = "") -> Any:
    """Return a model that writes a text again and again; where it may not, one of the characters of `then`."""

    def scores(written: str) -> dict[str, float]:
        begun = next(length for length in range(len(text), -1, -1) if written.endswith(text[:length]))
        return {character: 2.0 - rank / 10 for rank, character in enumerate(then)} | {text[begun % len(text)]: 9.0}

    return model_of(scores)


class Toast(BaseModel):
    ingredients: list[str]
    minutes: Annotated[int, Field(ge=1, le=9)]


@st.composite
def repetitive(draw: st.DrawFn) -> tuple[bytes, int, bytes]:
    """Draw a beginning, a number of copies and what is copied."""
    unit = draw(st.binary(min_size=1, max_size=40))
    return draw(st.binary(max_size=30)), draw(st.integers(0, 8)), unit


def is_repeated(text: bytes) -> bool:
    """Tell by trying each period whether the end of a text repeats itself once too often."""
    for period in range(1, min(MAX_PERIOD, len(text)) + 1):
        length = max(MAX_COPIES * period + 1, MIN_REPEATED)
        end = text[len(text) - length :] if length <= len(text) else b""
        if end and all(one == other for one, other in zip(end, end[period:], strict=False)):
            return True
    return False


@given(repetitive(), st.integers(0, 40))
@settings(max_examples=examples(300))
@example((b"", 4, b"x" * 9), 8)
@example((b"", 4, b"aaaaaaaaab"), 0)
def test_an_end_is_found_to_be_repeated_as_by_trying_each_period(drawn: tuple[bytes, int, bytes], cut: int) -> None:
    """Longer than the tail that is looked up, shorter than it, and ending anywhere inside the last copy."""
    beginning, copies, unit = drawn
    text = beginning + unit * copies
    text = text[: len(text) - min(cut, len(unit) - 1)]
    found = repeated_end(text)
    assert (found is not None) == is_repeated(text)
    assert found is None or text.endswith(found)


def written(function: Any, index: Index, *, repetition: Repetition | None, **options: Any) -> Generation:
    model = FunctionModel(function, NASTY)
    sampler = Sampler(options.pop("temperature", 0.0), seed=options.pop("seed", 0))
    guide = Guide(index, max_tokens=options.pop("max_tokens", 200))
    request = Request(model.encode("a prompt"), guide, sampler.generator(0, 0), repetition=repetition)
    return generate(model, [request], sampler, **options)[0]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@given(st.sampled_from(TYPES), st.integers(0, 50), st.booleans())
@settings(max_examples=examples(60))
def test_a_text_without_repetition_is_untouched(
    vocabulary: Vocabulary, temperature: float, pattern: Any, seed: int, jump_forward: bool
) -> None:
    """To the last digit; and one that is touched was led out of a repetition, still matches, and says so."""
    index, function = Index(RegularAutomaton(pattern), vocabulary), random_logits(NASTY_SIZE, scale=6.0)
    options: dict[str, Any] = {"temperature": temperature, "seed": seed, "jump_forward": jump_forward, "max_tokens": 90}
    free = written(function, index, repetition=None, **options)
    kept = written(function, index, repetition=Repetition(), **options)
    assert re.fullmatch(str(pattern), kept.text)
    ends = (free.text.encode()[:end] for end in range(len(free.text.encode()) + 1))
    if not any(map(is_repeated, ends)):
        assert kept == free
    assert (kept == free) or kept.diagnostics.repetitions


@pytest.mark.parametrize("options", [{}, {"jump_forward": False}])
def test_a_list_that_repeats_its_items_is_closed_after_three(options: dict[str, Any]) -> None:
    """The fields behind are written as usual; without the control the budget ends the list."""
    model = stuck_on('"cheese", ', then='"],1')
    with pytest.warns(
        RepetitionWarning, match=r"^The answer repeated the same text .* Field\(max_length=…\)"
    ) as caught:
        found = extract(Toast, "Grandma's toast", model=model, max_tokens=400, **options)
    assert (found.ingredients, len(caught)) == (["cheese"] * 3, 1)
    with pytest.warns(BudgetWarning):
        endless = extract(
            Toast, "Grandma's toast", model=model, max_tokens=400, repetition=Repetition(stop=False), **options
        )
    assert len(endless.ingredients) > 10
    assert len(extract(Toast, "Grandma's toast", model=model, max_tokens=400, search=Beams(2)).ingredients) <= 3


def test_a_text_that_repeats_itself_is_limited_in_words_of_its_type() -> None:
    """`Field(max_length=…)` was advised, which `Text` does not have."""
    with pytest.warns(RepetitionWarning, match=r"Limit the text, with characters=\(0, 280\)") as caught:
        extract(Text(), "A song", model=stuck_on("na na ", then="x"), max_tokens=400)
    assert "Field" not in str(caught[0].message)


def test_the_warning_names_the_field() -> None:
    """That of the string or the list that was closed, by the path that options take, of all documents together."""

    class Line(BaseModel):
        number: Literal["№ 1"]
        text: str

    class Bill(BaseModel):
        lines: Annotated[list[Line], Field(min_length=1)]

    class Recipe(BaseModel):
        title: str
        toast: Toast

    for output_type, model, field in (
        (Recipe, stuck_on('"cheese", ', then='"],1'), "toast.ingredients"),
        (Bill, stuck_on("gnu ", then='"],1'), "lines[].text"),
    ):
        with pytest.warns(RepetitionWarning, match=rf"repeated the same text in {re.escape(field)} until") as caught:
            extract_batch(output_type, ["a", "b"], model=model, max_tokens=400)
        assert [warning.message.fields for warning in caught] == [(field,)]
    with pytest.warns(RepetitionWarning, match=r"^The answer repeated the same text until") as caught:
        extract(str, "A song", model=stuck_on("na ", then='"'), max_tokens=400)
    assert caught[0].message.fields == ()


@pytest.mark.parametrize(("text", "longest"), [("na ", 24), ("x", 24), ("0123456789abcdef ", 52)])
def test_a_string_that_repeats_itself_is_closed_in_its_third_copy(text: str, longest: int) -> None:
    with pytest.warns(RepetitionWarning):
        found = extract(str, "A song", model=stuck_on(text, then='"'), max_tokens=400)
    assert longest - len(text) <= len(found) <= longest
    assert set(found) <= set(text)


def test_the_reasoning_before_an_answer_is_led_to_its_end_as_well() -> None:
    seen: list[Generation] = []
    options: dict[str, Any] = {"thinking": Thinking("END"), "observe": each_generation(lambda _, one: seen.append(one))}
    with pytest.warns(RepetitionWarning):
        assert extract(bool, "Hm", model=stuck_on("well, ", then="END1t"), max_tokens=9, **options)
    (one,) = seen
    assert len(one.thinking) < 40
    assert one.diagnostics.repetitions


def test_what_the_prompt_repeats_may_be_copied() -> None:
    """A password is not shortened, and neither is a row of numbers."""
    for output_type, answer in ((str, '"' + "ab" * 20 + '"'), (list[int], f"[{', '.join('0' * 20)}]")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            script = ScriptedModel(answer)
            assert extract(output_type, f"It says {answer}.", model=script) == json.loads(answer)


def test_a_list_that_must_go_on_goes_on() -> None:
    class Board(BaseModel):
        cells: list[str] = Field(min_length=12, max_length=12)

    with pytest.warns(RepetitionWarning):
        assert len(extract(Board, "An empty board", model=stuck_on('"empty", ', then='"]')).cells) == 12


def test_the_warning_names_the_documents() -> None:
    model = stuck_on('"cheese", ', then='"],1')
    with pytest.warns(RepetitionWarning, match=r"^The answers for 2 of 2 documents \(0, 1\) repeated") as caught:
        extract_batch(Toast, ["a", "b"], model=model, max_tokens=300)
    (warning,) = caught
    assert isinstance(warning.message, RepetitionWarning)
    assert warning.message.documents == (0, 1)


@given(st.lists(st.integers(0, 5) | st.just(BREAK), max_size=20), st.integers(1, 4), st.floats(0.5, 3))
@settings(max_examples=examples(100))
def test_penalties_are_those_of_transformers(seen: list[int], size: int, penalty: float) -> None:
    """Of the strings apart: what follows in one is no n-gram that began in another."""
    torch = pytest.importorskip("torch")
    from transformers.generation.logits_process import NoRepeatNGramLogitsProcessor, RepetitionPenaltyLogitsProcessor

    logits = np.random.default_rng(len(seen)).normal(size=8).astype(np.float32)
    control = Repetition(penalty=penalty, no_repeat_ngram_size=size)
    tokens = [7 if one == BREAK else one for one in seen]  # which occurs nowhere else
    scores = torch.from_numpy(logits)[None].clone()
    if seen:
        ids = torch.tensor([[one for one in seen if one != BREAK] or [7]])
        if any(one != BREAK for one in seen):
            scores = RepetitionPenaltyLogitsProcessor(penalty)(ids, scores)
        scores = NoRepeatNGramLogitsProcessor(size)(torch.tensor([tokens]), scores)
    theirs = scores[0].numpy()
    here, there = control.penalised(logits, seen), control.penalised(torch.from_numpy(logits), seen)
    banned = theirs == -math.inf
    assert np.allclose(np.asarray(here)[:7][~banned[:7]], theirs[:7][~banned[:7]])
    has_break = np.array([False] * 7 + [True])
    if BREAK not in seen:
        assert (np.asarray(here) == -np.inf).tolist() == banned.tolist()
    assert not ((np.asarray(here) == -np.inf) & ~banned & ~has_break).any()
    assert np.array_equal(np.asarray(here), np.asarray(there))


def test_names_of_fields_and_the_end_of_strings_are_not_penalised() -> None:
    """A model that likes `a` best writes it once, and the frame stays as it was."""

    class Words(BaseModel):
        aaaa: str = Field(max_length=4)
        aaa: str = Field(max_length=4)

    model = model_of(lambda _: {"a": 3.0, "b": 2.9, "c": 2.8, "d": 2.7})
    assert extract(Words, "x", model=model) == Words(aaaa="aaaa", aaa="aaaa")
    assert extract(Words, "x", model=model, repetition=Repetition(penalty=1.5)) == Words(aaaa="abcd", aaa="aaaa")
    for size in (1, 2, 3):
        found = extract(Words, "x", model=model, repetition=Repetition(no_repeat_ngram_size=size))
        together = (found.aaaa, found.aaa)
        grams = [one[at : at + size] for one in together for at in range(len(one) - size + 1)]
        assert len(grams) == len(set(grams))


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("size", [1, 2])
def test_a_text_is_never_stuck_where_all_is_ruled_out(size: int, beams: int) -> None:
    """A string of 300 characters cannot do without repeating one, nor a model that knows two of them."""
    model = model_of(lambda _: {character: 0.0 if character in "ab" else -1e9 for character in map(chr, range(256))})
    options: dict[str, Any] = {"search": Beams(beams), "repetition": Repetition(penalty=2.0, no_repeat_ngram_size=size)}
    found = extract(Annotated[str, Field(min_length=30, max_length=30)], "x", model=model, **options)
    assert len(found) == 30


@given(st.sampled_from(TYPES), st.integers(0, 20))
@settings(max_examples=examples(30))
def test_beams_keep_to_the_type(vocabulary: Vocabulary, pattern: Any, seed: int) -> None:
    model = FunctionModel(random_logits(NASTY_SIZE, scale=6.0), NASTY)
    control = Repetition(penalty=1.3, no_repeat_ngram_size=3)
    guide = Guide(Index(RegularAutomaton(pattern), vocabulary), max_tokens=60)
    request = Request(model.encode(f"a prompt {seed}"), guide, np.random.default_rng(seed), repetition=control)
    for one in beam_search(model, [request], beams=3)[0]:
        assert re.fullmatch(str(pattern), one.text)
