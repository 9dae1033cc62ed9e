"""Drafts: a program and a model write one text in turns, and what the model has read is not read again."""

from collections.abc import Sequence
from typing import Any, Self

import pytest
from doubles import in_memory, random_logits, tiny_gpt2, tiny_lfm2, tiny_llama, tiny_mistral
from hypothesis import given, settings
from hypothesis import strategies as st

from structured import Choice, Json, Regex, Text
from structured.errors import BudgetError, BudgetWarning, GenerationError, ModelError, PromptError, SchemaError
from structured.extraction import Draft
from structured.models import FunctionModel, LanguageModel, ScriptedModel
from structured.models.protocol import DecodingBatch, Logits
from structured.models.scripted import BYTE_TOKENS, ByteTokenizer

TOKENS = (*BYTE_TOKENS, b"re", b"red", b": ", b"1. ")


class Counting(LanguageModel):
    """A model that counts the tokens that it reads."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name, self.vocabulary = model.name, model.vocabulary
        self.context_length = model.context_length
        self.can_roll_back = model.can_roll_back
        self.counts: list[int] = []
        """The tokens of each pass."""

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[DecodingBatch, Logits]:
        self.counts += map(len, prompts)
        batch, logits = self.model.prefill(prompts, shared=shared, window=window)
        return CountingBatch(batch, self.counts), logits


class CountingBatch(DecodingBatch):
    is_ragged = True

    def __init__(self, batch: DecodingBatch, counts: list[int]) -> None:
        self.batch, self.counts = batch, counts

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        self.counts += map(len, token_ids)
        return self.batch.forward(token_ids, window=window)

    def select(self, rows: Sequence[int]) -> None:
        self.batch.select(rows)

    def rollback(self, counts: Sequence[int]) -> None:
        self.counts.append(-sum(counts))
        self.batch.rollback(counts)

    def join(self, other: Self) -> None:
        raise NotImplementedError


def function_model(seed: int) -> FunctionModel:
    tokenizer = ByteTokenizer(TOKENS)
    return FunctionModel(random_logits(len(TOKENS), scale=3.0, seed=seed), tokenizer)


TYPES: list[Any] = [
    Choice(["red", "green", "re"]),
    Regex("[a-z]{1,4}"),
    Text(stop=".", characters=(0, 5)),
    bool,
    Json(list[bool]),
    "1. ",
    "",
    "x: r",
    ", é ",
]
"""What may come next: something that is asked for, or a text."""


def write(draft: Draft, steps: Sequence[Any], *, forget: bool = False) -> None:
    for step in steps:
        if forget:
            draft._model._kept_batch = None
        if isinstance(step, str):
            draft += step
        else:
            draft.ask(step, max_tokens=8)


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TYPES), min_size=1, max_size=8), st.integers(0, 1000))
def test_no_token_is_read_twice(steps: list[Any], seed: int) -> None:
    """As many tokens are read in all as the model has in its cache, but for those that it could have taken back."""
    model = Counting(function_model(seed))
    draft = Draft("Begin: ", model=model, temperature=1.0, seed=seed)
    write(draft, steps)
    batch = draft._model._kept_batch
    assert sum(model.counts) == (0 if batch is None else len(batch.token_ids))
    assert b"".join(
        model.vocabulary.tokens[token_id] or b"" for token_id in draft._tokens
    ).decode() + draft._untokenised_text == (draft.text)


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2, tiny_lfm2, tiny_mistral])
def test_the_cache_makes_no_difference(make: Any) -> None:
    """A model that reads the whole text before each answer writes the same."""
    steps = [TYPES[place] for place in (0, 5, 1, 1, 2, 7, 3, 6, 4, 8, 0)]
    texts = []
    for forget in (False, True):
        draft = Draft("Begin: ", model=in_memory(make), max_tokens=8)
        write(draft, steps, forget=forget)
        texts.append(draft.text)
    assert texts[0] == texts[1]


def test_a_draft_is_written_in_turns() -> None:
    """Values come back at once and under their names; what is written stands behind what stood there."""
    model = ScriptedModel("red, as in fire\n2. blue")
    draft = Draft("Colours\n1. ", model=model)
    colour = draft.ask(Choice(["red", "blue"]))
    assert colour == "red"
    if colour == "red":
        draft += ", as in "
        assert draft.ask(Text(stop="\n"), name="example") == "fire"
    draft.append("2. ")
    assert draft.ask(Choice(["red", "blue"]), name="second") == "blue"
    assert draft.text == str(draft) == "Colours\n1. red, as in fire\n2. blue"
    assert dict(draft.values) == {"example": "fire", "second": "blue"}
    assert draft["example"] == "fire"
    with pytest.raises(KeyError):
        _ = draft["third"]


def test_a_draft_may_be_the_answer_of_a_chat() -> None:
    draft = Draft([{"role": "user", "content": "Which colours?"}], model=ScriptedModel("1. red"))
    draft += "1. "
    assert draft.ask(Choice(["red", "blue"])) == "red"
    assert draft.text == "1. red"


def test_grounded_values_are_those_of_the_text_so_far() -> None:
    draft = Draft("Ana met Bo. Who? ", model=ScriptedModel('"Bo"'))
    assert draft.ask(Json(str, grounded=True)) == "Bo"


def test_what_validators_reject_is_written_again_and_leaves_no_trace() -> None:
    def even(text: str) -> int:
        if int(text) % 2:
            raise ValueError("odd")
        return int(text)

    draft = Draft("A number: ", model=function_model(3), seed=1, temperature=1.0, retries=60)
    assert draft.ask(Regex("[0-9]", even)) % 2 == 0
    before = draft.text

    def never(text: str) -> str:
        raise ValueError(f"not {text}")

    with pytest.raises(GenerationError, match="not"):
        draft.ask(Regex("[0-9]", never), name="never")
    assert draft.text == before
    assert draft.ask(Choice(["a"]), name="never") == "a"


def test_the_end_of_a_text_is_healed() -> None:
    """Where a token goes on from it into the answer, the model chooses that token."""
    model = Counting(function_model(1))
    scores = [0.0] * len(TOKENS)
    scores[TOKENS.index(b"red")] = 9.0
    model.model = FunctionModel(lambda _: scores, ByteTokenizer(TOKENS))
    draft = Draft("Begin: r", model=model)
    assert draft.ask(Choice(["ed", "a"])) == "ed"
    assert TOKENS.index(b"red") in draft._tokens


@pytest.mark.parametrize(
    ("ask", "error", "problem"),
    [
        (lambda draft: draft.ask(str), SchemaError, "The type is str"),
        (lambda draft: draft.ask(Choice(["a"]), name="known"), ValueError, "has a value 'known' already"),
        (lambda draft: draft.ask(Choice(["aaaaaa"]), max_tokens=1), BudgetError, "max_tokens"),
        (lambda draft: draft.append(3), PromptError, "gets text, not int 3"),
        (lambda draft: draft.append("\ud800"), PromptError, "surrogate"),
        (lambda draft: draft.append("x" * 300) or draft.ask(Choice(["a", "b"])), PromptError, "the context of"),
    ],
)
def test_what_cannot_be_written_is_refused(ask: Any, error: type[Exception], problem: str) -> None:
    model = function_model(1)
    model.context_length = 200
    draft = Draft("a", model=model)
    draft.ask(Choice(["b"]), name="known")
    with pytest.raises(error, match=problem):
        ask(draft)


def test_options_of_documents_are_refused() -> None:
    for option in ("system", "search", "chunking", "repair", "thinking", "layout", "observe"):
        with pytest.raises(TypeError, match=option):
            Draft("a", model=function_model(1), **{option: None})  # type: ignore[misc]
    with pytest.raises(PromptError, match="The draft is empty"):
        Draft(model=function_model(1)).ask(Choice(["a", "b"]))


def test_a_shortened_answer_is_told() -> None:
    draft = Draft("a", model=function_model(1))
    with pytest.warns(BudgetWarning, match="shortened an answer"):
        draft.ask(Regex("[0-9]{2,}"), max_tokens=4)


def test_a_script_that_an_answer_differs_from_is_an_error_at_once() -> None:
    """It was one at the next question, and a draft of one question went on with a wrong value."""
    draft = Draft("Smoke? ", model=ScriptedModel("Yes"))
    with pytest.raises(ModelError, match="The script says b'Yes'"):
        draft.ask(Choice({"yes": True, "no": False}))
    assert draft.text == "Smoke? "


def test_a_text_behind_a_draft_is_written_in_place() -> None:
    draft = Draft("a", model=ScriptedModel("b"))
    with pytest.raises(TypeError, match=r"Write draft \+= text"):
        _ = draft + "b"
    draft += "b"
    assert draft.text == "ab"
