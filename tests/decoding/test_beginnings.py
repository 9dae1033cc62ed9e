"""What prompts begin with: a model is never told that they begin grouped_by_beginning where they do not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from structured.automata import RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.prompt_tokens import grouped_by_beginning
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.decoding.text_in_progress import TextInProgress
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.models.function import FunctionBatch
from structured.regex import chars, repeat

TOKENIZER = ByteTokenizer()
PROMPTS = st.lists(
    st.tuples(st.sampled_from(["a", "aaaaaaaaaa", "aaaab", "bbbbbbbb", "b", ""]), st.text("ab", min_size=1)),
    min_size=1,
    max_size=12,
)


class Strict(FunctionModel):
    """A model that takes the word of whoever calls it: prompts that begin alike are read as if they did."""

    can_join = True

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[FunctionBatch, Any]:
        first = prompts[0][:shared]
        batch, logits = super().prefill([[*first, *prompt[shared:]] for prompt in prompts], window=window)
        if self.can_join:
            return batch, logits
        return Closed(self, batch.texts), logits


class Closed(FunctionBatch):
    """A batch that takes no texts in."""

    can_join = False

    def join(self, other: Any) -> None:
        raise AssertionError(f"{other} is not to join")


@pytest.mark.parametrize("can_join", [True, False])
@given(prompts=PROMPTS, pass_cost=st.sampled_from([0.0, 3.0, 96.0]), batch_size=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_texts_of_several_types_are_written_as_alone(
    prompts: list[tuple[str, str]], pass_cost: float, batch_size: int, can_join: bool
) -> None:
    """Requests say what their own prompts begin with, and others in the batch may begin otherwise."""
    model = Strict(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    model.pass_cost, model.can_join = pass_cost, can_join
    index = Index(RegularAutomaton(repeat(chars("ab"), 5, 5)), model.vocabulary)

    def request(beginning: str, rest: str) -> Request:
        first = model.encode(beginning)
        guide = Guide(index, max_tokens=9)
        return Request(first + model.encode(rest), guide, np.random.default_rng(0), shared=len(first))

    together = generate(model, [request(*one) for one in prompts], Sampler(), batch_size=batch_size)
    alone = [generate(model, [request(*one)], Sampler())[0] for one in prompts]
    assert [one.token_ids for one in together] == [one.token_ids for one in alone]


@given(PROMPTS, st.sampled_from([0.0, 3.0, 10.0, 1000.0]))
@settings(max_examples=200, deadline=None)
def test_parts_begin_alike_and_cost_no_more_than_each_beginning_by_itself(
    prompts: list[tuple[str, str]], pass_cost: float
) -> None:
    """Each text is in one part; what is read anew of the beginnings, and the passes, cost no more than apart."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    index = Index(RegularAutomaton(chars("a")), model.vocabulary)
    texts = []
    for beginning, rest in prompts:
        first, guide = model.encode(beginning), Guide(index, max_tokens=2)
        prompt = first + model.encode(rest)
        request = Request(prompt, guide, np.random.default_rng(0), shared=len(first))
        texts.append(TextInProgress(request, Sampler(), jump_forward=True))
    parts = grouped_by_beginning(texts, pass_cost)
    assert {one for those, _ in parts for one in those} == set(texts)
    assert sum(len(those) for those, _ in parts) == len(texts)
    assert texts[0] in parts[0][0]
    for those, shared in parts:
        assert len({tuple(one.request.prompt[:shared]) for one in those}) == 1
        assert shared <= min(one.request.shared for one in those)
    lost = sum(one.request.shared - shared for those, shared in parts for one in those)
    apart = len({tuple(one.request.prompt[: one.request.shared]) for one in texts})
    assert lost + pass_cost * len(parts) <= pass_cost * apart
    if pass_cost == 1000.0:
        assert len(parts) == 1
