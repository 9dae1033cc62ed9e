"""The loop in which everything meets: whatever the model wants, texts match, end in time, and ignore each other."""

import math
import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from doubles import (
    END,
    LOGITS_FUNCTIONS,
    ByteTokenizer,
    LawBreaker,
    LogitsFunction,
    in_memory,
    json_hating_logits,
    random_logits,
    spell,
    tiny_gpt2,
    tiny_lfm2,
    tiny_llama,
    tiny_mistral,
)
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from languages import STRING, TYPES
from numpy.typing import NDArray
from random_patterns import patterns, randoms, sample
from ways import matches

from structured.automata import RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import ModelError, OutOfMemoryError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import FunctionModel
from structured.models.function import FunctionBatch
from structured.regex import Pattern, chars, concat, literal, repeat
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENIZER = ByteTokenizer()
SIZE = len(TOKENIZER.tokens)


def run(
    function: LogitsFunction,
    prompts: Sequence[str],
    guides: Sequence[Guide],
    sampler: Sampler,
    *,
    items: Sequence[int] | None = None,
    **options: Any,
) -> list[Generation]:
    """Generate with a function as the model; `items` number the texts for their random draws."""
    model = FunctionModel(function, TOKENIZER)
    numbers = items or range(len(prompts))
    requests = [
        Request(model.encode(prompt), guide, sampler.generator(item, 0))
        for prompt, guide, item in zip(prompts, guides, numbers, strict=True)
    ]
    return generate(model, requests, sampler, **options)


def index_of(pattern: Pattern, vocabulary: Vocabulary) -> Index:
    return Index(RegularAutomaton(pattern), vocabulary)


@pytest.mark.parametrize("name", LOGITS_FUNCTIONS)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_text_matches_its_type(vocabulary: Vocabulary, name: str, temperature: float) -> None:
    """Whatever the model wants to write, each text is one of its own type, inside its budget, and honestly told."""
    guides = [Guide(index_of(pattern, vocabulary), max_tokens=25) for pattern in TYPES]
    generations = run(LOGITS_FUNCTIONS[name], ["a prompt"] * len(TYPES), guides, Sampler(temperature, seed=1))
    for pattern, generation in zip(TYPES, generations, strict=True):
        assert re.fullmatch(str(pattern), generation.text)
        assert len(generation.token_ids) <= 25
        assert spell(vocabulary.tokens, generation.token_ids).decode() == generation.text
        assert generation.log_probability <= 0


@pytest.mark.thorough
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("margin", [1.0, 1e6, math.inf])
@given(st.tuples(patterns(), randoms(), st.integers(0, 10)))
@settings(max_examples=20)
def test_a_model_that_prefers_what_is_illegal(
    vocabulary: Vocabulary, margin: float, temperature: float, drawn: tuple[Pattern, random.Random, int]
) -> None:
    """A model that knows the rule and prefers to break it, or rules out all that keeps it, writes texts that match."""
    pattern, rng, spare = drawn
    index = index_of(pattern, vocabulary)
    guide = Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + spare)
    prompt = sample(pattern, rng)
    breaker = LawBreaker(index, prompt_length=len(TOKENIZER.encode(prompt)), margin=margin)
    (generation,) = run(breaker, [prompt], [guide], Sampler(temperature, seed=rng.randrange(9)))
    assert matches(pattern, generation.text)
    assert len(generation.token_ids) <= index.shortest_completion(index.automaton.start) + spare


@pytest.mark.thorough
@given(
    st.lists(st.tuples(patterns(5), st.text("ab é", max_size=4), st.integers(0, 12)), min_size=1, max_size=5),
    st.sampled_from([0.0, 0.7, 2.0]),
)
@settings(max_examples=examples(40))
def test_a_text_does_not_depend_on_its_batch(
    vocabulary: Vocabulary, rows: list[tuple[Pattern, str, int]], temperature: float
) -> None:
    """Every row of a batch of different types, prompts and budgets comes out as it does alone, to the last digit."""
    indexes = [index_of(pattern, vocabulary) for pattern, _, _ in rows]

    def guide(row: int) -> Guide:
        index = indexes[row]
        return Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + rows[row][2])

    sampler, model = Sampler(temperature, seed=3), random_logits(SIZE, scale=3.0)
    together = run(model, [prompt for _, prompt, _ in rows], [guide(row) for row in range(len(rows))], sampler)
    for row, (_, prompt, _) in enumerate(rows):
        assert run(model, [prompt], [guide(row)], sampler, items=[row]) == [together[row]]


@pytest.mark.thorough
@given(patterns(), st.sampled_from([0.0, 1.0]), st.integers(0, 10))
def test_log_probability_is_the_sum_over_the_text(
    vocabulary: Vocabulary, pattern: Pattern, temperature: float, seed: int
) -> None:
    """Reading a text again, token by token under its pattern's masks, gives the log-probability reported."""
    index, function = index_of(pattern, vocabulary), random_logits(SIZE)
    max_tokens = index.shortest_completion(index.automaton.start) + 5
    (generation,) = run(
        function, ["a"], [Guide(index, max_tokens=max_tokens)], Sampler(temperature, seed), jump_forward=False
    )
    guide, written, total = Guide(index, max_tokens=max_tokens), TOKENIZER.encode("a"), 0.0
    ends_left: list[float] = []
    for token_id in (*generation.token_ids, END):
        if guide.finished:
            break
        weights = np.exp(function(written).astype(np.float64)) * unpack(index.canonical_mask(guide.state), SIZE)
        if token_id == END:
            ends_left = [math.log(weights[end] / weights.sum()) for end in vocabulary.end_token_ids]
            break
        total += math.log(weights[token_id] / weights.sum())
        guide.advance(token_id)
        written.append(token_id)
    totals = [total + end for end in ends_left] or [total]
    assert any(generation.log_probability == pytest.approx(possible) for possible in totals)


@pytest.mark.thorough
@given(patterns(), st.sampled_from([0.0, 1.0]), st.integers(0, 10), st.integers(0, 12))
def test_a_budget_changes_a_text_only_if_it_is_called_shortened(
    vocabulary: Vocabulary, pattern: Pattern, temperature: float, seed: int, spare: int
) -> None:
    """A text that is not called shortened is the one that ample room gives; one called so is another."""
    index, function, sampler = index_of(pattern, vocabulary), random_logits(SIZE, scale=3.0), Sampler(temperature, seed)
    shortest = index.shortest_completion(index.automaton.start)
    (tight,) = run(function, ["a"], [Guide(index, max_tokens=shortest + spare)], sampler)
    (ample,) = run(function, ["a"], [Guide(index, max_tokens=shortest + spare + 40)], sampler)
    if not ample.shortened:
        assert tight.shortened == (tight.token_ids != ample.token_ids)
        assert tight.shortened or tight == ample


def test_shortened_is_reported_for_the_text_it_happened_to(vocabulary: Vocabulary) -> None:
    """Of two texts in one batch, the one whose budget was too small says so, and the other does not."""
    index = index_of(concat(literal("["), repeat(chars("abc"), 0, 50), literal("]")), vocabulary)
    guides = [Guide(index, max_tokens=4), Guide(index, max_tokens=100)]
    tight, ample = run(json_hating_logits(TOKENIZER.tokens), ["", ""], guides, Sampler())
    assert tight.shortened
    assert not ample.shortened
    assert len(tight.token_ids) == 4


def test_finished_texts_are_not_computed_further(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text leaves the batch with its last token: the model reads no row that nobody draws from."""
    lengths = [3, 1, 0, 5]
    guides = [Guide(index_of(repeat(literal("z"), n, n), vocabulary), max_tokens=9) for n in lengths]
    computed: list[int] = []
    plain = FunctionBatch.forward

    def counting(batch: FunctionBatch, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:
        computed.append(len(token_ids))
        return plain(batch, token_ids, window=window)

    monkeypatch.setattr(FunctionBatch, "forward", counting)
    generations = run(random_logits(SIZE), [""] * 4, guides, Sampler(), jump_forward=False)
    assert [generation.text for generation in generations] == ["z" * n for n in lengths]
    assert computed == [sum(n > step for n in lengths) for step in range(5)]


def test_a_type_with_one_empty_text_needs_no_model(vocabulary: Vocabulary) -> None:
    """Where nothing is left to write, the model is not asked at all; nor is it for an empty batch."""

    def never(token_ids: Sequence[int]) -> np.ndarray:
        raise AssertionError(token_ids)

    guide = Guide(index_of(literal(""), vocabulary), max_tokens=5)
    assert run(never, ["a"], [guide], Sampler()) == [Generation("", (), 0.0, shortened=False)]
    assert run(never, [], [], Sampler()) == []


@pytest.mark.thorough
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 100))
@settings(max_examples=20)
def test_too_little_memory_makes_the_batch_smaller(
    vocabulary: Vocabulary, most: int, batch_size: int, seed: int
) -> None:
    """A device with room for fewer texts writes the same ones, a few at a time; with room for none it is an error."""

    class Small(FunctionModel):
        """A model that has no memory for more than `most` texts, and of which tokens are proposed."""

        can_roll_back = True

        def prefill(
            self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
        ) -> tuple[FunctionBatch, Any]:
            batch, logits = super().prefill(prompts, shared=shared, window=window)
            if len(prompts) > most:
                raise OutOfMemoryError("full")
            batch.join = lambda other: self.join(batch, other)  # type: ignore[method-assign]
            return batch, logits

        def join(self, batch: FunctionBatch, other: FunctionBatch) -> None:
            if len(batch.texts) + len(other.texts) > most:
                raise OutOfMemoryError("full")
            FunctionBatch.join(batch, other)

    sampler, indexes = Sampler(1.0, seed), [index_of(pattern, vocabulary) for pattern in TYPES]

    def write(make: type[FunctionModel], size: int) -> list[Generation]:
        model = make(random_logits(SIZE), TOKENIZER)
        requests = [
            Request(model.encode("a" * row), Guide(index, max_tokens=30), sampler.generator(row, 0))
            for row, index in enumerate(indexes)
        ]
        return generate(model, requests, sampler, batch_size=size)

    assert write(Small, batch_size) == write(FunctionModel, 1)
    most = 0
    with pytest.raises(OutOfMemoryError):
        write(Small, batch_size)


@pytest.mark.thorough
@given(st.integers(20, 200), st.integers(1, 8))
@settings(max_examples=20)
def test_no_more_tokens_than_allowed_are_in_memory(vocabulary: Vocabulary, most: int, batch_size: int) -> None:
    """Prompts and whole budgets together, but for a text that has more alone; the texts are the same."""
    together: list[int] = []

    class TrackedBatch(FunctionBatch):
        """A batch that writes down how much the texts may take that are in it at once."""

        def join(self, other: Any) -> None:
            together.append(30 * (len(self.texts) + len(other.texts)))
            super().join(other)

    class Tracked(FunctionModel):
        """A model that writes down how much the texts may take that it begins at once."""

        def prefill(
            self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
        ) -> tuple[FunctionBatch, Any]:
            together.append(sum(len(prompt) + 30 for prompt in prompts) if len(prompts) > 1 else 0)
            batch, logits = super().prefill(prompts, shared=shared, window=window)
            return TrackedBatch(self, batch.texts), logits

    model, sampler = Tracked(random_logits(SIZE), TOKENIZER), Sampler(1.0, seed=1)

    def write(limit: int | None) -> list[Generation]:
        requests = [
            Request(
                model.encode("a" * row), Guide(index_of(pattern, vocabulary), max_tokens=30), sampler.generator(row, 0)
            )
            for row, pattern in enumerate(TYPES)
        ]
        return generate(model, requests, sampler, batch_size=batch_size, batch_tokens=limit, jump_forward=False)

    limited = write(most)
    assert max(together) <= most
    assert limited == write(None)


def test_nan_logits_stop_the_batch(vocabulary: Vocabulary) -> None:
    """A model that computes NaN is an error, and not a text."""
    guide = Guide(index_of(STRING, vocabulary), max_tokens=9)
    with pytest.raises(ModelError, match=r"NaN as the logit of an allowed token"):
        run(lambda token_ids: np.full(SIZE, np.nan, dtype=np.float32), ["a"], [guide], Sampler())  # noqa: ARG005


@pytest.mark.thorough
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2, tiny_lfm2, tiny_mistral])
def test_transformers_models_write_the_same_alone_and_in_a_batch(
    make: Callable[[int], "PreTrainedModel"],
    temperature: float,
    force: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Padding, shared beginnings, rows that leave and join, known tokens or none: each text is written as alone."""
    model, sampler = in_memory(make), Sampler(temperature, seed=0)
    indexes = [index_of(pattern, model.vocabulary) for pattern in TYPES]
    beginnings = [model.encode(text) for text in ("Read this document well: ", "Here is something quite different: ")]
    prompts = [beginnings[row % 2] + model.encode(f"{'x' * (3 * row)}.") for row in range(len(TYPES))]

    def write(rows: Sequence[int], *, batch_size: int) -> list[Generation]:
        guides = [Guide(indexes[row], max_tokens=16) for row in rows]
        requests = [
            Request(prompts[row], guide, sampler.generator(row, 0), shared=len(beginnings[row % 2]))
            for row, guide in zip(rows, guides, strict=True)
        ]
        return generate(model, requests, sampler, batch_size=batch_size, jump_forward=force)

    alone = [generation for row in range(len(TYPES)) for generation in write([row], batch_size=1)]
    for batch_size in (2, 3, 8):
        monkeypatch.setattr(model, "samples_on_device", batch_size == 3)
        monkeypatch.setattr(model, "pass_cost", 0.0 if batch_size == 2 else model.pass_cost)
        for row, generation in enumerate(write(range(len(TYPES)), batch_size=batch_size)):
            assert re.fullmatch(str(TYPES[row]), generation.text)
            assert generation.token_ids == alone[row].token_ids
            assert generation.log_probability == pytest.approx(alone[row].log_probability, abs=1e-3)
