"""Beam search: the ranking of the masked distribution itself, as far as its beams reach."""

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from brute_force import masked_distribution
from doubles import (
    END,
    END_OF_TURN,
    LOGITS_FUNCTIONS,
    ByteTokenizer,
    LogitsFunction,
    in_memory,
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
from languages import ARRAY, CHOICE, DEPENDENT_CHOICES, INTEGER, OBJECT, STRING, TYPES
from random_patterns import patterns

from structured.automata import RegularAutomaton
from structured.decoding.beam_search import beam_search
from structured.decoding.generate import generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import OutOfMemoryError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import FunctionModel, LanguageModel
from structured.models.function import FunctionBatch
from structured.regex import Pattern, alternation, char_set, chars, concat, literal, repeat
from structured.regex.character_sets import MAX_CODE_POINT
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENIZER = ByteTokenizer()
SINGLE_BYTES = ByteTokenizer(tokens=TOKENIZER.tokens[:260], end_token_ids=(2,))
"""A vocabulary in which every text is spelled in one way."""

FINITE = (
    DEPENDENT_CHOICES,
    CHOICE,
    concat(repeat(chars("ab"), 0, 3), literal(".")),
    alternation(literal("a"), concat(literal("b"), repeat(chars("cd"), 2, 2)), literal("bcccc")),
    literal("only this"),
)
"""Languages of a few texts, some of which begin others."""


class EvenModel(FunctionModel):
    """A model whose texts must all be given as many tokens, as those with convolutions must."""

    def prefill(self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0) -> "tuple[EvenBatch, Any]":
        _, logits = super().prefill(prompts, shared=shared, window=window)
        return EvenBatch(self, [list(prompt) for prompt in prompts]), logits


class EvenBatch(FunctionBatch):
    is_ragged = False

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Any:
        assert len(set(map(len, token_ids))) == 1
        return super().forward(token_ids, window=window)


MAKES = (FunctionModel, EvenModel)


def index_of(pattern: Pattern, vocabulary: Vocabulary) -> Index:
    return Index(RegularAutomaton(pattern), vocabulary)


def request(model: LanguageModel, index: Index, *, prompt: str = "a", max_tokens: int = 40) -> Request:
    return Request(model.encode(prompt), Guide(index, max_tokens=max_tokens), np.random.default_rng(0))


def room(index: Index, spare: int) -> int:
    return index.shortest_completion(index.automaton.start) + spare


def recomputed(function: LogitsFunction, index: Index, prompt: Sequence[int], generation: Generation) -> list[float]:
    """Return what a text is worth, token by token: by each of the end tokens if it may go on."""
    state, written, total = index.automaton.start, list(prompt), 0.0

    def share(token_id: int) -> float:
        weights = np.exp(function(written).astype(np.float64)) * unpack(
            index.canonical_mask(state), index.vocabulary.size
        )
        return math.log(weights[token_id] / weights.sum())

    for token_id in generation.token_ids:
        total += share(token_id)
        written.append(token_id)
        state = index.step(state, token_id)
    return [total] if index.is_final(state) else [total + share(end) for end in index.vocabulary.end_token_ids]


def legal_masses(function: LogitsFunction, index: Index, prompt: Sequence[int], generation: Generation) -> list[float]:
    """Return the probability of all that is allowed, at each token and at the end, unless that must come."""
    state, written, masses = index.automaton.start, list(prompt), []
    for token_id in (*generation.token_ids, None):
        if index.is_final(state):
            break
        weights = np.exp(function(written).astype(np.float64))
        masses.append(weights[unpack(index.canonical_mask(state), index.vocabulary.size)].sum() / weights.sum())
        if token_id is not None:
            written.append(token_id)
            state = index.step(state, token_id)
    return masses


@pytest.mark.thorough
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("force", [True, False])
@given(st.sampled_from(FINITE), st.integers(0, 1000))
@settings(max_examples=25)
def test_with_beams_enough_the_ranking_is_exact(
    make: type[FunctionModel], force: bool, pattern: Pattern, seed: int
) -> None:
    """With as many beams as there are texts, they come with their probabilities, in order."""
    model = make(random_logits(260, scale=1.5, seed=seed), SINGLE_BYTES)
    index = index_of(pattern, model.vocabulary)
    shares = dict(masked_distribution(model, index, model.encode("a")))
    assert sum(shares.values()) == pytest.approx(1)
    (found,) = beam_search(model, [request(model, index)], beams=len(shares), jump_forward=force)
    assert [one.text for one in found] == sorted(shares, key=lambda text: -shares[text])
    for one in found:
        assert math.exp(one.log_probability) == pytest.approx(shares[one.text])
        assert not one.shortened


@pytest.mark.thorough
@given(patterns(), st.integers(0, 10), st.integers(0, 20), st.sampled_from(["uniform", "peaked", "rules out", "same"]))
@settings(max_examples=examples(150))
def test_one_beam_is_greedy(vocabulary: Vocabulary, pattern: Pattern, seed: int, spare: int, name: str) -> None:
    """With one beam the tokens are those of greedy decoding, and so are score, warning and diagnostics."""
    functions: dict[str, LogitsFunction] = {
        "uniform": random_logits(len(TOKENIZER.tokens), seed=seed),
        "peaked": random_logits(len(TOKENIZER.tokens), scale=50.0, seed=seed),
        "rules out": ruling_out(random_logits(len(TOKENIZER.tokens), seed=seed)),
        "same": LOGITS_FUNCTIONS["same for all"],
    }
    model, index = FunctionModel(functions[name], TOKENIZER), index_of(pattern, vocabulary)
    for force in (False, True):
        (greedy,) = generate(
            model, [request(model, index, max_tokens=room(index, spare))], Sampler(), jump_forward=force
        )
        ((found,),) = beam_search(
            model, [request(model, index, max_tokens=room(index, spare))], beams=1, jump_forward=force
        )
        assert (found.token_ids, found.text, found.shortened) == (greedy.token_ids, greedy.text, greedy.shortened)
        assert found.log_probability == pytest.approx(greedy.log_probability, abs=1e-5)
        assert found.diagnostics.forced == greedy.diagnostics.forced
        assert found.diagnostics.passes == greedy.diagnostics.passes
        assert found.diagnostics.legal_masses == pytest.approx(greedy.diagnostics.legal_masses, rel=1e-5)


@pytest.mark.thorough
@given(patterns(max_leaves=5), st.sampled_from(['{"', "a", '[" a']), st.integers(0, 10), st.sampled_from([1, 3]))
def test_what_belongs_to_the_prompt_is_no_part_of_a_text(
    vocabulary: Vocabulary, pattern: Pattern, begun: str, seed: int, beams: int
) -> None:
    """Where the end of a prompt is chosen anew, its bytes are among the tokens, and the text is what follows them."""
    index = index_of(concat(literal(begun), pattern), vocabulary)
    model = FunctionModel(random_logits(len(TOKENIZER.tokens), seed=seed), TOKENIZER)
    wanted = dataclasses.replace(request(model, index, max_tokens=room(index, 8)), prefix_length=len(begun))
    (found,) = beam_search(model, [wanted], beams=beams)
    for one in found:
        assert spell(vocabulary.tokens, one.token_ids).decode() == begun + one.text
    if beams == 1:
        assert found[0].text == generate(model, [wanted], Sampler())[0].text


def ruling_out(function: LogitsFunction) -> LogitsFunction:
    """Return a model that rules out two thirds of all tokens."""

    def logits(token_ids: Sequence[int]) -> np.ndarray:
        found = function(token_ids)
        return np.where(found > 0.4, found, -np.inf).astype(np.float32)

    return logits


@pytest.mark.thorough
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("name", LOGITS_FUNCTIONS)
@pytest.mark.parametrize("force", [True, False])
def test_every_hypothesis_is_a_text_of_its_type(
    vocabulary: Vocabulary, make: type[FunctionModel], name: str, force: bool
) -> None:
    """Whatever the model likes: texts that match, differ, keep their budgets, and are ranked by what they are worth."""
    model = make(LOGITS_FUNCTIONS[name], TOKENIZER)
    requests = [request(model, index_of(pattern, vocabulary), max_tokens=25) for pattern in TYPES]
    for pattern, found in zip(TYPES, beam_search(model, requests, beams=3, jump_forward=force), strict=True):
        assert 1 <= len(found) <= 3
        assert len({one.text for one in found}) == len(found)
        assert all(first.log_probability >= second.log_probability for first, second in pairwise(found))
        for one in found:
            assert re.fullmatch(str(pattern), one.text)
            assert len(one.token_ids) <= 25
            assert spell(vocabulary.tokens, one.token_ids).decode() == one.text


@pytest.mark.thorough
@given(patterns(), st.integers(0, 10), st.integers(1, 5), st.integers(0, 15))
def test_the_score_is_the_sum_over_the_text(
    vocabulary: Vocabulary, pattern: Pattern, seed: int, beams: int, spare: int
) -> None:
    """Reading each text again under its pattern's masks gives what it is said to be worth, and its diagnostics."""
    function, index = random_logits(len(TOKENIZER.tokens), seed=seed), index_of(pattern, vocabulary)
    model = FunctionModel(function, TOKENIZER)
    wanted = request(model, index, max_tokens=room(index, spare))
    (found,) = beam_search(model, [wanted], beams=beams, jump_forward=False)
    for one in found:
        possible = recomputed(function, index, wanted.prompt, one)
        assert any(one.log_probability == pytest.approx(score) for score in possible)
        assert one.diagnostics.legal_masses == pytest.approx(legal_masses(function, index, wanted.prompt, one))


@pytest.mark.thorough
@given(patterns(), st.integers(0, 10), st.integers(1, 4), st.integers(0, 8))
@settings(max_examples=examples(150))
def test_a_budget_changes_no_ranking_above_what_is_called_shortened(
    vocabulary: Vocabulary, pattern: Pattern, seed: int, beams: int, spare: int
) -> None:
    """Down to the last text that is not called shortened, the ranking is that of ample room; then all are called so."""
    index = index_of(pattern, vocabulary)
    model = FunctionModel(random_logits(len(TOKENIZER.tokens), scale=2.0, seed=seed), TOKENIZER)
    (tight,), (ample,) = (
        beam_search(model, [request(model, index, max_tokens=room(index, more))], beams=beams, jump_forward=False)
        for more in (spare, spare + 25)
    )
    honest = [one for one in tight if not one.shortened]
    assert tight[: len(honest)] == honest
    if not any(one.shortened for one in ample):
        assert ample[: len(honest)] == honest


@pytest.mark.thorough
@given(
    st.lists(st.tuples(patterns(5), st.text("ab é", max_size=4), st.integers(0, 12)), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from(MAKES),
)
@settings(max_examples=examples(40))
def test_a_ranking_does_not_depend_on_its_batch(
    vocabulary: Vocabulary, rows: list[tuple[Pattern, str, int]], beams: int, make: type[FunctionModel]
) -> None:
    """Each request has the hypotheses that it has alone, to the last digit."""
    model = make(random_logits(len(TOKENIZER.tokens), scale=3.0), TOKENIZER)
    indexes = [index_of(pattern, vocabulary) for pattern, _, _ in rows]

    def search(places: Sequence[int]) -> list[list[Generation]]:
        requests = [
            request(model, indexes[row], prompt=rows[row][1], max_tokens=room(indexes[row], rows[row][2]))
            for row in places
        ]
        return beam_search(model, requests, beams=beams)

    together = search(range(len(rows)))
    assert [search([row])[0] for row in range(len(rows))] == together


def test_a_search_is_not_hurried_by_those_beside_it(vocabulary: Vocabulary) -> None:
    """Where rows are read evenly, a search of which nothing is read to its end yet has nothing to compare anew."""
    model = EvenModel(random_logits(len(TOKENIZER.tokens), scale=3.0), TOKENIZER)
    patient = index_of(repeat(literal("aa🙂"), 1, None), vocabulary)
    hasty = index_of(repeat(char_set((0, 0x60), (0x62, MAX_CODE_POINT)), 1, 3), vocabulary)

    def search(*indexes: Index) -> list[list[Generation]]:
        return beam_search(model, [request(model, index, prompt="", max_tokens=9) for index in indexes], beams=2)

    assert search(hasty, patient) == search(hasty) + search(patient)


def test_a_search_ends_when_nothing_better_can_come(vocabulary: Vocabulary) -> None:
    """Once as many texts have ended as are wanted, no token is read of what can only be worse."""
    ending = np.full(len(TOKENIZER.tokens), -8.0, dtype=np.float32)
    ending[[END, END_OF_TURN]] = 0.0
    read: list[int] = []

    def logits(token_ids: Sequence[int]) -> np.ndarray:
        read.append(len(token_ids))
        return ending

    model, index = FunctionModel(logits, TOKENIZER), index_of(repeat(chars("ab"), 0, None), vocabulary)
    ((first, second),) = beam_search(model, [request(model, index, prompt="", max_tokens=30)], beams=2)
    assert first.text == ""
    assert len(second.text) == 1
    assert max(read) == 2


def test_beams_find_what_greedy_decoding_passes_by() -> None:
    """The likeliest first byte need not begin the likeliest text."""
    likes = {b"": {b"a": 0.6, b"b": 0.4}, b"a": {b"c": 0.5, b"d": 0.5}, b"b": {b"c": 0.9, b"d": 0.1}}

    def logits(token_ids: Sequence[int]) -> np.ndarray:
        shares = likes[spell(SINGLE_BYTES.tokens, token_ids[1:])]
        return np.log([shares.get(token or b"", 1e-9) for token in SINGLE_BYTES.tokens]).astype(np.float32)

    model = FunctionModel(logits, SINGLE_BYTES)
    index = index_of(concat(chars("ab"), chars("cd")), model.vocabulary)
    (greedy,) = generate(model, [request(model, index, prompt="")], Sampler())
    (found,) = beam_search(model, [request(model, index, prompt="")], beams=3)
    assert greedy.text == "ac"
    assert [(one.text, round(math.exp(one.log_probability), 3)) for one in found] == [
        *(("bc", 0.36), ("ac", 0.3), ("ad", 0.3)),
    ]


def test_hypotheses_do_not_spell_the_same_text(vocabulary: Vocabulary) -> None:
    """Where one letter has two tokens, both far likelier than all others, two beams are two texts, and two rows."""
    scores = np.array([5.0 if token == b"a" else 0.0 for token in TOKENIZER.tokens], dtype=np.float32)
    read: list[Sequence[int]] = []

    def logits(token_ids: Sequence[int]) -> np.ndarray:
        read.append(token_ids)
        return scores

    model, index = FunctionModel(logits, TOKENIZER), index_of(repeat(chars("ab"), 1, 3), vocabulary)
    (found,) = beam_search(model, [request(model, index)], beams=2)
    assert len(found) == 2
    passes = max(one.diagnostics.passes for one in found)
    assert len(read) <= 2 * passes - 1


def test_what_leaves_no_choice_needs_no_model(vocabulary: Vocabulary) -> None:
    """Nothing is asked where nothing is left to write, nor for no requests; and beams are at least one."""

    def never(token_ids: Sequence[int]) -> np.ndarray:
        raise AssertionError(token_ids)

    model = FunctionModel(never, TOKENIZER)
    wanted = request(model, index_of(literal(""), vocabulary))
    assert beam_search(model, [wanted]) == [[Generation("", (), 0.0, shortened=False)]]
    assert beam_search(model, []) == []
    with pytest.raises(ValueError, match="A request has thinking"):
        beam_search(model, [dataclasses.replace(wanted, thinking=wanted.guide.copy())])


def test_too_little_memory_is_told(vocabulary: Vocabulary) -> None:
    """A batch that the device has no memory for is an error."""

    class Full(FunctionModel):
        def prefill(self, *args: Any, **options: Any) -> tuple[FunctionBatch, Any]:
            del args, options
            raise OutOfMemoryError("full")

    model = Full(LOGITS_FUNCTIONS["uniform"], TOKENIZER)
    with pytest.raises(OutOfMemoryError, match="full"):
        beam_search(model, [request(model, index_of(STRING, vocabulary))])


@pytest.mark.thorough
@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2, tiny_lfm2, tiny_mistral])
def test_transformers_models_rank_the_same_alone_and_in_a_batch(
    make: Callable[[int], "PreTrainedModel"], force: bool
) -> None:
    """Padding, shared beginnings, rows that are copied, dropped or wait: the model computes what it does without."""
    model, types = in_memory(make), (OBJECT, ARRAY, CHOICE, INTEGER)
    indexes = [index_of(pattern, model.vocabulary) for pattern in types]
    prompts = [model.encode(f"Read this document well: {'x' * (3 * row)}.") for row in range(len(types))]
    shared = len(model.encode("Read this document well: "))

    def search(rows: Sequence[int]) -> list[list[Generation]]:
        requests = [
            Request(prompts[row], Guide(indexes[row], max_tokens=14), np.random.default_rng(0), shared) for row in rows
        ]
        return beam_search(model, requests, beams=3, jump_forward=force)

    for row, found in enumerate(search(range(len(types)))):
        (alone,) = search([row])
        assert [one.token_ids for one in alone] == [one.token_ids for one in found]
        for one, other in zip(found, alone, strict=True):
            assert re.fullmatch(str(types[row]), one.text)
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)
            if not force:
                possible = recomputed(lambda read: last_logits(model, read), indexes[row], prompts[row], one)
                assert any(one.log_probability == pytest.approx(score, abs=1e-3) for score in possible)


def last_logits(model: LanguageModel, token_ids: Sequence[int]) -> np.ndarray:
    """Return the logits after a text that is read at once."""
    return np.asarray(model.prefill([token_ids])[1])[0, : model.vocabulary.size]


@pytest.mark.parametrize("beams", [1, 2, 4])
def test_beams_end_in_the_least_budget(beams: int) -> None:
    """Also where only other tokens than the usual ones are few enough."""

    class Spelled(ByteTokenizer):
        def encode(self, text: str) -> list[int]:
            return [0, *(2 + byte for byte in text.encode())]

    tokenizer = Spelled(tokens=(None, None, *(bytes([byte]) for byte in range(256)), b"00"), end_token_ids=(1,))
    model = FunctionModel(lambda _: np.arange(259)[::-1] * 1.0, tokenizer)
    index = index_of(alternation(literal("1000"), literal("2000")), model.vocabulary)
    fewest = index.shortest_completion(index.automaton.start)
    for max_tokens in (fewest, fewest + 1, fewest + 2):
        (found,) = beam_search(model, [request(model, index, max_tokens=max_tokens)], beams=beams)
        assert {one.text for one in found} <= {"1000", "2000"}
        assert found
