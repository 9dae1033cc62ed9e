"""Functions and tokenizers of one's own: what can be read of what they return, and what is said of what cannot."""

import array
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
import torch
from doubles import BOS, ByteTokenizer, random_logits, text_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from structured import Beams, extract
from structured.errors import ModelError, StructuredError, VocabularyError
from structured.models import FunctionModel, load_model
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
SIZE = len(TOKENIZER.tokens)
Answer = Literal["yes", "no"]


@dataclass
class Told:
    """A tokenizer that tells whatever it is given."""

    tokens: Any = TOKENIZER.tokens
    end_token_ids: Any = TOKENIZER.end_token_ids
    encode: Any = TOKENIZER.encode


class Plain:
    """A tokenizer with only what it is given."""

    def __init__(self, **told: Any) -> None:
        self.__dict__.update(told)


def returning(value: Any) -> FunctionModel:
    return FunctionModel(lambda token_ids: value, TOKENIZER)  # noqa: ARG005


SCORES = random_logits(SIZE)([BOS]).astype(np.float16).astype(np.float32)
"""Scores that half precision holds as they are."""

READABLE: dict[str, Callable[[], Any]] = {
    "list": SCORES.tolist,
    "tuple": lambda: tuple(SCORES.tolist()),
    "buffer": lambda: array.array("d", SCORES.tolist()),
    **{str(np.dtype(kind)): lambda kind=kind: SCORES.astype(kind) for kind in ("f2", "f4", "f8", ">f4")},
    "tensor": lambda: torch.tensor(SCORES),
    "half": lambda: torch.tensor(SCORES).half(),
    "double": lambda: torch.tensor(SCORES).double(),
    "gradient": lambda: torch.tensor(SCORES, requires_grad=True) * 1,
    "bfloat16 with gradient": lambda: torch.tensor(SCORES, requires_grad=True).bfloat16(),
    "wider": lambda: [*SCORES.tolist(), np.inf, 3.0],
    "part of a batch": lambda: torch.tensor(np.tile(SCORES, (2, 3, 1)))[0, -1],
}


@pytest.mark.parametrize("make", READABLE.values(), ids=READABLE)
def test_scores_that_can_be_read(make):
    """Whatever holds numbers is read, of any precision, on its device, with a gradient or beyond the vocabulary."""
    exact = np.asarray(torch.tensor(SCORES).bfloat16().float()) if "bfloat16" in str(make()) else SCORES
    np.testing.assert_array_equal(returning(make()).prefill([[BOS]])[1], [exact])


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "i8", "u8"])
def test_integers_are_scores(kind):
    scores = np.arange(SIZE) % 7
    for given_scores in (scores.astype(kind), torch.tensor(scores), scores.tolist()):
        np.testing.assert_array_equal(returning(given_scores).prefill([[BOS]])[1], [scores])


def test_numbers_that_single_precision_does_not_hold():
    """They are infinite: below, that rules a token out; above, nobody knows which is the likeliest."""
    low = np.where(SCORES > 0, np.finfo(np.float64).min, SCORES)
    assert np.isneginf(returning(low).prefill([[BOS]])[1]).sum() == (SCORES > 0).sum()
    with pytest.raises(ModelError, match="returned infinity as the logit of an allowed token"):
        extract(Answer, "x", model=(lambda token_ids: [1e300] * SIZE, TOKENIZER))  # noqa: ARG005


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "str": (lambda: "0" * SIZE, "str '0000"),
    "strings": (lambda: ["0"] * SIZE, r"list \['0', "),
    "dictionary": (lambda: {"logits": SCORES}, r"dict \{'logits': "),
    "ragged": (lambda: [[1.0]] * (SIZE - 1) + [[1.0, 2.0]], r"list \[\[1\.0\], .*which cannot be read"),
    "complex": (lambda: SCORES.astype(np.complex64), "ndarray array.* of dtype complex64"),
    "complex tensor": (lambda: torch.zeros(SIZE, dtype=torch.complex64), "Tensor tensor.* of dtype complex64"),
    "bools": (lambda: SCORES > 0, "ndarray array.* of dtype bool"),
    "None": (lambda: None, "None, of dtype object"),
    "Nones": (lambda: [None] * SIZE, r"list \[None, .* of dtype object"),
    "huge integers": (lambda: [10**5000] * SIZE, "list …, of dtype object"),
    "dates": (lambda: np.zeros(SIZE, dtype="M8[s]"), "ndarray array.* of dtype datetime64"),
    "records": (lambda: np.zeros(SIZE, dtype="f4,f4"), "ndarray array.* of dtype"),
    "generator": (lambda: (score for score in SCORES), "generator <generator"),
    "sparse": (lambda: torch.tensor(SCORES).to_sparse(), "Tensor tensor.*which cannot be read"),
    "nowhere": (lambda: torch.tensor(SCORES, device="meta"), "Tensor tensor.*which cannot be read"),
}


@pytest.mark.parametrize(("make", "what"), WRONG.values(), ids=WRONG)
def test_scores_that_cannot_be_read(make, what):
    """The error says what came and what is wanted."""
    with pytest.raises(ModelError, match=rf"^<lambda> returned {what}.*\. One number for each of the {SIZE} tokens is"):
        returning(make()).prefill([[BOS]])


@pytest.mark.parametrize("score", [np.nan, np.inf], ids=str)
@pytest.mark.parametrize("options", [{}, {"temperature": 1.0}, {"search": Beams(2)}], ids=str)
def test_scores_that_are_no_numbers(score, options):
    with pytest.raises(ModelError, match=r"as the logit of an allowed token\. .* a function must return numbers"):
        extract(Answer, "x", model=(lambda token_ids: np.full(SIZE, score), TOKENIZER), **options)  # noqa: ARG005


def test_exception_of_the_function_is_the_cause():
    """It is told by name, and raised from; errors of the library pass as they are."""
    mine, theirs = ZeroDivisionError("by zero"), ModelError("no GPU")

    def failing(token_ids):
        raise mine if len(token_ids) < 3 else theirs

    model = FunctionModel(failing, TOKENIZER)
    with pytest.raises(ModelError, match=r"^failing raised ZeroDivisionError after 2 tokens: by zero$") as caught:
        model.prefill([[BOS, 40]])
    assert caught.value.__cause__ is mine
    with pytest.raises(ModelError) as caught:
        model.prefill([[BOS, 40, 41]])
    assert caught.value is theirs


def test_function_that_cannot_be_called():
    async def later(token_ids):
        raise NotImplementedError

    for function in (42, later):
        with pytest.raises(ModelError, match=r"is not a function that can be a model\. Pass one, without async,"):
            FunctionModel(function, TOKENIZER)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"^<lambda> returned coroutine <coroutine"):
        returning(later([BOS])).prefill([[BOS]])


def test_pair_in_the_wrong_order():
    with pytest.raises(ModelError, match=r"^\(ByteTokenizer, function\) is not a .* in the wrong order\?$"):
        load_model((TOKENIZER, random_logits(SIZE)))  # type: ignore[arg-type]


class Raising(Plain):
    """A tokenizer whose property has a mistake."""

    @property
    def tokens(self) -> Any:
        raise KeyError("vocabulary")


TOKENIZERS: dict[str, tuple[Any, str]] = {
    "class": (Told, r"^The tokenizer is the class Told\. Pass an instance of it: Told\(…\)\.$"),
    "without tokens": (Plain(end_token_ids=[1], encode=len), "^The tokenizer Plain lacks `tokens`. It must be a list"),
    "without ends": (Plain(tokens=TOKENIZER.tokens, encode=len), "^The tokenizer Plain lacks `end_token_ids`"),
    "without encode": (Plain(tokens=TOKENIZER.tokens, end_token_ids=[1]), "^The tokenizer Plain lacks `encode`"),
    "raises": (Raising(end_token_ids=[1], encode=len), "^The tokenizer Raising raises KeyError for `tokens`"),
    "tokens are None": (Told(tokens=None), "^`tokens` of the tokenizer Told is None. It must be a list that has"),
    "tokens are a str": (Told(tokens="abc"), "^`tokens` of the tokenizer Told is str 'abc'"),
    "tokens are a dict": (Told(tokens={b"a": 0}), r"^`tokens` of the tokenizer Told is dict \{b'a': 0\}"),
    "tokens are a method": (Told(tokens=ByteTokenizer), "^`tokens` of the tokenizer Told is type <class"),
    "tokens are endless": (Told(tokens=itertools.repeat(b"a")), "^`tokens` of the tokenizer Told is repeat"),
    "a token is a str": (Told(tokens=[None, "a"]), "^`tokens` of the tokenizer Told has str 'a' as token 1"),
    "no tokens": (Told(tokens=[]), r"^The tokenizer Told cannot be used. The end tokens \[.*\] must be at least one"),
    "ends are None": (Told(end_token_ids=None), "^`end_token_ids` of the tokenizer Told is None. It must be a list"),
    "ends are a number": (Told(end_token_ids=1), "^`end_token_ids` of the tokenizer Told is int 1"),
    "ends are a str": (Told(end_token_ids="12"), "^`end_token_ids` of the tokenizer Told is str '12'"),
    "ends are a dict": (Told(end_token_ids={1: "x"}), "^`end_token_ids` of the tokenizer Told is dict"),
    "an end is a bool": (Told(end_token_ids=[True]), "^`end_token_ids` of the tokenizer Told has bool True as a token"),
    "an end is a float": (Told(end_token_ids=[1.0]), "^`end_token_ids` of the tokenizer Told has float 1.0 as a"),
    "an end is below": (Told(end_token_ids=[-1]), "^`end_token_ids` of the tokenizer Told has int -1 as a token id"),
    "an end is huge": (Told(end_token_ids=[10**5000]), "^`end_token_ids` of the tokenizer Told has int … as a token"),
    "an end is beyond": (Told(end_token_ids=[9999]), r"^The tokenizer Told cannot be used. The end tokens \[9999\]"),
    "an end has bytes": (Told(end_token_ids=[40]), r"^The tokenizer Told cannot be used. The end tokens \[40\] must"),
    "no ends": (Told(end_token_ids=[]), r"^The tokenizer Told cannot be used. The end tokens \[\] must be at least"),
    "ends are endless": (Told(end_token_ids=itertools.count()), "^`end_token_ids` of the tokenizer Told is count"),
}


@pytest.mark.parametrize(("tokenizer", "message"), TOKENIZERS.values(), ids=TOKENIZERS)
def test_tokenizer_that_cannot_be_used(tokenizer, message):
    """The error names it, what came, and what is wanted."""
    with pytest.raises(VocabularyError, match=message):
        load_model((random_logits(SIZE), tokenizer))


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (None, "returns None"),
        ("12", "returns str '12'"),
        (b"12", "returns bytes"),
        ([1.0], r"has float 1\.0 as a token id"),
        ([True], "has bool True as a token id"),
        ([-1], "has int -1 as a token id"),
        ([None], "has None as a token id"),
        ([[1, 2]], r"has list \[1, 2\] as a token id"),
        ({"input_ids": [1]}, "returns dict"),
        pytest.param(iter([1]), "returns list_iterator", id="iterator"),
        ([SIZE], rf"returns {SIZE} for str '.*', and there are {SIZE} tokens"),
        (torch.tensor([1.5]), r"has float 1\.5 as a token id"),
        (torch.tensor(1), "returns Tensor .*, which cannot be read"),
    ],
    ids=repr,
)
def test_encoding_that_is_no_list_of_token_ids(found, what):
    tokenizer = Told(encode=lambda text: found)  # noqa: ARG005
    with pytest.raises(VocabularyError, match=rf"^`encode` of the tokenizer Told {what}.* It must be a method that"):
        extract(Answer, "x", model=(random_logits(SIZE), tokenizer))


@pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor, lambda ids: array.array("i", ids)])
def test_token_ids_that_can_be_read(make):
    """Whatever holds integers is read, for the text and for the ends."""
    tokenizer = Told(encode=lambda text: make(TOKENIZER.encode(text)), end_token_ids=make([1, 1, 2]))
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.encode is not None
    assert vocabulary.encode("abc") == TOKENIZER.encode("abc")
    assert vocabulary.end_token_ids == {1, 2}


def test_exception_of_the_tokenizer_is_the_cause():
    def encode(text):
        return {}[text]

    with pytest.raises(VocabularyError, match=r"^`encode` of the tokenizer Told raises KeyError for str ") as caught:
        extract(Answer, "x", model=(random_logits(SIZE), Told(encode=encode)))
    assert isinstance(caught.value.__cause__, KeyError)


class Shy:
    """Tells nothing of itself."""

    def __repr__(self) -> str:
        raise ValueError("no repr")


ODD = st.sampled_from([
    *(None, True, 0, -1, 3, SIZE, 2**70, 10**5000, 1.5, np.nan, np.inf, 1j, "", "a", "\ud800", b"", b"a", b"ab", ()),
    *([], [1], {}, {1: 2}, {1, 2}, object(), Shy(), int, len, itertools.count(), np.array(1), np.arange(3)),
    *(np.array(["a"]), np.array([None]), torch.tensor(2), torch.tensor([1, 2]), torch.ones(SIZE), range(SIZE)),
    *(torch.ones(SIZE, dtype=torch.bfloat16), SCORES, -SCORES, SCORES[1:], SCORES[None], SCORES.tolist()),
    *(SCORES.astype(np.complex64), threading.Lock(), bytearray(b"a"), memoryview(b"a"), Exception("x")),
])  # fmt: skip
"""Values of all kinds, a few of which are right somewhere."""


@st.composite
def damaged(draw: st.DrawFn, right: list[Any]) -> Any:
    """Return a list as it is, or something else, or the list with some items replaced, left out or put in."""
    if draw(st.booleans()):
        return draw(ODD) if draw(st.booleans()) else right
    items = list(right)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(items)))
        items[place : place + draw(st.integers(0, 2))] = draw(st.lists(ODD | st.sampled_from(right), max_size=2))
    return items


@st.composite
def tokenizers(draw: st.DrawFn) -> Any:
    """Return tokenizers with random damage to each of their parts, some of which may be missing."""
    encoded = draw(st.none() | damaged([BOS, 40, 41]))
    told = {
        "tokens": draw(st.just(TOKENIZER.tokens) | damaged(list(TOKENIZER.tokens))),
        "end_token_ids": draw(st.just([1]) | damaged([1, 2])),
        "encode": draw(st.just(TOKENIZER.encode if encoded is None else lambda text: encoded) | ODD),  # noqa: ARG005
    }
    missing = draw(st.just(frozenset()) | st.frozensets(st.sampled_from(sorted(told)), max_size=2))
    return Plain(**{name: value for name, value in told.items() if name not in missing})


@st.composite
def functions(draw: st.DrawFn) -> Callable[[Any], Any]:
    """Return functions that after some tokens return, or raise, anything."""
    plain = text_logits(TOKENIZER.tokens)
    results = draw(st.lists(st.just("plain") | damaged(SCORES.tolist()), min_size=1, max_size=4))

    def function(token_ids: Any) -> Any:
        result = results[len(token_ids) % len(results)]
        if isinstance(result, Exception):
            raise result
        return plain(token_ids) if isinstance(result, str) and result == "plain" else result

    return function


@settings(max_examples=examples(150))
@given(functions() | ODD, st.just(TOKENIZER) | tokenizers() | ODD, st.sampled_from([0.0, 1.0]))
def test_whatever_is_told_ends_in_an_answer_or_an_error_of_the_library(
    function: Any, tokenizer: Any, temperature: float
) -> None:
    """Random functions with random tokenizers: a valid answer, or an error that is meant; nothing else, and in time."""
    try:
        answer = extract(Answer, "x", model=(function, tokenizer), temperature=temperature, cache=False)
    except StructuredError:
        return
    assert answer in {"yes", "no"}
