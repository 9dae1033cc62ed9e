"""Engines of other people: what they return is read exactly, or refused in words that name them."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import torch
from doubles import ByteTokenizer, random_logits
from pydantic import Field

from structured import Beams, extract, extract_batch
from structured.errors import ModelError
from structured.extraction.extractor import Options
from structured.models import DecodingBatch, FunctionModel, LanguageModel
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
SIZE = len(TOKENIZER.tokens)
SCORES = random_logits(SIZE, scale=3.0)
DOCUMENTS = ["a", "b" * 20, "c", "d" * 7, "e"]

Three = Annotated[list[int], Field(min_length=3)]
"""A type with answers of several passes."""

Change = Callable[[Any], Any]


def same(given: Any) -> Any:
    return given


class Engine(LanguageModel):
    """A model that returns the scores of a function in the form that `change` gives them, after some passes."""

    name = "engine"
    vocabulary = Vocabulary.from_tokenizer(TOKENIZER)

    def __init__(self, change: Change = same, *, after: int = 0, **facts: Any) -> None:
        self.change = change
        self.left = after
        vars(self).update(facts)

    def prefill(self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0) -> Any:
        assert shared >= 0
        batch = Rows(self, [[] for _ in prompts])
        return batch, batch.forward(prompts, window=window)


class Rows(DecodingBatch):
    """Texts of an `Engine`."""

    is_ragged = True
    can_join = True

    def __init__(self, model: Engine, texts: list[list[int]]) -> None:
        self.model = model
        self.texts = texts

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Any:
        self.texts = [[*text, *new] for text, new in zip(self.texts, token_ids, strict=True)]
        rows = [[SCORES(text[: len(text) - back]) for back in range(window, -1, -1)] for text in self.texts]
        scores = np.array(rows, dtype=np.float32)
        self.model.left -= 1
        return (self.model.change if self.model.left < 0 else same)(scores if window else scores[:, 0])

    def select(self, rows: Sequence[int]) -> None:
        self.texts = [self.texts[row] for row in rows]

    def join(self, other: "Rows") -> None:  # type: ignore[override]
        self.texts += other.texts

    def rollback(self, counts: Sequence[int]) -> None:
        self.texts = [text[: len(text) - count] for text, count in zip(self.texts, counts, strict=True)]


WAYS: dict[str, Options] = {"alone": {"batch_size": 1}, "batch": {"batch_size": 3}, "beams": {"search": Beams(2)}}
FORMS: dict[str, Change] = {
    "float64": lambda scores: scores.astype(np.float64),
    "another byte order": lambda scores: scores.astype(">f4"),
    "wider than the vocabulary": lambda scores: np.pad(scores, [(0, 0)] * (scores.ndim - 1) + [(0, 9)]),
    "list": lambda scores: scores.tolist(),
    "torch": torch.from_numpy,
    "torch, float64": lambda scores: torch.from_numpy(scores).double(),
    "torch with a gradient": lambda scores: torch.from_numpy(scores).requires_grad_(),
    "not contiguous": np.asfortranarray,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_scores_are_the_same_in_every_form(form: Change, way: Options) -> None:
    """Wider numbers, a list, a tensor with a gradient: the answers are those of single precision."""
    options: Options = {"max_tokens": 30, "retries": 0, **way}
    expected = extract_batch(list[int], DOCUMENTS, model=FunctionModel(SCORES, TOKENIZER), **options)
    assert extract_batch(list[int], DOCUMENTS, model=Engine(form), **options) == expected


def test_a_model_may_return_an_array_once_and_a_tensor_then() -> None:
    """Texts that join a batch are sampled beside those that are in it, wherever the scores of each are."""
    turns = iter([same, torch.from_numpy] * 1000)
    options: Options = {"max_tokens": 30, "retries": 0, "batch_size": 3}
    expected = extract_batch(list[int], DOCUMENTS, model=FunctionModel(SCORES, TOKENIZER), **options)
    assert (
        extract_batch(list[int], DOCUMENTS, model=Engine(lambda scores: next(turns)(scores.copy())), **options)
        == expected
    )


WRONG: dict[str, tuple[Change, str]] = {
    "narrower than the vocabulary": (lambda scores: scores[..., :100], r"logits of shape \(\d, 100\)\. Logits of "),
    "a row too few": (lambda scores: scores[:-1], r"logits of shape \(\d, \d+\)\. Logits of shape"),
    "a row too many": (lambda scores: np.concatenate([scores[:1], scores]), r"logits of shape \(\d, \d+\)\. "),
    "one axis": (lambda scores: scores[0], rf"logits of shape \({SIZE},\)\. Logits of shape"),
    "no axis": (lambda scores: scores.sum(), r"logits of shape \(\)\. Logits of shape"),
    "a window that nobody asked for": (
        lambda scores: np.stack([scores] * 5, axis=1),
        r"logits of shape \(\d, 5, \d+\)\.",
    ),
    "narrow tensor": (lambda scores: torch.from_numpy(scores)[..., :9], r"logits of shape \(\d, 9\)\. Logits of "),
    "bool": (lambda scores: scores > 0, r"ndarray array.*, of dtype bool\. Logits of shape"),
    "complex": (lambda scores: scores.astype(complex), r"ndarray array.*, of dtype complex128\. Logits of shape"),
    "None": (lambda _: None, r"None, of dtype object\. Logits of shape"),
    "sparse": (lambda scores: torch.from_numpy(scores).to_sparse(), r"Tensor .*, which cannot be read"),
}


@pytest.mark.parametrize("after", [0, 1], ids=["prefill", "forward"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_scores_that_are_in_no_rows_and_columns_are_refused(
    change: Change, message: str, way: Options, after: int
) -> None:
    """A score in the wrong row is another document's; one in the wrong column another token's."""
    documents = DOCUMENTS[:1] if way == WAYS["alone"] else DOCUMENTS
    with pytest.raises(ModelError, match=rf"^engine returned {message}"):
        extract_batch(Three, documents, model=Engine(change, after=after), max_tokens=30, **way)


def test_an_engine_that_ignores_the_window_is_refused() -> None:
    """Scores after the proposals would be taken for those before them."""
    engine = Engine(lambda scores: scores[:, -1] if scores.ndim == 3 else scores, can_roll_back=True, pass_cost=1e6)
    words = "alpha beta gamma delta"
    with pytest.raises(ModelError, match=r"^engine returned logits of shape \(1, \d+\)\. Logits of shape \(1, \d+, w"):
        extract(list[Literal["alpha beta gamma delta", "alpha beta"]], f"{words} {words}", model=engine, max_tokens=90)


@pytest.mark.parametrize("speculates", [False, True])
def test_an_engine_may_use_its_buffer_again(speculates: bool) -> None:
    """The scores of texts in the batch are not those of others that are admitted in the same turn."""
    buffer = np.zeros(1_000_000, dtype=np.float32)

    def reused(scores: Any) -> Any:
        buffer[: scores.size] = scores.ravel()
        return buffer[: scores.size].reshape(scores.shape)

    facts = {"can_roll_back": True, "pass_cost": 1e6} if speculates else {}
    options: Options = {"max_tokens": 40, "batch_size": 3, "temperature": 1.0, "seed": 1}
    expected = extract_batch(list[int], DOCUMENTS * 3, model=Engine(**facts), **options)
    assert extract_batch(list[int], DOCUMENTS * 3, model=Engine(reused, **facts), **options) == expected


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_an_engine_raises_is_the_cause_of_a_model_error(way: Options) -> None:
    """For one document as for many, as with a function."""
    mine = ZeroDivisionError("by zero")

    def failing(_: Any) -> Any:
        raise mine

    for documents in (DOCUMENTS[:1], DOCUMENTS):
        with pytest.raises(ModelError, match=r"^engine raised ZeroDivisionError: by zero$") as caught:
            extract_batch(Three, documents, model=Engine(failing, after=1), max_tokens=30, **way)
        assert caught.value.__cause__ is mine


def test_a_prefill_that_returns_no_batch() -> None:
    """The error says what came."""

    class Half(Engine):
        def prefill(self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0) -> Any:
            return super().prefill(prompts, shared=shared, window=window)[1]

    with pytest.raises(ModelError, match=r"^The prefill of engine returned ndarray .* A pair is needed"):
        extract(int, "x", model=Half())


ENCODINGS: list[tuple[Any, str]] = [
    (None, "None. A list of token ids is needed"),
    ([], r"list \[\]"),
    ("abc", "str 'abc'"),
    ([1.5], r"list \[1\.5\]"),
    ([True], r"list \[True\]"),
    ([[1], [2, 3]], r"list \[\[1\]"),
    ([99999], f"the token ids 99999 to 99999, and its vocabulary has those from 0 to {SIZE - 1}"),
    ([-1, 3], "the token ids -1 to 3"),
]


@pytest.mark.parametrize(("token_ids", "message"), ENCODINGS, ids=[str(one) for one, _ in ENCODINGS])
def test_prompts_that_are_encoded_as_no_tokens(token_ids: Any, message: str) -> None:
    """It is said before the model runs."""
    with pytest.raises(ModelError, match=rf"^engine encodes a prompt (as|with) {message}"):
        extract(int, "x", model=Engine(encode=lambda _: token_ids))
    assert extract(int, "x", model=Engine(encode=lambda _: np.array([1, 2]))) is not None


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        *[("pass_cost", one) for one in (float("nan"), float("inf"), -5, "x", None)],
        *[("logits_cost", one) for one in (float("nan"), -3)],
        *[("context_length", one) for one in ("4096", -1, 0, 300.5, True)],
        ("name", None),
    ],
)
def test_facts_of_the_wrong_kind(fact: str, value: Any) -> None:
    """They are checked before anything is encoded."""
    with pytest.raises(ModelError, match=rf"^The `{fact}` of Engine .* must be"):
        extract(int, "x", model=Engine(**{fact: value}))
