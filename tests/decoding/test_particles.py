"""Particles: what the model itself would write, given that it is of the type."""

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from doubles import ByteTokenizer, in_memory, random_logits, tiny_gpt2, tiny_lfm2, tiny_llama, tiny_mistral
from hypothesis import given
from hypothesis import strategies as st
from languages import CHOICE, DEPENDENT_CHOICES

from structured.automata import RegularAutomaton
from structured.decoding.particles import log_mass, sample_particles
from structured.decoding.repetition import Repetition
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import ModelError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import FunctionModel, LanguageModel
from structured.models.function import FunctionBatch
from structured.regex import Pattern, alternation, chars, concat, literal, repeat

NASTY = ByteTokenizer()
SINGLE_BYTES = ByteTokenizer(tokens=NASTY.tokens[:260], end_token_ids=(2, 3))

UNEVEN = alternation(literal("ab"), literal("acc"), literal("b"), literal("bdd"))
"""Texts some of which begin others, and such as only one token can go on in."""

STOPPING = concat(repeat(chars("ab"), 0, 3), literal("."))


class Rolling(FunctionModel):
    """A function that says what it thought of each of the last tokens, as a model that can roll back does."""

    can_roll_back = True


def model_of(seed: int, likes: str, *, tokenizer: ByteTokenizer = SINGLE_BYTES, rolling: bool = True) -> FunctionModel:
    """Return a model that mostly writes some characters, or ends, each more or less likely behind each text."""
    function = random_logits(len(tokenizer.tokens), scale=0.7, seed=seed)
    bonus = np.array(
        [7.0 * (token is not None and token.decode(errors="replace") in likes) for token in tokenizer.tokens]
    )
    bonus[list(tokenizer.end_token_ids)] = 7.0
    remembered = cache(lambda token_ids: function(token_ids) + bonus)
    return (Rolling if rolling else FunctionModel)(lambda token_ids: remembered(tuple(token_ids)), tokenizer)


def index_of(pattern: Pattern, model: FunctionModel) -> Index:
    return Index(RegularAutomaton(pattern), model.vocabulary)


def requests_of(
    model: FunctionModel, index: Index, count: int, *, max_tokens: int = 30, first: int = 0, **more: Any
) -> list[Request]:
    prompt = model.encode("abc: ")
    return [
        Request(prompt, Guide(index, max_tokens=max_tokens), np.random.default_rng([7, item]), **more)
        for item in range(first, first + count)
    ]


def shares_of_model(
    model: FunctionModel,
    *indexes: Index,
    max_tokens: int = 30,
    temperature: float = 1.0,
    jump_forward: bool = True,
    prompt: Sequence[int] = (),
) -> dict[str, float]:
    """Return for each text the probability that the model writes it and ends, without a mask: by enumeration.

    Of its spellings, those count that masks and forced tokens leave. With several indexes, it is a text of each, one
    behind the other.
    """
    vocabulary = model.vocabulary
    found: defaultdict[str, float] = defaultdict(float)

    @cache
    def probabilities(token_ids: tuple[int, ...]) -> np.ndarray:
        scores = np.asarray(model.function(token_ids), dtype=np.float64)[: vocabulary.size] / temperature
        shares: np.ndarray = np.exp(scores - np.logaddexp.reduce(scores))
        return shares

    def spelled(token_ids: Sequence[int]) -> str:
        return b"".join(vocabulary.tokens[token_id] or b"" for token_id in token_ids).decode()

    first, *others = [Guide(index, max_tokens=max_tokens) for index in indexes]
    beginning = tuple(prompt or model.encode("abc: "))
    start = len(beginning)
    open_ends = [(first, tuple(others), beginning, 1.0)]
    while open_ends:
        guide, later, written, share = open_ends.pop()
        for token_id in guide.take_forced() if jump_forward else ():
            share *= probabilities(written)[token_id]
            written += (token_id,)
        if guide.finished and later:
            open_ends.append((later[0].copy(), later[1:], written, share))
        elif guide.finished:
            found[spelled(written[start:])] += share * probabilities(written)[list(vocabulary.end_token_ids)].sum()
        else:
            for token_id in np.flatnonzero(unpack(guide.mask(), vocabulary.size)).tolist():
                part = share * probabilities(written)[token_id]
                if token_id in vocabulary.end_token_ids:
                    found[spelled(written[start:])] += part
                else:
                    longer = guide.copy()
                    longer.advance(token_id)
                    open_ends.append((longer, later, (*written, token_id), part))
    return dict(found)


def check_unbiased(runs: Sequence[Sequence[Generation]], shares: Mapping[str, float]) -> None:
    """Check that the estimate of each text's probability is right on average: the part of the particles that wrote it,
    times the estimate for the language.

    That holds for any number of particles, and no other weights have it. The tolerance is five standard errors; what is
    so rare that it was hardly drawn is checked together.
    """
    estimates: defaultdict[str, list[float]] = defaultdict(list)
    for particles in runs:
        total = math.exp(particles[0].diagnostics.type_log_probability or 0.0)
        counts = Counter(one.thinking + one.text for one in particles)
        assert counts.keys() <= shares.keys()
        for text in shares:
            estimates[text].append(total * counts[text] / len(particles))
    often = [text for text in shares if np.count_nonzero(estimates[text]) >= 20]
    assert len(often) > 1
    groups = [*([text] for text in often), list(shares)]
    for group in groups:
        drawn = np.sum([estimates[text] for text in group], axis=0)
        error = drawn.std() / math.sqrt(len(drawn))
        assert drawn.mean() == pytest.approx(sum(shares[text] for text in group), abs=5 * error + 1e-12), group


@pytest.mark.parametrize(
    ("pattern", "likes", "particles", "rolling", "jump_forward", "temperature"),
    [
        (DEPENDENT_CHOICES, '{"a: xyb01}', 1, True, True, 1.0),
        (DEPENDENT_CHOICES, '{"a: xyb01}', 6, True, True, 1.0),
        (DEPENDENT_CHOICES, '{"a: xyb01}', 2, True, False, 0.6),
        (UNEVEN, "abcd", 2, False, True, 1.0),
        (UNEVEN, "abcd", 4, True, True, 0.8),
        (STOPPING, "ab.", 3, True, True, 1.0),
    ],
)
def test_the_estimates_are_unbiased(  # noqa: PLR0917  by name
    pattern: Pattern, likes: str, particles: int, rolling: bool, jump_forward: bool, temperature: float
) -> None:
    """On average over runs, each text has the probability that the model gives it, for any number of particles."""
    model = model_of(particles, likes, rolling=rolling)
    index = index_of(pattern, model)
    shares = shares_of_model(model, index, temperature=temperature, jump_forward=rolling and jump_forward)
    runs = sample_particles(
        *(model, requests_of(model, index, 900 // particles), Sampler(temperature)),
        particles=particles,
        jump_forward=jump_forward,
    )
    check_unbiased(runs, shares)


def test_what_does_not_fit_into_the_budget_is_not_of_the_language() -> None:
    """The texts are those that fit, in the proportions that they have; those kept from a longer one are shortened."""
    model = model_of(5, "abc")
    index = index_of(concat(chars("ab"), alternation(chars("ab"), literal("cc"))), model)
    shares = shares_of_model(model, index, max_tokens=2)
    runs = sample_particles(model, requests_of(model, index, 200, max_tokens=2), Sampler(1.0), particles=4)
    check_unbiased(runs, shares)
    assert {one.shortened for run in runs for one in run} == {True, False}
    (ample,) = sample_particles(model, requests_of(model, index, 1, max_tokens=9), Sampler(1.0), particles=20)
    assert not any(one.shortened for one in ample)


@pytest.mark.parametrize("jump_forward", [True, False])
def test_thinking_is_weighed_with_the_answer(jump_forward: bool) -> None:
    """The particles are of both, so each answer comes as often as it is likely behind what was thought before."""
    model = model_of(6, "abcd.")
    thinking, index = index_of(concat(repeat(chars("ab"), 0, 2), literal("..")), model), index_of(UNEVEN, model)
    shares = shares_of_model(model, thinking, index, jump_forward=jump_forward)
    requests = [
        dataclasses.replace(one, thinking=Guide(thinking, max_tokens=30)) for one in requests_of(model, index, 300)
    ]
    runs = sample_particles(model, requests, Sampler(1.0), particles=4, jump_forward=jump_forward)
    check_unbiased(runs, shares)
    assert {one.thinking for run in runs for one in run} >= {"..", "a..", "b.."}


def test_what_belongs_to_the_prompt_is_no_part_of_a_text() -> None:
    """Where the end of a prompt is chosen anew, it is weighed with the rest."""
    model = model_of(8, '{": ab', tokenizer=NASTY)
    index = index_of(concat(literal('{"'), alternation(literal('a"'), literal("bb"), literal('": "'))), model)
    shares = shares_of_model(model, index)
    runs = sample_particles(model, requests_of(model, index, 300, prefix_length=2), Sampler(1.0), particles=3)
    check_unbiased(runs, {text[2:]: share for text, share in shares.items()})


SKEWED: Mapping[str, Mapping[str, float]] = {
    "": {"a": 0.8, "b": 0.1, "c": 0.1},
    "a": {"x": 0.02, "y": 0.01, "q": 0.97},
    "b": {"x": 0.3, "y": 0.5, "q": 0.2},
    "c": {"x": 0.1, "y": 0.2, "q": 0.7},
    **{first + "x": {"x": 0.9, ".": 0.1} for first in "abc"},
    **{first + "y": {"x": 0.1, ".": 0.9} for first in "abc"},
}
"""A model that mostly begins with what it would hardly go on with as the language wants: q is not in that."""


def skewed() -> tuple[FunctionModel, Index, dict[str, float]]:
    def logits(token_ids: tuple[int, ...]) -> np.ndarray:
        text = b"".join(SINGLE_BYTES.tokens[token_id] or b"" for token_id in token_ids[1:]).decode()
        shares = SKEWED.get(text.removeprefix("abc: "), {})
        likely = [shares.get(chr(token[0]) if token else "", 0.0) for token in SINGLE_BYTES.tokens]
        likely[min(SINGLE_BYTES.end_token_ids)] = float(not shares)
        return np.log(np.maximum(likely, 1e-30)).astype(np.float32)

    remembered = cache(logits)
    model = Rolling(lambda token_ids: remembered(tuple(token_ids)), SINGLE_BYTES)
    index = index_of(concat(chars("abc"), chars("xy"), literal(".")), model)
    shares = shares_of_model(model, index)
    return model, index, {text: share / sum(shares.values()) for text, share in shares.items()}


def statistic(counts: Mapping[str, float], shares: Mapping[str, float]) -> float:
    """Return the statistic of Pearson's chi-square test."""
    total = sum(counts.values())
    return sum((counts.get(text, 0) - total * share) ** 2 / (total * share) for text, share in shares.items())


def test_answers_follow_the_distribution_of_the_model_where_the_mask_alone_does_not() -> None:
    """By chi-square, and in total variation, the less of it the more particles there are."""
    model, index, shares = skewed()
    most = 25.7  # one draw in 10,000 is above, with six texts
    runs = sample_particles(model, requests_of(model, index, 150), Sampler(1.0), particles=64)
    assert statistic(Counter(run[0].text for run in runs), shares) < most
    alone = sample_particles(model, requests_of(model, index, 150), Sampler(1.0), particles=1)
    assert statistic(Counter(run[0].text for run in alone), shares) > 10 * most

    def variation(found: Sequence[Sequence[Generation]]) -> float:
        counts = Counter(one.text for run in found for one in run)
        return sum(abs(counts[text] / counts.total() - share) for text, share in shares.items()) / 2

    few = sample_particles(model, requests_of(model, index, 150), Sampler(1.0), particles=8)
    assert variation(alone) > 0.4
    assert variation(few) < variation(alone) / 2
    assert variation(runs) < variation(alone) / 10


def test_particles_are_sampled_as_by_the_mask_where_the_model_writes_the_type_anyway() -> None:
    """Where all that the model writes is of the type, one particle is as right as many, and the estimate is 1."""
    model, _, _ = skewed()
    wide = index_of(concat(chars("abc"), chars("xyq"), repeat(chars("x."), 0, 1)), model)
    (run,) = sample_particles(model, requests_of(model, wide, 1), Sampler(1.0), particles=30)
    assert run[0].diagnostics.type_log_probability == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("rolling", [True, False])
def test_where_the_model_rules_everything_out_the_mask_alone_decides(rolling: bool) -> None:
    """All particles weigh nothing then; they end all the same, with texts of the type, equally often."""
    ruled_out = np.array([-np.inf if token in {b"x", b"y"} else 0.0 for token in SINGLE_BYTES.tokens])
    model = (Rolling if rolling else FunctionModel)(lambda _: ruled_out, SINGLE_BYTES)
    index = index_of(concat(literal("a"), chars("xy"), literal("b")), model)
    (run,) = sample_particles(model, requests_of(model, index, 1), Sampler(1.0), particles=200)
    assert run[0].diagnostics.type_log_probability == -math.inf
    counts = Counter(one.text for one in run)
    assert counts.keys() == {"axb", "ayb"}
    assert min(counts.values()) > 60


def test_one_that_is_ruled_out_makes_room() -> None:
    """A beginning after which the model rules out whatever is allowed is in no answer."""
    model, index, shares = skewed()

    def logits(token_ids: Sequence[int]) -> np.ndarray:
        scores = np.array(model.function(token_ids))
        is_begun = token_ids[-1] == 4 + ord("a")
        return np.where([is_begun and token in {b"x", b"y"} for token in SINGLE_BYTES.tokens], -np.inf, scores)

    certain = Rolling(logits, SINGLE_BYTES)
    runs = sample_particles(certain, requests_of(certain, index, 20), Sampler(1.0), particles=8)
    found = {one.text for run in runs for one in run if one.diagnostics.type_log_probability != -math.inf}
    assert {text[0] for text in found} == {"b", "c"}
    assert found < shares.keys()


def test_logits_that_are_no_numbers_are_an_error() -> None:
    scores = np.zeros(260, dtype=np.float32)
    scores[4 + ord("a")] = np.nan
    model = Rolling(lambda _: scores, SINGLE_BYTES)
    for pattern in (literal("a"), chars("ab")):
        with pytest.raises(ModelError, match="NaN as the logit of an allowed token"):
            sample_particles(model, requests_of(model, index_of(pattern, model), 1), Sampler(1.0), particles=2)


class Wide(Rolling):
    """A model with more logits than its vocabulary has tokens."""

    def prefill(self, *args: Any, **options: Any) -> tuple[FunctionBatch, Any]:
        batch, logits = super().prefill(*args, **options)
        forward = batch.forward
        batch.forward = lambda *args, **options: widened(forward(*args, **options))  # type: ignore[method-assign]
        return batch, widened(logits)


def widened(logits: np.ndarray) -> np.ndarray:
    return np.concatenate([logits, np.full((*logits.shape[:-1], 9), 50.0, dtype=np.float32)], axis=-1)


def test_logits_beyond_the_vocabulary_do_not_count() -> None:
    model = model_of(3, "abxyz01")
    index = index_of(DEPENDENT_CHOICES, model)
    narrow, wide = (
        sample_particles(one, requests_of(model, index, 3), Sampler(1.0), particles=4)
        for one in (model, Wide(model.function, SINGLE_BYTES))
    )
    assert narrow == wide
    assert [run[0].diagnostics.type_log_probability for run in narrow] == [
        run[0].diagnostics.type_log_probability for run in wide
    ]


def test_particles_do_not_depend_on_their_batch() -> None:
    """Nor are the requests used up, so that the same ones give the same again."""
    model = model_of(4, "abcdxyz01.", tokenizer=NASTY)
    patterns = (DEPENDENT_CHOICES, UNEVEN, CHOICE, STOPPING)
    requests = [requests_of(model, index_of(pattern, model), 1, first=item)[0] for item, pattern in enumerate(patterns)]
    together = sample_particles(model, requests, Sampler(1.0), particles=6)
    assert [sample_particles(model, [one], Sampler(1.0), particles=6)[0] for one in requests] == together
    assert all(len(run) == 6 for run in together)


@pytest.mark.parametrize("jump_forward", [True, False])
def test_what_repeats_is_closed(jump_forward: bool) -> None:
    """What repetition control does is the model's doing: it closes the text, and no particle weighs less for it."""
    liked = np.array([9.0 * (token == b"a") for token in SINGLE_BYTES.tokens], dtype=np.float32)
    model = Rolling(lambda _: liked, SINGLE_BYTES)
    index = index_of(concat(literal('"'), repeat(chars("ab"), 0, 400), literal('"')), model)
    asked = requests_of(model, index, 1, max_tokens=500, repetition=Repetition())
    (run,) = sample_particles(model, asked, Sampler(1.0), particles=5, jump_forward=jump_forward)
    assert all(len(one.text) < 60 and one.diagnostics.repetitions for one in run)
    assert all(one.text.startswith('"') and one.text.endswith('"') for one in run)


@pytest.mark.thorough
@pytest.mark.parametrize("jump_forward", [True, False])
@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2, tiny_lfm2, tiny_mistral])
def test_networks_weigh_the_same_however_their_rows_are_read(make: Any, jump_forward: bool) -> None:
    """Caches that are copied and dropped, and logits of a window: each text is told what reading it at once tells."""
    model, pattern = in_memory(make), DEPENDENT_CHOICES
    index = Index(RegularAutomaton(pattern), model.vocabulary)
    prompts = [model.encode(f"Read this document well: {'x' * (3 * row)}.") for row in range(3)]
    requests = [
        Request(prompt, Guide(index, max_tokens=30), np.random.default_rng(row)) for row, prompt in enumerate(prompts)
    ]
    together = sample_particles(model, requests, Sampler(1.0), particles=5, jump_forward=jump_forward)
    for request, run in zip(requests, together, strict=True):
        (alone,) = sample_particles(model, [request], Sampler(1.0), particles=5, jump_forward=jump_forward)
        assert [one.token_ids for one in alone] == [one.token_ids for one in run]
        told = run[0].diagnostics.type_log_probability
        assert told == pytest.approx(alone[0].diagnostics.type_log_probability, abs=1e-3)
    one_at_a_time = [
        sample_particles(model, [one], Sampler(1.0), particles=1, jump_forward=jump_forward)[0][0] for one in requests
    ]
    for request, one in zip(requests, one_at_a_time, strict=True):
        assert one.diagnostics.type_log_probability == pytest.approx(recomputed(model, index, request, one), abs=1e-3)


def recomputed(model: LanguageModel, index: Index, request: Request, one: Generation) -> float:
    """Return what a single particle weighs: what was allowed before each token, or the token where it was known."""
    guide, written, weight = Guide(index, max_tokens=30), list(request.prompt), 0.0
    jump_forward, size = bool(one.diagnostics.forced), model.vocabulary.size
    left = list(one.token_ids)
    while not guide.finished or guide.take_forced():
        forced = guide.copy().take_forced() if jump_forward else ()
        scores = np.asarray(model.prefill([written])[1])[0, :size].astype(np.float32)
        allowed = np.array(forced[:1]) if forced else np.flatnonzero(unpack(guide.mask(), size))
        weight += log_mass(scores, allowed, 1.0)
        guide.advance(left[0])
        written.append(left.pop(0))
    scores = np.asarray(model.prefill([written])[1])[0, :size].astype(np.float32)
    return weight + log_mass(scores, np.array([*model.vocabulary.end_token_ids]), 1.0)


@given(
    st.lists(st.one_of(st.floats(-1e4, 1e4, width=32), st.just(-np.inf)), min_size=4, max_size=9),
    st.sets(st.integers(0, 3), min_size=1),
    st.sampled_from([0.2, 1.0, 3.0]),
)
def test_the_mass_of_tokens_is_their_part_of_the_softmax(
    scores: list[float], token_ids: set[int], temperature: float
) -> None:
    """Also where it is far too small for a probability; what is NaN elsewhere has no part."""
    logits, chosen = np.array(scores, dtype=np.float32), np.array(sorted(token_ids))
    found = log_mass(np.append(logits, np.float32(np.nan)), chosen, temperature)
    tempered = logits.astype(np.float64) / temperature
    if np.isinf(logits.max()):
        assert found == 0.0
    else:
        expected = np.logaddexp.reduce(tempered[chosen]) - np.logaddexp.reduce(tempered)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_no_requests_have_no_particles() -> None:
    assert sample_particles(model_of(1, ""), [], Sampler(1.0), particles=2) == []
