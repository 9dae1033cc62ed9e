"""Candidates: the same in every batch, more of them with more samples, and of those the type accepts, the best."""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import pytest
from doubles import ByteTokenizer, each_generation, json_hating_logits, random_logits
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator
from random_patterns import patterns
from strategies import output_types

from structured import Beams, Extractor, Particles, Samples, extract, extract_batch
from structured.automata import RegularAutomaton
from structured.decoding.beam_search import beam_search
from structured.decoding.generate import generate
from structured.decoding.requests import Generation, Request, Thinking
from structured.decoding.sampling import Sampler
from structured.decoding.strategy import RETRY_TEMPERATURE, Search, repeated
from structured.errors import BudgetWarning, GenerationError, OutOfMemoryError, StructuredWarning
from structured.extraction.options import Options
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.models.function import FunctionBatch
from structured.regex import Pattern, literal
from structured.results.merging import SampledAnswer, vote
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(random_logits(len(TOKENIZER.tokens), scale=2.0), TOKENIZER)


NO_RANDOM = np.random.default_rng(0)
"""For searches, which draw nothing."""


class Digits(BaseModel):
    first: int = Field(ge=0, le=9)
    second: int = Field(ge=0, le=9)


class EvenDigits(Digits):
    @field_validator("first", "second")
    @classmethod
    def halved(cls, number: int) -> int:
        if number % 2:
            raise ValueError(f"{number} is odd")
        return number


def asked(indexes: Sequence[Index], sampler: Sampler) -> list[Request]:
    """Return a request for a text of each index; those alike in length go beside each other in a batch."""
    return [
        Request(
            MODEL.encode("ab"[item % 2] * (item + 1)),
            Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + 5),
            sampler.generator(item, 0),
        )
        for item, index in enumerate(indexes)
    ]


def in_order(
    search: Search,
    requests: Sequence[Request],
    *,
    batch_size: int,
    batch_tokens: int | None = None,
    model: FunctionModel = MODEL,
) -> list[list[Generation] | OutOfMemoryError]:
    """Return the candidates of each request, in the order of the requests."""
    found = dict(
        search.candidates(model, requests, batch_size=batch_size, batch_tokens=batch_tokens, jump_forward=True)
    )
    return [found[place] for place in range(len(requests))]


@pytest.mark.thorough
@given(st.lists(patterns(5), min_size=1, max_size=3), st.integers(0, 9), st.integers(1, 4), st.integers(1, 9))
@settings(max_examples=examples(30))
def test_candidates_do_not_depend_on_the_batch(
    vocabulary: Vocabulary, drawn: list[Pattern], seed: int, samples: int, batch_size: int
) -> None:
    """Whatever is written beside them; more samples are the same and others, and the first is what one would be."""
    indexes = [Index(RegularAutomaton(pattern), vocabulary) for pattern in drawn]
    sampler = Sampler(1.0, seed)

    def candidates(count: int, size: int) -> list[list[Generation]]:
        return in_order(Search(sampler, Samples(count)), asked(indexes, sampler), batch_size=size)

    several, more = candidates(samples, batch_size), candidates(samples + 1, 1)
    for fewer, many in zip(several, more, strict=True):
        assert len(fewer) == samples
        assert sorted(fewer, key=lambda one: -one.log_probability) == fewer
        assert not Counter(one.token_ids for one in fewer) - Counter(one.token_ids for one in many)
        assert many[0].log_probability >= fewer[0].log_probability
    plain = generate(MODEL, asked(indexes, sampler), sampler)
    assert candidates(1, batch_size) == [[one] for one in plain]
    assert all(one in group for one, group in zip(plain, several, strict=True))


@pytest.mark.thorough
@given(st.lists(patterns(5), min_size=1, max_size=4), st.integers(2, 4), st.integers(1, 20))
@settings(max_examples=examples(30))
def test_beams_go_through_the_model_in_batches(
    vocabulary: Vocabulary, drawn: list[Pattern], beams: int, batch_size: int
) -> None:
    """However many documents are searched for at a time, the candidates are those of beam search."""
    indexes = [Index(RegularAutomaton(pattern), vocabulary) for pattern in drawn]
    search = Search(Sampler(), Beams(beams))
    found = in_order(search, asked(indexes, Sampler()), batch_size=batch_size)
    assert found == beam_search(MODEL, asked(indexes, Sampler()), beams=beams)


@pytest.mark.thorough
@given(
    st.lists(st.tuples(patterns(5), st.integers(1, 30)), min_size=1, max_size=5),
    st.integers(2, 4),
    st.integers(1, 20),
    st.integers(1, 400),
)
@settings(max_examples=examples(30))
def test_beams_have_no_more_tokens_in_memory_than_allowed(
    vocabulary: Vocabulary, drawn: list[tuple[Pattern, int]], beams: int, batch_size: int, most: int
) -> None:
    """Of all hypotheses of all searches together, but for a search that has more alone; what is found is the same."""
    in_memory: list[int] = []

    class Tracked(FunctionModel):
        def prefill(
            self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
        ) -> tuple[FunctionBatch, Any]:
            batch, logits = super().prefill(prompts, shared=shared, window=window)
            forward = batch.forward

            def watched(token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Any:
                found = forward(token_ids, window=window)
                in_memory.append(sum(map(len, batch.texts)) if len(prompts) > 1 else 0)
                return found

            batch.forward = watched  # type: ignore[method-assign]
            return batch, logits

    indexes = [Index(RegularAutomaton(pattern), vocabulary) for pattern, _ in drawn]
    requests = [
        Request([5] * length, Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + 5), NO_RANDOM)
        for index, (_, length) in zip(indexes, drawn, strict=True)
    ]
    search, model = Search(Sampler(), Beams(beams)), Tracked(MODEL.function, TOKENIZER)
    expected = in_order(search, requests, batch_size=batch_size)
    assert in_order(search, requests, batch_size=batch_size, batch_tokens=most, model=model) == expected
    assert max(in_memory, default=0) <= most


def test_samples_have_random_numbers_of_their_own(vocabulary: Vocabulary) -> None:
    """No two of the samples of two requests draw alike, and the request's own guide is not used up."""
    indexes = [Index(RegularAutomaton(literal("a")), vocabulary)] * 2
    requests = asked(indexes, Sampler(1.0, 3))
    draws = [one.generator.random() for request in requests for one in repeated(request, 20)]
    assert len(set(draws)) == 40
    assert not any(one.guide is request.guide for request in requests for one in repeated(request, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"search": Samples(3)},
            "search is Samples(count=3, vote=False), and temperature 0, at which all samples are the same",
        ),
        (
            {"search": Beams(3), "temperature": 0.5},
            "search is Beams(count=3), and temperature 0.5; beam search does not sample",
        ),
        ({"search": Particles(4)}, "vote=False), and temperature 0, at which nothing is sampled. Set temperature=1"),
        ({"search": Particles(4), "temperature": 1.0, "top_k": 3, "min_p": 0.1}, "vote=False), with top_k and min_p; "),
        (
            {"search": Beams(3), "thinking": Thinking("</think>")},
            "search is Beams(count=3), which cannot be combined with thinking",
        ),
    ],
)
def test_options_that_make_no_sense_together_are_refused(options: Options, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Extractor(Digits, model=MODEL, **options)


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (lambda: Beams(0), ValueError, "The count of Beams is 0; it must be 1 or greater."),
        (lambda: Samples(0), ValueError, "The count of Samples is 0; it must be 1 or greater."),
        (lambda: Particles(0), ValueError, "The count of Particles is 0; it must be 1 or greater."),
        (lambda: Beams(True), TypeError, "The count of Beams is True; it must be a whole number, 1 or greater."),
        (lambda: Samples(3, vote="best"), TypeError, "vote of Samples is 'best'; it must be True or False."),
        (lambda: Particles(1, vote=True), ValueError, "Particles(1, vote=True) is a vote of one candidate. Use more"),
    ],
)
def test_methods_of_search_are_checked_when_they_are_made(
    method: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        method()


def test_a_method_of_search_has_numbers_of_python() -> None:
    """NumPy's are converted, so that a method can be compared, hashed and written as JSON."""
    assert Samples(np.int64(3), vote=np.True_) == Samples(3, vote=True)
    assert type(Samples(np.int64(3)).count) is int


@pytest.mark.parametrize(
    "options",
    [{"search": Beams(2)}, {"search": Samples(2), "temperature": 1.0}, {"search": Particles(2), "temperature": 1.0}],
)
def test_several_answers_are_no_stream(options: Options) -> None:
    with pytest.raises(ValueError, match="An answer can be streamed if it is the only one"):
        Extractor(Digits, model=MODEL, **options).stream("x")


def test_particles_are_candidates_in_random_order() -> None:
    """The first that validators accept is the answer, or what most say; evidence counts how many agree."""
    options = Options(model=MODEL, temperature=5.0, search=Particles(12), retries=0)
    candidates: list[Generation] = []
    observe = each_generation(lambda _, one: candidates.append(one))
    found = Extractor(EvenDigits, seed=5, observe=observe, **options).result("x")
    assert len(candidates) == 12
    digits = [json.loads(one.text) for one in candidates]
    even = next(one for one in digits if all(number % 2 == 0 for number in one.values()))
    assert found.value.model_dump() == even
    assert found.evidence["first"].agreement == sum(one["first"] == even["first"] for one in digits) / 12
    assert {one.diagnostics.type_log_probability for one in candidates} != {None}
    voted = extract(Digits, "x", seed=5, **{**options, "search": Particles(12, vote=True)})
    assert voted == Digits(**vote([SampledAnswer(one, 0.0) for one in digits], lambda data: data is not None).data)
    assert extract(EvenDigits, "x", seed=5, **options) == found.value


@pytest.mark.thorough
@given(st.lists(patterns(5), min_size=1, max_size=3), st.integers(0, 9), st.integers(1, 20), st.integers(1, 400))
@settings(max_examples=examples(15))
def test_particles_do_not_depend_on_the_batch(
    vocabulary: Vocabulary, drawn: list[Pattern], seed: int, batch_size: int, most: int
) -> None:
    """However many requests go through the model at a time, and however often the rest of them are tried again."""
    indexes, sampler = [Index(RegularAutomaton(pattern), vocabulary) for pattern in drawn], Sampler(1.0, seed)
    search = Search(sampler, Particles(4))
    alone = in_order(search, asked(indexes, sampler), batch_size=1)
    assert in_order(search, asked(indexes, sampler), batch_size=batch_size, batch_tokens=most) == alone


def test_samples_think_each_for_itself() -> None:
    """Each has thoughts and an answer of its own, and the answers are what is voted on."""
    thinking = Thinking(".", max_tokens=8)
    candidates: list[Generation] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        extract(
            *(Digits, "x"),
            **Options(model=MODEL, temperature=1.0, seed=1, search=Samples(5, vote=True), thinking=thinking, retries=0),
            observe=each_generation(lambda _, one: candidates.append(one)),
        )
    assert len({one.thinking for one in candidates}) == 5


def test_after_a_search_in_vain_answers_are_drawn() -> None:
    """What draws nothing would find the same again; what draws draws anew."""
    assert Search(Sampler(seed=3), Beams(4)).for_retries == Search(Sampler(RETRY_TEMPERATURE, seed=3))
    drawing = Search(Sampler(1.0), Samples(3, vote=True))
    assert drawing.for_retries == drawing


@pytest.mark.parametrize("document", ["x", "y", "z"])
def test_the_best_hypothesis_that_validators_accept_is_the_answer(document: str) -> None:
    """With beams for all hundred pairs of digits, the likeliest of the even ones is found at once."""
    extractor = Extractor(EvenDigits, model=MODEL, search=Beams(100), retries=0)
    request = Request(
        MODEL.encode(str(extractor.prompt(document))), Guide(extractor._task.index(""), max_tokens=99), None
    )  # type: ignore[arg-type]
    (ranking,) = beam_search(MODEL, [request], beams=100)
    assert len(ranking) == 100
    texts = [one.text for one in ranking]
    even = next(text for text in texts if all(number % 2 == 0 for number in json.loads(text).values()))
    assert extractor(document) == EvenDigits.model_validate_json(even)


def test_the_likeliest_valid_sample_is_the_answer() -> None:
    """Rejected ones are told only if all are; those after the answer are not even read."""
    options = Options(model=MODEL, temperature=5.0, seed=1, retries=0)
    candidates: list[Generation] = []
    extract(Digits, "x", search=Samples(30), **options, observe=each_generation(lambda _, one: candidates.append(one)))
    even = next(one for one in candidates if all(number % 2 == 0 for number in json.loads(one.text).values()))
    assert extract(EvenDigits, "x", search=Samples(30), **options) == EvenDigits.model_validate_json(even.text)

    class Never(Digits):
        @field_validator("first")
        @classmethod
        def none(cls, number: int) -> int:
            raise ValueError(f"not {number}")

    with pytest.raises(GenerationError) as caught:
        extract(Never, "x", search=Samples(5), **options)
    assert len(caught.value.attempts) == 5


@pytest.mark.thorough
@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(output_type=output_types(), seed=st.integers(0, 2**32), vote=st.booleans())
def test_whatever_is_chosen_validates(output_type: Any, seed: int, vote: bool) -> None:
    """Samples of random types by a random model, and what is put together of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        extractor = Extractor(
            output_type,
            model=MODEL,
            temperature=1.0,
            seed=seed,
            search=Samples(4, vote=vote),
            max_tokens=200,
            retries=0,
        )
        for answer in extractor.batch(["a", "b"]):
            extractor._task.output_type.adapter.validate_python(answer)


def test_a_vote_is_among_the_answers_of_one_document() -> None:
    """Each document has the outcome of its own valid samples."""
    options = Options(model=MODEL, temperature=5.0, seed=2, search=Samples(40), retries=0)
    documents = ["x", "y"]
    candidates: list[list[Generation]] = [[], []]
    extract_batch(
        EvenDigits,
        documents,
        **options,
        observe=each_generation(lambda position, one: candidates[position].append(one)),
    )
    expected = []
    for drawn in candidates:
        ballots = [SampledAnswer(json.loads(one.text), one.log_probability) for one in drawn]
        even = [one for one in ballots if all(number % 2 == 0 for number in one.data.values())]
        expected.append(EvenDigits(**vote(even, lambda data: data is not None).data))
    assert extract_batch(EvenDigits, documents, **{**options, "search": Samples(40, vote=True)}) == expected


def test_a_vote_that_breaks_a_rule_is_settled_by_one_answer() -> None:
    """Where fields that were voted for do not go together, some sample that does is the answer."""

    class Different(Digits):
        @field_validator("second")
        @classmethod
        def other(cls, number: int, info: Any) -> int:
            if number == info.data["first"]:
                raise ValueError("the same")
            return number

    for seed in range(15):
        found = extract(
            Different, "x", model=MODEL, temperature=1.5, seed=seed, search=Samples(4, vote=True), retries=3
        )
        assert found.first != found.second


def test_what_is_missing_is_voted_on_too() -> None:
    """With `absent`, an answer is what was stated by most."""
    found = Extractor(
        Digits, allow_missing=True, model=MODEL, temperature=1.0, seed=0, search=Samples(5, vote=True)
    ).result("x")
    assert set(found.data) | set(found.missing) == {"first", "second"}


def test_the_warning_of_a_budget_is_that_of_the_answer() -> None:
    """A search whose best text is all there is has nothing to warn of."""
    endless = FunctionModel(json_hating_logits(TOKENIZER.tokens), TOKENIZER)
    with pytest.warns(BudgetWarning, match="fit max_tokens=9"):
        extract(Annotated[str, Field(min_length=3)], "x", model=endless, max_tokens=9, search=Beams(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extract(Digits, "x", model=MODEL, search=Beams(3))
