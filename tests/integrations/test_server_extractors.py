"""The extractors of a server: a type is prepared once, and answers are those of an extractor made for the request."""

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

pytest.importorskip("fastapi", reason="The extra serve has the server.")

from structured import Extractor
from structured.decoding.running_batch import RunningBatch
from structured.extraction.options import Options
from structured.integrations.server import server_state
from structured.integrations.server.limits import Admission
from structured.integrations.server.server_state import MAX_EXTRACTORS, Extractors, Metrics, TokenMetrics, results_of
from structured.models import FunctionModel

TOKENIZER = ByteTokenizer()


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture(scope="module")
def running() -> Iterator[RunningBatch]:
    with RunningBatch(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)) as found:
        yield found


OPTIONS = st.fixed_dictionaries(
    {"max_tokens": st.integers(40, 90)},
    optional={"temperature": st.sampled_from([0.5, 1.0]), "seed": st.integers(0, 9), "top_k": st.integers(1, 9)},
)


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
@given(st.lists(OPTIONS, min_size=2, max_size=4))
@settings(max_examples=15, deadline=None)
def test_whatever_the_options_a_type_is_prepared_once(running: RunningBatch, asked: list[Options]) -> None:
    """And what is answered is what an extractor answers that was made with them."""
    extractors, made = Extractors(running), list[type]()

    def wanted() -> type[Person]:
        made.append(Person)
        return Person

    for options in asked:
        if "temperature" in options and "seed" not in options:
            options["seed"] = 0
        metrics = Metrics(running, Admission(1, 1))
        asked_for = extractors.find("person", wanted, options).with_options(observe=TokenMetrics(metrics))
        [found] = asked_for.batch(["Ana is 3."], errors="return", progress=False)
        [expected] = Extractor(Person, model=running, **options).batch(["Ana is 3."], errors="return", progress=False)
        assert str(found) == str(expected)
        assert (metrics.registry.get_sample_value("structured_tokens_total", {"kind": "prompt"}) or 0) > 0
    assert len(made) == 1


def test_who_varies_the_seed_pushes_nobody_out(running: RunningBatch) -> None:
    extractors, made = Extractors(running), list[int]()

    def wanted() -> type[int]:
        made.append(1)
        return int

    extractors.find("int", wanted, {})
    for seed in range(MAX_EXTRACTORS + 1):
        extractors.find("another", wanted, {"temperature": 1.0, "seed": seed})
    extractors.find("int", wanted, {})
    assert len(made) == 2


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_extractors_leave_when_they_take_too_much_memory(
    running: RunningBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were not asked for lately; the memory is that which their texts have taken so far."""
    monkeypatch.setattr(server_state, "MAX_EXTRACTOR_BYTES", 1_000_000)
    extractors = Extractors(running)
    favourite = extractors.find("favourite", lambda: int, {})
    made = []
    for number in range(12):
        values = [f"{number} {value}" for value in range(400)]
        made.append(extractors.find(number, lambda values=values: Literal[tuple(values)], {"max_tokens": 40}))
        made[-1].batch(["It is."], errors="return", progress=False)
        assert extractors.find("favourite", lambda: str, {}).output_type is favourite.output_type
    assert all(one.memory > 200_000 for one in made)
    assert sum(one.memory for one in made) > 2 * 1_000_000
    kept = extractors._extractors
    assert sum(one.memory for one in kept.values()) <= 1_000_000 + made[-1].memory
    assert {"favourite", 11} < kept.keys()


def test_a_model_that_fails_costs_no_document_that_is_done() -> None:
    """Each of the others has the error of the model in its place."""
    logits, calls = random_logits(len(TOKENIZER.tokens)), 0

    def failing(token_ids: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 20:
            raise RuntimeError("out of order")
        return logits(token_ids)

    extractor = Extractor(bool, model=FunctionModel(failing, TOKENIZER), batch_size=1)
    results = results_of(extractor, ["Is it?"] * 50)
    done = [result.error is None for result in results]
    assert [result.position for result in results] == list(range(50))
    assert 0 < sum(done) < 50
    assert {"out of order" in str(result.error) for result in results if result.error is not None} == {True}
