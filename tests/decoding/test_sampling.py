"""Drawing one token: the masked softmax, no more and no less."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from structured.decoding import sampling
from structured.decoding.sampling import Sampler, turned
from structured.errors import ModelError
from structured.index.masks import Mask, unpack

SIZE = 70
"""Tokens in these tests; their masks take three words, the last one partly filled."""

MANY = 1 << 14
"""Tokens where single precision is tried."""


def mask_of(allowed: set[int], size: int = SIZE) -> Mask:
    bits = np.zeros(-(-size // 32) * 32, dtype=np.bool_)
    bits[list(allowed)] = True
    return np.packbits(bits, bitorder="little").view(np.int32)


def masked_softmax(logits: NDArray[np.float32], allowed: set[int], temperature: float = 1.0) -> dict[int, float]:
    """Return the probability of each allowed token, as the textbook writes it."""
    weights = {token_id: math.exp(float(logits[token_id]) / temperature) for token_id in allowed}
    return {token_id: weight / sum(weights.values()) for token_id, weight in weights.items()}


def some_logits(seed: int = 0, width: int = SIZE) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(scale=2.0, size=width).astype(np.float32)


masks = st.sets(st.integers(0, SIZE - 1), min_size=1)
seeds = st.integers(0, 2**32)


@given(masks)
def test_masks_are_packed_as_unpack_reads_them(allowed: set[int]) -> None:
    """Token t is bit t % 32 of word t // 32, the sign bit included."""
    assert set(np.flatnonzero(unpack(mask_of(allowed), SIZE))) == allowed
    words = mask_of(allowed)
    assert {t for t in range(SIZE) if int(words[t // 32]) >> (t % 32) & 1} == allowed


@given(masks, seeds)
def test_greedy_is_the_masked_argmax(allowed: set[int], seed: int) -> None:
    """At temperature 0 the allowed token with the highest logit is taken, whatever the generator."""
    logits = some_logits(seed)
    choice = Sampler().choose(logits, mask_of(allowed), np.random.default_rng())
    assert choice.token_id == max(allowed, key=lambda token_id: logits[token_id])


@given(masks, seeds, st.integers(1, SIZE + 1))
def test_the_likeliest_tokens_are_those_of_the_masked_softmax(allowed: set[int], seed: int, count: int) -> None:
    """As many as are allowed, the likeliest first; of equal ones, the first."""
    logits = some_logits(seed).round()  # so that some are equal
    expected = masked_softmax(logits, allowed)
    found = sampling.likeliest_tokens(logits, mask_of(allowed), count)
    assert [token_id for token_id, _ in found] == sorted(allowed, key=lambda one: (-logits[one], one))[:count]
    assert [share for _, share in found] == pytest.approx([math.log(expected[token_id]) for token_id, _ in found])


@pytest.mark.thorough
@given(masks, seeds, st.sampled_from([0.0, 0.3, 1.0, 5.0]))
def test_log_probability_is_that_of_the_masked_softmax(allowed: set[int], seed: int, temperature: float) -> None:
    """The log-probability is that of the token among the allowed ones before temperature, whatever the temperature."""
    logits = some_logits(seed)
    choice = Sampler(temperature).choose(logits, mask_of(allowed), np.random.default_rng(seed))
    assert choice.token_id in allowed
    assert choice.log_probability == pytest.approx(math.log(masked_softmax(logits, allowed)[choice.token_id]), abs=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_draws_follow_the_masked_softmax(temperature: float) -> None:
    """Ten thousand draws pass Pearson's chi-square test against the masked softmax at this temperature."""
    allowed, draws = {0, 7, 31, 32, 69}, 10_000
    logits = np.zeros(SIZE, dtype=np.float32)
    logits[[0, 7, 31, 32, 69]] = [0.0, 1.0, -1.0, 0.5, 0.2]
    logits[8] = 50.0  # the most probable token of all is not allowed
    expected = masked_softmax(logits, allowed, temperature)
    sampler, generator = Sampler(temperature), np.random.default_rng(1)
    drawn = [sampler.choose(logits, mask_of(allowed), generator).token_id for _ in range(draws)]
    statistic = sum((drawn.count(token_id) - draws * p) ** 2 / (draws * p) for token_id, p in expected.items())
    assert set(drawn) <= allowed
    assert statistic < 18.47  # 4 degrees of freedom, p = 0.001


@pytest.mark.thorough
@given(masks, seeds)
def test_low_temperatures_are_greedy(allowed: set[int], seed: int) -> None:
    """As the temperature falls, draws become the argmax, without overflow on the way."""
    logits = some_logits(seed)
    generator = np.random.default_rng(seed)
    cold, greedy = (Sampler(one).choose(logits, mask_of(allowed), generator) for one in (1e-9, 0.0))
    assert cold.token_id == greedy.token_id
    assert cold.log_probability == pytest.approx(greedy.log_probability, abs=1e-6)
    assert cold.legal_mass == pytest.approx(greedy.legal_mass, rel=1e-5)


def test_a_seed_repeats_its_draws() -> None:
    """The same seed, item and attempt draw the same tokens; another of any of the three draws others."""

    def drawn(seed: int | None, item: int, attempt: int) -> list[int]:
        sampler = Sampler(1.0, seed)
        generator = sampler.generator(item, attempt)
        return [sampler.choose(some_logits(), mask_of(set(range(SIZE))), generator).token_id for _ in range(20)]

    assert drawn(7, 3, 0) == drawn(7, 3, 0)
    others = [drawn(8, 3, 0), drawn(7, 4, 0), drawn(7, 3, 1), drawn(7, 0, 3), drawn(None, 3, 0), drawn(None, 3, 0)]
    assert all(other != drawn(7, 3, 0) for other in others)
    assert others[-1] != others[-2]


@pytest.mark.parametrize(("score", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_nan_and_infinity_are_errors_only_where_they_matter(temperature: float, score: float, name: str) -> None:
    """Among the allowed logits they are an error that names the way out; elsewhere they have no say."""
    logits = some_logits()
    logits[5] = score
    generator = np.random.default_rng(0)
    with pytest.raises(ModelError, match=rf"{name} as the logit of an allowed token\. Load it in a wider dtype"):
        Sampler(temperature).choose(logits, mask_of({4, 5, 6}), generator)
    assert Sampler(temperature).choose(logits, mask_of({4, 6}), generator).token_id in {4, 6}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_model_that_rules_out_everything_legal(temperature: float) -> None:
    """Where every allowed token has -inf, one of them is drawn all the same, each as likely as the others."""
    logits = some_logits()
    logits[[3, 40, 60]] = -np.inf
    choice = Sampler(temperature).choose(logits, mask_of({3, 40, 60}), np.random.default_rng(0))
    assert choice.token_id in {3, 40, 60}
    assert choice.log_probability == pytest.approx(math.log(1 / 3))


@pytest.mark.parametrize("temperature", [0.0, 0.5, 2.0])
def test_ruled_out_tokens_are_not_drawn(temperature: float) -> None:
    """An allowed token with -inf is never drawn while another is left."""
    logits = np.full(SIZE, -np.inf, dtype=np.float32)
    logits[[9, 33]] = [-80.0, -90.0]
    allowed, generator = set(range(SIZE)), np.random.default_rng(0)
    drawn = {Sampler(temperature).choose(logits, mask_of(allowed), generator).token_id for _ in range(50)}
    assert drawn <= {9, 33}


@given(masks, seeds, st.sampled_from([0.0, 1.0]))
def test_logits_beyond_the_vocabulary_have_no_say(allowed: set[int], seed: int, temperature: float) -> None:
    """Padded logits, as models have them to round their width up, are never drawn and take none of the probability."""
    logits = some_logits(seed)
    wide = np.append(logits, np.full(58, 1e9, dtype=np.float32))
    choices = [
        Sampler(temperature).choose(row, mask_of(allowed), np.random.default_rng(seed)) for row in (logits, wide)
    ]
    assert choices[0].token_id == choices[1].token_id
    assert choices[0].log_probability == pytest.approx(choices[1].log_probability, abs=1e-6)


@pytest.mark.parametrize("temperature", [-1.0, 1e31, float("inf"), float("nan")])
def test_impossible_temperature_is_refused(temperature: float) -> None:
    """Temperatures that mean nothing are refused before anything is drawn."""
    with pytest.raises(ValueError, match=r"temperature is .*; it must be 0 \(greedy\) or a positive number up to"):
        Sampler(temperature)


def test_negative_seed_is_refused() -> None:
    """A seed that NumPy would choke on later is refused at once."""
    with pytest.raises(ValueError, match=r"seed is -1; it must be 0 or greater\."):
        Sampler(1.0, -1)


@pytest.mark.thorough
@given(st.integers(0, 2**16), st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.sampled_from([1.0, 8.0]), st.integers(0, 50))
@settings(max_examples=examples(40))
def test_single_precision_draws_the_same(seed: int, temperature: float, scale: float, top_k: int) -> None:
    """The compiled loops draw the same token as the plain code in double precision, with the same probabilities."""
    rng = np.random.default_rng(seed)
    width = MANY + seed % 32
    logits = rng.normal(scale=scale, size=width).astype(np.float32)
    forbidden = rng.choice(width, 100, replace=False)
    allowed = np.setdiff1d(np.arange(width), forbidden)
    sampler = Sampler(temperature, top_k=top_k, top_p=0.9, min_p=0.01) if top_k else Sampler(temperature)
    mask = mask_of(set(allowed.tolist()), width)
    many = sampler.choose(logits, mask, np.random.default_rng(seed))
    few = sampler._choose_unusual(logits, allowed, np.random.default_rng(seed))
    assert many.token_id == few.token_id
    assert many.log_probability == pytest.approx(few.log_probability, abs=1e-4)
    assert many.legal_mass == pytest.approx(few.legal_mass, abs=1e-4)


@pytest.mark.thorough
@given(masks, seeds, st.floats(0.1, 3.0), st.tuples(st.integers(1, 8), st.floats(0.05, 1.0), st.floats(0.0, 1.0)))
def test_only_what_is_likely_enough_is_drawn(
    allowed: set[int], seed: int, temperature: float, cuts: tuple[int, float, float]
) -> None:
    """Of the allowed tokens, no more than `top_k`, no less likely than `min_p` says, none beyond `top_p` together."""
    logits, (top_k, top_p, min_p) = some_logits(seed), cuts
    weights = masked_softmax(logits, allowed, temperature)
    sampler = Sampler(temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    for number in range(20):
        token_id = sampler.choose(logits, mask_of(allowed), np.random.default_rng([seed, number])).token_id
        likelier = [weight for weight in weights.values() if weight > weights[token_id]]
        assert token_id in allowed
        assert len(likelier) < top_k
        assert sum(likelier) < top_p + 1e-6
        assert weights[token_id] >= min_p * max(weights.values()) - 1e-6


@pytest.mark.parametrize("width", [SIZE, MANY])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_is_illegal_counts_even_beyond_the_vocabulary(width: int, temperature: float) -> None:
    """As much as its weight, on every path; a logit that is NaN counts for nothing."""
    logits = np.zeros(width, dtype=np.float32)
    logits[4], logits[-3:] = np.nan, 2.0
    allowed = set(range(width - 10)) - {4}
    choice = Sampler(temperature).choose(logits, mask_of(allowed, width - 10), np.random.default_rng(0))
    illegal = 7 + 3 * math.exp(2.0)
    assert choice.legal_mass == pytest.approx(len(allowed) / (len(allowed) + illegal), rel=1e-5)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=600).filter(any), st.floats(0, 1, exclude_max=True))
def test_the_distribution_function_is_turned_round(sizes: list[float], share: float) -> None:
    """A share falls to the token at which the running sum goes beyond it, never to one of no weight."""
    place = turned(np.array(sizes, dtype=np.float32), share)
    before, total = math.fsum(sizes[:place]), math.fsum(sizes)
    assert sizes[place] > 0
    assert before <= share * total + 1e-5 * total
    assert before + sizes[place] >= share * total - 1e-5 * total


@pytest.mark.parametrize("place", [0, 255, 256, 300])
def test_any_share_falls_to_the_only_weight(place: int) -> None:
    """Also the greatest, which the total may round up to the total itself."""
    weights = np.zeros(1000, dtype=np.float32)
    weights[place] = 3.0
    assert {turned(weights, share) for share in (0.0, 0.5, math.nextafter(1.0, 0.0), 1.0)} == {place}


@given(st.floats(-86, 0, width=32), st.floats(0.1, 3.0))
def test_a_weight_is_the_exponential_to_a_millionth(logit: float, temperature: float) -> None:
    """Of its logit relative to the best over the temperature; what is illegal has none, however likely or NaN it is."""
    logits = np.array([0.0, logit, 200.0, math.inf, math.nan], dtype=np.float32)
    weights = sampling.weigh(logits, mask_of({0, 1}), np.float32(0.0), temperature).tolist()
    assert weights == pytest.approx([1.0, math.exp(logit / temperature), 0.0, 0.0, 0.0], rel=2e-5, abs=1e-37)


@given(masks, seeds)
def test_a_survey_adds_up_all_weights_and_legal_ones(allowed: set[int], seed: int) -> None:
    """Relative to the likeliest legal token, the first of equals."""
    logits = some_logits(seed).round()
    token_id, legal, total = sampling.survey(logits, mask_of(allowed)) or (-1, 0.0, 0.0)
    relative = np.exp(logits.astype(float) - logits[token_id])
    assert token_id == max(sorted(allowed), key=lambda place: logits[place])
    assert legal == pytest.approx(relative[sorted(allowed)].sum(), rel=1e-5)
    assert total == pytest.approx(relative.sum(), rel=1e-5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_unusual_logits_have_no_survey(bad: float) -> None:
    """If a legal logit is NaN, the highest one infinite, or another too great for the sums."""
    logits = np.full(MANY, bad, dtype=np.float32)
    assert sampling.survey(logits, mask_of({3, 40})) is None
    logits[3] = 0.0
    assert bad == -math.inf or sampling.survey(logits, mask_of({3})) is None
    assert turned(np.zeros(300, dtype=np.float32), 0.5) == -1


def test_each_thread_has_weights_of_its_own() -> None:
    """So that a text is sampled from its own weights, whatever other threads do between two steps."""
    logits = [some_logits(seed) for seed in range(2)]
    first = sampling.weigh(logits[0], mask_of({1, 2}), np.float32(0.0), 1.0)
    before = first.copy()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(sampling.weigh, logits[1], mask_of({3}), np.float32(0.0), 1.0).result()
    assert (first == before).all()
